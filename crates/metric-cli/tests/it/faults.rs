//! Failures around the program: full disks, closed pipes, signals, files that change, are
//! unreadable or huge, and many runs at a time. The exit code is right, the message says what and
//! where, no partial file has a name that was asked for, and memory is bounded.

#![cfg(unix)]

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_metric");
const R: &str = "score string-accuracy --references r.jsonl --predictions p.jsonl";
/// The user `nobody`, and the group of that number.
const NOBODY: u32 = 65534;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("a written file");
        }
        Self(folder)
    }

    /// As many references and predictions, all right.
    fn of_records(count: usize) -> Self {
        Self::new(&[
            ("r.jsonl", &records("reference", count)),
            ("p.jsonl", &records("prediction", count)),
        ])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text file")
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(words.split_whitespace())
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &str) -> Run {
        Run::new(self.command(words).output().expect("the program runs"))
    }

    /// Starts the program, with pipes to and from it; the first is its standard input.
    fn start(&self, words: &str) -> (Child, ChildStdin) {
        let mut command = self.command(words);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let input = child.stdin.take().expect("a pipe");
        (child, input)
    }

    /// Runs the program in a shell that first does `setup`, such as to set a limit.
    fn run_after(&self, setup: &str, words: &str) -> Run {
        let script = format!("{setup}; exec \"$0\" {words}");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script, PROGRAM])
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        Run::new(shell.output().expect("a shell"))
    }

    /// The names in the folder, without those of files that are not whole.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| !is_partial(name))
            .collect();
        names.sort();
        names
    }
}

impl Folder {
    /// The incomplete files that have not been removed.
    fn partial_paths(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let is_partial = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            is_partial(&name.to_string_lossy())
        };
        paths.filter(is_partial).collect()
    }
}

/// A name that nobody confuses with that of a result.
fn is_partial(name: &str) -> bool {
    name.starts_with(".metric-") && name.ends_with(".partial")
}

fn records(field: &str, count: usize) -> String {
    let line = |id| format!("{{\"id\": \"example-{id}\", \"{field}\": \"some text\"}}\n");
    (0..count).map(line).collect()
}

struct Run(Output);

impl Run {
    /// A run that ended by itself and did not panic.
    #[track_caller]
    fn new(output: Output) -> Self {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code().is_some(),
            "{}: {errors}",
            output.status
        );
        assert!(!errors.contains("panicked"), "{errors}");
        Self(output)
    }

    #[track_caller]
    fn code(self, code: i32) -> Self {
        let errors = String::from_utf8_lossy(&self.0.stderr);
        assert_eq!(self.0.status.code(), Some(code), "{errors}");
        self
    }

    /// No result, this exit code, and a message of a few lines that says all of this.
    #[track_caller]
    fn fails(self, code: i32, says: &[&str]) {
        let output = self.code(code).0;
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.stdout.is_empty(), "{errors}");
        assert!(errors.len() < 5000, "{} bytes", errors.len());
        for part in says {
            assert!(errors.contains(part), "{part:?} is not in {errors}");
        }
    }
}

/// A device on which every write fails as on a full disk, where there is one.
fn full() -> Option<File> {
    let file = File::options().write(true).open("/dev/full").ok();
    if file.is_none() {
        eprintln!("there is no /dev/full: a full disk is not tried");
    }
    file
}

/// Memory for the program and little more, in KiB; threads want some each.
const LITTLE_MEMORY: &str = "ulimit -v 1000000";

#[test]
fn a_full_disk_under_the_standard_streams_changes_no_exit_code() {
    let folder = Folder::of_records(3);
    let wrong = Folder::new(&[("r.jsonl", "{"), ("p.jsonl", "")]);
    let cases = [
        (&folder, "list".to_owned(), 0),
        (&folder, R.to_owned(), 0),
        (&folder, format!("{R} --fail-under string_accuracy=2"), 1),
        (&folder, format!("{R} --fail-under accuracy=1"), 2),
        (&folder, "score nothing".to_owned(), 2),
        (&wrong, R.to_owned(), 3),
        (&folder, format!("{R} --per-sample /dev/full"), 4),
    ];
    for (folder, words, code) in &cases {
        let Some(errors) = full() else { return };
        let status = folder
            .command(words)
            .stdout(Stdio::null())
            .stderr(errors)
            .status()
            .expect("the program runs");
        assert_eq!(status.code(), Some(*code), "metric {words}");
    }
    for words in [R, "list", "--help", "score coco --help"] {
        let Some(output) = full() else { return };
        let mut command = folder.command(words);
        let status = command.stdout(output).stderr(Stdio::null()).status();
        assert_eq!(
            status.expect("the program runs").code(),
            Some(4),
            "metric {words}"
        );
    }
}

