//! Comparison of two or more systems on the same references.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use metric_record::{Message, Missing};
use metric_registry::stats::{Estimate, Test, Trials, estimate, holm, is_extreme, mcnemar};
use metric_registry::{
    Column, Compared, DIFFERENCE_BINS, DifferenceCounts, Direction, Entry, Named, Paired, Report,
    ResampledScope,
};
use serde::Serialize;

use crate::interrupt::{is_over, refuse_interrupted};
use crate::observer::Nobody;
use crate::outcome::{JsonIntervals, Object, SCHEMA};
use crate::statistics::{
    Progress, Resampled, clusters_warnings, count_of, exact_groups_warning, exact_warning,
    internal, proportion_of,
};
use crate::threads::{mapped, of_pool};
use crate::{Data, Observer, Outcome, Run, RunError, Selected, Source, Statistics};

/// A comparison of systems: who is compared with whom, and how often systems are exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compare {
    /// The name of the baseline; `None` for the first system.
    pub baseline: Option<String>,
    /// Whether every system is compared with every other one.
    pub all_pairs: bool,
    /// The number of random trials of a paired test.
    pub permutations: u64,
}

impl Default for Compare {
    fn default() -> Self {
        Self {
            baseline: None,
            all_pairs: false,
            permutations: 10_000,
        }
    }
}

/// The result of [`Run::compare`].
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The test of differences.
    pub compare: Compare,
    /// The resampling of scores.
    pub statistics: Statistics,
    /// The definition of all scores.
    pub signature: String,
    /// The systems, in the order in which they were given.
    pub systems: Vec<System>,
    /// The differences on all examples, by score and then by system.
    pub differences: Vec<Difference>,
    /// Those of groups, by kind of group and group.
    pub groups: Named<Named<GroupComparison>>,
    /// Warnings for the user.
    pub warnings: Vec<Message>,
}

/// A system to compare, and where its predictions are.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The name.
    pub name: String,
    /// Its predictions with the references.
    pub data: Data,
    /// The field of its predictions, where systems share a source; `None` for that of the run.
    pub prediction_field: Option<String>,
}

impl Candidate {
    /// Pairs each named source of predictions with the same references.
    #[must_use]
    pub fn of_sources(references: &Source, predictions: Vec<(String, Source)>) -> Vec<Self> {
        let candidate = |(name, predictions)| Self {
            name,
            data: Data::Sources {
                references: references.clone(),
                predictions,
            },
            prediction_field: None,
        };
        predictions.into_iter().map(candidate).collect()
    }

    /// Returns a system for each named source, for metrics that read predictions alone.
    #[must_use]
    pub fn of_predictions(predictions: Vec<(String, Source)>) -> Vec<Self> {
        let candidate = |(name, predictions)| Self {
            name,
            data: Data::Pairs(predictions),
            prediction_field: None,
        };
        predictions.into_iter().map(candidate).collect()
    }

    /// Fields of one source, each with the predictions of a system.
    #[must_use]
    pub fn of_fields(pairs: &Source, fields: Vec<(String, String)>) -> Vec<Self> {
        let candidate = |(name, field)| Self {
            name,
            data: Data::Pairs(pairs.clone()),
            prediction_field: Some(field),
        };
        fields.into_iter().map(candidate).collect()
    }

    /// The source of the predictions, in words.
    fn source(&self) -> String {
        let name = match &self.data {
            Data::Sources { predictions, .. } | Data::Pairs(predictions) => predictions.name(),
            Data::Documents { predictions, .. } => predictions.name.clone(),
        };
        match &self.prediction_field {
            Some(field) => format!("{name}: {field}"),
            None => name,
        }
    }

    /// Whether the references can be read only once.
    fn is_read_once(&self) -> bool {
        match &self.data {
            Data::Sources { references, .. } => references.is_standard_input(),
            Data::Pairs(pairs) => pairs.is_standard_input(),
            Data::Documents { .. } => false,
        }
    }
}

/// A system with its scores.
#[derive(Clone, Debug)]
pub struct System {
    /// The name.
    pub name: String,
    /// The source of its predictions.
    pub predictions: String,
    /// Its scores.
    pub outcome: Outcome,
    /// The number of references that it has no prediction for.
    pub missing: u64,
}

