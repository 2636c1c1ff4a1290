//! From any address to its allocation, without a lock: a radix tree over page numbers.
//!
//! Three levels over 47 bits of address: 2^12 roots of 32 GiB, 2^12 branches of 8 MiB, 2^11 leaves of
//! a page. A branch that one allocation fills holds it directly. Tables are never given back and
//! records are reused but never unmapped, so a reader may hold an old pointer; the record's sequence
//! number shows that it has changed meanwhile.

use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;
const LEAF_BITS: u32 = 11;
const BRANCH_BITS: u32 = 12;
const ROOT_BITS: u32 = 12;
/// Bytes that one entry of a branch covers.
pub(crate) const BRANCH_SPAN: u64 = PAGE << LEAF_BITS;

/// An allocation in the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) base: usize,
    pub(crate) size: u64,
    pub(crate) id: u64,
    pub(crate) context: usize,
    /// Kind and device, packed by the owner of the map.
    pub(crate) tag: u64,
}

/// A slot for an [`Entry`] that readers may read while it changes. Alignment keeps a bit free.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Record {
    /// Odd while the record changes or is unused.
    sequence: AtomicU64,
    base: AtomicUsize,
    size: AtomicU64,
    id: AtomicU64,
    context: AtomicUsize,
    tag: AtomicU64,
}

impl Record {
    /// An unused record.
    pub(crate) fn unused() -> Self {
        let record = Self::default();
        record.sequence.store(1, Ordering::Relaxed);
        record
    }

    /// Fills an unused record, which only the caller owns; other threads may not read it yet.
    fn fill(&self, entry: &Entry) {
        // A reader that sees a field stored below also sees that the record was retracted before.
        fence(Ordering::Release);
        self.base.store(entry.base, Ordering::Relaxed);
        self.size.store(entry.size, Ordering::Relaxed);
        self.id.store(entry.id, Ordering::Relaxed);
        self.context.store(entry.context, Ordering::Relaxed);
        self.tag.store(entry.tag, Ordering::Relaxed);
    }

    /// Publishes a filled record.
    fn publish(&self) {
        self.sequence.fetch_add(1, Ordering::Release);
    }

