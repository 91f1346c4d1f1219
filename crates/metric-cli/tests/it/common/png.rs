//! PNG files, also those that no program writes.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// The header of a PNG file.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// The number of bits of a sample.
    pub(crate) bits: u8,
    /// 0 is gray, 2 RGB, 3 a palette, 4 gray with alpha, and 6 RGBA.
    pub(crate) color: u8,
    pub(crate) is_interlaced: bool,
}

impl Header {
    /// RGB of 8 bits, as the ids of panoptic segments are written.
    pub(crate) const fn rgb(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            bits: 8,
            color: 2,
            is_interlaced: false,
        }
    }

    /// Gray of 8 bits, as labels are written.
    pub(crate) const fn gray(width: u32, height: u32) -> Self {
        Self {
            color: 0,
            ..Self::rgb(width, height)
        }
    }
}

/// A PNG file of these rows, each without its filter, with further chunks between header and image.
pub(crate) fn png<R: AsRef<[u8]>>(
    header: Header,
    chunks: &[(&[u8; 4], &[u8])],
    rows: impl IntoIterator<Item = R>,
) -> Vec<u8> {
    let mut image = ZlibEncoder::new(Vec::new(), Compression::fast());
    for row in rows {
        image.write_all(&[0]).expect("memory");
        image.write_all(row.as_ref()).expect("memory");
    }
    let image = image.finish().expect("memory");
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let [width, height] = [header.width, header.height].map(u32::to_be_bytes);
    let interlaced = u8::from(header.is_interlaced);
    let rest = [header.bits, header.color, 0, 0, interlaced];
    add(&mut file, b"IHDR", &[&width[..], &height, &rest].concat());
    for (kind, content) in chunks {
        add(&mut file, kind, content);
    }
    add(&mut file, b"IDAT", &image);
    add(&mut file, b"IEND", &[]);
    file
}

/// A PNG file whose pixels are the ids of segments.
pub(crate) fn ids(rows: &[&[u32]]) -> Vec<u8> {
    let header = Header::rgb(rows[0].len() as u32, rows.len() as u32);
    let rows = rows.iter().map(|row| {
        let bytes = row.iter().flat_map(|id| id.to_le_bytes()[..3].to_vec());
        bytes.collect::<Vec<u8>>()
    });
    png(header, &[], rows)
}

/// A PNG file whose pixels are labels.
pub(crate) fn labels(rows: &[&[u8]]) -> Vec<u8> {
    let header = Header::gray(rows[0].len() as u32, rows.len() as u32);
    png(header, &[], rows)
}

fn add(file: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(kind);
    file.extend(content);
    let mut crc = flate2::Crc::new();
    crc.update(&file[start..]);
    file.extend(crc.sum().to_be_bytes());
}
