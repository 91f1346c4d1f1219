//! The fields of a record: their names, and where they are among columns.

use std::borrow::Cow;

use metric_record::json::Entries;
use metric_record::{
    FieldContents, FieldPath, FieldPathError, JoinPolicy, Kind, Message, quoted_id,
};

/// The role of a field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Id,
    /// The value of this side. It may have several names; a record uses one of them.
    Value,
    /// The value of the other side, where one file has both.
    Other,
}

/// The name of an id that is the number of the row.
pub(crate) const ROW_NUMBER: &str = "#row";

/// The names of the fields of a record.
#[derive(Clone, Debug)]
pub(crate) struct FieldNames {
    pub(crate) fields: Vec<Field>,
    /// Whether any name may be a path.
    pub(crate) has_paths: bool,
    /// The names of the further fields that somebody reads, for formats in which fields cost time.
    further: Vec<String>,
    /// Whether all columns are read as further fields.
    has_all_columns: bool,
    /// Whether the id is the number of the row.
    pub(crate) has_row_ids: bool,
    /// Whether a metric takes infinite numbers, which are strings in JSON.
    pub(crate) allows_infinite: bool,
    /// Whether a path to a prediction may go through null, which is then the prediction.
    pub(crate) allows_null: bool,
    /// The names of the columns that are the items of a list, and whose value the list is.
    list: Option<(Role, Vec<String>)>,
    /// Whether the value is both sides of a record, for metrics that read only one.
    pub(crate) is_one_sided: bool,
}

/// The position of a field among columns: the index of the column, and the path within its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnPath {
    pub(crate) index: usize,
    pub(crate) path: Vec<String>,
}

/// The columns of a record.
#[derive(Clone, Debug)]
pub(crate) struct RecordColumns {
    /// `None` where the id is the number of the row.
    pub(crate) id: Option<ColumnPath>,
    pub(crate) value: ColumnPath,
    /// The value of the other side, where one source has both.
    pub(crate) other: Option<ColumnPath>,
    /// Further fields by name.
    pub(crate) further: Vec<(String, ColumnPath)>,
    /// The columns of the items of the value, and of those of the other side; empty for a column that is the value.
    pub(crate) items: [Vec<ColumnPath>; 2],
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The name that most files use.
    pub(crate) quoted: String,
    /// The path that the name means, if it can be one.
    pub(crate) path: Option<FieldPath>,
    pub(crate) role: Role,
    /// The option that gives another name.
    option: &'static str,
}

/// What becomes of null on the path to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnNull {
    Refused,
    /// It is refused with the options that take it.
    Explained,
    /// It is the value.
    Taken,
}

impl OnNull {
    /// The message of a path that a record does not have.
    pub(crate) fn explained(self, error: &FieldPathError) -> Message {
        let message = Message::from(error.to_string());
        let FieldPathError::Absent {
            contents: FieldContents::Single(Kind::Null),
            ..
        } = error
        else {
            return message;
        };
        match self {
            Self::Refused => message,
            _ => JoinPolicy::with_options_of_null(message),
        }
    }
}

impl RecordColumns {
    /// The columns of all fields.
    pub(crate) fn all(&self) -> impl Iterator<Item = &ColumnPath> {
        let sides = [self.id.as_ref(), Some(&self.value), self.other.as_ref()];
        let further = self.further.iter().map(|(_, column)| column);
        let items = self.items.iter().flatten();
        sides.into_iter().flatten().chain(further).chain(items)
    }
}

