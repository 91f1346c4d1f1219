use std::collections::BTreeMap;
use std::ops::Range;

use metric_core::{Counts, MacroAverage, Mean, Merge, Metric, NamedScores, fields, named_scores};

use crate::align::{align, same_class, same_key};
use crate::breakdown::{
    CLASS, CORRESPONDENCE, ClassTables, Found, OVERALL, Part, RULE, record_properties,
};
use crate::coded::{Coded, each_shared};
use crate::{
    Alignment, ClassCounts, Clip, Duplicates, FindingCounts, LaneCorrespondence, Overall, Parts,
    PropertyConfusion, findings,
};

/// The state of [`LaneCorrespondence`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorrespondenceState {
    /// Clips seen.
    pub clips: u64,
    /// Right, predicted and true items of all clips. Under [`Alignment::Given`] only
    /// `correspondence` is counted.
    pub counts: Parts<Counts>,
    /// The ratios of the single clips, where they are defined.
    pub by_clip: Parts<RatioMeans>,
    /// Clips that are entirely correct; not counted under [`Alignment::Given`].
    pub scenes: Scenes,
    /// The values read for each property of aligned rules, by name; empty under
    /// [`Alignment::Given`].
    pub properties: BTreeMap<String, PropertyConfusion>,
    /// The counts by the class of the rules, their `LaneType`; empty under [`Alignment::Given`] and
    /// where `LaneType` is ignored.
    pub classes: BTreeMap<String, Parts<ClassCounts>>,
    /// Oddities of the predictions.
    pub prediction_findings: FindingCounts,
    /// Oddities of the references.
    pub reference_findings: FindingCounts,
}

fields!(CorrespondenceState {
    clips,
    counts,
    by_clip,
    scenes,
    properties,
    classes,
    prediction_findings,
    reference_findings,
});

/// Means of precision, recall and F1 over the clips where they are defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RatioMeans {
    /// Over clips with predictions.
    pub precision: Mean,
    /// Over clips with something to find.
    pub recall: Mean,
    /// Over clips with either.
    pub f1: Mean,
}

impl RatioMeans {
    fn add(&mut self, counts: &Counts) {
        for (mean, ratio) in [
            (&mut self.precision, counts.precision()),
            (&mut self.recall, counts.recall()),
            (&mut self.f1, counts.f1()),
        ] {
            if let Some(ratio) = ratio {
                mean.add(ratio);
            }
        }
    }
}

fields!(RatioMeans {
    precision,
    recall,
    f1
});

/// Clips that are entirely correct. An empty prediction of an empty clip is correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scenes {
    /// Clips whose rules are equal as a multiset of properties.
    pub rules_exact: u64,
    /// Clips whose rules are equal as a multiset of lists of lanes, in any order, repetitions
    /// counted.
    pub lanes_exact: u64,
    /// Clips that are both.
    pub both_exact: u64,
}

fields!(Scenes {
    rules_exact,
    lanes_exact,
    both_exact
});

/// The score of [`LaneCorrespondence`].
///
/// Under [`Alignment::Given`] there is nothing to say about `rule`, `overall` and the scenes: they
/// are `None`, whatever the profile prints for 0/0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CorrespondenceScore {
    /// The ratios of the counts of all clips: all items weigh the same. Over 0 they are what the
    /// [profile](crate::LaneProfile) prints, 0 in MapDR's; [`CorrespondenceState::counts`] has them undefined.
    pub micro: Parts<Ratios>,
    /// The means over clips: all clips weigh the same. A clip where a ratio is undefined is left
    /// out of its mean.
    pub by_clip: Parts<Ratios<MacroAverage>>,
    /// The share of clips whose rules are all correct; undefined without clips.
    pub rules_exact: Option<f64>,
    /// The share of clips whose lists of lanes are all correct; undefined without clips.
    pub lanes_exact: Option<f64>,
    /// The share of clips where both are; undefined without clips.
    pub both_exact: Option<f64>,
}

