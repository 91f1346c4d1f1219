use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use metric_core::named_choice;
use metric_record::Shard;
use roxmltree::{Document, Node};

use super::folder::{
    self, Contents, Detected, Elsewhere, ExtraImages, Folder, FolderFile, Line, Object, Part,
    is_held,
};
use super::text_columns::{self, TextColumns};
use super::{File, ReadError, Warning, Warnings};
use crate::{BBox, Dataset, Key};

/// How to read folders of Pascal VOC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VocOptions {
    /// The naming of prediction files; if `None`, it is detected from their names.
    pub files: Option<VocFiles>,
    /// What to do with predictions for an image that has no truth file.
    pub extra: ExtraImages,
    /// The columns of predictions; `None` for those of [`VocFiles`]. With `xmin,ymin,w,h` truths that are text
    /// have sizes in place of the second corner, too, as in the files of Padilla.
    pub columns: Option<TextColumns>,
    /// Read only the images that this shard holds, and everything about them. The list of classes stays that of the
    /// whole data set. It is found from the names in all files, which are read for it as far as they can be: the shard
    /// that holds an image reports errors in its objects.
    pub shard: Option<Shard>,
    /// The number of bytes of the files of one folder that may be held in memory; `None` for
    /// [`DEFAULT_MAX_BYTES`](metric_record::DEFAULT_MAX_BYTES).
    pub max_bytes: Option<u64>,
}

metric_core::setters!(VocOptions {
    with_files => files: Option<VocFiles>,
    with_extra => extra: ExtraImages,
    with_columns => columns: Option<TextColumns>,
    with_shard => shard: Option<Shard>,
    with_max_bytes => max_bytes: Option<u64>,
});

/// The naming of prediction files of Pascal VOC: after classes or after images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VocFiles {
    /// `<class>.txt` or `comp4_det_test_<class>.txt`, as the development kit of the challenge takes
    /// results: lines `image score xmin ymin xmax ymax`.
    Classes,
    /// `<image>.txt`, as the programs of Cartucho and Padilla take them: lines
    /// `class score xmin ymin xmax ymax`.
    Images,
}

impl VocFiles {
    /// All forms.
    pub const ALL: &[Self] = &[Self::Classes, Self::Images];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classes => "classes",
            Self::Images => "images",
        }
    }
}

named_choice!(VocFiles, "form of prediction files");

/// Reads a folder of Pascal VOC annotations and a folder of predictions.
///
/// Truths are files `<image>.xml`: an `annotation` with one `object` per object. Its `name`, `bndbox` and `difficult`
/// are read (the last may be missing, and `1` becomes [`Annotation::ignore`](crate::Annotation::ignore)). Or they are
/// files `<image>.txt` with lines `class xmin ymin xmax ymax`, and `difficult` after that, as the programs of Cartucho
/// and Padilla expect. Predictions are `.txt` files, one per class or one per image: see [`VocFiles`]. Their names tell
/// which: those that begin like `comp4_det_test_` are per class (the image set, here `test`, has no underscore), others
/// belong to whatever has that name in the truths. Blank lines and empty files are fine, and so are names with spaces
/// where the truths have them. Hidden files, subfolders and files of other extensions are left out.
///
/// Images have the names of the truth files as [`Key::Text`], also where these are numerals. Classes
/// are those that occur in truths or predictions, as [`Key::Text`]. An image without predictions has no
/// detections.
///
/// The detections of an image are in the order of its file, or of the class files by name and line. The
/// [`position`](crate::Prediction::position) of a detection is its line, counted from 0, in the file of its
/// class. Files of images have no order among each other, so it is 0 there.
///
/// Coordinates are read unchanged. Whether a width is `xmax - xmin` or one more is up to the metric; areas are computed
/// without the one.
///
/// # Errors
///
/// Returns an error if a folder or file cannot be read, is not UTF-8 or not well-formed XML (document type declarations
/// are not read); if there is no truth file, or no prediction file; if an object has no name or box; if a number is not finite; if `xmax` is
/// less than `xmin` or `ymax` than `ymin`; if predictions are of an image without a truth file, unless
/// [`VocOptions::extra`] has another rule; or if prediction files are named after neither images nor classes, or some
/// after each.
///
/// See [`parse_voc`] for an example.
pub fn read_voc(
    truths: &Path,
    predictions: &Path,
    options: &VocOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    read_copy(truths, predictions, options, None)
}

