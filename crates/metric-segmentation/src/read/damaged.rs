//! Files with changed bytes, which are read or refused.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::tests::{npy, png};
use super::*;

/// Files of both formats.
fn files() -> Vec<Vec<u8>> {
    use ::png::{BitDepth, ColorType};
    vec![
        png(
            3,
            ColorType::Grayscale,
            BitDepth::Eight,
            &[0, 1, 2, 3, 4, 255],
        ),
        png(
            3,
            ColorType::Grayscale,
            BitDepth::Two,
            &[0b00_01_11_00, 0b11_01_11_00],
        ),
        png(2, ColorType::Rgb, BitDepth::Sixteen, &[7; 24]),
        npy("<i2", false, "(2, 2)", &[1, 0, 2, 0, 3, 0, 255, 255]),
        npy("|u1", true, "(2, 1, 2)", &[1, 2, 3, 4]),
    ]
}

proptest! {
    /// Whatever the bytes are, rows have the size of the header. Checksums are made right, so that changes are not refused at once.
    #[test]
    fn changed_bytes_are_no_panic(
        file in 0_usize..5,
        changes in vec((any::<Index>(), any::<u8>()), 1..6),
        cut in any::<Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = files().swap_remove(file);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let options = MapOptions::default().with_max_pixels(1 << 16).with_first_channel(true);
        for bytes in [super::tests::with_checksums(&bytes), bytes] {
            let Ok(mut rows) = LabelRows::in_memory("file", &bytes, options) else {
                continue;
            };
            let [width, height] = rows.size();
            let mut count = 0;
            while let Ok(Some(row)) = rows.next_row() {
                prop_assert_eq!(row.len(), width);
                count += 1;
            }
            prop_assert!(count <= height);
        }
    }
}
