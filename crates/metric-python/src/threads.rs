//! Threads for work outside of a run. They end with the work: a process that is forked has none of its parent's, and would
//! wait for them.

use std::num::NonZeroUsize;

use metric_run::on_threads;
use metric_run::registry::on_this_thread;
use pyo3::marker::Ungil;
use pyo3::prelude::*;

use crate::error::{Origin, of_run};

/// The number of examples for which starting threads takes less time than they save.
const MANY: u64 = 500;

/// Does work on the state of this number of examples, while other threads of Python go on.
pub(crate) fn for_examples<T: Send + Ungil>(
    py: Python<'_>,
    examples: u64,
    threads: Option<NonZeroUsize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let done = py.detach(|| {
        if examples < MANY {
            Ok(on_this_thread(work))
        } else {
            on_threads(threads, || Ok(work()))
        }
    });
    done.map_err(|error| of_run(py, &error, Origin::Files))
}
