//! References in memory, in which predictions of another order look for their partners.
//!
//! As in a hash join: while references come, predictions are held back. When all references have come, a table of their
//! ids is built, and predictions are looked up block by block, without being copied. Only those predictions that came
//! before the references were indexed are kept until the end.

use std::io;
use std::sync::Arc;

use metric_record::{Id, Side};

use crate::packed::Packed;
use crate::part::Part;
use crate::waiter::Waiter;

/// Packed records one after another.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    full: Vec<String>,
    /// The length of all of these.
    full_bytes: usize,
    last: Vec<u8>,
    records: usize,
}

/// Where a record starts: the number of its text in the upper bits, and the position in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address(u32);

impl Address {
    /// No record.
    const NONE: Self = Self(u32::MAX);

    fn new(text: usize, start: usize) -> Self {
        Self(((text << Texts::TEXT_BITS) | start) as u32)
    }
}

impl Texts {
    /// The number of bits of the position in a text.
    const TEXT_BITS: u32 = 20;

    /// A text has no more records once it is as long as this, so that all records start before.
    const TEXT_BYTES: usize = 1 << Self::TEXT_BITS;

    /// The number of texts that addresses can name.
    const MOST_TEXTS: usize = (1 << (u32::BITS - Self::TEXT_BITS)) - 1;

    /// The room in a text for the record at its end.
    const LAST_RECORD: usize = 1 << 12;

    fn push(&mut self, waiter: &Waiter<'_>, part: usize) -> io::Result<()> {
        if self.last.capacity() == 0 {
            self.last.reserve(Self::TEXT_BYTES + Self::LAST_RECORD);
        }
        Packed::push(waiter, part, &mut self.last);
        self.records += 1;
        if self.last.len() >= Self::TEXT_BYTES {
            self.close()?;
        }
        Ok(())
    }

    /// Makes a text of the last records.
    fn close(&mut self) -> io::Result<()> {
        let text = String::from_utf8(std::mem::take(&mut self.last));
        let text = text.map_err(|_| io::ErrorKind::InvalidData)?;
        self.full_bytes += text.len();
        self.full.push(text);
        Ok(())
    }

    /// The number of bytes of all records.
    pub(crate) fn bytes(&self) -> u64 {
        (self.full_bytes + self.last.len()) as u64
    }

    /// The text that starts with the record at an address.
    fn text(&self, address: Address) -> Option<&str> {
        let start = address.0 as usize % Self::TEXT_BYTES;
        let text = self.full.get((address.0 >> Self::TEXT_BITS) as usize)?;
        text.get(start..)
    }

    /// A byte at a distance from an address; 0 for none.
    fn byte(&self, address: Address, distance: usize) -> u8 {
        let text = self.full.get((address.0 >> Self::TEXT_BITS) as usize);
        let start = address.0 as usize % Self::TEXT_BYTES;
        let byte = text.and_then(|text| text.as_bytes().get(start + distance));
        byte.copied().unwrap_or_default()
    }

    /// The record at an address.
    pub(crate) fn get<'a>(
        &'a self,
        address: Address,
        parts: &'a [Arc<Part>],
    ) -> Option<Waiter<'a>> {
        let text = self.text(address)?;
        Packed::read(text.as_bytes())?.waiter(text, parts)
    }

    /// The addresses of the records of the closed texts, with their ids.
    fn ids(&self) -> impl Iterator<Item = (Address, &str)> {
        let texts = self.full.iter().enumerate();
        texts.flat_map(|(number, text)| {
            let records = records(text);
            records.filter_map(move |(start, packed)| {
                let id = packed.id(&text[start..])?;
                Some((Address::new(number, start), id))
            })
        })
    }
}

/// The records of a text, with where they start.
fn records(text: &str) -> impl Iterator<Item = (usize, Packed)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let packed = Packed::read(text.as_bytes().get(start..)?)?;
        let here = start;
        start += packed.bytes();
        Some((here, packed))
    })
}

/// References that were found by their ids, with their texts next to each other: they are read again when they are scored,
/// and where they are found no longer is in the cache then.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Packed records.
    text: String,
    references: Vec<Option<FoundReference>>,
}

/// A reference that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundReference {
    slot: usize,
    /// Where its text starts among the texts that were found.
    pub(crate) start: usize,
    /// Its number among all references.
    pub(crate) ordinal: u64,
}

