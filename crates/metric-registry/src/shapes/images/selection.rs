//! The images of a data set that a list selects, as those of Pascal VOC's `ImageSets` and the lists of YOLO do.

use std::collections::{BTreeSet, HashMap};

use metric_record::{Content, Document, IdKey, ReadError, json, quoted_id};
use metric_vision::Key;

use super::image_key::FileNames;
use crate::OptionSpec;

/// The file that lists the images that are scored.
pub(crate) const IMAGES_LIST: OptionSpec = OptionSpec::path(
    "images-list",
    "FILE",
    "Score only the images that this file lists, one id or path per line, such as VOC's ImageSets/Main/val.txt",
);

/// Returns the positions of the images that a list selects, of all images in the order of their keys.
///
/// # Errors
///
/// Returns an error with the line that names no image of the references, or several.
pub(super) fn selected<'k>(
    list: &Document,
    references: &Document,
    keys: impl Iterator<Item = &'k Key>,
) -> Result<BTreeSet<usize>, ReadError> {
    let known = KnownImages::new(references, keys)?;
    let mut selected = BTreeSet::new();
    for (number, line) in (1..).zip(list.file()?.content().lines()) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let refuse = |problem| ReadError::new(&list.name, problem).line(number);
        // A list of Pascal VOC's for one class says in a second column whether the image has it.
        let columns = line.rsplit_once([' ', '\t']);
        let first = columns.filter(|(_, second)| ["1", "-1", "0"].contains(second));
        let first = first.map(|(first, _)| first.trim_end());
        let mut forms = std::iter::once(line).chain(first);
        let found = forms.find_map(|name| known.find(name).transpose());
        let found = found.transpose().map_err(refuse)?;
        let unknown = || {
            let name = quoted_id(first.unwrap_or(line));
            refuse(format!(
                "found {name}: expected the id or the file name of an image of {}",
                references.name
            ))
        };
        selected.insert(found.ok_or_else(unknown)?);
    }
    if selected.is_empty() {
        let problem = "lists no images: expected one id or file name per line";
        return Err(ReadError::new(&list.name, problem));
    }
    Ok(selected)
}

/// The images of a data set by the names that a list may give them.
struct KnownImages<'a> {
    by_id: HashMap<String, usize>,
    /// The names of files, where a file lists images.
    names: Option<FileNames<'a>>,
}

/// The greatest number of folders of a path that may be part of the name of an image.
const MOST_FOLDERS: usize = 16;

impl<'a> KnownImages<'a> {
    fn new<'k>(
        references: &'a Document,
        keys: impl Iterator<Item = &'k Key>,
    ) -> Result<Self, ReadError> {
        let names = match references.content {
            Content::Text(_) | Content::Stream(_) => Some(FileNames::of_images(references)?),
            _ => None,
        };
        Ok(Self {
            by_id: keys.map(Key::to_string).zip(0..).collect(),
            names,
        })
    }

    /// The position of the image with a name, which is its id, or the path of its file with or without the first folders and the
    /// ending.
    fn find(&self, name: &str) -> Result<Option<usize>, String> {
        let by_id = self.by_id.get(name).copied();
        let parts: Vec<&str> = name
            .split(['/', '\\'])
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        let first = parts.len().saturating_sub(MOST_FOLDERS);
        let mut by_file = None;
        for start in first..parts.len() {
            by_file = self.find_file(&parts[start..])?;
            if by_file.is_some() {
                break;
            }
        }
        match (by_id, by_file) {
            (Some(id), Some(file)) if id != file => Err(format!(
                "{} is the id of an image and the file name of another one: expected the file name with its ending",
                quoted_id(name)
            )),
            _ => Ok(by_id.or(by_file)),
        }
    }

    /// The position of the image of a file, whose path has these parts.
    fn find_file(&self, parts: &[&str]) -> Result<Option<usize>, String> {
        let stem = |path: &str| {
            let stem = path.rsplit_once('.');
            stem.map_or_else(|| path.to_owned(), |(stem, _)| stem.to_owned())
        };
        let Some(names) = &self.names else {
            // The id of an image in folders is its path, joined by underscores.
            let joined = parts.join("_");
            let found = self.by_id.get(&joined);
            let found = found.or_else(|| self.by_id.get(&stem(&joined)));
            return Ok(found.copied());
        };
        let path = parts.join("/");
        let id = match names.named(&path)? {
            Some(id) => Some(id),
            None => names.named(&stem(&path))?,
        };
        let id = id.map(json::typed::<IdKey<'_>>).transpose()?;
        Ok(id.and_then(|id| self.by_id.get(&id.to_string()).copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(references: &Document, keys: &[Key], list: &str) -> Result<Vec<usize>, String> {
        let list = Document::text("val.txt", list);
        let found = selected(&list, references, keys.iter());
        let found = found.map(|found| found.into_iter().collect());
        found.map_err(|error| error.to_string())
    }

    #[test]
    fn images_of_folders_by_hand() {
        let keys = ["2007_1", "a_1", "image 1", "x"].map(Key::from);
        let folder = Document::folder("labels");
        let found = |list: &str| positions(&folder, &keys, list);
        assert_eq!(found("2007_1\n\nx\r\n2007_1\n"), Ok(vec![0, 3]));
        assert_eq!(found("2007_1  1\nx -1\nimage 1\n"), Ok(vec![0, 2, 3]));
        assert_eq!(
            found("./images/a/1.jpg\nimages\\val\\x.png"),
            Ok(vec![1, 3])
        );
        let problem =
            "val.txt:2: found \"y\": expected the id or the file name of an image of labels";
        assert_eq!(found("x\ny 0\n"), Err(problem.to_owned()));
        let problem = "val.txt: lists no images: expected one id or file name per line";
        assert_eq!(found("\n"), Err(problem.to_owned()));
    }

    #[test]
    fn images_of_a_file_by_hand() {
        let truth = r#"{"images": [{"id": 1, "file_name": "a/7.png"}, {"id": 2, "file_name": "b/7.png"}, {"id": 3, "file_name": "1.png"}]}"#;
        let keys = [1, 2, 3].map(Key::from);
        let references = Document::text("truth.json", truth);
        let found = |list: &str| positions(&references, &keys, list);
        assert_eq!(found("2\n1.png"), Ok(vec![1, 2]));
        assert_eq!(found("val/b/7.png\n/data/val/a/7.jpg"), Ok(vec![0, 1]));
        let error = found("7.png").expect_err("two images");
        assert!(
            error.starts_with("val.txt:1: several images have the file name"),
            "{error}"
        );
        let error = found("1").expect_err("two images");
        assert!(error.contains("the file name of another one"), "{error}");
    }
}
