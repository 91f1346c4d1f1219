//! Statistics: the generator, replicates, intervals and paired tests.

use std::collections::BTreeMap;

use metric_core::{Counts, Mean, Merge, Metric, ratio};
use metric_registry::stats::Test;
use metric_registry::{Options, Slice, find};
use metric_run::{Compare, Difference, Format, GroupIntervals, Run, Source, Statistics};
use metric_stats::{
    Estimate, IntervalKind, Method, Pair, Randomization, Swaps, THRESHOLDS, Weights,
    clopper_pearson, estimate, expanded_tail, fnv1a64, holm, mcnemar, proportion, rank, replicates,
    splitmix64, trials, wilson,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::rows::{check, distance, rows, within, within_scaled};

/// The tolerance of the specification, relative to the value.
const RELATIVE: f64 = 1e-9;

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[track_caller]
fn integer(value: &Value) -> u64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    value.as_u64().or(text).expect("an integer")
}

#[track_caller]
fn hex(value: &Value) -> u64 {
    let text = value.as_str().expect("a word");
    u64::from_str_radix(text, 16).expect("a word")
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: {found:?}: expected {expected:?}"))
    }
}

/// Compares at the relative tolerance, and 0 and 1 exactly.
fn near(what: &str, found: f64, expected: f64) -> Result<(), String> {
    let is_near = if expected == 0.0 {
        found == 0.0
    } else {
        within_scaled(
            found,
            expected,
            RELATIVE,
            (distance(expected, 0.0), "value"),
        )
    };
    if is_near {
        Ok(())
    } else {
        Err(format!("{what}: {found}: expected {expected}"))
    }
}

fn ends(value: &Value) -> Option<[f64; 2]> {
    let ends = value.as_array()?;
    Some([number(&ends[0]), number(&ends[1])])
}

fn name(row: &Value) -> String {
    for field in ["id", "kind"] {
        if let Some(name) = row[field].as_str() {
            let of = row["key"]
                .as_str()
                .map(|key| format!(" {} {key}", row["seed"]));
            return format!("{name}{}", of.unwrap_or_default());
        }
    }
    row.to_string()
}

/// The name of a row that has no id: what it is about.
fn whole_name(row: &Value) -> String {
    let mut row = row.clone();
    if let Some(row) = row.as_object_mut() {
        row.retain(|_, value| !value.is_array() || value.as_array().is_some_and(|it| it.len() < 9));
    }
    row.to_string().chars().take(160).collect()
}

#[test]
fn random_numbers() {
    check(
        &rows("statistics/generator.jsonl"),
        whole_name,
        &[],
        |row| {
            match row["kind"].as_str() {
                Some("poisson_thresholds") => {
                    let expected: Vec<u64> = row["hex"]
                        .as_array()
                        .expect("words")
                        .iter()
                        .map(hex)
                        .collect();
                    equal("thresholds", THRESHOLDS.to_vec(), expected)
                }
                Some("splitmix64") => {
                    let words = row["words"].as_array().expect("words");
                    for (index, expected) in (1..).zip(words) {
                        equal(
                            "word",
                            splitmix64(integer(&row["seed"]), index),
                            integer(expected),
                        )?;
                    }
                    Ok(())
                }
                Some("fnv1a64") => {
                    let key = row["key"].as_str().expect("a key");
                    equal("hash", fnv1a64(key.as_bytes()), hex(&row["hex"]))
                }
                Some("stream") => {
                    let (seed, key) = (integer(&row["seed"]), row["key"].as_str().expect("a key"));
                    equal("hash", fnv1a64(key.as_bytes()), hex(&row["fnv1a64"]))?;
                    // The words behind the weights.
                    for (index, expected) in
                        (1..).zip(row["bootstrap_words"].as_array().expect("words"))
                    {
                        let found = splitmix64(hex(&row["bootstrap_state"]), index);
                        equal(
                            "word",
                            format!("{found:016x}").as_str(),
                            expected.as_str().expect("a word"),
                        )?;
                    }
                    let weights = Weights::new(seed, key);
                    let expected = row["weights"].as_array().expect("weights");
                    for (replicate, expected) in (1..).zip(expected) {
                        equal("weight", weights.weight(replicate), integer(expected))?;
                    }
                    let swaps = Swaps::new(seed, key);
                    let expected = row["swapped"].as_str().expect("swaps");
                    for (trial, expected) in (1..).zip(expected.chars()) {
                        equal("swap", swaps.is_swapped(trial), expected == '1')?;
                    }
                    Ok(())
                }
                other => Err(format!("unknown kind {other:?}")),
            }
        },
    );
}

