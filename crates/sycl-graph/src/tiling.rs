//! Covers pages, parts of which several domains hold, with few boxes and contiguous runs, by a search. Only for pages
//! that fall into few cells: a set of cells is then one word.

use crate::pages::Cuts;
use crate::{Cuboid, Grid, PageSet};
use std::cmp::Reverse;
use std::ops::Range;

/// The most cells.
const CELLS: usize = 64;

/// Beginnings of a tiling that are followed at a time: fewer miss good ones, more take longer than they save.
const WIDTH: usize = 8;

/// Sets of cells that may be visited to find a tiling that is known to exist, or to prove that there is none.
const STEPS: usize = 4000;

/// Wanted pages as cells of equal pages, numbered in memory order.
pub(crate) struct Tiling {
    /// The first pages of the cells by axis, and the end of the last one.
    cuts: Cuts,
    /// Cells by axis.
    cells: [usize; 3],
    /// The cells that begin in memory where the previous one ends.
    follows: u64,
    wanted: u64,
    /// The cells that each source has.
    held: Vec<u64>,
    /// For each cell and each wanted one after it, the cells of a tile with both: as a box, and as a run, or all if
    /// there is none.
    pairs: Vec<(u64, u64)>,
}

/// A tile chosen after others.
#[derive(Clone, Copy)]
struct Step {
    missing: u64,
    tile: u64,
    before: usize,
}

impl Tiling {
    /// The cells of the wanted pages, each with its sources; `None` if there are too many, or a cell has no source.
    /// `planes` are where neighbours differ.
    pub(crate) fn new(
        grid: &Grid,
        wanted: &PageSet,
        held: &[&PageSet],
        planes: &Cuts,
    ) -> Option<Self> {
        let cuts = match grid.page_count() <= CELLS {
            true => grid.pages().map(|n| (0..=n).collect()),
            false => planes.clone(),
        };
        let cells = cuts.each_ref().map(|cuts| cuts.len() - 1);
        let count = cells[0].checked_mul(cells[1])?.checked_mul(cells[2])?;
        if count > CELLS {
            return None;
        }
        let mut tiling = Self {
            cuts,
            cells,
            follows: 0,
            wanted: 0,
            held: vec![0; held.len()],
            pairs: Vec::new(),
        };
        let mut before = None;
        for at in 0..count {
            let pages = tiling.pages(at, at);
            let first = grid.page_number(pages.lower);
            tiling.wanted |= u64::from(wanted.contains(first)) << at;
            for (bits, held) in tiling.held.iter_mut().zip(held) {
                *bits |= u64::from(held.contains(first)) << at;
            }
            let elements = grid.elements(&pages);
            let follows = before.is_some_and(|before| grid.follows_in_memory(&before, &elements));
            tiling.follows |= u64::from(follows) << at;
            before = Some(elements);
        }
        let all = tiling.held.iter().fold(0, |all, held| all | held);
        if tiling.wanted & !all != 0 {
            return None;
        }
        tiling.pairs = tiling.pairs();
        Some(tiling)
    }

    fn pairs(&self) -> Vec<(u64, u64)> {
        let [planes, rows, row] = self.cells;
        let count = planes * rows * row;
        let places: Vec<[usize; 3]> = (0..count).map(|at| self.place(at)).collect();
        let mut pairs = vec![(u64::MAX, u64::MAX); count * count];
        for one in bits(self.wanted) {
            for other in bits(self.wanted).filter(|other| *other > one) {
                let (a, b) = (places[one], places[other]);
                let lower = [0, 1, 2].map(|axis| a[axis].min(b[axis]));
                let size = [0, 1, 2].map(|axis| a[axis].max(b[axis]) + 1 - lower[axis]);
                let at = (lower[0] * rows + lower[1]) * row + lower[2];
                let run = ones(other + 1 - one) << one;
                let is_run = run & (run - 1) & !self.follows == 0;
                let run = if is_run { run } else { u64::MAX };
                pairs[one * count + other] = (self.tile(at, size), run);
            }
        }
        pairs
    }

    /// A lower bound on the number of tiles.
    pub(crate) fn at_least(&self) -> usize {
        let count = self.cells.iter().product::<usize>();
        let mut partners = [0u64; CELLS];
        for one in bits(self.wanted) {
            for other in bits(self.wanted & !ones(one + 1)) {
                let together = u64::from(self.are_together(one, other, self.wanted, count));
                partners[one] |= together << other;
                partners[other] |= together << one;
            }
        }
        // A cell that shares tiles with few others leaves most cells of other tiles.
        let (mut left, mut apart) = (self.wanted, 0);
        while let Some(one) = bits(left).min_by_key(|one| (partners[*one] & left).count_ones()) {
            left &= !(partners[one] | 1 << one);
            apart += 1;
        }
        apart.max(self.needs(self.wanted))
    }

    /// Whether one tile of these cells may have both of two, the first of which has the lower number.
    fn are_together(&self, one: usize, other: usize, cells: u64, count: usize) -> bool {
        let (around, run) = self.pairs[one * count + other];
        let able = |held: &u64| {
            let out = !(held & cells);
            around & out == 0 || run & out == 0
        };
        self.held.iter().any(able)
    }

