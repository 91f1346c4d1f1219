use std::hash::Hash;
use std::ops::Range;

use metric_core::{fields, named_choice};

use super::EditProfile;
use super::cells::{Cells, OutOfCells};
use super::table::{self, Step, Ties};
use super::units::{common_ends, numbered};

/// Returns the Levenshtein distance: the least number of substitutions, deletions and insertions that turn one list
/// into the other.
///
/// The lists are of anything that compares: characters, words, labels. See [`Edits`] for the rates
/// that are made of it.
///
/// Takes about `d * n / 64` steps for a distance `d` and a length `n`: two texts of 1 MB that differ in 5% of their
/// characters take some ten seconds. Takes 15 to 25 bytes of memory for each unit of either list between the first and
/// the last error.
///
/// V. I. Levenshtein, *Binary codes capable of correcting deletions, insertions, and reversals* (1966).
///
/// ```
/// use metric_text::edit_distance;
///
/// // Replace k by s and e by i, insert g.
/// assert_eq!(edit_distance(b"kitten", b"sitting"), 3);
/// assert_eq!(edit_distance(&["the", "cat"], &["cat"]), 1);
/// ```
#[must_use]
pub fn edit_distance<T: Eq + Hash>(reference: &[T], prediction: &[T]) -> usize {
    // No distance is greater.
    let most = reference.len().max(prediction.len());
    edit_distance_within(reference, prediction, most).unwrap_or(most)
}

/// Returns the [`edit_distance`] if it is at most `limit`, otherwise `None`. Takes about `limit * n / 64` steps for
/// lists of about `n` units.
///
/// ```
/// use metric_text::edit_distance_within;
///
/// assert_eq!(edit_distance_within(b"kitten", b"sitting", 3), Some(3));
/// assert_eq!(edit_distance_within(b"kitten", b"sitting", 2), None);
/// ```
#[must_use]
pub fn edit_distance_within<T: Eq + Hash>(
    reference: &[T],
    prediction: &[T],
    limit: usize,
) -> Option<usize> {
    let found = distance_within(reference, prediction, limit, &mut Cells::unlimited());
    // There are always cells left.
    found.unwrap_or(None)
}

/// [`edit_distance_within`], as far as there are cells left.
pub(crate) fn distance_within<T: Eq + Hash>(
    reference: &[T],
    prediction: &[T],
    limit: usize,
    cells: &mut Cells,
) -> Result<Option<usize>, OutOfCells> {
    // Long lists of unlike lengths need no look at what they hold.
    if reference.len().abs_diff(prediction.len()) > limit {
        return Ok(None);
    }
    let (start, end) = common_ends(reference, prediction);
    let (reference, prediction) = (
        middle(reference, start, end),
        middle(prediction, start, end),
    );
    if reference.is_empty() || prediction.is_empty() {
        let distance = reference.len().max(prediction.len());
        return Ok((distance <= limit).then_some(distance));
    }
    let (reference, prediction) = numbered(reference, prediction);
    table::distance(&reference, &prediction, limit, cells)
}

/// The edit distance of lists of symbols, as far as there are cells left.
pub(crate) fn distance_of_symbols(
    reference: &[u32],
    prediction: &[u32],
    cells: &mut Cells,
) -> Result<usize, OutOfCells> {
    let (start, end) = common_ends(reference, prediction);
    let (reference, prediction) = (
        middle(reference, start, end),
        middle(prediction, start, end),
    );
    let most = reference.len().max(prediction.len());
    let found = table::distance(reference, prediction, most, cells)?;
    Ok(found.unwrap_or(most))
}

/// The numbers of units at the start and, in what is left, at the end of two lists that are certainly hits.
pub(super) fn hits_at_ends<T: Eq>(ties: Ties, reference: &[T], prediction: &[T]) -> (usize, usize) {
    match ties {
        Ties::Rapidfuzz => common_ends(reference, prediction),
        Ties::Gaps if reference == prediction => (reference.len(), 0),
        Ties::Gaps => (0, 0),
    }
}

/// The middle of a list, without its ends.
pub(super) fn middle<T>(list: &[T], start: usize, end: usize) -> &[T] {
    list.get(start..list.len().saturating_sub(end))
        .unwrap_or_default()
}

/// A kind of edit in an alignment: a hit (equal units), a substitution, a deletion or an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Edit {
    /// `equal`: a unit of the reference that is also in the prediction.
    Equal,
    /// `substitute`: a unit of the prediction that replaces one of the reference.
    Substitute,
    /// `delete`: a unit of the reference that is missing from the prediction.
    Delete,
    /// `insert`: a unit of the prediction that is not in the reference.
    Insert,
}

