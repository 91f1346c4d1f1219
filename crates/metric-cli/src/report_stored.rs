//! `metric report`: a page of results that were stored as JSON.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command, value_parser};
use metric_report::{Badge, Fact, StoredResults, Tone};
use metric_run::registry::{Entry, Inputs, OptionValue, Options, Ranking, Sample, Scorer, find};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Failure;
use crate::report::{self, example_sections};

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("report")
        .about("Renders results that --format json printed as a report")
        .arg(
            Arg::new("results")
                .value_name("RESULT")
                .value_parser(value_parser!(PathBuf))
                .num_args(1..)
                .required(true)
                .help("Result files; several of one metric are compared in a table, in this order"),
        )
        .arg(
            Arg::new("per-sample")
                .long("per-sample")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help(
                    "Scores of the examples of the first result, as score --per-sample wrote them",
                ),
        )
        .arg(
            Arg::new("details")
                .long("details")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Details of the first result, as score --details wrote them"),
        )
        .args(
            report::args()
                .into_iter()
                .map(|arg| match arg.get_id().as_str() {
                    "report" => arg.default_value("-").help(
                        "Where the report goes: FILE.html, FILE.md, a folder (DIR/), or - for HTML",
                    ),
                    _ => arg,
                }),
        )
}

fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    std::fs::read_to_string(path)
        .map_err(|error| Failure::Input(format!("{name}: cannot read: {error}")))
}

/// The results of a file: objects as `--format json` prints them.
fn results(path: &Path) -> Result<Vec<Value>, Failure> {
    let name = path.display();
    let value: Value = serde_json::from_str(&read(path)?).map_err(|error| {
        Failure::Input(format!(
            "{name}: {error}: expected a result of --format json"
        ))
    })?;
    let results = match value.get("results").and_then(Value::as_array) {
        Some(results) => results.clone(),
        None => vec![value],
    };
    for result in &results {
        if !(result["metric"].is_string() && result["scores"].is_object()) {
            return Err(Failure::Input(format!(
                "{name}: expected a result of --format json, which has a metric and scores"
            )));
        }
    }
    Ok(results)
}

/// Reads the results and writes the report. Returns it if it is for standard output.
#[allow(
    clippy::too_many_lines,
    reason = "the steps of the command, in their order"
)]
pub(crate) fn run(matches: &ArgMatches) -> Result<Option<String>, Failure> {
    let paths: Vec<&PathBuf> = matches.get_many("results").unwrap_or_default().collect();
    let given = |name: &str| matches.get_one::<PathBuf>(name);
    let inputs: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
    let inputs = inputs
        .into_iter()
        .chain(given("per-sample").map(PathBuf::as_path))
        .chain(given("details").map(PathBuf::as_path));
    let output = given("report").filter(|path| path.as_os_str() != "-");
    let outputs: Vec<(&str, &Path)> = output
        .map(|path| ("report", path.as_path()))
        .into_iter()
        .collect();
    crate::output_file::refuse(&outputs, &inputs.collect::<Vec<_>>())?;
    let mut stored = Vec::new();
    let mut of_paths = Vec::new();
    for path in paths {
        let stem = path.file_stem().map_or_else(
            || path.display().to_string(),
            |stem| stem.to_string_lossy().into_owned(),
        );
        let of_path = results(path)?;
        // The metrics of a run score the same examples.
        of_paths.push(
            of_path
                .first()
                .and_then(|result| result["examples"].as_u64()),
        );
        stored.extend(of_path.into_iter().map(|result| (stem.clone(), result)));
    }
    let wanted =
        report::wanted(matches)?.ok_or_else(|| Failure::Internal("no report".to_owned()))?;
    let mut ranked: Vec<Ranked> = Vec::new();
    let most = wanted.examples().0;
    let open = wanted.open(None)?;
    if let Some(path) = given("per-sample") {
        for (number, line) in (1..)
            .zip(read(path)?.lines())
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let failed = || {
                Failure::Input(format!(
                    "{}:{number}: expected the scores of an example, as score --per-sample writes them",
                    path.display()
                ))
            };
            let read: StoredSample = serde_json::from_str(line).map_err(|_| failed())?;
            let metric = read.metric.clone();
            let metric = metric.or_else(|| Some(stored.first()?.1["metric"].as_str()?.to_owned()));
            let metric = metric.unwrap_or_default();
            let sample = read.sample(number);
            let known = ranked.iter().position(|it| it.metric == metric);
            let index = known.unwrap_or_else(|| {
                let mut results = stored.iter().map(|(_, result)| result);
                let result = results.find(|result| result["metric"] == *metric);
                ranked.push(Ranked::new(&metric, result.unwrap_or(&Value::Null), most));
                ranked.len() - 1
            });
            ranked[index].add(sample);
        }
    }
    let details = given("details").map(|path| {
        let text = read(path)?;
        let first = text.lines().next().unwrap_or_default();
        serde_json::from_str(first)
            .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
    });
    let details: Option<Value> = details.transpose()?;
    let has_samples = given("per-sample").is_some();
    let examples = |role: &str, position: usize| match role {
        "results" => *of_paths.get(position)?,
        _ => None,
    };
    open.finish_with(examples, |wanted, files| {
        let first = &stored[0].1;
        let metric = first["metric"].as_str().unwrap_or_default();
        let ranked = ranked.iter().find(|it| it.metric == metric);
        let examples = find(metric).zip(ranked).map(|(entry, ranked)| {
            let score = ranked.ranking.score();
            let total = score.and_then(|(name, _)| first["scores"][name].as_f64());
            example_sections(wanted, entry, &ranked.options, &ranked.ranking, total)
        });
        let badge = (!has_samples).then(|| Badge {
            text: "without examples: --per-sample FILE adds them".to_owned(),
            tone: Tone::Neutral,
        });
        let mut facts = vec![("Command".to_owned(), Fact::Text(wanted.command()))];
        facts.extend(files);
        facts.extend(report::program_facts(wanted));
        StoredResults {
            results: &stored,
            differences: &[],
            details: details.as_ref(),
            title: wanted.title(),
            has_texts: wanted.examples().1,
            examples: examples.unwrap_or_default(),
            badges: badge.into_iter().collect(),
            facts,
        }
        .report()
    })
}

