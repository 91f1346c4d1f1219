use std::borrow::Cow;
use std::fmt;

use metric_core::{Metric as _, named_choice};
use metric_record::Kind;
use metric_record::json::{self, Flag};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::{
    BBox, BoxFormat, CheckedMetric as _, Detection, DetectionSweep, DetectionSweepParams,
    DetectionSweepState, InvalidSweep, Key, Polygon, RotatedBox, Shape, SweepItem, TooManyPairs,
    Truth,
};

/// Reads the ground-truth boxes of one image and class from a JSON list.
///
/// Each is a list of numbers, or an object with the numbers in `box`, and `crowd` and `ignore` (or
/// `difficult`), which are true, false, 1 or 0. A list of one empty box is empty, as the files of the
/// Fusion Brain Challenge write it.
///
/// ```
/// use metric_vision::BoxFormat;
/// use metric_vision::read::parse_truth_boxes;
///
/// let json = r#"[[0, 0, 10, 20], {"box": [5, 5, 10, 10], "crowd": true}]"#;
/// let truths = parse_truth_boxes(json, &BoxFormat::Xyxy)?;
/// assert_eq!(truths[0].shape.area(), 200.0);
/// assert!(truths[1].crowd);
/// let error = parse_truth_boxes("[[0, 0, 1]]", &BoxFormat::Xyxy).unwrap_err();
/// assert_eq!(error.to_string(), "box 0 has 3 numbers: expected 4");
/// # Ok::<(), metric_vision::read::InvalidBoxList>(())
/// ```
///
/// # Errors
///
/// Returns an error if the text is not such JSON, if a box is invalid, or if it has a score.
pub fn parse_truth_boxes<F: BoxForm>(
    json: &str,
    form: &F,
) -> Result<Vec<Truth<F::Shape>>, InvalidBoxList> {
    let items = items(json)?;
    let truths = items.iter().enumerate().map(|(index, item)| {
        if item.score.is_some() {
            let problem = ": a ground-truth box has no score".to_owned();
            return Err(InvalidBoxList::Box { index, problem });
        }
        Ok(Truth {
            shape: shape(form, index, item)?,
            crowd: item.crowd.0,
            ignore: item.ignore.0,
        })
    });
    truths.collect()
}

/// Reads the detected boxes of one image and class from a JSON list.
///
/// Each is a list of numbers, or an object with the numbers in `box` and the confidence in `score`.
///
/// ```
/// use metric_vision::BoxFormat;
/// use metric_vision::read::parse_detection_boxes;
///
/// let json = r#"[[0, 0, 10, 20], {"box": [5, 5, 10, 10], "score": 0.9}]"#;
/// let found = parse_detection_boxes(json, &BoxFormat::Xywh)?;
/// assert_eq!((found[0].score, found[1].score), (None, Some(0.9)));
/// # Ok::<(), metric_vision::read::InvalidBoxList>(())
/// ```
///
/// # Errors
///
/// Returns an error if the text is not such JSON, or if a box is invalid.
pub fn parse_detection_boxes<F: BoxForm>(
    json: &str,
    form: &F,
) -> Result<Vec<Detection<F::Shape>>, InvalidBoxList> {
    let items = items(json)?;
    let detections = items.iter().enumerate().map(|(index, item)| {
        Ok(Detection {
            shape: shape(form, index, item)?,
            score: item.score,
        })
    });
    detections.collect()
}

/// The form of boxes in a list, which says what their numbers mean.
pub trait BoxForm {
    /// The shape of a box.
    type Shape: Shape + Clone + PartialEq + Send + Sync;

    /// The name that is used on the command line.
    fn name(&self) -> &'static str;

    /// The shape that the numbers describe.
    ///
    /// # Errors
    ///
    /// Returns what is wrong, as it follows "box 3".
    fn read(&self, numbers: &BoxNumbers) -> Result<Self::Shape, String>;

