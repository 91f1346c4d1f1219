/// Returns the sum of numbers in the order in which `np.sum` of NumPy adds them, from its version 2.3.0: in halves down to 128
/// numbers, and these in eight sums. Scores that equal those of a program to the last bit need its order.
///
/// ```
/// use metric_core::pairwise_sum;
///
/// assert_eq!(pairwise_sum(&[1.0, 2.0, 4.5]), 7.5);
/// assert_eq!(pairwise_sum(&[]), 0.0);
/// ```
#[must_use]
pub fn pairwise_sum(numbers: &[f64]) -> f64 {
    if numbers.len() > 128 {
        let half = numbers.len() / 2;
        let (left, right) = numbers.split_at(half - half % 8);
        return pairwise_sum(left) + pairwise_sum(right);
    }
    let eights = numbers.chunks_exact(8);
    let rest = eights.remainder();
    let sums = eights
        .map(|eight| std::array::from_fn::<f64, 8, _>(|index| eight[index]))
        .reduce(|sums, eight| std::array::from_fn(|index| sums[index] + eight[index]));
    let start = sums.map_or(0.0, |r| {
        ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    });
    rest.iter().fold(start, |sum, number| sum + number)
}
