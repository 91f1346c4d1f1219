//! ROUGE: how much of a reference summary a prediction has, as in the package rouge-score.

mod lcs;
mod porter;

use metric_core::{Mean, Merge, Metric, NamedScores, fields, named_choice};

use crate::edit::{Cells, OutOfCells, TooManyCells};
use crate::translation::{ReferenceCounts, Vocabulary, for_each_shared, ngram_count};
use lcs::Lcs;
pub use porter::stem;

/// Returns ROUGE-N of a prediction: the overlap of its n-grams of length `n` with those of a reference.
///
/// ```
/// use metric_text::rouge_n;
///
/// // 2 of 3 pairs of words are in the reference, which has 4.
/// let rouge_2 = rouge_n("the cat sat down", "the cat sat on it", 2);
/// assert_eq!((rouge_2.precision(), rouge_2.recall()), (2.0 / 3.0, 2.0 / 4.0));
/// ```
#[must_use]
pub fn rouge_n(prediction: &str, reference: &str, n: usize) -> Overlap {
    let texts = Texts::new(prediction, &[reference], false);
    texts
        .ngrams(n)
        .first()
        .and_then(|overlaps| overlaps.last())
        .copied()
        .unwrap_or_default()
}

/// Returns ROUGE-L of a prediction: the longest common subsequence of its words and those of a reference.
///
/// ```
/// use metric_text::rouge_l;
///
/// // "the", "on" and "mat" are in both, in this order.
/// let rouge_l = rouge_l("the dog on a mat", "The cat is on the mat.");
/// assert_eq!((rouge_l.matches, rouge_l.prediction, rouge_l.reference), (3, 5, 6));
/// assert_eq!(rouge_l.f(), 2.0 * (3.0 / 5.0) * (3.0 / 6.0) / (3.0 / 5.0 + 3.0 / 6.0));
/// ```
#[must_use]
pub fn rouge_l(prediction: &str, reference: &str) -> Overlap {
    overlap(prediction, reference, RougeType::L)
}

/// Returns ROUGE-Lsum of a prediction: for each line of the reference, the union of its longest common subsequences with
/// the lines of the prediction.
///
/// ```
/// use metric_text::{rouge_l, rouge_lsum};
///
/// // The order of the lines does not matter.
/// let texts = ("A dog barked.\nThe cat ran.", "The cat ran.\nA dog barked.");
/// assert_eq!(rouge_lsum(texts.0, texts.1).f(), 1.0);
/// assert_eq!(rouge_l(texts.0, texts.1).f(), 0.5);
/// ```
#[must_use]
pub fn rouge_lsum(prediction: &str, reference: &str) -> Overlap {
    overlap(prediction, reference, RougeType::Lsum)
}

fn overlap(prediction: &str, reference: &str, of: RougeType) -> Overlap {
    let rouge = Rouge::default().with_types(vec![of]);
    let overlaps = rouge.overlaps(prediction, &[reference]);
    overlaps
        .first()
        .and_then(|overlaps| overlaps.first())
        .copied()
        .unwrap_or_default()
}

/// What a prediction and a reference share, in n-grams or words.
///
/// ```
/// use metric_text::rouge::Overlap;
///
/// let overlap = Overlap { matches: 1, prediction: 2, reference: 4 };
/// assert_eq!((overlap.precision(), overlap.recall(), overlap.f()), (0.5, 0.25, 2.0 * 0.5 * 0.25 / 0.75));
/// assert_eq!(Overlap::default().f(), 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// The number in both.
    pub matches: u64,
    /// The number in the prediction.
    pub prediction: u64,
    /// The number in the reference.
    pub reference: u64,
}

fields!(Overlap {
    matches,
    prediction,
    reference
});

impl Overlap {
    /// Returns the share of the prediction that is in the reference; 0 if the prediction is empty.
    #[must_use]
    pub fn precision(&self) -> f64 {
        metric_core::ratio(self.matches, self.prediction).unwrap_or(0.0)
    }

