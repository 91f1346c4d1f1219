//! Arrow IPC: the file form, also called Feather, and the stream form.

use std::io::{self, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use metric_record::ReadError;

use crate::RunError;
use crate::block::{self, Block};
use crate::decoder::decode;
use crate::fields::FieldNames;
use crate::formats::arrow_file::{ArrowFile, ReadSeek};
use crate::formats::arrow_message::Messages;
use crate::formats::columns::{
    Kinds, Plan, Rows, decode_error, refuse_large_rows, refuse_other_kinds,
};
use crate::formats::{Format, grouped};
use crate::part::Unit;
use crate::source::{Seekable, Source, Stream};

/// The first bytes of the file form.
const FILE: &[u8] = b"ARROW1";

/// The first bytes of Feather V1, which is another format.
const FEATHER_1: &[u8] = b"FEA1";

/// The most rows of a block: enough to spread over threads, and little enough to stay in the cache.
const BLOCK_ROWS: usize = 2048;

/// The batches of either form.
type Batches = Box<dyn Iterator<Item = Result<Block, RunError>> + Send>;

/// The two forms, opened.
enum Form {
    File(Box<dyn ReadSeek>),
    Stream(Stream),
}

/// Opens a file or a stream: the first bytes tell which it is.
fn open(name: &str, source: &Source, progress: &Arc<AtomicU64>) -> Result<Form, RunError> {
    let mut stream = source.stream(Arc::clone(progress))?;
    let mut start = Vec::new();
    let read = (&mut stream)
        .take(FILE.len() as u64)
        .read_to_end(&mut start);
    read.map_err(|error| ReadError::new(name, format!("cannot read: {error}")))?;
    if start.is_empty() {
        let problem = "is empty: expected an Arrow file or stream";
        return Err(ReadError::new(name, problem).into());
    }
    if start.starts_with(FEATHER_1) {
        let problem = "is Feather of version 1: expected version 2, which is Arrow IPC";
        return Err(ReadError::new(name, problem).into());
    }
    Format::Arrow.refuse_start(name, &start)?;
    if start != FILE {
        return Ok(Form::Stream(Box::new(Cursor::new(start).chain(stream))));
    }
    Ok(Form::File(match source.seekable()? {
        Seekable::File(file) => Box::new(file),
        Seekable::Memory(bytes) => Box::new(Cursor::new(bytes)),
    }))
}

/// The names and types of the columns of a file.
pub(crate) fn schema(source: &Source) -> Result<SchemaRef, RunError> {
    let name = source.name();
    let schema = match open(&name, source, &Arc::default())? {
        Form::File(file) => {
            decode(|| Ok::<_, ArrowError>(Arc::clone(ArrowFile::open(file)?.schema())))
        }
        Form::Stream(stream) => {
            decode(|| Ok::<_, ArrowError>(StreamReader::try_new(stream, None)?.schema()))
        }
    };
    schema.map_err(|problem| not_arrow(&name, &problem))
}

/// The blocks of a file or a stream.
pub(crate) fn blocks(
    source: &Source,
    names: &FieldNames,
    progress: &Arc<AtomicU64>,
    kinds: &mut Kinds,
) -> Result<Batches, RunError> {
    let name = source.name();
    match open(&name, source, progress)? {
        Form::File(file) => of_file(name, file, names, kinds),
        Form::Stream(stream) => of_stream(name, stream, names, kinds),
    }
}

fn not_arrow(name: &str, problem: &str) -> RunError {
    let problem = problem.lines().next().unwrap_or_default();
    ReadError::new(name, format!("truncated or not an Arrow file: {problem}")).into()
}

/// Opens the file form.
fn of_file(
    name: String,
    reader: Box<dyn ReadSeek>,
    names: &FieldNames,
    kinds: &mut Kinds,
) -> Result<Batches, RunError> {
    let file = decode(|| ArrowFile::open(reader));
    let file = file.map_err(|problem| not_arrow(&name, &problem))?;
    let plan = Plan::new(&name, file.schema(), names)?;
    refuse_other_kinds(&name, &plan, kinds)?;
    let schema = plan.with_bytes(file.schema());
    let batches = decode(|| file.batches(plan.projection.clone(), schema));
    let batches = batches.map_err(|problem| not_arrow(&name, &problem))?;
    Ok(Box::new(Numbered::new(name, plan, batches)))
}

/// Opens the stream form.
fn of_stream(
    name: String,
    stream: Stream,
    names: &FieldNames,
    kinds: &mut Kinds,
) -> Result<Batches, RunError> {
    let (plan, reader) = open_stream(&name, stream, |schema| Plan::new(&name, schema, names))?;
    refuse_other_kinds(&name, &plan, kinds)?;
    Ok(Box::new(Numbered::new(name, plan, reader)))
}

/// Opens a stream; a plan says which parts of it are read.
pub(super) fn open_stream(
    name: &str,
    stream: Stream,
    plan: impl FnOnce(&Schema) -> Result<Plan, RunError>,
) -> Result<(Plan, StreamBatches), RunError> {
    let mut start = Recorded {
        inner: Tail {
            inner: BufReader::with_capacity(1 << 16, stream),
            is_short: false,
        },
        bytes: Vec::new(),
    };
    let schema = decode(|| Ok::<_, ArrowError>(StreamReader::try_new(&mut start, None)?.schema()));
    let plan = plan(&*schema.map_err(|problem| not_arrow(name, &problem))?)?;
    // Now that the columns are known, the reader starts again.
    let stream = Messages::new(Cursor::new(start.bytes).chain(start.inner));
    let projection = plan.projection.clone();
    let reader = decode(|| StreamReader::try_new(stream, Some(projection)));
    let reader = reader.map_err(|problem| not_arrow(name, &problem))?;
    Ok((
        plan,
        StreamBatches {
            reader,
            rows: 0,
            batches: 0,
            is_done: false,
        },
    ))
}

/// The batches of a stream, with the columns that are requested.
pub(super) struct StreamBatches {
    reader: StreamReader<Messages<Chain<Cursor<Vec<u8>>, Tail>>>,
    rows: u64,
    batches: u64,
    is_done: bool,
}

impl Iterator for StreamBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.reader.next();
        let batch = match next {
            Some(Ok(batch)) => batch,
            Some(Err(error)) => {
                self.is_done = true;
                return Some(Err(match error {
                    ArrowError::IoError(_, io) if io.kind() == io::ErrorKind::UnexpectedEof => {
                        self.truncated()
                    }
                    error => error,
                }));
            }
            None => {
                self.is_done = true;
                let (_, tail) = self.reader.get_ref().get_ref().get_ref();
                let is_short = tail.is_short;
                return is_short.then(|| Err(self.truncated()));
            }
        };
        self.batches += 1;
        self.rows += batch.num_rows() as u64;
        Some(Ok(batch))
    }
}

