//! Transcripts of several speakers, and languages without spaces between words.

use metric_core::Metric;
use metric_text::edit::{EditProfile, MAX_CELLS};
use metric_text::speakers::{
    Collar, CpWer, DiCpWer, OrcWer, Preparation, Search, Segment, Speech, Time, Timing,
    self_overlap,
};
use metric_text::squad::{Evidence, SquadProfile};
use metric_text::{EditRate, Edits, Squad, Unit};
use serde_json::{Value, json};

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

/// The preparation of a session, for a collar.
fn preparation(row: &Value, collar: Option<&str>) -> Result<Preparation, String> {
    let mut preparation = Preparation::default();
    if let Some(unit) = row["unit"].as_str() {
        preparation.unit = unit.parse().map_err(|error| format!("{error}"))?;
    }
    let Some(collar) = collar else {
        return Ok(preparation);
    };
    let time: Time = collar.parse().map_err(|error| format!("{error}"))?;
    let mut collar = Collar::new(time).map_err(|error| error.to_string())?;
    for (side, timing) in [
        ("reference", &mut collar.reference),
        ("hypothesis", &mut collar.prediction),
    ] {
        if let Some(name) = row["timing"][side].as_str() {
            let found = TIMINGS.iter().find(|(other, _)| *other == name);
            *timing = found.ok_or("an unknown timing")?.1;
        }
    }
    Ok(preparation.with_collar(Some(collar)))
}

/// Edits and assignment by a rule, and for `cp` and `tcp` the numbers of speakers, missed ones and extra ones.
fn score(
    rule: &str,
    prediction: &Speech,
    reference: &Speech,
) -> Result<(Edits, Value, Value), String> {
    let orc = |search| {
        let metric = OrcWer::default().with_search(search);
        metric.session_within(prediction, reference, MAX_CELLS)
    };
    let assigned = match rule {
        "cp" | "tcp" => {
            let session = CpWer.session_within(prediction, reference, MAX_CELLS);
            let session = session.map_err(|error| error.to_string())?;
            let pairs = session.pairs.iter();
            let pairs: Value = pairs
                .map(|pair| json!([pair.reference, pair.prediction]))
                .collect();
            let state = session.state;
            let speakers = json!([state.speakers, state.missed_speakers, state.extra_speakers]);
            return Ok((state.edits, pairs, speakers));
        }
        "orc" | "tcorc" => orc(Search::Exact),
        "greedy-orc" | "greedy-tcorc" => orc(Search::Greedy),
        "di-cp" | "di-tcp" => DiCpWer.session_within(prediction, reference, MAX_CELLS),
        _ => return Err(format!("unknown rule {rule}")),
    };
    let assigned = assigned.map_err(|error| error.to_string())?;
    Ok((assigned.edits, json!(assigned.assignment), Value::Null))
}

/// What MeetEval refuses and we do not: many speakers, and an exact search without streams.
const ALLOWED: &[&str] = &["RuntimeError: Are you sure?", "AssertionError"];

fn check_session(row: &Value, rule: &str, expected: &Value) -> Result<(), String> {
    let (rule, collar) = match rule.split_once('@') {
        Some((rule, collar)) => (rule, Some(collar)),
        None => (rule, None),
    };
    let preparation = preparation(row, collar)?;
    let reference = preparation.reference(&segments(&row["reference"])?);
    let prediction = preparation.prediction(&segments(&row["hypothesis"])?);
    let (Ok(reference), Ok(prediction)) = (reference, prediction) else {
        let refused = expected["refused"].as_str();
        return refused
            .map(|_| ())
            .ok_or_else(|| "an invalid segment".to_owned());
    };
    let (edits, assignment, speakers) = score(rule, &prediction, &reference)?;
    if let Some(refused) = expected["refused"].as_str() {
        let is_allowed = ALLOWED.iter().any(|start| refused.starts_with(start));
        return if is_allowed {
            Ok(())
        } else {
            Err(refused.to_owned())
        };
    }
    let counts = [
        ("errors", edits.errors()),
        ("length", edits.reference_length()),
        ("substitutions", edits.substitutions),
        ("deletions", edits.deletions),
        ("insertions", edits.insertions),
    ];
    for (name, count) in counts {
        if let Some(expected) = expected[name].as_u64() {
            same(name, count, expected)?;
        }
    }
    if !speakers.is_null() {
        let names = ["speakers", "missed_speakers", "extra_speakers"];
        let expected = names.map(|name| expected[name].clone());
        same("speakers", speakers, json!(expected))?;
    }
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
    same("assignment", assignment, listed.iter().map(name).collect())
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
