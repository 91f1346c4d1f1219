//! COCO's panoptic files: JSON that lists segments, with the ids of pixels in PNG files of a folder or as run lengths.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use metric_record::json::{self, Raw};
use metric_record::{
    Content, Document, File, IdKey, Kind, Message, Picture, Pixels as Given, ReadError,
};
use serde::Deserialize;

use super::ids::{GridIds, IdMap, IdRows, PngIds, Size};
use super::run_lengths::RunLengths;
use super::{FileOddities, MapOptions, OpenedFile};
use crate::{
    Boundaries, Matching, MatchingRules, Overlaps, PanopticError, Segment, SegmentIou, TooManyIds,
    boundary_distance, match_segments,
};

/// Returns whether a text is one of COCO's panoptic files rather than records: an object with the field `annotations`.
///
/// ```
/// use metric_segmentation::read::is_panoptic;
///
/// assert!(is_panoptic(r#"{"annotations": [], "categories": []}"#));
/// assert!(!is_panoptic(r#"{"id": 1, "reference": {"ids": [[0]], "segments_info": []}}"#));
/// ```
#[must_use]
pub fn is_panoptic(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Whole<'a> {
        #[serde(borrow)]
        annotations: Option<Raw<'a>>,
    }
    // A start of a file is not JSON, so its fields are looked for.
    match json::typed::<Whole<'_>>(text) {
        Ok(whole) => whole.annotations.is_some(),
        Err(_) => {
            json::kind(text) == Kind::Object
                && !json::is_json_lines(text)
                && text.contains("\"segments_info\"")
                && text.contains("\"annotations\"")
        }
    }
}

/// A category of segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentCategory {
    /// Its id.
    pub id: i64,
    /// Its name; empty where it has none.
    pub name: String,
    /// Whether its segments are things, which can be counted, rather than stuff; `None` where that is not said.
    pub is_thing: Option<bool>,
}

/// One side of a data set: the segments of its images.
#[derive(Clone, Debug)]
pub struct PanopticFile<'a> {
    name: &'a str,
    /// The categories that the file lists; `None` without a list.
    pub categories: Option<Vec<SegmentCategory>>,
    /// The images, in the order of the file.
    pub images: Vec<PanopticImage<'a>>,
    /// The width and the height of images that are listed with them.
    sizes: HashMap<IdKey<'a>, Size>,
    folder: Option<PathBuf>,
}

/// The segments of an image.
#[derive(Clone, Debug)]
pub struct PanopticImage<'a> {
    /// The id of the image.
    pub id: IdKey<'a>,
    /// Its segments, in the order of the file.
    pub segments: Vec<Segment>,
    /// The number of segments without `iscrowd`.
    pub without_crowd: u64,
    /// The number of segments without `area`.
    pub without_area: u64,
    /// The categories that segments name by themselves, as records do.
    pub categories: Vec<SegmentCategory>,
    pixels: Pixels<'a>,
    /// The size that a record states.
    size: Option<Size>,
}

/// The place of the ids of pixels.
#[derive(Clone, Debug)]
enum Pixels<'a> {
    /// A PNG file of the folder.
    File(String),
    /// Run lengths, one for each segment.
    Runs(Vec<Raw<'a>>),
    /// A list of rows.
    Rows(Raw<'a>),
    /// The path of a PNG file, from somebody who is trusted.
    Path(String),
    /// A picture in memory.
    Picture(&'a dyn Picture),
}

#[derive(Deserialize)]
struct WholeFields<'a> {
    #[serde(borrow)]
    annotations: Vec<Raw<'a>>,
    #[serde(borrow)]
    categories: Option<Vec<Raw<'a>>>,
    #[serde(borrow)]
    images: Option<Vec<Raw<'a>>>,
}

#[derive(Deserialize)]
struct ImageFields<'a> {
    image_id: Option<Raw<'a>>,
    file_name: Option<String>,
    #[serde(borrow)]
    ids: Option<Raw<'a>>,
    width: Option<u32>,
    height: Option<u32>,
    #[serde(borrow)]
    segments_info: Vec<Raw<'a>>,
}

