//! `--more-references`: references of one record in several files.

use crate::common::Folder;

use std::fs;

use serde_json::json;

/// Two translations of two sentences, and three systems.
fn folder() -> Folder {
    Folder::new(&[
        ("r1.txt", "the cat sat on the mat\nit rained all day\n"),
        ("r2.txt", "a cat sat on the mat\nit was raining\n"),
        ("short.txt", "a cat sat on the mat\n"),
        ("p.txt", "a cat sat on the mat\nit rained all day\n"),
        ("worse.txt", "a cat sat on a mat\nit rained all day\n"),
        ("worst.txt", "a dog\nit rained all day\n"),
        (
            "r1.jsonl",
            "{\"id\": 1, \"reference\": \"a\"}\n{\"id\": 2, \"references\": [\"b\", null]}\n",
        ),
        (
            "r2.jsonl",
            "{\"id\": 2, \"reference\": null}\n{\"id\": 1, \"reference\": \"c\"}\n",
        ),
        (
            "other.jsonl",
            "{\"id\": 1, \"reference\": \"c\"}\n{\"id\": 3, \"reference\": \"c\"}\n",
        ),
        (
            "p.jsonl",
            "{\"id\": 2, \"prediction\": \"b\"}\n{\"id\": 1, \"prediction\": \"c\"}\n",
        ),
        ("dev.json", include_str!("../../demo/squad-data.json")),
        (
            "answers.json",
            include_str!("../../demo/squad-predictions.json"),
        ),
    ])
}

#[test]
fn references_of_all_files_count() {
    let folder = folder();
    let score = |words: &str| {
        folder
            .run(&format!("score {words} --format json -q"))
            .code(0)
            .json()
    };
    // All n-grams are in a reference, of the second file for one line and of the first for the other.
    let result = score("bleu -r r1.txt --more-references r2.txt -p p.txt");
    assert_eq!(result["counts"]["correct"], json!([10, 8, 6, 4]));
    assert!(
        result["signature"]
            .as_str()
            .is_some_and(|it| it.contains("|nrefs:2|"))
    );
    let result = score("exact-match -r r1.jsonl --more-references r2.jsonl -p p.jsonl");
    assert_eq!(result["counts"]["correct"], 2);
}

#[test]
fn files_that_do_not_fit_are_errors() {
    let folder = folder();
    for (words, code, says) in [
        (
            "-r r1.txt --more-references short.txt -p p.txt",
            3,
            "short.txt: has 1 line, and r1.txt has 2: expected as many",
        ),
        (
            "-r short.txt --more-references r1.txt -p short.txt",
            3,
            "r1.txt: has 2 lines, and short.txt has 1",
        ),
        (
            "-r r1.jsonl --more-references other.jsonl -p p.jsonl",
            3,
            "other.jsonl: id \"3\": is not in the first file of references",
        ),
        (
            "-r r1.txt --more-references none.txt -p p.txt",
            3,
            "none.txt: cannot open",
        ),
        (
            "--pairs r1.txt --more-references r2.txt",
            2,
            "--pairs does not go with --more-references",
        ),
        (
            "-r r1.txt r2.txt -p p.txt",
            3,
            "to add further references of the same records, use --more-references",
        ),
    ] {
        folder
            .run(&format!("score bleu {words}"))
            .fails(code, &[says]);
    }
    folder
        .run("score wer -r r1.txt --more-references r2.txt -p p.txt")
        .fails(2, &["--more-references is not an option of wer"]);
    folder
        .run("score squad -r dev.json --more-references dev.json -p answers.json")
        .fails(
            2,
            &["--more-references dev.json is not used: expected two files of records"],
        );
    // Files of one reference per record have nothing to do with further references.
    let other = folder.run("score wer -r r1.txt r2.txt -p p.txt");
    assert!(
        !other.stderr.contains("more-references"),
        "{}",
        other.stderr
    );
}

#[test]
fn examples_of_a_comparison_have_the_bleu_of_sentences() {
    let folder = folder();
    let words = "compare bleu -r r1.txt --more-references r2.txt -p p.txt worse.txt worst.txt -q";
    let found = folder.run(&format!("{words} --format json")).code(0).json();
    // The second line is the same in all files, and the first is as in a reference in the first file only.
    for comparison in found["comparisons"].as_array().expect("a list") {
        let of = |name: &str| comparison[name].as_u64();
        assert_eq!(
            (of("wins"), of("ties"), of("losses")),
            (Some(0), Some(1), Some(1))
        );
        assert_eq!(comparison["score"], "bleu");
    }
    let found = folder
        .run(&format!("{words} --show-regressions 5 --format json"))
        .code(0)
        .json();
    let examples = found["regressions"][0]["examples"]
        .as_array()
        .expect("a list");
    assert_eq!(examples.len(), 1);
    assert_eq!(examples[0]["id"], "1");
    // A perfect text can have a little more than 1.
    assert!(
        examples[0]["scores"][0].as_f64() > Some(0.999),
        "{examples:?}"
    );
}

#[test]
fn a_task_of_a_suite_has_further_references() {
    let folder = folder();
    let suite = |lines: &str| {
        format!(
            "name = \"x\"\n[[task]]\nname = \"t\"\nmetric = \"bleu\"\nreferences = \"r1.txt\"\npredictions = \"p.txt\"\n{lines}\n"
        )
    };
    fs::create_dir(folder.path("s")).expect("a folder");
    folder.put("s/p.txt", b"a cat sat on the mat\nit rained all day\n");
    folder.put(
        "suite.toml",
        suite("more-references = [\"r2.txt\"]").as_bytes(),
    );
    let found = folder
        .run("run suite.toml -p s --format json")
        .code(0)
        .json();
    assert_eq!(
        found["tasks"]["t"]["result"]["counts"]["correct"],
        json!([10, 8, 6, 4])
    );
    for (lines, says) in [
        (
            "more-references = [\"short.txt\"]",
            "suite.toml:2: task \"t\": short.txt: has 1 line, and r1.txt has 2",
        ),
        (
            "more-references = [\"none.txt\"]",
            "task \"t\": more-references: none.txt: cannot open",
        ),
        ("more-references = \"r2.txt\"", "expected a list"),
    ] {
        folder.put("suite.toml", suite(lines).as_bytes());
        folder.run("run suite.toml -p s").fails(3, &[says]);
    }
    let wer = suite("more-references = [\"r2.txt\"]").replace("bleu", "wer");
    folder.put("suite.toml", wer.as_bytes());
    let says =
        "suite.toml:7: task \"t\": more-references: wer compares with one reference per record";
    folder.run("run suite.toml -p s").fails(3, &[says]);
    // Participants do not learn what is wrong with the references.
    folder.put(
        "suite.toml",
        suite("more-references = [\"r2.txt\"]").as_bytes(),
    );
    folder.put("s/p.txt", b"a cat\n");
    let found = folder
        .run("run suite.toml -p s --private --format json")
        .code(0)
        .stdout;
    assert!(
        found.contains("p.txt: 1 reference has no prediction"),
        "{found}"
    );
    assert!(!found.contains("r2.txt"), "{found}");
}
