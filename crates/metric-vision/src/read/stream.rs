//! COCO files whose images are scored while their results are read.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};

use metric_record::json::blocks::ListBlocks;
use metric_record::json::scan::Scanner;
use metric_record::{Content, Document, File, Stream};

use super::Warnings;
use super::coco::{
    Annotations, CocoOptions, Form, Readable, ResultRecord, Results, Truth, add, is_ground_truth,
    position,
};
use super::list::read_part;
use crate::parallel::on_all_threads;
use crate::{BBox, Class, Image, Mask, Prediction};

/// The detections of a COCO results file, one image at a time, read without holding all of them in memory.
///
/// The contract: images, detections and warnings are exactly those that [`read_coco_documents`] gives; in all other
/// cases a function here returns `None`. Those cases are an error in the files, results of an image that are not next
/// to each other, and a document that is not a file that is read part by part. The caller then reads the documents as
/// a whole, which also words the error.
///
/// [`read_coco_documents`]: super::read_coco_documents
pub struct CocoStream<S> {
    truth: Truth<S>,
    warnings: Warnings,
    options: CocoOptions,
    results: Blocks,
    run: Run<S>,
}

/// The blocks of a results file.
type Blocks = ListBlocks<Box<dyn Read + Send>>;

/// Passes all images on to parts. As a pointer to what is compiled where the stream is opened, it is compiled with this
/// crate, not again for each caller of [`CocoStream::fold`].
type Run<S> = fn(CocoStream<S>, WithPart<'_, S>) -> Option<Warnings>;

/// Starts a part, and calls a function once with what adds images to it.
type WithPart<'w, S> =
    &'w (dyn Fn(&mut dyn FnMut(&mut Gather<'_, S>) -> Option<()>) -> Option<()> + Sync);

/// Adds an image, given its index and its detections, or returns `None` to refuse it.
type Gather<'g, S> = dyn FnMut(u32, &[Prediction<S>], &Image<S>) -> Option<()> + 'g;

/// The records gathered from a [`CocoStream`].
pub struct CocoFold<A> {
    /// The records that each thread has gathered, in no particular order.
    pub parts: Vec<A>,
    /// The things that were corrected or left out, each with the number of times.
    pub warnings: Warnings,
}

impl CocoStream<BBox> {
    /// Reads the ground truth of boxes, and opens the results.
    ///
    /// # Cost
    ///
    /// The annotations of the ground truth are in memory. Its text is in memory while it is read if its lists cannot be
    /// read block by block.
    #[must_use]
    pub fn open(
        references: &Document,
        predictions: &Document,
        options: CocoOptions,
    ) -> Option<Self> {
        open(references, predictions, options)
    }
}

impl CocoStream<Mask> {
    /// Reads the ground truth of masks, and opens the results.
    #[must_use]
    pub fn open_masks(
        references: &Document,
        predictions: &Document,
        options: CocoOptions,
    ) -> Option<Self> {
        open(references, predictions, options)
    }
}

fn open<S: Readable<Model = ()> + Clone + Send + Sync>(
    references: &Document,
    predictions: &Document,
    options: CocoOptions,
) -> Option<CocoStream<S>> {
    let (Content::Stream(found), None) = (&predictions.content, options.shard) else {
        return None;
    };
    let name = &references.name;
    let streamed = match &references.content {
        Content::Stream(truth) => stream_truth(name, truth, BLOCK_BYTES, options),
        _ => None,
    };
    let (truth, warnings) = match (streamed, &references.content) {
        (Some(streamed), _) => streamed,
        (None, Content::Stream(truth)) => truth_of(name, &truth.read().ok()?, options)?,
        (None, _) => truth_of(name, references.file().ok()?.text, options)?,
    };
    Some(CocoStream {
        truth,
        warnings,
        options,
        results: ListBlocks::new(found.open()?),
        run,
    })
}

/// Reads a ground truth as a whole.
fn truth_of<S: Readable<Model = ()>>(
    name: &str,
    text: &str,
    options: CocoOptions,
) -> Option<(Truth<S>, Warnings)> {
    let text = File { name, text }.content();
    let mut warnings = Warnings::new();
    let truth = Truth::read(File { name, text }, &(), options, &mut warnings).ok()?;
    Some((truth, warnings))
}

