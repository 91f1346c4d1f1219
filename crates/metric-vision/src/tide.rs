use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use metric_core::{
    Malformed, Mean, Merge, Metric, NamedScores, Reader, WeightedRows, Writer, Written, fields,
    named_choice, written,
};

use crate::by_image::{ByImage, Check};
use crate::classes::{
    ClassState, ClassTotals, InvalidIndices, Judged, Renumbering, is_ranked_by_order,
};
use crate::count;
use crate::matching::{TooManyPairs, check_image};
use crate::score::Rank;
use crate::{Annotation, BBox, Image, Prediction, Shape};

/// The cost of a detector's errors: for each of TIDE's six types of error, the number of errors, and how much average
/// precision would rise without them.
///
/// An example is an image: its detections and its true objects, of all classes.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::{Annotation, BBox, Image, Prediction, Tide, TideErrorType};
///
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let truths = vec![Annotation::new(0, square(0.0)?), Annotation::new(0, square(50.0)?)];
/// // The most confident detection is on one of the two objects. The next one is 6 to the right of the other: IoU 4/16.
/// let found = [Prediction::new(0, 0.9, square(0.0)?), Prediction::new(0, 0.8, square(56.0)?)];
///
/// let metric = Tide::default();
/// let score = metric.compute(&metric.measure(&found, &Image::new(1, truths)));
///
/// // Precision is 1 up to recall 1/2, at 51 of 101 recalls; in the right place, it would be 1 at all.
/// assert_eq!(score.average_precision, Some(51.0 / 101.0));
/// let localization = score.error(TideErrorType::Localization);
/// assert_eq!((localization.count, localization.delta_ap), (1, Some(1.0 - 51.0 / 101.0)));
/// // The other object is not missed: an error of another type is to blame.
/// assert_eq!(score.error(TideErrorType::Missed).count, 0);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
///
/// Source: Bolya et al., *TIDE: A General Toolbox for Identifying Object Detection Errors* (ECCV
/// 2020), and its program tidecv 1.0.1, which this follows.
///
/// # The rule
///
/// In each image the best 100 detections, of all classes together, count. In descending order of score (then in the
/// order of the file), each takes the free true object of its class with the greatest IoU (the first, among equals),
/// and is right if that IoU is at least the foreground threshold. The others have the first of these errors that
/// applies, where taken objects count like free ones:
///
/// | error | the detection |
/// |---|---|
/// | `Loc` | has an object of its class in between: background <= greatest IoU <= foreground |
/// | `Cls` | has an object of another class: greatest IoU >= foreground |
/// | `Dupe` | has an object of its class that is taken: IoU > foreground |
/// | `Bkg` | has no object: greatest IoU < background, or = background of another class |
/// | `Both` | fits none of these types: an object of another class, and badly placed |
///
/// `Miss` are the true objects that were not taken, and are the object of no `Loc` or `Cls`.
///
/// A wrong detection of whose own class a crowd or an ignored object holds more than the foreground
/// threshold (as a share of the detection) is not counted in the precision.
///
/// # What errors cost
///
/// AP is the mean precision at 101 recalls, then the mean over classes. For each error type an oracle corrects the
/// errors of that type and of no other ([`TideOracle`]), and AP is computed again.
///
/// # The program's arithmetic, and its defects
///
/// The AP of each class equals that of the program to the last bit, before the program converts it to percent. Under
/// CPython 3.12 and later, whose `sum` is compensated, the program's own last bits change. The mean over classes is
/// rounded once here, whereas the program adds in the order in which classes occur; the two agree to about 15 digits.
///
/// These are the program's, and kept:
/// - A class with detections but without true objects has an AP of 0, and is left out of the mean once its errors are
///   corrected: correcting the false positives of such a class raises AP a lot. The same holds for a class whose
///   objects are all missed, once those are corrected.
/// - Once an oracle has been at work, wrong detections come before right ones of equal score, also
///   those of which it righted none. AP is a little less then; a fall is counted as no rise, but
///   not so for the two [`TideScore::false_positives`] and [`TideScore::false_negatives`].
/// - A second detection with an IoU of exactly the foreground threshold is a `Loc` and no `Dupe`.
/// - Wrong detections that are not counted have errors all the same, and the oracle can make them
///   right.
///
/// These are not:
/// - Detections of equal score rank by the key of their image, then by their order in the file; in
///   the program by the order in which images were added, which may be another.
/// - A score of -1 or less: the program stops.
/// - No class at all: the program divides by zero; here AP is undefined.
///
/// # Cost
///
/// An image takes the product of its true objects and the detections that count, and memory for the
/// pairs of them whose IoU is at least the background threshold. A million true objects and a million detections in one image are 10^8
/// pairs, for 100 detections count: about a second. With as many detections to count as there are, they
/// are 10^12, which take hours. AP sorts the detections that count, and is taken nine times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tide<S = BBox> {
    foreground: f64,
    background: f64,
    max_detections: usize,
    shape: PhantomData<fn(S)>,
}

impl<S: Shape> Tide<S> {
    /// Returns the metric with these two IoU thresholds, `0 < background < foreground <= 1`, and 100 detections per
    /// image.
    ///
    /// # Errors
    ///
    /// Returns an error if a threshold is outside that range, or NaN.
    pub fn new(foreground: f64, background: f64) -> Result<Self, InvalidTide> {
        if !(foreground > 0.0 && foreground <= 1.0) {
            return Err(InvalidTide::Foreground(foreground));
        }
        if !(background > 0.0 && background < foreground) {
            return Err(InvalidTide::Background {
                background,
                foreground,
            });
        }
        Ok(Self {
            foreground,
            background,
            ..Self::default()
        })
    }

