/// Writes the setters of a struct with public fields that may get more of them, so that it is made from its default:
/// `Options::default().with_strict(true)`.
///
/// Such a struct is `#[non_exhaustive]`. Other crates cannot write it field by field, and a new field does not break
/// them. A setter takes the value of the field of its name.
///
/// ```
/// #[derive(Default)]
/// #[non_exhaustive]
/// pub struct Options {
///     /// Whether unknown names are an error.
///     pub strict: bool,
///     /// The number of attempts.
///     pub attempts: u32,
/// }
///
/// metric_core::setters!(Options {
///     with_strict => strict: bool,
///     with_attempts => attempts: u32,
/// });
///
/// let options = Options::default().with_strict(true).with_attempts(2);
/// assert!(options.strict);
/// assert_eq!(options.attempts, 2);
/// ```
#[macro_export]
macro_rules! setters {
    ($type:ident { $($setter:ident => $field:ident: $value:ty),* $(,)? }) => {
        impl $type {
            $(
                #[doc = concat!("Returns the same with another [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $setter(mut self, $field: $value) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}
