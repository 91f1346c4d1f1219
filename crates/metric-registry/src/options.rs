use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// One option of a metric: what the command line, its help and bindings are made from.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The name, without dashes.
    pub name: &'static str,
    /// What the value is called in help; empty for a switch, which takes no value.
    pub value: &'static str,
    /// The value if none is given; empty for none.
    pub default: &'static str,
    /// The allowed values, where they are a fixed set.
    pub choices: fn() -> Vec<&'static str>,
    /// One line of help.
    pub help: &'static str,
}

impl OptionSpec {
    /// Whether the option is a switch, on when it is named.
    #[must_use]
    pub fn is_switch(&self) -> bool {
        self.value.is_empty()
    }
}

/// The chosen values of a metric's options, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    values: BTreeMap<String, String>,
    details: bool,
}

impl Options {
    /// Chooses a value; a switch is on with any value.
    ///
    /// ```
    /// # use metric_registry::Options;
    /// let options = Options::default().set("profile", "exact");
    /// assert_eq!(options.get("profile"), Some("exact"));
    /// ```
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.values.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Also gathers what [`Evidence::details`](super::Evidence::details) gives, for metrics that
    /// otherwise spare the work.
    #[must_use]
    pub fn with_details(mut self) -> Self {
        self.details = true;
        self
    }

    /// Whether details are wanted.
    #[must_use]
    pub fn details(&self) -> bool {
        self.details
    }

    /// The chosen value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The chosen value, parsed; `None` if none was chosen and there is no default.
    ///
    /// # Errors
    ///
    /// The value does not parse; the error carries the parser's reason.
    pub fn parse<T>(&self, name: &str) -> Result<Option<T>, OptionError>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        self.get(name)
            .map(|value| {
                value
                    .parse()
                    .map_err(|reason: T::Err| OptionError::new(name, value, reason.to_string()))
            })
            .transpose()
    }

    /// The chosen or default value, parsed.
    ///
    /// # Errors
    ///
    /// The value is missing or does not parse.
    pub fn require<T>(&self, name: &str) -> Result<T, OptionError>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        self.parse(name)?
            .ok_or_else(|| OptionError::new(name, "", "a value is needed".to_owned()))
    }

    /// The chosen or default value, a number; it may be infinite, where the metric can take that.
    ///
    /// # Errors
    ///
    /// The value is missing or no number.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn number(&self, name: &str) -> Result<f64, OptionError> {
        let number = |text: &str| text.trim().parse().ok().filter(|f: &f64| !f.is_nan());
        self.one(name, "a number", number)
    }

    /// The chosen or default value, a whole number.
    ///
    /// # Errors
    ///
    /// The value is missing or no such number.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn whole<T: FromStr>(&self, name: &str) -> Result<T, OptionError> {
        let number = |text: &str| text.trim().parse().ok();
        self.one(name, "a whole number from 0 on", number)
    }

    fn one<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, OptionError> {
        let text = self.get(name).unwrap_or_default();
        read(text).ok_or_else(|| OptionError::new(name, text, format!("expected {expected}")))
    }

    /// The values of an option that is a list, each read by `read`; none without a value.
    ///
    /// # Errors
    ///
    /// A value that is not what was `expected`, or that is listed twice.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn list<T: PartialEq>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, OptionError> {
        let text = self.get(name).unwrap_or_default();
        let mut values = Vec::new();
        for part in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
            let problem = |reason: String| OptionError::new(name, text, reason);
            let value = (!part.is_empty())
                .then(|| read(part))
                .flatten()
                .ok_or_else(|| problem(format!("found {part:?}, expected {expected}")))?;
            if values.contains(&value) {
                return Err(problem(format!("{part} is listed twice")));
            }
            values.push(value);
        }
        Ok(values)
    }

    /// A whole number from 1 to `most`; `None` if none was chosen and there is no default.
    ///
    /// # Errors
    ///
    /// As [`counting`].
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn counting(
        &self,
        name: &str,
        most: usize,
    ) -> Result<Option<NonZeroUsize>, OptionError> {
        let number =
            |text| counting(text, most).map_err(|reason| OptionError::new(name, text, reason));
        self.get(name).map(number).transpose()
    }

    pub(crate) fn check(&self, specs: &[OptionSpec]) -> Result<(), OptionError> {
        for (name, value) in &self.values {
            if !specs.iter().any(|spec| spec.name == name) {
                let names: Vec<_> = specs.iter().map(|spec| spec.name).collect();
                let reason = match names.as_slice() {
                    [] => "this metric has no options".to_owned(),
                    names => format!("this metric has {}", names.join(", ")),
                };
                return Err(OptionError::new(name, value, reason));
            }
        }
        for spec in specs {
            let choices = (spec.choices)();
            match self.get(spec.name) {
                Some(value) if !choices.is_empty() && !choices.contains(&value) => {
                    let reason = format!("expected one of {}", choices.join(", "));
                    return Err(OptionError::new(spec.name, value, reason));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn with_defaults(&self, specs: &[OptionSpec]) -> Self {
        let mut options = self.clone();
        for spec in specs.iter().filter(|spec| !spec.default.is_empty()) {
            options
                .values
                .entry(spec.name.to_owned())
                .or_insert_with(|| spec.default.to_owned());
        }
        options
    }
}

/// A whole number from 1 to `most`.
///
/// # Errors
///
/// Anything else, in words.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
pub(crate) fn counting(text: &str, most: usize) -> Result<NonZeroUsize, String> {
    let number = text.trim().parse().ok();
    number
        .filter(|number: &NonZeroUsize| number.get() <= most)
        .ok_or_else(|| match most {
            usize::MAX => "expected a whole number from 1 on".to_owned(),
            most => format!("expected a whole number from 1 to {most}"),
        })
}

/// A finite number.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Values as they stand in a signature.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
pub(crate) fn listed<T: fmt::Display>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    values.join(",")
}

/// An option that a metric cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    /// The option's name.
    pub option: String,
    /// The value that was given.
    pub value: String,
    /// What is wrong with it.
    pub reason: String,
}

impl OptionError {
    pub(crate) fn new(option: &str, value: &str, reason: String) -> Self {
        Self {
            option: option.to_owned(),
            value: value.to_owned(),
            reason,
        }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            option,
            value,
            reason,
        } = self;
        match value.as_str() {
            "" => write!(f, "--{option}: {reason}"),
            value => write!(f, "--{option} {value:?}: {reason}"),
        }
    }
}

impl std::error::Error for OptionError {}
