//! Threshold checks: `--fail-under` and `--fail-over`.

use clap::ArgMatches;
use metric_judge::{Shown, Suite, SuiteOutcome};
use metric_run::registry::{Direction, Entry};

use crate::error::Failure;
use crate::scored::Scored;

/// On which side of its value a check fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fails {
    Under,
    Over,
}

impl Fails {
    const ALL: [Self; 2] = [Self::Under, Self::Over];

    const fn option(self) -> &'static str {
        match self {
            Self::Under => "fail-under",
            Self::Over => "fail-over",
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Under => Self::Over,
            Self::Over => Self::Under,
        }
    }

    /// The direction of scores for which the check would fail good systems and pass bad ones.
    const fn against(self) -> Direction {
        match self {
            Self::Under => Direction::Lower,
            Self::Over => Direction::Higher,
        }
    }
}

/// A score that must not be below, or not above, a value.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    fails: Fails,
    score: String,
    bound: f64,
}

impl Check {
    /// The checks that the command line asks for.
    pub(crate) fn given(matches: &ArgMatches) -> Result<Vec<Self>, Failure> {
        let mut checks = Vec::new();
        for fails in Fails::ALL {
            for given in matches
                .get_many::<String>(fails.option())
                .unwrap_or_default()
            {
                checks.push(Self::parse(fails, given)?);
            }
        }
        Ok(checks)
    }

    fn parse(fails: Fails, given: &str) -> Result<Self, Failure> {
        let parts = given.split_once('=').and_then(|(score, value)| {
            let bound: f64 = value.parse().ok()?;
            (bound.is_finite() && !score.is_empty()).then(|| Self {
                fails,
                score: score.to_owned(),
                bound,
            })
        });
        parts.ok_or_else(|| {
            Failure::Usage(format!(
                "--{} {given:?}: expected NAME=VALUE, for example accuracy=0.9",
                fails.option()
            ))
        })
    }

    /// Refuses a check that good scores of these metrics fail.
    pub(crate) fn refuse_wrong_direction(&self, entries: &[&Entry]) -> Result<(), Failure> {
        // The end of an interval is as good as its score.
        let of = self.end().map_or(self.score.as_str(), |(of, _)| of);
        let known = entries.iter().filter_map(|entry| entry.score(of));
        self.refuse_directions(known.map(|spec| spec.direction))
    }

    fn refuse_directions(
        &self,
        mut directions: impl Iterator<Item = Option<Direction>>,
    ) -> Result<(), Failure> {
        let Self {
            fails,
            score,
            bound,
        } = self;
        if !directions.any(|direction| direction == Some(fails.against())) {
            return Ok(());
        }
        let (option, other) = (fails.option(), fails.other().option());
        Err(Failure::Usage(format!(
            "--{option} {score}={bound}: {} values of {score} are better; use --{other} {score}={bound}",
            fails.against().name(),
        )))
    }

    /// What the score has to be.
    fn in_words(&self) -> String {
        let sign = match self.fails {
            Fails::Under => "≥",
            Fails::Over => "≤",
        };
        format!("{} {sign} {}", self.score, self.bound)
    }

    /// The score and the index of the end, if the check is on an end of an interval, such as `f1.low`.
    fn end(&self) -> Option<(&str, usize)> {
        let ends = [(".low", 0), (".high", 1)].into_iter();
        let mut found = ends.filter_map(|(name, end)| Some((self.score.strip_suffix(name)?, end)));
        found.next()
    }

    /// The values that are checked, one for each metric that has them.
    fn values(&self, scored: &[Scored]) -> Vec<Option<f64>> {
        let scores = scored.iter().flat_map(|it| &it.report.scores);
        let found = scores
            .filter(|(name, _)| *name == self.score)
            .map(|(_, value)| *value);
        let found: Vec<_> = found.collect();
        let Some((of, end)) = self.end().filter(|_| found.is_empty()) else {
            return found;
        };
        let intervals = scored.iter().filter_map(|it| it.outcome.intervals());
        let intervals = intervals.flat_map(|found| &found.total.intervals);
        let of_score = intervals.filter(|(name, _)| name == of);
        of_score
            .map(|(_, estimate)| estimate.ends.map(|ends| ends[end]))
            .collect()
    }

