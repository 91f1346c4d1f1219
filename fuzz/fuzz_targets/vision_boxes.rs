//! Shapes of arbitrary numbers, and the matching rules on them.
//!
//! An input is a byte, counted starting at `a`, that chooses what is tried, and
//! [numbers](metric_suite_fuzz::Numbers).

#![no_main]

use std::fmt::Debug;
use std::mem::replace;

use libfuzzer_sys::fuzz_target;
use metric_core::Metric;
use metric_suite_fuzz::Numbers;
use metric_vision::matching::{any_overlap, counts, greedy, optimal, optimal_sum, voc};
use metric_vision::{
    BBox, BoxFormat, Detection, DetectionProfile, Detections, Mask, Matching, Polygon, RotatedBox,
    Shape, Truth, iou, iou_by_corners,
};

fuzz_target!(|data: &[u8]| {
    let [kind, bytes @ ..] = data else {
        return;
    };
    let mut numbers = Numbers(bytes);
    match kind.wrapping_sub(b'a') % 5 {
        0 => boxes(&mut numbers),
        1 => rotated(&mut numbers),
        2 => polygons(&mut numbers),
        3 => masks(bytes),
        _ => matchings(&mut numbers),
    }
});

/// Laws of two shapes: no IoU is NaN or negative, and where there is an overlap the bounds overlap
/// too. IoU is symmetric.
fn pair<S: Shape + Debug>(a: &S, b: &S) {
    for (a, b) in [(a, b), (b, a), (a, a), (b, b)] {
        let (iou, crowd) = (a.iou(b), a.iou_crowd(b));
        assert!(iou >= 0.0, "{iou}: {a:?} {b:?}");
        assert!(crowd >= 0.0, "{crowd}: {a:?} {b:?}");
        let ([left, top, right, bottom], other) = (a.bounds(), b.bounds());
        let meet = left < other[2] && other[0] < right && top < other[3] && other[1] < bottom;
        assert!(
            meet || (iou == 0.0 && crowd == 0.0),
            "{iou} {crowd}: {a:?} {b:?}"
        );
    }
    assert_eq!(a.iou(b), b.iou(a), "{a:?} {b:?}");
}

fn at_most_1<S: Shape + Debug>(a: &S, b: &S) {
    for (a, b) in [(a, b), (b, a), (a, a)] {
        assert!(a.iou(b) <= 1.0 && a.iou_crowd(b) <= 1.0, "{a:?} {b:?}");
    }
}

fn boxes(numbers: &mut Numbers) {
    let (one, two) = (numbers.take_array(), numbers.take_array());
    for format in BoxFormat::ALL {
        if let (Ok(a), Ok(b)) = (format.read(one), format.read(two)) {
            for bbox in [a, b] {
                let [x, y, width, height] = bbox.xywh();
                assert!(x.is_finite() && y.is_finite());
                assert!(width >= 0.0 && height >= 0.0 && bbox.area() >= 0.0);
            }
            pair(&a, &b);
            for (a, b) in [(a, b), (b, a), (a, a)] {
                assert!((0.0..=1.0).contains(&iou_by_corners(&a, &b)));
            }
        }
    }
    let signed = |[x, y, width, height]: [f64; 4]| BBox::from_signed_xywh(x, y, width, height);
    if let (Ok(a), Ok(b)) = (signed(one), signed(two)) {
        pair(&a, &b);
        assert!(!iou_by_corners(&a, &b).is_nan());
        for bbox in [a, b] {
            let [_, _, width, height] = bbox.xywh();
            if width < 0.0 || height < 0.0 {
                assert_eq!(iou(&bbox, &bbox), 0.0);
            }
        }
    }
}

fn rotated(numbers: &mut Numbers) {
    let (one, two) = (numbers.take_array(), numbers.take_array());
    let angles: [f64; 2] = numbers.take_array();
    for make in [RotatedBox::new, RotatedBox::from_degrees] {
        if let (Ok(a), Ok(b)) = (make(one, angles[0]), make(two, angles[1])) {
            assert!(a.area() >= 0.0, "{a:?}");
            pair(&a, &b);
            at_most_1(&a, &b);
            assert!(
                a.corners()
                    .as_flattened()
                    .iter()
                    .all(|number| !number.is_nan())
            );
            pair(&Polygon::from(a), &Polygon::from(b));
        }
    }
}

fn polygons(numbers: &mut Numbers) {
    let [count] = numbers.take_array();
    // The cast keeps to the range of u8.
    let count = usize::from(count as u8) % 32;
    let mut points = Vec::new();
    while let (Some(x), Some(y)) = (numbers.next(), numbers.next()) {
        points.push([x, y]);
    }
    points.truncate(64);
    let other = points.split_off(count.min(points.len()));
    for make in [Polygon::new, Polygon::even_odd] {
        if let (Ok(a), Ok(b)) = (make(points.clone()), make(other.clone())) {
            assert!(a.area() >= 0.0, "{a:?}");
            pair(&a, &b);
            at_most_1(&a, &b);
        }
    }
    // A simple ring is one under the other rule too.
    if let (Ok(simple), Ok(any)) = (Polygon::new(points.clone()), Polygon::even_odd(points)) {
        pair(&simple, &any);
    }
}

