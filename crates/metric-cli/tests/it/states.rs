//! Shards, states and merges: any partition of the data, merged in any order, is one run.

#![allow(
    clippy::panic,
    reason = "a case that fails is named, also by what several tests share"
)]

use std::collections::{BTreeMap, BTreeSet};

use metric_run::record::{Shard, fnv1a};
use metric_run::registry::{ENTRIES, Entry, Shape, find};
use metric_run::{Outcome, StateFileError, Statistics, merge_states, read_states, write_states};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::common::Folder;
use crate::common::data::cases;
use crate::common::words::{Samples, Words, json_of};

/// Into how many shards data sets are divided; some of them are empty.
const SHARDS: u32 = 7;

/// The order in which states are merged.
const ORDER: [u32; 7] = [4, 0, 6, 2, 5, 1, 3];

fn shard(index: u32) -> Shard {
    Shard::new(index, SHARDS).expect("a shard")
}

fn details_of(outcomes: &[Outcome]) -> Vec<Option<Value>> {
    outcomes
        .iter()
        .map(|outcome| outcome.state().details())
        .collect()
}

fn read(name: &str, bytes: &[u8]) -> Result<Vec<Outcome>, StateFileError> {
    read_states(name, bytes)
}

/// The outcome of merged state files, and the warnings of the merge.
fn merge(files: &[(String, Vec<u8>)]) -> Result<(Vec<Outcome>, Vec<String>), StateFileError> {
    let files = files
        .iter()
        .map(|(name, bytes)| Ok((name.clone(), read(name, bytes)?)));
    let merged = merge_states(files.collect::<Result<_, StateFileError>>()?)?;
    let warnings = merged.warnings.iter().map(ToString::to_string).collect();
    Ok((merged.outcomes, warnings))
}

