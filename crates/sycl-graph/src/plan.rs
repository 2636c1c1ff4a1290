//! Which copies bring a command group's pages to its domain: the fewest pages, then the fewest copies.

use crate::pages::{Cuts, cuts};
use crate::part::Part;
use crate::tiling::Tiling;
use crate::{Access, Buffer, Cuboid, Domain, Extent, Grid, PageSet, Transfer};
use smallvec::{SmallVec, smallvec};
use std::cell::LazyCell;
use std::cmp::Reverse;

/// How copies can go between domains.
pub trait Links {
    /// The cost of a direct copy, lower is better; `None` if there is no direct link and the copy goes through the
    /// host. Called only for two different domains; copies to and from the host are always possible.
    fn cost(&self, from: Domain, to: Domain) -> Option<u32>;
}

/// Above this many pages only one way of putting them together is tried.
const FEW_PAGES: usize = 4096;
/// With this many copies better plans are searched only if they may be far better: the search would take longer than it
/// saves.
const MANY_COPIES: usize = 16;

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

    /// The copies to the host that keep a domain's content when its allocation is released.
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
        let mut missing = needed;
        missing.intersect(&self.written);
        if let Some(holding) = self.holding(to) {
            missing.subtract(&holding.valid);
        }
        let mut parts = Vec::new();
        for (&page, pieces) in &self.pieces {
            if missing.contains(page) {
                missing.remove(page);
                let away = pieces.iter().filter(|piece| piece.holder != to);
                parts.extend(away.map(|piece| Part {
                    page,
                    elements: piece.elements,
                    holder: piece.holder,
                    gone: false,
                }));
            }
        }
        let (mut sources, mut behind) = (Vec::new(), Vec::new());
        let holders = parts.iter().map(|part| part.holder.number() + 1).max();
        let domains = self.holdings.len().max(holders.unwrap_or(0));
        for from in (0..domains)
            .filter_map(Domain::new)
            .filter(|&from| from != to)
        {
            let valid = self.holding(from).map(|holding| holding.valid.clone());
            let mut pages = valid.unwrap_or_else(|| PageSet::none(&self.grid));
            pages.intersect(&missing);
            let source = Source {
                cost: cost(links, from, to),
                from,
                pages,
            };
            match is_direct(links, from, to) {
                true => sources.push(source),
                false => behind.push(source),
            }
        }
        let has_all = |missing: &PageSet, source: &Source| source.pages.count() == missing.count();
        let all = sources.iter().chain(&behind);
        if !all.clone().any(|source| has_all(&missing, source)) {
            // Lost contents cannot come from anywhere.
            let mut held = PageSet::none(&self.grid);
            all.for_each(|source| held.unite(&source.pages));
            missing.intersect(&held);
        }
        // Pages without a direct link are collected on the host and continue from there, with pages that are there
        // already.
        let mut staged = PageSet::none(&self.grid);
        if !sources.iter().any(|source| has_all(&missing, source)) {
            staged.unite(&missing);
            sources
                .iter()
                .for_each(|source| staged.subtract(&source.pages));
        }
        behind
            .iter_mut()
            .for_each(|source| source.pages.intersect(&staged));
        let mut passing = parts.clone();
        passing.retain(|part| !is_direct(links, part.holder, to));
        let mut plan = Vec::new();
        if !staged.is_empty() || !passing.is_empty() {
            let parts: Vec<_> = passing.iter().map(|part| (*part, part.holder)).collect();
            self.push_copies(&mut plan, Domain::HOST, &staged, &parts, &behind);
            plan.iter_mut().for_each(|transfer| transfer.passing = true);
            match sources
                .iter_mut()
                .find(|source| source.from == Domain::HOST)
            {
                Some(host) => host.pages.unite(&staged),
                None => sources.push(Source {
                    cost: cost(links, Domain::HOST, to),
                    from: Domain::HOST,
                    pages: staged,
                }),
            }
        }
        let from = |part: &Part| match is_direct(links, part.holder, to) {
            true => part.holder,
            false => Domain::HOST,
        };
        let parts: Vec<_> = parts.iter().map(|part| (*part, from(part))).collect();
        self.push_copies(&mut plan, to, &missing, &parts, &sources);
        plan
    }

    /// Adds the copies that bring pages to a domain, each from one of `sources`, and parts of others, each from its own.
    fn push_copies(
        &self,
        plan: &mut Vec<Transfer>,
        to: Domain,
        pages: &PageSet,
        parts: &[(Part, Domain)],
        sources: &[Source],
    ) {
        let whole = sources
            .iter()
            .filter(|source| source.pages.count() == pages.count());
        let whole = whole
            .min_by_key(|source| (source.cost, source.from))
            .filter(|_| parts.is_empty());
        let mut able: SmallVec<[&Source; 4]> = match whole {
            Some(source) => smallvec![source],
            None => sources.iter().collect(),
        };
        able.retain(|source| !source.pages.is_empty());
        able.sort_unstable_by_key(|source| (source.cost, source.from));
        let planes = LazyCell::new(|| self.planes(pages, &able));
        let loads = match whole {
            Some(source) => vec![Load {
                from: source.from,
                boxes: match pages.as_box(&self.grid) {
                    Some(all) => vec![self.grid.elements(&all)],
                    None => self.cells(pages, &planes),
                },
                parts: Vec::new(),
            }],
            _ if self.grid.is_slab() => self.farthest_first(pages, parts, sources),
            _ => self.most_first(pages, parts, sources),
        };
        let tiling = LazyCell::new(|| self.tiling(pages, &able, &planes));
        let enough = || match (&*tiling, whole) {
            (Some(tiling), Some(_)) => tiling.at_least(),
            _ => 1,
        };
        let put_together = |load: Load| {
            let copies = copies(&self.grid, load.boxes, load.parts.is_empty(), enough);
            (load.from, load.parts, copies)
        };
        let mut ways: Vec<_> = loads.into_iter().map(put_together).collect();
        let count = ways.iter().map(|(.., copies)| copies.len()).sum();
        // Parts may be adjacent to pages in any way, so that a search among pages would split some. One copy stays one,
        // so that of two none can be saved.
        if parts.is_empty()
            && count > 2
            && !is_each_alone(&able, count)
            && let Some(tiling) = &*tiling
            && let Some(better) = self.fewer_copies(tiling, &able, count)
        {
            let with_parts = |(from, copies)| (from, Vec::new(), copies);
            ways = better.into_iter().map(with_parts).collect();
        }
        for (from, parts, copies) in ways {
            for (extent, boxes) in copies {
                let inside =
                    |part: &&Part| boxes.iter().any(|place| place.contains(&part.elements));
                let parts: Vec<Part> = parts.iter().filter(inside).copied().collect();
                let mut pages: Vec<Cuboid> = boxes
                    .iter()
                    .map(|place| self.grid.pages_inside(place))
                    .collect();
                for part in &parts {
                    let page = self.grid.page_box(part.page);
                    pages = pages
                        .iter()
                        .flat_map(|pages| pages.without(&page))
                        .collect();
                }
                pages.retain(|pages| !pages.is_empty());
                plan.push(Transfer {
                    from,
                    to,
                    extent,
                    pages,
                    parts,
                    passing: false,
                    given_up: false,
                });
            }
        }
    }

    /// Pages as a small number of cells, if a search among them is worthwhile.
    fn tiling(
        &self,
        pages: &PageSet,
        sources: &[&Source],
        planes: &LazyCell<Cuts, impl FnOnce() -> Cuts>,
    ) -> Option<Tiling> {
        if self.grid.is_slab() || self.grid.page_count() > FEW_PAGES {
            return None;
        }
        let held: SmallVec<[&PageSet; 4]> = sources.iter().map(|source| &source.pages).collect();
        Tiling::new(&self.grid, pages, &held, planes)
    }

    /// Where pages differ, or differ for some source.
    fn planes(&self, pages: &PageSet, sources: &[&Source]) -> Cuts {
        let held = sources.iter().map(|source| &source.pages);
        let sets: SmallVec<[&PageSet; 4]> =
            held.filter(|held| *held != pages).chain([pages]).collect();
        cuts(&self.grid, &sets)
    }

    fn cells(&self, pages: &PageSet, planes: &Cuts) -> Vec<Cuboid> {
        let cells = pages.cells(&self.grid, planes).into_iter();
        cells.map(|pages| self.grid.elements(&pages)).collect()
    }

    /// Fewer than this many copies that bring these pages, each from one of `sources`, if there are any and the search
    /// costs no more than they save. Never more than one and a half times the minimum, if a bounded number of steps can
    /// prove that.
    fn fewer_copies(
        &self,
        tiling: &Tiling,
        sources: &[&Source],
        count: usize,
    ) -> Option<Vec<(Domain, Copies)>> {
        let least = tiling.at_least();
        let is_far = |count: usize| count * 2 > least * 3;
        let mut best = None;
        if is_far(count) || count > least && count < MANY_COPIES {
            best = tiling.fewer_than(count);
        }
        let count = best.as_ref().map_or(count, Vec::len);
        if is_far(count) {
            best = tiling.fewest(least..(count * 2).div_ceil(3)).or(best);
        }
        let copies = |(source, boxes): (usize, Vec<Cuboid>)| {
            let boxes = boxes.iter().map(|pages| self.grid.elements(pages));
            (sources[source].from, fuse(&self.grid, boxes.collect()))
        };
        Some(best?.into_iter().map(copies).collect())
    }

    /// Whole pages as boxes of elements: one for each page if parts of pages may be adjacent to some of them, else as
    /// few as possible.
    fn boxes(&self, pages: &PageSet, beside_parts: bool) -> Vec<Cuboid> {
        if !beside_parts {
            return self.cells(pages, &cuts(&self.grid, &[pages]));
        }
        let boxes = pages.iter().map(|page| self.grid.page_box(page));
        boxes.map(|pages| self.grid.elements(&pages)).collect()
    }

    /// Assigns pages on a line to sources. From each position the source with the longest run without a gap is taken,
    /// which gives the fewest copies.
    fn farthest_first(
        &self,
        pages: &PageSet,
        parts: &[(Part, Domain)],
        sources: &[Source],
    ) -> Vec<Load> {
        // Boxes of elements in the order of memory, with a bit for each source that has them.
        let mut units: Vec<(Cuboid, Option<Part>, u64)> = Vec::new();
        for page in pages.iter() {
            let bits = sources
                .iter()
                .enumerate()
                .map(|(bit, source)| u64::from(source.pages.contains(page)) << bit);
            units.push((
                self.grid.elements(&self.grid.page_box(page)),
                None,
                bits.sum(),
            ));
        }
        for (part, from) in parts {
            let bit = sources.iter().position(|source| source.from == *from);
            units.push((part.elements, Some(*part), bit.map_or(0, |bit| 1 << bit)));
        }
        if !parts.is_empty() {
            units.sort_unstable_by_key(|(place, ..)| place.lower);
        }
        let mut loads: Vec<Load> = Vec::new();
        let mut at = 0;
        while let Some(&(mut last, _, mut able)) = units.get(at) {
            let mut end = at + 1;
            while let Some((next, _, bits)) = units.get(end)
                && able & bits != 0
                && (self.grid.follows_in_memory(&last, next) || last.merged(next).is_some())
            {
                (last, able, end) = (*next, able & bits, end + 1);
            }
            let able = sources
                .iter()
                .enumerate()
                .filter(|(bit, _)| able >> bit & 1 == 1);
            // A written page is valid somewhere or in pieces; if that were broken, nothing could be copied.
            if let Some((_, source)) = able.min_by_key(|(_, source)| (source.cost, source.from)) {
                let load = Load::of(&mut loads, source.from);
                load.boxes.extend(units[at..end].iter().map(|unit| unit.0));
                load.parts
                    .extend(units[at..end].iter().filter_map(|unit| unit.1));
            }
            at = end;
        }
        loads
    }

    /// Assigns pages to sources in general: repeatedly the source that has most of the rest.
    fn most_first(
        &self,
        pages: &PageSet,
        parts: &[(Part, Domain)],
        sources: &[Source],
    ) -> Vec<Load> {
        let mut loads: Vec<Load> = Vec::new();
        let mut missing = pages.clone();
        while !missing.is_empty() {
            let best = sources.iter().map(|source| {
                let mut pages = source.pages.clone();
                pages.intersect(&missing);
                (source, pages)
            });
            let best = best
                .min_by_key(|(source, pages)| (Reverse(pages.count()), source.cost, source.from));
            let Some((source, pages)) = best.filter(|(_, pages)| !pages.is_empty()) else {
                break;
            };
            missing.subtract(&pages);
            Load::of(&mut loads, source.from)
                .boxes
                .extend(self.boxes(&pages, !parts.is_empty()));
        }
        for (part, from) in parts {
            let load = Load::of(&mut loads, *from);
            load.boxes.push(part.elements);
            load.parts.push(*part);
        }
        loads
    }
}

