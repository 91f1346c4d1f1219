//! The file form of Arrow IPC. Only the bytes of the columns that are needed are read.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, MetadataVersion, root_as_footer};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef, UnionMode};

use crate::formats::arrow_message::{message, refuse_large_buffers};

/// The bytes at the end of a file: the length of the footer, and the name of the format.
const TRAILER: usize = 10;

/// The alignment of buffers, which is the one that Arrow recommends.
const ALIGNMENT: usize = 64;

/// A file or bytes in memory.
pub(super) trait ReadSeek: Read + Seek + Send {}

impl<R: Read + Seek + Send> ReadSeek for R {}

/// A file whose footer has been read.
pub(super) struct ArrowFile {
    reader: Box<dyn ReadSeek>,
    /// The length of the file.
    length: u64,
    schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

impl ArrowFile {
    /// Reads the footer of a file.
    pub(super) fn open(mut reader: Box<dyn ReadSeek>) -> Result<Self, ArrowError> {
        let length = reader.seek(SeekFrom::End(0))?;
        let mut trailer = [0; TRAILER];
        reader.seek(SeekFrom::End(-(TRAILER as i64)))?;
        reader.read_exact(&mut trailer)?;
        let footer_length = read_footer_length(trailer)?;
        let start = length.checked_sub((TRAILER + footer_length) as u64);
        let start = start.ok_or_else(|| malformed("the footer is longer than the file"))?;
        let mut bytes = Vec::new();
        append(&mut reader, start, footer_length as u64, &mut bytes)?;
        let footer = root_as_footer(&bytes);
        let footer = footer.map_err(|error| malformed(&format!("in the footer: {error}")))?;
        let schema = footer
            .schema()
            .ok_or_else(|| malformed("the footer has no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(malformed("the bytes of its numbers have another order"));
        }
        let blocks = |blocks: Option<_>| {
            let blocks = blocks.into_iter().flatten();
            blocks.copied().collect::<Vec<Block>>()
        };
        Ok(Self {
            length,
            schema: Arc::new(try_fb_to_schema(schema)?),
            version: footer.version(),
            dictionaries: blocks(footer.dictionaries()),
            batches: blocks(footer.recordBatches()),
            reader,
        })
    }

    /// The names and types of the columns.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The batches, with the columns at some indices. `schema` says how they are decoded: of the same layout in the file
    /// as the schema of the file.
    pub(super) fn batches(
        mut self,
        projection: Vec<usize>,
        schema: Schema,
    ) -> Result<Batches, ArrowError> {
        self.schema = Arc::new(schema);
        let decoder = FileDecoder::new(Arc::clone(&self.schema), self.version);
        let mut decoder = decoder.with_projection(projection.clone());
        let read = self.schema.project(&projection)?;
        for block in std::mem::take(&mut self.dictionaries) {
            let [metadata, body] = self.ranges(&block)?;
            let mut bytes = self.bytes(metadata.clone())?;
            let id = message(&bytes)
                .and_then(|message| Some(message.header_as_dictionary_batch()?.id()));
            if id.is_some_and(|id| !has_dictionary(&read, id)) {
                continue;
            }
            append(
                &mut self.reader,
                body.start,
                body.end - body.start,
                &mut bytes,
            )?;
            let body = (metadata.end - metadata.start) as usize;
            if let Some(message) = message(&bytes) {
                refuse_large_buffers(&message, &bytes[body..])?;
            }
            decoder.read_dictionary(&block, &bytes.into())?;
        }
        Ok(Batches {
            batches: std::mem::take(&mut self.batches).into_iter(),
            file: self,
            projection,
            decoder,
        })
    }

    /// Where the message of a block is in the file, and where its body is.
    fn ranges(&self, block: &Block) -> Result<[Range<u64>; 2], ArrowError> {
        let outside = || malformed("a block is outside of the file");
        let start = u64::try_from(block.offset()).map_err(|_| outside())?;
        let metadata = u64::try_from(block.metaDataLength()).map_err(|_| outside())?;
        let body = u64::try_from(block.bodyLength()).map_err(|_| outside())?;
        let middle = start.checked_add(metadata);
        let end = middle.and_then(|middle| middle.checked_add(body));
        match (middle, end) {
            (Some(middle), Some(end)) if end <= self.length => Ok([start..middle, middle..end]),
            _ => Err(outside()),
        }
    }

    /// The bytes of the file in a range.
    fn bytes(&mut self, range: Range<u64>) -> Result<Vec<u8>, ArrowError> {
        let mut bytes = Vec::new();
        append(
            &mut self.reader,
            range.start,
            range.end - range.start,
            &mut bytes,
        )?;
        Ok(bytes)
    }
}

/// The record batches of a file.
pub(super) struct Batches {
    file: ArrowFile,
    batches: std::vec::IntoIter<Block>,
    projection: Vec<usize>,
    decoder: FileDecoder,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let block = self.batches.next()?;
        self.read(&block).transpose()
    }
}

impl Batches {
    /// Reads the columns of a batch that are needed.
    ///
    /// The message of a batch says where in its body each buffer is. The buffers that are needed are put one after
    /// another, and the message is changed to say so.
    fn read(&mut self, block: &Block) -> Result<Option<RecordBatch>, ArrowError> {
        let [metadata, body] = self.file.ranges(block)?;
        let mut bytes = self.file.bytes(metadata)?;
        let length = body.end - body.start;
        let pieces = self.pieces(&mut bytes, length).transpose()?;
        let whole = Range {
            start: 0,
            end: length,
        };
        let pieces = pieces.unwrap_or_else(|| vec![whole]);
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        let start = bytes.len();
        for piece in pieces {
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
            let length = piece.end - piece.start;
            let from = body.start + piece.start;
            append(&mut self.file.reader, from, length, &mut bytes)?;
        }
        if let Some(message) = message(&bytes) {
            refuse_large_buffers(&message, &bytes[start..])?;
        }
        let metadata = i32::try_from(start).map_err(|_| malformed("a message is too long"))?;
        let block = Block::new(0, metadata, (bytes.len() - start) as i64);
        self.decoder.read_record_batch(&block, &bytes.into())
    }

