//! Generated text: BLEU, chrF, TER and ROUGE.

use metric_core::{Merge, Metric, NamedScores};
use metric_text::bleu::{Bleu, BleuProfile, BleuState, Smoothing, Tokenizer};
use metric_text::chrf::{self, Chrf, ChrfState};
use metric_text::rouge::{self, Overlap, Rouge, RougeState, RougeType};
use metric_text::ter::{Ter, TerProfile};
use serde_json::{Value, json};

use crate::metrics::scored;
use crate::rows::{self, same, text, texts};

/// An example: a prediction and its references.
type Example = (String, Vec<String>);

/// The examples of a row. References that are null are left out.
fn examples(row: &Value) -> Result<Vec<Example>, String> {
    let predictions = texts(&row["predictions"])?;
    let references: Vec<Vec<Option<String>>> =
        serde_json::from_value(row["references"].clone()).map_err(|error| error.to_string())?;
    let references = references
        .into_iter()
        .map(|list| list.into_iter().flatten().collect());
    Ok(predictions.into_iter().zip(references).collect())
}

/// The state of each example, and the state of all.
fn states<M>(metric: &M, examples: &[Example]) -> (Vec<M::State>, M::State)
where
    M: Metric<Prediction = str, Reference = [String]>,
    M::State: Clone,
{
    let states = examples
        .iter()
        .map(|(prediction, references)| metric.measure(prediction, references));
    let states: Vec<M::State> = states.collect();
    let mut all = M::State::default();
    states.iter().for_each(|state| all.merge(state.clone()));
    (states, all)
}

fn flag(options: &Value, name: &str) -> bool {
    options[name].as_bool().unwrap_or(false)
}

fn whole(options: &Value, name: &str, default: usize) -> usize {
    options[name]
        .as_u64()
        .map_or(default, |number| number as usize)
}

fn number(value: &Value) -> Result<f64, String> {
    value
        .as_f64()
        .ok_or_else(|| format!("{value} is not a number"))
}

fn numbers(value: &Value) -> Result<Vec<f64>, String> {
    let list = value.as_array().ok_or("no list of numbers")?;
    list.iter().map(number).collect()
}

fn counts(value: &Value) -> Result<Vec<u64>, String> {
    serde_json::from_value(value.clone()).map_err(|error| error.to_string())
}

/// Equal except for the last bits, relative to the value.
fn near(what: &str, ours: f64, expected: &Value) -> Result<(), String> {
    let expected = number(expected)?;
    if rows::within_scaled(ours, expected, 1e-12, (expected, "the value")) {
        return Ok(());
    }
    same(what, ours, expected)
}

/// The number of references as the signature of sacreBLEU has it.
fn check_references(row: &Value, references: String) -> Result<(), String> {
    let signature = row["result"]["signature"].as_str().unwrap_or_default();
    let expected = signature
        .split('|')
        .next()
        .and_then(|part| part.strip_prefix("nrefs:"));
    same("references", Some(&*references), expected)
}

/// Checks a row against the metric as users call it, under the names that sacreBLEU gives its options.
fn check_metric(metric: &str, row: &Value) -> Result<(), String> {
    let given = row["options"].as_object().ok_or("no options")?;
    let methods = ["floor", "add-k"].map(Value::from);
    let has_value = methods.contains(&row["options"]["smooth_method"]);
    let is_taken = |name: &str| name != "force" && (name != "smooth_value" || has_value);
    let options = given
        .iter()
        .filter(|(name, value)| is_taken(name) && !value.is_null());
    let options: serde_json::Map<String, Value> = options
        .map(|(name, value)| (name.replace('_', "-"), value.clone()))
        .collect();
    let predictions = texts(&row["predictions"])?.into_iter();
    let references = row["references"].as_array().ok_or("no references")?;
    let records = predictions.zip(references);
    let records = records
        .map(|(prediction, reference)| json!({"prediction": prediction, "reference": reference}));
    let records: Vec<Value> = records.collect();
    let report = scored(metric, &json!({"options": options, "records": records}))?;
    let percent = report.score(metric).map(|score| 100.0 * score);
    near(metric, percent.unwrap_or(f64::NAN), &row["result"]["score"])
}

