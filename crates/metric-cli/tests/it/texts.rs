//! Snapshots of the program's help, errors and warnings, in files that are read as prose.
//!
//! With `UPDATE_SNAPSHOTS` set, the files are written anew. The files in `snapshots/messages`, one per
//! command of the program, hold the commands too: one that is added there gets its output then. They have one message of
//! each kind. A line `+ NAME "TEXT"` writes a file for the commands after it.

use crate::common::zip;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::common::Folder;

/// The files that the commands of `snapshots/messages` read.
const FILES: &[(&str, &str)] = &[
    (
        "r.jsonl",
        "{\"id\":\"1\",\"reference\":\"a b\"}\n{\"id\":\"2\",\"reference\":\"c\"}\n{\"id\":\"3\",\"reference\":\"d\"}\n",
    ),
    (
        "p.jsonl",
        "{\"id\":\"1\",\"prediction\":\"a b\"}\n{\"id\":\"2\",\"prediction\":\"x\"}\n{\"id\":\"3\",\"prediction\":\"d\"}\n",
    ),
    (
        "q.jsonl",
        "{\"id\":\"1\",\"prediction\":\"a\"}\n{\"id\":\"2\",\"prediction\":\"c\"}\n{\"id\":\"3\",\"prediction\":\"d\"}\n",
    ),
    ("short.jsonl", "{\"id\":\"1\",\"prediction\":\"a b\"}\n"),
    (
        "more.jsonl",
        "{\"id\":\"1\",\"prediction\":\"a b\"}\n{\"id\":\"2\",\"prediction\":\"x\"}\n{\"id\":\"3\",\"prediction\":\"d\"}\n{\"id\":\"9\",\"prediction\":\"d\"}\n",
    ),
    (
        "other.jsonl",
        "{\"id\":\"1\",\"prediction\":\"a b\"}\n{\"id\":\"9\",\"prediction\":\"d\"}\n",
    ),
    (
        "twice.jsonl",
        "{\"id\":\"1\",\"prediction\":\"a\"}\n{\"id\":\"1\",\"prediction\":\"b\"}\n",
    ),
    ("no-id.jsonl", "{\"prediction\":\"a\"}\n"),
    ("no-field.jsonl", "{\"id\":\"1\",\"output\":\"a\"}\n"),
    (
        "number.jsonl",
        "{\"id\":\"1\",\"prediction\":5}\n{\"id\":\"2\",\"prediction\":\"x\"}\n{\"id\":\"3\",\"prediction\":\"d\"}\n",
    ),
    (
        "broken.jsonl",
        "{\"id\":\"1\",\"prediction\":\"a b\"}\n{\"id\":\"2\",\n",
    ),
    (
        "both.jsonl",
        "{\"id\":\"1\",\"reference\":\"a\",\"references\":[\"a\"]}\n",
    ),
    ("empty.jsonl", ""),
    (
        "pairs.jsonl",
        "{\"id\":\"1\",\"reference\":\"a b\",\"prediction\":\"a b\"}\n{\"id\":\"2\",\"reference\":\"c\",\"prediction\":\"x\"}\n",
    ),
    (
        "one.jsonl",
        "{\"id\":\"1\",\"reference\":\"a b\",\"prediction\":\"a b\"}\n",
    ),
    (
        "undefined.jsonl",
        "{\"id\":\"1\",\"reference\":\"\",\"prediction\":\"a\"}\n",
    ),
    ("r.txt", "a b\nc\nd\n"),
    ("p.txt", "a b\nx\nd\n"),
    ("long.txt", "a b\nx\nd\ne\n"),
    ("labels.txt", "1\nx\n2\n"),
    ("pairs.csv", "id,reference,prediction\n1,a,a\n2,b\n3,c,\n"),
    ("semicolons.csv", "id;reference;prediction\n1;a;a\n"),
    ("quote.csv", "id,reference,prediction\n1,\"a,a\n"),
    ("no-id.csv", "reference,prediction\na,a\n"),
    ("empty.csv", ""),
    ("list.json", "[1, 2]"),
    (
        "truth.json",
        "{\"images\":[{\"id\":1,\"width\":10,\"height\":10}],\"categories\":[{\"id\":1,\"name\":\"cat\"}],\"annotations\":[{\"id\":1,\"image_id\":1,\"category_id\":1,\"bbox\":[0,0,5,5],\"area\":25,\"iscrowd\":0}]}",
    ),
    (
        "boxes.json",
        "[{\"image_id\":1,\"category_id\":1,\"bbox\":[0,0,5,5],\"score\":0.9}]",
    ),
    (
        "bad-boxes.json",
        "[{\"image_id\":1,\"category_id\":1,\"bbox\":[0,0,5],\"score\":0.9}]",
    ),
    (
        "other-boxes.json",
        "[{\"image_id\":7,\"category_id\":1,\"bbox\":[0,0,5,5],\"score\":0.9}]",
    ),
    (
        "no-score.json",
        "[{\"image_id\":1,\"category_id\":1,\"bbox\":[0,0,5,5]}]",
    ),
    (
        "squad.json",
        "{\"version\":\"1.1\",\"data\":[{\"title\":\"t\",\"paragraphs\":[{\"context\":\"c\",\"qas\":[{\"id\":\"1\",\"question\":\"q\",\"answers\":[{\"text\":\"a\",\"answer_start\":0}]},\n{\"id\":\"2\",\"question\":\"q\"}]}]}]}",
    ),
    ("answers.json", "{\"1\":\"a\",\"2\":5}"),
    (
        "vqa.json",
        "{\"annotations\":[{\"question_id\":1,\"answers\":[{\"answer\":\"red\",\"answer_id\":1}]},{\"answers\":[]}]}",
    ),
    (
        "vqa-results.json",
        "[{\"question_id\":1,\"answer\":\"red\"},{\"question_id\":9,\"answer\":\"x\"}]",
    ),
    ("gt/a.txt", "0 0.5 0.5 0.2 0.2\n0 x 0.5 0.2 0.2\n"),
    ("gt/b.txt", "0 0.5 0.5 0.2\n"),
    ("dt/a.txt", "0 0.5 0.5 0.2 0.2 0.9\n0 0.5 0.5 0.2 0.2 nan\n"),
    ("dt/z.txt", "0 0.5 0.5 0.2 0.2 0.9\n"),
    ("values.txt", "1 a\n1 b\n"),
    (
        "suite.toml",
        "name = \"s\"\n[[task]]\nname = \"t\"\nmetric = \"werr\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n",
    ),
    ("result.json", "{\"schema\": 1}"),
    ("state.bin", "not a state"),
    ("after.csv", "id,reference,prediction\n1,\"a\"b,a\n"),
    ("inside.csv", "id,reference,prediction\n1,a\"b,a\n"),
    ("space.csv", "id,reference,prediction\n1, \"a\",a\n"),
    ("cr.csv", "id,reference,prediction\r1,a,a\r"),
    ("column-twice.csv", "id,reference,reference\n1,a,a\n"),
    ("tabs.csv", "\"id\"\t\"reference\"\n\"1\"\t\"a\"\n"),
    ("nan.jsonl", "{\"id\":\"1\",\"prediction\":NaN}\n"),
    ("list.jsonl", "[1]\n"),
    (
        "key-twice.jsonl",
        "{\"id\":\"1\",\"id\":\"2\",\"prediction\":\"a\"}\n",
    ),
    ("null-id.jsonl", "{\"id\":null,\"prediction\":\"a\"}\n"),
    (
        "null.jsonl",
        "{\"id\":\"1\",\"prediction\":null}\n{\"id\":\"2\",\"prediction\":\"x\"}\n{\"id\":\"3\",\"prediction\":\"d\"}\n",
    ),
    ("alternation.trn", "a { b / c } (u-1)\n"),
    ("no-id.trn", "a b c\n"),
    ("parens.trn", "a b)\n"),
    ("empty-id.trn", "a ()\n"),
    ("short.stm", "file 1 speaker\n"),
    ("time.stm", "file 1 speaker x 2 <o> a\n"),
    ("short.ctm", "file 1\n"),
    ("meeting.stm", "m1 1 Ada 0 1 a\nm1 1 Bo 1 2 b\n"),
    ("late.stm", "m1 1 Ada 2 1 a\n"),
    ("braces.stm", "m1 1 Ada 0 1 a { b / c }\n"),
    ("x.rttm", "SPEAKER m1 1 0 1 <NA> <NA> Ada <NA> <NA>\n"),
    (
        "no-session.seglst.json",
        "[{\"speaker\":\"A\",\"words\":\"a\"}]",
    ),
    (
        "half.seglst.json",
        "[{\"session_id\":\"m1\",\"words\":\"a\",\"start_time\":1}]",
    ),
    (
        "segments.jsonl",
        "{\"id\":\"m1\",\"reference\":[{\"words\":\"a b\"}],\"prediction\":[{\"words\":\"a\",\"start\":2,\"end\":1}]}\n",
    ),
    (
        "untimed.jsonl",
        "{\"id\":\"m1\",\"reference\":[{\"words\":\"a b\"}],\"prediction\":[{\"words\":\"a\"}]}\n",
    ),
    (
        "no-polygon.json",
        "{\"images\":[{\"id\":1,\"width\":10,\"height\":10}],\"categories\":[{\"id\":1,\"name\":\"cat\"}],\"annotations\":[{\"id\":1,\"image_id\":1,\"category_id\":1,\"bbox\":[0,0,5,5],\"area\":25,\"iscrowd\":0,\"segmentation\":[]}]}",
    ),
    (
        "short-polygon.json",
        "{\"images\":[{\"id\":1,\"width\":10,\"height\":10}],\"categories\":[{\"id\":1,\"name\":\"cat\"}],\"annotations\":[{\"id\":1,\"image_id\":1,\"category_id\":1,\"bbox\":[0,0,5,5],\"area\":25,\"iscrowd\":0,\"segmentation\":[[0,0,1,1]]}]}",
    ),
    ("cut.json", "{\"images\":[{\"id\":1"),
    ("no-lists.json", "{\"images\":[]}"),
    (
        "no-comma.json",
        "[{\"image_id\":1,\"category_id\":1,\"bbox\":[0,0,5,5],\"score\":0.9} {}]",
    ),
    (
        "nan-boxes.json",
        "[{\"image_id\":1,\"category_id\":1,\"bbox\":[0,0,5,\"x\"],\"score\":0.9}]",
    ),
    (
        "class.json",
        "[{\"image_id\":1,\"category_id\":9,\"bbox\":[0,0,5,5],\"score\":0.9}]",
    ),
    (
        "inverted.jsonl",
        "{\"id\":\"1\",\"reference\":[[5,5,1,1]],\"prediction\":[[0,0,1,1]]}\n",
    ),
    (
        "three.jsonl",
        "{\"id\":\"1\",\"reference\":[[5,5,1]],\"prediction\":[[0,0,1,1]]}\n",
    ),
    (
        "ring.jsonl",
        "{\"id\":\"1\",\"reference\":[[0,0,2,2,2,0,0,2]],\"prediction\":[]}\n",
    ),
    (
        "scores.jsonl",
        "{\"id\":\"1\",\"reference\":7,\"prediction\":[0.1,0.2]}\n",
    ),
    (
        "infinite.jsonl",
        "{\"id\":\"1\",\"reference\":0,\"prediction\":[0.1,\"inf\"]}\n",
    ),
    (
        "ragged.jsonl",
        "{\"id\":\"1\",\"reference\":0,\"prediction\":[0.1,0.2]}\n{\"id\":\"2\",\"reference\":0,\"prediction\":[0.1]}\n",
    ),
    (
        "grid.jsonl",
        "{\"id\":\"1\",\"reference\":[[1,2],[3]],\"prediction\":[[1]]}\n",
    ),
    (
        "cells.jsonl",
        "{\"id\":\"1\",\"reference\":[[11]],\"prediction\":[[1]]}\n",
    ),
    (
        "task.json",
        "{\"train\":[],\"test\":[{\"input\":[[1]],\"output\":[[1]]}]}",
    ),
    ("solutions.json", "{\"a\":[[[1]]]}"),
    (
        "attempts.json",
        "{\"a\":[{\"attempt_1\":[[1]],\"attempt_3\":[[1]]}]}",
    ),
    (
        "more-tasks.json",
        "{\"a\":[{\"attempt_1\":[[1]]}],\"b\":[{\"attempt_1\":[[1]]}]}",
    ),
    ("submission.csv", "output_id,output\na,|1|\n"),
    ("no-header.csv", "a,b\n1,2\n"),
    (
        "lanes.jsonl",
        "{\"id\":\"1\",\"reference\":{\"r\":{\"centerline\":5}},\"prediction\":{}}\n",
    ),
    (
        "frame.jsonl",
        "{\"id\":\"1\",\"reference\":{\"lane_centerline\":[]},\"prediction\":{}}\n",
    ),
    (
        "code.jsonl",
        "{\"id\":\"1\",\"reference\":\"int a;\",\"prediction\":\"int a;\",\"lang\":\"cobol\"}\n",
    ),
    ("empty.toml", "name = \"s\"\n"),
    (
        "no-metric.toml",
        "name = \"s\"\n[[task]]\nname = \"t\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n",
    ),
    (
        "field.toml",
        "name = \"s\"\ncolour = \"red\"\n[[task]]\nname = \"t\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n",
    ),
    (
        "twice.toml",
        "name = \"s\"\n[[task]]\nname = \"t\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n[[task]]\nname = \"t\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n",
    ),
    (
        "total.toml",
        "name = \"s\"\ntotal = { rule = \"sum\", of = [\"t.foo\"] }\n[[task]]\nname = \"t\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n",
    ),
    (
        "directions.toml",
        "name = \"s\"\ntotal = { rule = \"sum\", of = [\"t.wer\", \"t.wip\"] }\n[[task]]\nname = \"t\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n",
    ),
    (
        "weights.toml",
        "name = \"s\"\ntotal = { rule = \"weighted\", of = [\"t.wer\"], weights = [1, 2] }\n[[task]]\nname = \"t\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n",
    ),
    (
        "outside.toml",
        "name = \"s\"\n[[task]]\nname = \"t\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"../p.jsonl\"\n",
    ),
    (
        "option.toml",
        "name = \"s\"\n[[task]]\nname = \"t\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\noptions = { profile = \"foo\" }\n",
    ),
    (
        "hash.toml",
        "name = \"s\"\n[[task]]\nname = \"t\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\nsha256 = \"12\"\n",
    ),
    ("none/.hidden", ""),
    ("mixed/a.txt", "a\n"),
    ("mixed/b.csv", "id\n"),
    ("yaml/labels/a.txt", "0 0.5 0.5 0.2 0.2\n"),
    ("yaml/data.yaml", "names: 5\n"),
    ("open/labels/a.txt", "0 0.5 0.5 0.2 0.2\n"),
    ("open/data.yaml", "names: [cat\n"),
    ("pred/a.txt", "0 0.5 0.5 0.2 0.2 0.9\n"),
    ("ok/a.txt", "0 0.5 0.5 0.2 0.2\n"),
    ("slices.json", "{\"1\": [1]}"),
    ("bad-slices.jsonl", "{\"id\": 1}\n"),
    ("one-word.txt", "1\n"),
];

