//! Labels: one per side, an integer or a text.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use metric_class::{ConfusionMatrix, LabelConfusions, LabelRef, ShortLabels, confusion_matrix};
use metric_core::{Key, Malformed, Reader, Writer, Written};
use metric_record::json::{self, scan, typed};
use metric_record::{
    Batch, Column, FieldError, Kind, Message, Record, RecordError, Side, Value, quoted_id,
};

use crate::shapes::Measured;
use crate::{Asked, Counted, Facts, Header, Named, Numbers, Reading, Sink, Unified};

/// The classes in their order, and the confusion matrix of their indices.
pub(crate) type Matrix<'m> = (Vec<&'m Key>, ConfusionMatrix<u32>);

/// A metric of labels: what it says of their confusion matrix.
pub(crate) trait LabelMetric: Send + Sync + 'static {
    /// Returns the parts of the signature, by name.
    fn definition(&self) -> Named<String> {
        Vec::new()
    }

    /// Returns whether numbers of some examples depend on the labels of all.
    fn needs_labels(&self) -> bool {
        false
    }

    /// Returns the numbers of a confusion matrix. `labels` are those of all examples, if they are needed.
    fn numbers(&self, matrix: &Matrix<'_>, labels: &LabelSet, asked: Asked<'_>) -> Numbers;
}

/// The labels of both sides of a data set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LabelSet(pub(crate) BTreeSet<Key>);

impl Written for LabelSet {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        BTreeSet::read(from).map(Self)
    }
}

impl Header for LabelSet {
    fn unify(&mut self, other: &Self) -> Result<Unified, Message> {
        self.0.extend(other.0.iter().cloned());
        Ok(Unified::Kept)
    }
}

/// The reading of a metric of labels.
pub(crate) struct OfLabels<M>(pub(crate) M);

impl<M: LabelMetric> Reading for OfLabels<M> {
    type Metric = Measured<LabelConfusions>;
    type Header = LabelSet;

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        Facts::signed(self.0.definition())
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let prediction = one_label(Side::Prediction, &mut record.prediction)?;
        let reference = one_label(Side::Reference, &mut record.reference)?;
        let reference = reference.ok_or_else(|| FieldError::reference("expected a label"))?;
        let class = reference.class(prediction.as_ref());
        let predicted = prediction.as_ref();
        let predicted = predicted.map(|label| label.class(Some(&reference)));
        if self.0.needs_labels() {
            let labels = predicted.into_iter().chain([class]).map(Key::from);
            share_labels(labels.collect(), sink)?;
        }
        sink.counted_in(|confusions: &mut LabelConfusions| confusions.add(predicted, class, 1));
        Ok(())
    }

    /// Takes integers on both sides, and labels as they are written on both sides.
    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        type ClassOf = fn(&str) -> Option<LabelRef<'_>>;
        let (predictions, references, class_of): (_, _, ClassOf) =
            match (batch.predictions(), batch.references()) {
                (Column::Integers(predictions), Column::Integers(references)) => {
                    let columns = predictions.without_nulls().zip(references.without_nulls());
                    if !sink.wants_samples()
                        && let Some((predictions, references)) = columns
                        && let Ok(matrix) = confusion_matrix(predictions, references, Key::Number)
                    {
                        if self.0.needs_labels() {
                            let labels = matrix.classes().into_iter().cloned();
                            let shared = share_labels(labels.collect(), sink);
                            if let Err(error) = shared {
                                return Some(Err(RecordError { index: 0, error }));
                            }
                        }
                        sink.pooled(batch.len() as u64, &[], matrix.into());
                        return Some(Ok(()));
                    }
                    if self.0.needs_labels() {
                        return None;
                    }
                    let pair = |row| (predictions.get(row), references.get(row));
                    let pairs = (0..batch.len()).map(pair);
                    return Some(read_pairs(batch, pairs, sink, |label, confusions| {
                        Some(confusions.number(LabelRef::Number(label)))
                    }));
                }
                (Column::Lines(predictions), Column::Lines(references)) => {
                    (predictions, references, |text| Some(class_of_line(text)))
                }
                (Column::Texts(predictions), Column::Texts(references)) => {
                    (predictions, references, |text| Some(LabelRef::Text(text)))
                }
                (Column::Json(predictions), Column::Json(references)) => {
                    let class = |text: &_| scan::integer(text).map(LabelRef::Number);
                    (predictions, references, class)
                }
                _ => return None,
            };
        if self.0.needs_labels() {
            return None;
        }
        let mut known = ShortLabels::default();
        let pairs = predictions.iter().zip(references.iter());
        Some(read_pairs(batch, pairs, sink, |label, confusions| {
            known.number(label, class_of, confusions)
        }))
    }

    fn numbers(&self, state: &LabelConfusions, labels: &LabelSet, asked: Asked<'_>) -> Numbers {
        let matrix = state.matrix();
        let mut numbers = self.0.numbers(&matrix, labels, asked);
        if asked.remarks.is_some() {
            numbers.warnings.extend(written_alike(&matrix.0));
        }
        numbers
    }
}

