//! The n-grams that texts share.

use std::hash::Hash;

use hashbrown::HashMap;

/// Tokens with their numbers, from 1.
pub(crate) struct Vocabulary<T> {
    numbers: HashMap<T, u32>,
}

impl<T: Hash + Eq> Vocabulary<T> {
    /// A vocabulary with space for the different tokens of a text.
    pub(crate) fn with_capacity(tokens: usize) -> Self {
        Self {
            numbers: HashMap::with_capacity(tokens.min(1 << 10)),
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.numbers.len() as u32
    }

    /// The number of a token, which is new if the token is.
    ///
    /// Four billion different tokens would take over 100 gigabytes.
    #[inline]
    pub(crate) fn number(&mut self, token: T) -> u32 {
        let next = self.len().saturating_add(1);
        *self.numbers.entry(token).or_insert(next)
    }
}

/// Returns the number of n-grams of this order in a text with `len` tokens.
pub(crate) fn ngram_count(len: usize, order: usize) -> u64 {
    (len + 1).saturating_sub(order) as u64
}

/// Calls `each` for each different n-gram of orders 1 to `max_order` that the first text shares with another, with the
/// order, the number of its occurrences in the first text, and the numbers in the other texts that have it.
///
/// Texts are lists of numbers from 1 to `greatest`. The other texts are told by their index, from 0 for the second text.
///
/// # Cost
///
/// One sort of the positions of all texts, which brings equal n-grams of each order together.
pub(crate) fn for_each_shared<L: AsRef<[u32]>>(
    texts: &[L],
    greatest: u32,
    max_order: usize,
    mut each: impl FnMut(usize, u64, &[(usize, u64)]),
) {
    // No text shares longer n-grams than it has.
    let longest = texts.first().map_or(0, |text| text.as_ref().len());
    let max_order = max_order.min(longest);
    let bits = u32::BITS - greatest.leading_zeros();
    let text_bits = usize::BITS - texts.len().leading_zeros();
    let key_bits = (bits as usize).saturating_mul(max_order);
    let mut runs = Runs::new(texts.len(), max_order);
    if key_bits + text_bits as usize <= u64::BITS as usize {
        let layout = Layout {
            bits,
            text_bits,
            max_order: max_order as u32,
        };
        layout.add_all(texts, &mut runs, &mut each);
    } else {
        add_suffixes(texts, max_order, &mut runs, &mut each);
    }
    runs.end(&mut each);
}

/// Start of an n-gram, compared with the one before it in sorted order.
#[derive(Clone, Copy)]
struct Start {
    /// The text it is in.
    text: u32,
    /// The number of tokens up to the end of the text, at most the greatest order.
    len: u32,
}

/// Starts in sorted order. Starts of equal n-grams follow each other: they are a run.
struct Runs {
    starts: Vec<Start>,
    /// The number of tokens that the last two starts have in common: up to this order they are in one run.
    common: usize,
    /// Where the run of each of these orders begins.
    first: Vec<usize>,
    /// The number of starts in each text, which is 0 between runs. A run has far fewer texts than there can be.
    counts: Vec<u64>,
    others: Vec<(usize, u64)>,
}

impl Runs {
    fn new(texts: usize, max_order: usize) -> Self {
        Self {
            starts: Vec::new(),
            common: 0,
            first: vec![0; max_order],
            counts: vec![0; texts],
            others: Vec::new(),
        }
    }

    /// Adds a start that has its first `common` tokens in common with the last one.
    #[inline]
    fn add(
        &mut self,
        start: Start,
        common: usize,
        each: &mut impl FnMut(usize, u64, &[(usize, u64)]),
    ) {
        for order in common + 1..=self.common {
            self.end_run(order, each);
        }
        for order in self.common + 1..=common {
            self.first[order - 1] = self.starts.len() - 1;
        }
        self.common = common;
        self.starts.push(start);
    }

    fn end(&mut self, each: &mut impl FnMut(usize, u64, &[(usize, u64)])) {
        for order in 1..=self.common {
            self.end_run(order, each);
        }
    }

