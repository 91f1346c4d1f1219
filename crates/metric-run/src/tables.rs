//! Scores tables in memory: references and predictions as columns, without a detour through JSON.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::{Duration, Instant};

use metric_record::{
    Batch, BatchError, Column, Duplicate, FieldPath, Id, Ids, JoinError, NAMED_IDS, ReadError,
    RecordError, Shard, Side, Unmatched, Value, quoted_id,
};
use metric_registry::{Part, Place, State};
use rayon::prelude::*;

use crate::grouped::GroupedTable;
use crate::interrupt::{is_over, refuse_interrupted, watch};
use crate::observer::Nobody;
use crate::run::{Run, add};
use crate::selecting::{Tallies, Tally};
use crate::statistics::refuse_kept;
use crate::threads::{mapped, on_threads, or_cores};
use crate::waiter::fingerprint;
use crate::words::counted;
use crate::{Outcome, RunError, SampleTable, Selected};

/// References or predictions in memory, one row per record.
///
/// ```
/// use metric_run::Table;
/// use metric_run::record::{Cells, Column, Ids, Texts};
///
/// let answers = ["cat", "dog"];
/// let table = Table::new("predictions", Column::Texts(Texts::from(&answers[..])));
/// assert!(matches!(table.ids, Ids::Positions(1)));
///
/// let ids = Ids::Integers(Cells::from(&[17, 18][..]));
/// let table = Table { ids, ..table };
/// assert_eq!(table.values.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Table<'a> {
    /// The name, for messages.
    pub name: &'a str,
    /// The ids. If both tables have positions, rows are joined by position: both must have the same number of
    /// rows, and the ids are those of the references.
    pub ids: Ids<'a>,
    /// The references or the predictions.
    pub values: Column<'a>,
    /// Further columns by name, such as weights. Metrics look for them among the references; those of
    /// predictions are not used.
    pub fields: Vec<(&'a str, Column<'a>)>,
}

impl<'a> Table<'a> {
    /// Returns the table of these values, without further fields. The ids are the positions, counted from 1.
    #[must_use]
    pub const fn new(name: &'a str, values: Column<'a>) -> Self {
        Self {
            name,
            ids: Ids::Positions(1),
            values,
            fields: Vec::new(),
        }
    }

    /// The same table without a copy.
    fn view(&self) -> Table<'_> {
        let fields = self.fields.iter();
        Table {
            name: self.name,
            ids: match &self.ids {
                Ids::Texts(ids) => Ids::Texts(ids.slice(0..ids.len())),
                ids => ids.clone(),
            },
            values: self.values.slice(0..self.values.len()),
            fields: fields
                .map(|(name, column)| (*name, column.slice(0..column.len())))
                .collect(),
        }
    }
}

