//! The scores that a metric declares, each with its direction.

use std::fmt;

/// A score of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreSpec {
    /// The name, up to the parameter if the score has one.
    pub name: &'static str,
    /// The end of the name, such as `K` in `accuracy@K`; empty if there is none.
    pub parameter: &'static str,
    /// The direction in which values are better.
    pub direction: Option<Direction>,
    /// For a proportion, the names of the counts that it divides: those that are correct, and all.
    /// Whether it is one under the options at hand, [`Scorer::has_proportions`](crate::Scorer::has_proportions) says.
    pub proportion: Option<(&'static str, &'static str)>,
    /// Whether no value is the best one, as 1 or 0 is of other scores.
    pub is_unbounded: bool,
}

/// The direction in which values of a score are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The higher one.
    Higher,
    /// The lower one.
    Lower,
}

impl Direction {
    /// Returns `higher` or `lower`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }
}

/// The name, with the parameter that its end stands for: `accuracy@K`.
impl fmt::Display for ScoreSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.parameter)
    }
}

impl ScoreSpec {
    /// Returns the score of this name, as [`Entry::score`] does.
    pub(crate) fn of_name(scores: &'static [Self], name: &str) -> Option<&'static Self> {
        let mut all = scores.iter();
        let exact = all.find(|score| score.parameter.is_empty() && score.names(name));
        let longest = || {
            let named = scores.iter().filter(|score| score.names(name));
            named.max_by_key(|score| score.name.len())
        };
        exact.or_else(longest)
    }

    /// Returns a score of which the higher value is better.
    #[must_use]
    pub const fn higher(name: &'static str) -> Self {
        Self {
            name,
            parameter: "",
            direction: Some(Direction::Higher),
            proportion: None,
            is_unbounded: false,
        }
    }

    /// Returns a score of which the lower value is better.
    #[must_use]
    pub const fn lower(name: &'static str) -> Self {
        Self {
            direction: Some(Direction::Lower),
            ..Self::higher(name)
        }
    }

    /// Returns a number among the scores of which neither value is better, such as a threshold.
    #[must_use]
    pub const fn neutral(name: &'static str) -> Self {
        Self {
            direction: None,
            ..Self::higher(name)
        }
    }

    /// Returns the same score without a best value.
    #[must_use]
    pub const fn unbounded(mut self) -> Self {
        self.is_unbounded = true;
        self
    }

    /// Returns the same score for each value of a parameter, which its name ends in.
    #[must_use]
    pub const fn by(mut self, parameter: &'static str) -> Self {
        self.parameter = parameter;
        self
    }

    /// Returns the same score as a proportion: one count divided by another. A count whose name
    /// ends in the parameter is written without it.
    #[must_use]
    pub const fn proportion(mut self, correct: &'static str, total: &'static str) -> Self {
        self.proportion = Some((correct, total));
        self
    }

    /// Returns whether this is the score of that name.
    ///
    /// ```
    /// use metric_registry::ScoreSpec;
    ///
    /// let accuracy = ScoreSpec::higher("accuracy@").by("K");
    /// assert!(accuracy.names("accuracy@5"));
    /// assert!(!accuracy.names("accuracy@"));
    /// assert!(!ScoreSpec::higher("f1").names("f1@0.5"));
    /// ```
    #[must_use]
    pub fn names(&self, score: &str) -> bool {
        match self.parameter {
            "" => score == self.name,
            _ => score
                .strip_prefix(self.name)
                .is_some_and(|parameter| !parameter.is_empty()),
        }
    }
}
