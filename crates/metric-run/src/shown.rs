//! The scores that a result shows, and the order of its groups.

use metric_record::Message;
use metric_registry::{Direction, Entry, Named, Report};

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
            let known: Vec<String> = entries.iter().flat_map(|entry| names_of(entry)).collect();
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
                let problem = Message::default().option("scores", &self.scores.join(","));
                let problem = problem.text(format_args!(
                    ": nothing is left of {}: expected at least one of {}",
                    entry.name,
                    names_of(entry).join(", ")
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
            let of_group = |scores: &Named<Option<f64>>| {
                let found = scores.iter().find(|(name, _)| name == score);
                found.and_then(|(_, value)| *value)
            };
            for (_, groups) in &mut report.groups {
                groups
                    .sort_by(|a, b| self.order(entry, [of_group(&a.scores), of_group(&b.scores)]));
            }
        }
        self.keep(&mut report.scores);
        for (_, groups) in &mut report.groups {
            groups
                .iter_mut()
                .for_each(|group| self.keep(&mut group.scores));
        }
    }

    /// The order of two groups by their values of the score that groups are sorted by. Undefined values come last.
    pub(crate) fn order(&self, entry: &Entry, values: [Option<f64>; 2]) -> std::cmp::Ordering {
        let spec = self.sort.as_ref().and_then(|score| entry.score(score));
        let is_lower_better = spec.is_some_and(|spec| spec.direction == Some(Direction::Lower));
        match values {
            [Some(a), Some(b)] if is_lower_better => a.total_cmp(&b),
            [Some(a), Some(b)] => b.total_cmp(&a),
            [a, b] => b.is_some().cmp(&a.is_some()),
        }
    }
}

/// The names of the scores of a metric, with their parameters.
fn names_of(entry: &Entry) -> Vec<String> {
    let names = entry.scores.iter();
    names
        .map(|spec| format!("{}{}", spec.name, spec.parameter))
        .collect()
}
