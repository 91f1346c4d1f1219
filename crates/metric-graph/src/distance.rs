//! Distances of polylines: discrete Fréchet, Chamfer and Hausdorff, in any dimension.
//!
//! All are Euclidean, take `O(n m)` time for lines of `n` and `m` points and at most `O(min(n, m))`
//! memory. Differences of coordinates beyond about 1e±150 have squares that are infinite or 0, and
//! so have their distances.
//!
//! Each distance that can be compared with a threshold has a `_below` form, which gives the same number, or `None` once
//! it is certain that the distance is not below the threshold. Most pairs of a map are far apart, and are told apart by
//! their ends or their bounding boxes alone.
//!
//! ```
//! use metric_graph::Polyline;
//! use metric_graph::distance::{Chamfer, Hausdorff, chamfer, discrete_frechet, hausdorff};
//!
//! // A straight line, and one with a dip of 3 in its middle.
//! let straight = Polyline::new(vec![[0.0, 0.0], [10.0, 0.0]])?;
//! let dip = Polyline::new(vec![[0.0, 0.0], [5.0, 3.0], [10.0, 0.0]])?;
//!
//! // The dip must wait at an end of the straight line: the root of 5² + 3².
//! assert_eq!(discrete_frechet(&straight, &dip), 34_f64.sqrt());
//! assert_eq!(hausdorff(&straight, &dip, Hausdorff::Points), 34_f64.sqrt());
//! assert_eq!(hausdorff(&straight, &dip, Hausdorff::Segments), 3.0);
//! assert_eq!(chamfer(&straight, &dip, Chamfer::Sum), 34_f64.sqrt() / 3.0);
//! # Ok::<(), metric_graph::InvalidPolyline>(())
//! ```

use metric_core::named_choice;

use crate::Polyline;
use crate::polyline::{between, squared_distance};

/// Returns the discrete Fréchet distance: the shortest leash for two walkers who each go through
/// the points of a line in their order, and never back.
///
/// Direction matters ([`undirected_frechet`] does not care). So does the sampling: the same line of
/// 20 m with 3 and with 11 points is 4 m from itself: resample first where that matters.
///
/// Eiter and Mannila, *Computing discrete Fréchet distance* (1994), without the recursion.
///
/// ```
/// use metric_graph::Polyline;
/// use metric_graph::distance::{discrete_frechet, undirected_frechet};
///
/// let there = Polyline::new(vec![[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])?;
/// let back = there.reversed();
/// assert_eq!(discrete_frechet(&there, &back), 2.0);
/// assert_eq!(undirected_frechet(&there, &back), 0.0);
/// # Ok::<(), metric_graph::InvalidPolyline>(())
/// ```
#[must_use]
pub fn discrete_frechet<const D: usize>(a: &Polyline<D>, b: &Polyline<D>) -> f64 {
    // Roots keep the order of squares, so that one root at the end is as good as one for each pair.
    squared_frechet(a.points(), b.points(), f64::INFINITY)
        .unwrap_or(f64::INFINITY)
        .sqrt()
}

/// Returns the [`discrete_frechet`] distance of `a` to `b` or to `b` reversed, whichever is smaller.
#[must_use]
pub fn undirected_frechet<const D: usize>(a: &Polyline<D>, b: &Polyline<D>) -> f64 {
    let forwards = discrete_frechet(a, b);
    discrete_frechet_below(a, &b.reversed(), forwards).unwrap_or(forwards)
}

/// Returns the [`discrete_frechet`] distance if it is less than `threshold`.
///
/// ```
/// use metric_graph::Polyline;
/// use metric_graph::distance::discrete_frechet_below;
///
/// let line = Polyline::new(vec![[0.0, 0.0], [4.0, 0.0]])?;
/// let beside = Polyline::new(vec![[0.0, 1.0], [4.0, 1.0]])?;
/// assert_eq!(discrete_frechet_below(&line, &beside, 1.5), Some(1.0));
/// assert_eq!(discrete_frechet_below(&line, &beside, 1.0), None);
/// # Ok::<(), metric_graph::InvalidPolyline>(())
/// ```
#[must_use]
pub fn discrete_frechet_below<const D: usize>(
    a: &Polyline<D>,
    b: &Polyline<D>,
    threshold: f64,
) -> Option<f64> {
    let limit = greatest_square_below(threshold)?;
    let (a, b) = (a.points(), b.points());
    if squared_gap_of_ends(a, b) > limit || squared_gap_of_boxes(a, b) > limit {
        return None;
    }
    squared_frechet(a, b, limit).map(f64::sqrt)
}

