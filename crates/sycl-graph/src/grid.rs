//! The grid of pages over a buffer's elements: sizes, page ranges, and which boxes are one run of memory.

use crate::Cuboid;

/// The most pages that a buffer may have.
pub const MAX_PAGES: usize = 1 << 24;

/// A buffer below this size is one page unless its user chose otherwise.
const SMALLEST_PAGE: usize = 64 * 1024;
/// The most pages that a grid chosen here has.
const CHOSEN_PAGES: usize = 1024;

/// Why a grid is invalid, or a region.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// The extents' product does not fit.
    #[error("a buffer of {0:?} elements of {1} bytes is larger than the address space")]
    TooLarge([usize; 3], usize),
    /// A page extent of nought.
    #[error("page size {0:?}: each extent must be at least 1")]
    EmptyPage([usize; 3]),
    /// More pages than the bookkeeping allows.
    #[error(
        "page size {page:?} makes {pages} pages of a buffer of {extent:?} elements; at most {MAX_PAGES} are allowed: choose larger pages"
    )]
    TooManyPages {
        /// Elements of the buffer by axis.
        extent: [usize; 3],
        /// Elements of a page by axis.
        page: [usize; 3],
        /// The number of pages.
        pages: u128,
    },
    /// A region outside the buffer.
    #[error("offset {offset:?} and range {range:?} end outside a buffer of {extent:?} elements")]
    Outside {
        /// First element of the region.
        offset: [usize; 3],
        /// Elements of the region by axis.
        range: [usize; 3],
        /// Elements of the buffer by axis.
        extent: [usize; 3],
    },
}

/// How a buffer's elements are divided into pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    extent: [usize; 3],
    page: [usize; 3],
    pages: [usize; 3],
    element_size: usize,
}

impl Grid {
    /// A grid over `extent` elements of `element_size` bytes with pages of `page` elements, or pages chosen here:
    /// one if the buffer is small, otherwise slabs of whole rows along the slowest axis, at most about a thousand.
    ///
    /// Pages larger than the buffer are clipped to it.
    ///
    /// # Errors
    /// The buffer's bytes do not fit into the address space, a page extent is 0, or there are more than [`MAX_PAGES`].
    pub fn new(
        extent: [usize; 3],
        element_size: usize,
        page: Option<[usize; 3]>,
    ) -> Result<Self, GridError> {
        let bytes = extent
            .iter()
            .try_fold(element_size, |product, &n| product.checked_mul(n))
            .filter(|&bytes| bytes <= isize::MAX as usize)
            .ok_or(GridError::TooLarge(extent, element_size))?;
        let page = match page {
            Some(page) if page.contains(&0) => return Err(GridError::EmptyPage(page)),
            Some(page) => page,
            None => Self::chosen_page(extent, element_size, bytes),
        };
        let mut clipped = [0; 3];
        let mut pages = [0; 3];
        for axis in 0..3 {
            clipped[axis] = page[axis].min(extent[axis].max(1));
            pages[axis] = extent[axis].div_ceil(clipped[axis]);
        }
        let count = pages.iter().map(|&n| n as u128).product::<u128>();
        if count > MAX_PAGES as u128 {
            return Err(GridError::TooManyPages {
                extent,
                page,
                pages: count,
            });
        }
        Ok(Self {
            extent,
            page: clipped,
            pages,
            element_size,
        })
    }

    /// As [`Grid::new`] with a default page size of about this many bytes: slabs of whole rows along the slowest axis,
    /// at least one row, and never more than [`MAX_PAGES`].
    ///
    /// # Errors
    /// The buffer's size exceeds the address space.
    pub fn with_page_bytes(
        extent: [usize; 3],
        element_size: usize,
        page_bytes: usize,
    ) -> Result<Self, GridError> {
        let mut grid = Self::new(extent, element_size, Some(extent.map(|n| n.max(1))))?;
        if let Some(axis) = (0..3).find(|&axis| extent[axis] > 1) {
            let row = (element_size * extent[axis + 1..].iter().product::<usize>()).max(1);
            let fewest = extent[axis].div_ceil(MAX_PAGES);
            grid.page[axis] = (page_bytes / row).max(fewest).clamp(1, extent[axis]);
            grid.pages[axis] = extent[axis].div_ceil(grid.page[axis]);
        }
        Ok(grid)
    }

    fn chosen_page(extent: [usize; 3], element_size: usize, bytes: usize) -> [usize; 3] {
        let Some(axis) = (0..3).find(|&axis| extent[axis] > 1) else {
            return [1; 3];
        };
        if bytes < SMALLEST_PAGE {
            return extent.map(|n| n.max(1));
        }
        let row = (element_size * extent[axis + 1..].iter().product::<usize>()).max(1);
        let slab = SMALLEST_PAGE.max(bytes.div_ceil(CHOSEN_PAGES).next_multiple_of(SMALLEST_PAGE));
        let mut page = extent.map(|n| n.max(1));
        page[axis] = slab.div_ceil(row);
        page
    }

    /// Elements of the buffer by axis.
    pub fn extent(&self) -> [usize; 3] {
        self.extent
    }

