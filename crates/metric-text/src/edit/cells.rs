//! The limit on the work of an alignment.

/// The cells that may still be computed.
#[derive(Debug)]
pub(crate) struct Cells(u64);

/// There are no cells left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfCells;

impl Cells {
    pub(crate) fn new(cells: u64) -> Self {
        Self(cells)
    }

    /// More than any computation gets to.
    pub(crate) fn unlimited() -> Self {
        Self(u64::MAX)
    }

    /// Returns an error if fewer than `cells` cells are left.
    pub(crate) fn check(&self, cells: u64) -> Result<(), OutOfCells> {
        if cells > self.0 {
            return Err(OutOfCells);
        }
        Ok(())
    }

    pub(crate) fn spend(&mut self, cells: u64) -> Result<(), OutOfCells> {
        self.check(cells)?;
        self.0 -= cells;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_run_out() {
        let mut cells = Cells::new(10);
        assert_eq!(cells.spend(4), Ok(()));
        assert_eq!(cells.spend(7), Err(OutOfCells));
        assert_eq!(cells.spend(6), Ok(()));
    }
}
