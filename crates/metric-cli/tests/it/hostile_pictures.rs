//! Pictures, panoptic files and texts of YOLO that attack their readers: each is an error that names the file, in little memory.

use crate::common::png::{Header, ids, labels, png};
use crate::common::{Folder, Run};

/// Runs the program with at most 1 GB of address space, where a shell can limit it.
fn run(folder: &Folder, words: &str) -> Run {
    if cfg!(not(target_os = "linux")) {
        return folder.run(words);
    }
    let program = env!("CARGO_BIN_EXE_metric");
    let mut command = std::process::Command::new("sh");
    command
        .args([
            "-c",
            &format!("ulimit -v 1000000 && exec {program} {words}"),
        ])
        .current_dir(folder.path(""));
    Run::new(words, command.output().expect("the program runs"))
}

/// An attack: a picture, and what is said of it; nothing if it is read.
type Attack = (&'static str, Vec<u8>, Option<&'static str>);

/// Rows of bytes without a pattern.
fn noise(rows: usize, bytes: usize) -> Vec<Vec<u8>> {
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    let row = |_| (0..bytes).map(|_| next()).collect();
    (0..rows).map(row).collect()
}

fn cut(mut picture: Vec<u8>) -> Vec<u8> {
    picture.truncate(picture.len() - 20);
    picture
}

/// Pictures of 2 x 2 pixels, and such that claim to be larger, of labels or of ids.
fn pictures(header: Header) -> Vec<Attack> {
    let channels = if header.color == 2 { 3 } else { 1 };
    let rows = || vec![vec![0_u8; 2 * channels]; 2];
    let claims = |width, height| {
        png(
            Header {
                width,
                height,
                ..header
            },
            &[],
            rows(),
        )
    };
    let interlaced = |width, height| {
        let header = Header {
            width,
            height,
            is_interlaced: true,
            ..header
        };
        png(header, &[], rows())
    };
    let good = png(header, &[], rows());
    let mut checksum = good.clone();
    checksum[29] ^= 1;
    let mut unknown = good.clone();
    unknown.splice(33..33, [0, 0, 0, 200, b'X', b'X', b'X', b'X']);
    vec![
        ("a bomb", claims(65_535, 65_535), Some("max-pixels")),
        ("a wide bomb", claims(2_147_483_647, 1), Some("max-pixels")),
        ("a tall image", claims(1, 1 << 27), Some("expected")),
        ("a large claim", claims(16_000, 16_000), Some("")),
        (
            "an interlaced bomb",
            interlaced(65_535, 65_535),
            Some("max-pixels"),
        ),
        (
            "a large interlaced claim",
            interlaced(8_000, 8_000),
            Some(""),
        ),
        ("no pixels", claims(0, 2), Some("not a valid PNG file")),
        ("a cut file", cut(good.clone()), Some("cut off")),
        ("a cut header", good[..20].to_vec(), Some("cut off")),
        ("nothing", Vec::new(), Some("")),
        ("another checksum", checksum, Some("not a valid PNG file")),
        ("a chunk beyond the end", unknown, Some("")),
        (
            "a picture of another kind",
            b"\xff\xd8\xff\xe0JFIF".to_vec(),
            Some(""),
        ),
        (
            "16 bits of RGB",
            png(
                Header {
                    bits: 16,
                    color: 2,
                    ..header
                },
                &[],
                [[0_u8; 12]; 2],
            ),
            Some("expected"),
        ),
        (
            "gray with alpha",
            png(Header { color: 4, ..header }, &[], [[0_u8; 4]; 2]),
            Some("expected"),
        ),
    ]
}

/// An animation of one frame.
fn animation(header: Header, row: &[u8]) -> Vec<u8> {
    png(header, &[(b"acTL", &[0, 0, 0, 1, 0, 0, 0, 0])], [row, row])
}

/// A palette of two colors, of which one is transparent.
fn palette() -> Vec<u8> {
    let header = Header {
        color: 3,
        ..Header::gray(2, 2)
    };
    let chunks: [(&[u8; 4], &[u8]); 2] = [(b"PLTE", &[1, 2, 3, 4, 5, 6]), (b"tRNS", &[0, 255])];
    png(header, &chunks, [[0_u8, 1]; 2])
}

