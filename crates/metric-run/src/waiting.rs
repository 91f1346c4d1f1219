//! Records that wait for their partner: in memory up to a window, and beyond it packed in parts.
//!
//! Once the window is full, all references are gathered in memory, where predictions find them: see [`crate::index`].
//! If there is no room for them, or a source cannot be read again, all records go to parts, as in a Grace hash join, and
//! those that do not fit into memory to a temporary file: see [`crate::spill`]. Memory grows with the number of records
//! by some bytes each. Ids with equal fingerprints are told apart by their texts.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Write};
use std::sync::Arc;

use metric_record::{Id, Side};
use rayon::prelude::*;

use crate::RunError;
use crate::index::{Address, Found, FoundReference, Index, Texts};
use crate::packed::Packed;
use crate::part::Part;
use crate::positions::{self, read_at};
use crate::spill::{Joined, Partition, Spill};
use crate::waiter::{Held, Waiter, fingerprint};

/// The number of bytes of records that wait in memory one by one.
pub(crate) const WINDOW: u64 = 8 << 20;

/// The number of bytes of records that wait in memory packed.
const ROOM: u64 = 64 << 20;

/// The number of additional bytes per record that wait in memory, packed.
const ROOM_PER_RECORD: u64 = 12;

/// The result of looking for the partner of a record.
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
    /// Whether references may be gathered while predictions are held back.
    may_gather: bool,
    /// All references that came after the window was full, and all records that waited then.
    index: Option<Box<Index>>,
    /// The predictions that came before all references had been gathered, while the last of them are paired.
    early: Texts,
    /// All records that came after the window was full, and those that waited then, unless they are gathered.
    spill: Option<Box<Spill>>,
    /// Packed records that found no partner.
    alone: Vec<Slot>,
    /// The parts that records in parts of the file are of, once these are joined.
    parts: Arc<[Arc<Part>]>,
    /// The fingerprint of an id.
    print: fn(Id<'_>) -> u64,
}

/// The fingerprint of an id, in a form that needs no padding next to a [`Slot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Print([u32; 2]);

impl From<u64> for Print {
    fn from(print: u64) -> Self {
        Self([(print >> 32) as u32, print as u32])
    }
}

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

