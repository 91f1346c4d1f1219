//! Joins references and predictions by id, in a window of a few blocks.
//!
//! As long as both sides have the same ids in the same order, records are paired where they stand
//! and nothing is copied or kept but a fingerprint of each reference's id, for the check that no
//! id stands twice. Where the order differs, records wait in memory for their partner.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use foldhash::fast::FixedState;
use metric_record::{
    Duplicate, Id, JoinError, JoinPolicy, NAMED_IDS, ReadError, Record, Shard, Side, Unmatched,
    Value,
};
use rayon::prelude::*;

use crate::RunError;
use crate::scan::{FieldNames, Found, one_example, scan, whole};
use crate::source::{Block, Blocks, Format, Source};

/// A source and how its records stand in it.
pub(crate) struct Input {
    pub(crate) source: Source,
    pub(crate) names: FieldNames,
}

/// Reads, scans and queues one source.
struct Reader {
    input: Input,
    whole_file: fn(&str) -> bool,
    blocks: Blocks,
    queue: VecDeque<Loaded>,
    /// Blocks at the front of the queue whose records are all taken.
    done: usize,
    seen: Seen,
    /// Ids that stand, or may stand, more than once.
    suspects: Vec<String>,
    format: Format,
    /// The part of the records that is read.
    shard: Option<Shard>,
}

struct Loaded {
    block: Block,
    found: Vec<Found>,
    next: usize,
}

impl Reader {
    fn open(
        input: Input,
        whole_file: fn(&str) -> bool,
        shard: Option<Shard>,
        progress: &Arc<AtomicU64>,
    ) -> Result<Self, RunError> {
        let format = input.source.record_format()?;
        let seen = match format {
            Format::Text => Seen::Lines(0),
            _ if input.source.is_rereadable() => Seen::Prints(Vec::new()),
            _ => Seen::Kept(HashMap::new()),
        };
        Ok(Self {
            blocks: input.source.open(progress)?,
            input,
            whole_file,
            queue: VecDeque::new(),
            done: 0,
            seen,
            suspects: Vec::new(),
            format,
            shard,
        })
    }

    /// Reads up to `count` more blocks.
    fn read(&mut self, count: usize) -> Result<Vec<Block>, RunError> {
        let mut blocks = Vec::new();
        while self.queue.len() - self.done + blocks.len() < count {
            match self.blocks.next()? {
                Some(block) => blocks.push(block),
                None => break,
            }
        }
        Ok(blocks)
    }

    fn scan(&self, block: &Block) -> Result<Vec<Found>, RunError> {
        let Input { source, names } = &self.input;
        scan(block, self.format, names, self.whole_file).map_err(|error| {
            let line = block.line_at(error.offset);
            RunError::Read(ReadError::new(source.name(), error.problem).line(line))
        })
    }

    /// Leaves the records that the shard holds.
    fn keep_held(&self, block: &Block, found: &mut Vec<Found>) {
        if let Some(shard) = self.shard {
            // A file that is one example is known as such by both sides first.
            let holds = |record: &Found| {
                record.is_whole_file() || shard.holds(&record.id(&block.text).to_string())
            };
            found.retain(holds);
        }
    }

    fn push(&mut self, block: Block, scanned: ScannedBlock) {
        let ScannedBlock {
            found,
            prints,
            lines,
        } = scanned;
        match &mut self.seen {
            Seen::Lines(count) => *count += lines,
            Seen::Prints(all) => all.extend(prints),
            Seen::Kept(ids) => {
                for record in &found {
                    let id = record.id(&block.text).to_string();
                    ids.entry(id.into()).or_default().push(record.line);
                }
            }
        }
        self.queue.push_back(Loaded {
            block,
            found,
            next: 0,
        });
    }

    /// The place of the next record that is loaded and not taken.
    fn head(&mut self) -> Option<Place> {
        while let Some(loaded) = self.queue.get(self.done) {
            if loaded.next < loaded.found.len() {
                return Some(Place {
                    block: self.done,
                    record: loaded.next,
                });
            }
            self.done += 1;
        }
        None
    }

    fn take(&mut self, place: Place) {
        self.queue[place.block].next = place.record + 1;
    }

    fn found(&self, place: Place) -> (&Found, &str) {
        let loaded = &self.queue[place.block];
        (&loaded.found[place.record], &loaded.block.text)
    }