#[test]
fn label_maps() {
    let header = Header::gray(2, 2);
    let mut attacks = pictures(header);
    attacks.push(("an animation", animation(header, &[0, 1]), None));
    attacks.push(("a palette with alpha", palette(), None));
    for side in ["truth", "found"] {
        for (what, bytes, says) in &attacks {
            let folder = Folder::new(&[]);
            for name in ["truth", "found"] {
                folder.put(&format!("{name}/im.png"), &labels(&[&[0, 1], &[0, 1]]));
            }
            let file = format!("{side}/im.png");
            folder.put(&file, bytes);
            let run = run(&folder, "score segmentation -r truth -p found --classes 2");
            println!("{what} in {side}");
            match says {
                // The sizes of both sides are compared first, in an error about the predictions.
                Some("") => {
                    run.fails(3, &["/im.png"]);
                }
                Some(says) => {
                    run.fails(3, &["/im.png", says]);
                }
                None => {
                    run.code(0);
                }
            }
        }
    }
    // Labels of 16 bits without a pattern, of which nearly all are unknown.
    let folder = Folder::new(&[]);
    let wide = Header {
        bits: 16,
        ..Header::gray(400, 400)
    };
    folder.put(
        "truth/im.png",
        &png(Header::gray(400, 400), &[], vec![vec![1_u8; 400]; 400]),
    );
    folder.put("found/im.png", &png(wide, &[], noise(400, 800)));
    run(&folder, "score segmentation -r truth -p found --classes 2").code(0);
    run(&folder, "score segmentation -r found -p truth --classes 2")
        .fails(3, &["found/im.png", "found the label"]);
    let limited = "score segmentation -r truth -p found --classes 2 --max-pixels 159999";
    run(&folder, limited).fails(3, &["im.png", "max-pixels"]);
}

#[cfg(unix)]
#[test]
fn links_out_of_folders_of_label_maps() {
    let folder = Folder::new(&[]);
    folder.put("secret.png", &labels(&[&[0, 1]]));
    folder.put("truth/im.png", &labels(&[&[0, 1]]));
    std::fs::create_dir(folder.path("found")).expect("a folder");
    let link = folder.path("found/im.png");
    std::os::unix::fs::symlink("../secret.png", &link).expect("a link");
    let run_maps = || run(&folder, "score segmentation -r truth -p found --classes 2");
    // One's own links are followed; a submission may have none.
    run_maps().code(0);
    std::fs::remove_file(&link).expect("a link");
    std::os::unix::fs::symlink("im.png", &link).expect("a link to itself");
    run_maps().fails(3, &["im.png"]);
}

/// A panoptic file of one image with a segment, whose picture has this name.
fn segments(file: &str) -> String {
    format!(
        r#"{{"categories": [{{"id": 1, "name": "sky", "isthing": 0}}], "annotations": [{{"image_id": 1, "file_name": {file:?}, "segments_info": [{{"id": 5, "category_id": 1, "area": 4, "iscrowd": 0}}]}}]}}"#
    )
}

fn panoptic() -> Folder {
    let folder = Folder::new(&[]);
    for side in ["truth", "found"] {
        folder.put(&format!("{side}.json"), segments("1.png").as_bytes());
        folder.put(&format!("{side}/1.png"), &ids(&[&[5, 5], &[5, 5]]));
    }
    folder
}

const PANOPTIC: &str = "score panoptic -r truth.json -p found.json";

