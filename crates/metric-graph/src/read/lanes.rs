use metric_core::{Merge, Metric, written};
use metric_record::Message;

use crate::{Clip, CorrespondenceScore, CorrespondenceState, LaneCorrespondence};

/// [`LaneCorrespondence`] over predictions that may be unreadable. These count as empty clips.
///
/// ```
/// use metric_core::Metric;
/// use metric_graph::read::{ReadLanes, Unparsable};
/// use metric_graph::{Clip, LaneCorrespondence, Rule};
///
/// let metric = ReadLanes(LaneCorrespondence::default());
/// let truth = Clip::new([("0", Rule::of_lanes([7, 8]))])?;
/// let unparsable = Unparsable { id: "a".to_owned(), reason: "null".into() };
///
/// let mut state = metric.measure(&Ok(truth.clone()), &truth);
/// metric.update(&mut state, &Err(unparsable.clone()), &truth);
/// assert_eq!((state.unparsable, state.example.as_ref()), (1, Some(&unparsable)));
/// assert_eq!(metric.compute(&state).micro.correspondence.recall, Some(2.0 / 4.0));
/// # Ok::<(), metric_graph::DuplicateRule>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadLanes(
    /// The rule by which clips are scored.
    pub LaneCorrespondence,
);

/// A prediction that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unparsable {
    /// The id of its record.
    pub id: String,
    /// The value found, and what was expected.
    pub reason: Message,
}

/// The state of [`ReadLanes`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadLanesState {
    /// The state of the clips.
    pub correspondence: CorrespondenceState,
    /// The number of unparsable predictions.
    pub unparsable: u64,
    /// The unparsable prediction with the least id.
    pub example: Option<Unparsable>,
    /// The number of clips whose map is known, so that their lane ids could be checked.
    pub with_centerlines: u64,
}

impl ReadLanesState {
    fn offer(&mut self, example: Option<&Unparsable>) {
        if let Some(example) = example
            && self.example.as_ref().is_none_or(|least| example < least)
        {
            self.example = Some(example.clone());
        }
    }
}

written!(Unparsable { id, reason });
written!(ReadLanesState {
    correspondence,
    unparsable,
    example,
    with_centerlines
});

impl Merge for ReadLanesState {
    fn merge(&mut self, other: Self) {
        self.offer(other.example.as_ref());
        self.correspondence.merge(other.correspondence);
        self.unparsable += other.unparsable;
        self.with_centerlines += other.with_centerlines;
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times > 0 {
            self.offer(other.example.as_ref());
        }
        self.correspondence
            .merge_times(&other.correspondence, times);
        self.unparsable += other.unparsable * times;
        self.with_centerlines += other.with_centerlines * times;
    }
}

impl Metric for ReadLanes {
    type Prediction = Result<Clip, Unparsable>;
    type Reference = Clip;
    type State = ReadLanesState;
    type Score = CorrespondenceScore;

    fn update(
        &self,
        state: &mut ReadLanesState,
        prediction: &Result<Clip, Unparsable>,
        reference: &Clip,
    ) {
        let empty = Clip::default();
        let clip = prediction.as_ref().unwrap_or(&empty);
        self.0.update(&mut state.correspondence, clip, reference);
        if let Err(unparsable) = prediction {
            state.unparsable += 1;
            state.offer(Some(unparsable));
        }
        state.with_centerlines += u64::from(reference.centerlines().is_some());
    }

    fn compute(&self, state: &ReadLanesState) -> CorrespondenceScore {
        self.0.compute(&state.correspondence)
    }
}

#[cfg(test)]
mod tests {
    use metric_core::{from_bytes, to_bytes};

    use super::*;
    use crate::Rule;

    fn unparsable(id: &str) -> ReadLanesState {
        let truth = Clip::new([("0", Rule::of_lanes([1]))]).unwrap_or_default();
        let unparsable = Unparsable {
            id: id.to_owned(),
            reason: Message::from("null"),
        };
        ReadLanes::default().measure(&Err(unparsable), &truth.with_centerlines([1]))
    }

    #[test]
    fn the_example_has_the_least_id() {
        let least = |state: &ReadLanesState| state.example.clone().map(|example| example.id);
        for ids in [["a", "b"], ["b", "a"]] {
            let [mut first, second] = ids.map(unparsable);
            first.merge(second);
            assert_eq!(least(&first).as_deref(), Some("a"));
            assert_eq!((first.unparsable, first.with_centerlines), (2, 2));
        }
    }

    #[test]
    fn merging_several_times() {
        for times in 0..3 {
            let (mut at_once, mut one_by_one) = (unparsable("b"), unparsable("b"));
            at_once.merge_times(&unparsable("a"), times);
            for _ in 0..times {
                one_by_one.merge(unparsable("a"));
            }
            assert_eq!(at_once, one_by_one);
        }
    }

    #[test]
    fn states_survive_being_written() {
        let state = unparsable("a");
        assert_eq!(from_bytes(&to_bytes(&state)), Ok(state));
    }
}
