//! Answers to questions, and other texts that are right or wrong.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use metric_core::{Accuracy, Mean, Metric};
use metric_text::normalize::{InvalidPattern, Pattern, Step};
use metric_text::vqa::{Answers, Evidence, Language, Profile, VqaAccuracy};
use metric_text::{Anls, ExactMatch, RelaxedAccuracy, Squad, VERSION, anls, squad};
use serde::de::IgnoredAny;
use serde_json::json;
use serde_json::value::RawValue;

use crate::text::answer_files::{
    Passed, SQUAD as SQUAD_FILES, VQA_ANNOTATIONS, answers, check_questions, join, texts,
};
use crate::text::answer_files;
use crate::text::edit::{MOST_WORK, refuse_hours};
use crate::read::{beside, kind, name, string, text, typed};
use crate::scorer::{Adapter, noted};
use crate::text::string_accuracy::accuracy_counts;
use crate::{
    Document, DocumentError, Entries, Entry, FieldError, Input, JoinPolicy, Named, Notes,
    OptionError, OptionSpec, Reading, Record, Sink, Value, never_whole,
};

pub(crate) const EXACT_MATCH: Entry = Entry {
    name: "exact-match",
    help: "Share of texts that equal their reference, with the options of Hugging Face's exact_match",
    values: ("a string", "a string"),
    options: &[
        OptionSpec {
            name: "regexes-to-ignore",
            value: "REGEXES",
            default: "",
            choices: Vec::new,
            help: "What is deleted first: a regular expression, or a JSON list of them",
        },
        OptionSpec {
            name: "ignore-case",
            value: "",
            default: "",
            choices: Vec::new,
            help: "Lowercase both texts",
        },
        OptionSpec {
            name: "ignore-punctuation",
            value: "",
            default: "",
            choices: Vec::new,
            help: "Delete ASCII punctuation",
        },
        OptionSpec {
            name: "ignore-numbers",
            value: "",
            default: "",
            choices: Vec::new,
            help: "Delete the digits 0 to 9",
        },
    ],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let given = options.get("regexes-to-ignore").unwrap_or_default();
        let problem = |reason| OptionError::new("regexes-to-ignore", given, reason);
        let regexes = patterns(given).map_err(problem)?;
        let regexes: Result<Vec<Pattern>, InvalidPattern> =
            regexes.iter().map(|pattern| pattern.parse()).collect();
        let regexes_to_ignore = regexes.map_err(|error| problem(error.to_string()))?;
        let is_on = |name| options.get(name).is_some();
        let reading = Matches {
            metric: ExactMatch {
                regexes_to_ignore,
                ignore_case: is_on("ignore-case"),
                ignore_punctuation: is_on("ignore-punctuation"),
                ignore_numbers: is_on("ignore-numbers"),
            },
        };
        Ok(Adapter::boxed("exact-match", VERSION, reading))
    },
};

/// One pattern, or a JSON list of them.
fn patterns(text: &str) -> Result<Vec<String>, String> {
    match serde_json::from_str(text) {
        Ok(patterns) => Ok(patterns),
        // A class of characters can look so, but hardly does.
        Err(error)
            if text.starts_with("[\"")
                && text.len() > 3
                && (text.ends_with("\"]") || serde_json::from_str::<IgnoredAny>(text).is_ok()) =>
        {
            Err(format!("not a JSON list of texts: {error}"))
        }
        Err(_) if text.is_empty() => Ok(Vec::new()),
        Err(_) => Ok(vec![text.to_owned()]),
    }
}

struct Matches {
    metric: ExactMatch,
}

impl Reading for Matches {
    type Metric = ExactMatch;

    fn metric(&self) -> &ExactMatch {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let metric = &self.metric;
        let switches = [
            ("case", metric.ignore_case),
            ("punctuation", metric.ignore_punctuation),
            ("numbers", metric.ignore_numbers),
        ];
        let ignored: Vec<_> = switches
            .iter()
            .filter(|(_, on)| *on)
            .map(|(name, _)| *name)
            .collect();
        let ignored = match ignored.is_empty() {
            true => "none".to_owned(),
            false => ignored.join(","),
        };
        let mut parts = Vec::new();
        let patterns: Vec<_> = metric
            .regexes_to_ignore
            .iter()
            .map(Pattern::as_str)
            .collect();
        if !patterns.is_empty() {
            parts.push(("regexes-to-ignore".to_owned(), json!(patterns).to_string()));
        }
        parts.push(("ignore".to_owned(), ignored));
        parts
    }