    /// Returns this metric with this limit on the detections per image.
    ///
    /// # Errors
    ///
    /// Returns an error if `max_detections` is 0.
    pub fn with_max_detections(self, max_detections: usize) -> Result<Self, InvalidTide> {
        if max_detections == 0 {
            return Err(InvalidTide::MaxDetections);
        }
        Ok(Self {
            max_detections,
            ..self
        })
    }

    /// Returns the IoU at or above which a detection is right.
    #[must_use]
    pub fn foreground(&self) -> f64 {
        self.foreground
    }

    /// Returns the largest IoU at which a detection counts as background.
    #[must_use]
    pub fn background(&self) -> f64 {
        self.background
    }

    /// Returns the number of detections that count in an image.
    #[must_use]
    pub fn max_detections(&self) -> usize {
        self.max_detections
    }

    /// Returns an error for an image that would need a list of more than 2^25 pairs (half a gigabyte), each of a
    /// detection that counts and a true object. With the default of 100 detections, that takes more than 335,000
    /// objects.
    ///
    /// Scores have no limit of their own. A program that reads untrusted data calls this first.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more pairs.
    pub fn check_size(
        &self,
        predictions: &[Prediction<S>],
        image: &Image<S>,
    ) -> Result<(), TooManyPairs> {
        check_image(predictions, &image.annotations, self.max_detections, false)
    }

    /// Returns the error of each detection in an image; `None` if the detection is right, or is not among the
    /// highest-scoring ones that count.
    #[must_use]
    pub fn errors(
        &self,
        predictions: &[Prediction<S>],
        annotations: &[Annotation<S>],
    ) -> Vec<Option<TideErrorType>> {
        let mut errors = vec![None; predictions.len()];
        for (position, finding) in self.examine(predictions, annotations).findings {
            if let Verdict::Wrong { error, .. } = finding.verdict {
                errors[position] = Some(error);
            }
        }
        errors
    }

    fn examine(&self, predictions: &[Prediction<S>], annotations: &[Annotation<S>]) -> Examination {
        let mut ranked: Vec<(usize, &Prediction<S>)> = predictions.iter().enumerate().collect();
        ranked.sort_by_key(|&(_, found)| Reverse(Rank::new(found.score)));
        ranked.truncate(self.max_detections);
        let (regions, truths): (Vec<&Annotation<S>>, Vec<_>) = annotations
            .iter()
            .partition(|annotation| annotation.crowd || annotation.ignore);
        let overlaps: Vec<Vec<Overlap>> = ranked
            .iter()
            .map(|(_, found)| {
                let iou = |(position, truth): (usize, &&Annotation<S>)| Overlap {
                    position,
                    overlap: found.shape.iou(&truth.shape),
                };
                let all = truths.iter().enumerate().map(iou);
                all.filter(|pair| pair.overlap >= self.background).collect()
            })
            .collect();

        let mut taken = vec![false; truths.len()];
        let mut right = Vec::with_capacity(ranked.len());
        for ((_, found), overlaps) in ranked.iter().zip(&overlaps) {
            let free = |position: usize| truths[position].class == found.class && !taken[position];
            let best = greatest(overlaps, free).filter(|best| best.overlap >= self.foreground);
            if let Some(best) = best {
                taken[best.position] = true;
            }
            right.push(best.is_some());
        }

        // The first error that has an object for its own is the one that the oracle can right.
        let mut claimed = vec![false; truths.len()];
        let findings = ranked.iter().zip(right).zip(&overlaps);
        let findings = findings.map(|((&(position, found), right), overlaps)| {
            let verdict = if right {
                Verdict::Right
            } else {
                let (error, object) = self.diagnose(found.class, overlaps, &truths, &taken);
                let object = object.filter(|&object| !taken[object]);
                let first = |&object: &usize| !std::mem::replace(&mut claimed[object], true);
                let ignored = |region: &&Annotation<S>| {
                    region.class == found.class
                        && found.shape.iou_crowd(&region.shape) > self.foreground
                };
                Verdict::Wrong {
                    error,
                    ignored: regions.iter().any(ignored),
                    becomes: object.filter(first).map(|object| truths[object].class),
                }
            };
            let finding = Finding {
                class: found.class,
                score: Rank::new(found.score),
                verdict,
            };
            (position, finding)
        });
        let findings = findings.collect();

        let fates = truths.iter().zip(taken.iter().zip(claimed));
        let fates = fates.map(|(truth, (&taken, claimed))| {
            let fate = TruthCounts {
                all: 1,
                not_found: u64::from(!taken),
                missed: u64::from(!taken && !claimed),
            };
            (truth.class, fate)
        });
        Examination {
            findings,
            truths: fates.collect(),
        }
    }

    /// The error of a wrong detection, and for two of them the place of the object that it should have
    /// been of.
    fn diagnose(
        &self,
        class: u32,
        overlaps: &[Overlap],
        truths: &[&Annotation<S>],
        taken: &[bool],
    ) -> (TideErrorType, Option<usize>) {
        let best = |wanted: &dyn Fn(usize) -> bool, least: f64| {
            greatest(overlaps, wanted).filter(|best| best.overlap >= least)
        };
        let of_class = |position: usize| truths[position].class == class;
        if let Some(near) = best(&of_class, self.background)
            && near.overlap <= self.foreground
        {
            (TideErrorType::Localization, Some(near.position))
        } else if let Some(other) = best(&|position| !of_class(position), self.foreground) {
            (TideErrorType::Classification, Some(other.position))
        } else if best(
            &|position| of_class(position) && taken[position],
            self.foreground,
        )
        .is_some()
        {
            (TideErrorType::Duplicate, None)
        } else if greatest(overlaps, |_| true).is_none_or(|any| any.overlap <= self.background) {
            (TideErrorType::Background, None)
        } else {
            (TideErrorType::Both, None)
        }
    }
}

