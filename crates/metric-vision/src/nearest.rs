//! The truth that a shape overlaps most, found without a look at all that it overlaps.

use crate::tree::{Bounds, NOTHING, around, meet};
use crate::{Shape, Truth};

/// The formula of an IoU, as far as its greatest value in a group of shapes depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arithmetic {
    /// [`Shape::iou`].
    Shape,
    /// For boxes from corner to corner, whose sides are longer by this.
    Corners(f64),
}

impl Arithmetic {
    /// The gap that shapes may have and still overlap, and more for rounding.
    pub(crate) fn margin(self) -> f64 {
        match self {
            Self::Shape => 0.0,
            Self::Corners(longer) => 2.0 * longer,
        }
    }

    fn area<S: Shape>(self, shape: &S) -> f64 {
        match self {
            Self::Shape => shape.area(),
            Self::Corners(longer) => {
                let [left, top, right, bottom] = shape.bounds();
                (right - left + longer) * (bottom - top + longer)
            }
        }
    }

    /// At least the IoU of a box with any box of a group; infinite where rounding could matter.
    ///
    /// An edge that is moved towards that of the other box never makes the IoU less: outside of the other box it
    /// takes away from the union alone, and inside it adds as much to the overlap as to the box. So the
    /// greatest IoU is that of the box whose edges are the nearest ones that a box of the group can have.
    fn iou_at_most(self, own: Bounds, group: &Group) -> f64 {
        /// Coordinates may be this many times the sides: then areas and overlaps have relative errors below this number
        /// times some 2^-52.
        const FAR: f64 = 1e5;
        const ROUNDING: f64 = 1.0 + 1e-9;
        let longer = match self {
            Self::Shape => 0.0,
            Self::Corners(longer) => longer,
        };
        let ([left, top, right, bottom], within) = (group.bounds, group.within);
        let sides = [
            within[2] - within[0],
            within[3] - within[1],
            own[2] - own[0],
            own[3] - own[1],
        ];
        let least = sides.into_iter().fold(f64::INFINITY, f64::min);
        let corners = [left, top, right, bottom].into_iter().chain(own);
        let most = corners.fold(0.0, |most: f64, corner| most.max(corner.abs()));
        // Not NaN either.
        if !(least > 0.0 && most < FAR * least) {
            return f64::INFINITY;
        }
        let nearest = [
            own[0].clamp(left, within[0]),
            own[1].clamp(top, within[1]),
            own[2].clamp(within[2], right),
            own[3].clamp(within[3], bottom),
        ];
        let area =
            |bounds: Bounds| (bounds[2] - bounds[0] + longer) * (bounds[3] - bounds[1] + longer);
        let common = [
            own[0].max(nearest[0]),
            own[1].max(nearest[1]),
            own[2].min(nearest[2]),
            own[3].min(nearest[3]),
        ];
        if common[2] - common[0] + longer <= 0.0 || common[3] - common[1] + longer <= 0.0 {
            return f64::INFINITY;
        }
        let overlap = area(common);
        overlap / (area(own) + area(nearest) - overlap) * ROUNDING
    }

    /// At least the area in common with any shape within the bounds.
    fn overlap_at_most<S: Shape>(self, shape: &S, own: Bounds, bounds: Bounds) -> f64 {
        match self {
            Self::Shape if meet(own, bounds) => shape.overlap_at_most(bounds),
            Self::Shape => 0.0,
            Self::Corners(longer) => {
                let width = own[2].min(bounds[2]) - own[0].max(bounds[0]) + longer;
                let height = own[3].min(bounds[3]) - own[1].max(bounds[1]) + longer;
                if width > 0.0 && height > 0.0 {
                    width * height
                } else {
                    0.0
                }
            }
        }
    }
}

/// Which of equal overlaps is requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Prefer {
    First,
    Last,
}

impl Prefer {
    /// Greater for what is preferred.
    fn rank(self, position: usize) -> usize {
        match self {
            Self::First => usize::MAX - position,
            Self::Last => position,
        }
    }
}

/// The overlap of a shape and a truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Measure {
    /// IoU by this formula.
    Iou(Arithmetic),
    /// The share of the shape, as of a crowd.
    Share,
}

