//! Sources as blocks of records.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use super::text::TextBlocks;
use super::{Origin, Source};
use crate::RunError;
use crate::block::{Block, Extent, Rows};
use crate::fields::FieldNames;
#[cfg(any(feature = "arrow", feature = "parquet"))]
use crate::formats::Format;
#[cfg(feature = "columns")]
use crate::formats::columns::Kinds;
use crate::part::Part;

impl Source {
    /// Opens the source, whose records have fields of these names; `progress` counts the bytes as they are
    /// read from disk. A line must not be longer than `max_bytes`, nor must a file of JSON.
    pub(crate) fn open(
        &self,
        names: &FieldNames,
        progress: &Arc<AtomicU64>,
        max_bytes: u64,
    ) -> Result<Blocks, RunError> {
        self.record_format()?;
        let mut blocks = Blocks {
            files: self.files().into_iter().collect(),
            names: names.clone(),
            progress: Arc::clone(progress),
            max_bytes,
            current: Reading::Ended,
            before: 0,
            #[cfg(feature = "columns")]
            kinds: None,
        };
        blocks.open_next()?;
        Ok(blocks)
    }
}

/// Reads a source block by block, file by file.
pub(crate) struct Blocks {
    /// The files that are not open yet.
    files: VecDeque<Source>,
    names: FieldNames,
    progress: Arc<AtomicU64>,
    max_bytes: u64,
    current: Reading,
    /// The number of lines in files that are read.
    before: u64,
    /// The kinds of values of the first file, where files have types.
    #[cfg(feature = "columns")]
    kinds: Kinds,
}

/// The file that is open.
enum Reading {
    Text(Box<TextBlocks>),
    /// Blocks of another format. The lock is never waited for: it makes the reader one that threads share.
    Other(Mutex<Box<dyn Iterator<Item = Result<Block, RunError>> + Send>>),
    /// The rest of the file is left out.
    Left,
    Ended,
}

impl Blocks {
    /// The blocks of nothing.
    pub(crate) fn ended() -> Self {
        Self {
            files: VecDeque::new(),
            names: FieldNames::new([]),
            progress: Arc::default(),
            max_bytes: 0,
            current: Reading::Ended,
            before: 0,
            #[cfg(feature = "columns")]
            kinds: None,
        }
    }

    fn open_next(&mut self) -> Result<(), RunError> {
        let Some(source) = self.files.pop_front() else {
            self.current = Reading::Ended;
            return Ok(());
        };
        let other = |blocks| Reading::Other(Mutex::new(blocks));
        self.current = match (source.record_format()?, &source.origin) {
            #[cfg(feature = "arrow")]
            (_, Origin::Dataset(dataset)) => other(Box::new(dataset.blocks(&self.names)?)),
            (_, Origin::Records(name, records)) => {
                let part = Part {
                    file: name.clone(),
                    ..Part::default()
                };
                let block = Block {
                    text: records.text.clone(),
                    rows: Rows::Found(records.found.clone()),
                    part: Arc::new(part),
                    ..Block::default()
                };
                other(Box::new(std::iter::once(Ok(block))))
            }
            #[cfg(feature = "parquet")]
            (Format::Parquet, _) => other(Box::new(crate::formats::parquet::blocks(
                &source,
                &self.names,
                &mut self.kinds,
            )?)),
            #[cfg(feature = "arrow")]
            (Format::Arrow, _) => {
                let (names, progress) = (&self.names, &self.progress);
                let blocks =
                    crate::formats::arrow::blocks(&source, names, progress, &mut self.kinds);
                blocks.map(other)?
            }
            (format, _) => {
                let (names, progress) = (&self.names, &self.progress);
                let text = TextBlocks::open(&source, format, names, progress, self.max_bytes);
                Reading::Text(Box::new(text?))
            }
        };
        Ok(())
    }

    /// The next block, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Block>, RunError> {
        loop {
            let block = match &mut self.current {
                Reading::Text(text) => {
                    let block = text.next()?;
                    if block.is_none() {
                        self.before += text.lines();
                    }
                    block.map(|block| Block {
                        before: self.before,
                        ..block
                    })
                }
                Reading::Other(blocks) => {
                    let blocks = blocks.get_mut().map_err(|_| {
                        RunError::Internal("a thread that reads has failed".to_owned())
                    })?;
                    blocks.next().transpose()?
                }
                Reading::Left => None,
                Reading::Ended => return Ok(None),
            };
            match block {
                Some(block) => return Ok(Some(block)),
                None => self.open_next()?,
            }
        }
    }

    /// Goes on after an error. Returns what it makes unreadable, or `None` at the end.
    pub(crate) fn resume(&mut self) -> Option<Extent> {
        if let Reading::Text(text) = &mut self.current
            && text.take_past_line()
        {
            return Some(Extent::Line);
        }
        if self.files.is_empty() {
            return None;
        }
        self.current = Reading::Left;
        Some(Extent::File)
    }

    /// Whether all has been read.
    pub(crate) fn at_end(&self) -> bool {
        match &self.current {
            Reading::Text(text) => text.at_end() && self.files.is_empty(),
            Reading::Other(_) | Reading::Left => false,
            Reading::Ended => true,
        }
    }

    /// Takes back a block that is done with, to reuse its memory.
    pub(crate) fn recycle(&mut self, block: Block) {
        if let Reading::Text(text) = &mut self.current {
            text.recycle(block);
        }
    }
}