/// The worst examples of a metric.
struct Ranked {
    metric: String,
    ranking: Ranking<Sample>,
    options: Options,
    /// The metric that tells how close examples with their texts are to being correct; `None` if the result does not
    /// tell the options that they were scored under.
    scorer: Option<Scorer>,
}

impl Ranked {
    fn new(metric: &str, result: &Value, most: usize) -> Self {
        let options = find(metric).and_then(|entry| options_of(entry, result));
        Self {
            metric: metric.to_owned(),
            ranking: Ranking::of_scores(most, find(metric).map_or(&[], |entry| entry.scores)),
            scorer: find(metric).and_then(|entry| entry.scorer(options.as_ref()?).ok()),
            options: options.unwrap_or_default(),
        }
    }

    fn add(&mut self, mut sample: Sample) {
        let entry = find(&self.metric);
        let scores = entry.map_or(&[][..], |entry| entry.scores);
        let chosen = self.scorer.as_ref().and_then(|it| it.ranking_score());
        self.ranking.choose_of(scores, chosen);
        let names = sample.scores.iter().map(|(name, _)| name.as_str());
        self.ranking.choose_of(scores, names);
        let score = self.ranking.score().map(|(name, _)| name);
        let value = score.and_then(|score| sample.scores.iter().find(|(name, _)| name == score)?.1);
        // The compared texts are only known under the same options.
        sample.inputs = sample.inputs.filter(|_| self.scorer.is_some());
        let scorer = self.scorer.as_ref();
        let closeness = || {
            let (entry, scorer) = entry.zip(scorer)?;
            let example = report::shown(&sample, true);
            example.with_record(|record| entry.closeness(scorer, record))
        };
        let position = sample.record as u64;
        self.ranking
            .add(value, position, closeness, || sample.clone());
    }
}

/// The options that a result was scored under; `None` if it has others than its signature, such as a result that was
/// written without its options.
fn options_of(entry: &Entry, result: &Value) -> Option<Options> {
    let mut options = Options::default();
    for (name, value) in result["options"].as_object().into_iter().flatten() {
        options = match value {
            // A flag.
            Value::Bool(_) => options.set(name, "true"),
            value => options.set(name, OptionValue::deserialize(value).ok()?),
        };
    }
    let signature = result["signature"].as_str()?;
    entry.has_signature(&options, signature).then_some(options)
}

/// An example as `--per-sample` writes it.
#[derive(Deserialize)]
struct StoredSample {
    id: String,
    part: Option<String>,
    metric: Option<String>,
    scores: InOrder,
    #[serde(default)]
    counts: InOrder,
    /// The values of the example, which `--with-inputs` adds.
    #[serde(default, deserialize_with = "given")]
    reference: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "given")]
    prediction: Option<Box<RawValue>>,
    question: Option<Box<RawValue>>,
}

/// A value that is given, also if it is null.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(deserializer).map(Some)
}

impl StoredSample {
    fn sample(self, number: usize) -> Sample {
        let scores = self.scores.0.into_iter();
        let written = |side: Option<Box<RawValue>>| Some(side?.get().to_owned());
        let sides = written(self.reference).zip(written(self.prediction));
        let inputs = sides.map(|(reference, prediction)| Inputs {
            reference,
            prediction,
            fields: written(self.question)
                .map(|question| format!("{{\"{}\":{question}}}", Inputs::QUESTION)),
        });
        Sample {
            record: number - 1,
            id: self.id,
            part: self.part,
            scores: scores.map(|(name, score)| (name, score.as_f64())).collect(),
            counts: self.counts.0,
            values: Vec::new(),
            inputs: inputs.map(Arc::new),
        }
    }
}

/// The fields of an object, in the order in which they are written.
#[derive(Default)]
struct InOrder(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = InOrder;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(InOrder(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}
