//! One process and what it took.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

/// The address space of a process, in kB: 1 GB, with room for what is reserved and never used.
const ADDRESSES: u64 = 1_500_000;

/// A process is killed after this many seconds of CPU time.
const KILLED: u64 = 60;

/// The outcome of a process.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// None after a signal.
    pub(super) exit_code: Option<i32>,
    pub(super) cpu: Duration,
    pub(super) wall: Duration,
    /// Bytes.
    pub(super) peak: u64,
}

/// Runs a program under limits, and waits for its end.
pub(super) fn run(program: &Path, words: &[String], folder: &Path) -> Result<Outcome, String> {
    let limited = format!("ulimit -v {ADDRESSES} -t {KILLED}; exec \"$0\" \"$@\"");
    let start = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", &limited])
        .arg(program)
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("sh: {error}"))?;
    let used = child.wait4().map_err(|error| format!("sh: {error}"))?;
    Ok(Outcome {
        exit_code: used.status.code(),
        cpu: used.rusage.utime + used.rusage.stime,
        wall: start.elapsed(),
        peak: used.rusage.maxrss,
    })
}
