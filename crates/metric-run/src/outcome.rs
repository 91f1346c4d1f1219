use std::borrow::Cow;

use metric_record::{JoinPolicy, Message, Missing, Record, Value, json};
use metric_registry::stats::{Estimate, Method};
use metric_registry::{
    Counted, Entry, Group, Inputs, Named, OptionKind, Options, Report, ResampledScope, Sample,
    Selection, State, StateError,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::observer::Nobody;
use crate::statistics::{Analytic, Progress, Resampled, internal, replicates};
use crate::threads::on_threads;
use crate::{
    Intervals, Observer, RunError, SampleTable, Selected, Shards, ShownScores, Statistics,
};

/// Version of the shape of the JSON result.
pub const SCHEMA: u32 = 1;

/// The results of a run for one metric.
#[derive(Clone, Debug)]
pub struct Outcome {
    entry: Entry,
    options: Options,
    /// The signature without the parts that only the data tell.
    definition: String,
    state: State,
    join: JoinPolicy,
    shards: Option<Shards>,
    samples: Option<SampleTable>,
    statistics: Option<Statistics>,
    /// The records that were selected by their fields; `None` for all.
    selected: Option<Selected>,
    /// The names of the slices.
    slices: Vec<String>,
    /// Whether the ids of the records are the numbers of lines or rows.
    has_line_ids: bool,
    intervals: Option<Intervals>,
    shown: ShownScores,
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
            definition: with_policy(state.signature(), join),
            state,
            join,
            shards,
            samples: None,
            statistics: None,
            selected: None,
            slices: Vec::new(),
            has_line_ids: false,
            intervals: None,
            shown: ShownScores::default(),
        }
    }

    /// Takes the statistics of the result, which its definition names, and the names of its slices.
    pub fn set_statistics(&mut self, statistics: Option<Statistics>, slices: Vec<String>) {
        if let Some(statistics) = &statistics {
            self.definition = with_parts(&self.definition, &statistics.signature());
        }
        self.statistics = statistics;
        self.slices = slices;
    }

    /// Takes the scores to show, and the order of groups.
    pub fn set_shown(&mut self, shown: ShownScores) {
        self.shown = shown;
    }

    /// Returns the scores that are shown, and the order of groups.
    #[must_use]
    pub fn shown(&self) -> &ShownScores {
        &self.shown
    }

    /// Returns the records that were selected by their fields; `None` if all are.
    #[must_use]
    pub fn selected(&self) -> Option<&Selected> {
        self.selected.as_ref()
    }

    /// Takes the number of selected records; the definition names the conditions.
    pub(crate) fn set_selected(&mut self, selected: Option<Selected>) {
        if let (Some(selected), None) = (&selected, &self.selected) {
            let part = (Selection::OPTION.to_owned(), selected.conditions.join(","));
            self.definition = with_parts(&self.definition, &vec![part]);
        }
        self.selected = selected;
    }

    pub(crate) fn add_selected(&mut self, other: &Self) {
        if let (Some(selected), Some(other)) = (&mut self.selected, &other.selected) {
            selected.add(other);
        }
    }

    /// Computes the intervals of the state.
    pub(crate) fn resample(&mut self, observer: &dyn Observer) -> Result<(), RunError> {
        let Some(statistics) = &self.statistics else {
            return Ok(());
        };
        let report = self.state.report();
        let analytic = self.analytic(statistics, &report)?;
        let is_wanted = |scope: &ResampledScope| analytic.needs_replicates(scope);
        let resampled = Resampled::new(&self.state, statistics, is_wanted, observer)?;
        let intervals = resampled.map(|resampled| analytic.intervals(&resampled));
        self.set_intervals(intervals);
        Ok(())
    }

    /// Computes the replicates of all scores, and intervals from them.
    pub(crate) fn resample_all(
        &mut self,
        statistics: &Statistics,
        observer: &dyn Observer,
    ) -> Result<Resampled, RunError> {
        let resampled = Resampled::new(&self.state, statistics, |_| true, observer)?;
        let resampled =
            resampled.ok_or_else(|| RunError::Internal("no kept examples".to_owned()))?;
        let report = self.state.report();
        let intervals = self.analytic(statistics, &report)?.intervals(&resampled);
        self.set_intervals(Some(intervals));
        Ok(resampled)
    }

    /// Takes the intervals of the scores that are shown.
    fn set_intervals(&mut self, mut intervals: Option<Intervals>) {
        if let Some(intervals) = &mut intervals {
            self.shown.keep(&mut intervals.total.intervals);
            let groups = intervals.groups.iter_mut().flat_map(|(_, groups)| groups);
            groups.for_each(|(_, group)| self.shown.keep(&mut group.intervals));
        }
        self.intervals = intervals;
    }

    fn analytic<'a>(
        &'a self,
        statistics: &'a Statistics,
        report: &'a Report,
    ) -> Result<Analytic<'a>, RunError> {
        Ok(Analytic {
            entry: &self.entry,
            has_proportions: self.entry.scorer(&self.options)?.has_proportions(),
            report,
            statistics,
        })
    }

    /// Returns how the scores were resampled, if they were.
    #[must_use]
    pub fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }

    /// The signature of a comparison with systems that were scored alike.
    pub(crate) fn compared_signature(&self, permutations: u64) -> String {
        let part = ("permutations".to_owned(), permutations.to_string());
        with_parts(&self.signature(), &vec![part])
    }

    pub(crate) const fn has_line_ids(&self) -> bool {
        self.has_line_ids
    }

    pub(crate) const fn set_line_ids(&mut self, has_line_ids: bool) {
        self.has_line_ids = has_line_ids;
    }

    pub(crate) fn slices(&self) -> &[String] {
        &self.slices
    }

    /// Returns whether a kind of group is that of slices, which the run was asked for.
    #[must_use]
    pub fn is_sliced_by(&self, kind: &str) -> bool {
        let mut names = self.slices.iter();
        // After the name of a slice come its bins.
        let without_bins = |slice: &String| slice.rsplit_once(':').is_some_and(|it| it.0 == kind);
        names.any(|slice| slice == kind || without_bins(slice))
    }

    /// Returns whether a kind of group was asked for: as a slice, or by an option of the metric.
    #[must_use]
    pub fn is_asked_for(&self, kind: &str) -> bool {
        self.is_sliced_by(kind) || self.options.asks_for_groups(kind)
    }

    /// Returns the intervals of the scores, if they were resampled.
    #[must_use]
    pub fn intervals(&self) -> Option<&Intervals> {
        self.intervals.as_ref()
    }

    /// Returns the scores of each replicate, in order, if the examples were resampled.
    ///
    /// # Errors
    ///
    /// Returns an error if the examples of the state cannot be read.
    pub fn replicates(&self) -> Result<Option<Vec<Named<Option<f64>>>>, RunError> {
        let Some(statistics) = &self.statistics else {
            return Ok(None);
        };
        let Some(resampler) = self.state.resampler().map_err(internal)? else {
            return Ok(None);
        };
        let columns = resampler
            .scopes()
            .first()
            .map_or(&[][..], |scope| &scope.columns);
        let progress = Progress::new(&Nobody, statistics.resamples);
        let lists = on_threads(None, || {
            Ok(replicates(&resampler, 0, statistics, &progress))
        })?;
        let own = columns
            .iter()
            .zip(&lists)
            .filter(|(column, _)| column.group.is_none());
        let own: Vec<_> = own.collect();
        let count = own.first().map_or(0, |(_, list)| list.len());
        let replicate = |index: usize| {
            let scores = own.iter();
            scores
                .map(|(column, list)| (column.score.clone(), list.get(index).copied().flatten()))
                .collect()
        };
        Ok(Some((0..count).map(replicate).collect()))
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

    /// Returns the conditions under which the scores were computed: metric, options that matter, problems that the join
    /// tolerated, version.
    #[must_use]
    pub fn signature(&self) -> Cow<'_, str> {
        self.state.with_known_parts(&self.definition)
    }

    /// Returns the signature without the parts that only the data tell: equal ones merge.
    pub(crate) fn definition(&self) -> &str {
        &self.definition
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

    /// The warning of references without a prediction. Under the strict policy it is the metric that says what a gap
    /// means.
    pub(crate) fn missing_warning(&self, count: u64) -> Option<Message> {
        let so = match self.join.missing {
            Missing::Error => return None,
            Missing::Skip => "left out",
            Missing::Empty => "scored against an empty one",
        };
        let what = Counted::new(
            format!("reference has no prediction and was {so}"),
            format!("references have no prediction and were {so}"),
        );
        (count > 0).then(|| what.warning(count))
    }

    /// Returns the scores and counts, with all warnings.
    #[must_use]
    pub fn report(&self) -> Report {
        self.with_all_warnings(self.state.report())
    }

    /// The same with the [details](State::details), in less time than one after the other.
    #[must_use]
    pub fn report_with_details(&self) -> (Report, Option<serde_json::Value>) {
        let (report, details) = self.state.report_with_details();
        (self.with_all_warnings(report), details)
    }

    fn with_all_warnings(&self, mut report: Report) -> Report {
        let mut warnings = Vec::new();
        warnings.extend(self.missing_warning(report.missing));
        if report.extra > 0 {
            let what = Counted::new(
                "prediction has no reference and was left out",
                "predictions have no reference and were left out",
            );
            warnings.push(what.warning(report.extra));
        }
        warnings.append(&mut report.warnings);
        warnings.extend(
            self.intervals
                .iter()
                .flat_map(|it| it.warnings.iter().cloned()),
        );
        report.warnings = warnings;
        let selected = self.selected.iter();
        report.notes.extend(selected.map(|it| it.in_words().into()));
        self.shown.apply(&self.entry, &mut report);
        report
    }

    /// The chosen options, except for files, which are a part of the data.
    fn chosen_options(&self) -> serde_json::Map<String, serde_json::Value> {
        let specs = self.entry.options.iter();
        let chosen = specs.filter_map(|spec| {
            let value = self.options.value(spec.name)?;
            let value = match spec.kind {
                OptionKind::Path => return None,
                OptionKind::Flag => true.into(),
                _ => serde_json::to_value(value).ok()?,
            };
            Some((spec.name.to_owned(), value))
        });
        chosen.collect()
    }

    /// Returns the outcome as the JSON object that the program prints, without a line end.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.json(&self.report())
    }

    /// Returns the same from an existing report.
    #[must_use]
    pub fn json(&self, report: &Report) -> String {
        let groups: Named<Groups<'_>> = report
            .groups
            .iter()
            .map(|(kind, groups)| {
                let groups = Groups {
                    kind,
                    groups,
                    intervals: self.intervals.as_ref(),
                };
                (kind.clone(), groups)
            })
            .collect();
        let statistics = self.statistics.as_ref().zip(self.intervals.as_ref());
        let warnings: Vec<String> = report.warnings.iter().map(Message::to_string).collect();
        let result = Json {
            schema: SCHEMA,
            metric: self.entry.name,
            signature: &self.signature(),
            options: self.chosen_options(),
            examples: report.examples,
            missing: report.missing,
            selected: self.selected.as_ref(),
            scores: Object(&report.scores),
            counts: Object(&report.counts),
            statistics: statistics.map(|(statistics, intervals)| JsonStatistics {
                confidence: statistics.confidence,
                resamples: statistics.resamples,
                seed: statistics.json_seed(),
                cluster_field: statistics.cluster_field.as_deref(),
                clusters: intervals.total.clusters,
                intervals: JsonIntervals(&intervals.total.intervals),
            }),
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

/// A signature with further parts, before the version.
fn with_parts(signature: &str, parts: &Named<String>) -> String {
    let (definition, version) = signature.rsplit_once("|v:").unwrap_or((signature, ""));
    metric_registry::signature(definition, parts, version)
}

/// A signature with the problems that the join tolerated, before the version.
fn with_policy(signature: &str, policy: JoinPolicy) -> String {
    let missing = match policy.missing {
        Missing::Error => "",
        Missing::Empty => "|missing:empty",
        Missing::Skip => "|missing:skip",
    };
    let extra = if policy.ignore_extra {
        "|extra:ignore"
    } else {
        ""
    };
    let null = match policy.null {
        None => "",
        Some(Missing::Error) => "|null:error",
        Some(Missing::Empty) => "|null:empty",
        Some(Missing::Skip) => "|null:skip",
    };
    let as_text = if policy.as_text { "|as-text:true" } else { "" };
    let tolerated = format!("{missing}{extra}{null}{as_text}");
    match signature.rsplit_once("|v:") {
        Some((definition, version)) => format!("{definition}{tolerated}|v:{version}"),
        None => format!("{signature}{tolerated}"),
    }
}

#[derive(serde::Serialize)]
struct Json<'a> {
    schema: u32,
    metric: &'a str,
    signature: &'a str,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    options: serde_json::Map<String, serde_json::Value>,
    examples: u64,
    missing: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    selected: Option<&'a Selected>,
    scores: Object<'a, Option<f64>>,
    counts: Object<'a, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<JsonStatistics<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Object<'a, Groups<'a>>>,
    warnings: &'a [String],
}

#[derive(serde::Serialize)]
struct JsonStatistics<'a> {
    confidence: f64,
    resamples: u64,
    seed: serde_json::Value,
    cluster_field: Option<&'a str>,
    clusters: u64,
    intervals: JsonIntervals<'a>,
}

