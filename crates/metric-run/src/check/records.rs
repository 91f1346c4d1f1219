//! Checks of data that are records joined by id.

use std::sync::Arc;

use metric_record::{FieldError, JoinError, JoinPolicy, Missing, ReadError, Record, Side, Value};
use metric_registry::{AddError, Counted, Part, State};
use rayon::prelude::*;

use super::{Findings, ProblemKind};
use crate::join::{Input, Join, JoinOptions, Leftovers, Pair, Pairs, PairsUnit};
use crate::observer::Nobody;
use crate::run::{MISSING_RECORDS, width_of};
use crate::waiting::WINDOW;
use crate::{Run, RunError};

impl Run {
    pub(super) fn check_records(
        &self,
        references: Input,
        predictions: Option<Input>,
        warnings: Vec<(Counted, u64)>,
        threads: usize,
        found: &mut Findings,
    ) -> Result<(), RunError> {
        let Some(first) = self.metrics.first() else {
            return Ok(());
        };
        let has_fields = references.source.has_fields()?;
        self.check_statistics(has_fields, &references.source.name())?;
        found.states = self.start();
        let options = JoinOptions {
            policy: self.join,
            shard: self.shard,
            max_bytes: self.max_bytes,
            width: width_of(threads),
            is_part: self.is_part,
            is_check: true,
            has_fields: self.reads_fields(&Nobody),
            window: WINDOW,
        };
        if !self.can_open([Some(&references), predictions.as_ref()], found)? {
            return Ok(());
        }
        let whole_file = first.entry.whole_file;
        let mut join = Join::new(
            references,
            predictions,
            whole_file,
            options,
            &Arc::default(),
        )?;
        let reading = Reading { run: self, threads };
        while let Some(pairs) = join.next()? {
            join.ahead(|join| reading.add(join, &pairs, found))?;
        }
        let left = join.finish()?;
        let line_ids = join.refuse_line_ids();
        self.check_sides(&mut join, &left, line_ids, found)?;
        for slots in left.missing.chunks(MISSING_RECORDS) {
            let pairs = Pairs::apart(join.missing(slots)?);
            match self.join.missing {
                Missing::Error => reading.read_references(&join, &pairs, found),
                _ => reading.add(&join, &pairs, found)?,
            }
        }
        let rows_in_quotes = join.rows_in_quotes();
        for state in &mut found.states {
            state.count_extra(left.extra);
            state.count(&rows_in_quotes.0, rows_in_quotes.1);
            for (warning, times) in &warnings {
                state.count(warning, *times);
            }
        }
        let has_scores = found.states.iter().all(State::has_scores);
        if !has_scores && found.problems.found.is_empty() {
            let problem = match join.references_read() {
                0 => "has no records: expected at least one",
                _ => "has no examples that could be scored",
            };
            let name = join.reference_name();
            found
                .problems
                .add(&name, ReadError::new(&name, problem).into())?;
        }
        Ok(())
    }

    /// Whether all sources can be opened. One that cannot be opened twice is opened later.
    fn can_open(
        &self,
        inputs: [Option<&Input>; 2],
        found: &mut Findings,
    ) -> Result<bool, RunError> {
        let inputs = inputs.into_iter().flatten();
        for Input { source, names, .. } in inputs.filter(|input| input.source.is_rereadable()) {
            if let Err(error) = source.open(names, &Arc::default(), self.max_bytes) {
                found.problems.add(&source.name(), error)?;
                found.problems.is_cut = true;
            }
        }
        Ok(!found.problems.is_cut)
    }

    /// Takes over what is wrong with each source, and with the join of both.
    fn check_sides(
        &self,
        join: &mut Join,
        left: &Leftovers,
        line_ids: Result<Option<Counted>, RunError>,
        found: &mut Findings,
    ) -> Result<(), RunError> {
        let name = join.reference_name();
        match line_ids {
            Err(error) => found.problems.add(&name, error)?,
            Ok(None) => {}
            Ok(Some(warning)) => {
                for state in &mut found.states {
                    state.count(&warning, join.references_read());
                }
            }
        }
        for error in join.take_errors() {
            found.problems.add(&name, error)?;
        }
        let mut is_cut = [false; 2];
        for (side, is_cut) in [Side::Reference, Side::Prediction]
            .into_iter()
            .zip(&mut is_cut)
        {
            let Some((name, records, refused)) = join.take_side(side) else {
                continue;
            };
            let source = match side {
                Side::Reference => &mut found.references,
                Side::Prediction => &mut found.predictions,
            };
            source.records = Some(records);
            let kind = ProblemKind::InvalidRecord;
            found.problems.add_all(kind, &name, refused.records);
            for error in refused.ends {
                *is_cut = true;
                found.problems.add(&name, error)?;
            }
        }
        if !join.has_predictions() {
            found.predictions.records = found.references.records;
        }
        // Ids of a source that was not read to its end may come later, as do those of files that do not fit at all.
        let [no_references, no_predictions] = is_cut;
        found.problems.is_cut |= no_references || no_predictions;
        let is_joined = !found.problems.has(ProblemKind::File);
        let is_missing = left.missing_ids.count > 0 && self.join.missing == Missing::Error;
        if is_missing && is_joined {
            let error = JoinError::Missing(left.missing_ids.clone());
            found.problems.add(&name, error.into())?;
        }
        if left.extra_ids.count > 0 && !self.join.ignore_extra && is_joined {
            let error = JoinError::Extra(left.extra_ids.clone());
            found.problems.add(&name, error.into())?;
        }
        Ok(())
    }
}

/// Reads pairs as a run does, and past those that a metric cannot read.
struct Reading<'r> {
    run: &'r Run,
    threads: usize,
}

