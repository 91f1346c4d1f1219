//! Property values in canonical form: equal values are equal data.

use std::borrow::Cow;
use std::fmt;

/// A JSON property value in canonical form.
///
/// Two values are equal when they have the same type and, recursively, the same content: maps by
/// their keys whatever the order, [lists](List) as multisets, [numbers](Number) by value (80 equals
/// 80.0), strings by code points. `"80"` and 80, `"None"` and null, true and 1 are different.
/// The order of values has no meaning beyond being total.
///
/// ```
/// use metric_graph::Value;
///
/// let list = |items: &[&str]| Value::from_iter(items.iter().copied());
/// assert_eq!(list(&["GoStraight", "TurnLeft"]), list(&["TurnLeft", "GoStraight"]));
/// assert_ne!(list(&["GoStraight"]), list(&["GoStraight", "GoStraight"]));
/// assert_eq!(Value::from(80), Value::from(80.0));
/// assert_ne!(Value::from(80), Value::from("80"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// JSON's `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number.
    Number(Number),
    /// A string.
    String(Cow<'static, str>),
    /// Values without order.
    List(List),
    /// Named values.
    Map(Properties),
}

/// As JSON, with lists and maps in canonical order; numbers that JSON does not have are `NaN`, `inf`
/// and `-inf`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::String(text) => write_string(f, text),
            Self::List(list) => {
                f.write_str("[")?;
                for (index, value) in list.values().iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    write!(f, "{value}")?;
                }
                f.write_str("]")
            }
            Self::Map(properties) => {
                f.write_str("{")?;
                for (index, (name, value)) in properties.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    write_string(f, name)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<Number> for Value {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(shared(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(Cow::Owned(text))
    }
}

impl From<Properties> for Value {
    fn from(properties: Properties) -> Self {
        Self::Map(properties)
    }
}

impl<V: Into<Value>> FromIterator<V> for Value {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        Self::List(values.into_iter().collect())
    }
}

/// A number, equal to others by value: integers and reals are one type, as in Python's `json`.
///
/// Exact for all integers from −2^63 to 2^64 − 1; −0 is 0 and all NaN are one value.
///
/// ```
/// use metric_graph::Number;
///
/// assert_eq!(Number::from(80_i64), Number::from(80.0));
/// assert_ne!(Number::from(9_007_199_254_740_993_u64), Number::from(9_007_199_254_740_992.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(Form);

/// Each number has one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Form {
    Integer(i64),
    /// An integer above the range of `i64`.
    Large(u64),
    /// The bits of any other `f64`.
    Real(u64),
}

impl Number {
    /// Returns the nearest `f64`.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Form::Integer(value) => value as f64,
            Form::Large(value) => value as f64,
            Form::Real(bits) => f64::from_bits(bits),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Form::Integer(value) => write!(f, "{value}"),
            Form::Large(value) => write!(f, "{value}"),
            // An exponent where digits would go on and on.
            Form::Real(bits) => {
                let value = f64::from_bits(bits);
                if value.is_finite() && (value.abs() >= 1e17 || value.abs() < 1e-5) {
                    write!(f, "{value:e}")
                } else {
                    write!(f, "{value}")
                }
            }
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Form::Integer(value))
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(i64::try_from(value).map_or(Form::Large(value), Form::Integer))
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
        if value.fract() != 0.0 || !(-TWO_TO_63..2.0 * TWO_TO_63).contains(&value) {
            let value = if value.is_nan() { f64::NAN } else { value };
            Self(Form::Real(value.to_bits()))
        } else if value < TWO_TO_63 {
            Self::from(value as i64)
        } else {
            Self::from(value as u64)
        }
    }
}

/// Values without order, but with multiplicity: a multiset.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct List {
    /// Sorted.
    values: Vec<Value>,
}

impl List {
    /// Returns the values in canonical order.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

impl<V: Into<Value>> FromIterator<V> for List {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        let mut values: Vec<Value> = values.into_iter().map(Into::into).collect();
        values.sort_unstable();
        Self { values }
    }
}

/// Named values, each name once, in the order of the names: what a rule says.
///
/// ```
/// use metric_graph::Properties;
///
/// let rule = Properties::new([("LaneType", "BusLane"), ("EffectiveTime", "07:00-09:00")])?;
/// assert_eq!(rule, Properties::new([("EffectiveTime", "07:00-09:00"), ("LaneType", "BusLane")])?);
/// assert_eq!(rule.get("LaneType"), Some(&"BusLane".into()));
///
/// let twice = Properties::new([("LaneType", "BusLane"), ("LaneType", "DirectionLane")]);
/// assert_eq!(twice.unwrap_err().to_string(), "property \"LaneType\" is given twice");
/// # Ok::<(), metric_graph::DuplicateProperty>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Properties {
    /// Sorted by name, names unique.
    entries: Vec<(Cow<'static, str>, Value)>,
}

