//! Code that is made to cost its parser much.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::Case;

/// Fragments of code, one JSON string per line: those that cost most, an empty line, and the others. A case
/// repeats one, or some in turn.
const FRAGMENTS: &str = "tests/attacks/code_fragments.txt";

/// The languages, with some valid code.
const LANGUAGES: [(&str, &str); 11] = [
    ("c", "int half(int x) { return x / 2; }\n"),
    ("cpp", "int half(int x) { return x / 2; }\n"),
    ("c_sharp", "class A { int Half(int x) { return x / 2; } }\n"),
    ("go", "package a\nfunc half(x int) int { return x / 2 }\n"),
    ("java", "class A { int half(int x) { return x / 2; } }\n"),
    ("javascript", "function half(x) { return x / 2; }\n"),
    ("php", "<?php\nfunction half($x) { return $x / 2; }\n"),
    ("python", "def half(x):\n    return x / 2\n"),
    ("ruby", "def half(x)\n  x / 2\nend\n"),
    ("rust", "fn half(x: i32) -> i32 { x / 2 }\n"),
    ("typescript", "function half(x: number) { return x / 2; }\n"),
];

const SIZES: [usize; 2] = [20_000, 100_000];

/// The longest text that is scored.
const LONGEST: usize = 2 << 20;

/// The way in which a text is made of fragments.
#[derive(Clone, Copy)]
enum Shape {
    /// A fragment over and over.
    Repeated,
    /// The same after valid code, which fills half of the text.
    AfterCode,
    /// Three fragments in turn.
    InTurn,
    /// A third of the text of each of three fragments.
    InARow,
}

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Self::Repeated => "repeated",
            Self::AfterCode => "after code",
            Self::InTurn => "in turn",
            Self::InARow => "in a row",
        }
    }

    fn write(self, fragments: [&str; 3], code: &str, bytes: usize) -> String {
        let [first, ..] = fragments;
        let text = match self {
            Self::Repeated => fill(first, bytes),
            Self::AfterCode => fill(code, bytes / 2) + &fill(first, bytes / 2),
            Self::InTurn => fill(&fragments.concat(), bytes),
            Self::InARow => fragments.map(|fragment| fill(fragment, bytes / 3)).concat(),
        };
        // The text that PHP reads as code.
        match code.strip_prefix("<?php") {
            Some(_) => "<?php\n".to_owned() + &text,
            None => text,
        }
    }
}

/// A text of at most this many bytes.
fn fill(fragment: &str, bytes: usize) -> String {
    fragment.repeat(bytes / fragment.len())
}

/// Profiles other than the default, which have the same syntax.
const PROFILES: [&str; 4] = ["codebleu-0.7", "fusion-brain-2021", "paper", "corrected"];

/// Fragments of code.
struct Fragments {
    /// Those that took most time or memory of their language.
    costly: Vec<String>,
    others: Vec<String>,
}

