//! Edit similarity.

use metric_core::Mean;
use metric_text::EditSimilarity;

use crate::prepare::{EXTRACT, NORMALIZE};
use crate::shapes::texts::{Limit, MAX_CELLS, OfTexts};
use crate::{Demo, Entry, ScoreSpec, Shape, TextMetric};

pub(crate) const EDIT_SIMILARITY: Entry = Entry {
    name: "edit-similarity",
    question: "How much of a text, such as a completion of code, is as in its reference?",
    programs: "rapidfuzz",
    shapes: &[Shape::Texts.as_is()],
    tried: &[&[("normalize", "strip,lower")]],
    help: "Mean of 1 less the Levenshtein distance over the length of the longer text",
    values: ("a string", "a string"),
    known_as: &[(&["fuzz-ratio", "normalized-levenshtein"], "")],
    demos: &[Demo::new(
        "transcriptions",
        ["words.txt", "read-words.txt"],
        &[],
    )],
    options: &[EXTRACT, NORMALIZE, MAX_CELLS],
    scores: &[ScoreSpec::higher("edit_similarity")],
    build: &|options| {
        let reading = OfTexts {
            is_correct: |state: &Mean| state.value() == Some(1.0),
            limit: Limit::of_distance(options, EditSimilarity::measure_within)?,
            direct: Some(|text| text),
            ..OfTexts::new("edit-similarity", EditSimilarity)
        };
        reading.scorer(options)
    },
    ..Entry::BASE
};

impl TextMetric for EditSimilarity {}
