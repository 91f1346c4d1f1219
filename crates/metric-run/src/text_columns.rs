//! The values of a run of records as columns of texts, which metrics read faster than one record after the other.

use std::borrow::Cow;

use metric_record::{Batch, Column, ColumnKind, Ids, JoinPolicy, Texts, Value};

use crate::found::{Form, Found, FoundId, Span};

/// The ids and the texts of the values of some records. All values of a side are of one kind.
pub(crate) struct TextColumns<'b> {
    ids: RunIds<'b>,
    predictions: Side<'b>,
    references: Side<'b>,
    policy: JoinPolicy,
}

enum RunIds<'b> {
    /// The numbers of lines that follow each other.
    Lines(u64),
    Texts(Vec<&'b str>),
}

struct Side<'b> {
    kind: ColumnKind,
    texts: Vec<Cow<'b, str>>,
}

impl<'b> TextColumns<'b> {
    /// The columns of records of a block and of the predictions that they are paired with; `None` if values of one
    /// side differ in kind.
    pub(crate) fn new(
        (references, text): (&'b [Found], &'b str),
        predictions: impl ExactSizeIterator<Item = Option<(Span, Form)>>,
        predictions_text: &'b str,
        policy: JoinPolicy,
    ) -> Option<Self> {
        let values = references
            .iter()
            .map(|found| Some((found.value, found.form)));
        Some(Self {
            references: Side::new(values, text)?,
            predictions: Side::new(predictions, predictions_text)?,
            ids: RunIds::new(references, text)?,
            policy,
        })
    }

    pub(crate) fn batch(&self) -> Option<Batch<'_>> {
        let ids = match &self.ids {
            RunIds::Lines(first) => Ids::Positions(*first),
            RunIds::Texts(ids) => Ids::Texts(Texts::from(&ids[..])),
        };
        let [predictions, references] = [&self.predictions, &self.references].map(Side::column);
        let batch = Batch::new(ids, predictions, references, Vec::new()).ok()?;
        Some(batch.with_join(self.policy))
    }
}

impl<'b> Side<'b> {
    fn new(
        values: impl ExactSizeIterator<Item = Option<(Span, Form)>>,
        text: &'b str,
    ) -> Option<Self> {
        let mut side = Self {
            kind: ColumnKind::Json,
            texts: Vec::with_capacity(values.len()),
        };
        for value in values {
            let (span, form) = value?;
            let (kind, cell) = cell(text.get(span.start..span.end)?, form)?;
            if side.texts.is_empty() {
                side.kind = kind;
            } else if side.kind != kind {
                return None;
            }
            side.texts.push(cell);
        }
        Some(side)
    }

    fn column(&self) -> Column<'_> {
        let texts = Texts::from(&self.texts[..]);
        match self.kind {
            ColumnKind::Lines => Column::Lines(texts),
            ColumnKind::Texts => Column::Texts(texts),
            _ => Column::Json(texts),
        }
    }
}

/// The cell of a value, and the kind of its column; `None` for a string that cannot be read.
#[inline]
fn cell(value: &str, form: Form) -> Option<(ColumnKind, Cow<'_, str>)> {
    Some(match form {
        Form::Line => (ColumnKind::Lines, Cow::Borrowed(value)),
        Form::Plain => {
            let inner = value.get(1..value.len() - 1)?;
            (ColumnKind::Texts, Cow::Borrowed(inner))
        }
        #[cfg(feature = "columns")]
        Form::Text => (ColumnKind::Texts, Cow::Borrowed(value)),
        Form::Json if value.starts_with('"') => {
            (ColumnKind::Texts, Value::json(value).text().ok()?)
        }
        Form::Json => (ColumnKind::Json, Cow::Borrowed(value)),
        Form::Alternatives => return None,
    })
}

impl<'b> RunIds<'b> {
    fn new(found: &'b [Found], text: &'b str) -> Option<Self> {
        if let FoundId::Line(first) = found.first()?.id {
            let mut lines = (first..).zip(found);
            let follow = |(number, found): (u64, &Found)| matches!(found.id, FoundId::Line(line) if line == number);
            return lines.all(follow).then_some(Self::Lines(first));
        }
        let id = |found: &'b Found| match &found.id {
            FoundId::Here(span) => text.get(span.start..span.end),
            FoundId::Unescaped(id) => Some(&**id),
            FoundId::Line(_) => None,
        };
        found.iter().map(id).collect::<Option<_>>().map(Self::Texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Block;
    use crate::fields::{FieldNames, Role};
    use crate::formats::Format;
    use crate::scan::scan;

    /// The records of a text.
    fn block(text: &str, format: Format) -> (Block, Vec<Found>) {
        let names = [("id", Role::Id, ""), ("reference", Role::Value, "")];
        let mut block = Block::lines(text.to_owned(), 1);
        let found = scan(&mut block, format, &FieldNames::new(names), |_| false);
        (block, found.expect("records"))
    }

    /// Each record with itself as its prediction: the kind of the column, and the id and the value of each record.
    fn columns(block: &Block, found: &[Found]) -> Option<(ColumnKind, Vec<(String, String)>)> {
        let values = found.iter().map(|found| Some((found.value, found.form)));
        let policy = JoinPolicy::default();
        let columns = TextColumns::new((found, &block.text), values, &block.text, policy)?;
        let batch = columns.batch()?;
        let cells = batch.records().map(|mut record| {
            let text = record.prediction.text().expect("a text");
            assert_eq!(record.reference.text().as_ref(), Ok(&text));
            (record.id.to_string(), text.into_owned())
        });
        Some((batch.predictions().kind(), cells.collect()))
    }

    fn cells(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(id, text)| (id.to_string(), text.to_string()))
            .collect()
    }

    #[test]
    fn strings_are_a_column_with_and_without_escapes() {
        let lines = r#"{"id": "x\u0031", "reference": "a"}
{"id": 2, "reference": "b\n"}
{"id": "3", "reference": "\u00e9"}"#;
        let (block, found) = block(lines, Format::JsonLines);
        let expected = cells(&[("x1", "a"), ("2", "b\n"), ("3", "é")]);
        assert_eq!(columns(&block, &found), Some((ColumnKind::Texts, expected)));
    }

    #[test]
    fn lines_are_a_column_if_their_numbers_follow_each_other() {
        let (block, found) = block("a\n\"b\"\n3\n", Format::Text);
        let expected = cells(&[("1", "a"), ("2", "\"b\""), ("3", "3")]);
        assert_eq!(columns(&block, &found), Some((ColumnKind::Lines, expected)));
        let others = [found[0].clone(), found[2].clone()];
        assert_eq!(columns(&block, &others), None);
    }

    #[test]
    fn values_of_different_kinds_are_no_column() {
        let mixed = "{\"id\": 1, \"reference\": 3}\n{\"id\": 2, \"reference\": \"3\"}";
        let half = r#"{"id": 1, "reference": "\ud800"}"#;
        for lines in [mixed, half] {
            let (block, found) = block(lines, Format::JsonLines);
            assert_eq!(columns(&block, &found), None, "{lines}");
        }
    }
}
