//! Lists that are read in blocks of whole records.

use std::io::Read;

use super::scan::Scanner;

/// The size of a block in bytes, unless a record is longer: large enough to spread over threads, small enough to stay
/// in the cache while it is read.
const BLOCK_BYTES: usize = 512 * 1024;

/// A list in which one record seems to be longer than this is not read in blocks.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Room that reading to the end wants beyond what there is to read.
const PROBE_BYTES: usize = 64;

/// Reads a JSON list of objects in blocks that each end where an object seems to.
///
/// The first block starts after the opening bracket. The last one ends before the closing bracket, or, if the list
/// is [within](Self::within) an object, at the end of the text. Commas between blocks are left out.
///
/// That a block ends there is a guess: objects of the list are expected to start with the key of the first one.
/// Where the first block turns out to be whole objects with commas between them, the comma after it does separate
/// objects, and so on from block to block. Objects read from all of the blocks are those of the list.
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
    /// Text that has been read and is not in a block yet: the start of a record.
    rest: Vec<u8>,
    /// The text before the first record.
    head: Vec<u8>,
    /// The key of the list, if it is in an object.
    key: Option<&'static str>,
    /// The start of the first object, once it is known: a bracket and a key.
    start: Vec<u8>,
    is_started: bool,
    ended: bool,
}

impl<R: Read> ListBlocks<R> {
    /// Returns the blocks of a text.
    #[must_use]
    pub const fn new(reader: R) -> Self {
        Self {
            reader,
            block_bytes: BLOCK_BYTES,
            rest: Vec::new(),
            head: Vec::new(),
            key: None,
            start: Vec::new(),
            is_started: false,
            ended: false,
        }
    }

    /// Returns the blocks of the list that an object has as the value of a key.
    ///
    /// ```
    /// use metric_record::json::blocks::ListBlocks;
    ///
    /// let text = r#"{"info": 1, "data": [{"id": 1}], "more": 2}"#;
    /// let mut blocks = ListBlocks::within(text.as_bytes(), "data");
    /// let mut block = Vec::new();
    /// assert_eq!(blocks.next_into(&mut block), Some(true));
    /// assert_eq!(block, br#"{"id": 1}], "more": 2}"#);
    /// assert!(blocks.is_at_end());
    /// ```
    #[must_use]
    pub const fn within(reader: R, key: &'static str) -> Self {
        let mut blocks = Self::new(reader);
        blocks.key = Some(key);
        blocks
    }

    /// Returns the text before the list and its opening bracket, once the first block has been read.
    ///
    /// ```
    /// use metric_record::json::blocks::ListBlocks;
    ///
    /// let mut blocks = ListBlocks::within(r#"{"info": 1, "data": [{"id": 1}]}"#.as_bytes(), "data");
    /// assert_eq!(blocks.next_into(&mut Vec::new()), Some(true));
    /// assert_eq!(blocks.head(), br#"{"info": 1, "data": ["#);
    /// ```
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns whether the last block has been read.
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.ended
    }

    /// Returns the list with blocks of at least `block_bytes` bytes; the last block may be shorter.
    #[must_use]
    pub fn with_block_bytes(self, block_bytes: usize) -> Self {
        Self {
            block_bytes: block_bytes.max(1),
            ..self
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
            if !self.is_started {
                match list_start(block, self.key) {
                    Some(start) => self.head.extend(block.drain(..start)),
                    // The list may start later.
                    None if !self.ended
                        && (self.key.is_some() || block.iter().all(|&byte| is_space(byte))) =>
                    {
                        wanted *= 2;
                        continue;
                    }
                    None => return None,
                }
                self.is_started = true;
            }
            if self.ended && self.key.is_some() {
                return Some(true);
            }
            if self.ended {
                let end = block.iter().rposition(|&byte| !is_space(byte))?;
                if block[end] != b']' {
                    return None;
                }
                block.truncate(end);
                return Some(true);
            }
            if self.start.is_empty() {
                self.start
                    .extend_from_slice(first_key(block).unwrap_or_default());
            }
            if let Some(comma) = last_border(block, &self.start) {
                self.rest.extend_from_slice(&block[comma + 1..]);
                block.truncate(comma);
                return Some(true);
            }
            wanted *= 2;
        }
        None
    }
}

