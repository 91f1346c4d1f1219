use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use unicase::UniCase;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::{Clip, List, Number, Properties, Rule, Value};

/// The condition under which two property values are equal: strictly, unless a switch says otherwise.
///
/// The strict policy, that of the reference implementation, treats values of the same type and
/// content as equal, regardless of the order of lists and maps. Each switch adds a step on the way
/// to a canonical form, and values are equal when their forms are; so equality remains an
/// equivalence, and the order of rules and clips has no effect.
///
/// ```
/// use metric_graph::{Equality, Form, Properties};
///
/// let equality = Equality::default().with_collapse_space(true).with_text_numbers(true).with_forms([("EffectiveTime".to_owned(), Form::Times)].into());
/// let a = Properties::new([("LaneType", "Bus  Lane "), ("HighSpeedLimit", "80"), ("EffectiveTime", "17:00-19:00;7:00-9:00")])?;
/// let b = Properties::new([("LaneType", "Bus Lane"), ("HighSpeedLimit", "80.0"), ("EffectiveTime", "07:00-09:00, 17:00-19:00")])?;
/// assert_ne!(a, b);
/// assert_eq!(equality.canonical(&a), equality.canonical(&b));
/// # Ok::<(), metric_graph::DuplicateProperty>(())
/// ```
///
/// An equality is read from the names of its switches, and printed as these: `none-is-absent`, `nfc`, `case`,
/// `space`, `text-numbers`, `list-sets`, and `times` for the property `EffectiveTime`; or `strict` without
/// any. Other [`forms`](Self::forms) have no name and are not printed.
///
/// ```
/// use metric_graph::Equality;
///
/// let equality: Equality = "space, case".parse()?;
/// assert!(equality.collapse_space && equality.fold_case);
/// assert_eq!(equality.to_string(), "case,space");
/// assert_eq!(Equality::default().to_string(), "strict");
/// # Ok::<(), metric_graph::UnknownLenience>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Equality {
    /// A property that is null or the string `None` is the same as one that is absent, and so is such
    /// an item of a list; MapDR writes a list of nothing as `["None"]`.
    pub none_is_absent: bool,
    /// Composed and decomposed letters are the same (Unicode NFC).
    pub nfc: bool,
    /// Case is ignored (Unicode full case folding).
    pub fold_case: bool,
    /// White space at the ends is ignored, and elsewhere its amount is.
    pub collapse_space: bool,
    /// A string that reads as a number is the number.
    pub text_numbers: bool,
    /// Lists are sets: how often they name a value does not matter.
    pub list_sets: bool,
    /// Properties that are compared as more than text, by name.
    pub forms: BTreeMap<String, Form>,
}

metric_core::setters!(Equality {
    with_none_is_absent => none_is_absent: bool,
    with_nfc => nfc: bool,
    with_fold_case => fold_case: bool,
    with_collapse_space => collapse_space: bool,
    with_text_numbers => text_numbers: bool,
    with_list_sets => list_sets: bool,
    with_forms => forms: BTreeMap<String, Form>,
});

/// The form of the values of a property, beyond text and numbers. A value that does not have the
/// form is compared unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Times of the day, `7:00-9:00;17:00-19:00`: intervals in any order, split by `;` or `,`,
    /// that are one where they meet, and two where they pass midnight. `24:00` is an end only.
    Times,
    /// A number, or a string of one, to the nearest multiple of the step, halves up. Two numbers
    /// that are nearer than the step can still round apart: a tolerance that depended on their
    /// distance alone would make a equal to b, b to c, but not a to c.
    Rounded(NonZeroU32),
}

impl Equality {
    /// Returns whether no switch is set.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the canonical form of properties: those that are equal have the same.
    #[must_use]
    pub fn canonical(&self, properties: &Properties) -> Properties {
        let entries = properties.shared_entries();
        let canonical = entries.filter_map(|(name, value)| {
            let form = self.forms.get(name.as_ref());
            let value = self.value(form.copied(), value);
            let absent = self.none_is_absent && self.is_none(&value);
            (!absent).then(|| (name.clone(), value))
        });
        Properties::of_sorted(canonical.collect())
    }

