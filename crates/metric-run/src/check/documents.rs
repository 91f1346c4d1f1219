//! Checks of dataset files, which a metric reads as a whole and up to their first problem.
//!
//! To find the next problem, the part of the file that has the first one is taken out, and the rest is read again. Folders
//! are changed in a copy made of links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metric_record::json::Entries;
use metric_record::{Content, Document, JoinError, Message, Missing, ReadError, Unmatched};
use metric_registry::{AddError, DataSet, DataSetError, Entry};
use serde_json::value::RawValue;

use super::mirror::Mirror;
use super::part::{blanked, line_span, record_span};
use super::{Findings, ProblemKind};
use crate::{ErrorKind, Run, RunError};

/// A data set is read this often, as long as it has problems.
const MOST_READINGS: usize = 50;

impl Run {
    pub(super) fn check_documents(
        &self,
        references: Document,
        predictions: Document,
        found: &mut Findings,
    ) -> Result<(), RunError> {
        self.refuse_missing()?;
        self.refuse_selection(&references.name)?;
        found.states = self.start();
        for (metric, chosen) in self.metrics.iter().enumerate() {
            let data = DataSet {
                references: references.clone(),
                predictions: predictions.clone(),
                files: self.option_files(chosen)?,
                join: self.join,
                shard: self.shard,
                plan: Arc::new(self.plan_of(chosen)),
                inputs: false,
            };
            let pictures = prediction_folder(&chosen.entry, &data);
            let mut rest = Rest::new(data, chosen.entry);
            let mut readings = 0;
            loop {
                let error = match chosen.scorer.read_data_set(rest.data.clone(), false) {
                    Err(error) => error,
                    Ok(mut part) => {
                        let state = &mut found.states[metric];
                        match state.add(&mut part) {
                            Ok(()) => break,
                            Err(AddError::State(error)) => {
                                return Err(RunError::Internal(error.to_string()));
                            }
                            Err(AddError::Record(error)) => {
                                ReadError::new(&references.name, error.error.message()).into()
                            }
                        }
                    }
                };
                readings += 1;
                let (error, is_out) = rest.take_out(error);
                found.is_reduced |= is_out && matches!(error, Some(DataSetError::Read(_)));
                if let Some(error) = error {
                    note(error, is_out, pictures.as_deref(), found)?;
                }
                if !is_out || readings == MOST_READINGS {
                    found.problems.is_cut = true;
                    break;
                }
            }
        }
        let has_examples = found.states.iter().all(metric_registry::State::has_scores);
        if !has_examples && found.problems.found.is_empty() {
            let problem = "has no examples: expected at least one";
            let error = ReadError::new(&references.name, problem);
            found.problems.add(&references.name, error.into())?;
        }
        Ok(())
    }
}

/// The folder of the files that predictions name.
fn prediction_folder(entry: &Entry, data: &DataSet) -> Option<PathBuf> {
    if entry.prediction_folder.is_empty() {
        return None;
    }
    let given = data.file(entry.prediction_folder);
    let name = data.predictions.name.strip_suffix(".json");
    given
        .map_or(name, |folder| Some(&folder.name))
        .map(PathBuf::from)
}

/// Counts the problem of a dataset file. `is_out` is whether the part with the problem was taken out, and `pictures` the folder of the
/// files that predictions name.
fn note(
    error: DataSetError,
    is_out: bool,
    pictures: Option<&Path>,
    found: &mut Findings,
) -> Result<(), RunError> {
    let [references, predictions] = [&found.references.name, &found.predictions.name];
    let source = references.clone();
    match error {
        DataSetError::Read(error) if is_of_record(&error, is_out) => {
            let is_in = |source: &String| {
                error.file == *source || Path::new(&error.file).starts_with(Path::new(source))
            };
            let is_picture = pictures.is_some_and(|it| Path::new(&error.file).starts_with(it));
            let is_prediction = (is_in(predictions) || is_picture) && predictions != references;
            let kind = if is_prediction {
                ProblemKind::InvalidPrediction
            } else {
                ProblemKind::InvalidReference
            };
            let source = [references, predictions]
                .into_iter()
                .find(|source| is_in(source));
            let source = source.unwrap_or(&error.file).clone();
            let error = RunError::from(error);
            if error.kind() == ErrorKind::Internal {
                return Err(error);
            }
            found.problems.errors_of(kind, &source).add(error);
            Ok(())
        }
        error => found.problems.add(&source, error.into()),
    }
}

