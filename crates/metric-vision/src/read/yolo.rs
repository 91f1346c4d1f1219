use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use metric_record::Shard;

use super::folder::{
    self, Contents, Detected, Elsewhere, ExtraImages, Folder, FolderFile, Line, Object, Part,
    is_held,
};
use super::image_sizes::ImageSizes;
use super::order::{YoloLine, is_other_order};
use super::text_columns::{self, TextColumns};
use super::{File, ReadError, Warning, Warnings};
use crate::{BBox, Class, Dataset, Key};

/// The files that may hold the names of classes in a folder of truths; the first one found is used.
/// Files with these names do not belong to an image.
const NAMES: [&str; 3] = ["classes.txt", "obj.names", DATA];

/// Ultralytics' description of a data set, which names the classes under `names`.
const DATA: &str = "data.yaml";

/// The extension of labels.
const TEXT: &str = "txt";

/// The folder of the labels of a data set, next to which the others are.
const LABELS: &str = "labels";

/// How to read folders of YOLO.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct YoloOptions {
    /// The sizes of the images, by which the numbers in the files are converted to pixels.
    pub sizes: ImageSizes,
    /// What to do with a prediction file without a truth file.
    pub extra: ExtraImages,
    /// The columns of predictions; `None` for `class cx cy width height confidence`.
    pub columns: Option<TextColumns>,
    /// Read only the images that this shard holds, and everything about them. The list of classes stays
    /// that of the whole data set: where no file names the classes, the others are read for theirs as
    /// far as they can be.
    pub shard: Option<Shard>,
    /// The number of bytes of the files of one folder that may be held in memory; `None` for
    /// [`DEFAULT_MAX_BYTES`](metric_record::DEFAULT_MAX_BYTES).
    pub max_bytes: Option<u64>,
}

metric_core::setters!(YoloOptions {
    with_sizes => sizes: ImageSizes,
    with_extra => extra: ExtraImages,
    with_columns => columns: Option<TextColumns>,
    with_shard => shard: Option<Shard>,
    with_max_bytes => max_bytes: Option<u64>,
});

/// Reads a folder of YOLO labels and a folder of predictions, as Ultralytics writes them with
/// `save_txt=True save_conf=True`.
///
/// Both folders hold one file `<image>.txt` per image. A label is a line `class cx cy width height`, a prediction
/// `class cx cy width height confidence`: the class is a non-negative integer, the others are fractions of the image's
/// width and height. Blank lines and empty files are fine. Images have the names of their files as [`Key::Text`], even
/// if these are numerals. An image without a prediction file has no detections; [`YoloOptions::extra`] decides what
/// happens to a prediction file without a truth file. Hidden files, subfolders and files of other extensions are left
/// out. The detections of an image are in the order of the lines. Across images they have no order, so their
/// [`position`](crate::Prediction::position) is 0.
///
/// A folder that contains a folder `labels` is the root of a data set, whose files are in that one. Where `labels`
/// has a folder for each part of the data set, such as `labels/val`, that folder is given.
///
/// Names of classes, one per line, are read from `classes.txt` or else `obj.names` in the folder of truths
/// or in the root, which is around `labels`, or from `names` in `data.yaml`. Then a true object of a class beyond them
/// is an error, and a detection of one is left out with [`Warning::UnknownClass`]. Without, the classes are those that
/// occur.
///
/// Coordinates and areas are in pixels if [`YoloOptions::sizes`] gives the sizes of the images, else
/// fractions (see [`ImageSizes::Unknown`]).
///
/// # Errors
///
/// Returns an error if a folder or file cannot be read or is not UTF-8; there is no truth file, or no prediction file; a
/// line has another count of numbers (polygons, key points and oriented boxes are not read); the confidence of
/// predictions is the second column, as far as the boxes and the truths can tell; a number is not finite; a label has a
/// number that is not between 0 and 1; or a confidence is above 1 by more than rounding. Detections may reach beyond
/// the image by its own size: a center outside of -1 to 2 or a width or height outside of 0 to 2 is assumed to be in
/// pixels, and is an error.
///
/// See [`parse_yolo`] for an example.
pub fn read_yolo(
    truths: &Path,
    predictions: &Path,
    options: &YoloOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let [truths, predictions] = [truths, predictions].map(labels_of);
    let root = root_of(&truths)
        .map(|root| Folder::read_files(root, &NAMES, options.max_bytes))
        .transpose()?;
    let names = root.as_ref().map(Folder::files).unwrap_or_default();
    let is_named = !names.is_empty() || NAMES.iter().any(|name| truths.join(name).is_file());
    let part = |image: &str| {
        if is_held(options.shard, image) {
            Part::All
        } else if is_named {
            Part::Name
        } else {
            Part::Readable
        }
    };
    let [truths, predictions] = [
        Folder::read(&truths, TEXT, &NAMES, options.max_bytes, part)?
            .with_some(&truths, "truths", TEXT, &NAMES)?,
        Folder::read(&predictions, TEXT, &[], options.max_bytes, part)?.with_some(
            &predictions,
            "predictions",
            TEXT,
            &NAMES,
        )?,
    ];
    // The names next to the labels are of these labels; those of the root are of all.
    let of_labels = truths.files();
    let is_new = |file: &File<'_>| of_labels.iter().all(|other| other.base() != file.base());
    let names = names.into_iter().filter(is_new);
    let truths: Vec<File<'_>> = of_labels.iter().copied().chain(names).collect();
    parse_yolo(&truths, &predictions.files(), options)
}