/// The number of bytes of annotations that are read as one part.
const BLOCK_BYTES: usize = 256 * 1024;

/// Reads a ground truth without all of its text in memory.
///
/// A file that lists its classes at the end, as those of COCO do, is read twice: first for the lists at its end, then
/// for its annotations, since those of classes that are not listed are left out.
///
/// The contract: images and warnings are exactly those of [`Truth::read`], or there is nothing.
fn stream_truth<S: Readable<Model = ()>>(
    name: &str,
    source: &Stream,
    block_bytes: usize,
    options: CocoOptions,
) -> Option<(Truth<S>, Warnings)> {
    let open = || {
        let blocks = ListBlocks::within(source.open()?, "annotations");
        Some(blocks.with_block_bytes(block_bytes))
    };
    let mut blocks = open()?;
    let mut block = Vec::new();
    blocks.next_into(&mut block)?;
    let head = std::str::from_utf8(blocks.head()).ok()?.to_owned();
    let mut warnings = Warnings::new();
    let lists = Truth::around(name, &format!("{head}]}}"), options, &mut warnings);
    let mut truth = match lists {
        Some(truth) => truth,
        None => {
            while !blocks.is_at_end() {
                blocks.next_into(&mut block)?;
            }
            let last = std::str::from_utf8(&block).ok()?;
            let around = format!("{head}{}", &last[end_of_list(last)?..]);
            warnings.clear();
            Truth::around(name, &around, options, &mut warnings)?
        }
    };
    let feed = Mutex::new(AnnotationFeed {
        blocks: Some(open()?),
        cut: 0,
        parts: BTreeMap::new(),
        tail: String::new(),
    });
    let work = || {
        if read_annotations(&feed, &truth, options).is_none() {
            locked(&feed).blocks = None;
        }
    };
    on_all_threads(&work);
    let feed = feed.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Without blocks, a part was refused.
    feed.blocks?;
    // A later key may be one of those before the list, and stand for it.
    is_ground_truth(&format!("{head}{}", feed.tail)).then_some(())?;
    let parts = feed.parts.into_values();
    truth.add_parts(name, parts, options, &mut warnings)?;
    Some((truth, warnings))
}

/// The annotations of a file, and what has been read of them, for all workers.
struct AnnotationFeed<S> {
    /// None once a part was refused.
    blocks: Option<Blocks>,
    /// The number of blocks that have been cut.
    cut: usize,
    parts: BTreeMap<usize, Annotations<S>>,
    /// The text after the end of the list.
    tail: String,
}

/// Reads annotations until there are no more. `None` if some are refused, or were by others.
fn read_annotations<S: Readable<Model = ()>>(
    feed: &Mutex<AnnotationFeed<S>>,
    truth: &Truth<S>,
    options: CocoOptions,
) -> Option<()> {
    let mut block = Vec::new();
    loop {
        let (number, is_last) = {
            let mut feed = locked(feed);
            let blocks = feed.blocks.as_mut()?;
            if !blocks.next_into(&mut block)? {
                return Some(());
            }
            let is_last = blocks.is_at_end();
            feed.cut += 1;
            (feed.cut, is_last)
        };
        let mut text = std::str::from_utf8(&block).ok()?;
        if is_last {
            let (records, tail) = text.split_at(end_of_list(text)?);
            locked(feed).tail = tail.to_owned();
            text = records;
        }
        let part = Annotations::read(text, truth, options)?;
        locked(feed).parts.insert(number, part);
    }
}

/// Where the list ends whose first record a text starts with: before the closing bracket.
fn end_of_list(text: &str) -> Option<usize> {
    let mut scanner = Scanner::new(text);
    if scanner.peek()? != b']' {
        scanner.skip_value()?;
        while scanner.take(b',') {
            scanner.skip_value()?;
        }
    }
    (scanner.peek()? == b']').then(|| scanner.at())
}