    /// Returns the metric of these shapes. The default is [`DetectionSweep::of_shapes`].
    ///
    /// # Errors
    ///
    /// Returns an error as the constructors of [`DetectionSweep`] do.
    fn sweep(params: DetectionSweepParams) -> Result<DetectionSweep<Self::Shape>, InvalidSweep> {
        DetectionSweep::of_shapes(params)
    }
}

impl BoxForm for BoxFormat {
    type Shape = BBox;

    fn name(&self) -> &'static str {
        BoxFormat::name(*self)
    }

    fn read(&self, numbers: &BoxNumbers) -> Result<BBox, String> {
        BoxFormat::read(*self, numbers.exactly()?).map_err(|error| format!(": {error}"))
    }

    fn sweep(params: DetectionSweepParams) -> Result<DetectionSweep, InvalidSweep> {
        DetectionSweep::new(params)
    }
}

/// Rotated boxes, `[cx, cy, width, height, angle]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RotatedForm {
    /// `rotated`: the angle is in radians.
    Radians,
    /// `rotated-degrees`: the angle is in degrees.
    Degrees,
}

impl BoxForm for RotatedForm {
    type Shape = RotatedBox;

    fn name(&self) -> &'static str {
        match self {
            Self::Radians => "rotated",
            Self::Degrees => "rotated-degrees",
        }
    }

    fn read(&self, numbers: &BoxNumbers) -> Result<RotatedBox, String> {
        let [cx, cy, width, height, angle] = numbers.exactly()?;
        let read = match self {
            Self::Radians => RotatedBox::new,
            Self::Degrees => RotatedBox::from_degrees,
        };
        read([cx, cy, width, height], angle).map_err(|error| format!(": {error}"))
    }
}

/// `polygon`: polygons of one ring, `[[x, y], ...]` or `[x, y, ...]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolygonForm;

impl BoxForm for PolygonForm {
    type Shape = Polygon;

    fn name(&self) -> &'static str {
        "polygon"
    }

    fn read(&self, numbers: &BoxNumbers) -> Result<Polygon, String> {
        Polygon::new(numbers.points()?).map_err(|error| format!(": {error}"))
    }
}

/// A [`BoxForm`] of boxes in lists, chosen by its name.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::read::ListForm;
/// use metric_vision::{DetectionSweep, DetectionSweepParams, DetectionSweepState};
///
/// let params = DetectionSweepParams::default();
/// let form: ListForm = "polygon".parse()?;
/// let mut state = DetectionSweepState::default();
/// let diamond = "[[[0,2],[2,0],[4,2],[2,4]]]";
/// form.sweep(params.clone())?.add(&mut state, None, diamond, diamond)?;
/// // Scores do not depend on the form of boxes.
/// let score = DetectionSweep::new(params)?.compute(&state);
/// assert_eq!(score.points()[0].score.f1, Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListForm {
    /// Axis-aligned boxes.
    Box(BoxFormat),
    /// Rotated boxes.
    Rotated(RotatedForm),
    /// Polygons.
    Polygon,
}

impl ListForm {
    /// All forms.
    pub const ALL: &[Self] = &[
        Self::Box(BoxFormat::Xywh),
        Self::Box(BoxFormat::Xyxy),
        Self::Box(BoxFormat::Cxcywh),
        Self::Rotated(RotatedForm::Radians),
        Self::Rotated(RotatedForm::Degrees),
        Self::Polygon,
    ];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Box(form) => form.name(),
            Self::Rotated(form) => BoxForm::name(&form),
            Self::Polygon => PolygonForm.name(),
        }
    }

    /// Returns what adds boxes of this form to states of a [`DetectionSweep`] with these parameters.
    ///
    /// # Errors
    ///
    /// Returns an error as the constructors of [`DetectionSweep`] do.
    pub fn sweep(self, params: DetectionSweepParams) -> Result<Box<dyn ListSweep>, InvalidSweep> {
        fn of<F: BoxForm + Send + Sync + 'static>(
            form: F,
            params: DetectionSweepParams,
        ) -> Result<Box<dyn ListSweep>, InvalidSweep> {
            let sweep = F::sweep(params)?;
            Ok(Box::new((form, sweep)))
        }
        match self {
            Self::Box(form) => of(form, params),
            Self::Rotated(form) => of(form, params),
            Self::Polygon => of(PolygonForm, params),
        }
    }
}

