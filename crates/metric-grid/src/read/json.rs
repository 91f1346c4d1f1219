//! Grids and tasks in JSON.

use std::borrow::Cow;
use std::fmt;

use metric_record::Kind;
use metric_record::json::scan::Scanner;
use metric_record::json::{Entries, Text, kind, typed};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Grid, MAX_SIDE};

/// Reads a grid from valid JSON; else says what is wrong with it.
pub(super) fn grid(json: &str) -> Result<Grid, String> {
    if let Some(grid) = plain_grid(json) {
        return Ok(grid);
    }
    let rows: Vec<Vec<i64>> = typed(json).map_err(|error| match kind(json) {
        Kind::List => format!("expected a grid, a list of rows of integers: {error}"),
        other => format!("expected a grid, a list of rows of integers, found {other}"),
    })?;
    Grid::from_rows(&rows).map_err(|error| error.to_string())
}

/// Reads a grid from JSON; `None` for anything else, without saying what is wrong with it.
///
/// Grids are nearly all that there is in a file of them, and a general reader takes several times as
/// long for them.
fn plain_grid(json: &str) -> Option<Grid> {
    // Room for what the text can hold: a digit and a comma for a cell.
    let mut cells = Vec::with_capacity((json.len() / 2).min(MAX_SIDE * MAX_SIDE));
    let (mut rows, mut columns) = (0, None);
    let mut scanner = Scanner::new(json);
    scanner.list(|row| {
        let start = cells.len();
        row.digits(&mut cells)?;
        rows += 1;
        let length = cells.len() - start;
        (*columns.get_or_insert(length) == length && cells.len() <= MAX_SIDE * MAX_SIDE)
            .then_some(())
    })?;
    let is_whole = scanner.is_at_end();
    let grid = Grid::from_cells(rows, columns.unwrap_or_default(), cells);
    grid.ok().filter(|_| is_whole)
}

/// An attempt: a grid, or an object with the grid as its `answer` and the number of the test as the
/// `pair_index` of its `metadata`.
#[derive(Default)]
pub(super) struct RawAttempt<'a> {
    /// The JSON of the grid.
    pub(super) answer: Cow<'a, str>,
    /// The JSON of the index.
    pub(super) pair_index: Option<&'a str>,
    /// Whether it is an object with an answer other than null.
    pub(super) has_answer: bool,
}

impl<'a> RawAttempt<'a> {
    /// Reads an attempt from valid JSON.
    pub(super) fn new(json: &'a str) -> Self {
        #[derive(serde::Deserialize)]
        struct Object<'a> {
            #[serde(borrow)]
            answer: &'a RawValue,
            #[serde(borrow, default)]
            metadata: Option<&'a RawValue>,
        }
        #[derive(serde::Deserialize)]
        struct Metadata<'a> {
            #[serde(borrow, default)]
            pair_index: Option<&'a RawValue>,
        }
        let plain = Self {
            answer: Cow::Borrowed(json),
            pair_index: None,
            has_answer: false,
        };
        if !json.starts_with('{') {
            return plain;
        }
        // Any other object, or one with the same field twice, is not an attempt, and so not a grid.
        let Ok(Object { answer, metadata }) = serde_json::from_str(json) else {
            return plain;
        };
        let answer = answer.get();
        let text = serde_json::from_str::<String>(answer);
        let metadata = metadata.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let pair_index = metadata.and_then(|Metadata { pair_index }| pair_index);
        Self {
            // The grid may also be a string that holds JSON.
            answer: match text {
                Ok(text) if serde_json::from_str::<&RawValue>(&text).is_ok() => Cow::Owned(text),
                _ => Cow::Borrowed(answer),
            },
            pair_index: pair_index.map(RawValue::get),
            has_answer: answer != "null",
        }
    }
}

