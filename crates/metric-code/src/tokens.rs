//! The tokens of a tree, as the dataflow sees them.

use std::borrow::Cow;
use std::ops::Range;

use crate::classes::{Classes, Dialect};
use crate::parse::Tree;
use crate::table::{Table, is_short, key};

/// No token, no name.
pub(crate) const NONE: u32 = u32::MAX;

/// A token: a leaf of the tree, or a string as a whole.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Its position among the tokens. Tokens without width share that of the last one at their position,
    /// since the original evaluator looks tokens up by where they begin and end.
    pub(crate) number: u32,
    /// Its text among the names.
    pub(crate) name: u32,
    /// Whether its text differs from its kind: identifiers and literals, no keywords or operators.
    pub(crate) variable: bool,
}

/// A variable token.
#[derive(Clone, Copy)]
pub(crate) struct Variable {
    pub(crate) number: u32,
    pub(crate) name: u32,
}

/// The tokens of a tree in order.
#[derive(Default)]
pub(crate) struct Tokens {
    pub(crate) list: Vec<Token>,
    /// Those that are variables, and behind them what [`Tokens::variables_below`] had to copy.
    pub(crate) variables: Vec<Variable>,
    /// For each node and the end, the number of tokens and variables before it; [`NONE`] inside of
    /// a string that is one token.
    before: Vec<[u32; 2]>,
    names: Names,
}

impl Tokens {
    /// Takes the tokens of a tree.
    pub(crate) fn read(&mut self, tree: &Tree, text: &str, classes: &Classes) {
        self.list.clear();
        self.variables.clear();
        self.before.clear();
        self.names.clear(tree.nodes.len());
        let mut texts = match classes.dialect {
            Dialect::Original => Texts::as_the_original(text),
            Dialect::Corrected => Texts::exact(text),
        };
        let mut index = 0;
        while let Some(node) = tree.nodes.get(index as usize) {
            self.before.push(self.counts());
            let class = classes.class(node);
            let next = if class.comment {
                match classes.dialect {
                    // The original evaluator looks below a comment that has children.
                    Dialect::Original => index + 1,
                    Dialect::Corrected => node.next,
                }
            } else if class.whole || tree.is_leaf(index) {
                let text = texts.between(node.start as usize, node.end as usize);
                let variable = class.name != text;
                let name = if variable {
                    self.names.number(&text)
                } else {
                    NONE
                };
                self.push(node.start, node.end, name, variable);
                node.next
            } else {
                index + 1
            };
            self.before.resize(next as usize, [NONE; 2]);
            index = next;
        }
        self.before.push(self.counts());
    }

    /// The number of different variables.
    pub(crate) fn names(&self) -> usize {
        self.names.ends.len()
    }

    fn counts(&self) -> [u32; 2] {
        [self.list.len() as u32, self.variables.len() as u32]
    }

    fn push(&mut self, start: u32, end: u32, name: u32, variable: bool) {
        let number = self.list.len() as u32;
        if start == end {
            let at_position = |token: &&mut Token| (token.start, token.end) == (start, end);
            let mut variables = self.variables.iter_mut().rev();
            for token in self.list.iter_mut().rev().take_while(at_position) {
                token.number = number;
                if token.variable
                    && let Some(variable) = variables.next()
                {
                    variable.number = number;
                }
            }
        }
        if variable {
            self.variables.push(Variable { number, name });
        }
        self.list.push(Token {
            start,
            end,
            number,
            name,
            variable,
        });
    }

    /// The token that a node is.
    ///
    /// Inside of a string that is one token there are none; then the one that begins and ends where
    /// the node does, if there is one.
    pub(crate) fn at(&self, tree: &Tree, node: u32) -> Option<Token> {
        let [index, _] = self.before[node as usize];
        if index != NONE {
            return self.list.get(index as usize).copied();
        }
        let node = &tree.nodes[node as usize];
        let after = self.list.partition_point(|token| token.start <= node.start);
        let mut at_position = self.list[..after]
            .iter()
            .rev()
            .take_while(|token| token.start == node.start);
        at_position.find(|token| token.end == node.end).copied()
    }