#[test]
fn intervals_and_tests_of_counts() {
    check(&rows("statistics/analytic.jsonl"), whole_name, &[], |row| {
        let confidence = row["confidence"].as_f64().unwrap_or(0.95);
        match row["kind"].as_str() {
            Some("proportion") => {
                let (correct, total) = (integer(&row["correct"]), integer(&row["total"]));
                let found = [
                    wilson(correct, total, confidence),
                    clopper_pearson(correct, total, confidence),
                ];
                for (name, found) in ["wilson", "clopper_pearson"].into_iter().zip(found) {
                    let (found, expected) = found.zip(ends(&row[name])).expect("an interval");
                    near(name, found[0], expected[0])?;
                    near(name, found[1], expected[1])?;
                }
                Ok(())
            }
            Some("mcnemar") => {
                let found = mcnemar(integer(&row["wins"]), integer(&row["losses"]));
                near("p", found, number(&row["p"]))
            }
            Some("holm") => {
                let list = |field: &str| -> Vec<Option<f64>> {
                    let list = row[field].as_array().expect("a list");
                    list.iter().map(Value::as_f64).collect()
                };
                let found = holm(&list("p"));
                for (found, expected) in found.into_iter().zip(list("p_holm")) {
                    equal("defined", found.is_some(), expected.is_some())?;
                    near("p", found.unwrap_or_default(), expected.unwrap_or_default())?;
                }
                Ok(())
            }
            Some("tail") => {
                let tail = expanded_tail(confidence, integer(&row["clusters"])).expect("a tail");
                // Only the ranks depend on it. The tail of two clusters is nearly 0.
                let expected = number(&row["tail"]);
                if !(within_scaled(tail, expected, RELATIVE, (expected, "value"))
                    || within(tail, expected, 1e-15))
                {
                    return Err(format!("tail {tail}: expected {expected}"));
                }
                for (replicates, expected) in row["rank"].as_object().expect("ranks") {
                    let found = rank(tail, replicates.parse().expect("a number"));
                    equal("rank", found, integer(expected))?;
                }
                Ok(())
            }
            Some("order_statistics") => {
                let values = row["replicates"].as_array().expect("replicates");
                let values: Vec<_> = values.iter().map(Value::as_f64).collect();
                let clusters = integer(&row["clusters"]);
                for (field, method) in [
                    ("percentile", Method::Percentile),
                    ("expanded", Method::Expanded),
                ] {
                    let found = estimate(Some(0.0), &values, clusters, confidence, method);
                    equal(field, found.ends, ends(&row[field]))?;
                    near(
                        "error",
                        found.standard_error.unwrap_or_default(),
                        number(&row["standard_error"]),
                    )?;
                }
                Ok(())
            }
            other => Err(format!("unknown kind {other:?}")),
        }
    });
}

/// The counts that the golden rows have, by kind of score.
#[derive(Clone, Debug, Default)]
struct State {
    counts: [u64; 4],
    mean: Mean,
}

impl Merge for State {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        for (ours, theirs) in self.counts.iter_mut().zip(other.counts) {
            *ours += theirs * times;
        }
        self.mean.merge_times(&other.mean, times);
    }
}

