//! States on disk.
//!
//! A file is
//!
//! 1. eight bytes of a magic number,
//! 2. the length of the header in bytes, 32 bits, the least significant byte first,
//! 3. the header in JSON, which names each metric with its options and definition, so a state can be read
//!    without any other knowledge, and which has the length and the SHA-256 of each body,
//! 4. the bodies of one or several states, one after the other, as one frame of Zstandard,
//! 5. the SHA-256 of all bytes before it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use metric_record::{JoinPolicy, Message, Missing, Shard};
use metric_registry::{OptionKind, Options, StateError, find};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::observer::Nobody;
use crate::source::hexadecimal;
use crate::state_error::{FORMAT, MOST_EXPANSION};
use crate::statistics::Written;
use crate::threads::on_threads;
use crate::{Outcome, Selected, Shards, StateFileError, StateFileProblem, memory};

/// The first bytes of a state file.
const MAGIC: &[u8; 8] = b"\x93METRIC\n";

/// A longer header is not ours: it has a few hundred bytes per metric.
const MOST_HEADER: usize = 1 << 20;

/// Bodies up to this size are read whatever their compressed size.
const FREE_BYTES: u64 = 64 << 20;

/// The logarithm of the most memory that a frame may ask for as its window, 8 MiB. At [`LEVEL`] it asks for 2 MiB.
const MOST_WINDOW_LOG: u32 = 23;

/// The compression level of bodies: the default of Zstandard.
const LEVEL: i32 = 3;

/// The length of the checksum that a file ends in.
const CHECKSUM_BYTES: usize = 32;

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    states: Vec<StateHeader>,
}

#[derive(Serialize, Deserialize)]
struct StateHeader {
    metric: String,
    /// Version of the form of the metric's state.
    metric_format: u32,
    options: Options,
    definition: String,
    missing: String,
    ignore_extra: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    null: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    as_text: bool,
    shards: Option<Shards>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    statistics: Option<Written>,
    /// The records that were selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selected: Option<Selected>,
    /// The names of the slices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    slices: Vec<String>,
    /// Whether the ids of the records are the numbers of lines or rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    line_ids: bool,
    /// Length of the body before compression.
    bytes: u64,
    /// The hash of the body before compression, in hexadecimal digits.
    sha256: String,
}

/// Returns a definition that two states must share to be merged: the signature without the patch version,
/// which changes no state.
fn definition(signature: &str) -> &str {
    let patch = signature.rfind('.');
    let is_after_version = |dot: &usize| signature.rfind("|v:").is_some_and(|v| v < *dot);
    patch
        .filter(is_after_version)
        .map_or(signature, |dot| &signature[..dot])
}

fn missing_name(missing: Missing) -> &'static str {
    match missing {
        Missing::Error => "error",
        Missing::Empty => "empty",
        Missing::Skip => "skip",
    }
}

/// Writes the states of one run as a state file.
///
/// # Errors
///
/// Returns an error if a state has a part without a written form; those of the built-in metrics have none.
pub fn write_states(outcomes: &[Outcome]) -> Result<Vec<u8>, StateError> {
    let mut bodies = Vec::new();
    let mut states = Vec::new();
    for outcome in outcomes {
        let body = outcome.state().body()?;
        let join = outcome.join();
        states.push(StateHeader {
            metric: outcome.metric().to_owned(),
            metric_format: outcome.metric_format(),
            options: outcome.options().clone(),
            definition: definition(outcome.state().signature()).to_owned(),
            missing: missing_name(join.missing).to_owned(),
            ignore_extra: join.ignore_extra,
            null: join.null.map(|rule| missing_name(rule).to_owned()),
            as_text: join.as_text,
            shards: outcome.shards().cloned(),
            statistics: outcome.statistics().map(Written::from),
            selected: outcome.selected().cloned(),
            slices: outcome.slices().to_vec(),
            line_ids: outcome.has_line_ids(),
            bytes: body.len() as u64,
            sha256: digest(&body),
        });
        bodies.extend(body);
    }
    let malformed = |error: &dyn fmt::Display| StateError::Malformed(error.to_string());
    let header = Header {
        format: FORMAT,
        states,
    };
    let header = serde_json::to_vec(&header).map_err(|error| malformed(&error))?;
    let bodies = zstd::bulk::compress(&bodies, LEVEL).map_err(|error| malformed(&error))?;
    let mut file = MAGIC.to_vec();
    let length = u32::try_from(header.len()).map_err(|error| malformed(&error))?;
    file.extend(length.to_le_bytes());
    file.extend(header);
    file.extend(bodies);
    let checksum = Sha256::digest(&file);
    file.extend(checksum);
    Ok(file)
}

fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Reads the states of a state file, which nobody has to have checked. The name is for messages.
///
/// # Errors
///
/// Returns an error if the bytes are not those of a state file, if they were changed, or if there is
/// no such metric with these options.
///
/// # Cost
///
/// Memory for the bodies, which may be at most 4096 times the size of the file, or 64 MiB.
pub fn read_states(name: &str, bytes: &[u8]) -> Result<Vec<Outcome>, StateFileError> {
    let failed = |problem| StateFileError {
        file: name.to_owned(),
        problem,
    };
    let damaged = |how: String| failed(StateFileProblem::Damaged(how));
    let short = || damaged("the file is cut short".to_owned());
    if !bytes.starts_with(MAGIC) {
        return Err(failed(StateFileProblem::NotAState));
    }
    let (written, checksum) = bytes
        .split_last_chunk::<CHECKSUM_BYTES>()
        .ok_or_else(short)?;
    if Sha256::digest(written).as_slice() != checksum {
        return Err(damaged("its bytes do not match its checksum".to_owned()));
    }
    let rest = written.strip_prefix(MAGIC).ok_or_else(short)?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MOST_HEADER {
        return Err(damaged("the header is too long".to_owned()));
    }
    let (header, compressed) = rest.split_at_checked(length).ok_or_else(short)?;
    // The version first: a header of another one may have another shape.
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let of_header = |error: serde_json::Error| damaged(format!("the header: {error}"));
    let version: Version = serde_json::from_slice(header).map_err(of_header)?;
    if version.format != FORMAT {
        return Err(failed(StateFileProblem::Format(version.format)));
    }
    let header: Header = serde_json::from_slice(header).map_err(of_header)?;
    if header.states.is_empty() {
        return Err(damaged("the header has no states".to_owned()));
    }
    let total = header
        .states
        .iter()
        .try_fold(0_u64, |total, state| total.checked_add(state.bytes));
    let total = total.unwrap_or(u64::MAX);
    let most = FREE_BYTES.max((compressed.len() as u64).saturating_mul(MOST_EXPANSION));
    if total > most {
        return Err(failed(StateFileProblem::TooLarge(total)));
    }
    let mut bodies = Vec::new();
    let of_frame = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::OutOfMemory => failed(StateFileProblem::NoMemory(total)),
        _ => damaged(error.to_string()),
    };
    memory::refuse_lack(total).map_err(of_frame)?;
    let mut decoder = zstd::stream::read::Decoder::new(compressed).map_err(of_frame)?;
    decoder.window_log_max(MOST_WINDOW_LOG).map_err(of_frame)?;
    decoder
        .take(total + 1)
        .read_to_end(&mut bodies)
        .map_err(of_frame)?;
    if bodies.len() as u64 != total {
        return Err(damaged(format!(
            "the states have {} bytes: expected {total}",
            bodies.len()
        )));
    }
    let mut bodies = bodies.as_slice();
    let mut outcomes = Vec::new();
    for state in header.states {
        let length = usize::try_from(state.bytes).unwrap_or(usize::MAX);
        let (body, rest) = bodies.split_at_checked(length).ok_or_else(short)?;
        bodies = rest;
        if digest(body) != state.sha256 {
            return Err(damaged("a state does not match its checksum".to_owned()));
        }
        outcomes.push(read_state(state, body).map_err(failed)?);
    }
    Ok(outcomes)
}

