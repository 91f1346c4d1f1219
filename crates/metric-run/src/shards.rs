use std::collections::BTreeSet;

use metric_record::Shard;
use serde::{Deserialize, Serialize};

/// The shards whose examples a state holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shards {
    /// The number of shards of the whole data set.
    pub(crate) count: u32,
    /// The shards that are here, counted from 0.
    pub(crate) indices: BTreeSet<u32>,
}

impl Shards {
    /// Returns the number of shards of the whole data set.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the shards that are here, in rising order, counted from 0.
    pub fn indices(&self) -> impl Iterator<Item = u32> {
        self.indices.iter().copied()
    }

    /// Returns the shards that are not here, in rising order.
    pub fn missing(&self) -> impl Iterator<Item = u32> {
        (0..self.count).filter(|index| !self.indices.contains(index))
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.indices.len() as u64 == u64::from(self.count)
    }
}

impl From<Shard> for Shards {
    fn from(shard: Shard) -> Self {
        Self {
            count: shard.count(),
            indices: BTreeSet::from([shard.index()]),
        }
    }
}
