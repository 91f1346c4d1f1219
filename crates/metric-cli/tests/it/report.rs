//! Reports, end to end.

#![cfg(feature = "report")]

use std::fs;

use crate::common::Folder;
use metric_run::registry::{Demo, ENTRIES, Entry, find};
use serde_json::Value;

/// The words after `score` of each demo of each metric, with options for more to show.
fn demos() -> Vec<String> {
    let words = |entry: &Entry, demo: &Demo| {
        let mut words = entry.name.to_owned();
        for (name, value) in demo.options {
            words += &format!(" --{name} {value}");
        }
        let more = match entry.name {
            "classification" | "coco" | "voc" => " --groups class",
            "wer" => " --confidence 0.95",
            _ => "",
        };
        words + &files(demo) + more
    };
    let demos = ENTRIES
        .iter()
        .flat_map(|entry| entry.demos.iter().map(move |demo| words(entry, demo)));
    demos.collect()
}

/// The arguments with the files of a demo.
fn files(demo: &Demo) -> String {
    let files = ["-r", "-p"].into_iter().zip(demo.files);
    let files = files.filter(|(_, name)| !name.is_empty());
    let words = files.map(|(option, name)| format!(" {option} d/{name}"));
    words.collect()
}

fn text_of(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).expect(name)
}

/// The attributes of the score cards of a page: names and values.
fn cards(page: &str) -> Vec<(String, String)> {
    let attribute = |text: &str, name: &str| {
        let start = text.find(&format!("{name}=\"")).expect("an attribute") + name.len() + 2;
        let end = text[start..].find('"').expect("an end");
        text[start..start + end].to_owned()
    };
    let cards = page
        .split("<div class=\"card")
        .skip(1)
        .filter(|card| card.contains("data-score"));
    cards
        .filter(|card| card.starts_with('"') || card.starts_with(" main\""))
        .map(|card| (attribute(card, "data-score"), attribute(card, "data-value")))
        .collect()
}

#[test]
fn every_metric_has_a_report_with_the_numbers_of_its_json() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    for words in demos() {
        let run = folder
            .run(&format!("score {words} --report r.html --format json -q"))
            .code(0);
        let result: Value = run.json();
        let page = fs::read_to_string(folder.path("r.html")).expect("a report");
        let expected: Vec<(String, String)> = result["scores"]
            .as_object()
            .expect("scores")
            .iter()
            .map(|(name, value)| {
                (
                    name.clone(),
                    value
                        .as_f64()
                        .map_or_else(String::new, |value| value.to_string()),
                )
            })
            .collect();
        let mut found = cards(&page);
        let mut expected = expected;
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{words}");
        assert!(page.len() < 250_000, "{words}: {} bytes", page.len());
        assert_eq!(page.matches("<script").count(), 1, "{words}");
        assert!(
            !page.contains("href=\"http") && !page.contains("src=\"http"),
            "{words}"
        );
        assert!(page.contains("SHA-256"), "{words}");
    }
}

#[test]
fn reports_do_not_depend_on_threads() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    for words in [
        "wer -r d/spoken.txt -p d/heard.txt --confidence 0.95",
        "coco -r d/coco-truth.json -p d/coco-results.json",
    ] {
        let page = |threads: &str| {
            let command = format!("score {words} --report r.html -q --threads {threads}");
            folder.run(&command).code(0);
            let page = fs::read_to_string(folder.path("r.html")).expect("a report");
            page.replace(&format!("--threads {threads}"), "")
        };
        assert_eq!(page("1"), page("2"), "{words}");
    }
}

fn texts(reference: &str, prediction: &str) -> Folder {
    let line = |id: &str, side: &str, text: &str| {
        serde_json::json!({"id": id, side: text, "kind": id}).to_string() + "\n"
    };
    let ids = [reference, "b"];
    let references: String = ids
        .iter()
        .map(|id| line(id, "reference", reference))
        .collect();
    let predictions: String = ids
        .iter()
        .map(|id| line(id, "prediction", prediction))
        .collect();
    Folder::new(&[("r.jsonl", &references), ("p.jsonl", &predictions)])
}

#[test]
fn hostile_data_do_not_change_the_page() {
    let tags = |reference: &str, prediction: &str| {
        let folder = texts(reference, prediction);
        let words = "score string-accuracy -r r.jsonl -p p.jsonl -q --slice-field kind --report r.html --report-date none";
        folder.run(words).code(0);
        let mut page = fs::read_to_string(folder.path("r.html")).expect("a report");
        // The element that spells out a character is the only one that a text may add.
        while let Some(start) = page.find("<span class=\"ctl\">") {
            let end = page[start..].find("</span>").expect("an end") + start + "</span>".len();
            page.replace_range(start..end, "");
        }
        page.matches('<').count()
    };
    let harmless = tags("truth", "other");
    for attack in [
        "<script>alert(1)</script>",
        "</style></title></svg><img src=x onerror=alert(1)>",
        "\"'><b onclick=x>",
        "\u{202e}\u{0}\u{feff}",
        "<!--",
        "{{ 7 * 7 }}",
    ] {
        assert_eq!(
            tags(attack, &format!("{attack}{attack}")),
            harmless,
            "{attack:?}"
        );
    }
}

#[test]
fn scores_have_the_digits_that_are_asked_for() {
    let folder = texts("a b c", "a b d");
    let words = "score wer -r r.jsonl -p p.jsonl --digits 2 --report r.html";
    folder.run(words).code(0);
    let page = text_of(&folder, "r.html");
    assert!(
        page.contains("title=\"0.3333333333333333\">0.33<"),
        "{page}"
    );
}

#[test]
fn a_failed_check_still_has_a_report() {
    let folder = texts("a b", "a c");
    let words = "score wer -r r.jsonl -p p.jsonl -q --fail-over wer=0.1 --report r.html";
    folder.run(words).code(1);
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    assert!(page.contains("wer ≤ 0.1: failed"));
    folder
        .run("score wer -r r.jsonl -p p.jsonl -q --fail-over wer=0.9 --report r.html")
        .code(0);
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    assert!(page.contains("wer ≤ 0.9: passed"));
}

#[test]
fn bad_input_has_no_report() {
    let folder = texts("a", "b");
    folder.put("broken.jsonl", b"{\n");
    folder
        .run("score wer -r r.jsonl -p broken.jsonl -q --report r.html")
        .code(3);
    assert!(!folder.path("r.html").exists());
}

#[test]
fn paths_are_checked_before_the_work() {
    let folder = texts("a", "b");
    folder.put("broken.jsonl", b"{\n");
    for path in [
        "no/such/r.html",
        "r.pdf",
        "r",
        "p.jsonl.html/x.html",
        "r.jsonl",
    ] {
        // The data would be an error if they were read.
        let words = format!("score wer -r r.jsonl -p broken.jsonl -q --report {path}");
        folder.run(&words).code(2);
    }
    folder
        .run("score wer -r r.jsonl -p p.jsonl --report-title x")
        .code(2);
    folder
        .run("score wer -r r.jsonl -p p.jsonl --report r.html --report-date soon")
        .code(2);
}

#[test]
fn a_report_has_several_forms() {
    let folder = texts("a b", "a c");
    let words = "score wer -r r.jsonl -p p.jsonl -q --report";
    let run = folder.run(&format!("{words} -")).code(0);
    assert!(run.stdout.starts_with("<!DOCTYPE html>") && run.stdout.ends_with("</html>\n"));
    folder.run(&format!("{words} r.md")).code(0);
    let text = fs::read_to_string(folder.path("r.md")).expect("a report");
    assert!(
        text.starts_with("# Word error rate\n") && text.contains("| wer | 0.5000 |"),
        "{text}"
    );
    folder.run(&format!("{words} out/")).code(0);
    for name in ["index.html", "report.css", "report.js"] {
        assert!(folder.path("out").join(name).is_file(), "{name}");
    }
    let page = fs::read_to_string(folder.path("out").join("index.html")).expect("a report");
    assert!(page.contains("style-src &#39;self&#39;") && !page.contains("<style"));
}