/// `rule_precision` and so on, the same of clips with `_by_clip`, and the shares of correct clips.
impl NamedScores for CorrespondenceScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        let by_clip = |ratios: Ratios<MacroAverage>| ratios.map(|mean| mean.value);
        let Parts {
            rule,
            correspondence,
            overall,
        } = self.by_clip;
        let by_clip = Parts {
            rule: by_clip(rule),
            correspondence: by_clip(correspondence),
            overall: by_clip(overall),
        };
        let mut scores = Vec::new();
        for (suffix, parts) in [("", &self.micro), ("_by_clip", &by_clip)] {
            for (part, ratios) in [
                ("rule", parts.rule),
                ("correspondence", parts.correspondence),
                ("overall", parts.overall),
            ] {
                for (ratio, value) in ratios.named_scores() {
                    scores.push((format!("{part}_{ratio}{suffix}"), value));
                }
            }
        }
        for (name, share) in [
            ("rules_exact", self.rules_exact),
            ("lanes_exact", self.lanes_exact),
            ("both_exact", self.both_exact),
        ] {
            scores.push((name.to_owned(), share));
        }
        scores
    }
}

/// Precision, recall and F1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Ratios<T = Option<f64>> {
    /// Right of predicted.
    pub precision: T,
    /// Right of true.
    pub recall: T,
    /// The harmonic mean of both, as `2 tp / (predicted + true)`.
    pub f1: T,
}

named_scores!(Ratios {
    precision,
    recall,
    f1
});

impl<T> Ratios<T> {
    /// Returns what `map` makes of each.
    pub(crate) fn map<U>(self, map: impl Fn(T) -> U) -> Ratios<U> {
        Ratios {
            precision: map(self.precision),
            recall: map(self.recall),
            f1: map(self.f1),
        }
    }
}

impl LaneCorrespondence {
    pub(crate) fn coded(&self, prediction: &Clip, reference: &Clip) -> Coded {
        let properties = self.alignment != Alignment::Given;
        Coded::new(
            prediction,
            reference,
            self.lane_ids,
            &self.ignore,
            properties,
        )
    }

    /// Pairs of a rule and a lane that are entirely correct.
    fn overall(
        &self,
        coded: &Coded,
        examples: &[usize],
        prediction: &Clip,
        reference: &Clip,
        tables: &mut ClassTables<'_>,
    ) -> Counts {
        match self.overall {
            Overall::Pairs => {
                let pairs = |rules: Range<usize>| -> Vec<(u32, u32)> {
                    rules
                        .filter_map(|rule| Some((*coded.classes.get(rule)?, rule)))
                        .flat_map(|(class, rule)| {
                            let lanes = coded.lanes.get(rule).iter();
                            lanes.map(move |lane| (class, *lane))
                        })
                        .collect()
                };
                let (split, all) = (prediction.len(), coded.classes.len());
                self.count(pairs(0..split), pairs(split..all), |(class, _), found| {
                    tables.add(examples[*class as usize], OVERALL, found, 1);
                })
            }
            Overall::Key => {
                let mut pairs = same_key(prediction, reference);
                pairs.retain(|&(a, b)| same_class(coded, a, b));
                aligned(coded, prediction.len(), &pairs, OVERALL, tables)
            }
        }
    }

    /// The items that two multisets have in common; `found` is called for each item of either, and
    /// for each that they share.
    fn count<T: Ord>(
        &self,
        mut predicted: Vec<T>,
        mut actual: Vec<T>,
        mut found: impl FnMut(&T, Found),
    ) -> Counts {
        for items in [&mut predicted, &mut actual] {
            items.sort_unstable();
            if self.duplicates == Duplicates::Merge {
                items.dedup();
            }
        }
        predicted
            .iter()
            .for_each(|item| found(item, Found::Predicted));
        actual.iter().for_each(|item| found(item, Found::Actual));
        let mut shared = 0;
        each_shared(&predicted, &actual, |item| {
            shared += 1;
            found(item, Found::RightPrediction);
            found(item, Found::RightActual);
        });
        Counts::from_totals(shared, predicted.len() as u64, actual.len() as u64)
    }
}

/// The lanes that aligned rules share, of all lanes of all rules.
fn aligned(
    coded: &Coded,
    split: usize,
    pairs: &[(usize, usize)],
    part: Part,
    tables: &mut ClassTables<'_>,
) -> Counts {
    let mut total = |rules: Range<usize>, found| {
        rules
            .map(|rule| {
                let lanes = coded.lane_sets.len(rule);
                tables.add(rule, part, found, lanes);
                lanes
            })
            .sum()
    };
    let predicted = total(0..split, Found::Predicted);
    let actual = total(split..coded.classes.len(), Found::Actual);
    let mut shared = 0;
    for &(a, b) in pairs {
        let lanes = coded.lane_sets.shared(a, b);
        tables.add(a, part, Found::RightPrediction, lanes);
        tables.add(b, part, Found::RightActual, lanes);
        shared += lanes;
    }
    Counts::from_totals(shared, predicted, actual)
}