    fn end_run(&mut self, order: usize, each: &mut impl FnMut(usize, u64, &[(usize, u64)])) {
        let run = &self.starts[self.first[order - 1]..];
        // Texts that end too early are padded. All starts of a run do or none.
        if run.first().is_none_or(|start| (start.len as usize) < order) {
            return;
        }
        if self.counts.len() == 2 {
            // Most predictions have one reference.
            let ours = run.iter().filter(|start| start.text == 0).count();
            let theirs = run.len() - ours;
            if ours > 0 && theirs > 0 {
                each(order, ours as u64, &[(0, theirs as u64)]);
            }
            return;
        }
        self.others.clear();
        for start in run {
            let text = start.text as usize;
            if text > 0 && self.counts[text] == 0 {
                self.others.push((text - 1, 0));
            }
            self.counts[text] += 1;
        }
        let ours = std::mem::take(&mut self.counts[0]);
        for (other, count) in &mut self.others {
            *count = std::mem::take(&mut self.counts[*other + 1]);
        }
        if ours > 0 && !self.others.is_empty() {
            each(order, ours, &self.others);
        }
    }
}

/// The first tokens after a position and the number of the text in one integer, padded with zeros.
struct Layout {
    bits: u32,
    text_bits: u32,
    max_order: u32,
}

impl Layout {
    fn add_all<L: AsRef<[u32]>>(
        &self,
        texts: &[L],
        runs: &mut Runs,
        each: &mut impl FnMut(usize, u64, &[(usize, u64)]),
    ) {
        let &Self {
            bits,
            text_bits,
            max_order,
        } = self;
        if max_order == 0 {
            return;
        }
        let all: usize = texts.iter().map(|text| text.as_ref().len()).sum();
        let mut keys = Vec::with_capacity(all);
        let top = bits * (max_order - 1) + text_bits;
        let mask = u64::MAX << text_bits;
        for (text, symbols) in (0_u64..).zip(texts) {
            let mut key = 0;
            for &symbol in symbols.as_ref().iter().rev() {
                key = (key >> bits & mask) | u64::from(symbol) << top;
                keys.push(key | text);
            }
        }
        keys.sort_unstable();
        // How many whole tokens a number of bits holds: a division by `bits`, which would take most of the time.
        let mut tokens = [0_u8; u64::BITS as usize + 1];
        for (count, tokens) in (0_u32..).zip(&mut tokens) {
            *tokens = count.checked_div(bits).unwrap_or(0).min(max_order) as u8;
        }
        let unused = u64::BITS - (top + bits);
        runs.starts.reserve(all);
        let mut last = 0;
        for key in keys {
            let padding = (key >> text_bits).trailing_zeros();
            let start = Start {
                text: (key & !mask) as u32,
                len: max_order - u32::from(tokens[padding as usize]),
            };
            let common = (((key ^ last) & mask).leading_zeros() - unused).min(u64::BITS - unused);
            runs.add(start, usize::from(tokens[common as usize]), each);
            last = key;
        }
    }
}

/// The same for orders and vocabularies that do not fit into an integer.
fn add_suffixes<L: AsRef<[u32]>>(
    texts: &[L],
    max_order: usize,
    runs: &mut Runs,
    each: &mut impl FnMut(usize, u64, &[(usize, u64)]),
) {
    let mut suffixes: Vec<(&[u32], u32)> = Vec::new();
    for (text, symbols) in (0_u32..).zip(texts) {
        let symbols = symbols.as_ref();
        let suffix = |start| {
            let end = symbols.len().min(start + max_order);
            (&symbols[start..end], text)
        };
        suffixes.extend((0..symbols.len()).map(suffix));
    }
    suffixes.sort_unstable_by_key(|suffix| suffix.0);
    let mut last: &[u32] = &[];
    for (suffix, text) in suffixes {
        let pairs = suffix.iter().zip(last);
        let mut common = pairs.take_while(|(a, b)| a == b).count();
        if suffix.len() == last.len() && common == last.len() {
            common = max_order; // Both are padded alike.
        }
        let len = suffix.len() as u32;
        runs.add(Start { text, len }, common, each);
        last = suffix;
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    type Shared = Vec<(usize, Vec<u64>)>;

    fn shared(texts: &[Vec<u32>], greatest: u32, max_order: usize) -> Shared {
        let mut shared = Vec::new();
        for_each_shared(texts, greatest, max_order, |order, ours, others| {
            let mut counts = vec![0; texts.len()];
            counts[0] = ours;
            others
                .iter()
                .for_each(|(other, count)| counts[other + 1] = *count);
            shared.push((order, counts));
        });
        shared.sort();
        shared
    }

    fn counted(texts: &[Vec<u32>], max_order: usize) -> Shared {
        let mut shared = Vec::new();
        for order in 1..=max_order {
            let mut different: Vec<&[u32]> = texts[0].windows(order).collect();
            different.sort();
            different.dedup();
            for ngram in different {
                let count =
                    |text: &Vec<u32>| text.windows(order).filter(|n| *n == ngram).count() as u64;
                let counts: Vec<u64> = texts.iter().map(count).collect();
                if counts[1..].iter().any(|count| *count > 0) {
                    shared.push((order, counts));
                }
            }
        }
        shared.sort();
        shared
    }

    #[test]
    fn shared_ngrams_by_hand() {
        // a b a b against b a b: a 2 and 1, b 2 and 2, ab 2 and 1, ba 1 and 1, bab 1 and 1.
        let texts = [vec![1, 2, 1, 2], vec![2, 1, 2]];
        let pair = |a, b| vec![a, b];
        let expected = vec![
            (1, pair(2, 1)),
            (1, pair(2, 2)),
            (2, pair(1, 1)),
            (2, pair(2, 1)),
            (3, pair(1, 1)),
        ];
        assert_eq!(shared(&texts, 2, 4), expected);
        assert_eq!(shared(&[vec![], vec![]], 0, 4), []);
        assert_eq!(shared(&texts, 2, 0), []);
        assert_eq!(ngram_count(3, 2), 2);
        assert_eq!(ngram_count(0, 1), 0);
        assert_eq!(ngram_count(1, 4), 0);
    }

    proptest! {
        #[test]
        fn shared_ngrams_are_those_of_counting(
            texts in vec(vec(1_u32..5, 0..12), 1..5),
            max_order in 0_usize..7,
            greatest in prop_oneof![Just(4), Just(1 << 20), Just(u32::MAX)],
        ) {
            prop_assert_eq!(shared(&texts, greatest, max_order), counted(&texts, max_order));
        }
    }
}
