use std::collections::BTreeMap;
use std::marker::PhantomData;

use metric_core::{Counts, Merge, Metric, NamedScores, written};

use crate::classes::{ClassState, ClassTotals, InvalidIndices, Renumbering};
use crate::count;
use crate::matching::{Detection, Truth, greedy};
use crate::{Annotation, BBox, Image, InvalidThreshold, Prediction, Shape};

/// The confusion matrix of detections, with the background as one more class.
///
/// An example is an image: its detections and its true objects, of all classes, which are matched
/// without regard to their classes.
///
/// ```
/// use metric_core::{Counts, Metric};
/// use metric_vision::{Annotation, BBox, Confusion, Image, Key, Prediction};
///
/// const CAT: u32 = 0;
/// const DOG: u32 = 1;
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let truth = |class, x| {
///     square(x).map(|shape| Annotation { class, crowd: false, ignore: false, id: 1, area: 100.0, shape })
/// };
/// let found = |class, x, score| {
///     square(x).map(|shape| Prediction { image: 0, position: 0, class, score, area: 100.0, shape })
/// };
///
/// // Two cats, of which one is taken for a dog, a dog that is not found, and a dog out of nothing.
/// let image = Image::new(Key::Number(1), vec![truth(CAT, 0.0)?, truth(CAT, 20.0)?, truth(DOG, 40.0)?]);
/// let detections = [found(CAT, 1.0, 0.9)?, found(DOG, 20.0, 0.8)?, found(DOG, 70.0, 0.7)?];
/// let metric = Confusion::new(2, 0.5)?;
/// let matrix = metric.compute(&metric.measure(&detections, &image));
///
/// let rows: Vec<Vec<u64>> = matrix.rows().collect();
/// assert_eq!(rows, [
///     [1, 1, 0], // cats: one right, one taken for a dog
///     [0, 0, 1], // dogs: one not found
///     [0, 1, 0], // background: one taken for a dog
/// ]);
/// assert_eq!(matrix.counts(CAT), Counts::new(1, 0, 1));
/// assert_eq!(matrix.counts(DOG), Counts::new(0, 2, 1));
/// assert_eq!(matrix.counts(CAT).recall(), Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The rule
///
/// [`matching::greedy`](greedy), COCO's, without regard to classes, as in `COCOeval.confusion_matrix` of hotcoco
/// 1.3.0: in descending order of score, each detection takes the free true object with the greatest IoU, if that is
/// at least the threshold. Detections of equal score come in the order of their classes, then of the file; among true
/// objects with equal IoU the last in this order is taken.
///
/// A detection left over that overlaps a crowd or an ignored object of any class enough is not counted. hotcoco
/// leaves crowds out and counts such a detection as one of the background, so that its last row is greater if there
/// are crowds. Everything else is equal, except at a threshold of 1, which hotcoco does not lower by 1e-10. It also
/// keeps only the best detections of an image; all detections count here.
///
/// Ultralytics and supervision match in descending order of IoU instead of the score (newer versions of supervision
/// pair objects of one class first), and require a score above the score threshold and an IoU above the IoU
/// threshold: where objects overlap, their matrices can differ from this. In that of Ultralytics a row is a predicted
/// class.
///
/// # Cost
///
/// The cost of [`greedy`] over the objects of all classes of an image. States and matrices need memory for the pairs
/// of classes that occur, whatever the number of classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confusion<S = BBox> {
    classes: usize,
    iou_threshold: f64,
    score_cut: Option<f64>,
    prefers_class: bool,
    shape: PhantomData<fn(S)>,
}

impl<S: Shape> Confusion<S> {
    /// Returns the metric for this many classes at this IoU threshold (`0 < iou_threshold <= 1`), with detections of
    /// any score.
    ///
    /// Objects of other classes are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if the threshold is outside that range, or NaN.
    pub fn new(classes: usize, iou_threshold: f64) -> Result<Self, InvalidThreshold> {
        Ok(Self {
            classes,
            iou_threshold: InvalidThreshold::check(iou_threshold)?,
            score_cut: None,
            prefers_class: false,
            shape: PhantomData,
        })
    }