    /// Marks the record unused and owned by the caller. `false` if it has changed since `sequence`: another thread
    /// freed it.
    fn retract(&self, sequence: u64) -> bool {
        let swapped = self.sequence.compare_exchange(
            sequence,
            sequence + 1,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        // Later stores to the fields must not be seen with the old sequence.
        fence(Ordering::Release);
        swapped.is_ok()
    }

    fn read(&self) -> Option<Entry> {
        self.read_at().map(|(entry, _)| entry)
    }

    /// Its contents, and their sequence number.
    fn read_at(&self) -> Option<(Entry, u64)> {
        let before = self.sequence.load(Ordering::Acquire);
        if before % 2 == 1 {
            return None;
        }
        let entry = Entry {
            base: self.base.load(Ordering::Relaxed),
            size: self.size.load(Ordering::Relaxed),
            id: self.id.load(Ordering::Relaxed),
            context: self.context.load(Ordering::Relaxed),
            tag: self.tag.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        // Changed during the read: the allocation is gone.
        (self.sequence.load(Ordering::Relaxed) == before).then_some((entry, before))
    }
}

/// A page's record; and, so that the commonest question needs no look at that, what [`Map::range`] says of it, in one
/// word: 0 when the record has to be asked, else the bytes of the allocation, from bit [`SIZE_BITS`] on how many
/// [`STEP`]s into its first page it begins, and from bit [`BEFORE`] on how many pages that is before this one.
struct Leaf {
    records: [AtomicPtr<Record>; 1 << LEAF_BITS],
    ranges: [AtomicU64; 1 << LEAF_BITS],
}
/// Bits of a range word for the size: 256 GiB. Larger sizes are read from the record.
const SIZE_BITS: u32 = 38;
/// Places in a page where allocations begin are multiples of this many bytes; others ask the record.
pub(crate) const STEP: u64 = 128;
const BEFORE: u32 = SIZE_BITS + (PAGE / STEP).trailing_zeros();

/// The range word of page `page` of an allocation.
fn range_word(base: usize, size: u64, page: u64) -> u64 {
    let before = page - base as u64 / PAGE;
    let fits = size < 1 << SIZE_BITS
        && before < 1 << (u64::BITS - BEFORE)
        && (base as u64).is_multiple_of(STEP);
    let steps = base as u64 % PAGE / STEP;
    if fits {
        size | steps << SIZE_BITS | before << BEFORE
    } else {
        0
    }
}

/// Each entry is null, a leaf, or a record with the lowest bit set.
struct Branch([AtomicPtr<u8>; 1 << BRANCH_BITS]);

/// The map.
pub(crate) struct Map {
    roots: [AtomicPtr<Branch>; 1 << ROOT_BITS],
}

impl Map {
    /// An empty map.
    pub(crate) fn new() -> Box<Self> {
        let mut map = Box::<Self>::new_uninit();
        // SAFETY: all-zero bytes are null pointers: an empty table.
        unsafe {
            map.as_mut_ptr().write_bytes(0, 1);
            map.assume_init()
        }
    }

    /// Finds the allocation around `address`.
    pub(crate) fn find(&self, address: usize) -> Option<Entry> {
        let page = address as u64 / PAGE;
        let root = usize::try_from(page >> (LEAF_BITS + BRANCH_BITS)).ok()?;
        let branch = self.roots.get(root)?.load(Ordering::Acquire);
        if branch.is_null() {
            return None;
        }
        // SAFETY: a non-null root points to a branch that is never freed.
        let branch = unsafe { &*branch };
        let slot = branch.0[branch_index(page)].load(Ordering::Acquire);
        let record: *const Record = if slot.is_null() {
            return None;
        } else if slot as usize & 1 == 1 {
            (slot as usize & !1) as *const Record
        } else {
            // SAFETY: an even non-null entry points to a leaf that is never freed.
            let leaf = unsafe { &*slot.cast::<Leaf>() };
            leaf.records[leaf_index(page)].load(Ordering::Acquire)
        };
        if record.is_null() {
            return None;
        }
        // SAFETY: records are never unmapped.
        let entry = unsafe { &*record }.read()?;
        let inside = (address.checked_sub(entry.base)? as u64) < entry.size;
        inside.then_some(entry)
    }

    /// Base and size of the allocation around `address`.
    #[inline]
    pub(crate) fn range(&self, address: usize) -> Option<(usize, u64)> {
        let page = address as u64 / PAGE;
        let root = usize::try_from(page >> (LEAF_BITS + BRANCH_BITS)).ok()?;
        let branch = self.roots.get(root)?.load(Ordering::Acquire);
        // SAFETY: as in `find`: tables are never freed.
        let slot = unsafe { branch.as_ref() }?.0[branch_index(page)].load(Ordering::Acquire);
        if slot.is_null() {
            return None;
        }
        if slot as usize & 1 == 0 {
            // SAFETY: as in `find`.
            let leaf = unsafe { &*slot.cast::<Leaf>() };
            // One word, so it is never half of one allocation and half of another.
            let word = leaf.ranges[leaf_index(page)].load(Ordering::Acquire);
            if word != 0 {
                let steps = word >> SIZE_BITS & (PAGE / STEP - 1);
                let base = (page - (word >> BEFORE)) * PAGE + steps * STEP;
                let size = word & ((1 << SIZE_BITS) - 1);
                // Addresses before the base, in its page, belong to no allocation.
                let inside = (address as u64)
                    .checked_sub(base)
                    .is_some_and(|at| at < size);
                return inside.then_some((base as usize, size));
            }
        }
        self.find(address).map(|entry| (entry.base, entry.size))
    }

    /// Enters `entry` through `record`, which must be unused. Any number of threads may do so at a time, each with its
    /// own pages and record.
    pub(crate) fn insert(&self, record: &'static Record, entry: &Entry) -> bool {
        let Some(pages) = pages_of(entry) else {
            return false;
        };
        record.fill(entry);
        record.publish();
        self.set(
            pages,
            std::ptr::from_ref(record).cast_mut(),
            (entry.base, entry.size),
        );
        true
    }

    /// As [`Self::insert`], for pages that other threads may want to enter too: succeeds only if none of them belongs
    /// to an allocation. Of two threads with overlapping pages at most one succeeds.
    #[cold]
    pub(crate) fn insert_where_free(&self, record: &'static Record, entry: &Entry) -> bool {
        let Some(pages) = pages_of(entry) else {
            return false;
        };
        // While the pages are claimed, readers find nothing there.
        record.fill(entry);
        let pointer = std::ptr::from_ref(record).cast_mut();
        if let Err(reached) = self.claim(pages, pointer) {
            self.set((pages.0, reached), std::ptr::null_mut(), (0, 0));
            return false;
        }
        self.set(pages, pointer, (entry.base, entry.size));
        record.publish();
        true
    }

    /// Sets all pages of `first..end`, from the first on, to `record`; a page that belongs to another record is the
    /// error.
    fn claim(&self, (first, end): (u64, u64), record: *mut Record) -> Result<(), u64> {
        let span = 1u64 << LEAF_BITS;
        let none = std::ptr::null_mut();
        let mut page = first;
        while page < end {
            let root = (page >> (LEAF_BITS + BRANCH_BITS)) as usize;
            let slot = &table(&self.roots[root]).0[branch_index(page)];
            let now = slot.load(Ordering::Acquire);
            if now as usize & 1 == 1 {
                return Err(page);
            }
            if now.is_null() && page.is_multiple_of(span) && end - page >= span {
                let whole = (record as usize | 1) as *mut u8;
                let claimed =
                    slot.compare_exchange(none, whole, Ordering::AcqRel, Ordering::Relaxed);
                // Otherwise the page is checked again.
                if claimed.is_ok() {
                    page += span;
                }
                continue;
            }
            if now.is_null() {
                let fresh: *mut Leaf = Box::into_raw(zeroed());
                let made =
                    slot.compare_exchange(none, fresh.cast(), Ordering::AcqRel, Ordering::Relaxed);
                if made.is_err() {
                    // SAFETY: no other thread has seen it.
                    drop(unsafe { Box::from_raw(fresh) });
                }
                continue;
            }
            // SAFETY: an even non-null entry points to a leaf that is never freed.
            let leaf = unsafe { &*now.cast::<Leaf>() };
            let stop = end.min((page / span + 1) * span);
            while page < stop {
                leaf.records[leaf_index(page)]
                    .compare_exchange(
                        std::ptr::null_mut(),
                        record,
                        Ordering::AcqRel,
                        Ordering::Relaxed,
                    )
                    .map_err(|_| page)?;
                page += 1;
            }
        }
        Ok(())
    }

    /// Removes the allocation whose first byte is `base`, if it is `wanted`; of several threads one gets it.
    #[inline]
    pub(crate) fn remove(
        &self,
        base: usize,
        wanted: impl Fn(&Entry) -> bool,
    ) -> Option<(Entry, &'static Record)> {
        let record = self.record_at(base as u64 / PAGE)?;
        let (entry, sequence) = record.read_at()?;
        let pages = pages_of(&entry).filter(|_| entry.base == base && wanted(&entry))?;
        if !record.retract(sequence) {
            return None;
        }
        self.set(pages, std::ptr::null_mut(), (0, 0));
        Some((entry, record))
    }

    /// The allocation around `address`, or the nearest that begins or ends within `pages` pages of it.
    pub(crate) fn nearest(&self, address: usize, pages: u64) -> Option<Entry> {
        if let Some(entry) = self.find(address) {
            return Some(entry);
        }
        let page = address as u64 / PAGE;
        let entry_of = |page: u64| self.record_at(page)?.read();
        // An allocation that begins or ends in the same page, else the next ones of other pages.
        let own = entry_of(page);
        let before = own.filter(|entry| entry.base <= address).or_else(|| {
            self.last_used(page.checked_sub(1)?, page.saturating_sub(pages))
                .and_then(entry_of)
        });
        let after = own.filter(|entry| entry.base > address).or_else(|| {
            self.first_used(page.checked_add(1)?, page.saturating_add(pages))
                .and_then(entry_of)
        });
        // Others may have come there meanwhile.
        let before = before.filter(|entry| entry.base <= address);
        let after = after.filter(|entry| entry.base > address);
        match (before, after) {
            (Some(before), Some(after)) => {
                let behind = ((address - before.base) as u64).saturating_sub(before.size);
                let ahead = (after.base - address) as u64;
                Some(if behind < ahead { before } else { after })
            }
            (one, other) => one.or(other),
        }
    }

    /// Whether an allocation has any of the pages of `size` bytes from `base` on.
    #[cfg(test)]
    pub(crate) fn holds_any(&self, base: usize, size: u64) -> bool {
        let first = base as u64 / PAGE;
        let end = (base as u64).saturating_add(size).div_ceil(PAGE);
        self.first_used(first, end.min(1 << (LEAF_BITS + BRANCH_BITS + ROOT_BITS)))
            .is_some()
    }

    /// How many pages from `page` on are known to be free, before the next position that must be checked; `None` if
    /// `page` is used.
    fn unused(&self, page: u64) -> Option<u64> {
        let root = usize::try_from(page >> (LEAF_BITS + BRANCH_BITS)).ok();
        let Some(root) = root.and_then(|root| self.roots.get(root)) else {
            return Some(1 << (LEAF_BITS + BRANCH_BITS));
        };
        // SAFETY: as in `find`: tables are never freed.
        let Some(branch) = (unsafe { root.load(Ordering::Acquire).as_ref() }) else {
            return Some(1 << (LEAF_BITS + BRANCH_BITS));
        };
        if branch.0[branch_index(page)]
            .load(Ordering::Acquire)
            .is_null()
        {
            return Some(1 << LEAF_BITS);
        }
        self.record_at(page).is_none().then_some(1)
    }

    fn first_used(&self, from: u64, end: u64) -> Option<u64> {
        let mut page = from;
        while page < end {
            match self.unused(page) {
                None => return Some(page),
                Some(span) => page = (page / span + 1) * span,
            }
        }
        None
    }

    fn last_used(&self, from: u64, begin: u64) -> Option<u64> {
        let mut page = from;
        while page > begin {
            match self.unused(page) {
                None => return Some(page),
                Some(span) => page = (page / span * span).checked_sub(1)?,
            }
        }
        None
    }

    fn record_at(&self, page: u64) -> Option<&'static Record> {
        let root = usize::try_from(page >> (LEAF_BITS + BRANCH_BITS)).ok()?;
        let branch = self.roots.get(root)?.load(Ordering::Acquire);
        // SAFETY: as in `find`: tables and records are never freed.
        unsafe {
            let slot = branch.as_ref()?.0[branch_index(page)].load(Ordering::Acquire);
            if slot as usize & 1 == 1 {
                ((slot as usize & !1) as *const Record).as_ref()
            } else {
                slot.cast::<Leaf>().as_ref()?.records[leaf_index(page)]
                    .load(Ordering::Acquire)
                    .as_ref()
            }
        }
    }

    /// Sets all pages of `first..end` to `record`, the allocation of `size` bytes at `base`.
    fn set(&self, (first, end): (u64, u64), record: *mut Record, (base, size): (usize, u64)) {
        let span = 1u64 << LEAF_BITS;
        let mut page = first;
        while page < end {
            let root = (page >> (LEAF_BITS + BRANCH_BITS)) as usize;
            let branch = table(&self.roots[root]);
            let slot = &branch.0[branch_index(page)];
            let whole = page.is_multiple_of(span) && end - page >= span;
            let direct = if record.is_null() {
                std::ptr::null_mut()
            } else {
                (record as usize | 1) as *mut u8
            };
            let Some(leaf) = leaf_of(slot, whole.then_some(direct)) else {
                page += span;
                continue;
            };
            let stop = end.min((page / span + 1) * span);
            while page < stop {
                let at = leaf_index(page);
                leaf.records[at].store(record, Ordering::Release);
                let word = if record.is_null() {
                    0
                } else {
                    range_word(base, size, page)
                };
                leaf.ranges[at].store(word, Ordering::Release);
                page += 1;
            }
        }
    }
}

fn table(slot: &AtomicPtr<Branch>) -> &'static Branch {
    let now = slot.load(Ordering::Acquire);
    let branch = if now.is_null() { first(slot) } else { now };
    // SAFETY: non-null roots point to branches that are never freed.
    unsafe { &*branch }
}

