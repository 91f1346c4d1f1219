//! Intervals and a paired test for a metric of one's own: the mean absolute error of temperatures.

use metric_core::{Mean, Metric};
use metric_stats::{Method, Pair, Randomization, estimate, replicates};

/// Mean absolute error.
struct AbsoluteError;

impl Metric for AbsoluteError {
    type Prediction = f64;
    type Reference = f64;
    type State = Mean;
    type Score = Option<f64>;

    fn update(&self, state: &mut Mean, prediction: &f64, reference: &f64) {
        state.add((prediction - reference).abs());
    }

    fn compute(&self, state: &Mean) -> Option<f64> {
        state.value()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Each day is a cluster of two measurements. The second model is half a degree nearer each morning.
    let days: Vec<(String, [f64; 2])> = (0..30)
        .map(|day| {
            (
                format!("day {day}"),
                [f64::from(day % 7), f64::from(day % 5)],
            )
        })
        .collect();
    let states = |offset: f64| {
        days.iter().map(move |(day, [morning, evening])| {
            let mut state = AbsoluteError.measure(&(morning + offset), morning);
            AbsoluteError.update(&mut state, &(evening * 1.1), evening);
            (day.clone(), state)
        })
    };
    let [first, second]: [Vec<_>; 2] = [1.0, 0.5].map(|offset| states(offset).collect());

    let score = |clusters: &[(String, Mean)]| {
        let mut pool = Mean::default();
        clusters
            .iter()
            .for_each(|(_, state)| metric_core::Merge::merge_times(&mut pool, state, 1));
        AbsoluteError.compute(&pool)
    };
    let resampled: Vec<_> = replicates(&AbsoluteError, &first, 0, 2000)
        .map(Option::flatten)
        .collect();
    let interval = estimate(
        score(&first),
        &resampled,
        days.len() as u64,
        0.95,
        Method::Expanded,
    );
    let [low, high] = interval.ends.ok_or("no interval")?;
    let value = score(&first).ok_or("no score")?;
    assert!(low < value && value < high);

    let pairs: Vec<_> = first
        .into_iter()
        .zip(second)
        .map(|((key, baseline), (_, system))| Pair {
            key,
            baseline,
            system,
        })
        .collect();
    let test = Randomization::new(&AbsoluteError, &pairs, 0, 9_999, |score| *score);
    // No random exchange of the models gives as large a difference.
    assert_eq!(test.p, Some(1.0 / 10_000.0));
    Ok(())
}
