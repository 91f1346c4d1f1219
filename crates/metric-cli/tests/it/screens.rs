//! Output on a terminal of 80 columns: no line of a table or of help is broken by it.

#![cfg(unix)]

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use crate::common::Folder;
use metric_run::registry::ENTRIES;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use unicode_width::UnicodeWidthStr;

/// The output of a program on a terminal of this many columns, without colors, and its exit code.
fn on_terminal(mut command: Command, columns: u16) -> (String, Option<i32>) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("rights");
    unlockpt(&master).expect("a terminal");
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size).expect("a size");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let name = name.to_str().expect("text");
    let slave = File::options().read(true).write(true).open(name);
    let slave = slave.expect("the other end");
    let mut child = command
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .env_remove("LC_ALL")
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(slave)
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    // The command has its copy of the other end, which has to be closed for the text to end.
    drop(command);
    let mut bytes = Vec::new();
    // A terminal that nobody holds any more is an error on Linux, after all that was written.
    let _ = File::from(master).read_to_end(&mut bytes);
    let code = child.wait().expect("the program ends").code();
    let text = String::from_utf8(bytes).expect("text");
    (text.replace("\r\n", "\n"), code)
}

/// Fails if a line is wider than the terminal. Signatures, which are one word, and commands are not broken by us.
#[track_caller]
fn fits(words: &str, text: &str, columns: usize) {
    assert!(!text.is_empty(), "metric {words}: no output");
    for line in text
        .lines()
        .filter(|line| !line.contains("|v:") && !line.starts_with("  metric score "))
    {
        assert!(
            line.width() <= columns,
            "metric {words}: {} columns: {line:?}\n{text}",
            line.width()
        );
    }
}

#[track_caller]
fn check(folder: &Folder, words: &str, columns: u16) -> String {
    let (text, code) = on_terminal(folder.command(words), columns);
    assert_eq!(code, Some(0), "metric {words}: {text}");
    fits(words, &text, columns.into());
    text
}

#[test]
fn help_and_lists_fit() {
    let folder = Folder::new(&[]);
    for words in [
        "--help",
        "-h",
        "help score",
        "score --help",
        "compare --help",
        "check --help",
        "merge --help",
        "list --help",
        "list",
        "demo --help",
        "man --help",
        "completions --help",
        "demo",
    ] {
        check(&folder, words, 80);
    }
    for entry in ENTRIES {
        for words in [
            "score M -h",
            "score M --help",
            "compare M -h",
            "compare M --help",
            "check M -h",
            "check M --help",
            "list M",
            "help M",
        ] {
            check(&folder, &words.replace('M', entry.name), 80);
        }
    }
}

/// The scores of all metrics, with intervals, groups and the worst examples where there are some.
#[test]
fn scores_fit() {
    let folder = Folder::new(&[]);
    let demo = folder.run("demo --save samples").code(0).stdout;
    let lines = demo.lines();
    let commands = lines.filter_map(|line| line.trim().strip_prefix("metric score "));
    let commands: Vec<&str> = commands.collect();
    assert!(commands.len() >= 10);
    for command in commands {
        for more in ["", "--confidence 0.9 --resamples 50", "--show-worst 3"] {
            check(&folder, &format!("score {command} {more}"), 80);
        }
        check(&folder, &format!("score {command}"), 50);
        check(&folder, &format!("check {command}"), 500);
    }
}

/// Labels of 80 classes, each with a long name.
#[test]
fn many_classes_fit() {
    let mut references = String::new();
    let mut predictions = String::new();
    for id in 0..240 {
        let class = |id: usize| format!("a class with a rather long name {}", id % 80);
        references.push_str(&format!(
            "{{\"id\": {id}, \"reference\": {:?}}}\n",
            class(id)
        ));
        predictions.push_str(&format!(
            "{{\"id\": {id}, \"prediction\": {:?}}}\n",
            class(id * 3)
        ));
    }
    let folder = Folder::new(&[("r.jsonl", &references), ("p.jsonl", &predictions)]);
    let words = "score classification -r r.jsonl -p p.jsonl --groups class";
    let text = check(&folder, words, 80);
    // All of those that were asked for.
    assert_eq!(text.matches("a class with").count(), 80, "{text}");
    let words = format!("{words} --confidence 0.9 --resamples 50");
    let text = check(&folder, &words, 80);
    assert!(text.contains("more columns: --wide prints them"), "{text}");
    // All columns, on request and where nobody looks at a terminal.
    let (wide, _) = on_terminal(folder.command(&format!("{words} --wide")), 80);
    assert!(wide.lines().any(|line| line.width() > 80), "{wide}");
    let piped = folder.run(&words).code(0).stdout;
    assert!(!piped.contains("--wide"), "{piped}");
    let mut command = folder.command(&words);
    command.env("COLUMNS", "60");
    let narrow = String::from_utf8(command.output().expect("the program runs").stdout);
    fits(&words, &narrow.expect("text"), 60);
}

/// A comparison has more columns than a terminal: what changed comes before the intervals.
#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn comparisons_fit() {
    let mut pairs = String::from("id,reference,old,new,newest\n");
    for id in 0..40 {
        let new = if id % 3 == 0 { id + 1 } else { id };
        let old = if id % 2 == 0 { id + 1 } else { id };
        pairs.push_str(&format!("{id},{id},{old},{new},{id}\n"));
    }
    let folder = Folder::new(&[("pairs.csv", &pairs)]);
    let words = "compare string-accuracy --pairs pairs.csv --prediction-field old \
                 --prediction-field new --prediction-field newest --resamples 50";
    let (text, code) = on_terminal(folder.command(words), 80);
    assert_eq!(code, Some(0));
    let (tables, _) = text.split_once("\n\n").expect("a table");
    fits(words, tables, 80);
    for name in ["difference", "p (Holm)", "more columns: --wide"] {
        assert!(tables.contains(name), "{name}: {tables}");
    }
}

/// Without a locale of Unicode, tables are drawn with ASCII.
#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn tables_are_ascii_where_the_locale_is() {
    let folder = Folder::new(&[("p.csv", "id,reference,prediction\n1,a,a\n")]);
    for (name, value, is_ascii) in [
        ("LC_ALL", "C", true),
        ("LC_ALL", "C.UTF-8", false),
        ("LC_CTYPE", "de_DE.ISO-8859-1", true),
        ("LANG", "POSIX", true),
        ("LANG", "en_US.utf8", false),
        ("LANG", "", false),
    ] {
        let mut command = folder.command("score string-accuracy --pairs p.csv");
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            command.env_remove(name);
        }
        command.env(name, value);
        let output = command.output().expect("the program runs");
        assert_eq!(output.stdout.is_ascii(), is_ascii, "{name}={value}");
    }
}
