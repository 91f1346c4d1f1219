//! Edit distances, alignments and error rates.

use metric_core::Metric;
use metric_text::edit::{Alignment, EditProfile as Rules, EditRate, EditScores};
use metric_text::{Edits, Unit, edit_distance};
use serde_json::Value;

use crate::rows::{self, near, same, text};

/// jiwer's result for a row by words or by characters: unit, prefix of its fields, error rate.
const UNITS: &[(Unit, &str, &str)] = &[(Unit::Word, "w", "wer"), (Unit::CodePoint, "c", "cer")];

/// Hits, substitutions, insertions, deletions, as jiwer lists them.
fn counted(edits: &Edits) -> Value {
    vec![
        edits.hits,
        edits.substitutions,
        edits.insertions,
        edits.deletions,
    ]
    .into()
}

#[test]
fn edits_and_alignments_of_jiwer() {
    let rows = rows::rows("text/text_pairs.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let (prediction, reference) = (text(row, "hyp")?, text(row, "ref")?);
        for &(unit, prefix, rate) in UNITS {
            let field = |name: &str| &row[format!("{prefix}_{name}")];
            let metric = EditRate::default().with_unit(unit);
            let state = metric.measure(prediction, reference);
            same("edits", &counted(&state.edits), field("hsid"))?;
            let length = |length: u64| Value::from(length);
            same(
                "reference",
                &length(state.edits.reference_length()),
                field("ref"),
            )?;
            same(
                "prediction",
                &length(state.edits.prediction_length()),
                field("hyp"),
            )?;
            let scores = metric.compute(&state);
            near(rate, scores.error_rate, &row[rate])?;
            if unit == Unit::Word {
                near("mer", scores.match_error_rate, &row["mer"])?;
                near("wil", scores.information_lost, &row["wil"])?;
                near("wip", scores.information_preserved, &row["wip"])?;
            }

            let split = |text| unit.split(text, Rules::Jiwer);
            let alignment = Alignment::new(&split(reference), &split(prediction));
            let chunks = alignment.chunks.iter().map(|chunk| {
                let (rows, columns) = (&chunk.reference, &chunk.prediction);
                serde_json::json!([
                    chunk.edit.name(),
                    rows.start,
                    rows.end,
                    columns.start,
                    columns.end
                ])
            });
            same("alignment", &chunks.collect(), field("align"))?;
            same("edits of the alignment", alignment.edits(), state.edits)?;
        }
        Ok(())
    });
}

/// The program that counted these clusters also joins a consonant to a virama that has no consonant
/// before it, which rule GB9c of Unicode Standard Annex 29 does not; the distance is the same.
const CLUSTERS: &[rows::Deviation] = &[
    (
        "txt-0102",
        "a virama without a consonant",
        "prediction: ours Some(13), reference Some(12)",
    ),
    (
        "txt-0762",
        "a virama without a consonant",
        "prediction: ours Some(18), reference Some(17)",
    ),
    (
        "txt-1122",
        "a virama without a consonant",
        "prediction: ours Some(19), reference Some(18)",
    ),
];

#[test]
fn distances_by_code_point_and_grapheme_cluster() {
    let rows = rows::rows("text/text_pairs.jsonl");
    rows::check(&rows, rows::id, CLUSTERS, |row| {
        let (prediction, reference) = (text(row, "hyp")?, text(row, "ref")?);
        let split =
            |unit: Unit, rules| (unit.split(reference, rules), unit.split(prediction, rules));
        let distance = |(a, b): &(Vec<&str>, Vec<&str>)| Some(edit_distance(a, b) as u64);
        let points = split(Unit::CodePoint, Rules::Torchmetrics);
        same(
            "code points",
            distance(&points),
            row["lev_codepoints_raw"].as_u64(),
        )?;
        let clusters = split(Unit::Grapheme, Rules::Jiwer);
        // Where oracles of other versions of Unicode disagree, the row has the value of ours as
        // well.
        let ours = &row["lev_graphemes_stripped_unicode_segmentation_1_13_3"];
        let expected = ours.as_u64().or(row["lev_graphemes_stripped"].as_u64());
        same("clusters", distance(&clusters), expected)?;
        if row["grapheme_oracles_agree"] == true {
            same(
                "reference",
                Some(clusters.0.len() as u64),
                row["graphemes_ref"].as_u64(),
            )?;
            same(
                "prediction",
                Some(clusters.1.len() as u64),
                row["graphemes_hyp"].as_u64(),
            )?;
        }
        Ok(())
    });
}

/// The error rates of code points that follow from jiwer's distances and lengths of a row.
#[test]
fn error_rates_from_the_edits_of_jiwer() {
    let rows = rows::rows("text/text_pairs.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let (prediction, reference) = (text(row, "hyp")?, text(row, "ref")?);
        let rate = |profile| {
            let metric = EditRate::default()
                .with_unit(Unit::CodePoint)
                .with_profile(profile);
            metric
                .compute(&metric.measure(prediction, reference))
                .error_rate
        };
        // Without a reference torchmetrics is NaN or infinite, and Hugging Face's program fails.
        let errors = row["lev_codepoints_raw"].as_u64().ok_or("no distance")?;
        let raw = metric_core::ratio(errors, reference.chars().count() as u64);
        same("torchmetrics", rate(Rules::Torchmetrics), raw)?;
        let stripped = row["cer"].as_f64().filter(|_| row["c_ref"] != 0);
        same("huggingface", rate(Rules::HuggingFace), stripped)
    });
}

/// The scores of the data set in a row, by words and by code points.
fn scores(row: &Value, profile: Rules) -> Result<[EditScores; 2], String> {
    let [references, predictions] =
        ["references", "predictions"].map(|field| rows::texts(&row[field]));
    let (references, predictions) = (references?, predictions?);
    let pairs = || predictions.iter().zip(&references);
    Ok([Unit::Word, Unit::CodePoint].map(|unit| {
        let metric = EditRate::default().with_unit(unit).with_profile(profile);
        metric.score_all(pairs().map(|(prediction, reference)| (&**prediction, &**reference)))
    }))
}

#[test]
fn error_rates_of_torchmetrics() {
    let rows = rows::rows("text/error_rates_torchmetrics.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let [words, characters] = scores(row, Rules::Torchmetrics)?;
        let scores = [
            ("wer", words.error_rate),
            ("mer", words.match_error_rate),
            ("wil", words.information_lost),
            ("wip", words.information_preserved),
            ("cer", characters.error_rate),
        ];
        scores.into_iter().try_for_each(|(name, ours)| {
            // It computes in 32 bits. Its NaN and infinity are undefined here.
            match (ours, row[name].as_f64()) {
                (Some(ours), Some(theirs)) => {
                    let scale = (theirs.max(1.0), "max(1, value)");
                    let is_near = rows::within_scaled(ours, theirs, 2e-7, scale);
                    is_near
                        .then_some(())
                        .ok_or_else(|| format!("{name}: ours {ours}, reference {theirs}"))
                }
                (ours, theirs) => same(name, ours, theirs),
            }
        })
    });
}

#[test]
fn error_rates_of_hugging_face() {
    let rows = rows::rows("text/error_rates_huggingface.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let [words, characters] = scores(row, Rules::HuggingFace)?;
        // Where the program fails, the rate is undefined here.
        same("wer", words.error_rate, row["wer"].as_f64())?;
        same("cer", characters.error_rate, row["cer"].as_f64())
    });
}
