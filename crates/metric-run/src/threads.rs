//! Threads that live as long as the work they are for.
//!
//! Outside of a pool, rayon would start threads that the process keeps. A process that is forked from it, as Python's
//! `multiprocessing` does, has none of them, and would wait for them.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use metric_record::ReadError;
use metric_registry::{is_on_this_thread, on_this_thread};
use rayon::prelude::*;

use crate::RunError;
use crate::interrupt::watch;

/// Does work on threads that end with it. The work of one thread is done on the calling thread.
///
/// `None` is one thread per core, or the calling thread if it works [alone](on_this_thread).
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use metric_run::on_threads;
///
/// let caller = std::thread::current().id();
/// let done = on_threads(NonZeroUsize::new(1), || Ok(std::thread::current().id()))?;
/// assert_eq!(done, caller);
/// # Ok::<(), metric_run::RunError>(())
/// ```
///
/// # Errors
///
/// Returns the error of the work, or one if threads cannot be started.
pub fn on_threads<T: Send>(
    threads: Option<NonZeroUsize>,
    work: impl FnOnce() -> Result<T, RunError> + Send,
) -> Result<T, RunError> {
    match or_cores(threads) {
        1 => on_this_thread(work),
        threads => {
            let watch = watch();
            let mut pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            if let Some(watch) = watch.clone() {
                pool = pool.start_handler(move |_| watch.follow());
            }
            let pool = pool.build().map_err(|error| {
                let problem = format!("cannot start threads: {error}");
                ReadError::new("", problem).machine()
            })?;
            match watch {
                None => pool.install(work),
                Some(watch) => watch.install(&pool, work),
            }
        }
    }
}

/// The number of threads: as many as there are cores, unless it is given or the calling thread works alone.
pub(crate) fn or_cores(threads: Option<NonZeroUsize>) -> usize {
    // The system is asked once: on Linux that takes as long as scoring many records.
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    match threads {
        Some(threads) => threads.get(),
        None if is_on_this_thread() => 1,
        None => *CORES.get_or_init(cores),
    }
}

/// The number of threads of the pool that this is called in, and 1 outside of a pool.
pub(crate) fn of_pool() -> usize {
    match rayon::current_thread_index() {
        Some(_) if !is_on_this_thread() => rayon::current_num_threads(),
        _ => 1,
    }
}

/// Maps items on several threads, or on this one.
pub(crate) fn mapped<T: Sync, U: Send>(
    items: &[T],
    threads: usize,
    map: impl Fn(&T) -> U + Sync,
) -> Vec<U> {
    match threads {
        1 => items.iter().map(map).collect(),
        _ => items.par_iter().map(&map).collect(),
    }
}
