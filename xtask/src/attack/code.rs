//! Code that is made to cost its parser much.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::Case;

/// Fragments of code, one JSON string per line. A case repeats one, or some in turn.
const FRAGMENTS: &str = "tests/attacks/code_fragments.txt";

/// The languages, with some valid code and what ends an expression in it.
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

/// What is the longest text that is scored.
const LONGEST: usize = 2 << 20;

/// How a text is made of fragments.
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
        // What PHP is to see as code.
        match code.strip_prefix("<?php") {
            Some(_) => "<?php\n".to_owned() + &text,
            None => text,
        }
    }
}

/// A text of at most so many bytes.
fn fill(fragment: &str, bytes: usize) -> String {
    fragment.repeat(bytes / fragment.len())
}

/// All cases: each fragment in each language and size, mixtures of fragments, some that are as long as a
/// text may be, and files with many such texts.
pub(super) fn cases(root: &Path) -> Result<Vec<Case>, String> {
    let path = root.join(FRAGMENTS);
    let problem = |error: String| format!("{}: {error}", path.display());
    let lines = fs::read_to_string(&path).map_err(|error| problem(error.to_string()))?;
    let fragments: Vec<String> = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(|error| problem(error.to_string()))?;
    let three = |at: usize| {
        // Neighbors in the list are alike: the others are from elsewhere.
        let far = |steps: usize| fragments[(at + steps) % fragments.len()].clone();
        [far(0), far(37), far(91)]
    };
    let mut cases = Vec::new();
    for (language, code) in LANGUAGES {
        let mut add = |shape: Shape, at: usize, bytes: usize, side| {
            cases.push(one(language, code, shape, three(at), bytes, side));
        };
        for at in 0..fragments.len() {
            for bytes in SIZES {
                add(Shape::Repeated, at, bytes, "prediction");
            }
            match at % 4 {
                0 => add(Shape::AfterCode, at, SIZES[1], "prediction"),
                1 => add(Shape::InTurn, at, SIZES[1], "prediction"),
                2 => add(Shape::InARow, at, SIZES[1], "prediction"),
                _ => add(Shape::Repeated, at, SIZES[0], "reference"),
            }
            if at % 16 == 7 {
                add(Shape::Repeated, at, LONGEST, "prediction");
            }
        }
        for (part, some) in fragments.chunks(fragments.len().div_ceil(4)).enumerate() {
            cases.push(many(language, code, part, some));
        }
    }
    Ok(cases)
}

/// A text that is scored against valid code, or valid code against it.
fn one(
    language: &'static str,
    code: &'static str,
    shape: Shape,
    fragments: [String; 3],
    bytes: usize,
    side: &'static str,
) -> Case {
    let [first, ..] = &fragments;
    let name = format!("code/{language}/{bytes}/{side}/{}/{first:?}", shape.name());
    Case::new(name, &words(language), move || {
        let [a, b, c] = &fragments;
        let text = shape.write([a, b, c], code, bytes);
        let (prediction, reference) = match side {
            "prediction" => (&*text, code),
            _ => (code, &*text),
        };
        let line = json!({"id": "0", "prediction": prediction, "reference": reference});
        format!("{line}\n")
    })
}

/// Many texts in a file, which are all read by one process.
fn many(language: &'static str, code: &'static str, part: usize, fragments: &[String]) -> Case {
    // At 5 kB most still end, so that a process keeps what they leave.
    const BYTES: usize = 5000;
    let fragments = fragments.to_vec();
    let name = format!("code/{language}/many/{part}");
    Case::new(name, &words(language), move || {
        let texts = fragments.iter().enumerate();
        let lines = texts.map(|(id, fragment)| {
            let text = Shape::Repeated.write([fragment, "", ""], code, BYTES);
            let line = json!({"id": id, "prediction": text, "reference": code});
            format!("{line}\n")
        });
        lines.collect()
    })
}

fn words(language: &str) -> [&str; 7] {
    [
        "score",
        "codebleu",
        "--lang",
        language,
        "--on-limit",
        "zero",
        "--pairs",
    ]
}
