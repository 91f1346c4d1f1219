use proptest::prelude::*;

use super::*;

const STRICT: SubmissionOptions = SubmissionOptions {
    attempts: NonZeroU16::MIN.saturating_add(1),
    strict: true,
    ignore_unknown: false,
};

fn lenient() -> SubmissionOptions {
    SubmissionOptions::default()
}

fn solutions(text: &str) -> Result<Solutions, ReadError> {
    let name = "s.json";
    Solutions::parse(File { name, text })
}

fn submission(text: &str, options: SubmissionOptions) -> Result<Submission, ReadError> {
    let solutions = solutions(r#"{"a": [[[1]], [[2]]], "b": [[[3]]]}"#).unwrap();
    let name = "p.json";
    Submission::parse(File { name, text }, &solutions, options)
}

fn one(cell: i64) -> Attempt {
    Grid::from_rows(&[[cell]]).into()
}

#[test]
fn attempts_that_are_no_grids() {
    use Attempt::{Invalid, Missing};
    let cases = [
        ("null", Missing),
        ("[]", Invalid),
        ("[[]]", Invalid),
        ("[[1, 2], [3]]", Invalid),
        ("[[10]]", Invalid),
        ("[[-1]]", Invalid),
        ("[[1.0]]", Invalid),
        ("[[true]]", Invalid),
        ("[[1e999]]", Invalid),
        ("[[99999999999999999999]]", Invalid),
        ("[[null]]", Invalid),
        ("[1]", Invalid),
        ("[[[1]]]", Invalid),
        ("1", Invalid),
        ("\"[[1]]\"", Invalid),
        ("\"\\ud800\"", Invalid),
        ("{}", Invalid),
        ("{\"answer\": null}", Missing),
        ("{\"answer\": [[7]]}", one(7)),
        ("{\"answer\": \"[[7]]\"}", one(7)),
        ("{\"answer\": \"no idea\"}", Invalid),
        ("{\"answer\": \"\\ud800\"}", Invalid),
        ("{\"answer\": 7, \"answer\": [[7]]}", Invalid),
        (" [ [ 7 ] ] ", one(7)),
    ];
    for (json, expected) in cases {
        let text = format!(r#"{{"b": [{{"attempt_1": {json}}}]}}"#);
        let read = submission(&text, lenient()).unwrap();
        assert_eq!(read.attempts("b"), [vec![expected.clone()]], "{json}");
        let is_none = expected == Missing || json == "[]";
        let strict = submission(&text, STRICT);
        assert_eq!(strict.is_ok(), is_none || expected != Invalid, "{json}");
    }
    let wide = format!("[[{}]]", vec!["0"; 31].join(","));
    assert!(parse_grid(&wide).unwrap_err().contains("1 x 31"));
    let tall = format!("[{}]", vec!["[0]"; 31].join(","));
    assert!(parse_grid(&tall).unwrap_err().contains("31 x 1"));
    assert!(
        parse_grid(&format!(
            "[{}]",
            vec![&wide[1..wide.len() - 1]; 40].join(",")
        ))
        .is_err()
    );
}

#[test]
fn what_does_not_belong() {
    let text = r#"{"z": 7, "a": [{"attempt_1": [[1]]}, null, {"attempt_1": [[5]]}],
        "b": [{"attempt_3": [[3]], "attempt_10": null, "attempt_01": 1, "note": {}}]}"#;
    let read = submission(text, lenient()).unwrap();
    assert_eq!(read.unknown, ["z"]);
    assert_eq!(read.unknown_fields.values().sum::<u64>(), 2);
    assert_eq!(read.attempts("a"), [vec![one(1)], vec![], vec![one(5)]]);
    // The third and the tenth come after the two that count.
    let (missing, third) = (Attempt::Missing, one(3));
    let attempts = [missing.clone(), missing.clone(), third, missing];
    assert_eq!(read.attempts("b"), [attempts]);
    assert_eq!(read.attempts("z"), [[]; 0]);
    assert_eq!(
        submission("{\"b\": null}", lenient()).unwrap().missing,
        ["a"]
    );

    let strict = [
        (r#"{"z": []}"#, "task \"z\": is not in the solutions"),
        (
            r#"{"b": [{}, {}]}"#,
            "task \"b\": has 2 outputs, expected 1",
        ),
        (
            r#"{"b": [{"attempt_3": [[1]]}]}"#,
            "attempt_3: expected at most 2 attempts",
        ),
        (r#"{"b": [{"attempt1": [[1]]}]}"#, "field \"attempt1\""),
        (r#"{"b": [{"attempt_1": [[10]]}]}"#, "cell (0, 0) is 10"),
    ];
    for (text, says) in strict {
        let error = submission(text, STRICT).unwrap_err().to_string();
        assert!(
            error.starts_with("p.json: task ") && error.contains(says),
            "{error}"
        );
        assert!(submission(text, lenient()).is_ok());
    }
    let ignoring = SubmissionOptions {
        ignore_unknown: true,
        ..STRICT
    };
    let read = submission(r#"{"z": [], "b": [{"attempt_1": [[3]]}]}"#, ignoring).unwrap();
    assert_eq!(
        (read.unknown, read.missing),
        (vec!["z".into()], vec!["a".into()])
    );
}

#[test]
fn the_greatest_number_of_an_attempt() {
    let text = r#"{"b": [{"attempt_1000": [[3]], "attempt_1001": [[3]], "attempt_0": [[3]]}]}"#;
    let read = submission(text, lenient()).unwrap();
    assert_eq!(read.attempts("b")[0].last(), Some(&one(3)));
    assert_eq!(read.unknown_fields.values().sum::<u64>(), 2);
    let all = SubmissionOptions {
        attempts: NonZeroU16::new(MAX_ATTEMPTS).unwrap(),
        ..lenient()
    };
    let read = submission(text, all).unwrap();
    assert_eq!(read.attempts("b")[0].len(), 1000);
    assert_eq!(read.attempts("b")[0][999], one(3));
}

#[test]
fn what_cannot_be_read() {
    let cases = [
        ("{", "p.json: expected an object of tasks by their id: EOF"),
        ("[]", "output_id,output"),
        ("", "output_id,output"),
        (r#"{"a": [], "a": []}"#, "duplicate key \"a\""),
        (r#"{"a": {}}"#, "task \"a\": expected a list of"),
        (
            r#"{"a": [7]}"#,
            "output 0: expected {\"attempt_1\": grid, ...}",
        ),
        (
            r#"{"a": [{"attempt_1": null, "attempt_1": null}]}"#,
            "duplicate key \"attempt_1\"",
        ),
        (
            r#"{"b": [{"\ud800": null}]}"#,
            "half of a surrogate pair, which is not a character",
        ),
    ];
    for (text, says) in cases {
        let error = submission(text, lenient()).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    let cases = [
        ("[]", "an object"),
        (
            r#"{"a": []}"#,
            "task \"a\": expected at least one test output",
        ),
        (r#"{"a": [[[1, 10]]]}"#, "output 0: cell (0, 1) is 10"),
        (r#"{"a": [[[1]], null]}"#, "output 1: expected a grid"),
        (r#"{"a": 7}"#, "found a number"),
        (r#"{"a": {"train": []}}"#, "no field `test`"),
        (
            r#"{"a": {"test": [{"input": [[1]]}]}}"#,
            "no field `output`",
        ),
        (
            r#"{"train": [], "test": [{"input": [[1]], "output": [[2]]}]}"#,
            "is a single task, {\"train\": ..., \"test\": ...}: expected {task:",
        ),
        (
            r#"{"train": []}"#,
            "task \"train\": expected at least one test output",
        ),
    ];
    for (text, says) in cases {
        let error = solutions(text).unwrap_err().to_string();
        assert!(
            error.starts_with("s.json: ") && error.contains(says),
            "{text}: {error}"
        );
    }
    let whole = r#"{"a": {"train": 1, "test": [{"output": [[4]]}]}}"#;
    assert_eq!(solutions(whole), solutions(r#"{"a": [[[4]]]}"#));
}

#[test]
fn tables() {
    let table = "\u{feff}output_id,output\r\nb_0,|3| |12|34| |1|23| \r\na_1,\"|2|\"\r\n\r\na_0, \nz_0,|1|\n";
    let read = submission(table, lenient()).unwrap();
    let square = Grid::from_rows(&[[1, 2], [3, 4]]).into();
    assert_eq!(read.attempts("b"), [vec![one(3), square, Attempt::Invalid]]);
    assert_eq!(read.attempts("a"), [vec![], vec![one(2)]]);
    assert_eq!((read.unknown, read.missing), (vec!["z".to_owned()], vec![]));

    // An output that is not the task's comes after those that are.
    let read = submission("output_id,output\nb_99999999,|1|\nb_0,|3|\n", lenient()).unwrap();
    assert_eq!(read.attempts("b"), [vec![one(3)], vec![one(1)]]);

    let cases = [
        ("id,output\n", "output_id,output"),
        ("output_id,output\na_0\n", ":2: expected two columns"),
        ("output_id,output\na_0,|1|,2\n", ":2: expected two columns"),
        ("output_id,output\n\na,|1|\n", ":3: output_id \"a\""),
        ("output_id,output\na_-1,|1|\n", ":2: output_id \"a_-1\""),
        (
            "output_id,output\na_0,|1|\na_0,|1|\n",
            ":3: output_id \"a_0\" is there twice",
        ),
    ];
    for (text, says) in cases {
        let error = submission(text, lenient()).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    let strict = |rows: &str| submission(&format!("output_id,output\n{rows}"), STRICT);
    for (rows, says) in [
        ("b_0,|1| |2| |3|", "at most 2 attempts"),
        ("b_0,|1| |1a|", "attempt 2: expected a grid such as"),
        ("b_1,|1|", "has 2 outputs, expected 1"),
    ] {
        let error = strict(rows).unwrap_err().to_string();
        assert!(error.contains(says), "{rows}: {error}");
    }
    // As a spreadsheet may have it: no attempt at all, and only that.
    assert_eq!(strict("b_0,").unwrap().attempts("b"), [[]; 1]);
    for grid in ["", "|", "||", "|1||2|", "1", "|1", "|a|", "|-1|"] {
        let read = submission(&format!("output_id,output\nb_0,|3| {grid}"), lenient());
        let attempts = read.unwrap().attempts("b").concat();
        assert_eq!(attempts.len(), 1 + usize::from(!grid.is_empty()));
        assert!(
            attempts[1..].iter().all(|a| *a == Attempt::Invalid),
            "{grid}"
        );
    }
}

#[test]
fn entries_say_which_test_they_are_for() {
    let entry = |cell: u8, metadata: &str| {
        format!(
            r#"{{"attempt_1": {{"answer": [[{cell}]], "metadata": {metadata}}}, "attempt_2": null}}"#
        )
    };
    let index = |index: &str| format!(r#"{{"pair_index": {index}, "model": "\\ud800"}}"#);
    let read = |entries: &[String], tests: usize| {
        parse_attempts(&format!("[{}]", entries.join(",")), tests, lenient())
    };
    let got = |cell: i64| vec![one(cell), Attempt::Missing];
    let backwards = [entry(1, &index("1")), entry(0, &index("0"))];
    assert_eq!(read(&backwards, 2), Ok(vec![got(0), got(1)]));
    assert_eq!(read(&[entry(1, &index("1"))], 2), Ok(vec![vec![], got(1)]));
    // An output without an answer has no index either.
    let nothing = r#"{"attempt_1": null}"#.to_owned();
    let first = [nothing, entry(0, &index("0"))];
    assert_eq!(read(&first, 2), Ok(vec![got(0), vec![Attempt::Missing]]));
    for metadata in ["{}", "null", "7", r#"{"pair_index": null}"#] {
        assert_eq!(read(&[entry(0, metadata)], 1), Ok(vec![got(0)]));
        let error = read(&[entry(0, metadata)], 2).unwrap_err();
        assert!(error.contains("no pair_index in its metadata"), "{error}");
    }
    // An object without an answer is not an attempt of that program.
    for other in ["{}", r#"{"answer": null}"#, r#"{"metadata": {}}"#] {
        let entries = [format!(r#"{{"attempt_1": {other}}}"#)];
        assert_eq!(
            read(&entries, 2).map(|outputs| outputs[0].len()),
            Ok(1),
            "{other}"
        );
    }
    let disagree = format!(
        r#"{{"attempt_1": {{"answer": 1, "metadata": {}}}, "attempt_2": {{"answer": 1, "metadata": {}}}}}"#,
        index("0"),
        index("1")
    );
    for (entries, says) in [
        (
            vec![entry(0, &index("0")), entry(1, &index("0"))],
            "is there twice",
        ),
        (vec![entry(0, &index("2"))], "expected less than 2"),
        (
            vec![entry(0, &index("-1"))],
            "pair_index -1: expected the number",
        ),
        (vec![entry(0, &index("\"0\""))], "expected the number"),
        (vec![disagree], "pair_index 1: another attempt has 0"),
    ] {
        let error = read(&entries, 2).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn folders() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let read = |solutions: &Solutions| {
        Submission::read_folder(&Folder::new(folder.path()), solutions, lenient())
    };
    let empty = Solutions::read_folder(&Folder::new(folder.path()))
        .unwrap_err()
        .to_string();
    assert!(empty.contains("has no files TASK.json"), "{empty}");
    put(
        "b.json",
        r#"{"train": [], "test": [{"input": [[0]], "output": [[3]]}]}"#,
    );
    put("a.json", r#"[[[1]]]"#);
    put("notes.txt", "anything");
    let solutions = Solutions::read_folder(&Folder::new(folder.path())).unwrap();
    let tasks: Vec<_> = solutions.tasks().map(|(id, _)| id).collect();
    assert_eq!(tasks, ["a", "b"]);

    put(
        "a.json",
        r#"[{"attempt_1": {"answer": [[1]], "metadata": {}}}]"#,
    );
    put("c.json", "not read");
    put("results.json", "not read");
    std::fs::remove_file(folder.path().join("b.json")).unwrap();
    std::fs::create_dir(folder.path().join("folder.json")).unwrap();
    let submission = read(&solutions).unwrap();
    assert_eq!(submission.attempts("a"), [vec![one(1)]]);
    // A task may have the name of the program's summary.
    let results = self::solutions(r#"{"results": [[[1]]]}"#).unwrap();
    let error = read(&results).unwrap_err().to_string();
    assert!(error.contains("task \"results\": "), "{error}");
    put("results.json", r#"[{"attempt_1": [[1]]}]"#);
    assert_eq!(read(&results).unwrap().attempts("results"), [[one(1)]]);
    put("results.json", "not read");
    assert_eq!(
        (submission.missing, submission.unknown),
        (vec!["b".into()], vec!["c".into()])
    );
    put("b.json", "[");
    let error = read(&solutions).unwrap_err().to_string();
    assert!(
        error.contains("b.json: task \"b\": expected a list of"),
        "{error}"
    );
    assert!(Solutions::read_folder(&Folder::new(folder.path().join("none"))).is_err());
}

#[test]
fn solutions_are_told_from_grids() {
    for (text, expected) in [
        (r#"{"a": [[[1]]]}"#, true),
        (r#" { "a" : [ [ [ 1 ] ] ] } "#, true),
        ("\u{feff}{\"a\": {\"test\": []}}", true),
        (r#"{"x": null, "y": [[]], "a": [[[1]]]"#, true),
        (r#"{"a": [[1]]}"#, false),
        (r#"{"a": [[1]], "b": [[[1]]]}"#, false),
        ("{}", false),
        ("[]", false),
        ("", false),
        ("{\"a\": ", false),
    ] {
        assert_eq!(is_solutions(text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn grids_are_read_as_by_a_general_reader(rows in proptest::collection::vec(
        proptest::collection::vec(prop_oneof![40 => 0_i64..10, 1 => -2_i64..300], 0..5), 0..5),
        space in "[ \n\t\r]{0,2}") {
        let text = serde_json::to_string(&rows).unwrap().replace(',', &format!(",{space}"));
        let expected = Grid::from_rows(&rows).map_err(|error| error.to_string());
        prop_assert_eq!(parse_grid(&text), expected);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}\",:0-9a_ .e|\\-]{0,40}") {
        let _ = submission(&text, lenient());
        let _ = submission(&format!(r#"{{"a": [{{"attempt_1": {text}}}]}}"#), lenient());
        let _ = submission(&format!("output_id,output\n{text}"), lenient());
        let _ = solutions(&text);
        let _ = is_solutions(&text);
        if let Ok(grid) = parse_grid(&text) {
            let rows: Vec<Vec<i64>> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(Grid::from_rows(&rows), Ok(grid));
        }
    }
}
