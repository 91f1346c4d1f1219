//! Boxes and masks of images as columns, which Python hands over as arrays.

use metric_run::record::{Document, IdKey, ObjectColumns, Objects};
use numpy::{PyArrayLike1, PyArrayLike2, TypeMustMatch};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::refused;

/// Reads one side of a data set. The keys are those of [`ObjectColumns`].
pub(crate) fn read(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Document> {
    let py = columns.py();
    let get = |column: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(columns.get_item(column)?.filter(|value| !value.is_none()))
    };
    let keys = |column: &str| -> PyResult<Vec<IdKey<'static>>> {
        match get(column)? {
            Some(values) => read_keys(&values),
            None => Ok(Vec::new()),
        }
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
        Ok(values.map(|values| values.iter().map(|value| *value != 0.0).collect()))
    };
    let bbox = match get("bbox")? {
        None => None,
        Some(values) => {
            let values = values.extract::<PyArrayLike2<'_, f64, numpy::AllowTypeChange>>()?;
            let rows = values.as_array();
            if rows.ncols() != 4 && !rows.is_empty() {
                let problem = format!("{name}: boxes have {} columns: expected 4", rows.ncols());
                return Err(refused(py, problem));
            }
            Some(
                rows.outer_iter()
                    .map(|row| [row[0], row[1], row[2], row[3]])
                    .collect(),
            )
        }
    };
    let sizes: Option<Vec<[u32; 2]>> = get("sizes")?.map(|sizes| sizes.extract()).transpose()?;
    let mut classes = Vec::new();
    if let Some(values) = get("classes")? {
        for class in values.try_iter()? {
            let (key, name) = class?.extract::<(Bound<'_, PyAny>, String)>()?;
            classes.push((read_key(&key)?, name));
        }
    }
    let found = ObjectColumns {
        images: keys("images")?,
        sizes,
        classes,
        image: keys("image")?,
        class: keys("class")?,
        bbox,
        segmentation: get("segmentation")?
            .map(|texts| texts.extract())
            .transpose()?,
        score: numbers("score")?,
        place: get("place")?
            .map(|places| places.extract::<PyArrayLike1<'_, u32, TypeMustMatch>>())
            .transpose()?
            .map(|places| places.as_array().to_vec()),
        area: numbers("area")?,
        crowd: flags("crowd")?,
        ignore: flags("ignore")?,
        id: get("id")?.map(|ids| read_integers(&ids)).transpose()?,
    };
    let objects = Objects::new(found).map_err(|error| refused(py, format!("{name}: {error}")))?;
    Ok(Document::objects(name, objects))
}

fn read_integers(values: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match values.extract::<PyArrayLike1<'_, i64, TypeMustMatch>>() {
        Ok(array) => Ok(array.as_array().to_vec()),
        Err(_) => values.extract(),
    }
}

fn read_keys(values: &Bound<'_, PyAny>) -> PyResult<Vec<IdKey<'static>>> {
    if let Ok(integers) = read_integers(values) {
        return Ok(integers.into_iter().map(IdKey::Number).collect());
    }
    let keys = values.try_iter()?;
    keys.map(|key| read_key(&key?)).collect()
}

fn read_key(value: &Bound<'_, PyAny>) -> PyResult<IdKey<'static>> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(IdKey::from(std::borrow::Cow::<str>::Owned(
            text.to_str()?.to_owned(),
        ))),
        Err(_) => Ok(IdKey::Number(value.extract()?)),
    }
}
