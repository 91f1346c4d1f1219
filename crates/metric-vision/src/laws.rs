//! The laws that all states obey, for property tests.

use std::fmt::Debug;

use ciborium::Value;
use metric_core::{Merge, Metric, Written, from_bytes, to_bytes};
use proptest::prelude::*;

use crate::curve::tests::example;
use crate::{
    Class, ClassState, CocoAp, CocoParams, CocoState, Confusion, DetectionLimit, DetectionState,
    DetectionSweep, DetectionSweepParams, DetectionSweepState, Detections, Image, Key, LvisAp,
    Matching, PrecisionRecall, Prediction, Tide, TideState, Ultralytics, UltralyticsConfusion,
    UltralyticsProfile, UltralyticsState, VocAp, VocState, YoloShape, by_class,
};

/// The division of examples among parts, the order in which these merge, and the weight of each
/// example.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    order: Vec<usize>,
    part_of: Vec<usize>,
    times: Vec<u64>,
}

pub(crate) fn division() -> impl Strategy<Value = Division> {
    let order = Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle();
    let part_of = proptest::collection::vec(0_usize..3, 8);
    let times = proptest::collection::vec(0_u64..4, 8);
    (order, part_of, times).prop_map(|(order, part_of, times)| Division {
        order,
        part_of,
        times,
    })
}

/// Checks the laws on the states of single examples, and returns the state of all.
///
/// - Any partition, merged in any order, is written the same.
/// - What is written can be read, and is written the same again.
/// - `merge_times` is that many merges.
pub(crate) fn check<S>(states: &[S], division: &Division) -> Result<S, TestCaseError>
where
    S: Merge + Clone + PartialEq + Debug + Written + Send + Sync,
{
    let mut all = S::default();
    for state in states {
        all.merge(state.clone());
    }
    let written = to_bytes(&all);

    let mut parts: [S; 3] = Default::default();
    let here = |&&index: &&usize| index < states.len();
    for &index in division.order.iter().filter(here) {
        parts[division.part_of[index]].merge(states[index].clone());
    }
    let mut merged = S::default();
    for part in parts.into_iter().rev() {
        // Each part is written and read on its way.
        let part: S = from_bytes(&to_bytes(&part)).expect("a state");
        let mut sum = part;
        sum.merge(merged);
        merged = sum;
    }
    prop_assert_eq!(&to_bytes(&merged), &written);
    prop_assert_eq!(&merged, &all);
    let read: S = from_bytes(&written).expect("a state");
    prop_assert_eq!(&to_bytes(&read), &written);
    prop_assert_eq!(&read, &all);

    let (mut repeated, mut multiplied) = (S::default(), S::default());
    for (index, state) in states.iter().enumerate() {
        let times = division.times[index % division.times.len()];
        for _ in 0..times {
            repeated.merge(state.clone());
        }
        multiplied.merge_times(state, times);
    }
    prop_assert_eq!(&to_bytes(&multiplied), &to_bytes(&repeated));
    prop_assert_eq!(&multiplied, &repeated);
    Ok(all)
}

/// [`check`] for the states of a metric of images.
fn check_metric<M>(
    metric: &M,
    examples: &[(Vec<Prediction>, Image)],
    division: &Division,
) -> Result<(), TestCaseError>
where
    M: Metric<Prediction = [Prediction], Reference = Image>,
    M::State: Clone + PartialEq + Debug + Written + Send + Sync,
{
    let measured = examples
        .iter()
        .map(|(found, image)| metric.measure(found, image));
    let measured: Vec<M::State> = measured.collect();
    check(&measured, division).map(|_| ())
}

/// The same image with boxes as Ultralytics compares them.
fn of_yolo(found: &[Prediction], image: &Image) -> (Vec<Prediction<YoloShape>>, Image<YoloShape>) {
    let found = found.iter();
    let found = found.map(|found| found.with_shape(YoloShape::Box(found.shape)));
    let real = image.annotations.iter();
    let real = real.map(|real| real.with_shape(YoloShape::Box(real.shape)));
    (
        found.collect(),
        Image::new(image.key.clone(), real.collect()),
    )
}

