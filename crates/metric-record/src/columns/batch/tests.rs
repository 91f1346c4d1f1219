use ndarray::{Array2, ShapeBuilder, array};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::{Grid, GridRow, Lists, Validity, Value};

/// A column, and the JSON of its cells.
fn check(column: &Column<'_>, expected: &[Json]) {
    let written = |column: &Column<'_>| -> Vec<Json> {
        let json = |row| {
            let mut value: Value<'_> = column.value(row);
            let json = value.to_json().unwrap().expect("there is a value");
            let json: Json = serde_json::from_str(&json).unwrap();
            // Reading the value is reading its JSON.
            assert_eq!(column.value(row).read::<Json>().unwrap(), json);
            json
        };
        (0..column.len()).map(json).collect()
    };
    assert_eq!(written(column), expected, "{}", column.kind());
    assert!(column.value(column.len()).is_missing());
    for (start, end) in [(0, 2), (1, 3), (2, 9), (5, 1)] {
        let part = column.slice(start..end);
        let expected = &expected[within(start..end, expected.len())];
        assert_eq!(written(&part), expected, "{} {start}..{end}", column.kind());
    }
}

#[test]
fn cells_are_values() {
    let valid = Validity::new(&[0b101], 0, 3).unwrap();
    let texts: Texts<'_> = [Some("a\""), None, Some("")].into_iter().collect();
    check(
        &Column::Texts(texts),
        &[json!("a\""), Json::Null, json!("")],
    );
    let lines = Column::Lines(Texts::from(&["3", "[1, 2]", "\"a\""][..]));
    check(&lines, &[json!(3), json!([1, 2]), json!("a")]);
    assert_eq!(lines.kind().to_string(), "lines of text");
    assert!(lines.value(0).as_line().is_some());
    let texts: Texts<'_> = [Some("[1, 2]"), None, Some(" {} ")].into_iter().collect();
    check(
        &Column::Json(texts),
        &[json!([1, 2]), Json::Null, json!({})],
    );
    let integers = Cells::new(&[i64::MIN, 5, 3], Some(valid)).unwrap();
    check(
        &Column::Integers(integers),
        &[json!(i64::MIN), Json::Null, json!(3)],
    );
    let numbers = Cells::new(&[0.1, f64::NAN, -3.0], Some(valid)).unwrap();
    check(
        &Column::Numbers(numbers),
        &[json!(0.1), Json::Null, json!(-3.0)],
    );
    let numbers = Cells::new(&[0.1_f32, f32::NAN, -3.0], Some(valid)).unwrap();
    check(
        &Column::NumbersF32(numbers),
        &[json!(0.1), Json::Null, json!(-3.0)],
    );
}

/// A grid of one row.
#[derive(Debug)]
struct Row(Vec<u8>);

impl Grid for Row {
    fn size(&self) -> [usize; 2] {
        [1, self.0.len()]
    }

    fn row<'r>(&'r self, _: usize, _: &'r mut Vec<i64>) -> GridRow<'r> {
        GridRow::Bytes(&self.0)
    }
}

#[test]
fn grids_among_values_are_lists_of_lists() {
    let grids = [Row(vec![1, 2]), Row(vec![3]), Row(vec![255])];
    let column = Column::Values(grids.iter().map(|grid| Value::picture(grid)).collect());
    check(&column, &[json!([[1, 2]]), json!([[3]]), json!([[255]])]);
}

#[test]
fn rows_are_lists() {
    let rows = [json!([0.1, 0.2]), json!([3.5, 4.5]), json!([5.25, 1e30])];
    let scores = array![[0.1, 0.2], [3.5, 4.5], [5.25, 1e30]];
    let single = scores.mapv(|score| score as f32);
    check(&Column::Scores(scores.view()), &rows);
    check(&Column::ScoresF32(single.view()), &rows);
    let mut columns_first = Array2::zeros((3, 2).f());
    columns_first.assign(&scores);
    check(&Column::Scores(columns_first.view()), &rows);
    let columns_first = columns_first.mapv(|score: f64| score as f32);
    assert!(!columns_first.is_standard_layout());
    check(&Column::ScoresF32(columns_first.view()), &rows);

    let labels = array![[1, 2, 3], [4, 5, 6]];
    check(
        &Column::Labels(labels.view()),
        &[json!([1, 2, 3]), json!([4, 5, 6])],
    );
    check(
        &Column::Labels(labels.t()),
        &[json!([1, 4]), json!([2, 5]), json!([3, 6])],
    );
    let empty = Array2::<i64>::zeros((2, 0));
    check(&Column::Labels(empty.view()), &[json!([]), json!([])]);
}

#[test]
fn lists_are_lists() {
    let valid = Validity::new(&[0b1101], 0, 4).unwrap();
    let strs = ["x", "a", "b\"", "c"];
    let lists = Lists::new(&[1_i32, 3, 3, 3, 4], Texts::from(&strs[..]), Some(valid)).unwrap();
    let expected = [json!(["a", "b\""]), Json::Null, json!([]), json!(["c"])];
    let column = Column::TextLists(lists);
    check(&column, &expected);
    // Texts are borrowed, not copied.
    assert_eq!(column.value(3).read::<Vec<&str>>(), Ok(vec!["c"]));
    let items = Cells::from(&[9, 1, -2, 3][..]);
    let lists = Lists::new(&[1_i64, 3, 3, 3, 4], items, Some(valid)).unwrap();
    let expected = [json!([1, -2]), Json::Null, json!([]), json!([3])];
    check(&Column::IntegerLists(lists), &expected);
}