impl Edit {
    /// All kinds of edits.
    pub const ALL: &[Self] = &[Self::Equal, Self::Substitute, Self::Delete, Self::Insert];

    /// Returns the name of the edit, as in jiwer: `equal`, `substitute`, `delete` or `insert`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Substitute => "substitute",
            Self::Delete => "delete",
            Self::Insert => "insert",
        }
    }
}

named_choice!(Edit, "edit");

/// A run of the same [`Edit`] in an alignment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Chunk {
    /// The kind of edit.
    pub edit: Edit,
    /// The indices of its units of the reference; empty for an insertion.
    pub reference: Range<usize>,
    /// The indices of its units of the prediction; empty for a deletion.
    pub prediction: Range<usize>,
}

/// An alignment with the fewest edits that turn a reference into a prediction, as runs of the same edit, in order.
///
/// Among the alignments with the fewest edits, it is the one that rapidfuzz and jiwer choose. Units that both lists
/// have in common at the start, and then at the end, are equal. The rest is traced back from the end through the table
/// of distances. A step is a deletion if one unit less of the reference has one error less. Otherwise it is an
/// insertion if, without the last unit of the prediction, one unit less of the reference has one error more. Otherwise
/// it is a pair of equal units or a substitution. The rule holds here at every size, whereas rapidfuzz departs from it
/// above some 4 million cells and saves memory with another alignment of the same distance.
///
/// Takes the steps of [`edit_distance`] about three times, and some tens of megabytes in addition to the lists.
///
/// ```
/// use metric_text::edit::{Alignment, Chunk, Edit};
///
/// let reference = ["the", "black", "cat", "sat"];
/// let prediction = ["the", "cat", "sat", "there"];
/// let alignment = Alignment::new(&reference, &prediction);
/// assert_eq!(alignment.chunks, [
///     Chunk { edit: Edit::Equal, reference: 0..1, prediction: 0..1 },
///     Chunk { edit: Edit::Delete, reference: 1..2, prediction: 1..1 },
///     Chunk { edit: Edit::Equal, reference: 2..4, prediction: 1..3 },
///     Chunk { edit: Edit::Insert, reference: 4..4, prediction: 3..4 },
/// ]);
/// assert_eq!(alignment.edits().hits, 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Alignment {
    /// The runs, which cover both lists from start to end; neighbors differ in their edit.
    pub chunks: Vec<Chunk>,
}

impl Alignment {
    /// Returns the alignment of two lists of units.
    #[must_use]
    pub fn new<T: Eq + Hash>(reference: &[T], prediction: &[T]) -> Self {
        Self::under(EditProfile::default(), reference, prediction)
    }

    /// Returns the alignment of two lists of units that a profile counts. Only [`EditProfile::Wenet`] counts another one
    /// than [`new`](Self::new).
    #[must_use]
    pub fn under<T: Eq + Hash>(profile: EditProfile, reference: &[T], prediction: &[T]) -> Self {
        let cells = &mut Cells::unlimited();
        let alignment = Self::within(reference, prediction, profile.ties(), cells);
        // There are always cells left.
        alignment.unwrap_or_default()
    }

    /// The alignment by a rule for ties, as far as there are cells left.
    pub(super) fn within<T: Eq + Hash>(
        reference: &[T],
        prediction: &[T],
        ties: Ties,
        cells: &mut Cells,
    ) -> Result<Self, OutOfCells> {
        let (start, end) = hits_at_ends(ties, reference, prediction);
        let (symbols, others) = numbered(
            middle(reference, start, end),
            middle(prediction, start, end),
        );
        let mut steps = Vec::new();
        table::trace(
            &symbols,
            &others,
            ties,
            |_| true,
            cells,
            |step| steps.push(step),
        )?;

        let mut alignment = Self::default();
        alignment.push(Edit::Equal, start);
        // The edges of the table, where the trace-back ends.
        let count = |without| steps.iter().filter(|step| **step != without).count();
        alignment.push(Edit::Delete, symbols.len() - count(Step::Insert));
        alignment.push(Edit::Insert, others.len() - count(Step::Delete));
        let (mut row, mut column) = (
            symbols.len() - count(Step::Insert),
            others.len() - count(Step::Delete),
        );
        for step in steps.iter().rev() {
            let edit = match step {
                Step::Delete => Edit::Delete,
                Step::Insert => Edit::Insert,
                Step::Diagonal if symbols.get(row) == others.get(column) => Edit::Equal,
                Step::Diagonal => Edit::Substitute,
            };
            row += usize::from(edit != Edit::Insert);
            column += usize::from(edit != Edit::Delete);
            alignment.push(edit, 1);
        }
        alignment.push(Edit::Equal, end);
        Ok(alignment)
    }

