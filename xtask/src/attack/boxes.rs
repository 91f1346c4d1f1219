//! Detections, masks and polygons of small files whose cost could explode.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use super::Case;

/// A list of boxes `[x, y, width, height]`, or of another form, as JSON.
type List = String;

/// Writes the cases into a folder.
pub(super) fn boxes(dir: &Path) -> io::Result<Vec<Case>> {
    let mut random = Random(1);
    let mut near = |count: usize, by: f64| -> Vec<[f64; 4]> {
        let one = |_| [100.0, 100.0, 50.0, 50.0].map(|at| at + random.below(2.0 * by) - by);
        (0..count).map(one).collect()
    };
    let equal = |count: usize| vec![[10.0, 10.0, 20.0, 20.0]; count];
    let items = [
        ("dense", near(1_000, 10.0), near(20_000, 10.0)),
        ("square", near(2_800, 5.0), near(2_800, 5.0)),
        ("too-dense", near(5_000, 5.0), near(5_000, 5.0)),
        ("equal", equal(100_000), equal(100_000)),
        ("equal-predictions", equal(3), equal(100_000)),
        ("equal-references", equal(100_000), equal(3)),
        ("near", near(30_000, 1.0), near(30_000, 1.0)),
    ];
    let mut cases = Vec::new();
    for (name, truths, found) in &items {
        pair(dir, name, &list(truths, ""), &list(found, "found"))?;
        for rule in ["optimal", "optimal-sum", "greedy", "voc", "voc-strict"] {
            cases.push(case(dir, name, &format!("detection --matching {rule}")));
        }
    }
    for (name, truths, found) in &items {
        coco(dir, name, truths, found)?;
        for metric in ["coco", "voc", "tide", "confusion-matrix"] {
            cases.push(coco_case(dir, name, metric));
        }
    }
    cases.append(&mut shapes(dir)?);
    cases.push(classes(dir)?);
    Ok(cases)
}

/// Shapes of which each pair is dear.
fn shapes(dir: &Path) -> io::Result<Vec<Case>> {
    let turned = |by: f64| -> List {
        let one = |turn: usize| format!("[100,100,1000,1,{}]", turn as f64 * 0.001 + by);
        joined((0..20_000).map(one))
    };
    pair(dir, "crossing", &turned(0.0), &turned(0.0005))?;
    let circle = |radius: f64| -> List {
        let point = |step: usize| {
            let (sin, cos) = (step as f64 * std::f64::consts::TAU / 100_000.0).sin_cos();
            format!("[{},{}]", radius * cos, radius * sin)
        };
        format!("[{}]", joined((0..100_000).map(point)))
    };
    pair(dir, "circle", &circle(50.0), &circle(49.0))?;
    let cases = [("crossing", "rotated"), ("circle", "polygon")];
    Ok(cases
        .map(|(name, form)| case(dir, name, &format!("detection --box {form}")))
        .into())
}

/// A confusion matrix of 100,000 classes.
fn classes(dir: &Path) -> io::Result<Case> {
    let class = |id: usize| format!("{{\"id\":{id},\"name\":\"c{id}\"}}");
    let categories = joined((1..=100_000).map(class));
    let truth = format!(
        "{{\"images\":[{{\"id\":1,\"width\":9,\"height\":9}}],\"annotations\":[],\"categories\":{categories}}}"
    );
    std::fs::write(dir.join("classes.truth.json"), truth)?;
    std::fs::write(dir.join("classes.found.json"), "[]")?;
    let mut case = coco_case(dir, "classes", "confusion-matrix");
    let details = dir.join("classes.details.json");
    case.words
        .extend(["--details".to_owned(), details.display().to_string()]);
    Ok(case)
}

fn joined(items: impl Iterator<Item = String>) -> List {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// Boxes as JSON; `found` ones have scores.
fn list(boxes: &[[f64; 4]], found: &str) -> List {
    let mut random = Random(2);
    joined(boxes.iter().map(|numbers| match found {
        "" => format!("{numbers:?}"),
        _ => format!("{{\"box\":{numbers:?},\"score\":{}}}", random.below(1.0)),
    }))
}

/// Writes one record.
fn pair(dir: &Path, name: &str, reference: &str, prediction: &str) -> io::Result<()> {
    let record =
        format!("{{\"id\":\"a\",\"reference\":{reference},\"prediction\":{prediction}}}\n");
    std::fs::write(dir.join(format!("{name}.jsonl")), record)
}

fn case(dir: &Path, name: &str, words: &str) -> Case {
    let path = dir.join(format!("{name}.jsonl")).display().to_string();
    let words = ["score"].into_iter().chain(words.split(' '));
    let args = words.chain(["--pairs", &path]);
    Case::of_files(
        format!("boxes/{name}: {}", words_of(args.clone().skip(1))),
        args.map(str::to_owned).collect(),
    )
}

fn words_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words
        .take_while(|word| *word != "--pairs")
        .collect::<Vec<_>>()
        .join(" ")
}

/// Writes COCO's two files of one image.
fn coco(dir: &Path, name: &str, truths: &[[f64; 4]], found: &[[f64; 4]]) -> io::Result<()> {
    let mut truth = String::from(
        "{\"images\":[{\"id\":1,\"width\":500,\"height\":500}],\"categories\":[{\"id\":1,\"name\":\"c\"}],\"annotations\":[",
    );
    for (id, numbers) in (1..).zip(truths) {
        let comma = if id == 1 { "" } else { "," };
        let area = numbers[2] * numbers[3];
        let _ = write!(
            truth,
            "{comma}{{\"id\":{id},\"image_id\":1,\"category_id\":1,\"bbox\":{numbers:?},\"area\":{area},\"iscrowd\":0}}"
        );
    }
    truth.push_str("]}");
    let mut random = Random(3);
    let result = |numbers: &[f64; 4]| {
        let score = random.below(1.0);
        format!("{{\"image_id\":1,\"category_id\":1,\"bbox\":{numbers:?},\"score\":{score}}}")
    };
    std::fs::write(dir.join(format!("{name}.truth.json")), truth)?;
    std::fs::write(
        dir.join(format!("{name}.found.json")),
        joined(found.iter().map(result)),
    )
}

fn coco_case(dir: &Path, name: &str, metric: &str) -> Case {
    let path = |side: &str| {
        let file = dir.join(format!("{name}.{side}.json"));
        file.display().to_string()
    };
    let (truth, found) = (path("truth"), path("found"));
    let args = ["score", metric, "-r", &truth, "-p", &found];
    Case::of_files(
        format!("boxes/{name}: {metric}"),
        args.map(str::to_owned).into(),
    )
}

/// The same numbers on each run (xorshift64).
struct Random(u64);

impl Random {
    /// A number from 0 to below this.
    fn below(&mut self, most: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64 * most
    }
}
