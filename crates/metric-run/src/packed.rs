//! Records that wait for their partner, packed as bytes: a short header, and then the id, the value and the record.
//!
//! The numbers of a header have seven bits per byte. That of the first part, and the number of a reference which follows
//! from its line, are left out if both can be. Bytes that were packed, and perhaps were in a file since, are
//! validated as text when records are unpacked.

use std::sync::Arc;

use metric_record::{Id, Side};

use crate::found::{Form, Found, FoundId, Span};
use crate::part::Part;
use crate::waiter::{Held, Waiter, push_id};

/// The header of a packed record.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    pub(crate) side: Side,
    form: Form,
    has_record: bool,
    /// Whether a reference has found its prediction.
    pub(crate) is_taken: bool,
    pub(crate) ordinal: u64,
    line: u64,
    part: usize,
    /// The lengths of the header, the id, the value and the record.
    header: usize,
    id: usize,
    value: usize,
    record: usize,
}

impl Packed {
    /// Appends a record of a part with this number.
    // Inlined, as all others here: a record that is passed on in memory is loaded only after everything that was stored
    // before it, most of which is not in the cache.
    #[inline(always)]
    pub(crate) fn push(waiter: &Waiter<'_>, part: usize, bytes: &mut Vec<u8>) {
        let id = match waiter.id {
            Id::Text(id) => id,
            id => &{
                let mut text = String::new();
                push_id(id, &mut text);
                text
            },
        };
        let is_prediction = waiter.side == Side::Prediction;
        let flags = waiter.form.code() << 3
            | u8::from(waiter.record.is_some()) << 1
            | u8::from(is_prediction);
        let record = waiter.record.unwrap_or_default();
        // References are mostly numbered as their lines are; predictions have no number.
        let ordinal = match waiter.side {
            Side::Reference => waiter.ordinal ^ waiter.line.wrapping_sub(1),
            Side::Prediction => waiter.ordinal,
        };
        let lengths = [id.len(), waiter.value.len(), record.len()].map(|length| length as u64);
        bytes.reserve(MOST_BYTES + id.len() + waiter.value.len() + record.len());
        let is_usual = part == 0 && ordinal == 0;
        let mut header = Header::new(bytes, flags | u8::from(is_usual) << 2);
        header.push(waiter.line);
        if !is_usual {
            header.push(part as u64);
            header.push(ordinal);
        }
        header.push(lengths[0]);
        header.push(lengths[1]);
        if waiter.record.is_some() {
            header.push(lengths[2]);
        }
        header.end();
        bytes.extend_from_slice(id.as_bytes());
        bytes.extend_from_slice(waiter.value.as_bytes());
        if waiter.record.is_some() {
            bytes.extend_from_slice(record.as_bytes());
        }
    }

