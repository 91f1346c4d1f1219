use std::fmt;

/// The error for an example whose comparison takes more time or memory than a program should spend on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLarge {
    /// The number of predicted parts.
    pub prediction: usize,
    /// The number of parts of the reference.
    pub reference: usize,
    /// The kind of the parts.
    pub compared: Compared,
}

/// The items that are compared in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compared {
    /// Rules, for which a best alignment is chosen.
    Rules,
    /// Points of lanes.
    Points,
}

impl Compared {
    /// The most pairs that are compared.
    pub(crate) const fn most_pairs(self) -> u64 {
        match self {
            // A gigabyte of memory.
            Self::Rules => 1 << 22,
            // About 10 seconds.
            Self::Points => 1 << 33,
        }
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            prediction,
            reference,
            compared,
        } = self;
        let most = compared.most_pairs();
        match compared {
            Compared::Rules => write!(
                f,
                "the best alignment of {prediction} rules with {reference} of the reference is one of too many: expected at most {most} pairs of rules, such as 2048 with 2048"
            ),
            Compared::Points => write!(
                f,
                "lanes of {prediction} points in all, against {reference} of the reference: expected at most {most} pairs of points, such as 92681 against 92681"
            ),
        }
    }
}

impl std::error::Error for TooLarge {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_words() {
        let error = TooLarge {
            prediction: 100_000,
            reference: 100_000,
            compared: Compared::Points,
        };
        assert_eq!(
            error.to_string(),
            "lanes of 100000 points in all, against 100000 of the reference: expected at most 8589934592 pairs of points, such as 92681 against 92681"
        );
    }
}