impl System {
    /// Returns a system by its name, the source of its predictions and its scores.
    #[must_use]
    pub fn new(name: impl Into<String>, predictions: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            name: name.into(),
            predictions: predictions.into(),
            missing: outcome.report().missing,
            outcome,
        }
    }
}

/// The differences on a group of examples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupComparison {
    /// The number of clusters.
    pub clusters: u64,
    /// The differences.
    pub differences: Vec<Difference>,
}

/// The difference of two systems on one score.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The name of the baseline.
    pub baseline: String,
    /// The name of the system that is compared with it.
    pub system: String,
    /// The score.
    pub score: String,
    /// The direction in which values of the score are better.
    pub direction: Option<Direction>,
    /// The score of the system minus that of the baseline.
    pub delta: Option<f64>,
    /// The interval of the difference.
    pub estimate: Estimate,
    /// The p-value; undefined where the difference is, and for scores without direction.
    pub p: Option<f64>,
    /// The p-value adjusted for all comparisons of the score.
    pub p_holm: Option<f64>,
    /// The method that computed the p-value.
    pub test: Option<Test>,
    /// The name of the score that single examples are compared by, such as `sentence_bleu` for `bleu`.
    pub example_score: String,
    /// The examples on which the system is better, equal, worse, and undefined; `None` if single examples do
    /// not have the score.
    pub examples: Option<[u64; 4]>,
    /// The distribution of the differences of examples; `None` for groups, and if single examples do not have the
    /// score.
    pub distribution: Option<DifferenceCounts>,
}

impl Difference {
    /// Returns whether the difference is significant.
    #[must_use]
    pub fn is_significant(&self, confidence: f64) -> bool {
        self.p_holm.is_some_and(|p| p <= 1.0 - confidence + 1e-12)
    }

    /// Returns whether the system is worse than the baseline.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        match (self.direction, self.delta) {
            (Some(Direction::Higher), Some(delta)) => delta < 0.0,
            (Some(Direction::Lower), Some(delta)) => delta > 0.0,
            _ => false,
        }
    }
}

impl Run {
    /// Scores several systems on the same references, and compares them. Predictions have the name of their
    /// system.
    ///
    /// The run must have one metric. Without [statistics](Self::statistics), those of the default are used.
    ///
    /// # Errors
    ///
    /// Returns an error as [`score`](Self::score) does for each system, and one about a run of several
    /// metrics, fewer than two systems, or a baseline that is not among them.
    pub fn compare(
        &mut self,
        references: &Source,
        predictions: Vec<(String, Source)>,
        compare: &Compare,
    ) -> Result<Comparison, RunError> {
        let candidates = Candidate::of_sources(references, predictions);
        self.compare_observed(&candidates, compare, &Nobody)
    }

    /// Compares systems, whose data may be in fields of one source, and lets somebody watch.
    ///
    /// # Errors
    ///
    /// Returns an error as [`compare`](Self::compare) does.
    pub fn compare_observed(
        &mut self,
        candidates: &[Candidate],
        compare: &Compare,
        observer: &dyn Observer,
    ) -> Result<Comparison, RunError> {
        let statistics = self.statistics.get_or_insert_default().clone();
        let names: Vec<&String> = candidates.iter().map(|it| &it.name).collect();
        let baseline = self.baseline(&names, compare)?;
        if candidates.iter().any(Candidate::is_read_once) {
            let problem = "the references are read once per system: expected a file";
            return Err(RunError::Usage(Message::from(problem)));
        }
        // Replicates serve the intervals of scores and those of differences.
        self.resamples_later = true;
        let systems = self.score_paired(candidates, observer);
        self.resamples_later = false;
        self.only = None;
        let systems = systems?;
        self.on_threads(|_| self.compare_systems(systems, baseline, compare, &statistics, observer))
    }