#[derive(Deserialize)]
struct SegmentFields<'a> {
    id: u32,
    category_id: i64,
    area: Option<f64>,
    #[serde(borrow)]
    iscrowd: Option<Raw<'a>>,
    #[serde(borrow)]
    isthing: Option<Raw<'a>>,
    category_name: Option<String>,
    #[serde(borrow)]
    segmentation: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct CategoryFields<'a> {
    id: i64,
    name: Option<String>,
    #[serde(borrow)]
    isthing: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct SizeFields<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    width: Option<u32>,
    height: Option<u32>,
}

/// A problem, and where in the value it is.
struct Located {
    at: String,
    problem: String,
}

impl Located {
    fn new(at: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            at: at.into(),
            problem: problem.into(),
        }
    }

    fn error(self, file: &str) -> ReadError {
        ReadError::new(file, self.problem).at(self.at)
    }
}

impl<'a> PanopticFile<'a> {
    /// Reads a file, whose PNG files are in `folder`, or else in the folder with the name of the file without `.json`.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not one of COCO's panoptic files.
    pub fn read(document: &'a Document, folder: Option<&Document>) -> Result<Self, ReadError> {
        let File { name, text } = document.file()?;
        let file = File { name, text };
        let kind = json::kind(file.content());
        if !matches!(kind, Kind::Object | Kind::Invalid) {
            let problem = format!("found {kind}, expected an object with the field `annotations`");
            return Err(ReadError::new(name, problem));
        }
        let whole: WholeFields<'a> = serde_json::from_str(file.content()).map_err(|error| {
            let problem = json::located(file.content(), &error);
            ReadError::new(name, json::in_words(&problem))
        })?;
        let images = located_list(&whole.annotations, "annotations", |raw| {
            PanopticImage::parse(raw)
        });
        let categories = whole.categories.as_ref();
        let categories = categories.map(|list| located_list(list, "categories", category));
        let sizes = whole.images.unwrap_or_default();
        let sizes = located_list(&sizes, "images", image_size);
        let located = |error: Located| error.error(name);
        Ok(Self {
            name,
            images: images.map_err(located)?,
            categories: categories.transpose().map_err(located)?,
            sizes: sizes.map_err(located)?.into_iter().flatten().collect(),
            folder: folder_of(document, folder)?,
        })
    }

    /// Returns an error about an image of the file.
    #[must_use]
    pub fn error(&self, image: &PanopticImage<'_>, problem: impl Into<Message>) -> ReadError {
        ReadError::new(self.name, problem).at(format!("image {}", image.id))
    }

    /// Returns an error about the file.
    #[must_use]
    pub fn error_of_file(&self, problem: impl Into<Message>) -> ReadError {
        ReadError::new(self.name, problem)
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Opens the ids of an image's pixels, row by row. Returns `None` for an image of unknown size without segments.
    fn rows<'i>(
        &self,
        image: &PanopticImage<'i>,
        options: MapOptions,
    ) -> Result<Option<IdRows<'i>>, ReadError> {
        if let Pixels::File(name) = &image.pixels {
            let path = self.path(image, name)?;
            let rows = opened(&path, options);
            return rows
                .map(Some)
                .map_err(|error| error.at(format!("image {}", image.id)));
        }
        let size = self.sizes.get(&image.id).copied();
        image
            .map(size, options)
            .map_err(|problem| self.error(image, problem))
    }

    /// The path of a PNG file, which is inside the folder.
    fn path(&self, image: &PanopticImage<'_>, name: &str) -> Result<PathBuf, ReadError> {
        let Some(folder) = &self.folder else {
            return Err(self.error(
                image,
                "has no file of its own: the folder of the PNG files is not known",
            ));
        };
        let relative = Path::new(name);
        let is_inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || name.contains('\\') || name.is_empty() {
            let problem = format!(
                "file_name {name:?} is not inside the folder: expected a relative path without \"..\""
            );
            return Err(self.error(image, problem));
        }
        let path = folder.join(relative);
        let failed = |path: &Path, error: std::io::Error| {
            let file = path.display().to_string();
            ReadError::new(file, format!("cannot be opened: {error}"))
                .at(format!("image {}", image.id))
        };
        // A link may lead out of the folder.
        let real = path.canonicalize().map_err(|error| failed(&path, error))?;
        let root = folder
            .canonicalize()
            .map_err(|error| failed(folder, error))?;
        if !real.starts_with(root) {
            let file = path.display().to_string();
            let error = ReadError::new(file, "is a link out of its folder: expected a file in it");
            return Err(error.at(format!("image {}", image.id)));
        }
        Ok(path)
    }

    /// The name of what has the pixels of an image, for messages.
    fn pixels_name(&self, image: &PanopticImage<'_>) -> String {
        match (&image.pixels, &self.folder) {
            (Pixels::File(name), Some(folder)) => folder.join(name).display().to_string(),
            _ => self.name.to_owned(),
        }
    }
}

