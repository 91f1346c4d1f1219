//! Cases made after public bug reports and questions: `tests/golden/reports` has a folder for each, with its files, the
//! command, and what is right. Those of the Python package are in its tests.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Folder, Run};

#[test]
#[cfg_attr(
    not(all(feature = "csv", feature = "report", feature = "transcripts")),
    ignore = "some cases are tables, transcripts and reports"
)]
fn each_case_ends_as_it_should() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/reports");
    let mut wrong = Vec::new();
    let mut cases = 0;
    for kind in folders(&root) {
        for case in folders(&kind) {
            let command = fs::read_to_string(case.join("cmd")).unwrap_or_default();
            if command.is_empty() || command.starts_with("python") {
                continue;
            }
            cases += 1;
            let problems = replay(&case, &command);
            wrong.extend(problems.map(|problem| format!("{}: {problem}", case.display())));
        }
    }
    assert!(cases >= 55, "only {cases} cases were found");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// What differs from the expectations of a case, or from each of the sets of expectations, if it has several.
fn replay(case: &Path, command: &str) -> impl Iterator<Item = String> {
    let expected = fs::read_to_string(case.join("expect.json")).expect("the expectations");
    let expected: Value = serde_json::from_str(&expected).expect("JSON");
    let folder = Folder::new(&[]);
    copy(case, &folder.path(""));
    let words = words(command);
    let words = words
        .strip_prefix(&["metric".to_owned()][..])
        .unwrap_or(&words);
    let output = folder.command("").args(words).output();
    let run = Run::new(command, output.expect("the program runs"));
    let problems = problems(&run, &folder, &expected);
    let is_right_otherwise = match &expected["or"] {
        Value::Array(sets) => sets
            .iter()
            .any(|set| self::problems(&run, &folder, set).is_empty()),
        Value::Null => false,
        set => self::problems(&run, &folder, set).is_empty(),
    };
    let problems = if is_right_otherwise {
        Vec::new()
    } else {
        problems
    };
    problems.into_iter()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else if !path.ends_with("cmd") && !path.ends_with("expect.json") {
            fs::copy(&path, &to).expect("a copy");
        }
    }
}

/// The words of a command; white space in single or double quotes does not separate them.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![None::<String>], None);
    for letter in command.trim().chars() {
        let last = words.last_mut().expect("a word");
        match quote {
            Some(open) if open == letter => quote = None,
            None if letter == '\'' || letter == '"' => {
                quote = Some(letter);
                last.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.push(None),
            _ => last.get_or_insert_default().push(letter),
        }
    }
    words.into_iter().flatten().collect()
}

fn problems(run: &Run, folder: &Folder, expected: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let codes = match &expected["exit"] {
        Value::Array(codes) => codes.clone(),
        Value::Null => vec![0.into()],
        code => vec![code.clone()],
    };
    if !codes
        .iter()
        .any(|code| code.as_i64() == run.code.map(i64::from))
    {
        problems.push(format!("exit code {:?}: {}", run.code, run.stderr));
    }
    let scores = scores(&run.stdout);
    for (name, value) in expected["scores"].as_object().into_iter().flatten() {
        let found = scores(name);
        let is_equal = match (found.as_ref().and_then(Value::as_f64), value.as_f64()) {
            (Some(found), Some(value)) => (found - value).abs() <= 1e-9 * value.abs() + 1e-12,
            _ => found.as_ref() == Some(value),
        };
        if !is_equal {
            problems.push(format!("{name}: found {found:?}, expected {value}"));
        }
    }
    let both = format!("{}{}", run.stdout, run.stderr);
    let mut check = |key: &str, text: &str, parts: &Value| {
        let is_there = !key.ends_with("lack") && !key.ends_with("lacks");
        for part in strings(parts) {
            if says(text, part) != is_there {
                problems.push(format!("{key} {part:?}: {text}"));
            }
        }
    };
    for (key, text) in [
        ("stderr_contains", &run.stderr),
        ("stdout_contains", &run.stdout),
        ("stdout_lacks", &run.stdout),
        ("lacks", &both),
    ] {
        check(key, text, &expected[key]);
    }
    for key in ["files_contain", "files_lack"] {
        for (name, parts) in expected[key].as_object().into_iter().flatten() {
            let bytes = fs::read(folder.path(name)).unwrap_or_default();
            check(key, &String::from_utf8_lossy(&bytes), parts);
        }
    }
    problems
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str)
}

/// Whether a text has one of the parts between `|`, in any case.
fn says(text: &str, parts: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = parts.split('|');
    parts.any(|part| text.contains(&part.to_lowercase()))
}

/// Looks up scores of a result in JSON or CSV, in JSON also by paths such as `counts/insertions`.
fn scores(stdout: &str) -> impl Fn(&str) -> Option<Value> {
    let json: Option<Value> = serde_json::from_str(stdout).ok();
    let mut rows = stdout
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().unwrap_or_default();
    let column = |name: &str| header.iter().position(|column| *column == name);
    let places = ["group", "score", "value"].map(column);
    let cells = rows.filter_map(|row| {
        let [group, score, value] =
            places.map(|place| place.and_then(|place| row.get(place).copied()));
        if group.is_some_and(|group| !group.is_empty()) {
            return None;
        }
        let value = value?.parse::<f64>();
        Some((score?.to_owned(), value.map_or(Value::Null, Value::from)))
    });
    let cells: Vec<(String, Value)> = cells.collect();
    move |name| match &json {
        Some(json) => {
            let score = json["scores"].get(name);
            score.or_else(|| json.pointer(&format!("/{name}"))).cloned()
        }
        None => cells
            .iter()
            .find(|(score, _)| score == name)
            .map(|(_, value)| value.clone()),
    }
}
