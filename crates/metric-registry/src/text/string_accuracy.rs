//! Strings.

use std::borrow::Cow;

use metric_core::Accuracy;
use metric_text::{Normalizer, StringAccuracy, VERSION};

use crate::shapes::texts::OfTexts;
use crate::text::prepare::{EXTRACT, NORMALIZE, extracting_scorer, normalize_parts};
use crate::{Demo, Entry, Named, ScoreSpec, TextMetric};

pub(crate) const STRING_ACCURACY: Entry = Entry {
    name: "string-accuracy",
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
    report: in_report!(text { example: answer }),
    build: &|options| {
        let normalizer: Normalizer = options.parse("normalize")?.unwrap_or_default();
        let metric = StringAccuracy { normalizer };
        let reading = OfTexts::new("string-accuracy", metric);
        extracting_scorer("string-accuracy", VERSION, reading, options)
    },
    ..Entry::BASE
};

impl TextMetric for StringAccuracy {
    fn definition(&self) -> Named<String> {
        normalize_parts(&self.normalizer)
    }

    fn compared<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.normalizer.apply(text)
    }

    fn of_equal(&self, equal: Accuracy) -> Option<Accuracy> {
        self.normalizer.steps.is_empty().then_some(equal)
    }

    fn is_correct(&self, state: &Accuracy) -> Option<bool> {
        Some(state.correct > 0)
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