#[test]
fn a_closed_pipe_ends_the_program_without_a_word() {
    let folder = Folder::of_records(3);
    let words = [
        R.to_owned(),
        format!("{R} --per-sample /dev/stdout"),
        "list".to_owned(),
    ];
    for words in &words {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = folder.command(words).stdout(writer).output();
        let output = output.expect("the program runs");
        assert_eq!(output.status.code(), Some(0), "metric {words}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "",
            "metric {words}"
        );
    }
    // The pipe of messages: the exit code alone says what happened.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = folder.command("score nothing").stderr(writer).status();
    assert_eq!(status.expect("the program runs").code(), Some(2));
}

/// A file that was asked for is a failure if it cannot be written, and never the end without a word.
#[test]
fn a_reader_who_leaves_early_fails_the_file_and_not_the_gate() {
    let folder = Folder::of_records(20_000);
    let gate = "--fail-under string_accuracy=2";
    let reader = "mkfifo pipe; (head -c 1 pipe > /dev/null 2>&1 &)";
    folder
        .run_after(reader, &format!("{R} --per-sample pipe {gate}"))
        .fails(4, &["pipe: cannot write: Broken pipe"]);
    for option in ["--per-sample", "--details"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let words = format!("score classification -r r.jsonl -p p.jsonl {option} /dev/stderr");
        let output = folder.command(&words).stderr(writer).output();
        let output = output.expect("the program runs");
        assert_eq!(output.status.code(), Some(4), "metric {words}");
        assert!(output.stdout.is_empty(), "metric {words}");
    }
    // Standard output carries the result, which nobody has to read.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let words = format!("{R} --per-sample /dev/stdout {gate}");
    let output = folder.command(&words).stdout(writer).output();
    Run::new(output.expect("the program runs"))
        .fails(1, &["threshold check failed: string_accuracy"]);
}

#[test]
fn closed_streams_are_empty() {
    let folder = Folder::of_records(3);
    let words = "score string-accuracy --references - --predictions p.jsonl";
    folder
        .run_after("exec <&-", words)
        .fails(3, &["standard input"]);
    folder.run_after("exec <&-", R).code(0);
    folder.run_after("exec 2>&-", "score nothing").code(2);
    folder.run_after("exec <&- >&- 2>&-", R).code(0);
}

/// A limit on the size of a file is a disk that becomes full in the middle of one.
#[test]
fn a_disk_that_becomes_full_leaves_no_partial_file() {
    let folder = Folder::of_records(2000);
    // A block has 512 or 1024 bytes, and the samples more than 100000. The signal that a limit sends
    // as well is what a disk does not send.
    let disk = "trap '' XFSZ; ulimit -f 20";
    fs::write(folder.path("old.jsonl"), "old\n").expect("a file");
    for name in ["new.jsonl", "old.jsonl"] {
        folder
            .run_after(disk, &format!("{R} --per-sample {name}"))
            .fails(4, &[name, "cannot write"]);
    }
    assert_eq!(folder.names(), ["old.jsonl", "p.jsonl", "r.jsonl"]);
    assert_eq!(folder.text("old.jsonl"), "old\n");
    let left = fs::read_dir(folder.0.path()).expect("a folder").count();
    assert_eq!(left, 3, "a temporary file is left");
    // Where the signal is not ignored the program ends at once; what is left has no such name.
    let script = format!("ulimit -f 20; exec \"$0\" {R} --per-sample new.jsonl");
    let mut shell = Command::new("sh");
    let status = shell
        .args(["-c", &script, PROGRAM])
        .current_dir(folder.0.path())
        .stderr(Stdio::null())
        .status();
    assert!(!status.expect("a shell").success());
    assert_eq!(folder.names(), ["old.jsonl", "p.jsonl", "r.jsonl"]);
    assert_eq!(folder.text("old.jsonl"), "old\n");

    // Pictures: 30 x 30 cells need more than the limit, 1 x 1 less.
    let grid = |side: usize| format!("[{}]", vec![format!("{:?}", vec![1; side]); side].join(","));
    let pair = |id, side| {
        let grid = grid(side);
        format!("{{\"id\": \"{id}\", \"reference\": {grid}, \"prediction\": {grid}}}\n")
    };
    let pairs = [pair("small", 1), pair("large", 30)].concat();
    fs::write(folder.path("pairs.jsonl"), pairs).expect("a file");
    let words = "score arc --pairs pairs.jsonl --threads 1 --svg drawn";
    folder
        .run_after(disk, words)
        .fails(4, &["large.svg", "cannot write"]);
    let drawn = fs::read_dir(folder.path("drawn")).expect("a folder");
    for entry in drawn {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a picture");
        assert!(text.trim_end().ends_with("</svg>"), "{}", path.display());
        assert_eq!(path.file_name(), Some("small.svg".as_ref()));
    }

    // Details.
    let words = "score classification -r r.jsonl -p p.jsonl --details details.json";
    folder
        .run_after("trap '' XFSZ; ulimit -f 0", words)
        .fails(4, &["details.json", "cannot"]);
    assert!(!folder.path("details.json").exists());
}

