use std::collections::BTreeSet;

use metric_core::fields;

use crate::{Clip, LaneCorrespondence, LaneId, LaneIds};

/// Something about a clip that its author would want to know, and that does not change the score.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The clip it was found in.
    pub side: Side,
    /// The id of the rule.
    pub rule: String,
    /// The lane.
    pub lane: LaneId,
    /// The problem.
    pub kind: FindingKind,
}

/// One of the two clips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The prediction.
    Prediction,
    /// The reference.
    Reference,
}

/// The problem with a lane of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// The lane is not one of the map's centerlines. It counts like any other: correct if both
    /// sides name it.
    Dangling,
    /// The rule names the lane more than once.
    Duplicate,
}

/// The number of [findings](Finding).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingCounts {
    /// Lanes that are not centerlines, rule by rule.
    pub dangling: u64,
    /// Lanes that a rule names more than once, rule by rule.
    pub duplicate: u64,
}

fields!(FindingCounts {
    dangling,
    duplicate
});

impl LaneCorrespondence {
    /// Oddities of the lanes of both clips: the prediction first, each by rule and lane, and each
    /// lane of a rule once.
    ///
    /// The map is that of the reference ([`Clip::with_centerlines`]); where it is not known there
    /// are no dangling lanes to find.
    ///
    /// ```
    /// use metric_graph::{Clip, Finding, FindingKind, LaneCorrespondence, Rule, Side};
    ///
    /// let truth = Clip::new([("0", Rule::of_lanes([1]))])?.with_centerlines([1, 2]);
    /// let prediction = Clip::new([("0", Rule::of_lanes([1, 2, 2, 999]))])?;
    /// let finding = |lane: i64, kind| Finding {
    ///     side: Side::Prediction, rule: "0".to_owned(), lane: lane.into(), kind,
    /// };
    /// assert_eq!(
    ///     LaneCorrespondence::default().findings(&prediction, &truth),
    ///     [finding(2, FindingKind::Duplicate), finding(999, FindingKind::Dangling)],
    /// );
    /// # Ok::<(), metric_graph::DuplicateRule>(())
    /// ```
    #[must_use]
    pub fn findings(&self, prediction: &Clip, reference: &Clip) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (side, clip) in [(Side::Prediction, prediction), (Side::Reference, reference)] {
            let centerlines = reference.centerlines();
            visit(clip, centerlines, self.lane_ids, |rule, lane, kind| {
                findings.push(Finding {
                    side,
                    rule: rule.to_owned(),
                    lane: lane.clone(),
                    kind,
                });
            });
        }
        findings
    }

    /// Returns the clip without the lanes that are not among the reference's centerlines; the same
    /// clip if the map is not known.
    ///
    /// Such lanes count like any other in MapDR. Score clips that went through this to leave them out.
    ///
    /// ```
    /// use metric_graph::{Clip, LaneCorrespondence, Rule};
    ///
    /// let truth = Clip::new([("0", Rule::of_lanes([1]))])?.with_centerlines([1, 2]);
    /// let prediction = Clip::new([("0", Rule::of_lanes([1, 999]))])?;
    /// let kept = LaneCorrespondence::default().without_dangling(&prediction, &truth);
    /// assert_eq!(kept.rule("0").map(|rule| rule.lanes.len()), Some(1));
    /// # Ok::<(), metric_graph::DuplicateRule>(())
    /// ```
    #[must_use]
    pub fn without_dangling(&self, clip: &Clip, reference: &Clip) -> Clip {
        let Some(known) = reference.centerlines() else {
            return clip.clone();
        };
        clip.map_rules(|rule| {
            let mut rule = rule.clone();
            rule.lanes
                .retain(|lane| contains(known, lane, self.lane_ids));
            rule
        })
    }
}

/// The number of findings in one clip.
pub(crate) fn count(
    clip: &Clip,
    centerlines: Option<&BTreeSet<LaneId>>,
    lane_ids: LaneIds,
) -> FindingCounts {
    let mut counts = FindingCounts::default();
    visit(clip, centerlines, lane_ids, |_, _, kind| match kind {
        FindingKind::Dangling => counts.dangling += 1,
        FindingKind::Duplicate => counts.duplicate += 1,
    });
    counts
}

fn visit<'a>(
    clip: &'a Clip,
    centerlines: Option<&BTreeSet<LaneId>>,
    lane_ids: LaneIds,
    mut found: impl FnMut(&'a str, &'a LaneId, FindingKind),
) {
    let mut lanes: Vec<&LaneId> = Vec::new();
    for (id, rule) in clip.rules() {
        lanes.clear();
        lanes.extend(&rule.lanes);
        lanes.sort_unstable_by_key(|lane| lane.key(lane_ids));
        for same in lanes.chunk_by(|a, b| a.key(lane_ids) == b.key(lane_ids)) {
            let [lane, others @ ..] = same else { continue };
            if centerlines.is_some_and(|known| !contains(known, lane, lane_ids)) {
                found(id, lane, FindingKind::Dangling);
            }
            if !others.is_empty() {
                found(id, lane, FindingKind::Duplicate);
            }
        }
    }
}

fn contains(known: &BTreeSet<LaneId>, lane: &LaneId, lane_ids: LaneIds) -> bool {
    known.contains(lane)
        || (lane_ids == LaneIds::Text
            && match lane {
                LaneId::Integer(id) => known.contains(&LaneId::Text(id.to_string())),
                LaneId::Text(id) => known.contains(&LaneId::from_key(id)),
            })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;

    #[test]
    fn each_lane_of_a_rule_once() {
        let lanes = |lanes: [LaneId; 4]| Clip::new([("r", Rule::of_lanes(lanes))]);
        let clip = lanes([9.into(), "1".into(), 9.into(), 1.into()]).unwrap_or_default();
        let known = clip.clone().with_centerlines([1]);
        let all = |metric: &LaneCorrespondence, reference: &Clip| -> Vec<(String, FindingKind)> {
            let findings = metric.findings(&clip, reference).into_iter();
            findings
                .filter(|finding| finding.side == Side::Prediction)
                .map(|finding| (finding.lane.to_string(), finding.kind))
                .collect()
        };
        use FindingKind::{Dangling, Duplicate};
        let named = |findings: &[(&str, FindingKind)]| -> Vec<_> {
            let findings = findings.iter();
            findings
                .map(|(lane, kind)| ((*lane).to_owned(), *kind))
                .collect()
        };
        let strict = LaneCorrespondence::default();
        let text = LaneCorrespondence {
            lane_ids: LaneIds::Text,
            ..LaneCorrespondence::default()
        };
        assert_eq!(all(&strict, &clip), named(&[("9", Duplicate)]));
        assert_eq!(
            all(&strict, &known),
            named(&[("9", Dangling), ("9", Duplicate), ("\"1\"", Dangling)])
        );
        assert_eq!(
            all(&text, &known),
            named(&[("\"1\"", Duplicate), ("9", Dangling), ("9", Duplicate)])
        );
        let text_keys = clip.clone().with_centerlines(["9", "1"]);
        assert_eq!(
            all(&text, &text_keys),
            named(&[("\"1\"", Duplicate), ("9", Duplicate)])
        );
    }
}
