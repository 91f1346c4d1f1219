//! Strings.

use metric_core::Accuracy;
use metric_text::{Normalizer, StringAccuracy, VERSION};

use crate::read::text;
use crate::scorer::Adapter;
use crate::{Entry, FieldError, Input, Named, OptionSpec, Reading, Record, Sink, never_whole};

/// What texts go through before they are compared.
pub(crate) const NORMALIZE: OptionSpec = OptionSpec {
    name: "normalize",
    value: "STEPS",
    default: "",
    choices: Vec::new,
    help: "What both texts go through first, a comma list of nfc, nfd, nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits, ascii-digits, remove(REGEX)",
};

pub(crate) const STRING_ACCURACY: Entry = Entry {
    name: "string-accuracy",
    help: "Share of texts that equal their reference",
    values: ("a string", "a string"),
    options: &[NORMALIZE],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let normalizer: Normalizer = options.parse("normalize")?.unwrap_or_default();
        let reading = Strings {
            metric: StringAccuracy { normalizer },
        };
        Ok(Adapter::boxed("string-accuracy", VERSION, reading))
    },
};

struct Strings {
    metric: StringAccuracy,
}

impl Reading for Strings {
    type Metric = StringAccuracy;

    fn metric(&self) -> &StringAccuracy {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        vec![("normalize".to_owned(), self.metric.normalizer.to_string())]
    }

    fn read(
        &self,
        record: &Record<'_>,
        sink: &mut Sink<'_, StringAccuracy>,
    ) -> Result<(), FieldError> {
        let prediction = text(record.prediction, FieldError::prediction)?;
        let reference = text(record.reference, FieldError::reference)?;
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn scores(&self, state: &Accuracy) -> Named<Option<f64>> {
        vec![("string_accuracy".to_owned(), state.value())]
    }

    fn counts(&self, state: &Accuracy) -> Named<serde_json::Value> {
        accuracy_counts(state)
    }
}

pub(crate) fn accuracy_counts(state: &Accuracy) -> Named<serde_json::Value> {
    vec![
        ("correct".to_owned(), state.correct.into()),
        ("total".to_owned(), state.total.into()),
    ]
}