impl Reading<'_> {
    /// Adds the pairs that can be read to the states.
    fn add(&self, join: &Join, pairs: &Pairs, found: &mut Findings) -> Result<(), RunError> {
        let units = pairs.units(self.threads);
        let states = &found.states;
        let read = |(_, unit): &(usize, PairsUnit<'_>)| -> Vec<Part> {
            let records = records_of(join, unit);
            let metrics = self.run.metrics.iter().zip(states);
            let read = metrics
                .map(|(chosen, state)| chosen.scorer.read(state, &mut records.clone(), false));
            read.collect()
        };
        let parts: Vec<Vec<Part>> = match self.threads {
            1 => units.iter().map(read).collect(),
            _ => units.par_iter().map(read).collect(),
        };
        for ((first, unit), parts) in units.iter().zip(parts) {
            for (metric, mut part) in parts.into_iter().enumerate() {
                match found.states[metric].add(&mut part) {
                    Ok(()) => {}
                    Err(AddError::State(error)) => return Err(internal(&error)),
                    // Parts that were read at the same time do not know of each other.
                    Err(AddError::Record(_)) => {
                        let records = records_of(join, unit);
                        self.add_valid(metric, *first, &records, (join, pairs), found)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the records that can be read, one run between two others at a time.
    fn add_valid(
        &self,
        metric: usize,
        first: usize,
        records: &[Record<'_>],
        (join, pairs): (&Join, &Pairs),
        found: &mut Findings,
    ) -> Result<(), RunError> {
        /// So few that it costs little to copy those after one that cannot be read.
        const LEN: usize = 64;
        let scorer = &self.run.metrics[metric].scorer;
        let mut start = 0;
        while start < records.len() {
            let state = &mut found.states[metric];
            let rest = &records[start..records.len().min(start + LEN)];
            let mut part = scorer.read(state, &mut rest.to_vec(), false);
            let error = match state.add(&mut part) {
                Ok(()) => {
                    start += rest.len();
                    continue;
                }
                Err(AddError::State(error)) => return Err(internal(&error)),
                Err(AddError::Record(error)) => error,
            };
            let valid = error.index.min(rest.len() - 1);
            let mut part = scorer.read(state, &mut rest[..valid].to_vec(), false);
            state.add(&mut part).map_err(|error| internal(&error))?;
            let index = first + start + valid;
            if error.error.side == Side::Prediction {
                // The reference was perhaps not read.
                self.read_reference(metric, index, rest[valid], (join, pairs), found);
            }
            self.refuse(index, error.error, (join, pairs), found);
            start += valid + 1;
        }
        Ok(())
    }

    /// Reads references that have no prediction.
    fn read_references(&self, join: &Join, pairs: &Pairs, found: &mut Findings) {
        for (metric, chosen) in self.run.metrics.iter().enumerate() {
            let records = pairs.apart.iter().map(|pair| alone(join.record(pair)));
            let mut state = chosen.scorer.start();
            let mut records: Vec<Record<'_>> = records.collect();
            let mut part = chosen.scorer.read(&state, &mut records, false);
            if state.agree(&mut [&mut part]).is_ok() {
                continue;
            }
            for (index, pair) in pairs.apart.iter().enumerate() {
                let record = join.record(pair);
                self.read_reference(metric, index, record, (join, pairs), found);
            }
        }
    }

    /// Reads a reference as that of an empty prediction, and adds nothing.
    fn read_reference(
        &self,
        metric: usize,
        index: usize,
        record: Record<'_>,
        (join, pairs): (&Join, &Pairs),
        found: &mut Findings,
    ) {
        let scorer = &self.run.metrics[metric].scorer;
        // A reference that is left out does not tell the properties that all examples share.
        let mut state = scorer.start();
        let mut part = scorer.read(&state, &mut [alone(record)], false);
        match state.agree(&mut [&mut part]) {
            Err(AddError::Record(error)) if error.error.side == Side::Reference => {
                self.refuse(index, error.error, (join, pairs), found);
            }
            _ => {}
        }
    }

    /// Counts a record that a metric cannot read.
    fn refuse(
        &self,
        index: usize,
        error: FieldError,
        (join, pairs): (&Join, &Pairs),
        found: &mut Findings,
    ) {
        let kind = ProblemKind::of_value(error.side);
        let source = match error.side {
            Side::Reference => &found.references.name,
            Side::Prediction => &found.predictions.name,
        };
        let source = source.clone();
        let errors = found.problems.errors_of(kind, &source);
        let failed = |pair: &Pair| {
            let (file, line, location) = join.location(pair, &error);
            let location = (file.as_str(), line, location.as_str());
            RunError::record(location, join.record(pair).id, error.clone())
        };
        // Pairs come in another order on another number of threads.
        let position = pairs.with(join, index, |pair| pair.ordinal);
        errors.add_at(position.unwrap_or(u64::MAX), || {
            pairs.with(join, index, failed)
        });
    }
}

/// The reference of a record with an empty prediction.
fn alone(record: Record<'_>) -> Record<'_> {
    Record {
        prediction: Value::missing(),
        join: JoinPolicy {
            missing: Missing::Empty,
            ..record.join
        },
        ..record
    }
}

/// The records of some of the pairs.
fn records_of<'j>(join: &'j Join, unit: &'j PairsUnit<'_>) -> Vec<Record<'j>> {
    match unit {
        PairsUnit::Step(step, start, len) => join.records_of(step, *start, *len).collect(),
        PairsUnit::Apart(pairs) => pairs.iter().map(|pair| join.record(pair)).collect(),
    }
}

fn internal(error: &dyn std::fmt::Display) -> RunError {
    RunError::Internal(error.to_string())
}
