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
    pairwise_sum_of(numbers.len(), numbers.iter().copied())
}

/// Returns the [`pairwise_sum`] of this many numbers, which need not be in memory. Numbers that are missing at the end count
/// as 0.
///
/// ```
/// use metric_core::pairwise_sum_of;
///
/// assert_eq!(pairwise_sum_of(3, [1.0, 2.0, 4.5].into_iter()), 7.5);
/// ```
pub fn pairwise_sum_of(count: usize, mut numbers: impl Iterator<Item = f64>) -> f64 {
    sum(count, &mut numbers)
}

/// The number of numbers that are not halved.
const MOST: usize = 128;

fn sum(count: usize, numbers: &mut impl Iterator<Item = f64>) -> f64 {
    if count > MOST {
        let half = count / 2;
        let left = half - half % 8;
        return sum(left, numbers) + sum(count - left, numbers);
    }
    let mut some = [0.0; MOST];
    let some = &mut some[..count];
    for (slot, number) in some.iter_mut().zip(numbers) {
        *slot = number;
    }
    let eights = some.chunks_exact(8);
    let rest = eights.remainder();
    let sums = eights
        .map(|eight| std::array::from_fn::<f64, 8, _>(|index| eight[index]))
        .reduce(|sums, eight| std::array::from_fn(|index| sums[index] + eight[index]));
    let start = sums.map_or(0.0, |r| {
        ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    });
    rest.iter().fold(start, |sum, number| sum + number)
}
