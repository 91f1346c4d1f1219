use std::collections::BTreeMap;

use metric_core::assignment::{Benefit, Edge, assign_all};

use crate::clip::compare_ids;
use crate::coded::Coded;
use crate::limit::{Compared, TooLarge};
use crate::{Alignment, Clip, LaneCorrespondence};

/// A predicted rule and the true rule that it is aligned with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlignedRules<'a> {
    /// The id of the predicted rule.
    pub prediction: &'a str,
    /// The id of the true rule.
    pub reference: &'a str,
    /// The number of equal properties, without `RuleIndex`; 0 for [`Alignment::Given`].
    pub equal_properties: u64,
    /// The number of lanes that both have.
    pub shared_lanes: u64,
}

impl LaneCorrespondence {
    /// Returns the predicted rules that are aligned with a true rule, by id, with what the two have in common.
    ///
    /// Where several choices are equally good under [`Alignment::Optimal`] or
    /// [`Alignment::Properties`], their totals are equal, and so the score is. It is the one in
    /// which the first true rule, by id, stands for the first predicted one it can, then the
    /// second, and so on.
    ///
    /// ```
    /// use metric_graph::{AlignedRules, Clip, LaneCorrespondence, Properties, Rule};
    ///
    /// let rule = |kind, lane: i64| Properties::new([("LaneType", kind)]).map(|says| Rule::new(says, [lane]));
    /// let truth = Clip::new([("0", rule("BusLane", 7)?), ("1", rule("DirectionLane", 8)?)])?;
    /// let prediction = Clip::new([("0", rule("DirectionLane", 8)?)])?;
    /// assert_eq!(
    ///     LaneCorrespondence::default().align(&prediction, &truth),
    ///     [AlignedRules { prediction: "0", reference: "1", equal_properties: 1, shared_lanes: 1 }],
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn align<'a>(&self, prediction: &'a Clip, reference: &'a Clip) -> Vec<AlignedRules<'a>> {
        let says = |clip| self.equality.clip(clip);
        let coded = self.coded(&says(prediction), &says(reference));
        let ids: Vec<&str> = prediction
            .rules()
            .chain(reference.rules())
            .map(|(id, _)| id)
            .collect();
        align(self.alignment, &coded, prediction, reference)
            .into_iter()
            .filter_map(|(predicted, actual)| {
                Some(AlignedRules {
                    prediction: ids.get(predicted)?,
                    reference: ids.get(actual)?,
                    equal_properties: coded.attributes.shared(predicted, actual),
                    shared_lanes: coded.lane_sets.shared(predicted, actual),
                })
            })
            .collect()
    }
}

impl LaneCorrespondence {
    /// Returns an error for clips whose alignment would take more than a gigabyte of memory.
    ///
    /// Scores have no limit of their own. A program that reads untrusted data calls this first. It costs
    /// nothing for clips of up to 2,000 rules.
    ///
    /// ```
    /// use metric_graph::{Clip, LaneCorrespondence};
    ///
    /// assert_eq!(LaneCorrespondence::default().check_size(&Clip::default(), &Clip::default()), Ok(()));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a best choice would have to be made of more than 2^22 pairs of rules.
    pub fn check_size(&self, prediction: &Clip, reference: &Clip) -> Result<(), TooLarge> {
        let are_few = |pairs: usize| pairs as u64 <= Compared::Rules.most_pairs();
        if are_few(prediction.len().saturating_mul(reference.len())) {
            return Ok(());
        }
        let says = |clip| self.equality.clip(clip);
        let coded = self.coded(&says(prediction), &says(reference));
        if are_few(pairs_of(self.alignment, &coded, prediction.len())) {
            return Ok(());
        }
        Err(TooLarge {
            prediction: prediction.len(),
            reference: reference.len(),
            compared: Compared::Rules,
        })
    }
}

/// The number of pairs that [`align`] makes a best choice of.
fn pairs_of(alignment: Alignment, coded: &Coded, predicted: usize) -> usize {
    let rules = coded.classes.len();
    match alignment {
        Alignment::Given | Alignment::Key => 0,
        Alignment::Properties => {
            let mut counts: BTreeMap<_, [usize; 2]> = BTreeMap::new();
            for rule in 0..rules {
                let side = usize::from(rule >= predicted);
                counts.entry(coded.classes.get(rule)).or_default()[side] += 1;
            }
            let pairs = counts.values().map(|[a, b]| a.saturating_mul(*b));
            pairs.fold(0, usize::saturating_add)
        }
        Alignment::Optimal => match all_twins(coded, predicted) {
            Some(_) => 0,
            None => predicted.saturating_mul(rules - predicted),
        },
    }
}

