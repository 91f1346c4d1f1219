//! The treatment of words that are nearly right, and the forms in which the program prints scores.

use crate::common::Folder;

const REFERENCES: &str =
    "{\"id\": 1, \"reference\": \"a b\"}\n{\"id\": 2, \"reference\": \"c d e\"}\n";
const PREDICTIONS: &str =
    "{\"id\": 1, \"prediction\": \"a b\"}\n{\"id\": 2, \"prediction\": \"c x e\"}\n";

fn folder() -> Folder {
    Folder::new(&[("r.jsonl", REFERENCES), ("p.jsonl", PREDICTIONS)])
}

#[test]
fn words_that_are_nearly_right_are_explained() {
    let folder = folder();
    for (words, says) in [
        (
            "wer -r r.jsonl -p p.jsonl",
            "did you mean `metric score wer -r r.jsonl -p p.jsonl`?",
        ),
        (
            "score wre -r r.jsonl -p p.jsonl",
            "unknown metric \"wre\"; did you mean wer?",
        ),
        ("score map", "coco (AP, as COCO computes it)"),
        ("score f1", "classification (labels)"),
        ("score iou", "there is no mean IoU yet"),
        ("score meteor", "METEOR is not offered"),
        ("compare wre", "did you mean wer?"),
        ("list wre", "did you mean wer?"),
        (
            "score wer,cre -r r.jsonl -p p.jsonl",
            "unknown metric \"cre\"; did you mean cer?",
        ),
        (
            "score wer r.jsonl p.jsonl",
            "files are given with -r (references) and -p (predictions)",
        ),
        (
            "compare wer r.jsonl p.jsonl",
            "`metric compare wer -r references.jsonl -p predictions.jsonl`",
        ),
        (
            "score wer -r r.jsonl -p p.jsonl --digits 2 --format json",
            "--digits does not go with --format json",
        ),
    ] {
        folder.run(words).fails(2, &[says]);
    }
}

#[test]
fn names_in_any_case_are_names() {
    let folder = folder();
    let plain = folder
        .run("score wer -r r.jsonl -p p.jsonl --format json")
        .code(0);
    let upper = folder
        .run("score WER -r r.jsonl -p p.jsonl --format json")
        .code(0);
    assert_eq!(upper.stdout, plain.stdout);
    let help = folder.run("score wer --help").code(0);
    assert_eq!(folder.run("help wer").code(0).stdout, help.stdout);
}

#[test]
fn languages_have_short_names() {
    let folder = Folder::new(&[
        ("r.jsonl", "{\"id\": 1, \"reference\": \"x = 1\"}\n"),
        ("p.jsonl", "{\"id\": 1, \"prediction\": \"x = 2\"}\n"),
    ]);
    let score = |lang: &str, out: &str| {
        let words = format!(
            "score codebleu --lang {lang} -r r.jsonl -p p.jsonl --format json --state-out {out}"
        );
        folder.run(&words).code(0).stdout
    };
    for (alias, name) in [
        ("py", "python"),
        ("js", "javascript"),
        ("c#", "c_sharp"),
        ("c++", "cpp"),
        ("ts", "typescript"),
        ("rs", "rust"),
    ] {
        assert_eq!(score(alias, "a.state"), score(name, "b.state"), "{alias}");
        let state = |name: &str| std::fs::read(folder.path(name)).expect("a state");
        assert_eq!(state("a.state"), state("b.state"), "{alias}");
    }
}

/// Two of five words and one of two texts are not what they should be: 1/5 is 0.2.
#[test]
fn scores_are_printed_as_asked_for() {
    let folder = folder();
    let run = |words: &str| {
        folder
            .run(&format!("score wer -r r.jsonl -p p.jsonl {words}"))
            .code(0)
            .stdout
    };
    let table = run("--digits 2");
    assert!(
        table.contains("│ wer ┆  0.20 │") || table.contains("0.20 "),
        "{table}"
    );
    let percent = run("--percent --digits 1");
    assert!(
        percent.contains("score (%)") && percent.contains("20.0"),
        "{percent}"
    );
    let csv = run("--format csv");
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(
        rows[..2],
        ["metric,kind,group,score,value", "wer,,,wer,0.2"]
    );
    assert_eq!(
        run("--format csv --percent").lines().nth(1),
        Some("wer,,,wer,20")
    );
    let latex = run("--format latex");
    for line in [
        "\\begin{tabular}{lr}",
        "wer & score \\\\",
        "wer & 0.2000 \\\\",
        "\\bottomrule",
    ] {
        assert!(latex.contains(line), "{latex}");
    }
    let intervals = run("--format csv --confidence 0.95");
    assert_eq!(
        intervals.lines().next(),
        Some("metric,kind,group,score,value,low,high")
    );
}

