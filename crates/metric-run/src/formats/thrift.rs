//! Lists in the metadata of Parquet files, whose counts are not trusted, and the lengths of headers.
//!
//! The decoder passes over fields that it does not know. It takes the elements of a list of booleans to need no bytes, so
//! that a list of a few bytes that claims billions of them takes it seconds.

use bytes::{Buf, Bytes};
use parquet::errors::ParquetError;

use crate::formats::grouped;

/// The depth of nested fields that are looked at: the decoder refuses unknown fields that are as deep.
const DEPTH: u32 = 96;

/// The most bytes of the header of a page, without its binary values, which are statistics. No field of it is a list.
const HEADER_BYTES: u64 = 1 << 10;

/// Refuses metadata in the compact protocol of Thrift whose lists claim more elements than there are bytes. What is
/// malformed otherwise, or cut, is left to the decoder.
pub(super) fn refuse_long_lists(metadata: &Bytes) -> Result<(), String> {
    let mut fields = Fields {
        load: &|_| Ok(Bytes::new()),
        rest: metadata.clone(),
        position: metadata.len() as u64,
        elements_left: metadata.len() as u64,
        bytes_left: u64::MAX,
    };
    match fields.skip(Kind::Struct, DEPTH) {
        Err(Stop::Claims(count)) => Err(format!(
            "{} bytes of metadata claim a list of {} elements",
            grouped(metadata.len() as u64),
            grouped(count)
        )),
        Err(_) | Ok(()) => Ok(()),
    }
}

/// Whether the metadata of a file say how its columns are encrypted: field 8 of `FileMetaData`.
pub(super) fn has_encryption(metadata: &Bytes) -> bool {
    const ENCRYPTION_ALGORITHM: u64 = 8;
    let mut fields = Fields {
        load: &|_| Ok(Bytes::new()),
        rest: metadata.clone(),
        position: metadata.len() as u64,
        elements_left: metadata.len() as u64,
        bytes_left: u64::MAX,
    };
    let mut has_field = || -> Result<bool, Stop> {
        let mut field = 0;
        loop {
            let byte = fields.byte()?;
            if byte & 0xf == 0 {
                return Ok(false);
            }
            field = match byte >> 4 {
                // Written in full, with the sign in the lowest bit.
                0 => fields.number()? / 2,
                step => field + u64::from(step),
            };
            if field == ENCRYPTION_ALGORITHM {
                return Ok(true);
            }
            fields.skip(Kind::of(byte)?, DEPTH)?;
        }
    };
    has_field().unwrap_or(false)
}

/// Refuses the header of a page that is longer than [`HEADER_BYTES`] without its statistics, or whose lists claim as many
/// elements. It starts with `head`, which ends at a position; `load` returns some bytes that start at a later one, and
/// none at the end of the file. What is malformed otherwise, or cut, is left to the decoder.
pub(super) fn refuse_long_header(
    head: Bytes,
    position: u64,
    load: &dyn Fn(u64) -> parquet::errors::Result<Bytes>,
) -> parquet::errors::Result<()> {
    let mut fields = Fields {
        load,
        rest: head,
        position,
        elements_left: HEADER_BYTES,
        bytes_left: HEADER_BYTES,
    };
    let problem = match fields.skip(Kind::Struct, DEPTH) {
        Ok(()) | Err(Stop::Malformed) => return Ok(()),
        Err(Stop::Unread(error)) => return Err(error),
        Err(Stop::Claims(count)) => {
            format!(
                "the header of a page claims a list of {} elements",
                grouped(count)
            )
        }
        Err(Stop::Long) => format!(
            "the header of a page, without statistics, is longer than {} bytes",
            grouped(HEADER_BYTES)
        ),
    };
    Err(ParquetError::General(problem))
}

/// Metadata that are passed over.
struct Fields<'a> {
    /// Returns some bytes that start at a position.
    load: &'a dyn Fn(u64) -> parquet::errors::Result<Bytes>,
    /// The bytes that were loaded last.
    rest: Bytes,
    /// The position after these.
    position: u64,
    /// The number of elements that all further lists may have.
    elements_left: u64,
    /// The number of bytes that all further fields may have, without binary values.
    bytes_left: u64,
}