    /// The clip with its properties in canonical form.
    pub(crate) fn clip<'a>(&self, clip: &'a Clip) -> Cow<'a, Clip> {
        if self.is_strict() {
            return Cow::Borrowed(clip);
        }
        Cow::Owned(clip.map_rules(|rule| Rule {
            properties: rule.properties.as_ref().map(|says| self.canonical(says)),
            lanes: rule.lanes.clone(),
        }))
    }

    fn is_none(&self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(text) if self.fold_case => text == "none",
            Value::String(text) => text == "None",
            _ => false,
        }
    }

    fn value(&self, form: Option<Form>, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => of_number(form, *number),
            Value::String(text) => {
                let text = self.text(text.clone());
                match form {
                    Some(Form::Times) => times(&text).map_or(Value::String(text), Value::from),
                    Some(Form::Rounded(_)) => {
                        number(&text).map_or(Value::String(text), |number| of_number(form, number))
                    }
                    None if self.text_numbers => {
                        number(&text).map_or(Value::String(text), Value::Number)
                    }
                    None => Value::String(text),
                }
            }
            Value::List(list) => {
                let mut values: Vec<Value> = list
                    .values()
                    .iter()
                    .map(|value| self.value(form, value))
                    .filter(|value| !(self.none_is_absent && self.is_none(value)))
                    .collect();
                if self.list_sets {
                    values.sort_unstable();
                    values.dedup();
                }
                Value::List(List::from_iter(values))
            }
            Value::Map(properties) => Value::Map(self.canonical(properties)),
        }
    }

    fn text(&self, mut text: Cow<'static, str>) -> Cow<'static, str> {
        if self.nfc && !text.is_ascii() && !is_nfc(&text) {
            text = Cow::Owned(text.nfc().collect());
        }
        if self.fold_case {
            let folded = if text.is_ascii() {
                text.to_ascii_lowercase()
            } else {
                UniCase::unicode(text.as_ref()).to_folded_case()
            };
            text = Cow::Owned(folded);
            if self.nfc && !is_nfc(&text) {
                text = Cow::Owned(text.nfc().collect());
            }
        }
        if self.collapse_space {
            let words: Vec<&str> = text.split_whitespace().collect();
            let collapsed = words.join(" ");
            if collapsed != text {
                text = Cow::Owned(collapsed);
            }
        }
        text
    }
}

/// A switch of an [`Equality`] by its name.
type Lenience = (&'static str, fn(&mut Equality));

const LENIENCES: &[Lenience] = &[
    ("none-is-absent", |equality| equality.none_is_absent = true),
    ("nfc", |equality| equality.nfc = true),
    ("case", |equality| equality.fold_case = true),
    ("space", |equality| equality.collapse_space = true),
    ("text-numbers", |equality| equality.text_numbers = true),
    ("list-sets", |equality| equality.list_sets = true),
    ("times", |equality| {
        let time = "EffectiveTime".to_owned();
        equality.forms.insert(time, Form::Times);
    }),
];

impl FromStr for Equality {
    type Err = UnknownLenience;

    fn from_str(names: &str) -> Result<Self, UnknownLenience> {
        let mut equality = Self::default();
        if names == "strict" {
            return Ok(equality);
        }
        for name in names.split(',').map(str::trim) {
            let known = LENIENCES.iter().find(|(known, _)| *known == name);
            let (_, set) = known.ok_or_else(|| UnknownLenience {
                name: name.to_owned(),
            })?;
            set(&mut equality);
        }
        Ok(equality)
    }
}

impl fmt::Display for Equality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_set = |set: fn(&mut Self)| {
            let mut with = self.clone();
            set(&mut with);
            with == *self
        };
        let names: Vec<_> = LENIENCES
            .iter()
            .filter(|(_, set)| is_set(*set))
            .map(|(name, _)| *name)
            .collect();
        if names.is_empty() {
            f.write_str("strict")
        } else {
            f.write_str(&names.join(","))
        }
    }
}