/// The thresholds and the number of detections of the paper: 0.5, 0.1 and 100.
impl<S: Shape> Default for Tide<S> {
    fn default() -> Self {
        Self {
            foreground: 0.5,
            background: 0.1,
            max_detections: 100,
            shape: PhantomData,
        }
    }
}

/// The IoU of a detection with the true object at this position, at least the background threshold:
/// lesser ones make no difference.
#[derive(Clone, Copy)]
struct Overlap {
    position: usize,
    overlap: f64,
}

/// The greatest overlap among those that are requested, of equal ones the first.
fn greatest(overlaps: &[Overlap], wanted: impl Fn(usize) -> bool) -> Option<Overlap> {
    let wanted = overlaps
        .iter()
        .copied()
        .filter(|pair| wanted(pair.position));
    wanted.reduce(|best, pair| {
        if pair.overlap > best.overlap {
            pair
        } else {
            best
        }
    })
}

impl<S: Shape> Metric for Tide<S> {
    /// The detections in an image, in the order of the file.
    type Prediction = [Prediction<S>];
    type Reference = Image<S>;
    type State = TideState;
    type Score = TideScore;

    fn update(&self, state: &mut TideState, prediction: &[Prediction<S>], reference: &Image<S>) {
        let examination = self.examine(prediction, &reference.annotations);
        for (class, fate) in examination.truths {
            state.truths.entry(class).or_default().merge(fate);
        }
        let findings = examination.findings.into_iter();
        let findings: Vec<Finding> = findings.map(|(_, finding)| finding).collect();
        if !findings.is_empty() {
            state.images.insert(reference.key.clone(), findings);
        }
    }

    fn compute(&self, state: &TideState) -> TideScore {
        Entries::new(&[state]).score(&[1])
    }
}

impl<S> Tide<S> {
    /// Returns a function that takes a weight for each state, and returns the score of the states merged as many
    /// times as their weights say. The states are usually those of single images, and the weights those of a
    /// bootstrap replicate.
    ///
    /// # Cost
    ///
    /// Two sorts for all weights. Each set of weights is nine passes over the detections.
    pub fn weighted(&self, states: &[&TideState]) -> impl Fn(&[u64]) -> TideScore + use<S> {
        let entries = Entries::new(states);
        move |weights| entries.score(weights)
    }
}

fn mean(classes: &BTreeMap<u32, f64>) -> Option<f64> {
    classes.values().copied().collect::<Mean>().value()
}

/// A type of error that a detector makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TideErrorType {
    /// A detection of an object of another class, well placed (`Cls`).
    Classification,
    /// A detection of an object of its class, badly placed (`Loc`).
    Localization,
    /// A detection of an object of another class, badly placed (`Both`).
    Both,
    /// A detection of an object of its class that another detection has taken (`Dupe`).
    Duplicate,
    /// A detection of no object (`Bkg`).
    Background,
    /// An object without a detection (`Miss`).
    Missed,
}

impl TideErrorType {
    const IN_ORDER: [Self; 6] = [
        Self::Classification,
        Self::Localization,
        Self::Both,
        Self::Duplicate,
        Self::Background,
        Self::Missed,
    ];

    /// All types, in the order of the program's table.
    pub const ALL: &[Self] = &Self::IN_ORDER;

    /// Returns the paper's short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classification => "Cls",
            Self::Localization => "Loc",
            Self::Both => "Both",
            Self::Duplicate => "Dupe",
            Self::Background => "Bkg",
            Self::Missed => "Miss",
        }
    }
}

named_choice!(TideErrorType, "type of error");

/// The errors that are corrected before AP is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TideOracle {
    /// Nothing.
    #[default]
    None,
    /// The errors of one type. The first `Cls` or `Loc` of each free true object becomes correct. The others of that
    /// type, and `Both`, `Dupe` and `Bkg`, are left out. For `Miss`, the objects are no longer positives.
    Error(TideErrorType),
    /// Every wrong detection comes after every right one.
    FalsePositives,
    /// Objects that were not found are not positives.
    FalseNegatives,
}

/// The state of [`Tide`]: the outcomes of the detections of each image, and the number of true
/// objects of each class.
///
/// 24 bytes per detection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TideState {
    images: ByImage<Vec<Finding>>,
    truths: BTreeMap<u32, TruthCounts>,
}

impl Check for Vec<Finding> {
    fn check(&self) -> Result<(), &'static str> {
        if self.is_empty() {
            return Err("expected a detection");
        }
        if !self.is_sorted_by(|a, b| a.score >= b.score) {
            return Err("expected the detections in falling order of their scores");
        }
        let is_missed = |finding: &Finding| match finding.verdict {
            Verdict::Wrong { error, .. } => error == TideErrorType::Missed,
            Verdict::Right => false,
        };
        if self.iter().any(is_missed) {
            Err("expected an error that a detection can have, not Missed")
        } else {
            Ok(())
        }
    }
}

/// The outcome of a detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    class: u32,
    score: Rank,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Right,
    Wrong {
        error: TideErrorType,
        /// Whether it is left out of the precision.
        ignored: bool,
        /// The class of which the oracle can make it a right detection.
        becomes: Option<u32>,
    },
}

/// True objects of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TruthCounts {
    all: u64,
    not_found: u64,
    /// Those of them that are not the object of an error of a detection.
    missed: u64,
}

struct Examination {
    /// Detections by falling score, with their positions in the file.
    findings: Vec<(usize, Finding)>,
    truths: Vec<(u32, TruthCounts)>,
}

impl Merge for TruthCounts {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        count::add(&mut self.all, other.all, times);
        count::add(&mut self.not_found, other.not_found, times);
        count::add(&mut self.missed, other.missed, times);
    }
}

