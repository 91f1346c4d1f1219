//! Files that are one transcript or one page each.

use std::fs;

use crate::common::Folder;

/// A folder with files, of which some are in folders of their own.
fn folder_of(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(&[]);
    for (name, text) in files {
        if let Some((inner, _)) = name.split_once('/') {
            fs::create_dir_all(folder.path(inner)).expect("a folder");
        }
        folder.put(name, text.as_bytes());
    }
    folder
}

const SRT: &str = "1\n00:00:00,000 --> 00:00:01,000\n[A]: good\nmorning\n\n2\n00:00:01,000 --> 00:00:02,000\nall\n";
const WHISPER: &str = r#"{"text": "x", "segments": [{"start": 0, "end": 1, "text": " good"}, {"start": 1, "end": 2, "text": " morning all"}]}"#;
const TEXT_GRID: &str = "\"ooTextFile\" \"TextGrid\" 0 2 <exists> 1\n\"IntervalTier\" \"A\" 0 2 1\n0 2 \"good morning all\"\n";
const PAGE: &str = "<PcGts><Page><TextLine><TextEquiv><Unicode>good</Unicode></TextEquiv></TextLine><TextLine><TextEquiv><Unicode>morning all</Unicode></TextEquiv></TextLine></Page></PcGts>";
const ALTO: &str = "<alto><TextLine><String CONTENT=\"good\"/></TextLine><TextLine><String CONTENT=\"morning\"/><SP/><String CONTENT=\"all\"/></TextLine></alto>";

#[test]
fn files_are_joined_by_name_whatever_their_formats_are() {
    let folder = folder_of(&[
        ("talk.srt", SRT),
        (
            "talk.vtt",
            "WEBVTT\n\n00:00.000 --> 00:02.000\n<v A>good morning all\n",
        ),
        ("talk.json", WHISPER),
        ("talk.TextGrid", TEXT_GRID),
        ("talk.txt", "good\nmorning all\n"),
        ("other.srt", SRT),
        (
            "r.jsonl",
            "{\"id\": \"talk\", \"reference\": \"good morning all\"}\n",
        ),
        ("ref/a.srt", SRT),
        ("ref/b.srt", SRT),
        ("hyp/a.json", WHISPER),
        ("hyp/b.json", WHISPER),
        ("one/a.srt", SRT),
        ("two/b.srt", SRT),
    ]);
    for (references, predictions) in [
        ("r.jsonl", "talk.srt"),
        ("r.jsonl", "talk.vtt"),
        ("r.jsonl", "talk.json"),
        ("r.jsonl", "talk.TextGrid"),
        ("talk.srt", "talk.json"),
        ("talk.TextGrid", "talk.txt"),
        ("talk.txt", "talk.srt"),
        // One file and one file are the same record.
        ("other.srt", "talk.vtt"),
        ("ref", "hyp"),
        ("ref", "hyp/*.json"),
    ] {
        for metric in ["wer", "cer"] {
            let words = format!("score {metric} -r {references} -p {predictions} --format json");
            let result = folder.run(&words).json();
            assert_eq!(result["scores"][metric], 0.0, "{words}: {result}");
        }
    }
    folder
        .run("score wer -r r.jsonl -p other.srt")
        .fails(3, &["other", "talk"]);
    // Files that are found in folders need the same name.
    folder
        .run("score wer -r one -p two")
        .fails(3, &["\"a\"", "\"b\""]);
    let samples = folder
        .run("score wer -r ref -p hyp --per-sample s.jsonl")
        .code(0);
    assert_eq!(samples.code, Some(0));
    let samples = fs::read_to_string(folder.path("s.jsonl")).expect("samples");
    assert!(samples.starts_with("{\"id\":\"a\""), "{samples}");
    let sessions = folder
        .run("score cpwer -r talk.srt -p talk.json --format json")
        .json();
    assert_eq!(sessions["counts"]["hits"], 2, "{sessions}");
    // A stated format is not told by what the file holds.
    folder
        .run("score wer -r r.jsonl -p talk.json --predictions-format json")
        .fails(3, &["talk.json"]);
}

