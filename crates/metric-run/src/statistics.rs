//! Intervals of the scores of a run.

use std::collections::BTreeSet;
use std::ops::Range;

use metric_record::{Message, ReadError};
use metric_registry::stats::{
    Estimate, IntervalKind, NoInterval, estimate, least_resamples, proportion,
};
use metric_registry::{
    Column, Entry, MOST_KEPT_BYTES, Named, ResampledScope, Resampler, ScoreSpec, State,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::RunError;

/// How scores are resampled.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// The share of intervals that hold the true score.
    pub confidence: f64,
    /// The number of replicates.
    pub resamples: u64,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The field whose values tell clusters apart; `None` if each record is a cluster.
    pub cluster_field: Option<String>,
    /// The kind of interval.
    pub interval: IntervalKind,
}

impl Default for Statistics {
    fn default() -> Self {
        Self {
            confidence: 0.95,
            resamples: 2000,
            seed: 0,
            cluster_field: None,
            interval: IntervalKind::Auto,
        }
    }
}

/// The written form of [`Statistics`], in the header of a state file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Written {
    confidence: f64,
    resamples: u64,
    seed: u64,
    cluster_field: Option<String>,
    interval: String,
}

impl From<&Statistics> for Written {
    fn from(statistics: &Statistics) -> Self {
        Self {
            confidence: statistics.confidence,
            resamples: statistics.resamples,
            seed: statistics.seed,
            cluster_field: statistics.cluster_field.clone(),
            interval: statistics.interval.to_string(),
        }
    }
}

impl Written {
    /// Reads what a file says, which may be anything.
    pub(crate) fn statistics(self) -> Option<Statistics> {
        let statistics = Statistics {
            confidence: self.confidence,
            resamples: self.resamples,
            seed: self.seed,
            cluster_field: self.cluster_field,
            interval: self.interval.parse().ok()?,
        };
        statistics.check().is_ok().then_some(statistics)
    }
}

impl Statistics {
    /// Returns an error if there are too few resamples for the confidence, or if it is not between 0 and 1.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let Self {
            confidence,
            resamples,
            ..
        } = self;
        if !(*confidence > 0.0 && *confidence < 1.0) {
            let problem = Message::from(format!("invalid value \"{confidence}\" for "))
                .option("confidence", "")
                .text(": expected a number between 0 and 1, such as 0.95");
            return Err(RunError::Usage(problem));
        }
        let least = least_resamples(*confidence);
        if *resamples < least {
            let problem = Message::from(format!("invalid value \"{resamples}\" for "))
                .option("resamples", "")
                .text(format_args!(
                    ": expected at least {least} for a confidence of {confidence}"
                ));
            return Err(RunError::Usage(problem));
        }
        Ok(())
    }

    /// The parts of a signature.
    pub(crate) fn signature(&self) -> Named<String> {
        let mut parts = vec![
            ("confidence".to_owned(), self.confidence.to_string()),
            ("resamples".to_owned(), self.resamples.to_string()),
            ("seed".to_owned(), self.seed.to_string()),
        ];
        parts.extend(
            self.cluster_field
                .clone()
                .map(|field| ("cluster".to_owned(), field)),
        );
        parts.push(("interval".to_owned(), self.interval.to_string()));
        parts
    }

    /// Returns the seed as JSON: above 2^53 as a string, since many programs read larger integers inexactly.
    pub(crate) fn json_seed(&self) -> serde_json::Value {
        match self.seed {
            exact if exact <= 1 << 53 => exact.into(),
            large => large.to_string().into(),
        }
    }
}

/// The intervals of all scores of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// The intervals of the whole data.
    pub total: GroupIntervals,
    /// Those of groups, by kind of group and group.
    pub groups: Named<Named<GroupIntervals>>,
    /// What the user should know.
    pub warnings: Vec<Message>,
}

/// The intervals of one group of examples, or of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupIntervals {
    /// The number of clusters.
    pub clusters: u64,
    /// The intervals by score.
    pub intervals: Named<Estimate>,
}

impl Intervals {
    /// Returns the intervals of a group.
    #[must_use]
    pub fn group(&self, kind: &str, name: &str) -> Option<&GroupIntervals> {
        let of_kind = self.groups.iter().filter(|(found, _)| found == kind);
        let mut groups = of_kind.flat_map(|(_, groups)| groups);
        groups
            .find(|(found, _)| found == name)
            .map(|(_, group)| group)
    }

