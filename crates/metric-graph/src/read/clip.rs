//! Reading clips from MapDR's files, with errors that name the position.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use metric_record::json::scan::Scanner;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess,
    Unexpected, Visitor,
};

use crate::scan::{list_of, once};
use crate::value::shared;
use crate::{Clip, LaneId, List, Number, Properties, Rule, Value};

/// A label: the rules of a clip by id.
///
/// `{"0": {"attr_info": {"LaneType": "BusLane"}, "centerline": [7]}}`
///
/// ```
/// use metric_graph::Clip;
///
/// let clip: Clip = serde_json::from_str(r#"{"0": {"attr_info": {"LaneType": "BusLane"}, "centerline": [7]}}"#)?;
/// assert_eq!(clip.rule("0").map(|rule| rule.lanes.as_slice()), Some([7.into()].as_slice()));
///
/// let error = serde_json::from_str::<Clip>(r#"{"0": {"centerline": 7}}"#).unwrap_err();
/// assert!(error.to_string().starts_with(
///     "invalid type: integer `7`, expected a list of lane ids in \"centerline\" of rule \"0\""
/// ));
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<'de> Deserialize<'de> for Clip {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ClipVisitor)
    }
}

impl Clip {
    /// Reads a label as nearly all are written; `None` if something is wrong, or rare.
    pub(super) fn scan(label: &str) -> Option<Self> {
        let mut rules = Vec::new();
        let mut scanner = Scanner::new(label);
        scanner.object(|scanner, id| {
            rules.push((id.to_owned(), scan_rule(scanner)?));
            Some(())
        })?;
        if !scanner.is_at_end() {
            return None;
        }
        Self::new(rules).ok()
    }
}

fn scan_rule(scanner: &mut Scanner<'_>) -> Option<Rule> {
    let (mut properties, mut lanes) = (None, None);
    scanner.object(|scanner, field| match field {
        "attr_info" => once(&mut properties, scan_properties(scanner)),
        "centerline" => once(&mut lanes, list_of(scanner, scan_lane)),
        _ => scanner.skip_value(),
    })?;
    Some(Rule {
        properties,
        lanes: lanes?,
    })
}

/// Scans properties that are strings, integers or lists of these.
fn scan_properties(scanner: &mut Scanner<'_>) -> Option<Properties> {
    let mut entries = Vec::with_capacity(PROPERTIES);
    scanner.object(|scanner, name| {
        let value = match scanner.peek()? {
            b'[' => list_of(scanner, scan_single)?.into_iter().collect(),
            _ => scan_single(scanner)?,
        };
        entries.push((shared(name), value));
        Some(())
    })?;
    Properties::from_entries(entries).ok()
}

fn scan_single(scanner: &mut Scanner<'_>) -> Option<Value> {
    match scanner.peek()? {
        b'"' => scanner.string().map(Value::from),
        _ => scanner.integer().map(Value::from),
    }
}

fn scan_lane(scanner: &mut Scanner<'_>) -> Option<LaneId> {
    Some(match scanner.peek()? {
        b'"' => scanner.string()?.into(),
        _ => scanner.integer()?.into(),
    })
}

/// The number of properties of MapDR's rules.
const PROPERTIES: usize = 8;

struct ClipVisitor;

impl<'de> Visitor<'de> for ClipVisitor {
    type Value = Clip;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from rule ids to rules")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Clip, A::Error> {
        let mut rules = Vec::new();
        while let Some(id) = map.next_key::<String>()? {
            let rule = map.next_value_seed(RuleSeed(&id))?;
            rules.push((id, rule));
        }
        Clip::new(rules).map_err(A::Error::custom)
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum RuleField {
    AttrInfo,
    Centerline,
    #[serde(other)]
    Other,
}

/// Reads the rule with this id.
struct RuleSeed<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for RuleSeed<'_> {
    type Value = Rule;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Rule, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RuleSeed<'_> {
    type Value = Rule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a map with \"attr_info\" and \"centerline\" for rule {:?}",
            self.0
        )
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Rule, A::Error> {
        let mut properties = None;
        let mut lanes = None;
        let once = |first: bool, field: &str| {
            let twice = || A::Error::custom(format!("rule {:?}: {field:?} is given twice", self.0));
            first.then_some(()).ok_or_else(twice)
        };
        while let Some(field) = map.next_key()? {
            match field {
                RuleField::AttrInfo => {
                    once(properties.is_none(), "attr_info")?;
                    properties = Some(map.next_value_seed(PropertiesSeed(self.0))?);
                }
                RuleField::Centerline => {
                    once(lanes.is_none(), "centerline")?;
                    lanes = Some(map.next_value_seed(LanesSeed(self.0))?);
                }
                RuleField::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let lanes = lanes
            .ok_or_else(|| A::Error::custom(format!("rule {:?}: no \"centerline\"", self.0)))?;
        Ok(Rule { properties, lanes })
    }
}

/// Reads the properties of the rule with this id.
struct PropertiesSeed<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for PropertiesSeed<'_> {
    type Value = Properties;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Properties, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PropertiesSeed<'_> {
    type Value = Properties;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a map of properties in \"attr_info\" of rule {:?}",
            self.0
        )
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Properties, A::Error> {
        Properties::from_entries(entries(map)?)
            .map_err(|e| A::Error::custom(format!("rule {:?}: {e}", self.0)))
    }
}