    /// Returns this metric with only the detections at or above a score threshold.
    #[must_use]
    pub fn with_score_cut(self, score_cut: f64) -> Self {
        let score_cut = Some(score_cut);
        Self { score_cut, ..self }
    }

    /// Returns this metric with pairs of one class preferred among true objects whose bounds are equal, such as an object
    /// with two labels. They overlap all detections alike, so that it is the same matching but for which of them is whose.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_vision::{Annotation, BBox, Confusion, Image, Prediction};
    ///
    /// let shape = BBox::from_xywh(0.0, 0.0, 10.0, 10.0)?;
    /// let image = Image::new(1, vec![Annotation::new(0, shape), Annotation::new(1, shape)]);
    /// let found = [Prediction::new(0, 0.9, shape)];
    /// let rows = |metric: Confusion| -> Vec<Vec<u64>> {
    ///     metric.compute(&metric.measure(&found, &image)).rows().collect()
    /// };
    /// let metric = Confusion::new(2, 0.5)?;
    /// // The last of equal objects is taken.
    /// assert_eq!(rows(metric), [[0, 0, 1], [1, 0, 0], [0, 0, 0]]);
    /// assert_eq!(rows(metric.with_class_preferred(true)), [[1, 0, 0], [0, 0, 1], [0, 0, 0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_class_preferred(self, prefers_class: bool) -> Self {
        Self {
            prefers_class,
            ..self
        }
    }

    /// Returns this metric with another number of classes.
    #[must_use]
    pub fn with_classes(self, classes: usize) -> Self {
        Self { classes, ..self }
    }

    /// Returns the number of classes, without the background.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the IoU at or above which a detection matches a true object.
    #[must_use]
    pub fn iou_threshold(&self) -> f64 {
        self.iou_threshold
    }

    /// Returns the score at or above which detections count, if there is such a threshold.
    #[must_use]
    pub fn score_cut(&self) -> Option<f64> {
        self.score_cut
    }
}

impl<S: Shape> Metric for Confusion<S> {
    /// The detections in an image, in the order of the file.
    type Prediction = [Prediction<S>];
    type Reference = Image<S>;
    type State = ConfusionState;
    type Score = ConfusionMatrix;

    fn update(
        &self,
        state: &mut ConfusionState,
        prediction: &[Prediction<S>],
        reference: &Image<S>,
    ) {
        let listed = |class: u32| is_listed(Some(class), self.classes);
        let mut found: Vec<&Prediction<S>> = prediction
            .iter()
            .filter(|found| listed(found.class))
            .filter(|found| self.score_cut.is_none_or(|cut| found.score >= cut))
            .collect();
        found.sort_by_key(|found| found.class);
        let annotations = reference.annotations.iter();
        let mut real: Vec<&Annotation<S>> =
            annotations.filter(|truth| listed(truth.class)).collect();
        real.sort_by_key(|truth| truth.class);

        let detections: Vec<Detection<&S>> = found
            .iter()
            .map(|found| Detection {
                shape: &found.shape,
                score: Some(found.score),
            })
            .collect();
        let truths: Vec<Truth<&S>> = real
            .iter()
            .map(|real| Truth {
                shape: &real.shape,
                crowd: real.crowd,
                ignore: real.ignore,
            })
            .collect();
        let mut matches = greedy(&detections, &truths, self.iou_threshold);
        if self.prefers_class {
            exchange(&found, &real, &mut matches);
        }

        let mut missed: Vec<bool> = truths.iter().map(Truth::is_counted).collect();
        for (found, index) in found.iter().zip(matches) {
            match index {
                None => state.add(None, Some(found.class), 1),
                Some(index) if truths[index].is_counted() => {
                    missed[index] = false;
                    state.add(Some(real[index].class), Some(found.class), 1);
                }
                Some(_) => state.ignored += 1,
            }
        }
        for (real, _) in real.iter().zip(missed).filter(|&(_, missed)| missed) {
            state.add(Some(real.class), None, 1);
        }
    }

    fn compute(&self, state: &ConfusionState) -> ConfusionMatrix {
        state.matrix(self.classes)
    }
}

