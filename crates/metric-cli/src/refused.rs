//! Messages about command lines that clap refuses, in the words of the other messages.

use std::ffi::OsString;
use std::num::ParseIntError;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Options of other programs, and the option that does the same here.
const SAME: [(&[&str], &str); 6] = [
    (
        &[
            "ref",
            "refs",
            "reference",
            "references-file",
            "truth",
            "gt",
            "ground-truth",
            "gold",
            "target",
            "targets",
            "labels",
        ],
        "references",
    ),
    (
        &[
            "pred",
            "preds",
            "prediction",
            "predictions-file",
            "hyp",
            "hyps",
            "hypothesis",
            "hypotheses",
            "results",
            "submission",
        ],
        "predictions",
    ),
    (&["ci", "confidence-level"], "confidence"),
    (&["bootstrap", "n-resamples", "samples"], "resamples"),
    (&["precision", "decimals"], "digits"),
    (&["output-format", "output"], "format"),
];

/// Returns what is wrong and where to read on, if clap refuses the command line for a reason that has words here.
pub(crate) fn message(error: &Error, words: &[OsString]) -> Option<String> {
    let problem = problem(error)?;
    let usage = usage(error).unwrap_or_default();
    let path = match error.kind() {
        ErrorKind::InvalidSubcommand => "metric".to_owned(),
        _ => path(words),
    };
    Some(format!("{problem}\n{usage}See `{path} --help`."))
}

fn problem(error: &Error) -> Option<String> {
    match error.kind() {
        ErrorKind::UnknownArgument => Some(unknown(error)),
        ErrorKind::InvalidValue => Some(invalid(error)),
        ErrorKind::ValueValidation => Some(refused(error)),
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg);
            let missing: Vec<String> = missing.iter().map(|it| plain(it)).collect();
            Some(format!("missing {}", listed(&missing, "and")))
        }
        ErrorKind::ArgumentConflict => {
            let others = texts(error, ContextKind::PriorArg);
            let given = name(&text(error, ContextKind::InvalidArg)?);
            let others: Vec<String> = others.iter().map(|other| name(other)).collect();
            Some(if others.iter().all(|other| *other == given) {
                format!("{given} is given more than once")
            } else {
                format!("{given} does not go with {}", listed(&others, "or"))
            })
        }
        ErrorKind::TooManyValues => {
            let value = text(error, ContextKind::InvalidValue)?;
            let option = name(&text(error, ContextKind::InvalidArg)?);
            Some(format!("{option} takes no value: found {value:?}"))
        }
        ErrorKind::InvalidSubcommand => {
            let given = text(error, ContextKind::InvalidSubcommand)?;
            let near = texts(error, ContextKind::SuggestedSubcommand);
            let near = near
                .iter()
                .min_by_key(|near| strsim::damerau_levenshtein(&given, near));
            if given.contains(',') {
                return Some(format!(
                    "{given:?}: expected one metric; only `metric score` takes several"
                ));
            }
            Some(format!("unknown command {given:?}{}", meant(near)))
        }
        ErrorKind::MissingSubcommand => {
            Some("expected the name of a metric; `metric list` lists all metrics".to_owned())
        }
        _ => None,
    }
}

/// An option that the command does not have.
fn unknown(error: &Error) -> String {
    let given = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let word = given.trim_start_matches('-').replace('_', "-");
    let same = SAME.iter().find(|(words, _)| words.contains(&&*word));
    let near = text(error, ContextKind::SuggestedArg).map(|near| name(&near));
    let near = near.filter(|near| is_near(&word, near.trim_start_matches('-')));
    let option = same.map(|(_, option)| format!("--{option}")).or(near);
    let what = if given.starts_with('-') {
        "option"
    } else {
        "argument"
    };
    format!("unknown {what} {given:?}{}", meant(option.as_ref()))
}

/// Whether one is a misspelling of the other, or its beginning.
fn is_near(given: &str, option: &str) -> bool {
    let edits = strsim::damerau_levenshtein(given, option);
    edits <= 1 + option.chars().count() / 4 || (given.len() >= 4 && option.starts_with(given))
}

