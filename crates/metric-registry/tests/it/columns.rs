//! A batch read as columns gives what its records give one by one.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps nothing")]

use metric_record::{Batch, Cells, Column, FieldError, Ids, Record, RecordError, Texts};
use metric_registry::{AddError, Options, Sample, Scorer, State, find};
use ndarray::{Array2, ArrayView2, Axis, Slice, array};

fn scorer(metric: &str, options: &[(&str, &str)]) -> Scorer {
    let options = options.iter();
    let options = options.fold(Options::default(), |all, (name, value)| {
        all.set(name, *value)
    });
    find(metric).unwrap().scorer(&options).unwrap()
}

/// The result of adding to a state: its body afterwards, and the samples.
type Added = Result<(Vec<u8>, Vec<Sample>), AddError>;

/// Reads a batch into a copy of a state.
fn add(scorer: &Scorer, state: &State, batch: &Batch<'_>, samples: bool) -> Added {
    let mut state = state.clone();
    let mut part = scorer.read_columns(&state, batch, samples);
    state.add(&mut part)?;
    Ok((state.body().unwrap(), part.samples(&state)))
}

/// Reads the records of a batch into a copy of a state.
fn add_records(scorer: &Scorer, state: &State, batch: &Batch<'_>) -> Added {
    let mut state = state.clone();
    let mut records: Vec<Record<'_>> = batch.records().collect();
    let mut part = scorer.read(&state, &mut records, true);
    state.add(&mut part)?;
    Ok((state.body().unwrap(), part.samples(&state)))
}

/// Reads a batch into a part that holds the records of the batch already; `None` without a path for its columns.
fn add_more(scorer: &Scorer, state: &State, batch: &Batch<'_>) -> Option<Added> {
    let mut state = state.clone();
    let mut records: Vec<Record<'_>> = batch.records().collect();
    let mut part = scorer.read(&state, &mut records, true);
    let has_path = scorer.read_more_columns(&mut part, batch.len(), batch);
    has_path.then(|| {
        state.add(&mut part)?;
        Ok((state.body().unwrap(), part.samples(&state)))
    })
}

/// Reads the records of a batch twice into one part.
fn add_records_twice(scorer: &Scorer, state: &State, batch: &Batch<'_>) -> Added {
    let mut state = state.clone();
    let mut records: Vec<Record<'_>> = batch.records().collect();
    let mut part = scorer.read(&state, &mut records.clone(), true);
    scorer.read_more(&mut part, batch.len(), &mut records);
    state.add(&mut part)?;
    Ok((state.body().unwrap(), part.samples(&state)))
}

fn check(scorer: &Scorer, state: &State, batch: &Batch<'_>) -> Added {
    let found = add_records(scorer, state, batch);
    assert_eq!(add(scorer, state, batch, true), found);
    let more = add_more(scorer, state, batch);
    assert!(more.is_none_or(|more| more == add_records_twice(scorer, state, batch)));
    let without = add(scorer, state, batch, false);
    assert_eq!(without, found.clone().map(|(body, _)| (body, Vec::new())));
    found
}

fn batch<'a>(predictions: Column<'a>, references: &'a [i64]) -> Batch<'a> {
    let references = Column::Integers(Cells::from(references));
    Batch::new(Ids::Positions(1), predictions, references, vec![]).unwrap()
}

/// Some rows and some columns of an array.
fn cut<T>(array: &Array2<T>, rows: Slice, columns: Slice) -> ArrayView2<'_, T> {
    let mut view = array.view();
    view.slice_axis_inplace(Axis(0), rows);
    view.slice_axis_inplace(Axis(1), columns);
    view
}