/// The position where a record waits, and its side.
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
    /// Records that wait one by one up to a number of bytes, and packed beyond it.
    pub(crate) fn with_window(window: u64) -> Self {
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
            may_gather: false,
            index: None,
            early: Texts::default(),
            spill: None,
            alone: Vec::new(),
            parts: Arc::default(),
            print: fingerprint,
        }
    }

    /// Lets references be gathered in memory while predictions are held back, where that is possible.
    pub(crate) fn gathering(self, may_gather: bool) -> Self {
        Self { may_gather, ..self }
    }

    /// The memory that is taken, about. It depends on the records and their order alone.
    pub(crate) fn bytes(&self) -> u64 {
        const ENTRY: u64 = 32;
        let packed = self.spill.as_ref().map_or(0, |spill| spill.bytes());
        let indexed = self.index.as_ref().map_or(0, |index| index.bytes());
        self.store.bytes
            + packed
            + indexed
            + self.early.bytes()
            + ENTRY * (self.by_print.len() + self.twins.len() + self.alone.len()) as u64
    }

    pub(crate) fn has_any(&self, side: Side) -> bool {
        self.slots().any(|slot| slot.side() == side)
    }

    /// Looks for the partner of a record, which waits if there is none.
    pub(crate) fn meet(&mut self, waiter: &Waiter<'_>) -> Result<Meeting, RunError> {
        if self.is_full() {
            return self.pack(waiter);
        }
        let print = Print::from((self.print)(waiter.id));
        let Some(slot) = self.by_print.get(&print).copied() else {
            if !self.twins.is_empty() && self.twins.contains_key(&waiter.id.to_string()) {
                return self.meet_twin(waiter);
            }
            return match self.store.put(waiter)? {
                None => self.pack(waiter),
                Some(slot) => {
                    self.by_print.insert(print, slot);
                    Ok(Meeting::Waits)
                }
            };
        };
        match self.store.take(slot, waiter)? {
            Taken::Other => self.meet_twin(waiter),
            Taken::Same => Ok(Meeting::Twice),
            Taken::Partner(partner) => {
                self.by_print.remove(&print);
                Ok(Meeting::Partner(partner))
            }
        }
    }

    #[cold]
    fn meet_twin(&mut self, waiter: &Waiter<'_>) -> Result<Meeting, RunError> {
        let key = waiter.id.to_string();
        let Some(slot) = self.twins.get(&key).copied() else {
            return match self.store.put(waiter)? {
                None => self.pack(waiter),
                Some(slot) => {
                    self.twins.insert(key, slot);
                    Ok(Meeting::Waits)
                }
            };
        };
        match self.store.take(slot, waiter)? {
            Taken::Partner(partner) => {
                self.twins.remove(&key);
                Ok(Meeting::Partner(partner))
            }
            Taken::Same | Taken::Other => Ok(Meeting::Twice),
        }
    }

    /// Packs a record, and before the first one all that wait in memory.
    pub(crate) fn pack(&mut self, waiter: &Waiter<'_>) -> Result<Meeting, RunError> {
        if !self.is_full() {
            if self.may_gather {
                let index = Index::new(self.room(), self.print);
                self.index = Some(Box::new(index));
            } else {
                self.start_parts();
            }
            self.by_print = HashMap::default();
            self.twins.clear();
            self.store.free = Vec::new();
            self.store.bytes = 0;
            for held in std::mem::take(&mut self.store.memory).into_iter().flatten() {
                self.pack_one(&held.waiter())?;
            }
        }
        self.pack_one(waiter)?;
        Ok(Meeting::Waits)
    }

    /// The number of bytes of packed records in memory, whatever their number.
    fn room(&self) -> u64 {
        self.store.window.saturating_mul(ROOM / WINDOW)
    }

    fn start_parts(&mut self) -> &mut Spill {
        let room = [self.room(), ROOM_PER_RECORD];
        self.spill.get_or_insert_with(|| Box::new(Spill::new(room)))
    }

    /// Adds a record to those that are packed.
    fn pack_one(&mut self, waiter: &Waiter<'_>) -> Result<(), RunError> {
        let part = self.store.part(waiter.part);
        let Some(index) = &mut self.index else {
            let print = (self.print)(waiter.id);
            let written = self.start_parts().write(print, waiter, part);
            return written.map_err(|error| failed(&error));
        };
        index.push(waiter, part).map_err(|error| failed(&error))?;
        if index.is_full() {
            self.move_to_parts()?;
        }
        Ok(())
    }

    /// Moves the records that were gathered to parts.
    #[cold]
    fn move_to_parts(&mut self) -> Result<(), RunError> {
        let Some(index) = self.index.take() else {
            return Ok(());
        };
        let parts = self.store.parts.clone();
        let mut moved = Ok(());
        let unpacked = index.unpack(&parts, |waiter| {
            if moved.is_ok() {
                moved = self.pack_one(waiter);
            }
        });
        unpacked.map_err(|error| failed(&error))?;
        moved
    }

    /// Whether the window is full, so that no record meets its partner before all of one side have come.
    pub(crate) fn is_full(&self) -> bool {
        self.spill.is_some() || self.index.is_some()
    }

    /// Whether records are packed in parts.
    #[cfg(test)]
    pub(crate) fn is_in_parts(&self) -> bool {
        self.spill.is_some()
    }

    /// Whether references are gathered, so that predictions have to be held back.
    pub(crate) fn is_gathering(&self) -> bool {
        let index = self.index.as_ref();
        index.is_some_and(|index| !index.is_complete())
    }

    /// The references that were gathered, once predictions can be looked up in them.
    pub(crate) fn index(&self) -> Option<&Index> {
        self.index.as_deref().filter(|index| index.is_complete())
    }

    /// Lets predictions be looked up in the references that were gathered, as all of them have come. Returns the ids that
    /// occur twice.
    pub(crate) fn complete(&mut self) -> Result<Vec<String>, RunError> {
        match &mut self.index {
            Some(index) => index.complete().map_err(|error| failed(&error)),
            None => Ok(Vec::new()),
        }
    }

    /// Takes a reference that a prediction has found. Returns whether no other one had it.
    pub(crate) fn take(&mut self, reference: FoundReference) -> bool {
        let index = self.index.as_mut();
        index.is_some_and(|index| index.take(reference))
    }

    /// Takes the predictions that came before the last reference, and returns them with their references.
    pub(crate) fn take_early(&mut self) -> (Vec<Address>, Found) {
        let Some(index) = &mut self.index else {
            return (Vec::new(), Found::default());
        };
        let (early, addresses, found) = index.take_early();
        self.early = early;
        (addresses, found)
    }

    /// A prediction that came before the last reference.
    pub(crate) fn early(&self, address: Address) -> Option<Waiter<'_>> {
        self.early.get(address, &self.store.parts)
    }

    /// A reference that was found, whose text has this start.
    pub(crate) fn found<'a>(&'a self, found: &'a Found, start: usize) -> Option<Waiter<'a>> {
        found.get(start, &self.store.parts)
    }

    /// Keeps a prediction without a reference.
    pub(crate) fn leave_alone(&mut self, waiter: &Waiter<'_>) -> Result<(), RunError> {
        self.alone.push(self.store.put_on_disk(waiter)?);
        Ok(())
    }

    /// Keeps predictions without a reference that came before the last reference.
    pub(crate) fn leave_early_alone(&mut self, addresses: &[Address]) -> Result<(), RunError> {
        let parts = self.store.parts.clone();
        for address in addresses {
            let waiter = self.early.get(*address, &parts).ok_or_else(lost)?;
            self.alone.push(self.store.put_on_disk(&waiter)?);
        }
        Ok(())
    }

    /// Keeps the references without a prediction of those that were gathered, after the last prediction.
    pub(crate) fn end_gathering(&mut self) -> Result<(), RunError> {
        self.early = Texts::default();
        let Some(index) = self.index.take() else {
            return Ok(());
        };
        let parts = self.store.parts.clone();
        for address in index.alone() {
            let waiter = index.references().get(address, &parts).ok_or_else(lost)?;
            self.alone.push(self.store.put_on_disk(&waiter)?);
        }
        Ok(())
    }

    /// Joins the next parts at the same time, this many, after all records have come; none after the last ones.
    pub(crate) fn join_next(&mut self, count: usize) -> Result<Vec<Joined>, RunError> {
        let Some(spill) = &mut self.spill else {
            return Ok(Vec::new());
        };
        let count = if positions::ARE_SHARED { count } else { 1 };
        let taken: Vec<Partition> = (0..count).map_while(|_| spill.take_last()).collect();
        if taken.is_empty() {
            self.spill = None;
            self.parts = Arc::default();
            return Ok(Vec::new());
        }
        if self.parts.is_empty() {
            self.parts = self.store.parts.as_slice().into();
        }
        let (file, parts, print) = (spill.file(), &self.parts, self.print);
        let join = |taken: Partition| {
            let joined = taken.join(file, parts, print);
            joined.map_err(|error| failed(&error))
        };
        let all: Vec<Joined> = if count == 1 {
            taken.into_iter().map(join).collect::<Result<_, _>>()?
        } else {
            taken.into_par_iter().map(join).collect::<Result<_, _>>()?
        };
        for joined in &all {
            for &index in &joined.alone {
                if let Some(waiter) = joined.spilled.get(index) {
                    self.alone.push(self.store.put_on_disk(&waiter)?);
                }
            }
        }
        Ok(all)
    }

    fn slots(&self) -> impl Iterator<Item = Slot> {
        let waiting = self.by_print.values().chain(self.twins.values());
        waiting.chain(&self.alone).copied()
    }

    /// The records of a side that still wait, in the order in which they came.
    pub(crate) fn rest(&self, side: Side) -> Result<Vec<Slot>, RunError> {
        let mut slots: Vec<Slot> = self.slots().filter(|slot| slot.side() == side).collect();
        // Records that came later were written later, so that the file is read from its start to
        // its end.
        slots.sort_unstable_by_key(|slot| slot.0);
        let mut by_ordinal = Vec::with_capacity(slots.len());
        for slot in slots {
            by_ordinal.push((self.store.load(slot)?.ordinal, slot));
        }
        by_ordinal.sort_by_key(|(ordinal, _)| *ordinal);
        Ok(by_ordinal.into_iter().map(|(_, slot)| slot).collect())
    }

    /// A record that waits.
    pub(crate) fn load(&self, slot: Slot) -> Result<Held, RunError> {
        self.store.load(slot)
    }
}

