//! Longest common subsequences.

/// The rows of a block: bits of an integer.
const BITS: usize = u64::BITS as usize;

/// The longest common subsequence of references and predictions whose tokens are numbers up to a greatest one.
///
/// The table has a row for each token of the reference. Within a column each cell is equal to the cell above or greater by
/// one, and a bit says which: 64 rows are computed at once. H. Hyyrö, *Bit-parallel LCS-length computation revisited*
/// (2004).
pub(super) struct Lcs {
    /// The rows of the current block that have each token.
    rows: Vec<u64>,
    /// The columns of the current block. A bit of 0 is a cell that is greater than the cell above.
    columns: Vec<u64>,
    /// Whether the addition in each column carries into the next block.
    carries: Vec<bool>,
}

impl Lcs {
    pub(super) fn new(greatest: u32) -> Self {
        Self {
            rows: vec![0; greatest as usize + 1],
            columns: Vec::new(),
            carries: Vec::new(),
        }
    }

    /// The number of cells that [`len`](Self::len) computes.
    pub(super) fn cells(reference: usize, prediction: usize) -> u64 {
        let rows = reference.div_ceil(BITS) * BITS;
        (rows as u64).saturating_mul(prediction as u64)
    }

    /// Returns the length of the longest common subsequence.
    pub(super) fn len(&mut self, reference: &[u32], prediction: &[u32]) -> u64 {
        self.carries.clear();
        self.carries.resize(prediction.len(), false);
        let mut carries = std::mem::take(&mut self.carries);
        let mut len = 0;
        for block in reference.chunks(BITS) {
            self.set_rows(block);
            let mut column = u64::MAX;
            for (&token, carry) in prediction.iter().zip(&mut carries) {
                column = next(column, self.rows[token as usize], carry);
            }
            self.clear_rows(block);
            let above = BITS - block.len();
            len += u64::from((!column << above).count_ones());
        }
        self.carries = carries;
        len
    }

    /// Marks the positions in the reference of the longest common subsequence that rouge-score finds.
    ///
    /// From the end of both lists, equal tokens are taken. Otherwise the last token of the prediction is dropped if only
    /// then the subsequence stays as long, and the last token of the reference if not.
    pub(super) fn mark(&mut self, reference: &[u32], prediction: &[u32], is_marked: &mut [bool]) {
        let width = prediction.len();
        let mut carries = std::mem::take(&mut self.carries);
        carries.clear();
        carries.resize(width, false);
        // The carries into each block. The columns of a block but the last are computed again on the way back.
        let mut all_carries: Vec<u64> = Vec::new();
        let packed_width = width.div_ceil(BITS);
        for block in reference.chunks(BITS) {
            if reference.len() > BITS {
                all_carries.extend(carries.chunks(BITS).map(pack));
            }
            self.fill(block, prediction, &mut carries);
        }
        let mut left = width;
        for (index, block) in reference.chunks(BITS).enumerate().rev() {
            if block.len() + index * BITS < reference.len() {
                let packed = &all_carries[index * packed_width..];
                for (column, carry) in carries.iter_mut().enumerate() {
                    *carry = packed[column / BITS] >> (column % BITS) & 1 == 1;
                }
                self.fill(block, prediction, &mut carries);
            }
            let mut above = block.len();
            while above > 0 && left > 0 {
                let (row, column) = (above - 1, left - 1);
                if block[row] == prediction[column] {
                    is_marked[index * BITS + row] = true;
                    (above, left) = (row, column);
                } else if self.columns[column] >> row & 1 == 0 {
                    left = column;
                } else {
                    above = row;
                }
            }
        }
        self.carries = carries;
    }

    /// Computes the columns of a block, and turns carries into it into carries out of it.
    fn fill(&mut self, block: &[u32], prediction: &[u32], carries: &mut [bool]) {
        self.set_rows(block);
        self.columns.clear();
        let mut column = u64::MAX;
        for (&token, carry) in prediction.iter().zip(carries) {
            column = next(column, self.rows[token as usize], carry);
            self.columns.push(column);
        }
        self.clear_rows(block);
    }

    fn set_rows(&mut self, block: &[u32]) {
        for (row, &token) in block.iter().enumerate() {
            self.rows[token as usize] |= 1 << row;
        }
    }

    fn clear_rows(&mut self, block: &[u32]) {
        block
            .iter()
            .for_each(|&token| self.rows[token as usize] = 0);
    }
}

/// Up to 64 carries as bits.
fn pack(carries: &[bool]) -> u64 {
    let bits = carries.iter().enumerate();
    bits.fold(0, |packed, (bit, carry)| packed | u64::from(*carry) << bit)
}

/// The next column of a block.
#[inline]
fn next(column: u64, equal: u64, carry: &mut bool) -> u64 {
    let matches = column & equal;
    let (sum, first) = column.overflowing_add(matches);
    let (sum, second) = sum.overflowing_add(u64::from(*carry));
    *carry = first | second;
    sum | (column & !matches)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The table and its path, cell by cell.
    fn cell_by_cell(reference: &[u32], prediction: &[u32]) -> (u64, Vec<bool>) {
        let (rows, columns) = (reference.len(), prediction.len());
        let mut table = vec![vec![0_u64; columns + 1]; rows + 1];
        for i in 1..=rows {
            for j in 1..=columns {
                table[i][j] = if reference[i - 1] == prediction[j - 1] {
                    table[i - 1][j - 1] + 1
                } else {
                    table[i - 1][j].max(table[i][j - 1])
                };
            }
        }
        let mut is_marked = vec![false; rows];
        let (mut i, mut j) = (rows, columns);
        while i > 0 && j > 0 {
            if reference[i - 1] == prediction[j - 1] {
                is_marked[i - 1] = true;
                (i, j) = (i - 1, j - 1);
            } else if table[i][j - 1] > table[i - 1][j] {
                j -= 1;
            } else {
                i -= 1;
            }
        }
        (table[rows][columns], is_marked)
    }

    proptest! {
        #[test]
        fn blocks_give_what_cells_give(
            (reference, prediction) in (1_u32..6).prop_flat_map(|most| {
                (vec(1..=most, 0..200), vec(1..=most, 0..200))
            }),
        ) {
            let (len, marked) = cell_by_cell(&reference, &prediction);
            let mut lcs = Lcs::new(6);
            prop_assert_eq!(lcs.len(&reference, &prediction), len);
            let mut is_marked = vec![false; reference.len()];
            lcs.mark(&reference, &prediction, &mut is_marked);
            prop_assert_eq!(is_marked, marked);
            prop_assert!(lcs.rows.iter().all(|rows| *rows == 0));
        }
    }
}