fn read_state(header: StateHeader, body: &[u8]) -> Result<Outcome, StateFileProblem> {
    let StateHeader {
        metric,
        metric_format,
        options,
        definition: found,
        missing,
        ignore_extra,
        null,
        as_text,
        shards,
        statistics,
        selected,
        slices,
        line_ids,
        ..
    } = header;
    let entry = find(&metric).ok_or_else(|| StateFileProblem::UnknownMetric(metric.clone()))?;
    let scorer = entry.scorer(&options).map_err(StateFileProblem::Options)?;
    let expected = definition(scorer.signature());
    if (expected, entry.state_format) != (&*found, metric_format) {
        return Err(StateFileProblem::Definition {
            expected: format!("{expected} (format {})", entry.state_format),
            found: format!("{found} (format {metric_format})"),
        });
    }
    let damaged = |how: &str| StateFileProblem::Damaged(how.to_owned());
    let rule = |name: &str| {
        let rules = [Missing::Error, Missing::Empty, Missing::Skip].into_iter();
        let mut rules = rules.filter(|rule| missing_name(*rule) == name);
        let rule = rules.next();
        rule.ok_or_else(|| damaged("the policy for missing predictions"))
    };
    if let Some(Shards { count, indices }) = &shards
        && (indices.is_empty() || indices.last() >= Some(count))
    {
        return Err(damaged("the shards"));
    }
    let state = scorer
        .read_state(body)
        .map_err(|error| StateFileProblem::Damaged(error.to_string()))?;
    let join = JoinPolicy {
        missing: rule(&missing)?,
        ignore_extra,
        null: null.map(|name| rule(&name)).transpose()?,
        as_text,
    };
    let statistics = statistics.map(|written| {
        written
            .statistics()
            .ok_or_else(|| damaged("the statistics"))
    });
    let mut outcome = Outcome::of_state(entry, options, state, join, shards);
    outcome.set_selected(selected);
    outcome.set_statistics(statistics.transpose()?, slices);
    outcome.set_line_ids(line_ids);
    Ok(outcome)
}

/// The result of [`merge_states`].
#[derive(Clone, Debug)]
pub struct Merged {
    /// The outcomes of all data, by metric.
    pub outcomes: Vec<Outcome>,
    /// Shards that are missing, and states that do not say which shard they are.
    pub warnings: Vec<Message>,
}

/// Merges the states of several files into the outcome of all their examples, in any order.
///
/// # Errors
///
/// Returns an error that names the file if two files have states of different metrics or definitions, if
/// they were divided into different numbers of shards, if they have the same shard, or if a state that was not written as
/// a shard has records of one that was.
pub fn merge_states(files: Vec<(String, Vec<Outcome>)>) -> Result<Merged, StateFileError> {
    let first = files.first().map_or_else(String::new, |it| it.0.clone());
    let mut merged = merge_parts(files)?;
    for outcome in &mut merged.outcomes {
        let failed = |problem| StateFileError {
            file: first.clone(),
            problem,
        };
        let resampled = match outcome.statistics() {
            Some(_) => on_threads(None, || outcome.resample(&Nobody)),
            None => Ok(()),
        };
        resampled.map_err(|error| failed(StateFileProblem::Damaged(error.to_string())))?;
        // As a run over all data does.
        if outcome.shards().is_some() {
            continue;
        }
        if !outcome.state().has_scores() {
            return Err(failed(StateFileProblem::NoExamples));
        }
        if let Some(problem) = outcome.state().problem() {
            return Err(failed(StateFileProblem::Incomplete(problem.to_string())));
        }
    }
    Ok(merged)
}

