//! `--images`: pictures under the boxes of examples.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Component, Path, PathBuf};

use jpeg_encoder::{ColorType, Encoder};
use metric_report::{Boxes, Media, ShownExample};
use serde_json::Value;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::error::Failure;

/// The longest side of an embedded picture.
const SIDE: usize = 480;
/// The longest side of a picture that is read.
const LONGEST: usize = 16_384;
/// The most bytes of a picture that is decoded.
const MEMORY: usize = 256 << 20;
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
    let mut bytes = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("expected at most {LARGEST} bytes"));
    }
    let picture = Pixels::read(&bytes)?;
    let size = [picture.width as f64, picture.height as f64];
    let picture = picture.scaled(SIDE);
    let side = |pixels: usize| u16::try_from(pixels).unwrap_or(u16::MAX);
    for quality in QUALITIES {
        let mut written = Vec::new();
        let (width, height) = (side(picture.width), side(picture.height));
        Encoder::new(&mut written, quality)
            .encode(&picture.rgb, width, height, ColorType::Rgb)
            .map_err(|error| error.to_string())?;
        if written.len() <= BYTES[0] {
            return Ok((written, size));
        }
    }
    Err("too large to be embedded".to_owned())
}

/// A picture: three bytes per pixel, row by row. JPEG has no transparency.
struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Pixels {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Self::read_png(bytes),
            [0xff, 0xd8, ..] => Self::read_jpeg(bytes),
            _ => Err("expected a PNG or JPEG file".to_owned()),
        }
    }

    fn read_png(bytes: &[u8]) -> Result<Self, String> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_limits(png::Limits { bytes: MEMORY });
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
        let info = reader.info();
        let (width, height) = (info.width as usize, info.height as usize);
        check(width, height, 4)?;
        let mut samples = vec![0; reader.output_buffer_size().unwrap_or(0)];
        let frame = reader.next_frame(&mut samples);
        let frame = frame.map_err(|error| error.to_string())?;
        let samples = samples[..frame.buffer_size()].iter().copied();
        let rgb = match frame.color_type.samples() {
            1 => samples.flat_map(|gray| [gray; 3]).collect(),
            2 => samples.step_by(2).flat_map(|gray| [gray; 3]).collect(),
            4 => {
                let colors = samples.enumerate().filter(|(index, _)| index % 4 < 3);
                colors.map(|(_, color)| color).collect()
            }
            _ => samples.collect(),
        };
        Ok(Self { width, height, rgb })
    }

    fn read_jpeg(bytes: &[u8]) -> Result<Self, String> {
        let options = DecoderOptions::default()
            .set_max_width(LONGEST)
            .set_max_height(LONGEST)
            .jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder
            .decode_headers()
            .map_err(|error| error.to_string())?;
        let (width, height) = decoder.dimensions().unwrap_or((0, 0));
        check(width, height, 3)?;
        let rgb = decoder.decode().map_err(|error| error.to_string())?;
        Ok(Self { width, height, rgb })
    }

    /// The picture with no side longer than `side`. A pixel is the mean of the pixels that it takes the place of.
    fn scaled(self, side: usize) -> Self {
        let longest = self.width.max(self.height);
        if longest <= side {
            return self;
        }
        let shrunk = |length: usize| (length * side / longest).max(1);
        let (width, height) = (shrunk(self.width), shrunk(self.height));
        let mut rgb = Vec::with_capacity(width * height * 3);
        for y in 0..height {
            let rows = y * self.height / height..(y + 1) * self.height / height;
            for x in 0..width {
                let columns = x * self.width / width..(x + 1) * self.width / width;
                let mut sums = [0_usize; 3];
                for row in rows.clone() {
                    let start = row * self.width;
                    let pixels = &self.rgb[(start + columns.start) * 3..(start + columns.end) * 3];
                    for pixel in pixels.chunks_exact(3) {
                        for (sum, &color) in sums.iter_mut().zip(pixel) {
                            *sum += usize::from(color);
                        }
                    }
                }
                let count = rows.len() * columns.len();
                rgb.extend(sums.map(|sum| (sum / count) as u8));
            }
        }
        Self { width, height, rgb }
    }
}

