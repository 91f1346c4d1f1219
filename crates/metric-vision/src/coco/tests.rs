use metric_core::Merge;
use proptest::prelude::*;

use super::curves::needed;
use super::state::ImageOutcome;
use super::verdict::Verdict;
use super::*;
use crate::curve::tests::example;
use crate::score::Rank;
use crate::{Annotation, Key};

/// A square of 100 pixels.
fn square(x: f64) -> BBox {
    BBox::from_xywh(x, 0.0, 10.0, 10.0).expect("a box")
}

fn truth(x: f64) -> Annotation {
    Annotation::new(0, square(x))
}

fn found(x: f64, score: f64) -> Prediction {
    Prediction::new(0, score, square(x))
}

fn with(change: impl FnOnce(&mut CocoParams)) -> CocoAp {
    let mut params = CocoParams::default();
    change(&mut params);
    CocoAp::new(params).expect("a definition")
}

fn measure<'a>(
    metric: &CocoAp,
    examples: impl IntoIterator<Item = &'a (Vec<Prediction>, Image)>,
) -> CocoState {
    let mut state = CocoState::default();
    for (found, image) in examples {
        metric.update(&mut state, found, image);
    }
    state
}

const ALL: CocoSlice = CocoSlice {
    iou_threshold: None,
    area: 0,
    max_detections: None,
    class: None,
};

#[track_caller]
fn close(actual: Option<f64>, expected: Option<f64>) {
    let near = match (actual, expected) {
        (Some(actual), Some(expected)) => (actual - expected).abs() < 1e-14,
        (actual, expected) => actual == expected,
    };
    assert!(near, "{actual:?}, not {expected:?}");
}

/// AP and AR of the detections in one image.
#[track_caller]
fn check(metric: &CocoAp, found: &[Prediction], truths: &[Annotation], [ap, ar]: [Option<f64>; 2]) {
    let image = Image::new(1, truths.to_vec());
    let curves = metric.compute(&metric.measure(found, &image));
    close(curves.average_precision(ALL), ap);
    close(curves.average_recall(ALL), ar);
}

#[test]
fn by_hand() {
    let metric = CocoAp::default();
    let [none, all, nothing] = [[None; 2], [Some(1.0); 2], [Some(0.0); 2]];
    check(&metric, &[], &[], none);
    check(&metric, &[found(0.0, 0.9)], &[], none);
    check(&metric, &[], &[truth(0.0)], nothing);
    check(&metric, &[found(0.0, 0.9)], &[truth(0.0)], all);
    check(&metric, &[found(20.0, 0.9)], &[truth(0.0)], nothing);
    let half = [Some(0.5), Some(1.0)];
    let both = [found(20.0, 0.9), found(0.0, 0.8)];
    check(&metric, &both, &[truth(0.0)], half);
    // The IoU is 8/12: from 0.50 to 0.65, at four of ten thresholds.
    check(&metric, &[found(2.0, 0.9)], &[truth(0.0)], [Some(0.4); 2]);
    // An object that is left out takes one detection, a crowd any number.
    let twice = [found(50.0, 0.9), found(50.0, 0.8), found(0.0, 0.7)];
    let region = |crowd, ignore| Annotation {
        crowd,
        ignore,
        ..truth(50.0)
    };
    check(&metric, &twice, &[truth(0.0), region(true, false)], all);
    check(&metric, &twice, &[truth(0.0), region(false, true)], half);
    check(&metric, &twice, &[region(true, false)], none);
}

#[test]
fn what_is_false_counts_in_its_size_class() {
    let metric = CocoAp::default();
    let large = Prediction {
        area: 2000.0,
        ..found(50.0, 0.9)
    };
    let image = Image::new(1, vec![truth(0.0)]);
    let curves = metric.compute(&metric.measure(&[large, found(0.0, 0.8)], &image));
    for (area, ap) in [Some(0.5), Some(1.0), None, None].into_iter().enumerate() {
        close(curves.average_precision(CocoSlice { area, ..ALL }), ap);
    }
    // The bounds are in both classes.
    let bound = Annotation {
        area: 1024.0,
        ..truth(0.0)
    };
    let state = metric.measure(&[], &Image::new(1, vec![bound]));
    let curves = metric.compute(&state);
    let truths = [0, 1, 2, 3].map(|area| curves.truths(CocoSlice { area, ..ALL }));
    assert_eq!(truths, [1, 1, 1, 0]);
}

