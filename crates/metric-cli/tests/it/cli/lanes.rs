//! Lane graphs and frames of OpenLane-V2.

use serde_json::{Value, json};

use super::read;
use crate::common::{Folder, Run};

#[test]
fn lane_graphs() {
    let clip = |lanes: &str, kind: &str| {
        format!(r#"{{"0": {{"attr_info": {{"LaneType": "{kind}"}}, "centerline": {lanes}}}}}"#)
    };
    let truth = clip("[1, 2]", "BusLane");
    let folder = Folder::new(&[
        ("clip.json", truth.as_str()),
        (
            "clips.json",
            &format!(r#"{{"c1": {truth}, "c2": {truth}}}"#),
        ),
        ("predicted.json", &clip("[2, \"1\"]", "BusLane")),
        ("nothing.json", "{}"),
        (
            "clips-predicted.json",
            &format!(r#"{{"c1": null, "c2": {}}}"#, clip("[1]", "BikeLane")),
        ),
        (
            "twice.json",
            r#"{"0": {"attr_info": {}, "centerline": []}, "0": {"attr_info": {}, "centerline": []}}"#,
        ),
    ]);
    let run = |words: &str| folder.run(&format!("score lanes --format json {words}"));
    let strict = run("-r clip.json -p predicted.json").json();
    assert_eq!(
        strict["counts"]["overall"],
        json!({"tp": 1, "predicted": 2, "true": 2})
    );
    let text = run("-r clip.json -p predicted.json --lane-ids text").json();
    assert_eq!(text["scores"]["overall_f1"], json!(1.0));
    let nothing = run("-r clip.json -p nothing.json").json();
    assert_eq!(
        nothing["counts"]["rule"],
        json!({"tp": 0, "predicted": 0, "true": 1})
    );
    assert_eq!(nothing["scores"]["rule_precision"], json!(0.0));
    // A value that is not a label is a prediction that cannot be read, not another map of clips.
    for text in ["null", "[]", "\"no rules\"", r#"{"0": null}"#] {
        folder.put("odd.json", text.as_bytes());
        let odd = run("-r clip.json -p odd.json").json();
        assert_eq!(
            (&odd["examples"], &odd["counts"]["unparsable"]),
            (&json!(1), &json!(1)),
            "{text}"
        );
    }
    let clips = run("-r clips.json -p clips-predicted.json").json();
    assert_eq!(
        (&clips["examples"], &clips["counts"]["correspondence"]["tp"]),
        (&json!(2), &json!(1))
    );
    assert!(
        clips["warnings"][0]
            .as_str()
            .is_some_and(|text| text.starts_with("1 prediction is null"))
    );
    let given = run("-r clip.json -p predicted.json --alignment given").json();
    assert_eq!(
        (&given["scores"]["rule_f1"], &given["counts"]["rule"]),
        (&json!(null), &json!(null))
    );
    run("-r twice.json -p nothing.json").fails(3, &["twice.json", "\"0\""]);
}

#[test]
fn lanes_that_the_map_has_not() {
    let rules = |lanes: &str| {
        format!(r#"{{"0": {{"attr_info": {{"LaneType": "BusLane"}}, "centerline": {lanes}}}}}"#)
    };
    let map = r#""data": {"vector": {"1": {"type": "3"}, "2": {"type": "3"}, "9": {"type": "0"}}}"#;
    let record = format!(r#"{{"id": "a", "reference": {}, {map}}}"#, rules("[1, 2]"));
    let found = format!(r#"{{"id": "a", "prediction": {}}}"#, rules("[1, 9, 7]"));
    let folder = Folder::new(&[
        ("r.jsonl", record.as_str()),
        ("p.jsonl", &found),
        ("none.jsonl", &record.replace(map, "\"x\": 0")),
    ]);
    let run = |file: &str, how: &str| {
        folder.run(&format!(
            "score lanes --format json -r {file} -p p.jsonl --dangling-lanes {how}"
        ))
    };
    let precision = |run: Run| run.json()["scores"]["correspondence_precision"].clone();
    assert_eq!(precision(run("r.jsonl", "count")), json!(1.0 / 3.0));
    assert_eq!(precision(run("r.jsonl", "drop")), json!(1.0));
    run("r.jsonl", "error").fails(
        3,
        &["id \"a\": prediction: rule \"0\": lane 7 is not a centerline"],
    );
    run("none.jsonl", "drop").fails(
        3,
        &["id \"a\": reference: no centerlines", "MapDR's `data`"],
    );
    for (wrong, says) in [
        ("7", "\"data\": found the number `7`, expected a map"),
        ("{}", "\"data\": no \"vector\" in the map"),
        (
            r#"{"vector": {"1": {"type": 3}}}"#,
            "\"data\": found the number `3`, expected a string in \"type\" of vector \"1\"",
        ),
    ] {
        let record = record.replace(map, &format!("\"data\": {wrong}"));
        folder.put("r.jsonl", record.as_bytes());
        run("r.jsonl", "drop").fails(3, &["r.jsonl", says]);
    }
}

#[test]
fn lane_graphs_by_property_and_class() {
    let clip = |kind: &str, time: &str, lane: u8| {
        format!(
            r#"{{"0": {{"attr_info": {{"LaneType": "{kind}", "EffectiveTime": "{time}"}}, "centerline": [{lane}]}}}}"#
        )
    };
    let folder = Folder::new(&[
        ("r.json", clip("BusLane", "07:00-09:00", 1).as_str()),
        ("p.json", &clip("buslane ", "7:00-9:00", 1)),
    ]);
    let run = |words: &str| {
        folder.run(&format!(
            "score lanes --format json -r r.json -p p.json {words}"
        ))
    };
    let strict = run("--details details.json").json();
    let property = &strict["groups"]["property"]["LaneType"];
    assert_eq!(property["scores"]["accuracy"], json!(0.0));
    let class = &strict["groups"]["LaneType"]["BusLane"];
    assert_eq!(
        (
            &class["scores"]["rule_recall"],
            &class["scores"]["correspondence_recall"]
        ),
        (&json!(0.0), &json!(1.0))
    );
    assert_eq!(strict["scores"]["lanes_exact"], json!(1.0));
    let details: serde_json::Value =
        serde_json::from_str(&read(&folder, "details.json")).expect("JSON");
    assert_eq!(
        details["confused"]["LaneType"],
        json!({"BusLane": {"buslane ": 1}})
    );

    let lenient = run("--equality space,case,times").json();
    assert_eq!(lenient["scores"]["overall_f1"], json!(1.0));
    assert!(
        lenient["signature"]
            .as_str()
            .is_some_and(|signature| signature.contains("equality=case,space,times")
                || signature.contains("equality:case,space,times")),
        "{}",
        lenient["signature"]
    );
    run("--equality generous").fails(2, &["generous", "expected strict, or some of"]);
}

#[test]
#[cfg_attr(not(feature = "report"), ignore = "writes reports or charts")]
fn pictures_of_lane_graphs() {
    let clip = |kind: &str| {
        format!(r#"{{"0": {{"attr_info": {{"LaneType": "{kind}"}}, "centerline": [1]}}}}"#)
    };
    let (bus, bike) = (clip("Bus<Lane"), clip("BikeLane"));
    let folder = Folder::new(&[
        (
            "r.json",
            format!(r#"{{"a/b": {bus}, ".": {bus}}}"#).as_str(),
        ),
        ("p.json", &format!(r#"{{"a/b": {bike}, ".": null}}"#)),
        (
            "words.jsonl",
            "{\"id\": 1, \"reference\": \"a\", \"prediction\": \"a\"}\n",
        ),
        (
            "frame.jsonl",
            concat!(
                r#"{"id": "f", "reference": {"lane_centerline": [{"points": [[0, 0, 0], [9, 0, 0]]}], "#,
                r#""traffic_element": [], "topology_lclc": [[0]], "topology_lcte": [[]]}, "#,
                r#""prediction": {"lane_centerline": [], "traffic_element": [], "topology_lclc": [], "topology_lcte": []}}"#,
            ),
        ),
    ]);
    let drawn = folder.run("score lanes --format json -r r.json -p p.json --svg drawn");
    assert_eq!(drawn.json()["examples"], json!(2));
    let picture = read(&folder, "drawn/a%2Fb.svg");
    assert!(picture.starts_with("<svg ") && picture.contains("Bus&lt;Lane \u{2192} BikeLane"));
    assert!(read(&folder, "drawn/%2E.svg").contains("prediction not readable"));

    folder
        .run("score openlane --format json --pairs frame.jsonl --svg frames")
        .json();
    assert!(read(&folder, "frames/f.svg").contains("lane 0"));
    // A metric that draws no examples has charts.
    folder
        .run("score string-accuracy --pairs words.jsonl --svg charts")
        .code(0);
    assert!(read(&folder, "charts/chart.examples-by-string-accuracy.svg").starts_with("<svg "));
}

#[test]
fn lane_topology() {
    // Two lanes, the second after the first, and a light for both.
    let lane = |id: u8, from: u8, confidence: &str| {
        let to = from + 20;
        format!(r#"{{"id": {id}, "points": [[{from}, 0, 0], [{to}, 0, 0]]{confidence}}}"#)
    };
    let frame = |confidence: &str, lane_edges: &str| {
        let (a, b) = (lane(1, 0, confidence), lane(2, 20, confidence));
        format!(
            r#"{{"lane_centerline": [{a}, {b}], "traffic_element": [{{"id": 3, "attribute": 1, "points": [[0, 0], [9, 9]]{confidence}}}], "topology_lclc": {lane_edges}, "topology_lcte": [[1], [1]]}}"#
        )
    };
    let empty = r#"{"lane_centerline": [], "traffic_element": [], "topology_lclc": [], "topology_lcte": []}"#;
    let truth = frame("", "[[0, 1], [0, 0]]");
    let sure = r#", "confidence": 0.5"#;
    let right = frame(sure, "[[0, 0.9], [0, 0]]");
    let record = |id: &str, field: &str, value: &str| {
        format!("{{\"id\": \"{id}\", \"{field}\": {value}}}\n")
    };
    let truths = record("b", "reference", &truth) + &record("a", "reference", empty);
    let found = record("a", "prediction", empty) + &record("b", "prediction", &right);
    let folder = Folder::new(&[("r.jsonl", &truths), ("p.jsonl", &found)]);
    let score = "score openlane -r r.jsonl -p p.jsonl --format json";
    let result = folder.run(&format!("{score} --per-sample s.jsonl")).json();
    let one = json!({"tp": 1, "predicted": 1, "true": 1});
    let two = json!({"tp": 2, "predicted": 2, "true": 2});
    // Half of the lanes' edges in and out do not exist.
    assert_eq!(
        result["scores"],
        json!({
            "DET_l": 1.0, "DET_t": 1.0, "TOP_ll": 1.0, "TOP_lt": 1.0, "OLS": 1.0,
            "DET_t_present": 1.0, "edgeless_ll": 0.5, "edgeless_lt": 0.0,
        })
    );
    assert_eq!(
        result["counts"],
        json!({
            "frames": 2, "elements": one,
            "vertices_ll": {"total": 12, "edgeless": 6},
            "vertices_lt": {"total": 9, "edgeless": 0},
        })
    );
    let threshold = json!({
        "scores": {
            "DET_l": 1.0,
            "edge_precision_ll": 1.0, "edge_recall_ll": 1.0, "edge_f1_ll": 1.0,
            "edge_precision_lt": 1.0, "edge_recall_lt": 1.0, "edge_f1_lt": 1.0,
        },
        "counts": {"lanes": two, "edges_ll": one, "edges_lt": two},
    });
    assert_eq!(
        result["groups"],
        json!({
            "threshold": {"1": threshold, "2": threshold, "3": threshold},
            "attribute": {"red": {"scores": {"average_precision": 1.0}, "counts": one}},
        })
    );
    assert_eq!(
        result["warnings"],
        json!([
            "12 of 13 attributes are neither true nor predicted, and count as 1 in DET_t (DET_t_present leaves them out)"
        ])
    );
    let samples = std::fs::read_to_string(folder.path("s.jsonl")).expect("samples");
    let first: Value = serde_json::from_str(samples.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&first["id"], &first["scores"]["OLS"]),
        (&json!("b"), &json!(1.0))
    );

    // A frame without a prediction misses all that is true.
    folder.put("p.jsonl", record("a", "prediction", empty).as_bytes());
    let none = folder
        .run(&format!("{score} --missing empty --quiet"))
        .json();
    assert_eq!(
        (&none["scores"]["DET_l"], &none["missing"]),
        (&json!(0.0), &json!(1))
    );
    // 12 of 13 attributes are absent.
    assert_eq!(none["scores"]["DET_t"], json!(12.0 / 13.0));
    folder.run(score).fails(3, &["\"b\""]);

    for (wrong, says) in [
        (
            right.replace("[[0, 0.9], [0, 0]]", "[[0, 0.9]]"),
            "topology_lclc: expected a row for each of 2 lanes, found 1",
        ),
        (
            right.replace("[20, 0, 0]", "[20, 0]"),
            "lane_centerline[0]: point 1: expected 3 coordinates, found 2",
        ),
        (
            right.replace("[20, 0, 0]", "[NaN, 0, 0]"),
            "p.jsonl:1: malformed JSON: NaN is not a JSON number at column",
        ),
        (
            right.replace("\"id\": 2", "\"id\": 1"),
            "the id 1 occurs twice",
        ),
        (
            right.replace("\"attribute\": 1", "\"attribute\": 13"),
            "an attribute from 0 to 12, found 13",
        ),
        (truth, "lane_centerline[0]: no confidence"),
        ("null".to_owned(), "expected a frame"),
    ] {
        let records = record("b", "prediction", &wrong) + &record("a", "prediction", empty);
        folder.put("p.jsonl", records.as_bytes());
        folder.run(score).fails(3, &["p.jsonl", says]);
    }
}

#[test]
fn pictures_of_long_ids_have_names_of_their_own() {
    let long = "x".repeat(250);
    let escaped = "x".repeat(180) + " ";
    let id = |position: usize| match position {
        1 => escaped.clone(),
        20 | 21 => format!("{long}{position}"),
        _ => position.to_string(),
    };
    let pair = |position| {
        let id = id(position);
        format!("{{\"id\": \"{id}\", \"reference\": [[1]], \"prediction\": [[1]]}}\n")
    };
    let pairs: String = (0..22).map(pair).collect();
    let folder = Folder::new(&[("pairs.jsonl", &pairs)]);
    folder
        .run("score arc --pairs pairs.jsonl --svg drawn")
        .code(0);
    let drawn = std::fs::read_dir(folder.path("drawn")).expect("a folder");
    let names = drawn.map(|file| file.expect("a file").file_name());
    // The others are charts of all examples.
    let of_examples = names.filter(|name| !name.to_string_lossy().starts_with("chart."));
    assert_eq!(of_examples.count(), 22);
    for end in ["%20", "~20", "~21"] {
        let name = format!("drawn/{}{end}.svg", "x".repeat(180));
        assert!(folder.path(&name).exists(), "{name}");
    }
    assert!(folder.path("drawn/19.svg").exists());
}
