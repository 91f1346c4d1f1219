//! The pictures of a data set, and their sizes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Seek as _};
use std::num::NonZeroU32;
use std::path::{Component, Path, PathBuf};

use imagesize::ImageType;
use metric_record::{Message, name_text};

use crate::parallel;
use crate::read::folder::unreadable;
use crate::read::{ImageSizes, ReadError};

/// The endings of pictures, in lower case.
const ENDINGS: [&str; 13] = [
    "avif", "bmp", "dng", "heic", "heif", "jp2", "jpeg", "jpg", "mpo", "png", "tif", "tiff", "webp",
];

/// A smaller picture is no picture for Ultralytics.
const SMALLEST: u32 = 10;

/// The depth of folders in which pictures are searched.
const DEEPEST: usize = 32;

/// A picture of a data set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Picture {
    pub(super) path: PathBuf,
    /// The folders below those of all pictures and its own name, joined by `_`.
    pub(super) id: String,
    /// The name of its file without the ending.
    pub(super) stem: String,
}

/// Whether a file is a picture by its ending.
pub(super) fn is_picture(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| {
        ENDINGS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(ending))
    })
}

impl Picture {
    /// The file of its labels: next to it, or in `labels` in place of the last folder `images`.
    pub(super) fn label(&self) -> PathBuf {
        let parts: Vec<Component<'_>> = self.path.components().collect();
        let folders = &parts[..parts.len().saturating_sub(1)];
        let images = folders
            .iter()
            .rposition(|part| part.as_os_str() == "images");
        let with_labels = |(index, part): (usize, &Component<'_>)| {
            if Some(index) == images {
                PathBuf::from("labels")
            } else {
                PathBuf::from(part.as_os_str())
            }
        };
        let path: PathBuf = parts.iter().enumerate().map(with_labels).collect();
        path.with_extension("txt")
    }

    /// The name of its file, for messages.
    pub(super) fn name(&self) -> String {
        name_text(self.path.as_os_str()).into_owned()
    }
}

/// Adds the pictures in a folder and in the folders in it.
pub(super) fn add_pictures(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    add_below(folder, paths, DEEPEST)
}

fn add_below(folder: &Path, paths: &mut Vec<PathBuf>, depth: usize) -> Result<(), ReadError> {
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let path = entry.path();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // Links are followed, so that a loop of them ends only with the depth.
        if is_hidden {
        } else if path.is_dir() {
            if depth == 0 {
                let problem = format!("found folders deeper than {DEEPEST}: expected pictures");
                return Err(ReadError::new(path.to_string_lossy(), problem));
            }
            add_below(&path, paths, depth - 1)?;
        } else if is_picture(&path) {
            paths.push(path);
        }
    }
    Ok(())
}

/// Pictures in the order of their paths, each with its id.
pub(super) fn pictures(mut paths: Vec<PathBuf>) -> Result<Vec<Picture>, ReadError> {
    // Without the parts that stand for the same folder.
    let plain = |path: &PathBuf| {
        let parts = path.components();
        parts.filter(|part| *part != Component::CurDir).collect()
    };
    paths = paths.iter().map(plain).collect();
    paths.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    let mut common: Vec<Component<'_>> = Vec::new();
    if let Some(first) = paths.first().and_then(|path| path.parent()) {
        common = first.components().collect();
    }
    for path in &paths {
        let same = common.iter().zip(path.components());
        let same = same.take_while(|(a, b)| *a == b).count();
        // The file itself is no folder of all.
        common.truncate(same.min(path.components().count().saturating_sub(1)));
    }
    let below = common.len();
    let picture = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default();
        let mut parts: Vec<_> = path.components().skip(below).collect();
        parts.pop();
        let parts = parts.iter().map(|part| part.as_os_str()).chain([stem]);
        let parts: Vec<_> = parts.map(|part| name_text(part).into_owned()).collect();
        Picture {
            path: path.clone(),
            id: parts.join("_"),
            stem: name_text(stem).into_owned(),
        }
    };
    let pictures: Vec<Picture> = paths.iter().map(picture).collect();
    let mut seen: BTreeMap<&str, &Picture> = BTreeMap::new();
    for picture in &pictures {
        if let Some(other) = seen.insert(&picture.id, picture) {
            let problem = format!(
                "is {:?}, and so is {}: expected pictures with names of their own",
                picture.id,
                other.name()
            );
            return Err(ReadError::new(picture.name(), problem));
        }
    }
    Ok(pictures)
}

