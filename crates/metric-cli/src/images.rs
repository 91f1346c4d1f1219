//! `--images`: pictures under the boxes of examples.

use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::{Component, Path, PathBuf};

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageReader, Limits};
use metric_report::{Boxes, Media};
use metric_run::registry::ShownExample;
use serde_json::Value;

use crate::error::Failure;

/// The longest side of an embedded picture.
const SIDE: u32 = 480;
/// The longest side of a picture that is read.
const LONGEST: u32 = 16_384;
/// The most memory that a decoder takes.
const MEMORY: u64 = 256 << 20;
/// The largest file that is read.
const LARGEST: u64 = 64 << 20;
/// The most bytes of an embedded picture, and of all of them.
const BYTES: [usize; 2] = [60_000, 1_200_000];
/// Qualities of JPEG, the first one that is small enough is taken.
const QUALITIES: [u8; 4] = [80, 60, 40, 20];

/// The pictures of a data set.
#[derive(Clone, Debug)]
pub(crate) struct Images {
    folder: PathBuf,
    /// The number of bytes that may still be embedded.
    left: usize,
}

impl Images {
    /// The pictures in a folder.
    pub(crate) fn new(folder: PathBuf) -> Result<Self, Failure> {
        if folder.is_dir() {
            Ok(Self {
                folder,
                left: BYTES[1],
            })
        } else {
            Err(Failure::Usage(format!(
                "--images {}: expected a folder of pictures",
                folder.display()
            )))
        }
    }

    /// Puts the picture of an example under its boxes. A picture that cannot be shown is a note.
    pub(crate) fn put_under(&mut self, boxes: &mut Boxes, example: &ShownExample) {
        let note = match self.picture(example) {
            Ok((bytes, size)) => {
                self.left = self.left.saturating_sub(bytes.len());
                boxes.picture = Some((bytes, Media::Jpeg));
                fit(boxes, size);
                return;
            }
            Err(note) => note,
        };
        boxes
            .caption
            .note
            .push_str(&format!(" No picture: {note}."));
    }

    fn picture(&self, example: &ShownExample) -> Result<(Vec<u8>, [f64; 2]), String> {
        let path = self.path(example)?;
        if self.left < BYTES[0] {
            return Err("the page would be too large".to_owned());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        embedded(&path).map_err(|problem| format!("{name}: {problem}"))
    }

    /// The file of an example: the one that its data name, or one that its id names.
    fn path(&self, example: &ShownExample) -> Result<PathBuf, String> {
        let fields = example.fields.as_ref();
        let named = fields.and_then(|fields| fields.get("file_name"));
        let named = named.and_then(Value::as_str).map(str::to_owned);
        let id = &example.id;
        // COCO's files are numbers of twelve digits.
        let stems = [id.clone(), format!("{id:0>12}")];
        let by_id = stems.iter().flat_map(|stem| {
            ["", ".jpg", ".jpeg", ".png", ".JPG", ".PNG"].map(|ending| format!("{stem}{ending}"))
        });
        for name in named.iter().cloned().chain(by_id) {
            // A name from a file must not lead out of the folder.
            let name = Path::new(&name);
            let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_));
            if !name.components().all(is_inside) {
                continue;
            }
            let whole = Some(self.folder.join(name));
            let last = name.file_name().map(|name| self.folder.join(name));
            if let Some(path) = whole.into_iter().chain(last).find(|path| path.is_file()) {
                return Ok(path);
            }
        }
        let name = named.unwrap_or_else(|| format!("{id}.jpg or .png"));
        Err(format!("{name} is not in the folder"))
    }
}

/// Takes over the size of the picture, in which the corners of the boxes are measured; those that are fractions
/// of it become pixels.
fn fit(boxes: &mut Boxes, size: [f64; 2]) {
    let corners = || boxes.boxes.iter().flat_map(|item| item.corners);
    if corners().all(|corner| corner <= 1.0) && corners().any(|corner| corner > 0.0) {
        for item in &mut boxes.boxes {
            let [wide, high] = size;
            let [left, top, right, bottom] = item.corners;
            item.corners = [left * wide, top * high, right * wide, bottom * high];
        }
    }
    boxes.size = size;
}

/// A picture as it is embedded, and its size before it was scaled.
fn embedded(path: &Path) -> Result<(Vec<u8>, [f64; 2]), String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let bytes = file.metadata().map_or(0, |data| data.len());
    if bytes > LARGEST {
        return Err(format!("{bytes} bytes: expected at most {LARGEST}"));
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST);
    limits.max_image_height = Some(LONGEST);
    limits.max_alloc = Some(MEMORY);
    let reader = ImageReader::new(BufReader::new(file)).with_guessed_format();
    let mut reader = reader.map_err(|error| error.to_string())?;
    reader.limits(limits);
    let picture = reader.decode().map_err(|error| error.to_string())?;
    let size = [picture.width(), picture.height()].map(f64::from);
    let scaled = if picture.width().max(picture.height()) > SIDE {
        picture.thumbnail(SIDE, SIDE)
    } else {
        picture
    };
    // JPEG has no transparency.
    let scaled = DynamicImage::ImageRgb8(scaled.into_rgb8());
    for quality in QUALITIES {
        let mut written = Cursor::new(Vec::new());
        let encoder = JpegEncoder::new_with_quality(&mut written, quality);
        scaled
            .write_with_encoder(encoder)
            .map_err(|error| error.to_string())?;
        let written = written.into_inner();
        if written.len() <= BYTES[0] {
            return Ok((written, size));
        }
    }
    Err("too large to be embedded".to_owned())
}

