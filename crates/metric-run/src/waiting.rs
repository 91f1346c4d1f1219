//! Records that wait for their partner: in memory up to a window, and beyond it in a temporary file.
//!
//! Once the window is full, a record without a partner in memory goes to one of a few parts of the file, told by
//! the fingerprint of its id, as in a hybrid hash join. So do the partners of those records. When both sides are
//! read, each part is joined on its own, in memory. The file is written and read in large pieces, and memory does
//! not grow with the number of records. Ids with equal fingerprints are told apart by their texts.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Write};
use std::sync::Arc;

use metric_record::{Id, Side, Value};

use crate::RunError;
use crate::scan::{Form, Found};
use crate::source::Part;

/// How many bytes of records wait in memory.
const WINDOW: u64 = 64 << 20;

/// The number of parts of the file: each is joined in memory.
const PARTITIONS: usize = 64;

/// A record that waits for its partner, or has been found by it.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) ordinal: u64,
    pub(crate) line: u64,
    pub(crate) part: Arc<Part>,
    form: Form,
    /// The id, the value, and the record if it is kept.
    text: Box<str>,
    id_end: usize,
    value_end: usize,
    has_record: bool,
}

impl Held {
    /// What a record that waits in memory takes in addition to its text, about.
    const OVERHEAD: u64 = 128;

    pub(crate) fn new(ordinal: u64, found: &Found, text: &str, part: &Arc<Part>) -> Self {
        let id = found.id(text).to_string();
        let (value, record) = (found.value.of(text), found.record(text));
        let (id_end, value_end) = (id.len(), id.len() + value.len());
        Self {
            ordinal,
            line: found.line,
            part: Arc::clone(part),
            form: found.form,
            text: [id.as_str(), value, record.unwrap_or_default()]
                .concat()
                .into(),
            id_end,
            value_end,
            has_record: record.is_some(),
        }
    }

    /// A record of nothing.
    fn nothing() -> Self {
        Self {
            ordinal: 0,
            line: 0,
            part: Arc::default(),
            form: Form::Json,
            text: Box::default(),
            id_end: 0,
            value_end: 0,
            has_record: false,
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.text[..self.id_end]
    }

    pub(crate) fn value(&self) -> Value<'_> {
        self.form.value(&self.text[self.id_end..self.value_end])
    }

    pub(crate) fn record(&self) -> Option<&str> {
        self.has_record.then(|| &self.text[self.value_end..])
    }

    fn bytes(&self) -> u64 {
        Self::OVERHEAD + self.text.len() as u64
    }
}

/// What a record finds that asks for its partner.
#[derive(Debug)]
pub(crate) enum Meeting {
    /// The partner, which waits no longer.
    Partner(Box<Held>),
    /// Nobody: now it waits.
    Waits,
    /// A record of its own side that has its id.
    Twice,
}

/// Records of both sides that wait, each id of one side at most.
#[derive(Debug)]
pub(crate) struct Waiting {
    by_print: HashMap<Print, Slot, BuildHasherDefault<PrintHasher>>,
    /// Records whose ids share the fingerprint of another one that waited.
    twins: BTreeMap<String, Slot>,
    store: Store,
    spill: Option<Box<Spill>>,
    /// Records of a part of the file that found no partner there.
    alone: Vec<Slot>,
}

/// What a part of the file came to.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// References with their predictions.
    pub(crate) pairs: Vec<(Box<Held>, Box<Held>)>,
    /// Ids that one side has twice.
    pub(crate) twice: Vec<(Side, String)>,
}

/// The fingerprint of an id, in a form that needs no padding next to a [`Slot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Print([u32; 2]);

impl std::hash::Hash for Print {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [high, low] = self.0;
        state.write_u64(u64::from(high) << 32 | u64::from(low));
    }
}

/// A fingerprint is a hash already.
#[derive(Debug, Default)]
struct PrintHasher(u64);

impl Hasher for PrintHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, print: u64) {
        self.0 = print;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Where a record waits, and of which side it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u32);

impl Slot {
    const PREDICTION: u32 = 1 << 31;
    const ON_DISK: u32 = 1 << 30;
    const INDEX: u32 = Self::ON_DISK - 1;

    fn new(side: Side, is_on_disk: bool, index: usize) -> Option<Self> {
        let index = u32::try_from(index).ok().filter(|it| *it <= Self::INDEX)?;
        let side = if side == Side::Prediction {
            Self::PREDICTION
        } else {
            0
        };
        let disk = if is_on_disk { Self::ON_DISK } else { 0 };
        Some(Self(side | disk | index))
    }

