//! The parts in which out-of-order records are joined.
//!
//! The fingerprint of a record selects its part. When all records have arrived, each part is joined on its own, in the
//! cache. Parts are written in pieces, which stay in memory as long as there is room, and otherwise go to a temporary
//! file.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use metric_record::{Id, Side};

use crate::found::Form;
use crate::part::Part;
use crate::positions::read_at;
use crate::waiter::{Waiter, push_id};

/// The number of parts: those of millions of records fit into the cache.
const PARTITIONS: usize = 512;

/// The number of bits of a fingerprint that select the part.
const PARTITION_BITS: u32 = PARTITIONS.ilog2();

/// Records in parts.
#[derive(Debug)]
pub(crate) struct Spill {
    /// The file, once there is no room in memory.
    file: Option<File>,
    /// The length of the file.
    written: u64,
    /// The size of the pieces in memory, those of parts that were taken included: it grows with the records and is the
    /// same however many parts are joined at a time.
    bytes: u64,
    /// The number of bytes of pieces that fit into memory, whatever the number of records, and the number of additional
    /// bytes for each record.
    room: [u64; 2],
    records: u64,
    partitions: Vec<Partition>,
}

/// A part: pieces that are written, and what comes after them.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    pieces: Vec<Piece>,
    /// The records of the next piece, except the last few.
    rest: Packed,
    /// The last few records.
    last: Packed,
}

/// Packed records.
#[derive(Debug)]
enum Piece {
    Memory(Packed),
    /// Where they start in the file, and the lengths of headers and texts.
    File(u64, [usize; 2]),
}

/// Some headers, and their texts one after another.
#[derive(Clone, Debug, Default)]
struct Packed {
    headers: Vec<u8>,
    text: String,
}

impl Packed {
    fn bytes(&self) -> usize {
        self.headers.len() + self.text.len()
    }

    /// Moves the records of another one to the end.
    fn append(&mut self, other: &mut Self) {
        self.headers.extend_from_slice(&other.headers);
        self.text.push_str(&other.text);
        other.clear();
    }

    fn clear(&mut self) {
        self.headers.clear();
        self.text.clear();
    }
}

impl Spill {
    /// The number of bytes of a part that are written at a time.
    const PIECE: usize = 1 << 14;

    /// The number of bytes of a part that are gathered first: so few that those of all parts stay in the cache, as
    /// each record goes to another part than the one before it.
    const LAST: usize = 1 << 11;

    /// Parts that keep some bytes in memory: a fixed number, and a number per record.
    pub(crate) fn new(room: [u64; 2]) -> Self {
        Self {
            file: None,
            written: 0,
            bytes: 0,
            room,
            records: 0,
            partitions: (0..PARTITIONS).map(|_| Partition::default()).collect(),
        }
    }

    /// The size of the pieces in memory, those of parts that were taken included.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes a record of a part with this number.
    pub(crate) fn write(&mut self, waiter: &Waiter<'_>, part: usize) -> io::Result<()> {
        let Partition { pieces, rest, last } =
            &mut self.partitions[waiter.print as usize % PARTITIONS];
        Header::write(waiter, part, &mut last.headers, &mut last.text);
        self.records += 1;
        if last.bytes() < Self::LAST {
            return Ok(());
        }
        rest.append(last);
        let bytes = rest.bytes();
        if bytes < Self::PIECE {
            return Ok(());
        }
        let [room, room_per_record] = self.room;
        let room = room.saturating_add(room_per_record.saturating_mul(self.records));
        if self.bytes + bytes as u64 <= room {
            self.bytes += bytes as u64;
            // A copy has no room for more.
            pieces.push(Piece::Memory(rest.clone()));
            rest.clear();
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all(&rest.headers)?;
        file.write_all(rest.text.as_bytes())?;
        let lengths = [rest.headers.len(), rest.text.len()];
        pieces.push(Piece::File(self.written, lengths));
        self.written += bytes as u64;
        rest.clear();
        Ok(())
    }

    /// Takes out the last part.
    pub(crate) fn take_last(&mut self) -> Option<Partition> {
        self.partitions.pop()
    }

    /// The file, once there is no room in memory.
    pub(crate) fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }
}