/// The objects of equal bounds by class, and the detections that have one of them.
#[derive(Default)]
struct Place {
    objects: BTreeMap<u32, Vec<usize>>,
    detections: Vec<usize>,
}

/// Gives detections objects of their own class where they have one whose bounds are equal, the best detections first.
fn exchange<S: Shape>(
    found: &[&Prediction<S>],
    real: &[&Annotation<S>],
    matches: &mut [Option<usize>],
) {
    let place = |index: usize| real[index].shape.bounds().map(f64::to_bits);
    let is_counted = |index: &usize| !real[*index].crowd && !real[*index].ignore;
    let mut places: BTreeMap<[u64; 4], Place> = BTreeMap::new();
    for index in (0..real.len()).filter(is_counted) {
        let Place { objects, .. } = places.entry(place(index)).or_default();
        objects.entry(real[index].class).or_default().push(index);
    }
    for (detection, index) in matches.iter().enumerate() {
        if let Some(index) = index.filter(is_counted) {
            let place = places.entry(place(index)).or_default();
            place.detections.push(detection);
        }
    }
    for place in places.into_values() {
        let Place {
            mut objects,
            mut detections,
        } = place;
        if objects.len() < 2 {
            continue;
        }
        detections.sort_by(|&a, &b| found[b].score.total_cmp(&found[a].score));
        detections.retain(|&detection| {
            let own = objects.get_mut(&found[detection].class).and_then(Vec::pop);
            matches[detection] = own.or(matches[detection]);
            own.is_none()
        });
        let mut rest = objects.into_values().flatten().rev();
        for detection in detections {
            matches[detection] = rest.next();
        }
    }
}

/// Whether a class is one of this many, or the background.
fn is_listed(class: Option<u32>, classes: usize) -> bool {
    class.is_none_or(|class| (class as usize) < classes)
}

/// The state of [`Confusion`]: the number of times each pair of a true class and a detected class occurred.
///
/// Only pairs that occurred take space, 24 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfusionState {
    /// In rising order of the two classes.
    cells: Vec<ConfusionCell>,
    ignored: u64,
}

written!(ConfusionState { cells, ignored } check Self::check);

/// The number of true objects of one class that were detected as another, or as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ConfusionCell {
    /// The class of the true objects; `None` for detections of the background.
    pub truth: Option<u32>,
    /// The class that they were detected as; `None` for objects that were not detected.
    pub prediction: Option<u32>,
    /// The number of times.
    pub count: u64,
}

written!(ConfusionCell {
    truth,
    prediction,
    count
});

impl ConfusionCell {
    fn pair(&self) -> (Option<u32>, Option<u32>) {
        (self.truth, self.prediction)
    }
}

impl ConfusionState {
    /// Refuses what was written by nobody.
    fn check(&self) -> Result<(), &'static str> {
        let Self { cells, ignored } = self;
        if !cells.is_sorted_by(|a, b| a.pair() < b.pair()) {
            return Err("expected cells in rising order of their classes");
        }
        if cells.iter().any(|cell| cell.pair() == (None, None)) {
            return Err("expected no cell of the background alone");
        }
        if cells.iter().any(|cell| cell.count == 0) {
            return Err("expected cells with a positive count");
        }
        count::check(cells.iter().map(|cell| cell.count).chain([*ignored]))
    }

    /// The matrix of this many classes.
    pub(crate) fn matrix(&self, classes: usize) -> ConfusionMatrix {
        let listed = |cell: &&ConfusionCell| {
            is_listed(cell.truth, classes) && is_listed(cell.prediction, classes)
        };
        let cells: Vec<ConfusionCell> = self.cells.iter().filter(listed).copied().collect();
        let mut totals: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for cell in &cells {
            for (side, class) in [cell.truth, cell.prediction].into_iter().enumerate() {
                if let Some(class) = class {
                    let total = &mut totals.entry(class).or_default()[side];
                    count::add(total, cell.count, 1);
                }
            }
        }
        ConfusionMatrix {
            classes,
            cells,
            totals,
            ignored: self.ignored,
        }
    }

    pub(crate) fn add(&mut self, truth: Option<u32>, prediction: Option<u32>, count: u64) {
        let cell = ConfusionCell {
            truth,
            prediction,
            count,
        };
        let index = self
            .cells
            .binary_search_by_key(&cell.pair(), ConfusionCell::pair);
        match index {
            Ok(index) => count::add(&mut self.cells[index].count, count, 1),
            Err(index) => self.cells.insert(index, cell),
        }
    }
}

