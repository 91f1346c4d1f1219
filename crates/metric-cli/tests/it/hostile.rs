//! Submissions that attack the judge. Each ends with the status that it deserves, the other tasks keep their scores,
//! and participants are told nothing of the references.

use crate::common::suites;
use crate::common::zip;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
#[cfg(target_os = "linux")]
use std::{process::Stdio, time::Duration};

use crate::common::Folder;
use serde_json::Value;
use suites::{GOOD, SECRETS, TASKS};
use zip::{DEVICE, Entry, FILE, LINK, archive};

/// A hostile submission, and the outcome that it deserves.
struct Attack {
    name: &'static str,
    /// The tasks that it harms; the others are `ok`.
    tasks: &'static [&'static str],
    status: &'static str,
    /// A part of the reason.
    says: &'static str,
    submission: Submission,
}

enum Submission {
    Zip(Vec<u8>),
    /// Fills a folder that holds the good submission.
    Folder(fn(&Path)),
}

/// The good files as entries.
fn good() -> Vec<Entry> {
    let entry = |(name, text): (&str, &str)| Entry::deflated(name, text.as_bytes());
    GOOD.into_iter().map(entry).collect()
}

/// The good files but one, and others.
fn without(name: &str, others: Vec<Entry>) -> Vec<u8> {
    let good = good().into_iter();
    let good = good.filter(|entry| entry.name != name.as_bytes());
    archive(&good.chain(others).collect::<Vec<_>>())
}

/// The good files with other content in one of them.
fn with(name: &str, content: &[u8]) -> Vec<u8> {
    without(name, vec![Entry::deflated(name, content)])
}

/// All good files, and others.
fn and(others: Vec<Entry>) -> Vec<u8> {
    archive(&good().into_iter().chain(others).collect::<Vec<_>>())
}

fn words() -> Entry {
    Entry::deflated("words.jsonl", GOOD[0].1.as_bytes())
}

fn attack(
    name: &'static str,
    (tasks, status, says): (&'static [&'static str], &'static str, &'static str),
    zip: Vec<u8>,
) -> Attack {
    Attack {
        name,
        tasks,
        status,
        says,
        submission: Submission::Zip(zip),
    }
}