#[test]
fn pictures_of_segments() {
    /// The pixels of a side of a picture of noise.
    const SIDE: usize = 600;
    let header = Header::rgb(2, 2);
    let mut attacks = pictures(header);
    let row = [5, 0, 0, 5, 0, 0];
    attacks.push(("an animation", animation(header, &row), None));
    attacks.push(("a palette with alpha", palette(), Some("has a palette")));
    for side in ["truth", "found"] {
        for (what, bytes, says) in &attacks {
            let folder = panoptic();
            let file = format!("{side}/1.png");
            folder.put(&file, bytes);
            let run = run(&folder, PANOPTIC);
            println!("{what} in {side}");
            match says {
                Some("") => {
                    run.fails(3, &["/1.png"]);
                }
                Some(says) => {
                    run.fails(3, &["/1.png", says]);
                }
                None => {
                    run.code(0);
                }
            }
        }
    }
    // Noise, of which nearly each pixel has an id of its own.
    let folder = panoptic();
    let header = Header::rgb(SIDE as u32, SIDE as u32);
    let noise = png(header, &[], noise(SIDE, 3 * SIDE));
    folder.put(
        "truth/1.png",
        &png(header, &[], vec![[5, 0, 0].repeat(SIDE); SIDE]),
    );
    folder.put("found/1.png", &noise);
    run(&folder, PANOPTIC).fails(3, &["found/1.png", "max-segments"]);
    folder.put("truth/1.png", &noise);
    run(&folder, PANOPTIC).fails(3, &["/1.png", "max-segments"]);
}