named_choice!(ListForm, "form of boxes");

/// A [`DetectionSweep`] of boxes in JSON lists, whatever their form.
pub trait ListSweep: Send + Sync {
    /// Adds the boxes of one image and class to a state, as [`parse_truth_boxes`] and [`parse_detection_boxes`] read
    /// them.
    ///
    /// # Errors
    ///
    /// Returns an error if a list cannot be read, if a detection has no score where scores are needed, or if comparing
    /// the boxes would take minutes, or gigabytes of memory. The state is then unchanged.
    fn add(
        &self,
        state: &mut DetectionSweepState,
        class: Option<Key>,
        truths: &str,
        detections: &str,
    ) -> Result<(), InvalidLists>;
}

impl<F: BoxForm + Send + Sync> ListSweep for (F, DetectionSweep<F::Shape>) {
    fn add(
        &self,
        state: &mut DetectionSweepState,
        class: Option<Key>,
        truths: &str,
        detections: &str,
    ) -> Result<(), InvalidLists> {
        let (form, sweep) = self;
        let truths = parse_truth_boxes(truths, form).map_err(InvalidLists::Truths)?;
        let item = SweepItem { class, truths };
        let detections =
            parse_detection_boxes(detections, form).map_err(InvalidLists::Detections)?;
        if sweep.needs_scores()
            && let Some(index) = detections.iter().position(|found| found.score.is_none())
        {
            return Err(InvalidLists::NoScore { index });
        }
        sweep
            .check_size(&detections, &item)
            .map_err(InvalidLists::TooManyPairs)?;
        sweep.update(state, &detections, &item);
        Ok(())
    }
}

/// The error for lists of boxes that a [`ListSweep`] does not add.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidLists {
    /// The ground-truth boxes cannot be read.
    Truths(InvalidBoxList),
    /// The detected boxes cannot be read.
    Detections(InvalidBoxList),
    /// A detection has no score.
    NoScore {
        /// Its index.
        index: usize,
    },
    /// Too many pairs of boxes would be compared.
    TooManyPairs(TooManyPairs),
}

impl fmt::Display for InvalidLists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truths(error) | Self::Detections(error) => error.fmt(f),
            Self::NoScore { index } => write!(f, "box {index} has no score"),
            Self::TooManyPairs(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InvalidLists {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Truths(error) | Self::Detections(error) => Some(error),
            Self::NoScore { .. } => None,
            Self::TooManyPairs(error) => Some(error),
        }
    }
}

/// The error for a list of boxes that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidBoxList {
    /// The text is not such JSON.
    Json(String),
    /// A box is invalid.
    Box {
        /// Its index.
        index: usize,
        /// The error, worded to follow "box 3".
        problem: String,
    },
}

impl fmt::Display for InvalidBoxList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(problem) => f.write_str(problem),
            Self::Box { index, problem } => write!(f, "box {index}{problem}"),
        }
    }
}

impl std::error::Error for InvalidBoxList {}

fn shape<F: BoxForm>(form: &F, index: usize, item: &Listed) -> Result<F::Shape, InvalidBoxList> {
    let shape = form.read(&item.numbers);
    shape.map_err(|problem| InvalidBoxList::Box { index, problem })
}

/// The numbers of a box: four in most forms.
#[derive(Clone, Debug, Default)]
pub struct BoxNumbers {
    first: [f64; 5],
    count: usize,
    /// All of them, where there are more than five.
    all: Vec<f64>,
    /// Whether they are pairs.
    points: bool,
}

