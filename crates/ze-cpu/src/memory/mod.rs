//! Memory: one address space, whole pages from descriptor-backed stores.
//!
//! Invariants
//! - Every allocation lies in a store that has a file descriptor, because any may be exported later.
//! - [`Memory::find`] takes no lock and may be asked about any address at any time.
//! - Memory of a device that is one node's comes from that node as long as it has some.
//! - An id is given once in the process's life; memory of one owner is never handed to two.
//!
//! Non-goals: no sub-page allocation; clients pool small blocks themselves.

mod free;
mod map;
mod near;
mod node;
mod space;
mod store;

pub(crate) use free::FreeList;
use map::{Entry, Map, PAGE, Record};
pub(crate) use near::near;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::Store;
use ze_driver::device::{AllocError, AllocInfo, AllocRequest, MemoryKind};

/// Requests from this size on get a store of their own, which goes back to the system when freed.
const OWN_STORE: u64 = 32 << 20;
/// Address space of a shared store.
const SHARED_STORE: u64 = 256 << 20;
/// Freed pages that stay filled, for the next allocation; more are given back to the system.
const KEEP: u64 = 64 << 20;
/// Largest alignment served.
const LARGEST_ALIGN: u64 = 1 << 40;

/// All USM of the process.
pub(crate) struct Memory {
    /// For ever: a reader may hold an old record, and texts of faults are made at any time.
    map: &'static Map,
    limit: u64,
    /// The node of each device; none: anywhere.
    nodes: Vec<Option<u32>>,
    /// Bytes of physical memory objects, which have no address of their own.
    unplaced: Arc<AtomicU64>,
    state: Mutex<State>,
}

/// Bits of an entry's tag beside kind and device.
const IMPORTED: u64 = 0x10;
const ADOPTED: u64 = 0x20;
const OPENED: u64 = 0x40;

#[derive(Default)]
struct State {
    used: u64,
    next_id: u64,
    /// By node; none: pages from anywhere.
    pools: BTreeMap<Option<u32>, Pool>,
    /// Stores of one allocation each, by its address.
    own: BTreeMap<usize, Store>,
    records: Vec<&'static Record>,
}

/// Shared stores whose pages come from one node, or from anywhere.
#[derive(Default)]
struct Pool {
    /// Free pages that were used: the system still keeps them for us.
    filled: FreeList,
    /// Free address space without pages.
    empty: FreeList,
    stores: Vec<Store>,
}

impl Memory {
    /// Allows `limit` bytes in total, on a machine of one node.
    #[cfg(test)]
    pub(crate) fn new(limit: u64) -> Self {
        Self::with_nodes(limit, Vec::new())
    }

    /// Allows `limit` bytes in total; `nodes` says for each device which node its memory comes from.
    pub(crate) fn with_nodes(limit: u64, nodes: Vec<Option<u32>>) -> Self {
        Self {
            map: Box::leak(Map::new()),
            limit,
            nodes,
            unplaced: Arc::default(),
            state: Mutex::new(State::default()),
        }
    }

