//! Intervals of the scores of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use metric_record::{Message, ReadError};
use metric_registry::stats::{
    Estimate, IntervalKind, NoInterval, estimate, least_resamples, proportion,
};
use metric_registry::{
    Column, Entry, MOST_KEPT_BYTES, Named, Report, ResampledScope, Resampler, ScoreSpec, State,
    StateError,
};
use serde::{Deserialize, Serialize};

use crate::interrupt::{is_over, refuse_interrupted};
use crate::threads::{mapped, of_pool};
use crate::words::counted;
use crate::{Observer, RunError, memory};

/// The resampling of scores.
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
    #[must_use]
    pub fn json_seed(&self) -> serde_json::Value {
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
    /// Warnings for the user.
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
            let index = named.iter().position(|(found, _)| found == name);
            let index = index.unwrap_or_else(|| {
                named.push((name.to_owned(), T::default()));
                named.len() - 1
            });
            &mut named[index].1
        }
        find(find(&mut self.groups, kind), name)
    }
}

/// Fewer clusters than this are worth a warning.
pub(crate) const FEW_CLUSTERS: u64 = 30;

/// The most memory that replicates of scores may take.
const MOST_REPLICATE_BYTES: u64 = 256 << 20;

/// The number of replicates that are computed at once.
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
    // As they come, and by column.
    let each = (size_of::<f64>() + size_of::<Option<f64>>()) * columns.max(1);
    let each = each as u64;
    let most = MOST_REPLICATE_BYTES / each;
    let is_room = || memory::refuse_lack(each.saturating_mul(resamples)).is_ok();
    if resamples <= most && is_room() {
        return Ok(());
    }
    let most = most.min(resamples.saturating_sub(1));
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
    progress: &Progress<'_>,
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
    let draws = resampler.draws(scope);
    let replicate = |range: &Range<u64>| {
        if is_over() {
            return Vec::new();
        }
        let count = range.end - range.start;
        let values = draws.replicates(statistics.seed, range.clone());
        progress.advance(count);
        values
    };
    let parts: Vec<Vec<f64>> = mapped(&ranges, of_pool(), replicate);
    by_column(&parts, columns)
}

/// The number of replicates and trials that are done.
pub(crate) struct Progress<'o> {
    observer: &'o dyn Observer,
    done: AtomicU64,
    total: u64,
}

impl<'o> Progress<'o> {
    pub(crate) fn new(observer: &'o dyn Observer, total: u64) -> Self {
        Self {
            observer,
            done: AtomicU64::new(0),
            total,
        }
    }

    pub(crate) fn advance(&self, count: u64) {
        let done = count + self.done.fetch_add(count, Ordering::Relaxed);
        self.observer.resampled(done, self.total);
    }
}

/// The replicates of a state: by scope, one list per column.
pub(crate) struct Resampled {
    pub(crate) scopes: Vec<ResampledScope>,
    /// Empty for a scope that is not drawn.
    lists: Vec<Vec<Vec<Option<f64>>>>,
}

impl Resampled {
    /// Draws the replicates of the scopes that are requested; `None` if the state keeps no
    /// examples.
    pub(crate) fn new(
        state: &State,
        statistics: &Statistics,
        is_wanted: impl Fn(&ResampledScope) -> bool,
        observer: &dyn Observer,
    ) -> Result<Option<Self>, RunError> {
        let Some(resampler) = state.resampler().map_err(internal)? else {
            return Ok(None);
        };
        let scopes = resampler.scopes().to_vec();
        let columns: usize = scopes.iter().map(|scope| scope.columns.len()).sum();
        refuse_resamples(columns, statistics.resamples)?;
        let wanted: Vec<bool> = scopes.iter().map(is_wanted).collect();
        let count = wanted.iter().filter(|&&is_wanted| is_wanted).count() as u64;
        let progress = Progress::new(observer, count * statistics.resamples);
        let draw = |(scope, is_wanted): (usize, &bool)| {
            if *is_wanted {
                replicates(&resampler, scope, statistics, &progress)
            } else {
                Vec::new()
            }
        };
        let lists = wanted.iter().enumerate().map(draw).collect();
        refuse_interrupted()?;
        Ok(Some(Self { scopes, lists }))
    }