impl<S: Clone + Send + Sync> CocoStream<S> {
    /// Returns the classes, in the order of their keys.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.truth.classes
    }

    /// Returns the stream with results that are read in blocks of at least `block_bytes` bytes.
    #[must_use]
    pub fn with_block_bytes(self, block_bytes: usize) -> Self {
        Self {
            results: self.results.with_block_bytes(block_bytes),
            ..self
        }
    }

    /// Returns the number of images.
    #[must_use]
    pub fn images(&self) -> usize {
        self.truth.images.len()
    }

    /// Calls `gather` once for each image, in any order, with the index of the image and with its detections in the
    /// order of the file. Returns `None` if `gather` does, to refuse an image, or if the documents have to be read as
    /// a whole.
    ///
    /// With the feature `rayon`, this runs on all threads of the current thread pool, each of which gathers a part.
    pub fn fold<A: Default + Send>(
        self,
        gather: impl Fn(&mut A, u32, &[Prediction<S>], &Image<S>) -> Option<()> + Sync,
    ) -> Option<CocoFold<A>> {
        let parts = Mutex::new(Vec::new());
        let with_part: WithPart<'_, S> = &|work| {
            let mut part = A::default();
            let done = work(&mut |index, found, image| gather(&mut part, index, found, image));
            locked(&parts).push(part);
            done
        };
        let warnings = (self.run)(self, with_part)?;
        let parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        Some(CocoFold { parts, warnings })
    }
}

fn run<S: Readable<Model = ()> + Clone + Send + Sync>(
    stream: CocoStream<S>,
    with_part: WithPart<'_, S>,
) -> Option<Warnings> {
    let CocoStream {
        truth,
        mut warnings,
        options,
        results,
        ..
    } = stream;
    let feed = Mutex::new(Feed::new(results, truth.images.len()));
    let worker = Worker {
        truth: &truth,
        options,
        feed: &feed,
    };
    let work = || {
        if with_part(&mut |gather| worker.work(gather)).is_none() {
            locked(&feed).is_refused = true;
        }
    };
    on_all_threads(&work);
    let feed = feed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if feed.is_refused {
        return None;
    }
    with_part(&mut |gather| {
        for ((position, image), seen) in (0..).zip(&truth.images).zip(&feed.seen) {
            match feed.kept.first() {
                Some(kept) if kept.image == position => gather(position, &feed.kept, image)?,
                _ if *seen => {}
                _ => gather(position, &[], image)?,
            }
        }
        Some(())
    })?;
    add(&mut warnings, feed.warnings);
    Some(warnings)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A lock is poisoned by a panic, and nothing here panics.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The results file, and what has been read of it, for all workers.
struct Feed<S> {
    blocks: Blocks,
    /// The form of all results, once the first one has been seen.
    form: Form,
    /// The number of blocks that have been cut.
    cut: usize,
    /// The blocks that are parsed and not yet joined, by their number.
    parsed: BTreeMap<usize, Parsed<S>>,
    /// The number of blocks that have been joined, and of their records.
    joined: usize,
    records: usize,
    /// The results of the last image that has been joined: those of the next block may go on with it.
    kept: Vec<Prediction<S>>,
    /// Whether an image has had results.
    seen: Vec<bool>,
    warnings: Warnings,
    /// The memory of blocks that are done with.
    spare: Vec<Vec<Prediction<S>>>,
    is_refused: bool,
}

/// A block whose records are parsed.
struct Parsed<S> {
    /// In the order of the file; positions count from the start of the block.
    results: Vec<Prediction<S>>,
    /// Where the results of each image start.
    starts: Vec<usize>,
    records: usize,
    warnings: Warnings,
}

/// The next task of a worker.
enum Job<S> {
    /// Parse the block of this number.
    Parse(usize, Form, Vec<Prediction<S>>),
    Score(Complete<S>),
    End,
}

/// Images whose results are all there.
struct Complete<S> {
    /// Results of the first image that were in the blocks before.
    before: Vec<Prediction<S>>,
    results: Vec<Prediction<S>>,
    starts: Vec<usize>,
    /// The number of records before those of the block.
    records: usize,
}

impl<S> Feed<S> {
    fn new(blocks: Blocks, images: usize) -> Self {
        Self {
            blocks,
            form: Form::Box,
            cut: 0,
            parsed: BTreeMap::new(),
            joined: 0,
            records: 0,
            kept: Vec::new(),
            seen: vec![false; images],
            warnings: Warnings::new(),
            spare: Vec::new(),
            is_refused: false,
        }
    }

    /// The next job, with the block that is to be parsed.
    fn next(&mut self, block: &mut Vec<u8>) -> Job<S> {
        if self.is_refused {
            return Job::End;
        }
        // The text that is parsed is still in the cache.
        if let Some(parsed) = self.parsed.remove(&self.joined) {
            if let Some(complete) = self.join(parsed) {
                return Job::Score(complete);
            }
            self.is_refused = true;
            return Job::End;
        }
        match self.blocks.next_into(block) {
            Some(true) => {
                if self.cut == 0 {
                    self.form = Form::of_records(std::str::from_utf8(block).unwrap_or_default());
                }
                self.cut += 1;
                let memory = self.spare.pop().unwrap_or_default();
                Job::Parse(self.cut - 1, self.form, memory)
            }
            Some(false) => Job::End,
            None => {
                self.is_refused = true;
                Job::End
            }
        }
    }

    /// Joins the next block to those before it; `None` if the results of an image are not next to each other.
    fn join(&mut self, parsed: Parsed<S>) -> Option<Complete<S>> {
        let Parsed {
            mut results,
            mut starts,
            records,
            warnings,
        } = parsed;
        add(&mut self.warnings, warnings);
        let before = self.records;
        self.records += records;
        self.joined += 1;
        // More than a data set can count.
        u32::try_from(self.records).ok()?;
        let last = starts.pop().unwrap_or_default();
        let mut kept = results.split_off(last);
        for found in &mut kept {
            found.position = found.position.saturating_add(position(before));
        }
        let image_of = |results: &[Prediction<S>]| results.first().map(|found| found.image);
        // The last image of the blocks before may go on, even to the end of this one.
        let is_same = starts.is_empty() && image_of(&kept) == image_of(&self.kept);
        let earlier = if kept.is_empty() || is_same {
            self.kept.append(&mut kept);
            Vec::new()
        } else {
            std::mem::replace(&mut self.kept, kept)
        };
        let first = image_of(&earlier);
        let images = starts
            .iter()
            .filter_map(|&start| image_of(&results[start..]));
        let more = images.skip_while(|image| Some(*image) == first);
        for image in first.into_iter().chain(more) {
            let seen = self.seen.get_mut(image as usize)?;
            if std::mem::replace(seen, true) {
                return None;
            }
        }
        // The image that is kept is seen when it is complete.
        if image_of(&self.kept).is_some_and(|image| self.seen[image as usize]) {
            return None;
        }
        Some(Complete {
            before: earlier,
            results,
            starts,
            records: before,
        })
    }
}

struct Worker<'a, S> {
    truth: &'a Truth<S>,
    options: CocoOptions,
    feed: &'a Mutex<Feed<S>>,
}

