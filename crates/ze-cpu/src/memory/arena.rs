//! Arenas: the pages of allocations, one arena for each thread that allocates.
//!
//! Invariants
//! - An arena belongs to one thread while that lives; threads beyond [`ARENAS`] share. So threads that allocate and free
//!   their own memory take no lock in common.
//! - A page belongs to one arena forever and returns there, whichever thread frees it.
//! - Memory never has two owners.

use super::map::{BRANCH_SPAN, PAGE, Record};
use super::separate::{Separated, descriptor, into_file};
use super::store::Store;
use object_loader::FreeList;
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use ze_driver::device::NoFile;

/// How many there are.
pub(super) const ARENAS: usize = 256;
/// Requests from this size on get a separate store.
pub(super) const OWN_STORE: u64 = 32 << 20;
/// Address space of a shared store, where the process has no limit on it. One serves the small allocations of nearly all
/// programs, so their neighbourhood in the map of addresses stays small.
const SHARED_STORE: u64 = 256 << 20;
/// Bytes of freed pages of all arenas that stay filled, for the next allocation; more are given back to the system. With 64 MiB,
/// `sin(x) * exp(-x) + cos(x)` of dpnp on 4 million doubles took 216 and 263 ms instead of 70 and 96, and 37,500 page faults
/// (two interleaved runs; Intel Xeon, two processors, busy, 2026-11).
const KEEP: u64 = 256 << 20;
/// An arena publishes changes of its freed pages from this size on, and may keep as much regardless of others.
const TELL: u64 = 1 << 20;
/// Runs that a pool keeps as they were freed.
const RECENT: usize = 8;
/// Freed stores of one allocation that an arena keeps, for allocations of the same sizes.
const SPARE: usize = 4;
/// Bytes of them in all arenas. The system takes 55 ms to bring the pages of 61 MiB anew, in each call of
/// `dpnp.concatenate` for two arrays of 30 MiB; the copies take 9 ms.
const KEEP_STORES: u64 = 256 << 20;

/// Freed memory of all arenas that has not been given back to the system.
#[derive(Default)]
pub(super) struct Kept {
    /// Bytes of freed pages of shared stores.
    pages: AtomicU64,
    /// Bytes of freed stores of one allocation.
    stores: AtomicU64,
    most_stores: u64,
}

impl Kept {
    /// For a process that may have `limit` bytes in total: a small part of them.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            most_stores: (limit / 32).min(KEEP_STORES),
            ..Self::default()
        }
    }

    /// Counts a freed store, if that many bytes may stay.
    fn add_store(&self, len: u64) -> bool {
        let more = |bytes: u64| {
            bytes
                .checked_add(len)
                .filter(|sum| *sum <= self.most_stores)
        };
        // Relaxed: a count, which guards no other memory.
        self.stores
            .try_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    fn remove_store(&self, len: u64) {
        self.stores.fetch_sub(len, Ordering::Relaxed);
    }
}

/// A bit for each arena that a thread owns.
static LEASED: [AtomicU64; ARENAS / 64] = [const { AtomicU64::new(0) }; ARENAS / 64];

/// A thread's arena.
struct Lease {
    index: usize,
    /// Shared ones have no bit to give back.
    exclusive: bool,
}

impl Lease {
    fn take() -> Self {
        for (word, bits) in LEASED.iter().enumerate() {
            let mut now = bits.load(Ordering::Relaxed);
            while now != u64::MAX {
                let bit = (!now).trailing_zeros();
                // Relaxed: the arena's lock guards its contents.
                match bits.compare_exchange(
                    now,
                    now | 1 << bit,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => {
                        return Self {
                            index: word * 64 + bit as usize,
                            exclusive: true,
                        };
                    }
                    Err(other) => now = other,
                }
            }
        }
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Self {
            index: NEXT.fetch_add(1, Ordering::Relaxed) % ARENAS,
            exclusive: false,
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.exclusive {
            LEASED[self.index / 64].fetch_and(!(1 << (self.index % 64)), Ordering::Relaxed);
        }
    }
}

thread_local! {
    static LEASE: Lease = Lease::take();
}

/// The calling thread's arena.
pub(super) fn mine() -> usize {
    // A thread that has dropped its own already uses the first.
    LEASE.try_with(|lease| lease.index).unwrap_or(0)
}

/// Bytes of a shared store: a sixteenth of a limit on address space, so that several threads find room beside the
/// compiler's code and stacks.
fn shared_store() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let limit = signal_mask::address_space_limit();
        let part = limit.map_or(SHARED_STORE, |limit| limit / 16);
        part.clamp(BRANCH_SPAN, SHARED_STORE).next_multiple_of(PAGE)
    })
}

