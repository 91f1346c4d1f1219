use crate::{Alignment, Bar, Block, Cell, Column, Fact, Facts, Order, Section, Step, Table, Tone};
use metric_text::Unit;
use metric_text::edit::{Alignment as Aligned, Chunk, Edit, EditProfile};
use serde_json::Value;

use super::parts::{bars, caption, count_bars, largest, section};
use super::{Shown, ShownExample};
use metric_registry::{ComparedTexts, Inputs, Options};

/// The number of confusions of a kind that are listed.
const CONFUSIONS: usize = 30;

/// The kinds of errors, each with the sides that have a unit.
const KINDS: [(&str, &[&str]); 3] = [
    ("substitutions", &["reference", "prediction"]),
    ("deletions", &["reference"]),
    ("insertions", &["prediction"]),
];

/// Error rates: errors by kind, and what is confused with what.
pub(super) fn sections(shown: Shown<'_>) -> Vec<Section> {
    let kinds = [
        ("substitutions", "substituted", Tone::Bad),
        ("deletions", "deleted", Tone::Missing),
        ("insertions", "inserted", Tone::Added),
    ];
    let kinds = count_bars(shown, &kinds);
    let hits = shown.result["counts"]["hits"].as_u64().unwrap_or(0);
    let options = &shown.result["options"];
    let mixes = options["unit"] == "mixed" || options["profile"] == "wenet";
    let units = match shown.result["metric"].as_str() {
        _ if mixes => "unit",
        Some("wer") => "word",
        _ => "character",
    };
    let are = if hits == 1 { " is" } else { "s are" };
    let hits = crate::grouped(hits);
    let note = format!("{hits} {units}{are} correct.");
    let mut blocks = bars(
        caption("Errors by kind", &note, largest(&kinds)),
        None,
        kinds,
    );
    if let Some(details) = shown.details.filter(|_| shown.has_texts) {
        for (kind, sides) in KINDS {
            blocks.extend(confusions(details, kind, sides));
        }
    }
    section("Errors", "", blocks)
}

/// BLEU: the precision of each order, and the penalty for short texts.
pub(super) fn precisions(shown: Shown<'_>) -> Vec<Section> {
    let counts = &shown.result["counts"];
    let bar = |name: String, value: &Value| Bar {
        name,
        value: Cell::from(value.as_f64()),
        ..Bar::default()
    };
    let precisions = counts["precisions"].as_array().into_iter().flatten();
    let precisions = (1..).zip(precisions);
    let mut all: Vec<Bar> = precisions
        .map(|(order, value)| bar(format!("{order}-grams"), value))
        .collect();
    if counts["brevity_penalty"].is_number() {
        all.push(bar(
            "brevity penalty".to_owned(),
            &counts["brevity_penalty"],
        ));
    }
    let lengths = ["prediction_length", "reference_length"].map(|name| counts[name].as_u64());
    let [prediction, reference] = lengths.map(|it| crate::grouped(it.unwrap_or(0)));
    let note = format!("The predictions have {prediction} tokens, and the references {reference}.");
    let chart = caption("Precision by length of n-grams", &note, String::new());
    section("N-grams", "", bars(chart, Some(1.0), all))
}

