//! Two submissions to a suite: each task by the statistics of [`Run::compare`](metric_run::Run::compare), and the totals.
//!
//! A total is linear in its scores, and tasks share no examples. So a replicate of the difference of two totals is the
//! weighted sum of one replicate of the difference in each score, and likewise a trial of the randomization test. Each
//! task draws from a seed of its own, as ids of different tasks may be the same by chance.

use std::path::{Path, PathBuf};

use metric_registry::stats::{Estimate, IntervalKind, Trials, estimate, fnv1a64, is_extreme};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::config::{ScoreOf, Task, Total};
use crate::submission::Submission;
use crate::total::Rule;
use metric_run::{Compare, Comparison, RunError, Statistics};

/// Another submission, which the one at hand is compared with.
#[derive(Clone, Copy)]
pub struct CompareWith<'r> {
    /// The submission: the baseline.
    pub submission: &'r Submission,
    /// The names of the baseline and of the submission at hand.
    pub names: [&'r str; 2],
    /// How scores are resampled. Clusters are examples.
    pub statistics: &'r Statistics,
    /// The number of random trials of a test.
    pub permutations: u64,
}

impl CompareWith<'_> {
    /// Returns the names of a baseline and of the submission that is compared with it: those of their files without
    /// extensions, or `baseline` and `submission` if these are the same.
    #[must_use]
    pub fn names(baseline: &Path, submission: &Path) -> [String; 2] {
        let name = |path: &Path| {
            let stem = path.file_stem().unwrap_or(path.as_os_str());
            stem.to_string_lossy().into_owned()
        };
        let names = [name(baseline), name(submission)];
        if names[0] == names[1] {
            return ["baseline", "submission"].map(str::to_owned);
        }
        names
    }
}

/// The part of a task's description that asks for a comparison.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct CompareJob {
    pub(crate) other: PathBuf,
    pub(crate) names: [String; 2],
    confidence: f64,
    resamples: u64,
    seed: u64,
    interval: String,
    permutations: u64,
    /// The seed of what the difference of totals is made from.
    total_seed: u64,
    /// The scores that count in the total.
    scores: Vec<String>,
}

/// The answer of that process.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Compared {
    /// As `metric compare` prints it.
    pub(crate) comparison: Box<RawValue>,
    pub(crate) scores: Vec<ScoreDifference>,
}

/// The difference of two systems in a score, in replicates, and in trials.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct ScoreDifference {
    score: String,
    delta: Option<f64>,
    clusters: u64,
    replicates: Vec<Option<f64>>,
    trials: Vec<Option<f64>>,
}

