//! Texts as trees in an arena. The only module that knows tree-sitter.

use std::ops::Range;

use tree_sitter::Language as Grammar;
use tree_sitter_language::LanguageFn;

use crate::bounded::{Input, Limit, Session, Syntax};
use crate::stack::with_stack;

/// Deepest tree, the root being 1, that is looked at beyond its nodes: [`Tree::too_deep`].
///
/// Where the original evaluator recurses past Python's limit it loses the text's dataflow without a
/// word; this stands for that limit. It also bounds our own recursion.
pub(crate) const MAX_DEPTH: u32 = 990;

/// The node kinds and fields of a grammar, by tree-sitter's numbers.
pub(crate) struct Kinds {
    grammar: Grammar,
    /// All kinds, and after them that of syntax errors.
    kinds: Vec<Kind>,
}

/// A node kind.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Named by a rule of the grammar; else a piece of text, such as `+`.
    pub(crate) named: bool,
    /// One token whatever is below it: a string.
    pub(crate) whole: bool,
}

impl Kind {
    fn new(name: &'static str, named: bool) -> Self {
        // The original evaluator's list, which today's grammars still use.
        let whole = matches!(name, "string_literal" | "string" | "character_literal");
        Self { name, named, whole }
    }
}

impl Kinds {
    pub(crate) fn of(grammar: LanguageFn) -> Self {
        let grammar = Grammar::new(grammar);
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX - 1);
        let mut kinds: Vec<_> = (0..count)
            .map(|id| {
                let name = grammar.node_kind_for_id(id).unwrap_or_default();
                Kind::new(name, grammar.node_kind_is_named(id))
            })
            .collect();
        kinds.push(Kind::new("ERROR", true));
        Self { grammar, kinds }
    }

    pub(crate) fn all(&self) -> &[Kind] {
        &self.kinds
    }

    pub(crate) fn kind(&self, node: &Node) -> Kind {
        self.kinds[usize::from(node.kind)]
    }

    pub(crate) fn field(&self, name: &str) -> Option<u16> {
        self.grammar.field_id_for_name(name).map(u16::from)
    }

    pub(crate) fn field_name(&self, field: u16) -> &'static str {
        self.grammar.field_name_for_id(field).unwrap_or_default()
    }

    fn error(&self) -> u16 {
        (self.kinds.len() - 1) as u16
    }
}

/// A node of a [`Tree`]; its children and theirs follow it up to `next`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// First byte. Known of tokens only, as is the end: leaves and [whole](Kind::whole) nodes.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
    /// The next node that is not below this one.
    pub(crate) next: u32,
    pub(crate) kind: u16,
    /// The field of the parent that it fills, or 0; with [`MISSING`] and [`EXTRA`].
    field: u16,
}

/// How tree-sitter writes an error without children, before its first character.
const UNEXPECTED: &str = "(UNEXPECTED ";

/// The character at the start of a rest of tree-sitter's string: `'c'`, where c may be a bracket or
/// a quote, or a number.
fn character(rest: &str) -> Option<&str> {
    let end = match rest.starts_with('\'') {
        true => rest.get(2..)?.find("')")? + 3,
        false => rest.find(')')?,
    };
    rest.get(..end)
}

/// The bit of [`Node::field`] that marks a token which the parser made up.
const MISSING: u16 = 1 << 15;

/// The bit of [`Node::field`] that marks an error or a comment below an anonymous node: the only
/// nodes there that do not fill its field.
const EXTRA: u16 = 1 << 14;

impl Node {
    pub(crate) fn field(&self) -> u16 {
        self.field & !(MISSING | EXTRA)
    }

    pub(crate) fn is_extra(&self) -> bool {
        self.field & EXTRA != 0
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.field & MISSING != 0
    }
}

/// A made-up token of a kind that nodes do not show, such as the end of a line. It stands in
/// tree-sitter's string of a tree and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    /// The nearest node above it that the string shows.
    pub(crate) parent: u32,
    /// The node of the string before which it stands, or the parent's `next`.
    pub(crate) before: u32,
    pub(crate) kind: u16,
    /// Whether the string writes it as named.
    pub(crate) named: bool,
    pub(crate) field: u16,
}

/// An error of a single character, and what tree-sitter's string says of it.
pub(crate) type Unexpected = (u32, Box<str>);