/// Opens the PNG file of an image.
fn opened(path: &Path, options: MapOptions) -> Result<IdRows<'static>, ReadError> {
    let file = OpenedFile::open(path)?;
    let rows = PngIds::new(&path.display().to_string(), file, options)?;
    Ok(IdRows::Png(Box::new(rows)))
}

/// The folder of the PNG files of a document.
fn folder_of(document: &Document, folder: Option<&Document>) -> Result<Option<PathBuf>, ReadError> {
    match folder.map(|given| &given.content) {
        Some(Content::Folder(folder)) => Ok(Some(folder.path.clone())),
        Some(_) => {
            let name = folder.map_or("", |given| &given.name);
            Err(ReadError::new(
                name,
                "is a file: expected a folder of PNG files",
            ))
        }
        None => {
            let stem = document.name.strip_suffix(".gz").unwrap_or(&document.name);
            Ok(stem.strip_suffix(".json").map(PathBuf::from))
        }
    }
}

fn located_list<'a, T>(
    list: &[Raw<'a>],
    field: &str,
    read: impl Fn(&'a str) -> Result<T, Located>,
) -> Result<Vec<T>, Located> {
    let read = list.iter().enumerate().map(|(index, raw)| {
        read(raw.0).map_err(|Located { at, problem }| {
            let separator = if at.is_empty() { "" } else { ": " };
            Located::new(format!("{field}[{index}]{separator}{at}"), problem)
        })
    });
    read.collect()
}

fn plain<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Located> {
    json::typed(json).map_err(|problem| Located::new("", problem))
}

/// Reads an object. A list would be the values of its fields in order.
fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Located> {
    match json::kind(json) {
        Kind::Object => plain(json),
        found => {
            let problem = format!("found {found}, expected an object");
            Err(Located::new("", problem))
        }
    }
}

fn category(json: &str) -> Result<SegmentCategory, Located> {
    let fields: CategoryFields<'_> = object(json)?;
    Ok(SegmentCategory {
        id: fields.id,
        name: fields.name.unwrap_or_default(),
        is_thing: flag("isthing", fields.isthing)?,
    })
}

fn image_size(json: &str) -> Result<Option<(IdKey<'_>, Size)>, Located> {
    let fields: SizeFields<'_> = object(json)?;
    let id = image_id(fields.id.0)?;
    let size = fields.width.zip(fields.height);
    Ok(size.map(|(width, height)| (id, Size { width, height })))
}

fn image_id(json: &str) -> Result<IdKey<'_>, Located> {
    plain(json)
}

/// A field that is 0 or 1, or true or false.
fn flag(field: &str, raw: Option<Raw<'_>>) -> Result<Option<bool>, Located> {
    match raw.map(|raw| raw.0) {
        None | Some("null") => Ok(None),
        Some("0" | "0.0" | "false") => Ok(Some(false)),
        Some("1" | "1.0" | "true") => Ok(Some(true)),
        Some(other) => {
            let found: String = other.chars().take(20).collect();
            Err(Located::new(
                field,
                format!("found {found}, expected 0 or 1"),
            ))
        }
    }
}

/// A problem as one text.
fn in_words(Located { at, problem }: Located) -> String {
    match &*at {
        "" => problem,
        _ => format!("{at}: {problem}"),
    }
}

impl<'a> PanopticImage<'a> {
    /// Parses an image of a file.
    fn parse(json: &'a str) -> Result<Self, Located> {
        let fields: ImageFields<'a> = object(json)?;
        let Some(id) = fields.image_id else {
            return Err(Located::new("", "no field `image_id`"));
        };
        let id = image_id(id.0)?;
        Self::of_fields(id, fields)
    }

