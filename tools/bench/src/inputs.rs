//! Seeded inputs as files that `metric` and its peers read.
//!
//! One build writes the same bytes each time. Those of another platform may differ in a last digit:
//! Rust leaves the precision of logarithms, powers and cosines to it.

use std::fmt::Write as _;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The way in which the files of an input come into a folder.
#[derive(Clone, Copy)]
enum Make {
    Random(fn(&mut Random, &Input, &Path) -> io::Result<()>),
    /// From the rows of `tests/golden/code` in the language of the input's name.
    Code,
}

/// The folder of all inputs; another number whenever their content changes.
pub(crate) const FOLDER: &str = "data-2";

/// A data set.
#[derive(Clone, Copy)]
pub(crate) struct Input {
    /// The name of its folder, together with the sizes.
    pub(crate) name: &'static str,
    make: Make,
    /// The number of examples.
    pub(crate) size: usize,
    /// The size of one example; each input says in which unit.
    pub(crate) width: usize,
}

impl Input {
    const fn new(
        name: &'static str,
        make: fn(&mut Random, &Self, &Path) -> io::Result<()>,
        size: usize,
        width: usize,
    ) -> Self {
        Self {
            name,
            make: Make::Random(make),
            size,
            width,
        }
    }

    /// Pairs of source code from the rows of `tests/golden/code`, again and again.
    pub(crate) const fn code(language: &'static str, pairs: usize) -> Self {
        Self {
            name: language,
            make: Make::Code,
            size: pairs,
            width: 1,
        }
    }

    /// Images with ground-truth boxes and `per_image` detections each, in COCO's two files.
    pub(crate) const fn coco(images: usize, per_image: usize) -> Self {
        Self::new("coco", coco, images, per_image)
    }

    /// Images of 640 x 480 with this many panoptic segments each, in COCO's two files with folders of PNG files.
    pub(crate) const fn segments(images: usize, segments: usize) -> Self {
        Self::new("segments", crate::segments::write, images, segments)
    }

    /// Images of LVIS, annotated for some of 1,203 classes, with `per_image` detections each, in COCO's two files.
    pub(crate) const fn lvis(images: usize, per_image: usize) -> Self {
        Self::new("lvis", lvis, images, per_image)
    }

    /// Lines of about `letters` letters, half of them Cyrillic; in the second file 6% of the
    /// letters are changed, left out or doubled.
    pub(crate) const fn lines(lines: usize, letters: usize) -> Self {
        Self::new("lines", lines_of_text, lines, letters)
    }

    /// Sentences of about `words` words from a vocabulary of 20,000. In the second file a quarter of the words are other
    /// ones, left out or added, and in every third sentence some words have moved.
    pub(crate) const fn sentences(lines: usize, words: usize) -> Self {
        Self::new("sentences", sentences, lines, words)
    }

    /// Meetings of four speakers with about `words` words each, in STM. In the second file words are changed, left out or
    /// added as in [`sentences`](Self::sentences), and times are up to half a second later.
    pub(crate) const fn meetings(sessions: usize, words: usize) -> Self {
        Self::new("meetings", meetings, sessions, words)
    }

    /// The same, but in the second file every fourth line has one other letter.
    pub(crate) const fn strings(lines: usize, letters: usize) -> Self {
        Self::new("strings", strings, lines, letters)
    }

    /// The same texts as records.
    pub(crate) const fn string_records(lines: usize, letters: usize) -> Self {
        Self::new("string-records", string_records, lines, letters)
    }

    /// The same texts as CSV, with a long text and a number next to them that are not read. Other formats are made
    /// from it: see [`other_formats`](Self::other_formats).
    pub(crate) const fn tables(rows: usize, letters: usize) -> Self {
        Self::new("tables", tables, rows, letters)
    }

    /// A script in `benches/peers`, with its arguments and its package, that adds files to the folder, and one of
    /// these files.
    pub(crate) fn other_formats(&self) -> Option<[&'static str; 3]> {
        (self.name == "tables").then_some(["tables.py write", "pyarrow", "p/state.json"])
    }

    /// A label, and `k` predicted ones, one object per line and as arrays of 64-bit integers.
    pub(crate) const fn ranked(examples: usize, k: usize) -> Self {
        Self::new("ranked", ranked, examples, k)
    }

    /// 32-bit scores of `classes` classes, and the true class as 64-bit integers.
    pub(crate) const fn scores(examples: usize, classes: usize) -> Self {
        Self::new("scores", scores, examples, classes)
    }

    /// Scores of `classes` classes with six decimals, and the true class, as records.
    pub(crate) const fn score_records(examples: usize, classes: usize) -> Self {
        Self::new("score-records", score_records, examples, classes)
    }

    /// A true and a predicted label of `classes` classes, as records.
    pub(crate) const fn label_records(examples: usize, classes: usize) -> Self {
        Self::new("label-records", label_records, examples, classes)
    }

    /// A true and a predicted label a line, of `classes` classes.
    pub(crate) const fn labels(examples: usize, classes: usize) -> Self {
        Self::new("labels", labels, examples, classes)
    }

    /// A number and a prediction of it with six decimals, a line each.
    pub(crate) const fn numbers(pairs: usize) -> Self {
        Self::new("numbers", numbers, pairs, 1)
    }

    /// Two sets out of `classes` classes: lists of labels as records, and rows of 0 and 1 as arrays of 64-bit integers.
    pub(crate) const fn label_sets(examples: usize, classes: usize) -> Self {
        Self::new("label-sets", label_sets, examples, classes)
    }

    /// A label of two, and a probability with six decimals, as rows of one CSV file.
    pub(crate) const fn class_scores(rows: usize) -> Self {
        Self::new("class-scores", class_scores, rows, 1)
    }

    /// Judgments and a run of TREC, with `documents` ranked documents for each topic.
    pub(crate) const fn topics(topics: usize, documents: usize) -> Self {
        Self::new("topics", topics_of_trec, topics, documents)
    }