impl Merge for ConfusionState {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        for cell in &other.cells {
            let count = cell.count.saturating_mul(times).min(count::MOST);
            self.add(cell.truth, cell.prediction, count);
        }
        count::add(&mut self.ignored, other.ignored, times);
    }
}

impl ClassState for ConfusionState {
    fn renumber_classes(&mut self, indices: &[u32]) -> Result<(), InvalidIndices> {
        let classes = self
            .cells
            .iter()
            .flat_map(|cell| [cell.truth, cell.prediction]);
        let indices = Renumbering::new(indices, classes.flatten())?;
        for cell in &mut self.cells {
            for class in [&mut cell.truth, &mut cell.prediction] {
                *class = class.map(|class| indices.number(class));
            }
        }
        self.cells.sort_unstable_by_key(ConfusionCell::pair);
        Ok(())
    }

    fn class_totals(&self) -> BTreeMap<u32, ClassTotals> {
        let totals = self.cells.iter().flat_map(|cell| {
            let truths = ClassTotals::truths(cell.count);
            let detections = ClassTotals::detections(cell.count);
            [
                cell.truth.map(|class| (class, truths)),
                cell.prediction.map(|class| (class, detections)),
            ]
        });
        ClassTotals::sum(totals.flatten())
    }
}

/// The number of times each class of true object was detected as each class.
///
/// Only pairs of classes that occurred take space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ConfusionMatrix {
    classes: usize,
    /// In rising order of the two classes.
    cells: Vec<ConfusionCell>,
    /// The true objects and the detections of each class.
    totals: BTreeMap<u32, [u64; 2]>,
    ignored: u64,
}

impl ConfusionMatrix {
    /// Returns the number of classes, without the background.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the pairs of classes that occurred, in ascending order, the background first.
    #[must_use]
    pub fn cells(&self) -> &[ConfusionCell] {
        &self.cells
    }

    /// Returns one row per class of true objects, with one column per class that they were detected as. The last row
    /// counts detections of the background, and the last column true objects that were not detected. The cell in the
    /// last row and the last column is 0.
    ///
    /// With very many classes prefer the [`cells`](Self::cells): the rows have a number for every pair of classes.
    pub fn rows(&self) -> impl Iterator<Item = Vec<u64>> {
        let classes = self.classes;
        let lines = move || {
            let listed = (0..=u32::MAX).take(classes);
            listed.map(Some).chain([None])
        };
        lines().map(move |truth| {
            let counts = lines().map(|class| self.count(truth, class));
            counts.collect()
        })
    }

    /// Returns the number of true objects of a class that were detected as another, or as the same. `None` stands for
    /// the background: `count(None, Some(class))` is the number of detections that match no object, and
    /// `count(Some(class), None)` the number of objects that were not detected. It is 0 for a class that is not in
    /// the list.
    #[must_use]
    pub fn count(&self, truth: Option<u32>, prediction: Option<u32>) -> u64 {
        let pair = (truth, prediction);
        let index = self.cells.binary_search_by_key(&pair, ConfusionCell::pair);
        index.map_or(0, |index| self.cells[index].count)
    }

    /// Returns the counts of a class, for its precision, recall and F1: true positives are on the
    /// diagonal, false positives in the rest of the column, false negatives in the rest of the row.
    ///
    /// The matching does not look at classes, so these are not the counts of a matching class by class, such as that
    /// of [`Detections`](crate::Detections): a detection can take an object of another class from a detection of that
    /// class.
    #[must_use]
    pub fn counts(&self, class: u32) -> Counts {
        let [actual, predicted] = self.totals.get(&class).copied().unwrap_or_default();
        Counts::from_totals(self.count(Some(class), Some(class)), predicted, actual)
    }

