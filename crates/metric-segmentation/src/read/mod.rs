//! Readers of images whose pixels are labels: PNG and NumPy files, row by row.
//!
//! [`PngRows`] gives the samples of a PNG file as they are stored. [`LabelRows`] detects the format of a file from its
//! first bytes, and gives rows of labels. Both know the size before any row is read, and refuse an image that is larger than the
//! [`MapOptions`] allow before they take memory for it.

mod chunks;
#[cfg(test)]
mod damaged;
mod folders;
mod ids;
mod labels;
mod npy;
mod opened;
mod pair;
mod panoptic;
mod png;
mod run_lengths;
#[cfg(test)]
mod tests;

use metric_record::{DEFAULT_MAX_BYTES, Message, ReadError};

pub use folders::{FolderError, FolderOptions, ImageFiles, JoinedFolders, join_folders};
pub use labels::{Forward, LabelRows, OpenedRows};
pub use npy::NpyRows;
pub use opened::OpenedFile;
pub use pair::count_image;
pub use panoptic::{
    Compared, PanopticFile, PanopticImage, PanopticRules, SegmentCategory, compare_files,
    compare_records, is_panoptic,
};
pub use png::{FileOddities, PngHeader, PngRows};

/// How images are read, and their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MapOptions {
    /// The greatest number of pixels of an image, which its header says.
    pub max_pixels: u64,
    /// The greatest number of bytes that are held in memory, for files that cannot be read row by row: interlaced PNG
    /// files and NumPy arrays in Fortran order.
    pub max_bytes: u64,
    /// Whether the first channel of an image with several channels is read. Otherwise such an image is an error.
    pub first_channel: bool,
}

metric_core::setters!(MapOptions {
    with_max_pixels => max_pixels: u64,
    with_max_bytes => max_bytes: u64,
    with_first_channel => first_channel: bool,
});

impl MapOptions {
    /// The default of [`max_pixels`](Self::max_pixels): 2^28.
    pub const MAX_PIXELS: u64 = 1 << 28;

    /// Refuses an image of a size that is beyond the limit, or of no pixels.
    fn check_pixels(self, name: &str, width: u64, height: u64) -> Result<(), ReadError> {
        if width == 0 || height == 0 {
            let problem = format!("has {width} x {height} pixels: expected at least one");
            return Err(ReadError::new(name, problem));
        }
        if width
            .checked_mul(height)
            .is_none_or(|pixels| pixels > self.max_pixels)
        {
            let problem = Message::from(format!(
                "has {width} x {height} pixels: expected at most {} pixels, see ",
                self.max_pixels
            ));
            return Err(ReadError::new(name, problem.option("max-pixels", "")));
        }
        Ok(())
    }

    /// Refuses an image that takes more memory than allowed.
    fn check_bytes(self, name: &str, bytes: u64, why: &str) -> Result<usize, ReadError> {
        let room = usize::try_from(bytes).ok();
        room.filter(|_| bytes <= self.max_bytes).ok_or_else(|| {
            let problem = Message::from(format!(
                "takes {bytes} bytes of memory {why}: expected at most {}, see ",
                self.max_bytes
            ));
            ReadError::new(name, problem.option("max-bytes", "")).limit()
        })
    }
}

impl Default for MapOptions {
    fn default() -> Self {
        Self {
            max_pixels: Self::MAX_PIXELS,
            max_bytes: DEFAULT_MAX_BYTES,
            first_channel: false,
        }
    }
}
