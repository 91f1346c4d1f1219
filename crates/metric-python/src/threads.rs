//! Threads for work outside of a run. They end with the work: a process that is forked has none of its parent's, and would
//! wait for them.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use metric_run::registry::on_this_thread;
use metric_run::{RunError, interruptible, on_threads};
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
    detached(py, Origin::Files, || {
        if examples < MANY {
            Ok(on_this_thread(work))
        } else {
            on_threads(threads, || Ok(work()))
        }
    })
}

/// Does work while other threads of Python go on. A signal whose handler raises, such as that of Ctrl-C, ends it.
pub(crate) fn detached<T: Send + Ungil>(
    py: Python<'_>,
    origin: Origin,
    work: impl FnOnce() -> Result<T, RunError> + Send + Ungil,
) -> PyResult<T> {
    let raised = Arc::new(Mutex::new(None));
    let handle = {
        let raised = Arc::clone(&raised);
        move || match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                true
            }
        }
    };
    let done = py.detach(|| interruptible(handle, work));
    let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    match raised {
        Some(error) => Err(error),
        None => done.map_err(|error| of_run(py, &error, origin)),
    }
}
