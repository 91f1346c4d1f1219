//! Records that are samples of an example: those with the same value in a field become one record, with a list.

use std::collections::HashMap;

use metric_record::json::Entries;
use metric_record::{
    Column, FieldPath, Ids, Kind, Message, ReadError, Texts, Value, json, quoted_id,
};
use metric_registry::Selection;

use crate::RunError;
use crate::fields::{FieldNames, Role};
use crate::found::{Form, Found, FoundId, Span};
use crate::scan::scan;
use crate::selecting::Tally;
use crate::source::{Records, Source, too_long};
use crate::tables::Table;

/// The examples in the order of their first samples.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    positions: HashMap<String, usize>,
    groups: Vec<Group>,
    bytes: u64,
}

#[derive(Debug)]
struct Group {
    id: String,
    /// The values of the samples as a list in JSON, without its end.
    values: String,
    /// The further fields as JSON, which all samples of the example have.
    fields: Vec<String>,
    /// The line of the first sample.
    line: u64,
}

impl Groups {
    /// Adds a sample of an example, with the values of these further fields.
    fn add(
        &mut self,
        id: String,
        mut value: Value<'_>,
        (names, fields): (&[String], Vec<String>),
        line: u64,
    ) -> Result<(), Message> {
        let value = match value.as_line().map(str::trim) {
            // Python writes Booleans so.
            Some("True") => "true".into(),
            Some("False") => "false".into(),
            Some(line) if json::typed::<&serde_json::value::RawValue>(line).is_err() => {
                serde_json::Value::from(line).to_string()
            }
            _ => value.to_json_or("null")?.into_owned(),
        };
        self.bytes += value.len() as u64 + 1;
        let Some(position) = self.positions.get(&id) else {
            self.bytes += (2 * id.len() + fields.iter().map(String::len).sum::<usize>()) as u64;
            self.positions.insert(id.clone(), self.groups.len());
            self.groups.push(Group {
                id,
                values: format!("[{value}"),
                fields,
                line,
            });
            return Ok(());
        };
        let group = &mut self.groups[*position];
        let mut differing = names.iter().zip(group.fields.iter().zip(&fields));
        if let Some((name, (first, other))) = differing.find(|(_, (first, other))| first != other) {
            return Err(Message::from(format!(
                "field {}: found {other}, and {first} in the first record of {}: expected the same in all of its records",
                quoted_id(name),
                quoted_id(&id)
            )));
        }
        group.values.extend([",", &value]);
        Ok(())
    }
}

/// Returns the selected records of a source, with one record per value of a field.
pub(crate) fn source(
    source: &Source,
    (group_field, prediction_field, further): (&str, &str, &[String]),
    selection: Option<&Selection>,
    max_bytes: u64,
) -> Result<(Source, Tally), RunError> {
    let format = source.record_format()?;
    if !format.has_fields() {
        let problem = ": expected a format whose records have fields, such as JSON Lines or CSV";
        let message = Message::default().option("group-field", group_field);
        return Err(RunError::Usage(message.text(problem)));
    }
    let names = FieldNames::new([
        (group_field, Role::Id, "group-field"),
        (prediction_field, Role::Value, "prediction-field"),
    ])
    .with_further({
        let selected = selection.into_iter().flat_map(Selection::fields);
        let selected = selected.filter(|field| !further.iter().any(|known| known == field));
        let selected = selected.map(str::to_owned);
        further.iter().cloned().chain(selected).collect()
    });
    let mut tally = Tally::default();
    let mut blocks = source.open(&names, &std::sync::Arc::default(), max_bytes)?;
    let mut groups = Groups::default();
    while let Some(mut block) = blocks.next()? {
        let found = scan(&mut block, format, &names, |_| false);
        for record in found.map_err(|error| block.error(error))? {
            let text = &block.text;
            if let Some(selection) = selection {
                let fields = (record.id(text), record.record(text));
                let judged = tally.judge(selection, fields, true);
                if !judged.map_err(|error| block.record_error(&record, error))? {
                    continue;
                }
            }
            let fields = fields_of(record.record(text), further);
            let id = record.id(text).to_string();
            let added = fields.map_err(Message::from).and_then(|fields| {
                groups.add(id, record.value(text), (further, fields), record.line)
            });
            added.map_err(|problem| {
                let (line, location) = block.part.line_or_location(record.line, "");
                let mut error = ReadError::new(&block.part.file, problem).at(location);
                error.line = line;
                error
            })?;
        }
        if groups.bytes > max_bytes {
            let problem = too_long("the samples", max_bytes);
            return Err(ReadError::new(source.name(), problem).limit().into());
        }
        blocks.recycle(block);
    }
    let records = groups.into_records(further);
    Ok((Source::records(source.name(), records, format), tally))
}