/// The extents of copies, each with the boxes of elements that it brings.
type Copies = Vec<(Extent, Vec<Cuboid>)>;

/// A domain that can give pages to another.
struct Source {
    from: Domain,
    cost: u32,
    /// The wanted pages that the domain holds.
    pages: PageSet,
}

/// The pages and parts that a plan takes from one domain.
struct Load {
    from: Domain,
    /// Boxes of elements: whole pages, and parts.
    boxes: Vec<Cuboid>,
    parts: Vec<Part>,
}

impl Load {
    fn of(loads: &mut Vec<Self>, from: Domain) -> &mut Self {
        let known = loads.iter().position(|load| load.from == from);
        let place = known.unwrap_or(loads.len());
        if known.is_none() {
            loads.push(Self {
                from,
                boxes: Vec::new(),
                parts: Vec::new(),
            });
        }
        &mut loads[place]
    }
}

/// Whether this many sources each hold something that no other does: each needs at least one copy.
fn is_each_alone(sources: &[&Source], count: usize) -> bool {
    let alone = |source: &&&Source| {
        let mut pages = source.pages.clone();
        let others = sources.iter().filter(|other| other.from != source.from);
        others.for_each(|other| pages.subtract(&other.pages));
        !pages.is_empty()
    };
    sources.len() >= count && sources.iter().filter(alone).count() == count
}

