//! The scores that a result shows, and the order of its groups.

use std::cmp::Ordering;

use metric_record::Message;
use metric_registry::{Direction, Entry, Group, Named, Report};

use crate::RunError;

/// The scores that a result shows, and the order of its groups. What is computed does not depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownScores {
    /// The names of the scores, in the order in which they are shown; empty for all scores.
    pub scores: Vec<String>,
    /// The score that groups are sorted by, the best group first; `None` for the order of the metric.
    pub sort: Option<String>,
}

impl ShownScores {
    /// Refuses names that are scores of none of these metrics.
    ///
    /// # Errors
    ///
    /// Returns an error that names the scores.
    pub fn check(&self, entries: &[&Entry]) -> Result<(), RunError> {
        let scores = self.scores.iter().map(|name| ("scores", name));
        let names = scores.chain(self.sort.iter().map(|name| ("sort", name)));
        for (option, name) in names {
            if entries.iter().any(|entry| entry.score(name).is_some()) {
                continue;
            }
            let known = entries.iter().flat_map(|entry| entry.scores);
            let known: Vec<String> = known.map(ToString::to_string).collect();
            let problem = Message::default().option(option, name);
            return Err(RunError::Usage(problem.text(format_args!(
                ": no such score: expected one of {}",
                known.join(", ")
            ))));
        }
        let has_none = |entry: &&&Entry| {
            let mut scores = self.scores.iter();
            !self.scores.is_empty() && !scores.any(|name| entry.score(name).is_some())
        };
        match entries.iter().find(has_none) {
            None => Ok(()),
            Some(entry) => {
                let known: Vec<String> = entry.scores.iter().map(ToString::to_string).collect();
                let problem = Message::default().option("scores", &self.scores.join(","));
                let problem = problem.text(format_args!(
                    ": nothing is left of {}: expected at least one of {}",
                    entry.name,
                    known.join(", ")
                ));
                Err(RunError::Usage(problem))
            }
        }
    }

    /// Leaves the scores that are wanted, in their order.
    pub(crate) fn keep<T>(&self, scores: &mut Named<T>) {
        if self.scores.is_empty() {
            return;
        }
        let position = |name: &str| self.scores.iter().position(|wanted| wanted == name);
        scores.retain(|(name, _)| position(name).is_some());
        scores.sort_by_key(|(name, _)| position(name));
    }

    /// Sorts the groups of a report, and leaves the scores that are wanted. Of names that fit the metric, and that this result
    /// has not, there is a warning.
    pub(crate) fn apply(&self, entry: &Entry, report: &mut Report) {
        let has = |report: &Report, wanted: &String| {
            let of_groups = report.groups.iter().flat_map(|(_, groups)| groups);
            let mut lists =
                std::iter::once(&report.scores).chain(of_groups.map(|group| &group.scores));
            lists.any(|scores| scores.iter().any(|(name, _)| name == wanted))
        };
        let wanted = self.scores.iter().chain(&self.sort);
        let absent = wanted.filter(|name| entry.score(name).is_some() && !has(report, name));
        let absent: Vec<Message> = absent
            .map(|name| format!("{name}: the result has no such score").into())
            .collect();
        report.warnings.extend(absent);
        if let Some(score) = &self.sort {
            let direction = entry.score(score).and_then(|spec| spec.direction);
            let of_group = |group: &Group| {
                let found = group.scores.iter().find(|(name, _)| name == score);
                found.and_then(|(_, value)| *value)
            };
            for (_, groups) in &mut report.groups {
                groups.sort_by(|a, b| order(direction, [of_group(a), of_group(b)]));
            }
        }
        self.keep(&mut report.scores);
        for (_, groups) in &mut report.groups {
            groups
                .iter_mut()
                .for_each(|group| self.keep(&mut group.scores));
        }
    }
}

/// The order of two groups by their values of a score, the better one first. Undefined values come last.
fn order(direction: Option<Direction>, values: [Option<f64>; 2]) -> Ordering {
    match (values, direction) {
        ([Some(a), Some(b)], Some(Direction::Lower)) => a.total_cmp(&b),
        ([Some(a), Some(b)], _) => b.total_cmp(&a),
        ([a, b], _) => b.is_some().cmp(&a.is_some()),
    }
}
