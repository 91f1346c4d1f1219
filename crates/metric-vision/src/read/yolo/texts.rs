//! Data sets from the texts of labels and predictions.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use metric_record::{Content, Document, FileReader, Message};

use super::data_set::{DataSet, pose_in};
use super::line::{LineForm, Outline, PoseForm, Row, classes_in};
use super::names::{class_names, is_of_names};
use super::pictures::{self, Picture};
use super::results::{Pictures, read_results};
use super::{NAMES, OfOutline, Place, TEXT, YoloOptions, labels_of, of_images};
use crate::read::folder::{
    self, Contents, Detected, Elsewhere, ExtraImages, Folder, FolderFile as _, Object, Part,
    is_held,
};
use crate::read::{File, ReadError, TextColumns, Warning, Warnings};
use crate::{Class, Dataset, Key, ObjectKind, Sigmas};

/// How the lines of a data set become objects.
struct Reading<'r> {
    form: LineForm,
    /// The kind that is made of the lines.
    kind: ObjectKind,
    names: Option<&'r [Class]>,
    sigmas: Option<Sigmas>,
    /// Whether boxes and segments in one file, and detections of classes without a name, are errors.
    strict: bool,
    /// Whether a line that repeats another one of the file is left out.
    distinct: bool,
}

/// The size of an image: what fractions are multiplied by, and pixels if they are known.
#[derive(Clone, Copy)]
struct Size {
    scale: [f64; 2],
    pixels: Option<[NonZeroU32; 2]>,
}

impl Size {
    fn new(pixels: Option<[NonZeroU32; 2]>) -> Self {
        let scale = pixels.map(|sides| sides.map(|side| f64::from(side.get())));
        Self {
            scale: scale.unwrap_or([1.0; 2]),
            pixels,
        }
    }
}

impl Reading<'_> {
    fn place(&self, size: Size, is_label: bool) -> Place<'_> {
        Place {
            scale: size.scale,
            pixels: size.pixels,
            sigmas: self.sigmas.as_ref(),
            is_label,
        }
    }

    fn is_named(&self, class: u32) -> bool {
        self.names
            .is_none_or(|names| (class as usize) < names.len())
    }

    fn unnamed(&self, class: u32) -> String {
        let count = self.names.map_or(0, <[Class]>::len);
        format!("found {class}, expected less than {count}, the number of named classes")
    }

    /// The true objects of an image.
    fn objects<S: OfOutline>(
        &self,
        file: File<'_>,
        size: Size,
    ) -> Result<Vec<Object<S>>, ReadError> {
        let mut objects = Vec::new();
        let mut seen: BTreeMap<(u32, Vec<u64>), ()> = BTreeMap::new();
        let mut first_box = None;
        let mut has_points = false;
        for line in file.lines() {
            let Row { class, outline, .. } = self.form.label(&line)?;
            if !self.is_named(class) {
                return Err(line.error("class", self.unnamed(class)));
            }
            match outline {
                Outline::Box(_) if first_box.is_none() => {
                    first_box = Some(line.error("", MIXED.to_owned()));
                }
                Outline::Points(_) => has_points = true,
                _ => {}
            }
            if self.distinct && seen.insert((class, outline.bits()), ()).is_some() {
                continue;
            }
            let shape = S::of_outline(&outline, self.kind, self.place(size, true));
            objects.push(Object {
                class: Key::Number(class.into()),
                ignore: false,
                shape: shape.map_err(|problem| line.error("", problem))?,
            });
        }
        match first_box {
            Some(error) if self.strict && has_points => Err(error),
            _ => Ok(objects),
        }
    }
}

/// What a folder of label files says of an image without objects.
const NO_OBJECTS: &str = "; that of an image without objects is empty";

/// The problem of a file of boxes and segments.
const MIXED: &str = "found a box in a file of segments, expected one of the two: Ultralytics reads all lines of such a file as segments";

/// The kind of objects that lines tell: the number of their words.
fn kind_of<'a>(
    labels: impl Iterator<Item = File<'a>>,
    predictions: impl Iterator<Item = File<'a>>,
    columns: Option<TextColumns>,
    pose: Option<PoseForm>,
    name: &str,
) -> Result<ObjectKind, ReadError> {
    /// More words than a line of any other kind has.
    const MOST_OF_OTHERS: usize = 11;
    if pose.is_some() {
        return Ok(ObjectKind::Pose);
    }
    let most = |files: &mut dyn Iterator<Item = File<'a>>| {
        let lines = files.flat_map(|file| file.content().lines());
        lines.map(|line| line.split_whitespace().count()).max()
    };
    // Columns that are listed are those of boxes.
    let predictions = predictions.filter(|_| columns.is_none());
    let (labels, predictions) = (&mut { labels }, &mut { predictions });
    let [of_labels, of_predictions] =
        [most(labels), most(predictions)].map(Option::unwrap_or_default);
    if of_labels <= 6 && of_predictions <= 7 {
        return Ok(ObjectKind::Box);
    }
    if of_labels.max(of_predictions) > MOST_OF_OTHERS {
        return Ok(ObjectKind::Segment);
    }
    let problem = Message::from(
        "the numbers of the lines may be of segments or of oriented boxes: expected ",
    )
    .option("iou-type", "segm")
    .text(", ")
    .option("iou-type", "obb")
    .text(" or ")
    .option("iou-type", "bbox");
    Err(ReadError::new(name, problem))
}

