//! Source code.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use metric_code::{
    CodeBleu, CodeBleuProfile, CodeBleuScore, CodeBleuState, InvalidReferences, Language,
    NgramCounts, Prediction, References, VERSION, Weights,
};
use metric_core::{Choice, Metric, NamedScores};
use metric_record::json::{self, string, typed};
use metric_record::{FieldError, Kind, Message, Record, Side, Value};
use serde_json::json;

use crate::numbers::named;
use crate::{
    Asked, Chart, Counted, Demo, Entry, Facts, Named, Numbers, OptionError, OptionKind, OptionSpec,
    Reading, ScoreSpec, Shape, Sink,
};

pub(crate) const CODEBLEU: Entry = Entry {
    name: "codebleu",
    class: "CodeBLEU",
    question: "How similar is code to reference code, in eleven languages?",
    programs: "codebleu",
    shapes: &[Shape::Code.as_is()],
    tried: &[
        &[("lang", "python"), ("profile", "codebleu-0.7")],
        &[("lang-field", "lang"), ("profile", "corrected")],
        &[("lang", "go"), ("weights", "0.1,0.1,0.4,0.4")],
        &[("lang", "python"), ("profile", "fusion-brain-2021")],
    ],
    help: "CodeBLEU of source code, from n-grams, keywords, syntax trees and dataflow",
    values: ("a string, or `references`: a list of strings", "a string"),
    demos: &[
        Demo::new("source code", ["functions.jsonl", "written-functions.jsonl"], &["codebleu", "syntax_match", "dataflow_match"]).with(&[("lang-field", "lang"), ("profile", "corrected")]),
    ],
    options: &[
        #[cfg(feature = "text")]
        crate::prepare::EXTRACT,
        OptionSpec::choice::<Language>("lang", "LANGUAGE", "Language of all texts"),
        OptionSpec::text("lang-field", "FIELD",
            "Field next to the reference that names the language of the example, instead of --lang"),
        OptionSpec::choice::<CodeBleuProfile>("profile", "PROFILE",
            "Definition to follow. Syntax and dataflow match are recalls: code added to a prediction hardly lowers them").or(CodeBleuProfile::CodeXGlue.name()),
        OptionSpec::list("weights", "N,W,S,D", &OptionKind::Number(0.0, 1.0),
            "Weights of ngram_match, weighted_ngram_match, syntax_match and dataflow_match. They must sum to 1").or("0.25,0.25,0.25,0.25"),
        OptionSpec::one_of("on-limit", "RULE", || vec!["error", "zero"],
            "Treatment of texts beyond the limits of the parser: stop with an error, or score them as if they had no syntax and no dataflow").or("error"),
    ],
    scores: &[
        ScoreSpec::higher("codebleu"),
        ScoreSpec::higher("ngram_match"),
        ScoreSpec::higher("weighted_ngram_match"),
        ScoreSpec::higher("syntax_match"),
        ScoreSpec::higher("dataflow_match"),
    ],
    groups: &["lang"],
    details: true,
    charts: &[Chart::Components],
    build: &|options| {
        let lang: Option<Language> = options.parse("lang")?;
        let field: Option<String> = options.parse("lang-field")?;
        let languages = match (lang, field) {
            (Some(language), None) => Languages::One(language),
            (None, Some(field)) => Languages::Field(field),
            (None, None) => {
                let names = Language::names().join(", ");
                return Err(OptionError::new(
                    "lang",
                    "",
                    Message::from(format!("a language is needed, one of {names}; or "))
                        .option("lang-field", ""),
                ));
            }
            (Some(_), Some(field)) => {
                return Err(OptionError::new(
                    "lang-field",
                    &field,
                    Message::from("the language is given by ")
                        .option("lang", "")
                        .text(" already: expected one of the two"),
                ));
            }
        };
        let reading = Code {
            metric: CodeBleu::default()
                .with_profile(options.require("profile")?)
                .with_weights(options.require::<Weights>("weights")?),
            languages,
            zero_on_limit: options.require::<String>("on-limit")? == "zero",
            parsed: Mutex::default(),
        };
        #[cfg(feature = "text")]
        return crate::prepare::prepared_scorer(
            "codebleu",
            VERSION,
            reading,
            options,
            metric_text::Normalizer::default(),
        );
        #[cfg(not(feature = "text"))]
        Ok(crate::scorer("codebleu", VERSION, reading))
    },
    ..Entry::BASE
};

