//! Keys and ids of JSON objects.

use metric_record::IdKey;
use metric_record::json::scan::Scanner;
use serde::de::Error;

/// Refuses a key that an object has had.
pub(super) fn refuse_duplicate<E: Error>(key: &str, is_first: bool) -> Result<(), E> {
    if is_first {
        Ok(())
    } else {
        Err(E::custom(format_args!("duplicate key {key:?}")))
    }
}

/// Scans an id: an integer, or a string without escapes.
pub(super) fn scan_id<'de>(scanner: &mut Scanner<'de>) -> Option<IdKey<'de>> {
    match scanner.peek()? {
        b'"' => scanner.string().map(IdKey::from),
        _ => scanner.integer().map(IdKey::from),
    }
}
