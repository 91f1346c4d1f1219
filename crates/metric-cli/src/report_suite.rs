//! Reports of suites: an overview of the tasks, then the sections of each.

use metric_judge::{Shown, Status, SuiteOutcome, TaskOutcome};
use metric_report::{
    Badge, Block, Card, Cell, Column, Fact, Report, Section, StoredResults, Table, Tone, counted,
};
use serde_json::Value;

use crate::error::Failure;
use crate::report::{self, Open};

/// Writes the report of an outcome. Returns it if it is for standard output.
pub(crate) fn finish(
    open: Open,
    outcome: &SuiteOutcome,
    shown: Shown,
) -> Result<Option<String>, Failure> {
    // The tasks have references of their own.
    let examples = |_: &str, _| None;
    open.finish_with(examples, |wanted, files| {
        let results = outcome.tasks.iter().filter_map(|task| {
            let json = serde_json::from_str(task.result(shown)?).ok()?;
            Some((task.name.clone(), json))
        });
        let results: Vec<(String, Value)> = results.collect();
        let mut facts = Vec::new();
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
        let mut sections = vec![tasks(outcome, shown)];
        for result in &results {
            sections.extend(of_task(result, has_texts));
        }
        sections.extend(provenance);
        let mut warnings = outcome.warnings(shown);
        warnings.append(&mut page.warnings);
        let count = outcome.tasks.len() as u64;
        Report {
            title: wanted.title().unwrap_or(&outcome.name).to_owned(),
            summary: match outcome.part(shown) {
                Some(part) => format!("{}; {part} part", counted(count, "task")),
                None => counted(count, "task"),
            },
            badges: vec![badge(outcome)],
            cards: cards(outcome, shown),
            warnings,
            sections,
            ..page
        }
    })
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