#[test]
fn equal_scores_rank_by_key() {
    let metric = CocoAp::default();
    let wrong = |key: i64| (vec![found(20.0, 0.5)], Image::new(key, vec![]));
    let right = |key: i64| (vec![found(0.0, 0.5)], Image::new(key, vec![truth(0.0)]));
    for (examples, ap) in [
        ([wrong(1), right(2)], 0.5),
        ([right(2), wrong(1)], 0.5),
        ([wrong(2), right(1)], 1.0),
        ([right(1), wrong(2)], 1.0),
    ] {
        let curves = metric.compute(&measure(&metric, &examples));
        close(curves.average_precision(ALL), Some(ap));
    }
    // In one image they rank as they come.
    check(
        &metric,
        &[found(20.0, 0.5), found(0.0, 0.5)],
        &[truth(0.0)],
        [Some(0.5), Some(1.0)],
    );
}

#[test]
fn an_image_twice_counts_twice() {
    let metric = CocoAp::default();
    let wrong = (vec![found(20.0, 0.5)], Image::new(1, vec![truth(0.0)]));
    let right = (vec![found(0.0, 0.5)], Image::new(1, vec![truth(0.0)]));
    let there = measure(&metric, [&wrong, &right, &right]);
    for back in [[&right, &right, &wrong], [&right, &wrong, &right]] {
        let back = measure(&metric, back);
        assert_eq!(back, there);
        assert_eq!(metric.compute(&back), metric.compute(&there));
    }
    assert_ne!(measure(&metric, [&wrong, &right]), there);
    let curves = metric.compute(&there);
    assert_eq!(curves.truths(ALL), 3);
    close(curves.average_recall(ALL), Some(2.0 / 3.0));
    assert_eq!(there.detections(), 3);
}

#[test]
fn the_best_detections_of_each_number() {
    let metric = with(|params| params.max_detections = vec![1, 2]);
    let image = Image::new(1, vec![truth(0.0), truth(50.0)]);
    let detections = [found(50.0, 0.1), found(20.0, 0.9), found(0.0, 0.5)];
    let state = metric.measure(&detections, &image);
    assert_eq!(state.detections(), 2);
    let curves = metric.compute(&state);
    for (position, ar) in [Some(0.0), Some(0.5), None].into_iter().enumerate() {
        let slice = CocoSlice {
            max_detections: Some(position),
            ..ALL
        };
        close(curves.average_recall(slice), ar);
    }
}

#[test]
fn the_quirks() {
    let zero = Annotation {
        id: 0,
        ..truth(0.0)
    };
    let quirks = with(|params| params.quirks = true);
    let none = [Some(0.0); 2];
    check(&quirks, &[found(0.0, 0.5)], &[zero], none);
    check(&quirks, &[found(0.0, 0.5)], &[truth(0.0)], [Some(1.0); 2]);
    check(
        &CocoAp::default(),
        &[found(0.0, 0.5)],
        &[zero],
        [Some(1.0); 2],
    );
    // It is taken all the same.
    let twice = [found(0.0, 0.5), found(0.0, 0.4)];
    check(&quirks, &twice, &[zero], none);

    // The main number is that of 100 detections.
    for (quirks, ap) in [(false, Some(1.0)), (true, None)] {
        let metric = with(|params| {
            params.quirks = quirks;
            params.max_detections = vec![1, 99];
        });
        let image = Image::new(1, vec![truth(0.0)]);
        let curves = metric.compute(&metric.measure(&[found(0.0, 0.5)], &image));
        let (name, main) = &curves.summary(None)[0];
        assert_eq!(name, "AP");
        close(*main, ap);
    }
}

