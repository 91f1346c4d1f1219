use std::collections::BTreeMap;

use metric_core::{Key, Malformed, Merge, Reader, Writer, Written, to_bytes};

use crate::Score;

/// The scores of rows by the label of their references: the state of [`ClassScores`](crate::ClassScores).
///
/// A row has one score, or one for each class, and perhaps a weight. Rows of weight 0 are left out: no score depends on
/// them.
///
/// # Memory
///
/// 8 bytes per score and per weight, and 4 bytes per score of rows of `f32`. Rows of both kinds become rows of `f64`.
/// The written form has as many, in the order of labels and scores: any partition of the rows gives the same bytes.
///
/// ```
/// use metric_class::{Key, Merge, ScoreRows};
///
/// let (mut a, mut b) = (ScoreRows::default(), ScoreRows::default());
/// a.add(&Key::from("cat"), &[0.25], None);
/// b.add(&Key::from("dog"), &[0.75], None);
/// b.add(&Key::from("cat"), &[0.5], None);
/// let (mut ab, mut ba) = (a.clone(), b.clone());
/// ab.merge(b);
/// ba.merge(a);
/// assert_eq!(ab, ba);
/// assert_eq!(ab.len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScoreRows {
    pub(super) width: usize,
    pub(super) cells: Cells,
}

/// The rows of each label.
#[derive(Clone, Debug)]
pub(super) enum Cells {
    Double(BTreeMap<Key, Rows<f64>>),
    Single(BTreeMap<Key, Rows<f32>>),
}

impl Default for Cells {
    fn default() -> Self {
        Self::Double(BTreeMap::new())
    }
}

/// Rows of one label.
#[derive(Clone, Debug)]
pub(super) struct Rows<S> {
    /// The scores of the rows, one row after the other.
    pub(super) scores: Vec<S>,
    /// The weight of each row; empty if all are 1.
    pub(super) weights: Vec<f64>,
}

impl<S> Default for Rows<S> {
    fn default() -> Self {
        Self {
            scores: Vec::new(),
            weights: Vec::new(),
        }
    }
}

impl ScoreRows {
    /// Adds a row: the label of its reference, its scores, and its weight if rows have weights.
    ///
    /// Scores are finite, and all rows have as many; the weight is finite and not negative.
    pub fn add<S: Score>(&mut self, label: &Key, scores: &[S], weight: Option<f64>) {
        if weight == Some(0.0) {
            return;
        }
        self.width = scores.len();
        // A zero without a sign: equal scores have equal bytes.
        let scores = scores.iter().map(|score| (*score).into() + 0.0);
        if S::IS_SINGLE && (self.is_empty() || self.is_single()) {
            let rows = self.single().entry_of(label);
            // These were of 32 bits before.
            rows.scores.extend(scores.map(|score| score as f32));
            rows.weights.extend(weight);
        } else {
            let rows = self.double().entry_of(label);
            rows.scores.extend(scores);
            rows.weights.extend(weight);
        }
    }

    /// Returns the state of rows of one score and no weight, given for each label.
    ///
    /// Equals the rows added one by one.
    #[must_use]
    pub fn of_columns<S: Score>(columns: BTreeMap<Key, Vec<S>>) -> Self {
        let mut state = Self::default();
        for (label, scores) in columns {
            if scores.is_empty() {
                continue;
            }
            state.width = 1;
            let scores = scores.into_iter().map(|score| score.into() + 0.0);
            if S::IS_SINGLE {
                let scores = scores.map(|score| score as f32);
                state.single().entry_of(&label).scores = scores.collect();
            } else {
                state.double().entry_of(&label).scores = scores.collect();
            }
        }
        state
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        let scores: usize = match &self.cells {
            Cells::Double(map) => map.values().map(|rows| rows.scores.len()).sum(),
            Cells::Single(map) => map.values().map(|rows| rows.scores.len()).sum(),
        };
        scores / self.width.max(1)
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.cells {
            Cells::Double(map) => map.is_empty(),
            Cells::Single(map) => map.is_empty(),
        }
    }