/// The aligned rules, by their positions in `coded`, in the order of the predicted ones.
pub(crate) fn align(
    alignment: Alignment,
    coded: &Coded,
    prediction: &Clip,
    reference: &Clip,
) -> Vec<(usize, usize)> {
    match alignment {
        Alignment::Given | Alignment::Key => same_key(prediction, reference),
        Alignment::Properties => {
            let mut rules: Vec<usize> = (0..coded.classes.len()).collect();
            // Stable: the predicted rules of a class stay before the true ones.
            rules.sort_by_key(|&rule| coded.classes.get(rule));
            let mut pairs = Vec::new();
            for class in rules.chunk_by(|&a, &b| same_class(coded, a, b)) {
                let cut = class.partition_point(|&rule| rule < prediction.len());
                let (predicted, actual) = class.split_at(cut);
                pairs.extend(best(predicted, actual, |predicted, actual| Benefit {
                    primary: 1,
                    secondary: coded.lane_sets.shared(predicted, actual) as f64,
                }));
            }
            pairs.sort_unstable();
            pairs
        }
        Alignment::Optimal => all_twins(coded, prediction.len()).unwrap_or_else(|| {
            let rules: Vec<usize> = (0..coded.classes.len()).collect();
            let (predicted, actual) = rules.split_at(prediction.len());
            best(predicted, actual, |predicted, actual| Benefit {
                primary: coded.attributes.shared(predicted, actual) as i64,
                secondary: coded.lane_sets.shared(predicted, actual) as f64,
            })
        }),
    }
}

pub(crate) fn same_class(coded: &Coded, a: usize, b: usize) -> bool {
    coded.classes.get(a) == coded.classes.get(b)
}

/// The rules with the same id, by a walk over both sides, which are in the order of their ids.
pub(crate) fn same_key(prediction: &Clip, reference: &Clip) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut actual = reference.rules().zip(prediction.len()..).peekable();
    for (predicted, (id, _)) in prediction.rules().enumerate() {
        while actual
            .next_if(|((other, _), _)| compare_ids(other, id).is_lt())
            .is_some()
        {}
        if let Some((_, position)) = actual.next_if(|((other, _), _)| *other == id) {
            pairs.push((predicted, position));
        }
    }
    pairs
}

/// The choice of pairs with the greatest total benefit; among equals the first true rule has the
/// first predicted one it can have, then the second, and so on.
fn best(
    predicted: &[usize],
    actual: &[usize],
    benefit: impl Fn(usize, usize) -> Benefit,
) -> Vec<(usize, usize)> {
    let edges: Vec<Edge> = actual
        .iter()
        .flat_map(|row| predicted.iter().map(move |column| (*row, *column)))
        .map(|(row, column)| Edge {
            row,
            column,
            benefit: benefit(column, row),
        })
        .collect();
    let mut pairs = match edges.as_slice() {
        [] => Vec::new(),
        [edge] => vec![(edge.row, edge.column)],
        _ => assign_all(edges),
    };
    for pair in &mut pairs {
        *pair = (pair.1, pair.0);
    }
    pairs.sort_unstable();
    pairs
}

