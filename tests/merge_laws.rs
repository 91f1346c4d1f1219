//! The laws of states, for every metric of the registry, on random data.
//!
//! - The state of no examples is neutral, and merging commutes and associates.
//! - Any partition of the examples, merged in any order, gives the same report and the same bytes.
//! - A state that is written and read is the same state, and merging it n times is n merges.
//! - A replicate is the state in which records are repeated, whatever the metric computes it from. Clusters by id
//!   are those without a field, a slice of all records is the whole, and a trial exchanges the examples of systems.
//! - Records are added all together or not at all, and the first error is found in any partition.
//! - The shards of dataset files add up to the whole, and so do the same data as records.
//! - Every score is declared by its metric, and a proportion is the quotient of its counts.

#![allow(clippy::panic, reason = "a failing law says which metric broke it")]

#[path = "laws/random.rs"]
mod random;

use std::collections::BTreeSet;
use std::sync::Arc;

use metric_record::{FieldError, JoinPolicy, Missing, Shard};
use metric_registry::{
    AddError, Column, DataSet, ENTRIES, Entry, Group, Named, Plan, Report, Scorer, Shape, Slice,
    State, StateError, find,
};
use metric_stats::{Swaps, Trials, Weights};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::random::{
    Domain, Files, Gaps, Random, Row, documents, domains, files, image_files, image_rows, images,
    options, records,
};

/// The treatment of references without a prediction in random records.
const POLICIES: [Missing; 3] = [Missing::Error, Missing::Empty, Missing::Skip];

/// The numbers of shards that data are divided into.
const SHARDS: [u32; 4] = [1, 2, 3, 7];

/// A metric with options, and how its records are joined.
struct Subject<'a> {
    entry: &'static Entry,
    scorer: &'a Scorer,
    missing: Missing,
}

impl Subject<'_> {
    /// The state of no examples that knows what these records share, such as the labels that are there.
    fn start_of(&self, rows: &[Row]) -> State {
        let mut shared = self.scorer.read(&self.gather(rows), &mut [], false);
        let mut state = self.scorer.start();
        state.add(&mut shared).expect("a part of one metric");
        state
    }

    /// The state of some records, read at once.
    #[track_caller]
    fn gather(&self, rows: &[Row]) -> State {
        let mut state = self.scorer.start();
        state
            .update(self.scorer, &mut records(rows, self.missing))
            .unwrap_or_else(|error| panic!("{}: {error}: {rows:?}", self.entry.name));
        state
    }
}

#[track_caller]
fn body(state: &State) -> Vec<u8> {
    state.body().expect("a state with a written form")
}

fn merged(mut a: State, b: &State) -> State {
    a.merge(b).expect("states of one metric");
    a
}

/// The expected state: the bytes and the report of the whole.
struct Whole<'a> {
    metric: &'a str,
    body: Vec<u8>,
    report: Report,
}

impl<'a> Whole<'a> {
    fn new(metric: &'a str, state: &State) -> Self {
        Self {
            metric,
            body: body(state),
            report: state.report(),
        }
    }

    #[track_caller]
    fn is(&self, state: &State, how: &str) {
        assert_eq!(state.report(), self.report, "{}: {how}", self.metric);
        assert_eq!(body(state), self.body, "{}: {how}", self.metric);
    }
}