impl Run {
    /// Scores two tables: the outcome of each metric, in the order in which they were added.
    ///
    /// Tables are joined as files are, strictly by id and under the same policies and shards. Where both
    /// tables have the same ids in the same order, nothing is copied, and metrics that have a path for columns
    /// read whole columns. If the run [wants samples](Self::samples), each outcome has
    /// [a table of them](Outcome::samples).
    ///
    /// # Errors
    ///
    /// Returns an error if the columns of a table do not fit together, if the two tables do not join, if the statistics
    /// that are requested make no sense, or if a metric cannot read a record. If several records cannot be read, the first one is returned, on any number of threads.
    ///
    /// # Cost
    ///
    /// For the join of ids in the same order, nothing if they ascend and 24 bytes per record otherwise. For
    /// other orders and for shards, up to 80 bytes per record, and the metric reads record by record.
    ///
    /// ```
    /// use metric_run::record::{Cells, Column, Ids, Texts};
    /// use metric_run::registry::{Options, find};
    /// use metric_run::{Run, Table};
    ///
    /// # #[cfg(feature = "text")] {
    /// let table = |name, ids, texts| Table {
    ///     ids: Ids::Integers(Cells::from(ids)),
    ///     ..Table::new(name, Column::Texts(Texts::from(texts)))
    /// };
    /// let references = table("references", &[1, 2, 3][..], &["cat", "dog", "emu"][..]);
    /// let predictions = table("predictions", &[3, 2, 1], &["emu", "cow", "cat"]);
    /// let entry = find("string-accuracy").ok_or("not there")?;
    /// let run = Run::new(entry, &Options::default())?;
    /// let outcomes = run.score_tables(references.clone(), predictions)?;
    /// assert_eq!(outcomes[0].report().score("string_accuracy"), Some(2.0 / 3.0));
    ///
    /// let predictions = table("predictions", &[1, 3], &["cat", "emu"]);
    /// let error = run.score_tables(references, predictions).unwrap_err();
    /// assert!(error.to_string().contains("1 reference of references: id \"2\""));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn score_tables(
        &self,
        references: Table<'_>,
        predictions: Table<'_>,
    ) -> Result<Vec<Outcome>, RunError> {
        self.check_results()?;
        let Some(field) = self.group_field() else {
            return self.score_rows(references, predictions);
        };
        let further = self.read_fields();
        // The samples of an example are selected before they are gathered.
        let samples = Table {
            fields: references.view().fields,
            ..predictions.view()
        };
        let samples = Rows::new(&samples)?.selected_by(Some(self))?;
        let is_selected = |row: usize| samples.is_selected(row);
        let of_samples = (&samples.table, &references.fields[..]);
        let grouped = GroupedTable::new(of_samples, field, &further, is_selected)?;
        let [references, predictions] =
            [references.name, samples.table.name].map(|name| grouped.table(name));
        self.score_selected(references, predictions, samples.tally.as_ref())
    }

    fn score_rows(
        &self,
        references: Table<'_>,
        predictions: Table<'_>,
    ) -> Result<Vec<Outcome>, RunError> {
        self.score_selected(references, predictions, None)
    }

    /// Scores tables, or the samples that were selected.
    fn score_selected(
        &self,
        references: Table<'_>,
        predictions: Table<'_>,
        selected: Option<&Tally>,
    ) -> Result<Vec<Outcome>, RunError> {
        // Rows that were made of selected samples are not selected again.
        let run = selected.map_or(Some(self), |_| None);
        let score = |threads| {
            let tables = Tables {
                run: self,
                references: Rows::new(&references)?.selected_by(run)?,
                predictions: Rows::new(&predictions)?.selected_by(run)?,
                selected,
                threads,
            };
            tables.score()
        };
        let rows = references.values.len().max(predictions.values.len());
        // Starting a thread takes longer than reading a few records, and one thread needs no other. Replicates
        // are divided however few records there are.
        if self.statistics.is_some() {
            return self.on_threads(score);
        }
        let threads = or_cores(self.threads).min(rows.max(1));
        on_threads(NonZeroUsize::new(threads), || score(threads))
    }
}

impl Run {
    /// Scores a few pairs of a prediction and a reference: the scores of the metric in the order in which its entry
    /// lists them. `None` where only [`score_tables`](Self::score_tables) can tell: for metrics without such a short
    /// way, for a run of several metrics or with more than scores, for no pairs, and for pairs that it refuses.
    ///
    /// ```
    /// use metric_run::Run;
    /// use metric_run::registry::{Options, find};
    ///
    /// # #[cfg(feature = "text")] {
    /// let run = Run::new(find("exact-match").ok_or("not there")?, &Options::default())?;
    /// assert_eq!(run.score_texts(&[("cat", "cat"), ("dog", "emu")]), Some(vec![Some(0.5)]));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        let has_more = self.samples || self.statistics.is_some() || !self.slices.is_empty();
        let has_more = has_more || self.selection.is_some();
        match &self.metrics[..] {
            [chosen] if !has_more && self.shard.is_none() && !pairs.is_empty() => {
                chosen.scorer.score_texts(pairs)
            }
            _ => None,
        }
    }
}

/// A table whose columns fit together.
struct Rows<'t> {
    table: Table<'t>,
    /// The records of the table: both sides are its values.
    records: Batch<'t>,
    /// Whether each row is selected; empty for all.
    selected: Vec<bool>,
    /// What the selection found, if there is one.
    tally: Option<Tally>,
}

impl<'t> Rows<'t> {
    fn new(table: &'t Table<'_>) -> Result<Self, RunError> {
        let view = table.view();
        let records = Batch::new(view.ids, view.values.clone(), view.values, view.fields);
        let records = records.map_err(|error| ReadError::new(table.name, problem(&error)))?;
        Ok(Self {
            table: table.view(),
            records,
            selected: Vec::new(),
            tally: None,
        })
    }

