//! Tables give what the same data give through JSON Lines: the same state, JSON, samples and errors.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps nothing")]
#![allow(
    clippy::too_many_lines,
    reason = "tests are rows, and some have many, if their metrics are built"
)]

use std::num::NonZeroUsize;

use metric_record::{Cells, Column, Ids, JoinError, Lists, Missing, Shard, Texts, Validity};
use metric_registry::{Options, find};
use metric_run::{
    Data, Format, Outcome, Run, RunError, SampleCollector, SampleTable, Source, Table,
};
use ndarray::{Array2, ShapeBuilder, array};

/// A run of a metric; options are written `name=value`.
fn run(metric: &str, options: &[&str]) -> Run {
    let pairs = options.iter().map(|it| it.split_once('=').unwrap());
    let options = pairs.fold(Options::default(), |all, (name, value)| {
        all.set(name, value)
    });
    Run::new(find(metric).unwrap(), &options).unwrap()
}

/// The table as JSON Lines, with the values under `key`.
fn json_lines(table: &Table<'_>, key: &str) -> String {
    let mut text = String::new();
    for row in 0..table.values.len() {
        let id = match &table.ids {
            Ids::Positions(first) => (first + row as u64).to_string(),
            Ids::Integers(ids) => ids.get(row).unwrap().to_string(),
            Ids::Texts(ids) => format!("{:?}", ids.get(row).unwrap()),
            _ => unreachable!(),
        };
        text += &format!("{{\"id\": {id}, {key:?}: {}", json(&table.values, row));
        for (name, column) in &table.fields {
            text += &format!(", {name:?}: {}", json(column, row));
        }
        text += "}\n";
    }
    text
}

/// A cell as JSON; numbers that JSON cannot represent are the strings that metrics read as them.
fn json(column: &Column<'_>, row: usize) -> String {
    let written = |numbers: Vec<f64>| {
        let number = |number: f64| {
            if number.is_finite() {
                number.to_string()
            } else {
                format!("\"{number}\"")
            }
        };
        let numbers: Vec<_> = numbers.into_iter().map(number).collect();
        format!("[{}]", numbers.join(","))
    };
    match column.value(row).to_json() {
        Ok(json) => json.unwrap().into_owned(),
        Err(_) => written(column.value(row).read().unwrap()),
    }
}

/// The results of a run: the JSON, the body of the state, and the samples.
type Found = Result<(String, Vec<u8>, Option<SampleTable>), String>;

fn found(outcomes: Result<Vec<Outcome>, RunError>, samples: Option<SampleTable>) -> Found {
    let outcome = outcomes.map_err(said)?.remove(0);
    let samples = outcome.samples().cloned().or(samples);
    Ok((outcome.to_json(), outcome.state().body().unwrap(), samples))
}

/// An error without the lines of files, which tables do not have.
fn said(error: RunError) -> String {
    match error {
        RunError::Record {
            id,
            side,
            mut error,
        } => {
            error.line = None;
            format!("{id:?} {side} {error}")
        }
        RunError::Join { mut error, .. } => {
            if let JoinError::Duplicate(duplicate) = &mut *error {
                duplicate.lines.clear();
            }
            error.to_string()
        }
        error => error.to_string(),
    }
}

fn of_files(run: &Run, references: &Table<'_>, predictions: &Table<'_>) -> Found {
    let source = |table: &Table<'_>, key| {
        Source::memory(
            table.name,
            json_lines(table, key).into_bytes(),
            Format::JsonLines,
        )
    };
    let data = Data::Sources {
        references: source(references, "reference"),
        predictions: source(predictions, "prediction"),
    };
    let collector = SampleCollector::default();
    let outcomes = run.score_observed(data, &collector);
    let samples = collector.into_tables().pop().map(|(_, table)| table);
    found(outcomes, samples)
}

/// Tables and files agree with and without samples, on any number of threads. Returns what they say.
fn check(mut run: Run, references: &Table<'_>, predictions: &Table<'_>) -> Found {
    run.samples = true;
    let expected = of_files(&run, references, predictions);
    for threads in [1, 2, 5] {
        run.threads = NonZeroUsize::new(threads);
        for samples in [true, false] {
            run.samples = samples;
            let outcomes = run.score_tables(references.clone(), predictions.clone());
            let tables = found(outcomes, None);
            let expected = expected.clone().map(|(json, body, of_each)| {
                // A run without examples has a table without columns.
                let of_each = samples.then(|| of_each.unwrap_or_default());
                (json, body, of_each)
            });
            assert_eq!(tables, expected, "{threads} threads, samples: {samples}");
        }
    }
    expected
}

