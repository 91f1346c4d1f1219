//! The syntax of `re`, as CPython 3.11 reads it (`re/_parser.py`).

use super::set::{Case, Class, Set, SetItem};

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// One character.
    Set(Set),
    At(At),
    Sequence(Vec<Self>),
    Either(Vec<Self>),
    /// A group, with its number if it has one.
    Group(Option<usize>, Box<Self>),
    Repeat {
        node: Box<Self>,
        least: u32,
        most: u32,
        kind: Kind,
    },
    Atomic(Box<Self>),
    Look {
        node: Box<Self>,
        is_negated: bool,
        /// The number of characters to go back.
        back: usize,
    },
    Reference {
        group: usize,
        case: Case,
        width: Width,
    },
    /// A part that depends on whether a group has matched.
    Condition {
        group: usize,
        yes: Box<Self>,
        no: Option<Box<Self>>,
    },
}

/// A position that matches no character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Start,
    LineStart,
    /// The end, or before a line feed that ends the text.
    LastEnd,
    LineEnd,
    End,
    /// A border of a word, whose characters are of ASCII under `(?a)`.
    Border {
        is_ascii: bool,
        is_negated: bool,
    },
}

/// How often a part is repeated when there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Greedy,
    Lazy,
    Possessive,
}

/// As the most repetitions: no limit.
pub(super) const UNLIMITED: u32 = u32::MAX;

/// The fewest and the most characters that a part can match.
pub(super) type Width = (u64, u64);

impl Node {
    pub(super) fn width(&self) -> Width {
        match self {
            Self::Set(_) => (1, 1),
            Self::At(_) | Self::Look { .. } => (0, 0),
            Self::Sequence(nodes) => nodes.iter().fold((0, 0), |(least, most), node| {
                let width = node.width();
                (width.0.saturating_add(least), width.1.saturating_add(most))
            }),
            Self::Either(nodes) => {
                let widths = nodes.iter().map(Self::width);
                let either = widths.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
                either.unwrap_or_default()
            }
            Self::Group(_, node) | Self::Atomic(node) => node.width(),
            Self::Repeat {
                node, least, most, ..
            } => {
                let width = node.width();
                let largest = match *most {
                    UNLIMITED if width.1 > 0 => u64::MAX,
                    most => width.1.saturating_mul(u64::from(most)),
                };
                (width.0.saturating_mul(u64::from(*least)), largest)
            }
            Self::Reference { width, .. } => *width,
            Self::Condition { yes, no, .. } => {
                let yes = yes.width();
                let no = no.as_ref().map_or((0, yes.1), |no| no.width());
                (yes.0.min(no.0), yes.1.max(no.1))
            }
        }
    }
}

/// What a pattern is parsed to.
pub(super) struct Parsed {
    pub(super) node: Node,
    /// The number of groups, with the whole match.
    pub(super) groups: usize,
}

/// Parts in parts are read up to this depth.
const MOST_NESTED: usize = 100;

/// The flags that change the meaning of a part.
#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    verbose: bool,
    ascii: bool,
}

impl Flags {
    fn case(self) -> Case {
        match (self.ignore_case, self.ascii) {
            (false, _) => Case::Sensitive,
            (true, true) => Case::Ascii,
            (true, false) => Case::Unicode,
        }
    }

    fn set(&mut self, letter: char, is_on: bool) {
        match letter {
            'i' => self.ignore_case = is_on,
            'm' => self.multi_line = is_on,
            's' => self.dot_all = is_on,
            'x' => self.verbose = is_on,
            'a' => self.ascii = is_on,
            _ => self.ascii = !is_on,
        }
    }
}

/// The letters of flags.
const FLAGS: &str = "imsxau";

struct Parser {
    chars: Vec<char>,
    at: usize,
    flags: Flags,
    /// The width of each group; none while it is open.
    widths: Vec<Option<Width>>,
    names: Vec<(String, usize)>,
    /// The number of groups when the outermost look-behind began.
    behind: Option<usize>,
    /// The groups that conditions name.
    conditions: Vec<usize>,
    depth: usize,
}

type Parse<T> = Result<T, String>;