    fn side(self) -> Side {
        match self.0 & Self::PREDICTION {
            0 => Side::Reference,
            _ => Side::Prediction,
        }
    }

    fn is_on_disk(self) -> bool {
        self.0 & Self::ON_DISK != 0
    }

    fn index(self) -> usize {
        (self.0 & Self::INDEX) as usize
    }
}

impl Default for Waiting {
    fn default() -> Self {
        Self::with_window(WINDOW)
    }
}

impl Waiting {
    fn with_window(window: u64) -> Self {
        Self {
            by_print: HashMap::default(),
            twins: BTreeMap::new(),
            store: Store {
                memory: Vec::new(),
                free: Vec::new(),
                bytes: 0,
                window,
                disk: None,
                parts: Vec::new(),
            },
            spill: None,
            alone: Vec::new(),
        }
    }

    /// The memory that is taken, about. It depends on the records and their order alone.
    pub(crate) fn bytes(&self) -> u64 {
        const ENTRY: u64 = 32;
        self.store.bytes
            + ENTRY * (self.by_print.len() + self.twins.len() + self.alone.len()) as u64
    }

    pub(crate) fn has_any(&self, side: Side) -> bool {
        self.slots().any(|slot| slot.side() == side)
    }

    /// Looks for the partner of a record, which waits if there is none.
    pub(crate) fn meet(
        &mut self,
        side: Side,
        print: u64,
        id: Id<'_>,
        hold: impl FnOnce() -> Held,
    ) -> Result<Meeting, RunError> {
        let key = Print([(print >> 32) as u32, print as u32]);
        match self.by_print.entry(key) {
            Entry::Vacant(entry) => {
                if !self.twins.is_empty() && self.twins.contains_key(&id.to_string()) {
                    return self.meet_twin(side, print, id, hold);
                }
                match self.store.put(side, hold(), self.spill.is_none())? {
                    Put::Here(slot) => {
                        entry.insert(slot);
                    }
                    Put::Full(held) => self.spill(side, print, &held)?,
                }
                Ok(Meeting::Waits)
            }
            Entry::Occupied(entry) => {
                let slot = *entry.get();
                match self.store.take(slot, id, slot.side() != side)? {
                    Taken::Other => self.meet_twin(side, print, id, hold),
                    Taken::Same => Ok(Meeting::Twice),
                    Taken::Partner(partner) => {
                        entry.remove();
                        Ok(Meeting::Partner(partner))
                    }
                }
            }
        }
    }

    #[cold]
    fn meet_twin(
        &mut self,
        side: Side,
        print: u64,
        id: Id<'_>,
        hold: impl FnOnce() -> Held,
    ) -> Result<Meeting, RunError> {
        let key = id.to_string();
        let Some(slot) = self.twins.get(&key).copied() else {
            match self.store.put(side, hold(), self.spill.is_none())? {
                Put::Here(slot) => {
                    self.twins.insert(key, slot);
                }
                Put::Full(held) => self.spill(side, print, &held)?,
            }
            return Ok(Meeting::Waits);
        };
        match self.store.take(slot, id, slot.side() != side)? {
            Taken::Partner(partner) => {
                self.twins.remove(&key);
                Ok(Meeting::Partner(partner))
            }
            Taken::Same | Taken::Other => Ok(Meeting::Twice),
        }
    }

    /// Writes a record to its part of the file.
    fn spill(&mut self, side: Side, print: u64, held: &Held) -> Result<(), RunError> {
        let part = self.store.part(&held.part);
        let spill = match self.spill.take() {
            Some(spill) => spill,
            None => Box::new(Spill::create().map_err(|error| failed(&error))?),
        };
        let spill = self.spill.insert(spill);
        let written = spill.write(print as usize % PARTITIONS, side, held, part);
        written.map_err(|error| failed(&error))
    }

