//! Answers extracted from a text, as in SQuAD.

use std::borrow::Cow;

use metric_core::Metric;
use metric_record::{FieldError, Message, Record, Value};
use metric_text::Squad;
use metric_text::read::{Question, QuestionForm, check_squad_answers, squad_answers};
use metric_text::squad::{Evidence, Language, SquadProfile, SquadScore};

use crate::numbers::named;
use crate::prepare::{EXTRACT, NORMALIZE};
use crate::shapes::questions::{NA_PROB_FILE, QuestionMetric, read_questions};
use crate::shapes::texts::OfTexts;
use crate::{
    ComparedTexts, Demo, Entry, Facts, Input, Named, Note, ObjectsAt, OptionError, OptionSpec,
    Options, References, ScoreSpec, Shape, TextExample, TextMetric,
};

const NA_PROB_THRESH: OptionSpec = OptionSpec::number(
    "na-prob-thresh",
    "T",
    f64::MIN..=f64::MAX,
    "Questions whose probability of having no answer is above T count as unanswered [default: 1]",
);

/// The language of answers under the profile mlqa, which does not count its articles.
const LANGUAGE: OptionSpec = OptionSpec::choice::<Language>(
    "language",
    "LANGUAGE",
    "With the profile mlqa, which needs it: language of the answers",
)
.only_with("profile", &[SquadProfile::Mlqa.name()]);

pub(crate) const SQUAD: Entry = Entry {
    name: "squad",
    class: "SQuAD",
    question: "Is an answer found in a text correct? Exact match, F1",
    programs: "SQuAD v1.1, v2.0, MLQA, CMRC 2018",
    shapes: &[Shape::Answers.as_is()],
    tried: &[
        &[("profile", "v2")],
        &[("profile", "mlqa"), ("language", "zh")],
        &[("profile", "cmrc")],
    ],
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
        OptionSpec::choice::<SquadProfile>(
            "profile",
            "PROFILE",
            "Version of SQuAD, or the data set whose program to follow. Under v2, a question may have no answer",
        )
        .or(SquadProfile::V1.name()),
        LANGUAGE,
        NA_PROB_FILE,
        NA_PROB_THRESH,
    ],
    scores: &[
        ScoreSpec::higher("exact_match").proportion("correct", "total"),
        ScoreSpec::higher("f1"),
    ],
    groups: &["has_answer"],
    input: Input::Joined(|text| QuestionForm::SQUAD.fits(text)),
    parts: &["answers"],
    build: &|options| {
        let profile = options.require("profile")?;
        let has_file = options.has(NA_PROB_FILE.name);
        let metric = Extraction {
            squad: squad(options, profile)?,
            threshold: no_answer_threshold(options, profile)?,
            has_file,
        };
        let no_records = Message::default()
            .option(NA_PROB_FILE.name, "")
            .text(" goes with a data file (.json), found records");
        let no_files = Message::default()
            .option(NA_PROB_THRESH.name, "")
            .text(" goes with ")
            .option(NA_PROB_FILE.name, "")
            .text(" where the references are a data file");
        let reading = OfTexts {
            is_correct: |state: &Evidence| state.exact.correct > 0,
            compared: |metric: &Extraction, prediction, answers: &[String]| {
                let normalize = |text: &str| metric.squad.normalize(text);
                ComparedTexts::new(prediction, answers.texts(), normalize)
            },
            closeness: |metric: &Extraction, state, _| metric.compute(state).f1,
            facts: Facts {
                objects: &[ObjectsAt {
                    file: "",
                    keys: &["data", "paragraphs", "qas"],
                    id: "id",
                }],
                ..Facts::default()
            },
            read_files: Some(read_questions),
            no_records: has_file.then_some(no_records),
            no_files: (metric.threshold.is_some() && !has_file).then_some(no_files),
            ..OfTexts::new("squad", metric)
        };
        reading.scorer(options)
    },
    ..Entry::BASE
};

