//! The lines of labels and predictions.

use std::borrow::Cow;

use crate::read::folder::{Line, finite};
use crate::read::text_columns::{self, TextColumns};
use crate::read::{File, ReadError};
use crate::{Key, Mask, ObjectKind};

/// The numbers of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outline {
    /// Center, width and height.
    Box([f64; 4]),
    /// The points around it.
    Points(Vec<[f64; 2]>),
    /// Center, width and height, and the points of a pose with their third value, which is 2 where there is none.
    Pose([f64; 4], Vec<[f64; 3]>),
    /// A box, if there is one, and a mask, in results that are JSON.
    Mask(Option<[f64; 4]>, Mask),
}

impl Outline {
    /// The bits of its numbers, which are equal for equal lines.
    pub(super) fn bits(&self) -> Vec<u64> {
        let numbers: Vec<f64> = match self {
            Self::Box(of_box) => of_box.to_vec(),
            Self::Points(points) => points.concat(),
            Self::Pose(of_box, points) => of_box
                .iter()
                .chain(points.as_flattened())
                .copied()
                .collect(),
            Self::Mask(..) => Vec::new(),
        };
        numbers.into_iter().map(f64::to_bits).collect()
    }
}

/// A line: the class, the numbers of the object, and the confidence of a prediction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) class: u32,
    pub(super) outline: Outline,
    pub(super) confidence: f64,
}

/// The number of points of a pose, and of numbers of each: 2 or 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoseForm {
    pub(super) points: usize,
    pub(super) numbers: usize,
}

impl PoseForm {
    fn count(self) -> usize {
        4 + self.points * self.numbers
    }
}

/// The greatest confidence: 1, and what numbers of 16 bits add to it in rounding.
const MOST_CONFIDENCE: f64 = 1.001;

/// How lines are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineForm {
    /// The kind of objects that is needed; boxes are read from objects of any kind.
    pub(super) kind: ObjectKind,
    pub(super) pose: Option<PoseForm>,
    /// The columns of predictions, if they are not the usual ones.
    pub(super) columns: Option<TextColumns>,
    /// The least and the greatest number of a label.
    pub(super) of_labels: [f64; 2],
}

/// The side that a line is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Label,
    Prediction,
}

impl LineForm {
    /// Reads a label.
    pub(super) fn label(&self, line: &Line<'_>) -> Result<Row, ReadError> {
        let [class, numbers @ ..] = &*line.words else {
            return Err(other_count(line, Side::Label, self));
        };
        let form = self
            .form(numbers.len())
            .or_else(|| self.guessed(numbers.len()));
        let form = form.ok_or_else(|| other_count(line, Side::Label, self))?;
        let of_all = self.of_labels;
        Ok(Row {
            class: class_number(line, class)?,
            outline: form.read(line, numbers, [of_all; 2])?,
            confidence: 1.0,
        })
    }

    /// Reads a prediction.
    pub(super) fn prediction(&self, line: &Line<'_>) -> Result<Row, ReadError> {
        let words = match self.columns {
            None => Cow::Borrowed(&line.words),
            Some(columns) => Cow::Owned(
                columns
                    .arranged(&line.words, &text_columns::YOLO)
                    .map_err(|problem| line.error("", problem))?,
            ),
        };
        refuse_classifier(line)?;
        let [class, rest @ ..] = &**words else {
            return Err(other_count(line, Side::Prediction, self));
        };
        let (form, numbers, confidence) = self
            .of_prediction(rest)
            .ok_or_else(|| other_count(line, Side::Prediction, self))?;
        let class = class_number(line, class)?;
        let limits = [[-1.0, 2.0], [0.0, 2.0]];
        let outline = form.read(line, numbers, limits)?;
        let [confidence] = line.numbers(["confidence"], [confidence])?;
        if confidence > MOST_CONFIDENCE {
            let hint = if confidence.fract() == 0.0 {
                "ids of tracks are not confidences, which predict writes under save_conf=True"
            } else {
                "a confidence is a probability, and not a percentage or a logit"
            };
            let problem = format!("found {confidence}, expected at most 1: {hint}");
            return Err(line.error("confidence", problem));
        }
        Ok(Row {
            class,
            outline,
            confidence,
        })
    }

