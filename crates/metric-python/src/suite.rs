//! Suites: the tasks of a submission, each in a process of its own, which is this Python.

use std::path::{Path, PathBuf};

use metric_judge::{CompareWith, RunSuite, Shown, Submission, Suite, SuiteError, Worker, serve};
use metric_run::{Compare, ErrorKind, on_threads};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::error::{Origin, of_run, refused};
use crate::scorer::Settings;

/// A submission: the path of a folder or of a zip archive, or the bytes of one.
#[derive(FromPyObject)]
pub(crate) enum Predictions {
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

impl Predictions {
    fn open(&self, suite: &Suite, folder: &Path) -> Result<Submission, SuiteError> {
        let names = suite.predictions();
        match self {
            Self::Path(path) => Submission::open(path, &names),
            Self::Bytes(bytes) => {
                Submission::of_stream(bytes.as_ref(), folder, suite.most_bytes(), &names)
            }
        }
    }

    /// The path that names it in a comparison.
    fn path(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Bytes(_) => Path::new("submission"),
        }
    }
}

/// Scores a submission by a suite, and returns the outcome as JSON. The worker is a program with its arguments, which
/// calls [`serve_task`]; files of an archive go into the folder. The settings are those of the comparison.
#[pyfunction]
#[pyo3(signature = (suite, predictions, tasks, worker, folder, private, threads, compare, settings))]
#[allow(clippy::too_many_arguments, reason = "named by the function in Python")]
pub(crate) fn run_suite(
    py: Python<'_>,
    suite: PathBuf,
    predictions: Predictions,
    tasks: Vec<String>,
    worker: Vec<String>,
    folder: PathBuf,
    private: bool,
    threads: Option<usize>,
    compare: Option<PathBuf>,
    settings: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let settings = Settings(settings);
    let statistics = settings.statistics()?;
    let permutations = settings.permutations()?;
    if compare.is_none() && (statistics.is_some() || permutations.is_some()) {
        let problem = "confidence, resamples, seed, interval and permutations need compare=";
        return Err(refused(py, problem.to_owned()));
    }
    let statistics = statistics.unwrap_or_default();
    let permutations = permutations.unwrap_or(Compare::default().permutations);
    let run = || -> Result<String, SuiteError> {
        let suite = Suite::read(&suite)?;
        let tasks = suite.select(&tasks)?;
        let submission = predictions.open(&suite, &folder)?;
        let other = compare.as_ref();
        let other = other.map(|path| Submission::open(path, &suite.predictions()));
        let other = other.transpose()?;
        let names = compare.map(|path| CompareWith::names(&path, predictions.path()));
        let compare = other.as_ref().zip(names.as_ref());
        let compare = compare.map(|(submission, [baseline, system])| CompareWith {
            submission,
            names: [baseline, system],
            statistics: &statistics,
            permutations,
        });
        let mut words = worker.into_iter();
        let program = words.next().unwrap_or_default();
        let worker = Worker::new(program, words.map(Into::into).collect());
        let run = RunSuite {
            suite: &suite,
            tasks: &tasks,
            worker: &worker,
            folder: &folder,
            threads,
            compare,
        };
        let shown = if private {
            Shown::Participants
        } else {
            Shown::Organizer
        };
        Ok(run.score(&submission, &|_| ())?.to_json(shown))
    };
    // A comparison uses the threads of the pool that it is in.
    let found = py.detach(|| on_threads(None, || Ok(run())));
    let found = found.map_err(|error| of_run(py, &error, Origin::Files))?;
    found.map_err(|error| match error.kind {
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
        metric_judge::serve_task(&work).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    })
}
