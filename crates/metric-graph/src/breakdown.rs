//! The details that the total counts hide: which values of a property are confused with which, and the counts of each
//! class.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;

use metric_core::{Accuracy, fields, ratio};

use crate::{Parts, Properties, Rule, Value};

/// The property that says what class a rule is of.
pub(crate) const CLASS: &str = "LaneType";

/// The text that represents the value of a property that a rule does not have.
const ABSENT: &str = "absent";

/// The values read for one property, over the pairs of aligned rules in which at least one rule has
/// it.
///
/// ```
/// use metric_core::{Accuracy, Metric};
/// use metric_graph::{Clip, LaneCorrespondence, Properties, Rule};
///
/// let clip = |kind| Properties::new([("LaneType", kind)]).and_then(|says| Ok(Clip::new([("0", Rule::new(says, [7]))]).unwrap()));
/// let metric = LaneCorrespondence::default();
/// let state = metric.measure(&clip("EmergencyLane")?, &clip("BusLane")?);
/// let lane_type = &state.properties["LaneType"];
/// assert_eq!(lane_type.accuracy, Accuracy { correct: 0, total: 1 });
/// assert_eq!(lane_type.confused["BusLane"]["EmergencyLane"], 1);
/// # Ok::<(), metric_graph::DuplicateProperty>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyConfusion {
    /// The number of times it is correct.
    pub accuracy: Accuracy,
    /// The number of times each true value was read as each other value.
    ///
    /// Values are written as JSON, and strings without quotes unless they would be read as
    /// something else. A rule without the property has `absent`.
    pub confused: BTreeMap<String, BTreeMap<String, u64>>,
}

fields!(PropertyConfusion { accuracy, confused });

/// Adds a pair of aligned rules, property by property.
pub(crate) fn record_properties(
    properties: &mut BTreeMap<String, PropertyConfusion>,
    prediction: &Rule,
    reference: &Rule,
    ignore: &BTreeSet<String>,
) {
    let mut predicted = entries(prediction).peekable();
    let mut actual = entries(reference).peekable();
    // Nearly all names are known, in the same order, and need neither a search nor a copy.
    let mut known = properties.iter_mut().peekable();
    let mut new_ones = Vec::new();
    while let Some(name) = next_name(&mut predicted, &mut actual) {
        let of_name = |entry: &(&str, &Value)| entry.0 == name;
        let (a, b) = (predicted.next_if(of_name), actual.next_if(of_name));
        if ignore.contains(name) {
            continue;
        }
        while known.next_if(|(known, _)| known.as_str() < name).is_some() {}
        let [prediction, truth] = [a, b].map(|entry| entry.map(|entry| entry.1));
        match known.next_if(|(known, _)| *known == name) {
            Some((_, property)) => property.record(prediction, truth),
            None => new_ones.push((name, prediction, truth)),
        }
    }
    for (name, prediction, truth) in new_ones {
        let property = properties.entry(name.to_owned()).or_default();
        property.record(prediction, truth);
    }
}

impl PropertyConfusion {
    /// Counts the values of a pair of rules, `None` for one without the property.
    fn record(&mut self, prediction: Option<&Value>, truth: Option<&Value>) {
        let is_right = prediction == truth;
        self.accuracy.record(is_right);
        if is_right {
            return;
        }
        let [truth, prediction] = [truth, prediction].map(written);
        // Most values are not new, and need no copy.
        if let Some(times) = self
            .confused
            .get_mut(truth.as_ref())
            .and_then(|of_truth| of_truth.get_mut(prediction.as_ref()))
        {
            *times += 1;
            return;
        }
        let of_truth = self.confused.entry(truth.into_owned()).or_default();
        of_truth.insert(prediction.into_owned(), 1);
    }
}

fn entries(rule: &Rule) -> impl Iterator<Item = (&str, &Value)> {
    rule.properties.iter().flat_map(Properties::iter)
}

/// The smaller of the names that come next, of two lists by name.
fn next_name<'a>(
    a: &mut Peekable<impl Iterator<Item = (&'a str, &'a Value)>>,
    b: &mut Peekable<impl Iterator<Item = (&'a str, &'a Value)>>,
) -> Option<&'a str> {
    let names = [a.peek(), b.peek()];
    names.into_iter().flatten().map(|(name, _)| *name).min()
}

/// A value as it appears in tables: no two values look the same, and none looks like [`ABSENT`].
fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) if is_plain(text) => Cow::Borrowed(text),
        value => Cow::Owned(value.to_string()),
    }
}

/// A value as it appears in tables, or [`ABSENT`].
pub(crate) fn written(value: Option<&Value>) -> Cow<'_, str> {
    value.map_or(Cow::Borrowed(ABSENT), text)
}

/// Whether a string can appear without quotes: it is not another JSON value or the start of one.
fn is_plain(text: &str) -> bool {
    let other = matches!(
        text,
        "" | "null" | "true" | "false" | "NaN" | "inf" | "-inf"
    ) || text == ABSENT;
    !other
        && !text.starts_with(['"', '[', '{'])
        && !text
            .bytes()
            .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b))
        && !text.contains(char::is_control)
}

/// The class of a rule, as it appears in tables.
pub(crate) fn class(rule: &Rule) -> Cow<'_, str> {
    written(rule.properties.as_ref().and_then(|says| says.get(CLASS)))
}

