//! Out-of-order records in partitions by their ids, as in a hybrid hash join.
//!
//! The fingerprint of an id selects the partition of its record, which is packed. Packed records stay in memory as long as
//! there is room, and otherwise go to a temporary file, in pieces. A partition is joined on its own, in the cache: a table of its
//! references is built, in which its predictions look for their partner. If all references are in memory, their tables
//! are all built once the last of them has come, and predictions that come after that look there without being packed.

use std::fs::File;
use std::io::{self, Write};

use metric_record::{Id, Side};

use crate::packed::{Packed, Unpacked};
use crate::positions::read_at;
use crate::waiter::Waiter;

/// The number of partitions: those of millions of records fit into the cache.
const PARTITIONS: usize = 64;

/// The number of bits of a fingerprint that select the partition.
const PARTITION_BITS: u32 = PARTITIONS.ilog2();

/// Packed records by the fingerprints of their ids.
#[derive(Debug)]
pub(crate) struct Partitions {
    /// The file, once there is no room in memory.
    file: Option<File>,
    /// The length of the file.
    written: u64,
    /// The memory that was taken, about, that of partitions that were joined included.
    bytes: u64,
    /// The number of bytes that fit into memory, whatever the number of records.
    room: u64,
    partitions: Vec<Partition>,
}

/// Packed records whose fingerprints share some bits.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    /// The records in pieces, and those of the next piece.
    pieces: Vec<Piece>,
    open: Vec<u8>,
    references: Vec<Slot>,
    predictions: Vec<Slot>,
}

/// Packed records.
#[derive(Debug)]
enum Piece {
    Memory(Vec<u8>),
    /// Where they start in the file, and their length.
    File(u64, usize),
}

/// A record: some bits of the fingerprint of its id, and where it starts in its partition.
#[derive(Clone, Copy, Debug)]
struct Slot {
    tag: u32,
    address: Address,
}

impl Slot {
    const EMPTY: Self = Self {
        tag: 0,
        address: Address(u32::MAX),
    };

    fn is_empty(self) -> bool {
        self.address == Self::EMPTY.address
    }
}

/// Where a record starts: the number of its piece in the upper bits, and the position in the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address(u32);

impl Address {
    /// The number of bits of the position in a piece.
    const BITS: u32 = Partitions::PIECE.ilog2();

    /// The address of a record that starts in a piece; an error if there are too many pieces.
    fn new(piece: usize, start: usize) -> io::Result<Self> {
        let piece = u32::try_from(piece).ok();
        let piece = piece.filter(|piece| *piece < Slot::EMPTY.address.0 >> Self::BITS);
        let piece = piece.ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(Self(piece << Self::BITS | start as u32))
    }

    /// The number of the piece, and the position in it.
    fn parts(self) -> (usize, usize) {
        let start = self.0 as usize % Partitions::PIECE;
        ((self.0 >> Self::BITS) as usize, start)
    }
}

impl Partitions {
    /// The number of bytes after which a piece ends; in tests, so few that small data fill pieces.
    const PIECE: usize = if cfg!(test) { 1 << 9 } else { 1 << 15 };

    /// The room in a piece for the end of its last record.
    const LAST_RECORD: usize = 1 << 9;

    /// The number of bytes per reference that fit into memory in addition to the room.
    const ROOM_PER_REFERENCE: u64 = 32;

    pub(crate) fn new(room: u64) -> Self {
        Self {
            file: None,
            written: 0,
            bytes: 0,
            room,
            partitions: (0..PARTITIONS).map(|_| Partition::default()).collect(),
        }
    }

    /// The memory that is taken, about, with that of the tables of references. It grows with the records, and is the same
    /// however many partitions are joined at a time.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether no record had to go to the file.
    pub(crate) fn are_in_memory(&self) -> bool {
        self.file.is_none()
    }

