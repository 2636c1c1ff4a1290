//! Memory: one address space, whole pages from shared mappings.
//!
//! Invariants
//! - A descriptor that leaves the process is of a file with one allocation in it. Any allocation may be exported later:
//!   its pages then move to such a file, at the same address (`separate.rs`).
//! - [`Memory::find`] takes no lock; any address may be passed at any time.
//! - Allocating takes the lock of the thread's own arena, freeing the lock of the pages' arena (`arena.rs`).
//! - No two allocations share a page. The requested size, in whole pages, counts against the limit, wherever the allocation
//!   begins: clients fill a device with blocks of a size that divides its memory.
//! - Memory of a device on one NUMA node comes from that node as long as it has some.
//! - An id is given once in the process's life; memory of one owner is never handed to two.
//!
//! Large allocations begin at different places of their first pages: a loop over several arrays reads all of them at the
//! same index, and arrays that begin alike would compete for the same few lines of the caches (the benchmark's step_soa
//! takes 2.3 times as long then). In a rank of a parallel program they begin with their pages: MPI libraries map an
//! exported descriptor from its first byte on, whatever the handle says.
//!
//! Non-goals: no sub-page allocation; clients pool small blocks themselves.

mod arena;
mod map;
mod near;
mod node;
mod separate;
mod space;
mod store;
mod tag;

use crate::environment::Contents;
use arena::{ARENAS, Arena, Kept, OWN_STORE, mine};
use map::{Entry, Map, PAGE, Record};
pub(crate) use near::{is_near, near};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use tag::{pack, unpack};
use ze_driver::device::{AllocError, AllocInfo, AllocRequest, MemoryKind, MemoryUse};

/// Largest alignment served.
const LARGEST_ALIGN: u64 = 1 << 40;

/// Requests from this size on begin at different offsets in a page ...
const SPREAD: u64 = 32 << 10;
/// ... each this many steps of [`map::STEP`] bytes after the one before.
const STRIDE: u64 = 3;

/// A byte whose repetition makes large odd numbers and no addresses.
const POISON: u8 = 0xcd;

/// All USM of the process.
pub(crate) struct Memory {
    /// Never freed: a reader may use an old record, and fault texts are made at any time.
    map: &'static Map,
    limit: u64,
    /// Whether memory of other users is opened.
    any_user: bool,
    contents: Contents,
    /// The node of each device; none: anywhere.
    nodes: Vec<Option<u32>>,
    /// Bytes of allocations and of physical memory objects, which have no address.
    used: Arc<AtomicU64>,
    last_id: AtomicU64,
    /// Allocations so far that may begin anywhere in their page; `None`: all begin at page starts.
    spread: Option<AtomicU64>,
    kept: Kept,
    arenas: Box<[PaddedArena]>,
}

/// An arena on separate cache lines.
#[derive(Default)]
#[repr(align(128))]
struct PaddedArena(Mutex<Arena>);

/// Bits of an entry's tag besides kind and device.
const IMPORTED: u64 = 0x10;
const ADOPTED: u64 = 0x20;
const OPENED: u64 = 0x40;

/// The bit of a tag from which on it has the arena's number.
const ARENA_AT: u32 = 48;

impl Memory {
    /// Allows `limit` bytes in total, on a machine of one node.
    #[cfg(test)]
    pub(crate) fn new(limit: u64) -> Self {
        Self::with_nodes(limit, Vec::new())
    }

    /// Allows `limit` bytes in total; `nodes` has the node of each device's memory.
    pub(crate) fn with_nodes(limit: u64, nodes: Vec<Option<u32>>) -> Self {
        Self {
            map: Box::leak(Map::new()),
            limit,
            any_user: false,
            contents: Contents::Auto,
            nodes,
            used: Arc::default(),
            last_id: AtomicU64::new(0),
            spread: Some(AtomicU64::new(0)),
            kept: Kept::new(limit),
            arenas: (0..ARENAS).map(|_| PaddedArena::default()).collect(),
        }
    }

    /// Whether memory and events of other users are opened, too.
    pub(crate) fn trust_all_users(&mut self, trust: bool) {
        self.any_user = trust;
    }

    /// The process is a rank of a parallel program: all allocations begin at page starts from now on.
    pub(crate) fn begin_with_pages(&mut self) {
        self.spread = None;
    }

    /// Whether the process is a rank of a parallel program.
    fn is_rank(&self) -> bool {
        self.spread.is_none()
    }

