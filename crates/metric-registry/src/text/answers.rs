//! Answers to questions, and other texts that are correct or incorrect.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use metric_core::{Accuracy, Mean, Metric, NamedScores};
use metric_record::json::Entries;
use metric_record::{Document, FieldError, Message, ReadError, Record, Value};
use metric_text::normalize::differ_in_form;
use metric_text::read::{
    JoinCounts, Predictions, Probabilities, QuestionForm, QuestionStream, QuestionTypes,
    QuestionsError, UNANSWERED, check_questions, check_squad_answers, check_vqa_answers,
    join_questions, patterns, read_predictions, relaxed_answers, squad_answers, text_or_number,
    texts, vqa_example,
};
use metric_text::vqa::{Answers, Evidence, VqaAccuracy, VqaProfile};
use metric_text::{Anls, ExactMatch, PythonRegex, RelaxedAccuracy, Squad, VERSION, anls, squad};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde_json::json;

use crate::fields::objects_by_id;
use crate::reading::missing_is_correct;
use crate::shapes::texts::{Compared, OfTexts, counts, note_forms, similarity};
use crate::text::edit::{MAX_CELLS_OPTION, max_cells, too_many_cells};
use crate::text::prepare::{EXTRACT, NORMALIZE, prepared_scorer};
use crate::{
    ComparedTexts, Counted, DataSet, DataSetError, Demo, Entry, Facts, Input, Named, Numbers,
    OptionError, OptionKind, OptionSpec, OptionValue, Options, PairOf, ReadDataSet, Reading, Scope,
    ScoreSpec, Sink, TextMetric, is_on_this_thread,
};

pub(crate) const EXACT_MATCH: Entry = Entry {
    name: "exact-match",
    help: "Share of texts that equal their reference, with the options of Hugging Face's exact_match",
    values: ("a string, or `references`: a list of strings", "a string"),
    known_as: &[(&["em"], "it is exact-match, or a score of squad")],
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
    ],
    scores: &[ScoreSpec::higher("exact_match").proportion("correct", "total")],
    report: in_report!(text { example: answer }),
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
        let reading = OfTexts::new("exact-match", metric);
        prepared_scorer("exact-match", VERSION, reading, options)
    },
    ..Entry::BASE
};

impl TextMetric for ExactMatch {
    fn definition(&self) -> Named<String> {
        let metric = self;
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
        let ignored = if ignored.is_empty() {
            "none".to_owned()
        } else {
            ignored.join(",")
        };
        let mut parts = Vec::new();
        let patterns: Vec<_> = metric
            .regexes_to_ignore
            .iter()
            .map(PythonRegex::as_str)
            .collect();
        if !patterns.is_empty() {
            parts.push(("regexes-to-ignore".to_owned(), json!(patterns).to_string()));
            parts.push(("regex".to_owned(), PythonRegex::DIALECT.to_owned()));
        }
        parts.push(("ignore".to_owned(), ignored));
        parts
    }

    fn compared<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.apply(text).unwrap_or(Cow::Borrowed(text))
    }

    /// Refuses a text that a pattern takes too long to match.
    fn check(&self, text: &str) -> Result<(), String> {
        ExactMatch::check(self, text).map_err(|error| error.to_string())
    }

    fn of_equal(&self, equal: Accuracy) -> Option<Accuracy> {
        (!self.changes_texts()).then_some(equal)
    }

    fn is_correct(&self, state: &Accuracy) -> Option<bool> {
        Some(state.correct > 0)
    }
}

