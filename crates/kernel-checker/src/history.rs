//! The last accesses to each byte of an allocation: one write, and two reads by different work-items.
//!
//! Two reads suffice: a write that is unordered with any read of the byte is unordered with one of two, if these are of
//! different groups where there are such, and of different work-items otherwise.
//!
//! Histories are kept in lines of 64 bytes, and these in chunks of [`CHUNK`] bytes, which are made when they are first
//! accessed. A line has a few patterns of accesses ([`line`]), or each word's or byte's accesses ([`planes`]).

mod access;
mod before;
mod line;
mod planes;
mod rows;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use access::{Access, Earlier, Order};
use before::Before;
pub(crate) use before::Contents;
pub(crate) use line::LINE;
use line::{Line, Noted, Pattern};
use planes::Planes;
pub(crate) use rows::Row;

/// Bytes of memory that a chunk describes.
const CHUNK: u64 = 1 << 16;

/// The accesses of a line that patterns do not describe.
enum Exact {
    Words(Box<Planes<16>>),
    Bytes(Box<Planes<64>>),
}

pub(crate) struct Chunk {
    lines: Box<[Line]>,
    exact: Vec<Exact>,
    /// Numbers of those that no line has.
    unused: Vec<usize>,
    /// The memory before the writes of an attempt.
    before: Option<Box<Before>>,
    /// The last launch in which several threads have wanted it.
    shared_in: u16,
}

/// Where a chunk is.
#[derive(Default)]
pub(crate) enum Slot {
    /// Nothing is recorded there.
    #[default]
    Empty,
    Here(Box<Chunk>),
    /// One of several threads has it; whether another wants it.
    Lent(bool),
}

/// The history of one allocation, or of local memory.
#[derive(Default)]
pub(crate) struct History {
    /// Those of an allocation are all there from the start: several threads may fill them.
    chunks: Vec<Mutex<Slot>>,
    /// Bytes; 0: of local memory, where accesses are over at the next barrier of the group.
    size: u64,
}

/// A way to the lines of a history, and how accesses are recorded there.
pub(crate) trait Lines {
    /// Whether it is the history of local memory.
    fn is_local(&self) -> bool;

    /// Calls `f` with the chunk of a line, and the line's place there, for an access to the bytes of `mask`.
    fn with<R>(
        &mut self,
        line: u64,
        mask: u64,
        f: impl FnOnce(&mut Chunk, usize) -> R,
    ) -> Option<R>;

    /// Records a row, if one look tells that none of its accesses races; `false` if it does not. Nothing is then recorded
    /// that [`Self::record`] may not record again.
    #[inline(always)]
    fn record_row(&mut self, row: &Row) -> bool {
        let is_local = self.is_local();
        let Some(mut parts) = row.parts() else {
            return false;
        };
        parts.all(|(line, pattern, mask)| {
            let note = |chunk: &mut Chunk, at| chunk.note_if_quiet(at, &pattern, mask, is_local);
            self.with(line, mask, note) == Some(true)
        })
    }

    /// As [`Self::record_row`], for an access by one work-item.
    #[inline(always)]
    fn record_single(&mut self, offset: u64, size: u32, new: Access, writes: bool) -> bool {
        if size == 0 || u64::from(size) > LINE {
            return false;
        }
        let within = (offset % LINE) as u32;
        let here = size.min(LINE as u32 - within);
        let line = offset / LINE;
        self.record_part(line, (within, here), new, writes)
            && (here == size || self.record_part(line + 1, (0, size - here), new, writes))
    }

    /// As [`Self::record_single`], for so many bytes of a line from a byte on.
    #[inline(always)]
    fn record_part(
        &mut self,
        line: u64,
        (byte, size): (u32, u32),
        new: Access,
        writes: bool,
    ) -> bool {
        let is_local = self.is_local();
        let mask = u64::MAX >> (u64::BITS - size) << byte;
        let pattern = Pattern::single(byte, size, new, writes);
        let note = |chunk: &mut Chunk, at| chunk.note_if_quiet(at, &pattern, mask, is_local);
        self.with(line, mask, note) == Some(true)
    }