/// The start of the first object of a list, after the bracket.
fn list_start(bytes: &[u8], key: Option<&str>) -> Option<usize> {
    // A character may be cut off at the end.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?,
    };
    let mut scanner = Scanner::new(text);
    if let Some(wanted) = key {
        scanner.take(b'{').then_some(())?;
        loop {
            let key = scanner.string()?;
            scanner.take(b':').then_some(())?;
            if key == wanted {
                break;
            }
            scanner.skip_value()?;
            scanner.take(b',').then_some(())?;
        }
    }
    scanner.take(b'[').then(|| scanner.at())
}

/// The bracket and the key that an object starts with.
fn first_key(bytes: &[u8]) -> Option<&[u8]> {
    let start = bytes.trim_ascii_start();
    let mut quotes = start.iter().enumerate().filter(|(_, byte)| **byte == b'"');
    let (end, _) = quotes.nth(1)?;
    start.get(..=end).filter(|start| start.starts_with(b"{"))
}

/// The last comma that seems to be between two objects that start like this.
fn last_border(bytes: &[u8], start: &[u8]) -> Option<usize> {
    let mut end = bytes.len();
    loop {
        end = bytes[..end].iter().rposition(|&byte| byte == b'{')?;
        if start.is_empty() || !bytes[end..].starts_with(start) {
            continue;
        }
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

    /// All blocks, which have at least `block_bytes` bytes except for the last one.
    fn blocks(text: &str, block_bytes: usize) -> Option<Vec<String>> {
        let mut blocks = ListBlocks::new(text.as_bytes()).with_block_bytes(block_bytes);
        let (mut all, mut block) = (Vec::new(), Vec::new());
        while blocks.next_into(&mut block)? {
            all.push(String::from_utf8_lossy(&block).into_owned());
        }
        Some(all)
    }

    #[test]
    fn blocks_end_between_objects() {
        let text = "\n[{\"a\": \"}, 1\"} ,\r\n{\"a\": [{}, {}]}, {\"a\": 1}\n]\n";
        let records = [
            "{\"a\": \"}, 1\"} ",
            "\r\n{\"a\": [{}, {}]}",
            " {\"a\": 1}\n",
        ];
        for size in 1..text.len() + 2 {
            let blocks = blocks(text, size).expect("a list");
            assert_eq!(blocks.join(","), records.join(","), "{size}");
            assert!(size > 8 || blocks.len() > 1, "{size}: {blocks:?}");
        }
    }

    #[test]
    fn a_list_in_an_object() {
        let text = r#" {"info": {"data": []}, "data": [{"id": [{"x": 1}, {"x": 2}]}, {"id": 2}], "more": [{}, {}]} "#;
        for size in 1..text.len() + 2 {
            let mut blocks = ListBlocks::within(text.as_bytes(), "data").with_block_bytes(size);
            let (mut all, mut block) = (Vec::new(), Vec::new());
            while blocks.next_into(&mut block).expect("a list") {
                all.push(String::from_utf8_lossy(&block).into_owned());
            }
            assert!(blocks.is_at_end());
            let (_, rest) = text.split_once("\"data\": [{").expect("a list");
            assert_eq!(all.join(","), format!("{{{rest}"), "{size}");
        }
        for text in [r#"{"a": []}"#, r#"{"data": {}}"#, "[]", r#"{"data""#] {
            let mut blocks = ListBlocks::within(text.as_bytes(), "data");
            assert_eq!(blocks.next_into(&mut Vec::new()), None, "{text}");
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
