//! Lists that are read in blocks of whole records.

use std::io::Read;

/// How many bytes a block has, unless a record is longer: enough to spread over threads, little enough to stay in
/// the cache while it is read.
const BLOCK_BYTES: usize = 512 * 1024;

/// A list in which one record seems to be longer than this is not read in blocks.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Room that reading to the end wants beyond what there is to read.
const PROBE_BYTES: usize = 64;

/// Reads a JSON list of objects in blocks that each end where an object seems to.
///
/// The first block starts after the opening bracket, and the last one ends before the closing bracket. Commas
/// between blocks are left out. That a block ends there is a guess: where the first block turns out to be whole
/// objects with commas between them, the comma after it does separate objects, and so on from block to block.
/// Objects read from all of the blocks are those of the list.
///
/// ```
/// use metric_record::json::blocks::ListBlocks;
///
/// let mut blocks = ListBlocks::new(r#" [{"id": 1}, {"id": 2}] "#.as_bytes());
/// let mut block = Vec::new();
/// assert_eq!(blocks.next_into(&mut block), Some(true));
/// assert_eq!(block, br#"{"id": 1}, {"id": 2}"#);
/// assert_eq!(blocks.next_into(&mut block), Some(false));
/// ```
#[derive(Debug)]
pub struct ListBlocks<R> {
    reader: R,
    block_bytes: usize,
    /// What has been read and is in no block yet: the start of a record.
    rest: Vec<u8>,
    is_started: bool,
    ended: bool,
}

impl<R: Read> ListBlocks<R> {
    /// The blocks of a text.
    #[must_use]
    pub const fn new(reader: R) -> Self {
        Self::of_size(reader, BLOCK_BYTES)
    }

    /// Blocks of another size, which is at least 1.
    #[must_use]
    pub const fn of_size(reader: R, block_bytes: usize) -> Self {
        Self {
            reader,
            block_bytes,
            rest: Vec::new(),
            is_started: false,
            ended: false,
        }
    }

    /// Replaces `block` by the next one, and returns whether there was one. `None` says that the text is not such
    /// a list, that a record is very long, or that the text cannot be read.
    pub fn next_into(&mut self, block: &mut Vec<u8>) -> Option<bool> {
        block.clear();
        if self.ended {
            return Some(false);
        }
        block.append(&mut self.rest);
        let mut wanted = self.block_bytes;
        while wanted <= MOST_BYTES {
            let missing = wanted.saturating_sub(block.len());
            // Reading would not ask whether there is so much memory.
            block.try_reserve(missing + PROBE_BYTES).ok()?;
            let part = (&mut self.reader).take(missing as u64).read_to_end(block);
            self.ended = part.ok()? < missing;
            if !std::mem::replace(&mut self.is_started, true) {
                let bracket = block.iter().position(|&byte| !is_space(byte))?;
                if block[bracket] != b'[' {
                    return None;
                }
                block.drain(..=bracket);
            }
            if self.ended {
                let end = block.iter().rposition(|&byte| !is_space(byte))?;
                if block[end] != b']' {
                    return None;
                }
                block.truncate(end);
                return Some(true);
            }
            if let Some(comma) = last_border(block) {
                self.rest.extend_from_slice(&block[comma + 1..]);
                block.truncate(comma);
                return Some(true);
            }
            wanted *= 2;
        }
        None
    }
}

/// The last comma that seems to be between two objects.
fn last_border(bytes: &[u8]) -> Option<usize> {
    let mut end = bytes.len();
    loop {
        end = bytes[..end].iter().rposition(|&byte| byte == b'{')?;
        let before = bytes[..end].trim_ascii_end();
        if let Some(before) = before.strip_suffix(b",")
            && before.trim_ascii_end().ends_with(b"}")
        {
            return Some(before.len());
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All blocks, of at least so many bytes.
    fn blocks(text: &str, block_bytes: usize) -> Option<Vec<String>> {
        let mut blocks = ListBlocks::of_size(text.as_bytes(), block_bytes);
        let (mut all, mut block) = (Vec::new(), Vec::new());
        while blocks.next_into(&mut block)? {
            all.push(String::from_utf8_lossy(&block).into_owned());
        }
        Some(all)
    }

    #[test]
    fn blocks_end_between_objects() {
        let text = "\n[{\"a\": \"}, 1\"} ,\r\n{\"b\": [{}]}, {\"c\": 1}\n]\n";
        let records = ["{\"a\": \"}, 1\"} ", "\r\n{\"b\": [{}]}", " {\"c\": 1}\n"];
        for size in 1..text.len() + 2 {
            let blocks = blocks(text, size).expect("a list");
            assert_eq!(blocks.join(","), records.join(","), "{size}");
            assert!(size > 12 || blocks.len() == 3, "{size}: {blocks:?}");
        }
    }

    #[test]
    fn other_texts_have_no_blocks() {
        assert_eq!(blocks(" [ ] ", 100), Some(vec![" ".to_owned()]));
        for text in ["", " ", "{}", "[{}", "[{}] x", "\u{feff}[]", "7"] {
            assert_eq!(blocks(text, 100), None, "{text}");
        }
    }
}