    /// The same with the rows that a run selects.
    fn selected_by(mut self, run: Option<&Run>) -> Result<Self, RunError> {
        let selection = run.and_then(|run| Some((run, run.selection.as_ref()?)));
        let Some((run, selection)) = selection else {
            return Ok(self);
        };
        let wanted = |name: &str| {
            let mut fields = selection.fields().map(FieldPath::new);
            fields.any(|path| path.name() == name || path.parts().next() == Some(name))
        };
        let Table { ids, values, .. } = self.table.view();
        let mut fields = self.table.view().fields;
        let names = fields.iter().map(|(name, _)| name.to_string()).collect();
        fields.retain(|(name, _)| wanted(name));
        let batch = Batch::new(ids, values.clone(), values, fields);
        let batch = batch.map_err(|error| ReadError::new(self.table.name, problem(&error)))?;
        let (mut tally, mut buffer) = (Tally::of_fields(names), String::new());
        let holds = |id: Id<'_>| run.shard.is_none_or(|it| it.holds(&id.to_string()));
        for row in 0..batch.len() {
            let judged = batch
                .record_with_fields(row, &mut buffer)
                .and_then(|record| {
                    let id = record.as_ref().map_or(Id::Text(""), |record| record.id);
                    let fields = record.as_ref().and_then(|record| record.fields);
                    tally.judge(selection, (id, fields), holds(id))
                });
            let is_selected = judged.map_err(|error| {
                let location = (self.table.name, None, "");
                RunError::record(location, self.id(row), error)
            })?;
            self.selected.push(is_selected);
        }
        tally.sort();
        self.tally = Some(tally);
        Ok(self)
    }

    fn is_selected(&self, row: usize) -> bool {
        self.selected.is_empty() || self.selected.get(row) == Some(&true)
    }

    /// The rows whose partner was not left out by one of these fields of the other table.
    fn without_left_out(&self, mut rows: Vec<usize>, other: &Self, fields: u64) -> Vec<usize> {
        if let Some(tally) = &other.tally {
            rows.retain(|row| !tally.has_left_out(self.id(*row), fields));
        }
        rows
    }

    fn has_positions(&self) -> bool {
        matches!(self.table.ids, Ids::Positions(_))
    }

    fn id(&self, row: usize) -> Id<'_> {
        self.records.id(row).unwrap_or(Id::Text(""))
    }

    /// The rows that a shard holds.
    fn held(&self, shard: Option<Shard>) -> Vec<usize> {
        let holds = |row: &usize| {
            shard.is_none_or(|shard| match self.id(*row) {
                Id::Text(id) => shard.holds(id),
                id => shard.holds(&id.to_string()),
            })
        };
        let rows = (0..self.records.len()).filter(|row| self.is_selected(*row));
        rows.filter(holds).collect()
    }

    /// Whether each id is above the one before it, so that none occurs twice.
    fn ascend(&self) -> bool {
        match &self.table.ids {
            Ids::Texts(ids) => ids.iter().is_sorted_by(|a, b| a < b),
            Ids::Integers(ids) => ids.values().is_sorted_by(|a, b| a < b),
            ids => matches!(ids, Ids::Positions(_)),
        }
    }

    /// Whether another table has the same ids in the same order.
    fn has_ids_of(&self, other: &Self) -> bool {
        let len = self.records.len();
        len == other.records.len()
            && match (&self.table.ids, &other.table.ids) {
                (Ids::Texts(ids), Ids::Texts(others)) => ids.iter().eq(others.iter()),
                (Ids::Integers(ids), Ids::Integers(others)) => ids.values() == others.values(),
                _ => (0..len).all(|row| self.id(row) == other.id(row)),
            }
    }

    /// The fingerprint of each row's id, with the row, in order.
    fn prints(&self, rows: &[usize], threads: usize) -> Vec<(u64, usize)> {
        let print = |&row: &usize| (fingerprint(self.id(row)), row);
        let mut prints = mapped(rows, threads, print);
        match threads {
            1 => prints.sort_unstable(),
            _ => prints.par_sort_unstable(),
        }
        prints
    }

    /// Fails if an id occurs more than once.
    fn refuse_repeated(&self, prints: &[(u64, usize)]) -> Result<(), RunError> {
        let mut rows: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let runs = prints.chunk_by(|a, b| a.0 == b.0);
        for &(_, row) in runs.filter(|run| run.len() > 1).flatten() {
            rows.entry(self.id(row).to_string()).or_default().push(row);
        }
        rows.retain(|_, rows| rows.len() > 1);
        let Some((id, _)) = rows.iter().min_by_key(|(_, rows)| rows.first().copied()) else {
            return Ok(());
        };
        let others = rows.keys().filter(|other| *other != id);
        let others = others.take(NAMED_IDS - 1).cloned().collect();
        let duplicate = Duplicate::new(self.table.name, id, rows.len() as u64, others);
        Err(JoinError::Duplicate(duplicate).into())
    }

    fn unmatched(&self, rows: &[usize], other: &Self) -> Unmatched {
        let named = rows.iter().take(NAMED_IDS);
        Unmatched {
            source: self.table.name.to_owned(),
            other: other.table.name.to_owned(),
            count: rows.len() as u64,
            ids: named.map(|&row| self.id(row).to_string()).collect(),
            are_lines: false,
        }
    }
}