/// Some of the truths, halved again and again along the edge of their bounds that differs most.
///
/// A group is left out of a search where no shape within its bounds, of at least its least area, could
/// overlap more than what was found. The greatest overlap of a group is computed as that of a shape is,
/// step by step, and rounding never turns the order of two numbers around: what is left out is not
/// better by a single bit. In groups of equal shapes it is the overlap itself.
pub(crate) struct Search<'a, S> {
    truths: &'a [Truth<S>],
    measure: Measure,
    prefer: Prefer,
    items: Vec<Item>,
    /// Each before those it falls into.
    nodes: Vec<Node>,
    /// Where each truth is among the items.
    index_of: Vec<usize>,
}

#[derive(Clone)]
struct Item {
    group: Group,
    position: usize,
}

#[derive(Clone)]
struct Node {
    group: Group,
    start: usize,
    end: usize,
    /// The node after all those that this one falls into.
    next: usize,
}

/// The facts known about some truths.
#[derive(Clone, Copy)]
struct Group {
    bounds: Bounds,
    /// The intersection of all of them: the greatest left and top, the least right and bottom.
    within: Bounds,
    least_area: f64,
    /// The overlap with the preferred truth; `None` if none is left.
    rank: Option<usize>,
}

impl Group {
    const EMPTY: Self = Self {
        bounds: NOTHING,
        within: [
            f64::NEG_INFINITY,
            f64::NEG_INFINITY,
            f64::INFINITY,
            f64::INFINITY,
        ],
        least_area: f64::INFINITY,
        rank: None,
    };

    fn with(self, other: Self) -> Self {
        Self {
            bounds: around(self.bounds, other.bounds),
            within: [
                self.within[0].max(other.within[0]),
                self.within[1].max(other.within[1]),
                self.within[2].min(other.within[2]),
                self.within[3].min(other.within[3]),
            ],
            least_area: self.least_area.min(other.least_area),
            rank: self.rank.max(other.rank),
        }
    }
}

/// The shape that is searched for.
struct Query<'s, S> {
    shape: &'s S,
    bounds: Bounds,
    area: f64,
}

/// The overlap and the rank of the best that was found.
type Best = (f64, Option<usize>);

impl<S> Clone for Search<'_, S> {
    fn clone(&self) -> Self {
        Self {
            truths: self.truths,
            measure: self.measure,
            prefer: self.prefer,
            items: self.items.clone(),
            nodes: self.nodes.clone(),
            index_of: self.index_of.clone(),
        }
    }
}

impl<'a, S: Shape> Search<'a, S> {
    /// So many items are looked at one by one.
    const LEAF: usize = 8;

    /// The truths that are `wanted`.
    pub(crate) fn new(
        truths: &'a [Truth<S>],
        measure: Measure,
        prefer: Prefer,
        wanted: impl Fn(usize, &Truth<S>) -> bool,
    ) -> Self {
        let area = |shape: &S| match measure {
            Measure::Iou(arithmetic) => arithmetic.area(shape),
            Measure::Share => 0.0,
        };
        let wanted = truths.iter().enumerate().filter(|&(p, t)| wanted(p, t));
        let items = wanted.map(|(position, truth)| Item {
            position,
            group: Group {
                bounds: truth.shape.bounds(),
                within: truth.shape.bounds(),
                least_area: area(&truth.shape),
                rank: Some(prefer.rank(position)),
            },
        });
        let mut items: Vec<Item> = items.collect();
        let mut nodes = Vec::new();
        if !items.is_empty() {
            split(&mut items, 0, Self::LEAF, &mut nodes);
        }
        let mut index_of = vec![usize::MAX; truths.len()];
        for (index, item) in items.iter().enumerate() {
            index_of[item.position] = index;
        }
        Self {
            truths,
            measure,
            prefer,
            items,
            nodes,
            index_of,
        }
    }

    /// The truth that overlaps `shape` most, by `overlap`, of equal ones the preferred one, and how much:
    /// more than 0, and at least `least`.
    pub(crate) fn best(
        &self,
        shape: &S,
        least: f64,
        overlap: impl Fn(&S, &S) -> f64,
    ) -> Option<(usize, f64)> {
        let query = self.query(shape);
        let root = self.nodes.first()?;
        let mut best = (least, None);
        let at_most = self.at_most(&query, &root.group);
        self.visit(0, at_most, &query, &overlap, &mut best);
        let (overlap, rank) = best;
        // The rank of a rank is the place again.
        let position = |rank| match self.prefer {
            Prefer::First => usize::MAX - rank,
            Prefer::Last => rank,
        };
        rank.map(|rank| (position(rank), overlap))
    }