/// A kind of score of the golden rows.
struct Kind(String);

impl Metric for Kind {
    type Prediction = Value;
    type Reference = ();
    type State = State;
    type Score = Option<f64>;

    fn update(&self, state: &mut State, counts: &Value, (): &()) {
        let counts = counts.as_array().expect("counts");
        if self.0 == "mean" {
            state.mean.add(number(&counts[0]));
            return;
        }
        for (ours, count) in state.counts.iter_mut().zip(counts) {
            *ours += integer(count);
        }
    }

    fn compute(&self, State { counts, mean }: &State) -> Option<f64> {
        let [a, b, c, d] = *counts;
        match self.0.as_str() {
            "accuracy" | "syntax_match" => ratio(a, b),
            "precision" => Counts::new(a, b, c).precision(),
            "recall" => Counts::new(a, b, c).recall(),
            "f1" => Counts::new(a, b, c).f1(),
            "wer" => ratio(b + c + d, a + b + c),
            "mean" => mean.value(),
            _ => None,
        }
    }
}

/// The clusters of some units: states by key.
fn clusters(kind: &Kind, units: &Value) -> BTreeMap<String, State> {
    let mut clusters: BTreeMap<String, State> = BTreeMap::new();
    for unit in units.as_array().expect("units") {
        let key = unit.get("cluster").unwrap_or(&unit["id"]);
        let cluster = clusters
            .entry(key.as_str().expect("a key").to_owned())
            .or_default();
        cluster.merge(kind.measure(&unit["counts"], &()));
    }
    clusters
}

fn pool<'s>(states: impl Iterator<Item = &'s State>) -> State {
    let mut pool = State::default();
    states.for_each(|state| pool.merge_times(state, 1));
    pool
}