pub(crate) const VQA: Entry = Entry {
    name: "vqa",
    help: "Accuracy of answers to questions about images",
    values: (
        "an answer or a list of answers, or {\"answer\": ..., \"lang\": \"en\"}, with `lang`, `question_type` and `answer_type` next to it where given; or VQA v2's annotation file (.json)",
        "a string; with an annotation file, VQA v2's results file: a list of {\"question_id\": ..., \"answer\": ...}",
    ),
    demos: &[
        Demo::new(
            "answers",
            ["answers.jsonl", "given-answers.jsonl"],
            &["accuracy"],
        )
        .with(&[("profile", "fusion-brain-2021")]),
        Demo::new(
            "answers of people",
            ["vqa-annotations.json", "vqa-results.json"],
            &["accuracy"],
        )
        .with(&[("profile", "vqa-v2")]),
    ],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::choice::<VqaProfile>("profile", "PROFILE", "Convention to follow")
            .or(VqaProfile::Exact.name()),
        OptionSpec::path(
            "questions",
            "FILE",
            "VQA v2's question file, which must have the questions of the annotation file",
        ),
    ],
    scores: &[ScoreSpec::higher("accuracy").proportion("correct", "total")],
    groups: &["answer_type", "lang", "question_type"],
    report: in_report!(text { example: answer }),
    input: Input::Joined(|text| QuestionForm::VQA_ANNOTATIONS.fits(text)),
    record_id: "question_id",
    parts: &["answers"],
    build: &|options| {
        let reading = Vqa {
            metric: VqaAccuracy::new(options.require("profile")?),
            questions: options.has("questions"),
        };
        prepared_scorer("vqa", VERSION, reading, options)
    },
    ..Entry::BASE
};

struct Vqa {
    metric: VqaAccuracy,
    /// Whether a question file is given.
    questions: bool,
}

impl Vqa {
    fn is_agreement(&self) -> bool {
        self.metric.profile().is_agreement()
    }

    /// Notes what makes a correct answer score below 1: it is compared with the answers that are not equal to
    /// the one that is left out.
    fn note_people(&self, answers: &Answers, id: impl fmt::Display, sink: &mut Sink<'_, Self>) {
        if !self.is_agreement() {
            return;
        }
        if answers.answers.len() < PEOPLE {
            let what = Counted::new(
                "question has fewer than 10 answers; each answer is compared with the other ones only, so the only answer to a question scores 0",
                "questions have fewer than 10 answers; each answer is compared with the other ones only, so the only answer to a question scores 0",
            );
            sink.count_record(&what, &id);
        }
        if answers.has_repeated() {
            let what = Counted::new(
                "question has answers that are equal objects, which are left out together as one person's, so that a correct answer can score 0; an answer_id tells people apart",
                "questions have answers that are equal objects, which are left out together as one person's, so that a correct answer can score 0; an answer_id tells people apart",
            );
            sink.count_record(&what, &id);
        }
    }
}

/// The number of people who answer a question of VQA v2.
const PEOPLE: usize = 10;

impl Reading for Vqa {
    type Metric = VqaAccuracy;
    type Header = ();

    fn metric(&self) -> &VqaAccuracy {
        &self.metric
    }

    fn facts(&self) -> Facts {
        let fields = ["lang", "question_type", "answer_type"];
        Facts {
            further_fields: fields.map(str::to_owned).to_vec(),
            has_proportions: !self.is_agreement(),
            ..Facts::default()
        }
    }

    fn signature(&self) -> Named<String> {
        vec![("profile".to_owned(), self.metric.profile().to_string())]
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        if self.questions {
            let problem = Message::default()
                .option("questions", "")
                .text(" goes with an annotation file (.json), found records");
            return Err(FieldError::reference(problem));
        }
        let example = vqa_example(record, self.metric.profile())?;
        self.note_people(&example.answers, record.id, sink);
        let groups = example.groups();
        sink.part(None, &groups, &example.prediction, &example.answers);
        Ok(())
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        let mut record = *record;
        vqa_example(&mut record, self.metric.profile()).is_ok_and(|example| {
            let state = self.metric.measure("", &example.answers);
            state.accuracy.correct > 0
        })
    }

