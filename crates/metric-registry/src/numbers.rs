//! Scores and counts by name: of all examples, of a group, of one.

use metric_record::Message;

/// Names with what they name, in the order in which they are printed.
pub type Named<T> = Vec<(String, T)>;

/// The examples whose numbers are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All examples.
    Total,
    /// A group of examples: the kind of group and the group.
    Group(&'a str, &'a str),
    /// One example.
    Example,
}

/// The numbers of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Scores by name, in the order in which they are printed; `None` is undefined.
    pub scores: Named<Option<f64>>,
    /// Counts by name.
    pub counts: Named<serde_json::Value>,
    /// Groups that are known only from the whole state, by kind; only requested for the total.
    pub groups: Named<Vec<Group>>,
    /// Warnings about the whole data set, in addition to the notes; only requested with [remarks](crate::Asked).
    pub warnings: Vec<Message>,
    /// The confusion matrix, if the metric counts confusions and the matrix is small enough to be printed; only
    /// requested with remarks.
    pub confusions: Option<ConfusionTable>,
    /// The table that another program prints, if there is one; only requested with remarks.
    pub table: Option<PrintedTable>,
    /// Notes that belong to the scores wherever they are printed; only requested with remarks.
    pub notes: Vec<Message>,
    /// What is too large for a report, such as curves, if it is requested and there is any.
    pub details: Option<serde_json::Value>,
    /// The parts of the signature that the definition [leaves to the data](crate::OF_DATA); only requested for the total.
    pub signature: Named<String>,
}

/// Scores or counts by name.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
pub(crate) fn named<N: Into<String>, T: Into<U>, U>(
    values: impl IntoIterator<Item = (N, T)>,
) -> Named<U> {
    let values = values.into_iter();
    values
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// The values by name that are there.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
pub(crate) fn present<N: Into<String>, T>(
    values: impl IntoIterator<Item = (N, Option<T>)>,
) -> Named<T> {
    let values = values.into_iter();
    values
        .filter_map(|(name, value)| Some((name.into(), value?)))
        .collect()
}

impl Numbers {
    /// The only score that is requested.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn of_score(name: &str, value: Option<f64>) -> Self {
        Self {
            scores: vec![(name.to_owned(), value)],
            ..Self::default()
        }
    }

    /// Returns the score of this name, if there is one and it is defined.
    pub(crate) fn score(&self, name: &str) -> Option<f64> {
        score_of(&self.scores, name)
    }
}

fn score_of(scores: &Named<Option<f64>>, name: &str) -> Option<f64> {
    scores.iter().find(|(score, _)| score == name)?.1
}

/// The numbers of one group of examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The group.
    pub name: String,
    /// Scores by name.
    pub scores: Named<Option<f64>>,
    /// Counts by name.
    pub counts: Named<serde_json::Value>,
}

/// A table as another program prints it, with three significant digits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintedTable {
    /// The names of all columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<PrintedRow>,
}

/// A row of a [`PrintedTable`]: a name, counts and scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintedRow {
    /// The name of the row.
    pub name: String,
    /// Counts.
    pub counts: Vec<u64>,
    /// Scores.
    pub scores: Vec<Option<f64>>,
}

/// The counts of confusions: a row per class of the ground truth, and a column per predicted class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfusionTable {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The counts by row.
    pub rows: Vec<Vec<u64>>,
}

/// Scores and counts by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The number of examples.
    pub examples: u64,
    /// The number of examples without a prediction, whether they count as empty or were left out.
    pub missing: u64,
    /// The number of predictions without a reference, which were left out.
    pub extra: u64,
    /// Scores; `None` is undefined.
    pub scores: Named<Option<f64>>,
    /// Counts.
    pub counts: Named<serde_json::Value>,
    /// The groups, by kind of group.
    pub groups: Named<Vec<Group>>,
    /// Warnings for the user.
    pub warnings: Vec<Message>,
    /// The confusion matrix, if the metric counts confusions and there are few enough classes to print them.
    pub confusions: Option<ConfusionTable>,
    /// The table that another program prints of these scores, which takes the place of ours in texts.
    pub table: Option<PrintedTable>,
    /// Notes that are printed below the scores.
    pub notes: Vec<Message>,
}

impl Report {
    /// Returns the counts of a group, given by its kind and its name, or of all examples; `None` if there is no
    /// such group.
    #[must_use]
    pub fn counts_of(&self, group: Option<&(String, String)>) -> Option<&Named<serde_json::Value>> {
        let Some((kind, name)) = group else {
            return Some(&self.counts);
        };
        let of_kind = self.groups.iter().filter(|(found, _)| found == kind);
        let mut groups = of_kind.flat_map(|(_, groups)| groups);
        groups
            .find(|group| group.name == *name)
            .map(|group| &group.counts)
    }

    /// Returns the score of this name, if there is one and it is defined.
    #[must_use]
    pub fn score(&self, name: &str) -> Option<f64> {
        score_of(&self.scores, name)
    }
}
