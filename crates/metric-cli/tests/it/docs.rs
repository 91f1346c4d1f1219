//! Checks that README.md and docs/ show what the program prints.
//!
//! `cargo xtask docs` writes the outputs and the generated parts anew.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The commands that cannot run here, such as those of package managers and clusters: the number of blocks marked
/// `text` on each page.
const TEXT_BLOCKS: &[(&str, usize)] = &[
    ("README.md", 2),
    ("docs/guides/organizers.md", 1),
    ("docs/inputs.md", 1),
    ("docs/organizers.md", 3),
    ("docs/python.md", 1),
    ("docs/scale.md", 1),
];

/// The marks that a block may have. A block of commands is `console`, which runs, or `text`, which is counted; `bash`
/// is run by the tests of the Python package.
const KINDS: &[&str] = &[
    "bash", "console", "json", "python", "rust", "text", "toml", "yaml",
];

/// Runs the blocks of a page in one empty folder, in order, and compares what they print.
#[test]
#[cfg_attr(
    not(all(feature = "csv", feature = "report", feature = "transcripts")),
    ignore = "the documents read CSV and transcripts, and write reports"
)]
fn each_command_prints_what_is_shown() {
    let mut stale = Vec::new();
    let mut commands = 0;
    for page in pages() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut written = String::new();
        for part in parts(&page.text) {
            let Part::Block { kind, text, .. } = &part else {
                written.push_str(part.text());
                continue;
            };
            if kind != "console" {
                written.push_str(part.text());
                continue;
            }
            for session in sessions(text) {
                commands += 1;
                let output = run(&session.command, folder.path());
                if output.trim_end() != session.output.trim_end() {
                    stale.push(format!(
                        "{}: $ {}\nshown:\n{}\nprinted:\n{output}",
                        page.name, session.command, session.output
                    ));
                }
                let _ = writeln!(written, "$ {}", session.command);
                if !output.trim_end().is_empty() {
                    let _ = writeln!(written, "{}", output.trim_end());
                }
                written.push_str(session.gap());
            }
        }
        page.write_if_asked(&written);
    }
    if !pages().is_empty() {
        assert!(commands > 0, "no page has a command");
    }
    fail(&stale);
}

/// The generated parts are what the program lists and what `benches/RESULTS.md` says. Each metric has a page that lists
/// its scores and options, and that README.md links to.
#[test]
fn generated_parts_are_up_to_date() {
    let pages = pages();
    if pages.is_empty() {
        return;
    }
    let sources = Sources::read();
    let mut stale = Vec::new();
    for page in &pages {
        match regenerated(&page.text, &sources) {
            Err(error) => stale.push(format!("{}: {error}", page.name)),
            Ok(written) => {
                if written != page.text {
                    stale.push(format!("{}: a generated part is stale", page.name));
                }
                page.write_if_asked(&written);
            }
        }
    }
    let named = |name: &str| pages.iter().find(|page| page.name == name);
    let contains = |page: Option<&Page>, part: &str| page.is_some_and(|it| it.text.contains(part));
    for name in &sources.names() {
        let file = format!("docs/metrics/{name}.md");
        if !contains(named(&file), &start(&format!("metric list {name}"))) {
            stale.push(format!("{file}: no page that lists the options of {name}"));
        }
        if !contains(named("README.md"), &format!("({file})")) {
            stale.push(format!("README.md: no link to {file}"));
        }
    }
    fail(&stale);
}

/// Each page of a metric shows a command whose numbers can be checked.
#[test]
fn each_metric_and_guide_has_an_example_that_runs() {
    let shown = |page: &&Page| {
        page.name.starts_with("docs/metrics/") || page.name.starts_with("docs/guides/")
    };
    for page in pages().iter().filter(shown) {
        let runs = |part: &Part| matches!(part, Part::Block { kind, .. } if kind == "console");
        assert!(parts(&page.text).iter().any(runs), "{}", page.name);
    }
}

#[test]
fn blocks_that_do_not_run_are_counted() {
    let mut counts = BTreeMap::new();
    for page in pages() {
        for part in parts(&page.text) {
            let Part::Block { kind, line, .. } = part else {
                continue;
            };
            assert!(
                KINDS.contains(&&*kind),
                "{}:{line}: a block marked {kind:?}: expected one of {KINDS:?}",
                page.name
            );
            if kind == "text" {
                *counts.entry(page.name.clone()).or_insert(0) += 1;
            }
        }
    }
    let expected = TEXT_BLOCKS.iter();
    let expected: BTreeMap<_, _> = expected
        .map(|(name, count)| (name.to_string(), *count))
        .collect();
    if !pages().is_empty() {
        assert_eq!(counts, expected, "correct TEXT_BLOCKS");
    }
}

