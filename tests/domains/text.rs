//! Text: string equality under normalization, and visual question answering.

use metric_core::Metric;
use metric_text::vqa::{self, Answers, VqaAccuracy, VqaProfile};
use metric_text::{
    Anls, ExactMatch, Normalizer, PythonRegex, RelaxedAccuracy, Squad, StringAccuracy, anls, squad,
    string_accuracy, vqa_tables,
};
use serde_json::Value;

use crate::rows::{self, Deviation, near, same, text, texts};

/// The equality fields of the rows, each with the normalization it stands for.
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
            other => return Err(format!("the program knows no {other}")),
        };
        same("normalised", normalised.as_str(), text(row, "normalised")?)?;

        let answers = match &row["answer"] {
            Value::String(answer) => vec![answer.clone()],
            list => serde_json::from_value(list.clone()).map_err(|e| e.to_string())?,
        };
        let reference = Answers {
            language: Some(language),
            ..answers.into_iter().collect()
        };
        let metric = VqaAccuracy::new(VqaProfile::FusionBrain2021).with_lemmatizer(Box::new(lemma));
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

#[test]
fn agreement_with_people_of_the_vqa_program() {
    let rows = rows::rows("text/vqa_v2.jsonl");
    let question = |row: &Value| row["question_id"].to_string();
    let official = VqaAccuracy::new(VqaProfile::VqaV2);
    let always = VqaAccuracy::new(VqaProfile::VqaV2AlwaysNormalise);
    rows::check(&rows, question, &[], |row| {
        let answers = texts(&row["answers"])?;
        let answers: Answers = answers.into_iter().collect();
        let prediction = text(row, "prediction")?;
        let state = official.measure(prediction, &answers);
        let percent = official.compute(&state).map(|accuracy| 100.0 * accuracy);
        near("acc_percent_12dp", percent, &row["acc_percent_12dp"])?;
        let rounded = percent.map(|percent| (percent * 100.0).round() / 100.0);
        near("acc_percent_2dp", rounded, &row["acc_percent_2dp"])?;
        let state = always.measure(prediction, &answers);
        near(
            "always",
            always.compute(&state),
            &row["acc_always_normalised"],
        )?;
        let mut stripped: Vec<_> = answers
            .answers
            .iter()
            .map(|text| vqa::strip(text))
            .collect();
        stripped.dedup();
        same(
            "unanimous",
            Some(stripped.len() == 1),
            row["unanimous"].as_bool(),
        )?;
        let expected = text(row, "pred_normalised")?;
        if row["unanimous"] == false {
            same(
                "pred_normalised",
                &*vqa::normalize_english(prediction),
                expected,
            )?;
        }
        Ok(())
    });
}

#[test]
fn answers_that_are_equal() {
    let rows = rows::rows("text/vqa_exact.jsonl");
    let metric = VqaAccuracy::new(VqaProfile::Exact);
    rows::check(&rows, rows::id, &[], |row| {
        let answers: Answers = texts(&row["answers"])?.into_iter().collect();
        let state = metric.measure(text(row, "prediction")?, &answers);
        same("accuracy", metric.compute(&state), row["accuracy"].as_f64())
    });
}

const NO_ANSWERS: &str = "a question without answers is an error in lmms-eval, and scores 0 here";
const COMMAS: &str = "lmms-eval takes several commas between digits for one";

#[rustfmt::skip]
const LMMS_EVAL: &[Deviation] = &[
    ("vqa-000", NO_ANSWERS, "ours Some(0.0), reference None"),
    ("vqa-001", NO_ANSWERS, "ours Some(0.0), reference None"),
    ("vqa-020", COMMAS, "ours Some(0.0), reference Some(1.0)"),
    ("vqa-021", COMMAS, "ours Some(1.0), reference Some(0.0)"),
    ("vqa-023", COMMAS, "ours Some(0.0), reference Some(1.0)"),
    ("vqa-025", COMMAS, "ours Some(0.0), reference Some(1.0)"),
    ("vqa-221", COMMAS, "ours Some(0.0), reference Some(0.6)"),
];

#[test]
fn agreement_with_people_of_lmms_eval() {
    let rows = rows::rows("text/vqa_lmms_eval.jsonl");
    let metric = VqaAccuracy::new(VqaProfile::VqaV2AlwaysNormalise);
    rows::check(&rows, rows::id, LMMS_EVAL, |row| {
        let answers: Answers = texts(&row["answers"])?.into_iter().collect();
        let state = metric.measure(text(row, "prediction")?, &answers);
        near("accuracy", metric.compute(&state), &row["accuracy"])
    });
}