    /// Records that `new` accesses `size` bytes at `offset`; returns the first earlier access that it races with.
    fn record(
        &mut self,
        offset: u64,
        size: u64,
        new: Access,
        writes: bool,
        order: &impl Order,
    ) -> Option<Earlier> {
        let is_local = self.is_local();
        let end = offset.saturating_add(size);
        let mut found = None;
        let mut at = offset;
        while at < end {
            let stop = end.min((at / LINE + 1) * LINE);
            let (within, size) = ((at % LINE) as u32, (stop - at) as u32);
            let pattern = Pattern::single(within, size, new, writes);
            let mask = u64::MAX >> (u64::BITS - size) << within;
            let record =
                |chunk: &mut Chunk, line| chunk.record(line, &pattern, mask, order, is_local);
            found = found.or(self.with(at / LINE, mask, record).flatten());
            at = stop;
        }
        found
    }
}

/// For the only thread that uses the history.
impl Lines for History {
    #[inline(always)]
    fn is_local(&self) -> bool {
        self.size == 0
    }

    #[inline(always)]
    fn with<R>(
        &mut self,
        line: u64,
        _mask: u64,
        f: impl FnOnce(&mut Chunk, usize) -> R,
    ) -> Option<R> {
        let (index, at) = place(line);
        if self.size == 0 && self.chunks.len() <= index {
            self.chunks.resize_with(index + 1, Mutex::default);
        }
        let size = self.size;
        let slot = self.chunks.get_mut(index)?.get_mut();
        let slot = slot.unwrap_or_else(PoisonError::into_inner);
        if matches!(slot, Slot::Empty) {
            *slot = Slot::Here(Chunk::new(size, index));
        }
        match slot {
            Slot::Here(chunk) if at < chunk.lines.len() => Some(f(chunk, at)),
            _ => None,
        }
    }
}

/// The chunk of a line, and the line's place there.
#[inline(always)]
pub(crate) fn place(line: u64) -> (usize, usize) {
    const LINES: u64 = CHUNK / LINE;
    ((line / LINES) as usize, (line % LINES) as usize)
}