/// A data set without the parts that have problems.
struct Rest {
    data: DataSet,
    /// By file and list: the indices of the items that are taken out, ascending.
    removed: BTreeMap<(String, String), Vec<usize>>,
    /// The copies of folders in which files were changed.
    mirrors: Vec<Mirror>,
    /// Whether files were taken out of the copies.
    lacks_files: bool,
    /// The ids of the records of JSON that are taken out.
    taken_out: BTreeSet<String>,
    /// The metric that reads the data set.
    entry: Entry,
}

impl Rest {
    fn new(data: DataSet, entry: Entry) -> Self {
        Self {
            data,
            removed: BTreeMap::new(),
            mirrors: Vec::new(),
            lacks_files: false,
            taken_out: BTreeSet::new(),
            entry,
        }
    }

    /// Takes out what has a problem. Returns the problem as one of the given file, if it is one, and whether the rest
    /// can be read.
    fn take_out(&mut self, error: DataSetError) -> (Option<DataSetError>, bool) {
        match error {
            DataSetError::Join(error) => {
                let is_allowed = self.allow(&error);
                let error = self.of_given_ids(*error);
                (
                    error.map(|error| DataSetError::Join(Box::new(error))),
                    is_allowed,
                )
            }
            DataSetError::Read(error) => {
                let (error, is_out) = match self.take_out_of_folder(&error) {
                    Some(given) => (given, true),
                    // All of its files had problems.
                    None if self.is_emptied(&error) => return (None, false),
                    None => self.take_out_item(error),
                };
                (Some(self.with_given_names(error).into()), is_out)
            }
            other => (Some(other), false),
        }
    }

    /// Whether an error is about a folder that files were taken out of.
    fn is_emptied(&self, error: &ReadError) -> bool {
        let folder = Path::new(&error.file);
        let is_copy = |mirror: &Mirror| folder.starts_with(&mirror.path);
        self.lacks_files && folder.is_dir() && self.mirrors.iter().any(is_copy)
    }

    /// Allows records without a partner.
    fn allow(&mut self, error: &JoinError) -> bool {
        let join = &mut self.data.join;
        let before = *join;
        match error {
            JoinError::Missing(_) => join.missing = Missing::Skip,
            JoinError::Extra(_) => join.ignore_extra = true,
            JoinError::MissingAndExtra(..) => {
                (join.missing, join.ignore_extra) = (Missing::Skip, true);
            }
            _ => {}
        }
        *join != before
    }

    /// Takes a line, an object or a file out of a folder. Returns the error with the number that the object had.
    fn take_out_of_folder(&mut self, error: &ReadError) -> Option<ReadError> {
        let file = Path::new(&error.file);
        let sides = [&mut self.data.references, &mut self.data.predictions];
        let found = sides
            .into_iter()
            .enumerate()
            .find_map(|(side, document)| match &mut document.content {
                Content::Folder(folder) if file.starts_with(&folder.path) => {
                    Some((side == 1, folder))
                }
                _ => None,
            });
        let (is_prediction, folder) = found?;
        let inner = file.strip_prefix(&folder.path).ok()?.to_owned();
        if inner.as_os_str().is_empty() {
            return None;
        }
        if self.mirrors.iter().all(|mirror| mirror.path != folder.path) {
            let mirror = Mirror::new(&folder.path).ok()?;
            folder.original = Some(std::mem::replace(&mut folder.path, mirror.path.clone()));
            self.mirrors.push(mirror);
        }
        let mirror = self.mirrors.iter().find(|it| it.path == folder.path)?;
        let file = mirror.path.join(inner);
        let bytes = std::fs::read(&file).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let mut error = error.clone();
        let rest = match (error.line, item(&error.record)) {
            (Some(line), _) => {
                let line = line_span(&text, usize::try_from(line).ok()?)?;
                blanked(&text, line)?
            }
            (None, Some((OBJECT, index))) => {
                let name = mirror.with_given_names(&error.file);
                let removed = self.removed.entry((name, OBJECT.to_owned())).or_default();
                let given = given_index(removed, index);
                let at = removed.partition_point(|&other| other < given);
                removed.insert(at, given);
                error.record = format!("{OBJECT}[{given}]");
                without_object(&text, index)?
            }
            // An image without a file of predictions is one without detections.
            _ if is_prediction => {
                mirror.remove(&file).ok()?;
                self.lacks_files = true;
                return Some(error);
            }
            _ if is_xml(&file) => "<annotation></annotation>".to_owned(),
            _ => String::new(),
        };
        if rest.as_bytes() == bytes {
            return None;
        }
        mirror.replace(&file, &rest).ok()?;
        Some(error)
    }