    fn closeness(&self, _: &Evidence, pair: Option<PairOf<'_, Self>>) -> Option<f64> {
        let (prediction, answers) = pair?;
        similarity(prediction, answers.answers.iter().map(String::as_str))
    }

    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let example = vqa_example(record, self.metric.profile()).ok()?;
        let (prediction, answers) = self
            .metric
            .as_compared(&example.prediction, &example.answers);
        let given = example.answers.answers.into_iter();
        Some(ComparedTexts {
            prediction: [example.prediction.into_owned(), prediction],
            references: given.zip(answers).map(<[String; 2]>::from).collect(),
        })
    }

    fn numbers(&self, state: &Evidence, (): &(), _scope: Scope<'_>) -> Numbers {
        let mut counts = counts(&state.accuracy);
        if self.is_agreement() {
            counts.push(("thirds".to_owned(), json!(state.thirds)));
        }
        let rest = "scored without a lemmatizer, each word as its own lemma; the reference implementation uses pymorphy2, and the library takes a lemmatizer as a function";
        let unlemmatized = Counted::new(
            format!("Russian answer was {rest}"),
            format!("Russian answers were {rest}"),
        );
        let warnings = Counted::warnings([(state.without_lemmatizer, unlemmatized)]).collect();
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
    fn fields(&self, data: &DataSet) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        let mut objects = objects_by_id(&data.references, &["annotations"], "question_id")?;
        if let (Some(objects), Some(asked)) = (&mut objects, data.file("questions")) {
            let asked = objects_by_id(asked, &["questions"], "question_id")?;
            add_questions(objects, &asked.unwrap_or_default());
        }
        Ok(objects)
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        let predictions = read_predictions(data.predictions.file()?).map_err(of_questions)?;
        if self.stream(&data, &predictions, sink).is_some() {
            return Ok(());
        }
        let annotations = data.references.file()?;
        let asked = data.file("questions").map(Document::file).transpose()?;
        let profile = self.metric.profile();
        let mut questions = 0;
        let mut annotated = HashSet::new();
        let mut pooled: BTreeMap<QuestionTypes<'_>, (u64, Evidence)> = BTreeMap::new();
        let counts = join_questions(
            &QuestionForm::VQA_ANNOTATIONS,
            annotations,
            predictions,
            data.join,
            data.shard,
            &mut |question, given| {
                check_vqa_answers(profile, &question.answers)?;
                questions += 1;
                self.note_people(&question.answers, &question.id, sink);
                let prediction = given.unwrap_or_default();
                if given.is_none()
                    && self.metric.measure("", &question.answers).accuracy.correct > 0
                {
                    sink.count_record(&missing_is_correct(), &question.id);
                }
                if asked.is_some() {
                    annotated.insert(question.id.clone());
                }
                if sink.wants_samples() {
                    sink.record(&question.id);
                    let groups = question.types.named();
                    sink.part(None, &groups, prediction, &question.answers);
                    if sink.wants_inputs() {
                        let answers = json!(question.answers.answers).to_string();
                        sink.inputs(answers, json!(prediction).to_string());
                    }
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
        );
        let counts = counts.map_err(of_questions)?;
        if let Some(asked) = asked {
            check_questions(asked, annotations.name, &annotated, data.shard)
                .map_err(of_questions)?;
        }
        for (types, (examples, state)) in pooled {
            sink.pooled(examples, &types.named(), state);
        }
        count_unmatched(&counts, sink);
        self.note_profile(questions, sink);
        Ok(())
    }
}

/// Adds the texts of questions to the objects of their annotations.
fn add_questions(objects: &mut BTreeMap<String, String>, asked: &BTreeMap<String, String>) {
    for (id, object) in objects {
        let scanned = |object| Entries::scan(object)?.get("question");
        let question = asked.get(id).and_then(|asked| scanned(asked));
        let question = question.filter(|_| scanned(object).is_none());
        if let Some((question, start)) = question.zip(object.strip_suffix('}')) {
            *object = format!("{start}, \"question\": {question}}}");
        }
    }
}

/// The data that a thread has gathered from an annotation file.
#[derive(Default)]
struct Gathered {
    questions: u64,
    /// By question type and answer type, as [`joined_types`] writes them.
    pooled: BTreeMap<String, (u64, Evidence)>,
    /// The memory of a key.
    types: String,
}

/// Writes types as one text, in which no plain text has the characters between them.
fn joined_types(types: &QuestionTypes<'_>, into: &mut String) -> Option<()> {
    into.clear();
    for text in [&types.question_type, &types.answer_type] {
        if let Some(text) = text {
            (!text.contains('\0')).then_some(())?;
            into.push('=');
            into.push_str(text);
        }
        into.push('\0');
    }
    Some(())
}

/// Reads what [`joined_types`] writes.
fn split_types(joined: &str) -> QuestionTypes<'_> {
    let mut texts = joined
        .split('\0')
        .map(|text| text.strip_prefix('=').map(Into::into));
    QuestionTypes {
        question_type: texts.next().flatten(),
        answer_type: texts.next().flatten(),
    }
}

