//! Lane graphs from arbitrary texts and numbers: MapDR's clips, OpenLane-V2's frames, polylines
//! and typed graphs.
//!
//! An input is two bytes, each counted starting at `a`; the first chooses what is tried, the second
//! the options. For clips and frames a text follows, in parts between lines of `@`: a prediction, a
//! reference, and for clips the lanes of the map. For lines and typed graphs
//! [numbers](metric_suite_fuzz::Numbers) follow.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_core::{Counts, Metric};
use metric_graph::distance::{
    Chamfer, Hausdorff, chamfer, chamfer_below, directed_hausdorff, discrete_frechet,
    discrete_frechet_below, hausdorff, hausdorff_below, undirected_frechet,
};
use metric_graph::openlane::{Frame, FramePrediction, OpenLaneV2, match_frame};
use metric_graph::{
    AlignedGraphs, Alignment, Centerlines, Clip, Duplicates, Equality, LaneCorrespondence, LaneIds,
    NodeAlignment, NodeRule, Overall, Polyline, TypedEdge, TypedGraph, TypedNode,
};
use metric_suite_fuzz::{Numbers, fraction, parts, pooled};

fuzz_target!(|data: &[u8]| {
    let [kind, choice, bytes @ ..] = data else {
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    let parts = parts(&text);
    let part = |position: usize| parts.get(position).copied().unwrap_or_default();
    match kind.wrapping_sub(b'a') % 4 {
        0 => clips(part(0), part(1), part(2), choice.wrapping_sub(b'a')),
        1 => frames(part(0), part(1)),
        2 => lines(Numbers(bytes)),
        _ => typed(Numbers(bytes), *choice),
    }
});

fn counts_are_fractions(counts: &Counts) {
    fraction(counts.precision());
    fraction(counts.recall());
    fraction(counts.f1());
}

fn clips(prediction: &str, reference: &str, map: &str, choice: u8) {
    let Ok(mut reference) = serde_json::from_str::<Clip>(reference) else {
        return;
    };
    if let Ok(Centerlines(lanes)) = serde_json::from_str(map) {
        reference = reference.with_centerlines(lanes);
    }
    let read = serde_json::from_str::<Clip>(prediction);
    let prediction = read.unwrap_or_else(|_| reference.clone());
    let switch = |bit: u8| choice & bit > 0;
    for &alignment in Alignment::ALL {
        let metric = LaneCorrespondence::default()
            .with_alignment(alignment)
            .with_lane_ids(LaneIds::ALL[usize::from(switch(1))])
            .with_duplicates(Duplicates::ALL[usize::from(switch(2))])
            .with_overall(Overall::ALL[usize::from(switch(4))])
            .with_equality(
                Equality::default()
                    .with_none_is_absent(switch(8))
                    .with_nfc(switch(16))
                    .with_fold_case(switch(16))
                    .with_collapse_space(switch(16))
                    .with_text_numbers(switch(32))
                    .with_list_sets(switch(8)),
            );
        let examples = [(&prediction, &reference), (&reference, &reference)];
        let state = pooled(&metric, &examples);
        assert_eq!(state.clips, 2);
        let score = metric.compute(&state);
        for ratios in [
            score.micro.rule,
            score.micro.correspondence,
            score.micro.overall,
        ] {
            fraction(ratios.precision);
            fraction(ratios.recall);
            fraction(ratios.f1);
        }
        let own = metric.measure(&reference, &reference);
        if alignment != Alignment::Given {
            for counts in [own.counts.rule, own.counts.correspondence] {
                assert_eq!(counts.false_positives, 0, "{alignment} {own:?}");
                assert_eq!(counts.false_negatives, 0, "{alignment} {own:?}");
            }
        }
        let there = metric.measure(&prediction, &reference).counts;
        for counts in [there.rule, there.correspondence, there.overall] {
            counts_are_fractions(&counts);
        }
        let pairs = metric.align(&prediction, &reference);
        assert!(pairs.len() <= prediction.len().min(reference.len()));
        let _ = metric.findings(&prediction, &reference);
        let kept = metric.without_dangling(&prediction, &reference);
        assert!(kept.len() <= prediction.len());
        let picture = metric.picture("<a> & b", &prediction, &reference);
        assert!(!picture.svg().contains("<a>") && !picture.dot().is_empty());
    }
}

fn frames(prediction: &str, frame: &str) {
    let (Ok(prediction), Ok(frame)) = (
        serde_json::from_str::<FramePrediction>(prediction),
        serde_json::from_str::<Frame>(frame),
    ) else {
        return;
    };
    let matches = match_frame(&prediction, &frame);
    for (found, (all, count)) in matches
        .lanes
        .iter()
        .map(|lanes| (lanes, (prediction.lanes().len(), frame.lanes().len())))
        .chain(
            [&matches.elements, &matches.elements_by_attribute].map(|elements| {
                (
                    elements,
                    (prediction.elements().len(), frame.elements().len()),
                )
            }),
        )
    {
        assert_eq!(found.len(), all);
        let mut taken: Vec<usize> = found.iter().flatten().copied().collect();
        taken.sort_unstable();
        assert!(taken.is_sorted_by(|a, b| a < b), "{matches:?}");
        assert!(taken.last().is_none_or(|&last| last < count), "{matches:?}");
    }
    let other = frame.clone().with_id("other");
    let examples = [
        (&prediction, &frame),
        (&prediction, &other),
        (&prediction, &frame),
    ];
    let state = pooled(&OpenLaneV2, &examples);
    assert_eq!(state.frames(), 3);
    let score = OpenLaneV2.compute(&state);
    for score in [
        score.det_l,
        score.det_t,
        score.top_ll,
        score.top_lt,
        score.ols,
    ] {
        // A mean of ones may be a little more.
        assert!((0.0..=1.0 + 1e-12).contains(&score), "{score}");
    }
    counts_are_fractions(&score.elements);
    let picture = OpenLaneV2.picture("<a> & b", &prediction, &frame);
    assert!(!picture.svg().contains("<a>"));
}

fn lines(mut numbers: Numbers<'_>) {
    let count = 1 + numbers.below(16);
    let mut points = Vec::new();
    while let Some(x) = numbers.next() {
        let [y] = numbers.take_array();
        points.push([x, y]);
    }
    points.truncate(32);
    let other = points.split_off(count.min(points.len()));
    let (Ok(a), Ok(b)) = (Polyline::new(points), Polyline::new(other)) else {
        return;
    };
    let size = |line: &Polyline<2>| {
        let numbers = line.points().iter().flatten();
        numbers.fold(0.0, |most: f64, number| most.max(number.abs()))
    };
    // Where squares neither overflow nor vanish plain formulas hold.
    let size = size(&a).max(size(&b));
    let gap = |a: &[f64; 2], b: &[f64; 2]| {
        let [x, y] = [a[0] - b[0], a[1] - b[1]];
        (x * x + y * y).sqrt()
    };
    let frechet = discrete_frechet(&a, &b);
    if size < 1e150 {
        assert_eq!(frechet, discrete_frechet(&b, &a), "{a:?} {b:?}");
        assert_eq!(
            frechet,
            plain_frechet(a.points(), b.points(), gap),
            "{a:?} {b:?}"
        );
        let nearest = |from: &Polyline<2>, to: &Polyline<2>| -> Vec<f64> {
            let from = from.points().iter();
            let least = |point| {
                let gaps = to.points().iter().map(|other| gap(point, other));
                gaps.fold(f64::INFINITY, f64::min)
            };
            from.map(least).collect()
        };
        let (there, back) = (nearest(&a, &b), nearest(&b, &a));
        let most = there.iter().copied().fold(0.0, f64::max);
        assert_eq!(directed_hausdorff(&a, &b, Hausdorff::Points), most);
        let by_segments = directed_hausdorff(&a, &b, Hausdorff::Segments);
        assert!(
            by_segments <= most * (1.0 + 1e-9) + 1e-150,
            "{by_segments} {most}"
        );
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let found = chamfer(&a, &b, Chamfer::Sum);
        let expected = mean(&there) + mean(&back);
        assert!(
            (found - expected).abs() <= expected * 1e-12,
            "{found} {expected}"
        );
        assert!(frechet >= hausdorff(&a, &b, Hausdorff::Points));
        assert!(undirected_frechet(&a, &b) <= frechet);
    }
    for threshold in [0.0, 0.5, 1.0, frechet, frechet * 1.5, 1e300] {
        // Below, or none: the same as the distance itself.
        let below = |distance: f64| Some(distance).filter(|&distance| distance < threshold);
        assert_eq!(
            discrete_frechet_below(&a, &b, threshold),
            below(frechet),
            "{a:?} {b:?}"
        );
        for &variant in Hausdorff::ALL {
            let whole = hausdorff(&a, &b, variant);
            assert!(whole >= 0.0);
            assert_eq!(
                hausdorff_below(&a, &b, variant, threshold),
                below(whole),
                "{a:?} {b:?}"
            );
        }
        for &variant in Chamfer::ALL {
            let whole = chamfer(&a, &b, variant);
            assert!(whole >= 0.0);
            let expected = below(whole);
            // One-sided distances are not bounded by the gap that is looked at first.
            assert_eq!(
                chamfer_below(&a, &b, variant, threshold),
                expected,
                "{a:?} {b:?}"
            );
        }
    }
    assert!(a.length() >= 0.0);
    assert_eq!(a.reversed().reversed(), a);
    if let Ok(even) = a.resampled(count) {
        assert_eq!(even.points().len(), count);
        assert_eq!(even.points().first(), a.points().first());
    }
    let dense = a.densified(3);
    assert_eq!(dense.points().len(), 3 * (a.points().len() - 1) + 1);
    assert_eq!(dense.points().last(), a.points().last());
}

/// By the definition of Eiter and Mannila, *Computing discrete Fréchet distance* (1994).
fn plain_frechet(a: &[[f64; 2]], b: &[[f64; 2]], gap: impl Fn(&[f64; 2], &[f64; 2]) -> f64) -> f64 {
    let mut table = vec![vec![0.0_f64; b.len()]; a.len()];
    for i in 0..a.len() {
        for j in 0..b.len() {
            let here = gap(&a[i], &b[j]);
            let before = [
                (i > 0).then(|| table[i - 1][j]),
                (j > 0).then(|| table[i][j - 1]),
                (i > 0 && j > 0).then(|| table[i - 1][j - 1]),
            ];
            let before = before.into_iter().flatten().reduce(f64::min);
            table[i][j] = here.max(before.unwrap_or(0.0));
        }
    }
    table[a.len() - 1][b.len() - 1]
}

fn typed(mut numbers: Numbers<'_>, choice: u8) {
    let mut graph = || {
        let (nodes, edges) = (numbers.below(6), numbers.below(10));
        let nodes: Vec<_> = (0..nodes)
            .map(|key| {
                let class = ["lane", "light"][numbers.below(2)];
                let node = TypedNode {
                    confidence: numbers.next(),
                    ..TypedNode::of_class(class)
                };
                (key.to_string(), node)
            })
            .collect();
        let edges: Vec<_> = (0..edges)
            .map(|_| {
                let [a, b] = [numbers.below(6), numbers.below(6)].map(|key| key.to_string());
                let kind = ["a", "b"][numbers.below(2)];
                TypedEdge::new(a, b, kind).with_confidence(numbers.next().unwrap_or(0.5))
            })
            .collect();
        let dangling = edges.iter().any(|edge: &TypedEdge| {
            let known = |key: &String| nodes.iter().any(|(other, _)| other == key);
            !known(&edge.source) || !known(&edge.target)
        });
        let graph = TypedGraph::new(nodes, edges);
        assert_eq!(graph.is_err(), dangling);
        graph.ok()
    };
    let (Some(prediction), Some(reference)) = (graph(), graph()) else {
        return;
    };
    let choice = choice.wrapping_sub(b'a');
    for &nodes in NodeRule::ALL {
        let metric = AlignedGraphs::default()
            .with_nodes(nodes)
            .with_parallel(Duplicates::ALL[usize::from(choice & 1)])
            .with_drop_loops(choice & 2 > 0)
            .with_one_per_pair(choice & 4 > 0)
            .with_undirected(
                (choice & 8 > 0)
                    .then(|| "b".to_owned())
                    .into_iter()
                    .collect(),
            )
            .with_recall_at([1, 3].into());
        let alignment = metric.align(&prediction, &reference);
        let pairs: Vec<_> = alignment.pairs().collect();
        let (rows, columns) = (prediction.nodes(), reference.nodes());
        let again = NodeAlignment::new(rows, columns, pairs.iter().copied());
        assert_eq!(again.as_ref(), Ok(&alignment));
        assert_eq!(alignment.spurious().count() + pairs.len(), rows);
        assert_eq!(alignment.missed().count() + pairs.len(), columns);

        let examples = [(&prediction, &reference), (&reference, &reference)];
        let state = pooled(&metric, &examples);
        let score = metric.compute(&state);
        for ratios in [
            score.nodes,
            score.edges,
            score.nodes_and_edges,
            score.triples,
        ] {
            fraction(ratios.precision);
            fraction(ratios.recall);
            fraction(ratios.f1);
        }
        for recall in score
            .recall_at
            .values()
            .chain(score.mean_recall_at.values())
        {
            fraction(recall.value);
        }
        if nodes == NodeRule::Key {
            let own = metric.measure(&reference, &reference);
            assert_eq!(own.edits(), 0, "{own:?}");
            let there = metric.measure(&prediction, &reference).edits();
            assert_eq!(there, metric.measure(&reference, &prediction).edits());
        }
        let picture = metric.picture("<a> & b", &prediction, &reference, &alignment);
        assert!(!picture.svg().contains("<a>"));
    }
}