#[test]
fn links_lead_to_files() {
    let mut broken = Vec::new();
    for page in pages() {
        let folder = page.path.parent().expect("a folder");
        for (_, rest) in page
            .text
            .match_indices("](")
            .map(|at| page.text.split_at(at.0 + 2))
        {
            let link = rest.split([')', '#', ' ']).next().unwrap_or_default();
            if !link.is_empty() && !link.contains("://") && !folder.join(link).exists() {
                broken.push(format!("{}: {link}", page.name));
            }
        }
    }
    fail(&broken);
}

/// A page of the documentation.
struct Page {
    /// From the root of the repository.
    name: String,
    path: PathBuf,
    text: String,
}

impl Page {
    fn write_if_asked(&self, text: &str) {
        if is_writing() && self.text != text {
            std::fs::write(&self.path, text).expect("a written page");
        }
    }
}

fn is_writing() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// README.md and all pages below docs/; none where the crate is tested on its own.
fn pages() -> Vec<Page> {
    let root = root();
    if !root.join("docs").is_dir() {
        return Vec::new();
    }
    let mut paths = vec![root.join("README.md")];
    markdown_files(&root.join("docs"), &mut paths);
    let page = |path: PathBuf| Page {
        name: path
            .strip_prefix(&root)
            .expect("below the root")
            .display()
            .to_string(),
        text: std::fs::read_to_string(&path).expect("a page"),
        path,
    };
    paths.into_iter().map(page).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn markdown_files(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut entries: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            markdown_files(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

/// A page is prose and fenced blocks.
#[derive(Debug, PartialEq)]
enum Part {
    /// Prose, and the fences with it.
    Prose(String),
    /// The lines between two fences.
    Block {
        kind: String,
        line: usize,
        text: String,
    },
}

impl Part {
    fn text(&self) -> &str {
        match self {
            Self::Prose(text) | Self::Block { text, .. } => text,
        }
    }
}

fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut open: Option<(String, usize)> = None;
    for (index, line) in page.split_inclusive('\n').enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some((kind, start))) => {
                let text = std::mem::replace(&mut text, line.to_owned());
                let line = start;
                parts.push(Part::Block { kind, line, text });
            }
            (Some(kind), None) => {
                text.push_str(line);
                parts.push(Part::Prose(std::mem::take(&mut text)));
                open = Some((kind.trim().to_owned(), index + 1));
            }
            (None, fence) => {
                text.push_str(line);
                open = fence;
            }
        }
    }
    parts.push(Part::Prose(text));
    parts
}

/// A command and what it printed.
#[derive(Debug, PartialEq)]
struct Session {
    command: String,
    output: String,
}

impl Session {
    /// The empty lines before the next command.
    fn gap(&self) -> &str {
        let lines = self.output.len() - self.output.trim_end_matches('\n').len();
        let lines = if self.output.trim_end().is_empty() {
            lines
        } else {
            lines.saturating_sub(1)
        };
        &"\n\n\n"[..lines.min(3)]
    }
}

/// The commands of a block. A command goes on after a backslash at the end of a line, and to the end of a document
/// that starts with `<<'E'`.
fn sessions(block: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut lines = block.lines();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else {
            if let Some(session) = sessions.last_mut() {
                session.output.push_str(line);
                session.output.push('\n');
            }
            continue;
        };
        let mut command = command.to_owned();
        let is_document = command.ends_with("<<'E'");
        while is_document || command.ends_with('\\') {
            let Some(line) = lines.next() else { break };
            command.push('\n');
            command.push_str(line);
            if is_document && line == "E" {
                break;
            }
        }
        let output = String::new();
        sessions.push(Session { command, output });
    }
    sessions
}

/// The output of a command on both streams, as a terminal shows it.
fn run(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_metric"));
    let programs = program.parent().expect("a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", format!("{programs}:{path}"))
        .env("LC_ALL", "C.UTF-8")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output();
    let output = output.expect("a shell runs");
    String::from_utf8(output.stdout).expect("text")
}

const END: &str = "<!-- end of the generated part -->\n";

fn start(what: &str) -> String {
    format!("{START}{what}{START_END}")
}

const START: &str = "<!-- generated: ";
const START_END: &str = " -->\n";