/// The folder of the labels: one called `labels`, if the folder is the root of a data set, and in that the only
/// folder, if that is all it holds.
fn labels_of(folder: &Path) -> PathBuf {
    let inner = folder.join(LABELS);
    let is_labels = folder.file_name().is_some_and(|name| name == LABELS);
    let labels = if inner.is_dir() {
        inner
    } else if is_labels {
        folder.to_owned()
    } else {
        return folder.to_owned();
    };
    match folder::subfolders(&labels).as_slice() {
        [one] if !folder::has_files(&labels, TEXT) => labels.join(one),
        _ => labels,
    }
}

/// The root of the data set that has a folder of labels: the folder around `labels`.
fn root_of(labels: &Path) -> Option<&Path> {
    let mut folders = labels.ancestors().take(2);
    let labels = folders.find(|folder| folder.file_name().is_some_and(|name| name == LABELS))?;
    labels.parent()
}

/// Reads the boxes of YOLO files in memory, in any order, like [`read_yolo`] those of folders.
///
/// # Errors
///
/// Returns an error as [`read_yolo`] does, and if two files are of one image or of class names.
///
/// ```
/// use metric_vision::read::{File, YoloOptions, parse_yolo};
///
/// let file = |name, text| File { name, text };
/// let truths = [
///     file("labels/classes.txt", "person\ncar\n"),
///     file("labels/road.txt", ""),
///     file("labels/street.txt", "1 0.5 0.5 0.25 0.5\n"),
/// ];
/// let predictions = [file("runs/street.txt", "1 0.5 0.5 0.25 0.25 0.875\n")];
/// let (dataset, warnings) = parse_yolo(&truths, &predictions, &YoloOptions::default())?;
/// assert!(warnings.is_empty());
/// assert_eq!(dataset.classes()[1].name, "car");
/// assert_eq!(dataset.images()[1].annotations[0].shape.xywh(), [0.375, 0.25, 0.25, 0.5]);
/// assert_eq!(dataset.predictions(1)[0].score, 0.875);
///
/// let wrong = [file("runs/street.txt", "1 320 240 160 120 0.875\n")];
/// let error = parse_yolo(&truths, &wrong, &YoloOptions::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "runs/street.txt:1: cx: found 320, expected a fraction of the image, -1 to 2",
/// );
/// # Ok::<(), metric_vision::read::ReadError>(())
/// ```
pub fn parse_yolo(
    truths: &[File<'_>],
    predictions: &[File<'_>],
    options: &YoloOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let of_names = truths.iter().filter(|file| NAMES.contains(&file.base()));
    let of_names = folder::by_name(of_names.copied(), File::base)?;
    let names = NAMES.iter().find_map(|name| of_names.get(name));
    let names = names.map(class_names).transpose()?;

    let held = |file: &File<'_>| is_held(options.shard, file.stem());
    let mut images = BTreeMap::new();
    for (image, file) in by_image(truths, held)? {
        let scale = options.sizes.scale(image, &file)?;
        let objects = file
            .lines()
            .map(|line| object(&line, scale, names.as_deref()));
        images.insert(image, objects.collect::<Result<Vec<_>, _>>()?);
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
        let counts = contents.counts(image, |problem| file.error("", "", problem))?;
        let scale = if counts {
            options.sizes.scale(image, &file)?
        } else {
            [1.0; 2]
        };
        for line in file.lines() {
            let (class, score, shape) = detection(&line, scale, options.columns)?;
            let named = names
                .as_ref()
                .is_none_or(|names| (class as usize) < names.len());
            match (counts, named) {
                (false, _) => contents.warn(Warning::UnknownImage),
                (_, false) => contents.warn(Warning::UnknownClass(Key::Number(class.into()))),
                _ => contents.detect(Detected {
                    image,
                    position: 0,
                    class: Key::Number(class.into()),
                    score,
                    shape,
                }),
            }
        }
    }
    let (dataset, warnings) = contents.dataset(names)?;
    if options.columns.is_none() && is_other_order(&dataset, &options.sizes) {
        return Err(other_order(predictions));
    }
    Ok((dataset, warnings))
}

/// The error of predictions whose confidence is the second column, at the first box that leaves its image.
fn other_order(predictions: &[File<'_>]) -> ReadError {
    let problem = "found a box that leaves the image, and boxes that fit the images if the confidence is the second column; expected class cx cy width height confidence, so move the second column to the end, or name the columns in their order";
    let mut files: Vec<File<'_>> = of_images(predictions).collect();
    files.sort_unstable_by_key(|file| file.name);
    for file in &files {
        for line in file.lines() {
            let read = detection(&line, [1.0; 2], None);
            if read.is_ok_and(|(_, score, shape)| {
                YoloLine::of_box(&shape, score, [1.0; 2]).is_far_outside()
            }) {
                return line.error("", problem.to_owned());
            }
        }
    }
    ReadError::new("", problem)
}

/// The files that are of images.
fn of_images<'a>(files: &[File<'a>]) -> impl Iterator<Item = File<'a>> {
    let files = files.iter().copied();
    files.filter(|file| !NAMES.contains(&file.base()))
}