    fn id(&self, place: Place) -> Id<'_> {
        let (found, text) = self.found(place);
        found.id(text)
    }

    fn hold(&self, place: Place, ordinal: u64) -> Held {
        let (found, text) = self.found(place);
        let value = found.value(text);
        Held {
            ordinal,
            id: found.id(text).to_string(),
            is_text: value.as_line().is_some(),
            value: found.value.of(text).to_owned(),
            record: found.record(text).map(str::to_owned),
            line: found.line,
        }
    }

    /// Drops the blocks whose records are all taken and used.
    fn recycle(&mut self) {
        for loaded in self.queue.drain(..self.done) {
            self.blocks.recycle(loaded.block);
        }
        self.done = 0;
    }

    /// Fails if an id stands more than once.
    fn refuse_repeated(&self) -> Result<(), RunError> {
        let mut prints: HashSet<u64> = self
            .suspects
            .iter()
            .map(|id| fingerprint(Id::Text(id)))
            .collect();
        let repeated = match &self.seen {
            Seen::Kept(ids) => ids
                .iter()
                .filter(|(_, lines)| lines.len() > 1)
                .map(|(id, lines)| (id.to_string(), lines.clone()))
                .collect(),
            Seen::Lines(_) => return Ok(()),
            Seen::Prints(all) => {
                let twice = all.windows(2).filter(|two| two[0] == two[1]);
                prints.extend(twice.map(|two| two[0]));
                if prints.is_empty() {
                    return Ok(());
                }
                self.repeated(all, &prints)?
            }
        };
        let Some((id, lines)) = repeated.iter().min_by_key(|(_, lines)| lines[0]) else {
            return Ok(());
        };
        let others = repeated.keys().filter(|other| *other != id);
        Err(JoinError::Duplicate(Duplicate {
            source: self.input.source.name(),
            id: id.clone(),
            lines: lines.iter().take(NAMED_IDS).copied().collect(),
            count: repeated.len() as u64,
            others: others.take(NAMED_IDS - 1).cloned().collect(),
        })
        .into())
    }

    /// Reads the source again and returns the lines of each id with one of these fingerprints, for
    /// ids that stand more than once. Fails if one of `all`, which are sorted, is not there again.
    fn repeated(
        &self,
        all: &[u64],
        prints: &HashSet<u64>,
    ) -> Result<BTreeMap<String, Vec<u64>>, RunError> {
        let mut lines: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut again: HashMap<u64, usize> = HashMap::new();
        let mut blocks = self.input.source.open(&Arc::default())?;
        while let Some(block) = blocks.next()? {
            let mut found = self.scan(&block)?;
            self.keep_held(&block, &mut found);
            for record in found {
                let id = record.id(&block.text);
                let print = fingerprint(id);
                if prints.contains(&print) {
                    *again.entry(print).or_default() += 1;
                    lines.entry(id.to_string()).or_default().push(record.line);
                }
            }
            blocks.recycle(block);
        }
        let before = |print: u64| {
            let start = all.partition_point(|&other| other < print);
            all[start..].partition_point(|&other| other == print)
        };
        if prints
            .iter()
            .any(|print| again.get(print).copied().unwrap_or(0) < before(*print))
        {
            let problem = "the file changed while it was read";
            return Err(ReadError::new(self.input.source.name(), problem).into());
        }
        lines.retain(|_, lines| lines.len() > 1);
        Ok(lines)
    }
}

/// Which ids a source has had so far.
enum Seen {
    /// Line numbers, up to this one.
    Lines(u64),
    /// Fingerprints: equal ones are looked at again in the source.
    Prints(Vec<u64>),
    /// The ids of a source that cannot be read again, with their lines.
    Kept(HashMap<Box<str>, Vec<u64>>),
}

impl Seen {
    /// Whether an id has been seen; of fingerprints, whether it may have been.
    fn contain(&self, id: &str) -> bool {
        match self {
            Self::Lines(count) => id.parse().is_ok_and(|line| (1..=*count).contains(&line)),
            Self::Prints(sorted) => sorted.binary_search(&fingerprint(Id::Text(id))).is_ok(),
            Self::Kept(ids) => ids.contains_key(id),
        }
    }
}

/// 64 bits of an id. The hash has no random seed, and two ids that share one are told apart.
pub(crate) fn fingerprint(id: Id<'_>) -> u64 {
    use std::hash::BuildHasher;
    FixedState::default().hash_one(id)
}

/// The records of a block.
struct ScannedBlock {
    found: Vec<Found>,
    /// The fingerprints of their ids, where they are wanted.
    prints: Vec<u64>,
    /// The number of all records of the block, whether the shard holds them or not.
    lines: u64,
}

type Scanned = Result<ScannedBlock, RunError>;

/// A record in a queue.
#[derive(Clone, Copy, Debug)]
struct Place {
    block: usize,
    record: usize,
}

