//! Incomplete files. They are removed if a signal ends the program.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::{NamedTempFile, TempDir};

/// The files to remove. A file or folder is created under this lock, so none is missed.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A temporary file or folder, which is removed unless it is given its name.
pub(crate) struct Unfinished<T> {
    path: PathBuf,
    /// `None` once it has its name.
    inner: Option<T>,
}

impl<T: AsRef<Path>> Unfinished<T> {
    pub(crate) fn create(make: impl FnOnce() -> io::Result<T>) -> io::Result<Self> {
        let mut unfinished = unfinished();
        let inner = make()?;
        let path = inner.as_ref().to_owned();
        unfinished.insert(path.clone());
        Ok(Self {
            path,
            inner: Some(inner),
        })
    }
}

impl<T> Drop for Unfinished<T> {
    fn drop(&mut self) {
        // Removes what is left, and then forgets it.
        self.inner = None;
        unfinished().remove(&self.path);
    }
}

impl Unfinished<NamedTempFile> {
    /// Gives the file its name, in place of what has that name.
    pub(crate) fn persist(mut self, path: &Path) -> io::Result<()> {
        match self.inner.take() {
            Some(file) => Ok(file.persist(path).map(drop)?),
            None => Ok(()),
        }
    }
}

impl Unfinished<TempDir> {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl io::Write for Unfinished<NamedTempFile> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.inner {
            Some(file) => file.write(bytes),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.inner {
            Some(file) => file.flush(),
            None => Ok(()),
        }
    }
}

/// Makes a signal that asks the program to end remove unfinished files and show the cursor again. Then the program ends
/// by that signal, as its parent expects.
#[cfg(unix)]
pub(crate) fn remove_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let signals = [SIGINT, SIGTERM, SIGHUP];
    let signals: Vec<i32> = signals.into_iter().filter(|&it| !is_ignored(it)).collect();
    // Without a handler, signals end the program all the same.
    let Ok(mut signals) = Signals::new(signals) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // The lock is kept: nothing is created any more.
            let unfinished = unfinished();
            for path in unfinished.iter() {
                let _ = if path.is_dir() {
                    std::fs::remove_dir_all(path)
                } else {
                    std::fs::remove_file(path)
                };
            }
            show_cursor();
            let _ = emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn remove_on_signals() {}

/// Whether the parent wants this signal ignored, as `nohup` does with SIGHUP and a shell without job
/// control with SIGINT of its background jobs. Where the system does not say so, only SIGHUP may be.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    match mask {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => signal == signal_hook::consts::SIGHUP,
    }
}

/// Clears the line of a progress bar and shows the cursor, if there is a terminal.
#[cfg(unix)]
fn show_cursor() {
    use std::io::{IsTerminal, Write};

    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let _ = stderr.write_all(b"\r\x1b[K\x1b[?25h");
    }
}