impl Piece {
    fn header_bytes(&self) -> usize {
        match self {
            Self::Memory(packed) => packed.headers.len(),
            Self::File(_, [headers, _]) => *headers,
        }
    }

    /// The records, which may be in the file.
    fn read(self, file: Option<&File>) -> io::Result<Packed> {
        let (start, [headers, text]) = match self {
            Self::Memory(packed) => return Ok(packed),
            Self::File(start, lengths) => (start, lengths),
        };
        let file = file.ok_or(io::ErrorKind::InvalidData)?;
        let mut bytes = vec![0; headers + text];
        read_at(file, &mut bytes, start)?;
        let (headers, text) = bytes.split_at(headers);
        let text = simdutf8::basic::from_utf8(text).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Packed {
            headers: headers.to_vec(),
            text: text.to_owned(),
        })
    }
}

impl Partition {
    /// Finds the partners. `file` has the pieces that are not in memory, and `parts` are those that records are of.
    pub(crate) fn join(self, file: Option<&File>, parts: &Arc<[Arc<Part>]>) -> io::Result<Joined> {
        let headers: usize = self.pieces.iter().map(Piece::header_bytes).sum();
        let headers = headers + self.rest.headers.len() + self.last.headers.len();
        let rest = [self.rest, self.last].map(Piece::Memory);
        let mut texts = Vec::new();
        let mut records = Vec::with_capacity(headers / Header::LEAST_BYTES);
        for piece in self.pieces.into_iter().chain(rest) {
            let Packed { headers, text } = piece.read(file)?;
            let mut headers = headers.as_slice();
            let mut start = 0;
            while !headers.is_empty() {
                let header = Header::read(&mut headers).ok_or(io::ErrorKind::InvalidData)?;
                let length = header.text_bytes();
                records.push(Entry {
                    text: texts.len(),
                    start,
                    header,
                });
                start += length;
            }
            texts.push(text);
        }
        let spilled = Spilled {
            texts,
            records,
            parts: Arc::clone(parts),
        };
        Ok(spilled.join())
    }
}

/// The records of a part.
#[derive(Debug)]
pub(crate) struct Spilled {
    /// The texts of each piece.
    texts: Vec<String>,
    records: Vec<Entry>,
    parts: Arc<[Arc<Part>]>,
}

/// A record, and where its text is.
#[derive(Debug)]
struct Entry {
    /// The index of the piece.
    text: usize,
    start: usize,
    header: Header,
}

/// A part after its join.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) spilled: Spilled,
    /// References with their predictions.
    pub(crate) pairs: Vec<[usize; 2]>,
    /// Ids that one side has twice.
    pub(crate) twice: Vec<(Side, String)>,
    /// Records that found no partner.
    pub(crate) alone: Vec<usize>,
}

impl Spilled {
    /// The record at an index.
    pub(crate) fn get(&self, index: usize) -> Option<Waiter<'_>> {
        let entry = self.records.get(index)?;
        let text = self.texts.get(entry.text)?.get(entry.start..)?;
        entry.header.waiter(text, &self.parts)
    }

    /// The number of a record among all references.
    pub(crate) fn ordinal(&self, index: usize) -> u64 {
        let record = self.records.get(index);
        record.map_or(0, |entry| entry.header.ordinal)
    }

    fn id(&self, entry: &Entry) -> Option<&str> {
        let text = self.texts.get(entry.text)?;
        text.get(entry.start..entry.start + entry.header.id)
    }

    /// Finds the partners.
    fn join(self) -> Joined {
        const EMPTY: usize = usize::MAX;
        let size = (2 * self.records.len()).next_power_of_two();
        // Indexes of records by their fingerprints, with linear probing, next to the fingerprints.
        let mut table = vec![(0_u64, EMPTY); size];
        let mut is_alone = vec![false; self.records.len()];
        let mut pairs = Vec::with_capacity(self.records.len() / 2);
        let mut twice = Vec::new();
        for (index, entry) in self.records.iter().enumerate() {
            let Header { print, side, .. } = entry.header;
            let mut at = (print >> PARTITION_BITS) as usize;
            let other = loop {
                at &= size - 1;
                let (other_print, other) = table[at];
                if other == EMPTY {
                    table[at] = (print, index);
                    is_alone[index] = true;
                    break None;
                }
                if other_print == print
                    && is_alone[other]
                    && self.id(&self.records[other]) == self.id(entry)
                {
                    break Some(other);
                }
                at += 1;
            };
            match other {
                None => {}
                Some(other) if self.records[other].header.side == side => {
                    twice.push((side, self.id(entry).unwrap_or_default().to_owned()));
                }
                Some(other) => {
                    is_alone[other] = false;
                    pairs.push(match side {
                        Side::Reference => [index, other],
                        Side::Prediction => [other, index],
                    });
                }
            }
        }
        let alone = is_alone.iter().enumerate();
        let alone = alone.filter_map(|(index, is_alone)| is_alone.then_some(index));
        Joined {
            alone: alone.collect(),
            pairs,
            twice,
            spilled: self,
        }
    }
}