fn folder() -> Folder {
    let folder = Folder::new(&[]);
    for (name, text) in FILES {
        if let Some((parent, _)) = name.rsplit_once('/') {
            std::fs::create_dir_all(folder.path(parent)).expect("a folder");
        }
        folder.put(name, text.as_bytes());
    }
    put_golden_inputs(&folder);
    put_states(&folder);
    put_archives(&folder);
    put_large(&folder);
    put_bytes(&folder);
    put_folders(&folder);
    folder
}

/// Copies the files of other programs (Parquet, Arrow, data sets) into the folder `golden`.
fn put_golden_inputs(folder: &Folder) {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).expect("a folder");
        for entry in std::fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry");
            let (path, to) = (entry.path(), to.join(entry.file_name()));
            if path.is_dir() {
                copy(&path, &to);
            } else {
                std::fs::copy(&path, to).expect("a copy");
            }
        }
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/inputs");
    copy(&golden, &folder.path("golden"));
}

/// States, valid and damaged ones.
fn put_states(folder: &Folder) {
    for (name, words) in [
        ("wer.state", "wer -r r.jsonl -p p.jsonl"),
        ("cer.state", "cer -r r.jsonl -p p.jsonl"),
        (
            "profile.state",
            "wer -r r.jsonl -p p.jsonl --profile torchmetrics",
        ),
        ("first.state", "wer -r r.jsonl -p p.jsonl --shard 0/2"),
        ("second.state", "wer -r r.jsonl -p p.jsonl --shard 1/2"),
        ("third.state", "wer -r r.jsonl -p p.jsonl --shard 2/3"),
        (
            "interval.state",
            "wer -r r.jsonl -p p.jsonl --confidence 0.9 --resamples 100",
        ),
        (
            "skip.state",
            "wer -r r.jsonl -p p.jsonl --missing skip --shard 0/2",
        ),
    ] {
        folder
            .run(&format!("score {words} --state-out {name} --quiet"))
            .code(0);
    }
    let state = std::fs::read(folder.path("wer.state")).expect("a state");
    let changed = |index: usize, byte: u8| {
        let mut state = state.clone();
        state[index] = byte;
        state
    };
    folder.put("cut.state", &state[..state.len() / 2]);
    folder.put("start.state", &state[..6]);
    folder.put("version.state", &changed(8, 99));
    folder.put("middle.state", &changed(state.len() / 2, 255));
    folder.put(
        "end.state",
        &changed(state.len() - 1, !state[state.len() - 1]),
    );
    folder.put("more.state", &[&state[..], b"more"].concat());
}

