//! Work on the threads of the pool that a call is made in; without the feature `rayon`, on one thread.
//!
//! The functions of rayon are only called where no type is a parameter: they are large, and would be compiled again
//! for each type of state.

use std::sync::{Mutex, PoisonError};

/// Returns the number of threads.
#[must_use]
pub fn threads() -> usize {
    #[cfg(feature = "rayon")]
    if !crate::is_on_this_thread() {
        return rayon::current_num_threads();
    }
    1
}

/// Does work for each index below `count`, in any order.
fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    #[cfg(feature = "rayon")]
    if count > 1 && threads() > 1 {
        use rayon::prelude::*;
        return (0..count).into_par_iter().for_each(work);
    }
    (0..count).for_each(work);
}

/// Returns what `make` gives for each index below `count`, in the order of the indices.
///
/// ```
/// use metric_core::parallel;
///
/// assert_eq!(parallel::map(3, |index| index * index), [0, 1, 4]);
/// ```
pub fn map<T: Send>(count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let made: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each(count, &|index| {
        let value = make(index);
        // A lock is poisoned by a panic while it is held, and storing a value does not panic.
        *made[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    });
    let made = made.into_iter();
    made.filter_map(|value| value.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// Returns the results of two functions, which run at the same time if there are threads.
///
/// ```
/// use metric_core::parallel;
///
/// assert_eq!(parallel::join(|| 1 + 1, || "two"), (2, "two"));
/// ```
pub fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "rayon")]
    if threads() > 1 {
        return rayon::join(a, b);
    }
    (a(), b())
}

/// Does work on each thread.
pub fn on_all_threads(work: &(dyn Fn() + Sync)) {
    #[cfg(feature = "rayon")]
    if threads() > 1 {
        return rayon::scope(|scope| {
            for _ in 0..threads() {
                scope.spawn(|_| work());
            }
        });
    }
    work();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::on_this_thread;

    #[test]
    fn values_are_in_order() {
        for count in [0, 1, 2, 1000] {
            let squares: Vec<usize> = (0..count).map(|index| index * index).collect();
            assert_eq!(map(count, |index| index * index), squares);
            assert_eq!(
                on_this_thread(|| map(count, |index| index * index)),
                squares
            );
        }
    }

    #[test]
    fn work_on_this_thread_uses_no_other() {
        let caller = std::thread::current().id();
        let is_here = |_| std::thread::current().id() == caller;
        on_this_thread(|| {
            assert_eq!(threads(), 1);
            assert!(map(1000, is_here).into_iter().all(|is_here| is_here));
            assert_eq!(join(|| is_here(0), || is_here(1)), (true, true));
        });
    }
}
