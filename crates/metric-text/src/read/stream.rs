//! Files of questions that are read in blocks.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use metric_record::json::blocks::ListBlocks;
use metric_record::{Content, Document};

use super::{Predictions, Question, QuestionForm};

/// The questions of a file with their predictions, read without holding the whole file in memory.
///
/// The contract: questions and predictions are exactly those that [`join_questions`](super::join_questions) gives if
/// each question has a prediction; in all other cases, [`for_each`](Self::for_each) returns `None`. Those cases are
/// an error in the file, and a question that has no prediction or occurs twice. The caller then reads the file as a
/// whole, which also words the error.
///
/// ```
/// use metric_record::{Content, Document, File, Stream};
/// use metric_text::read::{QuestionForm, QuestionStream, read_predictions};
///
/// let text = r#"{"data": [{"paragraphs": [{"qas": [{"id": "a", "answers": [{"text": "red"}]}]}]}]}"#;
/// let content = Content::Stream(Stream::new(text.to_owned()));
/// let questions = Document { name: "squad.json".to_owned(), content };
/// let predictions = read_predictions(File { name: "p.json", text: r#"{"a": "blue"}"# })?;
///
/// let stream = QuestionStream::open(&QuestionForm::SQUAD, &questions, &predictions).unwrap();
/// let mut found = Vec::new();
/// let all = stream.for_each(&mut |question, prediction| {
///     found.push((question.answers.answers[0].clone(), prediction.to_owned()));
///     Some(())
/// });
/// assert_eq!(all, Some(()));
/// assert_eq!(found, [("red".to_owned(), "blue".to_owned())]);
/// assert_eq!(stream.unused(), 0);
/// # Ok::<(), metric_text::read::QuestionsError>(())
/// ```
pub struct QuestionStream<'p> {
    form: &'p QuestionForm,
    blocks: Mutex<ListBlocks<Box<dyn Read + Send>>>,
    predictions: &'p Predictions<'p>,
    /// Whether a question had the prediction at an index.
    used: Vec<AtomicBool>,
    is_refused: AtomicBool,
}

impl<'p> QuestionStream<'p> {
    /// Opens a file of questions that can be read in blocks.
    #[must_use]
    pub fn open(
        form: &'p QuestionForm,
        questions: &Document,
        predictions: &'p Predictions<'p>,
    ) -> Option<Self> {
        let Content::Stream(stream) = &questions.content else {
            return None;
        };
        let blocks = ListBlocks::within(stream.open()?, form.list()?);
        let unused = || AtomicBool::new(false);
        Some(Self {
            form,
            blocks: Mutex::new(blocks),
            predictions,
            used: std::iter::repeat_with(unused)
                .take(predictions.len())
                .collect(),
            is_refused: AtomicBool::new(false),
        })
    }

    /// Returns the stream with blocks of at least `block_bytes` bytes.
    #[must_use]
    pub fn with_block_bytes(self, block_bytes: usize) -> Self {
        let blocks = self
            .blocks
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        Self {
            blocks: Mutex::new(blocks.with_block_bytes(block_bytes)),
            ..self
        }
    }

