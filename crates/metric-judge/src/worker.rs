//! Processes of our own that do one piece of work each, under limits: the parent starts them, reads what they print,
//! and ends them in time; they limit themselves, and end when the parent is gone.

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::limits::{Limits, size};
use crate::outcome::Status;

/// The bytes of a worker's messages that are kept.
const MESSAGE_BYTES: u64 = 64 << 10;
/// The time between two looks at whether a worker that closed its output has ended.
const PAUSE: Duration = Duration::from_millis(2);
/// The time that a process has to end after it is asked to.
#[cfg(unix)]
const GRACE: Duration = Duration::from_millis(300);
/// The exit code of a worker whose parent is gone; nobody sees it.
const ORPHANED: i32 = 4;

/// A program that is started for each piece of work. It calls [`serve`] first.
#[derive(Clone, Debug)]
pub struct Worker {
    program: PathBuf,
    arguments: Vec<OsString>,
}

/// The end of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It ended with this exit code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// It took longer than allowed.
    Time,
    /// It printed more than allowed.
    Output,
}

/// The end and the output of a worker.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// Its standard output, unless that is longer than allowed.
    pub output: Vec<u8>,
    /// The start of its standard error.
    pub messages: String,
}

impl Worker {
    /// Returns the program at a path, with arguments that make it call [`serve`].
    pub fn new(program: impl Into<PathBuf>, arguments: Vec<OsString>) -> Self {
        let program = program.into();
        Self { program, arguments }
    }

    /// Returns the program that is running, with arguments that make it call [`serve`].
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not tell which program is running.
    pub fn of_this_program(arguments: &[&str]) -> io::Result<Self> {
        let arguments = arguments.iter().map(OsString::from).collect();
        Ok(Self::new(std::env::current_exe()?, arguments))
    }

    /// Does a piece of work in a process of its own, in a folder, under limits.
    ///
    /// The work is text without line ends. The process is in a process group of its own, and ends when the thread
    /// that calls this does.
    ///
    /// # Errors
    ///
    /// Returns an error if the process cannot be started or waited for.
    pub fn run(
        &self,
        work: &str,
        folder: Option<&Path>,
        limits: &Limits,
        threads: usize,
    ) -> io::Result<Finished> {
        let limited = Limited {
            memory: limits.memory,
            cpu_seconds: limits.cpu_seconds(threads),
        };
        let text = format!("{}\n{work}\n", serde_json::to_string(&limited)?);
        let deadline = Instant::now() + limits.time();
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = Process(command.spawn()?);
        let (heard, events) = mpsc::channel();
        let output = read(process.0.stdout.take(), limits.output, Some(heard));
        let messages = read(process.0.stderr.take(), MESSAGE_BYTES, None);
        // The worker ends when its standard input does, which is open as long as it runs.
        let (end, hold) = mpsc::channel::<()>();
        let stdin = process.0.stdin.take();
        let written = thread::spawn(move || {
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(text.as_bytes());
                let _ = stdin.flush();
                let _ = hold.recv();
            }
        });
        let ended = process.wait(&events, deadline)?;
        drop(end);
        let _ = written.join();
        let messages = messages.join().unwrap_or_default();
        Ok(Finished {
            ended,
            output: output.join().unwrap_or_default(),
            messages: String::from_utf8_lossy(&messages).into_owned(),
        })
    }
}

/// A message from the reader of a stream.
enum Heard {
    /// The stream was longer than allowed.
    TooMuch,
    /// The stream ended.
    End,
}

/// Reads at most this many bytes on a thread of its own, and throws the rest away.
fn read<R: Read + Send + 'static>(
    stream: Option<R>,
    most: u64,
    heard: Option<Sender<Heard>>,
) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let Some(mut stream) = stream else {
            return bytes;
        };
        let _ = stream.by_ref().take(most).read_to_end(&mut bytes);
        let more = io::copy(&mut stream.by_ref().take(1), &mut io::sink());
        if let Some(heard) = heard {
            let is_more = more.is_ok_and(|more| more > 0);
            let _ = heard.send(if is_more { Heard::TooMuch } else { Heard::End });
        }
        let _ = io::copy(&mut stream, &mut io::sink());
        bytes
    })
}

/// A process that is ended when nobody waits for it any more.
struct Process(Child);

