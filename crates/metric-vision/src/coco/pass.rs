//! The curves of one replicate: of rows that are read from the highest score down, each as often as it occurs.
//!
//! The rows of a block of curves are read once and are copied into one list; that list is read once per curve, without
//! a branch that depends on the data.

use std::ops::Range;
use std::sync::Arc;

use super::curves::{Envelope, needed};
use super::params::CocoParams;

/// Where a detection is right and where it is wrong, one bit for each curve of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockVerdict {
    pub(super) right: u64,
    pub(super) wrong: u64,
}

impl BlockVerdict {
    pub(super) fn is_wrong_in_all(self, block: &Range<usize>) -> bool {
        self.right == 0 && self.wrong == all_bits(block)
    }
}

/// The curves of each block: those of the thresholds of an area range, as many as a word has bits.
pub(super) fn blocks(params: &CocoParams) -> Vec<Range<usize>> {
    let thresholds = params.iou_thresholds.len();
    let of_area = |area: usize| {
        let (start, end) = (area * thresholds, (area + 1) * thresholds);
        (start..end)
            .step_by(64)
            .map(move |start| start..end.min(start + 64))
    };
    (0..params.areas.len()).flat_map(of_area).collect()
}

/// The bits of the curves of a block, from those of all curves.
pub(super) fn bits_of(block: &Range<usize>, words: &[u64]) -> u64 {
    let word = |index: usize| words.get(index).copied().unwrap_or_default();
    let (index, shift) = (block.start / 64, block.start % 64);
    let low = word(index) >> shift;
    let high = word(index + 1).unbounded_shl(64 - shift as u32);
    (low | high) & all_bits(block)
}

/// The bits of all curves of a block.
pub(super) fn all_bits(block: &Range<usize>) -> u64 {
    u64::MAX.unbounded_shr(64_u32.saturating_sub(block.len() as u32))
}

/// The detections of a block in a replicate, from the highest score down.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// The number of curves of the block.
    curves: usize,
    /// The detections that are not wrong in all curves, and after `count` of them unused memory.
    detections: Vec<Occurrence>,
    count: usize,
    /// The number of detections that are wrong in all curves, among the first 0, 1, 2 and so on of them.
    wrong: Vec<u64>,
    /// For each detection of a curve that is right, the number of those before it that are wrong.
    wrong_before: Vec<f64>,
    pub(super) needed: Needed,
    envelope: Envelope,
}

/// A detection of a block, as often as it occurs.
#[derive(Clone, Copy, Debug, Default)]
struct Occurrence {
    right: u64,
    wrong: u64,
    /// At most [`COPIES`].
    times: u64,
    /// The number of detections before it that are wrong in all curves.
    wrong_before: u64,
}

/// The most repetitions in one [`Occurrence`]. A pass writes this many numbers at once, without a branch.
const COPIES: usize = 4;

/// The numbers of detections that reach each recall, by number of true objects: the same numbers come in many
/// replicates.
#[derive(Debug, Default)]
pub(super) struct Needed(Vec<Option<Arc<[u64]>>>);

impl Needed {
    /// More true objects are rarer, and the list would be long.
    const MOST: usize = 4096;

    pub(super) fn get(&mut self, params: &CocoParams, truths: u64) -> Arc<[u64]> {
        let index = truths as usize;
        if index >= Self::MOST {
            return needed(params, truths).into();
        }
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        Arc::clone(self.0[index].get_or_insert_with(|| needed(params, truths).into()))
    }
}

impl Pass {
    /// Starts a block. `wrong` says how often each detection that is wrong in all its curves occurs, from the highest
    /// score down.
    pub(super) fn start(&mut self, block: &Range<usize>, wrong: impl Iterator<Item = u64>) {
        self.curves = block.len();
        self.count = 0;
        self.wrong.clear();
        self.wrong.push(0);
        let mut total = 0;
        self.wrong.extend(wrong.map(|times| {
            total += times;
            total
        }));
    }

    /// Adds a detection as often as it occurs here, which may be 0 times, after some of those that are wrong in all
    /// curves. Without a branch that depends on the data.
    #[inline]
    pub(super) fn add(&mut self, verdict: BlockVerdict, wrong_before: usize, times: u64) {
        let BlockVerdict { right, wrong } = verdict;
        let wrong_before = self.wrong.get(wrong_before).copied().unwrap_or_default();
        let mut left = times;
        loop {
            // Written at the end of the list in any case, where the next one replaces it if it does not occur.
            if self.count == self.detections.len() {
                self.detections.push(Occurrence::default());
            }
            self.detections[self.count] = Occurrence {
                right,
                wrong,
                times: left.min(COPIES as u64),
                wrong_before,
            };
            self.count += usize::from(left > 0);
            if left <= COPIES as u64 {
                break;
            }
            left -= COPIES as u64;
        }
    }

