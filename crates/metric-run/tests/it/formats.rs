//! The same records in any two formats give the same bytes of result.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use metric_run::record::Shard;
use metric_run::registry::{Options, find};
use metric_run::{
    CsvOptions, Data, EmptyField, Run, Source, merge_states, read_states, write_states,
};
use proptest::prelude::*;

/// An id, a reference and a prediction.
type Row = (String, String, String);

fn batch(rows: &[Row]) -> RecordBatch {
    let column = |cell: fn(&Row) -> &str| -> ArrayRef {
        Arc::new(
            rows.iter()
                .map(|row| Some(cell(row)))
                .collect::<StringArray>(),
        )
    };
    RecordBatch::try_from_iter([
        ("id", column(|row| &row.0)),
        ("reference", column(|row| &row.1)),
        ("prediction", column(|row| &row.2)),
    ])
    .unwrap()
}

fn json_lines(rows: &[Row]) -> String {
    let line = |(id, reference, prediction): &Row| {
        let record =
            serde_json::json!({"id": id, "reference": reference, "prediction": prediction});
        format!("{record}\n")
    };
    rows.iter().map(line).collect()
}

/// The output of the crate `csv`, with all texts in quotes.
fn csv(rows: &[Row], delimiter: u8) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .quote_style(csv::QuoteStyle::Always)
        .from_writer(Vec::new());
    writer
        .write_record(["id", "reference", "prediction"])
        .unwrap();
    for (id, reference, prediction) in rows {
        writer.write_record([id, reference, prediction]).unwrap();
    }
    writer.into_inner().unwrap()
}

fn parquet(batch: &RecordBatch, group_rows: usize) -> Vec<u8> {
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(group_rows))
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    for start in (0..batch.num_rows()).step_by(3) {
        let len = 3.min(batch.num_rows() - start);
        writer.write(&batch.slice(start, len)).unwrap();
    }
    writer.into_inner().unwrap()
}

/// Files with the same records in each format, in a folder.
fn files(folder: &Path, rows: &[Row]) -> Vec<PathBuf> {
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let lines = json_lines(rows);
    let records: Vec<&str> = lines.lines().collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&csv(rows, b',')).unwrap();
    let third = rows.len().div_ceil(3).max(1);
    for (number, part) in rows.chunks(third).enumerate() {
        put(
            &format!("parts/part-{number}.parquet"),
            &parquet(&batch(part), 1000),
        );
        put(
            &format!("hf/data-{number}.arrow"),
            &arrow_stream(&batch(part)),
        );
    }
    let listed: Vec<_> = (0..rows.chunks(third).len())
        .map(|number| serde_json::json!({"filename": format!("data-{number}.arrow")}))
        .collect();
    let state = serde_json::json!({"_data_files": listed, "_split": null});
    put("hf/state.json", state.to_string().as_bytes());
    put("hf/dataset_info.json", b"{\"features\": {}}");
    vec![
        put("a.jsonl", lines.as_bytes()),
        put(
            "list.json",
            format!("[\n{}\n]", records.join(",\n")).as_bytes(),
        ),
        put("a.csv", &csv(rows, b',')),
        put("a.tsv", &csv(rows, b'\t')),
        put("a.csv.gz", &gzip.finish().unwrap()),
        put(
            "a.csv.zst",
            &zstd::encode_all(&*csv(rows, b','), 1).unwrap(),
        ),
        put("one.parquet", &parquet(&batch(rows), 1_000_000)),
        put(
            "many.parquet",
            &parquet(&batch(rows), rows.len().div_ceil(40).max(1)),
        ),
        put("a.arrow", &arrow_file(&batch(rows))),
        put("a.arrows", &arrow_stream(&batch(rows))),
        folder.join("parts"),
        folder.join("parts/part-*.parquet"),
        folder.join("hf"),
    ]
}

fn run(threads: usize) -> Run {
    let options = Options::default();
    let mut run = Run::new(find("string-accuracy").unwrap(), &options).unwrap();
    for name in ["wer", "cer", "exact-match", "anls"] {
        run = run.with_metric(find(name).unwrap(), &options).unwrap();
    }
    run.threads = NonZeroUsize::new(threads);
    run
}

fn results(run: &Run, source: &Source) -> Vec<String> {
    let options = CsvOptions::default();
    let data = Data::Sources {
        references: source.clone().with_csv(options),
        predictions: source.clone(),
    };
    let outcomes = run.score_observed(data, &Nobody).unwrap();
    outcomes.iter().map(|outcome| outcome.to_json()).collect()
}

struct Nobody;

impl metric_run::Observer for Nobody {}