#[test]
fn private_reports_hold_no_text() {
    let folder = texts("secret words", "covert words");
    let words = "score wer -r r.jsonl -p p.jsonl -q --report r.html";
    folder.run(words).code(0);
    let page = || fs::read_to_string(folder.path("r.html")).expect("a report");
    assert!(page().contains("secret") && page().contains("covert"));
    folder.run(&format!("{words} --report-no-examples")).code(0);
    assert!(!page().contains("secret") && !page().contains("covert"));
    assert!(page().contains("row 1"));
    // Nor do warnings name ids.
    let pair = |id: &str, prediction: &str| {
        format!("{{\"id\": \"{id}\", \"reference\": [[1]], \"prediction\": {prediction}}}\n")
    };
    let text = pair("patient-7", "[[1, 2], [3]]") + &pair("b", "[[1]]");
    folder.put("grids.jsonl", text.as_bytes());
    folder.put("tasks.json", b"{\"patient-8\": [[[1]]], \"b\": [[[1]]]}");
    folder.put("answers.json", b"{\"b\": [{\"attempt_1\": [[1]]}]}");
    for data in ["--pairs grids.jsonl", "-r tasks.json -p answers.json"] {
        let words = format!("score arc {data} -q --report r.html");
        folder.run(&words).code(0);
        assert!(page().contains("patient"), "{data}");
        folder.run(&format!("{words} --report-no-examples")).code(0);
        assert!(!page().contains("patient"), "{data}");
        assert!(
            page().contains("score") && page().contains("1 warning"),
            "{data}"
        );
    }
}

#[test]
fn the_worst_examples_are_listed() {
    let (mut references, mut predictions) = (String::new(), String::new());
    for index in 0..30 {
        references += &format!("{{\"id\": {index}, \"reference\": \"a b c d e f g h i j\"}}\n");
        let wrong = [
            "a b c d e f g h i j",
            "x b c d e f g h i j",
            "x y c d e f g h i j",
        ][index % 3];
        predictions += &format!("{{\"id\": {index}, \"prediction\": \"{wrong}\"}}\n");
    }
    let folder = Folder::new(&[("r.jsonl", &references), ("p.jsonl", &predictions)]);
    for (most, expected) in [(0, 0), (1, 1), (20, 20), (21, 20), (1000, 20)] {
        let words =
            format!("score wer -r r.jsonl -p p.jsonl -q --report r.html --report-examples {most}");
        folder.run(&words).code(0);
        let page = fs::read_to_string(folder.path("r.html")).expect("a report");
        // 10 examples of 30 are perfect.
        assert_eq!(page.matches("<article").count(), expected, "{most}");
        if most > 0 {
            let first = page.find("id=\"ex-1\"").expect("an example");
            assert!(
                page[first..]
                    .split("</h3>")
                    .next()
                    .is_some_and(|head| head.contains(">2<")),
                "the worst one"
            );
            assert!(page.contains("10 of 30 examples are exactly 0"));
        }
    }
    folder
        .run("score wer -r r.jsonl -p p.jsonl --report r.html --report-examples 1001")
        .code(2);
}

#[test]
fn comparisons_have_reports() {
    let (mut references, mut first, mut second) = (String::new(), String::new(), String::new());
    for index in 0..60 {
        references += &format!(
            "{{\"id\": {index}, \"reference\": \"a b c d\", \"room\": \"{}\"}}\n",
            index % 2
        );
        let wrong = |every| if index % every == 0 { "x" } else { "d" };
        first += &format!(
            "{{\"id\": {index}, \"prediction\": \"a b c {}\"}}\n",
            wrong(2)
        );
        second += &format!(
            "{{\"id\": {index}, \"prediction\": \"a b c {}\"}}\n",
            wrong(7)
        );
    }
    let folder = Folder::new(&[
        ("r.jsonl", &references),
        ("a.jsonl", &first),
        ("b.jsonl", &second),
    ]);
    let words = "compare wer -r r.jsonl -p a.jsonl b.jsonl -q --slice-field room --format json --report r.html";
    let result = folder.run(words).code(0).json();
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    assert!(page.contains("Is <bdi>") || page.contains("Is b better than a?"));
    assert!(page.contains("b is better than a on wer"));
    let cards = cards(&page);
    assert!(result.to_string().contains(&cards[0].1), "{}", cards[0].1);
    assert_eq!(cards[0].0, "wer.difference");
    assert!(page.contains("By <bdi>") || page.contains("By room"));
    assert!(page.contains("Largest gains of b"));
    // Only a is wrong on 25 examples, only b on 4, and 31 have equal scores.
    assert!(page.contains("31 examples have equal scores and no bar."));
    for title in ["0.25 to 0.30: 4 examples", "−0.30 to −0.25: 25 examples"] {
        assert!(page.contains(&format!("<title>{title}</title>")), "{title}");
    }
    let bins = &result["comparisons"][0]["distribution"]["bins"];
    assert_eq!([&bins[4], &bins[15]], [25, 4]);
    // Without a difference it says that none is shown.
    folder
        .run("compare wer -r r.jsonl -p a.jsonl a.jsonl --names a,c -q --report r.html")
        .code(0);
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    assert!(page.contains("No difference shown"));
}

#[test]
fn stored_results_have_reports() {
    let folder = texts("a b c", "a b d");
    let json = |name: &str, options: &str| {
        let words = format!(
            "score wer -r r.jsonl -p p.jsonl -q --format json --per-sample s.jsonl {options}"
        );
        let result = folder.run(&words).code(0).stdout;
        folder.put(name, result.as_bytes());
    };
    json("first.json", "");
    json("second.json", "--normalize casefold");
    folder
        .run("report first.json --report one.html --report-no-examples")
        .code(0);
    let page = |name: &str| fs::read_to_string(folder.path(name)).expect("a report");
    assert_eq!(cards(&page("one.html"))[0].0, "wer");
    assert!(page("one.html").contains("--per-sample FILE adds them"));
    folder
        .run("report first.json second.json --per-sample s.jsonl --report two.html")
        .code(0);
    assert!(page("two.html").contains("Scores of all results"));
    assert!(page("two.html").contains("Worst examples"));
    // Results of different metrics have all their scores.
    let other = folder.run("score cer -r r.jsonl -p p.jsonl -q --format json");
    folder.put("other.json", other.code(0).stdout.as_bytes());
    folder
        .run("report first.json other.json --report mixed.md")
        .code(0);
    assert_eq!(page("mixed.md").matches("| wip |").count(), 2);
    assert!(
        folder
            .run("report first.json")
            .code(0)
            .stdout
            .starts_with("<!DOCTYPE html>")
    );
    folder.run("report r.jsonl").code(3);
    folder.run("report missing.json").code(3);
    folder
        .run("report first.json --per-sample first.json")
        .fails(
            3,
            &["first.json:1: expected the scores of an example, as score --per-sample writes them"],
        );
    folder.run("report first.json --report first.json").code(2);
}

/// All numbers of a JSON text, as they are written in pages.
fn numbers(value: &Value, found: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Number(number) => {
            found.extend(number.as_u64().map(|count| count.to_string()));
            found.extend(number.as_f64().map(|value| value.to_string()));
        }
        Value::Array(items) => items.iter().for_each(|item| numbers(item, found)),
        Value::Object(items) => items.values().for_each(|item| numbers(item, found)),
        _ => {}
    }
}

#[test]
fn numbers_of_tables_are_those_of_the_json() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    for words in demos() {
        let command = format!("score {words} --report r.html --format json -q");
        let result: Value = folder.run(&command).code(0).json();
        let mut known = std::collections::BTreeSet::from(["0".to_owned(), String::new()]);
        numbers(&result, &mut known);
        let details = folder.run(&format!("{command} --details d.json"));
        if details.code == Some(0) {
            let text = fs::read_to_string(folder.path("d.json")).expect("details");
            numbers(&serde_json::from_str(&text).expect("JSON"), &mut known);
        }
        let page = fs::read_to_string(folder.path("r.html")).expect("a report");
        // Tables of charts hold parts of what --per-sample writes.
        let shown: String = page
            .split("<details>")
            .enumerate()
            .map(
                |(index, part)| match (index, part.split_once("</details>")) {
                    (0, _) | (_, None) => part,
                    (_, Some((_, rest))) => rest,
                },
            )
            .collect();
        let values = shown.split(" data-v=\"").skip(1);
        let values = values.filter_map(|part| part.split('"').next());
        let strange: Vec<&str> = values.filter(|value| !known.contains(*value)).collect();
        assert!(strange.is_empty(), "{words}: {strange:?}");
    }
}

