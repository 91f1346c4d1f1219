use std::fmt;

/// The reason why numbers cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NumbersError {
    /// There are no numbers.
    Empty,
    /// The lists differ in length.
    LengthMismatch {
        /// The number of predictions.
        predictions: usize,
        /// The number of references.
        references: usize,
    },
    /// A number is NaN or infinite.
    NotFinite {
        /// The index of the pair.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A weight is negative, NaN or infinite.
    InvalidWeight(f64),
}

impl fmt::Display for NumbersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no numbers: expected at least one pair"),
            Self::LengthMismatch {
                predictions,
                references,
            } => write!(f, "{predictions} predictions, but {references} references"),
            Self::NotFinite { index, value } => {
                write!(
                    f,
                    "expected a finite number at index {index}, found {value}"
                )
            }
            Self::InvalidWeight(weight) => {
                write!(f, "expected a finite weight of at least 0, found {weight}")
            }
        }
    }
}

impl std::error::Error for NumbersError {}

/// Checks the numbers of both sides.
pub(crate) fn check(predictions: &[f64], references: &[f64]) -> Result<(), NumbersError> {
    if predictions.len() != references.len() {
        return Err(NumbersError::LengthMismatch {
            predictions: predictions.len(),
            references: references.len(),
        });
    }
    if predictions.is_empty() {
        return Err(NumbersError::Empty);
    }
    let pairs = predictions.iter().zip(references).enumerate();
    for (index, (&prediction, &reference)) in pairs {
        for value in [prediction, reference] {
            if !value.is_finite() {
                return Err(NumbersError::NotFinite { index, value });
            }
        }
    }
    Ok(())
}
