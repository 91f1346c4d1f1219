//! References in several files, as `--more-references` gives them.

use std::collections::HashMap;

use metric_record::{Id, Kind, Message, ReadError, Value, quoted_id};

use crate::RunError;
use crate::fields::FieldNames;
use crate::source::{Source, too_long};
use crate::words::counted;

/// The references of each record, of all files.
#[derive(Debug, Default)]
pub(crate) struct MoreReferences {
    by_id: HashMap<String, Texts>,
}

/// The references of a record: JSON strings, or lines of texts.
#[derive(Debug, Default)]
struct Texts {
    /// A list in JSON without its end, or lines with line ends between them.
    written: String,
    are_lines: bool,
    /// The number of files that have the record.
    files: usize,
}

impl MoreReferences {
    /// Reads files that have the same records.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, if a reference is not a text or a list of texts, if only one of the files
    /// has a record, or if the references take more than `max_bytes`.
    pub(crate) fn read(
        files: &[Source],
        names: &FieldNames,
        max_bytes: u64,
    ) -> Result<Self, RunError> {
        let mut all = Self::default();
        let mut bytes = 0;
        let mut rows = Vec::new();
        for (index, file) in files.iter().enumerate() {
            let mut problem = None;
            let mut lines = None;
            file.clone().read_named(names, max_bytes, |id, value| {
                lines = match id {
                    Id::Line(line) => Some(line),
                    _ => None,
                };
                if problem.is_none() {
                    let added = all.add(index, id, value);
                    problem = added.map(|added| bytes += added).err();
                }
                if bytes > max_bytes {
                    let error = ReadError::new(file.name(), too_long("the references", max_bytes));
                    problem = Some(error.limit());
                }
            })?;
            rows.push(lines);
            // Numbers of lines say more than the number of the first line that is missing.
            let found = lines.unwrap_or(0);
            if let Some(Some(expected)) = rows.first()
                && *expected != found
            {
                let found = counted(found, "line");
                let first = files[0].name();
                let problem = format!("has {found}, and {first} has {expected}: expected as many");
                return Err(ReadError::new(file.name(), problem).into());
            }
            if let Some(mut error) = problem {
                error.file = file.name();
                return Err(error.into());
            }
            let lacking = all.by_id.iter().filter(|(_, texts)| texts.files <= index);
            if let Some((id, _)) = lacking.min_by_key(|(id, _)| *id) {
                let id = quoted_id(id);
                let problem = format!("has no reference for id {id} of {}", files[0].name());
                return Err(ReadError::new(file.name(), problem).into());
            }
        }
        for texts in all.by_id.values_mut().filter(|texts| !texts.are_lines) {
            if texts.written.is_empty() {
                texts.written.push('[');
            }
            texts.written.push(']');
        }
        Ok(all)
    }

    /// Returns all references of a record.
    pub(crate) fn of(&self, id: Id<'_>) -> Option<Value<'_>> {
        let texts = match id {
            Id::Text(id) => self.by_id.get(id),
            id => self.by_id.get(&id.to_string()),
        }?;
        Some(if texts.are_lines {
            Value::lines(&texts.written)
        } else {
            Value::json(&texts.written)
        })
    }

    /// Adds the reference that the file at an index has for a record. Returns the memory that it takes.
    fn add(&mut self, index: usize, id: Id<'_>, mut value: Value<'_>) -> Result<u64, ReadError> {
        let key = id.to_string();
        let refuse = |problem: Message| {
            let record = format!("id {}", quoted_id(&key));
            Err(ReadError::new("", problem).at(record))
        };
        let texts = match self.by_id.get_mut(&key) {
            Some(texts) if texts.files == index => texts,
            // The join says where the first file has an id twice.
            Some(_) if index == 0 => return Ok(0),
            Some(_) => return refuse("is there more than once".into()),
            None if index == 0 => self.by_id.entry(key.clone()).or_default(),
            None => return refuse("is not in the first file of references".into()),
        };
        texts.files += 1;
        let before = texts.written.len();
        texts.are_lines = value.kind() == Kind::Line;
        if let Some(line) = value.as_line() {
            if index > 0 {
                texts.written.push('\n');
            }
            texts.written.push_str(line);
            return Ok((texts.written.len() - before + key.len()) as u64);
        }
        let list = match value.kind() {
            Kind::Null => Ok(Vec::new()),
            Kind::List => value.read::<Vec<Option<String>>>(),
            _ => value.text().map(|text| vec![Some(text.into_owned())]),
        };
        let list = match list {
            Ok(list) => list,
            Err(problem) => return refuse(problem.into()),
        };
        for text in list.into_iter().flatten() {
            texts
                .written
                .push(if texts.written.is_empty() { '[' } else { ',' });
            texts
                .written
                .push_str(&serde_json::Value::from(text).to_string());
        }
        Ok((texts.written.len() - before + key.len()) as u64)
    }
}
