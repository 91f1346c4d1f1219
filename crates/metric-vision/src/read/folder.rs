use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use metric_core::named_choice;
use metric_record::{DEFAULT_MAX_BYTES, File, FileReader, ReadError, Shard, name_text};

use super::{Warning, Warnings};
use crate::{Annotation, BBox, Class, Dataset, Image, Key, Prediction, Shape};

/// A file, treated as part of a folder.
pub(super) trait FolderFile<'a>: Copy {
    /// The name without folders.
    fn base(&self) -> &'a str;

    /// The name without folders and extension.
    fn stem(&self) -> &'a str;

    /// The lines that are not blank.
    fn lines(self) -> impl Iterator<Item = Line<'a>>;

    fn error(&self, record: &str, field: &str, problem: String) -> ReadError;
}

impl<'a> FolderFile<'a> for File<'a> {
    fn base(&self) -> &'a str {
        let base = Path::new(self.name).file_name();
        base.and_then(|base| base.to_str()).unwrap_or_default()
    }

    fn stem(&self) -> &'a str {
        let stem = Path::new(self.name).file_stem();
        stem.and_then(|stem| stem.to_str()).unwrap_or_default()
    }

    fn lines(self) -> impl Iterator<Item = Line<'a>> {
        let lines = self.content().lines().enumerate();
        let lines = lines.map(move |(position, line)| Line {
            file: self,
            position,
            words: line.split_whitespace().collect(),
        });
        lines.filter(|line| !line.words.is_empty())
    }

    fn error(&self, record: &str, field: &str, problem: String) -> ReadError {
        ReadError::new(self.name, problem).at(record).field(field)
    }
}

/// A line that is not blank.
pub(super) struct Line<'a> {
    file: File<'a>,
    position: usize,
    pub(super) words: Vec<&'a str>,
}

impl Line<'_> {
    /// The position of the line in the file, counted from 0.
    pub(super) fn position(&self) -> u32 {
        // Files have at most 2^30 bytes, so the position fits.
        u32::try_from(self.position).unwrap_or(u32::MAX)
    }

    pub(super) fn error(&self, field: &str, problem: String) -> ReadError {
        let error = self.file.error("", field, problem);
        error.line(self.position as u64 + 1)
    }

    /// The words as finite numbers, under these names.
    pub(super) fn numbers<const N: usize>(
        &self,
        fields: [&str; N],
        words: [&str; N],
    ) -> Result<[f64; N], ReadError> {
        let mut numbers = [0.0; N];
        for ((number, field), word) in numbers.iter_mut().zip(fields).zip(words) {
            *number = finite(word).map_err(|problem| self.error(field, problem))?;
        }
        Ok(numbers)
    }
}

/// The finite number that a word stands for, or the error in it.
pub(super) fn finite(word: &str) -> Result<f64, String> {
    let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("found {word:?}, expected a finite number"))
}

/// What to do with predictions for an image that is not in the ground truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExtraImages {
    /// An error.
    #[default]
    Error,
    /// Leave them out, with [`Warning::UnknownImage`] for each.
    Ignore,
    /// Treat the image as one without objects, as Ultralytics treats an image without a label file: all detections in
    /// it are wrong.
    Empty,
}

impl ExtraImages {
    /// All choices.
    pub const ALL: &[Self] = &[Self::Error, Self::Ignore, Self::Empty];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Ignore => "ignore",
            Self::Empty => "empty",
        }
    }
}

named_choice!(ExtraImages, "rule for extra images");

/// The part of a file that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The text.
    All,
    /// The text if it can be read, else an empty one: the shard that holds the image reports why.
    Readable,
    /// The name, with an empty text.
    Name,
}

/// Whether a shard holds an image.
pub(super) fn is_held(shard: Option<Shard>, image: &str) -> bool {
    shard.is_none_or(|shard| shard.holds(image))
}

/// The files of a folder as they were read: names with their texts.
pub(super) struct Folder(Vec<(String, String)>);