    /// Returns the share of the reference that is in the prediction; 0 if the reference is empty.
    #[must_use]
    pub fn recall(&self) -> f64 {
        metric_core::ratio(self.matches, self.reference).unwrap_or(0.0)
    }

    /// Returns the harmonic mean of precision and recall; 0 if both are 0.
    #[must_use]
    pub fn f(&self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall > 0.0 {
            2.0 * precision * recall / (precision + recall)
        } else {
            0.0
        }
    }
}

/// Recall-oriented understudy for gisting evaluation (ROUGE), for summaries.
///
/// Tokens are runs of the letters `a` to `z` and digits, in lowercase. All other characters separate tokens, so a text in
/// another script has none, and scores 0. Scores are means over examples. Of several references the one with the
/// highest F counts, for each [type](RougeType) on its own. A prediction without references is compared with one that is
/// empty. A higher score is better.
///
/// C.-Y. Lin, *ROUGE: A Package for Automatic Evaluation of Summaries* (2004); rouge-score 0.1.2.
///
/// ```
/// use metric_core::Metric;
/// use metric_text::rouge::{Rouge, RougeType};
///
/// let rouge = Rouge::default().with_types(vec![RougeType::N1, RougeType::L]).with_stemmer(true);
/// let state = rouge.measure("a dog barked", &["dogs bark".to_owned()]);
/// let scores = rouge.compute(&state).scores;
/// assert_eq!(scores[0].rouge_type, RougeType::N1);
/// assert_eq!((scores[0].precision, scores[0].recall), (Some(2.0 / 3.0), Some(2.0 / 2.0)));
/// ```
///
/// # Cost
///
/// Linear except for `L` and `Lsum`, which take one step for each 64 pairs of words.
/// [`measure_within`](Self::measure_within) has a limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Rouge {
    /// The types to score, in the order of the scores.
    pub types: Vec<RougeType>,
    /// Whether words of more than 3 letters are replaced by their [stem].
    pub stemmer: bool,
}

impl Default for Rouge {
    /// ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum, without stemming.
    fn default() -> Self {
        Self {
            types: vec![RougeType::N1, RougeType::N2, RougeType::L, RougeType::Lsum],
            stemmer: false,
        }
    }
}

metric_core::setters!(Rouge {
    with_types => types: Vec<RougeType>,
    with_stemmer => stemmer: bool,
});

/// The scores of [`Rouge`].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RougeScores {
    /// The scores of each type, in the order of [`Rouge::types`].
    pub scores: Vec<RougeScore>,
}

/// The scores of one type; undefined without examples.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RougeScore {
    /// The type.
    pub rouge_type: RougeType,
    /// The mean of [`Overlap::precision`].
    pub precision: Option<f64>,
    /// The mean of [`Overlap::recall`].
    pub recall: Option<f64>,
    /// The mean of [`Overlap::f`].
    pub f: Option<f64>,
}

/// F of all types by their names, followed by `rouge1_precision`, `rouge1_recall` and so on.
impl NamedScores for RougeScores {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        let f = self
            .scores
            .iter()
            .map(|score| (score.rouge_type.to_string(), score.f));
        let both = self.scores.iter().flat_map(|score| {
            let both = [("precision", score.precision), ("recall", score.recall)];
            both.map(|(name, value)| (format!("{}_{name}", score.rouge_type), value))
        });
        f.chain(both).collect()
    }
}

/// The state of [`Rouge`]: the sums from which its scores are computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RougeState {
    /// The sums of each type, in the order of [`Rouge::types`].
    pub types: Vec<RougeSums>,
    /// The number of references of the examples.
    pub references: ReferenceCounts,
}

/// The sums of one type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RougeSums {
    /// The overlaps of all examples with the reference that counts.
    pub overlap: Overlap,
    /// The precisions of the examples.
    pub precision: Mean,
    /// The recalls of the examples.
    pub recall: Mean,
    /// F of the examples.
    pub f: Mean,
}

fields!(RougeState { types, references });
fields!(RougeSums {
    overlap,
    precision,
    recall,
    f
});

