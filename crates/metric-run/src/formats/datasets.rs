//! Folders that `Dataset.save_to_disk` and `DatasetDict.save_to_disk` of Hugging Face write.

use crate::RunError;
use crate::block::{self, Block};
use crate::decoder::decode;
use crate::fields::{FieldNames, Role};
use crate::formats::columns::{Plan, Rows};
use crate::formats::{Format, arrow, columns, grouped};
use crate::part::Unit;
use crate::source::Source;
use crate::source::dataset::Dataset;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use metric_record::{Message, ReadError, quoted_id};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The splits of a `DatasetDict`.
#[derive(Deserialize)]
struct Splits {
    splits: Vec<String>,
}

/// The fields that are read from `state.json`.
#[derive(Deserialize)]
struct State {
    #[serde(rename = "_data_files")]
    data: Vec<DataFile>,
    #[serde(rename = "_indices_data_files", default)]
    indices: Option<Vec<DataFile>>,
}

#[derive(Deserialize)]
struct DataFile {
    filename: String,
}

/// The records of a folder.
pub(crate) fn source(folder: &Path, split: Option<&str>) -> Result<Source, RunError> {
    one(&chosen(folder, split)?)
}

/// The folder of the one dataset, or of the split that is chosen.
fn chosen(folder: &Path, split: Option<&str>) -> Result<PathBuf, RunError> {
    let name = folder.display().to_string();
    let dictionary = folder.join("dataset_dict.json");
    if !dictionary.is_file() {
        return match split {
            None => Ok(folder.to_owned()),
            Some(split) => Err(RunError::Usage(
                Message::default()
                    .option("split", split)
                    .text(format_args!(": {name} is one dataset without splits")),
            )),
        };
    }
    let Splits { splits } = read(&dictionary)?;
    let mut sorted = splits.clone();
    sorted.sort();
    let listed = sorted.join(", ");
    let split = match (split, splits.as_slice()) {
        (Some(split), _) => splits.iter().find(|known| *known == split).ok_or_else(|| {
            let message = Message::default().option("split", split);
            RunError::Usage(message.text(format_args!(
                ": {name} has no such split: expected one of {}",
                listed
            )))
        })?,
        (None, [one]) => one,
        (None, _) => {
            let problem = format!("has the splits {listed}: choose one with ");
            let problem = Message::from(problem).option("split", "");
            return Err(ReadError::new(name, problem).into());
        }
    };
    inside(folder, split)
}

/// The fields that are read from `dataset_info.json`.
#[derive(Deserialize)]
struct Info {
    #[serde(default)]
    features: serde_json::Value,
}

/// The names of the classes of a column, if it is a `ClassLabel`.
pub(crate) fn class_names(
    folder: &Path,
    split: Option<&str>,
    column: &str,
) -> Result<Option<Vec<String>>, RunError> {
    let info: Info = read(&chosen(folder, split)?.join("dataset_info.json"))?;
    Ok(columns::names_of_classes(&info.features, column))
}

/// Reads a file of JSON.
fn read<T: DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| ReadError::new(&name, format!("cannot read: {error}")))?;
    let value = metric_record::json::typed(&text);
    // The text no longer exists when the value is used.
    let value: Result<serde_json::Value, String> = value;
    let value = value.and_then(|value| {
        serde_json::from_value(value).map_err(|error| metric_record::json::cut(&error))
    });
    Ok(value.map_err(|problem| ReadError::new(name, problem))?)
}

/// A path below a folder.
fn inside(folder: &Path, name: &str) -> Result<PathBuf, RunError> {
    let is_normal = |part: Component<'_>| matches!(part, Component::Normal(_));
    if name.is_empty() || !Path::new(name).components().all(is_normal) {
        let problem = format!("names {}, which leaves the folder", quoted_id(name));
        return Err(ReadError::new(folder.display().to_string(), problem).into());
    }
    Ok(folder.join(name))
}

/// The records of one dataset.
fn one(folder: &Path) -> Result<Source, RunError> {
    let path = folder.join("state.json");
    let state: State = read(&path)?;
    let files = |files: &[DataFile]| -> Result<Vec<PathBuf>, RunError> {
        let present = |file: &DataFile| {
            let shard = inside(folder, &file.filename)?;
            if shard.is_file() {
                return Ok(shard);
            }
            let problem = format!(
                "lists {}, which is not in the folder",
                quoted_id(&file.filename)
            );
            Err(ReadError::new(path.display().to_string(), problem).into())
        };
        files.iter().map(present).collect()
    };
    let shards = files(&state.data)?;
    let indices = files(state.indices.as_deref().unwrap_or_default())?;
    if !indices.is_empty() {
        return Ok(Source::dataset(Dataset {
            folder: folder.to_owned(),
            shards,
            indices,
        }));
    }
    let open = |path: PathBuf| Ok(Source::path(path)?.with_format(Format::Arrow));
    let sources = shards.into_iter().map(open);
    let mut sources = sources.collect::<Result<Vec<Source>, RunError>>()?;
    match sources.len() {
        1 => Ok(sources.remove(0)),
        _ => Ok(Source::several(folder.display().to_string(), sources)),
    }
}

