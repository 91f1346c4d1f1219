//! Options of intervals and slices.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use metric_run::registry::Slice;
use metric_run::registry::stats::IntervalKind;
use metric_run::{Outcome, Run, ShownScores, Statistics};
use serde_json::json;

use crate::error::Failure;
use crate::valued_arg::valued_arg;

/// The options that switch statistics on.
const SWITCHES: [&str; 4] = ["confidence", "resamples", "interval", "cluster-field"];

/// The options of `score` and `compare`.
pub(crate) fn args() -> Vec<Arg> {
    let arg = valued_arg;
    vec![
        arg("confidence", "SHARE")
            .value_parser(value_parser!(f64))
            .default_value("0.95")
            .help("Coverage of confidence intervals. `score` prints intervals if this option, --resamples, --interval or --cluster-field is given, and `compare` always does"),
        arg("resamples", "N")
            .value_parser(value_parser!(u64).range(1..))
            .default_value("2000")
            .help("Number of bootstrap resamples"),
        arg("seed", "N")
            .value_parser(value_parser!(u64))
            .default_value("0")
            .help("Seed of all random numbers"),
        arg("cluster-field", "NAME")
            .help("Field of the references, such as speaker: records with the same value are resampled together"),
        arg("interval", "KIND")
            .value_parser(
                IntervalKind::ALL
                    .iter()
                    .map(|kind| kind.name())
                    .collect::<Vec<_>>(),
            )
            .default_value(IntervalKind::Auto.name())
            .help("Kind of interval; auto: Wilson's for proportions, otherwise expanded: a percentile bootstrap that is widened for small samples"),
        arg("slice-field", "NAME")
            .action(ArgAction::Append)
            .help("Also score the records of each value of this field; repeatable"),
        arg("slices", "FILE")
            .value_parser(value_parser!(PathBuf))
            .action(ArgAction::Append)
            .help("Also score the slices that a file defines, with one `ID VALUE` per line; repeatable"),
        arg("slice-bins", "NAME:N,N,...")
            .action(ArgAction::Append)
            .help("Bins of a slice field of numbers, by their lower bounds, such as length:0,10,20; repeatable"),
        arg("replicates", "FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Also write the scores of each bootstrap resample, as JSON Lines"),
    ]
    .into_iter()
    .chain(shown_args())
    .collect()
}

/// The options that select what is shown.
pub(crate) fn shown_args() -> [Arg; 2] {
    [
        valued_arg("scores", "NAME,...")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help("Show these scores only, in this order"),
        valued_arg("sort", "SCORE")
            .help("Sort the groups of tables by this score, the best one first"),
    ]
}

/// The scores that are shown, and the order of groups.
pub(crate) fn shown(matches: &ArgMatches) -> ShownScores {
    let scores = matches.get_many::<String>("scores").unwrap_or_default();
    ShownScores {
        scores: scores.cloned().collect(),
        sort: matches.get_one::<String>("sort").cloned(),
    }
}

fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.value_source(name) == Some(ValueSource::CommandLine)
}

/// The statistics that the options describe.
pub(crate) fn statistics(matches: &ArgMatches) -> Result<Statistics, Failure> {
    let default = Statistics::default();
    let kind = matches
        .get_one::<String>("interval")
        .and_then(|kind| kind.parse().ok());
    Ok(Statistics {
        confidence: matches
            .get_one("confidence")
            .copied()
            .unwrap_or(default.confidence),
        resamples: matches
            .get_one("resamples")
            .copied()
            .unwrap_or(default.resamples),
        seed: matches.get_one("seed").copied().unwrap_or(default.seed),
        cluster_field: matches
            .try_get_one::<String>("cluster-field")
            .ok()
            .flatten()
            .cloned(),
        interval: kind.unwrap_or(default.interval),
    })
}

/// Takes over the options of a run. Without any of them, nothing is resampled.
pub(crate) fn apply(matches: &ArgMatches, run: &mut Run) -> Result<(), Failure> {
    if SWITCHES.iter().any(|name| is_given(matches, name)) {
        run.statistics = Some(statistics(matches)?);
    } else if matches.get_one::<PathBuf>("replicates").is_some() {
        let problem = "--replicates needs statistics: expected --confidence or --resamples as well";
        return Err(Failure::Usage(problem.to_owned()));
    }
    run.slices = slices(matches)?;
    run.shown = shown(matches);
    Ok(())
}

