use super::coco::{
    CocoOptions, Identified, Positions, Problem, Size, TruthFields, distinct, distribute,
    file_error, position, warn,
};
use super::fields::Id;
use super::{File, ReadError, Warning, Warnings};
use crate::dataset::UNLISTED;
use crate::{BBox, Class, Dataset, Key, Prediction, Shape};

/// The ground truth of a data set as columns, one value per object.
#[derive(Clone, Copy, Debug)]
pub struct TruthColumns<'a, S = BBox> {
    /// The image of each object.
    pub image: &'a [Key],
    /// The class of each object.
    pub class: &'a [Key],
    /// The box of each object.
    pub shape: &'a [S],
    /// The area that decides the area range of each object; that of its shape if `None`.
    pub area: Option<&'a [f64]>,
    /// Whether each object is a crowd; none is if `None`.
    pub crowd: Option<&'a [bool]>,
    /// Whether each object is ignored; none is if `None`.
    pub ignore: Option<&'a [bool]>,
    /// The id of each object; distinct ids that are not 0 if `None`.
    pub id: Option<&'a [i64]>,
}

impl<'a, S> TruthColumns<'a, S> {
    /// Returns the columns that every data set has.
    #[must_use]
    pub fn new(image: &'a [Key], class: &'a [Key], shape: &'a [S]) -> Self {
        Self {
            image,
            class,
            shape,
            area: None,
            crowd: None,
            ignore: None,
            id: None,
        }
    }
}

/// The detections of a data set as columns, one value per detection.
#[derive(Clone, Copy, Debug)]
pub struct PredictionColumns<'a, S = BBox> {
    /// The image of each detection.
    pub image: &'a [Key],
    /// The class of each detection.
    pub class: &'a [Key],
    /// The box of each detection.
    pub shape: &'a [S],
    /// The confidence of each detection.
    pub score: &'a [f64],
}

/// Builds a data set from columns in memory, under the rules of [`parse_coco`](super::parse_coco).
///
/// Ground truth of images or classes that are not listed, and detections of classes that are not
/// listed, are left out with a warning. So are, with
/// [`ignore_unknown_images`](CocoOptions::ignore_unknown_images), detections of other images, which are
/// otherwise an error. Listed images and classes that are repeated count once, with a warning. `17` and
/// `"17"` are the same id. The exception is `ignore`, which is taken as it is.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::read::{
///     CocoOptions, PredictionColumns, TruthColumns, Warning, dataset_from_columns,
/// };
/// use metric_vision::{BBox, Class, CocoAp, CocoSlice, Key};
///
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let dog = Class::new(18, "dog");
/// let images = [Key::from(1), Key::from(2)];
/// // One dog in each image. The first is found; the other detection is of a class that is not listed.
/// let truth = [square(0.0)?, square(5.0)?];
/// let found = [square(0.0)?, square(5.0)?];
/// let (dataset, warnings) = dataset_from_columns(
///     &images,
///     &[dog],
///     TruthColumns {
///         area: Some(&[100.0, 100.0]),
///         crowd: Some(&[false, false]),
///         ..TruthColumns::new(&images, &[18.into(), 18.into()], &truth)
///     },
///     PredictionColumns {
///         image: &images,
///         class: &[18.into(), 99.into()],
///         shape: &found,
///         score: &[0.9, 0.8],
///     },
///     CocoOptions::default(),
/// )?;
/// assert!(warnings.into_iter().eq([(Warning::UnknownClass(99.into()), 1)]));
/// let metric = CocoAp::default();
/// let curves = metric.compute(&dataset.measure(&metric));
/// assert_eq!(curves.average_recall(CocoSlice::default()), Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns an error if the columns of a side are not of equal length, if a detection is of an image that
/// is not listed, or if two true objects have the same id. The file of the error is empty; its record is
/// for example `annotations[3]` or `predictions[3]`.
///
/// # Cost
///
/// Linear in the rows, except for sorting the ids. The shapes are cloned.
pub fn dataset_from_columns<S: Shape + Clone>(
    images: &[Key],
    classes: &[Class],
    truths: TruthColumns<'_, S>,
    predictions: PredictionColumns<'_, S>,
    options: CocoOptions,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    truths.check()?;
    predictions.check()?;
    let listed = Listed {
        images: images.iter().map(id_of).collect(),
        sizes: &[],
        classes: classes
            .iter()
            .map(|class| (id_of(&class.key), class.name.as_str()))
            .collect(),
    };
    dataset_from_rows(listed, &truths, &predictions, options)
}