/// The files of images that are held, by image.
fn by_image<'a>(
    files: &[File<'a>],
    held: impl Fn(&File<'a>) -> bool,
) -> Result<BTreeMap<&'a str, File<'a>>, ReadError> {
    folder::by_name(of_images(files).filter(held), File::stem)
}

/// The classes that occur in a file, as far as it can be read.
fn classes_in<'a>(file: File<'a>) -> impl Iterator<Item = Key> + 'a {
    file.lines().filter_map(|line| {
        let class = class_number(&line, line.words.first()?).ok()?;
        Some(Key::Number(class.into()))
    })
}

/// The classes that a file names, one a line.
fn class_names(file: &File<'_>) -> Result<Vec<Class>, ReadError> {
    if file.base() == DATA {
        return names_in_yaml(file.content()).map_err(|problem| file.error("", "names", problem));
    }
    let mut names = Vec::new();
    let lines = file.content().trim_end().lines();
    for (key, name) in (0_i64..).zip(lines.map(str::trim)) {
        if name.is_empty() {
            let problem = "found nothing, expected the name of a class";
            let error = file.error("", "", problem.to_owned());
            return Err(error.line(key.unsigned_abs() + 1));
        }
        names.push(Class::new(Key::Number(key), name.to_owned()));
    }
    Ok(names)
}

/// The names in a `data.yaml`: a list or a mapping from numbers, in brackets or one per line.
fn names_in_yaml(text: &str) -> Result<Vec<Class>, String> {
    let mut lines = text.lines().map(without_comment);
    let first = lines.find_map(|line| line.strip_prefix("names:"));
    let first = first.ok_or("expected names of classes, found none")?.trim();
    let is_inner = |line: &&str| line.trim().is_empty() || line.starts_with([' ', '\t', '-']);
    let entries: Vec<String> = match first.chars().next() {
        None => {
            let inner = lines.take_while(is_inner).map(str::trim);
            let inner = inner.filter(|line| !line.is_empty());
            let entry = |line: &str| line.strip_prefix("- ").unwrap_or(line).to_owned();
            inner.map(entry).collect()
        }
        Some(open @ ('[' | '{')) => {
            let close = if open == '[' { ']' } else { '}' };
            let rest: Vec<&str> = lines.collect();
            let all = format!("{}\n{}", &first[1..], rest.join("\n"));
            let mut entries = Vec::new();
            let mut start = 0;
            let mut marks = outside_quotes(&all).filter(|(_, char)| [',', close].contains(char));
            loop {
                let (end, mark) = marks
                    .next()
                    .ok_or_else(|| format!("{open:?} is not closed: expected {close:?}"))?;
                entries.push(all[start..end].trim());
                start = end + 1;
                if mark == close {
                    break;
                }
            }
            let entries = entries.into_iter().filter(|entry| !entry.is_empty());
            entries.map(str::to_owned).collect()
        }
        Some(_) => {
            return Err(format!(
                "found {first:?}, expected a list or a mapping of names"
            ));
        }
    };
    let class = |(key, entry): (i64, &String)| {
        let name = match entry.split_once(':') {
            Some((number, name)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                if number.parse() != Ok(key) {
                    return Err(format!(
                        "found the class {number}, expected {key}: the numbers ascend from 0"
                    ));
                }
                name.trim()
            }
            _ => entry.as_str(),
        };
        let name = unquoted(name);
        if name.is_empty() {
            Err(format!("the name of class {key} is empty"))
        } else {
            Ok(Class::new(Key::Number(key), name.into_owned()))
        }
    };
    let classes: Vec<Class> = (0..).zip(&entries).map(class).collect::<Result<_, _>>()?;
    if classes.is_empty() {
        Err("expected names of classes, found none".to_owned())
    } else {
        Ok(classes)
    }
}

