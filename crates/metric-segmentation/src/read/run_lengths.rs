//! COCO's run lengths, which go down the columns of an image.

use std::borrow::Cow;

use metric_record::json::{self, Raw};
use metric_record::{Kind, Message};
use serde::Deserialize;

use super::ids::Size;

/// The lengths of runs that are alternately outside of a mask and in it.
pub(crate) struct RunLengths {
    /// The size of the image, if it is stated.
    pub(crate) size: Option<Size>,
    pub(crate) counts: Vec<u64>,
}

#[derive(Deserialize)]
struct Fields<'a> {
    size: Option<[u32; 2]>,
    #[serde(borrow)]
    counts: Raw<'a>,
}

impl RunLengths {
    pub(crate) fn parse(json: &str) -> Result<Self, String> {
        if json::kind(json) != Kind::Object {
            let found = json::kind(json);
            return Err(format!(
                "found {found}, expected run lengths {{\"size\": [height, width], \"counts\": ...}}"
            ));
        }
        let fields: Fields<'_> = json::typed(json)?;
        let counts = match json::kind(fields.counts.0) {
            Kind::String => {
                let text: Cow<'_, str> = json::string(fields.counts.0)?;
                decompress(text.as_bytes())?
            }
            _ => json::typed(fields.counts.0).map_err(|problem| format!("counts: {problem}"))?,
        };
        Ok(Self {
            size: fields.size.map(|[height, width]| Size { width, height }),
            counts,
        })
    }

    /// Returns the runs of the mask, each with its start, in an image of so many pixels.
    ///
    /// # Errors
    ///
    /// Returns an error if the lengths do not add up to the number of pixels.
    pub(crate) fn runs(
        &self,
        pixels: usize,
    ) -> Result<impl Iterator<Item = (usize, usize)> + '_, Message> {
        let total = self
            .counts
            .iter()
            .try_fold(0_u64, |sum, count| sum.checked_add(*count));
        if total != Some(pixels as u64) {
            let total =
                total.map_or_else(|| "more than 2^64".to_owned(), |total| total.to_string());
            return Err(format!("run lengths add up to {total}: expected {pixels} pixels").into());
        }
        let mut start = 0;
        let runs = self.counts.iter().enumerate();
        Ok(runs.filter_map(move |(index, &count)| {
            // No count exceeds the total.
            let length = count as usize;
            let run = (start, length);
            start += length;
            (index % 2 == 1).then_some(run)
        }))
    }
}

/// The numbers of COCO's compressed form: five bits per character, lowest first, and from the third number on the
/// difference from the one before the last.
fn decompress(text: &[u8]) -> Result<Vec<u64>, String> {
    let mut counts: Vec<i64> = Vec::new();
    let mut bytes = text.iter();
    while !bytes.as_slice().is_empty() {
        let (mut number, mut shift) = (0_i64, 0_u32);
        loop {
            let Some(byte) = bytes.next() else {
                return Err("counts end within a number".to_owned());
            };
            let digit = byte.checked_sub(48).filter(|digit| *digit < 64);
            let Some(digit) = digit.map(i64::from) else {
                return Err(format!("counts have the byte {byte}: expected 48 to 111"));
            };
            if shift > 55 {
                return Err("counts have a number of more than 60 bits".to_owned());
            }
            number |= (digit & 0x1f) << shift;
            shift += 5;
            if digit & 0x20 == 0 {
                if digit & 0x10 != 0 {
                    number |= -1 << shift;
                }
                break;
            }
        }
        if let [.., before, _] = counts[..]
            && counts.len() > 2
        {
            number = number.saturating_add(before);
        }
        if number < 0 {
            return Err(format!(
                "counts have the number {number}: expected no less than 0"
            ));
        }
        counts.push(number);
    }
    Ok(counts.into_iter().map(i64::unsigned_abs).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_numbers() {
        // pycocotools 2.0.11: encode of a mask of 3 x 3 with one pixel in its center, and of the whole of 100 x 100.
        assert_eq!(decompress(b"414"), Ok(vec![4, 1, 4]));
        assert_eq!(decompress(b"0`h9"), Ok(vec![0, 10_000]));
        for wrong in [&b"0P"[..], b"\x10", b"O", b"PPPPPPPPPPPPPPPP1"] {
            assert!(decompress(wrong).is_err());
        }
    }
}