/// The lists of a data set in addition to its objects.
pub(super) struct Listed<'a> {
    pub(super) images: Vec<Id<'a>>,
    /// Height and width of the images, if they are known.
    pub(super) sizes: &'a [[u32; 2]],
    pub(super) classes: Vec<(Id<'a>, &'a str)>,
}

/// Objects in memory, by row.
pub(super) trait Rows<S> {
    /// The name that errors use in place of a file.
    fn name(&self) -> &str;
    fn count(&self) -> usize;
    fn image(&self, row: usize) -> Id<'_>;
    fn class(&self, row: usize) -> Id<'_>;
    /// The shape, and the area that decides the area range unless the object has one of its own.
    fn shape(&self, row: usize, size: Size) -> Result<(S, f64), Problem>;
    /// Whether a shape has a negative width or height.
    fn is_inverted(&self, shape: &S) -> bool;
    /// Whether a shape is a mask of another size than its image; shapes that come without sizes are not.
    fn is_of_other_size(&self, _shape: &S, _size: Size) -> bool {
        false
    }
}

/// Rows that are ground truth.
pub(super) trait TruthRows<S>: Rows<S> {
    fn id(&self, row: usize) -> Option<i64>;
    fn fields(&self, row: usize, class: u32) -> TruthFields;
}

/// Rows that are detections.
pub(super) trait PredictionRows<S>: Rows<S> {
    fn score(&self, row: usize) -> f64;
    /// The position in the file.
    fn position(&self, row: usize) -> u32 {
        position(row)
    }
}

/// [`dataset_from_columns`] of rows of any origin.
pub(super) fn dataset_from_rows<S: Shape + Clone>(
    listed: Listed<'_>,
    truths: &impl TruthRows<S>,
    predictions: &impl PredictionRows<S>,
    options: CocoOptions,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    let mut warnings = Warnings::new();
    let (positions, mut classes, mut images) = Positions::new(
        listed.classes.iter().map(|(id, _)| id),
        listed.images.iter(),
        options.shard,
        &mut warnings,
    );
    for (id, name) in &listed.classes {
        if let Some(position) = positions.class(id) {
            (*name).clone_into(&mut classes[position as usize].name);
        }
    }
    let mut sizes = vec![None; images.len()];
    for (id, &[height, width]) in listed.images.iter().zip(listed.sizes) {
        if let Some(position) = positions.image(id) {
            sizes[position as usize] = Some((height, width));
        }
    }

    let file = File {
        name: truths.name(),
        text: "",
    };
    let annotations = annotations(truths, &positions, &sizes, &mut warnings)
        .map_err(|(row, problem)| problem.in_record(file, ANNOTATIONS, row))?;
    let annotations = distinct(file, ANNOTATIONS, annotations, options)?;
    distribute(annotations, &mut images);
    if options.federated {
        // Columns have none of the fields of LVIS, in which no object is a crowd.
        warnings.remove(&Warning::MissingCrowd);
        for _ in listed.images.iter().filter(|id| positions.warns_of(id)) {
            warn(&mut warnings, Warning::MissingNegatives);
            warn(&mut warnings, Warning::MissingNotExhaustive);
        }
    }
    let mut predictions = detections(predictions, &positions, &sizes, options, &mut warnings)?;
    positions.keep_held(&mut images, &mut predictions);
    let dataset = Dataset::placed(classes, images, predictions);
    let dataset = dataset.map_err(|error| file_error(file, error.to_string()))?;
    Ok((dataset, warnings))
}