fn merge_and_read(subject: &Subject<'_>, rows: &[Row], random: &mut Random) {
    let state = subject.gather(rows);
    let whole = Whole::new(subject.entry.name, &state);
    let scorer = subject.scorer;

    whole.is(&merged(scorer.start(), &state), "empty on the left");
    whole.is(
        &merged(state.clone(), &scorer.start()),
        "empty on the right",
    );
    let read = scorer.read_state(&whole.body).expect("a written state");
    whole.is(&read, "written and read");

    let mut cuts = [0; 2].map(|_| random.below(rows.len() + 1));
    cuts.sort_unstable();
    let [a, b, c] = [&rows[..cuts[0]], &rows[cuts[0]..cuts[1]], &rows[cuts[1]..]]
        .map(|rows| subject.gather(rows));
    whole.is(&merged(merged(a.clone(), &b), &c), "(a b) c");
    whole.is(&merged(a.clone(), &merged(b.clone(), &c)), "a (b c)");
    whole.is(&merged(c.clone(), &merged(b.clone(), &a)), "c (b a)");
    let read = scorer.read_state(&body(&a)).expect("a written state");
    whole.is(&merged(c, &merged(read, &b)), "c (read b)");

    for count in SHARDS {
        let shards = (0..count).rev().map(|index| {
            let shard = Shard::new(index, count).expect("a shard");
            let held = rows.iter().filter(|row| shard.holds(row.id()));
            let held: Vec<Row> = held.cloned().collect();
            subject.gather(&random.shuffled(&held))
        });
        let total = shards.fold(scorer.start(), |total, shard| merged(total, &shard));
        whole.is(&total, "shards");
    }
    let shuffled = random.shuffled(rows);
    let single = |row: &Row| subject.gather(std::slice::from_ref(row));
    let singles = shuffled.iter().map(single);
    whole.is(
        &singles.fold(scorer.start(), |total, one| merged(total, &one)),
        "record by record",
    );

    for times in [0, 1, 2, 5] {
        let mut expected = a.clone();
        for _ in 0..times {
            expected = merged(expected, &b);
        }
        let mut found = a.clone();
        found.merge_times(&b, times).expect("states of one metric");
        Whole::new(subject.entry.name, &expected).is(&found, "merged several times");
    }
}

/// A group of a state, if the state has it.
fn group_of(state: &State, (kind, name): &(String, String)) -> Option<Group> {
    let groups = state.report().groups.into_iter();
    let mut of_kind = groups.filter(|(found, _)| found == kind);
    of_kind.find_map(|(_, groups)| groups.into_iter().find(|group| group.name == *name))
}

