//! Statistics, scores and tokens of BLEU, chrF, TER and ROUGE, for `metric_suite.compat.sacrebleu` and
//! `metric_suite.compat.rouge_score`.

use metric_core::{Merge, Metric};
use metric_text::bleu::{BleuProfile, BleuState, ReferenceCounts, Tokenizer};
use metric_text::chrf::ChrfState;
use metric_text::rouge::{self, RougeState, RougeType};
use metric_text::ter::TerState;
use metric_text::{Bleu, Chrf, Rouge, Ter};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

/// The statistics of each segment or of all segments together, and the fewest and the most references of a segment.
type Statistics<T> = (Vec<T>, Option<(u64, u64)>);

/// The options of chrF: the orders of characters and words, beta, lowercase, white space and epsilon smoothing.
type ChrfOptions = (usize, usize, f64, bool, bool, bool);

/// The options of TER: normalized, without punctuation, Asian support and case-sensitive.
type TerOptions = (bool, bool, bool, bool);

/// The lengths of predictions and references, the correct n-grams of each order, and all n-grams of each order. The
/// options are the profile, the tokenizer, lowercase and the greatest order.
#[pyfunction]
pub(crate) fn bleu_statistics(
    py: Python<'_>,
    options: (String, String, bool, usize),
    hypotheses: &Bound<'_, PyAny>,
    references: &Bound<'_, PyAny>,
    each: bool,
) -> PyResult<Statistics<Vec<u64>>> {
    let (profile, tokenizer, lowercase, max_order) = options;
    let bleu = Bleu::default()
        .with_profile(named(&profile)?)
        .with_tokenizer(named(&tokenizer)?)
        .with_lowercase(lowercase)
        .with_max_order(max_order);
    let segments = Segments::read(hypotheses, references)?;
    let states = py.detach(|| {
        segments.states(each, |state: &mut BleuState, prediction, references| {
            bleu.add(state, prediction, references);
        })
    });
    let row = |state: &BleuState| {
        let lengths = [state.prediction_length, state.reference_length];
        let of = |index: usize| state.ngrams.iter().map(move |ngrams| ngrams[index]);
        lengths.into_iter().chain(of(0)).chain(of(1)).collect()
    };
    Ok(statistics(&states, row, |state| state.references))
}

/// The score, the brevity penalty, the precisions and the counts as they were used, all as sacreBLEU returns them, or as
/// fractions under the other profiles.
type BleuScore = (Option<f64>, Option<f64>, Vec<f64>, Vec<[f64; 2]>);

/// Computes BLEU from the statistics of [`bleu_statistics`].
#[pyfunction]
pub(crate) fn bleu_score(
    profile: &str,
    smoothing: &str,
    smooth_value: Option<f64>,
    effective_order: bool,
    lengths: [u64; 2],
    ngrams: Vec<[u64; 2]>,
) -> PyResult<BleuScore> {
    let profile = named(profile)?;
    let bleu = Bleu::default()
        .with_profile(profile)
        .with_smoothing(Some(named(smoothing)?))
        .with_smooth_value(smooth_value)
        .with_effective_order(effective_order)
        .with_max_order(ngrams.len());
    let [prediction_length, reference_length] = lengths;
    let score = bleu.compute(&BleuState {
        ngrams,
        prediction_length,
        reference_length,
        references: ReferenceCounts::of(1),
        means: Vec::new(),
    });
    let (value, precisions) = match profile {
        BleuProfile::Sacrebleu => (score.percent, score.percent_precisions),
        _ => (score.bleu, score.precisions),
    };
    Ok((
        value,
        score.brevity_penalty,
        precisions,
        score.smoothed_ngrams,
    ))
}

/// For each order, the n-grams of predictions, the n-grams of references and the matches.
#[pyfunction]
pub(crate) fn chrf_statistics(
    py: Python<'_>,
    options: ChrfOptions,
    hypotheses: &Bound<'_, PyAny>,
    references: &Bound<'_, PyAny>,
    each: bool,
) -> PyResult<Statistics<Vec<u64>>> {
    let chrf = chrf(options);
    let segments = Segments::read(hypotheses, references)?;
    let states = py.detach(|| {
        segments.states(each, |state: &mut ChrfState, prediction, references| {
            chrf.add(state, prediction, references);
        })
    });
    let row = |state: &ChrfState| state.statistics.concat();
    Ok(statistics(&states, row, |state| state.references))
}

/// Computes chrF from the statistics of [`chrf_statistics`], as a percentage. `None` if it is not a finite number.
#[pyfunction]
pub(crate) fn chrf_score(options: ChrfOptions, statistics: Vec<[u64; 3]>) -> Option<f64> {
    let state = ChrfState {
        statistics,
        references: ReferenceCounts::of(1),
    };
    chrf(options).compute(&state).percent
}

fn chrf(options: ChrfOptions) -> Chrf {
    let (char_order, word_order, beta, lowercase, whitespace, eps_smoothing) = options;
    Chrf::default()
        .with_char_order(char_order)
        .with_word_order(word_order)
        .with_beta(beta)
        .with_lowercase(lowercase)
        .with_whitespace(whitespace)
        .with_eps_smoothing(eps_smoothing)
}

/// The edits, and the mean length of the references.
#[pyfunction]
pub(crate) fn ter_statistics(
    py: Python<'_>,
    options: TerOptions,
    hypotheses: &Bound<'_, PyAny>,
    references: &Bound<'_, PyAny>,
    each: bool,
) -> PyResult<Statistics<(u64, f64)>> {
    let ter = ter(options);
    let segments = Segments::read(hypotheses, references)?;
    let states = py.detach(|| {
        segments.states(each, |state: &mut TerState, prediction, references| {
            ter.add(state, prediction, references);
        })
    });
    let row = |state: &TerState| (state.edits, state.reference_length());
    Ok(statistics(&states, row, |state| state.references))
}