const ANNOTATIONS: &str = "annotations";
const PREDICTIONS: &str = "predictions";

fn annotations<S: Shape>(
    rows: &impl TruthRows<S>,
    positions: &Positions,
    sizes: &[Size],
    warnings: &mut Warnings,
) -> Result<Vec<Identified<S>>, (usize, Problem)> {
    let mut annotation = |row: usize| {
        let id = rows.id(row).map(Key::Number);
        let (image, class) = (rows.image(row), rows.class(row));
        if positions.is_elsewhere(&image) {
            return Ok(positions.elsewhere(id, &image, Some(&class)));
        }
        let Some((image, class)) = positions.of_truth(&image, &class, warnings) else {
            return Ok(Identified::new(id, None));
        };
        let size = sizes.get(image as usize).copied().flatten();
        let (shape, _) = rows.shape(row, size).map_err(|problem| (row, problem))?;
        let is_inverted = rows.is_inverted(&shape);
        if rows.is_of_other_size(&shape, size) {
            warn(warnings, Warning::OtherSize);
        }
        let annotation = rows
            .fields(row, class)
            .annotation(shape, is_inverted, warnings);
        Ok(Identified::new(id, Some((image, annotation))))
    };
    (0..rows.count()).map(&mut annotation).collect()
}

fn detections<S: Shape>(
    rows: &impl PredictionRows<S>,
    positions: &Positions,
    sizes: &[Size],
    options: CocoOptions,
    warnings: &mut Warnings,
) -> Result<Vec<Prediction<S>>, ReadError> {
    let file = File {
        name: rows.name(),
        text: "",
    };
    let mut all = Vec::with_capacity(rows.count());
    for row in 0..rows.count() {
        let refused = |problem: Problem| problem.in_record(file, PREDICTIONS, row);
        let image = rows.image(row);
        if positions.is_elsewhere(&image) {
            continue;
        }
        let image = positions.image_of_detection(&image, options, warnings);
        let Some(image) = image.map_err(refused)? else {
            continue;
        };
        let size = sizes.get(image as usize).copied().flatten();
        let (shape, area) = rows.shape(row, size).map_err(refused)?;
        let class = positions.class_of_detection(&rows.class(row), warnings);
        let Some(class) = class.or(options.federated.then_some(UNLISTED)) else {
            continue;
        };
        for (warning, applies) in [
            (Warning::NegativeSize, rows.is_inverted(&shape)),
            (Warning::OtherSize, rows.is_of_other_size(&shape, size)),
        ] {
            if applies {
                warn(warnings, warning);
            }
        }
        all.push(Prediction {
            image,
            position: rows.position(row),
            class,
            score: rows.score(row),
            area,
            shape,
        });
    }
    Ok(all)
}

fn id_of(key: &Key) -> Id<'_> {
    match key {
        Key::Number(number) => Id::number(*number),
        Key::Text(text) => Id::of_text(&**text),
    }
}

/// Checks that a column has one value for each row.
fn fits(list: &str, field: &str, length: usize, rows: usize) -> Result<(), ReadError> {
    if length == rows {
        Ok(())
    } else {
        let problem = format!("{length} values: expected {rows}, as there are images");
        Err(ReadError::new("", problem).at(list).field(field))
    }
}

impl<S> TruthColumns<'_, S> {
    fn check(&self) -> Result<(), ReadError> {
        let rows = self.image.len();
        for (field, length) in [
            ("class", Some(self.class.len())),
            ("shape", Some(self.shape.len())),
            ("area", self.area.map(<[f64]>::len)),
            ("crowd", self.crowd.map(<[bool]>::len)),
            ("ignore", self.ignore.map(<[bool]>::len)),
            ("id", self.id.map(<[i64]>::len)),
        ] {
            fits(ANNOTATIONS, field, length.unwrap_or(rows), rows)?;
        }
        Ok(())
    }
}

