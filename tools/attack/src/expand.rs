//! Small files that expand to gigabytes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::Case;

/// Expands to this often.
const REPEATED: usize = 1 << 20;

/// A document or line that is held may take so much by default. Those that are not refused stay below the
/// memory of a case.
const SMALL: &str = "--max-bytes 100MB";

/// The start of a COCO file.
const COCO: &str = "{\"images\":[{\"id\":1,\"width\":9,\"height\":9}],\"annotations\":[],\"categories\":[{\"id\":1,\"name\":\"c\"}]";

#[derive(Clone, Copy)]
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    fn extension(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Zstd => "zst",
        }
    }

    fn pack(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip => {
                let level = flate2::Compression::fast();
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            Self::Zstd => zstd::encode_all(bytes, 1),
        }
    }
}

/// A file: what it begins with, its content of this many megabytes, and what it ends with.
#[derive(Clone, Copy)]
struct Bomb {
    name: &'static str,
    before: &'static str,
    part: &'static str,
    megabytes: usize,
    after: &'static str,
    /// The arguments before the name of the file.
    words: &'static str,
}

impl Bomb {
    /// Writes the file. Both packings allow several packed parts in a row.
    fn write(self, packing: Packing, path: &Path) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(&packing.pack(self.before.as_bytes())?)?;
        let part = self.part.repeat(REPEATED / self.part.len());
        let part = packing.pack(part.as_bytes())?;
        for _ in 0..self.megabytes {
            file.write_all(&part)?;
        }
        file.write_all(&packing.pack(self.after.as_bytes())?)
    }
}

/// Files that are held in memory as a whole, or line by line.
const HELD: &[Bomb] = &[
    Bomb {
        name: "white space in a document",
        before: COCO,
        part: " ",
        megabytes: 3_000,
        after: "}",
        words: "coco -p small.json -r",
    },
    Bomb {
        name: "white space in a list",
        before: "[",
        part: "\n",
        megabytes: 3_000,
        after: "]",
        words: "coco -r coco.json -p",
    },
    Bomb {
        name: "a long string in a document",
        before: "{\"info\":\"",
        part: "a",
        megabytes: 3_000,
        after: "\"}",
        words: "coco -p small.json -r",
    },
    Bomb {
        name: "brackets",
        before: "",
        part: "[",
        megabytes: 3_000,
        after: "",
        words: "coco -p small.json -r",
    },
    Bomb {
        name: "white space in a record",
        before: "{\"id\":1,\"reference\":\"a\",\"prediction\":",
        part: " ",
        megabytes: 3_000,
        after: "\"a\"}\n",
        words: "cer --pairs",
    },
    Bomb {
        name: "a long string in a record",
        before: "{\"id\":1,\"reference\":\"a\",\"prediction\":\"",
        part: "a",
        megabytes: 3_000,
        after: "\"}\n",
        words: "cer --pairs",
    },
];

/// Files of short lines, none of which are held.
const STREAMS: &[Bomb] = &[
    Bomb {
        name: "empty lines",
        before: "{\"id\":1,\"reference\":\"a\",\"prediction\":\"a\"}\n",
        part: "\n",
        megabytes: 500,
        after: "",
        words: "cer --pairs",
    },
    Bomb {
        name: "copies of an id",
        before: "",
        part: "{\"id\":\"a\",\"prediction\":\"x\"}\n",
        megabytes: 200,
        after: "",
        words: "cer -r record.jsonl -p",
    },
    Bomb {
        name: "copies of an id among references",
        before: "",
        part: "{\"id\":\"a\",\"reference\":\"x\"}\n",
        megabytes: 200,
        after: "",
        words: "cer -p record.jsonl -r",
    },
    Bomb {
        name: "predictions of no reference",
        before: "{\"id\":\"a\",\"prediction\":\"x\"}\n",
        part: "{\"id\":\"b\",\"prediction\":\"x\"}\n",
        megabytes: 200,
        after: "",
        words: "cer --extra ignore -r record.jsonl -p",
    },
];

/// All cases: files that are refused under a small limit, and files that fit the default one.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for packing in [Packing::Gzip, Packing::Zstd] {
        for &bomb in HELD {
            cases.push(case(bomb, packing, SMALL));
            let megabytes = bomb.megabytes / 10;
            cases.push(case(Bomb { megabytes, ..bomb }, packing, ""));
        }
        for &bomb in STREAMS {
            cases.push(case(bomb, packing, SMALL));
            cases.push(case(bomb, packing, ""));
        }
        cases.push(nested(packing));
    }
    cases
}

fn case(bomb: Bomb, packing: Packing, options: &str) -> Case {
    let form = match bomb.words {
        words if words.starts_with("coco") => "json",
        _ => "jsonl",
    };
    let extension = packing.extension();
    let file = format!("bomb.{form}.{extension}");
    let name = format!("expand/{}/{extension}/{options}", bomb.name);
    let words = format!("score {} {file} {options}", bomb.words);
    Case::new(name, &words, move |folder| {
        small_files(folder)?;
        bomb.write(packing, &folder.join(&file))
    })
}

/// A packed file that was packed once more.
fn nested(packing: Packing) -> Case {
    let extension = packing.extension();
    let file = format!("bomb.jsonl.{extension}");
    let name = format!("expand/packed twice/{extension}");
    Case::new(name, &format!("score cer --pairs {file}"), move |folder| {
        let path = folder.join(&file);
        STREAMS[0].write(packing, &path)?;
        std::fs::write(&path, packing.pack(&std::fs::read(&path)?)?)
    })
}

/// The other side, under the names that the arguments have.
fn small_files(folder: &Path) -> io::Result<()> {
    std::fs::write(folder.join("small.json"), "[]")?;
    std::fs::write(folder.join("coco.json"), format!("{COCO}}}"))?;
    let record = "{\"id\":\"a\",\"reference\":\"x\",\"prediction\":\"x\"}\n";
    std::fs::write(folder.join("record.jsonl"), record)
}