/// Submissions as archives, for `ok.toml`.
fn put_archives(folder: &Folder) {
    let predictions = std::fs::read(folder.path("p.jsonl")).expect("a file");
    let of_predictions = |name: &str| zip::Entry::deflated(name, &predictions);
    let mut damaged = of_predictions("p.jsonl");
    damaged.crc ^= 1;
    let mut method = of_predictions("p.jsonl");
    method.method = 12;
    let zeros = zip::Entry::deflated("p.jsonl", &vec![b' '; 10_000_000]);
    for (name, entries) in [
        ("other.zip", vec![of_predictions("q.jsonl")]),
        (
            "deep.zip",
            vec![of_predictions("a/b/p.jsonl"), of_predictions("c")],
        ),
        ("damaged.zip", vec![damaged]),
        ("method.zip", vec![method]),
        ("link.zip", vec![of_predictions("p.jsonl").mode(zip::LINK)]),
        (
            "device.zip",
            vec![of_predictions("p.jsonl").mode(zip::DEVICE)],
        ),
        (
            "outside.zip",
            vec![of_predictions("p.jsonl"), of_predictions("../x")],
        ),
        (
            "twice.zip",
            vec![of_predictions("p.jsonl"), of_predictions("p.jsonl")],
        ),
        (
            "case.zip",
            vec![of_predictions("p.jsonl"), of_predictions("P.jsonl")],
        ),
        (
            "both.zip",
            vec![of_predictions("p.jsonl/a"), of_predictions("p.jsonl")],
        ),
        ("zeros.zip", vec![zeros]),
    ] {
        folder.put(name, &zip::archive(&entries));
    }
    let outside = ["p.jsonl", "../x", "../y"].map(of_predictions);
    folder.put("outside-two.zip", &zip::archive(&outside));
    let zeros = zip::Entry::deflated("p.jsonl", &vec![b' '; 100_000_000]);
    folder.put("bomb.zip", &zip::archive(&[zeros]));
    let archive = zip::archive(&[of_predictions("p.jsonl")]);
    folder.put("cut.zip", &archive[..archive.len() / 2]);
    folder.put("text.zip", b"not an archive");
}

