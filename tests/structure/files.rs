//! metric-registry reads what it is given: it opens no file and asks nothing of its surroundings.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{ExprMethodCall, Item, ItemExternCrate, ItemUse, Macro, UseTree};

use super::sources::{Finding, assert_none, check_text, findings, is_test};

/// Paths that the registry may not name, nor anything below them.
const PATHS: &[&str] = &["std::env", "std::fs", "std::net", "std::os", "std::process"];

/// Names that may not be part of a path, wherever they are imported from.
const NAMES: &[&str] = &["Command", "DirEntry", "OpenOptions", "Stdin", "fs", "stdin"];

/// Functions of the type `File`. A type of that name may also be a file that has been read.
const OPENERS: &[&str] = &["create", "create_new", "open", "options"];

/// Methods of paths that look at the file system. No method of another type has such a name.
const METHODS: &[&str] = &[
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "is_symlink",
    "metadata",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

#[test]
fn metric_registry_opens_no_file() {
    assert_none(&findings("metric-registry", opens));
}

/// Returns each path and each call of a method, outside of `#[cfg(test)]`, by which a file could be
/// opened or looked at.
///
/// Paths count as they are written. Each import is such a path, so a short name of a refused item
/// is refused where it is imported. Imports that give `std` another name, or all of its modules
/// none, are refused as well.
fn opens(file: &syn::File) -> Vec<Finding> {
    let mut opens = Opens(Vec::new());
    opens.visit_file(file);
    opens.0
}

struct Opens(Vec<Finding>);

impl Opens {
    fn refuse(&mut self, span: Span, what: String) {
        self.0.push(Finding::new(span, what));
    }

    fn path(&mut self, path: &[String], span: Span) {
        if is_refused(path) {
            self.refuse(span, format!("`{}`", path.join("::")));
        }
    }

    fn method(&mut self, name: &str, span: Span) {
        if METHODS.contains(&name) {
            self.refuse(span, format!("`.{name}()`"));
        }
    }

    /// Checks each path of an import, which all start with `path`.
    fn import(&mut self, tree: &UseTree, path: &[String]) {
        let below = |name: &syn::Ident| {
            if name == "self" {
                path.to_vec()
            } else {
                [path, &[name.to_string()]].concat()
            }
        };
        match tree {
            UseTree::Path(inner) => self.import(&inner.tree, &below(&inner.ident)),
            UseTree::Group(group) => {
                let trees = group.items.iter();
                trees.for_each(|tree| self.import(tree, path));
            }
            UseTree::Name(name) => self.path(&below(&name.ident), tree.span()),
            UseTree::Rename(rename) => self.renamed(&below(&rename.ident), tree.span()),
            // A glob.
            _ => self.renamed(path, tree.span()),
        }
    }

    /// Checks an import whose names do not tell that they are from `std`.
    fn renamed(&mut self, path: &[String], span: Span) {
        match path {
            [root] if root == "std" => self.refuse(span, "`std` by another name".to_owned()),
            path => self.path(path, span),
        }
    }

    /// Checks the paths and calls in the tokens of a macro, which may be anything.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut punctuation = String::new();
        for token in tokens {
            match token {
                TokenTree::Punct(punct) => punctuation.push(punct.as_char()),
                TokenTree::Ident(ident) => {
                    if !punctuation.ends_with("::") {
                        path.clear();
                    }
                    if punctuation.ends_with('.') && !punctuation.ends_with("..") {
                        self.method(&ident.to_string(), ident.span());
                    }
                    path.push(ident.to_string());
                    punctuation.clear();
                    // A keyword may be in front of a path that starts with `::`.
                    let refused = (0..path.len()).find(|&start| is_refused(&path[start..]));
                    if let Some(start) = refused {
                        self.path(&path[start..], ident.span());
                        path.clear();
                    }
                }
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    path.clear();
                }
                TokenTree::Literal(_) => path.clear(),
            }
        }
    }
}

/// Whether a path leads to a file, or may.
fn is_refused(path: &[String]) -> bool {
    let full = path.join("::");
    let below = |root: &&str| {
        let rest = full.strip_prefix(*root);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let opener = matches!(path, [.., kind, last] if kind == "File" && OPENERS.contains(&&**last));
    let named = |part: &String| NAMES.contains(&&**part);
    // `Path::exists(path)` is `path.exists()`.
    let method = matches!(path, [.., _, last] if METHODS.contains(&&**last));
    method || opener || path.iter().any(named) || PATHS.iter().any(below)
}

impl<'ast> Visit<'ast> for Opens {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.import(&item.tree, &[]);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast ItemExternCrate) {
        self.renamed(&[item.ident.to_string()], item.span());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|part| part.ident.to_string());
        self.path(&Vec::from_iter(names), path.span());
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.method(&call.method.to_string(), call.method.span());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, it: &'ast Macro) {
        self.visit_path(&it.path);
        self.tokens(it.tokens.clone());
    }
}

