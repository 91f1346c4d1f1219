use metric_core::named_choice;
use metric_record::json::{self, typed};
use metric_record::{FieldError, Kind, Message, Record, Value};

use super::{Centerlines, Unparsable};
use crate::{Alignment, Clip, Finding, FindingKind, LaneCorrespondence, Side};

/// The two clips of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clips {
    /// The prediction, if it can be read.
    pub prediction: Result<Clip, Unparsable>,
    /// The reference, with the centerlines of the map if they are known.
    pub reference: Clip,
}

/// The treatment of lanes that are not centerlines of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DanglingLanes {
    /// They count like any other, as in the reference implementation.
    #[default]
    Count,
    /// They are left out.
    Drop,
    /// They are an error.
    Error,
}

impl DanglingLanes {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::Count, Self::Drop, Self::Error];

    /// Returns the name of the choice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Drop => "drop",
            Self::Error => "error",
        }
    }
}

named_choice!(DanglingLanes, "dangling lanes");

/// Reads the two clips of a record.
///
/// The reference is the rules of a clip as in MapDR's label files. The field `data` next to it may be
/// MapDR's map, whose centerlines the lane ids are checked against. The prediction is rules too, or a text
/// that is JSON of them, which is what language models give; what cannot be read is
/// [unparsable](Clips::prediction), and a missing prediction is an empty clip. Rules need properties
/// (`attr_info`) except under [`Alignment::Given`].
///
/// ```
/// use metric_graph::LaneCorrespondence;
/// use metric_graph::read::{DanglingLanes, read_clips};
/// use metric_record::{Record, Value};
///
/// let label = r#"{"0": {"attr_info": {}, "centerline": [7]}}"#;
/// let map = r#"{"data": {"vector": {"7": {"type": "3"}}}}"#;
/// let predicted = r#""{\"0\": {\"attr_info\": {}, \"centerline\": [7, 9]}}""#;
/// let mut record = Record::new("a", Value::json(predicted), Value::json(label));
/// record.fields = Some(map);
///
/// let lanes = |clips: metric_graph::read::Clips| {
///     clips.prediction.map_or(0, |clip| clip.rules().map(|(_, rule)| rule.lanes.len()).sum())
/// };
/// let metric = LaneCorrespondence::default();
/// assert_eq!(lanes(read_clips(&mut record, &metric, DanglingLanes::Count)?), 2);
/// assert_eq!(lanes(read_clips(&mut record, &metric, DanglingLanes::Drop)?), 1);
/// let error = read_clips(&mut record, &metric, DanglingLanes::Error).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "prediction: rule \"0\": lane 9 is not a centerline of the map: expected one",
/// );
/// # Ok::<(), metric_record::FieldError>(())
/// ```
///
/// # Errors
///
/// Returns an error if the reference cannot be read or lacks properties that it needs, if `dangling` needs
/// the map and the record has none, or if a lane dangles under [`DanglingLanes::Error`].
pub fn read_clips(
    record: &mut Record<'_>,
    metric: &LaneCorrespondence,
    dangling: DanglingLanes,
) -> Result<Clips, FieldError> {
    let label = record.reference;
    let mut reference = if label.is_missing() {
        Clip::default()
    } else {
        let scanned = label.as_json().and_then(Clip::scan);
        match scanned {
            Some(clip) => clip,
            None => record.reference.read().map_err(FieldError::reference)?,
        }
    };
    if let Some(Centerlines(centerlines)) = centerlines(record.fields, label)? {
        reference = reference.with_centerlines(centerlines);
    }
    let needs_properties = metric.alignment != Alignment::Given;
    if needs_properties && let Some(rule) = without_properties(&reference) {
        let problem = Message::from(format!(
            "rule {rule:?} has no \"attr_info\": expected one in each rule, except under "
        ));
        return Err(FieldError::reference(
            problem.option("alignment", Alignment::Given.name()),
        ));
    }
    let prediction = prediction(&mut record.prediction).map_err(FieldError::prediction)?;
    let prediction = prediction.and_then(|clip| match without_properties(&clip) {
        Some(rule) if needs_properties => Err(Message::from(format!(
            "rule {rule:?} has no \"attr_info\", which only "
        ))
        .option("alignment", Alignment::Given.name())
        .text(" goes without")),
        _ => Ok(clip),
    });
    let clips = Clips {
        prediction: prediction.map_err(|reason| Unparsable {
            id: record.id.to_string(),
            reason,
        }),
        reference,
    };
    clips.with_lanes_of_the_map(metric, dangling)
}

