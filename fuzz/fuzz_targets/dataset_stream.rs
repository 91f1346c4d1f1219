//! Dataset files that are read in blocks, compared with the same files read as a whole.
//!
//! An input is a byte for the size of the blocks, one for the options, and the text of COCO's results.

#![no_main]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use metric_record::{Content, Document, ReadError, Reopen, Stream};
use metric_vision::read::{
    CocoOptions, CocoStream, Warnings, read_coco_documents, read_coco_mask_documents,
};
use metric_vision::{Dataset, Image, Prediction, Shape};

const TRUTH: &str = r#"{
    "images": [{"id": 3, "height": 9, "width": 9}, {"id": 1, "height": 9, "width": 9}, {"id": "a"}],
    "categories": [{"id": 5, "name": "dog"}, {"id": "x", "name": "cat"}],
    "annotations": [
        {"id": 1, "image_id": 3, "category_id": 5, "bbox": [0, 0, 5, 5], "area": 25, "iscrowd": 0,
            "segmentation": [[0, 0, 5, 0, 5, 5, 0, 5]]},
        {"id": 2, "image_id": 1, "category_id": "x", "bbox": [0, 0, 5, 5], "iscrowd": 0,
            "segmentation": [[0, 0, 5, 0, 5, 5, 0, 5]]}]
}"#;

fuzz_target!(|data: &[u8]| {
    let [size, options, text @ ..] = data else {
        return;
    };
    let block_bytes = 1 + 4 * usize::from(*size);
    let options = CocoOptions::default()
        .with_ignore_unknown_images(options % 2 == 1)
        .with_quirks(options / 2 % 2 == 1)
        .with_shard(None);
    let text = String::from_utf8_lossy(text).into_owned();
    let (truth, found) = (Document::text("r.json", TRUTH), document(text));
    let boxes = CocoStream::open(&truth, &found, options);
    check(boxes, block_bytes, || {
        read_coco_documents(&truth, &found, options)
    });
    let masks = CocoStream::open_masks(&truth, &found, options);
    check(masks, block_bytes, || {
        read_coco_mask_documents(&truth, &found, options)
    });
});

struct Text(String);

impl Reopen for Text {
    fn open(&self) -> Option<Box<dyn Read + Send>> {
        Some(Box::new(Cursor::new(self.0.clone())))
    }

    fn text(&self) -> Result<String, ReadError> {
        Ok(self.0.clone())
    }
}

fn document(text: String) -> Document {
    Document {
        name: "p.json".to_owned(),
        content: Content::Stream(Stream::new(Text(text))),
    }
}

type Images<S> = BTreeMap<String, (Vec<Prediction<S>>, Image<S>)>;

/// A stream gives the same as reading the whole files.
fn check<S: Shape + Clone + PartialEq + Debug + Send + Sync>(
    stream: Option<CocoStream<S>>,
    block_bytes: usize,
    read: impl Fn() -> Result<(Dataset<S>, Warnings), ReadError>,
) {
    let stream = stream.expect("the ground truth can be read");
    let fold =
        stream
            .with_block_bytes(block_bytes)
            .fold(|images: &mut Images<S>, _, found, image| {
                let before = images.insert(image.key.to_string(), (found.to_vec(), image.clone()));
                before.is_none().then_some(())
            });
    let Some(fold) = fold else {
        return;
    };
    let (dataset, warnings) = read().expect("what can be streamed can be read");
    assert_eq!(fold.warnings, warnings);
    let images: Images<S> = fold.parts.into_iter().flatten().collect();
    let examples = dataset.examples(0..dataset.images().len());
    let examples =
        examples.map(|(found, image)| (image.key.to_string(), (found.to_vec(), image.clone())));
    assert!(images.into_iter().eq(examples.collect::<Images<S>>()));
}