/// Why metadata cannot be passed over.
enum Stop {
    Malformed,
    /// A list claims this number of elements.
    Claims(u64),
    /// There are more bytes than there may be.
    Long,
    Unread(ParquetError),
}

/// The form of a value.
#[derive(Clone, Copy)]
enum Kind {
    /// A boolean, which is a part of its type.
    Nothing,
    Byte,
    Number,
    Double,
    Binary,
    List,
    Map,
    Struct,
    Uuid,
}

impl Kind {
    /// The form of the type in the lower bits of a byte.
    fn of(byte: u8) -> Result<Self, Stop> {
        Ok(match byte & 0xf {
            1 | 2 => Self::Nothing,
            3 => Self::Byte,
            4..=6 => Self::Number,
            7 => Self::Double,
            8 => Self::Binary,
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return Err(Stop::Malformed),
        })
    }
}

impl Fields<'_> {
    fn byte(&mut self) -> Result<u8, Stop> {
        let left = self.bytes_left.checked_sub(1);
        self.bytes_left = left.ok_or(Stop::Long)?;
        if self.rest.is_empty() {
            self.rest = (self.load)(self.position).map_err(Stop::Unread)?;
            self.position += self.rest.len() as u64;
        }
        let byte = *self.rest.first().ok_or(Stop::Malformed)?;
        self.rest.advance(1);
        Ok(byte)
    }

    /// A number of seven bits per byte.
    fn number(&mut self) -> Result<u64, Stop> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Stop::Malformed)
    }

    /// Passes over some bytes, without reading those that are not loaded.
    fn skip_bytes(&mut self, count: u64) -> Result<(), Stop> {
        let loaded = self
            .rest
            .len()
            .min(usize::try_from(count).unwrap_or(usize::MAX));
        self.rest.advance(loaded);
        let position = self.position.checked_add(count - loaded as u64);
        self.position = position.ok_or(Stop::Malformed)?;
        Ok(())
    }

    /// Passes over a value, in which others are nested up to a depth.
    fn skip(&mut self, kind: Kind, depth: u32) -> Result<(), Stop> {
        let depth = depth.checked_sub(1).ok_or(Stop::Malformed)?;
        match kind {
            Kind::Nothing => Ok(()),
            Kind::Byte => self.byte().map(drop),
            Kind::Number => self.number().map(drop),
            Kind::Double => self.skip_bytes(8),
            Kind::Uuid => self.skip_bytes(16),
            Kind::Binary => {
                let count = self.number()?;
                self.skip_bytes(count)
            }
            Kind::Struct => self.skip_struct(depth),
            Kind::List => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    0xf => self.number()?,
                    count => count.into(),
                };
                self.skip_elements(count, &[head], depth)
            }
            Kind::Map => match self.number()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    self.skip_elements(count, &[kinds >> 4, kinds], depth)
                }
            },
        }
    }

    fn skip_struct(&mut self, depth: u32) -> Result<(), Stop> {
        loop {
            let head = self.byte()?;
            if head & 0xf == 0 {
                return Ok(());
            }
            if head >> 4 == 0 {
                // The number of the field, which is otherwise a difference from the last one.
                self.number()?;
            }
            self.skip(Kind::of(head)?, depth)?;
        }
    }

    /// Passes over a number of elements, each of which has values of these types.
    fn skip_elements(&mut self, count: u64, types: &[u8], depth: u32) -> Result<(), Stop> {
        if count == 0 {
            return Ok(());
        }
        let left = self.elements_left.checked_sub(count);
        self.elements_left = left.ok_or(Stop::Claims(count))?;
        for _ in 0..count {
            for byte in types {
                self.skip(Kind::of(*byte)?, depth)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_at_most_as_many_elements_as_there_are_bytes() {
        // A field with a list of booleans, and how many elements it claims: in one byte with the type, or after it.
        let list = |count: &[u8]| [&[0x19][..], count, &[0]].concat();
        let long = [0xf1, 0xff, 0xff, 0xff, 0xff, 0x07];
        let nested = [&[0x1c, 0x19][..], &long, &[0, 0]].concat();
        let map = [0x1b, 0xff, 0xff, 0x03, 0x11, 0];
        let two = vec![0x19, 0x21, 0x19, 0x31, 0];
        for (metadata, expected) in [
            (list(&[0x31]), None),
            (list(&[0x51]), Some("3 bytes of metadata claim a list of 5")),
            (list(&long), Some("claim a list of 2,147,483,647 elements")),
            (nested, Some("claim a list of 2,147,483,647 elements")),
            (map.to_vec(), Some("claim a list of 65,535 elements")),
            // Empty lists, whose type may be none; 3 numbers; a list that is cut.
            (list(&[0x00]), None),
            (list(&[0x35, 1, 2, 0x83, 0x01]), None),
            (vec![0x19, 0x25], None),
            // All lists together.
            (two, None),
            (vec![0x19, 0x41, 0x19, 0x31, 0], Some("a list of 3")),
            (vec![], None),
            // Structs in structs.
            (vec![0x1c; 100_000], None),
        ] {
            let refused = refuse_long_lists(&metadata.clone().into()).err();
            match (refused, expected) {
                (Some(problem), Some(expected)) => assert!(problem.contains(expected), "{problem}"),
                (refused, expected) => assert_eq!(refused.as_deref(), expected, "{metadata:?}"),
            }
        }
    }

    #[test]
    fn encrypted_columns_are_named_in_the_metadata() {
        // The version 2 in field 1, then an empty struct in field 8; the same with its number in full, and in field 9.
        for (metadata, expected) in [
            (&[0x15, 4, 0x7c, 0, 0][..], true),
            (&[0x15, 4, 0x0c, 16, 0, 0], true),
            (&[0x15, 4, 0x8c, 0, 0], false),
            (&[0x15, 4, 0], false),
            (&[0x15], false),
        ] {
            let found = has_encryption(&Bytes::from(metadata));
            assert_eq!(found, expected, "{metadata:?}");
        }
    }

    #[test]
    fn headers_are_short_without_statistics() {
        // The header is in a file that is loaded three bytes at a time.
        let refused = |header: &[u8]| {
            let file = Bytes::from([&[0; 5], header].concat());
            let load = |position: u64| {
                let start = usize::try_from(position)
                    .unwrap_or(usize::MAX)
                    .min(file.len());
                Ok(file.slice(start..file.len().min(start + 3)))
            };
            let head = load(5).expect("the first bytes");
            let position = 5 + head.len() as u64;
            let refused = refuse_long_header(head, position, &load).err();
            refused.map(|error| error.to_string())
        };
        // A struct of a binary value of 70,000 bytes, and what follows that.
        let after = |next: &[u8]| {
            let statistics = [&[0x1c, 0x18, 0xf0, 0xa2, 0x04][..], &[7; 70_000], &[0]];
            [&statistics.concat(), next].concat()
        };
        let list = [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0];
        let numbers = |count: usize| [&[0x15, 2].repeat(count)[..], &[0]].concat();
        let claims = Some("the header of a page claims a list of 2,147,483,647 elements");
        let long = Some("the header of a page, without statistics, is longer than 1,024 bytes");
        let rows: [(Vec<u8>, Option<&str>); 9] = [
            (after(&[0x15, 2, 0]), None),
            (after(&list), claims),
            (list.to_vec(), claims),
            (numbers(500), None),
            (numbers(520), long),
            (after(&numbers(500)), None),
            (after(&numbers(520)), long),
            // A value that is longer than the file, and than any file.
            (vec![0x18, 0x7f, 0x19, 0xf1], None),
            ([&[0x18][..], &[0xff; 9], &[1]].concat(), None),
        ];
        for (header, expected) in rows {
            match (refused(&header), expected) {
                (Some(problem), Some(expected)) => assert!(problem.contains(expected), "{problem}"),
                (refused, expected) => assert_eq!(refused.as_deref(), expected),
            }
        }
        let gone = |_| Err(ParquetError::General("gone".to_owned()));
        let unread = refuse_long_header(Bytes::new(), 0, &gone);
        let unread = unread.err().map(|error| error.to_string());
        assert!(unread.is_some_and(|it| it.contains("gone")));
    }
}