    /// Parses a side of a record: an object with `segments_info`, and with `ids` as a list of rows or run lengths in each
    /// segment. If `opens_files`, `ids` may be the path of a PNG file anywhere, and so may `file_name`: for records of somebody who
    /// is trusted.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with it.
    pub fn parse_record(id: IdKey<'a>, json: &'a str, opens_files: bool) -> Result<Self, String> {
        let mut fields: ImageFields<'a> = object(json).map_err(in_words)?;
        let mut path = None;
        if opens_files {
            path = match fields.ids.as_ref().map(|ids| ids.0) {
                Some(ids) if json::kind(ids) == Kind::String => Some(json::string(ids)?.into()),
                Some(_) => None,
                None => fields.file_name.take(),
            };
        } else if fields.ids.is_none() && fields.file_name.is_some() {
            return Err(
                "no field `ids`: records have the ids of pixels as a list of rows".to_owned(),
            );
        }
        let Some(path) = path else {
            return Self::of_fields(id, fields).map_err(in_words);
        };
        Self::with_pixels(id, fields, Pixels::Path(path))
    }

    /// Returns the image of a side of a record whose `ids` are a picture.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with its other fields.
    pub fn of_picture(id: IdKey<'a>, picture: &'a dyn Picture) -> Result<Self, String> {
        let Some(("ids", fields)) = picture.fields() else {
            return Err(
                "found a picture: expected an object with `ids` and `segments_info`".to_owned(),
            );
        };
        let fields = object(fields).map_err(in_words)?;
        Self::with_pixels(id, fields, Pixels::Picture(picture))
    }

    /// Returns the image of these fields, whose pixels are elsewhere.
    fn with_pixels(
        id: IdKey<'a>,
        mut fields: ImageFields<'a>,
        pixels: Pixels<'a>,
    ) -> Result<Self, String> {
        fields.ids = Some(Raw("[]"));
        let image = Self::of_fields(id, fields).map_err(in_words)?;
        Ok(Self { pixels, ..image })
    }

    /// Returns the ids in memory, for an image of this size if it is known; `None` for an image of unknown size without
    /// segments.
    fn map(&self, size: Option<Size>, options: MapOptions) -> Result<Option<IdRows<'a>>, Message> {
        let map = match &self.pixels {
            Pixels::Picture(picture) => {
                return match picture.pixels() {
                    Given::Grid(grid) => Ok(Some(IdRows::Grid(GridIds::new(grid, options)?))),
                    Given::File(bytes) => {
                        let rows = PngIds::new("ids", bytes.into(), options);
                        let rows = rows.map_err(|error| error.message())?;
                        Ok(Some(IdRows::Png(Box::new(rows))))
                    }
                };
            }
            Pixels::Path(path) => {
                let rows = opened(Path::new(path), options);
                return rows.map(Some).map_err(|error| error.message());
            }
            Pixels::Rows(rows) => Some(IdMap::parse(rows.0, options)?),
            Pixels::Runs(runs) => map_of_runs(&self.segments, runs, size, options)?,
            Pixels::File(_) => return Err("expected `ids`, a list of rows".into()),
        };
        Ok(map.map(IdRows::Map))
    }

    fn of_fields(id: IdKey<'a>, fields: ImageFields<'a>) -> Result<Self, Located> {
        let mut image = Self {
            id,
            segments: Vec::with_capacity(fields.segments_info.len()),
            without_crowd: 0,
            without_area: 0,
            categories: Vec::new(),
            pixels: Pixels::Runs(Vec::new()),
            size: (fields.width.zip(fields.height)).map(|(width, height)| Size { width, height }),
        };
        let mut runs = Vec::new();
        let infos = located_list(&fields.segments_info, "segments_info", |raw| {
            let info: SegmentFields<'a> = object(raw)?;
            let crowd = flag("iscrowd", info.iscrowd)?;
            let is_thing = flag("isthing", info.isthing)?;
            Ok((info, crowd, is_thing))
        })?;
        for (info, crowd, is_thing) in infos {
            image.without_crowd += u64::from(crowd.is_none());
            image.without_area += u64::from(info.area.is_none());
            runs.extend(info.segmentation);
            image.categories.push(SegmentCategory {
                id: info.category_id,
                name: info.category_name.unwrap_or_default(),
                is_thing,
            });
            image.segments.push(Segment {
                id: info.id,
                category: info.category_id,
                area: info.area,
                is_crowd: crowd == Some(true),
            });
        }
        image.pixels = match (fields.ids, fields.file_name) {
            (Some(rows), _) => Pixels::Rows(rows),
            (None, Some(name)) if runs.is_empty() => Pixels::File(name),
            // An image without segments has run lengths, of which there are none.
            _ if runs.len() == image.segments.len() => Pixels::Runs(runs),
            (None, Some(_)) => {
                let problem = "some segments have run lengths in `segmentation`, others have none";
                return Err(Located::new("", problem));
            }
            (None, None) => {
                let problem =
                    "no field `file_name`, and segments without run lengths in `segmentation`";
                return Err(Located::new("", problem));
            }
        };
        Ok(image)
    }
}

