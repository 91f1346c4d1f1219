//! Joins references and predictions by id, in a window of a few blocks.
//!
//! As long as both sides have the same ids in the same order, records are paired in place, a run of
//! records at a time. Nothing is copied, and only a fingerprint of each reference's id is kept, to
//! check that no id occurs twice. Where the order differs, records wait in memory for their
//! partner.
//!
//! Blocks are read and scanned while those before them are scored. An error in a line is reported when the records
//! before it have been taken, so that the first of several errors is returned on any number of threads.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use metric_record::{
    Duplicate, FieldError, Id, JoinError, JoinPolicy, Message, NAMED_IDS, ReadError, Record, Shard,
    Side, Unmatched, Value, quoted_id,
};
use metric_registry::{Counted, Selection};
use rayon::prelude::*;

use crate::block::{Block, Extent};
use crate::fields::{FieldNames, Role};
use crate::first_words::{FirstWords, LineStarts};
use crate::formats::{Format, grouped};
use crate::found::{Found, FoundId};
use crate::more_references::MoreReferences;
use crate::packed::{Origin, Unpacked};
use crate::part::Part;
use crate::partitions::Joined;
use crate::scan::{file_record, one_example, scan, scan_valid};
use crate::selecting::{Selected, Tallies, Tally};
use crate::source::Source;
use crate::source::blocks::Blocks;
use crate::telling::telling_fields;
use crate::text_columns::TextColumns;
use crate::threads::of_pool;
use crate::waiter::{Held, Waiter, fingerprint};
use crate::waiting::{self, Meeting, Slot, Waiting};
use crate::words::counted;
use crate::{ErrorKind, RunError};

/// A source and the form of its records.
pub(crate) struct Input {
    pub(crate) source: Source,
    pub(crate) names: FieldNames,
    /// The references of all files, if there are several.
    pub(crate) more: Option<Box<MoreReferences>>,
    /// The conditions that select records.
    pub(crate) selection: Option<Arc<Selection>>,
    /// What they found, if they were applied before; the records are those that are selected.
    pub(crate) tally: Option<Tally>,
}

impl Input {
    /// Refuses a value that is made of several columns in a format without columns.
    pub(crate) fn refuse_list_without_columns(&self) -> Result<(), RunError> {
        let format = self.source.record_format()?;
        if !self.names.needs_columns() || format.is_csv() || format.is_columnar() {
            return Ok(());
        }
        let message = Message::default().option("prediction-fields", "");
        let problem = format!(
            " reads columns of CSV, Parquet or Arrow, not {}",
            format.spec().title
        );
        Err(RunError::Usage(message.text(problem)))
    }
}

/// Reads, scans and queues one source.
struct Reader {
    input: Input,
    whole_file: fn(&str) -> bool,
    queue: VecDeque<Loaded>,
    /// Whether all blocks are in the queue, or have been.
    at_end: bool,
    /// The error after the end of the queue.
    failed: Option<RunError>,
    /// Blocks at the front of the queue whose records are all taken.
    done: usize,
    seen: Seen,
    /// The last id so far, as long as the ids rise; such ids need no further check for being unique.
    rising: Option<String>,
    /// Ids that occur, or may occur, more than once.
    suspects: BTreeSet<String>,
    format: Format,
    /// The first words of a text file's lines, as long as they may be ids.
    first_words: Option<FirstWords>,
    /// Whether any record has the value of the other side.
    has_other: bool,
    /// The number of records that probably have other rows inside of their quotes.
    with_rows: u64,
    /// Whether records that wait for their partner are kept as a whole.
    keeps_records: bool,
    /// The part of the records that is read.
    shard: Option<Shard>,
    max_bytes: u64,
    /// The number of records so far.
    records: u64,
    /// What the selection found so far.
    tally: Tally,
    /// The records that a check leaves out; a run refuses the first of them.
    refused: Option<Refused>,
    /// The file whose rest a check leaves out.
    cut_file: Option<String>,
}

/// The invalid records of a source.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    pub(crate) records: Errors,
    /// The errors at which the reading of a file ended before its end.
    pub(crate) ends: Vec<RunError>,
}

/// Errors of one kind: their number, and the first few by their positions.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    pub(crate) count: u64,
    first: Vec<(u64, RunError)>,
}

impl Errors {
    /// Adds an error after all others.
    pub(crate) fn add(&mut self, error: RunError) {
        self.add_at(u64::MAX, || Some(error));
    }

    /// Adds the error at a position, which is only made if it is one of the first.
    pub(crate) fn add_at(&mut self, position: u64, error: impl FnOnce() -> Option<RunError>) {
        self.count += 1;
        let index = self.first.partition_point(|(other, _)| *other <= position);
        if index < NAMED_IDS
            && let Some(error) = error()
        {
            self.first.insert(index, (position, error));
            self.first.truncate(NAMED_IDS);
        }
    }

    /// Whether one of the first says the same.
    pub(crate) fn has(&self, error: &RunError) -> bool {
        let mut first = self.first.iter();
        first.any(|(_, other)| other.message() == error.message())
    }

    /// Adds more of the same kind, whose locations are not named.
    pub(crate) fn add_count(&mut self, count: u64) {
        self.count += count;
    }

    /// The first few, in their order.
    pub(crate) fn into_first(self) -> impl Iterator<Item = RunError> {
        self.first.into_iter().map(|(_, error)| error)
    }
}

struct Loaded {
    block: Block,
    found: Vec<Found>,
    next: usize,
    /// Where records that were packed come from; empty for those of a block that was read.
    origins: Vec<Origin>,
}

impl Loaded {
    /// Records that were packed, which are taken.
    fn unpacked(unpacked: Unpacked) -> Result<Self, RunError> {
        let Unpacked {
            text,
            found,
            origins,
        } = unpacked;
        let block = Block {
            text: String::from_utf8(text).map_err(|_| waiting::lost())?,
            ..Block::default()
        };
        Ok(Self {
            next: found.len(),
            block,
            found,
            origins,
        })
    }
}

impl Reader {
    fn open(
        input: Input,
        whole_file: fn(&str) -> bool,
        options: &JoinOptions,
        progress: &Arc<AtomicU64>,
    ) -> Result<(Self, Blocks), RunError> {
        let max_bytes = options.max_bytes;
        let format = input.source.record_format()?;
        let seen = match format {
            _ if input.names.has_row_ids => Seen::Lines(0),
            Format::Text => Seen::Lines(0),
            _ if input.source.is_rereadable() => Seen::Prints(Vec::new()),
            _ => Seen::Kept(HashMap::new()),
        };
        let may_have_ids = format == Format::Text && !input.source.has_stated_format();
        let first_words = may_have_ids.then(FirstWords::default);
        let blocks = input.source.open(&input.names, progress, max_bytes)?;
        let tally = input.tally.clone().unwrap_or_default();
        let reader = Self {
            input,
            whole_file,
            queue: VecDeque::new(),
            at_end: false,
            failed: None,
            done: 0,
            seen,
            rising: Some(String::new()),
            suspects: BTreeSet::new(),
            format,
            first_words,
            has_other: false,
            with_rows: 0,
            keeps_records: false,
            shard: options.shard,
            max_bytes,
            records: 0,
            tally,
            refused: options.is_check.then(Refused::default),
            cut_file: None,
        };
        Ok((reader, blocks))
    }

    /// Reads blocks, until there are `width` of them with those that are in the queue.
    fn read(&self, blocks: &mut Blocks, width: usize) -> Read {
        let untaken = |loaded: &&Loaded| loaded.next < loaded.found.len();
        let queued = self.queue.iter().filter(untaken).count();
        let wanted = if self.failed.is_none() && !self.has_ended_early() {
            width.saturating_sub(queued)
        } else {
            0
        };
        let mut read = Read::default();
        while read.blocks.len() < wanted {
            match self.next_block(blocks) {
                Ok(Some(block)) => read.blocks.push(block),
                Ok(None) => break,
                Err(error) => {
                    read.failed = Some(error);
                    break;
                }
            }
        }
        read.at_end = blocks.at_end() || self.has_ended_early();
        read
    }

    /// The next block. A check gets an error that it can read past as a block without records.
    fn next_block(&self, blocks: &mut Blocks) -> Result<Option<Block>, RunError> {
        match blocks.next() {
            Err(error) if self.refused.is_some() && error.kind() == ErrorKind::Input => {
                match blocks.resume() {
                    Some(extent) => Ok(Some(Block::refused(error, extent))),
                    None => Err(error),
                }
            }
            next => next,
        }
    }

    /// Whether the data have an error that a check cannot read past.
    fn has_ended_early(&self) -> bool {
        let refused = self.refused.as_ref();
        refused.is_some_and(|refused| !refused.ends.is_empty()) && !self.has_more_files()
    }

    /// Whether the ids are the numbers of the lines or rows.
    fn has_lines(&self) -> bool {
        matches!(self.seen, Seen::Lines(_))
    }

    /// Whether the source has several files, and the ids of one do not depend on those before it.
    fn has_more_files(&self) -> bool {
        let has_own_ids = self.format != Format::Text && !self.input.names.has_row_ids;
        has_own_ids && self.input.source.is_several()
    }

    /// The records of a block, and the errors of those that are left out or not reached.
    fn scan(&self, block: &mut Block) -> Result<BlockRecords, RunError> {
        match self.refused {
            None => self.scan_to_error(block),
            Some(_) => Ok(self.scan_valid(block)),
        }
    }