/// Tricks of archives.
#[expect(clippy::too_many_lines, reason = "a list of attacks")]
fn archives() -> Vec<Attack> {
    const NONE: (&[&str], &str, &str) = (&[], "ok", "");
    const WORDS: &[&str] = &["words"];
    let zeros = vec![0; 20 << 20];
    let bomb = Entry::deflated("words.jsonl", &zeros);
    let stored = |name: &str| Entry::stored(name, b"evil");
    let named = |bytes: &[u8]| Entry {
        name: bytes.to_owned(),
        ..stored("x")
    };
    let mut truncated = words();
    truncated.data.truncate(20);
    let cut = |bytes: Vec<u8>, length: usize| bytes[..bytes.len() - length].to_owned();
    let many = (0..50_001).map(|index| Entry::stored(&format!("file-{index}"), b""));
    vec![
        attack("a path to above", NONE, and(vec![stored("../../evil.txt")])),
        attack(
            "an absolute path",
            NONE,
            and(vec![stored("/tmp/metric-evil.txt")]),
        ),
        attack("backslashes", NONE, and(vec![stored(r"..\..\evil.txt")])),
        attack("a drive", NONE, and(vec![stored("C:evil.txt")])),
        attack(
            "a name with a zero byte",
            NONE,
            and(vec![named(b"words.jsonl\0.png")]),
        ),
        attack(
            "a name that is not Unicode",
            NONE,
            and(vec![named(b"\xff\xfe")]),
        ),
        attack(
            "a name of 60,000 bytes",
            NONE,
            and(vec![named(&[b'a'; 60_000])]),
        ),
        attack(
            "predictions above the archive",
            (WORDS, "missing", "words.jsonl: not in the submission"),
            without(
                "words.jsonl",
                vec![Entry {
                    name: b"../words.jsonl".to_vec(),
                    ..words()
                }],
            ),
        ),
        attack(
            "predictions by a detour",
            (WORDS, "missing", "words.jsonl: not in the submission"),
            without(
                "words.jsonl",
                vec![Entry {
                    name: b"a/../words.jsonl".to_vec(),
                    ..words()
                }],
            ),
        ),
        attack(
            "a link to the references",
            (WORDS, "failed", "a link or a device"),
            without(
                "words.jsonl",
                vec![Entry::stored("words.jsonl", b"../vaulted/words.jsonl").mode(LINK)],
            ),
        ),
        attack(
            "a device",
            (WORDS, "failed", "a link or a device"),
            without(
                "words.jsonl",
                vec![Entry::stored("words.jsonl", b"").mode(DEVICE)],
            ),
        ),
        attack(
            "two entries of one name",
            (WORDS, "failed", "2 entries of the archive have this name"),
            and(vec![words()]),
        ),
        attack(
            "names that differ in case",
            (WORDS, "failed", "differ in case only"),
            and(vec![Entry {
                name: b"WORDS.jsonl".to_vec(),
                ..words()
            }]),
        ),
        attack(
            "a name in another case",
            (WORDS, "missing", "which has Words.JSONL"),
            without(
                "words.jsonl",
                vec![Entry {
                    name: b"Words.JSONL".to_vec(),
                    ..words()
                }],
            ),
        ),
        attack(
            "a file that is also a folder",
            (WORDS, "failed", "both a file and a folder"),
            and(vec![stored("words.jsonl/x")]),
        ),
        attack(
            "a folder in place of a file",
            (WORDS, "failed", ""),
            without("words.jsonl", vec![stored("words.jsonl/x")]),
        ),
        attack(
            "a name that no file has",
            (WORDS, "failed", "cannot be a file"),
            without(
                "words.jsonl",
                vec![stored(&format!("words.jsonl/{}", "x".repeat(300)))],
            ),
        ),
        attack(
            "a file in a file",
            (WORDS, "failed", "cannot be a file"),
            without(
                "words.jsonl",
                vec![stored("words.jsonl/a"), stored("words.jsonl/a/b")],
            ),
        ),
        attack(
            "a bomb",
            (WORDS, "limit", "exceeded 10"),
            without("words.jsonl", vec![bomb.clone()]),
        ),
        attack(
            "a bomb that states a small size",
            (WORDS, "failed", "expected 10, got 65536"),
            without("words.jsonl", vec![Entry { size: 10, ..bomb }]),
        ),
        attack(
            "a file that states 4 GB",
            (WORDS, "limit", "exceeded 10"),
            without(
                "words.jsonl",
                vec![Entry {
                    size: u32::MAX - 1,
                    ..words()
                }],
            ),
        ),
        attack(
            "a wrong checksum",
            (WORDS, "failed", "damaged in the archive"),
            without("words.jsonl", vec![Entry { crc: 1, ..words() }]),
        ),
        attack(
            "a cut stream",
            (WORDS, "failed", "damaged in the archive"),
            without("words.jsonl", vec![truncated]),
        ),
        attack(
            "another compression",
            (WORDS, "failed", "expected deflate"),
            without(
                "words.jsonl",
                vec![Entry {
                    method: 12,
                    ..words()
                }],
            ),
        ),
        attack(
            "an encrypted file",
            (
                WORDS,
                "failed",
                "encrypted in the archive: expected an archive without a password",
            ),
            without(
                "words.jsonl",
                vec![Entry {
                    flags: 1,
                    data: b"\x93\x01noise".repeat(9),
                    ..words()
                }],
            ),
        ),
        attack(
            "an archive in the archive",
            (WORDS, "failed", ""),
            with("words.jsonl", &and(Vec::new())),
        ),
        attack(
            "too many entries",
            (&TASKS, "limit", "exceeded 50000 files"),
            archive(&many.collect::<Vec<_>>()),
        ),
        attack(
            "no archive",
            (&TASKS, "failed", "nor a valid zip archive"),
            b"#!/bin/sh\nrm -rf /\n".to_vec(),
        ),
        attack(
            "another kind of archive",
            (
                &TASKS,
                "failed",
                "a 7z archive: expected a folder or a zip archive",
            ),
            b"7z\xbc\xaf\x27\x1c\0\x04rest".to_vec(),
        ),
        attack(
            "nothing",
            (&TASKS, "failed", "nor a valid zip archive"),
            Vec::new(),
        ),
        attack(
            "half an archive",
            (&TASKS, "failed", "nor a valid zip archive"),
            cut(and(Vec::new()), 60),
        ),
        attack(
            "an empty archive",
            (&TASKS, "missing", "not in the submission"),
            archive(&[]),
        ),
    ]
}