/// Files that are not text, or not the text that their names say.
fn put_bytes(folder: &Folder) {
    for (name, bytes) in [
        ("gzip.jsonl", &b"\x1f\x8b\x08"[..]),
        ("zstandard.jsonl", b"\x28\xb5\x2f\xfd\0"),
        ("utf-16.jsonl", b"\xff\xfe{\0"),
        ("utf-16-big.jsonl", b"\xfe\xff\0{"),
        ("utf-32.jsonl", b"\xff\xfe\0\0{\0\0\0"),
        ("utf-32-big.jsonl", b"\0\0\xfe\xff\0\0\0{"),
        ("null-character.csv", b"id,reference,prediction\n1,a\0,a\n"),
        ("suite-large.toml", &[b'#'; 17_000_000]),
    ] {
        folder.put(name, bytes);
    }
    let golden = |name: &str| std::fs::read(folder.path("golden").join(name)).expect("a file");
    let stream = golden("stream.arrows");
    folder.put("stream-cut.arrows", &stream[..stream.len() - 8]);
    let parquet = golden("pyarrow-none.parquet");
    folder.put(
        "parquet-cut.parquet",
        &[&parquet[..40], &parquet[parquet.len() - 8..]].concat(),
    );
}

/// Submissions in folders that are not plain.
#[cfg(unix)]
fn put_folders(folder: &Folder) {
    for name in ["link-folder", "pipe-folder"] {
        std::fs::create_dir_all(folder.path(name)).expect("a folder");
    }
    let link = folder.path("link-folder/p.jsonl");
    std::os::unix::fs::symlink(folder.path("p.jsonl"), link).expect("a link");
    let pipe = folder.path("pipe-folder/p.jsonl");
    let made = std::process::Command::new("mkfifo").arg(pipe).status();
    assert!(made.expect("mkfifo").success());
    let deep = format!("deep-folder/p.jsonl/{}", vec!["a"; 110].join("/"));
    std::fs::create_dir_all(folder.path(&deep)).expect("folders");
}

