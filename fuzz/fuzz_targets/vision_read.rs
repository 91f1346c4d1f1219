//! Reading of data sets from arbitrary texts, and the metrics of what could be read.
//!
//! An input is two bytes, each counted starting at `a`, and files. The bytes choose the form
//! (COCO's boxes, COCO's masks, YOLO, Pascal VOC) and the options. A line `@<name` begins a file of
//! truths, a line `@>name` one of predictions.

#![no_main]

use std::fmt::Debug;
use std::num::NonZeroU32;

use libfuzzer_sys::fuzz_target;
use metric_core::Metric;
use metric_suite_fuzz::{fraction, pooled};
use metric_vision::read::{
    CocoOptions, ExtraImages, File, ImageSizes, ReadError, VocFiles, VocOptions, Warnings,
    YoloOptions, parse_coco, parse_coco_masks, parse_voc, parse_yolo,
};
use metric_vision::{
    CocoAp, CocoParams, Confusion, Dataset, Interpolation, Matching, PrecisionRecall, Shape, Tide,
    VocAp,
};

fuzz_target!(|data: &[u8]| {
    let [form, options, text @ ..] = data else {
        return;
    };
    let options = usize::from(options.wrapping_sub(b'a'));
    let text = String::from_utf8_lossy(text);
    let (truths, predictions) = (files(&text, "@<"), files(&text, "@>"));
    match form.wrapping_sub(b'a') % 4 {
        0 | 1 => {
            let [Some(&truth), Some(&prediction)] = [truths.first(), predictions.first()] else {
                return;
            };
            let options = CocoOptions::default()
                .with_ignore_unknown_images(options % 2 == 1)
                .with_quirks(options / 2 % 2 == 1)
                .with_shard(None);
            match form.wrapping_sub(b'a') % 2 {
                0 => evaluate(parse_coco(truth, prediction, options)),
                _ => evaluate(parse_coco_masks(truth, prediction, options)),
            }
        }
        2 => {
            let size = [3, 1000].map(|pixels| NonZeroU32::new(pixels).unwrap());
            let named = [truths.as_slice(), &predictions].concat();
            let sizes = named.iter().find(|file| file.name == "sizes");
            let options = YoloOptions::default()
                .with_extra(choose(ExtraImages::ALL, options))
                .with_sizes(match (options / 3 % 3, sizes) {
                    (0, _) => ImageSizes::Unknown,
                    (2, Some(&sizes)) => match ImageSizes::parse(sizes) {
                        Ok(sizes) => sizes,
                        Err(error) => return told(&error),
                    },
                    _ => ImageSizes::All(size),
                })
                .with_columns(None)
                .with_max_bytes(None)
                .with_shard(None);
            in_any_order(truths, predictions, |truths, predictions| {
                parse_yolo(truths, predictions, &options)
            });
        }
        _ => {
            let options = VocOptions::default()
                .with_extra(choose(ExtraImages::ALL, options))
                .with_files(VocFiles::ALL.get(options / 3 % 3).copied())
                .with_columns(None)
                .with_max_bytes(None)
                .with_shard(None);
            in_any_order(truths, predictions, |truths, predictions| {
                parse_voc(truths, predictions, &options)
            });
        }
    }
});

fn choose<T: Copy>(all: &[T], index: usize) -> T {
    all[index % all.len()]
}

/// The files that begin with lines of this sign.
fn files<'a>(text: &'a str, sign: &str) -> Vec<File<'a>> {
    let parts = text
        .split("\n@")
        .map(|part| part.strip_prefix('@').unwrap_or(part));
    let parts = parts.filter_map(|part| part.strip_prefix(&sign[1..]));
    let parts = parts.map(|part| part.split_once('\n').unwrap_or((part, "")));
    parts.map(|(name, text)| File { name, text }).collect()
}

/// An error says what is wrong.
fn told(error: &ReadError) {
    assert!(!error.problem.is_empty());
}

type Read<S> = Result<(Dataset<S>, Warnings), ReadError>;

/// The result of reading does not depend on the order of the files.
fn in_any_order<S: Shape + Sync + PartialEq + Debug + 'static>(
    mut truths: Vec<File<'_>>,
    mut predictions: Vec<File<'_>>,
    read: impl Fn(&[File<'_>], &[File<'_>]) -> Read<S>,
) {
    let one = read(&truths, &predictions);
    truths.reverse();
    predictions.reverse();
    let other = read(&truths, &predictions);
    // If there are several errors, another may come first.
    assert_eq!(one.as_ref().ok(), other.as_ref().ok());
    evaluate(one);
}

/// Scores are fractions, whatever was read, and pool in any order.
fn evaluate<S: Shape + Sync + 'static>(read: Read<S>) {
    let dataset = match read {
        Ok((dataset, _)) => dataset,
        Err(error) => return told(&error),
    };
    let examples: Vec<_> = dataset.examples(0..dataset.images().len()).collect();

    let quirks = CocoParams::default().with_quirks(true);
    let classless = CocoParams::default().with_by_class(false);
    for params in [CocoParams::default(), quirks, classless] {
        let metric = CocoAp::new(params).unwrap();
        let state = pooled(&metric, &examples);
        assert_eq!(state, dataset.measure(&metric));
        let curves = metric.compute(&state);
        let classes: Vec<u32> = curves.classes().collect();
        for class in [None].into_iter().chain(classes.into_iter().map(Some)) {
            for (_, score) in curves.summary(class) {
                fraction(score);
            }
        }
    }

    for &interpolation in Interpolation::ALL {
        let voc = VocAp::new(0.5).unwrap().with_interpolation(interpolation);
        let score = voc.compute(&pooled(&voc, &examples));
        fraction(score.mean);
        for class in score.classes.values() {
            fraction(class.average_precision);
        }
    }

    let curves = PrecisionRecall::new(Matching::Greedy, vec![0.5, 1.0]).unwrap();
    for curves in curves.compute(&pooled(&curves, &examples)).curves {
        let micro = curves.micro();
        let points = micro.points().map(|point| (point.score, point.counts));
        for (score, counts) in points.chain([(0.5, micro.at(0.5))]) {
            assert_eq!(counts, micro.at(score));
            let average = curves.macro_at(score);
            for score in [counts.precision(), counts.recall(), counts.f1()] {
                fraction(score);
            }
            for score in [average.precision, average.recall, average.f1] {
                fraction(score);
            }
        }
    }

    let confusion = Confusion::new(dataset.classes().len(), 0.5).unwrap();
    let state = pooled(&confusion, &examples);
    let matrix = confusion.compute(&state);
    let counted: u64 = matrix.cells().iter().map(|cell| cell.count).sum();
    let detected: usize = examples.iter().map(|(found, _)| found.len()).sum();
    let annotated = dataset.images().iter().map(|image| image.annotations.len());
    assert!(counted <= detected as u64 + annotated.sum::<usize>() as u64);

    let tide = Tide::new(0.5, 0.1).unwrap();
    let score = tide.compute(&pooled(&tide, &examples));
    fraction(score.average_precision);
    for error in score.errors {
        fraction(error.delta_ap);
    }
    for change in [score.false_positives, score.false_negatives]
        .into_iter()
        .flatten()
    {
        assert!((-1.0..=1.0).contains(&change), "{change}");
    }
}
