//! Splitting a set of boxes in place, by the surface area heuristic over bins.

use crate::lanes::Lanes;
use crate::layout::LEAF_MOST;
use crate::{Bounds, Vector};

/// Bins of a split at most.
const BINS: usize = 16;
/// Depth below which sets are halved without looking: no input makes the tree deeper than this and 28 more.
const DEEPEST: usize = 64;
/// Children of a node.
pub(crate) const WIDTH: usize = 4;

/// A box; what the fourth lanes hold does not count.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    lower: Lanes,
    upper: Lanes,
}

impl Extent {
    const EMPTY: Self = Self {
        lower: Lanes::new([f32::INFINITY; 4]),
        upper: Lanes::new([f32::NEG_INFINITY; 4]),
    };

    #[inline(always)]
    fn join(&self, other: &Self) -> Self {
        Self {
            lower: self.lower.least(other.lower),
            upper: self.upper.greatest(other.upper),
        }
    }

    #[inline(always)]
    fn reach(&self, point: Lanes) -> Self {
        Self {
            lower: self.lower.least(point),
            upper: self.upper.greatest(point),
        }
    }

    /// Half of its surface; 0 for an empty one.
    fn area(&self) -> f32 {
        let size = self
            .upper
            .minus(self.lower)
            .greatest(Lanes::all(0.0))
            .array();
        size[0] * size[1] + size[1] * size[2] + size[2] * size[0]
    }

    pub(crate) fn bounds(&self) -> Bounds {
        let three = |lanes: Lanes| {
            let [x, y, z, _] = lanes.array();
            [x, y, z]
        };
        Bounds {
            lower: three(self.lower),
            upper: three(self.upper),
        }
    }
}

/// A primitive on its way: its box, and in the fourth lanes the numbers of its geometry and of itself, as bits.
#[derive(Clone, Copy)]
pub(crate) struct Item(Extent);

impl Item {
    pub(crate) fn new(bounds: &Bounds, geometry: u32, number: u32) -> Self {
        let four = |[x, y, z]: Vector, word| Lanes::new([x, y, z, f32::from_bits(word)]);
        Self(Extent {
            lower: four(bounds.lower, geometry),
            upper: four(bounds.upper, number),
        })
    }

    pub(crate) fn geometry(&self) -> u32 {
        self.0.lower.array()[3].to_bits()
    }

    pub(crate) fn number(&self) -> u32 {
        self.0.upper.array()[3].to_bits()
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.0.bounds()
    }

    /// Twice the middle of its box.
    #[inline(always)]
    fn middle(&self) -> Lanes {
        self.0.lower.plus(self.0.upper)
    }
}

/// What is known of a run of items: where it lies, the box around it, the box around twice its items' middles.
#[derive(Clone, Copy)]
pub(crate) struct Set {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) extent: Extent,
    middles: Extent,
}

impl Set {
    /// Of items that lie at `first` and on.
    pub(crate) fn of(items: &[Item], first: usize) -> Self {
        let mut set = Self {
            first,
            count: 0,
            extent: Extent::EMPTY,
            middles: Extent::EMPTY,
        };
        for item in items {
            set.add(item);
        }
        set
    }

    pub(crate) fn empty(first: usize) -> Self {
        Self::of(&[], first)
    }

    /// Both, which lie wherever this one does.
    pub(crate) fn join(&self, other: &Self) -> Self {
        Self {
            first: self.first,
            count: self.count + other.count,
            extent: self.extent.join(&other.extent),
            middles: self.middles.join(&other.middles),
        }
    }

    #[inline(always)]
    fn add(&mut self, item: &Item) {
        self.count += 1;
        self.extent = self.extent.join(&item.0);
        self.middles = self.middles.reach(item.middle());
    }
}

/// Where bins of a set lie.
struct Grid {
    bins: usize,
    last: Lanes,
    low: Lanes,
    scale: Lanes,
    /// Axes on which middles differ.
    wide: [bool; 3],
}

