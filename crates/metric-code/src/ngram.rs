//! Matched n-grams of white-space tokens, added up over a corpus, and their BLEU.

use metric_core::{Sum, fields};

use crate::comments::is_space;
use crate::table::{Table, is_short, key, load};

/// Matched and counted n-grams of the orders 1 to 4, and the lengths that the brevity penalty compares. The counts of
/// examples add up.
///
/// BLEU is a score of the pooled counts, not a mean of scores. Which n-grams are matched and
/// counted is the business of [`ngram_match`], [`weighted_recall`] and [`weighted_precision`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NgramCounts {
    /// For each order, the n-grams matched and the n-grams counted, `[numerator, denominator]`.
    pub orders: [[u64; 2]; 4],
    /// Tokens in the predictions.
    pub prediction_length: u64,
    /// Tokens in the references, each example by the reference closest in length.
    pub reference_length: u64,
}

impl NgramCounts {
    /// Returns the geometric mean of the four ratios times the brevity penalty, in \[0, 1\].
    ///
    /// - An order without a match counts as 0.1 matches ("method 1" of Chen and Cherry, *A systematic
    ///   comparison of smoothing techniques for sentence-level BLEU*, WMT 2014), but without a
    ///   match of order 1 the score is 0. So is the score of no examples.
    /// - The brevity penalty is 1 if the predictions are longer than the references, else
    ///   `e^(1 − reference_length / prediction_length)`.
    ///
    /// The four logarithms are summed exactly and rounded once, as by Python's `math.fsum` in
    /// codebleu 0.7.0 (`bleu.py`), which is a copy of NLTK's.
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
        // A state from a file may say 0; counted n-grams are at least 1 per example.
        let orders = self
            .orders
            .map(|[matched, counted]| [matched, counted.max(1)]);
        self.bleu_over(&orders)
    }

    /// Returns the same over the orders that have n-grams to count: exact copies score 1, however short they are.
    ///
    /// ```
    /// use metric_code::NgramCounts;
    ///
    /// // One token, and the correct one, where no text has two.
    /// let one = NgramCounts {
    ///     orders: [[1, 1], [0, 0], [0, 0], [0, 0]],
    ///     prediction_length: 1,
    ///     reference_length: 1,
    /// };
    /// assert_eq!(one.bleu_of_counted_orders(), 1.0);
    /// assert_eq!(NgramCounts::default().bleu_of_counted_orders(), 0.0);
    /// ```
    #[must_use]
    pub fn bleu_of_counted_orders(&self) -> f64 {
        let counted = self.orders.iter().copied();
        let counted: Vec<[u64; 2]> = counted.filter(|[_, counted]| *counted > 0).collect();
        self.bleu_over(&counted)
    }

    fn bleu_over(&self, orders: &[[u64; 2]]) -> f64 {
        if self.orders[0][0] == 0 || self.prediction_length == 0 || orders.is_empty() {
            return 0.0;
        }
        let weight = 1.0 / orders.len() as f64;
        let logarithms: Sum = orders
            .iter()
            .map(|&[matched, counted]| {
                let matched = if matched == 0 { 0.1 } else { matched as f64 };
                weight * (matched / counted as f64).ln()
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

fields!(NgramCounts {
    orders,
    prediction_length,
    reference_length
});

/// Returns the n-grams of the prediction that occur in the references, as BLEU counts them.
///
/// Tokens are what white space separates (Python's `str.split`). An n-gram of the prediction is
/// matched at most as often as it occurs in the reference that has it most often. Each order counts
/// the n-grams of the prediction, at least 1. The reference closest in length (the shorter of two)
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

/// Returns the n-grams of the references that occur in the prediction, where keywords have 5 times
/// the weight: CodeBLEU's weighted n-gram match as its original program computes it.
///
/// Order 1 is in fifths: a keyword of a reference is 5, another token 1 (in the program 1 and 0.2),
/// and at least 5 are counted per reference. The orders 2 to 4 have no weights, and at least 1 is
/// counted. Each reference is compared with the prediction on its own, and all are summed; without
/// references all orders are `[0, 0]`.
///
/// The paper asks for a precision ([`weighted_precision`]); that this is a recall is a quirk of the
/// program. So is `reference_length`, which is always 2, the length of a pair of tokens and
/// weights. As a result the brevity penalty only affects predictions of 1 token.
///
/// The original evaluator of CodeXGLUE and codebleu 0.7.0 (`weighted_ngram_match.py`). Time is
/// linear in the texts.
///
/// ```
/// use metric_code::{Keywords, weighted_recall};
///
/// let keywords = Keywords::from_iter(["if"]);
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

/// Returns the n-grams of the prediction that occur in the references, where keywords have 5 times
/// the weight: CodeBLEU's weighted n-gram match as its paper defines it.
///
/// Order 1 counts 5 for a keyword of the prediction and 1 for another token. An order counts the n-grams that the
/// prediction has, which may be none. All else is as in [`ngram_match`].
///
/// Ren et al., *CodeBLEU: a method for automatic evaluation of code synthesis* (2020, arXiv
/// 2009.10297), equation 2. Time is linear in the texts.
///
/// ```
/// use metric_code::{Keywords, weighted_precision};
///
/// let keywords = Keywords::from_iter(["if"]);
/// let counts = weighted_precision("if a", &["if b"], &keywords);
/// assert_eq!(counts.orders, [[5, 6], [0, 1], [0, 0], [0, 0]]);
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

/// The weighted n-gram match that is used with the plain one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weighting {
    /// As [`weighted_recall`]. Each order counts at least one n-gram per text, as in the reference implementations.
    Recall,
    /// As [`weighted_precision`]. Each order counts the n-grams that there are.
    Precision,
}

/// A set of words that weigh more than others, such as the keywords of a language.
///
/// Matching is exact: case counts, and so does everything that is stuck to a word.
///
/// ```
/// use metric_code::Keywords;
///
/// let keywords = Keywords::from_iter(["if", "else"]);
/// assert!(keywords.contains("else"));
/// assert!(!keywords.contains("Else") && !keywords.contains("else{"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Keywords {
    words: Vec<Box<str>>,
    table: Table,
}

impl Keywords {
    /// Returns whether `word` is one of the set.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.has(key(word.as_bytes()), word.as_bytes())
    }

    fn has(&self, key: u64, word: &[u8]) -> bool {
        let equal = |id: u32| is_short(key) || self.words[id as usize].as_bytes() == word;
        self.table.find(key, equal).is_some()
    }
}

