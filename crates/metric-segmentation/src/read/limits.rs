//! The limits of images, which predictions may exceed on purpose.

/// The most pixels of an image, unless a caller says otherwise.
pub const DEFAULT_MAX_PIXELS: u64 = 1 << 28;

/// The most segments of an image, unless a caller says otherwise: an image of noise has millions of ids.
pub const DEFAULT_MAX_SEGMENTS: usize = 1 << 16;

/// The limits of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most pixels that it may have.
    pub max_pixels: u64,
    /// The most ids of segments that each side may have.
    pub max_segments: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_pixels: DEFAULT_MAX_PIXELS,
            max_segments: DEFAULT_MAX_SEGMENTS,
        }
    }
}
