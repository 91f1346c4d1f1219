//! Ranks among arbitrary scores, ranked labels and confusion matrices, against plain counts.
//!
//! An input is two bytes, each counted starting at `a`, and [numbers](metric_suite_fuzz::Numbers).
//! The first byte chooses scores or labels, the second the tie-breaking rule or the average.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_class::{
    AccuracyAtK, Average, Classification, ConfusionMatrix, Target, Ties, TopK, ZeroDivision,
    accuracy_at_k, binary_top_k_accuracy, tied_rank, top_k_accuracy,
};
use metric_core::Metric;
use metric_suite_fuzz::{Numbers, choose, fraction, pooled};
use ndarray::{Array1, Array2};

fuzz_target!(|data: &[u8]| {
    let [kind, choice, bytes @ ..] = data else {
        return;
    };
    let numbers = Numbers(bytes);
    match kind.wrapping_sub(b'a') % 3 {
        0 => scores(numbers, choose(Ties::ALL, *choice)),
        1 => ranked(numbers),
        _ => classes(numbers, *choice),
    }
});

fn scores(mut numbers: Numbers<'_>, ties: Ties) {
    let (columns, k) = (1 + numbers.below(6), 1 + numbers.below(8));
    let (mut rows, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(label) = numbers.next()
        && labels.len() < 12
    {
        // The cast keeps to the range of i64.
        labels.push(label as i64);
        weights.push(numbers.next().unwrap_or(1.0));
        rows.extend((0..columns).map(|_| numbers.next().unwrap_or(0.0)));
    }
    let table = Array2::from_shape_vec((labels.len(), columns), rows.clone()).unwrap();
    let metric = TopK::new(vec![k, k + 1]).unwrap().with_ties(ties);
    let mut ranks = Vec::new();
    for (row, &label) in rows.chunks(columns).zip(&labels) {
        let rank = tied_rank(row, label);
        let in_range = usize::try_from(label).is_ok_and(|label| label < columns);
        let expected = in_range && row.iter().all(|score| score.is_finite());
        assert_eq!(rank.is_ok(), expected, "{row:?} {label}");
        let infinite = metric.clone().with_infinite_scores().rank(row, label);
        let number = row.iter().all(|score| !score.is_nan());
        assert_eq!(infinite.is_ok(), in_range && number, "{row:?} {label}");
        let Ok(rank) = infinite else { continue };
        let index = usize::try_from(label).unwrap();
        let count = |of: &dyn Fn(usize, f64) -> bool| {
            let row = row.iter().enumerate();
            row.filter(|(at, score)| of(*at, **score)).count()
        };
        assert_eq!(rank.above, count(&|_, score| score > row[index]));
        assert_eq!(
            rank.tied_before,
            count(&|at, score| at < index && score == row[index])
        );
        assert_eq!(
            rank.tied_after,
            count(&|at, score| at > index && score == row[index])
        );
        let spans = Ties::ALL.iter().map(|rule| rule.span(rank));
        let (best, worst) = (Ties::Optimistic.span(rank), Ties::Pessimistic.span(rank));
        for span in spans {
            assert!(best.first <= span.first && span.last <= worst.last);
            assert!(span.last < columns);
        }
        ranks.push((Some(rank), Target::new(label), row.to_vec()));
    }

    let labels = Array1::from_vec(labels);
    let value = top_k_accuracy(table.view(), labels.view(), k, ties);
    if let Ok(value) = value {
        fraction(Some(value));
        let examples: Vec<_> = ranks
            .iter()
            .map(|(rank, target, _)| (rank, target))
            .collect();
        let state = pooled(&metric, &examples);
        assert_eq!(metric.accuracy_at(&state, k), Some(value));
        assert!(metric.accuracy_at(&state, k + 1) >= Some(value));
        let rank = metric.mean_reciprocal_rank(&state, k);
        fraction(rank);
        // They are rounded in other places.
        assert!(rank.is_some_and(|rank| rank <= value + 1e-12));
        // Rounding to f32 ties scores and parts none.
        let narrow = table.mapv(|score| score as f32);
        if let Ok(lenient) = top_k_accuracy(narrow.view(), labels.view(), k, Ties::Optimistic) {
            let strict = top_k_accuracy(table.view(), labels.view(), k, Ties::Optimistic);
            assert!(
                strict.as_ref().is_ok_and(|&strict| lenient >= strict),
                "{lenient} {strict:?}"
            );
        }
    }
    let weights = Array1::from_vec(weights);
    let weighted = metric.with_weights().with_macro_average();
    if let Ok(state) = weighted.measure_rows(table.view(), labels.view(), Some(weights.view())) {
        for k in 1..=columns {
            close_to_fraction(weighted.accuracy_at(&state, k));
        }
        close_to_fraction(weighted.mean_reciprocal_rank(&state, usize::MAX));
    }
    let positive: Vec<bool> = labels.iter().map(|label| label % 2 != 0).collect();
    let first: Vec<f64> = table.column(0).to_vec();
    if let Ok(accuracy) = binary_top_k_accuracy(&first, &positive, k) {
        fraction(accuracy.value());
    }
}

/// Weights that are rounded may make a little more than 1, and huge ones no number at all.
fn close_to_fraction(score: Option<f64>) {
    assert!(
        score.is_none_or(|score| score.is_nan() || (0.0..=1.0 + 1e-12).contains(&score)),
        "{score:?}"
    );
}

fn ranked(mut numbers: Numbers<'_>) {
    let (columns, k) = (1 + numbers.below(6), 1 + numbers.below(8));
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    while !numbers.0.is_empty() && labels.len() < 12 {
        labels.push(numbers.below(7));
        rows.extend((0..columns).map(|_| numbers.below(7)));
    }
    let metric = AccuracyAtK::new(vec![k]).unwrap();
    let examples: Vec<_> = rows.chunks(columns).zip(&labels).collect();
    let state = pooled(&metric, &examples);
    let hits = examples
        .iter()
        .filter(|(row, label)| row.iter().take(k).any(|other| other == *label));
    let accuracy = state.accuracy_at(k);
    assert_eq!(
        (accuracy.correct, accuracy.total),
        (hits.count() as u64, examples.len() as u64)
    );
    fraction(state.mean_reciprocal_rank(k));
    let count = labels.len();
    let table = Array2::from_shape_vec((count, columns), rows.clone()).unwrap();
    let labels = Array1::from_vec(labels.clone());
    match accuracy_at_k(table.view(), labels.view(), k) {
        Ok(found) => assert_eq!(found, accuracy),
        Err(_) => assert!(count == 0 || k > columns),
    }
}

fn classes(mut numbers: Numbers<'_>, choice: u8) {
    let average = choose(Average::ALL, choice);
    let zero_division = choose(ZeroDivision::ALL, choice / 3);
    let metric = Classification::<usize>::new(average, zero_division);
    let mut examples = Vec::new();
    while !numbers.0.is_empty() && examples.len() < 64 {
        let prediction = Some(numbers.below(6)).filter(|&class| class < 5);
        examples.push((prediction, numbers.below(5)));
    }
    let pairs: Vec<_> = examples.iter().map(|(a, b)| (a, b)).collect();
    let matrix: ConfusionMatrix<usize> = pooled(&metric, &pairs);
    let score = metric.compute(&matrix);
    for score in [score.precision, score.recall, score.f1] {
        // A weighted mean of ones may round to more by the last digit.
        close_to_fraction(score);
    }
    let right = examples.iter().filter(|(a, b)| *a == Some(*b)).count() as u64;
    let accuracy = matrix.accuracy();
    assert_eq!(
        (accuracy.correct, accuracy.total),
        (right, examples.len() as u64)
    );
    let classes = matrix.classes();
    let rows = matrix.rows();
    let seen = examples.iter().filter(|(a, _)| a.is_some()).count() as u64;
    assert_eq!(rows.iter().flatten().sum::<u64>(), seen);
    for (row, &class) in rows.iter().zip(&classes) {
        let counts = matrix.class_counts(class);
        let index = classes.iter().position(|other| *other == class).unwrap();
        assert_eq!(counts.true_positives, row[index]);
        let actual = examples.iter().filter(|(_, b)| b == class).count() as u64;
        let predicted = examples.iter().filter(|(a, _)| *a == Some(*class)).count() as u64;
        assert_eq!((counts.actual(), counts.predicted()), (actual, predicted));
    }
    close_to_fraction(matrix.balanced_accuracy());
    for score in [matrix.cohen_kappa(), matrix.matthews_correlation()]
        .into_iter()
        .flatten()
    {
        assert!((-1.0..=1.0).contains(&score), "{score}: {examples:?}");
    }
}