/// The tolerances of poses: those that are given, or those of the data set, or COCO's for 17 points of three numbers, or
/// the same for all points.
fn sigmas(
    options: &YoloOptions,
    of_set: Option<&Vec<f64>>,
    pose: Option<PoseForm>,
    name: &str,
) -> Result<Sigmas, ReadError> {
    let Some(pose) = pose else {
        let problem = "the number of points is not known: expected kpt_shape in data.yaml";
        return Err(ReadError::new(name, problem));
    };
    let of_set = of_set.map(|sigmas| Sigmas::new(sigmas.clone())).transpose();
    let of_set =
        of_set.map_err(|error| ReadError::new(name, error.to_string()).field("kpt_oks_sigmas"))?;
    let Some(sigmas) = options.sigmas.clone().or(of_set) else {
        const COCO: PoseForm = PoseForm {
            points: 17,
            numbers: 3,
        };
        let same = 1.0 / pose.points as f64;
        return Ok(match pose {
            COCO => Sigmas::default(),
            _ => Sigmas::new(vec![same; pose.points]).unwrap_or_default(),
        });
    };
    if sigmas.count() == pose.points {
        return Ok(sigmas);
    }
    let problem = Message::from(format!("found {} tolerances in ", sigmas.count()));
    let problem = match options.sigmas {
        Some(_) => problem.option("oks-sigmas", ""),
        None => problem.text("kpt_oks_sigmas"),
    };
    let problem = problem.text(format_args!(
        ", expected {}, one for each point",
        pose.points
    ));
    Err(ReadError::new(name, problem))
}

/// The error of shapes that need pixels.
fn no_pixels(name: &str, kind: ObjectKind) -> ReadError {
    let what = match kind {
        ObjectKind::Box => "boxes",
        ObjectKind::Oriented => "oriented boxes",
        ObjectKind::Segment => "segments",
        ObjectKind::Pose => "poses",
    };
    let problem = Message::from(format!(
        "{what} are fractions of their image, and are compared in pixels: expected "
    ));
    let problem = problem.option("image-size", "").text(", such as 640x480");
    ReadError::new(name, problem)
}

/// The objects of label files and prediction files, of which some name classes.
pub(super) fn of_files<S: OfOutline>(
    truths: &[File<'_>],
    predictions: &[File<'_>],
    options: &YoloOptions,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    let of_names = truths.iter().copied().filter(is_of_names);
    let of_names = folder::by_name(of_names, File::base)?;
    let of_names = NAMES.iter().find_map(|name| of_names.get(name));
    let names = of_names.map(class_names).transpose()?;
    let pose = of_names.map(pose_in).transpose()?.flatten();
    let name = truths.first().map_or("", |file| file.name);
    let kind = match options.kind {
        Some(kind) => kind,
        None => kind_of(
            of_images(truths),
            of_images(predictions),
            options.columns,
            pose,
            name,
        )?,
    };
    let made = options.made(kind);
    let has_sizes = options.sizes != super::ImageSizes::Unknown;
    if made != ObjectKind::Box && !has_sizes {
        return Err(no_pixels(name, kind));
    }
    let is_pose = made == ObjectKind::Pose;
    let reading = Reading {
        kind: made,
        form: LineForm {
            kind,
            pose,
            columns: options.columns,
            of_labels: if options.strict {
                OF_LABELS
            } else {
                [0.0, 1.0]
            },
        },
        names: names.as_deref(),
        sigmas: is_pose
            .then(|| sigmas(options, None, pose, name))
            .transpose()?,
        strict: options.strict,
        distinct: false,
    };

    let held = |file: &File<'_>| is_held(options.shard, file.stem());
    let size = |image: &str, file: &File<'_>| {
        let scale = options.sizes.scale(image, file)?;
        let pixels = options.sizes.pixels(image);
        Ok::<_, ReadError>(Size { scale, pixels })
    };
    let mut images = BTreeMap::new();
    for (image, file) in by_image(truths, held)? {
        images.insert(image, reading.objects(file, size(image, &file)?)?);
    }
    let mut elsewhere = Elsewhere::default();
    for file in of_images(truths).filter(|file| !held(file)) {
        elsewhere.images.insert(file.stem());
        elsewhere.classes.extend(classes_in(file));
    }
    let mut contents = Contents::new(options.extra, options.shard, images, elsewhere);
    for file in of_images(predictions).filter(|file| !held(file)) {
        for class in classes_in(file) {
            contents.detect_elsewhere(file.stem(), &class);
        }
    }
    for (image, file) in by_image(predictions, held)? {
        if contents.counts(image, |problem| file.error("", "", problem + NO_OBJECTS))? {
            let size = size(image, &file)?;
            add_detections(&mut contents, &reading, image, 0, file, size)?;
        } else {
            for line in file.lines() {
                reading.form.prediction(&line)?;
                contents.warn(Warning::UnknownImage);
            }
        }
    }
    contents.dataset(names)
}

/// The least and the greatest number of a label of a data set.
const OF_LABELS: [f64; 2] = [-0.01, 1.01];

/// Adds the predictions of a file.
fn add_detections<'a, S: OfOutline>(
    contents: &mut Contents<'a, S>,
    reading: &Reading<'_>,
    image: &'a str,
    position: u32,
    file: File<'_>,
    size: Size,
) -> Result<(), ReadError> {
    for line in file.lines() {
        let row = reading.form.prediction(&line)?;
        let refused = |field: &str, problem| line.error(field, problem);
        add_row(contents, reading, (image, position), &row, size, refused)?;
    }
    Ok(())
}