    /// Label maps of 19 classes, `width` x `width / 2` pixels, as PNG files in two folders.
    pub(crate) const fn label_maps(images: usize, width: usize) -> Self {
        Self::new("label-maps", label_maps, images, width)
    }

    /// Tasks with so many samples, and how many of them pass, one object per line.
    pub(crate) const fn samples(tasks: usize, samples: usize) -> Self {
        Self::new("samples", samples_of_tasks, tasks, samples)
    }

    /// ARC grids of up to `side` x `side` cells and predictions, one object per line.
    pub(crate) const fn grids(pairs: usize, side: usize) -> Self {
        Self::new("grids", grids, pairs, side)
    }

    /// An ARC submission of two attempts and its solutions, in Kaggle's files.
    pub(crate) const fn submission(tasks: usize, side: usize) -> Self {
        Self::new("submission", submission, tasks, side)
    }

    /// Questions with `people` answers each, and predictions, in VQA v2's files.
    pub(crate) const fn vqa(questions: usize, people: usize) -> Self {
        Self::new("vqa", vqa, questions, people)
    }

    /// Questions with `answers` true answers each, and predictions, in SQuAD's files.
    pub(crate) const fn squad(questions: usize, answers: usize) -> Self {
        Self::new("squad", squad, questions, answers)
    }

    /// OpenLane-V2 frames of 20 lanes and 4 traffic elements, and `predicted` predicted lanes.
    pub(crate) const fn openlane(frames: usize, predicted: usize) -> Self {
        Self::new("openlane", openlane, frames, predicted)
    }

    /// MapDR clips of `rules` rules with their lanes, and predictions.
    pub(crate) const fn lanes(clips: usize, rules: usize) -> Self {
        Self::new("lanes", lanes, clips, rules)
    }

