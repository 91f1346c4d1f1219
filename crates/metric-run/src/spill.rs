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
use crate::waiter::Waiter;

/// The number of parts: those of millions of records fit into the cache.
const PARTITIONS: usize = 256;

/// The number of bits of a fingerprint that select the part.
const PARTITION_BITS: u32 = PARTITIONS.ilog2();

/// Records in parts.
#[derive(Debug)]
pub(crate) struct Spill {
    /// The file, once there is no room in memory.
    file: Option<File>,
    /// The length of the file.
    written: u64,
    /// The size of the pieces in memory.
    bytes: u64,
    /// The number of bytes of pieces that fit into memory, whatever the number of records, and the number of additional
    /// bytes for each record.
    room: [u64; 2],
    records: u64,
    partitions: Vec<Partition>,
}

/// A part: pieces that are written, and what comes after them.
#[derive(Debug, Default)]
struct Partition {
    pieces: Vec<Piece>,
    headers: Vec<u8>,
    text: String,
}

/// Some headers and their texts.
#[derive(Debug)]
enum Piece {
    Memory(Box<[u8]>, Box<str>),
    /// Where it starts in the file, and the lengths of headers and texts.
    File(u64, [usize; 2]),
}

impl Spill {
    /// The number of bytes of a part that are written at a time.
    const PIECE: usize = 1 << 15;

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

    /// The size of the pieces in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes a record of a part with this number.
    pub(crate) fn write(&mut self, waiter: &Waiter<'_>, part: usize) -> io::Result<()> {
        let Partition {
            pieces,
            headers,
            text,
        } = &mut self.partitions[waiter.print as usize % PARTITIONS];
        Header::write(waiter, part, headers, text);
        self.records += 1;
        let length = headers.len() + text.len();
        if length < Self::PIECE {
            return Ok(());
        }
        let [room, room_per_record] = self.room;
        let room = room.saturating_add(room_per_record.saturating_mul(self.records));
        if self.bytes + length as u64 <= room {
            self.bytes += length as u64;
            pieces.push(Piece::Memory(
                headers.as_slice().into(),
                text.as_str().into(),
            ));
        } else {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile()?),
            };
            file.write_all(headers)?;
            file.write_all(text.as_bytes())?;
            pieces.push(Piece::File(self.written, [headers.len(), text.len()]));
            self.written += length as u64;
        }
        headers.clear();
        text.clear();
        Ok(())
    }

    /// Takes out the records of the last part. `parts` are those that records are of.
    pub(crate) fn take_last(&mut self, parts: &[Arc<Part>]) -> io::Result<Option<Spilled>> {
        let Some(partition) = self.partitions.pop() else {
            return Ok(None);
        };
        let mut lengths = [partition.headers.len(), partition.text.len()];
        for piece in &partition.pieces {
            for (total, length) in lengths.iter_mut().zip(piece.lengths()) {
                *total += length;
            }
        }
        let [mut headers, mut text] = lengths.map(Vec::with_capacity);
        for piece in partition.pieces {
            match piece {
                Piece::Memory(of_headers, of_text) => {
                    self.bytes -= (of_headers.len() + of_text.len()) as u64;
                    headers.extend_from_slice(&of_headers);
                    text.extend_from_slice(of_text.as_bytes());
                }
                Piece::File(offset, [of_headers, of_text]) => {
                    let file = self.file.as_ref().ok_or(io::ErrorKind::InvalidData)?;
                    let mut offset = offset;
                    for (bytes, length) in [(&mut headers, of_headers), (&mut text, of_text)] {
                        let start = bytes.len();
                        bytes.resize(start + length, 0);
                        read_at(file, &mut bytes[start..], offset)?;
                        offset += length as u64;
                    }
                }
            }
        }
        headers.extend_from_slice(&partition.headers);
        text.extend_from_slice(partition.text.as_bytes());
        let text = String::from_utf8(text).map_err(|_| io::ErrorKind::InvalidData)?;
        let mut records = Vec::new();
        let mut rest = headers.as_slice();
        let mut start = 0;
        while !rest.is_empty() {
            let header = Header::read(&mut rest).ok_or(io::ErrorKind::InvalidData)?;
            let length = header.text_bytes();
            records.push((start, header));
            start += length;
        }
        Ok(Some(Spilled {
            text,
            records,
            parts: parts.to_vec(),
        }))
    }
}

impl Piece {
    /// The lengths of headers and texts.
    fn lengths(&self) -> [usize; 2] {
        match self {
            Self::Memory(headers, text) => [headers.len(), text.len()],
            Self::File(_, lengths) => *lengths,
        }
    }
}