fn entries<'de, A: MapAccess<'de>>(
    mut map: A,
) -> Result<Vec<(Cow<'static, str>, Value)>, A::Error> {
    let mut entries = Vec::with_capacity(PROPERTIES);
    while let Some(name) = map.next_key::<Name>()? {
        entries.push((name.0, map.next_value()?));
    }
    Ok(entries)
}

/// The name of a property.
struct Name(Cow<'static, str>);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a property name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
        Ok(Name(shared(name)))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a property value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Number::from(value).into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values: Vec<Value> = Vec::new();
        while let Some(value) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::List(List::from_iter(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        let properties = Properties::from_entries(entries(map)?).map_err(A::Error::custom)?;
        Ok(properties.into())
    }
}

/// Reads the lanes of the rule with this id.
struct LanesSeed<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for LanesSeed<'_> {
    type Value = Vec<LaneId>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for LanesSeed<'_> {
    type Value = Vec<LaneId>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a list of lane ids in \"centerline\" of rule {:?}",
            self.0
        )
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut lanes = Vec::new();
        while let Some(lane) = items.next_element_seed(LaneSeed(self.0))? {
            lanes.push(lane);
        }
        Ok(lanes)
    }
}

/// Reads a lane of the rule with this id.
struct LaneSeed<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for LaneSeed<'_> {
    type Value = LaneId;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<LaneId, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for LaneSeed<'_> {
    type Value = LaneId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a lane id, a 64-bit integer or a string, in \"centerline\" of rule {:?}",
            self.0
        )
    }

    fn visit_i64<E: Error>(self, id: i64) -> Result<LaneId, E> {
        Ok(id.into())
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<LaneId, E> {
        let integer = i64::try_from(id).map(LaneId::Integer);
        integer.map_err(|_| E::invalid_value(Unexpected::Unsigned(id), &self))
    }

    /// 7.0 is 7, as in Python.
    fn visit_f64<E: Error>(self, id: f64) -> Result<LaneId, E> {
        let integer = id as i64; // saturates
        if integer as f64 == id && integer != i64::MAX {
            Ok(integer.into())
        } else {
            Err(E::invalid_value(Unexpected::Float(id), &self))
        }
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<LaneId, E> {
        Ok(id.into())
    }
}

/// The centerlines of a clip, read from its map (MapDR's `data.json`): the keys of `vector` whose
/// `type` is `"3"`.
///
/// The keys of a JSON object are strings where the labels have integers, so they are read with
/// [`LaneId::from_key`].
///
/// ```
/// use metric_graph::{Centerlines, Clip};
///
/// let map = r#"{"vector": {"7": {"type": "3", "vec_geo": []}, "8": {"type": "1"}}}"#;
/// let Centerlines(centerlines) = serde_json::from_str(map)?;
/// let clip = Clip::default().with_centerlines(centerlines);
/// assert_eq!(clip.centerlines(), Some(&[7.into()].into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Centerlines(pub BTreeSet<LaneId>);

impl Centerlines {
    /// Reads the centerlines of the map that is the field `data` of a record; `None` if something is wrong, or
    /// rare.
    pub(super) fn scan(record: &str) -> Option<Option<Self>> {
        let mut data = None;
        let mut scanner = Scanner::new(record);
        scanner.object(|scanner, field| match field {
            "data" if data.is_some() => None,
            "data" => {
                data = Some(Self(scan_map(scanner)?));
                Some(())
            }
            _ => scanner.skip_value(),
        })?;
        scanner.is_at_end().then_some(data)
    }
}

/// Scans the ids of the centerlines of a map.
fn scan_map(scanner: &mut Scanner<'_>) -> Option<BTreeSet<LaneId>> {
    let mut centerlines = None;
    scanner.object(|scanner, field| match field {
        "vector" if centerlines.is_some() => None,
        "vector" => {
            let ids = centerlines.insert(BTreeSet::new());
            scanner.object(|scanner, id| {
                let mut is_centerline = None;
                scanner.object(|scanner, field| match field {
                    "type" if is_centerline.is_some() => None,
                    "type" => {
                        is_centerline = Some(scanner.string()? == CENTERLINE);
                        Some(())
                    }
                    _ => scanner.skip_value(),
                })?;
                if is_centerline? {
                    ids.insert(LaneId::from_key(id));
                }
                Some(())
            })
        }
        _ => scanner.skip_value(),
    })?;
    centerlines
}

/// The type of the vectors that are centerlines.
const CENTERLINE: &str = "3";

impl<'de> Deserialize<'de> for Centerlines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor).map(Self)
    }
}