/// A record that waits for its partner, or has been found by it.
struct Held {
    ordinal: u64,
    id: String,
    value: String,
    is_text: bool,
    record: Option<String>,
    line: u64,
}

impl Held {
    fn value(&self) -> Value<'_> {
        match self.is_text {
            true => Value::line(&self.value),
            false => Value::json(&self.value),
        }
    }
}

enum End {
    Queued(Place),
    Held(Box<Held>),
    Missing,
}

/// A reference and its prediction.
pub(crate) struct Pair {
    /// The place of the reference among all references, from 0.
    pub(crate) ordinal: u64,
    reference: End,
    prediction: End,
}

/// The join of two sources, or of one that has both sides.
pub(crate) struct Join {
    references: Reader,
    predictions: Option<Reader>,
    policy: JoinPolicy,
    /// How many blocks of each side are read at a time.
    width: usize,
    next_ordinal: u64,
    waiting_references: HashMap<String, Held>,
    waiting_predictions: HashMap<String, Held>,
}

/// What the join left over.
pub(crate) struct Leftovers {
    /// References without a prediction, in their order.
    pub(crate) missing: Vec<Pair>,
    /// The number of predictions without a reference.
    pub(crate) extra: u64,
    /// Those of a kind that there are, for errors.
    pub(crate) missing_ids: Unmatched,
    pub(crate) extra_ids: Unmatched,
}

impl Join {
    pub(crate) fn new(
        references: Input,
        predictions: Option<Input>,
        whole_file: fn(&str) -> bool,
        policy: JoinPolicy,
        shard: Option<Shard>,
        width: usize,
        progress: &Arc<AtomicU64>,
    ) -> Result<Self, RunError> {
        let mut join = Self {
            references: Reader::open(references, whole_file, shard, progress)?,
            predictions: predictions
                .map(|input| Reader::open(input, whole_file, shard, progress))
                .transpose()?,
            policy,
            width,
            next_ordinal: 0,
            waiting_references: HashMap::new(),
            waiting_predictions: HashMap::new(),
        };
        join.fill()?;
        Ok(join)
    }

    /// Loads blocks until each side has enough; scanning is spread over the threads.
    fn fill(&mut self) -> Result<(), RunError> {
        let references = self.references.read(self.width)?;
        let predictions = match &mut self.predictions {
            Some(predictions) => predictions.read(self.width)?,
            None => Vec::new(),
        };
        let scan_one = |reader: &Reader, block: &Block, with_prints: bool| {
            let mut found = reader.scan(block)?;
            let lines = found.len() as u64;
            reader.keep_held(block, &mut found);
            let prints = if with_prints && matches!(reader.seen, Seen::Prints(_)) {
                let ids = found.iter().map(|record| record.id(&block.text));
                ids.map(fingerprint).collect()
            } else {
                Vec::new()
            };
            Ok(ScannedBlock {
                found,
                prints,
                lines,
            })
        };
        let sides: Vec<(&Reader, &Block, bool)> = references
            .iter()
            .map(|block| (&self.references, block, true))
            .chain(
                predictions
                    .iter()
                    .filter_map(|block| Some((self.predictions.as_ref()?, block, false))),
            )
            .collect();
        let mut scanned: Vec<Scanned> = if self.width == 1 {
            let one = |&(reader, block, prints): &(&Reader, &Block, bool)| {
                scan_one(reader, block, prints)
            };
            sides.iter().map(one).collect()
        } else {
            sides
                .par_iter()
                .map(|&(reader, block, prints)| scan_one(reader, block, prints))
                .collect()
        };
        agree_on_whole_files(&sides, &mut scanned);
        let mut scanned = scanned.into_iter();
        for block in references {
            if let Some(result) = scanned.next() {
                self.references.push(block, result?);
            }
        }
        for block in predictions {
            if let (Some(result), Some(reader)) = (scanned.next(), &mut self.predictions) {
                reader.push(block, result?);
            }
        }
        Ok(())
    }

