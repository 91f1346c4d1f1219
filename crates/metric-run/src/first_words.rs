//! Text files whose lines start with ids: aligned by line, the ids would be scored as words.

use std::collections::HashSet;

use foldhash::fast::FixedState;

/// The number of first words that are compared with each other; the rest only count in the sum.
const MOST_COMPARED: usize = 1 << 20;

/// The number of lines after which first words that look like ids are certain to be ids.
const CERTAIN_LINES: u64 = 10;

/// The first words of the lines of a text file, as long as no two lines share one.
#[derive(Default)]
pub(crate) struct FirstWords {
    compared: HashSet<u64, FixedState>,
    lines: u64,
    /// The lines of two words or more.
    long_lines: u64,
    /// The lines whose first word has a digit, `-` or `_`.
    like_ids: u64,
    /// Sums of hashes, which do not depend on the order: of the first words, and of numbered lines.
    words: u128,
    numbered_lines: u128,
    first: String,
}

/// The meaning of the first words of two text files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineStarts {
    Words,
    /// They are probably ids.
    ProbablyIds,
    Ids,
}

impl FirstWords {
    /// Returns the first words of some lines, each with its number; `None` if a line has no word, or if two
    /// share their first word.
    pub(crate) fn of_lines<'l>(lines: impl Iterator<Item = (u64, &'l str)>) -> Option<Self> {
        let mut words = Self::default();
        for (number, line) in lines {
            words.add(number, line)?;
        }
        Some(words)
    }

    fn add(&mut self, number: u64, line: &str) -> Option<()> {
        let mut words = line.split_ascii_whitespace();
        let word = words.next()?;
        let hash = hash(word);
        if self.compared.len() < MOST_COMPARED && !self.compared.insert(hash) {
            return None;
        }
        if self.lines == 0 {
            word.clone_into(&mut self.first);
        }
        let is_like_id = |byte: u8| byte.is_ascii_digit() || byte == b'-' || byte == b'_';
        self.lines += 1;
        self.long_lines += u64::from(words.next().is_some());
        self.like_ids += u64::from(word.bytes().any(is_like_id));
        self.words = self.words.wrapping_add(hash.into());
        let numbered = hash_numbered(number, line);
        self.numbered_lines = self.numbered_lines.wrapping_add(numbered.into());
        Some(())
    }

    /// Adds the lines that follow; `None` if two lines share their first word.
    pub(crate) fn followed_by(mut self, next: Self) -> Option<Self> {
        for hash in next.compared {
            if self.compared.len() < MOST_COMPARED && !self.compared.insert(hash) {
                return None;
            }
        }
        if self.lines == 0 {
            self.first = next.first;
        }
        self.lines += next.lines;
        self.long_lines += next.long_lines;
        self.like_ids += next.like_ids;
        self.words = self.words.wrapping_add(next.words);
        self.numbered_lines = self.numbered_lines.wrapping_add(next.numbered_lines);
        Some(self)
    }

    /// Returns the first word of the file.
    pub(crate) fn first(&self) -> &str {
        &self.first
    }

    /// Judges the first words of two files.
    pub(crate) fn judge(&self, other: &Self) -> LineStarts {
        let both = |is: fn(&Self) -> bool| is(self) && is(other);
        if self.lines != other.lines || self.words != other.words {
            return LineStarts::Words;
        }
        let are_like_ids = both(|words| words.like_ids == words.lines);
        let are_many = both(|words| words.long_lines >= CERTAIN_LINES);
        // A file of one word per line has values, and equal files score the same either way.
        let may_have_texts = both(|words| words.long_lines > 1);
        let differ = self.numbered_lines != other.numbered_lines;
        match (are_like_ids, are_many) {
            (true, true) => LineStarts::Ids,
            (true, false) | (false, true) if may_have_texts && differ => LineStarts::ProbablyIds,
            _ => LineStarts::Words,
        }
    }
}

fn hash(word: &str) -> u64 {
    use std::hash::BuildHasher;
    FixedState::default().hash_one(word)
}

fn hash_numbered(number: u64, line: &str) -> u64 {
    use std::hash::BuildHasher;
    FixedState::default().hash_one((number, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(lines: &[String]) -> Option<FirstWords> {
        FirstWords::of_lines((1..).zip(lines.iter().map(String::as_str)))
    }

    fn judge(references: &[String], predictions: &[String]) -> LineStarts {
        match (words(references), words(predictions)) {
            (Some(references), Some(predictions)) => references.judge(&predictions),
            _ => LineStarts::Words,
        }
    }

    fn lines(count: usize, line: impl Fn(usize) -> String) -> Vec<String> {
        (0..count).map(line).collect()
    }

    #[test]
    fn ids_words_and_what_may_be_either() {
        use LineStarts::{Ids, ProbablyIds, Words};
        let id = |i: usize| format!("utt-{i} good morning");
        let heard = |i: usize| format!("utt-{i} good evening");
        let name = |i: usize| {
            format!(
                "{} good morning",
                ["anna", "ben", "cy"][i % 3].repeat(i / 3 + 1)
            )
        };
        let mut shuffled = lines(10, heard);
        shuffled.reverse();
        let mut names = lines(12, name);
        names.rotate_left(1);
        let rows: &[(&str, Vec<String>, Vec<String>, LineStarts)] = &[
            ("ids", lines(10, id), lines(10, heard), Ids),
            ("in another order", lines(10, id), shuffled, Ids),
            ("of a perfect system", lines(10, id), lines(10, id), Ids),
            (
                "numbers",
                lines(10, |i| format!("{i} a b")),
                lines(10, |i| format!("{i} a c")),
                Ids,
            ),
            ("few", lines(9, id), lines(9, heard), ProbablyIds),
            (
                "few, of a perfect system",
                lines(9, id),
                lines(9, id),
                Words,
            ),
            ("one", lines(1, id), lines(1, heard), Words),
            ("without a sign", lines(12, name), names, ProbablyIds),
            (
                "sentences of a perfect system",
                lines(12, name),
                lines(12, name),
                Words,
            ),
            (
                "one word",
                lines(20, |i| format!("a-{i}")),
                lines(20, |i| format!("a-{i}")),
                Words,
            ),
            (
                "another set",
                lines(10, id),
                lines(10, |i| heard(i + 1)),
                Words,
            ),
            ("more lines", lines(10, id), lines(11, heard), Words),
            (
                "twice",
                lines(10, |i| id(i / 2)),
                lines(10, |i| heard(i / 2)),
                Words,
            ),
            (
                "an empty line",
                lines(10, |_| String::new()),
                lines(10, |_| String::new()),
                Words,
            ),
        ];
        for (name, references, predictions, expected) in rows {
            assert_eq!(judge(references, predictions), *expected, "{name}");
        }
    }

    #[test]
    fn parts_are_the_whole() {
        let lines = lines(30, |i| format!("utt-{i} a b"));
        let (first, rest) = lines.split_at(11);
        let first = words(first).expect("no word twice");
        let rest = FirstWords::of_lines((12..).zip(rest.iter().map(String::as_str)));
        let whole = first.followed_by(rest.expect("no word twice"));
        let whole = whole.expect("no word twice");
        assert_eq!(
            whole.numbered_lines,
            words(&lines).expect("no word twice").numbered_lines
        );
        assert_eq!((whole.first(), whole.lines), ("utt-0", 30));
        let again = words(&lines[3..4]).expect("no word twice");
        assert!(whole.followed_by(again).is_none());
    }
}