/// The details of a demo, as the program writes them.
fn details(folder: &Folder, words: &str) -> Value {
    let command = format!("score {words} -q --details d.json");
    folder.run(&command).code(0);
    let text = fs::read_to_string(folder.path("d.json")).expect("details");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
#[allow(clippy::too_many_lines, reason = "one page after the other")]
fn details_add_up_to_the_scores() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    let scores = |words: &str| {
        let run = folder.run(&format!("score {words} -q --format json"));
        run.code(0).json()["scores"].clone()
    };
    let boxes = "-r d/coco-truth.json -p d/coco-results.json";

    let voc = details(&folder, &format!("voc {boxes}"));
    let curves = voc["precision_recall"].as_array().expect("curves");
    assert_eq!(curves.len(), 2);
    for curve in curves {
        let points = curve["points"].as_array().expect("points");
        let falls = |name: &str| {
            let values = points.iter().map(|point| point[name].as_f64());
            values.collect::<Vec<_>>().is_sorted_by(|a, b| a > b)
        };
        assert!(points.len() > 2 && falls("score"), "{curve}");
    }
    assert_eq!(voc["mean"].as_array().map(Vec::len), Some(101));

    let tide = details(&folder, &format!("tide {boxes}"));
    let score = scores(&format!("tide {boxes}"));
    assert_eq!(tide["AP"], score["AP"]);
    for error in tide["errors"].as_array().expect("errors") {
        let name = error["error"].as_str().expect("a name");
        assert_eq!(error["dAP"], score[format!("dAP_{name}")], "{name}");
    }
    let mean = |pointer: &str| {
        let classes = tide["classes"].as_array().expect("classes").iter();
        let values: Vec<f64> = classes
            .filter_map(|class| class.pointer(pointer)?.as_f64())
            .collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let cost = mean("/AP_corrected/Miss") - mean("/AP");
    let expected = score["dAP_Miss"].as_f64().expect("a cost");
    assert!((cost - expected).abs() < 1e-12, "{cost} {expected}");

    let words = "codebleu -r d/functions.jsonl -p d/written-functions.jsonl --lang-field lang";
    let code = details(&folder, words);
    let components = code["components"].as_array().expect("components");
    let product = |part: &Value| Some(part["weight"].as_f64()? * part["score"].as_f64()?);
    let sum: f64 = components.iter().filter_map(product).sum();
    let expected = scores(words)["codebleu"].as_f64().expect("a score");
    assert!((sum - expected).abs() < 1e-12, "{sum} {expected}");
    assert_eq!(code["ngrams"].as_array().map(Vec::len), Some(4));

    for (words, count) in [
        ("arc -r d/arc-solutions.jsonl -p d/arc-answers.jsonl", 10),
        ("arc -r d/arc-tasks.json -p d/arc-submission.json", 10),
    ] {
        let arc = details(&folder, words);
        let outcomes = arc["outcomes"].as_array().expect("outcomes").iter();
        let sum: u64 = outcomes
            .filter_map(|outcome| outcome["count"].as_u64())
            .sum();
        assert_eq!(
            (sum, arc["outputs"].as_u64()),
            (count, Some(count)),
            "{words}"
        );
    }

    let words = "openlane -r d/frames.jsonl -p d/predicted-frames.jsonl";
    let openlane = details(&folder, words);
    let lanes = openlane["lanes"].as_array().expect("lanes").iter();
    let sum: f64 = lanes
        .filter_map(|lanes| lanes["average_precision"].as_f64())
        .sum();
    let expected = scores(words)["DET_l"].as_f64().expect("a score");
    assert!((sum / 3.0 - expected).abs() < 1e-12, "{sum} {expected}");

    let mrr = details(&folder, "mrr -r d/labels.jsonl -p d/ranked-labels.jsonl");
    let ranks = mrr["ranks"].as_array().expect("ranks").iter();
    let number = |rank: &Value, name: &str| rank[name].as_f64().expect("a number");
    let sums = ranks.map(|rank| (number(rank, "examples"), number(rank, "first")));
    let (all, reciprocal) = sums.fold((0.0, 0.0), |(all, sum), (count, rank)| {
        (all + count, sum + count / rank)
    });
    let all = all + number(&mrr, "without_rank");
    let expected = scores("mrr -r d/labels.jsonl -p d/ranked-labels.jsonl")["mrr"].as_f64();
    assert!((reciprocal / all - expected.expect("a score")).abs() < 1e-12);

    // Missed labels are those without a hit at the least k.
    for (words, hits) in [
        (
            "accuracy-at-k -r d/labels.jsonl -p d/ranked-labels.jsonl --k 2,3",
            "hits@2",
        ),
        (
            "mrr -r d/labels.jsonl -p d/ranked-labels.jsonl --k 1",
            "found",
        ),
        (
            "accuracy-at-k --input scores -r d/digits.jsonl -p d/digit-scores.jsonl",
            "hits@1",
        ),
    ] {
        let missed = details(&folder, words)["missed"].take();
        let missed = missed.as_array().expect("missed labels").iter();
        let counts: Vec<u64> = missed
            .map(|missed| missed["examples"].as_u64().expect("a count"))
            .collect();
        assert!(counts.is_sorted_by(|a, b| a >= b), "{words}");
        let result = folder.run(&format!("score {words} -q --format json"));
        let counted = result.code(0).json()["counts"].take();
        let found = [&counted[hits], &counted["total"]].map(|count| count.as_u64());
        let [hits, total] = found.map(|count| count.expect("a count"));
        assert_eq!(counts.iter().sum::<u64>(), total - hits, "{words}");
        assert!(hits < total, "{words}");
    }
}

#[test]
fn compact_details_have_curves_and_no_arrays() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    let words = "coco -r d/coco-truth.json -p d/coco-results.json";
    let compact = details(&folder, &format!("{words} --details-form compact"));
    let full = details(&folder, words);
    assert!(compact.get("precision").is_none() && full["precision"].is_array());
    for name in ["precision_recall", "by_score"] {
        assert_eq!(compact[name], full[name], "{name}");
    }
    // Ten thresholds and their mean, whose mean precisions are the average precisions.
    let run = folder.run(&format!("score {words} -q --format json"));
    let whole = run.code(0).json();
    let scores = &whole["scores"];
    let curves = compact["precision_recall"].as_array().expect("curves");
    assert_eq!(curves.len(), 11);
    assert_eq!(curves[0]["average_precision"], scores["AP50"]);
    assert_eq!(curves[10]["average_precision"], scores["AP"]);
    for curve in curves {
        let points = curve["points"].as_array().expect("points").iter();
        let sum: f64 = points.filter_map(|point| point["precision"].as_f64()).sum();
        let expected = curve["average_precision"].as_f64().expect("a score");
        assert!((sum / 101.0 - expected).abs() < 1e-12, "{curve}");
    }
    // The lowest score has all detections and objects.
    let last = compact["by_score"]["points"]
        .as_array()
        .and_then(|points| points.last());
    let count = |name: &str| {
        last.and_then(|point| point[name].as_u64())
            .expect("a count")
    };
    assert_eq!(
        count("tp") + count("fn"),
        whole["counts"]["truths"].as_u64().expect("a count")
    );
    assert!(count("tp") + count("fp") <= whole["counts"]["detections"].as_u64().expect("a count"));
    let forms = folder
        .run(&format!("score {words} --details-form compact"))
        .code(2);
    assert!(forms.stderr.contains("--details"), "{}", forms.stderr);
    let foreign = folder
        .run("score vqa -r d/answers.jsonl -p d/given-answers.jsonl --details-form compact --details d.json")
        .code(2);
    assert!(
        foreign.stderr.contains("not an option of vqa"),
        "{}",
        foreign.stderr
    );
}

