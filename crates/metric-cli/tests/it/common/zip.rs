//! Zip archives as programs write them, and as nobody should.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// The mode of a plain file that a Unix program writes.
pub(crate) const FILE: u32 = 0o100_644;
pub(crate) const LINK: u32 = 0o120_777;
pub(crate) const DEVICE: u32 = 0o020_666;

/// An entry, whose parts need not agree with each other.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    pub(crate) crc: u32,
    pub(crate) size: u32,
    pub(crate) mode: u32,
}

impl Entry {
    /// Data as they are.
    pub(crate) fn stored(name: &str, data: &[u8]) -> Self {
        Self {
            name: name.as_bytes().to_owned(),
            data: data.to_owned(),
            method: 0,
            flags: 0,
            crc: crc(data),
            size: u32::try_from(data.len()).expect("a small file"),
            mode: FILE,
        }
    }

    pub(crate) fn deflated(name: &str, data: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(data).expect("memory");
        Self {
            data: encoder.finish().expect("memory"),
            method: 8,
            ..Self::stored(name, data)
        }
    }

    pub(crate) fn mode(self, mode: u32) -> Self {
        Self { mode, ..self }
    }
}

fn crc(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}

/// An archive of entries (APPNOTE.TXT of PKWARE, sections 4.3.7, 4.3.12 and 4.3.16).
pub(crate) fn archive(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let start = u32::try_from(bytes.len()).expect("a small archive");
        let mut shared = Vec::new();
        for field in [20, entry.flags, entry.method, 0, 0x21] {
            shared.extend(field.to_le_bytes());
        }
        let length = u32::try_from(entry.data.len()).expect("a small file");
        for field in [entry.crc, length, entry.size] {
            shared.extend(field.to_le_bytes());
        }
        let name = u16::try_from(entry.name.len()).expect("a short name");
        shared.extend(name.to_le_bytes());
        shared.extend(0_u16.to_le_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&shared);
        bytes.extend(&entry.name);
        bytes.extend(&entry.data);
        // Made by Unix, so that the mode counts.
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(&shared);
        directory.extend([0; 6]);
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(start.to_le_bytes());
        directory.extend(&entry.name);
    }
    let start = u32::try_from(bytes.len()).expect("a small archive");
    let length = u32::try_from(directory.len()).expect("a small directory");
    let count = u16::try_from(entries.len()).expect("few entries");
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    bytes.extend(length.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend(0_u16.to_le_bytes());
    bytes
}