#[test]
fn panoptic_files() {
    for (text, says) in [
        (String::new(), "found.json"),
        ("{}".to_owned(), "annotations"),
        ("[]".to_owned(), "expected an object"),
        ("null".to_owned(), "found.json"),
        (
            "{\"annotations\": []}".to_owned(),
            "no prediction for 1 reference",
        ),
        ("{\"annotations\": {}}".to_owned(), "found.json"),
        ("{\"annotations\": [[]]}".to_owned(), "annotations[0]"),
        (segments("../truth/1.png"), "is not inside the folder"),
        (segments("/etc/passwd"), "is not inside the folder"),
        (segments("..\\truth\\1.png"), "is not inside the folder"),
        (segments(""), "is not inside the folder"),
        (segments("2.png"), "found/2.png: image 1: cannot be opened"),
        (segments("."), "found"),
        ("[".repeat(100_000), "found.json"),
        ("{\"annotations\":".repeat(100_000), "found.json"),
        (
            segments("1.png").replace("\"id\": 5", "\"id\": 99999999999"),
            "found.json",
        ),
        (
            segments("1.png").replace("\"id\": 5", "\"id\": -1"),
            "found.json",
        ),
        (segments("1.png").replace("\"id\": 5", "\"id\": 6"), "found"),
        (
            segments("1.png").replace("\"image_id\": 1", "\"image_id\": {}"),
            "found.json",
        ),
    ] {
        let folder = panoptic();
        folder.put("found.json", text.as_bytes());
        println!("{}", text.chars().take(80).collect::<String>());
        run(&folder, PANOPTIC).fails(3, &["found", says]);
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_folders_of_segments() {
    let folder = panoptic();
    let link = folder.path("found/1.png");
    std::fs::remove_file(&link).expect("a file");
    std::os::unix::fs::symlink("../truth/1.png", link).expect("a link");
    run(&folder, PANOPTIC).fails(3, &["found/1.png", "is a link out of its folder"]);
}

#[test]
fn texts_of_yolo() {
    let long = format!("0 {}\n", "0.1 ".repeat(1_000_000));
    let words = format!("0 0.5 0.5 {} 0.2 0.9\n", "1".repeat(1_000_000));
    for (bytes, says) in [
        (b"0 0.5 0.5 0.2\n".to_vec(), "1.txt:1"),
        (b"0 0.5 0.5 0.2 0.2 nan\n".to_vec(), "1.txt:1"),
        (b"0 0.5 inf 0.2 0.2 0.9\n".to_vec(), "1.txt:1"),
        (b"0 0.5 1e400 0.2 0.2 0.9\n".to_vec(), "1.txt:1"),
        (b"0 0.5 0.5 -0.2 0.2 0.9\n".to_vec(), "1.txt:1"),
        (b"-1 0.5 0.5 0.2 0.2 0.9\n".to_vec(), "1.txt:1"),
        (b"4294967296 0.5 0.5 0.2 0.2 0.9\n".to_vec(), "1.txt:1"),
        (b"1e30 0.5 0.5 0.2 0.2 0.9\n".to_vec(), "1.txt:1"),
        (b"0.5 0.5 0.5 0.2 0.2 0.9\n".to_vec(), "1.txt:1"),
        (b"0 0.5 0.5 0.2 0.2 7\n".to_vec(), "save_conf"),
        (b"0.87 dog\n0.10 cat\n".to_vec(), "1.txt:1"),
        (b"\xff\xfe0\x00 \x000\x00".to_vec(), "1.txt"),
        (b"0 0.5 0.5 0.2 0.2 0.9\n\xc3\x28\n".to_vec(), "1.txt"),
        (vec![0; 100_000], "1.txt"),
        (b"\x89PNG\r\n\x1a\n\x00\x00".to_vec(), "1.txt"),
        (long.into_bytes(), "1.txt:1"),
        (words.into_bytes(), "1.txt:1"),
    ] {
        let folder = Folder::new(&[]);
        folder.put("truth/1.txt", b"0 0.5 0.5 0.2 0.2\n");
        folder.put("found/1.txt", &bytes);
        println!("{}", String::from_utf8_lossy(&bytes[..bytes.len().min(60)]));
        let words = "score ultralytics -r truth -p found --iou-type bbox";
        run(&folder, words).fails(3, &["found/1.txt", says]);
        // Labels are the same without a confidence.
        folder.put("found/1.txt", b"0 0.5 0.5 0.2 0.2 0.9\n");
        folder.put("truth/1.txt", &bytes);
        let of_labels = run(&folder, words);
        if of_labels.code != Some(0) {
            of_labels.fails(3, &["truth/1.txt"]);
        }
    }
}

#[test]
fn data_sets_of_yolo() {
    let picture = png(Header::rgb(10, 10), &[], [[0_u8; 30]; 10]);
    let data = |text: &str, picture: &[u8]| {
        let folder = Folder::new(&[("set/data.yaml", text)]);
        folder.put("set/images/1.png", picture);
        folder.put("set/labels/1.txt", b"0 0.5 0.5 0.2 0.2\n");
        folder.put("found/1.txt", b"0 0.5 0.5 0.2 0.2 0.9\n");
        folder
    };
    let words = "score ultralytics -r set/data.yaml -p found --iou-type bbox";
    let good = "val: images\nnames: [dog]\n";
    run(&data(good, &picture), words).code(0);
    // Sizes are those of headers, of which nothing is decoded.
    let bomb = png(Header::rgb(65_535, 65_535), &[], [[0_u8; 6]; 2]);
    run(&data(good, &bomb), words).code(0);
    for bytes in [
        &picture[..20],
        b"",
        b"\xff\xd8\xff\xe0\x00\x10JFIF",
        &[0; 5_000],
    ] {
        run(&data(good, bytes), words).fails(3, &["set/images/1.png", "--image-size"]);
    }
    let aliases = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: &h [*g,*g,*g,*g,*g,*g,*g,*g,*g]\nval: *h\nnames: [dog]\n";
    for text in [
        "",
        "[]",
        "val: images\n",
        "val: [images\n",
        "val: no-such\nnames: [dog]\n",
        "val: 7\nnames: [dog]\n",
        "val: images\nnames: {0: dog, 0: cat}\n",
        "val: images\nnames: {99999999999: dog}\n",
        "val: images\nnames: [dog]\nnc: 1000000000000\n",
        "val: images\nnc: 1000000000000\n",
        aliases,
    ] {
        println!("{text}");
        run(&data(text, &picture), words).fails(3, &["data.yaml"]);
    }
    run(&data(&"[".repeat(100_000), &picture), words).fails(3, &["data.yaml"]);
    // A list that names itself is a list of pictures that are not there.
    let folder = data("val: list.txt\nnames: [dog]\n", &picture);
    folder.put("set/list.txt", b"./list.txt\n./list.txt\n");
    run(&folder, words).fails(3, &["data.yaml", "leads to no picture"]);
}