impl CompareJob {
    pub(crate) fn new(
        with: &CompareWith<'_>,
        task: &Task,
        other: &Path,
        total: Option<&Total>,
    ) -> Self {
        let of_task = |score: &&ScoreOf| score.task == task.name;
        let scores = total.iter().flat_map(|total| &total.of).filter(of_task);
        let statistics = with.statistics;
        Self {
            other: other.to_owned(),
            names: with.names.map(str::to_owned),
            confidence: statistics.confidence,
            resamples: statistics.resamples,
            seed: statistics.seed,
            interval: statistics.interval.name().to_owned(),
            permutations: with.permutations,
            total_seed: statistics.seed ^ fnv1a64(task.name.as_bytes()),
            scores: scores.map(|score| score.score.clone()).collect(),
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let default = Statistics::default();
        Statistics {
            confidence: self.confidence,
            resamples: self.resamples,
            seed: self.seed,
            cluster_field: None,
            interval: self
                .interval
                .parse::<IntervalKind>()
                .unwrap_or(default.interval),
        }
    }

    pub(crate) fn compare(&self) -> Compare {
        Compare {
            permutations: self.permutations,
            ..Compare::default()
        }
    }

    /// The differences in the scores of the total.
    pub(crate) fn differences(
        &self,
        comparison: &Comparison,
    ) -> Result<Vec<ScoreDifference>, RunError> {
        let [baseline, system] = comparison.systems.as_slice() else {
            return Err(RunError::Internal("no two systems".to_owned()));
        };
        let replicates = [baseline, system].map(|system| {
            let mut outcome = system.outcome.clone();
            let statistics = Statistics {
                seed: self.total_seed,
                ..self.statistics()
            };
            outcome.set_statistics(Some(statistics), Vec::new());
            outcome.replicates()
        });
        let [of_baseline, of_system] = replicates;
        let (of_baseline, of_system) = (
            of_baseline?.unwrap_or_default(),
            of_system?.unwrap_or_default(),
        );
        let paired = baseline.outcome.state().paired(system.outcome.state());
        let paired = paired.map_err(|error| RunError::Internal(error.to_string()))?;
        let paired = paired.ok_or_else(|| RunError::Internal("no kept examples".to_owned()))?;
        let columns = paired
            .scopes()
            .first()
            .map_or(&[][..], |scope| scope.columns.as_slice());
        let trials = Trials::Random(self.permutations);
        let blocks = self.permutations.div_ceil(64);
        let trials = paired
            .exchanges(0)
            .trials(self.total_seed, trials, 0..blocks);
        let difference = |score: &String| {
            let value = |scores: &[(String, Option<f64>)]| {
                let found = scores.iter().find(|(name, _)| name == score);
                found.and_then(|(_, value)| *value)
            };
            let pairs = of_baseline.iter().zip(&of_system);
            let replicates =
                pairs.map(|(baseline, system)| Some(value(system)? - value(baseline)?));
            let index = columns
                .iter()
                .position(|column| column.group.is_none() && column.score == *score);
            let of_trial = |row: &[f64]| {
                let value = index.and_then(|index| row.get(index)).copied();
                value.filter(|value| !value.is_nan())
            };
            let rows = trials.chunks_exact(columns.len().max(1));
            let rows = rows.take(usize::try_from(self.permutations).unwrap_or(usize::MAX));
            let differences = comparison.differences.iter();
            let mut of_score = differences.filter(|difference| difference.score == *score);
            ScoreDifference {
                score: score.clone(),
                delta: of_score.next().and_then(|difference| difference.delta),
                clusters: comparison.clusters(),
                replicates: replicates.collect(),
                trials: rows.map(of_trial).collect(),
            }
        };
        Ok(self.scores.iter().map(difference).collect())
    }
}

/// Two submissions compared.
#[derive(Clone, Debug)]
pub struct SuiteComparison {
    pub(crate) names: [String; 2],
    pub(crate) statistics: Statistics,
    pub(crate) permutations: u64,
    /// By task: what `metric compare` prints, or why there is no comparison.
    pub(crate) tasks: Vec<(String, Result<Box<RawValue>, String>)>,
    /// The difference of the totals; `None` if a score of them is not compared.
    pub total: Option<TotalDifference>,
}

/// The difference of two totals.
#[derive(Clone, Debug, PartialEq)]
pub struct TotalDifference {
    /// The total of the submission minus that of the baseline.
    pub delta: f64,
    /// Its interval.
    pub estimate: Estimate,
    /// The p-value of the paired randomization test.
    pub p: f64,
}

impl SuiteComparison {
    /// Returns the names of the baseline and of the submission.
    #[must_use]
    pub fn names(&self) -> [&str; 2] {
        let [baseline, system] = &self.names;
        [baseline, system]
    }

    /// Returns the share of intervals that hold the true difference.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.statistics.confidence
    }

    /// Returns each task with what `metric compare` prints, or with the reason why it is not compared.
    pub fn tasks(&self) -> impl Iterator<Item = (&str, Result<&str, &str>)> {
        self.tasks.iter().map(|(name, comparison)| {
            let comparison = comparison.as_ref().map(|json| json.get());
            (name.as_str(), comparison.map_err(String::as_str))
        })
    }
}

/// The difference of totals from those of the scores, which are in the order of the total.
pub(crate) fn total_difference(
    rule: &Rule,
    scores: &[&ScoreDifference],
    statistics: &Statistics,
    permutations: u64,
) -> Option<TotalDifference> {
    let combined = |values: Vec<Option<f64>>| -> Option<f64> {
        let values: Option<Vec<f64>> = values.into_iter().collect();
        rule.total(&values?)
    };
    let at = |index: usize, list: fn(&ScoreDifference) -> &[Option<f64>]| {
        let values = scores
            .iter()
            .map(|score| list(score).get(index).copied().flatten());
        combined(values.collect())
    };
    let delta = combined(scores.iter().map(|score| score.delta).collect())?;
    let count = usize::try_from(statistics.resamples).unwrap_or(usize::MAX);
    let replicates = (0..count).map(|index| at(index, |score| &score.replicates));
    let replicates: Vec<Option<f64>> = replicates.collect();
    // The task with the fewest clusters says least about itself.
    let clusters = scores.iter().map(|score| score.clusters).min()?;
    let method = statistics.interval.of_replicates();
    let trials = usize::try_from(permutations).unwrap_or(usize::MAX);
    let trials = (0..trials).map(|index| at(index, |score| &score.trials));
    let extreme = trials.filter(|trial| is_extreme(*trial, delta)).count();
    Some(TotalDifference {
        delta,
        estimate: estimate(
            Some(delta),
            &replicates,
            clusters,
            statistics.confidence,
            method,
        ),
        p: Trials::Random(permutations).p(extreme as u64),
    })
}

