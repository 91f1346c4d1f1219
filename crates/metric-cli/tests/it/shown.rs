//! The scores that results show, and the order of their groups.

use crate::common::Folder;

/// Texts of speakers, on which two systems differ.
fn spoken() -> Folder {
    Folder::new(&[
        (
            "r.csv",
            "id,reference,speaker\n1,a b,ann\n2,a b c d,bob\n3,a b,cem\n4,a,ann\n",
        ),
        ("p.csv", "id,prediction\n1,a x\n2,a b c d\n3,x y\n4,a\n"),
        ("q.csv", "id,prediction\n1,a b\n2,a b c x\n3,x b\n4,a\n"),
        ("s.csv", "id,prediction\n1,a b\n2,a b c d\n3,a b\n4,a\n"),
    ])
}

#[test]
fn chosen_scores_are_shown_in_their_order() {
    let folder = spoken();
    let words = "score wer -r r.csv -p p.csv --slice-field speaker --sort wer -q --scores mer,wer";
    let table = folder.run(words).stdout;
    let header = table.lines().find(|line| line.contains("speaker"));
    let columns: Vec<&str> = header
        .unwrap_or_default()
        .split('┆')
        .map(str::trim)
        .collect();
    assert_eq!(columns[1..3], ["mer", "wer"], "{table}");
    // Of 4, 3 and 2 words, 0, 1 and 2 are wrong: the best speaker is first.
    let [bob, ann, cem] = ["bob", "ann", "cem"].map(|name| table.find(name));
    assert!(bob < ann && ann < cem, "{table}");
    let json = folder.run(&format!("{words} --format json")).stdout;
    assert!(
        json.contains("\"scores\":{\"mer\":0.3333333333333333,\"wer\":0.3333333333333333}"),
        "{json}"
    );
    assert!(
        json.contains("\"bob\":{\"scores\":{\"mer\":0.0,\"wer\":0.0}"),
        "{json}"
    );
    let csv = folder.run(&format!("{words} --format csv")).stdout;
    assert_eq!(csv.lines().count(), 1 + 2 + 3 * 2, "{csv}");
    folder
        .run("score wer -r r.csv -p p.csv --scores mer --state-out p.state -q")
        .code(0);
    let merged = folder.run("merge p.state --scores wip --format csv").stdout;
    assert!(
        merged
            .lines()
            .nth(1)
            .is_some_and(|row| row.starts_with("wer,,,wip,")),
        "{merged}"
    );
    assert_eq!(merged.lines().count(), 2, "{merged}");
    let wrong = folder.run("score wer -r r.csv -p p.csv --scores wer,f1");
    wrong.fails(2, &["--scores f1: no such score: expected one of wer, mer"]);
    let wrong = folder.run("score wer -r r.csv -p p.csv --sort f1");
    wrong.fails(2, &["--sort f1: no such score"]);
    let wrong = folder.run("score wer,cer -r r.csv -p p.csv --scores cer");
    wrong.fails(2, &["nothing is left of wer"]);
}

#[test]
fn one_score_of_groups_is_one_table() {
    let folder = spoken();
    let words = "compare wer -r r.csv -p p.csv q.csv --slice-field speaker --scores wer -q";
    let table = folder.run(words).stdout;
    let rows: Vec<&str> = table.lines().filter(|line| line.contains("0.")).collect();
    let of_speaker = |name: &str| {
        let mut rows = rows.iter().filter(|row| row.starts_with(name));
        rows.next()
            .map(|row| row.split_whitespace().take(4).collect::<Vec<_>>())
    };
    assert_eq!(
        of_speaker("ann"),
        Some(vec!["ann", "0.3333", "0.0000", "-0.3333"]),
        "{table}"
    );
    assert_eq!(
        of_speaker("bob"),
        Some(vec!["bob", "0.0000", "0.2500", "+0.2500"])
    );
    assert_eq!(
        of_speaker("cem"),
        Some(vec!["cem", "1.0000", "0.5000", "-0.5000"])
    );
    assert_eq!(table.matches("wer by speaker").count(), 1, "{table}");
    let words = words.replace("q.csv", "q.csv s.csv");
    let table = folder.run(&words).stdout;
    assert!(
        table.contains("wer by speaker (lower is better)"),
        "{table}"
    );
    let row = table.lines().find(|line| line.starts_with("cem"));
    let cells: Vec<&str> = row.unwrap_or_default().split_whitespace().collect();
    assert_eq!(cells, ["cem", "1.0000", "0.5000", "0.0000"]);
    let sorted = folder.run(&format!("{words} --sort wer")).stdout;
    let [bob, cem] = ["\nbob", "\ncem"].map(|name| sorted.find(name));
    assert!(bob < cem, "{sorted}");
}

#[test]
fn all_groups_that_were_asked_for_are_shown() {
    let mut lines = String::from("id,reference,prediction,place\n");
    for row in 0..90 {
        lines += &format!("{row},{row},{row},place{row:02}\n");
    }
    let folder = Folder::new(&[("t.csv", &lines)]);
    let table =
        folder.run("score classification --pairs t.csv --slice-field place --scores accuracy -q");
    assert_eq!(table.stdout.matches("place").count(), 90 + 2);
    let table = folder.run("score classification --pairs t.csv --groups class --scores f1 -q");
    let rows = table.stdout;
    assert!(!rows.contains("more;"), "{rows}");
}