    fn entry(&mut self, group: Option<&(String, String)>) -> &mut GroupIntervals {
        let Some((kind, name)) = group else {
            return &mut self.total;
        };
        fn find<'n, T: Default>(named: &'n mut Named<T>, name: &str) -> &'n mut T {
            let place = named.iter().position(|(found, _)| found == name);
            let place = place.unwrap_or_else(|| {
                named.push((name.to_owned(), T::default()));
                named.len() - 1
            });
            &mut named[place].1
        }
        find(find(&mut self.groups, kind), name)
    }
}

/// Fewer clusters than this are worth a warning.
pub(crate) const FEW_CLUSTERS: u64 = 30;

/// The most memory that replicates of scores may take.
const MOST_REPLICATE_BYTES: u64 = 256 << 20;

/// How many replicates are computed at once.
const AT_ONCE: u64 = 50;

/// Refuses examples that take too much memory.
pub(crate) fn refuse_kept(state: &State, name: &str) -> Result<(), RunError> {
    let (bytes, most) = (state.kept_bytes(), MOST_KEPT_BYTES);
    if bytes <= most {
        return Ok(());
    }
    let problem = Message::from(format!(
        "the counts of single examples take {} MB, which are needed for ",
        bytes >> 20
    ))
    .option("resamples", "")
    .text(format_args!(
        ": expected at most {} MB; score parts of the data, or score without intervals",
        most >> 20
    ));
    Err(ReadError::new(name, problem).limit().into())
}

/// Refuses more replicates than fit in memory.
pub(crate) fn refuse_resamples(columns: usize, resamples: u64) -> Result<(), RunError> {
    let each = 8 * columns.max(1) as u64;
    let most = MOST_REPLICATE_BYTES / each;
    if resamples <= most {
        return Ok(());
    }
    let problem = Message::from(format!(
        "the replicates of {columns} scores do not fit in memory: expected "
    ))
    .option("resamples", "")
    .text(format_args!(" of at most {most}"));
    Err(ReadError::new("", problem).limit().into())
}

/// Returns the scores of all replicates of a scope, one list per column.
pub(crate) fn replicates(
    resampler: &Resampler,
    scope: usize,
    statistics: &Statistics,
) -> Vec<Vec<Option<f64>>> {
    let columns = resampler
        .scopes()
        .get(scope)
        .map_or(0, |scope| scope.columns.len());
    let last = statistics.resamples;
    let ranges = (0..last.div_ceil(AT_ONCE)).map(|index| {
        let start = 1 + index * AT_ONCE;
        start..(start + AT_ONCE).min(last + 1)
    });
    let ranges: Vec<Range<u64>> = ranges.collect();
    let parts = ranges.into_par_iter();
    let parts: Vec<Vec<f64>> = parts
        .map(|range| resampler.replicates(scope, statistics.seed, range))
        .collect();
    by_column(&parts, columns)
}

/// Divides rows of values into columns; NaN is undefined.
pub(crate) fn by_column(parts: &[Vec<f64>], columns: usize) -> Vec<Vec<Option<f64>>> {
    let mut lists = vec![Vec::new(); columns];
    for row in parts
        .iter()
        .flat_map(|part| part.chunks_exact(columns.max(1)))
    {
        for (list, value) in lists.iter_mut().zip(row) {
            list.push((!value.is_nan()).then_some(*value));
        }
    }
    lists
}

/// The two counts of a column that is a proportion: correct and total.
pub(crate) fn proportion_of(
    entry: &Entry,
    has_proportions: bool,
    scope: &ResampledScope,
    column: &Column,
    count: impl Fn(&str) -> Option<u64>,
) -> Option<(u64, u64)> {
    let spec = entry
        .score(&column.score)
        .filter(|_| has_proportions && scope.is_simple)?;
    if column.group != scope.group {
        return None;
    }
    let [correct, total] = counts_of(spec, &column.score)?;
    if !scope.unit_counts.contains(&total) {
        return None;
    }
    let (correct, total) = (count(&correct)?, count(&total)?);
    // Under some conventions the score of no examples is defined.
    (total > 0 && column.value == Some(correct as f64 / total as f64)).then_some((correct, total))
}

/// The names of the counts of a proportion.
fn counts_of(spec: &ScoreSpec, score: &str) -> Option<[String; 2]> {
    let (correct, total) = spec.proportion?;
    let named = |count: &str| {
        let has_parameter =
            !spec.parameter.is_empty() && count.chars().last() == spec.name.chars().last();
        match score.strip_prefix(spec.name).filter(|_| has_parameter) {
            Some(parameter) => format!("{count}{parameter}"),
            None => count.to_owned(),
        }
    };
    Some([named(correct), named(total)])
}

