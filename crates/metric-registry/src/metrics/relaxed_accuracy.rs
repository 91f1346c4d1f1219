//! ChartQA's relaxed accuracy.

use metric_core::Accuracy;
use metric_record::{FieldError, Record};
use metric_text::RelaxedAccuracy;
use metric_text::read::{UNANSWERED, relaxed_answers, text_or_number};

use crate::prepare::{EXTRACT, NORMALIZE};
use crate::shapes::texts::{OfTexts, similarity};
use crate::{
    ComparedTexts, Demo, Entry, Named, OptionError, OptionSpec, ScoreSpec, Shape, TextExample,
    TextMetric,
};

pub(crate) const RELAXED_ACCURACY: Entry = Entry {
    name: "relaxed-accuracy",
    question: "Is a number read from a chart correct within 5%?",
    programs: "ChartQA",
    shapes: &[Shape::Numbers.as_is()],
    tried: &[&[("tolerance", "0.5")]],
    help: "Share of answers within 5% of the reference number, or equal to the reference text (ChartQA's relaxed accuracy)",
    values: (
        "an answer or a list of answers, each a string or a number",
        "a string or a number",
    ),
    known_as: &[(&["chartqa"], "")],
    demos: &[Demo::new(
        "charts",
        ["charts.jsonl", "read-charts.jsonl"],
        &["relaxed_accuracy"],
    )],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::number(
            "tolerance",
            "T",
            0.0..=f64::MAX,
            "Relative tolerance of numbers",
        )
        .or("0.05"),
    ],
    scores: &[ScoreSpec::higher("relaxed_accuracy").proportion("correct", "total")],
    build: &|options| {
        let tolerance = options.number("tolerance")?;
        if !tolerance.is_finite() || tolerance < 0.0 {
            let (given, reason) = (
                options.given("tolerance"),
                "expected a number of at least 0",
            );
            return Err(OptionError::new("tolerance", &given, reason));
        }
        let reading = OfTexts {
            is_correct: |state: &Accuracy| state.correct > 0,
            compared,
            closeness: |_, _, pair| pair.and_then(|(text, answers)| closeness(text, answers)),
            ..OfTexts::new("relaxed-accuracy", RelaxedAccuracy { tolerance })
        };
        reading.scorer(options)
    },
    ..Entry::BASE
};

/// By the relative difference of numbers, or by the similarity of texts.
fn closeness(prediction: &str, answers: &[String]) -> Option<f64> {
    let number = |text: &str| text.trim().trim_end_matches('%').parse::<f64>().ok();
    let relative = |reference: &String| {
        let (found, expected) = number(prediction).zip(number(reference))?;
        let difference = (found - expected).abs() / expected.abs();
        difference.is_finite().then(|| (1.0 - difference).max(0.0))
    };
    let by_number = answers.iter().filter_map(relative).reduce(f64::max);
    by_number.or_else(|| similarity(prediction, answers))
}

fn compared(metric: &RelaxedAccuracy, prediction: &str, answers: &[String]) -> ComparedTexts {
    let pairs = answers.iter();
    let pairs: Vec<[String; 2]> = pairs
        .map(|answer| metric.as_compared(prediction, answer))
        .collect();
    // With one answer as a number, with another one as a text.
    let mut compared: Vec<&str> = pairs.iter().map(|[prediction, _]| &**prediction).collect();
    compared.dedup();
    ComparedTexts {
        prediction: [prediction.to_owned(), compared.join(" or ")],
        references: answers
            .iter()
            .zip(pairs)
            .map(|(answer, [_, compared])| [answer.clone(), compared])
            .collect(),
    }
}

impl TextMetric for RelaxedAccuracy {
    fn definition(&self) -> Named<String> {
        vec![("tolerance".to_owned(), self.tolerance.to_string())]
    }

    fn read<'a>(&self, record: &mut Record<'a>) -> Result<TextExample<'a, Self>, FieldError> {
        let prediction = text_or_number(&mut record.prediction).map_err(FieldError::prediction)?;
        let answers = relaxed_answers(&mut record.reference).map_err(FieldError::reference)?;
        if answers.is_empty() {
            return Err(FieldError::reference(UNANSWERED));
        }
        Ok(TextExample::new(prediction, answers.into()))
    }
}