    /// The header at the start of some bytes.
    #[inline(always)]
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (flags, mut rest) = bytes.split_first()?;
        let mut number = || take_number(&mut rest);
        let side = match flags & 1 {
            0 => Side::Reference,
            _ => Side::Prediction,
        };
        let has_record = flags & 2 != 0;
        let is_usual = flags & 4 != 0;
        let line = number()?;
        let (part, ordinal) = if is_usual {
            (0, 0)
        } else {
            (number()? as usize, number()?)
        };
        let ordinal = match side {
            Side::Reference => ordinal ^ line.wrapping_sub(1),
            Side::Prediction => ordinal,
        };
        let id = number()? as usize;
        let value = number()? as usize;
        let record = if has_record { number()? as usize } else { 0 };
        Some(Self {
            side,
            form: Form::of_code((flags & !TAKEN) >> 3)?,
            has_record,
            is_taken: flags & TAKEN != 0,
            ordinal,
            line,
            part,
            header: bytes.len() - rest.len(),
            id,
            value,
            record,
        })
    }

    /// The record that some bytes start with, its own bytes, and those after it.
    #[inline(always)]
    pub(crate) fn split(bytes: &[u8]) -> Option<(Self, &[u8], &[u8])> {
        let packed = Self::read(bytes)?;
        let (record, rest) = bytes.split_at_checked(packed.bytes())?;
        Some((packed, record, rest))
    }

    /// Records that are packed one after another, with their bytes; the last one is `None` if they are damaged.
    pub(crate) fn all(mut bytes: &[u8]) -> impl Iterator<Item = Option<(Self, &[u8])>> {
        std::iter::from_fn(move || {
            if bytes.is_empty() {
                return None;
            }
            let Some((packed, record, rest)) = Self::split(bytes) else {
                bytes = &[];
                return Some(None);
            };
            bytes = rest;
            Some(Some((packed, record)))
        })
    }

    /// Marks the record that some bytes start with as taken. Returns whether it was not.
    pub(crate) fn take(bytes: &mut [u8]) -> bool {
        let flags = bytes.first_mut();
        flags.is_some_and(|flags| std::mem::replace(flags, *flags | TAKEN) & TAKEN == 0)
    }

    /// The number of bytes of the record with its header.
    pub(crate) fn bytes(&self) -> usize {
        self.header + self.id + self.value + self.record
    }

    /// The id of the record, which some bytes start with.
    pub(crate) fn id<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(self.header..self.header + self.id)
    }

    /// The record, which some bytes start with; `None` if they are damaged.
    pub(crate) fn hold(&self, bytes: &[u8], parts: &[Arc<Part>]) -> Option<Held> {
        let mut unpacked = Unpacked::default();
        unpacked.push(self, bytes.get(..self.bytes())?);
        let text = String::from_utf8(unpacked.text).ok()?;
        let found = unpacked.found.first()?;
        Some(Held::new(&Waiter {
            side: self.side,
            ordinal: self.ordinal,
            line: self.line,
            part: parts.get(self.part)?,
            id: found.id(&text),
            form: self.form,
            value: found.value.slice(&text),
            record: found.record(&text),
        }))
    }
}

/// Records that were packed, in the form of those of a block.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    /// The text of the records, not yet validated.
    pub(crate) text: Vec<u8>,
    pub(crate) found: Vec<Found>,
    pub(crate) origins: Vec<Origin>,
}

/// The origin of a record that was packed: its number among all references, and that of its part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) ordinal: u64,
    pub(crate) part: usize,
}

impl Unpacked {
    /// No records, with room for this many.
    pub(crate) fn with_capacity(count: usize) -> Self {
        /// The bytes of a short record.
        const RECORD: usize = 32;
        Self {
            text: Vec::with_capacity(count * RECORD),
            found: Vec::with_capacity(count),
            origins: Vec::with_capacity(count),
        }
    }

    /// Adds a record with its bytes.
    #[inline]
    pub(crate) fn push(&mut self, packed: &Packed, bytes: &[u8]) {
        let text = bytes.get(packed.header..).unwrap_or_default();
        let id = self.text.len();
        let value = id + packed.id;
        let record = value + packed.value;
        self.text.extend_from_slice(text);
        self.found.push(Found {
            id: FoundId::Here(Span::new(id, value)),
            value: Span::new(value, record),
            form: packed.form,
            other: None,
            record: if packed.has_record {
                Span::new(record, self.text.len())
            } else {
                Span::default()
            },
            line: packed.line,
        });
        self.origins.push(Origin {
            ordinal: packed.ordinal,
            part: packed.part,
        });
    }
}

/// The mark of a taken record in its flags.
const TAKEN: u8 = 1 << 7;

/// The most bytes of a header: flags and six numbers, and those that are stored together with the last one.
const MOST_BYTES: usize = 1 + 6 * NUMBER_BYTES + size_of::<u128>();

/// The most bytes of a number.
const NUMBER_BYTES: usize = u64::BITS.div_ceil(7) as usize;

/// The mark of the last byte of a number.
const LAST: u8 = 1 << 7;