    /// Visits the envelopes of the curves in their order.
    pub(super) fn each_envelope(&mut self, mut visit: impl FnMut(&[f64])) {
        let detections = self.detections.get(..self.count).unwrap_or_default();
        let times = detections.iter().map(|detection| detection.times);
        let most = times.sum::<u64>() as usize + COPIES;
        if self.wrong_before.len() < most {
            self.wrong_before.resize(most, 0.0);
        }
        for bit in 0..self.curves {
            let wrong_before = wrong_before(detections, bit, &mut self.wrong_before);
            visit(self.envelope.compute(wrong_before));
        }
    }
}

/// For each detection that is right in the curve of a bit, the number of those before it that are wrong.
fn wrong_before<'b>(detections: &[Occurrence], bit: usize, buffer: &'b mut [f64]) -> &'b [f64] {
    let (mut right, mut wrong) = (0, 0);
    for detection in detections {
        // Written in any case, and kept if the detection is right.
        let next = buffer.get_mut(right..);
        let Some(next) = next.and_then(<[f64]>::first_chunk_mut::<COPIES>) else {
            break;
        };
        // Counts are below 2^62. A signed integer is converted by one instruction.
        next.fill((wrong + detection.wrong_before) as i64 as f64);
        right += (detection.right >> bit & 1) as usize * detection.times as usize;
        wrong += (detection.wrong >> bit & 1) * detection.times;
    }
    buffer.get(..right).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(areas: usize, thresholds: usize) -> CocoParams {
        let mut params = CocoParams::default();
        let area = params.areas[0].clone();
        params.areas = vec![area; areas];
        params.iou_thresholds = (1..=thresholds).map(|index| index as f64 / 100.0).collect();
        params
    }

    #[test]
    fn blocks_are_the_thresholds_of_an_area_range_word_by_word() {
        assert_eq!(blocks(&params(2, 10)), [0..10, 10..20]);
        assert_eq!(blocks(&params(2, 64)), [0..64, 64..128]);
        assert_eq!(blocks(&params(2, 70)), [0..64, 64..70, 70..134, 134..140]);
        assert_eq!(blocks(&params(1, 0)), []);
    }

    #[test]
    fn bits_of_a_block_are_found_across_words() {
        let words = [1 << 63 | 0b11, 0b101];
        assert_eq!(bits_of(&(0..2), &words), 0b11);
        assert_eq!(bits_of(&(63..67), &words), 0b1011);
        assert_eq!(bits_of(&(64..66), &words), 0b01);
        assert_eq!(bits_of(&(0..64), &words), words[0]);
        assert_eq!(bits_of(&(200..202), &words), 0);
        assert_eq!((all_bits(&(3..4)), all_bits(&(0..64))), (1, u64::MAX));
    }

    #[test]
    fn wrong_ones_before_each_right_one() {
        let mut pass = Pass::default();
        // Wrong at both thresholds: one that occurs twice, and one that does not occur.
        pass.start(&(0..2), [2, 0].into_iter());
        let verdict = |right, wrong| BlockVerdict { right, wrong };
        pass.add(verdict(0b11, 0), 0, 1);
        // Right at the first threshold only, six times, which is more than one entry has.
        pass.add(verdict(0b01, 0b10), 1, 6);
        pass.add(verdict(0b11, 0), 2, 0);
        pass.add(verdict(0b10, 0b01), 2, 1);
        let mut precision = Vec::new();
        pass.each_envelope(|envelope| precision.push(envelope.to_vec()));
        let [first, second] = &precision[..] else {
            panic!("two curves: {precision:?}");
        };
        // 7 of 9 at the last of the first curve; the first detection is right: 1 of 1, less numpy's smallest step.
        assert_eq!(first.len(), 7);
        assert_eq!(first[0], 1.0 / (1.0 + f64::EPSILON));
        assert_eq!(first[1..], [7.0 / 9.0; 6]);
        // 2 wrong ones and then 6 before the second right one.
        assert_eq!(second[..], [1.0 / (1.0 + f64::EPSILON), 2.0 / 10.0]);
    }
}
