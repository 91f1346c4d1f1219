use metric_report::{
    Alignment, Block, Cell, Column, Fact, Facts, Order, Section, Step, Table, Tone,
};
use metric_text::edit::{Alignment as Aligned, Edit, Profile};
use metric_text::{Normalizer, Unit, squad};
use serde_json::Value;

use super::parts::{bars, caption, count_bars, largest, section};
use super::{Shown, ShownExample};
use crate::Options;

/// The number of confusions that are listed.
const CONFUSIONS: usize = 50;

/// Error rates: errors by kind, and what is confused with what.
pub(super) fn sections(shown: Shown<'_>) -> Vec<Section> {
    let kinds = [
        ("substitutions", "substituted", Tone::Bad),
        ("deletions", "deleted", Tone::Missing),
        ("insertions", "inserted", Tone::Added),
    ];
    let kinds = count_bars(shown, &kinds);
    let hits = shown.result["counts"]["hits"].as_u64().unwrap_or(0);
    let note = format!("{hits} units of the references are correct.");
    let mut blocks = bars(
        caption("Errors by kind", &note, largest(&kinds)),
        None,
        kinds,
    );
    let confusions = shown
        .details
        .and_then(|details| details["confusions"].as_array());
    let confusions = confusions.map_or(&[][..], Vec::as_slice);
    let side = |value: &Value| Cell::Text(value.as_str().unwrap_or("(nothing)").to_owned());
    let row = |confusion: &Value| {
        let count = confusion["count"].as_u64().unwrap_or(0);
        vec![
            side(&confusion["reference"]),
            side(&confusion["prediction"]),
            Cell::Count(count),
        ]
    };
    if !confusions.is_empty() && shown.has_texts {
        let column = |name: &str, text| Column {
            name: name.to_owned(),
            text,
            ..Column::default()
        };
        let shown = confusions.len().min(CONFUSIONS);
        let caption = match confusions.len() - shown {
            0 => "Most frequent errors".to_owned(),
            rest => format!("The {shown} most frequent errors; {rest} more are in --details"),
        };
        blocks.push(Block::Table(Table {
            caption,
            columns: vec![
                column("reference", true),
                column("prediction", true),
                column("times", false),
            ],
            rows: confusions[..shown].iter().map(row).collect(),
            order: Some((2, Order::Descending)),
            ..Table::default()
        }));
    }
    section("Errors", "", blocks)
}

/// The alignment of an example, as the metric aligns it.
pub(super) fn example(options: &Options, example: &ShownExample) -> Vec<Block> {
    let texts = example.reference.as_ref().and_then(Value::as_str);
    let Some((reference, prediction)) =
        texts.zip(example.prediction.as_ref().and_then(Value::as_str))
    else {
        return Vec::new();
    };
    // The text extracted from a prediction is not known here.
    if options.has("extract") {
        return Vec::new();
    }
    let unit = match options.has("unit") {
        true => options.require("unit").unwrap_or(Unit::CodePoint),
        false => Unit::Word,
    };
    let profile = options.require("profile").unwrap_or(Profile::Jiwer);
    let normalizer: Normalizer = options
        .parse("normalize")
        .ok()
        .flatten()
        .unwrap_or_default();
    let texts = [reference, prediction].map(|text| normalizer.apply(text));
    let [reference, prediction] = texts.each_ref().map(|text| unit.split(text, profile));
    // A long text is shown as far as a page shows texts.
    let [reference, prediction] =
        [&reference, &prediction].map(|units| &units[..units.len().min(2_000)]);
    let is_word = unit == Unit::Word;
    let mut steps = Vec::new();
    for chunk in Aligned::new(reference, prediction).chunks {
        let sides = (
            &reference[chunk.reference.clone()],
            &prediction[chunk.prediction.clone()],
        );
        match (chunk.edit, is_word) {
            // Characters are shown in runs.
            (edit, false) => steps.push(step(edit, sides.0.concat(), sides.1.concat())),
            (edit, true) => {
                let unit = |side: &[&str], index: usize| {
                    side.get(index).copied().unwrap_or_default().to_owned()
                };
                let count = sides.0.len().max(sides.1.len());
                steps.extend(
                    (0..count).map(|index| step(edit, unit(sides.0, index), unit(sides.1, index))),
                );
            }
        }
    }
    vec![Block::Alignment(Alignment {
        steps,
        characters: !is_word,
    })]
}

fn step(edit: Edit, reference: String, prediction: String) -> Step {
    match edit {
        Edit::Equal => Step::Equal(reference),
        Edit::Substitute => Step::Substituted(reference, prediction),
        Edit::Delete => Step::Deleted(reference),
        Edit::Insert => Step::Inserted(prediction),
    }
}

pub(super) fn no_sections(_shown: Shown<'_>) -> Vec<Section> {
    Vec::new()
}

/// An answer: the references, the prediction, and what it becomes if it is normalized.
pub(super) fn answer(options: &Options, example: &ShownExample) -> Vec<Block> {
    let normalizer: Option<Normalizer> = match options.has("normalize") {
        true => options.parse("normalize").ok().flatten(),
        false => None,
    };
    shown_answer(example, |text| match &normalizer {
        Some(normalizer) => normalizer.apply(text).into_owned(),
        None => text.to_owned(),
    })
}

/// An answer, without the case, the punctuation and the articles that SQuAD leaves out.
pub(super) fn squad_answer(_options: &Options, example: &ShownExample) -> Vec<Block> {
    shown_answer(example, squad::normalize)
}

/// The references and the prediction, each with what it becomes if that is another text.
fn shown_answer(example: &ShownExample, normalized: impl Fn(&str) -> String) -> Vec<Block> {
    let Some((reference, prediction)) = example.reference.as_ref().zip(example.prediction.as_ref())
    else {
        return Vec::new();
    };
    let answers: Vec<String> = match reference {
        Value::Array(answers) => answers.iter().map(super::parts::text).collect(),
        other => vec![super::parts::text(other)],
    };
    let prediction = super::parts::text(prediction);
    let mut facts = Vec::new();
    let question = example
        .fields
        .as_ref()
        .and_then(|fields| fields.get("question"));
    facts.extend(question.map(|question| {
        (
            "question".to_owned(),
            Fact::Text(super::parts::text(question)),
        )
    }));
    if answers.is_empty() {
        let words = Fact::Words("none: the question has no answer".to_owned());
        facts.push(("reference".to_owned(), words));
    }
    let answers = answers.into_iter().take(10);
    let sides = answers.map(|answer| ("reference", answer));
    for (side, text) in sides.chain([("prediction", prediction)]) {
        let becomes = normalized(&text);
        facts.push((side.to_owned(), Fact::Text(text.clone())));
        if becomes != text {
            facts.push((format!("{side}, normalized"), Fact::Text(becomes)));
        }
    }
    vec![Block::Facts(Facts { facts })]
}
