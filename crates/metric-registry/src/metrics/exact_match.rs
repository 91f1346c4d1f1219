//! The share of texts that equal their reference, with the options of Hugging Face's evaluate.

use std::borrow::Cow;

use metric_core::Accuracy;
use metric_record::{FieldError, Side};
use metric_text::read::patterns;
use metric_text::{ExactMatch, PythonRegex, VERSION};
use serde_json::json;

use crate::metrics::votes::{VOTE_TIES, VOTES, Votes};
use crate::numbers::named;
use crate::prepare::{EXTRACT, NORMALIZE, prepared_scorer};
use crate::shapes::texts::{OfTexts, note_forms};
use crate::{
    Demo, Entry, Named, Note, OptionError, OptionKind, OptionSpec, OptionValue, ScoreSpec, Shape,
    TextMetric,
};

pub(crate) const EXACT_MATCH: Entry = Entry {
    name: "exact-match",
    question: "The same, with options to ignore case and punctuation",
    programs: "Hugging Face",
    shapes: &[
        Shape::Texts.as_is(),
        Shape::Answers.as_is(),
        Shape::Votes.with(&[("votes", "all")]),
    ],
    tried: &[&[
        ("ignore-case", ""),
        ("ignore-punctuation", ""),
        ("ignore-numbers", ""),
        ("regexes-to-ignore", "[a-c],x"),
    ]],
    help: "Share of texts that equal their reference, with the options of Hugging Face's exact_match",
    values: (
        "a string, or `references`: a list of strings",
        "a string; with --votes, a list of strings",
    ),
    known_as: &[
        (&["em"], "it is exact-match, or a score of squad"),
        (
            &["maj@k", "maj@n", "majority-vote", "cons@n", "cons@k"],
            "it is exact-match, with --votes K",
        ),
    ],
    demos: &[Demo::new(
        "short answers",
        ["capitals.jsonl", "given-capitals.jsonl"],
        &["exact_match"],
    )
    .with(&[("ignore-case", ""), ("ignore-punctuation", "")])],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::list(
            "regexes-to-ignore",
            "REGEXES",
            &OptionKind::Text,
            "Patterns to delete first: a regular expression, or a JSON list of them",
        ),
        OptionSpec::flag("ignore-case", "Lowercase both texts"),
        OptionSpec::flag("ignore-punctuation", "Delete ASCII punctuation"),
        OptionSpec::flag("ignore-numbers", "Delete the digits 0 to 9"),
        VOTES,
        VOTE_TIES,
    ],
    scores: &[ScoreSpec::higher("exact_match").proportion("correct", "total")],
    build: &|options| {
        let given = options.given("regexes-to-ignore");
        let problem = |reason: String| OptionError::new("regexes-to-ignore", &given, reason);
        let patterns: Result<Vec<PythonRegex>, String> = match options.value("regexes-to-ignore") {
            Some(OptionValue::List(patterns)) => patterns
                .iter()
                .map(|pattern| pattern.parse().map_err(|error| format!("{error}")))
                .collect(),
            _ => patterns(&given),
        };
        let regexes_to_ignore = patterns.map_err(problem)?;
        let is_on = |name| options.has(name);
        let metric = ExactMatch::default()
            .with_regexes_to_ignore(regexes_to_ignore)
            .with_ignore_case(is_on("ignore-case"))
            .with_ignore_punctuation(is_on("ignore-punctuation"))
            .with_ignore_numbers(is_on("ignore-numbers"));
        if let Some(votes) = Votes::new(&metric, options)? {
            let normalizer = options.parse(NORMALIZE.name)?.unwrap_or_default();
            return prepared_scorer("exact-match", VERSION, votes, options, normalizer);
        }
        let reading = OfTexts {
            is_correct: |state: &Accuracy| state.correct > 0,
            any_of: true,
            of_equal: (!metric.changes_texts()).then_some(|equal| equal),
            direct: Some(|text| text),
            ..OfTexts::new("exact-match", metric)
        };
        reading.scorer(options)
    },
    ..Entry::BASE
};

impl TextMetric for ExactMatch {
    fn definition(&self) -> Named<String> {
        let switches = [
            ("case", self.ignore_case),
            ("punctuation", self.ignore_punctuation),
            ("numbers", self.ignore_numbers),
        ];
        let mut ignored: Vec<&str> = Vec::new();
        ignored.extend(switches.iter().filter(|(_, on)| *on).map(|(name, _)| *name));
        if ignored.is_empty() {
            ignored.push("none");
        }
        let patterns = self.regexes_to_ignore.iter().map(PythonRegex::as_str);
        let patterns: Vec<&str> = patterns.collect();
        let mut parts = Vec::new();
        if !patterns.is_empty() {
            parts.push(("regexes-to-ignore", json!(patterns).to_string()));
            parts.push(("regex", PythonRegex::DIALECT.to_owned()));
        }
        parts.push(("ignore", ignored.join(",")));
        named(parts)
    }

    /// Refuses a text that a pattern takes too long to match.
    fn check(&self, prediction: &str, reference: &str, note: Note<'_>) -> Result<(), FieldError> {
        for (side, text) in [(Side::Prediction, prediction), (Side::Reference, reference)] {
            let checked = ExactMatch::check(self, text);
            checked.map_err(|error| FieldError::new(side, error.to_string()).limit())?;
        }
        note_forms(self, prediction, reference, note);
        Ok(())
    }

    fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        ExactMatch::apply(self, text).unwrap_or(Cow::Borrowed(text))
    }
}