/// Checks columns without ids.
fn check_columns(
    metric: &str,
    options: &[&str],
    references: &Column<'_>,
    predictions: &Column<'_>,
) -> Found {
    check(
        run(metric, options),
        &Table::new("r", references.clone()),
        &Table::new("p", predictions.clone()),
    )
}

/// Numbers that look random, below a bound.
fn numbers(seed: u64, below: u64) -> impl Iterator<Item = u64> {
    let next = |state: &u64| {
        Some(
            state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407),
        )
    };
    let states = std::iter::successors(Some(seed), next).skip(1);
    states.map(move |state| (state >> 33) % below)
}

fn integers(seed: u64, below: u64, rows: usize) -> Vec<i64> {
    numbers(seed, below)
        .map(|number| number as i64)
        .take(rows)
        .collect()
}

fn labels(labels: &[i64]) -> Column<'_> {
    Column::Integers(Cells::from(labels))
}

fn reals(numbers: &[f64]) -> Column<'_> {
    Column::Numbers(Cells::from(numbers))
}

fn integer_ids(ids: &[i64]) -> Ids<'_> {
    Ids::Integers(Cells::from(ids))
}

fn texts<'a>(texts: &'a [&'a str]) -> Column<'a> {
    Column::Texts(Texts::from(texts))
}

const ROWS: usize = 53;

#[test]
fn ranked_labels() {
    let rows = integers(1, 9, ROWS * 4);
    let rows = Array2::from_shape_vec((ROWS, 4), rows).unwrap();
    let mut columns_first = Array2::zeros((ROWS, 4).f());
    columns_first.assign(&rows);
    let references = integers(2, 9, ROWS);
    let names: Vec<String> = references.iter().map(i64::to_string).collect();
    let names = Column::Texts(Texts::from(&names[..]));
    let offsets: Vec<usize> = (0..=ROWS).map(|row| row * 4).collect();
    let items = Cells::from(rows.as_slice().unwrap());
    let lists = Column::IntegerLists(Lists::new(&offsets, items, None).unwrap());
    let runs: &[(&str, &[&str])] = &[
        ("accuracy-at-k", &[]),
        ("accuracy-at-k", &["k=1,3"]),
        ("accuracy-at-k", &["k=5"]),
        ("mrr", &[]),
        ("mrr", &["k=2"]),
    ];
    for (metric, options) in runs {
        let check = |references: &Column<'_>, predictions: Column<'_>| {
            check_columns(metric, options, references, &predictions)
        };
        let whole = check(&labels(&references), Column::Labels(rows.view()));
        assert_eq!(
            check(&labels(&references), Column::Labels(columns_first.view())),
            whole
        );
        assert_eq!(check(&labels(&references), lists.clone()), whole);
        // "1" is never 1.
        if let Ok((json, ..)) = check(&names, Column::Labels(rows.view())) {
            assert!(json.contains(":0.0"), "{json}");
        }
    }
}

#[test]
fn lists_of_labels_of_different_lengths() {
    let references = integers(3, 5, ROWS);
    let items = integers(4, 5, 1000);
    let offsets = |at: usize| {
        let lengths = (0..ROWS).map(move |row| 3 - usize::from(row == at));
        let mut end = 0;
        let ends = lengths.map(move |length| {
            end += length;
            end
        });
        std::iter::once(0).chain(ends).collect::<Vec<usize>>()
    };
    for at in [0, 1, 30, ROWS - 1] {
        let cells = Cells::from(&items[..]);
        let lists = Column::IntegerLists(Lists::new(&offsets(at), cells, None).unwrap());
        assert!(check_columns("mrr", &[], &labels(&references), &lists).is_ok());
        for options in [&["k=1"], &["k=3"]] {
            assert!(check_columns("accuracy-at-k", options, &labels(&references), &lists).is_ok());
        }
        assert!(check_columns("accuracy-at-k", &[], &labels(&references), &lists).is_err());
    }
    let error = {
        let cells = Cells::from(&items[..]);
        let lists = Column::IntegerLists(Lists::new(&offsets(30), cells, None).unwrap());
        check_columns("accuracy-at-k", &[], &labels(&references), &lists).unwrap_err()
    };
    assert_eq!(
        error,
        "\"31\" prediction p: id \"31\": prediction: the row has 2 labels: expected 3, as in the first row; to allow any number, use --k"
    );
}

#[test]
fn scores() {
    // Quarters, so that scores are often tied.
    let of = |(row, column): (usize, usize)| ((row * 7 + column * 5) % 11) as f64 / 4.0;
    let scores = Array2::from_shape_fn((ROWS, 6), of);
    let singles = scores.mapv(|score| score as f32);
    let mut columns_first = Array2::zeros((ROWS, 6).f());
    columns_first.assign(&scores);
    let references = integers(5, 6, ROWS);
    let weights: Vec<f64> = numbers(6, 9).map(|it| it as f64 / 8.0).take(ROWS).collect();
    let halves: Vec<f32> = weights.iter().map(|it| *it as f32).collect();
    let counts = integers(7, 4, ROWS);
    let runs: &[(&str, &[&str])] = &[
        ("accuracy-at-k", &[]),
        ("accuracy-at-k", &["k=2,6", "ties=expected"]),
        ("accuracy-at-k", &["ties=lowest-index", "average=macro"]),
        ("accuracy-at-k", &["ignore-index=3"]),
        ("accuracy-at-k", &["ignore-index=0", "weight-field=w"]),
        ("mrr", &["weight-field=w", "average=macro"]),
        ("mrr", &["k=3", "allow-infinite=yes"]),
        ("mrr", &["weight-field=missing"]),
    ];
    for (metric, options) in runs {
        for weights in [
            Column::Numbers(Cells::from(&weights[..])),
            Column::NumbersF32(Cells::from(&halves[..])),
            labels(&counts),
        ] {
            let check = |scores| {
                let references = Table {
                    fields: vec![("lang", labels(&counts)), ("w", weights.clone())],
                    ..Table::new("r", labels(&references))
                };
                let options: Vec<&str> = ["input=scores"].iter().chain(*options).copied().collect();
                check(run(metric, &options), &references, &Table::new("p", scores))
            };
            let whole = check(Column::Scores(scores.view()));
            assert_eq!(check(Column::ScoresF32(singles.view())), whole);
            assert_eq!(check(Column::Scores(columns_first.view())), whole);
            assert_eq!(
                check(Column::ScoresF32(columns_first.mapv(|it| it as f32).view())),
                whole
            );
            assert_eq!(whole.is_err(), options.contains(&"weight-field=missing"));
        }
    }
}

#[test]
fn scores_by_hand() {
    let scores = array![[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]];
    let found = check_columns(
        "accuracy-at-k",
        &["input=scores", "k=1", "ignore-index=-100"],
        &labels(&[0, 1, -100]),
        &Column::Scores(scores.view()),
    );
    let (json, _, samples) = found.unwrap();
    assert!(
        json.contains(r#""scores":{"accuracy@1":0.5},"counts":{"hits@1":1,"total":2}"#),
        "{json}"
    );
    let samples = samples.unwrap();
    assert_eq!(samples.ids(), ["1", "2"]);
    assert_eq!(
        samples.score("accuracy@1"),
        Some(&[Some(1.0), Some(0.0)][..])
    );
}

#[test]
fn scores_that_are_not_taken() {
    let whole = Array2::from_shape_fn((ROWS, 3), |(row, column)| (row * column) as f64);
    let with = |row, column, score| {
        let mut scores = whole.clone();
        scores[(row, column)] = score;
        scores
    };
    let references = integers(8, 3, ROWS);
    let mut outside = references.clone();
    outside[31] = 3;
    outside[20] = -1;
    let weights = vec![1.0; ROWS];
    let weight = |weight| {
        let mut weights = weights.clone();
        weights[33] = weight;
        weights
    };
    let mut bits = [0xff; ROWS / 8 + 1];
    bits[3] = 0b1111_0111;
    let valid = Some(Validity::new(&bits, 0, ROWS).unwrap());
    let holed = Column::Integers(Cells::new(&references, valid).unwrap());
    let names = vec!["1"; ROWS];
    let words = vec!["heavy"; ROWS];
    let negative = weight(-0.5);
    let (references, outside) = (labels(&references), labels(&outside));
    type Row<'a> = (
        &'a Column<'a>,
        Array2<f64>,
        Column<'a>,
        &'a [&'a str],
        &'a str,
    );
    let rows: &[Row<'_>] = &[
        (
            &references,
            with(30, 1, f64::NAN),
            reals(&weights),
            &[],
            "31 prediction score 1 is not a number",
        ),
        (
            &references,
            with(30, 2, f64::INFINITY),
            reals(&weights),
            &[],
            "31 prediction score 2 is inf: allowed with --allow-infinite",
        ),
        (
            &references,
            with(30, 2, f64::INFINITY),
            reals(&weights),
            &["allow-infinite=yes"],
            "",
        ),
        (
            &outside,
            whole.clone(),
            reals(&weights),
            &[],
            "21 reference the label is -1, but there are 3 scores",
        ),
        (
            &outside,
            whole.clone(),
            reals(&weights),
            &["ignore-index=-1"],
            "32 reference the label is 3, but there are 3 scores",
        ),
        (
            &holed,
            whole.clone(),
            reals(&weights),
            &[],
            "28 reference expected the index of a score, an integer, found null",
        ),
        (
            &texts(&names),
            whole.clone(),
            reals(&weights),
            &[],
            "1 reference expected the index of a score, an integer, found a string",
        ),
        (
            &references,
            whole.clone(),
            reals(&negative),
            &["weight-field=w"],
            "34 reference field \"w\": the weight is -0.5: expected a number from 0 to 1e200",
        ),
        (
            &references,
            whole.clone(),
            texts(&words),
            &["weight-field=w"],
            "1 reference field \"w\": found the string \"heavy\", expected a number",
        ),
        (
            &references,
            whole.clone(),
            holed.clone(),
            &["weight-field=w"],
            "28 reference field \"w\": found null, expected a number",
        ),
        (
            &references,
            with(2, 0, f64::NAN),
            reals(&negative),
            &["weight-field=w"],
            "3 prediction score 0 is not a number",
        ),
    ];
    for (references, scores, weights, options, expected) in rows {
        let references = Table {
            fields: vec![("w", weights.clone())],
            ..Table::new("r", (*references).clone())
        };
        let options: Vec<&str> = ["input=scores", "k=1"]
            .iter()
            .chain(*options)
            .copied()
            .collect();
        let singles = scores.mapv(|score| score as f32);
        for scores in [
            Column::Scores(scores.view()),
            Column::ScoresF32(singles.view()),
        ] {
            let run = run("accuracy-at-k", &options);
            let found = check(run, &references, &Table::new("p", scores));
            let error = found.err().unwrap_or_default();
            let (id, rest) = expected.split_once(' ').unwrap_or_default();
            let (side, problem) = rest.split_once(' ').unwrap_or_default();
            let expected = if expected.is_empty() {
                String::new()
            } else {
                // Fields other than the reference and the prediction have no side.
                let of = if problem.starts_with("field ") {
                    String::new()
                } else {
                    format!("{side}: ")
                };
                format!("\"{id}\" {side} {}: id \"{id}\": {of}{problem}", &side[..1])
            };
            assert_eq!(error, expected);
        }
    }
}