impl Metric for Rouge {
    type Prediction = str;
    type Reference = [String];
    type State = RougeState;
    type Score = RougeScores;

    fn update(&self, state: &mut RougeState, prediction: &str, reference: &[String]) {
        self.add(state, prediction, reference);
    }

    fn compute(&self, state: &RougeState) -> RougeScores {
        let score = |(index, &rouge_type): (usize, &RougeType)| {
            let sums = state.types.get(index);
            let mean = |mean: fn(&RougeSums) -> &Mean| sums.and_then(|sums| mean(sums).value());
            RougeScore {
                rouge_type,
                precision: mean(|sums| &sums.precision),
                recall: mean(|sums| &sums.recall),
                f: mean(|sums| &sums.f),
            }
        };
        RougeScores {
            scores: self.types.iter().enumerate().map(score).collect(),
        }
    }
}

impl Rouge {
    /// Adds an example to a state, as [`update`](Metric::update) does, for references of any type of text.
    pub fn add<T: AsRef<str>>(&self, state: &mut RougeState, prediction: &str, references: &[T]) {
        let texts = self.texts(prediction, references);
        self.add_texts(state, &texts, references.len());
    }

    /// Returns the state of one example, or an error if its longest common subsequences take more than `max_cells`
    /// [cells](TooManyCells) with all references together.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_text::Rouge;
    /// use metric_text::edit::MAX_CELLS;
    ///
    /// let rouge = Rouge::default();
    /// assert_eq!(rouge.measure_within("a b", &["b"], MAX_CELLS), Ok(rouge.measure("a b", &["b".to_owned()])));
    /// assert!(rouge.measure_within("a b", &["b"], 10).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if they take more cells. Whether they do depends on the texts alone.
    pub fn measure_within<T: AsRef<str>>(
        &self,
        prediction: &str,
        references: &[T],
        max_cells: u64,
    ) -> Result<RougeState, TooManyCells> {
        let texts = self.texts(prediction, references);
        let Texts {
            prediction,
            references: others,
            ..
        } = &texts;
        let cells = |other: &Text| {
            let cells = |rouge_type: &RougeType| match rouge_type {
                RougeType::L => Lcs::cells(other.tokens.len(), prediction.tokens.len()),
                // The table and the way back, for each pair of lines.
                RougeType::Lsum => other.lines().fold(0_u64, |sum, line| {
                    let columns = prediction.tokens.len() + prediction.line_ends.len();
                    sum.saturating_add(Lcs::cells(line.len(), columns).saturating_mul(2))
                }),
                _ => 0,
            };
            self.types.iter().map(cells).fold(0, u64::saturating_add)
        };
        let cells = others.iter().map(cells).fold(0, u64::saturating_add);
        Cells::new(max_cells)
            .spend(cells)
            .map_err(|OutOfCells| TooManyCells {
                reference: others
                    .iter()
                    .map(|other| other.tokens.len())
                    .max()
                    .unwrap_or(0),
                prediction: prediction.tokens.len(),
                max_cells,
                enough: cells,
            })?;
        let mut state = RougeState::default();
        self.add_texts(&mut state, &texts, references.len());
        Ok(state)
    }

    /// Returns whether texts of these lengths in bytes (for the references, their total) are certain to be within the
    /// limit of [`measure_within`](Self::measure_within). If so, [`measure`](Metric::measure) can be called in its place.
    #[must_use]
    pub fn is_within(
        &self,
        prediction_bytes: usize,
        reference_bytes: usize,
        max_cells: u64,
    ) -> bool {
        // Tokens and lines are separated by a byte, and each line can take 64 rows. `L` takes no more than `Lsum`.
        let lines = reference_bytes.saturating_add(1).saturating_mul(64);
        let columns = (prediction_bytes as u64).saturating_add(1);
        let cells = columns
            .saturating_mul(lines as u64)
            .saturating_mul(2 * self.types.len() as u64);
        cells <= max_cells
    }

