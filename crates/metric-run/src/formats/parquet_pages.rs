//! Pages of Parquet files, whose counts are not trusted.

use std::sync::Arc;

use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use crate::formats::grouped;

/// A row group whose pages are checked before they are decoded.
pub(super) struct RowGroup<R> {
    pub(super) input: Arc<R>,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) number: usize,
}

impl<R: ChunkReader + 'static> RowGroups for RowGroup<R> {
    fn num_rows(&self) -> usize {
        let group = self.metadata.row_group(self.number);
        usize::try_from(group.num_rows()).unwrap_or_default()
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let group = self.metadata.row_group(self.number);
        let chunk = group.column(column);
        let input = Arc::clone(&self.input);
        let levels = chunk.column_descr();
        let pages = Pages {
            pages: SerializedPageReader::new(input, chunk, self.num_rows(), None)?,
            has_levels: [levels.max_rep_level() > 0, levels.max_def_level() > 0],
        };
        Ok(Box::new(Chunk(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.metadata.row_group(self.number)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The column of a row group.
struct Chunk<R: ChunkReader>(Option<Pages<R>>);

impl<R: ChunkReader + 'static> Iterator for Chunk<R> {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(Ok(Box::new(self.0.take()?)))
    }
}

impl<R: ChunkReader + 'static> PageIterator for Chunk<R> {}

/// The pages of the column of a row group.
struct Pages<R: ChunkReader> {
    pages: SerializedPageReader<R>,
    /// Whether values have levels of repetition, and of definition.
    has_levels: [bool; 2],
}

impl<R: ChunkReader> Iterator for Pages<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            refuse_large_counts(page, self.has_levels)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

/// Refuses a page of texts whose lengths claim to be more than its values: the decoder would allocate what they claim.
fn refuse_large_counts(page: &Page, has_levels: [bool; 2]) -> Result<()> {
    let lengths = match page.encoding() {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        // Those of what a text shares with the one before it, and of the rest.
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => 0,
    };
    // Where there are no values, the decoder says so.
    let mut values = values(page, has_levels).unwrap_or_default();
    for _ in 0..lengths {
        let Some(count) = count(values) else {
            return Ok(());
        };
        if count > u64::from(page.num_values()) {
            return Err(ParquetError::General(format!(
                "a page of {} values claims {} texts",
                grouped(page.num_values().into()),
                grouped(count)
            )));
        }
        values = after_lengths(values).unwrap_or_default();
    }
    Ok(())
}

/// The bytes of a data page after its levels.
fn values(page: &Page, has_levels: [bool; 2]) -> Option<&[u8]> {
    match page {
        Page::DataPage { buf, .. } => {
            let levels = has_levels.into_iter().filter(|has_levels| *has_levels);
            let mut rest = &**buf;
            for _ in levels {
                let (length, after) = rest.split_first_chunk()?;
                rest = after.get(u32::from_le_bytes(*length) as usize..)?;
            }
            Some(rest)
        }
        Page::DataPageV2 {
            buf,
            def_levels_byte_len,
            rep_levels_byte_len,
            ..
        } => buf.get(*def_levels_byte_len as usize + *rep_levels_byte_len as usize..),
        Page::DictionaryPage { .. } => None,
    }
}

/// The number of lengths in the encoding of numbers by their differences.
fn count(bytes: &[u8]) -> Option<u64> {
    let mut rest = bytes;
    let [_block, _parts, count] = [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
    Some(count)
}

/// The bytes after numbers that are encoded by their differences, in blocks of the same number of parts.
fn after_lengths(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    let [block, parts, count, _first] = [
        number(&mut rest)?,
        number(&mut rest)?,
        number(&mut rest)?,
        number(&mut rest)?,
    ];
    let values = block.checked_div(parts)?;
    let mut left = count.saturating_sub(1);
    while left > 0 && values > 0 {
        number(&mut rest)?;
        let (widths, after) = rest.split_at_checked(usize::try_from(parts).ok()?)?;
        rest = after;
        for width in widths {
            if left > 0 {
                let length = values.checked_mul(u64::from(*width))? / 8;
                rest = rest.get(usize::try_from(length).ok()?..)?;
            }
            left = left.saturating_sub(values);
        }
    }
    Some(rest)
}

/// Takes a number of seven bits per byte from the start of some bytes.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0)?;
    let (digits, rest) = bytes.split_at_checked(end + 1)?;
    *bytes = rest;
    let digits = digits.iter().rev().filter(|_| end < 10);
    Some(digits.fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f)))
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    use super::*;

    /// A file of texts, some of which are null, in one row group.
    fn file(encoding: Encoding, version: WriterVersion) -> bytes::Bytes {
        let texts = (0..5000).map(|number| (number % 7 > 0).then(|| format!("text {number}")));
        let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
        let batch = RecordBatch::try_from_iter([("text", texts)]).expect("a batch");
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_writer_version(version)
            .set_encoding(encoding)
            .set_data_page_row_count_limit(1000)
            .set_write_batch_size(1000);
        let mut bytes = Vec::new();
        let writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build()));
        let mut writer = writer.expect("a file");
        writer.write(&batch).expect("a batch");
        writer.close().expect("a file");
        bytes.into()
    }

    #[test]
    fn lengths_are_counted_and_passed_over() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (encoding, lengths) in [
                (Encoding::DELTA_LENGTH_BYTE_ARRAY, 1),
                (Encoding::DELTA_BYTE_ARRAY, 2),
            ] {
                let input = file(encoding, version);
                let builder = ParquetRecordBatchReaderBuilder::try_new(input.clone());
                let metadata = Arc::clone(builder.expect("a file").metadata());
                let group = RowGroup {
                    input: Arc::new(input),
                    metadata,
                    number: 0,
                };
                let mut chunk = group.column_chunks(0).expect("a column");
                let pages = chunk.next().expect("pages").expect("pages");
                let mut of_all = 0;
                for page in pages {
                    let page = page.expect("a page");
                    let mut rest = values(&page, [false, true]).expect("values");
                    let mut counts = Vec::new();
                    for _ in 0..lengths {
                        counts.push(count(rest).expect("a count"));
                        rest = after_lengths(rest).expect("lengths");
                    }
                    assert!(counts.iter().all(|count| *count == counts[0]));
                    of_all += counts[0];
                    // The texts themselves come after their lengths.
                    let text = str::from_utf8(rest).expect("texts");
                    assert!(text.contains("text "), "{text}");
                }
                assert_eq!(
                    of_all,
                    (0..5000).filter(|number| number % 7 > 0).count() as u64
                );
            }
        }
    }

    #[test]
    fn a_page_that_claims_more_texts_than_values_is_refused() {
        // Blocks of 128 numbers in 4 parts; the third number is their count.
        let lengths = |count: u8| vec![0x80, 1, 4, count, 0];
        let one = [lengths(1), lengths(1)].concat();
        for (encoding, bytes, is_refused) in [
            (Encoding::DELTA_BYTE_ARRAY, one, false),
            (
                Encoding::DELTA_BYTE_ARRAY,
                [lengths(4), lengths(1)].concat(),
                true,
            ),
            (
                Encoding::DELTA_BYTE_ARRAY,
                [lengths(1), lengths(4)].concat(),
                true,
            ),
            (Encoding::DELTA_LENGTH_BYTE_ARRAY, lengths(3), false),
            (Encoding::DELTA_LENGTH_BYTE_ARRAY, lengths(4), true),
            (Encoding::PLAIN, lengths(4), false),
            (Encoding::DELTA_BYTE_ARRAY, vec![0x80], false),
        ] {
            let levels = vec![2, 0, 0, 0, 6, 1];
            let first = Page::DataPage {
                buf: [levels.clone(), bytes.clone()].concat().into(),
                num_values: 3,
                encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let second = Page::DataPageV2 {
                buf: [levels[4..].to_vec(), bytes].concat().into(),
                num_values: 3,
                encoding,
                num_nulls: 0,
                num_rows: 3,
                def_levels_byte_len: 2,
                rep_levels_byte_len: 0,
                is_compressed: false,
                statistics: None,
            };
            for page in [first, second] {
                let refused = refuse_large_counts(&page, [false, true]);
                let problem = refused.map_or_else(|error| error.to_string(), |()| String::new());
                let claims = problem.contains("a page of 3 values claims 4 texts");
                assert_eq!(claims, is_refused, "{page:?}: {problem}");
            }
        }
    }
}
