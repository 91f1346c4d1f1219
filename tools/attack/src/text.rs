//! Texts, answers, classes, grids, lanes and ids of small files whose cost could explode.

use std::fs;

use super::Case;
use super::random::Random;

/// A name, arguments, and a reference and a prediction as JSON.
type Row = (&'static str, &'static str, fn() -> [String; 2]);

const ROWS: &[Row] = &[
    ("long prediction", "cer", || long_and_short(false)),
    ("long prediction", "wer", || long_and_short(false)),
    ("long reference", "cer", || {
        let [reference, prediction] = long_and_short(false);
        [prediction, reference]
    }),
    ("long prediction of other letters", "cer", || {
        long_and_short(true)
    }),
    ("unlike texts", "cer", || unlike(1_000_000)),
    ("unlike texts", "wer", || unlike(1_000_000)),
    ("unlike texts", "anls", || unlike(1_000_000)),
    ("longer unlike texts", "cer", || unlike(10_000_000)),
    ("unlike texts of few letters", "cer", || {
        [5, 6].map(|seed| quoted(&letters(&mut Random::new(seed), b"acgt", 1_000_000)))
    }),
    ("other order", "cer", || {
        let sorted = ["a", "b"].map(|letter| letter.repeat(500_000)).concat();
        [quoted(&"ab".repeat(500_000)), quoted(&sorted)]
    }),
    ("like texts", "cer", || {
        let text = letters(&mut Random::new(1), LETTERS, 1_000_000);
        [quoted(&text), quoted(&edited(&text, 50))]
    }),
    ("ligatures", "cer --normalize nfkd", || {
        let text = "\u{fdfa}".repeat(1_500_000);
        [quoted(&text), quoted(&text[3..])]
    }),
    ("many answers", "squad", || {
        [many("a b c d", 20_000), quoted(&"x y z ".repeat(100_000))]
    }),
    ("many answers", "anls", || {
        let answers = many(&"abcdefghij".repeat(100), 5_000);
        [answers, quoted(&"jihgfedcba".repeat(100))]
    }),
    ("many answers to a long text", "anls", || {
        [many("abc", 100_000), quoted(&"x y ".repeat(1_000_000))]
    }),
    ("many answers", "vqa --profile vqa-v2", || {
        [numbers(300_000), quoted("1")]
    }),
    ("many numbers", "relaxed-accuracy", || {
        [numbers(300_000), quoted(&"5x".repeat(1_000_000))]
    }),
    ("a long row", "accuracy-at-k --input scores", || {
        let row = vec!["0.5"; 2_000_000].join(",");
        ["5".to_owned(), format!("[{row}]")]
    }),
    ("a wide grid", "arc", || {
        let row = vec!["1"; 3_000_000].join(",");
        [format!("[[{row}]]"), "[[1]]".to_owned()]
    }),
    ("equal rules", "lanes --alignment properties", || {
        [rules(5_000, 1), rules(5_000, 1)]
    }),
    ("unlike rules", "lanes", || {
        [rules(5_000, 1), rules(5_000, 2)]
    }),
    ("many speakers", "cpwer", || speakers(100_000, 1)),
    ("as many speakers as are paired", "cpwer", || {
        speakers(1_000, 1)
    }),
    ("a long stream", "cpwer", || speakers(1, 1_000_000)),
    ("a long stream", "cpwer --collar 5", || {
        speakers(1, 1_000_000)
    }),
    ("long streams", "orcwer", || speakers(9, 50)),
    ("long streams", "orcwer --collar 100000", || speakers(9, 50)),
    ("long streams", "orcwer --search greedy", || {
        speakers(9, 5_000)
    }),
    ("many speakers", "dicpwer", || speakers(2_000, 1)),
    ("segments without words", "orcwer", || {
        speakers(1_000_000, 0)
    }),
    ("long lanes", "openlane", || {
        let found = lane(100_000, 1, ",\"confidence\":0.5");
        [lane(100_000, 0, ""), found]
    }),
];

