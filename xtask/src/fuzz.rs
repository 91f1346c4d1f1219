//! Runs the fuzz targets under `fuzz/`, which are a workspace of their own.

use std::process::Command;

use xtask_common::{Error, program, root};

pub(crate) const HELP: &str = "\
Looks for inputs that break a crate: runs one fuzz target, or all, by cargo-fuzz.
Each runs for 60 seconds, or for --seconds N, from its seeds in fuzz/seeds and from what it found
before (fuzz/corpus, which is not committed). An input that breaks something is written to
fuzz/artifacts, its path is printed, and the exit code is 1.
Needs cargo-fuzz, which cargo xtask tools installs. A nightly toolchain is not needed.";

/// The longest input that is tried, and the seconds after which one is too slow.
const LIMITS: &[&str] = &["-max_len=4096", "-timeout=20", "-rss_limit_mb=4096"];

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let known = targets()?;
    let (mut chosen, mut seconds) = (Vec::new(), 60);
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--seconds" {
            let number = words.next().and_then(|word| word.parse().ok());
            // libFuzzer treats 0 as no end.
            let number = number.filter(|&number: &u64| number > 0);
            let problem = || Error::Usage("--seconds: expected a positive number".to_owned());
            seconds = number.ok_or_else(problem)?;
        } else if known.iter().any(|target| target == word) {
            chosen.push(word.to_owned());
        } else {
            let known = known.join(", ");
            let problem = format!("{word:?}: expected a target of {known}, or --seconds N");
            return Err(Error::Usage(problem));
        }
    }
    let chosen = if chosen.is_empty() { known } else { chosen };
    let mut broken = Vec::new();
    for target in chosen {
        if !fuzz(&target, seconds)? {
            broken.push(target);
        }
    }
    match broken.as_slice() {
        [] => Ok(()),
        broken => Err(Error::Failed(format!(
            "found something: {}",
            broken.join(", ")
        ))),
    }
}

/// The names of the targets, in their order.
fn targets() -> Result<Vec<String>, Error> {
    let folder = root().join("fuzz/fuzz_targets");
    let failed = |error| Error::Failed(format!("{}: {error}", folder.display()));
    let entries = std::fs::read_dir(&folder).map_err(failed)?.flatten();
    let paths = entries.map(|entry| entry.path());
    let sources = paths.filter(|path| path.extension().is_some_and(|it| it == "rs"));
    let names = sources.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

/// Runs a target. Returns whether nothing broke.
fn fuzz(target: &str, seconds: u64) -> Result<bool, Error> {
    let folder = root().join("fuzz");
    let failed = |error: std::io::Error| Error::Failed(format!("{target}: {error}"));
    // Findings go to the first folder.
    let (corpus, seeds) = (format!("corpus/{target}"), format!("seeds/{target}"));
    std::fs::create_dir_all(folder.join(&corpus)).map_err(failed)?;
    let mut command = Command::new(program());
    command
        .current_dir(&folder)
        // The flags that instrument the code are not stable; it is the same in a stable compiler.
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["fuzz", "run", "--sanitizer", "none", target, &corpus])
        .args(folder.join(&seeds).is_dir().then_some(seeds))
        .arg("--")
        .args(LIMITS)
        .arg(format!("-max_total_time={seconds}"))
        .arg("-print_final_stats=1");
    let dictionary = folder.join(format!("{target}.dict"));
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    eprintln!("$ cargo fuzz run {target}, {seconds} s");
    let status = command.status().map_err(failed)?;
    Ok(status.success())
}
