//! The same records give the same bytes of result in every format, for every metric.

#![cfg(all(
    feature = "arrow",
    feature = "csv",
    feature = "parquet",
    feature = "transcripts"
))]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Write;
use std::sync::Arc;

use crate::common::Folder;
use crate::common::data::{Rows, records};
use crate::common::words::{Samples, Words, json_of};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Fields, Schema};
use metric_run::registry::Shape;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

/// One side of a data set: its records as objects, all with the same fields.
type Side = Vec<Value>;

#[test]
fn every_metric_has_records() {
    let known: BTreeSet<&str> = records().iter().map(|rows| rows.entry.name).collect();
    // Those without references have tests of their own in `cli/samples.rs`.
    let entries = metric_run::registry::ENTRIES.iter();
    for entry in entries.filter(|entry| entry.compares()) {
        assert!(known.contains(entry.name), "no records of {}", entry.name);
    }
}

#[test]
fn the_same_records_in_each_format_give_the_same_bytes() {
    let mut cases: [Vec<Rows>; 2] = Default::default();
    for (index, rows) in records().into_iter().enumerate() {
        cases[index % 2].push(rows);
    }
    let differences = std::thread::scope(|scope| {
        let check_all = |cases: Vec<Rows>| cases.iter().flat_map(check).collect::<Vec<_>>();
        let threads = cases.map(|cases| scope.spawn(move || check_all(cases)));
        let done = threads.map(|thread| thread.join().expect("a thread that ends"));
        done.concat()
    });
    let is_known = |known: &Lost, it: &Difference| {
        let is_same = known.shape == it.shape && known.fields == it.fields;
        is_same && known.endings.contains(&it.ending())
    };
    let unknown: Vec<&Difference> = differences
        .iter()
        .filter(|it| !NOT_CARRIED.iter().any(|known| is_known(known, it)))
        .collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    for known in NOT_CARRIED {
        let Lost {
            shape,
            endings,
            reason,
            ..
        } = known;
        assert!(
            differences.iter().any(|it| is_known(known, it)),
            "{shape:?} is the same in {endings:?} now, where it was not: {reason}",
        );
    }
}

/// Records that a format cannot hold, and why.
struct Lost {
    shape: Shape,
    /// The fields of references next to the id.
    fields: &'static str,
    /// The endings of the files, without those of a compression.
    endings: &'static [&'static str],
    reason: &'static str,
}

/// A shape whose records no table of texts can hold, next to the fields of its references.
const fn no_table(shape: Shape, fields: &'static str, reason: &'static str) -> Lost {
    Lost {
        shape,
        fields,
        endings: &["csv", "tsv"],
        reason,
    }
}

const NO_TYPE: &str = "a cell has no type: it is the integer and the text of the same digits";

const NOT_CARRIED: &[Lost] = &[
    no_table(Shape::RankedLabels, "reference", NO_TYPE),
    no_table(Shape::Labels, "reference", NO_TYPE),
    no_table(
        Shape::Numbers,
        "reference",
        "a cell is one text, and one of the references is a list",
    ),
    no_table(
        Shape::Questions,
        "question_type reference",
        "a cell is one text, and the reference is an object",
    ),
    no_table(
        Shape::MappedRules,
        "data reference",
        "other columns are texts, and the map is an object",
    ),
    Lost {
        shape: Shape::Topics,
        fields: "reference",
        endings: &["tsv"],
        reason: "a table with tabs holds the judgments of BEIR",
    },
    Lost {
        shape: Shape::Images,
        fields: "reference",
        endings: &["json"],
        reason: "a file of JSON holds a data set of COCO",
    },
];

/// A format in which the result is not that of JSON Lines.
#[derive(Clone, Debug)]
struct Difference {
    #[expect(dead_code, reason = "shown if the difference is not known")]
    metric: &'static str,
    shape: Shape,
    fields: String,
    form: String,
    #[expect(dead_code, reason = "shown if the difference is not known")]
    found: String,
}

impl Difference {
    /// The ending of the files, without that of a compression.
    fn ending(&self) -> &str {
        let name = self.form.trim_end_matches(".gz").trim_end_matches(".zst");
        name.rsplit('.').next().unwrap_or_default()
    }
}