    /// Whether the scores are of 32 bits.
    fn is_single(&self) -> bool {
        matches!(self.cells, Cells::Single(_))
    }

    /// The rows of 32 bits, of a state that has no others.
    fn single(&mut self) -> &mut BTreeMap<Key, Rows<f32>> {
        if !self.is_single() {
            self.cells = Cells::Single(BTreeMap::new());
        }
        match &mut self.cells {
            Cells::Single(map) => map,
            Cells::Double(_) => unreachable!("it was set above"),
        }
    }

    /// The rows of 64 bits, which rows of 32 bits become.
    fn double(&mut self) -> &mut BTreeMap<Key, Rows<f64>> {
        if let Cells::Single(map) = &mut self.cells {
            let widened = std::mem::take(map).into_iter().map(|(label, rows)| {
                let scores = rows.scores.into_iter().map(f64::from).collect();
                let weights = rows.weights;
                (label, Rows { scores, weights })
            });
            self.cells = Cells::Double(widened.collect());
        }
        match &mut self.cells {
            Cells::Double(map) => map,
            Cells::Single(_) => unreachable!("it was set above"),
        }
    }
}

/// The rows of a label, of which most have been seen.
trait EntryOf<S> {
    fn entry_of(&mut self, label: &Key) -> &mut Rows<S>;
}

impl<S> EntryOf<S> for BTreeMap<Key, Rows<S>> {
    fn entry_of(&mut self, label: &Key) -> &mut Rows<S> {
        if !self.contains_key(label) {
            self.insert(label.clone(), Rows::default());
        }
        self.entry(label.clone()).or_default()
    }
}

impl<S: Copy> Rows<S> {
    fn append(&mut self, other: &Self, times: u64) {
        for _ in 0..times {
            self.scores.extend_from_slice(&other.scores);
            self.weights.extend_from_slice(&other.weights);
        }
    }
}

impl Merge for ScoreRows {
    fn row_bytes(&self) -> u64 {
        fn of<S>(map: &BTreeMap<Key, Rows<S>>) -> usize {
            let bytes = |rows: &Rows<S>| size_of_val(&*rows.scores) + size_of_val(&*rows.weights);
            map.values().map(bytes).sum()
        }
        let bytes = match &self.cells {
            Cells::Double(map) => of(map),
            Cells::Single(map) => of(map),
        };
        bytes as u64
    }

    fn merge(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
        } else {
            self.merge_times(&other, 1);
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 || other.is_empty() {
            return;
        }
        self.width = other.width;
        match &other.cells {
            Cells::Single(theirs) if self.is_empty() || self.is_single() => {
                let ours = self.single();
                for (label, rows) in theirs {
                    ours.entry_of(label).append(rows, times);
                }
            }
            Cells::Single(_) => {
                let mut widened = other.clone();
                widened.double();
                self.merge_times(&widened, times);
            }
            Cells::Double(theirs) => {
                let ours = self.double();
                for (label, rows) in theirs {
                    ours.entry_of(label).append(rows, times);
                }
            }
        }
    }
}

impl PartialEq for ScoreRows {
    fn eq(&self, other: &Self) -> bool {
        to_bytes(self) == to_bytes(other)
    }
}

impl Eq for ScoreRows {}