impl Vqa {
    /// Notes that the profile is not that of the data set.
    fn note_profile(&self, questions: u64, sink: &mut Sink<'_, Self>) {
        if self.metric.profile() != VqaProfile::Exact {
            return;
        }
        let rest = "scored by profile exact; VQA v2's own rule is ";
        let what = |questions: &str| {
            Message::from(format!("{questions} {rest}")).option("profile", "vqa-v2")
        };
        let what = Counted::new(
            what("question of an annotation file was"),
            what("questions of an annotation file were"),
        );
        sink.count(&what, questions);
    }

    /// Adds the questions of an annotation file while it is read. Returns `None`, and has added nothing, if the file
    /// is to be read as a whole: where something is to be said of a question, it is said in their order.
    fn stream(
        &self,
        data: &DataSet,
        predictions: &Predictions<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<()> {
        if sink.wants_samples() || data.shard.is_some() || data.file("questions").is_some() {
            return None;
        }
        let form = &QuestionForm::VQA_ANNOTATIONS;
        let stream = QuestionStream::open(form, &data.references, predictions)?;
        let profile = self.metric.profile();
        let parts = on_each_thread(|part: &mut Gathered| {
            stream.for_each(&mut |question, prediction| {
                let answers = &question.answers;
                check_vqa_answers(profile, answers).ok()?;
                let is_noted = self.is_agreement()
                    && (answers.answers.len() < PEOPLE || answers.has_repeated());
                (!is_noted).then_some(())?;
                part.questions += 1;
                joined_types(&question.types, &mut part.types)?;
                let (examples, state) = match part.pooled.get_mut(&part.types) {
                    Some(pool) => pool,
                    None => part.pooled.entry(part.types.clone()).or_default(),
                };
                *examples += 1;
                self.metric.update(state, prediction, answers);
                Some(())
            })
        })?;
        let extra = stream.unused();
        (extra == 0 || data.join.ignore_extra).then_some(())?;
        let mut questions = 0;
        for part in parts {
            questions += part.questions;
            for (types, (examples, state)) in part.pooled {
                sink.pooled(examples, &split_types(&types).named(), state);
            }
        }
        sink.extra(extra);
        self.note_profile(questions, sink);
        Some(())
    }
}

/// An error of files of questions as one of a data set.
fn of_questions(error: QuestionsError) -> DataSetError {
    match error {
        QuestionsError::Read(error) => error.into(),
        QuestionsError::Duplicate { error, .. } => (*error).into(),
        QuestionsError::Join(error) => (*error).into(),
        other => ReadError::new("", other.message()).into(),
    }
}

/// The data that each thread of the pool gathers, in no particular order; `None` if one of them returns `None`.
fn on_each_thread<A: Default + Send>(
    gather: impl Fn(&mut A) -> Option<()> + Sync,
) -> Option<Vec<A>> {
    let parts = Mutex::new(Vec::new());
    for_each_thread(&|| {
        let mut part = A::default();
        let part = gather(&mut part).map(|()| part);
        // A lock is poisoned by a panic while it is held, and storing a part does not panic.
        let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.push(part);
    });
    let parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.into_iter().collect()
}

/// Does work once for each thread of the pool, or on this thread. Without a parameter of type, rayon is
/// compiled once for this.
fn for_each_thread(work: &(dyn Fn() + Sync)) {
    let threads = if is_on_this_thread() {
        1
    } else {
        rayon::current_num_threads()
    };
    match threads {
        1 => work(),
        threads => (0..threads).into_par_iter().for_each(|_| work()),
    }
}

/// Counts the problems that the join of two files tolerated.
fn count_unmatched<R: Reading>(counts: &JoinCounts, sink: &mut Sink<'_, R>) {
    sink.missing(counts.missing);
    sink.extra(counts.extra);
}

pub(crate) const ANLS: Entry = Entry {
    name: "anls",
    help: "Average Normalized Levenshtein Similarity of answers read from documents",
    values: ("an answer or a list of answers", "a string"),
    known_as: &[(&["docvqa"], "")],
    demos: &[Demo::new("documents", ["documents.jsonl", "read-documents.jsonl"], &["anls"])],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::choice::<anls::AnlsProfile>("profile", "PROFILE",
            "Score of a similarity of 0.5: 0 as in the paper, or 0.5 as in the program of the Robust Reading Competition").or(anls::AnlsProfile::Paper.name()),
        MAX_CELLS_OPTION,
    ],
    scores: &[ScoreSpec::higher("anls")],
    report: in_report!(text { example: answer }),
    build: &|options| {
        let profile = options.require("profile")?;
        let reading = Similarity {
            metric: Anls { profile },
            max_cells: max_cells(options)?,
        };
        prepared_scorer("anls", VERSION, reading, options)
    },
    ..Entry::BASE
};

