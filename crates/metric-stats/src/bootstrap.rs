use metric_core::{Merge, Metric};

use crate::Weights;

/// Returns the scores of replicates 1 to `resamples` of a metric.
///
/// A replicate counts each cluster as often as its [`Weights`] say, and a cluster of weight 0 not at all. A replicate
/// that draws no cluster is `None`, whatever the metric's score of no examples is: under some conventions 0/0 is a number.
/// Clusters are given by key and state. States of one key are one cluster, wherever they are in the list.
///
/// Replicates depend on the seed, the keys and the states alone: more resamples continue the same
/// sequence, and the order of the clusters does not matter.
///
/// ```
/// use metric_core::{Accuracy, Metric};
/// use metric_stats::{estimate, replicates, Method};
///
/// struct Equality;
///
/// impl Metric for Equality {
///     type Prediction = str;
///     type Reference = str;
///     type State = Accuracy;
///     type Score = Option<f64>;
///
///     fn update(&self, state: &mut Accuracy, prediction: &str, reference: &str) {
///         state.record(prediction == reference);
///     }
///     fn compute(&self, state: &Accuracy) -> Option<f64> {
///         state.value()
///     }
/// }
///
/// let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
/// let clusters = words.map(|word| (word, Equality.measure(word, if word < "d" { "-" } else { word })));
/// let scores: Vec<_> = replicates(&Equality, &clusters, 0, 199).map(Option::flatten).collect();
///
/// let found = estimate(Some(0.7), &scores, 10, 0.95, Method::Expanded);
/// assert!(found.ends.is_some_and(|[low, high]| low < 0.7 && 0.7 < high));
/// ```
///
/// # Cost
///
/// One weight and one merge per cluster and replicate. Memory for one state.
pub fn replicates<M, K>(
    metric: &M,
    clusters: &[(K, M::State)],
    seed: u64,
    resamples: u64,
) -> impl Iterator<Item = Option<M::Score>>
where
    M: Metric<State: Clone>,
    K: AsRef<str>,
{
    let weights = clusters
        .iter()
        .map(|(key, _)| Weights::new(seed, key.as_ref()));
    let weights: Vec<Weights> = weights.collect();
    (1..=resamples).map(move |replicate| {
        let (mut state, mut is_drawn) = (M::State::default(), false);
        for (weights, (_, cluster)) in weights.iter().zip(clusters) {
            let weight = weights.weight(replicate);
            if weight > 0 {
                is_drawn = true;
                state.merge_times(cluster, weight);
            }
        }
        is_drawn.then(|| metric.compute(&state))
    })
}