    fn read(&self, record: &Record<'_>, sink: &mut Sink<'_, ExactMatch>) -> Result<(), FieldError> {
        let prediction = text(record.prediction, FieldError::prediction)?;
        let reference = text(record.reference, FieldError::reference)?;
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn scores(&self, state: &Accuracy) -> Named<Option<f64>> {
        vec![("exact_match".to_owned(), state.value())]
    }

    fn counts(&self, state: &Accuracy) -> Named<serde_json::Value> {
        accuracy_counts(state)
    }
}

pub(crate) const VQA: Entry = Entry {
    name: "vqa",
    help: "Accuracy of answers to questions about images",
    values: (
        "an answer or a list of answers, or {\"answer\": ..., \"lang\": \"en\"}; beside it `lang`, `question_type`, `answer_type` where given; or VQA v2's annotation file (.json)",
        "a string; beside an annotation file VQA v2's results file: a list of {\"question_id\": ..., \"answer\": ...}",
    ),
    options: &[
        OptionSpec {
            name: "profile",
            value: "PROFILE",
            default: Profile::Exact.name(),
            choices: || Profile::ALL.iter().map(|profile| profile.name()).collect(),
            help: "Whose rules",
        },
        OptionSpec {
            name: "questions",
            value: "FILE",
            default: "",
            choices: Vec::new,
            help: "VQA v2's question file, which must have the questions of the annotation file",
        },
    ],
    input: Input::Joined(|text| VQA_ANNOTATIONS.fits(text)),
    whole_file: never_whole,
    build: |options| {
        let reading = Vqa {
            metric: VqaAccuracy::new(options.require("profile")?),
            questions: options.get("questions").map(str::to_owned),
        };
        Ok(Adapter::boxed("vqa", VERSION, reading))
    },
};

struct Vqa {
    metric: VqaAccuracy,
    /// The path of a question file.
    questions: Option<String>,
}

impl Vqa {
    fn is_agreement(&self) -> bool {
        match self.metric.profile() {
            Profile::Exact | Profile::FusionBrain2021 => false,
            Profile::VqaV2 | Profile::VqaV2AlwaysNormalise => true,
        }
    }

    /// The reference program divides by zero.
    fn refuse_unanswered(&self, answers: &Answers) -> Result<(), String> {
        match self.is_agreement() && answers.answers.is_empty() {
            true => Err("a question without answers: expected at least one".to_owned()),
            false => Ok(()),
        }
    }
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
        if self.questions.is_some() {
            let problem = "--questions goes with an annotation file (.json), found records";
            return Err(FieldError::reference(problem));
        }
        let prediction = text(record.prediction, FieldError::prediction)?;
        let (answers, inside) = match record.reference {
            Value::Text(answer) => (Answers::from([answer]), Entries::default()),
            Value::Json(json) => accepted(json).map_err(FieldError::reference)?,
            Value::Missing => (Answers::default(), Entries::default()),
        };
        self.refuse_unanswered(&answers)
            .map_err(FieldError::reference)?;
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
        let answers = Answers {
            language,
            ..answers
        };
        sink.part(None, &groups, &prediction, &answers);
        Ok(())
    }

