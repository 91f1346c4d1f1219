//! Modules of a crate do not import each other in a circle, so each can be read after those that it uses.
//!
//! A module is a file. It imports another if one of its paths leads to an item that is defined there. A path that leads
//! through a reexport counts for the module with the definition, so a `lib.rs` or `mod.rs` may list what is below it.
//! What a module defines is for the modules below it, so their imports of it do not count. Neither does code that is
//! compiled for tests alone, nor do method calls, which name no module.

#![allow(clippy::panic, reason = "a test reports by it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemUse, Macro, UseTree};

use super::sources::{assert_none, is_test};

#[test]
fn no_modules_import_each_other() {
    let mut findings = Vec::new();
    for root in roots() {
        let name = root.crate_name();
        let Imports(imports) = imports(&root);
        let circles = circles(&imports).into_iter();
        findings.extend(circles.map(|circle| format!("{name}: {}", shown(&circle, &imports))));
    }
    assert_none(&findings);
}

/// Where the sources of a library or a program start.
struct Root {
    file: PathBuf,
}

impl Root {
    fn crate_name(&self) -> String {
        let package = self.file.parent().and_then(Path::parent);
        let name = package.and_then(Path::file_name);
        name.expect("a folder").to_string_lossy().into_owned()
    }
}

/// The libraries and programs of the workspace.
fn roots() -> Vec<Root> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["crates", "tools"].map(|folder| workspace.join(folder));
    let entries = folders.map(|folder| fs::read_dir(folder).expect("a folder of packages"));
    let entries = entries.into_iter().flatten();
    let mut packages: Vec<PathBuf> = entries.map(|it| it.expect("a folder").path()).collect();
    packages.push(workspace.join("xtask"));
    packages.sort();
    let files = packages
        .iter()
        .flat_map(|package| ["src/lib.rs", "src/main.rs"].map(|file| package.join(file)));
    let roots: Vec<Root> = files
        .filter(|file| file.exists())
        .map(|file| Root { file })
        .collect();
    assert!(roots.len() >= packages.len(), "a package has no sources");
    roots
}

/// The modules that each module imports, with the paths by which it does.
struct Imports(BTreeMap<String, BTreeMap<String, BTreeSet<String>>>);

fn imports(root: &Root) -> Imports {
    let mut modules = Modules::default();
    modules.file(&root.file, None, "crate");
    modules.imports()
}

/// The modules of a crate. The first is its root.
#[derive(Default)]
struct Modules(Vec<Module>);

/// A module in a file, or in another module of it.
struct Module {
    /// The name of the file as a path of modules, such as `read::json`.
    file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// The names of items that are not modules.
    definitions: BTreeSet<String>,
    /// Names and the paths that they stand for.
    names: BTreeMap<String, Vec<String>>,
    /// Modules whose names are all imported.
    globs: Vec<Vec<String>>,
    /// Paths in expressions, types and imports.
    paths: Vec<Vec<String>>,
}

/// The target of a path.
#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    /// An item of a module.
    Item(usize),
}

/// More reexports of a reexport than any crate has.
const DEEPEST: usize = 16;

impl Modules {
    /// Reads a file and the files of its modules.
    fn file(&mut self, path: &Path, parent: Option<usize>, name: &str) -> usize {
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file =
            syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let folder = path.parent().expect("a folder");
        // The modules of `a.rs` are in `a/`, those of `a/mod.rs` next to it.
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let folder = match stem.expect("a name in UTF-8") {
            "lib" | "main" | "mod" => folder.to_owned(),
            stem => folder.join(stem),
        };
        self.module(&file.items, &folder, parent, name)
    }