/// The order and repetitions of words do not matter.
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
    words: Words,
    trie: NgramTrie,
}

/// The counts of [`ngram_match`] and of the weighted match, in one pass over the texts.
pub(crate) fn counts(
    scratch: &mut Scratch,
    prediction: &str,
    references: &[&str],
    keywords: &Keywords,
    weighting: Weighting,
) -> [NgramCounts; 2] {
    let Scratch { words, trie } = scratch;
    let size = words.read(prediction, keywords);
    let least = match weighting {
        Weighting::Recall => 1,
        Weighting::Precision => 0,
    };
    let mut plain = NgramCounts {
        orders: counted(size, least),
        prediction_length: size.tokens,
        reference_length: 0,
    };
    let mut weighted = plain;
    match weighting {
        Weighting::Recall => {
            weighted.orders = [[0; 2]; 4];
            weighted.reference_length = 2;
        }
        Weighting::Precision => weighted.orders[0][1] = size.weight(),
    }

    let short = size.tokens <= SHORT;
    let keyword_positions = words.keyword_positions();
    let mut best_positions = [0; 4];
    if !short {
        trie.read(words);
    }
    // Summed over the references, and with the best reference for each n-gram.
    let (mut sum, mut best) = (Matches::default(), Matches::default());
    let mut closest: Option<(u64, u64)> = None;
    for (number, reference) in (1..).zip(references) {
        let reference_size = if short {
            let mut found = Found::default();
            let size = words.find_all(prediction, reference, keywords, |word| {
                found.take(word.map_or(0, |id| words.list[id as usize].positions));
            });
            sum.add(&found.matched, keyword_positions);
            for (best, matched) in best_positions.iter_mut().zip(found.matched) {
                *best |= matched;
            }
            size
        } else {
            let mut heads = [None; 3];
            words.find_all(prediction, reference, keywords, |word| {
                let keyword = word.is_some_and(|id| words.list[id as usize].keyword);
                trie.take(&mut heads, word, keyword, number, &mut sum, &mut best);
            })
        };
        if weighting == Weighting::Recall {
            let mut orders = counted(reference_size, least);
            orders[0][1] = reference_size.weight().max(5);
            for (total, order) in weighted.orders.iter_mut().zip(orders) {
                total[1] += order[1];
            }
        }
        let distance = (
            reference_size.tokens.abs_diff(size.tokens),
            reference_size.tokens,
        );
        closest = Some(closest.map_or(distance, |other| distance.min(other)));
    }
    best.add(&best_positions, keyword_positions);
    plain.reference_length = closest.map_or(0, |(_, length)| length);
    let matches = match weighting {
        Weighting::Recall => sum,
        Weighting::Precision => {
            weighted.reference_length = plain.reference_length;
            best
        }
    };
    for order in 0..4 {
        plain.orders[order][0] = best.orders[order];
        weighted.orders[order][0] = matches.orders[order];
    }
    weighted.orders[0][0] += (KEYWORD_WEIGHT - 1) * matches.keywords;
    [plain, weighted]
}