fn bleu_of(options: &Value) -> Result<Bleu, String> {
    let smoothing: Option<Smoothing> = match options["smooth_method"].as_str() {
        Some(name) => Some(name.parse().map_err(|error| format!("{error}"))?),
        None => None,
    };
    let tokenizer: Tokenizer = match options["tokenize"].as_str() {
        Some(name) => name.parse().map_err(|error| format!("{error}"))?,
        None => Tokenizer::default(),
    };
    Ok(Bleu::default()
        .with_tokenizer(tokenizer)
        .with_lowercase(flag(options, "lowercase"))
        .with_effective_order(flag(options, "effective_order"))
        .with_max_order(whole(options, "max_ngram_order", 4))
        .with_smoothing(smoothing)
        .with_smooth_value(options["smooth_value"].as_f64()))
}

fn check_bleu(bleu: &Bleu, state: &BleuState, result: &Value) -> Result<(), String> {
    let score = bleu.compute(state);
    let smoothed = |index: usize| {
        score
            .smoothed_ngrams
            .iter()
            .map(move |ngrams| ngrams[index])
            .collect()
    };
    same("score", score.percent, result["score"].as_f64())?;
    same(
        "precisions",
        score.percent_precisions.clone(),
        numbers(&result["precisions"])?,
    )?;
    same("bp", score.brevity_penalty, result["bp"].as_f64())?;
    same("counts", smoothed(0), numbers(&result["counts"])?)?;
    same("totals", smoothed(1), numbers(&result["totals"])?)?;
    same(
        "sys_len",
        Some(state.prediction_length),
        result["sys_len"].as_u64(),
    )?;
    same(
        "ref_len",
        Some(state.reference_length),
        result["ref_len"].as_u64(),
    )?;
    let fraction = score.percent.map(|percent| percent / 100.0);
    same(
        "fraction",
        score.named_scores(),
        vec![("bleu".to_owned(), fraction)],
    )
}

#[test]
fn bleu_of_sacrebleu() {
    let rows = rows::rows("translation/bleu.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        check_metric("bleu", row)?;
        let bleu = bleu_of(&row["options"])?;
        let examples = examples(row)?;
        let (states, all) = states(&bleu, &examples);
        check_bleu(&bleu, &all, &row["result"])?;
        check_references(row, all.references.to_string())?;
        let expected = row["segments"].as_array().ok_or("no segments")?;
        for (state, expected) in states.iter().zip(expected) {
            let mut ours = vec![state.prediction_length, state.reference_length];
            ours.extend(state.ngrams.iter().map(|ngrams| ngrams[0]));
            ours.extend(state.ngrams.iter().map(|ngrams| ngrams[1]));
            same("segment", ours, counts(expected)?)?;
        }
        if let (Some(expected), [(prediction, references)]) = (row["tokens"].as_array(), &*examples)
        {
            let texts = [prediction].into_iter().chain(references);
            for (text, expected) in texts.zip(expected) {
                same("tokens", bleu.tokens(text), self::texts(expected)?)?;
            }
        }
        Ok(())
    });
}

fn chrf_of(options: &Value) -> Chrf {
    Chrf::default()
        .with_char_order(whole(options, "char_order", 6))
        .with_word_order(whole(options, "word_order", 0))
        .with_beta(options["beta"].as_f64().unwrap_or(2.0))
        .with_lowercase(flag(options, "lowercase"))
        .with_whitespace(flag(options, "whitespace"))
        .with_eps_smoothing(flag(options, "eps_smoothing"))
}

#[test]
fn chrf_of_sacrebleu() {
    let rows = rows::rows("translation/chrf.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        check_metric("chrf", row)?;
        let chrf = chrf_of(&row["options"]);
        let (states, all) = states(&chrf, &examples(row)?);
        let score = chrf.compute(&all);
        same("score", score.percent, row["result"]["score"].as_f64())?;
        same(
            "fraction",
            score.chrf,
            score.percent.map(|percent| percent / 100.0),
        )?;
        same(
            "statistics",
            all.statistics.concat(),
            counts(&row["result"]["statistics"])?,
        )?;
        check_references(row, all.references.to_string())?;
        let expected = row["segments"].as_array().ok_or("no segments")?;
        for (state, expected) in states.iter().zip(expected) {
            same("segment", state.statistics.concat(), counts(expected)?)?;
        }
        // The index in the row counts references that are null.
        let lists = row["references"].as_array().ok_or("no references")?;
        let chosen = counts(&row["chosen"])?;
        for (((prediction, references), list), chosen) in
            examples(row)?.iter().zip(lists).zip(chosen)
        {
            let ours = chrf.add(&mut ChrfState::default(), prediction, references);
            let all = list.as_array().into_iter().flatten().enumerate();
            let given: Vec<usize> = all
                .filter(|(_, text)| !text.is_null())
                .map(|(index, _)| index)
                .collect();
            same(
                "chosen",
                ours.and_then(|index| given.get(index)),
                Some(&(chosen as usize)),
            )?;
        }
        Ok(())
    });
}