/// Replicates are states in which records are repeated, and exchanging systems is symmetric.
#[expect(
    clippy::too_many_lines,
    reason = "one law after the other, over the same states"
)]
fn resampled(subject: &Subject<'_>, rows: &[Row], random: &mut Random) {
    let (name, scorer) = (subject.entry.name, subject.scorer);
    let plan = Arc::new(Plan {
        keeps_examples: true,
        ..Plan::default()
    });
    let keep = |rows: &[Row]| {
        let mut state = scorer.start();
        state.follow(Arc::clone(&plan));
        state
            .update(scorer, &mut records(rows, subject.missing))
            .unwrap_or_else(|error| panic!("{name}: {error}: {rows:?}"));
        state
    };
    let state = keep(rows);
    assert_eq!(
        state.report(),
        subject.gather(rows).report(),
        "{name}: keeping changes nothing"
    );
    let (head, tail) = rows.split_at(random.below(rows.len() + 1));
    let merged_parts = merged(keep(tail), &keep(head));
    assert_eq!(body(&merged_parts), body(&state), "{name}: kept by parts");
    let read = scorer.read_state(&body(&state)).expect("a written state");
    assert_eq!(body(&read), body(&state), "{name}: kept and read");

    let resampler = read
        .resampler()
        .expect("kept examples")
        .expect("kept examples");
    let scope = &resampler.scopes()[0];
    let seed = random.below(1000) as u64;
    let draws = resampler.draws(0);
    let all = draws.replicates(seed, 1..5);
    let width = scope.columns.len().max(1);
    for (replicate, found) in (1..).zip(all.chunks(width)) {
        assert_eq!(
            format!("{:?}", draws.replicates(seed, replicate..replicate + 1)),
            format!("{found:?}"),
            "{name}: each replicate by itself"
        );
        let mut repeated = subject.start_of(rows);
        for row in rows {
            let one = subject.gather(std::slice::from_ref(row));
            let times = Weights::new(seed, row.id()).weight(replicate);
            repeated
                .merge_times(&one, times)
                .expect("states of one metric");
        }
        // The properties that all records share are known for the whole data, and for a replicate only from
        // predictions.
        let weight = |row: &Row| Weights::new(seed, row.id()).weight(replicate);
        if !rows
            .iter()
            .any(|row| row.has_prediction() && weight(row) > 0)
        {
            continue;
        }
        let report = repeated.report();
        let is_drawn = |group: &(String, String)| {
            let drawn = rows.iter().filter(|row| weight(row) > 0);
            let mut states = drawn.map(|row| subject.gather(std::slice::from_ref(row)));
            states.any(
                |one| match (group_of(&one, group), group_of(&scorer.start(), group)) {
                    // A convention may give a score to a group of which an example has nothing, as OpenLane-V2's gives 1 to
                    // a frame without lanes at each threshold.
                    (Some(one), Some(none)) if !one.counts.is_empty() => one.counts != none.counts,
                    (one, none) => one != none,
                },
            )
        };
        for (column, found) in scope.columns.iter().zip(found) {
            // What nothing was drawn of has no score, whatever the metric gives for nothing.
            let is_drawn = match &column.group {
                None => repeated.examples() > 0,
                Some(group) => is_drawn(group),
            };
            let scores = match &column.group {
                None => Some(&report.scores),
                Some((kind, group)) => {
                    let of_kind = report.groups.iter().filter(|(found, _)| found == kind);
                    let mut groups = of_kind.flat_map(|(_, groups)| groups);
                    groups
                        .find(|found| found.name == *group)
                        .map(|group| &group.scores)
                }
            };
            let expected = scores
                .into_iter()
                .flatten()
                .find(|(score, _)| *score == column.score);
            let expected = expected.and_then(|(_, value)| *value);
            let expected = expected.filter(|_| is_drawn);
            let found = (!found.is_nan()).then_some(*found);
            assert_eq!(
                found, expected,
                "{name}: replicate {replicate}: {column:?}: {rows:?}"
            );
        }
    }

    let half = random.shuffled(rows)[..rows.len() / 2].to_vec();
    let system = keep(&half);
    let trials = |a: &State, b: &State| {
        let paired = a
            .paired(b)
            .expect("states of one metric")
            .expect("kept examples");
        assert_eq!(paired.compared(0).len(), paired.scopes()[0].columns.len());
        let names: Vec<_> = paired.scopes()[0]
            .columns
            .iter()
            .map(|it| (it.group.clone(), it.score.clone()))
            .collect();
        let trials = paired.exchanges(0).trials(seed, Trials::Random(5), 0..1);
        (names, trials)
    };
    let swapped = |row: &Row, trial| Swaps::new(seed, row.id()).is_swapped(trial);
    let sides = |trial: u64| {
        let mut sides = [subject.start_of(rows), subject.start_of(rows)];
        for (own, rows) in [rows, &half].into_iter().enumerate() {
            for row in rows {
                let side = own ^ usize::from(swapped(row, trial));
                let one = subject.gather(std::slice::from_ref(row));
                sides[side].merge(&one).expect("states of one metric");
            }
        }
        sides.map(|state| state.report())
    };
    let (names, exchanged) = trials(&state, &system);
    for (trial, found) in (1..3).zip(exchanged.chunks(names.len().max(1))) {
        let sides = sides(trial);
        for ((_, score), found) in names
            .iter()
            .zip(found)
            .filter(|((group, _), _)| group.is_none())
        {
            let [baseline, system] = sides.each_ref().map(|report| report.score(score));
            let expected = baseline
                .zip(system)
                .map(|(baseline, system)| system - baseline);
            // The properties that all records share are not known for a side without predictions.
            if expected.is_some() && !found.is_nan() {
                assert_eq!(
                    Some(*found),
                    expected,
                    "{name}: trial {trial}: {score}: {rows:?}"
                );
            }
        }
    }
    let (_, itself) = trials(&state, &state);
    assert!(
        itself.iter().all(|it| it.is_nan() || *it == 0.0),
        "{name}: against itself"
    );
    let ((names, there), (other_names, back)) = (trials(&state, &system), trials(&system, &state));
    if names == other_names {
        let negated = there
            .iter()
            .zip(&back)
            .all(|(a, b)| a.is_nan() && b.is_nan() || *a == -*b);
        assert!(negated, "{name}: exchanged: {there:?} {back:?}");
    }
    clusters_and_slices(subject, rows, &all, seed);
}