/// The sources of generated parts.
struct Sources {
    /// The entries of `metric list`.
    metrics: Vec<Value>,
    /// The rows of `benches/RESULTS.md`, as their cells.
    results: Vec<Vec<String>>,
}

impl Sources {
    fn read() -> Self {
        let list = run("metric list --format json", Path::new("."));
        let list: Value = serde_json::from_str(&list).expect("the list of metrics");
        let results = root().join("benches/RESULTS.md");
        let results = std::fs::read_to_string(results).expect("the results of the benchmarks");
        let rows = results.lines().filter(|line| line.starts_with('|'));
        let cells = |row: &str| row.split('|').map(|cell| cell.trim().to_owned()).collect();
        Self {
            metrics: list["metrics"].as_array().cloned().unwrap_or_default(),
            results: rows.map(cells).collect(),
        }
    }

    fn names(&self) -> Vec<&str> {
        self.metrics
            .iter()
            .map(|metric| text(metric, "name"))
            .collect()
    }

    /// Returns the generated part of this name.
    fn part(&self, what: &str) -> Result<String, String> {
        let part = if what == "metrics" {
            Some(table_of(&self.metrics))
        } else if let Some(name) = what.strip_prefix("metric list ") {
            let metric = self
                .metrics
                .iter()
                .find(|metric| text(metric, "name") == name);
            metric.map(scores_and_options)
        } else {
            what.strip_prefix("speed ")
                .and_then(|path| speed(path, &self.results))
        };
        part.ok_or_else(|| format!("cannot generate {what:?}"))
    }
}

/// The page with all of its generated parts anew.
fn regenerated(page: &str, sources: &Sources) -> Result<String, String> {
    let mut written = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(START) {
        let (what, after) = after.split_once(START_END).ok_or("a mark does not end")?;
        let (_, after) = after
            .split_once(END)
            .ok_or_else(|| format!("no {END:?} after {what:?}"))?;
        written.push_str(before);
        written.push_str(&start(what));
        written.push_str(&sources.part(what)?);
        written.push_str(END);
        rest = after;
    }
    written.push_str(rest);
    Ok(written)
}

/// The comparisons with other programs on one thread whose names start like this.
fn speed(path: &str, results: &[Vec<String>]) -> Option<String> {
    let mut table =
        "\n| input | program | time | memory | `metric` is faster |\n|---|---|---|---|---|\n"
            .to_owned();
    let mut found = false;
    // Rows follow the row of headings of their table.
    let mut headings: &[String] = &[];
    for row in results {
        if row.iter().any(|cell| cell == "comparison") {
            headings = row;
        }
        let cell = |heading: &str| {
            let column = headings.iter().position(|cell| cell == heading)?;
            Some(row.get(column)?.as_str())
        };
        let input = cell("comparison")?;
        if input.starts_with(path) && cell("threads")? == "1" {
            found = true;
            let [program, wall, peak] = [cell("program")?, cell("wall")?, cell("peak")?];
            let times = match cell("x wall")? {
                "" => String::new(),
                times => format!("{times} times"),
            };
            let _ = writeln!(
                table,
                "| `{input}` | {program} | {wall} | {peak} | {times} |"
            );
        }
    }
    found.then(|| table + "\n")
}

/// A row for each metric, which links to its page.
fn table_of(metrics: &[Value]) -> String {
    let mut table =
        "\n| metric | answers the question | numbers as in |\n|---|---|---|\n".to_owned();
    for metric in metrics {
        let [name, question, programs] =
            ["name", "question", "programs"].map(|it| text(metric, it));
        let _ = writeln!(
            table,
            "| [`{name}`](docs/metrics/{name}.md) | {question} | {programs} |"
        );
    }
    table + "\n"
}

/// The output of `metric list NAME`, as Markdown.
fn scores_and_options(metric: &Value) -> String {
    let values = ["reference", "prediction"].map(|side| cell(text(metric, side)));
    let [reference, prediction] = values;
    let mut page = format!("\n**Reference**: {reference}\n\n**Prediction**: {prediction}\n\n");
    page.push_str("| score | better |\n|---|---|\n");
    for score in metric["scores"].as_array().into_iter().flatten() {
        let better = score["direction"].as_str().unwrap_or("");
        let _ = writeln!(page, "| `{}` | {better} |", text(score, "name"));
    }
    let options = metric["options"].as_array().expect("options");
    if !options.is_empty() {
        page.push_str("\n| option | meaning | default |\n|---|---|---|\n");
    }
    for option in options {
        let choices: Vec<&str> = option["choices"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let value = if choices.is_empty() {
            text(option, "value").to_owned()
        } else {
            choices.join("|")
        };
        let name = format!("--{} {value}", text(option, "name"));
        let name = name.trim_end().replace('|', "\\|");
        let default = option["default"].as_str().unwrap_or("");
        let default = if default.is_empty() {
            String::new()
        } else {
            format!("`{default}`")
        };
        let _ = writeln!(
            page,
            "| `{name}` | {} | {default} |",
            cell(text(option, "help"))
        );
    }
    page.push('\n');
    page
}

/// Text that Markdown shows as it is.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for letter in text.chars() {
        if "|<>[]*_`".contains(letter) {
            cell.push('\\');
        }
        cell.push(letter);
    }
    cell
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

