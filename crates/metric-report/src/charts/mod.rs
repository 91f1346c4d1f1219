//! Charts and examples of a metric's report, made from the result, its details and single examples.
//!
//! A page shows only what the program prints: everything here is made from its JSON. A metric names the kinds of its
//! charts and of its examples, as plain data.

use metric_record::{Id, JoinPolicy, Record, Value as Side};
use metric_registry::{Chart, Entry, ExampleView, Named, Options, Show as _};
use serde_json::Value;

use crate::{Block, Section};

mod class;
mod code;
mod graph;
mod grid;
mod text;
mod vision;

/// A result as the program prints it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The result: the JSON object of one metric.
    pub result: &'a Value,
    /// The details, if there are any.
    pub details: Option<&'a Value>,
    /// Whether texts of the data may be shown; names of classes may be.
    pub has_texts: bool,
    /// The names of classes that are integers from 0; empty if they have none.
    pub class_names: &'a [String],
}

impl<'a> Shown<'a> {
    /// Returns what a class is called.
    ///
    /// ```
    /// use metric_report::Shown;
    ///
    /// let class_names = ["cat".to_owned(), "dog".to_owned()];
    /// let shown = Shown { result: &1.into(), details: None, has_texts: true, class_names: &class_names };
    /// assert_eq!(["1", "2", "cow"].map(|class| shown.name_of_class(class)), ["dog", "2", "cow"]);
    /// ```
    #[must_use]
    pub fn name_of_class<'c>(&self, class: &'c str) -> &'c str
    where
        'a: 'c,
    {
        let index = class.parse::<usize>().ok();
        let name = index.and_then(|index| self.class_names.get(index));
        name.map_or(class, String::as_str)
    }
}

/// An example with its scores.
#[derive(Clone, Debug, Default)]
pub struct ShownExample {
    /// The id.
    pub id: String,
    /// The part of the record, if the record has several examples.
    pub part: Option<String>,
    /// Scores by name.
    pub scores: Named<Option<f64>>,
    /// Counts by name.
    pub counts: Named<Value>,
    /// The reference, if it is known.
    pub reference: Option<Value>,
    /// The prediction, if it is known.
    pub prediction: Option<Value>,
    /// Further fields of the record, such as a question or the file of an image, if they are known.
    pub fields: Option<Value>,
}

impl ShownExample {
    /// Gives the record of the example to `read`; `None` if one of its sides is not known.
    pub fn with_record<T>(&self, read: impl FnOnce(&mut Record<'_>) -> Option<T>) -> Option<T> {
        let (reference, prediction) = self.reference.as_ref().zip(self.prediction.as_ref())?;
        let [reference, prediction] = [reference, prediction].map(Value::to_string);
        let fields = self.fields.as_ref().map(Value::to_string);
        read(&mut Record {
            id: Id::Text(&self.id),
            prediction: Side::json(&prediction),
            reference: Side::json(&reference),
            fields: fields.as_deref(),
            join: JoinPolicy::default(),
        })
    }
}

/// Returns the sections of a report between the scores and the groups: the charts of a metric.
#[must_use]
pub fn charts_of(entry: &Entry, shown: Shown<'_>) -> Vec<Section> {
    let charts = entry.charts.iter();
    charts.flat_map(|chart| drawn(*chart, shown)).collect()
}

fn drawn(chart: Chart, shown: Shown<'_>) -> Vec<Section> {
    match chart {
        Chart::Classes => class::sections(shown),
        Chart::Ranks => class::ranks(shown),
        Chart::Scores => class::label_scores(shown),
        Chart::Components => code::sections(shown),
        Chart::Lanes => graph::lanes(shown),
        Chart::Topology => graph::openlane(shown),
        Chart::Grids => grid::sections(shown),
        Chart::Edits => text::sections(shown),
        Chart::Precisions => text::precisions(shown),
        Chart::Coco => vision::coco(shown),
        Chart::Confusions => vision::confusions(shown),
        Chart::Detections => vision::detection(shown),
        Chart::Tide => vision::tide(shown),
        Chart::Voc => vision::voc(shown),
        Chart::Segments => vision::panoptic(shown),
        _ => Vec::new(),
    }
}

/// Returns what a report shows of an example that was scored under these options; nothing for the texts of both sides.
#[must_use]
pub fn example_of(entry: &Entry, options: &Options, example: &ShownExample) -> Vec<Block> {
    let options = options.with_defaults(entry.options);
    let scorer = entry.scorer(&options).ok();
    let compared = example.with_record(|record| scorer.as_ref()?.compared(record));
    let compared = compared.as_ref();
    match entry.example_view() {
        Some(ExampleView::Texts) => text::answer(&options, example, compared),
        Some(ExampleView::Words) => text::words(&options, example, compared),
        Some(ExampleView::Characters) => text::characters(&options, example, compared),
        Some(ExampleView::Speakers) => text::speakers(&options, example, compared),
        Some(ExampleView::Code) => code::example(&options, example, compared),
        Some(ExampleView::Boxes) => vision::example(&options, example, compared),
        Some(ExampleView::Grids) => grid::example(&options, example, compared),
        Some(ExampleView::LabelMaps) => grid::label_maps(&options, example, compared),
        Some(ExampleView::Frame) => graph::openlane_example(&options, example, compared),
        _ => Vec::new(),
    }
}

mod parts {
    use serde_json::Value;