    /// Writes a record of a part with this number, whose id has this fingerprint.
    pub(crate) fn write(&mut self, print: u64, waiter: &Waiter<'_>, part: usize) -> io::Result<()> {
        let Partition {
            pieces,
            open,
            references,
            predictions,
        } = &mut self.partitions[partition_of(print)];
        let slot = Slot {
            tag: tag(print),
            address: Address::new(pieces.len(), open.len())?,
        };
        match waiter.side {
            Side::Reference => {
                references.push(slot);
                self.bytes += Table::BYTES_PER_REFERENCE;
                self.room = self.room.saturating_add(Self::ROOM_PER_REFERENCE);
            }
            Side::Prediction => {
                predictions.push(slot);
                self.bytes += size_of::<Slot>() as u64;
            }
        }
        if open.capacity() == 0 {
            open.reserve(Self::PIECE + Self::LAST_RECORD);
        }
        Packed::push(waiter, part, open);
        let length = open.len();
        if length < Self::PIECE {
            return Ok(());
        }
        if self.bytes + length as u64 <= self.room {
            self.bytes += length as u64;
            pieces.push(Piece::Memory(std::mem::take(open)));
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all(open)?;
        pieces.push(Piece::File(self.written, length));
        self.written += length as u64;
        open.clear();
        Ok(())
    }

    /// Takes out the last partitions, this many.
    pub(crate) fn take_last(&mut self, count: usize) -> Vec<Partition> {
        let start = self.partitions.len().saturating_sub(count);
        self.partitions.split_off(start)
    }

    /// Takes out all partitions.
    pub(crate) fn take_all(&mut self) -> Vec<Partition> {
        std::mem::take(&mut self.partitions)
    }

    /// The file, once there is no room in memory.
    pub(crate) fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }
}

/// The partition of a fingerprint.
fn partition_of(print: u64) -> usize {
    print as usize % PARTITIONS
}

/// The bits of a fingerprint that are in its slot: others than those that select the partition.
fn tag(print: u64) -> u32 {
    (print >> PARTITION_BITS) as u32
}

impl Partition {
    /// Finds the partners among its records; `file` has those that are not in memory.
    pub(crate) fn join(mut self, file: Option<&File>) -> io::Result<Joined> {
        self.pieces.push(Piece::Memory(self.open));
        let pieces = self.pieces.into_iter().map(|piece| piece.read(file));
        let (references, predictions) = (self.references, self.predictions);
        let mut table = Table::new(pieces.collect::<Result<_, _>>()?, references.len());
        let mut joined = Joined::default();
        for slot in references {
            let at = table.tagged(slot.tag);
            if table.slots[at].is_empty() {
                table.slots[at] = slot;
                continue;
            }
            let (_, id, _) = table
                .packed(slot.address)
                .ok_or(io::ErrorKind::InvalidData)?;
            match table.find(slot.tag, at, id) {
                Ok(_) => joined.twice.push((Side::Reference, owned(id))),
                Err(at) => table.slots[at] = slot,
            }
        }
        for slot in predictions {
            let read = table.packed(slot.address);
            let (packed, id, bytes) = read.ok_or(io::ErrorKind::InvalidData)?;
            match table.find(slot.tag, table.tagged(slot.tag), id) {
                Err(_) => joined.extra.push(slot.address),
                Ok((at, ..)) if table.is_taken(at) => {
                    joined.twice.push((Side::Prediction, owned(id)));
                }
                Ok((at, reference, its_bytes)) => {
                    joined.references.push(&reference, its_bytes);
                    joined.predictions.push(&packed, bytes);
                    table.take(at);
                }
            }
        }
        joined.table = table;
        Ok(joined)
    }
}

impl Piece {
    /// The records, which may be in the file.
    fn read(self, file: Option<&File>) -> io::Result<Vec<u8>> {
        match self {
            Self::Memory(bytes) => Ok(bytes),
            Self::File(start, length) => {
                let file = file.ok_or(io::ErrorKind::NotFound)?;
                let mut bytes = vec![0; length];
                read_at(file, &mut bytes, start)?;
                Ok(bytes)
            }
        }
    }
}

/// An id that was packed, for messages.
fn owned(id: &[u8]) -> String {
    String::from_utf8_lossy(id).into_owned()
}

/// A partition after its join.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    pub(crate) table: Table,
    /// The references of its predictions, and these in the same order.
    pub(crate) references: Unpacked,
    pub(crate) predictions: Unpacked,
    /// Ids that one side has twice.
    pub(crate) twice: Vec<(Side, String)>,
    /// Predictions without a reference.
    pub(crate) extra: Vec<Address>,
}

