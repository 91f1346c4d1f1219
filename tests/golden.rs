//! Every golden row of the reference implementations, domain by domain.
//!
//! `tests/golden` holds the rows that may be published, so a fresh clone runs them; if the folder
//! `../shared/golden` is next to the project, the same checks run over all of it.

#[path = "domains/class.rs"]
mod class;
#[path = "domains/coco.rs"]
mod coco;
#[path = "domains/code.rs"]
mod code;
#[path = "domains/coverage.rs"]
mod coverage;
#[path = "domains/edit.rs"]
mod edit;
#[path = "domains/errors.rs"]
mod errors;
#[path = "domains/graph.rs"]
mod graph;
#[path = "domains/grid.rs"]
mod grid;
#[path = "domains/inputs.rs"]
mod inputs;
#[path = "domains/metrics.rs"]
mod metrics;
#[path = "domains/multilabel.rs"]
mod multilabel;
#[path = "domains/numbers.rs"]
mod numbers;
#[path = "domains/openlane.rs"]
mod openlane;
#[path = "domains/panoptic.rs"]
mod panoptic;
#[path = "domains/retrieval.rs"]
mod retrieval;
#[path = "domains/rows.rs"]
mod rows;
#[path = "domains/samples.rs"]
mod samples;
#[path = "domains/scores.rs"]
mod scores;
#[path = "domains/segmentation.rs"]
mod segmentation;
#[path = "domains/shapes.rs"]
mod shapes;
#[path = "domains/speakers.rs"]
mod speakers;
#[path = "domains/stats.rs"]
mod stats;
#[path = "domains/text.rs"]
mod text;
#[path = "domains/transcripts.rs"]
mod transcripts;
#[path = "domains/translation.rs"]
mod translation;
#[path = "domains/vision.rs"]
mod vision;
#[path = "domains/voc.rs"]
mod voc;
#[path = "domains/whisper.rs"]
mod whisper;