impl TideState {
    /// Returns the number of errors of this type.
    #[must_use]
    pub fn count(&self, error: TideErrorType) -> u64 {
        if error == TideErrorType::Missed {
            let missed = self.truths.values().map(|truths| truths.missed);
            return missed.fold(0, u64::saturating_add);
        }
        let made = |finding: &&Finding| matches!(finding.verdict, Verdict::Wrong { error: made, .. } if made == error);
        let findings = self.images.unordered().flatten();
        findings.filter(made).count() as u64
    }

    /// Returns the AP of each class after the oracle's corrections, for the classes that still have true objects to
    /// find or counted detections. It is 0 for a class that has no true objects to find.
    #[must_use]
    pub fn average_precisions(&self, oracle: TideOracle) -> BTreeMap<u32, f64> {
        Entries::new(&[self]).average_precisions(oracle, &self.truths, &[1])
    }

    /// Returns [`average_precisions`](Self::average_precisions) of each of several oracles. The detections are sorted
    /// once for all of them.
    #[must_use]
    pub fn average_precisions_by(&self, oracles: &[TideOracle]) -> Vec<BTreeMap<u32, f64>> {
        let entries = Entries::new(&[self]);
        let of_oracle = |oracle| entries.average_precisions(oracle, &self.truths, &[1]);
        oracles.iter().copied().map(of_oracle).collect()
    }
}

fields!(TideState { images, truths } check Self::check);
written!(Finding {
    class,
    score,
    verdict
});
written!(TruthCounts {
    all,
    not_found,
    missed
});

impl TideState {
    /// Refuses what was written by nobody.
    fn check(&self) -> Result<(), Malformed> {
        for (class, counts) in &self.truths {
            let TruthCounts {
                all,
                not_found,
                missed,
            } = *counts;
            if missed > not_found || not_found > all || all > count::MOST_READ {
                return Err(Malformed(format!(
                    "class {class}: expected missed <= not_found <= all <= 2^53"
                )));
            }
        }
        Ok(())
    }
}

impl TideErrorType {
    /// The names in written states.
    const WRITTEN: [&str; 6] = [
        "Classification",
        "Localization",
        "Both",
        "Duplicate",
        "Background",
        "Missed",
    ];
}

/// The name of the kind of verdict; for a wrong detection, a map from the name to the fields.
impl Written for Verdict {
    fn write(&self, to: &mut Writer) {
        let Self::Wrong {
            error,
            ignored,
            becomes,
        } = self
        else {
            return to.text("Right");
        };
        to.map(1);
        to.text("Wrong");
        to.map(3);
        to.text("error");
        to.text(TideErrorType::WRITTEN[*error as usize]);
        to.field("ignored", ignored);
        to.field("becomes", becomes);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        if from.attempt(|from| from.name("Right")).is_some() {
            return Ok(Self::Right);
        }
        from.map()?;
        from.name("Wrong")?;
        from.map()?;
        from.name("error")?;
        let found = from.text()?;
        let names = TideErrorType::WRITTEN.iter().zip(TideErrorType::IN_ORDER);
        let error = names.into_iter().find(|(name, _)| **name == found);
        let (_, error) = error.ok_or("expected a type of error")?;
        Ok(Self::Wrong {
            error,
            ignored: from.field("ignored")?,
            becomes: from.field("becomes")?,
        })
    }
}

impl ClassState for TideState {
    fn renumber_classes(&mut self, indices: &[u32]) -> Result<(), InvalidIndices> {
        let findings = self.images.unordered().flatten();
        let found = findings.flat_map(|finding| [Some(finding.class), finding.becomes()]);
        let classes = found.flatten().chain(self.truths.keys().copied());
        let indices = Renumbering::new(indices, classes)?;
        for finding in self.images.rows_mut().flatten() {
            finding.class = indices.number(finding.class);
            if let Verdict::Wrong {
                becomes: Some(class),
                ..
            } = &mut finding.verdict
            {
                *class = indices.number(*class);
            }
        }
        indices.map(&mut self.truths);
        Ok(())
    }

    fn class_totals(&self) -> BTreeMap<u32, ClassTotals> {
        let truths = self.truths.iter();
        let truths = truths.map(|(&class, truths)| (class, ClassTotals::truths(truths.all)));
        let findings = self.images.unordered().flatten();
        let found = findings.map(|finding| (finding.class, ClassTotals::detections(1)));
        ClassTotals::sum(truths.chain(found))
    }

    fn is_ranked_by_order(&self) -> bool {
        let findings = self.images.unordered().flatten();
        is_ranked_by_order(findings.map(|finding| {
            let is_wrong = matches!(finding.verdict, Verdict::Wrong { ignored: false, .. });
            Judged {
                class: finding.class,
                score: finding.score,
                correct: u64::from(matches!(finding.verdict, Verdict::Right)),
                wrong: u64::from(is_wrong),
            }
        }))
    }
}

impl Finding {
    /// The class of which the oracle can make it a right detection.
    fn becomes(&self) -> Option<u32> {
        match self.verdict {
            Verdict::Wrong { becomes, .. } => becomes,
            Verdict::Right => None,
        }
    }
}

/// The possible entries of the ranking of a class: each counted detection as it is, and again as an
/// oracle corrects it.
struct Entries {
    /// The true objects of the classes by state.
    truths: Vec<(u32, u32, TruthCounts)>,
    /// By state, the number of errors of each type that detections made.
    errors: Vec<(u32, [u64; 6])>,
    /// By class, then by falling score, then as they come.
    as_they_are: WeightedRows<Entry>,
    /// The same, but wrong detections before right ones of equal score: the program rights errors
    /// first and then adds the detections that were right.
    once_righted: WeightedRows<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    class: u32,
    score: Reverse<Rank>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Right,
    Wrong(TideErrorType),
    Righted(TideErrorType),
}