impl Folder {
    /// Reads the files whose extension is this one (in any case) or whose name is one of `others`.
    /// Hidden files and folders are left out. What is read of a file depends on its name without the
    /// extension.
    pub(super) fn read(
        path: &Path,
        extension: &str,
        others: &[&str],
        max_bytes: Option<u64>,
        part: impl Fn(&str) -> Part,
    ) -> Result<Self, ReadError> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(path).map_err(|error| unreadable(path, &error))? {
            let entry = entry.map_err(|error| unreadable(path, &error))?;
            let (path, name) = (entry.path(), entry.file_name());
            let hidden = name.as_encoded_bytes().starts_with(b".");
            let found = path.extension();
            let wanted = found.is_some_and(|found| found.eq_ignore_ascii_case(extension))
                || others.iter().any(|other| name == *other);
            let kind = entry
                .file_type()
                .map_err(|error| unreadable(&path, &error))?;
            if wanted && !hidden && !kind.is_dir() {
                paths.push(path);
            }
        }
        // Which error is found first does not depend on the order of the folder.
        paths.sort();
        let mut reader = FileReader::new(max_bytes.unwrap_or(DEFAULT_MAX_BYTES));
        let read = |path: &PathBuf| {
            let [name, stem] = [path.file_name(), path.file_stem()].map(Option::unwrap_or_default);
            let part = if others.iter().any(|other| name == *other) {
                Part::All
            } else {
                part(&name_text(stem))
            };
            let empty = || (name_text(path.as_os_str()).into_owned(), String::new());
            match part {
                Part::All => reader.read(path),
                Part::Readable => match reader.read(path) {
                    Err(error) if !error.is_limit => Ok(empty()),
                    read => read,
                },
                Part::Name => Ok(empty()),
            }
        };
        paths.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Refuses a folder that has no file of this extension other than `others`: it is the wrong folder.
    pub(super) fn with_some(
        self,
        path: &Path,
        what: &str,
        extension: &str,
        others: &[&str],
    ) -> Result<Self, ReadError> {
        let is_of_item = |file: &File<'_>| !others.contains(&file.base());
        if self.files().iter().any(is_of_item) {
            return Ok(self);
        }
        let problem = match subfolders(path).as_slice() {
            [] => format!("found no {what}, expected files *.{extension}"),
            folders => format!(
                "found no {what}, expected files *.{extension}, or one of its folders: {}{}",
                folders[..folders.len().min(5)].join(", "),
                if folders.len() > 5 { ", ..." } else { "" }
            ),
        };
        Err(ReadError::new(path.to_string_lossy(), problem))
    }

    pub(super) fn files(&self) -> Vec<File<'_>> {
        self.0
            .iter()
            .map(|(name, text)| File { name, text })
            .collect()
    }
}

/// The names of the folders in a folder, in order, except those that are hidden.
pub(super) fn subfolders(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let names = folders.map(|entry| name_text(&entry.file_name()).into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

/// Whether a folder holds files of this extension.
pub(super) fn has_files(path: &Path, extension: &str) -> bool {
    let mut entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.any(|entry| {
        let path = entry.path();
        let found = path.extension();
        found.is_some_and(|found| found.eq_ignore_ascii_case(extension)) && path.is_file()
    })
}

pub(super) fn unreadable(path: &Path, why: &io::Error) -> ReadError {
    ReadError::new(path.to_string_lossy(), format!("cannot be read: {why}"))
}

/// The files by what they are named after.
pub(super) fn by_name<'a>(
    files: impl IntoIterator<Item = File<'a>>,
    name: impl Fn(&File<'a>) -> &'a str,
) -> Result<BTreeMap<&'a str, File<'a>>, ReadError> {
    let mut named = BTreeMap::new();
    for file in files {
        let key = name(&file);
        if let Some(other) = named.insert(key, file) {
            let problem = format!(
                "found a second file of {key:?}, expected only {}",
                other.name
            );
            return Err(file.error("", "", problem));
        }
    }
    Ok(named)
}

/// A true object, before its class has a position.
#[derive(Debug, PartialEq)]
pub(super) struct Object<S = BBox> {
    pub(super) class: Key,
    pub(super) ignore: bool,
    pub(super) shape: S,
}

/// A detection, before its image and class have positions.
pub(super) struct Detected<'a, S = BBox> {
    pub(super) image: &'a str,
    /// The position in the file, where it matters across images.
    pub(super) position: u32,
    pub(super) class: Key,
    pub(super) score: f64,
    pub(super) shape: S,
}

/// The content of other shards, as far as the classes of the whole data set depend on it.
#[derive(Default)]
pub(super) struct Elsewhere<'a> {
    /// The images of other shards that have a truth file.
    pub(super) images: BTreeSet<&'a str>,
    /// The classes that occur in other shards.
    pub(super) classes: BTreeSet<Key>,
}

