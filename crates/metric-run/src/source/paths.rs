//! The files that paths, patterns and folders name.

use super::unreadable::cannot_open;
use super::{Origin, Source};
use crate::RunError;
use crate::formats::{Format, extension};
use metric_record::{Message, ReadError};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

impl Source {
    /// Returns the files that paths and patterns name, as one source: `part-*.parquet`, `**/*.jsonl`. One path is the
    /// file or folder that exists.
    ///
    /// Named files keep their order. Those of a pattern or a folder are ordered by name, with runs of digits
    /// by their number: `part-2` comes before `part-10`. Hidden files are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing at a path, if a pattern matches nothing, or if a file is named
    /// twice.
    pub fn paths<P: AsRef<Path>>(paths: &[P]) -> Result<Self, RunError> {
        source(paths)
    }

    /// The source whose records are read: for a folder of records, its files.
    pub(crate) fn resolved(self) -> Result<Self, RunError> {
        let Origin::Folder(path) = &self.origin else {
            return match &self.split {
                None => Ok(self),
                Some(split) => Err(RunError::Usage(
                    Message::default().option("split", split).text(format_args!(
                        " selects a part of a folder that Dataset.save_to_disk wrote: {} is a file",
                        self.name()
                    )),
                )),
            };
        };
        let resolved = folder(path, self.split.as_deref(), self.format)?;
        Ok(Self {
            csv: self.csv,
            encoding: self.encoding,
            transcript: self.transcript,
            is_stated: self.is_stated,
            ..resolved
        })
    }

    /// Whether the source is a folder of records, and not of a metric's own files.
    pub(crate) fn is_folder_of_records(&self) -> bool {
        match &self.origin {
            Origin::Folder(path) => self.format.is_some() || holds_records(path),
            _ => false,
        }
    }
}

/// The files that paths and patterns name, as one source.
fn source<P: AsRef<Path>>(paths: &[P]) -> Result<Source, RunError> {
    if let [path] = paths {
        let path = path.as_ref();
        if path.exists() || !is_pattern(path) {
            return Source::path(path);
        }
    }
    let files = expanded(paths)?;
    refuse_repeated(&files)?;
    let are_found = matches!(paths, [path] if is_pattern(path.as_ref()));
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.as_ref().display().to_string())
        .collect();
    of_files(names.join(" "), files, are_found)
}

/// Paths, and the files that patterns match.
pub(crate) fn expanded<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PathBuf>, RunError> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        let path = path.as_ref();
        if path.exists() || !is_pattern(path) {
            files.push(path.to_owned());
        } else {
            files.extend(matches(path)?);
        }
    }
    Ok(files)
}

/// Whether a path that does not exist is a pattern.
fn is_pattern(path: &Path) -> bool {
    path.to_str()
        .is_some_and(|path| path.contains(['*', '?', '[']))
}

/// The files that a pattern matches, in order.
fn matches(pattern: &Path) -> Result<Vec<PathBuf>, RunError> {
    let name = pattern.display().to_string();
    let options = glob::MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..glob::MatchOptions::default()
    };
    let found = glob::glob_with(&name, options).map_err(|error| {
        let problem = format!(
            "{name}: not a pattern: {} at byte {}",
            error.msg,
            error.pos + 1
        );
        RunError::Usage(Message::from(problem))
    })?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| cannot_open(error.path(), error.error()))?;
        if path.is_file() && !is_mark(&path) {
            files.push(path);
        }
    }
    if files.is_empty() {
        let problem = "the pattern matches no file: expected at least one";
        return Err(ReadError::new(name, problem).into());
    }
    sort(&mut files);
    Ok(files)
}

/// Whether a file is a mark of the program that wrote the others, and holds no records.
fn is_mark(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let marks = ["_SUCCESS", "_metadata", "_common_metadata"];
    is_hidden(path) || name.is_some_and(|name| marks.contains(&name))
}

/// Whether the name of a file or a folder starts with a dot.
pub(crate) fn is_hidden(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Refuses a file that is named twice, whose records would count twice.
fn refuse_repeated(files: &[PathBuf]) -> Result<(), RunError> {
    let mut seen = BTreeMap::new();
    for file in files {
        let Ok(real) = std::fs::canonicalize(file) else {
            continue;
        };
        if let Some(other) = seen.insert(real, file) {
            let problem = if other == file {
                "is named twice: expected each file once".to_owned()
            } else {
                format!(
                    "is the same file as {}: expected each file once",
                    other.display()
                )
            };
            return Err(ReadError::new(file.display().to_string(), problem).into());
        }
    }
    Ok(())
}

/// Files as one source of this name. Text files that a folder or a pattern has are pages.
fn of_files(name: String, files: Vec<PathBuf>, are_found: bool) -> Result<Source, RunError> {
    let sources = files.into_iter().map(Source::path);
    let mut sources = sources.collect::<Result<Vec<Source>, RunError>>()?;
    for source in &sources {
        if source.is_folder() {
            let problem = "is a folder: expected files, as there are several";
            return Err(ReadError::new(source.name(), problem).into());
        }
    }
    if let Some(first) = sources.first()
        && let Some(other) = sources
            .iter()
            .find(|other| other.format() != first.format())
    {
        let title = |source: &Source| source.format().map_or("in no known format", Format::title);
        let problem = format!(
            "is {}, and {} is {}: expected files of one format",
            title(other),
            first.name(),
            title(first)
        );
        return Err(ReadError::new(other.name(), problem).into());
    }
    let is_text = |source: &Source| source.format() == Some(Format::Text);
    let is_page = are_found && sources.first().is_some_and(is_text);
    Ok(match sources.len() {
        1 if !is_page => sources.remove(0),
        _ if are_found => Source::found(name, sources),
        _ => Source::several(name, sources),
    })
}

/// Orders paths by name, with runs of digits by their number.
fn sort(files: &mut [PathBuf]) {
    files
        .sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()).then_with(|| a.cmp(b)));
}