/// Adds a prediction of an image at a position.
fn add_row<'a, S: OfOutline>(
    contents: &mut Contents<'a, S>,
    reading: &Reading<'_>,
    (image, position): (&'a str, u32),
    row: &Row,
    size: Size,
    refused: impl Fn(&str, String) -> ReadError,
) -> Result<(), ReadError> {
    if !reading.is_named(row.class) {
        if reading.strict {
            return Err(refused("class", reading.unnamed(row.class)));
        }
        contents.warn(Warning::UnknownClass(Key::Number(row.class.into())));
        return Ok(());
    }
    if let Outline::Pose(_, points) = &row.outline
        && reading.kind == ObjectKind::Pose
    {
        let at_origin = points.iter().filter(|[x, y, _]| *x == 0.0 && *y == 0.0);
        at_origin.for_each(|_| contents.warn(Warning::PointAtOrigin));
    }
    let shape = S::of_outline(&row.outline, reading.kind, reading.place(size, false));
    contents.detect(Detected {
        image,
        position,
        class: Key::Number(row.class.into()),
        score: row.confidence,
        shape: shape.map_err(|problem| refused("", problem))?,
    });
    Ok(())
}

/// The files of images that are held, by image.
fn by_image<'a>(
    files: &[File<'a>],
    held: impl Fn(&File<'a>) -> bool,
) -> Result<BTreeMap<&'a str, File<'a>>, ReadError> {
    folder::by_name(of_images(files).filter(held), File::stem)
}

/// The objects of a data set of pictures.
pub(super) fn of_set<S: OfOutline>(
    set: &DataSet,
    predictions: &Document,
    options: &YoloOptions,
    mut files: FileReader,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    let names = Pictures::new(&set.pictures);
    let is_held = |picture: &Picture| is_held(options.shard, &picture.id);
    // Without a list of classes or a kind, the files of other shards tell them.
    let reads_all = options.kind.is_none() || set.names.is_none();
    let mut labels: Vec<Option<(String, String)>> = Vec::with_capacity(set.pictures.len());
    for picture in &set.pictures {
        let path = picture.label();
        let is_read = (reads_all || is_held(picture)) && path.exists();
        labels.push(is_read.then(|| files.read(&path)).transpose()?);
    }
    let found = Found::read(predictions, options, |stem| {
        let picture = names.named(stem).ok().flatten();
        reads_all || picture.is_some_and(|index| is_held(&set.pictures[index]))
    })?;
    let texts = labels
        .iter()
        .flatten()
        .map(|(name, text)| File { name, text });
    let kind = match options.kind {
        Some(kind) => kind,
        None => kind_of(
            texts,
            found.files().into_iter(),
            options.columns,
            set.pose,
            &set.name,
        )?,
    };
    let made = options.made(kind);
    let is_pose = made == ObjectKind::Pose;
    let reading = Reading {
        kind: made,
        form: LineForm {
            kind,
            pose: set.pose,
            columns: options.columns,
            of_labels: OF_LABELS,
        },
        names: set.names.as_deref(),
        sigmas: is_pose
            .then(|| sigmas(options, set.sigmas.as_ref(), set.pose, &set.name))
            .transpose()?,
        strict: true,
        distinct: true,
    };
    let held: Vec<&Picture> = set
        .pictures
        .iter()
        .filter(|picture| is_held(picture))
        .collect();
    let are_needed = set.is_described || made != ObjectKind::Box || options.needs_pixels;
    let sizes = pictures::sizes(&held, &options.sizes, are_needed)?;
    let mut sizes = sizes.into_iter();
    let mut of_pictures: Vec<Option<Size>> = Vec::with_capacity(set.pictures.len());
    let mut images = BTreeMap::new();
    let mut elsewhere = Elsewhere::default();
    for (picture, label) in set.pictures.iter().zip(&labels) {
        let file = label.as_ref().map(|(name, text)| File { name, text });
        if !is_held(picture) {
            elsewhere.images.insert(&picture.id);
            elsewhere
                .classes
                .extend(file.into_iter().flat_map(classes_in));
            of_pictures.push(None);
            continue;
        }
        let size = Size::new(sizes.next().flatten());
        of_pictures.push(Some(size));
        let objects = file.map(|file| reading.objects(file, size)).transpose()?;
        images.insert(&*picture.id, objects.unwrap_or_default());
    }
    let mut contents = Contents::new(options.extra, options.shard, images, elsewhere);
    found.add_to(&mut contents, &reading, set, &names, &of_pictures, options)?;
    contents.dataset(set.names.clone())
}

/// Predictions of pictures, that are not yet read as such.
enum Found<'d> {
    Folder(Folder),
    Results(File<'d>),
}

impl<'d> Found<'d> {
    /// The files of predictions: those of a folder as far as they are needed.
    fn read(
        predictions: &'d Document,
        options: &YoloOptions,
        is_needed: impl Fn(&str) -> bool,
    ) -> Result<Self, ReadError> {
        let Content::Folder(folder) = &predictions.content else {
            return Ok(Self::Results(predictions.file()?));
        };
        let path = labels_of(&folder.path);
        let part = |stem: &str| {
            if is_needed(stem) {
                Part::All
            } else {
                Part::Name
            }
        };
        let read = Folder::read(&path, TEXT, &[], options.max_bytes, part)?;
        Ok(Self::Folder(read.with_some(
            &path,
            "predictions",
            TEXT,
            &NAMES,
        )?))
    }

    fn files(&self) -> Vec<File<'_>> {
        match self {
            Self::Folder(folder) => of_images(&folder.files()).collect(),
            Self::Results(_) => Vec::new(),
        }
    }

    fn add_to<'p, S: OfOutline>(
        &self,
        contents: &mut Contents<'p, S>,
        reading: &Reading<'_>,
        set: &'p DataSet,
        names: &Pictures<'p>,
        sizes: &[Option<Size>],
        options: &YoloOptions,
    ) -> Result<(), ReadError> {
        // A position that no u32 can hold is one that no list has.
        let position = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        let ignores = options.extra == ExtraImages::Ignore;
        if let Self::Results(file) = self {
            let first = options.first_category;
            let results = read_results(*file, names, set.names.as_deref(), first, ignores)?;
            for (at, result) in results.iter().enumerate() {
                let refused = |field: &str, problem: String| {
                    let field = if field == "class" {
                        "category_id"
                    } else {
                        field
                    };
                    file.error(&format!("[{at}]"), field, problem)
                };
                let Some(index) = result.picture else {
                    contents.warn(Warning::UnknownImage);
                    continue;
                };
                let image = &*set.pictures[index].id;
                let Some(size) = sizes[index] else {
                    contents.detect_elsewhere(image, &Key::Number(result.row.class.into()));
                    continue;
                };
                let size = Size {
                    scale: [1.0; 2],
                    ..size
                };
                add_row(
                    contents,
                    reading,
                    (image, position(index)),
                    &result.row,
                    size,
                    refused,
                )?;
            }
            return Ok(());
        }
        let mut seen: BTreeMap<usize, &str> = BTreeMap::new();
        let files = self.files();
        for file in &files {
            let named = names.named(file.stem());
            let Some(index) = named.map_err(|problem| file.error("", "", problem))? else {
                if !ignores {
                    let problem = format!(
                        "found {:?}, expected the name of a picture of the data set",
                        file.stem()
                    );
                    return Err(file.error("", "", problem));
                }
                for _ in file.lines() {
                    contents.warn(Warning::UnknownImage);
                }
                continue;
            };
            let image = &*set.pictures[index].id;
            if let Some(other) = seen.insert(index, file.name) {
                let problem = format!("found a second file of {image:?}, expected only {other}");
                return Err(file.error("", "", problem));
            }
            match sizes[index] {
                Some(size) => {
                    add_detections(contents, reading, image, position(index), *file, size)?;
                }
                None => {
                    classes_in(*file).for_each(|class| contents.detect_elsewhere(image, &class));
                }
            }
        }
        Ok(())
    }
}