/// The attempts at the outputs of a task: a list of objects, each of which may be null.
pub(super) fn entries(json: &str) -> Result<Vec<Entries<'_>>, String> {
    const EXPECTED: &str =
        "expected a list of {\"attempt_1\": grid, ...}, one for each test output";
    if let Some(maps) = plain_list(json, Entries::scan) {
        return Ok(maps);
    }
    let entries: Vec<&RawValue> = typed(json).map_err(|error| match kind(json) {
        Kind::List => format!("{EXPECTED}: {error}"),
        other => format!("{EXPECTED}, found {other}"),
    })?;
    let mut maps = Vec::with_capacity(entries.len());
    for (index, raw) in entries.into_iter().enumerate() {
        let attempts: Option<Entries<'_>> = typed(raw.get()).map_err(|error| {
            format!("output {index}: expected {{\"attempt_1\": grid, ...}}: {error}")
        })?;
        maps.push(attempts.unwrap_or_default());
    }
    Ok(maps)
}

/// Reads a list each of whose items `item` takes.
fn plain_list<'a, T>(json: &'a str, item: impl Fn(&'a str) -> Option<T>) -> Option<Vec<T>> {
    let mut items = Vec::new();
    let mut scanner = Scanner::new(json);
    scanner.list(|scanner| {
        items.push(item(scanner.raw()?.0)?);
        Some(())
    })?;
    scanner.is_at_end().then_some(items)
}

/// The true outputs of a task: a list of grids, or a task as in the folders of the data set.
pub(super) fn outputs(json: &str) -> Result<Vec<Grid>, String> {
    #[derive(serde::Deserialize)]
    struct Task<'a> {
        #[serde(borrow)]
        test: Vec<Test<'a>>,
    }
    #[derive(serde::Deserialize)]
    struct Test<'a> {
        #[serde(borrow)]
        output: &'a RawValue,
    }
    if let Some(grids) = plain_list(json, plain_grid).filter(|grids| !grids.is_empty()) {
        return Ok(grids);
    }
    let grids: Vec<&RawValue> = match kind(json) {
        Kind::List => typed(json)?,
        Kind::Object => {
            let task: Task<'_> = typed(json)
                .map_err(|error| format!("a task {{\"test\": [{{\"output\": grid}}]}}: {error}"))?;
            task.test.iter().map(|test| test.output).collect()
        }
        other => {
            return Err(format!(
                "expected the grids of the test outputs, or a task with \"test\": [{{\"output\": grid}}], found {other}"
            ));
        }
    };
    if grids.is_empty() {
        return Err("expected at least one test output".to_owned());
    }
    let output = |(index, raw): (usize, &&RawValue)| {
        grid(raw.get()).map_err(|problem| format!("output {index}: {problem}"))
    };
    grids.iter().enumerate().map(output).collect()
}

/// Whether the values of an object are the outputs of tasks, and not grids: lists of grids or objects.
/// The first value that can only be one of the two tells. The rest of the text is not read.
pub(super) fn are_tasks(text: &str) -> bool {
    struct First<'a>(&'a mut Option<bool>);

    impl<'de> DeserializeSeed<'de> for First<'_> {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_map(self)
        }
    }

    impl<'de> Visitor<'de> for First<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while self.0.is_none() && map.next_key_seed(Text)?.is_some() {
                *self.0 = is_task(map.next_value::<&RawValue>()?.get());
            }
            Ok(())
        }
    }

    let mut found = None;
    // The object is left half read, which the deserializer treats as an error.
    let _ = First(&mut found).deserialize(&mut serde_json::Deserializer::from_str(text));
    found.unwrap_or(false)
}

/// Whether a value is the outputs of a task (true) or a grid (false), if that can be told.
pub(super) fn is_task(json: &str) -> Option<bool> {
    let mut bytes = json.bytes().filter(|byte| !byte.is_ascii_whitespace());
    match (bytes.next()?, bytes.next()?, bytes.next()?) {
        (b'{', ..) | (b'[', b'[', b'[') | (b'[', b'{', _) => Some(true),
        (b'[', b'[', byte) if byte != b']' => Some(false),
        _ => None,
    }
}
