//! Reports of suites: an overview of the tasks, then the sections of each.

use metric_judge::{Rule, Shown, Status, SuiteComparison, SuiteOutcome, TaskOutcome};
use metric_report::{
    Badge, Block, Card, Cell, Column, Fact, Report, Section, StoredResults, Table, Tone, counted,
};
use serde_json::Value;

use crate::error::Failure;
use crate::output::interval_name;
use crate::output_suite::{Difference, PARTS, Row, differences, rows, totals};
use crate::report::{self, Open};

/// Writes the report of an outcome, with the name of the submission, and with the threshold checks in words and whether they
/// are passed. Returns it if it is for standard output.
pub(crate) fn finish(
    open: Open,
    (outcome, shown): (&SuiteOutcome, Shown),
    (submission, verdicts): (&str, &[(String, bool)]),
) -> Result<Option<String>, Failure> {
    // The tasks have references of their own.
    let examples = |_: &str, _| None;
    open.finish_with(examples, |wanted, files| {
        let results = outcome.tasks.iter().filter_map(|task| {
            let json = serde_json::from_str(task.result(shown)?).ok()?;
            Some((task.name.clone(), json))
        });
        let results: Vec<(String, Value)> = results.collect();
        let mut facts = vec![("Submission".to_owned(), Fact::Text(submission.to_owned()))];
        // The command may name files of the organizer.
        if shown == Shown::Organizer {
            facts.push(("Command".to_owned(), Fact::Text(wanted.command())));
            facts.extend(files);
        }
        facts.extend(report::program_facts(wanted));
        let has_texts = wanted.examples().1;
        let all = StoredResults {
            results: &results,
            has_texts,
            facts,
            ..StoredResults::default()
        };
        // The last section of a page says where its numbers come from.
        let mut page = all.report();
        let provenance = page.sections.pop();
        let mut sections = vec![scores(outcome, shown), tasks(outcome, shown)];
        if let Some(comparison) = &outcome.comparison {
            sections.insert(0, differences_section(outcome, comparison));
        }
        for result in &results {
            sections.extend(of_task(result, has_texts));
        }
        sections.extend(provenance);
        let mut warnings = outcome.warnings(shown);
        warnings.append(&mut page.warnings);
        Report {
            title: wanted.title().unwrap_or(&outcome.name).to_owned(),
            summary: summary((outcome, shown), submission),
            badges: std::iter::once(badge(outcome))
                .chain(verdicts.iter().map(verdict))
                .collect(),
            cards: cards(outcome, shown),
            warnings,
            sections,
            ..page
        }
    })
}

/// The submission, the number of tasks, and the part of the references.
fn summary((outcome, shown): (&SuiteOutcome, Shown), submission: &str) -> String {
    let tasks = counted(outcome.tasks.len() as u64, "task");
    let part = outcome.part(shown);
    let part = part.map_or_else(String::new, |part| format!("; {part} part"));
    let against = outcome.comparison.as_ref();
    let against = against.map_or_else(String::new, |it| format!(" against {}", it.names()[0]));
    format!("{submission}{against}; {tasks}{part}")
}

fn verdict((check, is_passed): &(String, bool)) -> Badge {
    if *is_passed {
        return Badge {
            text: check.clone(),
            tone: Tone::Good,
        };
    }
    Badge {
        text: format!("failed: {check}"),
        tone: Tone::Bad,
    }
}

fn text_column(name: &str) -> Column {
    Column {
        name: name.to_owned(),
        bar: None,
        text: true,
    }
}

fn number_column(name: &str) -> Column {
    Column {
        text: false,
        ..text_column(name)
    }
}

/// The scores with their weights, of all data and of the parts, and the totals.
fn scores(outcome: &SuiteOutcome, shown: Shown) -> Section {
    let totals = totals(outcome, shown);
    let weights: &[f64] = match outcome.rule() {
        Some(Rule::Weighted(weights)) => weights,
        _ => &[],
    };
    let counted = outcome.counted(shown);
    let weight = |row: &Row<'_>| {
        let name = format!("{}.{}", row.task.name, row.score);
        let position = counted.iter().position(|(other, _)| *other == name);
        Cell::from(position.and_then(|position| weights.get(position)).copied())
    };
    let parts = PARTS.into_iter().take(totals.len() - 1);
    let mut columns = vec![text_column("task"), text_column("score")];
    columns.extend((!weights.is_empty()).then(|| number_column("weight")));
    columns.push(number_column("value"));
    columns.extend(parts.clone().map(number_column));
    let row = |row: Row<'_>| {
        let mut cells = vec![
            Cell::from(row.task.name.as_str()),
            Cell::from(row.score.as_str()),
        ];
        cells.extend((!weights.is_empty()).then(|| weight(&row)));
        cells.push(Cell::from(row.value));
        let of_parts = row.parts.unwrap_or_default().map(Cell::from);
        cells.extend(of_parts.into_iter().take(totals.len() - 1));
        cells
    };
    let mut rows: Vec<Vec<Cell>> = self::rows(outcome, shown).into_iter().map(row).collect();
    if let Some(rule) = outcome.rule() {
        let mut cells = vec![Cell::from("total"), Cell::Text(rule.to_string())];
        let weight: f64 = weights.iter().sum();
        cells.extend((!weights.is_empty()).then_some(Cell::Number(weight)));
        cells.extend(totals.iter().copied().map(Cell::from));
        rows.push(cells);
    }
    section(
        "Scores",
        "The scores that count, and their total",
        columns,
        rows,
    )
}

