//! Reading frames in the form of OpenLane-V2's files, with errors that name the position.

use std::fmt;
use std::marker::PhantomData;

use metric_record::json::scan::Scanner;
use metric_record::json::typed;
use metric_record::{FieldError, Record, Value};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::frame::{
    Detected, Frame, FramePrediction, InvalidFrame, List, Topology, TrafficElement, check_ids,
};
use crate::scan::{list_of, once};
use crate::{InvalidPolyline, Polyline};

/// The ground truth of a frame, as in OpenLane-V2's `annotation`: `lane_centerline`,
/// `traffic_element`, `topology_lclc` and `topology_lcte`. Other fields are left out.
///
/// The id is stored next to the frame; add it with [`Frame::with_id`]. A topology without entries,
/// for lack of lanes or elements, may be an empty list.
///
/// ```
/// use metric_graph::openlane::Frame;
///
/// let frame: Frame = serde_json::from_str(r#"{
///     "lane_centerline": [{"id": 7, "points": [[0, 0, 0], [5, 0, 0]]}],
///     "traffic_element": [{"id": 8, "attribute": 1, "points": [[10, 10], [20, 20]]}],
///     "topology_lclc": [[0]],
///     "topology_lcte": [[1]]
/// }"#)?;
/// assert_eq!(frame.lanes()[0].length(), 5.0);
///
/// let error = serde_json::from_str::<Frame>(r#"{
///     "lane_centerline": [{"id": 7, "points": [[0, 0, 0], [5, 0]]}],
///     "traffic_element": [], "topology_lclc": [[0]], "topology_lcte": [[]]
/// }"#).unwrap_err();
/// let expected = "lane_centerline[0]: point 1: expected 3 coordinates, found 2 at line 2";
/// assert!(error.to_string().starts_with(expected));
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<'de> Deserialize<'de> for Frame {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(raw) = Object::<RawFrame>::deserialize(deserializer)?;
        raw.frame().map_err(D::Error::custom)
    }
}

/// The prediction for a frame, as in OpenLane-V2's `predictions`: as [`Frame`], with a `confidence`
/// in each lane and element.
impl<'de> Deserialize<'de> for FramePrediction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(raw) = Object::<RawFrame>::deserialize(deserializer)?;
        raw.prediction().map_err(D::Error::custom)
    }
}

/// Reads the prediction and the ground truth of a record. The frame has the id of the record, and a missing
/// prediction has no lanes and no elements.
///
/// ```
/// use metric_graph::openlane::read_frame;
/// use metric_record::{Record, Value};
///
/// let truth = r#"{
///     "lane_centerline": [{"id": 7, "points": [[0, 0, 0], [5, 0, 0]]}], "traffic_element": [],
///     "topology_lclc": [[0]], "topology_lcte": [[]]
/// }"#;
/// let (prediction, frame) = read_frame(&mut Record::new("a", Value::missing(), Value::json(truth)))?;
/// assert_eq!((prediction.lanes().len(), frame.lanes().len(), frame.id()), (0, 1, "a"));
/// # Ok::<(), metric_record::FieldError>(())
/// ```
///
/// # Errors
///
/// Returns an error if the reference is not a [`Frame`], or the prediction not a [`FramePrediction`].
pub fn read_frame(record: &mut Record<'_>) -> Result<(FramePrediction, Frame), FieldError> {
    let frame: Result<Frame, String> = if record.reference.is_missing() {
        typed("null")
    } else if let Some(frame) = scanned(&record.reference, RawFrame::frame) {
        Ok(frame)
    } else {
        record.reference.read()
    };
    let frame = frame.map_err(FieldError::reference)?;
    let prediction = if record.prediction.is_missing() {
        FramePrediction::default()
    } else if let Some(prediction) = scanned(&record.prediction, RawFrame::prediction) {
        prediction
    } else {
        record.prediction.read().map_err(FieldError::prediction)?
    };
    Ok((prediction, frame.with_id(record.id.to_string())))
}

