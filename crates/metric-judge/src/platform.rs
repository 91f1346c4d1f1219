//! Files in the forms that platforms of competitions read.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde_json::json;

use crate::outcome::{Counted, JsonScores, Shown, SuiteOutcome};

/// A platform of competitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Platform {
    /// `scores.json`, an object of numbers by the keys of the leaderboard's columns
    /// (<https://github.com/codalab/codabench/wiki/Leaderboard-Functionality>).
    Codabench,
    /// `scores.txt`, a line `key: number` per column
    /// (<https://github.com/codalab/codalab-competitions/wiki/User_Building-a-Scoring-Program-for-a-Competition>).
    Codalab,
    /// The value that `evaluate()` returns, with one object of numbers per split
    /// (<https://github.com/Cloud-CV/EvalAI/blob/master/docs/source/evaluation_scripts.md>).
    EvalAi,
    /// The number that `score()` returns, or the message of its `ParticipantVisibleError`. By the template of a new
    /// metric, `score()` returns one finite number.
    Kaggle,
}

/// A platform that has no name here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPlatform(String);

impl fmt::Display for UnknownPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Platform::ALL.iter().map(|(name, _)| *name).collect();
        write!(
            f,
            "no platform {:?}: expected one of {}",
            self.0,
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownPlatform {}

impl FromStr for Platform {
    type Err = UnknownPlatform;

    fn from_str(name: &str) -> Result<Self, UnknownPlatform> {
        let found = Self::ALL.iter().find(|(other, _)| *other == name);
        found
            .map(|(_, platform)| *platform)
            .ok_or_else(|| UnknownPlatform(name.to_owned()))
    }
}

/// The key of the total.
const TOTAL: &str = "total";

impl Platform {
    /// All platforms, by name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("codabench", Self::Codabench),
        ("codalab", Self::Codalab),
        ("evalai", Self::EvalAi),
        ("kaggle", Self::Kaggle),
    ];

    /// Returns the file of an outcome. Keys are `task.score` and `total`; a score that is undefined, which no platform
    /// has a form for, is left out.
    #[must_use]
    pub fn file(self, outcome: &SuiteOutcome, shown: Shown) -> String {
        let counted = outcome.counted(shown);
        let total = outcome.total(shown);
        match self {
            Self::Codabench => {
                let columns = columns(&counted, total);
                let json = serde_json::to_string(&JsonScores(&columns));
                json.unwrap_or_default() + "\n"
            }
            Self::Codalab => {
                let columns = columns(&counted, total);
                let lines = columns.iter().map(|(name, value)| {
                    let value = value.map(|value| json!(value).to_string());
                    format!("{name}: {}\n", value.unwrap_or_default())
                });
                lines.collect()
            }
            Self::EvalAi => {
                let splits = match (shown, outcome.parts()) {
                    (Shown::Organizer, Some([public, private])) => {
                        vec![("public_split", public), ("private_split", private)]
                    }
                    (Shown::Participants, Some([public, _])) => vec![("public_split", public)],
                    (_, None) => vec![("test_split", (counted, total))],
                };
                let splits = splits.into_iter().map(|(name, (counted, total))| {
                    let columns = columns(&counted, total).into_iter();
                    let columns: BTreeMap<String, Option<f64>> = columns.collect();
                    json!({ name: columns })
                });
                let splits: Vec<serde_json::Value> = splits.collect();
                json!({ "result": splits }).to_string() + "\n"
            }
            Self::Kaggle => match total {
                Some(total) => format!("{}\n", json!(total)),
                None => format!("ParticipantVisibleError: {}\n", reasons(outcome)),
            },
        }
    }
}

/// The defined scores, and the total.
fn columns(counted: &[Counted], total: Option<f64>) -> Vec<Counted> {
    let total = (TOTAL.to_owned(), total);
    let all = counted.iter().cloned().chain([total]);
    all.filter(|(_, value)| value.is_some()).collect()
}

/// Why there is no total, in one line that participants may read.
fn reasons(outcome: &SuiteOutcome) -> String {
    let failed = outcome.tasks.iter().filter_map(|task| {
        let reason = task.reason(Shown::Participants)?;
        Some(format!("{}: {}", task.name, reason.replace('\n', " ")))
    });
    let failed: Vec<String> = failed.collect();
    match failed.as_slice() {
        [] => "a score is undefined".to_owned(),
        failed => failed.join("; "),
    }
}