    /// Chooses the contents of new allocations.
    pub(crate) fn fill_with(&mut self, contents: Contents) {
        self.contents = contents;
    }

    /// Lets fault texts name the allocation of this memory that is nearest to a bad address.
    pub(crate) fn explain_faults(&self) {
        near::describe_with(self.map);
    }

    fn node_of(&self, kind: MemoryKind, device: Option<usize>) -> Option<u32> {
        match kind {
            MemoryKind::Host => None,
            MemoryKind::Device | MemoryKind::Shared => *self.nodes.get(device?)?,
        }
    }

    /// Allocates whole pages.
    pub(crate) fn allocate(&self, request: &AllocRequest) -> Result<*mut u8, AllocError> {
        self.allocate_from(request, false)
    }

    /// As [`Self::allocate`], in a separate file if `alone`.
    fn allocate_from(&self, request: &AllocRequest, alone: bool) -> Result<*mut u8, AllocError> {
        let align = request.align.max(PAGE);
        let least = room_of(0, request.size).filter(|least| *least <= self.limit);
        let Some(least) = least.filter(|_| align <= LARGEST_ALIGN && align.is_power_of_two())
        else {
            return Err(AllocError::TooLarge);
        };
        if !self.reserve_bytes(least) {
            return Err(AllocError::OutOfMemory);
        }
        let inner = self.inner_of(request, alone);
        let place = match room_of(inner, request.size) {
            Some(len) => (inner, len),
            None => (0, least),
        };
        let base = self.place(request, place, align, alone);
        if base.is_err() {
            self.used.fetch_sub(least, Ordering::Relaxed);
        }
        base.map(|base| base as *mut u8)
    }

    /// The offset of an allocation in its first page.
    fn inner_of(&self, request: &AllocRequest, alone: bool) -> u64 {
        // Other processes may map an exported file from its beginning on.
        if alone || request.align > map::STEP || request.size < SPREAD {
            return 0;
        }
        self.spread.as_ref().map_or(0, |spread| {
            let turn = spread.fetch_add(1, Ordering::Relaxed) % (PAGE / map::STEP);
            turn * STRIDE * map::STEP % PAGE
        })
    }

    /// Bytes in use, and the limit.
    pub(crate) fn taken(&self) -> MemoryUse {
        MemoryUse {
            used: self.used.load(Ordering::Relaxed),
            limit: self.limit,
            set_by: "SOLUM_MEMORY_LIMIT (default: three quarters of the memory)",
        }
    }