    /// Calls `take` with questions and their predictions until there are no more. Several threads can do this at the
    /// same time: each question goes to one of them. Returns `None` if `take` does, to refuse a question, or if the
    /// file has to be read as a whole. If the call on any thread returns `None`, what the others took must be
    /// discarded.
    pub fn for_each(&self, take: &mut dyn FnMut(&Question<'_>, &str) -> Option<()>) -> Option<()> {
        let done = self.read_blocks(take);
        if done.is_none() {
            self.is_refused.store(true, Ordering::Relaxed);
        }
        done
    }

    fn read_blocks(&self, take: &mut dyn FnMut(&Question<'_>, &str) -> Option<()>) -> Option<()> {
        let mut block = Vec::new();
        while !self.is_refused.load(Ordering::Relaxed) {
            let is_last = {
                // A lock is poisoned by a panic, and nothing here panics.
                let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
                if !blocks.next_into(&mut block)? {
                    return Some(());
                }
                blocks.is_at_end()
            };
            let text = std::str::from_utf8(&block).ok()?;
            let mut next = 0;
            self.form.scan_block(text, is_last, &mut |question| {
                question.has_answers.then_some(())?;
                let index = self.predictions.position(&question.id, next)?;
                next = index + 1;
                if self.used.get(index)?.swap(true, Ordering::Relaxed) {
                    return None;
                }
                take(question, self.predictions.at(index)?)
            })?;
        }
        None
    }

    /// Returns the number of predictions that no question read so far has used.
    #[must_use]
    pub fn unused(&self) -> u64 {
        let unused = self
            .used
            .iter()
            .filter(|used| !used.load(Ordering::Relaxed));
        unused.count() as u64
    }
}

#[cfg(test)]
mod tests {
    use metric_record::{File, JoinPolicy, Stream};
    use proptest::prelude::*;

    use super::*;
    use crate::read::{join_questions, read_predictions};

    const PREDICTIONS: &str = r#"[{"question_id": 1, "answer": "a"}, {"question_id": 2, "answer": "b"},
        {"question_id": 5, "answer": "c"}, {"question_id": "x", "answer": "d"}]"#;

    /// A stream gives what a join gives, or nothing. Returns whether it gives something.
    fn check(text: &str, block_bytes: usize) -> bool {
        let form = &QuestionForm::VQA_ANNOTATIONS;
        let file = |name, text| File { name, text };
        let predictions = read_predictions(file("p", PREDICTIONS)).expect("predictions");
        let questions = Document {
            name: "q".to_owned(),
            content: Content::Stream(Stream::new(text.to_owned())),
        };
        let row = |question: &Question<'_>, prediction: &str| {
            format!(
                "{} {:?} {:?} {prediction}",
                question.id, question.answers, question.types
            )
        };
        let stream = QuestionStream::open(form, &questions, &predictions).expect("a stream");
        let stream = stream.with_block_bytes(block_bytes);
        let mut found = Vec::new();
        let all = stream.for_each(&mut |question, prediction| {
            found.push(row(question, prediction));
            Some(())
        });
        if all.is_none() {
            return false;
        }
        let mut expected = Vec::new();
        let policy = JoinPolicy {
            ignore_extra: true,
            ..JoinPolicy::default()
        };
        let counts = join_questions(
            form,
            file("q", text),
            predictions.clone(),
            policy,
            None,
            &mut |question, prediction| {
                expected.push(row(question, prediction.unwrap_or_default()));
                Ok(())
            },
        );
        let counts = counts.expect("what can be streamed can be read");
        assert_eq!((found, stream.unused()), (expected, counts.extra));
        true
    }

    #[test]
    fn questions_in_blocks() {
        let text = r#"{"info": {}, "annotations": [
            {"question_id": 1, "answers": [{"answer": "a", "answer_id": 1}, {"answer": "b", "answer_id": 2}]},
            {"question_id": "x", "answers": ["\u0061"], "question_type": "what"},
            {"question_id": 2, "answers": []}], "more": [{}, {}]}"#;
        for size in [300, 400, 1000] {
            assert!(check(text, size), "{size}");
        }
        // Whatever the guess at where blocks end, what is given is right.
        for size in 1..text.len() {
            check(text, size);
        }
        for (before, after) in [
            (r#""question_id": 2"#, r#""question_id": 1"#),
            (r#""question_id": 2"#, r#""question_id": 3"#),
            (r#", "answers": []"#, ""),
            ("more", "annotations"),
            ("{}]}", "{}]"),
        ] {
            assert!(!check(&text.replace(before, after), 1000), "{after}");
        }
    }

    proptest! {
        #[test]
        fn a_stream_gives_what_a_join_gives(
            parts in proptest::collection::vec(prop_oneof![
                Just(r#"{"question_id": 1, "answers": ["a"]}"#),
                Just(r#"{"question_id": 2, "answers": [{"answer": "a"}, {"answer": "b"}]}"#),
                Just(r#"{"question_id": "x", "answer_type": "y", "answers": []}"#),
                Just(r#"{"question_id": 9, "answers": []}"#), Just(r#"{"answers": [], "question_id": 5}"#),
                Just(","), Just(", "), Just(","), Just("]"), Just(r#", "more": [{}, {}]"#), Just("}"),
            ], 0..8),
            block_bytes in 1..200_usize,
        ) {
            check(&format!(r#"{{"annotations": [{}]}}"#, parts.concat()), block_bytes);
        }
    }
}