/// A cluster field that is the id gives the replicates without one, a slice that holds everything is the whole, and
/// doubled examples have the same proportions.
fn clusters_and_slices(subject: &Subject<'_>, rows: &[Row], all: &[f64], seed: u64) {
    let (name, scorer) = (subject.entry.name, subject.scorer);
    let keyed: Vec<Row> = rows.iter().map(Row::with_key).collect();
    let plan = Arc::new(Plan {
        keeps_examples: true,
        cluster_field: Some("key".to_owned()),
        slices: vec![Slice {
            name: "all".to_owned(),
            bins: None,
            values: None,
            rest: None,
        }],
        ..Plan::default()
    });
    let mut state = scorer.start();
    state.follow(plan);
    let update = state.update(scorer, &mut records(&keyed, subject.missing));
    update.unwrap_or_else(|error| panic!("{name}: {error}: {rows:?}"));
    let replicates = |state: &State, scope: usize, seed: u64| {
        let resampler = state.resampler().expect("kept examples");
        let resampler = resampler.expect("kept examples");
        let scopes = resampler.scopes().to_vec();
        let values = resampler.draws(scope).replicates(seed, 1..5);
        (scopes, values)
    };
    let same = |a: &[f64], b: &[f64]| format!("{a:?}") == format!("{b:?}");
    let (scopes, by_key) = replicates(&state, 0, seed);
    assert!(same(&by_key, all), "{name}: clusters by id: {rows:?}");

    let sliced = scopes.iter().position(|scope| {
        let group = scope.group.as_ref();
        group.is_some_and(|(kind, group)| kind == "all" && group == "true")
    });
    if let Some(sliced) = sliced {
        assert_eq!(scopes[sliced].clusters, scopes[0].clusters, "{name}");
        let (_, of_slice) = replicates(&state, sliced, seed);
        let [sliced, whole] = [&scopes[sliced].columns, &scopes[0].columns];
        let of_slice = of_slice.chunks(sliced.len().max(1));
        for (of_slice, all) in of_slice.zip(all.chunks(whole.len().max(1))) {
            for (column, found) in sliced.iter().zip(of_slice) {
                let is_it = |it: &&Column| it.group.is_none() && it.score == column.score;
                let index = whole.iter().position(|it| is_it(&it));
                let expected = index.map(|index| all[index]);
                let is_same = expected.is_some_and(|expected| same(&[*found], &[expected]));
                assert!(
                    is_same,
                    "{name}: {column:?} of all: {found} {expected:?}: {rows:?}"
                );
            }
        }
    }

    let mut doubled = scorer.start();
    doubled
        .merge_times(&state, 2)
        .expect("states of one metric");
    let (_, doubled) = replicates(&doubled, 0, seed);
    let columns = &scopes[0].columns;
    for (doubled, all) in doubled
        .chunks(columns.len().max(1))
        .zip(all.chunks(columns.len().max(1)))
    {
        for ((column, doubled), once) in columns.iter().zip(doubled).zip(all) {
            let spec = subject.entry.score(&column.score);
            let is_proportion = spec.is_some_and(|spec| spec.proportion.is_some());
            if is_proportion && scorer.has_proportions() {
                assert!(
                    same(&[*doubled], &[*once]),
                    "{name}: doubled: {column:?}: {rows:?}"
                );
            }
        }
    }
}