/// Compares texts by their characters, with runs of digits by their number.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let [digits_a, digits_b] = [a, b].map(|text| {
            let end = text.find(|char: char| !char.is_ascii_digit());
            &text[..end.unwrap_or(text.len())]
        });
        let ordering = if digits_a.is_empty() || digits_b.is_empty() {
            let (first_a, first_b) = (a.chars().next(), b.chars().next());
            if first_a.is_none() && first_b.is_none() {
                return Ordering::Equal;
            }
            let length = |char: Option<char>| char.map_or(0, char::len_utf8);
            (a, b) = (&a[length(first_a)..], &b[length(first_b)..]);
            first_a.cmp(&first_b)
        } else {
            (a, b) = (&a[digits_a.len()..], &b[digits_b.len()..]);
            let [number_a, number_b] = [digits_a, digits_b].map(|it| it.trim_start_matches('0'));
            let lengths = number_a.len().cmp(&number_b.len());
            lengths.then_with(|| number_a.cmp(number_b))
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
}

/// The files of a folder, in order and without those that are hidden or marks.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, RunError> {
    let failed = |error: io::Error| cannot_open(folder, &error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !is_mark(&path) {
            files.push(path);
        }
    }
    sort(&mut files);
    Ok(files)
}

/// Whether a folder holds a saved dataset of Hugging Face.
pub(super) fn is_dataset(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    has("dataset_dict.json") || (has("dataset_info.json") && has("state.json"))
}

/// The format of a file whose name tells it, compressed or not.
fn format_of(path: &Path) -> Option<Format> {
    match extension(path).as_deref() {
        Some("gz" | "zst") => Format::of_name(path.with_extension("")),
        _ => Format::of_name(path),
    }
}

/// Whether a folder holds records: a saved dataset, or files of formats that hold nothing else.
fn holds_records(folder: &Path) -> bool {
    if is_dataset(folder) {
        return true;
    }
    let Ok(files) = files_of(folder) else {
        return false;
    };
    let holds = |path: &PathBuf| format_of(path).is_some_and(Format::has_records_only);
    !files.is_empty() && files.iter().all(holds)
}

/// The records of a folder. A split is a part of a saved dataset, and the format is what the caller stated.
pub(super) fn folder(
    folder: &Path,
    split: Option<&str>,
    stated: Option<Format>,
) -> Result<Source, RunError> {
    let name = folder.display().to_string();
    if is_dataset(folder) {
        Format::Arrow.refuse_unbuilt(&name)?;
        #[cfg(feature = "arrow")]
        return crate::formats::datasets::source(folder, split);
    }
    if let Some(split) = split {
        let message = Message::default().option("split", split).text(format_args!(
            ": {name} is not a folder that Dataset.save_to_disk wrote"
        ));
        return Err(RunError::Usage(message));
    }
    let files = files_of(folder)?;
    if files.is_empty() {
        let problem = "is a folder without files: expected a file, or files of one format";
        return Err(ReadError::new(name, problem).into());
    }
    let unknown =
        |path: &&PathBuf| path.is_dir() || (stated.is_none() && format_of(path).is_none());
    if let Some(other) = files.iter().find(unknown) {
        let problem = format!(
            "is a folder that holds {}: expected a file, or a folder whose files all have one format of records",
            other.file_name().unwrap_or_default().to_string_lossy()
        );
        return Err(ReadError::new(name, problem).into());
    }
    let source = of_files(name, files, true)?;
    Ok(match stated {
        Some(format) => source.with_format(format),
        None => source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_digits_are_compared_by_their_number() {
        let rows = [
            ("part-2", "part-10", Ordering::Less),
            ("part-02", "part-2", Ordering::Equal),
            ("part-9a", "part-10", Ordering::Less),
            ("a", "b", Ordering::Less),
            ("a1", "a", Ordering::Greater),
            ("1", "a", Ordering::Less),
            ("é", "é", Ordering::Equal),
        ];
        for (a, b, expected) in rows {
            assert_eq!(natural(a, b), expected, "{a} {b}");
            assert_eq!(natural(b, a), expected.reverse(), "{b} {a}");
        }
    }
}
