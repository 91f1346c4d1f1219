//! Threshold checks: `--fail-under` and `--fail-over`.

use clap::ArgMatches;
use metric_run::registry::{Direction, Entry};

use crate::error::Failure;
use crate::score::Scored;

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
        let Self {
            fails,
            score,
            bound,
        } = self;
        let mut known = entries.iter().filter_map(|entry| entry.score(score));
        if !known.any(|spec| spec.direction == Some(fails.against())) {
            return Ok(());
        }
        let (option, other) = (fails.option(), fails.other().option());
        Err(Failure::Usage(format!(
            "--{option} {score}={bound}: {} values of {score} are better: expected --{other} {score}={bound}",
            fails.against().name(),
        )))
    }

    /// Says what is wrong with a score, if it fails the check. An undefined score does.
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

/// The checks that the scores fail, in words.
pub(crate) fn failed_checks(checks: &[Check], scored: &[Scored]) -> Result<Vec<String>, Failure> {
    let entries: Vec<&Entry> = scored.iter().map(|it| it.outcome.entry()).collect();
    let scores = || scored.iter().flat_map(|it| &it.report.scores);
    let mut failed = Vec::new();
    for check in checks {
        check.refuse_wrong_direction(&entries)?;
        let mut found = scores().filter(|(name, _)| *name == check.score).peekable();
        if found.peek().is_none() {
            let names: Vec<_> = scores().map(|(name, _)| name.as_str()).collect();
            return Err(Failure::Usage(format!(
                "--{} {}: no such score: expected one of {}",
                check.fails.option(),
                check.score,
                names.join(", ")
            )));
        }
        failed.extend(found.filter_map(|(_, value)| check.failure(*value)));
    }
    Ok(failed)
}