    /// The valid records of a block.
    fn scan_valid(&self, block: &mut Block) -> BlockRecords {
        match block.refused.take() {
            Some((error, Extent::Line)) => {
                return BlockRecords {
                    refused: vec![error],
                    ..BlockRecords::from_found(Vec::new())
                };
            }
            Some((error, Extent::File)) => {
                return BlockRecords {
                    failed: Some(error),
                    ..BlockRecords::from_found(Vec::new())
                };
            }
            None => {}
        }
        let mut errors = Vec::new();
        let mut refuse = |error| {
            errors.push(error);
            Ok(())
        };
        let names = &self.input.names;
        let found = scan_valid(block, self.format, names, self.whole_file, &mut refuse);
        let (found, failed) = match found {
            Ok(found) => (found, None),
            Err(error) => (Vec::new(), Some(block.error(error))),
        };
        let last = errors.pop_if(|error| error.is_last);
        BlockRecords {
            found,
            refused: errors.into_iter().map(|error| block.error(error)).collect(),
            failed: failed.or(last.map(|error| block.error(error))),
        }
    }

    /// The records of a block up to the first invalid one.
    fn scan_to_error(&self, block: &mut Block) -> Result<BlockRecords, RunError> {
        let scan = |block: &mut Block| scan(block, self.format, &self.input.names, self.whole_file);
        let (offset, error) = match scan(block) {
            Ok(found) => return Ok(BlockRecords::from_found(found)),
            Err(error) => (error.offset, block.error(error)),
        };
        let is_line = !matches!(self.format, Format::Json) && !self.format.spans_lines();
        let before = &block.text.as_bytes()[..offset.min(block.text.len())];
        match (
            block.rows.are_lines() && is_line,
            memchr::memrchr(b'\n', before),
        ) {
            (true, Some(end)) => {
                block.text.truncate(end + 1);
                let found = scan(block).map_err(|error| block.error(error))?;
                Ok(BlockRecords {
                    failed: Some(error),
                    ..BlockRecords::from_found(found)
                })
            }
            _ => Err(error),
        }
    }

    /// The first words of the lines of a block, if all lines so far may start with ids.
    fn first_words_of(&self, block: &Block, found: &[Found]) -> Option<FirstWords> {
        self.first_words.as_ref()?;
        let lines = found.iter();
        FirstWords::of_lines(lines.map(|found| (found.line, found.value.slice(&block.text))))
    }

    /// Leaves the records that the shard holds and that are selected.
    fn keep_held(&self, block: &Block, found: &mut Vec<Found>) -> Result<Tally, RunError> {
        // The number of a row is known when the block is in its turn.
        if self.input.names.has_row_ids {
            return Ok(Tally::default());
        }
        self.keep(block, found)
    }

    /// The same for the rows of a block whose ids are their numbers, which it gives them.
    fn number_rows(&self, block: &Block, found: &mut Vec<Found>) -> Result<Tally, RunError> {
        let (true, Seen::Lines(before)) = (self.input.names.has_row_ids, &self.seen) else {
            return Ok(Tally::default());
        };
        for (record, number) in found.iter_mut().zip(before + 1..) {
            record.id = FoundId::Line(number);
        }
        self.keep(block, found)
    }

    fn keep(&self, block: &Block, found: &mut Vec<Found>) -> Result<Tally, RunError> {
        // A file that is one example is known as such by both sides first.
        let holds = |record: &Found| {
            record.is_whole_file()
                || self
                    .shard
                    .is_none_or(|shard| shard.holds(&record.id(&block.text).to_string()))
        };
        let mut tally = Tally::default();
        let selection = self.input.selection.as_ref();
        let Some(selection) = selection.filter(|_| self.input.tally.is_none()) else {
            if self.shard.is_some() {
                found.retain(holds);
            }
            return Ok(tally);
        };
        let mut failed = None;
        found.retain(|record| {
            let fields = (record.id(&block.text), record.record(&block.text));
            match tally.judge(selection, fields, holds(record)) {
                Ok(is_kept) => is_kept,
                Err(error) => {
                    failed.get_or_insert_with(|| block.record_error(record, error));
                    false
                }
            }
        });
        failed.map_or(Ok(tally), Err)
    }

    fn push(&mut self, block: Block, scanned: ScannedBlock) -> Result<(), RunError> {
        let ScannedBlock {
            mut found,
            tally,
            prints,
            lines,
            first_words,
            has_other,
            is_rising,
            refused,
            failed: _,
        } = scanned;
        self.records += found.len() as u64;
        if let Some(all) = &mut self.refused {
            refused.into_iter().for_each(|error| all.records.add(error));
        }
        if let (Some(first), Some(last)) = (found.first(), found.last()) {
            let goes_on =
                |before: &String| is_rising && rises(Id::Text(before), first.id(&block.text));
            self.rising = self.rising.take().filter(goes_on);
            if let Some(rising) = &mut self.rising {
                *rising = last.id(&block.text).to_string();
            }
        }
        self.has_other |= has_other;
        self.tally.add(tally);
        self.tally.add(self.number_rows(&block, &mut found)?);
        let is_held = |line: &&u64| found.binary_search_by_key(*line, |it| it.line).is_ok();
        self.with_rows += block.with_rows.iter().filter(is_held).count() as u64;
        let before = self.first_words.take().zip(first_words);
        self.first_words = before.and_then(|(before, next)| before.followed_by(next));
        match &mut self.seen {
            Seen::Lines(count) => *count += lines,
            Seen::Prints(all) => all.extend(prints),
            Seen::Kept(ids) => {
                for record in &found {
                    let id = record.id(&block.text).to_string();
                    let lines = ids.entry(id.into()).or_default();
                    lines.add(record.line, &block.part, None);
                }
            }
        }
        self.queue.push_back(Loaded {
            block,
            found,
            next: 0,
            origins: Vec::new(),
        });
        Ok(())
    }

    /// Takes over what was read and scanned, up to the first error.
    fn accept(&mut self, read: Read, scanned: impl Iterator<Item = Scanned>) {
        self.at_end = read.at_end;
        for (block, scanned) in read.blocks.into_iter().zip(scanned) {
            if self.failed.is_some() || self.has_ended_early() {
                break;
            }
            if self.cut_file.as_ref() == Some(&block.part.file) {
                continue;
            }
            let file = block.part.file.clone();
            let failed = match scanned {
                Ok(mut scanned) => {
                    let failed = scanned.failed.take();
                    self.push(block, scanned).err().or(failed)
                }
                Err(error) => Some(error),
            };
            if let Some(error) = failed {
                self.fail(error, Some(file));
            }
        }
        if let Some(error) = read.failed
            && self.failed.is_none()
            && !self.has_ended_early()
        {
            self.fail(error, None);
            self.at_end |= self.failed.is_none();
        }
        self.at_end |= self.has_ended_early();
    }

    /// Ends the reading at an error. A check ends that of the file, and goes on with the next one or the other source.
    fn fail(&mut self, error: RunError, file: Option<String>) {
        match &mut self.refused {
            Some(refused) if error.kind() == ErrorKind::Input => {
                refused.ends.push(error);
                self.cut_file = file.filter(|file| !file.is_empty());
            }
            _ => self.failed = Some(error),
        }
    }

    /// Whether no more records come than are in the queue.
    fn is_at_end(&self) -> bool {
        self.at_end && self.failed.is_none()
    }

    /// The error in the next record, if all before it are taken.
    fn failure(&mut self) -> Option<RunError> {
        match self.head() {
            None => self.failed.take(),
            Some(_) => None,
        }
    }

    /// The position of the next record that is loaded and not taken.
    fn head(&mut self) -> Option<Position> {
        while let Some(loaded) = self.queue.get(self.done) {
            if loaded.next < loaded.found.len() {
                return Some(Position {
                    block: self.done,
                    record: loaded.next,
                });
            }
            self.done += 1;
        }
        None
    }

    fn take(&mut self, position: Position) {
        self.take_run(position, 1);
    }

    fn take_run(&mut self, position: Position, len: usize) {
        self.queue[position.block].next = position.record + len;
    }

    /// The records of a block starting at a position, and the text that they are in.
    fn run(&self, position: Position, len: usize) -> (&[Found], &str) {
        let loaded = &self.queue[position.block];
        let rest = loaded.found.get(position.record..).unwrap_or_default();
        (&rest[..len.min(rest.len())], &loaded.block.text)
    }

    /// The number of records of a block starting at a position.
    fn run_len(&self, position: Position) -> usize {
        self.queue[position.block].found.len() - position.record
    }

    /// The position of the record that comes this many after a position, in the same block or at the start of a later
    /// one.
    fn after(&self, position: Position, len: usize) -> Option<Position> {
        let record = position.record + len;
        if record < self.queue[position.block].found.len() {
            return Some(Position { record, ..position });
        }
        let later = self.queue.iter().enumerate().skip(position.block + 1);
        let mut later = later.filter(|(_, loaded)| !loaded.found.is_empty());
        later.next().map(|(block, _)| Position { block, record: 0 })
    }

    /// Queues records that were packed and are taken. Returns the position of the first one.
    fn push_unpacked(&mut self, unpacked: Unpacked) -> Result<Position, RunError> {
        self.queue.push_back(Loaded::unpacked(unpacked)?);
        Ok(Position {
            block: self.queue.len() - 1,
            record: 0,
        })
    }

    /// Where a record comes from, if it was packed.
    fn origin(&self, position: Position) -> Option<Origin> {
        let loaded = &self.queue[position.block];
        loaded.origins.get(position.record).copied()
    }

    fn found(&self, position: Position) -> (&Found, &str) {
        let loaded = &self.queue[position.block];
        (&loaded.found[position.record], &loaded.block.text)
    }