    /// The form, the numbers and the confidence of a prediction after its class. A track id may follow.
    fn of_prediction<'w>(&self, rest: &'w [&'w str]) -> Option<(Form, &'w [&'w str], &'w str)> {
        let cut = |after: usize, form: fn(&Self, usize) -> Option<Form>| {
            let count = rest.len().checked_sub(after)?;
            Some((form(self, count)?, &rest[..count], rest[count]))
        };
        // An odd number of coordinates is none of points, so that a whole number at the end is an id.
        let is_id = rest.last().is_some_and(|last| is_whole(last));
        let before_id = |form| cut(2, form).filter(|_| is_id);
        cut(1, Self::form)
            .or_else(|| before_id(Self::form))
            .or_else(|| cut(1, Self::guessed))
            .or_else(|| before_id(Self::guessed))
    }

    /// The form of an object whose box is read, of a pose with a number of points that nothing tells: points of three
    /// numbers, where a segment does not have as many.
    fn guessed(&self, count: usize) -> Option<Form> {
        let is_pose = count > 4 && (count - 4).is_multiple_of(3);
        (self.kind == ObjectKind::Box && self.pose.is_none() && is_pose).then(|| {
            Form::Pose(PoseForm {
                points: (count - 4) / 3,
                numbers: 3,
            })
        })
    }

    /// The form of an object of this many numbers.
    fn form(&self, count: usize) -> Option<Form> {
        let pose = self.pose.filter(|pose| pose.count() == count);
        let are_points = count >= 6 && count.is_multiple_of(2);
        match self.kind {
            ObjectKind::Box if count == 4 => Some(Form::Box),
            ObjectKind::Box => match (pose, self.pose) {
                (Some(pose), _) => Some(Form::Pose(pose)),
                (None, Some(_)) => None,
                (None, None) if are_points => Some(Form::Points),
                (None, None) => None,
            },
            ObjectKind::Oriented => (count == 8).then_some(Form::Points),
            ObjectKind::Segment => are_points.then_some(Form::Points),
            ObjectKind::Pose => pose.map(Form::Pose),
        }
    }
}

/// The form of the numbers of an object.
#[derive(Clone, Copy)]
enum Form {
    Box,
    Points,
    Pose(PoseForm),
}

impl Form {
    /// Reads the numbers. The center of a box and points are to be within the first limits, sizes within the second.
    fn read(
        self,
        line: &Line<'_>,
        words: &[&str],
        limits: [[f64; 2]; 2],
    ) -> Result<Outline, ReadError> {
        match self {
            Self::Box => Ok(Outline::Box(boxed(line, words, limits)?)),
            Self::Points => {
                let mut points = Vec::with_capacity(words.len() / 2);
                for pair in words.chunks_exact(2) {
                    let read = |field, word| fraction(line, field, word, limits[0]);
                    points.push([read("x", pair[0])?, read("y", pair[1])?]);
                }
                Ok(Outline::Points(points))
            }
            Self::Pose(pose) => {
                let (of_box, of_points) = words.split_at(4);
                let read = |field, word| finite(word).map_err(|problem| line.error(field, problem));
                let mut points = Vec::with_capacity(pose.points);
                for numbers in of_points.chunks_exact(pose.numbers) {
                    let third = match numbers.get(2) {
                        Some(word) => read("visibility", word)?,
                        None => 2.0,
                    };
                    points.push([read("x", numbers[0])?, read("y", numbers[1])?, third]);
                }
                Ok(Outline::Pose(boxed(line, of_box, limits)?, points))
            }
        }
    }
}

/// The center, the width and the height of a box.
fn boxed(
    line: &Line<'_>,
    words: &[&str],
    [center, size]: [[f64; 2]; 2],
) -> Result<[f64; 4], ReadError> {
    const FIELDS: [&str; 4] = ["cx", "cy", "width", "height"];
    let mut numbers = [0.0; 4];
    let limits = [center, center, size, size];
    for (((number, field), word), limits) in numbers.iter_mut().zip(FIELDS).zip(words).zip(limits) {
        *number = fraction(line, field, word, limits)?;
    }
    // Rounding makes sizes a little less than 0, at the most.
    Ok([
        numbers[0],
        numbers[1],
        numbers[2].max(0.0),
        numbers[3].max(0.0),
    ])
}

/// A finite number between these.
fn fraction(
    line: &Line<'_>,
    field: &str,
    word: &str,
    [least, most]: [f64; 2],
) -> Result<f64, ReadError> {
    let number = finite(word).map_err(|problem| line.error(field, problem))?;
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    let problem = format!("found {number}, expected a fraction of the image, {least} to {most}");
    Err(line.error(field, problem))
}

/// The class, which programs also write as `3.0`.
pub(super) fn class_number(line: &Line<'_>, word: &str) -> Result<u32, ReadError> {
    let number = word.parse::<f64>().ok();
    let whole = number
        .filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number));
    // The cast is exact: the number is whole and in the range of u32.
    whole.map(|number| number as u32).ok_or_else(|| {
        let problem = format!("found {word:?}, expected a non-negative integer");
        line.error("class", problem)
    })
}