struct Similarity {
    metric: Anls,
    max_cells: u64,
}

impl Compared for Similarity {
    fn differ_in_form(&self, prediction: &str, reference: &str) -> bool {
        differ_in_form(prediction, reference)
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
        let answers = texts(&mut record.reference).map_err(FieldError::reference)?;
        if answers.is_empty() {
            return Err(FieldError::reference(UNANSWERED));
        }
        note_forms(self, &prediction, answers.iter().map(String::as_str), sink);
        let bytes = answers.iter().map(String::len).sum();
        if Anls::is_within(prediction.len(), bytes, self.max_cells) {
            sink.example(&prediction, &answers);
            return Ok(());
        }
        let value = self
            .metric
            .value_within(&prediction, &answers, self.max_cells);
        let value = value.map_err(|error| too_many_cells(&error))?;
        let mut state = Mean::default();
        state.add(value.unwrap_or(0.0));
        sink.measured(None, &[], state);
        Ok(())
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        let answers = texts(&mut record.reference.clone()).unwrap_or_default();
        self.metric.measure("", &answers).value() == Some(1.0)
    }

    fn closeness(&self, _: &Mean, pair: Option<PairOf<'_, Self>>) -> Option<f64> {
        let (prediction, answers) = pair?;
        similarity(prediction, answers.iter().map(String::as_str))
    }

    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let prediction = record.prediction.text().ok()?;
        let answers = texts(&mut record.reference).ok()?;
        let apply = |text: &str| self.metric.apply(text);
        Some(ComparedTexts::new(&prediction, &answers, apply))
    }

    fn numbers(&self, state: &Mean, (): &(), _scope: Scope<'_>) -> Numbers {
        Numbers {
            scores: vec![("anls".to_owned(), state.value())],
            counts: vec![("total".to_owned(), state.count().into())],
            ..Numbers::default()
        }
    }
}

const NA_PROB_FILE: OptionSpec = OptionSpec::path(
    "na-prob-file",
    "FILE",
    "With profile v2 and a data file: probability of each question, by id, that it has no answer (.json)",
);

const NA_PROB_THRESH: OptionSpec = OptionSpec::number(
    "na-prob-thresh",
    "T",
    f64::MIN..=f64::MAX,
    "Questions whose probability of having no answer is above T count as unanswered [default: 1]",
);

pub(crate) const SQUAD: Entry = Entry {
    name: "squad",
    help: "Exact match and F1 of answers extracted from a text, as in SQuAD",
    values: (
        "an answer, a list of answers, {\"text\": a list of answers}, or SQuAD's data file (.json). Under v2, an empty list means that there is no answer",
        "a string, or with a data file SQuAD's predictions file, an object that maps ids to texts. With a threshold and no file of probabilities {\"prediction_text\": ..., \"no_answer_probability\": ...}",
    ),
    demos: &[Demo::new(
        "answers in a text",
        ["squad-data.json", "squad-predictions.json"],
        &["exact_match", "f1"],
    )
    .with(&[("profile", "v2")])],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::choice::<squad::SquadProfile>(
            "profile",
            "PROFILE",
            "Version of SQuAD. Under v2, a question may have no answer",
        )
        .or(squad::SquadProfile::V1.name()),
        NA_PROB_FILE,
        NA_PROB_THRESH,
    ],
    scores: &[
        ScoreSpec::higher("exact_match").proportion("correct", "total"),
        ScoreSpec::higher("f1"),
    ],
    groups: &["has_answer"],
    report: in_report!(text { example: answer }),
    input: Input::Joined(|text| QuestionForm::SQUAD.fits(text)),
    parts: &["answers"],
    build: &|options| {
        let profile = options.require("profile")?;
        let reading = Extraction {
            metric: Squad { profile },
            threshold: no_answer_threshold(options, profile)?,
            has_file: options.has(NA_PROB_FILE.name),
        };
        prepared_scorer("squad", VERSION, reading, options)
    },
    ..Entry::BASE
};

