//! Sessions of several speakers: their records, their files, and what is refused.

use serde_json::{Value, json};

use super::read;
use crate::common::Folder;

/// A session of this id as a line of references and one of predictions.
fn session(id: &str, reference: Value, prediction: Value) -> [String; 2] {
    [
        json!({"id": id, "reference": reference}).to_string() + "\n",
        json!({"id": id, "prediction": prediction}).to_string() + "\n",
    ]
}

fn folder(reference: Value, prediction: Value) -> Folder {
    let [reference, prediction] = session("m1", reference, prediction);
    Folder::new(&[("r.jsonl", &reference), ("p.jsonl", &prediction)])
}

fn ada() -> Value {
    json!([{"speaker": "Ada", "start": 0, "end": 1, "words": "a b"}])
}

/// The first line of a file of JSON Lines.
fn first_line(folder: &Folder, name: &str) -> Value {
    let text = read(folder, name);
    serde_json::from_str(text.lines().next().expect("a line")).expect("JSON")
}

#[test]
fn segments_that_are_invalid() {
    let rows = [
        (
            json!({"words": "a", "start": 1}),
            "",
            "segment 2: expected a start and an end, or neither",
        ),
        (
            json!({"words": "a", "start": 2, "end": 1}),
            "",
            "segment 2 ends before it starts",
        ),
        (
            json!({"words": "a", "start": "NaN", "end": 1}),
            "",
            "invalid time \"NaN\"",
        ),
        (
            json!({"words": "a", "start": "inf", "end": 1}),
            "",
            "invalid time \"inf\"",
        ),
        (
            json!({"speaker": "Ada"}),
            "",
            "expected a field \"words\" or \"text\"",
        ),
        (json!({"speaker": 0.5, "words": "a"}), "", "speaker"),
        (
            json!({"words": "a"}),
            "--collar 5",
            "segment 2 has no times: expected a start and an end, with --collar 5",
        ),
        (
            json!({"words": "a"}),
            "--order start",
            "segment 2 has no times: expected a start and an end, with --order start",
        ),
        (
            json!({"words": "a", "start": 1, "end": 2}),
            "--collar 5 --prediction-timing word --reference-timing word",
            "segment 1 has 2 words: with the timing word, expected one word per segment",
        ),
    ];
    for (segment, options, says) in rows {
        let mut reference = ada();
        reference.as_array_mut().expect("a list").push(segment);
        let folder = folder(reference, ada());
        for metric in ["cpwer", "orcwer", "dicpwer"] {
            let run = folder.run(&format!("score {metric} -r r.jsonl -p p.jsonl {options}"));
            run.fails(3, &["r.jsonl:1", "\"m1\"", says]);
        }
    }
}

#[test]
fn options_that_do_not_go_together() {
    let folder = folder(ada(), ada());
    let rows = [
        (
            "cpwer --collar -1",
            "--collar \"-1\": expected a number of seconds, at least 0",
        ),
        (
            "cpwer --collar x",
            "--collar \"x\": expected a number of seconds, at least 0",
        ),
        (
            "cpwer --reference-timing equal",
            "--reference-timing \"equal\": expected only with --collar 5",
        ),
        (
            "orcwer --prediction-timing equal",
            "--prediction-timing \"equal\": expected only with --collar 5",
        ),
        ("cpwer --order auto", "--order"),
        ("cpwer --unit letters", "--unit"),
        ("cpwer --search exact", "--search"),
        ("cpwer --extract x", "--extract"),
        ("cpwer --speaker channel", "--speaker channel is not used"),
        ("wer --speaker channel", "--speaker is not an option of wer"),
        ("cpwer,wer", "in different ways"),
    ];
    for (words, says) in rows {
        let run = folder.run(&format!("score {words} -r r.jsonl -p p.jsonl"));
        run.fails(2, &[says]);
    }
    for (name, says) in [
        ("tcpwer", "it is cpwer --collar 5"),
        ("tcorcwer", "it is orcwer --collar 5"),
        ("ditcpwer", "it is dicpwer --collar 5"),
        ("cpcer", "it is cpwer --unit codepoint"),
        ("speaker-wer", "it is cpwer"),
    ] {
        let run = folder.run(&format!("score {name} -r r.jsonl -p p.jsonl"));
        run.fails(2, &[says]);
    }
}

