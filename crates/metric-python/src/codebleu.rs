//! The counts of CodeBLEU in texts, for `metric_suite.compat.codebleu`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use foldhash::fast::RandomState;
use metric_code::{
    CodeBleu, CodeBleuProfile, CodeBleuState, InvalidReferences, Language, Prediction, References,
};
use metric_core::{Merge, Metric};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// For each order, the n-grams matched and counted, and the lengths of predictions and references.
type Ngrams = ([[f64; 2]; 4], u64, u64);

/// The keywords of codebleu 0.7.0 among these tokens.
#[pyfunction]
pub(crate) fn code_keywords(language: &str, tokens: Vec<String>) -> PyResult<Vec<bool>> {
    let keywords = read_language(language)?.keywords();
    Ok(tokens
        .iter()
        .map(|token| keywords.contains(token))
        .collect())
}

/// Counts n-grams, weighted n-grams, subtrees and edges of the dataflow as codebleu 0.7.0 does.
#[pyfunction]
pub(crate) fn count_code(
    py: Python<'_>,
    language: &str,
    predictions: Vec<String>,
    references: Vec<Vec<String>>,
) -> PyResult<(Ngrams, Ngrams, [u64; 2], [u64; 2])> {
    let language = read_language(language)?;
    py.detach(|| {
        let metric = CodeBleu::new(CodeBleuProfile::CodeBleu07);
        let mut state = CodeBleuState::default();
        let mut unigrams = [0.0; 2];
        let mut parsed = Parsed::default();
        for (index, (text, texts)) in predictions.into_iter().zip(references).enumerate() {
            let refuse =
                |problem: String| PyValueError::new_err(format!("example {index}: {problem}"));
            let known = parsed.of(language, texts);
            let known = known.map_err(|error| refuse(error.to_string()))?;
            for (total, part) in unigrams.iter_mut().zip(known.weighted(&text)) {
                *total += part;
            }
            let prediction = Prediction::new(text).map_err(|error| refuse(error.to_string()))?;
            state.merge(metric.measure(&prediction, &known.references));
        }
        let CodeBleuState {
            ngram,
            weighted,
            syntax,
            dataflow,
            ..
        } = state;
        let floats = |orders: [[u64; 2]; 4]| orders.map(|order| order.map(|count| count as f64));
        let mut orders = floats(weighted.orders);
        orders[0] = unigrams;
        Ok((
            (
                floats(ngram.orders),
                ngram.prediction_length,
                ngram.reference_length,
            ),
            (
                orders,
                weighted.prediction_length,
                weighted.reference_length,
            ),
            syntax,
            dataflow,
        ))
    })
}

fn read_language(name: &str) -> PyResult<Language> {
    let found: Result<Language, _> = name.parse();
    found.map_err(|error| PyValueError::new_err(error.to_string()))
}

type Map<K, V> = HashMap<K, V, RandomState>;

/// References with what is read from them, which are kept, as data sets often repeat them: one for many samples of a
/// model.
#[derive(Default)]
struct Parsed {
    known: Map<Vec<String>, Known>,
    /// The length of all texts.
    bytes: usize,
}

impl Parsed {
    /// Texts of up to this many bytes are kept. The data read from them takes some five times as much.
    const LIMIT: usize = 1 << 20;

    fn of(&mut self, language: Language, texts: Vec<String>) -> Result<&Known, InvalidReferences> {
        let bytes: usize = texts.iter().map(String::len).sum();
        let is_new = !self.known.contains_key(&texts);
        if is_new && self.bytes + bytes > Self::LIMIT {
            *self = Self::default();
        }
        if is_new {
            self.bytes += bytes;
        }
        match self.known.entry(texts) {
            Entry::Occupied(entry) => Ok(&*entry.into_mut()),
            Entry::Vacant(entry) => {
                let known = Known::new(language, entry.key())?;
                Ok(&*entry.insert(known))
            }
        }
    }
}

/// References, and the tokens of each in the order in which they first occur.
struct Known {
    references: References,
    tokens: Vec<Vec<Token>>,
}

/// A token of a reference.
struct Token {
    /// Where the text first has it, in bytes.
    bytes: Range<usize>,
    count: u64,
    weight: f64,
}

impl Known {
    fn new(language: Language, texts: &[String]) -> Result<Self, InvalidReferences> {
        let counted = |text: &String| {
            let mut counted: Map<&str, usize> = Map::default();
            let mut counts: Vec<Token> = Vec::new();
            for bytes in tokens(text) {
                let token = &text[bytes.clone()];
                let index = *counted.entry(token).or_insert(counts.len());
                match counts.get_mut(index) {
                    Some(token) => token.count += 1,
                    None => {
                        let is_keyword = language.keywords().contains(token);
                        let weight = if is_keyword { 1.0 } else { 0.2 };
                        counts.push(Token {
                            bytes,
                            count: 1,
                            weight,
                        });
                    }
                }
            }
            counts
        };
        Ok(Self {
            tokens: texts.iter().map(counted).collect(),
            references: References::new(language, texts)?,
        })
    }

    /// The weighted tokens of the references that are in the prediction, of how many, added up as codebleu 0.7.0 does,
    /// token by token in tenths that are rounded: the engine counts in fifths, which are exact.
    fn weighted(&self, prediction: &str) -> [f64; 2] {
        let mut found: Map<&str, u64> = Map::default();
        for bytes in tokens(prediction) {
            *found.entry(&prediction[bytes]).or_default() += 1;
        }
        let mut sums = [0.0; 2];
        for (text, counts) in self.references.texts().zip(&self.tokens) {
            let mut parts = [0.0; 2];
            for token in counts {
                let matched = found.get(&text[token.bytes.clone()]).copied();
                let matched = matched.unwrap_or(0).min(token.count);
                parts[0] += matched as f64 * token.weight;
                parts[1] += token.count as f64 * token.weight;
            }
            sums[0] += parts[0];
            sums[1] += f64::max(1.0, parts[1]);
        }
        sums
    }
}

/// The tokens that Python's `str.split` returns, by their bytes.
fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_space);
        let start = text.len() - rest.len();
        let length = rest.find(is_space).unwrap_or(rest.len());
        rest = &rest[length..];
        (length > 0).then(|| start..start + length)
    })
}