    /// The same input at another size.
    pub(crate) const fn with_size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// The folder with its files in `data`, which are made if they are not there.
    pub(crate) fn folder(&self, data: &Path) -> Result<PathBuf, String> {
        let mut name = format!("{}-{}x{}", self.name, self.size, self.width);
        if let Make::Code = self.make {
            // Another folder when the rows change.
            let rows = self.rows().map_err(|error| error.to_string())?;
            let _ = write!(name, "-{:016x}", hash(&rows));
        }
        let folder = data.join(name);
        if folder.is_dir() {
            return Ok(folder);
        }
        eprintln!("  making {}", folder.display());
        // A folder under its own name is whole: files are made under another one.
        let partial = folder.with_extension("partial");
        let made = std::fs::create_dir_all(&partial)
            .and_then(|()| self.write(7, &partial))
            .and_then(|()| std::fs::rename(&partial, &folder));
        made.map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// Writes its files into `folder`.
    fn write(&self, seed: u64, folder: &Path) -> io::Result<()> {
        match self.make {
            Make::Random(make) => make(&mut Random(seed), self, folder),
            Make::Code => code(self, folder),
        }
    }

    /// The file of golden rows that pairs of code come from.
    fn rows(&self) -> io::Result<String> {
        let path = format!("tests/golden/code/{}_pkg.jsonl", self.name);
        std::fs::read_to_string(xtask_common::root().join(path))
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// SplitMix64 (Steele, Lea and Flood 2014): a stream that no release of a library changes.
pub(crate) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, or 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// From 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// The normal distribution, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

fn file(folder: &Path, name: &str) -> io::Result<BufWriter<File>> {
    Ok(BufWriter::new(File::create(folder.join(name))?))
}

/// A file of references and one of predictions.
fn pair(folder: &Path, extension: &str) -> io::Result<[BufWriter<File>; 2]> {
    Ok([
        file(folder, &format!("r.{extension}"))?,
        file(folder, &format!("p.{extension}"))?,
    ])
}

/// The rows of a JSON Lines file of a pair.
fn record(files: &mut [BufWriter<File>; 2], id: usize, both: [&Value; 2]) -> io::Result<()> {
    for ((file, field), value) in files.iter_mut().zip(["reference", "prediction"]).zip(both) {
        writeln!(file, "{{\"id\":\"{id}\",\"{field}\":{value}}}")?;
    }
    Ok(())
}

fn code(input: &Input, folder: &Path) -> io::Result<()> {
    let rows = input.rows()?;
    let rows = rows.lines().map(serde_json::from_str::<Value>);
    let rows: Vec<Value> = rows.collect::<Result<_, _>>()?;
    // The first row tells where the others are from.
    let rows: Vec<&Value> = rows
        .iter()
        .filter(|row| row["prediction"].is_string())
        .collect();
    let mut files = pair(folder, "jsonl")?;
    // Each pair once, then again with the texts of another row's prediction, as a poor model would.
    for (index, row) in rows.iter().cycle().take(input.size).enumerate() {
        let other = &rows[(index * 7 + index / rows.len()) % rows.len()];
        let other = if index % 4 == 3 { other } else { row };
        record(
            &mut files,
            index,
            [&row["references"][0], &other["prediction"]],
        )?;
    }
    Ok(())
}

/// A box `[x, y, w, h]` inside an image of these sides; areas as in COCO, about 41% small, 34%
/// medium and 25% large.
fn any_box(random: &mut Random, [width, height]: [f64; 2]) -> [f64; 4] {
    let area = (55.0_f64.powi(2).ln() + 1.75 * random.normal()).exp();
    let ratio = (0.5 * random.normal()).exp();
    let w = (area * ratio).sqrt().clamp(2.0, width * 0.98);
    let h = (area / ratio).sqrt().clamp(2.0, height * 0.98);
    [
        random.unit() * (width - w),
        random.unit() * (height - h),
        w,
        h,
    ]
}

#[expect(
    clippy::too_many_lines,
    reason = "both files of a data set, written together image by image"
)]
fn coco(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (images, per_image) = (input.size, input.width);
    const CLASSES: usize = 80;
    // Few classes are frequent: the product of two uniform numbers.
    let class = |random: &mut Random| (random.unit() * random.unit() * CLASSES as f64) as usize + 1;
    let mut truths = file(folder, "r.json")?;
    let mut detections = file(folder, "p.json")?;
    let mut annotations = String::new();
    let (mut annotation, mut first) = (0, true);
    write!(truths, "{{\"info\":{{}},\"images\":[")?;
    write!(detections, "[")?;
    for image in 0..images {
        let (id, comma) = (image + 1, if image == 0 { "" } else { "," });
        let sides = [[640.0, 480.0], [480.0, 640.0], [500.0, 375.0]][random.below(3)];
        let [width, height] = sides;
        write!(
            truths,
            "{comma}{{\"id\":{id},\"width\":{width},\"height\":{height},\"file_name\":\"{id}.jpg\"}}"
        )?;
        let here = [class(random), class(random), class(random)];
        let any = |random: &mut Random| {
            if random.chance(0.7) {
                here[random.below(3)]
            } else {
                class(random)
            }
        };
        let boxes = (-7.4 * (1.0 - random.unit()).ln()) as usize;
        let boxes: Vec<_> = (0..boxes)
            .map(|_| (any(random), any_box(random, sides)))
            .collect();
        let mut found = Vec::new();
        for (class, [x, y, w, h]) in &boxes {
            annotation += 1;
            let area = w * h * (0.45 + random.unit() / 2.0);
            let crowd = u8::from(random.chance(0.012));
            let comma = if annotation == 1 { "" } else { "," };
            let _ = write!(
                annotations,
                "{comma}{{\"id\":{annotation},\"image_id\":{id},\"category_id\":{class},\
                 \"bbox\":[{x:.2},{y:.2},{w:.2},{h:.2}],\"area\":{area:.4},\"iscrowd\":{crowd}}}"
            );
            for _ in 0..[0, 1, 1, 2, 3][random.below(5)] {
                let off = random.unit() * 0.15;
                let moved = [
                    x + off * random.normal() * w,
                    y + off * random.normal() * h,
                    w * (off * random.normal()).exp(),
                    h * (off * random.normal()).exp(),
                ];
                let class = if random.chance(0.9) {
                    *class
                } else {
                    any(random)
                };
                found.push((class, moved, 0.92 - 2.2 * off + 0.15 * random.normal()));
            }
        }
        while found.len() < per_image {
            found.push((any(random), any_box(random, sides), random.unit().powi(4)));
        }
        found.truncate(per_image);
        for (class, [x, y, w, h], score) in found {
            let comma = if first { "" } else { "," };
            first = false;
            let (x, y) = (x.clamp(0.0, width - 1.0), y.clamp(0.0, height - 1.0));
            let (w, h) = (w.clamp(0.5, width - x), h.clamp(0.5, height - y));
            // Four digits give scores that occur twice.
            let score = score.clamp(0.001, 0.999);
            write!(
                detections,
                "{comma}{{\"image_id\":{id},\"category_id\":{class},\
                 \"bbox\":[{x:.2},{y:.2},{w:.2},{h:.2}],\"score\":{score:.4}}}"
            )?;
        }
    }
    let categories: Vec<_> = (1..=CLASSES)
        .map(|id| json!({"id": id, "name": format!("class {id}")}))
        .collect();
    let categories = Value::from(categories);
    write!(
        truths,
        "],\"categories\":{categories},\"annotations\":[{annotations}]}}"
    )?;
    write!(detections, "]")
}

fn lvis(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    const CLASSES: usize = 1203;
    const SIDES: [f64; 2] = [640.0, 480.0];
    let frequency = |class: usize| ["f", "c", "r"][class * 3 / (CLASSES + 1)];
    let class = |random: &mut Random| (random.unit() * random.unit() * CLASSES as f64) as usize + 1;
    let mut truths = file(folder, "r.json")?;
    let mut detections = file(folder, "p.json")?;
    let (mut annotations, mut annotation) = (String::new(), 0);
    write!(truths, "{{\"images\":[")?;
    write!(detections, "[")?;
    for image in 1..=input.size {
        let present: Vec<usize> = (0..9).map(|_| class(random)).collect();
        let absent: Vec<usize> = (0..6).map(|_| class(random)).collect();
        let not_exhaustive = present[0];
        let comma = if image == 1 { "" } else { "," };
        write!(
            truths,
            "{comma}{{\"id\":{image},\"width\":640,\"height\":480,\"neg_category_ids\":{absent:?},\"not_exhaustive_category_ids\":[{not_exhaustive}]}}"
        )?;
        let mut boxes = Vec::new();
        for &class in &present {
            for _ in 0..=random.below(3) {
                let here = any_box(random, SIDES);
                let [x, y, w, h] = here;
                let area = w * h * (0.45 + random.unit() / 2.0);
                let comma = if annotation == 0 { "" } else { "," };
                annotation += 1;
                let _ = write!(
                    annotations,
                    "{comma}{{\"id\":{annotation},\"image_id\":{image},\"category_id\":{class},\"bbox\":[{x:.2},{y:.2},{w:.2},{h:.2}],\"area\":{area:.4}}}"
                );
                boxes.push((class, here));
            }
        }
        for index in 0..input.width {
            // A quarter of the detections are near an object, and a quarter are of classes that are verified.
            let (class, [x, y, w, h]) = match index % 4 {
                0 => {
                    let (class, [x, y, w, h]) = boxes[random.below(boxes.len())];
                    let off = random.unit() * 0.15;
                    (class, [x + off * w, y + off * h, w * (1.0 - off), h])
                }
                1 => (absent[random.below(absent.len())], any_box(random, SIDES)),
                _ => (class(random), any_box(random, SIDES)),
            };
            let comma = if (image, index) == (1, 0) { "" } else { "," };
            let score = random.unit();
            write!(
                detections,
                "{comma}{{\"image_id\":{image},\"category_id\":{class},\"bbox\":[{x:.2},{y:.2},{w:.2},{h:.2}],\"score\":{score:.4}}}"
            )?;
        }
    }
    let categories: Vec<_> = (1..=CLASSES)
        .map(|id| json!({"id": id, "name": format!("class {id}"), "frequency": frequency(id)}))
        .collect();
    let categories = Value::from(categories);
    write!(
        truths,
        "],\"categories\":{categories},\"annotations\":[{annotations}]}}"
    )?;
    write!(detections, "]")
}

/// A line of words; every second line is Cyrillic.
fn line(random: &mut Random, index: usize, letters: usize) -> Vec<char> {
    let (first, alphabet) = [('a', 26), ('а', 32)][index % 2];
    let mut line: Vec<char> = (0..letters / 2 + random.below(letters + 1))
        .map(|_| match random.below(7) {
            0 => ' ',
            _ => letter(random, first, alphabet),
        })
        .collect();
    // Words are one space apart, and a line starts and ends with one, in every program.
    line.dedup_by(|a, b| *a == ' ' && *b == ' ');
    for end in [0, line.len().saturating_sub(1)] {
        if let Some(end) = line.get_mut(end) {
            *end = first;
        }
    }
    line
}

fn letter(random: &mut Random, first: char, alphabet: usize) -> char {
    char::from_u32(u32::from(first) + random.below(alphabet) as u32).unwrap_or(first)
}

fn write_line(file: &mut BufWriter<File>, line: &[char]) -> io::Result<()> {
    let mut text: String = line.iter().collect();
    text.push('\n');
    file.write_all(text.as_bytes())
}

fn lines_of_text(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, letters) = (input.size, input.width);
    let [mut references, mut predictions] = pair(folder, "txt")?;
    for index in 0..size {
        let line = line(random, index, letters);
        let mut heard = Vec::with_capacity(line.len());
        for &letter in &line {
            match (random.chance(0.06), random.below(3)) {
                (true, 0) => {}
                (true, 1) => heard.push(if letter == ' ' { 'o' } else { 'x' }),
                (true, _) => heard.extend([letter, if letter == ' ' { 'i' } else { letter }]),
                (false, _) => heard.push(letter),
            }
        }
        write_line(&mut references, &line)?;
        write_line(&mut predictions, &heard)?;
    }
    Ok(())
}

