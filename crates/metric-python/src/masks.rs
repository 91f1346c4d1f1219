//! Masks in run lengths, for `metric_suite.compat.pycocotools.mask`.

use metric_vision::{BBox, InvalidMask, Mask, Shape, iou, iou_crowd};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Height, width, and the compressed run lengths.
pub(crate) type Rle = (u32, u32, Vec<u8>);

/// The mask of run lengths. If the runs end before the image does, the rest of the image is outside, as in pycocotools.
pub(crate) fn read_mask(rle: &Rle) -> PyResult<Mask> {
    let (height, width, text) = rle;
    let text = str::from_utf8(text).map_err(invalid)?;
    let mask = match Mask::from_compressed(*height, *width, text) {
        Err(InvalidMask::Total { total, pixels }) if total < u64::from(pixels) => {
            // An image of one column that the runs fill.
            let column = Mask::from_compressed(total as u32, 1, text).map_err(invalid)?;
            let mut counts = column.counts().to_vec();
            let rest = pixels - total as u32;
            if counts.len().is_multiple_of(2) {
                counts.push(rest);
            } else if let Some(last) = counts.last_mut() {
                *last += rest;
            }
            Mask::from_counts(*height, *width, &counts)
        }
        mask => mask,
    };
    mask.map_err(|error| invalid(format!("invalid run lengths: {error}")))
}

fn read_masks(masks: &[Rle]) -> PyResult<Vec<Mask>> {
    masks.iter().map(read_mask).collect()
}

fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Compresses the pixels of images, one after the other, each in column-major order.
#[pyfunction]
pub(crate) fn mask_encode<'py>(
    py: Python<'py>,
    pixels: PyReadonlyArray1<'py, u8>,
    height: u32,
    width: u32,
    images: usize,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let pixels = pixels.as_slice()?;
    let size = height as usize * width as usize;
    let encode = |image: usize| {
        if size == 0 {
            // A mask without pixels has one run, of length 0, as in pycocotools.
            return Ok(PyBytes::new(py, b"0"));
        }
        let pixels = pixels
            .get(image * size..(image + 1) * size)
            .unwrap_or_default();
        let mut counts = Vec::new();
        let (mut inside, mut run) = (false, 0);
        for &pixel in pixels {
            if (pixel != 0) != inside {
                counts.push(run);
                (inside, run) = (!inside, 0);
            }
            run += 1;
        }
        counts.push(run);
        let mask = Mask::from_counts(height, width, &counts).map_err(invalid)?;
        Ok(PyBytes::new(py, mask.to_compressed().as_bytes()))
    };
    (0..images).map(encode).collect()
}

/// The pixels of masks, one after the other, each in column-major order. Runs must fill the image here, as in
/// pycocotools.
#[pyfunction]
pub(crate) fn mask_decode<'py>(
    py: Python<'py>,
    masks: Vec<Rle>,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let mut pixels = Vec::new();
    for (height, width, text) in &masks {
        let text = str::from_utf8(text).map_err(invalid)?;
        let mask = Mask::from_compressed(*height, *width, text)
            .map_err(|error| invalid(format!("invalid run lengths: {error}")))?;
        // A few bytes may say that they are a mask of gigabytes.
        let size = (*height as usize).saturating_mul(*width as usize);
        pixels.try_reserve(size).map_err(|_| {
            PyMemoryError::new_err(format!(
                "a mask of {height} x {width} pixels does not fit in memory"
            ))
        })?;
        let mut inside = 0;
        for &run in mask.counts() {
            pixels.resize(pixels.len() + run as usize, inside);
            inside = 1 - inside;
        }
    }
    Ok(PyArray1::from_vec(py, pixels))
}

/// The numbers of pixels of masks.
#[pyfunction]
pub(crate) fn mask_area(masks: Vec<Rle>) -> PyResult<Vec<f64>> {
    Ok(read_masks(&masks)?.iter().map(Shape::area).collect())
}

/// Left, top, width and height of masks.
#[pyfunction]
pub(crate) fn mask_boxes(masks: Vec<Rle>) -> PyResult<Vec<[u32; 4]>> {
    Ok(read_masks(&masks)?.iter().map(Mask::bbox).collect())
}

/// The union or intersection of masks of one size.
#[pyfunction]
pub(crate) fn mask_merge<'py>(
    py: Python<'py>,
    masks: Vec<Rle>,
    intersect: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut masks = read_masks(&masks)?.into_iter();
    let mut merged = masks
        .next()
        .ok_or_else(|| invalid("no masks: expected at least one"))?;
    for mask in masks {
        let counts = combined(merged.counts(), mask.counts(), intersect);
        merged = Mask::from_counts(mask.height(), mask.width(), &counts).map_err(invalid)?;
    }
    Ok(PyBytes::new(py, merged.to_compressed().as_bytes()))
}

