//! Word error rate of a transcript, with the words that are wrong.
//!
//! `cargo run -p metric-text --example transcripts`

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use metric_text::edit::{Alignment, EditProfile};
use metric_text::{EditRate, Metric, NamedScores, Unit};

fn main() -> Result<(), metric_text::normalize::InvalidStep> {
    let (prediction, reference) = ("the black cat sat", "The cat sat, there.");
    let metric = EditRate::default().with_normalizer("casefold,punctuation".parse()?);
    for (name, value) in metric.score_all([(prediction, reference)]).named_scores() {
        println!("{name}: {value:?}");
    }

    let normalized = [prediction, reference].map(|text| metric.normalizer.apply(text));
    let [prediction, reference] = normalized
        .each_ref()
        .map(|text| Unit::Word.split(text, EditProfile::Jiwer));
    for chunk in &Alignment::new(&reference, &prediction).chunks {
        println!(
            "{:?}: {:?} -> {:?}",
            chunk.edit,
            &reference[chunk.reference.clone()],
            &prediction[chunk.prediction.clone()]
        );
    }
    Ok(())
}
