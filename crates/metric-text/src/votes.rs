//! Votes of several answers to a question: maj@n, also called cons@n.

use std::collections::HashMap;

use metric_core::{Sum, fields, named_choice};

/// The rule for questions with several most frequent answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VoteTies {
    /// The answer that occurs first of the most frequent ones counts, as in `majority_vote` of lm_eval 0.4.13 and `mode` of
    /// inspect_ai 0.3.285.
    #[default]
    First,
    /// Each of the most frequent answers counts in equal parts: the score is the expected value of a random choice.
    Expected,
    /// An answer counts if more than half of all answers are equal to it, as in `majority` of inspect_ai 0.3.285, which
    /// prints nan where there is none. Here such a question is not correct.
    Strict,
}

impl VoteTies {
    /// All rules.
    pub const ALL: &[Self] = &[Self::First, Self::Expected, Self::Strict];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Expected => "expected",
            Self::Strict => "strict",
        }
    }
}

named_choice!(VoteTies, "rule for tied votes");

/// The result of a vote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vote<'t> {
    /// The most frequent answers, in the order in which they first occur.
    pub most_frequent: Vec<&'t str>,
    /// How often each of them occurs.
    pub votes: usize,
    /// The number of all answers.
    pub answers: usize,
}

impl<'t> Vote<'t> {
    /// Counts answers.
    ///
    /// ```
    /// use metric_text::votes::Vote;
    ///
    /// let vote = Vote::of(["7", "8", "8", "7", "9"]);
    /// assert_eq!(vote.most_frequent, ["7", "8"]);
    /// assert_eq!((vote.votes, vote.answers), (2, 5));
    /// ```
    pub fn of(answers: impl IntoIterator<Item = &'t str>) -> Self {
        let mut positions: HashMap<&str, usize> = HashMap::new();
        let mut counts: Vec<(&'t str, usize)> = Vec::new();
        let mut total = 0;
        for answer in answers {
            total += 1;
            let position = *positions.entry(answer).or_insert(counts.len());
            match counts.get_mut(position) {
                Some((_, count)) => *count += 1,
                None => counts.push((answer, 1)),
            }
        }
        let votes = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let most_frequent = counts.into_iter().filter(|(_, count)| *count == votes);
        Self {
            most_frequent: most_frequent.map(|(answer, _)| answer).collect(),
            votes,
            answers: total,
        }
    }

    /// Returns how correct the vote is, from 0 to 1, given which answers are; 0 without answers.
    ///
    /// ```
    /// use metric_text::votes::{Vote, VoteTies};
    ///
    /// let vote = Vote::of(["7", "8", "8", "7"]);
    /// let score = |ties| vote.score(ties, |answer| answer == "8");
    /// assert_eq!(VoteTies::ALL.iter().map(|ties| score(*ties)).collect::<Vec<_>>(), [0.0, 0.5, 0.0]);
    /// ```
    pub fn score(&self, ties: VoteTies, is_correct: impl Fn(&str) -> bool) -> f64 {
        let correct = |answers: &[&str]| answers.iter().filter(|answer| is_correct(answer)).count();
        let first = self.most_frequent.get(..1).unwrap_or_default();
        match ties {
            VoteTies::First => correct(first) as f64,
            VoteTies::Strict if 2 * self.votes > self.answers => correct(first) as f64,
            VoteTies::Strict => 0.0,
            VoteTies::Expected if self.most_frequent.is_empty() => 0.0,
            VoteTies::Expected => {
                correct(&self.most_frequent) as f64 / self.most_frequent.len() as f64
            }
        }
    }
}

/// The votes of several questions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VoteCounts {
    /// The sum of the scores of all questions.
    pub correct: Sum,
    /// Questions with several most frequent answers.
    pub tied: u64,
    /// All questions.
    pub total: u64,
}

fields!(VoteCounts {
    correct,
    tied,
    total
});

impl VoteCounts {
    /// Adds a question.
    pub fn add(&mut self, vote: &Vote<'_>, score: f64) {
        self.correct.add(score);
        self.tied += u64::from(vote.most_frequent.len() > 1);
        self.total += 1;
    }

    /// Returns the mean score of a question; undefined without questions.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.total > 0).then(|| self.correct.value() / self.total as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ties_by_hand() {
        for (answers, [first, expected, strict]) in [
            (&["a"][..], [1.0, 1.0, 1.0]),
            (&["b"], [0.0, 0.0, 0.0]),
            (&["a", "b"], [1.0, 0.5, 0.0]),
            (&["b", "a"], [0.0, 0.5, 0.0]),
            (&["b", "a", "a"], [1.0, 1.0, 1.0]),
            (&["b", "a", "a", "c"], [1.0, 1.0, 0.0]),
            (&["b", "c", "a"], [0.0, 1.0 / 3.0, 0.0]),
            (&[], [0.0, 0.0, 0.0]),
        ] {
            let vote = Vote::of(answers.iter().copied());
            let score = |ties| vote.score(ties, |answer| answer == "a");
            let found = [VoteTies::First, VoteTies::Expected, VoteTies::Strict].map(score);
            assert_eq!(found, [first, expected, strict], "{answers:?}");
        }
    }

    proptest! {
        #[test]
        fn laws_of_merge(examples in proptest::collection::vec((1_u8..4, 0.0..1.0), 0..6)) {
            let examples = examples.into_iter().map(|(tied, score)| {
                let names = ["a", "b", "c", "d"];
                let mut counts = VoteCounts::default();
                counts.add(&Vote::of(names.into_iter().take(tied.into())), score);
                counts
            });
            crate::laws::check(&examples.collect::<Vec<_>>());
        }
    }
}
