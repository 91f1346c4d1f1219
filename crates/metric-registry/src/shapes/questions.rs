//! Dataset files of questions with their answers, as VQA v2 and SQuAD have them.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};

use metric_record::{Document, ReadError};
use metric_text::read::{
    Predictions, Probabilities, Question, QuestionForm, QuestionStream, QuestionsError,
    check_questions, join_questions, read_predictions,
};
use serde_json::json;

use super::texts::{OfTexts, TextExample, TextMetric, add, note_in};
use crate::reading::missing_is_correct;
use crate::{Counted, DataSet, DataSetError, OptionSpec, Sink, parallel};

/// The file with the texts of the questions, where they are not next to the answers.
pub(crate) const QUESTIONS: OptionSpec = OptionSpec::path(
    "questions",
    "FILE",
    "VQA v2's question file, which must have the questions of the annotation file",
);

/// The file with the probabilities that questions have no answer.
pub(crate) const NA_PROB_FILE: OptionSpec = OptionSpec::path(
    "na-prob-file",
    "FILE",
    "With profile v2 and a data file: probability of each question, by id, that it has no answer (.json)",
);

/// A metric whose records may be the questions of a dataset file.
pub(crate) trait QuestionMetric: TextMetric {
    /// The layout of the file.
    const FORM: &'static QuestionForm;

    /// Returns the accepted answers of a question.
    fn reference<'q>(question: &'q Question<'_>) -> &'q Self::Reference;

    /// Returns the groups that a question belongs to.
    fn groups<'q>(&self, question: &'q Question<'_>) -> Groups<'q>;

    /// Returns the state of a question with this probability of having no answer, if its prediction does not count.
    fn unanswered(
        &self,
        _probability: f64,
        _reference: &Self::Reference,
    ) -> Option<Box<Self::State>> {
        None
    }

    /// Returns what is worth a warning about all questions of a file.
    fn note(&self) -> Option<Counted> {
        None
    }
}

/// The groups of a question, by their kind.
type Groups<'q> = [Option<(&'static str, &'q str)>; 2];

/// Reads the files of a [`QuestionMetric`].
pub(crate) fn read_questions<M: QuestionMetric>(
    data: DataSet,
    sink: &mut Sink<'_, OfTexts<M>>,
) -> Result<(), DataSetError> {
    let predictions = read_predictions(data.predictions.file()?).map_err(of_questions)?;
    let questions = match stream(&data, &predictions, sink) {
        Some(questions) => questions,
        None => join(&data, predictions, sink)?,
    };
    if let Some(note) = sink.metric().note() {
        sink.count(&note, questions);
    }
    Ok(())
}

/// Adds the questions of a file while it is read, and returns their number. Returns `None`, and has added nothing, if the
/// file is to be read as a whole: where something is to be said of a question, it is said in their order.
fn stream<M: QuestionMetric>(
    data: &DataSet,
    predictions: &Predictions<'_>,
    sink: &mut Sink<'_, OfTexts<M>>,
) -> Option<u64> {
    if sink.wants_samples() || data.shard.is_some() || !data.files.is_empty() {
        return None;
    }
    let reading = sink.reading;
    reading.no_files.is_none().then_some(())?;
    let metric = &reading.metric;
    let stream = QuestionStream::open(M::FORM, &data.references, predictions)?;
    let parts = Mutex::new(Vec::new());
    parallel::on_all_threads(&|| {
        let mut part = Pools::default();
        let gathered = stream.for_each(&mut |question, prediction| {
            let reference = M::reference(question);
            let mut is_noted = false;
            let checked = metric.check(prediction, reference, &mut |_| is_noted = true);
            (checked.is_ok() && !is_noted).then_some(())?;
            part.add(&metric.groups(question), |state| {
                metric.update(state, prediction, reference);
            })
        });
        // A lock is poisoned by a panic while it is held, and storing a part does not panic.
        let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.push(gathered.map(|()| part));
    });
    let parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let parts: Vec<Pools<M::State>> = parts.into_iter().collect::<Option<_>>()?;
    let extra = stream.unused();
    (extra == 0 || data.join.ignore_extra).then_some(())?;
    sink.extra(extra);
    Some(parts.into_iter().map(|part| part.put(sink)).sum())
}