/// What the terminal shows of a comparison.
fn differences_section(outcome: &SuiteOutcome, comparison: &SuiteComparison) -> Section {
    let [baseline, system] = comparison.names();
    let columns = vec![
        text_column("task"),
        text_column("score"),
        number_column(&format!("{system} - {baseline}")),
        number_column(&interval_name(comparison.confidence())),
        number_column("p"),
    ];
    let row = |it: Difference| {
        vec![
            Cell::Text(it.task),
            Cell::Text(it.score),
            it.delta.map_or(Cell::Undefined, Cell::Difference),
            it.ends.map_or(Cell::Undefined, Cell::Interval),
            Cell::from(it.p),
        ]
    };
    let rows = differences(outcome, comparison).into_iter().map(row);
    let caption = format!("The difference of {system} from {baseline}, the baseline");
    section("Comparison", &caption, columns, rows.collect())
}

fn section(title: &str, caption: &str, columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Section {
    Section {
        title: title.to_owned(),
        note: String::new(),
        blocks: vec![Block::Table(Table {
            caption: caption.to_owned(),
            columns,
            rows,
            order: None,
            rest: String::new(),
        })],
    }
}

/// The scores of a task, and the sections of its page.
fn of_task(result: &(String, Value), has_texts: bool) -> Vec<Section> {
    let page = StoredResults {
        results: std::slice::from_ref(result),
        has_texts,
        ..StoredResults::default()
    };
    let mut page = page.report();
    page.sections.pop();
    let (name, _) = result;
    let scores = Section {
        title: name.clone(),
        note: page.summary,
        blocks: vec![Block::Cards(page.cards)],
    };
    let others = page.sections.into_iter().map(|section| Section {
        title: format!("{name}: {}", section.title),
        ..section
    });
    std::iter::once(scores).chain(others).collect()
}

/// The number of tasks that were scored.
fn badge(outcome: &SuiteOutcome) -> Badge {
    let tasks = outcome.tasks.iter();
    let failed = tasks.filter(|task| task.status != Status::Ok).count();
    let count = outcome.tasks.len();
    let (text, tone) = match failed {
        0 => (format!("{count} of {count} tasks scored"), Tone::Good),
        _ => (format!("{failed} of {count} tasks not scored"), Tone::Bad),
    };
    Badge { text, tone }
}

/// The total, and the scores that it is made of.
fn cards(outcome: &SuiteOutcome, shown: Shown) -> Vec<Card> {
    let total = outcome.rule().map(|rule| Card {
        name: "total".to_owned(),
        label: String::new(),
        value: outcome.total(shown),
        notes: std::iter::once(format!("by the rule {rule}"))
            .chain(undefined(outcome.total(shown)))
            .collect(),
        interval: None,
    });
    let counted = outcome
        .counted(shown)
        .into_iter()
        .map(|(name, value)| Card {
            name,
            label: String::new(),
            value,
            notes: undefined(value),
            interval: None,
        });
    total.into_iter().chain(counted).collect()
}

/// A note about a score that is not there.
fn undefined(value: Option<f64>) -> Vec<String> {
    let note = "undefined: see the tasks".to_owned();
    value.is_none().then_some(note).into_iter().collect()
}

/// A table of the tasks with their status, and the number of examples of those that have a result.
fn tasks(outcome: &SuiteOutcome, shown: Shown) -> Section {
    let column = |name: &str| Column {
        name: name.to_owned(),
        bar: None,
        text: name != "examples",
    };
    let row = |task: &TaskOutcome| {
        let text = |text: &str| Cell::Text(text.to_owned());
        vec![
            text(&task.name),
            text(task.metric),
            task.examples(shown).map_or(Cell::Undefined, Cell::Count),
            text(task.status.name()),
            // Most tasks end well.
            text(task.reason(shown).unwrap_or("–")),
        ]
    };
    Section {
        title: "Tasks".to_owned(),
        note: String::new(),
        blocks: vec![Block::Table(Table {
            caption: "How each task ended".to_owned(),
            columns: ["task", "metric", "examples", "status", "reason"]
                .map(column)
                .to_vec(),
            rows: outcome.tasks.iter().map(row).collect(),
            order: None,
            rest: String::new(),
        })],
    }
}
