use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use metric_record::{
    JoinError, JoinPolicy, Missing, NAMED_IDS, ReadError, Shard, Unmatched, name_text,
};

/// How the files of two folders are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderOptions {
    /// The end of the names of references before their extension, which is not part of the id. Files without it are left out.
    pub reference_suffix: String,
    /// The same of predictions.
    pub prediction_suffix: String,
    /// Whether references are named as those of Cityscapes: `CITY_SEQUENCE_FRAME_gtFine_labelIds.png`. Their ids are the first three
    /// parts of the name, and so are those of predictions that begin with the same three parts.
    pub cityscapes: bool,
    /// The strictness of the join.
    pub join: JoinPolicy,
    /// Only the images that this shard holds are joined.
    pub shard: Option<Shard>,
}

metric_core::setters!(FolderOptions {
    with_reference_suffix => reference_suffix: String,
    with_prediction_suffix => prediction_suffix: String,
    with_cityscapes => cityscapes: bool,
    with_join => join: JoinPolicy,
    with_shard => shard: Option<Shard>,
});

/// The files of two folders of images, by id. The id of a file is its path in the folder, without the suffix and the extension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedFolders {
    /// The images in the order of their ids.
    pub images: Vec<ImageFiles>,
    /// The number of predictions without a reference, which were left out.
    pub extra: u64,
    /// The number of files that are neither `.png` nor `.npy`, or lack the suffix.
    pub others: u64,
}

/// The files of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFiles {
    /// The id.
    pub id: String,
    /// The reference.
    pub reference: PathBuf,
    /// The prediction, if there is one.
    pub prediction: Option<PathBuf>,
}

/// An error of joining two folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderError {
    /// A folder cannot be listed, or has two files of one id.
    Read(ReadError),
    /// The folders do not have the same images.
    Join(Box<JoinError>),
}

impl From<ReadError> for FolderError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<JoinError> for FolderError {
    fn from(error: JoinError) -> Self {
        Self::Join(Box::new(error))
    }
}

/// Joins the images of two folders and of the folders in them by id. Hidden files are left out.
///
/// # Errors
///
/// Returns an error if a folder cannot be listed, if two files of a side have the same id, or if the ids of the sides differ and the
/// policy does not allow it.
pub fn join_folders(
    references: &Path,
    predictions: &Path,
    options: &FolderOptions,
) -> Result<JoinedFolders, FolderError> {
    let (mut references_found, mut found) = (Listed::new(references), Listed::new(predictions));
    let mut known = BTreeSet::new();
    references_found.add(references, "", &mut |folder, stem| {
        if options.cityscapes && is_skipped(stem) {
            return Named::Skipped;
        }
        match stem.strip_suffix(CITYSCAPES) {
            Some(start) if options.cityscapes => {
                known.insert(start.to_owned());
                Named::Id(start.to_owned())
            }
            _ => with_suffix(folder, stem, &options.reference_suffix),
        }
    })?;
    found.add(predictions, "", &mut |folder, stem| {
        if options.cityscapes && is_skipped(stem) {
            return Named::Skipped;
        }
        match three_parts(stem).filter(|start| known.contains(*start)) {
            Some(start) => Named::Id(start.to_owned()),
            None => with_suffix(folder, stem, &options.prediction_suffix),
        }
    })?;
    joined(references_found, found, options)
}

/// What Cityscapes' references of label ids end with.
const CITYSCAPES: &str = "_gtFine_labelIds";

/// Whether a file of Cityscapes is another picture of the same image.
fn is_skipped(stem: &str) -> bool {
    let ends = ["_color", "_instanceIds", "_labelTrainIds"];
    ends.iter().any(|end| stem.ends_with(end))
}

/// The first three parts of the name of an image of Cityscapes.
fn three_parts(stem: &str) -> Option<&str> {
    let (end, _) = stem.match_indices('_').nth(2).unwrap_or((stem.len(), ""));
    (stem.matches('_').count() >= 2).then(|| &stem[..end])
}

/// The id of a file in a folder, if its name has the suffix.
fn with_suffix(folder: &str, stem: &str, suffix: &str) -> Named {
    match stem.strip_suffix(suffix) {
        Some(start) => Named::Id(format!("{folder}{start}")),
        None => Named::Other,
    }
}

/// What the name of a file says.
enum Named {
    Id(String),
    Other,
    Skipped,
}

/// The id of a file by the folder that it is in, which ends with a slash or is empty, and by its name without the extension.
type Name<'n> = dyn FnMut(&str, &str) -> Named + 'n;

/// The files of a folder.
struct Listed {
    name: String,
    files: BTreeMap<String, PathBuf>,
    others: u64,
    /// The folders that were listed, for links that lead back.
    folders: BTreeSet<PathBuf>,
}

impl Listed {
    fn new(path: &Path) -> Self {
        Self {
            name: name_text(path.as_os_str()).into_owned(),
            files: BTreeMap::new(),
            others: 0,
            folders: BTreeSet::new(),
        }
    }

    /// Adds the files of a folder, whose path in the whole one is `within`.
    fn add(&mut self, folder: &Path, within: &str, name: &mut Name<'_>) -> Result<(), ReadError> {
        let failed = |path: &Path, error: &io::Error| {
            let name = name_text(path.as_os_str());
            ReadError::new(name, format!("cannot be listed: {error}"))
        };
        let real = fs::canonicalize(folder).map_err(|error| failed(folder, &error))?;
        if !self.folders.insert(real) {
            return Ok(());
        }
        for entry in fs::read_dir(folder).map_err(|error| failed(folder, &error))? {
            let entry = entry.map_err(|error| failed(folder, &error))?;
            let (path, base) = (entry.path(), entry.file_name());
            let base = name_text(&base);
            if base.starts_with('.') {
                continue;
            }
            if path.is_dir() {
                self.add(&path, &format!("{within}{base}/"), name)?;
                continue;
            }
            let id = match base.rsplit_once('.') {
                Some((stem, extension)) if is_map(extension) => name(within, stem),
                _ => Named::Other,
            };
            match id {
                Named::Id(id) => self.insert(id, path)?,
                Named::Other => self.others += 1,
                Named::Skipped => {}
            }
        }
        Ok(())
    }