#[test]
fn sessions_that_are_too_large() {
    let speakers = |count: usize| -> Value {
        (0..count)
            .map(|name| json!({"speaker": name, "words": "a"}))
            .collect()
    };
    let streams: Value = (0..9)
        .map(|name| json!({"speaker": name, "words": " a".repeat(50)}))
        .collect();
    let at_once: Value = (0..4)
        .map(|name| json!({"speaker": name, "start": 0, "end": 2, "words": " a".repeat(10_000)}))
        .collect();
    let rows = [
        ("cpwer", speakers(1001), "1001 speakers of the reference"),
        ("cpwer --collar 5", at_once, "use a greater --max-cells"),
        (
            "orcwer",
            streams,
            "use --collar 5 or --search greedy or a greater --max-cells",
        ),
        (
            "dicpwer --max-cells 5",
            speakers(9),
            "a greater --max-cells",
        ),
    ];
    for (words, side, says) in rows {
        let folder = folder(side.clone(), side);
        let run = folder.run(&format!("score {words} -r r.jsonl -p p.jsonl"));
        run.fails(5, &["p.jsonl:1", "\"m1\"", says]);
    }
}

/// What is read is written with all of its digits, and null for what a segment does not have.
#[test]
fn inputs_are_written_as_they_were_read() {
    let reference = json!([
        {"speaker": 7, "start_time": "0.10", "end": 1e0, "text": "a b", "channel": 1},
        {"words": "c"},
    ]);
    let folder = folder(reference, json!([]));
    folder
        .run("score orcwer -r r.jsonl -p p.jsonl --per-sample s.jsonl --with-inputs")
        .code(0);
    let line = read(&folder, "s.jsonl");
    let segments = r#""reference":[{"speaker":"7","start":0.1,"end":1,"words":"a b"},{"speaker":null,"start":null,"end":null,"words":"c"}],"prediction":[]"#;
    assert!(line.contains(segments), "{line}");
    assert_eq!(
        first_line(&folder, "s.jsonl")["assignment"],
        json!([null, null])
    );
}

#[test]
fn what_is_worth_a_warning() {
    let segment = |speaker: Value, start: f64, end: f64, words: &str| json!({"speaker": speaker, "start": start, "end": end, "words": words});
    let named = |name: &str| json!({"speaker": name, "words": "a"});
    let many: Value = (0..21).map(|name| named(&name.to_string())).collect();
    let rows = [
        (
            json!([named("A"), {"words": "b"}]),
            "1 segment of the references has no speaker: they are one speaker",
        ),
        (
            json!([named("A"), segment(json!("A"), 0.0, 1.0, "b")]),
            "1 segment of the references has no times, unlike others",
        ),
        (
            json!([
                segment(json!("A"), 0.0, 2.5, "a"),
                segment(json!("A"), 2.0, 4.0, "b")
            ]),
            "0.5 of 4.0 s of a speaker's own segments overlap in the references",
        ),
        (
            json!([segment(json!("A"), 0.0, 3601.0, "a")]),
            "1 session is longer than an hour",
        ),
        (many, "1 session has more than 20 speakers on a side"),
        (
            json!([named("A"), named("B")]),
            "each session has a single speaker in the predictions",
        ),
    ];
    for (reference, says) in rows {
        let run = folder(reference, json!([named("1")])).run("score cpwer -r r.jsonl -p p.jsonl");
        let run = run.code(0);
        assert!(run.stderr.contains(says), "{says}: {}", run.stderr);
    }
    let samples = json!([segment(json!("1"), 0.0, 16000.0, "a")]);
    let run = folder(samples.clone(), samples)
        .run("score cpwer -r r.jsonl -p p.jsonl --collar 5")
        .code(0);
    assert!(
        run.stderr
            .contains("words of the predictions take 16000.0 s on average"),
        "{}",
        run.stderr
    );
}

