//! Columns of Arrow as the values that a file of JSON would hold.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, GenericBinaryArray, LargeBinaryArray, LargeStringArray,
    OffsetSizeTrait, RecordBatch, RunArray, StringArray, StringViewArray, StructArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use metric_record::{
    FieldContents, FieldPath, FieldPathError, Kind, Message, ReadError, quoted_id,
};

use crate::fields::{ColumnPath, FieldNames, OnNull, Role};
use crate::found::{Form, Found, FoundId, Refuse, ScanError, Span};
use crate::part::{Part, Unit};
use crate::{RunError, memory};

/// The columns of a file that are read, and what they are.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The indices of the columns in the file, ascending.
    pub(crate) projection: Vec<usize>,
    /// Their names.
    #[cfg(feature = "parquet")]
    pub(crate) names: Vec<String>,
    id: Option<Cell>,
    value: Cell,
    other: Option<Cell>,
    further: Vec<(String, Cell)>,
    /// The columns of the items of the value, and of those of the other side, where these are lists.
    items: [Vec<Cell>; 2],
    allows_infinite: bool,
}

/// A column, or a value within the values of a column.
#[derive(Clone, Debug)]
struct Cell {
    /// Index among the columns that are read.
    index: usize,
    /// The name of the column.
    column: String,
    path: Vec<String>,
    /// The name for messages.
    name: String,
    field: Arc<Field>,
    /// What becomes of null on the path.
    on_null: OnNull,
}

impl Plan {
    /// Finds the fields in a schema.
    pub(crate) fn new(file: &str, schema: &Schema, names: &FieldNames) -> Result<Self, RunError> {
        let all: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        let columns = names.columns(&all);
        let columns = columns.map_err(|problem| ReadError::new(file, problem))?;
        for (index, name) in all.iter().enumerate() {
            let is_wanted = columns.all().any(|column| column.index == index);
            if is_wanted && all.iter().filter(|other| *other == name).count() > 1 {
                let problem = format!(
                    "the column {} occurs twice: expected each name once",
                    quoted_id(name)
                );
                return Err(ReadError::new(file, problem).into());
            }
        }
        let mut projection: Vec<usize> = columns.all().map(|column| column.index).collect();
        projection.sort_unstable();
        projection.dedup();
        let cell = |column: &ColumnPath| -> Result<Cell, RunError> {
            let field = &schema.fields()[column.index];
            let name = match column.path.as_slice() {
                [] => field.name().clone(),
                path => format!("{}.{}", field.name(), path.join(".")),
            };
            let refuse = |problem: Message| {
                let location = format!("column {}", quoted_id(&name));
                ReadError::new(file, problem).at(location)
            };
            let field = inner(field, &column.path).map_err(refuse)?;
            check(&field).map_err(refuse)?;
            Ok(Cell {
                index: projection.binary_search(&column.index).unwrap_or_default(),
                column: schema.fields()[column.index].name().clone(),
                path: column.path.clone(),
                name,
                field,
                on_null: OnNull::Refused,
            })
        };
        let value_of = |column: &ColumnPath, role| {
            let on_null = names.on_null(role);
            cell(column).map(|cell| Cell { on_null, ..cell })
        };
        let other = columns.other.as_ref();
        let id = columns.id.as_ref().map(cell).transpose()?;
        if let Some(id) = &id
            && let Some(found) = no_id(&id.field)
        {
            let problem = format!("found {found}: expected strings or integers as ids");
            let location = format!("column {}", quoted_id(&id.name));
            return Err(ReadError::new(file, problem).at(location).into());
        }
        let further = columns.further.iter();
        let [items, other_items] = &columns.items;
        let cells = |columns: &[ColumnPath]| columns.iter().map(cell).collect::<Result<_, _>>();
        Ok(Self {
            id,
            items: [cells(items)?, cells(other_items)?],
            value: value_of(&columns.value, Role::Value)?,
            other: other.map(|it| value_of(it, Role::Other)).transpose()?,
            further: further
                .map(|(name, column)| Ok((name.clone(), cell(column)?)))
                .collect::<Result<_, RunError>>()?,
            #[cfg(feature = "parquet")]
            names: projection
                .iter()
                .map(|index| all[*index].to_owned())
                .collect(),
            projection,
            allows_infinite: names.allows_infinite,
        })
    }

    /// A schema with bytes in place of strings, where a column is the id or a value as it is. They are checked when they
    /// are written, a block at a time, which is faster than by a decoder.
    #[cfg(feature = "arrow")]
    pub(crate) fn with_bytes(&self, schema: &Schema) -> Schema {
        let cells = [self.id.as_ref(), Some(&self.value), self.other.as_ref()];
        let is_text = |index: usize, field: &Field| {
            let is_one = |cell: &&Cell| self.projection.get(cell.index) == Some(&index);
            let mut cells = cells.into_iter().flatten().filter(is_one).peekable();
            let is_used = cells.peek().is_some();
            let mut further = self.further.iter().map(|(_, cell)| cell);
            let is_whole = cells.all(|cell| cell.path.is_empty());
            is_used
                && is_whole
                && !further.any(|cell| is_one(&cell))
                && extension(field) != Some(JSON)
        };
        let with_bytes = |(index, field): (usize, &Arc<Field>)| {
            let bytes = match field.data_type() {
                DataType::Utf8 if is_text(index, field) => DataType::Binary,
                DataType::LargeUtf8 if is_text(index, field) => DataType::LargeBinary,
                _ => return Arc::clone(field),
            };
            Arc::new(field.as_ref().clone().with_data_type(bytes))
        };
        let fields = schema.fields().iter().enumerate().map(with_bytes);
        Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
    }