impl Clips {
    fn with_lanes_of_the_map(
        self,
        metric: &LaneCorrespondence,
        dangling: DanglingLanes,
    ) -> Result<Self, FieldError> {
        if dangling == DanglingLanes::Count {
            return Ok(self);
        }
        let Self {
            prediction,
            reference,
        } = &self;
        if reference.centerlines().is_none() {
            let problem = Message::from(
                "no centerlines to compare lanes with: expected MapDR's `data` next to the rules, except under ",
            );
            let count = DanglingLanes::Count.name();
            return Err(FieldError::reference(
                problem.option("dangling-lanes", count),
            ));
        }
        if dangling == DanglingLanes::Drop {
            return Ok(Self {
                prediction: self
                    .prediction
                    .map(|clip| metric.without_dangling(&clip, &self.reference)),
                reference: metric.without_dangling(&self.reference, &self.reference),
            });
        }
        let empty = Clip::default();
        let findings = metric.findings(prediction.as_ref().unwrap_or(&empty), reference);
        let dangling = |finding: &Finding| finding.kind == FindingKind::Dangling;
        match findings.into_iter().find(dangling) {
            None => Ok(self),
            Some(Finding {
                side, rule, lane, ..
            }) => {
                let problem = format!(
                    "rule {rule:?}: lane {lane} is not a centerline of the map: expected one"
                );
                Err(match side {
                    Side::Prediction => FieldError::prediction(problem),
                    Side::Reference => FieldError::reference(problem),
                })
            }
        }
    }
}

/// Reads the predicted rules, or says why they are unparsable. The error is that of a record whose JSON does
/// not end.
fn prediction(value: &mut Value<'_>) -> Result<Result<Clip, Message>, String> {
    if value.is_missing() {
        return Ok(Ok(Clip::default()));
    }
    if let Some(clip) = value.as_json().and_then(Clip::scan) {
        return Ok(Ok(clip));
    }
    let json = value.to_json_or("null")?;
    let clip = match json::kind(&json) {
        Kind::Null => Err("null".to_owned()),
        Kind::String => json::string(&json).and_then(|text| typed(&text)),
        _ => typed(&json),
    };
    Ok(clip.map_err(Message::from))
}

fn without_properties(clip: &Clip) -> Option<&str> {
    clip.rules()
        .find(|(_, rule)| rule.properties.is_none())
        .map(|(id, _)| id)
}

/// Reads the centerlines of the clip's map, if MapDR's `data` is next to the label in the record.
fn centerlines(
    fields: Option<&str>,
    mut label: Value<'_>,
) -> Result<Option<Centerlines>, FieldError> {
    #[derive(serde::Deserialize)]
    struct Fields {
        data: Option<Centerlines>,
    }
    const DATA: &str = "\"data\"";
    // Most records have nothing next to the id and the label, and are not read twice.
    let Some(fields) = fields.filter(|fields| fields.contains(DATA)) else {
        return Ok(None);
    };
    let label = label.to_json_or("").map_err(FieldError::reference)?;
    if !outside(fields, &label).any(|part| part.contains(DATA)) {
        return Ok(None);
    }
    if let Some(data) = Centerlines::scan(fields) {
        return Ok(data);
    }
    let fields = typed::<Fields>(fields)
        .map_err(|problem| FieldError::reference(format!("\"data\": {problem}")))?;
    Ok(fields.data)
}

/// Returns the parts of `text` before and after `part`, which is in it; all of it if `part` is a copy.
fn outside<'a>(text: &'a str, part: &str) -> impl Iterator<Item = &'a str> {
    let start = part.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    let before = text.get(..start);
    let after = text.get(start.saturating_add(part.len())..);
    match (before, after) {
        (Some(before), Some(after)) => [before, after],
        _ => [text, ""],
    }
    .into_iter()
}