fn some_rows(count: usize) -> Vec<Row> {
    let texts = [
        "",
        "a, \"b\"\r\nc",
        "x;y\tz",
        "naïve café",
        "null",
        "007",
        "日本 text",
        " ",
    ];
    let text = |number: usize| texts[number % texts.len()].to_owned();
    let row = |number: usize| {
        (
            format!("id {number}"),
            text(number),
            text(number + number % 3),
        )
    };
    (0..count).map(row).collect()
}

#[test]
fn the_same_records_in_each_format_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let rows = some_rows(200);
    let files = files(folder.path(), &rows);
    let expected = results(&run(1), &Source::path(&files[0]).unwrap());
    for file in &files {
        let source = Source::paths(&[file]).unwrap();
        for threads in [1, 2, 5] {
            assert_eq!(
                results(&run(threads), &source),
                expected,
                "{}",
                file.display()
            );
        }
        let pairs = run(2).score_observed(Data::Pairs(source), &Nobody).unwrap();
        let pairs: Vec<String> = pairs.iter().map(|it| it.to_json()).collect();
        assert_eq!(pairs, expected, "{} as pairs", file.display());
    }
}

#[test]
fn shards_of_each_format_merge_to_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path(), &some_rows(50));
    let expected = results(&run(1), &Source::path(&files[0]).unwrap());
    for file in &files {
        let source = Source::paths(&[file]).unwrap();
        let mut states = Vec::new();
        for index in 0..3 {
            let mut run = run(2);
            run.shard = Some(Shard::new(index, 3).unwrap());
            let outcomes = run.score(source.clone(), source.clone()).unwrap();
            let bytes: Vec<u8> = write_states(&outcomes).unwrap();
            let name = format!("{index}.state");
            states.push((name.clone(), read_states(&name, &bytes).unwrap()));
        }
        let merged = merge_states(states).unwrap().outcomes;
        let merged: Vec<String> = merged.iter().map(|it| it.to_json()).collect();
        assert_eq!(merged, expected, "{}", file.display());
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let rows = some_rows(100);
    let mut reversed = rows.clone();
    reversed.reverse();
    let expected = results(
        &run(1),
        &Source::paths(&[folder_file(folder.path(), &rows)]).unwrap(),
    );
    let other = folder.path().join("reversed");
    let others = files(&other, &reversed);
    for file in &files(folder.path(), &rows) {
        for partner in &others {
            let data = Data::Sources {
                references: Source::paths(&[file]).unwrap(),
                predictions: Source::paths(&[partner]).unwrap(),
            };
            let outcomes = run(2).score_observed(data, &Nobody).unwrap();
            let found: Vec<String> = outcomes.iter().map(|it| it.to_json()).collect();
            assert_eq!(found, expected, "{} {}", file.display(), partner.display());
        }
    }
}

fn folder_file(folder: &Path, rows: &[Row]) -> PathBuf {
    let path = folder.join("expected.jsonl");
    std::fs::write(&path, json_lines(rows)).unwrap();
    path
}

/// Scores bytes against themselves: the result, or the error.
fn outcome(
    bytes: &[u8],
    format: metric_run::Format,
    empty: EmptyField,
) -> Result<Vec<String>, String> {
    let options = CsvOptions {
        empty,
        ..CsvOptions::default()
    };
    let source = Source::memory("data", bytes, format).with_csv(options);
    let outcomes = run(1).score_observed(Data::Pairs(source), &Nobody);
    let outcomes = outcomes.map_err(|error| error.to_string())?;
    Ok(outcomes.iter().map(|it| it.to_json()).collect())
}

/// The results without the warning of TSV alone: texts with tabs and line ends look like rows that a quote swallowed.
fn without_swallowed_rows(results: Result<Vec<String>, String>) -> Result<Vec<String>, String> {
    let without = |result: &String| {
        let mut result: serde_json::Value = serde_json::from_str(result).unwrap();
        let warnings = result["warnings"].as_array_mut().unwrap();
        warnings.retain(|it| {
            !it.as_str()
                .unwrap()
                .contains("if quotes are part of the text")
        });
        result.to_string()
    };
    Ok(results?.iter().map(without).collect())
}

/// A stream that is cut between two batches is as well-formed as a whole one except for its end.
#[test]
fn a_cut_stream_or_file_is_an_error_wherever_it_is_cut() {
    let rows = some_rows(12);
    for bytes in [arrow_stream(&batch(&rows)), arrow_file(&batch(&rows))] {
        for end in 0..bytes.len() {
            // The marker of the end of a stream is what all of it ends with.
            let cut = outcome(&bytes[..end], metric_run::Format::Arrow, EmptyField::Error);
            assert!(cut.is_err(), "{end} of {} bytes", bytes.len());
        }
    }
}