/// Intervals as a JSON object by score.
pub(crate) struct JsonIntervals<'a>(pub(crate) &'a Named<Estimate>);

impl Serialize for JsonIntervals<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Interval {
            low: Option<f64>,
            high: Option<f64>,
            method: Option<&'static str>,
            standard_error: Option<f64>,
            undefined: u64,
        }
        serializer.collect_map(self.0.iter().map(|(name, estimate)| {
            let interval = Interval {
                low: estimate.ends.map(|ends| ends[0]),
                high: estimate.ends.map(|ends| ends[1]),
                method: estimate.method.map(Method::name),
                standard_error: estimate.standard_error,
                undefined: estimate.undefined,
            };
            (name, interval)
        }))
    }
}

/// Pairs as a JSON object in their order.
pub(crate) struct Object<'a, T>(pub(crate) &'a Named<T>);

impl<T: Serialize> Serialize for Object<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Groups as a JSON object of `{scores, counts}`, with their intervals if there are any.
struct Groups<'a> {
    kind: &'a str,
    groups: &'a [Group],
    intervals: Option<&'a Intervals>,
}

impl Serialize for Groups<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Body<'a> {
            scores: Object<'a, Option<f64>>,
            counts: Object<'a, serde_json::Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            clusters: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            intervals: Option<JsonIntervals<'a>>,
        }
        let mut map = serializer.serialize_map(Some(self.groups.len()))?;
        for group in self.groups {
            let found = self
                .intervals
                .and_then(|it| it.group(self.kind, &group.name));
            let body = Body {
                scores: Object(&group.scores),
                counts: Object(&group.counts),
                clusters: found.map(|found| found.clusters),
                intervals: found.map(|found| JsonIntervals(&found.intervals)),
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
    sample_line(metric, sample, None)
}

/// Returns the same with a further field, whose value is JSON.
#[must_use]
pub fn with_json_field(line: &str, name: &str, value: &str) -> String {
    // A line is an object that is not empty.
    let start = line.strip_suffix('}').unwrap_or(line);
    let name = serde_json::Value::from(name);
    format!("{start},{name}:{value}}}")
}

/// Returns the same with the values of the example.
#[must_use]
pub fn sample_json_with_inputs(
    metric: Option<&str>,
    sample: &Sample,
    inputs: &InputsJson,
) -> String {
    sample_line(metric, sample, Some(inputs))
}

fn sample_line(metric: Option<&str>, sample: &Sample, inputs: Option<&InputsJson>) -> String {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        part: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metric: Option<&'a str>,
        scores: Object<'a, Option<f64>>,
        counts: Object<'a, serde_json::Value>,
        #[serde(flatten)]
        values: Object<'a, serde_json::Value>,
        #[serde(flatten)]
        inputs: Option<&'a InputsJson>,
    }
    let line = Line {
        id: &sample.id,
        part: sample.part.as_deref(),
        metric,
        scores: Object(&sample.scores),
        counts: Object(&sample.counts),
        values: Object(&sample.values),
        inputs,
    };
    serde_json::to_string(&line).unwrap_or_default()
}