#[test]
#[cfg_attr(not(feature = "report"), ignore = "writes reports or charts")]
fn reports_and_charts_are_whole_or_not_there() {
    let folder = Folder::of_records(50);
    // The style sheet alone is larger.
    let disk = "trap '' XFSZ; ulimit -f 8";
    fs::write(folder.path("old.html"), "old\n").expect("a file");
    for name in ["new.html", "old.html"] {
        folder
            .run_after(disk, &format!("{R} --report {name}"))
            .fails(4, &[name, "cannot write"]);
    }
    folder
        .run_after(disk, &format!("{R} --report out/"))
        .fails(4, &["out/", "cannot write"]);
    folder
        .run_after("trap '' XFSZ; ulimit -f 1", &format!("{R} --svg charts"))
        .fails(4, &["charts/chart.", "cannot write"]);
    let expected = ["charts", "old.html", "out", "p.jsonl", "r.jsonl"];
    assert_eq!(folder.names(), expected);
    assert_eq!(folder.text("old.html"), "old\n");
    for name in ["charts", "out"] {
        let files = fs::read_dir(folder.path(name)).expect("a folder").count();
        assert_eq!(files, 0, "{name}");
    }
    if Path::new("/dev/full").exists() {
        folder
            .run_after("exec >/dev/full", &format!("{R} --report -"))
            .code(4);
    }

    // Obstacles are found before the work, and data that cannot be read are not opened.
    fs::create_dir(folder.path("taken.html")).expect("a folder");
    fs::write(folder.path("bad.jsonl"), "{").expect("a file");
    let words = "score string-accuracy -r r.jsonl -p bad.jsonl";
    for path in [
        "taken.html",
        "old.html/",
        "missing/r.html",
        "old.html/r.html",
    ] {
        folder
            .run(&format!("{words} --report {path}"))
            .fails(2, &["cannot create"]);
    }
    fs::create_dir_all(folder.path("site/index.html")).expect("a folder");
    folder
        .run(&format!("{R} --report site/"))
        .fails(2, &["index.html", "that of a folder"]);
    fs::create_dir(folder.path("locked")).expect("a folder");
    let rights = Permissions::from_mode(0o555);
    fs::set_permissions(folder.path("locked"), rights).expect("rights");
    for output in [
        "--report locked/r.html",
        "--report locked/out/",
        "--svg locked/charts",
    ] {
        without_rights(&folder, &format!("{words} {output}"))
            .fails(2, &["locked/", "cannot create: Permission denied"]);
    }
}