/// The Chamfer distance to use: the combination of the mean distance of the points of `a` to their
/// nearest points of `b` ("there"), and of that of the points of `b` to those of `a` ("back").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chamfer {
    /// Half the sum of the two directions, as in OpenLane-V2, VectorMapNet and MapTR.
    #[default]
    HalfSum,
    /// The sum of there and back.
    Sum,
    /// The sum of there and back with the squares of the distances, as in the literature on point
    /// clouds.
    SquaredSum,
    /// The greater of there and back.
    Max,
    /// There alone.
    OneSided,
}

impl Chamfer {
    /// All variants.
    pub const ALL: &[Self] = &[
        Self::HalfSum,
        Self::Sum,
        Self::SquaredSum,
        Self::Max,
        Self::OneSided,
    ];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HalfSum => "half-sum",
            Self::Sum => "sum",
            Self::SquaredSum => "squared-sum",
            Self::Max => "max",
            Self::OneSided => "one-sided",
        }
    }

    fn combine(self, there: f64, back: f64) -> f64 {
        match self {
            Self::HalfSum => (there + back) / 2.0,
            Self::Sum | Self::SquaredSum => there + back,
            Self::Max => there.max(back),
            Self::OneSided => there,
        }
    }
}

named_choice!(Chamfer, "Chamfer distance");

/// Returns the Chamfer distance: how far the points of each line are from the nearest point of the other, on average.
/// The direction of the lines does not matter.
#[must_use]
pub fn chamfer<const D: usize>(a: &Polyline<D>, b: &Polyline<D>, variant: Chamfer) -> f64 {
    chamfer_of_points(a.points(), b.points(), variant)
}

pub(crate) fn chamfer_of_points<const D: usize>(
    a: &[[f64; D]],
    b: &[[f64; D]],
    variant: Chamfer,
) -> f64 {
    let mean = |from: &[[f64; D]], to: &[[f64; D]]| {
        let nearest = nearest_squares(from, to);
        let sum: f64 = if variant == Chamfer::SquaredSum {
            nearest.sum()
        } else {
            nearest.map(f64::sqrt).sum()
        };
        sum / from.len() as f64
    };
    let back = if variant == Chamfer::OneSided {
        0.0
    } else {
        mean(b, a)
    };
    variant.combine(mean(a, b), back)
}

/// Returns the [`chamfer`] distance if it is less than `threshold`.
#[must_use]
pub fn chamfer_below<const D: usize>(
    a: &Polyline<D>,
    b: &Polyline<D>,
    variant: Chamfer,
    threshold: f64,
) -> Option<f64> {
    let gap = squared_gap_of_boxes(a.points(), b.points());
    let gap = if variant == Chamfer::SquaredSum {
        gap
    } else {
        gap.sqrt()
    };
    // A mean of numbers that are no less than the gap can round to less, by a bit a term.
    let terms = (a.points().len() + b.points().len() + 4) as f64;
    if variant.combine(gap, gap) * (1.0 - terms * f64::EPSILON) >= threshold {
        return None;
    }
    Some(chamfer(a, b, variant)).filter(|&distance| distance < threshold)
}

/// The parts of the lines between which a Hausdorff distance is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hausdorff {
    /// From points to points, as in SciPy.
    #[default]
    Points,
    /// From points to segments, as in GEOS (and shapely, PostGIS): seldom the same number.
    Segments,
}

impl Hausdorff {
    /// All variants.
    pub const ALL: &[Self] = &[Self::Points, Self::Segments];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Segments => "segments",
        }
    }
}

named_choice!(Hausdorff, "Hausdorff distance");

/// Returns the Hausdorff distance: the greatest distance of a point of one line from the other line. The direction of
/// the lines does not matter.
#[must_use]
pub fn hausdorff<const D: usize>(a: &Polyline<D>, b: &Polyline<D>, variant: Hausdorff) -> f64 {
    directed_hausdorff(a, b, variant).max(directed_hausdorff(b, a, variant))
}