#[derive(Default)]
pub(super) struct Arena {
    /// By node; none: pages from anywhere.
    pools: BTreeMap<Option<u32>, Pool>,
    /// Stores of one allocation each, by its first page.
    own: BTreeMap<usize, Store>,
    /// Freed ones with the node of their pages, the last one freed last.
    spare: Vec<(Option<u32>, Store)>,
    /// Pages of shared stores that were exported, by the first.
    separated: BTreeMap<usize, Separated>,
    pub(super) records: Vec<&'static Record>,
    /// Bytes of freed pages.
    freed: u64,
    /// The part of them that is counted in `kept`.
    told: u64,
}

/// Shared stores whose pages come from one node, or from anywhere.
#[derive(Default)]
struct Pool {
    /// Runs freed last, as they were: a thread that allocates and frees in turn gets the same again without a search.
    recent: Vec<(usize, u64)>,
    /// Free pages that were used: the system still keeps them for us.
    filled: FreeList,
    /// Free address space without pages.
    empty: FreeList,
    stores: Vec<Store>,
}

impl Pool {
    /// Takes freed pages.
    fn take_freed(&mut self, len: u64, align: u64) -> Option<usize> {
        let fits = |&(base, has): &(usize, u64)| has == len && base.is_multiple_of(align as usize);
        match self.recent.iter().rposition(fits) {
            Some(at) => Some(self.recent.remove(at).0),
            None => self.filled.take(len, align),
        }
    }

    /// The store around an address.
    fn store(&self, base: usize) -> Option<&Store> {
        self.stores.iter().find(|store| store.holds(base))
    }

    fn add_freed(&mut self, base: usize, len: u64) {
        if self.recent.len() == RECENT {
            let (base, len) = self.recent.remove(0);
            self.filled.add(base, len);
        }
        self.recent.push((base, len));
    }

    /// Returns all freed pages to the system.
    fn empty_freed(&mut self) {
        for (base, len) in self.recent.drain(..) {
            self.filled.add(base, len);
        }
        // All at once: neighbours have been merged by now, and a system call for each page would cost more than
        // everything else.
        for (base, len) in self.filled.take_all() {
            if let Some(store) = self.store(base) {
                store.empty(base, len);
            }
            self.empty.add(base, len);
        }
    }
}

impl Arena {
    /// The address of `len` bytes, and whether they hold data of an earlier allocation; others are zero. `exports`: the
    /// process is likely to export them.
    pub(super) fn place(
        &mut self,
        len: u64,
        align: u64,
        node: Option<u32>,
        exports: bool,
        kept: &Kept,
    ) -> Option<(usize, bool)> {
        if len >= OWN_STORE {
            if crate::forks::has_forked() {
                // A child has the same pages.
                self.drop_spare(0, kept);
            }
            let fits = |(has_node, store): &(Option<u32>, Store)| {
                *has_node == node
                    && store.len() == len
                    && store.base().is_multiple_of(align as usize)
            };
            if let Some(at) = self.spare.iter().rposition(fits) {
                let (_, store) = self.spare.remove(at);
                kept.remove_store(len);
                return Some((self.keep(store), true));
            }
            // Exporting from a file moves nothing. But each file takes one of the program's descriptors, and any
            // process of the user can open it.
            let store = exports.then(|| Store::in_spare_file(len, align)).flatten();
            let store = store.or_else(|| Store::anonymous(len, align))?;
            store.prefer(node);
            return Some((self.keep(store), false));
        }
        let pool = self.pools.entry(node).or_default();
        if let Some(base) = pool.take_freed(len, align) {
            self.freed -= len;
            return Some((base, true));
        }
        if let Some(base) = pool.empty.take(len, align) {
            return Some((base, false));
        }
        let least = (len + align + PAGE).next_multiple_of(PAGE);
        // The allocation may fit even if a whole store does not.
        let sizes = [shared_store().max(least), least];
        let store = sizes
            .into_iter()
            .find_map(|size| Store::anonymous(size, BRANCH_SPAN))?;
        store.prefer(node);
        if signal_mask::address_space_limit().is_none() {
            // Now, before the program locks pages: the second view of a locked page is locked as a whole.
            store.pages();
        }
        // The last page stays unused, so that runs of two adjacent stores are never merged.
        pool.empty.add(store.base(), store.len() - PAGE);
        pool.stores.push(store);
        Some((pool.empty.take(len, align)?, false))
    }

