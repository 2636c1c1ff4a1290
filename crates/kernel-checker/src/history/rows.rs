//! Rows: plain accesses of whole words by neighbouring work-items to neighbouring places. Most accesses of most kernels
//! are of this form, and one look at the bits of earlier accesses tells that they do not race.

use std::ops::Range;

use super::{Access, CHUNK, Chunk, History, Plane, WORD};
use crate::cell::Cell;

/// Accesses by neighbouring work-items to neighbouring places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Of the first.
    pub(crate) offset: u64,
    /// Words that each accesses: 1, 2 or 4.
    pub(crate) words: u32,
    /// Work-items.
    pub(crate) lanes: u32,
    /// By the first.
    pub(crate) first: Access,
    pub(crate) writes: bool,
}

impl History {
    /// Records a row, if one look tells that none of its accesses races; `false` if it does not. Nothing is then recorded
    /// that [`Self::record`] may not record again.
    pub(crate) fn record_row(&mut self, row: &Row) -> bool {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature.
            return unsafe { self.record_row_avx2(row) };
        }
        self.record_row_anywhere(row)
    }

    /// The same code with four cells in a register. Together with the quick look at a call (`What::plain_access`) it took
    /// saxpy of `tests/kernels` under all checks from 228 to 135 ms (2026-11, Xeon with AVX-512, two processors, busy).
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn record_row_avx2(&mut self, row: &Row) -> bool {
        self.record_row_anywhere(row)
    }

    #[inline(always)]
    fn record_row_anywhere(&mut self, row: &Row) -> bool {
        match row.words {
            1 => self.record_words::<1>(row),
            2 => self.record_words::<2>(row),
            4 => self.record_words::<4>(row),
            _ => false,
        }
    }

    #[inline(always)]
    fn record_words<const WORDS: usize>(&mut self, row: &Row) -> bool {
        let index = (row.offset / CHUNK) as usize;
        let Some(chunk) = self.chunks.get_mut(index).and_then(Option::as_mut) else {
            return false;
        };
        let at = (row.offset % CHUNK / WORD) as usize;
        let range = at..at + WORDS * row.lanes as usize;
        if chunk.in_bytes || !row.offset.is_multiple_of(WORD) || range.end > (CHUNK / WORD) as usize
        {
            return false;
        }
        match row.writes {
            true => chunk.write_row::<WORDS>(range, row),
            false => chunk.read_row::<WORDS>(range, row),
        }
    }
}

impl Chunk {
    #[inline(always)]
    fn write_row<const WORDS: usize>(&mut self, range: Range<usize>, row: &Row) -> bool {
        let new = row.first.cell;
        for plane in self.reads.iter().chain([&self.write]).flatten() {
            if any::<WORDS>(new, plane.row(&range)) {
                return false;
            }
        }
        let len = self.len();
        let plane = self.write.get_or_insert_with(|| Plane::new(len));
        store::<WORDS>(plane, range, row.first);
        true
    }

    #[inline(always)]
    fn read_row<const WORDS: usize>(&mut self, range: Range<usize>, row: &Row) -> bool {
        let new = row.first.cell;
        if let Some(plane) = &self.write
            && any::<WORDS>(new, plane.row(&range))
        {
            return false;
        }
        let len = self.len();
        let [first, second] = &mut self.reads;
        let first = first.get_or_insert_with(|| Plane::new(len));
        if !any::<WORDS>(new, first.row(&range)) {
            store::<WORDS>(first, range, row.first);
            return true;
        }
        // Some of the words have another reader already.
        let second = second.get_or_insert_with(|| Plane::new(len));
        if all::<WORDS>(new, first.row(&range), second.row(&range)) {
            return true;
        }
        let mut new = row.first;
        for place in range.step_by(WORDS) {
            for at in place..place + WORDS {
                let (a, b) = (first.get(at).cell, second.get(at).cell);
                let is_other_group = a.place() == b.place() && a.place() != new.cell.place();
                if !new.cell.may_race(a) {
                    first.set(at, new);
                } else if !new.cell.may_race(b) || is_other_group {
                    second.set(at, new);
                }
            }
            new.cell = new.cell.later_item(1);
        }
        true
    }
}

