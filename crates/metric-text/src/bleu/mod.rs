//! BLEU: how many n-grams of a prediction are in its references, as in sacreBLEU, Hugging Face's evaluate, and the
//! programs of CodeXGLUE.

mod formula;
mod tokenize;

use std::borrow::Cow;

use metric_core::{Mean, Merge, Metric, NamedScores, fields, named_choice};

use crate::normalize;
pub use crate::translation::ReferenceCounts;
use crate::translation::{Vocabulary, for_each_shared, is_space, ngram_count};
use formula::{NgramCounts, Precisions};
pub use tokenize::{Tokenizer, unicode_version};

/// Returns the BLEU of pairs of a prediction and its references, as sacreBLEU computes it with its default options, but
/// as a fraction. It is undefined without pairs.
///
/// ```
/// use metric_text::bleu;
///
/// // 5 of 7 words, 3 of 6 pairs and 1 of 5 triples are in the reference, and none of 4 longer n-grams counts as 1/2.
/// let score = bleu([("the cat the cat on the mat", ["the cat sat on the mat"])]).unwrap();
/// let product: f64 = (5.0 / 7.0) * (3.0 / 6.0) * (1.0 / 5.0) * (0.5 / 4.0);
/// assert!((score - product.powf(1.0 / 4.0)).abs() < 1e-15);
/// ```
#[must_use]
pub fn bleu<'t, A, T>(pairs: impl IntoIterator<Item = (&'t str, A)>) -> Option<f64>
where
    A: AsRef<[T]>,
    T: AsRef<str>,
{
    let bleu = Bleu::default();
    let mut state = BleuState::default();
    for (prediction, references) in pairs {
        bleu.add(&mut state, prediction, references.as_ref());
    }
    bleu.compute(&state).bleu
}

/// Returns the BLEU of one prediction, as sacreBLEU's function `sentence_bleu` computes it, but as a fraction: with
/// [effective order](Bleu::effective_order).
///
/// ```
/// use metric_text::{bleu, sentence_bleu};
///
/// assert!((sentence_bleu("a cat", &["a cat"]) - 1.0).abs() < 1e-15);
/// assert_eq!(bleu([("a cat", ["a cat"])]), Some(0.0)); // no n-gram of 4 words
/// ```
#[must_use]
pub fn sentence_bleu<T: AsRef<str>>(prediction: &str, references: &[T]) -> f64 {
    let bleu = Bleu::default().with_effective_order(true);
    let score = bleu.compute(&bleu.count(prediction, references));
    score.bleu.unwrap_or_default()
}