/// A word of a vocabulary, in which the word at rank r is about 1 / r as frequent as the first.
fn ranked_word(random: &mut Random) -> String {
    const WORDS: f64 = 20_000.0;
    const SYLLABLES: [&str; 16] = [
        "a", "be", "con", "di", "e", "for", "ing", "l", "ment", "no", "ra", "s", "the", "to", "un",
        "ver",
    ];
    let mut rank = WORDS.powf(random.unit()) as usize;
    let mut word = String::new();
    while rank > 0 {
        word.push_str(SYLLABLES[rank % SYLLABLES.len()]);
        rank /= SYLLABLES.len();
    }
    word
}

/// The words, of which a quarter are other ones, left out or added.
fn misheard(random: &mut Random, words: &[String]) -> Vec<String> {
    let mut said = Vec::with_capacity(words.len());
    for word in words {
        match random.below(12) {
            0 => said.push(ranked_word(random)),
            1 => {}
            2 => said.extend([word.clone(), ranked_word(random)]),
            _ => said.push(word.clone()),
        }
    }
    said
}

fn sentences(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let [mut references, mut predictions] = pair(folder, "txt")?;
    for index in 0..input.size {
        let words = 4 + random.below(2 * input.width - 7);
        let mut words: Vec<String> = (0..words).map(|_| ranked_word(random)).collect();
        if let [first, .., last] = &mut words[..] {
            first[..1].make_ascii_uppercase();
            last.push('.');
        }
        let mut said = misheard(random, &words);
        if index % 3 == 0 && said.len() > 8 {
            let start = random.below(said.len() - 4);
            let moved: Vec<String> = said.drain(start..start + 3).collect();
            let to = random.below(said.len());
            said.splice(to..to, moved);
        }
        writeln!(references, "{}", words.join(" "))?;
        writeln!(predictions, "{}", said.join(" "))?;
    }
    Ok(())
}

fn meetings(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    const SPEAKERS: usize = 4;
    let [mut references, mut predictions] = pair(folder, "stm")?;
    for session in 0..input.size {
        // In hundredths of a second.
        let mut start = 0;
        let mut left = input.width * SPEAKERS;
        while left > 0 {
            let speaker = random.below(SPEAKERS);
            let count = left.min(3 + random.below(27));
            left -= count;
            let words: Vec<String> = (0..count).map(|_| ranked_word(random)).collect();
            let said = misheard(random, &words);
            let segment = |file: &mut BufWriter<File>, name, start, words: &[String]| {
                let [start, end] = [start, start + 30 * count].map(hundredths);
                writeln!(
                    file,
                    "meeting-{session} 1 {name}{speaker} {start} {end} {}",
                    words.join(" ")
                )
            };
            segment(&mut references, "speaker", start, &words)?;
            segment(&mut predictions, "stream", start + random.below(50), &said)?;
            start += 30 * count + random.below(100);
        }
    }
    Ok(())
}

fn hundredths(time: usize) -> String {
    format!("{}.{:02}", time / 100, time % 100)
}

fn strings(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, letters) = (input.size, input.width);
    let [mut references, mut predictions] = pair(folder, "txt")?;
    for index in 0..size {
        let mut line = line(random, index, letters);
        write_line(&mut references, &line)?;
        if let Some(letter) = line.last_mut().filter(|_| random.chance(0.25)) {
            *letter = '!';
        }
        write_line(&mut predictions, &line)?;
    }
    Ok(())
}

fn string_records(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, letters) = (input.size, input.width);
    let mut files = pair(folder, "jsonl")?;
    for id in 0..size {
        let mut line = line(random, id, letters);
        let reference: String = line.iter().collect();
        if let Some(letter) = line.last_mut().filter(|_| random.chance(0.25)) {
            *letter = '!';
        }
        let prediction: String = line.iter().collect();
        record(&mut files, id, [&reference.into(), &prediction.into()])?;
    }
    Ok(())
}

