//! Ends long work early, for callers whose thread waits for it, such as Python with Ctrl-C.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use crate::RunError;

/// The time between two questions: too short to be noticed, and too long to slow anything down.
const EVERY: Duration = Duration::from_millis(50);

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// The question whether work is to end, and its answer, which all threads of the work know.
#[derive(Clone)]
pub(crate) struct Watch {
    ask: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The only thread that asks.
    caller: ThreadId,
    start: Instant,
    /// The time of the last question, in milliseconds since the start.
    asked: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

/// Does work that ends with [`RunError::Interrupted`] soon after `ask` returns `true`.
///
/// The question is asked on the calling thread only, about 20 times per second. Runs look at the answer between blocks
/// of records, replicates and trials; a data set that is scored as a whole is finished first.
///
/// ```
/// use metric_run::{interruptible, on_threads};
///
/// assert_eq!(interruptible(|| false, || on_threads(None, || Ok(1)))?, 1);
/// # Ok::<(), metric_run::RunError>(())
/// ```
pub fn interruptible<T>(
    ask: impl Fn() -> bool + Send + Sync + 'static,
    work: impl FnOnce() -> T,
) -> T {
    /// Restores the watch of an outer call, also after a panic.
    struct Restore(Option<Watch>);
    impl Drop for Restore {
        fn drop(&mut self) {
            WATCH.set(self.0.take());
        }
    }
    let watch = Watch {
        ask: Arc::new(ask),
        caller: std::thread::current().id(),
        start: Instant::now(),
        asked: Arc::default(),
        is_over: Arc::default(),
    };
    let _restore = Restore(WATCH.replace(Some(watch)));
    work()
}

/// The watch of this thread.
pub(crate) fn watch() -> Option<Watch> {
    WATCH.with_borrow(Clone::clone)
}

/// Whether the work of this thread is to end.
pub(crate) fn is_over() -> bool {
    WATCH.with_borrow(|watch| watch.as_ref().is_some_and(Watch::is_over))
}

/// Fails if the work of this thread is to end.
pub(crate) fn refuse_interrupted() -> Result<(), RunError> {
    if is_over() {
        return Err(RunError::Interrupted);
    }
    Ok(())
}

impl Watch {
    /// Watches a thread that does part of the work.
    pub(crate) fn follow(&self) {
        WATCH.set(Some(self.clone()));
    }

    /// Does work on the threads of a pool, and asks meanwhile.
    pub(crate) fn install<T: Send>(
        &self,
        pool: &ThreadPool,
        work: impl FnOnce() -> Result<T, RunError> + Send,
    ) -> Result<T, RunError> {
        let (done, finished) = channel::<()>();
        let mut found = None;
        pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                // Dropped at the end, also by a panic.
                let _done = done;
                found = Some(work());
            });
            while finished.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                self.is_over();
            }
        });
        found.unwrap_or(Err(RunError::Interrupted))
    }

    fn is_over(&self) -> bool {
        if self.is_over.load(Ordering::Relaxed) {
            return true;
        }
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.asked.load(Ordering::Relaxed);
        let is_due = u128::from(now.saturating_sub(last)) >= EVERY.as_millis();
        if is_due && self.caller == std::thread::current().id() {
            self.asked.store(now, Ordering::Relaxed);
            self.is_over.store((self.ask)(), Ordering::Relaxed);
        }
        self.is_over.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::on_threads;

    /// Waits until the work is to end.
    fn endless() -> Result<(), RunError> {
        loop {
            refuse_interrupted()?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn work_ends_on_any_number_of_threads() {
        for threads in 1..3 {
            let work = || on_threads(NonZeroUsize::new(threads), endless);
            let found = interruptible(|| true, work);
            assert!(matches!(found, Err(RunError::Interrupted)), "{threads}");
        }
        assert!(!is_over());
    }

    #[test]
    fn a_panic_of_the_work_reaches_the_caller() {
        let work = || on_threads::<()>(NonZeroUsize::new(2), || panic!("of the work"));
        let caught = std::panic::catch_unwind(|| interruptible(|| false, work));
        assert!(caught.is_err() && watch().is_none());
    }
}