/// The correct items of one class: for precision among those predicted to be of the class, for recall among those
/// that are.
///
/// The two differ in what they count as correct: a pair of a rule and a lane can be correct
/// although the rule was predicted to be of another class.
///
/// ```
/// use metric_core::Accuracy;
/// use metric_graph::ClassCounts;
///
/// // Two of four predicted pairs are correct, and one of two true ones was found.
/// let counts = ClassCounts {
///     predicted: Accuracy { correct: 2, total: 4 },
///     actual: Accuracy { correct: 1, total: 2 },
/// };
/// assert_eq!((counts.precision(), counts.recall()), (Some(0.5), Some(0.5)));
/// assert_eq!(counts.f1(), Some(0.5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// Items that were predicted to be of the class.
    pub predicted: Accuracy,
    /// Items that are of the class.
    pub actual: Accuracy,
}

impl ClassCounts {
    /// Returns the share of predictions of the class that are correct; undefined without
    /// predictions.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        self.predicted.value()
    }

    /// Returns the share of true items of the class that were found; undefined without true items.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        self.actual.value()
    }

    /// Returns the harmonic mean of precision and recall, 0 where nothing is correct; undefined
    /// where there is neither a predicted nor a true item.
    #[must_use]
    pub fn f1(&self) -> Option<f64> {
        let (predicted, actual) = (self.predicted, self.actual);
        // Where one side has no item of the class, nothing is right on the other.
        if predicted.correct == actual.correct || predicted.correct.min(actual.correct) == 0 {
            let hits = predicted.correct.min(actual.correct);
            return ratio(2 * hits, predicted.total + actual.total);
        }
        let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let hits = 2 * wide(predicted.correct, actual.correct);
        let all = wide(predicted.correct, actual.total) + wide(actual.correct, predicted.total);
        (all > 0).then(|| hits as f64 / all as f64)
    }
}

fields!(ClassCounts { predicted, actual });

/// One of the three parts.
pub(crate) type Part = fn(&mut Parts<ClassCounts>) -> &mut ClassCounts;

pub(crate) const RULE: Part = |parts| &mut parts.rule;
pub(crate) const CORRESPONDENCE: Part = |parts| &mut parts.correspondence;
pub(crate) const OVERALL: Part = |parts| &mut parts.overall;

/// The outcome of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    Predicted,
    Actual,
    RightPrediction,
    RightActual,
}

/// The classes of the rules of one example, with what is counted for each.
pub(crate) struct ClassTables<'a> {
    names: Vec<Cow<'a, str>>,
    /// The position of each rule's class in `names`.
    of_rule: Vec<usize>,
    tables: Vec<Parts<ClassCounts>>,
}

impl<'a> ClassTables<'a> {
    pub(crate) fn new(rules: impl Iterator<Item = &'a Rule>) -> Self {
        let mut names: Vec<Cow<'a, str>> = Vec::new();
        let of_rule = rules
            .map(class)
            .map(|class| {
                let known = names.iter().position(|name| *name == class);
                known.unwrap_or_else(|| {
                    names.push(class);
                    names.len() - 1
                })
            })
            .collect();
        let tables = vec![Parts::default(); names.len()];
        Self {
            names,
            of_rule,
            tables,
        }
    }

    /// Counts items for the class of a rule.
    pub(crate) fn add(&mut self, rule: usize, part: Part, found: Found, items: u64) {
        let index = self.of_rule.get(rule).copied();
        let Some(table) = index.and_then(|index| self.tables.get_mut(index)) else {
            return;
        };
        let counts = part(table);
        match found {
            Found::Predicted => counts.predicted.total += items,
            Found::Actual => counts.actual.total += items,
            Found::RightPrediction => counts.predicted.correct += items,
            Found::RightActual => counts.actual.correct += items,
        }
    }

    pub(crate) fn named(self) -> impl Iterator<Item = (Cow<'a, str>, Parts<ClassCounts>)> {
        self.names.into_iter().zip(self.tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Number;

    #[test]
    fn values_look_different() {
        let values = [
            Value::Null,
            true.into(),
            1.into(),
            1.5.into(),
            f64::NAN.into(),
            f64::INFINITY.into(),
            Number::from(u64::MAX).into(),
            "1".into(),
            "1.5".into(),
            "true".into(),
            "null".into(),
            "NaN".into(),
            "inf".into(),
            "".into(),
            "absent".into(),
            "\"1\"".into(),
            "[]".into(),
            "a\nb".into(),
            "a\\nb".into(),
            Value::from_iter(["1"]),
            Value::from_iter([1_i64]),
            Value::from_iter([""; 0]),
            Value::from_iter(["a", "b"]),
            Value::from_iter(["a\", \"b"]),
            Properties::default().into(),
        ];
        for (i, a) in values.iter().enumerate() {
            assert_ne!(text(a), ABSENT);
            for (j, b) in values.iter().enumerate() {
                assert_eq!(text(a) == text(b), i == j, "{a:?} {b:?}");
            }
        }
        assert_eq!(text(&"BusLane".into()), "BusLane");
        assert_eq!(text(&"07:00-09:00".into()), "07:00-09:00");
        assert_eq!(text(&"80".into()), "\"80\"");
        assert_eq!(text(&Value::from_iter(["b", "a"])), "[\"a\", \"b\"]");
    }

    #[test]
    fn f1_of_classes() {
        let of = |predicted: (u64, u64), actual: (u64, u64)| {
            let share = |(correct, total)| Accuracy { correct, total };
            ClassCounts {
                predicted: share(predicted),
                actual: share(actual),
            }
            .f1()
        };
        assert_eq!(of((0, 0), (0, 0)), None);
        assert_eq!(of((0, 3), (0, 0)), Some(0.0));
        assert_eq!(of((0, 0), (2, 3)), Some(0.0));
        // 2 * (1/2) * (2/2) / (1/2 + 2/2)
        assert_eq!(of((1, 2), (2, 2)), Some(2.0 / 3.0));
    }
}