impl<S> PredictionColumns<'_, S> {
    fn check(&self) -> Result<(), ReadError> {
        for (field, length) in [
            ("class", self.class.len()),
            ("shape", self.shape.len()),
            ("score", self.score.len()),
        ] {
            fits(PREDICTIONS, field, length, self.image.len())?;
        }
        Ok(())
    }
}

impl<S: Shape + Clone> Rows<S> for TruthColumns<'_, S> {
    fn name(&self) -> &str {
        ""
    }

    fn count(&self) -> usize {
        self.image.len()
    }

    fn image(&self, row: usize) -> Id<'_> {
        id_of(&self.image[row])
    }

    fn class(&self, row: usize) -> Id<'_> {
        id_of(&self.class[row])
    }

    fn shape(&self, row: usize, _: Size) -> Result<(S, f64), Problem> {
        Ok(with_area(&self.shape[row]))
    }

    fn is_inverted(&self, shape: &S) -> bool {
        is_inverted(shape)
    }
}

impl<S: Shape + Clone> TruthRows<S> for TruthColumns<'_, S> {
    fn id(&self, row: usize) -> Option<i64> {
        self.id.map(|id| id[row])
    }

    fn fields(&self, row: usize, class: u32) -> TruthFields {
        TruthFields {
            class,
            id: self.id.map_or(-1, |id| id[row]),
            area: self.area.map(|area| area[row]),
            crowd: self.crowd.map(|crowd| crowd[row]),
            ignore: self.ignore.is_some_and(|ignore| ignore[row]),
        }
    }
}

impl<S: Shape + Clone> Rows<S> for PredictionColumns<'_, S> {
    fn name(&self) -> &str {
        ""
    }

    fn count(&self) -> usize {
        self.image.len()
    }

    fn image(&self, row: usize) -> Id<'_> {
        id_of(&self.image[row])
    }

    fn class(&self, row: usize) -> Id<'_> {
        id_of(&self.class[row])
    }

    fn shape(&self, row: usize, _: Size) -> Result<(S, f64), Problem> {
        Ok(with_area(&self.shape[row]))
    }

    fn is_inverted(&self, shape: &S) -> bool {
        is_inverted(shape)
    }
}

impl<S: Shape + Clone> PredictionRows<S> for PredictionColumns<'_, S> {
    fn score(&self, row: usize) -> f64 {
        self.score[row]
    }
}

fn with_area<S: Shape + Clone>(shape: &S) -> (S, f64) {
    (shape.clone(), shape.area())
}