/// Files that cannot be read, or should not be.
#[expect(clippy::too_many_lines, reason = "a list of attacks")]
fn contents() -> Vec<Attack> {
    let row =
        |id: &str, prediction: &str| format!("{{\"id\": {id}, \"prediction\": {prediction}}}\n");
    let deep = |open: &str| open.repeat(200_000);
    let good = GOOD[0].1;
    let result = |id: &str, bbox: &str, score: &str| {
        format!(
            "[{{\"image_id\": {id}, \"category_id\": 7, \"bbox\": {bbox}, \"score\": {score}}}]"
        )
    };
    const WORDS: &[&str] = &["words"];
    const FAILED: (&[&str], &str, &str) = (WORDS, "failed", "words.jsonl");
    const BOXES: (&[&str], &str, &str) = (&["boxes"], "failed", "boxes.json");
    const LABELS: (&[&str], &str, &str) = (&["labels"], "failed", "labels.csv");
    let text = |name, expected, content: String| {
        attack(name, expected, with("words.jsonl", content.as_bytes()))
    };
    let boxes = |name, content: String| attack(name, BOXES, with("boxes.json", content.as_bytes()));
    let labels = |name, content: &[u8]| attack(name, LABELS, with("labels.csv", content));
    vec![
        text(
            "lists 200,000 deep",
            FAILED,
            row("\"kestrel-1\"", &deep("[")),
        ),
        text("objects 200,000 deep", FAILED, deep("{\"id\":")),
        text(
            "a list in place of a text",
            FAILED,
            good.replace("\"something\"", "[1, 2]"),
        ),
        text(
            "null in place of a text",
            FAILED,
            good.replace("\"something\"", "null"),
        ),
        text(
            "a missing prediction",
            (WORDS, "failed", "no prediction for 1 reference"),
            good.lines()
                .take(3)
                .map(|line| format!("{line}\n"))
                .collect(),
        ),
        text(
            "an extra prediction",
            (WORDS, "failed", "no reference for 1 prediction"),
            good.to_owned() + &row("\"x\"", "\"y\""),
        ),
        text(
            "an id twice",
            (WORDS, "failed", "duplicate id"),
            good.to_owned() + good,
        ),
        text(
            "an id of a million digits",
            FAILED,
            good.to_owned() + &row(&"9".repeat(1_000_000), "\"y\""),
        ),
        text(
            "a line of 9 MB",
            FAILED,
            good.to_owned() + &row("\"x\"", &format!("{:?}", "y".repeat(9_000_000))),
        ),
        text(
            "commands for a terminal",
            FAILED,
            good.to_owned() + &row("\"\\u001b]0;evil\\u0007\\u202e\"", "\"y\""),
        ),
        text("an empty file", FAILED, String::new()),
        text("another format", FAILED, "<words/>".to_owned()),
        attack(
            "bytes that are not Unicode",
            FAILED,
            with("words.jsonl", b"{\"id\": \"\xff\xfe\"}\n"),
        ),
        attack("zero bytes", FAILED, with("words.jsonl", &[0; 5000])),
        boxes("lists 200,000 deep as a data set", deep("[")),
        boxes(
            "an object in place of a list",
            "{\"770011\": []}".to_owned(),
        ),
        boxes(
            "a score beyond all numbers",
            result("770011", "[1, 1, 2, 2]", "1e999"),
        ),
        boxes("not a number", result("770011", "[1, 1, 2, 2]", "NaN")),
        boxes("a box of text", result("770011", "\"everything\"", "0.5")),
        boxes("a box of one number", result("770011", "[1]", "0.5")),
        boxes(
            "an image that does not exist",
            result("5", "[1, 1, 2, 2]", "0.5"),
        ),
        labels("an open quote", b"id,prediction\nharrier-1,\"goshawk\n"),
        labels("other columns", b"a,b\n1,2\n"),
        labels("UTF-16", b"\xff\xfei\0d\0,\0p\0"),
        labels("ragged rows", b"id,prediction\nharrier-1\n"),
    ]
}

