//! The first of the choices that are equally good.

use super::{Benefit, Edge, NONE};

/// As many pairs of rows and columns with equal choices are looked through.
const MOST: usize = 1 << 26;

/// Changes an optimal choice to the first of all that are.
///
/// `row_worth` and `column_worth` are prices: no edge is worth more than both of its sides together,
/// and what the choice leaves out is worth nothing.
pub(super) fn take_the_first(
    edges: &[Edge],
    row_worth: &[Benefit],
    column_worth: &[Benefit],
    column_of: &mut [usize],
) {
    let pairs = edges.iter().filter(|edge| {
        column_of[edge.row] == edge.column
            || row_worth[edge.row] + column_worth[edge.column] == edge.benefit
    });
    let pairs = pairs.map(|edge| (edge.row, edge.column));
    // The first row that another choice changes gets an earlier column.
    let is_earlier = |&(row, column): &(usize, usize)| column < column_of[row];
    if !pairs.clone().any(|pair| is_earlier(&pair)) {
        return;
    }
    let mut pairs: Vec<(usize, usize)> = pairs.collect();
    pairs.sort_unstable();
    for pairs in components(&pairs) {
        if !pairs.iter().any(|&(row, column)| column < column_of[row]) {
            continue;
        }
        let mut rows: Vec<usize> = pairs.iter().map(|&(row, _)| row).collect();
        let mut columns: Vec<usize> = pairs.iter().map(|&(_, column)| column).collect();
        rows.dedup();
        columns.sort_unstable();
        columns.dedup();
        if rows.len().saturating_mul(columns.len()) > MOST {
            continue;
        }
        let worth = |items: &[usize], worth: &[Benefit]| -> Vec<Benefit> {
            items.iter().map(|&item| worth[item]).collect()
        };
        let mut ties = Ties::new(&worth(&rows, row_worth), &worth(&columns, column_worth));
        for (row, column) in pairs {
            let index = columns.partition_point(|&other| other < column);
            let row_index = rows.partition_point(|&other| other < row);
            ties.by_row.insert(row_index, index);
            if column_of[row] == column {
                ties.choose(row_index, index);
            }
        }
        ties.take_the_first();
        for (&row, &index) in rows.iter().zip(&ties.column_of) {
            column_of[row] = columns.get(index).copied().unwrap_or(NONE);
        }
    }
}

/// The pairs, which are in the order of their rows, by connected component.
fn components(pairs: &[(usize, usize)]) -> Vec<Vec<(usize, usize)>> {
    // Pairs that share a row form a group; each group joins the groups of its columns.
    let columns = pairs.iter().map(|&(_, column)| column + 1).max();
    let mut parents: Vec<usize> = (0..columns.unwrap_or(0)).collect();
    let same_row = || pairs.chunk_by(|a, b| a.0 == b.0);
    for pairs in same_row() {
        for two in pairs.windows(2) {
            join(&mut parents, two[0].1, two[1].1);
        }
    }
    let mut components: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut component = vec![NONE; parents.len()];
    for pairs in same_row() {
        let root = root(&mut parents, pairs[0].1);
        if component[root] == NONE {
            component[root] = components.len();
            components.push(Vec::new());
        }
        components[component[root]].extend_from_slice(pairs);
    }
    components
}

fn root(parents: &mut [usize], mut index: usize) -> usize {
    while parents[index] != index {
        parents[index] = parents[parents[index]];
        index = parents[index];
    }
    index
}

fn join(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b)] = a.min(b);
}

/// An optimal choice, and all pairs that optimal choices can be made of: a choice is optimal if
/// all its pairs are among these and it leaves out only rows and columns that are worth nothing.
struct Ties {
    by_row: Bits,
    column_of: Vec<usize>,
    row_of: Vec<usize>,
    row_may_go: Vec<bool>,
    column_may_go: Vec<bool>,
}