#[test]
fn charts_are_written_as_pictures() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    let names = |output: &str| {
        let files = fs::read_dir(folder.path(output)).expect("a folder");
        let files = files.map(|file| file.expect("a file").file_name());
        let mut names: Vec<String> = files
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    let boxes = "-r d/coco-truth.json -p d/coco-results.json";
    for (metric, expected) in [
        (
            "coco",
            "f1-by-score-threshold precision-against-recall by-area-range examples-by-ap",
        ),
        (
            "voc",
            "precision-against-recall classes-with-the-lowest-average-precision",
        ),
        (
            "tide",
            "cost-of-errors number-of-errors false-positives-and-negatives",
        ),
        ("confusion-matrix", "confusion-matrix"),
    ] {
        let words = format!("score {metric} {boxes} -q --svg {metric}");
        folder.run(&words).code(0);
        let found = names(metric);
        for name in expected.split(' ') {
            assert!(
                found.contains(&format!("chart.{name}.svg")),
                "{metric} {name}: {found:?}"
            );
        }
        let read = || -> Vec<Vec<u8>> {
            let files = found
                .iter()
                .map(|name| fs::read(folder.path(metric).join(name)));
            files.map(|file| file.expect("a chart")).collect()
        };
        let before = read();
        // Equal bytes, and no chart of a page is another.
        folder
            .run(&format!("{words} --threads 1 --report r.html"))
            .code(0);
        assert_eq!((names(metric), read()), (found.clone(), before), "{metric}");
    }
    // Pictures of examples have names that no chart has.
    let grids = "score arc -r d/arc-solutions.jsonl -p d/arc-answers.jsonl -q --svg arc";
    folder.run(grids).code(0);
    let arc = names("arc");
    let charts = arc.iter().filter(|name| name.starts_with("chart.")).count();
    assert!(charts >= 2 && arc.len() == charts + 10, "{arc:?}");
    folder.put(
        "odd.jsonl",
        b"{\"id\": \"chart.x\", \"reference\": [[1]], \"prediction\": [[1]]}\n",
    );
    folder
        .run("score arc --pairs odd.jsonl -q --svg odd")
        .code(0);
    assert!(names("odd").contains(&"chart%2Ex.svg".to_owned()));
    // Bad input leaves nothing.
    folder.put("bad.jsonl", b"{\n");
    folder
        .run("score wer --pairs bad.jsonl -q --svg none")
        .code(3);
    assert!(!folder.path("none").exists() || names("none").is_empty());
}

const GROUND_TRUTH: &str = r#"{
    "images": [
        {"id": 1, "width": 40, "height": 20, "file_name": "val/one.png"},
        {"id": 2, "width": 40, "height": 20, "file_name": "two.png"},
        {"id": 3, "width": 40, "height": 20, "file_name": "../three.png"}
    ],
    "categories": [{"id": 5, "name": "<b>cat</b>"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 5, "bbox": [2, 2, 10, 10], "area": 100, "iscrowd": 0},
        {"id": 2, "image_id": 2, "category_id": 5, "bbox": [2, 2, 10, 10], "area": 100, "iscrowd": 0},
        {"id": 3, "image_id": 3, "category_id": 5, "bbox": [2, 2, 10, 10], "area": 100, "iscrowd": 0}
    ]
}"#;

const DETECTIONS: &str = r#"[
    {"image_id": 1, "category_id": 5, "bbox": [20, 2, 10, 10], "score": 0.9},
    {"image_id": 2, "category_id": 5, "bbox": [20, 2, 10, 10], "score": 0.8},
    {"image_id": 3, "category_id": 5, "bbox": [20, 2, 10, 10], "score": 0.7}
]"#;

#[test]
fn the_worst_detections_are_drawn_over_their_pictures() {
    let folder = Folder::new(&[("r.json", GROUND_TRUTH), ("p.json", DETECTIONS)]);
    fs::create_dir_all(folder.path("pictures/val")).expect("a folder");
    let mut picture = Vec::new();
    let encoder = png::Encoder::new(&mut picture, 40, 20);
    let mut writer = encoder.write_header().expect("a picture");
    writer.write_image_data(&[0; 800]).expect("a picture");
    writer.finish().expect("a picture");
    folder.put("pictures/val/one.png", &picture);
    folder.put("three.png", &picture);
    folder.put("pictures/two.png", b"no picture");
    for metric in ["coco", "voc", "tide", "detection"] {
        let words = format!("score {metric} -r r.json -p p.json -q --report r.html");
        folder.run(&format!("{words} --images pictures")).code(0);
        let page = fs::read_to_string(folder.path("r.html")).expect("a report");
        assert_eq!(page.matches("<image ").count(), 1, "{metric}");
        assert_eq!(
            page.matches("href=\"data:image/jpeg;base64,").count(),
            1,
            "{metric}"
        );
        assert!(page.contains("No picture: two.png: "), "{metric}");
        // A name of the data does not lead out of the folder.
        assert!(
            page.contains("No picture: ../three.png is not in the folder"),
            "{metric}"
        );
        assert!(
            page.contains("&lt;b&gt;cat") && !page.contains("<b>cat"),
            "{metric}"
        );
        // Without pictures there are the boxes alone, and in private nothing.
        folder.run(&words).code(0);
        let page = fs::read_to_string(folder.path("r.html")).expect("a report");
        assert!(
            !page.contains("<image ") && page.contains("Solid: ground truth"),
            "{metric}"
        );
        folder
            .run(&format!("{words} --report-no-examples --images pictures"))
            .code(0);
        let page = fs::read_to_string(folder.path("r.html")).expect("a report");
        assert!(
            !page.contains("<image ") && !page.contains("Solid: ground truth"),
            "{metric}"
        );
    }
    let words = "score coco -r r.json -p p.json -q --report r.html --images";
    folder.run(&format!("{words} no-such-folder")).code(2);
    folder.run(&format!("{words} r.json")).code(2);
    folder
        .run("score coco -r r.json -p p.json -q --images pictures")
        .code(2);
    let foreign = folder.run("score wer -r r.json -p p.json --report r.html --images pictures");
    assert!(
        foreign
            .code(2)
            .stderr
            .contains("--images is not an option of wer")
    );
}

#[test]
fn examples_of_dataset_files_have_their_texts() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    let words = "score squad -r d/squad-data.json -p d/squad-predictions.json --profile v2 -q --report r.html";
    folder.run(words).code(0);
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    let truth = fs::read_to_string(folder.path("d/squad-data.json")).expect("a file");
    let truth: Value = serde_json::from_str(&truth).expect("JSON");
    let questions = truth
        .pointer("/data/0/paragraphs/0/qas")
        .and_then(Value::as_array);
    let questions = questions.expect("questions").iter();
    let shown = questions
        .filter_map(|question| question["question"].as_str())
        .filter(|question| page.contains(&question.replace('\'', "&#39;")));
    assert!(shown.count() > 0, "a question");
    assert!(
        page.contains("<dt><bdi>reference</bdi></dt>")
            && page.contains("<dt><bdi>prediction</bdi></dt>")
    );
    folder.run(&format!("{words} --report-no-examples")).code(0);
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    assert!(
        !page.contains("<dt><bdi>question</bdi></dt>")
            && !page.contains("<dt><bdi>prediction</bdi></dt>")
    );
    // Tasks of a submission have their grids.
    let words = "score arc -r d/arc-tasks.json -p d/arc-submission.json -q --report r.html";
    folder.run(words).code(0);
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    assert!(page.matches("class=\"grids\"").count() >= 4 && page.contains("attempt 2"));
}

