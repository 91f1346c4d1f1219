use std::error::Error;

use metric_record::Record;
use metric_registry::{DataSet, Entry, Sample, Show};

/// The error type that an [`Observer`] may return, which ends the run.
pub type ObserverError = Box<dyn Error + Send + Sync>;

/// Watches a run: its progress, and what it reads. A program draws its bar and its pictures with it.
pub trait Observer: Sync {
    /// Hears how many bytes of how many were read. The total is 0 where it is not known.
    fn progress(&self, _read: u64, _total: u64) {}

    /// Hears how many replicates or trials of how many are done. It is called on several threads.
    fn resampled(&self, _done: u64, _total: u64) {}

    /// Takes the scores of an example, in the order of the references, if the run
    /// [wants samples](crate::Run::samples).
    ///
    /// # Errors
    ///
    /// Returns an error to end the run.
    fn sample(&self, _metric: &str, _sample: &Sample) -> Result<(), ObserverError> {
        Ok(())
    }

    /// Whether records and data sets are requested for pictures.
    fn draws(&self) -> bool {
        false
    }

    /// Takes a record that was scored by a metric that draws, with its position among the references, counted from 0.
    /// It is called on several threads.
    ///
    /// # Errors
    ///
    /// Returns an error to end the run.
    fn record(
        &self,
        _entry: &Entry,
        _show: &dyn Show,
        _position: u64,
        _record: &mut Record<'_>,
    ) -> Result<(), ObserverError> {
        Ok(())
    }

    /// Whether the values of each record are requested.
    fn wants_inputs(&self) -> bool {
        false
    }

    /// Takes a record that was scored, in no particular order.
    ///
    /// # Errors
    ///
    /// Returns an error to end the run.
    fn input(&self, _record: &Record<'_>) -> Result<(), ObserverError> {
        Ok(())
    }

    /// Takes a data set that was scored.
    ///
    /// # Errors
    ///
    /// Returns an error to end the run.
    fn data_set(&self, _show: &dyn Show, _data: DataSet) -> Result<(), ObserverError> {
        Ok(())
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Observer for Nobody {}
