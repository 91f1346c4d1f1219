use metric_report::{Bar, Block, Cell, Column, Fact, Facts, Section, SideBySide, Table};
use serde_json::Value;

use super::parts::{bars, caption, largest, score_bars, section, text};
use super::{Shown, ShownExample};
use crate::{ComparedTexts, Options};

/// The score, then its four components.
const NAMES: &[(&str, &str)] = &[
    ("codebleu", "CodeBLEU"),
    ("ngram_match", "words"),
    ("weighted_ngram_match", "keywords"),
    ("syntax_match", "syntax"),
    ("dataflow_match", "dataflow"),
];

/// The components of the score.
pub(super) fn sections(shown: Shown<'_>) -> Vec<Section> {
    let mut components = score_bars(shown, NAMES);
    if let Some(first) = components.first_mut() {
        first.main = true;
    }
    let finding = largest(components.get(1..).unwrap_or_default());
    let note = "The score is the weighted mean of the four components below it.";
    let mut blocks = bars(
        caption("CodeBLEU by component", note, finding),
        Some(1.0),
        components,
    );
    let orders = shown
        .details
        .and_then(|details| details["ngrams"].as_array());
    let bar = |order: &Value| Bar {
        name: match order["length"].as_u64().unwrap_or(0) {
            1 => "1 word".to_owned(),
            length => format!("{length} words"),
        },
        value: Cell::from(order["precision"].as_f64()),
        ..Bar::default()
    };
    let orders: Vec<Bar> = orders.into_iter().flatten().map(bar).collect();
    let note = "Share of the word sequences of the predictions that occur in their references.";
    let chart = caption("Precision of n-grams by length", note, largest(&orders));
    blocks.extend(bars(chart, Some(1.0), orders));
    blocks.extend(by_language(shown));
    section("Components", "", blocks)
}

/// The components of each language, where there are several.
fn by_language(shown: Shown<'_>) -> Option<Block> {
    let languages = shown.result["groups"]["lang"].as_object()?;
    if languages.len() < 2 {
        return None;
    }
    let column = |name: &str, bar| Column {
        name: name.to_owned(),
        bar,
        text: false,
    };
    let first = Column {
        text: true,
        ..column("language", None)
    };
    let components = NAMES
        .iter()
        .map(|(_, label)| column(label, Some([0.0, 1.0])));
    let row = |(language, group): (&String, &Value)| {
        let scores = NAMES
            .iter()
            .map(|(name, _)| Cell::from(group["scores"][*name].as_f64()));
        let name = [Cell::Text(language.clone())];
        name.into_iter().chain(scores).collect()
    };
    Some(Block::Table(Table {
        caption: "Components by language".to_owned(),
        columns: std::iter::once(first).chain(components).collect(),
        rows: languages.iter().map(row).collect(),
        ..Table::default()
    }))
}

/// Reference and prediction, line by line.
pub(super) fn example(
    _options: &Options,
    example: &ShownExample,
    _: Option<&ComparedTexts>,
) -> Vec<Block> {
    let Some((reference, prediction)) = example.reference.as_ref().zip(example.prediction.as_ref())
    else {
        return Vec::new();
    };
    let reference = match reference
        .as_array()
        .and_then(|references| references.first())
    {
        Some(first) => text(first),
        None => text(reference),
    };
    let component = |(name, label): &(&str, &str)| {
        let (_, value) = example.scores.iter().find(|(other, _)| other == name)?;
        let value = value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
        Some(format!("{label} {value}"))
    };
    let components: Vec<String> = NAMES[1..].iter().filter_map(component).collect();
    let mut blocks = Vec::new();
    if !components.is_empty() {
        let words = Fact::Words(components.join(", "));
        let facts = vec![("components".to_owned(), words)];
        blocks.push(Block::Facts(Facts { facts }));
    }
    blocks.push(Block::SideBySide(SideBySide {
        names: ["reference".to_owned(), "prediction".to_owned()],
        texts: [reference, text(prediction)],
    }));
    blocks
}
