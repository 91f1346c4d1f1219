//! The records of one source, without a metric.

use std::sync::Arc;

use metric_record::{Id, Value};

use crate::fields::{FieldNames, Role};
use crate::formats::segments;
use crate::scan::scan;
use crate::source::Source;
use crate::{Run, RunError};

impl Source {
    /// Reads all records in their order, and hands over the id and the value of each. The value is in the field of
    /// the given names that a record has. A line of text is a value, whose id is its number; so is that of any
    /// record if `id_field` is `#row`.
    ///
    /// ```
    /// use metric_run::{DEFAULT_MAX_BYTES, Format, Source};
    ///
    /// let lines = "{\"id\": \"a\", \"prediction\": 1}\n{\"id\": \"b\", \"prediction\": [2]}\n";
    /// let source = Source::memory("found", lines.as_bytes(), Format::JsonLines);
    /// let mut found = Vec::new();
    /// source.read_records("id", &["prediction"], DEFAULT_MAX_BYTES, |id, mut value| {
    ///     let value = value.to_json_or("null").map(|json| json.into_owned());
    ///     found.push((id.to_string(), value));
    /// })?;
    /// assert_eq!(found[1], ("b".to_owned(), Ok("[2]".to_owned())));
    /// # Ok::<(), metric_run::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read, is not made of records, or if a record lacks one of the fields.
    pub fn read_records(
        self,
        id_field: &str,
        fields: &[&str],
        max_bytes: u64,
        each: impl FnMut(Id<'_>, Value<'_>),
    ) -> Result<(), RunError> {
        let values = fields.iter().map(|name| (*name, Role::Value, "field"));
        let id = (id_field, Role::Id, "id-field");
        let names = FieldNames::new(std::iter::once(id).chain(values));
        self.read_named(&names, max_bytes, each)
    }

    /// The same for fields whose names are given by options.
    pub(crate) fn read_named(
        self,
        names: &FieldNames,
        max_bytes: u64,
        mut each: impl FnMut(Id<'_>, Value<'_>),
    ) -> Result<(), RunError> {
        let source = segments::with_texts(self.resolved()?, max_bytes)?;
        let format = source.record_format()?;
        let mut blocks = source.open(names, &Arc::default(), max_bytes)?;
        let mut rows = 0;
        while let Some(mut block) = blocks.next()? {
            // A file is never one example here, since no metric says so.
            let found = scan(&mut block, format, names, |_| false);
            for record in found.map_err(|error| block.error(error))? {
                rows += 1;
                let id = if names.has_row_ids {
                    Id::Line(rows)
                } else {
                    record.id(&block.text)
                };
                each(id, record.value(&block.text));
            }
            blocks.recycle(block);
        }
        Ok(())
    }
}

impl Run {
    /// Gives `each` the ids and values of predictions, without references.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Source::read_records`] does; it names the options of the run's fields.
    pub fn read_predictions(
        &self,
        predictions: Source,
        each: impl FnMut(Id<'_>, Value<'_>),
    ) -> Result<(), RunError> {
        predictions.read_named(&self.fields.prediction_names(), self.max_bytes, each)
    }
}

#[cfg(test)]
mod tests {
    use crate::{DEFAULT_MAX_BYTES, Format};

    use super::*;

    fn read(text: &str, format: Format, id: &str) -> Result<Vec<String>, String> {
        let source = Source::memory("data", text.as_bytes(), format);
        let mut found = Vec::new();
        let read = source.read_records(
            id,
            &["reference", "prediction"],
            DEFAULT_MAX_BYTES,
            |id, mut value| {
                let value = value.to_json_or("null").unwrap_or_default();
                found.push(format!("{id}={value}"));
            },
        );
        read.map(|()| found).map_err(|error| error.to_string())
    }

    #[test]
    fn formats_and_ids() {
        let lines = "{\"id\": 7, \"prediction\": \"a\"}\n{\"id\": \"b\", \"reference\": null}\n";
        for (text, format, id, expected) in [
            (lines, Format::JsonLines, "id", &["7=\"a\"", "b=null"][..]),
            (lines, Format::JsonLines, "#row", &["1=\"a\"", "2=null"]),
            ("x y\nz\n", Format::Text, "id", &["1=x y", "2=z"]),
            (
                "00:00:00,0 --> 00:00:01,0\nx\ny\n",
                Format::Srt,
                "id",
                &["data=x y"],
            ),
            (
                "{\"k\": [1], \"l\": 2}",
                Format::Json,
                "id",
                &["k=[1]", "l=2"],
            ),
        ] {
            let expected = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(read(text, format, id), Ok(expected), "{text}");
        }
        let both = "{\"id\": 7, \"prediction\": 1, \"reference\": 2}\n";
        let error = read(both, Format::JsonLines, "id").expect_err("both");
        assert!(error.contains("expected one of them"), "{error}");
        let neither = read("{\"id\": 7, \"text\": 1}\n", Format::JsonLines, "id");
        assert!(neither.expect_err("neither").contains("text"));
    }
}