/// Samples change no state, and are those of the records.
fn samples(subject: &Subject<'_>, rows: &[Row]) {
    let (entry, scorer) = (subject.entry, subject.scorer);
    let whole = Whole::new(entry.name, &subject.gather(rows));
    let mut state = scorer.start();
    let mut read = records(rows, subject.missing);
    let mut part = scorer.read(&state, &mut read, true);
    state.add(&mut part).expect("readable records");
    whole.is(&state, "with samples");
    let samples = part.samples(&state);
    assert_eq!(samples.len() as u64, state.examples(), "{}", entry.name);
    let mut last = 0;
    for sample in &samples {
        assert!(sample.record >= last && sample.record < rows.len());
        assert_eq!(sample.id, rows[sample.record].id());
        check_numbers(entry, scorer, &sample.scores, &sample.counts);
        last = sample.record;
    }
    check_report(entry, scorer, &whole.report);
}

/// The index of the first error, if records are read in chunks: either each with what is known before
/// it, or all on their own and then added in order. Before an error, all chunks were added.
fn first_error(
    subject: &Subject<'_>,
    rows: &[Row],
    chunk: usize,
    on_their_own: bool,
) -> Option<(usize, FieldError)> {
    let scorer = subject.scorer;
    let mut state = scorer.start();
    let unknown = scorer.start();
    for (index, rows) in rows.chunks(chunk).enumerate() {
        let before = body(&state);
        let known = if on_their_own { &unknown } else { &state };
        let mut part = scorer.read(known, &mut records(rows, subject.missing), false);
        match state.add(&mut part) {
            Ok(()) => {}
            Err(AddError::Record(error)) => {
                assert_eq!(body(&state), before, "{}", subject.entry.name);
                return Some((index * chunk + error.index, error.error));
            }
            Err(error) => panic!("{}: {error}", subject.entry.name),
        }
    }
    None
}

/// Checks that the first error is at this index in every partition, and that nothing of a batch with an
/// error is added.
#[track_caller]
fn check_error(subject: &Subject<'_>, rows: &[Row], expected: Option<usize>, random: &mut Random) {
    let name = subject.entry.name;
    let at_once = first_error(subject, rows, rows.len().max(1), false);
    assert_eq!(
        at_once.as_ref().map(|it| it.0),
        expected,
        "{name}: {rows:?}"
    );
    for chunk in 1..=rows.len() {
        for on_their_own in [false, true] {
            let found = first_error(subject, rows, chunk, on_their_own);
            assert_eq!(found, at_once, "{name}: chunks of {chunk}: {rows:?}");
        }
    }
    let Some(index) = expected else {
        return;
    };
    // Existing content stays.
    let start = random.below(index + 1);
    let mut state = subject.gather(&rows[..start]);
    let before = body(&state);
    let error = state.update(
        subject.scorer,
        &mut records(&rows[start..], subject.missing),
    );
    match error {
        Err(AddError::Record(error)) => assert_eq!(start + error.index, index, "{name}"),
        other => panic!("{name}: {other:?}"),
    }
    assert_eq!(body(&state), before, "{name}");
}

fn bad_records(subject: &Subject<'_>, rows: &[Row], random: &mut Random) {
    check_error(subject, rows, None, random);
    let mut rows = rows.to_vec();
    let mut first = usize::MAX;
    for _ in 0..2 {
        let index = random.below(rows.len() + 1);
        rows.insert(index, Row::unreadable(rows.len()));
        // An earlier one moves those after it.
        first = index.min(first);
    }
    check_error(subject, &rows, Some(first), random);
}

/// Checks that all scores are declared, and that proportions are those of their counts.
fn check_report(entry: &Entry, scorer: &Scorer, report: &Report) {
    check_numbers(entry, scorer, &report.scores, &report.counts);
    for (kind, groups) in &report.groups {
        assert!(entry.groups.contains(&&**kind), "{}: {kind}", entry.name);
        for group in groups {
            check_numbers(entry, scorer, &group.scores, &group.counts);
        }
    }
}