    fn module(
        &mut self,
        items: &[Item],
        folder: &Path,
        parent: Option<usize>,
        name: &str,
    ) -> usize {
        let own = self.0.len();
        let mut names = Names::default();
        let outside = items.iter().filter(|item| !is_test(item));
        outside.clone().for_each(|item| names.visit_item(item));
        self.0.push(Module {
            file: name.to_owned(),
            parent,
            children: BTreeMap::new(),
            definitions: outside.clone().filter_map(defined).collect(),
            names: names.names,
            globs: names.globs,
            paths: names.paths,
        });
        for item in outside {
            let Item::Mod(module) = item else { continue };
            let child = module.ident.to_string();
            let index = match &module.content {
                Some((_, items)) => self.module(items, &folder.join(&child), Some(own), name),
                None => {
                    let below = match name {
                        "crate" => child.clone(),
                        name => format!("{name}::{child}"),
                    };
                    let file = folder.join(format!("{child}.rs"));
                    let file = if file.exists() {
                        file
                    } else {
                        folder.join(&child).join("mod.rs")
                    };
                    self.file(&file, Some(own), &below)
                }
            };
            self.0[own].children.insert(child, index);
        }
        own
    }

    fn imports(&self) -> Imports {
        let mut imports = BTreeMap::new();
        for (index, module) in self.0.iter().enumerate() {
            let own: &mut BTreeMap<_, BTreeSet<_>> =
                imports.entry(module.file.clone()).or_default();
            let items = module.paths.iter().filter_map(|path| {
                match self.resolve(index, path, DEEPEST) {
                    Some(Target::Item(target)) => Some((path, target)),
                    // A module is imported by the paths that lead into it.
                    _ => None,
                }
            });
            let globs =
                module
                    .globs
                    .iter()
                    .filter_map(|path| match self.resolve(index, path, DEEPEST) {
                        Some(Target::Module(target) | Target::Item(target)) => Some((path, target)),
                        None => None,
                    });
            for (path, target) in items.chain(globs) {
                let target = &self.0[target].file;
                if *target != module.file && !is_above(target, &module.file) {
                    own.entry(target.clone())
                        .or_default()
                        .insert(path.join("::"));
                }
            }
        }
        Imports(imports)
    }

    /// Follows a path in a module. `None` if it leads out of the crate.
    fn resolve(&self, module: usize, path: &[String], depth: usize) -> Option<Target> {
        let mut target = None;
        for (position, name) in path.iter().enumerate() {
            let is_last = position + 1 == path.len();
            let next = match (target, name.as_str()) {
                (None, "crate") => Some(Target::Module(0)),
                (None, "self") => Some(Target::Module(module)),
                (None, "super") => Some(Target::Module(self.0[module].parent?)),
                (Some(Target::Module(at)), "super") => Some(Target::Module(self.0[at].parent?)),
                (None, name) => Some(self.named(module, name, is_last, depth)?),
                (Some(Target::Module(at)), "self") => Some(Target::Module(at)),
                // An item that a macro defines counts for the module of the macro's call.
                (Some(Target::Module(at)), name) => Some(
                    self.named(at, name, is_last, depth)
                        .unwrap_or(Target::Item(at)),
                ),
                (item, _) => item,
            };
            target = next;
        }
        target
    }

    /// The target of a name in a module. A name that is not the last of a path is a module rather than a function.
    fn named(&self, module: usize, name: &str, is_last: bool, depth: usize) -> Option<Target> {
        let depth = depth.checked_sub(1)?;
        let found = &self.0[module];
        let child = found.children.get(name).map(|&child| Target::Module(child));
        let item = || {
            let is_defined = found.definitions.contains(name);
            is_defined.then_some(Target::Item(module))
        };
        let import = || {
            let path = found.names.get(name)?;
            // `use name::name` would look for itself.
            let is_own = path.len() == 1 && path[0] == name;
            if is_own {
                return None;
            }
            self.resolve(module, path, depth)
        };
        let glob = || {
            let mut modules =
                found
                    .globs
                    .iter()
                    .filter_map(|path| match self.resolve(module, path, depth) {
                        Some(Target::Module(at)) => Some(at),
                        _ => None,
                    });
            modules.find_map(|at| self.named(at, name, is_last, depth))
        };
        if is_last {
            item().or_else(import).or(child).or_else(glob)
        } else {
            child.or_else(item).or_else(import).or_else(glob)
        }
    }
}

