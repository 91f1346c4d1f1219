//! The two forms of help: `-h` has the common options on one screen or two, and `--help` has everything.

use std::collections::BTreeSet;

use crate::common::Folder;
use metric_run::registry::ENTRIES;

/// The headings of the help of `score`, in their order.
const HEADINGS: [&str; 6] = [
    "Input:",
    "Join:",
    "Metric:",
    "Statistics:",
    "Output:",
    "General:",
];

/// The options that a help describes, such as `--id-field`.
fn options(help: &str) -> Vec<&str> {
    let described = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("-").map(|_| line)?;
        let start = line.find("--")?;
        let option = line[start..].split([' ', '=', '.']).next()?;
        (line.starts_with("--") || line[..start].ends_with(", ")).then_some(option)
    });
    described.collect()
}

fn headings(help: &str) -> Vec<&str> {
    let lines = help.lines();
    lines.filter(|line| HEADINGS.contains(line)).collect()
}

#[test]
fn the_short_help_has_options_of_the_long_one_only() {
    let folder = Folder::new(&[]);
    let short = folder.run("score wer -h").code(0).stdout;
    let long = folder.run("score wer --help").code(0).stdout;
    let of_short: BTreeSet<&str> = options(&short).into_iter().collect();
    let of_long: BTreeSet<&str> = options(&long).into_iter().collect();
    assert!(of_short.is_subset(&of_long), "{of_short:?} {of_long:?}");
}

#[test]
fn all_options_are_under_headings() {
    let folder = Folder::new(&[]);
    for entry in ENTRIES {
        for command in ["score", "compare", "check"] {
            let words = format!("{command} {}", entry.name);
            let long = folder.run(&format!("{words} --help")).code(0).stdout;
            let short = folder.run(&format!("{words} -h")).code(0).stdout;
            for help in [&long, &short] {
                // Under no heading, clap writes "Options:".
                assert!(!help.contains("\nOptions:"), "{words}: {help}");
                let found = headings(help);
                let expected = HEADINGS.iter().filter(|heading| found.contains(heading));
                assert_eq!(found, expected.copied().collect::<Vec<_>>(), "{words}");
                assert!(
                    found.contains(&"Input:") && found.contains(&"General:"),
                    "{words}"
                );
            }
            let is_in = |help: &str, option: &str| options(help).contains(&option);
            for spec in entry.options {
                let option = format!("--{}", spec.name);
                assert!(is_in(&long, &option), "{words} {option}");
                assert!(is_in(&short, &option), "{words} {option}");
            }
            assert!(
                is_in(&long, "--threads") && !is_in(&short, "--threads"),
                "{words}"
            );
            assert!(long.contains("Exit codes"), "{words}");
        }
    }
}