#[test]
fn alignments_are_data() {
    let line = |id: &str, reference: &str, prediction: &str| {
        let pair = serde_json::json!({"id": id, "reference": reference, "prediction": prediction});
        pair.to_string() + "\n"
    };
    let pairs = [
        line("a", "one two three", "one too three four"),
        line("b", "x", ""),
        line("c", "", ""),
    ];
    let folder = Folder::new(&[("p.jsonl", &pairs.concat())]);
    let lines = |metrics: &str| -> Vec<Value> {
        let words =
            format!("score {metrics} --pairs p.jsonl -q --per-sample s.jsonl --with-alignment");
        folder.run(&words).code(0);
        let text = fs::read_to_string(folder.path("s.jsonl")).expect("lines");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    let wer = lines("wer");
    assert_eq!(wer.len(), 3);
    let chunk = |edit: &str, reference: &[&str], prediction: &[&str]| serde_json::json!({"edit": edit, "reference": reference, "prediction": prediction});
    let expected = serde_json::json!([
        chunk("equal", &["one"], &["one"]),
        chunk("substitute", &["two"], &["too"]),
        chunk("equal", &["three"], &["three"]),
        chunk("insert", &[], &["four"]),
    ]);
    assert_eq!(wer[0]["alignment"], expected);
    assert_eq!(
        wer[1]["alignment"],
        serde_json::json!([chunk("delete", &["x"], &[])])
    );
    assert_eq!(wer[2]["alignment"], serde_json::json!([]));
    // The counts are those of the alignment, also with several metrics and with a part of the
    // prediction.
    let both = lines("wer,cer");
    assert_eq!(both.len(), 6);
    for line in &both {
        let chunks = line["alignment"].as_array().expect("chunks");
        for (edit, count) in [
            ("substitute", "substitutions"),
            ("delete", "deletions"),
            ("insert", "insertions"),
        ] {
            let units = chunks
                .iter()
                .filter(|chunk| chunk["edit"] == edit)
                .map(|chunk| {
                    let side = if edit == "insert" {
                        "prediction"
                    } else {
                        "reference"
                    };
                    chunk[side].as_array().map_or(0, Vec::len) as u64
                });
            assert_eq!(
                Some(units.sum::<u64>()),
                line["counts"][count].as_u64(),
                "{line}"
            );
        }
    }
    let part = lines("wer --extract ^(\\w*)");
    assert_eq!(part[0]["alignment"][0], chunk("equal", &["one"], &["one"]));
    assert_eq!(part[0]["alignment"][1]["edit"], "delete");
    folder
        .run("score vqa --pairs p.jsonl --per-sample s.jsonl --with-alignment")
        .code(2);
}

#[test]
fn comparisons_of_three_systems_have_charts() {
    let (mut references, mut systems) = (String::new(), [const { String::new() }; 3]);
    for index in 0..60 {
        references += &format!("{{\"id\": {index}, \"reference\": \"a b c d\"}}\n");
        for (system, every) in systems.iter_mut().zip([2, 7, 30]) {
            let last = if index % every == 0 { "x" } else { "d" };
            *system += &format!("{{\"id\": {index}, \"prediction\": \"a b c {last}\"}}\n");
        }
    }
    let [a, b, c] = &systems;
    let folder = Folder::new(&[
        ("r.jsonl", &references),
        ("a.jsonl", a),
        ("b.jsonl", b),
        ("c.jsonl", c),
    ]);
    let words = "compare wer -r r.jsonl -p a.jsonl b.jsonl c.jsonl -q --report r.html";
    folder.run(words).code(0);
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    for text in [
        "Comparison of 3 systems",
        "wer by system",
        "Difference in wer from a",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // The cards are those of the best system, and the best two have sections of their own.
    for text in [
        "<bdi>c and a",
        "<bdi>b and a",
        "Largest gains of c",
        "Largest gains of b",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let [best, second] = ["Largest gains of c", "Largest gains of b"].map(|text| page.find(text));
    assert!(best < second);
}

#[test]
fn boxes_by_class_are_drawn_for_their_class() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    let words = "score detection -r d/boxes.json -p d/detected-boxes.json -q --report r.html";
    folder.run(words).code(0);
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    assert!(page.contains("<h1><bdi>Precision, recall and F1"));
    assert_eq!(page.matches("Solid: ground truth").count(), 5);
    assert!(page.contains("1 in the ground truth: a street lamp; 3 predicted: "));
}

/// The ids of the examples of a page, in their order, of the section with this heading.
fn examples_below(page: &str, heading: &str) -> Vec<String> {
    let start = page.find(&format!("{heading}</bdi></h2>"));
    let section = &page[start.expect(heading)..];
    let section = section.split("</section>").next().unwrap_or_default();
    let ids = section.split("<a href=\"#ex-").skip(1);
    let id = |text: &str| {
        let (_, rest) = text.split_once("<bdi>").expect("an id");
        rest.split_once("</bdi>").expect("an end").0.to_owned()
    };
    ids.map(id).collect()
}

/// The worst examples are those of the scores of all, on any number of threads and in any order of the
/// predictions, and equal ones are in the order of the references.
#[test]
fn the_worst_examples_are_those_of_all_scores() {
    let count = 7_000;
    let (mut references, mut predictions) = (String::new(), Vec::new());
    for index in 0..count {
        let wrong = (index * 7919) % 11;
        let words: Vec<String> = (0..10).map(|word| format!("w{word}")).collect();
        let found = words.iter().enumerate();
        let found =
            found.map(|(position, word)| if position < wrong { "x" } else { word.as_str() });
        let found = found.collect::<Vec<_>>().join(" ");
        references += &format!(
            "{{\"id\": \"n{index}\", \"reference\": \"{}\"}}\n",
            words.join(" ")
        );
        predictions.push(format!(
            "{{\"id\": \"n{index}\", \"prediction\": \"{found}\"}}\n"
        ));
    }
    let in_order = predictions.concat();
    let turned: String = predictions.iter().rev().cloned().collect();
    let folder = Folder::new(&[
        ("r.jsonl", &references),
        ("p.jsonl", &in_order),
        ("turned.jsonl", &turned),
    ]);
    let words = "score wer -r r.jsonl -q --report-examples 900";
    folder
        .run(&format!(
            "{words} -p p.jsonl --per-sample s.jsonl --report with.html"
        ))
        .code(0);
    let samples = fs::read_to_string(folder.path("s.jsonl")).expect("samples");
    let scores = samples.lines().map(|line| {
        let value: Value = serde_json::from_str(line).expect("a sample");
        let score = value["scores"]["wer"].as_f64().expect("a score");
        (value["id"].as_str().expect("an id").to_owned(), score)
    });
    let mut scores: Vec<(String, f64)> = scores.collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1));
    let expected: Vec<String> = scores.into_iter().take(900).map(|(id, _)| id).collect();
    for (predictions, threads) in [("p.jsonl", 1), ("p.jsonl", 3), ("turned.jsonl", 2)] {
        let report = format!("-p {predictions} --report r.html --threads {threads}");
        folder.run(&format!("{words} {report}")).code(0);
        let page = fs::read_to_string(folder.path("r.html")).expect("a report");
        assert_eq!(
            examples_below(&page, "Worst examples"),
            expected,
            "{report}"
        );
        // Texts are there.
        assert!(page.contains("w9"), "{report}");
    }
    // Rows of private reports are those of the references.
    let report = "-p turned.jsonl --report r.html --report-no-examples";
    folder.run(&format!("{words} {report}")).code(0);
    let page = fs::read_to_string(folder.path("r.html")).expect("a report");
    let row = |id: &String| format!("row {}", id[1..].parse::<usize>().expect("a number") + 1);
    let expected: Vec<String> = expected.iter().map(row).collect();
    assert_eq!(examples_below(&page, "Worst examples"), expected);
}

/// The worst images of COCO's files, which are read in blocks, are those of the scores of all images.
#[test]
fn the_worst_images_are_those_of_all_scores() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    let words = "score coco -r d/coco-truth.json -p d/coco-results.json -q --report-examples 30";
    folder
        .run(&format!("{words} --per-sample s.jsonl --report with.html"))
        .code(0);
    folder
        .run(&format!("{words} --report without.html"))
        .code(0);
    let pages = ["with.html", "without.html"].map(|name| text_of(&folder, name));
    let examples = pages
        .each_ref()
        .map(|page| examples_below(page, "Worst examples"));
    assert_eq!(examples[0], examples[1]);
    let samples = text_of(&folder, "s.jsonl");
    let scores = samples.lines().filter_map(|line| {
        let value: Value = serde_json::from_str(line).expect("a sample");
        let score = value["scores"]["AP"]
            .as_f64()
            .filter(|score| *score < 1.0)?;
        Some((value["id"].as_str()?.to_owned(), score))
    });
    let mut scores: Vec<(String, f64)> = scores.collect();
    scores.sort_by(|a, b| a.1.total_cmp(&b.1));
    let expected: Vec<String> = scores.into_iter().map(|(id, _)| id).take(30).collect();
    assert_eq!(examples[0], expected);
    assert!(!expected.is_empty());
}

