use std::fmt;

/// A name that is none of the choices of an option.
///
/// ```
/// use metric_vision::BoxFormat;
///
/// let error = "yxyx".parse::<BoxFormat>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown box format \"yxyx\": expected one of xywh, xyxy, cxcywh");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownChoice {
    /// What is chosen.
    pub option: &'static str,
    /// The name that was given.
    pub given: String,
    /// The names there are.
    pub choices: Vec<&'static str>,
}

impl fmt::Display for UnknownChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            option,
            given,
            choices,
        } = self;
        let choices = choices.join(", ");
        write!(f, "unknown {option} {given:?}: expected one of {choices}")
    }
}

impl std::error::Error for UnknownChoice {}

/// `Display` and `FromStr` by the names of an enum that has `ALL` and `name`.
macro_rules! named_choice {
    ($type:ty, $option:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownChoice;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|choice| choice.name() == name);
                found.copied().ok_or_else(|| $crate::UnknownChoice {
                    option: $option,
                    given: name.to_owned(),
                    choices: Self::ALL.iter().map(|choice| choice.name()).collect(),
                })
            }
        }
    };
}
pub(crate) use named_choice;