/// The run lengths of the union or intersection of two masks of one size.
fn combined(a: &[u32], b: &[u32], intersect: bool) -> Vec<u32> {
    let (mut runs_a, mut runs_b) = (a.iter().zip(0..), b.iter().zip(0..));
    let (mut rest_a, mut rest_b) = ((0_u32, 0_u32), (0_u32, 0_u32));
    let mut counts = Vec::new();
    let (mut inside, mut run) = (false, 0);
    loop {
        for (rest, runs) in [(&mut rest_a, &mut runs_a), (&mut rest_b, &mut runs_b)] {
            while rest.0 == 0 {
                let Some((&count, index)) = runs.next() else {
                    counts.push(run);
                    return counts;
                };
                *rest = (count, index);
            }
        }
        // Every second run is inside.
        let (in_a, in_b) = (rest_a.1 % 2 == 1, rest_b.1 % 2 == 1);
        let here = if intersect {
            in_a && in_b
        } else {
            in_a || in_b
        };
        if here != inside {
            counts.push(run);
            (inside, run) = (here, 0);
        }
        let length = u32::min(rest_a.0, rest_b.0);
        run += length;
        rest_a.0 -= length;
        rest_b.0 -= length;
    }
}

/// Intersection over union of each detection with each ground-truth mask, by rows; -1 for masks of different sizes.
#[pyfunction]
pub(crate) fn mask_iou<'py>(
    py: Python<'py>,
    detections: Vec<Rle>,
    truths: Vec<Rle>,
    crowd: Vec<bool>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (detections, truths) = (read_masks(&detections)?, read_masks(&truths)?);
    let size = |mask: &Mask| (mask.height(), mask.width());
    let meet = |a: &Mask, b: &Mask| {
        let ([l, t, r, d], [l2, t2, r2, d2]) = (a.bounds(), b.bounds());
        l < r2 && l2 < r && t < d2 && t2 < d
    };
    let ious = detections.iter().flat_map(|detection| {
        truths.iter().zip(&crowd).map(move |(truth, crowd)| {
            if size(detection) != size(truth) && meet(detection, truth) {
                return -1.0;
            }
            if *crowd {
                detection.iou_crowd(truth)
            } else {
                detection.iou(truth)
            }
        })
    });
    Ok(PyArray1::from_vec(py, ious.collect()))
}

/// The same of boxes: left, top, width and height.
#[pyfunction]
pub(crate) fn box_iou<'py>(
    py: Python<'py>,
    detections: PyReadonlyArray2<'py, f64>,
    truths: PyReadonlyArray2<'py, f64>,
    crowd: Vec<bool>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (detections, truths) = (read_boxes(&detections)?, read_boxes(&truths)?);
    let ious = detections.iter().flat_map(|detection| {
        truths.iter().zip(&crowd).map(move |(truth, crowd)| {
            if *crowd {
                iou_crowd(detection, truth)
            } else {
                iou(detection, truth)
            }
        })
    });
    Ok(PyArray1::from_vec(py, ious.collect()))
}

/// Boxes from rows of left, top, width and height.
pub(crate) fn read_boxes(rows: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<BBox>> {
    let rows = rows.as_slice()?.as_chunks::<4>().0;
    let boxes = rows
        .iter()
        .map(|&[x, y, width, height]| BBox::from_signed_xywh(x, y, width, height));
    boxes.collect::<Result<_, _>>().map_err(invalid)
}

/// Draws each polygon, a list of x and y in turn, as a mask of its own.
#[pyfunction]
pub(crate) fn mask_from_polygons<'py>(
    py: Python<'py>,
    polygons: Vec<Vec<f64>>,
    height: u32,
    width: u32,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let draw = |polygon| {
        let mask = Mask::from_polygons(height, width, &[polygon]).map_err(invalid)?;
        Ok(PyBytes::new(py, mask.to_compressed().as_bytes()))
    };
    polygons.into_iter().map(draw).collect()
}

/// Compresses run lengths as they are, whatever they add up to.
#[pyfunction]
pub(crate) fn compress_counts<'py>(py: Python<'py>, counts: Vec<u32>) -> Bound<'py, PyBytes> {
    let mut text = Vec::with_capacity(2 * counts.len());
    for (index, &count) in counts.iter().enumerate() {
        // The first three runs are written in full, the others as differences from the last but one.
        let before = if index > 2 { counts[index - 2] } else { 0 };
        let mut rest = i64::from(count) - i64::from(before);
        loop {
            let five = (rest & 0x1f) as u8;
            rest >>= 5;
            let is_last = rest == if five & 0x10 == 0 { 0 } else { -1 };
            text.push(48 + five + if is_last { 0 } else { 0x20 });
            if is_last {
                break;
            }
        }
    }
    PyBytes::new(py, &text)
}
