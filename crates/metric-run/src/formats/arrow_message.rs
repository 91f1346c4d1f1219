//! Messages of Arrow IPC, whose buffers are not trusted.

use std::io::{self, Read};

use arrow_ipc::{Message, RecordBatch, root_as_message};
use arrow_schema::ArrowError;

use crate::formats::grouped;
use crate::memory;

/// The marker before the length of a message; older files have the length alone.
pub(super) const CONTINUATION: [u8; 4] = [0xff; 4];

/// The message at the start of a block.
pub(super) fn message(bytes: &[u8]) -> Option<Message<'_>> {
    let rest = bytes.strip_prefix(&CONTINUATION).unwrap_or(bytes);
    root_as_message(rest.get(size_of::<u32>()..)?).ok()
}

/// Refuses compressed buffers in the body of a message that claim to be much larger than they are: the decoder would
/// allocate what a buffer claims.
pub(super) fn refuse_large_buffers(message: &Message<'_>, body: &[u8]) -> Result<(), ArrowError> {
    /// The most bytes of a buffer, unless it is this many times smaller: LZ4 can do no more.
    const MOST: u64 = 1 << 30;
    const TIMES: u64 = 256;
    let batch = compressed(message);
    let mut total = 0_u64;
    for buffer in batch
        .and_then(|batch| batch.buffers())
        .into_iter()
        .flatten()
    {
        let start = usize::try_from(buffer.offset()).ok();
        let claim = start.and_then(|start| body.get(start..)?.first_chunk());
        // Where there is none, the decoder says so; -1 is a buffer that is not compressed.
        let claim = claim.and_then(|claim| u64::try_from(i64::from_le_bytes(*claim)).ok());
        let most = TIMES
            .saturating_mul(buffer.length().unsigned_abs())
            .max(MOST);
        let claim = claim.unwrap_or_default();
        if claim > most {
            let problem = format!(
                "a buffer of {} bytes claims {} bytes without compression: expected at most {}",
                grouped(buffer.length().unsigned_abs()),
                grouped(claim),
                grouped(most)
            );
            return Err(ArrowError::IpcError(problem));
        }
        total = total.saturating_add(claim);
    }
    Ok(memory::refuse_lack(total)?)
}

/// The record batch or dictionary that a message has, if it is compressed.
fn compressed<'m>(message: &Message<'m>) -> Option<RecordBatch<'m>> {
    let dictionary = message.header_as_dictionary_batch();
    let dictionary = dictionary.and_then(|dictionary| dictionary.data());
    let batch = message.header_as_record_batch().or(dictionary);
    batch.filter(|batch| batch.compression().is_some())
}

/// The messages of a stream, read one by one and checked.
pub(super) struct Messages<R> {
    inner: R,
    /// The message at hand, with its body if that is compressed, and how much of it has been taken.
    read: Vec<u8>,
    taken: usize,
    /// The number of bytes after these that are passed on as they come.
    rest: u64,
}

impl<R: Read> Messages<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            read: Vec::new(),
            taken: 0,
            rest: 0,
        }
    }

    pub(super) fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Reads the next message and its body, or what there is of them: the decoder refuses a part.
    fn next(&mut self) -> io::Result<()> {
        self.read.clear();
        self.taken = 0;
        if !self.append(CONTINUATION.len() as u64)? {
            return Ok(());
        }
        if self.read == CONTINUATION && !self.append(size_of::<u32>() as u64)? {
            return Ok(());
        }
        let length = self
            .read
            .last_chunk()
            .map_or(0, |it| u32::from_le_bytes(*it));
        if !self.append(length.into())? {
            return Ok(());
        }
        let Some(message_read) = message(&self.read) else {
            return Ok(());
        };
        let body = u64::try_from(message_read.bodyLength()).unwrap_or_default();
        if compressed(&message_read).is_none() {
            memory::refuse_lack(body)?;
            self.rest = body;
            return Ok(());
        }
        let start = self.read.len();
        if self.append(body)?
            && let Some(message) = message(&self.read)
        {
            let checked = refuse_large_buffers(&message, &self.read[start..]);
            checked.map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Reads this many bytes more, as they come. Returns whether there are as many.
    fn append(&mut self, length: u64) -> io::Result<bool> {
        let count = (&mut self.inner).take(length).read_to_end(&mut self.read)?;
        Ok(count as u64 == length)
    }
}

impl<R: Read> Read for Messages<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.read.len() && !buffer.is_empty() {
            if self.rest > 0 {
                let count = (&mut self.inner).take(self.rest).read(buffer)?;
                self.rest -= count as u64;
                return Ok(count);
            }
            self.next()?;
        }
        let count = (&self.read[self.taken..]).read(buffer)?;
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use arrow_ipc::CompressionType;
    use arrow_ipc::reader::StreamReader;
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

    use super::*;

    /// A stream of one compressed batch.
    fn stream(compression: Option<CompressionType>) -> Vec<u8> {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["the same text"; 1000]));
        let batch = RecordBatch::try_from_iter([("text", texts)]).expect("a batch");
        let options = IpcWriteOptions::default().try_with_compression(compression);
        let options = options.expect("options");
        let mut bytes = Vec::new();
        let writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options);
        let mut writer = writer.expect("a stream");
        writer.write(&batch).expect("a batch");
        writer.finish().expect("a stream");
        drop(writer);
        bytes
    }

    #[test]
    fn messages_pass_as_they_are() {
        let compressions = [CompressionType::LZ4_FRAME, CompressionType::ZSTD];
        for compression in compressions.map(Some).into_iter().chain([None]) {
            let bytes = stream(compression);
            // Cut anywhere, and with something after the end.
            let more = [bytes.as_slice(), b"more"].concat();
            for end in (0..bytes.len()).step_by(7).chain([bytes.len(), more.len()]) {
                let mut read = Vec::new();
                let mut messages = Messages::new(&more[..end]);
                messages.read_to_end(&mut read).expect("messages");
                assert_eq!(read, more[..end]);
            }
        }
    }

    #[test]
    fn a_buffer_that_claims_too_much_is_refused() {
        for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let mut bytes = stream(Some(compression));
            // The length of all texts.
            let claim = 13_000_i64.to_le_bytes();
            let at = bytes.windows(claim.len()).rposition(|it| it == claim);
            let at = at.expect("a buffer");
            bytes[at..at + claim.len()].copy_from_slice(&(1_i64 << 50).to_le_bytes());
            let mut reader = StreamReader::try_new(Messages::new(&*bytes), None).expect("a schema");
            let error = reader
                .next()
                .expect("a batch")
                .expect_err("an error")
                .to_string();
            let claim = "claims 1,125,899,906,842,624 bytes without compression: expected at most ";
            assert!(error.contains(claim), "{error}");
        }
    }
}
