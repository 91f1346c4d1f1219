//! Folders and patterns of text files, one file per page, which are joined by name before their lines are.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use metric_record::{NAMED_IDS, ReadError};
use unicode_normalization::UnicodeNormalization as _;

use super::{Source, cannot_read};
use crate::RunError;
use crate::words::counted;

/// How pages are joined, for messages.
const RULE: &str = "pages are joined by file name, then line by line";

/// Orders the pages of two folders or patterns alike, and checks that both sides have the same pages with as many lines.
/// Other sources stay what they are.
pub(crate) fn joined(references: Source, predictions: Source) -> Result<[Source; 2], RunError> {
    let sides = [&references, &predictions];
    if !sides.iter().all(|source| source.has_pages()) {
        return Ok([references, predictions]);
    }
    let [expected, found] = sides.map(Source::files);
    let [expected_keys, found_keys] = keys([&expected, &found]);
    refuse_repeated(&expected_keys, &expected)?;
    refuse_repeated(&found_keys, &found)?;
    let mut by_key: BTreeMap<String, Source> = found_keys.into_iter().zip(found).collect();
    let mut missing = Vec::new();
    let mut ordered = Vec::new();
    for (key, reference) in expected_keys.iter().zip(&expected) {
        match by_key.remove(key) {
            Some(prediction) => ordered.push((reference, prediction)),
            None => missing.push(reference.name()),
        }
    }
    refuse_alone(&missing, &predictions.name())?;
    let extra: Vec<String> = by_key.values().map(Source::name).collect();
    refuse_alone(&extra, &references.name())?;
    for (reference, prediction) in &ordered {
        let [expected, found] = [lines(reference)?, lines(prediction)?];
        if expected != found {
            let problem = format!(
                "has {}: expected {expected}, as in {} ({RULE})",
                counted(found, "line"),
                reference.name()
            );
            return Err(ReadError::new(prediction.name(), problem).into());
        }
    }
    let files = ordered.into_iter().map(|(_, prediction)| prediction);
    let sorted = Source {
        is_stated: predictions.is_stated,
        csv: predictions.csv,
        encoding: predictions.encoding,
        ..Source::several(predictions.name(), files.collect())
    };
    Ok([references, sorted])
}

/// Refuses two files of a side that are the same page, such as one of them compressed.
fn refuse_repeated(keys: &[String], files: &[Source]) -> Result<(), RunError> {
    let mut pages = BTreeMap::new();
    for (key, file) in keys.iter().zip(files) {
        if let Some(other) = pages.insert(key, file) {
            let other = other.name();
            let problem =
                format!("is the same page as {other}: expected one file per page ({RULE})");
            return Err(ReadError::new(file.name(), problem).into());
        }
    }
    Ok(())
}

/// Refuses pages that the other side does not have.
fn refuse_alone(pages: &[String], other: &str) -> Result<(), RunError> {
    let Some(first) = pages.first() else {
        return Ok(());
    };
    let more = match pages.len() {
        1 => String::new(),
        count => {
            let named = pages[1..].iter().take(NAMED_IDS - 1).cloned();
            let named: Vec<String> = named.collect();
            let rest = if count > NAMED_IDS { ", ..." } else { "" };
            format!(", like {} more: {}{rest}", count - 1, named.join(", "))
        }
    };
    let problem = format!("has no counterpart in {other} ({RULE}){more}");
    Err(ReadError::new(first, problem).into())
}

/// What names a page on both sides: the name of its file, or the part of it that differs between the files of a side,
/// by the rule that joins most pages. One file and one file are a page in any case.
fn keys(sides: [&[Source]; 2]) -> [Vec<String>; 2] {
    let paths = sides.map(relative_paths);
    if let [[expected], [_]] = [&*paths[0], &*paths[1]] {
        return [vec![expected.clone()], vec![expected.clone()]];
    }
    type Rule = fn(&[String]) -> Vec<String>;
    let rules: [Rule; 3] = [
        <[String]>::to_vec,
        without_common_endings,
        without_common_ends,
    ];
    let mut most = 0;
    let mut chosen = paths.clone();
    for rule in rules {
        let [expected, found] = [&paths[0], &paths[1]].map(|paths| rule(paths));
        let of_found: HashSet<&String> = found.iter().collect();
        let joined = expected.iter().filter(|key| of_found.contains(key)).count();
        if joined > most {
            most = joined;
            chosen = [expected, found];
        }
    }
    chosen
}

/// The paths of files, without the folder that they share and the ending of a compressed file. Some systems decompose the
/// characters of names (`é` is `e` and an accent), so all paths are composed.
fn relative_paths(files: &[Source]) -> Vec<String> {
    let names: Vec<String> = files.iter().map(Source::name).collect();
    let folders = names.iter().map(|name| Path::new(name).parent());
    let shared = folders.reduce(|shared, folder| {
        let shared = shared?;
        shared
            .ancestors()
            .find(|part| folder.is_some_and(|it| it.starts_with(part)))
    });
    let relative = |name: &String| {
        let path = Path::new(name);
        let shared = shared.flatten().unwrap_or(Path::new(""));
        let path = path
            .strip_prefix(shared)
            .unwrap_or(path)
            .display()
            .to_string();
        let plain = path.strip_suffix(".gz").or(path.strip_suffix(".zst"));
        plain.unwrap_or(&path).nfc().collect()
    };
    names.iter().map(relative).collect()
}

