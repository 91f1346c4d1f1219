#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod archive;
mod compare;
mod config;
mod error;
mod limits;
mod outcome;
mod platform;
mod refused;
mod run;
mod submission;
mod task;
mod total;
mod worker;

pub use compare::{CompareWith, SuiteComparison, TotalDifference};
pub use config::{EXAMPLE, Suite, Task};
pub use error::SuiteError;
pub use limits::{GivenLimits, InvalidLimit, Limits};
pub use outcome::{Counted, Shown, Status, SuiteOutcome, TaskOutcome};
pub use platform::{Platform, UnknownPlatform};
pub use refused::SubmissionError;
pub use run::{Progress, RunSuite};
pub use submission::Submission;
pub use task::serve_task;
pub use total::Rule;
pub use worker::{Ended, Finished, Worker, serve};