/// Records that are too large for a metric, or too deep.
fn put_large(folder: &Folder) {
    let record = |reference: String, prediction: String| {
        let record =
            format!("{{\"id\":\"1\",\"reference\":{reference},\"prediction\":{prediction}}}\n");
        record.into_bytes()
    };
    let list = |item: &str| format!("[{}]", vec![item; 3_000].join(","));
    let found = list("{\"box\":[0,0,9,9],\"score\":0.5}");
    folder.put("many-boxes.jsonl", &record(list("[0,0,9,9]"), found));
    let rules = |value: fn(usize) -> usize| {
        let rule = |index| {
            let value = value(index);
            format!("\"r{index}\":{{\"attr_info\":{{\"a\":{value}}},\"centerline\":[{index}]}}")
        };
        let rules: Vec<String> = (0..2_100).map(rule).collect();
        format!("{{{}}}", rules.join(","))
    };
    folder.put(
        "many-rules.jsonl",
        &record(rules(|_| 1), rules(|index| index)),
    );
    let code = format!("\"a = {}1{}\"", "(".repeat(1_200), ")".repeat(1_200));
    folder.put(
        "deep-reference.jsonl",
        &record(code.clone(), "\"a = 1\"".to_owned()),
    );
    folder.put("deep.jsonl", &record(code.clone(), code.clone()));
    let deep = record(code.clone(), code);
    let other = String::from_utf8_lossy(&deep).replace("\"id\":\"1\"", "\"id\":\"2\"");
    folder.put("deep-two.jsonl", &[&deep[..], other.as_bytes()].concat());
    let hard = format!("\"{}\"", "a /* ".repeat(9_000));
    let easy = "\"int x = y;\"".to_owned();
    folder.put("hard.jsonl", &record(easy, hard.clone()));
    let hard = record(hard.clone(), hard);
    let other = String::from_utf8_lossy(&hard).replace("\"id\":\"1\"", "\"id\":\"2\"");
    folder.put("hard-two.jsonl", &[&hard[..], other.as_bytes()].concat());
}

