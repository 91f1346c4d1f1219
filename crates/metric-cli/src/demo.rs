//! Small samples of each domain, built into the program.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use include_dir::{Dir, include_dir};
use metric_run::registry::{Demo, ENTRIES, Entry, Options, Report};
use metric_run::{Format, Run, Source};

use crate::error::Failure;
use crate::output::score;
use crate::output_args;
use crate::output_file::{create_folder, write_whole};
use crate::table::Grid;

/// The files of the folder `demo`, whose README says where each comes from.
static FOLDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/demo");

/// The files of samples with their contents, in the order of their names.
fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let files = FOLDER
        .files()
        .filter_map(|file| Some((file.path().to_str()?, file.contents_utf8()?)));
    files.filter(|(name, _)| *name != "README.md")
}

/// The samples that are shown, each with its metric: those of one metric, or of all.
fn demos(metric: Option<&str>) -> impl Iterator<Item = (&'static Entry, &'static Demo)> {
    let demos = ENTRIES
        .iter()
        .filter(move |entry| metric.is_none_or(|metric| entry.name == metric))
        .flat_map(|entry| entry.demos.iter().map(move |demo| (entry, demo)));
    demos.filter(|(_, demo)| !demo.shown.is_empty())
}

/// Scores all samples and says how.
pub(crate) fn run(matches: &ArgMatches) -> Result<String, Failure> {
    let metric = matches.get_one::<String>("metric").map(String::as_str);
    if demos(metric).next().is_none() {
        return Err(Failure::Usage(format!(
            "there is no sample of {}: expected a metric that `metric demo` shows",
            metric.unwrap_or_default()
        )));
    }
    let saved = matches.get_one::<PathBuf>("save");
    if let Some(folder) = saved {
        save(folder)?;
    }

    let header = ["sample", "metric", "examples", "score", "value"];
    let mut table = Grid::new(header).with_texts([1, 3]);
    let mut commands = String::new();
    for (entry, demo) in demos(metric) {
        let report = scored(entry, demo)?;
        let mut head = [
            demo.name.to_owned(),
            entry.name.to_owned(),
            report.examples.to_string(),
        ];
        for (name, value) in &report.scores {
            if demo.shown.contains(&name.as_str()) {
                let [sample, metric, examples] = std::mem::take(&mut head);
                table.add_row([sample, metric, examples, name.clone(), score(*value)]);
            }
        }
        let shown = saved.map_or(Path::new(""), PathBuf::as_path);
        commands.push_str(&format!(
            "  metric score {}\n",
            words(entry, demo, shown).join(" ")
        ));
    }
    let mut text = table.draw(output_args::layout(matches));
    text.push_str("\nThe ARC tasks and the handwritten digits are real, the rest is made up. These\ncommands print all scores, counts and groups, and your own files are scored in\nthe same way:\n\n");
    text.push_str(&commands);
    text.push_str(match saved {
        Some(_) => "\n",
        None => {
            "\n`metric demo --save FOLDER` writes these files, to look at and to try the\ncommands on.\n"
        }
    });
    Ok(text)
}

/// Writes the sample files to the folder, and overwrites no existing file. Those of an earlier run, which may not have
/// come to its end, stay.
fn save(folder: &Path) -> Result<(), Failure> {
    create_folder(folder)?;
    for (name, text) in files() {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|bytes| bytes == text.as_bytes()) {
            continue;
        }
        if path.exists() {
            return Err(Failure::Usage(format!(
                "{}: exists with other content: expected a folder without such a file",
                path.display()
            )));
        }
        write_whole(&path, text)?;
    }
    Ok(())
}

/// The words after `metric score`.
fn words(entry: &Entry, demo: &Demo, folder: &Path) -> Vec<String> {
    let mut words = vec![entry.name.to_owned()];
    for (name, value) in demo.options {
        words.push(format!("--{name}"));
        words.extend((!value.is_empty()).then(|| (*value).to_owned()));
    }
    let files = ["-r", "-p"].into_iter().zip(demo.files);
    for (option, name) in files.filter(|(_, name)| !name.is_empty()) {
        words.extend([option.to_owned(), folder.join(name).display().to_string()]);
    }
    words
}

fn scored(entry: &Entry, demo: &Demo) -> Result<Report, Failure> {
    let options = demo.options.iter();
    let options = options.fold(Options::default(), |options, (name, value)| {
        options.set(name, *value)
    });
    let source = |wanted: &str| {
        let file = files().find(|(name, _)| *name == wanted);
        let (name, text) = file.ok_or_else(|| Failure::Internal(format!("no sample {wanted}")))?;
        let format = Format::of_name(name).unwrap_or(Format::JsonLines);
        Ok::<_, Failure>(Source::memory(name, text.as_bytes(), format))
    };
    let [references, predictions] = demo.files;
    let run = Run::new(entry, &options)?;
    let outcomes = match references {
        "" => run.score_pairs(source(predictions)?)?,
        references => run.score(source(references)?, source(predictions)?)?,
    };
    let report = outcomes.first().map(metric_run::Outcome::report);
    report.ok_or_else(|| Failure::Internal("a sample without a score".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_has_samples_and_each_sample_a_metric() {
        let demos = || ENTRIES.iter().flat_map(|entry| entry.demos);
        for entry in ENTRIES {
            assert!(!entry.demos.is_empty(), "{}", entry.name);
        }
        let named = demos().flat_map(|demo| demo.files);
        for name in named.filter(|name| !name.is_empty()) {
            assert!(files().any(|(file, _)| file == name), "{name}");
        }
        for (file, _) in files() {
            assert!(demos().any(|demo| demo.files.contains(&file)), "{file}");
        }
    }
}
