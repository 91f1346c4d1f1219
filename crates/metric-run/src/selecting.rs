//! The selection of records before they are joined, and the count of those that it leaves out.

use std::collections::BTreeSet;

use metric_record::json::{self, Entries};
use metric_record::{FieldError, Id, Message, ReadError, quoted_id};
use metric_registry::{Selection, Verdict};
use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::block::Block;
use crate::formats::grouped;
use crate::found::Found;
use crate::waiter::fingerprint;

/// The number of records of one side: those that a run holds, and those among them that are selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectedCount {
    /// The number of records.
    pub records: u64,
    /// The number of those that are selected.
    pub selected: u64,
}

/// The records of a result that were selected by their fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    /// The conditions, each once and in one order.
    #[serde(rename = "where")]
    pub conditions: Vec<String>,
    /// The references.
    pub references: SelectedCount,
    /// The predictions; those of a file that has both sides are its references.
    pub predictions: SelectedCount,
}

impl Selected {
    /// The count of no records.
    pub(crate) fn none(selection: &Selection) -> Self {
        Self {
            conditions: selection.conditions(),
            references: SelectedCount::default(),
            predictions: SelectedCount::default(),
        }
    }

    /// Returns the counts in words, such as `selected 3 of 9 records: filter=strict-match`: those of the references, unless only predictions
    /// were selected.
    #[must_use]
    pub fn in_words(&self) -> String {
        let is_whole = self.references.selected == self.references.records;
        let (count, what) = if is_whole && self.predictions != self.references {
            (self.predictions, "predictions")
        } else {
            (self.references, "records")
        };
        let conditions = self.conditions.join(", ");
        let (selected, records) = (grouped(count.selected), grouped(count.records));
        format!("selected {selected} of {records} {what}: {conditions}")
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (count, more) in [
            (&mut self.references, other.references),
            (&mut self.predictions, other.predictions),
        ] {
            count.records += more.records;
            count.selected += more.selected;
        }
    }
}

/// What a selection found in the records of one side so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) count: SelectedCount,
    /// The fields that any record has, by their bits.
    pub(crate) found: u64,
    /// The ids of the records that were left out, as fingerprints, each with the fields that did so.
    left_out: Vec<(u64, u64)>,
    /// The number of them that are sorted.
    sorted: usize,
    /// The names of the fields of the first record.
    names: Vec<String>,
    /// A few values of each field, for messages, and the number of records that were looked at for them.
    values: Vec<BTreeSet<String>>,
    looked_at: usize,
}

/// The number of values of a field that are named, and that of the records of a block in which they are looked for.
const NAMED_VALUES: usize = 8;
const LOOKED_AT: usize = 64;

impl Tally {
    /// The tally of records with these fields.
    pub(crate) fn of_fields(names: Vec<String>) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    /// Judges a record that the run holds or not, and counts it. Returns whether it is selected.
    pub(crate) fn judge(
        &mut self,
        selection: &Selection,
        (id, record): (Id<'_>, Option<&str>),
        is_held: bool,
    ) -> Result<bool, FieldError> {
        let verdict = match record {
            Some(record) => self.look_at(selection, record)?,
            None => Verdict::default(),
        };
        if !is_held {
            return Ok(false);
        }
        self.count.records += 1;
        if verdict.is_selected() {
            self.count.selected += 1;
        } else {
            self.left_out.push((fingerprint(id), verdict.refused));
        }
        Ok(verdict.is_selected())
    }

    fn look_at(&mut self, selection: &Selection, record: &str) -> Result<Verdict, FieldError> {
        let verdict = selection.judge(record)?;
        if self.names.is_empty() {
            let entries = json::typed::<Entries<'_>>(record).unwrap_or_default();
            let names = entries.0.into_iter().map(|(name, _)| name.into_owned());
            self.names = names.collect();
        }
        self.found |= verdict.found;
        if !verdict.is_selected() && self.looked_at < LOOKED_AT {
            self.looked_at += 1;
            let fields = selection.fields().count();
            self.values.resize(fields, BTreeSet::new());
            for (field, values) in self.values.iter_mut().enumerate() {
                let value = selection.value_of(field, record);
                values.extend(value.filter(|_| values.len() < NAMED_VALUES));
            }
        }
        Ok(verdict)
    }

    /// Adds what was found in the records that come next.
    pub(crate) fn add(&mut self, next: Self) {
        self.count.records += next.count.records;
        self.count.selected += next.count.selected;
        self.found |= next.found;
        self.left_out.extend(next.left_out);
        if self.names.is_empty() {
            self.names = next.names;
        }
        self.values
            .resize(self.values.len().max(next.values.len()), BTreeSet::new());
        for (values, more) in self.values.iter_mut().zip(next.values) {
            values.extend(more);
            while values.len() > NAMED_VALUES {
                values.pop_last();
            }
        }
    }

    /// The number of bytes that the ids of records take that were left out.
    pub(crate) fn bytes(&self) -> u64 {
        (self.left_out.len() * size_of::<(u64, u64)>()) as u64
    }

    /// Sorts what is looked up in [`has_left_out`](Self::has_left_out).
    pub(crate) fn sort(&mut self) {
        if self.sorted < self.left_out.len() {
            self.left_out.sort_unstable();
            self.sorted = self.left_out.len();
        }
    }

    /// Whether a record of this id was left out by one of these fields.
    pub(crate) fn has_left_out(&self, id: Id<'_>, fields: u64) -> bool {
        let print = fingerprint(id);
        let start = self.left_out.partition_point(|(other, _)| *other < print);
        let same = self.left_out[start..].iter();
        let mut same = same.take_while(|(other, _)| *other == print);
        same.any(|(_, refused)| refused & fields != 0)
    }
}

/// The tallies of both sides; a source of both has one.
pub(crate) struct Tallies<'t> {
    pub(crate) references: &'t Tally,
    pub(crate) predictions: Option<&'t Tally>,
}

