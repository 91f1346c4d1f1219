//! Readings, states and headers of any metric: what is written against these is compiled once, not once per metric.

use std::any::Any;
use std::fmt;

use metric_core::{Addends, Malformed, Merge, Reader, Writer, Written};
use metric_record::{Batch, FieldError, Message, Record, RecordError};

use super::gathered::Gathered;
use super::sink::Sink;
use super::{Asked, Facts, Header, Reading, StateOf, Unanswered, Unified, Weigher};
use crate::data_set::DataSet;
use crate::error::DataSetError;
use crate::numbers::Numbers;
use crate::show::Show;

/// A state of any metric. Two of them that meet are of one metric.
pub(crate) trait AnyState: Any + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn AnyState>;

    /// The state of no examples.
    fn empty(&self) -> Box<dyn AnyState>;

    /// Adds another state, and empties it.
    fn take_from(&mut self, other: &mut dyn AnyState);

    fn merge_times(&mut self, other: &dyn AnyState, times: u64);

    fn addends<'s>(&'s mut self, list: &mut Addends<'s>) -> bool;

    fn row_bytes(&self) -> u64;

    fn write(&self, to: &mut Writer);
}

impl<S: Merge + Clone + Written + Send + Sync + 'static> AnyState for S {
    fn boxed_clone(&self) -> Box<dyn AnyState> {
        Box::new(self.clone())
    }

    fn empty(&self) -> Box<dyn AnyState> {
        Box::new(S::default())
    }

    fn take_from(&mut self, other: &mut dyn AnyState) {
        Merge::merge(self, std::mem::take(downcast_mut(other)));
    }

    fn merge_times(&mut self, other: &dyn AnyState, times: u64) {
        Merge::merge_times(self, downcast(other), times);
    }

    fn addends<'s>(&'s mut self, list: &mut Addends<'s>) -> bool {
        Merge::addends(self, list)
    }

    fn row_bytes(&self) -> u64 {
        Merge::row_bytes(self)
    }

    fn write(&self, to: &mut Writer) {
        Written::write(self, to);
    }
}

impl Clone for Box<dyn AnyState> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

/// Returns the written form of a state.
pub(crate) fn written(state: &dyn AnyState) -> Vec<u8> {
    let mut writer = Writer::default();
    state.write(&mut writer);
    writer.into_bytes()
}

/// A header of any metric.
pub(crate) trait AnyHeader: Any + fmt::Debug + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn AnyHeader>;
    fn is_equal(&self, other: &dyn AnyHeader) -> bool;
    fn unify(&mut self, other: &dyn AnyHeader) -> Result<Unified, Message>;
    fn write(&self, to: &mut Writer);
}

impl<H: Header> AnyHeader for H {
    fn boxed_clone(&self) -> Box<dyn AnyHeader> {
        Box::new(self.clone())
    }

    fn is_equal(&self, other: &dyn AnyHeader) -> bool {
        self == downcast::<H>(other)
    }

    fn unify(&mut self, other: &dyn AnyHeader) -> Result<Unified, Message> {
        Header::unify(self, downcast(other))
    }

    fn write(&self, to: &mut Writer) {
        Written::write(self, to);
    }
}

impl Clone for Box<dyn AnyHeader> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

/// Returns a value of a metric by its type. A state or a header only meets the reading that it comes from: parts and
/// states of other definitions are refused by their signature.
pub(crate) fn downcast<T: 'static>(value: &dyn Any) -> &T {
    let value = value.downcast_ref();
    value.unwrap_or_else(|| unreachable!("a state of another metric"))
}

pub(crate) fn downcast_mut<T: 'static>(value: &mut dyn Any) -> &mut T {
    let value = value.downcast_mut();
    value.unwrap_or_else(|| unreachable!("a state of another metric"))
}

/// What a metric says of the state of some examples: the state and what these share.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    pub(crate) state: &'v dyn AnyState,
    pub(crate) header: &'v dyn AnyHeader,
}

/// A [`Reading`] of any metric.
pub(crate) trait AnyReading: Send + Sync {
    fn facts(&self) -> Facts;
    fn start(&self) -> Box<dyn AnyState>;
    fn read_state(&self, from: &mut Reader<'_>) -> Result<Box<dyn AnyState>, Malformed>;
    fn header(&self) -> Box<dyn AnyHeader>;
    fn read_header(&self, from: &mut Reader<'_>) -> Result<Box<dyn AnyHeader>, Malformed>;
    fn renumber(&self, state: &mut dyn AnyState, indices: &[u32]);
    fn read(&self, record: &mut Record<'_>, to: &mut Gathered) -> Result<(), FieldError>;
    fn read_columns(&self, batch: &Batch<'_>, to: &mut Gathered)
    -> Option<Result<(), RecordError>>;
    fn read_data_set(&self, data: DataSet, to: &mut Gathered) -> Result<(), DataSetError>;
    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>>;
    fn numbers(&self, view: View<'_>, asked: Asked<'_>) -> Numbers;
    fn problem(&self, view: View<'_>) -> Option<Message>;
    fn weigher<'s>(
        &'s self,
        states: &[&'s dyn AnyState],
        header: &'s dyn AnyHeader,
    ) -> Option<Weigher<'s>>;
    fn unanswered(&self, record: &mut Record<'_>) -> Unanswered;
    fn show(&self) -> &dyn Show;
}

impl<R: Reading> AnyReading for R {
    fn facts(&self) -> Facts {
        self.facts()
    }

    fn start(&self) -> Box<dyn AnyState> {
        Box::new(StateOf::<R>::default())
    }

    fn read_state(&self, from: &mut Reader<'_>) -> Result<Box<dyn AnyState>, Malformed> {
        Ok(Box::new(StateOf::<R>::read(from)?))
    }

    fn header(&self) -> Box<dyn AnyHeader> {
        Box::new(R::Header::default())
    }

    fn read_header(&self, from: &mut Reader<'_>) -> Result<Box<dyn AnyHeader>, Malformed> {
        Ok(Box::new(R::Header::read(from)?))
    }

    fn renumber(&self, state: &mut dyn AnyState, indices: &[u32]) {
        self.renumber(downcast_mut(state), indices);
    }

    fn read(&self, record: &mut Record<'_>, to: &mut Gathered) -> Result<(), FieldError> {
        self.read(record, &mut Sink::new(self, to))
    }

    fn read_columns(
        &self,
        batch: &Batch<'_>,
        to: &mut Gathered,
    ) -> Option<Result<(), RecordError>> {
        self.read_columns(batch, &mut Sink::new(self, to))
    }

    fn read_data_set(&self, data: DataSet, to: &mut Gathered) -> Result<(), DataSetError> {
        self.read_data_set(data, &mut Sink::new(self, to))
    }

    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        self.score_texts(pairs)
    }

    fn numbers(&self, view: View<'_>, asked: Asked<'_>) -> Numbers {
        self.numbers(downcast(view.state), downcast(view.header), asked)
    }

    fn problem(&self, view: View<'_>) -> Option<Message> {
        self.problem(downcast(view.state), downcast(view.header))
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s dyn AnyState],
        header: &'s dyn AnyHeader,
    ) -> Option<Weigher<'s>> {
        let states = states.iter().map(|state| downcast(*state));
        self.weigher(&states.collect::<Vec<_>>(), downcast(header))
    }

    fn unanswered(&self, record: &mut Record<'_>) -> Unanswered {
        self.unanswered(record)
    }

    fn show(&self) -> &dyn Show {
        self.show()
    }
}