/// The examples that are closest to being correct have a list of their own.
#[test]
fn the_nearest_misses_are_listed() {
    let pairs = [
        ("right", "kitten", "kitten"),
        ("far", "kitten", "zzzzzz"),
        ("near", "kitten", "kittem"),
        ("nearer", "a longer text", "a longer test"),
        ("empty", "kitten", ""),
    ];
    let side = |name: &str, text: fn(&(&str, &str, &str)) -> String| -> String {
        let line = |pair: &(&str, &str, &str)| {
            serde_json::json!({"id": pair.0, name: text(pair)}).to_string() + "\n"
        };
        pairs.iter().map(line).collect()
    };
    let folder = Folder::new(&[
        ("r.jsonl", &side("reference", |pair| pair.1.to_owned())),
        ("p.jsonl", &side("prediction", |pair| pair.2.to_owned())),
    ]);
    let words = "-r r.jsonl -p p.jsonl -q --report r.html --report-examples 1";
    for metric in ["string-accuracy", "exact-match"] {
        folder.run(&format!("score {metric} {words}")).code(0);
        let page = text_of(&folder, "r.html");
        assert_eq!(examples_below(&page, "Worst examples"), ["far"], "{metric}");
        assert_eq!(
            examples_below(&page, "Nearest misses"),
            ["nearer"],
            "{metric}"
        );
    }
    // Numbers are near by their relative difference.
    let folder = Folder::new(&[
        (
            "r.jsonl",
            "{\"id\": 1, \"reference\": \"100\"}\n{\"id\": 2, \"reference\": \"100\"}\n",
        ),
        (
            "p.jsonl",
            "{\"id\": 1, \"prediction\": \"900\"}\n{\"id\": 2, \"prediction\": \"94\"}\n",
        ),
    ]);
    folder
        .run(&format!("score relaxed-accuracy {words}"))
        .code(0);
    let page = text_of(&folder, "r.html");
    assert_eq!(examples_below(&page, "Nearest misses"), ["2"]);
}

#[test]
fn reliability_is_drawn_for_probabilities() {
    let references = "{\"id\": 1, \"reference\": 0}\n{\"id\": 2, \"reference\": 1}\n{\"id\": 3, \"reference\": 1}\n";
    let rows = |rows: [&str; 3]| -> String {
        let line = |(id, row): (usize, &str)| format!("{{\"id\": {id}, \"prediction\": {row}}}\n");
        (1..).zip(rows).map(line).collect()
    };
    let folder = Folder::new(&[
        ("r.jsonl", references),
        (
            "p.jsonl",
            &rows(["[0.9, 0.1]", "[0.75, 0.25]", "[0.3, 0.7]"]),
        ),
        (
            "logits.jsonl",
            &rows(["[4, -2]", "[0.75, 0.25]", "[0.3, 0.7]"]),
        ),
    ]);
    let words =
        "score accuracy-at-k --input scores --k 1 -r r.jsonl -q --details d.json --svg charts";
    folder
        .run(&format!("{words} -p p.jsonl --report r.html"))
        .code(0);
    let details: Value = serde_json::from_str(&text_of(&folder, "d.json")).expect("details");
    let reliability = &details["reliability"];
    assert_eq!(reliability["not_probabilities"], 0);
    assert_eq!(reliability["bins"].as_array().map(Vec::len), Some(10));
    // One of 0.7 and 0.75 is correct.
    let bin = &reliability["bins"][7];
    assert_eq!(
        (bin["examples"].as_u64(), bin["accuracy"].as_f64()),
        (Some(2), Some(0.5))
    );
    assert_eq!(bin["confidence"], 0.725);
    assert_eq!(reliability["bins"][0]["accuracy"], Value::Null);
    let error = reliability["expected_calibration_error"]
        .as_f64()
        .expect("an error");
    assert!((error - (2.0 * 0.225 + 0.1) / 3.0).abs() < 1e-12, "{error}");
    let page = text_of(&folder, "r.html");
    assert!(page.contains("Reliability") && page.contains("data-v=\"0.725\""));
    assert!(folder.path("charts/chart.reliability.svg").exists());

    folder
        .run(&format!("{words} -p logits.jsonl --report r.html"))
        .code(0);
    let page = text_of(&folder, "r.html");
    assert!(page.contains("1 of 3 rows of scores are not probabilities"));
    let details: Value = serde_json::from_str(&text_of(&folder, "d.json")).expect("details");
    assert_eq!(details["reliability"]["not_probabilities"], 1);
    assert_eq!(
        details["reliability"]["expected_calibration_error"],
        Value::Null
    );
}

/// The blocks of one demo for each kind of input, as Markdown. With `UPDATE_SNAPSHOTS` set, the files are written anew.
#[test]
fn blocks_are_as_they_were() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    let snapshots = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/blocks");
    for (metric, options) in [
        ("arc", ""),
        ("accuracy-at-k", " --k 1,2,5"),
        ("classification", " --groups class"),
        ("wer", " --confidence 0.95"),
        ("vqa", ""),
        ("codebleu", " --lang-field lang"),
        ("coco", " --groups class"),
        ("lanes", ""),
    ] {
        let entry = find(metric).expect("a metric");
        let words = [metric, &files(&entry.demos[0]), options].concat();
        folder
            .run(&format!("score {words} --report r.md -q"))
            .code(0);
        let text = text_of(&folder, "r.md");
        // The platform differs.
        let lines = text.lines().filter(|line| !line.contains("Program"));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        let file = snapshots.join(format!("{metric}.md"));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::write(&file, &text).expect("a snapshot");
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(
            text, expected,
            "{words}: to accept it, set UPDATE_SNAPSHOTS"
        );
    }
}

/// The nearest misses of stored scores are those of the run, if the texts are stored as well.
#[test]
fn stored_scores_have_nearest_misses() {
    let side = |name: &str, texts: [&str; 3]| -> String {
        let line =
            |(id, text): (usize, &str)| format!("{{\"id\": {id}, \"{name}\": \"{text}\"}}\n");
        texts.into_iter().enumerate().map(line).collect()
    };
    let folder = Folder::new(&[
        (
            "r.jsonl",
            &side("reference", ["kitten", "a longer text", "kitten"]),
        ),
        (
            "p.jsonl",
            &side("prediction", ["zzzzzz", "a longer TEST", "KITTEN"]),
        ),
    ]);
    for (metric, options) in [
        ("string-accuracy", "--normalize casefold"),
        ("exact-match", "--normalize lower"),
        ("vqa", "--normalize lower"),
        ("relaxed-accuracy", ""),
    ] {
        let words = format!(
            "score {metric} -r r.jsonl -p p.jsonl -q {options} --report run.html --report-examples 1 --format json --per-sample s.jsonl --with-inputs"
        );
        let result = folder.run(&words).code(0).stdout;
        folder.put("result.json", result.as_bytes());
        folder
            .run("report result.json --per-sample s.jsonl --report stored.html --report-examples 1")
            .code(0);
        for name in ["run.html", "stored.html"] {
            let page = text_of(&folder, name);
            assert_eq!(
                examples_below(&page, "Worst examples"),
                ["0"],
                "{metric} {name}"
            );
            assert_eq!(
                examples_below(&page, "Nearest misses"),
                ["1"],
                "{metric} {name}"
            );
            assert!(page.contains("prediction, as compared"), "{metric} {name}");
            assert!(page.contains("a longer test"), "{metric} {name}");
        }
        // A result that does not tell its options.
        let mut result: Value = serde_json::from_str(&result).expect("JSON");
        let object = result.as_object_mut().expect("an object");
        if object.remove("options").is_some() {
            folder.put("result.json", result.to_string().as_bytes());
            folder
                .run("report result.json --per-sample s.jsonl --report stored.html")
                .code(0);
            assert!(!text_of(&folder, "stored.html").contains("as compared"));
        }
    }
    // Without texts there is no telling what is near.
    let words = "score string-accuracy -r r.jsonl -p p.jsonl -q --format json --per-sample s.jsonl";
    let result = folder.run(words).code(0).stdout;
    folder.put("result.json", result.as_bytes());
    folder
        .run("report result.json --per-sample s.jsonl --report stored.html --report-examples 1")
        .code(0);
    assert!(!text_of(&folder, "stored.html").contains("Nearest misses"));
}

