//! Data sets of pictures, as their descriptions and folders lay them out.

use std::path::{Path, PathBuf};

use metric_record::{FileReader, Message, name_text};

use super::line::PoseForm;
use super::names::{class_names, names_in_yaml, parse};
use super::pictures::{Picture, add_pictures, is_picture, pictures};
use super::yaml::Yaml;
use super::{DATA, LABELS, labels_of, names_above};
use crate::Class;
use crate::read::folder::{self, FolderFile as _, unreadable};
use crate::read::{File, ReadError};

/// The description of a data set of darknet, and of CVAT.
const OBJ_DATA: &str = "obj.data";

/// The folder of the pictures of a data set.
const IMAGES: &str = "images";

/// A data set: its pictures, with or without files of labels.
#[derive(Debug)]
pub(super) struct DataSet {
    /// What names it in messages.
    pub(super) name: String,
    /// The classes, if they are listed.
    pub(super) names: Option<Vec<Class>>,
    pub(super) pose: Option<PoseForm>,
    /// The tolerances of the points of poses.
    pub(super) sigmas: Option<Vec<f64>>,
    /// In the order of their paths.
    pub(super) pictures: Vec<Picture>,
    /// Whether a description lists the pictures, which then are to be readable.
    pub(super) is_described: bool,
}

/// Whether a path may be that of a data set of pictures: its description, or a folder with one or with pictures.
pub(in crate::read) fn has_pictures(path: &Path) -> bool {
    let mut files = FileReader::new(metric_record::DEFAULT_MAX_BYTES);
    path.is_file() || !matches!(DataSet::find(path, None, &mut files), Ok(None))
}

impl DataSet {
    /// The data set at a path; `None` if it is a folder of label files.
    pub(super) fn find(
        path: &Path,
        split: Option<&str>,
        files: &mut FileReader,
    ) -> Result<Option<Self>, ReadError> {
        if path.is_file() {
            return Self::described(path, split, files)?
                .with_pictures(path)
                .map(Some);
        }
        let description = [DATA, OBJ_DATA].map(|name| path.join(name));
        if let Some(description) = description.iter().find(|path| path.is_file()) {
            let labels = labels_of(path);
            return match Self::described(description, split, files) {
                // It names the classes of the label files.
                Ok(set)
                    if set.pictures.is_empty()
                        && split.is_none()
                        && (labels != *path || has_labels(&labels)) =>
                {
                    Ok(None)
                }
                Ok(set) => set.with_pictures(description).map(Some),
                Err(_) if split.is_none() && has_labels(&labels) => Ok(None),
                Err(error) => Err(error),
            };
        }
        let (images, labels) = (path.join(IMAGES), path.join(LABELS));
        if !(images.is_dir() && labels.is_dir()) {
            return Ok(None);
        }
        let of_split = split.map(|split| images.join(split));
        let mut paths = Vec::new();
        add_pictures(
            of_split
                .filter(|path| path.is_dir())
                .as_ref()
                .unwrap_or(&images),
            &mut paths,
        )?;
        if paths.is_empty() {
            return Ok(None);
        }
        let of_names = names_above(&labels, files)?;
        let of_names = of_names.as_ref().map(|(name, text)| File { name, text });
        Ok(Some(Self {
            name: name_text(path.as_os_str()).into_owned(),
            names: of_names.as_ref().map(class_names).transpose()?,
            pose: of_names.as_ref().map(pose_in).transpose()?.flatten(),
            sigmas: None,
            pictures: pictures(paths)?,
            is_described: false,
        }))
    }

    /// The data set that a file describes.
    fn described(
        path: &Path,
        split: Option<&str>,
        files: &mut FileReader,
    ) -> Result<Self, ReadError> {
        let (name, text) = files.read(path)?;
        let file = File {
            name: &name,
            text: &text,
        };
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        let is_data = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("data"));
        if is_data {
            of_obj_data(file, folder, split, files)
        } else {
            of_yaml(file, folder, split, files)
        }
    }

    /// Refuses a description that leads to no picture.
    fn with_pictures(self, description: &Path) -> Result<Self, ReadError> {
        if self.pictures.is_empty() {
            let name = name_text(description.as_os_str());
            return Err(ReadError::new(name, "leads to no picture, expected one"));
        }
        Ok(self)
    }
}