/// Names without the endings that all have, such as `.gt.txt`.
fn without_common_endings(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    loop {
        let ending = |name: &String| {
            name.rfind('.')
                .filter(|dot| *dot > 0)
                .map(|dot| name[dot..].to_owned())
        };
        let first = names.first().and_then(ending);
        if first.is_none() || !names.iter().all(|name| ending(name) == first) {
            return names;
        }
        let cut = first.map_or(0, |ending| ending.len());
        names
            .iter_mut()
            .for_each(|name| name.truncate(name.len() - cut));
    }
}

/// Names without the start and the end that all have, except for digits.
fn without_common_ends(names: &[String]) -> Vec<String> {
    let names = without_common_endings(names);
    let shared = |of: &dyn Fn(&str) -> String| {
        let mut all = names.iter().map(|name| of(name));
        let first = all.next().unwrap_or_default();
        all.fold(first, |shared, name| {
            let same = shared.chars().zip(name.chars()).take_while(|(a, b)| a == b);
            same.map(|(char, _)| char).collect()
        })
    };
    let is_digit = |char: char| char.is_ascii_digit();
    let start = shared(&|name| name.to_owned());
    let start = start.trim_end_matches(is_digit).len();
    let end = shared(&|name| name[start..].chars().rev().collect());
    let end = end.trim_end_matches(is_digit).len();
    let middle = |name: &String| name[start..name.len() - end].to_owned();
    names.iter().map(middle).collect()
}

/// The number of lines of a file.
fn lines(source: &Source) -> Result<u64, RunError> {
    let mut stream = source.stream(Arc::default())?;
    let mut buffer = vec![0; 1 << 16];
    let (mut count, mut last) = (0, b'\n');
    loop {
        let read = stream.read(&mut buffer);
        let bytes = read.map_err(|error| cannot_read(&source.name(), &error))?;
        let Some(end) = buffer[..bytes].last() else {
            return Ok(count + u64::from(last != b'\n'));
        };
        count += memchr::memchr_iter(b'\n', &buffer[..bytes]).count() as u64;
        last = *end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;

    #[test]
    fn a_page_and_its_compressed_copy_are_refused() {
        let side = |names: &[&str]| {
            let file = |name: &&str| Source::memory(*name, *b"a\n", Format::Text);
            Source::found("folder".to_owned(), names.iter().map(file).collect())
        };
        for (references, predictions) in [
            (vec!["r/a.txt"], vec!["p/a.txt", "p/a.txt.gz"]),
            (vec!["r/a.txt", "r/a.txt.gz"], vec!["p/a.txt", "p/b.txt"]),
        ] {
            let error = joined(side(&references), side(&predictions)).unwrap_err();
            assert!(
                error.to_string().contains("a.txt.gz: is the same page as"),
                "{error}"
            );
        }
    }

    #[test]
    fn pages_are_named_alike_on_both_sides() {
        type Names<'a> = &'a [&'a str];
        let rows: &[[Names<'_>; 4]] = &[
            [
                &["t/a.txt", "t/b.txt"],
                &["r/b.txt", "r/a.txt"],
                &["a.txt", "b.txt"],
                &["b.txt", "a.txt"],
            ],
            [
                &["x/k1.gt.txt", "x/k2.gt.txt"],
                &["x/k2.out.txt"],
                &["k1", "k2"],
                &["k2"],
            ],
            [
                &["p.1.txt", "p.2.txt"],
                &["o/p.1.txt.gz", "o/p.3.txt"],
                &["p.1.txt", "p.2.txt"],
                &["p.1.txt", "p.3.txt"],
            ],
            [
                &["gt-01.txt", "gt-02.txt"],
                &["out-01.txt", "out-02.txt", "out-12.txt"],
                &["01", "02"],
                &["01", "02", "12"],
            ],
            [
                &["t/a/1.txt", "t/b/1.txt"],
                &["r/a/1.txt", "r/b/1.txt"],
                &["a/1.txt", "b/1.txt"],
                &["a/1.txt", "b/1.txt"],
            ],
            [
                &["t/2019.txt"],
                &["r/model3.txt"],
                &["2019.txt"],
                &["2019.txt"],
            ],
            [
                &["a-1.gt", "a-2.gt", "1"],
                &["b-1.out", "b-2.out", "1"],
                &["a-1.gt", "a-2.gt", "1"],
                &["b-1.out", "b-2.out", "1"],
            ],
            [
                &["t/caf\u{e9}.txt", "t/b.txt"],
                &["r/b.txt", "r/cafe\u{301}.txt"],
                &["caf\u{e9}.txt", "b.txt"],
                &["b.txt", "caf\u{e9}.txt"],
            ],
            [
                &["a.txt", "b.txt"],
                &["c.txt", "d.txt"],
                &["a.txt", "b.txt"],
                &["c.txt", "d.txt"],
            ],
        ];
        for [references, predictions, expected, found] in rows {
            let side = |names: &[&str]| {
                let file = |name: &&str| Source::memory(*name, *b"", Format::Text);
                names.iter().map(file).collect::<Vec<_>>()
            };
            let keys = keys([&side(references), &side(predictions)]);
            assert_eq!(keys, [*expected, *found], "{references:?} {predictions:?}");
        }
    }
}