    /// Returns the sum of the [counts](Self::counts) of all classes.
    #[must_use]
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for &class in self.totals.keys() {
            total.merge(self.counts(class));
        }
        total
    }

    /// Returns the number of detections that are not in the matrix: those that match no true object, but overlap a
    /// crowd or an ignored object enough.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.ignored
    }
}

/// `precision`, `recall` and `f1` of the [total](ConfusionMatrix::total).
impl NamedScores for ConfusionMatrix {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        let total = self.total();
        [
            ("precision", total.precision()),
            ("recall", total.recall()),
            ("f1", total.f1()),
        ]
        .map(|(name, score)| (name.to_owned(), score))
        .into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Key;

    /// A box of height 10.
    fn strip(x: f64, width: f64) -> BBox {
        BBox::from_xywh(x, 0.0, width, 10.0).expect("a box")
    }

    fn truth(class: u32, shape: BBox) -> Annotation {
        Annotation {
            class,
            crowd: false,
            ignore: false,
            id: 1,
            area: shape.area(),
            shape,
        }
    }

    fn found(class: u32, shape: BBox, score: f64) -> Prediction {
        Prediction {
            image: 0,
            position: 0,
            class,
            score,
            area: shape.area(),
            shape,
        }
    }

    fn image(annotations: Vec<Annotation>) -> Image {
        let key = Key::Number(1);
        Image::new(key, annotations)
    }

    fn matrix(metric: Confusion, detections: &[Prediction], image: &Image) -> Vec<Vec<u64>> {
        let matrix = metric.compute(&metric.measure(detections, image));
        matrix.rows().collect()
    }

    fn of_two_classes() -> Confusion {
        Confusion::new(2, 0.5).expect("a threshold")
    }

    #[test]
    fn ties() {
        let here = strip(0.0, 10.0);
        // With equal scores the first class comes first, whatever the file says ...
        let detections = [found(1, here, 0.5), found(0, here, 0.5)];
        let one = image(vec![truth(0, here)]);
        let expected = [[1, 0, 0], [0, 0, 0], [0, 1, 0]];
        assert_eq!(matrix(of_two_classes(), &detections, &one), expected);
        // ... and of equal overlaps the last.
        let two = image(vec![truth(1, here), truth(0, here)]);
        let expected = [[0, 0, 1], [1, 0, 0], [0, 0, 0]];
        assert_eq!(
            matrix(of_two_classes(), &[found(0, here, 0.5)], &two),
            expected
        );
        // A detection whose best object is taken takes the next.
        let two = image(vec![truth(0, here), truth(1, strip(0.0, 8.0))]);
        let detections = [found(0, here, 0.9), found(0, here, 0.8)];
        let expected = [[1, 0, 0], [1, 0, 0], [0, 0, 0]];
        assert_eq!(matrix(of_two_classes(), &detections, &two), expected);
    }

