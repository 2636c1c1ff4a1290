//! The last accesses to each word of an allocation: one write, and two reads by different work-items.
//!
//! Two reads suffice: a write that is unordered with any read of the word is unordered with one of two, if these are of
//! different groups where there are such, and of different work-items otherwise.
//!
//! Histories are kept in chunks of [`CHUNK`] bytes, which are made when they are first accessed, and whose second reads are
//! made when they are needed. A chunk describes words until a part of a word is accessed, and single bytes from then on.

mod rows;

use crate::cell::Cell;
pub(crate) use rows::Row;

/// Bytes of a word.
const WORD: u64 = 4;
/// Bytes of memory that a chunk describes.
const CHUNK: u64 = 1 << 16;

/// An access and the instruction that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) cell: Cell,
    /// Number of the instruction in the table of sites; 0 is unknown.
    pub(crate) site: u16,
}

struct Plane {
    cells: Box<[u64]>,
    sites: Box<[u16]>,
}

impl Plane {
    fn new(len: usize) -> Self {
        Self {
            cells: vec![0; len].into_boxed_slice(),
            sites: vec![0; len].into_boxed_slice(),
        }
    }

    fn get(&self, at: usize) -> Access {
        Access {
            cell: Cell(self.cells[at]),
            site: self.sites[at],
        }
    }

    fn set(&mut self, at: usize, access: Access) {
        self.cells[at] = access.cell.0;
        self.sites[at] = access.site;
    }

    /// The same accesses, byte by byte.
    fn bytes(&self) -> Self {
        fn each<T: Copy>(all: &[T]) -> Box<[T]> {
            let of_word = |&one: &T| std::iter::repeat_n(one, WORD as usize);
            all.iter().flat_map(of_word).collect()
        }
        Self {
            cells: each(&self.cells),
            sites: each(&self.sites),
        }
    }
}

#[derive(Default)]
struct Chunk {
    in_bytes: bool,
    write: Option<Plane>,
    reads: [Option<Plane>; 2],
}

impl Chunk {
    fn split(&mut self) {
        self.in_bytes = true;
        let planes = self.reads.iter_mut().chain([&mut self.write]);
        for plane in planes.flatten() {
            *plane = plane.bytes();
        }
    }

    fn len(&self) -> usize {
        (CHUNK / if self.in_bytes { 1 } else { WORD }) as usize
    }
}

/// The history of one allocation.
#[derive(Default)]
pub(crate) struct History {
    chunks: Vec<Option<Box<Chunk>>>,
}

/// An earlier access that a new one conflicts with, if nothing orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) access: Access,
    pub(crate) is_write: bool,
}

/// How accesses are ordered.
pub(crate) trait Order {
    /// Whether an earlier and a new access, of which at least one writes, may happen in any order.
    fn races(&self, old: Access, new: Access, both_write: bool) -> bool;
    /// Whether a barrier orders two accesses of one group.
    fn is_separated(&self, old: Cell, new: Cell) -> bool;
}

impl History {
    /// Records that `new` accesses `size` bytes at `offset`; returns the first earlier access that it races with.
    pub(crate) fn record(
        &mut self,
        offset: u64,
        size: u64,
        new: Access,
        writes: bool,
        order: &impl Order,
    ) -> Option<Earlier> {
        let end = offset.saturating_add(size);
        let mut found = None;
        let mut at = offset;
        while at < end {
            let index = (at / CHUNK) as usize;
            if self.chunks.len() <= index {
                self.chunks.resize_with(index + 1, || None);
            }
            let chunk = self.chunks[index].get_or_insert_default();
            let stop = end.min((at / CHUNK + 1) * CHUNK);
            if !chunk.in_bytes && !(at.is_multiple_of(WORD) && stop.is_multiple_of(WORD)) {
                chunk.split();
            }
            let unit = if chunk.in_bytes { 1 } else { WORD };
            for place in (at % CHUNK / unit)..((stop - 1) % CHUNK / unit + 1) {
                let place = place as usize;
                let earlier = match writes {
                    true => chunk.write(place, new, order),
                    false => chunk.read(place, new, order),
                };
                found = found.or(earlier);
            }
            at = stop;
        }
        found
    }