struct Extraction {
    metric: Squad,
    /// The probability above which a question counts as unanswered, if probabilities are given.
    threshold: Option<f64>,
    /// Whether they are in a file of their own, and not next to the predictions.
    has_file: bool,
}

/// A prediction with the probability that its question has no answer, as Hugging Face's `squad_v2` takes it.
#[derive(serde::Deserialize)]
struct WithProbability<'a> {
    #[serde(borrow)]
    prediction_text: Cow<'a, str>,
    no_answer_probability: f64,
}

/// The threshold of the probabilities that questions have no answer, if these are given.
fn no_answer_threshold(
    options: &Options,
    profile: squad::SquadProfile,
) -> Result<Option<f64>, OptionError> {
    let (file, threshold) = (NA_PROB_FILE.name, NA_PROB_THRESH.name);
    let has_file = options.has(file);
    if !has_file && !options.has(threshold) {
        return Ok(None);
    }
    let given = if has_file { file } else { threshold };
    let refuse = |reason| Err(OptionError::new(given, &options.given(given), reason));
    if !profile.allows_no_answer() {
        return refuse(Message::from("expected only with ").option("profile", "v2"));
    }
    let steps = [EXTRACT.name, NORMALIZE.name];
    if let Some(step) = steps.into_iter().find(|step| options.has(step)) {
        return refuse(
            Message::from("expected no ")
                .option(step, "")
                .text(" next to it"),
        );
    }
    if options.has(threshold) {
        options.number(threshold).map(Some)
    } else {
        Ok(Some(1.0))
    }
}

/// Reads a prediction with the probability that its question has no answer.
fn with_probability<'a>(value: &mut Value<'a>) -> Result<(Cow<'a, str>, f64), FieldError> {
    let read = value.read::<WithProbability<'_>>();
    let read = read.map(|read| (read.prediction_text, read.no_answer_probability));
    read.map_err(|problem| {
        let problem = Message::default()
            .option(NA_PROB_THRESH.name, "")
            .text(" goes with ")
            .option(NA_PROB_FILE.name, "")
            .text(format!(
                ", or with {{\"prediction_text\": ..., \"no_answer_probability\": ...}}: {problem}"
            ));
        FieldError::prediction(problem)
    })
}

impl Extraction {
    fn add(
        &self,
        prediction: &str,
        answers: &[String],
        is_unanswered: bool,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), Message> {
        let profile = self.metric.profile;
        check_squad_answers(profile, answers)?;
        if profile.allows_no_answer() {
            let has_answer = if answers.is_empty() { "no" } else { "yes" };
            let groups = [("has_answer", has_answer)];
            if is_unanswered {
                let state = squad::Evidence::of_values(Squad::unanswered_values(answers));
                sink.measured(None, &groups, state);
            } else {
                sink.part(None, &groups, prediction, answers);
            }
        } else {
            sink.example(prediction, answers);
        }
        Ok(())
    }
}

impl Extraction {
    /// Adds the questions of a data file while it is read. Returns `None`, and has added nothing, if the file is to
    /// be read as a whole.
    fn stream(
        &self,
        data: &DataSet,
        predictions: &Predictions<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<()> {
        if sink.wants_samples() || data.shard.is_some() || self.threshold.is_some() {
            return None;
        }
        let stream = QuestionStream::open(&QuestionForm::SQUAD, &data.references, predictions)?;
        let profile = self.metric.profile;
        // Questions without answers, and those with them, each with their number.
        type Kinds = [(u64, squad::Evidence); 2];
        let parts = on_each_thread(|part: &mut Kinds| {
            stream.for_each(&mut |question, prediction| {
                let answers = &question.answers.answers;
                check_squad_answers(profile, answers).ok()?;
                let (examples, state) = &mut part[usize::from(!answers.is_empty())];
                *examples += 1;
                self.metric.update(state, prediction, answers);
                Some(())
            })
        })?;
        let extra = stream.unused();
        (extra == 0 || data.join.ignore_extra).then_some(())?;
        for part in parts {
            for ((examples, state), has_answer) in part.into_iter().zip(["no", "yes"]) {
                let group = [("has_answer", has_answer)];
                let groups = if profile.allows_no_answer() {
                    &group[..]
                } else {
                    &[]
                };
                if examples > 0 {
                    sink.pooled(examples, groups, state);
                }
            }
        }
        sink.extra(extra);
        Some(())
    }
}

impl Reading for Extraction {
    type Metric = Squad;
    type Header = ();