/// The leaf of an entry of a branch, created if necessary; `None` if `whole` could be entered instead.
fn leaf_of(slot: &AtomicPtr<u8>, whole: Option<*mut u8>) -> Option<&'static Leaf> {
    loop {
        let now = slot.load(Ordering::Acquire);
        if !now.is_null() && now as usize & 1 == 0 {
            // SAFETY: an even non-null entry: a leaf that is never freed.
            return Some(unsafe { &*now.cast::<Leaf>() });
        }
        if let Some(whole) = whole {
            if slot
                .compare_exchange(now, whole, Ordering::Release, Ordering::Relaxed)
                .is_ok()
            {
                return None;
            }
            continue;
        }
        let fresh: *mut Leaf = Box::into_raw(zeroed());
        match slot.compare_exchange(now, fresh.cast(), Ordering::AcqRel, Ordering::Relaxed) {
            // SAFETY: just created, and never freed from now on.
            Ok(_) => return Some(unsafe { &*fresh }),
            // SAFETY: no other thread has seen it.
            Err(_) => drop(unsafe { Box::from_raw(fresh) }),
        }
    }
}

/// A fresh table in an empty slot, or the table that another thread put there first.
fn first(slot: &AtomicPtr<Branch>) -> *mut Branch {
    let fresh = Box::into_raw(zeroed::<Branch>());
    let none = std::ptr::null_mut();
    match slot.compare_exchange(none, fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        Err(now) => {
            // SAFETY: no other thread has seen it.
            drop(unsafe { Box::from_raw(fresh) });
            now
        }
    }
}