impl Tallies<'_> {
    pub(crate) fn selected(&self, selection: &Selection) -> Selected {
        let references = self.references.count;
        Selected {
            conditions: selection.conditions(),
            references,
            predictions: self.predictions.map_or(references, |it| it.count),
        }
    }

    fn sides(&self) -> impl Iterator<Item = &Tally> {
        [Some(self.references), self.predictions]
            .into_iter()
            .flatten()
    }

    /// Refuses a field that no record has, and conditions that select no record of data that are not a part of others. `name`
    /// is that of the references.
    pub(crate) fn refuse(
        &self,
        selection: &Selection,
        name: &str,
        is_part: bool,
    ) -> Result<(), RunError> {
        let found = self.sides().fold(0, |found, side| found | side.found);
        let names: Vec<&String> = self.sides().flat_map(|side| &side.names).collect();
        if self.sides().all(|side| side.count.records == 0) {
            return Ok(());
        }
        let absent = |(bit, _): &(usize, &str)| found & (1 << bit) == 0;
        if let Some((_, field)) = selection.fields().enumerate().find(absent) {
            let message = Message::default().option(Selection::OPTION, field);
            let message = message.text(": no record has this field");
            return Err(RunError::Usage(with_names(message, field, &names)));
        }
        let is_empty =
            |side: &Tally| !is_part && side.count.records > 0 && side.count.selected == 0;
        let Some(side) = self.sides().find(|side| is_empty(side)) else {
            return Ok(());
        };
        let mut message = Message::from("none of the records is selected by ");
        for (index, condition) in selection.conditions().iter().enumerate() {
            let and = if index > 0 { " and " } else { "" };
            message = message.text(and).option(Selection::OPTION, condition);
        }
        for (field, values) in selection.fields().zip(&side.values) {
            if !values.is_empty() {
                let values: Vec<String> = values.iter().map(|value| quoted_id(value)).collect();
                let field = quoted_id(field);
                message = message.data(format_args!("; {field} is {}", values.join(", ")));
            }
        }
        Err(ReadError::new(name, message).into())
    }
}

/// A message with the names that records have, or the one among them that is probably meant.
fn with_names(message: Message, field: &str, names: &[&String]) -> Message {
    /// At or above this similarity, names are abbreviations or misspellings of each other.
    const NEAR: f64 = 0.8;
    const MOST: usize = 12;
    let nearness = |name: &&&String| strsim::jaro_winkler(field, name);
    let nearest = names
        .iter()
        .max_by(|a, b| nearness(a).total_cmp(&nearness(b)));
    match nearest.filter(|name| nearness(name) >= NEAR) {
        Some(name) => message.text(format_args!("; did you mean {}?", quoted_id(name))),
        None if names.is_empty() => message,
        None => {
            let mut known: Vec<String> = Vec::new();
            for name in names {
                let name = quoted_id(name);
                if known.len() < MOST && !known.contains(&name) {
                    known.push(name);
                }
            }
            message.text(format_args!("; they have {}", known.join(", ")))
        }
    }
}

/// Refuses a selection of what has no fields.
pub(crate) fn refuse_without_fields(selection: &Selection, what: &str) -> RunError {
    let condition = selection.conditions().into_iter().next();
    let message = Message::default().option(Selection::OPTION, &condition.unwrap_or_default());
    RunError::Usage(message.text(format_args!(
        ": {what}: expected a format with fields, such as JSON Lines or CSV"
    )))
}

impl Block {
    /// The error of a record with a field that cannot be read.
    pub(crate) fn record_error(&self, record: &Found, error: FieldError) -> RunError {
        let (line, location) = self.part.line_or_location(record.line, "");
        let location = (self.part.file.as_str(), line, location.as_str());
        RunError::record(location, record.id(&self.text), error)
    }
}
