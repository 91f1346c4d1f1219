//! The rules by which texts are split into tokens.

use std::borrow::Cow;

pub(crate) use crate::normalize::is_space;

/// The role of a character when a text is split.
///
/// Spaces separate tokens, and symbols are tokens of their own. Points and dashes are separated depending on the
/// characters next to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Other,
    Number,
    /// Separated, unless it is between numbers.
    Point,
    /// Separated if it follows a number.
    Dash,
    Symbol,
    Space,
}

/// Splits a text by the classes of its characters.
///
/// `spaced` says whether the ends of the text are spaces. A point between a number and the end of a text that is not
/// spaced is not separated.
pub(crate) fn split<'t>(
    text: &'t str,
    spaced: bool,
    class: impl Fn(char) -> Class,
    each: &mut impl FnMut(&'t str),
) {
    let mut word = Word {
        text,
        start: 0,
        marks: 0,
        ends_in_point: false,
        follows_space: spaced,
    };
    let mut marks = Marks::default();
    for (position, c) in text.char_indices() {
        match class(c) {
            Class::Other | Class::Number => word.ends_in_point = false,
            mark @ (Class::Point | Class::Dash) => {
                word.marks += 1;
                word.ends_in_point = mark == Class::Point;
            }
            separator => {
                word.end(position, true, &class, &mut marks, each);
                let end = position + c.len_utf8();
                if separator == Class::Symbol {
                    each(slice(text, position, end));
                }
                word.start = end;
                word.marks = 0;
                word.follows_space = true;
            }
        }
    }
    word.end(text.len(), spaced, &class, &mut marks, each);
}

/// The characters since the last separator.
struct Word<'t> {
    text: &'t str,
    start: usize,
    /// The number of points and dashes.
    marks: usize,
    /// Whether the last character is a point.
    ends_in_point: bool,
    follows_space: bool,
}

impl<'t> Word<'t> {
    fn end(
        &self,
        end: usize,
        before_space: bool,
        class: &impl Fn(char) -> Class,
        marks: &mut Marks,
        each: &mut impl FnMut(&'t str),
    ) {
        if self.start == end {
            return;
        }
        let word = slice(self.text, self.start, end);
        if self.marks == 0 {
            return each(word);
        }
        // The end of a sentence: separated from what is before it or, if that is a number, from the space after it.
        if self.marks == 1 && self.ends_in_point && before_space {
            let point = word
                .char_indices()
                .next_back()
                .map_or(0, |(point, _)| point);
            if point > 0 {
                each(slice(word, 0, point));
            }
            return each(slice(word, point, word.len()));
        }
        marks.read(word, [self.follows_space, before_space], class);
        marks.separate();
        let mut start = 0;
        let mut position = 0;
        for item in marks.items.iter().chain([&SPACE]) {
            if item.class == Class::Space {
                if start < position {
                    each(slice(word, start, position));
                }
                start = position;
            }
            position += item.len;
        }
    }
}

fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// A character of a word with points or dashes, or a space that the text does not have.
#[derive(Clone, Copy)]
struct Item {
    class: Class,
    len: usize,
}

const SPACE: Item = Item {
    class: Class::Space,
    len: 0,
};

/// Separates points and dashes from the characters next to them.
#[derive(Default)]
struct Marks {
    items: Vec<Item>,
    before: Vec<Item>,
}

impl Marks {
    fn read(&mut self, word: &str, spaces: [bool; 2], class: impl Fn(char) -> Class) {
        let [first, last] = spaces.map(|is_space| is_space.then_some(SPACE));
        let item = |c: char| Item {
            class: class(c),
            len: c.len_utf8(),
        };
        self.items.clear();
        self.items.extend(first);
        self.items.extend(word.chars().map(item));
        self.items.extend(last);
    }

    fn separate(&mut self) {
        let is_number = |class| class == Class::Number;
        let is_point = |class| class == Class::Point;
        let after = |a, b| [a, SPACE, b, SPACE];
        let before = |a, b| [SPACE, a, SPACE, b];
        self.pass(|class| !is_number(class), is_point, after);
        self.pass(is_point, |class| !is_number(class), before);
        self.pass(is_number, |class| class == Class::Dash, after);
    }

