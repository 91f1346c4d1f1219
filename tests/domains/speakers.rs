//! Transcripts of several speakers, and languages without spaces between words.

use std::collections::BTreeMap;
use std::path::Path;

use metric_core::Metric;
use metric_record::{Missing, Record, Value as Side};
use metric_registry::{Entry, Options, find};
use metric_run::{Data, ErrorKind, Run, SampleCollector, Source};
use metric_text::edit::EditProfile;
use metric_text::speakers::{Search, Segment, Timing, self_overlap};
use metric_text::squad::{Evidence, SquadProfile};
use metric_text::{EditRate, Squad, Unit};
use serde_json::{Map, Value, json};

use crate::rows::{self, Deviation, near, same, text, texts};

/// Compares units and counts of a metric with those of a row.
fn check_units(row: &Value, expected: &Value, metric: &EditRate) -> Result<(), String> {
    let (reference, prediction) = (text(row, "reference")?, text(row, "prediction")?);
    for (side, text) in [("reference", reference), ("prediction", prediction)] {
        let prepared = metric.prepare(text);
        let units = metric.unit.split(&prepared, metric.profile);
        let expected = texts(&expected[side])?;
        same(side, units, expected.iter().map(String::as_str).collect())?;
    }
    let edits = metric.measure(prediction, reference).edits;
    let counts = [
        ("length", edits.reference_length()),
        ("errors", edits.errors()),
        ("hits", edits.hits),
        ("substitutions", edits.substitutions),
        ("deletions", edits.deletions),
        ("insertions", edits.insertions),
    ];
    for (name, count) in counts {
        if let Some(expected) = expected[name].as_u64() {
            same(name, count, expected)?;
        }
    }
    Ok(())
}

#[test]
fn units_of_wenet() {
    let rows = rows::rows("speakers/units_wenet.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        for (name, unit) in [("wer", Unit::Word), ("cer", Unit::CodePoint)] {
            let metric = EditRate::default()
                .with_unit(unit)
                .with_profile(EditProfile::Wenet);
            check_units(row, &row[name], &metric)?;
            let name = format!("{name}-cs");
            check_units(row, &row[&name], &metric.with_case_sensitive(true))?;
        }
        Ok(())
    });
}

#[test]
fn units_of_mixed_text() {
    let rows = rows::rows("speakers/units_compute_wer.jsonl");
    let upper: Vec<Value> = rows
        .iter()
        .map(|row| {
            let mut row = row.clone();
            for side in ["reference", "prediction"] {
                row[side] = row[side].as_str().unwrap_or_default().to_uppercase().into();
            }
            row
        })
        .collect();
    rows::check(&upper, rows::id, MIXED, |row| {
        let metric = EditRate::default().with_unit(Unit::Mixed);
        check_units(row, &row["word"], &metric)
    });
}

const MIXED: &[Deviation] = &[
    (
        "golden-compute-wer-040",
        "々 is a unit of its own",
        "reference: ours [\"で\", \"す\", \"々\", \"々\"",
    ),
    (
        "golden-compute-wer-119",
        "々 is a unit of its own",
        "prediction: ours [\"น\", \"U\", \"々\", \"울\"",
    ),
    (
        "golden-compute-wer-124",
        "a mark belongs to the letter before it",
        "reference: ours [\"E\\u{301}A\"]",
    ),
];

#[test]
fn answers_in_several_languages() {
    let rows = rows::rows("speakers/qa_mlqa.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let language = text(row, "language")?.parse();
        let squad = Squad::default()
            .with_profile(SquadProfile::Mlqa)
            .with_language(language.map_err(|error| format!("{error}"))?);
        let answers = texts(&row["references"])?;
        let normalized = answers.iter().map(|answer| squad.normalize(answer));
        same(
            "references",
            normalized.collect(),
            texts(&row["normalized"]["references"])?,
        )?;
        let normalized = squad.normalize(text(row, "prediction")?);
        same(
            "prediction",
            &*normalized,
            text(&row["normalized"], "prediction")?,
        )?;
        check_answer(row, &squad, &answers)
    });
}