#[track_caller]
fn check_numbers(
    entry: &Entry,
    scorer: &Scorer,
    scores: &Named<Option<f64>>,
    counts: &Named<Json>,
) {
    let count = |name: &str| {
        let count = counts.iter().find(|(count, _)| count == name);
        count.and_then(|(_, value)| value.as_f64())
    };
    let mut names = BTreeSet::new();
    for (name, value) in scores {
        let what = format!("{}: {name}", entry.name);
        assert!(names.insert(name), "{what}: twice");
        let spec = entry.score(name);
        let spec = spec.unwrap_or_else(|| panic!("{what}: not declared"));
        assert!(value.is_none_or(|value| !value.is_nan()), "{what}: NaN");
        // Only where each task has one sample, pass@1 is the share of samples that pass.
        let is_of_tasks =
            entry.name == "pass-at-k" && (name != "pass@1" || count("samples") != count("tasks"));
        let proportion = spec
            .proportion
            .filter(|_| scorer.has_proportions() && !is_of_tasks);
        let Some((correct, total)) = proportion else {
            continue;
        };
        let of_parameter = |count: &str| {
            if !spec.parameter.is_empty() && count.chars().last() == spec.name.chars().last() {
                count.to_owned() + &name[spec.name.len()..]
            } else {
                count.to_owned()
            }
        };
        let correct = count(&of_parameter(correct));
        if let (Some(correct), Some(total)) = (correct, count(&of_parameter(total))) {
            if total > 0.0 {
                assert_eq!(*value, Some(correct / total), "{what}: {counts:?}");
            } else {
                // A convention may have a value for 0/0.
                assert!(correct == 0.0, "{what}: {counts:?}");
            }
        }
    }
}

/// The shards of a data set add up to the whole.
fn shards(files: &Files, entry: &'static Entry, scorer: &Scorer, size: usize, random: &mut Random) {
    let gaps = Gaps {
        missing: random.below(2) == 0,
        extra: random.below(2) == 0,
    };
    let join = JoinPolicy {
        missing: if gaps.missing {
            random.draw(prop_oneof![Just(Missing::Empty), Just(Missing::Skip)])
        } else {
            Missing::Error
        },
        ignore_extra: gaps.extra,
        ..JoinPolicy::default()
    };
    let [references, predictions] = files.documents(random, size, gaps);
    let read = |shard, samples| {
        let mut data = DataSet::new(references.clone(), predictions.clone());
        (data.join, data.shard) = (join, shard);
        let mut part = scorer
            .read_data_set(data, samples)
            .unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let mut state = scorer.start();
        state.add(&mut part).expect("what was read");
        let samples = part.samples(&state);
        (state, samples)
    };
    let (state, mut samples) = read(None, true);
    let whole = Whole::new(entry.name, &state);
    check_report(entry, scorer, &whole.report);
    for sample in &samples {
        check_numbers(entry, scorer, &sample.scores, &sample.counts);
    }
    whole.is(&read(None, false).0, "without samples");
    let again = scorer.read_state(&whole.body).expect("a written state");
    whole.is(&merged(scorer.start(), &again), "written and read");
    let by_id = |sample: &metric_registry::Sample| (sample.id.clone(), sample.part.clone());
    samples.sort_by_key(by_id);
    for count in SHARDS {
        let shard = |index| Shard::new(index, count).expect("a shard");
        let (mut total, mut sum, mut of_shards) = (scorer.start(), scorer.start(), Vec::new());
        for index in random.shuffled(&(0..count).collect::<Vec<_>>()) {
            let (state, samples) = read(Some(shard(index)), true);
            of_shards.extend(samples.into_iter().map(|mut sample| {
                assert!(shard(index).holds(&sample.id), "{}", entry.name);
                sample.record = 0;
                sample
            }));
            sum.merge(&state).expect("shards of one data set");
            let (plain, _) = read(Some(shard(index)), false);
            total.merge(&plain).expect("shards of one data set");
        }
        let how = format!("{count} shards");
        whole.is(&sum, &how);
        whole.is(&total, &how);
        of_shards.sort_by_key(by_id);
        let expected = samples.iter().cloned().map(|mut sample| {
            sample.record = 0;
            sample
        });
        assert_eq!(of_shards, expected.collect::<Vec<_>>(), "{}", entry.name);
    }
}

