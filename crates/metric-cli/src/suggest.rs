//! Words that people type in place of a command or the name of a metric, and their meanings.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use metric_run::registry::{ENTRIES, find, meaning};

/// Whether names are misspellings or beginnings of each other.
fn is_near(name: &str, wanted: &str) -> bool {
    let edits = strsim::damerau_levenshtein(name, wanted);
    edits <= 1 + wanted.chars().count() / 4 || strsim::jaro_winkler(name, wanted) >= 0.88
}

/// Leaves out a suggested value that only starts as the given one does, such as c for cobol.
pub(crate) fn only_near(error: &mut clap::Error) {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let given = text(ContextKind::InvalidValue);
    let suggested = text(ContextKind::SuggestedValue);
    let is_far = |(given, suggested): (String, String)| {
        let longest = given.chars().count().max(suggested.chars().count());
        2 * strsim::damerau_levenshtein(&given, &suggested) > longest
    };
    if given.zip(suggested).is_some_and(is_far) {
        error.remove(ContextKind::SuggestedValue);
    }
}

/// The commands whose next word is a metric.
const WITH_METRIC: [&str; 5] = ["score", "compare", "check", "list", "help"];

/// Returns the words of the command line with names of metrics as they are listed: WER is wer, and
/// `metric help wer` is `metric score wer --help`.
pub(crate) fn corrected(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let [_, command, name, ..] = words.as_mut_slice() else {
        return words;
    };
    let Some(command) = command.to_str().filter(|it| WITH_METRIC.contains(it)) else {
        return words;
    };
    let is_help = command == "help";
    if let Some(listed) = name.to_str().and_then(listed_names) {
        *name = listed.into();
        if is_help {
            words[1] = "score".into();
            words.insert(3, "--help".into());
        }
    }
    words
}

/// Returns names as they are listed, if they only differ in case and in underscores.
fn listed_names(names: &str) -> Option<String> {
    let listed = names.to_lowercase().replace('_', "-");
    listed
        .split(',')
        .all(|name| find(name).is_some())
        .then_some(listed)
}

/// Says what is probably meant by words that are not a command, or by a name that is not a metric.
pub(crate) fn mistake(words: &[OsString], commands: &[&str]) -> Option<String> {
    let word = |index: usize| words.get(index).and_then(|word| word.to_str());
    let (first, second) = (word(1)?, word(2));
    if first.starts_with('-') {
        return None;
    }
    if !commands.contains(&first) {
        let metrics = listed_names(first)?;
        let rest: Vec<_> = words
            .iter()
            .skip(2)
            .map(|word| word.to_string_lossy())
            .collect();
        let command = ["metric score", &metrics, &rest.join(" ")].join(" ");
        return Some(format!(
            "{first:?} is a metric, not a command; did you mean `{}`?",
            command.trim_end()
        ));
    }
    let name = second.filter(|name| !name.starts_with('-') && !name.contains(','))?;
    if !["score", "compare", "check", "list", "demo"].contains(&first) || find(name).is_some() {
        return None;
    }
    Some(unknown_metric(name))
}

/// Says that there is no such metric, and which one comes closest.
pub(crate) fn unknown_metric(name: &str) -> String {
    let wanted = name.to_lowercase().replace(['_', ' '], "-");
    let near = ENTRIES
        .iter()
        .map(|entry| entry.name)
        .filter(|name| is_near(name, &wanted));
    let nearest = near.min_by_key(|name| strsim::damerau_levenshtein(name, &wanted));
    let hint = match (meaning(name), nearest) {
        (Some(hint), _) => format!("{hint}; "),
        (None, Some(name)) => format!("did you mean {name}? "),
        (None, None) => String::new(),
    };
    format!("unknown metric {name:?}; {hint}`metric list` lists all metrics")
}

/// Says how files are given, where one is given without its option.
pub(crate) fn unnamed_file(command: &str, metric: &str, word: &str) -> String {
    format!(
        "unexpected argument {word:?}: files are given with -r (references) and -p (predictions), as in \
         `metric {command} {metric} -r references.jsonl -p predictions.jsonl`"
    )
}

#[cfg(test)]
mod tests {
    use metric_run::registry::NOT_OFFERED;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn names_in_any_case_are_names() {
        for (line, expected) in [
            ("metric score WER -r A", "metric score wer -r A"),
            ("metric score Exact_Match", "metric score exact-match"),
            ("metric compare CodeBLEU", "metric compare codebleu"),
            ("metric score WER,Cer", "metric score wer,cer"),
            ("metric help wer", "metric score wer --help"),
            ("metric help score", "metric help score"),
            ("metric score WRE", "metric score WRE"),
            ("metric merge WER", "metric merge WER"),
        ] {
            assert_eq!(
                corrected(words(line).into_iter()),
                words(expected),
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_meant_is_named() {
        let commands = ["score", "compare", "list", "merge"];
        let said = |line: &str| mistake(&words(line), &commands).unwrap_or_default();
        for (line, expected) in [
            (
                "metric wer -r a -p b",
                "did you mean `metric score wer -r a -p b`?",
            ),
            ("metric score wre", "did you mean wer?"),
            ("metric score mAP", "coco"),
            ("metric compare BLEU", "did you mean bleu?"),
            ("metric list f1", "classification"),
            ("metric score METEOR", "METEOR is not offered"),
            ("metric score bert_score", "BERTScore is not offered"),
            ("metric score comet", "COMET is not offered"),
            ("metric score ppl", "perplexity is not offered"),
            ("metric score zebra", "`metric list` lists all metrics"),
        ] {
            assert!(said(line).contains(expected), "{line}: {}", said(line));
        }
        for line in [
            "metric score wer",
            "metric merge x",
            "metric --help",
            "metric scroe wer",
            "metric",
        ] {
            assert_eq!(said(line), "", "{line}");
        }
    }

    #[test]
    fn hints_name_metrics_that_there_are() {
        let mut names: Vec<&str> = Vec::new();
        for (known, hint) in ENTRIES.iter().flat_map(|entry| entry.known_as) {
            names.extend(*known);
            let is_named = ENTRIES.iter().any(|entry| hint.contains(entry.name));
            assert!(hint.is_empty() || is_named, "{hint}");
        }
        names.extend(NOT_OFFERED.iter().flat_map(|(names, _)| *names));
        for (index, name) in names.iter().enumerate() {
            assert!(find(name).is_none(), "{name} is a metric");
            assert!(!names[..index].contains(name), "{name} means two metrics");
        }
    }
}
