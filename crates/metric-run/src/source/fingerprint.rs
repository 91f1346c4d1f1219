//! The SHA-256 of bytes, and of a source while it is read.

use std::io::{self, Read};
use std::mem;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use sha2::{Digest, Sha256};

use super::Stream;

/// The size and the SHA-256 of the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashed {
    /// The number of bytes.
    pub bytes: u64,
    /// The SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl Hashed {
    /// Hashes everything that a reader gives.
    ///
    /// ```
    /// use metric_run::Hashed;
    ///
    /// // The example of FIPS 180-4.
    /// let hashed = Hashed::of(&b"abc"[..])?;
    /// assert_eq!(hashed.bytes, 3);
    /// assert!(hashed.sha256.starts_with("ba7816bf8f01cfea"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error of the reader.
    pub fn of(mut reader: impl Read) -> io::Result<Self> {
        let mut hashing = Hashing::default();
        let mut part = vec![0; PART_BYTES];
        loop {
            match reader.read(&mut part) {
                Ok(0) => return Ok(hashing.finish()),
                Ok(count) => hashing.add(part.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A hash of the bytes so far.
#[derive(Default)]
struct Hashing {
    bytes: u64,
    hash: Sha256,
}

impl Hashing {
    fn add(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        self.hash.update(part);
    }

    fn finish(self) -> Hashed {
        Hashed {
            bytes: self.bytes,
            sha256: hexadecimal(&self.hash.finalize()),
        }
    }
}

/// The hexadecimal digits of a hash.
pub(crate) fn hexadecimal(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The [`Hashed`] of a [`Source`](crate::Source), which is known once the source was read to its end: see
/// [`Source::fingerprint`](crate::Source::fingerprint).
#[derive(Clone, Debug, Default)]
pub struct Fingerprint(Arc<Mutex<Found>>);

#[derive(Debug, Default)]
enum Found {
    #[default]
    Nothing,
    /// All bytes are on their way to this thread.
    Hashing(JoinHandle<Hashed>),
    Hashed(Hashed),
}

impl Fingerprint {
    /// Returns the hash of the source, or `None` if the source was not read to its end.
    #[must_use]
    pub fn hashed(&self) -> Option<Hashed> {
        let mut found = self.found();
        let hashed = match mem::take(&mut *found) {
            Found::Nothing => None,
            Found::Hashing(thread) => thread.join().ok(),
            Found::Hashed(hashed) => Some(hashed),
        };
        if let Some(hashed) = &hashed {
            *found = Found::Hashed(hashed.clone());
        }
        hashed
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same stream, whose bytes are hashed on the way. One hash is enough of a source that is read repeatedly.
    pub(super) fn watch(&self, stream: Stream) -> Stream {
        if !matches!(*self.found(), Found::Nothing) {
            return stream;
        }
        let (sender, parts) = sync_channel(WAITING);
        let (emptied, empty) = channel();
        // Without a thread the file is hashed later.
        let Ok(thread) = thread::Builder::new().spawn(move || hash(&parts, &emptied)) else {
            return stream;
        };
        Box::new(Watched {
            inner: stream,
            part: Vec::new(),
            empty: Mutex::new(empty),
            hashing: Some((sender, thread)),
            fingerprint: self.clone(),
        })
    }
}

/// The number of bytes that are hashed at a time: threads that wake each other for less spend more time on that.
const PART_BYTES: usize = 1 << 18;

/// The most parts that wait to be hashed.
const WAITING: usize = 8;

/// Hashes parts, and gives their memory back.
fn hash(parts: &Receiver<Vec<u8>>, emptied: &Sender<Vec<u8>>) -> Hashed {
    let mut hashing = Hashing::default();
    for mut part in parts {
        hashing.add(&part);
        part.clear();
        // At the end nobody needs it.
        let _ = emptied.send(part);
    }
    hashing.finish()
}

/// A stream whose bytes also go to a thread that hashes them.
struct Watched {
    inner: Stream,
    /// Bytes that are still to be sent.
    part: Vec<u8>,
    /// Memory of parts that were hashed. Streams are shared, and the lock is never taken.
    empty: Mutex<Receiver<Vec<u8>>>,
    /// `None` at the end of the stream.
    hashing: Option<(SyncSender<Vec<u8>>, JoinHandle<Hashed>)>,
    fingerprint: Fingerprint,
}

impl Watched {
    fn send(&mut self) {
        let empty = self.empty.get_mut().ok();
        let empty = empty.and_then(|empty| empty.try_recv().ok());
        let empty = empty.unwrap_or_else(|| Vec::with_capacity(PART_BYTES));
        let part = mem::replace(&mut self.part, empty);
        if let Some((sender, _)) = &self.hashing {
            // A thread that has failed has no hash, and the file is hashed later.
            let _ = sender.send(part);
        }
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if count > 0 {
            self.part
                .extend_from_slice(buffer.get(..count).unwrap_or_default());
            if self.part.len() >= PART_BYTES {
                self.send();
            }
        } else if !buffer.is_empty() && self.hashing.is_some() {
            self.send();
            if let Some((sender, thread)) = self.hashing.take() {
                drop(sender);
                *self.fingerprint.found() = Found::Hashing(thread);
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of "abc" is that of FIPS 180-4's example.
    #[test]
    fn a_stream_is_hashed_once_it_ended() {
        let fingerprint = Fingerprint::default();
        let stream = || fingerprint.watch(Box::new(io::Cursor::new("abc")));
        let mut first = [0; 2];
        stream().read_exact(&mut first).expect("two bytes");
        assert_eq!(fingerprint.hashed(), None);
        let mut text = String::new();
        stream().read_to_string(&mut text).expect("a text");
        let expected = Hashed {
            bytes: 3,
            sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned(),
        };
        assert_eq!(
            (text.as_str(), fingerprint.hashed()),
            ("abc", Some(expected.clone()))
        );
        // Reading again changes nothing.
        stream().read_to_string(&mut text).expect("a text");
        assert_eq!(fingerprint.hashed(), Some(expected));
    }

    /// The hash of a million times "a" is the other example.
    #[test]
    fn a_long_stream_is_hashed_in_parts() {
        let fingerprint = Fingerprint::default();
        let text = io::repeat(b'a').take(1_000_000);
        let mut stream = fingerprint.watch(Box::new(text));
        io::copy(&mut stream, &mut io::sink()).expect("a copy");
        let hashed = fingerprint.hashed().expect("a hash");
        let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
        assert_eq!(
            (hashed.bytes, hashed.sha256.as_str()),
            (1_000_000, expected)
        );
    }
}
