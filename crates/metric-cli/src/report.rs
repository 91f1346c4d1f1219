//! `--report`: the result as a page.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use metric_report::{
    Badge, Block, Card, Cell, Column, Example, Fact, Facts, Forest, Histogram, Interval, Report,
    Section, Shown, ShownExample, Table, Tone, charts_of, counted, example_of, grouped, heading,
    interval_name, main_card_of, main_first, resampled_units,
};
use metric_run::record::Missing;
use metric_run::registry::{Direction, Drawing, Entry, Group, Options, Ranking, Sample, Show};
use metric_run::{Data, Intervals, RankExamples};
use serde_json::Value;

use crate::error::Failure;
use crate::images::Images;
use crate::output_file::{OutputFile, OutputFolder};
use crate::report_files::{Given, Hashes, shown_path};
use crate::scored::{Chart, Scored};
use crate::valued_arg::valued_arg;

/// The most examples of a list.
const MOST_EXAMPLES: u64 = 1_000;
/// The note that says where to find the complete texts of examples.
pub(crate) const WHOLE: &str = "--per-sample FILE --with-inputs has the whole texts.";
/// The digits of scores after the point, unless others are asked for.
const DIGITS: usize = 4;
/// The most scores that are all shown of an example, and the number that is shown of more.
const SCORES_OF_EXAMPLE: [usize; 2] = [5, 3];
/// The most groups of a kind in a forest plot.
const FOREST: usize = 40;

/// The options of commands that write reports.
pub(crate) fn args() -> Vec<Arg> {
    let arg = valued_arg;
    vec![
        arg("report", "FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Also write a report: FILE.html, FILE.md, a folder (DIR/), or HTML on standard output (-)"),
        arg("report-examples", "N")
            .value_parser(value_parser!(u64).range(..=MOST_EXAMPLES))
            .default_value("20")
            .requires("report")
            .help("Maximum number of examples in each list of the report"),
        arg("report-title", "TEXT")
            .requires("report")
            .help("Title of the report [default: what is scored]"),
        arg("report-no-examples", "")
            .action(ArgAction::SetTrue)
            .requires("report")
            .help("Leave the texts of examples out of the report, and show row numbers instead of ids"),
        arg("report-date", "WHEN")
            .requires("report")
            .help("Date of the report: now, none, or a date [default: the environment variable SOURCE_DATE_EPOCH, or none]"),
        arg("report-paths", "WHICH")
            .value_parser(["name", "full"])
            .default_value("name")
            .requires("report")
            .help("Show full paths in the report, or only the names of files"),
    ]
}

/// The option for pictures, of metrics whose examples are images.
pub(crate) fn image_args() -> Vec<Arg> {
    let arg = valued_arg("images", "DIR")
        .value_parser(value_parser!(PathBuf))
        .requires("report")
        .help(
            "Draw the boxes of examples in the report on the pictures in this folder (PNG, JPEG)",
        );
    vec![arg]
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Html,
    Markdown,
    Folder,
    StandardOutput,
    /// None: only the charts are requested.
    Charts,
}

impl Form {
    fn from_path(path: &Path) -> Result<Self, Failure> {
        let text = path.to_string_lossy();
        let lower = text.to_ascii_lowercase();
        Ok(if text == "-" {
            Self::StandardOutput
        } else if text.ends_with('/') {
            Self::Folder
        } else if lower.ends_with(".html") || lower.ends_with(".htm") {
            Self::Html
        } else if lower.ends_with(".md") || lower.ends_with(".markdown") {
            Self::Markdown
        } else {
            return Err(Failure::Usage(format!(
                "--report {text}: expected a name that ends in .html, .md or / (a folder), or - for standard output"
            )));
        })
    }
}

/// The options of a report.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    path: PathBuf,
    form: Form,
    examples: usize,
    title: Option<String>,
    has_texts: bool,
    date: Option<String>,
    has_full_paths: bool,
    /// The digits of scores after the point.
    digits: usize,
    /// The pictures of examples.
    images: Option<Images>,
    /// The inputs.
    inputs: Vec<Given>,
}