/// Adds to the labels of the data set.
fn share_labels<M: LabelMetric>(
    labels: BTreeSet<Key>,
    sink: &mut Sink<'_, OfLabels<M>>,
) -> Result<(), FieldError> {
    if labels.is_subset(&sink.header().0) {
        return Ok(());
    }
    sink.share(Side::Reference, LabelSet(labels))
}

/// Counts pairs of labels: `number` gives the number of a class, or `None` for a label that is read as a value.
fn read_pairs<M: LabelMetric, L>(
    batch: &Batch<'_>,
    mut pairs: impl Iterator<Item = (Option<L>, Option<L>)>,
    sink: &mut Sink<'_, OfLabels<M>>,
    mut number: impl FnMut(L, &mut LabelConfusions) -> Option<u32>,
) -> Result<(), RecordError> {
    let together = |confusions: &mut LabelConfusions, _| {
        let mut add = |(prediction, reference): (Option<L>, Option<L>)| {
            let reference = number(reference?, confusions)?;
            let prediction = number(prediction?, confusions)?;
            confusions.add_numbers(Some(prediction), reference, 1);
            Some(())
        };
        pairs.by_ref().map_while(&mut add).count()
    };
    sink.read_rows(batch, together, |sink, row| sink.read_row(batch, row))
}

/// Reads the one label of a side; a missing value gives `None`.
fn one_label<'a>(side: Side, value: &mut Value<'a>) -> Result<Option<Label<'a>>, FieldError> {
    let is_list = value.kind() == Kind::List;
    read_label(value).map_err(|problem| {
        let several = "expected a label, an integer or a string, found a list: the metric multilabel scores several labels per example";
        FieldError::new(side, if is_list { several } else { &problem })
    })
}

/// A label as it is read. The integer 3 and the string "3" are two labels; a line of text has no type and may be either.
#[derive(Clone, Debug)]
pub(crate) enum Label<'a> {
    Integer(i64),
    Text(Cow<'a, str>),
    Line(&'a str),
}

impl Label<'_> {
    /// The label as it is written: a line is a text.
    pub(crate) fn written(&self) -> LabelRef<'_> {
        match self {
            Self::Integer(number) => LabelRef::Number(*number),
            Self::Text(text) => LabelRef::Text(text),
            Self::Line(text) => LabelRef::Text(text),
        }
    }

    /// The class of the label. A line is what the label on the other side is, and an integer if both are lines and it is
    /// written as one.
    pub(crate) fn class(&self, other: Option<&Self>) -> LabelRef<'_> {
        match (self, other) {
            (Self::Line(text), None | Some(Self::Integer(_) | Self::Line(_))) => {
                class_of_line(text)
            }
            _ => self.written(),
        }
    }
}

/// Reads a label without a copy of its text; a missing value gives `None`.
pub(crate) fn read_label<'a>(value: &mut Value<'a>) -> Result<Option<Label<'a>>, String> {
    if let Some(text) = value.as_line() {
        return Ok(Some(Label::Line(text)));
    }
    let integer = value.as_json().and_then(scan::integer);
    if let Some(number) = integer.or_else(|| value.as_integer()) {
        return Ok(Some(Label::Integer(number)));
    }
    if value.kind() == Kind::String {
        return value.text().map(|text| Some(Label::Text(text)));
    }
    if let Some(text) = value.as_alternatives() {
        return Ok(Some(Label::Text(Cow::Borrowed(text))));
    }
    let json = value.to_json()?;
    json.map(|json| read_integer(&json).map(Label::Integer))
        .transpose()
}