    fn id(&self, position: Position) -> Id<'_> {
        let (found, text) = self.found(position);
        found.id(text)
    }

    /// The record, to look for its partner.
    #[inline]
    fn waiter(&self, position: Position, side: Side, ordinal: u64) -> Waiter<'_> {
        let (found, text) = self.found(position);
        let id = found.id(text);
        Waiter {
            side,
            ordinal,
            line: found.line,
            part: &self.queue[position.block].block.part,
            id,
            form: found.form,
            value: found.value.slice(text),
            record: found.record(text).filter(|_| self.keeps_records),
        }
    }

    /// Looks for the partner of a record among those that wait, and lets it wait if there is none.
    fn meet(
        &mut self,
        position: Position,
        side: Side,
        ordinal: u64,
        (waiting, held): (&mut Waiting, &mut HeldBytes),
    ) -> Result<Option<Box<Held>>, RunError> {
        let meeting = waiting.meet(&self.waiter(position, side, ordinal))?;
        held.wait(waiting);
        Ok(match meeting {
            Meeting::Partner(partner) => Some(partner),
            Meeting::Waits => None,
            Meeting::Twice => {
                let id = self.id(position).to_string();
                self.suspects.insert(id);
                None
            }
        })
    }

    /// Drops the blocks whose records are all taken and used.
    fn recycle(&mut self, blocks: &mut Blocks) {
        // Moves on to the first block with a record.
        self.head();
        for loaded in self.queue.drain(..self.done) {
            blocks.recycle(loaded.block);
        }
        self.done = 0;
    }

    /// Fails if an id occurs more than once.
    fn refuse_repeated(&self) -> Result<(), RunError> {
        match self.duplicate()? {
            Some(duplicate) => Err(JoinError::Duplicate(duplicate).into()),
            None => Ok(()),
        }
    }

    /// The ids that occur more than once, if there are any.
    fn duplicate(&self) -> Result<Option<Duplicate>, RunError> {
        let mut prints: HashSet<u64> = self
            .suspects
            .iter()
            .map(|id| fingerprint(Id::Text(id)))
            .collect();
        let repeated = match &self.seen {
            Seen::Kept(ids) => ids
                .iter()
                .filter(|(_, lines)| lines.count > 1)
                .map(|(id, lines)| (id.to_string(), lines.clone()))
                .collect(),
            Seen::Lines(_) => return Ok(None),
            Seen::Prints(all) => {
                let twice = all.windows(2).filter(|two| two[0] == two[1]);
                prints.extend(twice.map(|two| two[0]));
                if prints.is_empty() {
                    return Ok(None);
                }
                self.repeated(all, &prints)?
            }
        };
        let Some((id, lines)) = repeated.iter().min_by_key(|(_, lines)| lines.first()) else {
            return Ok(None);
        };
        let others = repeated.keys().filter(|other| *other != id);
        let others = others.take(NAMED_IDS - 1).cloned().collect();
        let count = repeated.len() as u64;
        let duplicate = Duplicate::new(self.input.source.name(), id.clone(), count, others);
        let records: Vec<Vec<Box<str>>> = repeated
            .values()
            .map(|lines| lines.records.clone())
            .collect();
        let known: Vec<&str> = self.input.names.names().collect();
        let duplicate = duplicate.fields(telling_fields(&records, &known));
        Ok(Some(match lines.locations() {
            None => duplicate.lines(lines.named.iter().map(|(line, _)| *line)),
            Some(locations) => duplicate.locations(locations),
        }))
    }

    /// Reads the source again and returns the lines of each id with one of these fingerprints, for
    /// ids that occur more than once. Fails if one of `all`, which are sorted, is not found again.
    fn repeated(
        &self,
        all: &[u64],
        prints: &HashSet<u64>,
    ) -> Result<BTreeMap<String, IdLines>, RunError> {
        let mut lines: BTreeMap<String, IdLines> = BTreeMap::new();
        let mut again: HashMap<u64, usize> = HashMap::new();
        let Input { source, names, .. } = &self.input;
        let names = names.clone().with_all_columns(self.format.is_csv());
        let mut blocks = source.open(&names, &Arc::default(), self.max_bytes)?;
        loop {
            let mut block = match self.next_block(&mut blocks) {
                // A check has read as far as this.
                Err(_) if self.has_ended_early() => break,
                block => match block? {
                    Some(block) => block,
                    None => break,
                },
            };
            let BlockRecords {
                mut found, failed, ..
            } = self.scan(&mut block)?;
            match failed {
                Some(error) if self.refused.is_none() => return Err(error),
                _ => {}
            }
            self.keep_held(&block, &mut found)?;
            for record in found {
                let id = record.id(&block.text);
                let print = fingerprint(id);
                if prints.contains(&print) {
                    *again.entry(print).or_default() += 1;
                    // A few ids tell which fields differ.
                    let has_room = lines.len() <= COMPARED_IDS;
                    let json = record.record(&block.text).filter(|_| has_room);
                    let lines = lines.entry(id.to_string()).or_default();
                    lines.add(record.line, &block.part, json);
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
        lines.retain(|_, lines| lines.count > 1);
        Ok(lines)
    }
}

/// The ids that a source has had so far.
enum Seen {
    /// Line numbers, up to this one.
    Lines(u64),
    /// Fingerprints: equal ones are looked at again in the source.
    Prints(Vec<u64>),
    /// The ids of a source that cannot be read again, with their lines.
    Kept(HashMap<Box<str>, IdLines>),
}

/// The number of ids that occur more than once whose records are compared, to find the fields in which they differ.
const COMPARED_IDS: usize = 64;

/// The locations of an id: their number, and the first few.
#[derive(Clone, Debug, Default)]
struct IdLines {
    count: u64,
    named: Vec<(u64, Arc<Part>)>,
    /// The records there, where they are kept.
    records: Vec<Box<str>>,
}

impl IdLines {
    fn add(&mut self, line: u64, part: &Arc<Part>, record: Option<&str>) {
        self.count += 1;
        if self.named.len() < NAMED_IDS {
            self.named.push((line, Arc::clone(part)));
            self.records.extend(record.map(Box::from));
        }
    }

    fn first(&self) -> Option<u64> {
        self.named.first().map(|(line, _)| *line)
    }

    /// The locations in words, if they are not all lines of one file.
    fn locations(&self) -> Option<Vec<String>> {
        let (_, first) = self.named.first()?;
        let is_one_file = self.named.iter().all(|(_, part)| part.file == first.file);
        if is_one_file && first.has_lines() {
            return None;
        }
        let location = |(line, part): &(u64, Arc<Part>)| {
            if is_one_file {
                part.location(*line, "")
            } else if part.has_lines() {
                format!("{}:{line}", part.file)
            } else {
                format!("{}: {}", part.file, part.location(*line, ""))
            }
        };
        Some(self.named.iter().map(location).collect())
    }
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

    /// Whether an id has been seen more than once; of fingerprints, whether it may have been.
    fn contain_twice(&self, id: &str) -> bool {
        match self {
            Self::Lines(_) => false,
            Self::Prints(sorted) => {
                let print = fingerprint(Id::Text(id));
                let start = sorted.partition_point(|&other| other < print);
                sorted.get(start + 1) == Some(&print)
            }
            Self::Kept(ids) => ids.get(id).is_some_and(|lines| lines.count > 1),
        }
    }
}

/// Whether an id comes after another one by length, and then by its bytes. So do numbers that are counted up,
/// with or without leading zeros, and with the same text before them.
fn rises(before: Id<'_>, id: Id<'_>) -> bool {
    let (Id::Text(before), Id::Text(id)) = (before, id) else {
        return false;
    };
    (before.len(), before) < (id.len(), id)
}

/// The records that were found in a block.
struct BlockRecords {
    found: Vec<Found>,
    /// The errors of records that a check leaves out.
    refused: Vec<RunError>,
    /// The error after the records, at which the reading ends.
    failed: Option<RunError>,
}

impl BlockRecords {
    fn from_found(found: Vec<Found>) -> Self {
        Self {
            found,
            refused: Vec::new(),
            failed: None,
        }
    }
}

/// The records of a block.
struct ScannedBlock {
    found: Vec<Found>,
    /// What the selection found in the records.
    tally: Tally,
    /// The fingerprints of their ids, where they are requested.
    prints: Vec<u64>,
    /// The number of all records of the block, whether the shard holds them or not.
    lines: u64,
    first_words: Option<FirstWords>,
    /// Whether any record has the value of the other side.
    has_other: bool,
    /// Whether each id rises over the one before it.
    is_rising: bool,
    /// The errors of records that a check leaves out.
    refused: Vec<RunError>,
    /// The error in the line after the records.
    failed: Option<RunError>,
}

/// Blocks that were read.
#[derive(Default)]
struct Read {
    blocks: Vec<Block>,
    /// The error after them.
    failed: Option<RunError>,
    /// Whether nothing comes after them.
    at_end: bool,
}

/// Blocks of both sides that were read and scanned.
struct Loading {
    references: Read,
    predictions: Read,
    /// The records of the blocks of references, and then of predictions.
    scanned: Vec<Scanned>,
}

/// The sources of the blocks of both sides.
struct Sources {
    references: Blocks,
    predictions: Blocks,
}

type Scanned = Result<ScannedBlock, RunError>;

/// A record in a queue.
#[derive(Clone, Copy, Debug)]
struct Position {
    block: usize,
    record: usize,
}

impl Position {
    /// The position of the record that comes this many after it in its block.
    fn moved(self, len: usize) -> Self {
        Self {
            record: self.record + len,
            ..self
        }
    }
}

enum End {
    Queued(Position),
    Held(Box<Held>),
    Missing,
}

/// A reference and its prediction.
pub(crate) struct Pair {
    /// The position of the reference among all references, from 0.
    pub(crate) ordinal: u64,
    reference: End,
    prediction: End,
}

/// A run of references whose predictions are in the same order.
pub(crate) struct Step {
    /// The position of the first reference among all references, from 0, if the others come after it there.
    pub(crate) ordinal: Option<u64>,
    reference: Position,
    prediction: Position,
    len: usize,
}

/// Pairs that are scored at a time, and their order.
#[derive(Default)]
pub(crate) struct Pairs {
    steps: Vec<Step>,
    /// Those that were found apart, which come after the others.
    pub(crate) apart: Vec<Pair>,
}

impl Pairs {
    /// Pairs that were found apart.
    pub(crate) fn apart(apart: Vec<Pair>) -> Self {
        Self {
            apart,
            ..Self::default()
        }
    }

    /// Runs of references whose predictions are in the same order.
    fn steps(steps: Vec<Step>) -> Self {
        Self {
            steps,
            ..Self::default()
        }
    }

    /// Whether pairs that come one after another are those of references that do so.
    pub(crate) fn are_in_order(&self) -> bool {
        self.steps.iter().all(|step| step.ordinal.is_some())
    }

    /// The same pairs of a join as single ones.
    pub(crate) fn into_single(self, join: &Join) -> Self {
        let steps = self.steps.iter();
        let single = steps.flat_map(|step| (0..step.len).map(|index| join.pair(step, index)));
        let mut apart: Vec<Pair> = single.collect();
        apart.extend(self.apart);
        Self::apart(apart)
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.iter().map(|step| step.len).sum::<usize>() + self.apart.len()
    }

    /// Gives `read` the pair of a join at an index.
    pub(crate) fn with<T>(
        &self,
        join: &Join,
        index: usize,
        read: impl FnOnce(&Pair) -> T,
    ) -> Option<T> {
        let mut before = 0;
        for step in &self.steps {
            if index - before < step.len {
                return Some(read(&join.pair(step, index - before)));
            }
            before += step.len;
        }
        self.apart.get(index - before).map(read)
    }

    /// The pairs in parts that can be read at the same time, each with the index of its first pair.
    pub(crate) fn units(&self, threads: usize) -> Vec<(usize, PairsUnit<'_>)> {
        /// Large enough to amortize scheduling, and small enough for few records that take long, such as topics.
        const LEN: RangeInclusive<usize> = 64..=2048;
        let mut units = Vec::new();
        let mut first = 0;
        for step in &self.steps {
            let even = step.len.div_ceil(4 * threads);
            let most = even.clamp(*LEN.start(), *LEN.end());
            for start in (0..step.len).step_by(most) {
                let len = most.min(step.len - start);
                units.push((first + start, PairsUnit::Step(step, start, len)));
            }
            first += step.len;
        }
        let size = match threads {
            1 => self.apart.len().max(1),
            threads => self.apart.len().div_ceil(4 * threads).max(1),
        };
        for pairs in self.apart.chunks(size) {
            units.push((first, PairsUnit::Apart(pairs)));
            first += pairs.len();
        }
        units
    }
}

/// Some of the pairs.
pub(crate) enum PairsUnit<'p> {
    /// A part of a run: where it starts, and how many pairs it has.
    Step(&'p Step, usize, usize),
    Apart(&'p [Pair]),
}

/// Records that are out of step, when all such records wait until the end.
struct Leaving {
    /// The first of the references, and of the predictions; `None` for none.
    references: Option<Position>,
    predictions: Option<Position>,
    /// The number of records of each side that has any.
    len: usize,
    /// The position of the first reference among all references, from 0.
    ordinal: u64,
}

impl Leaving {
    /// Takes the next records of both sides up to the first two that have the same id, or those of one side if the other
    /// is at its end. `None` if there are none, or if more have to be loaded first.
    fn take(
        references: &mut Reader,
        predictions: &mut Reader,
        next_ordinal: &mut u64,
        held: &mut HeldBytes,
    ) -> Option<Self> {
        let heads = [references.head(), predictions.head()];
        let len = Self::differing(references, predictions, heads);
        Self::take_heads(references, predictions, (heads, len), next_ordinal, held)
    }

    /// Takes the next references, while predictions are held back.
    fn take_references(
        references: &mut Reader,
        predictions: &mut Reader,
        next_ordinal: &mut u64,
        held: &mut HeldBytes,
    ) -> Option<Self> {
        let head = references.head();
        let len = head.map_or(0, |position| references.run_len(position));
        let heads = [head, None];
        Self::take_heads(references, predictions, (heads, len), next_ordinal, held)
    }

    /// Takes as many records of both sides, starting at these.
    fn take_heads(
        references: &mut Reader,
        predictions: &mut Reader,
        ([reference, prediction], len): ([Option<Position>; 2], usize),
        next_ordinal: &mut u64,
        held: &mut HeldBytes,
    ) -> Option<Self> {
        if len == 0 {
            return None;
        }
        let ordinal = *next_ordinal;
        if let Some(position) = reference {
            let (found, text) = references.run(position, len);
            let ids = found.iter().map(|found| found.id(text));
            held.take_all(&references.seen, ids, len);
            references.take_run(position, len);
            *next_ordinal += len as u64;
        }
        if let Some(position) = prediction {
            predictions.take_run(position, len);
        }
        Some(Self {
            references: reference,
            predictions: prediction,
            len,
            ordinal,
        })
    }

    /// The number of records up to the first two that have the same id, starting at these.
    fn differing(
        references: &Reader,
        predictions: &Reader,
        [reference, prediction]: [Option<Position>; 2],
    ) -> usize {
        let of_references = reference.map(|position| references.run(position, usize::MAX));
        let of_predictions = prediction.map(|position| predictions.run(position, usize::MAX));
        match (of_references, of_predictions) {
            (Some((references, text)), Some((predictions, other_text))) => {
                let pairs = references.iter().zip(predictions);
                let differ = pairs.take_while(|(reference, prediction)| {
                    !same_id(reference.id(text), prediction.id(other_text))
                });
                differ.count()
            }
            (Some((rest, _)), None) if predictions.is_at_end() => rest.len(),
            (None, Some((rest, _))) if references.is_at_end() => rest.len(),
            _ => 0,
        }
    }
}

/// The options for joining two sources.
pub(crate) struct JoinOptions {
    pub(crate) policy: JoinPolicy,
    pub(crate) shard: Option<Shard>,
    /// The number of bytes that may be held in memory.
    pub(crate) max_bytes: u64,
    /// The number of blocks of each side that are read at a time.
    pub(crate) width: usize,
    /// Whether the data are a part of others.
    pub(crate) is_part: bool,
    /// Whether all problems of the data are gathered, rather than the first returned as an error.
    pub(crate) is_check: bool,
    /// Whether the other fields of references are read.
    pub(crate) has_fields: bool,
    /// The number of bytes of out-of-order records that wait for their partner one by one.
    pub(crate) window: u64,
}

/// The join of two sources, or of one that has both sides.
pub(crate) struct Join {
    references: Reader,
    predictions: Option<Reader>,
    sources: Sources,
    /// The blocks that were read and scanned while the pairs before them were scored.
    loading: Option<Loading>,
    policy: JoinPolicy,
    /// Whether the data are a part of others.
    is_part: bool,
    /// The number of blocks of each side that are read at a time.
    width: usize,
    /// Whether records have the other fields of references.
    has_fields: bool,
    next_ordinal: u64,
    waiting: Waiting,
    /// Whether predictions are not read until all references have been.
    holds_predictions: bool,
    /// The records that were taken out of step, and are not with those that wait yet.
    leaving: Vec<Leaving>,
    /// Lines of predictions after the last reference of a text file, which nothing can match.
    surplus: Surplus,
    held: HeldBytes,
    /// The errors of a check that are about a whole source.
    errors: Option<Vec<RunError>>,
}

/// Predictions of which no more is kept than is said of them.
#[derive(Default)]
struct Surplus {
    count: u64,
    /// The first few ids.
    ids: Vec<String>,
}

impl Surplus {
    /// Adds a line, unless its reference was left out, which comes before it.
    fn add(&mut self, id: Id<'_>, references: &mut Tally) {
        references.sort();
        if references.has_left_out(id, u64::MAX) {
            return;
        }
        self.count += 1;
        if self.ids.len() < NAMED_IDS {
            self.ids.push(id.to_string());
        }
    }
}

/// The bytes that records take which wait for their partner, and the ids that are checked for being unique.
/// It counts what was taken in the order of the data, so it is the same on any number of threads.
struct HeldBytes {
    most: u64,
    waiting: u64,
    ids: u64,
    /// The ids of records that are not selected.
    left_out: u64,
    is_over: bool,
}

impl HeldBytes {
    /// The approximate memory of a kept id in addition to its text.
    const ID: usize = 96;

    fn new(most: u64) -> Self {
        Self {
            most,
            waiting: 0,
            ids: 0,
            left_out: 0,
            is_over: false,
        }
    }

    /// Counts the records that wait.
    fn wait(&mut self, waiting: &Waiting) {
        self.waiting = waiting.bytes();
        self.check();
    }

    /// Counts the ids of records that are not selected.
    fn leave_out(&mut self, bytes: u64) {
        self.left_out = bytes;
        self.check();
    }

    fn take<'i>(&mut self, seen: &Seen, id: impl FnOnce() -> Id<'i>) {
        self.take_all(seen, std::iter::once_with(id), 1);
    }

    fn take_all<'i>(&mut self, seen: &Seen, ids: impl Iterator<Item = Id<'i>>, count: usize) {
        let size = |id: Id<'_>| {
            let text = match id {
                Id::Text(id) => id.len(),
                _ => 0,
            };
            Self::ID + text
        };
        let taken = match seen {
            Seen::Lines(_) => return,
            Seen::Prints(_) => size_of::<u64>() * count,
            Seen::Kept(_) => ids.map(size).sum(),
        };
        self.ids += taken as u64;
        self.check();
    }

    #[inline]
    fn check(&mut self) {
        self.is_over |= self.waiting + self.ids + self.left_out > self.most;
    }
}

