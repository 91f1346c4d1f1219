//! Matched n-grams of white-space tokens, pooled over a corpus, and BLEU of them.

use metric_core::{Merge, Sum};

use crate::comments::is_space;

/// Matched and counted n-grams of the orders 1 to 4, and the lengths that the brevity penalty
/// compares. Pools over examples.
///
/// BLEU is a score of the pooled counts, not a mean of scores. Which n-grams are matched and
/// counted is the business of [`ngram_match`], [`weighted_recall`] and [`weighted_precision`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NgramCounts {
    /// For each order, the n-grams matched and the n-grams counted, `[numerator, denominator]`.
    pub orders: [[u64; 2]; 4],
    /// Tokens in the predictions.
    pub prediction_length: u64,
    /// Tokens in the references, each example by the reference closest in length.
    pub reference_length: u64,
}

impl NgramCounts {
    /// The geometric mean of the four ratios times the brevity penalty, in \[0, 1\].
    ///
    /// - An order without a match counts as 0.1 matches ("method 1" of Chen and Cherry, *A systematic
    ///   comparison of smoothing techniques for sentence-level BLEU*, WMT 2014), but without a
    ///   match of order 1 the score is 0. So is the score of no examples.
    /// - The brevity penalty is 1 if the predictions are longer than the references, else
    ///   `e^(1 − reference_length / prediction_length)`.
    ///
    /// The four logarithms are summed exactly and rounded once, as Python's `math.fsum` does it in
    /// codebleu 0.7.0 (`bleu.py`) and NLTK, of which that is a copy.
    ///
    /// ```
    /// use metric_code::NgramCounts;
    ///
    /// // One token, and the right one: (1 · 0.1 · 0.1 · 0.1)^(1/4).
    /// let one = NgramCounts {
    ///     orders: [[1, 1], [0, 1], [0, 1], [0, 1]],
    ///     prediction_length: 1,
    ///     reference_length: 1,
    /// };
    /// assert!((one.bleu() - 0.1_f64.powf(0.75)).abs() < 1e-15);
    /// assert_eq!(NgramCounts::default().bleu(), 0.0);
    /// ```
    #[must_use]
    pub fn bleu(&self) -> f64 {
        if self.orders[0][0] == 0 || self.prediction_length == 0 {
            return 0.0;
        }
        let logarithms: Sum = self
            .orders
            .iter()
            .map(|&[matched, counted]| {
                let matched = if matched == 0 { 0.1 } else { matched as f64 };
                // A state from a file may say 0; counted n-grams are at least 1 an example.
                0.25 * (matched / counted.max(1) as f64).ln()
            })
            .collect();
        let (prediction, reference) = (self.prediction_length, self.reference_length);
        let brevity_penalty = if prediction > reference {
            1.0
        } else {
            (1.0 - reference as f64 / prediction as f64).exp()
        };
        brevity_penalty * logarithms.value().exp()
    }
}

impl Merge for NgramCounts {
    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.orders.iter_mut().zip(other.orders) {
            mine[0] += theirs[0];
            mine[1] += theirs[1];
        }
        self.prediction_length += other.prediction_length;
        self.reference_length += other.reference_length;
    }
}

/// The n-grams of the prediction that stand in the references, as BLEU counts them.
///
/// Tokens are what white space separates (Python's `str.split`). An n-gram of the prediction is
/// matched at most as often as it stands in the reference that has it most often. Each order counts
/// the n-grams of the prediction, at least 1. The reference closest in length (of two, the shorter)
/// gives the reference length. Without references nothing matches, and the reference length is 0.
///
/// Papineni et al., *BLEU: a method for automatic evaluation of machine translation* (ACL 2002), as
/// computed by codebleu 0.7.0 (`bleu.py`), with the same result in the original evaluator of
/// CodeXGLUE. Time is linear in the texts.
///
/// ```
/// use metric_code::ngram_match;
///
/// // `a` is matched once, for the reference has it once; of the pairs, `b c`.
/// let counts = ngram_match("a a b c", &["b c a"]);
/// assert_eq!(counts.orders, [[3, 4], [1, 3], [0, 2], [0, 1]]);
/// assert_eq!((counts.prediction_length, counts.reference_length), (4, 3));
/// ```
#[must_use]
pub fn ngram_match(prediction: &str, references: &[&str]) -> NgramCounts {
    let none = Keywords::default();
    let [plain, _] = counts(
        &mut Scratch::default(),
        prediction,
        references,
        &none,
        Weighting::Recall,
    );
    plain
}