    /// The value and the replicates of a score.
    pub(crate) fn replicates_of(
        &self,
        scope: &ResampledScope,
        column: &Column,
    ) -> Option<(&Column, &[Option<f64>])> {
        let index = self.scopes.iter().position(|it| it.group == scope.group)?;
        let columns = &self.scopes.get(index)?.columns;
        let is_it = |it: &Column| it.group == column.group && it.score == column.score;
        let position = columns.iter().position(is_it)?;
        Some((
            columns.get(position)?,
            self.lists.get(index)?.get(position)?,
        ))
    }
}

pub(crate) fn internal(error: StateError) -> RunError {
    RunError::Internal(error.to_string())
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

/// Computes the intervals of proportions that need no replicates.
pub(crate) struct Analytic<'r> {
    pub(crate) entry: &'r Entry,
    pub(crate) has_proportions: bool,
    pub(crate) report: &'r Report,
    pub(crate) statistics: &'r Statistics,
}

impl Analytic<'_> {
    /// The interval of a column, if it is a proportion and replicates are not asked for.
    fn estimate(&self, scope: &ResampledScope, column: &Column) -> Option<Estimate> {
        let method = self.statistics.interval.of_proportions();
        let counts = self.report.counts_of(scope.group.as_ref());
        let counts = counts.filter(|_| method.is_analytic())?;
        let (correct, total) = proportion_of(
            self.entry,
            self.has_proportions,
            scope,
            column,
            count_of(counts),
        )?;
        let confidence = self.statistics.confidence;
        Some(proportion(correct, total, confidence, method))
    }

    /// Whether a score of the scope needs replicates.
    pub(crate) fn needs_replicates(&self, scope: &ResampledScope) -> bool {
        let mut columns = scope.columns.iter();
        columns.any(|column| self.estimate(scope, column).is_none())
    }

    /// Returns the intervals of all scores.
    pub(crate) fn intervals(&self, resampled: &Resampled) -> Intervals {
        let statistics = self.statistics;
        let mut found = Intervals {
            total: GroupIntervals::default(),
            groups: Vec::new(),
            warnings: Vec::new(),
        };
        for scope in &resampled.scopes {
            found.entry(scope.group.as_ref()).clusters = scope.clusters;
            for column in &scope.columns {
                let of_replicates = || {
                    let list = resampled
                        .replicates_of(scope, column)
                        .map_or(&[][..], |(_, list)| list);
                    let method = statistics.interval.of_replicates();
                    estimate(
                        column.value,
                        list,
                        column.clusters,
                        statistics.confidence,
                        method,
                    )
                };
                let estimate = self.estimate(scope, column);
                let estimate = estimate.unwrap_or_else(of_replicates);
                let entry = found.entry(column.group.as_ref());
                entry.clusters = column.clusters;
                entry.intervals.push((column.score.clone(), estimate));
            }
        }
        found.warnings = warnings(&found, statistics);
        found
    }
}

/// "12 clusters".
fn clusters_text(count: u64) -> String {
    counted(count, "cluster")
}

/// A share in percent, such as 99.9: 0.999 x 100 has a rounding error, which is not printed.
fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

/// Groups of a kind that share a problem are one warning, which names this many of them.
const MOST_NAMED: usize = 5;

/// "2 groups of topic are ...: "news" (12 clusters), "sport" (9 clusters)".
fn groups_text(kind: &str, what: [&str; 2], groups: &[(&str, u64)]) -> String {
    let named = groups.iter().take(MOST_NAMED);
    let named = named.map(|(name, clusters)| format!("{name:?} ({})", clusters_text(*clusters)));
    let named: Vec<String> = named.collect();
    let (group, what) = match groups.len() {
        1 => ("group", what[0]),
        _ => ("groups", what[1]),
    };
    let more = match groups.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} {group} of {kind} {what}: {}{more}",
        groups.len(),
        named.join(", ")
    )
}