impl StreamBatches {
    /// The error of a stream without an end.
    fn truncated(&self) -> ArrowError {
        let rows = if self.rows == 1 { "row" } else { "rows" };
        ArrowError::IpcError(format!(
            "truncated after batch {} ({} {rows}): expected the end of the stream",
            self.batches,
            grouped(self.rows)
        ))
    }
}

/// Remembers what was read.
struct Recorded {
    inner: Tail,
    bytes: Vec<u8>,
}

impl Read for Recorded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

/// Remembers whether somebody wanted more than there was. A stream with its end marker is read up to that.
struct Tail {
    inner: BufReader<Stream>,
    is_short: bool,
}

impl Read for Tail {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.is_short |= count == 0 && !buffer.is_empty();
        Ok(count)
    }
}

/// Numbers batches and their rows.
struct Numbered<B> {
    name: String,
    plan: Arc<Plan>,
    batches: B,
    number: usize,
    next_row: u64,
    /// The rows of the batch at hand that are in no block yet.
    rest: Option<RecordBatch>,
    is_done: bool,
}

impl<B> Numbered<B> {
    fn new(name: String, plan: Plan, batches: B) -> Self {
        Self {
            name,
            plan: Arc::new(plan),
            batches,
            number: 0,
            next_row: 1,
            rest: None,
            is_done: false,
        }
    }

    /// The next rows of the batch at hand, if there are any.
    fn slice(&mut self) -> Option<Result<Block, RunError>> {
        let batch = self.rest.take().filter(|batch| batch.num_rows() > 0)?;
        let rows = batch.num_rows().min(BLOCK_ROWS);
        if rows < batch.num_rows() {
            self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        let first_line = self.next_row;
        self.next_row += rows as u64;
        let batch = batch.slice(0, rows);
        let room = refuse_large_rows(&self.name, &batch);
        let (name, plan, number) = (&self.name, &self.plan, self.number);
        Some(room.map(|()| block(name, plan, batch, number, first_line)))
    }
}

impl<B: Iterator<Item = Result<RecordBatch, ArrowError>>> Iterator for Numbered<B> {
    type Item = Result<Block, RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(rows) = self.slice() {
                if rows.is_err() {
                    self.is_done = true;
                    self.rest = None;
                }
                return Some(rows);
            }
            if self.is_done {
                return None;
            }
            self.number += 1;
            match decode(|| self.batches.next().transpose()) {
                Ok(None) => return None,
                Ok(batch) => self.rest = batch,
                Err(problem) => {
                    self.is_done = true;
                    return Some(Err(batch_error(&self.name, self.number, &problem)));
                }
            }
        }
    }
}

/// The error of a batch that cannot be decoded.
pub(super) fn batch_error(name: &str, number: usize, problem: &str) -> RunError {
    match problem.split_once("truncated after") {
        Some((_, after)) => ReadError::new(name, format!("truncated after{after}")).into(),
        None => decode_error(name, &format!("batch {number}"), problem),
    }
}

/// A batch as a block.
fn block(
    name: &str,
    plan: &Arc<Plan>,
    batch: RecordBatch,
    number: usize,
    first_line: u64,
) -> Block {
    Block {
        first_line,
        part: plan.part(name, Unit::Batch(number)),
        rows: block::Rows::Columns(Box::new(Rows {
            plan: Arc::clone(plan),
            batch,
            selected: None,
        })),
        ..Block::default()
    }
}