/// The source of the language of an example.
enum Languages {
    One(Language),
    /// A field next to the reference.
    Field(String),
}

struct Code {
    metric: CodeBleu,
    languages: Languages,
    /// Whether a text that reaches a limit of the parser has no syntax and no dataflow, rather than being an
    /// error.
    zero_on_limit: bool,
    parsed: Mutex<Parsed>,
}

/// References that were parsed, as data sets often repeat them: one for many samples of a model.
#[derive(Default)]
struct Parsed {
    /// By language and by the value as it appears in the file.
    references: HashMap<Language, HashMap<String, Arc<References>>>,
    /// The length of all values.
    bytes: usize,
}

impl Parsed {
    /// Values of up to this many bytes are kept. The data read from them takes some five times as
    /// much.
    const LIMIT: usize = 1 << 20;

    fn get(&self, language: Language, value: &str) -> Option<Arc<References>> {
        self.references.get(&language)?.get(value).cloned()
    }

    fn keep(&mut self, language: Language, value: &str, references: &Arc<References>) {
        if self.bytes + value.len() > Self::LIMIT {
            *self = Self::default();
        }
        if value.len() <= Self::LIMIT {
            self.bytes += value.len();
            let references = Arc::clone(references);
            let values = self.references.entry(language).or_default();
            values.insert(value.to_owned(), references);
        }
    }
}

impl Code {
    fn language(&self, record: &Record<'_>) -> Result<Language, FieldError> {
        let field = match &self.languages {
            Languages::One(language) => return Ok(*language),
            Languages::Field(field) => field,
        };
        let fields = json::fields(record.fields, &[field]).map_err(FieldError::reference)?;
        let language = fields.name(field).map_err(FieldError::reference)?;
        let missing = || {
            let problem = format!("no language in field {field:?}: expected one");
            FieldError::reference(problem).of_field(field)
        };
        let language = language.ok_or_else(missing)?;
        language
            .parse()
            .map_err(|error| FieldError::field(field, format!("{error}")))
    }

    fn references(
        &self,
        language: Language,
        value: &mut Value<'_>,
    ) -> Result<Arc<References>, FieldError> {
        let plain = value.as_line().or_else(|| value.as_string());
        let raw = match plain {
            Some(text) => Some(Cow::Borrowed(text)),
            None => value.to_json().map_err(FieldError::reference)?,
        };
        let raw = raw.ok_or_else(|| FieldError::reference("expected a text, found none"))?;
        let (raw, is_json) = (&*raw, plain.is_none());
        // A lock is poisoned by a panic, and nothing here panics.
        let parsed = || {
            self.parsed
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
        };
        if let Some(references) = parsed().get(language, raw) {
            return Ok(references);
        }
        let texts = match (is_json, json::kind(raw) == Kind::List) {
            (false, _) => Ok(vec![Cow::Borrowed(raw)]),
            (true, false) => string(raw).map(|text| vec![text]),
            (true, true) => typed::<Vec<Cow<'_, str>>>(raw),
        };
        let texts = texts.map_err(FieldError::reference)?;
        let references = References::new(language, texts).map_err(|error| {
            let problem = FieldError::reference(error.to_string());
            match error {
                InvalidReferences::TooLong { .. } => problem.limit(),
                _ => problem,
            }
        })?;
        let references = Arc::new(references);
        parsed().keep(language, raw, &references);
        Ok(references)
    }
}

impl Reading for Code {
    type Metric = CodeBleu;
    type Header = ();

    fn metric(&self) -> &CodeBleu {
        &self.metric
    }