/// The error in the columns of a table.
fn problem(error: &BatchError) -> String {
    let [row, id, value] =
        ["row", "id", "value"].map(|one| move |count: usize| counted(count as u64, one));
    match error {
        BatchError::LengthMismatch {
            found, expected, ..
        } => format!("{}, but {}", id(*found), row(*expected)),
        BatchError::FieldLength {
            name,
            found,
            expected,
        } => format!(
            "field {}: {}, but {}",
            quoted_id(name),
            value(*found),
            row(*expected)
        ),
        other => other.to_string(),
    }
}

/// The way in which the rows of two tables are paired.
enum Pairing {
    /// Each row with the row at its index. The number of rows.
    InOrder(usize),
    /// Rows of references with those of their predictions, in the order of the references.
    Rows(Vec<(usize, Option<usize>)>),
}

impl Pairing {
    fn len(&self) -> usize {
        match self {
            Self::InOrder(rows) => *rows,
            Self::Rows(pairs) => pairs.len(),
        }
    }

    /// The row of the reference of a pair.
    fn reference(&self, index: usize) -> usize {
        match self {
            Self::InOrder(_) => index,
            Self::Rows(pairs) => pairs.get(index).map_or(0, |pair| pair.0),
        }
    }
}

/// The data read from a slice of the records, one part per metric.
struct Slice {
    parts: Vec<Part>,
    /// The record that ended the slice.
    error: Option<RecordError>,
}

/// At most this many records are read at once where records or samples take memory.
const SLICE: usize = 4096;

/// The number of rows of the first slices of work that may be ended early, and the time that slices take before they
/// grow.
const FIRST_ROWS: usize = 64;
const SHORT: Duration = Duration::from_millis(20);

/// Two tables that are scored by a run.
struct Tables<'t> {
    run: &'t Run,
    references: Rows<'t>,
    predictions: Rows<'t>,
    /// What was selected before the tables were made.
    selected: Option<&'t Tally>,
    threads: usize,
}

