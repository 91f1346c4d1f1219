//! Ranked documents: the measures of trec_eval, its files, BEIR's judgments, and nDCG of scikit-learn.

use metric_rank::{ScorePrecision, Topic, TrecMeasure, rank};
use metric_record::{JoinPolicy, Missing};
use metric_registry::{Options, Report, find};
use metric_run::{Data, Format, Nobody, Run, Source};
use serde_json::{Map, Value, json};

use crate::rows::{self, same, text, within, within_scaled};

/// The scores by the names of trec_eval.
const NAMES: &[(&str, &str)] = &[
    ("map", "map"),
    ("recip_rank", "mrr"),
    ("Rprec", "r_precision"),
    ("bpref", "bpref"),
    ("infAP", "inf_ap"),
    ("ndcg", "ndcg"),
    ("set_P", "set_precision"),
    ("set_recall", "set_recall"),
    ("set_F", "set_f1"),
];

/// The starts of the names of scores with a cutoff.
const CUT_NAMES: &[(&str, &str)] = &[
    ("map_cut_", "map@"),
    ("ndcg_cut_", "ndcg@"),
    ("P_", "precision@"),
    ("recall_", "recall@"),
    ("success_", "success@"),
];

/// The counts by the names of trec_eval.
const COUNTS: &[(&str, &str)] = &[
    ("num_ret", "retrieved"),
    ("num_rel", "relevant"),
    ("num_rel_ret", "relevant_retrieved"),
];

/// Kinds of files that trec_eval reads in a way that is refused here: words are 0, and fractions are cut.
const REFUSED: &[&str] = &[
    "score that is no number",
    "score nan",
    "relevance 1.9",
    "relevance that is no number",
];

/// Kinds of files that some version of trec_eval refuses, and that are read here, with a warning for an empty line.
const READ: &[&str] = &["empty line in the qrels", "comment in the qrels"];

fn ours(name: &str) -> Option<String> {
    let plain = NAMES.iter().find(|(theirs, _)| *theirs == name);
    let cut = || {
        let mut names = CUT_NAMES.iter();
        names.find_map(|(start, ours)| Some(format!("{ours}{}", name.strip_prefix(start)?)))
    };
    plain.map(|(_, ours)| (*ours).to_owned()).or_else(cut)
}

#[test]
fn measures_of_pytrec_eval() {
    let rows = rows::rows("ranking/topics.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let level = row["relevance_level"].as_i64().ok_or("no level")?;
        let Some(topics) = row["value"].as_object() else {
            return refused(row, level);
        };
        for (id, expected) in topics {
            let topic = topic(row, id, level)?;
            for (key, expected) in expected.as_object().ok_or("no measures")? {
                let found = measure(&topic, key)?;
                near(&format!("{id} {key}"), Some(found), number(expected))?;
            }
            let judged_only = row["judged_docs_only"] == true;
            let options =
                json!({"relevance-level": level, "judged-only": judged_only, "k": [1, 3, 5, 10]});
            let record = json!({"reference": row["qrels"][id], "prediction": row["run"][id]});
            let report = scored(&json!({"options": options, "records": [record]}))?;
            compared(&report, expected, 1e-12)?;
        }
        Ok(())
    });
}

/// Values that pytrec_eval refuses are refused.
fn refused(row: &Value, level: i64) -> Result<(), String> {
    let topics = row["qrels"].as_object().ok_or("no judgments")?.iter();
    let records =
        topics.map(|(id, reference)| json!({"reference": reference, "prediction": row["run"][id]}));
    let records: Vec<Value> = records.collect();
    let report = scored(&json!({"options": {"relevance-level": level}, "records": records}));
    same("is refused", report.is_err(), true)
}

fn scored(row: &Value) -> Result<Report, String> {
    crate::metrics::scored("retrieval", row)
}

/// The topic of a row as the leaf crate takes it.
fn topic(row: &Value, id: &str, level: i64) -> Result<Topic, String> {
    let judgments = row["qrels"][id].as_object().ok_or("no judgments")?;
    let scores = row["run"][id].as_object().ok_or("no scores")?;
    let mut run = Vec::new();
    for (name, score) in scores {
        run.push((name.as_str(), score.as_f64().ok_or("no score")?));
    }
    rank(&mut run, ScorePrecision::Single);
    let relevance = |(name, _): &(&str, f64)| judgments.get(*name).and_then(Value::as_i64);
    let judged_only = row["judged_docs_only"] == true;
    let ranked = run
        .iter()
        .map(relevance)
        .filter(|it| !judged_only || it.is_some_and(|it| it >= 0));
    let judged = judgments.values().filter_map(Value::as_i64).collect();
    Ok(Topic::new(ranked.collect(), judged, level))
}