/// Returns the [`hausdorff`] distance of the points of `a` from `b`, without that of the points of `b` from `a`.
#[must_use]
pub fn directed_hausdorff<const D: usize>(
    a: &Polyline<D>,
    b: &Polyline<D>,
    variant: Hausdorff,
) -> f64 {
    squared_hausdorff(a.points(), b.points(), variant, f64::INFINITY)
        .unwrap_or(f64::INFINITY)
        .sqrt()
}

/// Returns the [`hausdorff`] distance if it is less than `threshold`.
#[must_use]
pub fn hausdorff_below<const D: usize>(
    a: &Polyline<D>,
    b: &Polyline<D>,
    variant: Hausdorff,
    threshold: f64,
) -> Option<f64> {
    let limit = greatest_square_below(threshold)?;
    let (a, b) = (a.points(), b.points());
    if squared_gap_of_boxes(a, b) > limit {
        return None;
    }
    let there = squared_hausdorff(a, b, variant, limit)?;
    let back = squared_hausdorff(b, a, variant, limit)?;
    Some(there.max(back).sqrt())
}

/// For each point of `from` the squared distance to the nearest point of `to`.
fn nearest_squares<const D: usize>(
    from: &[[f64; D]],
    to: &[[f64; D]],
) -> impl Iterator<Item = f64> {
    from.iter().map(move |point| {
        let squares = to.iter().map(|other| squared_distance(point, other));
        squares.fold(f64::INFINITY, lesser)
    })
}

/// The directed Hausdorff distance squared, or `None` once it is more than `limit`.
fn squared_hausdorff<const D: usize>(
    from: &[[f64; D]],
    to: &[[f64; D]],
    variant: Hausdorff,
    limit: f64,
) -> Option<f64> {
    let mut greatest = 0.0;
    for point in from {
        let nearest = match variant {
            Hausdorff::Segments if to.len() > 1 => to
                .windows(2)
                .map(|ends| squared_distance_to_segment(point, &ends[0], &ends[1]))
                .fold(f64::INFINITY, lesser),
            _ => to
                .iter()
                .map(|other| squared_distance(point, other))
                .fold(f64::INFINITY, lesser),
        };
        if nearest > limit {
            return None;
        }
        greatest = greater(greatest, nearest);
    }
    Some(greatest)
}

fn squared_distance_to_segment<const D: usize>(
    point: &[f64; D],
    start: &[f64; D],
    end: &[f64; D],
) -> f64 {
    let (mut along, mut length) = (0.0, 0.0);
    for axis in 0..D {
        let step = end[axis] - start[axis];
        along += (point[axis] - start[axis]) * step;
        length += step * step;
    }
    let share = along / length;
    // The ends are taken as they are, without the rounding of a point between.
    if along <= 0.0 || length <= 0.0 {
        squared_distance(point, start)
    } else if along >= length {
        squared_distance(point, end)
    } else if share.is_finite() && length.is_finite() {
        squared_distance(point, &between(start, end, share))
    } else {
        // A segment whose squared length overflows.
        lesser(squared_distance(point, start), squared_distance(point, end))
    }
}

/// The greatest number whose root is less than `threshold`; `None` if no distance is.
fn greatest_square_below(threshold: f64) -> Option<f64> {
    if threshold.is_nan() || threshold <= 0.0 {
        return None;
    }
    let mut square = threshold * threshold;
    while square.sqrt() >= threshold {
        square = square.next_down();
    }
    while square.next_up().sqrt() < threshold {
        square = square.next_up();
    }
    Some(square)
}

/// A lower bound of the squared Fréchet distance: the first points are together, and the last.
#[inline]
pub(crate) fn squared_gap_of_ends<const D: usize>(a: &[[f64; D]], b: &[[f64; D]]) -> f64 {
    let pair = |a: Option<&[f64; D]>, b: Option<&[f64; D]>| match (a, b) {
        (Some(a), Some(b)) => squared_distance(a, b),
        _ => 0.0,
    };
    greater(pair(a.first(), b.first()), pair(a.last(), b.last()))
}