    use super::Shown;
    use crate::{Bar, Bars, Block, Caption, Cell, Section, Tone};

    /// A section of some blocks, if there are any.
    pub(super) fn section(title: &str, note: &str, blocks: Vec<Block>) -> Vec<Section> {
        if blocks.is_empty() {
            Vec::new()
        } else {
            vec![Section {
                title: title.to_owned(),
                note: note.to_owned(),
                blocks,
            }]
        }
    }

    pub(super) fn caption(title: &str, note: &str, finding: String) -> Caption {
        Caption {
            title: title.to_owned(),
            note: note.to_owned(),
            finding,
        }
    }

    /// Bars of some scores of a result, by name and label. Undefined ones have no bar.
    pub(super) fn score_bars(shown: Shown<'_>, names: &[(&str, &str)]) -> Vec<Bar> {
        let bar = |(name, label): &(&str, &str)| {
            let score = shown.result["scores"].get(*name)?;
            Some(Bar {
                name: (*label).to_owned(),
                value: Cell::from(score.as_f64()),
                ..Bar::default()
            })
        };
        names.iter().filter_map(bar).collect()
    }

    /// Bars of some counts of a result, by name, label and tone.
    pub(super) fn count_bars(shown: Shown<'_>, names: &[(&str, &str, Tone)]) -> Vec<Bar> {
        let bar = |(name, label, tone): &(&str, &str, Tone)| {
            let count = shown.result["counts"].get(*name)?.as_u64()?;
            Some(Bar {
                name: (*label).to_owned(),
                value: Cell::Count(count),
                tone: *tone,
                main: false,
            })
        };
        names.iter().filter_map(bar).collect()
    }

    /// A chart of bars, if there are any.
    pub(super) fn bars(caption: Caption, full: Option<f64>, bars: Vec<Bar>) -> Vec<Block> {
        if bars.is_empty() {
            Vec::new()
        } else {
            vec![Block::Bars(Bars {
                caption,
                bars,
                full,
            })]
        }
    }

    /// The bar with the largest value.
    pub(super) fn largest(bars: &[Bar]) -> String {
        let value = |bar: &Bar| match bar.value {
            Cell::Number(value) | Cell::Difference(value) => value,
            Cell::Count(count) => count as f64,
            _ => f64::NEG_INFINITY,
        };
        let largest = bars
            .iter()
            .rev()
            .max_by(|a, b| value(a).total_cmp(&value(b)));
        largest.map_or_else(String::new, |bar| {
            format!("The largest value is that of {}.", bar.name)
        })
    }

    /// A value as text: a string without its quotes.
    pub(super) fn text(value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}