/// The records of a part.
#[derive(Debug, Default)]
pub(crate) struct Spilled {
    text: String,
    /// Where the text of each starts.
    records: Vec<(usize, Header)>,
    parts: Vec<Arc<Part>>,
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
        let (start, header) = self.records.get(index)?;
        header.waiter(self.text.get(*start..)?, &self.parts)
    }

    /// The number of a record among all references.
    pub(crate) fn ordinal(&self, index: usize) -> u64 {
        let record = self.records.get(index);
        record.map_or(0, |(_, header)| header.ordinal)
    }

    fn id(&self, index: usize) -> Option<&str> {
        let (start, header) = self.records.get(index)?;
        self.text.get(*start..*start + header.id)
    }

    /// Finds the partners.
    pub(crate) fn join(self) -> Joined {
        const EMPTY: usize = usize::MAX;
        let size = (2 * self.records.len()).next_power_of_two();
        // Indexes of records by their fingerprints, with linear probing.
        let mut table = vec![EMPTY; size];
        let mut is_alone = vec![false; self.records.len()];
        let mut pairs = Vec::with_capacity(self.records.len() / 2);
        let mut twice = Vec::new();
        for (index, (_, header)) in self.records.iter().enumerate() {
            let mut at = (header.print >> PARTITION_BITS) as usize;
            let other = loop {
                at &= size - 1;
                let Some((_, other)) = self.records.get(table[at]) else {
                    table[at] = index;
                    is_alone[index] = true;
                    break None;
                };
                if is_alone[table[at]]
                    && other.print == header.print
                    && self.id(table[at]) == self.id(index)
                {
                    break Some((table[at], other));
                }
                at += 1;
            };
            match other {
                None => {}
                Some((_, other)) if other.side == header.side => {
                    let id = self.id(index).unwrap_or_default();
                    twice.push((header.side, id.to_owned()));
                }
                Some((other, _)) => {
                    is_alone[other] = false;
                    pairs.push(match header.side {
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
    /// Appends a record to headers and texts.
    pub(crate) fn write(
        waiter: &Waiter<'_>,
        part: usize,
        headers: &mut Vec<u8>,
        text: &mut String,
    ) {
        let start = text.len();
        match waiter.id {
            Id::Text(id) => text.push_str(id),
            id => text.push_str(&id.to_string()),
        }
        let id = text.len() - start;
        let record = waiter.record.unwrap_or_default();
        text.push_str(waiter.value);
        text.push_str(record);
        let is_prediction = waiter.side == Side::Prediction;
        let flags = waiter.form.code() << 2
            | u8::from(waiter.record.is_some()) << 1
            | u8::from(is_prediction);
        headers.extend_from_slice(&waiter.print.to_le_bytes());
        headers.push(flags);
        for number in [waiter.ordinal, waiter.line] {
            write_number(number, headers);
        }
        for number in [part, id, waiter.value.len(), record.len()] {
            write_number(number as u64, headers);
        }
    }

    /// Takes a header from the start of some bytes.
    pub(crate) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (print, rest) = bytes.split_first_chunk()?;
        let (flags, rest) = rest.split_first()?;
        *bytes = rest;
        let mut number = || read_number(bytes);
        let (ordinal, line) = (number()?, number()?);
        let mut number = || usize::try_from(number()?).ok();
        Some(Self {
            side: match flags & 1 {
                0 => Side::Reference,
                _ => Side::Prediction,
            },
            form: Form::of_code(flags >> 2)?,
            has_record: flags & 2 != 0,
            print: u64::from_le_bytes(*print),
            ordinal,
            line,
            part: number()?,
            id: number()?,
            value: number()?,
            record: number()?,
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

/// Appends a number, seven bits at a time: most are small.
fn write_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the start of some bytes.
fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// The writes that follow go to the end again.
#[cfg(not(unix))]
pub(crate) fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};

    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)?;
    file.seek(SeekFrom::End(0)).map(drop)
}

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
            let parts = [Arc::clone(&part)];
            let spilled = spill.take_last(&parts).expect("a part").expect("a part");
            for index in 0..200 {
                let waiter = spilled.get(index).expect("a record");
                assert_eq!(waiter.ordinal, index as u64);
                assert_eq!(waiter.id, Id::Text(&index.to_string()));
                assert_eq!(waiter.value, value);
            }
            assert!(spilled.get(200).is_none());
            assert_eq!(spill.bytes(), 0);
        }
    }

    #[test]
    fn numbers_are_read_as_written() {
        let numbers = [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX];
        let mut bytes = Vec::new();
        for number in numbers {
            write_number(number, &mut bytes);
        }
        let mut rest = bytes.as_slice();
        for number in numbers {
            assert_eq!(read_number(&mut rest), Some(number));
        }
        assert_eq!(read_number(&mut rest), None);
        assert_eq!(read_number(&mut [0x80_u8; 11].as_slice()), None);
    }
}
