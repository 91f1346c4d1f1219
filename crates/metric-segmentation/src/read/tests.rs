use std::io::Cursor;

use ::png::{BitDepth, ColorType, Encoder};

use metric_record::{Grid, GridRow, IdKey, Picture, Pixels as Given};

use super::*;
use crate::LabelRow;

fn labels(name: &str, bytes: &[u8], options: MapOptions) -> Result<Vec<Vec<i64>>, String> {
    let text = |error: ReadError| error.to_string();
    let mut rows = LabelRows::in_memory(name, bytes, options).map_err(text)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next_row().map_err(text)? {
        all.push((0..row.len()).filter_map(|index| row.get(index)).collect());
    }
    Ok(all)
}

/// A PNG file of these samples.
pub(super) fn png(width: u32, color: ColorType, depth: BitDepth, samples: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let row = color.samples() * width as usize * depth as usize;
    let mut encoder = Encoder::new(&mut file, width, (samples.len() / row.div_ceil(8)) as u32);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == ColorType::Indexed {
        // Shorter than some indices.
        encoder.set_palette([200; 6].as_slice());
    }
    let mut writer = encoder.write_header().expect("a header");
    writer
        .write_image_data(samples)
        .expect("the samples of an image");
    writer.finish().expect("the end of the file");
    file
}

/// A NumPy file, of version 1.
pub(super) fn npy(descr: &str, is_fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let size = (header.len() as u16).to_le_bytes();
    [
        b"\x93NUMPY\x01\x00",
        size.as_slice(),
        header.as_bytes(),
        data,
    ]
    .concat()
}

#[test]
fn samples_are_read_as_stored() {
    for (file, expected) in [
        (
            png(2, ColorType::Grayscale, BitDepth::Eight, &[0, 255, 7, 8]),
            vec![vec![0, 255], vec![7, 8]],
        ),
        (
            png(3, ColorType::Grayscale, BitDepth::Two, &[0b00_01_11_00]),
            vec![vec![0, 1, 3]],
        ),
        (
            png(3, ColorType::Grayscale, BitDepth::Four, &[0x1f, 0x20]),
            vec![vec![1, 15, 2]],
        ),
        (
            png(9, ColorType::Grayscale, BitDepth::One, &[0b1000_0001, 0x80]),
            vec![vec![1, 0, 0, 0, 0, 0, 0, 1, 1]],
        ),
        (
            png(2, ColorType::Grayscale, BitDepth::Sixteen, &[1, 0, 0, 1]),
            vec![vec![256, 1]],
        ),
        (
            png(2, ColorType::Indexed, BitDepth::Eight, &[1, 200]),
            vec![vec![1, 200]],
        ),
    ] {
        assert_eq!(labels("a.png", &file, MapOptions::default()), Ok(expected));
    }
}

#[test]
fn arrays_are_read_in_any_form() {
    for (descr, is_fortran, shape, data, expected) in [
        (
            "|u1",
            false,
            "(2, 2)",
            &[1, 2, 3, 255][..],
            [[1, 2], [3, 255]],
        ),
        ("|i1", false, "(2, 2)", &[1, 2, 3, 255], [[1, 2], [3, -1]]),
        ("|b1", false, "(2, 2)", &[1, 0, 0, 1], [[1, 0], [0, 1]]),
        ("|u1", true, "(2, 2)", &[1, 2, 3, 4], [[1, 3], [2, 4]]),
        (
            "<u2",
            false,
            "(1, 2, 2)",
            &[1, 0, 2, 0, 3, 0, 0, 1],
            [[1, 2], [3, 256]],
        ),
        (
            ">u2",
            false,
            "(2, 2, 1)",
            &[0, 1, 0, 2, 0, 3, 1, 0],
            [[1, 2], [3, 256]],
        ),
        (
            ">i2",
            true,
            "(2, 2)",
            &[0, 1, 0, 2, 255, 255, 1, 0],
            [[1, -1], [2, 256]],
        ),
    ] {
        let file = npy(descr, is_fortran, shape, data);
        let expected = expected.map(Vec::from).to_vec();
        assert_eq!(
            labels("a.npy", &file, MapOptions::default()),
            Ok(expected),
            "{descr}"
        );
    }
}

