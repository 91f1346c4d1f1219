//! `predictions.json`, which Ultralytics writes of a data set of pictures.

use std::borrow::Cow;
use std::collections::HashMap;

use metric_record::{Message, json};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::line::{Outline, Row};
use super::pictures::Picture;
use crate::read::{File, ReadError};
use crate::{Class, Mask};

/// A result, as far as it is read.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    image_id: Option<&'a RawValue>,
    #[serde(borrow)]
    file_name: Option<Cow<'a, str>>,
    category_id: i64,
    score: f64,
    bbox: Option<[f64; 4]>,
    poly: Option<Vec<f64>>,
    keypoints: Option<Vec<f64>>,
    segmentation: Option<Segmentation<'a>>,
}

#[derive(Deserialize)]
struct Segmentation<'a> {
    size: [u32; 2],
    #[serde(borrow)]
    counts: Cow<'a, str>,
}

/// A prediction of a picture, by its index.
pub(super) struct Found {
    pub(super) picture: Option<usize>,
    pub(super) row: Row,
}

/// The numbers of classes of COCO, which 80 names do not have.
const COCO_NAMES: usize = 80;

/// Reads results of pictures. The classes count from 0 or 1, as is given or as the ids tell.
pub(super) fn read_results(
    file: File<'_>,
    pictures: &Pictures<'_>,
    names: Option<&[Class]>,
    first: Option<u32>,
    ignore_extra: bool,
) -> Result<Vec<Found>, ReadError> {
    let refused = |problem: String| ReadError::new(file.name, problem);
    let raw: Vec<&RawValue> = json::typed(file.content()).map_err(refused)?;
    let mut results = Vec::with_capacity(raw.len());
    for (index, raw) in raw.iter().enumerate() {
        let fields: Fields<'_> =
            json::typed(raw.get()).map_err(|problem| refused(problem).at(format!("[{index}]")))?;
        results.push(fields);
    }
    let first = first_category(&results, names, first)
        .map_err(|problem| ReadError::new(file.name, problem).field("category_id"))?;
    let mut read = Vec::with_capacity(results.len());
    for (index, fields) in results.into_iter().enumerate() {
        let refused =
            |field: &str, problem: String| refused(problem).at(format!("[{index}]")).field(field);
        let picture = pictures
            .of_result(&fields)
            .map_err(|problem| refused("image_id", problem))?;
        if picture.is_none() && !ignore_extra {
            let found = fields
                .file_name
                .as_deref()
                .or(fields.image_id.map(RawValue::get));
            let found = found.unwrap_or("nothing");
            let problem = format!("found {found}, expected the name of a picture of the data set");
            return Err(refused("image_id", problem));
        }
        let row = row(&fields, first).map_err(|(field, problem)| refused(field, problem))?;
        read.push(Found { picture, row });
    }
    Ok(read)
}

