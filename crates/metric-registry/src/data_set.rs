//! A data set that is given as documents, and the values of its records.

use std::sync::Arc;

use metric_record::{Document, JoinPolicy, Shard};

use crate::numbers::Named;
use crate::plan::Plan;

/// A data set that is given as documents of a metric's own formats.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// The references.
    pub references: Document,
    /// The predictions.
    pub predictions: Document,
    /// The files that options name, by option.
    pub files: Named<Document>,
    /// The strictness of joining the two sides.
    pub join: JoinPolicy,
    /// The part of the data set that is read, by image, question or task; `None` for all of it.
    pub shard: Option<Shard>,
    /// The data to gather from each record in addition to the counts.
    pub plan: Arc<Plan>,
    /// Whether samples have the values of their records.
    pub inputs: bool,
}

impl DataSet {
    /// Returns a whole data set, joined strictly.
    #[must_use]
    pub fn new(references: Document, predictions: Document) -> Self {
        Self {
            references,
            predictions,
            files: Vec::new(),
            join: JoinPolicy::default(),
            shard: None,
            plan: Arc::default(),
            inputs: false,
        }
    }

    /// Returns the file that an option names.
    #[must_use]
    pub fn file(&self, option: &str) -> Option<&Document> {
        let mut files = self.files.iter();
        files
            .find(|(name, _)| name == option)
            .map(|(_, document)| document)
    }

    /// Returns whether the image, question or task with this id is read.
    #[must_use]
    pub fn holds(&self, id: &str) -> bool {
        self.shard.is_none_or(|shard| shard.holds(id)) && self.plan.holds(id)
    }
}

/// A reference and a prediction.
impl From<[String; 2]> for Inputs {
    fn from([reference, prediction]: [String; 2]) -> Self {
        Self {
            reference,
            prediction,
            fields: None,
        }
    }
}

/// The values of a record of a data set, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The reference, in a form of the metric's own.
    pub reference: String,
    /// The prediction.
    pub prediction: String,
    /// The object of the references that has the id of the record, such as a question or an image.
    pub fields: Option<String>,
}

impl Inputs {
    /// The field of a reference that says what was asked, which is shown with an example.
    pub const QUESTION: &str = "question";
}