#[test]
fn a_threshold_of_1_is_reached() {
    let metric = with(|params| params.iou_thresholds = vec![1.0]);
    check(&metric, &[found(0.0, 0.5)], &[truth(0.0)], [Some(1.0); 2]);
    check(&metric, &[found(0.1, 0.5)], &[truth(0.0)], [Some(0.0); 2]);
}

#[test]
fn no_number_is_the_least_score() {
    let metric = CocoAp::default();
    let rows = [
        (f64::NAN, 0.5, 1.0),
        (f64::NAN, f64::NEG_INFINITY, 1.0),
        (0.5, f64::NAN, 0.5),
        (f64::NEG_INFINITY, f64::NAN, 0.5),
        (f64::INFINITY, 0.5, 0.5),
    ];
    for (wrong, right, ap) in rows {
        let there = [
            (vec![found(20.0, wrong)], Image::new(1, vec![])),
            (vec![found(0.0, right)], Image::new(2, vec![truth(0.0)])),
        ];
        let state = measure(&metric, &there);
        assert_eq!(state, measure(&metric, there.iter().rev()));
        let curves = metric.compute(&state);
        close(curves.average_precision(ALL), Some(ap));
        let scores = curves.arrays(1).expect("room").scores;
        assert_eq!(scores.last(), Some(&-1.0));
        // The first recall is that of the first detection, the others of the right one.
        let all_classes = 4 * 3;
        let [first, second] = [0, 1].map(|recall| scores[recall * all_classes]);
        assert_eq!(first.to_bits(), (wrong.max(right)).to_bits());
        assert_eq!(
            (second.is_nan(), right.is_nan()),
            (right.is_nan(), right.is_nan())
        );
        let read = metric_core::from_bytes(&metric_core::to_bytes(&state));
        assert_eq!(read, Ok(state));
    }
}

#[test]
fn places_past_their_lists() {
    let metric = CocoAp::default();
    let image = Image::new(1, vec![truth(0.0)]);
    let curves = metric.compute(&metric.measure(&[found(0.0, 0.5)], &image));
    let slice = |iou_threshold, area, max_detections, class| CocoSlice {
        iou_threshold,
        area,
        max_detections,
        class,
    };
    for (last, past) in [
        (
            slice(Some(9), 0, None, None),
            slice(Some(10), 0, None, None),
        ),
        (slice(None, 1, None, None), slice(None, 4, None, None)),
        (slice(None, 0, Some(2), None), slice(None, 0, Some(3), None)),
        (slice(None, 0, None, Some(0)), slice(None, 0, None, Some(1))),
        (
            slice(Some(9), 1, Some(2), None),
            slice(Some(usize::MAX), 1, Some(usize::MAX), None),
        ),
    ] {
        close(curves.average_precision(last), Some(1.0));
        close(curves.average_recall(last), Some(1.0));
        assert_eq!(curves.average_precision(past), None);
        assert_eq!(curves.average_recall(past), None);
    }
    assert_eq!(curves.truths(slice(None, 4, None, None)), 0);
}

#[test]
fn arrays_of_any_number_of_classes() {
    let metric = CocoAp::default();
    let truths = [0, 2].map(|class| Annotation::new(class, square(0.0)));
    let image = Image::new(1, truths.to_vec());
    let curves = metric.compute(&metric.measure(&[], &image));
    for (classes, defined) in [(0, 0), (1, 1), (2, 1), (3, 2)] {
        let arrays = curves.arrays(classes).expect("room");
        assert_eq!(arrays.shape, [10, 101, classes, 4, 3]);
        assert_eq!(arrays.precision.len(), 10 * 101 * classes * 4 * 3);
        assert_eq!(arrays.recall.len(), 10 * classes * 4 * 3);
        // In the area ranges "all" and "small".
        let zeros = arrays.recall.iter().filter(|&&recall| recall == 0.0);
        assert_eq!(zeros.count(), 10 * defined * 2 * 3);
    }
    for classes in [usize::MAX, usize::MAX / 1000, usize::MAX / 200_000] {
        assert_eq!(curves.arrays(classes), None);
    }
}