/// Images as COCO's files, and the same images as records.
fn images_as_records(subject: &Subject<'_>, size: usize, random: &mut Random) {
    let (entry, scorer) = (subject.entry, subject.scorer);
    let images = images(random, size);
    let rows = image_rows(&images);
    let state = subject.gather(&rows);
    let whole = Whole::new(entry.name, &state);
    let mut chunked = scorer.start();
    let shuffled = random.shuffled(&rows);
    let mut rest = shuffled.as_slice();
    while !rest.is_empty() {
        // Classes that differ between chunks.
        let (chunk, after) = rest.split_at(1 + random.below(rest.len()));
        let mut part = scorer.read(&scorer.start(), &mut records(chunk, Missing::Error), false);
        chunked.add(&mut part).expect("readable records");
        rest = after;
    }
    whole.is(&chunked, "chunks of records");

    let [references, predictions] = documents(image_files(&images));
    let data = DataSet::new(references, predictions);
    let mut part = scorer.read_data_set(data, false).expect("readable files");
    let mut state = scorer.start();
    state.add(&mut part).expect("what was read");
    let (files, records) = (state.report(), whole.report);
    let name = entry.name;
    assert_eq!(files.examples, records.examples, "{name}");
    assert_eq!(files.scores, records.scores, "{name}");
    assert_eq!(files.counts, records.counts, "{name}");
    assert_eq!(files.groups, records.groups, "{name}");
}

#[track_caller]
fn entry(name: &str) -> &'static Entry {
    find(name).expect("a metric of this name")
}

/// A metric says which values it takes, and each set of options that it declares goes with one of them.
#[test]
fn every_metric_is_here() {
    for entry in ENTRIES {
        let domains = domains();
        let sets: Vec<_> = domains
            .iter()
            .filter(|domain| domain.entry.name == entry.name)
            .flat_map(|domain| &domain.options)
            .collect();
        assert!(!sets.is_empty(), "no random records for {}", entry.name);
        for set in entry.tried {
            let is_tried = sets.iter().any(|tried| tried.ends_with(set));
            assert!(is_tried, "{}: {set:?} goes with no values", entry.name);
        }
    }
}

#[test]
fn states_of_other_definitions_are_refused() {
    let detection = |set| {
        let scorer = entry("detection").scorer(&options(set));
        scorer.expect("good options")
    };
    let (half, strict) = (detection(&[]), detection(&[("iou", "0.75")]));
    let refused = half.start().merge(&strict.start());
    assert!(matches!(refused, Err(StateError::Definition { .. })));
    let arc = entry("arc").scorer(&options(&[])).expect("good options");
    let refused = half.start().merge(&arc.start());
    assert!(matches!(refused, Err(StateError::Definition { .. })));
    for body in [&b""[..], b"{}", &[0x80], &[0xc1]] {
        let refused = half.read_state(body);
        assert!(matches!(refused, Err(StateError::Malformed(_))), "{body:?}");
    }
}