impl<S: Readable<Model = ()> + Clone> Worker<'_, S> {
    /// Parses and scores blocks until there are no more. `None` if one is refused.
    fn work(&self, gather: &mut Gather<'_, S>) -> Option<()> {
        let mut block = Vec::new();
        loop {
            let job = locked(self.feed).next(&mut block);
            match job {
                Job::End => return Some(()),
                Job::Parse(number, form, memory) => {
                    let parsed = self.parse(&block, form, memory)?;
                    locked(self.feed).parsed.insert(number, parsed);
                }
                Job::Score(complete) => self.score(complete, gather)?,
            }
        }
    }

    fn parse(&self, block: &[u8], form: Form, memory: Vec<Prediction<S>>) -> Option<Parsed<S>> {
        let text = std::str::from_utf8(block).ok()?;
        let mut results = Results::of_memory(memory);
        let take = |kept: &mut Results<S>, position: usize, record: ResultRecord<'_>| {
            kept.take(position, &record, self.truth, &(), form, self.options)
        };
        let records = read_part(text, &mut results, |_, _| None, take).ok()?;
        let mut starts = Vec::new();
        let mut image = None;
        for (start, found) in results.all.iter().enumerate() {
            if image.replace(found.image) != Some(found.image) {
                starts.push(start);
            }
        }
        Some(Parsed {
            results: results.all,
            starts,
            records,
            warnings: results.warnings,
        })
    }

    fn score(&self, complete: Complete<S>, gather: &mut Gather<'_, S>) -> Option<()> {
        let Complete {
            mut before,
            mut results,
            starts,
            records,
        } = complete;
        let records = position(records);
        for found in &mut results {
            found.position = found.position.saturating_add(records);
        }
        let mut gather = |results: &[Prediction<S>]| {
            let index = results.first()?.image;
            let image = self.truth.images.get(index as usize)?;
            gather(index, results, image)
        };
        let ends = starts.iter().skip(1).copied().chain([results.len()]);
        for (&start, end) in starts.iter().zip(ends) {
            let of_image = results.get(start..end)?;
            match before.first() {
                None => gather(of_image)?,
                Some(first) if first.image == of_image.first()?.image => {
                    before.extend_from_slice(of_image);
                    gather(&before)?;
                    before.clear();
                }
                Some(_) => {
                    gather(&before)?;
                    before.clear();
                    gather(of_image)?;
                }
            }
        }
        if !before.is_empty() {
            gather(&before)?;
        }
        results.clear();
        locked(self.feed).spare.push(results);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use metric_record::Stream;
    use proptest::prelude::*;

    use super::*;
    use crate::Shape;
    use crate::read::{ReadError, read_coco_documents, read_coco_mask_documents};

    fn document(text: &str) -> Document {
        Document {
            name: "d.json".to_owned(),
            content: Content::Stream(Stream::new(text.to_owned())),
        }
    }

    const TRUTH: &str = r#"{
        "images": [{"id": 3, "height": 9, "width": 9}, {"id": 1, "height": 9, "width": 9}, {"id": "a"}, {"id": 700}],
        "categories": [{"id": 5, "name": "dog"}, {"id": "x", "name": "cat"}],
        "annotations": [
            {"id": 1, "image_id": 3, "category_id": 5, "bbox": [0, 0, 5, 5], "area": 25, "iscrowd": 0,
                "segmentation": [[0, 0, 5, 0, 5, 5, 0, 5]]},
            {"id": 2, "image_id": 1, "category_id": "x", "bbox": [0, 0, 5, 5], "iscrowd": 0,
                "segmentation": [[0, 0, 5, 0, 5, 5, 0, 5]]}]
    }"#;

    type Images<S> = BTreeMap<String, (Vec<Prediction<S>>, Image<S>, u32)>;

    /// The images with their detections as a stream gives them, in blocks of this size, if it does.
    fn streamed<S: Shape + Clone + Send + Sync>(
        stream: Option<CocoStream<S>>,
        block_bytes: usize,
    ) -> Option<(Images<S>, Warnings)> {
        let stream = stream?.with_block_bytes(block_bytes);
        let fold = stream.fold(|images: &mut Images<S>, position, found, image| {
            let of_image = (found.to_vec(), image.clone(), position);
            let before = images.insert(image.key.to_string(), of_image);
            before.is_none().then_some(())
        })?;
        let mut images = Images::new();
        for part in fold.parts {
            for (key, image) in part {
                assert!(images.insert(key, image).is_none());
            }
        }
        Some((images, fold.warnings))
    }

    /// A stream gives what the whole files give, or nothing. Returns whether it gives something.
    fn check(text: &str, block_bytes: usize, options: CocoOptions) -> bool {
        fn same<S: Shape + Clone + PartialEq + std::fmt::Debug + Send + Sync>(
            streamed: Option<(Images<S>, Warnings)>,
            whole: Result<(crate::Dataset<S>, Warnings), ReadError>,
        ) -> bool {
            let Some((images, warnings)) = streamed else {
                return false;
            };
            let (dataset, expected) = whole.expect("what can be streamed can be read");
            assert_eq!(warnings, expected);
            let examples = dataset.examples(0..dataset.images().len());
            let examples = (0..).zip(examples).map(|(position, (found, image))| {
                (
                    image.key.to_string(),
                    (found.to_vec(), image.clone(), position),
                )
            });
            assert_eq!(images, examples.collect());
            true
        }
        let (truth, found) = (document(TRUTH), document(text));
        let boxes = streamed(CocoStream::open(&truth, &found, options), block_bytes);
        let masks = streamed(CocoStream::open_masks(&truth, &found, options), block_bytes);
        let is_read = same(boxes, read_coco_documents(&truth, &found, options));
        same(masks, read_coco_mask_documents(&truth, &found, options));
        is_read
    }

    fn record(image: &str, class: &str, score: f64) -> String {
        format!(
            r#"{{"image_id": {image}, "category_id": {class}, "bbox": [1, 2, 3, 4.5], "score": {score}}}"#
        )
    }

    #[test]
    fn results_by_image_are_streamed() {
        let records: Vec<String> = (0..50)
            .map(|position| record(["3", "1", "700"][position / 20], "5", position as f64))
            .collect();
        let text = format!("[{}]", records.join(", "));
        for size in [1, 50, 200, 1000, 10_000] {
            assert!(check(&text, size, CocoOptions::default()), "{size}");
        }
        assert!(check("[]", 100, CocoOptions::default()));
        // An image comes again.
        let again = format!("[{}, {}]", records.join(", "), record("3", "5", 0.5));
        for size in [1, 200, 10_000] {
            assert!(!check(&again, size, CocoOptions::default()), "{size}");
        }
    }

    /// A streamed ground truth is the whole one, or nothing. Returns whether it is something.
    fn check_truth(text: &str, block_bytes: usize, options: CocoOptions) -> bool {
        let source = Stream::new(text.to_owned());
        let streamed = stream_truth::<BBox>("d.json", &source, block_bytes, options);
        let Some((streamed, warnings)) = streamed else {
            return false;
        };
        let whole = truth_of::<BBox>("d.json", text, options);
        let (whole, expected) = whole.expect("what can be streamed can be read");
        assert_eq!(warnings, expected);
        assert_eq!(streamed.classes, whole.classes);
        assert_eq!(streamed.images, whole.images);
        true
    }

    #[test]
    fn a_ground_truth_is_streamed_with_its_classes_first_or_last() {
        let annotation = |id: usize, class: &str| {
            format!(
                r#"{{"id": {id}, "image_id": 3, "category_id": {class}, "bbox": [0, {id}, 5, 5]}}"#
            )
        };
        let classes = ["5", "\"x\"", "77", "6"];
        let annotations: Vec<String> = (0..40).map(|id| annotation(id, classes[id % 4])).collect();
        let annotations = format!(r#""annotations": [{}]"#, annotations.join(", "));
        let images = r#""images": [{"id": 3}, {"id": 1, "x": {"annotations": [1]}}]"#;
        // As in the files of COCO, classes start with another key than annotations.
        let categories = r#""categories": [{"name": "dog", "id": 5}, {"name": "", "id": "x"}, {"name": "", "id": 6}]"#;
        let is_streamed = |parts: &[&str], block_bytes| {
            let text = format!("\n{{{}}} ", parts.join(" , "));
            check_truth(&text, block_bytes, CocoOptions::default())
        };
        for size in [1, 60, 200, 500, 2000, 100_000] {
            assert!(
                is_streamed(&[images, categories, &annotations], size),
                "{size}"
            );
            assert!(
                is_streamed(&[images, &annotations, categories], size),
                "{size}"
            );
            // Where images come last, the end of the file must be small.
            is_streamed(&[&annotations, images, categories], size);
            // A list that comes again stands for the first one.
            for again in [images, r#""annotations": []"#] {
                let lists = [images, categories, &annotations, again];
                assert!(!is_streamed(&lists, size), "{size}");
            }
            let more = r#""annotations": [{"id": 1}]"#;
            assert!(!is_streamed(&[images, categories, more], size), "{size}");
        }
        assert!(is_streamed(
            &[images, categories, r#""annotations": [ ]"#],
            100
        ));
        for text in [
            "[]",
            "{}",
            "\u{feff}{}",
            r#"{"images": [], "categories": [], "annotations": ["#,
        ] {
            assert!(!check_truth(text, 100, CocoOptions::default()), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_not_streamed() {
        for text in [
            "{}",
            "[1]",
            "[{}]",
            r#"[{"image_id": 9, "category_id": 5, "bbox": [1, 2, 3, 4], "score": 1}]"#,
            r#"[{"image_id": 3, "category_id": 5, "bbox": [1, 2, 3], "score": 1}]"#,
            r#"[{"image_id": 3, "category_id": 5, "bbox": [1, 2, 3, 4], "score": 1},]"#,
            r#"[{"image_id": 3, "category_id": 5, "bbox": [1, 2, 3, 4], "score": 1}"#,
            "\u{feff}[]",
        ] {
            assert!(!check(text, 100, CocoOptions::default()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_streamed_ground_truth_is_the_whole_one(
            order in Just(["images", "categories", "annotations", "info"]).prop_shuffle(),
            fields in proptest::collection::vec((
                prop_oneof![9 => Just("3"), 4 => Just("1"), 2 => Just("\"a\""), 1 => Just("8")],
                prop_oneof![9 => Just("5"), 3 => Just("\"x\""), 1 => Just("9")],
                prop_oneof![
                    9 => Just(r#""bbox": [0, 0, 5, 5.5], "area": 3, "iscrowd": 0"#),
                    3 => Just(r#""bbox": [0, 0, 5, -5]"#),
                    3 => Just(r#""bbox": [1, 1, 1, 1], "segmentation": [{"id": 3}, {"id": 4}]"#),
                    1 => Just(r#""bbox": [1, 1, 1]"#), 1 => Just(r#""bbox": [1, 1, 1, 1],"#),
                ],
            ), 0..12),
            rises in any::<bool>(),
            separator in prop_oneof![9 => Just(","), 3 => Just(" ,\n"), 1 => Just("")],
            block_bytes in 1..600_usize,
            quirks in any::<bool>(),
        ) {
            let records = fields.iter().enumerate().map(|(index, (image, class, rest))| {
                let id = if rises { index } else { index % 3 };
                format!(r#"{{"id": {id}, "image_id": {image}, "category_id": {class}, {rest}}}"#)
            });
            let records: Vec<String> = records.collect();
            let lists = order.map(|list| match list {
                "images" => r#""images": [{"id": 3}, {"id": 1}, {"id": "a"}, {"id": 3}]"#.to_owned(),
                "categories" => r#""categories": [{"id": 5}, {"id": "x", "name": "cat"}]"#.to_owned(),
                "annotations" => format!(r#""annotations": [{}]"#, records.join(separator)),
                _ => r#""info": {"annotations": [{"id": 1}]}"#.to_owned(),
            });
            let options = CocoOptions { quirks, ..CocoOptions::default() };
            check_truth(&format!("{{{}}}", lists.join(", ")), block_bytes, options);
        }

        #[test]
        fn a_stream_gives_what_the_files_give(
            runs in proptest::collection::vec((
                prop_oneof![4 => Just("3"), 4 => Just("1"), 4 => Just("\"a\""), 2 => Just("700"), 1 => Just("8")],
                1..5_usize,
            ), 0..5),
            classes in proptest::collection::vec(
                prop_oneof![6 => Just("5"), 3 => Just("\"x\""), 1 => Just("\"5\""), 1 => Just("77"), 1 => Just("[]")], 20,
            ),
            separator in prop_oneof![6 => Just(","), 3 => Just(", "), 2 => Just(" ,\n"), 1 => Just(",,")],
            form in prop_oneof![
                6 => Just(r#""bbox": [1, 2, 3, 4.5]"#), 1 => Just(r#""bbox": [1, 2, -3, 4.5]"#),
                2 => Just(r#""segmentation": [[0, 0, 5, 0, 5, 4, 0, 4]]"#), 1 => Just(r#""more": [{}, {}]"#),
            ],
            block_bytes in 1..400_usize,
            ignore_unknown_images in any::<bool>(),
        ) {
            let images = runs.iter().flat_map(|(image, count)| std::iter::repeat_n(image, *count));
            let records = images.zip(&classes).enumerate().map(|(position, (image, class))| {
                record(image, class, position as f64).replace(r#""bbox": [1, 2, 3, 4.5]"#, form)
            });
            let records: Vec<String> = records.collect();
            let text = format!("[{}]", records.join(separator));
            let options = CocoOptions { ignore_unknown_images, ..CocoOptions::default() };
            check(&text, block_bytes, options);
        }
    }
}
