//! Text: string equality under normalisation, and visual question answering.

use metric_core::Metric;
use metric_text::vqa::{self, Answers, Profile, VqaAccuracy};
use metric_text::{Normalizer, StringAccuracy, string_accuracy, vqa_tables};
use serde_json::Value;

use crate::rows::{self, same};

/// The equality fields of the rows, each with the normalisation it stands for.
const EQUALITIES: &[(&str, &str)] = &[
    ("eq", "none"),
    ("eq_nfc", "nfc"),
    ("eq_nfkc", "nfkc"),
    ("eq_casefold", "casefold"),
    ("eq_nfc_casefold_nfc", "nfc,casefold,nfc"),
    ("eq_lower", "lower"),
    ("eq_strip", "strip"),
    ("eq_wscollapse", "whitespace"),
];

fn text<'r>(row: &'r Value, field: &str) -> Result<&'r str, String> {
    row[field].as_str().ok_or_else(|| format!("no {field}"))
}

#[test]
fn equality_under_each_normalisation() {
    let metrics: Vec<(&str, StringAccuracy)> = EQUALITIES
        .iter()
        .map(|(field, list)| {
            let normalizer: Normalizer = list.parse().unwrap();
            (*field, StringAccuracy { normalizer })
        })
        .collect();
    let rows = rows::rows("text/text_pairs.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let (prediction, reference) = (text(row, "hyp")?, text(row, "ref")?);
        for (field, metric) in &metrics {
            let state = metric.measure(prediction, reference);
            same(field, Some(state.correct == 1), row[field].as_bool())?;
        }
        let raw = string_accuracy([(prediction, reference)]);
        same(
            "string_accuracy",
            Some(raw.correct == 1),
            row["eq"].as_bool(),
        )
    });
}

#[test]
fn answers_of_the_fusion_brain_program() {
    let rows = rows::rows("text/vqa_fusionbrain.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let lemmas = row["lemmas"].as_object().cloned().unwrap_or_default();
        let lemma = move |token: &str| match lemmas.get(token) {
            Some(Value::String(lemma)) => lemma.clone(),
            _ => format!("{token:?} has no lemma in the row"),
        };
        let prediction = text(row, "prediction")?;
        let language = text(row, "lang")?.parse().map_err(|e| format!("{e}"))?;
        let normalised = match language {
            vqa::Language::English => vqa::normalize_english(prediction),
            vqa::Language::Russian => vqa::normalize_russian(prediction, &lemma),
        };
        same("normalised", normalised.as_str(), text(row, "normalised")?)?;

        let answers = match &row["answer"] {
            Value::String(answer) => vec![answer.clone()],
            list => serde_json::from_value(list.clone()).map_err(|e| e.to_string())?,
        };
        let language = Some(language);
        let reference = Answers { answers, language };
        let metric = VqaAccuracy::new(Profile::FusionBrain2021).with_lemmatizer(Box::new(lemma));
        let state = metric.measure(prediction, &reference);
        same("without_lemmatizer", state.without_lemmatizer, 0)?;
        same("acc", metric.compute(&state), row["acc"].as_f64())
    });
}

#[test]
fn answer_processing_of_the_vqa_program() {
    let rows = rows::rows("text/vqa_normalise.jsonl");
    let input = |row: &Value| row["input"].to_string();
    rows::check(&rows, input, &[], |row| {
        let stripped = vqa::strip(text(row, "input")?);
        same("stripped", &*stripped, text(row, "stripped")?)?;
        same("punct", &*vqa::punctuation(&stripped), text(row, "punct")?)?;
        let out = vqa::normalize_english(text(row, "input")?);
        same("out", out.as_str(), text(row, "out")?)?;
        let idempotent = vqa::normalize_english(&out) == out;
        same("idempotent", Some(idempotent), row["idempotent"].as_bool())
    });
}

#[test]
fn word_tables_of_the_vqa_program() {
    let pairs = |table: &[(&str, &str)]| -> Value {
        let entries = table.iter();
        entries
            .map(|(key, value)| ((*key).to_owned(), Value::from(*value)))
            .collect()
    };
    for document in rows::documents("text/vqa_tables.json") {
        assert_eq!(pairs(vqa_tables::CONTRACTIONS), document["contractions"]);
        assert_eq!(pairs(vqa_tables::NUMBER_WORDS), document["number_words"]);
        assert_eq!(
            pairs(vqa_tables::RUSSIAN_NUMBER_LEMMAS),
            document["fusionbrain_number_lemmas_ru"]
        );
        assert_eq!(
            Value::from(vqa_tables::ARTICLES.to_vec()),
            document["articles"]
        );
        let mut punctuation: Vec<char> = serde_json::from_value(document["punct"].clone()).unwrap();
        punctuation.sort_unstable();
        assert_eq!(punctuation, vqa_tables::PUNCTUATION);
    }
}