/// A syntax tree: nodes in pre-order, the root first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// The length of the longest path, the root being 1.
    pub(crate) depth: u32,
    /// Whether the parser met a syntax error.
    pub(crate) has_error: bool,
    /// Whether parsing took more work than allowed, and the tree is one error.
    pub(crate) given_up: bool,
    /// By their parents, and in the order of the text.
    pub(crate) hidden: Vec<Hidden>,
    /// In the order of the text.
    pub(crate) unexpected: Vec<Unexpected>,
}

/// Texts of so many bytes are parsed with a stack of their own: on some, such as `{({({(` in Java, the
/// parser recurses, with 56 bytes of stack for each of the text.
const LONG: usize = 1 << 13;

/// The most work that may be done to parse a text of so many bytes, in the units of [`parse_within`].
///
/// What a parse may cost is counted and not timed: a text is refused on all machines or on none.
///
/// Functions of published packages, in files of up to 2 MB, take at most 0.017 units a byte, the
/// densest code that we found, a list of one-digit numbers in C#, 0.106, and comments, strings and
/// prose no more than code. So code has at least 15 times the work that it needs, more the shorter it is,
/// and the densest 4 times at 200 kB and never less than twice.
///
/// What is to be stopped takes work in proportion to the square of the length, or worse: Python given
/// as Java takes 0.9 units a byte for 11 kB and 2.8 for 43 kB, and `a /*` over and over is read to the
/// end at every `/*`.
///
/// A unit takes some 30 µs on code and twice as much on such texts: they are stopped after a few seconds,
/// or half a minute if they have megabytes. The constant is for short texts, which may be all of the
/// densest kind and still end soon.
const fn work_limit(bytes: usize) -> usize {
    (1 << 15) + bytes / 4
}

/// The parser reads the text in pieces of so many bytes.
const PIECE: usize = 1 << 10;

/// A parser whose state is an error everywhere goes through the pieces of that error in a step, which
/// takes as long as a unit of work for about so many bytes of the text before.
const ERROR_BYTES: usize = 1 << 13;

/// Parses a text, with the work that it took; there is no tree if that is more than the limit.
///
/// A unit of work is a call of the parser's progress callback, which comes after every hundred of its
/// steps, or a piece of text read. Steps alone would not do: one may read on to the end of the text,
/// and then the next may again. Nor are all steps alike where nothing but errors is left, so a call
/// counts more there, the more text there is.
///
/// What cannot be counted is what a step costs beside: on some texts with a syntax error at every step
/// that is up to a hundred times as much as on code, and on `<a<a<a` in C# nearly all of the work, quadratic
/// in time and memory, is a single step at the end of the text.
struct Work<'t> {
    text: &'t [u8],
    done: usize,
    limit: usize,
}

impl Work<'_> {
    fn add(&mut self, units: usize) -> bool {
        self.done = self.done.saturating_add(units);
        self.done <= self.limit
    }
}

impl<'t> Input<'t> for Work<'t> {
    fn read(&mut self, from: usize) -> &'t [u8] {
        // Past the limit the text ends: a step that would read on for ever comes to an end, too.
        match self.add(1) {
            true => {
                let from = from.min(self.text.len());
                self.text[from..].chunks(PIECE).next().unwrap_or_default()
            }
            false => &[],
        }
    }

    fn goes_on(&mut self, at: usize, has_error: bool) -> bool {
        self.add(match has_error {
            true => 1 + at / ERROR_BYTES,
            false => 1,
        })
    }
}

const MEMORY: Limit = Limit { held: 512 << 20, asked: 1 << 40 };

impl Tree {
    /// Parses a text.
    ///
    /// With `errors`, what only tree-sitter's string of a tree tells about its syntax errors is
    /// read from there; that costs a second walk.
    pub(crate) fn parse(&mut self, kinds: &'static Kinds, text: &str, errors: bool) {
        self.nodes.clear();
        self.hidden.clear();
        self.unexpected.clear();
        let length = text.len();
        let mut parse = || Session::run(MEMORY, |session| {
            let mut work = Work { text: text.as_bytes(), done: 0, limit: work_limit(length) };
            let syntax = session.parse(&kinds.grammar, &mut work);
            if let Some(syntax) = syntax.filter(|_| work.done <= work.limit) {
                self.read(kinds, &syntax, errors);
                true
            } else { false }
        });
        let parsed = match length {
            0..LONG => parse(),
            _ => with_stack((1 << 20) + 128 * length, parse),
        };
        self.given_up = !parsed;
        if self.given_up {
            self.depth = 1;
            self.has_error = true;
            self.nodes.push(Node {
                start: 0,
                end: text.len() as u32,
                next: 1,
                kind: kinds.error(),
                field: 0,
            });
        }
    }

