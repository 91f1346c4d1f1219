/// Rows by the ranks of their numbers among the distinct numbers of each side, which count from 0: all that rank
/// correlations depend on. Rows are in the order of the first side, then of the second.
pub(crate) struct DenseRanks {
    rows: Vec<[u32; 2]>,
    /// The number of rows with each rank.
    counts: [Vec<u64>; 2],
}

impl DenseRanks {
    pub(crate) fn new(rows: impl Iterator<Item = [f64; 2]>) -> Self {
        Self::with_owners(rows, 0..).0
    }

    /// The ranks of rows, and the owner of each one in their order.
    pub(crate) fn with_owners(
        rows: impl Iterator<Item = [f64; 2]>,
        owners: impl Iterator<Item = u32>,
    ) -> (Self, Vec<u32>) {
        // By the second side, which gives its ranks, then by the first.
        let mut by_second: Vec<(u64, u64, u32)> = rows
            .zip(owners)
            .map(|([x, y], owner)| (ordered(y), ordered(x), owner))
            .collect();
        by_second.sort_unstable();
        let mut rank = dense();
        let mut rows: Vec<(u64, u32, u32)> = by_second
            .into_iter()
            .map(|(y, x, owner)| (x, rank(y), owner))
            .collect();
        rows.sort_unstable();
        let mut rank = dense();
        let (ranked, owners) = rows
            .into_iter()
            .map(|(x, y, owner)| ([rank(x), y], owner))
            .unzip();
        (Self::of(ranked), owners)
    }

    fn of(rows: Vec<[u32; 2]>) -> Self {
        let counts = [0, 1].map(|side| {
            let mut counts = Vec::new();
            for row in &rows {
                let rank = row[side] as usize;
                if counts.len() <= rank {
                    counts.resize(rank + 1, 0);
                }
                counts[rank] += 1;
            }
            counts
        });
        Self { rows, counts }
    }

    /// The rows, each as often as `times` says of its index.
    pub(crate) fn repeated(&self, times: impl Fn(usize) -> u64) -> Self {
        let rows = self.rows.iter().enumerate();
        let rows = rows.flat_map(|(index, row)| std::iter::repeat_n(*row, times(index) as usize));
        Self::of(rows.collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The correlation of mean ranks. Ranks are doubled and count from their mean, so that they are integers.
    pub(crate) fn spearman(&self) -> Option<f64> {
        let len = self.len() as i64;
        let [xs, ys] = self.counts.each_ref().map(|counts| {
            let mut before = 0;
            let doubled = counts.iter().map(|&count| {
                // The mean of the first and the last position of a tie.
                let rank = 2 * before + count as i64 - len;
                before += count as i64;
                rank
            });
            doubled.collect::<Vec<i64>>()
        });
        let square = |ranks: &[i64], counts: &[u64]| -> i128 {
            let ranks = ranks.iter().zip(counts);
            ranks
                .map(|(&rank, &count)| i128::from(rank) * i128::from(rank) * i128::from(count))
                .sum()
        };
        let products = self
            .rows
            .iter()
            .map(|&[x, y]| i128::from(xs[x as usize]) * i128::from(ys[y as usize]));
        let [x_counts, y_counts] = &self.counts;
        ratio(products.sum(), square(&xs, x_counts), square(&ys, y_counts))
    }

    /// Kendall's τ-b, by the inversions of the second side in the order of the first (Knight 1966).
    pub(crate) fn kendall(&self) -> Option<f64> {
        let pairs = |count: u64| i128::from(count) * (i128::from(count) - 1) / 2;
        let tied = |counts: &[u64]| counts.iter().map(|count| pairs(*count)).sum::<i128>();
        let equal = self.rows.chunk_by(|a, b| a == b);
        let equal: i128 = equal.map(|rows| pairs(rows.len() as u64)).sum();
        let [x_ties, y_ties] = self.counts.each_ref().map(|counts| tied(counts));
        let all = pairs(self.len() as u64);
        let discordant = inversions(self.rows.iter().map(|row| row[1]).collect());
        let concordant = all - x_ties - y_ties + equal - i128::from(discordant);
        ratio(
            concordant - i128::from(discordant),
            all - x_ties,
            all - y_ties,
        )
    }
}

/// `a / √(b·c)`; undefined where b or c is 0. Where |a|, b and c are equal, it is exactly 1.
fn ratio(a: i128, b: i128, c: i128) -> Option<f64> {
    let product = b as f64 * c as f64;
    (product > 0.0).then(|| (a as f64 / product.sqrt()).clamp(-1.0, 1.0))
}

/// An integer whose order is the order of the numbers.
fn ordered(number: f64) -> u64 {
    let bits = number.to_bits();
    bits ^ if number.is_sign_negative() {
        u64::MAX
    } else {
        1 << 63
    }
}

/// A function that gives each of ascending numbers its rank among the distinct ones.
fn dense() -> impl FnMut(u64) -> u32 {
    let (mut last, mut rank) = (None, 0);
    move |number| {
        if last.is_some_and(|last| last != number) {
            rank += 1;
        }
        last = Some(number);
        rank
    }
}

/// The rows up to which lists are sorted by insertion.
const SHORT: usize = 16;

/// The number of pairs in a list of which the first is greater, by a merge sort.
fn inversions(mut list: Vec<u32>) -> u64 {
    let mut count = 0;
    for block in list.chunks_mut(SHORT) {
        for end in 1..block.len() {
            let item = block[end];
            let mut at = end;
            while at > 0 && block[at - 1] > item {
                block[at] = block[at - 1];
                at -= 1;
            }
            block[at] = item;
            count += (end - at) as u64;
        }
    }
    let mut merged = vec![0; list.len()];
    let mut width = SHORT;
    while width < list.len() {
        for (block, out) in list.chunks(2 * width).zip(merged.chunks_mut(2 * width)) {
            let (left, right) = block.split_at(width.min(block.len()));
            count += merge(left, right, out);
        }
        std::mem::swap(&mut list, &mut merged);
        width *= 2;
    }
    count
}

/// Merges two sorted lists, and returns the number of pairs whose first item, of the left list, is greater.
fn merge(left: &[u32], right: &[u32], out: &mut [u32]) -> u64 {
    let (mut l, mut r, mut count) = (0, 0, 0);
    for out in &mut *out {
        let takes_right = match (left.get(l), right.get(r)) {
            (Some(a), Some(b)) => b < a,
            (None, _) => true,
            (_, None) => false,
        };
        if takes_right {
            *out = right[r];
            r += 1;
            count += (left.len() - l) as u64;
        } else {
            *out = left[l];
            l += 1;
        }
    }
    count
}