/// Whether a file is that of a module around another: `read`, and the root, are above `read::json`.
fn is_above(file: &str, other: &str) -> bool {
    let rest = other.strip_prefix(file);
    file == "crate" || rest.is_some_and(|rest| rest.starts_with("::"))
}

/// The name of an item that is not a module.
fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// The names that a module uses, without those of the modules in it.
#[derive(Default)]
struct Names {
    names: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    paths: Vec<Vec<String>>,
}

impl Names {
    /// Keeps each path of an import, which all start with `path`.
    fn import(&mut self, tree: &UseTree, path: &[String]) {
        let below = |name: &syn::Ident| {
            if name == "self" && !path.is_empty() {
                path.to_vec()
            } else {
                [path, &[name.to_string()]].concat()
            }
        };
        match tree {
            UseTree::Path(inner) => self.import(&inner.tree, &below(&inner.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path)),
            UseTree::Name(name) => {
                let path = below(&name.ident);
                let last = path.last().cloned();
                self.named(last.unwrap_or_default(), path);
            }
            UseTree::Rename(rename) => {
                self.named(rename.rename.to_string(), below(&rename.ident));
            }
            // A glob.
            _ => self.globs.push(path.to_vec()),
        }
    }

    fn named(&mut self, name: String, path: Vec<String>) {
        self.paths.push(path.clone());
        if name != "_" {
            self.names.insert(name, path);
        }
    }

    /// Keeps the paths in the tokens of a macro, which may be anything.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut end = |path: &mut Vec<String>| {
            let path = std::mem::take(path);
            if path.len() > 1 {
                self.paths.push(path);
            }
        };
        let mut groups = Vec::new();
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        end(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    end(&mut path);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        groups.push(group.stream());
                    }
                }
            }
        }
        end(&mut path);
        groups.into_iter().for_each(|tokens| self.tokens(tokens));
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(item) && !matches!(item, Item::Mod(_)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        // `use ::name` is another crate.
        if item.leading_colon.is_none() {
            self.import(&item.tree, &[]);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 && path.leading_colon.is_none() {
            let names = path.segments.iter().map(|part| part.ident.to_string());
            self.paths.push(names.collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, it: &'ast Macro) {
        self.visit_path(&it.path);
        self.tokens(it.tokens.clone());
    }
}

type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The largest sets of modules that all import each other, directly or not.
fn circles(imports: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = imports
        .keys()
        .map(|module| (module, reachable(module, imports)))
        .collect();
    let reaches = |from: &String, to: &String| reached.get(from).is_some_and(|it| it.contains(to));
    let mut circles = BTreeSet::new();
    for module in imports.keys().filter(|module| reaches(module, module)) {
        let members = imports.keys();
        let members = members.filter(|other| reaches(module, other) && reaches(other, module));
        circles.insert(members.cloned().collect::<BTreeSet<String>>());
    }
    circles.into_iter().collect()
}

/// The modules that a module imports, directly or not.
fn reachable<'a>(module: &String, imports: &'a Graph) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&String> = imports[module].keys().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(imports.get(next).into_iter().flat_map(BTreeMap::keys));
        }
    }
    reached
}

/// The imports in a circle, one per line.
fn shown(circle: &BTreeSet<String>, imports: &Graph) -> String {
    let members: Vec<&str> = circle.iter().map(|module| &**module).collect();
    let mut lines = vec![format!("{} import each other", members.join(", "))];
    for module in circle {
        let within = imports[module]
            .iter()
            .filter(|(to, _)| circle.contains(*to));
        lines.extend(within.map(|(to, paths)| {
            let paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
            format!("  {module} -> {to}: {}", paths.join(", "))
        }));
    }
    lines.join("\n")
}

/// Writes files and returns the circles of the crate that they are.
fn planted(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join("a/src").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let root = Root {
        file: folder.path().join("a/src/lib.rs"),
    };
    assert_eq!(root.crate_name(), "a");
    let Imports(imports) = imports(&root);
    let circles = circles(&imports).into_iter();
    circles.map(|circle| circle.into_iter().collect()).collect()
}

