//! The table of 2019 and 2024: `output_id,output`.

use std::collections::{BTreeMap, HashMap};

use super::{File, ReadError, SubmissionOptions};
use crate::{Attempt, COLOURS, Grid};

/// A task with the attempts at its test outputs.
type Rows<'a> = (&'a str, BTreeMap<usize, Vec<Attempt>>);

/// The tasks in the order in which they come.
pub(super) fn rows<'a>(
    file: File<'a>,
    options: SubmissionOptions,
) -> Result<Vec<Rows<'a>>, ReadError> {
    let mut tasks: Vec<Rows<'a>> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let lines = file.content().lines().enumerate();
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().map_or("", |(_, line)| line);
    if cells(header) != Some(("output_id", "output")) {
        let problem = "expected an object of tasks, or a table that begins with output_id,output";
        return Err(ReadError::new(file.name, problem));
    }
    for (number, line) in lines {
        let error = |problem: String| ReadError::new(file.name, problem).line(number as u64 + 1);
        let Some((id, output)) = cells(line) else {
            return Err(error("expected two columns, output_id,output".to_owned()));
        };
        let parts = id.rsplit_once('_');
        let Some((task, index)) = parts.and_then(|(task, index)| Some((task, index.parse().ok()?)))
        else {
            return Err(error(format!(
                "output_id {id:?}: expected a task and the number of its test output, such as 0a1b2c3d_0"
            )));
        };
        let attempts: Vec<_> = output.split_whitespace().map(attempt).collect();
        if options.strict {
            let limit = options.attempts;
            if attempts.len() > usize::from(limit.get()) {
                return Err(error(format!("{id}: expected at most {limit} attempts")));
            }
            if let Some(position) = attempts
                .iter()
                .position(|attempt| *attempt == Attempt::Invalid)
            {
                return Err(error(format!(
                    "{id}: attempt {}: expected a grid such as |12|34|",
                    position + 1
                )));
            }
        }
        let position = *positions.entry(task).or_insert_with(|| {
            tasks.push((task, BTreeMap::new()));
            tasks.len() - 1
        });
        let outputs = tasks.get_mut(position).map(|(_, outputs)| outputs);
        if outputs.is_some_and(|outputs| outputs.insert(index, attempts).is_some()) {
            return Err(error(format!("output_id {id:?} is there twice")));
        }
    }
    Ok(tasks)
}

/// The two columns of a line, without quotes.
fn cells(line: &str) -> Option<(&str, &str)> {
    let (id, output) = line.split_once(',')?;
    let (id, output) = (unquoted(id), unquoted(output));
    (!output.contains(',')).then_some((id, output))
}

fn unquoted(cell: &str) -> &str {
    let cell = cell.trim();
    let inner = cell
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(cell).trim()
}

/// A grid `|12|34|`.
fn attempt(text: &str) -> Attempt {
    let rows = text
        .strip_prefix('|')
        .and_then(|rest| rest.strip_suffix('|'));
    let Some(rows) = rows else {
        return Attempt::Invalid;
    };
    let digits = |row: &str| -> Option<Vec<i64>> {
        let digit = |byte: u8| Some(byte.wrapping_sub(b'0')).filter(|digit| *digit < COLOURS);
        row.bytes().map(|byte| digit(byte).map(i64::from)).collect()
    };
    let rows: Option<Vec<_>> = rows.split('|').map(digits).collect();
    rows.map_or(Attempt::Invalid, |rows| Grid::from_rows(&rows).into())
}