/// The value of a key such as `P_5`.
fn measure(topic: &Topic, key: &str) -> Result<f64, String> {
    let (name, cutoffs) = match TrecMeasure::named(key) {
        Some(_) => (key, None),
        None => {
            let (name, cutoff) = key.rsplit_once('_').ok_or("no cutoff")?;
            (name, Some([cutoff.parse().map_err(|_| "no cutoff")?]))
        }
    };
    let measure = TrecMeasure::named(name).ok_or_else(|| format!("no measure {name}"))?;
    let values = measure.values(topic, cutoffs.as_ref().map(<[f64; 1]>::as_slice));
    let [(found, value)] = &values[..] else {
        return Err(format!("{name} has {} values", values.len()));
    };
    same("key", found.as_str(), key)?;
    Ok(*value)
}

fn number(value: &Value) -> Option<f64> {
    let read = || value.as_str()?.trim_start_matches('-').parse().ok();
    value.as_f64().or_else(read)
}

fn near(name: &str, ours: Option<f64>, expected: Option<f64>) -> Result<(), String> {
    match (ours, expected) {
        (Some(ours), Some(expected)) if ours.is_nan() && expected.is_nan() => Ok(()),
        (Some(ours), Some(expected))
            if within_scaled(
                ours,
                expected,
                1e-12,
                (expected.max(-expected).max(0.1), "the score, at least 0.1"),
            ) =>
        {
            Ok(())
        }
        _ => same(name, ours, expected),
    }
}

/// Compares a report with the measures of trec_eval.
fn compared(report: &Report, expected: &Value, tolerance: f64) -> Result<(), String> {
    for (key, expected) in expected.as_object().ok_or("no measures")? {
        let value = number(expected).ok_or("no number")?;
        if let Some((_, count)) = COUNTS.iter().find(|(theirs, _)| theirs == key) {
            let found = report.counts.iter().find(|(name, _)| name == count);
            same(
                key,
                found.and_then(|(_, count)| count.as_f64()),
                Some(value),
            )?;
        }
        let Some(name) = ours(key) else {
            continue;
        };
        match report.score(&name) {
            Some(score) if within(score, value, tolerance) => {}
            score => same(key, score, Some(value))?,
        }
    }
    Ok(())
}

/// Scores texts of files of these formats.
fn files(
    options: Options,
    missing: Missing,
    references: (&str, Format),
    predictions: (&str, Format),
) -> Result<Report, String> {
    let entry = find("retrieval").ok_or("no metric")?;
    let mut run = Run::new(entry, &options).map_err(|error| error.to_string())?;
    run.join = JoinPolicy {
        missing,
        ignore_extra: true,
        ..JoinPolicy::default()
    };
    let source = |name: &str, (text, format): (&str, Format)| {
        Source::memory(name, text.as_bytes().to_vec(), format)
    };
    let data = Data::Sources {
        references: source("references", references),
        predictions: source("predictions", predictions),
    };
    let outcomes = run
        .score_observed(data, &Nobody)
        .map_err(|error| error.to_string())?;
    Ok(outcomes[0].report())
}

#[test]
fn files_of_trec_eval() {
    let rows = rows::rows("ranking/trec_files.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        for (program, profile) in [
            ("trec_eval 9.0.8", "trec-eval-9"),
            ("trec_eval 10.0", "trec-eval-10"),
        ] {
            of_trec_eval(row, &row[program], profile)
                .map_err(|error| format!("{profile}: {error}"))?;
        }
        Ok(())
    });
}

fn of_trec_eval(row: &Value, expected: &Value, profile: &str) -> Result<(), String> {
    let flags = rows::texts(&row["flags"])?;
    let mut options = Options::default()
        .set("profile", profile)
        .set("k", "1,3,5,10,15,20,30,100,200,500,1000");
    let mut missing = Missing::Skip;
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().map(String::as_str).unwrap_or_default();
        options = match flag.as_str() {
            "-J" => options.set("judged-only", ""),
            "-M" => options.set("max-documents", value()),
            "-l" => options.set("relevance-level", value()),
            _ => {
                missing = Missing::Empty;
                options
            }
        };
    }
    let qrels = (text(row, "qrels")?, Format::TrecQrels);
    let run = (text(row, "run")?, Format::TrecRun);
    let report = files(options, missing, qrels, run);
    let kind = text(row, "kind")?;
    let is_error = !expected["exit"].is_null();
    // Version 10 refuses topics without results, and scores 0 in all topics; here the join decides for both.
    let is_no_topic = kind == "no topic in common";
    let is_by_join = kind == "a judged topic without results" && is_error;
    if REFUSED.contains(&kind) || is_no_topic || (is_error && !READ.contains(&kind) && !is_by_join)
    {
        return same("is refused", report.is_err(), true);
    }
    let report = report?;
    if is_error {
        return Ok(());
    }
    let mut expected = expected["all"].clone();
    if missing == Missing::Empty {
        // All relevant documents of all topics, whatever the level.
        expected
            .as_object_mut()
            .ok_or("no measures")?
            .remove("num_rel");
    }
    compared(&report, &expected, 6e-5)
}