/// Like [`read_voc`], for truths that may lack lines of the folder of which they are a copy. The names of classes there
/// are known.
pub(super) fn read_copy(
    truths: &Path,
    predictions: &Path,
    options: &VocOptions,
    original: Option<&Path>,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let part = |is_held: bool| if is_held { Part::All } else { Part::Readable };
    let held = |image: &str| is_held(options.shard, image);
    let is_text = is_corner_text(truths)
        || folder::has_files(truths, TEXT) && !folder::has_files(truths, XML);
    let extension = if is_text { TEXT } else { XML };
    let truths = Folder::read(truths, extension, &[], options.max_bytes, |image| {
        part(held(image))
    })?
    .with_some(truths, "truths", extension, &[])?;
    let truths = truths.files();
    let images: BTreeSet<&str> = truths.iter().map(File::stem).collect();
    let is_image = |name: &str| match options.files {
        Some(files) => files == VocFiles::Images,
        None => images.contains(name),
    };
    let predictions = Folder::read(predictions, TEXT, &[], options.max_bytes, |name| {
        part(!is_image(name) || held(name))
    })?
    .with_some(predictions, "predictions", TEXT, &[])?;
    let names = original
        .map(|path| Folder::read(path, extension, &[], options.max_bytes, |_| Part::Readable));
    let names = names.transpose()?;
    let names = names.as_ref().map(Folder::files).unwrap_or_default();
    let names = names.iter().flat_map(classes_in);
    parse(&truths, &predictions.files(), options, names.collect())
}

