//! Splitting a set of boxes in place, by the surface area heuristic over bins.

use crate::lanes::Lanes;
use crate::layout::{LANES, LEAF_MOST, WIDTH};
use crate::{Bounds, Vector};
use std::ops::Range;

/// The depth below which sets are halved without a search: no input makes the tree deeper than this and 28 more.
const DEEPEST: usize = 64;

/// A box; the fourth lanes are ignored.
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
            // The point comes first: it is ignored if it is NaN.
            lower: point.least(self.lower),
            upper: point.greatest(self.upper),
        }
    }

    /// Half of its surface; 0 for an empty one.
    pub(crate) fn area(&self) -> f32 {
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

/// A primitive during the build: its box, and in the fourth lanes the numbers of its geometry and of itself, as bits.
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

    /// Twice the middle of its box on an axis.
    #[inline(always)]
    fn coordinate(&self, axis: usize) -> f32 {
        self.0.lower.array()[axis] + self.0.upper.array()[axis]
    }

    /// Twice the middle of its box.
    #[inline(always)]
    fn middle(&self) -> Lanes {
        self.0.lower.plus(self.0.upper)
    }
}

/// A run of items: its position, the box around it, the box around twice its items' centres.
#[derive(Clone, Copy)]
pub(crate) struct Set {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) extent: Extent,
    middles: Extent,
}

impl Set {
    /// Of items from `first` on.
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

    /// Both, which are wherever this one is.
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

/// The grid of a set's bins.
struct Grid {
    last: Lanes,
    low: Lanes,
    scale: Lanes,
    /// Axes on which middles differ.
    wide: [bool; 3],
}

impl Grid {
    fn of(set: &Set, bins: usize) -> Self {
        let width = set.middles.upper.minus(set.middles.lower).array();
        let scale = width.map(|width| {
            if width > 0.0 {
                bins as f32 / width
            } else {
                0.0
            }
        });
        Self {
            last: Lanes::all((bins - 1) as f32),
            low: set.middles.lower,
            scale: Lanes::new(scale),
            wide: [0, 1, 2].map(|axis| width[axis] > 0.0),
        }
    }

    /// The bin on each axis: the greatest centre is in the last, NaN in the first.
    #[inline(always)]
    fn place(&self, item: &Item) -> [i32; 4] {
        let place = item.middle().minus(self.low).times(self.scale);
        place.greatest(Lanes::all(0.0)).least(self.last).whole()
    }
}

/// Primitives come in packets, which cost the same full or not.
fn leaves(count: u32) -> f32 {
    count.div_ceil(LANES as u32) as f32
}

/// A cut: one side has the bins before `at` on an axis.
struct Cut {
    axis: usize,
    at: usize,
    /// How many there are on either side, and the boxes around them.
    sides: [(usize, Extent); 2],
}

/// The cheapest cut that leaves something on either side.
#[inline(always)]
fn cheapest<const BINS: usize>(items: &[Item], grid: &Grid) -> Option<Cut> {
    let mut extents = [[Extent::EMPTY; BINS]; 3];
    let mut counts = [[0_u32; BINS]; 3];
    let mut add = |item: &Item| {
        let place = grid.place(item);
        for axis in 0..3 {
            // Masked so that no check is left.
            let bin = place[axis] as usize % BINS;
            extents[axis][bin] = extents[axis][bin].join(&item.0);
            counts[axis][bin] += 1;
        }
    };
    // Neighbours in the input often share bins, and would wait for each other; those of two halves seldom do.
    let (front, back) = items.split_at(items.len() / 2);
    for (one, other) in front.iter().zip(back) {
        add(one);
        add(other);
    }
    if items.len() % 2 == 1 {
        add(&back[front.len()]);
    }
    let mut best: Option<(f32, usize, usize)> = None;
    for axis in (0..3).filter(|axis| grid.wide[*axis]) {
        let (extents, counts) = (&extents[axis], &counts[axis]);
        // Cost of everything from each bin on.
        let mut right = [0.0_f32; BINS];
        let (mut extent, mut count) = (Extent::EMPTY, 0);
        for at in (1..BINS).rev() {
            extent = extent.join(&extents[at]);
            count += counts[at];
            right[at] = if count == 0 {
                f32::INFINITY
            } else {
                extent.area() * leaves(count)
            };
        }
        let (mut extent, mut count) = (Extent::EMPTY, 0);
        for at in 1..BINS {
            extent = extent.join(&extents[at - 1]);
            count += counts[at - 1];
            if count == 0 {
                continue;
            }
            let cost = extent.area() * leaves(count) + right[at];
            if cost.is_finite() && best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, axis, at));
            }
        }
    }
    let (_, axis, at) = best?;
    let side = |bins: Range<usize>| {
        bins.fold((0, Extent::EMPTY), |(count, extent), bin| {
            (
                count + counts[axis][bin] as usize,
                extent.join(&extents[axis][bin]),
            )
        })
    };
    Some(Cut {
        axis,
        at,
        sides: [side(0..at), side(at..BINS)],
    })
}

