//! Texts as trees in an arena. The only module that knows tree-sitter.

use std::ops::Range;

use tree_sitter::Language as Grammar;
use tree_sitter_language::LanguageFn;

use crate::bounded::{Limit, Session, Syntax};
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
    pub(crate) fn from_grammar(grammar: LanguageFn) -> Self {
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

/// The text that tree-sitter writes for an error without children, before its first character.
const UNEXPECTED: &str = "(UNEXPECTED ";

/// The character at the start of a rest of tree-sitter's string: `'c'`, where c may be a bracket or
/// a quote, or a number.
fn character(rest: &str) -> Option<&str> {
    let end = if rest.starts_with('\'') {
        rest.get(2..)?.find("')")? + 3
    } else {
        rest.find(')')?
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

/// A made-up token of a kind that nodes do not show, such as the end of a line. It appears in
/// tree-sitter's string of a tree and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    /// The nearest node above it that the string shows.
    pub(crate) parent: u32,
    /// The node of the string before which it appears, or the parent's `next`.
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
    /// Whether parsing took more work or memory than allowed, and the tree is one error.
    pub(crate) given_up: bool,
    /// By their parents, and in the order of the text.
    pub(crate) hidden: Vec<Hidden>,
    /// In the order of the text.
    pub(crate) unexpected: Vec<Unexpected>,
}

/// Texts of at least this many bytes are parsed with a stack of their own: on some, such as `{({({(` in Java, the
/// parser recurses, with 56 bytes of stack for each byte of the text.
const LONG: usize = 1 << 13;

/// The parser recurses no deeper: it compares two stacks, of 240 bytes for each element.
const DEEPEST: usize = MEMORY / 480;

/// The most memory that a parse may take: the parser's, and the nodes read from its tree.
///
/// The parser is linear in valid code and takes 26 to 68 bytes per byte of published packages, 83 to
/// 300 per byte of dense expressions, and 449 per byte of a list of one-digit numbers in Ruby, the
/// most that we found. So the longest text of such packages takes at most a fifth of this, and the
/// densest list fits up to 1.4 MB. What is to be stopped is quadratic: `a<` over and over in C# takes
/// 140 kB per byte at 100 kB.
///
/// The program takes little else, so a text stays below 1 GB.
const MEMORY: usize = 640 << 20;

/// The most work that a parse may take.
///
/// Work is counted, not timed: a text is refused on all machines or on none. A unit takes 0.1 to 0.3
/// µs, so a parse ends after 2 to 4 seconds as a rule and 7 at most.
///
/// Published packages need 0.6 to 1.9 units per byte, and a list of one-digit numbers in Ruby 11.1. So
/// the longest text of such packages takes at most a sixth of this, and the densest list half of it at
/// 1 MB. Prose in place of code needs 10 to 38 units per byte: up to 0.6 MB of it are parsed in all
/// languages.
const WORK: u64 = 24_000_000;

/// The most work that a parse of a text of this many bytes may take. Short texts get less, as a data set may have many
/// of them.
const fn work_limit(bytes: usize) -> u64 {
    let work = 2_000_000 + 64 * bytes as u64;
    if work < WORK { work } else { WORK }
}

impl Tree {
    /// Parses a text.
    ///
    /// With `errors`, what only tree-sitter's string of a tree tells about its syntax errors is
    /// read from there; that costs a second walk.
    pub(crate) fn parse(&mut self, kinds: &'static Kinds, text: &str, errors: bool) {
        self.nodes.clear();
        self.hidden.clear();
        self.unexpected.clear();
        let limit = Limit {
            held: MEMORY,
            work: work_limit(text.len()),
            // The more states a grammar has, the longer is the search for tokens that fit: 16 µs in Java,
            // which has 1385 of them, and some 90 in C# and Ruby, which have 8053 and 5989.
            recovery: kinds.grammar.parse_state_count() as u64 / 32,
        };
        let mut parse = || {
            Session::run(limit, |session| {
                let syntax = session.parse(&kinds.grammar, text);
                syntax.is_some_and(|syntax| self.read(kinds, &syntax, session.held(), errors))
            })
        };
        let parsed = match text.len() {
            0..LONG => parse(),
            length => with_stack((1 << 20) + 128 * length.min(DEEPEST), parse),
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

    /// Reads the parser's tree. Returns whether the nodes and what the parser holds stay within the limit.
    fn read(&mut self, kinds: &Kinds, syntax: &Syntax<'_>, held: usize, errors: bool) -> bool {
        let count = syntax.count();
        if held + count * size_of::<Node>() > MEMORY {
            return false;
        }
        self.nodes.reserve_exact(count);
        self.has_error = syntax.has_error();
        self.fill(kinds, syntax);
        if errors && self.has_error && !self.too_deep() {
            syntax.look_at_string(self.stack(), |string| self.read_errors(kinds, string));
        }
        true
    }

    /// The stack for something that recurses on the tree, which is not [too deep](Self::too_deep), if
    /// it needs one of its own.
    fn stack(&self) -> Option<usize> {
        // Up to 1.5 kB per node, of our own memory and of tree-sitter's.
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

    /// The children of a node, starting with one of them.
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

    /// Goes through the string together with the nodes that it shows.
    fn compare(&self, kinds: &Kinds, string: &str) -> Option<(Vec<Unexpected>, Vec<Hidden>)> {
        let mut unexpected = Vec::new();
        let mut hidden = Vec::new();
        let mut shown = (0..self.nodes.len() as u32).filter(|&node| self.is_shown(kinds, node));
        let mut next = shown.next();
        // The node of each open bracket of the string, or none for a token.
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
                            let end = if quoted.starts_with("\")") {
                                0
                            } else {
                                1 + quoted.get(1..)?.find("\")")?
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
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&kinds.grammar).expect("a grammar");
    let tree = parser.parse(text, None).expect("a tree");
    tree.root_node().to_sexp()
}

#[cfg(all(test, feature = "java"))]
mod tests {
    use super::*;
    use crate::language::Language;

    const NO_LIMIT: Limit = Limit {
        held: usize::MAX,
        work: u64::MAX,
        recovery: 0,
    };

    /// The tree of a text as a string, with the memory and the work that it took.
    fn parse_within(text: &str, limit: Limit) -> (Option<String>, usize, u64) {
        let run = || {
            Session::run(limit, |session| {
                let syntax = session.parse(&Language::JAVA.kinds().grammar, text);
                let (held, work) = (session.held(), session.work());
                let mut written = None;
                if let Some(syntax) = syntax {
                    syntax.look_at_string(None, |string| written = Some(string.to_owned()));
                }
                (written, held, work)
            })
        };
        with_stack(64 << 20, run)
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
    fn memory_and_work_are_the_same_each_time_and_on_all_threads() {
        let check = |text: &str| {
            let all = parse_within(text, NO_LIMIT);
            let (string, held, work) = &all;
            assert!(string.is_some());
            let again = || {
                // A text that was refused before changes nothing, wherever it was stopped.
                let limit = |held, work| {
                    parse_within(
                        text,
                        Limit {
                            held,
                            work,
                            ..NO_LIMIT
                        },
                    )
                    .0
                };
                for less in [0, 1, work / 2, work - 1] {
                    assert_eq!(limit(usize::MAX, less), None, "{less} of {work}");
                }
                assert_eq!(limit(*held, *work), *string);
                assert_eq!(parse_within(text, NO_LIMIT), all);
            };
            again();
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(again);
                }
            });
        };
        check("class A { int half(int x) { return x / 2; } }");
        check(&python(60));
        check(&open_comments(500));
        check(&"{(".repeat(200));
        check(&"a<".repeat(1000));
    }

    #[test]
    fn a_step_is_stopped_in_its_middle() {
        // At its end all ways through the stacks of the parser are copied.
        let bomb = "a<".repeat(10_000);
        let limit = Limit {
            held: 32 << 20,
            ..NO_LIMIT
        };
        let (string, held, work) = parse_within(&bomb, limit);
        assert_eq!(string, None);
        assert!(
            held <= limit.held && held > limit.held - (2 << 20),
            "{held}"
        );
        // Texts that were read before do not matter, and parsing continues as usual.
        let code = "class A { int half(int x) { return x / 2; } }";
        let fine = parse_within(code, limit);
        assert!(fine.0.is_some());
        for _ in 0..2 {
            assert_eq!(parse_within(&bomb, limit), (None, held, work));
            assert_eq!(parse_within(code, limit), fine);
        }
    }

    #[test]
    fn a_text_read_in_pieces_is_the_same_text() {
        // The characters lie across the ends of the pieces, and one of them is in a string.
        for blanks in 0..4 {
            let text = format!(
                "{}String é中𝒳 = \"{}\"; é中𝒳 = x;",
                " ".repeat(1024 - 8 - blanks),
                "é中𝒳".repeat(1024)
            );
            let (string, ..) = parse_within(&text, NO_LIMIT);
            assert_eq!(string, Some(own_string(Language::JAVA.kinds(), &text)));
            assert!(!parse(&text).has_error);
        }
    }

    #[test]
    fn a_text_beyond_the_limit_is_one_error() {
        let text = open_comments(9000);
        for tree in [parse(&text), parse(&text)] {
            assert!(tree.given_up && tree.has_error);
            assert_eq!((tree.nodes.len(), tree.depth), (1, 1));
        }
        assert!(!parse("int x = 1;").given_up);
        // Wrong, and costly, but within.
        let tree = parse(&python(40));
        assert!(tree.has_error && !tree.given_up);
    }

    #[test]
    fn long_code_stays_far_below_the_limits() {
        let method = "int half(int[] x, int n) {\n  // To the end.\n  for (int i = 0; i < n; i++) {\n    \
                      x[i] = Math.abs(x[i] / 2) + \"half\".length();\n  }\n  return x[0];\n}\n";
        let text = format!("class A {{\n{}}}\n", method.repeat(2200));
        assert!(text.len() > 300_000);
        let (string, held, work) = parse_within(&text, NO_LIMIT);
        assert!(string.is_some_and(|string| !string.contains("ERROR")));
        assert!(9 * work < work_limit(text.len()), "{work}");
        // So many times the longest text would fit.
        let fits = MEMORY / held * text.len() / crate::text::MAX_TEXT_BYTES;
        assert!(fits >= 4, "{held}");
    }
}