#[test]
fn samples_of_the_demo_are_saved_whole_or_not_at_all() {
    let folder = Folder::new(&[("file", "old")]);
    folder
        .run_after("trap '' XFSZ; ulimit -f 1", "demo --save saved")
        .fails(4, &["saved/", "cannot write"]);
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    let saved = || fs::read_dir(folder.path("saved")).expect("a folder");
    let written = saved().count();
    for entry in saved() {
        let entry = entry.expect("an entry");
        let whole = fs::read(demo.join(entry.file_name())).expect("a sample of this name");
        assert_eq!(fs::read(entry.path()).expect("a file"), whole);
    }
    // Existing files are not an obstacle, nor is the lack of another place to write to.
    folder
        .run_after("export TMPDIR=/nowhere", "demo --save saved")
        .code(0);
    assert!(saved().count() > written);
    fs::write(folder.path("saved/words.txt"), "mine").expect("a file");
    folder
        .run("demo --save saved")
        .fails(2, &["saved/words.txt: exists"]);
    assert_eq!(folder.text("saved/words.txt"), "mine");
    folder
        .run("demo --save file")
        .fails(2, &["file: cannot create: it is a file"]);
    assert_eq!(folder.text("file"), "old");
}

/// The records are invalid: the message about the output comes before they are read.
#[test]
fn outputs_that_cannot_be_are_refused_before_the_work() {
    let folder = Folder::new(&[("r.jsonl", "{"), ("p.jsonl", "{"), ("file", "")]);
    fs::create_dir(folder.path("folder")).expect("a folder");
    for (output, says) in [
        (
            "--per-sample new/",
            "new/: cannot create: the name is that of a folder",
        ),
        (
            "--details new/.",
            "new/.: cannot create: the name is that of a folder",
        ),
        (
            "--details folder",
            "folder: cannot create: the name is that of a folder",
        ),
        (
            "--per-sample file/",
            "file/: cannot create: the name is that of a folder",
        ),
        ("--per-sample new/s.jsonl", "new/s.jsonl: cannot create: "),
    ] {
        folder
            .run(&format!(
                "score classification -r r.jsonl -p p.jsonl {output}"
            ))
            .fails(2, &[says]);
    }
    for (output, says) in [
        ("file", "file: cannot create: it is a file"),
        ("file/drawn", "file/drawn: cannot create: Not a directory"),
    ] {
        folder
            .run(&format!("score arc -r r.jsonl -p p.jsonl --svg {output}"))
            .fails(2, &[says]);
    }
    assert_eq!(folder.names(), ["file", "folder", "p.jsonl", "r.jsonl"]);
}

/// Reads until the program has begun: it has made the file that will get the name at the end.
fn wait_for_partial(folder: &Folder, child: &mut Child) {
    loop {
        let entries = fs::read_dir(folder.0.path()).expect("a folder");
        let mut names = entries.map(|entry| entry.expect("an entry").file_name());
        if names.any(|name| is_partial(&name.to_string_lossy())) {
            return;
        }
        let ended = child.try_wait().expect("a process");
        assert!(ended.is_none(), "the program has ended: {ended:?}");
        std::thread::yield_now();
    }
}

/// Whether children of this process ignore a signal, as those of `nohup` ignore SIGHUP, and jobs that a
/// script puts in the background SIGINT. Where the system does not say so, they do not.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[test]
fn an_interrupted_run_leaves_what_was_there() {
    let folder = Folder::of_records(3000);
    fs::write(folder.path("details.json"), "old\n").expect("a file");
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("KILL", 9)] {
        if is_ignored(number) {
            eprintln!("these tests were started so that they and their children ignore SIG{name}");
            continue;
        }
        let words = "score classification --references - --predictions p.jsonl \
                     --per-sample samples.jsonl --details details.json";
        let (mut child, mut input) = folder.start(words);
        // More than a pipe holds, so that records have been read; and the pipe stays open.
        let half = records("reference", 2500);
        input.write_all(half.as_bytes()).expect("a reader");
        wait_for_partial(&folder, &mut child);
        let kill = Command::new("kill")
            .args([format!("-{name}"), child.id().to_string()])
            .status();
        assert!(kill.expect("a signal is sent").success());
        let status = child.wait().expect("the program ends");
        assert!(
            status.signal() == Some(number) || status.code() == Some(128 + number),
            "{status}"
        );
        let mut output = String::new();
        child
            .stdout
            .take()
            .expect("a pipe")
            .read_to_string(&mut output)
            .expect("text");
        assert_eq!(output, "");
        drop(input);
        // Nobody hears of a kill before it ends the program.
        let left = folder.partial_paths();
        assert!(
            left.is_empty() || name == "KILL",
            "SIG{name} leaves {left:?}"
        );
        for path in left {
            fs::remove_file(path).expect("a file");
        }
        assert_eq!(folder.names(), ["details.json", "p.jsonl", "r.jsonl"]);
        assert_eq!(folder.text("details.json"), "old\n");
    }
}