/// Checks the rows of a metric, those with the same fields at a time.
fn check(rows: &Rows) -> Vec<Difference> {
    let mut by_fields: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for row in &rows.rows {
        let fields = row.0.as_object().expect("the fields of a reference");
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        by_fields.entry(names.join(" ")).or_default().push(row);
    }
    let mut differences = Vec::new();
    for (fields, of_fields) in by_fields {
        // Three for each of 40 row groups.
        let cycle = || of_fields.iter().cycle().take(120).enumerate();
        let id = |index: usize| json!(format!("id \"{index}\",\n"));
        let references = cycle().map(|(index, (fields, _))| {
            let mut record = fields.clone();
            record["id"] = id(index);
            record
        });
        let predictions = cycle()
            .map(|(index, (_, prediction))| json!({"id": id(index), "prediction": prediction}));
        let sides = [references.collect(), predictions.collect()];
        differences.extend(check_formats(rows, &fields, &sides));
    }
    differences
}

/// The formats in which the result differs from that of JSON Lines.
fn check_formats(rows: &Rows, fields: &str, sides: &[Side; 2]) -> Vec<Difference> {
    let metric = rows.entry.name;
    let options = &rows.options[0];
    let folder = Folder::new(&[]);
    let [references, predictions] =
        [("r", &sides[0]), ("p", &sides[1])].map(|(name, side)| write_forms(&folder, name, side));
    let result = |references: &str, predictions: &str| {
        let is_table = references.contains(".csv") || references.contains(".tsv");
        let empty = if is_table { "--empty-field null" } else { "" };
        let text = format!("{metric} {options} {empty} -r {references} -p {predictions}");
        let words = Words {
            folder: &folder,
            text: &text,
            statistics: None,
        };
        let samples = Samples::default();
        let outcomes = words.run_observed(None, 2, Some(&samples));
        let outcomes = outcomes.map_err(|error| error.to_string())?;
        let mut lines = vec![json_of(&outcomes)];
        lines.extend(samples.0.into_inner().expect("no panic").0);
        Ok::<_, String>(lines.join("\n"))
    };
    let mut forms = references.iter().zip(&predictions);
    let expected = forms
        .next()
        .map(|(references, predictions)| result(references, predictions));
    let expected = expected
        .expect("a first form")
        .expect("a result of JSON Lines");
    assert!(expected.lines().count() > 60, "{metric} {fields}");
    let differences = forms.filter_map(|(references, predictions)| {
        let found = match result(references, predictions) {
            Ok(found) if found == expected => return None,
            Ok(found) => {
                let mut lines = found.lines().zip(expected.lines());
                let pair = lines.find(|(found, expected)| found != expected);
                pair.map_or(found.clone(), |(found, expected)| {
                    format!("{found} for {expected}")
                })
            }
            Err(error) => error,
        };
        Some(Difference {
            metric,
            shape: rows.shape,
            fields: fields.to_owned(),
            form: references.clone(),
            found,
        })
    });
    differences.collect()
}

/// Writes the records of a side in each format, and returns the words that name them.
fn write_forms(folder: &Folder, name: &str, side: &Side) -> Vec<String> {
    let put = |suffix: &str, bytes: &[u8]| {
        let file = format!("{name}.{suffix}");
        folder.put(&file, bytes);
        file
    };
    let batch = batch(side);
    let lines = json_lines(side);
    let parts: Vec<&[Value]> = side.chunks(side.len().div_ceil(3)).collect();
    for (number, part) in parts.iter().enumerate() {
        put(&format!("part-{number}.jsonl"), &json_lines(part));
        put(&format!("part-{number}.csv"), &csv(part, ','));
        let start = number * parts[0].len();
        let part = batch.slice(start, part.len());
        put(&format!("part-{number}.parquet"), &parquet(&part, 1000));
    }
    write_dataset(folder, name, &batch);
    let list = format!(
        "[{}]",
        side.iter()
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join(",\n")
    );
    vec![
        put("jsonl", &lines),
        put("jsonl.gz", &gzip(&lines)),
        put(
            "jsonl.zst",
            &zstd::encode_all(&*lines, 1).expect("compressed"),
        ),
        put("list.json", list.as_bytes()),
        put("csv", &csv(side, ',')),
        put("tsv", &csv(side, '\t')),
        put("csv.gz", &gzip(&csv(side, ','))),
        put("one.parquet", &parquet(&batch, 1_000_000)),
        put("many.parquet", &parquet(&batch, side.len().div_ceil(40))),
        put("arrow", &arrow_file(&batch)),
        put("arrows", &arrow_stream(&batch)),
        format!("{name}.part-*.jsonl"),
        format!("{name}.part-*.csv"),
        format!("{name}.part-*.parquet"),
        format!("{name}.dataset"),
    ]
}