fn sha256(values: &[Option<f64>]) -> String {
    let mut digest = Sha256::new();
    for value in values {
        digest.update(value.map_or([0xff; 8], f64::to_be_bytes));
    }
    digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Compares values by their digest, and those that the row lists.
fn same_values(
    what: &str,
    found: &[Option<f64>],
    listed: &Value,
    digest: &Value,
) -> Result<(), String> {
    for (index, (found, expected)) in found
        .iter()
        .zip(listed.as_array().into_iter().flatten())
        .enumerate()
    {
        equal(&format!("{what} {}", index + 1), *found, expected.as_f64())?;
    }
    equal(what, Some(sha256(found).as_str()), digest.as_str())
}

/// Whether the score is a proportion, which has intervals and a test of its own.
fn is_proportion(kind: &Kind, units: &Value) -> bool {
    let mut units = units.as_array().expect("units").iter();
    kind.0 == "accuracy" && units.all(|unit| unit.get("cluster").is_none())
}

fn same_estimate(row: &Value, found: &Estimate) -> Result<(), String> {
    let method = found.method.map(Method::name);
    equal("method", method, row["method"].as_str())?;
    let is_analytic = found.method.is_some_and(Method::is_analytic);
    match found.ends.zip(ends(&row["interval"])) {
        Some((found, expected)) if is_analytic => {
            near("low", found[0], expected[0])?;
            near("high", found[1], expected[1])?;
        }
        _ => equal("interval", found.ends, ends(&row["interval"]))?,
    }
    equal(
        "undefined",
        Some(found.undefined),
        row["undefined"].as_u64(),
    )?;
    equal(
        "error",
        found.standard_error.is_some(),
        row["standard_error"].is_number(),
    )?;
    let (found, expected) = (found.standard_error, row["standard_error"].as_f64());
    near(
        "error",
        found.unwrap_or_default(),
        expected.unwrap_or_default(),
    )
}

#[test]
fn replicates_and_intervals() {
    check(&rows("statistics/intervals.jsonl"), name, &[], |row| {
        let kind = Kind(row["score_kind"].as_str().expect("a kind").to_owned());
        let clusters = clusters(&kind, &row["units"]);
        let total = pool(clusters.values());
        let score = kind.compute(&total);
        equal("score", score, row["score"].as_f64())?;
        equal("clusters", clusters.len() as u64, integer(&row["clusters"]))?;
        let (count, confidence) = (clusters.len() as u64, number(&row["confidence"]));
        let clusters: Vec<_> = clusters.into_iter().collect();
        let (seed, resamples) = (integer(&row["seed"]), integer(&row["resamples"]));
        let found = replicates(&kind, &clusters, seed, resamples);
        let found: Vec<_> = found.map(Option::flatten).collect();
        same_values(
            "replicate",
            &found,
            &row["replicates"],
            &row["replicates_sha256"],
        )?;

        let of = |method| estimate(score, &found, count, confidence, method);
        for (field, method) in [
            ("expanded", Method::Expanded),
            ("percentile", Method::Percentile),
        ] {
            equal(field, of(method).ends, ends(&row[field]))?;
        }
        let auto = if is_proportion(&kind, &row["units"]) {
            let [correct, total, ..] = total.counts;
            proportion(
                correct,
                total,
                confidence,
                IntervalKind::Auto.of_proportions(),
            )
        } else {
            of(IntervalKind::Auto.of_replicates())
        };
        same_estimate(row, &auto)
    });
}

#[test]
#[expect(clippy::too_many_lines, reason = "all fields of a row, in their order")]
fn paired_tests() {
    check(&rows("statistics/paired.jsonl"), name, &[], |row| {
        let kind = Kind(row["score_kind"].as_str().expect("a kind").to_owned());
        let [baseline, system] = ["baseline", "system"].map(|side| clusters(&kind, &row[side]));
        let (seed, resamples) = (integer(&row["seed"]), integer(&row["resamples"]));
        let confidence = number(&row["confidence"]);
        let pairs = baseline
            .iter()
            .zip(&system)
            .map(|((key, baseline), (_, system))| Pair {
                key,
                baseline: baseline.clone(),
                system: system.clone(),
            });
        let pairs: Vec<_> = pairs.collect();
        let test = Randomization::new(&kind, &pairs, seed, integer(&row["permutations"]), |it| *it);
        equal("delta", test.delta, row["delta"].as_f64())?;
        let expected = &row["randomization"];
        equal("randomization", test.p, expected["p"].as_f64())?;
        equal("extreme", Some(test.extreme), expected["extreme"].as_u64())?;
        equal(
            "trials",
            Some(test.trials.count()),
            expected["trials"].as_u64(),
        )?;
        let differences = trials(&kind, &pairs, seed, test.trials).map(|(a, b)| Some(b? - a?));
        let differences: Vec<_> = differences.collect();
        let (listed, digest) = (&expected["differences"], &expected["differences_sha256"]);
        same_values("difference", &differences, listed, digest)?;

        let of = |clusters: &BTreeMap<String, State>| -> Vec<Option<f64>> {
            let clusters: Vec<_> = clusters
                .iter()
                .map(|(key, state)| (key, state.clone()))
                .collect();
            let found = replicates(&kind, &clusters, seed, resamples);
            found.map(Option::flatten).collect()
        };
        let deltas = of(&baseline)
            .into_iter()
            .zip(of(&system))
            .map(|(a, b)| Some(b? - a?));
        let deltas: Vec<_> = deltas.collect();
        same_values(
            "replicate",
            &deltas,
            &row["delta_replicates"],
            &row["delta_replicates_sha256"],
        )?;
        let found = estimate(
            test.delta,
            &deltas,
            pairs.len() as u64,
            confidence,
            Method::Expanded,
        );
        equal("interval", found.ends, ends(&row["interval"]))?;

        // Wins, ties and losses of examples.
        let score = |unit: &Value| kind.compute(&kind.measure(&unit["counts"], &()));
        let units = |side: &str| row[side].as_array().expect("units").clone();
        let lower = row["lower_is_better"].as_bool() == Some(true);
        let (mut wins, mut ties, mut losses, mut undefined) = (0, 0, 0, 0);
        for (a, b) in units("baseline").iter().zip(&units("system")) {
            match score(a).zip(score(b)) {
                None => undefined += 1,
                Some((a, b)) if within(a, b, metric_stats::TOLERANCE) => ties += 1,
                Some((a, b)) if (b > a) != lower => wins += 1,
                Some(_) => losses += 1,
            }
        }
        let found = [wins, ties, losses, undefined];
        let expected =
            ["wins", "ties", "losses", "undefined_examples"].map(|field| integer(&row[field]));
        equal("wins, ties, losses", found, expected)?;
        let proportions = is_proportion(&kind, &row["system"]);
        let (p, name) = if proportions {
            (mcnemar(wins, losses), "mcnemar-exact")
        } else {
            (test.p.unwrap_or_default(), test.trials.test().name())
        };
        equal("test", Some(name), row["test"].as_str())?;
        if proportions {
            near("p", p, number(&row["p"]))
        } else {
            equal("p", p, number(&row["p"]))
        }
    });
}

/// The text of some JSON values, one per line.
fn lines(values: &Value) -> String {
    let values = values.as_array().expect("a list").iter();
    values.map(|value| format!("{value}\n")).collect()
}

fn source(name: &str, text: String, format: Format) -> Source {
    Source::memory(name, text.into_bytes(), format)
}

/// The statistics that the options of a row describe.
fn statistics(options: &Value) -> Statistics {
    let field = |name: &str| options[name].as_str().map(str::to_owned);
    Statistics {
        confidence: number(&options["confidence"]),
        resamples: integer(&options["resamples"]),
        seed: integer(&options["seed"]),
        cluster_field: field("cluster-field").or_else(|| field("cluster_field")),
        ..Statistics::default()
    }
}

fn same_interval(found: &GroupIntervals, score: &str, expected: &Value) -> Result<(), String> {
    let estimate = found.intervals.iter().find(|(name, _)| name == score);
    let (_, estimate) = estimate.ok_or_else(|| format!("no interval of {score}"))?;
    let mut row = expected.clone();
    row["interval"] = if expected["low"].is_null() {
        Value::Null
    } else {
        serde_json::json!([expected["low"], expected["high"]])
    };
    equal("clusters", found.clusters, integer(&expected["clusters"]))?;
    same_estimate(&row, estimate)
}

#[test]
fn results_of_the_program() {
    check(&rows("statistics/program.jsonl"), name, &[], |row| {
        let entry = find(row["metric"].as_str().expect("a metric")).expect("a metric");
        let references = source(
            "references.jsonl",
            lines(&row["references"]),
            Format::JsonLines,
        );
        let predictions = row["predictions"].as_object().expect("predictions");
        for expected in row["runs"].as_array().expect("runs") {
            let score = expected["score"].as_str().expect("a score");
            let mut run = Run::new(entry, &Options::default()).expect("a run");
            run.statistics = Some(statistics(&expected["options"]));
            let slices = expected["groups_of_a"].as_object().expect("groups");
            let slice = |name: &String| Slice {
                name: name.clone(),
                bins: None,
                values: None,
                rest: None,
            };
            run.slices = slices.keys().map(slice).collect();
            let systems = predictions.iter().map(|(name, predictions)| {
                (
                    name.clone(),
                    source(name, lines(predictions), Format::JsonLines),
                )
            });
            let compare = Compare {
                permutations: integer(&expected["options"]["permutations"]),
                ..Compare::default()
            };
            let found = run.compare(&references, systems.collect(), &compare);
            let found = found.map_err(|error| error.to_string())?;
            for system in &found.systems {
                let intervals = system.outcome.intervals().expect("intervals");
                let expected_system = &expected["systems"][&system.name];
                let value = system.outcome.report().score(score);
                equal("score", value, expected_system["score"].as_f64())?;
                same_interval(&intervals.total, score, expected_system)?;
                if system.name != "a" {
                    continue;
                }
                for (kind, groups) in slices {
                    for (group, expected) in groups.as_object().expect("groups") {
                        let found = intervals.group(kind, group);
                        let found = found.ok_or_else(|| format!("no group {kind} {group}"))?;
                        same_interval(found, score, expected)?;
                    }
                }
            }
            for expected in expected["comparisons"].as_array().expect("comparisons") {
                let is_it = |it: &&Difference| {
                    it.score == score && Some(it.system.as_str()) == expected["system"].as_str()
                };
                let difference = found.differences.iter().find(is_it).expect("a comparison");
                equal("delta", difference.delta, expected["delta"].as_f64())?;
                let interval = [number(&expected["low"]), number(&expected["high"])];
                equal("interval", difference.estimate.ends, Some(interval))?;
                near(
                    "p",
                    difference.p.unwrap_or_default(),
                    number(&expected["p"]),
                )?;
                near(
                    "p (Holm)",
                    difference.p_holm.unwrap_or_default(),
                    number(&expected["p_holm"]),
                )?;
                equal(
                    "test",
                    difference.test.map(Test::name),
                    expected["test"].as_str(),
                )?;
                let counts =
                    ["wins", "ties", "losses", "undefined"].map(|field| integer(&expected[field]));
                equal("wins, ties, losses", difference.examples, Some(counts))?;
            }
        }
        Ok(())
    });
}

#[test]
fn replicates_of_images() {
    let all = rows("statistics/coco.jsonl");
    check(&all, name, &[], |row| {
        let data = match row["data_of"].as_str() {
            Some(other) => all.iter().find(|row| row["id"] == other).expect("the data"),
            None => row,
        };
        let mut run = Run::new(find("coco").expect("coco"), &Options::default()).expect("a run");
        run.statistics = Some(statistics(row));
        let files = ["references", "predictions"]
            .map(|side| source(side, data[side].to_string(), Format::Json));
        let [references, predictions] = files;
        let outcomes = run
            .score(references, predictions)
            .map_err(|error| error.to_string())?;
        let close = |what: &str, found: Option<f64>, expected: Option<f64>| match (found, expected)
        {
            (Some(found), Some(expected)) if within(found, expected, 1e-12) => Ok(()),
            (None, None) => Ok(()),
            _ => Err(format!("{what}: {found:?}: expected {expected:?}")),
        };
        let names = row["names"]
            .as_array()
            .expect("names")
            .iter()
            .filter_map(Value::as_str);
        let names: Vec<&str> = names.collect();
        for name in &names {
            close(
                name,
                outcomes[0].report().score(name),
                row["scores"][name].as_f64(),
            )?;
        }
        let replicates = outcomes[0]
            .replicates()
            .map_err(|error| error.to_string())?;
        let expected = row["replicates"].as_array().expect("replicates");
        for (index, (found, expected)) in replicates
            .unwrap_or_default()
            .iter()
            .zip(expected)
            .enumerate()
        {
            for (name, expected) in names.iter().zip(expected.as_array().expect("scores")) {
                let found = found
                    .iter()
                    .find(|(found, _)| found == name)
                    .expect("a score");
                close(
                    &format!("replicate {}: {name}", index + 1),
                    found.1,
                    expected.as_f64(),
                )?;
            }
        }
        let intervals = &outcomes[0].intervals().expect("intervals").total;
        equal("clusters", intervals.clusters, integer(&row["clusters"]))?;
        for (name, estimate) in &intervals.intervals {
            let expected = ends(&row["intervals"][name]);
            for end in 0..2 {
                let end_of = |ends: [f64; 2]| ends[end];
                close(name, estimate.ends.map(end_of), expected.map(end_of))?;
            }
        }
        Ok(())
    });
}