/// Bytes that are not text in a column that nobody reads change nothing; in one that is read, the row is named.
#[test]
fn damaged_texts_of_arrow_are_found_where_they_are_read() {
    const MARKER: &str = "something to be damaged";
    let rows = some_rows(7);
    let whole = outcome(
        &arrow_file(&batch(&rows)),
        metric_run::Format::Arrow,
        EmptyField::Error,
    );
    let damaged = |mut bytes: Vec<u8>| {
        let all = memchr::memmem::find_iter(&bytes, MARKER).collect::<Vec<_>>();
        for start in &all {
            bytes[*start] = 0xff;
        }
        assert!(!all.is_empty());
        outcome(&bytes, metric_run::Format::Arrow, EmptyField::Error)
    };
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|_| MARKER)));
    let columns = batch(&rows);
    let names = columns.schema();
    let names = names.fields().iter().map(|field| field.name().as_str());
    let known: Vec<(&str, ArrayRef)> = names.zip(columns.columns().iter().cloned()).collect();
    // Before, between and after the columns that are read.
    for index in 0..=known.len() {
        let mut all = known.clone();
        all.insert(index, ("other", Arc::clone(&texts)));
        let all = RecordBatch::try_from_iter(all).unwrap();
        assert_eq!(damaged(arrow_file(&all)), whole);
        assert_eq!(damaged(arrow_stream(&all)), whole);
    }
    let mut used = rows;
    used[4].1 = format!("a {MARKER}");
    let error = damaged(arrow_file(&batch(&used)));
    let location = "data: batch 1, row 5, column \"reference\": not UTF-8: expected text";
    assert_eq!(error, Err(location.to_owned()));
    let error = damaged(arrow_stream(&batch(&used))).unwrap_err();
    assert!(error.starts_with("data: batch 2: "), "{error}");
}

/// No number in a file is trusted: each is replaced by a large one, and some of these are the lengths of buffers. The
/// decoder of streams panics at some of them, and nothing is printed.
#[test]
fn large_numbers_in_an_arrow_file_are_errors() {
    static HEARD: AtomicUsize = AtomicUsize::new(0);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        HEARD.fetch_add(1, Ordering::Relaxed);
        hook(panic);
    }));
    metric_run::silence_decoders();
    let batch = batch(&some_rows(7));
    let mut errors = Vec::new();
    for bytes in [arrow_file(&batch), arrow_stream(&batch)] {
        for start in (0..bytes.len() - 8).step_by(8) {
            let mut bytes = bytes.clone();
            bytes[start..start + 8].copy_from_slice(&(1_i64 << 40).to_le_bytes());
            errors.extend(outcome(&bytes, metric_run::Format::Arrow, EmptyField::Error).err());
        }
    }
    assert_eq!(HEARD.load(Ordering::Relaxed), 0, "panics were printed");
    for expected in [
        "a buffer is outside of its batch",
        "a block is outside of the file",
        "the data are malformed",
    ] {
        assert!(
            errors.iter().any(|error| error.ends_with(expected)),
            "{expected}: {errors:#?}"
        );
    }
}