#[test]
fn answers_in_chinese() {
    let rows = rows::rows("speakers/qa_cmrc.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let squad = Squad::default().with_profile(SquadProfile::Cmrc);
        check_answer(row, &squad, &texts(&row["references"])?)
    });
}

fn check_answer(row: &Value, squad: &Squad, answers: &[String]) -> Result<(), String> {
    let (exact, f1) = squad.values(text(row, "prediction")?, answers);
    same(
        "exact match",
        Some(u64::from(exact)),
        row["exact_match"].as_u64(),
    )?;
    same("f1", Some(f1), row["f1"].as_f64())?;
    let scores = squad.compute(&Evidence::of_values((exact, f1)));
    near("score", scores.f1, &row["f1"])
}

fn segments(side: &Value) -> Result<Vec<Segment>, String> {
    let segment = |segment: &Value| {
        let untimed = Segment::new(text(segment, "speaker")?, text(segment, "words")?);
        let time = |name: &str| match &segment[name] {
            Value::Null => Ok(None),
            Value::String(time) => time.parse().map(Some),
            time => time.to_string().parse().map(Some),
        };
        let times = [time("start"), time("end")];
        match times {
            [Ok(Some(start)), Ok(Some(end))] => Ok(untimed.from_to(start, end)),
            [Ok(None), Ok(None)] => Ok(untimed),
            other => Err(format!("{other:?}")),
        }
    };
    side.as_array()
        .ok_or("no segments")?
        .iter()
        .map(segment)
        .collect()
}

/// MeetEval's names of timings.
const TIMINGS: &[(&str, Timing)] = &[
    ("character_based", Timing::Characters),
    ("character_based_points", Timing::CharacterPoints),
    ("equidistant_intervals", Timing::Equal),
    ("equidistant_points", Timing::EqualPoints),
    ("full_segment", Timing::Segment),
    ("none", Timing::Word),
];

/// MeetEval's rules, without and with a collar, each with the metric and its search. The program has other names.
const RULES: &[(&[&str], &str, Option<Search>)] = &[
    (&["cp", "tcp", "cpwer", "tcpwer"], "cpwer", None),
    (
        &["orc", "tcorc", "orcwer", "tcorcwer"],
        "orcwer",
        Some(Search::Exact),
    ),
    (
        &[
            "greedy-orc",
            "greedy-tcorc",
            "greedy_orcwer",
            "greedy_tcorcwer",
        ],
        "orcwer",
        Some(Search::Greedy),
    ),
    (
        &["di-cp", "di-tcp", "greedy_dicpwer", "greedy_ditcpwer"],
        "dicpwer",
        None,
    ),
];

/// The metric of a rule, with its options for a collar.
fn metric(rule: &str, collar: Option<&str>) -> Result<(&'static Entry, Options), String> {
    let found = RULES.iter().find(|(rules, ..)| rules.contains(&rule));
    let (_, name, search) = found.ok_or_else(|| format!("unknown rule {rule}"))?;
    let mut options = Options::default();
    if let Some(search) = search {
        options = options.set("search", search.name());
    }
    if let Some(collar) = collar {
        options = options.set("collar", collar);
    }
    Ok((find(name).ok_or("no such metric")?, options))
}

/// The options that a row has for all rules.
fn row_options(row: &Value, is_timed: bool, mut options: Options) -> Result<Options, String> {
    if let Some(unit) = row["unit"].as_str() {
        options = options.set("unit", unit);
    }
    let sides = [
        ("reference", "reference-timing"),
        ("hypothesis", "prediction-timing"),
    ];
    for (side, option) in sides.into_iter().filter(|_| is_timed) {
        if let Some(name) = row["timing"][side].as_str() {
            let found = TIMINGS.iter().find(|(other, _)| *other == name);
            options = options.set(option, found.ok_or("an unknown timing")?.1.name());
        }
    }
    Ok(options)
}

/// What MeetEval refuses and we do not: many speakers, and an exact search without streams.
const ALLOWED: &[&str] = &["RuntimeError: Are you sure?", "AssertionError"];

