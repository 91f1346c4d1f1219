//! Texts, answers, classes, grids and lanes of small files whose cost could explode.

use std::io;
use std::path::Path;

use super::Case;

/// Writes the cases into a folder.
pub(super) fn text(dir: &Path) -> io::Result<Vec<Case>> {
    let mut random = Random(1);
    let long = random.letters(20_000_000);
    let short: String = long
        .chars()
        .take(4_000)
        .collect::<Vec<_>>()
        .iter()
        .rev()
        .collect();
    let [one, other] = [1_000_000; 2].map(|length| random.letters(length));
    let near = random.edited(&one, 50);
    let words = |text: &str, count: usize| format!("[{}]", vec![quoted(text); count].join(","));
    let numbers = |count: usize| {
        format!(
            "[{}]",
            (0..count)
                .map(|n| format!("\"{n}\""))
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    let fdfa = "\u{fdfa}".repeat(1_500_000);
    let rows = [
        ("long prediction", "cer", quoted(&short), quoted(&long)),
        ("long reference", "cer", quoted(&long), quoted(&short)),
        ("unlike texts", "cer", quoted(&one), quoted(&other)),
        ("unlike texts", "wer", quoted(&one), quoted(&other)),
        ("like texts", "cer", quoted(&one), quoted(&near)),
        (
            "ligatures",
            "cer --normalize nfkd",
            quoted(&fdfa),
            quoted(&fdfa[3..]),
        ),
        (
            "many answers",
            "squad",
            words("a b c d", 20_000),
            quoted(&"x y z ".repeat(100_000)),
        ),
        (
            "many answers",
            "anls",
            words(&"abcdefghij".repeat(100), 5_000),
            quoted(&"jihgfedcba".repeat(100)),
        ),
        (
            "many answers to a long text",
            "anls",
            words("abc", 100_000),
            quoted(&"x y ".repeat(1_000_000)),
        ),
        (
            "many answers",
            "vqa --profile vqa-v2",
            numbers(300_000),
            quoted("1"),
        ),
        (
            "many numbers",
            "relaxed-accuracy",
            numbers(300_000),
            quoted(&"5x".repeat(1_000_000)),
        ),
        (
            "a long row",
            "accuracy-at-k --input scores",
            "5".to_owned(),
            format!("[{}]", vec!["0.5"; 2_000_000].join(",")),
        ),
        (
            "a wide grid",
            "arc",
            format!("[[{}]]", vec!["1"; 3_000_000].join(",")),
            "[[1]]".to_owned(),
        ),
        (
            "equal rules",
            "lanes --alignment properties",
            rules(5_000, 1),
            rules(5_000, 1),
        ),
        ("unlike rules", "lanes", rules(5_000, 1), rules(5_000, 2)),
        (
            "long lanes",
            "openlane",
            lane(100_000, 0, ""),
            lane(100_000, 1, ",\"confidence\":0.5"),
        ),
    ];
    let mut cases = Vec::new();
    for (number, (name, words, reference, prediction)) in rows.into_iter().enumerate() {
        let path = dir.join(format!("text-{number}.jsonl"));
        let field = if reference.starts_with("[\"") {
            "references"
        } else {
            "reference"
        };
        std::fs::write(
            &path,
            format!("{{\"id\":\"a/0\",\"{field}\":{reference},\"prediction\":{prediction}}}\n"),
        )?;
        let path = path.display().to_string();
        let args = ["score"]
            .into_iter()
            .chain(words.split(' '))
            .chain(["--pairs", &path]);
        cases.push(Case::of_files(
            format!("text/{name}: {words}"),
            args.map(str::to_owned).collect(),
        ));
    }
    Ok(cases)
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// Traffic rules that say the same, on this lane.
fn rules(count: usize, lane: u32) -> String {
    let rule = |id: usize| {
        format!("\"r{id}\":{{\"attr_info\":{{\"LaneType\":\"BusLane\"}},\"centerline\":[{lane}]}}")
    };
    format!("{{{}}}", (0..count).map(rule).collect::<Vec<_>>().join(","))
}

/// A frame of one lane.
fn lane(points: usize, beside: u32, more: &str) -> String {
    let point = |step: usize| format!("[{},{beside},0]", step as f64 * 0.001);
    let points = (0..points).map(point).collect::<Vec<_>>().join(",");
    format!(
        "{{\"lane_centerline\":[{{\"id\":0,\"points\":[{points}]{more}}}],\"traffic_element\":[],\"topology_lclc\":[[0]],\"topology_lcte\":[[]]}}"
    )
}

/// The same letters on each run (xorshift64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn letter(&mut self) -> char {
        let letters = b"abcdefghijklmnopqrstuvwxyz      ";
        char::from(letters[self.next() as usize % letters.len()])
    }

    fn letters(&mut self, count: usize) -> String {
        (0..count).map(|_| self.letter()).collect()
    }

    /// The text with one of so many letters replaced.
    fn edited(&mut self, text: &str, one_of: u64) -> String {
        let edited = |letter: char| match self.next() % one_of {
            0 => self.letter(),
            _ => letter,
        };
        text.chars().map(edited).collect()
    }
}
