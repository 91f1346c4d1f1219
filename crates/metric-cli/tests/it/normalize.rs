//! `metric normalize`.

use serde_json::{Value, json};

use crate::common::Folder;

#[test]
fn rows_of_whisper() {
    let folder = Folder::new(&[]);
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/whisper/");
    for file in ["basic_split", "english", "english_numbers"] {
        let rows = std::fs::read_to_string(format!("{golden}{file}.jsonl")).expect("golden rows");
        let rows = rows
            .lines()
            .map(|row| serde_json::from_str(row).expect("a row"));
        // The first line says where the rows are from.
        let rows: Vec<Value> = rows.skip(1).collect();
        assert!(rows.len() > 500, "{file}");
        let steps = rows[0]["normalizer"].as_str().expect("a name");
        let lines = rows
            .iter()
            .map(|row| format!("{}\n", json!({"x": 1, "text": row["text"]})));
        folder.put("texts.jsonl", lines.collect::<String>().as_bytes());
        let run = folder.run(&format!("normalize {steps} texts.jsonl --field text"));
        let made = run.code(0).stdout;
        assert_eq!(made.lines().count(), rows.len());
        for (line, row) in made.lines().zip(&rows) {
            let line: Value = serde_json::from_str(line).expect("an object");
            assert_eq!(line["text"], row["expected"], "{}", row["id"]);
        }
    }
}

#[test]
fn what_is_not_normalized_stays() {
    let folder = Folder::new(&[]);
    folder.put("lines.txt", "ABC \r\n\nÄ".as_bytes());
    let run = folder.run("normalize lower,strip lines.txt").code(0);
    assert_eq!(run.stdout, "abc\r\n\nä");
    folder.put(
        "lines.jsonl",
        b"{\"n\": 1.10, \"t\": \"A\\u00c9\", \"x\":[1,  \"A\"]}\n\n{\"t\": [\"A\",\"B\"] }\n",
    );
    let run = folder.run("normalize lower lines.jsonl --field t").code(0);
    assert_eq!(
        run.stdout,
        "{\"n\": 1.10, \"t\": \"aé\", \"x\":[1,  \"A\"]}\n\n{\"t\": [\"a\",\"b\"] }\n"
    );
}

#[test]
fn problems_name_the_line() {
    let folder = Folder::new(&[]);
    folder.put("lines.txt", b"A\n");
    folder
        .run("normalize lowr lines.txt")
        .fails(2, &["STEPS \"lowr\": unknown normalization step", "lower"]);
    folder
        .run("normalize lower none.txt")
        .fails(3, &["none.txt: cannot open"]);
    let rows = [
        ("[1]", "found a list, expected an object"),
        ("{\"u\": 1}", "t: is missing"),
        (
            "{\"t\": 1}",
            "t: found a number, expected a text or a list of texts",
        ),
        (
            "{\"t\": [\"a\", null]}",
            "t: found null, expected a text or a list of texts",
        ),
    ];
    for (line, says) in rows {
        folder.put(
            "lines.jsonl",
            format!("{{\"t\": \"A\"}}\n{line}\n").as_bytes(),
        );
        let run = folder.run("normalize lower lines.jsonl --field t").code(3);
        // The lines before it are printed.
        assert_eq!(run.stdout, "{\"t\": \"a\"}\n", "{line}");
        assert!(
            run.stderr.contains(&format!("lines.jsonl:2: {says}")),
            "{}",
            run.stderr
        );
    }
    folder.put("lines.txt", b"a\ncaf\xe9\n");
    let run = folder.run("normalize lower lines.txt").code(3);
    assert!(
        run.stderr.contains("lines.txt:2: not UTF-8: byte 0xe9"),
        "{}",
        run.stderr
    );
}

#[test]
fn compressed_files_and_long_lines() {
    let folder = Folder::new(&[("lines.txt", "ABC\nLONGER\n")]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, b"ABC\nLONGER\n").expect("gzip");
    let bytes = encoder.finish().expect("gzip");
    folder.put("lines.txt.gz", &bytes);
    let run = folder.run("normalize lower lines.txt.gz").code(0);
    assert_eq!(run.stdout, "abc\nlonger\n");
    folder.put("cut.txt.gz", &bytes[..bytes.len() - 4]);
    let run = folder.run("normalize lower cut.txt.gz").code(3);
    let says = "cut.txt.gz: cannot read: the compressed file is cut short";
    assert!(run.stderr.contains(says), "{}", run.stderr);
    let run = folder
        .run("normalize lower lines.txt --max-bytes 5")
        .code(5);
    assert_eq!(run.stdout, "abc\n");
    assert!(
        run.stderr
            .contains("lines.txt:2: the line takes more memory than allowed by --max-bytes 5"),
        "{}",
        run.stderr
    );
}

#[test]
fn damaged_texts_are_warnings() {
    let folder = Folder::new(&[("lines.txt", "मैं घर\n[noise]\n")]);
    let run = folder.run("normalize whisper-basic lines.txt").code(0);
    for says in [
        "warning: 1 word has vowel signs or other marks of Devanagari",
        "warning: 1 text is empty",
    ] {
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
    assert_eq!(
        folder
            .run("normalize whisper-basic lines.txt --quiet")
            .code(0)
            .stderr,
        ""
    );
    let run = folder
        .run("normalize punctuation,whisper-english lines.txt")
        .code(0);
    assert!(
        run.stderr
            .contains("punctuation comes before whisper-english"),
        "{}",
        run.stderr
    );
}