/// Whether a picture of this size is decoded.
fn check(width: usize, height: usize, bytes: usize) -> Result<(), String> {
    let is_fine = width.max(height) <= LONGEST && width * height <= MEMORY / bytes;
    let is_fine = is_fine && width.min(height) > 0;
    let problem = || format!("{width} x {height} pixels are too many");
    is_fine.then_some(()).ok_or_else(problem)
}

#[cfg(test)]
mod tests {
    use metric_report::LabeledBox;

    use super::*;

    fn example(id: &str, file_name: Option<&str>) -> ShownExample {
        ShownExample {
            id: id.to_owned(),
            fields: file_name.map(|name| serde_json::json!({"file_name": name})),
            ..ShownExample::default()
        }
    }

    /// A PNG file of RGB pixels.
    fn png_of(width: u32, height: u32, color: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let pixels: Vec<u8> = pixels.flat_map(|(x, y)| color(x, y)).collect();
        writer.write_image_data(&pixels).unwrap();
        writer.finish().unwrap();
        bytes
    }

    fn black(width: u32, height: u32) -> Vec<u8> {
        png_of(width, height, |_, _| [0; 3])
    }

    #[test]
    fn pixels_are_means_and_have_no_transparency() {
        let picture = Pixels::read(&png_of(4, 2, |x, _| [x as u8 * 10, 0, 200])).unwrap();
        assert_eq!(&picture.rgb[..6], [0, 0, 200, 10, 0, 200]);
        let scaled = picture.scaled(2);
        assert_eq!((scaled.width, scaled.height), (2, 1));
        assert_eq!(scaled.rgb, [5, 0, 200, 25, 0, 200]);
        for (color, samples, rgb) in [
            (png::ColorType::Grayscale, &[7, 9][..], [7, 7, 7, 9, 9, 9]),
            (
                png::ColorType::GrayscaleAlpha,
                &[7, 0, 9, 255],
                [7, 7, 7, 9, 9, 9],
            ),
            (
                png::ColorType::Rgba,
                &[1, 2, 3, 0, 4, 5, 6, 255],
                [1, 2, 3, 4, 5, 6],
            ),
        ] {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
            encoder.set_color(color);
            let mut writer = encoder.write_header().unwrap();
            writer.write_image_data(samples).unwrap();
            writer.finish().unwrap();
            assert_eq!(Pixels::read(&bytes).unwrap().rgb, rgb, "{color:?}");
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
            std::fs::write(folder.path().join(name), black(3, 2)).unwrap();
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
            [0, 8, 16].map(|shift| (mixed >> shift) as u8)
        };
        let path = folder.path().join("1.png");
        std::fs::write(&path, png_of(1000, 500, noise)).unwrap();
        let (bytes, size) = embedded(&path).unwrap();
        assert_eq!(size, [1000.0, 500.0]);
        assert!(bytes.len() <= BYTES[0], "{}", bytes.len());
        let read = Pixels::read(&bytes).unwrap();
        assert_eq!((read.width, read.height), (480, 240));

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
        let mut bomb = black(1, 1);
        bomb[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        put("bomb.png", &bomb);
        // 20,000 x 1 pixels take little memory, but the picture is too wide.
        put("wide.png", &black(20_000, 1));
        let mut images = Images::new(folder.path().to_owned()).unwrap();
        for id in ["text", "empty", "bomb", "wide", "missing"] {
            let mut boxes = Boxes::default();
            images.put_under(&mut boxes, &example(id, None));
            assert!(boxes.picture.is_none(), "{id}");
            assert!(boxes.caption.note.contains("No picture: "), "{id}");
        }
        images.left = 0;
        put("good.png", &black(2, 2));
        let mut boxes = Boxes::default();
        images.put_under(&mut boxes, &example("good", None));
        assert!(boxes.caption.note.contains("the page would be too large"));
    }
}