/// The values of an example as JSON: a line or a cell of text is a string, and a missing value is null. A value is the
/// same text from files of all formats.
#[derive(Clone, Debug, serde::Serialize)]
pub struct InputsJson {
    reference: Box<RawValue>,
    prediction: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<Box<RawValue>>,
}

impl InputsJson {
    /// Returns the reference and the prediction of a record, and the field `question` of its reference if it has one.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with a value that is not JSON.
    pub fn of_record(record: &Record<'_>) -> Result<Self, String> {
        Ok(Self {
            reference: value_json(record.reference)?,
            prediction: value_json(record.prediction)?,
            question: question(record.fields)?,
        })
    }

    /// Returns the same of an example of a dataset file.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with a value that is not JSON.
    pub fn of_inputs(inputs: &Inputs) -> Result<Self, String> {
        let value = |json: &str| match json {
            "" => raw("null".to_owned()),
            json => raw(canonical_json(json)),
        };
        Ok(Self {
            reference: value(&inputs.reference)?,
            prediction: value(&inputs.prediction)?,
            question: question(inputs.fields.as_deref())?,
        })
    }
}

/// The question in the object that has the further fields of a reference.
fn question(fields: Option<&str>) -> Result<Option<Box<RawValue>>, String> {
    let entries = json::fields(fields, &[Inputs::QUESTION])?;
    let question = entries.get(Inputs::QUESTION).map(canonical_json);
    question.map(raw).transpose()
}