/// A name that no switch of [`Equality`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownLenience {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownLenience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = LENIENCES.iter().map(|(name, _)| *name).collect();
        write!(f, "expected strict, or some of {}", names.join(", "))
    }
}

impl std::error::Error for UnknownLenience {}

fn of_number(form: Option<Form>, number: Number) -> Value {
    match form {
        Some(Form::Rounded(step)) => {
            let step = f64::from(step.get());
            Value::from((number.as_f64() / step + 0.5).floor() * step)
        }
        _ => Value::Number(number),
    }
}

/// The number that a text is, in decimals, with a sign or an exponent or without; white space around
/// it is ignored.
fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    let decimal = |c: u8| c.is_ascii_digit() || b"+-.eE".contains(&c);
    if !text.bytes().all(decimal) {
        return None;
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.into());
    }
    let real = text.parse::<f64>().ok();
    real.filter(|real| real.is_finite()).map(Number::from)
}

/// Times of the day in their usual form: sorted, merged, with two digits each.
fn times(text: &str) -> Option<String> {
    const DAY: u32 = 24 * 60;
    let minutes = |time: &str| -> Option<u32> {
        let (hours, minutes) = time.trim().split_once(':')?;
        let digits = |text: &str, most: usize| {
            let right =
                (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            right.then(|| text.parse::<u32>().ok()).flatten()
        };
        let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
        let all = hours * 60 + minutes;
        (minutes < 60 && all <= DAY).then_some(all)
    };
    let mut intervals = Vec::new();
    for part in text.split([';', ',']) {
        let (start, end) = part.split_once('-')?;
        let (start, end) = (minutes(start)?, minutes(end)?);
        match (start, end) {
            _ if start == end || start == DAY => return None,
            _ if start < end => intervals.push((start, end)),
            (start, 0) => intervals.push((start, DAY)),
            (start, end) => intervals.extend([(start, DAY), (0, end)]),
        }
    }
    intervals.sort_unstable();
    intervals.dedup_by(|next, last| {
        let meet = next.0 <= last.1;
        if meet {
            last.1 = last.1.max(next.1);
        }
        meet
    });
    let written = intervals.iter().map(|(start, end)| {
        let time = |all: u32| format!("{:02}:{:02}", all / 60, all % 60);
        format!("{}-{}", time(*start), time(*end))
    });
    Some(written.collect::<Vec<_>>().join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_and_otherwise() {
        let strict = Equality::default;
        type Switch = fn(&mut Equality);
        let rows: &[(Switch, Value, Value)] = &[
            (|e| e.nfc = true, "\u{e9}".into(), "e\u{301}".into()),
            (
                |e| e.fold_case = true,
                "STRASSE".into(),
                "Stra\u{df}e".into(),
            ),
            (
                |e| e.collapse_space = true,
                " a \u{3000} b".into(),
                "a b".into(),
            ),
            (|e| e.text_numbers = true, "80".into(), Value::from(80)),
            (
                |e| e.text_numbers = true,
                " 80.50".into(),
                Value::from(80.5),
            ),
            (|e| e.text_numbers = true, "1e2".into(), Value::from(100)),
            (
                |e| e.list_sets = true,
                Value::from_iter(["a", "b", "a"]),
                Value::from_iter(["b", "a"]),
            ),
            (
                |e| {
                    e.list_sets = true;
                    e.fold_case = true;
                },
                Value::from_iter(["A", "a"]),
                Value::from_iter(["a"]),
            ),
        ];
        for (switch, a, b) in rows {
            let of = |value: &Value| Properties::new([("x", value.clone())]).unwrap_or_default();
            let (a, b) = (of(a), of(b));
            let mut equality = strict();
            switch(&mut equality);
            assert!(!equality.is_strict());
            assert_ne!(strict().canonical(&a), strict().canonical(&b), "{a:?}");
            assert_eq!(equality.canonical(&a), equality.canonical(&b), "{a:?}");
        }
    }

    #[test]
    fn names_are_read_as_printed() {
        let all: Vec<_> = LENIENCES.iter().map(|(name, _)| *name).collect();
        let all = all.join(",");
        for names in ["strict", "case", "nfc,times", &all] {
            let equality: Equality = names.parse().expect(names);
            assert_eq!(equality.to_string(), names);
            assert_eq!(equality.is_strict(), names == "strict");
        }
        for (names, unknown) in [
            ("", ""),
            ("case,", ""),
            ("nfc,strict", "strict"),
            ("Case", "Case"),
        ] {
            let error = names.parse::<Equality>().expect_err(names);
            assert_eq!(error.name, unknown);
        }
        assert_eq!(
            "a".parse::<Equality>().expect_err("a").to_string(),
            "expected strict, or some of none-is-absent, nfc, case, space, text-numbers, list-sets, times"
        );
    }

    #[test]
    fn none_and_absent() {
        let equality = Equality {
            none_is_absent: true,
            ..Equality::default()
        };
        let of_nothing = [Value::from_iter(["None"]), Value::from_iter([Value::Null])];
        for list in of_nothing {
            let says = Properties::new([("x", list)]).unwrap_or_default();
            let empty = Properties::new([("x", Value::List(List::default()))]).unwrap_or_default();
            assert_eq!(equality.canonical(&says), equality.canonical(&empty));
        }
        for value in [Value::Null, "None".into()] {
            let says = Properties::new([("x", value)]).unwrap_or_default();
            assert_eq!(equality.canonical(&says), Properties::default());
        }
        let says = Properties::new([("x", "none")]).unwrap_or_default();
        assert_eq!(equality.canonical(&says), says);
        let folded = Equality {
            fold_case: true,
            ..equality
        };
        assert!(folded.canonical(&says).is_empty());
    }

    #[test]
    fn times_of_the_day() {
        let rows: &[(&str, Option<&str>)] = &[
            ("7:00-9:00", Some("07:00-09:00")),
            ("17:00-19:00; 07:00-09:00", Some("07:00-09:00;17:00-19:00")),
            ("07:00-09:00,08:30-10:00", Some("07:00-10:00")),
            ("07:00-09:00;09:00-10:00", Some("07:00-10:00")),
            ("22:00-6:00", Some("00:00-06:00;22:00-24:00")),
            ("22:00-00:00", Some("22:00-24:00")),
            ("0:00-24:00", Some("00:00-24:00")),
            ("07:00-07:00", None),
            ("24:00-07:00", None),
            ("07:60-08:00", None),
            ("25:00-26:00", None),
            ("7-9", None),
            ("07:00", None),
            ("+7:00-9:00", None),
            ("None", None),
            ("", None),
            ("07:00-09:00;", None),
        ];
        for (text, expected) in rows {
            assert_eq!(times(text).as_deref(), *expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_in_texts() {
        for text in ["", "None", "inf", "nan", "0x10", "1 2", "--1", "1e999", "."] {
            assert_eq!(number(text), None, "{text:?}");
        }
        let step = Form::Rounded(NonZeroU32::new(5).expect("not zero"));
        let equality = Equality {
            forms: [("x".to_owned(), step)].into(),
            ..Equality::default()
        };
        let rounded = |value: Value| equality.value(Some(step), &value);
        for (value, expected) in [(82.4, 80), (82.5, 85), (-2.5, 0), (-2.6, -5)] {
            assert_eq!(rounded(value.into()), Value::from(expected), "{value}");
            assert_eq!(rounded(value.to_string().into()), Value::from(expected));
        }
        assert_eq!(rounded("fast".into()), "fast".into());
    }
}