/// A frame as it appears in the file, true or predicted.
#[derive(serde::Deserialize)]
struct RawFrame {
    lane_centerline: Items<RawLane>,
    traffic_element: Items<RawElement>,
    topology_lclc: Rows<LaneEdges>,
    topology_lcte: Rows<ElementEdges>,
}

#[derive(serde::Deserialize)]
struct RawLane {
    id: Option<Id>,
    points: Points<3>,
    #[serde(default, deserialize_with = "confidence")]
    confidence: Option<f64>,
}

#[derive(serde::Deserialize)]
struct RawElement {
    id: Option<Id>,
    #[serde(deserialize_with = "attribute")]
    attribute: i64,
    points: Points<2>,
    #[serde(default, deserialize_with = "confidence")]
    confidence: Option<f64>,
}

fn confidence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let value = Option::deserialize(deserializer);
    value.map_err(|error| D::Error::custom(format_args!("confidence: {error}")))
}

fn attribute<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let value = i64::deserialize(deserializer);
    value.map_err(|error| D::Error::custom(format_args!("attribute: {error}")))
}

/// A type that is read from an object only, not from a list of its values in their order, which
/// serde accepts as well.
struct Object<T>(T);

/// The name of an object, for messages.
trait Described {
    const WHAT: &'static str;
}

impl Described for RawFrame {
    const WHAT: &'static str =
        "a frame: an object with lane_centerline, traffic_element, topology_lclc and topology_lcte";
}

impl Described for RawLane {
    const WHAT: &'static str = "a lane: an object with points";
}

impl Described for RawElement {
    const WHAT: &'static str = "a traffic element: an object with attribute and points";
}

impl<'de, T: Deserialize<'de> + Described> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Described> Visitor<'de> for Fields<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::WHAT)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

type WithConfidence<T> = Vec<(T, Option<f64>)>;

/// A frame as nearly all are written; `None` if something is wrong, or rare.
fn scanned<T>(value: &Value<'_>, make: fn(RawFrame) -> Result<T, String>) -> Option<T> {
    make(RawFrame::scan(value.as_json()?)?).ok()
}

impl RawFrame {
    fn scan(json: &str) -> Option<Self> {
        let (mut lanes, mut elements) = (None, None);
        let (mut lane_edges, mut element_edges) = (None, None);
        let mut scanner = Scanner::new(json);
        scanner.object(|scanner, field| match field {
            "lane_centerline" => once(&mut lanes, list_of(scanner, RawLane::scan)),
            "traffic_element" => once(&mut elements, list_of(scanner, RawElement::scan)),
            "topology_lclc" => once(&mut lane_edges, list_of(scanner, scan_row)),
            "topology_lcte" => once(&mut element_edges, list_of(scanner, scan_row)),
            _ => scanner.skip_value(),
        })?;
        scanner.is_at_end().then_some(())?;
        Some(Self {
            lane_centerline: Items(lanes?),
            traffic_element: Items(elements?),
            topology_lclc: Rows(lane_edges?, PhantomData),
            topology_lcte: Rows(element_edges?, PhantomData),
        })
    }

    /// The true frame, without its id.
    fn frame(self) -> Result<Frame, String> {
        let in_words = |error: InvalidFrame| error.to_string();
        let lane_edges = truths(Topology::Lanes, &self.topology_lclc).map_err(in_words)?;
        let element_edges = truths(Topology::Elements, &self.topology_lcte).map_err(in_words)?;
        let (lanes, elements) = self.items()?;
        let lanes = lanes.into_iter().map(|(lane, _)| lane).collect();
        let elements = elements.into_iter().map(|(element, _)| element).collect();
        Frame::new("", lanes, elements, &lane_edges, &element_edges).map_err(in_words)
    }