const NO_ANSWERS_TO_CHARTS: &[Deviation] = &[(
    "relaxed-195",
    "without references the program fails; here no prediction is correct",
    "ours Some(false), reference None",
)];

#[test]
fn answers_to_questions_about_charts() {
    let rows = rows::rows("text/relaxed_accuracy.jsonl");
    rows::check(&rows, rows::id, NO_ANSWERS_TO_CHARTS, |row| {
        let tolerance = row["tolerance"].as_f64().ok_or("no tolerance")?;
        let metric = RelaxedAccuracy { tolerance };
        let state = metric.measure(text(row, "prediction")?, &texts(&row["references"])?);
        same(
            "correct",
            Some(state.correct == 1),
            row["correct"].as_bool(),
        )
    });
}

#[test]
fn similarity_of_answers() {
    let rows = rows::rows("text/qa_anls_squad.jsonl");
    let [paper, rrc] =
        [anls::AnlsProfile::Paper, anls::AnlsProfile::Rrc].map(|profile| Anls { profile });
    rows::check(&rows, rows::id, &[], |row| {
        let (prediction, answers) = (text(row, "prediction")?, texts(&row["answers"])?);
        let value =
            |anls: Anls, answers: &[String]| anls.compute(&anls.measure(prediction, answers));
        same("anls", value(paper, &answers), row["anls"].as_f64())?;
        same("anls_rrc", value(rrc, &answers), row["anls_rrc"].as_f64())?;
        let each: Vec<_> = answers.chunks(1).map(|one| value(paper, one)).collect();
        let expected = row["anls_by_answer"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let expected: Vec<_> = expected.iter().map(Value::as_f64).collect();
        same("anls_by_answer", each, expected)
    });
}

#[test]
fn answers_of_the_squad_programs() {
    let rows = rows::rows("text/qa_anls_squad.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let (prediction, answers) = (text(row, "prediction")?, texts(&row["answers"])?);
        let normalized: Vec<_> = answers.iter().map(|text| squad::normalize(text)).collect();
        same("norm_answers", normalized, texts(&row["norm_answers"])?)?;
        let normalized = squad::normalize(prediction);
        same(
            "norm_prediction",
            &*normalized,
            text(row, "norm_prediction")?,
        )?;
        let values = |profile| {
            Squad::default()
                .with_profile(profile)
                .values(prediction, &answers)
        };
        let (exact, f1) = values(squad::SquadProfile::V1);
        same("squad1_em", Some(exact), row["squad1_em"].as_bool())?;
        same("squad1_f1", Some(f1), row["squad1_f1"].as_f64())?;
        let (exact, f1) = values(squad::SquadProfile::V2);
        same(
            "squad2_em",
            Some(u64::from(exact)),
            row["squad2_em"].as_u64(),
        )?;
        same("squad2_f1", Some(f1), row["squad2_f1"].as_f64())
    });
}

#[test]
fn matches_of_python_regular_expressions() {
    let rows = rows::rows("text/python_re.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let pattern = text(row, "pattern")?.parse::<PythonRegex>();
        let is_refused = row["error"].as_bool().unwrap_or_default();
        same("error", Some(pattern.is_err()), Some(is_refused))?;
        let Ok(pattern) = pattern else { return Ok(()) };
        let text = text(row, "text")?;
        let found = pattern.find(text).map_err(|error| error.to_string())?;
        let found = found.map(|found| vec![found.start, found.end]);
        same(
            "search",
            Some(serde_json::json!(found)),
            Some(row["search"].clone()),
        )?;
        let replaced = pattern
            .replace_all(text, "<>")
            .map_err(|error| error.to_string())?;
        same("sub", Some(&*replaced), row["sub"].as_str())
    });
}

#[test]
fn exact_match_with_each_set_of_options() {
    let rows = rows::rows("text/exact_match.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let (predictions, references) = (texts(&row["preds"])?, texts(&row["refs"])?);
        for bits in 0..8 {
            let [case, punctuation, numbers] = [1, 2, 4].map(|bit| bits & bit > 0);
            let metric = ExactMatch::default()
                .with_ignore_case(case)
                .with_ignore_punctuation(punctuation)
                .with_ignore_numbers(numbers);
            let mut state = metric_core::Accuracy::default();
            for (prediction, reference) in predictions.iter().zip(&references) {
                metric.update(&mut state, prediction, reference);
            }
            let [case, punctuation, numbers] = [case, punctuation, numbers].map(u8::from);
            let field = format!("case{case}_punct{punctuation}_num{numbers}");
            same(&field, metric.compute(&state), row[&*field].as_f64())?;
        }
        Ok(())
    });
}