/// SQuAD's scores, where probabilities may say that a question has no answer.
struct Extraction {
    squad: Squad,
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

/// Returns the formula under a profile, with the language that it asks for.
fn squad(options: &Options, profile: SquadProfile) -> Result<Squad, OptionError> {
    let language: Option<Language> = options.parse(LANGUAGE.name)?;
    if language.is_some() || profile != SquadProfile::Mlqa {
        let metric = Squad::default().with_profile(profile);
        return Ok(metric.with_language(language.unwrap_or_default()));
    }
    let names = <Language as metric_core::Choice>::names().join(", ");
    let reason = Message::from(format!("expected one of {names} with "));
    let reason = reason.option("profile", profile.name());
    Err(OptionError::new(LANGUAGE.name, "", reason))
}

/// The threshold of the probabilities that questions have no answer, if these are given.
fn no_answer_threshold(
    options: &Options,
    profile: SquadProfile,
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
fn with_probability<'a>(value: &mut Value<'a>) -> Result<(Cow<'a, str>, Option<f64>), FieldError> {
    let read = value.read::<WithProbability<'_>>();
    let read = read.map(|read| (read.prediction_text, Some(read.no_answer_probability)));
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

impl Metric for Extraction {
    type Prediction = str;
    type Reference = [String];
    type State = Evidence;
    type Score = SquadScore;

    fn update(&self, state: &mut Evidence, prediction: &str, answers: &[String]) {
        self.squad.update(state, prediction, answers);
    }

    fn compute(&self, state: &Evidence) -> SquadScore {
        self.squad.compute(state)
    }
}

impl Extraction {
    /// The group of a question, if it may have no answer.
    fn group(&self, answers: &[String]) -> Option<(&'static str, &'static str)> {
        let has_answer = if answers.is_empty() { "no" } else { "yes" };
        let may_have_none = self.squad.profile.allows_no_answer();
        may_have_none.then_some(("has_answer", has_answer))
    }
}

impl TextMetric for Extraction {
    fn definition(&self) -> Named<String> {
        let profile = ("profile", self.squad.profile.to_string());
        let has_language = self.squad.profile == SquadProfile::Mlqa;
        let language = has_language.then(|| ("language", self.squad.language.to_string()));
        let threshold = self.threshold;
        let threshold = threshold.map(|threshold| (NA_PROB_THRESH.name, threshold.to_string()));
        let parts = std::iter::once(profile).chain(language).chain(threshold);
        named(parts)
    }

    fn read<'a>(&self, record: &mut Record<'a>) -> Result<TextExample<'a, Self>, FieldError> {
        let is_text = self.threshold.is_none() || self.has_file || record.prediction.is_missing();
        let (prediction, probability) = if is_text {
            let text = record.prediction.text().map_err(FieldError::prediction)?;
            (text, None)
        } else {
            with_probability(&mut record.prediction)?
        };
        let answers = squad_answers(&mut record.reference).map_err(FieldError::reference)?;
        let group = self.group(&answers).into_iter();
        Ok(TextExample {
            groups: group.map(|(kind, name)| (kind, name.into())).collect(),
            state: probability.and_then(|probability| self.unanswered(probability, &answers)),
            ..TextExample::new(prediction, answers.into())
        })
    }

    fn check(&self, _: &str, answers: &[String], _: Note<'_>) -> Result<(), FieldError> {
        check_squad_answers(self.squad.profile, answers).map_err(FieldError::reference)
    }
}

impl QuestionMetric for Extraction {
    const FORM: &'static QuestionForm = &QuestionForm::SQUAD;

    fn reference<'q>(question: &'q Question<'_>) -> &'q [String] {
        &question.answers.answers
    }

    fn groups<'q>(&self, question: &'q Question<'_>) -> [Option<(&'static str, &'q str)>; 2] {
        [self.group(&question.answers.answers), None]
    }

    fn unanswered(&self, probability: f64, answers: &[String]) -> Option<Box<Evidence>> {
        let is_unanswered = self
            .threshold
            .is_some_and(|threshold| probability > threshold);
        is_unanswered.then(|| Box::new(Evidence::of_values(Squad::unanswered_values(answers))))
    }
}
