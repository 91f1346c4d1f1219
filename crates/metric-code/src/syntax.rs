//! The subtrees of a syntax tree, by the parts that are compared.

use std::fmt::Write as _;

use crate::classes::{Classes, Dialect};
use crate::hash::Digest;
use crate::parse::{Hidden, Kinds, Tree};

/// The hashes of a tree's subtrees, sorted: of the root and of every node with children.
///
/// `hashes` is memory for those of all nodes.
pub(crate) fn subtree_hashes(
    tree: &Tree,
    kinds: &Kinds,
    classes: &Classes,
    hashes: &mut Vec<u128>,
) -> Vec<u128> {
    hashes.clear();
    hashes.resize(tree.nodes.len(), 0);
    let mut subtrees = match classes.dialect {
        Dialect::Original => string_hashes(tree, kinds, hashes),
        Dialect::Corrected => shape_hashes(tree, classes, hashes),
    };
    subtrees.sort_unstable();
    subtrees
}

/// The number of subtrees of a tree: the root and every node with children.
pub(crate) fn subtrees(tree: &Tree) -> usize {
    let below = (1..tree.nodes.len() as u32).filter(|&node| !tree.is_leaf(node));
    1 + below.count()
}

/// Hashes that are equal where tree-sitter's strings of the subtrees are: named nodes with the fields that they fill,
/// made-up tokens, errors. Operators and other anonymous nodes are not in the string; their named children appear in it
/// as if they were their parent's.
fn string_hashes(tree: &Tree, kinds: &Kinds, hashes: &mut [u128]) -> Vec<u128> {
    let mut subtrees = Vec::with_capacity(tree.nodes.len() / 2 + 1);
    let mut unexpected = tree.unexpected.iter().rev().peekable();
    // Children come after their parents.
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let index = index as u32;
        let leaf = tree.is_leaf(index);
        if leaf && !tree.is_shown(kinds, index) && index > 0 {
            continue;
        }
        let mut digest =
            Digest::from_word(u64::from(node.kind) << 1 | u64::from(node.is_missing()));
        if let Some((_, character)) = unexpected.next_if(|(node, _)| *node == index) {
            for byte in character.bytes() {
                digest = digest.with(u64::from(byte) | 1 << 63);
            }
        }
        if !leaf || !tree.hidden.is_empty() {
            shown_children(tree, kinds, index, |child, field| {
                let hash = match child {
                    Shown::Node(child) => hashes[child as usize],
                    Shown::Hidden(hidden) => {
                        Digest::from_word(u64::from(hidden.kind) << 1 | 1).finish()
                    }
                };
                digest = digest.with_child(field, hash);
            });
        }
        let hash = digest.finish();
        hashes[index as usize] = hash;
        if !leaf || index == 0 {
            subtrees.push(hash);
        }
    }
    subtrees
}

/// Hashes of the kinds of nodes with their children and the fields that these fill. Operators are a
/// part of it; brackets, separators and comments are not.
fn shape_hashes(tree: &Tree, classes: &Classes, hashes: &mut [u128]) -> Vec<u128> {
    let mut subtrees = Vec::with_capacity(tree.nodes.len() / 2 + 1);
    let mut commented = vec![false; tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate() {
        if classes.class(node).comment {
            commented[index..node.next as usize].fill(true);
        }
    }
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        if commented[index] {
            continue;
        }
        let index = index as u32;
        let mut digest = Digest::from_word(u64::from(node.kind));
        let mut has_children = false;
        for child in tree.children(index) {
            let child_node = &tree.nodes[child as usize];
            let class = classes.class(child_node);
            if commented[child as usize] {
                continue;
            }
            has_children = true;
            if class.named || !class.punctuation || !tree.is_leaf(child) {
                digest = digest.with_child(child_node.field(), hashes[child as usize]);
            }
        }
        let hash = digest.finish();
        hashes[index as usize] = hash;
        if has_children || index == 0 {
            subtrees.push(hash);
        }
    }
    subtrees
}

/// The children that tree-sitter's string shows below a node.
enum Shown {
    Node(u32),
    /// A made-up token, which has no node.
    Hidden(Hidden),
}

/// Gives what the string shows as the children of a node, with the fields it names.
fn shown_children(tree: &Tree, kinds: &Kinds, node: u32, mut give: impl FnMut(Shown, u16)) {
    let first = tree.hidden.partition_point(|hidden| hidden.parent < node);
    let mut hidden = tree.hidden[first..]
        .iter()
        .take_while(|hidden| hidden.parent == node)
        .peekable();
    // The field that each anonymous node around the current one hands down, and its end.
    let mut around: Vec<(u16, u32)> = Vec::new();
    let mut left = tree.below(node);
    while !left.is_empty() {
        let child = left.start;
        while around.pop_if(|(_, end)| *end <= child).is_some() {}
        let found = &tree.nodes[child as usize];
        let field = match (found.field(), around.last()) {
            (0, Some(&(field, _))) if !found.is_extra() => field,
            (field, _) => field,
        };
        if tree.is_shown(kinds, child) {
            while let Some(hidden) = hidden.next_if(|hidden| hidden.before <= child) {
                give(Shown::Hidden(*hidden), hidden.field);
            }
            give(Shown::Node(child), field);
            left.start = found.next;
        } else {
            if !tree.is_leaf(child) {
                around.push((field, found.next));
            }
            left.start += 1;
        }
    }
    for hidden in hidden {
        give(Shown::Hidden(*hidden), hidden.field);
    }
}

