use metric_record::json::Raw;
use metric_record::{IdColumn, IdKey, ObjectColumns, Objects, ReadError};

use super::Warnings;
use super::coco::plain;
use super::coco::{
    CocoOptions, Form, KeypointFields, MaskSizes, Problem, Readable, ShapeFields, Size,
    TruthFields, position,
};
use super::columns::{Listed, PredictionRows, Rows, TruthRows, dataset_from_rows};
use super::fields::{Id, Numbers};
use crate::{Dataset, Polygon, Shape};

/// One side of a data set in memory, with its name.
pub(super) type Side<'a> = (&'a str, &'a Objects);

/// Builds a data set from objects in memory.
pub(super) fn dataset_from_objects<S: Readable<Model = ()>>(
    truths: Side<'_>,
    predictions: Side<'_>,
    options: CocoOptions,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    let refused = |(name, _): Side<'_>, problem: &str| ReadError::new(name, problem).field("score");
    let truth = truths.1.columns();
    if truth.score.is_some() {
        return Err(refused(
            truths,
            "found scores: expected ground truth, which has none",
        ));
    }
    let score = predictions.1.columns().score.as_deref();
    let score = match score {
        None if !predictions.1.is_empty() => {
            return Err(refused(
                predictions,
                "missing: expected one score per detection",
            ));
        }
        score => score.unwrap_or_default(),
    };
    let listed = Listed {
        images: truth.images.iter().map(id_of).collect(),
        sizes: truth.sizes.as_deref().unwrap_or_default(),
        classes: truth
            .classes
            .iter()
            .map(|(id, name)| (id_of(id), name.as_str()))
            .collect(),
    };
    let truths = Truths(Columns::new(truths, options));
    let predictions = Predictions {
        columns: Columns::new(predictions, options),
        score,
    };
    dataset_from_rows(listed, &truths, &predictions, options)
}

fn id_of<'a>(id: &'a IdKey<'static>) -> Id<'a> {
    match id {
        IdKey::Number(number) => Id::number(*number),
        IdKey::Text(text) => Id::of_text(&**text),
    }
}

fn id_in(column: &IdColumn, row: usize) -> Id<'_> {
    match column {
        IdColumn::Numbers(numbers) => Id::number(numbers[row]),
        IdColumn::Keys(keys) => id_of(&keys[row]),
    }
}

/// Four corners, which only objects in memory have.
impl Readable for Polygon {
    type Model = ();

    fn truth(fields: ShapeFields<'_>, _: Size, (): &()) -> Result<Self, Problem> {
        let text = fields.segmentation.map_or("null", |raw| raw.0);
        let wrong = |error: serde_json::Error| Problem::new("segmentation", plain(&error));
        let numbers: [f64; 8] = serde_json::from_str(text).map_err(wrong)?;
        let corners = numbers.as_chunks().0.to_vec();
        Polygon::even_odd(corners).map_err(|error| Problem::new("segmentation", error))
    }

    fn detection(
        fields: ShapeFields<'_>,
        size: Size,
        _: Form,
        (): &(),
    ) -> Result<(Self, f64), Problem> {
        let polygon = Self::truth(fields, size, &())?;
        let area = polygon.area();
        Ok((polygon, area))
    }
}

/// Columns whose lengths are equal.
struct Columns<'a> {
    name: &'a str,
    columns: &'a ObjectColumns,
    form: Form,
    sizes: MaskSizes,
}

impl<'a> Columns<'a> {
    fn new((name, objects): Side<'a>, options: CocoOptions) -> Self {
        let columns = objects.columns();
        let form = match (&columns.bbox, &columns.segmentation) {
            (None, Some(_)) => Form::Mask,
            _ => Form::Box,
        };
        Self {
            name,
            columns,
            form,
            sizes: options.into(),
        }
    }

