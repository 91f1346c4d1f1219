//! States that keep their examples.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps nothing")]
#![cfg(feature = "text")]

use std::sync::Arc;

use metric_record::{Id, JoinPolicy, Record, Value};
use metric_registry::{Options, Plan, find};

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
    state.update(&*scorer, &mut records).unwrap();
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