    fn prediction(mut self) -> Result<FramePrediction, String> {
        let lane_edges = std::mem::take(&mut self.topology_lclc.0);
        let element_edges = std::mem::take(&mut self.topology_lcte.0);
        let (lanes, elements) = self.items()?;
        let lanes = detected(List::Lanes, lanes)?;
        let elements = detected(List::Elements, elements)?;
        FramePrediction::new(lanes, elements, &lane_edges, &element_edges)
            .map_err(|error| error.to_string())
    }

    /// The lanes and the traffic elements.
    fn items(
        self,
    ) -> Result<(WithConfidence<Polyline<3>>, WithConfidence<TrafficElement>), String> {
        let (lanes, elements) = (self.lane_centerline.0, self.traffic_element.0);
        let ids = lanes.iter().map(|lane| &lane.id);
        let ids = ids.chain(elements.iter().map(|element| &element.id));
        let ids = ids.flatten().map(|id| id.0.as_str());
        check_ids(ids).map_err(|error| error.to_string())?;

        let lanes = lanes.into_iter().enumerate().map(|(index, lane)| {
            let line = Polyline::new(lane.points.0)
                .map_err(|reason| InvalidFrame::Lane { index, reason }.to_string())?;
            Ok((line, lane.confidence))
        });
        let elements = elements.into_iter().enumerate().map(|(index, element)| {
            let found = element.points.0.len();
            let corners = element.points.0.try_into().map_err(|_| {
                format!(
                    "{}[{index}]: expected 2 corners, found {found}",
                    List::Elements
                )
            })?;
            let known = TrafficElement::new(element.attribute, corners)
                .map_err(|reason| InvalidFrame::Element { index, reason }.to_string())?;
            Ok((known, element.confidence))
        });
        Ok((
            lanes.collect::<Result<_, String>>()?,
            elements.collect::<Result<_, String>>()?,
        ))
    }
}

fn detected<T>(list: List, items: WithConfidence<T>) -> Result<Vec<Detected<T>>, String> {
    let detected = |(index, (item, confidence))| match confidence {
        Some(confidence) => Ok(Detected { item, confidence }),
        None => Err(format!("{list}[{index}]: no confidence")),
    };
    items.into_iter().enumerate().map(detected).collect()
}

/// The edges of a true topology, which are 0 or 1.
fn truths<T>(topology: Topology, rows: &Rows<T>) -> Result<Vec<Vec<bool>>, InvalidFrame> {
    let edge = |row, (column, &value): (usize, &f64)| match value {
        0.0 => Ok(false),
        1.0 => Ok(true),
        _ => Err(InvalidFrame::TrueEdge {
            topology,
            row,
            column,
            value,
        }),
    };
    let rows = rows.0.iter().enumerate();
    rows.map(|(row, edges)| {
        edges
            .iter()
            .enumerate()
            .map(|entry| edge(row, entry))
            .collect()
    })
    .collect()
}

fn scan_row(scanner: &mut Scanner<'_>) -> Option<Vec<f64>> {
    list_of(scanner, Scanner::number)
}

fn scan_points<const D: usize>(scanner: &mut Scanner<'_>) -> Option<Points<D>> {
    let point = |scanner: &mut Scanner<'_>| {
        if let Some(point) = scanner.short_numbers() {
            return Some(point);
        }
        let (mut point, mut found) = ([0.0; D], 0);
        scanner.list(|scanner| {
            *point.get_mut(found)? = scanner.number()?;
            found += 1;
            Some(())
        })?;
        (found == D).then_some(point)
    };
    list_of(scanner, point).map(Points)
}

fn scan_id(scanner: &mut Scanner<'_>) -> Option<Id> {
    Some(match scanner.peek()? {
        b'"' => Id(format!("{:?}", scanner.string()?)),
        _ => Id(scanner.integer()?.to_string()),
    })
}

