//! Numbers for texts and pairs of numbers.

use crate::hash::fold;

/// Numbers by key, in open addressing; cleared in no time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    /// The slots in use are the first `size`, a power of two, so that small texts after a large one
    /// stay in the cache.
    size: usize,
    /// Slots with another stamp are free.
    stamp: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u64,
    stamp: u32,
    id: u32,
}

impl Table {
    /// Empties the table and makes room for `capacity` entries, which is not checked later.
    pub(crate) fn clear(&mut self, capacity: usize) {
        // At most half full, so that a search ends soon, and ends at all.
        self.size = (2 * capacity.max(1)).next_power_of_two();
        if self.slots.len() < self.size {
            self.slots.resize(self.size, Slot::default());
        }
        if self.stamp == u32::MAX {
            self.slots.fill(Slot::default());
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// The number under `key` for which `equal` holds.
    #[inline]
    pub(crate) fn find(&self, key: u64, equal: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = &self.slots[..self.size];
        let mut index = hash(key) as usize;
        loop {
            let slot = slots.get(index & self.size.wrapping_sub(1))?;
            if slot.stamp != self.stamp {
                return None;
            }
            if slot.key == key && equal(slot.id) {
                return Some(slot.id);
            }
            index += 1;
        }
    }

    /// The number under `key` for which `equal` holds, which is `new` if there was none.
    #[inline]
    pub(crate) fn entry(&mut self, key: u64, new: u32, equal: impl Fn(u32) -> bool) -> u32 {
        let slots = &mut self.slots[..self.size];
        let mut index = hash(key) as usize;
        loop {
            let Some(slot) = slots.get_mut(index & self.size.wrapping_sub(1)) else {
                return new;
            };
            if slot.stamp != self.stamp {
                let stamp = self.stamp;
                *slot = Slot {
                    key,
                    stamp,
                    id: new,
                };
                return new;
            }
            if slot.key == key && equal(slot.id) {
                return slot.id;
            }
            index += 1;
        }
    }
}

// Odd, with half of the bits set: the first digits of pi.
const MULTIPLIER: u64 = 0x243f_6a88_85a3_08d3;
const SEED: u64 = 0x1319_8a2e_0370_7344;

fn hash(key: u64) -> u64 {
    fold(key ^ SEED, MULTIPLIER)
}

/// The key of a token. Up to 7 bytes it is the token itself, with the length in the top byte;
/// longer tokens have a hash there, and equal ones are to be compared.
pub(crate) fn key(word: &[u8]) -> u64 {
    let length = word.len() as u64;
    if length < 8 {
        let bytes = word
            .iter()
            .rev()
            .fold(0, |key, &byte| key << 8 | u64::from(byte));
        return bytes | length << 56;
    }
    let mut hashed = length;
    for at in (0..word.len() - 8).step_by(8) {
        hashed = fold(hashed ^ SEED ^ load(word, at), MULTIPLIER);
    }
    fold(hashed ^ SEED ^ load(word, word.len() - 8), MULTIPLIER) | LONG
}

const LONG: u64 = 0xff << 56;

pub(crate) fn is_short(key: u64) -> bool {
    key < LONG
}

const SPACES: u64 = u64::from_le_bytes([b' '; 8]);

/// Eight bytes starting at `at`, the first lowest; after the end of the text come spaces.
pub(crate) fn load(text: &[u8], at: usize) -> u64 {
    if let Some(&bytes) = text.get(at..).and_then(<[u8]>::first_chunk) {
        return u64::from_le_bytes(bytes);
    }
    match text.last_chunk() {
        Some(&bytes) if at < text.len() => {
            let missing = 8 * (at + 8 - text.len()) as u32;
            u64::from_le_bytes(bytes) >> missing | SPACES << (64 - missing)
        }
        _ => {
            let mut bytes = [b' '; 8];
            for (byte, &given) in bytes.iter_mut().zip(text.iter().skip(at)) {
                *byte = given;
            }
            u64::from_le_bytes(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cleared_table_is_empty_even_when_its_stamps_begin_again() {
        let mut table = Table::default();
        table.clear(2);
        assert_eq!(table.entry(7, 0, |_| true), 0);
        assert_eq!(table.find(7, |_| true), Some(0));
        table.stamp = u32::MAX;
        table.clear(2);
        assert_eq!(table.find(7, |_| true), None);
        assert_eq!(table.entry(7, 1, |_| true), 1);
    }
}
