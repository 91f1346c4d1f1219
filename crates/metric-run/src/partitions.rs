//! Out-of-order records in partitions by their ids, as in a hybrid hash join.
//!
//! The fingerprint of an id selects the partition of its record, which is packed. Packed records stay in memory as long as
//! there is room, and otherwise go to a temporary file, in pieces. A partition is joined on its own, in the cache: a table of its
//! references is built, in which its predictions look for their partner. If all references are in memory, their tables
//! are all built once the last of them has come, and predictions that come after that look there without being packed.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use metric_record::{Id, Side};

use crate::memory;
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
    /// Further bits of the fingerprints of its references and of its predictions, in the order of these.
    references: Vec<u32>,
    predictions: Vec<u32>,
}

/// Packed records.
#[derive(Debug)]
enum Piece {
    Memory(Vec<u8>),
    /// Where they start in the file, and their length.
    File(u64, usize),
}

/// Where a bucket starts: the number of its piece in the upper bits, and the position in the piece.
#[derive(Clone, Copy, Debug)]
struct Start(u32);

impl Start {
    /// The number of bits of the position in a piece.
    const BITS: u32 = Partitions::PIECE.ilog2();

    /// The start at a place; an error if there are too many pieces.
    fn new(piece: usize, position: usize) -> io::Result<Self> {
        let piece = u32::try_from(piece).ok();
        let piece = piece.filter(|piece| *piece <= u32::MAX >> Self::BITS);
        let piece = piece.ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(Self(piece << Self::BITS | position as u32))
    }

    fn place(self) -> Place {
        Place {
            piece: self.0 >> Self::BITS,
            position: self.0 as usize % Partitions::PIECE,
        }
    }
}

/// A position in a piece of a table.
#[derive(Clone, Copy, Debug)]
struct Place {
    piece: u32,
    position: usize,
}

impl Place {
    /// The position that comes this many bytes after it in its piece.
    fn moved(self, bytes: usize) -> Self {
        Self {
            position: self.position + bytes,
            ..self
        }
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
        match waiter.side {
            Side::Reference => {
                references.push(tag(print));
                self.room = self.room.saturating_add(Self::ROOM_PER_REFERENCE);
            }
            Side::Prediction => predictions.push(tag(print)),
        }
        self.bytes += Table::BYTES_PER_RECORD;
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

/// The bits of a fingerprint that select the bucket in a table: others than those that select the partition.
fn tag(print: u64) -> u32 {
    (print >> PARTITION_BITS) as u32
}

impl Partition {
    /// Finds the partners among its records; `file` has those that are not in memory. Its pieces are spare then.
    pub(crate) fn join(mut self, file: Option<&File>, spare: &Spare) -> io::Result<Joined> {
        self.pieces.push(Piece::Memory(self.open));
        let pieces = self.pieces.into_iter().map(|piece| piece.read(file));
        let pieces: Vec<Vec<u8>> = pieces.collect::<Result<_, _>>()?;
        let (mut reference_tags, mut prediction_tags) =
            (self.references.into_iter(), self.predictions.into_iter());
        let mut references = Vec::with_capacity(reference_tags.len());
        let mut predictions = Vec::with_capacity(prediction_tags.len());
        for packed in pieces.iter().flat_map(|piece| Packed::all(piece)) {
            let (packed, bytes) = packed.ok_or(io::ErrorKind::InvalidData)?;
            let (tags, records) = match packed.side {
                Side::Reference => (&mut reference_tags, &mut references),
                Side::Prediction => (&mut prediction_tags, &mut predictions),
            };
            records.push((tags.next().ok_or(io::ErrorKind::InvalidData)?, bytes));
        }
        if reference_tags.len() + prediction_tags.len() > 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut joined = Joined::default();
        let mut table = Table::new(&references, &mut joined.twice, spare)?;
        for (tag, bytes) in predictions {
            let packed = Packed::read(bytes).ok_or(io::ErrorKind::InvalidData)?;
            let id = packed.id(bytes).ok_or(io::ErrorKind::InvalidData)?;
            match table.find(tag, id) {
                None => joined.extra.extend_from_slice(bytes),
                Some((_, reference, _)) if reference.is_taken => {
                    joined.twice.push((Side::Prediction, owned(id)));
                }
                Some((place, reference, its_bytes)) => {
                    joined.references.push(&reference, its_bytes);
                    joined.predictions.push(&packed, bytes);
                    table.take(place);
                }
            }
        }
        joined.table = table;
        spare.add(pieces);
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
                let mut bytes = memory::zeros(length)?;
                read_at(file, &mut bytes, start)?;
                Ok(bytes)
            }
        }
    }
}

/// Pieces of partitions that were joined, for the tables of others: pieces that are freed one by one among others that
/// are not would be of little use.
#[derive(Debug, Default)]
pub(crate) struct Spare(Mutex<Vec<Vec<u8>>>);