/// Reads the boxes of Pascal VOC files in memory, in any order, like [`read_voc`] those of folders.
///
/// # Errors
///
/// Returns an error as [`read_voc`] does, and if two files are of one image or class.
///
/// ```
/// use metric_vision::read::{File, VocOptions, parse_voc};
///
/// let file = |name, text| File { name, text };
/// let truths = [file(
///     "Annotations/000001.xml",
///     "<annotation><object><name>dog</name><difficult>0</difficult>
///      <bndbox><xmin>48</xmin><ymin>240</ymin><xmax>195</xmax><ymax>371</ymax></bndbox>
///      </object></annotation>",
/// )];
/// let by_class = [file("comp4_det_test_dog.txt", "000001 0.9 50 240 195 371\n")];
/// let by_image = [file("000001.txt", "dog 0.9 50 240 195 371\n")];
/// let (dataset, warnings) = parse_voc(&truths, &by_class, &VocOptions::default())?;
/// assert!(warnings.is_empty());
/// assert_eq!(dataset.images()[0].annotations[0].shape.xywh(), [48.0, 240.0, 147.0, 131.0]);
/// assert_eq!(dataset.predictions(0)[0].score, 0.9);
/// assert_eq!(parse_voc(&truths, &by_image, &VocOptions::default())?.0, dataset);
///
/// let wrong = [file("000001.txt", "dog 0.9 195 240 50 371\n")];
/// let error = parse_voc(&truths, &wrong, &VocOptions::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "000001.txt:1: xmax: found 50, expected xmin, which is 195, or more",
/// );
/// # Ok::<(), metric_vision::read::ReadError>(())
/// ```
pub fn parse_voc(
    truths: &[File<'_>],
    predictions: &[File<'_>],
    options: &VocOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    parse(truths, predictions, options, BTreeSet::new())
}

/// Like [`parse_voc`], with names of classes that are known in addition to those of the truths.
#[expect(
    clippy::too_many_lines,
    reason = "both ways to name files read into the same contents, by the same names"
)]
fn parse(
    truths: &[File<'_>],
    predictions: &[File<'_>],
    options: &VocOptions,
    names: BTreeSet<Key>,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let held = |file: &File<'_>| is_held(options.shard, file.stem());
    let has_sizes = options.columns.is_some_and(|columns| columns.has_sizes());
    let (ends, by_image, by_class) = if has_sizes {
        (
            Ends::Sizes,
            text_columns::BY_IMAGE_WITH_SIZES,
            text_columns::BY_CLASS_WITH_SIZES,
        )
    } else {
        (
            Ends::Corners,
            text_columns::BY_IMAGE,
            text_columns::BY_CLASS,
        )
    };
    let mut images = BTreeMap::new();
    let here = truths.iter().copied().filter(held);
    for (image, file) in folder::by_name(here, File::stem)? {
        images.insert(image, objects(&file, ends)?);
    }
    let mut elsewhere = Elsewhere::default();
    for file in truths.iter().filter(|file| !held(file)) {
        elsewhere.images.insert(file.stem());
        elsewhere.classes.extend(classes_in(file));
    }
    let known: BTreeSet<&str> = images.keys().chain(&elsewhere.images).copied().collect();
    let classes: BTreeSet<String> = images
        .values()
        .flatten()
        .map(|object: &Object| &object.class)
        .chain(&elsewhere.classes)
        .chain(&names)
        .map(Key::to_string)
        .collect();
    let image_of = |name: &str| known.get(name).copied();
    let class_named = |name: &str| classes.get(name).map(String::as_str);
    let files = match options.files {
        Some(files) => Some(files),
        None => told_from_names(predictions, image_of, class_named)?,
    };

    let form = |fields, columns| LineForm { fields, columns };
    let by_class = form(by_class, options.columns);
    let by_image = form(by_image, options.columns);
    let mut contents = Contents::new(options.extra, options.shard, images, elsewhere);
    match files {
        Some(VocFiles::Classes) => {
            for (class, file) in
                folder::by_name(predictions.iter().copied(), |file| class_of(file.stem()))?
            {
                for line in file.lines() {
                    let (image, numbers) = named(&line, &by_class, image_of)?;
                    if contents.is_elsewhere(image) {
                        contents.detect_elsewhere(image, &Key::Text(class.into()));
                        continue;
                    }
                    let (score, shape) = detection(&line, numbers, ends)?;
                    if contents.counts(image, |problem| line.error("image", problem))? {
                        contents.detect(Detected {
                            image,
                            position: line.position(),
                            class: Key::Text(class.into()),
                            score,
                            shape,
                        });
                    } else {
                        contents.warn(Warning::UnknownImage);
                    }
                }
            }
        }
        Some(VocFiles::Images) => {
            let here = predictions.iter().copied().filter(held);
            for (image, file) in folder::by_name(here, File::stem)? {
                let counts = contents.counts(image, |problem| file.error("", "", problem))?;
                for line in file.lines() {
                    let (class, numbers) = named(&line, &by_image, class_named)?;
                    let (score, shape) = detection(&line, numbers, ends)?;
                    if counts {
                        contents.detect(Detected {
                            image,
                            position: 0,
                            class: Key::Text(class.into()),
                            score,
                            shape,
                        });
                    } else {
                        contents.warn(Warning::UnknownImage);
                    }
                }
            }
            for file in predictions.iter().filter(|file| !held(file)) {
                for line in file.lines() {
                    if let Ok((class, _)) = named(&line, &by_image, class_named) {
                        contents.detect_elsewhere(file.stem(), &Key::Text(class.into()));
                    }
                }
            }
        }
        None => {}
    }
    contents.dataset(None)
}

/// The items that prediction files are named after; `None` if there are no such files.
fn told_from_names<'a>(
    files: &[File<'_>],
    image: impl Fn(&str) -> Option<&'a str>,
    class: impl Fn(&str) -> Option<&'a str>,
) -> Result<Option<VocFiles>, ReadError> {
    let of_image = files.iter().find(|file| image(file.stem()).is_some());
    let of_class = files.iter().find(|file| {
        let class_name = class_of(file.stem());
        class_name != file.stem() || class(class_name).is_some()
    });
    match (of_image, of_class, files.first()) {
        (Some(_), None, _) => Ok(Some(VocFiles::Images)),
        (None, Some(_), _) => Ok(Some(VocFiles::Classes)),
        (None, None, None) => Ok(None),
        (None, None, Some(file)) => {
            let problem = "found a file named after neither an image nor a class of the ground \
                           truth, expected one of them";
            Err(file.error("", "", problem.to_owned()))
        }
        (Some(file), Some(other), _) => {
            let problem = format!(
                "found a name of an image, and {} has one of a class, expected only one of the two",
                other.name,
            );
            Err(file.error("", "", problem))
        }
    }
}

/// The class that a results file of the development kit is of: `dog` for `comp4_det_test_dog`, and
/// for any other name the name.
fn class_of(stem: &str) -> &str {
    let results = stem.strip_prefix("comp").and_then(|rest| {
        let rest = rest.strip_prefix(|digit: char| digit.is_ascii_digit())?;
        let (_, rest) = rest.split_once("_det_")?;
        let (_, class) = rest.split_once('_')?;
        Some(class)
    });
    results.unwrap_or(stem)
}

/// The fields of a line of a prediction file, a name first, and the columns if they have another order.
struct LineForm {
    fields: [&'static str; 6],
    columns: Option<TextColumns>,
}

/// The name and the numbers of a line of a prediction file. The name may have several words if it is known.
fn named<'a>(
    line: &Line<'a>,
    form: &LineForm,
    known: impl Fn(&str) -> Option<&'a str>,
) -> Result<(&'a str, [&'a str; 5]), ReadError> {
    let words = match form.columns {
        None => Cow::Borrowed(&line.words),
        Some(columns) => Cow::Owned(
            columns
                .arranged(&line.words, &form.fields)
                .map_err(|problem| line.error("", problem))?,
        ),
    };
    let parts = words.split_last_chunk();
    let parts = parts.and_then(|(name, numbers)| match name {
        [] => None,
        [word] => Some((*word, *numbers)),
        words => Some((known(&words.join(" "))?, *numbers)),
    });
    parts.ok_or_else(|| {
        let found = line.words.len();
        let fields = form.fields.join(" ");
        line.error("", format!("found {found} words, expected 6: {fields}"))
    })
}

/// The score and the box of a detection.
fn detection(line: &Line, numbers: [&str; 5], ends: Ends) -> Result<(f64, BBox), ReadError> {
    let [score, numbers @ ..] = numbers;
    let [score] = line.numbers(["score"], [score])?;
    Ok((score, ends.shape(line, numbers)?))
}

/// The way in which a line gives the end of a box.
#[derive(Clone, Copy)]
enum Ends {
    /// By the corner opposite to the first.
    Corners,
    /// By width and height.
    Sizes,
}

impl Ends {
    /// The names of the numbers of a box.
    fn fields(self) -> [&'static str; 4] {
        match self {
            Self::Corners => CORNERS,
            Self::Sizes => ["xmin", "ymin", "w", "h"],
        }
    }

    fn shape(self, line: &Line, numbers: [&str; 4]) -> Result<BBox, ReadError> {
        let fields = self.fields();
        let numbers = line.numbers(fields, numbers)?;
        let shape = match self {
            Self::Corners => shape(numbers),
            Self::Sizes => {
                let [xmin, ymin, width, height] = numbers;
                let field = if width >= 0.0 { "h" } else { "w" };
                BBox::from_xywh(xmin, ymin, width, height)
                    .map_err(|error| (field, error.to_string()))
            }
        };
        shape.map_err(|(field, problem)| line.error(field, problem))
    }
}

const CORNERS: [&str; 4] = ["xmin", "ymin", "xmax", "ymax"];

/// The box between these corners, or the field that is wrong.
fn shape([xmin, ymin, xmax, ymax]: [f64; 4]) -> Result<BBox, (&'static str, String)> {
    for (low_field, high_field, low, high) in
        [("xmin", "xmax", xmin, xmax), ("ymin", "ymax", ymin, ymax)]
    {
        if high < low {
            let problem = format!("found {high}, expected {low_field}, which is {low}, or more");
            return Err((high_field, problem));
        }
    }
    // The remaining case is a distance that is not finite.
    let field = if (xmax - xmin).is_finite() {
        "ymax"
    } else {
        "xmax"
    };
    BBox::from_xyxy(xmin, ymin, xmax, ymax).map_err(|error| (field, error.to_string()))
}

/// Whether the name of a file of truths says that it is text.
fn is_text(file: &File<'_>) -> bool {
    let extension = Path::new(file.name).extension();
    extension.is_some_and(|it| it.eq_ignore_ascii_case(TEXT))
}

/// Whether a folder holds ground truth as text with corners, `class xmin ymin xmax ymax`, and not labels of YOLO:
/// the first line begins with the name of a class, where YOLO has a number.
pub(super) fn is_corner_text(folder: &Path) -> bool {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = files.map(|file| file.path()).collect();
    paths.sort();
    let texts = paths.iter().filter(|path| {
        let extension = path.extension();
        extension.is_some_and(|it| it.eq_ignore_ascii_case(TEXT))
            && path
                .file_name()
                .is_some_and(|name| name != CLASSES && !name.as_encoded_bytes().starts_with(b"."))
    });
    let mut lines = texts.filter_map(|path| {
        let file = std::fs::File::open(path).ok()?;
        let mut start = Vec::new();
        file.take(START_BYTES).read_to_end(&mut start).ok()?;
        let start = String::from_utf8_lossy(&start);
        let lines = start.trim_start_matches('\u{feff}').lines();
        let mut lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines
            .find(|words| !words.is_empty())
            .map(|words| is_corner_line(&words))
    });
    lines.next().unwrap_or(false)
}

/// Whether a line is a name, which is not a number, and the corners of a box.
fn is_corner_line(words: &[&str]) -> bool {
    let is_number = |word: &&str| word.parse::<f64>().is_ok();
    let words = match words.split_last() {
        Some((&DIFFICULT, words)) => words,
        _ => words,
    };
    match words.split_last_chunk::<4>() {
        Some(([name, ..], corners)) => !is_number(name) && corners.iter().all(is_number),
        _ => false,
    }
}

/// The extension of ground truth as text.
const TEXT: &str = "txt";

/// The extension of annotations.
const XML: &str = "xml";

/// A file of the names of classes next to labels of YOLO.
const CLASSES: &str = "classes.txt";

/// The length of the part of a file in which its first line is looked for.
const START_BYTES: u64 = 4096;

/// The word that marks an object as difficult.
const DIFFICULT: &str = "difficult";

/// The words of a line of ground truth as text: those of the class, the numbers, and whether it is difficult.
fn words_of_line<'l>(line: &'l Line<'_>) -> Option<(&'l [&'l str], [&'l str; 4], bool)> {
    let (words, is_difficult) = match line.words.split_last() {
        Some((&DIFFICULT, words)) => (words, true),
        _ => (line.words.as_slice(), false),
    };
    match words.split_last_chunk::<4>() {
        Some((name @ [_, ..], numbers)) => Some((name, *numbers, is_difficult)),
        _ => None,
    }
}

