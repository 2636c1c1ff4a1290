//! Half-open boxes in three dimensions, of elements or of pages; axis 0 is the slowest, as in SYCL.

/// A half-open box `[lower, upper)` on each axis. Fewer dimensions have leading axes of extent 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Cuboid {
    /// First coordinate inside, by axis.
    pub lower: [usize; 3],
    /// First coordinate outside, by axis.
    pub upper: [usize; 3],
}

impl Cuboid {
    /// The box from `lower` up to, not including, `upper`.
    pub const fn new(lower: [usize; 3], upper: [usize; 3]) -> Self {
        Self { lower, upper }
    }

    /// Creates a box of the given extents at the origin.
    pub const fn of(extent: [usize; 3]) -> Self {
        Self::new([0; 3], extent)
    }

    /// Whether the box is empty.
    pub fn is_empty(&self) -> bool {
        (0..3).any(|axis| self.lower[axis] >= self.upper[axis])
    }

    /// The extent along an axis, 0 if the box is empty there.
    pub fn extent(&self, axis: usize) -> usize {
        self.upper[axis].saturating_sub(self.lower[axis])
    }

    /// The number of points inside.
    pub fn volume(&self) -> usize {
        (0..3).map(|axis| self.extent(axis)).product()
    }

    /// The intersection; empty if there is none.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = *self;
        for axis in 0..3 {
            both.lower[axis] = self.lower[axis].max(other.lower[axis]);
            both.upper[axis] = self.upper[axis].min(other.upper[axis]);
        }
        both
    }

    /// Whether the two share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// Whether every point of `other` is in this box; an empty box is in any.
    pub fn contains(&self, other: &Self) -> bool {
        other.is_empty()
            || (0..3).all(|axis| {
                self.lower[axis] <= other.lower[axis] && other.upper[axis] <= self.upper[axis]
            })
    }

    /// The difference: at most six disjoint boxes, the slowest axis cut first so that rows stay long.
    pub fn without(&self, other: &Self) -> impl Iterator<Item = Self> + use<> {
        let hole = self.intersection(other);
        let mut rest = *self;
        let mut parts = [None; 6];
        if hole.is_empty() {
            parts[0] = (!self.is_empty()).then_some(*self);
        } else {
            for axis in 0..3 {
                if rest.lower[axis] < hole.lower[axis] {
                    let mut part = rest;
                    part.upper[axis] = hole.lower[axis];
                    parts[2 * axis] = Some(part);
                    rest.lower[axis] = hole.lower[axis];
                }
                if hole.upper[axis] < rest.upper[axis] {
                    let mut part = rest;
                    part.lower[axis] = hole.upper[axis];
                    parts[2 * axis + 1] = Some(part);
                    rest.upper[axis] = hole.upper[axis];
                }
            }
        }
        parts.into_iter().flatten()
    }

    /// The union, if the boxes are neighbours along one axis and equal on the others.
    pub fn merged(&self, other: &Self) -> Option<Self> {
        let is_unlike = |axis: &usize| {
            self.lower[*axis] != other.lower[*axis] || self.upper[*axis] != other.upper[*axis]
        };
        let mut unlike = (0..3).filter(is_unlike);
        let axis = unlike.next()?;
        if unlike.next().is_some() {
            return None;
        }
        let (first, second) = if self.lower[axis] < other.lower[axis] {
            (self, other)
        } else {
            (other, self)
        };
        (first.upper[axis] == second.lower[axis]).then(|| {
            let mut both = *first;
            both.upper[axis] = second.upper[axis];
            both
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn small() -> impl Strategy<Value = Cuboid> {
        proptest::array::uniform3((0usize..5, 0usize..5))
            .prop_map(|axes| Cuboid::new(axes.map(|(a, b)| a.min(b)), axes.map(|(a, b)| a.max(b))))
    }

    proptest! {
        #[test]
        fn the_difference_is_exact_and_disjoint(a in small(), b in small()) {
            let parts: Vec<_> = a.without(&b).collect();
            let volume: usize = parts.iter().map(Cuboid::volume).sum();
            prop_assert_eq!(volume, a.volume() - a.intersection(&b).volume());
            for (i, part) in parts.iter().enumerate() {
                prop_assert!(!part.is_empty() && a.contains(part) && !part.overlaps(&b));
                prop_assert!(parts[i + 1..].iter().all(|other| !part.overlaps(other)));
            }
        }

        #[test]
        fn merged_boxes_contain_both_and_nothing_else(a in small(), b in small()) {
            if let Some(both) = a.merged(&b) {
                prop_assert!(both.contains(&a) && both.contains(&b));
                prop_assert_eq!(both.volume(), a.volume() + b.volume());
            }
        }
    }
}
