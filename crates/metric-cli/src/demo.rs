//! Small samples of each domain, built into the program.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use comfy_table::CellAlignment;

use crate::args;
use crate::error::Failure;
use crate::output::{new_table, score};
use crate::output_file::{create_folder, write_whole};

/// A pair of sample files and the command that scores them.
struct Demo {
    domain: &'static str,
    /// Words after `metric score`.
    arguments: &'static [&'static str],
    /// The scores shown, of those that the metric has.
    shown: &'static [&'static str],
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
        shown: &["cell_accuracy", "exact"],
        references: sample!("arc-solutions.jsonl"),
        predictions: sample!("arc-answers.jsonl"),
    },
    Demo {
        domain: "ARC submission",
        arguments: &["arc"],
        shown: &["kaggle", "arcprize", "all_tests", "pass_at_1"],
        references: sample!("arc-tasks.json"),
        predictions: sample!("arc-submission.json"),
    },
    Demo {
        domain: "source code",
        arguments: &["codebleu", "--lang-field", "lang", "--profile", "corrected"],
        shown: &["codebleu", "syntax_match", "dataflow_match"],
        references: sample!("functions.jsonl"),
        predictions: sample!("written-functions.jsonl"),
    },
    Demo {
        domain: "detections",
        arguments: &["detection", "--iou", "0.5"],
        shown: &["precision", "recall", "f1"],
        references: sample!("boxes.json"),
        predictions: sample!("detected-boxes.json"),
    },
    Demo {
        domain: "COCO detections",
        arguments: &["coco"],
        shown: &["AP", "AP50", "AR_100"],
        references: sample!("coco-truth.json"),
        predictions: sample!("coco-results.json"),
    },
    Demo {
        domain: "lane graphs",
        arguments: &["lanes"],
        shown: &["rule_f1", "correspondence_f1", "overall_f1"],
        references: sample!("lanes.jsonl"),
        predictions: sample!("predicted-lanes.jsonl"),
    },
    Demo {
        domain: "lane topology",
        arguments: &["openlane"],
        shown: &["DET_l", "DET_t", "TOP_ll", "TOP_lt", "OLS"],
        references: sample!("frames.jsonl"),
        predictions: sample!("predicted-frames.jsonl"),
    },
    Demo {
        domain: "answers",
        arguments: &["vqa", "--profile", "fusion-brain-2021"],
        shown: &["accuracy"],
        references: sample!("answers.jsonl"),
        predictions: sample!("given-answers.jsonl"),
    },
    Demo {
        domain: "answers of people",
        arguments: &["vqa", "--profile", "vqa-v2"],
        shown: &["accuracy"],
        references: sample!("vqa-annotations.json"),
        predictions: sample!("vqa-results.json"),
    },
    Demo {
        domain: "answers in a text",
        arguments: &["squad", "--profile", "v2"],
        shown: &["exact_match", "f1"],
        references: sample!("squad-data.json"),
        predictions: sample!("squad-predictions.json"),
    },
    Demo {
        domain: "documents",
        arguments: &["anls"],
        shown: &["anls"],
        references: sample!("documents.jsonl"),
        predictions: sample!("read-documents.jsonl"),
    },
    Demo {
        domain: "charts",
        arguments: &["relaxed-accuracy"],
        shown: &["relaxed_accuracy"],
        references: sample!("charts.jsonl"),
        predictions: sample!("read-charts.jsonl"),
    },
    Demo {
        domain: "short answers",
        arguments: &["exact-match", "--ignore-case", "--ignore-punctuation"],
        shown: &["exact_match"],
        references: sample!("capitals.jsonl"),
        predictions: sample!("given-capitals.jsonl"),
    },
    Demo {
        domain: "transcriptions",
        arguments: &["string-accuracy", "--normalize", "nfc,casefold"],
        shown: &["string_accuracy"],
        references: sample!("words.txt"),
        predictions: sample!("read-words.txt"),
    },
    Demo {
        domain: "speech",
        arguments: &["wer", "--normalize", "casefold,punctuation"],
        shown: &["wer", "mer", "wil"],
        references: sample!("spoken.txt"),
        predictions: sample!("heard.txt"),
    },
    Demo {
        domain: "ranked labels",
        arguments: &["accuracy-at-k", "--k", "1,5"],
        shown: &["accuracy@1", "accuracy@5"],
        references: sample!("labels.jsonl"),
        predictions: sample!("ranked-labels.jsonl"),
    },
    Demo {
        domain: "class scores",
        arguments: &["accuracy-at-k", "--input", "scores", "--k", "1,5"],
        shown: &["accuracy@1", "accuracy@5"],
        references: sample!("digits.jsonl"),
        predictions: sample!("digit-scores.jsonl"),
    },
    Demo {
        domain: "classes",
        arguments: &["classification"],
        shown: &["accuracy", "precision", "recall", "f1"],
        references: sample!("classes.jsonl"),
        predictions: sample!("predicted-classes.jsonl"),
    },
];

/// Scores all samples and says how.
pub(crate) fn run(matches: &ArgMatches) -> Result<String, Failure> {
    let saved = matches.get_one::<PathBuf>("save");
    // The folder goes at the end of the run.
    let temporary;
    let folder = match saved {
        Some(folder) => folder.as_path(),
        None => {
            temporary = tempfile::tempdir().map_err(|error| {
                Failure::Internal(format!("cannot make a temporary folder: {error}"))
            })?;
            temporary.path()
        }
    };
    save(folder)?;

    let mut table = new_table(&["sample", "metric", "examples", "score", "value"], false);
    for column in [1, 3] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    let mut commands = String::new();
    for demo in DEMOS {
        let scored = demo.score(folder)?;
        let mut head = [
            demo.domain.to_owned(),
            demo.arguments
                .first()
                .map_or_else(String::new, |&metric| metric.to_owned()),
            scored.report.examples.to_string(),
        ];
        for (name, value) in &scored.report.scores {
            if demo.shown.contains(&name.as_str()) {
                let [sample, metric, examples] = std::mem::take(&mut head);
                table.add_row([sample, metric, examples, name.clone(), score(*value)]);
            }
        }
        let shown = saved.map_or(Path::new(""), PathBuf::as_path);
        commands.push_str(&format!("  metric score {}\n", demo.words(shown).join(" ")));
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    let mut text: String = lines.collect();
    text.push_str("\nThe ARC tasks and the handwritten digits are real, the rest is made up. These commands print all\nscores, counts and groups, and your own files are scored in the same way:\n\n");
    text.push_str(&commands);
    text.push_str(match saved {
        Some(_) => "\n",
        None => "\n`metric demo --save FOLDER` writes these files, to look at and to try the commands on.\n",
    });
    Ok(text)
}

/// Writes the sample files to the folder, over none that is there. Those of an earlier run, which may
/// not have come to its end, stay.
fn save(folder: &Path) -> Result<(), Failure> {
    create_folder(folder)?;
    let files = DEMOS
        .iter()
        .flat_map(|demo| [demo.references, demo.predictions]);
    for (name, text) in files {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|bytes| bytes == text.as_bytes()) {
            continue;
        }
        if path.exists() {
            return Err(Failure::Usage(format!(
                "{}: exists: expected a new folder",
                path.display()
            )));
        }
        write_whole(&path, text)?;
    }
    Ok(())
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