    fn facts(&self) -> Facts {
        let (lang, grammars, further_fields) = match &self.languages {
            Languages::One(language) => {
                let grammar = language.grammar().to_owned();
                (("lang", language.to_string()), grammar, Vec::new())
            }
            Languages::Field(field) => {
                let grammars: Vec<_> = Language::ALL.iter().map(|one| one.grammar()).collect();
                let lang = ("lang-field", field.clone());
                (lang, grammars.join(","), vec![field.clone()])
            }
        };
        let weights = self.metric.weights.values().map(|weight| {
            let weight = weight.to_string();
            weight
                .strip_prefix('0')
                .filter(|rest| !rest.is_empty())
                .map_or(weight.clone(), str::to_owned)
        });
        let parts = [
            lang,
            ("profile", self.metric.profile.to_string()),
            ("weights", weights.join(",")),
            ("grammar", grammars),
        ];
        // Since 2, texts that are too short for an n-gram do not count as one.
        let ngrams = self.metric.profile.leaves_out_orders();
        let ngrams = ngrams.then_some(("ngrams", "2".to_owned()));
        let on_limit = self
            .zero_on_limit
            .then_some(("on-limit", "zero".to_owned()));
        Facts {
            further_fields,
            ..Facts::signed(parts.into_iter().chain(ngrams).chain(on_limit))
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let language = self.language(record)?;
        let prediction = record.prediction.text().map_err(FieldError::prediction)?;
        let prediction = Prediction::new(prediction)
            .map_err(|error| FieldError::prediction(error.to_string()).limit())?;
        let references = self.references(language, &mut record.reference)?;
        if let Some(note) = note(self.metric.profile, language) {
            sink.count(&note, 1);
        }
        let state = self.metric.measure(&prediction, &references);
        let sides = [
            (Side::Reference, state.examples.references_given_up),
            (Side::Prediction, state.examples.predictions_given_up),
        ];
        for (side, given_up) in sides {
            if given_up == 0 {
                continue;
            }
            if !self.zero_on_limit {
                let problem = Message::from(
                    "parsing takes more work or memory than allowed; shorten it, or use ",
                )
                .option("on-limit", "zero")
                .text(" to score it as a text without syntax and dataflow");
                return Err(FieldError::new(side, problem).limit());
            }
            let rest = "as having no syntax and no dataflow";
            let what = Counted::new(
                format!("{side} takes more work or memory to parse than allowed and counts {rest}"),
                format!("{side}s take more work or memory to parse than allowed and count {rest}"),
            );
            sink.count_record(&what, record.id);
        }
        match self.languages {
            Languages::One(_) => sink.measured(None, &[], state),
            Languages::Field(_) => sink.measured(None, &[("lang", language.name())], state),
        }
        Ok(())
    }

    fn numbers(&self, state: &CodeBleuState, (): &(), asked: Asked<'_>) -> Numbers {
        let score = self.metric.compute(state);
        let warnings = asked.remarks.map(|_| self.warnings(state));
        Numbers {
            scores: score.named_scores(),
            counts: counts(state),
            warnings: warnings.unwrap_or_default(),
            details: asked.details.then(|| self.details(state, &score)),
            ..Numbers::default()
        }
    }
}

impl Code {
    /// The components with their weights, and the n-grams by length.
    fn details(&self, state: &CodeBleuState, score: &CodeBleuScore) -> serde_json::Value {
        let components = [
            ("ngram_match", score.ngram_match),
            ("weighted_ngram_match", score.weighted_ngram_match),
            ("syntax_match", score.syntax_match),
            ("dataflow_match", score.dataflow_match),
        ];
        let weighted = components.iter().zip(self.metric.weights.values());
        let components = weighted.map(|((component, score), weight)| {
            json!({"component": component, "weight": weight, "score": score})
        });
        // Keywords weigh 1 and other words a fifth.
        let fifths = state.weighted.orders[0].map(|fifths| fifths as f64 / 5.0);
        let orders = (1..).zip(state.ngram.orders.iter().zip(&state.weighted.orders));
        let orders = orders.map(|(length, (&[matches, total], &[right, all])): (u64, _)| {
            let weighted = match length {
                1 => fifths,
                _ => [right as f64, all as f64],
            };
            let [right, all] = weighted;
            json!({
                "length": length,
                "matches": matches,
                "total": total,
                "precision": metric_core::ratio(matches, total),
                "weighted_matches": right,
                "weighted_total": all,
                "weighted_precision": (all > 0.0).then(|| right / all),
            })
        });
        json!({
            "codebleu": score.codebleu,
            "components": components.collect::<Vec<_>>(),
            "ngrams": orders.collect::<Vec<_>>(),
            "hypothesis_length": state.ngram.prediction_length,
            "reference_length": state.ngram.reference_length,
        })
    }