/// The n-grams of the references that stand in the prediction, keywords weighing 5 times as much:
/// CodeBLEU's weighted n-gram match as its original program computes it.
///
/// Order 1 is in fifths: a keyword of a reference is 5, another token 1 (there 1 and 0.2), and at
/// least 5 are counted a reference. The orders 2 to 4 have no weights and count at least 1. Each
/// reference is held against the prediction on its own, and all are summed; without references all
/// orders are `[0, 0]`.
///
/// The paper asks for a precision ([`weighted_precision`]); that this is a recall is a quirk of the
/// program. So is `reference_length`, always 2: the length is taken of a pair of tokens and
/// weights. It leaves the brevity penalty without effect but for predictions of 1 token.
///
/// The original evaluator of CodeXGLUE and codebleu 0.7.0 (`weighted_ngram_match.py`). Time is
/// linear in the texts.
///
/// ```
/// use metric_code::{Keywords, weighted_recall};
///
/// let keywords = Keywords::from_list(&["if"]);
/// // Found are `if` and one `a` (5 + 1 fifths) of `if`, `a`, `a` and `b` (5 + 1 + 1 + 1).
/// let counts = weighted_recall("if a", &["if a a b"], &keywords);
/// assert_eq!(counts.orders, [[6, 8], [1, 3], [0, 2], [0, 1]]);
/// assert_eq!((counts.prediction_length, counts.reference_length), (2, 2));
/// ```
#[must_use]
pub fn weighted_recall(prediction: &str, references: &[&str], keywords: &Keywords) -> NgramCounts {
    let [_, weighted] = counts(
        &mut Scratch::default(),
        prediction,
        references,
        keywords,
        Weighting::Recall,
    );
    weighted
}

/// The n-grams of the prediction that stand in the references, keywords weighing 5 times as much:
/// CodeBLEU's weighted n-gram match as its paper defines it.
///
/// Order 1 counts 5 for a keyword of the prediction and 1 for another token. All else is as in
/// [`ngram_match`].
///
/// Ren et al., *CodeBLEU: a method for automatic evaluation of code synthesis* (2020, arXiv
/// 2009.10297), equation 2. Time is linear in the texts.
///
/// ```
/// use metric_code::{Keywords, weighted_precision};
///
/// let keywords = Keywords::from_list(&["if"]);
/// let counts = weighted_precision("if a", &["if b"], &keywords);
/// assert_eq!(counts.orders, [[5, 6], [0, 1], [0, 1], [0, 1]]);
/// assert_eq!((counts.prediction_length, counts.reference_length), (2, 2));
/// ```
#[must_use]
pub fn weighted_precision(
    prediction: &str,
    references: &[&str],
    keywords: &Keywords,
) -> NgramCounts {
    let [_, weighted] = counts(
        &mut Scratch::default(),
        prediction,
        references,
        keywords,
        Weighting::Precision,
    );
    weighted
}

/// Which weighted n-gram match goes with the plain one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weighting {
    /// As [`weighted_recall`].
    Recall,
    /// As [`weighted_precision`].
    Precision,
}

/// A set of words that weigh more than others, such as the keywords of a language.
///
/// Matching is exact: case counts, and so does everything that is stuck to a word.
///
/// ```
/// use metric_code::Keywords;
///
/// let keywords = Keywords::from_list(&["if", "else"]);
/// assert!(keywords.contains("else"));
/// assert!(!keywords.contains("Else") && !keywords.contains("else{"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Keywords {
    words: Vec<Box<str>>,
    table: Table,
}

impl Keywords {
    /// The set of the words in `list`, whose order and repetitions do not matter.
    #[must_use]
    pub fn from_list(list: &[&str]) -> Self {
        list.iter().copied().collect()
    }