/// The most frequent confusions of a kind, which have units on these sides and none on the other.
fn confusions(details: &Value, kind: &str, sides: &[&str]) -> Option<Block> {
    let has = |confusion: &Value, side: &str| confusion[side].is_string();
    let is_of_kind = |confusion: &&Value| {
        ["reference", "prediction"]
            .iter()
            .all(|side| has(confusion, side) == sides.contains(side))
    };
    let all: Vec<&Value> = details["confusions"]
        .as_array()?
        .iter()
        .filter(is_of_kind)
        .collect();
    if all.is_empty() {
        return None;
    }
    // Details that are cut say how many there are.
    let distinct = details["distinct"][kind].as_u64();
    let distinct = distinct.unwrap_or(all.len() as u64);
    let listed = all.len().min(CONFUSIONS);
    let caption = if distinct <= listed as u64 {
        format!("Most frequent {kind}")
    } else {
        let distinct = crate::grouped(distinct);
        format!("The {listed} most frequent of {distinct} {kind}; --details has them all")
    };
    let column = |name: &str, text| Column {
        name: name.to_owned(),
        text,
        ..Column::default()
    };
    let mut columns: Vec<Column> = sides.iter().map(|side| column(side, true)).collect();
    columns.push(column("times", false));
    let row = |confusion: &&Value| {
        let text = |side: &&str| match confusion[*side].as_str().unwrap_or_default() {
            // As in alignments.
            spaces if spaces.trim_matches(' ').is_empty() => spaces.replace(' ', "·"),
            text => text.to_owned(),
        };
        let mut row: Vec<Cell> = sides.iter().map(|side| Cell::Text(text(side))).collect();
        row.push(Cell::Count(confusion["count"].as_u64().unwrap_or(0)));
        row
    };
    Some(Block::Table(Table {
        caption,
        columns,
        rows: all[..listed].iter().map(row).collect(),
        order: Some((sides.len(), Order::Descending)),
        ..Table::default()
    }))
}

/// The alignment of the words of an example, as the metric aligns them. Of several references it is with the one that has
/// most in common with the prediction, and all of them are shown.
pub(super) fn words(
    options: &Options,
    example: &ShownExample,
    compared: Option<&ComparedTexts>,
) -> Vec<Block> {
    let mut blocks = match compared {
        Some(compared) if compared.references.len() > 1 => answer(options, example, Some(compared)),
        _ => Vec::new(),
    };
    blocks.extend(alignment(options, Unit::Word, compared));
    blocks
}

/// The alignment of the characters of an example.
pub(super) fn characters(
    options: &Options,
    _: &ShownExample,
    compared: Option<&ComparedTexts>,
) -> Vec<Block> {
    alignment(options, Unit::CodePoint, compared)
}

