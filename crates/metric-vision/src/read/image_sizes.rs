use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::folder::FolderFile as _;
use super::{File, ReadError};

/// Width and height of images, in pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ImageSizes {
    /// Not known. Coordinates stay fractions of the image, and areas too: the area ranges small,
    /// medium and large are then meaningless. IoU is the same as in pixels, up to rounding.
    #[default]
    Unknown,
    /// One size for all images.
    All([NonZeroU32; 2]),
    /// A size for each image, by its name without extension.
    Each(BTreeMap<String, [NonZeroU32; 2]>),
}

impl ImageSizes {
    /// Reads lines `image width height`. An image may have the extension of its file.
    ///
    /// # Errors
    ///
    /// Returns an error if a line has another form, a width or height is not a positive integer, or
    /// an image is given twice.
    ///
    /// ```
    /// use metric_vision::read::{File, ImageSizes};
    ///
    /// let text = "street.jpg 640 480\nroad 1920 1080\n";
    /// let sizes = ImageSizes::parse(File { name: "sizes.txt", text })?;
    /// let ImageSizes::Each(sizes) = sizes else { unreachable!() };
    /// assert_eq!(sizes["street"].map(u32::from), [640, 480]);
    /// # Ok::<(), metric_vision::read::ReadError>(())
    /// ```
    pub fn parse(file: File<'_>) -> Result<Self, ReadError> {
        let mut sizes = BTreeMap::new();
        for line in file.lines() {
            let parts = line.words.split_last_chunk();
            let parts = parts.filter(|(image, _)| !image.is_empty());
            let (image, [width, height]) = parts.ok_or_else(|| {
                let found = line.words.len();
                let problem = format!("found {found} words, expected 3: image width height");
                line.error("", problem)
            })?;
            let pixels = |field, word: &str| {
                word.parse::<NonZeroU32>().map_err(|_| {
                    let problem = format!("found {word:?}, expected a positive integer");
                    line.error(field, problem)
                })
            };
            let size = [pixels("width", width)?, pixels("height", height)?];
            let image = without_extension(&image.join(" ")).to_owned();
            if sizes.contains_key(&image) {
                let problem = format!("found {image:?} again, expected every image once");
                return Err(line.error("image", problem));
            }
            sizes.insert(image, size);
        }
        Ok(Self::Each(sizes))
    }

    /// The factors by which the numbers of an image are multiplied.
    pub(super) fn scale(&self, image: &str, file: &File<'_>) -> Result<[f64; 2], ReadError> {
        self.of_image(image).ok_or_else(|| {
            let problem = format!("found no size of {image:?}, expected one of every image");
            file.error("", "", problem)
        })
    }

    /// Width and height of an image, 1 where sizes are not known; `None` if only others have sizes.
    pub(super) fn of_image(&self, image: &str) -> Option<[f64; 2]> {
        match self {
            Self::Unknown => Some([1.0; 2]),
            _ => Some(self.pixels(image)?.map(|pixels| f64::from(pixels.get()))),
        }
    }

    /// Width and height of an image, if they are known.
    pub(super) fn pixels(&self, image: &str) -> Option<[NonZeroU32; 2]> {
        match self {
            Self::Unknown => None,
            Self::All(size) => Some(*size),
            Self::Each(sizes) => sizes.get(image).copied(),
        }
    }
}

/// The name of an image file without the extension; a name that has none stays.
fn without_extension(image: &str) -> &str {
    const EXTENSIONS: [&str; 10] = [
        "avif", "bmp", "gif", "jpeg", "jpg", "png", "ppm", "tif", "tiff", "webp",
    ];
    match image.rsplit_once('.') {
        Some((stem, extension))
            if EXTENSIONS
                .iter()
                .any(|known| known.eq_ignore_ascii_case(extension)) =>
        {
            stem
        }
        _ => image,
    }
}
