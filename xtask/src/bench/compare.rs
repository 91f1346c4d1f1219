//! Criterion's saved runs: which there are, and one of them against the last run.
//!
//! Criterion keeps a benchmark in a folder of its own, with a folder a saved run in it and the last
//! one as `new`: `graph_mapdr/100_clips/NAME/estimates.json`, times in nanoseconds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use super::report::seconds;
use crate::run::{Error, print};
use crate::table::table;

/// Names of folders that criterion uses itself; a run without a name writes to `base`.
pub(crate) const RESERVED: &[&str] = &["new", "base", "change", "report"];

/// The median of a benchmark in nanoseconds, and its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Median {
    value: f64,
    low: f64,
    high: f64,
}

/// A benchmark then and now.
#[derive(Debug, PartialEq)]
struct Change {
    /// Percent of the median then; above 0 is slower.
    percent: f64,
    /// The tolerance of both medians, in percent of the earlier median.
    noise: f64,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Slower,
    Faster,
    /// Within the threshold or the noise.
    Same,
}

impl Median {
    fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join("estimates.json");
        let json = read(&path)?;
        let number = |pointer: &str| {
            let value = json.pointer(pointer).and_then(Value::as_f64);
            value.ok_or_else(|| format!("{}: expected a number at {pointer}", path.display()))
        };
        Ok(Self {
            value: number("/median/point_estimate")?,
            low: number("/median/confidence_interval/lower_bound")?,
            high: number("/median/confidence_interval/upper_bound")?,
        })
    }

    fn change(self, now: Self, threshold: f64) -> Change {
        let percent = 100.0 * (now.value - self.value) / self.value;
        let off = (self.high - self.low) / 2.0 + (now.high - now.low) / 2.0;
        let noise = 100.0 * off / self.value;
        let verdict = match percent {
            _ if percent.abs() <= threshold.max(noise) => Verdict::Same,
            slower if slower > 0.0 => Verdict::Slower,
            _ => Verdict::Faster,
        };
        Change {
            percent,
            noise,
            verdict,
        }
    }
}

impl Verdict {
    const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "",
        }
    }
}

fn read(path: &Path) -> Result<Value, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// All folders in `folder` that hold a run of a benchmark, at any depth, in the order of their paths.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.join("estimates.json").is_file() {
                found.push(path);
            } else if path.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

/// An error that lists the saved runs if `name` is not among them.
pub(crate) fn known(folder: &Path, name: &str) -> Result<(), String> {
    let names: BTreeSet<String> = runs(folder)
        .iter()
        .filter_map(|path| path.file_name()?.to_str().map(str::to_owned))
        .filter(|name| !RESERVED.contains(&name.as_str()))
        .collect();
    if names.contains(name) {
        return Ok(());
    }
    let names = Vec::from_iter(names).join(", ");
    let names = if names.is_empty() { "none" } else { &names };
    Err(format!(
        "--against {name}: no such saved run in {}; there are: {names}",
        folder.display()
    ))
}

/// The folders of what was measured since `start`.
pub(crate) fn measured(folder: &Path, start: SystemTime) -> Vec<PathBuf> {
    let mut found = runs(folder);
    found.retain(|run| {
        let written = run.join("estimates.json").metadata();
        let written = written.and_then(|data| data.modified());
        run.file_name().is_some_and(|name| name == "new")
            && written.is_ok_and(|written| written >= start)
    });
    found
}

/// The path of a benchmark, as criterion prints it, from the folder of a run.
fn id(run: &Path) -> Result<String, String> {
    let benchmark = read(&run.join("benchmark.json"))?;
    Ok(benchmark["full_id"].as_str().unwrap_or("?").to_owned())
}

/// The benchmarks of a saved run that have `filter` in their path and did not run now: they were
/// renamed or removed.
fn gone(
    folder: &Path,
    against: &str,
    filter: &str,
    measured: &[PathBuf],
) -> Result<Vec<String>, String> {
    let mut gone = Vec::new();
    for then in runs(folder) {
        let saved = then.file_name().is_some_and(|name| name == against);
        if saved && !measured.contains(&then.with_file_name("new")) {
            gone.push(id(&then)?);
        }
    }
    // A filter that is a regular expression is in no path: then nothing is listed that is not gone.
    gone.retain(|id| id.contains(filter));
    gone.sort();
    Ok(gone)
}