/// That of a direct copy; the host's is the highest.
fn cost(links: &dyn Links, from: Domain, to: Domain) -> u32 {
    match from == Domain::HOST || to == Domain::HOST {
        true => u32::MAX,
        false => links.cost(from, to).unwrap_or(u32::MAX),
    }
}

/// Whether a copy can go without the host between.
fn is_direct(links: &dyn Links, from: Domain, to: Domain) -> bool {
    from == Domain::HOST || to == Domain::HOST || links.cost(from, to).is_some()
}

/// Boxes of elements as copies, each with the boxes that it brings: the fewest of several ways, or `enough`, which is
/// the minimum. One box, and whole pages on a line, need no search; neither do cells of whole pages that form two.
fn copies(grid: &Grid, units: Vec<Cuboid>, whole: bool, enough: impl FnOnce() -> usize) -> Copies {
    const FIRST: [usize; 3] = [2, 1, 0];
    const OTHERS: [&[usize]; 6] = [
        &[1, 2, 0],
        &[2, 0, 1],
        &[0, 2, 1],
        &[1, 0, 2],
        &[0, 1, 2],
        &[2],
    ];
    let way = |units: Vec<Cuboid>, order: &[usize]| {
        let boxes = order
            .iter()
            .fold(units, |boxes, &axis| merge_along(boxes, axis));
        fuse(grid, boxes)
    };
    if units.len() == 1 || (grid.is_slab() && whole) || units.len() > FEW_PAGES {
        return way(units, &FIRST);
    }
    let mut best = way(units.clone(), &FIRST);
    if whole && best.len() <= 2 {
        return best;
    }
    let enough = enough();
    for order in OTHERS {
        if best.len() <= enough {
            break;
        }
        let other = way(units.clone(), order);
        if other.len() < best.len() {
            best = other;
        }
    }
    best
}

/// Merges neighbours along one axis that are equal on the others.
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
fn fuse(grid: &Grid, boxes: Vec<Cuboid>) -> Copies {
    let mut runs = Vec::new();
    let mut copies = Vec::new();
    for place in boxes {
        match Extent::of(grid, &place) {
            Extent::Run { offset, bytes } => runs.push((offset, bytes, vec![place])),
            region @ Extent::Region { .. } => copies.push((region, vec![place])),
        }
    }
    runs.sort_unstable_by_key(|(offset, ..)| *offset);
    runs.dedup_by(|(offset, bytes, places), (first, length, kept)| {
        let follows = *first + *length == *offset;
        if follows {
            *length += *bytes;
            kept.append(places);
        }
        follows
    });
    copies.extend(
        runs.into_iter()
            .map(|(offset, bytes, places)| (Extent::Run { offset, bytes }, places)),
    );
    copies
}