/// The references lose their second half, at the end of a line, after the program has opened them.
#[test]
fn a_file_that_is_cut_short_while_it_is_read_is_no_whole_one() {
    const COUNT: usize = 20_000;
    let words = "score string-accuracy --references r.jsonl --predictions - --threads 1 \
                 --extra ignore --per-sample samples.jsonl";
    for rest in ["", "{\"id\": \"exam"] {
        let folder = Folder::of_records(COUNT);
        let (child, mut input) = folder.start(words);
        let predictions = records("prediction", COUNT);
        // More than a pipe and a buffer hold: the program has begun to read both sides.
        let (first, second) = predictions.split_at(200_000);
        input.write_all(first.as_bytes()).expect("a reader");
        let file = File::options()
            .write(true)
            .open(folder.path("r.jsonl"))
            .expect("a file");
        let half = records("reference", COUNT / 2);
        file.set_len((half.len() + rest.len()) as u64)
            .expect("a shorter file");
        // It may have stopped reading already.
        let _ = input.write_all(second.as_bytes());
        drop(input);
        let output = child.wait_with_output().expect("the program ends");
        Run::new(output).fails(3, &["r.jsonl", "became shorter while it was read"]);
        assert_eq!(folder.names(), ["p.jsonl", "r.jsonl"]);
    }
}

/// The references have an id twice, which is looked up in the file once all is read; by then another file has its name.
#[test]
fn a_file_that_is_replaced_while_it_is_read_hides_no_duplicate() {
    const COUNT: usize = 20_000;
    let folder = Folder::of_records(COUNT);
    let again = "{\"id\": \"example-0\", \"reference\": \"some text\"}\n";
    let twice = records("reference", COUNT) + again;
    fs::write(folder.path("r.jsonl"), twice).expect("a file");
    fs::write(folder.path("other.jsonl"), records("reference", COUNT)).expect("a file");
    let (child, mut input) =
        folder.start("score string-accuracy --references r.jsonl --predictions - --missing skip");
    // More than a pipe and a buffer hold: the program has begun to read both sides.
    let predictions = records("prediction", COUNT);
    let (first, second) = predictions.split_at(predictions.len() - 100);
    input.write_all(first.as_bytes()).expect("a reader");
    fs::rename(folder.path("other.jsonl"), folder.path("r.jsonl")).expect("a file");
    let _ = input.write_all(second.as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    Run::new(output).fails(3, &["r.jsonl: the file changed while it was read"]);
}

/// Text without an end is more than there is memory for.
#[test]
fn a_document_that_does_not_fit_in_memory_is_refused() {
    let folder = Folder::of_records(3);
    let script = "ulimit -v 1000000; yes '     ' | \"$0\" score coco --threads 1 -r - -p p.jsonl";
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script, PROGRAM])
        .current_dir(folder.path(""));
    let output = shell.output().expect("a shell");
    Run::new(output).fails(5, &["standard input: out of memory", "--max-bytes"]);
}

/// Help needs no threads; a stack that does not fit in memory lets none start.
#[test]
fn help_needs_no_threads() {
    let folder = Folder::new(&[]);
    let list = folder.run("list --help").code(0);
    assert!(!list.0.stdout.is_empty());
    for metric in ["coco", "detection", "string-accuracy"] {
        let mut command = folder.command(&format!("score {metric} --help"));
        command.env("RUST_MIN_STACK", "99999999999999");
        let run = Run::new(command.output().expect("the program runs")).code(0);
        assert!(!run.0.stdout.is_empty(), "{metric}");
    }
}

