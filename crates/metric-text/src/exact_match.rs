use std::borrow::Cow;

use metric_core::{Accuracy, Metric};

use crate::normalize::{Step, then};
use crate::python_re::{PythonRegex, TooManySteps};

/// Returns the share of predictions that equal their reference, without any of the options of [`ExactMatch`]; undefined
/// without examples.
///
/// ```
/// use metric_text::exact_match;
///
/// assert_eq!(exact_match([("Paris", "Paris"), ("paris", "Paris")]), Some(1.0 / 2.0));
/// ```
#[must_use]
pub fn exact_match<'t>(pairs: impl IntoIterator<Item = (&'t str, &'t str)>) -> Option<f64> {
    ExactMatch::default().score_all(pairs)
}

/// The share of predictions that equal their reference, with the options of `exact_match` in Hugging
/// Face's evaluate, by their names; all off by default.
///
/// The options that are on are applied to both texts, in the order of the fields here. Known defects of the program
/// that are not repeated: `\0` at the end of a text is ignored, a text that grows in lowercase (`İ`) is cut to the
/// length of the longest one, and no examples give NaN.
///
/// huggingface/evaluate 0.4, `metrics/exact_match/exact_match.py`.
///
/// ```
/// use metric_core::Metric;
/// use metric_text::ExactMatch;
///
/// let metric = ExactMatch::default().with_ignore_case(true).with_ignore_punctuation(true);
/// let mut state = metric.measure("Theatre!", "theatre");
/// metric.update(&mut state, "the theatre", "theatre");
/// assert_eq!(metric.compute(&state), Some(0.5));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ExactMatch {
    /// The patterns whose matches are deleted from the texts first, one after the other, as by Python's `re.sub`. They
    /// need the feature `regex`.
    pub regexes_to_ignore: Vec<PythonRegex>,
    /// Lowercases, as Python's `str.lower`; `ß` and `SS` stay different.
    pub ignore_case: bool,
    /// Deletes the 32 characters of Python's `string.punctuation`.
    pub ignore_punctuation: bool,
    /// Deletes the digits 0 to 9.
    pub ignore_numbers: bool,
}

metric_core::setters!(ExactMatch {
    with_regexes_to_ignore => regexes_to_ignore: Vec<PythonRegex>,
    with_ignore_case => ignore_case: bool,
    with_ignore_punctuation => ignore_punctuation: bool,
    with_ignore_numbers => ignore_numbers: bool,
});

impl ExactMatch {
    /// Returns the text in the form in which it is compared.
    ///
    /// # Errors
    ///
    /// Returns an error if a pattern takes too long to match.
    ///
    /// ```
    /// use metric_text::ExactMatch;
    ///
    /// let metric = ExactMatch::default().with_ignore_case(true).with_ignore_numbers(true);
    /// assert_eq!(metric.apply("Room 101").as_deref(), Ok("room "));
    /// ```
    pub fn apply<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, TooManySteps> {
        let mut text = Cow::Borrowed(text);
        for pattern in &self.regexes_to_ignore {
            if let Cow::Owned(shorter) = pattern.replace_all(&text, "")? {
                text = Cow::Owned(shorter);
            }
        }
        for (is_on, step) in [
            (self.ignore_case, Step::Lower),
            (self.ignore_punctuation, Step::AsciiPunctuation),
            (self.ignore_numbers, Step::AsciiDigits),
        ] {
            if is_on {
                text = then(&step, text);
            }
        }
        Ok(text)
    }

    /// Checks that no pattern takes too long to match a text.
    ///
    /// # Errors
    ///
    /// Returns an error if one does.
    pub fn check(&self, text: &str) -> Result<(), TooManySteps> {
        let mut patterns = self.regexes_to_ignore.iter();
        if patterns.any(|pattern| pattern.may_take_too_many_steps(text.len())) {
            self.apply(text)?;
        }
        Ok(())
    }

    /// Returns whether two texts are equal after the options have been applied. A text that takes too long to match
    /// ([`check`](Self::check)) only equals itself.
    #[must_use]
    pub fn equal(&self, prediction: &str, reference: &str) -> bool {
        prediction == reference
            || (self.changes_texts() && self.are_equal_after(prediction, reference))
    }