fn json_lines(side: &[Value]) -> Vec<u8> {
    let lines = side.iter().map(|record| format!("{record}\n"));
    lines.collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).expect("compressed");
    writer.finish().expect("compressed")
}

/// The names of the fields, which all records have.
fn fields(side: &[Value]) -> Vec<&str> {
    let first = side.first().and_then(Value::as_object);
    let first = first.expect("an object");
    first.keys().map(String::as_str).collect()
}

/// A table whose cells are texts. A field that has only texts and integers is written as it is, and others as JSON. A null is an empty cell without quotes.
fn csv(side: &[Value], delimiter: char) -> Vec<u8> {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let fields = fields(side);
    let is_plain = |field: &&str| {
        let mut values = side.iter().map(|record| &record[*field]);
        values.all(|value| value.is_string() || value.is_i64() || value.is_null())
    };
    let plain: HashMap<&str, bool> = fields.iter().map(|it| (*it, is_plain(it))).collect();
    let cell = |record: &Value, field: &str| match &record[field] {
        Value::Null => String::new(),
        Value::String(text) if plain[field] => quoted(text),
        value => quoted(&value.to_string()),
    };
    let delimiter = delimiter.to_string();
    let mut table = fields.join(&delimiter) + "\r\n";
    for record in side {
        let cells: Vec<String> = fields.iter().map(|field| cell(record, field)).collect();
        table.push_str(&cells.join(&delimiter));
        table.push('\n');
    }
    table.into_bytes()
}

/// The type of a column.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Null,
    Bool,
    Integer,
    Number,
    Text,
    List(Box<Kind>),
    Object(BTreeMap<String, Kind>),
}

