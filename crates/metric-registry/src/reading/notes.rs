//! Notes on records, for warnings and details.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use metric_core::{Malformed, Merge, Reader, Writer, Written, written};
use metric_record::{Message, quoted_id};

/// The words of a warning that begins with a count: what follows "1 ", and what follows any other count.
///
/// ```
/// use metric_registry::Counted;
///
/// let words = Counted::new("prediction is empty", "predictions are empty");
/// assert_eq!(words.warning(1).to_string(), "1 prediction is empty");
/// assert_eq!(words.warning(2).to_string(), "2 predictions are empty");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    one: Message,
    several: Message,
}

impl Counted {
    /// Returns the words for one case, and those for several.
    pub fn new(one: impl Into<Message>, several: impl Into<Message>) -> Self {
        Self {
            one: one.into(),
            several: several.into(),
        }
    }

    /// Returns the warning about this many cases.
    #[must_use]
    pub fn warning(&self, times: u64) -> Message {
        let words = if times == 1 { &self.one } else { &self.several };
        Message::from(format!("{times} ")).message(words)
    }

    /// The warnings about those of several things that happened.
    pub(crate) fn warnings(
        counts: impl IntoIterator<Item = (u64, Self)>,
    ) -> impl Iterator<Item = Message> {
        let happened = counts.into_iter().filter(|(times, _)| *times > 0);
        happened.map(|(times, what)| what.warning(times))
    }
}

/// The note of a missing prediction that counts as empty, where the empty prediction is correct.
pub(crate) fn missing_is_correct() -> Counted {
    Counted::new(
        "missing prediction scores as correct, as its reference is empty",
        "missing predictions score as correct, as their references are empty",
    )
}

/// An event that is worth a warning, with its count and its examples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes(BTreeMap<Message, Noted>);

/// The notes of no examples.
static NOTHING: Notes = Notes(BTreeMap::new());

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    times: u64,
    /// The words for several cases.
    several: Message,
    /// The first few ids in byte order, where a note names them.
    ids: BTreeSet<String>,
    /// The first few names in byte order with how often each occurs, where a note counts them.
    names: BTreeMap<String, u64>,
}

written!(Noted { times, several, ids; names });

impl Noted {
    pub(super) fn add(&mut self, times: u64, ids: impl IntoIterator<Item = String>) {
        self.times += times;
        for id in ids {
            // The least ids are the same in whatever order they come.
            if self.ids.len() < metric_record::NAMED_IDS {
                self.ids.insert(id);
            } else if self.ids.last().is_some_and(|last| id < *last) && self.ids.insert(id) {
                self.ids.pop_last();
            }
        }
    }

    /// Counts a name. One that is dropped here is not among the least ones of any larger set, so the
    /// counts of those that stay are complete.
    pub(super) fn add_name(&mut self, name: &str, times: u64) {
        if let Some(count) = self.names.get_mut(name) {
            *count += times;
            return;
        }
        self.names.insert(name.to_owned(), times);
        if self.names.len() > metric_record::NAMED_IDS {
            self.names.pop_last();
        }
    }

    /// Returns the note as a warning, such as "3 predictions are ...".
    fn warning(&self, what: &Message) -> Message {
        let mut warning = Counted::new(what.clone(), self.several.clone()).warning(self.times);
        let counted: u64 = self.names.values().sum();
        let more = self.times > self.ids.len() as u64 + counted;
        let more = if more { ", ..." } else { "" };
        let names = self.names.iter();
        let names = names.map(|(name, times)| format!("{} ({times})", quoted_id(name)));
        let names: Vec<String> = names.collect();
        // Names, such as those of classes, are not ids.
        if self.ids.is_empty() {
            if !names.is_empty() {
                warning = warning.text(format_args!(": {}{more}", names.join(", ")));
            }
            return warning;
        }
        let mut before = ": ";
        for id in &self.ids {
            warning = warning.data(before).id(id);
            before = ", ";
        }
        for name in &names {
            warning = warning.data(before).data(name);
        }
        if !more.is_empty() {
            warning = warning.data(more);
        }
        warning
    }
}

impl Notes {
    fn entry(&mut self, what: &Message) -> &mut Noted {
        self.0.entry(what.clone()).or_default()
    }

    pub(super) fn counted(&mut self, what: &Counted) -> &mut Noted {
        let noted = self.entry(&what.one);
        if noted.several.is_empty() {
            noted.several = what.several.clone();
        }
        noted
    }

    /// Counts something that is worth a warning.
    pub(crate) fn count(&mut self, what: &Counted, times: u64) {
        if times > 0 {
            self.counted(what).add(times, None);
        }
    }
}

/// A map from the words for one case.
impl Written for Notes {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        BTreeMap::read(from).map(Self)
    }
}

impl Merge for Notes {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        for (what, noted) in &other.0 {
            let ours = self.entry(what);
            ours.add(noted.times * times, noted.ids.iter().cloned());
            ours.several.clone_from(&noted.several);
            for (name, count) in &noted.names {
                ours.add_name(name, count * times);
            }
        }
    }
}

/// Remarks on the examples of a data set, for warnings that depend on all of them.
#[derive(Clone, Copy, Debug)]
pub struct Remarks<'a> {
    pub(super) notes: &'a Notes,
    pub(super) tallies: &'a BTreeMap<String, u64>,
}

impl<'a> Remarks<'a> {
    /// Tallies without notes.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn of_tallies(tallies: &'a BTreeMap<String, u64>) -> Self {
        let notes = &NOTHING;
        Self { notes, tallies }
    }

    /// Returns the notes as warnings, each of which begins with its count.
    pub(crate) fn warnings(self) -> impl Iterator<Item = Message> + use<'a> {
        self.notes.0.iter().map(|(what, noted)| noted.warning(what))
    }

    /// Returns how often [`Sink::count`](crate::Sink::count) and its relatives counted something.
    #[must_use]
    pub fn times(&self, what: &Counted) -> u64 {
        self.notes.0.get(&what.one).map_or(0, |noted| noted.times)
    }

    /// Returns how often [`Sink::tally`](crate::Sink::tally) counted something.
    #[must_use]
    pub fn tally(&self, name: &str) -> u64 {
        self.tallies.get(name).copied().unwrap_or_default()
    }

    /// Returns the tallies whose names start in this way: the rest of each name, in order, and how often it was counted.
    pub fn tallies(&self, start: &str) -> impl Iterator<Item = (&str, u64)> {
        let from = (Bound::Included(start), Bound::Unbounded);
        let from = self.tallies.range::<str, _>(from);
        from.map_while(move |(name, times)| Some((name.strip_prefix(start)?, *times)))
    }
}
