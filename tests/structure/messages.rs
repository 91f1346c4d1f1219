//! Each text that can be shown to a user is in a snapshot or a test, so that it was read as prose.
//!
//! A message is a string of three words or more in the code of a crate. It is known if its longest fixed part, between
//! the placeholders, is in a snapshot, in the documentation, or in a test. Those that no test can show are listed with
//! the reason in `messages/unseen.txt`.

#![allow(clippy::panic, reason = "a test reports by it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// Macros and methods whose texts are for developers.
const FOR_DEVELOPERS: [&str; 11] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "expect",
    "expect_err",
    "include_str",
    "panic",
    "unreachable",
    "concat",
];

/// Folders and files whose texts are captions, markup or programs rather than messages, except for those of errors.
const NO_MESSAGES: [(&str, &str); 6] = [
    ("crates/metric-report/src", "markup and captions"),
    ("crates/metric-registry/src/report", "captions of reports"),
    ("crates/metric-cli/src/report", "captions of reports"),
    ("crates/metric-run/src/stored.rs", "captions of reports"),
    (
        "crates/metric-code/src/language",
        "names of nodes of grammars",
    ),
    ("crates/metric-code/src/programs.rs", "programs of tests"),
];

/// A string in the code, with its file and line.
struct Text {
    file: String,
    line: usize,
    value: String,
}

#[test]
fn each_message_is_in_a_snapshot_or_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut messages, mut known) = (Vec::new(), shown(&root));
    let crates = files(&root.join("crates"), "rs");
    let tests = files(&root.join("tests"), "rs");
    for file in crates.into_iter().chain(tests) {
        let name = file
            .strip_prefix(&root)
            .unwrap_or(&file)
            .display()
            .to_string();
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let tokens: TokenStream = text
            .parse()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut strings = Strings::default();
        strings.read(
            tokens,
            !name.contains("/src/") || name.ends_with("/tests.rs"),
        );
        known.extend(strings.of_tests.into_iter().map(|(_, value)| value));
        let has_messages = !NO_MESSAGES.iter().any(|(start, _)| name.starts_with(start));
        let others = strings.others.into_iter().filter(|_| has_messages);
        let of_file = strings.of_errors.into_iter().chain(others);
        let of_file = of_file.map(|(line, value)| Text {
            file: name.clone(),
            line,
            value,
        });
        messages.extend(of_file);
    }
    let known = in_one_line(&known.join("\n").replace("\\\"", "\""));
    let listed = listed(&root.join("tests/structure/messages/unseen.txt"));
    let mut used = BTreeSet::new();
    let unseen = messages.iter().filter(|message| {
        let part = in_one_line(&longest_part(&message.value));
        // A text with braces need not be a format string.
        let is_known = || known.contains(&part) || known.contains(&in_one_line(&message.value));
        if !is_message(&message.value) || is_known() {
            return false;
        }
        let reason = listed.get_key_value(&message.value);
        used.extend(reason.map(|(text, _)| text.clone()));
        reason.is_none()
    });
    let unseen: Vec<String> = unseen
        .map(|Text { file, line, value }| format!("{file}:{line}: {value:?}"))
        .collect();
    assert!(
        unseen.is_empty(),
        "{} messages are in no snapshot and no test:\n{}",
        unseen.len(),
        unseen.join("\n")
    );
    let unused = listed.keys().filter(|text| !used.contains(*text));
    let unused: Vec<&String> = unused.collect();
    assert!(unused.is_empty(), "listed, but seen or gone: {unused:#?}");
}

/// The texts that are not in Rust: snapshots, the documentation, and tests in Python.
fn shown(root: &Path) -> Vec<String> {
    let folders = [
        ("crates", "txt"),
        ("crates", "md"),
        ("docs", "md"),
        ("python/tests", "py"),
        ("tests", "md"),
    ];
    let listed = folders
        .iter()
        .flat_map(|(folder, ending)| files(&root.join(folder), ending));
    let is_list = |path: &PathBuf| path.ends_with("messages/unseen.txt");
    let paths = listed.filter(|path| !is_list(path) && !path.ends_with("CHANGELOG.md"));
    let paths = paths.chain([root.join("README.md")]);
    let text = |path: PathBuf| fs::read_to_string(&path).unwrap_or_default();
    paths.map(text).collect()
}

/// The files in a folder and the folders in it that end like this.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let entries = fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            paths.extend(files(&path, ending));
        } else if path.extension().is_some_and(|found| found == ending) {
            paths.push(path);
        }
    }
    paths.sort();
    paths
}