fn tables(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, letters) = (input.size, input.width);
    let mut files = pair(folder, "csv")?;
    for (file, field) in files.iter_mut().zip(["reference", "prediction"]) {
        writeln!(file, "id,{field},prompt,probability")?;
    }
    for id in 0..size {
        let mut short = line(random, id, letters);
        let prompt: String = line(random, id + 1, 4 * letters).iter().collect();
        let probability = random.unit();
        for file in &mut files {
            let text: String = short.iter().collect();
            writeln!(file, "item-{id},\"{text}\",\"{prompt}\",{probability:.6}")?;
            if let Some(letter) = short.last_mut().filter(|_| random.chance(0.25)) {
                *letter = '!';
            }
        }
    }
    Ok(())
}

fn ranked(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, k) = (input.size, input.width);
    let mut files = pair(folder, "jsonl")?;
    let mut arrays = [file(folder, "r.i64")?, file(folder, "p.i64")?];
    for id in 0..size {
        let truth = random.below(1000);
        let labels: Vec<usize> = (0..k)
            .map(|_| {
                if random.chance(0.15) {
                    truth
                } else {
                    random.below(1000)
                }
            })
            .collect();
        arrays[0].write_all(&(truth as i64).to_le_bytes())?;
        for label in &labels {
            arrays[1].write_all(&(*label as i64).to_le_bytes())?;
        }
        record(&mut files, id, [&truth.into(), &labels.into()])?;
    }
    Ok(())
}

fn scores(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, classes) = (input.size, input.width);
    let mut truths = file(folder, "r.i64")?;
    let mut scores = file(folder, "p.f32")?;
    for _ in 0..size {
        let truth = random.below(classes);
        truths.write_all(&(truth as i64).to_le_bytes())?;
        for class in 0..classes {
            // The true class is a little ahead, and few scores are equal.
            let more = if class == truth { 0.35 } else { 0.0 };
            scores.write_all(&((random.unit() * 0.65 + more) as f32).to_le_bytes())?;
        }
    }
    Ok(())
}

fn score_records(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, classes) = (input.size, input.width);
    let mut files = pair(folder, "jsonl")?;
    for id in 0..size {
        let truth = random.below(classes);
        let mut score = |class| {
            // The true class is a little ahead, and few scores are equal.
            let more = if class == truth { 0.35 } else { 0.0 };
            ((random.unit() * 0.65 + more) * 1e6).round() / 1e6
        };
        let scores: Vec<f64> = (0..classes).map(&mut score).collect();
        record(&mut files, id, [&truth.into(), &scores.into()])?;
    }
    Ok(())
}

/// A true label (small ones are frequent) and a predicted one.
fn label_pair(random: &mut Random, classes: usize) -> (usize, usize) {
    let truth = (random.unit() * random.unit() * classes as f64) as usize;
    let said = if random.chance(0.7) {
        truth
    } else {
        random.below(classes)
    };
    (truth, said)
}

fn label_records(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let mut files = pair(folder, "jsonl")?;
    for id in 0..input.size {
        let (truth, said) = label_pair(random, input.width);
        record(&mut files, id, [&truth.into(), &said.into()])?;
    }
    Ok(())
}

fn labels(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let [mut references, mut predictions] = pair(folder, "txt")?;
    for _ in 0..input.size {
        let (truth, said) = label_pair(random, input.width);
        writeln!(references, "{truth}")?;
        writeln!(predictions, "{said}")?;
    }
    Ok(())
}

fn numbers(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let [mut references, mut predictions] = pair(folder, "txt")?;
    for _ in 0..input.size {
        let truth = random.unit() * 100.0;
        let prediction = truth * 0.8 + random.unit() * 40.0;
        writeln!(references, "{truth:.6}")?;
        writeln!(predictions, "{prediction:.6}")?;
    }
    Ok(())
}

fn label_sets(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let mut files = pair(folder, "jsonl")?;
    let mut arrays = pair(folder, "i64")?;
    for id in 0..input.size {
        let mut labels: [Vec<Value>; 2] = Default::default();
        for class in 0..input.width {
            let truth = random.chance(0.1);
            let said = random.chance(if truth { 0.7 } else { 0.05 });
            for (side, has) in [truth, said].into_iter().enumerate() {
                arrays[side].write_all(&i64::from(has).to_le_bytes())?;
                if has {
                    labels[side].push(format!("class {class}").into());
                }
            }
        }
        let [truth, said] = labels.map(Value::from);
        record(&mut files, id, [&truth, &said])?;
    }
    Ok(())
}

fn class_scores(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let mut pairs = file(folder, "pairs.csv")?;
    writeln!(pairs, "id,reference,prediction")?;
    for id in 0..input.size {
        let score = random.unit();
        let label = u8::from(random.chance(score));
        writeln!(pairs, "{id},{label},{score:.6}")?;
    }
    Ok(())
}

fn topics_of_trec(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let mut judgments = file(folder, "r.qrels")?;
    let mut run = file(folder, "p.run")?;
    for topic in 0..input.size {
        for rank in 0..input.width {
            // Scores fall with some disorder. Few documents are judged, and of the first ones more.
            let score = (input.width - rank) as f64 + random.unit() * 3.0;
            let document = format!("doc{:07}", rank * 7919 % 9_999_991);
            writeln!(run, "{topic} Q0 {document} {rank} {score:.5} bench")?;
            if random.chance(0.06) {
                let relevance = random.below(3);
                writeln!(judgments, "{topic} 0 {document} {relevance}")?;
            }
        }
    }
    Ok(())
}