#[test]
fn classes() {
    let (predictions, references) = (integers(9, 5, ROWS), integers(10, 4, ROWS));
    let extremes = [i64::MIN, i64::MAX, -1, 0, 7];
    let extreme = |seed| -> Vec<i64> {
        numbers(seed, 5)
            .map(|it| extremes[it as usize])
            .take(ROWS)
            .collect()
    };
    let words = |labels: &[i64]| -> Vec<String> { labels.iter().map(i64::to_string).collect() };
    let (predicted, expected) = (words(&predictions), words(&references));
    let columns = |texts| Column::Texts(Texts::from(texts));
    let runs: &[&[&str]] = &[
        &[],
        &["average=micro"],
        &["zero-division=0", "groups=class"],
        &["labels=1,3,9"],
    ];
    for options in runs {
        let check = |references: Column<'_>, predictions: Column<'_>| {
            check_columns("classification", options, &references, &predictions).unwrap()
        };
        check(labels(&references), labels(&predictions));
        check(labels(&extreme(11)), labels(&extreme(12)));
        check(columns(&expected[..]), columns(&predicted[..]));
        // No string is an integer.
        let (json, ..) = check(columns(&expected[..]), labels(&predictions));
        assert!(json.contains(r#""accuracy":0.0"#), "{json}");
    }
    let (json, _, samples) = check_columns(
        "classification",
        &[],
        &labels(&[3, 2, 2]),
        &labels(&[3, 1, 2]),
    )
    .unwrap();
    assert!(
        json.contains(r#""counts":{"correct":2,"total":3}"#),
        "{json}"
    );
    let accuracy = [Some(1.0), Some(0.0), Some(1.0)];
    assert_eq!(samples.unwrap().score("accuracy"), Some(&accuracy[..]));
}

#[test]
fn nulls() {
    let (a, b) = (integers(13, 5, ROWS), integers(14, 5, ROWS));
    let words: Vec<String> = a.iter().map(|it| format!("word {it}")).collect();
    let mut bits = [0xff; ROWS / 8 + 1];
    bits[5] = 0b1011_1111;
    let valid = Some(Validity::new(&bits, 0, ROWS).unwrap());
    let holed = Column::Integers(Cells::new(&a, valid).unwrap());
    let cells: Vec<Option<&str>> = words
        .iter()
        .enumerate()
        .map(|(row, word)| (row != 46).then_some(word.as_str()))
        .collect();
    let holed_texts = Column::Texts(Texts::from(&cells[..]));
    let words = Column::Texts(Texts::from(&words[..]));
    let items = integers(15, 5, ROWS * 2);
    let offsets: Vec<usize> = (0..=ROWS).map(|row| row * 2).collect();
    let holed_lists = Lists::new(&offsets, Cells::from(&items[..]), valid).unwrap();
    let holed_lists = Column::IntegerLists(holed_lists);
    let lists = Lists::new(&offsets, Cells::from(&items[..]), None).unwrap();
    let lists = Column::IntegerLists(lists);
    let rows: &[(&str, &Column<'_>, &Column<'_>, &str)] = &[
        (
            "classification",
            &labels(&b),
            &holed,
            "prediction: expected a label, an integer or a string, found null",
        ),
        (
            "classification",
            &holed,
            &labels(&b),
            "reference: expected a label, an integer or a string, found null",
        ),
        (
            "classification",
            &holed,
            &holed,
            "prediction: expected a label, an integer or a string, found null",
        ),
        (
            "accuracy-at-k",
            &holed,
            &lists,
            "reference: expected a label, an integer or a string, found null",
        ),
        (
            "accuracy-at-k",
            &labels(&b),
            &holed_lists,
            "prediction: expected a list of labels, found null",
        ),
        (
            "mrr",
            &labels(&b),
            &holed_lists,
            "prediction: expected a list of labels, found null",
        ),
        (
            "string-accuracy",
            &words,
            &holed_texts,
            "prediction: expected a string, found null",
        ),
        (
            "exact-match",
            &holed_texts,
            &words,
            "reference: expected a string, found null",
        ),
        (
            "wer",
            &words,
            &holed_texts,
            "prediction: expected a string, found null",
        ),
        (
            "cer",
            &holed_texts,
            &holed_texts,
            "prediction: expected a string, found null",
        ),
    ];
    for (metric, references, predictions, problem) in rows {
        let error = check_columns(metric, &[], references, predictions).unwrap_err();
        // A prediction may be left empty or out on request, and a reference may not.
        let hint = if problem.starts_with("prediction") {
            "; to score it as an empty prediction, use --null empty; to leave it out, use --null skip"
        } else {
            ""
        };
        assert!(
            error.starts_with("\"47\" ") && error.ends_with(&format!("{problem}{hint}")),
            "{metric}: {error}"
        );
    }
}

#[test]
fn texts_of_all_layouts() {
    let words = [
        "the", "a", "Cat", "cat", "sat,", "sat", "on", "mat", "2", "naïve",
    ];
    let text = |seed: u64| -> String {
        let count = numbers(seed, 5).next().unwrap() as usize;
        let picked: Vec<_> = numbers(seed + 1, 10)
            .take(count)
            .map(|it| words[it as usize])
            .collect();
        picked.join(" ")
    };
    let references: Vec<String> = (0..ROWS as u64).map(text).collect();
    // Every third prediction is its reference.
    let prediction = |row: u64| text(row + if row.is_multiple_of(3) { 0 } else { 1000 });
    let predictions: Vec<String> = (0..ROWS as u64).map(prediction).collect();
    let bytes = predictions.concat();
    let mut offsets = vec![0_i32];
    for text in &predictions {
        offsets.push(offsets[offsets.len() - 1] + text.len() as i32);
    }
    let runs: &[(&str, &[&str])] = &[
        ("string-accuracy", &[]),
        ("string-accuracy", &["normalize=casefold,punctuation"]),
        ("exact-match", &[]),
        ("exact-match", &["ignore-case=yes", "ignore-numbers=yes"]),
        ("exact-match", &["regexes-to-ignore=[aeiou]"]),
        ("wer", &[]),
        ("wer", &["profile=torchmetrics"]),
        ("wer", &["profile=huggingface", "normalize=lower"]),
        ("cer", &[]),
        ("cer", &["unit=grapheme"]),
    ];
    for (metric, options) in runs {
        let check = |predictions| {
            let references = Column::Texts(Texts::from(&references[..]));
            check_columns(metric, options, &references, &predictions)
        };
        let whole = check(Column::Texts(Texts::from(&predictions[..])));
        let arrow = Texts::utf8(&offsets, bytes.as_bytes(), None).unwrap();
        assert_eq!(check(Column::Texts(arrow)), whole);
        let collected = predictions.iter().map(|text| Some(text.as_str())).collect();
        assert_eq!(check(Column::Texts(collected)), whole);
        assert!(check(labels(&integers(16, 3, ROWS))).is_err());
    }
}

#[test]
fn word_error_rate_by_hand() {
    let found = check_columns(
        "wer",
        &[],
        &texts(&["the cat sat", "a dog"]),
        &texts(&["the cat", "a dog"]),
    );
    let (json, _, samples) = found.unwrap();
    assert!(json.contains(r#""wer":0.2"#), "{json}"); // 1 of 5 words
    let samples = samples.unwrap();
    assert_eq!(
        samples.score("wer"),
        Some(&[Some(1.0 / 3.0), Some(0.0)][..])
    );
    assert_eq!(samples.count("deletions").unwrap().get(0), Some(1.into()));
}

/// A table of labels whose ids are integers or texts.
fn keyed<'a>(name: &'a str, ids: Ids<'a>, values: &'a [i64]) -> Table<'a> {
    Table {
        ids,
        ..Table::new(name, labels(values))
    }
}

#[test]
fn ids_join_as_in_files() {
    let values = integers(17, 4, ROWS);
    let ascending: Vec<i64> = (0..ROWS as i64).collect();
    let descending: Vec<i64> = ascending.iter().rev().copied().collect();
    let mixed: Vec<i64> = ascending.iter().map(|id| id * 20 % ROWS as i64).collect();
    let names: Vec<String> = ascending.iter().map(i64::to_string).collect();
    let names = || Ids::Texts(Texts::from(&names[..]));
    let mut twice = mixed.clone();
    (twice[3], twice[40], twice[20]) = (twice[30], twice[30], twice[11]);
    let short = &ascending[..ROWS - 7];
    let later: Vec<i64> = ascending.iter().map(|id| id + 3).collect();

    let check = |a: Ids<'_>, b: Ids<'_>| {
        let len = |ids: &Ids<'_>| match ids {
            Ids::Integers(ids) => ids.len(),
            _ => ROWS,
        };
        let (first, second) = (&values[..len(&a)], &values[..len(&b)]);
        let references = keyed("r", a.clone(), first);
        let predictions = keyed("p", b.clone(), second);
        let mut results = Vec::new();
        for missing in [Missing::Error, Missing::Empty, Missing::Skip] {
            for ignore_extra in [false, true] {
                for shard in [None, Some(Shard::new(1, 3).unwrap())] {
                    let mut run = run("classification", &["average=weighted"]);
                    run.join.missing = missing;
                    run.join.ignore_extra = ignore_extra;
                    run.shard = shard;
                    results.push(crate::tables::check(run, &references, &predictions));
                }
            }
        }
        results.swap_remove(0)
    };
    assert!(check(integer_ids(&ascending), integer_ids(&ascending)).is_ok());
    assert!(check(names(), names()).is_ok());
    // 17 and "17" are one id.
    assert!(check(integer_ids(&ascending), names()).is_ok());
    assert!(check(integer_ids(&ascending), integer_ids(&descending)).is_ok());
    assert!(check(names(), integer_ids(&mixed)).is_ok());
    assert!(check(integer_ids(&mixed), integer_ids(&mixed)).is_ok());
    assert!(check(Ids::Positions(0), integer_ids(&mixed)).is_ok());

    let error = |a, b| check(a, b).unwrap_err();
    assert_eq!(
        error(integer_ids(&ascending), integer_ids(short)),
        "p: no prediction for 7 references of r: ids \"46\", \"47\", \"48\", \"49\", \"50\", ...; \
         to score them against empty predictions, use --missing empty; to leave them out, use --missing skip"
    );
    assert_eq!(
        error(integer_ids(short), names()),
        "r: no reference for 7 predictions of p: ids \"46\", \"47\", \"48\", \"49\", \"50\", ...; \
         to leave them out, use --extra ignore"
    );
    assert!(error(integer_ids(&ascending), integer_ids(&later)).contains('\n'));
    let duplicate = error(integer_ids(&twice), integer_ids(&twice));
    assert_eq!(error(integer_ids(&twice), integer_ids(&mixed)), duplicate);
    assert!(duplicate.starts_with("r: duplicate id"), "{duplicate}");
    assert!(
        duplicate.contains("; 2 ids in all are duplicates"),
        "{duplicate}"
    );
    assert!(error(integer_ids(&mixed), integer_ids(&twice)).starts_with("p: duplicate id"));
}

#[test]
fn positions_join_by_position() {
    let run = run("classification", &[]);
    let table = |name, values: &'static [i64]| Table::new(name, labels(values));
    let error = run.score_tables(table("r", &[1, 2]), table("p", &[1]));
    assert_eq!(
        error.unwrap_err().to_string(),
        "p: has 1 row: expected 2, as in r (rows without ids are joined by position)"
    );
    // Positions may count from any number: the ids are those of the references.
    let mut run = run;
    run.samples = true;
    let references = Table {
        ids: Ids::Positions(0),
        ..table("r", &[1, 2])
    };
    let outcomes = run.score_tables(references, table("p", &[1, 1])).unwrap();
    assert_eq!(outcomes[0].samples().unwrap().ids(), ["0", "1"]);
}

#[test]
fn columns_that_do_not_fit() {
    fn table<'a>(ids: &'a [i64], fields: Vec<(&'a str, Column<'a>)>) -> Table<'a> {
        Table {
            fields,
            ..keyed("r", integer_ids(ids), &[1, 2])
        }
    }
    let error = |table: Table<'_>| {
        let run = run("classification", &[]);
        let error = run.score_tables(table, Table::new("p", labels(&[1, 2])));
        error.unwrap_err().to_string()
    };
    assert_eq!(error(table(&[1], vec![])), "r: 1 id, but 2 rows");
    let weights = labels(&[1, 1, 1]);
    let fields = vec![("w", weights)];
    assert_eq!(
        error(table(&[1, 2], fields)),
        "r: field \"w\": 3 values, but 2 rows"
    );
    let fields = vec![("w", labels(&[1, 1])), ("w", labels(&[1, 1]))];
    assert_eq!(
        error(table(&[1, 2], fields)),
        "r: 2 fields have the name \"w\""
    );
    let valid = Validity::new(&[0b01], 0, 2).unwrap();
    let null = Table {
        ids: Ids::Integers(Cells::new(&[1, 2], Some(valid)).unwrap()),
        ..table(&[1, 2], vec![])
    };
    assert_eq!(
        error(null),
        "r: the id at index 1 is null: expected a string or an integer"
    );
    assert_eq!(
        check_columns("classification", &[], &labels(&[]), &labels(&[])).unwrap_err(),
        "r: has no records: expected at least one"
    );
}