impl Kind {
    fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::Text,
            Value::Array(values) => Self::List(Box::new(Self::of_all(values)?)),
            Value::Object(fields) => {
                let kind =
                    |(name, value): (&String, &Value)| Some((name.clone(), Self::of(value)?));
                Self::Object(fields.iter().map(kind).collect::<Option<_>>()?)
            }
        })
    }

    /// The type that values share, if they have one.
    fn of_all<'v>(values: impl IntoIterator<Item = &'v Value>) -> Option<Self> {
        let mut values = values.into_iter();
        values.try_fold(Self::Null, |kind, value| kind.with(Self::of(value)?))
    }

    fn with(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Null, kind) | (kind, Self::Null) => kind,
            (Self::List(one), Self::List(other)) => Self::List(Box::new(one.with(*other)?)),
            (Self::Object(one), Self::Object(mut other)) if one.keys().eq(other.keys()) => {
                let both = one.into_iter().map(|(name, kind)| {
                    let other = other.remove(&name)?;
                    Some((name, kind.with(other)?))
                });
                Self::Object(both.collect::<Option<_>>()?)
            }
            (one, other) => (one == other).then_some(one)?,
        })
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Null => DataType::Utf8,
            Self::Bool => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Number => DataType::Float64,
            Self::Text => DataType::Utf8,
            Self::List(item) => DataType::new_list(item.data_type(), true),
            Self::Object(fields) => DataType::Struct(Self::fields(fields)),
        }
    }

    fn fields(fields: &BTreeMap<String, Self>) -> Fields {
        let field = |(name, kind): (&String, &Self)| Field::new(name, kind.data_type(), true);
        fields.iter().map(field).collect()
    }

    fn array(&self, values: &[&Value]) -> ArrayRef {
        let values = values.iter();
        match self {
            Self::Bool => Arc::new(values.map(|it| it.as_bool()).collect::<BooleanArray>()),
            Self::Integer => Arc::new(values.map(|it| it.as_i64()).collect::<Int64Array>()),
            Self::Number => Arc::new(values.map(|it| it.as_f64()).collect::<Float64Array>()),
            Self::Null | Self::Text => {
                Arc::new(values.map(|it| it.as_str()).collect::<StringArray>())
            }
            Self::List(item) => {
                let lists: Vec<Option<&Vec<Value>>> = values.map(|it| it.as_array()).collect();
                let lengths = lists.iter().map(|list| list.map_or(0, Vec::len));
                let items: Vec<&Value> = lists.iter().flatten().copied().flatten().collect();
                let field = Arc::new(Field::new_list_field(item.data_type(), true));
                let nulls: NullBuffer = lists.iter().map(Option::is_some).collect();
                Arc::new(ListArray::new(
                    field,
                    OffsetBuffer::from_lengths(lengths),
                    item.array(&items),
                    Some(nulls),
                ))
            }
            Self::Object(fields) => {
                let values: Vec<&&Value> = values.collect();
                let column = |(name, kind): (&String, &Self)| {
                    let null = &Value::Null;
                    let column: Vec<&Value> = values
                        .iter()
                        .map(|it| it.get(name).unwrap_or(null))
                        .collect();
                    kind.array(&column)
                };
                let nulls: NullBuffer = values.iter().map(|it| it.is_object()).collect();
                let columns = fields.iter().map(column).collect();
                Arc::new(StructArray::new(Self::fields(fields), columns, Some(nulls)))
            }
        }
    }
}

/// A table whose columns have types, and one that holds JSON where the values of a field have no type in common.
fn batch(side: &[Value]) -> RecordBatch {
    let column = |field: &str| -> (Field, ArrayRef) {
        let values: Vec<&Value> = side.iter().map(|record| &record[field]).collect();
        if let Some(kind) = Kind::of_all(values.iter().copied()) {
            return (
                Field::new(field, kind.data_type(), true),
                kind.array(&values),
            );
        }
        let json = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.json".to_owned())]);
        let texts: StringArray = values.iter().map(|it| Some(it.to_string())).collect();
        let field = Field::new(field, DataType::Utf8, true).with_metadata(json);
        (field, Arc::new(texts))
    };
    let columns = fields(side).into_iter().map(column);
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("a table")
}

fn parquet(batch: &RecordBatch, group_rows: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group_rows))
        .build();
    let mut bytes = Vec::new();
    let writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties));
    let mut writer = writer.expect("a writer");
    writer.write(batch).expect("a table");
    writer.close().expect("a file");
    bytes
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(batch).expect("a table");
    writer.into_inner().expect("a file")
}

/// A stream of batches of a few rows.
fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    for start in (0..batch.num_rows()).step_by(30) {
        let rows = 30.min(batch.num_rows() - start);
        writer.write(&batch.slice(start, rows)).expect("a batch");
    }
    writer.into_inner().expect("a stream")
}

/// A data set of Hugging Face in a folder, with three files.
fn write_dataset(folder: &Folder, name: &str, batch: &RecordBatch) {
    let path = folder.path(&format!("{name}.dataset"));
    fs::create_dir(&path).expect("a folder");
    let rows = batch.num_rows().div_ceil(3);
    let mut files = Vec::new();
    for (number, start) in (0..batch.num_rows()).step_by(rows).enumerate() {
        let part = batch.slice(start, rows.min(batch.num_rows() - start));
        let file = format!("data-{number:05}-of-00003.arrow");
        fs::write(path.join(&file), arrow_stream(&part)).expect("a file");
        files.push(json!({"filename": file}));
    }
    let state = json!({"_data_files": files, "_split": null});
    fs::write(path.join("state.json"), state.to_string()).expect("a file");
    fs::write(path.join("dataset_info.json"), "{\"features\": {}}").expect("a file");
}