/// A state file in its documented parts: the header, and the bodies.
fn parts(file: &[u8]) -> (Value, Vec<u8>) {
    let rest = file
        .strip_prefix(b"\x93METRIC\n")
        .expect("the magic number");
    let (length, rest) = rest.split_first_chunk::<4>().expect("a length");
    let (header, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
    let (bodies, checksum) = rest.split_last_chunk::<32>().expect("a checksum");
    assert_eq!(
        Sha256::digest(&file[..file.len() - 32]).as_slice(),
        checksum
    );
    let header = serde_json::from_slice(header).expect("a header in JSON");
    (
        header,
        zstd::decode_all(bodies).expect("a frame of Zstandard"),
    )
}

/// A state file with another header, and the checksum that it then has.
fn with_header(file: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (mut header, _) = parts(file);
    let start = 12 + u32::from_le_bytes(*file[8..].first_chunk().expect("a length")) as usize;
    change(&mut header);
    let header = header.to_string();
    let mut changed = file[..8].to_vec();
    changed.extend((header.len() as u32).to_le_bytes());
    changed.extend(header.as_bytes());
    changed.extend(&file[start..file.len() - 32]);
    let checksum = Sha256::digest(&changed);
    changed.extend(checksum);
    changed
}

/// By metric, the declared scores and kinds of groups that were printed.
type Declared = BTreeMap<&'static str, BTreeSet<String>>;

#[expect(
    clippy::too_many_lines,
    reason = "one run after the other, each compared with the first"
)]
fn check(words: &Words<'_>, printed: &mut Declared) {
    let text = words.text;
    let whole = words.run(None, 1);
    let (json, details) = (json_of(&whole), details_of(&whole));
    let file = write_states(&whole).expect("a state");
    for threads in [2, 5] {
        let again = words.run(None, threads);
        assert_eq!(json_of(&again), json, "{text}, {threads} threads");
        assert_eq!(
            write_states(&again).expect("a state"),
            file,
            "{text}, {threads} threads"
        );
    }
    let (header, body) = parts(&file);
    let digest = Sha256::digest(&body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>();
    assert_eq!(header["states"][0]["sha256"], json!(digest), "{text}");
    assert_eq!(header["states"][0]["bytes"], json!(body.len()), "{text}");

    let files: Vec<(String, Vec<u8>)> = (0..SHARDS)
        .map(|index| {
            let outcomes = words.run(Some(shard(index)), [1, 2, 5][index as usize % 3]);
            (
                format!("{index}.state"),
                write_states(&outcomes).expect("a state"),
            )
        })
        .collect();
    let of = |order: &[u32]| -> Vec<_> {
        order
            .iter()
            .map(|&index| files[index as usize].clone())
            .collect()
    };
    let same = |how: &str, files: &[(String, Vec<u8>)]| {
        let (merged, warnings) =
            merge(files).unwrap_or_else(|error| panic!("{text}, {how}: {error}"));
        assert_eq!(json_of(&merged), json, "{text}, {how}");
        assert_eq!(details_of(&merged), details, "{text}, {how}");
        assert_eq!(warnings, [""; 0], "{text}, {how}");
        let state = write_states(&merged).expect("a state");
        assert_eq!(parts(&state), parts(&file), "{text}, {how}");
        assert_eq!(state, file, "{text}, {how}");
    };
    same("shards", &of(&ORDER));
    same("one state", &[("whole.state".to_owned(), file.clone())]);

    // A merged state of some shards merges with the others.
    let (some, warnings) = merge(&of(&ORDER[..3])).expect("some shards");
    assert_eq!(
        warnings,
        ["4 of 7 shards are missing: shards 1, 2, 3, 5"],
        "{text}"
    );
    let mut rest = of(&ORDER[3..]);
    rest.insert(
        2,
        (
            "some.state".to_owned(),
            write_states(&some).expect("a state"),
        ),
    );
    same("a merged state", &rest);

    if words.statistics.is_some() {
        // The scores of an example do not depend on them.
        return declared(&whole, BTreeSet::new(), printed);
    }
    // The scores of each example are those of one shard.
    let of_examples = |shard, threads| {
        let samples = Samples::default();
        let outcomes = words
            .run_observed(shard, threads, Some(&samples))
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        (outcomes, samples.0.into_inner().expect("no panic"))
    };
    let (outcomes, (lines, names)) = of_examples(None, 1);
    assert_eq!(
        write_states(&outcomes).expect("a state"),
        file,
        "{text}, with samples"
    );
    assert_eq!(of_examples(None, 5).1.0, lines, "{text}, 5 threads");
    let of_shards = (0..SHARDS).flat_map(|index| of_examples(Some(shard(index)), 2).1.0);
    let mut of_shards: Vec<String> = of_shards.collect();
    let mut lines = lines;
    of_shards.sort();
    lines.sort();
    assert_eq!(of_shards, lines, "{text}");

    declared(&whole, names, printed);
}

/// Every score that is printed is in the list of the metric's scores, and so is every kind of group.
fn declared(outcomes: &[Outcome], of_examples: BTreeSet<String>, printed: &mut Declared) {
    for outcome in outcomes {
        let (entry, report) = (outcome.entry(), outcome.report());
        let printed = printed.entry(entry.name).or_default();
        let groups = report.groups.iter().flat_map(|(_, groups)| groups);
        let scores = groups
            .flat_map(|group| &group.scores)
            .chain(&report.scores)
            .map(|(name, _)| name)
            .chain(&of_examples);
        for name in scores {
            let spec = entry.score(name);
            let spec = spec.unwrap_or_else(|| panic!("{}: {name} is not declared", entry.name));
            printed.insert(spec.name.to_owned());
        }
        for (kind, _) in &report.groups {
            let is_declared = entry.groups.contains(&kind.as_str());
            assert!(
                is_declared,
                "{}: groups by {kind} are not declared",
                entry.name
            );
            printed.insert(kind.clone());
        }
    }
}

fn check_all(wanted: impl Fn(&str) -> bool) {
    let folder = Folder::new(&[]);
    let mut printed = Declared::new();
    for text in cases(&folder) {
        // Replicates are the same on any threads and merged from any shards as well.
        let resampled = Statistics {
            resamples: 59,
            confidence: 0.9,
            ..Statistics::default()
        };
        for statistics in [None, Some(resampled)] {
            let words = Words {
                folder: &folder,
                text: &text,
                statistics,
            };
            if wanted(words.metric()) {
                check(&words, &mut printed);
            }
        }
    }
    let compare = ENTRIES.iter().filter(|entry| entry.compares());
    for entry in compare.filter(|entry| wanted(entry.name)) {
        let printed = printed
            .get(entry.name)
            .unwrap_or_else(|| panic!("no data for {}", entry.name));
        let scores = entry.scores.iter().map(|score| score.name);
        for name in scores.chain(entry.groups.iter().copied()) {
            assert!(
                printed.contains(name),
                "{}: {name} is declared and never printed",
                entry.name
            );
        }
    }
}

/// Whether a metric takes values of one of these shapes.
fn takes(metric: &str, shapes: &[Shape]) -> bool {
    let entry = find(metric).expect("a metric");
    let mut taken = entry.shapes.iter();
    taken.any(|taken| shapes.contains(&taken.shape))
}

const IMAGES: &[Shape] = &[Shape::Images, Shape::Boxes];
const GRAPHS: &[Shape] = &[Shape::Rules, Shape::Frames, Shape::Code];

#[test]
fn shards_of_images_merge_to_one_run() {
    check_all(|metric| takes(metric, IMAGES));
}

#[test]
fn shards_of_graphs_and_code_merge_to_one_run() {
    check_all(|metric| takes(metric, GRAPHS));
}

#[test]
fn shards_of_other_metrics_merge_to_one_run() {
    check_all(|metric| !takes(metric, IMAGES) && !takes(metric, GRAPHS));
}

#[test]
fn the_hash_of_ids_is_the_published_one() {
    for (text, hash) in [
        ("", 0xcbf2_9ce4_8422_2325),
        ("a", 0xaf63_dc4c_8601_ec8c),
        ("foobar", 0x8594_4171_f739_67e8),
    ] {
        assert_eq!(fnv1a(text), hash, "{text:?}");
    }
}

/// The program writes the states of a case by shards, and merges them.
fn check_program(folder: &Folder, text: &str) {
    let formats = ["table", "json", "markdown"];
    let details = if text.contains("--details") {
        " --details whole.details"
    } else {
        ""
    };
    let text = text.replace(" --details", "");
    let whole = folder
        .run(&format!("score {text} -q --state-out whole.state{details}"))
        .code(0);
    let read = |name: &str| std::fs::read(folder.path(name)).expect("a file");
    for index in 0..SHARDS {
        let details = details.replace("whole", "part");
        let threads = [1, 2, 5][index as usize % 3];
        let words = format!(
            "score {text} -q --shard {index}/{SHARDS} --threads {threads} --state-out {index}.state{details}"
        );
        folder.run(&words).code(0);
    }
    let names = |order: &[u32]| {
        let names: Vec<String> = order.iter().map(|index| format!("{index}.state")).collect();
        names.join(" ")
    };
    let (all, some, rest) = (names(&ORDER), names(&ORDER[..3]), names(&ORDER[3..]));
    for format in formats {
        let whole = folder
            .run(&format!("score {text} -q --format {format}"))
            .code(0);
        let merged = folder
            .run(&format!("merge {all} --format {format}"))
            .code(0);
        assert_eq!(merged.stdout, whole.stdout, "{text}");
        let warnings = folder.run(&format!("score {text}")).code(0).stderr;
        assert_eq!(merged.stderr, warnings, "{text}");
        let one = folder
            .run(&format!("merge whole.state -q --format {format}"))
            .code(0);
        assert_eq!(
            (one.stdout, one.stderr),
            (whole.stdout, String::new()),
            "{text}"
        );
    }
    let run = folder
        .run(&format!("merge {some} -q --state-out some.state"))
        .code(0);
    assert_eq!(run.stderr, "", "{text}");
    let details = details.replace("whole", "merged");
    let merged = folder
        .run(&format!(
            "merge -q some.state {rest} --state-out merged.state{details}"
        ))
        .code(0);
    assert_eq!(merged.stdout, whole.stdout, "{text}");
    assert_eq!(read("merged.state"), read("whole.state"), "{text}");
    if !details.is_empty() {
        assert_eq!(read("merged.details"), read("whole.details"), "{text}");
    }
}

#[test]
fn the_program_merges_what_it_wrote() {
    let folder = Folder::new(&[]);
    let cases = cases(&folder);
    let listed = folder.run("list --format json").json();
    for metric in listed["metrics"].as_array().expect("a list") {
        let name = metric["name"].as_str().expect("a name");
        let without_references = |entry: &Entry| entry.name == name && !entry.compares();
        if ENTRIES.iter().any(without_references) {
            continue;
        }
        let is_of_metric = |case: &&String| case.split(' ').next() == Some(name);
        let case = cases.iter().find(is_of_metric);
        check_program(
            &folder,
            case.unwrap_or_else(|| panic!("no data for {name}")),
        );
    }
}

const REFERENCES: &str = "{\"id\": \"a\", \"reference\": \"one two\"}\n{\"id\": \"b\", \"reference\": \"three\"}\n{\"id\": \"ц\", \"reference\": \"four\"}\n{\"id\": 4, \"reference\": \"five\"}\n";

/// A folder with references, predictions, and states of three shards and of all data.
fn three_shards() -> Folder {
    let predictions = REFERENCES
        .replace("reference", "prediction")
        .replace("two", "too");
    let folder = Folder::new(&[("r.jsonl", REFERENCES), ("p.jsonl", &predictions)]);
    folder
        .run("score wer -r r.jsonl -p p.jsonl --state-out all.state")
        .code(0);
    for index in 0..3 {
        folder
            .run(&format!(
                "score wer -r r.jsonl -p p.jsonl --shard {index}/3 --state-out {index}.state"
            ))
            .code(0);
    }
    folder
}

fn state(folder: &Folder, name: &str) -> Vec<u8> {
    std::fs::read(folder.path(name)).expect("a state")
}

#[test]
fn damaged_states_are_refused() {
    let folder = three_shards();
    let file = state(&folder, "1.state");
    assert!(read("whole", &file).is_ok());
    let refused = |what: &str, bytes: &[u8]| {
        let error = read("x.state", bytes).expect_err(what).to_string();
        assert!(error.starts_with("x.state: "), "{what}: {error}");
    };
    for index in 0..file.len() {
        for flip in [1, 0x20, 0x80, 0xff] {
            let mut bytes = file.clone();
            bytes[index] ^= flip;
            refused(&format!("byte {index} ^ {flip}"), &bytes);
            // With a checksum that somebody made for it, it is refused or a state, and nothing else happens.
            let end = bytes.len() - 32;
            let checksum = Sha256::digest(&bytes[..end]);
            bytes[end..].copy_from_slice(&checksum);
            let _ = read("x.state", &bytes);
        }
        refused(&format!("{index} bytes"), &file[..index]);
    }
    refused("a byte more", &[file.as_slice(), b"\n"].concat());

    let check = |bytes: &[u8], says: &[&str]| {
        folder.put("x.state", bytes);
        folder.run("merge 0.state x.state 2.state").fails(3, says);
        folder.run("merge x.state --format json").fails(3, says);
    };
    let mut flipped = file.clone();
    flipped[file.len() / 2] ^= 4;
    check(&flipped, &["error: x.state: damaged: ", "checksum"]);
    check(&file[..file.len() - 9], &["error: x.state: damaged: "]);
    check(
        &file[..20],
        &["error: x.state: damaged: the file is cut short"],
    );
    for bytes in [&b""[..], b"\x93METR", b"{\"schema\": 1}\n", &[0; 100]] {
        check(
            bytes,
            &["error: x.state: not a state file: expected a file that --state-out wrote"],
        );
    }
    folder
        .run("merge none.state")
        .fails(3, &["none.state: cannot open: "]);
    folder.run("merge .").fails(3, &[".: cannot read: "]);
    folder.run("merge").fails(2, &["STATE"]);
}

#[test]
fn states_whose_header_was_changed_are_refused() {
    let folder = three_shards();
    let file = state(&folder, "1.state");
    let check = |field: &str, value: Value, says: &[&str]| {
        let changed = with_header(&file, |header| match header.pointer_mut(field) {
            Some(slot) => *slot = value,
            None => panic!("no {field}"),
        });
        folder.put("x.state", &changed);
        let run = folder.run("merge 0.state x.state").fails(3, says);
        assert!(run.stderr.starts_with("error: x.state: "), "{}", run.stderr);
    };
    check(
        "/states/0/metric",
        json!("werewolf"),
        &["a state of \"werewolf\", which this program does not have"],
    );
    check(
        "/states/0/bytes",
        json!(1_u64 << 40),
        &["says that it expands to 1099511627776 bytes: expected at most"],
    );
    check(
        "/states/0/bytes",
        json!(u64::MAX),
        &["says that it expands to"],
    );
    check("/states/0/bytes", json!(7), &["damaged"]);
    check(
        "/states/0/sha256",
        json!("00"),
        &["damaged: a state does not match its checksum"],
    );
    check("/states/0/options/values", json!({"nope": "1"}), &["nope"]);
    check(
        "/states/0/options/values",
        json!({"profile": "x"}),
        &["profile", "expected one of jiwer"],
    );
    check(
        "/states/0/definition",
        json!("wer|v:9.9"),
        &["a state of wer|v:9.9 (format 1): expected one of wer|"],
    );
    check("/states/0/metric_format", json!(9), &["(format 9)"]);
    check(
        "/states/0/missing",
        json!("perhaps"),
        &["damaged: the policy"],
    );
    for shards in [
        json!({"count": 3, "indices": [3]}),
        json!({"count": 3, "indices": []}),
        json!({"count": 0, "indices": [0]}),
    ] {
        check("/states/0/shards", shards, &["damaged: the shards"]);
    }
    check(
        "/format",
        json!(2),
        &["a state file of version 2: expected version 1"],
    );
    check("/states", json!([]), &["damaged: the header has no states"]);

    // A million million shards are not counted one by one.
    let many = with_header(&file, |header| {
        header["states"][0]["shards"] = json!({"count": u32::MAX, "indices": [7]});
    });
    folder.put("x.state", &many);
    let run = folder.run("merge x.state").code(0);
    assert!(
        run.stderr.contains(
            "4294967294 of 4294967295 shards are missing: shards 0, 1, 2, 3, 4, 5, 6, 8, "
        ),
        "{}",
        run.stderr
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn states_that_do_not_belong_together_are_refused() {
    let folder = three_shards();
    let score = |words: &str| {
        folder
            .run(&format!(
                "score {words} -r r.jsonl -p p.jsonl --state-out x.state -q"
            ))
            .code(0)
    };
    let check = |words: &str, says: &[&str]| {
        score(words);
        let run = folder.run("merge 0.state x.state").fails(3, says);
        assert!(run.stderr.starts_with("error: x.state: "), "{}", run.stderr);
    };
    check(
        "cer --shard 1/3",
        &["is a state of cer: expected one of wer"],
    );
    check(
        "wer,cer --shard 1/3",
        &["is a state of wer, cer: expected one of wer"],
    );
    check(
        "wer --normalize casefold --shard 1/3",
        &[
            "normalize:casefold",
            "expected one of wer|",
            "as in 0.state",
        ],
    );
    check(
        "wer --missing skip --shard 1/3",
        &["missing:skip", "as in 0.state"],
    );
    check("wer --extra ignore --shard 1/3", &["extra:ignore"]);
    check(
        "wer --details d.json --shard 1/3",
        &["with details: expected one of wer|"],
    );
    check(
        "wer --shard 0/3",
        &["has shard 0/3, which is also in 0.state"],
    );
    check(
        "wer --shard 1/4",
        &["comes from a run in 4 shards: expected 3, as in 0.state"],
    );
    folder
        .run("merge 0.state ./0.state")
        .fails(3, &["./0.state: the same file as 0.state"]);
    folder
        .run("merge all.state all.state")
        .fails(3, &["all.state: the same file as all.state"]);
    folder
        .run("merge 0.state 1.state --state-out some.state -q")
        .code(0);
    folder
        .run("merge some.state 2.state 1.state")
        .fails(3, &["1.state: has shard 1/3, which is also in some.state"]);
    for shard in ["3/3", "0/0", "-1/3", "1", "x/y", "1/3/5", ""] {
        let words = [
            "score",
            "wer",
            "-r",
            "r.jsonl",
            "-p",
            "p.jsonl",
            &format!("--shard={shard}"),
        ];
        let output = folder
            .command("")
            .args(words)
            .output()
            .expect("the program runs");
        crate::common::Run::new(shard, output)
            .fails(2, &["--shard", "expected I/N with I from 0 to N-1"]);
    }

    // Options that are in no signature.
    let labels = "{\"id\": 1, \"reference\": 1}\n{\"id\": 2, \"reference\": 2}\n";
    folder.put("r.jsonl", labels.as_bytes());
    folder.put(
        "p.jsonl",
        labels.replace("reference", "prediction").as_bytes(),
    );
    folder
        .run("score classification --shard 0/3 -q -r r.jsonl -p p.jsonl --state-out 0.state")
        .code(0);
    check(
        "classification --groups class --shard 1/3",
        &["the option groups is \"class\": expected \"none\", as in 0.state"],
    );
    score("classification --groups none --shard 1/3");
    folder.run("merge 0.state x.state").code(0);
}

#[test]
fn states_of_two_data_sets_are_refused() {
    let folder = Folder::new(&[]);
    let rows = |name: &str, row: Value| {
        folder.put("r.jsonl", b"{\"id\": 1, \"reference\": 1}");
        let prediction = json!({"id": 1, "prediction": row});
        folder.put("p.jsonl", prediction.to_string().as_bytes());
        let words = format!("score accuracy-at-k -r r.jsonl -p p.jsonl --state-out {name}");
        folder.run(&words).code(0);
    };
    rows("a.state", json!([1, 2, 3]));
    rows("b.state", json!([1, 2]));
    let says = ["b.state: not of the same data set: ", "2 labels"];
    folder.run("merge a.state b.state").fails(3, &says);
}

#[test]
fn missing_and_unknown_shards_are_named() {
    let folder = three_shards();
    let warnings = |words: &str| {
        let run = folder.run(&format!("merge {words} --format json")).code(0);
        let stderr = run.stderr.clone();
        let json = run.json();
        let warnings: Vec<String> =
            serde_json::from_value(json["warnings"].clone()).expect("texts");
        let said: String = warnings
            .iter()
            .map(|warning| format!("warning: {warning}\n"))
            .collect();
        assert_eq!(stderr, said, "{words}");
        warnings
    };
    assert_eq!(warnings("all.state"), [""; 0]);
    assert_eq!(warnings("2.state 0.state 1.state"), [""; 0]);
    assert_eq!(
        warnings("2.state"),
        ["2 of 3 shards are missing: shards 0, 1"]
    );
    assert_eq!(
        warnings("2.state 0.state"),
        ["1 of 3 shards is missing: shard 1"]
    );
    let one =
        "\"all.state\" was not written as a shard and may repeat examples of the other states";
    assert_eq!(
        warnings("all.state 1.state"),
        [one, "2 of 3 shards are missing: shards 0, 2"]
    );
    assert_eq!(warnings("0.state all.state 1.state 2.state"), [one]);
    std::fs::copy(folder.path("all.state"), folder.path("b.state")).expect("a copy");
    let two = "\"all.state\", \"b.state\" were not written as shards and may repeat examples of the other states";
    assert_eq!(warnings("all.state b.state"), [two]);
    let run = folder.run("merge 2.state -q").code(0);
    assert_eq!(run.stderr, "");

    // All of many missing shards are counted, and the first ones are named.
    folder
        .run("score wer -r r.jsonl -p p.jsonl --shard 0/100 --state-out x.state")
        .code(0);
    let named: Vec<String> = (1..=20).map(|index: u32| index.to_string()).collect();
    assert_eq!(
        warnings("x.state"),
        [format!(
            "99 of 100 shards are missing: shards {}, ...",
            named.join(", ")
        )]
    );
}

/// States for intervals know the ids of their records.
#[test]
fn a_state_that_repeats_records_of_a_shard_is_refused() {
    let folder = three_shards();
    let keep = |words: &str| {
        let words = format!("score wer -r r.jsonl -p p.jsonl --confidence 0.9 -q {words}");
        folder.run(&words).code(0);
    };
    keep("--state-out whole.state");
    for shard in 0..2 {
        keep(&format!("--shard {shard}/2 --state-out half-{shard}.state"));
    }
    folder.run("merge half-0.state half-1.state").code(0);
    for order in ["half-0.state whole.state", "whole.state half-1.state"] {
        folder.run(&format!("merge {order}")).fails(
            3,
            &["whole.state: was not written as a shard, and", "half-"],
        );
    }
}

/// Numbers of lines do not tell whether records of two files are the same.
#[test]
fn states_of_lines_are_merged_with_shards_of_other_lines() {
    let folder = Folder::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "red\ngreen\nblue\n")]);
    let keep = |words: &str| {
        let words = format!("score wer --confidence 0.9 -q {words}");
        folder.run(&words).code(0);
    };
    keep("-r a.txt -p a.txt --state-out whole.state");
    for shard in 0..2 {
        keep(&format!(
            "-r b.txt -p b.txt --shard {shard}/2 --state-out half-{shard}.state"
        ));
    }
    let run = folder.run("merge whole.state half-0.state half-1.state --format json");
    let run = run.code(0);
    assert!(run.stderr.contains("may repeat examples"), "{}", run.stderr);
    assert_eq!(run.json()["examples"], 5);
}