    /// Whether `word` is one of the set.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.has(key(word.as_bytes()), word.as_bytes())
    }

    fn has(&self, key: u64, word: &[u8]) -> bool {
        let equal = |id: u32| is_short(key) || self.words[id as usize].as_bytes() == word;
        self.table.find(key, equal).is_some()
    }

    /// The weight of `word` in fifths.
    fn weight(&self, key: u64, word: &[u8]) -> u64 {
        if self.has(key, word) { 5 } else { 1 }
    }
}

impl<'a> FromIterator<&'a str> for Keywords {
    fn from_iter<I: IntoIterator<Item = &'a str>>(words: I) -> Self {
        let words: Vec<Box<str>> = words.into_iter().map(Box::from).collect();
        let mut table = Table::default();
        table.clear(words.len());
        for (id, word) in (0..).zip(&words) {
            let key = key(word.as_bytes());
            table.entry(key, id, |other| {
                is_short(key) || words[other as usize] == *word
            });
        }
        Self { words, table }
    }
}

/// Memory of [`counts`], kept from example to example.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// The distinct tokens of the prediction, by [`key`].
    word_table: Table,
    words: Vec<Word>,
    /// The n-grams of order 2 to 4 in the prediction, by [`pair`].
    ngram_table: Table,
    /// The distinct n-grams of the prediction; those of order 1 come first, as in `words`.
    ngrams: Vec<Ngram>,
    /// The tokens of a text by their place in `words`, or [`ABSENT`].
    tokens: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    /// The place in the prediction.
    start: usize,
    end: usize,
    weight: u64,
}

/// How often an n-gram stands in the texts.
#[derive(Clone, Copy, Debug, Default)]
struct Ngram {
    prediction: u32,
    /// The number of the reference that `found` belongs to.
    reference: u32,
    /// Times in that reference, up to `prediction`.
    found: u32,
    /// The most times in one reference, up to `prediction`.
    most: u32,
}

/// A token that the prediction does not have.
const ABSENT: u32 = u32::MAX;

/// The counts of [`ngram_match`] and of the weighted match, in one pass over the texts.
///
/// The distinct n-grams of the prediction form a tree: one of order n is known by the number of its
/// first n - 1 tokens and that of its last token, a pair of integers, so its key is exact. An
/// n-gram of a reference is then only looked for where its first n - 1 tokens were found.
pub(crate) fn counts(
    scratch: &mut Scratch,
    prediction: &str,
    references: &[&str],
    keywords: &Keywords,
    weighting: Weighting,
) -> [NgramCounts; 2] {
    let Scratch {
        word_table,
        words,
        ngram_table,
        ngrams,
        tokens,
    } = scratch;
    let text = prediction.as_bytes();

    // Two tokens are at least one byte apart.
    word_table.clear(text.len() / 2 + 1);
    words.clear();
    tokens.clear();
    let mut prediction_weight = 0;
    each_token(prediction, |key, start, end| {
        let equal = |id: u32| {
            let word: &Word = &words[id as usize];
            is_short(key) || text[word.start..word.end] == text[start..end]
        };
        let id = word_table.entry(key, words.len() as u32, equal);
        if id as usize == words.len() {
            let weight = keywords.weight(key, &text[start..end]);
            words.push(Word { start, end, weight });
        }
        prediction_weight += words[id as usize].weight;
        tokens.push(id);
    });

    ngram_table.clear(3 * tokens.len());
    ngrams.clear();
    ngrams.resize(words.len(), Ngram::default());
    for place in 0..tokens.len() {
        let mut ngram = tokens[place];
        ngrams[ngram as usize].prediction += 1;
        for &last in tokens[place + 1..].iter().take(3) {
            ngram = ngram_table.entry(pair(ngram, last), ngrams.len() as u32, |_| true);
            if ngram as usize == ngrams.len() {
                ngrams.push(Ngram::default());
            }
            ngrams[ngram as usize].prediction += 1;
        }
    }

    let length = tokens.len() as u64;
    let mut plain = NgramCounts {
        orders: counted(length),
        prediction_length: length,
        reference_length: 0,
    };
    let mut weighted = plain;
    match weighting {
        Weighting::Recall => {
            weighted.orders = [[0; 2]; 4];
            weighted.reference_length = 2;
        }
        Weighting::Precision => weighted.orders[0][1] = prediction_weight,
    }
    let mut closest = None;
    for (number, reference) in (1_u32..).zip(references) {
        tokens.clear();
        let mut reference_weight = 0;
        let bytes = reference.as_bytes();
        each_token(reference, |key, start, end| {
            let equal = |id: u32| {
                let word = &words[id as usize];
                is_short(key) || text[word.start..word.end] == bytes[start..end]
            };
            let id = word_table.find(key, equal);
            reference_weight += match id {
                Some(id) => words[id as usize].weight,
                None => keywords.weight(key, &bytes[start..end]),
            };
            tokens.push(id.unwrap_or(ABSENT));
        });
        let reference_length = tokens.len() as u64;
        let distance = (reference_length.abs_diff(length), reference_length);
        closest = Some(closest.map_or(distance, |other| distance.min(other)));
        if weighting == Weighting::Recall {
            let mut orders = counted(reference_length);
            orders[0][1] = reference_weight.max(5);
            for (total, order) in weighted.orders.iter_mut().zip(orders) {
                total[1] += order[1];
            }
        }

        for place in 0..tokens.len() {
            let mut ngram = tokens[place];
            if ngram == ABSENT {
                continue;
            }
            let weight = words[ngram as usize].weight;
            for order in 0..4 {
                if order > 0 {
                    let Some(&last) = tokens.get(place + order) else {
                        break;
                    };
                    let Some(longer) = ngram_table.find(pair(ngram, last), |_| true) else {
                        break;
                    };
                    ngram = longer;
                }
                let weight = if order == 0 { weight } else { 1 };
                let seen = &mut ngrams[ngram as usize];
                if seen.reference != number {
                    seen.reference = number;
                    seen.found = 0;
                }
                if seen.found < seen.prediction {
                    seen.found += 1;
                    let most = seen.found > seen.most;
                    seen.most += u32::from(most);
                    plain.orders[order][0] += u64::from(most);
                    weighted.orders[order][0] += match weighting {
                        Weighting::Precision if !most => 0,
                        _ => weight,
                    };
                }
            }
        }
    }
    plain.reference_length = closest.map_or(0, |(_, length)| length);
    if weighting == Weighting::Precision {
        weighted.reference_length = plain.reference_length;
    }
    [plain, weighted]
}

