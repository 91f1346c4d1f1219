//! Any metric by its name, on arbitrary options and records.
//!
//! An input is a line with the name of a metric, and a text in parts, between lines of `@`. The first
//! part is options, one `name=value` per line. The others are, in turn, the reference and the prediction of a record: JSON, or a line of text where
//! they are not. A metric that reads dataset files reads the first two as files, too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_record::{Document, JoinPolicy, Missing, Record, Shard, Value};
use metric_registry::{AddError, DataSet, Drawing, Input, Options, Report, Scorer, Show, State};
use metric_suite_fuzz::{choose_entry, parts};
use serde_json::value::RawValue;

const DRAWINGS: [Drawing; 3] = [Drawing::Svg, Drawing::Text, Drawing::ColoredText];

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (name, text) = text.split_once('\n').unwrap_or_default();
    let entry = choose_entry(name);
    let parts = parts(text);
    let (options, values) = (parts[0], &parts[1..]);
    let mut chosen = Options::default().with_details();
    for (name, value) in options.lines().filter_map(|line| line.split_once('=')) {
        chosen = chosen.set(name, value);
    }
    let scorer = match entry.scorer(&chosen) {
        Ok(scorer) => scorer,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    records(&scorer, values);
    if !matches!(entry.input, Input::Records) {
        data_sets(&scorer, values);
    }
});

/// The value as it would appear in a file.
fn value(text: &str) -> Value<'_> {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(json) => Value::json(json.get()),
        Err(_) => Value::line(text),
    }
}

/// The state of some records, if all can be read.
fn gather(scorer: &Scorer, records: &[Record<'_>]) -> Option<State> {
    let mut state = scorer.start();
    match state.update(scorer, &mut records.to_vec()) {
        Ok(()) => Some(state),
        Err(AddError::Record(error)) => {
            assert!(error.index < records.len());
            assert!(!error.error.problem.is_empty());
            assert_eq!(body(&state), body(&scorer.start()));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn body(state: &State) -> Vec<u8> {
    state.body().expect("a state with a written form")
}

fn records(scorer: &Scorer, values: &[&str]) {
    let mut records = Vec::new();
    for pair in values.chunks_exact(2) {
        let mut record = Record::new("id", value(pair[1]), value(pair[0]));
        record.join.missing = Missing::Empty;
        record.join.ignore_extra = records.len() % 2 == 1;
        if pair[1].is_empty() {
            record.prediction = Value::missing();
        }
        records.push(record);
    }
    let Some(whole) = gather(scorer, &records) else {
        return;
    };
    let (written, report) = (body(&whole), whole.report());
    numbers(&report);
    let same = |what: &str, state: State| {
        assert_eq!(body(&state), written, "{what}");
        assert_eq!(state.report(), report, "{what}");
        assert_eq!(state.details(), whole.details(), "{what}");
    };
    let (one, two) = records.split_at(records.len() / 2);
    let part = |records| gather(scorer, records).expect("records that were read");
    let merged = |mut one: State, two: State| {
        one.merge(&two).expect("states of one metric");
        one
    };
    same("parts", merged(part(one), part(two)));
    same("parts in reverse", merged(part(two), part(one)));
    let read = scorer.read_state(&written).expect("a written state");
    same("written and read", merged(scorer.start(), read));

    let mut state = scorer.start();
    let mut part = scorer.read(&state, &mut records.clone(), true);
    state.add(&mut part).expect("records that were read");
    for sample in part.samples(&state) {
        assert!(sample.record < records.len());
    }
    same("with samples", state);
    for drawing in DRAWINGS {
        for record in &mut records.clone() {
            scorer
                .picture(record, drawing)
                .expect("a record that was read");
        }
    }
}

fn data_sets(scorer: &Scorer, values: &[&str]) {
    let [references, predictions, ..] = values else {
        return;
    };
    let data_set = |shard| {
        let [references, predictions] =
            [references, predictions].map(|text| Document::text("file", *text));
        let mut data = DataSet::new(references, predictions);
        data.join = JoinPolicy {
            missing: Missing::Empty,
            ignore_extra: values.len() > 2,
            ..JoinPolicy::default()
        };
        data.shard = shard;
        data
    };
    let read = |shard, samples| {
        let mut part = scorer.read_data_set(data_set(shard), samples)?;
        let mut state = scorer.start();
        state.add(&mut part).expect("what was read");
        Ok::<State, metric_registry::DataSetError>(state)
    };
    let whole = match read(None, false) {
        Ok(whole) => whole,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let (written, report) = (body(&whole), whole.report());
    numbers(&report);
    let same = |what: &str, state: State| {
        assert_eq!(body(&state), written, "{what}");
        assert_eq!(state.report(), report, "{what}");
    };
    same(
        "with samples",
        read(None, true).expect("files that were read"),
    );
    let again = scorer.read_state(&written).expect("a written state");
    let mut empty = scorer.start();
    empty.merge(&again).expect("states of one metric");
    same("written and read", empty);
    let mut shards = scorer.start();
    for index in [1, 0] {
        let shard = Shard::new(index, 2).ok();
        let shard = read(shard, false).expect("files that were read");
        shards.merge(&shard).expect("shards of one data set");
    }
    same("shards", shards);
    for drawing in DRAWINGS {
        scorer
            .draw_data_set(data_set(None), drawing, &mut |_, draw| drop(draw()))
            .expect("files that were read");
    }
}

/// No score is NaN.
fn numbers(report: &Report) {
    let groups = report.groups.iter().flat_map(|(_, groups)| groups);
    let scores = groups.flat_map(|group| &group.scores).chain(&report.scores);
    for (name, score) in scores {
        assert!(
            score.is_none_or(|score| !score.is_nan()),
            "{name}: {report:?}"
        );
    }
}