    fn read(&mut self, kinds: &Kinds, syntax: &Syntax<'_>, errors: bool) {
        self.has_error = syntax.has_error();
        self.fill(kinds, syntax);
        if errors && self.has_error && !self.too_deep() {
            let string = syntax.string(self.stack());
            self.read_errors(kinds, &string);
        }
    }

    /// The stack for something that recurses on the tree, which is not [too deep](Self::too_deep), if it needs one
    /// of its own.
    fn stack(&self) -> Option<usize> {
        // Up to 1.5 kB a node, of our own and of tree-sitter's.
        (self.depth >= 100).then_some(8 << 20)
    }

    /// Runs something that recurses on the tree, which is not [too deep](Self::too_deep).
    pub(crate) fn with_stack<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        match self.stack() {
            None => run(),
            Some(bytes) => with_stack(bytes, run),
        }
    }

    /// Whether the tree is deeper than [`MAX_DEPTH`].
    pub(crate) fn too_deep(&self) -> bool {
        self.depth > MAX_DEPTH
    }

    /// The nodes below a node.
    pub(crate) fn below(&self, node: u32) -> Range<u32> {
        node + 1..self.nodes[node as usize].next
    }

    /// Whether a node has no children.
    pub(crate) fn is_leaf(&self, node: u32) -> bool {
        self.below(node).is_empty()
    }

    /// The children of a node.
    pub(crate) fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        self.siblings_from(node + 1, node)
    }

    /// The children of a node from one of them on.
    pub(crate) fn siblings_from(&self, child: u32, parent: u32) -> impl Iterator<Item = u32> {
        let mut left = child..self.below(parent).end;
        std::iter::from_fn(move || {
            let child = left.start;
            (!left.is_empty()).then(|| {
                left.start = self.nodes[child as usize].next;
                child
            })
        })
    }

    /// The first child in a field.
    pub(crate) fn child_in(&self, node: u32, field: u16) -> Option<u32> {
        self.children(node)
            .find(|&child| self.nodes[child as usize].field() == field)
    }

    /// Whether tree-sitter's string shows a node as such: named or made up.
    pub(crate) fn is_shown(&self, kinds: &Kinds, node: u32) -> bool {
        let node = &self.nodes[node as usize];
        kinds.kind(node).named || node.is_missing()
    }

    fn fill(&mut self, kinds: &Kinds, syntax: &Syntax<'_>) {
        let error = kinds.error();
        let has_error = self.has_error;
        let mut cursor = syntax.cursor();
        let mut open: Vec<u32> = Vec::new();
        self.depth = 0;
        loop {
            let node = cursor.node();
            let index = self.nodes.len() as u32;
            let kind = node.kind_id().min(error);
            // Each call costs: what is known of tokens only is not asked of other nodes.
            let mut field = cursor.field_id().unwrap_or_default();
            let leaf = !cursor.goto_first_child();
            let (mut start, mut end) = (0, 0);
            if leaf || kinds.kinds[usize::from(kind)].whole {
                (start, end) = (node.start_byte() as u32, node.end_byte() as u32);
            }
            if leaf && has_error && node.is_missing() {
                field |= MISSING;
            }
            let parent = open.last().map(|&parent| &self.nodes[parent as usize]);
            if parent.is_some_and(|parent| !kinds.kind(parent).named) && node.is_extra() {
                field |= EXTRA;
            }
            self.nodes.push(Node {
                start,
                end,
                next: index + 1,
                kind,
                field,
            });
            if !leaf {
                open.push(index);
                continue;
            }
            self.depth = self.depth.max(open.len() as u32 + 1);
            while !cursor.goto_next_sibling() {
                let Some(parent) = open.pop() else { return };
                self.nodes[parent as usize].next = self.nodes.len() as u32;
                cursor.goto_parent();
            }
        }
    }

    /// Reads from tree-sitter's string what the nodes do not tell: which character an error begins
    /// with and which hidden tokens were made up.
    fn read_errors(&mut self, kinds: &Kinds, string: &str) {
        let walked = self.nodes.iter().filter(|node| node.is_missing()).count();
        if string.contains(UNEXPECTED) || string.matches("(MISSING ").count() != walked {
            // Nothing where string and nodes cannot be brought together, which is not known.
            (self.unexpected, self.hidden) = self.compare(kinds, string).unwrap_or_default();
        }
    }

    /// Goes through the string beside the nodes that it shows.
    fn compare(&self, kinds: &Kinds, string: &str) -> Option<(Vec<Unexpected>, Vec<Hidden>)> {
        let mut unexpected = Vec::new();
        let mut hidden = Vec::new();
        let mut shown = (0..self.nodes.len() as u32).filter(|&node| self.is_shown(kinds, node));
        let mut next = shown.next();
        // Of each open bracket of the string its node, or none for a token.
        let mut open: Vec<Option<u32>> = Vec::new();
        let mut rest = string;
        let mut field = 0;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix(')') {
                open.pop()?;
                rest = after;
            } else if let Some(after) = rest.strip_prefix(' ') {
                rest = after;
            } else if let Some(after) = rest.strip_prefix('(') {
                if let Some(after) = after.strip_prefix("MISSING ") {
                    let (name, named) = match after.strip_prefix('"') {
                        Some(quoted) => {
                            // A name may be a quote, or empty, but none begins with `")`.
                            let end = match quoted.starts_with("\")") {
                                true => 0,
                                false => 1 + quoted.get(1..)?.find("\")")?,
                            };
                            rest = quoted.get(end + 1..)?;
                            (quoted.get(..end)?, false)
                        }
                        None => {
                            let end = after.find(')')?;
                            rest = after.get(end..)?;
                            (after.get(..end)?, true)
                        }
                    };
                    open.push(None);
                    let is_it = |node: u32| {
                        let node = &self.nodes[node as usize];
                        node.is_missing() && kinds.kind(node).name == name
                    };
                    if next.is_some_and(is_it) {
                        next = shown.next();
                    } else {
                        let parent = open.iter().rev().find_map(|node| *node)?;
                        let end = self.nodes[parent as usize].next;
                        let kind = kinds.all().iter().position(|kind| kind.name == name)?;
                        hidden.push(Hidden {
                            parent,
                            before: next.filter(|&next| next < end).unwrap_or(end),
                            kind: kind as u16,
                            named,
                            field,
                        });
                    }
                } else if let Some(after) = rest.strip_prefix(UNEXPECTED) {
                    let character = character(after)?;
                    rest = after.get(character.len()..)?;
                    unexpected.push((next?, character.into()));
                    open.push(None);
                    next = shown.next();
                } else {
                    let end = after.find([' ', ')'])?;
                    let node = next?;
                    if after.get(..end)? != kinds.kind(&self.nodes[node as usize]).name {
                        return None;
                    }
                    rest = after.get(end..)?;
                    open.push(Some(node));
                    next = shown.next();
                }
                field = 0;
            } else {
                let end = rest.find(": ")?;
                field = kinds.field(rest.get(..end)?)?;
                rest = rest.get(end + 2..)?;
            }
        }
        // Stable: those of one parent stay in the order of the text.
        hidden.sort_by_key(|hidden| hidden.parent);
        Some((unexpected, hidden))
    }
}

