//! Which copies bring a command group's pages to its domain: the fewest pages, then the fewest copies.

use crate::buffer::Part;
use crate::{Access, Buffer, Cuboid, Domain, Grid, PageSet};

/// How copies can go between domains.
pub trait Links {
    /// The cost of a direct copy, lower is better; `None` if there is no direct way and the host has to be between.
    /// Asked only for two different domains; to and from the host there is always a way.
    fn cost(&self, from: Domain, to: Domain) -> Option<u32>;
}

/// What a copy moves, at the same place in both allocations.
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
    fn of(grid: &Grid, elements: &Cuboid) -> Self {
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

/// A copy to submit. Copies of one plan are submitted in order, each committed before the next one's dependencies are
/// asked for: the second half of a copy through the host follows the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Where the content is.
    pub from: Domain,
    /// Where it is needed.
    pub to: Domain,
    /// What to copy.
    pub extent: Extent,
    /// The boxes of whole pages that it brings; none for a piece.
    pub(crate) pages: Vec<Cuboid>,
    /// The part of a page that it brings.
    pub(crate) piece: Option<Part>,
    /// The first half of a piece's way through the host, where the page does not become valid by it.
    pub(crate) passing: bool,
}

impl Transfer {
    /// The pages it touches, as boxes.
    pub fn page_boxes(&self, grid: &Grid) -> impl Iterator<Item = Cuboid> {
        let piece = self.piece.map(|part| grid.page_box(part.page));
        self.pages.iter().copied().chain(piece)
    }
}

/// Above this many pages only one way of cutting them into boxes is tried.
const FEW_PAGES: usize = 4096;

impl Buffer {
    /// The copies that `accesses` of one command group on `domain` need first; empty if everything is there.
    pub fn plan(&self, domain: Domain, accesses: &[Access], links: &dyn Links) -> Vec<Transfer> {
        if self.is_whole_on(domain) {
            return Vec::new();
        }
        let mut needed = PageSet::none(&self.grid);
        for access in accesses.iter().filter(|access| access.mode.needs_content()) {
            needed.insert_box(&self.grid, &self.grid.page_range(&access.elements));
        }
        self.plan_pages(domain, needed, links)
    }

    /// The copies to the host that keep a domain's content when its allocation is given up.
    pub fn plan_release(&self, domain: Domain, links: &dyn Links) -> Vec<Transfer> {
        if domain == Domain::HOST {
            return Vec::new();
        }
        let valid = self.holding(domain).map(|holding| holding.valid.clone());
        let mut only_here = valid.unwrap_or_else(|| PageSet::none(&self.grid));
        for (number, other) in self.holdings.iter().enumerate() {
            if let Some(other) = other.as_ref().filter(|_| number != domain.number()) {
                only_here.subtract(&other.valid);
            }
        }
        for (&page, pieces) in &self.pieces {
            if pieces.iter().any(|piece| piece.holder == domain) {
                only_here.insert(page);
            }
        }
        self.plan_pages(Domain::HOST, only_here, links)
    }

