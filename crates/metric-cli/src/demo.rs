//! Small samples of each domain, built into the program.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use metric_run::registry::{Options, Report, find};
use metric_run::{Format, Run, Source};

use crate::error::Failure;
use crate::output::score;
use crate::output_args;
use crate::output_file::{create_folder, write_whole};
use crate::table::Grid;

/// A pair of sample files and the command that scores them.
struct Demo {
    domain: &'static str,
    metric: &'static str,
    /// The options of the metric; a flag has no value.
    options: &'static [(&'static str, &'static str)],
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
        metric: "arc",
        options: &[],
        shown: &["cell_accuracy", "exact"],
        references: sample!("arc-solutions.jsonl"),
        predictions: sample!("arc-answers.jsonl"),
    },
    Demo {
        domain: "ARC submission",
        metric: "arc",
        options: &[],
        shown: &["kaggle", "arcprize", "all_tests", "pass_at_1"],
        references: sample!("arc-tasks.json"),
        predictions: sample!("arc-submission.json"),
    },
    Demo {
        domain: "source code",
        metric: "codebleu",
        options: &[("lang-field", "lang"), ("profile", "corrected")],
        shown: &["codebleu", "syntax_match", "dataflow_match"],
        references: sample!("functions.jsonl"),
        predictions: sample!("written-functions.jsonl"),
    },
    Demo {
        domain: "detections",
        metric: "detection",
        options: &[("iou", "0.5")],
        shown: &["precision", "recall", "f1"],
        references: sample!("boxes.json"),
        predictions: sample!("detected-boxes.json"),
    },
    Demo {
        domain: "COCO detections",
        metric: "coco",
        options: &[],
        shown: &["AP", "AP50", "AR_100"],
        references: sample!("coco-truth.json"),
        predictions: sample!("coco-results.json"),
    },
    Demo {
        domain: "lane graphs",
        metric: "lanes",
        options: &[],
        shown: &["rule_f1", "correspondence_f1", "overall_f1"],
        references: sample!("lanes.jsonl"),
        predictions: sample!("predicted-lanes.jsonl"),
    },
    Demo {
        domain: "lane topology",
        metric: "openlane",
        options: &[],
        shown: &["DET_l", "DET_t", "TOP_ll", "TOP_lt", "OLS"],
        references: sample!("frames.jsonl"),
        predictions: sample!("predicted-frames.jsonl"),
    },
    Demo {
        domain: "answers",
        metric: "vqa",
        options: &[("profile", "fusion-brain-2021")],
        shown: &["accuracy"],
        references: sample!("answers.jsonl"),
        predictions: sample!("given-answers.jsonl"),
    },
    Demo {
        domain: "answers of people",
        metric: "vqa",
        options: &[("profile", "vqa-v2")],
        shown: &["accuracy"],
        references: sample!("vqa-annotations.json"),
        predictions: sample!("vqa-results.json"),
    },
    Demo {
        domain: "answers in a text",
        metric: "squad",
        options: &[("profile", "v2")],
        shown: &["exact_match", "f1"],
        references: sample!("squad-data.json"),
        predictions: sample!("squad-predictions.json"),
    },
    Demo {
        domain: "documents",
        metric: "anls",
        options: &[],
        shown: &["anls"],
        references: sample!("documents.jsonl"),
        predictions: sample!("read-documents.jsonl"),
    },
    Demo {
        domain: "charts",
        metric: "relaxed-accuracy",
        options: &[],
        shown: &["relaxed_accuracy"],
        references: sample!("charts.jsonl"),
        predictions: sample!("read-charts.jsonl"),
    },
    Demo {
        domain: "short answers",
        metric: "exact-match",
        options: &[("ignore-case", ""), ("ignore-punctuation", "")],
        shown: &["exact_match"],
        references: sample!("capitals.jsonl"),
        predictions: sample!("given-capitals.jsonl"),
    },
    Demo {
        domain: "transcriptions",
        metric: "string-accuracy",
        options: &[("normalize", "nfc,casefold")],
        shown: &["string_accuracy"],
        references: sample!("words.txt"),
        predictions: sample!("read-words.txt"),
    },
    Demo {
        domain: "speech",
        metric: "wer",
        options: &[("normalize", "casefold,punctuation")],
        shown: &["wer", "mer", "wil"],
        references: sample!("spoken.txt"),
        predictions: sample!("heard.txt"),
    },
    Demo {
        domain: "ranked labels",
        metric: "accuracy-at-k",
        options: &[("k", "1,5")],
        shown: &["accuracy@1", "accuracy@5"],
        references: sample!("labels.jsonl"),
        predictions: sample!("ranked-labels.jsonl"),
    },
    Demo {
        domain: "class scores",
        metric: "accuracy-at-k",
        options: &[("input", "scores"), ("k", "1,5")],
        shown: &["accuracy@1", "accuracy@5"],
        references: sample!("digits.jsonl"),
        predictions: sample!("digit-scores.jsonl"),
    },
    Demo {
        domain: "classes",
        metric: "classification",
        options: &[],
        shown: &["accuracy", "precision", "recall", "f1"],
        references: sample!("classes.jsonl"),
        predictions: sample!("predicted-classes.jsonl"),
    },
];

/// Scores all samples and says how.
pub(crate) fn run(matches: &ArgMatches) -> Result<String, Failure> {
    let saved = matches.get_one::<PathBuf>("save");
    if let Some(folder) = saved {
        save(folder)?;
    }

    let header = ["sample", "metric", "examples", "score", "value"];
    let mut table = Grid::new(header).with_texts([1, 3]);
    let mut commands = String::new();
    for demo in DEMOS {
        let report = demo.score()?;
        let mut head = [
            demo.domain.to_owned(),
            demo.metric.to_owned(),
            report.examples.to_string(),
        ];
        for (name, value) in &report.scores {
            if demo.shown.contains(&name.as_str()) {
                let [sample, metric, examples] = std::mem::take(&mut head);
                table.add_row([sample, metric, examples, name.clone(), score(*value)]);
            }
        }
        let shown = saved.map_or(Path::new(""), PathBuf::as_path);
        commands.push_str(&format!("  metric score {}\n", demo.words(shown).join(" ")));
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
                "{}: exists with other content: expected a folder without such a file",
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
        let mut words = vec![self.metric.to_owned()];
        for (name, value) in self.options {
            words.push(format!("--{name}"));
            words.extend((!value.is_empty()).then(|| (*value).to_owned()));
        }
        words.extend(["-r".to_owned(), file(self.references.0)]);
        words.extend(["-p".to_owned(), file(self.predictions.0)]);
        words
    }

    fn score(&self) -> Result<Report, Failure> {
        let entry = find(self.metric)
            .ok_or_else(|| Failure::Internal("a sample without a metric".to_owned()))?;
        let options = self.options.iter();
        let options = options.fold(Options::default(), |options, (name, value)| {
            options.set(name, *value)
        });
        let [references, predictions] = [self.references, self.predictions].map(|(name, text)| {
            let format = Format::of_name(name).unwrap_or(Format::JsonLines);
            Source::memory(name, text.as_bytes(), format)
        });
        let outcomes = Run::new(entry, &options)?.score(references, predictions)?;
        let outcome = outcomes.first();
        let report = outcome.map(metric_run::Outcome::report);
        report.ok_or_else(|| Failure::Internal("a sample without a score".to_owned()))
    }
}