/// Checks records whose shared properties are given by index: the first that differs is found.
fn check_headers(metric: &str, rows: &[(usize, Row)], random: &mut Random) {
    let entry = entry(metric);
    let scorer = entry.scorer(&options(&[])).expect("good options");
    let subject = Subject {
        entry,
        scorer: &scorer,
        missing: Missing::Error,
    };
    let differs = |(kind, _): &(usize, Row)| Some(*kind) != rows.first().map(|row| row.0);
    let expected = rows.iter().position(differs);
    let plain: Vec<Row> = rows.iter().map(|row| row.1.clone()).collect();
    check_error(&subject, &plain, expected, random);

    // A record that cannot be read is found where it comes first.
    let mut with_bad = plain.clone();
    let index = random.below(plain.len() + 1);
    with_bad.insert(index, Row::unreadable(plain.len()));
    let first = expected.map_or(index, |expected| index.min(expected));
    check_error(&subject, &with_bad, Some(first), random);

    // States that differ do not merge, and stay as they were.
    if let Some(index) = expected {
        let (mut one, other) = (
            subject.gather(&plain[..1]),
            subject.gather(&plain[index..=index]),
        );
        let before = body(&one);
        for times in [1, 3] {
            let refused = one.merge_times(&other, times);
            assert!(matches!(refused, Err(StateError::Header(_))));
            assert_eq!(body(&one), before);
        }
        one.merge_times(&other, 0).expect("nothing to merge");
        assert_eq!(body(&one), before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn hold_for_records(seed in any::<u64>(), size in 0_usize..8) {
        let domains = domains();
        // Some metrics take much longer than others.
        std::thread::scope(|scope| {
            for domain in &domains {
                scope.spawn(move || check(domain, size, &mut Random::new(seed)));
            }
        });
    }

    #[test]
    fn hold_for_files(seed in any::<u64>(), size in 0_usize..8) {
        for files in files() {
            for set in &files.options {
                let scorer = files.entry.scorer(&options(set)).expect("good options");
                shards(&files, files.entry, &scorer, size, &mut Random::new(seed));
            }
        }
    }

    #[test]
    fn files_are_records(seed in any::<u64>(), size in 0_usize..6) {
        let takes_images = |entry: &Entry| entry.shapes.iter().any(|taken| taken.shape == Shape::Images);
        for files in files().iter().filter(|files| takes_images(files.entry)) {
            for set in &files.options {
                let scorer = files.entry.scorer(&options(set)).expect("good options");
                let subject = Subject {
                    entry: files.entry,
                    scorer: &scorer,
                    missing: Missing::Error,
                };
                images_as_records(&subject, size, &mut Random::new(seed));
            }
        }
    }

    #[test]
    fn the_first_record_that_differs_is_found(
        widths in proptest::collection::vec(1_usize..3, 0..7),
        seed in any::<u64>(),
    ) {
        let random = &mut Random::new(seed);
        let rows = widths.iter().enumerate().map(|(id, &width)| {
            (width, Row::new(id, &json!("a"), &json!(vec!["b"; width])))
        });
        check_headers("accuracy-at-k", &rows.collect::<Vec<_>>(), random);
        let rows = widths.iter().enumerate().map(|(id, &kind)| {
            let row = match kind {
                1 => Row::new(id, &json!([[1]]), &json!([[2]])),
                _ => Row::new(id, &json!([[[1]]]), &json!([{"attempt_1": [[1]]}])),
            };
            (kind, row)
        });
        check_headers("arc", &rows.collect::<Vec<_>>(), random);
    }
}

fn check(domain: &Domain, size: usize, random: &mut Random) {
    let entry = domain.entry;
    for set in &domain.options {
        // These programs insist on an answer to each question.
        let is_strict = set
            .iter()
            .any(|(_, value)| value.starts_with("fusion-brain-"))
            || !entry.has_empty_prediction();
        let missing = if is_strict {
            Missing::Error
        } else {
            random.draw(proptest::sample::select(POLICIES.as_slice()))
        };
        let mut chosen = options(set);
        if random.below(2) == 0 {
            chosen = chosen.with_details();
        }
        let scorer = entry.scorer(&chosen).expect("good options");
        let subject = Subject {
            entry,
            scorer: &scorer,
            missing,
        };
        let rows = domain.rows(random, size, missing);
        merge_and_read(&subject, &rows, random);
        // A replicate has the classes of all records, and not only those of its own.
        let shares_classes = entry.name == "multilabel" && !set.iter().any(|it| it.0 == "classes");
        if !shares_classes {
            resampled(&subject, &rows, random);
        }
        samples(&subject, &rows);
        bad_records(&subject, &rows, random);
    }
}