impl FieldNames {
    pub(crate) fn new<'n>(names: impl IntoIterator<Item = (&'n str, Role, &'static str)>) -> Self {
        let field = |(name, role, option): (&str, Role, &'static str)| Field {
            name: name.to_owned(),
            quoted: serde_json::Value::from(name).to_string(),
            path: Some(FieldPath::new(name)).filter(FieldPath::is_path),
            role,
            option,
        };
        let mut fields: Vec<Field> = names.into_iter().map(field).collect();
        let is_row_number = |field: &Field| field.role == Role::Id && field.name == ROW_NUMBER;
        let has_row_ids = fields.iter().any(is_row_number);
        fields.retain(|field| !is_row_number(field));
        Self {
            has_paths: fields.iter().any(|field| field.path.is_some()),
            fields,
            further: Vec::new(),
            has_all_columns: false,
            has_row_ids,
            allows_infinite: false,
            allows_null: false,
            list: None,
            is_one_sided: false,
        }
    }

    /// The same names, of records in which the value with this role is a list whose items are columns, if there are any
    /// columns.
    pub(crate) fn with_list(self, role: Role, columns: &[String]) -> Self {
        Self {
            list: (!columns.is_empty()).then(|| (role, columns.to_vec())),
            ..self
        }
    }

    /// Returns whether a value is a list whose items are columns, which other formats do not have.
    pub(crate) const fn needs_columns(&self) -> bool {
        self.list.is_some()
    }

    /// The same names with those of further fields.
    pub(crate) fn with_further(self, further: Vec<String>) -> Self {
        Self { further, ..self }
    }

    /// The same names with all columns as further fields, or without them.
    pub(crate) fn with_all_columns(self, has_all_columns: bool) -> Self {
        Self {
            has_all_columns,
            ..self
        }
    }

    /// The names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// The same names, of records whose ids are the numbers of their rows.
    #[cfg(feature = "arrow")]
    pub(crate) fn with_row_ids(self) -> Self {
        Self {
            has_row_ids: true,
            ..self
        }
    }

    /// Finds the fields among the names of columns.
    pub(crate) fn columns(&self, names: &[&str]) -> Result<RecordColumns, Message> {
        let mut found: [Option<(ColumnPath, usize)>; 3] = [const { None }; 3];
        let (list_role, items) = self.items(names)?;
        for (number, field) in self.fields.iter().enumerate() {
            if Some(field.role) == list_role {
                let first = items.first().cloned();
                found[field.role as usize] = first.map(|column| (column, number));
                continue;
            }
            let Some(column) = column_of(names, &field.name, field.path.as_ref()) else {
                continue;
            };
            if let Some((_, before)) = found[field.role as usize].replace((column, number)) {
                return Err(self.both(before, number));
            }
        }
        let [id, value, other] = found.map(|found| found.map(|(column, _)| column));
        let present: Vec<Cow<'_, str>> = names.iter().map(|name| Cow::Borrowed(*name)).collect();
        let absent = |role| self.absent(role, "column", &present);
        let has = |role| self.fields.iter().any(|field| field.role == role);
        let all = names.iter().filter(|name| {
            self.has_all_columns && !name.is_empty() && !self.further.iter().any(|it| it == *name)
        });
        let all = all.map(|name| (*name).to_owned());
        let further: Vec<String> = self.further.iter().cloned().chain(all).collect();
        let further = further.iter().filter_map(|name| {
            let column = column_of(names, name, Some(&FieldPath::new(name)))?;
            Some((name.clone(), column))
        });
        Ok(RecordColumns {
            id: match (id, self.has_row_ids) {
                (None, false) => return Err(absent(Role::Id)),
                (id, _) => id,
            },
            value: value.ok_or_else(|| absent(Role::Value))?,
            other: match (other, has(Role::Other)) {
                (None, true) => return Err(absent(Role::Other)),
                (other, _) => other,
            },
            further: further.collect(),
            items: match list_role {
                Some(Role::Other) => [Vec::new(), items],
                _ => [items, Vec::new()],
            },
        })
    }

    /// Finds the columns of the items of a list, and the role of its value.
    fn items(&self, names: &[&str]) -> Result<(Option<Role>, Vec<ColumnPath>), Message> {
        let Some((role, items)) = &self.list else {
            return Ok((None, Vec::new()));
        };
        let present: Vec<Cow<'_, str>> = names.iter().map(|name| Cow::Borrowed(*name)).collect();
        let item = |name: &String| {
            column_of(names, name, None).ok_or_else(|| {
                let problem = format!(
                    "no column {name:?}: the file has {}",
                    quoted_names(&present)
                );
                Message::from(problem)
                    .text("; other names are given by ")
                    .option("prediction-fields", "")
            })
        };
        let items = items.iter().map(item).collect::<Result<_, _>>()?;
        Ok((Some(*role), items))
    }

    /// What becomes of null on the path to the value of a role.
    pub(crate) fn on_null(&self, role: Role) -> OnNull {
        let mut fields = self.fields.iter();
        let is_prediction = fields.any(|it| it.role == role && it.option == "prediction-field");
        if !is_prediction {
            OnNull::Refused
        } else if self.allows_null {
            OnNull::Taken
        } else {
            OnNull::Explained
        }
    }

    /// The value of a field that is a path in a record.
    pub(crate) fn find<'r>(
        &self,
        role: Role,
        path: &FieldPath,
        record: &'r str,
    ) -> Result<&'r str, Message> {
        let on_null = self.on_null(role);
        let found = match on_null {
            OnNull::Taken => path.find_to_null(record),
            OnNull::Refused | OnNull::Explained => path.find(record),
        };
        found.map_err(|error| on_null.explained(&error))
    }

    /// Whether an object has all fields, so that it is a record.
    pub(crate) fn has_all(&self, object: &str) -> bool {
        let entries = serde_json::from_str::<Entries<'_>>(object);
        entries.is_ok_and(|entries| self.are_all_in(&entries))
    }

    /// The same of the entries of an object. Records have few of them.
    pub(crate) fn are_all_in(&self, entries: &Entries<'_>) -> bool {
        const MOST: usize = 200;
        let names = entries.0.iter().map(|(name, _)| &**name);
        let has_ids = self.fields.iter().any(|field| field.role == Role::Id);
        has_ids && entries.0.len() <= MOST && self.columns(&names.collect::<Vec<_>>()).is_ok()
    }

    /// Says that a record has two fields of which it should have one.
    pub(crate) fn both(&self, one: usize, other: usize) -> Message {
        let [one, other] = [one, other].map(|index| &self.fields[index].name);
        Message::from(if one == other {
            format!("duplicate field {one:?}")
        } else {
            format!("both {one:?} and {other:?}: expected one of them")
        })
    }

    /// Says that a record, or each record, has no field with this role, which fields there are, and which
    /// of them is probably meant.
    #[cold]
    pub(crate) fn no_field(&self, role: Role, record: &str) -> Message {
        let present: Vec<Cow<'_, str>> = serde_json::from_str::<Entries<'_>>(record)
            .map(|entries| entries.0.into_iter().map(|(name, _)| name).collect())
            .unwrap_or_default();
        let mut paths = self.fields.iter().filter(|field| field.role == role);
        if let Some(path) = paths.find_map(|field| field.path.as_ref())
            && let Err(error) = path.find(record)
        {
            return Message::from(error.to_string());
        }
        self.absent(role, "field", &present)
    }

    /// The same for fields or columns of these names.
    fn absent(&self, role: Role, what: &str, present: &[Cow<'_, str>]) -> Message {
        let with_role = || self.fields.iter().filter(|field| field.role == role);
        let names: Vec<_> = with_role()
            .map(|field| format!("{:?}", field.name))
            .collect();
        let option = with_role().next().map_or("", |field| field.option);
        let others = present
            .iter()
            .filter(|name| !self.fields.iter().any(|field| field.name == ***name));
        let message = Message::from(format!("no {what} {}", names.join(" or ")));
        let holder = match what {
            "field" => "the record",
            _ => "the file",
        };
        let message = match present {
            [] => return message.text(format_args!(": {holder} has no {what}s")),
            present => message.text(format_args!(": {holder} has {}", quoted_names(present))),
        };
        let wanted = with_role().map(|field| field.name.as_str());
        match probably_meant(role, wanted, others.map(|name| &**name)) {
            Some(name) => message
                .text("; did you mean ")
                .option(option, name)
                .text("?"),
            None => message
                .text("; another name is given by ")
                .option(option, ""),
        }
    }
}