/// The weight of a keyword, where another token has weight 1.
const KEYWORD_WEIGHT: u64 = 5;

/// The tokens of a text.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    tokens: u64,
    /// The keywords among them.
    keywords: u64,
}

impl Size {
    fn weight(self) -> u64 {
        self.tokens + (KEYWORD_WEIGHT - 1) * self.keywords
    }
}

/// The orders of a text before anything is matched, each with this many n-grams at least.
fn counted(size: Size, least: u64) -> [[u64; 2]; 4] {
    [0, 1, 2, 3].map(|shorter| [0, size.tokens.saturating_sub(shorter).max(least)])
}

/// N-grams matched.
#[derive(Clone, Copy, Debug, Default)]
struct Matches {
    orders: [u64; 4],
    /// The keywords among those of order 1.
    keywords: u64,
}

impl Matches {
    fn add(&mut self, matched: &[Positions; 4], keywords: Positions) {
        for (order, positions) in self.orders.iter_mut().zip(matched) {
            *order += u64::from(positions.count_ones());
        }
        self.keywords += u64::from((matched[0] & keywords).count_ones());
    }
}

/// The tokens of the prediction.
#[derive(Clone, Debug, Default)]
struct Words {
    table: Table,
    /// The distinct tokens, by their numbers.
    list: Vec<Word>,
    /// The number of each token.
    text: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    /// The byte position of its first occurrence in the prediction.
    start: usize,
    end: usize,
    keyword: bool,
    /// All its positions among the tokens, if these are at most [`SHORT`].
    positions: Positions,
}

impl Words {
    /// Takes the tokens of the prediction.
    fn read(&mut self, prediction: &str, keywords: &Keywords) -> Size {
        let bytes = prediction.as_bytes();
        let Self { table, list, text } = self;
        // A token takes a byte at least, and another parts it from the next.
        table.clear(bytes.len() / 2 + 1);
        list.clear();
        text.clear();
        let mut size = Size::default();
        each_token(prediction, |key, start, end| {
            let id = table.entry(key, list.len() as u32, |id| {
                let word: &Word = &list[id as usize];
                is_short(key) || bytes[word.start..word.end] == bytes[start..end]
            });
            if id as usize == list.len() {
                list.push(Word {
                    start,
                    end,
                    keyword: keywords.has(key, &bytes[start..end]),
                    positions: 0,
                });
            }
            let word = &mut list[id as usize];
            word.positions |= 1 << (size.tokens % SHORT);
            size.tokens += 1;
            size.keywords += u64::from(word.keyword);
            text.push(id);
        });
        size
    }

