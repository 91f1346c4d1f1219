use std::fmt;

/// The error for a name that is not among the choices of an option, such as a profile or a matching rule.
///
/// ```
/// use metric_core::UnknownChoice;
///
/// let error = UnknownChoice { option: "box format", given: "yxyx".to_owned(), choices: vec!["xywh", "xyxy"] };
/// assert_eq!(error.to_string(), "unknown box format \"yxyx\": expected one of xywh, xyxy");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownChoice {
    /// The kind of choice, such as a profile.
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

/// An enum whose values have names, which [`named_choice!`](crate::named_choice) implements.
pub trait Choice {
    /// Further names that are read, each with the name that it means.
    const ALIASES: &'static [(&'static str, &'static str)];

    /// Returns the names of all values.
    fn names() -> Vec<&'static str>;
}

/// Prints and reads an enum by its names: `Display`, [`Choice`](crate::Choice), and `FromStr`, whose error is
/// [`UnknownChoice`], for a type that has `ALL: &[Self]` and `name(self) -> &'static str`.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Average {
///     Micro,
///     Macro,
/// }
///
/// impl Average {
///     const ALL: &[Self] = &[Self::Micro, Self::Macro];
///
///     const fn name(self) -> &'static str {
///         match self {
///             Self::Micro => "micro",
///             Self::Macro => "macro",
///         }
///     }
/// }
///
/// metric_core::named_choice!(Average, "average");
///
/// assert_eq!("macro".parse(), Ok(Average::Macro));
/// assert_eq!(Average::Micro.to_string(), "micro");
/// assert!("mean".parse::<Average>().is_err());
/// assert_eq!(<Average as metric_core::Choice>::names(), ["micro", "macro"]);
/// ```
///
/// A third argument lists further names that are read, each with the name that it means.
#[macro_export]
macro_rules! named_choice {
    ($type:ty, $option:literal) => {
        $crate::named_choice!($type, $option, &[]);
    };
    ($type:ty, $option:literal, $aliases:expr) => {
        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::Choice for $type {
            const ALIASES: &'static [(&'static str, &'static str)] = $aliases;

            fn names() -> ::std::vec::Vec<&'static str> {
                Self::ALL.iter().map(|choice| choice.name()).collect()
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::UnknownChoice;

            fn from_str(name: &str) -> ::std::result::Result<Self, Self::Err> {
                let mut aliases = <Self as $crate::Choice>::ALIASES.iter();
                let alias = aliases.find(|(alias, _)| *alias == name);
                let meant = alias.map_or(name, |(_, meant)| meant);
                let found = Self::ALL.iter().find(|choice| choice.name() == meant);
                found.copied().ok_or_else(|| $crate::UnknownChoice {
                    option: $option,
                    given: name.to_owned(),
                    choices: <Self as $crate::Choice>::names(),
                })
            }
        }
    };
}
