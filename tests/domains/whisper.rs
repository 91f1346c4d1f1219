//! Normalization of transcripts.

use metric_core::{Metric, NamedScores};
use metric_text::edit::EditRate;
use metric_text::{Normalizer, Unit};
use serde_json::Value;

use crate::rows::{self, Deviation, near, same, text};

/// jiwer's `wer_standardize` as steps.
const JIWER: &str = r"lower,replace(won't, will not),replace(can't, can not),replace(let's, let us),replace(n't,  not),replace('re,  are),replace('s,  is),replace('d,  would),replace('ll,  will),replace('t,  not),replace('ve,  have),replace('m,  am),remove([<\[][^>\]]*[>\]]),whitespace";

fn name(row: &Value) -> String {
    format!(
        "{} {}",
        rows::id(row),
        row["normalizer"].as_str().unwrap_or_default()
    )
}

const SPACE: &str = "the recipe makes each white space a space, and jiwer only those of ASCII";

const SPACES: &[Deviation] = &[
    (
        "numerals-58 jiwer-standardize",
        SPACE,
        "reference \"1\\u{a0}000\"",
    ),
    (
        "numerals-59 jiwer-standardize",
        SPACE,
        "reference \"1\\u{202f}000\"",
    ),
    (
        "symbols-57 jiwer-standardize",
        SPACE,
        "reference \"a\\u{2028}b\"",
    ),
    (
        "symbols-58 jiwer-standardize",
        SPACE,
        "reference \"a\\u{1c}b\"",
    ),
    (
        "symbols-59 jiwer-standardize",
        SPACE,
        "reference \"a\\u{85}b\"",
    ),
    (
        "symbols-62 jiwer-standardize",
        SPACE,
        "reference \"a.\\u{a0}b\"",
    ),
];

/// Compares the normalized text of each row of some files.
fn check(files: &[&str], deviations: &[Deviation]) {
    let rows: Vec<Value> = files
        .iter()
        .flat_map(|file| rows::rows(&format!("whisper/{file}.jsonl")))
        .collect();
    rows::check(&rows, name, deviations, |row| {
        let steps = match text(row, "normalizer")? {
            "jiwer-standardize" => JIWER,
            steps => steps,
        };
        let normalizer: Normalizer = steps.parse().map_err(|error| format!("{error}"))?;
        let normalized = normalizer.apply(text(row, "text")?);
        same("normalized", &*normalized, text(row, "expected")?)
    });
}

#[test]
fn texts_normalized_by_whisper() {
    check(&["basic", "basic_split", "basic_nodiacritics"], &[]);
}

#[test]
fn english_texts_normalized_by_whisper() {
    check(&["english", "english_numbers"], &[]);
}

#[test]
fn texts_normalized_by_others() {
    check(&["others"], SPACES);
}

/// All entries of the tables, of which few are in the rows.
#[test]
fn spellings() {
    let spell = |steps: &str, words: &Value| {
        let normalizer: Normalizer = steps.parse().expect("steps");
        let words = words.as_object().expect("an object");
        // No word has a space, and fillers are removed before.
        let is_word =
            |word: &&String| !word.contains(' ') && !["mm", "mhm", "mmm"].contains(&word.as_str());
        for (word, spelling) in words.iter().filter(|(word, _)| is_word(word)) {
            let spelling = spelling.as_str().expect("a text");
            assert_eq!(normalizer.apply(word), spelling, "{steps} of {word:?}");
        }
    };
    for document in rows::documents("whisper/english_spelling.json") {
        spell("whisper-english", &document);
    }
    for document in rows::documents("whisper/open_asr_tables.json") {
        spell("open-asr-english", &document["spelling"]);
        spell("open-asr-english", &document["names"]);
        for (pattern, compound) in document["compounds"].as_object().expect("an object") {
            let two = pattern.replace(r"\b", "").replace(r"\s+", "  ");
            let normalizer: Normalizer = "open-asr-english".parse().expect("steps");
            assert_eq!(normalizer.apply(&two), compound.as_str().expect("a text"));
        }
    }
}

#[test]
fn error_rates_of_normalized_texts() {
    let pairs = rows::rows("whisper/wer_pairs.jsonl");
    let documents = rows::documents("whisper/wer_expected.json");
    let expected: Vec<Value> = documents
        .iter()
        .flat_map(|document| document["normalizers"].as_object().expect("an object"))
        .map(|(steps, expected)| serde_json::json!({"id": steps, "expected": expected}))
        .collect();
    // Each copy of the pairs has the same ones.
    let pairs = &pairs[..pairs.len() / documents.len()];
    rows::check(&expected, rows::id, &[], |row| {
        let steps = rows::id(row);
        let normalizer: Normalizer = steps.parse().map_err(|error| format!("{error}"))?;
        for (metric, unit) in [("wer", Unit::Word), ("cer", Unit::CodePoint)] {
            let expected = row["expected"][metric]
                .as_object()
                .ok_or("no expected values")?;
            let rate = EditRate::default()
                .with_unit(unit)
                .with_normalizer(normalizer.clone());
            let mut state = rate.measure("", "");
            for pair in pairs {
                rate.update(
                    &mut state,
                    text(pair, "prediction")?,
                    text(pair, "reference")?,
                );
            }
            let edits = &state.edits;
            let counts = [
                ("hits", edits.hits),
                ("substitutions", edits.substitutions),
                ("deletions", edits.deletions),
                ("insertions", edits.insertions),
            ];
            for (name, count) in counts {
                same(name, Some(count), expected[name].as_u64())?;
            }
            let scores = rate.compute(&state);
            same(metric, scores.error_rate, expected[metric].as_f64())?;
            for (name, score) in scores.named_scores() {
                if let Some(expected) = expected.get(&name) {
                    near(&name, score, expected)?;
                }
            }
        }
        Ok(())
    });
}
