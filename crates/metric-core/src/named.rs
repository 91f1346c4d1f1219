/// Scores that can be listed with their names, as a table, a log or a plot needs them.
///
/// The names are those that the program `metric` prints, where a score has one there. They are the same for all values
/// of a definition, in an order that does not change. Undefined scores are `None`.
///
/// A metric with one number computes an `Option<f64>`, which does not know its metric: its name is `score`.
///
/// ```
/// use metric_core::NamedScores;
///
/// struct Rates {
///     precision: Option<f64>,
///     recall: Option<f64>,
/// }
///
/// impl NamedScores for Rates {
///     fn named_scores(&self) -> Vec<(String, Option<f64>)> {
///         let named = [("precision", self.precision), ("recall", self.recall)];
///         named.map(|(name, score)| (name.to_owned(), score)).into()
///     }
/// }
///
/// let rates = Rates { precision: Some(0.5), recall: None };
/// assert_eq!(rates.named_scores(), [("precision".to_owned(), Some(0.5)), ("recall".to_owned(), None)]);
/// ```
pub trait NamedScores {
    /// Returns the name and the value of each score.
    fn named_scores(&self) -> Vec<(String, Option<f64>)>;
}

/// One number, under the name `score`.
///
/// ```
/// use metric_core::NamedScores;
///
/// let accuracy = Some(3.0 / 4.0);
/// assert_eq!(accuracy.named_scores(), [("score".to_owned(), Some(0.75))]);
/// assert_eq!(None::<f64>.named_scores(), [("score".to_owned(), None)]);
/// ```
impl NamedScores for Option<f64> {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        vec![("score".to_owned(), *self)]
    }
}

/// Implements [`NamedScores`] for a struct whose fields are scores: by field name, or by the name after the field.
///
/// ```
/// #[derive(Default)]
/// struct Rates {
///     precision: Option<f64>,
///     area: Option<f64>,
/// }
///
/// metric_core::named_scores!(Rates { precision, area as "AP" });
///
/// use metric_core::NamedScores;
/// let names: Vec<String> = Rates::default().named_scores().into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["precision", "AP"]);
/// ```
#[macro_export]
macro_rules! named_scores {
    ($scores:ty { $($field:ident $(as $name:literal)?),+ $(,)? }) => {
        impl $crate::NamedScores for $scores {
            fn named_scores(&self) -> Vec<(String, Option<f64>)> {
                vec![$(($crate::named_scores!(@name $field $($name)?).to_owned(), self.$field.into())),+]
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
}