impl Properties {
    /// Returns the properties with these names and values, in any order.
    ///
    /// # Errors
    /// Returns an error if a name is given twice.
    pub fn new<N: AsRef<str>, V: Into<Value>>(
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, DuplicateProperty> {
        let entries = properties.into_iter();
        Self::from_entries(
            entries
                .map(|(name, value)| (shared(name.as_ref()), value.into()))
                .collect(),
        )
    }

    pub(crate) fn from_entries(
        mut entries: Vec<(Cow<'static, str>, Value)>,
    ) -> Result<Self, DuplicateProperty> {
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for neighbours in entries.windows(2) {
            if let [(name, _), (next, _)] = neighbours
                && name == next
            {
                let name = name.to_string();
                return Err(DuplicateProperty { name });
            }
        }
        Ok(Self { entries })
    }

    /// Entries in the order of their names, which are unique.
    pub(crate) fn of_sorted(entries: Vec<(Cow<'static, str>, Value)>) -> Self {
        Self { entries }
    }

    pub(crate) fn shared_entries(&self) -> impl Iterator<Item = &(Cow<'static, str>, Value)> {
        self.entries.iter()
    }

    /// Returns the value of the property `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let index = self
            .entries
            .binary_search_by(|entry| entry.0.as_ref().cmp(name));
        index
            .ok()
            .and_then(|index| self.entries.get(index))
            .map(|entry| &entry.1)
    }

    /// Iterates over the names and values, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries
            .iter()
            .map(|(name, value)| (name.as_ref(), value))
    }

    /// Returns the number of properties.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no properties.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The error for a property that is given twice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DuplicateProperty {
    /// Its name.
    pub name: String,
}

impl fmt::Display for DuplicateProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "property {:?} is given twice", self.name)
    }
}

impl std::error::Error for DuplicateProperty {}

macro_rules! words {
    ($($word:literal)*) => {
        /// The constant that equals a text, if it is one of MapDR's names of properties or of their closed values.
        /// A data set repeats them in every rule, and memory for each would take a tenth of the time.
        fn constant(text: &str) -> Option<&'static str> {
            Some(match text {
                $($word => $word,)*
                _ => return None,
            })
        }
    };
}

words! {
    "None" "RuleIndex" "0" "1" "2" "3" "4" "5" "6" "7" "8" "9"
    "LaneType" "DirectionLane" "BusLane" "SpeedLimitedLane" "NonMotorizedLane" "VariableDirectionLane"
    "EmergencyLane" "MultiOccupancyLane" "TidalFlowLane"
    "LaneDirection" "GoStraight" "TurnLeft" "TurnRight" "TurnAround" "Forbidden"
    "AllowedTransport" "Bus" "Non-Motor"
    "EffectiveDate" "Mon-Fri" "Weekend" "Holiday" "EffectiveTime"
    "HighSpeedLimit" "LowSpeedLimit" "40" "60" "70" "80" "90" "100" "120"
}

/// `text` as an owned string that may be a constant.
pub(crate) fn shared(text: &str) -> Cow<'static, str> {
    constant(text).map_or_else(|| Cow::Owned(text.to_owned()), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers that are equal in Python, in classes.
    #[test]
    fn numbers_by_value() {
        let classes: &[&[Number]] = &[
            &[Number::from(0_i64), 0_u64.into(), 0.0.into(), (-0.0).into()],
            &[80_i64.into(), 80_u64.into(), 80.0.into()],
            &[80.5.into()],
            &[(-80_i64).into(), (-80.0).into()],
            &[i64::MIN.into(), (-9_223_372_036_854_775_808.0).into()],
            &[i64::MAX.into(), 9_223_372_036_854_775_807_u64.into()],
            &[
                9_223_372_036_854_775_808_u64.into(),
                9_223_372_036_854_775_808.0.into(),
            ],
            &[u64::MAX.into()],
            &[18_446_744_073_709_551_616.0.into()],
            &[9_007_199_254_740_992.0.into()],
            &[9_007_199_254_740_993_i64.into()],
            &[f64::INFINITY.into()],
            &[f64::NEG_INFINITY.into()],
            &[f64::NAN.into(), (-f64::NAN).into()],
        ];
        for (i, class) in classes.iter().enumerate() {
            for (j, other) in classes.iter().enumerate() {
                for (a, b) in class.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
                    assert_eq!(a == b, i == j, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn types_are_told_apart() {
        let values = [
            Value::Null,
            Value::from(false),
            Value::from(true),
            Value::from(0_i64),
            Value::from(1_i64),
            Value::from(""),
            Value::from("None"),
            Value::from("1"),
            Value::from_iter([1_i64; 0]),
            Value::from_iter([1_i64]),
            Value::from(Properties::default()),
            // One letter by code points, composed and decomposed.
            Value::from("\u{e9}"),
            Value::from("e\u{301}"),
        ];
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(a == b, i == j, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn lists_in_lists_have_no_order() {
        let nested = |lists: &[&[i64]]| -> Value {
            let lists = lists.iter();
            lists
                .map(|list| Value::from_iter(list.iter().copied()))
                .collect()
        };
        assert_eq!(nested(&[&[1, 2], &[3]]), nested(&[&[3], &[2, 1]]));
        assert_ne!(nested(&[&[1, 2], &[3]]), nested(&[&[1], &[2, 3]]));
    }

    #[test]
    fn properties_inside_properties() {
        let inner = |a, b| Properties::new([(a, 1_i64), (b, 1)]).map(Value::from);
        let outer = |inner| Properties::new([("inner", inner)]);
        assert_eq!(
            inner("x", "y").and_then(outer),
            inner("y", "x").and_then(outer)
        );
        assert_eq!(
            inner("x", "x"),
            Err(DuplicateProperty {
                name: "x".to_owned()
            })
        );
    }

    proptest! {
        #[test]
        fn order_of_properties_does_not_matter(values in proptest::collection::btree_map("[a-e]{1,3}", 0_i64..3, 0..8)) {
            let forward = Properties::new(values.iter().map(|(name, value)| (name, *value)));
            let backward = Properties::new(values.iter().rev().map(|(name, value)| (name, *value)));
            prop_assert_eq!(&forward, &backward);
            let properties = forward.map_err(|e| TestCaseError::fail(e.to_string()))?;
            for (name, value) in &values {
                prop_assert_eq!(properties.get(name), Some(&Value::from(*value)));
            }
            prop_assert_eq!(properties.len(), values.len());
        }
    }
}