    /// Joins the next part of the file, after all records have come; `None` after the last one.
    pub(crate) fn join_next(
        &mut self,
        print: impl Fn(Id<'_>) -> u64,
    ) -> Result<Option<Joined>, RunError> {
        let Some(spill) = &mut self.spill else {
            return Ok(None);
        };
        let Some(bytes) = spill.take_last().map_err(|error| failed(&error))? else {
            self.spill = None;
            return Ok(None);
        };
        let mut joined = Joined::default();
        let mut waiting = Self::with_window(u64::MAX);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (side, held, bytes) = self.store.decode(rest)?;
            rest = rest.get(bytes..).unwrap_or_default();
            let id = held.id().to_owned();
            let mut held = Some(held);
            let hold = || held.take().unwrap_or_else(Held::nothing);
            match (
                waiting.meet(side, print(Id::Text(&id)), Id::Text(&id), hold)?,
                held,
            ) {
                (Meeting::Partner(partner), Some(held)) => joined.pairs.push(match side {
                    Side::Reference => (Box::new(held), partner),
                    Side::Prediction => (partner, Box::new(held)),
                }),
                (Meeting::Twice, _) => joined.twice.push((side, id)),
                _ => {}
            }
        }
        let slots: Vec<Slot> = waiting.slots().collect();
        for slot in slots {
            let held = waiting.load(slot)?;
            self.alone.push(self.store.put_on_disk(slot.side(), &held)?);
        }
        Ok(Some(joined))
    }

    fn slots(&self) -> impl Iterator<Item = Slot> {
        let waiting = self.by_print.values().chain(self.twins.values());
        waiting.chain(&self.alone).copied()
    }

    /// The records of a side that still wait, in the order in which they came.
    pub(crate) fn rest(&self, side: Side) -> Result<Vec<Slot>, RunError> {
        let mut slots: Vec<Slot> = self.slots().filter(|slot| slot.side() == side).collect();
        // What was written later came later, so that the file is read from its start to its end.
        slots.sort_unstable_by_key(|slot| slot.0);
        let mut by_ordinal = Vec::with_capacity(slots.len());
        for slot in slots {
            by_ordinal.push((self.store.ordinal(slot)?, slot));
        }
        by_ordinal.sort_by_key(|(ordinal, _)| *ordinal);
        Ok(by_ordinal.into_iter().map(|(_, slot)| slot).collect())
    }

    /// A record that waits.
    pub(crate) fn load(&self, slot: Slot) -> Result<Held, RunError> {
        self.store.load(slot)
    }
}

/// What a slot held.
enum Taken {
    /// A record of another id.
    Other,
    /// A record of this id, which stays.
    Same,
    /// A record of this id, which is taken out.
    Partner(Box<Held>),
}

/// Records by their slots.
#[derive(Debug)]
struct Store {
    memory: Vec<Option<Held>>,
    /// Empty slots of the memory.
    free: Vec<usize>,
    /// How much is in memory.
    bytes: u64,
    window: u64,
    disk: Option<Disk>,
    /// The parts that records on disk are of.
    parts: Vec<Arc<Part>>,
}

/// Where a record that is to wait was put.
enum Put {
    Here(Slot),
    /// Nowhere: the memory is full.
    Full(Box<Held>),
}

