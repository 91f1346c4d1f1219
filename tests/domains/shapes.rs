//! Rotated boxes and polygons against rational arithmetic, masks against pycocotools 2.0.11.

use metric_vision::{BBox, InvalidPolygon, Mask, Polygon, RotatedBox, Shape};
use serde_json::Value;

use crate::rows::{check, id, rows, same, within, within_scaled};

/// Numbers, where the rows write those that JSON has no form for as text.
fn numbers<const N: usize>(value: &Value) -> Result<[f64; N], String> {
    let numbers: Vec<f64> = value
        .as_array()
        .ok_or("numbers")?
        .iter()
        .map(|value| value.as_f64().unwrap_or(f64::NAN))
        .collect();
    numbers
        .try_into()
        .map_err(|n: Vec<f64>| format!("{} numbers", n.len()))
}

fn near(what: &str, ours: f64, exact: &Value) -> Result<(), String> {
    let exact = exact.as_f64().ok_or("an exact value")?;
    if within(ours, exact, 1e-14) && (0.0..=1.0).contains(&ours) {
        Ok(())
    } else {
        Err(format!("{what}: ours {ours}, exact {exact}"))
    }
}

/// IoU both ways, and the share of each in the other.
fn both_ways<S: Shape>(a: &S, b: &S, row: &Value) -> Result<(), String> {
    near("iou", a.iou(b), &row["exact"])?;
    same("iou, turned", b.iou(a).to_bits(), a.iou(b).to_bits())?;
    let areas = ["inter", "area_a", "area_b"].map(|field| row[field].as_f64());
    if let [Some(inter), Some(area), Some(other)] = areas
        && area > 0.0
    {
        // The share of a sliver is as exact as the areas of both allow.
        let scale = (1.0 + other / area, "(1 + ratio of areas)");
        let near = within_scaled(a.iou_crowd(b), inter / area, 1e-14, scale);
        same("share", near, true)?;
    }
    Ok(())
}

#[test]
fn iou_of_rotated_boxes() {
    check(&rows("vision/iou_rotated.jsonl"), id, &[], |row| {
        let read = |side: &str| {
            let [cx, cy, width, height, angle] = numbers(&row[side])?;
            RotatedBox::new([cx, cy, width, height], angle).map_err(|error| error.to_string())
        };
        let (a, b) = (read("a"), read("b"));
        if row["status"] == "non_finite" {
            return same("refused", a.is_err(), true);
        }
        let (a, b) = (a?, b?);
        both_ways(&a, &b, row)?;
        both_ways(&Polygon::from(a), &Polygon::from(b), row)
    });
}

#[test]
fn iou_of_polygons() {
    check(&rows("vision/iou_polygon.jsonl"), id, &[], |row| {
        let read = |side: &str, new: fn(Vec<[f64; 2]>) -> Result<Polygon, InvalidPolygon>| {
            let points = row[side].as_array().ok_or("points")?.iter().map(numbers);
            let ring: Vec<[f64; 2]> = points.collect::<Result<_, String>>()?;
            new(ring).map_err(|error| error.to_string())
        };
        let even_odd = (read("a", Polygon::even_odd)?, read("b", Polygon::even_odd)?);
        let simple = read("a", Polygon::new).and_then(|a| Ok((a, read("b", Polygon::new)?)));
        if row["valid"] == false {
            same("refused", simple.is_err(), true)?;
            return near(
                "even-odd",
                even_odd.0.iou(&even_odd.1),
                &row["shapely_make_valid"],
            );
        }
        let (a, b) = simple?;
        both_ways(&a, &b, row)?;
        both_ways(&even_odd.0, &even_odd.1, row)
    });
}

#[test]
fn masks() {
    check(&rows("vision/masks.jsonl"), id, &[], |row| {
        let read = |side: &str| {
            let row = &row[side];
            let [height, width] = numbers(&row["size"])?.map(|size| size as u32);
            let mask = if let Ok(polygons) =
                serde_json::from_value::<Vec<_>>(row["polygons"].clone())
            {
                Mask::from_polygons(height, width, &polygons)
            } else if let Ok(counts) = serde_json::from_value::<Vec<_>>(row["counts"].clone()) {
                Mask::from_counts(height, width, &counts)
            } else {
                let [x, y, w, h] = numbers(&row["bbox"])?;
                let bbox = BBox::from_signed_xywh(x, y, w, h).map_err(|error| error.to_string())?;
                Mask::from_bbox(height, width, &bbox)
            };
            let mask = mask.map_err(|error| error.to_string())?;
            let text = row["text"].as_str().ok_or("text")?;
            same("text", mask.to_compressed().as_str(), text)?;
            let back = Mask::from_compressed(height, width, text);
            same("text, read", back.as_ref(), Ok(&mask))?;
            same("area", Some(mask.area()), row["area"].as_f64())?;
            same("box", mask.bbox().map(f64::from), numbers(&row["box"])?)?;
            Ok::<_, String>(mask)
        };
        let (a, b) = (read("a")?, read("b")?);
        for (what, ours) in [("iou", a.iou(&b)), ("iou_crowd", a.iou_crowd(&b))] {
            let expected = row[what].as_f64().map(f64::to_bits);
            same(what, Some(ours.to_bits()), expected)?;
        }
        Ok(())
    });
}