    fn insert(&mut self, id: String, path: PathBuf) -> Result<(), ReadError> {
        let Some(other) = self.files.get(&id) else {
            self.files.insert(id, path);
            return Ok(());
        };
        // Folders are listed in any order.
        let (first, second) = if *other < path {
            (other, &path)
        } else {
            (&path, other)
        };
        let problem = format!(
            "is the same image as {}: expected one file for the id {id:?}",
            name_text(first.as_os_str())
        );
        Err(ReadError::new(name_text(second.as_os_str()), problem))
    }
}

/// Whether files with this extension are read.
fn is_map(extension: &str) -> bool {
    ["png", "npy"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

/// Joins the files of both sides.
fn joined(
    references: Listed,
    mut predictions: Listed,
    options: &FolderOptions,
) -> Result<JoinedFolders, FolderError> {
    let holds = |id: &String| options.shard.is_none_or(|shard| shard.holds(id));
    let mut joined = JoinedFolders {
        others: references.others + predictions.others,
        ..JoinedFolders::default()
    };
    let mut missing = Vec::new();
    for (id, reference) in references.files {
        let prediction = predictions.files.remove(&id);
        if !holds(&id) {
            continue;
        }
        if prediction.is_none() {
            missing.push(id.clone());
        }
        joined.images.push(ImageFiles {
            id,
            reference,
            prediction,
        });
    }
    let extra: Vec<String> = predictions.files.into_keys().filter(holds).collect();
    joined.extra = extra.len() as u64;
    let unmatched = |ids: &[String], source: &str, other: &str| Unmatched {
        source: source.to_owned(),
        other: other.to_owned(),
        count: ids.len() as u64,
        ids: ids.iter().take(NAMED_IDS).cloned().collect(),
        are_lines: false,
    };
    let [of_references, of_predictions] = [&*references.name, &*predictions.name];
    let missing = (!missing.is_empty() && options.join.missing == Missing::Error)
        .then(|| unmatched(&missing, of_references, of_predictions));
    let extra = (!extra.is_empty() && !options.join.ignore_extra)
        .then(|| unmatched(&extra, of_predictions, of_references));
    match (missing, extra) {
        (None, None) => Ok(joined),
        (Some(missing), None) => Err(JoinError::Missing(missing).into()),
        (None, Some(extra)) => Err(JoinError::Extra(extra).into()),
        (Some(missing), Some(extra)) => Err(JoinError::MissingAndExtra(missing, extra).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "").expect("a file");
        }
        folder
    }

    fn ids(references: &[&str], predictions: &[&str], options: &FolderOptions) -> Vec<String> {
        let (references, predictions) = (folder(references), folder(predictions));
        let joined = join_folders(references.path(), predictions.path(), options);
        let joined = joined.expect("folders that join");
        joined.images.into_iter().map(|image| image.id).collect()
    }

    #[test]
    fn files_are_joined_by_their_path() {
        let plain = FolderOptions::default();
        assert_eq!(
            ids(
                &["a/x.png", "b.npy", ".hidden"],
                &["a/x.npy", "b.png", "readme.txt"],
                &plain
            ),
            ["a/x", "b"]
        );
        let options = plain.with_reference_suffix("_gt".to_owned());
        assert_eq!(
            ids(&["a_gt.png", "a_color.png"], &["a.png"], &options),
            ["a"]
        );
        let options = FolderOptions::default().with_cityscapes(true);
        assert_eq!(
            ids(
                &[
                    "bonn/bonn_0_1_gtFine_labelIds.png",
                    "bonn/bonn_0_1_gtFine_color.png",
                    "x.png"
                ],
                &["bonn_0_1_leftImg8bit.png", "x.png"],
                &options
            ),
            ["bonn_0_1", "x"]
        );
    }

    #[test]
    fn images_without_a_counterpart_are_named() {
        let (references, predictions) = (folder(&["a.png", "b.png"]), folder(&["b.png", "c.png"]));
        let join =
            |options: &FolderOptions| join_folders(references.path(), predictions.path(), options);
        let Err(FolderError::Join(error)) = join(&FolderOptions::default()) else {
            panic!("expected an error");
        };
        let JoinError::MissingAndExtra(missing, extra) = *error else {
            panic!("expected both");
        };
        assert_eq!(
            (missing.ids, extra.ids),
            (vec!["a".to_owned()], vec!["c".to_owned()])
        );
        let policy = JoinPolicy {
            missing: Missing::Empty,
            ignore_extra: true,
            ..JoinPolicy::default()
        };
        let joined = join(&FolderOptions::default().with_join(policy)).expect("allowed");
        assert_eq!((joined.images.len(), joined.extra), (2, 1));
        assert_eq!(joined.images[0].prediction, None);
    }

    #[test]
    fn two_files_of_an_image_are_refused() {
        let (references, predictions) = (folder(&["a.png", "a.npy"]), folder(&["a.png"]));
        let error = join_folders(
            references.path(),
            predictions.path(),
            &FolderOptions::default(),
        );
        let Err(FolderError::Read(error)) = error else {
            panic!("expected an error");
        };
        assert!(
            error.to_string().contains("a.png: is the same image as"),
            "{error}"
        );
    }
}
