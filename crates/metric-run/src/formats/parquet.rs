//! Parquet: row group by row group, and only the columns that are needed. On several threads, the columns are decoded
//! at the same time: a file may have one row group only, and its rows are needed in order.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;
use metric_record::{ReadError, quoted_id};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use rayon::prelude::*;

use crate::RunError;
use crate::block::{self, Block};
use crate::decoder::decode;
use crate::fields::FieldNames;
use crate::formats::columns::{Kinds, Plan, Rows, decode_error, refuse_other_kinds};
use crate::formats::parquet_pages::RowGroup;
use crate::formats::{Format, grouped};
use crate::part::Unit;
use crate::positions;
use crate::source::{Seekable, Source};

/// The most bytes of values that a batch decodes to, about.
const BATCH_BYTES: usize = 1 << 20;

/// The fewest and the most rows of a batch.
const BATCH_ROWS: (usize, usize) = (64, 8192);

/// A file or bytes, which several readers share.
#[derive(Clone)]
enum Input {
    File(Arc<File>),
    Memory(Bytes),
}

impl Length for Input {
    fn len(&self) -> u64 {
        match self {
            Self::File(file) => file.len(),
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }
}

impl ChunkReader for Input {
    type T = Box<dyn std::io::Read + Send>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        self.refuse_large_page(start)?;
        Ok(match self {
            Self::File(file) => Box::new(BufReader::new(FileAt {
                file: Arc::clone(file),
                position: start,
            })),
            Self::Memory(bytes) => Box::new(bytes.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        match self {
            Self::File(file) => {
                let left = file.len().saturating_sub(start);
                if length as u64 > left {
                    let problem = format!("found {left} bytes at byte {start}: expected {length}");
                    return Err(ParquetError::EOF(problem));
                }
                let mut bytes = vec![0; length];
                FileAt {
                    file: Arc::clone(file),
                    position: start,
                }
                .read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
            Self::Memory(bytes) => bytes.get_bytes(start, length),
        }
    }
}

/// A file from a position. Readers of one file on several threads must not share the position that it has itself.
struct FileAt {
    file: Arc<File>,
    position: u64,
}

impl Read for FileAt {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = positions::read_some_at(&self.file, buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

/// The most bytes of a page. The decoder would allocate what a page claims.
const PAGE_BYTES: u64 = 1 << 30;

impl Input {
    /// Refuses a page that claims to be larger than [`PAGE_BYTES`], if this is where a page starts.
    fn refuse_large_page(&self, start: u64) -> parquet::errors::Result<()> {
        let length = self.len().saturating_sub(start).min(16);
        let head = self.get_bytes(start, length as usize)?;
        match page_bytes(&head) {
            Some(bytes) if bytes > PAGE_BYTES => Err(ParquetError::General(format!(
                "a page claims {} bytes: expected at most {}",
                grouped(bytes),
                grouped(PAGE_BYTES)
            ))),
            _ => Ok(()),
        }
    }
}

/// The size that a page claims to have without compression, if a text starts with the header of one: in the compact
/// protocol of Thrift, two fields of 32 bits, the first of which is the type of the page.
fn page_bytes(head: &[u8]) -> Option<u64> {
    /// The next field, an integer of 32 bits.
    const NEXT_I32: u8 = 0x15;
    let mut rest = head;
    let mut number = || {
        let (&field, bytes) = rest.split_first()?;
        let end = bytes.iter().position(|byte| byte & 0x80 == 0)?;
        let digits = bytes.get(..=end).filter(|_| field == NEXT_I32 && end < 9)?;
        rest = &bytes[end + 1..];
        let digits = digits.iter().rev();
        Some(digits.fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f)))
    };
    number()?;
    // Negative numbers alternate with the others.
    let bytes = number()?;
    (bytes % 2 == 0).then_some(bytes / 2)
}

/// The rows of a file, batch by batch.
pub(crate) struct Batches {
    name: String,
    input: Input,
    metadata: ArrowReaderMetadata,
    plan: Arc<Plan>,
    /// The columns that are read.
    schema: SchemaRef,
    /// The columns that each reader of a row group reads: one on several threads, otherwise all of them.
    masks: Vec<ProjectionMask>,
    batch_rows: usize,
    /// The row group that is read, and its readers, whose batches have the same rows.
    group: usize,
    readers: Vec<ParquetRecordBatchReader>,
    next_row: u64,
    is_done: bool,
}

/// The names and types of the columns of a file.
pub(crate) fn schema(source: &Source) -> Result<SchemaRef, RunError> {
    let (_, metadata) = open(source)?;
    Ok(Arc::clone(metadata.schema()))
}

/// Opens a file.
fn open(source: &Source) -> Result<(Input, ArrowReaderMetadata), RunError> {
    let name = source.name();
    let input = match source.seekable()? {
        Seekable::File(file) => Input::File(Arc::new(file)),
        Seekable::Memory(bytes) => Input::Memory(Bytes::from_owner(bytes)),
    };
    refuse_foreign(&name, &input)?;
    let metadata = decode(|| ArrowReaderMetadata::load(&input, ArrowReaderOptions::new()));
    let metadata = metadata.map_err(|problem| {
        ReadError::new(&name, format!("truncated or not a Parquet file: {problem}"))
    })?;
    Ok((input, metadata))
}

/// Opens a file and plans what is read of it.
pub(crate) fn blocks(
    source: &Source,
    names: &FieldNames,
    kinds: &mut Kinds,
) -> Result<Batches, RunError> {
    let name = source.name();
    let (input, metadata) = open(source)?;
    let plan = Plan::new(&name, metadata.schema(), names)?;
    refuse_other_kinds(&name, &plan, kinds)?;
    let mask =
        |roots: &[usize]| ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
    let all = mask(&plan.projection);
    let malformed = |error: ArrowError| ReadError::new(&name, error.to_string());
    let schema = metadata.schema().project(&plan.projection);
    let schema = Arc::new(schema.map_err(malformed)?);
    let has_threads = rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1;
    let has_threads = positions::ARE_SHARED && has_threads;
    let masks = if has_threads {
        plan.projection.chunks(1).map(mask).collect()
    } else {
        vec![all.clone()]
    };
    let groups = metadata.metadata().row_groups();
    let rows: i64 = groups.iter().map(|group| group.num_rows()).sum();
    let bytes: i64 = groups
        .iter()
        .flat_map(|group| group.columns().iter().enumerate())
        .filter(|(leaf, _)| all.leaf_included(*leaf))
        .map(|(_, column)| column.uncompressed_size())
        .sum();
    let row_bytes = usize::try_from(bytes / rows.max(1))
        .unwrap_or_default()
        .max(1);
    Ok(Batches {
        batch_rows: (BATCH_BYTES / row_bytes).clamp(BATCH_ROWS.0, BATCH_ROWS.1),
        name,
        input,
        metadata,
        plan: Arc::new(plan),
        schema,
        masks,
        group: 0,
        readers: Vec::new(),
        next_row: 1,
        is_done: false,
    })
}

/// Refuses a file that does not start and end like Parquet.
fn refuse_foreign(name: &str, input: &Input) -> Result<(), RunError> {
    const MAGIC: &[u8] = b"PAR1";
    const ENCRYPTED: &[u8] = b"PARE";
    let length = input.len();
    let at = |start: u64| input.get_bytes(start, MAGIC.len()).unwrap_or_default();
    let head = input
        .get_bytes(0, length.min(8) as usize)
        .unwrap_or_default();
    Format::Parquet.refuse_start(name, &head)?;
    let start = at(0);
    if start == ENCRYPTED || (length > 8 && at(length - 4) == ENCRYPTED) {
        let problem = "is encrypted: expected Parquet without encryption";
        return Err(ReadError::new(name, problem).into());
    }
    if start == MAGIC && length >= 12 && at(length - 4) == MAGIC {
        return Ok(());
    }
    let problem = if start == MAGIC {
        "truncated: it starts but does not end like a Parquet file"
    } else {
        "not a Parquet file: expected PAR1 at its start"
    };
    Err(ReadError::new(name, problem).into())
}

impl Batches {
    fn open_group(&self, mask: ProjectionMask) -> Result<ParquetRecordBatchReader, String> {
        let metadata = Arc::clone(self.metadata.metadata());
        let group = RowGroup {
            input: Arc::new(self.input.clone()),
            metadata,
            number: self.group,
        };
        let rows = self.batch_rows.min(group.num_rows());
        decode(|| {
            let fields = Some(self.metadata.schema().fields());
            let levels = self.metadata.parquet_schema();
            let levels = parquet_to_arrow_field_levels(levels, mask, fields)?;
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, &group, rows, None)
        })
    }

    /// The next batch that has rows.
    fn batch(&mut self) -> Result<Option<RecordBatch>, String> {
        loop {
            if self.readers.is_empty() {
                if self.group >= self.metadata.metadata().num_row_groups() {
                    return Ok(None);
                }
                let open = |mask: &ProjectionMask| self.open_group(mask.clone());
                self.readers = self.masks.iter().map(open).collect::<Result<_, _>>()?;
            }
            let next = |reader: &mut ParquetRecordBatchReader| {
                decode(|| reader.next().transpose().map_err(ParquetError::from))
            };
            let batches: Vec<_> = match self.readers.as_mut_slice() {
                [one] => vec![next(one)],
                readers => readers.par_iter_mut().map(next).collect(),
            };
            let batches: Vec<_> = batches.into_iter().collect::<Result<_, String>>()?;
            match self.side_by_side(batches)? {
                Some(batch) if batch.num_rows() > 0 => return Ok(Some(batch)),
                Some(_) => {}
                None => {
                    self.readers.clear();
                    self.group += 1;
                }
            }
        }
    }

    /// The columns of batches as one batch; `None` if there are no more rows.
    fn side_by_side(
        &self,
        mut batches: Vec<Option<RecordBatch>>,
    ) -> Result<Option<RecordBatch>, String> {
        if batches.len() == 1 {
            return Ok(batches.pop().flatten());
        }
        if batches.iter().all(Option::is_none) {
            return Ok(None);
        }
        let batches = batches.into_iter().collect::<Option<Vec<_>>>();
        let batches = batches.ok_or("the columns have different numbers of rows")?;
        let columns = batches.iter().flat_map(RecordBatch::columns);
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns.cloned().collect());
        batch.map(Some).map_err(|error| error.to_string())
    }

    /// Names the column that cannot be decoded: the first one that fails on its own.
    fn error(&self, problem: &str) -> RunError {
        let fails = |index: &&usize| {
            let schema = self.metadata.parquet_schema();
            let reader = self.open_group(ProjectionMask::roots(schema, [**index]));
            let read = reader.and_then(|mut reader| {
                decode(|| {
                    reader
                        .try_for_each(|batch| batch.map(drop))
                        .map_err(ParquetError::from)
                })
            });
            read.is_err()
        };
        let columns = self.plan.projection.iter().zip(&self.plan.names);
        let column = columns.into_iter().find(|(index, _)| fails(index));
        let location = match column {
            Some((_, name)) => format!("row group {}, column {}", self.group, quoted_id(name)),
            None => format!("row group {}", self.group),
        };
        decode_error(&self.name, &location, problem)
    }
}

impl Iterator for Batches {
    type Item = Result<Block, RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        match self.batch() {
            Ok(None) => None,
            Ok(Some(batch)) => {
                let first_line = self.next_row;
                self.next_row += batch.num_rows() as u64;
                Some(Ok(Block {
                    first_line,
                    part: self.plan.part(&self.name, Unit::RowGroup(self.group)),
                    rows: block::Rows::Columns(Box::new(Rows {
                        plan: Arc::clone(&self.plan),
                        batch,
                        selected: None,
                    })),
                    ..Block::default()
                }))
            }
            Err(problem) => {
                self.is_done = true;
                Some(Err(self.error(&problem)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_claims_too_much_is_refused() {
        let rows: [(&[u8], Option<u64>); 6] = [
            (&[0x15, 0x00, 0x15, 0x0a, 0x15, 0x0a], Some(5)),
            (
                &[0x15, 0x04, 0x15, 0x80, 0x80, 0x80, 0x80, 0x10],
                Some(1 << 31),
            ),
            // A number below 0, another field, and headers that are cut.
            (&[0x15, 0x04, 0x15, 0x01], None),
            (&[0x15, 0x04, 0x19, 0x0a], None),
            (&[0x15, 0x04, 0x15, 0x80], None),
            (&[], None),
        ];
        for (head, expected) in rows {
            assert_eq!(page_bytes(head), expected, "{head:?}");
        }
        let input = |bytes: &'static [u8]| Input::Memory(Bytes::from_static(bytes));
        assert!(input(rows[0].0).get_read(0).is_ok());
        let error = input(rows[1].0)
            .get_read(0)
            .err()
            .map(|error| error.to_string());
        assert!(error.is_some_and(|it| it.contains("claims 2,147,483,648 bytes")));
    }
}