/// The program as a user who may not read what the folder holds: `nobody`, if the tests run as one
/// who may read all.
fn without_rights(folder: &Folder, words: &str) -> Run {
    let mut command = folder.command(words);
    let is_root = fs::metadata("/proc/self")
        .is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0);
    if is_root {
        let program = folder.path("metric");
        if !program.exists() {
            // A copy that is still written, as another test's new process sees it, cannot be run.
            let linked = fs::hard_link(PROGRAM, &program);
            linked
                .or_else(|_| fs::copy(PROGRAM, &program).map(drop))
                .expect("a copy of the program");
        }
        fs::set_permissions(folder.0.path(), Permissions::from_mode(0o755)).expect("rights");
        command = Command::new(program);
        command
            .args(words.split_whitespace())
            .current_dir(folder.0.path())
            .stdin(Stdio::null())
            .uid(NOBODY)
            .gid(NOBODY);
    }
    Run::new(command.output().expect("the program runs"))
}

#[test]
fn what_cannot_be_opened_or_read_is_named() {
    let folder = Folder::of_records(3);
    let lock = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
    lock(&folder.path("p.jsonl"), 0o000).expect("rights");
    without_rights(&folder, R).fails(3, &["p.jsonl: cannot open: Permission denied"]);
    lock(&folder.path("p.jsonl"), 0o644).expect("rights");

    // A folder that may not be listed, one that may not be entered, and one not to be written to.
    fs::create_dir(folder.path("truth")).expect("a folder");
    fs::create_dir(folder.path("found")).expect("a folder");
    let voc = "score voc --references truth --predictions found";
    lock(&folder.path("truth"), 0o000).expect("rights");
    without_rights(&folder, voc).fails(3, &["truth", "Permission denied"]);
    let inside = "score string-accuracy --references truth/r.jsonl --predictions p.jsonl";
    without_rights(&folder, inside).fails(3, &["truth/r.jsonl: cannot open: Permission denied"]);
    lock(&folder.path("truth"), 0o755).expect("rights");
    fs::write(folder.path("truth/1.xml"), "<annotation/>").expect("a file");
    lock(&folder.path("truth/1.xml"), 0o000).expect("rights");
    without_rights(&folder, voc).fails(3, &["1.xml", "Permission denied"]);
    lock(&folder.path("found"), 0o555).expect("rights");
    for output in ["--per-sample found/s.jsonl", "--svg found/pictures"] {
        let words = "score arc --references g.json --predictions g.json";
        fs::write(folder.path("g.json"), "{\"a\": [[1]]}").expect("a file");
        without_rights(&folder, &format!("{words} {output}"))
            .fails(2, &["found/", "cannot create: Permission denied"]);
    }

    without_rights(&folder, "score arc -r g.json -p g.json --svg found")
        .fails(2, &["found: cannot create: Permission denied"]);
    without_rights(&folder, "demo --save found")
        .fails(2, &["found: cannot create: Permission denied"]);

    // A folder, or nothing, in place of a file.
    for name in ["folder.jsonl", "empty"] {
        fs::create_dir_all(folder.path(name)).expect("a folder");
        folder
            .run(&format!("score string-accuracy -r r.jsonl -p {name}"))
            .fails(3, &[name, "is a folder", "expected a file"]);
    }
    folder
        .run("score string-accuracy -r r.jsonl -p nothing.jsonl")
        .fails(3, &["nothing.jsonl: cannot open: No such file"]);
    folder
        .run("score string-accuracy -r r.jsonl -p r.jsonl/p.jsonl")
        .fails(3, &["r.jsonl/p.jsonl: cannot open: Not a directory"]);
    folder
        .run(&format!("{R} --per-sample folder.jsonl"))
        .fails(2, &["folder.jsonl", "cannot create"]);
    folder
        .run("score arc -r g.json -p g.json --svg r.jsonl")
        .fails(2, &["r.jsonl", "cannot create"]);

    // A file that opens and cannot be read.
    if Path::new("/proc/self/mem").exists() {
        std::os::unix::fs::symlink("/proc/self/mem", folder.path("mem.jsonl")).expect("a link");
        folder
            .run("score string-accuracy -r mem.jsonl -p p.jsonl")
            .fails(3, &["mem.jsonl: cannot read: Input/output error"]);
        std::os::unix::fs::symlink("/proc/self/mem", folder.path("mem.json")).expect("a link");
        folder
            .run("score coco -r mem.json -p mem.json")
            .fails(3, &["mem.json: cannot read: Input/output error"]);
    }
}

