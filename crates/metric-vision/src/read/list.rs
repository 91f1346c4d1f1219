//! Records of a JSON list, read without a tree of values and on several threads.

use metric_record::json::scan::{Keys, Scanner};
use metric_record::{Kind, json};
use serde::Deserialize;
use serde_json::Deserializer;

use crate::parallel;

/// A record of a list.
pub(super) trait Item<'a>: Deserialize<'a> {
    /// The keys of its fields.
    const KEYS: &'static [&'static str] = &[];

    /// Tests whether a value is what belongs to one of the keys.
    fn test(_key: &str, _value: &'a str) -> Result<(), serde_json::Error> {
        Ok(())
    }

    /// Takes a record in the shape that nearly all programs write. It is the one that serde gives, or `None`.
    fn scan(_scanner: &mut Scanner<'a>, _keys: &mut Keys) -> Option<Self> {
        None
    }
}

/// Sets a field of a record that is scanned, or returns `None` if it is set already.
pub(super) fn set<T>(field: &mut Option<T>, value: Option<T>) -> Option<()> {
    field.replace(value?).is_none().then_some(())
}

/// Reads each record of a JSON list and gives it to `take`, which puts it into what is kept of its
/// part of the list; the parts are in the order of the list. `take` also gets the index of the record
/// in its part, and each part comes with the index of its first record in the list.
///
/// `skip` is given the text starting at each record. It returns the length of the record to skip it; the record is
/// still counted.
///
/// With the feature `rayon` a long list is one part for each thread of the pool that this is called
/// in, otherwise all of it is one part.
///
/// # Errors
///
/// Returns an error if the text is not a list, or for the first record that cannot be read or that `take` refuses.
pub(super) fn records<'a, R, Kept, E>(
    json: &'a str,
    skip: impl Fn(&mut Kept, &'a str) -> Option<usize> + Sync,
    take: impl Fn(&mut Kept, usize, R) -> Result<(), E> + Sync,
) -> Result<Vec<(usize, Kept)>, ListError<E>>
where
    R: Item<'a>,
    Kept: Default + Send,
    E: Send,
{
    let rest = trimmed(json).strip_prefix('[').ok_or(ListError::NoList)?;
    let Some(inside) = rest.strip_suffix(']') else {
        // Cut off somewhere, or with something behind the list.
        let records = read_part(rest, &mut Kept::default(), &skip, &take)?;
        return Err(ListError::NoEnd { records });
    };
    let read = |part: &'a str| {
        let mut kept = Kept::default();
        read_part(part, &mut kept, &skip, &take).map(|count| (count, kept))
    };
    let parts = divided(inside, parallel::threads());
    if parts.len() > 1 {
        let kept = parallel::map(parts.len(), |part| read(parts[part]));
        // Where a part is wrong, the division may be: all is read from the start then.
        if let Ok(kept) = kept.into_iter().collect() {
            return Ok(with_starts(kept));
        }
    }
    Ok(with_starts(vec![read(inside)?]))
}

/// Replaces the number of records of each part by the index of its first record in the list.
fn with_starts<Kept>(mut parts: Vec<(usize, Kept)>) -> Vec<(usize, Kept)> {
    let mut start = 0;
    for (count, _) in &mut parts {
        let end = start + *count;
        *count = start;
        start = end;
    }
    parts
}