    /// Returns the overlap with each reference, for each type in the order of [`types`](Self::types).
    ///
    /// ```
    /// use metric_text::Rouge;
    ///
    /// let overlaps = Rouge::default().overlaps("a b", &["a", "b c d"]);
    /// assert_eq!(overlaps[1][0].reference, 3); // ROUGE-1 of the second reference
    /// ```
    #[must_use]
    pub fn overlaps<T: AsRef<str>>(&self, prediction: &str, references: &[T]) -> Vec<Vec<Overlap>> {
        self.overlaps_of(&self.texts(prediction, references))
    }

    fn texts<T: AsRef<str>>(&self, prediction: &str, references: &[T]) -> Texts {
        Texts::new(prediction, references, self.stemmer)
    }

    fn add_texts(&self, state: &mut RougeState, texts: &Texts, references: usize) {
        let overlaps = self.overlaps_of(texts);
        if state.types.len() < self.types.len() {
            state
                .types
                .resize_with(self.types.len(), RougeSums::default);
        }
        for (index, sums) in state.types.iter_mut().enumerate() {
            let mut best = Overlap::default();
            let mut highest = None;
            for overlap in overlaps.iter().filter_map(|overlaps| overlaps.get(index)) {
                let f = overlap.f();
                if highest.is_none_or(|highest| f > highest) {
                    highest = Some(f);
                    best = *overlap;
                }
            }
            sums.overlap.merge(best);
            sums.precision.add(best.precision());
            sums.recall.add(best.recall());
            sums.f.add(best.f());
        }
        state.references.merge(ReferenceCounts::of(references));
    }

    fn overlaps_of(&self, texts: &Texts) -> Vec<Vec<Overlap>> {
        let max_order = self
            .types
            .iter()
            .filter_map(|rouge_type| rouge_type.order())
            .max();
        let ngrams = texts.ngrams(max_order.unwrap_or(0));
        let mut work = Work::new(texts.greatest);
        let Texts {
            prediction,
            references: others,
            ..
        } = texts;
        let overlaps = others.iter().zip(ngrams).map(|(reference, ngrams)| {
            let of = |rouge_type: &RougeType| match (rouge_type, rouge_type.order()) {
                (_, Some(order)) => ngrams.get(order - 1).copied().unwrap_or_default(),
                (RougeType::Lsum, _) => work.lines(prediction, reference),
                _ => work.tokens(prediction, reference),
            };
            self.types.iter().map(of).collect()
        });
        overlaps.collect()
    }
}

/// What the overlaps of lists of tokens need, for tokens with numbers up to a greatest one.
struct Work {
    lcs: Lcs,
    /// How often each token can still be counted in the prediction and in the reference. All are 0 between overlaps.
    counts: [Vec<u32>; 2],
}

impl Work {
    fn new(greatest: u32) -> Self {
        Self {
            lcs: Lcs::new(greatest),
            counts: [(); 2].map(|()| vec![0; greatest as usize + 1]),
        }
    }

    /// ROUGE-L.
    fn tokens(&mut self, prediction: &Text, reference: &Text) -> Overlap {
        Overlap {
            matches: self.lcs.len(&reference.tokens, &prediction.tokens),
            prediction: prediction.tokens.len() as u64,
            reference: reference.tokens.len() as u64,
        }
    }

    /// ROUGE-Lsum.
    fn lines(&mut self, prediction: &Text, reference: &Text) -> Overlap {
        if prediction.line_ends.len() <= 1 && reference.line_ends.len() <= 1 {
            return self.tokens(prediction, reference); // No token is counted twice.
        }
        let Self { lcs, counts } = self;
        for (text, counts) in [prediction, reference].into_iter().zip(&mut *counts) {
            text.tokens
                .iter()
                .for_each(|&token| counts[token as usize] += 1);
        }
        let mut matches = 0;
        let mut is_marked = Vec::new();
        for line in reference.lines() {
            is_marked.clear();
            is_marked.resize(line.len(), false);
            for other in prediction.lines() {
                lcs.mark(line, other, &mut is_marked);
            }
            for (&token, _) in line
                .iter()
                .zip(&is_marked)
                .filter(|(_, is_marked)| **is_marked)
            {
                // A line of the prediction can be used by several lines of the reference, but each token only once.
                let left = counts.each_mut().map(|counts| &mut counts[token as usize]);
                if left.iter().all(|left| **left > 0) {
                    left.into_iter().for_each(|left| *left -= 1);
                    matches += 1;
                }
            }
        }
        for (text, counts) in [prediction, reference].into_iter().zip(counts) {
            text.tokens
                .iter()
                .for_each(|&token| counts[token as usize] = 0);
        }
        Overlap {
            matches,
            prediction: prediction.tokens.len() as u64,
            reference: reference.tokens.len() as u64,
        }
    }
}

