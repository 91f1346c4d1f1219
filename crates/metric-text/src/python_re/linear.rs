//! Patterns as those of the crate `regex`, which takes linear time, where both have the same matches.

use std::fmt::Write;

use super::parse::{At, Kind, Node, UNLIMITED};
use super::set::Set;

/// Returns the pattern of `regex` with the same matches, if there is one.
///
/// Both prefer the same one of several matches, except where a turn of a loop can be empty. And where a match can be
/// empty, they go on after it in other ways.
pub(super) fn translated(node: &Node) -> Option<String> {
    if node.width().0 == 0 {
        return None;
    }
    let mut pattern = String::new();
    write(node, &mut pattern).then_some(pattern)
}

/// Writes a part, and returns whether it could.
fn write(node: &Node, to: &mut String) -> bool {
    match node {
        Node::Set(set) => write_set(set, to),
        Node::At(at) => {
            to.push_str(match at {
                At::Start => r"\A",
                At::LineStart => "(?m:^)",
                At::LineEnd => "(?m:$)",
                At::End => r"\z",
                At::LastEnd | At::Border { .. } => return false,
            });
            true
        }
        Node::Sequence(nodes) => nodes.iter().all(|node| write(node, to)),
        Node::Either(nodes) => bracketed(to, |to| {
            let mut nodes = nodes.iter();
            let first = nodes.next().is_none_or(|node| write(node, to));
            first
                && nodes.all(|node| {
                    to.push('|');
                    write(node, to)
                })
        }),
        Node::Group(_, node) => bracketed(to, |to| write(node, to)),
        Node::Repeat {
            node,
            least,
            most,
            kind,
        } => {
            if node.width().0 == 0 || *kind == Kind::Possessive {
                return false;
            }
            let is_written = bracketed(to, |to| write(node, to));
            let _ = match *most {
                UNLIMITED => write!(to, "{{{least},}}"),
                most => write!(to, "{{{least},{most}}}"),
            };
            if *kind == Kind::Lazy {
                to.push('?');
            }
            is_written
        }
        Node::Atomic(_) | Node::Look { .. } | Node::Reference { .. } | Node::Condition { .. } => {
            false
        }
    }
}

fn bracketed(to: &mut String, write: impl FnOnce(&mut String) -> bool) -> bool {
    to.push_str("(?:");
    let is_written = write(to);
    to.push(')');
    is_written
}

/// The code points that are halves of a pair and not characters.
const SURROGATES: (u32, u32) = (0xd800, 0xdfff);

fn write_set(set: &Set, to: &mut String) -> bool {
    to.push('[');
    let start = to.len();
    for (first, last) in set.ranges() {
        let parts = [
            (*first, (*last).min(SURROGATES.0 - 1)),
            ((*first).max(SURROGATES.1 + 1), *last),
        ];
        for (first, last) in parts.into_iter().filter(|(first, last)| first <= last) {
            let _ = write!(to, r"\x{{{first:x}}}-\x{{{last:x}}}");
        }
    }
    // A set without characters is never matched.
    let has_some = to.len() > start;
    to.push(']');
    has_some
}
