use std::fmt;

/// A line through at least one point, in `D` dimensions; every coordinate is finite.
///
/// One point is a line, and so are several equal points: both have length 0.
///
/// ```
/// use metric_graph::{InvalidPolyline, Polyline};
///
/// let line = Polyline::new(vec![[0.0, 0.0], [3.0, 4.0]])?;
/// assert_eq!(line.length(), 5.0);
///
/// assert_eq!(Polyline::<3>::new(vec![]), Err(InvalidPolyline::Empty));
/// let mixed = Polyline::<3>::from_rows(&[vec![0.0, 0.0, 0.0], vec![1.0, 2.0]]);
/// assert_eq!(mixed.unwrap_err().to_string(), "point 1: expected 3 coordinates, found 2");
/// # Ok::<(), InvalidPolyline>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Polyline<const D: usize> {
    points: Vec<[f64; D]>,
}

/// The error for points that do not form a [`Polyline`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidPolyline {
    /// There is no point.
    Empty,
    /// A point of another dimension.
    Dimension {
        /// Its position in the line, from 0.
        point: usize,
        /// The dimension of the line.
        expected: usize,
        /// The number of its coordinates.
        found: usize,
    },
    /// A coordinate that is NaN or infinite.
    NotFinite {
        /// The position of its point in the line, from 0.
        point: usize,
        /// The coordinate.
        value: f64,
    },
}

impl fmt::Display for InvalidPolyline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a line without points"),
            Self::Dimension {
                point,
                expected,
                found,
            } => write!(
                f,
                "point {point}: expected {expected} coordinates, found {found}"
            ),
            Self::NotFinite { point, value } => {
                write!(
                    f,
                    "point {point}: expected finite coordinates, found {value}"
                )
            }
        }
    }
}

impl std::error::Error for InvalidPolyline {}

impl<const D: usize> Polyline<D> {
    /// Returns the line through `points`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no point, or a coordinate is not finite.
    pub fn new(points: Vec<[f64; D]>) -> Result<Self, InvalidPolyline> {
        if points.is_empty() {
            return Err(InvalidPolyline::Empty);
        }
        for (point, coordinates) in points.iter().enumerate() {
            if let Some(&value) = coordinates.iter().find(|value| !value.is_finite()) {
                return Err(InvalidPolyline::NotFinite { point, value });
            }
        }
        Ok(Self { points })
    }

    /// Returns the line through points whose dimension is not known to the compiler.
    ///
    /// # Errors
    ///
    /// Returns an error as [`new`](Self::new) does, and if a point does not have `D` coordinates.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, InvalidPolyline> {
        let points = rows.iter().enumerate().map(|(point, row)| {
            let row = row.as_ref();
            row.try_into().map_err(|_| InvalidPolyline::Dimension {
                point,
                expected: D,
                found: row.len(),
            })
        });
        Self::new(points.collect::<Result<_, _>>()?)
    }

    /// Returns the points, at least one.
    #[must_use]
    pub fn points(&self) -> &[[f64; D]] {
        &self.points
    }

    /// Returns the sum of the distances from each point to the next.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.points
            .windows(2)
            .map(|ends| distance(&ends[0], &ends[1]))
            .sum()
    }

    /// Returns whether the last of several points is the first one again.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.points.len() > 1 && self.points.first() == self.points.last()
    }

    /// Returns the same points from the last to the first.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let points = self.points.iter().rev().copied().collect();
        Self { points }
    }

    /// Returns `count` points at equal distances along the line, from its first point to its last.
    ///
    /// A line of length 0 gives its first point `count` times, and a count of 1 gives the first
    /// point alone.
    ///
    /// ```
    /// use metric_graph::Polyline;
    ///
    /// let corner = Polyline::new(vec![[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]])?;
    /// let even = corner.resampled(5)?;
    /// assert_eq!(even.points(), [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [3.0, 1.0]]);
    /// # Ok::<(), metric_graph::InvalidPolyline>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the count is 0, or the length of the line overflows.
    pub fn resampled(&self, count: usize) -> Result<Self, InvalidPolyline> {
        let mut reached = 0.0;
        let ends = self.points.windows(2).map(|ends| {
            reached += distance(&ends[0], &ends[1]);
            reached
        });
        // The length of the line up to each point except the first.
        let ways: Vec<f64> = ends.collect();
        let length = reached;
        let mut segment = 0;
        let points = (0..count).map(|index| {
            if index == 0 {
                return self.points[0];
            }
            if index + 1 == count {
                return self.points[self.points.len() - 1];
            }
            let way = length * (index as f64 / (count - 1) as f64);
            while segment + 1 < ways.len() && ways[segment] < way {
                segment += 1;
            }
            let Some(ends) = self.points.get(segment..segment + 2) else {
                return self.points[0];
            };
            let start = if segment == 0 { 0.0 } else { ways[segment - 1] };
            let span = ways[segment] - start;
            if span > 0.0 {
                between(&ends[0], &ends[1], (way - start) / span)
            } else {
                ends[0]
            }
        });
        Self::new(points.collect())
    }

    /// Returns the line with every segment cut into `parts` of equal length; 0 and 1 leave it as it
    /// is.
    ///
    /// A densify fraction `f` in GEOS is `1 / f` parts here, rounded up.
    #[must_use]
    pub fn densified(&self, parts: usize) -> Self {
        let first = self.points.iter().take(1).copied();
        let rest = self.points.windows(2).flat_map(|ends| {
            let inner = (1..parts)
                .map(|part| between(&ends[0], &ends[1], part as f64 / parts.max(1) as f64));
            inner.chain([ends[1]])
        });
        let points = first.chain(rest).collect();
        Self { points }
    }
}