#[test]
fn files_that_are_no_maps_are_refused() {
    let gray = png(2, ColorType::Grayscale, BitDepth::Eight, &[0, 1, 2, 3]);
    let mut damaged = gray.clone();
    let middle = gray.len() - 20;
    damaged[middle] ^= 1;
    let mut huge = gray.clone();
    huge[16..24].copy_from_slice(&[0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0]);
    let huge_checksum = crc(&huge[12..29]).to_be_bytes();
    huge[29..33].copy_from_slice(&huge_checksum);
    for (name, file, expected) in [
        (
            "a.png",
            gray[..gray.len() - 20].to_vec(),
            "a.png: is cut off: expected a complete PNG file",
        ),
        ("b.png", damaged, "b.png: is not a valid PNG file: "),
        (
            "c.png",
            huge,
            "c.png: has 100000 x 100000 pixels: expected at most 268435456 pixels, see --max-pixels",
        ),
        (
            "d.png",
            b"GIF89a".to_vec(),
            "d.png: is neither a PNG nor a NumPy file: expected labels as .png or .npy",
        ),
        (
            "e.png",
            png(1, ColorType::Rgb, BitDepth::Eight, &[3, 3, 3]),
            "read the first one with --channel first",
        ),
        (
            "f.png",
            png(1, ColorType::Rgb, BitDepth::Eight, &[3, 3, 4]),
            "convert colors to class indices",
        ),
        (
            "g.png",
            png(1, ColorType::GrayscaleAlpha, BitDepth::Eight, &[3, 3]),
            "2 channels (gray with alpha): expected one channel",
        ),
        (
            "h.npy",
            npy("<f4", false, "(3, 2, 2)", &[0; 48]),
            "take the argmax over the classes",
        ),
        (
            "i.npy",
            npy("|u1", false, "(4,)", &[0; 4]),
            "has an array of the shape (4,): expected (height, width)",
        ),
        (
            "j.npy",
            npy("|u1", false, "(2, 2)", &[0; 3]),
            "j.npy: is cut off: expected a complete NumPy file",
        ),
        (
            "k.npy",
            npy("|u1", false, "(0, 2)", &[]),
            "k.npy: has 2 x 0 pixels: expected at least one",
        ),
        (
            "l.npy",
            npy("|O", false, "(2, 2)", &[0; 9]),
            "expected integers or booleans",
        ),
    ] {
        let error = labels(name, &file, MapOptions::default()).expect_err(name);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_first_channel_is_read_on_demand() {
    let options = MapOptions::default().with_first_channel(true);
    for (depth, samples, expected) in [
        (BitDepth::Eight, &[3, 9, 9, 4, 9, 9][..], [3, 4]),
        (
            BitDepth::Sixteen,
            &[1, 0, 9, 9, 9, 9, 0, 4, 9, 9, 9, 9],
            [256, 4],
        ),
    ] {
        let file = png(2, ColorType::Rgb, depth, samples);
        assert_eq!(labels("a.png", &file, options), Ok(vec![expected.to_vec()]));
    }
}

#[test]
fn colors_are_read_as_stored() {
    let file = png(
        1,
        ColorType::Rgba,
        BitDepth::Eight,
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    let mut rows =
        PngRows::new("a.png", Cursor::new(file), MapOptions::default()).expect("an image");
    assert_eq!((rows.header().channels, rows.header().bits), (4, 8));
    assert_eq!(rows.next_row(), Ok(Some(&[1, 2, 3, 4][..])));
    assert_eq!(rows.next_row(), Ok(Some(&[5, 6, 7, 8][..])));
    assert_eq!(rows.next_row(), Ok(None));
}

/// A PNG file with the checksums that its chunks should have.
pub(super) fn with_checksums(file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    let mut start = 8;
    while let Some(length) = file.get(start..start + 4) {
        let length: [u8; 4] = length.try_into().expect("four bytes");
        let end = start + 8 + u32::from_be_bytes(length) as usize;
        let Some(chunk) = file.get(start + 4..end) else {
            break;
        };
        let checksum = crc(chunk).to_be_bytes();
        let Some(place) = file.get_mut(end..end + 4) else {
            break;
        };
        place.copy_from_slice(&checksum);
        start = end + 4;
    }
    file
}

/// The checksum of a chunk.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    };
    !bytes.iter().fold(!0, step)
}

#[test]
fn rows_of_labels_have_a_length() {
    let row = LabelRow::Bytes(&[1, 2]);
    assert_eq!((row.len(), row.is_empty(), row.get(2)), (2, false, None));
}

/// Pixels of a row after the other.
#[derive(Debug)]
struct Pixels(Vec<Vec<i64>>);

impl Grid for Pixels {
    fn size(&self) -> [usize; 2] {
        [self.0.len(), self.0.first().map_or(0, Vec::len)]
    }

    fn row<'r>(&'r self, index: usize, _: &'r mut Vec<i64>) -> GridRow<'r> {
        GridRow::Wide(self.0.get(index).map_or(&[], |row| row))
    }
}

/// The ids of segments, with the other fields of their record.
#[derive(Debug)]
struct Ids<'f>(Given<'f>, &'f str);

impl Picture for Ids<'_> {
    fn pixels(&self) -> Given<'_> {
        self.0
    }

    fn fields(&self) -> Option<(&str, &str)> {
        Some(("ids", self.1))
    }
}