/// The messages that no test shows, each a line of JSON under a line `# REASON`.
fn listed(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}"));
    let mut listed = BTreeMap::new();
    let mut reason = None;
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("# ") {
            Some(stated) => reason = Some(stated.to_owned()),
            None => {
                let message = serde_json::from_str(line);
                let message = message.unwrap_or_else(|error| panic!("{line}: {error}"));
                let reason = reason.clone().expect("a reason above the first message");
                listed.insert(message, reason);
            }
        }
    }
    listed
}

/// Whether a string is a phrase: at least three words.
fn is_message(text: &str) -> bool {
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || "'-".contains(c))
    };
    text.split_whitespace().filter(is_word).count() >= 3
}

/// The longest part of a format string without a placeholder.
fn longest_part(text: &str) -> String {
    let text = text.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut parts = vec![];
    for (index, piece) in text.split('{').enumerate() {
        parts.push(match piece.split_once('}') {
            Some((_, rest)) if index > 0 => rest,
            _ => piece,
        });
    }
    let lines = parts.into_iter().flat_map(|part| part.split('\n'));
    let longest = lines.max_by_key(|part| part.len()).unwrap_or_default();
    let longest = longest.replace('\u{1}', "{").replace('\u{2}', "}");
    longest.trim().to_owned()
}

/// A text whose lines may be broken elsewhere.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The type of the errors of the program.
const ERROR: &str = "Failure";

/// The strings of a file, each with its line: those of its tests and examples, those of the errors of the program, and
/// the others.
#[derive(Default)]
struct Strings {
    of_tests: Vec<(usize, String)>,
    of_errors: Vec<(usize, String)>,
    /// Whether what is read makes an error.
    is_error: bool,
    others: Vec<(usize, String)>,
}

impl Strings {
    fn read(&mut self, tokens: TokenStream, is_test: bool) {
        let mut tokens = tokens.into_iter().peekable();
        // Whether the next item, up to its end, is a test.
        let mut item_is_test = false;
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let inner = |next: &TokenTree| matches!(next, TokenTree::Punct(mark) if mark.as_char() == '!');
                    let _ = tokens.next_if(inner);
                    if let Some(TokenTree::Group(group)) = tokens.next() {
                        item_is_test |= self.attribute(&group);
                    }
                }
                TokenTree::Punct(mark)
                    if mark.as_char() == ';' && mark.spacing() == Spacing::Alone =>
                {
                    item_is_test = false;
                }
                TokenTree::Ident(name) if FOR_DEVELOPERS.iter().any(|known| name == known) => {
                    let mark = |next: &TokenTree| matches!(next, TokenTree::Punct(mark) if mark.as_char() == '!');
                    let _ = tokens.next_if(mark);
                    if let Some(TokenTree::Group(group)) =
                        tokens.next_if(|next| matches!(next, TokenTree::Group(_)))
                    {
                        // Tests expect texts in there, too.
                        if is_test || item_is_test {
                            self.read(group.stream(), true);
                        }
                    }
                }
                TokenTree::Ident(name) if name == ERROR => {
                    // The path to a variant, such as `::Usage`.
                    let is_path = |next: &TokenTree| matches!(next, TokenTree::Punct(mark) if mark.as_char() == ':');
                    while tokens.next_if(is_path).is_some() {}
                    let _ = tokens.next_if(|next| matches!(next, TokenTree::Ident(_)));
                    if let Some(TokenTree::Group(group)) =
                        tokens.next_if(|next| matches!(next, TokenTree::Group(_)))
                    {
                        let before = std::mem::replace(&mut self.is_error, true);
                        self.read(group.stream(), is_test || item_is_test);
                        self.is_error = before;
                    }
                }
                TokenTree::Group(group) => {
                    self.read(group.stream(), is_test || item_is_test);
                    item_is_test &= group.delimiter() != Delimiter::Brace;
                }
                TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        let list = match (is_test || item_is_test, self.is_error) {
                            (true, _) => &mut self.of_tests,
                            (false, true) => &mut self.of_errors,
                            (false, false) => &mut self.others,
                        };
                        list.push((line, text.value()));
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads an attribute, and returns whether it makes its item a test. Comments count as tests, because of the
    /// examples in them.
    fn attribute(&mut self, group: &Group) -> bool {
        let text = group.stream().to_string();
        if text.starts_with("doc") {
            self.read(group.stream(), true);
        }
        text == "test" || text.starts_with("cfg (test") || text.starts_with("cfg(test")
    }
}