fn check_session(row: &Value, rule: &str, expected: &Value) -> Result<(), String> {
    let (rule, collar) = match rule.split_once('@') {
        Some((rule, collar)) => (rule, Some(collar)),
        None => (rule, None),
    };
    let (entry, options) = metric(rule, collar)?;
    let options = row_options(row, collar.is_some(), options)?;
    let scorer = entry.scorer(&options).map_err(|error| error.to_string())?;
    let sides = ["hypothesis", "reference"].map(|side| row[side].to_string());
    let [prediction, reference] = sides.each_ref().map(|side| Side::json(side));
    let mut state = scorer.start();
    let mut part = scorer.read(&state, &mut [Record::new("1", prediction, reference)], true);
    let read = state.add(&mut part).map_err(|error| error.to_string());
    let refused = expected["refused"].as_str();
    let is_allowed =
        refused.is_some_and(|refused| ALLOWED.iter().any(|start| refused.starts_with(start)));
    match (read, refused) {
        (Err(_), Some(_)) if !is_allowed => return Ok(()),
        (Err(error), _) => return Err(error),
        (Ok(()), Some(_)) if is_allowed => return Ok(()),
        (Ok(()), Some(refused)) => return Err(refused.to_owned()),
        (Ok(()), None) => {}
    }
    let samples = part.samples(&state);
    let sample = samples.first().ok_or("no session")?;
    same("examples", samples.len(), 1)?;
    same("counts", &sample.counts, &state.report().counts)?;
    let sample = json!({
        "scores": sample.scores.iter().cloned().collect::<BTreeMap<String, Option<f64>>>(),
        "counts": sample.counts.iter().cloned().collect::<Map<String, Value>>(),
        "assignment": sample.values.iter().find(|(name, _)| name == "assignment").map(|it| &it.1),
    });
    check_numbers(&sample, expected)
}

/// Compares the numbers of a session, or of all sessions, with those of MeetEval.
fn check_numbers(ours: &Value, expected: &Value) -> Result<(), String> {
    let count = |name: &str| ours["counts"][name].as_u64().unwrap_or_default();
    let [hits, substitutions, deletions, insertions] =
        ["hits", "substitutions", "deletions", "insertions"].map(count);
    let (errors, length) = (
        substitutions + deletions + insertions,
        hits + substitutions + deletions,
    );
    let rows = [
        ("errors", "errors", errors),
        ("length", "length", length),
        ("substitutions", "substitutions", substitutions),
        ("deletions", "deletions", deletions),
        ("insertions", "insertions", insertions),
        ("speakers", "scored_speaker", count("speakers")),
        (
            "missed_speakers",
            "missed_speaker",
            count("missed_speakers"),
        ),
        ("extra_speakers", "falarm_speaker", count("extra_speakers")),
    ];
    for (name, of_program, count) in rows {
        let expected = expected[name].as_u64().or(expected[of_program].as_u64());
        if let Some(expected) = expected {
            same(name, count, expected)?;
        }
    }
    let score = ours["scores"]
        .as_object()
        .and_then(|scores| scores.values().next());
    let rate = (length > 0).then(|| errors as f64 / length as f64);
    same("score", score.and_then(Value::as_f64), rate)?;
    let Some(listed) = expected["assignment"].as_array() else {
        return Ok(());
    };
    // MeetEval's stream where there is none.
    let name = |name: &Value| {
        if *name == "dummy" {
            Value::Null
        } else {
            name.clone()
        }
    };
    same(
        "assignment",
        &ours["assignment"],
        &listed.iter().map(name).collect(),
    )
}

#[test]
fn sessions_of_several_speakers() {
    let rows: Vec<Value> = rows::rows("speakers/sessions.jsonl")
        .iter()
        .flat_map(|row| {
            let results = row["results"].as_object().into_iter().flatten();
            results.map(move |(rule, expected)| {
                let id = format!("{} {rule}", rows::id(row));
                json!({"id": id, "rule": rule, "expected": expected, "row": row})
            })
        })
        .collect();
    rows::check(&rows, rows::id, &[], |row| {
        check_session(&row["row"], text(row, "rule")?, &row["expected"])
    });
}

#[test]
fn streams_without_words() {
    let rows = rows::rows("speakers/orc_empty_streams.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let expected = json!({"errors": row["least_errors"], "length": row["length"]});
        check_session(row, "orc", &expected)
    });
}

