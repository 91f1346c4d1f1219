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
use crate::text::edit::{MOST_WORK, refuse_hours};
use metric_record::json::{self, Entries, typed};
use metric_record::{Document, FieldError, Kind, Message, Record, Value};

use crate::text::string_accuracy::{accuracy_counts, texts as both_texts};
use crate::{
    DataSet, DataSetError, Entry, Input, Named, Numbers, OptionError, OptionKind, OptionSpec,
    OptionValue, ReadDataSet, Reading, Scope, ScoreSpec, Sink, never_whole, scorer,
};

pub(crate) const EXACT_MATCH: Entry = Entry {
    name: "exact-match",
    help: "Share of texts that equal their reference, with the options of Hugging Face's exact_match",
    values: ("a string", "a string"),
    options: &[
        OptionSpec {
            name: "regexes-to-ignore",
            kind: OptionKind::List(&OptionKind::Text),
            value: "REGEXES",
            default: "",
            help: "What is deleted first: a regular expression, or a JSON list of them",
        },
        OptionSpec {
            name: "ignore-case",
            kind: OptionKind::Flag,
            value: "",
            default: "",
            help: "Lowercase both texts",
        },
        OptionSpec {
            name: "ignore-punctuation",
            kind: OptionKind::Flag,
            value: "",
            default: "",
            help: "Delete ASCII punctuation",
        },
        OptionSpec {
            name: "ignore-numbers",
            kind: OptionKind::Flag,
            value: "",
            default: "",
            help: "Delete the digits 0 to 9",
        },
    ],
    scores: &[ScoreSpec::higher("exact_match").proportion("correct", "total")],
    groups: &[],
    details: false,
    drawings: &[],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let given = options.given("regexes-to-ignore");
        let problem = |reason: String| OptionError::new("regexes-to-ignore", &given, reason);
        let regexes = match options.value("regexes-to-ignore") {
            Some(OptionValue::List(patterns)) => patterns.clone(),
            _ => patterns(&given).map_err(problem)?,
        };
        let regexes: Result<Vec<Pattern>, InvalidPattern> =
            regexes.iter().map(|pattern| pattern.parse()).collect();
        let regexes_to_ignore = regexes.map_err(|error| problem(error.to_string()))?;
        let is_on = |name| options.has(name);
        let reading = Matches {
            metric: ExactMatch {
                regexes_to_ignore,
                ignore_case: is_on("ignore-case"),
                ignore_punctuation: is_on("ignore-punctuation"),
                ignore_numbers: is_on("ignore-numbers"),
            },
        };
        Ok(scorer("exact-match", VERSION, reading))
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
    type Header = ();

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

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let (prediction, reference) = both_texts(record)?;
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn numbers(&self, state: &Accuracy, (): &(), _scope: Scope<'_>) -> Numbers {
        Numbers {
            scores: vec![("exact_match".to_owned(), state.value())],
            counts: accuracy_counts(state),
            ..Numbers::default()
        }
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
            kind: OptionKind::Choice(|| Profile::ALL.iter().map(|profile| profile.name()).collect()),
    value: "PROFILE",
            default: Profile::Exact.name(),
            help: "Whose rules",
        },
        OptionSpec {
            name: "questions",
            kind: OptionKind::Path,
            value: "FILE",
            default: "",
            help: "VQA v2's question file, which must have the questions of the annotation file",
        },
    ],
    scores: &[ScoreSpec::higher("accuracy").proportion("correct", "total")],
    groups: &["answer_type", "lang", "question_type"],
    details: false,
    drawings: &[],
    input: Input::Joined(|text| VQA_ANNOTATIONS.fits(text)),
    whole_file: never_whole,
    build: |options| {
        let reading = Vqa {
            metric: VqaAccuracy::new(options.require("profile")?),
            questions: options.has("questions"),
        };
        Ok(scorer("vqa", VERSION, reading))
    },
};

struct Vqa {
    metric: VqaAccuracy,
    /// Whether a question file is given.
    questions: bool,
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
    type Header = ();

    fn metric(&self) -> &VqaAccuracy {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        vec![("profile".to_owned(), self.metric.profile().to_string())]
    }