/// A line of YAML without its comment.
fn without_comment(line: &str) -> &str {
    let is_comment = |position: usize| {
        let before = line[..position].chars().next_back();
        before.is_none_or(char::is_whitespace)
    };
    let mut marks = outside_quotes(line).filter(|(_, char)| *char == '#');
    let comment = marks.find(|(position, _)| is_comment(*position));
    let end = comment.map_or(line.len(), |(position, _)| position);
    line[..end].trim_end()
}

/// The characters of YAML that are not in quotes, with their positions. A quote opens where a value starts: the one of
/// `driver's seat` is a letter.
fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quote, mut before) = (None, None);
    text.char_indices().filter(move |(_, char)| {
        let starts_value = before.is_none_or(|before| "[{,:-\n".contains(before));
        match quote {
            None if starts_value && ['"', '\''].contains(char) => quote = Some(*char),
            None => {
                if *char == '\n' || !char.is_whitespace() {
                    before = Some(*char);
                }
                return true;
            }
            Some(open) if open == *char => (quote, before) = (None, Some(*char)),
            Some(_) => {}
        }
        false
    })
}

/// The text of a value of YAML, which may be in quotes.
fn unquoted(value: &str) -> Cow<'_, str> {
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    match (inner('"'), inner('\'')) {
        (Some(inner), _) => Cow::Owned(inner.replace("\\\"", "\"")),
        (_, Some(inner)) => Cow::Owned(inner.replace("''", "'")),
        _ => Cow::Borrowed(value),
    }
}

/// A line of a truth file.
fn object(line: &Line, scale: [f64; 2], names: Option<&[Class]>) -> Result<Object, ReadError> {
    let &[class, cx, cy, width, height] = line.words.as_slice() else {
        return Err(line.error("", other_count(line, 5, "class cx cy width height")));
    };
    let class = class_number(line, class)?;
    if let Some(names) = names
        && class as usize >= names.len()
    {
        let problem = format!(
            "found {class}, expected less than {}, the number of named classes",
            names.len()
        );
        return Err(line.error("class", problem));
    }
    Ok(Object {
        class: Key::Number(class.into()),
        ignore: false,
        shape: shape(line, [cx, cy, width, height], scale, [[0.0, 1.0]; 2])?,
    })
}

/// The greatest confidence: 1, and what numbers of 16 bits add to it in rounding.
const MOST_CONFIDENCE: f64 = 1.001;

/// A line of a prediction file.
fn detection(
    line: &Line,
    scale: [f64; 2],
    columns: Option<TextColumns>,
) -> Result<(u32, f64, BBox), ReadError> {
    let words = match columns {
        None => Cow::Borrowed(&line.words),
        Some(columns) => Cow::Owned(
            columns
                .arranged(&line.words, &text_columns::YOLO)
                .map_err(|problem| line.error("", problem))?,
        ),
    };
    let &[class, cx, cy, width, height, confidence] = words.as_slice() else {
        let form = "class cx cy width height confidence";
        return Err(line.error("", other_count(line, 6, form)));
    };
    let class = class_number(line, class)?;
    let limits = [[-1.0, 2.0], [0.0, 2.0]];
    let shape = shape(line, [cx, cy, width, height], scale, limits)?;
    let [confidence] = line.numbers(["confidence"], [confidence])?;
    if confidence > MOST_CONFIDENCE {
        let hint = if confidence.fract() == 0.0 {
            "ids of tracks are not confidences, which predict writes under save_conf=True"
        } else {
            "a confidence is a probability, and not a percentage or a logit"
        };
        let problem = format!("found {confidence}, expected at most 1: {hint}");
        return Err(line.error("confidence", problem));
    }
    Ok((class, confidence, shape))
}

/// The error for a line with another count of numbers.
fn other_count(line: &Line, expected: usize, form: &str) -> String {
    let found = line.words.len();
    let hint = match found {
        5 => "; predictions have theirs under save_conf=True",
        6 => "; a line with a confidence is a prediction",
        7.. => "; polygons, key points and oriented boxes are not read",
        _ => "",
    };
    format!("found {found} numbers, expected {expected}: {form}{hint}")
}

/// The class, which programs also write as `3.0`.
fn class_number(line: &Line, word: &str) -> Result<u32, ReadError> {
    let number = word.parse::<f64>().ok();
    let whole = number
        .filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number));
    // The cast is exact: the number is whole and in the range of u32.
    whole.map(|number| number as u32).ok_or_else(|| {
        let problem = format!("found {word:?}, expected a non-negative integer");
        line.error("class", problem)
    })
}

