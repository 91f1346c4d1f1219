//! Records that wait for their partner: in memory up to a window, and beyond it packed in partitions.
//!
//! Once the window is full, references are gathered first, while predictions are held back. If there is room for all of
//! them in memory, predictions find them there. Otherwise, or if a source cannot be read again, predictions are packed as
//! well, and partitions are joined at the end: see [`crate::partitions`]. Memory grows with the number of records by some
//! bytes each. Ids with equal fingerprints are told apart by their texts.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Write};
use std::sync::Arc;

use metric_record::{Id, Side};
use rayon::prelude::*;

use crate::RunError;
use crate::packed::{Packed, Unpacked};
use crate::part::Part;
use crate::partitions::{FoundReference, Joined, Partition, Partitions, Spare, Tables};
use crate::positions::{self, read_at};
use crate::waiter::{Held, Waiter, fingerprint};

/// The number of bytes of records that wait in memory one by one.
pub(crate) const WINDOW: u64 = 8 << 20;

/// The number of bytes of records that wait in memory packed, whatever their number.
const ROOM: u64 = 64 << 20;

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
    /// All records that waited when the window was full, and came after that.
    partitions: Option<Box<Partitions>>,
    /// The references that were gathered, once predictions can be looked up in them.
    tables: Option<Tables>,
    /// Packed records that found no partner.
    alone: Vec<Slot>,
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
            partitions: None,
            tables: None,
            alone: Vec::new(),
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
        let packed = self.partitions.as_ref().map_or(0, |it| it.bytes());
        let entries = self.by_print.len() + self.twins.len() + self.alone.len();
        self.store.bytes + packed + ENTRY * entries as u64
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
    fn pack(&mut self, waiter: &Waiter<'_>) -> Result<Meeting, RunError> {
        self.pack_with(self.print(waiter.id), waiter)?;
        Ok(Meeting::Waits)
    }

    /// The fingerprint of an id.
    pub(crate) fn print(&self, id: Id<'_>) -> u64 {
        (self.print)(id)
    }

    /// Packs a record whose id has this fingerprint, and before the first one all that wait in memory.
    pub(crate) fn pack_with(&mut self, print: u64, waiter: &Waiter<'_>) -> Result<(), RunError> {
        if !self.is_full() {
            self.pack_waiting()?;
        }
        self.pack_one(print, waiter)
    }

    /// Packs all records that wait in memory.
    #[cold]
    fn pack_waiting(&mut self) -> Result<(), RunError> {
        self.by_print = HashMap::default();
        self.twins.clear();
        self.store.free = Vec::new();
        self.store.bytes = 0;
        for held in std::mem::take(&mut self.store.memory).into_iter().flatten() {
            let waiter = held.waiter();
            self.pack_one(self.print(waiter.id), &waiter)?;
        }
        Ok(())
    }

    /// Adds a record to those that are packed.
    fn pack_one(&mut self, print: u64, waiter: &Waiter<'_>) -> Result<(), RunError> {
        let part = self.store.part(waiter.part);
        let room = self.store.window.saturating_mul(ROOM / WINDOW);
        let partitions = self
            .partitions
            .get_or_insert_with(|| Partitions::new(room).into());
        let written = partitions.write(print, waiter, part);
        written.map_err(|error| failed(&error))
    }

    /// Whether the window is full, so that no record meets its partner before all of one side have come.
    pub(crate) fn is_full(&self) -> bool {
        self.partitions.is_some()
    }

    /// Whether references are gathered, so that predictions have to be held back.
    pub(crate) fn is_gathering(&self) -> bool {
        let mut partitions = self.partitions.iter();
        let is_in_memory = partitions.any(|it| it.are_in_memory());
        self.may_gather && is_in_memory && self.tables.is_none()
    }

    /// Whether predictions can be looked up in the references that were gathered.
    pub(crate) fn has_references(&self) -> bool {
        self.tables.is_some()
    }

    /// Lets predictions be looked up in the references that were gathered, as all of them have come. Returns the
    /// partitions, with the partners of the predictions that came before; several threads join them at the same time.
    pub(crate) fn complete(&mut self, threads: usize) -> Result<Vec<Joined>, RunError> {
        let Some(partitions) = &mut self.partitions else {
            return Ok(Vec::new());
        };
        let taken = partitions.take_all();
        let mut all = self.join(taken, threads)?;
        let tables = all
            .iter_mut()
            .map(|joined| std::mem::take(&mut joined.table));
        self.tables = Some(Tables(tables.collect()));
        Ok(all)
    }

    /// Looks up the ids of predictions. Returns the references that were found for each, and their records one after
    /// another.
    pub(crate) fn look_up<'i>(
        &self,
        ids: impl ExactSizeIterator<Item = Id<'i>>,
    ) -> (Vec<Option<FoundReference>>, Unpacked) {
        let tables = self.tables.as_ref();
        tables.map_or_else(Default::default, |tables| tables.look_up(ids, self.print))
    }

    /// Takes a reference that a prediction has found. Returns whether no other one had it.
    pub(crate) fn take(&mut self, reference: FoundReference) -> bool {
        let tables = self.tables.as_mut();
        tables.is_some_and(|tables| tables.take(reference))
    }

    /// Keeps a prediction without a reference.
    pub(crate) fn leave_alone(&mut self, waiter: &Waiter<'_>) -> Result<(), RunError> {
        let mut packed = Vec::new();
        Packed::push(waiter, self.store.part(waiter.part), &mut packed);
        self.alone.push(self.store.put_on_disk(&packed)?);
        Ok(())
    }

    /// Keeps the references without a prediction of those that were gathered, after the last prediction.
    pub(crate) fn end_gathering(&mut self) -> Result<(), RunError> {
        let Some(Tables(tables)) = self.tables.take() else {
            return Ok(());
        };
        for table in tables {
            self.leave_all_alone(table.missing())?;
        }
        self.partitions = None;
        Ok(())
    }

    /// Keeps some packed records.
    fn leave_all_alone<'b>(
        &mut self,
        mut packed: impl Iterator<Item = Option<&'b [u8]>>,
    ) -> Result<(), RunError> {
        packed.try_for_each(|bytes| {
            let slot = self.store.put_on_disk(bytes.ok_or_else(lost)?)?;
            self.alone.push(slot);
            Ok(())
        })
    }

    /// Joins the next partitions at the same time, this many, after all records have come; none after the last ones.
    pub(crate) fn join_next(&mut self, count: usize) -> Result<Vec<Joined>, RunError> {
        let Some(partitions) = &mut self.partitions else {
            return Ok(Vec::new());
        };
        let count = if positions::ARE_SHARED { count } else { 1 };
        let taken = partitions.take_last(count);
        if taken.is_empty() {
            self.partitions = None;
        }
        let all = self.join(taken, count)?;
        for joined in &all {
            self.leave_all_alone(joined.table.missing())?;
        }
        Ok(all)
    }

    /// Joins some partitions, on several threads at the same time, and keeps the predictions without a reference.
    fn join(&mut self, taken: Vec<Partition>, threads: usize) -> Result<Vec<Joined>, RunError> {
        let file = self.partitions.as_ref().and_then(|it| it.file());
        let spare = Spare::default();
        let join = |taken: Partition| {
            let joined = taken.join(file, &spare);
            joined.map_err(|error| failed(&error))
        };
        let all: Result<Vec<Joined>, RunError> = match threads {
            1 => taken.into_iter().map(join).collect(),
            _ => taken.into_par_iter().map(join).collect(),
        };
        let mut all = all?;
        for joined in &mut all {
            let extra = std::mem::take(&mut joined.extra);
            let extra = Packed::all(&extra).map(|packed| Some(packed?.1));
            self.leave_all_alone(extra)?;
        }
        Ok(all)
    }

    /// The part with a number.
    pub(crate) fn part(&self, number: usize) -> Option<&Arc<Part>> {
        self.store.parts.get(number)
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

    /// Puts a packed record on disk, where it is found by its position.
    fn put_on_disk(&mut self, packed: &[u8]) -> Result<Slot, RunError> {
        let side = Packed::read(packed).ok_or_else(lost)?.side;
        let disk = match self.disk.take() {
            Some(disk) => disk,
            None => Disk::create().map_err(|error| failed(&error))?,
        };
        let index = self.disk.insert(disk).write(packed);
        let index = index.map_err(|error| failed(&error))?;
        Slot::new(side, true, index).ok_or_else(too_many)
    }

    /// The number of a part, which is mostly one of the last two.
    #[inline]
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
        let bytes = read.map_err(|error| failed(&error))?;
        let packed = Packed::read(&bytes).ok_or_else(lost)?;
        packed.hold(&bytes, &self.parts).ok_or_else(lost)
    }
}

