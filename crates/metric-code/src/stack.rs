use std::panic::resume_unwind;
use std::thread;

/// Runs something that recurses deeply, on a thread of its own with a stack of this many bytes.
///
/// Where no thread can be had it runs here.
pub(crate) fn with_stack<T: Send>(bytes: usize, run: impl FnOnce() -> T + Send) -> T {
    // Left alone by a thread that could not start.
    let mut run = Some(run);
    let on_thread = thread::scope(|scope| {
        let run = &mut run;
        let thread = thread::Builder::new().stack_size(bytes);
        let started = thread.spawn_scoped(scope, move || run.take().map(|run| run()));
        match started.map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => None,
        }
    });
    match (on_thread, run) {
        (Some(result), _) => result,
        (None, Some(run)) => run(),
        (None, None) => unreachable!("taken by the thread, whose result is there"),
    }
}

#[cfg(test)]
mod tests {
    use super::with_stack;

    #[test]
    fn a_deep_recursion_ends() {
        fn depth(levels: u64) -> u64 {
            match levels {
                0 => 0,
                levels => 1 + std::hint::black_box(depth(levels - 1)),
            }
        }
        // More than the stack of a test has room for.
        assert_eq!(with_stack(1 << 29, || depth(1_000_000)), 1_000_000);
    }
}
