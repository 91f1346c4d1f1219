//! Rules and lanes of MapDR clips, on one thread.
//!
//! - `graph/mapdr/10k_clips`: parse and score 10,000 clips, 16 MB of JSON. Target: the program from
//!   file to score in 0.15 s, so less here; peer: a Python port of the metric, 0.60 s and 343 MB.
//!   `parse` and `score` are its two halves; `100_clips` and `1k_clips` are the same, smaller.
//! - `graph/mapdr/500x500_ties`: one clip of 500 rules and 500 lanes in which all pairs of rules are
//!   equally alike and only the lanes decide. Target: 0.1 s.
//! - `graph/assignment/500x500_*`: the least total of a full matrix. `ties`: costs 0 to 4, so that
//!   nearly all are tied; peer: a textbook solver, 94 ms. `random`: no ties; peer: 9 ms.
//! - `graph/aligned_graphs/200_nodes`: two graphs of 200 nodes and 400 edges, nodes aligned
//!   optimally by their properties.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_core::assignment::{Costs, Gate};
use metric_core::{Counts, Metric};
use metric_graph::{
    AlignedGraphs, Clip, CorrespondenceState, LaneCorrespondence, Parts, Properties, Rule,
    TypedEdge, TypedGraph, TypedNode,
};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// Small, medium and large.
const CLIPS: &[(&str, usize)] = &[("100", 100), ("1k", 1_000), ("10k", 10_000)];

/// A rule as in MapDR's label files.
fn write_rule(label: &mut String, index: usize, lane_type: &str, time: &str, lanes: &[i64]) {
    let separator = if index == 0 { "{" } else { ", " };
    write!(
        label,
        "{separator}\"{index}\": {{\"attr_info\": {{\"AllowedTransport\": \"None\", \
         \"EffectiveDate\": \"None\", \"EffectiveTime\": \"{time}\", \"HighSpeedLimit\": \"None\", \
         \"LaneDirection\": [\"GoStraight\", \"TurnLeft\"], \"LaneType\": \"{lane_type}\", \
         \"LowSpeedLimit\": \"None\", \"RuleIndex\": \"{index}\"}}, \"centerline\": {lanes:?}, \
         \"semantic_polygon\": [[-10.5, 20.0, 5.5], [-9.9, 20.0, 5.5], [-9.9, 20.0, 6.3], \
         [-10.5, 20.0, 6.3]]}}"
    )
    .expect("a String takes any text");
}

/// Pairs of a predicted and a true label, and the counts by construction: a rule that is misread is
/// wrong, and so is an added lane.
fn labels(clips: usize) -> (Vec<(String, String)>, Parts<Counts>) {
    let mut rng = StdRng::seed_from_u64(1);
    let mut pairs = Vec::with_capacity(clips);
    let (mut rule, mut overall) = ([0; 3], [0; 3]);
    for _ in 0..clips {
        let (mut predicted, mut actual) = (String::new(), String::new());
        for index in 0..[1, 1, 1, 2, 2, 2, 3, 3, 4, 5][rng.random_range(0..10)] {
            let lane_type =
                ["DirectionLane", "BusLane", "NonMotorizedLane"][rng.random_range(0..3)];
            let time = ["None", "07:00-09:00;17:00-19:00"][rng.random_range(0..2)];
            let lanes: Vec<i64> = (0..rng.random_range(0..3)).map(|lane| 10 + lane).collect();
            write_rule(&mut actual, index, lane_type, time, &lanes);

            let misread = rng.random_bool(0.2);
            let mut predicted_lanes = lanes.clone();
            predicted_lanes.extend(rng.random_bool(0.2).then_some(99));
            let predicted_type = if misread { "EmergencyLane" } else { lane_type };
            write_rule(
                &mut predicted,
                index,
                predicted_type,
                time,
                &predicted_lanes,
            );

            let right = |count: usize| if misread { 0 } else { count as u64 };
            for (total, count) in rule.iter_mut().zip([right(1), 1, 1]) {
                *total += count;
            }
            let counts = [
                right(lanes.len()),
                predicted_lanes.len() as u64,
                lanes.len() as u64,
            ];
            for (total, count) in overall.iter_mut().zip(counts) {
                *total += count;
            }
        }
        pairs.push((predicted + "}", actual + "}"));
    }
    let counts = |[hits, predicted, actual]: [u64; 3]| Counts::from_totals(hits, predicted, actual);
    let counts = Parts {
        rule: counts(rule),
        correspondence: Counts::default(),
        overall: counts(overall),
    };
    (pairs, counts)
}

