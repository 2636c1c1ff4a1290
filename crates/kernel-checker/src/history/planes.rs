//! The last accesses to each word of a line, or to each byte: one write and two reads.

use super::access::{Access, Earlier, Order};
use super::line::{Line, Pattern};
use crate::cell::Cell;

/// The last accesses to N places of a line.
pub(super) struct Planes<const N: usize> {
    /// Of the last write, and of two reads.
    cells: [[u64; N]; 3],
    sites: [[u16; N]; 3],
}

const WRITE: usize = 0;

impl<const N: usize> Planes<N> {
    /// Bytes of a place.
    const UNIT: u32 = (super::line::LINE as usize / N) as u32;

    /// The accesses of a line.
    pub(super) fn of(line: &Line) -> Self {
        let mut new = Self {
            cells: [[0; N]; 3],
            sites: [[0; N]; 3],
        };
        for (pattern, mask) in line.patterns() {
            for at in 0..N {
                let byte = at as u32 * Self::UNIT;
                if mask >> byte & 1 == 0 {
                    continue;
                }
                let plane = match pattern.writes {
                    true => WRITE,
                    false if new.cells[1][at] == 0 => 1,
                    false => 2,
                };
                new.set(plane, at, pattern.access_at(byte));
            }
        }
        new
    }

    fn get(&self, plane: usize, at: usize) -> Access {
        Access {
            cell: Cell(self.cells[plane][at]),
            site: self.sites[plane][at],
        }
    }

    /// The last accesses to the place of a byte.
    pub(super) fn at(&self, byte: u32) -> impl Iterator<Item = Earlier> {
        let at = (byte / Self::UNIT) as usize;
        (0..3).filter_map(move |plane| {
            let access = self.get(plane, at);
            (access.cell.0 != 0).then_some(Earlier {
                access,
                is_write: plane == WRITE,
            })
        })
    }

    fn set(&mut self, plane: usize, at: usize, access: Access) {
        self.cells[plane][at] = access.cell.0;
        self.sites[plane][at] = access.site;
    }

    /// Whether its places are whole where the bytes of `mask` are.
    pub(super) fn fits(mask: u64) -> bool {
        let first = u64::MAX / 15;
        let low = mask & first;
        N == 64 || mask == low | low << 1 | low << 2 | low << 3
    }

    /// Records an access to the bytes of `mask`, if one look tells that it does not race.
    #[inline(always)]
    pub(super) fn note_if_quiet(&mut self, new: &Pattern, mask: u64) -> bool {
        let mut cells = [0; N];
        let mut takes = [false; N];
        for at in 0..N {
            let byte = at as u32 * Self::UNIT;
            cells[at] = new.access_at(byte).cell.0;
            takes[at] = mask >> byte & 1 != 0;
        }
        let [write, first, second] = &self.cells;
        let mut races = false;
        let mut is_other_interval = false;
        for at in 0..N {
            let cell = Cell(cells[at]);
            let readers = [Cell(first[at]), Cell(second[at])];
            let by_reads = cell.may_race(readers[0]) | cell.may_race(readers[1]);
            races |= takes[at] & (cell.may_race(Cell(write[at])) | (new.writes & by_reads));
            // A barrier of the sub-group may lie between.
            let is_other = |old: Cell| {
                cell.is_unordered(old) & (old.place() == cell.place()) & !cell.is_same_interval(old)
            };
            is_other_interval |= takes[at] & (is_other(readers[0]) | is_other(readers[1]));
        }
        if races || (is_other_interval && !new.writes) {
            return false;
        }
        for at in 0..N {
            if takes[at] {
                self.note(at, Cell(cells[at]), new);
            }
        }
        true
    }

    /// Whether so few places are quicker one by one.
    pub(super) fn has_few(&self, mask: u64) -> bool {
        mask.count_ones() <= 2 * Self::UNIT
    }

