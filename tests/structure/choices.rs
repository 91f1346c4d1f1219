//! A profile, a rule or a language can be added without breaking code that matches on them: their enums are
//! `#[non_exhaustive]`.

use std::collections::BTreeSet;

use syn::{Item, ItemEnum};

use super::sources::{Finding, assert_none, check_text, findings};

/// The choices that are complete by definition: an edit is one of four, and the paper on TIDE has six types of errors.
const COMPLETE: [&str; 2] = ["Edit", "TideErrorType"];

/// The crates that have choices.
const CRATES: [&str; 6] = [
    "metric-class",
    "metric-code",
    "metric-graph",
    "metric-stats",
    "metric-text",
    "metric-vision",
];

#[test]
fn choices_can_grow() {
    for name in CRATES {
        assert_none(&findings(name, closed_choices));
    }
}

/// Returns each public enum of a file that is given to `named_choice!` and neither `#[non_exhaustive]` nor complete.
fn closed_choices(file: &syn::File) -> Vec<Finding> {
    let choices: BTreeSet<String> = file.items.iter().filter_map(choice).collect();
    let enums = file.items.iter().filter_map(|item| match item {
        Item::Enum(item) => Some(item),
        _ => None,
    });
    let closed = enums.filter(|item| {
        let name = item.ident.to_string();
        choices.contains(&name) && !COMPLETE.contains(&name.as_str()) && is_closed(item)
    });
    closed
        .map(|item| {
            let what = format!("{}: expected #[non_exhaustive]", item.ident);
            Finding::new(item.ident.span(), what)
        })
        .collect()
}

fn is_closed(item: &ItemEnum) -> bool {
    let is_public = matches!(item.vis, syn::Visibility::Public(_));
    let mut attributes = item.attrs.iter();
    is_public && !attributes.any(|attribute| attribute.path().is_ident("non_exhaustive"))
}

/// The type of a `named_choice!`, which is its first word.
fn choice(item: &Item) -> Option<String> {
    let Item::Macro(item) = item else { return None };
    let is_choice = item.mac.path.segments.last()?.ident == "named_choice";
    let first = item.mac.tokens.clone().into_iter().next()?;
    is_choice.then(|| first.to_string())
}

#[test]
fn closed_choices_are_found() {
    let rest = "named_choice!(Profile, \"profile\");";
    let check = |text: &str| check_text(&format!("{text}\n{rest}\n"), closed_choices);
    assert_eq!(check("pub enum Profile { A }"), [1]);
    assert_eq!(check("pub enum Other { A }\npub enum Profile { A }"), [2]);
    assert_eq!(check("#[non_exhaustive]\npub enum Profile { A }"), [0; 0]);
    assert_eq!(check("pub(crate) enum Profile { A }"), [0; 0]);
    let qualified = "pub enum Profile { A }\nmetric_core::named_choice!(Profile, \"profile\");";
    assert_eq!(check_text(qualified, closed_choices), [1]);
}