/// Tricks of folders.
#[cfg(unix)]
fn folders() -> Vec<Attack> {
    use std::os::unix::fs::symlink;

    const WORDS: &[&str] = &["words"];
    let of = |name, (tasks, status, says): (&'static [&'static str], _, _), fill| Attack {
        name,
        tasks,
        status,
        says,
        submission: Submission::Folder(fill),
    };
    vec![
        of(
            "a link to the references",
            (WORDS, "failed", "a symbolic link"),
            |folder| {
                fs::remove_file(folder.join("words.jsonl")).expect("a file");
                symlink("../vaulted/words.jsonl", folder.join("words.jsonl")).expect("a link");
            },
        ),
        of(
            "a link to a device",
            (WORDS, "failed", "a symbolic link"),
            |folder| {
                fs::remove_file(folder.join("words.jsonl")).expect("a file");
                symlink("/dev/zero", folder.join("words.jsonl")).expect("a link");
            },
        ),
        of(
            "a pipe",
            (WORDS, "failed", "a device, a pipe or a socket"),
            |folder| {
                let path = folder.join("words.jsonl");
                fs::remove_file(&path).expect("a file");
                let made = std::process::Command::new("mkfifo").arg(&path).status();
                assert!(made.expect("mkfifo").success());
            },
        ),
        of(
            "a file of a terabyte",
            (WORDS, "limit", "exceeded 10"),
            |folder| {
                let file = fs::File::create(folder.join("words.jsonl")).expect("a file");
                file.set_len(1 << 40).expect("a hole");
            },
        ),
        of(
            "names that differ in case",
            (WORDS, "failed", "differ in case only"),
            |folder| {
                fs::copy(folder.join("words.jsonl"), folder.join("Words.jsonl")).expect("a file");
            },
        ),
        of(
            "a folder of links",
            (WORDS, "failed", "a symbolic link"),
            |folder| {
                fs::remove_file(folder.join("words.jsonl")).expect("a file");
                fs::create_dir(folder.join("words.jsonl")).expect("a folder");
                symlink("/etc/passwd", folder.join("words.jsonl/x.jsonl")).expect("a link");
            },
        ),
        of(
            "nothing but a link to a folder",
            (&TASKS, "missing", "not in the submission"),
            |folder| {
                for (name, _) in GOOD {
                    fs::remove_file(folder.join(name)).expect("a file");
                }
                symlink("../good", folder.join("inner")).expect("a link");
            },
        ),
    ]
}

#[cfg(not(unix))]
fn folders() -> Vec<Attack> {
    Vec::new()
}

/// All paths below a folder with the lengths of files.
fn listing(folder: &Path) -> BTreeSet<(String, u64)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let metadata = fs::symlink_metadata(entry.path()).expect("an entry");
        found.insert((entry.path().display().to_string(), metadata.len()));
        if metadata.is_dir() {
            found.extend(listing(&entry.path()));
        }
    }
    found
}

/// The most memory of the program itself, in KiB.
#[cfg(target_os = "linux")]
const MOST_MEMORY: u64 = 200_000;