/// The parts of the clip that are entirely correct.
fn scenes(coded: &Coded, split: usize) -> Scenes {
    let equal = |rules_exact, lanes_exact| Scenes {
        rules_exact: u64::from(rules_exact),
        lanes_exact: u64::from(lanes_exact),
        both_exact: u64::from(rules_exact && lanes_exact),
    };
    let all = coded.classes.len();
    if 2 * split != all {
        return equal(false, false);
    }
    let class = |rule: usize| coded.classes.get(rule);
    equal(
        sorted(0..split, class) == sorted(split..all, class),
        sorted(0..split, |rule| coded.lanes.get(rule))
            == sorted(split..all, |rule| coded.lanes.get(rule)),
    )
}

fn sorted<T: Ord>(rules: Range<usize>, key: impl Fn(usize) -> T) -> Vec<T> {
    let mut keys: Vec<T> = rules.map(key).collect();
    keys.sort_unstable();
    keys
}

impl Metric for LaneCorrespondence {
    type Prediction = Clip;
    type Reference = Clip;
    type State = CorrespondenceState;
    type Score = CorrespondenceScore;

    fn update(&self, state: &mut CorrespondenceState, prediction: &Clip, reference: &Clip) {
        let (prediction, reference) = (
            &*self.equality.clip(prediction),
            &*self.equality.clip(reference),
        );
        let coded = self.coded(prediction, reference);
        let split = prediction.len();
        let has_classes = self.alignment != Alignment::Given && !self.ignore.contains(CLASS);
        let rules = prediction.rules().chain(reference.rules());
        let mut tables = ClassTables::new(rules.filter(|_| has_classes).map(|(_, rule)| rule));

        let pairs = align(self.alignment, &coded, prediction, reference);
        let mut counts = Parts {
            correspondence: aligned(&coded, split, &pairs, CORRESPONDENCE, &mut tables),
            ..Parts::default()
        };
        if self.alignment != Alignment::Given {
            let examples = coded.examples();
            let (predicted, actual) = coded.classes.split_at(split);
            counts.rule = self.count(predicted.to_vec(), actual.to_vec(), |class, found| {
                tables.add(examples[*class as usize], RULE, found, 1);
            });
            counts.overall = self.overall(&coded, &examples, prediction, reference, &mut tables);
            state.scenes.merge(scenes(&coded, split));
            for &(a, b) in &pairs {
                if let (Some(a), Some(b)) = (prediction.rule_at(a), reference.rule_at(b - split)) {
                    record_properties(&mut state.properties, a, b, &self.ignore);
                }
            }
        }
        for (class, counts) in tables.named() {
            match state.classes.get_mut(class.as_ref()) {
                Some(known) => known.merge(counts),
                None => *state.classes.entry(class.into_owned()).or_default() = counts,
            }
        }
        state.by_clip.rule.add(&counts.rule);
        state.by_clip.correspondence.add(&counts.correspondence);
        state.by_clip.overall.add(&counts.overall);
        state.counts.merge(counts);

        let count = |clip| findings::count(clip, reference.centerlines(), self.lane_ids);
        state.prediction_findings.merge(count(prediction));
        state.reference_findings.merge(count(reference));
        state.clips += 1;
    }

    fn compute(&self, state: &CorrespondenceState) -> CorrespondenceScore {
        let zero_division = self.profile.zero_division();
        let ratios = |counts: &Counts| Ratios {
            precision: counts.precision().or(zero_division),
            recall: counts.recall().or(zero_division),
            f1: counts.f1().or(zero_division),
        };
        let means = |means: &RatioMeans| Ratios {
            precision: MacroAverage::from(&means.precision),
            recall: MacroAverage::from(&means.recall),
            f1: MacroAverage::from(&means.f1),
        };
        let mut score = CorrespondenceScore {
            by_clip: Parts {
                rule: means(&state.by_clip.rule),
                correspondence: means(&state.by_clip.correspondence),
                overall: means(&state.by_clip.overall),
            },
            ..CorrespondenceScore::default()
        };
        score.micro.correspondence = ratios(&state.counts.correspondence);
        if self.alignment != Alignment::Given {
            score.micro.rule = ratios(&state.counts.rule);
            score.micro.overall = ratios(&state.counts.overall);
            let share = |clips| metric_core::ratio(clips, state.clips);
            score.rules_exact = share(state.scenes.rules_exact);
            score.lanes_exact = share(state.scenes.lanes_exact);
            score.both_exact = share(state.scenes.both_exact);
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Equality, LaneId, LaneIds, LaneProfile, Properties, Rule};

    /// A rule as its properties (`LaneType`, `RuleIndex`) and lanes.
    type Row<'a> = (&'a str, &'a str, &'a [i64]);