    /// The variables of a node and below it, a range of [`variables`](Self::variables).
    ///
    /// `None` inside of a string that is one token, where a node is not a token.
    pub(crate) fn variables_below(
        &mut self,
        tree: &Tree,
        classes: &Classes,
        node: u32,
    ) -> Option<Range<u32>> {
        let next = tree.nodes[node as usize].next;
        if let [index, first] = self.before[node as usize]
            && index != NONE
        {
            return Some(first..self.before[next as usize][1]);
        }
        let first = self.variables.len() as u32;
        let mut index = node;
        while index < next {
            let found = &tree.nodes[index as usize];
            let class = classes.class(found);
            if class.comment || !(class.whole || tree.is_leaf(index)) {
                index += 1;
                continue;
            }
            let Token {
                number,
                name,
                variable,
                ..
            } = self.at(tree, index)?;
            if variable {
                self.variables.push(Variable { number, name });
            }
            index = found.next;
        }
        Some(first..self.variables.len() as u32)
    }
}

/// Different texts with their numbers, in the order in which they are met.
#[derive(Default)]
struct Names {
    table: Table,
    /// One behind the other.
    texts: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Names {
    /// Forgets all, and makes room for this many.
    fn clear(&mut self, capacity: usize) {
        self.table.clear(capacity);
        self.texts.clear();
        self.ends.clear();
    }

    fn number(&mut self, text: &str) -> u32 {
        let Self { table, texts, ends } = self;
        let key = key(text.as_bytes());
        let number = table.entry(key, ends.len() as u32, |number| {
            let number = number as usize;
            let start = number.checked_sub(1).map_or(0, |before| ends[before]);
            is_short(key) || texts[start..ends[number]] == *text
        });
        if number as usize == ends.len() {
            texts.push_str(text);
            ends.push(texts.len());
        }
        number
    }
}

/// The texts of tokens.
struct Texts<'a> {
    text: &'a str,
    /// Whether the ends of lines are left out.
    joined: bool,
    /// The lines, where columns are to be read as characters.
    lines: Option<Lines<'a>>,
}

/// Lines of a text, looked at in order.
struct Lines<'a> {
    /// Where each line begins.
    starts: Vec<usize>,
    /// The line looked at last.
    current: usize,
    line: &'a str,
    /// Where its characters begin.
    characters: Vec<usize>,
}

impl<'a> Texts<'a> {
    /// Each token's own bytes.
    fn exact(text: &'a str) -> Self {
        Self {
            text,
            joined: false,
            lines: None,
        }
    }

    /// As the original evaluator cuts them: by the byte columns that tree-sitter gives, applied to
    /// lines of characters, so that what follows a non-ASCII character of its line is cut too far
    /// to the right; and without the ends of lines.
    fn as_the_original(text: &'a str) -> Self {
        let lines = (!text.is_ascii()).then(|| Lines {
            starts: std::iter::once(0)
                .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
                .collect(),
            current: usize::MAX,
            line: "",
            characters: Vec::new(),
        });
        Self {
            text,
            joined: true,
            lines,
        }
    }

    fn between(&mut self, start: usize, end: usize) -> Cow<'a, str> {
        let Some(lines) = &mut self.lines else {
            let text = self.text.get(start..end).unwrap_or_default();
            return if self.joined && text.bytes().any(|byte| byte == b'\n') {
                Cow::Owned(text.replace('\n', ""))
            } else {
                Cow::Borrowed(text)
            };
        };
        let (first, from) = lines.position(start);
        let (last, to) = lines.position(end);
        if first == last {
            return Cow::Borrowed(lines.cut(self.text, first, from..to));
        }
        let mut text = lines.cut(self.text, first, from..usize::MAX).to_owned();
        for line in first + 1..last {
            text += lines.cut(self.text, line, 0..usize::MAX);
        }
        Cow::Owned(text + lines.cut(self.text, last, 0..to))
    }
}

impl<'a> Lines<'a> {
    /// The line and byte column of a byte.
    fn position(&self, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= byte) - 1;
        (line, byte - self.starts[line])
    }

    /// Characters of a line, as many as there are.
    fn cut(&mut self, text: &'a str, line: usize, columns: Range<usize>) -> &'a str {
        if self.current != line {
            let end = self
                .starts
                .get(line + 1)
                .map_or(text.len(), |next| next - 1);
            self.current = line;
            self.line = &text[self.starts[line]..end];
            self.characters.clear();
            self.characters
                .extend(self.line.char_indices().map(|(at, _)| at));
        }
        let byte = |column| *self.characters.get(column).unwrap_or(&self.line.len());
        let Range { start, end } = columns;
        &self.line[byte(start)..byte(end.max(start))]
    }
}
