//! States from arbitrary bytes: files of them, and the body of each metric's.
//!
//! An input is a byte, counted from `a`, that chooses a form, and its data:
//!
//! - `a`: the bytes of a state file.
//! - `b`: a header in JSON, a line of `@`, and a body. They become a file whose lengths, checksums and
//!   compression are correct, so that changes of the other fields and of the body are looked at.
//! - `c`: a line with the name of a metric, options, one `name=value` per line, a line of `@`, and a body of the
//!   metric.
//!
//! A state that can be read is like any other: it merges with itself, has a report, and is written
//! with the same bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_registry::{Options, State};
use metric_run::{read_states, write_states};
use metric_suite_fuzz::choose_entry;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

fuzz_target!(|data: &[u8]| {
    match data {
        [] => {}
        [b'a', file @ ..] => read_file(file),
        [b'b', parts @ ..] => {
            let (header, body) = split(parts);
            if let Some(file) = file(header, body) {
                read_file(&file);
            }
        }
        [_, parts @ ..] => {
            let (options, body) = split(parts);
            read_body(options, body);
        }
    }
});

/// The text before a line of `@`, and the bytes after it.
fn split(parts: &[u8]) -> (&[u8], &[u8]) {
    const LINE: &[u8] = b"\n@\n";
    let found = parts.windows(LINE.len()).position(|part| part == LINE);
    found.map_or((parts, &[]), |at| (&parts[..at], &parts[at + LINE.len()..]))
}

fn read_file(file: &[u8]) {
    let outcomes = match read_states("file", file) {
        Ok(outcomes) => outcomes,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for outcome in &outcomes {
        check(outcome.state());
        assert!(!outcome.to_json().is_empty());
    }
    let written = write_states(&outcomes).expect("states that were read");
    let again = read_states("file", &written).expect("a written file");
    assert_eq!(
        write_states(&again).expect("states that were read"),
        written
    );
}

/// A file whose first state has this body and otherwise what the header says of it.
fn file(header: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let mut header: Json = serde_json::from_slice(header).ok()?;
    let state = header.get_mut("states")?.get_mut(0)?.as_object_mut()?;
    let digest: String = Sha256::digest(body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    state.insert("bytes".to_owned(), json!(body.len()));
    state.insert("sha256".to_owned(), json!(digest));
    let header = header.to_string();
    let mut file = b"\x93METRIC\n".to_vec();
    file.extend(u32::try_from(header.len()).ok()?.to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(zstd::bulk::compress(body, 1).ok()?);
    let checksum = Sha256::digest(&file);
    file.extend(checksum);
    Some(file)
}

fn read_body(options: &[u8], body: &[u8]) {
    let options = String::from_utf8_lossy(options);
    let (name, options) = options.split_once('\n').unwrap_or((&options, ""));
    let mut chosen = Options::default();
    for (name, value) in options.lines().filter_map(|line| line.split_once('=')) {
        chosen = chosen.set(name, value);
    }
    let Ok(scorer) = choose_entry(name).scorer(&chosen) else {
        return;
    };
    match scorer.read_state(body) {
        Ok(state) => {
            assert_eq!(state.body().as_deref(), Ok(body));
            check(&state);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn check(state: &State) {
    let report = state.report();
    let _ = state.details();
    let mut twice = state.clone();
    twice.merge(state).expect("the same definition");
    let mut times = state.clone();
    times.merge_times(state, 1).expect("the same definition");
    assert_eq!(twice.body(), times.body());
    let _ = twice.report();
    let scores = report.scores.iter();
    for (name, score) in scores {
        assert!(score.is_none_or(|score| !score.is_nan()), "{name}");
    }
}