    /// Compares systems that were scored with statistics, such as those of merged states.
    ///
    /// All must be scored on the same examples. The run must have their metric.
    ///
    /// # Errors
    ///
    /// Returns an error as [`compare`](Self::compare) does, and if an outcome was scored without statistics.
    pub fn compare_outcomes(
        &self,
        systems: Vec<System>,
        compare: &Compare,
    ) -> Result<Comparison, RunError> {
        let names: Vec<&String> = systems.iter().map(|it| &it.name).collect();
        let baseline = self.baseline(&names, compare)?;
        let statistics = self.statistics.clone().unwrap_or_default();
        self.on_threads(|_| self.compare_systems(systems, baseline, compare, &statistics, &Nobody))
    }

    /// The index of the system that others are compared with.
    fn baseline(&self, names: &[&String], compare: &Compare) -> Result<usize, RunError> {
        let usage = |problem: String| Err(RunError::Usage(Message::from(problem)));
        if self.metrics.len() != 1 {
            return usage("a comparison has one metric".to_owned());
        }
        if names.len() < 2 {
            return usage(format!(
                "{} to compare: expected the predictions of at least 2 systems",
                match names.len() {
                    0 => "no system".to_owned(),
                    count => format!("{count} system"),
                }
            ));
        }
        let mut distinct = BTreeSet::new();
        if let Some(name) = names.iter().find(|name| !distinct.insert(**name)) {
            let message = format!("two systems have the name {name:?}: give each its own with ");
            let message = Message::from(message).option("names", "");
            return Err(RunError::Usage(message));
        }
        Ok(match &compare.baseline {
            None => 0,
            Some(wanted) => match names.iter().position(|name| *name == wanted) {
                Some(index) => index,
                None => {
                    let message = Message::default()
                        .option("baseline", wanted)
                        .text(format_args!(
                            ": no such system: expected one of {}",
                            names
                                .iter()
                                .map(|name| name.as_str())
                                .collect::<Vec<_>>()
                                .join(", ")
                        ));
                    return Err(RunError::Usage(message));
                }
            },
        })
    }

    /// Returns the run that scores the systems of [`compare_outcomes`](Self::compare_outcomes), one after the other: with
    /// statistics, and without the intervals that the comparison computes.
    #[must_use]
    pub fn for_comparison(mut self) -> Self {
        self.statistics.get_or_insert_default();
        self.resamples_later = true;
        self
    }

    /// Limits the run to the examples that all outcomes have, and returns whether some outcome has others.
    pub fn keep_common(&mut self, outcomes: &[&Outcome]) -> bool {
        let ids = outcomes.iter().map(|outcome| outcome.state().kept_ids());
        let ids: Vec<BTreeSet<u64>> = ids.collect();
        let both = |a: BTreeSet<u64>, b: &BTreeSet<u64>| a.intersection(b).copied().collect();
        let first = ids.first().cloned().unwrap_or_default();
        let all = ids.iter().fold(first, both);
        let has_others = ids.iter().any(|ids| ids.len() > all.len());
        self.only = Some(Arc::new(all));
        has_others
    }

    /// Scores the systems on the same examples.
    fn score_paired(
        &mut self,
        candidates: &[Candidate],
        observer: &dyn Observer,
    ) -> Result<Vec<System>, RunError> {
        let systems = self.score_systems(candidates, observer)?;
        if [self.join.missing, self.join.of_null()].contains(&Missing::Skip) {
            // Examples that one system lacks are left out of all of them.
            let outcomes: Vec<&Outcome> = systems.iter().map(|it| &it.outcome).collect();
            if self.keep_common(&outcomes) {
                let mut paired = self.score_systems(candidates, observer)?;
                for (system, alone) in paired.iter_mut().zip(&systems) {
                    system.missing = alone.missing;
                }
                return Ok(paired);
            }
        }
        Ok(systems)
    }

    fn score_systems(
        &mut self,
        candidates: &[Candidate],
        observer: &dyn Observer,
    ) -> Result<Vec<System>, RunError> {
        let score = |candidate: &Candidate| {
            let mut outcomes = self.score_candidate(candidate, observer)?;
            let outcome = outcomes.pop();
            let outcome = outcome.ok_or_else(|| RunError::Internal("no outcome".to_owned()))?;
            Ok(System::new(&candidate.name, candidate.source(), outcome))
        };
        candidates.iter().map(score).collect()
    }