/// Reads an integer, which a scanner may have left to `serde_json`.
fn read_integer(json: &str) -> Result<i64, String> {
    let found = json.trim();
    // serde_json reads it as a number that is not an integer.
    if found == "-0" {
        return Ok(0);
    }
    let found = match json::kind(found) {
        Kind::Number => {
            if let Ok(number) = typed(found) {
                return Ok(number);
            }
            let whole = named_integer(LabelRef::Text(found))
                .map(|whole| format!(": write it as {whole} or, if it is a name, as \"{found}\""));
            format!("{found}{}", whole.unwrap_or_default())
        }
        Kind::Boolean => format!("{found}: write it as \"{found}\", or as 0 or 1"),
        kind => kind.to_string(),
    };
    Err(format!(
        "expected a label, an integer or a string, found {found}"
    ))
}

/// The integer that a text is, if it is written as integers are in JSON.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_written_so = matches!(digits.as_bytes(), [b'0'] | [b'1'..=b'9', ..]);
    is_written_so.then(|| text.parse().ok()).flatten()
}

pub(crate) fn class_of_line(text: &str) -> LabelRef<'_> {
    integer(text).map_or(LabelRef::Text(text), LabelRef::Number)
}

/// The integer that a label names, also as a text with a point and zeros after it, as tables write labels once they were
/// numbers: `3` and `3.0`.
pub(crate) fn named_integer(label: LabelRef<'_>) -> Option<i64> {
    let text = match label {
        LabelRef::Number(number) => return Some(number),
        LabelRef::Text(text) => text,
    };
    let (whole, zeros) = text.split_once('.').unwrap_or((text, ""));
    let is_whole = zeros.bytes().all(|byte| byte == b'0');
    is_whole.then(|| integer(whole)).flatten()
}

/// A class in words: the string "3" in quotes, the integer without.
pub(crate) fn quoted(class: &Key) -> String {
    match class {
        Key::Number(number) => number.to_string(),
        Key::Text(text) => quoted_id(text),
    }
}

/// The warnings about classes that are one number, written in several ways.
fn written_alike(classes: &[&Key]) -> Vec<Message> {
    let names: BTreeSet<String> = classes.iter().map(|class| class.to_string()).collect();
    let as_strings = Counted::new(
        "integer and the string it is written as are two classes",
        "integers and the strings they are written as are two classes each",
    );
    let times = (classes.len() - names.len()) as u64;
    let mut warnings: Vec<Message> = Counted::warnings([(times, as_strings)]).collect();
    if !names.iter().any(|name| name.contains('.')) {
        return warnings;
    }
    let mut by_number: BTreeMap<i64, Vec<&Key>> = BTreeMap::new();
    for class in classes {
        if let Some(number) = named_integer((*class).into()) {
            by_number.entry(number).or_default().push(class);
        }
    }
    // The string that an integer is written as has a warning of its own.
    by_number.retain(|_, classes| {
        let mut names = classes.iter().map(ToString::to_string);
        let first = names.next();
        names.any(|name| Some(name) != first)
    });
    if let Some(pair) = by_number.values().next() {
        let pair: Vec<String> = pair.iter().map(|class| quoted(class)).collect();
        let (number, is) = match by_number.len() {
            1 => ("number", "is"),
            _ => ("numbers", "are"),
        };
        let count = by_number.len();
        let warning = format!("{count} {number} with and without decimals {is} several classes");
        warnings.push(
            Message::from(warning)
                .data(format!(", such as {}", pair.join(" and ")))
                .text("; to count them as one class, write them in one way"),
        );
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_name_integers() {
        let rows = [
            ("3", Some(3)),
            ("3.0", Some(3)),
            ("-3.00", Some(-3)),
            ("3.", Some(3)),
            ("0.0", Some(0)),
            ("3.5", None),
            ("03.0", None),
            ("3.0.0", None),
            (".0", None),
            ("v3.0", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(named_integer(LabelRef::Text(text)), expected, "{text:?}");
        }
    }
}