/// The content of a slot.
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
    /// The number of bytes in memory.
    bytes: u64,
    window: u64,
    disk: Option<Disk>,
    /// The parts that records on disk are of.
    parts: Vec<Arc<Part>>,
}

impl Store {
    /// Puts a record into memory, if there is room.
    fn put(&mut self, waiter: &Waiter<'_>) -> Result<Option<Slot>, RunError> {
        let bytes = waiter.bytes();
        if self.bytes.saturating_add(bytes) > self.window {
            return Ok(None);
        }
        self.bytes += bytes;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.memory.push(None);
                self.memory.len() - 1
            }
        };
        self.memory[index] = Some(Held::new(waiter));
        let slot = Slot::new(waiter.side, false, index);
        slot.map(Some).ok_or_else(too_many)
    }

    /// Puts a record on disk, where it is found by its position.
    fn put_on_disk(&mut self, waiter: &Waiter<'_>) -> Result<Slot, RunError> {
        let part = self.part(waiter.part);
        let disk = match self.disk.take() {
            Some(disk) => disk,
            None => Disk::create().map_err(|error| failed(&error))?,
        };
        let index = self.disk.insert(disk).write(waiter, part);
        let index = index.map_err(|error| failed(&error))?;
        Slot::new(waiter.side, true, index).ok_or_else(too_many)
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

    /// Takes out the record of a slot, if it has the id of this one and is of the other side.
    fn take(&mut self, slot: Slot, waiter: &Waiter<'_>) -> Result<Taken, RunError> {
        let Some(held) = self.memory.get_mut(slot.index()) else {
            return Ok(Taken::Other);
        };
        if held
            .as_ref()
            .is_none_or(|held| Id::Text(held.id()) != waiter.id)
        {
            return Ok(Taken::Other);
        }
        match held.take_if(|held| held.side != waiter.side) {
            None => Ok(Taken::Same),
            Some(partner) => {
                self.bytes -= partner.waiter().bytes();
                self.free.push(slot.index());
                Ok(Taken::Partner(Box::new(partner)))
            }
        }
    }

    fn load(&self, slot: Slot) -> Result<Held, RunError> {
        if !slot.is_on_disk() {
            let held = self.memory.get(slot.index()).cloned().flatten();
            return held.ok_or_else(lost);
        }
        let disk = self.disk.as_ref().ok_or_else(lost)?;
        let read = disk.read(slot.index());
        let text = read.map_err(|error| failed(&error))?;
        let text = String::from_utf8(text).map_err(|_| lost())?;
        let packed = Packed::read(text.as_bytes()).ok_or_else(lost)?;
        let waiter = packed.waiter(&text, &self.parts).ok_or_else(lost)?;
        Ok(Held::new(&waiter))
    }
}