fn raw(json: String) -> Result<Box<RawValue>, String> {
    RawValue::from_string(json).map_err(|error| error.to_string())
}

/// A value of a record as JSON.
fn value_json(mut value: Value<'_>) -> Result<Box<RawValue>, String> {
    raw(match value.as_line() {
        Some(line) => serde_json::Value::from(line).to_string(),
        None => canonical_json(&value.to_json_or("null")?),
    })
}

/// A JSON text without white space between its parts, and with its strings escaped where they must be, so that a value
/// is written as the same bytes from files of all formats. Numbers keep their digits.
fn canonical_json(json: &str) -> String {
    let mut written = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => end_of_string(rest),
            _ => rest.find('"').unwrap_or(rest.len()),
        };
        let (part, after) = rest.split_at(end);
        match (first, serde_json::from_str::<String>(part)) {
            ('"', Ok(text)) => written.push_str(&serde_json::Value::from(text).to_string()),
            ('"', Err(_)) => written.push_str(part),
            _ => written.extend(part.split_ascii_whitespace()),
        }
        rest = after;
    }
    written
}

/// The length of the string that a JSON text starts with.
fn end_of_string(json: &str) -> usize {
    let mut is_escaped = false;
    let close = json.bytes().skip(1).position(|byte| {
        let is_close = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_close
    });
    close.map_or(json.len(), |index| index + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_alike() {
        let rows = [
            (r#""caf\u00e9 \" \\""#, r#""café \" \\""#),
            ("[ 1.50,\n -0 , \"a b\" ]", r#"[1.50,-0,"a b"]"#),
            (r#"{"a\/b" : "\t", "c": null}"#, r#"{"a/b":"\t","c":null}"#),
            // Half of a pair is not a text, and stays.
            (r#"["\ud800"]"#, r#"["\ud800"]"#),
            ("", ""),
        ];
        for (json, expected) in rows {
            assert_eq!(canonical_json(json), expected);
        }
    }
}