/// The class in a line of ground truth as text, also where the numbers are wrong.
fn class_of_line(line: &Line<'_>) -> Option<Key> {
    let (name, ..) = words_of_line(line)?;
    Some(Key::Text(name.join(" ").into()))
}

/// A line of ground truth as text, as the programs of Cartucho and Padilla take it.
fn object_of_line(line: &Line<'_>, ends: Ends) -> Result<Object, ReadError> {
    let Some((name, numbers, ignore)) = words_of_line(line) else {
        let is_difficult = line.words.last() == Some(&DIFFICULT);
        let found = line.words.len() - usize::from(is_difficult);
        let fields = ends.fields().join(" ");
        let problem = format!("found {found} words, expected 5: class {fields} (and difficult)");
        return Err(line.error("", problem));
    };
    Ok(Object {
        class: Key::Text(name.join(" ").into()),
        ignore,
        shape: ends.shape(line, numbers)?,
    })
}

/// The objects of an annotation file.
fn objects(file: &File<'_>, ends: Ends) -> Result<Vec<Object>, ReadError> {
    if is_text(file) {
        let lines = file.lines();
        return lines.map(|line| object_of_line(&line, ends)).collect();
    }
    let text = file.content();
    let document = Document::parse(text)
        .map_err(|error| file.error("", "", format!("{error}, expected well-formed XML")))?;
    let root = document.root_element();
    if !root.has_tag_name("annotation") {
        let found = root.tag_name().name();
        return Err(file.error("", "", format!("found <{found}>, expected <annotation>")));
    }
    let objects = root.children().filter(|node| node.has_tag_name("object"));
    let object = |(position, node)| {
        let read = object(node);
        read.map_err(|(field, problem)| file.error(&format!("object[{position}]"), &field, problem))
    };
    objects.enumerate().map(object).collect()
}