    /// Scores a system whose predictions may have a field of their own.
    pub(crate) fn score_candidate(
        &mut self,
        candidate: &Candidate,
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, RunError> {
        let Some(field) = candidate.prediction_field.clone() else {
            return self.score_observed(candidate.data.clone(), observer);
        };
        let of_run = std::mem::replace(&mut self.fields.prediction, field);
        let scored = self.score_observed(candidate.data.clone(), observer);
        self.fields.prediction = of_run;
        scored
    }

    fn compare_systems(
        &self,
        mut systems: Vec<System>,
        baseline: usize,
        compare: &Compare,
        statistics: &Statistics,
        observer: &dyn Observer,
    ) -> Result<Comparison, RunError> {
        let resampled = systems
            .iter_mut()
            .map(|it| it.outcome.resample_all(statistics, observer));
        let resampled: Vec<Resampled> = resampled.collect::<Result<_, _>>()?;
        let chosen = self.metrics.first();
        let chosen = chosen.ok_or_else(|| RunError::Internal("no metric".to_owned()))?;
        let count = systems.len();
        let pairs: Vec<(usize, usize)> = if compare.all_pairs {
            (0..count)
                .flat_map(|a| (a + 1..count).map(move |b| (a, b)))
                .collect()
        } else {
            (0..count)
                .filter(|&b| b != baseline)
                .map(|b| (baseline, b))
                .collect()
        };
        let (mut differences, mut groups) = (Vec::new(), Named::<Named<GroupComparison>>::new());
        let mut warnings = Vec::new();
        for (a, b) in pairs {
            let pair = PairOfSystems {
                systems: [&systems[a], &systems[b]],
                resampled: [&resampled[a], &resampled[b]],
                reports: [a, b].map(|index| systems[index].outcome.report()),
                has_proportions: chosen.scorer.has_proportions(),
                compare,
                statistics,
                observer,
            };
            pair.compare(&mut differences, &mut groups, &mut warnings)?;
            refuse_interrupted()?;
        }
        adjust(differences.iter_mut());
        for (_, groups) in &mut groups {
            adjust(
                groups
                    .iter_mut()
                    .flat_map(|(_, group)| &mut group.differences),
            );
        }
        self.select(&mut differences);
        for (_, groups) in &mut groups {
            groups.sort_by(|a, b| a.0.cmp(&b.0));
            let groups = groups.iter_mut();
            groups.for_each(|(_, group)| self.select(&mut group.differences));
        }
        if self.shown.sort.is_some() {
            sort_groups(&mut groups, &systems[baseline].outcome.report());
        }
        let first = systems.first().map(|system| &system.outcome);
        let mut all_warnings = warnings_of(&systems, statistics);
        for warning in warnings {
            if !all_warnings.contains(&warning) {
                all_warnings.push(warning);
            }
        }
        let signature = first.map_or_else(String::new, |outcome| {
            outcome.compared_signature(compare.permutations)
        });
        Ok(Comparison {
            compare: compare.clone(),
            statistics: statistics.clone(),
            signature,
            systems,
            differences,
            groups,
            warnings: all_warnings,
        })
    }

    /// Sorts differences by their score, and leaves those of the scores that are wanted.
    fn select(&self, differences: &mut Vec<Difference>) {
        sort_by_score(differences);
        let all = std::mem::take(differences).into_iter();
        let mut named = all.map(|it| (it.score.clone(), it)).collect();
        self.shown.keep(&mut named);
        differences.extend(named.into_iter().map(|(_, it)| it));
    }
}

/// Puts the groups of each kind in their order in a report.
fn sort_groups(groups: &mut Named<Named<GroupComparison>>, report: &Report) {
    for (kind, groups) in groups {
        let of_kind = report.groups.iter().filter(|(found, _)| found == kind);
        let names = of_kind.flat_map(|(_, groups)| groups).map(|it| &it.name);
        let positions: BTreeMap<&String, usize> = names.zip(0..).collect();
        groups.sort_by_key(|(name, _)| positions.get(name).copied());
    }
}

/// Adjusts the p-values of one family: all comparisons of one score.
fn adjust<'d>(differences: impl Iterator<Item = &'d mut Difference>) {
    let mut differences: Vec<&mut Difference> = differences.collect();
    let scores: BTreeSet<String> = differences.iter().map(|it| it.score.clone()).collect();
    for score in scores {
        let of_score = differences.iter_mut().filter(|it| it.score == score);
        let mut of_score: Vec<&mut &mut Difference> = of_score.collect();
        let p: Vec<Option<f64>> = of_score.iter().map(|it| it.p).collect();
        for (difference, p) in of_score.iter_mut().zip(holm(&p)) {
            difference.p_holm = p;
        }
    }
}

