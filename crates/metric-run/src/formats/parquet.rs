//! Parquet: row group by row group, and only the columns that are needed. Each column is decoded on its own, so that an
//! error names it on any number of threads. On several threads, the columns are decoded at the same time: a file may have
//! one row group only, and its rows are needed in order.

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
use crate::formats::columns::{
    Kinds, Plan, Rows, decode_error, refuse_large_rows, refuse_other_kinds,
};
use crate::formats::parquet_pages::RowGroup;
use crate::formats::thrift::{has_encryption, refuse_long_header, refuse_long_lists};
use crate::formats::{Format, grouped};
use crate::part::Unit;
use crate::source::{Seekable, Source};
use crate::{memory, positions};

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
                let mut bytes = memory::zeros(length)?;
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

/// The number of bytes at the end of a file: the length of its metadata, and the mark of the format.
const END: usize = 8;

/// The number of bytes of the header of a page that are read at a time: most are shorter.
const PAGE_HEAD: u64 = 1 << 10;

impl Input {
    /// Refuses a page that claims to be larger than [`PAGE_BYTES`], or whose header is long, if this is where a page starts.
    fn refuse_large_page(&self, start: u64) -> parquet::errors::Result<()> {
        let head = self.page_head(start)?;
        match page_bytes(&head) {
            Some(bytes) if bytes > PAGE_BYTES => Err(ParquetError::General(format!(
                "a page claims {} bytes: expected at most {}",
                grouped(bytes),
                grouped(PAGE_BYTES)
            ))),
            // The values are copied out of the page.
            Some(bytes) if bytes > PAGE_HEAD => Ok(memory::refuse_lack(2 * bytes)?),
            // The end of the file is the only other text that is read in this way.
            _ if head.len() > END => {
                let end = start + head.len() as u64;
                refuse_long_header(head, end, &|position| self.page_head(position))
            }
            _ => Ok(()),
        }
    }

    /// Some bytes that start at a position; none at the end of the file.
    fn page_head(&self, start: u64) -> parquet::errors::Result<Bytes> {
        let length = self.len().saturating_sub(start).min(PAGE_HEAD);
        if length == 0 {
            return Ok(Bytes::new());
        }
        self.get_bytes(start, length as usize)
    }