    /// Elements of a page by axis; the last page on an axis may hold fewer.
    pub fn page(&self) -> [usize; 3] {
        self.page
    }

    /// Pages by axis.
    pub fn pages(&self) -> [usize; 3] {
        self.pages
    }

    /// Pages in all.
    pub fn page_count(&self) -> usize {
        self.pages.iter().product()
    }

    /// Bytes of one element.
    pub fn element_size(&self) -> usize {
        self.element_size
    }

    /// Bytes of the whole buffer, the size of each of its allocations.
    pub fn bytes(&self) -> usize {
        self.element_size * self.extent.iter().product::<usize>()
    }

    /// All elements.
    pub fn whole(&self) -> Cuboid {
        Cuboid::of(self.extent)
    }

    /// All pages.
    pub fn whole_pages(&self) -> Cuboid {
        Cuboid::of(self.pages)
    }

    /// Whether pages extend along one axis only, so that a page range is an interval of page numbers.
    pub fn is_slab(&self) -> bool {
        self.pages.iter().filter(|&&n| n > 1).count() <= 1
    }

    /// The box of `range` elements from `offset`.
    ///
    /// # Errors
    /// The region ends outside the buffer.
    pub fn region(&self, offset: [usize; 3], range: [usize; 3]) -> Result<Cuboid, GridError> {
        let mut upper = [0; 3];
        for axis in 0..3 {
            upper[axis] = offset[axis]
                .checked_add(range[axis])
                .filter(|&end| end <= self.extent[axis])
                .ok_or(GridError::Outside {
                    offset,
                    range,
                    extent: self.extent,
                })?;
        }
        Ok(Cuboid::new(offset, upper))
    }

    /// The pages that a box of elements touches; an empty box touches none.
    pub fn page_range(&self, elements: &Cuboid) -> Cuboid {
        let inside = elements.intersection(&self.whole());
        if inside.is_empty() {
            return Cuboid::of([0; 3]);
        }
        let mut range = inside;
        for axis in 0..3 {
            // Most accesses begin and end with the buffer, and divisions cost more than everything else here.
            range.lower[axis] = match inside.lower[axis] {
                0 => 0,
                first => first / self.page[axis],
            };
            range.upper[axis] = match inside.upper[axis] {
                end if end == self.extent[axis] => self.pages[axis],
                end => end.div_ceil(self.page[axis]),
            };
        }
        range
    }

    /// The pages that are completely in a box of elements.
    pub(crate) fn pages_inside(&self, elements: &Cuboid) -> Cuboid {
        let mut inside = self.page_range(elements);
        let touched = inside;
        for axis in 0..3 {
            inside.lower[axis] = elements.lower[axis].div_ceil(self.page[axis]);
            if elements.upper[axis] < self.extent[axis] {
                inside.upper[axis] = elements.upper[axis] / self.page[axis];
            }
        }
        inside.intersection(&touched)
    }

    /// Whether two boxes of elements are contiguous, and the second begins where the first ends.
    pub(crate) fn follows_in_memory(&self, first: &Cuboid, next: &Cuboid) -> bool {
        let ends = self.contiguous(first).zip(self.contiguous(next));
        ends.is_some_and(|((offset, bytes), (at, _))| offset + bytes == at)
    }

    /// The elements of a box of pages.
    pub fn elements(&self, pages: &Cuboid) -> Cuboid {
        let mut elements = *pages;
        for axis in 0..3 {
            elements.lower[axis] = (pages.lower[axis] * self.page[axis]).min(self.extent[axis]);
            elements.upper[axis] = (pages.upper[axis] * self.page[axis]).min(self.extent[axis]);
        }
        elements
    }

    /// A page's number; the fastest axis counts first.
    pub fn page_number(&self, page: [usize; 3]) -> usize {
        (page[0] * self.pages[1] + page[1]) * self.pages[2] + page[2]
    }

    /// The page of a number.
    pub fn page_box(&self, number: usize) -> Cuboid {
        let plane = self.pages[1] * self.pages[2];
        let lower = [
            number / plane,
            number / self.pages[2] % self.pages[1],
            number % self.pages[2],
        ];
        Cuboid::new(lower, lower.map(|n| n + 1))
    }

    /// An element's number in memory order.
    pub(crate) fn element_number(&self, element: [usize; 3]) -> usize {
        (element[0] * self.extent[1] + element[1]) * self.extent[2] + element[2]
    }