/// Prints what ran since `start` against the saved run; slower by more than `threshold` percent
/// and the noise is an error.
pub(crate) fn compare(
    folder: &Path,
    against: &str,
    filter: &str,
    start: SystemTime,
    threshold: f64,
) -> Result<(), Error> {
    let mut rows = Vec::new();
    let (mut slower, mut unknown) = (0, Vec::new());
    let measured = measured(folder, start);
    for now in &measured {
        let id = id(now)?;
        let then = now.with_file_name(against);
        if !then.join("estimates.json").is_file() {
            unknown.push(id);
            continue;
        }
        let (then, now) = (Median::read(&then)?, Median::read(now)?);
        let change = then.change(now, threshold);
        slower += usize::from(change.verdict == Verdict::Slower);
        rows.push(vec![
            id,
            seconds(then.value / 1e9),
            seconds(now.value / 1e9),
            format!("{:+.1} %", change.percent),
            format!("{:.1} %", change.noise),
            change.verdict.name().to_owned(),
        ]);
    }
    rows.sort();
    let header = ["benchmark", against, "now", "change", "noise", ""];
    print(&table(&header, &rows));
    if !unknown.is_empty() {
        print(&format!("Not in {against}: {}\n", unknown.join(", ")));
    }
    let gone = gone(folder, against, filter, &measured)?;
    if !gone.is_empty() {
        print(&format!(
            "In {against}, but did not run now: {}\n",
            gone.join(", ")
        ));
    }
    if rows.is_empty() {
        return Err(Error::Failed(format!("nothing that ran is in {against}")));
    }
    if slower > 0 {
        return Err(Error::Failed(format!(
            "{slower} of {} benchmarks slower than in {against} by more than {threshold} % and the \
             noise",
            rows.len()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn median(value: f64, low: f64, high: f64) -> Median {
        Median { value, low, high }
    }

    #[test]
    fn changes_beyond_threshold_and_noise() {
        // 100 -> 110 is +10%; the intervals reach 1 and 2 to a side, together 3%.
        let then = median(100.0, 99.0, 101.0);
        let change = then.change(median(110.0, 108.0, 112.0), 5.0);
        assert_eq!(change.percent, 10.0);
        assert_eq!(change.noise, 3.0);
        assert_eq!(change.verdict, Verdict::Slower);
        for (now, threshold, verdict) in [
            (median(110.0, 108.0, 112.0), 10.0, Verdict::Same),
            (median(90.0, 89.0, 91.0), 5.0, Verdict::Faster),
            (median(96.0, 96.0, 96.0), 5.0, Verdict::Same),
            // Beyond the threshold, but the noise is 1 + 10%.
            (median(110.0, 100.0, 120.0), 5.0, Verdict::Same),
        ] {
            assert_eq!(then.change(now, threshold).verdict, verdict, "{now:?}");
        }
    }

    #[test]
    fn reads_what_criterion_writes() -> Result<(), Box<dyn std::error::Error>> {
        let folder = std::env::temp_dir().join(format!("xtask-compare-{}", std::process::id()));
        let estimates = r#"{"median":{"point_estimate":3.0,"confidence_interval":
            {"confidence_level":0.95,"lower_bound":2.0,"upper_bound":5.0}}}"#;
        for name in ["new", "v1", "change"] {
            let run = folder.join("text_exact").join("1M").join(name);
            std::fs::create_dir_all(&run)?;
            std::fs::write(run.join("estimates.json"), estimates)?;
            std::fs::write(run.join("benchmark.json"), r#"{"full_id":"text/exact/1M"}"#)?;
        }
        let run = folder.join("text_exact/1M/v1");
        assert_eq!(Median::read(&run), Ok(median(3.0, 2.0, 5.0)));
        assert_eq!(known(&folder, "v1"), Ok(()));
        let error = known(&folder, "v2").err().unwrap_or_default();
        assert!(error.ends_with("there are: v1"), "{error}");
        let start = SystemTime::UNIX_EPOCH;
        assert_eq!(compare(&folder, "v1", "", start, 5.0), Ok(()));
        // Three times as fast as now.
        let run = folder.join("text_exact/1M/v0");
        std::fs::create_dir_all(&run)?;
        let fast = estimates.replace("3.0", "1.0").replace("2.0", "1.0");
        std::fs::write(run.join("estimates.json"), fast.replace("5.0", "1.0"))?;
        assert!(matches!(
            compare(&folder, "v0", "", start, 5.0),
            Err(Error::Failed(_))
        ));
        // Nothing ran after the end of the run.
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        assert!(compare(&folder, "v1", "", later, 5.0).is_err());
        assert_eq!(measured(&folder, later), Vec::<PathBuf>::new());
        // A benchmark that was saved and is no more.
        let old = folder.join("text_old/v1");
        std::fs::create_dir_all(&old)?;
        std::fs::write(old.join("estimates.json"), estimates)?;
        std::fs::write(old.join("benchmark.json"), r#"{"full_id":"text/old"}"#)?;
        let measured = measured(&folder, start);
        assert_eq!(gone(&folder, "v1", "text", &measured)?, ["text/old"]);
        assert_eq!(gone(&folder, "v1", "exact", &measured)?, [""; 0]);
        assert_eq!(gone(&folder, "v0", "", &measured)?, [""; 0]);
        std::fs::remove_dir_all(folder)?;
        Ok(())
    }
}