/// Reads a pattern.
pub(super) fn parse(pattern: &str) -> Parse<Parsed> {
    let mut parser = Parser {
        chars: pattern.chars().collect(),
        at: 0,
        flags: Flags::default(),
        widths: vec![None],
        names: Vec::new(),
        behind: None,
        conditions: Vec::new(),
        depth: 0,
    };
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        if char == '\\' && chars.next().is_none() {
            return Err("bad escape (end of pattern)".to_owned());
        }
    }
    let node = parser.either(true)?;
    if parser.at < parser.chars.len() {
        return parser.fail("unbalanced parenthesis");
    }
    let groups = parser.widths.len();
    if let Some(group) = parser.conditions.iter().find(|group| **group >= groups) {
        return Err(format!("invalid group reference {group}"));
    }
    Ok(Parsed { node, groups })
}

impl Parser {
    fn fail<T>(&self, problem: &str) -> Parse<T> {
        Err(format!("{problem} at position {}", self.at))
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn take(&mut self, char: char) -> bool {
        let found = self.peek() == Some(char);
        self.at += usize::from(found);
        found
    }

    /// Takes up to this many characters.
    fn take_while(&mut self, most: usize, is_one: impl Fn(char) -> bool) -> String {
        let rest = self.chars[self.at..].iter().copied();
        let taken: String = rest.take(most).take_while(|char| is_one(*char)).collect();
        self.at += taken.chars().count();
        taken
    }

    fn until(&mut self, end: char, what: &str) -> Parse<String> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(char) if char == end => break,
                Some(char) => name.push(char),
                None => return self.fail(&format!("missing {end}, unterminated {what}")),
            }
        }
        if name.is_empty() {
            return self.fail(&format!("missing {what}"));
        }
        Ok(name)
    }

    /// Alternatives up to the end, or to a bracket that closes them.
    fn either(&mut self, is_outermost: bool) -> Parse<Node> {
        self.depth += 1;
        if self.depth > MOST_NESTED {
            return self.fail(&format!("more than {MOST_NESTED} groups in each other"));
        }
        let mut nodes = vec![self.sequence(is_outermost)?];
        while self.take('|') {
            nodes.push(self.sequence(false)?);
        }
        self.depth -= 1;
        Ok(match nodes.len() {
            1 => nodes.remove(0),
            _ => Node::Either(nodes),
        })
    }

    fn sequence(&mut self, is_first: bool) -> Parse<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        while let Some(char) = self.peek().filter(|char| !matches!(char, '|' | ')')) {
            self.at += 1;
            if self.flags.verbose {
                if matches!(char, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c') {
                    continue;
                }
                if char == '#' {
                    self.skip_comment();
                    continue;
                }
            }
            match char {
                '\\' => nodes.push(self.escape()?),
                '[' => nodes.push(self.set()?),
                '.' => {
                    let line_feed = [SetItem::Range(0x0a, 0x0a)];
                    let none: &[SetItem] = if self.flags.dot_all { &[] } else { &line_feed };
                    nodes.push(Node::Set(Set::resolve(none, true, Case::Sensitive, false)));
                }
                '^' if self.flags.multi_line => nodes.push(Node::At(At::LineStart)),
                '^' => nodes.push(Node::At(At::Start)),
                '$' if self.flags.multi_line => nodes.push(Node::At(At::LineEnd)),
                '$' => nodes.push(Node::At(At::LastEnd)),
                '(' => nodes.extend(self.group(is_first && nodes.is_empty())?),
                '*' | '+' | '?' | '{' => match self.bounds(char)? {
                    Some((least, most)) => self.repeat(&mut nodes, least, most)?,
                    None => nodes.push(self.literal('{'.into())),
                },
                char => nodes.push(self.literal(char.into())),
            }
        }
        Ok(match nodes.len() {
            1 => nodes.remove(0),
            _ => Node::Sequence(nodes),
        })
    }

    fn skip_comment(&mut self) {
        // A backslash takes the character after it along, even a line end.
        while let Some(char) = self.next() {
            match char {
                '\n' => return,
                '\\' => self.at += 1,
                _ => {}
            }
        }
    }

    fn literal(&self, code: u32) -> Node {
        self.one_of(&[SetItem::Range(code, code)], false)
    }

    fn one_of(&self, items: &[SetItem], is_negated: bool) -> Node {
        let Flags { ascii, .. } = self.flags;
        Node::Set(Set::resolve(items, is_negated, self.flags.case(), ascii))
    }

    /// The bounds of a repetition; `None` for a brace that is a character.
    fn bounds(&mut self, char: char) -> Parse<Option<(u32, u32)>> {
        match char {
            '?' => return Ok(Some((0, 1))),
            '*' => return Ok(Some((0, UNLIMITED))),
            '+' => return Ok(Some((1, UNLIMITED))),
            _ => {}
        }
        let here = self.at;
        let is_digit = |char: char| char.is_ascii_digit();
        let least = self.take_while(usize::MAX, is_digit);
        let most = if self.take(',') {
            self.take_while(usize::MAX, is_digit)
        } else {
            least.clone()
        };
        let is_empty = self.at == here;
        if !self.take('}') || is_empty {
            self.at = here;
            return Ok(None);
        }
        let number = |digits: &str, none: u32| {
            let number = if digits.is_empty() {
                Ok(none)
            } else {
                digits.parse()
            };
            let number = number
                .ok()
                .filter(|it| digits.is_empty() || *it < UNLIMITED);
            number.ok_or_else(|| "the repetition number is too large".to_owned())
        };
        let (least, most) = (number(&least, 0)?, number(&most, UNLIMITED)?);
        if most < least {
            return self.fail("min repeat greater than max repeat");
        }
        Ok(Some((least, most)))
    }

    fn repeat(&mut self, nodes: &mut Vec<Node>, least: u32, most: u32) -> Parse<()> {
        let node = match nodes.pop() {
            None | Some(Node::At(_)) => return self.fail("nothing to repeat"),
            Some(Node::Repeat { .. }) => return self.fail("multiple repeat"),
            Some(node) => Box::new(node),
        };
        let kind = if self.take('?') {
            Kind::Lazy
        } else if self.take('+') {
            Kind::Possessive
        } else {
            Kind::Greedy
        };
        nodes.push(Node::Repeat {
            node,
            least,
            most,
            kind,
        });
        Ok(())
    }

    /// What follows a backslash outside of brackets.
    fn escape(&mut self) -> Parse<Node> {
        let Some(char) = self.next() else {
            return self.fail("bad escape (end of pattern)");
        };
        let border = |is_negated| At::Border {
            is_ascii: self.flags.ascii,
            is_negated,
        };
        Ok(match char {
            'A' => Node::At(At::Start),
            'Z' => Node::At(At::End),
            'b' => Node::At(border(false)),
            'B' => Node::At(border(true)),
            '1'..='9' => return self.number(char),
            char => match self.character(char)? {
                SetItem::Range(code, _) => self.literal(code),
                class @ SetItem::Class(..) => self.one_of(&[class], false),
            },
        })
    }

    /// An octal number or the number of a group.
    fn number(&mut self, first: char) -> Parse<Node> {
        let is_octal = |char: char| matches!(char, '0'..='7');
        let mut digits = String::from(first);
        digits += &self.take_while(1, |char| char.is_ascii_digit());
        if digits.len() == 2 && digits.chars().all(is_octal) {
            digits += &self.take_while(1, is_octal);
        }
        if digits.len() == 3 {
            return Ok(self.literal(self.octal(&digits)?));
        }
        let group: usize = digits.parse().unwrap_or_default();
        if group >= self.widths.len() {
            return self.fail(&format!("invalid group reference {group}"));
        }
        self.reference(group)
    }

    fn octal(&self, digits: &str) -> Parse<u32> {
        let code = u32::from_str_radix(digits, 8)
            .ok()
            .filter(|code| *code <= 0o377);
        let problem = || {
            self.fail(&format!(
                "octal escape value \\{digits} outside of range 0-0o377"
            ))
        };
        code.map_or_else(problem, Ok)
    }

    fn reference(&mut self, group: usize) -> Parse<Node> {
        let Some(width) = self.widths[group] else {
            return self.fail("cannot refer to an open group");
        };
        self.check_behind(group)?;
        Ok(Node::Reference {
            group,
            case: self.flags.case(),
            width,
        })
    }

    /// Refuses a group that a look-behind refers to, if it is open or in the same look-behind.
    fn check_behind(&self, group: usize) -> Parse<()> {
        let Some(groups) = self.behind else {
            return Ok(());
        };
        if self.widths.get(group).copied().flatten().is_none() {
            return self.fail("cannot refer to an open group");
        }
        if group >= groups {
            return self.fail("cannot refer to group defined in the same lookbehind subpattern");
        }
        Ok(())
    }

    /// What follows a backslash and is the same in brackets and outside of them.
    fn character(&mut self, char: char) -> Parse<SetItem> {
        let code = match char {
            'd' => return Ok(SetItem::Class(Class::Digit, false)),
            'D' => return Ok(SetItem::Class(Class::Digit, true)),
            's' => return Ok(SetItem::Class(Class::Space, false)),
            'S' => return Ok(SetItem::Class(Class::Space, true)),
            'w' => return Ok(SetItem::Class(Class::Word, false)),
            'W' => return Ok(SetItem::Class(Class::Word, true)),
            'a' => 0x07,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'v' => 0x0b,
            'x' => self.hexadecimal(char, 2)?,
            'u' => self.hexadecimal(char, 4)?,
            'U' => self.hexadecimal(char, 8)?,
            'N' => {
                let problem = r"names of characters, \N{...}, are not supported: write \uXXXX";
                return self.fail(problem);
            }
            '0' => {
                let digits = self.take_while(2, |char| matches!(char, '0'..='7'));
                u32::from_str_radix(&format!("0{digits}"), 8).unwrap_or_default()
            }
            char if char.is_ascii_alphanumeric() => {
                return self.fail(&format!("bad escape \\{char}"));
            }
            char => char.into(),
        };
        Ok(SetItem::Range(code, code))
    }

    fn hexadecimal(&mut self, letter: char, digits: usize) -> Parse<u32> {
        let found = self.take_while(digits, |char| char.is_ascii_hexdigit());
        if found.len() < digits {
            return self.fail(&format!("incomplete escape \\{letter}{found}"));
        }
        match u32::from_str_radix(&found, 16) {
            Ok(code) if code <= char::MAX.into() => Ok(code),
            _ => self.fail(&format!("bad escape \\{letter}{found}")),
        }
    }

    /// A character or a class in brackets.
    fn set_item(&mut self, char: char) -> Parse<SetItem> {
        if char != '\\' {
            return Ok(SetItem::Range(char.into(), char.into()));
        }
        match self.next() {
            Some('b') => Ok(SetItem::Range(0x08, 0x08)),
            Some(first @ '1'..='7') => {
                let rest = self.take_while(2, |char| matches!(char, '0'..='7'));
                let code = self.octal(&format!("{first}{rest}"))?;
                Ok(SetItem::Range(code, code))
            }
            Some(char) => self.character(char),
            None => self.fail("unterminated character set"),
        }
    }

    fn set(&mut self) -> Parse<Node> {
        let is_negated = self.take('^');
        let mut items = Vec::new();
        loop {
            let Some(char) = self.next() else {
                return self.fail("unterminated character set");
            };
            if char == ']' && !items.is_empty() {
                break;
            }
            let item = self.set_item(char)?;
            if !self.take('-') {
                items.push(item);
                continue;
            }
            let Some(char) = self.next() else {
                return self.fail("unterminated character set");
            };
            if char == ']' {
                items.extend([item, SetItem::Range(0x2d, 0x2d)]);
                break;
            }
            match (item, self.set_item(char)?) {
                (SetItem::Range(first, _), SetItem::Range(last, _)) if first <= last => {
                    items.push(SetItem::Range(first, last));
                }
                _ => return self.fail("bad character range"),
            }
        }
        Ok(self.one_of(&items, is_negated))
    }

    /// What follows an opening bracket; `None` for a comment and for flags.
    fn group(&mut self, is_first: bool) -> Parse<Option<Node>> {
        if !self.take('?') {
            return self.capture(None).map(Some);
        }
        let Some(char) = self.next() else {
            return self.fail("unexpected end of pattern");
        };
        let node = match char {
            'P' if self.take('<') => {
                let name = self.name('>')?;
                self.capture(Some(name))?
            }
            'P' if self.take('=') => {
                let name = self.name(')')?;
                let group = self.named(&name)?;
                return self.reference(group).map(Some);
            }
            ':' => Node::Group(None, Box::new(self.inner()?)),
            '>' => Node::Atomic(Box::new(self.inner()?)),
            '#' => loop {
                match self.next() {
                    Some(')') => return Ok(None),
                    Some('\\') => self.at += 1,
                    Some(_) => {}
                    None => return self.fail("missing ), unterminated comment"),
                }
            },
            '=' | '!' => self.look(char == '!', false)?,
            '<' => match self.next() {
                Some(char @ ('=' | '!')) => self.look(char == '!', true)?,
                _ => return self.fail("unknown extension ?<"),
            },
            '(' => self.condition()?,
            char if char == '-' || char == 'L' || FLAGS.contains(char) => {
                return self.flags(char, is_first);
            }
            char => return self.fail(&format!("unknown extension ?{char}")),
        };
        Ok(Some(node))
    }

    /// What a group holds, up to its closing bracket.
    fn inner(&mut self) -> Parse<Node> {
        let node = self.either(false)?;
        if self.take(')') {
            Ok(node)
        } else {
            self.fail("missing ), unterminated subpattern")
        }
    }

    fn capture(&mut self, name: Option<String>) -> Parse<Node> {
        let group = self.widths.len();
        self.widths.push(None);
        if let Some(name) = name {
            if self.names.iter().any(|(other, _)| *other == name) {
                return self.fail(&format!("redefinition of group name {name:?}"));
            }
            self.names.push((name, group));
        }
        let node = self.inner()?;
        self.widths[group] = Some(node.width());
        Ok(Node::Group(Some(group), Box::new(node)))
    }

    fn name(&mut self, end: char) -> Parse<String> {
        let name = self.until(end, "group name")?;
        if is_identifier(&name) {
            Ok(name)
        } else {
            self.fail(&format!("bad character in group name {name:?}"))
        }
    }

    fn named(&self, name: &str) -> Parse<usize> {
        let found = self.names.iter().find(|(other, _)| other == name);
        let unknown = || self.fail(&format!("unknown group name {name:?}"));
        found.map_or_else(unknown, |(_, group)| Ok(*group))
    }

    fn look(&mut self, is_negated: bool, is_behind: bool) -> Parse<Node> {
        let before = self.behind;
        if is_behind && before.is_none() {
            self.behind = Some(self.widths.len());
        }
        let node = self.inner()?;
        self.behind = before;
        let (least, most) = node.width();
        if is_behind && least != most {
            return self.fail("look-behind requires fixed-width pattern");
        }
        Ok(Node::Look {
            node: Box::new(node),
            is_negated,
            back: if is_behind {
                usize::try_from(least).unwrap_or(usize::MAX)
            } else {
                0
            },
        })
    }

    fn condition(&mut self) -> Parse<Node> {
        let name = self.until(')', "group name")?;
        let group = if is_identifier(&name) {
            self.named(&name)?
        } else {
            let group = name.parse().ok().filter(|group| *group > 0);
            let Some(group) = group else {
                return self.fail(&format!("bad group number {name:?}"));
            };
            self.conditions.push(group);
            group
        };
        self.check_behind(group)?;
        let yes = Box::new(self.sequence(false)?);
        let no = if self.take('|') {
            Some(Box::new(self.sequence(false)?))
        } else {
            None
        };
        match self.peek() {
            Some('|') => self.fail("conditional backref with more than two branches"),
            Some(')') => {
                self.at += 1;
                Ok(Node::Condition { group, yes, no })
            }
            _ => self.fail("missing ), unterminated subpattern"),
        }
    }

    /// Flags for the rest of the pattern, or for a group.
    fn flags(&mut self, first: char, is_first: bool) -> Parse<Option<Node>> {
        let mut flags = self.flags;
        let (mut on, mut off) = (String::new(), String::new());
        let mut next = Some(first);
        let mut is_on = true;
        loop {
            match next {
                Some('-') if is_on && self.peek() != Some(':') => is_on = false,
                Some(letter) if FLAGS.contains(letter) => {
                    let is_kind = matches!(letter, 'a' | 'u');
                    if is_kind && (!is_on || on.contains(if letter == 'a' { 'u' } else { 'a' })) {
                        return self.fail("bad inline flags: 'a' and 'u' exclude each other and cannot be turned off");
                    }
                    flags.set(letter, is_on);
                    if is_on { &mut on } else { &mut off }.push(letter);
                }
                Some(')') if is_on => break,
                Some(':') => break,
                Some('L') => {
                    return self.fail("bad inline flags: cannot use 'L' flag with a str pattern");
                }
                Some(letter) => return self.fail(&format!("unknown flag {letter:?}")),
                None => return self.fail("missing -, : or )"),
            }
            next = self.next();
        }
        if on.chars().any(|letter| off.contains(letter)) {
            return self.fail("bad inline flags: flag turned on and off");
        }
        if next == Some(')') {
            if !is_first {
                return self.fail("global flags not at the start of the expression");
            }
            self.flags = flags;
            return Ok(None);
        }
        let outer = std::mem::replace(&mut self.flags, flags);
        let node = self.inner()?;
        self.flags = outer;
        Ok(Some(Node::Group(None, Box::new(node))))
    }
}

fn is_identifier(name: &str) -> bool {
    let is_start = |char: char| char == '_' || char.is_alphabetic();
    name.starts_with(is_start)
        && name
            .chars()
            .all(|char| char == '_' || char.is_alphanumeric())
}
