//! The program end to end: what it prints, its exit codes, and what it says of bad input.

#![expect(clippy::too_many_lines, reason = "tests are rows, and some have many")]

mod answers;
mod code;
mod detection;
mod federated;
mod grids;
mod join;
mod labels;
mod lanes;
mod outputs;
mod panoptic;
mod samples;
mod scores;
mod sessions;
mod texts;
mod ultralytics;

use crate::common::Folder;

const R: &str = "score string-accuracy --format json --references r.jsonl --predictions p.jsonl";

fn strings(references: &str, predictions: &str) -> Folder {
    Folder::new(&[("r.jsonl", references), ("p.jsonl", predictions)])
}

const THREE: &str = "{\"id\": \"a\", \"reference\": \"x\"}\n{\"id\": \"b\", \"reference\": \"y\"}\n{\"id\": 3, \"reference\": \"z\"}\n";

const THREE_PREDICTED: &str = "{\"id\": \"a\", \"prediction\": \"x\"}\n{\"id\": \"b\", \"prediction\": \"?\"}\n{\"id\": \"3\", \"prediction\": \"z\"}\n";

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).expect("a written file")
}