#[test]
fn thresholds_hold_for_merged_states() {
    let folder = three_shards();
    folder
        .run("merge 0.state 1.state 2.state --fail-under wip=0.5")
        .code(0);
    let failed = folder
        .run("merge 0.state 1.state 2.state --fail-under wip=0.99 --state-out x.state")
        .code(1);
    assert!(failed.stdout.contains("wip"), "{}", failed.stdout);
    assert_eq!(state(&folder, "x.state"), state(&folder, "all.state"));
    folder
        .run("merge all.state --fail-under nope=1 --state-out y.state")
        .fails(2, &["--fail-under nope: no such score"]);
    assert!(!folder.path("y.state").exists());
}

#[test]
fn shards_without_examples_are_empty_and_data_without_any_are_refused() {
    let folder = three_shards();
    folder.put("r.jsonl", b"");
    folder.put("p.jsonl", b"");
    folder
        .run("score wer -r r.jsonl -p p.jsonl")
        .fails(3, &["r.jsonl: has no records"]);
    for index in 0..2 {
        let run = folder.run(&format!("score wer -r r.jsonl -p p.jsonl --shard {index}/2 --state-out {index}.state --format json"));
        let result = run.json();
        assert_eq!(result["examples"], json!(0));
    }
    folder
        .run("merge 0.state 1.state --state-out x.state")
        .fails(3, &["0.state: has no examples: expected at least one"]);
    assert!(!folder.path("x.state").exists());
    folder.run("merge 0.state").code(0);
}