impl Ties {
    fn new(row_worth: &[Benefit], column_worth: &[Benefit]) -> Self {
        let may_go = |worth: &[Benefit]| -> Vec<bool> {
            worth.iter().map(|&w| w == Benefit::default()).collect()
        };
        Self {
            by_row: Bits::new(row_worth.len(), column_worth.len()),
            column_of: vec![NONE; row_worth.len()],
            row_of: vec![NONE; column_worth.len()],
            row_may_go: may_go(row_worth),
            column_may_go: may_go(column_worth),
        }
    }

    fn choose(&mut self, row: usize, column: usize) {
        self.column_of[row] = column;
        self.row_of[column] = row;
    }

    /// Gives each row in turn the first column that an optimal choice can give it, with what was
    /// given before.
    ///
    /// Two optimal choices differ by alternating paths and cycles. For a row to take a column, the
    /// row that has it must get another one, and so on, until the column that the first row had is
    /// taken (a cycle), or until a column is taken that is free or a row is left out that may be;
    /// then the column that the first row had must be taken or left out as well. If the two ends
    /// of such a path meet, there is a cycle, which is looked for first.
    fn take_the_first(&mut self) {
        let (rows, columns) = (self.column_of.len(), self.row_of.len());
        let mut open_rows = Bits::full(rows);
        let mut open_columns = Bits::full(columns);
        let mut by_column: Option<Bits> = None;
        for row in 0..rows {
            open_rows.remove(0, row);
            let current = self.column_of[row];
            let first = first_common([self.by_row.row(row), open_columns.row(0)]);
            if first.is_some_and(|first| first < current) {
                let by_column = by_column.get_or_insert_with(|| self.by_row.turned(columns));
                self.improve(row, by_column, &open_rows, &open_columns);
            }
            if self.column_of[row] != NONE {
                open_columns.remove(0, self.column_of[row]);
            }
        }
    }

    /// Gives `row` the first column it can have, among the open rows and columns.
    fn improve(&mut self, row: usize, by_column: &Bits, open_rows: &Bits, open_columns: &Bits) {
        let (rows, columns) = (self.column_of.len(), self.row_of.len());
        let current = self.column_of[row];
        let wanted = [self.by_row.row(row), open_columns.row(0)];

        // Columns that can be given up for `current`, and how the chain can end that takes it.
        let mut cycle = Reach::new(rows, columns);
        let mut end = None;
        if current != NONE {
            cycle.leads.insert(0, current);
            cycle.queue.push(current);
            while let Some(column) = cycle.queue.pop() {
                if self.column_may_go[column] {
                    end.get_or_insert(if column == current {
                        NONE
                    } else {
                        self.row_of[column]
                    });
                }
                let unmatched = cycle.back(column, by_column, open_rows, &self.column_of);
                end = end.or(unmatched);
            }
        }
        let by_cycle = first_common([wanted[0], wanted[1], cycle.leads.row(0)]);

        // Columns that can be given up for a free one, or for nothing.
        let mut path = Reach::new(rows, columns);
        if current == NONE || end.is_some() {
            for column in 0..columns {
                let owner = self.row_of[column];
                let open = open_columns.contains(0, column) && owner != row;
                if open && (owner == NONE || self.row_may_go[owner]) {
                    path.leads.insert(0, column);
                    path.queue.push(column);
                    if owner != NONE {
                        path.seen.insert(0, owner);
                    }
                }
            }
            while let Some(column) = path.queue.pop() {
                path.back(column, by_column, open_rows, &self.column_of);
            }
        }
        let by_path = first_common([wanted[0], wanted[1], path.leads.row(0)]);

        let (column, reach, loose_end) = match (by_cycle, by_path) {
            (Some(cycle_column), Some(column)) if column < cycle_column => (column, &path, end),
            (None, Some(column)) => (column, &path, end),
            (Some(column), _) => (column, &cycle, None),
            (None, None) => return,
        };
        if column >= current {
            return;
        }
        let mut column_of = std::mem::take(&mut self.column_of);
        self.shift(self.row_of[column], row, reach, &mut column_of);
        if let Some(end) = loose_end {
            self.shift(end, row, &cycle, &mut column_of);
        }
        column_of[row] = column;
        self.row_of.fill(NONE);
        for (row, &column) in column_of.iter().enumerate() {
            if column != NONE {
                self.row_of[column] = row;
            }
        }
        self.column_of = column_of;
    }