    /// Where the records of a batch of this file are from.
    pub(crate) fn part(&self, file: &str, unit: Unit) -> Arc<Part> {
        let name = |cell: &Cell| format!("column {}", quoted_id(&cell.name));
        let further = self.further.iter();
        let further = further.map(|(field, cell)| (field.clone(), name(cell)));
        Arc::new(Part {
            file: file.to_owned(),
            unit,
            columns: [
                name(&self.value),
                self.other.as_ref().map_or_else(String::new, name),
            ],
            further: further.collect(),
        })
    }

    /// The kinds of values of this side and of the other, which must be the same in each file of a source.
    pub(crate) fn kinds(&self) -> [Option<Kind>; 2] {
        let kind = |cell: &Cell, items: &[Cell]| match items {
            [] => kind(&cell.field),
            _ => Kind::List,
        };
        let [items, other_items] = &self.items;
        let other = self.other.as_ref();
        [
            Some(kind(&self.value, items)),
            other.map(|cell| kind(cell, other_items)),
        ]
    }
}

/// The names of the classes of a column, if Hugging Face's description of the columns is in a schema and says that
/// it is a `ClassLabel`.
pub(crate) fn class_names(schema: &Schema, column: &str) -> Option<Vec<String>> {
    let text = schema.metadata().get("huggingface")?;
    let described: serde_json::Value = serde_json::from_str(text).ok()?;
    names_of_classes(&described["info"]["features"], column)
}

/// The names of the classes of a column among Hugging Face's features.
pub(crate) fn names_of_classes(features: &serde_json::Value, column: &str) -> Option<Vec<String>> {
    let class_label = |feature: &serde_json::Value| {
        (feature["_type"] == "ClassLabel")
            .then(|| serde_json::from_value(feature["names"].clone()).ok())
            .flatten()
    };
    if let Some(feature) = features.get(column) {
        return class_label(feature);
    }
    let path = FieldPath::new(column);
    class_label(path.parts().fold(features, |feature, part| &feature[part]))
}

/// The field that a path leads to.
fn inner(field: &Arc<Field>, path: &[String]) -> Result<Arc<Field>, Message> {
    let column = field.name();
    let mut field = field;
    for (depth, key) in path.iter().enumerate() {
        let absent = |contents| {
            let error = FieldPathError::Absent {
                parent: [std::slice::from_ref(column), &path[..depth]]
                    .concat()
                    .join("."),
                part: key.clone(),
                contents,
            };
            Message::from(error.to_string())
        };
        field = match field.data_type() {
            DataType::Struct(fields) => {
                let mut found = fields.iter().filter(|field| field.name() == key);
                let names = || fields.iter().map(|field| field.name().clone()).collect();
                found
                    .next()
                    .ok_or_else(|| absent(FieldContents::Fields(names())))?
            }
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::ListView(item)
            | DataType::LargeListView(item)
                if is_index(key) =>
            {
                item
            }
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(fields) if fields.len() == 2 => {
                    check(field)?;
                    &fields[1]
                }
                _ => return Err(absent(FieldContents::Single(kind(field)))),
            },
            _ => return Err(absent(FieldContents::Single(kind(field)))),
        };
    }
    Ok(Arc::clone(field))
}

fn is_index(key: &str) -> bool {
    let digits = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    digits && (key.len() == 1 || !key.starts_with('0'))
}

/// The extension type of texts that are JSON.
const JSON: &str = "arrow.json";

/// The name of the extension type of a column, if it has one.
fn extension(field: &Field) -> Option<&str> {
    field
        .metadata()
        .get("ARROW:extension:name")
        .map(String::as_str)
}

/// The form of the values of a type in JSON.
fn kind(field: &Field) -> Kind {
    match field.data_type() {
        DataType::Null => Kind::Null,
        DataType::Boolean => Kind::Boolean,
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::FixedSizeList(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => Kind::List,
        DataType::Struct(_) | DataType::Map(..) => Kind::Object,
        DataType::Dictionary(_, values) => kind(&Field::new("", values.as_ref().clone(), true)),
        DataType::RunEndEncoded(_, values) => kind(values),
        other if other.is_numeric() => Kind::Number,
        _ => Kind::String,
    }
}

/// The reason why a column cannot hold ids, if it cannot.
fn no_id(field: &Field) -> Option<&'static str> {
    if extension(field) == Some(JSON) {
        return Some("JSON");
    }
    match field.data_type() {
        DataType::Dictionary(_, values) => no_id(&Field::new("", values.as_ref().clone(), true)),
        DataType::RunEndEncoded(_, values) => no_id(values),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            Some("a floating-point number")
        }
        other if other.is_decimal() => Some("a decimal number"),
        _ => match kind(field) {
            Kind::Boolean => Some("true or false"),
            Kind::List => Some("a list"),
            Kind::Object => Some("an object"),
            _ => None,
        },
    }
}