impl Found {
    /// The references in the order of the ids that were looked up.
    pub(crate) fn references(&self) -> impl Iterator<Item = Option<FoundReference>> {
        self.references.iter().copied()
    }

    /// The reference whose text has this start.
    pub(crate) fn get<'a>(&'a self, start: usize, parts: &'a [Arc<Part>]) -> Option<Waiter<'a>> {
        let text = self.text.get(start..)?;
        Packed::read(text.as_bytes())?.waiter(text, parts)
    }
}

/// References by their ids, and predictions that came before the last of them.
#[derive(Debug)]
pub(crate) struct Index {
    references: Texts,
    early: Texts,
    /// The references by fingerprint, with linear probing, once all of them have come.
    slots: Vec<Slot>,
    /// Whether a slot's reference has found its prediction, by bits.
    taken: Vec<u64>,
    /// The fingerprint of an id.
    print: fn(Id<'_>) -> u64,
    /// The number of bytes of records that fit into memory, whatever their number.
    room: u64,
}

/// A reference: the lower half of the fingerprint of its id, and where it is.
#[derive(Clone, Copy, Debug)]
struct Slot {
    tag: u32,
    address: Address,
}

impl Index {
    /// The number of additional bytes per reference that fit into memory.
    const ROOM_PER_REFERENCE: u64 = 32;

    pub(crate) fn new(room: u64, print: fn(Id<'_>) -> u64) -> Self {
        Self {
            references: Texts::default(),
            early: Texts::default(),
            slots: Vec::new(),
            taken: Vec::new(),
            print,
            room,
        }
    }

    /// Adds a reference, or a prediction that came too early to be looked up.
    pub(crate) fn push(&mut self, waiter: &Waiter<'_>, part: usize) -> io::Result<()> {
        match waiter.side {
            Side::Reference => self.references.push(waiter, part),
            Side::Prediction => self.early.push(waiter, part),
        }
    }

    /// The number of slots for all references so far: a quarter of them stays empty.
    fn slot_count(&self) -> usize {
        self.references.records / 3 * 4 + 4
    }

    /// The memory that is taken, about.
    pub(crate) fn bytes(&self) -> u64 {
        let slots = (self.slot_count() * size_of::<Slot>()) as u64;
        self.references.bytes() + self.early.bytes() + slots
    }

    /// Whether there is no room for more records.
    pub(crate) fn is_full(&self) -> bool {
        let references = self.references.records as u64;
        let more = Self::ROOM_PER_REFERENCE.saturating_mul(references);
        let has_addresses = self.references.full.len().max(self.early.full.len());
        has_addresses >= Texts::MOST_TEXTS || self.bytes() > self.room.saturating_add(more)
    }

    /// Whether all references have come.
    pub(crate) fn is_complete(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Builds the table, after the last reference. Returns the ids that occur twice.
    pub(crate) fn complete(&mut self) -> io::Result<Vec<String>> {
        self.references.close()?;
        self.early.close()?;
        let empty = Slot {
            tag: 0,
            address: Address::NONE,
        };
        self.slots = vec![empty; self.slot_count()];
        self.taken = vec![0; self.slots.len().div_ceil(u64::BITS as usize)];
        let mut twice = Vec::new();
        let mut ids = self.references.ids();
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            let prints = ids.by_ref().map(|(address, id)| {
                let id = Id::Text(id);
                (address, id, (self.print)(id))
            });
            batch.extend(prints.take(BATCH));
            if batch.is_empty() {
                return Ok(twice);
            }
            let slots = self.slots.as_mut_slice();
            load_ahead(
                batch
                    .iter()
                    .map(|(_, _, print)| slots[home(slots, *print)].tag),
            );
            for &(address, id, print) in &batch {
                match find(slots, &self.references, (print, home(slots, print)), id) {
                    Ok(_) => twice.push(id.to_string()),
                    Err(at) => {
                        slots[at] = Slot {
                            tag: print as u32,
                            address,
                        }
                    }
                }
            }
        }
    }

    /// The references with these ids.
    pub(crate) fn look_up<'i>(&self, ids: impl Iterator<Item = Id<'i>>) -> Found {
        let mut ids = ids.map(|id| (id, (self.print)(id)));
        let mut found = Found {
            text: String::new(),
            references: Vec::with_capacity(ids.size_hint().0),
        };
        let mut batch = Vec::with_capacity(BATCH);
        let mut starts = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            batch.extend(ids.by_ref().take(BATCH));
            if batch.is_empty() {
                return found;
            }
            let slots = self.slots.as_slice();
            load_ahead(
                batch
                    .iter()
                    .map(|(_, print)| slots[home(slots, *print)].tag),
            );
            starts.clear();
            let tagged = |&(_, print): &(Id<'_>, u64)| tagged(slots, home(slots, print), print);
            starts.extend(batch.iter().map(tagged));
            load_ahead(starts.iter().map(|at| {
                let byte = |distance| self.references.byte(slots[*at].address, distance);
                u32::from(byte(0)) + u32::from(byte(CACHE_LINE))
            }));
            for (&(id, print), &start) in batch.iter().zip(&starts) {
                let reference = match find(slots, &self.references, (print, start), id) {
                    Err(_) => None,
                    Ok((slot, packed, text)) => {
                        let start = found.text.len();
                        found.text.push_str(&text[..packed.bytes()]);
                        Some(FoundReference {
                            slot,
                            start,
                            ordinal: packed.ordinal,
                        })
                    }
                };
                found.references.push(reference);
            }
        }
    }