struct MapVisitor;

impl<'de> Visitor<'de> for MapVisitor {
    type Value = BTreeSet<LaneId>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map with \"vector\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        #[derive(serde::Deserialize)]
        #[serde(field_identifier, rename_all = "snake_case")]
        enum Field {
            Vector,
            #[serde(other)]
            Other,
        }
        let mut centerlines = None;
        while let Some(field) = map.next_key()? {
            match field {
                Field::Vector if centerlines.is_some() => {
                    return Err(A::Error::custom("\"vector\" is given twice"));
                }
                Field::Vector => centerlines = Some(map.next_value_seed(VectorsSeed)?),
                Field::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        centerlines.ok_or_else(|| A::Error::custom("no \"vector\" in the map"))
    }
}

/// Reads which vectors are centerlines.
struct VectorsSeed;

impl<'de> DeserializeSeed<'de> for VectorsSeed {
    type Value = BTreeSet<LaneId>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for VectorsSeed {
    type Value = BTreeSet<LaneId>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from vector ids to vectors in \"vector\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut centerlines = BTreeSet::new();
        while let Some(id) = map.next_key::<String>()? {
            if map.next_value_seed(VectorSeed(&id))? {
                centerlines.insert(LaneId::from_key(&id));
            }
        }
        Ok(centerlines)
    }
}

/// Reads whether the vector with this id is a centerline.
struct VectorSeed<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for VectorSeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for VectorSeed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a map with \"type\" for vector {:?}", self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        #[derive(serde::Deserialize)]
        #[serde(field_identifier, rename_all = "snake_case")]
        enum Field {
            Type,
            #[serde(other)]
            Other,
        }
        let mut is_centerline = None;
        while let Some(field) = map.next_key()? {
            match field {
                Field::Type if is_centerline.is_some() => {
                    let twice = format!("vector {:?}: \"type\" is given twice", self.0);
                    return Err(A::Error::custom(twice));
                }
                Field::Type => is_centerline = Some(map.next_value_seed(TypeSeed(self.0))?),
                Field::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        is_centerline
            .ok_or_else(|| A::Error::custom(format_args!("vector {:?}: no \"type\"", self.0)))
    }
}

/// Reads whether the type of the vector with this id is that of centerlines.
struct TypeSeed<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for TypeSeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for TypeSeed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string in \"type\" of vector {:?}", self.0)
    }

    fn visit_str<E: Error>(self, of: &str) -> Result<bool, E> {
        Ok(of == CENTERLINE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Value;

    #[test]
    fn reads_what_labels_have() {
        let label = r#"{"b": {"centerline": [7, "7", 7.0], "semantic_polygon": [[1, 2]]},
            "a": {"attr_info": {"x": null, "y": [true, 80, 80.0, {"k": "v"}], "n": 1e2}, "centerline": []}}"#;
        let clip: Clip = serde_json::from_str(label).unwrap_or_default();
        assert_eq!(
            clip.rules().map(|(id, _)| id).collect::<Vec<_>>(),
            ["a", "b"]
        );
        let lanes = clip.rule("b").map(|rule| rule.lanes.clone());
        assert_eq!(lanes, Some(vec![7.into(), "7".into(), 7.into()]));
        let inner = Properties::new([("k", "v")]).unwrap_or_default();
        let list = [inner.into(), 80.into(), true.into(), Value::from(80)];
        let expected = Properties::new([
            ("n", Value::from(100)),
            ("x", Value::Null),
            ("y", list.into_iter().collect()),
        ]);
        let properties = clip.rule("a").and_then(|rule| rule.properties.clone());
        assert_eq!(properties, expected.ok());
        assert_eq!(
            clip.rule("b").and_then(|rule| rule.properties.clone()),
            None
        );
    }

    /// A label, which the scanner leaves to serde_json or reads as it does.
    fn label() -> impl Strategy<Value = String> {
        let single = prop_oneof![
            4 => Just("\"None\""), 2 => Just("80"), 2 => Just("\"BusLane\""), 1 => Just("-1"), 1 => Just("1.5"),
            1 => Just("null"), 1 => Just("{}"), 1 => Just("\"\\u00e9\""), 1 => Just("\"\""), 1 => Just("-0"),
        ];
        let list = proptest::collection::vec(single.clone(), 0..3);
        let list = list.prop_map(|items| format!("[{}]", items.join(", ")));
        let value = prop_oneof![2 => single.prop_map(str::to_owned), 1 => list.clone()];
        let name = prop_oneof![
            Just("LaneType"),
            Just("RuleIndex"),
            Just("x"),
            Just("\\u0078")
        ];
        let properties = proptest::collection::vec((name, value), 0..3).prop_map(|entries| {
            let entries = entries
                .iter()
                .map(|(name, value)| format!("\"{name}\":{value}"));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        });
        let field = prop_oneof![
            4 => properties.prop_map(|it| format!("\"attr_info\": {it}")),
            4 => list.prop_map(|it| format!("\"centerline\":{it}")),
            1 => Just("\"other\":[[1, 2], {\"a\": null}]".to_owned()),
        ];
        let rule = proptest::collection::vec(field, 0..4).prop_map(|fields| fields.join(","));
        let id = prop_oneof![Just("0"), Just("1"), Just("a"), Just("\\n")];
        proptest::collection::vec((id, rule), 0..4).prop_map(|rules| {
            let rules = rules
                .iter()
                .map(|(id, rule)| format!("\"{id}\": {{{rule}}}"));
            format!("{{{}}}", rules.collect::<Vec<_>>().join(", "))
        })
    }

    proptest! {
        #[test]
        fn scans_what_serde_reads(label in label(), end in 0_usize..40) {
            let cut = label.get(..label.len().saturating_sub(end)).unwrap_or_default();
            for text in [label.as_str(), cut] {
                if let Some(scanned) = Clip::scan(text) {
                    prop_assert_eq!(serde_json::from_str(text).ok(), Some(scanned), "{}", text);
                }
            }
        }
    }

    #[test]
    fn labels_as_mapdr_writes_them_are_scanned() {
        let label = r#"{"0": {"attr_info": {"LaneType": "BusLane", "LaneDirection": ["None", "TurnLeft"],
            "HighSpeedLimit": 80}, "centerline": [7, "8"], "semantic_polygon": [[1.5, 2]]}, "1": {"centerline": []}}"#;
        let clip: Clip = serde_json::from_str(label).unwrap_or_default();
        assert_eq!(clip.len(), 2);
        assert_eq!(Clip::scan(label), Some(clip));
    }

    #[test]
    fn strings_with_escapes() {
        let clip: Clip = serde_json::from_str(
            r#"{"\u0061": {"attr_info": {"\u0062": "\u00e9"}, "centerline": ["\n"]}}"#,
        )
        .unwrap_or_default();
        let rule = Rule::new(Properties::new([("b", "é")]).unwrap_or_default(), ["\n"]);
        assert_eq!(clip.rule("a"), Some(&rule));
    }

    #[test]
    fn errors_say_where() {
        let rows: &[(&str, &str)] = &[
            (
                "[]",
                "invalid type: sequence, expected a map from rule ids to rules",
            ),
            (
                "null",
                "invalid type: null, expected a map from rule ids to rules",
            ),
            (
                r#"{"0": 1}"#,
                r#"invalid type: integer `1`, expected a map with "attr_info" and "centerline" for rule "0""#,
            ),
            (r#"{"0": {}}"#, r#"rule "0": no "centerline""#),
            (
                r#"{"0": {"centerline": null}}"#,
                r#"invalid type: null, expected a list of lane ids in "centerline" of rule "0""#,
            ),
            (
                r#"{"0": {"centerline": [1, null]}}"#,
                r#"invalid type: null, expected a lane id, a 64-bit integer or a string, in "centerline" of rule "0""#,
            ),
            (
                r#"{"0": {"centerline": [7.5]}}"#,
                r#"invalid value: floating point `7.5`, expected a lane id, a 64-bit integer or a string, in "centerline" of rule "0""#,
            ),
            (
                r#"{"0": {"centerline": [9223372036854775808]}}"#,
                r#"invalid value: integer `9223372036854775808`, expected a lane id, a 64-bit integer or a string, in "centerline" of rule "0""#,
            ),
            (
                r#"{"0": {"attr_info": [], "centerline": []}}"#,
                r#"invalid type: sequence, expected a map of properties in "attr_info" of rule "0""#,
            ),
            (
                r#"{"0": {"attr_info": {"a": 1, "a": 1}, "centerline": []}}"#,
                r#"rule "0": property "a" is given twice"#,
            ),
            (
                r#"{"0": {"attr_info": {"a": {"b": 1, "b": 1}}, "centerline": []}}"#,
                r#"property "b" is given twice"#,
            ),
            (
                r#"{"0": {"centerline": [], "centerline": []}}"#,
                r#"rule "0": "centerline" is given twice"#,
            ),
            (
                r#"{"0": {"attr_info": {}, "attr_info": {}, "centerline": []}}"#,
                r#"rule "0": "attr_info" is given twice"#,
            ),
            (
                r#"{"0": {"centerline": []}, "0": {"centerline": []}}"#,
                r#"rule "0" is given twice"#,
            ),
        ];
        for (label, expected) in rows {
            let error = serde_json::from_str::<Clip>(label).map_err(|e| e.to_string());
            let error = error.err().unwrap_or_default();
            // The reader of the format adds the line and column.
            assert!(
                error.starts_with(&format!("{expected} at line 1")),
                "{label}: {error}"
            );
        }
    }

    #[test]
    fn states_survive_being_written() {
        use metric_core::{Metric, from_bytes, to_bytes};

        let metric = crate::LaneCorrespondence::default();
        let clip = Clip::new([("0", Rule::of_lanes([1, 1]))]).unwrap_or_default();
        let state = metric.measure(&clip, &Clip::default());
        assert_eq!(from_bytes(&to_bytes(&state)), Ok(state));
    }

    #[test]
    fn maps_without_centerlines() {
        let read = |map: &str| serde_json::from_str::<Centerlines>(map).map(|lines| lines.0.len());
        assert_eq!(
            read(r#"{"vector": {}, "traffic_board_pose": []}"#).ok(),
            Some(0)
        );
        assert_eq!(
            read(r#"{"vector": {"x": {"type": "3"}, "1": {"type": "2"}}}"#).ok(),
            Some(1)
        );
        for (map, expected) in [
            (
                "7",
                "invalid type: integer `7`, expected a map with \"vector\"",
            ),
            ("{}", "no \"vector\" in the map"),
            (
                r#"{"vector": []}"#,
                r#"invalid type: sequence, expected a map from vector ids to vectors in "vector""#,
            ),
            (
                r#"{"vector": {"x": 3}}"#,
                r#"invalid type: integer `3`, expected a map with "type" for vector "x""#,
            ),
            (r#"{"vector": {"x": {}}}"#, r#"vector "x": no "type""#),
            (
                r#"{"vector": {"x": {"type": 3}}}"#,
                r#"invalid type: integer `3`, expected a string in "type" of vector "x""#,
            ),
            (
                r#"{"vector": {"x": {"type": "3", "type": "3"}}}"#,
                r#"vector "x": "type" is given twice"#,
            ),
            (
                r#"{"vector": {}, "vector": {}}"#,
                r#""vector" is given twice"#,
            ),
        ] {
            let error = read(map).err().map(|error| error.to_string());
            let error = error.unwrap_or_default();
            assert!(
                error.starts_with(&format!("{expected} at line 1")),
                "{map}: {error}"
            );
        }
    }
}
