//! The share of texts that equal their reference.

use std::borrow::Cow;

use metric_core::Accuracy;
use metric_text::{Normalizer, StringAccuracy};

use crate::prepare::{EXTRACT, NORMALIZE, normalize_parts};
use crate::shapes::texts::OfTexts;
use crate::{Demo, Entry, Named, ScoreSpec, Shape, TextMetric};

pub(crate) const STRING_ACCURACY: Entry = Entry {
    name: "string-accuracy",
    question: "How many texts equal their reference?",
    programs: "Python",
    shapes: &[Shape::Texts.as_is(), Shape::Answers.as_is()],
    tried: &[&[("normalize", "nfc,casefold,strip")]],
    help: "Share of texts that equal their reference",
    values: ("a string, or `references`: a list of strings", "a string"),
    demos: &[Demo::new(
        "transcriptions",
        ["words.txt", "read-words.txt"],
        &["string_accuracy"],
    )
    .with(&[("normalize", "nfc,casefold")])],
    options: &[EXTRACT, NORMALIZE],
    scores: &[ScoreSpec::higher("string_accuracy").proportion("correct", "total")],
    build: &|options| {
        let normalizer: Normalizer = options.parse(NORMALIZE.name)?.unwrap_or_default();
        let reading = OfTexts {
            is_correct: |state: &Accuracy| state.correct > 0,
            any_of: true,
            of_equal: normalizer.steps.is_empty().then_some(|equal| equal),
            direct: Some(|text| text),
            ..OfTexts::new("string-accuracy", StringAccuracy { normalizer })
        };
        reading.scorer(options)
    },
    ..Entry::BASE
};

impl TextMetric for StringAccuracy {
    fn definition(&self) -> Named<String> {
        normalize_parts(&self.normalizer)
    }

    fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.normalizer.apply(text)
    }
}

#[cfg(test)]
mod tests {
    use metric_text::normalize::Step;

    use crate::steps::STEPS;

    use super::*;

    #[test]
    fn every_step_is_explained() {
        let names: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        for step in Step::ALL {
            assert!(names.contains(&step.name()), "{}", step.name());
        }
        // The others have an argument.
        let others = names.iter().filter(|name| name.ends_with(')'));
        assert_eq!(names.len(), Step::ALL.len() + others.count());
        for name in names {
            assert!(NORMALIZE.help.contains(name), "{name}");
        }
    }
}