/// The tree as tree-sitter writes it.
pub(crate) fn sexp(tree: &Tree, kinds: &Kinds) -> String {
    let mut text = String::new();
    // The parts still to be written; the next one is last.
    let mut left = vec![Some((Shown::Node(0), 0))];
    while let Some(next) = left.pop() {
        let Some((shown, field)) = next else {
            text.push(')');
            continue;
        };
        if !text.is_empty() {
            text.push(' ');
        }
        if field != 0 {
            text.extend([kinds.field_name(field), ": "]);
        }
        let (kind, named, missing, node) = match shown {
            Shown::Hidden(Hidden { kind, named, .. }) => (kind, named, true, None),
            Shown::Node(node) => {
                let found = &tree.nodes[node as usize];
                let named = kinds.kind(found).named;
                (found.kind, named, found.is_missing(), Some(node))
            }
        };
        let kind = kinds.all()[usize::from(kind)].name;
        let character = tree
            .unexpected
            .binary_search_by_key(&node, |(node, _)| Some(*node));
        if let Ok(index) = character {
            // Writing to a string does not fail.
            let _ = write!(text, "(UNEXPECTED {}", tree.unexpected[index].1);
        } else if missing && named {
            text.extend(["(MISSING ", kind]);
        } else if missing {
            text.extend(["(MISSING \"", kind, "\""]);
        } else {
            text.extend(["(", kind]);
        }
        left.push(None);
        if let Some(node) = node {
            let first = left.len();
            shown_children(tree, kinds, node, |child, field| {
                left.push(Some((child, field)));
            });
            left[first..].reverse();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::language::Language;
    use crate::parse::own_string;

    fn parse(language: Language, text: &str) -> Tree {
        let mut tree = Tree::default();
        tree.parse(language.kinds(), text, true);
        tree
    }

    /// Pieces of code of which some are wrong in any language.
    const PIECES: &[&str] = &[
        "x",
        "y ",
        "1",
        "\"s\"",
        "'c'",
        "'",
        "\"",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ";",
        ",",
        ".",
        " = ",
        " + ",
        "-",
        "!",
        "?",
        ":",
        "#",
        "$",
        "@",
        "\\",
        "`",
        "\n",
        "\n  ",
        "\t",
        "\r\n",
        "\0",
        "é",
        "if ",
        "else ",
        "for ",
        "while ",
        "in ",
        "not in ",
        "is not ",
        "return ",
        "def ",
        "class ",
        "fn ",
        "func ",
        "function ",
        "int ",
        "<?php ",
        "do\n",
        "end\n",
        "//",
        "/*",
        "*/",
        "<",
        ">",
        "<<",
        "#include",
        "foreach",
        "=>",
        "::",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn trees_are_written_as_tree_sitter_writes_them(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30)
        ) {
            let text = pieces.concat();
            for &language in Language::ALL {
                let written = sexp(&parse(language, &text), language.kinds());
                prop_assert_eq!(written, own_string(language.kinds(), &text), "{:?} {:?}", language, text);
            }
        }
    }

    #[test]
    fn errors_are_written_as_tree_sitter_writes_them() {
        let check = |language: &str, text: &str, has: &str| {
            // Features decide which languages are here.
            let Ok(language) = language.parse::<Language>() else {
                return;
            };
            let written = sexp(&parse(language, text), language.kinds());
            assert_eq!(
                written,
                own_string(language.kinds(), text),
                "{language} {text:?}"
            );
            assert!(written.contains(has), "{language} {text:?}: {written}");
        };
        check("java", "int f() { return 1 }", "(MISSING \";\")");
        check("java", "x = ;", "(ERROR)");
        check("java", "int x = $ ' ;", "(UNEXPECTED");
        check("java", "x = `)`;", "(UNEXPECTED '`')");
        // An error within an operator of two words, whose field it does not fill.
        check(
            "python",
            "éis not not in xx)",
            "(ERROR (comparison_operator",
        );
        // Made-up tokens that have no node.
        check("c_sharp", "int = 3;", "(MISSING _identifier_token)");
        // One that has no name.
        check("go", "é + é\"}do\n/*#'if ?def ", "(MISSING \"\")");
        // An error of an unexpected character next to one of hidden tokens.
        check("c_sharp", "#c=b;t", "(UNEXPECTED 'c')");
    }

    #[cfg(feature = "python")]
    #[test]
    fn subtrees_by_hand() {
        let hashes = |text: &str, dialect| {
            let classes = Language::PYTHON.classes(dialect);
            let tree = parse(Language::PYTHON, text);
            subtree_hashes(&tree, Language::PYTHON.kinds(), classes, &mut Vec::new())
        };
        let same = |a: &str, b: &str| {
            [Dialect::Original, Dialect::Corrected]
                .map(|dialect| hashes(a, dialect) == hashes(b, dialect))
        };
        assert_eq!(subtrees(&parse(Language::PYTHON, "")), 1);
        // Module, statement, assignment, sum.
        assert_eq!(subtrees(&parse(Language::PYTHON, "x = a + b")), 4);
        // Names and literals never count, operators only when corrected, kinds always.
        assert_eq!(same("x = a + 1", "y = b + 2"), [true, true]);
        assert_eq!(same("x = a + b", "x = a - b"), [true, false]);
        assert_eq!(same("a in b", "a not in b"), [false, false]);
        assert_eq!(same("x = 1", "x = 1.0"), [false, false]);
        // Brackets belong to their node, and separators to none.
        assert_eq!(same("f(a, b)", "f(a, b,)"), [true, true]);
        // A comment is a node in the string.
        assert_eq!(same("x = 1", "x = 1 # note"), [false, true]);
    }
}