    /// As [`Self::note_if_quiet`], place by place.
    #[inline(always)]
    pub(super) fn note_few_if_quiet(&mut self, new: &Pattern, mask: u64) -> bool {
        let places = || {
            let mut rest = mask;
            std::iter::from_fn(move || {
                let byte = rest.trailing_zeros();
                let unit = u64::MAX >> (u64::BITS - Self::UNIT);
                (rest != 0).then(|| {
                    rest &= !(unit << byte);
                    (byte / Self::UNIT) as usize
                })
            })
        };
        for at in places() {
            let cell = new.access_at(at as u32 * Self::UNIT).cell;
            let readers = [1, 2].map(|plane| Cell(self.cells[plane][at]));
            let is_other_interval = |old: Cell| {
                cell.is_unordered(old) && old.place() == cell.place() && !cell.is_same_interval(old)
            };
            let may_race = cell.may_race(Cell(self.cells[WRITE][at]))
                || match new.writes {
                    true => readers.iter().any(|&old| cell.may_race(old)),
                    false => readers.into_iter().any(is_other_interval),
                };
            if may_race {
                return false;
            }
        }
        for at in places() {
            let cell = new.access_at(at as u32 * Self::UNIT).cell;
            self.note(at, cell, new);
        }
        true
    }

    fn note(&mut self, at: usize, cell: Cell, new: &Pattern) {
        let access = Access {
            cell,
            site: new.site,
        };
        if new.writes {
            self.set(WRITE, at, access);
            return;
        }
        let (a, b) = (Cell(self.cells[1][at]), Cell(self.cells[2][at]));
        let is_other_group = a.place() == b.place() && a.place() != cell.place();
        if !cell.is_unordered(a) {
            self.set(1, at, access);
        } else if !cell.is_unordered(b) || is_other_group {
            self.set(2, at, access);
        }
    }

    /// Records an access to the bytes of `mask`; returns the first earlier access that it races with.
    pub(super) fn record(
        &mut self,
        new: &Pattern,
        mask: u64,
        order: &impl Order,
    ) -> Option<Earlier> {
        let mut found = None;
        for at in 0..N {
            let byte = at as u32 * Self::UNIT;
            if mask >> byte & 1 == 0 {
                continue;
            }
            let access = new.access_at(byte);
            let earlier = match new.writes {
                true => self.write(at, access, order),
                false => self.read(at, access, order),
            };
            found = found.or(earlier);
        }
        found
    }

    /// The access of a plane, if `new` races with it.
    fn race(
        &self,
        (plane, at): (usize, usize),
        new: Access,
        writes: bool,
        order: &impl Order,
    ) -> Option<Earlier> {
        let access = self.get(plane, at);
        let is_write = plane == WRITE;
        let races = access.cell.0 != 0 && order.races(access, new, writes && is_write);
        races.then_some(Earlier { access, is_write })
    }

    fn read(&mut self, at: usize, new: Access, order: &impl Order) -> Option<Earlier> {
        let found = self.race((WRITE, at), new, false, order);
        let (a, b) = (self.get(1, at).cell, self.get(2, at).cell);
        let is_replaced = |old: Cell| {
            old.0 == 0
                || old.tag() != new.cell.tag()
                || old.is_same_item(new.cell)
                || (old.place() == new.cell.place() && order.is_separated(old, new.cell))
        };
        let is_other_group = a.place() == b.place() && new.cell.place() != a.place();
        if is_replaced(a) {
            self.set(1, at, new);
        } else if is_replaced(b) || is_other_group {
            self.set(2, at, new);
        }
        found
    }

    fn write(&mut self, at: usize, new: Access, order: &impl Order) -> Option<Earlier> {
        let found = (0..3).find_map(|plane| self.race((plane, at), new, true, order));
        self.set(WRITE, at, new);
        found
    }
}

impl Planes<16> {
    /// The same accesses, byte by byte.
    pub(super) fn bytes(&self) -> Planes<64> {
        let word = |at: usize| at / 4;
        Planes {
            cells: std::array::from_fn(|plane| {
                std::array::from_fn(|at| self.cells[plane][word(at)])
            }),
            sites: std::array::from_fn(|plane| {
                std::array::from_fn(|at| self.sites[plane][word(at)])
            }),
        }
    }
}
