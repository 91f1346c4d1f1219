//! Results whose images are named by their files, as in `predictions.json` of Ultralytics.

use std::collections::HashMap;

use metric_record::json::{self, Entries};
use metric_record::{Content, Document, ReadError, quoted_id};
use serde_json::value::RawValue;

use crate::OptionSpec;

/// The meaning of the `image_id` of a result.
pub(crate) const IMAGE_KEY: OptionSpec = OptionSpec::one_of("image-key", "KEY", || vec!["id", "file_name"],
    "Meaning of image_id in results: the id of the image, or its file name, with or without folder and extension").or("id");

/// The ids of images, as JSON, by the names of their files; `None` for a name that two images have.
pub(super) struct FileNames<'a>(HashMap<String, Option<&'a str>>);

/// Replaces the names of files in a list of results by the ids of their images.
pub(crate) fn with_image_ids(
    references: &Document,
    predictions: &Document,
) -> Result<Document, ReadError> {
    let names = FileNames::of_images(references)?;
    let text = predictions.file()?.content();
    let refuse = |problem: String| ReadError::new(&predictions.name, problem);
    let results: Vec<&RawValue> = json::typed(text).map_err(refuse)?;
    let mut written = String::with_capacity(text.len());
    for (index, result) in results.iter().enumerate() {
        written.push(if index == 0 { '[' } else { ',' });
        let refuse =
            |problem: String| ReadError::new(&predictions.name, problem).at(format!("[{index}]"));
        let fields: Entries<'_> = json::typed(result.get()).map_err(refuse)?;
        let name = fields.get("file_name").or_else(|| fields.get("image_id"));
        let id = name.map(|name| names.id(name)).transpose();
        let id = id.map_err(|problem| refuse(problem).field("image_id"))?;
        let value = fields.get("image_id");
        // An image that is not listed is judged where results are read.
        let id = id.flatten().or(name.filter(|_| value.is_none()));
        let result = result.get();
        let (replaced, by) = match (value, id) {
            (Some(value), Some(id)) => {
                let start = value.as_ptr().addr() - result.as_ptr().addr();
                (start..start + value.len(), id.to_owned())
            }
            (None, Some(id)) => (1..1, format!("\"image_id\":{id},")),
            (_, None) => (0..0, String::new()),
        };
        written.push_str(&result[..replaced.start]);
        written.push_str(&by);
        written.push_str(&result[replaced.end..]);
    }
    if results.is_empty() {
        written.push('[');
    }
    written.push(']');
    Ok(Document {
        name: predictions.name.clone(),
        content: Content::Text(written),
    })
}

/// An error in results, with the option that helps if they name images by their files.
pub(crate) fn with_image_key(
    mut error: ReadError,
    references: &Document,
    results: &Document,
) -> ReadError {
    if error.field != "image_id" || error.file != results.name {
        return error;
    }
    let problem = std::mem::take(&mut error.problem);
    let is_missing = problem.to_string() == "missing";
    let text = results.file().ok();
    let has_names = text.is_some_and(|file| file.content().contains("\"file_name\""));
    error.problem = if is_missing && has_names {
        problem
            .text("; to find images by their file_name, use ")
            .option(IMAGE_KEY.name, "file_name")
    } else if is_file_name(&error.record, references, results).unwrap_or(false) {
        problem
            .text("; it is the file_name of one: to find images by that, use ")
            .option(IMAGE_KEY.name, "file_name")
    } else {
        problem
    };
    error
}

/// Whether the `image_id` of the result at an index, written `[3]`, is the name of the file of an image.
fn is_file_name(record: &str, references: &Document, results: &Document) -> Option<bool> {
    let index = record.strip_prefix('[')?.strip_suffix(']')?;
    let index: usize = index.parse().ok()?;
    let names = FileNames::of_images(references).ok()?;
    let results: Vec<&RawValue> = json::typed(results.file().ok()?.content()).ok()?;
    let fields: Entries<'_> = json::typed(results.get(index)?.get()).ok()?;
    Some(names.id(fields.get("image_id")?).ok()?.is_some())
}

impl<'a> FileNames<'a> {
    /// The names of the images of a ground truth.
    pub(super) fn of_images(references: &'a Document) -> Result<Self, ReadError> {
        let truth = references.file()?;
        let refuse = |problem: String| ReadError::new(&references.name, problem);
        let file: Entries<'a> = json::typed(truth.content()).map_err(refuse)?;
        let images: Vec<Entries<'a>> =
            json::typed(file.get("images").unwrap_or("[]")).map_err(refuse)?;
        let mut names = Self(HashMap::new());
        for (index, image) in images.iter().enumerate() {
            let name = image.get("file_name").map(json::string);
            match (name, image.get("id")) {
                (Some(Ok(name)), Some(id)) => names.add(&name, id),
                (Some(Err(problem)), _) => {
                    let location = format!("images[{index}]");
                    let error = ReadError::new(&references.name, problem);
                    return Err(error.at(location).field("file_name"));
                }
                _ => {}
            }
        }
        Ok(names)
    }

    /// Adds an image by each form of its name: as it is, without folders, and without the ending.
    fn add(&mut self, name: &str, id: &'a str) {
        let mut forms = vec![name];
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
        let path = name.rsplit_once('.').map_or(name, |(path, _)| path);
        forms.extend([base, stem, path]);
        // A name that is a number may be written as one.
        let number = stem.bytes().all(|byte| byte.is_ascii_digit());
        let number = Some(stem.trim_start_matches('0')).filter(|it| number && !it.is_empty());
        forms.extend(number);
        forms.sort_unstable();
        forms.dedup();
        for form in forms {
            let named = self.0.entry(form.to_owned()).or_insert(Some(id));
            *named = named.filter(|other| *other == id);
        }
    }

    /// The id of the image that a JSON string or number names.
    fn id(&self, json: &str) -> Result<Option<&'a str>, String> {
        let name = json::string(json);
        self.named(name.as_deref().unwrap_or(json.trim()))
    }

    /// The id of the image whose file has a name.
    pub(super) fn named(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.0.get(name) {
            Some(Some(id)) => Ok(Some(id)),
            Some(None) => Err(format!(
                "several images have the file name {}: expected the name with its folder or ending",
                quoted_id(name)
            )),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_as_ids_have_a_hint() {
        let truth = r#"{"images": [{"id": 1, "file_name": "val/a b.png"}, {"id": 2, "file_name": "7.png"}]}"#;
        for (id, has_hint) in [
            (r#""a b""#, true),
            (r#""val/a b.png""#, true),
            ("7", true),
            (r#""c""#, false),
        ] {
            let results = format!(r#"[{{"image_id": 1}}, {{"image_id": {id}}}]"#);
            let [truth, results] = [("t", truth), ("p", results.as_str())]
                .map(|(name, text)| Document::text(name, text));
            let error = ReadError::new("p", "not an image").at("[1]");
            let error = with_image_key(error.field("image_id"), &truth, &results);
            let hint =
                "; it is the file_name of one: to find images by that, use --image-key file_name";
            let end = if has_hint { hint } else { "" };
            let expected = format!("p: [1]: image_id: not an image{end}");
            assert_eq!(error.to_string(), expected);
        }
    }
}