/// The width of a score, and for each label the bytes of its sorted scores and of their weights, the lowest byte first.
impl Written for ScoreRows {
    fn write(&self, to: &mut Writer) {
        to.map(3);
        to.field("scores", &self.width);
        to.text("rows");
        match &self.cells {
            Cells::Double(map) => write_rows(map, self.width, to, |score| score.to_le_bytes()),
            Cells::Single(map) => write_rows(map, self.width, to, |score| score.to_le_bytes()),
        }
        to.field("single", &self.is_single());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.map()?;
        let width = from.field("scores")?;
        from.name("rows")?;
        let mut written = Vec::new();
        for _ in 0..from.list()? {
            from.list()?;
            let label = Key::read(from)?;
            written.push((label, from.bytes()?, from.bytes()?));
        }
        let is_single: bool = from.field("single")?;
        let cells = if is_single {
            Cells::Single(read_rows(&written, width, f32::from_le_bytes)?)
        } else {
            Cells::Double(read_rows(&written, width, f64::from_le_bytes)?)
        };
        Ok(Self { width, cells })
    }
}

fn write_rows<S: Score, const LEN: usize>(
    map: &BTreeMap<Key, Rows<S>>,
    width: usize,
    to: &mut Writer,
    bytes: impl Fn(S) -> [u8; LEN],
) {
    to.list(map.len());
    for (label, rows) in map {
        to.list(3);
        label.write(to);
        let rows = rows.sorted(width);
        let scores: Vec<u8> = rows.scores.iter().flat_map(|score| bytes(*score)).collect();
        to.bytes(&scores);
        let weights = rows.weights.iter().flat_map(|weight| weight.to_le_bytes());
        to.bytes(&weights.collect::<Vec<u8>>());
    }
}

fn read_rows<S: Score, const LEN: usize>(
    written: &[(Key, &[u8], &[u8])],
    width: usize,
    score: impl Fn([u8; LEN]) -> S,
) -> Result<BTreeMap<Key, Rows<S>>, Malformed> {
    let mut map = BTreeMap::new();
    for (label, scores, weights) in written {
        let (scores, more) = scores.as_chunks::<LEN>();
        let (weights, more_weights) = weights.as_chunks::<8>();
        let rows = Rows {
            scores: scores.iter().map(|bytes| score(*bytes)).collect(),
            weights: weights
                .iter()
                .map(|bytes| f64::from_le_bytes(*bytes))
                .collect(),
        };
        let count = rows.scores.len().checked_div(width).unwrap_or(0);
        let is_valid = more.is_empty()
            && more_weights.is_empty()
            && count > 0
            && count.checked_mul(width) == Some(rows.scores.len())
            && (rows.weights.is_empty() || rows.weights.len() == count)
            && rows.scores.iter().all(|score| (*score).into().is_finite())
            && rows
                .weights
                .iter()
                .all(|weight| weight.is_finite() && *weight > 0.0);
        if !is_valid {
            return Err(Malformed::from("invalid rows of scores"));
        }
        map.insert(label.clone(), rows);
    }
    Ok(map)
}

impl<S: Score> Rows<S> {
    /// The rows in falling order of their scores, and of their weights where these are equal.
    fn sorted(&self, width: usize) -> Self {
        let falling = |a: S, b: S| b.into().total_cmp(&a.into());
        if width == 1 && self.weights.is_empty() {
            let mut scores = self.scores.clone();
            scores.sort_unstable_by(|a, b| falling(*a, *b));
            let weights = Vec::new();
            return Self { scores, weights };
        }
        let width = width.max(1);
        let row = |index: usize| &self.scores[index * width..(index + 1) * width];
        let weight = |index: usize| self.weights.get(index).copied();
        let mut order: Vec<usize> = (0..self.scores.len() / width).collect();
        order.sort_unstable_by(|&a, &b| {
            let pairs = row(a).iter().zip(row(b));
            let by_scores = pairs
                .map(|(a, b)| falling(*a, *b))
                .find(|order| order.is_ne());
            let by_weights = || {
                weight(b)
                    .unwrap_or(1.0)
                    .total_cmp(&weight(a).unwrap_or(1.0))
            };
            by_scores.unwrap_or_else(by_weights)
        });
        Self {
            scores: order
                .iter()
                .flat_map(|index| row(*index))
                .copied()
                .collect(),
            weights: order.iter().filter_map(|index| weight(*index)).collect(),
        }
    }
}
