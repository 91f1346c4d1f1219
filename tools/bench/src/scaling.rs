//! `bench --scaling`: how the cost of `metric` grows with the size of its input and with threads.

use std::path::Path;

use plotters::prelude::*;

use super::inputs::{FOLDER, Input};
use super::report::{digits, seconds};
use super::timing::{self, Cost, Settings};
use xtask_common::{Error, markdown, print, root, table, target};

/// A metric on inputs of three sizes, each ten times the one before; the last one is that of the
/// input.
struct Curve {
    name: &'static str,
    /// The kind of example.
    of: &'static str,
    words: &'static str,
    input: Input,
}

const CURVES: &[Curve] = &[
    Curve {
        name: "codebleu",
        of: "pairs",
        words: "codebleu --lang java --profile codebleu-0.7 -r r.jsonl -p p.jsonl",
        input: Input::code("java", 10_000),
    },
    Curve {
        name: "coco",
        of: "images of 100 detections",
        words: "coco -r r.json -p p.json",
        input: Input::coco(10_000, 100),
    },
    Curve {
        name: "string-accuracy",
        of: "lines",
        words: "string-accuracy -r r.txt -p p.txt",
        input: Input::strings(1_000_000, 36),
    },
    Curve {
        name: "string-accuracy, records",
        of: "records",
        words: "string-accuracy -r r.jsonl -p p.jsonl",
        input: Input::string_records(1_000_000, 36),
    },
    Curve {
        name: "classification",
        of: "lines",
        words: "classification --zero-division 0 -r r.txt -p p.txt",
        input: Input::labels(1_000_000, 100),
    },
    Curve {
        name: "classification, records",
        of: "records",
        words: "classification --zero-division 0 -r r.jsonl -p p.jsonl",
        input: Input::label_records(1_000_000, 100),
    },
    Curve {
        name: "cer",
        of: "lines",
        words: "cer -r r.txt -p p.txt",
        input: Input::lines(100_000, 48),
    },
    Curve {
        name: "wer",
        of: "lines",
        words: "wer -r r.txt -p p.txt",
        input: Input::lines(100_000, 48),
    },
    Curve {
        name: "squad",
        of: "questions",
        words: "squad -r r.json -p p.json",
        input: Input::squad(100_000, 3),
    },
    Curve {
        name: "vqa",
        of: "questions",
        words: "vqa --profile vqa-v2 -r r.json -p p.json",
        input: Input::vqa(200_000, 10),
    },
    Curve {
        name: "accuracy-at-k",
        of: "examples of 5 labels",
        words: "accuracy-at-k -r r.jsonl -p p.jsonl",
        input: Input::ranked(1_000_000, 5),
    },
    Curve {
        name: "accuracy-at-k, scores",
        of: "examples of 1,000 scores",
        words: "accuracy-at-k --input scores -r r.jsonl -p p.jsonl",
        input: Input::score_records(10_000, 1_000),
    },
    Curve {
        name: "arc",
        of: "pairs of grids",
        words: "arc -r r.jsonl -p p.jsonl",
        input: Input::grids(10_000, 30),
    },
    Curve {
        name: "lanes",
        of: "clips",
        words: "lanes --alignment optimal -r r.jsonl -p p.jsonl",
        input: Input::lanes(10_000, 6),
    },
    Curve {
        name: "openlane",
        of: "frames",
        words: "openlane -r r.jsonl -p p.jsonl",
        input: Input::openlane(1_000, 24),
    },
];

/// A measured point of a curve.
struct Point {
    curve: usize,
    size: usize,
    threads: usize,
    cost: Cost,
    /// The time to read the files and do nothing with them, in seconds.
    read: f64,
}

