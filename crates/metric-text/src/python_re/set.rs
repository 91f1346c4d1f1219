//! Sets of characters, with the case rules of `re`.

use super::tables::{DIGIT, LOWER, SAME_UPPER, SPACE, WORD};

/// The last code point.
const LAST: u32 = 0x0010_FFFF;

/// What `IGNORECASE` makes equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Sensitive,
    /// Letters of ASCII, under `(?a)`.
    Ascii,
    Unicode,
}

impl Case {
    /// The lower case of a character, which is one character.
    pub(super) fn lower(self, code: u32) -> u32 {
        match self {
            Self::Sensitive => code,
            Self::Ascii if (0x41..=0x5a).contains(&code) => code + 0x20,
            Self::Ascii => code,
            Self::Unicode => lower(code),
        }
    }
}

fn lower(code: u32) -> u32 {
    let index = LOWER.partition_point(|(_, last, ..)| *last < code);
    match LOWER.get(index) {
        Some((first, _, step, distance))
            if *first <= code && (code - first).is_multiple_of(*step) =>
        {
            code.saturating_add_signed(*distance)
        }
        _ => code,
    }
}

/// Every character that has a lower case, with that.
fn lowered(case: Case) -> impl Iterator<Item = (u32, u32)> {
    let runs = LOWER.iter().flat_map(|(first, last, step, distance)| {
        let codes = (*first..=*last).step_by(*step as usize);
        codes.map(|code| (code, code.saturating_add_signed(*distance)))
    });
    runs.filter(move |(code, _)| case.lower(*code) != *code)
}

/// The classes of characters that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Word,
    Digit,
    Space,
}

impl Class {
    /// The characters of the class, of ASCII only under `(?a)`.
    pub(super) fn ranges(self, is_ascii: bool) -> &'static [Range] {
        match (self, is_ascii) {
            (Self::Word, false) => WORD,
            (Self::Digit, false) => DIGIT,
            (Self::Space, false) => SPACE,
            (Self::Word, true) => &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)],
            (Self::Digit, true) => &[(0x30, 0x39)],
            (Self::Space, true) => &[(0x09, 0x0d), (0x20, 0x20)],
        }
    }
}

/// The first and the last of some code points.
pub(super) type Range = (u32, u32);

/// A set of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    /// In order and apart from each other.
    ranges: Vec<Range>,
    ascii: u128,
}

impl Set {
    fn new(mut ranges: Vec<Range>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<Range> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => joined.push((first, last)),
            }
        }
        let mut set = Self {
            ranges: joined,
            ascii: 0,
        };
        for code in 0..128 {
            set.ascii |= u128::from(set.is_in_ranges(code)) << code;
        }
        set
    }

    pub(super) fn class(class: Class, is_ascii: bool) -> Self {
        Self::new(class.ranges(is_ascii).to_vec())
    }

    /// What a set in brackets matches, or a single character.
    pub(super) fn resolve(items: &[SetItem], is_negated: bool, case: Case, is_ascii: bool) -> Self {
        let mut ranges = Vec::new();
        let mut codes = Vec::new();
        for item in items {
            match *item {
                SetItem::Range(first, last) => codes.push((first, last)),
                SetItem::Class(class, false) => ranges.extend(class.ranges(is_ascii)),
                SetItem::Class(class, true) => {
                    ranges.extend(Self::class(class, is_ascii).complement().ranges);
                }
            }
        }
        let set = match case {
            Case::Sensitive => {
                ranges.append(&mut codes);
                Self::new(ranges)
            }
            _ => Self::ignoring(case, Self::new(codes), ranges),
        };
        if is_negated { set.complement() } else { set }
    }

    /// The characters whose lower case is that of one of `codes`, or in `classes`.
    fn ignoring(case: Case, codes: Self, classes: Vec<Range>) -> Self {
        let lowers = lowered(case).filter(|(code, _)| codes.has(*code));
        let lowers = lowers.map(|(_, lower)| (lower, lower));
        let mut all: Vec<Range> = lowers.chain(codes.ranges.iter().copied()).collect();
        if case == Case::Unicode {
            let known = Self::new(all.clone());
            let same = SAME_UPPER.iter().filter(|(code, _)| known.has(*code));
            all.extend(same.flat_map(|(_, others)| others.iter().map(|code| (*code, *code))));
        }
        all.extend(classes);
        let compared = Self::new(all);
        // What is compared is the lower case of the text, so a character with a lower case is as its lower case is.
        let (with, without): (Vec<_>, Vec<_>) =
            lowered(case).partition(|(_, lower)| compared.has(*lower));
        let mut left = compared.complement().ranges;
        left.extend(without.iter().map(|(code, _)| (*code, *code)));
        let mut ranges = Self::new(left).complement().ranges;
        ranges.extend(with.iter().map(|(code, _)| (*code, *code)));
        Self::new(ranges)
    }

    pub(super) fn union(sets: &[&Self]) -> Self {
        Self::new(
            sets.iter()
                .flat_map(|set| set.ranges.iter().copied())
                .collect(),
        )
    }

    pub(super) fn complement(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for (first, last) in &self.ranges {
            if *first > next {
                ranges.push((next, first - 1));
            }
            next = last + 1;
        }
        if next <= LAST {
            ranges.push((next, LAST));
        }
        Self::new(ranges)
    }

    pub(super) fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    #[inline]
    pub(super) fn has(&self, code: u32) -> bool {
        match code {
            0..128 => self.ascii >> code & 1 == 1,
            _ => self.is_in_ranges(code),
        }
    }

    fn is_in_ranges(&self, code: u32) -> bool {
        let index = self.ranges.partition_point(|(_, last)| *last < code);
        self.ranges
            .get(index)
            .is_some_and(|(first, _)| *first <= code)
    }

    /// The character of a set that has only one.
    pub(super) fn single(&self) -> Option<char> {
        match self.ranges[..] {
            [(first, last)] if first == last => char::from_u32(first),
            _ => None,
        }
    }
}

/// A part of a set in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetItem {
    Range(u32, u32),
    /// A class, and whether its complement is meant.
    Class(Class, bool),
}