/// Reads the value that a text starts with, and where it ends.
pub(super) fn first<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(T, usize)> {
    let mut values = Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// The reason why a list cannot be read.
#[derive(Debug)]
pub(super) enum ListError<E> {
    /// The text is not a list.
    NoList,
    /// The list does not end after this many records.
    NoEnd { records: usize },
    /// The item at this index is not an object.
    NoObject { position: usize, found: Kind },
    /// The item at this index is not such a record.
    Malformed {
        /// The position of the record, from 0.
        position: usize,
        /// Its start, in bytes after the opening bracket.
        start: usize,
        error: serde_json::Error,
    },
    /// The record at this index is followed by something other than a comma.
    NoComma { position: usize },
    /// The record at this position was refused.
    Refused { position: usize, error: E },
}

/// The text without the white space of JSON around it.
pub(super) fn trimmed(json: &str) -> &str {
    json.trim_matches([' ', '\t', '\n', '\r'])
}

/// Reads `{...}, {...}, ...`, and counts them.
pub(super) fn read_part<'a, R: Item<'a>, Kept, E>(
    part: &'a str,
    kept: &mut Kept,
    skip: impl Fn(&mut Kept, &'a str) -> Option<usize>,
    take: impl Fn(&mut Kept, usize, R) -> Result<(), E>,
) -> Result<usize, ListError<E>> {
    let mut rest = part;
    let mut keys = Keys::new(R::KEYS);
    for position in 0_usize.. {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        match (rest.is_empty(), position.checked_sub(1)) {
            (true, None) => return Ok(0),
            (true, Some(position)) => return Err(ListError::NoComma { position }),
            _ => {}
        }
        // A record can be a list for serde, of its fields in their order; not here.
        match json::kind(rest) {
            Kind::Object | Kind::Invalid => {}
            found => return Err(ListError::NoObject { position, found }),
        }
        let start = part.len() - rest.len();
        let mut refuse = |error| Err(ListError::Refused { position, error });
        let mut scanner = Scanner::new(rest);
        let length = if let Some(length) = skip(kept, rest) {
            length
        } else if let Some(record) = R::scan(&mut scanner, &mut keys) {
            take(kept, position, record).or_else(&mut refuse)?;
            scanner.at()
        } else {
            let mut values = Deserializer::from_str(rest).into_iter::<R>();
            match values.next() {
                None => return Err(ListError::NoComma { position }),
                Some(Err(error)) => {
                    return Err(ListError::Malformed {
                        position,
                        start,
                        error,
                    });
                }
                Some(Ok(record)) => take(kept, position, record).or_else(&mut refuse)?,
            }
            values.byte_offset()
        };
        rest = rest[length..].trim_start_matches([' ', '\t', '\n', '\r']);
        rest = match rest.strip_prefix(',') {
            Some(rest) => rest,
            None if rest.is_empty() => return Ok(position + 1),
            None => return Err(ListError::NoComma { position }),
        };
    }
    Ok(0)
}

/// The text in about equal parts that each end where an object seems to.
///
/// Where the first part turns out to be whole records, the comma after it does separate records, and
/// so on from part to part: records read from all of the parts are those of the list.
fn divided(text: &str, parts: usize) -> Vec<&str> {
    /// Less than this is not worth a thread.
    const SMALL: usize = 1 << 17;
    let size = (text.len() / parts.max(1)).max(SMALL);
    let mut divided = Vec::new();
    let mut rest = text;
    while rest.len() >= 2 * size {
        let Some((part, others)) = divided_at(rest, size) else {
            break;
        };
        divided.push(part);
        rest = others;
    }
    divided.push(rest);
    divided
}

/// The text before and after the first comma between two objects, starting at `start`.
fn divided_at(text: &str, start: usize) -> Option<(&str, &str)> {
    let commas = text.bytes().enumerate().skip(start);
    for (comma, _) in commas.filter(|&(_, byte)| byte == b',') {
        // A comma is a character of its own in UTF-8.
        let (before, after) = (&text[..comma], &text[comma + 1..]);
        if before.trim_ascii_end().ends_with('}') && after.trim_ascii_start().starts_with('{') {
            return Some((before, after));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Counted {
        n: usize,
    }

    impl Item<'_> for Counted {}

    fn numbers(json: &str) -> Result<Vec<usize>, String> {
        let take = |kept: &mut Vec<usize>, _: usize, item: Counted| match item.n {
            13 => Err("unlucky"),
            n => {
                kept.push(n);
                Ok(())
            }
        };
        match records(json, |_, _| None, take) {
            Ok(parts) => Ok(parts.into_iter().flat_map(|(_, part)| part).collect()),
            Err(ListError::NoList) => Err("no list".to_owned()),
            Err(ListError::NoEnd { records }) => Err(format!("no end after {records}")),
            Err(ListError::NoObject { position, found }) => Err(format!("{position} is {found}")),
            Err(ListError::Malformed {
                position, start, ..
            }) => Err(format!("{position} at {start}")),
            Err(ListError::NoComma { position }) => Err(format!("no comma after {position}")),
            Err(ListError::Refused { position, error }) => Err(format!("{position}: {error}")),
        }
    }

    #[test]
    fn lists() {
        for (json, expected) in [
            ("[]", Ok(vec![])),
            (" [ ] ", Ok(vec![])),
            ("[1]", Ok(vec![1])),
            ("\n[1 ,2,\t3]\n", Ok(vec![1, 2, 3])),
            ("", Err("no list")),
            ("7", Err("no list")),
            ("[1", Err("no end after 1")),
            ("[1,", Err("no comma after 0")),
            ("[1,2] ;", Err("no comma after 1")),
            ("[1,]", Err("no comma after 0")),
            ("[,1]", Err("0 at 0")),
            ("[1 2]", Err("no comma after 0")),
            ("[1]]", Err("no comma after 0")),
            ("[1]\u{c}", Err("no comma after 0")),
            ("[1,[2]]", Err("1 is a list")),
            ("[null]", Err("0 is null")),
            ("[1,\"2\"]", Err("1 is a string")),
            ("[1,{]", Err("1 at 8")),
            ("[1,13]", Err("1: unlucky")),
        ] {
            // A number stands for an object with it, except for 0 in `[[`.
            let json: String = json
                .split_inclusive(|c: char| !c.is_ascii_digit())
                .map(|part| {
                    let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
                    match digits {
                        "" => part.to_owned(),
                        digits => part.replacen(digits, &format!("{{\"n\":{digits}}}"), 1),
                    }
                })
                .collect();
            let expected = expected.map_err(str::to_owned);
            assert_eq!(numbers(&json), expected, "{json}");
        }
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn a_list_in_parts_is_the_list() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .expect("threads");
        // Text and lists inside a record that look like the end of one.
        for extra in ["\"},{\"", "[{},{}]", "{\"a\":[{\"n\":\"x\"} , {}]}"] {
            let items: Vec<String> = (0..30_000)
                .map(|n| format!("{{\"extra\":{extra},\"n\":{n}}}"))
                .collect();
            let json = format!("[{}]", items.join(" ,\n"));
            assert!(divided(&json, 3).len() > 1);
            let take = |kept: &mut Vec<(usize, usize)>, index: usize, item: Counted| {
                kept.push((index, item.n));
                Ok::<(), ()>(())
            };
            // Half of the records are skipped.
            let skip = |_: &mut Vec<(usize, usize)>, rest| {
                let (item, length) = first::<Counted>(rest)?;
                (item.n % 2 == 1).then_some(length)
            };
            let parts = pool.install(|| records(&json, skip, take)).expect("a list");
            let read = parts.into_iter().flat_map(|(start, part)| {
                let in_list = move |(index, n)| (start + index, n);
                part.into_iter().map(in_list)
            });
            assert!(read.eq((0..30_000).step_by(2).map(|n| (n, n))));
        }
    }
}
