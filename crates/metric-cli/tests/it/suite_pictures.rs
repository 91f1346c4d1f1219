//! Suites whose tasks are folders of pictures: whose fault a damaged picture is.

use std::fs;

use crate::common::Folder;
use crate::common::png::{ids, labels};
use crate::common::zip::{Entry, archive};
use serde_json::{Value, json};

const SUITE: &str = "name = \"pictures\"
total = { rule = \"mean\", of = [\"maps.mIoU\", \"segments.PQ\"] }

[[task]]
name = \"maps\"
metric = \"segmentation\"
references = \"truth/maps\"
predictions = \"maps\"
options = { classes = [\"sky\", \"road\"] }

[[task]]
name = \"segments\"
metric = \"panoptic\"
references = \"truth/segments.json\"
predictions = \"segments.json\"
";

/// A panoptic file of two images, each with these segments.
fn segments(ids: &[(u32, u32)]) -> String {
    let of_image = |image: u32| {
        let segment = |(id, category): &(u32, u32)| json!({"id": id, "category_id": category, "area": 2, "iscrowd": 0});
        let segments: Vec<Value> = ids.iter().map(segment).collect();
        json!({"image_id": image, "file_name": format!("{image}.png"), "segments_info": segments})
    };
    let categories =
        json!([{"id": 1, "name": "sky", "isthing": 0}, {"id": 2, "name": "car", "isthing": 1}]);
    json!({"annotations": [of_image(1), of_image(2)], "categories": categories}).to_string()
}

/// The suite with a submission in the folder `s`, in which half of the pixels of each map are correct, and one of two segments.
fn suite() -> Folder {
    let folder = Folder::new(&[("suite.toml", SUITE)]);
    for side in ["truth", "s"] {
        let is_truth = side == "truth";
        let map = if is_truth { [0, 1] } else { [0, 0] };
        let of_segments: [u32; 2] = if is_truth { [258, 7] } else { [258, 258] };
        for name in ["1", "2"] {
            folder.put(&format!("{side}/maps/{name}.png"), &labels(&[&map, &map]));
            let picture = ids(&[&of_segments, &of_segments]);
            folder.put(&format!("{side}/segments/{name}.png"), &picture);
        }
        let listed: &[(u32, u32)] = if is_truth {
            &[(258, 1), (7, 2)]
        } else {
            &[(258, 1)]
        };
        let text = segments(listed);
        folder.put(&format!("{side}/segments.json"), text.as_bytes());
    }
    folder
}

const RUN: &str = "run suite.toml --format json -p";

#[test]
fn folders_of_pictures_are_scored() {
    let folder = suite();
    folder.run("run suite.toml --dry-run").code(0);
    let outcome = folder.run(&format!("{RUN} s")).json();
    let score = |task: &str, name: &str| outcome["tasks"][task]["result"]["scores"][name].clone();
    // Sky: 4 of 8 pixels. Road: none of 4.
    assert_eq!(score("maps", "mIoU"), json!(0.25), "{outcome}");
    // The segment of the sky has an IoU of 1/2, which is no match.
    assert_eq!(score("segments", "PQ"), json!(0.0), "{outcome}");
    // An archive has the pictures in the same folders.
    let names = [
        "segments.json",
        "maps/1.png",
        "maps/2.png",
        "segments/1.png",
        "segments/2.png",
    ];
    let entry = |name: &&str| {
        let bytes = fs::read(folder.path(&format!("s/{name}"))).expect("a file");
        Entry::stored(name, &bytes)
    };
    let entries: Vec<Entry> = names.iter().map(entry).collect();
    folder.put("s.zip", &archive(&entries));
    let of_archive = folder.run(&format!("{RUN} s.zip")).json();
    for task in ["maps", "segments"] {
        assert_eq!(
            of_archive["tasks"][task]["result"]["scores"],
            outcome["tasks"][task]["result"]["scores"],
            "{task}"
        );
    }
}

#[test]
fn a_damaged_picture_is_the_fault_of_its_side() {
    for (task, picture) in [("maps", "maps/2.png"), ("segments", "segments/2.png")] {
        let folder = suite();
        let damage = |side: &str| {
            let path = format!("{side}/{picture}");
            let mut bytes = fs::read(folder.path(&path)).expect("a file");
            bytes.truncate(45);
            folder.put(&path, &bytes);
        };
        damage("s");
        let outcome = folder.run(&format!("{RUN} s")).json();
        let of_task = &outcome["tasks"][task];
        assert_eq!(of_task["status"], "failed", "{outcome}");
        let reason = of_task["reason"].as_str().expect("a reason");
        assert!(reason.contains(picture), "{reason}");
        // Participants hear which of their files it is.
        let private = folder.run(&format!("{RUN} s --private")).json();
        let reason = private["tasks"][task]["reason"].as_str().expect("a reason");
        assert!(reason.contains(picture), "{reason}");

        let folder = suite();
        let path = format!("truth/{picture}");
        let bytes = fs::read(folder.path(&path)).expect("a file");
        folder.put(&path, &bytes[..45]);
        let says = format!("task \"{task}\": truth/{picture}");
        folder
            .run("run suite.toml -p s")
            .fails(3, &["error: suite.toml:", &says]);
        folder
            .run("run suite.toml -p s --private")
            .fails(3, &["the suite cannot be scored"]);
        folder.run("run suite.toml --dry-run").fails(3, &[&says]);
    }
}

/// A link to the references in place of predictions reads nothing.
#[cfg(unix)]
#[test]
fn links_to_other_folders_are_refused() {
    for (task, name) in [
        ("maps", "maps"),
        ("segments", "segments"),
        ("segments", "segments/1.png"),
    ] {
        let folder = suite();
        let target = folder.path(&format!("truth/{name}"));
        let link = folder.path(&format!("s/{name}"));
        if link.is_dir() {
            fs::remove_dir_all(&link).expect("a folder");
        } else {
            fs::remove_file(&link).expect("a file");
        }
        std::os::unix::fs::symlink(target, link).expect("a link");
        let outcome = folder.run(&format!("{RUN} s")).json();
        let of_task = &outcome["tasks"][task];
        assert_eq!(of_task["status"], "failed", "{outcome}");
        assert_eq!(
            of_task["reason"],
            format!("{name}: is a symbolic link: expected a file"),
            "{outcome}"
        );
    }
}

#[test]
fn checks_find_damaged_pictures_of_both_sides() {
    for (side, says) in [
        ("truth", "1 reference cannot be read"),
        ("s", "1 prediction cannot be read"),
    ] {
        for options in ["", "--prediction-folder s/segments"] {
            let folder = suite();
            let path = format!("{side}/segments/2.png");
            let bytes = fs::read(folder.path(&path)).expect("a file");
            folder.put(&path, &bytes[..45]);
            let check =
                format!("check panoptic -r truth/segments.json -p s/segments.json {options}");
            let run = folder.run(&check);
            let text = format!("{}{}", run.stdout, run.stderr);
            assert!(
                text.contains(says) && text.contains(&format!("{path}: image 2: ")),
                "{text}"
            );
            run.code(3);
        }
    }
}
