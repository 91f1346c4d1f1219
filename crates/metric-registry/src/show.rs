//! What is shown of records: pictures, and texts as a metric compares them.

use metric_record::{FieldError, Record};

use crate::data_set::DataSet;
use crate::error::DataSetError;

/// The form of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drawing {
    /// A file of Scalable Vector Graphics.
    Svg,
    /// Lines of text.
    Text,
    /// Lines of text for a terminal with 256 colors.
    ColoredText,
    /// An alignment as JSON.
    Alignment,
}

/// Shows records. By default there is nothing to show.
pub trait Show {
    /// Returns the texts of a record as the metric compares them; `None` for metrics of other values, and for
    /// records that cannot be read.
    fn compared(&self, _record: &mut Record<'_>) -> Option<ComparedTexts> {
        None
    }

    /// Returns the reference and the prediction of a record as JSON in a form of the metric's own; `None` to show them
    /// as they are.
    fn inputs(&self, _record: &mut Record<'_>) -> Option<[String; 2]> {
        None
    }

    /// Draws a record in a form that the metric [draws](crate::Entry::draws).
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be read.
    fn picture(&self, _record: &mut Record<'_>, _drawing: Drawing) -> Result<String, FieldError> {
        Ok(String::new())
    }

    /// Gives `put` the id of each record of a data set, with a function that draws it.
    ///
    /// # Errors
    ///
    /// Returns an error if the data set cannot be read.
    fn draw_data_set(
        &self,
        _data: DataSet,
        _drawing: Drawing,
        _put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DataSetError> {
        Ok(())
    }
}

/// Nothing.
impl Show for () {}

/// Texts as they are given, each with what a metric compares in its place.
///
/// ```
/// # #[cfg(feature = "text")] {
/// use metric_registry::record::{Record, Value};
/// use metric_registry::{Options, Show, find};
///
/// let entry = find("exact-match").ok_or("not there")?;
/// let options = Options::default().set("ignore-case", "").set("normalize", "strip");
/// let scorer = entry.scorer(&options)?;
/// let mut record = Record::new("1", Value::string(" Yes"), Value::string("YES"));
/// let compared = scorer.compared(&mut record).ok_or("not a text")?;
/// assert_eq!(compared.prediction, [" Yes", "yes"]);
/// assert_eq!(compared.references, [["YES", "yes"]]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedTexts {
    /// The prediction.
    pub prediction: [String; 2],
    /// The references; there may be several or none.
    pub references: Vec<[String; 2]>,
}

impl ComparedTexts {
    /// The texts of both sides, each with what `apply` makes of it.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn new<'r>(
        prediction: &str,
        references: impl IntoIterator<Item = &'r str>,
        apply: impl Fn(&str) -> String,
    ) -> Self {
        let both = |text: &str| [text.to_owned(), apply(text)];
        Self {
            prediction: both(prediction),
            references: references.into_iter().map(both).collect(),
        }
    }

    /// The same texts as they were before they were prepared.
    pub(crate) fn given_as(mut self, given: Self) -> Self {
        let [prediction, _] = given.prediction;
        self.prediction[0] = prediction;
        for (ours, [reference, _]) in self.references.iter_mut().zip(given.references) {
            ours[0] = reference;
        }
        self
    }
}
