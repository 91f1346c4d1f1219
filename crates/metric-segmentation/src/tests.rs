use metric_core::{Merge, Metric};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn metric(classes: u64) -> Segmentation {
    let metric = Segmentation::new(classes).expect("classes");
    metric.with_ignored([255])
}

#[test]
fn scores_by_hand() {
    // The rows of the reference: class 0 has 3 pixels, class 1 has 2, class 2 none; one pixel is ignored.
    let reference = [0, 0, 0, 1, 1, 255];
    let prediction = [0, 0, 1, 1, 7, 0];
    let state = metric(4).measure(&prediction, &reference);
    assert_eq!(state.ignored(), 1);
    assert_eq!(state.count(1, 4), 1);
    let scores = metric(4).compute(&state);
    assert_eq!(scores.m_iou, Some((2.0 / 3.0 + 1.0 / 3.0) / 2.0));
    assert_eq!(scores.m_acc, Some((2.0 / 3.0 + 1.0 / 2.0) / 2.0));
    assert_eq!(scores.a_acc, Some(3.0 / 5.0));
    assert_eq!(
        scores.fw_iou,
        Some((3.0 * (2.0 / 3.0) + 2.0 * (1.0 / 3.0)) / 5.0)
    );
    assert_eq!(scores.m_precision, Some((1.0 + 1.0 / 2.0) / 2.0));
    assert_eq!(scores.m_dice, Some((4.0 / 5.0 + 2.0 / 4.0) / 2.0));
    assert_eq!(scores.m_recall, scores.m_acc);

    // The pixel that is predicted as no class does not count.
    let detectron2 = metric(4).with_profile(SegmentationProfile::Detectron2);
    let scores = detectron2.compute(&state);
    assert_eq!(scores.m_iou, Some((2.0 / 3.0 + 1.0 / 2.0) / 2.0));
    assert_eq!(scores.a_acc, Some(3.0 / 4.0));
    assert_eq!(scores.m_dice, None);
}

#[test]
fn a_class_that_is_only_predicted_has_the_iou_0() {
    let state = metric(3).measure(&[0, 1, 2], &[0, 1, 1]);
    assert_eq!(
        metric(3).compute(&state).m_iou,
        Some((1.0 + 1.0 / 2.0) / 3.0)
    );
    let detectron2 = metric(3).with_profile(SegmentationProfile::Detectron2);
    assert_eq!(
        detectron2.compute(&state).m_iou,
        Some((1.0 + 1.0 / 2.0) / 2.0)
    );
    // Its Dice coefficient is 0, and its F1 is undefined.
    assert_eq!(
        metric(3).compute(&state).m_f1,
        Some((1.0 + 2.0 / 3.0) / 2.0)
    );
}

#[test]
fn nothing_counted_is_undefined() {
    for profile in SegmentationProfile::ALL {
        let metric = metric(3).with_profile(*profile).with_ignored([255]);
        let scores = metric.compute(&metric.measure(&[0, 1], &[255, 255]));
        assert_eq!(scores, SegmentationScores::default());
    }
}

#[test]
fn labels_are_mapped_then_reduced_then_ignored() {
    let reduced = metric(3).with_reduced_labels().expect("few classes");
    // 0 and 255 are ignored, and so is 255 of 254 + 1; 1 is class 0.
    let state = reduced.measure(&[2, 0, 1, 1, 0], &[0, 1, 2, 255, 255]);
    assert_eq!(
        (state.ignored(), state.count(0, 0), state.count(1, 1)),
        (3, 1, 1)
    );
    let mapped = metric(3).with_label_map([(0, 1), (1, 0), (2, 255)]);
    let state = mapped.measure(&[1, 0, 2], &[0, 1, 2]);
    assert_eq!(
        (state.ignored(), state.count(1, 1), state.count(0, 0)),
        (1, 1, 1)
    );
    assert_eq!(
        metric(255).with_reduced_labels(),
        Err(SegmentationError::Reduced(255))
    );
}

#[test]
fn cityscapes_counts_19_of_34() {
    let metric = Segmentation::cityscapes();
    // Road and sidewalk are one category; 6 (ground) is ignored as a reference, and an error as a prediction.
    let state = metric.measure(&[7, 7, 6, 26, 7], &[7, 8, 8, 26, 6]);
    let scores = metric.compute(&state);
    assert_eq!(scores.m_iou, Some((1.0 / 2.0 + 0.0 + 1.0) / 3.0));
    assert_eq!(scores.m_iou_category, Some((2.0 / 3.0 + 1.0) / 2.0));
}

#[test]
fn odd_labels_are_named() {
    let metric = metric(2);
    let mut counter = metric.counter();
    counter.add_rows(LabelRow::Bytes(&[0, 9, 2]), LabelRow::Bytes(&[1, 255, 7]));
    assert_eq!((counter.unknown(), counter.outside()), (Some(2), Some(7)));
    let observed = counter.finish().observed();
    assert_eq!((observed.predicted_255, observed.next_label), (1, 1));
}

proptest! {
    #[test]
    fn laws_of_states(
        images in vec(vec((0_i64..5, 0_i64..5), 0..12), 0..6),
        weights in vec(0_u64..3, 6),
    ) {
        let metric = metric(3).with_ignored([1]);
        let state = |image: &Vec<(i64, i64)>| {
            let (prediction, reference): (Vec<i64>, Vec<i64>) = image.iter().copied().unzip();
            metric.measure(&prediction, &reference)
        };
        let states: Vec<PixelConfusions> = images.iter().map(state).collect();
        crate::laws::check(&states);

        let mut sum = PixelConfusions::default();
        for (state, weight) in states.iter().zip(&weights) {
            sum.merge_times(state, *weight);
        }
        sum.observed = Observed::default();
        sum.cells.retain(|_, pixels| *pixels > 0);
        let states: Vec<&PixelConfusions> = states.iter().collect();
        prop_assert_eq!(ConfusionSum::new(&states).weighted(&weights), sum);
    }

    /// Rows of bytes are counted by pairs of labels, others by runs.
    #[test]
    fn bytes_are_counted_as_labels(pixels in vec((any::<u8>(), 0_u8..4), 0..60)) {
        let metric = metric(3);
        let (reference, prediction): (Vec<u8>, Vec<u8>) = pixels.into_iter().unzip();
        let wide = |row: &[u8]| row.iter().map(|label| i64::from(*label)).collect::<Vec<i64>>();
        let mut counter = metric.counter();
        counter.add_rows(LabelRow::Bytes(&reference), LabelRow::Bytes(&prediction));
        prop_assert_eq!(counter.finish(), metric.measure(&wide(&prediction), &wide(&reference)));
    }
}
