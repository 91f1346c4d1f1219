use std::borrow::Cow;
use std::cell::OnceCell;

use metric_core::{Accuracy, Metric};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::normalize;

/// The share of predictions that are [nearly](relaxed_match) one of their references: numbers within a relative
/// tolerance, other texts if they are equal in lowercase. Used for questions about charts.
///
/// Without references no prediction is correct.
///
/// A. Masry et al., *ChartQA* (2022), section 5.1; N. Methani et al., *PlotQA* (2020).
///
/// ```
/// use metric_core::Metric;
/// use metric_text::RelaxedAccuracy;
///
/// let metric = RelaxedAccuracy::default(); // 5 %
/// let mut state = metric.measure("104.9", &["100".to_owned()]);
/// metric.update(&mut state, "106", &["100".to_owned()]);
/// metric.update(&mut state, "Yes", &["yes".to_owned()]);
/// assert_eq!(metric.compute(&state), Some(2.0 / 3.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelaxedAccuracy {
    /// The tolerance of numbers, relative to the true one.
    pub tolerance: f64,
}

impl Default for RelaxedAccuracy {
    /// 5%, as in ChartQA.
    fn default() -> Self {
        Self { tolerance: 0.05 }
    }
}

impl RelaxedAccuracy {
    /// Returns a prediction and a reference in the form in which they are compared: both as numbers, or both in
    /// lowercase.
    ///
    /// ```
    /// use metric_text::RelaxedAccuracy;
    ///
    /// let metric = RelaxedAccuracy::default();
    /// assert_eq!(metric.as_compared("12%", "0.1"), ["0.12", "0.1"]);
    /// assert_eq!(metric.as_compared("12%", "Dozen"), ["12%", "dozen"]);
    /// ```
    #[must_use]
    pub fn as_compared(&self, prediction: &str, reference: &str) -> [String; 2] {
        match number(prediction).zip(number(reference)) {
            Some((prediction, reference)) if reference != 0.0 => {
                [prediction, reference].map(|number| number.to_string())
            }
            _ => [prediction, reference].map(|text| normalize::lower(text).into_owned()),
        }
    }
}

impl Metric for RelaxedAccuracy {
    type Prediction = str;
    type Reference = [String];
    type State = Accuracy;
    /// Undefined without examples.
    type Score = Option<f64>;

    fn update(&self, state: &mut Accuracy, prediction: &str, reference: &[String]) {
        let prediction = Answer::new(prediction);
        let mut references = reference.iter();
        state.record(references.any(|text| prediction.matches(text, self.tolerance)));
    }

    fn compute(&self, state: &Accuracy) -> Option<f64> {
        state.value()
    }
}

/// Returns whether `|prediction − reference| / |reference| <= tolerance`, if both are numbers and
/// the reference is not 0; else whether the texts are equal in lowercase.
///
/// Numbers are texts that Python's `float` accepts, and such texts followed by `%`, which are hundredths. Quirks of the
/// program are kept: if the reference is `0`, only `0` is correct, not `0.0`; infinities are near nothing, not even
/// themselves.
///
/// google-research/pix2struct, revision 42e2427, `metrics.py`, `relaxed_correctness`.
///
/// ```
/// use metric_text::relaxed_match;
///
/// assert!(relaxed_match("1_050", "1e3", 0.05));
/// assert!(relaxed_match("12%", "0.12", 0.0));
/// assert!(!relaxed_match("12", "12 %", 0.05));
/// assert!(!relaxed_match("0.0", "0", 0.05));
/// ```
#[must_use]
pub fn relaxed_match(prediction: &str, reference: &str, tolerance: f64) -> bool {
    Answer::new(prediction).matches(reference, tolerance)
}

/// A prediction, read once for all references.
struct Answer<'a> {
    text: &'a str,
    number: Option<f64>,
    lower: OnceCell<Cow<'a, str>>,
}

impl<'a> Answer<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            number: number(text),
            lower: OnceCell::new(),
        }
    }

    fn matches(&self, reference: &str, tolerance: f64) -> bool {
        match (self.number, number(reference)) {
            (Some(prediction), Some(reference)) if reference != 0.0 => {
                (prediction - reference).abs() / reference.abs() <= tolerance
            }
            _ => {
                let lower = self.lower.get_or_init(|| normalize::lower(self.text));
                *lower == normalize::lower(reference)
            }
        }
    }
}