/// A header that is written. Its bytes are gathered in a register and stored together: bytes that are stored one by one
/// cannot be loaded together soon after.
struct Header<'b> {
    bytes: &'b mut Vec<u8>,
    /// The next bytes, the first of which is the lowest.
    gathered: u128,
    /// Their number.
    count: usize,
}

impl<'b> Header<'b> {
    #[inline]
    fn new(bytes: &'b mut Vec<u8>, flags: u8) -> Self {
        Self {
            bytes,
            gathered: flags.into(),
            count: 1,
        }
    }

    /// Appends a number, from its lowest bits to its highest.
    #[inline]
    fn push(&mut self, mut number: u64) {
        while number >= u64::from(LAST) {
            self.push_byte(number as u8 & (LAST - 1));
            number >>= 7;
        }
        self.push_byte(number as u8 | LAST);
    }

    #[inline]
    fn push_byte(&mut self, byte: u8) {
        if self.count == size_of::<u128>() {
            self.bytes.extend_from_slice(&self.gathered.to_le_bytes());
            (self.gathered, self.count) = (0, 0);
        }
        self.gathered |= u128::from(byte) << (self.count as u32 * u8::BITS);
        self.count += 1;
    }

    #[inline]
    fn end(self) {
        let length = self.bytes.len() + self.count;
        self.bytes.extend_from_slice(&self.gathered.to_le_bytes());
        self.bytes.truncate(length);
    }
}

/// Takes a number from the start of some bytes.
#[inline]
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    match bytes.split_first()? {
        (&byte, rest) if byte >= LAST => {
            *bytes = rest;
            Some(u64::from(byte & (LAST - 1)))
        }
        _ => take_long_number(bytes),
    }
}

/// The same for numbers of any length.
fn take_long_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (index, &byte) in bytes.iter().enumerate().take(NUMBER_BYTES) {
        number |= u64::from(byte & (LAST - 1)) << (7 * index);
        if byte >= LAST {
            *bytes = bytes.get(index + 1..)?;
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_written() {
        let part = Arc::default();
        for number in [0, 1, 127, 128, 16_383, 16_384, 1 << 32, u64::MAX] {
            for len in [0, 1, 63, 64, 70_000] {
                let id = "é".repeat(len);
                let record = "r".repeat(len + 1);
                for (side, line) in [
                    (Side::Reference, number),
                    (Side::Reference, u64::MAX - number),
                    (Side::Prediction, number / 3),
                ] {
                    let waiter = Waiter {
                        side,
                        ordinal: number,
                        line,
                        part: &part,
                        id: Id::Text(&id),
                        form: Form::Line,
                        value: "v",
                        record: Some(&*record).filter(|_| len > 1),
                    };
                    let index = 300 * (len % 2);
                    let mut bytes = Vec::new();
                    Packed::push(&waiter, index, &mut bytes);
                    let packed = Packed::read(&bytes).expect("a header");
                    assert_eq!(packed.bytes(), bytes.len());
                    assert_eq!(packed.part, index);
                    for cut in 0..packed.header {
                        assert!(Packed::read(&bytes[..cut]).is_none());
                    }
                    assert_eq!(packed.id(&bytes), Some(id.as_bytes()));
                    let parts = vec![Arc::clone(&part); 301];
                    let held = packed.hold(&bytes, &parts).expect("a record");
                    assert_eq!(format!("{:?}", held.waiter()), format!("{waiter:?}"));
                    assert!(packed.hold(&bytes[..bytes.len() - 1], &parts).is_none());
                    bytes.pop();
                    bytes.push(0xff);
                    assert!(packed.hold(&bytes, &parts).is_none());
                }
            }
        }
    }

    #[test]
    fn numbers_that_never_end_are_refused() {
        assert_eq!(take_number(&mut &[0; 100][..]), None);
        assert_eq!(take_number(&mut &[][..]), None);
    }
}