/// The references of a partition by their ids, among packed records.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The packed records.
    pieces: Vec<Vec<u8>>,
    /// The references by fingerprint, with linear probing.
    slots: Vec<Slot>,
    /// Whether a slot's reference has found its prediction, by bits.
    taken: Vec<u64>,
    /// The number of references that have not.
    missing: usize,
}

impl Table {
    /// The memory of a reference in addition to its bytes: a third of the slots stays empty.
    const BYTES_PER_REFERENCE: u64 = size_of::<Slot>() as u64 * 3 / 2;

    /// A table of packed records with room for this many references.
    fn new(pieces: Vec<Vec<u8>>, references: usize) -> Self {
        let count = references / 2 * 3 + 4;
        Self {
            pieces,
            slots: vec![Slot::EMPTY; count],
            taken: vec![0; count.div_ceil(u64::BITS as usize)],
            missing: references,
        }
    }

    /// The rest of a piece, starting with a record.
    fn rest(&self, address: Address) -> Option<&[u8]> {
        let (piece, start) = address.parts();
        self.pieces.get(piece)?.get(start..)
    }

    /// The header of a record, its id, and its bytes.
    #[inline(always)]
    pub(crate) fn packed(&self, address: Address) -> Option<(Packed, &[u8], &[u8])> {
        let bytes = self.rest(address)?;
        let packed = Packed::read(bytes)?;
        let bytes = bytes.get(..packed.bytes())?;
        let id = packed.id(bytes)?;
        Some((packed, id, bytes))
    }

    /// The references that have found no prediction, in the order in which they came.
    pub(crate) fn missing(&self) -> Vec<Address> {
        if self.missing == 0 {
            return Vec::new();
        }
        let slots = self.slots.iter().enumerate();
        let missing = slots.filter(|(at, slot)| !slot.is_empty() && !self.is_taken(*at));
        let mut missing: Vec<Address> = missing.map(|(_, slot)| slot.address).collect();
        missing.sort_unstable();
        missing
    }

    fn is_taken(&self, slot: usize) -> bool {
        self.taken[slot / u64::BITS as usize] >> (slot % u64::BITS as usize) & 1 != 0
    }

    /// Takes the reference of a slot. Returns whether this is the first time.
    fn take(&mut self, slot: usize) -> bool {
        let is_first = !self.is_taken(slot);
        self.taken[slot / u64::BITS as usize] |= 1 << (slot % u64::BITS as usize);
        self.missing -= usize::from(is_first);
        is_first
    }

    /// The slot at which the search for a tag starts.
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.slots.len() as u64) >> u32::BITS) as usize
    }

    /// The first slot with a tag, or the first empty slot.
    fn tagged(&self, tag: u32) -> usize {
        self.tagged_after(tag, self.home(tag))
    }

    /// The same, starting at a slot.
    fn tagged_after(&self, tag: u32, mut at: usize) -> usize {
        loop {
            let slot = self.slots[at];
            if slot.tag == tag || slot.is_empty() {
                return at;
            }
            at = self.next(at);
        }
    }

    /// The slot after another one.
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() {
            0
        } else {
            at + 1
        }
    }

    /// The slot of an id with its reference and the bytes that start with it, or the empty slot where the id belongs. The
    /// search starts at the first slot with its tag.
    #[inline(always)]
    fn find(&self, tag: u32, mut at: usize, id: &[u8]) -> Result<(usize, Packed, &[u8]), usize> {
        loop {
            if self.slots[at].is_empty() {
                return Err(at);
            }
            if let Some((packed, its_id, bytes)) = self.packed(self.slots[at].address)
                && its_id == id
            {
                return Ok((at, packed, bytes));
            }
            at = self.tagged_after(tag, self.next(at));
        }
    }
}

/// The references of all partitions, once all of them have come.
#[derive(Debug, Default)]
pub(crate) struct Tables(pub(crate) Vec<Table>);

/// A reference that was found: its table, and the slot there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundReference {
    table: u32,
    slot: u32,
}

