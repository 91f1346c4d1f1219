use metric_core::parallel::join;

/// Rows by the ranks of their numbers among the distinct numbers of each side, which count from 0: all that rank
/// correlations depend on. Rows are in the order of the first side, then of the second.
pub(crate) struct DenseRanks {
    rows: Vec<[u32; 2]>,
    /// The number of rows with each rank.
    counts: [Vec<u64>; 2],
}

impl DenseRanks {
    /// The ranks of rows of finite numbers.
    pub(crate) fn new(rows: &[[f64; 2]]) -> Self {
        Self::with_order(rows).0
    }

    /// The ranks of rows, and the index of each one in their order.
    pub(crate) fn with_order(rows: &[[f64; 2]]) -> (Self, Vec<u32>) {
        let (by_first, of_second) = join(
            || sorted(rows, 0),
            || {
                let mut rank = dense();
                let mut ranks = vec![0; rows.len()];
                for (number, index) in sorted(rows, 1) {
                    ranks[index as usize] = rank(number);
                }
                ranks
            },
        );
        let mut rank = dense();
        let ranked = by_first.into_iter();
        let mut ranked: Vec<([u32; 2], u32)> = ranked
            .map(|(number, index)| ([rank(number), of_second[index as usize]], index))
            .collect();
        for tie in ranked.chunk_by_mut(|a, b| a.0[0] == b.0[0]) {
            tie.sort_unstable_by_key(|row| row.0[1]);
        }
        let (ranked, order) = ranked.into_iter().unzip();
        (Self::of(ranked), order)
    }

    fn of(rows: Vec<[u32; 2]>) -> Self {
        let counts = [0, 1].map(|side| {
            let most = rows.iter().map(|row| row[side]).max();
            let mut counts = vec![0; most.map_or(0, |most| most as usize + 1)];
            rows.iter().for_each(|row| counts[row[side] as usize] += 1);
            counts
        });
        Self { rows, counts }
    }

    /// Spearman's and Kendall's correlations.
    pub(crate) fn correlations(&self) -> [Option<f64>; 2] {
        let (spearman, kendall) = join(|| self.spearman(), || self.kendall());
        [spearman, kendall]
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
        let mut list: Vec<u32> = self.rows.iter().map(|row| row[1]).collect();
        let discordant = inversions(&mut list, &mut vec![0; self.rows.len()]);
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

/// The length up to which a list is sorted by comparisons.
const FEW: usize = 4096;

/// The numbers of one side in ascending order, each with the index of its row.
fn sorted(rows: &[[f64; 2]], side: usize) -> Vec<(u64, u32)> {
    let numbered = (0..).zip(rows);
    let mut list: Vec<(u64, u32)> = numbered
        .map(|(index, row)| (ordered(row[side]), index))
        .collect();
    if list.len() <= FEW {
        list.sort_unstable();
        return list;
    }
    // By the bytes of the upper half, one after the other from the lowest. Few numbers agree in all of them.
    let mut counts = vec![[0_usize; 256]; 4];
    for (number, _) in &list {
        for (counts, byte) in counts.iter_mut().zip(upper(*number).to_le_bytes()) {
            counts[usize::from(byte)] += 1;
        }
    }
    let mut moved = vec![(0, 0); list.len()];
    for (place, counts) in counts.iter().enumerate() {
        if counts.contains(&list.len()) {
            continue;
        }
        let mut next = [0; 256];
        let mut before = 0;
        for (next, count) in next.iter_mut().zip(counts) {
            *next = before;
            before += count;
        }
        for item in &list {
            let at = &mut next[usize::from(upper(item.0).to_le_bytes()[place])];
            moved[*at] = *item;
            *at += 1;
        }
        std::mem::swap(&mut list, &mut moved);
    }
    for alike in list.chunk_by_mut(|a, b| upper(a.0) == upper(b.0)) {
        alike.sort_unstable();
    }
    list
}

const fn upper(number: u64) -> u32 {
    (number >> 32) as u32
}

/// The rows up to which lists are sorted by insertion.
const SHORT: usize = 16;

/// The length from which on halves are counted on two threads.
const LONG: usize = 1 << 16;

/// Sorts a list, and returns the number of pairs of which the first is greater. `room` is as long.
fn inversions(list: &mut [u32], room: &mut [u32]) -> u64 {
    if list.len() <= SHORT {
        return insert(list);
    }
    let middle = list.len() / 2;
    let (left, right) = list.split_at_mut(middle);
    let (left_room, right_room) = room.split_at_mut(middle);
    let (in_left, in_right) = if middle >= LONG {
        join(
            || inversions(left, left_room),
            || inversions(right, right_room),
        )
    } else {
        (inversions(left, left_room), inversions(right, right_room))
    };
    let between = merge(left, right, room);
    list.copy_from_slice(room);
    in_left + in_right + between
}

fn insert(list: &mut [u32]) -> u64 {
    let mut count = 0;
    for end in 1..list.len() {
        let item = list[end];
        let mut at = end;
        while at > 0 && list[at - 1] > item {
            list[at] = list[at - 1];
            at -= 1;
        }
        list[at] = item;
        count += end - at;
    }
    count as u64
}

/// Merges two sorted lists, and returns the number of pairs whose first item, of the left list, is greater.
fn merge(left: &[u32], right: &[u32], out: &mut [u32]) -> u64 {
    let (mut l, mut r, mut count) = (0, 0, 0);
    let mut out = out.iter_mut();
    while let (Some(&a), Some(&b)) = (left.get(l), right.get(r))
        && let Some(out) = out.next()
    {
        // Without a branch, which no processor could predict.
        let takes_right = b < a;
        *out = if takes_right { b } else { a };
        count += if takes_right { left.len() - l } else { 0 };
        r += usize::from(takes_right);
        l += usize::from(!takes_right);
    }
    let rest = left[l..].iter().chain(&right[r..]);
    out.zip(rest).for_each(|(out, item)| *out = *item);
    count as u64
}
