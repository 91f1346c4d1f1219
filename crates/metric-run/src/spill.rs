//! The parts in which out-of-order records are joined.
//!
//! The fingerprint of a record selects its part. When all records have arrived, each part is joined on its own, in the
//! cache. Parts are written in pieces, which stay in memory as long as there is room, and otherwise go to a temporary
//! file.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use metric_record::{Id, Side};

use crate::packed::Packed;
use crate::part::Part;
use crate::positions::read_at;
use crate::waiter::Waiter;

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
    rest: Vec<u8>,
    /// The last few records.
    last: Vec<u8>,
}

/// Packed records.
#[derive(Debug)]
enum Piece {
    Memory(Vec<u8>),
    /// Where they start in the file, and their length.
    File(u64, usize),
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

    /// Writes a record of a part with this number, whose id has this fingerprint.
    pub(crate) fn write(&mut self, print: u64, waiter: &Waiter<'_>, part: usize) -> io::Result<()> {
        let Partition { pieces, rest, last } = &mut self.partitions[print as usize % PARTITIONS];
        Packed::push(waiter, part, last);
        self.records += 1;
        if last.len() < Self::LAST {
            return Ok(());
        }
        rest.append(last);
        let bytes = rest.len();
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
        file.write_all(rest)?;
        pieces.push(Piece::File(self.written, bytes));
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
    /// The records, which may be in the file.
    fn read(self, file: Option<&File>) -> io::Result<String> {
        let bytes = match self {
            Self::Memory(bytes) => bytes,
            Self::File(start, length) => {
                let file = file.ok_or(io::ErrorKind::InvalidData)?;
                let mut bytes = vec![0; length];
                read_at(file, &mut bytes, start)?;
                bytes
            }
        };
        let text = simdutf8::basic::from_utf8(&bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(text.to_owned())
    }
}

impl Partition {
    /// Finds the partners. `file` has the pieces that are not in memory, `parts` are those that records are of, and
    /// `print` is the fingerprint of an id.
    pub(crate) fn join(
        self,
        file: Option<&File>,
        parts: &Arc<[Arc<Part>]>,
        print: fn(Id<'_>) -> u64,
    ) -> io::Result<Joined> {
        let rest = [self.rest, self.last].map(Piece::Memory);
        let mut texts = Vec::new();
        let mut records = Vec::new();
        for piece in self.pieces.into_iter().chain(rest) {
            let text = piece.read(file)?;
            let mut start = 0;
            while start < text.len() {
                let rest = text.get(start..).ok_or(io::ErrorKind::InvalidData)?;
                let entry = Packed::read(rest.as_bytes()).and_then(|packed| {
                    let id = packed.id(rest)?;
                    let entry = Entry {
                        print: print(Id::Text(id)),
                        side: packed.side,
                        text: texts.len(),
                        start,
                    };
                    start += packed.bytes();
                    Some(entry)
                });
                records.push(entry.ok_or(io::ErrorKind::InvalidData)?);
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

/// A record: the fingerprint of its id, its side, and where it is.
#[derive(Debug)]
struct Entry {
    print: u64,
    side: Side,
    /// The index of the piece.
    text: usize,
    start: usize,
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
        let (packed, text) = self.packed(self.records.get(index)?)?;
        packed.waiter(text, &self.parts)
    }

    /// The number of a record among all references.
    pub(crate) fn ordinal(&self, index: usize) -> u64 {
        let packed = self.records.get(index).and_then(|entry| self.packed(entry));
        packed.map_or(0, |(packed, _)| packed.ordinal)
    }

    /// The header of a record, and the text that starts with it.
    fn packed(&self, entry: &Entry) -> Option<(Packed, &str)> {
        let text = self.texts.get(entry.text)?.get(entry.start..)?;
        Some((Packed::read(text.as_bytes())?, text))
    }

    fn id(&self, entry: &Entry) -> Option<&str> {
        let (packed, text) = self.packed(entry)?;
        packed.id(text)
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
            let Entry { print, side, .. } = *entry;
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
                Some(other) if self.records[other].side == side => {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::Form;
    use crate::waiter::fingerprint;

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
                    ordinal: number,
                    line: number + 1,
                    part: &part,
                    id: Id::Text(&id),
                    form: Form::Line,
                    value: &value,
                    record: None,
                };
                // All of them are of the part that is taken first.
                spill.write(u64::MAX, &waiter, 0).expect("a record");
            }
            assert_eq!(spill.bytes() > 0, in_memory, "{room:?}");
            assert_eq!(spill.file.is_some(), on_disk, "{room:?}");
            let packed = spill.take_last().expect("a part");
            let joined = packed.join(spill.file(), &[Arc::clone(&part)].into(), fingerprint);
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
}
