//! The names of classes that files of columns have.

use metric_record::Message;

use super::{Origin, Source, paths};
use crate::RunError;
#[cfg(any(feature = "arrow", feature = "parquet"))]
use crate::formats::Format;

impl Source {
    /// Returns the names of the classes of a column of integers, which Hugging Face's datasets have: folders that
    /// `Dataset.save_to_disk` wrote, and files of Parquet or Arrow. The column may be a path to a nested field.
    ///
    /// # Errors
    ///
    /// Returns an error if the source has no such names, or if the column is not a `ClassLabel`.
    pub fn class_names(&self, column: &str) -> Result<Vec<String>, RunError> {
        let names = match &self.origin {
            #[cfg(feature = "arrow")]
            Origin::Folder(path) if paths::is_dataset(path) => {
                crate::formats::datasets::class_names(path, self.split.as_deref(), column)?
            }
            Origin::Folder(path) => {
                paths::folder(path, None, self.format)?.names_in_schema(column)?
            }
            _ => self.names_in_schema(column)?,
        };
        names.ok_or_else(|| {
            RunError::Usage(
                Message::default()
                    .option("class-names", "")
                    .text(format_args!(
                        ": expected a Hugging Face dataset (a folder of Dataset.save_to_disk, Parquet or Arrow) in which {} is a ClassLabel, found {}",
                        metric_record::quoted_id(column),
                        self.name()
                    )),
            )
        })
    }

    /// The names of the classes of a column in the schema of the first file.
    fn names_in_schema(&self, column: &str) -> Result<Option<Vec<String>>, RunError> {
        let first = self.files().into_iter().next();
        // A stream is read once, for its records.
        let first =
            first.filter(|file| matches!(file.origin, Origin::File(_) | Origin::Memory(..)));
        let first = first.as_ref();
        Ok(match first.and_then(|file| Some((file, file.format()?))) {
            #[cfg(feature = "parquet")]
            Some((file, Format::Parquet)) => {
                let schema = crate::formats::parquet::schema(file)?;
                crate::formats::columns::class_names(&schema, column)
            }
            #[cfg(feature = "arrow")]
            Some((file, Format::Arrow)) => {
                let schema = crate::formats::arrow::schema(file)?;
                crate::formats::columns::class_names(&schema, column)
            }
            _ => {
                let _ = column;
                None
            }
        })
    }
}