/// Sorts differences by their score, the scores in the order in which they first occur.
fn sort_by_score(differences: &mut [Difference]) {
    let mut scores: Vec<String> = Vec::new();
    for difference in differences.iter() {
        if !scores.contains(&difference.score) {
            scores.push(difference.score.clone());
        }
    }
    differences.sort_by_key(|it| scores.iter().position(|score| *score == it.score));
}

/// The warnings about each system, with its name.
fn warnings_of(systems: &[System], statistics: &Statistics) -> Vec<Message> {
    let first = systems.first().map(|system| &system.outcome);
    let found = first.and_then(Outcome::intervals);
    let mut warnings = found.map_or_else(Vec::new, |it| clusters_warnings(it, statistics));
    for system in systems {
        // Those that are left out of all systems are not known to any of them.
        let missing = system.outcome.missing_warning(system.missing);
        let mut of_system = system.outcome.report().warnings;
        of_system.extend(missing.filter(|missing| !of_system.contains(missing)));
        for warning in of_system {
            if !warnings.contains(&warning) {
                warnings.push(Message::from(format!("{}: ", system.name)).message(&warning));
            }
        }
    }
    warnings
}

/// A baseline and another system.
struct PairOfSystems<'s> {
    systems: [&'s System; 2],
    resampled: [&'s Resampled; 2],
    reports: [Report; 2],
    has_proportions: bool,
    compare: &'s Compare,
    statistics: &'s Statistics,
    observer: &'s dyn Observer,
}

/// The facts about a column before systems are exchanged.
struct Prepared {
    direction: Option<Direction>,
    delta: Option<f64>,
    estimate: Estimate,
    examples: Option<[u64; 4]>,
    distribution: Option<DifferenceCounts>,
    /// The p-value where it takes no trials.
    p: Option<f64>,
    needs_trials: bool,
}

impl PairOfSystems<'_> {
    fn compare(
        &self,
        differences: &mut Vec<Difference>,
        groups: &mut Named<Named<GroupComparison>>,
        warnings: &mut Vec<Message>,
    ) -> Result<(), RunError> {
        let [baseline, system] = self.systems.map(|system| system.outcome.state());
        let paired = baseline.paired(system).map_err(internal)?;
        let paired = paired.ok_or_else(|| RunError::Internal("no kept examples".to_owned()))?;
        // Groups with so few clusters that nothing can be significant, by kind.
        let mut few: Named<Vec<(&str, u64)>> = Vec::new();
        for (index, scope) in paired.scopes().iter().enumerate() {
            let compared = paired.compared(index);
            let columns = scope.columns.iter().zip(compared);
            let prepared: Vec<Prepared> = columns
                .map(|(column, compared)| self.prepare(scope, column, compared))
                .collect();
            let trials = Trials::new(scope.clusters, self.compare.permutations);
            let extreme = if prepared.iter().any(|it| it.needs_trials) {
                self.extreme(&paired, index, trials, &prepared)
            } else {
                vec![0; prepared.len()]
            };
            let least = self.least_p(trials);
            if let Some((clusters, least)) = least
                && prepared.iter().any(|it| it.needs_trials)
            {
                match &scope.group {
                    None => warnings.push(exact_warning(clusters, least)),
                    Some((kind, name)) => find_or_insert(&mut few, kind).push((name, clusters)),
                }
            }
            for ((column, prepared), extreme) in scope.columns.iter().zip(prepared).zip(extreme) {
                let (p, test) = match (prepared.p, prepared.needs_trials) {
                    (Some(p), _) => (Some(p), Some(Test::McNemarExact)),
                    (None, true) => (Some(trials.p(extreme)), Some(trials.test())),
                    (None, false) => (None, None),
                };
                let difference = Difference {
                    baseline: self.systems[0].name.clone(),
                    system: self.systems[1].name.clone(),
                    score: column.score.clone(),
                    example_score: baseline.example_score(&column.score).to_owned(),
                    direction: prepared.direction,
                    delta: prepared.delta,
                    estimate: prepared.estimate,
                    p,
                    p_holm: None,
                    test,
                    examples: prepared.examples,
                    distribution: prepared.distribution,
                };
                match &column.group {
                    None => differences.push(difference),
                    Some((kind, name)) => {
                        let group = find_or_insert(find_or_insert(groups, kind), name);
                        group.clusters = group.clusters.max(column.clusters);
                        group.differences.push(difference);
                    }
                }
            }
        }
        let few = few.iter();
        warnings.extend(few.map(|(kind, groups)| exact_groups_warning(kind, groups)));
        Ok(())
    }

    fn entry(&self) -> &Entry {
        self.systems[0].outcome.entry()
    }

    fn prepare(
        &self,
        scope: &ResampledScope,
        column: &Column,
        compared: Option<Compared>,
    ) -> Prepared {
        let direction = self
            .entry()
            .score(&column.score)
            .and_then(|spec| spec.direction);
        let found = self
            .resampled
            .map(|resampled| resampled.replicates_of(scope, column));
        let values = found.map(|found| found.and_then(|(column, _)| column.value));
        let delta = difference(values);
        let lists = found.map(|found| found.map_or(&[][..], |(_, list)| list));
        let count = self.statistics.resamples as usize;
        let at = |list: &[Option<f64>], index: usize| list.get(index).copied().flatten();
        let deltas = (0..count).map(|index| difference(lists.map(|list| at(list, index))));
        let deltas: Vec<Option<f64>> = deltas.collect();
        let method = self.statistics.interval.of_replicates();
        let estimate = estimate(
            delta,
            &deltas,
            column.clusters,
            self.statistics.confidence,
            method,
        );
        let examples = direction.zip(compared).map(|(direction, compared)| {
            let Compared {
                higher,
                same,
                lower,
                undefined,
                distribution: _,
            } = compared;
            match direction {
                Direction::Higher => [higher, same, lower, undefined],
                Direction::Lower => [lower, same, higher, undefined],
            }
        });
        let is_tested = delta.is_some() && direction.is_some();
        let is_proportion = is_tested
            && [0, 1].iter().all(|&side| {
                let counts = self.reports[side].counts_of(scope.group.as_ref());
                let column = Column {
                    value: values[side],
                    ..column.clone()
                };
                counts.is_some_and(|counts| {
                    proportion_of(
                        self.entry(),
                        self.has_proportions,
                        scope,
                        &column,
                        count_of(counts),
                    )
                    .is_some()
                })
            });
        let p = examples
            .filter(|_| is_proportion)
            .map(|[wins, _, losses, _]| mcnemar(wins, losses));
        Prepared {
            direction,
            delta,
            estimate,
            examples,
            distribution: compared
                .filter(|_| scope.group.is_none())
                .map(|compared| compared.distribution),
            needs_trials: is_tested && p.is_none(),
            p,
        }
    }

    /// The number of trials in which each column is as extreme as it is observed.
    fn extreme(
        &self,
        paired: &Paired,
        scope: usize,
        trials: Trials,
        prepared: &[Prepared],
    ) -> Vec<u64> {
        let blocks = trials.count().div_ceil(64);
        let at_once = blocks.div_ceil(4 * of_pool() as u64).max(1);
        let ranges = (0..blocks.div_ceil(at_once)).map(|index| {
            let start = index * at_once;
            start..(start + at_once).min(blocks)
        });
        let ranges: Vec<Range<u64>> = ranges.collect();
        let seed = self.statistics.seed;
        let progress = Progress::new(self.observer, trials.count());
        let exchanges = paired.exchanges(scope);
        let count = |range: &Range<u64>| -> Vec<u64> {
            if is_over() {
                return Vec::new();
            }
            let done = (64 * (range.end - range.start)).min(trials.count());
            let values = exchanges.trials(seed, trials, range.clone());
            progress.advance(done);
            let mut extreme = vec![0; prepared.len()];
            for row in values.chunks_exact(prepared.len().max(1)) {
                for ((value, prepared), extreme) in row.iter().zip(prepared).zip(&mut extreme) {
                    let value = (!value.is_nan()).then_some(*value);
                    let observed = prepared.delta.unwrap_or_default();
                    *extreme += u64::from(is_extreme(value, observed));
                }
            }
            extreme
        };
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        let counts = mapped(&ranges, of_pool(), count).into_iter();
        counts.fold(vec![0; prepared.len()], add)
    }

    /// The number of clusters and the least p-value of all assignments, if no difference of so few clusters can
    /// be significant.
    fn least_p(&self, trials: Trials) -> Option<(u64, f64)> {
        let Trials::All(clusters) = trials else {
            return None;
        };
        let least = 2.0_f64.powi(1 - i32::try_from(clusters).unwrap_or(i32::MAX));
        let level = 1.0 - self.statistics.confidence;
        // 1 - 0.95 is a little more than 0.05.
        (least > level + 1e-12).then(|| (clusters.into(), least.min(1.0)))
    }
}