    /// Rules with the ids "0", "1", ...
    fn clip(rows: &[Row<'_>]) -> Clip {
        let rule = |(kind, index, lanes): &Row<'_>| {
            let says = Properties::new([("LaneType", *kind), ("RuleIndex", *index)]);
            Rule::new(says.unwrap_or_default(), lanes.iter().copied())
        };
        let rules = rows.iter().enumerate();
        Clip::new(rules.map(|(id, row)| (id.to_string(), rule(row)))).unwrap_or_default()
    }

    /// The options that a row of a test sets.
    type Options = fn(&mut LaneCorrespondence);

    /// Name, options, prediction, reference, counts.
    type Case<'a> = (
        &'a str,
        Options,
        &'a [Row<'a>],
        &'a [Row<'a>],
        [[u64; 3]; 3],
    );

    /// Right, predicted and true items of the three parts, in their order.
    fn counts(options: Options, prediction: &Clip, reference: &Clip) -> [[u64; 3]; 3] {
        let mut metric = LaneCorrespondence::default();
        options(&mut metric);
        let counts = metric.measure(prediction, reference).counts;
        [counts.rule, counts.correspondence, counts.overall]
            .map(|c| [c.true_positives, c.predicted(), c.actual()])
    }

    #[test]
    fn options() {
        let none: Options = |_| {};
        let key: Options = |metric| {
            metric.alignment = Alignment::Key;
            metric.overall = Overall::Key;
        };
        let properties: Options = |metric| metric.alignment = Alignment::Properties;
        let merged: Options = |metric| metric.duplicates = Duplicates::Merge;
        let no_index: Options = |metric| {
            metric.ignore.insert("RuleIndex".to_owned());
        };
        #[rustfmt::skip]
        let cases: &[Case<'_>] = &[
            ("nothing", none, &[], &[], [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
            ("silent", none, &[], &[("a", "0", &[1])], [[0, 0, 1], [0, 0, 1], [0, 0, 1]]),
            ("spurious", none, &[("a", "0", &[1])], &[], [[0, 1, 0], [0, 1, 0], [0, 1, 0]]),
            ("no lanes", none, &[("a", "0", &[])], &[("a", "0", &[])], [[1, 1, 1], [0, 0, 0], [0, 0, 0]]),
            ("lane order", none, &[("a", "0", &[2, 1])], &[("a", "0", &[1, 2])], [[1, 1, 1], [2, 2, 2], [2, 2, 2]]),
            // A wrong rule on the right lane.
            ("misread", none, &[("b", "0", &[1])], &[("a", "0", &[1])], [[0, 1, 1], [1, 1, 1], [0, 1, 1]]),
            ("misread", properties, &[("b", "0", &[1])], &[("a", "0", &[1])], [[0, 1, 1], [0, 1, 1], [0, 1, 1]]),
            // The index is part of the rule, but aligns nothing.
            ("index", none, &[("a", "1", &[1])], &[("a", "0", &[1])], [[0, 1, 1], [1, 1, 1], [0, 1, 1]]),
            ("index", no_index, &[("a", "1", &[1])], &[("a", "0", &[1])], [[1, 1, 1], [1, 1, 1], [1, 1, 1]]),
            ("index", properties, &[("a", "1", &[1])], &[("a", "0", &[1])], [[0, 1, 1], [0, 1, 1], [0, 1, 1]]),
            // Rules in another order: their keys say nothing.
            ("reversed", none, &[("a", "0", &[1]), ("b", "1", &[2])], &[("b", "1", &[2]), ("a", "0", &[1])],
                [[2, 2, 2], [2, 2, 2], [2, 2, 2]]),
            ("reversed", key, &[("a", "0", &[1]), ("b", "1", &[2])], &[("b", "1", &[2]), ("a", "0", &[1])],
                [[2, 2, 2], [0, 2, 2], [0, 2, 2]]),
            // If two rules are equal, the one with the same lane is the partner.
            ("twins", none, &[("a", "0", &[1]), ("a", "0", &[2])], &[("a", "0", &[2]), ("a", "0", &[1])],
                [[2, 2, 2], [2, 2, 2], [2, 2, 2]]),
            ("twins", properties, &[("a", "0", &[1, 3]), ("a", "0", &[2])], &[("a", "0", &[2]), ("a", "0", &[1])],
                [[2, 2, 2], [2, 3, 2], [2, 3, 2]]),
            ("twins", key, &[("a", "0", &[1]), ("a", "0", &[2])], &[("a", "0", &[2]), ("a", "0", &[1])],
                [[2, 2, 2], [0, 2, 2], [0, 2, 2]]),
            ("twins", merged, &[("a", "0", &[1]), ("a", "0", &[2])], &[("a", "0", &[2]), ("a", "0", &[1])],
                [[1, 1, 1], [2, 2, 2], [2, 2, 2]]),
            // A repeated lane counts in the whole only.
            ("repeated lane", none, &[("a", "0", &[1, 1])], &[("a", "0", &[1])], [[1, 1, 1], [1, 1, 1], [1, 2, 1]]),
            ("repeated lane", merged, &[("a", "0", &[1, 1])], &[("a", "0", &[1])], [[1, 1, 1], [1, 1, 1], [1, 1, 1]]),
            ("repeated lane", key, &[("a", "0", &[1, 1])], &[("a", "0", &[1])], [[1, 1, 1], [1, 1, 1], [1, 1, 1]]),
        ];
        for (name, options, prediction, reference, expected) in cases {
            let (prediction, reference) = (clip(prediction), clip(reference));
            assert_eq!(
                counts(*options, &prediction, &reference),
                *expected,
                "{name}"
            );
        }
    }

    #[test]
    fn properties_and_classes() {
        // "a" is read as "b" on one right and one wrong lane, "b" is read right, "c" is missed.
        let prediction = clip(&[("b", "0", &[1, 9]), ("b", "1", &[2])]);
        let reference = clip(&[("a", "0", &[1]), ("b", "1", &[2]), ("c", "2", &[3])]);
        let metric = LaneCorrespondence::default();
        let state = metric.measure(&prediction, &reference);
        let accuracy = |name: &str| {
            let accuracy = state.properties[name].accuracy;
            (accuracy.correct, accuracy.total)
        };
        assert_eq!(accuracy("LaneType"), (1, 2));
        assert_eq!(accuracy("RuleIndex"), (2, 2));
        let confused: Vec<_> = state.properties["LaneType"].confused.iter().collect();
        assert_eq!(confused, [(&"a".to_owned(), &[("b".to_owned(), 1)].into())]);

        // Right and all predicted, right and all true.
        let classes: Vec<(&str, [[u64; 4]; 3])> = state
            .classes
            .iter()
            .map(|(name, parts)| {
                let counts = [parts.rule, parts.correspondence, parts.overall].map(|c| {
                    let (a, b) = (c.predicted, c.actual);
                    [a.correct, a.total, b.correct, b.total]
                });
                (name.as_str(), counts)
            })
            .collect();
        assert_eq!(
            classes,
            [
                ("a", [[0, 0, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1]]),
                ("b", [[1, 2, 1, 1], [2, 3, 1, 1], [1, 3, 1, 1]]),
                ("c", [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]]),
            ]
        );

        // Another policy, other readings; without the property no classes.
        let lenient = LaneCorrespondence {
            equality: Equality {
                fold_case: true,
                ..Equality::default()
            },
            ..metric.clone()
        };
        let shouted = clip(&[("A", "0", &[1])]);
        let whispered = clip(&[("a", "0", &[1])]);
        assert_eq!(
            metric
                .measure(&shouted, &whispered)
                .counts
                .rule
                .true_positives,
            0
        );
        let state = lenient.measure(&shouted, &whispered);
        assert_eq!(state.counts.overall, Counts::new(1, 0, 0));
        assert_eq!(state.classes.keys().collect::<Vec<_>>(), ["a"]);
        let ignoring = LaneCorrespondence {
            ignore: ["LaneType".to_owned()].into(),
            ..metric
        };
        let state = ignoring.measure(&prediction, &reference);
        assert_eq!(state.classes.len(), 0);
        assert_eq!(state.properties.keys().collect::<Vec<_>>(), ["RuleIndex"]);
    }

    #[test]
    fn lane_ids() {
        let of = |lane: &str| {
            Clip::new([("0", Rule::new(Properties::default(), [lane]))]).unwrap_or_default()
        };
        let integer = Clip::new([("0", Rule::new(Properties::default(), [7]))]).unwrap_or_default();
        let text: Options = |metric| metric.lane_ids = LaneIds::Text;
        for (options, lane, shared) in [
            ((|_| {}) as Options, "7", 0),
            (text, "7", 1),
            (text, "07", 0),
            (text, "+7", 0),
        ] {
            let [_, correspondence, overall] = counts(options, &of(lane), &integer);
            assert_eq!([correspondence, overall], [[shared, 1, 1]; 2], "{lane:?}");
        }
    }

    #[test]
    fn given_rules_have_no_score_of_their_own() {
        let metric = LaneCorrespondence {
            alignment: Alignment::Given,
            ..LaneCorrespondence::default()
        };
        let lanes = |rows: [(&str, &[i64]); 2]| {
            let rules = rows.map(|(id, lanes)| (id, Rule::of_lanes(lanes.iter().copied())));
            Clip::new(rules).unwrap_or_default()
        };
        // Rule "9" was not given: its lane is wrong.
        let prediction = lanes([("0", &[1, 1, 2]), ("9", &[3])]);
        let reference = lanes([("0", &[1]), ("1", &[3])]);
        let state = metric.measure(&prediction, &reference);
        assert_eq!(state.counts.correspondence, Counts::new(1, 2, 1));
        let score = metric.compute(&state);
        assert_eq!(score.micro.rule, Ratios::default());
        assert_eq!(score.micro.overall, Ratios::default());
        assert_eq!(score.rules_exact, None);
        assert_eq!(score.micro.correspondence.precision, Some(1.0 / 3.0));
        assert_eq!(score.by_clip.rule.f1.count, 0);
    }

    #[test]
    fn means_over_clips() {
        let metric = LaneCorrespondence::default();
        let (a, b) = (clip(&[("a", "0", &[1])]), clip(&[("b", "0", &[1])]));
        let mut state = metric.measure(&a, &a);
        state.merge(metric.measure(&b, &a));
        state.merge(metric.measure(&Clip::default(), &a));
        state.merge(metric.measure(&Clip::default(), &Clip::default()));
        let score = metric.compute(&state);
        let mean = |value, count| MacroAverage { value, count };
        assert_eq!(score.by_clip.rule.precision, mean(Some(0.5), 2));
        assert_eq!(score.by_clip.rule.recall, mean(Some(1.0 / 3.0), 3));
        assert_eq!(score.micro.rule.precision, Some(0.5));
        assert_eq!(score.micro.rule.recall, Some(1.0 / 3.0));
        assert_eq!(score.rules_exact, Some(0.5));
        assert_eq!(score.lanes_exact, Some(0.75));
        assert_eq!(score.both_exact, Some(0.5));
    }

    #[test]
    fn nothing_is_printed_as_0_and_counted_as_nothing() {
        let metric = LaneCorrespondence::default();
        let state = metric.measure(&Clip::default(), &Clip::default());
        assert_eq!(state.counts.rule.precision(), None);
        let zero = Ratios {
            precision: Some(0.0),
            recall: Some(0.0),
            f1: Some(0.0),
        };
        let score = metric.compute(&state);
        assert_eq!(score.micro.rule, zero);
        assert_eq!(score.by_clip.rule.f1.value, None);
        assert_eq!(score.rules_exact, Some(1.0));
        assert_eq!(metric.compute(&Default::default()).rules_exact, None);
    }

    #[test]
    fn choices_by_name() {
        fn check<T>(all: &[T])
        where
            T: Copy + PartialEq + std::fmt::Display + std::fmt::Debug + std::str::FromStr,
            T::Err: PartialEq + std::fmt::Debug,
        {
            for choice in all {
                assert_eq!(choice.to_string().parse(), Ok(*choice));
            }
            assert!("".parse::<T>().is_err());
        }
        check(LaneProfile::ALL);
        check(Alignment::ALL);
        check(LaneIds::ALL);
        check(Duplicates::ALL);
        check(Overall::ALL);
    }

    fn rules() -> impl Strategy<Value = Vec<Rule>> {
        let lane = prop_oneof![
            (0_i64..5).prop_map(LaneId::from),
            "[0-3]".prop_map(LaneId::from)
        ];
        let rule = (
            proptest::collection::btree_map("[abR]", 0_i64..2, 0..3),
            proptest::collection::vec(lane, 0..4),
        );
        let rule = rule
            .prop_map(|(says, lanes)| Rule::new(Properties::new(says).unwrap_or_default(), lanes));
        proptest::collection::vec(rule, 0..5)
    }

    /// The rules with ids starting at `start`, or going down from there.
    fn numbered(rules: &[Rule], start: usize, down: bool) -> Clip {
        let id = |index| {
            if down {
                format!("{:02}", start - index)
            } else {
                format!("{:02}", start + index)
            }
        };
        let rules = rules.iter().cloned().enumerate();
        Clip::new(rules.map(|(index, rule)| (id(index), rule))).unwrap_or_default()
    }

    fn metric() -> impl Strategy<Value = LaneCorrespondence> {
        let choices = (
            proptest::sample::select(Alignment::ALL),
            proptest::sample::select(LaneIds::ALL),
            proptest::sample::select(Duplicates::ALL),
            proptest::sample::select(Overall::ALL),
        );
        choices.prop_map(
            |(alignment, lane_ids, duplicates, overall)| LaneCorrespondence {
                alignment,
                lane_ids,
                duplicates,
                overall,
                ..LaneCorrespondence::default()
            },
        )
    }

    proptest! {
        #[test]
        fn ids_and_order_of_rules_do_not_matter(
            predicted in rules(), actual in rules(), metric in metric(), optimal in any::<bool>(),
            rotate in 0_usize..5,
        ) {
            // Where ids mean nothing, that is.
            let metric = LaneCorrespondence {
                alignment: if optimal { Alignment::Optimal } else { Alignment::Properties },
                overall: Overall::Pairs,
                ..metric
            };
            // Ids decide between alignments that are equally good, and the totals do not.
            let totals = |prediction: &Clip, reference: &Clip| CorrespondenceState {
                properties: BTreeMap::new(),
                classes: BTreeMap::new(),
                ..metric.measure(prediction, reference)
            };
            let given = totals(&numbered(&predicted, 0, false), &numbered(&actual, 0, false));
            let mut turned = actual.clone();
            turned.rotate_left(rotate.min(actual.len()));
            for rule in &mut turned {
                rule.lanes.reverse();
            }
            prop_assert_eq!(
                given,
                totals(&numbered(&predicted, 50, true), &numbered(&turned, 10, false))
            );
        }

        #[test]
        fn a_clip_against_itself_is_right(rules in rules(), metric in metric()) {
            let clip = numbered(&rules, 0, false);
            let state = metric.measure(&clip, &clip);
            for counts in [state.counts.rule, state.counts.correspondence, state.counts.overall] {
                prop_assert_eq!((counts.false_positives, counts.false_negatives), (0, 0));
            }
            if metric.alignment != Alignment::Given {
                prop_assert_eq!(state.scenes, Scenes { rules_exact: 1, lanes_exact: 1, both_exact: 1 });
            }
        }

        #[test]
        fn turning_an_example_around_swaps_precision_and_recall(
            predicted in rules(), actual in rules(), metric in metric(),
        ) {
            let (a, b) = (numbered(&predicted, 0, false), numbered(&actual, 0, false));
            let (there, back) = (metric.measure(&a, &b).counts, metric.measure(&b, &a).counts);
            let turned = |c: Counts| Counts::new(c.true_positives, c.false_negatives, c.false_positives);
            prop_assert_eq!(there.rule, turned(back.rule));
            prop_assert_eq!(there.correspondence, turned(back.correspondence));
            prop_assert_eq!(there.overall, turned(back.overall));
        }

        #[test]
        fn shards_do_not_matter(
            clips in proptest::collection::vec((rules(), rules()), 0..6), metric in metric(),
        ) {
            let clips: Vec<_> = clips.iter()
                .map(|(a, b)| (numbered(a, 0, false), numbered(b, 0, false).with_centerlines([1, 2, 3])))
                .collect();
            let pool = |clips: &[(Clip, Clip)]| {
                let mut state = CorrespondenceState::default();
                for (prediction, reference) in clips {
                    metric.update(&mut state, prediction, reference);
                }
                state
            };
            let single = clips.chunks(1).map(pool);
            prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&clips));
        }
    }
}