/// Bilingual evaluation understudy (BLEU): the geometric mean of the precisions of n-grams, times a penalty for
/// predictions that are shorter than their references.
///
/// The counts of all examples are added up, and the score is computed from the sums; it is not a mean of the scores of
/// examples. For the scores of single examples see [`for_sentences`](Self::for_sentences). A higher score is better.
///
/// A prediction without references is compared with one that is empty.
///
/// K. Papineni et al., *BLEU: a Method for Automatic Evaluation of Machine Translation* (2002); M. Post, *A Call for
/// Clarity in Reporting BLEU Scores* (2018).
///
/// ```
/// use metric_core::Metric;
/// use metric_text::bleu::{Bleu, Smoothing, Tokenizer};
///
/// let bleu = Bleu::default().with_smoothing(Some(Smoothing::None));
/// let references = ["the cat sat on the mat".to_owned(), "a cat sat on it".to_owned()];
/// let state = bleu.measure("a cat sat on the mat.", &references);
/// assert_eq!(state.ngrams, [[6, 7], [5, 6], [4, 5], [3, 4]]); // of 7 tokens all but the point are in a reference
/// let score = bleu.compute(&state);
/// assert_eq!(score.brevity_penalty, Some(1.0));
/// assert_eq!(score.precisions[3], 3.0 / 4.0);
///
/// let by_character = bleu.with_tokenizer(Tokenizer::Characters);
/// assert_eq!(by_character.measure("ab", &["ac".to_owned()]).ngrams[0], [1, 2]);
/// ```
///
/// # Cost
///
/// Sorting the tokens of each example, in memory of a few times its size.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bleu {
    /// The convention to follow. Profiles other than [`BleuProfile::Sacrebleu`] have their own tokens, and ignore the
    /// options that they do not have.
    pub profile: BleuProfile,
    /// How texts are split into tokens; only in `sacrebleu`.
    pub tokenizer: Tokenizer,
    /// Whether texts are compared in lowercase; only in `sacrebleu`.
    pub lowercase: bool,
    /// What is done about orders without matches. `None` is the [default of the profile](BleuProfile::smoothings), and
    /// so is a method that the profile does not have.
    pub smoothing: Option<Smoothing>,
    /// The value of [`Smoothing::Floor`] or [`Smoothing::AddK`]; `None` is its [default](Smoothing::default_value).
    pub smooth_value: Option<f64>,
    /// The greatest length of n-grams. A score of greatest length 0 is undefined. It is always 4 in
    /// `codexglue-summarization`.
    pub max_order: usize,
    /// Whether orders of which the predictions have no n-grams are left out of the mean, as for short sentences; only
    /// in `sacrebleu`.
    pub effective_order: bool,
}

impl Default for Bleu {
    /// The default options of sacreBLEU.
    fn default() -> Self {
        Self {
            profile: BleuProfile::default(),
            tokenizer: Tokenizer::default(),
            lowercase: false,
            smoothing: None,
            smooth_value: None,
            max_order: 4,
            effective_order: false,
        }
    }
}

metric_core::setters!(Bleu {
    with_profile => profile: BleuProfile,
    with_tokenizer => tokenizer: Tokenizer,
    with_lowercase => lowercase: bool,
    with_smoothing => smoothing: Option<Smoothing>,
    with_smooth_value => smooth_value: Option<f64>,
    with_max_order => max_order: usize,
    with_effective_order => effective_order: bool,
});

/// The scores of [`Bleu`].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BleuScore {
    /// BLEU as a fraction; undefined without examples, and see [`BleuProfile::Evaluate`].
    pub bleu: Option<f64>,
    /// BLEU as a percentage, computed in the order of sacreBLEU's formula. Dividing it by 100 gives
    /// [`bleu`](Self::bleu), or the other way around in profiles whose program returns a fraction.
    ///
    /// The percentage of equal texts can be 100.00000000000004, as in sacreBLEU.
    pub percent: Option<f64>,
    /// The precision of each order from 1, after smoothing, as a fraction; empty without examples.
    pub precisions: Vec<f64>,
    /// The precisions as percentages.
    pub percent_precisions: Vec<f64>,
    /// The penalty for short predictions, in \[0, 1\]; undefined in `codexglue-summarization`.
    pub brevity_penalty: Option<f64>,
    /// For each order from 1, the correct n-grams and all, as sacreBLEU returns them: those of [`BleuState::ngrams`],
    /// increased by [`Smoothing::AddK`]. Empty in other profiles.
    pub smoothed_ngrams: Vec<[f64; 2]>,
}

impl NamedScores for BleuScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        vec![("bleu".to_owned(), self.bleu)]
    }
}

/// The state of [`Bleu`]: the counts from which its score is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BleuState {
    /// For each order from 1, the correct n-grams of predictions, and all.
    pub ngrams: Vec<[u64; 2]>,
    /// The number of tokens of predictions.
    pub prediction_length: u64,
    /// The number of tokens of references: of the reference with the nearest length (`sacrebleu`), or of the shortest
    /// one (other profiles).
    pub reference_length: u64,
    /// The number of references of the examples.
    pub references: ReferenceCounts,
    /// The scores of examples and their precisions of each order; only in `codexglue-summarization`.
    pub means: Vec<Mean>,
}