#[track_caller]
fn fail(stale: &[String]) {
    if !is_writing() {
        assert!(
            stale.is_empty(),
            "\n{}\n\n`cargo xtask docs` writes outputs and generated parts",
            stale.join("\n\n")
        );
    }
}

#[test]
fn a_page_is_its_parts() {
    let page = "# A\n\n```console\n$ a\nb\n```\n\nMore.\n\n```json\n{}\n```\n";
    let parts = parts(page);
    assert_eq!(parts.iter().map(Part::text).collect::<String>(), page);
    let block = |part: &Part| match part {
        Part::Block { kind, line, text } => Some((kind.clone(), *line, text.clone())),
        Part::Prose(_) => None,
    };
    let blocks: Vec<_> = parts.iter().filter_map(block).collect();
    let expected = [("console", 3, "$ a\nb\n"), ("json", 10, "{}\n")];
    assert_eq!(
        blocks,
        expected.map(|(kind, line, text)| (kind.to_owned(), line, text.to_owned()))
    );
}

#[test]
fn commands_go_on_after_backslashes_and_in_documents() {
    let block = "$ cat > f <<'E'\n$ no command\nE\n$ a \\\n    b\nout\n\n$ c\n";
    let expected = [
        ("cat > f <<'E'\n$ no command\nE", ""),
        ("a \\\n    b", "out\n\n"),
        ("c", ""),
    ];
    let expected = expected.map(|(command, output)| Session {
        command: command.to_owned(),
        output: output.to_owned(),
    });
    assert_eq!(sessions(block), expected);
}

#[test]
fn generated_parts_are_between_their_marks() {
    let row = |cells: &str| cells.split('|').map(str::to_owned).collect();
    let metric = serde_json::json!({
        "name": "wer",
        "question": "How many?",
        "programs": "jiwer",
        "reference": "a|b",
        "scores": [{"name": "wer", "direction": "lower"}],
        "options": [{"name": "k", "value": "K", "choices": ["a", "b"], "help": "A *k*", "default": "a"}],
    });
    let sources = Sources {
        metrics: vec![metric],
        results: vec![
            row("|comparison|threads|program|wall|read|peak|x wall|"),
            row("|---|---|---|---|---|---|---|"),
            row("|text/wer/1|1|ours|1 s|7 ms|9 MB||"),
            row("|text/wer/1|1|theirs|2 s||18 MB|2.0|"),
            row("|text/wer/1|2|ours|1 s|7 ms|9 MB||"),
            row("|text/cer/1|1|ours|1 s|7 ms|9 MB||"),
        ],
    };
    let (list, speed) = (start("metric list wer"), start("speed text/wer"));
    let all = start("metrics");
    let page = format!("{all}{END}a\n{list}old\n{END}b\n{speed}{END}c\n");
    let written = regenerated(&page, &sources).expect("parts");
    let expected = [
        "| [`wer`](docs/metrics/wer.md) | How many? | jiwer |\n\n<!-- end",
        "**Reference**: a\\|b\n",
        "| `wer` | lower |\n",
        "| `--k a\\|b` | A \\*k\\* | `a` |\n\n",
        "b\n<!-- generated: speed text/wer -->\n",
        "| `text/wer/1` | ours | 1 s | 9 MB |  |\n| `text/wer/1` | theirs | 2 s | 18 MB | 2.0 times |\n\n<!-- end",
    ];
    for part in expected {
        assert!(written.contains(part), "{part} is not in\n{written}");
    }
    assert_eq!(regenerated(&written, &sources), Ok(written));

    for part in ["metric list cer", "speed text/anls", "more"] {
        let page = format!("{}{END}", start(part));
        assert_eq!(
            regenerated(&page, &sources),
            Err(format!("cannot generate {part:?}"))
        );
    }
    assert!(regenerated(&start("metric list wer"), &sources).is_err());
}
