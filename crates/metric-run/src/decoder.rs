//! Calls of decoders of other crates, whose panics on malformed data are errors.

use std::cell::Cell;
use std::panic::{set_hook, take_hook};

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Makes the panics of decoders silent, in the whole process.
///
/// The decoders of Parquet and Arrow files may panic on malformed data. Such a panic is caught and becomes an error, but
/// the panic hook has already printed a message. This function replaces the hook by one that leaves these panics out and
/// passes on all others. It is for programs: a library should not change the hook of the program that it is part of.
///
/// ```
/// metric_run::silence_decoders();
/// ```
pub fn silence_decoders() {
    let hook = take_hook();
    set_hook(Box::new(move |panic| {
        if !IS_DECODING.get() {
            hook(panic);
        }
    }));
}

/// Calls a decoder, and returns its error or that of a panic in words.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) fn decode<T, E: std::fmt::Display>(
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, String> {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    let was_decoding = IS_DECODING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    IS_DECODING.set(was_decoding);
    match result {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the data are malformed".to_owned()),
    }
}