    /// First byte and bytes of a box of elements, if it is one run of memory.
    pub fn contiguous(&self, elements: &Cuboid) -> Option<(usize, usize)> {
        let first_long = (0..3).find(|&axis| elements.extent(axis) > 1).unwrap_or(2);
        let full = (first_long + 1..3).all(|axis| elements.extent(axis) == self.extent[axis]);
        full.then(|| {
            (
                self.element_number(elements.lower) * self.element_size,
                elements.volume() * self.element_size,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_chosen_by_size() {
        // (extent, element size, page)
        for (extent, size, page) in [
            ([1, 1, 100], 4, [1, 1, 100]),
            ([1, 1, 16384], 4, [1, 1, 16384]),
            ([1, 1, 1 << 20], 4, [1, 1, 16384]),
            ([1, 1024, 1024], 4, [1, 16, 1024]),
            ([64, 64, 64], 8, [2, 64, 64]),
            ([1, 1, 1 << 28], 4, [1, 1, 1 << 18]),
            ([1, 3, 1_000_000], 4, [1, 1, 1_000_000]),
            ([1, 1, 0], 4, [1, 1, 1]),
            ([1, 1, 1], 1 << 20, [1, 1, 1]),
        ] {
            let grid = Grid::new(extent, size, None).expect("a valid grid");
            assert_eq!(grid.page(), page, "of {extent:?} times {size}");
            assert!(grid.page_count() <= CHOSEN_PAGES && grid.is_slab());
        }
    }

    #[test]
    fn pages_of_a_size_are_slabs() {
        // (extent, element size, bytes, page)
        for (extent, size, bytes, page) in [
            ([1, 1, 100], 4, 64, [1, 1, 16]),
            ([1, 1, 100], 4, 1, [1, 1, 1]),
            ([1, 1, 100], 4, 1 << 20, [1, 1, 100]),
            ([1, 10, 10], 4, 100, [1, 2, 10]),
            ([5, 10, 10], 4, 100, [1, 10, 10]),
            ([1, 1, 1], 64, 1, [1, 1, 1]),
            ([1, 1, 0], 4, 16, [1, 1, 1]),
            ([1, 1, 1 << 25], 1, 1, [1, 1, 2]),
        ] {
            let grid = Grid::with_page_bytes(extent, size, bytes).expect("a valid grid");
            assert_eq!(
                grid.page(),
                page,
                "{bytes} bytes of {extent:?} times {size}"
            );
            let remade = Grid::new(extent, size, Some(page)).expect("a valid grid");
            assert_eq!(grid, remade);
        }
    }

    #[test]
    fn wrong_sizes_are_named() {
        for (extent, size, page, text) in [
            ([usize::MAX, 2, 1], 4, None, "larger than the address space"),
            (
                [1, 1, 8],
                4,
                Some([1, 0, 1]),
                "page size [1, 0, 1]: each extent must be at least 1",
            ),
            (
                [1, 1 << 13, 1 << 13],
                1,
                Some([1, 1, 1]),
                "makes 67108864 pages",
            ),
        ] {
            let error = Grid::new(extent, size, page)
                .expect_err("refused")
                .to_string();
            assert!(error.contains(text), "{error}");
        }
        let grid = Grid::new([1, 1, 8], 4, None).expect("a valid grid");
        assert!(grid.region([0, 0, 4], [1, 1, 4]).is_ok());
        for (offset, range) in [
            ([0, 0, 4], [1, 1, 5]),
            ([0, 0, usize::MAX], [1, 1, 1]),
            ([0, 1, 0], [1, 1, 1]),
        ] {
            let error = grid.region(offset, range).expect_err("refused").to_string();
            assert!(
                error.contains("end outside a buffer of [1, 1, 8] elements"),
                "{error}"
            );
        }
    }

    #[test]
    fn page_ranges_contain_the_elements_they_overlap() {
        let grid = Grid::new([1, 10, 10], 4, Some([1, 4, 3])).expect("a valid grid");
        assert_eq!(grid.pages(), [1, 3, 4]);
        for (lower, upper, pages) in [
            ([0, 0, 0], [1, 1, 1], ([0, 0, 0], [1, 1, 1])),
            ([0, 3, 2], [1, 4, 3], ([0, 0, 0], [1, 1, 1])),
            ([0, 3, 2], [1, 5, 4], ([0, 0, 0], [1, 2, 2])),
            ([0, 9, 9], [1, 10, 10], ([0, 2, 3], [1, 3, 4])),
            ([0, 5, 5], [1, 5, 9], ([0, 0, 0], [0, 0, 0])),
        ] {
            assert_eq!(
                grid.page_range(&Cuboid::new(lower, upper)),
                Cuboid::new(pages.0, pages.1)
            );
        }
        let last = grid.elements(&Cuboid::new([0, 2, 3], [1, 3, 4]));
        assert_eq!(last, Cuboid::new([0, 8, 9], [1, 10, 10]));
        for number in 0..grid.page_count() {
            assert_eq!(grid.page_number(grid.page_box(number).lower), number);
        }
    }

    #[test]
    fn runs_of_memory_are_recognised() {
        let grid = Grid::new([3, 4, 5], 2, None).expect("a valid grid");
        for (lower, upper, run) in [
            ([0, 0, 0], [3, 4, 5], Some((0, 120))),
            ([1, 0, 0], [3, 4, 5], Some((40, 80))),
            ([1, 1, 0], [2, 3, 5], Some((50, 20))),
            ([1, 1, 2], [2, 2, 4], Some((54, 4))),
            ([1, 1, 2], [2, 3, 4], None),
            ([1, 1, 0], [3, 3, 5], None),
            ([0, 2, 3], [1, 3, 4], Some((26, 2))),
        ] {
            assert_eq!(
                grid.contiguous(&Cuboid::new(lower, upper)),
                run,
                "{lower:?}..{upper:?}"
            );
        }
    }
}