const REFERENCES: &str = "\
; a comment
m2 1 Ada 0 1.5 <o,f0> good morning
m1 A Bo 2.50 3 yes
m2 1 Bo 1.5 2 Ignore_Time_Segment_In_Scoring
m1 A Ada 0 1
m2 1 Bo 1.25 2 hello
";

/// Sessions are in the order in which the references first have them.
#[test]
fn files_are_sessions() {
    let segment = |session: &str, speaker: &str, start: f64, end: Value, words: &str| json!({"session_id": session, "speaker": speaker, "start_time": start, "end_time": end, "words": words});
    let segments = [
        segment("m2", "Ada", 0.0, json!("1.5"), "good morning"),
        segment("m1", "Bo", 2.5, json!(3), "yes"),
        segment("m1", "Ada", 0.0, json!(1), ""),
        segment("m2", "Bo", 1.25, json!("2"), "hello"),
    ];
    let list = json!(segments).to_string();
    let object =
        json!({"a": segments[0], "b": segments[1], "c": segments[2], "d": segments[3]}).to_string();
    let folder = Folder::new(&[
        ("r.stm", REFERENCES),
        // Of NIST, comments have two marks.
        ("nist.stm", &REFERENCES.replace("; a", ";; a")),
        ("list.json", &list),
        ("object.SegLST.json", &object),
        (
            "Ada.ctm",
            ";; words\nm2 1 0 0.7 good\nm2 1 0.7 0.8 morning 0.9\n",
        ),
        ("Bo.ctm", "m2 2 1.25 0.75 hello\nm1 1 2.5 0.5 yes\n"),
        ("x.rttm", "SPEAKER m1 1 0 1 <NA> <NA> Ada <NA> <NA>\n"),
    ]);
    let score = |files: &str| {
        let run = folder.run(&format!(
            "score cpwer {files} -q --format json --per-sample s.jsonl"
        ));
        let result: Value = serde_json::from_str(&run.code(0).stdout).expect("JSON");
        (result["counts"].clone(), read(&folder, "s.jsonl"))
    };
    let (counts, samples) = score("-r r.stm -p r.stm");
    assert_eq!(counts["hits"], 4);
    assert!(samples.starts_with("{\"id\":\"m2\""), "{samples}");
    for file in ["list.json", "object.SegLST.json"] {
        assert_eq!(
            score(&format!("-r r.stm -p {file}")),
            (counts.clone(), samples.clone()),
            "{file}"
        );
    }
    let (words, _) = score("-r r.stm -p Ada.ctm Bo.ctm");
    assert_eq!(
        (&words["hits"], &words["missed_speakers"]),
        (&json!(4), &json!(1))
    );
    assert_eq!(score("-r r.stm -p *.ctm").0, words);
    // Each channel of a session is a speaker.
    let (channels, _) = score("-r r.stm -p Ada.ctm Bo.ctm --speaker channel");
    assert_eq!(channels, words);
    for words in ["cpwer -r x.rttm -p r.stm", "cpwer -r r.stm -p x.rttm"] {
        let run = folder.run(&format!("score {words}"));
        run.fails(2, &["x.rttm", "STM", "SegLST"]);
    }
    folder
        .run("score wer -r object.SegLST.json -p list.json")
        .fails(2, &["cpwer, orcwer or dicpwer"]);
    let run = folder.run("score wer -r nist.stm -p nist.stm").code(0);
    assert!(
        run.stderr
            .contains("2 recordings of the references have several speakers"),
        "{}",
        run.stderr
    );
}

