//! metric-suite re-exports the other crates and has no code of its own.

use syn::spanned::Spanned as _;
use syn::{Attribute, Item, Visibility};

use super::sources::{Finding, assert_none, check_text, findings};

#[test]
fn metric_suite_only_re_exports() {
    assert_none(&findings("metric-suite", facade));
}

/// Returns each item of a file that is neither a public re-export nor a public module of these.
///
/// A module may not name its own file: the sources are found by folder.
fn facade(file: &syn::File) -> Vec<Finding> {
    items(&file.items)
}

fn items(list: &[Item]) -> Vec<Finding> {
    list.iter().flat_map(item).collect()
}

fn item(item: &Item) -> Vec<Finding> {
    match item {
        Item::Use(item) if is_public(&item.vis) => Vec::new(),
        Item::Mod(module) if is_public(&module.vis) && !names_file(&module.attrs) => {
            let content = module.content.as_ref();
            content.map_or(Vec::new(), |(_, inner)| items(inner))
        }
        other => vec![Finding::new(
            other.span(),
            "expected only `pub use` and `pub mod`",
        )],
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn names_file(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("path"))
}

#[test]
fn re_exports_and_their_modules_are_allowed() {
    let text = r#"
//! The crates in one.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(inline)]
pub use metric_core as core;
#[cfg(feature = "text")]
pub use metric_text::{self as text, Metric as _};
/// By name.
pub mod registry {
    pub use metric_registry::*;
    pub mod inner {
        pub use metric_registry::Entry;
    }
}
pub mod elsewhere;
"#;
    assert_eq!(check_text(text, facade), [0; 0]);
}

#[test]
fn everything_else_is_refused_with_its_line() {
    for planted in [
        "pub fn one() -> u8 { 1 }",
        "use metric_core as core;",
        "pub(crate) use metric_core as core;",
        "mod private;",
        "pub(crate) mod private {}",
        "pub struct Own;",
        "pub type Own = u8;",
        "pub const ONE: u8 = 1;",
        "pub static ONE: u8 = 1;",
        "pub trait Own {}",
        "impl Own {}",
        "pub extern crate metric_core;",
        "macro_rules! own { () => {} }",
        "include!(\"other.rs\");",
        "#[path = \"../../other/src/lib.rs\"] pub mod other;",
    ] {
        let text = format!("pub use a::b;\n\n{planted}\n");
        assert_eq!(check_text(&text, facade), [3], "{planted}");
        let nested = format!("pub mod a {{\npub mod b {{\n{planted}\n}}\n}}\n");
        assert_eq!(check_text(&nested, facade), [3], "{planted}");
    }
}