fn ter((normalized, no_punct, asian_support, case_sensitive): TerOptions) -> Ter {
    Ter::default()
        .with_normalized(normalized)
        .with_no_punct(no_punct)
        .with_asian_support(asian_support)
        .with_case_sensitive(case_sensitive)
}

/// Precision, recall and F.
type RougeScore = (f64, f64, f64);

/// The scores of each prediction, for each type: of the target with the highest F.
#[pyfunction]
pub(crate) fn rouge_scores(
    py: Python<'_>,
    types: Vec<String>,
    stemmer: bool,
    targets: Vec<Vec<PyBackedStr>>,
    predictions: Vec<PyBackedStr>,
) -> PyResult<Vec<Vec<RougeScore>>> {
    let types = types.iter().map(|name| named(name));
    let types = types.collect::<PyResult<Vec<RougeType>>>()?;
    let mut columns = vec![Vec::with_capacity(predictions.len()); types.len()];
    let rouge = Rouge::default().with_types(types).with_stemmer(stemmer);
    py.detach(|| {
        for (prediction, targets) in predictions.iter().zip(&targets) {
            let mut state = RougeState::default();
            rouge.add(&mut state, prediction, targets);
            for (column, sums) in columns.iter_mut().zip(&state.types) {
                let overlap = sums.overlap;
                column.push((overlap.precision(), overlap.recall(), overlap.f()));
            }
        }
    });
    Ok(columns)
}

/// The tokens of a text under a rule of BLEU.
#[pyfunction]
pub(crate) fn bleu_tokens(tokenizer: &str, text: &str) -> PyResult<Vec<String>> {
    let tokenizer: Tokenizer = named(tokenizer)?;
    Ok(tokenizer.tokens(text))
}

/// The tokens of a prediction under the rules of TER.
#[pyfunction]
pub(crate) fn ter_tokens(options: TerOptions, text: &str) -> Vec<String> {
    ter(options).tokens(text)
}

/// The tokens of a text under the rules of ROUGE.
#[pyfunction]
pub(crate) fn rouge_tokens(text: &str, stemmer: bool) -> Vec<String> {
    rouge::tokens(text, stemmer)
}

/// Predictions, with one list of references per reference set.
struct Segments {
    hypotheses: Vec<PyBackedStr>,
    streams: Vec<Vec<Option<PyBackedStr>>>,
    /// The length of the shortest list.
    len: usize,
}

impl Segments {
    fn read(hypotheses: &Bound<'_, PyAny>, references: &Bound<'_, PyAny>) -> PyResult<Self> {
        let hypotheses = texts(hypotheses, "hypothesis")?;
        let read = |(index, stream): (usize, PyResult<Bound<'_, PyAny>>)| {
            let name = format!("reference set {index}, reference");
            texts(&stream?, &name)
        };
        let streams = references.try_iter()?.enumerate().map(read);
        let streams: Vec<Vec<Option<PyBackedStr>>> = streams.collect::<PyResult<_>>()?;
        let lengths = streams.iter().map(Vec::len);
        let len = lengths.fold(hypotheses.len(), usize::min);
        let is_missing = |index: &usize| streams.iter().all(|stream| stream[*index].is_none());
        if let Some(index) = (0..len).find(is_missing) {
            return Err(PyValueError::new_err(format!(
                "segment {index} has no reference: expected at least one that is not None"
            )));
        }
        Ok(Self {
            hypotheses,
            streams,
            len,
        })
    }

    /// The state of each segment, or of all together.
    fn states<S: Default>(&self, each: bool, add: impl Fn(&mut S, &str, &[&str])) -> Vec<S> {
        let mut states = Vec::new();
        let mut references = Vec::with_capacity(self.streams.len());
        for (index, hypothesis) in self.hypotheses.iter().enumerate().take(self.len) {
            references.clear();
            let texts = self.streams.iter().filter_map(|stream| stream.get(index));
            references.extend(texts.flatten().map(|text| &**text));
            if each || states.is_empty() {
                states.push(S::default());
            }
            if let Some(state) = states.last_mut() {
                add(state, hypothesis, &references);
            }
        }
        states
    }
}

/// Reads a list of texts. A value of another type is a `TypeError` that names it.
fn texts<T>(values: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let read = |(index, value): (usize, PyResult<Bound<'_, PyAny>>)| {
        let value = value?;
        value.extract().or_else(|error| {
            if value.is_instance_of::<PyString>() {
                return Err(error); // half of a surrogate pair, which is not text
            }
            let kind = value.get_type().name()?;
            let problem = format!("{name} {index} has the type {kind}: expected a string");
            Err(PyTypeError::new_err(problem))
        })
    };
    values.try_iter()?.enumerate().map(read).collect()
}

fn statistics<S, T>(
    states: &[S],
    row: impl Fn(&S) -> T,
    references: impl Fn(&S) -> ReferenceCounts,
) -> Statistics<T> {
    let mut counts = ReferenceCounts::default();
    states
        .iter()
        .for_each(|state| counts.merge(references(state)));
    (states.iter().map(row).collect(), counts.range())
}

fn named<T: std::str::FromStr>(name: &str) -> PyResult<T>
where
    T::Err: std::fmt::Display,
{
    name.parse()
        .map_err(|error: T::Err| PyValueError::new_err(error.to_string()))
}