/// The box of four fractions, which are to be within these limits: of the center, and of the size.
fn shape(
    line: &Line,
    words: [&str; 4],
    scale: [f64; 2],
    [centre, size]: [[f64; 2]; 2],
) -> Result<BBox, ReadError> {
    const FIELDS: [&str; 4] = ["cx", "cy", "width", "height"];
    let numbers = line.numbers(FIELDS, words)?;
    let limits = [centre, centre, size, size];
    for ((field, number), [least, most]) in FIELDS.into_iter().zip(numbers).zip(limits) {
        if !(least..=most).contains(&number) {
            let problem =
                format!("found {number}, expected a fraction of the image, {least} to {most}");
            return Err(line.error(field, problem));
        }
    }
    let [cx, cy, width, height] = numbers;
    let [x, y] = scale;
    BBox::from_cxcywh(cx * x, cy * y, width * x, height * y)
        .map_err(|error| line.error("", error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroU32;

    #[test]
    fn names_of_data_yaml_by_hand() {
        let rows = [
            ("names: [cat, 'dog']", Ok("cat dog")),
            (
                "# x\npath: .\nnames:\n  0: cat # the cat\n  1: \"dog\"\nnc: 2\n",
                Ok("cat dog"),
            ),
            ("names:\n- cat\n- dog\nnc: 2", Ok("cat dog")),
            ("names: {0: cat, 1: dog}", Ok("cat dog")),
            ("names: ['a, b', c]", Ok("a, b c")),
            (
                "names: {0: \"a: #1]\", 1: 'it''s'} # two",
                Ok("a: #1] it's"),
            ),
            (
                "names:\n  0: driver's seat # x\n  1: \"a # b\"\n",
                Ok("driver's seat a # b"),
            ),
            ("names: [\n  cat,\n  dog,\n]\n", Ok("cat dog")),
            ("names:\n  1: cat\n", Err("found the class 1, expected 0")),
            ("names: [cat", Err("is not closed")),
            ("names: cat", Err("expected a list or a mapping")),
            ("nc: 2", Err("found none")),
            ("names:\nnc: 2", Err("found none")),
        ];
        for (text, expected) in rows {
            let found = names_in_yaml(text).map(|classes| {
                let names: Vec<String> = classes.into_iter().map(|class| class.name).collect();
                names.join(" ")
            });
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                (found, _) => assert_eq!(found.as_deref(), Ok(""), "{text}"),
            }
        }
    }

    use super::*;

    fn files<'a>(texts: &[(&'a str, &'a str)]) -> Vec<File<'a>> {
        let files = texts.iter().map(|&(name, text)| File { name, text });
        files.collect()
    }

    /// The result of reading truths and predictions given as pairs of name and text.
    fn read(
        truths: &[(&str, &str)],
        predictions: &[(&str, &str)],
        options: &YoloOptions,
    ) -> Result<(Dataset<BBox>, Warnings), ReadError> {
        parse_yolo(&files(truths), &files(predictions), options)
    }

    fn keys(dataset: &Dataset<BBox>) -> (Vec<String>, Vec<String>) {
        (
            dataset
                .classes()
                .iter()
                .map(|class| class.key.to_string())
                .collect(),
            dataset
                .images()
                .iter()
                .map(|image| image.key.to_string())
                .collect(),
        )
    }

    const TRUTHS: [(&str, &str); 3] = [
        (
            "t/10.txt",
            "7 0.5 0.5 1 1\r\n\r\n  2\t0.25 0.25 0.5 0.5  \r\n",
        ),
        ("t/9.txt", "\u{feff}2.0 0.5 0.5 2.5e-1 +.25"),
        ("t/empty.txt", " \n"),
    ];
    const PREDICTIONS: [(&str, &str); 2] = [
        ("p/9.txt", "10 0.5 0.5 0.25 0.25 0.5\n2 -0.25 0.5 1.5 2 1\n"),
        ("p/empty.txt", ""),
    ];

    #[test]
    fn what_is_in_the_files() {
        let (dataset, warnings) = read(&TRUTHS, &PREDICTIONS, &YoloOptions::default()).unwrap();
        assert_eq!(warnings, Warnings::new());
        // Classes are numbers and images texts, and in that order.
        let (classes, images) = keys(&dataset);
        assert_eq!(classes, ["2", "7", "10"]);
        assert_eq!(images, ["10", "9", "empty"]);
        assert_eq!(dataset.classes()[2].key, Key::Number(10));
        assert_eq!(dataset.images()[1].key, Key::Text("9".into()));
        let objects = dataset.images().iter().flat_map(|image| &image.annotations);
        let objects =
            objects.map(|object| (object.class, object.id, object.area, object.shape.xywh()));
        assert_eq!(
            objects.collect::<Vec<_>>(),
            [
                (1, 1, 1.0, [0.0, 0.0, 1.0, 1.0]),
                (0, 2, 0.25, [0.0, 0.0, 0.5, 0.5]),
                (0, 3, 0.0625, [0.375, 0.375, 0.25, 0.25]),
            ]
        );
        let found = dataset.predictions(1).iter();
        let found = found.map(|found| (found.class, found.score, found.area, found.shape.xywh()));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                (2, 0.5, 0.0625, [0.375, 0.375, 0.25, 0.25]),
                (0, 1.0, 3.0, [-1.0, -0.5, 1.5, 2.0]),
            ]
        );
        assert!(dataset.predictions(0).is_empty() && dataset.predictions(2).is_empty());

        let (mut truths, mut predictions) = (TRUTHS, PREDICTIONS);
        truths.reverse();
        predictions.reverse();
        let turned = read(&truths, &predictions, &YoloOptions::default()).unwrap();
        assert_eq!(turned, (dataset, warnings));
    }

    #[test]
    fn sizes_of_images() {
        let pixels = |width: u32, height: u32| [width, height].map(|n| NonZeroU32::new(n).unwrap());
        let sizes = ImageSizes::parse(File {
            name: "sizes",
            text: "a b.JPG 8 4\nc.d 100 200\n\n",
        });
        let sizes = sizes.unwrap();
        let each = [
            ("a b".to_owned(), pixels(8, 4)),
            ("c.d".to_owned(), pixels(100, 200)),
        ];
        assert_eq!(sizes, ImageSizes::Each(each.into()));
        let (truth, found) = ("0 0.5 0.5 0.5 0.5", "0 0.5 0.5 0.5 0.5 1");
        for sizes in [sizes.clone(), ImageSizes::All(pixels(8, 4))] {
            let options = YoloOptions {
                sizes,
                ..YoloOptions::default()
            };
            let (dataset, _) =
                read(&[("a b.txt", truth)], &[("a b.txt", found)], &options).unwrap();
            let object = dataset.images()[0].annotations[0];
            assert_eq!(
                (object.shape.xywh(), object.area),
                ([2.0, 1.0, 4.0, 2.0], 8.0)
            );
            assert_eq!(dataset.predictions(0)[0].shape, object.shape);
        }
        let options = YoloOptions {
            sizes,
            ..YoloOptions::default()
        };
        let error = read(&[("c.txt", truth)], &[], &options)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            r#"c.txt: found no size of "c", expected one of every image"#
        );

        for (text, expected) in [
            ("a 1", ":1: found 2 words, expected 3: image width height"),
            (
                "a 1 1\na.png 1 1",
                r#":2: image: found "a" again, expected every image once"#,
            ),
            (
                "a 0 1",
                r#":1: width: found "0", expected a positive integer"#,
            ),
            (
                "a 1 1.5",
                r#":1: height: found "1.5", expected a positive integer"#,
            ),
        ] {
            let error = ImageSizes::parse(File {
                name: "sizes",
                text,
            })
            .unwrap_err();
            assert_eq!(error.to_string(), format!("sizes{expected}"));
        }
    }

    #[test]
    fn names_of_classes() {
        let truth = ("1.txt", "1 0.5 0.5 1 1");
        let named = |names| {
            let predictions = [
                ("1.txt", "2 0.5 0.5 1 1 1\n0 0.5 0.5 1 1 1"),
                ("classes.txt", "?"),
            ];
            read(&[truth, names], &predictions, &YoloOptions::default())
        };
        for file in ["t/classes.txt", "obj.names"] {
            let (dataset, warnings) = named((file, "cat\n big dog \n\n")).unwrap();
            let names: Vec<_> = dataset.classes().iter().map(|class| &class.name).collect();
            assert_eq!(names, ["cat", "big dog"]);
            assert_eq!(dataset.images().len(), 1);
            assert_eq!(dataset.predictions(0).len(), 1);
            assert_eq!(
                warnings,
                Warnings::from([(Warning::UnknownClass(Key::Number(2)), 1)])
            );
        }
        for (names, expected) in [
            (
                "cat",
                "1.txt:1: class: found 1, expected less than 1, the number of named classes",
            ),
            (
                "cat\n\ndog",
                "classes.txt:2: found nothing, expected the name of a class",
            ),
        ] {
            let error = named(("classes.txt", names)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn predictions_of_other_images() {
        let truths = [("1.txt", "")];
        let predictions = [("p/2.txt", "0 0.5 0.5 1 1 1\n0 0.5 0.5 1 1 1")];
        let read = |extra| {
            let options = YoloOptions {
                extra,
                ..YoloOptions::default()
            };
            read(&truths, &predictions, &options)
        };
        let error = read(ExtraImages::Error).unwrap_err().to_string();
        assert_eq!(
            error,
            r#"p/2.txt: found "2", expected an image that has a truth file"#
        );
        let (dataset, warnings) = read(ExtraImages::Ignore).unwrap();
        assert_eq!(keys(&dataset), (vec![], vec!["1".to_owned()]));
        assert_eq!(warnings, Warnings::from([(Warning::UnknownImage, 2)]));
        let (dataset, warnings) = read(ExtraImages::Empty).unwrap();
        assert_eq!(dataset.images().len(), 2);
        assert_eq!(dataset.predictions(1).len(), 2);
        assert_eq!(warnings, Warnings::new());
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a list of cases")]
    fn lines_that_are_none() {
        let five = "expected 5: class cx cy width height";
        let six = "expected 6: class cx cy width height confidence";
        let not_read = "polygons, key points and oriented boxes are not read";
        let of_image = "expected a fraction of the image";
        for (truth, problem) in [
            ("0", format!("found 1 numbers, {five}")),
            (
                "0 1 1 1 1 1",
                format!("found 6 numbers, {five}; a line with a confidence is a prediction"),
            ),
            (
                "0 0 0 1 0 1 1",
                format!("found 7 numbers, {five}; {not_read}"),
            ),
            (
                "0 0 0 1 0 1 1 0 1",
                format!("found 9 numbers, {five}; {not_read}"),
            ),
            (
                "-1 0 0 1 1",
                r#"class: found "-1", expected a non-negative integer"#.to_owned(),
            ),
            (
                "0.5 0 0 1 1",
                r#"class: found "0.5", expected a non-negative integer"#.to_owned(),
            ),
            (
                "5e9 0 0 1 1",
                r#"class: found "5e9", expected a non-negative integer"#.to_owned(),
            ),
            (
                "car 0 0 1 1",
                r#"class: found "car", expected a non-negative integer"#.to_owned(),
            ),
            (
                "0 nan 0 1 1",
                r#"cx: found "nan", expected a finite number"#.to_owned(),
            ),
            (
                "0 0 -inf 1 1",
                r#"cy: found "-inf", expected a finite number"#.to_owned(),
            ),
            (
                "0 0 0 1e999 1",
                r#"width: found "1e999", expected a finite number"#.to_owned(),
            ),
            (
                "0 0 0 1 1,5",
                r#"height: found "1,5", expected a finite number"#.to_owned(),
            ),
            (
                "0 -0.1 0 1 1",
                format!("cx: found -0.1, {of_image}, 0 to 1"),
            ),
            (
                "0 0 0 1 -0.1",
                format!("height: found -0.1, {of_image}, 0 to 1"),
            ),
            (
                "0 0 0 640 1",
                format!("width: found 640, {of_image}, 0 to 1"),
            ),
        ] {
            let text = format!("0 0 0 1 1\n\n{truth}\n");
            let error = read(&[("t.txt", &text)], &[], &YoloOptions::default());
            assert_eq!(
                error.unwrap_err().to_string(),
                format!("t.txt:3: {problem}")
            );
        }
        for (prediction, problem) in [
            (
                "0 0 0 1 1",
                format!("found 5 numbers, {six}; predictions have theirs under save_conf=True"),
            ),
            (
                "0 0 0 1 1 1 1",
                format!("found 7 numbers, {six}; {not_read}"),
            ),
            (
                "0 0 0 1 1 nan",
                r#"confidence: found "nan", expected a finite number"#.to_owned(),
            ),
            (
                "0 0 0 1 1 4",
                "confidence: found 4, expected at most 1: ids of tracks are not confidences, which predict writes under save_conf=True".to_owned(),
            ),
            (
                "0 0 0 1 1 97.5",
                "confidence: found 97.5, expected at most 1: a confidence is a probability, and not a percentage or a logit".to_owned(),
            ),
            (
                "0 2.5 0 1 1 1",
                format!("cx: found 2.5, {of_image}, -1 to 2"),
            ),
            (
                "0 0 0 1 -0.1 1",
                format!("height: found -0.1, {of_image}, 0 to 2"),
            ),
        ] {
            let error = read(
                &[("1.txt", "")],
                &[("1.txt", prediction)],
                &YoloOptions::default(),
            );
            assert_eq!(
                error.unwrap_err().to_string(),
                format!("1.txt:1: {problem}")
            );
        }
    }

    #[test]
    fn confidences_above_1_by_rounding() {
        for confidence in ["1", "1.0000001", "1.00098"] {
            let line = format!("0 0.5 0.5 1 1 {confidence}");
            let found = read(
                &[("1.txt", "")],
                &[("1.txt", &line)],
                &YoloOptions::default(),
            );
            let (dataset, _) = found.unwrap();
            assert_eq!(dataset.predictions(0).len(), 1, "{confidence}");
        }
    }

    #[test]
    fn two_files_of_an_image() {
        for ([one, other], name) in [
            (["a/1.txt", "b/1.TXT"], "1"),
            (["a/classes.txt", "b/classes.txt"], "classes.txt"),
        ] {
            let error = read(&[(one, ""), (other, "")], &[], &YoloOptions::default());
            let problem = format!("found a second file of {name:?}, expected only {one}");
            assert_eq!(
                error.unwrap_err().to_string(),
                format!("{other}: {problem}")
            );
        }
    }

    #[test]
    fn folders() {
        let folder = tempfile::tempdir().unwrap();
        let (truths, predictions) = (folder.path().join("t"), folder.path().join("p"));
        let read = || read_yolo(&truths, &predictions, &YoloOptions::default());
        let at = |path: &Path, problem: &str| format!("{}: {problem}", path.display());
        assert!(
            read()
                .unwrap_err()
                .to_string()
                .starts_with(&at(&truths, "cannot be read: "))
        );
        fs::create_dir_all(truths.join("folder.txt")).unwrap();
        fs::create_dir(&predictions).unwrap();
        fs::write(truths.join("obj.names"), "cat\ndog").unwrap();
        let error = read().unwrap_err().to_string();
        let problem = "found no truths, expected files *.txt, or one of its folders: folder.txt";
        assert_eq!(error, at(&truths, problem));

        for (file, text) in [
            ("t/b.txt", "1 0.5 0.5 1 1"),
            ("t/a.b.TXT", "0 0.5 0.5 1 1"),
            ("t/.c.txt", "?"),
            ("t/notes.md", "?"),
            ("p/classes.txt", "cat\ndog"),
        ] {
            fs::write(folder.path().join(file), text).unwrap();
        }
        let error = read().unwrap_err().to_string();
        let problem = "found no predictions, expected files *.txt";
        assert_eq!(error, at(&predictions, problem));
        fs::write(predictions.join("b.txt"), "0 0.5 0.5 1 1 1").unwrap();
        let (dataset, warnings) = read().unwrap();
        assert_eq!(warnings, Warnings::new());
        assert_eq!(keys(&dataset).1, ["a.b", "b"]);
        assert_eq!(dataset.classes()[1].name, "dog");
        assert_eq!(dataset.predictions(1).len(), 1);

        fs::write(predictions.join("a.b.txt"), b"0 0.5\xff").unwrap();
        let error = read().unwrap_err().to_string();
        let file = predictions.join("a.b.txt");
        let problem = "not UTF-8: byte 0xff at byte 6 of the line; to convert a file in WINDOWS-1252, use \
                       iconv -f WINDOWS-1252 -t UTF-8";
        assert_eq!(error, format!("{}:1: {problem}", file.display()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_names_that_are_no_text() {
        use std::os::unix::ffi::OsStrExt;

        let folder = tempfile::tempdir().unwrap();
        let latin1 = |name: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(name));
        let [truths, found] = [b"v\xe9rit\xe9", &b"pr\xe9vu"[..]].map(latin1);
        for (side, line) in [(&truths, "0 0.5 0.5 1 1"), (&found, "0 0.5 0.5 1 1 0.5")] {
            fs::create_dir(side).unwrap();
            for name in [&b"\xe0.txt"[..], b"\xe9.txt"] {
                fs::write(side.join(std::ffi::OsStr::from_bytes(name)), line).unwrap();
            }
        }
        let (dataset, _) = read_yolo(&truths, &found, &YoloOptions::default()).unwrap();
        assert_eq!(keys(&dataset).1, [r"\xE0", r"\xE9"]);
        assert_eq!(dataset.predictions(1).len(), 1);
    }

    #[test]
    fn files_that_are_too_many_for_memory() {
        let folder = tempfile::tempdir().unwrap();
        for image in ["a", "b", "c"] {
            let path = folder.path().join(image).with_extension("txt");
            fs::write(path, "0 0.5 0.5 1 1 0.5").unwrap();
        }
        let within = |max_bytes| {
            let options = YoloOptions {
                max_bytes: Some(max_bytes),
                ..YoloOptions::default()
            };
            Folder::read(folder.path(), "txt", &[], options.max_bytes, |_| {
                Part::Readable
            })
        };
        // Each file has 17 bytes.
        assert_eq!(within(51).unwrap().files().len(), 3);
        let error = within(50).err().unwrap();
        assert!(error.is_limit);
        let problem = "with 17 bytes, the files of the folder take more memory than allowed by --max-bytes 50";
        let file = folder.path().join("c.txt");
        assert_eq!(error.to_string(), format!("{}: {problem}", file.display()));
    }
}
