//! Files of other formats, their options, and what is said of those that cannot be read.

#![expect(clippy::too_many_lines, reason = "tests are rows, and some have many")]

use crate::common::Folder;

const RECORDS: &str = "{\"id\": \"a\", \"reference\": \"x\", \"prediction\": \"x\"}\n\
                       {\"id\": \"b\", \"reference\": \"007\", \"prediction\": \"7\"}\n";

const TABLE: &str = "id,reference,prediction\na,x,x\nb,007,7\n";

fn accuracy(folder: &Folder, words: &str) -> f64 {
    let words = format!("score string-accuracy --format json {words}");
    let result = folder.run(&words).json();
    result["scores"]["string_accuracy"]
        .as_f64()
        .expect("a score")
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn options_of_csv() {
    let files = [
        ("t.csv", TABLE, ""),
        (
            "s.csv",
            "id;reference;prediction\na;x;x\nb;007;7\n",
            "--delimiter semicolon",
        ),
        (
            "c.csv",
            "id^reference^prediction\na^x^x\nb^007^7\n",
            "--delimiter ^",
        ),
        (
            "t.tsv",
            "id\treference\tprediction\na\tx\tx\r\nb\t007\t\"7\"\r\n",
            "",
        ),
        (
            "q.tsv",
            "id\treference\tprediction\na\t\"x\t\"x\nb\t\"\t7\n",
            "--quote none",
        ),
        (
            "h.csv",
            "a,x,x\nb,007,7\n",
            "--header none --id-field 1 --reference-field 2 --prediction-field 3",
        ),
        (
            "e.csv",
            "id,reference,prediction\na,,\"\"\nb,007,7\n",
            "--empty-field text",
        ),
        (
            "b.csv",
            "\u{feff}id,reference,prediction\n\na,x,x\n\r\nb,007,7",
            "",
        ),
        (
            "r.csv",
            "reference,prediction\nx,x\n007,7\n",
            "--id-field #row",
        ),
        (
            "r.jsonl",
            "{\"reference\": 1, \"prediction\": 1}\n",
            "--id-field #row --header first",
        ),
        (
            "l.json",
            "[{\"id\": 1, \"reference\": \"x\",\n\"prediction\": \"x\"}, {\"id\": 2, \"reference\": \"y\", \"prediction\": \"x\"}]",
            "",
        ),
    ];
    for (name, text, options) in files {
        let folder = Folder::new(&[(name, text)]);
        if name == "r.jsonl" {
            let words = format!("score relaxed-accuracy --pairs {name} {options}");
            folder.run(&words).code(0);
            continue;
        }
        assert_eq!(
            accuracy(&folder, &format!("--pairs {name} {options}")),
            0.5,
            "{name}"
        );
        assert_eq!(
            accuracy(&folder, &format!("-r {name} -p {name} {options}")),
            0.5,
            "{name}"
        );
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn labels_of_a_table_are_integers_or_strings() {
    let folder = Folder::new(&[
        (
            "t.csv",
            "id,reference,prediction\n1,3,3\n2,03,3\n3,cat,cat\n4,-1,-1\n",
        ),
        (
            "p.jsonl",
            "{\"id\": 1, \"prediction\": 3}\n{\"id\": 2, \"prediction\": \"03\"}\n{\"id\": 3, \"prediction\": \"cat\"}\n{\"id\": \"4\", \"prediction\": -1}\n",
        ),
    ]);
    let score = |words: &str| {
        let words = format!("score classification --format json {words}");
        folder.run(&words).json()["scores"]["accuracy"].as_f64()
    };
    assert_eq!(score("--pairs t.csv"), Some(0.75));
    assert_eq!(score("-r t.csv -p p.jsonl"), Some(1.0));
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn further_columns_are_fields_of_the_references() {
    let folder = Folder::new(&[(
        "t.csv",
        "language,id,reference,prediction\njava,1,int a;,int a;\npython,2,a = 1,a = 1\n",
    )]);
    folder
        .run("score codebleu --lang-field language --pairs t.csv")
        .code(0);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn a_column_of_a_table_has_weights() {
    let folder = Folder::new(&[
        (
            "t.csv",
            "id,reference,prediction,weight\n1,0,\"[0.9, 0.1]\",3\n2,1,\"[0.9, 0.1]\",1.0\n",
        ),
        (
            "bad.csv",
            "id,reference,prediction,weight\n1,0,\"[0.9, 0.1]\",heavy\n",
        ),
    ]);
    let words = "score accuracy-at-k --input scores --weight-field weight --format json";
    let result = folder.run(&format!("{words} --pairs t.csv")).json();
    assert_eq!(result["scores"]["accuracy@1"].as_f64(), Some(0.75));
    let says = ["line 2", "\"weight\"", "\"heavy\"", "expected a number"];
    folder
        .run(&format!("{words} --pairs bad.csv"))
        .fails(3, &says);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn several_files_are_one_source() {
    let folder = Folder::new(&[
        ("part-2.csv", "id,reference,prediction\nb,007,7\n"),
        ("part-10.csv", "prediction,reference,id\nz,y,c\n"),
        ("part-1.csv", "id,reference,prediction\na,x,x\n"),
        ("same.csv", "id,reference,prediction\na,x,x\n"),
        ("other.jsonl", RECORDS),
        (".hidden.csv", "not read"),
        ("1.txt", "x\ny"),
        ("2.txt", "z"),
        ("all.txt", "x\ny\nq\n"),
    ]);
    let third = 1.0 / 3.0;
    assert_eq!(
        accuracy(&folder, "--pairs part-1.csv part-2.csv part-10.csv"),
        third
    );
    assert_eq!(accuracy(&folder, "--pairs part-*.csv"), third);
    assert_eq!(
        accuracy(&folder, "--pairs part-[0-9].csv part-10.csv"),
        third
    );
    assert_eq!(accuracy(&folder, "-r all.txt -p 1.txt 2.txt"), 2.0 / 3.0);
    folder
        .run("score string-accuracy --pairs part-*.csv --per-sample s.jsonl")
        .code(0);
    let samples = std::fs::read_to_string(folder.path("s.jsonl")).expect("samples");
    let ids: Vec<_> = samples.lines().map(|line| &line[..9]).collect();
    assert_eq!(ids, ["{\"id\":\"a\"", "{\"id\":\"b\"", "{\"id\":\"c\""]);
    let rows: [(&str, i32, &[&str]); 5] = [
        (
            "part-1.csv same.csv",
            3,
            &["duplicate id \"a\"", "part-1.csv:2", "same.csv:2"],
        ),
        ("part-1.csv part-1.csv", 3, &["part-1.csv: is named twice"]),
        (
            "part-1.csv other.jsonl",
            3,
            &["other.jsonl: is JSON Lines", "part-1.csv is CSV"],
        ),
        ("no-*.csv", 3, &["no-*.csv: the pattern matches no file"]),
        (
            "squad",
            3,
            &[
                "squad: cannot open",
                "names of the Hugging Face Hub are not resolved",
            ],
        ),
    ];
    for (files, code, says) in rows {
        folder
            .run(&format!("score string-accuracy --pairs {files}"))
            .fails(code, says);
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn a_folder_of_records_is_one_source() {
    let folder = Folder::new(&[]);
    for name in ["data", "empty", "mixed"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    folder.put("data/_SUCCESS", b"");
    folder.put("data/part-0.csv", b"id,reference,prediction\na,x,x\n");
    folder.put("data/part-1.csv", b"id,reference,prediction\nb,x,y\n");
    folder.put("mixed/a.csv", b"id,reference,prediction\n");
    folder.put("mixed/b.jsonl", b"");
    assert_eq!(accuracy(&folder, "--pairs data"), 0.5);
    for (name, says) in [
        ("empty", "without files"),
        ("mixed", "expected files of one format"),
    ] {
        folder
            .run(&format!("score string-accuracy --pairs {name}"))
            .fails(3, &[name, says]);
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn sides_have_formats_and_ids_of_their_own() {
    let folder = Folder::new(&[
        ("truth.data", "doc;reference\n1;x\n2;y\n"),
        (
            "log.jsonl",
            "{\"n\": 2, \"response\": {\"choices\": [{\"text\": \"z\"}]}}\n{\"n\": 1, \"response\": {\"choices\": [{\"text\": \"x\"}]}}\n",
        ),
        (
            "short.jsonl",
            "{\"n\": 2, \"response\": {\"raw\": 1, \"choices\": []}}\n",
        ),
    ]);
    let words = "-r truth.data --references-format csv --delimiter semicolon --references-id-field doc --predictions-id-field n --prediction-field";
    assert_eq!(
        accuracy(
            &folder,
            &format!("{words} response.choices.0.text -p log.jsonl")
        ),
        0.5
    );
    assert_eq!(
        accuracy(
            &folder,
            &format!("{words} /response/choices/0/text -p log.jsonl")
        ),
        0.5
    );
    folder
        .run(&format!(
            "score string-accuracy {words} response.text -p log.jsonl"
        ))
        .fails(
            3,
            &[
                "log.jsonl:1",
                "\"response\" has no \"text\"; it has \"choices\"",
            ],
        );
    folder
        .run(&format!(
            "score string-accuracy {words} response.choices.0.text -p short.jsonl"
        ))
        .fails(
            3,
            &[
                "short.jsonl:1",
                "\"response.choices\" has no \"0\"; it is an empty list",
            ],
        );
    folder
        .run("score string-accuracy -r truth.data -p log.jsonl")
        .fails(2, &["truth.data", "--input-format"]);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn standard_input_has_any_format_that_does_not_seek() {
    let folder = Folder::new(&[("t.csv", TABLE)]);
    let words = "score string-accuracy --format json --pairs -";
    let result = folder
        .run_with_input(&format!("{words} --input-format csv"), TABLE)
        .json();
    assert_eq!(result["scores"]["string_accuracy"], 0.5);
    // Without a name that tells the format, it is JSON Lines.
    let says = "standard input:1: expected JSON Lines, one object per line: for another format, use --input-format";
    for other in [TABLE, "[{\"id\": 1}]", "a line"] {
        let run = folder.run_with_input(words, other);
        run.fails(3, &[says]);
    }
    for (name, title, start, is_built) in [
        ("parquet", "Parquet", "PAR1", cfg!(feature = "parquet")),
        ("arrow", "Arrow", "ARROW1\0\0", cfg!(feature = "arrow")),
    ] {
        let run = folder.run_with_input(&format!("{words} --input-format {name}"), start);
        let (code, says) = if is_built {
            (3, format!("{title} cannot be read from a pipe"))
        } else {
            (
                2,
                format!("this build does not read {title}: build it with --features {name}"),
            )
        };
        run.fails(code, &["standard input", &says]);
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn tables_that_cannot_be_read() {
    let rows: [(&str, &str, i32, &[&str]); 17] = [
        (
            "t.csv",
            "id,reference,prediction\n1,\"a\nb\",c\n2,d\n",
            3,
            &["t.csv: line 4: found 2 fields: expected 3 (id, reference, prediction)"],
        ),
        (
            "t.csv",
            "id,reference,prediction\n1,\"a\nb\",\"c\" \n",
            3,
            &["line 2, column 3 \"prediction\": found text after the closing quote"],
        ),
        (
            "t.csv",
            "id,reference,prediction\n1, \"a\",b\n",
            3,
            &[
                "line 2, column 2 \"reference\"",
                "the space that precedes the quote",
            ],
        ),
        (
            "t.csv",
            "id,reference,prediction\n1,a\rb,b\n",
            3,
            &["line 2, column 2 \"reference\": found a carriage return without a line feed"],
        ),
        (
            "t.csv",
            "id,reference,prediction\n1,\"a,b\n2,c,d\n",
            3,
            &["line 2, column 2 \"reference\": a quote opens here and is never closed"],
        ),
        (
            "t.csv",
            "id;reference;prediction\n1;a;b\n",
            3,
            &[
                "line 1: the header has only one column, and it contains ';'; if ';' separates",
                "--delimiter semicolon",
            ],
        ),
        (
            "t.csv",
            "\"id\"\t\"reference\"\n",
            3,
            &[
                "line 1, column 1: found '\\t' after the closing quote of \"id\"",
                "--delimiter tab",
            ],
        ),
        (
            "t.csv",
            "doc_id,reference,prediction\n1,a,b\n",
            3,
            &[
                "line 1: no column \"id\"",
                "did you mean --id-field doc_id?",
            ],
        ),
        (
            "t.csv",
            "id,reference,prediction\n,a,b\n",
            3,
            &[
                "line 2, column 1 \"id\": is empty and not in quotes",
                "--empty-field text\n",
            ],
        ),
        (
            "t.csv",
            "id,reference,references,prediction\n1,a,b,c\n",
            3,
            &["both \"reference\" and \"references\""],
        ),
        (
            "t.csv",
            "PAR1",
            3,
            &["starts like a Parquet file: expected CSV"],
        ),
        (
            "t.parquet",
            "id,reference",
            3,
            &["t.parquet: not a Parquet file"],
        ),
        ("t.feather", "FEA1....", 3, &["Feather of version 1"]),
        (
            "t.feather",
            "PAR1....",
            3,
            &["starts like a Parquet file: expected Arrow"],
        ),
        (
            "t.parquet",
            "ARROW1..",
            3,
            &["starts like an Arrow file: expected Parquet"],
        ),
        (
            "t.csv",
            "id, reference,prediction\n1,a,b\n",
            3,
            &["did you mean --reference-field ' reference'?"],
        ),
        ("t.parquet.gz", "x", 3, &["is compressed Parquet"]),
    ];
    for (name, text, code, says) in rows {
        let is_built = match name {
            "t.parquet" | "t.parquet.gz" => cfg!(feature = "parquet"),
            "t.feather" => cfg!(feature = "arrow"),
            _ => true,
        };
        let (code, says) = if is_built {
            (code, says)
        } else {
            (
                2,
                &["this build does not read", "build it with --features"][..],
            )
        };
        let folder = Folder::new(&[(name, text)]);
        folder
            .run(&format!("score string-accuracy --pairs {name}"))
            .fails(code, says);
    }
    let folder = Folder::new(&[("t.csv", TABLE), ("r.csv", "id,reference\na,x\n")]);
    folder
        .run("score string-accuracy --pairs t.csv --delimiter ab")
        .fails(
            2,
            &[
                "--delimiter",
                "expected comma, tab, semicolon, pipe or one ASCII character",
            ],
        );
    folder
        .run("score string-accuracy -r r.csv -p t.csv --id-field #row")
        .fails(3, &["t.csv: has 2 rows: expected 1, as in r.csv"]);
    folder
        .run("score string-accuracy --pairs t.csv --split test")
        .fails(2, &["--split test", "t.csv is a file"]);
    folder
        .run("score string-accuracy -r t.csv -p t.csv --references-split test")
        .fails(2, &["--split test"]);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn the_column_of_a_value_that_the_metric_cannot_read_is_named() {
    let folder = Folder::new(&[(
        "t.csv",
        "id,prediction,reference\na,\"[[1]]\",\"[[1]]\"\nb,\"[[1]\",\"[[1]]\"\n",
    )]);
    folder
        .run("score arc --pairs t.csv --strict")
        .fails(3, &["t.csv: line 3, column 2 \"prediction\": id \"b\""]);
}

#[test]
#[cfg_attr(not(feature = "transcripts"), ignore = "reads transcripts")]
fn transcripts() {
    let folder = Folder::new(&[
        (
            "ref.trn",
            ";; a comment\nthe cat sat (a-1)\n(b-2)\nyes (no) (c-3)\n",
        ),
        ("hyp.trn", "yes (no) (c-3)\nthe dog sat (a-1)\n(b-2)\n"),
        ("bad.trn", "the cat sat\n"),
        ("alt.trn", "the { cat / dog } (a-1)\n"),
        (
            "r.stm",
            ";; x\ntalk 1 anna 0.00 1.00 <o,f0> the cat\ntalk 1 bob 1.00 2.00 sat\ntalk 1 bob 2.0 3.0 IGNORE_TIME_SEGMENT_IN_SCORING\n",
        ),
        (
            "h.ctm",
            "talk 1 1.2 0.2 sat\ntalk 1 0.1 0.2 the 0.9\ntalk 1 0.5 0.2 cat\ntalk 1 2.5 0.1 um\n",
        ),
        (
            "far.ctm",
            "talk 1 0.1 0.2 the\ntalk 1 0.5 0.2 cat\ntalk 1 9 1 sat\n",
        ),
        (
            "gap.stm",
            "talk 1 anna 0.00 1.00 the cat\ntalk 1 bob 1.00 2.00 sat\n",
        ),
        ("text.txt", "the cat sat\n"),
    ]);
    let wer = |words: &str| {
        let words = format!("score wer --format json {words}");
        folder.run(&words).json()
    };
    let result = wer("-r ref.trn -p hyp.trn");
    assert_eq!(result["scores"]["wer"], 0.2);
    let result = wer("-r r.stm -p h.ctm");
    assert_eq!(
        (&result["scores"]["wer"], &result["examples"]),
        (&0.0.into(), &2.into())
    );
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("1 segment is left out"), "{warnings}");
    assert!(warnings.contains("1 word is left out"), "{warnings}");
    let speakers = &wer("-r r.stm -p h.ctm --slice-field speaker")["groups"]["speaker"];
    assert_eq!(speakers["bob"]["counts"]["hits"], 1);
    let labels = &wer("-r r.stm -p h.ctm --slice-field labels")["groups"]["labels"];
    assert_eq!(labels["<o,f0>"]["counts"]["hits"], 2);
    let result = wer("-r gap.stm -p far.ctm");
    assert_eq!(result["scores"]["wer"], 0.0);
    let warnings = result["warnings"].to_string();
    assert!(
        warnings.contains("1 word has its middle outside"),
        "{warnings}"
    );
    let rows: [(&str, i32, &[&str]); 5] = [
        (
            "-r ref.trn -p hyp.trn --slice-field speaker",
            2,
            &["--slice-field speaker", "ref.trn have no fields"],
        ),
        (
            "-r ref.trn -p bad.trn",
            3,
            &["bad.trn:1", "no id at the end of the line"],
        ),
        (
            "-r gap.stm -p far.ctm --extra error",
            3,
            &[
                "far.ctm:3",
                "\"sat\" lies outside the segment \"talk/1/1.00\"",
            ],
        ),
        (
            "-r text.txt -p h.ctm",
            3,
            &["h.ctm", "expected references in stm"],
        ),
        ("-r h.ctm -p h.ctm", 3, &["h.ctm", "words without segments"]),
    ];
    for (words, code, says) in rows {
        folder.run(&format!("score wer {words}")).fails(code, says);
    }
}

#[test]
#[cfg_attr(not(feature = "transcripts"), ignore = "reads transcripts")]
fn alternatives_of_transcripts_are_read_by_wer_only() {
    let folder = Folder::new(&[
        (
            "r.trn",
            "we { will / shall } { go / @ } (b-7)\n\n{ uh / @ } yes (b-8)\n",
        ),
        ("p.trn", "we shall (b-7)\n{ yes / yeah } (b-8)\n"),
        ("r.stm", "t 1 s 0 1 { i'm / i am } here\n"),
        (
            "p.ctm",
            "t 1 0.1 0.1 i\nt 1 0.3 0.1 am\nt 1 0.5 0.1 there\n",
        ),
    ]);
    let score = |words: &str| {
        let result = folder
            .run(&format!("score wer {words} --format json"))
            .json();
        (
            result["scores"]["wer"].clone(),
            result["counts"]["hits"].clone(),
        )
    };
    assert_eq!(score("-r r.trn -p p.trn"), (0.0.into(), 3.into()));
    assert_eq!(score("-r r.stm -p p.ctm"), ((1.0 / 3.0).into(), 2.into()));
    for metric in ["cer", "string-accuracy", "exact-match", "anls"] {
        let says = ["b-7", "found a text with alternatives", "only wer reads"];
        folder
            .run(&format!("score {metric} -r r.trn -p p.trn"))
            .fails(3, &says);
    }
}

#[test]
fn pages_are_joined_by_file_name() {
    let folder = Folder::new(&[]);
    for name in ["t", "r", "x", "less", "one"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    for (name, text) in [
        ("t/1.txt", "a\nb\n"),
        ("t/2.txt", "c"),
        ("r/2.txt", "c\n"),
        ("r/1.txt", "a\nb"),
        ("x/k1.gt.txt", "a\n"),
        ("x/k2.gt.txt", "b\n"),
        ("x/k1.out.txt", "a\n"),
        ("x/k2.out.txt", "x\n"),
        ("less/1.txt", "a\n"),
        ("less/2.txt", "b\nc\n"),
        ("one/1.txt", "a\nb\n"),
    ] {
        folder.put(name, text.as_bytes());
    }
    assert_eq!(accuracy(&folder, "-r t -p r"), 1.0);
    assert_eq!(accuracy(&folder, "-r x/*.gt.txt -p x/*.out.txt"), 1.0 / 2.0);
    let rows: [(&str, &[&str]); 4] = [
        (
            "-r t -p less",
            &["less/1.txt", "has 1 line: expected 2, as in t/1.txt"],
        ),
        ("-r t -p one", &["t/2.txt", "has no counterpart in one"]),
        ("-r one -p t", &["t/2.txt", "has no counterpart in one"]),
        (
            "-r x/k1.g*.txt -p x/*.out.txt",
            &["x/k2.out.txt", "has no counterpart"],
        ),
    ];
    for (words, says) in rows {
        folder
            .run(&format!("score string-accuracy {words}"))
            .fails(3, says);
        folder
            .run(&format!("check string-accuracy {words}"))
            .code(3);
    }
}

#[test]
#[cfg_attr(not(feature = "transcripts"), ignore = "reads transcripts")]
fn shards_of_transcripts_merge_to_the_whole() {
    let mut stm = String::new();
    let mut ctm = String::new();
    for second in 0..20 {
        let text = match second % 5 {
            0 => "IGNORE_TIME_SEGMENT_IN_SCORING",
            _ => "yes",
        };
        stm.push_str(&format!("talk 1 anna {second} {}.5 {text}\n", second));
        ctm.push_str(&format!("talk 1 {second}.4 0.3 yes\n"));
    }
    let folder = Folder::new(&[("r.stm", &stm), ("h.ctm", &ctm)]);
    let words = "score wer --format json -r r.stm -p h.ctm";
    let whole = folder.run(words).code(0).stdout;
    let mut merge = "merge --format json".to_owned();
    for shard in 0..3 {
        folder
            .run(&format!(
                "{words} --shard {shard}/3 --state-out {shard}.state"
            ))
            .code(0);
        merge.push_str(&format!(" {shard}.state"));
    }
    assert_eq!(folder.run(&merge).code(0).stdout, whole);
}

#[test]
fn a_part_of_the_prediction_is_scored() {
    let folder = Folder::new(&[
        (
            "t.jsonl",
            "{\"id\": 1, \"reference\": \"b\", \"prediction\": \"So: answer: B.\"}\n{\"id\": 2, \"reference\": [\"c\", \"x\"], \"prediction\": \"Answer: C\"}\n{\"id\": 3, \"reference\": \"d\", \"prediction\": \"none\"}\n",
        ),
        (
            "code.jsonl",
            "{\"id\": 1, \"reference\": \"int f(int a) { return a + 1; }\", \"prediction\": \"Here:\\n```java\\nint f(int a) { return a + 1; }\\n```\\n\"}\n",
        ),
        (
            "o.jsonl",
            "{\"id\": 1, \"reference\": {\"text\": [\"b\"]}, \"prediction\": \"b\"}\n",
        ),
    ]);
    let run = |words: &str| folder.run(&format!("score {words} --format json")).json();
    // The pattern has no space, as words are separated by them.
    let steps = r"--extract (?i)answer:\s*(\w) --normalize lower";
    for metric in [
        "string-accuracy",
        "exact-match",
        "relaxed-accuracy",
        "anls",
        "squad",
    ] {
        let result = run(&format!("{metric} --pairs t.jsonl {steps}"));
        let scores = result["scores"].as_object().expect("scores");
        let score = scores.values().next().expect("a score");
        assert_eq!(score.as_f64(), Some(2.0 / 3.0), "{metric}");
        let signature = result["signature"].as_str().expect("a signature");
        assert!(
            signature.contains(r"extract:(?i)answer:\s*(\w)"),
            "{signature}"
        );
        assert!(signature.contains("normalize:lower"), "{signature}");
        let warnings = result["warnings"].to_string();
        let says = "1 prediction counts as empty, as it has no match for --extract";
        assert!(warnings.contains(says), "{metric}: {warnings}");
    }
    let result = run("codebleu --lang java --extract fence --pairs code.jsonl");
    assert_eq!(result["scores"]["codebleu"], 1.0);
    let result = run("string-accuracy --pairs code.jsonl");
    assert_eq!(
        result["signature"],
        "string-accuracy|normalize:none|v:0.1.0"
    );
    folder
        .run("score squad --normalize lower --pairs o.jsonl")
        .fails(3, &["found an object: expected a text or a list of texts"]);
    folder
        .run("score exact-match --extract ( --pairs t.jsonl")
        .fails(2, &["--extract \"(\"", "is not a regular expression"]);
}

#[test]
fn results_of_coco_may_be_json_lines() {
    let folder = Folder::new(&[
        (
            "gt.json",
            "{\"images\": [{\"id\": 1, \"width\": 9, \"height\": 9}], \"categories\": [{\"id\": 1, \"name\": \"a\"}], \"annotations\": [{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [0, 0, 4, 4], \"area\": 16, \"iscrowd\": 0}]}",
        ),
        (
            "dt.jsonl",
            "{\"image_id\": 1, \"category_id\": 1, \"bbox\": [0, 0, 4, 4], \"score\": 0.9}\n{\"image_id\": 1, \"category_id\": 1, \"bbox\": [5, 5, 2, 2], \"score\": 0.1}\n",
        ),
    ]);
    let result = folder
        .run("score coco -r gt.json -p dt.jsonl --format json")
        .json();
    let precision = result["scores"]["AP"].as_f64();
    assert!(precision.is_some_and(|ap| ap > 0.999), "{result}");
}

#[test]
fn results_may_name_images_by_their_files() {
    let truth = |second: &str| {
        format!(
            "{{\"images\": [{{\"id\": 7, \"file_name\": \"val/0012.jpg\"}}, {{\"id\": 8, \"file_name\": \"{second}\"}}], \
             \"categories\": [{{\"id\": 1, \"name\": \"a\"}}], \"annotations\": [\
             {{\"id\": 1, \"image_id\": 7, \"category_id\": 1, \"bbox\": [0, 0, 4, 4], \"area\": 16, \"iscrowd\": 0}},\
             {{\"id\": 2, \"image_id\": 8, \"category_id\": 1, \"bbox\": [0, 0, 4, 4], \"area\": 16, \"iscrowd\": 0}}]}}"
        )
    };
    let result = |image: &str| {
        format!(
            "{{\"image_id\": {image}, \"category_id\": 1, \"bbox\": [0, 0, 4, 4], \"score\": 0.9}}"
        )
    };
    let list = |images: [&str; 2]| format!("[{}, {}]", result(images[0]), result(images[1]));
    let words = "score coco -r gt.json -p dt.json --image-key file_name --format json";
    for images in [
        ["12", "\"dog\""],
        ["\"0012.jpg\"", "\"val/dog.png\""],
        ["\"0012\"", "\"dog.png\""],
    ] {
        let folder = Folder::new(&[
            ("gt.json", &truth("val/dog.png")),
            ("dt.json", &list(images)),
        ]);
        let found = folder.run(words).json();
        let precision = found["scores"]["AP"].as_f64();
        assert!(precision.is_some_and(|ap| ap > 0.999), "{images:?} {found}");
    }
    let folder = Folder::new(&[
        ("gt.json", &truth("test/12.png")),
        ("dt.json", &list(["12", "\"12.png\""])),
    ]);
    folder.run(words).fails(
        3,
        &["dt.json: [0]: image_id: several images have the file name \"12\""],
    );
    let folder = Folder::new(&[
        ("gt.json", &truth("b.png")),
        ("dt.json", &list(["12", "\"c\""])),
    ]);
    folder
        .run(words)
        .fails(3, &["\"c\" is not an image of the ground truth"]);
    // Results without image_id.
    let list = list(["\"0012\"", "\"dog\""]).replace("image_id", "file_name");
    let folder = Folder::new(&[("gt.json", &truth("val/dog.png")), ("dt.json", &list)]);
    let found = folder.run(words).json();
    let precision = found["scores"]["AP"].as_f64();
    assert!(precision.is_some_and(|ap| ap > 0.999), "{found}");
    let hint = "dt.json: [0]: image_id: missing; to find images by their file_name, use --image-key file_name";
    folder
        .run("score coco -r gt.json -p dt.json")
        .fails(3, &[hint]);
    let folder = Folder::new(&[("gt.json", &truth("b.png")), ("dt.json", &list)]);
    folder
        .run(words)
        .fails(3, &["\"dog\" is not an image of the ground truth"]);
}

#[test]
fn coco_reads_folders_of_yolo_and_voc() {
    let folder = Folder::new(&[]);
    for name in ["data/labels", "run/labels", "voc", "found"] {
        std::fs::create_dir_all(folder.path(name)).expect("a folder");
    }
    folder.put("data/data.yaml", b"path: .\nnames:\n  0: cat\n  1: dog\n");
    folder.put("data/labels/a.txt", b"1 0.5 0.5 0.5 0.5\n");
    folder.put("run/labels/a.txt", b"1 0.5 0.5 0.5 0.5 0.9\n");
    folder.put("voc/a.xml", b"<annotation><filename>a.jpg</filename><object><name>dog</name><difficult>0</difficult><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>50</xmax><ymax>50</ymax></bndbox></object></annotation>");
    folder.put("found/dog.txt", b"a 0.9 1 1 50 50\n");
    for words in [
        "coco -r data -p run --image-size 100x100 --groups class",
        "coco -r data/labels -p run/labels --image-size 100x100",
        "coco -r voc -p found",
    ] {
        let result = folder.run(&format!("score {words} --format json")).json();
        let precision = result["scores"]["AP"].as_f64();
        assert!(precision.is_some_and(|ap| ap > 0.999), "{words}: {result}");
        if words.contains("--groups") {
            assert!(result["groups"]["class"]["dog"].is_object(), "{result}");
        }
    }
    folder
        .run("score coco -r data -p run")
        .fails(3, &["area ranges need pixels: expected --image-size"]);
}

#[test]
fn roots_of_data_sets_may_have_parts() {
    let folder = Folder::new(&[]);
    for name in [
        "data/labels/val",
        "data/images/val",
        "run/labels",
        "empty/a",
    ] {
        std::fs::create_dir_all(folder.path(name)).expect("a folder");
    }
    folder.put(
        "data/data.yaml",
        b"names: ['cat, small', dog] # two\nval: images/val\n",
    );
    folder.put("data/labels/val/a.txt", b"0 0.5 0.5 0.5 0.5\n");
    folder.put("run/labels/a.txt", b"0 0.5 0.5 0.5 0.5 0.9\n");
    let references = ["data", "data/labels", "data/labels/val"];
    let found = |references: &str| {
        let words = format!("score voc -r {references} -p run --format json");
        folder.run(&words).json()
    };
    for references in references {
        let result = found(references);
        assert_eq!(result["groups"]["class"]["cat, small"]["counts"]["tp"], 1);
    }
    std::fs::create_dir(folder.path("data/labels/train")).expect("a folder");
    let result = found("data/labels/val");
    assert_eq!(result["groups"]["class"]["cat, small"]["counts"]["tp"], 1);
    for (references, says) in [
        (
            "data",
            "data/labels: found no truths, expected files *.txt, or one of its folders: train, val",
        ),
        (
            "empty",
            "empty: found no truths, expected files *.txt, or one of its folders: a",
        ),
        (
            "empty/a",
            "empty/a: found no truths, expected files *.txt\n",
        ),
    ] {
        let words = format!("score voc -r {references} -p run");
        folder.run(&words).fails(3, &[says]);
    }
}

#[test]
fn boxes_with_sizes_in_text_files() {
    let folder = Folder::new(&[]);
    for name in ["truth", "found", "reversed"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    folder.put(
        "truth/a.txt",
        b"traffic light 40 5 10 20 difficult\ndog 40 5 10 20\n",
    );
    folder.put("found/a.txt", b"dog 0.9 40 5 10 20\n");
    folder.put("reversed/a.txt", b"dog 10 20 40 5 0.9\n");
    for words in [
        "-p found --columns class,score,xmin,ymin,w,h",
        "-p reversed --columns class,w,h,xmin,ymin,score",
    ] {
        let words = format!("score voc -r truth --format json {words}");
        let result = folder.run(&words).json();
        assert_eq!(result["scores"]["mAP"], 1.0, "{result}");
    }
    let corners = "score voc -r truth -p found";
    folder
        .run(corners)
        .fails(3, &["truth/a.txt:1: xmax: found 10"]);
    folder.put("found/a.txt", b"dog 0.9 40 5 10 -20\n");
    folder
        .run(&format!("{corners} --columns class,score,xmin,ymin,w,h"))
        .fails(3, &["found/a.txt:1: h: "]);
}

#[test]
fn boxes_in_text_files_of_other_programs() {
    let folder = Folder::new(&[]);
    for name in ["truth", "found", "swapped", "labels", "run"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    folder.put("truth/a.txt", b"dog 1 1 50 50\ncat 5 5 9 9 difficult\n");
    folder.put("found/a.txt", b"dog 0.9 1 1 50 50\n");
    folder.put("swapped/a.txt", b"dog 1 1 50 50 0.9\n");
    folder.put("labels/a.txt", b"1 0.5 0.5 0.5 0.5\n");
    folder.put("run/a.txt", b"1 0.9 0.5 0.5 0.5 0.5\n");
    let by_class = "--columns class,score,cx,cy,w,h";
    for words in [
        "voc -r truth -p found".to_owned(),
        "voc -r truth -p swapped --columns class,xmin,ymin,xmax,ymax,score".to_owned(),
        "coco -r truth -p found".to_owned(),
        format!("voc -r labels -p run {by_class}"),
        format!("coco -r labels -p run --image-size 100x100 {by_class}"),
    ] {
        let result = folder.run(&format!("score {words} --format json")).json();
        let scores = &result["scores"];
        let name = if words.starts_with("voc") {
            "mAP"
        } else {
            "AP"
        };
        assert!(
            scores[name].as_f64().is_some_and(|ap| ap > 0.999),
            "{words}: {result}"
        );
    }
    let rows: [(&str, i32, &str); 4] = [
        (
            "-r labels -p run --columns class,cx,cy,w,h",
            2,
            "found 5 columns",
        ),
        (
            "-r truth -p found --columns class,score,cx,cy,w,h",
            3,
            "expected an order of class,score,xmin,ymin,xmax,ymax",
        ),
        ("-r truth -p swapped", 3, "swapped/a.txt:1: "),
        ("-r labels -p run", 3, "the confidence is the second column"),
    ];
    for (words, code, says) in rows {
        folder
            .run(&format!("score voc {words}"))
            .fails(code, &[says]);
    }
    folder.put("gt.json", br#"{"images": [{"id": 7, "file_name": "a.jpg"}], "categories": [{"id": 1, "name": "dog"}],
        "annotations": [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [1, 1, 9, 9], "area": 81, "iscrowd": 0}]}"#);
    folder.put("predictions.json", br#"[{"image_id": "a", "file_name": "a.jpg", "category_id": 1, "bbox": [1, 1, 9, 9], "score": 0.9}]"#);
    let result =
        folder.run("score voc -r gt.json -p predictions.json --image-key file_name --format json");
    assert_eq!(result.json()["scores"]["mAP"], 1.0);
}

#[test]
#[cfg(feature = "arrow")]
fn classes_of_a_dataset_have_names_in_tables() {
    let folder = Folder::new(&[]);
    std::fs::create_dir(folder.path("d")).expect("a folder");
    let golden = "d/dataset_info.json";
    folder.put(golden, br#"{"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}, "id": {"dtype": "string", "_type": "Value"}}}"#);
    folder.put("d/state.json", br#"{"_data_files": []}"#);
    let score =
        "score classification --pairs d --prediction-field label --class-names --reference-field";
    folder.run(&format!("{score} id")).fails(
        2,
        &[
            "--class-names: expected a Hugging Face dataset",
            "\"id\" is a ClassLabel",
        ],
    );
    folder.put("t.csv", b"id,label\n1,0\n");
    let words = "score classification --pairs t.csv --reference-field label --prediction-field label --class-names";
    folder
        .run(words)
        .fails(2, &["--class-names: expected a Hugging Face dataset"]);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn scores_of_examples_come_with_inputs() {
    let folder = Folder::new(&[
        ("t.csv", "id,reference,prediction\n1,a,\"b\nc\"\n2,x,x\n"),
        (
            "r.json",
            "[{\"id\": 2, \"reference\":\n \"x\"}, {\"id\": 1, \"reference\": \"a\"}]",
        ),
        ("p.jsonl", "{\"id\": 1, \"prediction\": \"b\"}\n"),
    ]);
    let lines = |words: &str| {
        folder
            .run(&format!(
                "score wer,cer --with-inputs --per-sample s.jsonl {words}"
            ))
            .code(0);
        let text = std::fs::read_to_string(folder.path("s.jsonl")).expect("samples");
        let line = |line| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
        let cells = |line: serde_json::Value| {
            ["id", "metric", "reference", "prediction"]
                .map(|name| line[name].to_string())
                .join(" ")
        };
        text.lines().map(line).map(cells).collect::<Vec<_>>()
    };
    assert_eq!(
        lines("--pairs t.csv"),
        [
            r#""1" "wer" "a" "b\nc""#,
            r#""1" "cer" "a" "b\nc""#,
            r#""2" "wer" "x" "x""#,
            r#""2" "cer" "x" "x""#
        ]
    );
    let out_of_order = lines("-r r.json -p p.jsonl --missing empty");
    assert_eq!(out_of_order[0], r#""2" "wer" "x" null"#);
    assert_eq!(out_of_order[2], r#""1" "wer" "a" "b""#);
    folder
        .run("score wer --pairs t.csv --with-inputs")
        .fails(2, &["--per-sample"]);
}

/// The output of a metric on a number of threads, and its warnings.
fn output(folder: &Folder, words: &str, threads: usize) -> (String, String) {
    let words = format!("score {words} --format json --threads {threads}");
    let run = folder.run(&words).code(0);
    (run.stdout, run.stderr)
}

#[test]
fn coco_files_of_several_blocks() {
    const IMAGES: usize = 900;
    const EACH: usize = 10;
    let shape = |image: usize, index: usize| [image % 50, 20 * index, 30, 12 + image % 7];
    let image = |image: usize| format!("{{\"id\": {image}, \"file_name\": \"{image}.jpg\"}}");
    let object = |id: usize| {
        let (image, index) = (id / EACH, id % EACH);
        let (class, [x, y, w, h]) = (id % 3, shape(image, index));
        format!(
            "{{\"id\": {}, \"image_id\": {image}, \"category_id\": {class}, \"iscrowd\": 0, \"area\": {}, \"bbox\": [{x}, {y}, {w}, {h}]}}",
            id + 1,
            w * h
        )
    };
    let found = |id: usize| {
        let (image, index) = (id / EACH, id % EACH);
        let (class, [x, y, w, h]) = (id % 3, shape(image, index));
        // All scores differ, so that the order of the file does not matter.
        let score = (id * 7919) % (IMAGES * EACH);
        format!(
            "{{\"image_id\": {image}, \"category_id\": {class}, \"bbox\": [{}.25, {y}.5, {w}, {h}], \"score\": 0.{score:06}}}",
            x + id % 9
        )
    };
    let list = |texts: Vec<String>| texts.join(", ");
    let truth = format!(
        "{{\"images\": [{}], \"annotations\": [{}], \"categories\": [{}]}}",
        list((0..IMAGES).map(image).collect()),
        list((0..IMAGES * EACH).step_by(2).map(object).collect()),
        list(
            (0..3)
                .map(|id| format!("{{\"id\": {id}, \"name\": \"c{id}\"}}"))
                .collect()
        ),
    );
    let by_image: Vec<String> = (0..IMAGES * EACH).map(found).collect();
    let by_index = (0..EACH).flat_map(|index| (0..IMAGES).map(move |image| image * EACH + index));
    let by_index: Vec<String> = by_index.map(found).collect();
    let bad = format!("[{}, {{\"image_id\": 1}}]", list(by_image.clone()));
    let by_image = format!("[{}]", list(by_image));
    assert!(by_image.len() > 5 << 17, "{}", by_image.len());
    let folder = Folder::new(&[
        ("r.json", &truth),
        ("p.json", &by_image),
        ("other.json", &format!("[{}]", list(by_index))),
        ("bad.json", &bad),
    ]);
    for metric in ["coco", "voc", "tide", "confusion-matrix", "detection"] {
        let first = output(&folder, &format!("{metric} -r r.json -p p.json"), 1);
        for (file, threads) in [("p.json", 3), ("other.json", 1), ("other.json", 3)] {
            let words = format!("{metric} -r r.json -p {file}");
            assert_eq!(output(&folder, &words, threads), first, "{words} {threads}");
        }
        let words = format!("score {metric} -r r.json -p bad.json --threads 3");
        folder
            .run(&words)
            .fails(3, &["bad.json: [9000]: category_id: missing"]);
    }
}

#[test]
fn files_of_questions_of_several_blocks() {
    const QUESTIONS: usize = 4000;
    let texts = ["red", "a red bus", "two", "No.", "caf\u{e9}"];
    let answers = |id: usize, field: &str| {
        let answer = |person: usize| {
            let text = texts[(id / 7 + person / 6) % texts.len()];
            format!("{{\"{field}\": \"{text}\", \"answer_id\": {person}}}")
        };
        let answers: Vec<String> = (1..=10).map(answer).collect();
        answers.join(", ")
    };
    let question = |id: usize| {
        format!(
            "{{\"question_type\": \"what {}\", \"answers\": [{}], \"question_id\": {id}}}",
            id % 5,
            answers(id, "answer")
        )
    };
    let questions: Vec<String> = (0..QUESTIONS).map(question).collect();
    let annotations = format!(
        "{{\"info\": {{}}, \"annotations\": [{}], \"data_type\": \"x\"}}",
        questions.join(", ")
    );
    let given = |id: usize| {
        let text = texts[id % texts.len()];
        format!("{{\"question_id\": {id}, \"answer\": \"{text}\"}}")
    };
    let results: Vec<String> = (0..QUESTIONS).map(given).collect();
    let article = |article: usize| {
        let asked = |id: usize| {
            let answers = if id.is_multiple_of(9) {
                String::new()
            } else {
                answers(id, "text")
            };
            format!("{{\"id\": \"q{id}\", \"answers\": [{answers}]}}")
        };
        let asked: Vec<String> = (article * 50..article * 50 + 50).map(asked).collect();
        format!(
            "{{\"title\": \"{article}\", \"paragraphs\": [{{\"context\": \"\", \"qas\": [{}]}}]}}",
            asked.join(", ")
        )
    };
    let articles: Vec<String> = (0..QUESTIONS / 50).map(article).collect();
    let data = format!(
        "{{\"version\": \"2\", \"data\": [{}]}}",
        articles.join(", ")
    );
    let said = |id: usize| format!("\"q{id}\": \"{}\"", texts[id % texts.len()]);
    let said: Vec<String> = (0..QUESTIONS).map(said).collect();
    assert!(annotations.len() > 3 << 18 && data.len() > 3 << 18);
    let folder = Folder::new(&[
        ("vqa.json", &annotations),
        ("vqa.p.json", &format!("[{}]", results.join(", "))),
        ("squad.json", &data),
        ("squad.p.json", &format!("{{{}}}", said.join(", "))),
    ]);
    for words in [
        "vqa --profile vqa-v2 -r vqa.json -p vqa.p.json",
        "vqa -r vqa.json -p vqa.p.json",
        "squad --profile v2 -r squad.json -p squad.p.json",
    ] {
        // The scores of each question are those of the file as a whole.
        let whole = output(&folder, &format!("{words} --per-sample samples.jsonl"), 1);
        for threads in [1, 3] {
            assert_eq!(output(&folder, words, threads), whole, "{words} {threads}");
        }
    }
    for (file, twice) in [("vqa.json", "vqa.p.json"), ("squad.json", "squad.p.json")] {
        let metric = file.trim_end_matches(".json");
        let text = std::fs::read_to_string(folder.path(twice)).expect("predictions");
        let one_less = match metric {
            "vqa" => text.replace(", {\"question_id\": 3999, \"answer\": \"caf\u{e9}\"}", ""),
            _ => text.replace(", \"q3999\": \"caf\u{e9}\"", ""),
        };
        assert!(one_less.len() < text.len());
        folder.put("less.json", one_less.as_bytes());
        let profile = if metric == "vqa" { "vqa-v2" } else { "v2" };
        let words =
            format!("score {metric} --profile {profile} -r {file} -p less.json --threads 3");
        folder
            .run(&words)
            .fails(3, &["less.json: no prediction for 1 reference"]);
    }
}

/// The integer 0 has a sign in JSON if a program writes one, and in CSV. A string is what it is.
#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn labels_of_minus_zero_are_zero() {
    let folder = Folder::new(&[
        (
            "csv.csv",
            "id,reference,prediction\n1,0,-0\n2,-0,0\n3,-0,-0\n",
        ),
        (
            "json.jsonl",
            "{\"id\": 1, \"reference\": 0, \"prediction\": -0}\n\
             {\"id\": 2, \"reference\": -0, \"prediction\": 0}\n",
        ),
        (
            "string.jsonl",
            "{\"id\": 1, \"reference\": \"-0\", \"prediction\": 0}\n",
        ),
        (
            "ranked.csv",
            "id,reference,prediction\n1,-0,\"[0, 1]\"\n2,0,\"[-0, 1]\"\n",
        ),
    ]);
    for (words, score, expected) in [
        ("classification --pairs csv.csv", "accuracy", 1.0),
        ("classification --pairs json.jsonl", "accuracy", 1.0),
        ("classification --pairs string.jsonl", "accuracy", 0.0),
        ("accuracy-at-k --k 1 --pairs ranked.csv", "accuracy@1", 1.0),
    ] {
        let result = folder.run(&format!("score {words} --format json")).json();
        assert_eq!(result["scores"][score], expected, "{words}");
    }
}

/// An option that no source uses would change nothing, and is refused rather than left out.
#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn options_that_no_source_uses_are_usage_errors() {
    let folder = Folder::new(&[
        ("r.txt", "a\nb\n"),
        ("p.txt", "a\nb\n"),
        ("q.txt", "a\nb\n"),
        (
            "p.jsonl",
            "{\"key\": 1, \"prediction\": \"a\"}\n{\"key\": 2, \"prediction\": \"b\"}\n",
        ),
        (
            "pairs.jsonl",
            "{\"id\": 1, \"reference\": \"a\", \"prediction\": \"a\"}\n",
        ),
        ("pairs.csv", "id;reference;prediction\n1;a;a\n"),
        (
            "truth.json",
            r#"{"images":[{"id":1,"width":9,"height":9}],"categories":[{"id":1,"name":"cat"}],"annotations":[]}"#,
        ),
        ("found.json", "[]"),
    ]);
    let text = "wer -r r.txt -p p.txt";
    for (words, option) in [
        (format!("score {text} --id-field key"), "--id-field key"),
        (
            format!("score {text} --references-id-field key"),
            "--id-field key",
        ),
        (
            format!("check {text} --prediction-field output"),
            "--prediction-field output",
        ),
        (
            "score wer -r r.txt -p p.jsonl --id-field key --reference-field target".to_owned(),
            "--reference-field target is not used: expected records with fields, found none in r.txt\n",
        ),
        (
            "compare wer -r r.txt -p p.txt q.txt --id-field key".to_owned(),
            "--id-field key",
        ),
        (
            "score wer --pairs pairs.jsonl --delimiter semicolon".to_owned(),
            "--delimiter semicolon is not used: expected records in CSV, found none in pairs.jsonl\n",
        ),
        (
            "score wer --pairs pairs.jsonl --quote none".to_owned(),
            "--quote none",
        ),
        (
            "score wer --pairs pairs.jsonl --header none".to_owned(),
            "--header none",
        ),
        (
            format!("score {text} --empty-field text"),
            "--empty-field text",
        ),
        (
            "score voc -r truth.json -p found.json --id-field key".to_owned(),
            "--id-field key",
        ),
    ] {
        folder
            .run(&words)
            .fails(2, &[option, " is not used: expected records"]);
    }
    for metric in ["voc", "coco", "tide", "detection", "confusion-matrix"] {
        for option in ["--columns class,cx,cy,w,h,score", "--image-size 9x9"] {
            let words = format!("score {metric} -r truth.json -p found.json {option}");
            let says = format!("truth.json: {option} is for folders");
            folder.run(&words).fails(3, &[&says]);
        }
    }
    // Options that one of the sources uses, that are the usual ones, or that say what is the case.
    for words in [
        "score wer -r r.txt -p p.jsonl --id-field key",
        "score wer -r r.txt -p p.txt --id-field #row",
        "score wer -r r.txt -p p.txt --id-field id --quote double",
        "score wer --pairs pairs.csv --delimiter semicolon",
    ] {
        folder.run(words).code(0);
    }
}

/// What other programs write, and the way out where it cannot be read.
#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn files_that_are_nearly_right() {
    let folder = Folder::new(&[
        (
            "x.csv",
            "sep=;\r\nid;reference;prediction\r\na;x;x\r\nb;y;z\r\n",
        ),
        ("short.csv", "sep=;\nid;reference;prediction\na;x\n"),
        ("lines.json", RECORDS),
        (
            "one.json",
            "{\"id\": 1, \"reference\": \"x\", \"prediction\": \"x\"}\n",
        ),
        (
            "q.tsv",
            "id\treference\tprediction\n1\t\"a\ta\n2\tb\"\tb\n3\tc\tc\n",
        ),
        ("open.tsv", "id\treference\tprediction\n1\t\"a\ta\n"),
        (
            "bins.tsv",
            "length\tid\treference\tprediction\nlong\t1\ta\ta\n",
        ),
        (
            "bins.jsonl",
            "{\"length\": \"long\", \"id\": 1, \"reference\": \"a\", \"prediction\": \"a\"}\n",
        ),
        (
            "two.jsonl",
            "{\"id\": 1, \"reference\": \"a\", \"prediction\": \"a\", \"filter\": \"x\"}\n{\"id\": 1, \"reference\": \"a\", \"prediction\": \"b\", \"filter\": \"y\"}\n",
        ),
        (
            "two.csv",
            "id,reference,prediction,filter\n1,a,a,x\n1,a,b,y\n",
        ),
        (
            "number.jsonl",
            "{\"id\": 1, \"reference\": \"3.5\", \"prediction\": 3.5}\n",
        ),
        (
            "boolean.jsonl",
            "{\"id\": 1, \"reference\": true, \"prediction\": \"true\"}\n",
        ),
    ]);
    folder.put(
        "1251.tsv",
        b"id\treference\tprediction\n1\t\xe4\xe0 \xed\xe5\xf2\t\xe4\xe0\n",
    );
    folder.put("1252.csv", b"id,reference,prediction\n1,caf\xe9,caf\xe9\n");
    folder.put("16.csv", b"i\0d\0,\0r\0\n\0");
    folder.put("16bom.jsonl", b"\xff\xfe{\0}\0\n\0");
    assert_eq!(accuracy(&folder, "--pairs x.csv"), 0.5);
    assert_eq!(
        accuracy(&folder, "--pairs x.csv --delimiter semicolon"),
        0.5
    );
    let jsonl =
        "for JSON Lines, one record per line, name the file .jsonl or use --input-format jsonl";
    for (words, code, says) in [
        (
            "--pairs x.csv --delimiter comma",
            3,
            "use --delimiter semicolon",
        ),
        ("--pairs short.csv", 3, "line 3: found 2 fields"),
        ("--pairs lines.json", 3, jsonl),
        ("--pairs one.json", 3, jsonl),
        (
            "--pairs open.tsv",
            3,
            "if quotes are part of the text, use --quote none",
        ),
        ("--pairs 1251.tsv", 3, "use iconv -f WINDOWS-1251 -t UTF-8"),
        ("--pairs 1252.csv", 3, "use iconv -f WINDOWS-1252 -t UTF-8"),
        ("--pairs 16.csv", 3, "use iconv -f UTF-16LE -t UTF-8"),
        ("--pairs 16bom.jsonl", 3, "use iconv -f UTF-16 -t UTF-8"),
        (
            "--pairs bins.tsv --slice-bins length:0,2",
            3,
            "line 2, column 1 \"length\": id \"1\": field \"length\": found \"long\"",
        ),
        (
            "--pairs bins.jsonl --slice-bins length:0,2",
            3,
            "bins.jsonl:1: id \"1\": field \"length\": found \"long\"",
        ),
        (
            "--pairs two.jsonl",
            3,
            "records of the same id differ in the field \"filter\"",
        ),
        (
            "--pairs two.csv",
            3,
            "(lines 2, 3); records of the same id differ in the field \"filter\"",
        ),
        (
            "--pairs number.jsonl",
            3,
            "prediction: expected a string, found a number: write it as \"3.5\"",
        ),
        (
            "--pairs boolean.jsonl",
            3,
            "reference: expected a string, found true or false: write it as \"true\"",
        ),
    ] {
        folder
            .run(&format!("score string-accuracy {words}"))
            .fails(code, &[says]);
    }
    // Quotes that are text in one of two files: the other one has more rows.
    folder.put("r.tsv", b"id\treference\n1\t\"a\n2\tb\"\n3\tc\n");
    folder.put("p.jsonl", b"{\"id\": 1, \"prediction\": \"a\"}\n{\"id\": 2, \"prediction\": \"b\"}\n{\"id\": 3, \"prediction\": \"c\"}\n");
    folder.put("one.json", b"{\"id\": 1, \"reference\": \"a\"}\n");
    folder.put(
        "list.jsonl",
        b"{\"id\": 1, \"reference\": [3.5, \"a\"], \"prediction\": \"a\"}\n",
    );
    for (words, says) in [
        (
            "string-accuracy -r r.tsv -p p.jsonl",
            "no reference for 1 prediction of p.jsonl: id \"2\"",
        ),
        (
            "string-accuracy -r r.tsv -p p.jsonl",
            "1 row has a field in quotes that spans several lines",
        ),
        (
            "string-accuracy -r one.json -p p.jsonl",
            "found one record: expected a list of records",
        ),
        (
            "exact-match --pairs list.jsonl",
            "found the number `3.5`, expected a string: write it as \"3.5\"",
        ),
        (
            "string-accuracy --pairs bins.tsv --slice-field kind",
            "bins.tsv: line 2: id \"1\": no field \"kind\", which --slice-field names",
        ),
    ] {
        folder.run(&format!("score {words}")).fails(3, &[says]);
    }
    // A warning, which is the same from shards.
    let warning =
        "1 row has a field in quotes that spans several lines with as many tabs as rows have";
    let words = "score string-accuracy --pairs q.tsv";
    for threads in [1, 2] {
        let run = folder.run(&format!("{words} --threads {threads}")).code(0);
        assert!(run.stderr.contains(warning), "{}", run.stderr);
    }
    let run = folder.run(&format!("{words} --quote none")).code(0);
    assert!(!run.stderr.contains("quotes"), "{}", run.stderr);
    for shard in ["0/2", "1/2"] {
        let state = shard.replace('/', "-");
        folder
            .run(&format!(
                "{words} --shard {shard} --state-out {state}.state"
            ))
            .code(0);
    }
    let merged = folder.run("merge 0-2.state 1-2.state").code(0);
    assert!(merged.stderr.contains(warning), "{}", merged.stderr);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn texts_in_other_encodings() {
    let utf16 = |text: &str, mark: bool| -> Vec<u8> {
        let mark = if mark { "\u{feff}" } else { "" };
        let text = format!("{mark}{text}");
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let latin = |text: &str| -> Vec<u8> { text.chars().map(|it| it as u8).collect() };
    let table = "id,reference,prediction\n1,caf\u{e9},caf\u{e9}\n2,a,b\n";
    let folder = Folder::new(&[("u.csv", table), ("r.txt", "caf\u{e9}\na\n")]);
    folder.put("l.csv", &latin(table));
    folder.put("w.csv", &utf16(table, true));
    folder.put("n.csv", &utf16(table, false));
    folder.put("p.txt", &latin("caf\u{e9}\nb\n"));
    let record = "{\"id\": 1, \"reference\": \"\u{e9}\", \"prediction\": \"\u{e9}\"}\n";
    folder.put("w.jsonl", &utf16(record, true));
    for (words, expected) in [
        ("--pairs l.csv --encoding windows-1252", 0.5),
        ("--pairs l.csv --encoding latin1", 0.5),
        ("--pairs w.csv --encoding utf-16", 0.5),
        ("--pairs n.csv --encoding utf-16le", 0.5),
        ("--pairs u.csv --encoding utf-8", 0.5),
        ("-r p.txt -p p.txt --encoding windows-1252", 1.0),
        ("--pairs w.jsonl --encoding utf-16", 1.0),
    ] {
        assert!(
            (accuracy(&folder, words) - expected).abs() < 1e-12,
            "{words}"
        );
    }
    for (words, code, says) in [
        ("--pairs l.csv", 3, "use --encoding windows-1252"),
        ("--pairs w.csv", 3, "use --encoding utf-16"),
        ("--pairs n.csv", 3, "use --encoding utf-16le"),
        ("-r r.txt -p p.txt", 3, "use --encoding windows-1252"),
        (
            "--pairs u.csv --encoding latin-17",
            2,
            "expected the name of an encoding, such as utf-16",
        ),
        ("--pairs l.csv --encoding utf-16", 3, "l.csv"),
    ] {
        folder
            .run(&format!("score string-accuracy {words}"))
            .fails(code, &[says]);
    }
}