#[test]
fn a_state_is_written_whole_or_not_at_all() {
    let folder = three_shards();
    let names = folder.names();
    let same = || assert_eq!(folder.names(), names);
    folder.put("p.jsonl", b"{\"id\": \"a\"}\n");
    folder
        .run("score wer -r r.jsonl -p p.jsonl --state-out new.state")
        .fails(3, &["p.jsonl:1"]);
    same();
    folder.put("p.jsonl", b"{\"id\": \"a\", \"prediction\": \"x\"}\n");
    folder
        .run("score wer -r r.jsonl -p p.jsonl --state-out new.state")
        .fails(3, &["3 references"]);
    same();
    let before = state(&folder, "0.state");
    folder
        .run("score wer -r r.jsonl -p p.jsonl --state-out 0.state")
        .fails(3, &[]);
    assert_eq!(state(&folder, "0.state"), before);
    let score = "score wer --missing empty -r r.jsonl -p p.jsonl";
    folder
        .run(&format!("{score} --state-out none/new.state"))
        .fails(2, &["none/new.state: cannot create"]);
    folder
        .run(&format!("{score} --state-out p.jsonl"))
        .fails(2, &["--state-out p.jsonl: is also read"]);
    folder
        .run(&format!("{score} --state-out -"))
        .fails(2, &["standard output carries the result"]);
    folder
        .run(&format!("{score} --state-out x --per-sample x"))
        .fails(2, &["is also where"]);
    folder
        .run(&format!("{score} --state-out x --details ./x"))
        .fails(2, &["is also where"]);
    same();
    folder
        .run("merge 0.state 1.state --state-out 1.state")
        .fails(2, &["--state-out 1.state: is also read"]);
    folder
        .run("merge 0.state 1.state --state-out x --details x")
        .fails(2, &["is also where"]);
    folder
        .run("merge 0.state 1.state --state-out none/x")
        .fails(2, &["none/x: cannot create"]);
    folder
        .run("merge 0.state 0.state --state-out x")
        .fails(3, &["0.state"]);
    // There are details only if the states were gathered with them.
    folder.put("i.json", include_bytes!("../../demo/coco-truth.json"));
    folder.put("j.json", include_bytes!("../../demo/coco-results.json"));
    folder
        .run("score string-accuracy --missing empty -r r.jsonl -p p.jsonl --state-out s.state -q")
        .code(0);
    folder
        .run("merge s.state --state-out x --details d")
        .fails(2, &["--details: string-accuracy has no details"]);
    assert!(!folder.path("x").exists() && !folder.path("d").exists());
}

