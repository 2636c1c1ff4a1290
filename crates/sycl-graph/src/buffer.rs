//! The state of one buffer: which pages were written, where they are valid, and their last uses.

use crate::part::Piece;
use crate::{Access, Cuboid, Dep, Deps, Domain, Front, Grid, Mode, PageSet, Transfer};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::collections::HashMap;

/// The part of the buffer that a domain holds.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    /// Pages whose written content is here.
    pub(crate) valid: PageSet,
    /// Copies that bring pages here and may still run.
    arriving: Front,
}

/// The known result of submitted work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It may still succeed or fail.
    Open,
    /// It has ended well.
    Ended,
    /// It did not run, or is not known to have run.
    Failed,
}

/// One buffer's pages, the memories that hold their content, and the work on them. See the crate's documentation for
/// the order of calls.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub(crate) grid: Grid,
    pub(crate) written: PageSet,
    pub(crate) holdings: Vec<Option<Holding>>,
    /// Pages that are valid nowhere because they were written in part, with the parts by page number. Parts that were lost
    /// are not among them.
    pub(crate) pieces: BTreeMap<usize, Vec<Piece>>,
    front: Front,
    /// The last work of each lane that uses the buffer, and pending commands: all that may still run after a failure. And at
    /// how many the next look is due.
    past: Deps,
    past_tidy_at: usize,
    poisoned: Option<PageSet>,
    /// Copies that are not known to have succeeded, in commit order, and the number at which they are next checked.
    copies: Vec<(Transfer, Dep)>,
    copies_tidy_at: usize,
    /// Pending commands added to the fronts since finished work was last dropped, and the number at which they are next
    /// checked.
    pending: usize,
    tidy_at: usize,
}

/// The first check drops ended pending commands at this number.
const FEW_PENDING: usize = 64;
/// The same for copies; each has the boxes of its pages.
const FEW_COPIES: usize = 8;

impl Buffer {
    /// A buffer without contents: its pages need no copies.
    pub fn new(grid: Grid) -> Self {
        let written = PageSet::none(&grid);
        Self {
            grid,
            written,
            holdings: Vec::new(),
            pieces: BTreeMap::new(),
            front: Front::default(),
            past: Deps::default(),
            past_tidy_at: FEW_PENDING,
            poisoned: None,
            copies: Vec::new(),
            copies_tidy_at: FEW_COPIES,
            pending: 0,
            tidy_at: FEW_PENDING,
        }
    }

    /// Its grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Sets the whole content to be in `domain` only: initial data, or memory of the user.
    pub fn adopt(&mut self, domain: Domain) {
        let all = self.grid.whole_pages();
        self.overwrite(domain, &all);
    }

    /// Sets `domain` to hold the whole content too: memory of the user, several with the same content.
    pub fn adopt_copy(&mut self, domain: Domain) {
        if self.written.is_empty() {
            return self.adopt(domain);
        }
        let all = self.grid.whole_pages();
        let grid = self.grid;
        holding_mut(&mut self.holdings, &grid, domain)
            .valid
            .insert_box(&grid, &all);
    }

    /// Whether a page's written content is in `domain`; `false` for a page in pieces.
    pub fn is_valid(&self, domain: Domain, page: usize) -> bool {
        self.holding(domain)
            .is_some_and(|holding| holding.valid.contains(page))
    }

    /// Whether some accessor that writes, or the constructor, has covered a part of the page.
    pub fn is_written(&self, page: usize) -> bool {
        self.written.contains(page)
    }

    /// Adds the work that `accesses` of one command group on `domain` must follow, copies into it included.
    pub fn dependencies(&self, domain: Domain, accesses: &[Access], deps: &mut Deps) {
        for access in accesses {
            let pages = self.grid.page_range(&access.elements);
            self.front
                .collect(&self.grid, &pages, access.mode.writes(), deps);
            if let Some(holding) = self.holding(domain) {
                holding.arriving.collect(&self.grid, &pages, true, deps);
            }
        }
    }

    /// Adds the work that a copy must follow: the pages' last writers and the copies that bring them to its source.
    ///
    /// Readers at the target came before the writer that made its pages outdated; only a piece on its way through the
    /// host passes where another one may still be read.
    pub fn transfer_dependencies(&self, transfer: &Transfer, deps: &mut Deps) {
        for (pages, overwrites) in transfer.page_boxes(&self.grid) {
            self.front.collect(&self.grid, &pages, overwrites, deps);
            for domain in [transfer.from, transfer.to] {
                if let Some(holding) = self.holding(domain) {
                    holding.arriving.collect(&self.grid, &pages, true, deps);
                }
            }
        }
    }

