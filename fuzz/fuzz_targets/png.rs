//! Bytes as a PNG or NumPy file of labels. Whatever they are, rows have the size of the header, and both ways to read a file agree.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use metric_segmentation::read::{LabelRows, MapOptions, PngRows};

fuzz_target!(|data: &[u8]| {
    let options = MapOptions::default()
        .with_max_pixels(1 << 20)
        .with_max_bytes(1 << 24);
    for options in [options, options.with_first_channel(true)] {
        let whole = LabelRows::in_memory("data", data, options);
        let parts = LabelRows::forward("data", Box::new(Cursor::new(data.to_vec())), options);
        let (Ok(mut whole), Ok(mut parts)) = (whole, parts) else {
            continue;
        };
        let [width, height] = whole.size();
        let mut rows = 0;
        loop {
            let (row, other) = (whole.next_row(), parts.next_row());
            assert_eq!(row, other);
            match row {
                Ok(Some(row)) => assert_eq!(row.len(), width),
                Ok(None) => break assert_eq!(rows, height),
                Err(_) => break,
            }
            rows += 1;
        }
    }
    if let Ok(mut rows) = PngRows::new("data", Cursor::new(data), options) {
        while let Ok(Some(_)) = rows.next_row() {}
    }
});