impl Entries {
    fn new(states: &[&TideState]) -> Self {
        let mut entries = Vec::new();
        // In the order of the images, and of the score within an image.
        let images = ByImage::of_all(states.iter().map(|state| &state.images));
        let findings = images.flat_map(|(source, findings)| {
            let findings = findings.iter();
            findings.map(move |finding| (source, finding))
        });
        for (source, finding) in findings {
            let mut add = |class, kind| {
                let score = Reverse(finding.score);
                entries.push((source, Entry { class, score, kind }));
            };
            match finding.verdict {
                Verdict::Right => add(finding.class, Kind::Right),
                Verdict::Wrong {
                    error,
                    ignored,
                    becomes,
                } => {
                    if !ignored {
                        add(finding.class, Kind::Wrong(error));
                    }
                    if let Some(class) = becomes {
                        add(class, Kind::Righted(error));
                    }
                }
            }
        }
        let of_state = (0..).zip(states);
        let truths = of_state.clone().flat_map(|(index, state)| {
            let truths = state.truths.iter();
            truths.map(move |(&class, &truths)| (index, class, truths))
        });
        let errors = of_state.map(|(index, state)| {
            let count = |error| match error {
                TideErrorType::Missed => 0,
                error => state.count(error),
            };
            (index, TideErrorType::IN_ORDER.map(count))
        });
        let as_they_are = WeightedRows::new(entries, |entry: &Entry| (entry.class, entry.score));
        // Sorted by class and score already, which leaves little to sort.
        let once_righted = as_they_are.iter().map(|(source, entry)| (source, *entry));
        let once_righted = WeightedRows::new(once_righted, |entry| {
            (entry.class, entry.score, entry.kind == Kind::Right)
        });
        Self {
            truths: truths.collect(),
            errors: errors.collect(),
            as_they_are,
            once_righted,
        }
    }

    /// The score of the states with these weights.
    fn score(&self, weights: &[u64]) -> TideScore {
        let truths = self.truths(weights);
        let ap = |oracle| mean(&self.average_precisions(oracle, &truths, weights));
        let base = ap(TideOracle::None);
        let delta = |oracle| Some(ap(oracle)? - base?);
        let counts = self.counts(&truths, weights);
        let mut counts = counts.into_iter();
        TideScore {
            average_precision: base,
            errors: TideErrorType::IN_ORDER.map(|error| TideErrorScore {
                error,
                count: counts.next().unwrap_or_default(),
                // Numbers only fall because of the order of equal scores: see the type.
                delta_ap: delta(TideOracle::Error(error)).map(|delta| delta.max(0.0)),
            }),
            false_positives: delta(TideOracle::FalsePositives),
            false_negatives: delta(TideOracle::FalseNegatives),
        }
    }

    /// The true objects of each class.
    fn truths(&self, weights: &[u64]) -> BTreeMap<u32, TruthCounts> {
        let mut classes: BTreeMap<u32, TruthCounts> = BTreeMap::new();
        for (state, class, truths) in &self.truths {
            let times = weight(weights, *state);
            if times > 0 {
                let total = classes.entry(*class).or_default();
                total.merge_times(truths, times);
            }
        }
        classes
    }

    /// The number of errors of each type.
    fn counts(&self, truths: &BTreeMap<u32, TruthCounts>, weights: &[u64]) -> [u64; 6] {
        let mut total = [0; 6];
        for (state, errors) in &self.errors {
            for (total, &errors) in total.iter_mut().zip(errors) {
                count::add(total, errors, weight(weights, *state));
            }
        }
        let missed = truths.values().map(|truths| truths.missed);
        total[TideErrorType::Missed as usize] = missed.fold(0, u64::saturating_add);
        total
    }

    fn average_precisions(
        &self,
        oracle: TideOracle,
        truths: &BTreeMap<u32, TruthCounts>,
        weights: &[u64],
    ) -> BTreeMap<u32, f64> {
        let righted = match oracle {
            TideOracle::Error(error) => Some(error),
            _ => None,
        };
        let entries = match oracle {
            TideOracle::None => &self.as_they_are,
            _ => &self.once_righted,
        };
        // Whether an entry is in the ranking, and if so, whether it is correct.
        let standing = |kind| match kind {
            Kind::Right => Some(true),
            Kind::Wrong(error) => (righted != Some(error)).then_some(false),
            Kind::Righted(error) => (righted == Some(error)).then_some(true),
        };
        let to_find = |truths: &TruthCounts| match oracle {
            TideOracle::Error(TideErrorType::Missed) => truths.all.saturating_sub(truths.missed),
            TideOracle::FalseNegatives => truths.all.saturating_sub(truths.not_found),
            _ => truths.all,
        };

        let mut classes: BTreeMap<u32, (u64, Ranking)> = BTreeMap::new();
        for (&class, truths) in truths {
            classes.entry(class).or_default().0 = to_find(truths);
        }
        // Entries of a class are side by side.
        let mut current: Option<(u32, Ranking)> = None;
        let mut put = |of_class: Option<(u32, Ranking)>| {
            if let Some((class, ranking)) = of_class {
                classes.entry(class).or_default().1 = ranking;
            }
        };
        entries.each(weights, |entry, times| {
            let Some(is_right) = standing(entry.kind) else {
                return;
            };
            match &mut current {
                Some((class, ranking)) if *class == entry.class => ranking.add(is_right, times),
                _ => {
                    let mut ranking = Ranking::default();
                    ranking.add(is_right, times);
                    put(current.replace((entry.class, ranking)));
                }
            }
        });
        put(current);
        let mut scores = BTreeMap::new();
        for (class, (to_find, mut ranking)) in classes {
            if oracle == TideOracle::FalsePositives {
                ranking.right_ones_first();
            }
            if to_find > 0 || ranking.len > 0 {
                scores.insert(class, average_precision(&ranking, to_find));
            }
        }
        scores
    }
}

fn weight(weights: &[u64], state: u32) -> u64 {
    weights.get(state as usize).copied().unwrap_or_default()
}

