//! Mean IoU of the label maps of two folders.
//!
//! `cargo run -p metric-segmentation --features read --example folders -- labels predictions 19`

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::path::PathBuf;

use metric_segmentation::read::{
    FolderError, FolderOptions, LabelRows, MapOptions, count_image, join_folders,
};
use metric_segmentation::{Merge, Metric, NamedScores, PixelConfusions, Segmentation};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [references, predictions, classes] = arguments.as_slice() else {
        println!(
            "expected a folder of references, a folder of predictions, and the number of classes"
        );
        return Ok(());
    };
    let metric = Segmentation::new(classes.parse()?)?.with_ignored([255]);
    let folders = [references, predictions].map(PathBuf::from);
    let joined = join_folders(&folders[0], &folders[1], &FolderOptions::default());
    let joined = joined.map_err(|error| match error {
        FolderError::Read(error) => error.to_string(),
        FolderError::Join(error) => error.to_string(),
    })?;
    let mut state = PixelConfusions::default();
    for image in joined.images {
        let mut reference = LabelRows::open(&image.reference, MapOptions::default())?;
        let prediction = image.prediction.as_deref();
        let prediction = prediction.map(|path| LabelRows::open(path, MapOptions::default()));
        let mut counter = metric.counter();
        count_image(
            &mut counter,
            &mut reference,
            prediction.transpose()?.as_mut(),
        )?;
        state.merge(counter.finish());
    }
    for (name, score) in metric.compute(&state).named_scores() {
        let score = score.map_or("undefined".to_owned(), |score| format!("{score:.4}"));
        println!("{name}: {score}");
    }
    Ok(())
}