    /// Texts of faults tell what of this memory a bad address is near to.
    pub(crate) fn explain_faults(&self) {
        near::tell_of(self.map);
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

    /// As [`Self::allocate`], in a store of its own when `alone`.
    fn allocate_from(&self, request: &AllocRequest, alone: bool) -> Result<*mut u8, AllocError> {
        let len = request
            .size
            .max(1)
            .checked_next_multiple_of(PAGE)
            .ok_or(AllocError::TooLarge)?;
        let align = request.align.max(PAGE);
        if len > self.limit || align > LARGEST_ALIGN || !align.is_power_of_two() {
            return Err(AllocError::TooLarge);
        }
        let mut state = self.lock();
        let placed = self.unplaced.load(Ordering::Relaxed);
        if state
            .used
            .checked_add(len)
            .and_then(|used| used.checked_add(placed))
            .is_none_or(|used| used > self.limit)
        {
            return Err(AllocError::OutOfMemory);
        }
        let node = self.node_of(request.kind, request.device);
        let (base, store, offset) = if alone {
            state.place_alone(len, align, node)
        } else {
            state.place(len, align, node)
        }
        .ok_or(AllocError::OutOfMemory)?;
        if !self.enter(&mut state, request, (base, store, offset), 0) {
            state.give_back(base, len, node);
            return Err(AllocError::OutOfMemory);
        }
        state.used += len;
        Ok(base as *mut u8)
    }

    /// Makes `place` (address, descriptor, offset) known as `request`'s allocation.
    fn enter(
        &self,
        state: &mut State,
        request: &AllocRequest,
        (base, store, offset): (usize, i32, u64),
        bits: u64,
    ) -> bool {
        let record = state.record();
        state.next_id += 1;
        let entry = Entry {
            base,
            size: request.size.max(1),
            id: state.next_id,
            context: request.context,
            tag: pack(request.kind, request.device) | bits,
            store,
            offset,
        };
        let entered = self.map.insert(record, &entry);
        if !entered {
            state.records.push(record);
        }
        entered
    }

    /// Gives an allocation back.
    pub(crate) fn free(&self, base: *mut u8) -> bool {
        let mut state = self.lock();
        let Some((entry, record)) = self.map.remove(base as usize) else {
            return false;
        };
        state.records.push(record);
        let len = entry.size.next_multiple_of(PAGE);
        if entry.tag & (IMPORTED | ADOPTED) == 0 {
            state.used -= len;
        }
        if entry.tag & ADOPTED == 0 {
            let (kind, device) = unpack(entry.tag);
            state.give_back(entry.base, len, self.node_of(kind, device));
        }
        true
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

    /// File descriptor and offset behind an allocation, for exporting it.
    pub(crate) fn backing(&self, ptr: *const u8) -> Option<(i32, u64)> {
        let entry = self.map.find(ptr as usize)?;
        Some((entry.store, entry.offset))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Address, descriptor and offset of `len` fresh bytes.
    fn place(&mut self, len: u64, align: u64, node: Option<u32>) -> Option<(usize, i32, u64)> {
        if len >= OWN_STORE {
            return self.place_alone(len, align, node);
        }
        let pool = self.pools.entry(node).or_default();
        let known = pool.filled.take(len, align);
        let base = match known.or_else(|| pool.empty.take(len, align)) {
            Some(base) => base,
            None => {
                let size = SHARED_STORE.max((len + align + PAGE).next_multiple_of(PAGE));
                let store = Store::map(size, map::BRANCH_SPAN)?;
                store.prefer(node);
                // The last page stays unused: runs of two stores beside each other never become one.
                pool.empty.add(store.base(), size - PAGE);
                pool.stores.push(store);
                pool.empty.take(len, align)?
            }
        };
        let store = pool.stores.iter().find(|store| store.holds(base))?;
        Some((base, store.descriptor(), (base - store.base()) as u64))
    }

    /// As [`Self::place`], in a store of its own.
    fn place_alone(
        &mut self,
        len: u64,
        align: u64,
        node: Option<u32>,
    ) -> Option<(usize, i32, u64)> {
        let store = Store::map(len, align)?;
        store.prefer(node);
        Some(self.keep(store))
    }

    /// Keeps the store of one allocation.
    fn keep(&mut self, store: Store) -> (usize, i32, u64) {
        let place = (store.base(), store.descriptor(), store.offset());
        self.own.insert(store.base(), store);
        place
    }

    fn give_back(&mut self, base: usize, len: u64, node: Option<u32>) {
        // Unmaps and closes.
        if self.own.remove(&base).is_some() {
            return;
        }
        let pool = self.pools.entry(node).or_default();
        pool.filled.add(base, len);
        if pool.filled.total() > KEEP {
            // All at once: neighbours have become one by now, and a system call for each page would cost more than
            // everything else.
            for (base, len) in pool.filled.take_all() {
                if let Some(store) = pool.stores.iter().find(|store| store.holds(base)) {
                    store.empty(base, len);
                }
                pool.empty.add(base, len);
            }
        }
    }

    fn record(&mut self) -> &'static Record {
        if let Some(record) = self.records.pop() {
            return record;
        }
        let fresh: Vec<Record> = (0..64).map(|_| Record::unused()).collect();
        let fresh: &'static [Record] = fresh.leak();
        self.records.extend(&fresh[1..]);
        &fresh[0]
    }
}

fn pack(kind: MemoryKind, device: Option<usize>) -> u64 {
    let kind = match kind {
        MemoryKind::Host => 0,
        MemoryKind::Device => 1,
        MemoryKind::Shared => 2,
    };
    kind | device.map_or(0, |device| device as u64 + 1) << 8
}

fn unpack(tag: u64) -> (MemoryKind, Option<usize>) {
    let kind = match tag & 0xf {
        0 => MemoryKind::Host,
        1 => MemoryKind::Device,
        _ => MemoryKind::Shared,
    };
    (
        kind,
        (tag >> 8).checked_sub(1).map(|device| device as usize),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

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
    fn sizes_and_alignments_are_honoured_and_the_memory_is_there() {
        let memory = Memory::new(1 << 34);
        let mut all = Vec::new();
        for size in [1, 63, 4096, 4097, 65536, 1 << 20, (32 << 20) + 1] {
            for align in [1, 64, 4096, 65536, 8 << 20] {
                let base = memory.allocate(&request(size, align)).unwrap();
                assert_eq!(base as u64 % align.max(4096), 0, "{size} at {align}");
                // SAFETY: the allocation has `size` bytes.
                unsafe {
                    base.write(1);
                    base.add(size as usize - 1).write(2);
                }
                let info = memory.find(base.wrapping_add(size as usize / 2)).unwrap();
                assert_eq!((info.base, info.size), (base, size));
                assert_eq!((info.kind, info.device), (MemoryKind::Shared, Some(1)));
                assert_eq!((info.context, info.page_size), (77, 4096));
                let (fd, offset) = memory.backing(base).unwrap();
                assert!(fd >= 0 && offset.is_multiple_of(4096));
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
        assert_eq!(memory.lock().used, 0);
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
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
                                // SAFETY: ours until freed below.
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
        assert_eq!(memory.lock().used, 0);
    }
}