impl BoxNumbers {
    fn push(&mut self, number: f64) {
        match self.first.get_mut(self.count) {
            Some(slot) => *slot = number,
            None => {
                if self.all.is_empty() {
                    self.all.extend(self.first);
                }
                self.all.push(number);
            }
        }
        self.count += 1;
    }

    /// Returns the numbers of a box that has `N`.
    ///
    /// # Errors
    ///
    /// Returns what is wrong, as it follows "box 3", if there are more or fewer, or points.
    pub fn exactly<const N: usize>(&self) -> Result<[f64; N], String> {
        let count = self.count;
        if self.points {
            return Err(format!(" is a list of points: expected {N} numbers"));
        }
        match self
            .first
            .get(..count)
            .and_then(|numbers| numbers.try_into().ok())
        {
            Some(numbers) => Ok(numbers),
            None if count == 0 => Err(format!(" is empty: expected {N} numbers")),
            None => Err(format!(" has {count} numbers: expected {N}")),
        }
    }

    /// Returns the points of a polygon, given as pairs or as x and y in turn.
    ///
    /// # Errors
    ///
    /// Returns what is wrong, as it follows "box 3", if there are none, or half a point.
    pub fn points(&self) -> Result<Vec<[f64; 2]>, String> {
        let numbers = if self.all.is_empty() {
            self.first.get(..self.count).unwrap_or_default()
        } else {
            &self.all
        };
        let (points, rest) = numbers.as_chunks::<2>();
        match rest {
            [] if points.is_empty() => Err(" is empty: expected points".to_owned()),
            [] => Ok(points.to_vec()),
            _ => Err(format!(" has {} numbers: expected pairs", self.count)),
        }
    }
}

/// A box as it is in a file, with its other fields.
#[derive(Default)]
struct Listed {
    numbers: BoxNumbers,
    score: Option<f64>,
    crowd: Flag,
    ignore: Flag,
}

/// The items of a list; a list of one empty box is empty.
fn items(text: &str) -> Result<Vec<Listed>, InvalidBoxList> {
    let items: Vec<Listed> = json::typed(text).map_err(|problem| {
        InvalidBoxList::Json(match json::kind(text) {
            Kind::List => problem,
            found => format!("expected a list of boxes, found {found}"),
        })
    })?;
    Ok(match items.as_slice() {
        [one] if one.numbers.count == 0 => Vec::new(),
        _ => items,
    })
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListedVisitor)
    }
}

struct ListedVisitor;