/// The tree as tree-sitter itself writes it.
#[cfg(test)]
pub(crate) fn own_string(kinds: &Kinds, text: &str) -> String {
    let mut parser = Parser::new();
    parser.set_language(&kinds.grammar).expect("a grammar");
    let tree = parser.parse(text, None).expect("a tree");
    tree.root_node().to_sexp()
}

#[cfg(all(test, feature = "java"))]
mod tests {
    use super::*;
    use crate::language::Language;

    fn java() -> Parser {
        let mut parser = Parser::new();
        let grammar = &Language::JAVA.kinds().grammar;
        parser.set_language(grammar).expect("a grammar");
        parser
    }

    fn parse(text: &str) -> Tree {
        let mut tree = Tree::default();
        tree.parse(Language::JAVA.kinds(), text, false);
        tree
    }

    /// Python, which costs a parser of Java far more than its length.
    fn python(loops: usize) -> String {
        (0..loops)
            .map(|i| format!("for i in a:\n x=x+y{i}\n y=x\n"))
            .collect()
    }

    /// Each `/*` is read to the end of the text, where there is no `*/`.
    fn open_comments(count: usize) -> String {
        "a /* ".repeat(count)
    }

    #[test]
    fn work_is_the_same_each_time_and_on_all_threads() {
        let check = |text: &str| {
            let mut parser = java();
            let (tree, work) = parse_within(&mut parser, text, usize::MAX);
            let string = tree.expect("a tree").root_node().to_sexp();
            // A parser that was stopped starts anew.
            for limit in [0, 1, work / 2, work - 1] {
                assert!(parse_within(&mut parser, text, limit).0.is_none());
            }
            let again = |parser: &mut Parser| {
                let (tree, again) = parse_within(parser, text, work);
                assert_eq!(again, work);
                assert_eq!(tree.expect("a tree").root_node().to_sexp(), string);
                assert!(parse_within(parser, text, work - 1).0.is_none());
            };
            again(&mut parser);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| again(&mut java()));
                }
            });
        };
        check("class A { int half(int x) { return x / 2; } }");
        check(&python(60));
        check(&open_comments(500));
        check(&"{(".repeat(200));
    }

    #[test]
    fn a_text_read_in_pieces_is_the_same_text() {
        // The characters lie across the ends of the pieces, of which one is in a string.
        for blanks in 0..4 {
            let text = format!(
                "{}String é中𝒳 = \"{}\"; é中𝒳 = x;",
                " ".repeat(PIECE - 8 - blanks),
                "é中𝒳".repeat(PIECE)
            );
            let (tree, _) = parse_within(&mut java(), &text, usize::MAX);
            let whole = java().parse(&text, None).expect("a tree");
            let tree = tree.expect("a tree");
            assert!(!tree.root_node().has_error());
            assert_eq!(tree.root_node().to_sexp(), whole.root_node().to_sexp());
            assert_eq!(tree.root_node().range(), whole.root_node().range());
        }
    }

    #[test]
    fn a_text_beyond_the_limit_is_one_error() {
        let text = open_comments(6000);
        for tree in [parse(&text), parse(&text)] {
            assert!(tree.given_up && tree.has_error);
            assert_eq!((tree.nodes.len(), tree.depth), (1, 1));
        }
        assert!(!parse("int x = 1;").given_up);
        // Wrong, and costly, but within.
        let tree = parse(&python(100));
        assert!(tree.has_error && !tree.given_up);
    }

    #[test]
    fn long_code_needs_a_tenth_of_the_limit() {
        let method = "int half(int[] x, int n) {\n  // To the end.\n  for (int i = 0; i < n; i++) {\n    \
                      x[i] = Math.abs(x[i] / 2) + \"half\".length();\n  }\n  return x[0];\n}\n";
        let text = format!("class A {{\n{}}}\n", method.repeat(2200));
        assert!(text.len() > 300_000);
        let (tree, work) = parse_within(&mut java(), &text, work_limit(text.len()));
        assert!(!tree.expect("a tree").root_node().has_error());
        assert!(10 * work < work_limit(text.len()), "{work}");
    }
}
#[doc(hidden)]
pub fn probe(kinds: &'static Kinds, text: &str, limit: Limit, units: usize) -> (bool, usize, usize, u64, usize, f64, f64) {
    let run = || Session::run(limit, |session| {
        let start = std::time::Instant::now();
        let mut work = Work { text: text.as_bytes(), done: 0, limit: units };
        let syntax = session.parse(&kinds.grammar, &mut work);
        let parse = start.elapsed().as_secs_f64();
        let (held, asked) = session.used();
        let nodes = syntax.as_ref().map_or(0, Syntax::len);
        let start = std::time::Instant::now();
        let mut tree = Tree::default();
        if let Some(syntax) = &syntax {
            tree.read(kinds, syntax, true);
        }
        (syntax.is_some(), work.done, held, asked, nodes, parse, start.elapsed().as_secs_f64())
    });
    with_stack((1 << 20) + 128 * text.len(), run)
}
