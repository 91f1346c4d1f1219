//! Traps: inputs and options that looked fine and gave a wrong or meaningless score, or took all time or
//! memory. Each is run, and `tests/TRAPS.md` is written from them.

mod rows;

use std::fs;
use std::path::Path;

use crate::common::Folder;
use rows::TRAPS;

/// A file by name, and what writes it.
type TrapFile = (&'static str, fn() -> String);

/// An input or an option that misleads.
struct Trap {
    name: &'static str,
    /// The mistake, in a sentence.
    before: &'static str,
    /// The behavior now, in a sentence.
    now: &'static str,
    /// The files of the folder that the program runs in, made by a function where they are long.
    files: &'static [TrapFile],
    /// The words after `metric`.
    run: &'static str,
    code: i32,
    /// The text on standard error; if empty, there is no warning.
    says: &'static [&'static str],
}

#[test]
fn each_trap_is_closed() {
    let mut failed = Vec::new();
    for trap in TRAPS {
        let folder = Folder::new(&[]);
        for (name, text) in trap.files {
            if let Some(parent) = Path::new(name).parent() {
                fs::create_dir_all(folder.path("").join(parent)).expect("a folder");
            }
            folder.put(name, text().as_bytes());
        }
        let run = folder.run(trap.run);
        let says_all = trap.says.iter().all(|part| run.stderr.contains(part));
        let is_silent = !trap.says.is_empty() || run.stderr.is_empty();
        if run.code != Some(trap.code) || !says_all || !is_silent {
            failed.push(format!(
                "{}: exit code {:?}, expected {}\n{}expected {:?}",
                trap.name, run.code, trap.code, run.stderr, trap.says
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// With `UPDATE_TRAPS=1`, the page is written.
#[test]
fn the_page_lists_each_trap() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/TRAPS.md");
    let folder = page.parent().expect("a folder");
    if !folder.is_dir() {
        // The crate is tested on its own.
        return;
    }
    let mut text = "\
# Traps

Inputs and options that looked fine and gave a wrong or meaningless score, or took all time or memory, and
what happens now. The rows are those of `crates/metric-cli/tests/traps`, which run each of them;
`UPDATE_TRAPS=1 cargo test -p metric-cli --test it traps` writes this page.

| trap | what happened | what happens now | exit code |
|---|---|---|---|
"
    .to_owned();
    for Trap {
        name,
        before,
        now,
        code,
        ..
    } in TRAPS
    {
        let cell = |text: &str| text.replace('|', "\\|");
        let (name, before, now) = (cell(name), cell(before), cell(now));
        text.push_str(&format!("| {name} | {before} | {now} | {code} |\n"));
    }
    if std::env::var_os("UPDATE_TRAPS").is_some() {
        fs::write(&page, &text).expect("a written file");
    }
    let written = fs::read_to_string(&page).unwrap_or_default();
    assert_eq!(written, text, "run with UPDATE_TRAPS=1 to write the page");
}

/// 30 million lines would cost a second; what must not grow with them is memory, which a test of a smaller
/// file with a small limit shows.
#[test]
fn surplus_lines_are_counted_and_not_kept() {
    let folder = Folder::new(&[("r.txt", "a\nb\n")]);
    folder.put("p.txt", "a\n".repeat(200_000).as_bytes());
    let words = "score string-accuracy -r r.txt -p p.txt --max-bytes 100kB";
    for threads in [1, 2] {
        folder.run(&format!("{words} --threads {threads}")).fails(
            3,
            &["199998 predictions of p.txt: lines 3, 4, 5, 6, 7, ..."],
        );
    }
    let scored = folder.run(&format!("{words} --extra ignore --format json"));
    assert_eq!(scored.json()["scores"]["string_accuracy"], 0.5);
}

/// An id that is everywhere is counted, and the first few lines are named.
#[test]
fn copies_of_an_id_are_counted_and_not_kept() {
    let folder = Folder::new(&[("r.jsonl", "{\"id\": 1, \"reference\": \"a\"}\n")]);
    let copies = "{\"id\": 1, \"prediction\": \"a\"}\n".repeat(100_000);
    folder.put("p.jsonl", copies.as_bytes());
    let words = "score string-accuracy -r r.jsonl --max-bytes 1MB";
    let says = ["p.jsonl: duplicate id \"1\" (lines 1, 2, 3, 4, 5)"];
    folder.run(&format!("{words} -p p.jsonl")).fails(3, &says);
    let says = ["standard input: duplicate id \"1\" (lines 1, 2, 3, 4, 5)"];
    folder
        .run_with_input(&format!("{words} -p -"), &copies)
        .fails(3, &says);
}

/// The limit is met at the same record on any number of threads.
#[test]
fn records_that_wait_are_bounded() {
    let record = |side: &str, id: usize| format!("{{\"id\": {id}, \"{side}\": \"some text\"}}\n");
    let references: String = (0..20_000).map(|id| record("reference", id)).collect();
    let predictions: String = (0..20_000)
        .rev()
        .map(|id| record("prediction", id))
        .collect();
    let folder = Folder::new(&[("r.jsonl", &references), ("p.jsonl", &predictions)]);
    let words = "score string-accuracy -r r.jsonl -p p.jsonl";
    for threads in [1, 2, 5] {
        let limited = format!("{words} --threads {threads} --max-bytes 1MB");
        folder
            .run(&limited)
            .fails(5, &["p.jsonl: ", "--max-bytes 1000000"]);
        folder
            .run(&format!("{words} --threads {threads} --max-bytes 20MB"))
            .code(0);
    }
}

/// Scores that need all rows in order keep them; 20,000 rows of one number of 64 bits are 160 kB, and two are 320 kB.
#[test]
fn rows_that_are_kept_are_bounded() {
    let lines = |step: usize| -> String {
        (0..20_000)
            .map(|row| format!("{},0.{:05}\n", row % 2, row * step))
            .collect()
    };
    let pairs = format!("reference,prediction\n{}", lines(3));
    let folder = Folder::new(&[("pairs.csv", &pairs)]);
    for (metric, kilobytes) in [("classification-scores", 160), ("rank-correlation", 320)] {
        for threads in [1, 2] {
            let words = format!(
                "score {metric} --pairs pairs.csv --id-field #row --threads {threads} --max-bytes"
            );
            let message =
                "pairs.csv: the list of all rows, which the metric sorts, takes more memory";
            folder
                .run(&format!("{words} {}kB", kilobytes - 1))
                .fails(5, &[message]);
            folder.run(&format!("{words} {kilobytes}kB")).code(0);
        }
    }
}

/// Paths need not be UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn paths_that_are_not_utf8_are_read() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new(&[]);
    let name = |bytes: &[u8]| folder.path("").join(OsStr::from_bytes(bytes));
    let (references, predictions) = (name(b"r\xff.txt"), name(b"p\xfe.txt"));
    fs::write(&references, "a\nb\n").expect("a file");
    fs::write(&predictions, "a\nc\n").expect("a file");
    let mut command = folder.command("score string-accuracy --format json -r");
    command.arg(&references).arg("-p").arg(&predictions);
    let output = command.output().expect("the program runs");
    let scored = crate::common::Run::new("score", output).json();
    assert_eq!(scored["scores"]["string_accuracy"], 0.5);
}

/// Two links that lead to each other, as input and as output.
#[cfg(unix)]
#[test]
fn links_that_lead_to_each_other_end() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new(&[("r.txt", "a\n"), ("p.txt", "a\n")]);
    symlink(folder.path("two.txt"), folder.path("one.txt")).expect("a link");
    symlink(folder.path("one.txt"), folder.path("two.txt")).expect("a link");
    folder
        .run("score string-accuracy -r one.txt -p p.txt")
        .fails(3, &["one.txt: cannot open: "]);
    folder
        .run("score string-accuracy -r r.txt -p p.txt --per-sample one.txt")
        .code(0);
}

/// The shell may open a file as standard input, and name it so.
#[cfg(target_os = "linux")]
#[test]
fn open_files_are_read_by_their_number() {
    let folder = Folder::new(&[("r.jsonl", "{\"id\": 1, \"reference\": \"a\"}\n")]);
    let input = folder.put("p", b"{\"id\": 1, \"prediction\": \"a\"}\n");
    let words = "score string-accuracy -r r.jsonl --format json -p";
    for name in ["/dev/fd/0", "/dev/stdin", "-"] {
        let mut command = folder.command(&format!("{words} {name}"));
        command.stdin(fs::File::open(&input).expect("a file"));
        let output = command.output().expect("the program runs");
        let scored = crate::common::Run::new(name, output).json();
        assert_eq!(scored["scores"]["string_accuracy"], 1.0, "{name}");
    }
}

/// A folder where a picture should go: no other picture is written.
#[test]
fn pictures_are_written_all_or_none() {
    let record = |side: &str, id: &str| format!("{{\"id\": \"{id}\", \"{side}\": [[1]]}}\n");
    let both = |side: &str| record(side, "a") + &record(side, "b");
    let (references, predictions) = (both("reference"), both("prediction"));
    let folder = Folder::new(&[("r.jsonl", &references), ("p.jsonl", &predictions)]);
    fs::create_dir_all(folder.path("drawn/b.svg")).expect("a folder");
    folder
        .run("score arc -r r.jsonl -p p.jsonl --svg drawn")
        .fails(2, &["b.svg: cannot create: the name is that of a folder"]);
    let left = |folder: &Folder| {
        let files = fs::read_dir(folder.path("drawn")).expect("a folder");
        let names = files.map(|file| file.expect("a file").file_name());
        // The charts of all examples are there as well.
        let of_examples = names.filter(|name| !name.to_string_lossy().starts_with("chart."));
        of_examples.count()
    };
    assert_eq!(left(&folder), 1);
    fs::remove_dir(folder.path("drawn/b.svg")).expect("a folder");
    folder
        .run("score arc -r r.jsonl -p p.jsonl --svg drawn")
        .code(0);
    assert_eq!(left(&folder), 2);
}