    /// Calls `take` with the number of each token of `reference`, or none where the prediction does
    /// not have it.
    #[inline]
    fn find_all(
        &self,
        prediction: &str,
        reference: &str,
        keywords: &Keywords,
        mut take: impl FnMut(Option<u32>),
    ) -> Size {
        let (known, bytes) = (prediction.as_bytes(), reference.as_bytes());
        let mut size = Size::default();
        each_token(reference, |key, start, end| {
            let id = self.table.find(key, |id| {
                let word = &self.list[id as usize];
                is_short(key) || known[word.start..word.end] == bytes[start..end]
            });
            size.tokens += 1;
            size.keywords += u64::from(match id {
                Some(id) => self.list[id as usize].keyword,
                None => keywords.has(key, &bytes[start..end]),
            });
            take(id);
        });
        size
    }

    fn keyword_positions(&self) -> Positions {
        let keywords = self.list.iter().filter(|word| word.keyword);
        keywords.fold(0, |positions, word| positions | word.positions)
    }
}

/// A set of positions among the tokens of a prediction.
type Positions = u128;

/// Predictions of up to this many tokens are matched by [`Found`], longer ones by an [`NgramTrie`].
const SHORT: u64 = Positions::BITS as u64;

/// Matching without a table of n-grams: an n-gram is known by the positions where it ends in the
/// prediction, which follow from those of its tokens.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// For each order, the ends in the prediction of the n-gram that ends with the last token of
    /// the reference.
    ends: [Positions; 4],
    /// For each order, the ends of the n-grams of the prediction that are matched. Each match takes
    /// the first position that is left. So of two references, the one that has an n-gram more often
    /// takes all the positions that the other takes, and the union has as many as the better one.
    matched: [Positions; 4],
}

impl Found {
    /// Takes the next token of the reference, which has these positions in the prediction.
    #[inline]
    fn take(&mut self, positions: Positions) {
        let [one, two, three, _] = self.ends;
        self.ends = [Positions::MAX, one << 1, two << 1, three << 1].map(|ends| ends & positions);
        for (matched, ends) in self.matched.iter_mut().zip(self.ends) {
            let left = ends & !*matched;
            *matched |= left & left.wrapping_neg();
        }
    }
}

/// The n-grams of a long prediction.
///
/// Those of order 1 have the numbers of their tokens. A longer one is known by the number of the
/// n-gram without its last token, and that token: a pair of integers, so the key is exact. And
/// where an n-gram is not in the prediction, no longer one is that starts with it.
#[derive(Clone, Debug, Default)]
struct NgramTrie {
    table: Table,
    ngrams: Vec<Ngram>,
}

/// The number of times an n-gram occurs in the texts.
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

impl NgramTrie {
    /// Takes the n-grams of the prediction.
    fn read(&mut self, words: &Words) {
        let Self { table, ngrams } = self;
        table.clear(3 * words.text.len());
        ngrams.clear();
        ngrams.resize(words.list.len(), Ngram::default());
        for (position, &first) in words.text.iter().enumerate() {
            let mut ngram = first;
            ngrams[ngram as usize].prediction += 1;
            for &last in words.text[position + 1..].iter().take(3) {
                ngram = table.entry(pair(ngram, last), ngrams.len() as u32, |_| true);
                if ngram as usize == ngrams.len() {
                    ngrams.push(Ngram::default());
                }
                ngrams[ngram as usize].prediction += 1;
            }
        }
    }

