//! The examples on which a system is worse than another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use metric_record::{Record, Value};
use metric_registry::{Direction, Sample};

use crate::{Candidate, Observer, ObserverError, Run, RunError};

/// An example on which a system is worse than the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// The id of its record.
    pub id: String,
    /// The part of the record, if the record has several examples.
    pub part: Option<String>,
    /// The score of the baseline, and that of the system.
    pub scores: [f64; 2],
    /// The reference as it is written, if records were read.
    pub reference: Option<String>,
    /// The predictions of the baseline and the system, as they are written.
    pub predictions: [Option<String>; 2],
}

/// Collects one score of each example.
struct Scores<'s> {
    score: &'s str,
    found: Mutex<BTreeMap<(String, Option<String>), f64>>,
}

impl Observer for Scores<'_> {
    fn sample(&self, _metric: &str, sample: &Sample) -> Result<(), ObserverError> {
        let score = sample.scores.iter().find(|(name, _)| name == self.score);
        if let Some((_, Some(value))) = score {
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.insert((sample.id.clone(), sample.part.clone()), *value);
        }
        Ok(())
    }
}

/// Reference and prediction of a record, as they are written.
type Texts = [Option<String>; 2];

/// Collects the texts of some records.
struct Inputs<'i> {
    ids: &'i BTreeSet<String>,
    found: Mutex<BTreeMap<String, Texts>>,
}

fn written(mut value: Value<'_>) -> Option<String> {
    match value.as_line() {
        Some(line) => Some(line.to_owned()),
        None => value
            .to_json_or("")
            .ok()
            .filter(|text| !text.is_empty())
            .map(|text| text.into_owned()),
    }
}

impl Observer for Inputs<'_> {
    fn wants_inputs(&self) -> bool {
        true
    }

    fn input(&self, record: &Record<'_>) -> Result<(), ObserverError> {
        let id = record.id.to_string();
        if self.ids.contains(&id) {
            let texts = [record.reference, record.prediction].map(written);
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.insert(id, texts);
        }
        Ok(())
    }
}

impl Run {
    /// Returns the examples with the largest losses of a system compared with a baseline, largest first. The
    /// systems are the baseline and the one that is compared with it. All of them are read again.
    ///
    /// # Errors
    ///
    /// Returns an error as [`score`](Self::score) does.
    pub fn regressions(
        &mut self,
        systems: [&Candidate; 2],
        score: &str,
        most: usize,
    ) -> Result<Vec<Regression>, RunError> {
        let spec = self
            .metrics
            .first()
            .and_then(|chosen| chosen.entry.score(score));
        let first = self.metrics.first().map(|chosen| chosen.scorer.start());
        let own = first.map_or(score.to_owned(), |state| {
            state.example_score(score).to_owned()
        });
        let is_lower_better = spec.and_then(|spec| spec.direction) == Some(Direction::Lower);
        let (statistics, samples) = (self.statistics.take(), self.samples);
        self.samples = true;
        let found = self.largest_losses(systems, &own, is_lower_better, most);
        self.statistics = statistics;
        self.samples = samples;
        found
    }

    fn largest_losses(
        &mut self,
        systems: [&Candidate; 2],
        score: &str,
        is_lower_better: bool,
        most: usize,
    ) -> Result<Vec<Regression>, RunError> {
        let mut scores = |system: &Candidate| {
            let scores = Scores {
                score,
                found: Mutex::default(),
            };
            self.score_candidate(system, &scores)?;
            Ok::<_, RunError>(
                scores
                    .found
                    .into_inner()
                    .unwrap_or_else(PoisonError::into_inner),
            )
        };
        let (baseline, system) = (scores(systems[0])?, scores(systems[1])?);
        let loss = |[baseline, system]: [f64; 2]| {
            if is_lower_better {
                system - baseline
            } else {
                baseline - system
            }
        };
        let pairs = baseline.into_iter().filter_map(|(key, value)| {
            let scores = [value, *system.get(&key)?];
            (loss(scores) > metric_registry::stats::TOLERANCE).then_some((key, scores))
        });
        let mut losses: Vec<_> = pairs.collect();
        // Equal losses are in the order of ids.
        losses.sort_by(|a, b| loss(b.1).total_cmp(&loss(a.1)));
        losses.truncate(most);
        let ids: BTreeSet<String> = losses.iter().map(|((id, _), _)| id.clone()).collect();
        let mut texts = |system: &Candidate| {
            let inputs = Inputs {
                ids: &ids,
                found: Mutex::default(),
            };
            self.score_candidate(system, &inputs)?;
            Ok::<_, RunError>(
                inputs
                    .found
                    .into_inner()
                    .unwrap_or_else(PoisonError::into_inner),
            )
        };
        let (first, second) = (texts(systems[0])?, texts(systems[1])?);
        let regression = |((id, part), scores): ((String, Option<String>), [f64; 2])| {
            // Several examples of a record have the same texts.
            let [reference, baseline] = first.get(&id).cloned().unwrap_or_default();
            let [_, system] = second.get(&id).cloned().unwrap_or_default();
            Regression {
                id,
                part,
                scores,
                reference,
                predictions: [baseline, system],
            }
        };
        Ok(losses.into_iter().map(regression).collect())
    }
}