    fn read_documents(
        &self,
        references: Document,
        predictions: Document,
        policy: JoinPolicy,
        sink: &mut Sink<'_, VqaAccuracy>,
    ) -> Result<(), DocumentError> {
        let (references, predictions) = (
            answer_files::text(&references)?,
            answer_files::text(&predictions)?,
        );
        let mut questions = 0;
        let mut annotated = HashSet::new();
        let mut pooled: BTreeMap<[Option<Cow<'_, str>>; 2], (u64, Evidence)> = BTreeMap::new();
        let passed = join(
            &VQA_ANNOTATIONS,
            references,
            predictions,
            policy,
            &mut |id, question, prediction| {
                self.refuse_unanswered(&question.answers)?;
                questions += 1;
                if self.questions.is_some() {
                    annotated.insert(id.clone());
                }
                if sink.wants_samples() {
                    sink.record(id);
                    let groups = groups(&question.types);
                    sink.part(None, &groups, prediction, &question.answers);
                    return Ok(());
                }
                // Questions of the same types together, and not each group by itself.
                let (examples, state) = match pooled.get_mut(&question.types) {
                    Some(pool) => pool,
                    None => pooled.entry(question.types.clone()).or_default(),
                };
                *examples += 1;
                self.metric.update(state, prediction, &question.answers);
                Ok(())
            },
        )?;
        if let Some(path) = &self.questions {
            check_questions(path, references.0, &annotated)?;
        }
        for (types, (examples, state)) in pooled {
            sink.pooled(examples, &groups(&types), state);
        }
        note_passed(&passed, sink);
        if self.metric.profile() == Profile::Exact {
            let note = "a question of an annotation file was scored by profile exact; VQA v2's own rule is --profile vqa-v2";
            sink.note(note, questions);
        }
        Ok(())
    }

    fn scores(&self, state: &Evidence) -> Named<Option<f64>> {
        vec![("accuracy".to_owned(), self.metric.compute(state))]
    }

    fn counts(&self, state: &Evidence) -> Named<serde_json::Value> {
        let mut counts = accuracy_counts(&state.accuracy);
        if self.is_agreement() {
            counts.push(("thirds".to_owned(), json!(state.thirds)));
        }
        counts
    }

    fn warnings(&self, state: &Evidence, notes: &Notes) -> Vec<String> {
        let mut warnings = noted(notes);
        if state.without_lemmatizer > 0 {
            warnings.push(format!(
                "{} × a Russian answer was scored without a lemmatiser, each word as its own lemma; the reference program uses pymorphy2, and the library takes a lemmatiser as a function",
                state.without_lemmatizer
            ));
        }
        warnings
    }
}

/// The types of question and answer as groups.
fn groups<'t>(types: &'t [Option<Cow<'_, str>>; 2]) -> Vec<(&'static str, &'t str)> {
    let kinds = ["question_type", "answer_type"].into_iter().zip(types);
    kinds
        .filter_map(|(kind, group)| Some((kind, group.as_deref()?)))
        .collect()
}

/// Counts what the join of two files let pass.
fn note_passed<M: Metric<State: Clone>>(passed: &Passed, sink: &mut Sink<'_, M>) {
    sink.missing(passed.missing);
    let note = "a prediction has no reference and was left out";
    sink.note(note, passed.extra);
}

/// The accepted answers, and the entries of the object they stand in if there is one.
fn accepted(json: &str) -> Result<(Answers, Entries<'_>), String> {
    if !json.trim_start().starts_with('{') {
        return Ok((answers(json)?, Entries::default()));
    }
    let entries: Entries<'_> = typed(json)?;
    let answer = entries.get("answer").or_else(|| entries.get("answers"));
    let answer = answer.ok_or("expected a field \"answer\" or \"answers\"")?;
    Ok((answers(answer)?, entries))
}

pub(crate) const ANLS: Entry = Entry {
    name: "anls",
    help: "Average Normalized Levenshtein Similarity of answers read from documents",
    values: ("an answer or a list of answers", "a string"),
    options: &[OptionSpec {
        name: "profile",
        value: "PROFILE",
        default: anls::Profile::Paper.name(),
        choices: || {
            anls::Profile::ALL
                .iter()
                .map(|profile| profile.name())
                .collect()
        },
        help: "Whose rule for a similarity of 0.5: 0 in the paper, 0.5 in the program of the Robust Reading Competition",
    }],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let profile = options.require("profile")?;
        let reading = Similarity {
            metric: Anls { profile },
        };
        Ok(Adapter::boxed("anls", VERSION, reading))
    },
};

struct Similarity {
    metric: Anls,
}