#[test]
fn what_reads_memory_is_allowed() {
    let text = r#"
//! Reads `std::fs::File`s of nobody.
use std::borrow::Cow;
use std::io::{self, BufRead as _, Read};
use std::path::{Path, PathBuf};

use crate::record::*;
use metric_vision::read::File;

/// Uses std::fs in words only.
fn read(bytes: &[u8], name: &Path) -> Result<String, io::Error> {
    let file = File::new(name, bytes);
    let mut text = String::from("std::fs::read");
    (&bytes[..]).read_to_string(&mut text)?;
    let name = name.join("a").display().to_string();
    let existing = exists(&name) && name.is_empty();
    Ok(format!("{name}{text}{existing} std::env::args"))
}

fn exists(name: &str) -> bool { name.contains("File") }

#[cfg(test)]
use std::env;

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    #[test]
    fn opens() {
        assert!(File::open("a").is_ok() && std::path::Path::new("a").exists());
        assert!(fs::read("a").is_ok());
    }
}
"#;
    assert_eq!(check_text(text, opens), [0; 0]);
}

#[test]
fn each_way_to_a_file_is_refused_with_its_line() {
    for planted in [
        "use std::fs;",
        "use std::{borrow::Cow, fs::{File}};",
        "use std::fs::read as bytes;",
        "use std::fs::*;",
        "use ::std::env;",
        "use std::net::TcpStream;",
        "use std::process::{self};",
        "use std::os::unix::fs::MetadataExt as _;",
        "use std::io::stdin;",
        "use std::io::{self, Stdin};",
        "use std::*;",
        "use std::{self as s};",
        "use std as s;",
        "extern crate std as s;",
        "pub use tokio::fs::File;",
        "fn f() { std::fs::read(\"a\"); }",
        "fn f() { ::std::fs::read(\"a\"); }",
        "fn f() { let read = std::fs::read::<&str>; }",
        "fn f() { use std::fs; }",
        "fn f() { std::io::stdin().lock(); }",
        "fn f() { io::stdin(); }",
        "fn f() { File::open(\"a\"); }",
        "fn f() { a.map(File::create); }",
        "fn f(options: &OpenOptions) {}",
        "fn f(file: std::fs::File) {}",
        "struct S { file: Option<std::fs::File> }",
        "impl From<std::fs::File> for S {}",
        "fn f<R: Into<std::fs::File>>(file: R) {}",
        "fn f() { <std::fs::File as Read>::read(); }",
        "fn f() { std::env::var(\"A\"); }",
        "fn f() { std::net::TcpStream::connect(\"a\"); }",
        "fn f() { std::process::exit(1); }",
        "fn f() { Command::new(\"a\"); }",
        "fn f(path: &Path) { path.exists(); }",
        "fn f(path: &Path) { if path.is_file() || path.is_dir() {} }",
        "fn f(path: &Path) { path.read_dir(); }",
        "fn f(path: &Path) { a.b().metadata().c(); }",
        "fn f(path: &Path) { path.canonicalize(); }",
        "fn f(path: &Path) { Path::exists(path); }",
        "fn f() { paths.iter().filter(std::path::PathBuf::is_file); }",
        "fn f() { assert!(std::fs::read(\"a\").is_ok()); }",
        "fn f() { format!(\"{}\", a.b(&[std::env::var(\"A\")])); }",
        "fn f() { vec![path.exists(), true]; }",
        "fn f() { a!(return ::std::process::exit(1)); }",
        "fn f() { assert!(path?.exists()); }",
        "fn f() { assert!(P::<u8>::exists(path)); }",
        "fn f() { a!(x, File::open(path)); }",
        "macro_rules! m { ($path:expr) => { $path.is_dir() } }",
        "macro_rules! m { () => { ::std::process::exit(1) } }",
        "#[cfg(not(test))] fn f() { std::process::exit(1); }",
        "#[cfg(any(test, unix))] mod a { fn f() { std::process::exit(1); } }",
        "const _: fn() = || { std::process::abort() };",
    ] {
        let text = format!("\n\n{planted}\n");
        let mut lines = check_text(&text, opens);
        lines.dedup();
        assert_eq!(lines, [3], "{planted}");
        let nested = format!("mod a {{ mod b {{\n\n{planted}\n}} }}\n");
        let mut lines = check_text(&nested, opens);
        lines.dedup();
        assert_eq!(lines, [3], "{planted}");
    }
}
