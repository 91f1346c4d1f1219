//! Outcomes of suites and of their tasks, and their JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::compare::SuiteComparison;
use crate::config::Fallback;
use crate::task::Scores;
use crate::total::Rule;
use metric_run::SCHEMA;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It was scored.
    Ok,
    /// The submission has no predictions for it.
    Missing,
    /// Its predictions cannot be read or scored, or its process died.
    Failed,
    /// It took more time, memory or bytes than it may.
    Limit,
}

impl Status {
    /// Returns the word for the status.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missing => "missing",
            Self::Failed => "failed",
            Self::Limit => "limit",
        }
    }
}

/// The people who see an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The organizer, who may see all of it.
    Organizer,
    /// Participants, who must not see data of the references, nor the scores of the private part.
    Participants,
}

/// The outcome of a task.
#[derive(Clone, Debug)]
pub struct TaskOutcome {
    /// The name of the task.
    pub name: String,
    /// The name of the metric.
    pub metric: &'static str,
    /// How it ended.
    pub status: Status,
    /// The time that it took, in seconds.
    pub seconds: f64,
    /// The start of its process's standard error, at most 64 KiB.
    pub messages: String,
    pub(crate) reason: Option<String>,
    pub(crate) public_reason: Option<String>,
    pub(crate) result: Option<Box<RawValue>>,
    pub(crate) private_result: Option<Box<RawValue>>,
    pub(crate) scores: Scores,
    pub(crate) parts: Option<[Scores; 2]>,
    pub(crate) on_failure: Fallback,
    pub(crate) undefined: Fallback,
}

impl TaskOutcome {
    /// Returns why there is no result.
    #[must_use]
    pub fn reason(&self, shown: Shown) -> Option<&str> {
        match shown {
            Shown::Organizer => self.reason.as_deref(),
            Shown::Participants => self.public_reason.as_deref(),
        }
    }

    /// Returns the result, as `metric score` prints it; for participants without data of the references.
    #[must_use]
    pub fn result(&self, shown: Shown) -> Option<&str> {
        let result = match shown {
            Shown::Organizer => &self.result,
            Shown::Participants => &self.private_result,
        };
        result.as_deref().map(RawValue::get)
    }

    /// Returns the number of examples that were scored; of the public part for participants.
    #[must_use]
    pub fn examples(&self, shown: Shown) -> Option<u64> {
        #[derive(serde::Deserialize)]
        struct Examples {
            examples: u64,
        }
        let found = serde_json::from_str::<Examples>(self.result(shown)?);
        found.ok().map(|found| found.examples)
    }

    /// Returns the scores: an empty list if the task was not scored, and those of the public part for participants.
    #[must_use]
    pub fn scores(&self, shown: Shown) -> &[(String, Option<f64>)] {
        match (shown, &self.parts) {
            (Shown::Participants, Some([public, _])) => public,
            _ => &self.scores,
        }
    }

    /// The score that counts in a total, whether it was computed or stated for this case.
    fn counted(&self, score: &str, scores: &Scores) -> Option<f64> {
        if self.status != Status::Ok {
            return self.on_failure.score();
        }
        let found = scores.iter().find(|(name, _)| name == score);
        found
            .and_then(|(_, value)| *value)
            .or_else(|| self.undefined.score())
    }
}

/// The outcome of a suite.
#[derive(Clone, Debug)]
pub struct SuiteOutcome {
    /// The name of the suite.
    pub name: String,
    /// The tasks, in the order of the suite.
    pub tasks: Vec<TaskOutcome>,
    pub(crate) total: Option<(Rule, Vec<(String, String)>)>,
    /// Whether the references have a public and a private part.
    pub(crate) is_split: bool,
    pub(crate) warnings: Vec<String>,
    /// The comparison with another submission, if one was asked for.
    pub comparison: Option<SuiteComparison>,
}

/// A score that counts in a total, by `task.score`.
pub type Counted = (String, Option<f64>);

impl SuiteOutcome {
    /// Returns the scores of the total by `task.score`, with the stated ones for tasks without a score; of each score
    /// of each task if the suite has no total.
    #[must_use]
    pub fn counted(&self, shown: Shown) -> Vec<Counted> {
        self.counted_of(|task| match (shown, &task.parts) {
            (Shown::Participants, Some([public, _])) => public,
            _ => &task.scores,
        })
    }

    fn counted_of<'o>(&'o self, scores: impl Fn(&'o TaskOutcome) -> &'o Scores) -> Vec<Counted> {
        let Some((_, of)) = &self.total else {
            let all = self.tasks.iter().flat_map(|task| {
                let of_task = scores(task).iter();
                of_task.map(|(score, value)| (format!("{}.{score}", task.name), *value))
            });
            return all.collect();
        };
        let counted = of.iter().map(|(task, score)| {
            let found = self.tasks.iter().find(|outcome| outcome.name == *task);
            let value = found.and_then(|outcome| outcome.counted(score, scores(outcome)));
            (format!("{task}.{score}"), value)
        });
        counted.collect()
    }

    /// Returns the total; `None` if the suite has none, or if a score is missing. Participants see that of the public
    /// part.
    #[must_use]
    pub fn total(&self, shown: Shown) -> Option<f64> {
        self.total_of(&self.counted(shown))
    }