/// The class that the ids of classes count from.
fn first_category(
    results: &[Fields<'_>],
    names: Option<&[Class]>,
    given: Option<u32>,
) -> Result<i64, Message> {
    let ids = || results.iter().map(|result| result.category_id);
    let most = ids().max().unwrap_or(0);
    let count = names.map(|names| names.len() as i64);
    if names.is_some_and(|names| names.len() == COCO_NAMES) && most > COCO_NAMES as i64 {
        let problem = format!(
            "found {most}, expected at most {COCO_NAMES}: these are the ids of COCO's 91 categories, which are written for val2017"
        );
        return Err(problem.into());
    }
    let option = |first: &str| Message::default().option("first-category", first);
    let has_zero = ids().any(|id| id == 0);
    let has_last = count.is_some_and(|count| ids().any(|id| id == count));
    match (given, has_zero, has_last) {
        (Some(first), ..) => Ok(first.into()),
        (None, true, false) => Ok(0),
        (None, false, true) => Ok(1),
        (None, true, true) => Err(Message::from("found 0 and the number of classes: expected ids that count from one of 0 and 1, or ")
            .message(&option(""))),
        (None, false, false) if results.is_empty() => Ok(1),
        (None, false, false) => Err(Message::from("the ids do not tell whether they count from 0, as those written before 8.3.49 do, or from 1: expected ")
            .message(&option("0"))
            .text(" or ")
            .message(&option("1"))),
    }
}

/// The class and the object of a result, in pixels.
fn row(fields: &Fields<'_>, first: i64) -> Result<Row, (&'static str, String)> {
    let id = fields.category_id;
    let class = id
        .checked_sub(first)
        .and_then(|class| u32::try_from(class).ok());
    let class = class.ok_or_else(|| {
        let problem = format!("found {id}, expected at least {first}");
        ("category_id", problem)
    })?;
    if !fields.score.is_finite() {
        return Err(("score", "expected a finite number".to_owned()));
    }
    let of_box = fields
        .bbox
        .map(|[x, y, width, height]| [x + width / 2.0, y + height / 2.0, width, height]);
    let outline = match (
        &fields.poly,
        &fields.keypoints,
        &fields.segmentation,
        of_box,
    ) {
        (Some(poly), ..) => {
            let (points, rest) = poly.as_chunks::<2>();
            if points.len() != 4 || !rest.is_empty() {
                return Err(("poly", format!("found {} numbers, expected 8", poly.len())));
            }
            Outline::Points(points.to_vec())
        }
        (_, Some(numbers), _, Some(of_box)) => {
            let (points, rest) = numbers.as_chunks::<3>();
            if !rest.is_empty() {
                let problem = format!(
                    "found {} numbers, expected three for each point",
                    numbers.len()
                );
                return Err(("keypoints", problem));
            }
            Outline::Pose(of_box, points.to_vec())
        }
        (
            _,
            _,
            Some(Segmentation {
                size: [height, width],
                counts,
            }),
            of_box,
        ) => {
            let mask = Mask::from_compressed(*height, *width, counts);
            Outline::Mask(
                of_box,
                mask.map_err(|error| ("segmentation", error.to_string()))?,
            )
        }
        (_, _, _, Some(of_box)) => Outline::Box(of_box),
        _ => {
            return Err((
                "bbox",
                "missing: expected x, y, width and height".to_owned(),
            ));
        }
    };
    Ok(Row {
        class,
        outline,
        confidence: fields.score,
    })
}

/// Pictures by the names that predictions have for them.
pub(super) struct Pictures<'p> {
    all: &'p [Picture],
    ids: HashMap<&'p str, usize>,
    stems: HashMap<&'p str, Vec<usize>>,
    /// By the digits of names that are numbers, without zeros before them.
    numbers: HashMap<&'p str, Vec<usize>>,
}

/// The digits of a number without zeros before them.
fn digits(text: &str) -> Option<&str> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.trim_start_matches('0'))
}

impl<'p> Pictures<'p> {
    pub(super) fn new(all: &'p [Picture]) -> Self {
        let mut stems: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut numbers: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, picture) in all.iter().enumerate() {
            stems.entry(&picture.stem).or_default().push(index);
            if let Some(digits) = digits(&picture.stem) {
                numbers.entry(digits).or_default().push(index);
            }
        }
        let ids = all.iter().enumerate();
        Self {
            all,
            ids: ids.map(|(index, picture)| (&*picture.id, index)).collect(),
            stems,
            numbers,
        }
    }

    /// The picture of this id, or the only one of this name; an error if several pictures have the name.
    pub(super) fn named(&self, name: &str) -> Result<Option<usize>, String> {
        match self.ids.get(name) {
            Some(index) => Ok(Some(*index)),
            None => self.only(self.stems.get(name)),
        }
    }

    /// The only picture of a list.
    fn only(&self, found: Option<&Vec<usize>>) -> Result<Option<usize>, String> {
        match found.map(Vec::as_slice) {
            None | Some([]) => Ok(None),
            Some([index]) => Ok(Some(*index)),
            Some(several) => {
                let names = several.iter().map(|index| self.all[*index].name());
                let names: Vec<String> = names.collect();
                Err(format!(
                    "stands for several pictures: {}; expected a name with the folder, such as {:?}",
                    names.join(", "),
                    self.all[several[0]].id
                ))
            }
        }
    }

    /// The picture of a result: by the name of its file, or by its id, which is a number where the name is.
    fn of_result(&self, fields: &Fields<'_>) -> Result<Option<usize>, String> {
        if let Some(name) = fields.file_name.as_deref() {
            let below = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            if let Some(index) = self.ids.get(&*below.replace(['/', '\\'], "_")) {
                return Ok(Some(*index));
            }
            let stem = below.rsplit(['/', '\\']).next().unwrap_or(below);
            if let Some(index) = self.named(stem)? {
                return Ok(Some(index));
            }
        }
        let raw = fields.image_id.map(RawValue::get).unwrap_or_default();
        let text = json::string(raw);
        let id = text.as_deref().unwrap_or(raw.trim());
        if let Some(index) = self.named(id)? {
            return Ok(Some(index));
        }
        // The number of 0001.jpg is 1.
        self.only(digits(id).and_then(|digits| self.numbers.get(digits)))
    }
}