/// The records that the join left over.
pub(crate) struct Leftovers {
    /// References without a prediction, in their order.
    pub(crate) missing: Vec<Slot>,
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
        options: JoinOptions,
        progress: &Arc<AtomicU64>,
    ) -> Result<Self, RunError> {
        let open = |input| Reader::open(input, whole_file, &options, progress);
        let (mut references, reference_blocks) = open(references)?;
        // One that has both sides may be shown in an error.
        references.keeps_records = options.has_fields || predictions.is_none();
        let (predictions, prediction_blocks) = predictions.map(open).transpose()?.unzip();
        let may_gather = predictions.as_ref().is_some_and(|predictions| {
            // Programs that write to pipes may wait for both of them to be read.
            let sides = [&references, predictions];
            sides.iter().all(|it| it.input.source.is_rereadable())
        });
        let mut join = Self {
            references,
            predictions,
            sources: Sources {
                references: reference_blocks,
                predictions: prediction_blocks.unwrap_or_else(Blocks::ended),
            },
            loading: None,
            policy: options.policy,
            is_part: options.is_part || options.shard.is_some(),
            width: options.width,
            has_fields: options.has_fields,
            next_ordinal: 0,
            waiting: Waiting::with_window(options.window).gathering(may_gather),
            holds_predictions: false,
            leaving: Vec::new(),
            surplus: Surplus::default(),
            held: HeldBytes::new(options.max_bytes),
            errors: options.is_check.then(Vec::new),
        };
        join.fill();
        Ok(join)
    }

    /// Reads blocks of both sides: at the same time, if that is more than a copy of bytes.
    fn read(&self, sources: &mut Sources) -> (Read, Read) {
        let width = self.width;
        let prediction_width = if self.holds_predictions { 0 } else { width };
        let Sources {
            references: reference_blocks,
            predictions: prediction_blocks,
        } = sources;
        let mut references = || self.references.read(reference_blocks, width);
        let Some(predictions) = &self.predictions else {
            return (references(), Read::default());
        };
        let is_text = self.references.format.is_text() && predictions.format.is_text();
        let mut predictions = || predictions.read(prediction_blocks, prediction_width);
        if width > 1 && !is_text {
            rayon::join(references, predictions)
        } else {
            (references(), predictions())
        }
    }

    /// Reads blocks until each side has enough; scanning is spread over the threads.
    fn load(&self, sources: &mut Sources) -> Loading {
        let (mut references, mut predictions) = self.read(sources);
        let scan_one = |reader: &Reader, block: &mut Block, with_prints: bool| {
            let BlockRecords {
                mut found,
                refused,
                failed,
            } = reader.scan(block)?;
            let lines = found.len() as u64;
            let first_words = reader.first_words_of(block, &found);
            let has_other = found.iter().any(|record| record.has_other());
            let tally = reader.keep_held(block, &mut found)?;
            let has_prints = with_prints && matches!(reader.seen, Seen::Prints(_));
            let ids = || found.iter().map(|record| record.id(&block.text));
            let (prints, is_rising) = if has_prints {
                (
                    ids().map(fingerprint).collect(),
                    reader.rising.is_some() && ids().is_sorted_by(|&a, &b| rises(a, b)),
                )
            } else {
                (Vec::new(), false)
            };
            Ok(ScannedBlock {
                found,
                tally,
                prints,
                lines,
                first_words,
                has_other,
                is_rising,
                refused,
                failed,
            })
        };
        let mut sides: Vec<(&Reader, &mut Block, bool)> = references
            .blocks
            .iter_mut()
            .map(|block| (&self.references, block, true))
            .chain(
                predictions
                    .blocks
                    .iter_mut()
                    .filter_map(|block| Some((self.predictions.as_ref()?, block, false))),
            )
            .collect();
        let mut scanned: Vec<Scanned> = if self.width == 1 {
            let one = |(reader, block, prints): &mut (&Reader, &mut Block, bool)| {
                scan_one(reader, block, *prints)
            };
            sides.iter_mut().map(one).collect()
        } else {
            sides
                .par_iter_mut()
                .map(|(reader, block, prints)| scan_one(reader, block, *prints))
                .collect()
        };
        agree_on_whole_files(&sides, &mut scanned);
        Loading {
            references,
            predictions,
            scanned,
        }
    }

    /// Loads blocks, unless they were loaded ahead.
    fn fill(&mut self) {
        let loading = self.loading.take();
        let loading = loading.unwrap_or_else(|| {
            let ended = Sources {
                references: Blocks::ended(),
                predictions: Blocks::ended(),
            };
            let mut sources = std::mem::replace(&mut self.sources, ended);
            let loading = self.load(&mut sources);
            self.sources = sources;
            loading
        });
        let Loading {
            references,
            predictions,
            scanned,
        } = loading;
        let mut scanned = scanned.into_iter();
        let of_references: Vec<Scanned> = scanned.by_ref().take(references.blocks.len()).collect();
        self.references
            .accept(references, of_references.into_iter());
        if let Some(reader) = &mut self.predictions {
            reader.accept(predictions, scanned);
        }
        let left_out = |reader: &Reader| reader.tally.bytes();
        let of_predictions = self.predictions.as_ref().map_or(0, left_out);
        self.held
            .leave_out(left_out(&self.references) + of_predictions);
    }

    /// Loads the next blocks while `work` is done on the pairs at hand, if there are several threads.
    pub(crate) fn ahead<T: Send>(&mut self, work: impl FnOnce(&Self) -> T + Send) -> T {
        if self.width == 1 || self.loading.is_some() {
            return work(self);
        }
        let ended = Sources {
            references: Blocks::ended(),
            predictions: Blocks::ended(),
        };
        let mut sources = std::mem::replace(&mut self.sources, ended);
        let here = &*self;
        let (done, loading) = rayon::join(|| work(here), || here.load(&mut sources));
        self.sources = sources;
        self.loading = Some(loading);
        done
    }

    /// The next pairs, or `None` at the end. They are valid until the next call.
    pub(crate) fn next(&mut self) -> Result<Option<Pairs>, RunError> {
        loop {
            self.references.recycle(&mut self.sources.references);
            let mut at_end = self.references.head().is_none() && self.references.is_at_end();
            if let Some(predictions) = &mut self.predictions {
                predictions.recycle(&mut self.sources.predictions);
                at_end &= predictions.head().is_none() && predictions.is_at_end();
            }
            if at_end {
                return self.take_packed();
            }
            self.fill();
            let pairs = match self.predictions {
                None => self.take_both()?,
                Some(_) => self.take_pairs()?,
            };
            self.let_wait()?;
            if self.held.is_over {
                return Err(self.too_many_bytes());
            }
            if pairs.len() > 0 {
                return Ok(Some(pairs));
            }
            let predictions = self.predictions.as_mut();
            let predictions = predictions.filter(|_| !self.holds_predictions);
            let readers = [Some(&mut self.references), predictions];
            if let Some(error) = readers.into_iter().flatten().find_map(Reader::failure) {
                return Err(error);
            }
        }
    }

    /// Puts the records that were taken out of step with those that wait, and loads the next blocks meanwhile.
    fn let_wait(&mut self) -> Result<(), RunError> {
        if self.leaving.is_empty() {
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        let done = self.ahead(|join| {
            let mut leaving = join.leaving.iter();
            let done = leaving.try_for_each(|leaving| join.write(leaving, &mut waiting));
            (done, waiting)
        });
        let (done, waiting) = done;
        self.waiting = waiting;
        self.leaving.clear();
        self.held.wait(&self.waiting);
        self.holds_predictions = self.waiting.is_gathering();
        done
    }

    /// Packs records that wait, from both sides by turns.
    fn write(&self, leaving: &Leaving, waiting: &mut Waiting) -> Result<(), RunError> {
        let Leaving {
            references,
            predictions,
            len,
            ordinal,
        } = *leaving;
        // All fingerprints first: a step that has to wait for records that were just stored is slow.
        let prints = |reader: &Reader, position: Position| -> Vec<u64> {
            let (found, text) = reader.run(position, len);
            let ids = found.iter().map(|found| found.id(text));
            ids.map(|id| waiting.print(id)).collect()
        };
        let references = references.map(|it| (it, &self.references, prints(&self.references, it)));
        let predictions = predictions.zip(self.predictions.as_ref());
        let predictions = predictions.map(|(it, reader)| (it, reader, prints(reader, it)));
        for index in 0..len {
            if let Some((position, reader, prints)) = &references {
                let ordinal = ordinal + index as u64;
                let waiter = reader.waiter(position.moved(index), Side::Reference, ordinal);
                waiting.pack_with(prints[index], &waiter)?;
            }
            if let Some((position, reader, prints)) = &predictions {
                let waiter = reader.waiter(position.moved(index), Side::Prediction, 0);
                waiting.pack_with(prints[index], &waiter)?;
            }
        }
        Ok(())
    }

    /// The next pairs among the records that are packed, after all records have been read.
    fn take_packed(&mut self) -> Result<Option<Pairs>, RunError> {
        if self.waiting.is_gathering() {
            let pairs = Pairs::steps(self.complete()?);
            if pairs.len() > 0 {
                return Ok(Some(pairs));
            }
        }
        self.waiting.end_gathering()?;
        // One partition for each thread: more of them would only take more memory.
        let threads = self.width.min(of_pool());
        loop {
            let all = self.waiting.join_next(threads)?;
            if all.is_empty() {
                return Ok(None);
            }
            self.held.wait(&self.waiting);
            if self.held.is_over {
                return Err(self.too_many_bytes());
            }
            let pairs = Pairs::steps(self.take_joined(all)?);
            if pairs.len() > 0 {
                return Ok(Some(pairs));
            }
        }
    }

    /// Lets predictions be looked up in the references, which have all come. Returns those that came before.
    fn complete(&mut self) -> Result<Vec<Step>, RunError> {
        let all = self.waiting.complete(self.width)?;
        self.holds_predictions = false;
        self.held.wait(&self.waiting);
        self.take_joined(all)
    }

    /// Takes the pairs of partitions, whose records join the queues.
    fn take_joined(&mut self, all: Vec<Joined>) -> Result<Vec<Step>, RunError> {
        let Some(predictions) = &mut self.predictions else {
            return Ok(Vec::new());
        };
        let mut steps = Vec::new();
        for joined in all {
            for (side, id) in joined.twice {
                match side {
                    Side::Reference => self.references.suspects.insert(id),
                    Side::Prediction => predictions.suspects.insert(id),
                };
            }
            steps.push(Step {
                ordinal: None,
                len: joined.references.found.len(),
                reference: self.references.push_unpacked(joined.references)?,
                prediction: predictions.push_unpacked(joined.predictions)?,
            });
        }
        Ok(steps)
    }

    /// Takes the predictions that are loaded, and finds their references among those that were gathered.
    fn take_found(&mut self) -> Result<Vec<Step>, RunError> {
        let Some(predictions) = &mut self.predictions else {
            return Ok(Vec::new());
        };
        let waiting = &self.waiting;
        let look_up = |loaded: &Loaded| {
            let found = loaded.found.get(loaded.next..).unwrap_or_default();
            waiting.look_up(found.iter().map(|found| found.id(&loaded.block.text)))
        };
        let all: Vec<_> = match self.width {
            1 => predictions.queue.iter().map(look_up).collect(),
            _ => predictions.queue.par_iter().map(look_up).collect(),
        };
        let mut steps = Vec::new();
        for (block, (found, records)) in all.into_iter().enumerate() {
            let first = self.references.push_unpacked(records)?;
            let next = predictions.queue[block].next;
            predictions.queue[block].next += found.len();
            let mut step = Step {
                ordinal: None,
                reference: first,
                prediction: Position {
                    block,
                    record: next,
                },
                len: 0,
            };
            for reference in found {
                if reference.is_some_and(|reference| self.waiting.take(reference)) {
                    step.len += 1;
                    continue;
                }
                let position = step.prediction.moved(step.len);
                if reference.is_some() {
                    let id = predictions.id(position).to_string();
                    predictions.suspects.insert(id);
                } else {
                    let waiter = predictions.waiter(position, Side::Prediction, 0);
                    self.waiting.leave_alone(&waiter)?;
                }
                let after = Step {
                    ordinal: None,
                    reference: step
                        .reference
                        .moved(step.len + usize::from(reference.is_some())),
                    prediction: position.moved(1),
                    len: 0,
                };
                steps.push(std::mem::replace(&mut step, after));
            }
            steps.push(step);
        }
        steps.retain(|step| step.len > 0);
        self.held.wait(&self.waiting);
        Ok(steps)
    }

    /// The error of records and ids that take more memory than allowed.
    fn too_many_bytes(&self) -> RunError {
        let (file, what) = match &self.predictions {
            Some(predictions) if self.held.waiting > self.held.ids => (
                predictions.input.source.name(),
                "the order of its ids differs from that of the references, and the records that wait for their partner",
            ),
            _ => (self.reference_name(), "the ids, which must be unique,"),
        };
        let problem = Message::from(format!("{what} take more memory than allowed by "))
            .option("max-bytes", &self.held.most.to_string());
        ReadError::new(file, problem).limit().into()
    }

    /// The records of a source that has both sides; those without a prediction wait in vain.
    fn take_both(&mut self) -> Result<Pairs, RunError> {
        let references = &mut self.references;
        let mut steps = Vec::new();
        while let Some(position) = references.head() {
            let ordinal = self.next_ordinal;
            let (rest, text) = references.run(position, usize::MAX);
            let whole = rest.iter().take_while(|found| found.has_other());
            let len = whole.count();
            // One that has no other side waits.
            let taken = len.max(1);
            let ids = rest[..taken].iter().map(|found| found.id(text));
            self.held.take_all(&references.seen, ids, taken);
            references.take_run(position, taken);
            self.next_ordinal += taken as u64;
            if len > 0 {
                steps.push(Step {
                    ordinal: Some(ordinal),
                    reference: position,
                    prediction: position,
                    len,
                });
                continue;
            }
            // An id that occurs twice is found by its fingerprint at the end.
            self.waiting
                .meet(&references.waiter(position, Side::Reference, ordinal))?;
            self.held.wait(&self.waiting);
        }
        Ok(Pairs {
            steps,
            apart: Vec::new(),
        })
    }

    /// Takes the runs of records whose ids are the same on both sides, as far as both are loaded.
    fn take_steps(&mut self) -> Vec<Step> {
        let Some(predictions) = &mut self.predictions else {
            return Vec::new();
        };
        let references = &mut self.references;
        let mut steps = Vec::new();
        let mut positions = references.head().zip(predictions.head());
        let mut ordinal = self.next_ordinal;
        while let Some((reference, prediction)) = positions {
            let len = references
                .run_len(reference)
                .min(predictions.run_len(prediction));
            steps.push(Step {
                ordinal: Some(ordinal),
                reference,
                prediction,
                len,
            });
            ordinal += len as u64;
            let next = references.after(reference, len);
            positions = next.zip(predictions.after(prediction, len));
        }
        let same_ids = |step: &Step| {
            let (references, reference_text) = references.run(step.reference, step.len);
            let (predictions, prediction_text) = predictions.run(step.prediction, step.len);
            let pairs = references.iter().zip(predictions);
            let same = pairs.take_while(|(reference, prediction)| {
                same_id(reference.id(reference_text), prediction.id(prediction_text))
            });
            same.count()
        };
        let same: Vec<usize> = match self.width {
            1 => steps.iter().map(same_ids).collect(),
            _ => steps.par_iter().map(same_ids).collect(),
        };
        // Records after the first two ids that differ are out of step.
        let whole = steps.iter().zip(&same);
        let whole = whole.take_while(|(step, same)| step.len == **same).count();
        steps.truncate(whole + 1);
        for (step, same) in steps.iter_mut().zip(same) {
            step.len = same;
            let (found, text) = references.run(step.reference, same);
            let ids = found.iter().map(|found| found.id(text));
            self.held.take_all(&references.seen, ids, same);
            references.take_run(step.reference, same);
            predictions.take_run(step.prediction, same);
            self.next_ordinal += same as u64;
        }
        steps.retain(|step| step.len > 0);
        steps
    }

    /// Takes records that are loaded, and gives those that have found their partner.
    fn take_pairs(&mut self) -> Result<Pairs, RunError> {
        if self.waiting.is_gathering() && self.leaving.is_empty() {
            return self.gather().map(Pairs::steps);
        }
        if self.waiting.has_references() {
            return self.take_found().map(Pairs::steps);
        }
        Ok(Pairs {
            steps: self.take_steps(),
            apart: self.take_apart()?,
        })
    }

    /// Takes records while both sides have one loaded, or one side is at its end.
    fn take_apart(&mut self) -> Result<Vec<Pair>, RunError> {
        let Some(predictions) = &mut self.predictions else {
            return Ok(Vec::new());
        };
        let references = &mut self.references;
        let mut pairs = Vec::new();
        // The lines of two text files are in the same order: one that has no partner will have none.
        let has_lines_only = references.has_lines() && predictions.has_lines();
        loop {
            if self.waiting.is_gathering() {
                return Ok(pairs);
            }
            let (reference, prediction) = (references.head(), predictions.head());
            if self.waiting.is_full()
                && !has_lines_only
                && let Some(leaving) = Leaving::take(
                    references,
                    predictions,
                    &mut self.next_ordinal,
                    &mut self.held,
                )
            {
                self.leaving.push(leaving);
                continue;
            }
            if let (Some(r), Some(p)) = (reference, prediction)
                && same_id(references.id(r), predictions.id(p))
            {
                references.take(r);
                predictions.take(p);
                self.held.take(&references.seen, || references.id(r));
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
            if (reference.is_none() && !references.is_at_end())
                || (prediction.is_none() && !predictions.is_at_end())
                || (reference.is_none() && prediction.is_none())
            {
                return Ok(pairs);
            }
            // A check leaves out lines that cannot be read: those after them are in step again.
            let lines = reference.zip(prediction).filter(|_| has_lines_only);
            let order = lines.map(|(r, p)| line_order(references.id(r), predictions.id(p)));
            let prediction = prediction.filter(|_| order != Some(Ordering::Less));
            if let Some(position) = reference.filter(|_| order != Some(Ordering::Greater)) {
                let ordinal = self.next_ordinal;
                self.next_ordinal += 1;
                references.take(position);
                self.held.take(&references.seen, || references.id(position));
                let waiting = (&mut self.waiting, &mut self.held);
                if let Some(partner) =
                    references.meet(position, Side::Reference, ordinal, waiting)?
                {
                    pairs.push(Pair {
                        ordinal,
                        reference: End::Queued(position),
                        prediction: End::Held(partner),
                    });
                    // The prediction at hand may be that of the next reference: back in step.
                    continue;
                }
            }
            if let Some(position) = prediction {
                predictions.take(position);
                if has_lines_only && let Id::Line(_) = predictions.id(position) {
                    let id = predictions.id(position);
                    self.surplus.add(id, &mut references.tally);
                    continue;
                }
                let waiting = (&mut self.waiting, &mut self.held);
                if let Some(partner) = predictions.meet(position, Side::Prediction, 0, waiting)? {
                    pairs.push(Pair {
                        ordinal: partner.ordinal,
                        reference: End::Held(partner),
                        prediction: End::Queued(position),
                    });
                }
            }
        }
    }

    /// Takes the references that are loaded, or lets predictions be looked up after the last of them.
    fn gather(&mut self) -> Result<Vec<Step>, RunError> {
        self.holds_predictions = true;
        let Some(predictions) = &mut self.predictions else {
            return Ok(Vec::new());
        };
        let (references, held) = (&mut self.references, &mut self.held);
        let next_ordinal = &mut self.next_ordinal;
        while let Some(leaving) =
            Leaving::take_references(references, predictions, next_ordinal, held)
        {
            self.leaving.push(leaving);
        }
        if self.leaving.is_empty() && references.is_at_end() {
            return self.complete();
        }
        Ok(Vec::new())
    }

    /// The value with the references of a record, of which one file has this one.
    fn all_references<'a>(&'a self, id: Id<'_>, value: Value<'a>) -> Value<'a> {
        let more = self.references.input.more.as_ref();
        more.and_then(|more| more.of(id)).unwrap_or(value)
    }

    /// The records of a part of a run.
    pub(crate) fn records_of(
        &self,
        step: &Step,
        start: usize,
        len: usize,
    ) -> impl Iterator<Item = Record<'_>> {
        let (references, reference_text) = self.references.run(step.reference.moved(start), len);
        let (predictions, prediction_text) = match &self.predictions {
            Some(reader) => reader.run(step.prediction.moved(start), len),
            None => (references, reference_text),
        };
        let has_both = self.predictions.is_none();
        let pairs = references.iter().zip(predictions);
        pairs.map(move |(reference, prediction)| Record {
            id: reference.id(reference_text),
            prediction: if has_both {
                prediction
                    .other(prediction_text)
                    .unwrap_or(Value::missing())
            } else {
                prediction.value(prediction_text)
            },
            reference: self.all_references(
                reference.id(reference_text),
                reference.value(reference_text),
            ),
            fields: reference.record(reference_text).filter(|_| self.has_fields),
            join: self.policy,
        })
    }

    /// The same records as columns, if the values of each side are of one kind and no other fields are read.
    pub(crate) fn columns_of(
        &self,
        step: &Step,
        start: usize,
        len: usize,
    ) -> Option<TextColumns<'_>> {
        if self.has_fields || self.references.input.more.is_some() {
            return None;
        }
        let references = self.references.run(step.reference.moved(start), len);
        match &self.predictions {
            Some(reader) => {
                let (found, text) = reader.run(step.prediction.moved(start), len);
                let values = found.iter().map(|found| Some((found.value, found.form)));
                TextColumns::new(references, values, text, self.policy)
            }
            None => {
                let values = references.0.iter().map(|found| found.other);
                TextColumns::new(references, values, references.1, self.policy)
            }
        }
    }

    /// The pair at an index of a run.
    fn pair(&self, step: &Step, index: usize) -> Pair {
        let reference = step.reference.moved(index);
        let ordinal = match step.ordinal {
            Some(first) => first + index as u64,
            None => self.references.origin(reference).map_or(0, |it| it.ordinal),
        };
        Pair {
            ordinal,
            reference: End::Queued(reference),
            prediction: End::Queued(step.prediction.moved(index)),
        }
    }

    /// One side of a pair, if it waited for the other.
    fn waited<'a>(&'a self, end: &'a End) -> Option<Waiter<'a>> {
        match end {
            End::Held(held) => Some(held.waiter()),
            End::Queued(_) | End::Missing => None,
        }
    }

    /// The record that a pair is.
    pub(crate) fn record<'a>(&'a self, pair: &'a Pair) -> Record<'a> {
        let reader = self.predictions.as_ref().unwrap_or(&self.references);
        let (id, reference, fields) = match &pair.reference {
            End::Queued(position) => {
                let (found, text) = self.references.found(*position);
                (found.id(text), found.value(text), found.record(text))
            }
            end => match self.waited(end) {
                Some(waiter) => (waiter.id, waiter.value(), waiter.record),
                None => (Id::Text(""), Value::missing(), None),
            },
        };
        let prediction = match &pair.prediction {
            End::Queued(position) if self.predictions.is_none() => {
                let (found, text) = reader.found(*position);
                found.other(text).unwrap_or(Value::missing())
            }
            End::Queued(position) => {
                let (found, text) = reader.found(*position);
                found.value(text)
            }
            end => self
                .waited(end)
                .map_or(Value::missing(), |waiter| waiter.value()),
        };
        Record {
            id,
            prediction,
            reference: self.all_references(id, reference),
            fields: fields.filter(|_| self.has_fields),
            join: self.policy,
        }
    }

    /// File, line, and location in words of the value that an error about a pair is about.
    pub(crate) fn location(
        &self,
        pair: &Pair,
        error: &FieldError,
    ) -> (String, Option<u64>, String) {
        let (reader, end, role) = match (error.side, &self.predictions) {
            (Side::Prediction, Some(predictions)) => (predictions, &pair.prediction, Role::Value),
            (Side::Prediction, None) if !self.references.input.names.is_one_sided => {
                (&self.references, &pair.reference, Role::Other)
            }
            (Side::Prediction, None) => (&self.references, &pair.reference, Role::Value),
            (Side::Reference, _) => (&self.references, &pair.reference, Role::Value),
        };
        let (part, line) = match end {
            End::Queued(position) => {
                let part = reader
                    .origin(*position)
                    .and_then(|it| self.waiting.part(it.part));
                let part = part.unwrap_or(&reader.queue[position.block].block.part);
                (part, reader.found(*position).0.line)
            }
            end => match self.waited(end) {
                Some(waiter) => (waiter.part, waiter.line),
                None => return (reader.input.source.name(), None, String::new()),
            },
        };
        let column = match &error.field {
            Some(field) => part.further_column(field),
            None => part.column(role),
        };
        let (line, location) = part.line_or_location(line, column);
        (part.file.clone(), line, location)
    }

    /// Refuses sources that are joined by the numbers of their rows, if one has more rows.
    fn refuse_row_counts(&self) -> Result<(), RunError> {
        let Some(predictions) = &self.predictions else {
            return Ok(());
        };
        let sides = [&self.references, predictions];
        let [Seen::Lines(expected), Seen::Lines(found)] = sides.map(|side| &side.seen) else {
            return Ok(());
        };
        let by_row = sides.iter().any(|side| side.input.names.has_row_ids);
        if expected == found || !by_row {
            return Ok(());
        }
        let [references, predictions] = sides.map(|side| side.input.source.name());
        let problem = format!(
            "has {}: expected {}, as in {references} (rows are joined by their numbers)",
            counted(*found, "row"),
            grouped(*expected),
        );
        Err(ReadError::new(predictions, problem).into())
    }

    /// Refuses a source of pairs in which no record has a prediction: its name is probably misspelled.
    fn refuse_absent_field(&self) -> Result<(), RunError> {
        let Reader {
            input, has_other, ..
        } = &self.references;
        if self.predictions.is_some() || *has_other {
            return Ok(());
        }
        let Some(first) = self.waiting.rest(Side::Reference)?.first().copied() else {
            return Ok(());
        };
        let first = self.waiting.load(first)?;
        let first = first.waiter();
        let record = first.record.unwrap_or_default();
        let problem = input.names.no_field(Role::Other, record);
        let (line, location) = first.part.line_or_location(first.line, "");
        let mut error = ReadError::new(&first.part.file, problem).at(location);
        error.line = line;
        Err(error.into())
    }

    /// Refuses text files whose lines start with ids. Where that is only probable, it is a warning.
    pub(crate) fn refuse_line_ids(&self) -> Result<Option<Counted>, RunError> {
        let (Some(references), Some(reader)) = (&self.references.first_words, &self.predictions)
        else {
            return Ok(None);
        };
        let Some(predictions) = &reader.first_words else {
            return Ok(None);
        };
        match references.judge(predictions) {
            LineStarts::Words => Ok(None),
            LineStarts::ProbablyIds => {
                let warning = |starts: &str| {
                    let text = format!("{starts} exactly one line of each file: for ids, use ");
                    Message::from(text).option("input-format", "kaldi")
                };
                Ok(Some(Counted::new(
                    warning("line starts with a word that starts"),
                    warning("lines start with words that each start"),
                )))
            }
            LineStarts::Ids => {
                let problem = format!(
                    "each line starts with what looks like an id, such as {}, and {} has the same ids: to join by id, use ",
                    quoted_id(references.first()),
                    reader.input.source.name()
                );
                let problem = Message::from(problem)
                    .option("input-format", "kaldi")
                    .text("; to score whole lines in their order, use ")
                    .option("input-format", "text");
                Err(ReadError::new(self.reference_name(), problem).into())
            }
        }
    }

    /// The warning about records that probably have other rows inside of their quotes, and their number.
    /// Whether the ids of the references are the numbers of their lines or rows.
    pub(crate) fn has_line_ids(&self) -> bool {
        self.references.has_lines()
    }

    pub(crate) fn rows_in_quotes(&self) -> (Counted, u64) {
        let sides = [Some(&self.references), self.predictions.as_ref()];
        let rows = sides.into_iter().flatten().map(|reader| reader.with_rows);
        let what = |has| {
            let text = format!(
                "{has} a field in quotes that spans several lines with as many tabs as rows have: if quotes are part of the text, use "
            );
            Message::from(text).option("quote", "none")
        };
        (Counted::new(what("row has"), what("rows have")), rows.sum())
    }

    /// Whether predictions have a source of their own.
    pub(crate) fn has_predictions(&self) -> bool {
        self.predictions.is_some()
    }

    /// Whether the predictions are a source of their own without records, as far as this run holds them.
    pub(crate) fn has_no_predictions(&self) -> bool {
        let mut predictions = self.predictions.iter();
        predictions.any(|reader| reader.records == 0)
    }

    pub(crate) fn references_read(&self) -> u64 {
        self.next_ordinal
    }

    pub(crate) fn reference_name(&self) -> String {
        self.references.input.source.name()
    }

    /// After the last pair: checks that no id occurs twice, and gives what found no partner.
    pub(crate) fn finish(&mut self) -> Result<Leftovers, RunError> {
        self.sort_reference_ids();
        let unselected = self.refuse_selection();
        self.keep(unselected)?;
        let repeated = self.references.refuse_repeated();
        self.keep(repeated)?;
        let counts = self.refuse_row_counts();
        self.keep(counts)?;
        let absent = self.refuse_absent_field();
        self.keep(absent)?;
        let missing = self.rest(Side::Reference)?;
        let extra = self.rest(Side::Prediction)?;
        let mut first_extra = Vec::new();
        let mut repeated = 0;
        let mut prints = Vec::with_capacity(extra.len());
        for slot in &extra {
            let held = self.waiting.load(*slot)?;
            // A prediction without a partner whose id is that of a reference came second.
            if let Some(predictions) = &mut self.predictions
                && self.references.seen.contain(held.id())
            {
                predictions.suspects.insert(held.id().to_owned());
                if self.errors.is_some() {
                    repeated += 1;
                    continue;
                }
            }
            prints.push((fingerprint(Id::Text(held.id())), *slot));
            first_extra.push((held.waiter().line, held.id().to_owned()));
            // A file of JSON may have all of its ids in one line.
            if first_extra.len() >= 64 * NAMED_IDS {
                first_extra.sort_unstable();
                first_extra.truncate(NAMED_IDS);
            }
        }
        first_extra.sort_unstable();
        repeated += self.suspect_extra(prints)?;
        let of_predictions = self.predictions.as_ref().map(Reader::refuse_repeated);
        self.keep(of_predictions.unwrap_or(Ok(())))?;
        let mut first_missing = Vec::new();
        let mut missing_count = missing.len() as u64;
        // A run has ended if an id occurs twice; in a check, the second record need not have a prediction.
        let looked_at = match self.errors {
            Some(_) => missing.len(),
            None => NAMED_IDS.min(missing.len()),
        };
        for slot in &missing[..looked_at] {
            let held = self.waiting.load(*slot)?;
            if self.errors.is_some() && self.references.seen.contain_twice(held.id()) {
                missing_count -= 1;
            } else if first_missing.len() < NAMED_IDS {
                first_missing.push(held.id().to_owned());
            }
        }
        let first_extra = first_extra.into_iter().map(|(_, id)| id).take(NAMED_IDS);
        let predictions = self.predictions.as_ref();
        let are_lines = self.references.has_lines() && predictions.is_none_or(Reader::has_lines);
        let name = |reader: Option<&Reader>| {
            reader.map_or_else(String::new, |reader| reader.input.source.name())
        };
        let references = name(Some(&self.references));
        let predictions = name(Some(self.predictions.as_ref().unwrap_or(&self.references)));
        let missing_ids = Unmatched {
            source: references.clone(),
            other: predictions.clone(),
            count: missing_count,
            ids: first_missing,
            are_lines,
        };
        let surplus = std::mem::take(&mut self.surplus.ids);
        let extra_ids = Unmatched {
            source: predictions,
            other: references,
            count: extra.len() as u64 - repeated + self.surplus.count,
            ids: first_extra.chain(surplus).take(NAMED_IDS).collect(),
            are_lines,
        };
        Ok(Leftovers {
            extra: extra_ids.count,
            missing,
            missing_ids,
            extra_ids,
        })
    }

    /// What found no partner, other than the records whose partner was left out by the selection. References that have a
    /// field say alone by it what is scored.
    fn rest(&mut self, side: Side) -> Result<Vec<Slot>, RunError> {
        let mut rest = self.waiting.rest(side)?;
        let Some(predictions) = &mut self.predictions else {
            return Ok(rest);
        };
        let (partners, fields) = match side {
            Side::Reference => (&mut predictions.tally, !self.references.tally.found),
            Side::Prediction => (&mut self.references.tally, u64::MAX),
        };
        if partners.bytes() == 0 {
            return Ok(rest);
        }
        partners.sort();
        let mut failed = None;
        rest.retain(|slot| match self.waiting.load(*slot) {
            Ok(held) => !partners.has_left_out(Id::Text(held.id()), fields),
            Err(error) => {
                failed.get_or_insert(error);
                false
            }
        });
        failed.map_or(Ok(rest), Err)
    }

    /// Refuses a selection by a field that no record has, or of no record.
    fn refuse_selection(&self) -> Result<(), RunError> {
        let selection = self.references.input.selection.as_ref();
        selection.map_or(Ok(()), |selection| {
            let name = self.reference_name();
            self.tallies().refuse(selection, &name, self.is_part)
        })
    }

    fn tallies(&self) -> Tallies<'_> {
        Tallies {
            references: &self.references.tally,
            predictions: self.predictions.as_ref().map(|reader| &reader.tally),
        }
    }

    /// The number of records that were selected, if there are conditions.
    pub(crate) fn selected(&self) -> Option<Selected> {
        let selection = self.references.input.selection.as_ref()?;
        Some(self.tallies().selected(selection))
    }

    /// Suspects the ids of predictions without a reference, given with their fingerprints, that occur twice. Returns the
    /// number of further records that have them.
    fn suspect_extra(&mut self, mut extra: Vec<(u64, Slot)>) -> Result<u64, RunError> {
        let Some(predictions) = &mut self.predictions else {
            return Ok(0);
        };
        extra.sort_unstable_by_key(|(print, _)| *print);
        let mut repeated = 0;
        let same_print = extra.chunk_by(|(print, _), (next, _)| print == next);
        for same_print in same_print.filter(|it| it.len() > 1) {
            let mut ids = BTreeSet::new();
            for (_, slot) in same_print {
                let held = self.waiting.load(*slot)?;
                if ids.contains(held.id()) {
                    predictions.suspects.insert(held.id().to_owned());
                    repeated += 1;
                } else {
                    ids.insert(held.id().to_owned());
                }
            }
        }
        Ok(repeated)
    }

    /// Sorts the fingerprints of reference ids, if ids are looked up among them or may occur twice.
    fn sort_reference_ids(&mut self) {
        if let Seen::Prints(prints) = &mut self.references.seen {
            let is_looked_up = self.waiting.has_any(Side::Prediction);
            if self.references.rising.is_none() || is_looked_up {
                match self.width {
                    1 => prints.sort_unstable(),
                    _ => prints.par_sort_unstable(),
                }
            } else {
                prints.clear();
            }
        }
    }

    /// Keeps an error of a check, which goes on.
    fn keep(&mut self, checked: Result<(), RunError>) -> Result<(), RunError> {
        match (checked, &mut self.errors) {
            (Err(error), Some(errors)) if error.kind() == ErrorKind::Input => {
                errors.push(error);
                Ok(())
            }
            (checked, _) => checked,
        }
    }

    /// The errors of a check that are about a whole source.
    pub(crate) fn take_errors(&mut self) -> Vec<RunError> {
        self.errors.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The name of a source, the number of its valid records, and what a check found in it.
    pub(crate) fn take_side(&mut self, side: Side) -> Option<(String, u64, Refused)> {
        let reader = match side {
            Side::Reference => &mut self.references,
            Side::Prediction => self.predictions.as_mut()?,
        };
        let refused = reader.refused.take().unwrap_or_default();
        Some((reader.input.source.name(), reader.records, refused))
    }

    /// References without a prediction, as pairs.
    pub(crate) fn missing(&self, slots: &[Slot]) -> Result<Vec<Pair>, RunError> {
        let pair = |slot: &Slot| {
            let held = self.waiting.load(*slot)?;
            Ok(Pair {
                ordinal: held.ordinal,
                reference: End::Held(Box::new(held)),
                prediction: End::Missing,
            })
        };
        slots.iter().map(pair).collect()
    }
}