/// A lower bound of the squared distance of any two points, to the last bit: each rounding in it
/// keeps the order. So it is of points of segments, which are not rounded out of the box of the ends.
fn squared_gap_of_boxes<const D: usize>(a: &[[f64; D]], b: &[[f64; D]]) -> f64 {
    let bounds = |points: &[[f64; D]]| {
        let mut bounds = ([f64::INFINITY; D], [f64::NEG_INFINITY; D]);
        for point in points {
            for (axis, &value) in point.iter().enumerate() {
                bounds.0[axis] = lesser(bounds.0[axis], value);
                bounds.1[axis] = greater(bounds.1[axis], value);
            }
        }
        bounds
    };
    let (a, b) = (bounds(a), bounds(b));
    let gap: [f64; D] = std::array::from_fn(|axis| {
        greater(0.0, greater(a.0[axis] - b.1[axis], b.0[axis] - a.1[axis]))
    });
    squared_distance(&gap, &[0.0; D])
}

/// The number of rows of the table of [`squared_frechet`] that are filled at a time.
const LANES: usize = 4;
/// The longest shorter line for which no memory is allocated.
const SHORT: usize = 32;

/// The discrete Fréchet distance squared, or `None` if it is more than `limit`.
///
/// The recurrence `F(i, j) = max(min(F(i-1, j), F(i-1, j-1), F(i, j-1)), d(i, j))` makes each cell
/// wait for its left neighbor. Here several rows are filled together, each one column behind the
/// row above, so that their cells do not wait for each other and the compiler can put them in one
/// vector.
pub(crate) fn squared_frechet<const D: usize>(
    a: &[[f64; D]],
    b: &[[f64; D]],
    limit: f64,
) -> Option<f64> {
    // Transposing the table changes nothing, so the memory is that of the shorter line.
    let (rows, columns) = if a.len() < b.len() { (b, a) } else { (a, b) };
    if columns.len() <= SHORT {
        let mut reversed = [[0.0; SHORT + 2 * (LANES - 1)]; D];
        let mut above = [0.0; SHORT];
        let reversed = reversed.each_mut().map(|axis| axis.as_mut_slice());
        fill_frechet(rows, columns, reversed, &mut above, limit)
    } else {
        let mut reversed: [Vec<f64>; D] =
            std::array::from_fn(|_| vec![0.0; columns.len() + 2 * (LANES - 1)]);
        let mut above = vec![0.0; columns.len()];
        let reversed = reversed.each_mut().map(Vec::as_mut_slice);
        fill_frechet(rows, columns, reversed, &mut above, limit)
    }
}

/// Fills the table; `reversed` and `above` are memory for it.
fn fill_frechet<const D: usize>(
    rows: &[[f64; D]],
    columns: &[[f64; D]],
    reversed: [&mut [f64]; D],
    above: &mut [f64],
    limit: f64,
) -> Option<f64> {
    const BEYOND: usize = LANES - 1;
    let count = columns.len();
    let above = above.get_mut(..count)?;
    above.fill(f64::INFINITY);
    // The columns backwards, so that rows which are one column apart read neighbors; beyond the
    // ends everything is infinitely far.
    let reversed: [&[f64]; D] = {
        let mut axis = 0;
        reversed.map(|memory| {
            memory.fill(f64::INFINITY);
            let cells = memory.iter_mut().skip(BEYOND);
            for (cell, column) in cells.zip(columns.iter().rev()) {
                *cell = column[axis];
            }
            axis += 1;
            &*memory
        })
    };

    // The value above and to the left of the first cell: the start.
    let mut corner = 0.0;
    let mut strips = rows.chunks(LANES).peekable();
    while let Some(strip) = strips.next() {
        let row = |lane: usize| strip.get(lane).or(strip.last());
        let points: [[f64; LANES]; D] = std::array::from_fn(|axis| {
            std::array::from_fn(|lane| row(lane).map_or(0.0, |point| point[axis]))
        });
        let mut left = [f64::INFINITY; LANES];
        let mut diagonal = [f64::INFINITY; LANES];
        diagonal[0] = std::mem::replace(&mut corner, f64::INFINITY);
        let last_lane = strip.len() - 1;
        let steps = count + last_lane;
        for step in 0..steps {
            let mut squares = [0.0; LANES];
            let first = BEYOND + count - 1 - step.min(BEYOND + count - 1);
            for axis in 0..D {
                let window = reversed[axis].get(first..)?.first_chunk::<LANES>()?;
                for lane in 0..LANES {
                    let difference = points[axis][lane] - window[lane];
                    let square = difference * difference;
                    squares[lane] = if axis == 0 {
                        square
                    } else {
                        squares[lane] + square
                    };
                }
            }
            let mut up = [above.get(step).copied().unwrap_or(f64::INFINITY); LANES];
            up[1..].copy_from_slice(&left[..LANES - 1]);
            for lane in 0..LANES {
                // The row above last: it is the last to be known.
                let least = lesser(up[lane], lesser(diagonal[lane], left[lane]));
                left[lane] = greater(least, squares[lane]);
            }
            diagonal = up;
            if let Some(cell) = step
                .checked_sub(BEYOND)
                .and_then(|step| above.get_mut(step))
            {
                *cell = left[LANES - 1];
            }
        }
        if strips.peek().is_none() {
            return Some(left[last_lane]).filter(|&square| square <= limit);
        }
        if limit < f64::INFINITY && above.iter().all(|&square| square > limit) {
            return None;
        }
    }
    None
}