    /// The last write and two reads of the byte at `offset`; empty cells where there are none.
    pub(crate) fn at(&self, offset: u64) -> [Access; 3] {
        let index = (offset / CHUNK) as usize;
        let Some(Some(chunk)) = self.chunks.get(index) else {
            return [Access::default(); 3];
        };
        let unit = if chunk.in_bytes { 1 } else { WORD };
        let place = (offset % CHUNK / unit) as usize;
        let [first, second] = &chunk.reads;
        [&chunk.write, first, second].map(|plane| {
            let plane = plane.as_ref();
            plane.map_or_else(Access::default, |plane| plane.get(place))
        })
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
    }
}

impl Chunk {
    fn read(&mut self, at: usize, new: Access, order: &impl Order) -> Option<Earlier> {
        let len = self.len();
        let old = self.write.as_ref().map(|plane| plane.get(at));
        let found = old
            .filter(|old| old.cell.0 != 0 && order.races(*old, new, false))
            .map(|access| Earlier {
                access,
                is_write: true,
            });
        let [first, second] = &mut self.reads;
        let first = first.get_or_insert_with(|| Plane::new(len));
        let a = first.get(at).cell;
        let is_replaced = |old: Cell| {
            old.0 == 0
                || old.tag() != new.cell.tag()
                || old.is_same_item(new.cell)
                || (old.place() == new.cell.place() && order.is_separated(old, new.cell))
        };
        if is_replaced(a) {
            first.set(at, new);
            return found;
        }
        let second = second.get_or_insert_with(|| Plane::new(len));
        let b = second.get(at).cell;
        let is_other_group = a.place() == b.place() && new.cell.place() != a.place();
        if is_replaced(b) || is_other_group {
            second.set(at, new);
        }
        found
    }

    fn write(&mut self, at: usize, new: Access, order: &impl Order) -> Option<Earlier> {
        let len = self.len();
        let write = self.write.get_or_insert_with(|| Plane::new(len));
        let old = write.get(at);
        write.set(at, new);
        let races = |old: &Access, both: bool| old.cell.0 != 0 && order.races(*old, new, both);
        if races(&old, true) {
            return Some(Earlier {
                access: old,
                is_write: true,
            });
        }
        let reads = self.reads.iter().flatten().map(|plane| plane.get(at));
        reads
            .into_iter()
            .find(|old| races(old, false))
            .map(|access| Earlier {
                access,
                is_write: false,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Reach;

    /// Different work-items race.
    struct Items;
    impl Order for Items {
        fn races(&self, old: Access, new: Access, _both_write: bool) -> bool {
            !old.cell.is_same_item(new.cell)
        }
        fn is_separated(&self, _old: Cell, _new: Cell) -> bool {
            false
        }
    }

    fn by(item: u32) -> Access {
        Access {
            cell: Cell::new(1, 0, 0, Reach::NotAtomic).by(item),
            site: item as u16,
        }
    }

    #[test]
    fn accesses_of_common_bytes_conflict() {
        // (offset, size) of a write, of a later read, and whether they have a byte in common.
        for (first, then, conflict) in [
            ((0, 4), (0, 4), true),
            ((0, 4), (4, 4), false),
            ((0, 1), (1, 1), false),
            ((0, 2), (1, 1), true),
            ((0, 16), (12, 4), true),
            ((65_532, 8), (65_536, 4), true),
            ((65_535, 1), (65_536, 1), false),
        ] {
            let mut history = History::default();
            assert_eq!(history.record(first.0, first.1, by(1), true, &Items), None);
            let found = history.record(then.0, then.1, by(2), false, &Items);
            assert_eq!(found.is_some(), conflict, "{first:?} {then:?}");
            assert!(found.is_none_or(|found| found.is_write && found.access == by(1)));
        }
    }

    #[test]
    fn a_write_finds_one_of_many_reads() {
        for writer in 0..4 {
            let mut history = History::default();
            for reader in 0..4 {
                history.record(0, 4, by(reader), false, &Items);
            }
            let found = history.record(0, 4, by(writer), true, &Items);
            assert!(found.is_some_and(|found| found.access != by(writer)));
        }
    }

    #[test]
    fn words_that_become_bytes_keep_their_accesses() {
        let mut history = History::default();
        history.record(0, 8, by(1), true, &Items);
        assert!(history.record(5, 1, by(2), true, &Items).is_some());
        assert!(history.record(6, 1, by(3), false, &Items).is_some());
        assert!(history.record(64, 4, by(3), false, &Items).is_none());
    }
}