impl Store {
    /// Puts a record into memory, if there is room and it is allowed.
    fn put(&mut self, side: Side, held: Held, is_allowed: bool) -> Result<Put, RunError> {
        let bytes = held.bytes();
        if !is_allowed || self.bytes.saturating_add(bytes) > self.window {
            return Ok(Put::Full(Box::new(held)));
        }
        self.bytes += bytes;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.memory.push(None);
                self.memory.len() - 1
            }
        };
        self.memory[index] = Some(held);
        Slot::new(side, false, index)
            .map(Put::Here)
            .ok_or_else(too_many)
    }

    /// Puts a record on disk, where it is found by its position.
    fn put_on_disk(&mut self, side: Side, held: &Held) -> Result<Slot, RunError> {
        let part = self.part(&held.part);
        let disk = match self.disk.take() {
            Some(disk) => disk,
            None => Disk::create().map_err(|error| failed(&error))?,
        };
        let index = self.disk.insert(disk).write(side, held, part);
        Slot::new(side, true, index.map_err(|error| failed(&error))?).ok_or_else(too_many)
    }

    /// The record that some bytes start with, its side, and how many of the bytes are of it.
    fn decode(&self, bytes: &[u8]) -> Result<(Side, Held, usize), RunError> {
        let lost = || RunError::Internal("a record that waits is lost".to_owned());
        let header = Header::of_bytes(bytes).ok_or_else(lost)?;
        let end = Header::BYTES + header.text_bytes();
        let text = bytes.get(Header::BYTES..end).ok_or_else(lost)?;
        let text = std::str::from_utf8(text).map_err(|_| lost())?;
        let side = header.side;
        Ok((side, self.held(&header, text.into())?, end))
    }

    fn held(&self, header: &Header, text: Box<str>) -> Result<Held, RunError> {
        let lost = || RunError::Internal("a record that waits is lost".to_owned());
        Ok(Held {
            ordinal: header.ordinal,
            line: header.line,
            part: Arc::clone(self.parts.get(header.part).ok_or_else(lost)?),
            form: header.form,
            text,
            id_end: header.id,
            value_end: header.id + header.value,
            has_record: header.has_record,
        })
    }

    /// The number of a part, which is mostly one of the last two.
    fn part(&mut self, part: &Arc<Part>) -> usize {
        let known = self.parts.iter().rev().take(8);
        match known
            .enumerate()
            .find(|(_, known)| Arc::ptr_eq(known, part))
        {
            Some((back, _)) => self.parts.len() - 1 - back,
            None => {
                self.parts.push(Arc::clone(part));
                self.parts.len() - 1
            }
        }
    }

    /// Takes out the record of a slot, if it has this id and is the `partner`.
    fn take(&mut self, slot: Slot, id: Id<'_>, is_partner: bool) -> Result<Taken, RunError> {
        if slot.is_on_disk() {
            let held = self.load(slot)?;
            return Ok(match (Id::Text(held.id()) == id, is_partner) {
                (false, _) => Taken::Other,
                (true, false) => Taken::Same,
                (true, true) => Taken::Partner(Box::new(held)),
            });
        }
        let Some(held) = self.memory.get_mut(slot.index()) else {
            return Ok(Taken::Other);
        };
        if held.as_ref().is_none_or(|held| Id::Text(held.id()) != id) {
            return Ok(Taken::Other);
        }
        match held.take_if(|_| is_partner) {
            None => Ok(Taken::Same),
            Some(partner) => {
                self.bytes -= partner.bytes();
                self.free.push(slot.index());
                Ok(Taken::Partner(Box::new(partner)))
            }
        }
    }

    fn load(&self, slot: Slot) -> Result<Held, RunError> {
        let lost = || RunError::Internal("a record that waits is lost".to_owned());
        if !slot.is_on_disk() {
            let held = self.memory.get(slot.index()).cloned().flatten();
            return held.ok_or_else(lost);
        }
        let disk = self.disk.as_ref().ok_or_else(lost)?;
        let read = disk.read(slot.index());
        let (header, text) = read.map_err(|error| failed(&error))?;
        let text = String::from_utf8(text).map_err(|_| lost())?;
        self.held(&header, text.into())
    }

    fn ordinal(&self, slot: Slot) -> Result<u64, RunError> {
        Ok(self.load(slot)?.ordinal)
    }
}

fn too_many() -> RunError {
    RunError::Internal("more records wait for their partner than can be numbered".to_owned())
}

/// The error of the temporary file: what is wrong is the machine's, not the data's.
fn failed(error: &io::Error) -> RunError {
    let folder = std::env::temp_dir();
    RunError::Internal(format!(
        "cannot keep records that wait for their partner in a temporary file in {}: {error}",
        folder.display()
    ))
}

/// A temporary file without a name, which is gone when the program ends.
#[derive(Debug)]
struct Disk {
    file: File,
    /// How much is in the file.
    written: u64,
    /// What comes after that.
    pending: Vec<u8>,
}

/// What is known of a record in the file before its text.
struct Header {
    side: Side,
    ordinal: u64,
    line: u64,
    part: usize,
    form: Form,
    has_record: bool,
    id: usize,
    value: usize,
    record: usize,
}

impl Header {
    const BYTES: usize = 8 * 7;

