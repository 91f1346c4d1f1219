use metric_report::{Bar, Block, Cell, Heatmap, Line, Lines, Section, Tone};
use serde_json::Value;

use super::Shown;
use super::parts::{bars, caption, largest, section, text};

/// A matrix of classes with its most frequent mistakes.
pub(super) fn sections(shown: Shown<'_>) -> Vec<Section> {
    let Some(details) = shown.details else {
        return Vec::new();
    };
    let classes = details["classes"].as_array().map_or(&[][..], Vec::as_slice);
    let index = |class: &Value| classes.binary_search_by(|other| order(other, class)).ok();
    let place =
        |class: &Value| index(class).or_else(|| classes.iter().position(|other| other == class));
    let cell = |cell: &Value| {
        let count = cell["count"].as_u64()?;
        Some((
            place(&cell["reference"])?,
            place(&cell["prediction"])?,
            count,
        ))
    };
    let cells = details["cells"].as_array().map_or(&[][..], Vec::as_slice);
    let cells: Vec<_> = cells.iter().filter_map(cell).collect();
    let names: Vec<String> = classes.iter().map(text).collect();
    section("Confusions", "", matrix(names, cells, None))
}

/// Classes are listed in order: numbers before strings.
fn order(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.as_str().cmp(&b.as_str()),
    }
}

/// The heat map of a matrix, and its most frequent mistakes as bars.
pub(super) fn matrix(
    classes: Vec<String>,
    cells: Vec<(usize, usize, u64)>,
    nothing: Option<usize>,
) -> Vec<Block> {
    let is_mistake = |cell: &&(usize, usize, u64)| {
        cell.0 != cell.1 && Some(cell.0) != nothing && Some(cell.1) != nothing
    };
    let mut mistakes: Vec<_> = cells.iter().filter(is_mistake).collect();
    mistakes.sort_by_key(|cell| std::cmp::Reverse(cell.2));
    let name = |index: usize| classes.get(index).map_or("", String::as_str);
    let bar = |(row, column, count): &&(usize, usize, u64)| Bar {
        name: format!("{} → {}", name(*row), name(*column)),
        value: Cell::Count(*count),
        tone: Tone::Bad,
        main: false,
    };
    let mistakes: Vec<Bar> = mistakes.iter().take(15).map(bar).collect();
    let note = "The class of the reference, then the predicted class.";
    let mistakes = bars(
        caption("Most frequent mistakes", note, largest(&mistakes)),
        None,
        mistakes,
    );
    let mut blocks = vec![Block::Heatmap(Heatmap {
        caption: caption("Confusion matrix", "", String::new()),
        sides: ["references".to_owned(), "predictions".to_owned()],
        classes,
        cells,
        nothing,
        rest: "All of them are in --details.".to_owned(),
    })];
    blocks.extend(mistakes);
    blocks
}

/// The accuracy by k.
pub(super) fn ranks(shown: Shown<'_>) -> Vec<Section> {
    let scores = shown.result["scores"].as_object();
    let point = |(name, value): (&String, &Value)| {
        let k: f64 = name.strip_prefix("accuracy@")?.parse().ok()?;
        Some([k, value.as_f64()?])
    };
    let mut points: Vec<[f64; 2]> = scores.into_iter().flatten().filter_map(point).collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    if points.len() < 2 {
        return Vec::new();
    }
    let last = points.last().map_or([0.0; 2], |point| *point);
    let finding = format!(
        "The accuracy is {:.4} within the first {} labels.",
        last[1], last[0]
    );
    let chart = Lines {
        caption: caption(
            "Accuracy by k",
            "Share of references among the first k labels.",
            finding,
        ),
        axes: ["k".to_owned(), "accuracy".to_owned()],
        ranges: [None, Some([0.0, 1.0])],
        lines: vec![Line {
            points,
            main: true,
            steps: true,
            ..Line::default()
        }],
        mark: None,
    };
    section("Ranks", "", vec![Block::Lines(chart)])
}