/// Finds the column of a name: the one of exactly this name, or else the one that its path starts with.
fn column_of(names: &[&str], name: &str, path: Option<&FieldPath>) -> Option<ColumnPath> {
    let index_of = |wanted: &str| {
        let is_it = |column: &&str| !wanted.is_empty() && *column == wanted;
        names.iter().position(is_it)
    };
    if let Some(index) = index_of(name) {
        return Some(ColumnPath {
            index,
            path: Vec::new(),
        });
    }
    let mut parts = path?.parts();
    let index = index_of(parts.next()?)?;
    Some(ColumnPath {
        index,
        path: parts.map(str::to_owned).collect(),
    })
}

/// The first few names of fields, in quotes.
fn quoted_names(names: &[Cow<'_, str>]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| quoted_id(name))
        .collect();
    let more = if names.len() > MOST { ", ..." } else { "" };
    shown.join(", ") + more
}

/// Names that fields of ids have in other programs' files.
const ID_NAMES: [&str; 8] = [
    "doc_id",
    "question_id",
    "questionId",
    "key",
    "idx",
    "image_id",
    "row_id",
    "Id",
];

/// The name that is nearest to one that is requested, if it is near.
fn probably_meant<'n>(
    role: Role,
    wanted: impl Iterator<Item = &'n str> + Clone,
    present: impl Iterator<Item = &'n str> + Clone,
) -> Option<&'n str> {
    /// At or above this similarity, names are abbreviations or misspellings of each other.
    const NEAR: f64 = 0.8;
    if role == Role::Id
        && let Some(name) = present.clone().find(|name| ID_NAMES.contains(name))
    {
        return Some(name);
    }
    let nearness = |name: &str| {
        let each = wanted
            .clone()
            .map(|wanted| strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase()));
        each.fold(0.0, f64::max)
    };
    let near = present.map(|name| (nearness(name), name));
    near.filter(|(nearness, _)| *nearness >= NEAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}