/// Records that a metric reads one by one have the further fields.
#[test]
fn metrics_without_a_path_read_records() {
    let questions = ["yes/no", "number"];
    let kinds: Vec<&str> = numbers(18, 2)
        .map(|it| questions[it as usize])
        .take(ROWS)
        .collect();
    let answers = ["yes", "no", "2", "3"];
    let answer = |seed| -> Vec<&str> {
        numbers(seed, 4)
            .map(|it| answers[it as usize])
            .take(ROWS)
            .collect()
    };
    let (references, predictions) = (answer(19), answer(20));
    let references = Table {
        fields: vec![("question_type", texts(&kinds))],
        ..Table::new("r", texts(&references))
    };
    let (json, ..) = check(
        run("vqa", &[]),
        &references,
        &Table::new("p", texts(&predictions)),
    )
    .unwrap();
    assert!(
        json.contains(r#""groups":{"question_type":{"number":"#),
        "{json}"
    );
    let numbers: Vec<f64> = (0..ROWS).map(|row| row as f64 * 1.03).collect();
    let near: Vec<f32> = (0..ROWS).map(|row| row as f32 + 0.1).collect();
    let found = check_columns(
        "relaxed-accuracy",
        &[],
        &Column::Numbers(Cells::from(&numbers[..])),
        &Column::NumbersF32(Cells::from(&near[..])),
    );
    assert!(found.is_ok());
    // A number that JSON has no form for is an error where the records are read one by one.
    let mut numbers = numbers;
    numbers[21] = f64::NAN;
    let references = Table {
        fields: vec![("n", Column::Numbers(Cells::from(&numbers[..])))],
        ..references
    };
    for threads in [1, 2, 5] {
        let mut run = run("vqa", &[]);
        run.threads = NonZeroUsize::new(threads);
        let predictions = Table::new("p", texts(&predictions));
        let error = run
            .score_tables(references.clone(), predictions)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "r: id \"22\": reference: field \"n\": found NaN: expected a finite number"
        );
    }
}