/// The counts of a report by name.
pub(crate) fn count_of<'c>(
    counts: &'c Named<serde_json::Value>,
) -> impl Fn(&str) -> Option<u64> + 'c {
    |name| {
        let found = counts.iter().find(|(count, _)| count == name);
        found.and_then(|(_, value)| value.as_u64())
    }
}

/// Computes the intervals of all scores of a state that keeps its examples.
pub(crate) fn intervals(
    entry: &Entry,
    has_proportions: bool,
    state: &State,
    statistics: &Statistics,
) -> Result<Option<Intervals>, RunError> {
    let internal = |error: metric_registry::StateError| RunError::Internal(error.to_string());
    let Some(resampler) = state.resampler().map_err(internal)? else {
        return Ok(None);
    };
    let report = state.report();
    let mut found = Intervals {
        total: GroupIntervals::default(),
        groups: Vec::new(),
        warnings: Vec::new(),
    };
    let columns: usize = resampler
        .scopes()
        .iter()
        .map(|scope| scope.columns.len())
        .sum();
    refuse_resamples(columns, statistics.resamples)?;
    let of_proportions = statistics.interval.of_proportions();
    for (index, scope) in resampler.scopes().iter().enumerate() {
        let counts = report.counts_of(scope.group.as_ref());
        let analytic = |column: &Column| {
            let counts = counts.filter(|_| of_proportions.is_analytic())?;
            let counts = proportion_of(entry, has_proportions, scope, column, count_of(counts))?;
            Some(proportion(
                counts.0,
                counts.1,
                statistics.confidence,
                of_proportions,
            ))
        };
        let mut estimates: Vec<Option<Estimate>> = scope.columns.iter().map(analytic).collect();
        if estimates.iter().any(Option::is_none) {
            let lists = replicates(&resampler, index, statistics);
            for ((column, list), found) in scope.columns.iter().zip(&lists).zip(&mut estimates) {
                found.get_or_insert_with(|| {
                    let method = statistics.interval.of_replicates();
                    estimate(
                        column.value,
                        list,
                        column.clusters,
                        statistics.confidence,
                        method,
                    )
                });
            }
        }
        found.entry(scope.group.as_ref()).clusters = scope.clusters;
        for (column, estimate) in scope.columns.iter().zip(estimates.into_iter().flatten()) {
            let entry = found.entry(column.group.as_ref());
            entry.clusters = column.clusters;
            entry.intervals.push((column.score.clone(), estimate));
        }
    }
    found.warnings = warnings(&found, statistics);
    Ok(Some(found))
}

/// A clause about a number of clusters, or records where each is a cluster.
pub(crate) fn clusters_text(count: u64, statistics: &Statistics) -> String {
    let one = match statistics.cluster_field {
        Some(_) => "cluster",
        None => "record",
    };
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

fn warnings(found: &Intervals, statistics: &Statistics) -> Vec<Message> {
    let mut warnings = Vec::new();
    let clusters = found.total.clusters;
    warnings.extend(clusters_warning(clusters, statistics));
    let mut of_group = |place: &str, group: &GroupIntervals| {
        let problems: BTreeSet<NoInterval> = group
            .intervals
            .iter()
            .filter_map(|(_, estimate)| estimate.problem)
            .collect();
        for problem in problems {
            let with = group
                .intervals
                .iter()
                .filter(|(_, estimate)| estimate.problem == Some(problem));
            let names: Vec<&str> = with.map(|(name, _)| name.as_str()).collect();
            warnings.push(Message::from(format!(
                "no interval for {place}{}: {problem}",
                names.join(", ")
            )));
        }
    };
    of_group("", &found.total);
    for (kind, groups) in &found.groups {
        for (name, group) in groups {
            of_group(&format!("{kind} {name:?}: "), group);
        }
    }
    warnings
}

/// The warning about few clusters.
pub(crate) fn clusters_warning(clusters: u64, statistics: &Statistics) -> Option<Message> {
    let confidence = statistics.confidence * 100.0;
    match (clusters, &statistics.cluster_field) {
        (1, Some(field)) => Some(Message::from(format!(
            "all records have the same value of {field:?} and are one cluster: expected at least 2"
        ))),
        (0 | FEW_CLUSTERS.., _) => None,
        (clusters, _) => Some(Message::from(format!(
            "{}: a {confidence:.0}% interval from fewer than {FEW_CLUSTERS} holds the true score less often, about 9 times in 10",
            clusters_text(clusters, statistics)
        ))),
    }
}