/// The orders of a text of `length` tokens before anything is matched.
fn counted(length: u64) -> [[u64; 2]; 4] {
    [0, 1, 2, 3].map(|shorter| [0, length.saturating_sub(shorter).max(1)])
}

/// The key of an n-gram of order 2 to 4.
fn pair(first: u32, last: u32) -> u64 {
    u64::from(first) << 32 | u64::from(last)
}

/// Numbers by key, in open addressing; cleared in no time.
#[derive(Clone, Debug, Default)]
struct Table {
    slots: Vec<Slot>,
    /// The slots in use are the first `size`, a power of two, so that small texts after a large one
    /// stay in the cache.
    size: usize,
    /// Slots with another stamp are free.
    stamp: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u64,
    stamp: u32,
    id: u32,
}

impl Table {
    /// Empties the table and makes room for `capacity` entries, which is not checked later.
    fn clear(&mut self, capacity: usize) {
        // At most half full, so that a search ends soon, and ends at all.
        self.size = (2 * capacity.max(1)).next_power_of_two();
        if self.slots.len() < self.size {
            self.slots.resize(self.size, Slot::default());
        }
        if self.stamp == u32::MAX {
            self.slots.fill(Slot::default());
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// The number under `key` for which `equal` holds.
    #[inline]
    fn find(&self, key: u64, equal: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = &self.slots[..self.size];
        let mut place = hash(key) as usize;
        loop {
            let slot = slots.get(place & self.size.wrapping_sub(1))?;
            if slot.stamp != self.stamp {
                return None;
            }
            if slot.key == key && equal(slot.id) {
                return Some(slot.id);
            }
            place += 1;
        }
    }

    /// The number under `key` for which `equal` holds, which is `new` if there was none.
    #[inline]
    fn entry(&mut self, key: u64, new: u32, equal: impl Fn(u32) -> bool) -> u32 {
        let slots = &mut self.slots[..self.size];
        let mut place = hash(key) as usize;
        loop {
            let Some(slot) = slots.get_mut(place & self.size.wrapping_sub(1)) else {
                return new;
            };
            if slot.stamp != self.stamp {
                let stamp = self.stamp;
                *slot = Slot {
                    key,
                    stamp,
                    id: new,
                };
                return new;
            }
            if slot.key == key && equal(slot.id) {
                return slot.id;
            }
            place += 1;
        }
    }
}

// Odd, with half of the bits set: the first digits of pi.
const MULTIPLIER: u64 = 0x243f_6a88_85a3_08d3;
const SEED: u64 = 0x1319_8a2e_0370_7344;

fn hash(key: u64) -> u64 {
    fold(key ^ SEED)
}

/// Both halves of a wide product in one, so that each bit depends on each bit.
fn fold(x: u64) -> u64 {
    let product = u128::from(x) * u128::from(MULTIPLIER);
    product as u64 ^ (product >> 64) as u64
}

/// The key of a token. Up to 7 bytes it is the token itself, with the length in the top byte;
/// longer tokens have a hash there, and equal ones are to be compared.
fn key(word: &[u8]) -> u64 {
    let length = word.len() as u64;
    if length < 8 {
        let bytes = word
            .iter()
            .rev()
            .fold(0, |key, &byte| key << 8 | u64::from(byte));
        return bytes | length << 56;
    }
    let mut hashed = length;
    for at in (0..word.len() - 8).step_by(8) {
        hashed = fold(hashed ^ SEED ^ load(word, at));
    }
    fold(hashed ^ SEED ^ load(word, word.len() - 8)) | LONG
}

const LONG: u64 = 0xff << 56;

fn is_short(key: u64) -> bool {
    key < LONG
}

const SPACES: u64 = u64::from_le_bytes([b' '; 8]);

/// Eight bytes from `at` on, the first lowest; after the end of the text come spaces.
fn load(text: &[u8], at: usize) -> u64 {
    if let Some(&bytes) = text.get(at..).and_then(<[u8]>::first_chunk) {
        return u64::from_le_bytes(bytes);
    }
    match text.last_chunk() {
        Some(&bytes) if at < text.len() => {
            let missing = 8 * (at + 8 - text.len()) as u32;
            u64::from_le_bytes(bytes) >> missing | SPACES << (64 - missing)
        }
        _ => {
            let mut bytes = [b' '; 8];
            for (byte, &given) in bytes.iter_mut().zip(text.iter().skip(at)) {
                *byte = given;
            }
            u64::from_le_bytes(bytes)
        }
    }
}

/// Calls `take` with the key and place of each token of `text`.
#[inline]
pub(crate) fn each_token(text: &str, mut take: impl FnMut(u64, usize, usize)) {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let bytes = text.as_bytes();
    let mut start = 0;
    loop {
        start += blank(text, start);
        if start >= bytes.len() {
            return;
        }
        // Eight bytes at a time: the top bit of each byte up to 0x20 or from 0x80 on is set, and
        // the lowest bit set is never wrong.
        let word = load(bytes, start);
        let special = (word.wrapping_sub(0x21 * ONES) | word) & (0x80 * ONES);
        let length = special.trailing_zeros() / 8;
        let after = (word >> (8 * (length & 7))) as u8;
        if special != 0 && is_ascii_space(after) {
            let key = word & !(u64::MAX << (8 * length)) | u64::from(length) << 56;
            let end = start + length as usize;
            take(key, start, end);
            start = end;
        } else {
            let rest = &text[start..];
            let end = start + rest.find(is_space).unwrap_or(rest.len());
            take(key(&bytes[start..end]), start, end);
            start = end;
        }
    }
}

/// The length of the white space that starts at `at`.
#[inline]
fn blank(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        if is_ascii_space(byte) {
            end += 1;
        } else if byte.is_ascii() {
            break;
        } else {
            match text[end..].chars().next() {
                Some(c) if is_space(c) => end += c.len_utf8(),
                _ => break,
            }
        }
    }
    end - at
}

/// [`is_space`] for ASCII: tab to carriage return, the four separators, the space.
fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | 0x1c..=0x20)
}
