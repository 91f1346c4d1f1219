//! Which detections are correct, at each of ten thresholds.

/// The thresholds 0.5, 0.55, ..., 0.95 as the program has them, in single precision.
pub(crate) const THRESHOLDS: [f32; 10] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// The bits of the detections that are correct, one for each threshold.
///
/// `similarities` has a list for each detection, in the order of confidence: the true objects of its class whose
/// similarity reaches the first threshold, in their order, with it. With a second choice, a detection may take an
/// object that is not its best one.
pub(crate) fn correct(
    similarities: &[Vec<(usize, f32)>],
    truths: usize,
    second_choice: bool,
) -> Vec<u16> {
    let mut correct = vec![0; similarities.len()];
    let mut taken = vec![false; truths];
    for (bit, threshold) in THRESHOLDS.iter().enumerate() {
        taken.fill(false);
        for (of_detection, correct) in similarities.iter().zip(&mut correct) {
            let open = of_detection
                .iter()
                .filter(|(truth, _)| !(second_choice && taken[*truth]));
            if let Some(&(truth, similarity)) = first_greatest(open)
                && similarity >= *threshold
                && !taken[truth]
            {
                taken[truth] = true;
                *correct |= 1 << bit;
            }
        }
    }
    correct
}

/// The greatest of similarities, the first among equals.
pub(crate) fn first_greatest<'s, T: 's>(
    similarities: impl Iterator<Item = &'s (T, f32)>,
) -> Option<&'s (T, f32)> {
    similarities.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two objects, of which the second detection fits the first better, which is taken.
    #[test]
    fn a_second_choice() {
        let similarities = vec![vec![(0, 1.0), (1, 0.6)], vec![(0, 0.83), (1, 0.73)]];
        // Up to 0.70 the second detection finds the second object.
        assert_eq!(correct(&similarities, 2, true), [0b11_1111_1111, 0b1_1111]);
        assert_eq!(correct(&similarities, 2, false), [0b11_1111_1111, 0]);
        // A free object is worth more than a better one.
        let equal = vec![vec![(0, 0.75), (1, 0.75)], vec![(0, 0.75), (1, 0.75)]];
        assert_eq!(correct(&equal, 2, true), [0b11_1111; 2]);
        assert_eq!(correct(&equal, 2, false), [0b11_1111, 0]);
    }
}
