use crate::{Bar, Block, Cell, Section, SideBySide};
use serde_json::Value;

use super::parts::{bars, caption, largest, score_bars, section, text};
use super::{Shown, ShownExample};
use metric_registry::{ComparedTexts, Options};

/// The score, then its four components. Those of each language are in the table of its group.
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
    section("Components", "", blocks)
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
    let (name, reference) = match reference.as_array().map(Vec::as_slice) {
        Some([first]) => ("reference".to_owned(), text(first)),
        Some([first, others @ ..]) => {
            let name = format!("reference 1 of {}", others.len() + 1);
            (name, text(first))
        }
        _ => ("reference".to_owned(), text(reference)),
    };
    vec![Block::SideBySide(SideBySide {
        names: [name, "prediction".to_owned()],
        texts: [reference, text(prediction)],
    })]
}