fn difference([baseline, system]: [Option<f64>; 2]) -> Option<f64> {
    Some(system? - baseline?)
}

fn find_or_insert<'n, T: Default>(named: &'n mut Named<T>, name: &str) -> &'n mut T {
    let index = named.iter().position(|(found, _)| found == name);
    let index = index.unwrap_or_else(|| {
        named.push((name.to_owned(), T::default()));
        named.len() - 1
    });
    &mut named[index].1
}

impl Comparison {
    /// Returns the number of clusters.
    #[must_use]
    pub fn clusters(&self) -> u64 {
        let first = self
            .systems
            .first()
            .and_then(|system| system.outcome.intervals());
        first.map_or(0, |found| found.total.clusters)
    }

    /// Returns the records that were selected by their fields; `None` if all are.
    #[must_use]
    pub fn selected(&self) -> Option<&Selected> {
        let first = self.systems.first();
        first.and_then(|system| system.outcome.selected())
    }

    /// Returns the number of examples.
    #[must_use]
    pub fn examples(&self) -> u64 {
        self.systems
            .first()
            .map_or(0, |system| system.outcome.examples())
    }

    /// Returns the comparison as the JSON object that the program prints, without a line end.
    #[must_use]
    pub fn to_json(&self) -> String {
        let statistics = &self.statistics;
        let reports: Vec<Report> = self.systems.iter().map(|it| it.outcome.report()).collect();
        let systems = self
            .systems
            .iter()
            .zip(&reports)
            .map(|(system, report)| JsonSystem {
                name: &system.name,
                predictions: &system.predictions,
                scores: Object(&report.scores),
                counts: Object(&report.counts),
                intervals: system
                    .outcome
                    .intervals()
                    .map(|it| JsonIntervals(&it.total.intervals)),
                missing: system.missing,
            });
        let groups: Named<Named<JsonGroup<'_>>> = self
            .groups
            .iter()
            .map(|(kind, groups)| {
                (
                    kind.clone(),
                    groups
                        .iter()
                        .map(|(name, it)| (name.clone(), self.json_group(kind, name, it, &reports)))
                        .collect(),
                )
            })
            .collect();
        let groups: Named<Object<'_, JsonGroup<'_>>> = groups
            .iter()
            .map(|(kind, groups)| (kind.clone(), Object(groups)))
            .collect();
        let result = Json {
            schema: SCHEMA,
            metric: self
                .systems
                .first()
                .map_or("", |system| system.outcome.metric()),
            signature: &self.signature,
            examples: self.examples(),
            selected: self.selected(),
            clusters: self.clusters(),
            confidence: statistics.confidence,
            resamples: statistics.resamples,
            permutations: self.compare.permutations,
            seed: statistics.json_seed(),
            cluster_field: statistics.cluster_field.as_deref(),
            systems: systems.collect(),
            comparisons: json_differences(&self.differences),
            groups: Object(&groups),
            warnings: self.warnings.iter().map(Message::to_string).collect(),
        };
        serde_json::to_string(&result).unwrap_or_default()
    }