pub(crate) fn run(filter: &str, settings: &Settings) -> Result<(), Error> {
    let chosen: Vec<_> = CURVES
        .iter()
        .filter(|curve| curve.name.contains(filter))
        .collect();
    if chosen.is_empty() {
        let names: Vec<_> = CURVES.iter().map(|curve| curve.name).collect();
        let names = names.join(", ");
        return Err(Error::Usage(format!(
            "{filter}: no curve; there are: {names}"
        )));
    }
    let metric = settings.metric()?;
    let folder = target()?.join("peers");
    let mut points = Vec::new();
    let mut failed = Vec::new();
    for (index, curve) in chosen.iter().enumerate() {
        let largest = settings.size(curve.input.size);
        let sizes = [largest / 100, largest / 10, largest];
        let alone = sizes
            .into_iter()
            .filter(|size| *size > 0)
            .map(|size| (size, 1));
        let more = threads()
            .into_iter()
            .skip(1)
            .map(|threads| (largest, threads));
        for (size, threads) in alone.chain(more) {
            eprintln!("  {} of {size} on {threads}", curve.name);
            let data = curve.input.with_size(size).folder(&folder.join(FOLDER))?;
            let read = timing::plain_read(curve.words, &data)?;
            match curve.time(&metric, &data, threads, settings.rounds()) {
                Ok(cost) => points.push(Point {
                    curve: index,
                    size,
                    threads,
                    cost,
                    read,
                }),
                Err(error) => {
                    failed.push(format!("{} did not run: {error}", curve.name));
                    break;
                }
            }
        }
    }
    let rows = rows(&chosen, &points);
    print(&table(HEADER, &rows));
    for line in &failed {
        print(&format!("{line}\n"));
    }
    if !points.is_empty() {
        // A part, or small inputs, do not take the place of the whole.
        let folder = match (filter, settings.quick) {
            ("", false) if failed.is_empty() => root().join("benches"),
            _ => folder,
        };
        let [text, picture] = ["SCALING.md", "SCALING.svg"].map(|name| folder.join(name));
        let said = page(
            &settings.origin(&timing::version(&metric)?)?,
            &rows,
            &failed,
        );
        std::fs::write(&text, said).map_err(|error| format!("{}: {error}", text.display()))?;
        draw(&picture, &chosen, &points)
            .map_err(|error| format!("{}: {error}", picture.display()))?;
        eprintln!("Written to {} and {}", text.display(), picture.display());
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "{} of {} did not run",
            failed.len(),
            chosen.len()
        )))
    }
}

/// 1, 2, 4, … up to the cores of this machine.
fn threads() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let powers = std::iter::successors(Some(1), |threads| Some(threads * 2));
    let mut all: Vec<usize> = powers.take_while(|threads| *threads < cores).collect();
    all.push(cores);
    all
}

impl Curve {
    fn time(
        &self,
        metric: &Path,
        data: &Path,
        threads: usize,
        rounds: usize,
    ) -> Result<Cost, String> {
        let words = format!(
            "score {} --format json --quiet --threads {threads}",
            self.words
        );
        let mut costs = Vec::new();
        for _ in 0..rounds {
            costs.push(timing::run(metric, words.split(' '), data, threads)?.0);
        }
        Cost::median(&costs).ok_or_else(|| "no rounds".to_owned())
    }
}

const HEADER: &[&str] = &[
    "metric", "examples", "", "threads", "wall", "CPU", "read", "peak", "x size", "x wall",
    "x peak",
];

/// `SCALING.md`.
fn page(origin: &str, rows: &[Vec<String>], failed: &[String]) -> String {
    let failed: String = failed.iter().map(|line| format!("- {line}\n")).collect();
    format!(
        "# Cost by size and threads\n\n\
         Written by `cargo xtask bench --scaling`; do not edit.\n\n\
         {origin}\n\
         Each run is the program from its start to its end, on files; the figures are medians. Peak \
         memory below about 5 MB is not visible, because the small process that starts the program \
         has as much. `read` is the limit of the machine: a plain read of the files on one thread, \
         into memory that is used again. The columns with `x` compare a row with the row above it. \
         That row has a tenth of the input, or fewer threads. If time grows in proportion to the \
         input, `x wall` is at most `x size`.\n\n\
         ![Time by size on one thread, and by threads](SCALING.svg)\n\n\
         {}\n{failed}",
        markdown(HEADER, rows)
    )
}

/// One row per point; the last columns compare it with the point before, which is smaller or has
/// fewer threads.
fn rows(curves: &[&Curve], points: &[Point]) -> Vec<Vec<String>> {
    let row = |(index, point): (usize, &Point)| {
        let curve = curves.get(point.curve);
        let mut row = vec![
            curve.map_or("", |curve| curve.name).to_owned(),
            point.size.to_string(),
            curve.map_or("", |curve| curve.of).to_owned(),
            point.threads.to_string(),
            seconds(point.cost.wall),
            seconds(point.cost.cpu),
            seconds(point.read),
            format!("{:.0} MB", point.cost.peak / 1e6),
        ];
        let before = index.checked_sub(1).and_then(|index| points.get(index));
        if let Some(before) = before.filter(|before| before.curve == point.curve) {
            for (now, then) in [
                (point.size as f64, before.size as f64),
                (point.cost.wall, before.cost.wall),
                (point.cost.peak, before.cost.peak),
            ] {
                row.push(digits(now / then));
            }
        } else {
            row.resize(HEADER.len(), String::new());
        }
        row
    };
    points.iter().enumerate().map(row).collect()
}