#[test]
fn one_metric_is_listed_at_length() {
    let folder = Folder::new(&[]);
    let text = folder.run("list wer").code(0).stdout;
    for part in [
        "wer: ",
        "Reference:  ",
        "  wer (lower is better)",
        "--profile jiwer|",
        "[default: jiwer]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = folder.run("list wer --format json").json();
    assert_eq!(json["metrics"].as_array().map(Vec::len), Some(1));
    assert_eq!(json["metrics"][0]["name"], "wer");
}

#[test]
fn shells_and_man_know_the_program() {
    let folder = Folder::new(&[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&format!("completions {shell}")).code(0).stdout;
        for word in ["metric", "codebleu", "state-out", "oks-sigmas"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    let page = folder.run("man").code(0).stdout;
    assert!(page.contains(".TH metric 1"), "{page}");
    folder.run("man --out pages").code(0);
    let page = std::fs::read_to_string(folder.path("pages/metric-score-wer.1"));
    assert!(page.expect("a page").contains("profile"));
}

/// The second text has one incorrect word of three.
#[test]
fn the_worst_examples_are_printed() {
    let folder = folder();
    let run = |words: &str| folder.run(&format!("score wer -r r.jsonl -p p.jsonl {words}"));
    let table = run("--show-worst 3").code(0).stdout;
    let row = table.lines().find(|line| line.contains("c d e"));
    let row = row.expect("a row of the example");
    for part in ["2", "0.3333", "c d e", "c x e"] {
        assert!(row.contains(part), "{row}");
    }
    // The other one is perfect.
    assert!(!table.contains("a b"), "{table}");
    let markdown = run("--show-worst 1 --format markdown").code(0).stdout;
    assert!(markdown.contains("| worst | "), "{markdown}");
    run("--show-worst 1 --format json").fails(2, &["--per-sample FILE"]);
    let perfect =
        folder.run("score wer -r r.jsonl -p r.jsonl --prediction-field reference --show-worst 1");
    assert!(
        perfect
            .code(0)
            .stdout
            .contains("All examples have a perfect wer")
    );
}

/// `exact_match` and `f1` of SQuAD rank the answers in different orders: by words, the second one is the worst.
#[test]
fn the_worst_examples_are_those_of_any_score() {
    let references = "{\"id\": 1, \"reference\": \"a b c d\", \"kind\": \"long\"}\n\
                      {\"id\": 2, \"reference\": \"e\", \"kind\": \"short\"}\n";
    let predictions = "{\"id\": 1, \"prediction\": \"b c d x\"}\n\
                       {\"id\": 2, \"prediction\": \"y\"}\n";
    let folder = Folder::new(&[("r.jsonl", references), ("p.jsonl", predictions)]);
    let run = |words: &str| {
        folder.run(&format!(
            "score squad -r r.jsonl -p p.jsonl --show-worst 1 {words}"
        ))
    };
    let first = run("").code(0).stdout;
    assert!(
        first.contains("b c d x") && !first.contains(" y "),
        "{first}"
    );
    let by_words = run("--worst-by f1 --slice-field kind").code(0).stdout;
    let header = by_words.lines().find(|line| line.contains("worst"));
    let row = by_words.lines().find(|line| line.contains(" y "));
    for (line, parts) in [
        (
            header,
            &["worst", "f1", "kind", "reference", "prediction"][..],
        ),
        (row, &["2", "0.0000", "short", "e", "y"]),
    ] {
        let line = line.expect(&by_words);
        let cells: Vec<&str> = line
            .split(['│', '┆'])
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .collect();
        assert_eq!(cells, parts, "{by_words}");
    }
    run("--worst-by bleu").fails(2, &["--worst-by", "exact_match, f1"]);
}

/// Three of four answers of one system are correct, and one of the other.
#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn comparisons_are_printed_as_asked_for() {
    let folder = Folder::new(&[(
        "pairs.csv",
        "id,reference,old,new\n1,a,a,a\n2,b,x,b\n3,c,x,c\n4,d,x,x\n",
    )]);
    let run = |words: &str| {
        folder.run(&format!(
            "compare string-accuracy --pairs pairs.csv --prediction-field old --prediction-field new {words}"
        ))
    };
    let csv = run("--format csv --resamples 50").code(0).stdout;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 3, "{csv}");
    assert!(rows.iter().all(|row| row.len() == 17), "{csv}");
    assert_eq!(rows[1][..5], ["", "", "string_accuracy", "old", "0.25"]);
    assert_eq!(rows[2][..5], ["", "", "string_accuracy", "new", "0.75"]);
    assert_eq!(rows[2][7..9], ["old", "0.5"]);
    // McNemar: two changes, both for the better: 2 x 0.25.
    assert_eq!(
        rows[2][11..],
        ["0.5", "0.5", "mcnemar-exact", "2", "2", "0"]
    );
    assert_eq!(rows[1][7..], [""; 10]);
    let percent = run("--format csv --percent --digits 1").code(0).stdout;
    assert!(
        percent.contains("new,75.0,") && percent.contains(",old,50.0,"),
        "{percent}"
    );
    let table = run("--percent --digits 1").code(0).stdout;
    for part in ["score (%)", "75.0", "+50.0", "95% interval of difference"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    run("--digits 1 --format json").fails(2, &["--digits does not go with --format json"]);
}

/// Colors are a matter of `--color` for errors, help and examples alike; nothing here is a terminal.
#[test]
fn colors_are_as_asked_for() {
    let folder = folder();
    for words in [
        "score wre",
        "score wer --help",
        "score wer -r r.jsonl -p p.jsonl --show all",
        "score wer -r none.jsonl -p p.jsonl",
    ] {
        for (color, expected) in [
            ("", false),
            ("--color always", true),
            ("--color never", false),
        ] {
            let run = folder.run(&format!("{words} {color}"));
            let has_colors = (run.stdout + &run.stderr).contains('\u{1b}');
            assert_eq!(has_colors, expected, "{words} {color}");
        }
    }
}

/// The first image has a box that is found and one that is not, the second one has a box that is not, and no detection.
#[test]
fn the_worst_images_have_the_lowest_f1() {
    let references = "{\"id\": 1, \"reference\": [[0, 0, 9, 9], [50, 50, 9, 9]]}\n\
                      {\"id\": 2, \"reference\": [[0, 0, 9, 9]]}\n";
    let predictions = "{\"id\": 1, \"prediction\": [[0, 0, 9, 9]]}\n\
                       {\"id\": 2, \"prediction\": []}\n";
    let folder = Folder::new(&[("r.jsonl", references), ("p.jsonl", predictions)]);
    let run = folder.run("score detection -r r.jsonl -p p.jsonl --show-worst 2");
    let text = run.code(0).stdout;
    let rows = text.lines().skip_while(|line| !line.contains("worst"));
    let cells = rows.map(|line| {
        let cells = line.split(['│', '┆']).map(str::trim);
        cells.skip(1).take(2).collect::<Vec<_>>()
    });
    let cells: Vec<Vec<&str>> = cells.filter(|cells| cells.len() == 2).collect();
    // 2 x 1 / (2 x 1 + 0 + 1)
    assert_eq!(
        cells[..3],
        [["worst", "f1"], ["2", "0.0000"], ["1", "0.6667"]],
        "{text}"
    );
}

/// Samples are written next to what a folder holds, hidden files included, and nothing is overwritten.
#[test]
fn samples_are_saved_next_to_other_files() {
    let folder = Folder::new(&[]);
    std::fs::create_dir(folder.path("here")).expect("a folder");
    for (name, text) in [("here/.git", "hidden"), ("here/notes.md", "mine")] {
        folder.put(name, text.as_bytes());
    }
    folder.run("demo --save here").code(0);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).expect("a text");
    assert_eq!(
        [read("here/.git"), read("here/notes.md")],
        ["hidden", "mine"]
    );
    let sample = read("here/words.txt");
    // Again, with one of the samples changed.
    folder.run("demo --save here").code(0);
    folder.put("here/words.txt", b"other words");
    folder
        .run("demo --save here")
        .fails(2, &["here/words.txt: exists with other content"]);
    assert_eq!(read("here/words.txt"), "other words");
    assert_ne!(sample, "other words");
}