/// The differences of the scores of a total, in its order; `None` if one is not there.
pub(crate) fn of_total<'s>(
    total: &Total,
    found: &'s [(String, Vec<ScoreDifference>)],
) -> Option<Vec<&'s ScoreDifference>> {
    let of = |wanted: &ScoreOf| {
        let (_, scores) = found.iter().find(|(task, _)| *task == wanted.task)?;
        scores.iter().find(|score| score.score == wanted.score)
    };
    total.of.iter().map(of).collect()
}

impl Serialize for SuiteComparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct JsonTotal {
            delta: f64,
            low: Option<f64>,
            high: Option<f64>,
            standard_error: Option<f64>,
            p: f64,
            test: &'static str,
        }
        let total = self.total.as_ref().map(|total| JsonTotal {
            delta: total.delta,
            low: total.estimate.ends.map(|ends| ends[0]),
            high: total.estimate.ends.map(|ends| ends[1]),
            standard_error: total.estimate.standard_error,
            p: total.p,
            test: Trials::Random(self.permutations).test().name(),
        });
        let [baseline, system] = self.names();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("baseline", baseline)?;
        map.serialize_entry("system", system)?;
        map.serialize_entry("confidence", &self.statistics.confidence)?;
        map.serialize_entry("resamples", &self.statistics.resamples)?;
        map.serialize_entry("permutations", &self.permutations)?;
        map.serialize_entry("seed", &self.statistics.json_seed())?;
        map.serialize_entry("total", &total)?;
        map.serialize_entry("tasks", &Tasks(&self.tasks))?;
        map.end()
    }
}

/// The comparisons of tasks by name.
struct Tasks<'c>(&'c [(String, Result<Box<RawValue>, String>)]);

impl Serialize for Tasks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        enum JsonTask<'c> {
            Comparison(&'c RawValue),
            Reason(&'c str),
        }
        serializer.collect_map(self.0.iter().map(|(name, task)| {
            let task = match task {
                Ok(comparison) => JsonTask::Comparison(comparison),
                Err(reason) => JsonTask::Reason(reason),
            };
            (name, task)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(delta: f64, replicates: &[f64], trials: &[f64]) -> ScoreDifference {
        let some = |values: &[f64]| values.iter().map(|value| Some(*value)).collect();
        ScoreDifference {
            score: "x".to_owned(),
            delta: Some(delta),
            clusters: 100,
            replicates: some(replicates),
            trials: some(trials),
        }
    }

    #[test]
    fn totals_are_sums_of_their_scores() {
        let one = score(0.5, &[0.25, 0.75], &[0.5, -0.5, 0.0]);
        let other = score(0.25, &[0.25, 0.5], &[0.25, 0.0, 0.25]);
        let statistics = Statistics {
            resamples: 2,
            ..Statistics::default()
        };
        for (rule, delta) in [
            (Rule::Sum, 0.75),
            (Rule::Mean, 0.375),
            // (3 x 0.5 + 1 x 0.25) / 4
            (Rule::Weighted(vec![3.0, 1.0]), 0.4375),
        ] {
            let total = total_difference(&rule, &[&one, &other], &statistics, 3).unwrap();
            assert_eq!(total.delta, delta, "{rule}");
            // One of three trials is as extreme, and the observed assignment is one more.
            assert_eq!(total.p, 0.5, "{rule}");
        }
        let undefined = ScoreDifference {
            delta: None,
            ..other
        };
        assert_eq!(
            total_difference(&Rule::Sum, &[&one, &undefined], &statistics, 3),
            None
        );
    }
}