/// Streets have large regions, whose borders move a little from row to row; the sides differ along the borders.
fn label_maps(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    const REGIONS: usize = 60;
    const CLASSES: usize = 19;
    let (width, height) = (input.width, input.width / 2);
    for side in ["r", "p"] {
        std::fs::create_dir_all(folder.join(side))?;
    }
    for image in 0..input.size {
        let starts: Vec<usize> = (0..REGIONS).map(|_| random.below(width)).collect();
        let classes: Vec<u8> = (0..REGIONS).map(|_| random.below(CLASSES) as u8).collect();
        for side in ["r", "p"] {
            let mut borders: Vec<(usize, u8)> = starts
                .iter()
                .copied()
                .zip(classes.iter().copied())
                .collect();
            let mut samples = Vec::with_capacity(width * height);
            for _ in 0..height {
                for (border, _) in &mut borders {
                    *border = (*border + random.below(5)).saturating_sub(2).min(width);
                }
                borders.sort_unstable();
                let (row, mut class) = (samples.len(), 0);
                for (border, next) in &borders {
                    samples.resize(row + border, class);
                    class = *next;
                }
                samples.resize(row + width, class);
            }
            let path = folder.join(side).join(format!("im{image}.png"));
            let mut encoder = png::Encoder::new(
                BufWriter::new(File::create(path)?),
                width as u32,
                height as u32,
            );
            encoder.set_depth(png::BitDepth::Eight);
            encoder.set_color(png::ColorType::Grayscale);
            let mut writer = encoder.write_header()?;
            writer.write_image_data(&samples)?;
            writer.finish()?;
        }
    }
    Ok(())
}

fn samples_of_tasks(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let mut predictions = file(folder, "p.jsonl")?;
    for id in 0..input.size {
        let (n, c) = (input.width, random.below(input.width + 1));
        let line = json!({"id": id.to_string(), "prediction": {"n": n, "c": c}});
        writeln!(predictions, "{line}")?;
    }
    Ok(())
}

type Grid = Vec<Vec<usize>>;

fn grid(random: &mut Random, side: usize) -> Grid {
    let (rows, columns) = (1 + random.below(side), 1 + random.below(side));
    let colours = 2 + random.below(8);
    (0..rows)
        .map(|_| (0..columns).map(|_| random.below(colours)).collect())
        .collect()
}

/// The grid, or it with some other cells, or another one.
fn attempt(random: &mut Random, truth: &Grid, side: usize) -> Grid {
    match random.below(4) {
        0 => truth.clone(),
        1 => grid(random, side),
        _ => {
            let cell = |random: &mut Random, cell: &usize| {
                if random.chance(0.1) {
                    random.below(10)
                } else {
                    *cell
                }
            };
            let row = |row: &Vec<usize>| row.iter().map(|value| cell(random, value)).collect();
            truth.iter().map(row).collect()
        }
    }
}

fn grids(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, side) = (input.size, input.width);
    let mut files = pair(folder, "jsonl")?;
    for id in 0..size {
        let truth = grid(random, side);
        let attempt = attempt(random, &truth, side);
        record(&mut files, id, [&json!(truth), &json!(attempt)])?;
    }
    Ok(())
}

fn submission(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, side) = (input.size, input.width);
    let [mut references, mut predictions] = pair(folder, "json")?;
    for id in 0..size {
        let start = if id == 0 { "{" } else { ",\n" };
        let truths: Vec<Grid> = (0..1 + random.below(3))
            .map(|_| grid(random, side))
            .collect();
        let attempts: Vec<Value> = truths
            .iter()
            .map(|truth| {
                let first = attempt(random, truth, side);
                json!({"attempt_1": first, "attempt_2": attempt(random, truth, side)})
            })
            .collect();
        write!(references, "{start}\"{id:08x}\":{}", json!(truths))?;
        write!(predictions, "{start}\"{id:08x}\":{}", json!(attempts))?;
    }
    for file in [&mut references, &mut predictions] {
        write!(file, "}}")?;
    }
    Ok(())
}

fn vqa(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, people) = (input.size, input.width);
    const ANSWERS: &[&str] = &[
        "yes",
        "no",
        "Yes",
        "2",
        "two",
        "red",
        "the red bus",
        "a dog",
        "1,000",
        "2.5",
        "u.s.",
        "dont know",
        "don't know",
        "black & white",
        "no.",
        "it's",
        "left/right",
        "tennis racket",
        "on the table",
        "0",
    ];
    const KINDS: &[(&str, &str)] = &[
        ("is the", "yes/no"),
        ("how many", "number"),
        ("what color is the", "other"),
        ("none of the above", "other"),
    ];
    let [mut references, mut predictions] = pair(folder, "json")?;
    write!(references, "{{\"annotations\":[")?;
    write!(predictions, "[")?;
    for id in 0..size {
        let (question, answer) = KINDS[random.below(KINDS.len())];
        let comma = if id == 0 { "" } else { ",\n" };
        let most = random.pick(ANSWERS);
        let unanimous = random.chance(0.2);
        let mut all = Vec::new();
        for index in 1..=people {
            let own = if unanimous || random.chance(0.6) {
                most
            } else {
                random.pick(ANSWERS)
            };
            all.push(json!({"answer": own, "answer_confidence": "yes", "answer_id": index}));
        }
        let said = if random.chance(0.6) {
            most
        } else {
            random.pick(ANSWERS)
        };
        let annotation = json!({
            "question_id": id, "image_id": id, "question_type": question, "answer_type": answer,
            "multiple_choice_answer": most, "answers": all,
        });
        write!(references, "{comma}{annotation}")?;
        write!(
            predictions,
            "{comma}{}",
            json!({"question_id": id, "answer": said})
        )?;
    }
    write!(references, "]}}")?;
    write!(predictions, "]")
}