    fn plan_pages(&self, to: Domain, needed: PageSet, links: &dyn Links) -> Vec<Transfer> {
        let mut plan = Vec::new();
        let mut in_pieces = Vec::new();
        let mut missing = needed;
        missing.intersect(&self.written);
        if let Some(holding) = self.holding(to) {
            missing.subtract(&holding.valid);
        }
        for &page in self.pieces.keys() {
            if missing.contains(page) {
                missing.remove(page);
                in_pieces.push(page);
            }
        }
        while !missing.is_empty() {
            let best = self
                .holdings
                .iter()
                .enumerate()
                .filter_map(|(number, holding)| {
                    let from = Domain::new(number).filter(|&from| from != to)?;
                    let mut pages = holding.as_ref()?.valid.clone();
                    pages.intersect(&missing);
                    Some((from, pages)).filter(|(_, pages)| !pages.is_empty())
                })
                .min_by_key(|(from, pages)| {
                    (
                        usize::MAX - pages.count(),
                        links.cost(*from, to).unwrap_or(u32::MAX),
                        *from,
                    )
                });
            // A written page is valid somewhere or in pieces; if that were broken, nothing could be copied.
            let Some((from, pages)) = best else { break };
            missing.subtract(&pages);
            if is_direct(links, from, to) {
                self.push_copies(&mut plan, from, to, &pages);
            } else {
                let mut first_half = pages.clone();
                if let Some(host) = self.holding(Domain::HOST) {
                    first_half.subtract(&host.valid);
                }
                self.push_copies(&mut plan, from, Domain::HOST, &first_half);
                self.push_copies(&mut plan, Domain::HOST, to, &pages);
            }
        }
        for page in in_pieces {
            for piece in self.pieces[&page].iter().filter(|piece| piece.holder != to) {
                let extent = Extent::of(&self.grid, &piece.elements);
                let from = piece.holder;
                let part = Part {
                    page,
                    elements: piece.elements,
                    holder: from,
                };
                let mut transfer = Transfer {
                    from,
                    to,
                    extent,
                    pages: Vec::new(),
                    piece: Some(part),
                    passing: false,
                };
                if !is_direct(links, from, to) {
                    plan.push(Transfer {
                        to: Domain::HOST,
                        passing: true,
                        ..transfer.clone()
                    });
                    transfer.from = Domain::HOST;
                }
                plan.push(transfer);
            }
        }
        plan
    }

    fn push_copies(&self, plan: &mut Vec<Transfer>, from: Domain, to: Domain, pages: &PageSet) {
        let copies = copies(&self.grid, pages).into_iter();
        plan.extend(copies.map(|(extent, pages)| Transfer {
            from,
            to,
            extent,
            pages,
            piece: None,
            passing: false,
        }));
    }
}

/// Whether a copy can go without the host between.
fn is_direct(links: &dyn Links, from: Domain, to: Domain) -> bool {
    from == Domain::HOST || to == Domain::HOST || links.cost(from, to).is_some()
}

/// A set of pages as copies, with the page boxes that each brings.
fn copies(grid: &Grid, pages: &PageSet) -> Vec<(Extent, Vec<Cuboid>)> {
    const ORDERS: [[usize; 3]; 6] = [
        [2, 1, 0],
        [1, 2, 0],
        [2, 0, 1],
        [0, 2, 1],
        [1, 0, 2],
        [0, 1, 2],
    ];
    let units: Vec<Cuboid> = pages.iter().map(|page| grid.page_box(page)).collect();
    let tried = if grid.is_slab() || units.len() > FEW_PAGES {
        1
    } else {
        ORDERS.len()
    };
    let ways = ORDERS[..tried].iter().map(|order| {
        let boxes = order
            .iter()
            .fold(units.clone(), |boxes, &axis| merge_along(boxes, axis));
        fuse(grid, boxes)
    });
    ways.min_by_key(Vec::len).unwrap_or_default()
}

/// Merges neighbours along one axis that are alike on the others.
fn merge_along(mut boxes: Vec<Cuboid>, axis: usize) -> Vec<Cuboid> {
    let others = [(axis + 1) % 3, (axis + 2) % 3];
    boxes.sort_unstable_by_key(|b| {
        (
            others.map(|other| (b.lower[other], b.upper[other])),
            b.lower[axis],
        )
    });
    boxes.dedup_by(|next, kept| kept.merged(next).map(|both| *kept = both).is_some());
    boxes
}

/// Boxes as copies; runs of memory that follow each other become one.
fn fuse(grid: &Grid, boxes: Vec<Cuboid>) -> Vec<(Extent, Vec<Cuboid>)> {
    let mut runs = Vec::new();
    let mut copies = Vec::new();
    for pages in boxes {
        match Extent::of(grid, &grid.elements(&pages)) {
            Extent::Run { offset, bytes } => runs.push((offset, bytes, vec![pages])),
            region @ Extent::Region { .. } => copies.push((region, vec![pages])),
        }
    }
    runs.sort_unstable_by_key(|(offset, ..)| *offset);
    runs.dedup_by(|(offset, bytes, pages), (first, length, kept)| {
        let follows = *first + *length == *offset;
        if follows {
            *length += *bytes;
            kept.append(pages);
        }
        follows
    });
    copies.extend(
        runs.into_iter()
            .map(|(offset, bytes, pages)| (Extent::Run { offset, bytes }, pages)),
    );
    copies
}