    /// The next pairs, or `None` at the end. They are valid until the next call.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Pair>>, RunError> {
        loop {
            let mut at_end = true;
            let readers = [Some(&mut self.references), self.predictions.as_mut()];
            for reader in readers.into_iter().flatten() {
                reader.recycle();
                at_end &= reader.head().is_none() && reader.blocks.at_end();
            }
            if at_end {
                return Ok(None);
            }
            self.fill()?;
            let pairs = match self.predictions {
                None => self.take_both(),
                Some(_) => self.take_matching(),
            };
            if !pairs.is_empty() {
                return Ok(Some(pairs));
            }
        }
    }

    /// The records of a source that has both sides; those without a prediction wait in vain.
    fn take_both(&mut self) -> Vec<Pair> {
        let references = &mut self.references;
        let mut pairs = Vec::new();
        while let Some(place) = references.head() {
            let ordinal = self.next_ordinal;
            self.next_ordinal += 1;
            references.take(place);
            let (found, text) = references.found(place);
            if found.other(text).is_some() {
                pairs.push(Pair {
                    ordinal,
                    reference: End::Queued(place),
                    prediction: End::Queued(place),
                });
                continue;
            }
            let held = references.hold(place, ordinal);
            // An id that stands twice is found by its fingerprint at the end.
            self.waiting_references.insert(held.id.clone(), held);
        }
        pairs
    }

    /// Takes records while both sides have one loaded, or one side is at its end.
    fn take_matching(&mut self) -> Vec<Pair> {
        let Some(predictions) = &mut self.predictions else {
            return Vec::new();
        };
        let references = &mut self.references;
        let mut pairs = Vec::new();
        loop {
            let reference = references.head();
            let prediction = predictions.head();
            if let (Some(r), Some(p)) = (reference, prediction)
                && same_id(references.id(r), predictions.id(p))
            {
                references.take(r);
                predictions.take(p);
                pairs.push(Pair {
                    ordinal: self.next_ordinal,
                    reference: End::Queued(r),
                    prediction: End::Queued(p),
                });
                self.next_ordinal += 1;
                continue;
            }
            // Out of step. A side that has nothing loaded may have more to read: unless it is at
            // its end, wait for it.
            if (reference.is_none() && !references.blocks.at_end())
                || (prediction.is_none() && !predictions.blocks.at_end())
                || (reference.is_none() && prediction.is_none())
            {
                return pairs;
            }
            if let Some(place) = reference {
                let ordinal = self.next_ordinal;
                self.next_ordinal += 1;
                references.take(place);
                let id = references.id(place).to_string();
                if let Some(partner) = self.waiting_predictions.remove(&id) {
                    pairs.push(Pair {
                        ordinal,
                        reference: End::Queued(place),
                        prediction: End::Held(Box::new(partner)),
                    });
                    // The prediction at hand may be that of the next reference: back in step.
                    continue;
                }
                let held = references.hold(place, ordinal);
                match self.waiting_references.entry(id) {
                    Entry::Vacant(entry) => {
                        entry.insert(held);
                    }
                    Entry::Occupied(entry) => references.suspects.push(entry.key().clone()),
                }
            }
            if let Some(place) = prediction {
                predictions.take(place);
                let id = predictions.id(place).to_string();
                if let Some(partner) = self.waiting_references.remove(&id) {
                    pairs.push(Pair {
                        ordinal: partner.ordinal,
                        reference: End::Held(Box::new(partner)),
                        prediction: End::Queued(place),
                    });
                    continue;
                }
                let held = predictions.hold(place, 0);
                match self.waiting_predictions.entry(id) {
                    Entry::Vacant(entry) => {
                        entry.insert(held);
                    }
                    Entry::Occupied(entry) => predictions.suspects.push(entry.key().clone()),
                }
            }
        }
    }

    /// The record that a pair is.
    pub(crate) fn record<'a>(&'a self, pair: &'a Pair) -> Record<'a> {
        let reader = self.predictions.as_ref().unwrap_or(&self.references);
        let (id, reference, fields) = match &pair.reference {
            End::Queued(place) => {
                let (found, text) = self.references.found(*place);
                (found.id(text), found.value(text), found.record(text))
            }
            End::Held(held) => (Id::Text(&held.id), held.value(), held.record.as_deref()),
            End::Missing => (Id::Text(""), Value::missing(), None),
        };
        let prediction = match &pair.prediction {
            End::Queued(place) if self.predictions.is_none() => {
                let (found, text) = reader.found(*place);
                found.other(text).unwrap_or(Value::missing())
            }
            End::Queued(place) => {
                let (found, text) = reader.found(*place);
                found.value(text)
            }
            End::Held(held) => held.value(),
            End::Missing => Value::missing(),
        };
        Record {
            id,
            prediction,
            reference,
            fields,
            join: self.policy,
        }
    }

    /// Source and line of one side of a pair.
    pub(crate) fn place(&self, pair: &Pair, side: Side) -> (String, Option<u64>) {
        let (reader, end) = match (side, &self.predictions) {
            (Side::Prediction, Some(predictions)) => (predictions, &pair.prediction),
            _ => (&self.references, &pair.reference),
        };
        let line = match end {
            End::Queued(place) => Some(line(reader, *place)),
            End::Held(held) => Some(held.line),
            End::Missing => None,
        };
        (reader.input.source.name(), line)
    }

    pub(crate) fn references_read(&self) -> u64 {
        self.next_ordinal
    }

    pub(crate) fn reference_name(&self) -> String {
        self.references.input.source.name()
    }

    /// After the last pair: checks that no id stands twice, and gives what found no partner.
    pub(crate) fn finish(&mut self) -> Result<Leftovers, RunError> {
        if let Seen::Prints(prints) = &mut self.references.seen {
            prints.par_sort_unstable();
        }
        self.references.refuse_repeated()?;
        let mut missing: Vec<Held> = self
            .waiting_references
            .drain()
            .map(|(_, held)| held)
            .collect();
        missing.sort_unstable_by_key(|held| held.ordinal);
        let mut extra: Vec<Held> = self
            .waiting_predictions
            .drain()
            .map(|(_, held)| held)
            .collect();
        // All ids of a file of JSON may stand in one line.
        extra.sort_unstable_by(|a, b| (a.line, &a.id).cmp(&(b.line, &b.id)));

        // A prediction without a partner whose id is that of a reference came second.
        if let Some(predictions) = &mut self.predictions {
            let references = &self.references.seen;
            let second = extra.iter().filter(|held| references.contain(&held.id));
            predictions
                .suspects
                .extend(second.map(|held| held.id.clone()));
            predictions.refuse_repeated()?;
        }
        let name = |reader: Option<&Reader>| {
            reader.map_or_else(String::new, |reader| reader.input.source.name())
        };
        let references = name(Some(&self.references));
        let predictions = name(Some(self.predictions.as_ref().unwrap_or(&self.references)));
        let missing_ids = unmatched(&missing, &references, &predictions);
        let extra_ids = unmatched(&extra, &predictions, &references);
        Ok(Leftovers {
            extra: extra.len() as u64,
            missing: missing
                .into_iter()
                .map(|held| Pair {
                    ordinal: held.ordinal,
                    reference: End::Held(Box::new(held)),
                    prediction: End::Missing,
                })
                .collect(),
            missing_ids,
            extra_ids,
        })
    }
}