impl Spare {
    fn pieces(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, pieces: Vec<Vec<u8>>) {
        self.pieces().extend(pieces);
    }

    /// A piece of this length.
    fn piece(&self, length: usize) -> Vec<u8> {
        let mut piece = self.pieces().pop().unwrap_or_default();
        piece.clear();
        piece.resize(length, 0);
        piece
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
    /// Predictions without a reference, packed one after another.
    pub(crate) extra: Vec<u8>,
}

/// The packed references of a partition by their ids: those of a bucket are one after another. There are as many buckets as
/// references, so that a search mostly reads one or two references, which are next to each other in memory.
#[derive(Debug)]
pub(crate) struct Table {
    /// The references in pieces, none of which ends within a bucket.
    pieces: Vec<Vec<u8>>,
    /// Where the buckets start. One more is after the last piece.
    starts: Vec<Start>,
    /// The number of references that have not found their prediction.
    missing: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            pieces: Vec::new(),
            starts: vec![Start(0); 2],
            missing: 0,
        }
    }
}

impl Table {
    /// The memory of a record in addition to its bytes: its tag, and then its bucket.
    const BYTES_PER_RECORD: u64 = size_of::<Start>() as u64;

    /// A table of packed references with their tags. Adds ids that occur again.
    fn new(
        references: &[(u32, &[u8])],
        twice: &mut Vec<(Side, String)>,
        spare: &Spare,
    ) -> io::Result<Self> {
        let count = references.len().max(1);
        let mut filled = vec![0; count];
        for (tag, bytes) in references {
            filled[bucket_of(*tag, count)] += bytes.len();
        }
        let mut table = Self {
            pieces: Vec::new(),
            starts: Vec::with_capacity(count + 1),
            missing: references.len(),
        };
        let mut length = 0;
        for bucket in &mut filled {
            if length > 0 && length + *bucket >= Partitions::PIECE {
                table.pieces.push(spare.piece(length));
                length = 0;
            }
            let start = Start::new(table.pieces.len(), length)?;
            table.starts.push(start);
            length += std::mem::take(bucket);
        }
        table.pieces.push(spare.piece(length));
        let end = Start::new(table.pieces.len(), 0)?;
        table.starts.push(end);
        for (tag, bytes) in references {
            let bucket = bucket_of(*tag, count);
            let Place { piece, position } = table.starts[bucket].place();
            let bytes_there = &mut table.pieces[piece as usize][position..];
            let (before, rest) = bytes_there.split_at_mut(filled[bucket]);
            filled[bucket] += bytes.len();
            let copy = &mut rest[..bytes.len()];
            copy.copy_from_slice(bytes);
            if before.is_empty() {
                continue;
            }
            let id = Packed::read(bytes).and_then(|packed| packed.id(bytes));
            let id = id.ok_or(io::ErrorKind::InvalidData)?;
            if find(before, id).is_some() {
                twice.push((Side::Reference, owned(id)));
                // It comes after the other one, so that it is never found.
                Packed::take(copy);
                table.missing -= 1;
            }
        }
        Ok(table)
    }

    /// The references of the bucket of a tag, and where they start.
    #[inline]
    fn bucket(&self, tag: u32) -> (Place, &[u8]) {
        let bucket = bucket_of(tag, self.starts.len() - 1);
        let (start, next) = (self.starts[bucket].place(), self.starts[bucket + 1].place());
        let piece = self.pieces.get(start.piece as usize);
        let bytes = piece.map_or(&[][..], |piece| piece);
        let end = if next.piece == start.piece {
            next.position
        } else {
            bytes.len()
        };
        (start, bytes.get(start.position..end).unwrap_or_default())
    }

    /// The reference with an id: its place, its header, and its bytes.
    #[inline(always)]
    fn find(&self, tag: u32, id: &[u8]) -> Option<(Place, Packed, &[u8])> {
        let (start, bucket) = self.bucket(tag);
        let (at, packed, bytes) = find(bucket, id)?;
        Some((start.moved(at), packed, bytes))
    }

    /// The packed references that have found no prediction.
    pub(crate) fn missing(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let pieces = self.pieces.iter().take_while(|_| self.missing > 0);
        let all = pieces.flat_map(|piece| Packed::all(piece));
        all.filter_map(|packed| match packed {
            Some((packed, _)) if packed.is_taken => None,
            packed => Some(packed.map(|(_, bytes)| bytes)),
        })
    }

    /// Takes the reference at a place. Returns whether this is the first time.
    fn take(&mut self, Place { piece, position }: Place) -> bool {
        let is_first = Packed::take(&mut self.pieces[piece as usize][position..]);
        self.missing -= usize::from(is_first);
        is_first
    }
}

