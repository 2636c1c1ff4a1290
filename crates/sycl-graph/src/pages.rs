//! Sets of pages as bits, with their count, so that "all" and "none" need no scan.

use crate::{Cuboid, Grid};
use smallvec::{SmallVec, smallvec};

/// Planes between pages by axis, ascending: the first is 0, the last one the axis' end.
pub(crate) type Cuts = [SmallVec<[usize; 8]>; 3];

/// A set of a grid's pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSet {
    words: Vec<u64>,
    count: usize,
    total: usize,
}

impl PageSet {
    /// No page of the grid.
    pub fn none(grid: &Grid) -> Self {
        let total = grid.page_count();
        Self {
            words: vec![0; total.div_ceil(64)],
            count: 0,
            total,
        }
    }

    /// How many pages are in it.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether no page is in it.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether every page is in it.
    pub fn is_full(&self) -> bool {
        self.count == self.total
    }

    /// Whether a page is in it, by number.
    pub fn contains(&self, page: usize) -> bool {
        self.words[page / 64] >> (page % 64) & 1 == 1
    }

    /// Puts a page in, by number.
    pub fn insert(&mut self, page: usize) {
        self.change(page, page + 1, true);
    }

    /// Removes a page, by number.
    pub fn remove(&mut self, page: usize) {
        self.change(page, page + 1, false);
    }

    /// Puts a box of pages in.
    pub fn insert_box(&mut self, grid: &Grid, pages: &Cuboid) {
        self.change_box(grid, pages, true);
    }

    /// Removes a box of pages.
    pub fn remove_box(&mut self, grid: &Grid, pages: &Cuboid) {
        self.change_box(grid, pages, false);
    }

    fn change_box(&mut self, grid: &Grid, pages: &Cuboid, into: bool) {
        if self.count == if into { self.total } else { 0 } {
            return;
        }
        if pages.contains(&grid.whole_pages()) {
            self.fill(into);
            return;
        }
        for (first, end) in runs(grid, pages) {
            self.change(first, end, into);
        }
    }

    fn fill(&mut self, into: bool) {
        self.words.fill(if into { u64::MAX } else { 0 });
        let behind = self.words.len() * 64 - self.total;
        if let Some(last) = self.words.last_mut() {
            // The bits after the last page are in no set.
            *last &= u64::MAX >> behind;
        }
        self.count = if into { self.total } else { 0 };
    }

    fn change(&mut self, first: usize, end: usize, into: bool) {
        for (word, mask) in masks(first, end) {
            let before = self.words[word];
            let after = if into { before | mask } else { before & !mask };
            self.words[word] = after;
            self.count = self.count + after.count_ones() as usize - before.count_ones() as usize;
        }
    }

    /// The box of these pages, if they form one.
    pub(crate) fn as_box(&self, grid: &Grid) -> Option<Cuboid> {
        let first = self.iter().next()?;
        let word = self.words.iter().rposition(|word| *word != 0)?;
        let last = word * 64 + self.words[word].ilog2() as usize;
        // Pages are numbered as memory goes: a box has its corners first and last.
        let pages = Cuboid::new(grid.page_box(first).lower, grid.page_box(last).upper);
        let has = |(word, mask): (usize, u64)| self.words[word] & mask == mask;
        let is_whole = pages.volume() == self.count
            && runs(grid, &pages).all(|(first, end)| masks(first, end).all(has));
        is_whole.then_some(pages)
    }

    /// Intersects with `other`.
    pub fn intersect(&mut self, other: &Self) {
        if self.is_empty() || other.is_full() {
            return;
        }
        self.count = 0;
        for (word, with) in self.words.iter_mut().zip(&other.words) {
            *word &= with;
            self.count += word.count_ones() as usize;
        }
    }

    /// Adds `other`.
    pub fn unite(&mut self, other: &Self) {
        if self.is_full() || other.is_empty() {
            return;
        }
        self.count = 0;
        for (word, with) in self.words.iter_mut().zip(&other.words) {
            *word |= with;
            self.count += word.count_ones() as usize;
        }
    }