fn squad(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, answers) = (input.size, input.width);
    const WORDS: &[&str] = &[
        "the",
        "a",
        "Black",
        "Forest",
        "1984",
        "Romans,",
        "of",
        "river",
        "(north)",
        "Saint-Denis",
        "in",
        "an",
        "U.S.",
        "café",
        "2,850",
        "km",
    ];
    let phrase = |random: &mut Random| {
        let words: Vec<_> = (0..1 + random.below(5))
            .map(|_| random.pick(WORDS))
            .collect();
        words.join(" ")
    };
    let [mut references, mut predictions] = pair(folder, "json")?;
    // About as many questions as an article of SQuAD v1.1's development set has: 10,570 in 48.
    const ARTICLE: usize = 220;
    let article = r#"{"title":"t","paragraphs":["#;
    write!(references, r#"{{"version":"1.1","data":[{article}"#)?;
    write!(predictions, "{{")?;
    for id in 0..size {
        let comma = if id == 0 { "" } else { ",\n" };
        let first = phrase(random);
        let mut all = vec![json!({"text": first, "answer_start": 0})];
        for _ in 1..answers {
            let text = if random.chance(0.7) {
                first.clone()
            } else {
                phrase(random)
            };
            all.push(json!({"text": text, "answer_start": 0}));
        }
        let said = match random.below(3) {
            0 => first.to_lowercase(),
            1 => format!("{first} {}", random.pick(WORDS)),
            _ => phrase(random),
        };
        let paragraph = json!({
            "context": "A paragraph.",
            "qas": [{"id": id.to_string(), "question": "What?", "answers": all}],
        });
        match id % ARTICLE {
            0 if id > 0 => write!(references, "]}},\n{article}{paragraph}")?,
            _ => write!(references, "{comma}{paragraph}")?,
        }
        write!(predictions, "{comma}\"{id}\":{}", json!(said))?;
    }
    write!(references, "]}}]}}")?;
    write!(predictions, "}}")
}

/// A number with three digits after the point.
fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn openlane(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, predicted) = (input.size, input.width);
    let mut files = pair(folder, "jsonl")?;
    for id in 0..size {
        let lanes: Vec<Vec<[f64; 3]>> = (0..20).map(|_| lane(random)).collect();
        let edge = |random: &mut Random| u8::from(random.chance(0.08));
        let matrix = |random: &mut Random, rows: usize, columns: usize, likely: bool| {
            let rows = (0..rows).map(|_| {
                let cell = |_| {
                    if likely {
                        json!(round_far(random.unit()))
                    } else {
                        json!(edge(random))
                    }
                };
                (0..columns).map(cell).collect::<Vec<_>>()
            });
            json!(rows.collect::<Vec<_>>())
        };
        let mut signs = Vec::new();
        for index in 0..4 {
            let [x, y] = [100.0 + 300.0 * f64::from(index), 200.0];
            signs.push((random.below(13), [[x, y], [x + 60.0, y + 80.0]]));
        }
        let reference = json!({
            "lane_centerline": Vec::from_iter(lanes.iter().enumerate().map(
                |(id, points)| json!({"id": id, "points": points}))),
            "traffic_element": Vec::from_iter(signs.iter().enumerate().map(
                |(id, (attribute, points))| {
                    json!({"id": 1000 + id, "attribute": attribute, "points": points})
                })),
            "topology_lclc": matrix(random, 20, 20, false),
            "topology_lcte": matrix(random, 20, 4, false),
        });
        let mut found = Vec::new();
        for index in 0..predicted {
            // Four of five are near a true lane.
            let points = if random.chance(0.8) {
                let aside = random.normal();
                let near =
                    |[x, y, z]: &[f64; 3]| [round(x + 0.1 * random.normal()), round(y + aside), *z];
                lanes[index % 20].iter().map(near).collect()
            } else {
                lane(random)
            };
            // Confidences that differ: the devkit leaves the order of equal ones to its sort.
            let confidence = (index as f64 + random.unit()) / predicted as f64;
            found.push(json!({"id": index, "points": points, "confidence": round_far(confidence)}));
        }
        let mut seen = Vec::new();
        for (index, (attribute, points)) in signs.iter().enumerate() {
            let moved =
                points.map(|[x, y]| [round(x + 3.0 * random.normal()), round(y + random.normal())]);
            let attribute = if random.chance(0.8) {
                *attribute
            } else {
                random.below(13)
            };
            let confidence = (index as f64 + random.unit()) / 4.0;
            seen.push(json!({
                "id": 1000 + index, "attribute": attribute, "points": moved,
                "confidence": round_far(confidence),
            }));
        }
        let prediction = json!({
            "lane_centerline": found,
            "traffic_element": seen,
            "topology_lclc": matrix(random, predicted, predicted, true),
            "topology_lcte": matrix(random, predicted, 4, true),
        });
        record(&mut files, id, [&reference, &prediction])?;
    }
    Ok(())
}