/// Whether a folder has files of labels.
fn has_labels(folder: &Path) -> bool {
    folder::has_files(folder, super::TEXT)
}

/// The error of a split that a description does not have.
fn no_split(file: &File<'_>, split: &str, present: &[&str]) -> ReadError {
    let present = match present {
        [] => "none".to_owned(),
        present => present.join(", "),
    };
    let problem = Message::from(format!("found no {split}, expected the pictures of "))
        .option("split", split)
        .text(format_args!("; there are: {present}"));
    ReadError::new(file.name, problem)
}

/// The data set of Ultralytics' `data.yaml`.
fn of_yaml(
    file: File<'_>,
    folder: &Path,
    split: Option<&str>,
    files: &mut FileReader,
) -> Result<DataSet, ReadError> {
    let yaml = parse(&file)?;
    let refused = |field: &str, problem: String| file.error("", field, problem);
    let names = names_in_yaml(&yaml).map_err(|problem| refused("names", problem))?;
    let root = root_of(&yaml, folder).map_err(|problem| refused("path", problem))?;
    let split = split.unwrap_or("val");
    let other = if split == "val" { "validation" } else { split };
    let Some(value) = yaml.get(split).or_else(|| yaml.get(other)) else {
        let known = ["train", "val", "validation", "test"];
        let present = known.into_iter().filter(|key| yaml.get(key).is_some());
        return Err(no_split(&file, split, &present.collect::<Vec<_>>()));
    };
    let mut paths = Vec::new();
    for entry in &*value.list() {
        let refused = |problem| refused(split, problem);
        let entry = entry.text().filter(|entry| !entry.is_empty());
        let entry =
            entry.ok_or_else(|| refused("expected a folder or a list of pictures".into()))?;
        let found = existing(&root, entry).map_err(refused)?;
        if found.is_dir() {
            add_pictures(&found, &mut paths)?;
        } else if is_picture(&found) {
            paths.push(found);
        } else {
            add_listed(&found, &mut paths, files, &[])?;
        }
    }
    Ok(DataSet {
        name: file.name.to_owned(),
        names: Some(names),
        pose: pose_form(&yaml).map_err(|problem| refused("kpt_shape", problem))?,
        sigmas: sigmas(&yaml).map_err(|problem| refused("kpt_oks_sigmas", problem))?,
        pictures: pictures(paths)?,
        is_described: true,
    })
}

/// The folder from which the paths of a description count.
fn root_of(yaml: &Yaml, folder: &Path) -> Result<PathBuf, String> {
    let Some(path) = yaml.get("path") else {
        return Ok(folder.to_owned());
    };
    let path = path.text().ok_or("expected a folder")?;
    let (of_file, of_program) = (folder.join(path), PathBuf::from(path));
    if let Some(found) = [&of_file, &of_program]
        .into_iter()
        .find(|path| path.is_dir())
    {
        return Ok(found.clone());
    }
    let found = [of_file, of_program].map(|path| name_text(path.as_os_str()).into_owned());
    Err(match found {
        [one, other] if one == other => format!("found no folder {one}, expected one"),
        [one, other] => format!("found neither a folder {one} nor {other}, expected one of them"),
    })
}

/// What is at a path below a root. Roboflow writes `../valid/images` for folders that are next to its description.
fn existing(root: &Path, entry: &str) -> Result<PathBuf, String> {
    let path = root.join(entry);
    if path.exists() {
        return Ok(path);
    }
    let name = name_text(path.as_os_str()).into_owned();
    let Some(rest) = entry.strip_prefix("../") else {
        return Err(format!("found nothing at {name}, expected pictures"));
    };
    let next = root.join(rest);
    if next.exists() {
        return Ok(next);
    }
    let next = name_text(next.as_os_str());
    Err(format!(
        "found nothing at {name} or {next}, expected pictures"
    ))
}