impl<'de> Visitor<'de> for ListedVisitor {
    type Value = Listed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a box of 4 numbers or {\"box\": [...], \"score\": s}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Listed, A::Error> {
        Ok(Listed {
            numbers: NumbersVisitor.visit_seq(elements)?,
            ..Listed::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Listed, A::Error> {
        let (mut numbers, mut score, mut crowd, mut ignore) = (None, None, None, None);
        while let Some(name) = fields.next_key::<Cow<'de, str>>()? {
            match &*name {
                "box" if numbers.is_none() => numbers = Some(fields.next_value()?),
                "score" if score.is_none() => score = Some(fields.next_value()?),
                "crowd" if crowd.is_none() => crowd = Some(fields.next_value()?),
                "ignore" | "difficult" if ignore.is_none() => ignore = Some(fields.next_value()?),
                "box" | "score" | "crowd" | "ignore" | "difficult" => {
                    return Err(A::Error::custom(format_args!("duplicate field {name:?}")));
                }
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Listed {
            numbers: numbers.ok_or_else(|| A::Error::missing_field("box"))?,
            score,
            crowd: crowd.unwrap_or_default(),
            ignore: ignore.unwrap_or_default(),
        })
    }
}

impl<'de> Deserialize<'de> for BoxNumbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = BoxNumbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<BoxNumbers, A::Error> {
        let mut numbers = BoxNumbers::default();
        while let Some(element) = elements.next_element()? {
            let points = matches!(element, Element::Point(_));
            if numbers.count > 0 && points != numbers.points {
                return Err(A::Error::custom("numbers and points in one box"));
            }
            numbers.points = points;
            match element {
                Element::Number(number) => numbers.push(number),
                Element::Point(point) => point.into_iter().for_each(|number| numbers.push(number)),
            }
        }
        Ok(numbers)
    }
}

enum Element {
    Number(f64),
    Point([f64; 2]),
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ElementVisitor;
        impl<'de> Visitor<'de> for ElementVisitor {
            type Value = Element;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Element, E> {
                Ok(Element::Number(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Element, E> {
                Ok(Element::Number(number as f64))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Element, E> {
                Ok(Element::Number(number as f64))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Element, A::Error> {
                let mut next = || numbers.next_element::<f64>();
                match (next()?, next()?, next()?) {
                    (Some(x), Some(y), None) => Ok(Element::Point([x, y])),
                    _ => Err(A::Error::custom("expected points of two numbers")),
                }
            }
        }
        deserializer.deserialize_any(ElementVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused<F: BoxForm>(form: &F, json: &str, problem: &str) {
        let errors = [
            parse_truth_boxes(json, form).err(),
            parse_detection_boxes(json, form).err(),
        ];
        for error in errors {
            assert_eq!(error.expect(json).to_string(), problem);
        }
    }

    #[test]
    fn lists_that_are_refused() {
        let xywh = BoxFormat::Xywh;
        for (json, problem) in [
            ("7", "expected a list of boxes, found a number"),
            (r#"{"a": 1}"#, "expected a list of boxes, found an object"),
            ("", "expected a list of boxes, found no JSON"),
            (
                "[7]",
                r#"found the number `7`, expected a box of 4 numbers or {"box": [...], "score": s}"#,
            ),
            (r#"[["a"]]"#, r#"found the string "a", expected a number"#),
            (r#"[{"score": 1}]"#, "no field `box`"),
            (
                r#"[{"box": [0,0,1,1], "box": [0,0,1,1]}]"#,
                r#"duplicate field "box""#,
            ),
            (
                r#"[{"box": [0,0,1,1], "crowd": 2}]"#,
                "found the number `2`, expected true, false, 1 or 0",
            ),
            ("[[0,0,1,1], []]", "box 1 is empty: expected 4 numbers"),
            (
                "[[[0,0],[1,1]]]",
                "box 0 is a list of points: expected 4 numbers",
            ),
            ("[[0,[1,1]]]", "numbers and points in one box"),
        ] {
            refused(&xywh, json, problem);
        }
        let (rotated, polygon) = (RotatedForm::Radians, PolygonForm);
        refused(&rotated, "[[0,0,1,1]]", "box 0 has 4 numbers: expected 5");
        refused(
            &polygon,
            "[[[0,0],[1,1],[2]]]",
            "expected points of two numbers",
        );
        refused(
            &polygon,
            "[[0,0,1,1,2,0,1]]",
            "box 0 has 7 numbers: expected pairs",
        );
        let scored = parse_truth_boxes(r#"[{"box": [0,0,1,1], "score": 1}]"#, &xywh);
        let problem = scored.expect_err("a score").to_string();
        assert_eq!(problem, "box 0: a ground-truth box has no score");
    }

    #[test]
    fn shapes() {
        assert_eq!(parse_truth_boxes("[[]]", &BoxFormat::Xywh), Ok(vec![]));
        let points = parse_truth_boxes("[[[0,2],[2,0],[4,2],[2,4]]]", &PolygonForm);
        let numbers = parse_truth_boxes("[[0,2,2,0,4,2,2,4]]", &PolygonForm);
        assert_eq!(points, numbers);
        let turned = parse_detection_boxes("[[5,5,4,4,90]]", &RotatedForm::Degrees);
        assert_eq!(turned.expect("a box")[0].shape.area(), 16.0);
    }
}