    fn push(&mut self, edit: Edit, units: usize) {
        if units == 0 {
            return;
        }
        let (rows, columns) = match edit {
            Edit::Equal | Edit::Substitute => (units, units),
            Edit::Delete => (units, 0),
            Edit::Insert => (0, units),
        };
        let (row, column) = match self.chunks.last_mut() {
            Some(last) if last.edit == edit => {
                last.reference.end += rows;
                last.prediction.end += columns;
                return;
            }
            Some(last) => (last.reference.end, last.prediction.end),
            None => (0, 0),
        };
        self.chunks.push(Chunk {
            edit,
            reference: row..row + rows,
            prediction: column..column + columns,
        });
    }

    /// Returns the edits by kind.
    #[must_use]
    pub fn edits(&self) -> Edits {
        let mut edits = Edits::default();
        for chunk in &self.chunks {
            let (count, units) = match chunk.edit {
                Edit::Equal => (&mut edits.hits, &chunk.reference),
                Edit::Substitute => (&mut edits.substitutions, &chunk.reference),
                Edit::Delete => (&mut edits.deletions, &chunk.reference),
                Edit::Insert => (&mut edits.insertions, &chunk.prediction),
            };
            *count += units.len() as u64;
        }
        edits
    }
}

/// The numbers of hits, substitutions, deletions and insertions in an alignment.
///
/// ```
/// use metric_text::Edits;
///
/// // The cat sat | a cat sat there
/// let edits = Edits { hits: 2, substitutions: 1, deletions: 0, insertions: 1 };
/// assert_eq!((edits.errors(), edits.reference_length(), edits.prediction_length()), (2, 3, 4));
/// assert_eq!(edits, Edits::between(&["the", "cat", "sat"], &["a", "cat", "sat", "there"]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Edits {
    /// Correct units.
    pub hits: u64,
    /// Units that replace others.
    pub substitutions: u64,
    /// Units that are missing.
    pub deletions: u64,
    /// Units of the prediction that are not in the reference.
    pub insertions: u64,
}

impl Edits {
    /// Returns the edits of the [`Alignment`] of two lists of units.
    ///
    /// Costs no more than [`edit_distance`] where the distance leaves only one choice.
    #[must_use]
    pub fn between<T: Eq + Hash>(reference: &[T], prediction: &[T]) -> Self {
        let cells = &mut Cells::unlimited();
        let edits = Self::within(reference, prediction, Ties::default(), cells);
        // There are always cells left.
        edits.unwrap_or_default()
    }

    /// The edits of an alignment by a rule for ties, as far as there are cells left.
    pub(crate) fn within<T: Eq + Hash>(
        reference: &[T],
        prediction: &[T],
        ties: Ties,
        cells: &mut Cells,
    ) -> Result<Self, OutOfCells> {
        let (start, end) = hits_at_ends(ties, reference, prediction);
        let (symbols, others) = (
            middle(reference, start, end),
            middle(prediction, start, end),
        );
        let mut edits = if symbols.is_empty() || others.is_empty() {
            Self::of_counts(
                symbols.len(),
                others.len(),
                symbols.len().max(others.len()),
                0,
            )
        } else {
            let (symbols, others) = numbered(symbols, others);
            Self::of_symbols(&symbols, &others, ties, cells)?
        };
        edits.hits += (start + end) as u64;
        Ok(edits)
    }

    /// The edits of lists of symbols. [`Ties::Rapidfuzz`] needs lists without common ends.
    pub(super) fn of_symbols(
        reference: &[u32],
        prediction: &[u32],
        ties: Ties,
        cells: &mut Cells,
    ) -> Result<Self, OutOfCells> {
        let (rows, columns) = (reference.len(), prediction.len());
        if let Some(distance) = table::embedded(reference, prediction) {
            return Ok(Self::of_counts(rows, columns, distance, 0));
        }
        let (mut deletions, mut insertions) = (0, 0);
        // Substitutions, and deletions that insertions make up for: of a single error the kind is known.
        let needed = |distance: usize| distance - rows.abs_diff(columns) > 1;
        let distance = table::trace(reference, prediction, ties, needed, cells, |step| {
            deletions += usize::from(step == Step::Delete);
            insertions += usize::from(step == Step::Insert);
        })?;
        // Along the edges: what makes the lengths fit.
        let deletions = deletions.max((rows + insertions).saturating_sub(columns));
        Ok(Self::of_counts(rows, columns, distance, deletions))
    }

