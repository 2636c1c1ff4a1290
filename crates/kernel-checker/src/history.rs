//! The last accesses to each byte of an allocation: one write, and two reads by different work-items.
//!
//! Two reads suffice: a write that is unordered with any read of the byte is unordered with one of two, if these are of
//! different groups where there are such, and of different work-items otherwise.
//!
//! Histories are kept in lines of 64 bytes, and these in chunks of [`CHUNK`] bytes, which are made when they are first
//! accessed. A line has a few patterns of accesses ([`line`]), or each word's or byte's accesses ([`planes`]).

mod access;
mod line;
mod planes;
mod rows;

pub(crate) use access::{Access, Earlier, Order};
use line::{LINE, Line, Noted, Pattern};
use planes::Planes;
pub(crate) use rows::Row;

/// Bytes of memory that a chunk describes.
const CHUNK: u64 = 1 << 16;

/// The accesses of a line that patterns do not describe.
enum Exact {
    Words(Box<Planes<16>>),
    Bytes(Box<Planes<64>>),
}

struct Chunk {
    lines: Box<[Line]>,
    exact: Vec<Exact>,
    /// Numbers of those that no line has.
    unused: Vec<usize>,
}

/// The history of one allocation, or of local memory.
#[derive(Default)]
pub(crate) struct History {
    chunks: Vec<Option<Box<Chunk>>>,
    /// Bytes; 0: of local memory, where accesses are over at the next barrier of the group.
    size: u64,
}

impl History {
    /// Of an allocation.
    pub(crate) fn of(size: u64) -> Self {
        Self {
            chunks: Vec::new(),
            size: size.max(1),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
    }

    #[inline(always)]
    fn chunk(&mut self, line: u64) -> Option<(&mut Chunk, usize)> {
        const LINES: u64 = CHUNK / LINE;
        let index = (line / LINES) as usize;
        let at = (line % LINES) as usize;
        if !matches!(self.chunks.get(index), Some(Some(_))) {
            self.make_chunk(index);
        }
        let chunk = self.chunks.get_mut(index)?.as_mut()?;
        (at < chunk.lines.len()).then_some((chunk, at))
    }

    #[cold]
    fn make_chunk(&mut self, index: usize) {
        if self.chunks.len() <= index {
            self.chunks.resize_with(index + 1, || None);
        }
        let bytes = match self.size {
            0 => CHUNK,
            size => size.saturating_sub(index as u64 * CHUNK).min(CHUNK),
        };
        self.chunks[index] = Some(Box::new(Chunk {
            lines: vec![Line::default(); bytes.div_ceil(LINE) as usize].into_boxed_slice(),
            exact: Vec::new(),
            unused: Vec::new(),
        }));
    }

    /// Records a row, if one look tells that none of its accesses races; `false` if it does not. Nothing is then recorded
    /// that [`Self::record`] may not record again.
    pub(crate) fn record_row(&mut self, row: &Row) -> bool {
        let is_local = self.size == 0;
        let Some(mut parts) = row.parts() else {
            return false;
        };
        parts.all(|(line, pattern, mask)| {
            self.chunk(line)
                .is_some_and(|(chunk, at)| chunk.note_if_quiet(at, &pattern, mask, is_local))
        })
    }

    /// As [`Self::record_row`], for an access by one work-item.
    #[inline(always)]
    pub(crate) fn record_single(
        &mut self,
        offset: u64,
        size: u32,
        new: Access,
        writes: bool,
    ) -> bool {
        let is_local = self.size == 0;
        let within = offset % LINE;
        if size == 0 || within + u64::from(size) > LINE {
            return false;
        }
        let mask = u64::MAX >> (u64::BITS - size) << within;
        let pattern = Pattern::single(within as u32, size, new, writes);
        self.chunk(offset / LINE)
            .is_some_and(|(chunk, at)| chunk.note_if_quiet(at, &pattern, mask, is_local))
    }

    /// Records that `new` accesses `size` bytes at `offset`; returns the first earlier access that it races with.
    pub(crate) fn record(
        &mut self,
        offset: u64,
        size: u64,
        new: Access,
        writes: bool,
        order: &impl Order,
    ) -> Option<Earlier> {
        let is_local = self.size == 0;
        let end = offset.saturating_add(size);
        let mut found = None;
        let mut at = offset;
        while at < end {
            let stop = end.min((at / LINE + 1) * LINE);
            let (within, size) = ((at % LINE) as u32, (stop - at) as u32);
            let pattern = Pattern::single(within, size, new, writes);
            let mask = u64::MAX >> (u64::BITS - size) << within;
            if let Some((chunk, line)) = self.chunk(at / LINE) {
                let earlier = chunk.record(line, &pattern, mask, order, is_local);
                found = found.or(earlier);
            }
            at = stop;
        }
        found
    }
}

impl Chunk {
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
        let exact = match is_in_words {
            true => Exact::Words(Box::new(Planes::of(line))),
            false => Exact::Bytes(Box::new(Planes::of(line))),
        };
        let number = match self.unused.pop() {
            Some(number) => {
                self.exact[number] = exact;
                number
            }
            None => {
                self.exact.push(exact);
                self.exact.len() - 1
            }
        };
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