    #[test]
    fn cuts() {
        let detections = [
            found(0, strip(0.0, 5.0), 0.5),
            found(1, strip(0.0, 4.9), 0.4),
        ];
        let one = image(vec![truth(0, strip(0.0, 10.0))]);
        // The threshold is enough, and so is the cut.
        let metric = of_two_classes().with_score_cut(0.5);
        assert_eq!(
            matrix(metric, &detections, &one),
            [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
        );
        let metric = of_two_classes().with_score_cut(0.6);
        assert_eq!(
            matrix(metric, &detections, &one),
            [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
        );
        for threshold in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(Confusion::<BBox>::new(2, threshold).is_err());
        }
    }

    #[test]
    fn crowds_and_ignored_objects() {
        let crowd = Annotation {
            crowd: true,
            ..truth(0, strip(100.0, 100.0))
        };
        let ignored = Annotation {
            ignore: true,
            ..truth(0, strip(300.0, 10.0))
        };
        let here = strip(150.0, 10.0);
        let image = image(vec![crowd, ignored, truth(0, here)]);
        let detections = [
            found(0, here, 0.9),
            // The only possible mismatch lies in the crowd, also of another class.
            found(0, here, 0.8),
            found(1, strip(100.0, 10.0), 0.7),
            // One that is on an ignored object, and one that is but a tenth of it.
            found(1, strip(301.0, 9.0), 0.6),
            found(1, strip(300.0, 1.0), 0.5),
        ];
        let score = of_two_classes().compute(&of_two_classes().measure(&detections, &image));
        let rows: Vec<Vec<u64>> = score.rows().collect();
        assert_eq!(rows, [[1, 0, 0], [0, 0, 0], [0, 1, 0]]);
        assert_eq!(score.ignored(), 3);
    }

    #[test]
    fn classes_that_are_not_listed() {
        let here = strip(0.0, 10.0);
        let image = image(vec![truth(2, here), truth(1, here)]);
        let detections = [found(7, here, 0.9), found(1, here, 0.8)];
        let metric = of_two_classes();
        let score = metric.compute(&metric.measure(&detections, &image));
        let rows: Vec<Vec<u64>> = score.rows().collect();
        assert_eq!(rows, [[0, 0, 0], [0, 1, 0], [0, 0, 0]]);
        assert_eq!(
            (score.count(Some(2), None), score.counts(2)),
            (0, Counts::default())
        );
        // Classes take space only where they met.
        for classes in [100_000, usize::MAX] {
            let metric = metric.with_classes(classes);
            let score = metric.compute(&metric.measure(&detections, &image));
            assert_eq!(score.cells().len(), 2);
            assert_eq!(score.counts(7), Counts::new(0, 1, 0));
            assert_eq!(score.counts(2), Counts::new(0, 0, 1));
        }
        // No class at all: only the background, which is not counted.
        let none = Confusion::new(0, 0.5).expect("a threshold");
        assert_eq!(matrix(none, &detections, &image), [[0]]);
    }

    fn images() -> impl Strategy<Value = Vec<(Vec<Prediction>, Image)>> {
        let truths = proptest::collection::vec((0_u32..3, 0_u8..20, 0_u8..8), 0..6);
        let detections = proptest::collection::vec((0_u32..3, 0_u8..24, 1_u8..12, 0_u8..4), 0..8);
        let image = (truths, detections).prop_map(|(truths, detections)| {
            let truths = truths.into_iter().map(|(class, x, kind)| Annotation {
                crowd: kind == 0,
                ignore: kind == 1,
                ..truth(class, strip(f64::from(x), 10.0))
            });
            let detections = detections.into_iter().map(|(class, x, width, score)| {
                found(
                    class,
                    strip(f64::from(x), f64::from(width)),
                    f64::from(score),
                )
            });
            (detections.collect(), image(truths.collect()))
        });
        proptest::collection::vec(image, 0..8)
    }

    proptest! {
        #[test]
        fn images_in_any_order_and_shards(
            images in images(),
            order in Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle(),
            shards in proptest::collection::vec(0_usize..3, 8),
        ) {
            let metric = Confusion::new(3, 0.5).expect("a threshold");
            let mut whole = ConfusionState::default();
            for (detections, image) in &images {
                metric.update(&mut whole, detections, image);
            }
            let mut parts = [(); 3].map(|()| ConfusionState::default());
            for index in order {
                if let Some((detections, image)) = images.get(index) {
                    metric.update(&mut parts[shards[index]], detections, image);
                }
            }
            let mut merged = ConfusionState::default();
            for part in parts {
                merged.merge(part);
            }
            prop_assert_eq!(merged, whole);
        }

        #[test]
        fn every_object_and_detection_is_counted_once(images in images(), threshold in 1_u8..=10) {
            let metric = Confusion::new(3, f64::from(threshold) / 10.0).expect("a threshold");
            for (detections, image) in &images {
                let matrix = metric.compute(&metric.measure(detections, image));
                let mut predicted = 0;
                for class in 0..3 {
                    let to_find = image.annotations.iter()
                        .filter(|truth| truth.class == class && !truth.crowd && !truth.ignore);
                    prop_assert_eq!(matrix.counts(class).actual(), to_find.count() as u64);
                    predicted += matrix.counts(class).predicted();
                }
                prop_assert_eq!(predicted + matrix.ignored(), detections.len() as u64);
                prop_assert_eq!(matrix.count(None, None), 0);
            }
        }
    }
}