/// The data stored in a file before the text of a record.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    side: Side,
    form: Form,
    has_record: bool,
    print: u64,
    ordinal: u64,
    line: u64,
    part: usize,
    /// The lengths of the id, the value and the record.
    id: usize,
    value: usize,
    record: usize,
}

impl Header {
    /// The length of the shortest header.
    const LEAST_BYTES: usize = 8 + 1 + 17;

    /// Appends a record to headers and texts.
    pub(crate) fn write(
        waiter: &Waiter<'_>,
        part: usize,
        headers: &mut Vec<u8>,
        text: &mut String,
    ) {
        let start = text.len();
        push_id(waiter.id, text);
        let id = text.len() - start;
        let record = waiter.record.unwrap_or_default();
        text.push_str(waiter.value);
        text.push_str(record);
        let lengths = [part, id, waiter.value.len(), record.len()].map(|length| length as u64);
        let [part, id, value, record] = lengths;
        let numbers = [waiter.ordinal, waiter.line, value, part, id, record];
        let is_small = numbers
            .iter()
            .zip(SMALL)
            .all(|(number, bytes)| *number < 1 << (8 * bytes));
        let is_prediction = waiter.side == Side::Prediction;
        let flags = waiter.form.code() << 3
            | u8::from(is_small) << 2
            | u8::from(waiter.record.is_some()) << 1
            | u8::from(is_prediction);
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&waiter.print.to_le_bytes());
        bytes[8] = flags;
        let mut end = 9;
        // The upper bytes of a number are overwritten by the next one.
        for (number, length) in numbers
            .into_iter()
            .zip(if is_small { SMALL } else { LARGE })
        {
            bytes[end..end + 8].copy_from_slice(&number.to_le_bytes());
            end += length;
        }
        headers.extend_from_slice(&bytes[..end]);
    }

    /// Takes a header from the start of some bytes.
    pub(crate) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (print, rest) = bytes.split_first_chunk()?;
        let (flags, mut rest) = rest.split_first()?;
        let lengths = if flags & 4 == 0 { LARGE } else { SMALL };
        let mut numbers = [0; 6];
        for (number, length) in numbers.iter_mut().zip(lengths) {
            let (low, after) = rest.split_at_checked(length)?;
            *number = match rest.first_chunk() {
                Some(all) => u64::from_le_bytes(*all) & (u64::MAX >> (64 - 8 * length)),
                None => {
                    let mut all = [0; 8];
                    all[..length].copy_from_slice(low);
                    u64::from_le_bytes(all)
                }
            };
            rest = after;
        }
        *bytes = rest;
        let [ordinal, line, lengths @ ..] = numbers;
        let [value, part, id, record] = lengths.map(|length| length as usize);
        Some(Self {
            side: match flags & 1 {
                0 => Side::Reference,
                _ => Side::Prediction,
            },
            form: Form::of_code(flags >> 3)?,
            has_record: flags & 2 != 0,
            print: u64::from_le_bytes(*print),
            ordinal,
            line,
            part,
            id,
            value,
            record,
        })
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.id + self.value + self.record
    }

    /// The record, whose text some text starts with.
    pub(crate) fn waiter<'a>(&self, text: &'a str, parts: &'a [Arc<Part>]) -> Option<Waiter<'a>> {
        let (id, rest) = text.split_at_checked(self.id)?;
        let (value, rest) = rest.split_at_checked(self.value)?;
        Some(Waiter {
            side: self.side,
            print: self.print,
            ordinal: self.ordinal,
            line: self.line,
            part: parts.get(self.part)?,
            id: Id::Text(id),
            form: self.form,
            value,
            record: if self.has_record {
                Some(rest.get(..self.record)?)
            } else {
                None
            },
        })
    }
}