impl Grid {
    fn of(set: &Set) -> Self {
        // Small sets are most of all, and looking at many empty bins would be most of the work.
        let bins = (4 + set.count / 16).min(BINS);
        let width = set.middles.upper.minus(set.middles.lower).array();
        let scale = width.map(|width| {
            if width > 0.0 {
                bins as f32 / width
            } else {
                0.0
            }
        });
        Self {
            bins,
            last: Lanes::all((bins - 1) as f32),
            low: set.middles.lower,
            scale: Lanes::new(scale),
            wide: [0, 1, 2].map(|axis| width[axis] > 0.0),
        }
    }

    /// The bin on each axis: the greatest middle falls into the last, and what is no number into the first.
    #[inline(always)]
    fn place(&self, item: &Item) -> [i32; 4] {
        let place = item.middle().minus(self.low).times(self.scale);
        place.greatest(Lanes::all(0.0)).least(self.last).whole()
    }
}

/// Primitives come in leaves of up to [`LEAF_MOST`], which cost the same full or not.
fn leaves(count: u32) -> f32 {
    count.div_ceil(LEAF_MOST as u32) as f32
}

/// The cheapest cut: axis, and first bin of the right side.
fn cheapest(items: &[Item], grid: &Grid) -> Option<(usize, i32)> {
    let mut extents = [[Extent::EMPTY; BINS]; 3];
    let mut counts = [[0_u32; BINS]; 3];
    for item in items {
        let place = grid.place(item);
        for axis in 0..3 {
            // Masked so that no check is left.
            let bin = place[axis] as usize % BINS;
            extents[axis][bin] = extents[axis][bin].join(&item.0);
            counts[axis][bin] += 1;
        }
    }
    let mut best: Option<(f32, usize, i32)> = None;
    for axis in (0..3).filter(|axis| grid.wide[*axis]) {
        // Cost of everything from each bin on.
        let mut right = [0.0_f32; BINS];
        let (mut extent, mut count) = (Extent::EMPTY, 0);
        for at in (1..grid.bins).rev() {
            extent = extent.join(&extents[axis][at]);
            count += counts[axis][at];
            right[at] = if count == 0 {
                f32::INFINITY
            } else {
                extent.area() * leaves(count)
            };
        }
        let (mut extent, mut count) = (Extent::EMPTY, 0);
        for at in 1..grid.bins {
            extent = extent.join(&extents[axis][at - 1]);
            count += counts[axis][at - 1];
            if count == 0 {
                continue;
            }
            let cost = extent.area() * leaves(count) + right[at];
            if cost.is_finite() && best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, axis, at as i32));
            }
        }
    }
    best.map(|(_, axis, at)| (axis, at))
}

/// Two sets, neither empty, of `items`, which are those of `set`; items change places.
fn split(items: &mut [Item], set: &Set, depth: usize) -> (Set, Set) {
    if depth < DEEPEST {
        let grid = Grid::of(set);
        if let Some((axis, at)) = cheapest(items, &grid) {
            let (mut left, mut right) = (Set::empty(set.first), Set::empty(set.first));
            let (mut low, mut high) = (0, items.len());
            while low < high {
                let item = items[low];
                if grid.place(&item)[axis] < at {
                    left.add(&item);
                    low += 1;
                } else {
                    right.add(&item);
                    high -= 1;
                    items.swap(low, high);
                }
            }
            right.first += low;
            if left.count > 0 && right.count > 0 {
                return (left, right);
            }
        }
    }
    // All in one place, or too deep: halves are as good as anything.
    let half = items.len() / 2;
    let (left, right) = items.split_at(half);
    (Set::of(left, set.first), Set::of(right, set.first + half))
}

/// Splits a set into up to [`WIDTH`], always the largest by area that can be split; how many there are. `items` are
/// those of `set`.
pub(crate) fn children(items: &mut [Item], set: &Set, depth: usize) -> ([Set; WIDTH], usize) {
    let mut parts = [*set; WIDTH];
    let mut count = 1;
    while count < WIDTH {
        let splittable = (0..count).filter(|at| parts[*at].count > LEAF_MOST);
        let area = |at: &usize| parts[*at].extent.area();
        let Some(at) = splittable.max_by(|a, b| area(a).total_cmp(&area(b))) else {
            break;
        };
        let part = parts[at];
        let begin = part.first - set.first;
        let (left, right) = split(&mut items[begin..begin + part.count], &part, depth);
        parts[at] = left;
        parts[count] = right;
        count += 1;
    }
    (parts, count)
}