    fn query<'s>(&self, shape: &'s S) -> Query<'s, S> {
        Query {
            shape,
            bounds: shape.bounds(),
            area: match self.measure {
                Measure::Iou(arithmetic) => arithmetic.area(shape),
                Measure::Share => shape.area(),
            },
        }
    }

    /// The position of a truth that is `wanted`, of those whose bounds `shape` meets. None that overlaps less than
    /// `least` may be wanted.
    pub(crate) fn any(
        &self,
        shape: &S,
        least: f64,
        wanted: impl Fn(&Truth<S>) -> bool,
    ) -> Option<usize> {
        let query = self.query(shape);
        let at_most = self.at_most(&query, &self.nodes.first()?.group);
        self.find(0, at_most, &query, least, &wanted)
    }

    fn find(
        &self,
        at: usize,
        at_most: f64,
        query: &Query<'_, S>,
        least: f64,
        wanted: &impl Fn(&Truth<S>) -> bool,
    ) -> Option<usize> {
        let node = &self.nodes[at];
        if at_most < least || !meet(node.group.bounds, query.bounds) {
            return None;
        }
        let first = at + 1;
        if first == node.next {
            let items = self.items[node.start..node.end].iter();
            let mut items = items.filter(|item| meet(item.group.bounds, query.bounds));
            let found = items.find(|item| wanted(&self.truths[item.position]));
            return found.map(|item| item.position);
        }
        let second = self.nodes[first].next;
        let half = |at: usize| (self.at_most(query, &self.nodes[at].group), at);
        let mut halves = [half(first), half(second)];
        if halves[1].0 > halves[0].0 {
            halves.swap(0, 1);
        }
        halves
            .into_iter()
            .find_map(|(at_most, at)| self.find(at, at_most, query, least, wanted))
    }

    /// Puts back what was taken out of this copy of `whole`.
    pub(crate) fn restore(&mut self, whole: &Self) {
        self.items.clone_from(&whole.items);
        self.nodes.clone_from(&whole.nodes);
    }

    /// Takes a truth out.
    pub(crate) fn remove(&mut self, position: usize) {
        if let Some(&index) = self.index_of.get(position)
            && let Some(item) = self.items.get_mut(index)
        {
            item.group = Group::EMPTY;
            self.gather(0, index);
        }
    }

    /// Looks again at the nodes that an item falls into.
    fn gather(&mut self, at: usize, index: usize) {
        let Node {
            start, end, next, ..
        } = self.nodes[at];
        let first = at + 1;
        self.nodes[at].group = if first == next {
            let items = self.items[start..end].iter();
            items.fold(Group::EMPTY, |all, item| all.with(item.group))
        } else {
            let second = self.nodes[first].next;
            let is_first = index < self.nodes[first].end;
            self.gather(if is_first { first } else { second }, index);
            self.nodes[first].group.with(self.nodes[second].group)
        };
    }

    fn visit(
        &self,
        at: usize,
        at_most: f64,
        query: &Query<'_, S>,
        overlap: &impl Fn(&S, &S) -> f64,
        best: &mut Best,
    ) {
        let node = &self.nodes[at];
        if !is_better(at_most, node.group.rank, *best) {
            return;
        }
        let first = at + 1;
        if first == node.next {
            for item in &self.items[node.start..node.end] {
                if item.group.rank.is_none() {
                    continue;
                }
                let overlap = overlap(query.shape, &self.truths[item.position].shape);
                if is_better(overlap, item.group.rank, *best) {
                    *best = (overlap, item.group.rank);
                }
            }
            return;
        }
        let second = self.nodes[first].next;
        let mut halves = [first, second].map(|half| {
            let group = &self.nodes[half].group;
            (self.at_most(query, group), group.rank, half)
        });
        let [(first_most, first_rank, _), (second_most, second_rank, _)] = halves;
        if second_most > first_most || (second_most == first_most && second_rank > first_rank) {
            halves.swap(0, 1);
        }
        for (at_most, _, half) in halves {
            self.visit(half, at_most, query, overlap, best);
        }
    }

    /// At least the overlap with any truth of a group.
    fn at_most(&self, query: &Query<'_, S>, group: &Group) -> f64 {
        let Query {
            shape,
            bounds,
            area,
        } = query;
        let (overlap, whole) = match self.measure {
            Measure::Iou(arithmetic) => {
                let overlap = arithmetic.overlap_at_most(*shape, *bounds, group.bounds);
                (overlap, area + group.least_area - overlap)
            }
            Measure::Share => {
                let overlap = Arithmetic::Shape.overlap_at_most(*shape, *bounds, group.bounds);
                (overlap, *area)
            }
        };
        if overlap == 0.0 {
            0.0
        } else if whole > 0.0 && whole.is_finite() {
            let at_most = overlap / whole;
            match self.measure {
                Measure::Iou(arithmetic) if S::IS_BOX => {
                    at_most.min(arithmetic.iou_at_most(*bounds, group))
                }
                _ => at_most,
            }
        } else {
            f64::INFINITY
        }
    }
}

