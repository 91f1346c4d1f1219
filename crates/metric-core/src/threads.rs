use std::cell::Cell;

thread_local! {
    static IS_ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Does work without other threads: the crates of this project then use the calling thread alone, and no thread pool.
///
/// Outside of a pool, they may otherwise use one that the process keeps. A process that is forked from it does not have
/// its threads, and would wait for them.
///
/// ```
/// use metric_core::{is_on_this_thread, on_this_thread};
///
/// assert!(!is_on_this_thread());
/// assert!(on_this_thread(is_on_this_thread));
/// ```
pub fn on_this_thread<T>(work: impl FnOnce() -> T) -> T {
    /// Sets the flag back, also after a panic.
    struct Before(bool);

    impl Drop for Before {
        fn drop(&mut self) {
            IS_ALONE.set(self.0);
        }
    }

    let _before = Before(IS_ALONE.replace(true));
    work()
}

/// Returns whether the calling thread does its work [alone](on_this_thread).
#[must_use]
pub fn is_on_this_thread() -> bool {
    IS_ALONE.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_that_of_the_thread_and_of_the_work() {
        on_this_thread(|| {
            on_this_thread(|| ());
            assert!(is_on_this_thread());
            let other = std::thread::spawn(is_on_this_thread).join();
            assert!(other.is_ok_and(|is_alone| !is_alone));
        });
        let panicked = std::panic::catch_unwind(|| on_this_thread(|| panic!("in the work")));
        assert!(panicked.is_err() && !is_on_this_thread());
    }
}
