//! The parts of a report for each metric in addition to its scores: charts and lists made from the result and the
//! details, and single examples.
//!
//! A page shows only what the program prints: everything here is made from its JSON.

use metric_record::{Id, JoinPolicy, Record, Value as Side};
use serde_json::Value;

use crate::Named;

#[cfg(all(feature = "report", feature = "class"))]
pub(crate) mod class;
#[cfg(all(feature = "report", feature = "code"))]
pub(crate) mod code;
#[cfg(all(feature = "report", feature = "graph"))]
pub(crate) mod graph;
#[cfg(all(feature = "report", feature = "grid"))]
pub(crate) mod grid;
#[cfg(all(feature = "report", feature = "text"))]
pub(crate) mod text;
#[cfg(all(feature = "report", feature = "vision"))]
pub(crate) mod vision;

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
    /// use metric_registry::Shown;
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

/// Shows an example that was scored under some options, with its texts as they were compared, if it has texts.
#[cfg(feature = "report")]
pub type ShowExample =
    fn(&crate::Options, &ShownExample, Option<&crate::ComparedTexts>) -> Vec<metric_report::Block>;

/// The way in which a metric is shown in a report. Without the feature `report`, no metric is
/// shown.
#[cfg(feature = "report")]
#[derive(Clone, Copy, Debug)]
pub struct InReport {
    /// Returns the sections between the scores and the groups.
    pub sections: fn(Shown<'_>) -> Vec<metric_report::Section>,
    /// Returns what is shown of an example; nothing for the texts of both sides.
    pub example: ShowExample,
    /// Whether examples are images, whose boxes may be shown over the picture.
    pub has_images: bool,
    /// The score that benchmarks name first, if it is not the first one.
    pub main: Option<&'static str>,
}

/// The way in which a metric is shown in a report. Without the feature `report`, no metric is
/// shown.
#[cfg(not(feature = "report"))]
#[derive(Clone, Copy, Debug)]
pub enum InReport {}

#[cfg(feature = "report")]
impl InReport {
    /// A metric with scores and groups, and the texts of examples.
    pub const BASE: Self = Self {
        sections: |_| Vec::new(),
        example: |_, _, _| Vec::new(),
        has_images: false,
        main: None,
    };
}

/// What a report shows of a metric, where there are reports: functions of a domain, then other fields.
#[cfg(feature = "report")]
#[allow(unused_macros, reason = "used by whichever domains are switched on")]
macro_rules! in_report {
    ($domain:ident { $($part:ident: $function:ident),* } $(, $field:ident: $value:expr)*) => {
        Some({
            let mut report = $crate::report::InReport::BASE;
            $(report.$part = $crate::report::$domain::$function;)*
            $(report.$field = $value;)*
            report
        })
    };
}
#[cfg(not(feature = "report"))]
#[allow(unused_macros, reason = "used by whichever domains are switched on")]
macro_rules! in_report {
    ($($any:tt)*) => {
        None
    };
}

#[cfg(feature = "report")]
#[allow(dead_code, reason = "used by whichever domains are switched on")]
mod parts {
    use metric_report::{Bar, Bars, Block, Caption, Cell, Section, Tone};
    use serde_json::Value;

    use super::Shown;

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