    fn warnings(&self, state: &CodeBleuState) -> Vec<Message> {
        let examples = &state.examples;
        let mut warnings = Vec::new();
        if examples.total > 0 && self.metric.profile.had_other_grammars() {
            warnings.push(Message::from(OTHER_GRAMMARS));
        }
        let mut warn = |times: u64, one: &str, several: &str| {
            warnings.extend(Counted::warnings([(times, Counted::new(one, several))]));
        };
        warn(
            examples.prediction_errors,
            "prediction has syntax errors; what the parser makes of it is compared",
            "predictions have syntax errors; what the parser makes of them is compared",
        );
        warn(
            examples.reference_errors,
            "reference has syntax errors: is it of this language?",
            "references have syntax errors: are they of this language?",
        );
        if state.dataflow[1] > 0 {
            warn(
                examples.no_reference_dataflow,
                "reference has no dataflow and does not count in dataflow_match",
                "references have no dataflow and do not count in dataflow_match",
            );
        }
        warn(
            examples.comments_kept,
            "text has comments that could not be removed, so they are compared, too",
            "texts have comments that could not be removed, so they are compared, too",
        );
        warn(
            examples.too_deep,
            "text is nested deeper than 990 nodes and has no dataflow",
            "texts are nested deeper than 990 nodes and have no dataflow",
        );
        let orders = (1..).zip(state.ngram.orders);
        let none = orders.filter(|(_, [_, counted])| *counted == 0);
        let shortest: Option<u64> = none.map(|(order, _)| order).min();
        if let Some(order) = shortest
            && self.metric.profile.leaves_out_orders()
            && state.ngram.prediction_length > 0
        {
            warnings.push(Message::from(format!(
                "no prediction has {order} words: ngram_match and weighted_ngram_match are made of shorter n-grams only"
            )));
        }
        if examples.total > 0 && state.dataflow[1] == 0 {
            let total = self.metric.profile.without_dataflow();
            warnings.push(Message::from(format!(
                "no reference at all has a dataflow: {total}"
            )));
        }
        warnings
    }
}

/// The profiles of programs from 2020 and 2021 have the rules of these, but not their parsers.
const OTHER_GRAMMARS: &str = "syntax_match and dataflow_match come from current grammars, not from the original ones of 2020, and can differ";

fn counts(state: &CodeBleuState) -> Named<serde_json::Value> {
    let CodeBleuState {
        ngram,
        weighted,
        syntax,
        dataflow,
        examples,
    } = state;
    let NgramCounts { orders, .. } = weighted;
    // Keywords weigh 1 and other words a fifth, in the words of the original evaluator.
    let fifths = orders[0].map(|fifths| fifths as f64 / 5.0);
    named([
        ("ngram", json!(ngram.orders)),
        ("weighted", json!([fifths, orders[1], orders[2], orders[3]])),
        ("syntax", json!(syntax)),
        ("dataflow", json!(dataflow)),
        ("hypothesis_length", json!(ngram.prediction_length)),
        ("reference_length", json!(ngram.reference_length)),
        ("prediction_errors", json!(examples.prediction_errors)),
        ("reference_errors", json!(examples.reference_errors)),
        (
            "no_reference_dataflow",
            json!(examples.no_reference_dataflow),
        ),
        ("comments_kept", json!(examples.comments_kept)),
        ("too_deep", json!(examples.too_deep)),
    ])
}

/// The facts about a language under a profile.
fn note(profile: CodeBleuProfile, language: Language) -> Option<Counted> {
    let rest = profile.of_unknown_language(language)?;
    Some(Counted::new(
        format!("example is in {language}, {rest}"),
        format!("examples are in {language}, {rest}"),
    ))
}