    /// Describes why a score fails the check, if it does. An undefined score fails.
    fn failure(&self, value: Option<f64>) -> Option<String> {
        let Self { score, bound, .. } = self;
        let (beyond, at) = match self.fails {
            Fails::Under => ("below", "at least"),
            Fails::Over => ("above", "at most"),
        };
        let Some(value) = value else {
            return Some(format!("{score} is undefined: expected {at} {bound}"));
        };
        let fails = match self.fails {
            Fails::Under => value < *bound,
            Fails::Over => value > *bound,
        };
        fails.then(|| format!("{score} is {value}, {beyond} {bound}"))
    }
}

/// A check of the outcome of a suite.
pub(crate) struct SuiteVerdict<'c> {
    check: &'c Check,
    value: Option<f64>,
}

impl Check {
    /// Refuses a check of a score that the suite does not have, or that good scores fail.
    pub(crate) fn refuse_for_suite(&self, suite: &Suite) -> Result<(), Failure> {
        let (option, score) = (self.fails.option(), &self.score);
        let direction = suite.direction(score);
        let direction = direction
            .map_err(|error| Failure::Usage(format!("--{option} {score}: {}", error.message)))?;
        self.refuse_directions(std::iter::once(direction))
    }

    /// The verdict on the outcome of a suite.
    pub(crate) fn of_suite(
        &self,
        outcome: &SuiteOutcome,
        shown: Shown,
    ) -> Result<SuiteVerdict<'_>, Failure> {
        let value = outcome.score(&self.score, shown).ok_or_else(|| {
            let (option, score) = (self.fails.option(), &self.score);
            Failure::Usage(format!("--{option} {score}: the task was not scored"))
        })?;
        Ok(SuiteVerdict { check: self, value })
    }
}

impl SuiteVerdict<'_> {
    /// Why the check fails, if it does.
    pub(crate) fn failure(&self) -> Option<String> {
        self.check.failure(self.value)
    }

    /// The check in words, and whether it is passed.
    pub(crate) fn in_words(&self) -> (String, bool) {
        (self.check.in_words(), self.failure().is_none())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        let Check {
            fails,
            score,
            bound,
        } = self.check;
        serde_json::json!({
            "check": fails.option(),
            "score": score,
            "bound": bound,
            "value": self.value,
            "passed": self.failure().is_none(),
        })
    }
}

/// Each check in words, and whether the scores pass it.
pub(crate) fn verdicts(checks: &[Check], scored: &[Scored]) -> Vec<(String, bool)> {
    let verdict = |check: &Check| {
        let values = check.values(scored);
        let failed = values
            .into_iter()
            .any(|value| check.failure(value).is_some());
        (check.in_words(), !failed)
    };
    checks.iter().map(verdict).collect()
}

/// The checks that the scores fail, in words.
pub(crate) fn failed_checks(checks: &[Check], scored: &[Scored]) -> Result<Vec<String>, Failure> {
    let entries: Vec<&Entry> = scored.iter().map(|it| it.outcome.entry()).collect();
    let scores = || scored.iter().flat_map(|it| &it.report.scores);
    let mut failed = Vec::new();
    for check in checks {
        check.refuse_wrong_direction(&entries)?;
        let found = check.values(scored);
        if found.is_empty() {
            let names: Vec<_> = scores().map(|(name, _)| name.as_str()).collect();
            let end = check.score.rsplit_once('.');
            let problem = match end
                .filter(|(name, end)| ["low", "high"].contains(end) && names.contains(name))
            {
                Some((name, _)) => format!("{name} has no interval: ask for one with --confidence"),
                None => format!("no such score: expected one of {}", names.join(", ")),
            };
            return Err(Failure::Usage(format!(
                "--{} {}: {problem}",
                check.fails.option(),
                check.score,
            )));
        }
        failed.extend(found.into_iter().filter_map(|value| check.failure(value)));
    }
    Ok(failed)
}
