use std::fs;
use std::num::NonZeroU32;

use super::*;
use crate::Key;
use crate::read::Warning;

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
    let objects = objects.map(|object| (object.class, object.id, object.area, object.shape.xywh()));
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
        let (dataset, _) = read(&[("a b.txt", truth)], &[("a b.txt", found)], &options).unwrap();
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
        r#"p/2.txt: found "2", expected an image that has a truth file; that of an image without objects is empty"#
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
    let of_image = "expected a fraction of the image";
    for (truth, problem) in [
        ("0", format!("found 1 numbers, {five}")),
        (
            "0 1 1 1 1 1",
            format!("found 6 numbers, {five}; a line with a confidence is a prediction"),
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
            "0 0 0 1 1 0.5 0.5",
            format!("found 7 numbers, {six}; predictions have theirs under save_conf=True"),
        ),
        (
            "0.87 cat",
            "found a confidence and a name, as a classifier writes them: expected the predictions of a detector".to_owned(),
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
    let problem =
        "with 17 bytes, the files of the folder take more memory than allowed by --max-bytes 50";
    let file = folder.path().join("c.txt");
    assert_eq!(error.to_string(), format!("{}: {problem}", file.display()));
}

/// What boxes are read from: segments and oriented boxes by their extent, poses by their box, with ids of tracks.
#[test]
fn boxes_of_other_objects() {
    let square = [0.25, 0.25, 0.5, 0.5];
    for (label, prediction) in [
        ("0 0.5 0.5 0.5 0.5", "0 0.5 0.5 0.5 0.5 0.9 7"),
        (
            "0 0.25 0.25 0.75 0.25 0.5 0.75",
            "0 0.25 0.25 0.75 0.25 0.5 0.75 0.9 1.23457e+06",
        ),
        (
            "0 0.5 0.25 0.75 0.5 0.5 0.75 0.25 0.5",
            "0 0.5 0.25 0.75 0.5 0.5 0.75 0.25 0.5 0.9",
        ),
        // Three points of three numbers.
        (
            "0 0.5 0.5 0.5 0.5 0 0 0 0.1 0.1 2 0.2 0.2 2",
            "0 0.5 0.5 0.5 0.5 0 0 0.5 0.1 0.1 0.5 0.2 0.2 0.5 0.9",
        ),
    ] {
        let found = read(
            &[("1.txt", label)],
            &[("1.txt", prediction)],
            &YoloOptions::default(),
        );
        let (dataset, _) = found.expect(prediction);
        assert_eq!(
            dataset.images()[0].annotations[0].shape.xywh(),
            square,
            "{label}"
        );
        let found = &dataset.predictions(0)[0];
        assert_eq!(
            (found.shape.xywh(), found.score),
            (square, 0.9),
            "{prediction}"
        );
    }
}