#[test]
fn each_kind_of_import_closes_a_circle() {
    for import in [
        "use crate::b::B;",
        "use super::b::B;",
        "use crate::b::{C, B as D};",
        "use crate::b::B as _;",
        "use crate::b::*;",
        "use crate::{b::B};",
        "use crate::b; fn f() { b::f(); }",
        "use crate::b::{self, f as g}; fn h() { b::f(); }",
        "use super::*; fn f() { b::f(); }",
        "pub(crate) use crate::b::B;",
        // Through the reexport in the root.
        "use crate::B;",
        "fn f() { crate::b::f(); }",
        "fn f() { use crate::b::f; }",
        "fn f(b: &super::b::B) {}",
        "struct S(Vec<crate::b::B>);",
        "impl crate::b::T for u8 {}",
        "fn f() { assert!(!vec![crate::b::B::new()].is_empty()); }",
        "fn f() { crate::b::m!(); }",
        "mod inner { use super::super::b::B; }",
        "#[cfg(not(test))] use crate::b::B;",
        "#[cfg(any(test, unix))] use crate::b::B;",
        "fn f() { crate::b::made_by_a_macro(); }",
    ] {
        let found = planted(&[
            ("lib.rs", "mod a; mod b; pub use b::B;"),
            ("a.rs", &format!("pub struct A; {import}")),
            ("b.rs", "use crate::a::A; pub struct B; pub fn f() {}"),
        ]);
        assert_eq!(found, [["a", "b"]], "{import}");
    }
}

#[test]
fn longer_circles_are_found() {
    let found = planted(&[
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b/mod.rs", "mod e; pub use e::B; pub struct F;"),
        ("b/e.rs", "use crate::c::C; pub struct B;"),
        ("c.rs", "use crate::a::A; pub struct C;"),
        ("d.rs", "use crate::{a::A, c::C};"),
    ]);
    assert_eq!(found, [["a", "b::e", "c"]]);
    // A module below another may close a circle with one next to that.
    let found = planted(&[
        ("lib.rs", "mod a; mod c;"),
        ("a.rs", "mod b; use b::g; pub struct A;"),
        ("a/b.rs", "use crate::c::C; pub fn g() {}"),
        ("c.rs", "use crate::a::A; pub struct C;"),
    ]);
    assert_eq!(found, [["a", "a::b", "c"]]);
}

#[test]
fn what_is_not_a_circle_is_allowed() {
    let found = planted(&[
        ("lib.rs", "mod a; pub fn f() { a::g(); }"),
        ("a.rs", "mod b; use b::g; pub struct A;"),
        ("a/b.rs", "use super::A; pub fn g() { crate::f(); }"),
    ]);
    assert_eq!(found, [[""; 0]; 0], "what modules around a module define");
    for (a, b) in [
        ("use crate::b::B;", ""),
        (
            "use crate::b::B;",
            "#[cfg(test)] mod tests { use crate::a::A; }",
        ),
        ("use crate::b::B;", "#[cfg(test)] use crate::a::A;"),
        (
            "use crate::b::B;",
            "#[cfg(all(test, feature = \"c\"))] use crate::a::A;",
        ),
        (
            "use crate::b::B;",
            "// use crate::a::A;\nconst A: &str = \"crate::a::A\";",
        ),
        ("use crate::b::B;", "use ::a::A;"),
        (
            "use crate::b::B;",
            "use crate::outer; fn f(a: &outer::O) {}",
        ),
        // A name of another crate, and an own one.
        (
            "use crate::b::B;",
            "use std::a::A; struct A2; impl A2 { fn f() { Self::f(); } }",
        ),
    ] {
        let found = planted(&[
            ("lib.rs", "mod a; mod b; mod outer; pub use a::A;"),
            ("a.rs", &format!("pub struct A; {a}")),
            ("b.rs", &format!("pub struct B; {b}")),
            ("outer/mod.rs", "mod inner; pub use inner::O;"),
            ("outer/inner.rs", "pub struct O;"),
        ]);
        assert_eq!(found, [[""; 0]; 0], "{a} {b}");
    }
}