/// Writes a file of the snapshot.
fn put_file(folder: &Folder, line: &str) {
    let (name, text) = line.split_once(' ').expect("a name and a text");
    let text: String = serde_json::from_str(text).expect("a string of JSON");
    if let Some((parent, _)) = name.rsplit_once('/') {
        std::fs::create_dir_all(folder.path(parent)).expect("a folder");
    }
    folder.put(name, text.as_bytes());
}

fn check(name: &str, found: &str) {
    let path = snapshot(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, found).expect("a written snapshot");
    }
    let expected = std::fs::read_to_string(&path).expect("the snapshot");
    let differs = found.lines().zip(expected.lines()).find(|(a, b)| a != b);
    assert!(
        found == expected,
        "{name}: UPDATE_SNAPSHOTS=1 writes it anew; the first line that differs: {differs:?}"
    );
}

fn snapshot(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    folder.join("tests/snapshots").join(name)
}

#[test]
#[cfg_attr(
    not(all(
        feature = "arrow",
        feature = "csv",
        feature = "parquet",
        feature = "report",
        feature = "transcripts"
    )),
    ignore = "the snapshots have the messages of a build with all features"
)]
fn messages() {
    let folder = folder();
    for command in [
        "score", "compare", "check", "merge", "run", "report", "other",
    ] {
        let name = format!("messages/{command}.txt");
        let text = std::fs::read_to_string(snapshot(&name)).expect("the snapshot");
        check(&name, &messages_of(&folder, &text));
    }
}

