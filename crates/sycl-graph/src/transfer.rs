//! Copies between two allocations of a buffer.

use crate::cuboid::Cuboid;
use crate::domain::Domain;
use crate::grid::Grid;
use crate::part::Part;

/// The extent of a copy, at the same position in both allocations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// One run of memory, in bytes.
    Run {
        /// First byte.
        offset: usize,
        /// Bytes.
        bytes: usize,
    },
    /// Rows in planes, for a region copy.
    Region {
        /// First byte in a row, first row, first plane.
        origin: [usize; 3],
        /// Bytes of a row, rows, planes.
        size: [usize; 3],
        /// Bytes from a row to the next.
        row_pitch: usize,
        /// Bytes from a plane to the next.
        slice_pitch: usize,
    },
}

impl Extent {
    pub(crate) fn of(grid: &Grid, elements: &Cuboid) -> Self {
        let size = grid.element_size();
        match grid.contiguous(elements) {
            Some((offset, bytes)) => Self::Run { offset, bytes },
            None => Self::Region {
                origin: [
                    elements.lower[2] * size,
                    elements.lower[1],
                    elements.lower[0],
                ],
                size: [
                    elements.extent(2) * size,
                    elements.extent(1),
                    elements.extent(0),
                ],
                row_pitch: grid.extent()[2] * size,
                slice_pitch: grid.extent()[1] * grid.extent()[2] * size,
            },
        }
    }

    /// Bytes that it moves.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Run { bytes, .. } => *bytes,
            Self::Region { size, .. } => size.iter().product(),
        }
    }
}

/// A copy to submit. Copies of one plan are submitted in order, and each is committed before the next one's
/// dependencies are queried: the second half of a copy through the host follows the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The source.
    pub from: Domain,
    /// The target.
    pub to: Domain,
    /// The extent.
    pub extent: Extent,
    /// The boxes of whole pages that it brings.
    pub(crate) pages: Vec<Cuboid>,
    /// The parts of pages that it brings.
    pub(crate) parts: Vec<Part>,
    /// Its parts only pass through the host: they do not count as there.
    pub(crate) passing: bool,
    /// The target memory was released since.
    pub(crate) given_up: bool,
}

impl Transfer {
    /// The pages it touches, as boxes, each with whether contents of others may be overwritten there.
    pub(crate) fn page_boxes(&self, grid: &Grid) -> impl Iterator<Item = (Cuboid, bool)> {
        let parts = self.parts.iter().map(|part| part.page);
        let parts = parts.map(|page| (grid.page_box(page), self.passing));
        self.pages.iter().map(|pages| (*pages, false)).chain(parts)
    }

    /// Whether it writes some of these elements of a page.
    pub(crate) fn overlaps(&self, grid: &Grid, page: usize, elements: &Cuboid) -> bool {
        let place = grid.page_box(page);
        let mut parts = self.parts.iter().filter(|part| part.page == page);
        self.pages.iter().any(|pages| pages.overlaps(&place))
            || parts.any(|part| part.elements.overlaps(elements))
    }

    /// Whether it copies from or to a domain's present memory.
    pub(crate) fn uses(&self, domain: Domain) -> bool {
        self.from == domain || self.to == domain && !self.given_up
    }

    /// Whether it takes pages from a copy, committed before, that brought some of them.
    pub(crate) fn takes_from(&self, other: &Self, grid: &Grid) -> bool {
        let mut own = self.page_boxes(grid);
        let is_brought = |pages: &Cuboid| {
            let mut brought = other.page_boxes(grid);
            brought.any(|(others, _)| others.overlaps(pages))
        };
        self.from == other.to && own.any(|(pages, _)| is_brought(&pages))
    }

    /// Another copy failed: pieces that this one took cannot return to memory that it may have written.
    pub(crate) fn bar_way_back(&mut self, failed: &Self, grid: &Grid) {
        let taken = self.parts.iter_mut();
        taken
            .filter(|part| part.holder == failed.to)
            .filter(|part| failed.overlaps(grid, part.page, &part.elements))
            .for_each(|part| part.gone = true);
    }

    /// Removes these pages from the copy. Returns whether it brings others.
    pub(crate) fn leave(&mut self, grid: &Grid, pages: &Cuboid) -> bool {
        if self.pages.iter().any(|place| place.overlaps(pages)) {
            let rest = self.pages.iter().flat_map(|place| place.without(pages));
            self.pages = rest.collect();
        }
        self.parts
            .retain(|part| !pages.contains(&grid.page_box(part.page)));
        !self.pages.is_empty() || !self.parts.is_empty()
    }
}