/// A table of null pointers.
fn zeroed<T>() -> Box<T> {
    let mut table = Box::<T>::new_uninit();
    // SAFETY: only used with tables of atomic pointers, for which zero bytes are null pointers.
    unsafe {
        table.as_mut_ptr().write_bytes(0, 1);
        table.assume_init()
    }
}

#[inline]
fn branch_index(page: u64) -> usize {
    (page >> LEAF_BITS) as usize & ((1 << BRANCH_BITS) - 1)
}

#[inline]
fn leaf_index(page: u64) -> usize {
    page as usize & ((1 << LEAF_BITS) - 1)
}

/// Page numbers from the first to one after the last; `None` outside the 47 bits.
fn pages_of(entry: &Entry) -> Option<(u64, u64)> {
    let first = entry.base as u64 / PAGE;
    let end = (entry.base as u64)
        .checked_add(entry.size)?
        .checked_next_multiple_of(PAGE)?
        / PAGE;
    (end <= 1 << (LEAF_BITS + BRANCH_BITS + ROOT_BITS)).then_some((first, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_allocation_is_the_one_around_or_the_closer_neighbour() {
        let map = Map::new();
        let base = 0x7e00_0000_0000usize;
        for (id, (offset, size)) in [
            (0, 100),
            (10 * PAGE, PAGE),
            (3 * BRANCH_SPAN, 2 * BRANCH_SPAN),
            // Begins in the middle of a page, after one that ends with the page before.
            (20 * PAGE, PAGE),
            (21 * PAGE + 31 * STEP, 2 * PAGE),
            (24 * PAGE, PAGE),
        ]
        .into_iter()
        .enumerate()
        {
            let entry = Entry {
                base: base + offset as usize,
                size,
                id: id as u64 + 1,
                ..Entry::default()
            };
            assert!(map.insert(record(), &entry));
        }
        let near = |offset: u64| map.nearest(base + offset as usize, 1 << 18).map(|e| e.id);
        let cases = [
            (50, Some(1)),
            (100, Some(1)),
            (3 * PAGE, Some(1)),
            (7 * PAGE, Some(2)),
            (11 * PAGE + 5, Some(2)),
            (21 * PAGE + 5, Some(4)),
            (21 * PAGE + 31 * STEP - 5, Some(5)),
            (23 * PAGE + 31 * STEP, Some(5)),
            (24 * PAGE - 5, Some(6)),
            (3 * BRANCH_SPAN - 1, Some(3)),
            (4 * BRANCH_SPAN, Some(3)),
            (5 * BRANCH_SPAN + (1 << 29), Some(3)),
            (5 * BRANCH_SPAN + (1 << 31), None),
        ];
        for (offset, id) in cases {
            assert_eq!(near(offset), id, "{offset:#x}");
        }
        // (offset, size, whether an allocation has a page of it)
        for (offset, size, taken) in [
            (0, 1, true),
            (PAGE, 9 * PAGE, false),
            (PAGE, 9 * PAGE + 1, true),
            (11 * PAGE, 9 * PAGE, false),
            (21 * PAGE, 1, true),
            (23 * PAGE, PAGE, true),
            (25 * PAGE, 1 << 20, false),
            (5 * BRANCH_SPAN, u64::MAX, false),
            (0, u64::MAX, true),
        ] {
            let found = map.holds_any(base + offset as usize, size);
            assert_eq!(found, taken, "{offset:#x} {size:#x}");
        }
        assert_eq!(map.nearest(0, 1 << 18), None);
        assert_eq!(map.nearest(usize::MAX, 1 << 18), None);
    }

    fn record() -> &'static Record {
        Box::leak(Box::new(Record::unused()))
    }

    #[test]
    fn pages_that_threads_compete_for_are_one_threads() {
        let map = Map::new();
        let base = 0x7d00_0000_0000usize;
        // (first byte, bytes) from a branch's second page on: within a leaf, over its end, whole branches.
        let ranges = [
            (PAGE, 4 * PAGE),
            (3 * PAGE, 4 * PAGE),
            (5 * PAGE, BRANCH_SPAN),
            (BRANCH_SPAN, 3 * BRANCH_SPAN),
            (2 * BRANCH_SPAN - PAGE, 2 * PAGE),
            (3 * BRANCH_SPAN + 7 * PAGE, 1),
        ];
        let pages = (5 * BRANCH_SPAN / PAGE) as usize;
        let owners: Vec<_> = (0..pages).map(|_| AtomicU64::new(0)).collect();
        let wins = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (map, owners, wins) = (&map, &owners, &wins);
                scope.spawn(move || {
                    let record = record();
                    for step in 0..2_000 {
                        let (offset, size) = ranges[(step * (thread + 1) + thread) % ranges.len()];
                        let at = base + offset as usize;
                        let entry = Entry {
                            base: at,
                            size,
                            id: (thread * 10_000 + step) as u64,
                            ..Entry::default()
                        };
                        if !map.insert_where_free(record, &entry) {
                            continue;
                        }
                        wins.fetch_add(1, Ordering::Relaxed);
                        let own = (offset / PAGE) as usize..(offset + size).div_ceil(PAGE) as usize;
                        for owner in &owners[own.clone()] {
                            assert_eq!(owner.swap(1, Ordering::Relaxed), 0, "{offset:#x}");
                        }
                        for inner in [0, size / 2, size - 1] {
                            assert_eq!(map.find(at + inner as usize), Some(entry));
                            assert_eq!(map.range(at + inner as usize), Some((at, size)));
                        }
                        for owner in &owners[own] {
                            owner.store(0, Ordering::Relaxed);
                        }
                        assert!(map.remove(at, |found| *found == entry).is_some());
                    }
                });
            }
        });
        assert!(wins.into_inner() > 0);
        assert!(!map.holds_any(base, 5 * BRANCH_SPAN), "nothing is left");
    }

    #[test]
    fn any_inner_address_finds_its_allocation_and_no_other_does() {
        let map = Map::new();
        let base = 0x7f00_0000_0000usize;
        // (offset, size): small, unaligned size, several branches, whole branches, neighbours.
        let cases = [
            (0u64, 1u64),
            (PAGE, PAGE + 5),
            (BRANCH_SPAN - PAGE, 2 * PAGE),
            (2 * BRANCH_SPAN, 3 * BRANCH_SPAN),
            (6 * BRANCH_SPAN + PAGE, 2 * BRANCH_SPAN),
            (1 << 36, 40 << 30),
            // Not at the beginning of a page, at a multiple of `STEP` and not.
            (10 * BRANCH_SPAN + 3 * STEP, 5 * PAGE),
            (10 * BRANCH_SPAN + 6 * PAGE + 72, PAGE),
        ];
        for (id, (offset, size)) in cases.into_iter().enumerate() {
            let entry = Entry {
                base: base + offset as usize,
                size,
                id: id as u64 + 1,
                ..Entry::default()
            };
            assert!(map.insert(record(), &entry));
        }
        for round in 0..2 {
            for (id, (offset, size)) in cases.into_iter().enumerate() {
                let at = base + offset as usize;
                for inner in [0, size / 3, size - 1] {
                    let found = map.find(at + inner as usize).unwrap();
                    assert_eq!((found.id, found.base), (id as u64 + 1, at), "case {id}");
                    assert_eq!(
                        map.range(at + inner as usize),
                        Some((at, size)),
                        "case {id}"
                    );
                }
                assert!(
                    map.find(at + size as usize).is_none()
                        && map.range(at + size as usize).is_none(),
                    "case {id}, after the end"
                );
            }
            assert!(map.find(base - 1).is_none());
            if round == 0 {
                // Removing and entering again reuses records and tables.
                for (offset, _) in cases {
                    let at = base + offset as usize;
                    assert!(map.remove(at + 1, |_| true).is_none(), "not a base address");
                    assert!(map.remove(at, |_| false).is_none(), "not wanted");
                    let (entry, record) = map.remove(at, |_| true).unwrap();
                    assert!(map.find(at).is_none() && map.remove(at, |_| true).is_none());
                    assert_eq!(map.range(at), None);
                    assert!(map.insert(record, &entry));
                }
            }
        }
        assert!(map.find(0).is_none() && map.find(usize::MAX).is_none());
        let outside = Entry {
            base: 1 << 47,
            size: 1,
            ..Entry::default()
        };
        assert!(!map.insert(record(), &outside));
    }
}