    /// Reads the shape of a row.
    fn shape<T>(
        &self,
        row: usize,
        read: impl FnOnce(ShapeFields<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let bbox = self
            .columns
            .bbox
            .as_ref()
            .map(|bbox| Numbers::from(bbox[row]));
        let segmentation = self.columns.segmentation.as_ref();
        let segmentation = segmentation.map(|texts| serde_json::from_str::<Raw<'_>>(&texts[row]));
        let segmentation = segmentation.transpose().map_err(|error| {
            Problem::new("segmentation", format!("not JSON: {}", plain(&error)))
        })?;
        read(ShapeFields {
            bbox: bbox.as_ref(),
            segmentation,
            keypoints: KeypointFields::default(),
            sizes: self.sizes,
        })
    }
}

/// Ground truth in memory.
struct Truths<'a>(Columns<'a>);

impl<S: Readable<Model = ()>> Rows<S> for Truths<'_> {
    fn name(&self) -> &str {
        self.0.name
    }

    fn count(&self) -> usize {
        self.0.columns.image.len()
    }

    fn image(&self, row: usize) -> Id<'_> {
        id_in(&self.0.columns.image, row)
    }

    fn class(&self, row: usize) -> Id<'_> {
        id_in(&self.0.columns.class, row)
    }

    fn shape(&self, row: usize, size: Size) -> Result<(S, f64), Problem> {
        let shape = self.0.shape(row, |fields| S::truth(fields, size, &()))?;
        let area = shape.area();
        Ok((shape, area))
    }

    fn is_inverted(&self, shape: &S) -> bool {
        Readable::is_inverted(shape)
    }

    fn is_of_other_size(&self, shape: &S, size: Size) -> bool {
        shape.is_of_other_size(size)
    }
}

impl<S: Readable<Model = ()>> TruthRows<S> for Truths<'_> {
    fn id(&self, row: usize) -> Option<i64> {
        self.0.columns.id.as_ref().map(|id| id[row])
    }

    fn fields(&self, row: usize, class: u32) -> TruthFields {
        let columns = self.0.columns;
        TruthFields {
            class,
            id: columns.id.as_ref().map_or(-1, |id| id[row]),
            area: columns.area.as_ref().map(|area| area[row]),
            crowd: columns.crowd.as_ref().map(|crowd| crowd[row]),
            ignore: columns.ignore.as_ref().is_some_and(|ignore| ignore[row]),
        }
    }
}

/// Detections in memory.
struct Predictions<'a> {
    columns: Columns<'a>,
    score: &'a [f64],
}

impl<S: Readable<Model = ()>> Rows<S> for Predictions<'_> {
    fn name(&self) -> &str {
        self.columns.name
    }

    fn count(&self) -> usize {
        self.columns.columns.image.len()
    }

    fn image(&self, row: usize) -> Id<'_> {
        id_in(&self.columns.columns.image, row)
    }

    fn class(&self, row: usize) -> Id<'_> {
        id_in(&self.columns.columns.class, row)
    }

    fn shape(&self, row: usize, size: Size) -> Result<(S, f64), Problem> {
        let form = self.columns.form;
        self.columns
            .shape(row, |fields| S::detection(fields, size, form, &()))
    }

    fn is_inverted(&self, shape: &S) -> bool {
        Readable::is_inverted(shape)
    }

    fn is_of_other_size(&self, shape: &S, size: Size) -> bool {
        shape.is_of_other_size(size)
    }
}