/// All cases: a record each, and many ids.
pub(super) fn cases() -> Vec<Case> {
    let of_row = |&(name, words, write): &Row| {
        let words = format!("score {words} --pairs pairs.jsonl");
        Case::new(format!("text/{name}/{words}"), &words, move |folder| {
            let [reference, prediction] = write();
            let field = if reference.starts_with("[\"") {
                "references"
            } else {
                "reference"
            };
            let record =
                format!("{{\"id\":\"a/0\",\"{field}\":{reference},\"prediction\":{prediction}}}\n");
            fs::write(folder.join("pairs.jsonl"), record)
        })
    };
    ROWS.iter().map(of_row).chain(ids()).collect()
}

/// Ids that are many, long, or in another order than on the other side.
fn ids() -> impl Iterator<Item = Case> {
    type Id = fn(usize) -> String;
    let kinds: [(&str, usize, Id); 3] = [
        ("many", 500_000, |index| index.to_string()),
        ("long", 2_000, |index| {
            format!("{}{index}", "x".repeat(50_000))
        }),
        ("repeated", 500_000, |index| (index % 9).to_string()),
    ];
    kinds.into_iter().map(|(name, count, id)| {
        let words = "score exact-match -r r.jsonl -p p.jsonl";
        Case::new(format!("ids/{name}"), words, move |folder| {
            let lines = |field: &str, order: &mut dyn Iterator<Item = usize>| -> String {
                let line = |index| format!("{{\"id\":{},\"{field}\":\"x\"}}\n", quoted(&id(index)));
                order.map(line).collect()
            };
            fs::write(folder.join("r.jsonl"), lines("reference", &mut (0..count)))?;
            let reversed = lines("prediction", &mut (0..count).rev());
            fs::write(folder.join("p.jsonl"), reversed)
        })
    })
}

/// Few letters, and very many of the same ones or of other ones.
fn long_and_short(others: bool) -> [String; 2] {
    let long = letters(&mut Random::new(1), LETTERS, 20_000_000);
    let short = letters(&mut Random::new(2), LETTERS, 3_999);
    // In the other order the last one would come first.
    let short = if others { format!("Z{short}") } else { short };
    let long = if others { format!("{long}Z") } else { long };
    [quoted(&short), quoted(&long)]
}

/// Two sessions of so many speakers, with a segment of so many words each.
fn speakers(count: usize, words: usize) -> [String; 2] {
    [5, 6].map(|seed| {
        let mut random = Random::new(seed);
        let segments = (0..count).map(|index| {
            let words = letters(&mut random, b"abc", words);
            let words: Vec<String> = words.chars().map(String::from).collect();
            let words = words.join(" ");
            format!(
                "{{\"speaker\":{index},\"start\":{index},\"end\":{},\"words\":\"{words}\"}}",
                index + 2
            )
        });
        format!("[{}]", segments.collect::<Vec<_>>().join(","))
    })
}

/// Two texts of as many letters.
fn unlike(count: usize) -> [String; 2] {
    [1, 2].map(|seed| quoted(&letters(&mut Random::new(seed), LETTERS, count)))
}

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz      ";

fn letters(random: &mut Random, letters: &[u8], count: usize) -> String {
    let letter = |_| char::from(letters[random.index(letters.len())]);
    (0..count).map(letter).collect()
}

/// The text with one of this many letters replaced.
fn edited(text: &str, one_of: usize) -> String {
    let mut random = Random::new(3);
    let edited = |letter: char| match random.index(one_of) {
        0 => char::from(LETTERS[random.index(LETTERS.len())]),
        _ => letter,
    };
    text.chars().map(edited).collect()
}

fn many(text: &str, count: usize) -> String {
    format!("[{}]", vec![quoted(text); count].join(","))
}

fn numbers(count: usize) -> String {
    let numbers: Vec<_> = (0..count).map(|number| format!("\"{number}\"")).collect();
    format!("[{}]", numbers.join(","))
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