/// Adds the questions of a file that is read as a whole, and returns their number.
fn join<M: QuestionMetric>(
    data: &DataSet,
    predictions: Predictions<'_>,
    sink: &mut Sink<'_, OfTexts<M>>,
) -> Result<u64, DataSetError> {
    let reading = sink.reading;
    let metric = &reading.metric;
    let questions = data.references.file()?;
    if let Some(problem) = &reading.no_files {
        return Err(ReadError::new("", problem.clone()).into());
    }
    let file = |option: &OptionSpec| data.file(option.name).map(Document::file).transpose();
    let asked = file(&QUESTIONS)?;
    let probabilities = file(&NA_PROB_FILE)?.map(Probabilities::read);
    let mut probabilities = probabilities.transpose()?;
    let mut ids = HashSet::new();
    let mut pools = Pools::default();
    let mut singles = 0;
    let counts = join_questions(
        M::FORM,
        questions,
        predictions,
        data.join,
        data.shard,
        &mut |question, given| {
            let (id, reference) = (&question.id, M::reference(question));
            let prediction = given.unwrap_or_default();
            let checked = metric.check(prediction, reference, &mut note_in(sink, id));
            checked.map_err(|error| error.problem)?;
            if given.is_none() && reading.is_correct(prediction, reference) {
                sink.count_record(&missing_is_correct(), id);
            }
            if asked.is_some() {
                ids.insert(id.clone());
            }
            // A missing prediction is empty, whatever its probability is.
            let probability = match (&mut probabilities, given) {
                (Some(probabilities), Some(_)) => probabilities.of(id),
                _ => None,
            };
            let state = probability.and_then(|one| metric.unanswered(one, reference));
            let groups = metric.groups(question);
            let is_pooled = !sink.wants_samples() && state.is_none();
            let update = |pool: &mut _| metric.update(pool, prediction, reference);
            if is_pooled && pools.add(&groups, update).is_some() {
                return Ok(());
            }
            singles += 1;
            sink.record(id);
            let groups = groups.into_iter().flatten();
            let example = TextExample {
                groups: groups.map(|(kind, name)| (kind, name.into())).collect(),
                state,
                ..TextExample::new(prediction.into(), std::borrow::Cow::Borrowed(reference))
            };
            add(example, sink);
            if sink.wants_inputs() {
                let answers = json!(question.answers.answers).to_string();
                sink.inputs(answers, json!(prediction).to_string());
            }
            Ok(())
        },
    );
    let counts = counts.map_err(of_questions)?;
    if let Some(asked) = asked {
        check_questions(asked, questions.name, &ids, data.shard).map_err(of_questions)?;
    }
    sink.missing(counts.missing);
    sink.extra(counts.extra);
    if let Some(probabilities) = &probabilities {
        let used = probabilities.finish()?;
        let held = probabilities.ids().filter(|id| data.holds(&id.to_string()));
        let what = Counted::new(
            "probability is of a question without a prediction or of none, and was left out",
            "probabilities are of questions without a prediction or of none, and were left out",
        );
        sink.count(&what, held.count().saturating_sub(used) as u64);
    }
    Ok(singles + pools.put(sink))
}

/// The states of questions of the same groups together, and not of each group by itself.
#[derive(Default)]
struct Pools<S> {
    /// The number of questions and their state, by kinds and names of groups, each of which ends with a NUL.
    by_groups: BTreeMap<String, (u64, S)>,
    /// The memory of a key.
    key: String,
}

impl<S: Default> Pools<S> {
    /// Adds a question to the state of its groups; `None`, without a change, if a name has a NUL.
    fn add(&mut self, groups: &Groups<'_>, add: impl FnOnce(&mut S)) -> Option<()> {
        self.key.clear();
        for (kind, name) in groups.iter().flatten() {
            (!name.contains('\0')).then_some(())?;
            self.key.extend([kind, "\0", name, "\0"]);
        }
        let (questions, state) = match self.by_groups.get_mut(&self.key) {
            Some(pool) => pool,
            None => self.by_groups.entry(self.key.clone()).or_default(),
        };
        *questions += 1;
        add(state);
        Some(())
    }

    /// Gives the states to a sink, and returns the number of questions.
    fn put<M: TextMetric<State = S>>(self, sink: &mut Sink<'_, OfTexts<M>>) -> u64 {
        let mut all = 0;
        for (key, (questions, state)) in self.by_groups {
            let texts: Vec<&str> = key.split_terminator('\0').collect();
            let (groups, _) = texts.as_chunks();
            let groups: Vec<(&str, &str)> =
                groups.iter().map(|&[kind, name]| (kind, name)).collect();
            sink.pooled(questions, &groups, state);
            all += questions;
        }
        all
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