#[test]
fn files_that_are_invalid() {
    let rows = [
        (
            "p.stm",
            "m1 1 A 2 1 a\n",
            "p.stm:1: id \"m1\": the segment ends at 1, before it begins at 2",
        ),
        (
            "p.stm",
            "m1 1 A 0 1 a\nm1 1 A x 1 a\n",
            "p.stm:2: id \"m1\": the begin is \"x\"",
        ),
        (
            "p.stm",
            "m1 1 A 0 1 a { b / c }\n",
            "p.stm:1: id \"m1\": found alternatives in braces",
        ),
        ("p.ctm", "m1 1 0\n", "p.ctm:1: id \"m1\": found 3 fields"),
        (
            "p.seglst.json",
            "[{\"session_id\": \"m1\"}]",
            "p.seglst.json:1: id \"m1\": no field \"words\"",
        ),
        (
            "p.seglst.json",
            "[\n{\"words\": \"a\"}]",
            "p.seglst.json:2: no field \"session_id\"",
        ),
        (
            "p.seglst.json",
            "[\n{\"session_id\": \"m1\", \"words\": \"a\", \"start_time\": 1}]",
            "p.seglst.json:2: id \"m1\": expected start_time and end_time",
        ),
        (
            "p.seglst.json",
            "[\n{\"session_id\": \"m1\", \"words\": \"a\", \"start_time\": 1, \"end_time\": 0}]",
            "p.seglst.json:2: id \"m1\": prediction: segment 1 ends before it starts",
        ),
        ("p.seglst.json", "{", "p.seglst.json:1: "),
    ];
    for (name, text, says) in rows {
        let folder = Folder::new(&[("r.stm", "m1 1 Ada 0 1 a\n"), (name, text)]);
        folder
            .run(&format!("score cpwer -r r.stm -p {name}"))
            .fails(3, &[says]);
    }
}

/// Both sides of a session that one of them lacks.
#[test]
fn missing_and_extra_sessions() {
    let folder = Folder::new(&[
        ("r.stm", "m1 1 Ada 0 1 a b\nm2 1 Ada 0 1 c\n"),
        ("p.stm", "m1 1 h 0 1 a b\nm3 1 h 0 1 d\n"),
    ]);
    folder
        .run("score cpwer -r r.stm -p p.stm")
        .fails(3, &["m2", "m3"]);
    for (missing, counts) in [
        ("empty", [2, 0, 1, 0, 2, 1, 0]),
        ("skip", [2, 0, 0, 0, 1, 0, 0]),
    ] {
        let words = format!(
            "score cpwer -r r.stm -p p.stm --extra ignore --missing {missing} --format json"
        );
        let result: Value = serde_json::from_str(&folder.run(&words).code(0).stdout).expect("JSON");
        let names = [
            "hits",
            "substitutions",
            "deletions",
            "insertions",
            "speakers",
            "missed_speakers",
            "extra_speakers",
        ];
        assert_eq!(
            names.map(|name| result["counts"][name].as_u64().expect("a count")),
            counts,
            "{missing}"
        );
    }
}

#[test]
fn pairs_of_speakers_have_counts() {
    let reference = json!([{"speaker": "Ada", "words": "a b"}, {"speaker": "Bo", "words": "c"}]);
    let folder = folder(reference, json!([{"speaker": "1", "words": "a"}]));
    folder
        .run("score cpwer -r r.jsonl -p p.jsonl --details d.json")
        .code(0);
    let counts = |hits: u64, deletions: u64| json!({"hits": hits, "substitutions": 0, "deletions": deletions, "insertions": 0});
    let pairs = json!([
        {"reference": "Ada", "prediction": "1", "counts": counts(1, 1)},
        {"reference": "Bo", "prediction": null, "counts": counts(0, 1)},
    ]);
    assert_eq!(
        first_line(&folder, "d.json"),
        json!({"sessions": [{"id": "m1", "pairs": pairs}]})
    );
    folder
        .run("score orcwer -r r.jsonl -p p.jsonl --details d.json")
        .fails(2, &["--details"]);
}
