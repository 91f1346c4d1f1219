//! Our side of comparisons in memory: reads raw arrays, then prints what one call takes and gives,
//! as `benches/peers/measure.py` does for the peers.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read};
use std::time::{Duration, Instant};

use metric_class::{Ties, accuracy_at_k, top_k_accuracy};
use ndarray::{Array1, Array2};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The function that is timed, including its input.
type Call = Box<dyn FnOnce() -> Result<Value>>;

/// Reads the input of a call.
type Prepare = fn() -> Result<Call>;

/// The accepted arguments.
const CALLS: &[(&str, Prepare)] = &[("ranked", ranked), ("scores", scores)];

/// accuracy@5 of ranked labels.
fn ranked() -> Result<Call> {
    let references = Array1::from_vec(integers("r.i64")?);
    let predictions = rows(integers("p.i64")?, references.len())?;
    Ok(Box::new(move || {
        let accuracy = accuracy_at_k(predictions.view(), references.view(), 5)?;
        Ok(json!({"accuracy@5": accuracy.value()}))
    }))
}

/// accuracy@5 of scores.
fn scores() -> Result<Call> {
    let references = Array1::from_vec(integers("r.i64")?);
    let scores = rows(numbers("p.f32", f32::from_le_bytes)?, references.len())?;
    Ok(Box::new(move || {
        let ties = Ties::HighestIndex;
        let accuracy = top_k_accuracy(scores.view(), references.view(), 5, ties)?;
        Ok(json!({"accuracy@5": accuracy}))
    }))
}

/// The numbers in this many rows of the same length.
fn rows<T>(numbers: Vec<T>, rows: usize) -> Result<Array2<T>> {
    let width = numbers.len() / rows.max(1);
    Ok(Array2::from_shape_vec((rows, width), numbers)?)
}

/// A file of 64-bit integers, the lowest byte first.
fn integers(path: &str) -> Result<Vec<i64>> {
    numbers(path, i64::from_le_bytes)
}

/// A file of numbers of this many bytes each.
fn numbers<const BYTES: usize, T>(path: &str, number: fn([u8; BYTES]) -> T) -> Result<Vec<T>> {
    let file = File::open(path)?;
    let count = usize::try_from(file.metadata()?.len())? / BYTES;
    let mut file = BufReader::new(file);
    let mut numbers = Vec::with_capacity(count);
    let mut bytes = [0; BYTES];
    for _ in 0..count {
        file.read_exact(&mut bytes)?;
        numbers.push(number(bytes));
    }
    Ok(numbers)
}

/// The time that this thread has spent on a core, in seconds.
///
/// The kernel brings the figure up to date at each of its ticks, which may be 4 ms apart, and when
/// the thread leaves its core: so it sleeps first.
fn cpu() -> Option<f64> {
    std::thread::sleep(Duration::from_millis(1));
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

fn main() -> Result<()> {
    let word = std::env::args().nth(1).unwrap_or_default();
    let names: Vec<_> = CALLS.iter().map(|(name, _)| *name).collect();
    let (_, prepare) = CALLS
        .iter()
        .find(|(name, _)| *name == word)
        .ok_or_else(|| format!("{word:?}: expected one of {names:?}"))?;
    let call = prepare()?;
    let used = cpu();
    let start = Instant::now();
    let numbers = call()?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu = cpu().zip(used).map_or(seconds, |(now, then)| now - then);
    let line = json!({"seconds": seconds, "cpu": cpu, "numbers": numbers});
    #[expect(clippy::print_stdout, reason = "the result of the program")]
    {
        println!("{line}");
    }
    Ok(())
}