/// A hole reads as zeros: 10 GB of them cost no disk, and must not cost memory.
#[test]
fn a_huge_hole_is_refused_in_little_memory() {
    let folder = Folder::of_records(3);
    let hole = |name: &str, start: &str| {
        let mut file = File::create(folder.path(name)).expect("a file");
        file.write_all(start.as_bytes()).expect("a start");
        file.set_len(10 << 30).expect("a file with a hole");
    };
    let line = "{\"id\": \"example-0\", \"reference\": \"a\"}\n";
    for (start, location) in [
        ("", ":1: not text: byte 0x00 at byte 1"),
        (line, ":2: not text"),
    ] {
        hole("hole.jsonl", start);
        let words =
            "score string-accuracy --threads 2 --predictions p.jsonl --references hole.jsonl";
        folder
            .run_after(LITTLE_MEMORY, words)
            .fails(3, &["hole.jsonl", location]);
        let words =
            "score string-accuracy --threads 2 --references r.jsonl --predictions hole.jsonl";
        folder
            .run_after(LITTLE_MEMORY, words)
            .fails(3, &["hole.jsonl"]);
    }
    hole("hole.json", "{\"example-0\": \"a\", ");
    let words = "score string-accuracy --threads 2 --predictions p.jsonl --references hole.json";
    folder
        .run_after(LITTLE_MEMORY, words)
        .fails(3, &["hole.json:1: not text: byte 0x00 at byte 20"]);
    // Whole files: room for all of it is refused, or the first zero.
    for metric in ["coco", "squad"] {
        let words =
            format!("score {metric} --threads 2 --references hole.json --predictions hole.json");
        folder
            .run_after(LITTLE_MEMORY, &words)
            .fails(5, &["hole.json: out of memory", "--max-bytes"]);
        folder
            .run(&words)
            .fails(3, &["hole.json:1: not text: byte 0x00 at byte 20"]);
    }
    // In folders: a file of one image, or one task.
    for (name, metric) in [("1.xml", "voc"), ("1.txt", "tide"), ("1.json", "arc")] {
        let kind = name.trim_start_matches("1.");
        fs::create_dir(folder.path(kind)).expect("a folder");
        hole(&format!("{kind}/{name}"), "");
        let words = format!("score {metric} --threads 2 --references {kind} --predictions {kind}");
        folder.run_after(LITTLE_MEMORY, &words).fails(
            5,
            &[name, "with 10737418240 bytes", "--max-bytes 8000000000"],
        );
    }
    // In a text zeros are characters, but a line has an end.
    hole("hole.txt", "");
    fs::write(folder.path("p.txt"), "a\n").expect("a file");
    let words = "score string-accuracy --threads 2 --references hole.txt --predictions p.txt";
    folder
        .run_after("ulimit -v 3500000", words)
        .fails(5, &["hole.txt: out of memory", "--max-bytes"]);
    folder.run(&format!("{words} --max-bytes 1GB")).fails(
        5,
        &["hole.txt:1: the line takes more memory than allowed by --max-bytes 1000000000"],
    );
}

#[test]
fn a_million_duplicate_ids_are_named_in_a_few_lines() {
    const COUNT: usize = 1_000_000;
    let folder = Folder::of_records(3);
    let same = "{\"id\": \"a\", \"reference\": \"b\"}\n".repeat(COUNT / 10);
    fs::write(folder.path("r.jsonl"), same).expect("a file");
    folder
        .run_after(LITTLE_MEMORY, &format!("{R} --threads 2"))
        .fails(3, &["r.jsonl: duplicate id \"a\" (lines 1, 2, 3, 4, 5)"]);
    let line = |position: usize| {
        format!(
            "{{\"id\": {}, \"reference\": \"b\"}}\n",
            position % (COUNT / 2)
        )
    };
    let twice: String = (0..COUNT).map(line).collect();
    fs::write(folder.path("r.jsonl"), twice).expect("a file");
    folder
        .run_after(LITTLE_MEMORY, &format!("{R} --threads 2"))
        .fails(
            3,
            &["r.jsonl: duplicate id \"0\" (lines 1, 500001); 500000 ids in all are duplicates"],
        );
}