/// The further fields of a record as JSON; null where it lacks one.
fn fields_of(record: Option<&str>, further: &[String]) -> Result<Vec<String>, String> {
    let Some(record) = record.filter(|_| !further.is_empty()) else {
        return Ok(vec!["null".to_owned(); further.len()]);
    };
    let entries: Entries<'_> = json::typed(record)?;
    let field = |name: &String| {
        let own = entries.get(name);
        let found = own.or_else(|| FieldPath::new(name).find(record).ok());
        found.unwrap_or("null").to_owned()
    };
    Ok(further.iter().map(field).collect())
}

impl Groups {
    fn into_records(self, names: &[String]) -> Records {
        let mut text = String::new();
        let mut found = Vec::with_capacity(self.groups.len());
        for group in self.groups {
            let start = text.len();
            text.extend([&group.values, "]"]);
            let value = Span::new(start, text.len());
            // An object with the fields, for clusters and slices.
            let start = text.len();
            let mut before = "{";
            for (name, field) in names.iter().zip(&group.fields) {
                let name = serde_json::Value::from(name.as_str()).to_string();
                text.extend([before, &name, ":", field]);
                before = ",";
            }
            if !names.is_empty() {
                text.push('}');
            }
            found.push(Found {
                id: FoundId::Unescaped(group.id.into()),
                value,
                form: Form::Json,
                other: None,
                record: match names {
                    [] => Span::default(),
                    _ => Span::new(start, text.len()),
                },
                line: group.line,
            });
        }
        Records { text, found }
    }
}

/// A table with one row per value of a field.
pub(crate) struct GroupedTable {
    groups: Vec<Group>,
    /// The names of the further columns.
    names: Vec<String>,
}

impl GroupedTable {
    /// Groups the rows of a table with these further columns, of which some are wanted.
    pub(crate) fn new(
        (table, columns): (&Table<'_>, &[(&str, Column<'_>)]),
        group_field: &str,
        wanted: &[String],
        is_selected: impl Fn(usize) -> bool,
    ) -> Result<Self, RunError> {
        let problem = |problem: Message| RunError::from(ReadError::new(table.name, problem));
        let column = |wanted: &str| {
            let mut columns = columns.iter();
            columns.find_map(|(name, column)| (*name == wanted).then_some(column))
        };
        let Some(ids) = column(group_field).filter(|ids| ids.len() == table.values.len()) else {
            let message = Message::from("expected a field with the task of each sample: ");
            return Err(problem(message.option("group-field", group_field)));
        };
        let further = wanted
            .iter()
            .filter_map(|name| Some((name.clone(), column(name)?)));
        let (names, further): (Vec<String>, Vec<&Column<'_>>) = further.unzip();
        let mut groups = Groups::default();
        for row in (0..table.values.len()).filter(|row| is_selected(*row)) {
            let cells = further.iter().map(|column| {
                let json = column.value(row).to_json_or("null")?.into_owned();
                Ok(json)
            });
            let cells = cells.collect::<Result<Vec<String>, String>>();
            let added = id_of(ids.value(row)).and_then(|id| Ok((id, cells?)));
            let added = added.map_err(Message::from).and_then(|(id, cells)| {
                groups.add(id, table.values.value(row), (&names, cells), row as u64 + 1)
            });
            added.map_err(|message| {
                problem(Message::from(format!("row {}: ", row + 1)).message(&message))
            })?;
        }
        let mut groups = groups.groups;
        for group in &mut groups {
            group.values.push(']');
        }
        Ok(Self { groups, names })
    }

    /// The table, with this name.
    pub(crate) fn table<'t>(&'t self, name: &'t str) -> Table<'t> {
        let texts = |cell: &dyn Fn(&'t Group) -> &'t str| -> Texts<'t> {
            self.groups.iter().map(|group| Some(cell(group))).collect()
        };
        let fields = self.names.iter().enumerate().map(|(index, name)| {
            let cells = texts(&|group| &group.fields[index]);
            (name.as_str(), Column::Json(cells))
        });
        Table {
            ids: Ids::Texts(texts(&|group| &group.id)),
            fields: fields.collect(),
            ..Table::new(name, Column::Json(texts(&|group| &group.values)))
        }
    }
}

/// The id that a value is: a text, or an integer as it is written.
fn id_of(mut value: Value<'_>) -> Result<String, String> {
    match value.kind() {
        Kind::String | Kind::Line => value.text().map(std::borrow::Cow::into_owned),
        Kind::Number => Ok(value.to_json_or("null")?.into_owned()),
        found => Err(format!(
            "expected an id, a string or a number, found {found}"
        )),
    }
}