/// The most rows of a block.
const BLOCK_ROWS: usize = 8192;

/// The rows of a dataset in memory, and their order.
struct Ordered {
    name: String,
    /// Each shard's batches, with what is read of them.
    batches: Vec<Loaded>,
    /// Where each batch starts among all rows.
    starts: Vec<u64>,
    order: std::vec::IntoIter<u64>,
    rows: u64,
}

struct Loaded {
    shard: String,
    plan: Arc<Plan>,
    batch: RecordBatch,
    number: usize,
    /// The number of rows of the shard before this batch.
    before: u64,
}

impl Dataset {
    /// The rows in their order. Their columns are held in memory, as the order may be any.
    pub(crate) fn blocks(
        &self,
        names: &FieldNames,
    ) -> Result<impl Iterator<Item = Result<Block, RunError>> + Send + use<>, RunError> {
        let mut batches = Vec::new();
        let (mut starts, mut rows) = (Vec::new(), 0);
        for shard in &self.shards {
            let mut before = 0;
            for (number, batch, plan) in load(shard, names)? {
                starts.push(rows);
                rows += batch.num_rows() as u64;
                let loaded = Loaded {
                    shard: shard.display().to_string(),
                    plan,
                    number,
                    before,
                    batch,
                };
                before += loaded.batch.num_rows() as u64;
                batches.push(loaded);
            }
        }
        let mut order = Vec::new();
        let wanted = FieldNames::new([("indices", Role::Value, "")]).with_row_ids();
        for file in &self.indices {
            for (_, batch, _) in load(file, &wanted)? {
                let Some(indices) = batch.column(0).as_primitive_opt::<UInt64Type>() else {
                    let problem =
                        "the column \"indices\" does not hold integers of 64 bits without sign";
                    return Err(ReadError::new(file.display().to_string(), problem).into());
                };
                order.extend(indices.values());
            }
        }
        if let Some(index) = order.iter().find(|index| **index >= rows) {
            let problem = format!(
                "the index {} is out of range: the shards have {} rows",
                grouped(*index),
                grouped(rows)
            );
            return Err(ReadError::new(self.name(), problem).into());
        }
        let mut ordered = Ordered {
            name: self.name(),
            batches,
            starts,
            order: order.into_iter(),
            rows,
        };
        Ok(std::iter::from_fn(move || ordered.next().map(Ok)))
    }
}

impl Ordered {
    /// The next rows that are in one batch.
    fn next(&mut self) -> Option<Block> {
        let first = self.order.next()?;
        debug_assert!(first < self.rows, "{}", self.name);
        let batch = self.starts.partition_point(|start| *start <= first) - 1;
        let start = self.starts[batch];
        let loaded = &self.batches[batch];
        let end = start + loaded.batch.num_rows() as u64;
        let mut selected = vec![(first - start) as usize];
        while let Some(next) = self.order.as_slice().first()
            && (start..end).contains(next)
            && selected.len() < BLOCK_ROWS
        {
            selected.push((next - start) as usize);
            self.order.next();
        }
        let rows = Rows {
            plan: Arc::clone(&loaded.plan),
            batch: loaded.batch.clone(),
            selected: Some(selected),
        };
        Some(Block {
            first_line: loaded.before + 1,
            part: loaded.plan.part(&loaded.shard, Unit::Batch(loaded.number)),
            rows: block::Rows::Columns(Box::new(rows)),
            ..Block::default()
        })
    }
}

/// All batches of a shard, numbered from 1.
fn load(
    shard: &Path,
    names: &FieldNames,
) -> Result<Vec<(usize, RecordBatch, Arc<Plan>)>, RunError> {
    let name = shard.display().to_string();
    let source = Source::path(shard)?;
    let stream = source.stream(Arc::default())?;
    let (plan, mut batches) =
        arrow::open_stream(&name, stream, |schema| Plan::new(&name, schema, names))?;
    let plan = Arc::new(plan);
    let mut loaded = Vec::new();
    loop {
        let number = loaded.len() + 1;
        let next = decode(|| batches.next().transpose());
        match next.map_err(|problem| arrow::batch_error(&name, number, &problem))? {
            Some(batch) => loaded.push((number, batch, Arc::clone(&plan))),
            None => return Ok(loaded),
        }
    }
}
