//! States that keep their examples.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps nothing")]

use std::sync::Arc;

use metric_record::{Id, JoinPolicy, Record, Value};
use metric_registry::{Options, Plan, Scorer, State, find};
use metric_stats::{Trials, Weights};

/// Where a pattern starts in bytes, if it is there once.
fn position(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    let mut indices = bytes
        .windows(pattern.len())
        .enumerate()
        .filter(|(_, window)| *window == pattern)
        .map(|(index, _)| index);
    indices.next().filter(|_| indices.next().is_none())
}

#[test]
fn examples_in_another_form_are_refused() {
    let entry = find("string-accuracy").unwrap();
    let scorer = entry.scorer(&Options::default()).unwrap();
    let mut state = scorer.start();
    state.follow(Arc::new(Plan {
        keeps_examples: true,
        ..Plan::default()
    }));
    let mut records = [Record {
        id: Id::Integer(1),
        prediction: Value::string("a"),
        reference: Value::string("a"),
        fields: None,
        join: JoinPolicy::default(),
    }];
    state.update(&scorer, &mut records).unwrap();
    let body = state.body().unwrap();
    assert_eq!(scorer.read_state(&body).unwrap().body().unwrap(), body);

    // The counts of the example as a string of 17 bytes in CBOR: {"correct": 1, "total": 1}.
    let counts = b"\xa2\x67correct\x01\x65total\x01";
    let kept = [&[0x51], &counts[..]].concat();
    let index = position(&body, &kept).unwrap();
    // The same with a byte after it, and with the number 1 in two bytes.
    let longer = [&[0x52], &counts[..], &[0]].concat();
    let wider = b"\x52\xa2\x67correct\x18\x01\x65total\x01".to_vec();
    for other in [longer, wider] {
        let rest = &body[index + kept.len()..];
        let changed = [&body[..index], &other, rest].concat();
        let error = scorer.read_state(&changed).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("canonical form"), "{error}");
    }
}

/// The state of records of an id, a prediction and a reference, which are kept.
fn kept(scorer: &Scorer, records: &[[&'static str; 3]]) -> State {
    let mut state = scorer.start();
    state.follow(Arc::new(Plan {
        keeps_examples: true,
        ..Plan::default()
    }));
    let record = |&[id, prediction, reference]: &[&'static str; 3]| {
        Record::new(id, Value::line(prediction), Value::line(reference))
    };
    let mut records: Vec<Record<'_>> = records.iter().map(record).collect();
    state.update(scorer, &mut records).unwrap();
    state
}

/// How often each id is drawn in each of the first replicates under the seed 0.
fn weights(ids: &[&str], replicates: u64) -> Vec<Vec<u64>> {
    let of_id = |replicate| {
        let weight = move |id: &&str| Weights::new(0, id).weight(replicate);
        ids.iter().map(weight).collect()
    };
    (1..=replicates).map(of_id).collect()
}

const MANY: u64 = 1_000;

/// Under the convention of jiwer, the error rate of no words is 0.
#[test]
fn resamples_without_examples_are_undefined() {
    let ids = ["1", "2", "3"];
    for (metric, profile) in [("wer", "jiwer"), ("cer", "jiwer"), ("wer", "torchmetrics")] {
        let options = Options::default().set("profile", profile);
        let scorer = find(metric).unwrap().scorer(&options).unwrap();
        let state = kept(&scorer, &ids.map(|id| [id, "a b", "a c"]));
        let resampler = state.resampler().unwrap().unwrap();
        let width = resampler.scopes()[0].columns.len();
        let values = resampler.draws(0).replicates(0, 1..MANY + 1);
        let mut empty = 0;
        for (values, weights) in values.chunks(width).zip(weights(&ids, MANY)) {
            let is_empty = weights.iter().sum::<u64>() == 0;
            empty += usize::from(is_empty);
            let all = values.iter().all(|value| value.is_nan() == is_empty);
            assert!(all, "{metric} {profile}: {weights:?}: {values:?}");
        }
        // exp(-3) of the replicates.
        assert!((20..90).contains(&empty), "{empty}");
        let nothing = scorer.start().report().scores;
        assert!(
            nothing.iter().all(|(_, value)| value.is_none()),
            "{nothing:?}"
        );
    }
}

/// Two systems without a common example: an exchange of one example leaves a side without any.
#[test]
fn trials_without_examples_are_undefined() {
    let scorer = find("wer").unwrap().scorer(&Options::default()).unwrap();
    let [baseline, system] = [["1", "a b", "a c"], ["2", "a", "a"]];
    let [baseline, system] = [baseline, system].map(|record| kept(&scorer, &[record]));
    let paired = baseline.paired(&system).unwrap().unwrap();
    let width = paired.scopes()[0].columns.len();
    let found = paired.exchanges(0).trials(0, Trials::All(2), 0..1);
    let first: Vec<f64> = found.chunks(width).map(|trial| trial[0]).collect();
    assert_eq!(first.len(), 4);
    assert_eq!([first[0], first[3]], [-0.5, 0.5]);
    assert!(first[1].is_nan() && first[2].is_nan(), "{first:?}");
}

/// With `--zero-division 0`, the scores of a class that occurs nowhere are 0.
#[test]
#[cfg(feature = "class")]
fn groups_without_examples_are_undefined_in_a_resample() {
    let options = Options::default()
        .set("zero-division", "0")
        .set("groups", "class");
    let scorer = find("classification").unwrap().scorer(&options).unwrap();
    let records = [
        ["1", "cat", "cat"],
        ["2", "dog", "dog"],
        ["3", "dog", "cat"],
    ];
    let state = kept(&scorer, &records);
    let resampler = state.resampler().unwrap().unwrap();
    let columns = &resampler.scopes()[0].columns;
    let values = resampler.draws(0).replicates(0, 1..MANY + 1);
    let ids = records.map(|[id, ..]| id);
    for (values, weights) in values.chunks(columns.len()).zip(weights(&ids, MANY)) {
        for (column, value) in columns.iter().zip(values) {
            let Some((_, class)) = &column.group else {
                continue;
            };
            let of_class = records.iter().zip(&weights);
            let drawn = of_class.filter(|(record, _)| record.contains(&class.as_str()));
            let drawn: u64 = drawn.map(|(_, weight)| weight).sum();
            assert_eq!(
                value.is_nan(),
                drawn == 0,
                "{column:?}: {weights:?}: {value}"
            );
        }
    }
}