impl Tables {
    /// Looks up the ids of some records. Returns the references that were found for each, and these records one after
    /// another.
    pub(crate) fn look_up<'i>(
        &self,
        ids: impl ExactSizeIterator<Item = Id<'i>>,
        print: fn(Id<'_>) -> u64,
    ) -> (Vec<Option<FoundReference>>, Unpacked) {
        let mut found = Vec::with_capacity(ids.len());
        let mut records = Unpacked::with_capacity(ids.len());
        let mut ids = ids.map(|id| (id, print(id)));
        let mut batch = Vec::with_capacity(BATCH);
        let mut slots = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            batch.extend(ids.by_ref().take(BATCH));
            if batch.is_empty() {
                return (found, records);
            }
            let tables = batch
                .iter()
                .map(|(_, print)| (self.of(*print), tag(*print)));
            load_ahead(
                tables
                    .clone()
                    .map(|(table, tag)| table.slots[table.home(tag)].tag),
            );
            slots.clear();
            slots.extend(tables.clone().map(|(table, tag)| {
                let at = table.tagged(tag);
                (at, table.slots[at].address)
            }));
            load_ahead(tables.zip(&slots).map(|((table, _), (_, address))| {
                let bytes = table.rest(*address).unwrap_or_default();
                let byte = |at: usize| u32::from(bytes.get(at).copied().unwrap_or_default());
                byte(0) + byte(NEXT_LINE)
            }));
            for (&(id, print), &(at, _)) in batch.iter().zip(&slots) {
                let number;
                let id = match id {
                    Id::Text(id) => id,
                    id => {
                        number = id.to_string();
                        &number
                    }
                };
                let it = self.of(print).find(tag(print), at, id.as_bytes());
                found.push(it.ok().map(|(slot, packed, bytes)| {
                    records.push(&packed, bytes);
                    FoundReference {
                        table: partition_of(print) as u32,
                        slot: slot as u32,
                    }
                }));
            }
        }
    }

    fn of(&self, print: u64) -> &Table {
        &self.0[partition_of(print)]
    }

    /// Takes a reference that was found. Returns whether this is the first time.
    pub(crate) fn take(&mut self, FoundReference { table, slot }: FoundReference) -> bool {
        self.0[table as usize].take(slot as usize)
    }
}

/// The number of ids that are looked up at a time. Most of the time goes into waiting for the memory, which has many
/// slots and texts on their way to the cache at a time if nothing depends on them yet. Those of a batch fit into the
/// first-level cache.
const BATCH: usize = 64;

/// The distance at which the next line of the cache starts, if a short record reaches into it.
const NEXT_LINE: usize = 40;