    /// The edits of lists of these lengths, their distance, and at least this many deletions.
    fn of_counts(rows: usize, columns: usize, distance: usize, deletions: usize) -> Self {
        let deletions = deletions.max(rows.saturating_sub(columns));
        let insertions = deletions + columns - rows;
        let substitutions = distance.saturating_sub(deletions + insertions);
        Self {
            hits: rows.saturating_sub(substitutions + deletions) as u64,
            substitutions: substitutions as u64,
            deletions: deletions as u64,
            insertions: insertions as u64,
        }
    }

    /// Returns the number of substitutions, deletions and insertions: the [`edit_distance`].
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.substitutions + self.deletions + self.insertions
    }

    /// Returns the number of units of the reference.
    #[must_use]
    pub fn reference_length(&self) -> u64 {
        self.hits + self.substitutions + self.deletions
    }

    /// Returns the number of units of the prediction.
    #[must_use]
    pub fn prediction_length(&self) -> u64 {
        self.hits + self.substitutions + self.insertions
    }
}

fields!(Edits {
    hits,
    substitutions,
    deletions,
    insertions
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An alignment as the lengths of its runs, such as `2= 1s 1d`.
    fn runs(reference: &str, prediction: &str) -> String {
        let alignment = Alignment::new(reference.as_bytes(), prediction.as_bytes());
        let run = |chunk: &Chunk| {
            let letter = match chunk.edit {
                Edit::Equal => '=',
                Edit::Substitute => 's',
                Edit::Delete => 'd',
                Edit::Insert => 'i',
            };
            format!(
                "{}{letter}",
                chunk.reference.len().max(chunk.prediction.len())
            )
        };
        alignment
            .chunks
            .iter()
            .map(run)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn by_hand() {
        for (reference, prediction, expected) in [
            ("", "", ""),
            ("a", "", "1d"),
            ("", "ab", "2i"),
            ("abc", "abc", "3="),
            ("kitten", "sitting", "1s 3= 1s 1= 1i"),
            ("clown", "down", "1s 1d 3="),
            ("down", "clown", "1i 1s 3="),
            ("ab", "ba", "1i 1= 1d"),
            ("aab", "ab", "1= 1d 1="),
            ("abcd", "xy", "2s 2d"),
        ] {
            assert_eq!(
                runs(reference, prediction),
                expected,
                "{reference} {prediction}"
            );
        }
    }

    fn list() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(0_u8..4, 0..90)
    }

    proptest! {
        #[test]
        fn distance_is_a_metric(a in list(), b in list(), c in list()) {
            let distance = edit_distance(&a, &b);
            prop_assert_eq!(distance, edit_distance(&b, &a));
            prop_assert_eq!(distance == 0, a == b);
            prop_assert!(distance <= edit_distance(&a, &c) + edit_distance(&c, &b));
            prop_assert!(distance >= a.len().abs_diff(b.len()));
            prop_assert!(distance <= a.len().max(b.len()));
        }

        #[test]
        fn a_part_of_a_list_is_counted_as_it_is_aligned(
            long in proptest::collection::vec(0_u8..5, 0..80),
            kept in proptest::collection::vec(any::<bool>(), 80),
            changed in 0_u8..5,
        ) {
            // Some of its units in their order, with one kind replaced by another.
            let kept = long.iter().zip(kept).filter(|(_, kept)| *kept);
            let short: Vec<u8> = kept.map(|(&unit, _)| if unit == changed { 9 } else { unit }).collect();
            for (a, b) in [(&short, &long), (&long, &short)] {
                prop_assert_eq!(Edits::between(a, b), Alignment::new(a, b).edits());
            }
        }

        #[test]
        fn an_alignment_makes_the_prediction(a in list(), b in list()) {
            let alignment = Alignment::new(&a, &b);
            let (mut row, mut column) = (0, 0);
            for (index, chunk) in alignment.chunks.iter().enumerate() {
                prop_assert_eq!((chunk.reference.start, chunk.prediction.start), (row, column));
                (row, column) = (chunk.reference.end, chunk.prediction.end);
                let (left, right) = (&a[chunk.reference.clone()], &b[chunk.prediction.clone()]);
                prop_assert!(index == 0 || alignment.chunks[index - 1].edit != chunk.edit);
                let fits = match chunk.edit {
                    Edit::Equal => left == right && !left.is_empty(),
                    Edit::Substitute => {
                        left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a != b)
                    }
                    Edit::Delete => right.is_empty(),
                    Edit::Insert => left.is_empty(),
                };
                prop_assert!(fits);
            }
            prop_assert_eq!((row, column), (a.len(), b.len()));

            let edits = alignment.edits();
            prop_assert_eq!(edits, Edits::between(&a, &b));
            prop_assert_eq!(edits.errors() as usize, edit_distance(&a, &b));
            prop_assert_eq!(edits.reference_length() as usize, a.len());
            prop_assert_eq!(edits.prediction_length() as usize, b.len());
        }
    }
}