    /// Removes `other`.
    pub fn subtract(&mut self, other: &Self) {
        if self.is_empty() || other.is_empty() {
            return;
        }
        self.count = 0;
        for (word, with) in self.words.iter_mut().zip(&other.words) {
            *word &= !with;
            self.count += word.count_ones() as usize;
        }
    }

    /// The pages as boxes: the cells between planes at which some neighbours differ.
    pub(crate) fn cells(&self, grid: &Grid, cuts: &Cuts) -> Vec<Cuboid> {
        let between = |axis: usize| cuts[axis].windows(2).map(|ends| (ends[0], ends[1]));
        let mut cells = Vec::new();
        for x in between(0) {
            for y in between(1) {
                let all = between(2).map(|z| Cuboid::new([x.0, y.0, z.0], [x.1, y.1, z.1]));
                cells.extend(all.filter(|cell| self.contains(grid.page_number(cell.lower))));
            }
        }
        cells
    }

    /// This many bits from one on, at most a word.
    fn bits(&self, first: usize, count: usize) -> u64 {
        let (word, shift) = (first / 64, first % 64);
        let low = self.words[word] >> shift;
        let high = match self.words.get(word + 1) {
            Some(next) if shift > 0 => next << (64 - shift),
            _ => 0,
        };
        (low | high) & (u64::MAX >> (64 - count.clamp(1, 64)))
    }

    /// Whether this many pages from one on equal those from another one on.
    fn is_alike(&self, one: usize, other: usize, count: usize) -> bool {
        let mut parts = (0..count).step_by(64);
        parts.all(|at| self.bits(one + at, count - at) == self.bits(other + at, count - at))
    }