/// A number, or a percentage.
fn number(text: &str) -> Option<f64> {
    if text.ends_with('%') {
        python_float(text.trim_end_matches('%')).map(|percent| percent / 100.0)
    } else {
        python_float(text)
    }
}

/// Python's `float(text)`: also with white space at the ends, with `_` between digits, and with
/// digits of any script.
fn python_float(text: &str) -> Option<f64> {
    // Unlike in `strip`, U+001C to U+001F are not white space here.
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let ascii: Option<String> = text
        .chars()
        .map(|c| {
            if c.is_ascii() {
                Some(c)
            } else {
                decimal_digit(c)
            }
        })
        .collect();
    let ascii = ascii?;
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = ascii.as_bytes();
    let between_digits = |position: usize| {
        position > 0 && digit(bytes.get(position - 1)) && digit(bytes.get(position + 1))
    };
    let mut underscores = ascii.match_indices('_');
    if underscores.all(|(position, _)| between_digits(position)) {
        ascii.replace('_', "").parse().ok()
    } else {
        None
    }
}

/// The ASCII digit of a decimal digit. Unicode has decimal digits in runs from 0 to 9.
fn decimal_digit(c: char) -> Option<char> {
    let is_digit = |code: u32| {
        char::from_u32(code).is_some_and(|c| c.general_category() == GeneralCategory::DecimalNumber)
    };
    let code = u32::from(c);
    if !is_digit(code) {
        return None;
    }
    let before = (0..code).rev().take_while(|&code| is_digit(code)).count();
    char::from_digit(u32::try_from(before).ok()? % 10, 10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_by_hand() {
        let rows = [
            ("5", Some(5.0)),
            (" +5.\t", Some(5.0)),
            ("-.5e1", Some(-5.0)),
            ("1_0.0_1", Some(10.01)),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("1_.0", None),
            ("٣.٥", Some(3.5)),
            ("𝟙𝟐", Some(12.0)),
            ("²", None),
            ("50%", Some(0.5)),
            ("50%%", Some(0.5)),
            ("50 %", Some(0.5)),
            ("50% ", None),
            ("%", None),
            ("", None),
            ("1,000", None),
            ("$5", None),
            ("0x10", None),
            ("1e999", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("1\0", None),
            ("1\u{1f}", None),
            ("\u{3000}1\u{85}", Some(1.0)),
        ];
        for (text, expected) in rows {
            assert_eq!(number(text), expected, "{text:?}");
        }
        assert!(number("nan").is_some_and(f64::is_nan));
    }

    #[test]
    fn matches_by_hand() {
        let rows = [
            ("105", "100", true),
            ("95", "100", true),
            ("105.1", "100", false),
            ("-95", "-100", true),
            ("-100", "100", false),
            ("0", "0", true),
            ("0.00", "0", false),
            ("0.001", "0.0", false),
            ("Red ", "red", false),
            ("RED", "red", true),
            ("inf", "inf", false),
            ("inf", "1", false),
            ("nan", "nan", false),
            ("5", "five", false),
            ("", "", true),
        ];
        for (prediction, reference, expected) in rows {
            let found = relaxed_match(prediction, reference, 0.05);
            assert_eq!(found, expected, "{prediction:?} {reference:?}");
        }
        let metric = RelaxedAccuracy::default();
        assert_eq!(metric.compute(&metric.measure("a", &[])), Some(0.0));
        assert_eq!(metric.compute(&Accuracy::default()), None);
    }

    proptest! {
        #[test]
        fn any_texts_are_compared(a in any::<String>(), b in any::<String>()) {
            prop_assert!(relaxed_match(&a, &b, f64::INFINITY) >= relaxed_match(&a, &b, 0.05));
        }

        #[test]
        fn a_finite_number_is_near_itself(x in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            prop_assert!(relaxed_match(&x.to_string(), &x.to_string(), 0.0));
        }
    }
}
