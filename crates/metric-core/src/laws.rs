//! The laws of [`Merge`], for the tests of each state.

use std::fmt::Debug;

use metric_core::{Merge, Written, from_bytes, to_bytes};

/// Checks the states of single examples: any partition of them, merged in any order, is one state
/// that is written in one way, and `merge_times` is that many merges. Returns the whole.
pub(crate) fn check<S>(examples: &[S]) -> S
where
    S: Merge + Written + Clone + Debug + PartialEq + Send + Sync,
{
    let pool = |parts: &mut dyn Iterator<Item = &S>| {
        let mut pool = S::default();
        parts.for_each(|part| pool.merge(part.clone()));
        pool
    };
    let whole = pool(&mut examples.iter());
    check_equal(&pool(&mut examples.iter().rev()), &whole);
    for size in 1..=3 {
        let parts = examples.chunks(size).map(|part| pool(&mut part.iter()));
        let parts: Vec<S> = parts.collect();
        let (even, odd) = (parts.iter().step_by(2), parts.iter().skip(1).step_by(2));
        check_equal(&pool(&mut odd.chain(even)), &whole);
        check_equal(&pool(&mut parts.iter().rev()), &whole);
    }
    for example in examples.iter().take(3).chain([&whole]) {
        for start in [&S::default(), &whole, example] {
            let mut repeated = start.clone();
            for times in 0..=5 {
                let mut at_once = start.clone();
                at_once.merge_times(example, times);
                check_equal(&at_once, &repeated);
                repeated.merge(example.clone());
            }
        }
    }
    whole
}

#[track_caller]
fn check_equal<S: Written + Debug + PartialEq>(a: &S, b: &S) {
    assert_eq!(a, b);
    let written = to_bytes(a);
    assert_eq!(written, to_bytes(b));
    let read: S = from_bytes(&written).expect("a written state can be read");
    assert_eq!(&read, a);
    assert_eq!(to_bytes(&read), written);
}