/// Returns whether a JSON value is one rule of a clip. In a file of one clip, the values by id are rules; in a file of
/// several, rules are one level further down.
///
/// ```
/// use metric_graph::read::is_rule;
///
/// assert!(is_rule(r#"{"attr_info": {}, "centerline": [7]}"#));
/// assert!(is_rule(r#"{"centerline": [7]}"#));
/// assert!(!is_rule(r#"{"0": {"attr_info": {}, "centerline": [7]}}"#));
/// ```
#[must_use]
pub fn is_rule(json: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct RuleKeys {
        #[serde(default)]
        attr_info: Option<serde::de::IgnoredAny>,
        #[serde(default)]
        centerline: Option<Vec<serde::de::IgnoredAny>>,
    }
    typed::<RuleKeys>(json).is_ok_and(|rule| rule.attr_info.is_some() || rule.centerline.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: &str = r#"{"0": {"attr_info": {"LaneType": "data"}, "centerline": [7]}}"#;

    fn read<'a>(prediction: Value<'a>, reference: &'a str) -> Result<Clips, String> {
        let mut record = Record::new("a", prediction, Value::json(reference));
        let metric = LaneCorrespondence::default();
        read_clips(&mut record, &metric, DanglingLanes::Count).map_err(|error| error.to_string())
    }

    fn reason(prediction: Value<'_>) -> Option<String> {
        let clips = read(prediction, LABEL).unwrap();
        let error = clips.prediction.err()?;
        assert_eq!(error.id, "a");
        Some(error.reason.to_string())
    }

    #[test]
    fn predictions_in_every_form() {
        let text = serde_json::to_string(LABEL).unwrap();
        for value in [
            Value::json(LABEL),
            Value::json(&text),
            Value::line(LABEL),
            Value::line(&text),
            Value::string(LABEL),
            Value::missing(),
        ] {
            assert_eq!(reason(value), None, "{value:?}");
        }
        let of_json = |json| reason(Value::json(json)).unwrap();
        assert_eq!(of_json("null"), "null");
        assert_eq!(
            of_json("[]"),
            "found a list, expected a map from rule ids to rules"
        );
        assert_eq!(of_json(r#""I see a bus lane.""#), "expected value");
        assert_eq!(
            of_json(r#"{"0": {"centerline": [7]}}"#),
            "rule \"0\" has no \"attr_info\", which only --alignment given goes without"
        );
        let mut prefix = Value::json_prefix("null, 1");
        assert_eq!(reason(prefix).as_deref(), Some("null"));
        assert!(prediction(&mut prefix).is_ok());
        assert_eq!(prefix.end(), Some(4));
    }

    #[test]
    fn references_must_be_readable() {
        let error = |reference| read(Value::missing(), reference).unwrap_err();
        assert_eq!(
            error(r#"{"0": {"centerline": [7]}}"#),
            "reference: rule \"0\" has no \"attr_info\": expected one in each rule, except under --alignment given"
        );
        assert_eq!(
            error("null"),
            "reference: found null, expected a map from rule ids to rules"
        );
        let given = LaneCorrespondence {
            alignment: Alignment::Given,
            ..LaneCorrespondence::default()
        };
        let reference = Value::json(r#"{"0": {"centerline": [7]}}"#);
        let mut record = Record::new("a", reference, reference);
        let clips = read_clips(&mut record, &given, DanglingLanes::Count).unwrap();
        assert_eq!(clips.prediction, Ok(clips.reference));
    }

    #[test]
    fn maps_next_to_the_label() {
        let metric = LaneCorrespondence::default();
        let map = |fields: &str, dangling| {
            // As in a file: the label is a part of the record.
            let start = fields.find(LABEL).unwrap();
            let label = Value::json_prefix(&fields[start..]);
            let mut record = Record::new("a", Value::missing(), label);
            record.fields = Some(fields);
            read_clips(&mut record, &metric, dangling).map_err(|error| error.to_string())
        };
        let alone = format!(r#"{{"id": "a", "reference": {LABEL}}}"#);
        let clips = map(&alone, DanglingLanes::Count).unwrap();
        assert_eq!(clips.reference.centerlines(), None);
        for dangling in [DanglingLanes::Drop, DanglingLanes::Error] {
            assert_eq!(
                map(&alone, dangling).unwrap_err(),
                "reference: no centerlines to compare lanes with: expected MapDR's `data` next to the rules, except under --dangling-lanes count"
            );
        }
        let other =
            format!(r#"{{"reference": {LABEL}, "data": {{"vector": {{"8": {{"type": "3"}}}}}}}}"#);
        assert_eq!(
            map(&other, DanglingLanes::Error).unwrap_err(),
            "reference: rule \"0\": lane 7 is not a centerline of the map: expected one"
        );
        let clips = map(&other, DanglingLanes::Drop).unwrap();
        let lanes = clips.reference.rule("0").map(|rule| rule.lanes.len());
        assert_eq!(lanes, Some(0));
        let broken = format!(r#"{{"data": 7, "reference": {LABEL}}}"#);
        assert_eq!(
            map(&broken, DanglingLanes::Count).unwrap_err(),
            "reference: \"data\": found the number `7`, expected a map with \"vector\""
        );
    }

    #[test]
    fn names_are_read_as_printed() {
        for choice in DanglingLanes::ALL {
            assert_eq!(choice.to_string().parse(), Ok(*choice));
        }
    }
}