/// Merges states as [`merge_states`] does, for states that are merged with others afterwards: they may have no
/// examples, and the outcomes have no intervals.
///
/// # Errors
///
/// Returns an error as [`merge_states`] does.
///
/// ```
/// use metric_run::registry::{Options, find};
/// use metric_run::{Run, merge_parts, merge_states, read_states, write_states};
/// use metric_run::{Table, record::{Column, Texts}};
///
/// # #[cfg(feature = "text")] {
/// let entry = find("string-accuracy").ok_or("not there")?;
/// let mut run = Run::new(entry, &Options::default())?;
/// run.is_part = true;
/// let part = |texts: &[&str]| {
///     let table = |name| Table::new(name, Column::Texts(Texts::from(texts)));
///     run.score_tables(table("references"), table("predictions"))
/// };
/// let files = vec![("0".to_owned(), part(&[])?), ("1".to_owned(), part(&["cat"])?)];
/// let merged = merge_parts(files)?;
/// assert_eq!(merged.outcomes[0].examples(), 1);
///
/// let whole = merge_states(vec![("all".to_owned(), merged.outcomes)])?;
/// assert_eq!(whole.outcomes[0].report().score("string_accuracy"), Some(1.0));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn merge_parts(files: Vec<(String, Vec<Outcome>)>) -> Result<Merged, StateFileError> {
    let mut warnings = Vec::new();
    let mut whole: Vec<&str> = Vec::new();
    let mut first: Option<(&str, &[Outcome])> = None;
    // By shard, the file that has it; and the number of shards, with a file that says so.
    let mut seen: BTreeMap<u32, &str> = BTreeMap::new();
    let mut count: Option<(u32, &str)> = None;
    for (name, outcomes) in &files {
        let failed = |problem| StateFileError {
            file: name.clone(),
            problem,
        };
        match first {
            None => first = Some((name, outcomes)),
            Some((other, first)) => agree(other, first, outcomes).map_err(failed)?,
        }
        let Some(shards) = outcomes.first().and_then(Outcome::shards) else {
            whole.push(name);
            continue;
        };
        match count {
            None => count = Some((shards.count, name)),
            Some((expected, other)) if expected != shards.count => {
                return Err(failed(StateFileProblem::ShardCount {
                    other: other.to_owned(),
                    expected,
                    found: shards.count,
                }));
            }
            Some(_) => {}
        }
        for index in shards.indices() {
            if let (Some(other), Ok(shard)) =
                (seen.insert(index, name), Shard::new(index, shards.count))
            {
                return Err(failed(StateFileProblem::SameShard {
                    other: other.to_owned(),
                    shard,
                }));
            }
        }
    }
    refuse_repeated(&files)?;
    let shards = count.map(|(count, _)| Shards {
        count,
        indices: seen.keys().copied().collect(),
    });
    // What may count examples twice comes first.
    if files.len() > 1 && !whole.is_empty() {
        warnings.push(whole_warning(&whole));
    }
    if let Some(shards) = shards.as_ref().filter(|shards| !shards.is_complete()) {
        warnings.push(missing_warning(shards));
    }
    let shards = shards.filter(|shards| !shards.is_complete());
    let mut total = total(files)?;
    for outcome in &mut total {
        outcome.set_shards(shards.clone());
    }
    Ok(Merged {
        outcomes: total,
        warnings,
    })
}

/// Refuses a state that was not written as a shard if a shard has records of it. Only states that keep their examples know
/// their ids. Numbers of lines do not tell whether two records are the same.
fn refuse_repeated(files: &[(String, Vec<Outcome>)]) -> Result<(), StateFileError> {
    let firsts = files.iter();
    let firsts = firsts.filter_map(|(name, outcomes)| Some((name, outcomes.first()?)));
    let firsts = firsts.filter(|(_, outcome)| !outcome.has_line_ids());
    let (shards, whole): (Vec<_>, Vec<_>) = firsts.partition(|(_, it)| it.shards().is_some());
    if shards.is_empty() {
        return Ok(());
    }
    for (name, outcome) in whole {
        let ids = outcome.state().kept_ids();
        for (other, shard) in &shards {
            let records = shard.state().kept_ids().intersection(&ids).count() as u64;
            if records > 0 {
                let other = (*other).clone();
                return Err(StateFileError {
                    file: name.clone(),
                    problem: StateFileProblem::Repeats { other, records },
                });
            }
        }
    }
    Ok(())
}