    /// Takes the next token of the reference of this `number`; `heads` are the n-grams of order 1
    /// to 3 that end before it.
    #[inline]
    fn take(
        &mut self,
        heads: &mut [Option<u32>; 3],
        word: Option<u32>,
        keyword: bool,
        number: u32,
        sum: &mut Matches,
        best: &mut Matches,
    ) {
        let [one, two, three] = heads.map(|head| self.table.find(pair(head?, word?), |_| true));
        *heads = [word, one, two];
        for (order, id) in [word, one, two, three].into_iter().enumerate() {
            let Some(ngram) = id.map(|id| &mut self.ngrams[id as usize]) else {
                continue;
            };
            if ngram.reference != number {
                ngram.reference = number;
                ngram.found = 0;
            }
            if ngram.found == ngram.prediction {
                continue;
            }
            ngram.found += 1;
            sum.orders[order] += 1;
            sum.keywords += u64::from(order == 0 && keyword);
            if ngram.found > ngram.most {
                ngram.most = ngram.found;
                best.orders[order] += 1;
                best.keywords += u64::from(order == 0 && keyword);
            }
        }
    }
}

/// The key of an n-gram of order 2 to 4.
fn pair(first: u32, last: u32) -> u64 {
    u64::from(first) << 32 | u64::from(last)
}