fn ter_of(options: &Value) -> Ter {
    Ter::default()
        .with_normalized(flag(options, "normalized"))
        .with_no_punct(flag(options, "no_punct"))
        .with_asian_support(flag(options, "asian_support"))
        .with_case_sensitive(flag(options, "case_sensitive"))
}

#[test]
fn ter_of_sacrebleu() {
    let rows = rows::rows("translation/ter.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        check_metric("ter", row)?;
        let ter = ter_of(&row["options"]);
        let (states, all) = states(&ter, &examples(row)?);
        let score = ter.compute(&all);
        same(
            "num_edits",
            Some(all.edits),
            row["result"]["num_edits"].as_u64(),
        )?;
        near(
            "ref_length",
            score.reference_length,
            &row["result"]["ref_length"],
        )?;
        near(
            "score",
            score.percent.unwrap_or(f64::NAN),
            &row["result"]["score"],
        )?;
        same(
            "fraction",
            score.ter,
            score.percent.map(|percent| percent / 100.0),
        )?;
        check_references(row, all.references.to_string())?;
        let expected = row["segments"].as_array().ok_or("no segments")?;
        for (state, expected) in states.iter().zip(expected) {
            same("edits", Some(state.edits), expected[0].as_u64())?;
            let lengths = counts(&expected[1])?;
            let expected = (lengths.len() as u64, lengths.iter().sum());
            same(
                "lengths",
                state.lengths.iter().next().map(|(k, sum)| (*k, *sum)),
                Some(expected),
            )?;
        }
        Ok(())
    });
}

/// Without normalization, the profile that prepares references once is the same.
#[test]
fn ter_with_references_prepared_once() {
    let rows = rows::rows("translation/ter.jsonl");
    let rows: Vec<Value> = rows
        .into_iter()
        .filter(|row| !flag(&row["options"], "normalized"))
        .collect();
    rows::check(&rows, rows::id, &[], |row| {
        let ter = ter_of(&row["options"]).with_profile(TerProfile::Corrected);
        let (_, all) = states(&ter, &examples(row)?);
        same(
            "num_edits",
            Some(all.edits),
            row["result"]["num_edits"].as_u64(),
        )?;
        near(
            "score",
            ter.compute(&all).percent.unwrap_or(f64::NAN),
            &row["result"]["score"],
        )
    });
}

/// What sacreBLEU returns for empty texts, single words and missing references. Rows in which it raises an error, or in
/// which an example has no reference, are left out: readers refuse such examples.
#[test]
fn undefined_cases_of_sacrebleu() {
    let rows = rows::rows("translation/undefined.jsonl");
    let has_references = |row: &Value| {
        let streams = row["reference_streams"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let shortest = streams
            .iter()
            .map(|stream| stream.as_array().map_or(0, Vec::len))
            .min();
        let is_given = |index| streams.iter().any(|stream| !stream[index].is_null());
        row["result"].get("error").is_none() && (0..shortest.unwrap_or(0)).all(is_given)
    };
    let rows: Vec<Value> = rows.into_iter().filter(has_references).collect();
    rows::check(&rows, rows::id, &[], |row| {
        let streams = row["reference_streams"].as_array().ok_or("no streams")?;
        let predictions = texts(&row["hypotheses"])?;
        // The lists are cut to the shortest.
        let shortest = streams
            .iter()
            .map(|stream| stream.as_array().map_or(0, Vec::len))
            .min();
        let examples = predictions
            .into_iter()
            .take(shortest.unwrap_or(0))
            .enumerate();
        let examples = examples.map(|(index, prediction)| {
            let references = streams
                .iter()
                .filter_map(|stream| stream[index].as_str().map(str::to_owned));
            (prediction, references.collect())
        });
        let examples: Vec<Example> = examples.collect();
        let (options, result) = (&row["options"], &row["result"]);
        match text(row, "metric")? {
            "bleu" => {
                let bleu = bleu_of(options)?;
                check_bleu(&bleu, &states(&bleu, &examples).1, result)
            }
            "chrf" => {
                let chrf = chrf_of(options);
                let score = chrf.compute(&states(&chrf, &examples).1);
                same("score", score.percent, result["score"].as_f64())
            }
            "ter" => {
                let ter = ter_of(options);
                let state = states(&ter, &examples).1;
                let score = ter.compute(&state);
                same("num_edits", Some(state.edits), result["num_edits"].as_u64())?;
                same(
                    "ref_length",
                    Some(score.reference_length),
                    result["ref_length"].as_f64(),
                )?;
                same("score", score.percent, result["score"].as_f64())
            }
            other => Err(format!("no metric {other}")),
        }
    });
}

fn check_nmt(bleu: &Bleu, row: &Value) -> Result<(), String> {
    let (_, state) = states(bleu, &examples(row)?);
    let (score, result) = (bleu.compute(&state), &row["result"]);
    if result.get("error").is_some() {
        return same(
            "undefined",
            (score.bleu, score.brevity_penalty),
            (None, None),
        );
    }
    same("bleu", score.bleu, result["bleu"].as_f64())?;
    same(
        "precisions",
        score.precisions,
        numbers(&result["precisions"])?,
    )?;
    same(
        "brevity_penalty",
        score.brevity_penalty,
        result["brevity_penalty"].as_f64(),
    )?;
    same(
        "translation_length",
        Some(state.prediction_length),
        result["translation_length"].as_u64(),
    )?;
    same(
        "reference_length",
        Some(state.reference_length),
        result["reference_length"].as_u64(),
    )
}

fn nmt_of(options: &Value, profile: BleuProfile, smooth: bool) -> Bleu {
    Bleu::default()
        .with_profile(profile)
        .with_max_order(whole(options, "max_order", 4))
        .with_smoothing(Some(if smooth {
            Smoothing::AddOne
        } else {
            Smoothing::None
        }))
}

#[test]
fn bleu_of_evaluate() {
    let rows = rows::rows("translation/evaluate_bleu.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let options = &row["options"];
        check_nmt(
            &nmt_of(options, BleuProfile::Evaluate, flag(options, "smooth")),
            row,
        )
    });
}

