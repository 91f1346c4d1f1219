//! Texts as a metric compares them.

/// Texts as they are given, each with what a metric compares in its place.
///
/// ```
/// # #[cfg(feature = "text")] {
/// use metric_registry::record::{Record, Value};
/// use metric_registry::{Options, find};
///
/// let entry = find("exact-match").ok_or("not there")?;
/// let options = Options::default().set("ignore-case", "").set("normalize", "strip");
/// let scorer = entry.scorer(&options)?;
/// let mut record = Record::new("1", Value::string(" Yes"), Value::string("YES"));
/// let compared = scorer.compared(&mut record).ok_or("not a text")?;
/// assert_eq!(compared.prediction, [" Yes", "yes"]);
/// assert_eq!(compared.references, [["YES", "yes"]]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedTexts {
    /// The prediction.
    pub prediction: [String; 2],
    /// The references; there may be several or none.
    pub references: Vec<[String; 2]>,
}

impl ComparedTexts {
    /// The texts of both sides, each with what `apply` makes of it.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn new<T: AsRef<str>>(
        prediction: &str,
        references: &[T],
        apply: impl Fn(&str) -> String,
    ) -> Self {
        let both = |text: &str| [text.to_owned(), apply(text)];
        Self {
            prediction: both(prediction),
            references: references.iter().map(|text| both(text.as_ref())).collect(),
        }
    }

    /// The same texts as they were before they were prepared.
    pub(crate) fn given_as(mut self, given: Self) -> Self {
        let [prediction, _] = given.prediction;
        self.prediction[0] = prediction;
        for (ours, [reference, _]) in self.references.iter_mut().zip(given.references) {
            ours[0] = reference;
        }
        self
    }
}
