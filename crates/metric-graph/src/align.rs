use metric_core::assignment::{Benefit, Edge, assign};
use metric_core::named_choice;

use crate::coded::Coded;
use crate::{Clip, LaneCorrespondence};

/// Which predicted rule stands for which true rule when their lanes are compared.
///
/// The lanes of a predicted rule that stands for none are all wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Alignment {
    /// The model was given the true rules and only told their lanes, rule id by rule id: the
    /// setting in the text of the MapDR paper. There are no predicted properties, so the scores of
    /// rules and of the whole are undefined.
    Given,
    /// Rules with the same id.
    Key,
    /// Rules with equal properties; of several equal ones, those that share most lanes.
    Properties,
    /// The one-to-one choice with the most equal properties in total, and among those the most
    /// shared lanes in total. `RuleIndex` is not counted, and any two rules may stand for each
    /// other. This is what the worked example of the MapDR paper draws.
    #[default]
    Optimal,
}

impl Alignment {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::Given, Self::Key, Self::Properties, Self::Optimal];

    /// The name of the choice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Key => "key",
            Self::Properties => "properties",
            Self::Optimal => "optimal",
        }
    }
}

named_choice!(Alignment, "alignment");

/// A predicted rule and the true rule it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlignedRules<'a> {
    /// The id of the predicted rule.
    pub prediction: &'a str,
    /// The id of the true rule.
    pub reference: &'a str,
    /// How many properties are equal, `RuleIndex` not counted; 0 for [`Alignment::Given`].
    pub equal_properties: u64,
    /// How many lanes both have.
    pub shared_lanes: u64,
}

impl LaneCorrespondence {
    /// The predicted rules that stand for a true rule, by id, with what they have in common.
    ///
    /// Under [`Alignment::Optimal`] and [`Alignment::Properties`] the choice can be one of several
    /// that are equally good; their totals are equal, and so the score is. It is the same one for
    /// the same clips.
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
        let coded = self.coded(prediction, reference);
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

/// The aligned rules, by their places in `coded`, in the order of the predicted ones.
pub(crate) fn align(
    alignment: Alignment,
    coded: &Coded,
    prediction: &Clip,
    reference: &Clip,
) -> Vec<(usize, usize)> {
    match alignment {
        Alignment::Given | Alignment::Key => same_key(prediction, reference),
        Alignment::Properties => best(coded, prediction.len(), |predicted, actual| {
            let shared = coded.lane_sets.shared(predicted, actual) as f64;
            same_class(coded, predicted, actual).then_some(Benefit {
                primary: 1,
                secondary: shared,
            })
        }),
        Alignment::Optimal => best(coded, prediction.len(), |predicted, actual| {
            Some(Benefit {
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
        while actual.next_if(|((other, _), _)| *other < id).is_some() {}
        if let Some((_, place)) = actual.next_if(|((other, _), _)| *other == id) {
            pairs.push((predicted, place));
        }
    }
    pairs
}

/// A choice of pairs with the greatest total benefit.
///
/// Rules that agree in all that counts are paired beforehand, which leaves little or nothing to
/// assign where the prediction is good. That costs no benefit: let `a = b` be such rules, and `c`
/// and `d` what an optimal choice pairs them with. For sets, `|a ∩ c| + |b ∩ d| ≤ |a| + |c ∩ d|`,
/// so `a` with `b` and `c` with `d` is as good, in the properties and in the lanes; and if `c` or
/// `d` is missing, `|a|` alone is as good.
fn best(
    coded: &Coded,
    predicted: usize,
    benefit: impl Fn(usize, usize) -> Option<Benefit>,
) -> Vec<(usize, usize)> {
    let all = coded.classes.len();
    let mut pairs = Vec::with_capacity(predicted.min(all - predicted));
    let mut open: Vec<usize> = (predicted..all).collect();
    let mut left: Vec<usize> = Vec::new();
    for rule in 0..predicted {
        let twin = open.iter().position(|&other| {
            coded.attributes.get(rule) == coded.attributes.get(other)
                && coded.lane_sets.get(rule) == coded.lane_sets.get(other)
                && benefit(rule, other).is_some()
        });
        match twin {
            Some(place) => pairs.push((rule, open.remove(place))),
            None => left.push(rule),
        }
    }
    let edges: Vec<Edge> = left
        .iter()
        .flat_map(|&row| open.iter().map(move |&column| (row, column)))
        .filter_map(|(row, column)| {
            let benefit = benefit(row, column)?;
            Some(Edge {
                row,
                column,
                benefit,
            })
        })
        .collect();
    match edges.as_slice() {
        [] => {}
        [edge] => pairs.push((edge.row, edge.column)),
        edges => pairs.extend(assign(edges)),
    }
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Properties, Rule};

    /// The best totals by trying every one-to-one choice.
    fn best_totals(equal: &[Vec<(u64, u64)>], row: usize, used: u32) -> (u64, u64) {
        let Some(columns) = equal.get(row) else {
            return (0, 0);
        };
        (0..columns.len())
            .filter(|column| used & (1 << column) == 0)
            .map(|column| {
                let rest = best_totals(equal, row + 1, used | (1 << column));
                (rest.0 + columns[column].0, rest.1 + columns[column].1)
            })
            .chain([best_totals(equal, row + 1, used)])
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
                    if a.0 == b.0 { (1, shared) } else { (0, 0) }
                } else {
                    ((0..2).filter(|&i| a.0[i] == b.0[i]).count() as u64, shared)
                }
            };
            let table: Vec<Vec<_>> = predicted.iter()
                .map(|a| actual.iter().map(|b| worth(a, b)).collect()).collect();
            let pairs = metric.align(&prediction, &reference);
            let mut total = (0, 0);
            let mut seen = (Vec::new(), Vec::new());
            for pair in &pairs {
                let (row, column): (usize, usize) = (
                    pair.prediction.parse().map_err(|_| TestCaseError::fail("row"))?,
                    pair.reference.parse().map_err(|_| TestCaseError::fail("column"))?,
                );
                prop_assert!(!seen.0.contains(&row) && !seen.1.contains(&column));
                seen.0.push(row);
                seen.1.push(column);
                total.0 += table[row][column].0;
                total.1 += table[row][column].1;
                if !by_properties {
                    prop_assert_eq!((pair.equal_properties, pair.shared_lanes), table[row][column]);
                }
            }
            prop_assert_eq!(total, best_totals(&table, 0, 0));
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