/// Adds the pictures that a text lists, one a line. Their paths count from the folder of the list, or from the working
/// directory; a prefix may stand for the folder.
fn add_listed(
    list: &Path,
    paths: &mut Vec<PathBuf>,
    files: &mut FileReader,
    prefixes: &[&str],
) -> Result<(), ReadError> {
    let (_, text) = files.read(list)?;
    let folder = list.parent().unwrap_or_else(|| Path::new(""));
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    for line in text.lines().map(str::trim) {
        if line.is_empty() || !is_picture(Path::new(line)) {
            continue;
        }
        let bare = prefixes.iter().find_map(|prefix| line.strip_prefix(prefix));
        let below = folder.join(line.strip_prefix("./").unwrap_or(line));
        let working = (!line.starts_with("./")).then(|| PathBuf::from(line));
        let bare = bare.map(|bare| folder.join(bare));
        let all = working.into_iter().chain([below]).chain(bare);
        let all: Vec<PathBuf> = all.collect();
        // A picture that is missing may have labels all the same.
        let found = all.iter().find(|path| path.is_file()).or(all.last());
        paths.extend(found.cloned());
    }
    Ok(())
}

/// The points of a pose.
fn pose_form(yaml: &Yaml) -> Result<Option<PoseForm>, String> {
    const MOST_POINTS: f64 = 10_000.0;
    let Some(value) = yaml.get("kpt_shape") else {
        return Ok(None);
    };
    let numbers = value.numbers();
    match numbers.as_deref() {
        Some(&[points, numbers])
            if points.fract() == 0.0
                && (1.0..=MOST_POINTS).contains(&points)
                && [2.0, 3.0].contains(&numbers) =>
        {
            Ok(Some(PoseForm {
                points: points as usize,
                numbers: numbers as usize,
            }))
        }
        _ => Err("expected the number of points and that of their numbers, 2 or 3".to_owned()),
    }
}

/// The tolerances of the points of poses.
fn sigmas(yaml: &Yaml) -> Result<Option<Vec<f64>>, String> {
    let value = yaml.get("kpt_oks_sigmas");
    let numbers = value.map(|value| value.numbers().ok_or("expected a list of numbers"));
    Ok(numbers.transpose()?)
}

/// The points of poses that the description in a folder of labels or above gives.
pub(super) fn pose_in(description: &File<'_>) -> Result<Option<PoseForm>, ReadError> {
    if description.base() != DATA {
        return Ok(None);
    }
    let yaml = parse(description)?;
    pose_form(&yaml).map_err(|problem| description.error("", "kpt_shape", problem))
}

/// The data set of darknet's `obj.data`, as CVAT writes it.
fn of_obj_data(
    file: File<'_>,
    folder: &Path,
    split: Option<&str>,
    files: &mut FileReader,
) -> Result<DataSet, ReadError> {
    /// What stands for the folder of the description.
    const PREFIX: &str = "data/";
    let entries = file
        .content()
        .lines()
        .filter_map(|line| line.split_once('='));
    let entries: Vec<(&str, &str)> = entries
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect();
    let get = |key: &str| {
        let mut found = entries.iter().filter(|(found, _)| *found == key);
        found
            .next()
            .map(|(_, value)| *value)
            .filter(|value| !value.is_empty())
    };
    let at = |key: &str, value: &str| {
        let bare = value.strip_prefix(PREFIX).unwrap_or(value);
        let found = [folder.join(value), folder.join(bare), PathBuf::from(value)];
        let found = found.into_iter().find(|path| path.is_file());
        found.ok_or_else(|| file.error("", key, format!("found no file {value:?}, expected one")))
    };
    let names = get("names").ok_or_else(|| {
        file.error(
            "",
            "names",
            "missing: expected a file of names of classes".to_owned(),
        )
    })?;
    let (name, text) = files.read(&at("names", names)?)?;
    let names = class_names(&File {
        name: &name,
        text: &text,
    })?;
    let (key, list) = match split.unwrap_or("val") {
        "val" => get("valid")
            .map(|list| ("valid", list))
            .or_else(|| Some(("train", get("train")?))),
        other => get(other).map(|list| (other, list)),
    }
    .ok_or_else(|| {
        let present: Vec<&str> = ["train", "valid", "test"]
            .into_iter()
            .filter(|key| get(key).is_some())
            .collect();
        no_split(&file, split.unwrap_or("val"), &present)
    })?;
    let list = at(key, list)?;
    if list.is_dir() {
        return Err(unreadable(&list, &std::io::ErrorKind::IsADirectory.into()));
    }
    let mut paths = Vec::new();
    add_listed(&list, &mut paths, files, &[PREFIX])?;
    Ok(DataSet {
        name: file.name.to_owned(),
        names: Some(names),
        pose: None,
        sigmas: None,
        pictures: pictures(paths)?,
        is_described: true,
    })
}