/// Where one `.json` file is one example, the other is one too, whatever its values look like. If it is the
/// predictions that are one, and the references are a map of ids to examples, the predictions are refused.
fn agree_on_whole_files(sides: &[(&Reader, &mut Block, bool)], scanned: &mut [Scanned]) {
    let is_json = |reader: &Reader| reader.format == Format::Json;
    let is_whole = |((reader, ..), scanned): (&(&Reader, &mut Block, bool), &Scanned)| match scanned
    {
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
            *scanned = Err(error.into());
        }
        return;
    }
    for ((reader, block, _), scanned) in sides.iter().zip(scanned) {
        if is_json(reader)
            && let Some(found) = file_record(&block.text)
        {
            let shard = reader.shard;
            let is_held = shard.is_none_or(|shard| shard.holds(&found.id(&block.text).to_string()));
            *scanned = Ok(ScannedBlock {
                found: Vec::from_iter(is_held.then_some(found)),
                tally: Tally::default(),
                prints: Vec::new(),
                lines: 1,
                first_words: None,
                has_other: false,
                is_rising: false,
                refused: Vec::new(),
                failed: None,
            });
        }
    }
}

/// The order of two lines; other ids have none.
fn line_order(a: Id<'_>, b: Id<'_>) -> Ordering {
    match (a, b) {
        (Id::Line(a), Id::Line(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    }
}

fn same_id(a: Id<'_>, b: Id<'_>) -> bool {
    match (a, b) {
        (Id::Text(a), Id::Text(b)) => a == b,
        (Id::Line(a), Id::Line(b)) => a == b,
        _ => a.to_string() == b.to_string(),
    }
}

#[cfg(test)]
mod tests;