    /// As [`Self::place`], in a separate file.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn place_in_file(
        &mut self,
        len: u64,
        align: u64,
        node: Option<u32>,
    ) -> Result<usize, NoFile> {
        let store = Store::in_file(len, align)?;
        store.prefer(node);
        Ok(self.keep(store))
    }

    /// Keeps the store of one allocation.
    pub(super) fn keep(&mut self, store: Store) -> usize {
        let base = store.base();
        self.own.insert(base, store);
        base
    }

    /// The file behind the allocation that has the pages of `room` and uses the bytes of `used`, and the offset of the
    /// first page. No other allocation is in the file: the first call moves this one out of a shared store.
    ///
    /// # Errors
    /// Why there is no file; the allocation stays where it is.
    pub(super) fn export(
        &mut self,
        room: Range<usize>,
        used: Range<usize>,
        node: Option<u32>,
    ) -> Result<(OwnedFd, u64), NoFile> {
        let base = room.start;
        if let Some(store) = self.own.get_mut(&base) {
            if store.file().is_none() {
                let file = into_file(store, room, used, node)?;
                std::mem::replace(store, file).give_up_range();
            }
            return descriptor(store);
        }
        let separated = match self.separated.get(&base) {
            Some(known) => known,
            None => {
                let store = self.pools.get(&node).and_then(|pool| pool.store(base));
                let store = store.ok_or(NoFile {
                    errno: libc::ENOMEM,
                })?;
                let fresh = Separated::new(store, room, used, node)?;
                self.separated.entry(base).or_insert(fresh)
            }
        };
        Ok((separated.descriptor()?, 0))
    }

    /// Takes back pages of [`Self::place`] and the like; `kept` counts the freed pages of all arenas.
    pub(super) fn give_back(&mut self, base: usize, len: u64, node: Option<u32>, kept: &Kept) {
        if let Some(store) = self.own.remove(&base) {
            // Other processes may have the pages of an exported one, and forked children see all pages.
            let is_ours = store.is_private() && !crate::forks::has_forked();
            if is_ours && signal_mask::address_space_limit().is_none() {
                self.keep_spare(store, node, kept);
            }
            return;
        }
        if let Some(separated) = self.separated.remove(&base) {
            let pool = self.pools.entry(node).or_default();
            // A range that cannot be had back is lost; the file may still be in use elsewhere.
            if pool.store(base).is_some_and(|store| separated.end(store)) {
                pool.empty.add(base, len);
            }
            return;
        }
        self.pools.entry(node).or_default().add_freed(base, len);
        self.add_freed(len, kept);
    }

    /// Keeps a freed store for the next allocation of its size, in place of older ones; or unmaps it.
    fn keep_spare(&mut self, store: Store, node: Option<u32>, kept: &Kept) {
        if store.len() > kept.most_stores {
            return;
        }
        self.drop_spare(SPARE - 1, kept);
        while !kept.add_store(store.len()) {
            if self.spare.is_empty() {
                return;
            }
            self.drop_spare(self.spare.len() - 1, kept);
        }
        self.spare.push((node, store));
    }

    /// Unmaps the oldest freed stores, down to `count`.
    pub(super) fn drop_spare(&mut self, count: usize, kept: &Kept) {
        let excess = self.spare.len().saturating_sub(count);
        for (_, store) in self.spare.drain(..excess) {
            kept.remove_store(store.len());
        }
    }

    /// Counts freed pages, and returns all of them to the system if all arenas have too many.
    fn add_freed(&mut self, len: u64, kept: &Kept) {
        self.freed += len;
        if self.freed.abs_diff(self.told) < TELL {
            return;
        }
        self.tell(kept);
        if self.freed > TELL && kept.pages.load(Ordering::Relaxed) > KEEP {
            self.pools.values_mut().for_each(Pool::empty_freed);
            self.freed = 0;
            self.tell(kept);
        }
    }

    fn tell(&mut self, kept: &Kept) {
        // Wraps around if there are fewer now, as the sum does.
        kept.pages
            .fetch_add(self.freed.wrapping_sub(self.told), Ordering::Relaxed);
        self.told = self.freed;
    }

    pub(super) fn record(&mut self) -> &'static Record {
        if let Some(record) = self.records.pop() {
            return record;
        }
        let fresh: Vec<Record> = (0..64).map(|_| Record::unused()).collect();
        let fresh: &'static [Record] = fresh.leak();
        self.records.extend(&fresh[1..]);
        &fresh[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_beyond_the_limit_is_returned_to_the_system() {
        let mut arena = Arena::default();
        let kept = Kept::new(u64::MAX);
        let len = 4 << 20;
        let places: Vec<_> = (0..2 * KEEP / len)
            .map(|_| arena.place(len, PAGE, None, false, &kept).unwrap().0)
            .collect();
        for base in places {
            arena.give_back(base, len, None, &kept);
            assert!(arena.freed <= KEEP && kept.pages.load(Ordering::Relaxed) == arena.freed);
        }
        // Another arena that has few keeps them.
        let mut other = Arena::default();
        kept.pages.store(2 * KEEP, Ordering::Relaxed);
        let base = other.place(PAGE, PAGE, None, false, &kept).unwrap().0;
        other.give_back(base, PAGE, None, &kept);
        assert_eq!((other.freed, other.told), (PAGE, 0));
        assert_eq!(
            other.place(PAGE, PAGE, None, false, &kept),
            Some((base, true))
        );
        assert_eq!(other.freed, 0);
    }

    #[test]
    fn a_freed_store_serves_the_next_allocation_of_its_size() {
        let mut arena = Arena::default();
        let kept = Kept::new(u64::MAX);
        let (base, used) = arena.place(OWN_STORE, PAGE, None, false, &kept).unwrap();
        assert!(!used);
        // Not by `give_back`: other tests of the process fork.
        let store = arena.own.remove(&base).unwrap();
        arena.keep_spare(store, None, &kept);
        // Another size, and pages of a node, are not there.
        let (other, used) = arena
            .place(OWN_STORE + PAGE, PAGE, None, false, &kept)
            .unwrap();
        assert!(other != base && !used);
        assert!(
            !arena
                .place(OWN_STORE, PAGE, Some(0), false, &kept)
                .unwrap()
                .1
        );
        // A process that has forked does not reuse them: other tests fork.
        let again = arena.place(OWN_STORE, PAGE, None, false, &kept).unwrap();
        assert_eq!(again == (base, true), again.1);
        assert!(again.1 || crate::forks::has_forked());
        assert_eq!(kept.stores.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn freed_stores_have_a_bound() {
        let free = |arena: &mut Arena, len: u64, kept: &Kept| {
            arena.keep_spare(Store::anonymous(len, PAGE).unwrap(), None, kept);
            arena
                .spare
                .iter()
                .map(|(_, store)| store.len())
                .collect::<Vec<_>>()
        };
        let kept = Kept::new(100 * OWN_STORE);
        let mut arena = Arena::default();
        assert_eq!(free(&mut arena, OWN_STORE, &kept), [OWN_STORE]);
        // The older one is removed. One that is too large alone changes nothing.
        let three = 3 * OWN_STORE;
        assert_eq!(free(&mut arena, three, &kept), [three]);
        assert_eq!(free(&mut arena, 4 * OWN_STORE, &kept), [three]);
        assert_eq!(kept.stores.load(Ordering::Relaxed), three);
        arena.drop_spare(0, &kept);
        assert_eq!(kept.stores.load(Ordering::Relaxed), 0);
        // Another arena's count, too.
        let mut other = Arena::default();
        assert_eq!(free(&mut other, 2 * OWN_STORE, &kept), [2 * OWN_STORE]);
        assert!(free(&mut arena, 2 * OWN_STORE, &kept).is_empty());
        let (mut many, kept) = (Arena::default(), Kept::new(u64::MAX));
        for pages in 0..SPARE as u64 + 2 {
            let stores = free(&mut many, OWN_STORE + pages * PAGE, &kept);
            assert_eq!(stores.last(), Some(&(OWN_STORE + pages * PAGE)));
            assert!(stores.len() <= SPARE);
        }
    }

    #[test]
    fn an_exported_store_is_unmapped_when_it_is_freed() {
        let mut arena = Arena::default();
        let kept = Kept::new(u64::MAX);
        let base = arena.place(OWN_STORE, PAGE, None, false, &kept).unwrap().0;
        let room = base..base + OWN_STORE as usize;
        arena.export(room.clone(), room, None).unwrap();
        arena.give_back(base, OWN_STORE, None, &kept);
        assert!(arena.spare.is_empty());
    }

    #[test]
    fn freed_runs_come_again_whole_or_as_parts() {
        let mut arena = Arena::default();
        let kept = Kept::new(u64::MAX);
        let bases: Vec<_> = (0..32)
            .map(|_| arena.place(PAGE, PAGE, None, false, &kept).unwrap().0)
            .collect();
        for &base in &bases {
            arena.give_back(base, PAGE, None, &kept);
        }
        // The last ones unchanged; those before them are one run now.
        let again: Vec<_> = (0..RECENT)
            .map(|_| arena.place(PAGE, PAGE, None, false, &kept).unwrap().0)
            .collect();
        assert!(again.iter().rev().eq(&bases[32 - RECENT..]));
        let (run, _) = arena.place(20 * PAGE, PAGE, None, false, &kept).unwrap();
        assert!(bases[..32 - RECENT].contains(&run));
        assert_eq!(arena.freed, 4 * PAGE);
    }

    #[test]
    fn a_thread_has_its_own_arena_while_it_lives() {
        let here = mine();
        assert_eq!(mine(), here);
        let together = std::sync::Barrier::new(8);
        let mut all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let index = mine();
                        together.wait();
                        index
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        all.push(here);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 9);
    }
}