impl Polyline<2> {
    /// Returns the line as a type of `geo`.
    ///
    /// ```
    /// use metric_graph::Polyline;
    ///
    /// let line = Polyline::new(vec![[0.0, 0.0], [3.0, 4.0]])?;
    /// assert_eq!(Polyline::try_from(&line.to_geo())?, line);
    /// # Ok::<(), metric_graph::InvalidPolyline>(())
    /// ```
    #[must_use]
    pub fn to_geo(&self) -> geo_types::LineString<f64> {
        self.points.iter().copied().collect()
    }
}

impl TryFrom<&geo_types::LineString<f64>> for Polyline<2> {
    type Error = InvalidPolyline;

    fn try_from(line: &geo_types::LineString<f64>) -> Result<Self, InvalidPolyline> {
        Self::new(line.coords().map(|point| [point.x, point.y]).collect())
    }
}

/// The Euclidean distance of two points, squared.
#[inline]
pub(crate) fn squared_distance<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    let mut sum = 0.0;
    for axis in 0..D {
        let difference = a[axis] - b[axis];
        sum += difference * difference;
    }
    sum
}

fn distance<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    squared_distance(a, b).sqrt()
}

/// The point at `share` of the way from `a` to `b`.
pub(crate) fn between<const D: usize>(a: &[f64; D], b: &[f64; D], share: f64) -> [f64; D] {
    std::array::from_fn(|axis| {
        let whole = b[axis] - a[axis];
        if whole.is_finite() {
            a[axis] + share * whole
        } else {
            (1.0 - share) * a[axis] + share * b[axis]
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn points_that_are_no_line() {
        let nan = Polyline::new(vec![[0.0, 0.0], [f64::NAN, 0.0]]);
        assert!(matches!(
            nan,
            Err(InvalidPolyline::NotFinite { point: 1, value }) if value.is_nan()
        ));
        assert_eq!(
            Polyline::new(vec![[f64::INFINITY]]).map_err(|error| error.to_string()),
            Err("point 0: expected finite coordinates, found inf".to_owned())
        );
        let rows: [&[f64]; 2] = [&[0.0, 1.0], &[]];
        assert_eq!(
            Polyline::<2>::from_rows(&rows),
            Err(InvalidPolyline::Dimension {
                point: 1,
                expected: 2,
                found: 0
            })
        );
        let none: [&[f64]; 0] = [];
        assert_eq!(Polyline::<2>::from_rows(&none), Err(InvalidPolyline::Empty));
        let empty = geo_types::LineString::<f64>::new(vec![]);
        assert_eq!(Polyline::try_from(&empty), Err(InvalidPolyline::Empty));
    }

    #[test]
    fn lines_of_length_0() -> Result<(), InvalidPolyline> {
        for points in [vec![[1.0, 2.0]], vec![[1.0, 2.0]; 3]] {
            let line = Polyline::new(points)?;
            assert_eq!(line.length(), 0.0);
            assert_eq!(line.is_closed(), line.points().len() > 1);
            assert_eq!(line.resampled(0), Err(InvalidPolyline::Empty));
            assert_eq!(line.resampled(1)?.points(), [[1.0, 2.0]]);
            assert_eq!(line.resampled(4)?.points(), [[1.0, 2.0]; 4]);
            assert!(line.densified(3).points().iter().all(|&p| p == [1.0, 2.0]));
        }
        Ok(())
    }

    #[test]
    fn repeated_points_take_no_way() -> Result<(), InvalidPolyline> {
        let line = Polyline::new(vec![[0.0], [0.0], [2.0], [2.0], [4.0], [4.0]])?;
        let even = line.resampled(5)?;
        assert_eq!(even.points(), [[0.0], [1.0], [2.0], [3.0], [4.0]]);
        assert_eq!(line.resampled(2)?.points(), [[0.0], [4.0]]);
        Ok(())
    }

    #[test]
    fn no_coordinate_becomes_infinite() -> Result<(), InvalidPolyline> {
        let line = Polyline::new(vec![[-f64::MAX], [f64::MAX]])?;
        assert_eq!(line.densified(2).points(), [[-f64::MAX], [0.0], [f64::MAX]]);
        assert!(line.resampled(3).is_err());
        Ok(())
    }

    proptest! {
        #[test]
        fn resampled_lines_keep_their_ends_and_lie_on_the_line(
            points in proptest::collection::vec([-9.0..9.0, -9.0..9.0_f64], 1..8), count in 2_usize..30,
        ) {
            let line = Polyline::new(points).map_err(|e| TestCaseError::fail(e.to_string()))?;
            let even = line.resampled(count).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(even.points().len(), count);
            prop_assert_eq!(even.points().first(), line.points().first());
            prop_assert_eq!(even.points().last(), line.points().last());
            // A chord is no longer than its part of the line.
            let part = line.length() / (count - 1) as f64;
            for ends in even.points().windows(2) {
                prop_assert!(distance(&ends[0], &ends[1]) <= part * (1.0 + 1e-12) + 1e-12);
            }
            prop_assert_eq!(&line.resampled(count).ok(), &Some(even));
            prop_assert!((line.densified(4).length() - line.length()).abs() < 1e-12 * (1.0 + line.length()));
            prop_assert_eq!(&line.reversed().reversed(), &line);
            prop_assert_eq!(Polyline::try_from(&line.to_geo()), Ok(line));
        }
    }
}