/// The records read so far.
pub(super) struct Contents<'a, S = BBox> {
    extra: ExtraImages,
    shard: Option<Shard>,
    images: BTreeMap<&'a str, Vec<Object<S>>>,
    elsewhere: Elsewhere<'a>,
    detected: Vec<Detected<'a, S>>,
    warnings: Warnings,
}

impl<'a, S: Shape + Clone> Contents<'a, S> {
    pub(super) fn new(
        extra: ExtraImages,
        shard: Option<Shard>,
        images: BTreeMap<&'a str, Vec<Object<S>>>,
        elsewhere: Elsewhere<'a>,
    ) -> Self {
        Self {
            extra,
            shard,
            images,
            elsewhere,
            detected: Vec::new(),
            warnings: Warnings::new(),
        }
    }

    /// Whether detections in an image count. It may be one that no truth names.
    pub(super) fn counts(
        &mut self,
        image: &'a str,
        error: impl FnOnce(String) -> ReadError,
    ) -> Result<bool, ReadError> {
        match self.extra {
            _ if self.images.contains_key(image) => {}
            ExtraImages::Ignore => return Ok(false),
            ExtraImages::Empty => {
                self.images.insert(image, Vec::new());
            }
            ExtraImages::Error => {
                return Err(error(format!(
                    "found {image:?}, expected an image that has a truth file"
                )));
            }
        }
        Ok(true)
    }

    /// Whether an image belongs to another shard.
    pub(super) fn is_elsewhere(&self, image: &str) -> bool {
        !is_held(self.shard, image)
    }

    /// Notes a detection in an image of another shard: if it counts there, its class is one of the
    /// whole data set.
    pub(super) fn detect_elsewhere(&mut self, image: &str, class: &Key) {
        let counts = self.extra == ExtraImages::Empty || self.elsewhere.images.contains(image);
        if counts && !self.elsewhere.classes.contains(class) {
            self.elsewhere.classes.insert(class.clone());
        }
    }

    pub(super) fn warn(&mut self, warning: Warning) {
        *self.warnings.entry(warning).or_default() += 1;
    }

    pub(super) fn detect(&mut self, detected: Detected<'a, S>) {
        self.detected.push(detected);
    }

    /// The data set over these classes, or over those that occur.
    pub(super) fn dataset(
        self,
        classes: Option<Vec<Class>>,
    ) -> Result<(Dataset<S>, Warnings), ReadError> {
        let classes = classes.unwrap_or_else(|| {
            let true_classes = self.images.values().flatten().map(|object| &object.class);
            let detected = self.detected.iter().map(|detected| &detected.class);
            // Few keys, many times: to collect them would sort them all.
            let mut keys: BTreeSet<&Key> = BTreeSet::new();
            keys.extend(true_classes.chain(detected));
            keys.extend(&self.elsewhere.classes);
            let class = |key: &Key| Class::new(key.clone(), key.to_string());
            keys.into_iter().map(class).collect()
        });
        // A position that no u32 can hold is one that no list has, which `Dataset::new` refuses.
        let position = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        let keys = classes.iter().enumerate();
        let classes_by_key: BTreeMap<&Key, u32> =
            keys.map(|(at, class)| (&class.key, position(at))).collect();
        let class = |key: &Key| classes_by_key.get(key).copied().unwrap_or(u32::MAX);
        let images_by_name: BTreeMap<&str, u32> = self
            .images
            .keys()
            .enumerate()
            .map(|(at, name)| (*name, position(at)))
            .collect();

        let predictions = self.detected.iter().map(|detected| Prediction {
            image: images_by_name
                .get(detected.image)
                .copied()
                .unwrap_or(u32::MAX),
            position: detected.position,
            class: class(&detected.class),
            score: detected.score,
            area: detected.shape.area(),
            shape: detected.shape.clone(),
        });
        let predictions = predictions.collect();
        let mut ids = 1..;
        let images = self.images.iter().map(|(name, objects)| {
            let annotations = objects.iter().zip(&mut ids).map(|(object, id)| Annotation {
                class: class(&object.class),
                crowd: false,
                ignore: object.ignore,
                id,
                area: object.shape.area(),
                shape: object.shape.clone(),
            });
            Image::new(Key::Text((*name).into()), annotations.collect())
        });
        let images = images.collect();
        drop(classes_by_key);
        let dataset = Dataset::placed(classes, images, predictions)
            .map_err(|error| ReadError::new("", error.to_string()))?;
        Ok((dataset, self.warnings))
    }
}