/// Returns the tokens of a text, as they are compared.
///
/// ```
/// use metric_text::rouge::tokens;
///
/// assert_eq!(tokens("Don't tell the 2 cats!", true), ["don", "t", "tell", "the", "2", "cat"]);
/// assert_eq!(tokens("café 中文", false), ["caf"]);
/// ```
#[must_use]
pub fn tokens(text: &str, stemmer: bool) -> Vec<String> {
    let spelled = spell(text, stemmer);
    let tokens = spelled.split(|byte| *byte == b'\n' || *byte == b' ');
    let tokens = tokens.filter(|token| !token.is_empty());
    tokens
        .map(|token| String::from_utf8_lossy(token).into_owned())
        .collect()
}

/// The tokens of a text, each followed by a space, and its line feeds.
fn spell(text: &str, stemmer: bool) -> Vec<u8> {
    let mut spelled = Vec::with_capacity(text.len() + 1);
    let mut start = 0;
    let mut word = Vec::new();
    for c in text.chars().chain(['\n']) {
        match c {
            '0'..='9' | 'a'..='z' => spelled.push(c as u8),
            'A'..='Z' => spelled.push(c.to_ascii_lowercase() as u8),
            // The Kelvin sign is the only other character whose lowercase is a letter of ASCII.
            '\u{212a}' => spelled.push(b'k'),
            _ => {
                // The lowercase of a capital I with a dot is an i and a combining dot, which ends the token.
                spelled.extend((c == '\u{130}').then_some(b'i'));
                if spelled.len() > start {
                    if stemmer && spelled.len() - start > 3 {
                        word.clear();
                        word.extend(spelled.drain(start..));
                        porter::stem_bytes(&mut word);
                        spelled.extend_from_slice(&word);
                    }
                    spelled.push(b' ');
                }
                spelled.extend((c == '\n').then_some(b'\n'));
                start = spelled.len();
            }
        }
    }
    spelled
}

/// The tokens of a text as numbers.
struct Text {
    tokens: Vec<u32>,
    /// Where the lines that have tokens end.
    line_ends: Vec<usize>,
}

impl AsRef<[u32]> for Text {
    fn as_ref(&self) -> &[u32] {
        &self.tokens
    }
}

impl Text {
    fn lines(&self) -> impl Iterator<Item = &[u32]> {
        let starts = [0].into_iter().chain(self.line_ends.iter().copied());
        let lines = starts.zip(&self.line_ends);
        lines.map(|(start, &end)| self.tokens.get(start..end).unwrap_or_default())
    }
}

/// A prediction, followed by at least one reference.
struct Texts {
    prediction: Text,
    references: Vec<Text>,
    /// The greatest number of a token.
    greatest: u32,
}

impl Texts {
    fn new<T: AsRef<str>>(prediction: &str, references: &[T], stemmer: bool) -> Self {
        let spelled = spell(prediction, stemmer);
        let others: Vec<Vec<u8>> = match references {
            [] => vec![Vec::new()],
            references => references
                .iter()
                .map(|text| spell(text.as_ref(), stemmer))
                .collect(),
        };
        let mut vocabulary = Vocabulary::with_capacity(spelled.len() / 4);
        let mut read = |spelled| read(spelled, &mut vocabulary);
        Self {
            prediction: read(&spelled),
            references: others.iter().map(|spelled| read(spelled)).collect(),
            greatest: vocabulary.len(),
        }
    }

