//! The values of a YAML document.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// The depth to which lists and mappings may nest.
const DEEPEST: usize = 32;

/// A value. Aliases are refused: they would let a small file stand for a large value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Yaml {
    /// A text, and whether it is one without quotes.
    Scalar(String, bool),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

/// A list or a mapping that is not yet complete, with the key of the next value.
enum Open {
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>, Option<String>),
}

impl Yaml {
    /// Reads the first document of a text. An error has the line, counted from 1.
    pub(super) fn parse(text: &str) -> Result<Self, (u64, String)> {
        let mut open: Vec<Open> = Vec::new();
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| {
                let line = error.marker().line() as u64;
                (line, format!("not YAML: {}", error.info()))
            })?;
            let refused = |problem: &str| (span.start.line() as u64, problem.to_owned());
            let value = match event {
                Event::Scalar(text, style, ..) => {
                    Self::Scalar(text.into_owned(), style == ScalarStyle::Plain)
                }
                Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == DEEPEST => {
                    return Err(refused(
                        "nested too deeply: expected the keys of a data set",
                    ));
                }
                Event::SequenceStart(..) => {
                    open.push(Open::List(Vec::new()));
                    continue;
                }
                Event::MappingStart(..) => {
                    open.push(Open::Map(Vec::new(), None));
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                    Some(Open::List(list)) => Self::List(list),
                    Some(Open::Map(map, _)) => Self::Map(map),
                    None => continue,
                },
                Event::Alias(_) => return Err(refused("found an alias, expected a value")),
                Event::DocumentEnd => break,
                _ => continue,
            };
            match open.last_mut() {
                None => return Ok(value),
                Some(Open::List(list)) => list.push(value),
                Some(Open::Map(map, key)) => match (key.take(), value) {
                    (Some(key), value) => map.push((key, value)),
                    (None, Self::Scalar(text, _)) => *key = Some(text),
                    (None, _) => return Err(refused("found a list as a key, expected a name")),
                },
            }
        }
        Ok(Self::Map(Vec::new()))
    }

    /// The value of a key of a mapping; a value that is empty or `null` is none.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else {
            return None;
        };
        let (_, value) = entries.iter().rfind(|(found, _)| found == key)?;
        Some(value).filter(|value| !value.is_null())
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Scalar(text, true) if matches!(&**text, "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar(text, _) => Some(text),
            _ => None,
        }
    }

    /// A list, also of one value.
    pub(super) fn list(&self) -> Cow<'_, [Self]> {
        match self {
            Self::List(list) => Cow::Borrowed(list),
            other => Cow::Owned(vec![other.clone()]),
        }
    }

    /// Numbers in a list.
    pub(super) fn numbers(&self) -> Option<Vec<f64>> {
        let Self::List(list) = self else {
            return None;
        };
        list.iter()
            .map(|value| value.text()?.parse().ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_by_hand() {
        let text = "path: .\nval:\n- images/day # one\n- 'images/night'\nnames: {0: car, 1: \"a: b\"}\nempty:\n";
        let yaml = Yaml::parse(text).expect("a document");
        let texts = |yaml: &Yaml| -> Vec<String> {
            let list = yaml.list();
            let texts = list.iter().filter_map(Yaml::text);
            texts.map(str::to_owned).collect()
        };
        let of = |key| yaml.get(key).map(texts).unwrap_or_default();
        assert_eq!(of("path"), ["."]);
        assert_eq!(of("val"), ["images/day", "images/night"]);
        assert_eq!(yaml.get("empty"), None);
        assert_eq!(
            yaml.get("names").and_then(|names| names.get("1")?.text()),
            Some("a: b")
        );
        assert_eq!(Yaml::parse(""), Ok(Yaml::Map(Vec::new())));
    }

    #[test]
    fn documents_that_are_refused() {
        let deep = "[".repeat(100_000);
        for (text, expected) in [
            ("a: &x [1]\nb: *x\n", "alias"),
            (&*deep, "limit"),
            (&*"a: [".repeat(40), "nested"),
            ("a: [1\nb: 2", "not YAML"),
            ("? [a]\n: b", "as a key"),
        ] {
            let error = Yaml::parse(text).expect_err(expected);
            assert!(error.1.contains(expected), "{error:?}");
        }
    }
}