impl Plane {
    fn row(&self, range: &Range<usize>) -> &[u64] {
        &self.cells[range.clone()]
    }
}

/// Whether any of the earlier accesses may race with the row that begins with `new`.
#[inline(always)]
fn any<const WORDS: usize>(new: Cell, earlier: &[u64]) -> bool {
    let mut new = new;
    let mut any = false;
    for cells in earlier.chunks_exact(WORDS) {
        for &old in cells {
            any |= new.may_race(Cell(old));
        }
        new = new.later_item(1);
    }
    any
}

/// Whether both readers of each word stay: they are of the row's group, and other work-items than the row's.
#[inline(always)]
fn all<const WORDS: usize>(new: Cell, first: &[u64], second: &[u64]) -> bool {
    let mut new = new;
    let mut all = true;
    let count = first.len().min(second.len()) / WORDS;
    let (first, second) = (&first[..count * WORDS], &second[..count * WORDS]);
    for at in 0..count * WORDS {
        let (a, b) = (Cell(first[at]), Cell(second[at]));
        let stays = new.may_race(a) & new.may_race(b);
        all &= stays & (a.place() == new.place()) & (b.place() == new.place());
        if at % WORDS == WORDS - 1 {
            new = new.later_item(1);
        }
    }
    all
}

#[inline(always)]
fn store<const WORDS: usize>(plane: &mut Plane, range: Range<usize>, first: Access) {
    let mut new = first.cell;
    for cells in plane.cells[range.clone()].chunks_exact_mut(WORDS) {
        cells.fill(new.0);
        new = new.later_item(1);
    }
    plane.sites[range].fill(first.site);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Reach;
    use crate::history::{Earlier, Order};

    /// Whether one look tells it.
    struct ByBits;
    impl Order for ByBits {
        fn races(&self, old: Access, new: Access, _both_write: bool) -> bool {
            new.cell.may_race(old.cell)
        }
        fn is_separated(&self, _old: Cell, _new: Cell) -> bool {
            false
        }
    }

    fn access(item: u32) -> Access {
        Access {
            cell: Cell::new(1, 0, 0, Reach::NotAtomic).by(item),
            site: 1,
        }
    }

    /// Rows say the same as accesses one by one.
    #[test]
    fn rows_are_accesses_one_by_one() {
        for words in [1u32, 2, 4] {
            for (second, first_item) in [(0u64, 0u32), (0, 1), (16, 0), (64, 16)] {
                for (writes_first, writes_then) in [(true, true), (true, false), (false, true)] {
                    let mut rows = History::default();
                    let mut singles = History::default();
                    let row = |offset: u64, item: u32, writes| Row {
                        offset,
                        words,
                        lanes: 16,
                        first: access(item),
                        writes,
                    };
                    let one_by_one = |history: &mut History, row: &Row| -> Option<Earlier> {
                        (0..16u32).fold(None, |found, lane| {
                            let size = u64::from(words) * WORD;
                            let offset = row.offset + u64::from(lane) * size;
                            let new = Access {
                                cell: row.first.cell.later_item(lane),
                                ..row.first
                            };
                            let one = history.record(offset, size, new, row.writes, &ByBits);
                            found.or(one)
                        })
                    };
                    // The first access of a chunk makes it.
                    let before = row(0, 0, writes_first);
                    assert!(!rows.record_row(&before));
                    one_by_one(&mut rows, &before);
                    one_by_one(&mut singles, &before);
                    let then = row(second, first_item, writes_then);
                    let races = one_by_one(&mut singles, &then).is_some();
                    assert_eq!(rows.record_row(&then), !races, "{then:?}");
                }
            }
        }
    }

    #[test]
    fn many_readers_need_two() {
        let mut history = History::default();
        let row = |item| Row {
            offset: 0,
            words: 1,
            lanes: 4,
            first: access(item),
            writes: false,
        };
        history.record(0, 16, access(0), false, &ByBits);
        for item in 0..32 {
            assert!(history.record_row(&row(item)));
        }
        for writer in 0..36 {
            let found = history.record(8, 4, access(writer), true, &ByBits);
            assert!(found.is_some(), "{writer}");
            history.record(8, 4, access(writer), false, &ByBits);
        }
    }
}
