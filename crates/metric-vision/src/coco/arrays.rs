//! The arrays of pycocotools.

use super::curves::{CocoCurves, OfClass};
use super::params::CocoParams;

impl CocoCurves {
    /// Returns the arrays of `COCOeval.eval` for a list of this many classes.
    ///
    /// Classes at or above that number are left out. Returns `None` if the arrays do not fit into
    /// memory, or if the curves were read without scores.
    #[must_use]
    pub fn arrays(&self, classes: usize) -> Option<CocoArrays> {
        let has_scores = |curves: &OfClass| curves.reached_at.len() == curves.precision.len();
        if !self.classes.iter().all(has_scores) {
            return None;
        }
        let CocoParams {
            areas,
            iou_thresholds,
            recall_thresholds,
            max_detections,
            ..
        } = &self.params;
        let (thresholds, recalls) = (iou_thresholds.len(), recall_thresholds.len());
        let shape = [
            thresholds,
            recalls,
            classes,
            areas.len(),
            max_detections.len(),
        ];
        let cells = shape
            .iter()
            .try_fold(1_usize, |cells, &length| cells.checked_mul(length))?;
        let undefined = |cells| {
            let mut cells_of = Vec::new();
            cells_of.try_reserve_exact(cells).ok()?;
            cells_of.resize(cells, -1.0);
            Some(cells_of)
        };
        let mut arrays = CocoArrays {
            shape,
            precision: undefined(cells)?,
            scores: undefined(cells)?,
            recall: undefined(cells.checked_div(recalls)?)?,
        };
        for curves in &self.classes {
            let class = curves.class as usize;
            if class >= classes {
                continue;
            }
            for (most, _) in max_detections.iter().enumerate() {
                let defined =
                    |area: &usize| curves.truths.get(*area).is_some_and(|&truths| truths > 0);
                for area in (0..areas.len()).filter(defined) {
                    for threshold in 0..thresholds {
                        let from = self.position(most, area, threshold);
                        let to = |row: usize| {
                            ((row * classes + class) * areas.len() + area) * max_detections.len()
                                + most
                        };
                        let Some((recall, reached)) = curves.curves.get(from) else {
                            continue;
                        };
                        arrays.recall[to(threshold)] = *recall;
                        let mut reached = reached.clone();
                        for recall in 0..recalls {
                            let to = to(threshold * recalls + recall);
                            let from = reached.next();
                            arrays.precision[to] = from.map_or(0.0, |from| curves.precision[from]);
                            arrays.scores[to] = from.map_or(0.0, |from| curves.score(from));
                        }
                    }
                }
            }
        }
        Some(arrays)
    }
}

/// The arrays of `COCOeval.eval`, each as a flat list in row-major order, with -1 where a value is undefined.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CocoArrays {
    /// The numbers of thresholds, recalls, classes, area ranges and numbers of detections.
    pub shape: [usize; 5],
    /// Precision, of this shape.
    pub precision: Vec<f64>,
    /// The score at or above which each recall is reached, of this shape.
    pub scores: Vec<f64>,
    /// The recall of all detections that count, of this shape without the recalls.
    pub recall: Vec<f64>,
}