fn lost() -> RunError {
    RunError::Internal("a record that waits is lost".to_owned())
}

fn too_many() -> RunError {
    RunError::Internal("more records wait for their partner than can be numbered".to_owned())
}

/// The error of the temporary file: the machine has the problem, not the data.
fn failed(error: &io::Error) -> RunError {
    let folder = std::env::temp_dir();
    RunError::Internal(format!(
        "cannot keep records that wait for their partner in a temporary file in {}: {error}",
        folder.display()
    ))
}

/// A temporary file without a name, which disappears when the program ends.
#[derive(Debug)]
struct Disk {
    file: File,
    /// The number of bytes in the file.
    written: u64,
    /// The bytes after that.
    pending: Vec<u8>,
}

impl Disk {
    /// Records start at multiples of this, so that an index of 30 bits is enough for 32 GiB.
    const UNIT: usize = 32;

    /// The number of bytes that are written at a time.
    const PENDING: usize = 1 << 18;

    /// The number of bytes of a record that are read at first: most are not longer.
    const FIRST: usize = 512;

    fn create() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            written: 0,
            pending: Vec::with_capacity(Self::PENDING),
        })
    }

    /// Appends a record, and returns the unit at which it starts.
    fn write(&mut self, waiter: &Waiter<'_>, part: usize) -> io::Result<usize> {
        if self.pending.len() >= Self::PENDING {
            self.file.write_all(&self.pending)?;
            self.written += self.pending.len() as u64;
            self.pending.clear();
        }
        let start = self.written + self.pending.len() as u64;
        Packed::push(waiter, part, &mut self.pending);
        let length = self.pending.len().next_multiple_of(Self::UNIT);
        self.pending.resize(length, 0);
        Ok(usize::try_from(start).unwrap_or(usize::MAX) / Self::UNIT)
    }

    /// The packed record that starts at a unit.
    fn read(&self, unit: usize) -> io::Result<Vec<u8>> {
        let start = (unit * Self::UNIT) as u64;
        if let Some(start) = start.checked_sub(self.written) {
            let bytes = usize::try_from(start).ok();
            let bytes = bytes.and_then(|start| self.pending.get(start..));
            let bytes = bytes.ok_or(io::ErrorKind::UnexpectedEof)?;
            let packed = Packed::read(bytes).ok_or(io::ErrorKind::InvalidData)?;
            let bytes = bytes.get(..packed.bytes());
            return Ok(bytes.ok_or(io::ErrorKind::UnexpectedEof)?.to_owned());
        }
        let mut bytes = vec![0; Self::FIRST];
        let length = Self::FIRST.min(usize::try_from(self.written - start).unwrap_or(Self::FIRST));
        read_at(&self.file, &mut bytes[..length], start)?;
        let packed = Packed::read(&bytes[..length]).ok_or(io::ErrorKind::InvalidData)?;
        let size = packed.bytes();
        bytes.resize(size, 0);
        if let Some(rest) = bytes.get_mut(length..) {
            read_at(&self.file, rest, start + length as u64)?;
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::Form;

    /// Fingerprints with collisions: two ids share each.
    fn print(id: Id<'_>) -> u64 {
        id.to_string().parse::<u64>().expect("a number") / 2
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
    #[expect(
        clippy::too_many_lines,
        reason = "the life of some records, for each size of the window"
    )]
    fn partners_meet_in_memory_and_on_disk() {
        let side_of = |number: u64| [Side::Reference, Side::Prediction][(number % 2) as usize];
        let other_of = |number: u64| [Side::Prediction, Side::Reference][(number % 2) as usize];
        let value = |number: u64| "x".repeat((number * 7 % 1000) as usize);
        let part = Arc::default();
        // None, some, and all of the records are on disk.
        for window in [0, 20_000, u64::MAX] {
            let mut waiting = Waiting {
                print,
                ..Waiting::with_window(window)
            };
            let meet = |waiting: &mut Waiting, side, number: u64| {
                let (id, value) = (number.to_string(), value(number));
                let record = format!("{id} {value}");
                let met = waiting.meet(&Waiter {
                    side,
                    ordinal: number,
                    line: number + 1,
                    part: &part,
                    id: Id::Text(&id),
                    form: Form::Line,
                    value: &value,
                    record: Some(&record),
                });
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
                        assert_eq!(partner.waiter().record, Some(&*record));
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
            // One part at a time, and several.
            let count = if window == 0 { 1 } else { 3 };
            while let joined = waiting.join_next(count).expect("parts")
                && !joined.is_empty()
            {
                for joined in joined {
                    for &[reference, prediction] in &joined.pairs {
                        let [reference, prediction] = [reference, prediction]
                            .map(|index| joined.spilled.get(index).expect("one"));
                        assert_eq!(reference.side, Side::Reference);
                        assert_eq!(prediction.side, Side::Prediction);
                        assert_eq!(reference.id, prediction.id);
                        let number = reference.ordinal;
                        assert_eq!(reference.value().as_line(), Some(&*value(number)));
                        assert_eq!(prediction.record, reference.record);
                        assert_eq!(prediction.line, number + 1);
                        found.push(number);
                    }
                    twice.extend(joined.twice);
                }
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
            assert!(rest.iter().all(|held| {
                let waiter = held.waiter();
                waiter.value().as_line() == Some(&*value(held.ordinal))
                    && waiter.record == Some(&*format!("{} {}", held.ordinal, waiter.value))
            }));
            assert!(waiting.has_any(Side::Prediction));
        }
    }
}