    /// Takes the record out of a file of JSON whose line and column an error names.
    fn take_out_record(&mut self, error: &ReadError) -> Option<()> {
        let document = side_of(&mut self.data, &error.file)?;
        let file = document.file().ok()?;
        let text = file.text;
        let offset = usize::try_from(error.position?.get() - 1).ok()?;
        let offset = Some(offset).filter(|&offset| offset < text.len())?;
        // The error of an id that occurs twice may come after its record.
        let Entry {
            parts, record_id, ..
        } = self.entry;
        let span = record_span(text, offset, parts)
            .or_else(|| record_span(text, text.get(..offset)?.rfind('}')?, parts))?;
        self.taken_out
            .extend(id_of(text.get(span.clone())?, record_id));
        let rest = blanked(text, span)?;
        document.content = Content::Text(rest);
        Some(())
    }

    /// An error of the join without the ids whose records were taken out: what is wrong with them is said already.
    fn of_given_ids(&self, error: JoinError) -> Option<JoinError> {
        let given = |mut unmatched: Unmatched| {
            let before = unmatched.ids.len();
            unmatched.ids.retain(|id| !self.taken_out.contains(id));
            unmatched.count -= (before - unmatched.ids.len()) as u64;
            (unmatched.count > 0).then_some(unmatched)
        };
        match error {
            JoinError::Missing(missing) => given(missing).map(JoinError::Missing),
            JoinError::Extra(extra) => given(extra).map(JoinError::Extra),
            JoinError::MissingAndExtra(missing, extra) => match (given(missing), given(extra)) {
                (Some(missing), Some(extra)) => Some(JoinError::MissingAndExtra(missing, extra)),
                (Some(missing), None) => Some(JoinError::Missing(missing)),
                (None, extra) => extra.map(JoinError::Extra),
            },
            error => Some(error),
        }
    }

    /// Names the files of copies as they were given.
    fn with_given_names(&self, mut error: ReadError) -> ReadError {
        for mirror in &self.mirrors {
            error.file = mirror.with_given_names(&error.file);
            let problem = error.problem.to_string();
            let given = mirror.with_given_names(&problem);
            if given != problem {
                error.problem = Message::from(given);
            }
        }
        error
    }

    fn take_out_item(&mut self, mut error: ReadError) -> (ReadError, bool) {
        let Some((list, index)) = item(&error.record) else {
            let is_out = without_task(&mut self.data, &error).is_some()
                || self.take_out_record(&error).is_some();
            // The number of questions before it no longer counts those that were taken out.
            if is_out && error.record.starts_with("after ") {
                error.record.clear();
            }
            return (error, is_out);
        };
        let list = list.to_owned();
        let removed = self.removed.entry((error.file.clone(), list.clone()));
        let removed = removed.or_default();
        // Another item of the list may be named, such as the one that has the same id.
        let problem = with_given_indices(&error.problem.to_string(), &list, removed);
        if problem != error.problem.to_string() {
            error.problem = Message::from(problem);
        }
        let given = given_index(removed, index);
        error.record = format!("{list}[{given}]");
        let is_out = without_item(&mut self.data, &error.file, &list, index).is_some();
        if is_out {
            let at = removed.partition_point(|&other| other < given);
            removed.insert(at, given);
        }
        (error, is_out)
    }
}