#[cfg(test)]
mod tests {
    use image::RgbImage;
    use metric_report::LabeledBox;

    use super::*;

    fn example(id: &str, file_name: Option<&str>) -> ShownExample {
        ShownExample {
            id: id.to_owned(),
            fields: file_name.map(|name| serde_json::json!({"file_name": name})),
            ..ShownExample::default()
        }
    }

    #[test]
    fn pictures_are_found_by_name_and_id_and_only_in_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("in");
        std::fs::create_dir_all(inner.join("val")).unwrap();
        for name in [
            "outside.png",
            "in/val/a.png",
            "in/000000000007.jpg",
            "in/b.png",
        ] {
            RgbImage::new(3, 2).save(folder.path().join(name)).unwrap();
        }
        let images = Images::new(inner).unwrap();
        let found = |id: &str, name| {
            let path = images.path(&example(id, name)).ok()?;
            Some(path.file_name()?.to_string_lossy().into_owned())
        };
        assert_eq!(found("1", Some("val/a.png")).as_deref(), Some("a.png"));
        assert_eq!(found("1", Some("train/b.png")).as_deref(), Some("b.png"));
        assert_eq!(found("7", None).as_deref(), Some("000000000007.jpg"));
        assert_eq!(found("b", Some("missing.png")).as_deref(), Some("b.png"));
        for name in ["../outside.png", "/etc/passwd", "..", ""] {
            assert_eq!(found("x", Some(name)), None, "{name}");
        }
        assert_eq!(found("../outside", None), None);
        assert!(Images::new(folder.path().join("outside.png")).is_err());
    }

    #[test]
    fn pictures_are_scaled_and_small() {
        let folder = tempfile::tempdir().unwrap();
        let noise = |x: u32, y: u32| {
            let mixed = (x * 7919 + y * 104_729).wrapping_mul(2_654_435_761);
            image::Rgb([0, 8, 16].map(|shift| (mixed >> shift) as u8))
        };
        let path = folder.path().join("1.png");
        RgbImage::from_fn(1000, 500, noise).save(&path).unwrap();
        let (bytes, size) = embedded(&path).unwrap();
        assert_eq!(size, [1000.0, 500.0]);
        assert!(bytes.len() <= BYTES[0], "{}", bytes.len());
        let read = image::load_from_memory(&bytes).unwrap();
        assert_eq!((read.width(), read.height()), (480, 240));

        let mut images = Images::new(folder.path().to_owned()).unwrap();
        let mut boxes = Boxes {
            boxes: vec![LabeledBox {
                corners: [0.5, 0.5, 1.0, 1.0],
                ..LabeledBox::default()
            }],
            ..Boxes::default()
        };
        images.put_under(&mut boxes, &example("1", None));
        assert_eq!(boxes.boxes[0].corners, [500.0, 250.0, 1000.0, 500.0]);
        assert_eq!(boxes.size, size);
    }

    #[test]
    fn what_cannot_be_shown_is_a_note() {
        let folder = tempfile::tempdir().unwrap();
        let put =
            |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        put("text.png", b"no picture");
        put("empty.jpg", b"");
        // The head of a picture of 2^31 x 2^31 pixels.
        let mut bomb = Cursor::new(Vec::new());
        RgbImage::new(1, 1)
            .write_to(&mut bomb, image::ImageFormat::Png)
            .unwrap();
        let mut bomb = bomb.into_inner();
        bomb[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        put("bomb.png", &bomb);
        // 20,000 x 1 pixels take little memory, but the picture is too wide.
        RgbImage::new(20_000, 1)
            .save(folder.path().join("wide.png"))
            .unwrap();
        let mut images = Images::new(folder.path().to_owned()).unwrap();
        for id in ["text", "empty", "bomb", "wide", "missing"] {
            let mut boxes = Boxes::default();
            images.put_under(&mut boxes, &example(id, None));
            assert!(boxes.picture.is_none(), "{id}");
            assert!(boxes.caption.note.contains("No picture: "), "{id}");
        }
        images.left = 0;
        RgbImage::new(2, 2)
            .save(folder.path().join("good.png"))
            .unwrap();
        let mut boxes = Boxes::default();
        images.put_under(&mut boxes, &example("good", None));
        assert!(boxes.caption.note.contains("the page would be too large"));
    }
}
