//! Suites: the tasks of a submission, each in a process of its own, which is this Python.

use std::path::PathBuf;

use metric_run::ErrorKind;
use metric_run::suite::{RunSuite, Shown, Submission, Suite, SuiteError, Worker, serve};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::refused;

/// Scores a submission by a suite, and returns the outcome as JSON. The worker is a program with its arguments, which
/// calls [`serve_task`]; files of an archive go into the folder.
#[pyfunction]
#[pyo3(signature = (suite, predictions, tasks, worker, folder, private, threads))]
#[allow(clippy::too_many_arguments, reason = "named by the function in Python")]
pub(crate) fn run_suite(
    py: Python<'_>,
    suite: PathBuf,
    predictions: PathBuf,
    tasks: Vec<String>,
    worker: Vec<String>,
    folder: PathBuf,
    private: bool,
    threads: Option<usize>,
) -> PyResult<String> {
    let run = || -> Result<String, SuiteError> {
        let suite = Suite::read(&suite)?;
        let tasks = suite.select(&tasks)?;
        let submission = Submission::open(&predictions, &suite.predictions())?;
        let mut words = worker.into_iter();
        let program = words.next().unwrap_or_default();
        let worker = Worker::new(program, words.map(Into::into).collect());
        let run = RunSuite {
            suite: &suite,
            tasks: &tasks,
            worker: &worker,
            folder: &folder,
            threads,
            compare: None,
        };
        let shown = if private {
            Shown::Participants
        } else {
            Shown::Organizer
        };
        Ok(run.score(&submission, &|_| ())?.to_json(shown))
    };
    py.detach(run).map_err(|error| match error.kind {
        ErrorKind::Internal => PyRuntimeError::new_err(error.message),
        _ => refused(py, error.message),
    })
}

/// Makes this process a worker of [`run_suite`]: scores the task that its standard input describes, and returns the
/// answer for its parent.
#[pyfunction]
pub(crate) fn serve_task(py: Python<'_>) -> PyResult<String> {
    py.detach(|| {
        let work = serve().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        metric_run::suite::serve_task(&work)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    })
}