fn alignment(options: &Options, unit: Unit, compared: Option<&ComparedTexts>) -> Vec<Block> {
    let Some(ComparedTexts {
        prediction: [_, prediction],
        references,
    }) = compared
    else {
        return Vec::new();
    };
    let unit = options.parse("unit").ok().flatten().unwrap_or(unit);
    let profile = options.require("profile").unwrap_or(EditProfile::Jiwer);
    // A long text is shown as far as a page shows texts.
    let units = |text| {
        let mut units = unit.split(text, profile);
        units.truncate(2_000);
        units
    };
    let prediction = units(prediction);
    let aligned = references.iter().map(|[_, reference]| {
        let reference = units(reference);
        let chunks = Aligned::under(profile, &reference, &prediction).chunks;
        (reference, chunks)
    });
    let equal = |(_, chunks): &(_, Vec<Chunk>)| {
        let equal = chunks.iter().filter(|chunk| chunk.edit == Edit::Equal);
        equal.map(|chunk| chunk.reference.len()).sum::<usize>()
    };
    // The last of equal ones is taken, so the first comes last.
    let Some((reference, chunks)) = aligned.rev().max_by_key(equal) else {
        return Vec::new();
    };
    let is_word = matches!(unit, Unit::Word | Unit::Mixed);
    let mut steps = Vec::new();
    for chunk in chunks {
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

/// The references and the prediction, each with what is compared in its place if that is another text.
pub(super) fn answer(
    _options: &Options,
    example: &ShownExample,
    compared: Option<&ComparedTexts>,
) -> Vec<Block> {
    let Some(ComparedTexts {
        prediction,
        references,
    }) = compared
    else {
        return Vec::new();
    };
    let mut facts = Vec::new();
    // Next to the reference, or in the same object as the answers.
    let objects = [example.fields.as_ref(), example.reference.as_ref()];
    let mut objects = objects.into_iter().flatten();
    let question = objects.find_map(|object| object.get(Inputs::QUESTION));
    facts.extend(question.map(|question| {
        let question = super::parts::text(question);
        (Inputs::QUESTION.to_owned(), Fact::Text(question))
    }));
    if references.is_empty() {
        let words = Fact::Words("none: the question has no answer".to_owned());
        facts.push(("reference".to_owned(), words));
    }
    // The same answer of several people is shown once.
    let mut distinct: Vec<(&[String; 2], usize)> = Vec::new();
    for reference in references {
        match distinct.iter_mut().find(|(known, _)| *known == reference) {
            Some((_, times)) => *times += 1,
            None => distinct.push((reference, 1)),
        }
    }
    let left_out = distinct.len().saturating_sub(ANSWERS);
    let mut add = |side: &str, times: usize, [given, compared]: &[String; 2]| {
        let name = match times {
            1 => side.to_owned(),
            times => format!("{side}, {times} times"),
        };
        facts.push((name, Fact::Text(given.clone())));
        if compared != given {
            let name = format!("{side}, as compared");
            facts.push((name, Fact::Text(compared.clone())));
        }
    };
    for (reference, times) in distinct.into_iter().take(ANSWERS) {
        add("reference", times, reference);
    }
    add("prediction", 1, prediction);
    if left_out > 0 {
        let words = format!("{left_out} more references are not shown");
        facts.push(("left out".to_owned(), Fact::Words(words)));
    }
    vec![Block::Facts(Facts { facts })]
}

/// The most references that are shown of an example.
const ANSWERS: usize = 10;

/// What each speaker of a session says, on either side: a line for each segment, in the order in which they are listed.
pub(super) fn speakers(
    _options: &Options,
    example: &ShownExample,
    _compared: Option<&ComparedTexts>,
) -> Vec<Block> {
    let (Some(reference), Some(prediction)) = (&example.reference, &example.prediction) else {
        return Vec::new();
    };
    let mut facts = Vec::new();
    for (side, segments) in [("reference", reference), ("prediction", prediction)] {
        let mut speakers: Vec<(&str, Vec<&str>)> = Vec::new();
        for segment in segments.as_array().into_iter().flatten() {
            let [name, words] = ["speaker", "words"].map(|key| segment[key].as_str().unwrap_or(""));
            match speakers.iter_mut().find(|(known, _)| *known == name) {
                Some((_, lines)) => lines.push(words),
                None => speakers.push((name, vec![words])),
            }
        }
        let left_out = speakers.len().saturating_sub(SPEAKERS);
        for (name, lines) in speakers.into_iter().take(SPEAKERS) {
            facts.push((format!("{side}, {name}"), Fact::Text(lines.join("\n"))));
        }
        if left_out > 0 {
            let words = format!("{left_out} more speakers are not shown");
            facts.push((side.to_owned(), Fact::Words(words)));
        }
    }
    vec![Block::Facts(Facts { facts })]
}

/// The most speakers of a side that are shown of a session.
const SPEAKERS: usize = 10;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn speakers_of_a_session() {
        let example = ShownExample {
            reference: Some(json!([
                {"speaker": "Ada", "words": "good morning"},
                {"speaker": "Bo", "words": "hi"},
                {"speaker": "Ada", "words": "so"},
            ])),
            prediction: Some(json!([{"speaker": "x", "start": 0, "end": 1, "words": "good"}])),
            ..ShownExample::default()
        };
        let facts = [
            ("reference, Ada", "good morning\nso"),
            ("reference, Bo", "hi"),
            ("prediction, x", "good"),
        ];
        let facts = facts.map(|(name, text)| (name.to_owned(), Fact::Text(text.to_owned())));
        let expected = Block::Facts(Facts {
            facts: facts.to_vec(),
        });
        assert_eq!(speakers(&Options::default(), &example, None), [expected]);
        let without = ShownExample::default();
        assert!(speakers(&Options::default(), &without, None).is_empty());
    }
}