impl RawLane {
    fn scan(scanner: &mut Scanner<'_>) -> Option<Self> {
        let (mut id, mut points, mut confidence) = (None, None, None);
        scanner.object(|scanner, field| match field {
            "id" => once(&mut id, scan_id(scanner)),
            "points" => once(&mut points, scan_points(scanner)),
            "confidence" => once(&mut confidence, scanner.number()),
            _ => scanner.skip_value(),
        })?;
        Some(Self {
            id,
            points: points?,
            confidence,
        })
    }
}

impl RawElement {
    fn scan(scanner: &mut Scanner<'_>) -> Option<Self> {
        let (mut id, mut attribute, mut points, mut confidence) = (None, None, None, None);
        scanner.object(|scanner, field| match field {
            "id" => once(&mut id, scan_id(scanner)),
            "attribute" => once(&mut attribute, scanner.integer()),
            "points" => once(&mut points, scan_points(scanner)),
            "confidence" => once(&mut confidence, scanner.number()),
            _ => scanner.skip_value(),
        })?;
        Some(Self {
            id,
            attribute: attribute?,
            points: points?,
            confidence,
        })
    }
}

/// The name of the items of a list, for messages.
trait Listed {
    const LIST: &'static str;
}

impl Listed for RawLane {
    const LIST: &'static str = "lane_centerline";
}

impl Listed for RawElement {
    const LIST: &'static str = "traffic_element";
}

struct LaneEdges;

impl Listed for LaneEdges {
    const LIST: &'static str = "topology_lclc";
}

struct ElementEdges;

impl Listed for ElementEdges {
    const LIST: &'static str = "topology_lcte";
}

/// A list whose errors name the item.
struct Items<T>(Vec<T>);

impl<'de, T: Deserialize<'de> + Described + Listed> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = deserializer.deserialize_seq(ListOf::<Object<T>, T>(PhantomData))?;
        Ok(Self(items.into_iter().map(|Object(item)| item).collect()))
    }
}

/// A table of numbers whose errors name the row; true and false are 1 and 0.
struct Rows<T>(Vec<Vec<f64>>, PhantomData<T>);

impl<'de, T: Listed> Deserialize<'de> for Rows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rows = deserializer.deserialize_seq(ListOf::<Row, T>(PhantomData))?;
        Ok(Self(
            rows.into_iter().map(|row| row.0).collect(),
            PhantomData,
        ))
    }
}

/// Reads a list of `T` that is called as `N` says.
struct ListOf<T, N>(PhantomData<(T, N)>);

impl<'de, T: Deserialize<'de>, N: Listed> Visitor<'de> for ListOf<T, N> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list in {}", N::LIST)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        loop {
            match list.next_element() {
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(items),
                Err(error) => {
                    let (name, index) = (N::LIST, items.len());
                    return Err(A::Error::custom(format_args!("{name}[{index}]: {error}")));
                }
            }
        }
    }
}

struct Row(Vec<f64>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Row, A::Error> {
                let mut row = Vec::new();
                while let Some(Entry(value)) = list.next_element()? {
                    row.push(value);
                }
                Ok(Row(row))
            }
        }
        deserializer.deserialize_seq(Entries)
    }
}

