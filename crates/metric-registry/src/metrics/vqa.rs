//! Answers to questions about images.

use std::borrow::Cow;

use metric_core::Metric;
use metric_record::{FieldError, Message, Record, Value};
use metric_text::read::{Question, QuestionForm, accepted, check_vqa_answers, vqa_example};
use metric_text::vqa::{Answers, Evidence, VqaAccuracy, VqaProfile};
use serde_json::json;

use crate::prepare::{EXTRACT, NORMALIZE};
use crate::shapes::questions::{QUESTIONS, QuestionMetric, read_questions};
use crate::shapes::texts::{OfTexts, counts};
use crate::{
    Asked, ComparedTexts, Counted, Demo, Entry, Facts, Input, Named, Note, Notice, Numbers,
    ObjectsAt, OptionSpec, References, ScoreSpec, Shape, TextExample, TextMetric,
};

pub(crate) const VQA: Entry = Entry {
    name: "vqa",
    class: "VQA",
    question: "Does an answer about an image agree with those of people?",
    programs: "VQA v2",
    shapes: &[Shape::Answers.as_is(), Shape::Questions.with(&[])],
    tried: &[
        &[("profile", "fusion-brain-2021")],
        &[("profile", "vqa-v2")],
        &[("profile", "vqa-v2-always-normalise")],
    ],
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
        QUESTIONS,
    ],
    scores: &[ScoreSpec::higher("accuracy").proportion("correct", "total")],
    groups: &["answer_type", "lang", "question_type"],
    input: Input::Joined(|text| QuestionForm::VQA_ANNOTATIONS.fits(text)),
    record_id: "question_id",
    parts: &["answers"],
    build: &|options| {
        let profile: VqaProfile = options.require("profile")?;
        let fields = ["lang", "question_type", "answer_type"];
        let problem = Message::default()
            .option(QUESTIONS.name, "")
            .text(" goes with an annotation file (.json), found records");
        let reading = OfTexts {
            facts: Facts {
                further_fields: fields.map(str::to_owned).to_vec(),
                has_proportions: !profile.is_agreement(),
                objects: &[
                    ObjectsAt {
                        file: "",
                        keys: &["annotations"],
                        id: "question_id",
                    },
                    ObjectsAt {
                        file: QUESTIONS.name,
                        keys: &["questions"],
                        id: "question_id",
                    },
                ],
                ..Facts::default()
            },
            is_correct: |state: &Evidence| state.accuracy.correct > 0,
            compared,
            read_files: Some(read_questions),
            no_records: options.has(QUESTIONS.name).then_some(problem),
            ..OfTexts::new("vqa", VqaAccuracy::new(profile))
        };
        reading.scorer(options)
    },
    ..Entry::BASE
};

impl References for Answers {
    fn read<'a>(value: &mut Value<'a>) -> Result<Cow<'a, Self>, String> {
        Ok(Cow::Owned(accepted(value)?.answers))
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.answers.iter().map(String::as_str)
    }
}

fn compared(metric: &VqaAccuracy, prediction: &str, answers: &Answers) -> ComparedTexts {
    let (compared, references) = metric.as_compared(prediction, answers);
    let given = answers.answers.iter().cloned();
    ComparedTexts {
        prediction: [prediction.to_owned(), compared],
        references: given.zip(references).map(<[String; 2]>::from).collect(),
    }
}

impl TextMetric for VqaAccuracy {
    fn definition(&self) -> Named<String> {
        vec![("profile".to_owned(), self.profile().to_string())]
    }

    fn read<'a>(&self, record: &mut Record<'a>) -> Result<TextExample<'a, Self>, FieldError> {
        let example = vqa_example(record, self.profile())?;
        let groups = [
            ("question_type", example.types.question_type),
            ("answer_type", example.types.answer_type),
            ("lang", example.lang),
        ];
        let groups = groups.into_iter();
        Ok(TextExample {
            groups: groups
                .filter_map(|(kind, name)| Some((kind, name?)))
                .collect(),
            ..TextExample::new(example.prediction, Cow::Owned(example.answers))
        })
    }

    /// Notes what makes a correct answer score below 1: it is compared with the answers that are not equal to
    /// the one that is left out.
    fn check(&self, _: &str, answers: &Answers, note: Note<'_>) -> Result<(), FieldError> {
        /// The number of people who answer a question of VQA v2.
        const PEOPLE: usize = 10;
        check_vqa_answers(self.profile(), answers).map_err(FieldError::reference)?;
        if !self.profile().is_agreement() {
            return Ok(());
        }
        if answers.answers.len() < PEOPLE {
            let what = Counted::new(
                "question has fewer than 10 answers; each answer is compared with the other ones only, so the only answer to a question scores 0",
                "questions have fewer than 10 answers; each answer is compared with the other ones only, so the only answer to a question scores 0",
            );
            note(Notice::Words(&what, None));
        }
        if answers.has_repeated() {
            let what = Counted::new(
                "question has answers that are equal objects, which are left out together as one person's, so that a correct answer can score 0; an answer_id tells people apart",
                "questions have answers that are equal objects, which are left out together as one person's, so that a correct answer can score 0; an answer_id tells people apart",
            );
            note(Notice::Words(&what, None));
        }
        Ok(())
    }

    fn numbers(&self, state: &Evidence, _: Asked<'_>) -> Numbers {
        let mut counts = counts(&state.accuracy);
        if self.profile().is_agreement() {
            counts.push(("thirds".to_owned(), json!(state.thirds)));
        }
        let rest = "scored without a lemmatizer, each word as its own lemma; the reference implementation uses pymorphy2, and the library takes a lemmatizer as a function";
        let unlemmatized = Counted::new(
            format!("Russian answer was {rest}"),
            format!("Russian answers were {rest}"),
        );
        Numbers {
            scores: vec![("accuracy".to_owned(), self.compute(state))],
            counts,
            warnings: Counted::warnings([(state.without_lemmatizer, unlemmatized)]).collect(),
            ..Numbers::default()
        }
    }
}

impl QuestionMetric for VqaAccuracy {
    const FORM: &'static QuestionForm = &QuestionForm::VQA_ANNOTATIONS;

    fn reference<'q>(question: &'q Question<'_>) -> &'q Answers {
        &question.answers
    }

    fn groups<'q>(&self, question: &'q Question<'_>) -> [Option<(&'static str, &'q str)>; 2] {
        let types = &question.types;
        [
            ("question_type", &types.question_type),
            ("answer_type", &types.answer_type),
        ]
        .map(|(kind, name)| Some((kind, name.as_deref()?)))
    }

    /// The profile is not that of the data set.
    fn note(&self) -> Option<Counted> {
        let rest = "scored by profile exact; VQA v2's own rule is ";
        let what = |questions: &str| {
            Message::from(format!("{questions} {rest}")).option("profile", "vqa-v2")
        };
        let note = Counted::new(
            what("question of an annotation file was"),
            what("questions of an annotation file were"),
        );
        (self.profile() == VqaProfile::Exact).then_some(note)
    }
}