impl Similarity {
    /// Refuses texts whose distance would take hours.
    fn check(prediction: &str, answers: &[String]) -> Result<(), FieldError> {
        // Bytes are mostly no fewer than letters.
        let longest = answers.iter().map(String::len).max().unwrap_or(0);
        if prediction.len().saturating_mul(longest) <= MOST_WORK {
            return Ok(());
        }
        let normalized = |text: &str| {
            let text = Step::Whitespace.apply(text);
            Step::Lower.apply(&text).chars().collect::<Vec<_>>()
        };
        let capitals = |text: &[char]| text.iter().map(|c| c.to_uppercase().len()).sum::<usize>();
        let prediction = normalized(prediction);
        for answer in answers {
            let answer = normalized(answer);
            let half = capitals(&prediction).max(capitals(&answer)) / 2;
            refuse_hours(&answer, &prediction, half)?;
        }
        Ok(())
    }
}

impl Reading for Similarity {
    type Metric = Anls;

    fn metric(&self) -> &Anls {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        vec![("profile".to_owned(), self.metric.profile.to_string())]
    }

    fn read(&self, record: &Record<'_>, sink: &mut Sink<'_, Anls>) -> Result<(), FieldError> {
        let prediction = text(record.prediction, FieldError::prediction)?;
        let answers = references(record)?;
        if answers.is_empty() {
            return Err(unanswered());
        }
        Self::check(&prediction, &answers)?;
        sink.example(&prediction, &answers);
        Ok(())
    }

    fn scores(&self, state: &Mean) -> Named<Option<f64>> {
        vec![("anls".to_owned(), state.value())]
    }

    fn counts(&self, state: &Mean) -> Named<serde_json::Value> {
        vec![("total".to_owned(), state.count().into())]
    }
}

/// A reference that is one text or several.
fn references(record: &Record<'_>) -> Result<Vec<String>, FieldError> {
    match record.reference {
        Value::Text(text) => Ok(vec![text.to_owned()]),
        Value::Json(json) => texts(json).map_err(FieldError::reference),
        Value::Missing => Ok(Vec::new()),
    }
}

fn unanswered() -> FieldError {
    FieldError::reference("a question without answers: expected at least one")
}

pub(crate) const SQUAD: Entry = Entry {
    name: "squad",
    help: "Exact match and F1 of answers found in a text, as SQuAD has them",
    values: (
        "an answer, a list of answers, or {\"text\": a list of answers}; under v2 the list is empty where there is none; or SQuAD's data file (.json)",
        "a string; beside a data file SQuAD's predictions: an object id to text",
    ),
    options: &[OptionSpec {
        name: "profile",
        value: "PROFILE",
        default: squad::Profile::V1.name(),
        choices: || {
            squad::Profile::ALL
                .iter()
                .map(|profile| profile.name())
                .collect()
        },
        help: "Which version; under v2 a question may have no answer",
    }],
    input: Input::Joined(|text| SQUAD_FILES.fits(text)),
    whole_file: never_whole,
    build: |options| {
        let profile = options.require("profile")?;
        let reading = Extraction {
            metric: Squad { profile },
        };
        Ok(Adapter::boxed("squad", VERSION, reading))
    },
};

struct Extraction {
    metric: Squad,
}

impl Extraction {
    fn add(
        &self,
        prediction: &str,
        answers: &[String],
        sink: &mut Sink<'_, Squad>,
    ) -> Result<(), FieldError> {
        match (self.metric.profile, answers.is_empty()) {
            (squad::Profile::V1, true) => {
                let problem = "a question without answers: expected at least one; --profile v2 has such questions";
                return Err(FieldError::reference(problem));
            }
            (squad::Profile::V1, false) => sink.example(prediction, answers),
            (squad::Profile::V2, is_empty) => {
                let has_answer = if is_empty { "no" } else { "yes" };
                sink.part(None, &[("has_answer", has_answer)], prediction, answers);
            }
        }
        Ok(())
    }
}

impl Reading for Extraction {
    type Metric = Squad;

    fn metric(&self) -> &Squad {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        vec![("profile".to_owned(), self.metric.profile.to_string())]
    }

    fn read(&self, record: &Record<'_>, sink: &mut Sink<'_, Squad>) -> Result<(), FieldError> {
        let prediction = text(record.prediction, FieldError::prediction)?;
        let answers = match record.reference {
            // As Hugging Face has them.
            Value::Json(json) if json.trim_start().starts_with('{') => {
                let entries: Entries<'_> = typed(json).map_err(FieldError::reference)?;
                let list = entries.get("text").ok_or("expected a field \"text\"");
                texts(list.map_err(FieldError::reference)?).map_err(FieldError::reference)?
            }
            _ => references(record)?,
        };
        self.add(&prediction, &answers, sink)
    }

