//! Reading of MapDR's labels and of records with them.
//!
//! [`Clip`](crate::Clip) and [`Centerlines`] are read by serde from MapDR's files. [`read_clips`] reads both
//! sides of a record, and [`ReadLanes`] scores them: predictions of language models are not always rules, so
//! those that cannot be read count as empty and are counted. Frames of OpenLane-V2 are read by
//! [`openlane::read_frame`](crate::openlane::read_frame).
//!
//! ```
//! use metric_core::Metric;
//! use metric_graph::LaneCorrespondence;
//! use metric_graph::read::{DanglingLanes, ReadLanes, read_clips};
//! use metric_record::{Record, Value};
//!
//! let label = r#"{"0": {"attr_info": {"LaneType": "BusLane"}, "centerline": [7, 8]}}"#;
//! let partial = r#"{"0": {"attr_info": {"LaneType": "BusLane"}, "centerline": [7]}}"#;
//!
//! let metric = ReadLanes(LaneCorrespondence::default());
//! let mut state = Default::default();
//! for (id, prediction) in [("a", partial), ("b", r#""I see a bus lane.""#)] {
//!     let mut record = Record::new(id, Value::json(prediction), Value::json(label));
//!     let clips = read_clips(&mut record, &metric.0, DanglingLanes::Count)?;
//!     metric.update(&mut state, &clips.prediction, &clips.reference);
//! }
//! // The clips have one rule and two lanes each. One rule and one lane are predicted, and both are correct.
//! let score = metric.compute(&state).micro;
//! assert_eq!(score.rule.recall, Some(1.0 / 2.0));
//! assert_eq!(score.correspondence.recall, Some(1.0 / 4.0));
//! assert_eq!(score.correspondence.precision, Some(1.0 / 1.0));
//! assert_eq!(state.unparsable, 1);
//! # Ok::<(), metric_record::FieldError>(())
//! ```

mod clip;
mod lanes;
mod record;

pub use clip::Centerlines;
pub use lanes::{ReadLanes, ReadLanesState, Unparsable};
pub use record::{Clips, DanglingLanes, is_rule, read_clips};