    fn json_group<'a>(
        &'a self,
        kind: &str,
        name: &str,
        group: &'a GroupComparison,
        reports: &'a [Report],
    ) -> JsonGroup<'a> {
        let system = |(system, report): (&'a System, &'a Report)| {
            let mut groups = report
                .groups
                .iter()
                .filter(|it| it.0 == kind)
                .flat_map(|it| &it.1);
            let found = groups.find(|it| it.name == name);
            let intervals = system
                .outcome
                .intervals()
                .and_then(|it| it.group(kind, name));
            JsonGroupSystem {
                name: &system.name,
                scores: found.map(|it| Object(&it.scores)),
                counts: found.map(|it| Object(&it.counts)),
                clusters: group.clusters,
                intervals: intervals.map(|it| JsonIntervals(&it.intervals)),
            }
        };
        JsonGroup {
            systems: self.systems.iter().zip(reports).map(system).collect(),
            comparisons: json_differences(&group.differences),
        }
    }
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    metric: &'a str,
    signature: &'a str,
    examples: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    selected: Option<&'a Selected>,
    clusters: u64,
    confidence: f64,
    resamples: u64,
    permutations: u64,
    seed: serde_json::Value,
    cluster_field: Option<&'a str>,
    systems: Vec<JsonSystem<'a>>,
    comparisons: Vec<JsonDifference<'a>>,
    groups: Object<'a, Object<'a, JsonGroup<'a>>>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct JsonSystem<'a> {
    name: &'a str,
    predictions: &'a str,
    scores: Object<'a, Option<f64>>,
    counts: Object<'a, serde_json::Value>,
    intervals: Option<JsonIntervals<'a>>,
    missing: u64,
}