    /// Records that a planned copy was submitted as `dep`: its pages count as valid at the target from now on, and
    /// later uses of them there follow `dep`. If it fails, [`Self::roll_back`] undoes this.
    pub fn commit_transfer(&mut self, transfer: Transfer, dep: Dep) {
        self.pending += usize::from(dep.is_pending());
        self.past.add(dep);
        let grid = self.grid;
        let target = holding_mut(&mut self.holdings, &grid, transfer.to);
        for (pages, _) in transfer.page_boxes(&grid) {
            self.front.read(&grid, &pages, dep);
            target.arriving.read(&grid, &pages, dep);
        }
        for pages in &transfer.pages {
            target.valid.insert_box(&grid, pages);
        }
        for part in transfer.parts.iter().filter(|_| !transfer.passing) {
            let Some(pieces) = self.pieces.get_mut(&part.page) else {
                continue;
            };
            let brought = |piece: &&mut Piece| part.elements.contains(&piece.elements);
            let brought = pieces.iter_mut().filter(brought);
            brought.for_each(|piece| piece.holder = transfer.to);
            if pieces.iter().all(|piece| piece.holder == transfer.to) {
                self.pieces.remove(&part.page);
                target.valid.insert(part.page);
            }
        }
        self.copies.push((transfer, dep));
    }

    /// Rolls back failed work: contents that failed copies should have brought are no longer valid at the target. Pages
    /// that no domain holds then, and pages whose last writer failed, are poisoned. Returns whether there are any.
    /// Drops work that is no longer open.
    ///
    /// Work that follows failed work has to fail by itself, now or later; it is not rolled back with it. If work failed, calls
    /// [`Self::follow_past`] with `running`.
    pub fn roll_back(
        &mut self,
        mut fate: impl FnMut(Dep) -> Fate,
        running: impl FnOnce(&Deps) -> Deps,
    ) -> bool {
        let grid = self.grid;
        let mut lost = PageSet::none(&grid);
        let mut any = false;
        // Each is checked once: a failure during this call is rolled back as a whole by the next one.
        let mut known = HashMap::new();
        let mut fate = |dep: Dep| {
            let fate = *known.entry(dep).or_insert_with(|| fate(dep));
            any |= fate == Fate::Failed;
            fate
        };
        let failed = |writer| fate(writer) == Fate::Failed;
        self.front.add_written(&grid, failed, &mut lost);
        self.take_copies_back(|_, dep| fate(dep), &mut lost);
        self.retain(|dep| fate(dep) == Fate::Open);
        if any {
            self.follow_past(running);
        }
        self.poison_pages(lost)
    }

    /// Rolls back the copies that failed by the given rule; adds pages that no domain holds then. Drops copies that are no
    /// longer open.
    fn take_copies_back(
        &mut self,
        mut fate: impl FnMut(&Transfer, Dep) -> Fate,
        lost: &mut PageSet,
    ) {
        let grid = self.grid;
        // The newest first, because it may have split pieces that an earlier one had merged.
        let mut newer = Vec::new();
        while let Some((transfer, dep)) = self.copies.pop() {
            match fate(&transfer, dep) {
                Fate::Open => newer.push((transfer, dep)),
                Fate::Ended => {}
                // Its contents went with that memory.
                Fate::Failed if transfer.given_up => {}
                Fate::Failed => {
                    self.revoke(&transfer, lost);
                    let others = self.copies.iter_mut().chain(&mut newer);
                    others.for_each(|(other, _)| other.bar_way_back(&transfer, &grid));
                }
            }
        }
        newer.reverse();
        self.copies = newer;
    }

    /// After a failure the pages name the failed work only, but earlier work may still run. From now on writers of any page
    /// follow all work on the buffer that may still run by `running`.
    pub fn follow_past(&mut self, running: impl FnOnce(&Deps) -> Deps) {
        let all = self.grid.whole_pages();
        for dep in running(&self.past).iter() {
            self.front.read(&self.grid, &all, dep);
        }
    }

