//! Records that wait for their partner: in memory up to a window, and beyond it in a temporary file.
//!
//! Of a record in the file, memory holds 12 bytes: a fingerprint of its id, by which the partner finds it, and its
//! position. Ids with equal fingerprints are told apart by their texts.

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
        }
    }

    /// The memory that is taken, about. It depends on the records and their order alone.
    pub(crate) fn bytes(&self) -> u64 {
        const ENTRY: u64 = 32;
        self.store.bytes + ENTRY * (self.by_print.len() + self.twins.len()) as u64
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
        let print = Print([(print >> 32) as u32, print as u32]);
        match self.by_print.entry(print) {
            Entry::Vacant(entry) => {
                if !self.twins.is_empty() && self.twins.contains_key(&id.to_string()) {
                    return self.meet_twin(side, id, hold);
                }
                entry.insert(self.store.put(side, hold())?);
                Ok(Meeting::Waits)
            }
            Entry::Occupied(entry) => {
                let slot = *entry.get();
                match self.store.take(slot, id, slot.side() != side)? {
                    Taken::Other => self.meet_twin(side, id, hold),
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
        id: Id<'_>,
        hold: impl FnOnce() -> Held,
    ) -> Result<Meeting, RunError> {
        let key = id.to_string();
        let Some(slot) = self.twins.get(&key).copied() else {
            let slot = self.store.put(side, hold())?;
            self.twins.insert(key, slot);
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

    fn slots(&self) -> impl Iterator<Item = Slot> {
        self.by_print.values().chain(self.twins.values()).copied()
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

impl Store {
    fn put(&mut self, side: Side, held: Held) -> Result<Slot, RunError> {
        let bytes = held.bytes();
        let slot = if self.bytes + bytes <= self.window {
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
        } else {
            let part = self.part(&held.part);
            let disk = match self.disk.take() {
                Some(disk) => disk,
                None => Disk::create().map_err(|error| failed(&error))?,
            };
            let index = self.disk.insert(disk).write(&held, part);
            Slot::new(side, true, index.map_err(|error| failed(&error))?)
        };
        slot.ok_or_else(|| {
            RunError::Internal(
                "more records wait for their partner than a temporary file holds".to_owned(),
            )
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
        Ok(Held {
            ordinal: header.ordinal,
            line: header.line,
            part: Arc::clone(self.parts.get(header.part).ok_or_else(lost)?),
            form: header.form,
            text: text.into(),
            id_end: header.id,
            value_end: header.id + header.value,
            has_record: header.has_record,
        })
    }

    fn ordinal(&self, slot: Slot) -> Result<u64, RunError> {
        Ok(self.load(slot)?.ordinal)
    }
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
        let flags = self.form as u64 | u64::from(self.has_record) << 8;
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
            form: *Form::ALL.get((flags & 0xff) as usize)?,
            has_record: flags >> 8 == 1,
            id: usize::try_from(id).ok()?,
            value: usize::try_from(value).ok()?,
            record: usize::try_from(record).ok()?,
        })
    }

    fn text_bytes(&self) -> usize {
        self.id + self.value + self.record
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
    fn write(&mut self, held: &Held, part: usize) -> io::Result<usize> {
        if self.pending.len() >= Self::PENDING {
            self.file.write_all(&self.pending)?;
            self.written += self.pending.len() as u64;
            self.pending.clear();
        }
        let start = self.written + self.pending.len() as u64;
        let header = Header {
            ordinal: held.ordinal,
            line: held.line,
            part,
            form: held.form,
            has_record: held.has_record,
            id: held.id_end,
            value: held.value_end - held.id_end,
            record: held.text.len() - held.value_end,
        };
        self.pending.extend_from_slice(&header.to_bytes());
        self.pending.extend_from_slice(held.text.as_bytes());
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
    fn partners_meet_in_memory_and_on_disk() {
        // None, some, and all of the records are on disk; some of them are longer than what is read at first.
        for window in [0, 20_000, u64::MAX] {
            let mut waiting = Waiting::with_window(window);
            let value = |number: u64| "x".repeat((number * 7 % 1000) as usize);
            let meet = |waiting: &mut Waiting, side, number: u64| {
                let id = number.to_string();
                let hold = || held(&id, &value(number), number);
                waiting
                    .meet(side, print(number), Id::Text(&id), hold)
                    .expect("a meeting")
            };
            for number in 0..500 {
                let side = [Side::Reference, Side::Prediction][(number % 2) as usize];
                assert!(matches!(meet(&mut waiting, side, number), Meeting::Waits));
                assert!(matches!(meet(&mut waiting, side, number), Meeting::Twice));
            }
            assert_eq!(waiting.store.disk.is_none(), window == u64::MAX);
            for number in (0..500).rev().filter(|number| number % 5 > 0) {
                let side = [Side::Prediction, Side::Reference][(number % 2) as usize];
                let Meeting::Partner(partner) = meet(&mut waiting, side, number) else {
                    panic!("no partner of {number}");
                };
                let id = number.to_string();
                let record = format!("{id} {}", value(number));
                assert_eq!((partner.id(), partner.record()), (&*id, Some(&*record)));
                assert_eq!((partner.ordinal, partner.line), (number, number + 1));
                assert_eq!(partner.value().as_line(), Some(&*value(number)));
            }
            let rest = waiting.rest(Side::Reference).expect("slots");
            let rest = rest
                .into_iter()
                .map(|slot| waiting.load(slot).expect("a record").ordinal);
            assert!(rest.eq((0..500).step_by(10)));
            assert!(waiting.has_any(Side::Prediction));
        }
    }
}