/// The classes that occur in an annotation file, as far as it can be read.
fn classes_in(file: &File<'_>) -> Vec<Key> {
    if is_text(file) {
        return file
            .lines()
            .filter_map(|line| class_of_line(&line))
            .collect();
    }
    let Ok(document) = Document::parse(file.content()) else {
        return Vec::new();
    };
    let objects = document.root_element().children();
    let objects = objects.filter(|node| node.has_tag_name("object"));
    let names = objects.filter_map(|object| text(object, "name").filter(|name| !name.is_empty()));
    names.map(Key::from).collect()
}

/// An `object` element, or the field that is wrong.
fn object(node: Node) -> Result<Object, (String, String)> {
    let wrong = |field: &str, problem: &str| (field.to_owned(), problem.to_owned());
    let name = text(node, "name").unwrap_or_default();
    if name.is_empty() {
        return Err(wrong("name", "found nothing, expected the name of a class"));
    }
    let ignore = match text(node, "difficult") {
        None | Some("0") => false,
        Some("1") => true,
        Some(other) => {
            return Err(wrong(
                "difficult",
                &format!("found {other:?}, expected 0 or 1"),
            ));
        }
    };
    let bndbox = child(node, "bndbox");
    let bndbox = bndbox.ok_or_else(|| wrong("bndbox", "found nothing, expected a box"))?;
    let in_bndbox = |field, problem| (format!("bndbox.{field}"), problem);
    let mut corners = [0.0; 4];
    for (corner, field) in corners.iter_mut().zip(CORNERS) {
        let number = text(bndbox, field).unwrap_or_default();
        *corner = folder::finite(number).map_err(|problem| in_bndbox(field, problem))?;
    }
    Ok(Object {
        class: Key::Text(name.into()),
        ignore,
        shape: shape(corners).map_err(|(field, problem)| in_bndbox(field, problem))?,
    })
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| child.has_tag_name(name))
}