    /// Fewer than the given number of tiles that cover the wanted cells, each with its first source; `None` if none
    /// were found.
    pub(crate) fn fewer_than(&self, count: usize) -> Option<Vec<(usize, Vec<Cuboid>)>> {
        let mut steps = vec![Step {
            missing: self.wanted,
            tile: 0,
            before: 0,
        }];
        let mut level = 0..1;
        let mut next = Vec::new();
        for _ in 1..count {
            next.clear();
            for before in level {
                let missing = steps[before].missing;
                self.tiles(missing, false, |tile| {
                    next.push(Step {
                        missing: missing & !tile,
                        tile,
                        before,
                    });
                });
            }
            next.sort_unstable_by_key(|step| (step.missing.count_ones(), step.missing));
            next.dedup_by_key(|step| step.missing);
            next.truncate(WIDTH);
            level = steps.len()..steps.len() + next.len();
            steps.extend_from_slice(&next);
            if let Some(last) = next.first().filter(|step| step.missing == 0) {
                let mut step = *last;
                let mut tiles = Vec::new();
                while step.tile != 0 {
                    tiles.push(step.tile);
                    step = steps[step.before];
                }
                return Some(self.taken(&tiles));
            }
        }
        None
    }

    /// The minimum of tiles, if it is this many; `None` if more are needed, or it takes too many steps.
    pub(crate) fn fewest(&self, range: Range<usize>) -> Option<Vec<(usize, Vec<Cuboid>)>> {
        let mut steps = STEPS;
        for count in range {
            let mut tiles = Vec::new();
            if self.suffice(self.wanted, count, &mut tiles, &mut steps) {
                return Some(self.taken(&tiles));
            }
        }
        None
    }

    /// Whether this many tiles form these cells, and which.
    fn suffice(&self, cells: u64, count: usize, taken: &mut Vec<u64>, steps: &mut usize) -> bool {
        if cells == 0 {
            return true;
        }
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        if self.needs(cells) > count {
            return false;
        }
        let mut tiles = Vec::new();
        self.tiles(cells, true, |tile| tiles.push(tile));
        tiles.sort_unstable_by_key(|tile| (Reverse(tile.count_ones()), *tile));
        tiles.dedup();
        tiles.into_iter().any(|tile| {
            taken.push(tile);
            let found = self.suffice(cells & !tile, count - 1, taken, steps);
            if !found {
                taken.pop();
            }
            found
        })
    }

    /// A lower bound: of this many cells no two are in one tile.
    fn needs(&self, cells: u64) -> usize {
        let count = self.cells.iter().product::<usize>();
        let (mut left, mut needed) = (cells, 0);
        while left != 0 {
            let one = left.trailing_zeros() as usize;
            left &= left - 1;
            for other in bits(left) {
                left &= !(u64::from(self.are_together(one, other, cells, count)) << other);
            }
            needed += 1;
        }
        needed
    }

    /// Calls with tiles of these cells that contain the lowest one, all of whose cells one source holds: the longest
    /// run, and of all boxes those with the longest rows, or with shorter ones too.
    fn tiles(&self, cells: u64, shorter: bool, mut each: impl FnMut(u64)) {
        let at = cells.trailing_zeros() as usize;
        let [x, y, z] = self.place(at);
        let [planes, rows, row] = self.cells;
        for held in self.held.iter().filter(|held| **held >> at & 1 == 1) {
            let able = (cells & held) >> at;
            let run = (able & (self.follows >> at)) >> 1;
            each(ones(run.trailing_ones() as usize + 1) << at);
            // Of each row below the cell's how long it is in all planes so far.
            let mut lengths = [row - z; CELLS];
            for deep in 1..=planes - x {
                let mut length = row - z;
                for high in 1..=rows - y {
                    let first = ((deep - 1) * rows + high - 1) * row;
                    let here = (able >> first).trailing_ones() as usize;
                    length = length.min(lengths[high - 1]).min(here);
                    lengths[high - 1] = length;
                    if length == 0 {
                        break;
                    }
                    for length in if shorter { 1 } else { length.max(1) }..=length {
                        each(self.tile(at, [deep, high, length]));
                    }
                }
                if lengths[0] == 0 {
                    break;
                }
            }
        }
    }

    /// The cells of a box from its first one on.
    fn tile(&self, at: usize, [planes, rows, row]: [usize; 3]) -> u64 {
        let of_row = ones(row);
        let of_plane = (0..rows).fold(0, |all, n| all | of_row << (n * self.cells[2]));
        let pitch = self.cells[1] * self.cells[2];
        (0..planes).fold(0, |all, n| all | of_plane << (n * pitch)) << at
    }

    /// Each tile with the first source that holds it, as boxes of pages: one, or those of a run.
    fn taken(&self, tiles: &[u64]) -> Vec<(usize, Vec<Cuboid>)> {
        let source = |tile: u64| self.held.iter().position(|held| tile & !held == 0);
        let with_source = |&tile: &u64| Some((source(tile)?, self.boxes(tile)));
        tiles.iter().filter_map(with_source).collect()
    }

    fn boxes(&self, tile: u64) -> Vec<Cuboid> {
        let first = tile.trailing_zeros() as usize;
        let last = tile.ilog2() as usize;
        let (a, b) = (self.place(first), self.place(last));
        let size = [0, 1, 2].map(|axis| (b[axis] + 1).saturating_sub(a[axis]));
        match self.tile(first, size) == tile {
            true => vec![self.pages(first, last)],
            false => (first..=last).map(|at| self.pages(at, at)).collect(),
        }
    }

    fn place(&self, at: usize) -> [usize; 3] {
        let [_, rows, row] = self.cells;
        [at / row / rows, at / row % rows, at % row]
    }

    /// The pages of the box from one cell to another.
    fn pages(&self, first: usize, last: usize) -> Cuboid {
        let (lower, upper) = (self.place(first), self.place(last));
        Cuboid::new(
            [0, 1, 2].map(|axis| self.cuts[axis][lower[axis]]),
            [0, 1, 2].map(|axis| self.cuts[axis][upper[axis] + 1]),
        )
    }
}

/// The cells of a set.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        at
    })
}

/// This many bits from the lowest on, at most all.
fn ones(count: usize) -> u64 {
    u64::MAX.checked_shr((CELLS - count) as u32).unwrap_or(0)
}