proptest! {
    #[test]
    fn states_of_all_metrics(
        examples in proptest::collection::vec(example(), 0..8),
        division in division(),
    ) {
        check_metric(&CocoAp::default(), &examples, &division)?;
        let params = CocoParams { by_class: false, ..CocoParams::default() };
        check_metric(&CocoAp::new(params).expect("a definition"), &examples, &division)?;
        let mut federated = examples.clone();
        for (_, image) in &mut federated {
            image.federated.negative = vec![0, 2];
            image.federated.not_exhaustive = vec![1];
        }
        for limit in [DetectionLimit::All, DetectionLimit::PerImage(2), DetectionLimit::PerClass(2)] {
            let metric = LvisAp::new(CocoParams::default(), limit).expect("a definition");
            check_metric(&metric, &federated, &division)?;
        }
        check_metric(&VocAp::new(0.5).expect("a metric"), &examples, &division)?;
        check_metric(&Tide::default(), &examples, &division)?;
        check_metric(&Confusion::new(3, 0.5).expect("a metric"), &examples, &division)?;
        let curves = PrecisionRecall::new(Matching::Greedy, vec![0.5, 0.75]).expect("a metric");
        check_metric(&curves, &examples, &division)?;

        for &profile in UltralyticsProfile::ALL {
            let metric = Ultralytics::new(profile);
            let states = examples.iter().map(|(found, image)| {
                let (found, image) = of_yolo(found, image);
                metric.measure(&found, &image)
            });
            let states: Vec<UltralyticsState> = states.collect();
            check(&states, &division)?;
            // A weight is that many merges.
            let mut merged = UltralyticsState::default();
            for (state, times) in states.iter().zip(&division.times) {
                merged.merge_times(state, *times);
            }
            let weighted = metric.weighted(&states.iter().collect::<Vec<_>>());
            let weights = &division.times[..states.len()];
            prop_assert_eq!(weighted(weights), metric.compute(&merged));
            let matrix = UltralyticsConfusion::new(profile, 3);
            let states = examples.iter().map(|(found, image)| {
                let (found, image) = of_yolo(found, image);
                matrix.measure(&found, &image)
            });
            check(&states.collect::<Vec<_>>(), &division)?;
        }

        let params = DetectionSweepParams {
            matching: Some(Matching::Greedy),
            iou_thresholds: vec![0.5, 0.75],
            score_thresholds: vec![0.25, 0.5],
            best_f1: true,
            ..DetectionSweepParams::default()
        };
        let metric = DetectionSweep::new(params).expect("a definition");
        // Integers and text, in an order of their own.
        let classes = [Key::from("b"), Key::from(7), Key::from("a")];
        let classes = classes.map(|key| Class::new(key, ""));
        let states = examples.iter().map(|(found, image)| {
            let mut state = DetectionSweepState::default();
            metric.update_image(&mut state, found, image, &classes);
            state
        });
        check(&states.collect::<Vec<_>>(), &division)?;

        let metric = Detections::default();
        let states = examples.iter().map(|(found, image)| {
            let mut state = DetectionState::default();
            by_class(found, image, |_, detections, truths| {
                metric.update(&mut state, detections, truths);
            });
            state
        });
        check(&states.collect::<Vec<_>>(), &division)?;
    }
}

/// The written form of a state that is given as JSON, in which a key may be a number in quotes.
fn bytes(json: &str) -> Vec<u8> {
    fn number_keys(value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(number_keys),
            Value::Map(entries) => {
                for (key, value) in entries {
                    let number = key.as_text().and_then(|text| text.parse::<u32>().ok());
                    if let Some(number) = number {
                        *key = number.into();
                    }
                    number_keys(value);
                }
            }
            _ => {}
        }
    }
    let mut value = serde_json::from_str(json).expect("JSON");
    number_keys(&mut value);
    written(&value)
}

fn written(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).expect("bytes");
    bytes
}

