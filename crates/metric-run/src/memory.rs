//! Memory whose amount is known before it is used: a lack of it is an error, and does not end the process.

use std::hint::black_box;
use std::io;

use metric_record::Message;

/// Fewer bytes are not worth a question.
const SMALL: u64 = 1 << 20;

/// Returns an error if this many bytes, which are allocated next, do not fit in memory.
pub(crate) fn refuse_lack(bytes: u64) -> io::Result<()> {
    if bytes <= SMALL {
        return Ok(());
    }
    let bytes = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut room = Vec::<u8>::new();
    room.try_reserve_exact(bytes)?;
    black_box(room);
    Ok(())
}

/// Returns zeros, if they fit in memory.
pub(crate) fn zeros(length: usize) -> io::Result<Vec<u8>> {
    refuse_lack(length as u64)?;
    Ok(vec![0; length])
}

/// Whether a decoder of columns failed for want of memory: its message has the words of [`refuse_lack`], or of Arrow.
#[cfg(any(feature = "columns", test))]
pub(crate) fn is_lack(problem: &str) -> bool {
    ["out of memory", "failed to allocate memory"]
        .iter()
        .any(|words| problem.contains(words))
}

/// Says that a source takes more memory than there is.
pub(crate) fn lack() -> Message {
    Message::from("out of memory: expected a smaller source, or more memory; ")
        .option("max-bytes", "")
        .text(" refuses larger sources at once")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_an_error() {
        assert_eq!(zeros(3).ok(), Some(vec![0; 3]));
        assert!(refuse_lack(SMALL + 1).is_ok());
        for bytes in [1 << 62, u64::MAX] {
            let error = refuse_lack(bytes).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
            assert!(is_lack(&error.to_string()), "{error}");
        }
    }
}