impl Tables<'_> {
    fn score(&self) -> Result<Vec<Outcome>, RunError> {
        let selected = self.count_selected()?;
        let (pairing, extra) = self.pair()?;
        let (states, samples) = match &pairing {
            Pairing::InOrder(_) => {
                let batch = self.batch()?;
                self.fold(&pairing, |slice, states| {
                    self.read_columns(&batch.slice(slice), states)
                })?
            }
            Pairing::Rows(pairs) => self.fold(&pairing, |slice, states| {
                self.read_rows(pairs.get(slice).unwrap_or_default(), states)
            })?,
        };
        let problem = match pairing.len() {
            0 => "has no records: expected at least one",
            _ => "has no examples that could be scored",
        };
        let found = states.into_iter().zip(samples).zip(&self.run.metrics);
        found
            .map(|((mut state, samples), chosen)| {
                state.count_extra(extra);
                let mut outcome = self.run.outcome(chosen, state, &Nobody)?;
                outcome.set_selected(selected.clone());
                self.run
                    .refuse_empty(&outcome, self.references.table.name, problem)?;
                if self.run.samples {
                    outcome.set_samples(samples);
                }
                Ok(outcome)
            })
            .collect()
    }

    /// The number of selected rows, of which there are some.
    fn count_selected(&self) -> Result<Option<Selected>, RunError> {
        let of_rows = self.references.tally.as_ref();
        let (Some(selection), Some(references)) = (&self.run.selection, of_rows.or(self.selected))
        else {
            return Ok(None);
        };
        let predictions = self.predictions.tally.as_ref();
        let tallies = Tallies {
            references,
            predictions,
        };
        let is_part = self.run.is_part || self.run.shard.is_some();
        tallies.refuse(selection, self.references.table.name, is_part)?;
        Ok(Some(tallies.selected(selection)))
    }

    /// Joins the tables. The second value is the number of predictions that are left out.
    fn pair(&self) -> Result<(Pairing, u64), RunError> {
        let (references, predictions) = (&self.references, &self.predictions);
        let shard = self.run.shard;
        let len = references.records.len();
        let is_whole = shard.is_none() && references.tally.is_none();
        if references.has_positions() && predictions.has_positions() {
            self.refuse_lengths()?;
            if is_whole {
                return Ok((Pairing::InOrder(len), 0));
            }
            let rows = references.held(shard).into_iter();
            let rows = rows.filter(|row| predictions.is_selected(*row));
            let pairs = rows.map(|row| (row, Some(row))).collect();
            return Ok((Pairing::Rows(pairs), 0));
        }
        let in_order = is_whole && references.has_ids_of(predictions);
        if in_order && references.ascend() {
            return Ok((Pairing::InOrder(len), 0));
        }
        let rows = references.held(shard);
        let prints = references.prints(&rows, self.threads);
        references.refuse_repeated(&prints)?;
        if in_order {
            return Ok((Pairing::InOrder(len), 0));
        }
        let of_predictions = predictions.prints(&predictions.held(shard), self.threads);
        predictions.refuse_repeated(&of_predictions)?;
        let partners = self.partners(&prints, &of_predictions);
        let partner = |row: usize| partners.get(row).copied().flatten();
        let pairs = rows.into_iter().map(|row| (row, partner(row)));
        let (mut pairs, missing): (Vec<_>, Vec<_>) = pairs.partition(|pair| pair.1.is_some());
        let missing = missing.into_iter().map(|pair| pair.0).collect();
        // References that have a field say alone by it what is scored.
        let found = references.tally.as_ref().map_or(0, |tally| tally.found);
        let missing = references.without_left_out(missing, predictions, !found);
        if !missing.is_empty() {
            pairs.extend(missing.iter().map(|row| (*row, None)));
            pairs.sort_unstable_by_key(|pair| pair.0);
        }
        let mut is_extra = vec![false; predictions.records.len()];
        let mut set = |row: usize, value| {
            if let Some(is_extra) = is_extra.get_mut(row) {
                *is_extra = value;
            }
        };
        of_predictions.iter().for_each(|print| set(print.1, true));
        pairs
            .iter()
            .filter_map(|pair| pair.1)
            .for_each(|row| set(row, false));
        let extra = is_extra
            .iter()
            .enumerate()
            .filter(|(_, is_extra)| **is_extra);
        let extra = extra.map(|(row, _)| row).collect();
        let extra = predictions.without_left_out(extra, references, u64::MAX);
        self.run.refuse_unmatched(
            references.unmatched(&missing, predictions),
            predictions.unmatched(&extra, references),
        )?;
        Ok((Pairing::Rows(pairs), extra.len() as u64))
    }

    /// The row of the prediction of each reference, by a walk over the fingerprints of both.
    fn partners(
        &self,
        references: &[(u64, usize)],
        mut predictions: &[(u64, usize)],
    ) -> Vec<Option<usize>> {
        let mut partners = vec![None; self.references.records.len()];
        for &(print, row) in references {
            let before = predictions.iter().take_while(|other| other.0 < print);
            predictions = predictions.get(before.count()..).unwrap_or_default();
            let id = self.references.id(row);
            // Ids that share a fingerprint are told apart.
            let mut same = predictions.iter().take_while(|other| other.0 == print);
            let found = same.find(|other| self.predictions.id(other.1) == id);
            if let Some(partner) = partners.get_mut(row) {
                *partner = found.map(|found| found.1);
            }
        }
        partners
    }

    fn refuse_lengths(&self) -> Result<(), RunError> {
        let [expected, found] = [&self.references, &self.predictions].map(|it| it.records.len());
        if expected == found {
            return Ok(());
        }
        let problem = format!(
            "has {}: expected {expected}, as in {} (rows without ids are joined by position)",
            counted(found as u64, "row"),
            self.references.table.name
        );
        Err(ReadError::new(self.predictions.table.name, problem).into())
    }

    /// Both tables as one batch.
    fn batch(&self) -> Result<Batch<'_>, RunError> {
        let (references, predictions) = (&self.references.table, &self.predictions.table);
        let (references, predictions) = (references.view(), predictions.view());
        let batch = Batch::new(
            references.ids,
            predictions.values,
            references.values,
            references.fields,
        );
        let batch = batch.map_err(|error| RunError::Internal(error.to_string()))?;
        Ok(batch.with_join(self.run.join))
    }

    fn read_columns(&self, batch: &Batch<'_>, states: &[State]) -> Slice {
        let metrics = self.run.metrics.iter().zip(states);
        let samples = self.run.samples;
        Slice {
            parts: metrics
                .map(|(chosen, state)| chosen.scorer.read_columns(state, batch, samples))
                .collect(),
            error: None,
        }
    }

    fn read_rows(&self, pairs: &[(usize, Option<usize>)], states: &[State]) -> Slice {
        let mut records = Vec::with_capacity(pairs.len());
        let mut error = None;
        let mut fields = vec![String::new(); pairs.len()];
        for (index, (pair, fields)) in pairs.iter().zip(&mut fields).enumerate() {
            match self.references.records.record_with_fields(pair.0, fields) {
                Ok(Some(mut record)) => {
                    let predictions = self.predictions.records.predictions();
                    let prediction = pair.1.map(|row| predictions.value(row));
                    record.prediction = prediction.unwrap_or(Value::missing());
                    record.join = self.run.join;
                    records.push(record);
                }
                Ok(None) => {}
                Err(found) => {
                    error = Some(RecordError {
                        index,
                        error: found,
                    });
                    break;
                }
            }
        }
        let metrics = self.run.metrics.iter().zip(states);
        let samples = self.run.samples;
        Slice {
            parts: metrics
                .map(|(chosen, state)| chosen.scorer.read(state, &mut records.clone(), samples))
                .collect(),
            error,
        }
    }

    /// Reads slices in parallel and adds them in order.
    fn fold(
        &self,
        pairing: &Pairing,
        read: impl Fn(Range<usize>, &[State]) -> Slice + Sync,
    ) -> Result<(Vec<State>, Vec<SampleTable>), RunError> {
        let metrics = &self.run.metrics;
        let mut states = self.run.start_in([Place::Anywhere, Place::Anywhere]);
        let mut samples = vec![SampleTable::default(); metrics.len()];
        let len = pairing.len();
        let most = self.most_rows(pairing);
        // Whoever may end the work waits for the slices at hand, so that slow ones are small.
        let mut size = watch().map_or(most, |_| FIRST_ROWS.min(most));
        let mut start = 0;
        while start < len {
            let clock = Instant::now();
            let end = (start + 8 * self.threads * size).min(len);
            let starts = (start..end).step_by(size);
            let ranges: Vec<_> = starts.map(|first| first..(first + size).min(end)).collect();
            let read_range = |range: &Range<usize>| {
                let is_wanted = !is_over();
                is_wanted.then(|| read(range.clone(), &states))
            };
            let slices = mapped(&ranges, self.threads, read_range);
            refuse_interrupted()?;
            let mut slices: Vec<Slice> = slices.into_iter().flatten().collect();
            for (range, slice) in ranges.iter().zip(&mut slices) {
                let location = |error: RecordError| {
                    let row = pairing.reference(range.start + error.index);
                    self.record_error(row, error)
                };
                for (state, part) in states.iter_mut().zip(&mut slice.parts) {
                    add(state, part, location)?;
                }
                if let Some(error) = slice.error.take() {
                    return Err(location(error));
                }
                for state in &states {
                    refuse_kept(state, self.references.table.name)?;
                }
            }
            if self.run.samples {
                let of_slice = |slice: &Slice| -> Vec<SampleTable> {
                    let parts = slice.parts.iter().zip(&states);
                    parts
                        .map(|(part, state)| part.samples(state).iter().collect())
                        .collect()
                };
                for tables in mapped(&slices, self.threads, of_slice) {
                    for (all, table) in samples.iter_mut().zip(tables) {
                        all.append(table);
                    }
                }
            }
            start = end;
            if clock.elapsed() < SHORT {
                size = (4 * size).min(most);
            }
        }
        Ok((states, samples))
    }

    /// The maximum number of rows of a slice.
    fn most_rows(&self, pairing: &Pairing) -> usize {
        let len = pairing.len();
        let even = match self.threads {
            1 => len,
            threads => len.div_ceil(4 * threads),
        };
        let most = match pairing {
            Pairing::InOrder(_) if !self.run.samples => even,
            _ => even.min(SLICE),
        };
        most.max(1)
    }

    /// A record that a metric cannot read, by the row of its reference.
    fn record_error(&self, row: usize, error: RecordError) -> RunError {
        let table = match error.error.side {
            Side::Prediction => &self.predictions.table,
            Side::Reference => &self.references.table,
        };
        let location = (table.name, None, "");
        RunError::record(location, self.references.id(row), error.error)
    }
}
