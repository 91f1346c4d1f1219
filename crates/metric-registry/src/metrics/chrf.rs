//! chrF and chrF++.

use metric_core::{Metric, NamedScores};
use metric_record::{FieldError, Message, Record};
use metric_text::Chrf;
use metric_text::chrf::ChrfState;
use serde_json::json;

use crate::numbers::named;
use crate::options::finite;
use crate::prepare::{EXTRACT, NORMALIZE};
use crate::shapes::generated::{MOST_ORDERS, known, read, signature, yes_or_no};
use crate::shapes::texts::OfTexts;
use crate::{
    Asked, Demo, Entry, ExampleView, Named, Numbers, OptionError, OptionSpec, Options, ScoreSpec,
    Scorer, Shape, TextExample, TextMetric,
};

pub(crate) const CHRF: Entry = Entry {
    name: "chrf",
    class: "CHRF",
    question: "How many n-grams of characters does a translation share with its reference?",
    programs: "sacreBLEU",
    shapes: &[Shape::Answers.as_is()],
    tried: &[
        &[("word-order", "2"), ("lowercase", ""), ("whitespace", "")],
        &[("char-order", "3"), ("beta", "0.5"), ("eps-smoothing", "")],
    ],
    help: "chrF and chrF++: n-grams of characters and words that texts share",
    values: ("a text or a list of texts", "a text"),
    known_as: &[(&["chrf++", "chrfpp"], "chrf --word-order 2 is chrF++")],
    demos: &[Demo::new(
        "translations",
        ["translations.txt", "translated.txt"],
        &[],
    )],
    options: &[
        EXTRACT,
        NORMALIZE,
        OptionSpec::one_of(
            "profile",
            "PROFILE",
            || vec!["sacrebleu"],
            "Program to follow",
        )
        .or("sacrebleu"),
        OptionSpec::integer(
            "char-order",
            "N",
            0..=MOST_ORDERS as i64,
            "Greatest length of n-grams of characters",
        )
        .or("6"),
        OptionSpec::integer(
            "word-order",
            "N",
            0..=MOST_ORDERS as i64,
            "Greatest length of n-grams of words; 2 is chrF++",
        )
        .or("0"),
        OptionSpec::number(
            "beta",
            "B",
            0.0..=f64::MAX,
            "How many times as important as precision recall is",
        )
        .or("2"),
        OptionSpec::flag("lowercase", "Compare texts in lowercase"),
        OptionSpec::flag("whitespace", "Count white space as characters"),
        OptionSpec::flag(
            "eps-smoothing",
            "Take the mean of F over all orders, as the program chrF++.py does",
        ),
    ],
    scores: &[ScoreSpec::higher("chrf")],
    example: Some(ExampleView::Characters),
    build: &build,
    ..Entry::BASE
};

fn build(options: &Options) -> Result<Scorer, OptionError> {
    let order = |name: &str| {
        let order: usize = options.integer(name)?;
        if order > MOST_ORDERS {
            let reason = format!("expected a whole number from 0 to {MOST_ORDERS}");
            return Err(OptionError::new(name, &options.given(name), reason));
        }
        Ok(order)
    };
    let (characters, words) = (order("char-order")?, order("word-order")?);
    if characters + words == 0 {
        let reason = Message::from("expected more than 0, or with ").option("word-order", "1");
        return Err(OptionError::new("char-order", "0", reason));
    }
    let given = options.given("beta");
    let beta = finite(&given).filter(|beta| *beta >= 0.0);
    let refused = || OptionError::new("beta", &given, "expected a number of at least 0");
    let metric = Chrf::default()
        .with_char_order(characters)
        .with_word_order(words)
        .with_beta(beta.ok_or_else(refused)?)
        .with_lowercase(options.has("lowercase"))
        .with_whitespace(options.has("whitespace"))
        .with_eps_smoothing(options.has("eps-smoothing"));
    OfTexts::new("chrf", metric).scorer(options)
}

impl TextMetric for Chrf {
    fn definition(&self) -> Named<String> {
        let case = if self.lowercase { "lc" } else { "mixed" };
        signature(
            "sacrebleu",
            [
                ("case", case.to_owned()),
                ("eff", yes_or_no(!self.eps_smoothing)),
                ("nc", self.char_order.to_string()),
                ("nw", self.word_order.to_string()),
                ("space", yes_or_no(self.whitespace)),
                ("beta", self.beta.to_string()),
            ],
        )
    }

    fn read<'a>(&self, record: &mut Record<'a>) -> Result<TextExample<'a, Self>, FieldError> {
        read(record)
    }

    fn numbers(&self, state: &ChrfState, asked: Asked<'_>) -> Numbers {
        Numbers {
            scores: self.compute(state).named_scores(),
            counts: named([("statistics", json!(state.statistics.concat()))]),
            signature: known(asked, state.references),
            ..Numbers::default()
        }
    }
}