    fn metric(&self) -> &Squad {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let profile = ("profile".to_owned(), self.metric.profile.to_string());
        let threshold = self.threshold.map(|threshold| {
            let name = NA_PROB_THRESH.name.to_owned();
            (name, threshold.to_string())
        });
        std::iter::once(profile).chain(threshold).collect()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        if self.has_file {
            let problem = Message::default()
                .option(NA_PROB_FILE.name, "")
                .text(" goes with a data file (.json), found records");
            return Err(FieldError::reference(problem));
        }
        let (prediction, is_unanswered) = match self.threshold {
            Some(threshold) if !record.prediction.is_missing() => {
                let (text, probability) = with_probability(&mut record.prediction)?;
                (text, probability > threshold)
            }
            _ => {
                let text = record.prediction.text().map_err(FieldError::prediction)?;
                (text, false)
            }
        };
        let answers = squad_answers(&mut record.reference).map_err(FieldError::reference)?;
        self.add(&prediction, &answers, is_unanswered, sink)
            .map_err(FieldError::reference)
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        let answers = squad_answers(&mut record.reference.clone()).unwrap_or_default();
        self.metric.measure("", &answers).exact.correct > 0
    }

    fn closeness(&self, state: &squad::Evidence, _: Option<PairOf<'_, Self>>) -> Option<f64> {
        self.metric.compute(state).f1
    }

    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let prediction = record.prediction.text().ok()?;
        let answers = squad_answers(&mut record.reference).ok()?;
        Some(ComparedTexts::new(&prediction, &answers, squad::normalize))
    }

    fn numbers(&self, state: &squad::Evidence, (): &(), _scope: Scope<'_>) -> Numbers {
        let score = self.metric.compute(state);
        Numbers {
            scores: score.named_scores(),
            counts: counts(&state.exact),
            ..Numbers::default()
        }
    }

    fn data_sets(&self) -> Option<&dyn ReadDataSet<Self>> {
        Some(self)
    }
}

impl ReadDataSet<Self> for Extraction {
    fn fields(&self, data: &DataSet) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        objects_by_id(&data.references, &["data", "paragraphs", "qas"], "id")
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        let predictions = read_predictions(data.predictions.file()?).map_err(of_questions)?;
        if self.stream(&data, &predictions, sink).is_some() {
            return Ok(());
        }
        let questions = data.references.file()?;
        if self.threshold.is_some() && !self.has_file {
            let problem = Message::default()
                .option(NA_PROB_THRESH.name, "")
                .text(" goes with ")
                .option(NA_PROB_FILE.name, "")
                .text(" where the references are a data file");
            return Err(ReadError::new("", problem).into());
        }
        let probabilities = data
            .file(NA_PROB_FILE.name)
            .map(Document::file)
            .transpose()?;
        let mut probabilities = probabilities.map(Probabilities::read).transpose()?;
        let counts = join_questions(
            &QuestionForm::SQUAD,
            questions,
            predictions,
            data.join,
            data.shard,
            &mut |question, prediction| {
                sink.record(&question.id);
                let answers = &question.answers.answers;
                if prediction.is_none() && self.metric.measure("", answers).exact.correct > 0 {
                    sink.count_record(&missing_is_correct(), &question.id);
                }
                // A missing prediction is empty, whatever its probability is.
                let probability = match (&mut probabilities, prediction) {
                    (Some(probabilities), Some(_)) => probabilities.of(&question.id),
                    _ => None,
                };
                let is_unanswered = probability
                    .zip(self.threshold)
                    .is_some_and(|(probability, threshold)| probability > threshold);
                let given = prediction.unwrap_or_default();
                let added = self.add(given, answers, is_unanswered, sink);
                if sink.wants_inputs() {
                    sink.inputs(json!(answers).to_string(), json!(given).to_string());
                }
                added
            },
        );
        count_unmatched(&counts.map_err(of_questions)?, sink);
        if let Some(probabilities) = &probabilities {
            let used = probabilities.finish()?;
            let held = probabilities.ids().filter(|id| data.holds(&id.to_string()));
            let what = Counted::new(
                "probability is of a question without a prediction or of none, and was left out",
                "probabilities are of questions without a prediction or of none, and were left out",
            );
            sink.count(&what, held.count().saturating_sub(used) as u64);
        }
        Ok(())
    }
}