#[test]
fn an_array_in_any_layout_and_any_slice() {
    let scores =
        Array2::from_shape_fn((12, 8), |(row, column)| (row * 5 + column * 3) as f64 % 7.0);
    let singles = scores.mapv(|score| score as f32);
    let labels = scores.mapv(|score| score as i64);
    let references: Vec<i64> = (0..8).map(|row| row * 3 % 4).collect();
    let (all, rows) = (Slice::from(..), Slice::from(2..10));
    let (first, other) = (Slice::from(..4), Slice::new(1, None, 2));
    let (up, back) = (Slice::new(2, Some(10), -1), Slice::new(0, None, -1));
    let arrays: &[(&str, Column<'_>)] = &[
        ("scores", Column::Scores(cut(&scores, rows, other))),
        ("scores", Column::ScoresF32(cut(&singles, rows, other))),
        (
            "scores",
            Column::Scores(cut(&scores, first, all).reversed_axes()),
        ),
        ("scores", Column::ScoresF32(cut(&singles, up, first))),
        ("labels", Column::Labels(cut(&labels, rows, other))),
        (
            "labels",
            Column::Labels(cut(&labels, first, all).reversed_axes()),
        ),
        ("labels", Column::Labels(cut(&labels, rows, back))),
    ];
    for metric in ["accuracy-at-k", "mrr"] {
        for (input, column) in arrays {
            let scorer = scorer(metric, &[("input", input)]);
            let batch = batch(column.clone(), &references);
            for start in 0..=batch.len() {
                for end in start..=batch.len() {
                    let part = batch.slice(start..end);
                    assert!(check(&scorer, &scorer.start(), &part).is_ok());
                }
            }
        }
    }
}

/// The first record that is counted differs from the data set, however many are left out before it.
#[test]
fn rows_of_another_width_than_the_data_set() {
    let (narrow, wide) = (
        array![[0.5, 0.25], [0.5, 1.0]],
        array![[1.0; 3], [2.0; 3], [3.0; 3]],
    );
    let scorer = scorer(
        "accuracy-at-k",
        &[("input", "scores"), ("k", "1"), ("ignore-index", "-1")],
    );
    let mut state = scorer.start();
    let first = batch(Column::Scores(narrow.view()), &[0, 1]);
    state
        .add(&mut scorer.read_columns(&state, &first, false))
        .unwrap();
    let index = |references: &[i64]| {
        let batch = batch(Column::Scores(wide.view()), references);
        let found = check(&scorer, &state, &batch);
        // A part that knows nothing of the state finds the same record.
        let mut part = scorer.read_columns(&scorer.start(), &batch, false);
        let mut state = state.clone();
        assert_eq!(state.add(&mut part).err(), found.clone().err());
        match found {
            Err(AddError::Record(RecordError { index, error })) => {
                let problem = "the row has 3 scores: expected 2, as in the first row";
                assert_eq!(error, FieldError::prediction(problem));
                Some(index)
            }
            _ => None,
        }
    };
    assert_eq!(index(&[0, 1, 2]), Some(0));
    assert_eq!(index(&[-1, -1, 2]), Some(2));
    // The row that differs comes before the label that has no score.
    assert_eq!(index(&[-1, 0, 7]), Some(1));
    assert_eq!(index(&[-1, -1, -1]), None);
}

/// The facts behind warnings are the same, too: rows of equal scores, and rows of fewer labels than
/// k.
#[test]
fn rows_that_are_warned_of() {
    let scores = array![[1.0, 1.0], [0.5, 0.25], [0.0, -0.0], [2.0, 2.0]];
    let options = [
        ("input", "scores"),
        ("ties", "optimistic"),
        ("k", "1"),
        ("ignore-index", "7"),
    ];
    let ranked = scorer("accuracy-at-k", &options);
    let rows = batch(Column::Scores(scores.view()), &[0, 1, 1, 7]);
    assert!(check(&ranked, &ranked.start(), &rows).is_ok());
    let labels = array![[1, 2], [2, 1]];
    let short = scorer("mrr", &[("k", "3")]);
    let rows_of_labels = batch(Column::Labels(labels.view()), &[1, 3]);
    assert!(check(&short, &short.start(), &rows_of_labels).is_ok());
    for (scorer, batch, expected) in [
        (&ranked, &rows, "2 rows have the same score for all classes"),
        (
            &short,
            &rows_of_labels,
            "2 rows have fewer than the 3 labels",
        ),
    ] {
        let mut state = scorer.start();
        state
            .add(&mut scorer.read_columns(&state, batch, false))
            .unwrap();
        let warnings = state.report().warnings;
        assert!(
            warnings
                .iter()
                .any(|warning| warning.to_string().starts_with(expected)),
            "{warnings:?}"
        );
    }
}

/// Values as in files: those that are not texts or labels are read record by record, and have the same errors.
#[test]
fn texts_as_they_are_written() {
    let cells = [
        "7",
        "a",
        "07",
        "-1",
        "",
        "7",
        "1.5",
        "-0",
        "A",
        "a ",
        "9223372036854775808",
        "\"7\"",
        "\"a\"",
        "\"a\\n\"",
        "null",
        "true",
        "[\"a\"]",
        "12345678",
        "1234567",
        "é",
        " 7",
        "7 ",
    ];
    type ToColumn = fn(Texts<'static>) -> Column<'static>;
    let (lines, strings, json): (ToColumn, ToColumn, ToColumn) =
        (Column::Lines, Column::Texts, Column::Json);
    let kinds = [
        (lines, lines),
        (strings, strings),
        (json, json),
        (lines, strings),
        (strings, json),
    ];
    let metrics = ["classification", "string-accuracy", "exact-match", "wer"];
    // All pairs of cells, and some runs of cells next to the same cells moved.
    let count = cells.len();
    let singles = (0..count).map(|other| (other, 1));
    let runs: Vec<_> = singles.chain([(0, count), (1, count), (5, 5)]).collect();
    let mut read = 0;
    for (metric, (of_predictions, of_references)) in metrics
        .iter()
        .flat_map(|metric| kinds.map(|kind| (metric, kind)))
    {
        let scorer = scorer(metric, &[]);
        for (first, (moved, len)) in
            (0..count).flat_map(|it| runs.iter().map(move |run| (it, *run)))
        {
            let cells = |from| {
                let run = (from..from + len).map(|index| Some(cells[index % count]));
                run.collect::<Texts<'static>>()
            };
            let predictions = of_predictions(cells(first));
            let references = of_references(cells(moved));
            let batch = Batch::new(Ids::Positions(1), predictions, references, vec![]).unwrap();
            read += usize::from(check(&scorer, &scorer.start(), &batch).is_ok());
        }
    }
    assert!(read > 1000, "{read}");
}

/// Rows of labels as JSON: what is not plain goes record by record.
#[test]
fn rows_of_labels_as_they_are_written() {
    let references = ["3", "\"a\"", "-1", "12345678901", "null", "1.5", "0"];
    let rows = [
        "[3, 12, -1]",
        "[12345678901,0]",
        "[]",
        "[ ]",
        "[\"a\", 3]",
        "null",
        "[1.5]",
        "[03]",
        "7",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,3]",
    ];
    let mut read = 0;
    for (metric, options) in [
        ("accuracy-at-k", &[("k", "1,2")][..]),
        ("accuracy-at-k", &[]),
        ("mrr", &[]),
    ] {
        let scorer = scorer(metric, options);
        for (reference, row) in references.iter().flat_map(|it| rows.map(|row| (it, row))) {
            for len in [1, 3] {
                let predictions = vec![Some(row); len].into_iter().collect();
                let references = vec![Some(*reference); len].into_iter().collect();
                let columns = (Column::Json(predictions), Column::Json(references));
                let batch = Batch::new(Ids::Positions(1), columns.0, columns.1, vec![]).unwrap();
                read += usize::from(check(&scorer, &scorer.start(), &batch).is_ok());
            }
        }
    }
    assert!(read > 50, "{read}");
}

#[test]
fn no_examples() {
    let none = Array2::<f64>::zeros((0, 3));
    for options in [&[][..], &[("input", "scores")]] {
        let scorer = scorer("accuracy-at-k", options);
        let empty = batch(Column::Scores(none.view()), &[]);
        let found = check(&scorer, &scorer.start(), &empty);
        assert_eq!(found.unwrap().0, scorer.start().body().unwrap());
    }
    let scorer = scorer("classification", &[]);
    let empty = batch(Column::Integers(Cells::from(&[][..])), &[]);
    assert!(check(&scorer, &scorer.start(), &empty).is_ok());
}

#[test]
fn texts_that_take_too_long_to_align() {
    // 1.5 M and 0.74 M characters: more than 2^40 pairs, and far apart although they have the same letters.
    let texts = ["abcdefghij".repeat(150_000), "jihgfedcba".repeat(74_000)];
    let [long, short] = texts.each_ref().map(|text| ["a", text.as_str()]);
    let column = |texts| Column::Texts(Texts::from(texts));
    let batch = Batch::new(
        Ids::Positions(1),
        column(&long[..]),
        column(&short[..]),
        vec![],
    );
    let scorer = scorer("cer", &[]);
    let found = check(&scorer, &scorer.start(), &batch.unwrap());
    let Err(AddError::Record(error)) = found else {
        panic!("aligned: {found:?}");
    };
    assert_eq!(
        (error.index, error.error.side.to_string()),
        (1, "prediction".to_owned())
    );
}