    /// Takes a reference that was found. Returns whether this is the first time.
    pub(crate) fn take(&mut self, FoundReference { slot, .. }: FoundReference) -> bool {
        let bit = 1 << (slot % u64::BITS as usize);
        let bits = &mut self.taken[slot / u64::BITS as usize];
        let is_first = *bits & bit == 0;
        *bits |= bit;
        is_first
    }

    pub(crate) fn references(&self) -> &Texts {
        &self.references
    }

    /// Takes the predictions that came before the last reference. Returns them with their addresses and their references.
    pub(crate) fn take_early(&mut self) -> (Texts, Vec<Address>, Found) {
        let early = std::mem::take(&mut self.early);
        let found = self.look_up(early.ids().map(|(_, id)| Id::Text(id)));
        let addresses = early.ids().map(|(address, _)| address).collect();
        (early, addresses, found)
    }

    /// The references that found no prediction, in the order in which they came.
    pub(crate) fn alone(&self) -> Vec<Address> {
        let is_taken = |slot: usize| {
            self.taken[slot / u64::BITS as usize] >> (slot % u64::BITS as usize) & 1 != 0
        };
        let slots = self.slots.iter().enumerate();
        let alone = slots.filter(|(slot, it)| it.address != Address::NONE && !is_taken(*slot));
        let mut alone: Vec<Address> = alone.map(|(_, it)| it.address).collect();
        alone.sort_unstable_by_key(|address| address.0);
        alone
    }