struct Entry(f64);

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Entry, E> {
                Ok(Entry(f64::from(u8::from(value))))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Entry, E> {
                Ok(Entry(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Entry, E> {
                Ok(Entry(value as f64))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Entry, E> {
                Ok(Entry(value as f64))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// The points of a line, each with `D` coordinates.
struct Points<const D: usize>(Vec<[f64; D]>);

impl<'de, const D: usize> Deserialize<'de> for Points<D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        struct Line<const D: usize>;
        impl<'de, const D: usize> Visitor<'de> for Line<D> {
            type Value = Points<D>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "points, a list of points with {D} coordinates each")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Points<D>, A::Error> {
                let mut points = Vec::new();
                loop {
                    let point = list.next_element().map_err(|error| {
                        let point = points.len();
                        A::Error::custom(format_args!("point {point}: {error}"))
                    })?;
                    let Some(Point(coordinates, found)) = point else {
                        return Ok(Points(points));
                    };
                    if found != D {
                        let dimension = InvalidPolyline::Dimension {
                            point: points.len(),
                            expected: D,
                            found,
                        };
                        return Err(A::Error::custom(dimension));
                    }
                    points.push(coordinates);
                }
            }
        }
        deserializer.deserialize_seq(Line)
    }
}

/// The first `D` coordinates of a point, and how many there are.
struct Point<const D: usize>([f64; D], usize);

impl<'de, const D: usize> Deserialize<'de> for Point<D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        struct Coordinates<const D: usize>;
        impl<'de, const D: usize> Visitor<'de> for Coordinates<D> {
            type Value = Point<D>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a point, which is a list of {D} numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Point<D>, A::Error> {
                let mut point = Point([0.0; D], 0);
                for coordinate in &mut point.0 {
                    let Some(value) = list.next_element()? else {
                        return Ok(point);
                    };
                    *coordinate = value;
                    point.1 += 1;
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    point.1 += 1;
                }
                Ok(point)
            }
        }
        deserializer.deserialize_seq(Coordinates)
    }
}

/// The id of a lane or element, as it appears in the file.
struct Id(String);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id, which is an integer or a string")
            }

            fn visit_i64<E: Error>(self, id: i64) -> Result<Id, E> {
                Ok(Id(id.to_string()))
            }

            fn visit_u64<E: Error>(self, id: u64) -> Result<Id, E> {
                Ok(Id(id.to_string()))
            }

            fn visit_str<E: Error>(self, id: &str) -> Result<Id, E> {
                Ok(Id(format!("{id:?}")))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with these lanes, elements and topologies.
    fn text(lanes: &str, elements: &str, lane_edges: &str, element_edges: &str) -> String {
        format!(
            r#"{{"lane_centerline": [{lanes}], "traffic_element": [{elements}], "topology_lclc": {lane_edges}, "topology_lcte": {element_edges}}}"#
        )
    }

    const LANE: &str = r#"{"id": 1, "points": [[0, 0, 0], [5, 0, 0]], "confidence": 0.9}"#;
    const SIGN: &str = r#"{"id": 2, "attribute": 1, "points": [[0, 0], [5, 5]], "confidence": 1}"#;

    #[test]
    fn frames_are_scanned_as_serde_reads_them() {
        let corners = "[[0, 0], [5, 5]]";
        let lane = |fields: &str| text(&format!("{{{fields}}}"), "", "[[0]]", "[[]]");
        let sign = |fields: &str| text("", &format!("{{{fields}}}"), "[]", "[]");
        // Whether the scanner takes the frame.
        for (frame, is_scanned) in [
            (text(LANE, SIGN, "[[1.0]]", "[[0]]"), true),
            (text(LANE, SIGN, "[]", "[]"), true),
            (text("", "", "[]", "[]"), true),
            (
                lane(r#""id": "a", "points": [[0, 0, 0], [-0.5, 1e2, 3]], "more": {"x": [null]}"#),
                true,
            ),
            (
                lane(r#""id": null, "points": [[0, 0, 0], [5, 0, 0]]"#),
                false,
            ),
            (lane(r#""points": [[0, 0, 0], [5, 0]]"#), false),
            (lane(r#""points": [[0, 0, 0], [5, 0, 0, 0]]"#), false),
            (
                lane(r#""points": [[0, 0, 0], [5, 0, 0]], "points": []"#),
                false,
            ),
            (lane(r#""confidence": 1"#), false),
            (
                sign(&format!(r#""attribute": 1.0, "points": {corners}"#)),
                false,
            ),
            (
                sign(&format!(r#""attribute": 1, "points": {corners}"#)),
                true,
            ),
            (text(LANE, "", "[[true]]", "[[]]"), false),
            (
                text("", "", "[]", "[]").replace("topology_lclc", "other"),
                false,
            ),
            (text("", "", "[]", "[]") + "]", false),
        ] {
            let raw = RawFrame::scan(&frame);
            assert_eq!(raw.is_some(), is_scanned, "{frame}");
            let scanned = |make: fn(RawFrame) -> Result<String, String>| {
                RawFrame::scan(&frame).and_then(|raw| make(raw).ok())
            };
            if let Some(scanned) = scanned(|raw| raw.frame().map(|it| format!("{it:?}"))) {
                let read = serde_json::from_str::<Frame>(&frame);
                assert_eq!(
                    read.ok().map(|it| format!("{it:?}")),
                    Some(scanned),
                    "{frame}"
                );
            }
            if let Some(scanned) = scanned(|raw| raw.prediction().map(|it| format!("{it:?}"))) {
                let read = serde_json::from_str::<FramePrediction>(&frame);
                assert_eq!(
                    read.ok().map(|it| format!("{it:?}")),
                    Some(scanned),
                    "{frame}"
                );
            }
        }
    }

    #[test]
    fn a_topology_without_entries_may_be_an_empty_list() -> Result<(), serde_json::Error> {
        for (lanes, elements, lane_edges, element_edges) in [
            ("", "", "[]", "[]"),
            (LANE, "", "[[0]]", "[]"),
            (LANE, "", "[[false]]", "[[]]"),
            ("", SIGN, "[]", "[]"),
        ] {
            let text = text(lanes, elements, lane_edges, element_edges);
            let frame: Frame = serde_json::from_str(&text)?;
            let prediction: FramePrediction = serde_json::from_str(&text)?;
            assert_eq!(frame.lanes().len(), prediction.lanes().len());
            assert_eq!(frame.elements().len(), prediction.elements().len());
        }
        Ok(())
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a list of cases")]
    fn errors_name_the_place() {
        let lane = |points: &str| {
            let lane = format!(r#"{{"points": {points}, "confidence": 0.5}}"#);
            text(&lane, "", "[[0]]", "[[]]")
        };
        let sign = |attribute: &str, points: &str| {
            let sign =
                format!(r#"{{"attribute": {attribute}, "points": {points}, "confidence": 1}}"#);
            text("", &sign, "[]", "[]")
        };
        let edges = |lanes: &str, elements: &str| text(LANE, SIGN, lanes, elements);
        let corners = "[[0, 0], [5, 5]]";
        for (text, says) in [
            ("7".to_owned(), "expected a frame"),
            ("{}".to_owned(), "missing field `lane_centerline`"),
            (lane("[]"), "lane_centerline[0]: a line without points"),
            (
                lane("[[0, 0]]"),
                "lane_centerline[0]: point 0: expected 3 coordinates, found 2",
            ),
            (
                lane("[[0, 0, 0], [0, 0, 0, 0, 0]]"),
                "lane_centerline[0]: point 1: expected 3 coordinates, found 5",
            ),
            (
                lane("[[0, 0, null]]"),
                "lane_centerline[0]: point 0: invalid type: null",
            ),
            (
                lane("[[0, 0, 0], [\"1\", 0, 0]]"),
                "lane_centerline[0]: point 1: invalid type: string \"1\"",
            ),
            (
                lane("[[0, 0, NaN]]"),
                "lane_centerline[0]: point 0: expected value at line 1",
            ),
            (
                lane("[[0, 0, 1e999]]"),
                "lane_centerline[0]: point 0: number out of range",
            ),
            (
                lane("[[0, 0, 0], 7]"),
                "lane_centerline[0]: point 1: invalid type: integer `7`, expected a point",
            ),
            (
                lane("5"),
                "lane_centerline[0]: invalid type: integer `5`, expected points, a list of points with 3 coordinates each",
            ),
            (
                text(&LANE.replace("0.9", "\"0.9\""), "", "[[0]]", "[[]]"),
                "lane_centerline[0]: confidence: invalid type: string \"0.9\"",
            ),
            (
                text(
                    "",
                    &SIGN.replace("\"confidence\": 1", "\"confidence\": 1e999"),
                    "[]",
                    "[]",
                ),
                "traffic_element[0]: confidence: number out of range",
            ),
            (
                text("[7, [[0, 0, 0]], 0.5]", "", "[[0]]", "[[]]"),
                "lane_centerline[0]: invalid type: sequence, expected a lane: an object with points",
            ),
            (
                text("", "[8, 1, [[0, 0], [5, 5]], 1]", "[]", "[]"),
                "traffic_element[0]: invalid type: sequence, expected a traffic element",
            ),
            (
                format!("[[{LANE}], [], [[0]], [[]]]"),
                "invalid type: sequence, expected a frame",
            ),
            (
                text(r#"{"points": [], "points": []}"#, "", "[[0]]", "[[]]"),
                "lane_centerline[0]: duplicate field `points`",
            ),
            (
                text(&format!("{LANE}, {LANE}"), "", "[[0, 0], [0, 0]]", "[]"),
                "the id 1 occurs twice",
            ),
            (
                text(LANE, &SIGN.replace("2", "1"), "[[0]]", "[[0]]"),
                "the id 1 occurs twice",
            ),
            (
                sign("13", corners),
                "traffic_element[0]: expected an attribute from 0 to 12, found 13",
            ),
            (
                sign("-1", corners),
                "traffic_element[0]: expected an attribute from 0 to 12, found -1",
            ),
            (
                sign("1.5", corners),
                "traffic_element[0]: attribute: invalid type: floating point `1.5`",
            ),
            (
                sign("\"1\"", corners),
                "traffic_element[0]: attribute: invalid type: string \"1\"",
            ),
            (
                sign("1", "[[0, 0]]"),
                "traffic_element[0]: expected 2 corners, found 1",
            ),
            (
                sign("1", "[0, 0, 5, 5]"),
                "traffic_element[0]: point 0: invalid type: integer `0`",
            ),
            (
                edges("[]", "[[0]]"),
                "topology_lclc: expected a row for each of 1 lanes, found 0",
            ),
            (
                edges("[[0, 1]]", "[[0]]"),
                "topology_lclc[0]: expected an entry for each of 1 lanes, found 2",
            ),
            (
                edges("[[0]]", "[[]]"),
                "topology_lcte[0]: expected an entry for each of 1 traffic elements, found 0",
            ),
            (
                edges("[[0]]", "[[\"a\"]]"),
                "topology_lcte[0]: invalid type: string",
            ),
        ] {
            for error in [
                serde_json::from_str::<Frame>(&text).map(drop),
                serde_json::from_str::<FramePrediction>(&text).map(drop),
            ] {
                let error = error.expect_err(&text).to_string();
                assert!(error.contains(says), "{error}, expected {says}");
            }
        }
        let half = serde_json::from_str::<Frame>(&edges("[[0.5]]", "[[0]]"));
        let error = half.expect_err("no true edge").to_string();
        assert!(
            error.contains("topology_lclc[0][0]: expected 0 or 1, found 0.5"),
            "{error}"
        );
        let sure = text(&LANE.replace("confidence", "sure"), "", "[[0]]", "[[]]");
        let error = serde_json::from_str::<FramePrediction>(&sure);
        let error = error.expect_err("no confidence").to_string();
        assert!(
            error.contains("lane_centerline[0]: no confidence"),
            "{error}"
        );
    }

    #[test]
    fn the_ids_1_and_text_1_are_two() {
        let other = LANE.replace("\"id\": 1", "\"id\": \"1\"");
        let lanes = text(&format!("{LANE}, {other}"), "", "[[0, 0], [0, 0]]", "[]");
        assert!(serde_json::from_str::<Frame>(&lanes).is_ok());
    }
}
