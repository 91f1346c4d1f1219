//! Questions joined with predictions.

use std::collections::HashSet;

use metric_record::{
    File, IdKey, JoinError, JoinPolicy, Message, Missing, NAMED_IDS, Shard, Unmatched,
};

use super::predictions::Slot;
use super::{Predictions, Question, QuestionForm, QuestionsError};

/// The numbers of missing and extra predictions that a successful join allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinCounts {
    /// Questions without a prediction.
    pub missing: u64,
    /// Predictions without a question.
    pub extra: u64,
}

/// The value that [`join_questions`] gives a question and its prediction.
type Take<'a, 'de> = dyn FnMut(&Question<'de>, Option<&str>) -> Result<(), Message> + 'a;

/// Reads the questions of a file and calls `take` with each question and its prediction.
///
/// Under [`Missing::Empty`], the prediction is `None` for a question that has none, which then counts as empty.
/// Otherwise questions without a prediction are left out. With a shard, only the questions and predictions whose ids
/// it holds are read. See the [module](crate::read) for an example.
///
/// # Errors
///
/// Returns an error if the file cannot be read, if a question has no field for answers, if an id occurs
/// twice, if `take` refuses a question, or if the policy does not allow what is missing or extra.
pub fn join_questions<'de>(
    form: &QuestionForm,
    questions: File<'de>,
    mut predictions: Predictions<'de>,
    policy: JoinPolicy,
    shard: Option<Shard>,
    take: &mut Take<'_, 'de>,
) -> Result<JoinCounts, QuestionsError> {
    let mut duplicate = None;
    let mut without: Vec<String> = Vec::new();
    let mut missing = 0;
    let read = form.for_each(questions, &mut |question| {
        let id = &question.id;
        if !holds(shard, id) {
            return Ok(());
        }
        let of_question = |problem: Message| {
            Message::from(format!("question {:?}: ", id.to_string())).message(&problem)
        };
        if !question.has_answers {
            return Err(of_question("no field \"answers\"".into()));
        }
        let prediction = match predictions.slots.get_mut(id) {
            Some(slot) => match std::mem::replace(slot, Slot::Used) {
                Slot::Given(text) => Some(text),
                Slot::Used | Slot::Missing => return Err(occurs_twice(id, &mut duplicate)),
            },
            None => {
                predictions.slots.insert(id.clone(), Slot::Missing);
                missing += 1;
                if without.len() < NAMED_IDS {
                    without.push(id.to_string());
                }
                if policy.missing != Missing::Empty {
                    return Ok(());
                }
                None
            }
        };
        take(question, prediction.as_deref()).map_err(of_question)
    });
    read.map_err(|error| QuestionsError::of_file(error, duplicate))?;
    let left = |(id, slot): (&IdKey<'_>, &Slot<'_>)| {
        let is_left = matches!(slot, Slot::Given(_)) && holds(shard, id);
        is_left.then(|| id.to_string())
    };
    let extra: Vec<String> = predictions.slots.iter().filter_map(left).collect();
    let counts = JoinCounts {
        missing,
        extra: extra.len() as u64,
    };
    let missing = (missing > 0 && policy.missing == Missing::Error).then(|| Unmatched {
        source: questions.name.to_owned(),
        other: predictions.file.clone(),
        count: missing,
        ids: without,
        are_lines: false,
    });
    let extra = (!extra.is_empty() && !policy.ignore_extra)
        .then(|| unmatched(extra, &predictions.file, questions.name));
    match (missing, extra) {
        (None, None) => Ok(counts),
        (Some(missing), None) => Err(JoinError::Missing(missing).into()),
        (None, Some(extra)) => Err(JoinError::Extra(extra).into()),
        (Some(missing), Some(extra)) => Err(JoinError::MissingAndExtra(missing, extra).into()),
    }
}

/// Whether a question is in the part of the data that is read.
fn holds(shard: Option<Shard>, id: &IdKey<'_>) -> bool {
    shard.is_none_or(|shard| shard.holds(&id.to_string()))
}

/// Checks that VQA v2's question file has the same questions as an annotation file, given by its name and the ids of
/// its questions.
///
/// ```
/// use metric_record::{File, IdKey};
/// use metric_text::read::check_questions;
///
/// let questions = File { name: "questions.json", text: r#"{"questions": [{"question_id": 1}]}"# };
/// let annotated = [IdKey::Number(1), IdKey::Number(2)].into();
/// let error = check_questions(questions, "annotations.json", &annotated, None).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "questions.json: does not have 1 question of annotations.json: id \"2\"",
/// );
/// ```
///
/// # Errors
///
/// Returns an error if the file cannot be read, if an id occurs twice in it, or if one of the two files has a
/// question that the other does not have.
pub fn check_questions(
    questions: File<'_>,
    annotations: &str,
    annotated: &HashSet<IdKey<'_>>,
    shard: Option<Shard>,
) -> Result<(), QuestionsError> {
    let mut duplicate = None;
    let mut asked: HashSet<IdKey<'_>> = HashSet::new();
    let mut unknown: Vec<String> = Vec::new();
    let read = QuestionForm::VQA_QUESTIONS.for_each(questions, &mut |question| {
        let id = &question.id;
        if !holds(shard, id) {
            return Ok(());
        }
        if !annotated.contains(id) {
            unknown.push(id.to_string());
        }
        if asked.insert(id.clone()) {
            Ok(())
        } else {
            Err(occurs_twice(id, &mut duplicate))
        }
    });
    read.map_err(|error| QuestionsError::of_file(error, duplicate))?;
    let unasked = annotated.difference(&asked);
    let unasked: Vec<String> = unasked.map(IdKey::to_string).collect();
    for (ids, source, other) in [
        (unknown, questions.name, annotations),
        (unasked, annotations, questions.name),
    ] {
        if !ids.is_empty() {
            return Err(QuestionsError::Unasked(unmatched(ids, source, other)));
        }
    }
    Ok(())
}