/// Loads some memory.
fn load_ahead<T: Into<u32>>(loaded: impl Iterator<Item = T>) {
    let sum = loaded.fold(0, |sum: u32, it| sum.wrapping_add(it.into()));
    std::hint::black_box(sum);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::found::Form;

    /// Fingerprints with collisions: all ids of the same length share one, and so does the next partition.
    fn print(id: Id<'_>) -> u64 {
        id.to_string().len() as u64
    }

    fn write(partitions: &mut Partitions, side: Side, number: u64, value: &str) {
        let part = Arc::default();
        let id = number.to_string();
        let waiter = Waiter {
            side,
            ordinal: number,
            line: number + 1,
            part: &part,
            id: Id::Text(&id),
            form: Form::Line,
            value,
            record: None,
        };
        let written = partitions.write(print(waiter.id), &waiter, 3);
        written.expect("a record");
    }

    /// The numbers of references, which their ids say too, and their values.
    fn read(records: &Unpacked) -> Vec<(u64, &str)> {
        let text = str::from_utf8(&records.text).expect("a text");
        let found = records.found.iter().zip(&records.origins);
        let read = found.map(|(found, origin)| {
            let id = Id::Text(&origin.ordinal.to_string()) == found.id(text);
            assert!(id && found.line == origin.ordinal + 1 && origin.part == 3);
            (origin.ordinal, found.value.slice(text))
        });
        read.collect()
    }

    #[test]
    fn predictions_find_their_references() {
        // Empty values, values of which several fill a piece, and values that are longer than a piece.
        for bytes in [0, 1000, 300_000] {
            let value = "é".repeat(bytes / 2);
            let mut partitions = Partitions::new(u64::MAX);
            let count = if bytes > 1000 { 3 } else { 2000 };
            for number in 0..count {
                write(&mut partitions, Side::Reference, number, &value);
            }
            write(&mut partitions, Side::Reference, 1, "again");
            write(&mut partitions, Side::Prediction, 2, "early");
            write(&mut partitions, Side::Prediction, 5000, "unknown");
            write(&mut partitions, Side::Prediction, 2, "again");
            assert!(partitions.are_in_memory());
            let mut tables = Tables::default();
            let (mut twice, mut pairs, mut extra) = (Vec::new(), Vec::new(), Vec::new());
            for partition in partitions.take_all() {
                let joined = partition.join(None).expect("a table");
                let references = read(&joined.references).into_iter();
                let predictions = read(&joined.predictions);
                for ((number, reference), (other, prediction)) in references.zip(predictions) {
                    assert_eq!((number, reference), (other, &*value));
                    pairs.push((number, prediction.to_owned()));
                }
                twice.extend(joined.twice);
                for start in joined.extra {
                    let (packed, ..) = joined.table.packed(start).expect("a record");
                    extra.push(packed.ordinal);
                }
                tables.0.push(joined.table);
            }
            assert_eq!(pairs, [(2, "early".to_owned())]);
            let side_and_id = |(side, id): (Side, &str)| (side, id.to_owned());
            let of_both = [(Side::Reference, "1"), (Side::Prediction, "2")];
            assert_eq!(twice, of_both.map(side_and_id));
            assert_eq!(extra, [5000]);

            let ids = [Id::Text("0"), Id::Text("01"), Id::Line(1), Id::Line(2)];
            let (found, records) = tables.look_up(ids.into_iter(), print);
            assert_eq!(read(&records), [0, 1, 2].map(|number| (number, &*value)));
            let taken = found.iter().map(|it| it.map(|it| tables.take(it)));
            let taken: Vec<_> = taken.collect();
            assert_eq!(taken, [Some(true), None, Some(true), Some(false)]);
            let missing = tables.0.iter().flat_map(|table| {
                let missing = table.missing().into_iter();
                missing.map(|start| {
                    let (packed, ..) = table.packed(start).expect("a record");
                    packed.ordinal
                })
            });
            let mut missing: Vec<u64> = missing.collect();
            missing.sort_unstable();
            assert!(missing.into_iter().eq(3..count));
        }
    }

    #[test]
    fn records_are_in_memory_as_long_as_there_is_room() {
        let value = "é".repeat(500);
        for (room, in_memory, on_disk) in [
            (0, false, true),
            (70_000, true, true),
            (300_000, true, false),
        ] {
            let mut partitions = Partitions::new(room);
            // All of them are of one partition.
            for number in 100..300 {
                write(&mut partitions, Side::Reference, number, &value);
                write(&mut partitions, Side::Prediction, number, "p");
            }
            assert!(partitions.bytes() <= room + 200 * 50, "{room}");
            assert_eq!(partitions.bytes() > 70_000, in_memory, "{room}");
            assert_eq!(partitions.are_in_memory(), !on_disk, "{room}");
            let mut count = 0;
            while let Some(partition) = partitions.take_last(1).pop() {
                let joined = partition.join(partitions.file()).expect("a join");
                let numbers = (100..300).take(joined.references.found.len());
                let expected = numbers.map(|number| [(number, &*value), (number, "p")]);
                let sides = read(&joined.references).into_iter();
                let sides = sides.zip(read(&joined.predictions));
                assert!(sides.map(|(one, other)| [one, other]).eq(expected));
                assert!(joined.table.missing().is_empty() && joined.twice.is_empty());
                count += joined.references.found.len();
            }
            assert_eq!(count, 200);
        }
    }

    #[test]
    fn damaged_records_are_errors() {
        let mut partitions = Partitions::new(u64::MAX);
        write(&mut partitions, Side::Reference, 7, "value");
        write(&mut partitions, Side::Prediction, 7, "");
        let mut taken = partitions.take_all();
        taken.retain(|partition| !partition.open.is_empty());
        let partition = taken.pop().expect("a partition");
        for end in 0..partition.open.len() {
            let cut = Partition {
                open: partition.open[..end].to_vec(),
                references: partition.references.clone(),
                predictions: partition.predictions.clone(),
                ..Partition::default()
            };
            assert!(cut.join(None).is_err());
        }
    }
}