/// States that no metric writes are refused, with a reason.
#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn states_that_are_refused() {
    fn refused<S: Written + Debug>(rows: &[(&str, &str)]) {
        for (state, problem) in rows {
            let error = from_bytes::<S>(&bytes(state)).expect_err(state);
            assert!(error.to_string().contains(problem), "{state}: {error}");
        }
    }
    // A state of one image: a class with one detection, right at the only threshold.
    let coco = |classes: &str, truths: &str, scores: &str, verdicts: &str, details: &str| {
        format!(
            r#"{{"images":[[7,{{"classes":{classes},"truths":{truths},"scores":{scores},"verdicts":{verdicts},"details":{details}}}]]}}"#
        )
    };
    let (half, more) = ("13826050856027422720", "13826050856027422721");
    let one = format!("[{half}]");
    let good = coco("[[0,1]]", "[1]", &one, "[2147483648]", "[1,0]");
    assert!(from_bytes::<CocoState>(&bytes(&good)).is_ok());
    let two = format!("[{half},{more}]");
    let rows = [
        (
            coco("[[0,1],[0,0]]", "[1,1]", &one, "[1]", "[]"),
            "image 7: expected classes in rising",
        ),
        (
            coco("[[0,4294967295]]", "[1]", &one, "[1]", "[]"),
            "one score and one verdict",
        ),
        (
            coco("[[0,1]]", "[1]", &one, "[]", "[]"),
            "one score and one verdict",
        ),
        (
            coco("[[0,2]]", "[1]", &two, "[1,1]", "[]"),
            "in falling order",
        ),
        (
            coco("[[0,1]]", "[]", &one, "[1]", "[]"),
            "each class and area range",
        ),
        (
            coco("[]", "[1]", "[]", "[]", "[]"),
            "each class and area range",
        ),
        (
            coco("[[0,1]]", "[1]", &one, "[2147483649]", "[1,0]"),
            "the order of their detections",
        ),
        (
            coco("[[0,1]]", "[1]", &one, "[2147483648]", "[1,0,0]"),
            "details of equal length",
        ),
        (
            coco("[[0,1]]", "[1]", &one, "[1]", "[1,0]"),
            "details of equal length",
        ),
        (
            coco("[[0,1]]", "[1]", "[1]", "[1]", "[]"),
            "the rank of a score",
        ),
    ];
    let rows: Vec<(&str, &str)> = rows.iter().map(|(state, what)| (&**state, *what)).collect();
    refused::<CocoState>(&rows);
    refused::<VocState>(&[
        (
            r#"{"images":[["a",{"truths":[[0,0]],"detections":[]}]]}"#,
            "image a: expected a positive",
        ),
        (
            r#"{"images":[[1,{"truths":[[1,1],[0,1]],"detections":[]}]]}"#,
            "rising order",
        ),
    ]);
    refused::<TideState>(&[
        (r#"{"images":[[1,[]]],"truths":{}}"#, "expected a detection"),
        (
            r#"{"images":[],"truths":{"3":{"all":1,"not_found":2,"missed":0}}}"#,
            "class 3: expected missed <= not_found <= all",
        ),
    ]);
    refused::<crate::ConfusionState>(&[
        (
            r#"{"cells":[{"truth":null,"prediction":null,"count":1}],"ignored":0}"#,
            "no cell of the background",
        ),
        (
            r#"{"cells":[{"truth":0,"prediction":0,"count":18446744073709551615}],"ignored":0}"#,
            "at most 2^53",
        ),
    ]);
    refused::<DetectionState>(&[(
        r#"{"counts":{"true_positives":0,"false_positives":0,"false_negatives":0},"repeated":0,"undecided":0,"ignored":9223372036854775808}"#,
        "at most 2^53",
    )]);
    refused::<crate::ScoreHistogram>(&[(
        r#"{"truths":1,"bins":[{"score":0,"right":1,"wrong":0},{"score":0,"right":1,"wrong":0}]}"#,
        "falling order",
    )]);
}

/// All whole numbers in a value.
fn numbers(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Integer(_) => vec![value],
        Value::Array(values) => values.iter_mut().flat_map(numbers).collect(),
        Value::Map(entries) => {
            let values = entries.iter_mut().flat_map(|(key, value)| [key, value]);
            values.flat_map(numbers).collect()
        }
        _ => Vec::new(),
    }
}

/// Whatever a file says, its state is refused or can be used.
fn check_damaged<M>(
    metric: &M,
    examples: &[(Vec<Prediction>, Image)],
    damage: &[(usize, usize)],
) -> Result<(), TestCaseError>
where
    M: Metric<Prediction = [Prediction], Reference = Image>,
    M::State: ClassState + Clone + Written,
{
    const NUMBERS: [u64; 6] = [0, 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 1, 1 << 53];
    let mut state = M::State::default();
    for (found, image) in examples {
        metric.update(&mut state, found, image);
    }
    let mut damaged: Value = ciborium::from_reader(&*to_bytes(&state)).expect("a value");
    for &(index, number) in damage {
        let mut numbers = numbers(&mut damaged);
        let count = numbers.len().max(1);
        if let Some(damaged) = numbers.get_mut(index % count) {
            **damaged = NUMBERS[number].into();
        }
        let Ok(mut read) = from_bytes::<M::State>(&written(&damaged)) else {
            continue;
        };
        let _ = metric.compute(&read);
        for table in [&[2, 0, 1][..], &[0]] {
            let _ = read.renumber_classes(table);
        }
        read.merge_times(&state, 2);
        state.merge(read);
        let _ = metric.compute(&state);
    }
    Ok(())
}

proptest! {
    #[test]
    fn damaged_states_do_no_harm(
        examples in proptest::collection::vec(example(), 1..5),
        damage in proptest::collection::vec((0_usize..1000, 0_usize..6), 1..4),
    ) {
        check_damaged(&CocoAp::default(), &examples, &damage)?;
        check_damaged(&VocAp::new(0.5).expect("a metric"), &examples, &damage)?;
        check_damaged(&Tide::default(), &examples, &damage)?;
        check_damaged(&Confusion::new(3, 0.5).expect("a metric"), &examples, &damage)?;
        let curves = PrecisionRecall::new(Matching::Greedy, vec![0.5, 0.75]).expect("a metric");
        check_damaged(&curves, &examples, &damage)?;
    }
}