/// Moves the items of either side of a cut together, and makes sets of them. No branch depends on an item, because its
/// side cannot be predicted.
#[inline(always)]
fn part(items: &mut [Item], set: &Set, grid: &Grid, cut: &Cut) -> (Set, Set) {
    let [mut left, mut right] = cut.sides.map(|(count, extent)| Set {
        first: set.first,
        count,
        extent,
        middles: Extent::EMPTY,
    });
    right.first += left.count;
    let (low, scale) = (grid.low.array()[cut.axis], grid.scale.array()[cut.axis]);
    let at = Lanes::all(cut.at as f32);
    let mut end = 0;
    for next in 0..items.len() {
        let item = items[next];
        let middle = item.middle();
        // As the grid places it: NaN is in the first bin.
        let place = Lanes::all((item.coordinate(cut.axis) - low) * scale);
        let is_right = at.is_at_most(place);
        left.middles = left.middles.reach(middle.where_not(is_right));
        right.middles = right.middles.reach(middle.only_where(is_right));
        items.swap(end, next);
        end += usize::from(is_right.bits() & 1 == 0);
    }
    debug_assert_eq!(end, left.count, "the grid places items elsewhere");
    (left, right)
}

/// Two sets, neither empty, of `items`, which are those of `set`; items are reordered.
pub(crate) fn split(items: &mut [Item], set: &Set, depth: usize) -> (Set, Set) {
    if depth < DEEPEST {
        // Small sets are most of all, and looking at many empty bins would be most of the work.
        let (grid, cut);
        if set.count < 24 {
            grid = Grid::of(set, 4);
            cut = cheapest::<4>(items, &grid);
        } else if set.count < 96 {
            grid = Grid::of(set, 8);
            cut = cheapest::<8>(items, &grid);
        } else {
            grid = Grid::of(set, 16);
            cut = cheapest::<16>(items, &grid);
        }
        if let Some(cut) = cut {
            return part(items, set, &grid, &cut);
        }
    }
    // All at one point, or too deep: halving is as good as any split.
    let half = items.len() / 2;
    let (left, right) = items.split_at(half);
    (Set::of(left, set.first), Set::of(right, set.first + half))
}

/// Splits a set, which is already split into parts, into up to [`WIDTH`], always the largest by area that can be split.
/// Returns how many there are. `items` are those of `set`.
pub(crate) fn children(
    items: &mut [Item],
    set: &Set,
    parts: &[Set],
    depth: usize,
) -> ([Set; WIDTH], usize) {
    let mut sets = [*set; WIDTH];
    let mut count = parts.len().min(WIDTH);
    sets[..count].copy_from_slice(&parts[..count]);
    while count < WIDTH {
        let splittable = (0..count).filter(|at| sets[*at].count > LEAF_MOST);
        let area = |at: &usize| sets[*at].extent.area();
        let Some(at) = splittable.max_by(|a, b| area(a).total_cmp(&area(b))) else {
            break;
        };
        let part = sets[at];
        let begin = part.first - set.first;
        let (left, right) = split(&mut items[begin..begin + part.count], &part, depth);
        sets[at] = left;
        sets[count] = right;
        count += 1;
    }
    (sets, count)
}