/// The bucket of a tag, of a number of buckets.
#[inline]
fn bucket_of(tag: u32, count: usize) -> usize {
    ((u64::from(tag) * count as u64) >> u32::BITS) as usize
}

/// The first of some packed records that has an id: where it starts, its header, and its bytes.
#[inline(always)]
fn find<'b>(bytes: &'b [u8], id: &[u8]) -> Option<(usize, Packed, &'b [u8])> {
    let mut next = bytes;
    loop {
        let (packed, record, rest) = Packed::split(next)?;
        if are_equal(packed.id(record)?, id) {
            return Some((bytes.len() - next.len(), packed, record));
        }
        next = rest;
    }
}

/// Whether two ids are equal. Most are short, for which a call would take longer than the comparison.
#[inline(always)]
fn are_equal(id: &[u8], other: &[u8]) -> bool {
    const WORD: usize = size_of::<u64>();
    if id.len() != other.len() {
        return false;
    }
    let words = |id: &[u8]| {
        let first = *id.first_chunk::<WORD>()?;
        let last = *id.last_chunk::<WORD>()?;
        Some((u64::from_le_bytes(first), u64::from_le_bytes(last)))
    };
    if id.len() <= 2 * WORD
        && let (Some(words), Some(others)) = (words(id), words(other))
    {
        return words == others;
    }
    id == other
}

/// The references of all partitions, once all of them have come.
#[derive(Debug, Default)]
pub(crate) struct Tables(pub(crate) Vec<Table>);

/// A reference that was found: its table, and where it is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundReference {
    table: u32,
    place: Place,
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
        let mut buckets = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            batch.extend(ids.by_ref().take(BATCH));
            if batch.is_empty() {
                return (found, records);
            }
            let tables = batch
                .iter()
                .map(|(_, print)| (self.of(*print), tag(*print)));
            load_ahead(tables.clone().map(|(table, tag)| {
                let bucket = bucket_of(tag, table.starts.len() - 1);
                table.starts[bucket].0
            }));
            buckets.clear();
            buckets.extend(tables.map(|(table, tag)| table.bucket(tag)));
            load_ahead(buckets.iter().map(|(_, bytes)| {
                let byte = |at: usize| u32::from(bytes.get(at).copied().unwrap_or_default());
                byte(0) + byte(LINE) + u32::from(bytes.last().copied().unwrap_or_default())
            }));
            for (&(id, print), &(start, bucket)) in batch.iter().zip(&buckets) {
                let number;
                let id = match id {
                    Id::Text(id) => id,
                    id => {
                        number = id.to_string();
                        &number
                    }
                };
                let it = find(bucket, id.as_bytes());
                found.push(it.map(|(at, packed, bytes)| {
                    records.push(&packed, bytes);
                    FoundReference {
                        table: partition_of(print) as u32,
                        place: start.moved(at),
                    }
                }));
            }
        }
    }

    fn of(&self, print: u64) -> &Table {
        &self.0[partition_of(print)]
    }

    /// Takes a reference that was found. Returns whether this is the first time.
    pub(crate) fn take(&mut self, FoundReference { table, place }: FoundReference) -> bool {
        self.0[table as usize].take(place)
    }
}

/// The number of ids that are looked up at a time. Most of the time goes into waiting for the memory, which has many
/// buckets on their way to the cache at a time if nothing depends on them yet. Those of a batch fit into the first-level
/// cache.
const BATCH: usize = 64;

/// The number of bytes of a line of the cache.
const LINE: usize = 64;

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
                let joined = partition.join(None, &Spare::default()).expect("a table");
                let references = read(&joined.references).into_iter();
                let predictions = read(&joined.predictions);
                for ((number, reference), (other, prediction)) in references.zip(predictions) {
                    assert_eq!((number, reference), (other, &*value));
                    pairs.push((number, prediction.to_owned()));
                }
                twice.extend(joined.twice);
                for packed in Packed::all(&joined.extra) {
                    let (packed, _) = packed.expect("a record");
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
            let missing = tables.0.iter().flat_map(Table::missing);
            let missing = missing.map(|bytes| {
                let packed = bytes.and_then(Packed::read);
                packed.expect("a record").ordinal
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
                let joined = partition
                    .join(partitions.file(), &Spare::default())
                    .expect("a join");
                let numbers = (100..300).take(joined.references.found.len());
                let expected = numbers.map(|number| [(number, &*value), (number, "p")]);
                let sides = read(&joined.references).into_iter();
                let sides = sides.zip(read(&joined.predictions));
                assert!(sides.map(|(one, other)| [one, other]).eq(expected));
                assert!(joined.table.missing().next().is_none() && joined.twice.is_empty());
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
            assert!(cut.join(None, &Spare::default()).is_err());
        }
    }
}
