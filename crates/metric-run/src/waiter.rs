//! Records that wait for their partner, and the fingerprints of ids.

use std::sync::Arc;

use foldhash::fast::FixedState;
use metric_record::{Id, Side, Value};

use crate::found::Form;
use crate::part::Part;

/// A record that looks for its partner, or waits for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter<'a> {
    pub(crate) side: Side,
    /// The number of the record among all references, from 0.
    pub(crate) ordinal: u64,
    pub(crate) line: u64,
    pub(crate) part: &'a Arc<Part>,
    pub(crate) id: Id<'a>,
    pub(crate) form: Form,
    pub(crate) value: &'a str,
    /// The whole record, if it is kept.
    pub(crate) record: Option<&'a str>,
}

impl<'a> Waiter<'a> {
    /// The approximate memory of a waiting record in addition to its text.
    pub(crate) const OVERHEAD: u64 = 128;

    pub(crate) fn value(&self) -> Value<'a> {
        self.form.value(self.value)
    }

    /// The memory that it takes, about.
    pub(crate) fn bytes(&self) -> u64 {
        Self::OVERHEAD + self.text_bytes() as u64
    }

    /// The length of its texts; that of a number which is its id is estimated.
    fn text_bytes(&self) -> usize {
        let id = match self.id {
            Id::Text(id) => id.len(),
            _ => size_of::<u64>(),
        };
        id + self.value.len() + self.record.unwrap_or_default().len()
    }
}

/// A [`Waiter`] with texts of its own.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) side: Side,
    pub(crate) ordinal: u64,
    pub(crate) part: Arc<Part>,
    pub(crate) line: u64,
    pub(crate) form: Form,
    /// The id, the value, and the record if it is kept.
    text: Box<str>,
    id_end: usize,
    value_end: usize,
    has_record: bool,
}

impl Held {
    pub(crate) fn new(waiter: &Waiter<'_>) -> Self {
        let Waiter { value, record, .. } = *waiter;
        let mut text = String::with_capacity(waiter.text_bytes());
        push_id(waiter.id, &mut text);
        let id_end = text.len();
        text.push_str(value);
        let value_end = text.len();
        text.push_str(record.unwrap_or_default());
        Self {
            side: waiter.side,
            ordinal: waiter.ordinal,
            line: waiter.line,
            part: Arc::clone(waiter.part),
            form: waiter.form,
            text: text.into_boxed_str(),
            id_end,
            value_end,
            has_record: record.is_some(),
        }
    }

    pub(crate) fn waiter(&self) -> Waiter<'_> {
        Waiter {
            side: self.side,
            ordinal: self.ordinal,
            line: self.line,
            part: &self.part,
            id: Id::Text(self.id()),
            form: self.form,
            value: &self.text[self.id_end..self.value_end],
            record: self.has_record.then(|| &self.text[self.value_end..]),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.text[..self.id_end]
    }
}

/// Appends an id as text.
pub(crate) fn push_id(id: Id<'_>, text: &mut String) {
    match id {
        Id::Text(id) => text.push_str(id),
        id => text.push_str(&id.to_string()),
    }
}

/// 64 bits of an id. The hash has no random seed, and two ids that share one are told apart.
pub(crate) fn fingerprint(id: Id<'_>) -> u64 {
    use std::hash::BuildHasher;
    FixedState::default().hash_one(id)
}
