//! Reading of examples, and of the files of VQA v2 and SQuAD.
//!
//! [`join_questions`] reads a file of questions with their answers, in the form of VQA v2 or SQuAD, without a tree of
//! values, and joins it with the predictions as it goes. The other functions read the values of one record: an answer
//! or several, a text or a number.
//!
//! ```
//! use metric_core::Metric;
//! use metric_record::{File, JoinPolicy};
//! use metric_text::Squad;
//! use metric_text::read::{QuestionForm, join_questions, read_predictions};
//!
//! let truth = r#"{"data": [{"paragraphs": [{"qas": [
//!     {"id": "a", "answers": [{"text": "Denver Broncos"}, {"text": "the Broncos"}]},
//!     {"id": "b", "answers": [{"text": "Levi's Stadium"}]}
//! ]}]}]}"#;
//! let predictions = r#"{"a": "Broncos", "b": "Santa Clara"}"#;
//!
//! let predictions = read_predictions(File { name: "p.json", text: predictions })?;
//! let questions = File { name: "dev.json", text: truth };
//! let (squad, mut state) = (Squad::default(), Default::default());
//! join_questions(
//!     &QuestionForm::SQUAD,
//!     questions,
//!     predictions,
//!     JoinPolicy::default(),
//!     None,
//!     &mut |question, prediction| {
//!         squad.update(&mut state, prediction.unwrap_or_default(), &question.answers.answers);
//!         Ok(())
//!     },
//! )?;
//! assert_eq!(squad.compute(&state).exact_match, Some(1.0 / 2.0));
//! # Ok::<(), metric_text::read::QuestionsError>(())
//! ```

mod answers;
mod error;
mod example;
mod form;
mod join;
mod keys;
#[cfg(feature = "regex")]
mod patterns;
mod predictions;
mod probabilities;
mod segments;
mod stream;

pub use metric_record::{File, ReadError};

pub use answers::answers;
pub use error::QuestionsError;
pub use example::{
    Accepted, UNANSWERED, VqaExample, accepted, check_squad_answers, check_vqa_answers,
    relaxed_answers, squad_answers, text_or_number, texts, vqa_example,
};
pub use form::{Question, QuestionForm, QuestionTypes};
pub use join::{JoinCounts, check_questions, join_questions};
#[cfg(feature = "regex")]
pub use patterns::patterns;
pub use predictions::{Predictions, read_predictions};
pub use probabilities::Probabilities;
pub use segments::segments;
pub use stream::QuestionStream;