/// Runs the program, whose memory stays small whatever its workers do.
#[cfg(target_os = "linux")]
fn measured(mut command: Command, attack: &str) -> crate::common::Run {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program runs");
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        // The lines about memory are gone when the program is.
        while let Some(peak) = fs::read_to_string(&status).ok().and_then(|it| peak(&it)) {
            most = peak.max(most);
            std::thread::sleep(Duration::from_millis(1));
        }
        most
    });
    let output = child.wait_with_output().expect("the program ends");
    let most = watch.join().expect("a number");
    assert!(most > 0 && most < MOST_MEMORY, "{attack}: {most} KiB");
    crate::common::Run::new(attack, output).code(0)
}

/// The peak of resident memory in KiB, in the status of a process.
#[cfg(target_os = "linux")]
fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn measured(mut command: Command, attack: &str) -> crate::common::Run {
    crate::common::Run::new(attack, command.output().expect("the program runs")).code(0)
}

fn judge(folder: &Folder, attack: &Attack, good: &Value) {
    let name = match &attack.submission {
        Submission::Zip(bytes) => {
            folder.put("attack.zip", bytes);
            "attack.zip"
        }
        Submission::Folder(fill) => {
            let path = folder.path("attack");
            let _ = fs::remove_dir_all(&path);
            fs::create_dir(&path).expect("a folder");
            suites::put_good(&path);
            fill(&path);
            "attack"
        }
    };
    let before = listing(&folder.path("."));
    let run = measured(
        folder.command(&format!("run suite.toml -p {name} --format json")),
        attack.name,
    );
    let outcome: Value = serde_json::from_str(&run.stdout).expect("JSON");
    for task in TASKS {
        let found = &outcome["tasks"][task];
        if attack.tasks.contains(&task) {
            assert_eq!(
                found["status"], attack.status,
                "{}: {task}: {found}",
                attack.name
            );
            let reason = found["reason"].as_str().expect("a reason");
            assert!(reason.contains(attack.says), "{}: {reason}", attack.name);
            assert!(found.get("result").is_none(), "{}", attack.name);
        } else {
            assert_eq!(found, &good["tasks"][task], "{}: {task}", attack.name);
        }
    }
    let has_total = attack.tasks.is_empty();
    assert_eq!(outcome["total"].is_number(), has_total, "{}", attack.name);
    assert_eq!(
        listing(&folder.path(".")),
        before,
        "{}: other files",
        attack.name
    );
    assert!(
        !run.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{}",
        attack.name
    );
    assert!(!Path::new("/tmp/metric-evil.txt").exists());

    let private = folder.run(&format!("run suite.toml -p {name} --private"));
    let private = private.code(0);
    let lines = private.stdout.lines().count() + private.stderr.lines().count();
    assert!(lines <= 40, "{}: {lines} lines", attack.name);
    let json = folder.run(&format!("run suite.toml -p {name} --private --format json"));
    for text in [&private.stdout, &private.stderr, &json.stdout, &json.stderr] {
        for secret in SECRETS {
            assert!(
                !text.contains(secret),
                "{}: {secret} in {text}",
                attack.name
            );
        }
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn each_attack_harms_its_task_only() {
    let folder = suites::folder();
    let good = folder
        .run("run suite.toml -p good --format json")
        .code(0)
        .json();
    for task in TASKS {
        assert_eq!(good["tasks"][task]["status"], "ok", "{good}");
    }
    let attacks: Vec<Attack> = archives()
        .into_iter()
        .chain(contents())
        .chain(folders())
        .collect();
    assert!(attacks.len() >= 40, "{} attacks", attacks.len());
    for attack in &attacks {
        judge(&folder, attack, &good);
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn plain_modes_are_files() {
    // Writers without modes, such as those of Windows, leave 0.
    let folder = suites::folder();
    for mode in [0, FILE] {
        let entries: Vec<Entry> = good().into_iter().map(|entry| entry.mode(mode)).collect();
        folder.put("good.zip", &archive(&entries));
        let outcome = folder
            .run("run suite.toml -p good.zip --format json")
            .code(0)
            .json();
        assert!(outcome["total"].is_number(), "{outcome}");
    }
}