impl<S: Readable<Model = ()>> PredictionRows<S> for Predictions<'_> {
    fn score(&self, row: usize) -> f64 {
        self.score[row]
    }

    fn position(&self, row: usize) -> u32 {
        let positions = self.columns.columns.position.as_ref();
        positions.map_or_else(|| position(row), |positions| positions[row])
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;
    use std::fs;
    use std::path::Path;

    use metric_core::Metric;
    use metric_record::{Document, File, Shard};
    use serde_json::{Value, json};

    use super::*;
    use crate::read::{
        parse_coco, parse_coco_masks, read_coco_documents, read_coco_mask_documents,
    };
    use crate::{CocoAp, Shape, VocAp};

    type Read<S> = Result<(Dataset<S>, Warnings), ReadError>;

    fn id(value: &Value) -> Option<IdKey<'static>> {
        match value {
            Value::String(text) => Some(IdKey::from(text.as_str()).into_owned()),
            number => number.as_i64().map(IdKey::Number),
        }
    }

    /// The field of all records as a column, if all or none of them have it.
    fn column<T>(
        records: &[Value],
        field: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<Option<Vec<T>>> {
        let with = records.iter().filter(|record| !record[field].is_null());
        match with.count() {
            0 if !records.is_empty() => Some(None),
            _ => {
                let column = records.iter().map(|record| read(&record[field]));
                column.collect::<Option<Vec<T>>>().map(Some)
            }
        }
    }

    fn numbers(value: &Value) -> Option<[f64; 4]> {
        serde_json::from_value(value.clone()).ok()
    }

    fn flag(value: &Value) -> Option<bool> {
        value
            .as_bool()
            .or_else(|| value.as_i64().map(|flag| flag != 0))
    }

    fn columns(records: &[Value]) -> Option<ObjectColumns> {
        let segmentation = |value: &Value| (!value.is_null()).then(|| value.to_string());
        Some(ObjectColumns {
            image: column(records, "image_id", id)??.into(),
            class: column(records, "category_id", id)??.into(),
            bbox: column(records, "bbox", numbers)?,
            segmentation: column(records, "segmentation", segmentation)?,
            area: column(records, "area", Value::as_f64)?,
            crowd: column(records, "iscrowd", flag)?,
            id: column(records, "id", Value::as_i64)?,
            ..ObjectColumns::default()
        })
    }

    /// The same data as objects in memory, if the records have the same fields.
    fn objects([truth, found]: [&Value; 2]) -> Option<[Objects; 2]> {
        let list = |name: &str| truth[name].as_array();
        // In memory the field has its meaning also with the quirks, and needs no warning.
        if list("annotations")?
            .iter()
            .any(|one| !one["ignore"].is_null())
        {
            return None;
        }
        let mut truths = columns(list("annotations")?)?;
        truths.images = column(list("images")?, "id", id)??;
        let size = |image: &Value| {
            let pixels = |name: &str| u32::try_from(image[name].as_u64()?).ok();
            Some([pixels("height")?, pixels("width")?])
        };
        truths.sizes = list("images")?.iter().map(size).collect();
        let classes = list("categories")?.iter();
        let classes = classes.map(|class| {
            Some((
                id(&class["id"])?,
                class["name"].as_str().unwrap_or_default().to_owned(),
            ))
        });
        truths.classes = classes.collect::<Option<_>>()?;
        let records = found.as_array()?;
        let mut found = columns(records)?;
        found.score = column(records, "score", Value::as_f64)?;
        (found.area, found.crowd, found.id) = (None, None, None);
        let objects = [truths, found].map(|columns| Objects::new(columns).ok());
        let [Some(truths), Some(found)] = objects else {
            return None;
        };
        Some([truths, found])
    }

    fn same<S: Shape + Clone + PartialEq + Debug + Sync>(
        what: &str,
        file: Read<S>,
        memory: Read<S>,
    ) {
        let ((file, file_warnings), (memory, warnings)) = match (file, memory) {
            (Ok(file), Ok(memory)) => (file, memory),
            (file, memory) => {
                assert_eq!(
                    file.is_err(),
                    memory.is_err(),
                    "{what}: {file:?}, {memory:?}"
                );
                return;
            }
        };
        assert_eq!(memory, file, "{what}");
        assert_eq!(warnings, file_warnings, "{what}");
        let coco = CocoAp::<S>::default();
        assert_eq!(memory.measure(&coco), file.measure(&coco), "{what}");
        let voc = VocAp::<S>::new(0.5).expect("a metric");
        assert_eq!(
            voc.compute(&memory.measure(&voc)),
            voc.compute(&file.measure(&voc))
        );
    }

    /// Returns whether the data can be objects.
    fn check(what: &str, truth: &str, found: &str, masks: bool) -> bool {
        let values = [truth, found].map(serde_json::from_str::<Value>);
        let [Ok(truth_value), Ok(found_value)] = &values else {
            return false;
        };
        let Some([truths, detections]) = objects([truth_value, found_value]) else {
            return false;
        };
        let memory = [
            Document::objects("t", truths),
            Document::objects("f", detections),
        ];
        let [truth, found] = [("t", truth), ("f", found)].map(|(name, text)| File { name, text });
        for (quirks, index) in [(false, None), (true, None), (false, Some(1))] {
            let options = CocoOptions {
                ignore_unknown_images: quirks,
                quirks,
                federated: false,
                shard: index.and_then(|index| Shard::new(index, 3).ok()),
            };
            let [t, f] = &memory;
            if masks {
                same(
                    what,
                    parse_coco_masks(truth, found, options),
                    read_coco_mask_documents(t, f, options),
                );
            } else {
                same(
                    what,
                    parse_coco(truth, found, options),
                    read_coco_documents(t, f, options),
                );
            }
        }
        true
    }

    /// The committed data sets, which a published crate does not have.
    #[test]
    fn golden_sets_as_objects() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/vision");
        let mut checked = 0;
        for name in ["coco.jsonl", "coco_more.jsonl"] {
            let Ok(text) = fs::read_to_string(folder.join(name)) else {
                return;
            };
            for line in text.lines() {
                let row: Value = serde_json::from_str(line).expect("a row");
                let field = |name: &str| row[name].as_str();
                if let (Some(id), Some(truth), Some(found)) =
                    (field("id"), field("gt"), field("dt"))
                {
                    checked += usize::from(check(id, truth, found, row["iou_type"] == "segm"));
                }
            }
        }
        assert!(checked > 40, "{checked}");
    }

    #[test]
    fn small_sets_as_objects() {
        let truth = json!({
            "images": [{"id": 2, "height": 9, "width": 9}, {"id": "a", "height": 9, "width": 9},
                {"id": 2, "height": 9, "width": 9}],
            "categories": [{"id": "x", "name": "X"}, {"id": 5, "name": "Y"}, {"id": 5, "name": "Y"}],
            "annotations": [
                {"id": 1, "image_id": 2, "category_id": 5, "bbox": [0, 0, 5, 5],
                    "segmentation": [[0, 0, 5, 0, 5, 5, 0, 5]]},
                {"id": 2, "image_id": "a", "category_id": "x", "bbox": [5, 0, -5, 5],
                    "segmentation": {"size": [9, 9], "counts": [0, 9, 72]}},
                {"id": 3, "image_id": 7, "category_id": "x", "bbox": [5, 0, -5, 5],
                    "segmentation": 7},
                {"id": 4, "image_id": 2, "category_id": 7, "bbox": [5, 0, -5, 5],
                    "segmentation": 7}],
        });
        let record = |image: Value, class: Value| {
            json!({"image_id": image, "category_id": class, "score": 0.5, "bbox": [0, 0, 5, 4],
                "segmentation": [[0, 0, 5, 0, 5, 4, 0, 4]]})
        };
        let good = [record(json!("a"), json!("x")), record(json!(2), json!(5))];
        let unknown = record(json!(8), json!(5));
        let other = record(json!(2), json!(8));
        let mut without_box = good.clone();
        let mut without_mask = good.clone();
        for record in &mut without_box {
            record["bbox"] = Value::Null;
        }
        for record in &mut without_mask {
            record["segmentation"] = Value::Null;
        }
        for found in [
            good.to_vec(),
            [&good[..], &[unknown, other]].concat(),
            without_box.to_vec(),
            without_mask.to_vec(),
            vec![],
        ] {
            let (truth, found) = (truth.to_string(), json!(found).to_string());
            assert!(check(&found, &truth, &found, false));
            assert!(check(&found, &truth, &found, true));
        }
    }

    /// Two images whose detections have the same score, read apart from each other: their positions in the file decide.
    #[test]
    fn positions_rank_equal_scores() {
        let read = |image: i64, position: Option<u32>| {
            let found = ObjectColumns {
                image: vec![image].into(),
                class: vec![1].into(),
                // Only the detection of the second image is of an object.
                bbox: Some(vec![[0.0, 0.0, 9.0, 9.0]]),
                ..ObjectColumns::default()
            };
            let truth = ObjectColumns {
                images: vec![IdKey::Number(image)],
                classes: vec![(IdKey::Number(1), "cat".to_owned())],
                bbox: Some(vec![[0.0, 0.0, if image == 2 { 9.0 } else { 1.0 }, 9.0]]),
                ..found.clone()
            };
            let found = ObjectColumns {
                score: Some(vec![0.5]),
                position: position.map(|position| vec![position]),
                ..found
            };
            let [truth, found] = [truth, found]
                .map(|columns| Document::objects("", Objects::new(columns).expect("columns")));
            let (dataset, _) =
                read_coco_documents(&truth, &found, CocoOptions::default()).expect("read");
            dataset
        };
        let precision = |positions: [Option<u32>; 2]| {
            let metric = VocAp::<crate::BBox>::new(0.5).expect("threshold");
            let mut state = dataset_state(&metric, &read(1, positions[0]));
            metric_core::Merge::merge(&mut state, dataset_state(&metric, &read(2, positions[1])));
            metric.compute(&state).mean
        };
        // By image, the first of two detections is wrong; by position it is right.
        assert_eq!(precision([None, None]), Some(0.25));
        assert_eq!(precision([Some(7), Some(3)]), Some(0.5));
    }

    fn dataset_state(
        metric: &VocAp<crate::BBox>,
        dataset: &Dataset<crate::BBox>,
    ) -> <VocAp<crate::BBox> as Metric>::State {
        dataset.measure(metric)
    }

    #[test]
    fn objects_that_are_refused() {
        let one = ObjectColumns {
            images: vec![IdKey::Number(1)],
            classes: vec![(IdKey::Number(1), String::new())],
            image: vec![1].into(),
            class: vec![1].into(),
            bbox: Some(vec![[0.0, 0.0, 1.0, 1.0]]),
            ..ObjectColumns::default()
        };
        let scored = ObjectColumns {
            score: Some(vec![0.5]),
            ..one.clone()
        };
        let infinite = ObjectColumns {
            bbox: Some(vec![[0.0, 0.0, f64::INFINITY, 1.0]]),
            ..scored.clone()
        };
        let unknown = ObjectColumns {
            image: vec![IdKey::from("a")].into(),
            ..scored.clone()
        };
        let shapeless = ObjectColumns {
            bbox: None,
            ..one.clone()
        };
        for (truths, found, expected) in [
            (
                &scored,
                &scored,
                "t: score: found scores: expected ground truth, which has none",
            ),
            (
                &one,
                &one,
                "f: score: missing: expected one score per detection",
            ),
            (
                &one,
                &infinite,
                "f: predictions[0]: bbox: width is inf: expected a finite number",
            ),
            (
                &one,
                &unknown,
                "f: predictions[0]: image_id: \"a\" is not an image of the ground truth",
            ),
            (
                &shapeless,
                &scored,
                "t: annotations[0]: bbox: missing: expected [x, y, width, height]",
            ),
        ] {
            let document = |name, columns: &ObjectColumns| {
                Document::objects(name, Objects::new(columns.clone()).expect("columns"))
            };
            let (truths, found) = (document("t", truths), document("f", found));
            let error = read_coco_documents(&truths, &found, CocoOptions::default());
            assert_eq!(error.expect_err(expected).to_string(), expected);
        }
    }
}