/// Whether an overlap is more than the best, or as much and of higher rank.
fn is_better(overlap: f64, rank: Option<usize>, (greatest, found): Best) -> bool {
    rank.is_some() && overlap > 0.0 && (overlap > greatest || (overlap == greatest && rank > found))
}

/// Adds the nodes of these items, the first of which is at `start`, and gives what is known of them.
fn split(items: &mut [Item], start: usize, leaf: usize, nodes: &mut Vec<Node>) -> Group {
    let at = nodes.len();
    nodes.push(Node {
        group: Group::EMPTY,
        start,
        end: start + items.len(),
        next: 0,
    });
    let group = if items.len() <= leaf {
        let groups = items.iter().map(|item| item.group);
        groups.fold(Group::EMPTY, Group::with)
    } else {
        let half = items.len() / 2;
        let edge = most_spread(items);
        items.select_nth_unstable_by(half, |a, b| {
            let order = a.group.bounds[edge].total_cmp(&b.group.bounds[edge]);
            order.then(a.position.cmp(&b.position))
        });
        let (first, second) = items.split_at_mut(half);
        let first = split(first, start, leaf, nodes);
        first.with(split(second, start + half, leaf, nodes))
    };
    nodes[at].group = group;
    nodes[at].next = nodes.len();
    group
}

