//! Average Normalized Levenshtein Similarity.

use metric_core::{Mean, Metric};
use metric_text::Anls;
use metric_text::anls::AnlsProfile;

use crate::prepare::{EXTRACT, NORMALIZE};
use crate::shapes::texts::{Limit, MAX_CELLS, OfTexts};
use crate::{
    Asked, ComparedTexts, Demo, Entry, Named, Numbers, OptionSpec, References, ScoreSpec, Shape,
    TextMetric,
};

pub(crate) const ANLS: Entry = Entry {
    name: "anls",
    class: "ANLS",
    question: "Is an answer read from a document correct, or nearly?",
    programs: "anls, DocVQA",
    shapes: &[Shape::Answers.as_is()],
    tried: &[&[("profile", "rrc")]],
    help: "Average Normalized Levenshtein Similarity of answers read from documents",
    values: ("an answer or a list of answers", "a string"),
    known_as: &[(&["docvqa"], "")],
    demos: &[Demo::new("documents", ["documents.jsonl", "read-documents.jsonl"], &["anls"])],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::choice::<AnlsProfile>("profile", "PROFILE",
            "Score of a similarity of 0.5: 0 as in the paper, or 0.5 as in the program of the Robust Reading Competition").or(AnlsProfile::Paper.name()),
        MAX_CELLS,
    ],
    scores: &[ScoreSpec::higher("anls")],
    build: &|options| {
        let profile = options.require("profile")?;
        let reading = OfTexts {
            is_correct: |state: &Mean| state.value() == Some(1.0),
            compared: |anls: &Anls, prediction, answers| {
                ComparedTexts::new(prediction, answers.texts(), |text| anls.apply(text))
            },
            limit: Limit::of_distance(options, Anls::measure_within)?,
            ..OfTexts::new("anls", Anls { profile })
        };
        reading.scorer(options)
    },
    ..Entry::BASE
};

impl TextMetric for Anls {
    fn definition(&self) -> Named<String> {
        vec![("profile".to_owned(), self.profile.to_string())]
    }

    fn numbers(&self, state: &Mean, _: Asked<'_>) -> Numbers {
        Numbers {
            scores: vec![("anls".to_owned(), self.compute(state))],
            counts: vec![("total".to_owned(), state.count().into())],
            ..Numbers::default()
        }
    }
}