/// The examples of a page in Markdown: its sections that start with the worst examples, without counts and provenance.
fn examples_of(page: &str) -> String {
    let sections = page.split("\n## ").skip(1);
    let examples = sections.filter(|section| {
        ["Worst examples", "Nearest misses"]
            .iter()
            .any(|title| section.starts_with(title))
    });
    examples.collect()
}

/// A stored result with the texts of its examples has the examples of the run, whatever the options are.
#[test]
fn stored_results_have_the_examples_of_the_run() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    let options = [
        "accuracy-at-k -r d/labels.jsonl -p d/ranked-labels.jsonl",
        "wer -r d/spoken.txt -p d/heard.txt --normalize lower,replace([.,],) --missing empty",
        "exact-match -r d/spoken.txt -p d/heard.txt --ignore-case --ignore-punctuation",
        "string-accuracy -r d/spoken.txt -p d/heard.txt --extract (\\w+)",
    ];
    for words in demos().into_iter().chain(options.map(str::to_owned)) {
        let command = format!(
            "score {words} -q --format json --per-sample s.jsonl --with-inputs --report run.md"
        );
        let output = folder.run(&command).code(0);
        folder.put("result.json", output.stdout.as_bytes());
        folder
            .run("report result.json --per-sample s.jsonl --report stored.md")
            .code(0);
        let [run, stored] = ["run.md", "stored.md"].map(|name| text_of(&folder, name));
        // A single example has no rank, and so no score.
        let has_scores = !words.starts_with("rank-correlation");
        assert_eq!(examples_of(&stored).len() > 100, has_scores, "{words}");
        assert_eq!(
            examples_of(run.trim_end()),
            examples_of(stored.trim_end()),
            "{words}"
        );
    }
}

/// The question of an example is in its line, and on the pages of the run and of the stored result.
#[test]
fn questions_are_shown_and_stored() {
    const QUESTION: &str = "What is \"on\" the sign?";
    let json = |value: Value| value.to_string();
    let record = serde_json::json!({"id": 7, "question": QUESTION, "reference": ["stop"]});
    let object = serde_json::json!({"7": {"question": QUESTION, "answer": "stop"}});
    let answers = vec![serde_json::json!({"answer": "stop"}); 10];
    let annotations = serde_json::json!({"annotations": [{"question_id": 7, "answers": answers}]});
    let questions = serde_json::json!({"questions": [{"question_id": 7, "question": QUESTION}]});
    let folder = Folder::new(&[
        ("r.jsonl", &json(record)),
        ("r.json", &json(object)),
        (
            "r.csv",
            "id,question,reference\n7,\"What is \"\"on\"\" the sign?\",stop\n",
        ),
        ("a.json", &json(annotations)),
        ("q.json", &json(questions)),
        ("p.jsonl", "{\"id\": 7, \"prediction\": \"shop\"}\n"),
        ("p.json", "[{\"question_id\": 7, \"answer\": \"shop\"}]"),
    ]);
    for (words, is_apart) in [
        ("vqa -r r.jsonl -p p.jsonl", true),
        ("squad -r r.jsonl -p p.jsonl", true),
        ("anls -r r.csv -p p.jsonl", true),
        // The reference has it already.
        ("vqa -r r.json -p p.jsonl", false),
        (
            "vqa --profile vqa-v2 -r a.json -p p.json --questions q.json",
            true,
        ),
    ] {
        let words = format!(
            "score {words} -q --format json --per-sample s.jsonl --with-inputs --report run.md"
        );
        folder.put("result.json", folder.run(&words).code(0).stdout.as_bytes());
        folder
            .run("report result.json --per-sample s.jsonl --report stored.md")
            .code(0);
        let line: Value = serde_json::from_str(&text_of(&folder, "s.jsonl")).expect("a line");
        let expected = is_apart.then_some(QUESTION);
        assert_eq!(line["question"].as_str(), expected, "{words}");
        for page in ["run.md", "stored.md"] {
            let lines = text_of(&folder, page);
            let found = lines.lines().find(|line| line.starts_with("- question:"));
            let found = found.expect("a question");
            assert!(
                found.contains("What is") && found.contains("the sign?"),
                "{words}: {found}"
            );
        }
    }
    // Nobody reads the values.
    folder
        .run("score anls -r r.csv -p p.jsonl --report run.md --report-no-examples")
        .code(0);
    assert!(!text_of(&folder, "run.md").contains("the sign?"));
}

/// The bytes of each file are hashed, wherever they come from.
#[test]
fn files_have_their_hashes() {
    use std::io::Write;

    // As `echo abc | sha256sum` prints it.
    const ABC: &str =
        "4 bytes, SHA-256 edeaaff3f1774ad2888673770c6d64097e391bc362d7d6fb34982ddf0efd18cb";
    let folder = Folder::new(&[("a.txt", "abc\n"), ("b.txt", "abc\n"), ("c.txt", "abc\n")]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"abc\n").expect("a packed text");
    let packed = packed.finish().expect("a packed text");
    folder.put("a.txt.gz", &packed);
    let digest: String = {
        use sha2::Digest;
        let digest = sha2::Sha256::digest(&packed);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let of_packed = format!("{} bytes, SHA-256 {digest}", packed.len());
    // Files, a compressed file, standard input, and several files, which are hashed on their own.
    for (words, expected) in [
        ("-r a.txt -p b.txt", [ABC, ABC]),
        ("-r a.txt -p a.txt.gz", [ABC, &of_packed]),
        ("-r a.txt -p - --predictions-format text", [ABC, ABC]),
        ("-r a.txt a.txt.gz -p b.txt c.txt", [ABC, &of_packed]),
    ] {
        let words = format!("score wer {words} --report r.html");
        folder.run_with_input(&words, "abc\n").code(0);
        let page = text_of(&folder, "r.html");
        let found: Vec<&str> = page.split("<bdi>").collect();
        for expected in expected {
            assert!(
                found.iter().any(|text| text.contains(expected)),
                "{words}: {expected}"
            );
        }
        assert!(!page.contains("not hashed") && !page.contains("read from standard input"));
    }
}

/// Folders, patterns and many files have their number, their size and one hash; each input says how many of its
/// examples are scored.
#[test]
fn several_files_have_one_hash() {
    let folder = Folder::new(&[]);
    for name in ["refs", "refs/.cache"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    for name in ["refs/part-1.txt", "refs/part-2.txt", "p-1.txt", "p-2.txt"] {
        folder.put(name, b"abc\n");
    }
    folder.put("refs/.cache/x", b"abc");
    // As `cd refs; sha256sum *.txt | sha256sum` and `sha256sum p-*.txt | sha256sum` print them.
    let refs = "refs: 2 files, 8 bytes, SHA-256 of their list 9ccd752f93b5ee90ca5eef32234d664ecc03dcfb584a29febdc38f494ca93eff; 2 examples scored";
    let pattern = "p-*.txt: 2 files, 8 bytes, SHA-256 of their list 41d8024070574a959e74264d3c0fa7055a56dbff759d8746e252cf369f4db8b0; 2 examples scored";
    let lines = |words: &str| -> Vec<String> {
        folder.run(&format!("{words} --report r.md")).code(0);
        let page = text_of(&folder, "r.md").replace('\\', "");
        let facts = page.lines().filter(|line| {
            let names = ["- References: ", "- Predictions: ", "- Results: "];
            names.iter().any(|name| line.starts_with(name))
        });
        facts.map(str::to_owned).collect()
    };
    let found = lines("score wer -r refs -p p-*.txt");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains(refs), "{found:?}");
    assert!(found[1].contains(pattern), "{found:?}");
    // Each system is an input of its own.
    folder.put("one.txt", b"abc\nx\n");
    let found = lines("compare wer -r refs -p p-*.txt one.txt --resamples 200 --permutations 99");
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[1].contains(pattern), "{found:?}");
    assert!(found[2].contains("one.txt: 6 bytes, "), "{found:?}");
    assert!(found[2].contains("; 2 examples scored"), "{found:?}");
    // Stored results say how many examples they have.
    folder.put(
        "result.json",
        folder
            .run("score wer -r refs -p p-*.txt --format json")
            .code(0)
            .stdout
            .as_bytes(),
    );
    let found = lines("report result.json");
    assert!(found[0].contains("; 2 examples scored"), "{found:?}");
    // Files that are too many to be named one by one.
    let names: Vec<String> = (0..21).map(|index| format!("many-{index}.txt")).collect();
    for name in &names {
        folder.put(name, b"abc\n");
    }
    let names = names.join(" ");
    let found = lines(&format!("score wer -r {names} -p {names}"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0]
            .starts_with("- References: ` 21 paths: 21 files, 84 bytes, SHA-256 of their list "),
        "{found:?}"
    );
}