#[test]
fn long_texts_of_files_do_not_flood_messages_and_tables() {
    let long = "x".repeat(2 << 20);
    let number = "1".repeat(2 << 20);
    let files = [
        (
            "id.jsonl",
            format!("{{\"id\": \"{long}\", \"reference\": 1}}\n"),
        ),
        (
            "number.jsonl",
            format!("{{\"id\": {number}.5, \"reference\": \"a\"}}\n"),
        ),
        (
            "twice.json",
            format!("{{\"{long}\": \"a\", \"{long}\": \"b\"}}"),
        ),
        (
            "field.jsonl",
            format!("{{\"id\": 1, \"reference\": {{\"{long}\": 1, \"{long}\": 1}}}}\n"),
        ),
    ];
    let folder = Folder::of_records(3);
    for (name, text) in &files {
        fs::write(folder.path(name), text).expect("a file");
        for metric in ["string-accuracy", "detection", "lanes", "arc"] {
            let words = format!("score {metric} --references {name} --predictions p.jsonl");
            folder.run(&words).fails(3, &[]);
        }
    }
    let boxes = format!("{{\"a\": {{\"{long}\": [[0, 0, 1, 1]]}}}}");
    fs::write(folder.path("boxes.json"), boxes).expect("a file");
    for format in ["table", "markdown"] {
        let words = "score detection --groups class -r boxes.json -p boxes.json --format";
        let run = folder.run(&format!("{words} {format}")).code(0);
        assert!(run.0.stdout.len() < 10_000, "{} bytes", run.0.stdout.len());
    }
}

#[test]
fn sixty_four_runs_at_a_time() {
    let folder = Folder::of_records(200);
    let start = |position: usize| {
        // Half write to one file, half to one each; all draw to one folder.
        let name = match position % 2 {
            0 => "same.jsonl".to_owned(),
            _ => format!("own-{position}.jsonl"),
        };
        let words = format!("{R} --threads 2 --format json --per-sample {name}");
        let child = folder
            .command(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        (name, child)
    };
    let children: Vec<_> = (0..64).map(start).collect();
    let runs = children.into_iter().map(|(name, child)| {
        let run = Run::new(child.wait_with_output().expect("the program ends")).code(0);
        (name, run.0.stdout)
    });
    let runs: Vec<_> = runs.collect();
    let expected = folder
        .run(&format!("{R} --format json --per-sample alone.jsonl"))
        .code(0);
    let samples = folder.text("alone.jsonl");
    assert_eq!(samples.lines().count(), 200);
    for (name, stdout) in &runs {
        assert_eq!(*stdout, expected.0.stdout);
        assert_eq!(folder.text(name), samples, "{name}");
    }
    let left = fs::read_dir(folder.0.path()).expect("a folder").count();
    assert_eq!(left, 2 + 1 + 1 + 32, "a temporary file is left");
}

#[test]
fn pictures_of_many_runs_in_one_folder_are_whole() {
    let folder = Folder::new(&[]);
    let pair = |id| format!("{{\"id\": {id}, \"reference\": [[1]], \"prediction\": [[2]]}}\n");
    let pairs: String = (0..20).map(pair).collect();
    fs::write(folder.path("pairs.jsonl"), pairs).expect("a file");
    let words = "score arc --pairs pairs.jsonl --threads 2 --svg drawn";
    let start = |_| folder.command(words).stdout(Stdio::null()).spawn();
    let children: Vec<_> = (0..16).map(start).collect();
    for child in children {
        let status = child.expect("the program runs").wait();
        assert_eq!(status.expect("the program ends").code(), Some(0));
    }
    let entries = fs::read_dir(folder.path("drawn")).expect("a folder");
    let pictures: Vec<_> = entries
        .map(|entry| fs::read_to_string(entry.expect("an entry").path()).expect("a picture"))
        .collect();
    let names = fs::read_dir(folder.path("drawn")).expect("a folder");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let charts = names.filter(|name| name.to_string_lossy().starts_with("chart."));
    assert_eq!(pictures.len(), 20 + charts.count());
    assert!(
        pictures
            .iter()
            .all(|text| text.trim_end().ends_with("</svg>"))
    );
    let mode = fs::metadata(folder.path("drawn/1.svg"))
        .expect("a file")
        .permissions()
        .mode();
    let other = fs::metadata(folder.path("pairs.jsonl"))
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode, other, "the rights of any new file");
}