    /// Lets `row` take its next column, the row that had that its own next one, and so on, up to a
    /// free column, a row that has no next one, or the row where it all began.
    fn shift(&self, mut row: usize, began: usize, reach: &Reach, column_of: &mut [usize]) {
        while row != NONE && row != began {
            let column = reach.next[row];
            column_of[row] = column;
            row = if column == NONE {
                NONE
            } else {
                self.row_of[column]
            };
        }
    }
}

/// A search backwards from columns that can be had.
struct Reach {
    /// Columns from which a chain leads there.
    leads: Bits,
    /// Rows that have been looked at.
    seen: Bits,
    /// The column that each row takes next.
    next: Vec<usize>,
    queue: Vec<usize>,
}

impl Reach {
    fn new(rows: usize, columns: usize) -> Self {
        Self {
            leads: Bits::new(1, columns),
            seen: Bits::new(1, rows),
            next: vec![NONE; rows],
            queue: Vec::new(),
        }
    }

    /// Notes the rows that can take `column`; the first of them that has none is returned.
    fn back(
        &mut self,
        column: usize,
        by_column: &Bits,
        open_rows: &Bits,
        column_of: &[usize],
    ) -> Option<usize> {
        let mut unmatched = None;
        let words = by_column.row(column).iter().zip(open_rows.row(0));
        for (index, (tied, open)) in words.enumerate() {
            let mut new = tied & open & !self.seen.words[index];
            self.seen.words[index] |= new;
            while new != 0 {
                let row = index * 64 + new.trailing_zeros() as usize;
                new &= new - 1;
                self.next[row] = column;
                match column_of[row] {
                    NONE => unmatched = unmatched.or(Some(row)),
                    given => {
                        self.leads.insert(0, given);
                        self.queue.push(given);
                    }
                }
            }
        }
        unmatched
    }
}

/// Rows of bits.
struct Bits {
    words: Vec<u64>,
    /// Words of one row.
    width: usize,
}

impl Bits {
    fn new(rows: usize, columns: usize) -> Self {
        let width = columns.div_ceil(64);
        Self {
            words: vec![0; rows * width],
            width,
        }
    }

    /// One row of bits that are set.
    fn full(columns: usize) -> Self {
        let mut bits = Self::new(1, columns);
        (0..columns).for_each(|column| bits.insert(0, column));
        bits
    }

    fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.width..(row + 1) * self.width]
    }

    fn contains(&self, row: usize, column: usize) -> bool {
        self.row(row)[column / 64] & (1 << (column % 64)) != 0
    }

    fn insert(&mut self, row: usize, column: usize) {
        self.words[row * self.width + column / 64] |= 1 << (column % 64);
    }

    fn remove(&mut self, row: usize, column: usize) {
        self.words[row * self.width + column / 64] &= !(1 << (column % 64));
    }

    fn turned(&self, columns: usize) -> Self {
        let rows = self.words.len().checked_div(self.width).unwrap_or(0);
        let mut turned = Self::new(columns, rows);
        for row in 0..rows {
            for (index, &word) in self.row(row).iter().enumerate() {
                let mut word = word;
                while word != 0 {
                    turned.insert(index * 64 + word.trailing_zeros() as usize, row);
                    word &= word - 1;
                }
            }
        }
        turned
    }
}

/// The first bit that is set in all of these.
fn first_common<const N: usize>(rows: [&[u64]; N]) -> Option<usize> {
    let words = rows.iter().map(|row| row.len()).min().unwrap_or(0);
    (0..words).find_map(|index| {
        let word = rows.iter().fold(u64::MAX, |word, row| word & row[index]);
        (word != 0).then(|| index * 64 + word.trailing_zeros() as usize)
    })
}