#[test]
fn judgments_of_beir() {
    let rows = rows::rows("ranking/beir_files.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let qrels = (text(row, "qrels")?, Format::BeirQrels);
        let run = (text(row, "run")?, Format::Json);
        let options = Options::default().set("k", "1,5");
        let report = files(options, Missing::Skip, qrels, run);
        let kind = text(row, "kind")?;
        if kind == "empty line" {
            return report.map(|_| ());
        }
        let Some(expected) = row["value"]["scores"]
            .as_object()
            .filter(|_| row["note"].is_null())
        else {
            // BEIR loses judgments without a word where the row has a note, except for a fourth column.
            let is_read = kind == "four columns";
            return same("is refused", report.is_err(), !is_read);
        };
        by_names_of_beir(&report?, expected)
    });
}

fn by_names_of_beir(report: &Report, expected: &Map<String, Value>) -> Result<(), String> {
    for (name, expected) in expected {
        let (measure, k) = name.split_once('@').ok_or("no cutoff")?;
        let measure = match measure {
            "P" => "precision".to_owned(),
            other => other.to_lowercase(),
        };
        let expected = expected.as_f64().ok_or("no score")?;
        match report.score(&format!("{measure}@{k}")) {
            Some(score) if within(score, expected, 6e-6) => {}
            score => same(name, score, Some(expected))?,
        }
    }
    Ok(())
}

#[test]
fn means_of_other_programs() {
    /// The scores by the names of ir_measures and ranx.
    const NAMES: &[(&str, &str)] = &[
        ("AP", "map"),
        ("AP@5", "map@5"),
        ("Bpref", "bpref"),
        ("P@5", "precision@5"),
        ("R@5", "recall@5"),
        ("RR", "mrr"),
        ("Rprec", "r_precision"),
        ("Success@3", "success@3"),
        ("nDCG", "ndcg"),
        ("nDCG@5", "ndcg@5"),
        ("ndcg", "ndcg"),
        ("ndcg@5", "ndcg@5"),
        ("map", "map"),
        ("map@5", "map@5"),
        ("mrr", "mrr"),
        ("precision@5", "precision@5"),
        ("recall@5", "recall@5"),
        ("r-precision", "r_precision"),
        ("hit_rate@3", "success@3"),
    ];
    let rows = rows::rows("ranking/averages.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let (qrels, run) = (row["qrels"].to_string(), row["run"].to_string());
        let report = |options: Options, missing| {
            let options = options.set("k", "1,3,5,10");
            files(
                options,
                missing,
                (&qrels, Format::Json),
                (&run, Format::Json),
            )
        };
        for (program, result) in row.as_object().ok_or("no row")? {
            let Some(expected) = result["value"].as_object() else {
                continue;
            };
            let is_beir = program.starts_with("beir");
            if program.contains("custom") {
                continue;
            }
            if is_beir {
                let options = if program.contains("ignore_identical_ids=False") {
                    Options::default()
                } else {
                    Options::default().set("skip-own-id", "")
                };
                by_names_of_beir(&report(options, Missing::Skip)?, expected)?;
                continue;
            }
            let plain = report(Options::default(), Missing::Empty)?;
            let burges = report(
                Options::default().set("gains", "exponential"),
                Missing::Empty,
            )?;
            let level = report(
                Options::default().set("relevance-level", "2"),
                Missing::Empty,
            )?;
            for (name, expected) in expected {
                let (report, score) = match name.as_str() {
                    "ndcg_burges@5" => (&burges, "ndcg@5"),
                    "AP(rel=2)" => (&level, "map"),
                    // Not offered: RR@k, F1@k, rank-biased precision.
                    name => match NAMES.iter().find(|(theirs, _)| *theirs == name) {
                        Some((_, ours)) => (&plain, *ours),
                        None => continue,
                    },
                };
                if let Some(expected) = expected.as_f64() {
                    near(
                        &format!("{program} {name}"),
                        report.score(score),
                        Some(expected),
                    )?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn ndcg_of_scikit_learn() {
    let rows = rows::rows("ranking/ndcg.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        // Topics have no weights here.
        if row["kind"] == "weights" {
            return Ok(());
        }
        let object = |values: &Value| {
            let values = values.as_array().into_iter().flatten().enumerate();
            let values = values.map(|(index, value)| (format!("d{index}"), value.clone()));
            Value::Object(values.collect())
        };
        let topics = row["relevance"]
            .as_array()
            .ok_or("no topics")?
            .iter()
            .enumerate();
        let records = topics.map(|(index, relevance)| {
            json!({"reference": object(relevance), "prediction": object(&row["scores"][index])})
        });
        let records: Vec<Value> = records.collect();
        for result in row["results"].as_array().ok_or("no results")? {
            let options = &result["options"];
            let is_compared = result["metric"] == "ndcg" && options["ignore_ties"] != true;
            if !is_compared || result["unspecified"] == true {
                continue;
            }
            let k = options["k"].as_u64();
            let options = json!({"profile": "sklearn", "k": [k.unwrap_or(10)]});
            let report = scored(&json!({"options": options, "records": records}));
            if result["error"].is_string() {
                same("is refused", report.is_err(), true)?;
                continue;
            }
            let name = k.map_or("ndcg".to_owned(), |k| format!("ndcg@{k}"));
            near(&name, report?.score(&name), result["value"].as_f64())?;
        }
        Ok(())
    });
}