    /// Returns the total, or the score of a task by `task.score`, with the stated one for a task without a score; `None` if it
    /// is undefined, and an outer `None` if no such task was scored.
    #[must_use]
    pub fn score(&self, name: &str, shown: Shown) -> Option<Option<f64>> {
        if name == "total" {
            return Some(self.total(shown));
        }
        let (task, score) = name.split_once('.')?;
        let task = self.tasks.iter().find(|it| it.name == task)?;
        let counted = self.counted(shown);
        if let Some((_, value)) = counted.iter().find(|(other, _)| other == name) {
            return Some(*value);
        }
        let scores = task.scores(shown);
        let found = scores.iter().find(|(other, _)| other == score);
        Some(found.and_then(|(_, value)| *value))
    }

    fn total_of(&self, counted: &[Counted]) -> Option<f64> {
        let (rule, _) = self.total.as_ref()?;
        let values: Option<Vec<f64>> = counted.iter().map(|(_, value)| *value).collect();
        rule.total(&values?)
    }

    /// Returns the rule of the total.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        self.total.as_ref().map(|(rule, _)| rule)
    }

    /// Returns the scores and the total of the public and of the private part, if the suite has such parts.
    #[must_use]
    pub fn parts(&self) -> Option<[(Vec<Counted>, Option<f64>); 2]> {
        self.is_split.then(|| {
            [0, 1].map(|part| {
                let counted = self.counted_of(|task| match &task.parts {
                    Some(parts) => &parts[part],
                    None => &task.scores,
                });
                let total = self.total_of(&counted);
                (counted, total)
            })
        })
    }

    /// Returns the part of the references that is shown, if not all of them are.
    ///
    /// Participants see the public part of a suite that has one.
    #[must_use]
    pub const fn part(&self, shown: Shown) -> Option<&'static str> {
        match shown {
            Shown::Participants if self.is_split => Some("public"),
            _ => None,
        }
    }

    /// Returns the warnings: what is odd about the submission, and why there is no total.
    #[must_use]
    pub fn warnings(&self, shown: Shown) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        if self.total.is_some() && self.total(shown).is_none() {
            let none = self
                .counted(shown)
                .into_iter()
                .filter(|(_, value)| value.is_none());
            let none: Vec<String> = none.map(|(name, _)| name).collect();
            warnings.push(format!("no total: without a score of {}", none.join(", ")));
        }
        warnings
    }

    /// Returns the outcome as the JSON object that the program prints, without a line end.
    #[must_use]
    pub fn to_json(&self, shown: Shown) -> String {
        let tasks = self.tasks.iter();
        let json = Json {
            schema: SCHEMA,
            suite: &self.name,
            part: self.part(shown),
            examples: tasks.filter_map(|task| task.examples(shown)).sum(),
            total: self.total(shown),
            split: match shown {
                Shown::Organizer => self.parts().map(JsonParts),
                Shown::Participants => None,
            },
            tasks: JsonTasks(&self.tasks, shown),
            comparison: match shown {
                Shown::Organizer => self.comparison.as_ref(),
                Shown::Participants => None,
            },
            warnings: self.warnings(shown),
        };
        serde_json::to_string(&json).unwrap_or_default()
    }

    /// Returns one JSON object per line for the organizer: each task with its time and what its process said, then
    /// the outcome.
    #[must_use]
    pub fn log(&self) -> String {
        let mut log = String::new();
        for task in &self.tasks {
            let line = LogLine {
                task: &task.name,
                metric: task.metric,
                status: task.status.name(),
                seconds: task.seconds,
                reason: task.reason(Shown::Organizer),
                shown_reason: task.reason(Shown::Participants),
                messages: task.messages.lines().collect(),
            };
            log.push_str(&serde_json::to_string(&line).unwrap_or_default());
            log.push('\n');
        }
        log + &self.to_json(Shown::Organizer) + "\n"
    }
}

#[derive(serde::Serialize)]
struct Json<'o> {
    schema: u32,
    suite: &'o str,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'static str>,
    examples: u64,
    total: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<JsonParts>,
    tasks: JsonTasks<'o>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'o SuiteComparison>,
    warnings: Vec<String>,
}

#[derive(serde::Serialize)]
struct LogLine<'o> {
    task: &'o str,
    metric: &'static str,
    status: &'static str,
    seconds: f64,
    reason: Option<&'o str>,
    shown_reason: Option<&'o str>,
    messages: Vec<&'o str>,
}

/// The parts of the references as a JSON object.
struct JsonParts([(Vec<Counted>, Option<f64>); 2]);

impl Serialize for JsonParts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Part<'p> {
            total: Option<f64>,
            scores: JsonScores<'p>,
        }
        let parts = ["public", "private"].into_iter().zip(&self.0);
        serializer.collect_map(parts.map(|(name, (counted, total))| {
            let part = Part {
                total: *total,
                scores: JsonScores(counted),
            };
            (name, part)
        }))
    }
}

/// Scores as a JSON object.
pub(crate) struct JsonScores<'s>(pub(crate) &'s [(String, Option<f64>)]);

impl Serialize for JsonScores<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Tasks as a JSON object by name.
struct JsonTasks<'o>(&'o [TaskOutcome], Shown);

impl Serialize for JsonTasks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct JsonTask<'o> {
            status: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<&'o str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            result: Option<&'o RawValue>,
        }
        let Self(tasks, shown) = self;
        let mut map = serializer.serialize_map(Some(tasks.len()))?;
        for task in *tasks {
            let result = match shown {
                Shown::Organizer => &task.result,
                Shown::Participants => &task.private_result,
            };
            let json = JsonTask {
                status: task.status.name(),
                reason: task.reason(*shown),
                result: result.as_deref(),
            };
            map.serialize_entry(&task.name, &json)?;
        }
        map.end()
    }
}
