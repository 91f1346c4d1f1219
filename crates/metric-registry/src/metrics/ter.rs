//! Translation edit rate.

use metric_core::{Metric, NamedScores};
use metric_record::{FieldError, Message, Record};
use metric_text::Ter;
use metric_text::ter::{TerProfile, TerState};
use serde_json::json;

use crate::numbers::named;
use crate::prepare::{EXTRACT, NORMALIZE};
use crate::shapes::generated::{known, read, signature, yes_or_no};
use crate::shapes::texts::{Limit, MAX_CELLS, OfTexts, note_forms};
use crate::{
    Asked, ComparedTexts, Counted, Demo, Entry, ExampleView, Named, Note, Notice, Numbers,
    OptionSpec, References, ScoreSpec, Shape, TextExample, TextMetric,
};

pub(crate) const TER: Entry = Entry {
    name: "ter",
    class: "TER",
    question: "How many words of a translation must be edited or moved?",
    programs: "sacreBLEU",
    shapes: &[Shape::Answers.as_is()],
    tried: &[
        &[("normalized", ""), ("asian-support", ""), ("case-sensitive", "")],
        &[("profile", "corrected"), ("no-punct", "")],
    ],
    help: "Translation edit rate (TER): edits and shifts of words per word of the references",
    values: ("a text or a list of texts", "a text"),
    known_as: &[(&["translation-edit-rate", "translation-error-rate"], "")],
    demos: &[Demo::new("translations", ["translations.txt", "translated.txt"], &[])],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::choice::<TerProfile>(
            "profile",
            "PROFILE",
            "sacrebleu prepares references twice, as sacreBLEU does; corrected prepares them once, as predictions are",
        )
        .or(TerProfile::Sacrebleu.name()),
        OptionSpec::flag("normalized", "Replace entities of XML, and separate punctuation from words"),
        OptionSpec::flag("no-punct", "Remove punctuation"),
        OptionSpec::flag("asian-support", "With --normalized or --no-punct: also for Chinese and Japanese"),
        OptionSpec::flag("case-sensitive", "Words in upper and lower case differ"),
        MAX_CELLS,
    ],
    scores: &[ScoreSpec::lower("ter")],
    example: Some(ExampleView::Words),
    build: &|options| {
        let metric = Ter::default()
            .with_profile(options.require("profile")?)
            .with_normalized(options.has("normalized"))
            .with_no_punct(options.has("no-punct"))
            .with_asian_support(options.has("asian-support"))
            .with_case_sensitive(options.has("case-sensitive"));
        let reading = OfTexts {
            limit: Some(Limit {
                max_cells: options.integer(MAX_CELLS.name)?,
                is_within: |_, prediction, references, max_cells| {
                    Ter::is_within(prediction, references, max_cells)
                },
                measure: Ter::measure_within,
            }),
            compared: |ter: &Ter, prediction, references| {
                let tokens = |text: &str| ter.tokens(text).join(" ");
                ComparedTexts::new(prediction, references.texts(), tokens)
            },
            ..OfTexts::new("ter", metric)
        };
        reading.scorer(options)
    },
    ..Entry::BASE
};

impl TextMetric for Ter {
    fn definition(&self) -> Named<String> {
        let case = if self.case_sensitive { "mixed" } else { "lc" };
        signature(
            self.profile.name(),
            [
                ("case", case.to_owned()),
                ("tok", "tercom".to_owned()),
                ("norm", yes_or_no(self.normalized)),
                ("punct", yes_or_no(!self.no_punct)),
                ("asian", yes_or_no(self.asian_support)),
            ],
        )
    }

    fn read<'a>(&self, record: &mut Record<'a>) -> Result<TextExample<'a, Self>, FieldError> {
        read(record)
    }

    /// Notes references that the second preparation of sacreBLEU changes.
    fn check(&self, text: &str, references: &[String], note: Note<'_>) -> Result<(), FieldError> {
        note_forms(self, text, references, note);
        let prepares_twice = self.profile == TerProfile::Sacrebleu && self.normalized;
        let changes = |text: &String| self.tokens(text) != self.reference_tokens(text);
        let changed = references
            .iter()
            .filter(|text| prepares_twice && changes(text));
        let changed = changed.count() as u64;
        if changed > 0 {
            let rest = |of: &str| {
                let text = format!(
                    "{of} other words than as a prediction, as sacreBLEU splits references twice: to split them once, use "
                );
                Message::from(text).option("profile", "corrected")
            };
            let what = Counted::new(rest("reference has"), rest("references have"));
            note(Notice::Words(&what, Some(changed)));
        }
        Ok(())
    }

    fn numbers(&self, state: &TerState, asked: Asked<'_>) -> Numbers {
        let score = self.compute(state);
        Numbers {
            scores: score.named_scores(),
            counts: named([
                ("edits", json!(state.edits)),
                ("reference_length", json!(score.reference_length)),
            ]),
            signature: known(asked, state.references),
            ..Numbers::default()
        }
    }
}
