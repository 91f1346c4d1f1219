//! Strings and answers.

use metric_core::Accuracy;
use metric_text::vqa::{Answers, Evidence, Language, Profile, VqaAccuracy};
use metric_text::{Normalizer, StringAccuracy, VERSION};

use super::read::{beside, kind, name, string, text, typed};
use super::scorer::Adapter;
use super::{
    Entries, Entry, FieldError, Input, Named, Notes, OptionSpec, Reading, Record, Sink, Value,
    never_whole,
};

pub(super) const STRING_ACCURACY: Entry = Entry {
    name: "string-accuracy",
    help: "Share of texts that equal their reference",
    values: ("a string", "a string"),
    options: &[OptionSpec {
        name: "normalize",
        value: "STEPS",
        default: "",
        choices: Vec::new,
        help: "What both texts go through first, a comma list of nfc, nfd, nfkc, nfkd, casefold, lower, strip, whitespace, punctuation, ascii-punctuation",
    }],
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

fn accuracy_counts(state: &Accuracy) -> Named<serde_json::Value> {
    vec![
        ("correct".to_owned(), state.correct.into()),
        ("total".to_owned(), state.total.into()),
    ]
}

pub(super) const VQA: Entry = Entry {
    name: "vqa",
    help: "Accuracy of answers to questions about images",
    values: (
        "an answer or a list of answers, or {\"answer\": ..., \"lang\": \"en\"}; beside it `lang`, `question_type`, `answer_type` where given",
        "a string",
    ),
    options: &[OptionSpec {
        name: "profile",
        value: "PROFILE",
        default: Profile::Exact.name(),
        choices: || Profile::ALL.iter().map(|profile| profile.name()).collect(),
        help: "Whose rules",
    }],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let reading = Vqa {
            metric: VqaAccuracy::new(options.require("profile")?),
        };
        Ok(Adapter::boxed("vqa", VERSION, reading))
    },
};

struct Vqa {
    metric: VqaAccuracy,
}

impl Reading for Vqa {
    type Metric = VqaAccuracy;

    fn metric(&self) -> &VqaAccuracy {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        vec![("profile".to_owned(), self.metric.profile().to_string())]
    }

    fn read(
        &self,
        record: &Record<'_>,
        sink: &mut Sink<'_, VqaAccuracy>,
    ) -> Result<(), FieldError> {
        let prediction = text(record.prediction, FieldError::prediction)?;
        let (answers, inside) = match record.reference {
            Value::Text(answer) => (vec![answer.to_owned()], Entries::default()),
            Value::Json(json) => answers(json).map_err(FieldError::reference)?,
            Value::Missing => (Vec::new(), Entries::default()),
        };
        // In the object of the answers, or beside it in the record.
        let outside = beside(record.fields, &["lang", "question_type", "answer_type"])
            .map_err(FieldError::reference)?;
        let field = |field| match name(&inside, field) {
            Ok(None) => name(&outside, field),
            found => found,
        };
        let field = |name| match field(name) {
            Ok(found) => Ok(found.map(|name| name.0)),
            Err(problem) => Err(FieldError::reference(problem)),
        };
        let lang = field("lang")?;
        let language = match (&lang, self.metric.profile()) {
            (Some(name), Profile::FusionBrain2021) => {
                Some(name.parse::<Language>().map_err(FieldError::reference)?)
            }
            _ => None,
        };
        let (question_type, answer_type) = (field("question_type")?, field("answer_type")?);
        let groups: Vec<(&str, &str)> = [
            ("question_type", &question_type),
            ("answer_type", &answer_type),
            ("lang", &lang),
        ]
        .into_iter()
        .filter_map(|(kind, group)| Some((kind, group.as_deref()?)))
        .collect();
        sink.part(None, &groups, &prediction, &Answers { answers, language });
        Ok(())
    }

    fn scores(&self, state: &Evidence) -> Named<Option<f64>> {
        vec![("accuracy".to_owned(), state.accuracy.value())]
    }

    fn counts(&self, state: &Evidence) -> Named<serde_json::Value> {
        accuracy_counts(&state.accuracy)
    }

    fn warnings(&self, state: &Evidence, _notes: &Notes) -> Vec<String> {
        if state.without_lemmatizer == 0 {
            return Vec::new();
        }
        vec![format!(
            "{} × a Russian answer was scored without a lemmatiser, each word as its own lemma; the reference program uses pymorphy2, and the library takes a lemmatiser as a function",
            state.without_lemmatizer
        )]
    }
}

/// The accepted answers, and the entries of the object they stand in if there is one.
fn answers(json: &str) -> Result<(Vec<String>, Entries<'_>), String> {
    let list = |json: &str| match json.trim_start().as_bytes().first() {
        Some(b'[') => typed::<Vec<String>>(json),
        Some(b'"') => Ok(vec![string(json)?.into_owned()]),
        _ => Err(format!(
            "expected an answer or a list of answers, found {}",
            kind(json)
        )),
    };
    if !json.trim_start().starts_with('{') {
        return Ok((list(json)?, Entries::default()));
    }
    let entries: Entries<'_> = typed(json)?;
    let answer = entries.get("answer").or_else(|| entries.get("answers"));
    let answer = answer.ok_or("expected a field \"answer\"")?;
    Ok((list(answer)?, entries))
}