fields!(BleuState { ngrams, prediction_length, reference_length, references; means });

impl Metric for Bleu {
    type Prediction = str;
    type Reference = [String];
    type State = BleuState;
    type Score = BleuScore;

    fn update(&self, state: &mut BleuState, prediction: &str, reference: &[String]) {
        self.add(state, prediction, reference);
    }

    fn compute(&self, state: &BleuState) -> BleuScore {
        if state.references.range().is_none() {
            return BleuScore::default();
        }
        self.score(state)
    }
}

impl Bleu {
    /// Returns the metric that scores single examples: with [effective order](Self::effective_order) in `sacrebleu`,
    /// and otherwise the same.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_text::Bleu;
    ///
    /// let bleu = Bleu::default();
    /// let state = bleu.measure("a cat", &["a cat".to_owned()]);
    /// assert_eq!(bleu.compute(&state).bleu, Some(0.0));
    /// assert_eq!(bleu.for_sentences().compute(&state).percent, Some(100.00000000000004));
    /// ```
    #[must_use]
    pub fn for_sentences(self) -> Self {
        self.with_effective_order(true)
    }

    /// Returns the smoothing method that is in use.
    #[must_use]
    pub fn smoothing_in_use(&self) -> Smoothing {
        let [default, ..] = self.profile.smoothings() else {
            return Smoothing::None;
        };
        let chosen = self
            .smoothing
            .filter(|chosen| self.profile.smoothings().contains(chosen));
        chosen.unwrap_or(*default)
    }

    /// Returns the value of the smoothing method that is in use, if it has one.
    #[must_use]
    pub fn smooth_value_in_use(&self) -> Option<f64> {
        let default = self.smoothing_in_use().default_value()?;
        Some(self.smooth_value.unwrap_or(default))
    }

    /// Returns the state of one example, for references of any type of text.
    #[must_use]
    pub fn count<T: AsRef<str>>(&self, prediction: &str, references: &[T]) -> BleuState {
        let mut state = BleuState::default();
        self.add(&mut state, prediction, references);
        state
    }

    /// Adds an example to a state, as [`update`](Metric::update) does, for references of any type of text.
    pub fn add<T: AsRef<str>>(&self, state: &mut BleuState, prediction: &str, references: &[T]) {
        let max_order = self.max_order();
        let texts = references.iter().map(AsRef::as_ref);
        let texts: Vec<Cow<'_, str>> = [prediction]
            .into_iter()
            .chain(texts)
            .map(|text| self.prepare(text))
            .collect();
        let bytes = texts.iter().map(|text| text.len()).sum::<usize>();
        let mut vocabulary = Vocabulary::with_capacity(bytes / 4);
        let tokens = texts.iter().map(|text| {
            let mut tokens = Vec::with_capacity(text.len() / 4);
            self.split(text, &mut |token| tokens.push(vocabulary.number(token)));
            tokens
        });
        let texts: Vec<Vec<u32>> = tokens.collect();
        let [prediction, others @ ..] = texts.as_slice() else {
            return;
        };

        let mut correct = vec![0; max_order];
        for_each_shared(
            &texts,
            vocabulary.len(),
            max_order,
            |order, ours, others| {
                let most = others.iter().map(|(_, count)| *count).max().unwrap_or(0);
                correct[order - 1] += most.min(ours);
            },
        );
        let length = prediction.len();
        let lengths = others.iter().map(Vec::len);
        let reference_length = match self.profile {
            BleuProfile::Sacrebleu => lengths.min_by_key(|&other| (length.abs_diff(other), other)),
            _ => lengths.min(),
        };
        let counts = NgramCounts {
            ngrams: (1..)
                .zip(correct)
                .map(|(order, correct)| [correct, ngram_count(length, order)])
                .collect(),
            prediction_length: length as u64,
            reference_length: reference_length.unwrap_or(0) as u64,
        };
        state.add_counts(counts, references.len(), self.profile);
    }