/// The slices that the options describe.
pub(crate) fn slices(matches: &ArgMatches) -> Result<Vec<Slice>, Failure> {
    let mut slices: Vec<Slice> = Vec::new();
    let mut add = |option: &str, slice: Slice| {
        if slices.iter().any(|other| other.name == slice.name) {
            let problem = format!(
                "--{option} {}: there is a slice of this name already",
                slice.name
            );
            return Err(Failure::Usage(problem));
        }
        slices.push(slice);
        Ok(())
    };
    for name in matches
        .get_many::<String>("slice-field")
        .unwrap_or_default()
    {
        let slice = Slice {
            name: name.clone(),
            bins: None,
            values: None,
            rest: None,
        };
        add("slice-field", slice)?;
    }
    for path in matches.get_many::<PathBuf>("slices").unwrap_or_default() {
        let name = path
            .file_stem()
            .map(|name| name.to_string_lossy().into_owned());
        let slice = Slice {
            name: name.unwrap_or_default(),
            bins: None,
            values: Some(Arc::new(read_values(path)?)),
            rest: None,
        };
        add("slices", slice)?;
    }
    for given in matches.get_many::<String>("slice-bins").unwrap_or_default() {
        let (name, bins) = read_bins(given).ok_or_else(|| {
            Failure::Usage(format!(
                "--slice-bins {given:?}: expected a field and rising numbers, for example length:0,10,20"
            ))
        })?;
        match slices.iter_mut().find(|slice| slice.name == name) {
            Some(slice) => slice.bins = Some(bins),
            None => slices.push(Slice {
                name: name.to_owned(),
                bins: Some(bins),
                values: None,
                rest: None,
            }),
        }
    }
    Ok(slices)
}

fn read_bins(given: &str) -> Option<(&str, Vec<f64>)> {
    let (name, bins) = given.rsplit_once(':')?;
    let bins = bins
        .split(',')
        .map(|bin| bin.trim().parse().ok().filter(|bin: &f64| bin.is_finite()));
    let bins: Vec<f64> = bins.collect::<Option<_>>()?;
    (!name.is_empty() && bins.is_sorted_by(|a, b| a < b)).then_some((name, bins))
}

/// Reads lines of an id, white space and a value, or JSON Lines of an `id` and a `value`, or a JSON object of
/// values by id.
fn read_values(path: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let failed = |problem: String| Failure::Input(format!("{}: {problem}", path.display()));
    let text =
        std::fs::read_to_string(path).map_err(|error| failed(format!("cannot read: {error}")))?;
    let text = text.trim_start_matches('\u{feff}');
    let as_text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(_) | serde_json::Value::Bool(_) => Some(value.to_string()),
        _ => None,
    };
    if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        let map: BTreeMap<String, serde_json::Value> =
            serde_json::from_str(text).map_err(|error| failed(error.to_string()))?;
        let value = |(id, value): (String, serde_json::Value)| {
            let text = as_text(&value);
            let text = text.ok_or_else(|| {
                failed(format!(
                    "id {id:?}: expected a string, a number or a Boolean"
                ))
            });
            Ok((id, text?))
        };
        return map.into_iter().map(value).collect();
    }
    let mut values = BTreeMap::new();
    for (number, line) in (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let refused =
            |problem: &str| Failure::Input(format!("{}:{number}: {problem}", path.display()));
        let line = line.trim();
        let (id, value) = if line.starts_with('{') {
            let object: serde_json::Value =
                serde_json::from_str(line).map_err(|error| refused(&error.to_string()))?;
            let field = |name| as_text(&object[name]);
            field("id")
                .zip(field("value"))
                .ok_or_else(|| refused("expected an id and a value"))?
        } else {
            let parts = line.split_once(|character: char| character.is_ascii_whitespace());
            let (id, value) =
                parts.ok_or_else(|| refused("expected an id, white space and a value"))?;
            (id.to_owned(), value.trim_start().to_owned())
        };
        if let Some(other) = values.insert(id, value) {
            return Err(refused(&format!("this id has the value {other:?} already")));
        }
    }
    Ok(values)
}

/// The replicates of outcomes, one JSON object per line.
pub(crate) fn replicates(outcomes: &[Outcome]) -> Result<Vec<u8>, Failure> {
    let mut text = String::new();
    for outcome in outcomes {
        let of = (outcomes.len() > 1).then_some(("metric", outcome.metric()));
        for (number, scores) in (1..).zip(outcome.replicates()?.unwrap_or_default()) {
            text.push_str(&replicate_line(number, of, scores));
        }
    }
    Ok(text.into_bytes())
}

/// A replicate as a line of JSON, and what it is of where there are several.
pub(crate) fn replicate_line(
    number: u64,
    of: Option<(&str, &str)>,
    scores: Vec<(String, Option<f64>)>,
) -> String {
    let mut line = serde_json::Map::new();
    line.insert("replicate".to_owned(), json!(number));
    line.extend(of.map(|(name, of)| (name.to_owned(), json!(of))));
    let scores: serde_json::Map<_, _> = scores
        .into_iter()
        .map(|(name, score)| (name, json!(score)))
        .collect();
    line.insert("scores".to_owned(), scores.into());
    serde_json::Value::Object(line).to_string() + "\n"
}
