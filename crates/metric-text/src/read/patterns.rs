use metric_record::json::typed;
use serde::de::IgnoredAny;

use crate::PythonRegex;
use crate::normalize::InvalidPattern;

/// Reads the patterns of [`ExactMatch::regexes_to_ignore`](crate::ExactMatch::regexes_to_ignore): one regular
/// expression, or a JSON list of them. Empty text is not a pattern.
///
/// ```
/// use metric_text::read::patterns;
///
/// let texts = |text| patterns(text).map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>());
/// assert_eq!(texts("[0-9]+"), Ok(vec!["[0-9]+".to_owned()]));
/// assert_eq!(texts(r#"["the ", "a "]"#), Ok(vec!["the ".to_owned(), "a ".to_owned()]));
/// assert_eq!(texts(""), Ok(vec![]));
/// assert!(texts(r#"["a", 1]"#).unwrap_err().starts_with("not a JSON list of texts"));
/// ```
///
/// # Errors
///
/// Returns what is wrong if the text seems to be a JSON list and is not a list of strings, or if a pattern is
/// not a regular expression.
pub fn patterns(text: &str) -> Result<Vec<PythonRegex>, String> {
    let patterns: Result<Vec<PythonRegex>, InvalidPattern> = pattern_texts(text)?
        .iter()
        .map(|pattern| pattern.parse())
        .collect();
    patterns.map_err(|error| error.to_string())
}

fn pattern_texts(text: &str) -> Result<Vec<String>, String> {
    match typed(text) {
        Ok(patterns) => Ok(patterns),
        // A class of characters can look like a list, but hardly ever does.
        Err(error)
            if text.starts_with("[\"")
                && text.len() > 3
                && (text.ends_with("\"]") || serde_json::from_str::<IgnoredAny>(text).is_ok()) =>
        {
            Err(format!("not a JSON list of texts: {error}"))
        }
        Err(_) if text.is_empty() => Ok(Vec::new()),
        Err(_) => Ok(vec![text.to_owned()]),
    }
}