    /// Returns the score of counts.
    fn score(&self, state: &BleuState) -> BleuScore {
        let mut counts = NgramCounts {
            ngrams: state.ngrams.clone(),
            prediction_length: state.prediction_length,
            reference_length: state.reference_length,
        };
        counts.ngrams.resize(self.max_order(), [0; 2]);
        let smoothing = self.smoothing_in_use();
        match self.profile {
            BleuProfile::Sacrebleu => {
                let smoothing = (smoothing, self.smooth_value_in_use().unwrap_or(0.0));
                let Precisions {
                    percent,
                    precisions,
                    ngrams,
                } = counts.sacrebleu(smoothing, self.effective_order);
                BleuScore {
                    bleu: percent.map(|percent| percent / 100.0),
                    percent,
                    precisions: precisions
                        .iter()
                        .map(|precision| precision / 100.0)
                        .collect(),
                    percent_precisions: precisions,
                    brevity_penalty: Some(counts.brevity_penalty()),
                    smoothed_ngrams: ngrams,
                }
            }
            BleuProfile::Evaluate | BleuProfile::CodexglueGeneration => {
                counts.nmt(smoothing == Smoothing::AddOne)
            }
            BleuProfile::CodexglueSummarization => {
                let means = state.means.iter().filter_map(Mean::value);
                let means: Vec<f64> = means.collect();
                let (bleu, precisions) = means
                    .split_first()
                    .map_or((None, &[][..]), |(bleu, precisions)| {
                        (Some(*bleu), precisions)
                    });
                BleuScore::of_fractions(bleu, precisions.to_vec(), None)
            }
        }
    }

    fn max_order(&self) -> usize {
        match self.profile {
            BleuProfile::CodexglueSummarization => 4,
            _ => self.max_order,
        }
    }

    /// Changes a text before it is split.
    fn prepare<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let plain = Cow::Borrowed(text);
        match self.profile {
            BleuProfile::Sacrebleu => {
                let text = text.trim_end_matches(is_space);
                let text = if self.lowercase {
                    normalize::lower(text)
                } else {
                    Cow::Borrowed(text)
                };
                self.tokenizer.prepare(text)
            }
            BleuProfile::Evaluate => Tokenizer::V13a.prepare(plain),
            BleuProfile::CodexglueGeneration => plain,
            BleuProfile::CodexglueSummarization => normalize::lower(text),
        }
    }

    /// Splits a text that was [prepared](Self::prepare) into tokens.
    fn split<'t>(&self, text: &'t str, each: &mut impl FnMut(&'t str)) {
        match self.profile {
            BleuProfile::Sacrebleu => self.tokenizer.split(text, each),
            BleuProfile::Evaluate => Tokenizer::V13a.split(text, each),
            BleuProfile::CodexglueGeneration => Tokenizer::None.split(text, each),
            BleuProfile::CodexglueSummarization => tokenize::split_summary(text, each),
        }
    }

    /// Returns the tokens of a text, as they are compared.
    ///
    /// ```
    /// use metric_text::bleu::{Bleu, BleuProfile};
    ///
    /// let bleu = Bleu::default().with_lowercase(true);
    /// assert_eq!(bleu.tokens("The cat."), ["the", "cat", "."]);
    /// let bleu = Bleu::default().with_profile(BleuProfile::CodexglueSummarization);
    /// assert_eq!(bleu.tokens("get_Name()"), ["get", "_", "name", "(", ")"]);
    /// ```
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        self.split(&self.prepare(text), &mut |token| {
            tokens.push(token.to_owned());
        });
        tokens
    }
}