/// Detections of a class by falling score.
#[derive(Default)]
struct Ranking {
    /// The positions of the right ones, counted from 1.
    right: Vec<u64>,
    len: u64,
}

impl Ranking {
    fn add(&mut self, is_right: bool, times: u64) {
        if is_right {
            self.right.extend(self.len + 1..=self.len + times);
        }
        self.len += times;
    }

    fn right_ones_first(&mut self) {
        for (position, right) in (1..).zip(&mut self.right) {
            *right = position;
        }
    }
}

/// The mean precision at the recalls 0, 0.01, ... 1 of detections that are right or wrong, by falling
/// score; 0 with nothing to find.
///
/// The precision at a recall is the greatest at that recall or above, as reached by a right
/// detection: those at wrong ones are never greater than at the right one before, or 0.
fn average_precision(ranking: &Ranking, to_find: u64) -> f64 {
    if to_find == 0 {
        return 0.0;
    }
    let mut precisions: Vec<f64> = (1_u64..)
        .zip(&ranking.right)
        .map(|(hits, &position)| hits as f64 / position as f64)
        .collect();
    let mut greatest: f64 = 0.0;
    for precision in precisions.iter_mut().rev() {
        greatest = greatest.max(*precision);
        *precision = greatest;
    }
    let mut reached = 0;
    let mut total = 0.0;
    for step in 0..=100_u32 {
        let recall = f64::from(step) / 100.0;
        while reached < precisions.len() && ((reached + 1) as f64 / to_find as f64) < recall {
            reached += 1;
        }
        total += precisions.get(reached).copied().unwrap_or(0.0);
    }
    total / 101.0
}

/// The results of [`Tide`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TideScore {
    /// AP at the foreground threshold, the mean over classes; undefined without classes.
    pub average_precision: Option<f64>,
    /// Each type of error, in the order of [`TideErrorType::ALL`].
    pub errors: [TideErrorScore; 6],
    /// By how much AP changes when every wrong detection comes after every right one.
    pub false_positives: Option<f64>,
    /// The change of AP when objects that were not found are no longer positives; undefined if no
    /// class is left.
    pub false_negatives: Option<f64>,
}

/// `AP`, and `dAP_` with each type of error, and with `FP` and `FN`.
impl NamedScores for TideScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        let types = self.errors.iter();
        let types = types.map(|found| (format!("dAP_{}", found.error.name()), found.delta_ap));
        let mut scores = vec![("AP".to_owned(), self.average_precision)];
        scores.extend(types);
        scores.push(("dAP_FP".to_owned(), self.false_positives));
        scores.push(("dAP_FN".to_owned(), self.false_negatives));
        scores
    }
}

/// The results of [`Tide`] about one type of error.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TideErrorScore {
    /// The type.
    pub error: TideErrorType,
    /// The number of such errors.
    pub count: u64,
    /// The rise of AP without these errors, at least 0; undefined if AP is, or if no class is left.
    pub delta_ap: Option<f64>,
}

impl TideScore {
    /// Returns the results about one type of error.
    #[must_use]
    pub fn error(&self, error: TideErrorType) -> TideErrorScore {
        self.errors[error as usize]
    }
}

/// The error for thresholds or a limit on detections that [`Tide`] does not accept.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidTide {
    /// A foreground threshold outside `0 < foreground <= 1`, or NaN.
    Foreground(f64),
    /// A background threshold outside `0 < background < foreground`, or NaN.
    Background {
        /// The threshold.
        background: f64,
        /// The one that it must be less than.
        foreground: f64,
    },
    /// The limit on detections per image is 0.
    MaxDetections,
}

impl fmt::Display for InvalidTide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreground(foreground) => {
                write!(
                    f,
                    "the foreground threshold {foreground} is not in 0 < t <= 1"
                )
            }
            Self::Background {
                background,
                foreground,
            } => write!(
                f,
                "the background threshold {background} is not in 0 < t < {foreground}"
            ),
            Self::MaxDetections => {
                f.write_str("the number of detections is 0: expected at least 1")
            }
        }
    }
}

impl std::error::Error for InvalidTide {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TideErrorType::{Background, Both, Classification, Duplicate, Localization, Missed};
    use super::*;
    use crate::Key;

    /// A box of height 10.
    fn strip(x: f64, width: f64) -> BBox {
        BBox::from_xywh(x, 0.0, width, 10.0).expect("a box")
    }