impl Process {
    /// Waits for the end of the process, which is ended if it takes or prints too much.
    fn wait(&mut self, events: &Receiver<Heard>, deadline: Instant) -> io::Result<Ended> {
        let left = deadline.saturating_duration_since(Instant::now());
        match events.recv_timeout(left) {
            Ok(Heard::TooMuch) => return self.end(Ended::Output),
            Err(RecvTimeoutError::Timeout) => return self.end(Ended::Time),
            Ok(Heard::End) | Err(RecvTimeoutError::Disconnected) => {}
        }
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(ended(status));
            }
            if Instant::now() >= deadline {
                return self.end(Ended::Time);
            }
            thread::sleep(PAUSE);
        }
    }

    fn end(&mut self, ended: Ended) -> io::Result<Ended> {
        self.kill();
        self.0.wait()?;
        Ok(ended)
    }

    /// Ends the process and all of its group.
    fn kill(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::Signal;

            // A command that writes files removes them when it is asked to end.
            self.signal_group(Signal::TERM);
            let deadline = Instant::now() + GRACE;
            while Instant::now() < deadline && matches!(self.0.try_wait(), Ok(None)) {
                thread::sleep(PAUSE);
            }
            self.signal_group(Signal::KILL);
        }
        let _ = self.0.kill();
    }

    /// Sends a signal to the group of the process, which exists until it is waited for.
    #[cfg(unix)]
    fn signal_group(&mut self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.0.id()).ok();
        let group = id.and_then(rustix::process::Pid::from_raw);
        if let (Some(group), Ok(None)) = (group, self.0.try_wait()) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            let _ = self.end(Ended::Time);
        }
    }
}

fn ended(status: ExitStatus) -> Ended {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Ended::Signal(signal);
    }
    Ended::Code(status.code().unwrap_or(-1))
}

/// Parts of the messages of Rust and of the parser of CodeBLEU when there is no more memory.
const OUT_OF_MEMORY: [&str; 3] = [
    "memory allocation of",
    "failed to allocate",
    "failed to reallocate",
];

impl Finished {
    /// Returns why a worker did not end as it should, with the status of its work; `None` if it ended by itself
    /// with the code 0.
    #[must_use]
    pub fn problem(&self, limits: &Limits, threads: usize) -> Option<(Status, String)> {
        let says = |text: &str| self.messages.contains(text);
        Some(match self.ended {
            Ended::Code(0) => return None,
            Ended::Time => (Status::Limit, format!("exceeded {} s", limits.seconds)),
            Ended::Output => {
                let most = size(limits.output);
                (Status::Limit, format!("exceeded {most} of output"))
            }
            _ if OUT_OF_MEMORY.iter().any(|text| says(text)) => {
                (Status::Limit, out_of_memory(limits))
            }
            Ended::Signal(signal) if is_cpu_signal(signal) => {
                let seconds = limits.cpu_seconds(threads);
                (Status::Limit, format!("exceeded {seconds} s of CPU time"))
            }
            _ if says("has overflowed its stack") => {
                let reason = "the worker ran out of stack";
                (Status::Failed, reason.to_owned())
            }
            Ended::Signal(signal) => {
                let reason = format!("the worker was ended by signal {signal}");
                (Status::Failed, reason)
            }
            Ended::Code(code) => {
                let reason = format!("the worker ended with code {code}");
                (Status::Failed, reason)
            }
        })
    }
}

/// That a piece of work took more memory than its limit.
pub(crate) fn out_of_memory(limits: &Limits) -> String {
    format!("exceeded {} of memory", size(limits.memory))
}

#[cfg(unix)]
fn is_cpu_signal(signal: i32) -> bool {
    signal == rustix::process::Signal::XCPU.as_raw()
}

#[cfg(not(unix))]
fn is_cpu_signal(_signal: i32) -> bool {
    false
}

/// The limits that a worker sets itself.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Limited {
    memory: u64,
    cpu_seconds: u64,
}

/// Makes this process a worker: reads its limits and its work from standard input, sets the limits, and sees to it that
/// the process ends with its parent. Returns the work.
///
/// # Errors
///
/// Returns an error if standard input has no work, as when a person starts the worker.
pub fn serve() -> io::Result<String> {
    let mut lines = [String::new(), String::new()];
    for line in &mut lines {
        if io::stdin().lock().read_line(line)? == 0 {
            let problem = "standard input has no work: expected the lines that a parent writes";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
        }
    }
    let [limited, work] = lines;
    let limited: Limited = serde_json::from_str(&limited)?;
    // Under a low limit there is no memory for one more thread.
    thread::Builder::new().spawn(end_with_parent)?;
    #[cfg(unix)]
    set_limits(limited);
    #[cfg(not(unix))]
    let _ = limited;
    Ok(work)
}

/// Ends the process when its standard input ends: nobody else has the other end.
fn end_with_parent() {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    std::process::exit(ORPHANED);
}

#[cfg(unix)]
fn set_limits(limited: Limited) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    // The parent's thread may be gone before this is set; the end of standard input tells as well.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let cpu = limited.cpu_seconds;
    for (resource, soft, hard) in [
        #[cfg(not(target_os = "openbsd"))]
        (Resource::As, limited.memory, limited.memory),
        // The soft limit ends the process by a signal of its own, and the hard one by SIGKILL.
        (Resource::Cpu, cpu, cpu.saturating_add(1)),
        (Resource::Core, 0, 0),
    ] {
        // A limit that is already lower stays.
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Rlimit {
            current: Some(soft.min(most)),
            maximum: Some(hard.min(most)),
        };
        let _ = setrlimit(resource, limit);
    }
}