impl BleuState {
    fn add_counts(&mut self, counts: NgramCounts, references: usize, profile: BleuProfile) {
        if profile == BleuProfile::CodexglueSummarization {
            let values = counts.summarization();
            self.means
                .merge(values.map(|value| [value].into_iter().collect()).collect());
        }
        self.ngrams.merge(counts.ngrams);
        self.prediction_length += counts.prediction_length;
        self.reference_length += counts.reference_length;
        self.references.merge(ReferenceCounts::of(references));
    }
}

/// The convention to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BleuProfile {
    /// `sacrebleu`: sacreBLEU 2.6.0.
    #[default]
    Sacrebleu,
    /// `evaluate`: `bleu` of Hugging Face evaluate 0.4.6, from Google's NMT tutorial.
    ///
    /// Texts are split like with [`Tokenizer::V13a`]. Where predictions or references have no tokens, the score and the
    /// brevity penalty are undefined; the program divides by zero.
    Evaluate,
    /// `codexglue-generation`: the evaluators of CodeXGLUE (revision ac74a62) for tasks that generate code.
    ///
    /// As `evaluate`, but tokens are separated by white space, and precisions are smoothed by default.
    CodexglueGeneration,
    /// `codexglue-summarization`: the evaluator of CodeXGLUE (revision ac74a62) for code summarization.
    ///
    /// The score is the mean of the smoothed scores of the examples, in lowercase. Known defect: an empty prediction
    /// scores 1 if its reference is empty, and more than 0 otherwise.
    CodexglueSummarization,
}

impl BleuProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[
        Self::Sacrebleu,
        Self::Evaluate,
        Self::CodexglueGeneration,
        Self::CodexglueSummarization,
    ];

    /// Returns the name of the profile, as it appears in signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sacrebleu => "sacrebleu",
            Self::Evaluate => "evaluate",
            Self::CodexglueGeneration => "codexglue-generation",
            Self::CodexglueSummarization => "codexglue-summarization",
        }
    }

    /// Returns the smoothing methods of the profile, its default first. A profile that has no choice returns none.
    #[must_use]
    pub const fn smoothings(self) -> &'static [Smoothing] {
        match self {
            Self::Sacrebleu => &[
                Smoothing::Exp,
                Smoothing::Floor,
                Smoothing::AddK,
                Smoothing::None,
            ],
            Self::Evaluate => &[Smoothing::None, Smoothing::AddOne],
            Self::CodexglueGeneration => &[Smoothing::AddOne, Smoothing::None],
            Self::CodexglueSummarization => &[],
        }
    }
}

named_choice!(BleuProfile, "BLEU profile");

/// What is done about orders without matches, whose precision of 0 would make the score 0.
///
/// Only `add-k` and `add-one` change orders that have matches. If no token of the predictions is in the references, the
/// score is 0 with any method of `sacrebleu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Smoothing {
    /// `exp`: the first order without matches counts as 1/2 match, the next as 1/4, and so on.
    Exp,
    /// `floor`: an order without matches counts as this many matches.
    Floor,
    /// `add-k`: this many matches are added to each order above 1, and as many n-grams.
    AddK,
    /// `add-one`: one match and one n-gram are added to each order.
    AddOne,
    /// `none`: nothing.
    None,
}

impl Smoothing {
    /// All methods.
    pub const ALL: &[Self] = &[Self::Exp, Self::Floor, Self::AddK, Self::AddOne, Self::None];

    /// Returns the name of the method.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exp => "exp",
            Self::Floor => "floor",
            Self::AddK => "add-k",
            Self::AddOne => "add-one",
            Self::None => "none",
        }
    }

    /// Returns the default of [`Bleu::smooth_value`] for methods that have a value.
    #[must_use]
    pub const fn default_value(self) -> Option<f64> {
        match self {
            Self::Floor => Some(0.1),
            Self::AddK => Some(1.0),
            Self::Exp | Self::AddOne | Self::None => None,
        }
    }
}

named_choice!(Smoothing, "smoothing method");

#[cfg(test)]
mod tests;
