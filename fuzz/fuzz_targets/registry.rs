//! Any metric by its name, on arbitrary options and records.
//!
//! An input is a byte, counted from `a` on, that chooses the metric in the order of `ENTRIES`, and a
//! text in parts, between lines of `@`. The first part is options, `name=value` a line; the others
//! are, in turn, the reference and the prediction of a record: JSON, or text where it is none. A
//! metric that reads whole files reads the first two as files, too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_suite::registry::{
    Content, Document, Drawing, ENTRIES, Evidence, Input, JoinPolicy, Missing, Options, Record,
    Report, Scorer, Value,
};
use metric_suite_fuzz::{choose, parts};
use serde_json::value::RawValue;

/// Options of which a great number is meant to take long.
const COSTLY: &[&str] = &["bootstrap"];

fuzz_target!(|data: &[u8]| {
    let [metric, text @ ..] = data else {
        return;
    };
    let entry = choose(ENTRIES, *metric);
    let text = String::from_utf8_lossy(text);
    let parts = parts(&text);
    let (options, values) = (parts[0], &parts[1..]);
    let mut chosen = Options::default().with_details();
    for (name, value) in options.lines().filter_map(|line| line.split_once('=')) {
        if !(COSTLY.contains(&name) && value.len() > 2) {
            chosen = chosen.set(name, value);
        }
    }
    let scorer = match entry.scorer(&chosen) {
        Ok(scorer) => scorer,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    if !matches!(entry.input, Input::Whole) {
        records(&*scorer, values);
    }
    if !matches!(entry.input, Input::Records) {
        documents(&*scorer, values);
    }
});

/// The value as it would stand in a file.
fn value(text: &str) -> Value<'_> {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(json) => Value::Json(json.get()),
        Err(_) => Value::Text(text),
    }
}

/// The evidence of some records, if all can be read.
fn gather(scorer: &dyn Scorer, records: &[Record<'_>]) -> Option<Box<dyn Evidence>> {
    let mut evidence = scorer.start();
    match evidence.update(records, None) {
        Ok(()) => Some(evidence),
        Err(error) => {
            assert!(error.index < records.len());
            assert!(!error.error.problem.is_empty());
            None
        }
    }
}

fn records(scorer: &dyn Scorer, values: &[&str]) {
    let mut records = Vec::new();
    for pair in values.chunks_exact(2) {
        let mut record = Record::new("id", value(pair[1]), value(pair[0]));
        record.join.missing = Missing::Empty;
        record.join.ignore_extra = records.len() % 2 == 1;
        if pair[1].is_empty() {
            record.prediction = Value::Missing;
        }
        records.push(record);
    }
    let Some(whole) = gather(scorer, &records) else {
        return;
    };
    let (written, report) = (whole.write(), whole.report());
    numbers(&report);
    let same = |what: &str, evidence: Box<dyn Evidence>| {
        assert_eq!(evidence.write(), written, "{what}");
        assert_eq!(evidence.report(), report, "{what}");
        assert_eq!(evidence.details(), whole.details(), "{what}");
    };
    let (one, two) = records.split_at(records.len() / 2);
    let part = |records| gather(scorer, records).expect("records that were read");
    let merged = |mut one: Box<dyn Evidence>, two| {
        one.merge(two).expect("evidence of one metric");
        one
    };
    same("parts", merged(part(one), part(two)));
    same("parts the other way", merged(part(two), part(one)));
    let read = scorer.read(&written).expect("evidence that was written");
    same("written and read", merged(scorer.start(), read));

    let mut samples = Vec::new();
    let mut evidence = scorer.start();
    let update = evidence.update(&records, Some(&mut samples));
    update.expect("records that were read");
    same("with samples", evidence);
    for sample in &samples {
        assert!(sample.record < records.len());
    }
    for drawing in [Drawing::Svg, Drawing::Text, Drawing::ColouredText] {
        for record in records.iter().filter(|_| scorer.draws(drawing)) {
            scorer
                .picture(record, drawing)
                .expect("a record that was read");
        }
    }
}

fn documents(scorer: &dyn Scorer, values: &[&str]) {
    let [references, predictions, ..] = values else {
        return;
    };
    let document = |text: &&str| Document {
        name: "file".to_owned(),
        content: Content::Text((*text).to_owned()),
    };
    let policy = JoinPolicy {
        missing: Missing::Empty,
        ignore_extra: values.len() > 2,
    };
    let read = |samples| {
        scorer.read_documents(document(references), document(predictions), policy, samples)
    };
    let whole = match read(None) {
        Ok(whole) => whole,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let report = whole.report();
    numbers(&report);
    let mut samples = Vec::new();
    let with_samples = read(Some(&mut samples)).expect("documents that were read");
    assert_eq!(with_samples.write(), whole.write());
    assert_eq!(with_samples.report(), report);
    let again = scorer
        .read(&whole.write())
        .expect("evidence that was written");
    let mut empty = scorer.start();
    empty.merge(again).expect("evidence of one metric");
    assert_eq!(empty.write(), whole.write());
    assert_eq!(empty.report(), report);
    for drawing in [Drawing::Svg, Drawing::Text, Drawing::ColouredText] {
        if scorer.draws(drawing) {
            let draw = scorer.draw_documents(
                &document(references),
                &document(predictions),
                policy,
                drawing,
                &mut |_, draw| drop(draw()),
            );
            draw.expect("documents that were read");
        }
    }
}

/// No score is NaN, and the report can be written as JSON.
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