/// The report that the options ask for.
pub(crate) fn wanted(matches: &ArgMatches) -> Result<Option<Wanted>, Failure> {
    let Some(path) = matches.get_one::<PathBuf>("report") else {
        return Ok(None);
    };
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let given = |name: &str| matches.try_get_many::<PathBuf>(name).ok().flatten();
    let mut roles = vec![
        "references",
        "more-references",
        "predictions",
        "pairs",
        "results",
    ];
    // To other commands these are outputs.
    if given("results").is_some() {
        roles.extend(["per-sample", "details"]);
    }
    let inputs = roles.into_iter().flat_map(|role| {
        let paths: Vec<PathBuf> = given(role).into_iter().flatten().cloned().collect();
        Given::of_role(role, paths)
    });
    let folder = matches.try_get_one::<PathBuf>("images");
    let folder = folder.ok().flatten().cloned();
    let digits = matches.try_get_one::<u8>("digits").ok().flatten().copied();
    let examples = matches.try_get_one::<u64>("report-examples").ok().flatten();
    let examples = examples.copied().unwrap_or(20);
    Ok(Some(Wanted {
        form: Form::from_path(path)?,
        path: path.clone(),
        examples: usize::try_from(examples).unwrap_or(usize::MAX),
        title: text("report-title"),
        has_texts: !matches.get_flag("report-no-examples"),
        date: date(text("report-date").as_deref())?,
        has_full_paths: text("report-paths").as_deref() == Some("full"),
        digits: digits.map_or(DIGITS, usize::from),
        images: folder.map(Images::new).transpose()?,
        inputs: inputs.collect(),
    }))
}

/// A report that is not written, whose charts are.
pub(crate) fn charts() -> Option<Wanted> {
    Some(Wanted {
        path: PathBuf::new(),
        form: Form::Charts,
        examples: 0,
        title: None,
        has_texts: true,
        date: None,
        has_full_paths: false,
        digits: DIGITS,
        images: None,
        inputs: Vec::new(),
    })
}

/// The date of the report, if it has one.
fn date(given: Option<&str>) -> Result<Option<String>, Failure> {
    let of_seconds = |seconds: u64| Some(iso_date(seconds));
    let epoch = std::env::var("SOURCE_DATE_EPOCH").ok();
    match given {
        None => Ok(epoch
            .and_then(|text| text.parse().ok())
            .and_then(of_seconds)),
        Some("none") => Ok(None),
        Some("now") => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            Ok(now.ok().and_then(|now| of_seconds(now.as_secs())))
        }
        Some(text) => {
            let bytes = text.as_bytes();
            let is_date = bytes.len() >= 10
                && bytes.len() <= 35
                && bytes[..10]
                    .iter()
                    .enumerate()
                    .all(|(index, byte)| match index {
                        4 | 7 => *byte == b'-',
                        _ => byte.is_ascii_digit(),
                    });
            is_date.then(|| Some(text.to_owned())).ok_or_else(|| {
                Failure::Usage(format!(
                    "invalid value {text:?} for --report-date: expected now, none or a date such as 2026-01-31"
                ))
            })
        }
    }
}