fn parse(label: &str) -> Clip {
    serde_json::from_str(label).expect("a label")
}

fn clips(criterion: &mut Criterion) {
    for &(name, count) in CLIPS {
        clips_of_size(criterion, name, count);
    }
}

fn clips_of_size(criterion: &mut Criterion, name: &str, count: usize) {
    let (labels, expected) = labels(count);
    let bytes: usize = labels.iter().map(|(a, b)| a.len() + b.len()).sum();
    let metric = LaneCorrespondence::default();
    let check = |state: &CorrespondenceState| {
        assert_eq!(state.clips, count as u64);
        assert_eq!(state.counts.rule, expected.rule);
        assert_eq!(state.counts.overall, expected.overall);
        assert_eq!(
            (
                state.counts.correspondence.predicted(),
                state.counts.correspondence.actual()
            ),
            (expected.overall.predicted(), expected.overall.actual())
        );
    };

    let mut group = criterion.benchmark_group(format!("graph/mapdr/{name}_clips"));
    group.sample_size(20);
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("parse_and_score", |bencher| {
        bencher.iter(|| {
            let mut state = CorrespondenceState::default();
            for (prediction, reference) in &labels {
                metric.update(&mut state, &parse(prediction), &parse(reference));
            }
            check(&state);
            state
        });
    });
    group.bench_function("parse", |bencher| {
        bencher.iter(|| {
            for (prediction, reference) in &labels {
                let (prediction, reference) = black_box((parse(prediction), parse(reference)));
                assert_eq!(prediction.len(), reference.len());
            }
        });
    });
    let clips: Vec<(Clip, Clip)> = labels.iter().map(|(a, b)| (parse(a), parse(b))).collect();
    group.bench_function("score", |bencher| {
        bencher.iter(|| {
            let mut state = CorrespondenceState::default();
            for (prediction, reference) in &clips {
                metric.update(&mut state, prediction, reference);
            }
            check(&state);
            state
        });
    });
    group.finish();
}

fn ties(criterion: &mut Criterion) {
    const RULES: usize = 500;
    let mut rng = StdRng::seed_from_u64(2);
    let says = |time: &str| {
        let names = [
            "AllowedTransport",
            "EffectiveDate",
            "HighSpeedLimit",
            "LaneType",
            "LowSpeedLimit",
        ];
        let equal = names.into_iter().map(|name| (name, "None"));
        Properties::new(equal.chain([("EffectiveTime", time)])).expect("names are unique")
    };
    let lanes: Vec<Vec<i64>> = (0..RULES)
        .map(|_| {
            let mut lanes: Vec<i64> = (0..4).map(|_| rng.random_range(0..500)).collect();
            lanes.sort_unstable();
            lanes.dedup();
            lanes
        })
        .collect();
    let mut order: Vec<usize> = (0..RULES).collect();
    order.shuffle(&mut rng);
    let clip = |time, order: &mut dyn Iterator<Item = usize>| {
        let rules = order.map(|index| Rule::new(says(time), lanes[index].iter().copied()));
        let rules = rules.enumerate();
        Clip::new(rules.map(|(id, rule)| (id.to_string(), rule))).expect("ids are unique")
    };
    let reference = clip("07:00-09:00", &mut (0..RULES));
    let prediction = clip("07:00-10:00", &mut order.into_iter());
    let named = lanes.iter().map(Vec::len).sum::<usize>() as u64;

    let metric = LaneCorrespondence::default();
    let mut group = criterion.benchmark_group("graph/mapdr");
    group.sample_size(10);
    group.throughput(Throughput::Elements((RULES * RULES) as u64));
    group.bench_function("500x500_ties", |bencher| {
        bencher.iter(|| {
            let state = metric.measure(&prediction, &reference);
            // The true rule with the same lanes is the best partner of each predicted one.
            assert_eq!(state.counts.correspondence, Counts::new(named, 0, 0));
            assert_eq!(state.counts.rule, Counts::from_totals(0, 500, 500));
            state
        });
    });
    group.finish();
}