#[test]
fn several_metrics_share_tables() {
    let values = ["a b", "c", "d e f"];
    let others = ["a b", "x", "d f"];
    let mut run = run("wer", &[]);
    run = run
        .with_metric(find("string-accuracy").unwrap(), &Options::default())
        .unwrap();
    run.samples = true;
    let outcomes = run
        .score_tables(
            Table::new("r", texts(&values)),
            Table::new("p", texts(&others)),
        )
        .unwrap();
    assert_eq!(outcomes[0].report().score("wer"), Some(2.0 / 6.0));
    assert_eq!(
        outcomes[1].report().score("string_accuracy"),
        Some(1.0 / 3.0)
    );
    let accuracy = [Some(1.0), Some(0.0), Some(0.0)];
    assert_eq!(
        outcomes[1].samples().unwrap().score("string_accuracy"),
        Some(&accuracy[..])
    );
}

/// More records than are read at once.
#[test]
fn many_slices() {
    const MANY: usize = 70_000;
    let (predictions, references) = (integers(21, 50, MANY), integers(22, 50, MANY));
    let correct = predictions
        .iter()
        .zip(&references)
        .filter(|(a, b)| a == b)
        .count();
    let ids: Vec<i64> = (0..MANY as i64).rev().collect();
    let later: Vec<i64> = (0..MANY as i64)
        .map(|row| (row + 5) % MANY as i64)
        .collect();
    let mut run = run("classification", &[]);
    run.threads = NonZeroUsize::new(1);
    run.samples = true;
    let outcomes = run.score_tables(
        Table::new("r", labels(&references)),
        Table::new("p", labels(&predictions)),
    );
    let outcome = outcomes.unwrap().remove(0);
    assert_eq!(
        outcome.report().score("accuracy"),
        Some(correct as f64 / MANY as f64)
    );
    let samples = outcome.samples().unwrap();
    let ones = samples
        .score("accuracy")
        .unwrap()
        .iter()
        .filter(|it| **it == Some(1.0));
    assert_eq!((samples.len(), ones.count()), (MANY, correct));

    // In another order: the prediction of reference i is 5 rows before that of its id.
    let outcomes = run.score_tables(
        keyed("r", Ids::Integers(Cells::from(&ids[..])), &references),
        keyed("p", Ids::Integers(Cells::from(&later[..])), &predictions),
    );
    let of = |row: usize| predictions[(MANY - 1 - row + MANY - 5) % MANY] == references[row];
    let correct = (0..MANY).filter(|row| of(*row)).count();
    let accuracy = outcomes.unwrap()[0].report().score("accuracy");
    assert_eq!(accuracy, Some(correct as f64 / MANY as f64));
}