pub(crate) const RELAXED_ACCURACY: Entry = Entry {
    name: "relaxed-accuracy",
    help: "Share of answers within 5% of the reference number, or equal to the reference text (ChartQA's relaxed accuracy)",
    values: (
        "an answer or a list of answers, each a string or a number",
        "a string or a number",
    ),
    known_as: &[(&["chartqa"], "")],
    demos: &[Demo::new(
        "charts",
        ["charts.jsonl", "read-charts.jsonl"],
        &["relaxed_accuracy"],
    )],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::number(
            "tolerance",
            "T",
            0.0..=f64::MAX,
            "Relative tolerance of numbers",
        )
        .or("0.05"),
    ],
    scores: &[ScoreSpec::higher("relaxed_accuracy").proportion("correct", "total")],
    report: in_report!(text { example: answer }),
    build: &|options| {
        let tolerance = options.number("tolerance")?;
        if !tolerance.is_finite() || tolerance < 0.0 {
            let reason = "expected a number of at least 0";
            return Err(OptionError::new(
                "tolerance",
                &options.given("tolerance"),
                reason,
            ));
        }
        let reading = Relaxed {
            metric: RelaxedAccuracy { tolerance },
        };
        prepared_scorer("relaxed-accuracy", VERSION, reading, options)
    },
    ..Entry::BASE
};

struct Relaxed {
    metric: RelaxedAccuracy,
}

impl Compared for Relaxed {
    fn differ_in_form(&self, prediction: &str, reference: &str) -> bool {
        differ_in_form(prediction, reference)
    }
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

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let prediction = text_or_number(&mut record.prediction).map_err(FieldError::prediction)?;
        let references = relaxed_answers(&mut record.reference).map_err(FieldError::reference)?;
        if references.is_empty() {
            return Err(FieldError::reference(UNANSWERED));
        }
        note_forms(
            self,
            &prediction,
            references.iter().map(String::as_str),
            sink,
        );
        sink.example(&prediction, &references);
        Ok(())
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        let references = relaxed_answers(&mut record.reference.clone()).unwrap_or_default();
        self.metric.measure("", &references).correct > 0
    }

    /// By the relative difference of numbers, or by the similarity of texts.
    fn closeness(&self, _: &Accuracy, pair: Option<PairOf<'_, Self>>) -> Option<f64> {
        let (prediction, references) = pair?;
        let number = |text: &str| text.trim().trim_end_matches('%').parse::<f64>().ok();
        let relative = |reference: &String| {
            let (found, expected) = number(prediction).zip(number(reference))?;
            let difference = (found - expected).abs() / expected.abs();
            difference.is_finite().then(|| (1.0 - difference).max(0.0))
        };
        let by_number = references.iter().filter_map(relative).reduce(f64::max);
        by_number.or_else(|| similarity(prediction, references.iter().map(String::as_str)))
    }

    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let prediction = text_or_number(&mut record.prediction).ok()?;
        let answers = relaxed_answers(&mut record.reference).ok()?;
        let pairs = answers
            .iter()
            .map(|answer| self.metric.as_compared(&prediction, answer));
        let pairs: Vec<[String; 2]> = pairs.collect();
        // With one answer as a number, with another one as a text.
        let mut compared: Vec<&str> = pairs.iter().map(|[prediction, _]| &**prediction).collect();
        compared.dedup();
        Some(ComparedTexts {
            prediction: [prediction.clone().into(), compared.join(" or ")],
            references: answers
                .into_iter()
                .zip(pairs)
                .map(|(answer, [_, compared])| [answer, compared])
                .collect(),
        })
    }

    fn numbers(&self, state: &Accuracy, (): &(), _scope: Scope<'_>) -> Numbers {
        Numbers {
            scores: vec![("relaxed_accuracy".to_owned(), state.value())],
            counts: counts(state),
            ..Numbers::default()
        }
    }
}