fn assignment(criterion: &mut Criterion) {
    const SIDE: usize = 500;
    let mut rng = StdRng::seed_from_u64(3);
    // A hidden permutation costs nothing, all else more: the optimum is known.
    let mut hidden: Vec<usize> = (0..SIDE).collect();
    hidden.shuffle(&mut rng);
    let mut group = criterion.benchmark_group("graph/assignment");
    group.sample_size(10);
    group.throughput(Throughput::Elements((SIDE * SIDE) as u64));
    for name in ["500x500_ties", "500x500_random"] {
        let costs: Vec<f64> = (0..SIDE * SIDE)
            .map(|index| {
                let cost = if name == "500x500_ties" {
                    f64::from(rng.random_range(0..5_u8))
                } else {
                    rng.random::<f64>()
                };
                let is_hidden = hidden.get(index / SIDE) == Some(&(index % SIDE));
                if is_hidden { 0.0 } else { cost }
            })
            .collect();
        let costs = Costs::new(SIDE, SIDE, costs).expect("costs are finite");
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let pairs = costs.optimal(Gate::None);
                let total: f64 = pairs.iter().filter_map(|&(i, j)| costs.get(i, j)).sum();
                assert_eq!((pairs.len(), total), (SIDE, 0.0));
                pairs
            });
        });
    }
    group.finish();
}

fn aligned_graphs(criterion: &mut Criterion) {
    const NODES: usize = 200;
    let mut rng = StdRng::seed_from_u64(4);
    let edges: Vec<(usize, usize)> = (0..2 * NODES)
        .map(|edge| (edge % NODES, (edge % NODES + 1 + edge / NODES) % NODES))
        .collect();
    let mut order: Vec<usize> = (0..NODES).collect();
    order.shuffle(&mut rng);
    let graph = |key: &dyn Fn(usize) -> usize| {
        let nodes = (0..NODES).map(|node| {
            let says = [("tens", node / 10), ("units", node % 10)];
            let says = says.map(|(name, digit)| (name, digit as i64));
            let node_of = TypedNode {
                properties: Properties::new(says).expect("names are unique"),
                ..TypedNode::of_class("lane")
            };
            (key(node).to_string(), node_of)
        });
        let edges = edges.iter().map(|&(from, to)| {
            TypedEdge::new(key(from).to_string(), key(to).to_string(), "leads to")
        });
        TypedGraph::new(nodes, edges).expect("keys are unique and known")
    };
    let (reference, prediction) = (graph(&|node| node), graph(&|node| order[node]));
    let metric = AlignedGraphs::default();
    let mut group = criterion.benchmark_group("graph/aligned_graphs");
    group.sample_size(10);
    group.throughput(Throughput::Elements(edges.len() as u64));
    group.bench_function("200_nodes", |bencher| {
        bencher.iter(|| {
            let state = metric.measure(&prediction, &reference);
            let right = Counts::new(edges.len() as u64, 0, 0);
            assert_eq!(state.nodes_and_edges, right);
            state
        });
    });
    group.finish();
}

criterion_group!(benches, clips, ties, assignment, aligned_graphs);
criterion_main!(benches);