    fn are_equal_after(&self, prediction: &str, reference: &str) -> bool {
        let both = self.apply(prediction).ok().zip(self.apply(reference).ok());
        both.is_some_and(|(prediction, reference)| prediction == reference)
    }

    /// Returns whether any option is on, so that texts may be changed before they are compared.
    ///
    /// ```
    /// use metric_text::ExactMatch;
    ///
    /// assert!(!ExactMatch::default().changes_texts());
    /// assert!(ExactMatch::default().with_ignore_case(true).changes_texts());
    /// ```
    #[must_use]
    pub fn changes_texts(&self) -> bool {
        !self.regexes_to_ignore.is_empty()
            || self.ignore_case
            || self.ignore_punctuation
            || self.ignore_numbers
    }
}

impl Metric for ExactMatch {
    type Prediction = str;
    type Reference = str;
    type State = Accuracy;
    /// Undefined without examples.
    type Score = Option<f64>;

    fn update(&self, state: &mut Accuracy, prediction: &str, reference: &str) {
        state.record(self.equal(prediction, reference));
    }

    fn compute(&self, state: &Accuracy) -> Option<f64> {
        state.value()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn options(case: bool, punctuation: bool, numbers: bool) -> ExactMatch {
        ExactMatch {
            ignore_case: case,
            ignore_punctuation: punctuation,
            ignore_numbers: numbers,
            ..ExactMatch::default()
        }
    }

    #[test]
    fn options_by_hand() {
        let rows = [
            ("a", "A", [false, false, false], false),
            ("a", "A", [true, false, false], true),
            ("ß", "SS", [true, true, true], false),
            ("ΟΔΟΣ", "οδος", [true, false, false], true),
            ("a.b", "ab", [false, true, false], true),
            ("a–b", "ab", [false, true, false], false),
            ("a1", "a2", [false, false, true], true),
            ("a١", "a2", [false, false, true], false),
            ("1.", "", [false, true, true], true),
            ("a\0", "a", [true, true, true], false),
        ];
        for (a, b, [case, punctuation, numbers], expected) in rows {
            let metric = options(case, punctuation, numbers);
            assert_eq!(metric.equal(a, b), expected, "{a:?} {b:?} {metric:?}");
        }
        let metric = ExactMatch::default();
        assert_eq!(metric.compute(&Accuracy::default()), None);
    }

    #[cfg(feature = "regex")]
    #[test]
    fn expressions_come_first_and_one_after_the_other() {
        let regexes_to_ignore = ["b", "ac"].map(|pattern| pattern.parse().unwrap());
        let metric = ExactMatch {
            regexes_to_ignore: regexes_to_ignore.into(),
            ignore_case: true,
            ..ExactMatch::default()
        };
        assert_eq!(metric.apply("abcx").as_deref(), Ok("x"));
        assert_eq!(metric.apply("aBc").as_deref(), Ok("abc"));
        let error = "(?=b".parse::<PythonRegex>().unwrap_err();
        assert_eq!(error.pattern, "(?=b");
        assert!(error.to_string().contains("missing )"), "{error}");
    }

    #[cfg(feature = "regex")]
    #[test]
    fn a_pattern_that_takes_too_long_is_an_error() {
        let metric =
            ExactMatch::default().with_regexes_to_ignore(vec!["(x+x+)+y$".parse().unwrap()]);
        let text = "x".repeat(60);
        assert_eq!(metric.check(&text), Err(TooManySteps));
        assert_eq!(metric.check("xxxy"), Ok(()));
        assert!(metric.equal("xxxy", "") && metric.equal(&text, &text) && !metric.equal(&text, ""));
    }

    proptest! {
        #[test]
        fn options_only_make_more_equal(a in "[aAé.1 ]{0,4}", b in "[aAé.1 ]{0,4}") {
            let none = ExactMatch::default().equal(&a, &b);
            prop_assert_eq!(none, a == b);
            for bits in 0..8 {
                let metric = options(bits & 1 > 0, bits & 2 > 0, bits & 4 > 0);
                prop_assert!(metric.equal(&a, &b) || !none);
                prop_assert_eq!(metric.equal(&a, &b), metric.equal(&b, &a));
                prop_assert_eq!(metric.equal(&a, &b), metric.apply(&a) == metric.apply(&b));
            }
        }
    }
}