#[derive(Serialize)]
struct JsonGroup<'a> {
    systems: Vec<JsonGroupSystem<'a>>,
    comparisons: Vec<JsonDifference<'a>>,
}

#[derive(Serialize)]
struct JsonGroupSystem<'a> {
    name: &'a str,
    scores: Option<Object<'a, Option<f64>>>,
    counts: Option<Object<'a, serde_json::Value>>,
    clusters: u64,
    intervals: Option<JsonIntervals<'a>>,
}

#[derive(Serialize)]
struct JsonDifference<'a> {
    baseline: &'a str,
    system: &'a str,
    score: &'a str,
    delta: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    p: Option<f64>,
    p_holm: Option<f64>,
    test: Option<&'static str>,
    wins: Option<u64>,
    ties: Option<u64>,
    losses: Option<u64>,
    undefined: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<JsonDistribution>,
}

/// How the differences of examples are distributed.
#[derive(Serialize)]
struct JsonDistribution {
    range: [f64; 2],
    bins: [u64; DIFFERENCE_BINS],
    below: u64,
    above: u64,
}

impl From<DifferenceCounts> for JsonDistribution {
    fn from(counts: DifferenceCounts) -> Self {
        Self {
            range: [-counts.reach, counts.reach],
            bins: counts.bins,
            below: counts.below,
            above: counts.above,
        }
    }
}

fn json_differences(differences: &[Difference]) -> Vec<JsonDifference<'_>> {
    differences.iter().map(JsonDifference::new).collect()
}

impl<'a> JsonDifference<'a> {
    fn new(it: &'a Difference) -> Self {
        let examples = |index: usize| {
            it.examples
                .and_then(|examples| examples.get(index).copied())
        };
        Self {
            baseline: &it.baseline,
            system: &it.system,
            score: &it.score,
            delta: it.delta,
            low: it.estimate.ends.map(|ends| ends[0]),
            high: it.estimate.ends.map(|ends| ends[1]),
            p: it.p,
            p_holm: it.p_holm,
            test: it.test.map(Test::name),
            wins: examples(0),
            ties: examples(1),
            losses: examples(2),
            undefined: examples(3),
            distribution: it.distribution.map(JsonDistribution::from),
        }
    }
}
