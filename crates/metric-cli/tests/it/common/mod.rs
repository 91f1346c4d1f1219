//! The common parts of the tests of the program: a folder of files to run it in, and its output.

pub(crate) mod data;
pub(crate) mod png;
pub(crate) mod suites;
pub(crate) mod words;
pub(crate) mod zip;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A folder of files to run the program in.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let this = Self { folder };
        for (name, text) in files {
            this.put(name, text.as_bytes());
        }
        this
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a folder");
        }
        std::fs::write(&path, bytes).expect("a written file");
        path
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metric"));
        command
            .args(words.split_whitespace())
            .current_dir(self.folder.path());
        command
    }

    pub(crate) fn run(&self, words: &str) -> Run {
        Run::new(
            words,
            self.command(words).output().expect("the program runs"),
        )
    }

    pub(crate) fn run_with_input(&self, words: &str, input: &str) -> Run {
        let mut child = self
            .command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        // A program that stops early closes the pipe, which is not what is tested here.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        Run::new(words, child.wait_with_output().expect("the program ends"))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

pub(crate) struct Run {
    pub(crate) words: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn new(words: &str, output: Output) -> Self {
        Self {
            words: words.to_owned(),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        let Self {
            words,
            stdout,
            stderr,
            ..
        } = &self;
        assert_eq!(self.code, Some(code), "metric {words}\n{stdout}\n{stderr}");
        self
    }

    /// An error with this exit code that says all of this, and no result.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, says: &[&str]) -> Self {
        let run = self.code(code);
        assert_eq!(run.stdout, "", "metric {}", run.words);
        for part in says {
            assert!(
                run.stderr.contains(part),
                "metric {}: {part:?} is not in\n{}",
                run.words,
                run.stderr
            );
        }
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        run
    }

    /// A result that says all of this.
    #[track_caller]
    pub(crate) fn prints(self, says: &[&str]) -> Self {
        let run = self.code(0);
        for part in says {
            let (words, stdout) = (&run.words, &run.stdout);
            assert!(
                stdout.contains(part),
                "metric {words}: {part:?} is not in\n{stdout}"
            );
        }
        run
    }

    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let run = self.code(0);
        serde_json::from_str(&run.stdout).expect("one JSON object")
    }
}