/// A value that is missing or not among those that an option has.
fn invalid(error: &Error) -> String {
    let given = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let choices = texts(error, ContextKind::ValidValue);
    let option = name(&given);
    let expected = match choices.as_slice() {
        [] => String::new(),
        choices => format!("expected {}", listed(choices, "or")),
    };
    if value.is_empty() {
        let what = given.split_once(' ').map_or("", |(_, what)| what);
        let expected = if expected.is_empty() {
            format!("expected {}", plain(what))
        } else {
            expected
        };
        return format!("{option} has no value: {expected}");
    }
    let near = text(error, ContextKind::SuggestedValue);
    format!(
        "invalid value {value:?} for {option}: {expected}{}",
        meant(near.as_ref())
    )
}

/// A value that the parser of an option refuses.
fn refused(error: &Error) -> String {
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let option = name(&text(error, ContextKind::InvalidArg).unwrap_or_default());
    let source = std::error::Error::source(error);
    let reason = match source {
        Some(source) if source.is::<ParseIntError>() => "expected an integer".to_owned(),
        Some(source) => reason(&source.to_string()),
        None => "expected another value".to_owned(),
    };
    format!("invalid value {value:?} for {option}: {reason}")
}

/// The reason of a parser in our words: clap says of a range that a number "is not in 1..=9".
fn reason(text: &str) -> String {
    let range = text.split_once(" is not in ");
    let ends = range.and_then(|(_, range)| range.split_once("..="));
    match ends {
        // The greatest number of a type is not a bound that anybody chose.
        Some((start, end)) if end.len() >= 5 => format!("expected an integer, {start} or more"),
        Some((start, end)) => format!("expected an integer from {start} to {end}"),
        None if text.starts_with("couldn't parse") => {
            "expected a number of bytes, such as 200MB".to_owned()
        }
        None if text == "invalid digit found in string" => "expected an integer".to_owned(),
        None => text.to_owned(),
    }
}

/// The name of an option, without its value: `--references` of `--references <FILE>...`.
fn name(argument: &str) -> String {
    plain(argument.split(' ').next().unwrap_or_default())
}

/// An argument without clap's marks: `--references FILE` of `--references <FILE>...`.
fn plain(argument: &str) -> String {
    argument.trim_end_matches("...").replace(['<', '>'], "")
}

fn meant(near: Option<&String>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

fn listed(words: &[String], last: &str) -> String {
    match words {
        [words @ .., end] if !words.is_empty() => format!("{} {last} {end}", words.join(", ")),
        words => words.concat(),
    }
}

fn text(error: &Error, kind: ContextKind) -> Option<String> {
    texts(error, kind).into_iter().next()
}

fn texts(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// How the command is used, which a line that lacks something needs.
fn usage(error: &Error) -> Option<String> {
    let lacks = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
    ];
    match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) if lacks.contains(&error.kind()) => {
            Some(format!("{usage}\n"))
        }
        _ => None,
    }
}

/// The command of a command line, with its metric: the words before the first option.
fn path(words: &[OsString]) -> String {
    const WITH_METRIC: [&str; 3] = ["score", "compare", "check"];
    let words: Vec<&str> = words.iter().skip(1).map_while(|it| it.to_str()).collect();
    let command = words.first().filter(|word| !word.starts_with('-'));
    let metric = words.get(1).filter(|word| {
        command.is_some_and(|command| WITH_METRIC.contains(command)) && !word.starts_with('-')
    });
    let mut path = vec!["metric"];
    path.extend(command);
    path.extend(metric);
    path.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_said_in_words() {
        for (text, expected) in [
            ("20 is not in 0..=17", "expected an integer from 0 to 17"),
            ("0 is not in 1..=65535", "expected an integer, 1 or more"),
            ("invalid digit found in string", "expected an integer"),
            ("expected I/N", "expected I/N"),
        ] {
            assert_eq!(reason(text), expected);
        }
    }

    #[test]
    fn an_unknown_option_is_near_what_it_misspells() {
        assert!(is_near("confidnce", "confidence"));
        assert!(is_near("conf", "confidence"));
        assert!(!is_near("refs", "references-split"));
    }
}