#[test]
fn pages_are_lines() {
    let folder = folder_of(&[
        ("ref/1.xml", PAGE),
        ("ref/2.xml", "<PcGts/>"),
        ("hyp/1.xml", ALTO),
        ("hyp/2.xml", "<alto/>"),
        ("text/1.txt", "good\nmorning all\n"),
        ("text/2.txt", ""),
    ]);
    for predictions in ["hyp", "text"] {
        let words = format!("score cer -r ref -p {predictions} --format json");
        let result = folder.run(&words).json();
        // Four letters, a line feed, and eleven characters.
        assert_eq!(result["counts"]["hits"], 16, "{result}");
        assert_eq!(result["scores"]["cer"], 0.0, "{result}");
    }
    let words = "score wer -r ref -p hyp --normalize whitespace --format json";
    assert_eq!(folder.run(words).json()["counts"]["hits"], 3);
}

#[test]
fn options_need_their_formats() {
    let folder = Folder::new(&[
        ("a.srt", "00:00:00,000 --> 00:00:01,000\nA: good\n"),
        ("a.TextGrid", TEXT_GRID),
        ("a.json", WHISPER),
        (
            "words.TextGrid",
            &TEXT_GRID.replace("\"A\"", "\"A - words\""),
        ),
        ("bad.srt", "00:00:00,000 --> 00:00:01,000\na\n\nb\n"),
    ]);
    let score = |words: &str| folder.run(&format!("score wer {words} --format json"));
    let hits = |words: &str| score(words).json()["counts"]["hits"].as_u64();
    assert_eq!(hits("-r a.srt -p a.srt"), Some(2));
    assert_eq!(hits("-r a.srt -p a.srt --speaker-prefix colon"), Some(1));
    assert_eq!(
        hits("-r a.srt -p a.TextGrid --speaker-prefix colon --tier A"),
        Some(1)
    );
    for (words, code, says) in [
        (
            "-r a.srt -p a.srt --level word",
            2,
            "--level word is not used: expected JSON of Whisper",
        ),
        (
            "-r a.srt -p a.srt --tier A",
            2,
            "--tier A is not used: expected tiers of a TextGrid",
        ),
        (
            "-r a.json -p a.json --speaker-prefix none",
            2,
            "--speaker-prefix none is not used",
        ),
        (
            "-r a.json -p a.json --level word",
            3,
            "a.json:1: segments[0]: no field \"words\"",
        ),
        (
            "-r words.TextGrid -p a.srt",
            3,
            "words.TextGrid:2: \"A - words\" is a tier of words or phones",
        ),
        (
            "-r a.TextGrid -p a.srt --tier B",
            3,
            "has no tier of intervals named by --tier B",
        ),
        (
            "-r bad.srt -p a.srt",
            3,
            "bad.srt:4: found \"b\": expected the times of a cue",
        ),
    ] {
        score(words).fails(code, &[says]);
    }
    folder
        .run("score accuracy-at-k -r a.json -p a.json --tier A")
        .fails(2, &["--tier is not an option of accuracy-at-k"]);
}

#[test]
fn repeated_cues_are_a_warning() {
    let cue = |text: &str| format!("00:00:00,000 --> 00:00:01,000\n{text}\n\n");
    let rolling = [cue("good"), cue("good morning"), cue("morning all")].concat();
    let folder = Folder::new(&[("a.srt", &rolling), ("b.srt", SRT)]);
    let result = folder
        .run("score wer -r b.srt -p a.srt --format json")
        .json();
    assert_eq!(
        result["warnings"].as_array().map(Vec::len),
        Some(0),
        "{result}"
    );
    let rolling = [cue("good"), cue("good morning"), cue("good morning all")].concat();
    folder.put("a.srt", rolling.as_bytes());
    let result = folder
        .run("score wer -r b.srt -p a.srt --format json")
        .json();
    let warning = result["warnings"][0].as_str().unwrap_or_default();
    assert!(
        warning.starts_with("2 cues begin with the text of the cue before"),
        "{result}"
    );
}