#[test]
fn overlaps_of_speakers_with_themselves() {
    let rows = rows::rows("speakers/sessions.jsonl");
    let rows: Vec<Value> = rows
        .into_iter()
        .filter(|row| !row["self_overlap"].is_null())
        .collect();
    rows::check(&rows, rows::id, &[], |row| {
        for side in ["reference", "hypothesis"] {
            let (overlap, total) = self_overlap(&segments(&row[side])?).ok_or("no times")?;
            let expected = &row["self_overlap"][side];
            same(
                side,
                &json!([overlap.to_string(), total.to_string()]),
                expected,
            )?;
        }
        Ok(())
    });
}

/// The files of a folder as `meeteval-wer` scores them.
fn check_files(row: &Value) -> Result<(), String> {
    let (rule, expected) = (text(row, "rule")?, &row["expected"]);
    let mut words = rule.split(' ');
    let name = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let collar = words
        .strip_prefix(&["--collar"])
        .and_then(|rest| rest.first().copied());
    let (entry, options) = metric(name, collar)?;
    let mut run = Run::new(entry, &options).map_err(|error| error.to_string())?;
    run.samples = true;
    run.join.ignore_extra = words == ["--partial"];
    // MeetEval takes a missing session for silence where few are missing.
    if expected["refused"].is_null() {
        run.join.missing = Missing::Empty;
    }
    let source = |side: &str| {
        let files = rows::texts(&row["files"][side])?;
        let folder = Path::new(text(row, "folder")?);
        let files: Vec<_> = files.iter().map(|file| folder.join(file)).collect();
        Source::paths(&files).map_err(|error| error.to_string())
    };
    let data = Data::Sources {
        references: source("reference")?,
        predictions: source("hypothesis")?,
    };
    let collector = SampleCollector::default();
    let outcomes = run.score_observed(data, &collector);
    if let Some(refused) = expected["refused"].as_str() {
        return match (outcomes, refused) {
            // MeetEval reads whole numbers only here.
            (Ok(_), refused) if refused.contains("TypeError") => Ok(()),
            (Ok(_), refused) => Err(refused.to_owned()),
            (Err(error), _) => same("kind of error", error.kind(), ErrorKind::Input),
        };
    }
    let outcomes = outcomes.map_err(|error| error.to_string())?;
    let report = outcomes[0].state().report();
    let total = json!({
        "scores": report.scores.into_iter().collect::<BTreeMap<String, Option<f64>>>(),
        "counts": report.counts.into_iter().collect::<Map<String, Value>>(),
    });
    check_numbers(&total, &expected["total"])?;
    let sessions = expected["sessions"].as_object().ok_or("no sessions")?;
    let tables = collector.into_tables();
    let (_, table) = tables.first().ok_or("no sessions")?;
    same("sessions", table.len(), sessions.len())?;
    for (row, id) in table.ids().iter().enumerate() {
        let counts = table.counts().iter();
        let counts: Map<String, Value> = counts
            .map(|(name, column)| (name.clone(), column.get(row).unwrap_or_default()))
            .collect();
        let scores = table.scores().iter();
        let scores: BTreeMap<String, Option<f64>> = scores
            .map(|(name, column)| (name.clone(), column[row]))
            .collect();
        let session =
            json!({"scores": scores, "counts": counts, "assignment": counts["assignment"]});
        let checked = check_numbers(&session, &sessions[id]);
        checked.map_err(|error| format!("{id}: {error}"))?;
    }
    Ok(())
}

#[test]
fn files_of_sessions() {
    let mut all = Vec::new();
    for folder in rows::folders() {
        let entries = std::fs::read_dir(folder.join("speakers/files"))
            .into_iter()
            .flatten();
        for entry in entries {
            let folder = entry.expect("an entry").path();
            let name = folder
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let text =
                std::fs::read_to_string(folder.join("expect.json")).expect("the expected values");
            let files: Value = serde_json::from_str(&text).expect("JSON");
            for (rule, expected) in files["results"].as_object().expect("results") {
                let id = format!("{name} {rule}");
                all.push(json!({"id": id, "rule": rule, "expected": expected, "files": files, "folder": folder}));
            }
        }
    }
    rows::check(&all, rows::id, &[], check_files);
}