    /// Counts `len` bytes as used, if the limit allows them.
    fn reserve_bytes(&self, len: u64) -> bool {
        let more = |used: u64| used.checked_add(len).filter(|used| *used <= self.limit);
        // Relaxed: a count, which guards no other memory.
        self.used
            .try_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    /// Finds pages of `len` bytes for `request`, which begins `inner` bytes into them, and enters them into the map.
    fn place(
        &self,
        request: &AllocRequest,
        (inner, len): (u64, u64),
        align: u64,
        alone: bool,
    ) -> Result<usize, AllocError> {
        let node = self.node_of(request.kind, request.device);
        let mine = mine();
        let mut arena = self.lock(mine);
        let (index, mut arena, (page, used)) = if alone {
            let page = arena.place_in_file(len, align, node);
            (mine, arena, (page.map_err(AllocError::NoFile)?, false))
        } else if let Some(page) = self.place_in(&mut arena, len, align, node) {
            (mine, arena, page)
        } else {
            drop(arena);
            let found = self.place_elsewhere(mine, len, align, node);
            found.ok_or(AllocError::OutOfMemory)?
        };
        let base = page + inner as usize;
        if self.enter(index, &mut arena, request, base, 0) {
            drop(arena);
            self.fill(request, base, used);
            return Ok(base);
        }
        arena.give_back(page, len, node, &self.kept);
        Err(AllocError::OutOfMemory)
    }

    /// Pages of an arena, and whether they were used before.
    fn place_in(
        &self,
        arena: &mut Arena,
        len: u64,
        align: u64,
        node: Option<u32>,
    ) -> Option<(usize, bool)> {
        // Ranks of a parallel program send each other their memory.
        arena.place(len, align, node, self.is_rank(), &self.kept)
    }

    /// Pages for a thread whose own arena has no room: there may be no address space for another store.
    #[cold]
    fn place_elsewhere(
        &self,
        mine: usize,
        len: u64,
        align: u64,
        node: Option<u32>,
    ) -> Option<(usize, MutexGuard<'_, Arena>, (usize, bool))> {
        let others = (0..ARENAS).filter(|index| len < OWN_STORE && *index != mine);
        let place = |index| {
            let mut arena = self.lock(index);
            let page = self.place_in(&mut arena, len, align, node)?;
            Some((index, arena, page))
        };
        others.clone().find_map(place).or_else(|| {
            // Freed stores that arenas keep may hold the memory that the system lacks.
            (0..ARENAS).for_each(|index| self.lock(index).drop_spare(0, &self.kept));
            std::iter::once(mine).chain(others).find_map(place)
        })
    }

    /// Initialises the contents of a new allocation; `used`: an earlier one left some.
    fn fill(&self, request: &AllocRequest, base: usize, used: bool) {
        let is_shared = request.kind == MemoryKind::Shared;
        let byte = match self.contents {
            Contents::Auto if used && is_shared => 0,
            Contents::Zero if used => 0,
            Contents::Poison => POISON,
            Contents::Auto | Contents::Zero => return,
        };
        // SAFETY: the allocation has so many bytes, and no other thread knows it yet.
        unsafe { (base as *mut u8).write_bytes(byte, request.size as usize) };
    }

    /// Enters `base` into the map as `request`'s allocation, from the arena of that number.
    fn enter(
        &self,
        index: usize,
        arena: &mut Arena,
        request: &AllocRequest,
        base: usize,
        bits: u64,
    ) -> bool {
        let record = arena.record();
        let entry = Entry {
            base,
            size: request.size.max(1),
            id: self.last_id.fetch_add(1, Ordering::Relaxed) + 1,
            context: request.context,
            tag: pack(request.kind, request.device) | bits | (index as u64) << ARENA_AT,
        };
        let entered = if bits & ADOPTED == 0 {
            self.map.insert(record, &entry)
        } else {
            // Page by page: an allocation may begin or end in the middle of one, and the program may adopt its memory twice.
            self.map.insert_where_free(record, &entry)
        };
        if !entered {
            arena.records.push(record);
        }
        entered
    }

    /// Frees an allocation.
    pub(crate) fn free(&self, base: *mut u8) -> bool {
        // Of several threads that free the same allocation one succeeds; from here on it alone owns pages and record.
        let removed = self.map.remove(base as usize, |_| true);
        removed.map(|removed| self.put_back(removed)).is_some()
    }

    /// As [`Self::free`], if it still is the allocation of that id.
    #[cfg(test)]
    fn free_known(&self, base: *mut u8, id: u64) -> bool {
        let removed = self.map.remove(base as usize, |entry| entry.id == id);
        removed.map(|removed| self.put_back(removed)).is_some()
    }

    /// Takes back pages that were removed from the map.
    fn put_back(&self, (entry, record): (Entry, &'static Record)) {
        let inner = entry.base as u64 % PAGE;
        // An allocation in the map ends within the address space.
        let room = room_of(inner, entry.size).unwrap_or(entry.size);
        let mut arena = self.lock(arena_of(entry.tag));
        arena.records.push(record);
        if entry.tag & ADOPTED == 0 {
            let (kind, device) = unpack(entry.tag);
            let node = self.node_of(kind, device);
            arena.give_back(entry.base - inner as usize, room, node, &self.kept);
        }
        drop(arena);
        if entry.tag & (IMPORTED | ADOPTED) == 0 {
            let counted = room_of(0, entry.size).unwrap_or(entry.size);
            self.used.fetch_sub(counted, Ordering::Relaxed);
        }
    }

    /// Finds the allocation around `ptr`.
    pub(crate) fn find(&self, ptr: *const u8) -> Option<AllocInfo> {
        self.map.find(ptr as usize).map(|entry| {
            let (kind, device) = unpack(entry.tag);
            AllocInfo {
                base: entry.base as *mut u8,
                size: entry.size,
                kind,
                device,
                context: entry.context,
                id: entry.id,
                page_size: PAGE,
                imported: entry.tag & OPENED != 0,
            }
        })
    }

    /// Base and bytes of the allocation around `ptr`.
    pub(crate) fn range(&self, ptr: *const u8) -> Option<(*mut u8, u64)> {
        let (base, size) = self.map.range(ptr as usize)?;
        Some((base as *mut u8, size))
    }

    fn lock(&self, index: usize) -> MutexGuard<'_, Arena> {
        crate::sync::lock(&self.arenas[index % ARENAS].0)
    }
}

/// Bytes behind each allocation that belong to none: 0, or a page while kernels are checked, so that an access over the end
/// does not look like one of the next allocation.
static GAP: AtomicU64 = AtomicU64::new(0);

/// Keeps allocations apart; called before there are any.
pub(crate) fn keep_apart() {
    GAP.store(PAGE, Ordering::Relaxed);
}

/// Bytes of the pages of an allocation of `size` bytes that begins `inner` bytes into the first; `None` on overflow.
fn room_of(inner: u64, size: u64) -> Option<u64> {
    size.max(1)
        .checked_add(inner)?
        .checked_add(GAP.load(Ordering::Relaxed))?
        .checked_next_multiple_of(PAGE)
}

/// The arena that pages with this tag are from.
fn arena_of(tag: u64) -> usize {
    (tag >> ARENA_AT) as usize % ARENAS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use ze_driver::address_space::AddressSpace as _;

    fn request(size: u64, align: u64) -> AllocRequest {
        AllocRequest {
            kind: MemoryKind::Shared,
            size,
            align,
            device: Some(1),
            context: 77,
        }
    }

    #[test]
    fn reused_memory_has_the_configured_contents() {
        use MemoryKind::{Device, Host, Shared};
        for (contents, kind, fresh, again) in [
            (Contents::Auto, Shared, 0, 0),
            (Contents::Auto, Device, 0, 7),
            (Contents::Auto, Host, 0, 7),
            (Contents::Zero, Device, 0, 0),
            (Contents::Poison, Shared, POISON, POISON),
            (Contents::Poison, Device, POISON, POISON),
        ] {
            let mut memory = Memory::new(1 << 30);
            memory.begin_with_pages();
            memory.fill_with(contents);
            for size in [1, 5000, 100_000] {
                let wanted = AllocRequest {
                    kind,
                    ..request(size, 1)
                };
                for expected in [fresh, again] {
                    let base = memory.allocate(&wanted).unwrap();
                    for at in [0, size as usize / 2, size as usize - 1] {
                        // SAFETY: the allocation has `size` bytes.
                        let found = unsafe { base.add(at).read() };
                        assert_eq!(found, expected, "{contents:?} {kind:?} {size} {at}");
                    }
                    // SAFETY: as above.
                    unsafe { base.write_bytes(7, size as usize) };
                    assert!(memory.free(base));
                }
            }
        }
    }

    #[test]
    fn sizes_and_alignments_are_honoured_and_the_memory_is_there() {
        let memory = Memory::new(1 << 34);
        let mut all = Vec::new();
        for size in [1, 63, 4096, 4097, 65536, 1 << 20, (32 << 20) + 1] {
            for align in [1, 64, 4096, 65536, 8 << 20] {
                let base = memory.allocate(&request(size, align)).unwrap();
                assert_eq!(base as u64 % align.max(128), 0, "{size} at {align}");
                // SAFETY: the allocation has `size` bytes.
                unsafe {
                    base.write(1);
                    base.add(size as usize - 1).write(2);
                }
                let info = memory.find(base.wrapping_add(size as usize / 2)).unwrap();
                assert_eq!((info.base, info.size), (base, size));
                assert_eq!((info.kind, info.device), (MemoryKind::Shared, Some(1)));
                assert_eq!((info.context, info.page_size), (77, 4096));
                let (_, offset) = memory.export(base as usize).unwrap();
                assert_eq!(offset % 4096, base as u64 % 4096);
                all.push((base, info.id));
            }
        }
        let mut ids: Vec<_> = all.iter().map(|(_, id)| *id).collect();
        ids.dedup();
        assert_eq!(ids.len(), all.len());
        for (base, _) in all {
            assert!(!memory.free(base.wrapping_add(1)));
            assert!(memory.free(base));
            assert!(!memory.free(base), "freed twice");
            assert!(memory.find(base).is_none());
        }
        assert_eq!(memory.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn large_allocations_begin_at_different_page_offsets() {
        let memory = Memory::new(1 << 34);
        let place = |size: u64, align: u64| {
            let base = memory.allocate(&request(size, align)).unwrap();
            // SAFETY: the allocation has `size` bytes.
            unsafe { base.add(size as usize - 1).write(1) };
            assert!(memory.find(base.wrapping_sub(1)).is_none());
            assert_eq!(memory.range(base), Some((base, size)));
            base as u64 % PAGE
        };
        for size in [SPREAD, 1 << 20, OWN_STORE, OWN_STORE + 5] {
            let mut places: Vec<u64> = (0..PAGE / map::STEP).map(|_| place(size, 64)).collect();
            places.sort_unstable();
            let each: Vec<u64> = (0..PAGE).step_by(map::STEP as usize).collect();
            assert_eq!(places, each, "{size}");
        }
        for (size, align) in [(SPREAD - 1, 1), (SPREAD, 256), (OWN_STORE, PAGE)] {
            assert_eq!(place(size, align), 0);
        }
        // For ranks, and the descriptor's first byte is the allocation's.
        let mut memory = Memory::new(1 << 40);
        memory.begin_with_pages();
        for size in [1, SPREAD, SPREAD, SPREAD + 1, OWN_STORE] {
            let base = memory.allocate(&request(size, 1)).unwrap();
            assert_eq!(base as u64 % PAGE, 0, "{size}");
            assert_eq!(memory.export(base as usize).unwrap().1, 0, "{size}");
        }
    }

    /// First page and the one after the last.
    fn pages_of(base: *mut u8, size: u64) -> (u64, u64) {
        (base as u64 / PAGE, (base as u64 + size).div_ceil(PAGE))
    }

    #[test]
    fn no_two_allocations_share_a_page() {
        const SIZES: [u64; 9] = [
            1,
            SPREAD - 1,
            SPREAD,
            SPREAD + 1,
            SPREAD + PAGE - map::STEP,
            SPREAD + PAGE - 1,
            100_001,
            OWN_STORE - PAGE,
            OWN_STORE + 1,
        ];
        let memory = Memory::new(1 << 40);
        let mut alive: Vec<(*mut u8, u64)> = Vec::new();
        for round in 0..400 {
            let (size, align) = (SIZES[round * 7 % 9], [1, 64, 128, 4096][round % 4]);
            let base = memory.allocate(&request(size, align)).unwrap();
            assert!((base as u64).is_multiple_of(align));
            // The rest of its pages belongs to no allocation.
            let (first, end) = pages_of(base, size);
            for outside in [
                first * PAGE,
                base as u64 - 1,
                base as u64 + size,
                end * PAGE - 1,
            ] {
                let mine = (base as u64..base as u64 + size).contains(&outside);
                let same = memory.range(outside as *const u8) == Some((base, size));
                assert!(mine == same, "{outside:#x} of {size} at {base:?}");
            }
            alive.push((base, size));
            if round % 3 == 2 {
                let (base, _) = alive.swap_remove(round * 5 % alive.len());
                assert!(
                    !memory.free((base as u64 & !(PAGE - 1)) as *mut u8)
                        || (base as u64).is_multiple_of(PAGE)
                );
                let _ = memory.free(base);
                assert!(memory.find(base).is_none());
            }
        }
        let held: u64 = alive
            .iter()
            .map(|(_, size)| size.next_multiple_of(PAGE))
            .sum();
        assert_eq!(memory.used.load(Ordering::Relaxed), held);
        let mut pages: Vec<_> = alive
            .iter()
            .map(|(base, size)| pages_of(*base, *size))
            .collect();
        pages.sort_unstable();
        assert!(pages.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        for (base, _) in alive {
            assert!(memory.free(base));
        }
        assert_eq!(memory.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_whole_limit_can_be_allocated_at_any_page_offset() {
        let memory = Memory::new(2 * SPREAD + PAGE);
        for turn in 0..PAGE / map::STEP {
            let all = [SPREAD, SPREAD, 1].map(|size| memory.allocate(&request(size, 1)).unwrap());
            assert_eq!(memory.used.load(Ordering::Relaxed), memory.limit, "{turn}");
            let more = memory.allocate(&request(1, 1));
            assert_eq!(more, Err(AllocError::OutOfMemory), "{turn}");
            for base in all {
                assert!(memory.free(base));
            }
            let whole = memory.allocate(&request(memory.limit, 1)).unwrap();
            assert_eq!(memory.used.load(Ordering::Relaxed), memory.limit);
            assert!(memory.free(whole));
            assert_eq!(memory.used.load(Ordering::Relaxed), 0);
        }
        // For any limit, sizes that would wrap around are too large.
        let memory = Memory::new(u64::MAX);
        for less in [0, 1, PAGE - 1, PAGE, 2 * PAGE] {
            let refused = memory.allocate(&request(u64::MAX - less, 1));
            assert!(refused.is_err(), "{less}");
            assert_eq!(memory.used.load(Ordering::Relaxed), 0);
        }
    }

    #[test]
    fn impossible_requests_are_rejected() {
        let memory = Memory::new(1 << 20);
        for (size, align, error) in [
            (2 << 20, 1, AllocError::TooLarge),
            (u64::MAX, 1, AllocError::TooLarge),
            (1, 1 << 41, AllocError::TooLarge),
            (1, 3 << 12, AllocError::TooLarge),
        ] {
            assert_eq!(memory.allocate(&request(size, align)), Err(error), "{size}");
        }
        let base = memory.allocate(&request(1 << 20, 1)).unwrap();
        assert_eq!(
            memory.allocate(&request(1, 1)),
            Err(AllocError::OutOfMemory)
        );
        assert!(memory.free(base));
        assert!(memory.allocate(&request(1, 1)).is_ok());
    }

    /// Each allocation is freed by two other threads at once, while its own thread continues to allocate.
    #[test]
    fn of_several_that_free_one_gets_it_and_no_page_is_lost() {
        const ROUNDS: usize = 2000;
        let memory = Memory::new(1 << 30);
        let senders: Vec<_> = (0..2)
            .map(|_| std::sync::mpsc::channel::<(usize, u64)>())
            .collect();
        let (to, from): (Vec<_>, Vec<_>) = senders.into_iter().unzip();
        let freed = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for receiver in from {
                let (memory, freed) = (&memory, &freed);
                scope.spawn(move || {
                    for (base, id) in receiver {
                        // The address may belong to another allocation by now: it is freed only if it is still this
                        // one.
                        if memory
                            .find(base as *const u8)
                            .is_some_and(|info| info.id == id)
                            && memory.free_known(base as *mut u8, id)
                        {
                            freed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
            for seed in 0..3u64 {
                let (memory, to) = (&memory, to.clone());
                scope.spawn(move || {
                    for round in 0..ROUNDS as u64 {
                        let size = 1 + (round * 7 + seed) % 5 * PAGE;
                        let base = memory.allocate(&request(size, 1)).unwrap();
                        let info = memory.find(base).unwrap();
                        assert_eq!((info.base, info.size), (base, size));
                        for to in &to {
                            to.send((base as usize, info.id)).unwrap();
                        }
                    }
                });
            }
            drop(to);
        });
        assert_eq!(freed.load(Ordering::Relaxed), 3 * ROUNDS as u64);
        assert_eq!(memory.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn many_threads_allocate_and_look_up_while_others_free() {
        let memory = Memory::new(4 << 30);
        let anchor = memory.allocate(&request(1 << 20, 1)).unwrap() as usize;
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        while !stop.load(Ordering::Relaxed) {
                            for step in 0..256 {
                                let info =
                                    memory.find((anchor + step * 4096) as *const u8).unwrap();
                                assert_eq!((info.base as usize, info.size), (anchor, 1 << 20));
                            }
                        }
                    })
                })
                .collect();
            let writers: Vec<_> = (0..4u64)
                .map(|seed| {
                    let memory = &memory;
                    scope.spawn(move || {
                        let mut mine: Vec<(usize, u64)> = Vec::new();
                        let mut random = seed * 2 + 1;
                        for _ in 0..3000 {
                            random = random.wrapping_mul(6364136223846793005).wrapping_add(99);
                            let size = 1 + (random >> 40) % 200_000;
                            if mine.len() > 20 {
                                let at = (random >> 20) as usize % mine.len();
                                let (base, stamp) = mine.swap_remove(at);
                                // SAFETY: owned until freed below.
                                unsafe { assert_eq!(*(base as *const u64), stamp) };
                                assert!(memory.free(base as *mut u8));
                            }
                            let base = memory.allocate(&request(size.max(8), 64)).unwrap();
                            // SAFETY: 8 bytes at least, page-aligned.
                            unsafe { base.cast::<u64>().write(random) };
                            let info = memory.find(base.wrapping_add(size as usize / 2));
                            assert_eq!(info.unwrap().base, base);
                            mine.push((base as usize, random));
                        }
                        for (base, _) in mine {
                            assert!(memory.free(base as *mut u8));
                        }
                    })
                })
                .collect();
            for writer in writers {
                writer.join().unwrap();
            }
            stop.store(true, Ordering::Relaxed);
            for reader in readers {
                reader.join().unwrap();
            }
        });
        assert!(memory.free(anchor as *mut u8));
        assert_eq!(memory.used.load(Ordering::Relaxed), 0);
    }
}