    fn truth((class, x): (u32, f64)) -> Annotation {
        let shape = strip(x, 10.0);
        let (crowd, ignore) = (false, false);
        Annotation {
            class,
            crowd,
            ignore,
            id: 1,
            area: 100.0,
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

    /// Boxes of width 10, in the order of falling score.
    fn ranked(detections: &[(u32, f64)]) -> Vec<Prediction> {
        let ranked = detections.iter().enumerate();
        ranked
            .map(|(rank, &(class, x))| found(class, strip(x, 10.0), 1.0 / (rank + 2) as f64))
            .collect()
    }

    fn image(key: i64, annotations: Vec<Annotation>) -> Image {
        let key = Key::Number(key);
        Image::new(key, annotations)
    }

    fn score_of(detections: &[Prediction], truths: &[(u32, f64)]) -> (TideState, TideScore) {
        let image = image(1, truths.iter().copied().map(truth).collect());
        let state = Tide::default().measure(detections, &image);
        (state.clone(), Tide::<BBox>::default().compute(&state))
    }

    /// Two boxes of width 10 that are shifted by 1, 6 and 9 have IoU 9/11, 4/16 and 1/19.
    #[test]
    fn each_error() {
        type Boxes = &'static [(u32, f64)];
        let rows: &[(&str, Boxes, Boxes, &[Option<TideErrorType>])] = &[
            ("right", &[(0, 0.0)], &[(0, 1.0)], &[None]),
            ("near", &[(0, 0.0)], &[(0, 6.0)], &[Some(Localization)]),
            (
                "of another class",
                &[(0, 0.0)],
                &[(1, 1.0)],
                &[Some(Classification)],
            ),
            (
                "near another class",
                &[(0, 0.0)],
                &[(1, 6.0)],
                &[Some(Both)],
            ),
            (
                "again",
                &[(0, 0.0)],
                &[(0, 1.0), (0, 0.0)],
                &[None, Some(Duplicate)],
            ),
            (
                "hardly any overlap",
                &[(0, 0.0)],
                &[(0, 9.0)],
                &[Some(Background)],
            ),
            (
                "of another class and hardly any",
                &[(0, 0.0)],
                &[(1, 9.0)],
                &[Some(Background)],
            ),
            ("nothing there", &[], &[(0, 0.0)], &[Some(Background)]),
            (
                "near its class and on another",
                &[(0, 6.0), (1, 0.0)],
                &[(0, 0.0)],
                &[Some(Localization)],
            ),
            (
                "near what is taken",
                &[(0, 0.0)],
                &[(0, 0.0), (0, 6.0)],
                &[None, Some(Localization)],
            ),
            (
                "again, on another class too",
                &[(0, 0.0), (1, 0.0)],
                &[(0, 0.0), (0, 1.0)],
                &[None, Some(Classification)],
            ),
        ];
        for (name, truths, detections, errors) in rows {
            let truths: Vec<Annotation> = truths.iter().copied().map(truth).collect();
            let found = Tide::default().errors(&ranked(detections), &truths);
            assert_eq!(found, *errors, "{name}");
        }
    }

    #[test]
    fn the_thresholds_are_both_near() {
        // IoU 1/10 and 1/2 of a box, where another box is right.
        for width in [1.0, 5.0] {
            let detections = [
                found(0, strip(0.0, 10.0), 0.9),
                found(0, strip(0.0, width), 0.8),
            ];
            let errors = Tide::default().errors(&detections, &[truth((0, 0.0))]);
            assert_eq!(errors, [None, Some(Localization)], "{width}");
        }
        let half = [found(0, strip(0.0, 5.0), 0.9)];
        assert_eq!(Tide::default().errors(&half, &[truth((0, 0.0))]), [None]);
    }

    #[test]
    fn only_the_best_count_whatever_their_class() {
        let metric = Tide::default().with_max_detections(1).expect("a metric");
        let detections = ranked(&[(1, 0.0), (0, 0.0)]);
        let image = image(1, vec![truth((0, 0.0))]);
        let state = metric.measure(&detections, &image);
        assert_eq!(
            metric.errors(&detections, &image.annotations),
            [Some(Classification), None]
        );
        assert_eq!(metric.compute(&state).average_precision, Some(0.0));
    }

    fn close(a: Option<f64>, b: f64) {
        assert!(a.is_some_and(|a| (a - b).abs() < 1e-15), "{a:?} {b}");
    }

    #[test]
    fn what_errors_cost() {
        // Right, wrong, right, of two objects: precision 1 up to recall 1/2, then 2/3.
        let interrupted = (51.0 + 50.0 * 2.0 / 3.0) / 101.0;
        for (error, wrong) in [(Duplicate, 1.0), (Background, 30.0)] {
            let (_, score) = score_of(
                &ranked(&[(0, 0.0), (0, wrong), (0, 50.0)]),
                &[(0, 0.0), (0, 50.0)],
            );
            close(score.average_precision, interrupted);
            for other in score.errors {
                let expected = if other.error == error {
                    (1, 1.0 - interrupted)
                } else {
                    (0, 0.0)
                };
                assert_eq!(other.count, expected.0);
                close(other.delta_ap, expected.1);
            }
            close(score.false_positives, 1.0 - interrupted);
            close(score.false_negatives, 0.0);
        }

        // One of two objects is found.
        let (state, score) = score_of(&ranked(&[(0, 0.0)]), &[(0, 0.0), (0, 50.0)]);
        assert_eq!(state.count(Missed), 1);
        close(score.error(Missed).delta_ap, 1.0 - 51.0 / 101.0);
        close(score.false_negatives, 1.0 - 51.0 / 101.0);
        close(score.false_positives, 0.0);

        // The one object is detected as another class, which leaves the mean when that is corrected.
        let (state, score) = score_of(&ranked(&[(1, 0.0)]), &[(0, 0.0)]);
        let aps = |oracle| {
            state
                .average_precisions(oracle)
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(aps(TideOracle::None), [(0, 0.0), (1, 0.0)]);
        assert_eq!(aps(TideOracle::Error(Classification)), [(0, 1.0)]);
        assert_eq!(score.error(Classification).delta_ap, Some(1.0));
        assert_eq!(score.error(Missed).count, 0);

        // Near the object of another class: no oracle but that of missed objects knows it.
        let (_, score) = score_of(&ranked(&[(1, 6.0)]), &[(0, 0.0)]);
        assert_eq!([Both, Missed].map(|error| score.error(error).count), [1, 1]);
    }

    #[test]
    fn the_first_of_the_errors_on_an_object_is_righted() {
        // Both are near the second object; one of them can be corrected, the other is dropped.
        let (state, _) = score_of(&ranked(&[(0, 56.0), (0, 44.0)]), &[(0, 0.0), (0, 50.0)]);
        assert_eq!(state.count(Localization), 2);
        let aps = state.average_precisions(TideOracle::Error(Localization));
        assert_eq!(aps[&0], 51.0 / 101.0);
    }

    #[test]
    fn undefined() {
        let (_, score) = score_of(&[], &[]);
        assert_eq!(score.average_precision, None);
        assert!(
            score
                .errors
                .iter()
                .all(|error| error.delta_ap.is_none() && error.count == 0)
        );
        // Without its false positive, there is no class.
        let (_, score) = score_of(&ranked(&[(0, 0.0)]), &[]);
        assert_eq!(score.average_precision, Some(0.0));
        assert_eq!(
            (
                score.error(Background).count,
                score.error(Background).delta_ap
            ),
            (1, None)
        );
        assert_eq!(score.error(Missed).delta_ap, Some(0.0));
    }

    #[test]
    fn what_lies_in_a_crowd_is_not_counted() {
        let region = |crowd, ignore| Annotation {
            crowd,
            ignore,
            ..truth((0, 100.0))
        };
        for region in [region(true, false), region(false, true)] {
            let image = image(1, vec![truth((0, 0.0)), region]);
            // Inside, half inside, which is not enough, and of another class.
            for (class, x, counted) in [(0, 100.0, false), (0, 105.0, true), (1, 100.0, true)] {
                let detections = ranked(&[(class, x), (0, 0.0)]);
                let state = Tide::default().measure(&detections, &image);
                assert_eq!(state.count(Background), 1);
                let right =
                    state.average_precisions(TideOracle::None) == BTreeMap::from([(0, 1.0)]);
                assert_eq!(right, !counted, "{class} {x}");
            }
        }
    }

    #[test]
    fn righting_puts_wrong_before_right_among_equal_scores() {
        let detections = [
            found(0, strip(0.0, 10.0), 0.5),
            found(0, strip(30.0, 10.0), 0.5),
        ];
        let (state, score) = score_of(&detections, &[(0, 0.0)]);
        assert_eq!(score.average_precision, Some(1.0));
        // Nothing is missed, and yet:
        assert_eq!(state.average_precisions(TideOracle::Error(Missed))[&0], 0.5);
        assert_eq!(score.error(Missed).delta_ap, Some(0.0));
        assert_eq!(score.false_negatives, Some(-0.5));
    }

    #[test]
    fn scores_that_are_no_numbers() {
        let image = image(1, vec![truth((0, 0.0))]);
        let examples = [
            (vec![found(0, strip(30.0, 10.0), f64::NAN)], &image),
            (vec![found(0, strip(0.0, 10.0), f64::NEG_INFINITY)], &image),
            (vec![found(0, strip(60.0, 10.0), f64::INFINITY)], &image),
        ];
        let metric = Tide::default();
        let measure = |order: [usize; 3]| {
            let mut state = TideState::default();
            for position in order {
                let (found, image) = &examples[position];
                metric.update(&mut state, found, image);
            }
            state
        };
        let state = measure([0, 1, 2]);
        assert_eq!(measure([2, 1, 0]), state);
        // Wrong, right, wrong, of three objects: precision 1/2 up to recall 1/3, at 34 recalls.
        close(metric.compute(&state).average_precision, 17.0 / 101.0);
        let read = metric_core::from_bytes(&metric_core::to_bytes(&state));
        assert_eq!(read, Ok(state));
    }

    #[test]
    fn thresholds() {
        let none = Tide::<BBox>::default().with_max_detections(0);
        assert_eq!(none, Err(InvalidTide::MaxDetections));
        assert_eq!(Tide::new(0.5, 0.1), Ok(Tide::<BBox>::default()));
        for (foreground, background) in [(0.0, 0.1), (1.1, 0.1), (f64::NAN, 0.1)] {
            let error = Tide::<BBox>::new(foreground, background);
            assert!(
                matches!(error, Err(InvalidTide::Foreground(_))),
                "{foreground}"
            );
        }
        for background in [0.0, 0.5, f64::NAN] {
            let error = Tide::<BBox>::new(0.5, background);
            assert!(
                matches!(error, Err(InvalidTide::Background { .. })),
                "{background}"
            );
        }
    }

    fn images() -> impl Strategy<Value = Vec<(Vec<Prediction>, Image)>> {
        let truths = proptest::collection::vec((0_u32..3, 0_u8..20, 0_u8..8), 0..6);
        let detections = proptest::collection::vec((0_u32..4, 0_u8..24, 1_u8..12, 0_u8..4), 0..8);
        // Images of the same key are two all the same.
        let image = (0_i64..6, truths, detections).prop_map(|(key, truths, detections)| {
            let truths = truths.into_iter().map(|(class, x, kind)| Annotation {
                crowd: kind == 0,
                ignore: kind == 1,
                ..truth((class, f64::from(x)))
            });
            let detections = detections.into_iter().map(|(class, x, width, score)| {
                found(
                    class,
                    strip(f64::from(x), f64::from(width)),
                    f64::from(score),
                )
            });
            (detections.collect(), image(key, truths.collect()))
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
            let metric = Tide::default();
            let mut whole = TideState::default();
            for (detections, image) in &images {
                metric.update(&mut whole, detections, image);
            }
            let mut parts = [(); 3].map(|()| TideState::default());
            for position in order {
                if let Some((detections, image)) = images.get(position) {
                    metric.update(&mut parts[shards[position]], detections, image);
                }
            }
            let mut merged = TideState::default();
            for part in parts {
                merged.merge(part);
            }
            prop_assert_eq!(&merged, &whole);
            prop_assert_eq!(metric.compute(&merged), metric.compute(&whole));
        }

        #[test]
        fn every_detection_is_right_or_has_an_error(images in images()) {
            let metric = Tide::default();
            for (detections, image) in &images {
                let state = metric.measure(detections, image);
                let wrong: u64 = TideErrorType::ALL.iter()
                    .filter(|&&error| error != Missed)
                    .map(|&error| state.count(error))
                    .sum();
                let errors = metric.errors(detections, &image.annotations);
                prop_assert_eq!(wrong, errors.iter().flatten().count() as u64);
                let score = metric.compute(&state);
                prop_assert!(score.errors.iter().all(|error| error.delta_ap.is_none_or(|ap| (0.0..=1.0).contains(&ap))));
            }
        }
    }
}