/// Lines of examples of dataset files have their values.
#[test]
fn examples_of_dataset_files_have_their_values() {
    let folder = Folder::new(&[]);
    folder.run("demo --save d").code(0);
    for words in [
        "arc -r d/arc-tasks.json -p d/arc-submission.json",
        "squad -r d/squad-data.json -p d/squad-predictions.json --profile v2",
        "detection -r d/boxes.json -p d/detected-boxes.json",
        "coco -r d/coco-truth.json -p d/coco-results.json",
        "voc -r d/coco-truth.json -p d/coco-results.json",
        "tide -r d/coco-truth.json -p d/coco-results.json",
        "confusion-matrix -r d/coco-truth.json -p d/coco-results.json",
    ] {
        folder
            .run(&format!(
                "score {words} -q --per-sample s.jsonl --with-inputs"
            ))
            .code(0);
        let lines = text_of(&folder, "s.jsonl");
        assert!(lines.lines().count() > 1, "{words}");
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            assert!(!line["reference"].is_null(), "{words}: {line}");
            assert!(!line["prediction"].is_null(), "{words}: {line}");
        }
    }
}

/// Examples show what a metric compares in place of what is given.
#[test]
fn examples_show_what_is_compared() {
    let rows: [(&str, &str, &str, &[&str]); 7] = [
        (
            "anls",
            r#"["Coca  Cola"]"#,
            "PEPSI",
            &["coca cola", "pepsi"],
        ),
        (
            "vqa --profile vqa-v2",
            r#"["two dogs", "a cat", "two dogs"]"#,
            "The Bird.",
            &["reference, 2 times", "2 dogs", ">cat<", "bird"],
        ),
        (
            "vqa --profile fusion-brain-2021",
            r#""x""#,
            "The TWO dogs",
            &["2 dogs"],
        ),
        ("relaxed-accuracy", r#""50%""#, "12%", &["0.5", "0.12"]),
        (
            "exact-match --ignore-case --ignore-punctuation",
            r#""Yes.""#,
            "No!",
            &["yes", ">no<"],
        ),
        ("squad", r#"["the Romans"]"#, "A Dane", &["romans", "dane"]),
        (
            "wer --extract answer:(.*)",
            r#""one two""#,
            "hm. answer:one three",
            &["<i><bdi>three</bdi></i>"],
        ),
    ];
    for (metric, reference, prediction, shown) in rows {
        let folder = Folder::new(&[
            (
                "r.jsonl",
                &format!("{{\"id\": 1, \"reference\": {reference}}}\n"),
            ),
            (
                "p.jsonl",
                &format!("{{\"id\": 1, \"prediction\": \"{prediction}\"}}\n"),
            ),
        ]);
        let words = format!("score {metric} -r r.jsonl -p p.jsonl -q --report r.html");
        folder.run(&words).code(0);
        let page = text_of(&folder, "r.html");
        let worst = page
            .split("Worst examples</bdi></h2>")
            .nth(1)
            .expect("examples");
        for text in shown {
            assert!(worst.contains(text), "{metric}: {text}: {worst}");
        }
    }
}

/// A submission with a line of megabytes, thousands of classes, and bytes that are not text.
#[test]
fn reports_of_hostile_submissions_are_small() {
    let attack = "\u{202e}\u{2066}<script>alert(1)</script></style>&lt;\u{200b}]]>";
    let line = |id: usize, name: &str, text: &str| {
        serde_json::json!({"id": id, name: text}).to_string() + "\n"
    };
    let long = format!("{attack} lorem ipsum ").repeat(40_000);
    let texts = [
        line(0, "reference", attack) + &line(1, "reference", "two words"),
        line(0, "prediction", &long) + &line(1, "prediction", &attack.repeat(9)),
    ];
    let classes = |name: &str, step: usize| -> String {
        let class = |id: usize| line(id, name, &format!("{attack}{}", id * step % 4_999));
        (0..4_999).map(class).collect()
    };
    let [references, predictions] = &texts;
    let folder = Folder::new(&[
        ("r.jsonl", references),
        ("p.jsonl", predictions),
        ("rc.jsonl", &classes("reference", 1)),
        ("pc.jsonl", &classes("prediction", 7)),
    ]);
    for (words, most) in [
        ("wer -r r.jsonl -p p.jsonl", 100_000),
        (
            "cer -r r.jsonl -p p.jsonl --max-cells 100000000000",
            100_000,
        ),
        (
            "string-accuracy -r r.jsonl -p p.jsonl --slice-field id",
            100_000,
        ),
        (
            "classification -r rc.jsonl -p pc.jsonl --groups class",
            300_000,
        ),
    ] {
        folder
            .run(&format!("score {words} -q --report r.html"))
            .code(0);
        let page = text_of(&folder, "r.html");
        assert!(page.len() < most, "{words}: {}", page.len());
        assert_eq!(page.matches("<script").count(), 1, "{words}");
        assert!(
            !page.contains('\u{202e}') && !page.contains('\u{200b}'),
            "{words}"
        );
        for example in page.split("<article").skip(1) {
            let example = example.split("</article>").next().unwrap_or_default();
            assert!(example.len() <= 4_096, "{words}: {}", example.len());
        }
    }
}

#[test]
fn a_comparison_of_clusters_says_how_many_are_resampled() {
    let line = |id: usize| {
        let (document, new) = (id % 3, if id < 5 { "a" } else { "b" });
        format!(
            "{{\"id\": {id}, \"document\": {document}, \"reference\": \"a\", \"old\": \"b\", \"new\": \"{new}\"}}\n"
        )
    };
    let lines: String = (0..12).map(line).collect();
    let folder = Folder::new(&[("p.jsonl", &lines)]);
    let words = "compare exact-match --pairs p.jsonl --prediction-field old --prediction-field new -q --report r.html";
    let page = |more: &str| {
        folder.run(&format!("{words} {more}")).code(0);
        text_of(&folder, "r.html")
    };
    let clustered = page("--cluster-field document");
    assert!(clustered.contains("resamples of the 3 clusters:"));
    assert!(clustered.contains("bootstrap over 3 clusters by document"));
    let plain = page("");
    assert!(plain.contains("resamples of the examples:"));
    assert!(plain.contains("bootstrap over 12 examples"));
}

/// Of two transcripts, half and none of the words are correct.
#[test]
fn several_numbers_on_top_have_their_names() {
    let folder = Folder::new(&[
        ("r.txt", "a b\n"),
        ("half.txt", "a c\n"),
        ("none.txt", "c d\n"),
    ]);
    for name in ["half", "none"] {
        let run = folder.run(&format!(
            "score wer -r r.txt -p {name}.txt --format json -q"
        ));
        folder.put(&format!("{name}.json"), run.code(0).stdout.as_bytes());
    }
    folder
        .run("report half.json none.json --report r.html")
        .code(0);
    let named = |name: &str, value: &str| (format!("wer.{name}"), value.to_owned());
    assert_eq!(
        cards(&text_of(&folder, "r.html"))[..2],
        [named("half", "0.5"), named("none", "1")]
    );
    let words = "score wer,cer -r r.txt -p half.txt -q --report r.html";
    folder.run(words).code(0);
    let found = cards(&text_of(&folder, "r.html"));
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..2], ["wer.wer", "cer.cer"]);
}
