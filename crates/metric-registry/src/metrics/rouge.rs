//! ROUGE.

use metric_core::{Metric, NamedScores};
use metric_record::{FieldError, Record};
use metric_text::Rouge;
use metric_text::rouge::{RougeState, RougeType, tokens};
use serde_json::json;

use crate::numbers::named;
use crate::prepare::{EXTRACT, NORMALIZE};
use crate::shapes::generated::{known, read, signature, yes_or_no};
use crate::shapes::texts::{Limit, MAX_CELLS, OfTexts, note_forms};
use crate::{
    Asked, ComparedTexts, Counted, Demo, Entry, ExampleView, Named, Note, Notice, Numbers,
    OptionKind, OptionSpec, References, ScoreSpec, Shape, TextExample, TextMetric,
};

pub(crate) const ROUGE: Entry = Entry {
    name: "rouge",
    class: "ROUGE",
    question: "How much of a reference does a summary have, and the other way around?",
    programs: "rouge-score, Hugging Face",
    shapes: &[Shape::Answers.as_is()],
    tried: &[&[("stemmer", "")], &[("types", "3,Lsum")]],
    help: "ROUGE: n-grams and subsequences of words that a summary shares with its reference",
    values: ("a text or a list of texts", "a text"),
    known_as: &[(&["rouge-score", "rouge1", "rouge2", "rougel", "rougelsum"], "")],
    demos: &[Demo::new("translations", ["translations.txt", "translated.txt"], &["rouge1", "rougeL"])],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::one_of("profile", "PROFILE", || vec!["rouge-score"], "Program to follow")
            .or("rouge-score"),
        OptionSpec::list("types", "TYPES", &OptionKind::Text,
            "Types to score: 1 to 9 for n-grams, L for the longest common subsequence, Lsum for that of each line")
        .or("1,2,L,Lsum")
        .also("rouge-types"),
        OptionSpec::flag("stemmer", "Compare the stems of words, by Porter's rules").also("use-stemmer"),
        MAX_CELLS,
    ],
    scores: &[ScoreSpec::higher("rouge").by("TYPE")],
    example: Some(ExampleView::Words),
    build: &|options| {
        let types = options.list("types", "1 to 9, L or Lsum", |part| part.trim().parse().ok())?;
        let metric = Rouge::default()
            .with_types(types)
            .with_stemmer(options.has("stemmer"));
        let reading = OfTexts {
            limit: Some(Limit {
                max_cells: options.integer(MAX_CELLS.name)?,
                is_within: Rouge::is_within,
                measure: Rouge::measure_within,
            }),
            compared: |rouge, prediction, references| {
                let tokens = |text: &str| tokens(text, rouge.stemmer).join(" ");
                ComparedTexts::new(prediction, references.texts(), tokens)
            },
            ..OfTexts::new("rouge", metric)
        };
        reading.scorer(options)
    },
    ..Entry::BASE
};

impl TextMetric for Rouge {
    fn definition(&self) -> Named<String> {
        let name = |rouge_type: &RougeType| rouge_type.name().trim_start_matches("rouge");
        let types: Vec<&str> = self.types.iter().map(name).collect();
        let rest = [
            ("types", types.join(",")),
            ("stemmer", yes_or_no(self.stemmer)),
        ];
        signature("rouge-score", rest)
    }

    fn read<'a>(&self, record: &mut Record<'a>) -> Result<TextExample<'a, Self>, FieldError> {
        read(record)
    }

    /// Notes texts of other scripts, of which no word is compared.
    fn check(&self, text: &str, references: &[String], note: Note<'_>) -> Result<(), FieldError> {
        note_forms(self, text, references, note);
        let is_lost = |text: &str| {
            !text.bytes().any(|byte| byte.is_ascii_alphanumeric())
                && text.chars().any(char::is_alphanumeric)
                && tokens(text, false).is_empty()
        };
        let all = references.iter().map(String::as_str).chain([text]);
        let lost = all.filter(|text| is_lost(text)).count() as u64;
        if lost > 0 {
            let rest = "only words of a-z and 0-9 are compared";
            let what = Counted::new(
                format!("text has letters and no word, as {rest}"),
                format!("texts have letters and no word, as {rest}"),
            );
            note(Notice::Words(&what, Some(lost)));
        }
        Ok(())
    }

    fn numbers(&self, state: &RougeState, asked: Asked<'_>) -> Numbers {
        let counts = self
            .types
            .iter()
            .zip(&state.types)
            .map(|(rouge_type, sums)| {
                let overlap = &sums.overlap;
                let counts = [overlap.matches, overlap.prediction, overlap.reference];
                (rouge_type.name(), json!(counts))
            });
        Numbers {
            scores: self.compute(state).named_scores(),
            counts: named(counts),
            signature: known(asked, state.references),
            ..Numbers::default()
        }
    }
}
