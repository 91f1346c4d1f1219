//! Errors of predicted numbers, R² and Pearson's correlation.

use metric_core::Metric;
use metric_number::{
    NamedScores, NumbersError, Regression, RegressionProfile, RegressionState, VERSION,
};
use metric_record::Message;

use crate::numbers::named;
use crate::shapes::number_pairs::{OfNumberPairs, PairMetric, WEIGHT};
use crate::{
    Counted, Demo, Entry, Named, Numbers, OptionSpec, Remarks, Scope, ScoreSpec, Shape, Weigher,
    scorer,
};

pub(crate) const REGRESSION: Entry = Entry {
    name: "regression",
    question: "How far are predicted numbers from the references?",
    programs: "scikit-learn, SciPy",
    shapes: &[Shape::NumberPairs.as_is()],
    tried: &[&[("weight-field", "weight")], &[("profile", "sklearn")]],
    help: "Errors of predicted numbers (MAE, MSE, RMSE, MAPE, the greatest error), R² and Pearson's correlation",
    values: ("a number", "a number"),
    known_as: &[(
        &[
            "mae",
            "mse",
            "rmse",
            "mape",
            "r2",
            "r-squared",
            "pearson",
            "pearsonr",
            "max-error",
            "mean-absolute-error",
            "mean-squared-error",
        ],
        "",
    )],
    demos: &[Demo::new(
        "ratings",
        ["ratings.csv", "predicted-ratings.csv"],
        &["mae", "rmse", "r2", "pearson"],
    )],
    options: &[
        OptionSpec::choice::<RegressionProfile>(
            "profile",
            "PROFILE",
            "R² of constant references: undefined (textbook), or 1 or 0 (sklearn)",
        )
        .or(RegressionProfile::Textbook.name()),
        WEIGHT,
    ],
    scores: &[
        ScoreSpec::lower("mae"),
        ScoreSpec::lower("mse"),
        ScoreSpec::lower("rmse"),
        ScoreSpec::lower("mape"),
        ScoreSpec::lower("max_error"),
        ScoreSpec::higher("r2"),
        ScoreSpec::higher("pearson"),
    ],
    build: &|options| {
        let metric = Regression::default().with_profile(options.require("profile")?);
        Ok(scorer(
            "regression",
            VERSION,
            OfNumberPairs::new(metric, options)?,
        ))
    },
    ..Entry::BASE
};

impl PairMetric for Regression {
    type State = RegressionState;

    fn definition(&self) -> Named<String> {
        named([("profile", self.profile.name())])
    }

    fn add(&self, state: &mut RegressionState, [prediction, reference]: [f64; 2]) {
        state.add(prediction, reference);
    }

    fn add_weighted(
        &self,
        state: &mut RegressionState,
        [prediction, reference]: [f64; 2],
        weight: f64,
    ) -> Result<(), NumbersError> {
        state.add_weighted(prediction, reference, weight)
    }

    fn numbers(&self, state: &RegressionState, _: Scope<'_>) -> Numbers {
        let total = if state.is_weighted() {
            state.total().into()
        } else {
            state.rows().into()
        };
        Numbers {
            scores: self.compute(state).named_scores(),
            counts: vec![("total".to_owned(), total)],
            ..Numbers::default()
        }
    }

    fn warnings(&self, state: &RegressionState, _: Remarks<'_>) -> Vec<Message> {
        let zeros = Counted::new(
            "reference is 0: mape divides its error by 2^-52, and is very large unless the error is 0",
            "references are 0: mape divides their errors by 2^-52, and is very large unless the errors are 0",
        );
        let mut warnings: Vec<Message> =
            Counted::warnings([(state.zero_references(), zeros)]).collect();
        warnings.extend(constant(
            state.rows(),
            state.is_constant(),
            ["pearson", "r2 and pearson"],
        ));
        if self.is_weightless(state) {
            warnings.push("all weights are 0, so that no score is defined".into());
        }
        warnings
    }

    fn is_weightless(&self, state: &RegressionState) -> bool {
        state.rows() > 0 && state.total() == 0.0
    }

    fn weigher<'s>(&'s self, states: &[&'s RegressionState]) -> Weigher<'s> {
        let merge = RegressionState::weighted(states);
        Box::new(move |weights, scope| self.numbers(&merge(weights), scope))
    }
}

/// The warning about predictions or references that are all the same number, with the scores that are then undefined.
pub(crate) fn constant(rows: u64, is_constant: [bool; 2], undefined: [&str; 2]) -> Option<Message> {
    let [predictions, references] = is_constant;
    let (sides, undefined) = match (predictions, references) {
        _ if rows < 2 => return None,
        (false, false) => return None,
        (true, false) => ("predictions are", undefined[0]),
        (false, true) => ("references are", undefined[1]),
        (true, true) => (
            "predictions are equal, and all references are",
            undefined[1],
        ),
    };
    let is = if undefined.contains(" and ") {
        "are"
    } else {
        "is"
    };
    Some(format!("all {rows} {sides} equal: {undefined} {is} undefined").into())
}