    /// The overlaps of n-grams with each reference, by order from 1.
    fn ngrams(&self, max_order: usize) -> Vec<Vec<Overlap>> {
        let overlaps = self.references.iter().map(|reference| {
            let overlap = |order| Overlap {
                matches: 0,
                prediction: ngram_count(self.prediction.tokens.len(), order),
                reference: ngram_count(reference.tokens.len(), order),
            };
            (1..=max_order).map(overlap).collect()
        });
        let mut overlaps: Vec<Vec<Overlap>> = overlaps.collect();
        let all: Vec<&Text> = [&self.prediction]
            .into_iter()
            .chain(&self.references)
            .collect();
        for_each_shared(&all, self.greatest, max_order, |order, ours, others| {
            for &(reference, count) in others {
                overlaps[reference][order - 1].matches += ours.min(count);
            }
        });
        overlaps
    }
}

fn read<'t>(spelled: &'t [u8], vocabulary: &mut Vocabulary<&'t [u8]>) -> Text {
    let mut text = Text {
        tokens: Vec::new(),
        line_ends: Vec::new(),
    };
    for line in spelled.split(|byte| *byte == b'\n') {
        let start = text.tokens.len();
        let tokens = line
            .split(|byte| *byte == b' ')
            .filter(|token| !token.is_empty());
        text.tokens
            .extend(tokens.map(|token| vocabulary.number(token)));
        if text.tokens.len() > start {
            text.line_ends.push(text.tokens.len());
        }
    }
    text
}

/// The kind of overlap that [`Rouge`] scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum RougeType {
    /// `rouge1`: words.
    N1,
    /// `rouge2`: pairs of words.
    N2,
    /// `rouge3`: n-grams of 3 words.
    N3,
    /// `rouge4`: n-grams of 4 words.
    N4,
    /// `rouge5`: n-grams of 5 words.
    N5,
    /// `rouge6`: n-grams of 6 words.
    N6,
    /// `rouge7`: n-grams of 7 words.
    N7,
    /// `rouge8`: n-grams of 8 words.
    N8,
    /// `rouge9`: n-grams of 9 words.
    N9,
    /// `rougeL`: the longest common subsequence of the texts, whatever their lines.
    L,
    /// `rougeLsum`: the longest common subsequences of lines, which are sentences by convention.
    Lsum,
}

impl RougeType {
    /// All types.
    pub const ALL: &[Self] = &[
        Self::N1,
        Self::N2,
        Self::N3,
        Self::N4,
        Self::N5,
        Self::N6,
        Self::N7,
        Self::N8,
        Self::N9,
        Self::L,
        Self::Lsum,
    ];

    /// Returns the name of the type, as in rouge-score.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::N1 => "rouge1",
            Self::N2 => "rouge2",
            Self::N3 => "rouge3",
            Self::N4 => "rouge4",
            Self::N5 => "rouge5",
            Self::N6 => "rouge6",
            Self::N7 => "rouge7",
            Self::N8 => "rouge8",
            Self::N9 => "rouge9",
            Self::L => "rougeL",
            Self::Lsum => "rougeLsum",
        }
    }

    /// Returns the length of the n-grams; `None` for subsequences.
    #[must_use]
    pub fn order(self) -> Option<usize> {
        let position = Self::ALL.iter().position(|other| *other == self)?;
        (position < 9).then_some(position + 1)
    }
}

named_choice!(
    RougeType,
    "ROUGE type",
    &[
        ("1", "rouge1"),
        ("2", "rouge2"),
        ("3", "rouge3"),
        ("4", "rouge4"),
        ("5", "rouge5"),
        ("6", "rouge6"),
        ("7", "rouge7"),
        ("8", "rouge8"),
        ("9", "rouge9"),
        ("L", "rougeL"),
        ("Lsum", "rougeLsum"),
    ]
);

#[cfg(test)]
mod tests;
