//! A buffer viewed as other elements: maps regions of the view to the buffer's own grid.

use crate::{Access, Cuboid, Grid, GridError, Mode};

/// A reinterpretation of a buffer's bytes. The buffer keeps the page states; the view only maps regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    shape: Grid,
    first_byte: usize,
}

impl View {
    /// Views the bytes of `grid` from `first_byte` as `extent` elements of `element_size` bytes.
    ///
    /// # Errors
    /// The view ends outside the buffer.
    pub fn new(
        grid: &Grid,
        extent: [usize; 3],
        element_size: usize,
        first_byte: usize,
    ) -> Result<Self, GridError> {
        let shape = Grid::new(extent, element_size, Some(extent.map(|n| n.max(1))))?;
        match first_byte.checked_add(shape.bytes()) {
            Some(end) if end <= grid.bytes() => Ok(Self { shape, first_byte }),
            _ => Err(GridError::Outside {
                offset: [0, 0, first_byte / grid.element_size().max(1)],
                range: extent,
                extent: grid.extent(),
            }),
        }
    }

    /// The view's own shape, of one page.
    pub fn shape(&self) -> &Grid {
        &self.shape
    }

    /// Maps an access in the view's elements to accesses in the buffer's.
    ///
    /// Exact in elements; an element that the view covers only in part never counts as overwritten.
    pub fn accesses(&self, grid: &Grid, access: &Access) -> Vec<Access> {
        let inside = access.elements.intersection(&self.shape.whole());
        let mut found = Vec::new();
        for run in self.runs(&inside) {
            let size = grid.element_size();
            let (first, end) = (self.first_byte + run.0, self.first_byte + run.0 + run.1);
            let (outer_first, outer_end) = (first / size, end.div_ceil(size));
            let (inner_first, inner_end) = (first.div_ceil(size), end / size);
            if access.mode.needs_content() || inner_first >= inner_end {
                let mode = if access.mode.needs_content() {
                    access.mode
                } else {
                    Mode::Write
                };
                push(&mut found, grid, mode, outer_first, outer_end);
            } else {
                push(&mut found, grid, Mode::Write, outer_first, inner_first);
                push(&mut found, grid, access.mode, inner_first, inner_end);
                push(&mut found, grid, Mode::Write, inner_end, outer_end);
            }
        }
        found
    }

    /// A region of the view as runs of its bytes: offset and length.
    fn runs(&self, elements: &Cuboid) -> Vec<(usize, usize)> {
        if elements.is_empty() {
            return Vec::new();
        }
        if let Some(run) = self.shape.contiguous(elements) {
            return vec![run];
        }
        let slowest = if elements.extent(0) > 1 { 0 } else { 1 };
        (elements.lower[slowest]..elements.upper[slowest])
            .flat_map(|at| {
                let mut slice = *elements;
                slice.lower[slowest] = at;
                slice.upper[slowest] = at + 1;
                self.runs(&slice)
            })
            .collect()
    }
}

/// Adds elements `first..end` of the memory order as at most five boxes.
fn push(found: &mut Vec<Access>, grid: &Grid, mode: Mode, first: usize, end: usize) {
    let [planes, rows, row] = grid.extent();
    let mut at = first;
    while at < end {
        let place = [at / (rows * row), at / row % rows, at % row];
        let left = end - at;
        let (upper, taken) = if place[2] != 0 || left < row {
            let length = left.min(row - place[2]);
            ([place[0] + 1, place[1] + 1, place[2] + length], length)
        } else if place[1] != 0 || left < rows * row {
            let count = (left / row).min(rows - place[1]);
            ([place[0] + 1, place[1] + count, row], count * row)
        } else {
            let count = (left / (rows * row)).min(planes - place[0]);
            ([place[0] + count, rows, row], count * rows * row)
        };
        found.push(Access {
            mode,
            elements: Cuboid::new(place, upper),
        });
        at += taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_view_covers_its_bytes_and_no_others(
            extent in proptest::array::uniform3(1usize..5), size in 1usize..5,
            shape in proptest::array::uniform3(1usize..5), other in 1usize..5, first in 0usize..6,
            axes in proptest::array::uniform3((0usize..5, 0usize..5)), discard in any::<bool>(),
        ) {
            let grid = Grid::new(extent, size, Some([1; 3])).expect("a valid grid");
            let Ok(view) = View::new(&grid, shape, other, first) else {
                prop_assert!(first + shape.iter().product::<usize>() * other > grid.bytes());
                return Ok(());
            };
            let mode = if discard { Mode::NoInitWrite } else { Mode::Read };
            let elements = Cuboid::new(axes.map(|(a, b)| a.min(b)), axes.map(|(a, b)| a.max(b)))
                .intersection(&view.shape().whole());
            let mut bytes = vec![false; grid.bytes()];
            for x in elements.lower[0]..elements.upper[0] {
                for y in elements.lower[1]..elements.upper[1] {
                    for z in elements.lower[2]..elements.upper[2] {
                        let at = first + view.shape().element_number([x, y, z]) * other;
                        bytes[at..at + other].fill(true);
                    }
                }
            }
            let accesses = view.accesses(&grid, &Access { mode, elements });
            for number in 0..grid.page_count() {
                let place = grid.page_box(number);
                let covered = &bytes[number * size..(number + 1) * size];
                let modes: Vec<Mode> =
                    accesses.iter().filter(|a| a.elements.overlaps(&place)).map(|a| a.mode).collect();
                prop_assert_eq!(!modes.is_empty(), covered.contains(&true));
                if modes.iter().any(|mode| !mode.needs_content()) && modes.iter().all(|mode| !mode.needs_content()) {
                    prop_assert!(!covered.contains(&false), "element {} is not overwritten whole", number);
                }
                prop_assert!(accesses.iter().all(|a| grid.whole().contains(&a.elements)));
            }
        }
    }
}
