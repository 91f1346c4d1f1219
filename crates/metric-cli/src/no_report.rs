//! A program without the feature `report`: no option asks for a report, so there is none.

use clap::{Arg, ArgMatches};
use metric_run::{Data, RankExamples};

use crate::error::Failure;
use crate::scored::{Chart, Scored};

pub(crate) fn args() -> Vec<Arg> {
    Vec::new()
}

pub(crate) fn image_args() -> Vec<Arg> {
    Vec::new()
}

/// The options of a report: none.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {}

pub(crate) fn wanted(_matches: &ArgMatches) -> Result<Option<Wanted>, Failure> {
    Ok(None)
}

pub(crate) fn charts() -> Option<Wanted> {
    None
}

impl Wanted {
    pub(crate) fn ranking(&self) -> RankExamples {
        match *self {}
    }

    pub(crate) fn open(self, _data: Option<&mut Data>) -> Result<Open, Failure> {
        match self {}
    }
}

/// A report that waits for the scores: none does.
pub(crate) enum Open {}

impl Open {
    pub(crate) fn finish(
        self,
        _scored: &[Scored],
        _checks: &[(String, bool)],
        _slices: &[String],
        _wants_charts: bool,
    ) -> Result<(Vec<Chart>, Option<String>), Failure> {
        match self {}
    }
}