#[test]
fn bleu_of_codexglue_generation() {
    let rows = rows::rows("translation/codexglue_nmt.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let options = &row["options"];
        check_nmt(
            &nmt_of(
                options,
                BleuProfile::CodexglueGeneration,
                flag(options, "smooth"),
            ),
            row,
        )
    });
}

#[test]
fn bleu_of_codexglue_summarization() {
    let bleu = Bleu::default().with_profile(BleuProfile::CodexglueSummarization);
    let rows = rows::rows("translation/codexglue_summarization.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let (states, all) = states(&bleu, &examples(row)?);
        let (score, result) = (bleu.compute(&all), &row["result"]);
        near("bleu", score.percent.unwrap_or(f64::NAN), &result["bleu"])?;
        let precisions = result["precisions"].as_array().ok_or("no precisions")?;
        for (ours, expected) in score.percent_precisions.iter().zip(precisions) {
            near("precision", *ours, expected)?;
        }
        let segments = row["segments"].as_array().ok_or("no segments")?;
        for (state, expected) in states.iter().zip(segments) {
            let [correct, guess] = [0, 1].map(|index| {
                state
                    .ngrams
                    .iter()
                    .map(move |ngrams| ngrams[index])
                    .collect()
            });
            same("correct", correct, counts(&expected["correct"])?)?;
            same("guess", guess, counts(&expected["guess"])?)?;
            same(
                "testlen",
                Some(state.prediction_length),
                expected["testlen"].as_u64(),
            )?;
            same(
                "reflen",
                Some(state.reference_length),
                expected["reflen"].as_u64(),
            )?;
            same("bleu", bleu.compute(state).bleu, expected["bleu"].as_f64())?;
        }
        Ok(())
    });
}

fn rouge_of(options: &Value) -> Result<Rouge, String> {
    let names = match options.get("rouge_types") {
        Some(names) => texts(names)?,
        None => ["1", "2", "L", "Lsum"].map(str::to_owned).into(),
    };
    let types: Result<Vec<RougeType>, _> = names.iter().map(|name| name.parse()).collect();
    let types = types.map_err(|error| format!("{error}"))?;
    Ok(Rouge::default()
        .with_types(types)
        .with_stemmer(flag(options, "use_stemmer")))
}

fn triple(overlap: Overlap) -> Vec<u64> {
    vec![overlap.matches, overlap.prediction, overlap.reference]
}