/// The numbers of bytes of the numbers of a header, if they are as small as in nearly all headers: of the ordinal, the
/// line, the length of the value, the part, and the lengths of the id and the record.
const SMALL: [usize; 6] = [4, 4, 4, 2, 1, 2];

/// The same for any numbers.
const LARGE: [usize; 6] = [8; 6];

/// The most bytes of a header: a fingerprint, flags, and the numbers.
const HEADER_BYTES: usize = 8 + 1 + 6 * 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_in_memory_as_long_as_there_is_room() {
        let part = Arc::default();
        let value = "x".repeat(1000);
        for (room, in_memory, on_disk) in [
            ([0, 0], false, true),
            ([70_000, 0], true, true),
            ([0, 300], true, true),
            ([u64::MAX, 12], true, false),
        ] {
            let mut spill = Spill::new(room);
            for number in 0..200 {
                let id = number.to_string();
                let waiter = Waiter {
                    side: Side::Reference,
                    // All of them are of the part that is taken first.
                    print: u64::MAX,
                    ordinal: number,
                    line: number + 1,
                    part: &part,
                    id: Id::Text(&id),
                    form: Form::Line,
                    value: &value,
                    record: None,
                };
                spill.write(&waiter, 0).expect("a record");
            }
            assert_eq!(spill.bytes() > 0, in_memory, "{room:?}");
            assert_eq!(spill.file.is_some(), on_disk, "{room:?}");
            let packed = spill.take_last().expect("a part");
            let joined = packed.join(spill.file(), &[Arc::clone(&part)].into());
            let spilled = joined.expect("a part").spilled;
            for index in 0..200 {
                let waiter = spilled.get(index).expect("a record");
                assert_eq!(waiter.ordinal, index as u64);
                assert_eq!(waiter.id, Id::Text(&index.to_string()));
                assert_eq!(waiter.value, value);
            }
            assert!(spilled.get(200).is_none());
        }
    }

    #[test]
    fn headers_are_read_as_written() {
        let part = Arc::default();
        for numbers in [0, 1, 255, 256, 65_536, 1 << 32, u64::MAX] {
            for bytes in [0, 1, 255, 256, 70_000] {
                let id = "i".repeat(bytes);
                let record = "r".repeat(bytes + 1);
                let waiter = Waiter {
                    side: Side::Prediction,
                    print: numbers / 3,
                    ordinal: numbers,
                    line: u64::MAX - numbers,
                    part: &part,
                    id: Id::Text(&id),
                    form: Form::Line,
                    value: "v",
                    record: Some(&record).filter(|_| bytes > 1).map(String::as_str),
                };
                let (mut headers, mut text) = (Vec::new(), String::new());
                let number = 300 * (bytes % 2);
                Header::write(&waiter, number, &mut headers, &mut text);
                let mut rest = headers.as_slice();
                let header = Header::read(&mut rest).expect("a header");
                assert!(rest.is_empty());
                assert_eq!(header.text_bytes(), text.len());
                let parts = vec![Arc::clone(&part); 301];
                let read = header.waiter(&text, &parts).expect("a record");
                assert_eq!(format!("{read:?}"), format!("{waiter:?}"));
                assert_eq!(header.part, number);
                for cut in 0..headers.len() {
                    assert!(Header::read(&mut &headers[..cut]).is_none());
                }
            }
        }
    }
}