pub(crate) fn lost() -> RunError {
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
    fn write(&mut self, packed: &[u8]) -> io::Result<usize> {
        if self.pending.len() >= Self::PENDING {
            self.file.write_all(&self.pending)?;
            self.written += self.pending.len() as u64;
            self.pending.clear();
        }
        let start = self.written + self.pending.len() as u64;
        self.pending.extend_from_slice(packed);
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
            assert_eq!(waiting.is_full(), window < u64::MAX);
            let mut twice = Vec::new();
            // One part at a time, and several.
            let count = if window == 0 { 1 } else { 3 };
            while let joined = waiting.join_next(count).expect("parts")
                && !joined.is_empty()
            {
                for joined in joined {
                    let sides = [joined.references, joined.predictions];
                    let texts = sides.each_ref().map(|side| {
                        let text = String::from_utf8(side.text.clone());
                        text.expect("a text")
                    });
                    for index in 0..sides[0].found.len() {
                        let number = sides[0].origins[index].ordinal;
                        for (side, text) in sides.iter().zip(&texts) {
                            let found = &side.found[index];
                            assert_eq!(found.id(text), Id::Text(&number.to_string()));
                            assert_eq!(found.value(text).as_line(), Some(&*value(number)));
                            let record = format!("{number} {}", value(number));
                            assert_eq!(found.record(text), Some(&*record));
                            assert_eq!(found.line, number + 1);
                        }
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