/// Refuses types that have no value.
fn check(field: &Field) -> Result<(), Message> {
    let refuse = |found: &str| {
        let problem = format!("found {found}: expected text (cast it when you write the file)");
        Err(Message::from(problem))
    };
    match (field.data_type(), extension(field)) {
        (DataType::FixedSizeBinary(16), Some("arrow.uuid")) => Ok(()),
        (
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_),
            _,
        ) => refuse("binary"),
        (DataType::Interval(_), _) => refuse("an interval"),
        (DataType::Union(..), _) => refuse("a union"),
        (DataType::List(item) | DataType::LargeList(item), _)
        | (DataType::FixedSizeList(item, _), _)
        | (DataType::ListView(item) | DataType::LargeListView(item), _)
        | (DataType::RunEndEncoded(_, item), _) => check(item),
        (DataType::Dictionary(_, values), _) => {
            check(&Field::new("", values.as_ref().clone(), true))
        }
        (DataType::Struct(fields), _) => fields.iter().try_for_each(|field| check(field)),
        (DataType::Map(entries, _), _) => match entries.data_type() {
            DataType::Struct(fields) => {
                if fields.first().is_none_or(|key| kind(key) != Kind::String) {
                    return refuse("a map whose keys are not strings");
                }
                fields.iter().try_for_each(|field| check(field))
            }
            _ => refuse("a map without entries"),
        },
        _ => Ok(()),
    }
}

/// Rows of columns.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) plan: Arc<Plan>,
    pub(crate) batch: RecordBatch,
    /// The rows, where these are not all in order.
    pub(crate) selected: Option<Vec<usize>>,
}

impl Rows {
    /// Writes the values of all records into a text.
    pub(crate) fn scan(
        &self,
        text: &mut String,
        first_row: u64,
        part: &Part,
        refuse: &mut Refuse<'_>,
    ) -> Result<Vec<Found>, ScanError> {
        let plan = &self.plan;
        let batch = &self.batch;
        let mut id = plan.id.as_ref().map(|cell| Column::new(batch, cell));
        let mut value = Column::new(batch, &plan.value);
        let mut other = plan.other.as_ref().map(|cell| Column::new(batch, cell));
        let further = plan.further.iter();
        let mut further: Vec<_> = further
            .map(|(name, cell)| (name, Column::new(batch, cell)))
            .collect();
        let items = plan.items.each_ref();
        let [mut items, mut other_items] = items.map(|cells| columns_of(batch, cells));
        let has_lists = plan.items.iter().any(|cells| !cells.is_empty());
        let selected = self.selected.as_ref();
        let rows = selected.map_or(batch.num_rows(), Vec::len);
        if selected.is_none() && !has_lists {
            let columns = id.iter_mut().chain([&mut value]).chain(other.as_mut());
            columns.for_each(|column| column.copy_all(text));
            if further.is_empty()
                && let Some(found) = copied_rows(rows, id.as_ref(), &value, other.as_ref())
            {
                let found = found.zip(first_row..);
                return Ok(found.map(|(it, line)| Found { line, ..it }).collect());
            }
        }
        let mut found = Vec::with_capacity(rows);
        for index in 0..rows {
            let row = selected.map_or(index, |rows| rows[index]);
            let number = first_row + row as u64;
            let mut writer = Writer {
                text,
                allows_infinite: plan.allows_infinite,
            };
            let invalid = |name: &str, problem| invalid(part, number, name, problem);
            let mut record = || {
                let mut read = |column: &mut Column<'_>, items: &mut [Column<'_>]| {
                    let read = match items {
                        [] => column
                            .write(row, &mut writer)
                            .map_err(|problem| (column.cell.name.clone(), problem)),
                        items => writer.items(row, items).map(|span| (span, Form::Json)),
                    };
                    read.map_err(|(name, problem)| invalid(&name, problem))
                };
                let id = match &mut id {
                    None => FoundId::Line(0),
                    Some(column) => match read(column, &mut [])? {
                        (_, Form::Json) if column.is_null(row) => {
                            let problem = "found null: expected a string or an integer as id";
                            return Err(invalid(&column.cell.name, problem.into()));
                        }
                        (span, _) => FoundId::Here(span),
                    },
                };
                let (span, form) = read(&mut value, &mut items)?;
                let other = match &mut other {
                    Some(column) => Some(read(column, &mut other_items)?),
                    None => None,
                };
                let record = if further.is_empty() {
                    Span::default()
                } else {
                    writer
                        .object(row, &mut further)
                        .map_err(|(name, problem)| invalid(&name, problem))?
                };
                Ok(Found {
                    id,
                    value: span,
                    form,
                    other,
                    record,
                    line: number,
                })
            };
            match record() {
                Ok(record) => found.push(record),
                Err(error) => refuse(error)?,
            }
        }
        Ok(found)
    }
}

/// The error of a value in a row.
fn invalid(part: &Part, number: u64, name: &str, problem: Message) -> ScanError {
    ScanError {
        location: format!("{}, column {}", part.location(number, ""), quoted_id(name)),
        ..ScanError::new(0, problem)
    }
}

/// The columns of some cells.
fn columns_of<'b>(batch: &'b RecordBatch, cells: &'b [Cell]) -> Vec<Column<'b>> {
    cells.iter().map(|cell| Column::new(batch, cell)).collect()
}

/// The records of columns whose strings are all written; `None` if any column has other values.
fn copied_rows<'c>(
    rows: usize,
    id: Option<&'c Column<'_>>,
    value: &'c Column<'_>,
    other: Option<&'c Column<'_>>,
) -> Option<impl Iterator<Item = Found> + 'c> {
    let copied = |column: &'c Column<'_>| column.copied.as_ref();
    let id = match id {
        Some(id) => Some(copied(id)?),
        None => None,
    };
    let other = match other {
        Some(other) => Some(copied(other)?),
        None => None,
    };
    let value = copied(value)?;
    Some((0..rows).map(move |row| Found {
        id: id.map_or(FoundId::Line(0), |id| FoundId::Here(id.span(row))),
        value: value.span(row),
        form: Form::Text,
        other: other.map(|other| (other.span(row), Form::Text)),
        record: Span::default(),
        line: 0,
    }))
}