    fn read_documents(
        &self,
        references: Document,
        predictions: Document,
        policy: JoinPolicy,
        sink: &mut Sink<'_, Squad>,
    ) -> Result<(), DocumentError> {
        let (references, predictions) = (
            answer_files::text(&references)?,
            answer_files::text(&predictions)?,
        );
        let passed = join(
            &SQUAD_FILES,
            references,
            predictions,
            policy,
            &mut |id, question, prediction| {
                sink.record(id);
                let answers = &question.answers.answers;
                self.add(prediction, answers, sink)
                    .map_err(|error| error.problem)
            },
        )?;
        note_passed(&passed, sink);
        Ok(())
    }

    fn scores(&self, state: &squad::Evidence) -> Named<Option<f64>> {
        let score = self.metric.compute(state);
        vec![
            ("exact_match".to_owned(), score.exact_match),
            ("f1".to_owned(), score.f1),
        ]
    }

    fn counts(&self, state: &squad::Evidence) -> Named<serde_json::Value> {
        accuracy_counts(&state.exact)
    }
}

pub(crate) const RELAXED_ACCURACY: Entry = Entry {
    name: "relaxed-accuracy",
    help: "Share of answers that are a true number but for 5 %, or the true text; as ChartQA has it",
    values: (
        "an answer or a list of answers, each a string or a number",
        "a string or a number",
    ),
    options: &[OptionSpec {
        name: "tolerance",
        value: "T",
        default: "0.05",
        choices: Vec::new,
        help: "How far a number may be from the true one, as a part of that",
    }],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let tolerance = options.number("tolerance")?;
        if !tolerance.is_finite() || tolerance < 0.0 {
            let given = options.get("tolerance").unwrap_or_default();
            let reason = "expected a number of at least 0".to_owned();
            return Err(OptionError::new("tolerance", given, reason));
        }
        let reading = Relaxed {
            metric: RelaxedAccuracy { tolerance },
        };
        Ok(Adapter::boxed("relaxed-accuracy", VERSION, reading))
    },
};

struct Relaxed {
    metric: RelaxedAccuracy,
}

impl Reading for Relaxed {
    type Metric = RelaxedAccuracy;

    fn metric(&self) -> &RelaxedAccuracy {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        vec![("tolerance".to_owned(), self.metric.tolerance.to_string())]
    }

    fn read(
        &self,
        record: &Record<'_>,
        sink: &mut Sink<'_, RelaxedAccuracy>,
    ) -> Result<(), FieldError> {
        let prediction = match record.prediction {
            Value::Json(json) => text_or_number(json).map_err(FieldError::prediction)?,
            other => text(other, FieldError::prediction)?,
        };
        let references: Vec<String> = match record.reference {
            Value::Json(json) if json.trim_start().starts_with('[') => {
                let list: Result<Vec<_>, String> = typed::<Vec<&RawValue>>(json)
                    .map_err(FieldError::reference)?
                    .into_iter()
                    .map(|one| text_or_number(one.get()).map(Cow::into_owned))
                    .collect();
                list.map_err(FieldError::reference)?
            }
            Value::Json(json) => {
                vec![
                    text_or_number(json)
                        .map_err(FieldError::reference)?
                        .into_owned(),
                ]
            }
            other => vec![text(other, FieldError::reference)?.into_owned()],
        };
        if references.is_empty() {
            return Err(unanswered());
        }
        sink.example(&prediction, &references);
        Ok(())
    }

    fn scores(&self, state: &Accuracy) -> Named<Option<f64>> {
        vec![("relaxed_accuracy".to_owned(), state.value())]
    }

    fn counts(&self, state: &Accuracy) -> Named<serde_json::Value> {
        accuracy_counts(state)
    }
}

/// A text, or a number as it is written.
fn text_or_number(json: &str) -> Result<Cow<'_, str>, String> {
    match kind(json) {
        "a number" => Ok(Cow::Borrowed(json.trim())),
        "a string" => string(json),
        other => Err(format!("expected a string or a number, found {other}")),
    }
}