    /// The parts of a body that are needed, for a message that is changed to have them one after another, each at a
    /// multiple of [`ALIGNMENT`]. `None` if all of the body is needed as it is, and where the message is malformed,
    /// which is for the decoder to say. It would panic at a buffer that is outside of the body.
    fn pieces(&self, bytes: &mut [u8], body: u64) -> Option<Result<Vec<Range<u64>>, ArrowError>> {
        let message = message(bytes)?;
        let batch = message.header_as_record_batch()?;
        let buffers = batch.buffers()?;
        let mut variadic = batch.variadicBufferCounts().into_iter().flatten();
        let mut is_read = Vec::with_capacity(buffers.len());
        for (index, field) in self.file.schema.fields().iter().enumerate() {
            let count = buffer_count(field.data_type(), message.version(), &mut variadic)?;
            let end = is_read.len().checked_add(count)?;
            if end > buffers.len() {
                return None;
            }
            is_read.resize(end, self.projection.contains(&index));
        }
        let mut pieces = Vec::new();
        let mut changed = Vec::with_capacity(buffers.bytes().len());
        let mut at = 0_u64;
        for (buffer, is_read) in buffers.iter().zip(is_read) {
            // Numbers below 0 are outside as well.
            let [start, length] = [buffer.offset(), buffer.length()].map(|it| it as u64);
            let end = start.checked_add(length).filter(|end| *end <= body);
            let Some(end) = end.or((!is_read).then_some(0)) else {
                return Some(Err(malformed("a buffer is outside of its batch")));
            };
            let length = if is_read { length } else { 0 };
            let moved = if length > 0 { at } else { 0 };
            changed.extend_from_slice(&moved.to_le_bytes());
            changed.extend_from_slice(&length.to_le_bytes());
            if length > 0 {
                pieces.push(start..end);
                at = (at + length).next_multiple_of(ALIGNMENT as u64);
            }
        }
        // Buffers that overlap would take more memory than the body.
        let total: u64 = pieces.iter().map(|piece| piece.end - piece.start).sum();
        let old = buffers.bytes();
        let offset = old.as_ptr().addr() - bytes.as_ptr().addr();
        if total > body || changed.len() != old.len() {
            return None;
        }
        bytes[offset..offset + changed.len()].copy_from_slice(&changed);
        Some(Ok(pieces))
    }
}

/// Whether any column has a dictionary with this number.
fn has_dictionary(schema: &Schema, id: i64) -> bool {
    #[expect(
        deprecated,
        reason = "the messages of dictionaries name them by number"
    )]
    let fields = schema.fields_with_dict_id(id);
    !fields.is_empty()
}

/// The number of buffers that a column has in a message. `variadic` are the numbers of the further ones of views, in
/// the order of the columns.
fn buffer_count(
    data_type: &DataType,
    version: MetadataVersion,
    variadic: &mut impl Iterator<Item = i64>,
) -> Option<usize> {
    let mut inner = |data_type: &DataType| buffer_count(data_type, version, variadic);
    Some(match data_type {
        DataType::Null => 0,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => 3,
        DataType::Utf8View | DataType::BinaryView => {
            2 + u32::try_from(variadic.next()?).ok()? as usize
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            2 + inner(item.data_type())?
        }
        DataType::ListView(item) | DataType::LargeListView(item) => 3 + inner(item.data_type())?,
        DataType::FixedSizeList(item, _) => 1 + inner(item.data_type())?,
        DataType::Struct(fields) => {
            let counts = fields.iter().map(|field| inner(field.data_type()));
            1 + counts.sum::<Option<usize>>()?
        }
        DataType::RunEndEncoded(ends, values) => {
            inner(ends.data_type())? + inner(values.data_type())?
        }
        DataType::Union(fields, mode) => {
            let validity = usize::from(version < MetadataVersion::V5);
            let offsets = usize::from(*mode == UnionMode::Dense);
            let counts = fields.iter().map(|(_, field)| inner(field.data_type()));
            validity + 1 + offsets + counts.sum::<Option<usize>>()?
        }
        // Validity and values; the values of a dictionary are its keys.
        _ => 2,
    })
}

/// Appends some bytes of a file, all of which it has.
fn append(
    reader: &mut dyn ReadSeek,
    start: u64,
    length: u64,
    bytes: &mut Vec<u8>,
) -> Result<(), ArrowError> {
    /// Room in which the reader sees that there is nothing more to read.
    const PROBE: usize = 64;
    let room = usize::try_from(length)
        .ok()
        .and_then(|length| length.checked_add(PROBE));
    let room = room.ok_or_else(|| malformed("a block is too long"))?;
    bytes.try_reserve(room).map_err(io::Error::from)?;
    reader.seek(SeekFrom::Start(start))?;
    let count = reader.take(length).read_to_end(bytes)?;
    if (count as u64) < length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(())
}

fn malformed(problem: &str) -> ArrowError {
    ArrowError::IpcError(problem.to_owned())
}