    fn read(
        &self,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        if self.questions {
            let problem = Message::default()
                .option("questions", "")
                .text(" goes with an annotation file (.json), found records");
            return Err(FieldError::reference(problem));
        }
        let prediction = record.prediction.text().map_err(FieldError::prediction)?;
        let reference;
        let (answers, inside) = match record.reference.kind() {
            Kind::Line => (Answers::from([line(record)]), Entries::default()),
            Kind::Missing => (Answers::default(), Entries::default()),
            _ => {
                let json = record.reference.to_json_or("");
                reference = json.map_err(FieldError::reference)?;
                accepted(&reference).map_err(FieldError::reference)?
            }
        };
        self.refuse_unanswered(&answers)
            .map_err(FieldError::reference)?;
        // In the object of the answers, or beside it in the record.
        let outside = json::fields(record.fields, &["lang", "question_type", "answer_type"])
            .map_err(FieldError::reference)?;
        let field = |field| match inside.name(field) {
            Ok(None) => outside.name(field),
            found => found,
        };
        let field = |name| field(name).map_err(FieldError::reference);
        let lang = field("lang")?;
        let language = match (&lang, self.metric.profile()) {
            (Some(name), Profile::FusionBrain2021) => {
                let language = name.parse::<Language>();
                Some(language.map_err(|error| FieldError::reference(error.to_string()))?)
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

    fn numbers(&self, state: &Evidence, (): &(), _scope: Scope<'_>) -> Numbers {
        let mut counts = accuracy_counts(&state.accuracy);
        if self.is_agreement() {
            counts.push(("thirds".to_owned(), json!(state.thirds)));
        }
        let mut warnings = Vec::new();
        if state.without_lemmatizer > 0 {
            warnings.push(Message::from(format!(
                "{} × a Russian answer was scored without a lemmatiser, each word as its own lemma; the reference program uses pymorphy2, and the library takes a lemmatiser as a function",
                state.without_lemmatizer
            )));
        }
        Numbers {
            scores: vec![("accuracy".to_owned(), self.metric.compute(state))],
            counts,
            warnings,
            ..Numbers::default()
        }
    }

    fn data_sets(&self) -> Option<&dyn ReadDataSet<Self>> {
        Some(self)
    }
}

impl ReadDataSet<Self> for Vqa {
    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        let (references, predictions) = (data.references.file()?, data.predictions.file()?);
        let asked = data.file("questions").map(Document::file).transpose()?;
        let mut questions = 0;
        let mut annotated = HashSet::new();
        let mut pooled: BTreeMap<[Option<Cow<'_, str>>; 2], (u64, Evidence)> = BTreeMap::new();
        let passed = join(
            &VQA_ANNOTATIONS,
            references,
            predictions,
            data.join,
            &mut |id, question, prediction| {
                self.refuse_unanswered(&question.answers)?;
                questions += 1;
                if asked.is_some() {
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
        if let Some(asked) = asked {
            check_questions(asked, references.name, &annotated)?;
        }
        for (types, (examples, state)) in pooled {
            sink.pooled(examples, &groups(&types), state);
        }
        note_passed(&passed, sink);
        if self.metric.profile() == Profile::Exact {
            let note = "a question of an annotation file was scored by profile exact; VQA v2's own rule is ";
            sink.note(Message::from(note).option("profile", "vqa-v2"), questions);
        }
        Ok(())
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
fn note_passed<R: Reading>(passed: &Passed, sink: &mut Sink<'_, R>) {
    sink.missing(passed.missing);
    sink.extra(passed.extra);
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
        kind: OptionKind::Choice(|| {
            anls::Profile::ALL
                .iter()
                .map(|profile| profile.name())
                .collect()
        }),
    value: "PROFILE",
        default: anls::Profile::Paper.name(),
        help: "Whose rule for a similarity of 0.5: 0 in the paper, 0.5 in the program of the Robust Reading Competition",
    }],
    scores: &[ScoreSpec::higher("anls")],
    groups: &[],
    details: false,
    drawings: &[],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let profile = options.require("profile")?;
        let reading = Similarity {
            metric: Anls { profile },
        };
        Ok(scorer("anls", VERSION, reading))
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
    type Header = ();

    fn metric(&self) -> &Anls {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        vec![("profile".to_owned(), self.metric.profile.to_string())]
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let prediction = record.prediction.text().map_err(FieldError::prediction)?;
        let answers = references(record)?;
        if answers.is_empty() {
            return Err(unanswered());
        }
        Self::check(&prediction, &answers)?;
        sink.example(&prediction, &answers);
        Ok(())
    }

    fn numbers(&self, state: &Mean, (): &(), _scope: Scope<'_>) -> Numbers {
        Numbers {
            scores: vec![("anls".to_owned(), state.value())],
            counts: vec![("total".to_owned(), state.count().into())],
            ..Numbers::default()
        }
    }
}

/// A reference that is one text or several.
fn references(record: &mut Record<'_>) -> Result<Vec<String>, FieldError> {
    match record.reference.kind() {
        Kind::Line => Ok(vec![line(record)]),
        Kind::Missing => Ok(Vec::new()),
        _ => {
            let json = record.reference.to_json_or("");
            json.and_then(|json| texts(&json))
                .map_err(FieldError::reference)
        }
    }
}

/// The reference, where it is a line of text.
fn line(record: &Record<'_>) -> String {
    record.reference.as_line().unwrap_or_default().to_owned()
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
        kind: OptionKind::Choice(|| {
            squad::Profile::ALL
                .iter()
                .map(|profile| profile.name())
                .collect()
        }),
    value: "PROFILE",
        default: squad::Profile::V1.name(),
        help: "Which version; under v2 a question may have no answer",
    }],
    scores: &[
        ScoreSpec::higher("exact_match").proportion("correct", "total"),
        ScoreSpec::higher("f1"),
    ],
    groups: &["has_answer"],
    details: false,
    drawings: &[],
    input: Input::Joined(|text| SQUAD_FILES.fits(text)),
    whole_file: never_whole,
    build: |options| {
        let profile = options.require("profile")?;
        let reading = Extraction {
            metric: Squad { profile },
        };
        Ok(scorer("squad", VERSION, reading))
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
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        match (self.metric.profile, answers.is_empty()) {
            (squad::Profile::V1, true) => {
                let problem =
                    Message::from("a question without answers: expected at least one; ")
                        .option("profile", "v2")
                        .text(" has such questions");
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
    type Header = ();

    fn metric(&self) -> &Squad {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        vec![("profile".to_owned(), self.metric.profile.to_string())]
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let prediction = record.prediction.text().map_err(FieldError::prediction)?;
        let answers = match record.reference.kind() {
            // The form of Hugging Face's data sets.
            Kind::Object => {
                let entries: Entries<'_> =
                    record.reference.read().map_err(FieldError::reference)?;
                let list = entries.get("text").ok_or("expected a field \"text\"");
                texts(list.map_err(FieldError::reference)?).map_err(FieldError::reference)?
            }
            _ => references(record)?,
        };
        self.add(&prediction, &answers, sink)
    }

    fn numbers(&self, state: &squad::Evidence, (): &(), _scope: Scope<'_>) -> Numbers {
        let score = self.metric.compute(state);
        Numbers {
            scores: vec![
                ("exact_match".to_owned(), score.exact_match),
                ("f1".to_owned(), score.f1),
            ],
            counts: accuracy_counts(&state.exact),
            ..Numbers::default()
        }
    }

    fn data_sets(&self) -> Option<&dyn ReadDataSet<Self>> {
        Some(self)
    }
}

impl ReadDataSet<Self> for Extraction {
    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        let (references, predictions) = (data.references.file()?, data.predictions.file()?);
        let passed = join(
            &SQUAD_FILES,
            references,
            predictions,
            data.join,
            &mut |id, question, prediction| {
                sink.record(id);
                let answers = &question.answers.answers;
                self.add(prediction, answers, sink)
                    .map_err(|error| error.problem.to_string())
            },
        )?;
        note_passed(&passed, sink);
        Ok(())
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
        kind: OptionKind::Number(0.0, f64::MAX),
        value: "T",
        default: "0.05",
        help: "How far a number may be from the true one, as a part of that",
    }],
    scores: &[ScoreSpec::higher("relaxed_accuracy").proportion("correct", "total")],
    groups: &[],
    details: false,
    drawings: &[],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let tolerance = options.number("tolerance")?;
        if !tolerance.is_finite() || tolerance < 0.0 {
            let reason = "expected a number of at least 0";
            return Err(OptionError::new("tolerance", &options.given("tolerance"), reason));
        }
        let reading = Relaxed {
            metric: RelaxedAccuracy { tolerance },
        };
        Ok(scorer("relaxed-accuracy", VERSION, reading))
    },
};

struct Relaxed {
    metric: RelaxedAccuracy,
}

impl Reading for Relaxed {
    type Metric = RelaxedAccuracy;
    type Header = ();

    fn metric(&self) -> &RelaxedAccuracy {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        vec![("tolerance".to_owned(), self.metric.tolerance.to_string())]
    }

    fn read(
        &self,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let prediction = text_or_number(&mut record.prediction).map_err(FieldError::prediction)?;
        let references: Result<Vec<String>, String> = match record.reference.kind() {
            Kind::List => record.reference.read::<Vec<&RawValue>>().and_then(|list| {
                let list = list.into_iter();
                list.map(|one| Ok(text_or_number(&mut Value::json(one.get()))?.into_owned()))
                    .collect()
            }),
            _ => text_or_number(&mut record.reference).map(|one| vec![one.into_owned()]),
        };
        let references = references.map_err(FieldError::reference)?;
        if references.is_empty() {
            return Err(unanswered());
        }
        sink.example(&prediction, &references);
        Ok(())
    }

    fn numbers(&self, state: &Accuracy, (): &(), _scope: Scope<'_>) -> Numbers {
        Numbers {
            scores: vec![("relaxed_accuracy".to_owned(), state.value())],
            counts: accuracy_counts(state),
            ..Numbers::default()
        }
    }
}

/// Reads a text, or a number as it is written.
fn text_or_number<'a>(value: &mut Value<'a>) -> Result<Cow<'a, str>, String> {
    match value.kind() {
        Kind::Number => {
            let json = value.to_json_or("")?;
            Ok(match json {
                Cow::Borrowed(number) => Cow::Borrowed(number.trim()),
                number => number,
            })
        }
        Kind::String | Kind::Line | Kind::Missing => value.text(),
        other => Err(format!("expected a string or a number, found {other}")),
    }
}
