use metric_report::{Block, Section, SideBySide};

use super::parts::{bars, caption, largest, score_bars, section, text};
use super::{Shown, ShownExample};
use crate::Options;

/// The components of the score.
pub(super) fn sections(shown: Shown<'_>) -> Vec<Section> {
    let names = [
        ("codebleu", "CodeBLEU"),
        ("ngram_match", "words"),
        ("weighted_ngram_match", "keywords"),
        ("syntax_match", "syntax"),
        ("dataflow_match", "dataflow"),
    ];
    let mut components = score_bars(shown, &names);
    if let Some(first) = components.first_mut() {
        first.main = true;
    }
    let finding = largest(components.get(1..).unwrap_or_default());
    let note = "The score is the weighted mean of the four components below it.";
    section(
        "Components",
        "",
        bars(
            caption("CodeBLEU by component", note, finding),
            Some(1.0),
            components,
        ),
    )
}

/// Reference and prediction, line by line.
pub(super) fn example(_options: &Options, example: &ShownExample) -> Vec<Block> {
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
    vec![Block::SideBySide(SideBySide {
        names: ["reference".to_owned(), "prediction".to_owned()],
        texts: [reference, text(prediction)],
    })]
}
