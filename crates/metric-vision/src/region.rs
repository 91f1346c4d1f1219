//! Areas of regions that straight edges bound, and of what two such regions share.
//!
//! A region is the signed sum of what lies under its edges: edges that bound it from above count,
//! edges that bound it from below are taken off. Two regions share the signed sum, over pairs of
//! edges, of what lies under both. Under two edges is under the lower of them, and that area is a
//! trapezoid or two. So no polygon of the intersection is built, and there is no tolerance.

/// A straight piece of a region's boundary, from left to right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) left: f64,
    pub(crate) right: f64,
    /// A point of its line.
    x: f64,
    y: f64,
    slope: f64,
    /// 1 where the region lies below, -1 where it lies above.
    pub(crate) sign: f64,
}

impl Edge {
    /// The edge between two points of a ring that runs counter-clockwise (x right, y up).
    ///
    /// A vertical edge has nothing under it: it is left with no width.
    pub(crate) fn new(from: [f64; 2], to: [f64; 2]) -> Self {
        let (sign, [left, y], [right, top]) = if from[0] < to[0] {
            (-1.0, from, to)
        } else {
            (1.0, to, from)
        };
        let slope = (top - y) / (right - left);
        let (right, slope) = if slope.is_finite() {
            (right, slope)
        } else {
            (left, 0.0)
        };
        Self {
            left,
            right,
            x: left,
            y,
            slope,
            sign,
        }
    }

    pub(crate) fn is_vertical(&self) -> bool {
        self.left == self.right
    }

    /// A part of it, on a side of the region that may be another.
    pub(crate) fn part(&self, left: f64, right: f64, sign: f64) -> Self {
        Self {
            left,
            right,
            sign,
            ..*self
        }
    }

    /// Its height above `base` at `x`.
    pub(crate) fn at(&self, x: f64, base: f64) -> f64 {
        (self.y - base) + (x - self.x) * self.slope
    }

    /// The area between it and `base`, with its sign.
    pub(crate) fn area(&self, base: f64) -> f64 {
        let heights = self.at(self.left, base) + self.at(self.right, base);
        self.sign * 0.5 * (self.right - self.left) * heights
    }

    /// The distance above another edge at the left and the right end of the range that they share,
    /// and that range; `None` if they share none.
    pub(crate) fn above(&self, other: &Self) -> Option<([f64; 2], [f64; 2])> {
        let range = [self.left.max(other.left), self.right.min(other.right)];
        (range[0] < range[1]).then(|| {
            (
                range.map(|x| self.at(x, other.y) - other.at(x, other.y)),
                range,
            )
        })
    }

    /// The area between `base` and the lower of two edges, with their signs.
    #[inline]
    pub(crate) fn shared(&self, other: &Self, base: f64) -> f64 {
        let (left, right) = (self.left.max(other.left), self.right.min(other.right));
        if right <= left {
            return 0.0;
        }
        let mine = [self.at(left, base), self.at(right, base)];
        let others = [other.at(left, base), other.at(right, base)];
        let [first, last] = [mine[0] - others[0], mine[1] - others[1]];
        // Where they cross, the lower of them rises over the line between its two ends.
        let crossing = if (first < 0.0) == (last < 0.0) {
            0.0
        } else {
            (first * (last / (first - last))).abs()
        };
        let heights = mine[0].min(others[0]) + mine[1].min(others[1]) + crossing;
        self.sign * other.sign * 0.5 * (right - left) * heights
    }
}

/// A sum with its rounding errors carried along (A. Neumaier, 1974).
#[derive(Default)]
pub(crate) struct Total {
    sum: f64,
    error: f64,
}

impl Total {
    #[inline]
    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.error += if self.sum.abs() >= term.abs() {
            (self.sum - sum) + term
        } else {
            (term - sum) + self.sum
        };
        self.sum = sum;
    }

    pub(crate) fn value(&self) -> f64 {
        self.sum + self.error
    }
}

/// The area that two regions share. Their edges come in the order of their left ends.
///
/// Costs the pairs of edges that lie over one another.
pub(crate) fn overlap(a: &[Edge], b: &[Edge], base: f64) -> f64 {
    /// Pairs an edge with those of the other region that reach over its left end.
    fn meet(edge: &Edge, open: &mut Vec<Edge>, base: f64, total: &mut Total) {
        open.retain(|other| {
            let reaches = other.right > edge.left;
            if reaches {
                total.add(edge.shared(other, base));
            }
            reaches
        });
    }

    let mut total = Total::default();
    let (mut open_a, mut open_b) = (Vec::new(), Vec::new());
    let (mut rest_a, mut rest_b) = (a, b);
    loop {
        match (rest_a, rest_b) {
            ([edge, rest @ ..], [first, ..]) if edge.left <= first.left => {
                meet(edge, &mut open_b, base, &mut total);
                open_a.push(*edge);
                rest_a = rest;
            }
            (_, [edge, rest @ ..]) => {
                meet(edge, &mut open_a, base, &mut total);
                open_b.push(*edge);
                rest_b = rest;
            }
            ([edge, rest @ ..], []) => {
                meet(edge, &mut open_b, base, &mut total);
                rest_a = rest;
            }
            ([], []) => return total.value(),
        }
    }
}

/// The common part of two areas as a share of a whole: in \[0, 1\], and 0 where that is undefined or out of the range
/// of a double.
pub(crate) fn share(overlap: f64, whole: f64) -> f64 {
    let share = overlap / whole;
    if whole.is_finite() && share > 0.0 {
        share.min(1.0)
    } else {
        0.0
    }
}

/// Whether two bounds have a common inside.
pub(crate) fn bounds_meet(a: [f64; 4], b: [f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// Left, top, right and bottom of the axis-aligned box around some points.
pub(crate) fn bounds(points: &[[f64; 2]]) -> [f64; 4] {
    let empty = [f64::INFINITY, f64::INFINITY, -f64::INFINITY, -f64::INFINITY];
    points.iter().fold(empty, |[l, t, r, b], &[x, y]| {
        [l.min(x), t.min(y), r.max(x), b.max(y)]
    })
}