    /// Gives `take` all records, when there is no room for more. A text is dropped before the next one is read.
    pub(crate) fn unpack(
        self,
        parts: &[Arc<Part>],
        mut take: impl FnMut(&Waiter<'_>),
    ) -> io::Result<()> {
        for mut texts in [self.references, self.early] {
            texts.close()?;
            for text in texts.full {
                for (start, packed) in records(&text) {
                    let waiter = packed.waiter(&text[start..], parts);
                    take(&waiter.ok_or(io::ErrorKind::InvalidData)?);
                }
            }
        }
        Ok(())
    }
}

/// The number of ids that are looked up at a time. Most of the time goes into waiting for the memory, which has many
/// slots and texts on their way to the cache at a time if nothing depends on them yet.
const BATCH: usize = 256;

/// Loads some memory.
fn load_ahead<T: Into<u32>>(loaded: impl Iterator<Item = T>) {
    let sum = loaded.fold(0, |sum: u32, it| sum.wrapping_add(it.into()));
    std::hint::black_box(sum);
}

/// The slot at which the search for a fingerprint starts.
fn home(slots: &[Slot], print: u64) -> usize {
    ((u128::from(print) * slots.len() as u128) >> u64::BITS) as usize
}

/// The number of bytes of memory that are loaded at a time, about.
const CACHE_LINE: usize = 64;

/// The first slot with the tag of a fingerprint, or the first empty slot, starting at one of them.
fn tagged(slots: &[Slot], mut at: usize, print: u64) -> usize {
    loop {
        let slot = slots[at];
        if slot.tag == print as u32 || slot.address == Address::NONE {
            return at;
        }
        at = next(slots, at);
    }
}

/// The slot after another one.
fn next(slots: &[Slot], at: usize) -> usize {
    if at + 1 == slots.len() { 0 } else { at + 1 }
}

/// The slot of an id with its reference and the text that starts with it, or the empty slot where the id belongs. The
/// search for a fingerprint starts at this slot.
fn find<'r>(
    slots: &[Slot],
    references: &'r Texts,
    (print, start): (u64, usize),
    id: Id<'_>,
) -> Result<(usize, Packed, &'r str), usize> {
    let mut at = start;
    loop {
        at = tagged(slots, at, print);
        let Slot { address, .. } = slots[at];
        if address == Address::NONE {
            return Err(at);
        }
        if let Some(text) = references.text(address)
            && let Some(packed) = Packed::read(text.as_bytes())
            && packed.id(text).is_some_and(|it| Id::Text(it) == id)
        {
            return Ok((at, packed, text));
        }
        at = next(slots, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::Form;

    /// Fingerprints with collisions: all ids of the same length share one, and nearly the same slot.
    fn print(id: Id<'_>) -> u64 {
        id.to_string().len() as u64
    }

    fn push(index: &mut Index, side: Side, number: u64, value: &str) {
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
        index.push(&waiter, 0).expect("a record");
    }

    #[test]
    fn references_are_found_by_their_ids() {
        // Short texts, some that do not fit into one, and one that is longer than a text.
        for bytes in [0, 1000, 3_000_000] {
            let value = "é".repeat(bytes / 2);
            let mut index = Index::new(u64::MAX, print);
            for number in 0..if bytes > 1000 { 3 } else { 2000 } {
                push(&mut index, Side::Reference, number, &value);
            }
            push(&mut index, Side::Reference, 1, "again");
            push(&mut index, Side::Prediction, 2, "early");
            push(&mut index, Side::Prediction, 5000, "unknown");
            assert!(!index.is_complete());
            assert_eq!(index.complete().expect("a table"), ["1"]);
            assert!(index.is_complete() && !index.is_full());
            let parts = [Arc::default()];
            let found = index.look_up([Id::Text("0"), Id::Line(1), Id::Text("01")].into_iter());
            let [zero, one, none] = found.references.as_slice() else {
                panic!("{found:?}");
            };
            assert!(none.is_none());
            for (reference, ordinal) in [(zero, 0), (one, 1)] {
                let reference = reference.expect("a reference");
                assert_eq!(reference.ordinal, ordinal);
                let waiter = found.get(reference.start, &parts).expect("a record");
                assert_eq!((waiter.line, waiter.value), (ordinal + 1, &*value));
                assert!(index.take(reference));
                assert!(!index.take(reference));
            }
            let (early, addresses, found) = index.take_early();
            let values = addresses.iter().zip(found.references());
            let values = values.map(|(address, reference)| {
                let waiter = early.get(*address, &parts).expect("a record");
                (waiter.value, reference.map(|it| it.ordinal))
            });
            assert!(values.eq([("early", Some(2)), ("unknown", None)]));
            assert!(index.take(found.references[0].expect("a reference")));
            let alone = index.alone();
            let references = index.references();
            let alone = alone
                .iter()
                .map(|it| references.get(*it, &parts).map(|it| it.ordinal));
            assert!(alone.eq((3..if bytes > 1000 { 3 } else { 2000 }).map(Some)));
        }
    }

    #[test]
    fn records_leave_an_index_that_is_full() {
        let mut index = Index::new(1000, print);
        let mut count = 0;
        while !index.is_full() {
            push(&mut index, Side::Reference, count, &"x".repeat(100));
            count += 1;
        }
        // A record takes 100 bytes and a few more, and brings room for 32.
        assert!((9..14).contains(&count), "{count}");
        push(&mut index, Side::Prediction, 7, "p");
        let mut records = Vec::new();
        let unpacked = index.unpack(&[Arc::default()], |waiter| {
            records.push((waiter.side, waiter.id.to_string()));
        });
        unpacked.expect("the records");
        let references = (0..count).map(|number| (Side::Reference, number.to_string()));
        assert!(
            references
                .chain([(Side::Prediction, "7".to_owned())])
                .eq(records)
        );
    }
}