/// The choice where every rule of both sides has one that agrees in all that counts.
///
/// No choice is worth more than all true rules with themselves, and one that is worth as much has
/// such pairs only: each true rule must be contained in its partner, and there is nothing to spare.
fn all_twins(coded: &Coded, predicted: usize) -> Option<Vec<(usize, usize)>> {
    if 2 * predicted != coded.classes.len() {
        return None;
    }
    let mut open: Vec<usize> = (0..predicted).collect();
    let mut pairs = Vec::with_capacity(predicted);
    for actual in predicted..coded.classes.len() {
        let position = open.iter().position(|&rule| {
            coded.attributes.get(rule) == coded.attributes.get(actual)
                && coded.lane_sets.get(rule) == coded.lane_sets.get(actual)
        })?;
        pairs.push((open.remove(position), actual));
    }
    pairs.sort_unstable();
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;
    use crate::{Properties, Rule};

    /// The best totals by trying every one-to-one choice, and its partners of the true rules: of
    /// equal totals the one with the first partners, none last.
    fn best_choice(
        worth: &[Vec<Option<(u64, u64)>>],
        row: usize,
        used: u32,
    ) -> ((u64, u64), Vec<Reverse<usize>>) {
        let Some(columns) = worth.get(row) else {
            return Default::default();
        };
        let first = |column: usize, rest: Vec<Reverse<usize>>| {
            std::iter::once(Reverse(column)).chain(rest).collect()
        };
        (0..columns.len())
            .filter(|column| used & (1 << column) == 0)
            .filter_map(|column| {
                let (total, rest) = best_choice(worth, row + 1, used | (1 << column));
                let (a, b) = columns[column]?;
                Some(((total.0 + a, total.1 + b), first(column, rest)))
            })
            .chain(
                std::iter::once(best_choice(worth, row + 1, used))
                    .map(|(total, rest)| (total, first(usize::MAX, rest))),
            )
            .max()
            .unwrap_or_default()
    }

    /// Rules of three properties of two values each, and of up to four lanes.
    fn clip(rules: &[(Vec<bool>, Vec<i64>)]) -> Clip {
        let rule = |(says, lanes): &(Vec<bool>, Vec<i64>)| {
            let properties = ["LaneType", "EffectiveTime", "RuleIndex"].iter().zip(says);
            Rule::new(
                Properties::new(properties.map(|(name, value)| (name, *value))).unwrap_or_default(),
                lanes.iter().copied(),
            )
        };
        let rules = rules.iter().enumerate();
        Clip::new(rules.map(|(id, row)| (id.to_string(), rule(row)))).unwrap_or_default()
    }

    #[test]
    fn rules_that_are_too_many_to_be_aligned() {
        let made = |count: usize, lane: i64| {
            let says = Properties::new([("LaneType", "BusLane")]).unwrap_or_default();
            let rule = |position: usize| (position.to_string(), Rule::new(says.clone(), [lane]));
            Clip::new((0..count).map(rule)).unwrap_or_default()
        };
        let check = |alignment, predicted: &Clip, actual: &Clip| {
            let metric = LaneCorrespondence {
                alignment,
                ..Default::default()
            };
            metric.check_size(predicted, actual)
        };
        let (few, many, others) = (made(2_048, 1), made(2_049, 1), made(2_049, 2));
        let refused = TooLarge {
            prediction: 2_049,
            reference: 2_049,
            compared: Compared::Rules,
        };
        for (alignment, twins, unlike) in [
            (Alignment::Key, Ok(()), Ok(())),
            (Alignment::Properties, Err(refused), Err(refused)),
            // Rules that all have an equal one need no choice.
            (Alignment::Optimal, Ok(()), Err(refused)),
        ] {
            assert_eq!(check(alignment, &few, &few), Ok(()), "{alignment}");
            assert_eq!(check(alignment, &many, &many), twins, "{alignment}");
            assert_eq!(check(alignment, &many, &others), unlike, "{alignment}");
        }
    }

    #[test]
    fn rules_that_all_differ() {
        let made = |shift: i64| {
            let rules = (0..3_000).map(|position| {
                let says = Properties::new([("LaneType", (position + shift) % 3_000)]);
                (
                    position.to_string(),
                    Rule::new(says.unwrap_or_default(), [position % 7]),
                )
            });
            Clip::new(rules).unwrap_or_default()
        };
        let metric = LaneCorrespondence {
            alignment: Alignment::Properties,
            ..Default::default()
        };
        let (prediction, reference) = (made(0), made(1));
        let aligned = metric.align(&prediction, &reference);
        assert_eq!(aligned.len(), 3_000);
        let pairs: Vec<_> = aligned
            .iter()
            .map(|p| (p.prediction, p.reference))
            .collect();
        assert_eq!(pairs[..2], [("0", "2999"), ("1", "0")]);
    }

    proptest! {
        #[test]
        fn the_optimal_alignment_is_best(
            predicted in rows(), actual in rows(), by_properties in any::<bool>(),
        ) {
            let (prediction, reference) = (clip(&predicted), clip(&actual));
            let alignment = if by_properties { Alignment::Properties } else { Alignment::Optimal };
            let metric = LaneCorrespondence { alignment, ..Default::default() };
            let worth = |a: &(Vec<bool>, Vec<i64>), b: &(Vec<bool>, Vec<i64>)| {
                let shared = (0..4).filter(|lane| a.1.contains(lane) && b.1.contains(lane)).count() as u64;
                if by_properties {
                    (a.0 == b.0).then_some((1, shared))
                } else {
                    Some(((0..2).filter(|&i| a.0[i] == b.0[i]).count() as u64, shared))
                }
            };
            let table: Vec<Vec<_>> = actual.iter()
                .map(|b| predicted.iter().map(|a| worth(a, b)).collect()).collect();
            let (_, best) = best_choice(&table, 0, 0);
            let mut expected: Vec<(String, String)> = best.iter().enumerate()
                .filter(|(_, partner)| partner.0 != usize::MAX)
                .map(|(row, partner)| (partner.0.to_string(), row.to_string())).collect();
            expected.sort_unstable();
            let pairs = metric.align(&prediction, &reference);
            let ours: Vec<(String, String)> = pairs.iter()
                .map(|pair| (pair.prediction.to_owned(), pair.reference.to_owned())).collect();
            prop_assert_eq!(ours, expected);
            for pair in &pairs {
                let row: usize = pair.reference.parse().map_err(|_| TestCaseError::fail("row"))?;
                let column: usize = pair.prediction.parse().map_err(|_| TestCaseError::fail("column"))?;
                if !by_properties {
                    prop_assert_eq!(Some((pair.equal_properties, pair.shared_lanes)), table[row][column]);
                }
            }
        }
    }

    fn rows() -> impl Strategy<Value = Vec<(Vec<bool>, Vec<i64>)>> {
        let rule = (
            proptest::collection::vec(any::<bool>(), 3),
            proptest::collection::vec(0_i64..4, 0..4),
        );
        proptest::collection::vec(rule, 0..5)
    }
}