/// A column of a batch.
struct Column<'b> {
    cell: &'b Cell,
    array: &'b ArrayRef,
    texts: Texts<'b>,
    /// Where the strings of all rows are written, once they are.
    copied: Option<Copied<'b>>,
    /// The dictionary keys of the rows.
    keys: Vec<usize>,
    /// By dictionary key: where its value is written, once it is.
    written: Vec<Option<(Span, Form)>>,
}

/// Strings of which each starts where the one before it ends, as in the column that they are copied from.
struct Copied<'b> {
    offsets: Offsets<'b>,
    /// Where the first one starts.
    start: usize,
}

/// Where the strings of a column start and end in it.
enum Offsets<'b> {
    Small(&'b [i32]),
    Large(&'b [i64]),
}

impl Offsets<'_> {
    /// The offset at an index; the column was checked to have none below 0.
    fn at(&self, index: usize) -> usize {
        match self {
            Self::Small(offsets) => offsets[index] as usize,
            Self::Large(offsets) => offsets[index] as usize,
        }
    }
}

impl Copied<'_> {
    fn span(&self, row: usize) -> Span {
        let before = self.offsets.at(0);
        let at = |index| self.start + (self.offsets.at(index) - before);
        Span::new(at(row), at(row + 1))
    }
}

/// Strings, which most columns hold.
enum Texts<'b> {
    Small(&'b StringArray),
    Large(&'b LargeStringArray),
    View(&'b StringViewArray),
    /// Bytes that are not known to be text.
    Bytes(&'b BinaryArray),
    LargeBytes(&'b LargeBinaryArray),
    No,
}

impl<'b> Column<'b> {
    fn new(batch: &'b RecordBatch, cell: &'b Cell) -> Self {
        let array = batch.column(cell.index);
        let is_text = cell.path.is_empty() && extension(&cell.field) != Some(JSON);
        let texts = match array.data_type() {
            DataType::Utf8 if is_text => Texts::Small(array.as_string()),
            DataType::LargeUtf8 if is_text => Texts::Large(array.as_string()),
            DataType::Utf8View if is_text => Texts::View(array.as_string_view()),
            DataType::Binary if is_text => Texts::Bytes(array.as_binary()),
            DataType::LargeBinary if is_text => Texts::LargeBytes(array.as_binary()),
            _ => Texts::No,
        };
        let (keys, values) = match array.as_any_dictionary_opt() {
            Some(dictionary) if is_text && !dictionary.values().is_empty() => {
                (dictionary.normalized_keys(), dictionary.values().len())
            }
            _ => (Vec::new(), 0),
        };
        Self {
            cell,
            array,
            texts,
            copied: None,
            keys,
            written: vec![None; values],
        }
    }

    fn is_null(&self, row: usize) -> bool {
        match locate(self.array, self.cell, row) {
            Ok((array, row)) => is_null(&array, row),
            Err(_) => true,
        }
    }

    /// Writes the strings of all rows at once, if the column has strings one after another, and a string in each row.
    fn copy_all(&mut self, text: &mut String) {
        let (offsets, bytes) = match &self.texts {
            Texts::Small(texts) => (Offsets::Small(texts.value_offsets()), texts.value_data()),
            Texts::Large(texts) => (Offsets::Large(texts.value_offsets()), texts.value_data()),
            Texts::Bytes(bytes) => (Offsets::Small(bytes.value_offsets()), bytes.value_data()),
            Texts::LargeBytes(bytes) => (Offsets::Large(bytes.value_offsets()), bytes.value_data()),
            Texts::View(_) | Texts::No => return,
        };
        if self.array.null_count() > 0 {
            return;
        }
        let rows = self.array.len();
        let first = offsets.at(0);
        let bytes = bytes.get(first..offsets.at(rows));
        let Some(Ok(all)) = bytes.map(simdutf8::basic::from_utf8) else {
            return;
        };
        // A character may not go on in the next string.
        let mut starts = (1..rows).map(|row| offsets.at(row) - first);
        if starts.all(|start| all.is_char_boundary(start)) {
            let start = text.len();
            text.push_str(all);
            self.copied = Some(Copied { offsets, start });
        }
    }

    /// Writes the value of a row.
    fn write(&mut self, row: usize, writer: &mut Writer<'_>) -> Result<(Span, Form), Message> {
        if let Some(copied) = &self.copied {
            return Ok((copied.span(row), Form::Text));
        }
        let text = match &self.texts {
            Texts::Small(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Texts::Large(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Texts::View(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Texts::Bytes(bytes) => checked(*bytes, row)?,
            Texts::LargeBytes(bytes) => checked(*bytes, row)?,
            Texts::No => None,
        };
        let start = writer.text.len();
        if let Some(text) = text {
            writer.text.push_str(text);
            return Ok((Span::new(start, writer.text.len()), Form::Text));
        }
        if self.array.is_valid(row)
            && let Some(key) = self.keys.get(row).copied()
        {
            if let Some(Some(written)) = self.written.get(key) {
                return Ok(*written);
            }
            let written = writer.value(self.array, &self.cell.field, row)?;
            if let Some(slot) = self.written.get_mut(key) {
                *slot = Some(written);
            }
            return Ok(written);
        }
        if self.cell.path.is_empty() {
            return writer.value(self.array, &self.cell.field, row);
        }
        let (array, row) = locate(self.array, self.cell, row)?;
        writer.value(&array, &self.cell.field, row)
    }
}

/// The text that the bytes of a row are; `None` for null.
fn checked<T: OffsetSizeTrait>(
    bytes: &GenericBinaryArray<T>,
    row: usize,
) -> Result<Option<&str>, Message> {
    if bytes.is_null(row) {
        return Ok(None);
    }
    let text = simdutf8::basic::from_utf8(bytes.value(row));
    text.map(Some)
        .map_err(|_| Message::from("not UTF-8: expected text"))
}

/// Follows the path of a cell from the value of a row of its column.
fn locate(array: &ArrayRef, cell: &Cell, row: usize) -> Result<(ArrayRef, usize), Message> {
    let Cell {
        column,
        path,
        field,
        ..
    } = cell;
    let (mut array, mut row) = (Arc::clone(array), row);
    for (depth, key) in path.iter().enumerate() {
        let absent = |contents| {
            let error = FieldPathError::Absent {
                parent: [std::slice::from_ref(column), &path[..depth]]
                    .concat()
                    .join("."),
                part: key.clone(),
                contents,
            };
            cell.on_null.explained(&error)
        };
        if array.is_null(row) && cell.on_null == OnNull::Taken {
            return Ok((array, row));
        }
        if array.is_null(row) {
            return Err(absent(FieldContents::Single(Kind::Null)));
        }
        if let Some(fields) = array.as_struct_opt() {
            let inner = fields.column_by_name(key);
            let inner = inner.ok_or_else(|| absent(FieldContents::Single(kind(field))))?;
            array = Arc::clone(inner);
            continue;
        }
        if let Some((entries, index)) = entry(&array, row, key) {
            row = index.ok_or_else(|| absent(FieldContents::Fields(entries.keys())))?;
            array = entries.values;
            continue;
        }
        let items = items(&array, row);
        let items = items.ok_or_else(|| absent(FieldContents::Single(kind(field))))?;
        let index = key
            .parse::<usize>()
            .ok()
            .filter(|index| *index < items.len());
        row = index.ok_or_else(|| absent(FieldContents::Items(items.len())))?;
        array = items;
    }
    Ok((array, row))
}

/// The value of a key in a map: the values of the map, and the index of this one, if there is one.
fn entry(array: &ArrayRef, row: usize, key: &str) -> Option<(Entries, Option<usize>)> {
    let entries = array.as_map_opt()?.value(row);
    let [keys, values] = entries.columns() else {
        return None;
    };
    let entries = Entries {
        keys: Arc::clone(keys),
        values: Arc::clone(values),
    };
    let index = entries.keys().iter().position(|other| other == key);
    Some((entries, index))
}

/// The entries of a map.
struct Entries {
    keys: ArrayRef,
    values: ArrayRef,
}

impl Entries {
    fn keys(&self) -> Vec<String> {
        let field = Field::new("", self.keys.data_type().clone(), false);
        let key = |row| {
            let mut text = String::new();
            let mut writer = Writer {
                text: &mut text,
                allows_infinite: false,
            };
            writer.value(&self.keys, &field, row).ok()?;
            Some(text)
        };
        (0..self.keys.len()).filter_map(key).collect()
    }
}

/// The items of a list.
fn items(array: &ArrayRef, row: usize) -> Option<ArrayRef> {
    Some(match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().value(row),
        DataType::LargeList(_) => array.as_list::<i64>().value(row),
        DataType::FixedSizeList(..) => array.as_fixed_size_list().value(row),
        DataType::ListView(_) => array.as_list_view::<i32>().value(row),
        DataType::LargeListView(_) => array.as_list_view::<i64>().value(row),
        _ => return None,
    })
}

fn is_null(array: &ArrayRef, row: usize) -> bool {
    match array.data_type() {
        DataType::Null => true,
        DataType::RunEndEncoded(..) => match run(array, row) {
            Some((values, row)) => is_null(&values, row),
            None => true,
        },
        DataType::Dictionary(..) => match dictionary(array, row) {
            Some((values, row)) => is_null(&values, row),
            None => true,
        },
        _ => array.is_null(row),
    }
}

/// The value of a row of a dictionary column: the values, and the index of this one.
fn dictionary(array: &ArrayRef, row: usize) -> Option<(ArrayRef, usize)> {
    let dictionary = array.as_any_dictionary_opt()?;
    if array.is_null(row) {
        return None;
    }
    let key = array.slice(row, 1);
    let key = *key.as_any_dictionary_opt()?.normalized_keys().first()?;
    Some((Arc::clone(dictionary.values()), key))
}

/// The same for a column of runs.
fn run(array: &ArrayRef, row: usize) -> Option<(ArrayRef, usize)> {
    fn of<T: arrow_array::types::RunEndIndexType>(
        runs: &RunArray<T>,
        row: usize,
    ) -> (ArrayRef, usize) {
        (Arc::clone(runs.values()), runs.get_physical_index(row))
    }
    if let Some(runs) = array.as_run_opt::<Int16Type>() {
        return Some(of(runs, row));
    }
    if let Some(runs) = array.as_run_opt::<Int32Type>() {
        return Some(of(runs, row));
    }
    array.as_run_opt::<Int64Type>().map(|runs| of(runs, row))
}

/// Writes values.
struct Writer<'t> {
    text: &'t mut String,
    allows_infinite: bool,
}

impl Writer<'_> {
    /// Writes a value on its own: a string as it is, and anything else as JSON.
    fn value(
        &mut self,
        array: &ArrayRef,
        field: &Field,
        row: usize,
    ) -> Result<(Span, Form), Message> {
        let start = self.text.len();
        let inner = match array.data_type() {
            DataType::Dictionary(..) => dictionary(array, row),
            DataType::RunEndEncoded(..) => run(array, row),
            _ => None,
        };
        if let Some((values, index)) = inner {
            return self.value(&values, &value_field(field), index);
        }
        let is_text =
            kind(field) == Kind::String && extension(field) != Some(JSON) && !is_null(array, row);
        let form = if is_text {
            self.string(array, field, row)?;
            Form::Text
        } else {
            self.json(array, field, row)?;
            Form::Json
        };
        Ok((Span::new(start, self.text.len()), form))
    }

    /// Writes the further fields of a row as a JSON object.
    fn object(
        &mut self,
        row: usize,
        further: &mut [(&String, Column<'_>)],
    ) -> Result<Span, (String, Message)> {
        let start = self.text.len();
        let mut separator = '{';
        for (name, column) in further {
            self.text.push(separator);
            separator = ',';
            self.quoted(name);
            self.text.push(':');
            let cell = column.cell;
            let written = locate(column.array, cell, row)
                .and_then(|(array, row)| self.json(&array, &cell.field, row));
            written.map_err(|problem| (cell.name.clone(), problem))?;
        }
        self.text.push('}');
        Ok(Span::new(start, self.text.len()))
    }

    /// Writes the values of a row in some columns as a list.
    fn items(&mut self, row: usize, columns: &mut [Column<'_>]) -> Result<Span, (String, Message)> {
        let start = self.text.len();
        let mut separator = '[';
        for column in columns {
            self.text.push(separator);
            separator = ',';
            let cell = column.cell;
            let written = locate(column.array, cell, row)
                .and_then(|(array, row)| self.json(&array, &cell.field, row));
            written.map_err(|problem| (cell.name.clone(), problem))?;
        }
        self.text.push(']');
        Ok(Span::new(start, self.text.len()))
    }

    fn quoted(&mut self, text: &str) {
        let json = serde_json::Value::from(text).to_string();
        self.text.push_str(&json);
    }

    /// Writes what is a string in JSON, without quotes.
    fn string(&mut self, array: &ArrayRef, field: &Field, row: usize) -> Result<(), Message> {
        let refuse = || Message::from("found a date that no calendar has: expected a valid one");
        let written = match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
            DataType::LargeUtf8 => array.as_string::<i64>().value(row).to_owned(),
            DataType::Utf8View => array.as_string_view().value(row).to_owned(),
            DataType::FixedSizeBinary(16) => uuid(array.as_fixed_size_binary().value(row)),
            DataType::Date32 => date::<Date32Type>(array, row).ok_or_else(refuse)?,
            DataType::Date64 => date::<Date64Type>(array, row).ok_or_else(refuse)?,
            DataType::Time32(TimeUnit::Second) => {
                time::<Time32SecondType>(array, row).ok_or_else(refuse)?
            }
            DataType::Time32(_) => time::<Time32MillisecondType>(array, row).ok_or_else(refuse)?,
            DataType::Time64(TimeUnit::Microsecond) => {
                time::<Time64MicrosecondType>(array, row).ok_or_else(refuse)?
            }
            DataType::Time64(_) => time::<Time64NanosecondType>(array, row).ok_or_else(refuse)?,
            DataType::Timestamp(unit, zone) => {
                let instant = match unit {
                    TimeUnit::Second => instant::<TimestampSecondType>(array, row),
                    TimeUnit::Millisecond => instant::<TimestampMillisecondType>(array, row),
                    TimeUnit::Microsecond => instant::<TimestampMicrosecondType>(array, row),
                    TimeUnit::Nanosecond => instant::<TimestampNanosecondType>(array, row),
                };
                let zone = if zone.is_some() { "Z" } else { "" };
                instant.ok_or_else(refuse)? + zone
            }
            DataType::Duration(unit) => match unit {
                TimeUnit::Second => {
                    duration(array.as_primitive::<DurationSecondType>().value(row), 0)
                }
                TimeUnit::Millisecond => duration(
                    array.as_primitive::<DurationMillisecondType>().value(row),
                    3,
                ),
                TimeUnit::Microsecond => duration(
                    array.as_primitive::<DurationMicrosecondType>().value(row),
                    6,
                ),
                TimeUnit::Nanosecond => {
                    duration(array.as_primitive::<DurationNanosecondType>().value(row), 9)
                }
            },
            _ => {
                let found = field.data_type();
                return Err(Message::from(format!("found {found}: expected text")));
            }
        };
        self.text.push_str(&written);
        Ok(())
    }

    /// Writes a value as JSON.
    fn json(&mut self, array: &ArrayRef, field: &Field, row: usize) -> Result<(), Message> {
        if is_null(array, row) {
            self.text.push_str("null");
            return Ok(());
        }
        match array.data_type() {
            DataType::Dictionary(..) => match dictionary(array, row) {
                Some((values, index)) => self.json(&values, &value_field(field), index),
                None => Ok(()),
            },
            DataType::RunEndEncoded(..) => match run(array, row) {
                Some((values, index)) => self.json(&values, &value_field(field), index),
                None => Ok(()),
            },
            DataType::Boolean => {
                let value = array.as_boolean().value(row);
                self.text.push_str(if value { "true" } else { "false" });
                Ok(())
            }
            DataType::Int8 => self.integer::<Int8Type>(array, row),
            DataType::Int16 => self.integer::<Int16Type>(array, row),
            DataType::Int32 => self.integer::<Int32Type>(array, row),
            DataType::Int64 => self.integer::<Int64Type>(array, row),
            DataType::UInt8 => self.integer::<UInt8Type>(array, row),
            DataType::UInt16 => self.integer::<UInt16Type>(array, row),
            DataType::UInt32 => self.integer::<UInt32Type>(array, row),
            DataType::UInt64 => self.integer::<UInt64Type>(array, row),
            DataType::Float16 => self.number(shortest_half(
                array.as_primitive::<Float16Type>().value(row),
            )),
            DataType::Float32 => {
                let number = array.as_primitive::<Float32Type>().value(row);
                if number.is_finite() {
                    self.shortest(serde_json::to_string(&number))
                } else {
                    self.number(f64::from(number))
                }
            }
            DataType::Float64 => self.number(array.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal32(..) => {
                let text = array.as_primitive::<Decimal32Type>().value_as_string(row);
                self.decimal(&text)
            }
            DataType::Decimal64(..) => {
                let text = array.as_primitive::<Decimal64Type>().value_as_string(row);
                self.decimal(&text)
            }
            DataType::Decimal128(..) => {
                let text = array.as_primitive::<Decimal128Type>().value_as_string(row);
                self.decimal(&text)
            }
            DataType::Decimal256(..) => {
                let text = array.as_primitive::<Decimal256Type>().value_as_string(row);
                self.decimal(&text)
            }
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::ListView(item)
            | DataType::LargeListView(item) => {
                let item = Arc::clone(item);
                match items(array, row) {
                    Some(items) => self.list(&items, &item),
                    None => Ok(()),
                }
            }
            DataType::Struct(_) => self.fields(array.as_struct(), row),
            DataType::Map(..) => self.map(&array.as_map().value(row)),
            _ if extension(field) == Some(JSON) => self.string(array, field, row),
            _ => {
                let start = self.text.len();
                self.string(array, field, row)?;
                let written = self.text.split_off(start);
                self.quoted(&written);
                Ok(())
            }
        }
    }

    /// Writes the fields of a row.
    fn fields(&mut self, array: &StructArray, row: usize) -> Result<(), Message> {
        self.text.push('{');
        let columns = array.fields().iter().zip(array.columns());
        for (index, (field, column)) in columns.enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.quoted(field.name());
            self.text.push(':');
            self.json(column, field, row)?;
        }
        self.text.push('}');
        Ok(())
    }

    /// Writes the entries of a map, whose columns are its keys and its values.
    fn map(&mut self, entries: &StructArray) -> Result<(), Message> {
        let ([keys, values], [_, value]) = (entries.columns(), &entries.fields()[..]) else {
            return Ok(());
        };
        let key = Field::new("", keys.data_type().clone(), false);
        self.text.push('{');
        for index in 0..entries.len() {
            if index > 0 {
                self.text.push(',');
            }
            self.json(keys, &key, index)?;
            self.text.push(':');
            self.json(values, value, index)?;
        }
        self.text.push('}');
        Ok(())
    }

    fn list(&mut self, items: &ArrayRef, field: &Field) -> Result<(), Message> {
        self.text.push('[');
        for index in 0..items.len() {
            if index > 0 {
                self.text.push(',');
            }
            self.json(items, field, index)?;
        }
        self.text.push(']');
        Ok(())
    }

    fn integer<T: ArrowPrimitiveType<Native: std::fmt::Display>>(
        &mut self,
        array: &ArrayRef,
        row: usize,
    ) -> Result<(), Message> {
        let value = array.as_primitive::<T>().value(row);
        write!(self.text, "{value}").map_err(|error| Message::from(error.to_string()))
    }

    /// Writes a number in the shortest form that reads as the same number.
    fn number(&mut self, number: f64) -> Result<(), Message> {
        if number.is_finite() {
            return self.shortest(serde_json::to_string(&number));
        }
        let (name, infinite) = match number {
            f64::INFINITY => ("infinity", Some("\"inf\"")),
            f64::NEG_INFINITY => ("-infinity", Some("\"-inf\"")),
            _ => ("NaN", None),
        };
        match infinite.filter(|_| self.allows_infinite) {
            Some(text) => {
                self.text.push_str(text);
                Ok(())
            }
            None => Err(format!("found {name}: expected a finite number").into()),
        }
    }

    fn shortest(&mut self, written: serde_json::Result<String>) -> Result<(), Message> {
        let written = written.map_err(|error| Message::from(error.to_string()))?;
        self.text.push_str(&written);
        Ok(())
    }

    fn decimal(&mut self, text: &str) -> Result<(), Message> {
        self.text.push_str(text);
        Ok(())
    }
}

/// The field of the values of a dictionary or of runs, which has the extension type of the whole.
fn value_field(field: &Field) -> Field {
    let values = match field.data_type() {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        DataType::RunEndEncoded(_, values) => values.data_type().clone(),
        other => other.clone(),
    };
    field.clone().with_data_type(values)
}

/// The number of 64 bits whose shortest form is the shortest one that reads as a number of 16 bits.
fn shortest_half(number: <Float16Type as ArrowPrimitiveType>::Native) -> f64 {
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    let exact = number.to_f64();
    let mut digits = (0..6).map(|digits| format!("{exact:.digits$e}"));
    let is_same = |text: &String| {
        let read = text.parse::<f64>().ok();
        read.filter(|read| Half::from_f64(*read) == number)
    };
    digits.find_map(|text| is_same(&text)).unwrap_or(exact)
}

fn uuid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn date<T>(array: &ArrayRef, row: usize) -> Option<String>
where
    T: arrow_array::types::ArrowTemporalType,
    i64: From<T::Native>,
{
    let date = array.as_primitive::<T>().value_as_date(row)?;
    Some(date.to_string())
}

fn time<T>(array: &ArrayRef, row: usize) -> Option<String>
where
    T: arrow_array::types::ArrowTemporalType,
    i64: From<T::Native>,
{
    let time = array.as_primitive::<T>().value_as_time(row)?;
    Some(time.to_string())
}

fn instant<T>(array: &ArrayRef, row: usize) -> Option<String>
where
    T: arrow_array::types::ArrowTemporalType,
    i64: From<T::Native>,
{
    let instant = array.as_primitive::<T>().value_as_datetime(row)?;
    Some(format!("{instant:?}"))
}

/// A duration in ISO 8601, from a number of units with this many decimal places.
fn duration(units: i64, digits: usize) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let per_second = 10_u64.pow(u32::try_from(digits).unwrap_or_default());
    let (seconds, rest) = (
        units.unsigned_abs() / per_second,
        units.unsigned_abs() % per_second,
    );
    let fraction = match rest {
        0 => String::new(),
        rest => format!(".{rest:0digits$}").trim_end_matches('0').to_owned(),
    };
    format!("{sign}PT{seconds}{fraction}S")
}

/// The error of a decoder, in words that name the location.
pub(crate) fn decode_error(file: &str, location: &str, problem: &str) -> RunError {
    if memory::is_lack(problem) {
        let read = ReadError::new(file, memory::lack());
        return read.at(location).limit().into();
    }
    let problem = problem.lines().next().unwrap_or_default();
    let read = ReadError::new(file, format!("cannot be decoded: {problem}"));
    read.at(location).into()
}

/// Refuses rows whose values, which are written into a text next, do not fit in memory.
pub(crate) fn refuse_large_rows(file: &str, batch: &RecordBatch) -> Result<(), RunError> {
    let bytes = batch.columns().iter().map(|column| {
        let bytes = column.to_data().get_slice_memory_size();
        bytes.unwrap_or_default() as u64
    });
    // A text that grows is copied to one that is twice as long.
    let room = memory::refuse_lack(bytes.sum::<u64>().saturating_mul(2));
    room.map_err(|_| ReadError::new(file, memory::lack()).limit().into())
}

/// The first file with columns, and the kinds of values that its records have.
pub(crate) type Kinds = Option<(String, [Option<metric_record::Kind>; 2])>;

/// Refuses a file in which a column has values of another kind than in the first file of a source.
pub(crate) fn refuse_other_kinds(
    file: &str,
    plan: &Plan,
    first: &mut Kinds,
) -> Result<(), RunError> {
    let kinds = plan.kinds();
    let (before, expected) = first.get_or_insert_with(|| (file.to_owned(), kinds));
    for (role, (found, expected)) in [Role::Value, Role::Other]
        .into_iter()
        .zip(kinds.into_iter().zip(*expected))
    {
        if let (Some(found), Some(expected)) = (found, expected)
            && found != expected
            && ![found, expected].contains(&Kind::Null)
        {
            let name = match role {
                Role::Other => plan.other.as_ref().map_or("", |cell| &cell.name),
                _ => &plan.value.name,
            };
            let problem = format!("holds {found}: expected {expected}, as in {before}");
            let location = format!("column {}", quoted_id(name));
            return Err(ReadError::new(file, problem).at(location).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{Int64Builder, MapBuilder, StringBuilder};

    use super::*;

    /// Each value of the field in a column `meta` of maps from strings to integers, or what is wrong.
    fn read(field: &str) -> Result<Vec<String>, String> {
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
        for entries in [&[("a", 1), ("b", 2)][..], &[("b", 3)]] {
            for (key, value) in entries {
                maps.keys().append_value(key);
                maps.values().append_value(*value);
            }
            maps.append(true).expect("keys and values");
        }
        let ids: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
        let maps: ArrayRef = Arc::new(maps.finish());
        let batch = RecordBatch::try_from_iter([("id", ids), ("meta", maps)]).expect("a batch");
        let names = FieldNames::new([("id", Role::Id, "id-field"), (field, Role::Value, "")]);
        let plan = Plan::new("t.arrow", &batch.schema(), &names);
        let plan = plan.map_err(|error| error.to_string())?;
        let part = plan.part("t.arrow", Unit::Batch(1));
        let rows = Rows {
            batch: batch.project(&plan.projection).expect("columns"),
            plan: Arc::new(plan),
            selected: None,
        };
        let mut text = String::new();
        let found = rows.scan(&mut text, 1, &part, &mut Err);
        let found = found.map_err(|error| format!("{}: {}", error.location, error.problem))?;
        Ok(found
            .iter()
            .map(|it| it.value.slice(&text).to_owned())
            .collect())
    }

    #[test]
    fn a_path_leads_into_a_map() {
        assert_eq!(read("meta.b"), Ok(vec!["2".to_owned(), "3".to_owned()]));
        let absent = "batch 1, row 2, column \"meta.a\": \"meta\" has no \"a\"; it has \"b\"";
        assert_eq!(read("meta.a"), Err(absent.to_owned()));
        let number = "t.arrow: column \"meta.a.c\": \"meta.a\" has no \"c\"; it is a number";
        assert_eq!(read("meta.a.c"), Err(number.to_owned()));
    }
}