/// Seconds since 1970 as a date and a time of day in UTC.
fn iso_date(seconds: u64) -> String {
    // The days of eras of 400 years that start on March 1 (H. Hinnant, chrono-compatible date algorithms).
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

impl Wanted {
    /// Opens the output, and has the inputs hashed: those of `data` while they are read if they are read as a whole, and
    /// the others at once.
    pub(crate) fn open(self, data: Option<&mut Data>) -> Result<Open, Failure> {
        let target = match self.form {
            Form::Charts => Target::None,
            Form::StandardOutput => Target::StandardOutput,
            Form::Folder => Target::Folder(OutputFolder::create(self.path.clone())?),
            Form::Html | Form::Markdown => Target::File(OutputFile::create(&self.path)?),
        };
        Ok(Open {
            hashes: Hashes::new(self.inputs.clone(), data),
            target,
            wanted: self,
        })
    }
}

enum Target {
    File(OutputFile),
    Folder(OutputFolder),
    StandardOutput,
    None,
}

/// A report that waits for the scores.
pub(crate) struct Open {
    wanted: Wanted,
    target: Target,
    hashes: Hashes,
}

impl Open {
    /// The most examples of a list.
    pub(crate) fn examples(&self) -> usize {
        self.wanted.examples
    }

    /// Writes the report of scores, and returns its charts if they are requested, and its page if that is for standard
    /// output.
    pub(crate) fn finish(
        self,
        scored: &[Scored],
        checks: &[(String, bool)],
        slices: &[String],
        wants_charts: bool,
    ) -> Result<(Vec<Chart>, Option<String>), Failure> {
        let Self {
            wanted,
            target,
            hashes,
        } = self;
        let ranking = |scored: &Scored| {
            let ranking = scored.outcome.state().ranking()?;
            Some((scored.outcome.metric().to_owned(), ranking))
        };
        let rankings: Rankings = scored.iter().filter_map(ranking).collect();
        // All metrics score the same examples.
        let examples = |_: &str, _| Some(scored.first()?.report.examples);
        let files = hashes.finish(wanted.has_full_paths, examples)?;
        let report = score_report(&wanted, scored, checks, slices, &rankings, files);
        let page = write(target, wanted.form, &report)?;
        let charts = if wants_charts {
            report.charts()
        } else {
            Vec::new()
        };
        Ok((charts, page))
    }

    /// Writes a report that is made elsewhere, with the facts about the inputs. `examples` is the number of examples
    /// scored of the input of a role at a position.
    pub(crate) fn finish_with(
        self,
        examples: impl Fn(&str, usize) -> Option<u64>,
        report: impl FnOnce(&Wanted, Vec<(String, Fact)>) -> Report,
    ) -> Result<Option<String>, Failure> {
        let files = self.hashes.finish(self.wanted.has_full_paths, examples)?;
        let report = report(&self.wanted, files);
        write(self.target, self.wanted.form, &report)
    }
}

fn write(target: Target, form: Form, report: &Report) -> Result<Option<String>, Failure> {
    match target {
        Target::StandardOutput => return Ok(Some(report.to_html())),
        Target::None => {}
        Target::File(mut file) => {
            let text = match form {
                Form::Markdown => report.to_markdown(),
                _ => report.to_html(),
            };
            file.write(text.as_bytes())?;
            file.persist()?;
        }
        Target::Folder(folder) => {
            let files = report.to_folder();
            folder.write("index.html", &files.page)?;
            folder.write("report.css", files.style)?;
            folder.write("report.js", files.script)?;
            folder.persist()?;
        }
    }
    Ok(None)
}

/// The worst examples of each metric, by its name.
pub(crate) type Rankings = Vec<(String, Ranking<Sample>)>;

/// An example as a report shows it.
pub(crate) fn shown(sample: &Sample, has_texts: bool) -> ShownExample {
    let inputs = sample.inputs.as_ref().filter(|_| has_texts);
    let read = |json: &String| serde_json::from_str(json).ok();
    ShownExample {
        id: if has_texts {
            sample.id.clone()
        } else {
            format!("row {}", sample.record + 1)
        },
        part: sample.part.clone().filter(|_| has_texts),
        scores: sample.scores.clone(),
        counts: sample.counts.clone(),
        reference: inputs.and_then(|inputs| read(&inputs.reference)),
        prediction: inputs.and_then(|inputs| read(&inputs.prediction)),
        fields: inputs.and_then(|inputs| read(inputs.fields.as_ref()?)),
    }
}

fn column(name: &str) -> Column {
    Column {
        name: name.to_owned(),
        ..Column::default()
    }
}

fn score_report(
    wanted: &Wanted,
    scored: &[Scored],
    checks: &[(String, bool)],
    slices: &[String],
    rankings: &Rankings,
    files: Vec<(String, Fact)>,
) -> Report {
    let several = scored.len() > 1;
    let mut badges = check_badges(checks);
    let mut warnings: Vec<String> = Vec::new();
    for warning in scored.iter().flat_map(|it| &it.report.warnings) {
        let warning = if wanted.has_texts {
            warning.to_string()
        } else {
            warning.without_data().to_string()
        };
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    if !warnings.is_empty() {
        badges.push(Badge {
            text: counted(warnings.len() as u64, "warning"),
            tone: Tone::Warning,
        });
    }
    let mut sections = Vec::new();
    for scored in scored {
        let outcome = &scored.outcome;
        let mut own = metric_sections(wanted, scored, slices, rankings);
        if several {
            let name = outcome.metric();
            for section in &mut own {
                section.title = format!("{name}: {}", section.title);
            }
            let scores = Section {
                title: name.to_owned(),
                note: outcome.entry().help.to_owned(),
                blocks: vec![Block::Cards(cards(scored))],
            };
            own.insert(0, scores);
        }
        sections.append(&mut own);
    }
    sections.push(provenance(wanted, scored, rankings, files));
    let first = scored.first();
    let metrics: Vec<&str> = scored.iter().map(|it| it.outcome.metric()).collect();
    let examples = first.map_or(0, |it| it.report.examples);
    let missing = first.map_or(0, |it| it.report.missing);
    let mut summary = format!("{}: {}", metrics.join(", "), counted(examples, "example"));
    if missing > 0 {
        summary.push_str(&format!(", {} without a prediction", grouped(missing)));
    }
    if let Some(date) = &wanted.date {
        summary.push_str(&format!("; {date}"));
    }
    let title = match first {
        Some(one) if !several => heading(one.outcome.entry()),
        _ => metrics.join(", "),
    };
    Report {
        title: wanted.title.clone().unwrap_or(title),
        summary,
        badges,
        cards: match scored {
            [one] => cards(one),
            several => several.iter().filter_map(main_card).collect(),
        },
        warnings,
        sections,
        program: concat!("metric-suite ", env!("CARGO_PKG_VERSION")).to_owned(),
        digits: wanted.digits,
    }
}

fn check_badges(checks: &[(String, bool)]) -> Vec<Badge> {
    let badge = |(text, passed): &(String, bool)| Badge {
        text: format!("{text}: {}", if *passed { "passed" } else { "failed" }),
        tone: if *passed { Tone::Good } else { Tone::Bad },
    };
    checks.iter().map(badge).collect()
}

/// The scale of all scores: from 0 to 1 if they are within, and otherwise as wide as they need.
fn scale_of(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([0.0, 1.0], |[low, high], value| {
        [low.min(value), high.max(value)]
    })
}

fn cards(scored: &Scored) -> Vec<Card> {
    let Scored {
        outcome, report, ..
    } = scored;
    let found = outcome.intervals();
    let ends = |name: &str| {
        let found = found?
            .total
            .intervals
            .iter()
            .find(|(score, _)| score == name)?;
        found.1.ends
    };
    let all = report.scores.iter().flat_map(|(name, value)| {
        let ends = ends(name).into_iter().flatten();
        ends.chain(*value).collect::<Vec<_>>()
    });
    let scale = scale_of(all);
    let card = |(name, value): &(String, Option<f64>)| {
        let mut notes = Vec::new();
        let spec = outcome.entry().score(name);
        if spec.is_some_and(|spec| spec.direction == Some(Direction::Lower)) {
            notes.push("lower is better".to_owned());
        }
        if value.is_none() {
            notes.push("undefined for these data".to_owned());
        }
        let interval = ends(name)
            .zip(outcome.statistics())
            .map(|(ends, statistics)| Interval {
                ends,
                name: interval_name(statistics.confidence),
                scale,
            });
        Card {
            name: name.clone(),
            label: String::new(),
            value: *value,
            notes,
            interval,
        }
    };
    let cards = report.scores.iter().map(card).collect();
    main_first(outcome.entry(), cards)
}

/// The main score of one of several metrics, under the name of the metric.
fn main_card(scored: &Scored) -> Option<Card> {
    let main = cards(scored).into_iter().next()?;
    Some(main_card_of(scored.outcome.metric(), main))
}

/// The sections of one metric: its own, groups and slices, examples.
fn metric_sections(
    wanted: &Wanted,
    scored: &Scored,
    slices: &[String],
    rankings: &Rankings,
) -> Vec<Section> {
    let Scored {
        outcome,
        report,
        details,
        ..
    } = scored;
    let entry = outcome.entry();
    let result: Value = serde_json::from_str(&outcome.json(report)).unwrap_or_default();
    let names = scored.class_names.as_ref();
    let shown = Shown {
        result: &result,
        details: details.as_ref(),
        has_texts: wanted.has_texts,
        class_names: names.map_or(&[], |it| &it.names),
    };
    let mut sections = charts_of(entry, shown);
    for (kind, groups) in &report.groups {
        let is_slice = slices.contains(kind);
        sections.extend(group_section(kind, groups, scored, is_slice));
    }
    let mut named = rankings.iter();
    if let Some((_, ranking)) = named.find(|(name, _)| name == outcome.metric()) {
        let total = ranking.score().and_then(|(name, _)| report.score(name));
        let options = outcome.options();
        sections.extend(example_sections(wanted, entry, options, ranking, total));
    }
    sections.extend(counts_section(report));
    sections
}

/// The counts of a result.
fn counts_section(report: &metric_run::registry::Report) -> Option<Section> {
    let row = |(name, value): &(String, Value)| {
        let cell = match value {
            Value::Number(number) => match number.as_u64() {
                Some(count) => Cell::Count(count),
                None => Cell::from(number.as_f64()),
            },
            Value::Null => Cell::Undefined,
            // Counts that have parts are words.
            other => Cell::Text(
                other
                    .to_string()
                    .replace(['{', '}', '"'], "")
                    .replace(',', ", ")
                    .replace(':', " "),
            ),
        };
        vec![Cell::Text(name.clone()), cell]
    };
    let rows: Vec<_> = report.counts.iter().map(row).collect();
    (!rows.is_empty()).then(|| Section {
        title: "Counts".to_owned(),
        note: String::new(),
        blocks: vec![Block::Table(Table {
            caption: "Components of the scores".to_owned(),
            columns: vec![column("count"), column("value")],
            rows,
            ..Table::default()
        })],
    })
}

/// The scores of groups of a kind.
#[allow(clippy::too_many_lines, reason = "one block after the other")]
fn group_section(kind: &str, groups: &[Group], scored: &Scored, is_slice: bool) -> Option<Section> {
    let first = groups.first()?;
    let outcome = &scored.outcome;
    let name_of = |group: &Group| scored.name_of_group(kind, &group.name).to_owned();
    let found = outcome.intervals();
    let estimates = |group: &Group| found.and_then(|found| found.group(kind, &group.name));
    let ends = |group: &Group, name: &str| {
        let found = estimates(group)?
            .intervals
            .iter()
            .find(|(score, _)| score == name)?;
        found.1.ends
    };
    let main = first.scores.first().map(|(name, _)| name.clone());
    let values = |name: &str| {
        let name = name.to_owned();
        groups
            .iter()
            .filter_map(move |group| group.scores.iter().find(|(other, _)| *other == name)?.1)
    };
    let has_ends = main
        .as_ref()
        .is_some_and(|main| groups.iter().any(|group| ends(group, main).is_some()));
    let mut columns = vec![Column {
        text: true,
        ..column(kind)
    }];
    for (index, (name, _)) in first.scores.iter().enumerate() {
        columns.push(Column {
            bar: (index == 0).then(|| scale_of(values(name))),
            ..column(name)
        });
        if index == 0 && has_ends {
            let confidence = outcome.statistics().map_or(0.95, |it| it.confidence);
            columns.push(column(&interval_name(confidence)));
        }
    }
    let is_plain = |value: &Value| value.is_number() || value.is_null();
    let counts: Vec<&String> = first
        .counts
        .iter()
        .filter(|(_, value)| is_plain(value))
        .map(|(name, _)| name)
        .collect();
    columns.extend(counts.iter().map(|name| column(name)));
    let row = |group: &Group| {
        let mut row = vec![Cell::Text(name_of(group))];
        for (index, (name, _)) in first.scores.iter().enumerate() {
            let value = group.scores.iter().find(|(other, _)| other == name);
            row.push(Cell::from(value.and_then(|(_, value)| *value)));
            if index == 0 && has_ends {
                row.push(ends(group, name).map_or(Cell::Undefined, Cell::Interval));
            }
        }
        for name in &counts {
            let count = group.counts.iter().find(|(other, _)| other == *name);
            row.push(match count.map(|(_, count)| count) {
                Some(Value::Number(number)) => match number.as_u64() {
                    Some(count) => Cell::Count(count),
                    None => Cell::from(number.as_f64()),
                },
                _ => Cell::Undefined,
            });
        }
        row
    };
    let mut blocks = Vec::new();
    if let Some(main) = main.filter(|_| has_ends) {
        let of_group = |group: &Group| {
            let value = group.scores.iter().find(|(name, _)| *name == main)?.1?;
            Some((name_of(group), value, ends(group, &main)))
        };
        let overall = outcome.report().score(&main);
        let rows: Vec<_> = groups.iter().filter_map(of_group).take(FOREST).collect();
        blocks.push(Block::Forest(Forest {
            caption: metric_report::Caption {
                title: format!("{main} by {kind}"),
                note: "Point: the score; line: its interval; dashes: all examples.".to_owned(),
                finding: format!(
                    "{} with their intervals; the table has the numbers.",
                    counted(rows.len() as u64, "group")
                ),
            },
            rows,
            overall,
        }));
    }
    blocks.push(Block::Table(Table {
        caption: format!("Scores by {kind}"),
        columns,
        rows: groups.iter().map(row).collect(),
        order: None,
        rest: "--format json has all of them.".to_owned(),
    }));
    let title = if is_slice {
        format!("Slices by {kind}")
    } else {
        format!("By {kind}")
    };
    Some(Section {
        title,
        note: String::new(),
        blocks,
    })
}

/// The distribution of the scores of examples, and the worst of them.
#[allow(clippy::too_many_lines, reason = "one block after the other")]
pub(crate) fn example_sections(
    wanted: &Wanted,
    entry: &Entry,
    options: &Options,
    ranking: &Ranking<Sample>,
    total: Option<f64>,
) -> Vec<Section> {
    let Some((score, direction)) = ranking.score() else {
        return Vec::new();
    };
    let of_metric = ranking.counts();
    let mut blocks = Vec::new();
    let defined = of_metric.all - of_metric.undefined;
    if defined > 0 {
        let mut parts = vec![
            format!(
                "{} of {} are exactly 0",
                grouped(of_metric.at_zero),
                counted(of_metric.all, "example")
            ),
            format!("{} exactly 1", grouped(of_metric.at_one)),
        ];
        for (count, which) in [(of_metric.below, "below 0"), (of_metric.above, "above 1")] {
            if count > 0 {
                parts.push(format!("{} {which}", grouped(count)));
            }
        }
        if of_metric.undefined > 0 {
            parts.push(format!("{} undefined", grouped(of_metric.undefined)));
        }
        let words = format!("{}.", parts.join(", "));
        blocks.push(Block::Histogram(Histogram {
            caption: metric_report::Caption {
                title: format!("Examples by {score}"),
                note: words.clone(),
                finding: words,
            },
            range: [0.0, 1.0],
            bins: of_metric.bins.to_vec(),
            beyond: [of_metric.below, of_metric.above],
            unit: "examples".to_owned(),
            axis: score.to_owned(),
            mark: total.map(|total| (total, "all together:".to_owned())),
            negative_is_good: None,
        }));
    }
    let mut sections = Vec::new();
    if !blocks.is_empty() {
        sections.push(Section {
            title: "Examples".to_owned(),
            note: String::new(),
            blocks,
        });
    }
    let mut images = wanted.images.clone();
    let mut block = |sample: &Sample| {
        let example = shown(sample, wanted.has_texts);
        let mut shown = shown_example(wanted, entry, options, &example, score);
        for block in &mut shown.blocks {
            if let (Block::Boxes(boxes), Some(images)) = (block, &mut images) {
                images.put_under(boxes, &example);
            }
        }
        Block::Example(shown)
    };
    let worst: Vec<Block> = ranking.worst().map(&mut block).collect();
    let key = |sample: &Sample| (sample.record, sample.part.clone());
    let bad: Vec<_> = ranking.worst().map(key).collect();
    let nearest = ranking
        .nearest()
        .filter(|sample| !bad.contains(&key(sample)));
    let nearest: Vec<Block> = nearest.map(&mut block).collect();
    let which = match direction {
        Direction::Higher => "Lowest",
        Direction::Lower => "Highest",
    };
    let order = format!("{which} {score} first, ties in the order of the references.");
    let note = match (wanted.has_texts, worst.iter().any(shows_text)) {
        (true, true) => format!(
            "{order} Predictions are shown as text; characters that cannot be seen are spelled out."
        ),
        (true, false) => order,
        (false, _) => format!("{order} Texts and ids are not shown."),
    };
    if !worst.is_empty() {
        sections.push(Section {
            title: "Worst examples".to_owned(),
            note,
            blocks: worst,
        });
    }
    if !nearest.is_empty() {
        let note = match bad.len() {
            0 => "Examples that are closest to being correct and are not, the closest first."
                .to_owned(),
            bad => format!(
                "Examples that are closest to being correct and are not, the closest first, without the {bad} above."
            ),
        };
        sections.push(Section {
            title: "Nearest misses".to_owned(),
            note,
            blocks: nearest,
        });
    }
    sections
}

/// Whether an example is shown as text, and not only as a picture.
fn shows_text(example: &Block) -> bool {
    match example {
        Block::Example(example) => example.blocks.iter().any(shows_text),
        Block::Facts(facts) => facts
            .facts
            .iter()
            .any(|(_, fact)| matches!(fact, Fact::Text(_))),
        Block::Boxes(_) | Block::Grids(_) | Block::Picture(_) => false,
        _ => true,
    }
}

fn shown_example(
    wanted: &Wanted,
    entry: &Entry,
    options: &Options,
    example: &ShownExample,
    score: &str,
) -> Example {
    let mut facts = Vec::new();
    facts.extend(example.part.as_ref().map(|part| format!("part {part}")));
    // The main score, then some others.
    let main = example.scores.iter().filter(|(name, _)| name == score);
    let others = example.scores.iter().filter(|(name, _)| name != score);
    let [all, some] = SCORES_OF_EXAMPLE;
    let shown = if example.scores.len() > all {
        some
    } else {
        all
    };
    for (name, value) in main.chain(others).take(shown) {
        let value = value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
        facts.push(format!("{name} {value}"));
    }
    let count = |(name, count): &(String, Value)| {
        Some(format!(
            "{name} {}",
            count.as_u64().filter(|count| *count > 0)?
        ))
    };
    facts.extend(example.counts.iter().filter_map(count).take(4));
    let mut blocks = Vec::new();
    if wanted.has_texts {
        blocks = example_of(entry, options, example);
        if blocks.is_empty() {
            blocks.extend(picture(entry, options, example));
        }
        if blocks.is_empty() {
            blocks.extend(texts(example));
        }
    }
    Example {
        id: example.id.clone(),
        facts,
        blocks,
        whole: WHOLE.to_owned(),
    }
}

/// The picture that the metric draws of the example, if it draws.
fn picture(entry: &Entry, options: &Options, example: &ShownExample) -> Option<Block> {
    if !entry.draws(Drawing::Svg) {
        return None;
    }
    let scorer = entry.scorer(options).ok()?;
    let svg = example.with_record(|record| scorer.picture(record, Drawing::Svg).ok())?;
    Some(Block::Picture(metric_report::Picture {
        caption: metric_report::Caption {
            title: format!("Picture of {}", example.id),
            ..Default::default()
        },
        bytes: svg.into_bytes(),
        media: metric_report::Media::Svg,
    }))
}

/// Both sides as text.
fn texts(example: &ShownExample) -> Option<Block> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let sides = [
        ("reference", &example.reference),
        ("prediction", &example.prediction),
    ];
    let fact = |(name, side): (&str, &Option<Value>)| {
        Some((name.to_owned(), Fact::Text(text(side.as_ref()?))))
    };
    let facts: Vec<_> = sides.into_iter().filter_map(fact).collect();
    (!facts.is_empty()).then_some(Block::Facts(Facts { facts }))
}

/// The provenance of the numbers.
fn provenance(
    wanted: &Wanted,
    scored: &[Scored],
    rankings: &Rankings,
    files: Vec<(String, Fact)>,
) -> Section {
    let mut facts = Vec::new();
    for scored in scored {
        facts.push((
            "Signature".to_owned(),
            Fact::Text(scored.outcome.signature().into_owned()),
        ));
    }
    facts.push((
        "Command".to_owned(),
        Fact::Text(command(wanted.has_full_paths)),
    ));
    facts.extend(files);
    if let Some(Scored {
        outcome, report, ..
    }) = scored.first()
    {
        let join = outcome.join();
        let missing = match join.missing {
            Missing::Error => "an error",
            Missing::Empty => "scored against an empty prediction",
            Missing::Skip => "left out",
        };
        let extra = if join.ignore_extra {
            "left out"
        } else {
            "an error"
        };
        let mut words = format!(
            "references without a prediction: {missing}; predictions without a reference: {extra}"
        );
        if report.extra > 0 {
            words.push_str(&format!(" ({} here)", report.extra));
        }
        facts.push(("Join".to_owned(), Fact::Words(words)));
        if let Some(statistics) = outcome.statistics() {
            facts.push((
                "Intervals".to_owned(),
                Fact::Words(intervals_words(outcome.intervals(), statistics)),
            ));
        }
    }
    facts.extend(program_facts(wanted));
    let shown = rankings.iter().map(|(_, ranking)| ranking.worst().len());
    let shown = shown.max().unwrap_or(0);
    if shown == wanted.examples && shown > 0 {
        let words = format!(
            "the {shown} worst examples; --report-examples shows more, --per-sample writes all"
        );
        facts.push(("Shown".to_owned(), Fact::Words(words)));
    }
    Section {
        title: "Where the numbers come from".to_owned(),
        note: String::new(),
        blocks: vec![Block::Facts(Facts { facts })],
    }
}

fn intervals_words(found: Option<&Intervals>, statistics: &metric_run::Statistics) -> String {
    format!(
        "Poisson bootstrap over {}, {} resamples, seed {}, confidence {}",
        resampled_units(
            found.map(|found| found.total.clusters),
            statistics.cluster_field.as_deref()
        ),
        statistics.resamples,
        statistics.seed,
        statistics.confidence
    )
}

/// Program, target and date.
pub(crate) fn program_facts(wanted: &Wanted) -> Vec<(String, Fact)> {
    let program = format!(
        "metric {}, {} {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let mut facts = vec![("Program".to_owned(), Fact::Words(program))];
    facts.extend(
        wanted
            .date
            .iter()
            .map(|date| ("Date".to_owned(), Fact::Words(date.clone()))),
    );
    facts
}

/// The command line, with paths as they are shown.
pub(crate) fn command(has_full_paths: bool) -> String {
    let shown = |word: String| {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (format!("{option}="), value),
            _ => (String::new(), word.as_str()),
        };
        let value = if value.contains('/') {
            shown_path(value, has_full_paths)
        } else {
            value.to_owned()
        };
        quoted(&format!("{option}{value}"))
    };
    let words = std::env::args_os()
        .skip(1)
        .map(|word| shown(word.to_string_lossy().into_owned()));
    let words: Vec<String> = std::iter::once("metric".to_owned()).chain(words).collect();
    words.join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_./=:,+@%#".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl Wanted {
    /// The digits of scores after the point.
    pub(crate) fn digits(&self) -> usize {
        self.digits
    }

    /// The title that was asked for.
    pub(crate) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The date, if the report has one.
    pub(crate) fn date(&self) -> Option<&str> {
        self.date.as_deref()
    }

    /// The examples that are kept.
    pub(crate) fn ranking(&self) -> RankExamples {
        RankExamples {
            most: self.examples,
            inputs: self.has_texts && self.examples > 0,
        }
    }

    /// The number of examples in a list, and whether their texts are shown.
    pub(crate) fn examples(&self) -> (usize, bool) {
        (self.examples, self.has_texts)
    }

    /// The command line as it is shown.
    pub(crate) fn command(&self) -> String {
        command(self.has_full_paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_dates() {
        assert_eq!(iso_date(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso_date(1_767_225_599), "2025-12-31T23:59:59Z");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted("--k=1,5"), "--k=1,5");
        assert_eq!(quoted(""), "''");
    }
}