/// Notes the id at which reading ends because it occurs twice.
fn occurs_twice(id: &IdKey<'_>, duplicate: &mut Option<String>) -> Message {
    let id = id.to_string();
    let message = Message::from(format!("duplicate id {id:?}"));
    *duplicate = Some(id);
    message
}

/// Records by their ids; the first few ids are kept in the order of text.
fn unmatched(mut ids: Vec<String>, source: &str, other: &str) -> Unmatched {
    ids.sort_unstable();
    let count = ids.len() as u64;
    ids.truncate(NAMED_IDS);
    Unmatched {
        source: source.to_owned(),
        other: other.to_owned(),
        count,
        ids,
        are_lines: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read_predictions;

    const ANNOTATIONS: &str = r#"{"annotations":[
        {"question_id":1,"answers":["a"]},{"question_id":2,"answers":["b"]},{"question_id":3,"answers":["c"]}
    ]}"#;

    type Taken = Vec<(String, String)>;

    fn join(
        questions: &str,
        predictions: &str,
        policy: JoinPolicy,
    ) -> Result<(Taken, JoinCounts), QuestionsError> {
        let file = |name, text| File { name, text };
        let predictions = read_predictions(file("p.json", predictions))?;
        let mut taken = Vec::new();
        let counts = join_questions(
            &QuestionForm::VQA_ANNOTATIONS,
            file("q.json", questions),
            predictions,
            policy,
            None,
            &mut |question, prediction| {
                let prediction = prediction.unwrap_or_default();
                taken.push((question.id.to_string(), prediction.to_owned()));
                Ok(())
            },
        )?;
        Ok((taken, counts))
    }

    fn policy(missing: Missing, ignore_extra: bool) -> JoinPolicy {
        JoinPolicy {
            missing,
            ignore_extra,
            ..JoinPolicy::default()
        }
    }

    #[test]
    fn what_the_policy_lets_pass() {
        let predictions = r#"{"1": "x", "3": "z", "4": "", "5": ""}"#;
        let taken = |texts: &[(&str, &str)]| {
            let owned = |(id, text): &(&str, &str)| ((*id).to_owned(), (*text).to_owned());
            texts.iter().map(owned).collect::<Taken>()
        };
        let counts = JoinCounts {
            missing: 1,
            extra: 2,
        };
        let skip = join(ANNOTATIONS, predictions, policy(Missing::Skip, true));
        assert_eq!(skip, Ok((taken(&[("1", "x"), ("3", "z")]), counts)));
        let empty = join(ANNOTATIONS, predictions, policy(Missing::Empty, true));
        let all = taken(&[("1", "x"), ("2", ""), ("3", "z")]);
        assert_eq!(empty, Ok((all, counts)));

        let missing = "p.json: no prediction for 1 reference of q.json: id \"2\"; to score it against an empty prediction, use --missing empty; to leave it out, use --missing skip";
        let extra = "q.json: no reference for 2 predictions of p.json: ids \"4\", \"5\"; to leave them out, use --extra ignore";
        for (missing_policy, ignore_extra, expected) in [
            (Missing::Error, true, missing.to_owned()),
            (Missing::Skip, false, extra.to_owned()),
            (Missing::Error, false, format!("{missing}\n{extra}")),
        ] {
            let policy = policy(missing_policy, ignore_extra);
            let error = join(ANNOTATIONS, predictions, policy).unwrap_err();
            assert!(matches!(error, QuestionsError::Join(_)));
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn questions_that_cannot_be_joined() {
        let fails = |questions: &str, expected: &str| {
            let error = join(questions, r#"{"1": "x"}"#, JoinPolicy::default()).unwrap_err();
            assert_eq!(error.to_string(), expected);
            error
        };
        fails(
            r#"{"annotations":[{"question_id":1}]}"#,
            r#"q.json: question "1": no field "answers" at line 1 column 33"#,
        );
        // With a prediction and without one.
        for id in ["1", "7"] {
            let question = format!(r#"{{"question_id":{id},"answers":[]}}"#);
            let twice = format!(r#"{{"annotations":[{question},{question}]}}"#);
            let expected =
                format!("q.json: after 1 question: duplicate id \"{id}\" at line 1 column 77");
            let error = fails(&twice, &expected);
            assert!(matches!(error, QuestionsError::Duplicate { id: twice, .. } if twice == id));
        }
    }

    #[test]
    fn question_files_have_the_annotated_questions() {
        let annotated = [1, 2].map(IdKey::Number).into();
        let check = |ids: &str| {
            let text = format!("{{\"questions\":[{ids}]}}");
            let file = File {
                name: "q.json",
                text: &text,
            };
            check_questions(file, "a.json", &annotated, None).map_err(|error| error.to_string())
        };
        let (one, two) = (r#"{"question_id":1}"#, r#"{"question_id":"2"}"#);
        assert_eq!(check(&format!("{two},{one}")), Ok(()));
        let missing = "q.json: does not have 1 question of a.json: id \"2\"";
        assert_eq!(check(one), Err(missing.to_owned()));
        let unknown = "a.json: does not have 1 question of q.json: id \"3\"";
        let three = r#"{"question_id":3}"#;
        assert_eq!(
            check(&format!("{one},{two},{three}")),
            Err(unknown.to_owned())
        );
        let error = check(&format!("{one},{one}")).unwrap_err();
        assert!(
            error.starts_with("q.json: after 1 question: duplicate id \"1\""),
            "{error}"
        );
    }
}
