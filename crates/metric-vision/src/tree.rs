//! A tree of boxes around boxes, to find those that a box meets.

/// Left, top, right and bottom.
pub(crate) type Bounds = [f64; 4];

/// Boxes, halved again and again along the axis on which they are spread more.
///
/// Neither a few boxes that are as wide as the image nor a column of them make a search long: it
/// leaves out every group whose bounds it misses. Building takes `O(n log n)`.
pub(crate) struct Tree {
    items: Vec<Item>,
    /// Each before those it falls into.
    nodes: Vec<Node>,
}

struct Item {
    bounds: Bounds,
    position: usize,
}

struct Node {
    bounds: Bounds,
    /// Its items.
    start: usize,
    end: usize,
    /// The node that comes after all those that this one falls into.
    next: usize,
}

impl Tree {
    /// So many items are looked at one by one.
    const LEAF: usize = 16;
    /// So many are only halved along one axis.
    const SORTED: usize = 128;

    /// The tree of these boxes; their positions are 0, 1, ….
    pub(crate) fn new(boxes: impl Iterator<Item = Bounds>) -> Self {
        let items = boxes.enumerate();
        let items = items.map(|(position, bounds)| Item { bounds, position });
        let mut items: Vec<Item> = items.collect();
        let mut nodes = Vec::with_capacity(items.len() / 2);
        split(&mut items, 0, false, &mut nodes);
        Self { items, nodes }
    }

    /// Calls `visit` with the position of each box that meets these bounds, until it is true. Says
    /// whether it was.
    #[inline]
    pub(crate) fn any(&self, bounds: Bounds, mut visit: impl FnMut(usize) -> bool) -> bool {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !meet(node.bounds, bounds) {
                at = node.next;
                continue;
            }
            at += 1;
            if at == node.next {
                for item in &self.items[node.start..node.end] {
                    if meet(item.bounds, bounds) && visit(item.position) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// Whether two boxes overlap.
#[inline]
pub(crate) fn meet(a: Bounds, b: Bounds) -> bool {
    // Without branches, which could not be predicted.
    (a[0] < b[2]) & (b[0] < a[2]) & (a[1] < b[3]) & (b[1] < a[3])
}

/// Adds the nodes of these items, the first of which is at `start`, and gives their bounds. They may
/// be `sorted` along an axis.
fn split(items: &mut [Item], start: usize, mut sorted: bool, nodes: &mut Vec<Node>) -> Bounds {
    let at = nodes.len();
    nodes.push(Node {
        bounds: NOTHING,
        start,
        end: start + items.len(),
        next: 0,
    });
    let bounds = if items.len() <= Tree::LEAF {
        items.iter().map(|item| item.bounds).fold(NOTHING, around)
    } else {
        let half = items.len() / 2;
        if !sorted {
            let axis = wider(items);
            let order = |a: &Item, b: &Item| {
                let order = middle(a, axis).total_cmp(&middle(b, axis));
                order.then(a.position.cmp(&b.position))
            };
            // With few, sorting once takes less time than further halving.
            sorted = items.len() <= Tree::SORTED;
            if sorted {
                items.sort_unstable_by(order);
            } else {
                items.select_nth_unstable_by(half, order);
            }
        }
        let (first, second) = items.split_at_mut(half);
        let first = split(first, start, sorted, nodes);
        around(first, split(second, start + half, sorted, nodes))
    };
    nodes[at].bounds = bounds;
    nodes[at].next = nodes.len();
    bounds
}

/// The axis on which the middles are spread more.
fn wider(items: &[Item]) -> usize {
    let spread = |axis| {
        let middles = items.iter().map(|item| middle(item, axis));
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, greatest) = middles.fold(ends, |(least, greatest), middle| {
            (middle.min(least), middle.max(greatest))
        });
        greatest - least
    };
    usize::from(spread(1) > spread(0))
}

/// The bounds of no box.
pub(crate) const NOTHING: Bounds = [
    f64::INFINITY,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NEG_INFINITY,
];

/// The bounds of both.
pub(crate) fn around(a: Bounds, b: Bounds) -> Bounds {
    [
        a[0].min(b[0]),
        a[1].min(b[1]),
        a[2].max(b[2]),
        a[3].max(b[3]),
    ]
}

/// Twice the middle of a box on an axis.
fn middle(item: &Item, axis: usize) -> f64 {
    item.bounds[axis] + item.bounds[axis + 2]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Bounds, Tree, meet};

    fn boxes() -> impl Strategy<Value = Vec<Bounds>> {
        let item = [0_u8..24, 0_u8..24, 0_u8..12, 0_u8..12].prop_map(|numbers| {
            let [x, y, w, h] = numbers.map(f64::from);
            [x, y, x + w, y + h]
        });
        proptest::collection::vec(item, 0..70)
    }

    #[test]
    fn numbers_that_are_no_box() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let odd = [
            [nan, nan, nan, nan],
            [-inf, -inf, inf, inf],
            [5.0, 5.0, 1.0, 1.0],
        ];
        let tree = Tree::new(odd.into_iter().cycle().take(30));
        let mut found = 0;
        tree.any([0.0, 0.0, 1.0, 1.0], |position| {
            assert_eq!(position % 3, 1);
            found += 1;
            false
        });
        assert_eq!(found, 10);
    }

    proptest! {
        #[test]
        fn finds_what_meets(boxes in boxes(), searched in boxes()) {
            let tree = Tree::new(boxes.iter().copied());
            for &bounds in &searched {
                let plain: Vec<usize> = (0..boxes.len())
                    .filter(|&position| meet(boxes[position], bounds))
                    .collect();
                let mut found = Vec::new();
                tree.any(bounds, |position| {
                    found.push(position);
                    false
                });
                found.sort_unstable();
                prop_assert_eq!(&found, &plain);
            }
        }
    }
}