/// Whether a shape has a negative width or height.
fn is_inverted<S: Shape>(shape: &S) -> bool {
    let [left, top, right, bottom] = shape.bounds();
    right < left || bottom < top
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::parse_coco;

    fn keys(numbers: &[i64]) -> Vec<Key> {
        numbers.iter().map(|&number| Key::Number(number)).collect()
    }

    fn square(x: f64) -> BBox {
        BBox::from_xywh(x, 0.0, 10.0, 10.0).expect("a box")
    }

    fn class(key: i64) -> Class {
        Class::new(key, format!("class {key}"))
    }

    /// Columns and a file of the same data, with everything that is warned of.
    #[test]
    fn columns_are_the_file() {
        let truth = r#"{
            "images": [{"id": 2}, {"id": 1}, {"id": 2}],
            "categories": [{"id": 5, "name": "class 5"}, {"id": 3, "name": "class 3"}, {"id": 5, "name": "class 5"}],
            "annotations": [
                {"id": 1, "image_id": 1, "category_id": 5, "bbox": [0, 0, 10, 10]},
                {"id": 2, "image_id": 9, "category_id": 5, "bbox": [0, 0, 10, 10]},
                {"id": 0, "image_id": 2, "category_id": 3, "bbox": [9, 0, -10, 10]},
                {"id": 4, "image_id": 2, "category_id": 4, "bbox": [0, 0, 10, 10]}]}"#;
        let found = r#"[
            {"image_id": 2, "category_id": 3, "bbox": [0, 0, 10, 10], "score": 0.5},
            {"image_id": 8, "category_id": 3, "bbox": [0, 0, 10, 10], "score": 0.6},
            {"image_id": 1, "category_id": 4, "bbox": [0, 0, 10, 10], "score": 0.7},
            {"image_id": 1, "category_id": 5, "bbox": [5, 0, 10, 10], "score": 0.8}]"#;
        let inverted = BBox::from_signed_xywh(9.0, 0.0, -10.0, 10.0).expect("a box");
        let shapes = [square(0.0), square(0.0), inverted, square(0.0)];
        let images = keys(&[1, 9, 2, 2]);
        let classes = keys(&[5, 5, 3, 4]);
        let truths = TruthColumns {
            id: Some(&[1, 2, 0, 4]),
            ..TruthColumns::new(&images, &classes, &shapes)
        };
        let predictions = PredictionColumns {
            image: &keys(&[2, 8, 1, 1]),
            class: &[3.into(), "3".into(), 4.into(), "5".into()],
            shape: &[square(0.0), square(0.0), square(0.0), square(5.0)],
            score: &[0.5, 0.6, 0.7, 0.8],
        };
        for ignore_unknown_images in [true, false] {
            let options = CocoOptions {
                ignore_unknown_images,
                ..CocoOptions::default()
            };
            let file = |text| File { name: "", text };
            let files = parse_coco(file(truth), file(found), options);
            let memory = dataset_from_columns(
                &keys(&[2, 1, 2]),
                &[class(5), class(3), class(5)],
                truths,
                predictions,
                options,
            );
            match (files, memory) {
                (Ok(files), Ok(memory)) => {
                    assert_eq!(memory, files);
                    assert_eq!(memory.1.len(), 10);
                }
                (Err(file), Err(memory)) => {
                    let record = format!("predictions{}", file.record);
                    let in_memory = file.at(record);
                    assert_eq!(memory, in_memory);
                    let problem = "predictions[1]: image_id: 8 is not an image of the ground truth";
                    assert_eq!(memory.to_string(), problem);
                }
                (files, memory) => panic!("{files:?} and {memory:?}"),
            }
        }
    }

    #[test]
    fn columns_that_are_refused() {
        let one = keys(&[1]);
        let shape = [square(0.0)];
        let good = TruthColumns::new(&one, &one, &shape);
        let none = PredictionColumns {
            image: &[],
            class: &[],
            shape: &[],
            score: &[],
        };
        let two = [keys(&[1, 1]), keys(&[1, 1])];
        let shapes = [square(0.0), square(1.0)];
        let twice = TruthColumns {
            id: Some(&[7, 7]),
            ..TruthColumns::new(&two[0], &two[1], &shapes)
        };
        let long = TruthColumns {
            area: Some(&[1.0, 2.0]),
            ..good
        };
        let short = PredictionColumns {
            image: &one,
            ..none
        };
        for (truths, predictions, expected) in [
            (
                long,
                none,
                "annotations: area: 2 values: expected 1, as there are images",
            ),
            (
                good,
                short,
                "predictions: class: 0 values: expected 1, as there are images",
            ),
            (
                twice,
                none,
                "annotations[1]: id: 7 is the id of annotations[0] too: expected ids that differ",
            ),
        ] {
            let options = CocoOptions::default();
            let error = dataset_from_columns(&one, &[class(1)], truths, predictions, options);
            assert_eq!(error.expect_err(expected).to_string(), expected);
        }
    }
}