fn round_far(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A bent lane of 11 points.
fn lane(random: &mut Random) -> Vec<[f64; 3]> {
    let mut point = [
        100.0 * random.unit() - 50.0,
        50.0 * random.unit() - 25.0,
        0.0,
    ];
    let mut heading = random.normal();
    (0..11)
        .map(|_| {
            heading += 0.05 * random.normal();
            point[0] += 3.0 * heading.cos();
            point[1] += 3.0 * heading.sin();
            point.map(round)
        })
        .collect()
}

fn lanes(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let (size, rules) = (input.size, input.width);
    const KINDS: &[&str] = &["DirectionLane", "BusLane", "EmergencyLane", "TidalFlowLane"];
    let mut files = pair(folder, "jsonl")?;
    for id in 0..size {
        let mut truth = serde_json::Map::new();
        let mut said = serde_json::Map::new();
        for rule in 0..1 + random.below(2 * rules) {
            let kind = random.pick(KINDS);
            let lanes: Vec<usize> = (0..1 + random.below(3))
                .map(|lane| 10 * rule + lane)
                .collect();
            let value = |kind: &str, lanes: &[usize]| {
                json!({
                    "attr_info": {
                        "AllowedTransport": "None", "EffectiveDate": "None", "EffectiveTime": "None",
                        "HighSpeedLimit": "None", "LaneDirection": ["GoStraight"], "LaneType": kind,
                        "LowSpeedLimit": "None", "RuleIndex": rule.to_string(),
                    },
                    "centerline": lanes,
                })
            };
            truth.insert(format!("r{rule}"), value(kind, &lanes));
            let kind = if random.chance(0.8) {
                kind
            } else {
                random.pick(KINDS)
            };
            let fewer = if random.chance(0.8) { lanes.len() } else { 1 };
            said.insert(format!("r{rule}"), value(kind, &lanes[..fewer]));
        }
        record(&mut files, id, [&truth.into(), &said.into()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix() {
        // The first numbers from seed 1234567, as published with the algorithm's C program.
        let mut random = Random(1234567);
        assert_eq!(random.next(), 6457827717110365317);
        assert_eq!(random.next(), 3203168211198807973);
        assert!((0..1000).all(|_| random.below(3) < 3));
        assert!(
            (0..1000)
                .map(|_| random.unit())
                .all(|unit| (0.0..1.0).contains(&unit))
        );
    }

    /// The ids of the records in a file of an input; of one without ids their positions.
    /// The files of a folder in the order of their names, or the file itself.
    fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
        if !path.is_dir() {
            return Ok(vec![path.to_owned()]);
        }
        let entries = std::fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
        let mut files = entries.collect::<std::io::Result<Vec<_>>>()?;
        files.sort();
        Ok(files)
    }

    fn ids(path: &Path, input: &Input) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        if path.is_dir() {
            let stem = |file: PathBuf| Some(file.file_stem()?.to_str()?.to_owned());
            return Ok(files(path)?.into_iter().filter_map(stem).collect());
        }
        let bytes = std::fs::read(path)?;
        let indices = |count: usize| (0..count).map(|index| index.to_string()).collect();
        let numbers = |values: Option<&Vec<Value>>, key: &str| {
            let mut ids: Vec<u64> = values
                .into_iter()
                .flatten()
                .filter_map(|value| value[key].as_u64())
                .collect();
            // An image has many detections.
            ids.dedup();
            ids.iter().map(u64::to_string).collect()
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let (name, extension) = name.and_then(|name| name.split_once('.')).ok_or("a name")?;
        Ok(match extension {
            "i64" if name == "r" => indices(bytes.len() / 8),
            "i64" => indices(bytes.len() / 8 / input.width),
            "f32" => indices(bytes.len() / 4 / input.width),
            "txt" => indices(String::from_utf8(bytes)?.lines().count()),
            "jsonl" => {
                let text = String::from_utf8(bytes)?;
                let rows = text.lines().map(serde_json::from_str::<Value>);
                let id = |row: Value| row["id"].as_str().unwrap_or("?").to_owned();
                rows.map(|row| Ok(id(row?)))
                    .collect::<Result<_, serde_json::Error>>()?
            }
            _ => {
                let json: Value = serde_json::from_slice(&bytes)?;
                match (input.name, name) {
                    ("coco" | "lvis", "r") => numbers(json["images"].as_array(), "id"),
                    ("coco" | "lvis", _) => numbers(json.as_array(), "image_id"),
                    ("vqa", "r") => numbers(json["annotations"].as_array(), "question_id"),
                    ("vqa", _) => numbers(json.as_array(), "question_id"),
                    ("squad", "r") => {
                        let all = json["data"][0]["paragraphs"].as_array();
                        let id = |one: &Value| one["qas"][0]["id"].as_str().map(str::to_owned);
                        all.into_iter().flatten().filter_map(id).collect()
                    }
                    _ => json
                        .as_object()
                        .ok_or("an object")?
                        .keys()
                        .cloned()
                        .collect(),
                }
            }
        })
    }

    #[test]
    fn inputs_hold_what_is_asked_for_and_follow_the_seed() -> Result<(), Box<dyn std::error::Error>>
    {
        let data = std::env::temp_dir().join(format!("xtask-inputs-{}", std::process::id()));
        for input in [
            Input::code("python", 3),
            Input::coco(3, 5),
            Input::lvis(3, 5),
            Input::lines(4, 20),
            Input::strings(4, 20),
            Input::ranked(4, 3),
            Input::scores(2, 5),
            Input::labels(4, 3),
            Input::samples(4, 3),
            Input::label_maps(2, 16),
            Input::string_records(4, 20),
            Input::score_records(2, 5),
            Input::label_records(4, 3),
            Input::grids(4, 5),
            Input::submission(2, 5),
            Input::vqa(3, 10),
            Input::squad(3, 2),
            Input::openlane(1, 24),
            Input::lanes(2, 3),
        ] {
            let name = input.name;
            let first = usize::from(name == "coco" || name == "lvis");
            let wanted: Vec<String> = (first..first + input.size)
                .map(|id| match name {
                    "submission" => format!("{id:08x}"),
                    "label-maps" => format!("im{id}"),
                    _ => id.to_string(),
                })
                .collect();
            let [one, other] = [7, 8].map(|seed| data.join(format!("{name}-{seed}")));
            for (seed, folder) in [(7, &one), (8, &other)] {
                std::fs::create_dir_all(folder)?;
                input.write(seed, folder)?;
            }
            let mut differ = false;
            let mut count = 0;
            for path in files(&one)? {
                assert_eq!(ids(&path, &input)?, wanted, "{}", path.display());
                for file in files(&path)? {
                    let same = other.join(file.strip_prefix(&one)?);
                    differ |= std::fs::read(&file)? != std::fs::read(same)?;
                }
                count += 1;
            }
            assert!(count > 0, "{name}");
            assert_eq!(differ, matches!(input.make, Make::Random(_)), "{name}");
        }
        std::fs::remove_dir_all(data)?;
        Ok(())
    }

    #[test]
    fn a_folder_of_code_is_named_after_the_rows() -> Result<(), String> {
        let data = std::env::temp_dir().join(format!("xtask-code-{}", std::process::id()));
        let folder = Input::code("python", 2).folder(&data)?;
        let rows = Input::code("python", 2).rows();
        let rows = rows.map_err(|error| error.to_string())?;
        let name = format!("python-2x1-{:016x}", hash(&rows));
        assert_eq!(folder, data.join(name));
        assert_ne!(hash(&rows), hash(&rows.replacen('a', "b", 1)));
        std::fs::remove_dir_all(data).map_err(|error| error.to_string())
    }
}
