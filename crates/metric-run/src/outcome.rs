use metric_record::{JoinPolicy, Message, Missing};
use metric_registry::{Counted, Entry, Group, Named, Options, Report, Sample, State, StateError};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{SampleTable, Shards};

/// Version of the shape of the JSON result.
const SCHEMA: u32 = 1;

/// What a run found of one metric.
#[derive(Clone, Debug)]
pub struct Outcome {
    entry: Entry,
    options: Options,
    signature: String,
    state: State,
    join: JoinPolicy,
    shards: Option<Shards>,
    samples: Option<SampleTable>,
}

impl Outcome {
    pub(crate) fn of_state(
        entry: &Entry,
        options: Options,
        state: State,
        join: JoinPolicy,
        shards: Option<Shards>,
    ) -> Self {
        Self {
            entry: *entry,
            options,
            signature: with_policy(state.signature(), join),
            state,
            join,
            shards,
            samples: None,
        }
    }

    /// Returns the name of the metric.
    #[must_use]
    pub fn metric(&self) -> &'static str {
        self.entry.name
    }

    /// Returns the metric.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    pub(crate) fn metric_format(&self) -> u32 {
        self.entry.state_format
    }

    /// Returns the options of the metric.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns what the scores were computed under: metric, options that matter, what the join let pass,
    /// version.
    #[must_use]
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// Returns the state, which merges with that of other examples.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the shards of the data that were scored; `None` for all of the data.
    #[must_use]
    pub fn shards(&self) -> Option<&Shards> {
        self.shards.as_ref()
    }

    pub(crate) fn set_shards(&mut self, shards: Option<Shards>) {
        self.shards = shards;
    }

    pub(crate) fn merge(&mut self, state: &State) -> Result<(), StateError> {
        self.state.merge(state)
    }

    /// Returns the scores of each example, if the run scored tables and [wants samples](crate::Run::samples).
    /// For files there is [`SampleCollector`](crate::SampleCollector).
    #[must_use]
    pub fn samples(&self) -> Option<&SampleTable> {
        self.samples.as_ref()
    }

    pub(crate) fn set_samples(&mut self, samples: SampleTable) {
        self.samples = Some(samples);
    }

    /// Returns how the data were joined.
    #[must_use]
    pub fn join(&self) -> JoinPolicy {
        self.join
    }

    /// Returns the number of examples.
    #[must_use]
    pub fn examples(&self) -> u64 {
        self.state.examples()
    }

    /// Returns the scores and counts, with all warnings.
    #[must_use]
    pub fn report(&self) -> Report {
        let mut report = self.state.report();
        let mut warnings = Vec::new();
        if report.missing > 0 {
            // Under the strict policy it is the metric that says what a gap means.
            let so = match self.join.missing {
                Missing::Error => None,
                Missing::Skip => Some("left out"),
                Missing::Empty => Some("scored against an empty one"),
            };
            warnings.extend(so.map(|so| {
                let what = Counted::new(
                    format!("reference has no prediction and was {so}"),
                    format!("references have no prediction and were {so}"),
                );
                what.warning(report.missing)
            }));
        }
        if report.extra > 0 {
            let what = Counted::new(
                "prediction has no reference and was left out",
                "predictions have no reference and were left out",
            );
            warnings.push(what.warning(report.extra));
        }
        warnings.append(&mut report.warnings);
        report.warnings = warnings;
        report
    }

    /// Returns the outcome as the JSON object that the program prints, without a line end.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.json(&self.report())
    }

    /// The same from a report that is there already.
    #[must_use]
    pub fn json(&self, report: &Report) -> String {
        let groups: Named<Groups<'_>> = report
            .groups
            .iter()
            .map(|(kind, groups)| (kind.clone(), Groups(groups)))
            .collect();
        let warnings: Vec<String> = report.warnings.iter().map(Message::to_string).collect();
        let result = Json {
            schema: SCHEMA,
            metric: self.entry.name,
            signature: &self.signature,
            examples: report.examples,
            missing: report.missing,
            scores: Object(&report.scores),
            counts: Object(&report.counts),
            groups: (!groups.is_empty()).then_some(Object(&groups)),
            warnings: &warnings,
        };
        serde_json::to_string(&result).unwrap_or_default()
    }
}

/// Returns outcomes with their reports as the JSON text that the program prints: the object of one, or a
/// list of several.
#[must_use]
pub fn outcomes_json<'o>(outcomes: impl IntoIterator<Item = (&'o Outcome, &'o Report)>) -> String {
    let outcomes = outcomes.into_iter();
    let results: Vec<String> = outcomes
        .map(|(outcome, report)| outcome.json(report))
        .collect();
    match results.as_slice() {
        [one] => one.clone(),
        results => {
            format!(
                "{{\"schema\":{SCHEMA},\"results\":[{}]}}",
                results.join(",")
            )
        }
    }
}

/// A signature with what the join let pass, before the version.
fn with_policy(signature: &str, policy: JoinPolicy) -> String {
    let missing = match policy.missing {
        Missing::Error => "",
        Missing::Empty => "|missing:empty",
        Missing::Skip => "|missing:skip",
    };
    let extra = match policy.ignore_extra {
        true => "|extra:ignore",
        false => "",
    };
    match signature.rsplit_once("|v:") {
        Some((definition, version)) => format!("{definition}{missing}{extra}|v:{version}"),
        None => format!("{signature}{missing}{extra}"),
    }
}

#[derive(serde::Serialize)]
struct Json<'a> {
    schema: u32,
    metric: &'a str,
    signature: &'a str,
    examples: u64,
    missing: u64,
    scores: Object<'a, Option<f64>>,
    counts: Object<'a, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Object<'a, Groups<'a>>>,
    warnings: &'a [String],
}

/// Pairs as a JSON object in their order.
struct Object<'a, T>(&'a Named<T>);

impl<T: Serialize> Serialize for Object<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Groups as a JSON object of `{scores, counts}`.
struct Groups<'a>(&'a [Group]);

impl Serialize for Groups<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Body<'a> {
            scores: Object<'a, Option<f64>>,
            counts: Object<'a, serde_json::Value>,
        }
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for group in self.0 {
            let body = Body {
                scores: Object(&group.scores),
                counts: Object(&group.counts),
            };
            map.serialize_entry(&group.name, &body)?;
        }
        map.end()
    }
}

/// Returns the scores of one example as a line of JSON, without its end. The metric is named where several
/// are scored.
#[must_use]
pub fn sample_json(metric: Option<&str>, sample: &Sample) -> String {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        part: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metric: Option<&'a str>,
        scores: Object<'a, Option<f64>>,
        counts: Object<'a, serde_json::Value>,
    }
    let line = Line {
        id: &sample.id,
        part: sample.part.as_deref(),
        metric,
        scores: Object(&sample.scores),
        counts: Object(&sample.counts),
    };
    serde_json::to_string(&line).unwrap_or_default()
}