#[test]
fn grids_are_read_as_lists() {
    let pixels = Pixels(vec![vec![1, 2, 300], vec![4, 5, 6]]);
    let mut rows = OpenedRows::of_grid("the reference", &pixels).unwrap();
    assert_eq!(rows.size(), [3, 2]);
    let mut found = Vec::new();
    while let Some(row) = rows.next_row().unwrap() {
        found.push(
            (0..row.len())
                .filter_map(|at| row.get(at))
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(found, pixels.0);
    let empty = Pixels(vec![Vec::new()]);
    assert!(OpenedRows::of_grid("the reference", &empty).is_err());
}

#[test]
fn segments_in_grids_are_those_of_lists() {
    let others = r#"{"segments_info": [{"id": 1, "category_id": 7}, {"id": 2, "category_id": 8}]}"#;
    let json = others.replacen('{', r#"{"ids": [[1, 1], [2, 2]], "#, 1);
    let listed = PanopticImage::parse_record(IdKey::Number(1), &json, false).unwrap();
    let grid = Pixels(vec![vec![1, 1], vec![2, 2]]);
    let grid = Ids(Given::Grid(&grid), others);
    let lent = PanopticImage::of_picture(IdKey::Number(1), &grid).unwrap();
    let rules = PanopticRules::default();
    let expected = compare_records(&listed, &listed, rules).unwrap();
    for (truth, found) in [(&lent, &lent), (&lent, &listed), (&listed, &lent)] {
        assert_eq!(compare_records(truth, found, rules).unwrap(), expected);
    }
    let wrong = Pixels(vec![vec![1, 1], vec![2, -2]]);
    let wrong = Ids(Given::Grid(&wrong), others);
    let wrong = PanopticImage::of_picture(IdKey::Number(1), &wrong).unwrap();
    for (pair, of_prediction) in [((&listed, &wrong), true), ((&wrong, &listed), false)] {
        let (is_prediction, problem) = compare_records(pair.0, pair.1, rules).unwrap_err();
        assert_eq!(is_prediction, of_prediction);
        assert!(
            problem.to_string().contains("found -2 in row 1, column 1"),
            "{problem}"
        );
    }
    let alone = Pixels(vec![vec![1]]);
    assert!(PanopticImage::of_picture(IdKey::Number(1), &alone).is_err());
}

/// What is odd about a file, after its last row.
fn oddities(file: &[u8]) -> FileOddities {
    let mut rows = LabelRows::in_memory("file", file, MapOptions::default()).unwrap();
    while rows.next_row().unwrap().is_some() {}
    rows.oddities()
}

#[test]
fn further_data_are_odd_and_no_error() {
    // Noise, which cannot be compressed: four rows, of which the header says three.
    let noise = [
        201, 17, 94, 250, 33, 128, 7, 66, 181, 240, 12, 99, 145, 58, 222, 73, 9, 167, 84, 211, 38,
        120, 196, 51, 5, 233, 61, 154, 88, 19, 177, 102, 247, 44, 131, 208, 70, 25, 163, 92, 229,
        14, 118, 185, 55, 238, 3, 149, 81, 216, 47, 110, 172, 29, 255, 96, 140, 62, 203, 35, 124,
        190, 10, 227, 77, 158, 41, 219, 105, 22, 183, 68, 244, 136, 1, 91, 169, 54, 213, 31, 115,
        198, 83, 160,
    ];
    let whole = png(21, ColorType::Grayscale, BitDepth::Eight, &noise);
    assert_eq!(oddities(&whole), FileOddities::default());
    let mut short = whole.clone();
    assert_eq!(short[20..24], [0, 0, 0, 4]);
    short[23] = 3;
    let short = with_checksums(&short);
    assert!(oddities(&short).has_surplus);
    assert_eq!(
        labels("file", &short, MapOptions::default()).unwrap(),
        labels("file", &whole, MapOptions::default()).unwrap()[..3]
    );
    let after_its_end = [whole.clone(), b"more".to_vec()].concat();
    assert!(oddities(&after_its_end).has_surplus);
    assert!(!oddities(&whole).has_surplus);

    let array = npy("|u1", false, "(2, 2)", &[1, 2, 3, 4]);
    assert_eq!(oddities(&array), FileOddities::default());
    let longer = [array, vec![5]].concat();
    assert!(oddities(&longer).has_surplus);
}

#[test]
fn files_of_all_forms_end_where_they_end() {
    for (width, depth, samples) in [
        (3, BitDepth::Eight, vec![7; 3 * 1000]),
        (3, BitDepth::Two, vec![0; 9]),
        (1, BitDepth::Eight, vec![1]),
        (
            1000,
            BitDepth::Sixteen,
            (0..2000 * 50).map(|at| (at % 251) as u8).collect(),
        ),
    ] {
        let file = png(width, ColorType::Grayscale, depth, &samples);
        assert_eq!(oddities(&file), FileOddities::default(), "{width}");
    }
}