    /// The metadata at the end of the file; none if there is no room for what they claim.
    fn metadata(&self) -> Bytes {
        let end = self.len().saturating_sub(END as u64);
        let length = self.get_bytes(end, END).ok();
        let length = length.and_then(|end| Some(u32::from_le_bytes(*end.first_chunk()?)));
        let length = length.unwrap_or_default();
        let start = end.checked_sub(length.into());
        let bytes = start.and_then(|start| self.get_bytes(start, length as usize).ok());
        bytes.unwrap_or_default()
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
    /// Whether several columns are decoded at the same time.
    has_threads: bool,
    batch_rows: usize,
    /// The row group that is read, the number of its rows that are left, and a reader for each of its columns.
    group: usize,
    rows_left: usize,
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
    let metadata = refuse_long_lists(&input.metadata());
    let metadata = metadata
        .and_then(|()| decode(|| ArrowReaderMetadata::load(&input, ArrowReaderOptions::new())));
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
    let roots = plan.projection.iter().copied();
    let needed = ProjectionMask::roots(metadata.parquet_schema(), roots);
    let malformed = |error: ArrowError| ReadError::new(&name, error.to_string());
    let schema = metadata.schema().project(&plan.projection);
    let schema = Arc::new(schema.map_err(malformed)?);
    let has_threads = rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1;
    let groups = metadata.metadata().row_groups();
    let rows: i64 = groups.iter().map(|group| group.num_rows()).sum();
    let bytes: i64 = groups
        .iter()
        .flat_map(|group| group.columns().iter().enumerate())
        .filter(|(leaf, _)| needed.leaf_included(*leaf))
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
        has_threads: positions::ARE_SHARED && has_threads,
        group: 0,
        rows_left: 0,
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

/// The problem of a row group, and the index of the needed column that has it.
type Failure = (Option<usize>, String);

impl Batches {
    /// The row group that is read.
    fn row_group(&self) -> RowGroup<Input> {
        RowGroup {
            input: Arc::new(self.input.clone()),
            metadata: Arc::clone(self.metadata.metadata()),
            number: self.group,
        }
    }

    /// Opens a reader for each column of the row group.
    fn open_group(&mut self) -> Result<(), Failure> {
        let group = self.row_group();
        self.rows_left = group.num_rows();
        // Columns may have rows even if the row group claims to have none.
        let rows = self.batch_rows.min(self.rows_left).max(1);
        let schema = self.metadata.parquet_schema();
        for (column, root) in self.plan.projection.iter().enumerate() {
            let reader = decode(|| {
                let fields = Some(self.metadata.schema().fields());
                let column = ProjectionMask::roots(schema, [*root]);
                let levels = parquet_to_arrow_field_levels(schema, column, fields)?;
                ParquetRecordBatchReader::try_new_with_row_groups(&levels, &group, rows, None)
            });
            let reader = reader.map_err(|problem: String| (Some(column), problem))?;
            self.readers.push(reader);
        }
        Ok(())
    }

    /// The next batch that has rows.
    fn batch(&mut self) -> Result<Option<RecordBatch>, Failure> {
        loop {
            if self.readers.is_empty() {
                if self.group >= self.metadata.metadata().num_row_groups() {
                    return Ok(None);
                }
                self.open_group()?;
            }
            let batch = self.next_rows()?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
            self.readers.clear();
            self.group += 1;
        }
    }

    /// The next rows of all columns; none at the end of the row group.
    fn next_rows(&mut self) -> Result<RecordBatch, Failure> {
        let expected = self.batch_rows.min(self.rows_left);
        let next = |reader: &mut ParquetRecordBatchReader| {
            decode(|| reader.next().transpose().map_err(text_of))
        };
        let batches: Vec<_> = match self.readers.as_mut_slice() {
            readers @ [_, _, ..] if self.has_threads => readers.par_iter_mut().map(next).collect(),
            readers => readers.iter_mut().map(next).collect(),
        };
        let mut columns = Vec::with_capacity(batches.len());
        for (column, batch) in batches.into_iter().enumerate() {
            let failed = |problem| (Some(column), problem);
            let batch = batch.map_err(failed)?;
            let rows = batch.as_ref().map_or(0, RecordBatch::num_rows);
            if rows != expected {
                return Err(failed(self.other_rows(rows)));
            }
            columns.extend(batch.iter().flat_map(RecordBatch::columns).cloned());
        }
        self.rows_left -= expected;
        if expected == 0 {
            return Ok(RecordBatch::new_empty(Arc::clone(&self.schema)));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| (None, text_of(error)))
    }

    /// The problem of a column whose next batch has this many rows, which are too few or too many.
    fn other_rows(&self, rows: usize) -> String {
        let of_group = self.row_group().num_rows();
        let found = match self.rows_left {
            0 => "more".to_owned(),
            left => grouped((of_group - left + rows) as u64),
        };
        let of_group = grouped(of_group as u64);
        format!("found {found} rows: expected the {of_group} of the row group")
    }

    /// The error of a row group that cannot be decoded.
    fn error(&self, (column, problem): &Failure) -> RunError {
        let name = column.and_then(|column| self.plan.names.get(column));
        let location = match name {
            Some(name) => format!("row group {}, column {}", self.group, quoted_id(name)),
            None => format!("row group {}", self.group),
        };
        if has_encryption(&self.input.metadata()) {
            let problem =
                "cannot be decoded, as columns are encrypted: expected Parquet without encryption";
            return ReadError::new(&self.name, problem).at(location).into();
        }
        decode_error(&self.name, &location, problem)
    }
}

/// The text of a decoder's error, without the names of the layers that it went through.
fn text_of(error: ArrowError) -> String {
    match error {
        ArrowError::ParquetError(problem) => problem,
        error => error.to_string(),
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
                if let Err(error) = refuse_large_rows(&self.name, &batch) {
                    self.is_done = true;
                    return Some(Err(error));
                }
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
    use arrow_array::{ArrayRef, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::{ParquetMetaDataWriter, RowGroupMetaData};
    use parquet::file::properties::WriterProperties;

    use super::*;
    use crate::fields::Role;

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
        // A list of 65,535 numbers, which is not a field of a page, and the end of a file with the same bytes.
        let list = &[0x19, 0xf7, 0xff, 0xff, 0x03, 0, 0, 0, 0];
        let error = input(list).get_read(0).err();
        let error = error.map(|error| error.to_string());
        assert!(error.is_some_and(|it| it.contains("a list of 65,535 elements")));
        assert!(input(&list[..END]).get_read(0).is_ok());
        // The same list behind statistics that are longer than what is read at a time.
        let statistics = [&[0x18, 0xd0, 0x0f][..], &[7; 2000]].concat();
        let header = |next: &[u8]| Input::Memory([&statistics, next, &[0; 8]].concat().into());
        assert!(header(&[0x15, 2]).get_read(0).is_ok());
        let error = header(list).get_read(0).err();
        let error = error.map(|error| error.to_string());
        assert!(error.is_some_and(|it| it.contains("a list of 65,535 elements")));
    }

    /// A file of two row groups with 4 rows and 2 rows, whose metadata are changed after it was written.
    fn changed(
        change: impl Fn(RowGroupMetaData, &RowGroupMetaData) -> RowGroupMetaData,
    ) -> Vec<u8> {
        let texts = || -> ArrayRef {
            Arc::new(StringArray::from_iter_values([
                "a", "b", "c", "d", "e", "f",
            ]))
        };
        let columns = ["id", "reference", "prediction"].map(|name| (name, texts()));
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(4));
        let mut bytes = Vec::new();
        let writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build()));
        let mut writer = writer.expect("a file");
        writer.write(&batch).expect("a batch");
        let metadata = writer.close().expect("a file");
        let groups = metadata.row_groups();
        let groups = groups.iter().zip(groups.iter().rev());
        let groups = groups.map(|(group, other)| change(group.clone(), other));
        let groups = groups.collect();
        let metadata = metadata.into_builder().set_row_groups(groups).build();
        ParquetMetaDataWriter::new(&mut bytes, &metadata)
            .finish()
            .expect("metadata");
        bytes
    }