/// The map of run lengths, one for each segment; `None` without segments and size.
fn map_of_runs(
    segments: &[Segment],
    runs: &[Raw<'_>],
    size: Option<Size>,
    options: MapOptions,
) -> Result<Option<IdMap>, Message> {
    let mut size = size;
    let mut map = None;
    for (index, (raw, segment)) in runs.iter().zip(segments).enumerate() {
        let of_segment = |problem: Message| {
            Message::from(format!("segments_info[{index}]: segmentation: ")).message(&problem)
        };
        let parsed = RunLengths::parse(raw.0).map_err(|problem| of_segment(problem.into()))?;
        let stated = parsed.size.or(size);
        let Some(own) = stated else {
            let problem = "has no size, and neither have the images of the file";
            return Err(of_segment(problem.into()));
        };
        if size.is_some_and(|size| size != own) {
            let problem =
                size.map(|size| format!("has the size {own}: expected {size}, as its image has"));
            return Err(of_segment(problem.unwrap_or_default().into()));
        }
        size = Some(own);
        let map = match &mut map {
            Some(map) => map,
            None => map.insert(IdMap::empty(own, options)?),
        };
        let pixels = own.pixels(options)?;
        for (start, length) in parsed.runs(pixels).map_err(of_segment)? {
            if let Some(other) = map.set_run(start, length, segment.id) {
                let problem = format!("segment {} overlaps segment {other}", segment.id);
                return Err(problem.into());
            }
        }
    }
    match (map, size) {
        (None, Some(size)) => IdMap::empty(size, options).map(Some),
        (map, _) => Ok(map),
    }
}

/// How images of panoptic segments are compared, and what they may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanopticRules {
    /// How segments are matched.
    pub matching: MatchingRules,
    /// The distance of boundaries as a share of the diagonal of an image.
    pub dilation: f64,
    /// The limits of the images.
    pub maps: MapOptions,
    /// The most ids of segments that a side of an image may have: an image of noise has millions.
    pub max_segments: usize,
}

impl Default for PanopticRules {
    /// Masks, without quirks.
    fn default() -> Self {
        Self {
            matching: MatchingRules::default(),
            dilation: 0.02,
            maps: MapOptions::default(),
            max_segments: 1 << 16,
        }
    }
}

/// The segments of an image that were compared, and what is odd about the files of the reference and of the prediction.
pub type Compared = (Matching, [FileOddities; 2]);

/// Compares the segments of an image. A missing prediction has no segments.
///
/// # Errors
///
/// Returns an error if the pixels of a side cannot be read, if the sides differ in size, or if
/// [segments cannot be matched](match_segments).
pub fn compare_files(
    (truths, truth): (&PanopticFile<'_>, &PanopticImage<'_>),
    found: Option<(&PanopticFile<'_>, &PanopticImage<'_>)>,
    is_known: &dyn Fn(i64) -> bool,
    rules: PanopticRules,
) -> Result<Compared, ReadError> {
    let rows = truths.rows(truth, rules.maps)?;
    let (rows_found, segments) = match found {
        Some((file, image)) => (file.rows(image, rules.maps)?, &image.segments[..]),
        None => (None, &[][..]),
    };
    compare_rows([rows, rows_found], truth, segments, is_known, rules).map_err(|error| {
        let error = match error {
            CompareError::Read(_, error) => error,
            CompareError::Side(part, problem) => {
                let (file, image) = match (part.is_prediction, found) {
                    (true, Some(found)) => found,
                    _ => (truths, truth),
                };
                let name = if part.is_pixels {
                    file.pixels_name(image)
                } else {
                    file.name.to_owned()
                };
                ReadError::new(name, problem)
            }
        };
        error.at(format!("image {}", truth.id))
    })
}