fn masks(bytes: &[u8]) {
    let [height, width, split, bytes @ ..] = bytes else {
        return;
    };
    let side = |byte: u8| match byte {
        0..=127 => u32::from(byte),
        _ => u32::MAX >> (byte % 32),
    };
    let (height, width) = (side(*height), side(*width));
    let (one, two) = bytes.split_at(usize::from(*split).min(bytes.len()));
    // The last run fills up the image, if the others leave something.
    let counts = |bytes: &[u8]| {
        let mut counts: Vec<u32> = bytes.iter().map(|&byte| side(byte)).collect();
        let total: u64 = counts.iter().copied().map(u64::from).sum();
        let rest = (u64::from(height) * u64::from(width)).saturating_sub(total);
        counts.push(u32::try_from(rest).unwrap_or(u32::MAX));
        counts
    };
    let from_text = [one, two]
        .map(|bytes| Mask::from_compressed(height, width, &String::from_utf8_lossy(bytes)));
    let from_counts = [one, two].map(|bytes| Mask::from_counts(height, width, &counts(bytes)));
    let ring = |bytes: &[u8]| vec![Numbers(bytes).collect::<Vec<_>>()];
    let small = height.max(width) < 1024;
    let from_polygons = [one, two].map(|bytes| {
        if small {
            Mask::from_polygons(height, width, &ring(bytes)).ok()
        } else {
            None
        }
    });
    let made = from_text
        .into_iter()
        .map(Result::ok)
        .chain(from_counts.into_iter().map(Result::ok));
    let made: Vec<Mask> = made.chain(from_polygons).flatten().collect();
    for a in &made {
        let written = a.to_compressed();
        assert_eq!(
            Mask::from_compressed(height, width, &written).as_ref(),
            Ok(a)
        );
        assert!(a.area() <= f64::from(height) * f64::from(width));
        for b in &made {
            pair(a, b);
            at_most_1(a, b);
        }
    }
}

fn matchings(numbers: &mut Numbers) {
    let [threshold, count] = numbers.take_array();
    // The cast keeps to the range of u8.
    let count = usize::from(count as u8) % 16;
    let (mut detections, mut truths) = (Vec::new(), Vec::new());
    while let Some(x) = numbers.next() {
        let [y, width, height, score] = numbers.take_array();
        let Ok(shape) = BBox::from_xywh(x, y, width, height) else {
            continue;
        };
        if truths.len() < count {
            let (crowd, ignore) = (score == 1.0, score == 2.0);
            truths.push(Truth {
                shape,
                crowd,
                ignore,
            });
        } else {
            detections.push(Detection {
                shape,
                score: Some(score),
            });
        }
    }
    detections.truncate(40);
    let counted = truths.iter().filter(|truth| truth.is_counted()).count() as u64;

    let best = optimal(&detections, &truths, threshold);
    let most = counts(&best, &truths).true_positives;
    for matches in [
        best,
        optimal_sum(&detections, &truths, threshold),
        greedy(&detections, &truths, threshold),
        voc(&detections, &truths, threshold, false),
        voc(&detections, &truths, threshold, true),
    ] {
        assert_eq!(matches.len(), detections.len());
        let mut taken = vec![false; truths.len()];
        let mut left_out = 0;
        for (detection, index) in detections.iter().zip(&matches) {
            let Some(index) = *index else { continue };
            let truth = &truths[index];
            let overlap = if truth.crowd {
                detection
                    .shape
                    .iou_crowd(&truth.shape)
                    .max(detection.shape.iou(&truth.shape))
            } else {
                detection.shape.iou(&truth.shape)
            };
            // COCO's greedy rule takes 1 as a little less.
            assert!(
                overlap > 0.0 && overlap >= threshold.min(1.0 - 1e-10),
                "{matches:?}"
            );
            if truth.is_counted() {
                assert!(!replace(&mut taken[index], true), "{matches:?}")
            } else {
                left_out += 1
            }
        }
        let counts = counts(&matches, &truths);
        assert_eq!(counts.true_positives + counts.false_negatives, counted);
        let found = counts.true_positives + counts.false_positives + left_out;
        assert_eq!(found, detections.len() as u64);
        if threshold <= 1.0 - 1e-10 {
            assert!(counts.true_positives <= most, "{matches:?}");
        }
    }
    let any = any_overlap(&detections, &truths, threshold);
    assert_eq!(any.len(), detections.len());

    for &profile in DetectionProfile::ALL {
        let Ok(metric) = Detections::new(profile, threshold) else {
            return;
        };
        let all = Matching::ALL
            .iter()
            .map(|&matching| metric.with_matching(matching));
        for metric in [metric].into_iter().chain(all) {
            let state = metric.measure(&detections, &truths);
            let score = metric.compute(&state);
            for score in [score.precision, score.recall, score.f1]
                .into_iter()
                .flatten()
            {
                assert!((0.0..=1.0).contains(&score), "{score}");
            }
        }
    }
}
