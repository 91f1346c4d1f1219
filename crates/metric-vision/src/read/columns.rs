use super::coco::{
    CocoOptions, Id, Identified, Places, TruthFields, distinct, distribute, position, warn, whole,
};
use super::{File, ReadError, Warning, Warnings};
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
    /// The columns that every data set has.
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
/// let dog = Class { key: 18.into(), name: "dog".into() };
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
/// assert!(warnings.into_iter().eq([(Warning::UnknownClass, 1)]));
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
    let mut warnings = Warnings::new();
    let image_ids: Vec<Id<'_>> = images.iter().map(id_of).collect();
    let class_ids: Vec<Id<'_>> = classes.iter().map(|class| id_of(&class.key)).collect();
    let (places, mut listed, mut images) = Places::new(
        class_ids.iter(),
        image_ids.iter(),
        options.shard,
        &mut warnings,
    );
    for (class, id) in classes.iter().zip(&class_ids) {
        if let Some(place) = places.class(id) {
            listed[place as usize].name.clone_from(&class.name);
        }
    }

    let annotations = annotations(&truths, &places, &mut warnings)?;
    let annotations = distinct(MEMORY, ANNOTATIONS, annotations, options)?;
    distribute(annotations, &mut images);
    let mut predictions = detections(&predictions, &places, options, &mut warnings)?;
    places.keep_held(&mut images, &mut predictions);
    let dataset = Dataset::placed(listed, images, predictions);
    let dataset = dataset.map_err(|error| whole(MEMORY, error.to_string()))?;
    Ok((dataset, warnings))
}

/// What errors name in place of a file.
const MEMORY: File<'static> = File { name: "", text: "" };
const ANNOTATIONS: &str = "annotations";
const PREDICTIONS: &str = "predictions";

fn id_of(key: &Key) -> Id<'_> {
    match key {
        Key::Number(number) => Id::number(*number),
        Key::Text(text) => Id::of_text(&**text),
    }
}

/// Checks that a column has one value for each row.
fn fits(list: &str, field: &str, length: usize, rows: usize) -> Result<(), ReadError> {
    match length == rows {
        true => Ok(()),
        false => {
            let problem = format!("{length} values: expected {rows}, as there are images");
            Err(ReadError::new("", problem).at(list).field(field))
        }
    }
}

fn annotations<S: Shape + Clone>(
    columns: &TruthColumns<'_, S>,
    places: &Places,
    warnings: &mut Warnings,
) -> Result<Vec<Identified<S>>, ReadError> {
    let TruthColumns {
        image,
        class,
        shape,
        area,
        crowd,
        ignore,
        id,
    } = *columns;
    let rows = image.len();
    for (field, length) in [
        ("class", Some(class.len())),
        ("shape", Some(shape.len())),
        ("area", area.map(<[f64]>::len)),
        ("crowd", crowd.map(<[bool]>::len)),
        ("ignore", ignore.map(<[bool]>::len)),
        ("id", id.map(<[i64]>::len)),
    ] {
        fits(ANNOTATIONS, field, length.unwrap_or(rows), rows)?;
    }
    let annotation = |(row, ((image, class), shape)): (usize, ((&Key, &Key), &S))| {
        let id = id.map(|id| id[row]);
        let (image, class) = (id_of(image), id_of(class));
        if places.is_elsewhere(&image) {
            return places.elsewhere(id.map(Key::Number), &image, Some(&class));
        }
        let place = places.of_truth(&image, &class, warnings);
        let placed = place.map(|(image, class)| {
            let fields = TruthFields {
                class,
                id: id.unwrap_or(-1),
                area: area.map(|area| area[row]),
                crowd: crowd.map(|crowd| crowd[row]),
                ignore: ignore.is_some_and(|ignore| ignore[row]),
            };
            let annotation = fields.annotation(shape.clone(), is_inverted(shape), warnings);
            (image, annotation)
        });
        Identified::new(id.map(Key::Number), placed)
    };
    let columns = image.iter().zip(class).zip(shape);
    Ok(columns.enumerate().map(annotation).collect())
}

fn detections<S: Shape + Clone>(
    columns: &PredictionColumns<'_, S>,
    places: &Places,
    options: CocoOptions,
    warnings: &mut Warnings,
) -> Result<Vec<Prediction<S>>, ReadError> {
    let PredictionColumns {
        image,
        class,
        shape,
        score,
    } = *columns;
    for (field, length) in [
        ("class", class.len()),
        ("shape", shape.len()),
        ("score", score.len()),
    ] {
        fits(PREDICTIONS, field, length, image.len())?;
    }
    let mut all = Vec::with_capacity(image.len());
    let columns = image.iter().zip(class).zip(shape.iter().zip(score));
    for (row, ((image, class), (shape, &score))) in columns.enumerate() {
        let image = id_of(image);
        if places.is_elsewhere(&image) {
            continue;
        }
        let image = places.image_of_detection(&image, options, warnings);
        let image = image.map_err(|problem| problem.in_record(MEMORY, PREDICTIONS, row))?;
        let Some(image) = image else {
            continue;
        };
        let Some(class) = places.class_of_detection(&id_of(class), warnings) else {
            continue;
        };
        if is_inverted(shape) {
            warn(warnings, Warning::NegativeSize);
        }
        all.push(Prediction {
            image,
            place: position(row),
            ..Prediction::new(class, score, shape.clone())
        });
    }
    Ok(all)
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
        Class {
            key: key.into(),
            name: format!("class {key}"),
        }
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
                    assert_eq!(memory.1.len(), 9);
                }
                (Err(file), Err(memory)) => {
                    let record = format!("predictions{}", file.record);
                    let in_memory = file.at(record);
                    assert_eq!(memory, in_memory);
                    let problem = "predictions[1]: image_id: 8 is no image of the ground truth";
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