fn warnings(found: &Intervals, statistics: &Statistics) -> Vec<Message> {
    let mut warnings = clusters_warnings(found, statistics);
    // By kind of group, problem and scores that have it.
    type Problems<'f> = BTreeMap<(NoInterval, String), Vec<(&'f str, u64)>>;
    fn of_group<'f>(problems: &mut Problems<'f>, name: &'f str, group: &GroupIntervals) {
        let found: BTreeSet<NoInterval> = group
            .intervals
            .iter()
            .filter_map(|(_, estimate)| estimate.problem)
            .collect();
        for problem in found {
            let with = group.intervals.iter();
            let with = with.filter(|(_, estimate)| estimate.problem == Some(problem));
            let scores: Vec<&str> = with.map(|(score, _)| score.as_str()).collect();
            let groups = problems.entry((problem, scores.join(", "))).or_default();
            groups.push((name, group.clusters));
        }
    }
    let mut of_total = Problems::new();
    of_group(&mut of_total, "", &found.total);
    for (problem, scores) in of_total.into_keys() {
        let warning = format!("no interval for {scores}: {problem}");
        warnings.push(Message::from(warning));
    }
    for (kind, groups) in &found.groups {
        let mut problems = Problems::new();
        for (name, group) in groups {
            of_group(&mut problems, name, group);
        }
        for ((problem, scores), groups) in problems {
            let what = [
                format!("has no interval for {scores}, as {problem}"),
                format!("have no interval for {scores}, as {problem}"),
            ];
            let what = [what[0].as_str(), what[1].as_str()];
            warnings.push(Message::from(groups_text(kind, what, &groups)));
        }
    }
    warnings
}

/// The warnings about few clusters.
pub(crate) fn clusters_warnings(found: &Intervals, statistics: &Statistics) -> Vec<Message> {
    let confidence = percent(statistics.confidence);
    let mut warnings = Vec::new();
    match (found.total.clusters, &statistics.cluster_field) {
        (1, Some(field)) => warnings.push(Message::from(format!(
            "all records have the same value of {field:?} and are one cluster: expected at least 2"
        ))),
        (0 | FEW_CLUSTERS.., _) => {}
        (clusters, field) => {
            let what = match field {
                Some(_) => clusters_text(clusters),
                None => counted(clusters, "record"),
            };
            warnings.push(Message::from(format!(
                "only {what}: with fewer than {FEW_CLUSTERS}, a {confidence}% interval may contain the true score less than {confidence}% of the time"
            )));
        }
    }
    for (kind, groups) in &found.groups {
        let few = groups
            .iter()
            .filter(|(_, group)| (1..FEW_CLUSTERS).contains(&group.clusters));
        let few: Vec<(&str, u64)> = few
            .map(|(name, group)| (name.as_str(), group.clusters))
            .collect();
        if !few.is_empty() {
            let holds = format!(
                "fewer than {FEW_CLUSTERS} clusters, from which a {confidence}% interval may contain the true score less than {confidence}% of the time"
            );
            let what = [format!("has {holds}"), format!("have {holds}")];
            let what = [what[0].as_str(), what[1].as_str()];
            warnings.push(Message::from(groups_text(kind, what, &few)));
        }
    }
    warnings
}

/// The warning that no difference of so few clusters can be significant, with the least p-value.
pub(crate) fn exact_warning(clusters: u64, least: f64) -> Message {
    Message::from(format!(
        "{}: no difference can be significant, as no p-value is below {least}",
        clusters_text(clusters)
    ))
}

/// The same about groups of a kind.
pub(crate) fn exact_groups_warning(kind: &str, groups: &[(&str, u64)]) -> Message {
    let what = [
        "has too few clusters for any difference to be significant",
        "have too few clusters for any difference to be significant",
    ];
    Message::from(groups_text(kind, what, groups))
}
