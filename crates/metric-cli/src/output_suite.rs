//! The outcome of a suite as a table, as JSON, Markdown, LaTeX or CSV.

use metric_judge::{Rule, Shown, Status, SuiteComparison, SuiteOutcome, TaskOutcome};

use metric_run::with_json_field;
use serde_json::Value;

use crate::checks::SuiteVerdict;
use crate::error::printable;
use crate::output::{
    Numbers, Style, cell, csv_field, interval_name, latex_cells, latex_table, latex_text, push,
};
use crate::table::{Grid, Layout};

/// The name of the row of the total.
const TOTAL: &str = "total";
/// The names of the parts of a data set.
pub(crate) const PARTS: [&str; 2] = ["public", "private"];

/// A score of a task, in all data and in the parts.
pub(crate) struct Row<'o> {
    pub(crate) task: &'o TaskOutcome,
    pub(crate) score: String,
    pub(crate) value: Option<f64>,
    pub(crate) parts: Option<[Option<f64>; 2]>,
}

/// The result, ending in a newline.
pub(crate) fn render(
    (outcome, verdicts): (&SuiteOutcome, &[SuiteVerdict<'_>]),
    shown: Shown,
    style: Style,
    layout: Layout,
    numbers: Numbers,
) -> String {
    match style {
        Style::Json if verdicts.is_empty() => outcome.to_json(shown) + "\n",
        Style::Json => {
            let verdicts = verdicts.iter().map(SuiteVerdict::json);
            let verdicts = Value::from_iter(verdicts).to_string();
            with_json_field(&outcome.to_json(shown), "checks", &verdicts) + "\n"
        }
        Style::Table | Style::Markdown => table(outcome, shown, layout, numbers),
        Style::Latex => latex(outcome, shown, numbers),
        Style::Csv => csv(outcome, shown, numbers),
    }
}

/// The scores of the total, and the first score of each task that has none in it.
pub(crate) fn rows(outcome: &SuiteOutcome, shown: Shown) -> Vec<Row<'_>> {
    let counted = outcome.counted(shown);
    let parts = match shown {
        Shown::Organizer => outcome.parts(),
        Shown::Participants => None,
    };
    let value_of = |list: &[(String, Option<f64>)], name: &str| {
        let found = list.iter().find(|(other, _)| other == name);
        found.and_then(|(_, value)| *value)
    };
    let most = if outcome.rule().is_some() {
        usize::MAX
    } else {
        1
    };
    let mut rows = Vec::new();
    for task in &outcome.tasks {
        let before = rows.len();
        let own = counted.iter().filter_map(|(name, value)| {
            let score = name.strip_prefix(task.name.as_str())?.strip_prefix('.')?;
            let parts = parts.as_ref();
            Some(Row {
                task,
                score: score.to_owned(),
                value: *value,
                parts: parts.map(|parts| [0, 1].map(|part| value_of(&parts[part].0, name))),
            })
        });
        rows.extend(own.take(most));
        if rows.len() == before {
            let first = task.scores(shown).first();
            rows.push(Row {
                task,
                score: first.map_or_else(String::new, |(name, _)| name.clone()),
                value: first.and_then(|(_, value)| *value),
                parts: None,
            });
        }
    }
    rows
}

/// The word for the rule of a total.
fn rule(outcome: &SuiteOutcome) -> String {
    outcome.rule().map(Rule::to_string).unwrap_or_default()
}

/// The totals of all data and of the parts.
pub(crate) fn totals(outcome: &SuiteOutcome, shown: Shown) -> Vec<Option<f64>> {
    let parts = match shown {
        Shown::Organizer => outcome.parts(),
        Shown::Participants => None,
    };
    let parts = parts.into_iter().flatten().map(|(_, total)| total);
    std::iter::once(outcome.total(shown)).chain(parts).collect()
}

/// Names of columns, and cells as text.
fn cells(
    outcome: &SuiteOutcome,
    shown: Shown,
    numbers: Numbers,
) -> (Vec<String>, Vec<Vec<String>>) {
    let totals = totals(outcome, shown);
    let parts: &[&str] = match totals.len() {
        1 => &[],
        _ => &["public", "private"],
    };
    let header = [
        "task",
        "metric",
        "status",
        "score",
        &numbers.column("value"),
    ];
    let header = header.iter().chain(parts).map(|name| (*name).to_owned());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for row in self::rows(outcome, shown) {
        let names = [
            row.task.name.clone(),
            row.task.metric.to_owned(),
            row.task.status.name().to_owned(),
            row.score,
        ];
        let in_parts = row.parts.unwrap_or_default();
        let in_parts = in_parts.into_iter().take(parts.len());
        let values = std::iter::once(row.value).chain(in_parts);
        let values = values.map(|value| numbers.score(value));
        rows.push(names.into_iter().chain(values).collect());
    }
    if outcome.rule().is_some() {
        let names = [
            TOTAL.to_owned(),
            String::new(),
            String::new(),
            rule(outcome),
        ];
        let values = totals.into_iter().map(|value| numbers.score(value));
        rows.push(names.into_iter().chain(values).collect());
    }
    (header.collect(), rows)
}

/// The name of the suite, with the part of the references that is shown if not all of them are.
fn heading(outcome: &SuiteOutcome, shown: Shown) -> String {
    match outcome.part(shown) {
        Some(part) => format!("{} ({part} part)", outcome.name),
        None => outcome.name.clone(),
    }
}

fn table(outcome: &SuiteOutcome, shown: Shown, layout: Layout, numbers: Numbers) -> String {
    let markdown = layout.is_markdown;
    let mut text = format!("{}\n\n", cell(&heading(outcome, shown), markdown));
    // The values say more than the name of the metric.
    let first = [0, 4, 2, 3, 1];
    push_table(
        &mut text,
        &cells(outcome, shown, numbers),
        4,
        &first,
        layout,
    );
    if let Some(comparison) = &outcome.comparison {
        let cells = difference_cells(outcome, comparison, numbers);
        push_table(&mut text, &cells, 2, &[], layout);
    }
    let tasks = outcome.tasks.iter();
    let failed = tasks.filter(|task| task.status != Status::Ok);
    for task in failed {
        let reason = task.reason(shown).unwrap_or_default().replace('\n', "; ");
        let bullet = if markdown { "- " } else { "" };
        text.push_str(&format!("{bullet}{}: {}\n", task.name, printable(&reason)));
    }
    text
}

/// Appends a table whose first columns are names. The columns that matter most come first in `important`, the others in
/// their order.
fn push_table(
    text: &mut String,
    (header, rows): &(Vec<String>, Vec<Vec<String>>),
    names: usize,
    important: &[usize],
    layout: Layout,
) {
    let others = (0..header.len()).filter(|column| !important.contains(column));
    let mut table = Grid::new(header)
        .with_texts(1..names)
        .with_importance(important.iter().copied().chain(others).collect());
    for row in rows {
        table.add_row(row.iter().map(|text| cell(text, layout.is_markdown)));
    }
    push(text, &table, layout);
}

/// A difference between two submissions in a score of a task, or in the total.
pub(crate) struct Difference {
    pub(crate) task: String,
    pub(crate) score: String,
    pub(crate) delta: Option<f64>,
    pub(crate) ends: Option<[f64; 2]>,
    pub(crate) p: Option<f64>,
}

/// The differences between two submissions, and that of their totals. A task that is not compared has no score.
pub(crate) fn differences(outcome: &SuiteOutcome, comparison: &SuiteComparison) -> Vec<Difference> {
    let counted = outcome.counted(Shown::Organizer);
    let is_counted = |task: &str, score: &str| {
        let name = format!("{task}.{score}");
        counted.iter().any(|(other, _)| *other == name)
    };
    let mut all = Vec::new();
    for (task, json) in comparison.tasks() {
        let json = json.ok().and_then(|json| serde_json::from_str(json).ok());
        let Some(json): Option<Value> = json else {
            all.push(Difference {
                task: task.to_owned(),
                score: String::new(),
                delta: None,
                ends: None,
                p: None,
            });
            continue;
        };
        for found in json["comparisons"].as_array().into_iter().flatten() {
            let score = found["score"].as_str().unwrap_or_default();
            let number = |name: &str| found[name].as_f64();
            if is_counted(task, score) {
                all.push(Difference {
                    task: task.to_owned(),
                    score: score.to_owned(),
                    delta: number("delta"),
                    ends: number("low").zip(number("high")).map(<[f64; 2]>::from),
                    p: number("p"),
                });
            }
        }
    }
    if outcome.rule().is_some() {
        let total = comparison.total.as_ref();
        all.push(Difference {
            task: TOTAL.to_owned(),
            score: rule(outcome),
            delta: total.map(|total| total.delta),
            ends: total.and_then(|total| total.estimate.ends),
            p: total.map(|total| total.p),
        });
    }
    all
}

/// The differences as names of columns, and cells as text.
fn difference_cells(
    outcome: &SuiteOutcome,
    comparison: &SuiteComparison,
    numbers: Numbers,
) -> (Vec<String>, Vec<Vec<String>>) {
    let [baseline, system] = comparison.names();
    let header = [
        "task".to_owned(),
        "score".to_owned(),
        format!("{system} - {baseline}"),
        interval_name(comparison.confidence()),
        "p".to_owned(),
    ];
    let row = |it: Difference| {
        let values = [
            numbers.score(it.delta),
            numbers.ends(it.ends),
            p_value(it.p),
        ];
        [it.task, it.score].into_iter().chain(values).collect()
    };
    let rows = differences(outcome, comparison).into_iter().map(row);
    (header.to_vec(), rows.collect())
}

/// A p-value for people; `-` is undefined.
fn p_value(p: Option<f64>) -> String {
    p.map_or_else(|| "-".to_owned(), |p| format!("{p:.4}"))
}

fn latex(outcome: &SuiteOutcome, shown: Shown, numbers: Numbers) -> String {
    let comparison = outcome.comparison.as_ref();
    let differences = comparison.map(|it| difference_cells(outcome, it, numbers));
    let all = std::iter::once(cells(outcome, shown, numbers)).chain(differences);
    let tables = all.map(|(header, rows)| {
        let rows = rows.iter().map(|row| latex_cells(row));
        latex_table(&header, rows)
    });
    let tables: Vec<String> = tables.collect();
    let heading = heading(outcome, shown);
    format!("{}% {}\n", tables.join("\n"), latex_text(&heading))
}

/// One row per score of each task, then the totals. A comparison adds columns.
fn csv(outcome: &SuiteOutcome, shown: Shown, numbers: Numbers) -> String {
    let totals = totals(outcome, shown);
    let parts = totals.len() - 1;
    let comparison = outcome.comparison.as_ref();
    let differences = comparison.map(|comparison| differences(outcome, comparison));
    let header = ["task", "metric", "status", "score", "value"].into_iter();
    let header = header.chain(PARTS.into_iter().take(parts));
    let compared = ["baseline", "delta", "low", "high", "p"];
    let header = header.chain(comparison.iter().flat_map(|_| compared));
    let mut text = header.collect::<Vec<_>>().join(",") + "\n";
    let mut add = |names: [&str; 4], values: Vec<Option<f64>>| {
        let mut fields: Vec<String> = names.map(csv_field).into();
        fields.extend(values.into_iter().map(|value| numbers.plain(value)));
        let found = differences.iter().flatten();
        let [task, metric, _, score] = names;
        // The score of the total is its rule.
        let score = if task == TOTAL && score == TOTAL {
            metric
        } else {
            score
        };
        let mut found = found.filter(|it| (&*it.task, &*it.score) == (task, score));
        if let Some(comparison) = comparison {
            let [baseline, _] = comparison.names();
            fields.push(csv_field(baseline));
            fields.extend(csv_difference(found.next(), numbers));
        }
        text.push_str(&(fields.join(",") + "\n"));
    };
    for row in rows(outcome, shown) {
        let in_parts = row.parts.unwrap_or_default().into_iter().take(parts);
        let values = std::iter::once(row.value).chain(in_parts).collect();
        let TaskOutcome {
            name,
            metric,
            status,
            ..
        } = row.task;
        add([name, metric, status.name(), &row.score], values);
    }
    if outcome.rule().is_some() {
        let rule = rule(outcome);
        add([TOTAL, &rule, "", TOTAL], totals.clone());
        // The parts have rows of their own as well, so that each number is found by the name of its score.
        for (name, total) in PARTS.into_iter().zip(totals.into_iter().skip(1)) {
            let values = std::iter::once(total).chain(std::iter::repeat_n(None, parts));
            add([TOTAL, &rule, "", name], values.collect());
        }
    }
    text
}

/// The fields of a difference, which are empty if there is none. Unlike scores, p-values are neither rounded nor
/// percentages.
fn csv_difference(it: Option<&Difference>, numbers: Numbers) -> [String; 4] {
    let [low, high] = it
        .and_then(|it| it.ends)
        .map_or([None; 2], |ends| ends.map(Some));
    let [delta, low, high] =
        [it.and_then(|it| it.delta), low, high].map(|value| numbers.plain(value));
    [
        delta,
        low,
        high,
        Numbers::default().plain(it.and_then(|it| it.p)),
    ]
}