#[test]
fn definitions_that_are_refused() {
    use InvalidCocoParams as Invalid;
    let refused = |change: fn(&mut CocoParams)| {
        let mut params = CocoParams::default();
        change(&mut params);
        CocoAp::<BBox>::new(params).expect_err("no definition")
    };
    let area = |bounds: [f64; 2]| vec![AreaRange::new("a", bounds[0], bounds[1])];
    assert_eq!(
        refused(|p| p.iou_thresholds.clear()).to_string(),
        "no IoU thresholds: expected at least one"
    );
    for bounds in [[2.0, 1.0], [f64::NAN, 1.0], [0.0, f64::NAN]] {
        let params = CocoParams {
            areas: area(bounds),
            ..CocoParams::default()
        };
        let error = CocoAp::<BBox>::new(params).expect_err("no definition");
        assert_eq!(error, Invalid::Area("a".to_owned()));
    }
    let point = CocoParams {
        areas: area([1.0, 1.0]),
        ..CocoParams::default()
    };
    assert!(CocoAp::<BBox>::new(point).is_ok());
    assert_eq!(
        refused(|p| p.iou_thresholds.push(0.0)),
        Invalid::IouThreshold(0.0)
    );
    assert_eq!(
        refused(|p| p.recall_thresholds.push(1.0)),
        Invalid::RecallThreshold(1.0)
    );
    assert_eq!(
        refused(|p| p.max_detections.push(100)),
        Invalid::MaxDetections(100)
    );
    assert_eq!(
        refused(|p| p.max_detections.insert(0, 0)),
        Invalid::MaxDetections(0)
    );
    let small = |name: &str| AreaRange::new(name, 0.0, 1.0);
    for (names, wrong) in [(["a", "a"], "a"), (["a", "100"], "100"), (["1", "a"], "1")] {
        let mut params = CocoParams::default();
        params.areas.truncate(1);
        params.areas.extend(names.map(small));
        let error = CocoAp::<BBox>::new(params).expect_err("no definition");
        assert_eq!(error, Invalid::AreaName(wrong.to_owned()));
    }
    assert_eq!(
        refused(|p| p.areas.resize(32, AreaRange::new("a", 0.0, 1.0))),
        Invalid::TooManyAreas(32)
    );
}

#[test]
fn evidence_of_another_definition_does_no_harm() {
    let definitions = [
        CocoAp::default(),
        with(|params| params.iou_thresholds = vec![0.5]),
        with(|params| params.iou_thresholds = vec![0.5; 40]),
        with(|params| params.areas.truncate(1)),
        with(|params| params.max_detections = vec![1]),
        with(|params| {
            let area = |n: usize| AreaRange::new(format!("a{n}"), 0.0, 1e10);
            params.areas = (0..31).map(area).collect();
        }),
    ];
    let image = Image::new(1, vec![truth(0.0), truth(50.0)]);
    let detections = [found(20.0, 0.9), found(0.0, 0.5), found(49.0, 0.4)];
    let mut mixed = CocoState::default();
    for made in &definitions {
        let state = made.measure(&detections, &image);
        mixed.merge(state.clone());
        for read in &definitions {
            let curves = read.compute(&state);
            assert_eq!(curves.params(), read.params());
            let _ = (curves.summary(None), curves.arrays(2));
        }
    }
    for read in &definitions {
        let _ = read.compute(&mixed).summary(Some(0));
    }
}