#[test]
fn columns_that_are_not_a_batch() {
    fn integers(values: &[i64]) -> Column<'_> {
        Column::Integers(Cells::from(values))
    }
    let labels = [1, 2, 3];
    let error = |ids, predictions: usize, references: usize, fields| {
        let batch = Batch::new(
            ids,
            integers(&labels[..predictions]),
            integers(&labels[..references]),
            fields,
        );
        batch.map(|_| ()).expect_err("no batch").to_string()
    };
    let positions = Ids::Positions(1);
    let null: Texts<'_> = [Some("a"), None, None].into_iter().collect();
    let valid = Validity::new(&[0b011], 0, 3).unwrap();
    let field = |name, len: usize| (name, integers(&labels[..len]));
    let rows = [
        (
            error(positions.clone(), 3, 2, vec![]),
            "2 references, but 3 predictions",
        ),
        (
            error(positions.clone(), 1, 2, vec![]),
            "2 references, but 1 prediction",
        ),
        (
            error(Ids::Integers(Cells::from(&labels[..1])), 3, 3, vec![]),
            "1 id, but 3 predictions",
        ),
        (
            error(Ids::Texts(null), 3, 3, vec![]),
            "the id at index 1 is null: expected a string or an integer",
        ),
        (
            error(
                Ids::Integers(Cells::new(&labels, Some(valid)).unwrap()),
                3,
                3,
                vec![],
            ),
            "the id at index 2 is null: expected a string or an integer",
        ),
        (
            error(positions.clone(), 3, 3, vec![field("a", 3), field("b", 1)]),
            "field \"b\": 1 value, but 3 predictions",
        ),
        (
            error(positions, 3, 3, vec![field("a", 3), field("a", 3)]),
            "2 fields have the name \"a\"",
        ),
    ];
    for (found, expected) in rows {
        assert_eq!(found, expected);
    }
}

#[test]
fn records_have_the_fields_of_their_row() {
    let (predictions, weights) = ([3, 1], [0.5, f64::INFINITY]);
    let langs: Vec<Option<&str>> = vec![Some("\"en\""), None];
    let labels = || Column::Integers(Cells::from(&predictions[..]));
    let fields = vec![
        ("a \"name\"", Column::Texts(Texts::from(&langs[..]))),
        ("weight", Column::Numbers(Cells::from(&weights[..]))),
    ];
    let ids = Ids::Integers(Cells::from(&[-7, 8][..]));
    let batch = Batch::new(ids, labels(), labels(), fields).unwrap();
    let mut buffer = "what was there".to_owned();
    let record = batch.record_with_fields(0, &mut buffer).unwrap().unwrap();
    assert_eq!(record.id, Id::Text("-7"));
    assert_eq!(
        record.fields,
        Some(r#"{"a \"name\"":"\"en\"","weight":0.5}"#)
    );
    let error = batch.record_with_fields(1, &mut buffer).unwrap_err();
    assert_eq!(
        error.to_string(),
        "reference: field \"weight\": found inf: expected a finite number"
    );
    assert!(batch.record_with_fields(2, &mut buffer).unwrap().is_none());
    assert!(batch.record(2).is_none());
    assert!(batch.record(1).unwrap().fields.is_none());
    assert_eq!(
        batch.field_names().collect::<Vec<_>>(),
        ["a \"name\"", "weight"]
    );
    assert_eq!(batch.field("weight").map(Column::len), Some(2));
}

proptest! {
    /// The parts of a batch are the batch.
    #[test]
    fn parts_are_the_whole(
        labels in proptest::collection::vec((any::<i64>(), any::<i64>()), 0..20),
        cut in 0_usize..25,
        first in 0_u64..5,
    ) {
        let (predictions, references): (Vec<i64>, Vec<i64>) = labels.into_iter().unzip();
        let batch = Batch::new(
            Ids::Positions(first),
            Column::Integers(Cells::from(&predictions[..])),
            Column::Integers(Cells::from(&references[..])),
            vec![("again", Column::Integers(Cells::from(&references[..])))],
        ).unwrap();
        let read = |batch: &Batch<'_>| -> Vec<(String, i64, i64)> {
            let read = |mut record: Record<'_>| {
                let (prediction, reference) = (record.prediction.read(), record.reference.read());
                (record.id.to_string(), prediction.unwrap(), reference.unwrap())
            };
            batch.records().map(read).collect()
        };
        let (head, tail) = (batch.slice(0..cut), batch.slice(cut..usize::MAX));
        let mut parts = read(&head);
        parts.extend(read(&tail));
        prop_assert_eq!(parts, read(&batch));
        prop_assert_eq!(head.field("again").map(Column::len), Some(head.len()));
    }
}