    /// Its pages' numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

/// The planes at which neighbouring pages differ in one of these sets, and the ends.
pub(crate) fn cuts(grid: &Grid, sets: &[&PageSet]) -> Cuts {
    let [planes, rows, row] = grid.pages();
    let mut marks = grid
        .pages()
        .map(|n| -> SmallVec<[u64; 2]> { smallvec![0; n / 64 + 1] });
    let mark = |marks: &mut [u64], at: usize| marks[at / 64] |= 1 << (at % 64);
    for set in sets.iter().filter(|set| !set.is_empty() && !set.is_full()) {
        for line in 0..planes * rows {
            let first = line * row;
            let mut before = 0;
            for (word, at) in (0..row).step_by(64).enumerate() {
                let bits = set.bits(first + at, row - at);
                let inside = u64::MAX >> (64 - (row - at).min(64));
                marks[2][word] |= (bits ^ (bits << 1 | before)) & inside;
                before = bits >> 63;
            }
            let high = line % rows;
            if high > 0 && !set.is_alike(first - row, first, row) {
                mark(&mut marks[1], high);
            }
        }
        let plane = rows * row;
        let unlike = (1..planes).filter(|at| !set.is_alike((at - 1) * plane, at * plane, plane));
        unlike.for_each(|at| mark(&mut marks[0], at));
    }
    let mut axis = 0;
    marks.map(|marks| {
        let end = grid.pages()[axis];
        axis += 1;
        let mut cuts = SmallVec::from_iter([0]);
        for (word, mut left) in marks.into_iter().enumerate() {
            while left != 0 {
                let at = word * 64 + left.trailing_zeros() as usize;
                if at > 0 && at < end {
                    cuts.push(at);
                }
                left &= left - 1;
            }
        }
        cuts.push(end);
        cuts
    })
}

/// The runs of page numbers that form a box of pages, as first and end.
fn runs(grid: &Grid, pages: &Cuboid) -> impl Iterator<Item = (usize, usize)> + use<> {
    let (grid_pages, pages) = (grid.pages(), *pages);
    let number =
        move |page: [usize; 3]| (page[0] * grid_pages[1] + page[1]) * grid_pages[2] + page[2];
    let whole_rows = pages.extent(2) == grid_pages[2];
    let whole_planes = whole_rows && pages.extent(1) == grid_pages[1];
    let (slow, middle) = match (pages.is_empty(), whole_planes, whole_rows) {
        (true, ..) => (0, 0),
        (_, true, _) => (1, 1),
        (_, _, true) => (pages.extent(0), 1),
        _ => (pages.extent(0), pages.extent(1)),
    };
    (0..slow).flat_map(move |i| {
        (0..middle).map(move |j| {
            let first = number([pages.lower[0] + i, pages.lower[1] + j, pages.lower[2]]);
            let length = match (whole_planes, whole_rows) {
                (true, _) => pages.volume(),
                (_, true) => pages.extent(1) * pages.extent(2),
                _ => pages.extent(2),
            };
            (first, first + length)
        })
    })
}

/// The words that contain the bits `first..end`, with their masks.
fn masks(first: usize, end: usize) -> impl Iterator<Item = (usize, u64)> {
    (first / 64..end.div_ceil(64)).map(move |word| {
        let low = first.saturating_sub(word * 64);
        let high = (end - word * 64).min(64);
        (word, (u64::MAX << low) & (u64::MAX >> (64 - high)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_set_of_pages_is_a_set(
            extent in proptest::array::uniform3(1usize..9),
            changes in proptest::collection::vec((any::<bool>(), proptest::array::uniform3((0usize..9, 0usize..9))), 0..12),
        ) {
            let grid = Grid::new(extent, 1, Some([1; 3])).expect("a valid grid");
            let mut set = PageSet::none(&grid);
            let mut model = BTreeSet::new();
            for (into, axes) in changes {
                let asked = Cuboid::new(axes.map(|(a, b)| a.min(b)), axes.map(|(a, b)| a.max(b)));
                let pages = grid.page_range(&asked);
                if into { set.insert_box(&grid, &pages) } else { set.remove_box(&grid, &pages) }
                for number in 0..grid.page_count() {
                    if pages.contains(&grid.page_box(number)) {
                        if into { model.insert(number); } else { model.remove(&number); }
                    }
                }
                prop_assert_eq!(set.iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(set.count(), model.len());
                prop_assert_eq!(set.is_full(), model.len() == grid.page_count());
                let places = model.iter().map(|page| grid.page_box(*page));
                let around = places.reduce(|a, b| Cuboid::new(
                    [0, 1, 2].map(|axis| a.lower[axis].min(b.lower[axis])),
                    [0, 1, 2].map(|axis| a.upper[axis].max(b.upper[axis])),
                ));
                prop_assert_eq!(set.as_box(&grid), around.filter(|around| around.volume() == model.len()));
                let mut of_cells: Vec<usize> = (set.cells(&grid, &cuts(&grid, &[&set])).iter())
                    .flat_map(|cell| (0..grid.page_count()).filter(|n| cell.contains(&grid.page_box(*n))))
                    .collect();
                of_cells.sort_unstable();
                prop_assert_eq!(of_cells, model.iter().copied().collect::<Vec<_>>());
                // Every plane separates something, and rows may be longer than a word.
                let long = Grid::new([2, 2, 64 * extent[2] + 3], 1, Some([1; 3])).expect("a valid grid");
                let mut wide = PageSet::none(&long);
                model.iter().for_each(|page| wide.insert(page * 7 % long.page_count()));
                for (grid, set) in [(&grid, &set), (&long, &wide)] {
                    let pages = grid.pages();
                    let has = |page: [usize; 3]| set.contains(grid.page_number(page));
                    let cuts = cuts(grid, &[set]);
                    for axis in 0..3 {
                        let is_cut = |at: usize| {
                            let mut all = (0..grid.page_count()).map(|n| grid.page_box(n).lower);
                            all.any(|page| page[axis] == at && {
                                let mut before = page;
                                before[axis] -= 1;
                                has(page) != has(before)
                            })
                        };
                        let expected = (0..=pages[axis]).filter(|&at| at == 0 || at == pages[axis] || is_cut(at));
                        prop_assert_eq!(cuts[axis].to_vec(), expected.collect::<Vec<_>>());
                    }
                }
            }
        }
    }
}