    fn to_bytes(&self) -> [u8; Self::BYTES] {
        let is_prediction = self.side == Side::Prediction;
        let flags = u64::from(self.form.code())
            | u64::from(self.has_record) << 8
            | u64::from(is_prediction) << 9;
        let words = [
            self.ordinal,
            self.line,
            self.part as u64,
            flags,
            self.id as u64,
            self.value as u64,
            self.record as u64,
        ];
        let mut bytes = [0; Self::BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut words = [0; 7];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        let [ordinal, line, part, flags, id, value, record] = words;
        Some(Self {
            ordinal,
            line,
            part: usize::try_from(part).ok()?,
            form: Form::of_code((flags & 0xff) as u8)?,
            has_record: flags >> 8 & 1 == 1,
            side: match flags >> 9 & 1 {
                0 => Side::Reference,
                _ => Side::Prediction,
            },
            id: usize::try_from(id).ok()?,
            value: usize::try_from(value).ok()?,
            record: usize::try_from(record).ok()?,
        })
    }

    fn text_bytes(&self) -> usize {
        self.id + self.value + self.record
    }

    /// Appends a record to some bytes.
    fn write(side: Side, held: &Held, part: usize, bytes: &mut Vec<u8>) {
        let header = Self {
            side,
            ordinal: held.ordinal,
            line: held.line,
            part,
            form: held.form,
            has_record: held.has_record,
            id: held.id_end,
            value: held.value_end - held.id_end,
            record: held.text.len() - held.value_end,
        };
        bytes.extend_from_slice(&header.to_bytes());
        bytes.extend_from_slice(held.text.as_bytes());
    }
}

/// Records in parts of a temporary file.
#[derive(Debug)]
struct Spill {
    file: File,
    written: u64,
    partitions: Vec<Partition>,
}

/// A part of the file: pieces that are written, and what comes after them.
#[derive(Debug, Default)]
struct Partition {
    pieces: Vec<(u64, usize)>,
    pending: Vec<u8>,
}

impl Spill {
    /// How much of a part is written at a time.
    const PIECE: usize = 1 << 16;

    fn create() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            written: 0,
            partitions: (0..PARTITIONS).map(|_| Partition::default()).collect(),
        })
    }

    fn write(&mut self, partition: usize, side: Side, held: &Held, part: usize) -> io::Result<()> {
        let partition = &mut self.partitions[partition];
        Header::write(side, held, part, &mut partition.pending);
        if partition.pending.len() >= Self::PIECE {
            self.file.write_all(&partition.pending)?;
            partition
                .pieces
                .push((self.written, partition.pending.len()));
            self.written += partition.pending.len() as u64;
            partition.pending.clear();
        }
        Ok(())
    }

    /// Takes out the records of the last part.
    fn take_last(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(partition) = self.partitions.pop() else {
            return Ok(None);
        };
        let written: usize = partition.pieces.iter().map(|(_, length)| length).sum();
        let mut bytes = vec![0; written];
        let mut rest = bytes.as_mut_slice();
        for (offset, length) in partition.pieces {
            let (piece, after) = rest.split_at_mut(length);
            read_at(&self.file, piece, offset)?;
            rest = after;
        }
        bytes.extend_from_slice(&partition.pending);
        Ok(Some(bytes))
    }
}

impl Disk {
    /// Records start at multiples of this, so that an index of 30 bits is enough for 32 GiB.
    const UNIT: usize = 32;

    /// How much is written at a time.
    const PENDING: usize = 1 << 18;

    /// How much of a record is read at first: most are not longer.
    const FIRST: usize = 512;