fn is_whole(word: &str) -> bool {
    word.parse::<f64>()
        .is_ok_and(|number| number.is_finite() && number.fract() == 0.0)
}

/// Refuses the lines of a classifier: a confidence and the name of a class.
fn refuse_classifier(line: &Line<'_>) -> Result<(), ReadError> {
    let [first, second, ..] = &*line.words else {
        return Ok(());
    };
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    if is_number(first) && first.contains('.') && !is_number(second) {
        let problem = "found a confidence and a name, as a classifier writes them: expected the predictions of a detector";
        return Err(line.error("", problem.to_owned()));
    }
    Ok(())
}

/// The error for a line with another count of numbers.
fn other_count(line: &Line<'_>, side: Side, form: &LineForm) -> ReadError {
    let found = line.words.len();
    let without_class = found.saturating_sub(1);
    let last = line.words.last().copied().unwrap_or_default();
    let is_prediction = side == Side::Prediction;
    let (count, fields) = match (form.kind, form.pose) {
        (ObjectKind::Box, None) => (Some(5), "class cx cy width height"),
        (ObjectKind::Oriented, _) => (Some(9), "class x1 y1 x2 y2 x3 y3 x4 y4"),
        (ObjectKind::Segment, _) => (None, "class x1 y1 x2 y2 x3 y3 ..."),
        (_, pose) => (
            pose.map(|pose| 1 + pose.count()),
            "class cx cy width height and the numbers of its points",
        ),
    };
    let of_confidence = usize::from(is_prediction);
    let expected = match count {
        Some(count) => format!("{}", count + of_confidence),
        None if is_prediction => "an even number of at least 8".to_owned(),
        None => "an odd number of at least 7".to_owned(),
    };
    let confidence = if is_prediction { " confidence" } else { "" };
    let lacks_confidence = form.form(without_class).is_some()
        || form.kind == ObjectKind::Segment && found > 6 && !is_whole(last);
    let hint = if is_prediction && lacks_confidence {
        "; predictions have theirs under save_conf=True"
    } else if !is_prediction && form.of_prediction(&line.words[1.min(found)..]).is_some() {
        "; a line with a confidence is a prediction"
    } else if form.kind == ObjectKind::Segment && found < 7 {
        "; boxes are no segments"
    } else {
        ""
    };
    let problem = format!("found {found} numbers, expected {expected}: {fields}{confidence}{hint}");
    line.error("", problem)
}

/// The classes that occur in a file, as far as it can be read.
pub(super) fn classes_in<'a>(file: File<'a>) -> impl Iterator<Item = Key> + 'a {
    use crate::read::folder::FolderFile as _;
    file.lines().filter_map(|line| {
        let class = class_number(&line, line.words.first()?).ok()?;
        Some(Key::Number(class.into()))
    })
}