/// The edge (left, top, right or bottom) that differs most.
fn most_spread(items: &[Item]) -> usize {
    let spread = |edge: usize| {
        let edges = items.iter().map(|item| item.group.bounds[edge]);
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, greatest) = edges.fold(ends, |(least, greatest), edge| {
            (edge.min(least), edge.max(greatest))
        });
        greatest - least
    };
    let spreads = [0, 1, 2, 3].map(spread);
    let greatest = (0..4).max_by(|&a, &b| spreads[a].total_cmp(&spreads[b]));
    greatest.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{BBox, Polygon, iou, iou_by_corners, iou_crowd, iou_plus_one};

    fn boxes() -> impl Strategy<Value = Vec<BBox>> {
        // Tenths are rounded, and many are equal.
        let item = [0_u8..9, 0_u8..9, 0_u8..6, 0_u8..6].prop_map(|numbers| {
            let [x, y, w, h] = numbers.map(|number| f64::from(number) / 10.0);
            BBox::from_xywh(x, y, w, h).expect("a box")
        });
        proptest::collection::vec(item, 1..60)
    }

    /// The best by a look at all.
    fn plain<S: Shape>(
        shape: &S,
        truths: &[Truth<S>],
        left: &[bool],
        (least, prefer): (f64, Prefer),
        overlap: impl Fn(&S, &S) -> f64,
    ) -> Option<(usize, f64)> {
        let mut best = (least, None);
        let mut position = None;
        for (at, truth) in truths.iter().enumerate().filter(|(at, _)| left[*at]) {
            let (overlap, rank) = (overlap(shape, &truth.shape), Some(prefer.rank(at)));
            if is_better(overlap, rank, best) {
                (best, position) = ((overlap, rank), Some(at));
            }
        }
        position.map(|position| (position, best.0))
    }

    /// Takes one truth after the other as its shapes come.
    fn check<S: Shape>(
        shapes: &[S],
        truths: &[Truth<S>],
        measure: Measure,
        (least, prefer): (f64, Prefer),
        overlap: impl Fn(&S, &S) -> f64 + Copy,
    ) {
        let mut left: Vec<bool> = (0..truths.len())
            .map(|position| position % 7 != 6)
            .collect();
        let mut search = Search::new(truths, measure, prefer, |position, _| position % 7 != 6);
        for (turn, shape) in shapes.iter().enumerate() {
            let found = search.best(shape, least, overlap);
            assert_eq!(
                found,
                plain(shape, truths, &left, (least, prefer), overlap),
                "{measure:?}"
            );
            if let Some((position, _)) = found
                && turn % 3 > 0
            {
                left[position] = false;
                search.remove(position);
            }
        }
    }

    /// Many boxes that are nearly one, so that groups are small and their greatest IoUs differ little.
    #[test]
    fn among_many_boxes_that_are_alike() {
        let mut random = 1_u64;
        let mut next = |by: f64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 11) as f64 / (1_u64 << 53) as f64 * by
        };
        for by in [1e-9, 1.0, 30.0] {
            let mut boxes = |count: usize| -> Vec<BBox> {
                let one = |_| {
                    let [x, y, w, h] = [100.0, 100.0, 50.0, 50.0].map(|at| at + next(by));
                    BBox::from_xywh(x, y, w, h).expect("a box")
                };
                (0..count).map(one).collect()
            };
            let shapes = boxes(100);
            let truths: Vec<Truth> = boxes(600).into_iter().map(Truth::from).collect();
            for prefer in [Prefer::First, Prefer::Last] {
                let rule = (0.3, prefer);
                check(&shapes, &truths, Measure::Iou(Arithmetic::Shape), rule, iou);
                check(
                    &shapes,
                    &truths,
                    Measure::Iou(Arithmetic::Corners(0.0)),
                    rule,
                    iou_by_corners,
                );
                check(
                    &shapes,
                    &truths,
                    Measure::Iou(Arithmetic::Corners(1.0)),
                    rule,
                    iou_plus_one,
                );
            }
        }
    }

    proptest! {
        #[test]
        fn takes_each_that_is_wanted_once(shapes in boxes(), truths in boxes(), least in 0_u8..8) {
            let truths: Vec<Truth> = truths.into_iter().map(Truth::from).collect();
            let least = f64::from(least) / 10.0;
            type Rule = (Arithmetic, fn(&BBox, &BBox) -> f64);
            let rules: [Rule; 2] =
                [(Arithmetic::Shape, iou), (Arithmetic::Corners(0.0), iou_by_corners)];
            for (arithmetic, iou) in rules {
                let whole = Search::new(&truths, Measure::Iou(arithmetic), Prefer::First, |_, _| true);
                let mut left = whole.clone();
                for shape in &shapes {
                    let wanted = |truth: &Truth| iou(shape, &truth.shape) >= least;
                    let mut taken = Vec::new();
                    while let Some(position) = left.any(shape, least, wanted) {
                        left.remove(position);
                        taken.push(position);
                    }
                    taken.sort_unstable();
                    let expected: Vec<usize> = (0..truths.len())
                        .filter(|&position| meet(truths[position].shape.bounds(), shape.bounds()))
                        .filter(|&position| wanted(&truths[position]))
                        .collect();
                    prop_assert_eq!(taken, expected);
                    left.restore(&whole);
                }
            }
        }

        #[test]
        fn as_a_look_at_all(
            shapes in boxes(), truths in boxes(), least in 0_u8..5, last in any::<bool>(), far in any::<bool>(),
        ) {
            // Far from 0 the corners of boxes are rounded, and IoUs of more than 1 come out.
            let moved = |shape: &BBox| {
                let [x, y, w, h] = shape.xywh();
                let by = if far { 3e15 } else { 0.0 };
                BBox::from_xywh(x + by, y, w, h).expect("a box")
            };
            let shapes: Vec<BBox> = shapes.iter().map(moved).collect();
            let truths: Vec<Truth> = truths.iter().map(moved).map(Truth::from).collect();
            let rule = (f64::from(least) / 10.0, if last { Prefer::Last } else { Prefer::First });
            check(&shapes, &truths, Measure::Iou(Arithmetic::Shape), rule, iou);
            check(&shapes, &truths, Measure::Iou(Arithmetic::Corners(0.0)), rule, iou_by_corners);
            check(&shapes, &truths, Measure::Iou(Arithmetic::Corners(1.0)), rule, iou_plus_one);
            check(&shapes, &truths, Measure::Share, rule, iou_crowd);
            let polygon = |shape: &BBox| {
                let [l, t, r, b] = shape.bounds();
                let (r, b) = (r.max(l + 1.0), b.max(t + 1.0));
                Polygon::new(vec![[l, t], [r, t], [r, b], [l, b]]).expect("a polygon")
            };
            let shapes: Vec<Polygon> = shapes.iter().map(polygon).collect();
            let truths: Vec<Truth<Polygon>> =
                truths.iter().map(|truth| Truth::from(polygon(&truth.shape))).collect();
            check(&shapes, &truths, Measure::Iou(Arithmetic::Shape), rule, Polygon::iou);
        }
    }
}
