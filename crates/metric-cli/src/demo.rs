//! Small samples of each domain, built into the program.

use std::path::{Path, PathBuf};

use clap::ArgMatches;

use crate::args;
use crate::error::Failure;
use crate::output::new_table;

/// A pair of sample files and the command that scores them.
struct Demo {
    domain: &'static str,
    /// Words after `metric score`.
    arguments: &'static [&'static str],
    /// File names and contents.
    references: (&'static str, &'static str),
    predictions: (&'static str, &'static str),
}

/// A sample file of the folder `demo`, whose README says where each comes from.
macro_rules! sample {
    ($name:literal) => {
        ($name, include_str!(concat!("../demo/", $name)))
    };
}

const DEMOS: &[Demo] = &[
    Demo {
        domain: "ARC tasks",
        arguments: &["arc"],
        references: sample!("arc-solutions.jsonl"),
        predictions: sample!("arc-answers.jsonl"),
    },
    Demo {
        domain: "detections",
        arguments: &["detection", "--iou", "0.5"],
        references: sample!("boxes.json"),
        predictions: sample!("detected-boxes.json"),
    },
    Demo {
        domain: "lane graphs",
        arguments: &["lanes"],
        references: sample!("lanes.jsonl"),
        predictions: sample!("predicted-lanes.jsonl"),
    },
    Demo {
        domain: "answers",
        arguments: &["vqa", "--profile", "fusion-brain-2021"],
        references: sample!("answers.jsonl"),
        predictions: sample!("given-answers.jsonl"),
    },
    Demo {
        domain: "transcriptions",
        arguments: &["string-accuracy", "--normalize", "nfc,casefold"],
        references: sample!("words.txt"),
        predictions: sample!("read-words.txt"),
    },
    Demo {
        domain: "ranked labels",
        arguments: &["accuracy-at-k", "--k", "1,5"],
        references: sample!("labels.jsonl"),
        predictions: sample!("ranked-labels.jsonl"),
    },
];

/// Scores all samples and says how.
pub(crate) fn run(matches: &ArgMatches) -> Result<String, Failure> {
    let temporary = tempfile::tempdir()
        .map_err(|error| Failure::Internal(format!("cannot make a temporary folder: {error}")))?;
    let saved = matches.get_one::<PathBuf>("save");
    let folder = saved.map_or(temporary.path(), PathBuf::as_path);
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::write(&folder.display().to_string(), &error))?;

    let mut table = new_table(&["sample", "examples", "score", ""], false);
    table
        .column_mut(2)
        .map(|column| column.set_cell_alignment(comfy_table::CellAlignment::Left));
    let mut commands = String::new();
    for demo in DEMOS {
        for (name, text) in [demo.references, demo.predictions] {
            let path = folder.join(name);
            std::fs::write(&path, text)
                .map_err(|error| Failure::write(&path.display().to_string(), &error))?;
        }
        let scored = demo.score(folder)?;
        let mut scores = scored
            .report
            .scores
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), format!("{:.4}", (*value)?))));
        let mut label = demo.domain.to_owned();
        let mut examples = scored.report.examples.to_string();
        for (name, value) in scores.by_ref() {
            table.add_row([
                std::mem::take(&mut label),
                std::mem::take(&mut examples),
                name,
                value,
            ]);
        }
        let shown = saved.map_or(Path::new(""), PathBuf::as_path);
        commands.push_str(&format!("  metric score {}\n", demo.words(shown).join(" ")));
    }
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str("\nYour own files are scored in the same way:\n\n");
    text.push_str(&commands);
    if saved.is_none() {
        text.push_str("\n`metric demo --save FOLDER` writes these files, to look at and to try the commands on.\n");
    }
    Ok(text)
}

impl Demo {
    fn words(&self, folder: &Path) -> Vec<String> {
        let file = |name: &str| folder.join(name).display().to_string();
        let mut words: Vec<String> = self.arguments.iter().map(|&word| word.to_owned()).collect();
        words.extend(["--references".to_owned(), file(self.references.0)]);
        words.extend(["--predictions".to_owned(), file(self.predictions.0)]);
        words
    }

    fn score(&self, folder: &Path) -> Result<crate::score::Scored, Failure> {
        let words = ["metric", "score"].into_iter().map(str::to_owned);
        let words = words
            .chain(self.words(folder))
            .chain(["--quiet".to_owned()]);
        let matches = args::command()
            .try_get_matches_from(words)
            .map_err(|error| Failure::Internal(error.to_string()))?;
        match matches
            .subcommand_matches("score")
            .and_then(ArgMatches::subcommand)
        {
            Some((metric, matches)) => args::task(metric, matches)?.run(),
            None => Err(Failure::Internal("a sample without a metric".to_owned())),
        }
    }
}