/// Where one `.json` file is one example, the other is one too, whatever its values look like. If it is the
/// predictions that are one, and the references are a map of ids to examples, the predictions are refused.
fn agree_on_whole_files(sides: &[(&Reader, &Block, bool)], scanned: &mut [Scanned]) {
    let is_json = |reader: &Reader| reader.format == Format::Json;
    let is_whole = |((reader, ..), scanned): (&(&Reader, &Block, bool), &Scanned)| match scanned {
        Ok(scanned) => {
            is_json(reader) && matches!(scanned.found.as_slice(), [one] if one.is_whole_file())
        }
        Err(_) => false,
    };
    if !sides.iter().zip(scanned.iter()).any(is_whole) {
        return;
    }
    let references = sides.iter().find(|side| side.2 && is_json(side.0));
    if let Some((references, block, _)) = references
        && one_example(&block.text, references.whole_file) == Some(false)
    {
        for ((reader, ..), scanned) in sides.iter().zip(scanned).filter(|(side, _)| !side.2) {
            let problem = format!(
                "found the values of one example, expected an object, id to example, as in {}",
                references.input.source.name()
            );
            let error = ReadError::new(reader.input.source.name(), problem);
            *scanned = Err(RunError::Read(error));
        }
        return;
    }
    for ((reader, block, _), scanned) in sides.iter().zip(scanned) {
        if is_json(reader)
            && let Some(found) = whole(&block.text)
        {
            let shard = reader.shard;
            let is_held = shard.is_none_or(|shard| shard.holds(&found.id(&block.text).to_string()));
            *scanned = Ok(ScannedBlock {
                found: Vec::from_iter(is_held.then_some(found)),
                prints: Vec::new(),
                lines: 1,
            });
        }
    }
}

fn same_id(a: Id<'_>, b: Id<'_>) -> bool {
    match (a, b) {
        (Id::Text(a), Id::Text(b)) => a == b,
        (Id::Line(a), Id::Line(b)) => a == b,
        _ => a.to_string() == b.to_string(),
    }
}

fn line(reader: &Reader, place: Place) -> u64 {
    reader.found(place).0.line
}

/// Records of one source whose ids another source does not have.
fn unmatched(held: &[Held], source: &str, other: &str) -> Unmatched {
    Unmatched {
        source: source.to_owned(),
        other: other.to_owned(),
        count: held.len() as u64,
        ids: held
            .iter()
            .take(NAMED_IDS)
            .map(|held| held.id.clone())
            .collect(),
    }
}