/// The states of all files, merged.
fn total(files: Vec<(String, Vec<Outcome>)>) -> Result<Vec<Outcome>, StateFileError> {
    let mut total: Vec<Outcome> = Vec::new();
    for (name, outcomes) in files {
        if total.is_empty() {
            total = outcomes;
            continue;
        }
        for (total, outcome) in total.iter_mut().zip(outcomes) {
            total.set_line_ids(total.has_line_ids() && outcome.has_line_ids());
            total.add_selected(&outcome);
            total
                .merge(outcome.state())
                .map_err(|error| StateFileError {
                    file: name.clone(),
                    problem: match error {
                        StateError::Header(difference) => {
                            StateFileProblem::DataSet(difference.to_string())
                        }
                        error => StateFileProblem::Damaged(error.to_string()),
                    },
                })?;
        }
    }
    Ok(total)
}

/// The warning about states of unknown parts of the data.
fn whole_warning(whole: &[&str]) -> Message {
    let names: Vec<String> = whole.iter().map(|name| format!("{name:?}")).collect();
    let (was, a_shard) = match names.len() {
        1 => ("was", "a shard"),
        _ => ("were", "shards"),
    };
    let warning = format!(
        "{} {was} not written as {a_shard} and may repeat examples of the other states",
        names.join(", ")
    );
    Message::from(warning)
}

/// At most this many shards are named in a warning.
const NAMED_SHARDS: usize = 20;

fn missing_warning(shards: &Shards) -> Message {
    // There may be billions.
    let missing = shards.count as usize - shards.indices.len();
    let named = shards.missing().take(NAMED_SHARDS);
    let named: Vec<String> = named.map(|index| index.to_string()).collect();
    let (is, s) = match missing {
        1 => ("is", ""),
        _ => ("are", "s"),
    };
    let more = if missing > named.len() { ", ..." } else { "" };
    Message::from(format!(
        "{missing} of {} shards {is} missing: shard{s} {}{more}",
        shards.count,
        named.join(", "),
    ))
}

/// Refuses states that were gathered in another way than those of the first file, `other`.
fn agree(other: &str, first: &[Outcome], outcomes: &[Outcome]) -> Result<(), StateFileProblem> {
    let names = |outcomes: &[Outcome]| -> Vec<String> {
        outcomes.iter().map(|it| it.metric().to_owned()).collect()
    };
    if names(first) != names(outcomes) {
        return Err(StateFileProblem::Metrics {
            expected: names(first),
            found: names(outcomes),
        });
    }
    for (first, outcome) in first.iter().zip(outcomes) {
        // Details are in no signature, and change the state as well.
        let same = first.definition() == outcome.definition()
            && first.options().details() == outcome.options().details()
            && first.slices() == outcome.slices();
        if !same {
            let text = |outcome: &Outcome| {
                let slices = match outcome.slices() {
                    [] => String::new(),
                    slices => format!(" with slices by {}", slices.join(", ")),
                };
                if outcome.options().details() {
                    format!("{} with details{slices}", outcome.definition())
                } else {
                    format!("{}{slices}", outcome.definition())
                }
            };
            return Err(StateFileProblem::Definition {
                expected: format!("{}, as in {other}", text(first)),
                found: text(outcome),
            });
        }
        // So do other options, such as those of groups.
        for spec in first.entry().options {
            // A file that is checked against the data may have another path elsewhere.
            if matches!(spec.kind, OptionKind::Path) {
                continue;
            }
            let value = |outcome: &Outcome| {
                let value = outcome.options().get(spec.name);
                value.map_or_else(|| spec.default.to_owned(), |value| value.into_owned())
            };
            if value(first) != value(outcome) {
                return Err(StateFileProblem::Option {
                    other: other.to_owned(),
                    option: spec.name.to_owned(),
                    expected: value(first),
                    found: value(outcome),
                });
            }
        }
    }
    Ok(())
}