/// Compares the two sides of a record. An error names the side: whether it is the prediction.
///
/// # Errors
///
/// Returns an error as [`compare_files`] does.
pub fn compare_records(
    truth: &PanopticImage<'_>,
    found: &PanopticImage<'_>,
    rules: PanopticRules,
) -> Result<Compared, (bool, Message)> {
    let of_truth = truth.map(truth.size, rules.maps);
    let of_found = found.map(found.size, rules.maps);
    let sides = [
        of_truth.map_err(|problem| (false, problem))?,
        of_found.map_err(|problem| (true, problem))?,
    ];
    let compared = compare_rows(sides, truth, &found.segments, &|_| true, rules);
    compared.map_err(|error| match error {
        CompareError::Read(is_prediction, error) => (is_prediction, error.message()),
        CompareError::Side(part, problem) => (part.is_prediction, problem),
    })
}

enum CompareError {
    /// Whether it is about the prediction.
    Read(bool, ReadError),
    Side(Part, Message),
}

/// A part of the values of an image.
#[derive(Clone, Copy)]
struct Part {
    is_prediction: bool,
    /// Whether it is the pixels, rather than the list of segments.
    is_pixels: bool,
}

fn pixels_error(is_prediction: bool, problem: Message) -> CompareError {
    let part = Part {
        is_prediction,
        is_pixels: true,
    };
    CompareError::Side(part, problem)
}

fn compare_rows(
    sides: [Option<IdRows<'_>>; 2],
    truth: &PanopticImage<'_>,
    found: &[Segment],
    is_known: &dyn Fn(i64) -> bool,
    rules: PanopticRules,
) -> Result<Compared, CompareError> {
    let (mut truth_rows, mut found_rows) = match sides {
        [Some(truth), Some(found)] => (truth, found),
        // A side without segments may have any size.
        [Some(truth), None] => {
            let void = IdRows::void(truth.size());
            (truth, void)
        }
        [None, Some(found)] => (IdRows::void(found.size()), found),
        [None, None] => return Ok(Compared::default()),
    };
    let [size, other] = [truth_rows.size(), found_rows.size()];
    if size != other {
        let problem = format!("has {other} pixels: expected {size}, as the reference has");
        return Err(pixels_error(true, problem.into()));
    }
    let of_side = |is_prediction| move |error| CompareError::Read(is_prediction, error);
    let mut overlaps = Overlaps::new(rules.max_segments);
    let too_many = |error: TooManyIds| {
        let is_prediction = !matches!(
            error,
            TooManyIds::Ids {
                is_prediction: false,
                ..
            }
        );
        let max = rules.max_segments.to_string();
        let problem = Message::from(format!("{error}: expected at most "));
        pixels_error(is_prediction, problem.option("max-segments", &max))
    };
    let distance = boundary_distance(size.width as usize, size.height as usize, rules.dilation);
    let mut boundaries = (rules.matching.iou == SegmentIou::Boundary).then(|| {
        [
            Boundaries::new(size.width as usize, distance),
            Boundaries::new(size.width as usize, distance),
        ]
    });
    while let (Some(truth), Some(found)) = (
        truth_rows.next().map_err(of_side(false))?,
        found_rows.next().map_err(of_side(true))?,
    ) {
        overlaps.add_row(truth, found).map_err(too_many)?;
        if let Some([of_truth, of_found]) = &mut boundaries
            && let (Some(truth), Some(found)) = (of_truth.push(truth), of_found.push(found))
        {
            overlaps.add_boundaries(truth, found).map_err(too_many)?;
        }
    }
    if let Some([of_truth, of_found]) = &mut boundaries {
        while let (Some(truth), Some(found)) = (of_truth.finish(), of_found.finish()) {
            overlaps.add_boundaries(truth, found).map_err(too_many)?;
        }
    }
    let matching = match_segments(&truth.segments, found, &overlaps, is_known, rules.matching);
    let matching = matching.map_err(|error: PanopticError| {
        let part = Part {
            is_prediction: error.is_of_prediction(),
            is_pixels: matches!(
                error,
                PanopticError::UnlistedId { .. } | PanopticError::NoPixels { .. }
            ),
        };
        CompareError::Side(part, error.to_string().into())
    })?;
    Ok((matching, [truth_rows.oddities(), found_rows.oddities()]))
}