/// The records that the crate `csv` reads, if each has three fields.
fn read_by_csv(bytes: &[u8]) -> Option<Vec<Row>> {
    let mut reader = csv::ReaderBuilder::new().from_reader(bytes);
    let records = reader.records().map(|record| {
        let record = record.ok()?;
        Some((
            record.get(0)?.into(),
            record.get(1)?.into(),
            record.get(2)?.into(),
        ))
    });
    records.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Random texts with quotes, line ends, delimiters and all kinds of characters.
    #[test]
    fn csv_is_json_lines(
        texts in proptest::collection::vec(("[a\",;\t\r\n é日\u{1F600}]{0,8}", "\\PC{0,6}"), 1..20),
    ) {
        let rows = texts.into_iter().enumerate();
        let rows = rows.map(|(number, (reference, prediction))| (number.to_string(), reference, prediction));
        let rows: Vec<Row> = rows.collect();
        let lines = json_lines(&rows);
        let expected = outcome(lines.as_bytes(), metric_run::Format::JsonLines, EmptyField::Error);
        let found = outcome(&csv(&rows, b','), metric_run::Format::Csv, EmptyField::Error);
        prop_assert_eq!(&found, &expected);
        let found = outcome(&csv(&rows, b'\t'), metric_run::Format::Tsv, EmptyField::Error);
        prop_assert_eq!(without_swallowed_rows(found), without_swallowed_rows(expected.clone()));
        for bytes in [parquet(&batch(&rows), 3), parquet(&batch(&rows), 1000)] {
            let found = outcome(&bytes, metric_run::Format::Parquet, EmptyField::Error);
            prop_assert_eq!(&found, &expected);
        }
        for bytes in [arrow_file(&batch(&rows)), arrow_stream(&batch(&rows))] {
            let found = outcome(&bytes, metric_run::Format::Arrow, EmptyField::Error);
            prop_assert_eq!(&found, &expected);
        }
    }

    /// On any text, the reader agrees with the crate `csv` or refuses.
    #[test]
    fn csv_is_read_as_others_read_it_or_refused(
        parts in proptest::collection::vec(prop_oneof![
            Just("\""), Just(","), Just("\n"), Just("\r\n"), Just("\r"), Just("a"), Just(" "),
            Just("1,x,y\n"), Just("\"a\"\"b\""), Just("2,\"p\nq\",z\n"), Just("é"), Just(";"),
        ], 0..12),
    ) {
        let text = format!("id,reference,prediction\n{}", parts.concat());
        let found = outcome(text.as_bytes(), metric_run::Format::Csv, EmptyField::Text);
        if let Ok(found) = found {
            let rows = read_by_csv(text.as_bytes());
            prop_assert!(rows.is_some(), "only we read {:?}", text);
            let lines = json_lines(&rows.unwrap_or_default());
            let expected = outcome(lines.as_bytes(), metric_run::Format::JsonLines, EmptyField::Error);
            prop_assert_eq!(Ok(found), expected);
        }
    }

    /// A file that is cut is an error, or a text whose last record is whole or a start of one.
    #[test]
    fn a_cut_file_is_an_error(cut in 0.0..1.0_f64) {
        let rows = some_rows(30);
        let keep = |bytes: &[u8]| bytes[..(bytes.len() as f64 * cut) as usize].to_vec();
        for bytes in [parquet(&batch(&rows), 7), arrow_file(&batch(&rows)), arrow_stream(&batch(&rows))] {
            let format = if bytes.starts_with(b"PAR1") {
                metric_run::Format::Parquet
            } else {
                metric_run::Format::Arrow
            };
            prop_assert!(outcome(&keep(&bytes), format, EmptyField::Error).is_err());
        }
        let whole = csv(&rows, b',');
        let kept = keep(&whole);
        if outcome(&kept, metric_run::Format::Csv, EmptyField::Error).is_ok() {
            // Half of a quote that is written twice closes the last field.
            let kept = read_by_csv(&kept).unwrap_or_default();
            let (last, before) = kept.split_last().unwrap();
            prop_assert!(rows.starts_with(before));
            let whole = &rows[before.len()];
            prop_assert!((&last.0, &last.1) == (&whole.0, &whole.1));
            prop_assert!(whole.2.starts_with(&last.2));
        }
    }

    /// Bytes that are changed anywhere give a result or an error, never a panic.
    #[test]
    fn changed_bytes_are_no_panic(index in 0.0..1.0_f64, byte in any::<u8>()) {
        let rows = some_rows(30);
        for mut bytes in [parquet(&batch(&rows), 7), arrow_file(&batch(&rows)), arrow_stream(&batch(&rows)), csv(&rows, b',')] {
            let format = match &bytes[..3] {
                b"PAR" => metric_run::Format::Parquet,
                b"\"id" => metric_run::Format::Csv,
                _ => metric_run::Format::Arrow,
            };
            let index = (bytes.len() as f64 * index) as usize;
            bytes[index] = byte;
            let _ = outcome(&bytes, format, EmptyField::Error);
        }
    }
}

#[test]
fn files_of_hugging_face_name_their_classes() {
    let described = r#"{"info": {"features": {
        "id": {"dtype": "string", "_type": "Value"},
        "reference": {"names": ["cat", "tree frog"], "_type": "ClassLabel"},
        "m": {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}},
        "a.b": {"names": ["dotted"], "_type": "ClassLabel"}}}}"#;
    let plain = batch(&[("1".to_owned(), "0".to_owned(), "0".to_owned())]);
    let metadata = [("huggingface".to_owned(), described.to_owned())];
    let schema = plain.schema().as_ref().clone();
    let schema = Arc::new(schema.with_metadata(metadata));
    let described = plain.clone().with_schema(schema).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Source::path(path).unwrap()
    };
    let sources = [
        write("t.parquet", parquet(&described, 1)),
        write("t.arrow", arrow_file(&described)),
        write("t.arrows", arrow_stream(&described)),
    ];
    let rows = [
        ("reference", Some(vec!["cat", "tree frog"])),
        ("m.label", Some(vec!["no", "yes"])),
        ("/m/label", Some(vec!["no", "yes"])),
        ("a.b", Some(vec!["dotted"])),
        ("id", None),
        ("m", None),
        ("absent", None),
    ];
    for source in &sources {
        for (column, names) in &rows {
            let found = source.class_names(column).ok();
            let names = names
                .as_ref()
                .map(|names| names.iter().map(ToString::to_string).collect());
            assert_eq!(found, names, "{column}");
        }
    }
    assert!(
        write("u.parquet", parquet(&plain, 1))
            .class_names("reference")
            .is_err()
    );
}