/// Width and height of pictures: of their files, or else those that are given. Where pixels are not needed, a picture
/// may have none.
pub(super) fn sizes(
    pictures: &[&Picture],
    given: &ImageSizes,
    are_needed: bool,
) -> Result<Vec<Option<[NonZeroU32; 2]>>, ReadError> {
    let of_files = parallel::map(pictures.len(), |index| size_of_file(&pictures[index].path));
    let sizes = of_files.into_iter().zip(pictures).map(|(size, picture)| {
        let size = match (size, given.pixels(&picture.id)) {
            (Ok(size), _) => size,
            (Err(_), Some(given)) => return Ok(Some(given)),
            (Err(_), None) if !are_needed => return Ok(None),
            (Err(problem), None) => {
                let problem = Message::from(format!("{problem}: expected a picture, or "))
                    .option("image-size", "")
                    .text(", such as 640x480");
                return Err(ReadError::new(picture.name(), problem));
            }
        };
        let [width, height] = size.map(NonZeroU32::get);
        if are_needed && width.min(height) < SMALLEST {
            let problem = format!(
                "found a picture of {width}x{height} pixels, expected at least {SMALLEST} in both"
            );
            return Err(ReadError::new(picture.name(), problem));
        }
        Ok(Some(size))
    });
    sizes.collect()
}

/// Width and height from the first bytes of a picture, as it is shown.
fn size_of_file(path: &Path) -> Result<[NonZeroU32; 2], String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let no_size = |_| "its size cannot be read".to_owned();
    let kind = imagesize::reader_type(&mut file).map_err(no_size)?;
    let size = kind.reader_size(&mut file).map_err(no_size)?;
    let side = |pixels: usize| u32::try_from(pixels).ok().and_then(NonZeroU32::new);
    let sides = side(size.width).zip(side(size.height));
    let (width, height) = sides.ok_or("its size is none")?;
    let may_be_turned = matches!(kind, ImageType::Jpeg | ImageType::Tiff | ImageType::Webp);
    if may_be_turned && file.rewind().is_ok() && is_turned(&mut file) {
        return Ok([height, width]);
    }
    Ok([width, height])
}

/// Whether a picture is shown with its sides exchanged.
fn is_turned(file: &mut BufReader<File>) -> bool {
    let read = exif::Reader::new().read_from_container(file);
    let orientation = read.ok().and_then(|exif| {
        let field = exif.get_field(exif::Tag::Orientation, exif::In::PRIMARY)?;
        field.value.get_uint(0)
    });
    orientation.is_some_and(|orientation| (5..=8).contains(&orientation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(paths: &[&str]) -> Vec<String> {
        let paths = paths.iter().map(PathBuf::from).collect();
        let pictures = pictures(paths).expect("pictures");
        pictures.into_iter().map(|picture| picture.id).collect()
    }

    #[test]
    fn ids_by_hand() {
        assert_eq!(
            ids(&["d/./images/b/1.png", "d/images/a/1.png"]),
            ["a_1", "b_1"]
        );
        assert_eq!(ids(&["d/1.a.JPG"]), ["1.a"]);
        assert_eq!(ids(&["d/a/1.png", "d/2.png"]), ["2", "a_1"]);
        // In the order of paths, in which the folder comes first.
        assert_eq!(ids(&["d/a1/x.png", "d/a/x.png"]), ["a_x", "a1_x"]);
        let same = ["d/a/1.png", "d/a_1.png"].map(PathBuf::from).to_vec();
        let error = pictures(same).expect_err("two of one name").to_string();
        assert!(
            error.contains("d/a/1.png") && error.contains("d/a_1.png"),
            "{error}"
        );
    }

    #[test]
    fn labels_by_hand() {
        for (path, label) in [
            ("d/images/val/1.png", "d/labels/val/1.txt"),
            ("images/a/images/1.x.jpg", "images/a/labels/1.x.txt"),
            ("obj_train_data/1.png", "obj_train_data/1.txt"),
            ("images.png", "images.txt"),
        ] {
            let picture = Picture {
                path: path.into(),
                id: String::new(),
                stem: String::new(),
            };
            assert_eq!(picture.label(), PathBuf::from(label));
        }
    }
}