    fn create() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            written: 0,
            pending: Vec::with_capacity(Self::PENDING),
        })
    }

    /// Appends a record, and returns the unit at which it starts.
    fn write(&mut self, side: Side, held: &Held, part: usize) -> io::Result<usize> {
        if self.pending.len() >= Self::PENDING {
            self.file.write_all(&self.pending)?;
            self.written += self.pending.len() as u64;
            self.pending.clear();
        }
        let start = self.written + self.pending.len() as u64;
        Header::write(side, held, part, &mut self.pending);
        let length = self.pending.len().next_multiple_of(Self::UNIT);
        self.pending.resize(length, 0);
        Ok(usize::try_from(start).unwrap_or(usize::MAX) / Self::UNIT)
    }

    /// The record that starts at a unit, and its text.
    fn read(&self, unit: usize) -> io::Result<(Header, Vec<u8>)> {
        let start = (unit * Self::UNIT) as u64;
        if let Some(start) = start.checked_sub(self.written) {
            let bytes = usize::try_from(start).ok();
            let bytes = bytes.and_then(|start| self.pending.get(start..));
            let bytes = bytes.ok_or(io::ErrorKind::UnexpectedEof)?;
            let header = Header::of_bytes(bytes).ok_or(io::ErrorKind::InvalidData)?;
            let text = bytes.get(Header::BYTES..Header::BYTES + header.text_bytes());
            return Ok((header, text.ok_or(io::ErrorKind::UnexpectedEof)?.to_owned()));
        }
        let mut first = [0; Self::FIRST];
        let length = Self::FIRST.min(usize::try_from(self.written - start).unwrap_or(Self::FIRST));
        read_at(&self.file, &mut first[..length], start)?;
        let header = Header::of_bytes(&first).ok_or(io::ErrorKind::InvalidData)?;
        let size = header.text_bytes();
        let here = size.min(length.saturating_sub(Header::BYTES));
        let mut text = first[Header::BYTES..Header::BYTES + here].to_vec();
        if here < size {
            text.resize(size, 0);
            read_at(
                &self.file,
                &mut text[here..],
                start + (Header::BYTES + here) as u64,
            )?;
        }
        Ok((header, text))
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// The writes that follow go to the end again.
#[cfg(not(unix))]
fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};

    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)?;
    file.seek(SeekFrom::End(0)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::{FoundId, Span};

    /// A record of text `id value`.
    fn held(id: &str, value: &str, ordinal: u64) -> Held {
        let text = format!("{id} {value}");
        let found = Found {
            id: FoundId::Here(Span::new(0, id.len())),
            value: Span::new(id.len() + 1, text.len()),
            form: Form::Line,
            other: None,
            record: Span::new(0, text.len()),
            line: ordinal + 1,
        };
        Held::new(ordinal, &found, &text, &Arc::default())
    }

    /// Prints with collisions: two ids share each.
    fn print(number: u64) -> u64 {
        number / 2
    }

    #[test]
    fn each_form_has_a_code() {
        let forms: Vec<Form> = (0..=u8::MAX).filter_map(Form::of_code).collect();
        assert!(forms.len() >= 3);
        for (code, form) in forms.into_iter().enumerate() {
            assert_eq!(usize::from(form.code()), code);
        }
    }

    #[test]
    fn partners_meet_in_memory_and_on_disk() {
        let side_of = |number: u64| [Side::Reference, Side::Prediction][(number % 2) as usize];
        let other_of = |number: u64| [Side::Prediction, Side::Reference][(number % 2) as usize];
        let value = |number: u64| "x".repeat((number * 7 % 1000) as usize);
        let print_of = |id: Id<'_>| print(id.to_string().parse().unwrap_or(0));
        // None, some, and all of the records are on disk.
        for window in [0, 20_000, u64::MAX] {
            let mut waiting = Waiting::with_window(window);
            let meet = |waiting: &mut Waiting, side, number: u64| {
                let id = number.to_string();
                let hold = || held(&id, &value(number), number);
                let met = waiting.meet(side, print(number), Id::Text(&id), hold);
                met.expect("a meeting")
            };
            let mut found = Vec::new();
            for number in 0..500 {
                assert!(matches!(
                    meet(&mut waiting, side_of(number), number),
                    Meeting::Waits
                ));
            }
            for number in (0..500).rev().filter(|number| number % 5 > 0) {
                match meet(&mut waiting, other_of(number), number) {
                    Meeting::Partner(partner) => {
                        let record = format!("{number} {}", value(number));
                        assert_eq!(partner.record(), Some(&*record));
                        assert_eq!(partner.line, number + 1);
                        found.push(partner.ordinal);
                    }
                    Meeting::Waits => {}
                    Meeting::Twice => panic!("{number} is there twice"),
                }
            }
            assert!(matches!(
                meet(&mut waiting, side_of(250), 250),
                Meeting::Twice | Meeting::Waits
            ));
            assert_eq!(waiting.spill.is_none(), window == u64::MAX);
            let mut twice = Vec::new();
            while let Some(joined) = waiting.join_next(print_of).expect("a part") {
                for (reference, prediction) in joined.pairs {
                    assert_eq!(reference.id(), prediction.id());
                    let number = reference.ordinal;
                    assert_eq!(reference.value().as_line(), Some(&*value(number)));
                    assert_eq!(
                        prediction.record().map(str::len),
                        reference.record().map(str::len)
                    );
                    found.push(number);
                }
                twice.extend(joined.twice);
            }
            found.sort_unstable();
            assert!(
                found
                    .into_iter()
                    .eq((0..500).filter(|number| number % 5 > 0))
            );
            assert_eq!(twice.len(), usize::from(window < u64::MAX));
            let rest = waiting.rest(Side::Reference).expect("slots");
            let rest: Vec<Held> = rest
                .into_iter()
                .map(|slot| waiting.load(slot).expect("a record"))
                .collect();
            assert!(
                rest.iter()
                    .map(|held| held.ordinal)
                    .eq((0..500).step_by(10))
            );
            assert!(
                rest.iter()
                    .all(|held| held.value().as_line() == Some(&*value(held.ordinal)))
            );
            assert!(waiting.has_any(Side::Prediction));
        }
    }
}