/// The lesser of two numbers that are not NaN, in one instruction.
#[inline]
pub(crate) fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line<const D: usize>(points: &[[f64; D]]) -> Polyline<D> {
        Polyline::new(points.to_vec()).expect("finite points")
    }

    #[test]
    fn by_hand() {
        let (a, b) = (line(&[[0.0], [1.0]]), line(&[[0.0], [4.0]]));
        // There: 0 and 1 to 0; back: 0 to 0, 4 to 1.
        for (variant, expected) in [
            (Chamfer::OneSided, 0.5),
            (Chamfer::HalfSum, (0.5 + 1.5) / 2.0),
            (Chamfer::Sum, 0.5 + 1.5),
            (Chamfer::Max, 1.5),
            (Chamfer::SquaredSum, 0.5 + 4.5),
        ] {
            assert_eq!(chamfer(&a, &b, variant), expected, "{variant}");
        }
        assert_eq!(directed_hausdorff(&a, &b, Hausdorff::Points), 1.0);
        assert_eq!(directed_hausdorff(&a, &b, Hausdorff::Segments), 0.0);
        assert_eq!(directed_hausdorff(&b, &a, Hausdorff::Points), 3.0);
        assert_eq!(discrete_frechet(&a, &b), 3.0);

        let steps = |count: u8| -> Polyline<1> {
            let points: Vec<_> = (0..=count)
                .map(|step| [20.0 * f64::from(step) / f64::from(count)])
                .collect();
            line(&points)
        };
        assert_eq!(discrete_frechet(&steps(2), &steps(10)), 4.0);
        let even = steps(2).resampled(11).expect("a count that is not 0");
        assert_eq!(discrete_frechet(&even, &steps(10)), 0.0);
    }

    #[test]
    fn one_point_and_length_0() {
        let (point, other) = (line(&[[0.0, 0.0]]), line(&[[3.0, 4.0]; 3]));
        assert_eq!(discrete_frechet(&point, &other), 5.0);
        assert_eq!(undirected_frechet(&point, &other), 5.0);
        assert_eq!(discrete_frechet_below(&point, &other, 5.0), None);
        for &variant in Hausdorff::ALL {
            assert_eq!(hausdorff(&point, &other, variant), 5.0);
            assert_eq!(hausdorff_below(&point, &other, variant, 5.1), Some(5.0));
        }
        assert_eq!(chamfer(&point, &other, Chamfer::SquaredSum), 50.0);
        assert_eq!(chamfer(&point, &point, Chamfer::Sum), 0.0);
    }

    #[test]
    fn thresholds_that_nothing_is_below() {
        let a = line(&[[0.0, 0.0], [1.0, 0.0]]);
        for threshold in [0.0, -0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(discrete_frechet_below(&a, &a, threshold), None);
            assert_eq!(hausdorff_below(&a, &a, Hausdorff::Points, threshold), None);
            assert_eq!(chamfer_below(&a, &a, Chamfer::Sum, threshold), None);
        }
        for threshold in [5e-324, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY] {
            assert_eq!(discrete_frechet_below(&a, &a, threshold), Some(0.0));
        }
    }

    #[test]
    fn a_mean_may_be_rounded_below_the_gap() {
        // A third of 0.7 + 0.7 + 0.7 is less than 0.7 in floats.
        let (a, b) = (line(&[[0.0]; 3]), line(&[[0.7]; 3]));
        for variant in [Chamfer::HalfSum, Chamfer::Max, Chamfer::OneSided] {
            let whole = chamfer(&a, &b, variant);
            assert!(whole < 0.7, "{variant}");
            assert_eq!(chamfer_below(&a, &b, variant, 0.7), Some(whole));
        }
    }

    #[test]
    fn great_coordinates_are_infinitely_far_and_never_nan() {
        let far = |x: f64| line(&[[-x, 0.0], [x, x], [0.5 * x, -x]]);
        for (a, b) in [(1e200, 1e200), (f64::MAX, 1.0), (f64::MAX, -f64::MAX)] {
            let (a, b) = (far(a), far(b));
            let mut distances = vec![discrete_frechet(&a, &b), undirected_frechet(&a, &b)];
            distances.extend(Hausdorff::ALL.iter().map(|&v| hausdorff(&a, &b, v)));
            distances.extend(Chamfer::ALL.iter().map(|&v| chamfer(&a, &b, v)));
            assert!(
                distances.iter().all(|distance| *distance >= 0.0),
                "{distances:?}"
            );
            assert_eq!(discrete_frechet(&a, &a), 0.0);
        }
    }

    #[test]
    fn names_are_read_back() {
        assert!(Chamfer::ALL.iter().all(|&v| v.name().parse() == Ok(v)));
        assert!(Hausdorff::ALL.iter().all(|&v| v.name().parse() == Ok(v)));
        assert!("".parse::<Chamfer>().is_err());
    }

    /// The recurrence as it is written, on squares, with the whole table.
    fn textbook(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
        let mut table = vec![vec![0.0_f64; b.len()]; a.len()];
        for i in 0..a.len() {
            for j in 0..b.len() {
                let before = match (i, j) {
                    (0, 0) => 0.0,
                    (0, _) => table[0][j - 1],
                    (_, 0) => table[i - 1][0],
                    _ => table[i - 1][j]
                        .min(table[i][j - 1])
                        .min(table[i - 1][j - 1]),
                };
                table[i][j] = before.max(squared_distance(&a[i], &b[j]));
            }
        }
        table[a.len() - 1][b.len() - 1].sqrt()
    }

    /// Lines of few places, so that distances tie, and of more points than stay off the heap.
    fn points() -> impl Strategy<Value = Vec<[f64; 3]>> {
        let coordinate = || prop_oneof![(-4_i8..4).prop_map(|x| f64::from(x) / 2.0), -2.0..2.0];
        let point = || [coordinate(), coordinate(), coordinate()];
        prop_oneof![
            4 => proptest::collection::vec(point(), 1..9),
            1 => proptest::collection::vec(point(), 25..45),
        ]
    }

    const SLACK: f64 = 1.0 + 1e-12;

    proptest! {
        #[test]
        fn frechet_is_the_recurrence_and_a_metric(a in points(), b in points(), c in points()) {
            let (p, q, r) = (line(&a), line(&b), line(&c));
            let distance = discrete_frechet(&p, &q);
            prop_assert_eq!(distance, textbook(&a, &b));
            prop_assert_eq!(discrete_frechet(&q, &p), distance);
            prop_assert_eq!(discrete_frechet(&p, &p), 0.0);
            prop_assert_eq!(discrete_frechet(&p.reversed(), &q.reversed()), distance);
            prop_assert!(
                discrete_frechet(&p, &r) <= (distance + discrete_frechet(&q, &r)) * SLACK
            );
            let undirected = undirected_frechet(&p, &q);
            prop_assert_eq!(undirected, distance.min(discrete_frechet(&p, &q.reversed())));
            prop_assert_eq!(undirected_frechet(&p.reversed(), &q), undirected);
            let ends = squared_gap_of_ends(&a, &b).sqrt();
            prop_assert!(ends <= distance && squared_gap_of_boxes(&a, &b).sqrt() <= distance);
        }

        #[test]
        fn each_distance_bounds_the_next(a in points(), b in points()) {
            let (a, b) = (line(&a), line(&b));
            let hausdorff_points = hausdorff(&a, &b, Hausdorff::Points);
            prop_assert!(undirected_frechet(&a, &b) >= hausdorff_points);
            prop_assert!(hausdorff_points * SLACK >= hausdorff(&a, &b, Hausdorff::Segments));
            let greatest = chamfer(&a, &b, Chamfer::Max);
            prop_assert!(hausdorff_points * SLACK >= greatest);
            let half = chamfer(&a, &b, Chamfer::HalfSum);
            prop_assert!(greatest * SLACK >= half);
            prop_assert_eq!(chamfer(&a, &b, Chamfer::Sum), 2.0 * half);
            prop_assert!(chamfer(&a, &b, Chamfer::SquaredSum) <= 2.0 * hausdorff_points.powi(2) * SLACK);
            for &variant in Hausdorff::ALL {
                prop_assert_eq!(hausdorff(&a, &a, variant), 0.0);
                prop_assert_eq!(hausdorff(&a, &b, variant), hausdorff(&b, &a, variant));
            }
            for &variant in Chamfer::ALL {
                prop_assert_eq!(chamfer(&a, &a, variant), 0.0);
                if variant != Chamfer::OneSided {
                    prop_assert_eq!(chamfer(&a, &b, variant), chamfer(&b, &a, variant));
                }
            }
        }

        #[test]
        fn twice_the_coordinates_are_twice_the_distance(a in points(), b in points()) {
            let twice = |points: &[[f64; 3]]| {
                line(&points.iter().map(|point| point.map(|x| 2.0 * x)).collect::<Vec<_>>())
            };
            let (c, d) = (twice(&a), twice(&b));
            let (a, b) = (line(&a), line(&b));
            prop_assert_eq!(discrete_frechet(&c, &d), 2.0 * discrete_frechet(&a, &b));
            for &variant in Hausdorff::ALL {
                prop_assert_eq!(hausdorff(&c, &d, variant), 2.0 * hausdorff(&a, &b, variant));
            }
            for &variant in Chamfer::ALL {
                let factor = if variant == Chamfer::SquaredSum { 4.0 } else { 2.0 };
                prop_assert_eq!(chamfer(&c, &d, variant), factor * chamfer(&a, &b, variant));
            }
        }

        #[test]
        fn points_of_segments_stay_between_the_ends(
            a in -2.0..2.0_f64, step in prop_oneof![-2.0..2.0_f64, -1e-15..1e-15_f64],
            share in prop_oneof![0.0..1.0_f64, Just(1.0_f64.next_down())],
        ) {
            let b = a + step;
            let [point] = between(&[a], &[b], share);
            prop_assert!(a.min(b) <= point && point <= a.max(b));
        }

        #[test]
        fn thresholds_change_nothing(a in points(), b in points(), threshold in 0.0..6.0_f64) {
            let (a, b) = (line(&a), line(&b));
            let whole = discrete_frechet(&a, &b);
            let check = |below: &dyn Fn(f64) -> Option<f64>, whole: f64| {
                [threshold, whole, whole.next_up(), whole.next_down(), f64::INFINITY]
                    .into_iter()
                    .find(|&threshold| below(threshold) != Some(whole).filter(|&w| w < threshold))
            };
            prop_assert_eq!(check(&|t| discrete_frechet_below(&a, &b, t), whole), None);
            for &variant in Hausdorff::ALL {
                let whole = hausdorff(&a, &b, variant);
                prop_assert_eq!(check(&|t| hausdorff_below(&a, &b, variant, t), whole), None);
            }
            for &variant in Chamfer::ALL {
                let whole = chamfer(&a, &b, variant);
                prop_assert_eq!(check(&|t| chamfer_below(&a, &b, variant, t), whole), None);
            }
        }
    }
}