/// The text of a child element, empty if it has none.
fn text<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(node, name).map(|child| child.text().unwrap_or_default().trim())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Prediction;

    fn files<'a>(texts: &[(&'a str, &'a str)]) -> Vec<File<'a>> {
        let files = texts.iter().map(|&(name, text)| File { name, text });
        files.collect()
    }

    /// The result of reading truths and predictions given as pairs of name and text.
    fn read(
        truths: &[(&str, &str)],
        predictions: &[(&str, &str)],
        options: &VocOptions,
    ) -> Result<(Dataset<BBox>, Warnings), ReadError> {
        parse_voc(&files(truths), &files(predictions), options)
    }

    /// Two images with a hard dog and two other objects.
    const TRUTHS: [(&str, &str); 3] = [
        (
            "a/2008_1.xml",
            "\u{feff}<?xml version=\"1.0\"?>
            <annotation>
                <filename>other.jpg</filename>
                <size><width>500</width><height>375</height><depth>3</depth></size>
                <object>
                    <name> dog </name><pose>Left</pose><truncated>1</truncated><difficult>1</difficult>
                    <bndbox><xmax>20.5</xmax><xmin>10</xmin><ymax>40</ymax><ymin>10.25</ymin></bndbox>
                    <part><name>head</name><bndbox><xmin>?</xmin></bndbox></part>
                </object>
                <object><!-- a name with a space -->
                    <name>traffic light</name>
                    <bndbox><xmin>1</xmin><ymin>2</ymin><xmax>4</xmax><ymax>6</ymax></bndbox>
                </object>
            </annotation>",
        ),
        (
            "a/10.xml",
            "<annotation><object><difficult>0</difficult><name>cat &amp; co</name><bndbox>
            <xmin>-1</xmin><ymin>0</ymin><xmax>-1</xmax><ymax>1e1</ymax></bndbox></object></annotation>",
        ),
        ("a/none.xml", "<annotation/>"),
    ];

    #[test]
    fn truths_may_be_text() {
        let truths = [
            (
                "t/1.txt",
                "dog 1 2 3.5 4\n\ntraffic light 5 6 7 8 difficult\n",
            ),
            ("t/2.txt", ""),
        ];
        let found = [("p/1.txt", "dog 0.5 1 2 3 4\ntraffic light 0.25 5 6 7 8\n")];
        let (dataset, _) = read(&truths, &found, &VocOptions::default()).unwrap();
        let [dog, light] = dataset.images()[0].annotations.as_slice() else {
            panic!("2 objects");
        };
        assert_eq!(
            (dog.shape.xywh(), dog.ignore),
            ([1.0, 2.0, 2.5, 2.0], false)
        );
        assert_eq!(
            (light.shape.xywh(), light.ignore),
            ([5.0, 6.0, 2.0, 2.0], true)
        );
        assert_eq!(dataset.classes()[1].name, "traffic light");
        assert_eq!(
            (dataset.images().len(), dataset.predictions(0).len()),
            (2, 2)
        );
        for (line, expected) in [
            ("dog 1 2 3", "found 4 words, expected 5"),
            ("dog 1 2 0 4", "xmax: found 0, expected xmin"),
            ("dog 1 2 x 4", "xmax: found \"x\", expected a finite number"),
        ] {
            let error = read(&[("t/1.txt", line)], &found, &VocOptions::default());
            let error = error.unwrap_err().to_string();
            assert!(
                error.starts_with("t/1.txt:1: ") && error.contains(expected),
                "{error}"
            );
        }
        for (line, expected) in [
            ("dog 1 2 3 4", true),
            ("dog 1 2 3 4 difficult", true),
            ("0 0.5 0.5 0.25 0.25", false),
            ("images/a.jpg", false),
            ("dog", false),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(is_corner_line(&words), expected, "{line}");
        }
    }

    #[test]
    fn columns_of_results_may_have_another_order() {
        let columns = Some("score,xmin,ymin,xmax,ymax,image".parse().unwrap());
        let options = VocOptions {
            columns,
            ..VocOptions::default()
        };
        let found = [("p/dog.txt", "0.5 1 2 3 4 10\n")];
        let (dataset, _) = read(&TRUTHS, &found, &options).unwrap();
        assert_eq!(dataset.predictions(0)[0].score, 0.5);
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a list of cases")]
    fn what_is_in_the_files() {
        let by_class = [
            (
                "r/comp4_det_test_dog.txt",
                "2008_1 .5 1 2 3 4\n\n10 1e-3 0 0 0 0\n",
            ),
            ("r/comp4_det_test_traffic light.txt", "2008_1 0.25 1 2 4 6"),
            ("r/comp4_det_test_a_horse.txt", "2008_1 -7 0 0 1 1"),
            ("r/comp4_det_test_cow.txt", ""),
        ];
        let by_image = [
            ("p/10.txt", "dog 1e-3 0 0 0 0"),
            (
                "p/2008_1.txt",
                "a_horse -7 0 0 1 1\ndog .5 1 2 3 4\r\ntraffic  light 0.25 1 2 4 6\n",
            ),
        ];
        let (dataset, warnings) = read(&TRUTHS, &by_class, &VocOptions::default()).unwrap();
        assert_eq!(warnings, Warnings::new());
        let names: Vec<_> = dataset
            .classes()
            .iter()
            .map(|class| class.name.as_str())
            .collect();
        assert_eq!(names, ["a_horse", "cat & co", "dog", "traffic light"]);
        let images: Vec<_> = dataset
            .images()
            .iter()
            .map(|image| image.key.clone())
            .collect();
        assert_eq!(
            images,
            ["10", "2008_1", "none"].map(|name| Key::Text(name.into()))
        );
        let objects = dataset.images().iter().flat_map(|image| &image.annotations);
        let objects = objects.map(|object| {
            (
                object.class,
                object.ignore,
                object.area,
                object.shape.xywh(),
            )
        });
        assert_eq!(
            objects.collect::<Vec<_>>(),
            [
                (1, false, 0.0, [-1.0, 0.0, 0.0, 10.0]),
                (2, true, 312.375, [10.0, 10.25, 10.5, 29.75]),
                (3, false, 12.0, [1.0, 2.0, 3.0, 4.0]),
            ]
        );
        let found = dataset.predictions(1).iter();
        let found = found.map(|found| (found.class, found.score, found.shape.xywh()));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                (0, -7.0, [0.0, 0.0, 1.0, 1.0]),
                (2, 0.5, [1.0, 2.0, 2.0, 2.0]),
                (3, 0.25, [1.0, 2.0, 3.0, 4.0]),
            ]
        );
        assert_eq!(dataset.predictions(0).len(), 1);
        assert!(dataset.predictions(2).is_empty());

        // The files in another order are the same data set, and so are names without a prefix.
        let read = |truths: &[_], predictions: &[_]| {
            let read = read(truths, predictions, &VocOptions::default());
            read.map(|(dataset, _)| dataset)
        };
        let (mut truths, mut by_class, mut by_image) = (TRUTHS, by_class, by_image);
        let from_images = read(&truths, &by_image).unwrap();
        truths.reverse();
        by_class.reverse();
        by_image.reverse();
        assert_eq!(read(&truths, &by_class).as_ref(), Ok(&dataset));
        assert_eq!(read(&truths, &by_image).as_ref(), Ok(&from_images));
        for (name, _) in &mut by_class {
            *name = name.strip_prefix("r/comp4_det_test_").unwrap();
        }
        assert_eq!(read(&truths, &by_class).as_ref(), Ok(&dataset));

        // The other form says the same, except that its detections have no order across images.
        let found = |dataset: &Dataset<BBox>| {
            let images = 0..dataset.images().len();
            images
                .flat_map(|image| dataset.predictions(image).to_vec())
                .collect::<Vec<_>>()
        };
        let without_position = |found: Vec<Prediction>| {
            let found = found.into_iter();
            found
                .map(|found| Prediction {
                    position: 0,
                    ..found
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(from_images.classes(), dataset.classes());
        assert_eq!(from_images.images(), dataset.images());
        assert_eq!(found(&from_images), without_position(found(&dataset)));
        let positions = found(&dataset).into_iter().map(|found| found.position);
        assert_eq!(positions.collect::<Vec<_>>(), [2, 0, 0, 0]);
    }

    #[test]
    fn what_files_are_named_after() {
        for (stem, class) in [
            ("comp4_det_test_dog", "dog"),
            ("comp3_0f3a-salt_det_val_traffic_light", "traffic_light"),
            ("comp4_det_test_", ""),
            ("comp4_det_dog", "comp4_det_dog"),
            ("computer", "computer"),
        ] {
            assert_eq!(class_of(stem), class);
        }
        let truth = "<annotation><object><name>x</name><bndbox><xmin>0</xmin><ymin>0</ymin>
            <xmax>1</xmax><ymax>1</ymax></bndbox></object></annotation>";
        let truths = [("x.xml", truth), ("y.xml", truth)];
        let (none, after) = (VocOptions::default(), |files| VocOptions {
            files: Some(files),
            ..VocOptions::default()
        });
        let problem = |predictions: &[(&str, &str)], options| {
            read(&truths, predictions, &options)
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(problem(&[], none), None);
        assert_eq!(problem(&[("y.txt", "x 1 0 0 1 1")], none), None);
        assert_eq!(
            problem(&[("comp4_det_test_z.txt", "x 1 0 0 1 1")], none),
            None
        );
        assert_eq!(
            problem(&[("x.txt", "x 1 0 0 1 1")], after(VocFiles::Images)),
            None
        );
        assert_eq!(
            problem(&[("x.txt", "x 1 0 0 1 1")], after(VocFiles::Classes)),
            None
        );
        assert_eq!(
            problem(&[("z.txt", "x 1 0 0 1 1")], after(VocFiles::Classes)),
            None
        );
        for (predictions, expected) in [
            (
                &[("z.txt", "")][..],
                "z.txt: found a file named after neither an image nor a class of the ground truth, expected one of them",
            ),
            (
                &[("x.txt", "")],
                "x.txt: found a name of an image, and x.txt has one of a class, expected only one of \
                 the two",
            ),
            (
                &[("comp4_det_test_x.txt", ""), ("y.txt", "")],
                "y.txt: found a name of an image, and comp4_det_test_x.txt has one of a class, \
                 expected only one of the two",
            ),
            (
                &[("comp3_det_test_z.txt", ""), ("comp4_det_test_z.txt", "")],
                r#"comp4_det_test_z.txt: found a second file of "z", expected only comp3_det_test_z.txt"#,
            ),
        ] {
            assert_eq!(problem(predictions, none).as_deref(), Some(expected));
        }
    }

    #[test]
    fn predictions_of_other_images() {
        let by_class = [("comp4_det_test_dog.txt", "10 1 0 0 1 1\n11 1 0 0 1 1")];
        let by_image = [("10.txt", "dog 1 0 0 1 1"), ("11.txt", "dog 1 0 0 1 1")];
        for (predictions, position) in [
            (&by_class[..], "comp4_det_test_dog.txt:2: image"),
            (&by_image, "11.txt"),
        ] {
            let read = |extra| {
                let options = VocOptions {
                    extra,
                    ..VocOptions::default()
                };
                read(&TRUTHS, predictions, &options)
            };
            let error = read(ExtraImages::Error).unwrap_err().to_string();
            assert_eq!(
                error,
                format!(r#"{position}: found "11", expected an image that has a truth file"#)
            );
            let (dataset, warnings) = read(ExtraImages::Ignore).unwrap();
            assert_eq!(dataset.images().len(), 3);
            assert_eq!(warnings, Warnings::from([(Warning::UnknownImage, 1)]));
            let (dataset, warnings) = read(ExtraImages::Empty).unwrap();
            assert_eq!(dataset.images().len(), 4);
            assert_eq!(dataset.predictions(1).len(), 1);
            assert_eq!(warnings, Warnings::new());
        }
    }

    #[test]
    fn lines_that_are_none() {
        let form = "expected 6: class score xmin ymin xmax ymax";
        for (line, problem) in [
            ("1 2 3 4 5", format!("found 5 words, {form}")),
            ("dog", format!("found 1 words, {form}")),
            ("big dog 1 0 0 1 1", format!("found 7 words, {form}")),
            (
                "dog nan 0 0 1 1",
                r#"score: found "nan", expected a finite number"#.to_owned(),
            ),
            (
                "dog 1 0 x 1 1",
                r#"ymin: found "x", expected a finite number"#.to_owned(),
            ),
            (
                "dog 1 0 3 1 2",
                "ymax: found 2, expected ymin, which is 3, or more".to_owned(),
            ),
            (
                "dog 1 -1e308 0 1e308 1",
                "xmax: x2 - x1 is inf: expected a finite number".to_owned(),
            ),
        ] {
            let error = read(&TRUTHS, &[("10.txt", line)], &VocOptions::default()).unwrap_err();
            assert_eq!(error.to_string(), format!("10.txt:1: {problem}"));
        }
    }

    #[test]
    fn annotations_that_are_none() {
        let object = |inner: &str| {
            format!("<annotation><object/>{inner}</annotation>").replacen(
            "<object/>",
            "<object><name>a</name><bndbox><xmin>0</xmin><ymin>0</ymin><xmax>1</xmax><ymax>1</ymax>\
             </bndbox></object>",
            1,
        )
        };
        let bndbox = |corners: [&str; 4]| {
            let [xmin, ymin, xmax, ymax] = corners;
            object(&format!(
                "<object><name>a</name><bndbox><xmin>{xmin}</xmin><ymin>{ymin}</ymin>
                <xmax>{xmax}</xmax><ymax>{ymax}</ymax></bndbox></object>"
            ))
        };
        for (text, expected) in [
            (
                String::new(),
                "the document does not have a root node, expected well-formed XML",
            ),
            ("<svg/>".to_owned(), "found <svg>, expected <annotation>"),
            (
                "<!DOCTYPE a [<!ENTITY b \"c\">]><annotation>&b;</annotation>".to_owned(),
                "XML with DTD detected, expected well-formed XML",
            ),
            (
                object("<object/>"),
                "object[1]: name: found nothing, expected the name of a class",
            ),
            (
                object("<object><name>a</name></object>"),
                "object[1]: bndbox: found nothing, expected a box",
            ),
            (
                object("<object><name>a</name><difficult>yes</difficult></object>"),
                r#"object[1]: difficult: found "yes", expected 0 or 1"#,
            ),
            (
                object("<object><name>a</name><bndbox/></object>"),
                r#"object[1]: bndbox.xmin: found "", expected a finite number"#,
            ),
            (
                bndbox(["0", "0", "inf", "1"]),
                r#"object[1]: bndbox.xmax: found "inf", expected a finite number"#,
            ),
            (
                bndbox(["5", "0", "4.5", "1"]),
                "object[1]: bndbox.xmax: found 4.5, expected xmin, which is 5, or more",
            ),
        ] {
            let error = read(&[("1.xml", &text)], &[], &VocOptions::default()).unwrap_err();
            assert_eq!(error.to_string(), format!("1.xml: {expected}"));
        }
    }

    #[test]
    fn deep_documents() {
        let text = "<annotation>".repeat(100_000);
        assert!(read(&[("1.xml", &text)], &[], &VocOptions::default()).is_err());
        let text = text + &"</annotation>".repeat(100_000);
        assert!(read(&[("1.xml", &text)], &[], &VocOptions::default()).is_ok());
    }

    /// Lines that were taken out of a copy are still the source of the names of classes, also where their numbers are
    /// wrong, and of the format.
    #[test]
    fn copies_have_the_classes_of_the_original() {
        let folder = tempfile::tempdir().unwrap();
        let [original, copy, predictions] = ["o", "c", "p"].map(|name| folder.path().join(name));
        for (path, text) in [
            (&original, "red car 9 9 1 1"),
            (&copy, ""),
            (&predictions, "red car 0.5 1 1 9 9"),
        ] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("a.txt"), text).unwrap();
        }
        let options = VocOptions::default();
        let (dataset, _) = read_copy(&copy, &predictions, &options, Some(&original)).unwrap();
        assert_eq!(dataset.predictions(0).len(), 1);
        assert_eq!(dataset.classes()[0].name, "red car");
        let error = read_voc(&copy, &predictions, &options).unwrap_err();
        let problem = "found 7 words, expected 6: class score xmin ymin xmax ymax";
        assert_eq!(error.problem.to_string(), problem);
    }

    #[test]
    fn folders() {
        let folder = tempfile::tempdir().unwrap();
        let (truths, predictions) = (folder.path().join("t"), folder.path().join("p"));
        fs::create_dir(&truths).unwrap();
        fs::create_dir(&predictions).unwrap();
        let read = || read_voc(&truths, &predictions, &VocOptions::default());
        assert_eq!(
            read().unwrap_err().problem.to_string(),
            "found no truths, expected files *.xml"
        );
        for (name, text) in TRUTHS {
            fs::write(truths.join(name.strip_prefix("a/").unwrap()), text).unwrap();
        }
        fs::write(predictions.join("readme.md"), "?").unwrap();
        assert_eq!(
            read().unwrap_err().problem.to_string(),
            "found no predictions, expected files *.txt"
        );
        fs::write(predictions.join("comp4_det_test_dog.txt"), "10 1 0 0 1 1").unwrap();
        let (dataset, _) = read().unwrap();
        assert_eq!(
            (dataset.images().len(), dataset.predictions(0).len()),
            (3, 1)
        );
    }
}