    /// Copies that are not known to have ended, in commit order.
    pub fn copies_under_way(&self) -> impl Iterator<Item = Dep> + '_ {
        self.copies.iter().map(|(_, copy)| *copy)
    }

    /// A domain's memory has lost its contents. Pages that no other domain holds are poisoned; returns whether there
    /// are any. Unfinished copies to and from it are in doubt, and so are copies that passed their contents on.
    pub fn lose(&mut self, domain: Domain) -> bool {
        let grid = self.grid;
        let mut lost = PageSet::none(&grid);
        let mut doubted = self.doubted_copies(domain);
        // First, so that pieces that a copy took from elsewhere go back there. The newest first.
        let fate = |_: &Transfer, _| match doubted.pop() {
            Some(true) => Fate::Failed,
            Some(false) | None => Fate::Open,
        };
        self.take_copies_back(fate, &mut lost);
        if let Some(holding) = self
            .holdings
            .get_mut(domain.number())
            .and_then(Option::as_mut)
        {
            lost.unite(&holding.valid);
            holding.valid = PageSet::none(&grid);
        }
        for holding in self.holdings.iter().flatten() {
            lost.subtract(&holding.valid);
        }
        self.pieces.retain(|&page, pieces| {
            let before = pieces.len();
            pieces.retain(|piece| piece.holder != domain);
            if pieces.len() < before {
                lost.insert(page);
            }
            !pieces.is_empty()
        });
        self.bar_ways_back(domain);
        self.poison_pages(lost)
    }

    /// For each copy, in the order of their commits, whether its contents are in doubt when a domain's memory is lost.
    fn doubted_copies(&self, lost: Domain) -> Vec<bool> {
        let mut doubted: Vec<&Transfer> = Vec::new();
        let copies = self.copies.iter().map(|(copy, _)| copy);
        let is_doubted = copies.map(|copy| {
            let mut before = doubted.iter();
            let takes_one = before.any(|other| copy.takes_from(other, &self.grid));
            let is_doubted = copy.uses(lost) || takes_one;
            doubted.extend(is_doubted.then_some(copy));
            is_doubted
        });
        is_doubted.collect()
    }

    /// Pieces that copies took from a domain do not go back there.
    fn bar_ways_back(&mut self, domain: Domain) {
        let copies = self.copies.iter_mut();
        let parts = copies.flat_map(|(transfer, _)| &mut transfer.parts);
        parts
            .filter(|part| part.holder == domain)
            .for_each(|part| part.gone = true);
    }

    /// Whether there are such.
    fn poison_pages(&mut self, lost: PageSet) -> bool {
        if lost.is_empty() {
            return false;
        }
        match &mut self.poisoned {
            Some(poisoned) => poisoned.unite(&lost),
            None => self.poisoned = Some(lost),
        }
        true
    }

    /// Undoes the commit of a copy; adds pages that no domain holds then.
    fn revoke(&mut self, transfer: &Transfer, all_lost: &mut PageSet) {
        let grid = self.grid;
        let mut lost = PageSet::none(&grid);
        let target = self.holdings.get_mut(transfer.to.number());
        let Some(target) = target.and_then(Option::as_mut) else {
            return;
        };
        for pages in &transfer.pages {
            lost.insert_box(&grid, pages);
        }
        lost.intersect(&target.valid);
        target.valid.subtract(&lost);
        let parts = transfer.parts.iter().filter(|_| !transfer.passing);
        for part in parts.clone() {
            // All parts had come: they are valid where they were merged, until each one that did not come is undone.
            let target = holding_mut(&mut self.holdings, &grid, transfer.to);
            if target.valid.contains(part.page) {
                // Elsewhere it is by copies that follow this one.
                let everywhere = self.holdings.iter_mut().flatten();
                everywhere.for_each(|holding| holding.valid.remove(part.page));
                let all = Piece {
                    elements: grid.elements(&grid.page_box(part.page)),
                    holder: transfer.to,
                };
                self.pieces.insert(part.page, vec![all]);
            }
            if let Some(pieces) = self.pieces.get_mut(&part.page) {
                *pieces = pieces
                    .iter()
                    .flat_map(|piece| part.taken_from(piece, transfer.to))
                    .collect();
            }
        }
        for holding in self.holdings.iter().flatten() {
            lost.subtract(&holding.valid);
        }
        parts
            .filter(|part| self.pieces.contains_key(&part.page) && part.gone)
            .for_each(|part| lost.insert(part.page));
        // It may have begun to write: a piece that an earlier copy left there when it was undone is no longer intact.
        for (&page, pieces) in &self.pieces {
            let mut there = pieces.iter().filter(|piece| piece.holder == transfer.to);
            if there.any(|piece| transfer.overlaps(&grid, page, &piece.elements)) {
                lost.insert(page);
            }
        }
        all_lost.unite(&lost);
        self.pieces.retain(|_, pieces| !pieces.is_empty());
    }

    /// Records that a command group with these accesses was submitted on `domain` as `dep`: pages that it writes become
    /// outdated everywhere else, and later work follows it.
    pub fn commit_accesses(&mut self, domain: Domain, accesses: &[Access], dep: Dep) {
        self.pending += usize::from(dep.is_pending());
        self.past.add(dep);
        for access in accesses.iter().filter(|access| access.mode.writes()) {
            if access.mode.needs_content() {
                let pages = self.grid.page_range(&access.elements);
                self.overwrite(domain, &pages);
            } else {
                let content = accesses.iter().filter(|access| access.mode.needs_content());
                let content: SmallVec<[Cuboid; 2]> = content
                    .map(|access| self.grid.page_range(&access.elements))
                    .collect();
                self.overwrite_without_reading(domain, &access.elements, &content);
            }
        }
        // Writers last: a group that reads and writes a page is its writer to others.
        for writes in [false, true] {
            for access in accesses
                .iter()
                .filter(|access| access.mode.writes() == writes)
            {
                let pages = self.grid.page_range(&access.elements);
                if writes {
                    self.front.write(&self.grid, &pages, Some(dep));
                } else {
                    self.front.read(&self.grid, &pages, dep);
                }
            }
        }
    }

    /// Drops a domain's allocation. Pages that are valid only there must have been copied away
    /// ([`Buffer::plan_release`]).
    pub fn release(&mut self, domain: Domain) {
        if let Some(holding) = self.holdings.get_mut(domain.number()) {
            *holding = None;
        }
        // The domain's next memory starts empty: copies have brought nothing there, and copies that are undone give nothing
        // back.
        let copies = self.copies.iter_mut().map(|(transfer, _)| transfer);
        copies
            .filter(|transfer| transfer.to == domain)
            .for_each(|transfer| transfer.given_up = true);
        self.bar_ways_back(domain);
    }

    /// Marks the pages that `accesses` write as lost: the work that should have written it failed.
    pub fn poison(&mut self, accesses: &[Access]) {
        for access in accesses.iter().filter(|access| access.mode.writes()) {
            let pages = self.grid.page_range(&access.elements);
            let grid = &self.grid;
            self.poisoned
                .get_or_insert_with(|| PageSet::none(grid))
                .insert_box(grid, &pages);
        }
    }

    /// Whether an access would use content that was lost.
    pub fn is_poisoned(&self, access: &Access) -> bool {
        let Some(poisoned) = self
            .poisoned
            .as_ref()
            .filter(|_| access.mode.needs_content())
        else {
            return false;
        };
        let pages = self.grid.page_range(&access.elements);
        poisoned
            .iter()
            .any(|page| pages.contains(&self.grid.page_box(page)))
    }

    /// Marks lost pages as valid.
    pub fn clear_poison(&mut self) {
        self.poisoned = None;
    }

    /// Drops finished work from the fronts.
    fn retain(&mut self, mut unfinished: impl FnMut(Dep) -> bool) {
        self.front.retain(&mut unfinished);
        self.holdings
            .iter_mut()
            .flatten()
            .for_each(|holding| holding.arriving.retain(&mut unfinished));
    }

    /// Drops finished work when enough has come. Unlike work on lanes, pending commands and copies are kept one by one, and
    /// readers may come forever. `open` holds for work that has not ended well: failures wait for [`Self::roll_back`].
    pub fn tidy(&mut self, mut open: impl FnMut(Dep) -> bool) {
        if self.copies.len() >= self.copies_tidy_at {
            self.copies.retain(|(_, dep)| open(*dep));
            self.copies_tidy_at = FEW_COPIES.max(2 * self.copies.len());
        }
        if self.past.len() >= self.past_tidy_at {
            self.past.retain(&mut open);
            self.past_tidy_at = FEW_PENDING.max(2 * self.past.len());
        }
        if self.pending < self.tidy_at {
            return;
        }
        self.retain(open);
        let holdings = self.holdings.iter().flatten();
        let arriving: usize = holdings.map(|holding| holding.arriving.pending()).sum();
        self.pending = 0;
        self.tidy_at = FEW_PENDING.max(self.front.pending() + arriving);
    }

    /// Adds all unfinished work on the buffer, including readers and copies, because its end has to wait for that.
    pub fn last_use(&self, deps: &mut Deps) {
        let all = self.grid.whole_pages();
        self.front.collect(&self.grid, &all, true, deps);
        self.holdings
            .iter()
            .flatten()
            .for_each(|holding| holding.arriving.collect(&self.grid, &all, true, deps));
    }

    /// Whether nothing that accesses on `domain` need can be missing there; exact but for "no".
    pub(crate) fn is_whole_on(&self, domain: Domain) -> bool {
        self.written.is_empty()
            || self.pieces.is_empty()
                && self
                    .holding(domain)
                    .is_some_and(|holding| holding.valid.is_full())
    }

    pub(crate) fn holding(&self, domain: Domain) -> Option<&Holding> {
        self.holdings.get(domain.number())?.as_ref()
    }

    /// The pages' whole content is now on `domain` alone.
    fn overwrite(&mut self, domain: Domain, pages: &Cuboid) {
        if pages.is_empty() {
            return;
        }
        let grid = self.grid;
        for (number, holding) in self.holdings.iter_mut().enumerate() {
            if let Some(holding) = holding.as_mut().filter(|_| number != domain.number()) {
                holding.valid.remove_box(&grid, pages);
            }
        }
        let holding = holding_mut(&mut self.holdings, &grid, domain);
        holding.valid.insert_box(&grid, pages);
        holding.arriving.write(&grid, pages, None);
        self.written.insert_box(&grid, pages);
        // A writer follows the copies and fails with them, so it may overwrite the pages they brought.
        if !self.copies.is_empty() {
            self.copies
                .retain_mut(|(transfer, _)| transfer.leave(&grid, pages));
        }
        if !self.pieces.is_empty() {
            self.pieces
                .retain(|&page, _| !pages.contains(&grid.page_box(page)));
        }
    }

    /// A `no_init` access: pages that it covers, or whose content was copied for another accessor, are complete; the
    /// others keep their rest where it is.
    fn overwrite_without_reading(&mut self, domain: Domain, elements: &Cuboid, content: &[Cuboid]) {
        let pages = self.grid.page_range(elements);
        if pages.is_empty() {
            return;
        }
        let covered = self.grid.pages_inside(elements);
        self.overwrite(domain, &covered);
        if let Some(poisoned) = self.poisoned.as_mut().filter(|_| !covered.is_empty()) {
            poisoned.remove_box(&self.grid, &covered);
        }
        for part in pages.without(&covered) {
            for x in part.lower[0]..part.upper[0] {
                for y in part.lower[1]..part.upper[1] {
                    for z in part.lower[2]..part.upper[2] {
                        self.overwrite_part(
                            domain,
                            self.grid.page_number([x, y, z]),
                            elements,
                            content,
                        );
                    }
                }
            }
        }
    }

    fn overwrite_part(
        &mut self,
        domain: Domain,
        page: usize,
        elements: &Cuboid,
        content: &[Cuboid],
    ) {
        let place = self.grid.page_box(page);
        let holder = (0..self.holdings.len())
            .filter_map(Domain::new)
            .find(|&holder| self.is_valid(holder, page));
        let whole_here =
            self.is_valid(domain, page) || content.iter().any(|pages| pages.contains(&place));
        if whole_here || !self.written.contains(page) {
            return self.overwrite(domain, &place);
        }
        let all = self.grid.elements(&place);
        let fresh = elements.intersection(&all);
        let before = self.pieces.remove(&page);
        let before = before.or_else(|| {
            holder.map(|holder| {
                vec![Piece {
                    elements: all,
                    holder,
                }]
            })
        });
        let mut now: Vec<Piece> = before
            .unwrap_or_default()
            .iter()
            .flat_map(|piece| {
                let holder = piece.holder;
                piece
                    .elements
                    .without(&fresh)
                    .map(move |elements| Piece { elements, holder })
            })
            .collect();
        let mut added = Piece {
            elements: fresh,
            holder: domain,
        };
        while let Some((index, both)) = now.iter().enumerate().find_map(|(index, piece)| {
            Some(index)
                .zip(piece.elements.merged(&added.elements))
                .filter(|_| piece.holder == domain)
        }) {
            now.swap_remove(index);
            added.elements = both;
        }
        now.push(added);
        if now.iter().all(|piece| piece.holder == domain) {
            return self.overwrite(domain, &place);
        }
        for holding in self.holdings.iter_mut().flatten() {
            holding.valid.remove(page);
        }
        holding_mut(&mut self.holdings, &self.grid, domain);
        self.pieces.insert(page, now);
    }
}

/// The part that a domain holds; empty at first.
fn holding_mut<'a>(
    holdings: &'a mut Vec<Option<Holding>>,
    grid: &Grid,
    domain: Domain,
) -> &'a mut Holding {
    if holdings.len() <= domain.number() {
        holdings.resize_with(domain.number() + 1, || None);
    }
    holdings[domain.number()].get_or_insert_with(|| Holding {
        valid: PageSet::none(grid),
        arriving: Front::default(),
    })
}

impl Access {
    /// Every element, in one mode.
    pub fn whole(grid: &Grid, mode: Mode) -> Self {
        Self {
            mode,
            elements: grid.whole(),
        }
    }
}