#[test]
fn stray_numbers_do_no_harm() {
    let rank = |score: f64| Rank::new(score);
    let stray = ImageOutcome {
        places: Vec::new(),
        classes: vec![(0, 2), (0, u32::MAX), (7, 1), (u32::MAX, u32::MAX)],
        truths: vec![u32::MAX; 9],
        scores: vec![rank(0.1), rank(0.9), rank(0.5)],
        verdicts: vec![
            Verdict::detailed(u32::MAX),
            Verdict::detailed(0),
            Verdict::wrong_in(15),
        ],
        details: vec![u64::MAX],
    };
    let mut state = CocoState::default();
    state.images.insert(Key::Number(1), stray.clone());
    let full = ImageOutcome {
        classes: vec![(0, 3)],
        details: vec![u64::MAX; 2],
        ..stray
    };
    state.images.insert(Key::Number(1), full);
    let curves = CocoAp::<BBox>::default().compute(&state);
    assert_eq!(curves.truths(ALL), u64::from(u32::MAX) * 4);
    let _ = (curves.summary(None), curves.arrays(2));
}

#[test]
fn a_recall_is_reached_by_the_fewest_that_reach_it() {
    let params = CocoParams::default();
    for truths in (1..2000).chain([99_999, 100_000, 123_456_789, 1 << 40]) {
        let needed = needed(&params, truths);
        for (&needed, &recall) in needed.iter().zip(&params.recall_thresholds) {
            let reaches = |right: u64| right as f64 / truths as f64 >= recall;
            assert!(reaches(needed), "{needed} of {truths}, {recall}");
            let is_less = needed > 0 && reaches(needed - 1);
            assert!(!is_less, "{needed} of {truths}, {recall}");
        }
    }
}

proptest! {
    /// Weights are repetitions of images, also where scores are equal within an image.
    #[test]
    fn weights_are_repetitions(
        images in proptest::collection::vec(
            (proptest::collection::vec((0_u32..2, 0_usize..4), 0..4), proptest::collection::vec((0_u32..2, 0_usize..4, 0_usize..3), 0..6), 0_u64..4),
            0..5,
        ),
        quirks in any::<bool>(),
    ) {
        let metric = with(|params| {
            params.quirks = quirks;
            params.max_detections = vec![1, 3];
        });
        let position = |position: usize| [0.0, 2.0, 4.0, 30.0][position];
        let states = (0_i64..).zip(&images).map(|(key, (truths, found, _))| {
            let truths = truths.iter().map(|&(class, at)| Annotation::new(class, square(position(at))));
            let found = found.iter().map(|&(class, at, score)| {
                Prediction::new(class, [0.5, 0.7, 0.9][score], square(position(at)))
            });
            metric.measure(&found.collect::<Vec<_>>(), &Image::new(key / 2, truths.collect()))
        });
        let states: Vec<CocoState> = states.collect();
        let weights: Vec<u64> = images.iter().map(|image| image.2).collect();
        let mut merged = CocoState::default();
        for (state, &times) in states.iter().zip(&weights) {
            merged.merge_times(state, times);
        }
        let expected = metric.compute(&merged);
        let of_states: Vec<&CocoState> = states.iter().collect();
        let found = CocoWeights::new(&metric, &of_states).curves(&weights);
        for class in [None, Some(0), Some(1)] {
            prop_assert_eq!(found.summary(class), expected.summary(class));
        }
    }

    #[test]
    fn any_shards_are_one_pass(
        mut examples in proptest::collection::vec(example(), 0..7),
        turn in 0_usize..6,
        cut in 0_usize..6,
        lost in 0_usize..20,
    ) {
        // Some score is missing.
        let mut found = examples.iter_mut().flat_map(|(found, _)| found);
        if let Some(found) = found.nth(lost) {
            found.score = f64::NAN;
        }
        let metric = CocoAp::default();
        let state = measure(&metric, &examples);
        let mut turned = examples.clone();
        turned.rotate_left(turn % examples.len().max(1));
        let (left, right) = turned.split_at(cut.min(turned.len()));
        let mut shards = measure(&metric, right.iter().rev());
        shards.merge(measure(&metric, left));
        prop_assert_eq!(&shards, &state);
        let curves = metric.compute(&state);
        prop_assert_eq!(&metric.compute(&shards), &curves);
        for (name, value) in curves.summary(None) {
            prop_assert!(value.is_none_or(|value| (0.0..=1.0).contains(&value)), "{} {:?}", name, value);
        }
    }
}
