//! Parts of a data set, scored apart and merged, are the whole data set.

use metric_run::record::{Cells, Column, Ids, Texts};
use metric_run::registry::{Options, find};
use metric_run::{
    Compare, Format, Outcome, Run, Source, Statistics, System, Table, merge_parts, merge_states,
    read_states, write_states,
};

const REFERENCES: [&str; 6] = ["a b", "c", "d e f", "a", "b c", "d"];
const FIRST: [&str; 6] = ["a b", "x", "d e", "a", "b", "d"];
const SECOND: [&str; 6] = ["a", "c", "d f", "x", "b c", "y"];

fn run(is_part: bool) -> Run {
    let mut run = Run::new(find("wer").expect("there"), &Options::default()).expect("a run");
    run.is_part = is_part;
    run.statistics = Some(Statistics {
        resamples: 40,
        ..Statistics::default()
    });
    run
}

fn table<'a>(name: &'a str, ids: &'a [i64], texts: &'a [&'a str]) -> Table<'a> {
    Table {
        ids: Ids::Integers(Cells::from(ids)),
        ..Table::new(name, Column::Texts(Texts::from(texts)))
    }
}

/// The examples from one index to another.
fn part(predictions: &[&str; 6], rows: std::ops::Range<usize>) -> Vec<Outcome> {
    let ids: Vec<i64> = (1..=6).collect();
    let references = table("references", &ids[rows.clone()], &REFERENCES[rows.clone()]);
    let predictions = table("predictions", &ids[rows.clone()], &predictions[rows]);
    run(true)
        .score_tables(references, predictions)
        .expect("scored")
}

fn merged(predictions: &[&str; 6]) -> Vec<Outcome> {
    let parts = [4..6, 0..3, 3..3, 3..4].map(|rows| part(predictions, rows));
    let files = parts.into_iter().map(|part| {
        let file = write_states(&part).expect("written");
        let part = read_states("part", &file).expect("read");
        ("part".to_owned(), part)
    });
    merge_parts(files.collect()).expect("merged").outcomes
}

#[test]
fn parts_have_no_intervals_and_the_whole_has_them() {
    let parts = merged(&FIRST);
    assert!(parts[0].intervals().is_none());
    let whole = merge_states(vec![("all".to_owned(), parts)]).expect("merged");
    let ids: Vec<i64> = (1..=6).collect();
    let tables = [("references", &REFERENCES), ("predictions", &FIRST)];
    let [references, predictions] = tables.map(|(name, texts)| table(name, &ids, texts));
    let expected = run(false).score_tables(references, predictions);
    assert_eq!(
        whole.outcomes[0].to_json(),
        expected.expect("scored")[0].to_json()
    );
}

#[test]
fn parts_may_be_empty_and_the_whole_may_not() {
    let empty = merge_parts(vec![("a".to_owned(), part(&FIRST, 0..0))]).expect("merged");
    assert_eq!(empty.outcomes[0].examples(), 0);
    let error = merge_states(vec![("a".to_owned(), empty.outcomes)]).expect_err("empty");
    assert_eq!(
        error.to_string(),
        "a: has no examples: expected at least one"
    );
}

#[test]
fn merged_states_compare_as_files_do() {
    let lines = |name: &str, texts: &[&str; 6]| {
        Source::memory(name, texts.join("\n").into_bytes(), Format::Text)
    };
    let compare = Compare {
        permutations: 50,
        ..Compare::default()
    };
    let systems = [("first", FIRST), ("second", SECOND)];
    let sources = systems
        .iter()
        .map(|(name, texts)| ((*name).to_owned(), lines("predictions", texts)));
    let expected = run(false).compare(
        &lines("references", &REFERENCES),
        sources.collect(),
        &compare,
    );
    let systems =
        systems.map(|(name, texts)| System::new(name, "predictions", merged(&texts).remove(0)));
    let found = run(false).compare_outcomes(systems.to_vec(), &compare);
    let mut found = found.expect("compared");
    // Lines have a warning of their own: they are joined by their numbers.
    let expected = expected.expect("compared");
    found.warnings.clone_from(&expected.warnings);
    assert_eq!(found.differences, expected.differences);
    assert_eq!(found.to_json(), expected.to_json());

    let one = found.systems[..1].to_vec();
    let error = run(false).compare_outcomes(one, &compare).expect_err("one");
    assert!(error.to_string().contains("at least 2 systems"), "{error}");
}