fn lock(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl History {
    /// Of an allocation.
    pub(crate) fn of(size: u64) -> Self {
        let size = size.max(1);
        let count = usize::try_from(size.div_ceil(CHUNK)).unwrap_or(0);
        Self {
            chunks: std::iter::repeat_with(Mutex::default).take(count).collect(),
            size,
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        for slot in &mut self.chunks {
            *slot = Mutex::default();
        }
    }

    /// Restores what the attempt of a launch has written.
    pub(crate) fn restore(&self, tag: u16, contents: &Contents<'_>) {
        for (index, slot) in self.chunks.iter().enumerate() {
            if let Slot::Here(chunk) = &*lock(slot)
                && let Some(before) = &chunk.before
            {
                before.restore(tag, contents, index as u64 * CHUNK);
            }
        }
    }

    /// Where a chunk is, and whether another thread has just looked there; `None` if the history ends before it.
    #[inline(always)]
    pub(crate) fn slot(&self, index: usize) -> Option<(MutexGuard<'_, Slot>, bool)> {
        let slot = self.chunks.get(index)?;
        Some(match slot.try_lock() {
            Ok(slot) => (slot, false),
            Err(_) => (lock(slot), true),
        })
    }

    /// A new chunk.
    pub(crate) fn new_chunk(&self, index: usize) -> Box<Chunk> {
        Chunk::new(self.size, index)
    }

    /// Gives a chunk back that launch `tag` has lent.
    pub(crate) fn give_back(&self, index: usize, mut chunk: Box<Chunk>, tag: u16) {
        if let Some((mut slot, _)) = self.slot(index) {
            if matches!(*slot, Slot::Lent(true)) {
                chunk.shared_in = tag;
            }
            *slot = Slot::Here(chunk);
        }
    }

    /// The last accesses to the byte at `offset`.
    pub(crate) fn at(&self, offset: u64) -> Vec<Earlier> {
        let (index, at) = place(offset / LINE);
        let slot = self.chunks.get(index).map(lock);
        let chunk = match slot.as_deref() {
            Some(Slot::Here(chunk)) => chunk,
            _ => return Vec::new(),
        };
        let Some(line) = chunk.lines.get(at) else {
            return Vec::new();
        };
        let byte = (offset % LINE) as u32;
        match line.planes().and_then(|number| chunk.exact.get(number)) {
            Some(Exact::Words(planes)) => planes.at(byte).collect(),
            Some(Exact::Bytes(planes)) => planes.at(byte).collect(),
            None => {
                let own = line.patterns().filter(|(_, mask)| mask >> byte & 1 != 0);
                own.map(|(pattern, _)| Earlier {
                    access: pattern.access_at(byte),
                    is_write: pattern.writes,
                })
                .collect()
            }
        }
    }
}

impl Chunk {
    /// A history of `size` bytes, or of local memory (0), has its chunk number `index`.
    #[cold]
    fn new(size: u64, index: usize) -> Box<Self> {
        let bytes = match size {
            0 => CHUNK,
            size => size.saturating_sub(index as u64 * CHUNK).min(CHUNK),
        };
        Box::new(Self {
            lines: vec![Line::default(); bytes.div_ceil(LINE) as usize].into_boxed_slice(),
            exact: Vec::new(),
            unused: Vec::new(),
            before: None,
            shared_in: 0,
        })
    }

    /// Whether it has so many lines.
    #[inline(always)]
    pub(crate) fn has(&self, at: usize) -> bool {
        at < self.lines.len()
    }

    /// Whether several threads of an attempt have wanted it.
    #[inline(always)]
    pub(crate) fn is_shared_in(&self, tag: u16) -> bool {
        self.shared_in == tag
    }

    /// An attempt of the launch `tag` is about to write the bytes of `mask` of line `at`, which begins at `offset`.
    #[inline(always)]
    pub(crate) fn save(
        &mut self,
        tag: u16,
        (at, mask): (usize, u64),
        contents: &Contents<'_>,
        offset: u64,
    ) {
        let count = self.lines.len();
        let before = self.before.get_or_insert_with(|| Before::new(count));
        before.save(tag, at, mask, contents, offset);
    }

    #[inline(always)]
    fn note_if_quiet(&mut self, at: usize, new: &Pattern, mask: u64, is_local: bool) -> bool {
        self.prepare(at, new, is_local);
        let line = &mut self.lines[at];
        if line.planes().is_none() {
            match line.note_if_quiet(new, mask) {
                Noted::Yes => return true,
                Noted::MayRace => return false,
                Noted::NoRoom => self.make_exact(at, new),
            }
        }
        self.exact_of(at, mask)
            .is_some_and(|exact| exact.note_if_quiet(new, mask))
    }

    fn record(
        &mut self,
        at: usize,
        new: &Pattern,
        mask: u64,
        order: &impl Order,
        is_local: bool,
    ) -> Option<Earlier> {
        self.prepare(at, new, is_local);
        let line = &mut self.lines[at];
        if line.planes().is_none() {
            let found = line.race(new, mask, order);
            if line.note(new, mask) != Noted::NoRoom {
                return found;
            }
            self.make_exact(at, new);
            let exact = self.exact_of(at, mask);
            return found.or(exact.and_then(|exact| exact.record(new, mask, order)));
        }
        let exact = self.exact_of(at, mask)?;
        exact.record(new, mask, order)
    }

    /// Forgets what is over in local memory.
    #[inline(always)]
    fn prepare(&mut self, at: usize, new: &Pattern, is_local: bool) {
        if !is_local {
            return;
        }
        let line = &mut self.lines[at];
        match line.planes() {
            None => line.forget_before(new.cell),
            Some(number) => {
                if line.is_over(new.cell) {
                    *line = Line::default();
                    self.unused.push(number);
                }
            }
        }
    }

    /// The line gets planes.
    #[cold]
    fn make_exact(&mut self, at: usize, last: &Pattern) {
        let line = &mut self.lines[at];
        let is_in_words = line.patterns().all(|(_, mask)| Planes::<16>::fits(mask));
        let number = self.unused.pop().unwrap_or(self.exact.len());
        let old = self.exact.get_mut(number);
        match (old, is_in_words) {
            (Some(Exact::Words(planes)), true) => planes.take(line),
            (Some(old), _) => *old = Exact::of(line, is_in_words),
            (None, _) => self.exact.push(Exact::of(line, is_in_words)),
        }
        line.become_planes(number, last.cell);
    }

    /// The planes of a line, in bytes if the bytes of `mask` are no words.
    fn exact_of(&mut self, at: usize, mask: u64) -> Option<&mut Exact> {
        let exact = self.exact.get_mut(self.lines[at].planes()?)?;
        if let Exact::Words(words) = exact
            && !Planes::<16>::fits(mask)
        {
            *exact = Exact::Bytes(Box::new(words.bytes()));
        }
        Some(exact)
    }
}

impl Exact {
    fn of(line: &Line, is_in_words: bool) -> Self {
        if is_in_words {
            let mut planes = Box::new(Planes::new());
            planes.take(line);
            return Self::Words(planes);
        }
        let mut planes = Box::new(Planes::new());
        planes.take(line);
        Self::Bytes(planes)
    }

    #[inline(always)]
    fn note_if_quiet(&mut self, new: &Pattern, mask: u64) -> bool {
        match self {
            Self::Words(planes) if planes.has_few(mask) => {
                return planes.note_few_if_quiet(new, mask);
            }
            Self::Bytes(planes) if planes.has_few(mask) => {
                return planes.note_few_if_quiet(new, mask);
            }
            _ => {}
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature.
            return unsafe { self.note_if_quiet_avx2(new, mask) };
        }
        self.note_if_quiet_anywhere(new, mask)
    }

    /// The same code with four cells in a register.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn note_if_quiet_avx2(&mut self, new: &Pattern, mask: u64) -> bool {
        self.note_if_quiet_anywhere(new, mask)
    }

    #[inline(always)]
    fn note_if_quiet_anywhere(&mut self, new: &Pattern, mask: u64) -> bool {
        match self {
            Self::Words(planes) => planes.note_if_quiet(new, mask),
            Self::Bytes(planes) => planes.note_if_quiet(new, mask),
        }
    }

    fn record(&mut self, new: &Pattern, mask: u64, order: &impl Order) -> Option<Earlier> {
        match self {
            Self::Words(planes) => planes.record(new, mask, order),
            Self::Bytes(planes) => planes.record(new, mask, order),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cell::{Cell, Reach};
    use kernel_ir::passes::SUB_GROUP_BITS;

    /// One look at the bits tells it.
    struct ByBits;
    impl Order for ByBits {
        fn races(&self, old: Access, new: Access, _both_write: bool) -> bool {
            new.cell.may_race(old.cell)
        }
        fn is_separated(&self, old: Cell, new: Cell) -> bool {
            old.is_separated(new, 1)
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
            ((60, 8), (64, 4), true),
            ((65_532, 8), (65_536, 4), true),
            ((65_535, 1), (65_536, 1), false),
            ((100, 4000), (4096, 4), true),
        ] {
            let mut history = History::of(1 << 20);
            assert_eq!(history.record(first.0, first.1, by(1), true, &ByBits), None);
            let found = history.record(then.0, then.1, by(2), false, &ByBits);
            assert_eq!(found.is_some(), conflict, "{first:?} {then:?}");
            assert!(found.is_none_or(|found| found.is_write && found.access == by(1)));
        }
    }

    #[test]
    fn a_write_finds_one_of_many_reads() {
        for writer in 0..4 {
            let mut history = History::of(64);
            for reader in 0..4 {
                history.record(0, 4, by(reader), false, &ByBits);
            }
            let found = history.record(0, 4, by(writer), true, &ByBits);
            assert!(found.is_some_and(|found| found.access != by(writer)));
        }
    }

    #[test]
    fn words_that_become_bytes_keep_their_accesses() {
        let mut history = History::of(128);
        for item in 0..16 {
            // Too many work-items for patterns.
            history.record(u64::from(60 - 4 * item), 4, by(item), true, &ByBits);
        }
        assert!(history.record(5, 1, by(1), true, &ByBits).is_some());
        assert!(history.record(6, 1, by(3), false, &ByBits).is_some());
        assert!(history.record(64, 4, by(3), false, &ByBits).is_none());
    }

    /// An access of one lane to one element.
    #[derive(Clone, Copy)]
    struct Lane {
        cell: Cell,
        element: u64,
        writes: bool,
    }

    /// A row, or what is none because its step is no power of two.
    struct Event {
        first: Cell,
        start: u64,
        step: u64,
        active: u64,
        writes: bool,
    }

    impl Event {
        fn lanes(&self) -> impl Iterator<Item = (u32, Lane)> {
            let active = (0..16).filter(|lane| self.active >> lane & 1 != 0);
            active.map(|lane| {
                let lane_of = Lane {
                    cell: self.first.without_item().by(self.first.item() + lane),
                    element: self.start + u64::from(lane) * self.step,
                    writes: self.writes,
                };
                (lane, lane_of)
            })
        }
    }

    fn events(random: &mut impl FnMut(u64) -> u64, is_local: bool) -> Vec<Event> {
        let mut all = Vec::new();
        let most = 1 + random(12);
        let near = random(2) == 0;
        for group in 0..1 + random(3) {
            for barriers in 0..1 + random(3) as u32 {
                for _ in 0..random(most + 1) {
                    let tag = if is_local { group as u16 + 1 } else { 1 };
                    let cell = Cell::new(tag, group, barriers << SUB_GROUP_BITS, Reach::NotAtomic);
                    let item = 16 * random(2) as u32;
                    all.push(Event {
                        first: cell.by(item),
                        // Where a work-item usually accesses its own element, there are few races.
                        start: match near {
                            true => u64::from(item) + random(8) / 7,
                            false => random(40),
                        },
                        step: [1, 1, 1, 2, 3, 4][random(6) as usize],
                        active: [0xffff, 0xff, random(0x1_0000) | 1, 1 << random(16)]
                            [random(4) as usize],
                        writes: random(3) == 0,
                    });
                }
            }
        }
        all
    }

    /// The elements with a race that a history finds.
    fn found(events: &[Event], size: u32, shift: u64, is_local: bool) -> BTreeSet<u64> {
        let mut history = match is_local {
            true => History::default(),
            false => History::of(1 << 20),
        };
        let mut found = BTreeSet::new();
        for (number, event) in events.iter().enumerate() {
            let at = |element: u64| shift + element * u64::from(size);
            let first = Access {
                cell: event.first,
                site: number as u16,
            };
            let step = event.step * u64::from(size);
            let row = Row {
                offset: at(event.start),
                step,
                size,
                active: event.active,
                first,
                writes: event.writes,
            };
            let is_row = step.is_power_of_two() && step <= LINE;
            if is_row && history.record_row(&row) {
                continue;
            }
            for (_, lane) in event.lanes() {
                let access = Access {
                    cell: lane.cell,
                    ..first
                };
                let (offset, writes) = (at(lane.element), lane.writes);
                if history.record_single(offset, size, access, writes) {
                    continue;
                }
                let earlier = history.record(offset, u64::from(size), access, writes, &ByBits);
                if earlier.is_some() {
                    found.insert(lane.element);
                }
            }
        }
        found
    }

    /// Rows and single accesses of all sizes: an element has a race in the history's eyes exactly if two of all accesses to it
    /// race.
    #[test]
    fn a_race_is_found_exactly_where_there_is_one() {
        let mut state = 11u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut with, mut without) = (0, 0);
        for turn in 0..6000 {
            let is_local = turn % 3 == 0;
            let size = 1 << random(5);
            let shift = random(4) / 3 * u64::from(size) / 2;
            let events = events(&mut random, is_local);
            let lanes: Vec<Lane> = events
                .iter()
                .flat_map(|event| event.lanes().map(|(_, lane)| lane))
                .collect();
            let mut expected = BTreeSet::new();
            for (number, one) in lanes.iter().enumerate() {
                let races = lanes[..number].iter().any(|other| {
                    one.element == other.element
                        && (one.writes || other.writes)
                        && one.cell.may_race(other.cell)
                });
                if races {
                    expected.insert(one.element);
                }
            }
            assert_eq!(
                found(&events, size, shift, is_local),
                expected,
                "turn {turn}: {size} bytes from {shift} on"
            );
            match expected.is_empty() {
                true => without += 1,
                false => with += 1,
            }
        }
        assert!(with > 500 && without > 500, "{with} {without}");
    }
}