impl Fragments {
    fn read(root: &Path) -> Result<Self, String> {
        let path = root.join(FRAGMENTS);
        let problem = |error: String| format!("{}: {error}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| problem(error.to_string()))?;
        let parse = |lines: &str| -> Result<Vec<String>, String> {
            let lines = lines.lines().map(serde_json::from_str);
            let lines: Result<_, _> = lines.collect();
            lines.map_err(|error: serde_json::Error| problem(error.to_string()))
        };
        let (costly, others) = text.split_once("\n\n").ok_or_else(|| {
            problem("expected an empty line after those that cost most".to_owned())
        })?;
        Ok(Self {
            costly: parse(costly)?,
            others: parse(others)?,
        })
    }

    /// Some 70 for a language: those that cost most, and a seventh of the others, so that all are in some
    /// language.
    fn of_language(&self, language: usize) -> Vec<&str> {
        let others = self.others.iter().enumerate();
        let others = others.filter(|(at, _)| (at + language).is_multiple_of(7));
        let others = others.map(|(_, fragment)| fragment);
        self.costly
            .iter()
            .chain(others)
            .map(String::as_str)
            .collect()
    }
}

/// All cases: fragments in each language and size, mixtures of fragments, some that are as long as a text may
/// be, files with many such texts, and other profiles.
pub(super) fn cases(root: &Path) -> Result<Vec<Case>, String> {
    let fragments = Fragments::read(root)?;
    let mut cases = Vec::new();
    for (number, (language, code)) in LANGUAGES.into_iter().enumerate() {
        let chosen = fragments.of_language(number);
        let three = |at: usize| {
            // Neighbors in the list are alike: the others are from elsewhere.
            let far = |steps: usize| chosen[(at + steps) % chosen.len()].to_owned();
            [far(0), far(17), far(41)]
        };
        let mut add = |shape: Shape, at: usize, bytes: usize, side| {
            let words = words(language, "--on-limit zero");
            cases.push(one(&words, language, code, shape, three(at), bytes, side));
        };
        for at in 0..chosen.len() {
            for bytes in SIZES {
                add(Shape::Repeated, at, bytes, "prediction");
            }
            match at % 8 {
                1 => add(Shape::AfterCode, at, SIZES[1], "prediction"),
                3 => add(Shape::InTurn, at, SIZES[1], "prediction"),
                5 => add(Shape::InARow, at, SIZES[1], "prediction"),
                7 => add(Shape::Repeated, at, SIZES[1], "reference"),
                _ => {}
            }
            if at % 16 == 8 {
                add(Shape::Repeated, at, LONGEST, "prediction");
            }
        }
        for part in 0..4 {
            let some = chosen.iter().skip(part).step_by(4);
            // At 5 kB most texts still end, so that a process keeps what they leave.
            cases.push(many(language, code, part, some.copied(), 5_000));
        }
        let worst = chosen.iter().skip(number % 4).step_by(4).take(5);
        cases.push(many(language, code, 4, worst.copied(), SIZES[1]));
    }
    for at in 0..20 {
        let (language, code) = LANGUAGES[at % LANGUAGES.len()];
        let fragment = |steps: usize| {
            let costly = &fragments.costly;
            costly[(at + steps) % costly.len()].clone()
        };
        let three = [fragment(0), fragment(17), fragment(31)];
        let profile = PROFILES[at % PROFILES.len()];
        // The default rule: an error for a text beyond the limits.
        let words = words(language, &format!("--profile {profile}"));
        let case = one(
            &words,
            language,
            code,
            Shape::Repeated,
            three,
            SIZES[0],
            "prediction",
        );
        cases.push(case.named(profile));
    }
    Ok(cases)
}

/// A text that is scored against valid code, or valid code against it.
fn one(
    words: &str,
    language: &'static str,
    code: &'static str,
    shape: Shape,
    fragments: [String; 3],
    bytes: usize,
    side: &'static str,
) -> Case {
    let [first, ..] = &fragments;
    let name = format!("code/{language}/{bytes}/{side}/{}/{first:?}", shape.name());
    Case::new(name, words, move |folder| {
        let [a, b, c] = &fragments;
        let text = shape.write([a, b, c], code, bytes);
        let (prediction, reference) = match side {
            "prediction" => (&*text, code),
            _ => (code, &*text),
        };
        let line = json!({"id": "0", "prediction": prediction, "reference": reference});
        fs::write(folder.join("pairs.jsonl"), format!("{line}\n"))
    })
}

/// Many texts in a file, which are all read by one process.
fn many<'f>(
    language: &'static str,
    code: &'static str,
    part: usize,
    fragments: impl Iterator<Item = &'f str>,
    bytes: usize,
) -> Case {
    let fragments: Vec<String> = fragments.map(str::to_owned).collect();
    let name = format!("code/{language}/{bytes}/many/{part}");
    let words = words(language, "--on-limit zero");
    Case::new(name, &words, move |folder| {
        let texts = fragments.iter().enumerate();
        let lines = texts.map(|(id, fragment)| {
            let text = Shape::Repeated.write([fragment, "", ""], code, bytes);
            let line = json!({"id": id, "prediction": text, "reference": code});
            format!("{line}\n")
        });
        fs::write(folder.join("pairs.jsonl"), lines.collect::<String>())
    })
}

fn words(language: &str, options: &str) -> String {
    format!("score codebleu --lang {language} {options} --pairs pairs.jsonl")
}
