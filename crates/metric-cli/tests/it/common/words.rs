//! A command line as a run of the library, where no process needs to start.

#![allow(
    clippy::panic,
    reason = "a case that fails is named, also by what several tests share"
)]

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Mutex;

use metric_run::record::{JoinPolicy, Missing, Shard};
use metric_run::registry::{OptionKind, Options, Sample, find};
use metric_run::{
    CsvOptions, Data, EmptyField, Observer, ObserverError, Outcome, Run, RunError, Source,
    Statistics, outcomes_json, sample_json,
};

use crate::common::Folder;

/// A command line after `metric score`, taken apart.
pub(crate) struct Words<'f> {
    pub(crate) folder: &'f Folder,
    pub(crate) text: &'f str,
    pub(crate) statistics: Option<Statistics>,
}

impl Words<'_> {
    pub(crate) fn metric(&self) -> &str {
        self.text.split(' ').next().unwrap_or_default()
    }

    /// The outcome of a run in this process.
    pub(crate) fn run(&self, shard: Option<Shard>, threads: usize) -> Vec<Outcome> {
        self.run_observed(shard, threads, None)
            .unwrap_or_else(|error| panic!("{}: {error}", self.text))
    }

    /// The same, with the scores of each example if somebody collects them.
    pub(crate) fn run_observed(
        &self,
        shard: Option<Shard>,
        threads: usize,
        samples: Option<&Samples>,
    ) -> Result<Vec<Outcome>, RunError> {
        let entry = find(self.metric()).expect("a metric");
        let mut words = self.text.split_whitespace().skip(1);
        let mut options = Options::default();
        let mut join = JoinPolicy::default();
        let (mut references, mut predictions, mut pairs) = (None, None, None);
        let mut csv = CsvOptions::default();
        while let Some(word) = words.next() {
            if word == "--details" {
                options = options.with_details();
                continue;
            }
            let spec = word
                .strip_prefix("--")
                .and_then(|name| entry.options.iter().find(|spec| spec.name == name));
            if let Some(spec) = spec.filter(|spec| spec.is_flag()) {
                options = options.set(spec.name, "true");
                continue;
            }
            let value = words.next().expect("a value");
            let source = || Some(Source::paths(&[self.folder.path(value)]).expect("a source"));
            match (word, spec) {
                (_, Some(spec)) if matches!(spec.kind, OptionKind::Path) => {
                    options =
                        options.set(spec.name, &*self.folder.path(value).display().to_string());
                }
                (_, Some(spec)) => options = options.set(spec.name, value),
                ("-r", _) => references = source(),
                ("-p", _) => predictions = source(),
                ("--pairs", _) => pairs = source(),
                ("--empty-field", _) => {
                    assert_eq!(value, "null", "of {}", self.text);
                    csv.empty = EmptyField::Null;
                }
                ("--extra", _) => join.ignore_extra = value == "ignore",
                ("--missing", _) => {
                    join.missing = if value == "skip" {
                        Missing::Skip
                    } else {
                        Missing::Empty
                    }
                }
                _ => panic!("{word} of {}", self.text),
            }
        }
        let data = match pairs {
            Some(pairs) => Data::Pairs(pairs.with_csv(csv)),
            None => Data::Sources {
                references: references.expect("references").with_csv(csv),
                predictions: predictions.expect("predictions").with_csv(csv),
            },
        };
        let mut run = Run::new(entry, &options).expect("options");
        run.join = join;
        run.shard = shard;
        run.threads = NonZeroUsize::new(threads);
        run.samples = samples.is_some();
        run.statistics.clone_from(&self.statistics);
        run.score_observed(data, samples.unwrap_or(&Samples::default()))
    }
}

/// The scores of each example, as lines.
#[derive(Default)]
pub(crate) struct Samples(pub(crate) Mutex<(Vec<String>, BTreeSet<String>)>);

impl Observer for Samples {
    fn sample(&self, metric: &str, sample: &Sample) -> Result<(), ObserverError> {
        let mut samples = self.0.lock().expect("no panic");
        samples.0.push(sample_json(Some(metric), sample));
        let names = sample.scores.iter().map(|(name, _)| name.clone());
        samples.1.extend(names);
        Ok(())
    }
}

pub(crate) fn json_of(outcomes: &[Outcome]) -> String {
    let reports: Vec<_> = outcomes.iter().map(Outcome::report).collect();
    outcomes_json(outcomes.iter().zip(&reports))
}
