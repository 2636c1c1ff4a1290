//! Sets of pages as bits, with their count, so that "all" and "none" need no scan.

use crate::{Cuboid, Grid};

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

    /// Takes a page out, by number.
    pub fn remove(&mut self, page: usize) {
        self.change(page, page + 1, false);
    }

    /// Puts a box of pages in.
    pub fn insert_box(&mut self, grid: &Grid, pages: &Cuboid) {
        self.change_box(grid, pages, true);
    }

    /// Takes a box of pages out.
    pub fn remove_box(&mut self, grid: &Grid, pages: &Cuboid) {
        self.change_box(grid, pages, false);
    }

    fn change_box(&mut self, grid: &Grid, pages: &Cuboid, into: bool) {
        if self.count == if into { self.total } else { 0 } {
            return;
        }
        for (first, end) in runs(grid, pages) {
            self.change(first, end, into);
        }
    }

    fn change(&mut self, first: usize, end: usize, into: bool) {
        for (word, mask) in masks(first, end) {
            let before = self.words[word];
            let after = if into { before | mask } else { before & !mask };
            self.words[word] = after;
            self.count = self.count + after.count_ones() as usize - before.count_ones() as usize;
        }
    }

    /// The box that its pages make up, if they do.
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

    /// Keeps what is also in `other`.
    pub fn intersect(&mut self, other: &Self) {
        self.count = 0;
        for (word, with) in self.words.iter_mut().zip(&other.words) {
            *word &= with;
            self.count += word.count_ones() as usize;
        }
    }

    /// Puts in what is in `other`.
    pub fn unite(&mut self, other: &Self) {
        self.count = 0;
        for (word, with) in self.words.iter_mut().zip(&other.words) {
            *word |= with;
            self.count += word.count_ones() as usize;
        }
    }

    /// Takes out what is in `other`.
    pub fn subtract(&mut self, other: &Self) {
        self.count = 0;
        for (word, with) in self.words.iter_mut().zip(&other.words) {
            *word &= !with;
            self.count += word.count_ones() as usize;
        }
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

/// The runs of page numbers that make up a box of pages, as first and end.
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

/// The words that hold the bits `first..end`, with their masks.
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
            }
        }
    }
}
