//! Boxes and masks of images as columns, which Python hands over as arrays.

use metric_run::record::{Document, IdColumn, IdKey, ObjectColumns, Objects};
use numpy::{PyArrayLike1, PyArrayLike2, TypeMustMatch};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::columns::Argument;
use crate::error::{argument, refused};

/// Reads one side of a data set. The keys are those of [`ObjectColumns`].
pub(crate) fn read(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Document> {
    let py = columns.py();
    let get = |column: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(columns.get_item(column)?.filter(|value| !value.is_none()))
    };
    let ids = |column: &str| -> PyResult<IdColumn> {
        let values = get(column)?;
        Ok(values
            .map(|values| read_ids(&values))
            .transpose()?
            .unwrap_or_default())
    };
    let numbers = |column: &str| -> PyResult<Option<Vec<f64>>> {
        let Some(values) = get(column)? else {
            return Ok(None);
        };
        let values = values.extract::<PyArrayLike1<'_, f64, numpy::AllowTypeChange>>()?;
        Ok(Some(values.as_array().to_vec()))
    };
    let flags = |column: &str| -> PyResult<Option<Vec<bool>>> {
        let values = numbers(column)?;
        // A flag that is missing is NaN.
        let is_set = |value: &f64| *value != 0.0 && !value.is_nan();
        Ok(values.map(|values| values.iter().map(is_set).collect()))
    };
    let score = numbers("score")?;
    if let Some(row) = score.iter().flatten().position(|score| score.is_nan()) {
        let argument = Argument { name };
        return Err(argument.refused(
            py,
            None,
            &format!("score[{row}]: found NaN: expected a number"),
        ));
    }
    let mut area = numbers("area")?;
    let bbox: Option<Vec<[f64; 4]>> = match get("bbox")? {
        None => None,
        Some(values) => {
            let values = values.extract::<PyArrayLike2<'_, f64, numpy::AllowTypeChange>>()?;
            let rows = values.as_array();
            if rows.ncols() != 4 && !rows.is_empty() {
                let problem = format!("{name}: boxes have {} columns: expected 4", rows.ncols());
                return Err(refused(py, problem));
            }
            Some(match rows.as_slice() {
                Some(numbers) => numbers.as_chunks().0.to_vec(),
                None => {
                    let rows = rows.outer_iter();
                    rows.map(|row| [row[0], row[1], row[2], row[3]]).collect()
                }
            })
        }
    };
    if let Some((areas, boxes)) = area.as_mut().zip(bbox.as_ref()) {
        // So is an area, which then is that of the box.
        let missing = areas.iter_mut().zip(boxes);
        for (area, [_, _, width, height]) in missing.filter(|(area, _)| area.is_nan()) {
            *area = width * height;
        }
    }
    let sizes: Option<Vec<[u32; 2]>> = get("sizes")?.map(|sizes| sizes.extract()).transpose()?;
    let mut classes = Vec::new();
    if let Some(values) = get("classes")? {
        for class in values.try_iter()? {
            let (key, name) = class?.extract::<(Bound<'_, PyAny>, String)>()?;
            classes.push((read_key(&key)?, name));
        }
    }
    let found = ObjectColumns {
        images: match ids("images")? {
            IdColumn::Numbers(numbers) => numbers.into_iter().map(IdKey::Number).collect(),
            IdColumn::Keys(keys) => keys,
        },
        sizes,
        classes,
        image: ids("image")?,
        class: ids("class")?,
        bbox,
        segmentation: get("segmentation")?
            .map(|texts| texts.extract())
            .transpose()?,
        score,
        position: get("position")?
            .map(|positions| positions.extract::<PyArrayLike1<'_, u32, TypeMustMatch>>())
            .transpose()?
            .map(|positions| positions.as_array().to_vec()),
        area,
        crowd: flags("crowd")?,
        ignore: flags("ignore")?,
        id: get("id")?.map(|ids| read_integers(&ids)).transpose()?,
    };
    let objects = Objects::new(found).map_err(|error| {
        let column = argument(error.column);
        let values = if error.length == 1 { "value" } else { "values" };
        let problem = format!(
            "{name}: {column} has {} {values}: expected {}, one per {}",
            error.length, error.expected, error.of
        );
        refused(py, problem)
    })?;
    Ok(Document::objects(name, objects))
}

/// Reads ground truth and detections in the form of COCO's files, if they have all fields that files usually have;
/// otherwise `None`. Gives the same data as the way through JSON, and is much faster.
pub(crate) fn of_dicts(
    references: &Bound<'_, PyDict>,
    predictions: &Bound<'_, PyList>,
) -> Option<[Document; 2]> {
    let py = references.py();
    let list = |name| -> Option<Bound<'_, PyList>> { get(references, name)?.cast_into().ok() };
    let mut truth = ObjectColumns::default();
    for image in list(intern!(py, "images"))?.iter() {
        let image = image.cast().ok()?;
        truth.images.push(id_of(image, intern!(py, "id"))?.into());
        // Columns have no fields of LVIS.
        get(image, intern!(py, "neg_category_ids"))
            .is_none()
            .then_some(())?;
        get(image, intern!(py, "not_exhaustive_category_ids"))
            .is_none()
            .then_some(())?;
    }
    for category in list(intern!(py, "categories"))?.iter() {
        let category = category.cast().ok()?;
        get(category, intern!(py, "frequency"))
            .is_none()
            .then_some(())?;
        let name: String = get(category, intern!(py, "name"))?.extract().ok()?;
        truth
            .classes
            .push((id_of(category, intern!(py, "id"))?.into(), name));
    }
    let (mut areas, mut crowds, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    let annotations = list(intern!(py, "annotations"))?;
    read_boxes(&annotations, &mut truth, |one| {
        areas.push(number(&get(one, intern!(py, "area"))?)?);
        crowds.push(
            integer(&get(one, intern!(py, "iscrowd"))?).filter(|it| matches!(it, 0 | 1))? == 1,
        );
        ids.push(integer(&get(one, intern!(py, "id"))?)?);
        get(one, intern!(py, "ignore")).is_none().then_some(())
    })?;
    truth.area = Some(areas);
    truth.crowd = Some(crowds);
    truth.id = Some(ids);
    let mut found = ObjectColumns::default();
    let mut scores = Vec::new();
    read_boxes(predictions, &mut found, |one| {
        scores.push(number(&get(one, intern!(py, "score"))?)?);
        Some(())
    })?;
    found.score = Some(scores);
    let document = |name, columns| Some(Document::objects(name, Objects::new(columns).ok()?));
    Some([
        document("references", truth)?,
        document("predictions", found)?,
    ])
}

/// Reads image, class and box of each dict; `more` reads the rest.
fn read_boxes(
    objects: &Bound<'_, PyList>,
    columns: &mut ObjectColumns,
    mut more: impl FnMut(&Bound<'_, PyDict>) -> Option<()>,
) -> Option<()> {
    let py = objects.py();
    let mut boxes = Vec::with_capacity(objects.len());
    let (mut images, mut classes) = (
        Vec::with_capacity(objects.len()),
        Vec::with_capacity(objects.len()),
    );
    for one in objects.iter() {
        let one = one.cast::<PyDict>().ok()?;
        images.push(id_of(one, intern!(py, "image_id"))?);
        classes.push(id_of(one, intern!(py, "category_id"))?);
        let bbox = get(one, intern!(py, "bbox"))?;
        let bbox = bbox.cast::<PyList>().ok().filter(|bbox| bbox.len() == 4)?;
        let mut sides = [0.0; 4];
        for (side, value) in sides.iter_mut().zip(bbox.iter()) {
            *side = number(&value)?;
        }
        boxes.push(sides);
        more(one)?;
    }
    columns.image = images.into();
    columns.class = classes.into();
    columns.bbox = Some(boxes);
    Some(())
}

fn get<'py>(dict: &Bound<'py, PyDict>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    dict.get_item(name).ok()?
}

/// A finite number of Python, which is not an array of one number.
fn number(value: &Bound<'_, PyAny>) -> Option<f64> {
    let number = match value.cast::<PyFloat>() {
        Ok(number) => number.value(),
        Err(_) => integer(value)? as f64,
    };
    number.is_finite().then_some(number)
}

/// An integer of Python that a number of 64 bits holds exactly.
fn integer(value: &Bound<'_, PyAny>) -> Option<i64> {
    let is_integer = value.cast::<PyInt>().is_ok() && value.cast::<PyBool>().is_err();
    let integer = is_integer.then(|| value.extract::<i64>().ok())?;
    integer.filter(|integer| integer.unsigned_abs() < 1 << 53)
}

fn id_of(dict: &Bound<'_, PyDict>, name: &Bound<'_, PyString>) -> Option<i64> {
    integer(&get(dict, name)?)
}

fn read_integers(values: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match values.extract::<PyArrayLike1<'_, i64, TypeMustMatch>>() {
        Ok(array) => Ok(array.as_array().to_vec()),
        Err(_) => values.extract(),
    }
}

fn read_ids(values: &Bound<'_, PyAny>) -> PyResult<IdColumn> {
    if let Ok(integers) = read_integers(values) {
        return Ok(IdColumn::Numbers(integers));
    }
    let keys = values.try_iter()?.map(|key| read_key(&key?));
    keys.collect::<PyResult<_>>().map(IdColumn::Keys)
}

fn read_key(value: &Bound<'_, PyAny>) -> PyResult<IdKey<'static>> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(IdKey::from(std::borrow::Cow::<str>::Owned(
            text.to_str()?.to_owned(),
        ))),
        Err(_) => Ok(IdKey::Number(value.extract()?)),
    }
}
