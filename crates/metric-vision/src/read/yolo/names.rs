//! The names of classes.

use super::yaml::Yaml;
use super::{DATA, NAMES};
use crate::read::folder::FolderFile as _;
use crate::read::{File, ReadError};
use crate::{Class, Key};

/// Whether a file may hold names of classes.
pub(super) fn is_of_names(file: &File<'_>) -> bool {
    NAMES.contains(&file.base())
}

/// The classes that a file names.
pub(super) fn class_names(file: &File<'_>) -> Result<Vec<Class>, ReadError> {
    if file.base() == DATA {
        let yaml = parse(file)?;
        return names_in_yaml(&yaml).map_err(|problem| file.error("", "names", problem));
    }
    let mut names = Vec::new();
    let lines = file.content().trim_end().lines();
    for (line, name) in (1..).zip(lines.map(str::trim)) {
        if name.is_empty() {
            let problem = "found nothing, expected the name of a class";
            let error = file.error("", "", problem.to_owned());
            return Err(error.line(line));
        }
        names.push(name.to_owned());
    }
    Ok(numbered(names))
}

/// The values of a file of YAML.
pub(super) fn parse(file: &File<'_>) -> Result<Yaml, ReadError> {
    Yaml::parse(file.content()).map_err(|(line, problem)| file.error("", "", problem).line(line))
}

/// Names as classes, with numbers from 0.
fn numbered(names: impl IntoIterator<Item = String>) -> Vec<Class> {
    let numbers = (0..).map(Key::Number);
    let classes = numbers.zip(names);
    classes.map(|(key, name)| Class::new(key, name)).collect()
}

/// The number of classes that a description may claim without naming them.
const MOST_UNNAMED: usize = 1 << 20;

/// The names in a description of a data set: a list, or a mapping from numbers, or only the number of classes.
pub(super) fn names_in_yaml(yaml: &Yaml) -> Result<Vec<Class>, String> {
    let count = yaml.get("nc").map(|count| {
        let number = count.text().and_then(|text| text.parse::<usize>().ok());
        let fits = number.filter(|number| (1..=MOST_UNNAMED).contains(number));
        fits.ok_or_else(|| format!("nc: expected a number of classes, 1 to {MOST_UNNAMED}"))
    });
    let count = count.transpose()?;
    let names: Vec<String> = match (yaml.get("names"), count) {
        (Some(Yaml::List(list)), _) => {
            let names = list.iter().enumerate().map(|(class, name)| {
                let name = name.text().filter(|name| !name.is_empty());
                name.map(str::to_owned)
                    .ok_or_else(|| format!("the name of class {class} is empty"))
            });
            names.collect::<Result<_, _>>()?
        }
        (Some(Yaml::Map(entries)), _) => in_order(entries)?,
        (Some(Yaml::Scalar(text, _)), _) => {
            return Err(format!(
                "found {text:?}, expected a list or a mapping of names"
            ));
        }
        (None, Some(count)) => (0..count).map(|class| format!("class_{class}")).collect(),
        (None, None) => Vec::new(),
    };
    if names.is_empty() {
        return Err("expected names of classes, found none".to_owned());
    }
    match count.filter(|&count| count != names.len()) {
        Some(count) => Err(format!(
            "found {} names, expected {count}, the number of classes that nc gives",
            names.len()
        )),
        None => Ok(numbered(names)),
    }
}

/// The names of a mapping from numbers, in the order of these, which are 0, 1, ....
fn in_order(entries: &[(String, Yaml)]) -> Result<Vec<String>, String> {
    let mut numbered = Vec::with_capacity(entries.len());
    for (number, name) in entries {
        let number: usize = number
            .parse()
            .map_err(|_| format!("found the class {number:?}, expected a number"))?;
        let name = name.text().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| format!("the name of class {number} is empty"))?;
        numbered.push((number, name.to_owned()));
    }
    numbered.sort();
    for (expected, (number, _)) in numbered.iter().enumerate() {
        if *number != expected {
            return Err(format!(
                "found the class {number}, expected {expected}: the numbers ascend from 0"
            ));
        }
    }
    Ok(numbered.into_iter().map(|(_, name)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_data_yaml_by_hand() {
        let rows = [
            ("names: [cat, 'dog']", Ok("cat dog")),
            (
                "# x\npath: .\nnames:\n  0: cat # the cat\n  1: \"dog\"\nnc: 2\n",
                Ok("cat dog"),
            ),
            ("names:\n- cat\n- dog\nnc: 2", Ok("cat dog")),
            ("names: {1: dog, 0: cat}", Ok("cat dog")),
            ("names: ['a, b', c]", Ok("a, b c")),
            (
                "names: {0: \"a: #1]\", 1: 'it''s'} # two",
                Ok("a: #1] it's"),
            ),
            (
                "names:\n  0: driver's seat # x\n  1: \"a # b\"\n",
                Ok("driver's seat a # b"),
            ),
            ("names: [\n  cat,\n  dog,\n]\n", Ok("cat dog")),
            ("nc: 2", Ok("class_0 class_1")),
            ("names: [cat]\nnc: 2", Err("found 1 names, expected 2")),
            ("names:\n  1: cat\n", Err("found the class 1, expected 0")),
            ("names:\n  a: cat\n", Err("expected a number")),
            ("names: [cat, '']", Err("the name of class 1 is empty")),
            ("names: [cat", Err("not YAML")),
            ("names: cat", Err("expected a list or a mapping")),
            ("names:\nval: x", Err("found none")),
            ("nc: 99999999999", Err("expected a number of classes")),
        ];
        for (text, expected) in rows {
            let file = File {
                name: "data.yaml",
                text,
            };
            let found = class_names(&file).map(|classes| {
                let names: Vec<String> = classes.into_iter().map(|class| class.name).collect();
                names.join(" ")
            });
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(found), Err(expected)) => {
                    assert!(found.to_string().contains(expected), "{found}");
                }
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