#[test]
fn what_does_not_join_is_reported_by_its_shard_alone() {
    let folder = Folder::new(&[]);
    let references: String = (0..20)
        .map(|index| format!("{{\"id\": \"ключ {index}\", \"reference\": \"x\"}}\n"))
        .collect();
    let predictions = references.replace("reference", "prediction");
    let repeated = "{\"id\": \"ключ 3\", \"prediction\": \"x\"}\n";
    let extra = "{\"id\": \"é🙂\", \"prediction\": \"x\"}\n";
    folder.put("r.jsonl", references.as_bytes());
    folder.put("p.jsonl", predictions.as_bytes());
    folder.put("extra.jsonl", (predictions.clone() + extra).as_bytes());
    folder.put(
        "twice.jsonl",
        (repeated.to_owned() + &predictions).as_bytes(),
    );
    folder.put(
        "r-twice.jsonl",
        (references + &repeated.replace("prediction", "reference")).as_bytes(),
    );
    folder.put("few.jsonl", predictions.replace(repeated, "").as_bytes());
    // The shard is that of the hash of the id, whatever its alphabet.
    let check = |id: &str, words: &str, says: &str| {
        let holder = fnv1a(id) % 5;
        for index in 0..5 {
            let run = folder.run(&format!(
                "score wer {words} --shard {index}/5 --state-out x.state -q"
            ));
            if index == holder {
                drop(run.fails(3, &[says, id]));
            } else {
                drop(run.code(0));
            }
        }
    };
    check("é🙂", "-r r.jsonl -p extra.jsonl", "extra.jsonl");
    check("ключ 3", "-r r.jsonl -p twice.jsonl", "twice.jsonl");
    check("ключ 3", "-r r-twice.jsonl -p p.jsonl", "r-twice.jsonl");
    check("ключ 3", "-r r.jsonl -p few.jsonl", "few.jsonl");
    // Each shard counts the extra predictions that it holds.
    let counted = |index: u64| {
        let words = format!(
            "score wer -r r.jsonl -p extra.jsonl --extra ignore --shard {index}/5 --format json"
        );
        let run = folder.run(&words).code(0);
        run.stderr.matches("1 prediction has no reference").count()
    };
    let counts: Vec<usize> = (0..5).map(counted).collect();
    let expected: Vec<usize> = (0..5)
        .map(|index| usize::from(index == fnv1a("é🙂") % 5))
        .collect();
    assert_eq!(counts, expected);
    // Standard input is divided in the same way.
    let holder = fnv1a("é🙂") % 5;
    let input = predictions + extra;
    for index in 0..5 {
        let run = folder.run_with_input(
            &format!("score wer -r r.jsonl -p - --shard {index}/5"),
            &input,
        );
        if index == holder {
            drop(run.fails(3, &["standard input", "é🙂"]));
        } else {
            drop(run.code(0));
        }
    }
}