    /// The error of reading a file on one thread, which is the same on two.
    fn error_of(bytes: &[u8]) -> Option<String> {
        let names = FieldNames::new([
            ("id", Role::Id, ""),
            ("reference", Role::Value, ""),
            ("prediction", Role::Other, ""),
        ]);
        let source = Source::memory("data", bytes, Format::Parquet);
        let read = || {
            let mut blocks = blocks(&source, &names, &mut None)?;
            blocks.try_for_each(|block| block.map(drop))
        };
        let [one, two] = [1, 2].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().expect("threads");
            pool.install(read).err().map(|error| error.to_string())
        });
        assert_eq!(one, two);
        one
    }

    #[test]
    fn columns_have_the_rows_of_their_row_group() {
        let rows = |rows: i64| {
            move |group: RowGroupMetaData, _: &RowGroupMetaData| {
                group
                    .into_builder()
                    .set_num_rows(rows)
                    .build()
                    .expect("a row group")
            }
        };
        let column = |column: usize| {
            move |group: RowGroupMetaData, other: &RowGroupMetaData| {
                let mut columns = group.columns().to_vec();
                columns[column] = other.column(column).clone();
                group
                    .into_builder()
                    .set_column_metadata(columns)
                    .build()
                    .expect("a row group")
            }
        };
        let problem = |column: &str, found: &str, expected: i64| {
            format!(
                "data: row group 0, column \"{column}\": cannot be decoded: found {found} rows: expected the {expected} of the row group"
            )
        };
        assert_eq!(error_of(&changed(|group, _| group)), None);
        for (bytes, expected) in [
            (changed(rows(5)), problem("id", "4", 5)),
            (changed(rows(3)), problem("id", "more", 3)),
            (changed(rows(0)), problem("id", "more", 0)),
            (changed(rows(-1)), problem("id", "more", 0)),
            (changed(column(0)), problem("id", "2", 4)),
            (changed(column(1)), problem("reference", "2", 4)),
        ] {
            assert_eq!(error_of(&bytes), Some(expected));
        }
    }
}