/// Runs the commands of a snapshot again, and returns the snapshot with what they say now.
fn messages_of(folder: &Folder, text: &str) -> String {
    let mut found = String::new();
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("+ ") {
            put_file(folder, file);
            found.push_str(&format!("{line}\n"));
        }
        let Some(words) = line.strip_prefix("$ metric") else {
            continue;
        };
        let run = folder.run(words);
        let code = run.code.expect("an exit code");
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        // Some commands say it in their result.
        let said = if run.stderr.is_empty() {
            run.stdout
        } else {
            run.stderr
        };
        // Tables and signatures are results, which are not messages, except for the states of tasks.
        let has_states = words.starts_with(" run ");
        let is_table = |line: &str| !has_states && line.starts_with(['┌', '│', '╞', '└']);
        let is_signature = |line: &str| line.contains("|v:") && !line.contains(' ');
        let said: String = said
            .lines()
            .filter(|line| !is_table(line) && !is_signature(line))
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(!said.trim().is_empty(), "metric{words} says nothing");
        found.push_str(&format!("$ metric{words}\n{said}[{code}]\n\n"));
    }
    found
}

/// The help of `score wer`, and for other commands the lines that it does not have.
#[test]
#[cfg_attr(
    not(all(feature = "csv", feature = "report", feature = "transcripts")),
    ignore = "the snapshot has the options of tables, transcripts and reports"
)]
fn help() {
    let folder = Folder::new(&[]);
    let of_wer = folder.run("score wer --help").code(0).stdout;
    let known: BTreeSet<&str> = of_wer.lines().filter(|line| !line.is_empty()).collect();
    let mut found = format!("$ metric score wer --help\n{of_wer}");
    for words in [
        "--help",
        "score coco --help",
        "compare wer --help",
        "check wer --help",
        "merge --help",
        "run --help",
        "report --help",
        "list --help",
        "demo --help",
        "completions --help",
        "man --help",
    ] {
        found.push_str(&format!("\n$ metric {words}\n"));
        let help = folder.run(words).code(0).stdout;
        let lines = help.lines().filter(|line| !known.contains(line));
        found.extend(lines.map(|line| format!("{line}\n")));
    }
    check("help.txt", &found);
}