    /// Replaces pairs of neighbors from left to right, where the second of a replaced pair is not the first of another.
    fn pass(
        &mut self,
        first: impl Fn(Class) -> bool,
        second: impl Fn(Class) -> bool,
        replacement: impl Fn(Item, Item) -> [Item; 4],
    ) {
        std::mem::swap(&mut self.items, &mut self.before);
        self.items.clear();
        let mut rest = self.before.as_slice();
        while let [a, after @ ..] = rest {
            rest = after;
            match after {
                [b, after @ ..] if first(a.class) && second(b.class) => {
                    self.items.extend(replacement(*a, *b));
                    rest = after;
                }
                _ => self.items.push(*a),
            }
        }
    }
}

/// The class of a character in the rules for Western languages of `mteval-v13a` and Tercom: ASCII symbols are tokens.
#[inline]
pub(crate) fn western(c: char) -> Class {
    match c {
        '0'..='9' => Class::Number,
        '.' | ',' => Class::Point,
        '-' => Class::Dash,
        '\'' | 'a'..='z' | 'A'..='Z' => Class::Other,
        '!'..='~' => Class::Symbol,
        c if is_space(c) => Class::Space,
        _ => Class::Other,
    }
}

/// Returns a text without `deleted`, with the characters of four entities of XML.
///
/// The entities are replaced one after the other, so that `&amp;lt;` is `<`. What is deleted has a `<` or a line feed in it.
pub(crate) fn unescape<'t>(text: Cow<'t, str>, deleted: &[&str]) -> Cow<'t, str> {
    const ENTITIES: [(&str, &str); 4] = [
        ("&quot;", "\""),
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
    ];
    // Few texts have one of these. A chunk is judged at once.
    let is_rare = |byte: &u8| matches!(byte, b'&' | b'<' | b'\n');
    let has_rare = |chunk: &[u8]| {
        chunk
            .iter()
            .fold(false, |found, byte| found | is_rare(byte))
    };
    if !text.as_bytes().chunks(64).any(has_rare) {
        return text;
    }
    let deletions = deleted.iter().map(|deleted| (*deleted, ""));
    deletions.chain(ENTITIES).fold(text, |text, (from, to)| {
        if text.contains(from) {
            Cow::Owned(text.replace(from, to))
        } else {
            text
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(text: &str, spaced: bool) -> Vec<&str> {
        let mut tokens = Vec::new();
        split(text, spaced, western, &mut |token| tokens.push(token));
        tokens
    }

    #[test]
    fn western_rules_by_hand() {
        let rows: &[(&str, &[&str])] = &[
            ("", &[]),
            (" \t\u{1c}\u{3000}", &[]),
            ("don't", &["don't"]),
            ("(a)", &["(", "a", ")"]),
            ("1,000.5", &["1,000.5"]),
            ("a,b", &["a", ",", "b"]),
            ("5.", &["5", "."]),
            (".5", &[".", "5"]),
            ("a.,5", &["a", ".", ",5"]),
            ("a..b", &["a", ".", ".", "b"]),
            ("4-5 a-b", &["4", "-", "5", "a-b"]),
            ("é.", &["é", "."]),
        ];
        for (text, expected) in rows {
            assert_eq!(tokens(text, true), *expected, "{text:?}");
        }
        assert_eq!(tokens("5.", false), ["5."]);
        assert_eq!(tokens(".5", false), [".5"]);
        assert_eq!(tokens("a.", false), ["a", "."]);
    }

    #[test]
    fn entities_are_replaced_in_turn() {
        let unescape = |text: &'static str| unescape(text.into(), &["<skipped>", "-\n"]);
        assert_eq!(unescape("&amp;lt;&amp;quot;"), "<&quot;");
        assert_eq!(unescape("a-\nb<skipped>"), "ab");
    }

    /// The rules as substitutions in the whole text, one after the other.
    fn in_passes(text: &str) -> Vec<String> {
        let mut chars = vec![' '];
        for c in text.chars() {
            match western(c) {
                Class::Symbol => chars.extend([' ', c, ' ']),
                _ => chars.push(c),
            }
        }
        chars.push(' ');
        let digit = |c: char| c.is_ascii_digit();
        let point = |c: char| c == '.' || c == ',';
        type Pass<'p> = (&'p dyn Fn(char) -> bool, &'p dyn Fn(char) -> bool, bool);
        let passes: [Pass<'_>; 3] = [
            (&|c| !digit(c), &point, false),
            (&point, &|c| !digit(c), true),
            (&digit, &|c| c == '-', false),
        ];
        for (first, second, before) in passes {
            let mut replaced = Vec::new();
            let mut position = 0;
            while position < chars.len() {
                let a = chars[position];
                match chars.get(position + 1) {
                    Some(&b) if first(a) && second(b) => {
                        replaced.extend(if before {
                            [' ', a, ' ', b]
                        } else {
                            [a, ' ', b, ' ']
                        });
                        position += 2;
                    }
                    _ => {
                        replaced.push(a);
                        position += 1;
                    }
                }
            }
            chars = replaced;
        }
        let words = chars
            .split(|c| is_space(*c))
            .filter(|word| !word.is_empty());
        words.map(|word| word.iter().collect()).collect()
    }

    proptest! {
        #[test]
        fn words_are_split_as_whole_texts_are(near in "[ab5.,\\-!' \té中\u{1c}]{0,16}", any in any::<String>()) {
            prop_assert_eq!(tokens(&near, true), in_passes(&near));
            prop_assert_eq!(tokens(&any, true), in_passes(&any));
        }
    }
}