/// Calls `take` with the key and position of each token of `text`.
#[inline]
fn each_token(text: &str, mut take: impl FnMut(u64, usize, usize)) {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let bytes = text.as_bytes();
    let mut start = 0;
    loop {
        start += blank(text, start);
        if start >= bytes.len() {
            return;
        }
        // Eight bytes at a time: the top bit of each byte up to 0x20, or of at least 0x80, is set,
        // and the lowest bit set is never wrong.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-14, "{value} {expected}");
    }

    #[test]
    fn short_texts() {
        let none = Keywords::default();
        let tenth = |orders: f64| 0.1_f64.powf(orders / 4.0);
        // An identical text lacks the orders above its length.
        for (text, expected) in [
            ("", 0.0),
            (" \n", 0.0),
            ("a", tenth(3.0)),
            ("a b", tenth(2.0)),
            ("a b c", tenth(1.0)),
            ("a b c d", 1.0),
        ] {
            close(ngram_match(text, &[text]).bleu(), expected);
        }
        assert_eq!(ngram_match("", &["a"]).orders, [[0, 1]; 4]);
        assert_eq!(ngram_match("a", &[""]).orders, [[0, 1]; 4]);
        assert_eq!(ngram_match("a b", &["c d"]).bleu(), 0.0);

        // One token: the brevity penalty compares with length 2. Its weight is 1 or 5 of 5 fifths.
        let penalty = (-1.0_f64).exp();
        let one = weighted_recall("a", &["a"], &none);
        assert_eq!(one.orders, [[1, 5], [0, 1], [0, 1], [0, 1]]);
        close(one.bleu(), penalty * (0.2_f64 * 0.001).powf(0.25));
        let keyword = weighted_recall("a", &["a"], &Keywords::from_iter(["a"]));
        assert_eq!(keyword.orders[0], [5, 5]);
        close(keyword.bleu(), penalty * 0.001_f64.powf(0.25));
        // Three tokens of 3 fifths, of at least 5.
        close(
            weighted_recall("a b c", &["a b c"], &none).bleu(),
            (0.6_f64 * 0.1).powf(0.25),
        );
        assert_eq!(weighted_precision("", &["a"], &none).orders[0], [0, 0]);
    }

    #[test]
    fn brevity_penalty() {
        let length = |prediction: u64, reference: u64| NgramCounts {
            orders: [[1, 1]; 4],
            prediction_length: prediction,
            reference_length: reference,
        };
        close(length(5, 4).bleu(), 1.0);
        close(length(4, 4).bleu(), 1.0);
        close(length(2, 4).bleu(), (-1.0_f64).exp());
        close(length(0, 4).bleu(), 0.0);
    }

    #[test]
    fn several_references() {
        let none = Keywords::default();
        let references = ["a b", "a a x x x x", "b b b"];
        // `a` twice in the second, `b` in the first or third once: the best for each, of 3.
        let counts = ngram_match("a a b", &references);
        assert_eq!(counts.orders, [[3, 3], [2, 2], [0, 1], [0, 1]]);
        assert_eq!((counts.prediction_length, counts.reference_length), (3, 3));
        // On its own: 2 of 2, 2 of 6, 1 of 3, the totals 2 and 3 raised to 5.
        let recall = weighted_recall("a a b", &references, &none);
        assert_eq!(recall.orders, [[5, 16], [2, 8], [0, 6], [0, 5]]);
        assert_eq!(recall.reference_length, 2);
        let precision = weighted_precision("a a b", &references, &none);
        assert_eq!(precision.orders, [[3, 3], [2, 2], [0, 1], [0, 0]]);
        assert_eq!(precision.reference_length, 3);
        // The shorter of two lengths that are equally close.
        assert_eq!(ngram_match("a b", &["a b c", "a"]).reference_length, 1);
        // A second text that is no better changes nothing.
        assert_eq!(
            ngram_match("a b", &["a b", "b"]).orders,
            ngram_match("a b", &["a b"]).orders
        );
    }

    #[test]
    fn no_references() {
        let none = Keywords::default();
        let counts = ngram_match("a b", &[]);
        assert_eq!(counts.orders, [[0, 2], [0, 1], [0, 1], [0, 1]]);
        assert_eq!((counts.reference_length, counts.bleu()), (0, 0.0));
        assert_eq!(weighted_recall("a b", &[], &none).orders, [[0, 0]; 4]);
        let precision = weighted_precision("a b", &[], &none);
        assert_eq!(precision.orders, [[0, 2], [0, 1], [0, 0], [0, 0]]);
    }

    #[test]
    fn white_space_is_pythons() {
        let tokens = |text| ngram_match(text, &[]).prediction_length;
        assert_eq!(tokens("a\u{1c}b\u{85}c\u{a0}d\u{3000}e\tf"), 6);
        assert_eq!(tokens("a\u{200b}b\u{feff}c\0d\u{8}e"), 1);
        assert_eq!(tokens("\u{2028} \u{1f}"), 0);
    }

    #[test]
    fn tokens_that_are_almost_equal() {
        let texts = [
            "a",
            "a\0",
            "abcdefg",
            "abcdefgh",
            "abcdefgi",
            "é",
            "abcdefgh\0",
            "abcdefghabcdefgh",
        ];
        for text in texts {
            for other in texts {
                let counts = ngram_match(text, &[other]);
                assert_eq!(
                    counts.orders[0],
                    [u64::from(text == other), 1],
                    "{text:?} {other:?}"
                );
                assert_eq!(Keywords::from_iter([other]).contains(text), text == other);
            }
        }
        let all = Keywords::from_iter(texts.iter().copied());
        assert!(texts.iter().all(|text| all.contains(text)) && !all.contains(""));
        assert!(!Keywords::default().contains("a"));
    }

    type Bag<'a> = BTreeMap<&'a [&'a str], u64>;

    fn bag<'a>(tokens: &'a [&'a str], order: usize) -> Bag<'a> {
        let mut bag = Bag::new();
        for ngram in tokens.windows(order) {
            *bag.entry(ngram).or_default() += 1;
        }
        bag
    }

    fn of(bag: &Bag<'_>, ngram: &[&str]) -> u64 {
        bag.get(ngram).copied().unwrap_or(0)
    }

    /// The definition, read aloud.
    fn defined(prediction: &str, references: &[&str], keywords: &Keywords) -> [NgramCounts; 3] {
        let prediction: Vec<&str> = prediction
            .split(' ')
            .filter(|token| !token.is_empty())
            .collect();
        let references: Vec<Vec<&str>> = references
            .iter()
            .map(|text| text.split(' ').filter(|token| !token.is_empty()).collect())
            .collect();
        let mut results = [NgramCounts::default(); 3];
        for order in 1..=4 {
            let weight = |ngram: &[&str]| {
                if order == 1 && keywords.contains(ngram[0]) {
                    5
                } else {
                    1
                }
            };
            let hits = bag(&prediction, order);
            let bags: Vec<Bag<'_>> = references.iter().map(|tokens| bag(tokens, order)).collect();
            let [plain, recall, precision] = &mut results;
            for (ngram, &count) in &hits {
                let most = bags.iter().map(|bag| of(bag, ngram)).max().unwrap_or(0);
                plain.orders[order - 1][0] += count.min(most);
                plain.orders[order - 1][1] += count;
                precision.orders[order - 1][0] += weight(ngram) * count.min(most);
                precision.orders[order - 1][1] += weight(ngram) * count;
            }
            plain.orders[order - 1][1] = plain.orders[order - 1][1].max(1);
            for bag in &bags {
                let matched =
                    |(ngram, &count): (&&[&str], &u64)| weight(ngram) * count.min(of(&hits, ngram));
                let total: u64 = bag.iter().map(|(ngram, count)| weight(ngram) * count).sum();
                recall.orders[order - 1][0] += bag.iter().map(matched).sum::<u64>();
                recall.orders[order - 1][1] += total.max(if order == 1 { 5 } else { 1 });
            }
        }
        let length = prediction.len() as u64;
        let lengths = references.iter().map(|tokens| tokens.len() as u64);
        let closest = lengths
            .min_by_key(|other| (other.abs_diff(length), *other))
            .unwrap_or(0);
        for (counts, reference_length) in results.iter_mut().zip([closest, 2, closest]) {
            counts.prediction_length = length;
            counts.reference_length = reference_length;
        }
        results
    }

    /// Texts of up to `length` of few words, short and long ones.
    fn text(length: usize) -> impl Strategy<Value = String> {
        const WORDS: &[&str] = &[
            "a",
            "b",
            "if",
            "c\0",
            "é",
            "keyword",
            "identifier",
            "identified",
            "identifier_2",
        ];
        let word = proptest::sample::select(WORDS);
        proptest::collection::vec(word, 0..length).prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn counts_are_those_of_the_definition(
            prediction in prop_oneof![text(12), text(300)],
            references in proptest::collection::vec(prop_oneof![text(12), text(300)], 0..4),
        ) {
            let references: Vec<&str> = references.iter().map(String::as_str).collect();
            let keywords = Keywords::from_iter(["if", "keyword", "identifier", "other"]);
            let [plain, recall, precision] = defined(&prediction, &references, &keywords);
            prop_assert_eq!(ngram_match(&prediction, &references), plain);
            prop_assert_eq!(weighted_recall(&prediction, &references, &keywords), recall);
            prop_assert_eq!(weighted_precision(&prediction, &references, &keywords), precision);
        }

        #[test]
        fn memory_used_before_does_not_matter(texts in proptest::collection::vec(text(200), 1..6)) {
            let keywords = Keywords::from_iter(["if", "keyword"]);
            let mut scratch = Scratch::default();
            for prediction in &texts {
                for reference in &texts {
                    for weighting in [Weighting::Recall, Weighting::Precision] {
                        let [of_kept, of_new] = [&mut scratch, &mut Scratch::default()]
                            .map(|scratch| counts(scratch, prediction, &[reference], &keywords, weighting));
                        prop_assert_eq!(of_kept, of_new);
                    }
                }
            }
        }

        #[test]
        fn a_text_matches_itself(prediction in text(200)) {
            let counts = ngram_match(&prediction, &[&prediction]);
            for (length, [matched, counted]) in (0..).zip(counts.orders) {
                prop_assert_eq!(matched, counts.prediction_length.saturating_sub(length));
                prop_assert_eq!(counted, matched.max(1));
            }
        }

        #[test]
        fn pooling_is_in_any_order(texts in proptest::collection::vec((text(9), text(9)), 0..6)) {
            let counts: Vec<_> = texts.iter().map(|(a, b)| ngram_match(a, &[b])).collect();
            prop_assert!((0.0..=1.0).contains(&crate::laws::check(&counts).bleu()));
        }
    }

    #[test]
    fn large_texts_take_linear_time() {
        let numbered: String = (0..100_000).map(|i| format!("name_{i} ")).collect();
        for text in [&numbered, &"a ".repeat(1 << 19), &"a".repeat(1 << 20)] {
            assert!(ngram_match(text, &[text]).bleu() > 0.1);
        }
    }
}