/// Whether an error is about a part of a file.
fn is_of_record(error: &ReadError, is_out: bool) -> bool {
    !error.record.is_empty() || error.line.is_some() || (is_out && error.position.is_some())
}

/// The id of a record of JSON, with a comma next to it: a field, or the key of an entry.
fn id_of(record: &str, field: &str) -> Option<String> {
    let record = record.trim_matches(|c: char| c == ',' || c.is_ascii_whitespace());
    let id = match Entries::scan(record) {
        Some(fields) => fields.get(field)?.to_owned(),
        None => record
            .split_once(':')
            .map_or(record, |(key, _)| key)
            .trim()
            .to_owned(),
    };
    serde_json::from_str(&id).ok().or(Some(id))
}

/// The element of an object in the files of Pascal VOC, and its name in errors.
const OBJECT: &str = "object";

fn is_xml(file: &Path) -> bool {
    let extension = file.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("xml"))
}

/// Takes an object out of a file of Pascal VOC.
fn without_object(text: &str, index: usize) -> Option<String> {
    const END: &str = "</object>";
    let (start, _) = text.match_indices("<object>").nth(index)?;
    let end = start + text.get(start..)?.find(END)? + END.len();
    blanked(text, start..end)
}

/// Reads `annotations[3]` or `[3]`: the name of the list and the index.
fn item(record: &str) -> Option<(&str, usize)> {
    let (list, rest) = record.split_once('[')?;
    let index = rest.strip_suffix(']')?.parse().ok()?;
    Some((list, index))
}

/// The index that an item had before others, whose indices ascend, were taken out.
fn given_index(removed: &[usize], index: usize) -> usize {
    let shift = |index: usize, other: &usize| index + usize::from(*other <= index);
    removed.iter().fold(index, shift)
}

/// A text with the items that it names, such as `annotations[3]`, by the indices that they had.
fn with_given_indices(text: &str, list: &str, removed: &[usize]) -> String {
    let start = format!("{list}[");
    let mut parts = text.split(&start);
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        written.push_str(&start);
        match part
            .split_once(']')
            .map(|(index, rest)| (index.parse(), rest))
        {
            Some((Ok(index), rest)) => {
                written.push_str(&format!("{}]{rest}", given_index(removed, index)));
            }
            _ => written.push_str(part),
        }
    }
    written
}

/// The side of a data set that is a file of this name, unless both are.
fn side_of<'d>(data: &'d mut DataSet, file: &str) -> Option<&'d mut Document> {
    if data.references.name == data.predictions.name {
        return None;
    }
    let mut sides = [&mut data.references, &mut data.predictions].into_iter();
    sides.find(|document| document.name == file)
}