#[test]
fn rouge_of_rouge_score() {
    let rows = rows::rows("translation/rouge.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let rouge = rouge_of(&row["options"])?;
        let (prediction, references) = (text(row, "prediction")?, texts(&row["references"])?);
        let state = rouge.measure(prediction, &references);
        let scores = rouge.compute(&state).scores;
        for (score, sums) in scores.iter().zip(&state.types) {
            let name = score.rouge_type.name();
            let expected = &row["result"][name];
            same(name, score.precision, expected["precision"].as_f64())?;
            same(name, score.recall, expected["recall"].as_f64())?;
            same(name, score.f, expected["fmeasure"].as_f64())?;
            same(name, triple(sums.overlap), counts(&row["counts"][name])?)?;
        }
        let each = row["each"]
            .as_array()
            .ok_or("no counts of each reference")?;
        let overlaps = rouge.overlaps(prediction, &references);
        same("references", overlaps.len(), each.len())?;
        for (overlaps, expected) in overlaps.iter().zip(each) {
            for (overlap, rouge_type) in overlaps.iter().zip(&rouge.types) {
                same(
                    rouge_type.name(),
                    triple(*overlap),
                    counts(&expected[rouge_type.name()])?,
                )?;
            }
        }
        Ok(())
    });
}

/// The means of rouge-score's values over the examples; the intervals of its bootstrap are random.
#[test]
fn means_of_rouge_score() {
    let rows = rows::rows("translation/rouge_bootstrap.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let rouge = rouge_of(&row["options"])?;
        let (_, state) = states(&rouge, &examples(row)?);
        for score in rouge.compute(&state).scores {
            let expected = &row["mean"][score.rouge_type.name()];
            let ours = [score.precision, score.recall, score.f];
            same(
                score.rouge_type.name(),
                ours.map(Option::unwrap_or_default).to_vec(),
                numbers(expected)?,
            )?;
        }
        Ok(())
    });
}

#[test]
fn rouge_of_evaluate() {
    let rows = rows::rows("translation/evaluate_rouge.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let rouge = rouge_of(&row["options"])?;
        let predictions = texts(&row["predictions"])?;
        let references = row["references"].as_array().ok_or("no references")?;
        let mut all = RougeState::default();
        let mut lists = vec![Vec::new(); rouge.types.len()];
        for (prediction, reference) in predictions.iter().zip(references) {
            let references = match reference {
                Value::String(reference) => vec![reference.clone()],
                list => texts(list)?,
            };
            let state = rouge.measure(prediction, &references);
            for (list, score) in lists.iter_mut().zip(rouge.compute(&state).scores) {
                list.push(score.f.unwrap_or(f64::NAN));
            }
            all.merge(state);
        }
        for (score, list) in rouge.compute(&all).scores.into_iter().zip(lists) {
            let name = score.rouge_type.name();
            same(name, score.f, row["mean"][name].as_f64())?;
            if !flag(&row["options"], "use_aggregator") {
                same(name, list, numbers(&row["result"][name])?)?;
            }
        }
        Ok(())
    });
}

#[test]
fn stems_of_nltk() {
    let rows = rows::rows("translation/stems.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let stems = row["stems"].as_object().ok_or("no stems")?;
        stems.iter().try_for_each(|(word, expected)| {
            same(word, Some(&*rouge::stem(word)), expected.as_str())
        })
    });
}

/// The tokens of a text under rules with a name such as `13a-lowercase` or `ter-normalized-reference`.
fn tokens(rules: &str, text: &str) -> Result<Vec<String>, String> {
    let mut parts = rules.split('-');
    let name = parts.next().unwrap_or_default();
    let options: Vec<&str> = parts.collect();
    let has = |option: &str| options.contains(&option);
    Ok(match name {
        "ter" => {
            let ter = Ter::default()
                .with_normalized(has("normalized"))
                .with_no_punct(has("no_punct"))
                .with_asian_support(has("asian_support"))
                .with_case_sensitive(has("case_sensitive"));
            if has("reference") {
                ter.reference_tokens(text)
            } else {
                ter.tokens(text)
            }
        }
        "chrf" => chrf::words(text).into_iter().map(str::to_owned).collect(),
        "rouge" => rouge::tokens(text, has("stemmer")),
        "codexglue" => Bleu::default()
            .with_profile(BleuProfile::CodexglueSummarization)
            .tokens(text),
        tokenizer => {
            let tokenizer = tokenizer.parse().map_err(|error| format!("{error}"))?;
            let bleu = Bleu::default().with_tokenizer(tokenizer);
            bleu.with_lowercase(has("lowercase")).tokens(text)
        }
    })
}

#[test]
fn tokens_of_all_rules() {
    let rows = rows::rows("translation/tokenizers.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let expected = row["tokens"].as_object().ok_or("no tokens")?;
        let text = text(row, "text")?;
        expected
            .iter()
            .try_for_each(|(rules, expected)| same(rules, tokens(rules, text)?, texts(expected)?))
    });
}