/// Colors of curves that people with any color vision tell apart (Okabe and Ito 2008).
const COLOURS: &[RGBColor] = &[
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(204, 121, 167),
    RGBColor(140, 140, 140),
    RGBColor(120, 80, 40),
    RGBColor(240, 228, 66),
    RGBColor(150, 0, 60),
    RGBColor(0, 70, 60),
    RGBColor(170, 170, 220),
    RGBColor(90, 60, 150),
    RGBColor(200, 200, 200),
];

/// Two charts with logarithmic axes: CPU time by size on one thread, and time by the clock by
/// threads at the largest size.
fn draw(
    path: &Path,
    curves: &[&Curve],
    points: &[Point],
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::new(path, (1200, 560)).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(640);
    let by_size =
        |point: &Point| (point.threads == 1).then_some((point.size as f64, point.cost.cpu));
    let largest = |point: &Point| {
        let of_curve = points.iter().filter(|other| other.curve == point.curve);
        of_curve.map(|other| other.size).max() == Some(point.size)
    };
    let by_threads =
        |point: &Point| largest(point).then_some((point.threads as f64, point.cost.wall));
    chart(
        &left,
        "One thread",
        ["examples", "CPU time"],
        curves,
        points,
        by_size,
        true,
    )?;
    chart(
        &right,
        "The largest input",
        ["threads", "time by the clock"],
        curves,
        points,
        by_threads,
        false,
    )?;
    area.present()?;
    Ok(())
}

fn chart(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    axes: [&str; 2],
    curves: &[&Curve],
    points: &[Point],
    index: impl Fn(&Point) -> Option<(f64, f64)>,
    legend: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let placed: Vec<(usize, (f64, f64))> = points
        .iter()
        .filter_map(|point| Some((point.curve, index(point)?)))
        .collect();
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = placed.iter().map(|(_, point)| of(point));
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(0.0, f64::max);
        (low * 0.8..high * 1.25).log_scale()
    };
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(range(|point| point.0), range(|point| point.1))?;
    chart
        .configure_mesh()
        .x_desc(axes[0])
        .y_desc(axes[1])
        .x_label_formatter(&|value| format!("{value:.0}"))
        .y_label_formatter(&|value| seconds(*value))
        .light_line_style(WHITE)
        .draw()?;
    for (index, curve) in curves.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let line: Vec<_> = placed
            .iter()
            .filter(|(of, _)| *of == index)
            .map(|(_, point)| *point)
            .collect();
        if line.is_empty() {
            continue;
        }
        let dots = line
            .iter()
            .map(|point| Circle::new(*point, 3, colour.filled()));
        chart.draw_series(dots)?;
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
            .label(curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    if legend {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .draw()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_compare_with_the_point_before() {
        let cost = |wall: f64| Cost {
            wall,
            cpu: wall,
            peak: 2e6,
        };
        let points =
            [(10, 1, 0.5), (100, 1, 4.0), (100, 2, 2.0)].map(|(size, threads, wall)| Point {
                curve: 0,
                size,
                threads,
                cost: cost(wall),
                read: 0.1,
            });
        let curves: Vec<_> = CURVES.iter().collect();
        let rows = rows(&curves, &points);
        assert_eq!(rows[0][8..], ["", "", ""]);
        assert_eq!(rows[1][8..], ["10.0", "8.00", "1.00"]);
        assert_eq!(rows[2][8..], ["1.00", "0.50", "1.00"]);
    }

    #[test]
    fn threads_double() {
        let all = threads();
        assert_eq!(all[0], 1);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_picture_is_drawn() -> Result<(), Box<dyn std::error::Error>> {
        let path = std::env::temp_dir().join(format!("xtask-{}.svg", std::process::id()));
        let points = [(10, 0.5), (100, 4.0)].map(|(size, wall)| Point {
            curve: 1,
            size,
            threads: 1,
            cost: Cost {
                wall,
                cpu: wall,
                peak: 1.0,
            },
            read: 0.1,
        });
        let curves: Vec<_> = CURVES.iter().collect();
        draw(&path, &curves, &points)?;
        let text = std::fs::read_to_string(&path)?;
        assert!(text.starts_with("<svg") && text.contains("coco"));
        std::fs::remove_file(path)?;
        Ok(())
    }
}