/// The position of a part of a text.
fn position(part: &str, text: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// Takes the task that an error is about, such as `task "a"`, out of a file that is an object of tasks. What the other
/// file says of it can no longer be scored, and is taken out as well.
fn without_task(data: &mut DataSet, error: &ReadError) -> Option<()> {
    let task = error.record.strip_prefix("task \"")?.strip_suffix('"')?;
    without_entry(side_of(data, &error.file)?, task)?;
    for document in [&mut data.references, &mut data.predictions] {
        if document.name != error.file {
            without_entry(document, task);
        }
    }
    Some(())
}

/// Takes an entry out of a file that is an object.
fn without_entry(document: &mut Document, task: &str) -> Option<()> {
    let file = document.file().ok()?;
    let text = file.content();
    let tasks = Entries::scan(text)?.0;
    let index = tasks.iter().position(|(key, _)| key == task)?;
    let end_of = |index: usize| {
        let (_, value) = tasks.get(index)?;
        Some(position(value, text) + value.len())
    };
    let end = end_of(index)?;
    // With the comma in front of it or, of the first task, the one after it.
    let (start, end) = match index.checked_sub(1) {
        Some(before) => (end_of(before)?, end),
        None if tasks.len() == 1 => (text.find('{')? + 1, end),
        None => (text.find('{')? + 1, end + text.get(end..)?.find(',')? + 1),
    };
    let text = [text.get(..start)?, text.get(end..)?].concat();
    document.content = Content::Text(text);
    Some(())
}

/// Takes an item out of a list of one of the two files.
fn without_item(data: &mut DataSet, file: &str, list: &str, index: usize) -> Option<()> {
    // Other items refer to images and categories by their ids.
    if ["images", "categories"].contains(&list) {
        return None;
    }
    let document = side_of(data, file)?;
    let file = document.file().ok()?;
    let text = file.content();
    let items = match list {
        "" => text,
        list => Entries::scan(text)?.get(list)?,
    };
    let items: Vec<&RawValue> = serde_json::from_str(items).ok()?;
    // The item and the comma on one side of it.
    let offset = |item: &RawValue| position(item.get(), text);
    let end_of = |item: &RawValue| offset(item) + item.get().len();
    let item = items.get(index)?;
    let (start, end) = match (index.checked_sub(1), items.get(index + 1)) {
        (_, Some(next)) => (offset(item), offset(next)),
        (Some(before), None) => (end_of(items.get(before)?), end_of(item)),
        (None, None) => (offset(item), end_of(item)),
    };
    let text = [text.get(..start)?, text.get(end..)?].concat();
    document.content = Content::Text(text);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_those_of_the_given_file() {
        for (removed, index, expected) in [
            (&[][..], 3, 3),
            (&[0], 0, 1),
            (&[2], 1, 1),
            (&[2], 2, 3),
            (&[1, 2, 5], 1, 3),
            (&[1, 2, 5], 3, 6),
        ] {
            assert_eq!(given_index(removed, index), expected, "{removed:?} {index}");
        }
        assert_eq!(
            with_given_indices("7 is the id of annotations[2] too", "annotations", &[1]),
            "7 is the id of annotations[3] too"
        );
    }

    #[test]
    fn tasks_are_taken_out_with_their_comma() {
        let text = r#"{"a": [1], "b": [2] , "c": [3]}"#;
        for (task, expected) in [
            ("a", Some(r#"{ "b": [2] , "c": [3]}"#)),
            ("b", Some(r#"{"a": [1] , "c": [3]}"#)),
            ("c", Some(r#"{"a": [1], "b": [2]}"#)),
            ("d", None),
        ] {
            let mut data = DataSet::new(Document::text("r", text), Document::text("p", "{}"));
            let error = ReadError::new("r", "wrong").at(format!("task {task:?}"));
            let found = without_task(&mut data, &error);
            let found = found.and_then(|()| Some(data.references.file().ok()?.text.to_owned()));
            assert_eq!(found.as_deref(), expected, "{task}");
        }
        let mut data = DataSet::new(
            Document::text("r", r#"{"a": [1]}"#),
            Document::text("p", "{}"),
        );
        let error = ReadError::new("r", "wrong").at("task \"a\"");
        without_task(&mut data, &error).expect("a task");
        assert_eq!(data.references, Document::text("r", "{}"));
    }

    #[test]
    fn items_are_taken_out_with_their_comma() {
        let rest = |text: &str, list: &str, index| {
            let mut data = DataSet::new(Document::text("r", text), Document::text("p", "[]"));
            without_item(&mut data, "r", list, index)?;
            data.references.file().ok().map(|file| file.text.to_owned())
        };
        for (text, list, index, expected) in [
            ("[1, {\"a\": 2}, 3]", "", 1, Some("[1, 3]")),
            ("[1, 2]", "", 1, Some("[1]")),
            ("[ 1 ]", "", 0, Some("[  ]")),
            (
                "{\"x\": 1, \"annotations\": [5, 6]}",
                "annotations",
                0,
                Some("{\"x\": 1, \"annotations\": [6]}"),
            ),
            ("[1]", "", 1, None),
            ("{\"images\": [1]}", "images", 0, None),
            ("[1", "", 0, None),
        ] {
            assert_eq!(rest(text, list, index).as_deref(), expected, "{text}");
        }
    }
}
