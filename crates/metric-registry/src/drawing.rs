//! Pictures of records.

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

/// A reading that draws records.
pub trait Draw {
    /// Whether records have a picture of this kind.
    fn draws(&self, drawing: Drawing) -> bool;

    /// Draws a record; the picture is empty where the metric does not draw it.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be read.
    fn picture(&self, record: &mut Record<'_>, drawing: Drawing) -> Result<String, FieldError>;

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
