//! A hash table that only grows, read without locks.
//!
//! References to entries are valid forever. A reader sees every entry whose insertion happened before; it may miss a
//! concurrent one, and the writer then decides under its lock. Growing copies the pointers to new slots and leaves the
//! old ones to their readers: all of them together are smaller than the last ones.

use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// The search key of an entry.
pub trait Keyed {
    /// Hash of the entry's key; never changes.
    fn hash(&self) -> u64;
}

/// The table; one thread at a time may call `insert`, any thread the rest.
#[derive(Debug)]
pub struct Table<T: 'static> {
    slots: AtomicPtr<Slots<T>>,
    length: AtomicUsize,
}

/// Never freed.
#[derive(Debug)]
struct Slots<T: 'static>(&'static [Slot<T>]);

/// An entry with its hash, so that a search reads only the entry that it wants.
#[derive(Debug)]
struct Slot<T: 'static> {
    entry: AtomicPtr<T>,
    hash: AtomicU64,
}

impl<T: 'static> Slot<T> {
    /// Empty slots.
    fn several(count: usize) -> &'static [Self] {
        // A search of a large table misses the caches once, but need not miss the TLB too.
        #[cfg(not(loom))]
        if let Some(pages) = crate::arena::large_pages(count * size_of::<Self>()) {
            // SAFETY: fresh memory of that size, aligned to pages, and zeros are an empty slot.
            return unsafe { core::slice::from_raw_parts(pages.cast(), count) };
        }
        let empty = |_| Self {
            entry: AtomicPtr::new(core::ptr::null_mut()),
            hash: AtomicU64::new(0),
        };
        Box::leak((0..count).map(empty).collect())
    }
}

#[cfg(not(loom))]
const FIRST: usize = 64;
#[cfg(loom)]
const FIRST: usize = 4;

impl<T: Keyed + Sync + 'static> Table<T> {
    /// An empty table.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            slots: AtomicPtr::new(core::ptr::null_mut()),
            length: AtomicUsize::new(0),
        }
    }

    /// An empty table.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            slots: AtomicPtr::new(core::ptr::null_mut()),
            length: AtomicUsize::new(0),
        }
    }

    /// The first entry with this hash that `same` accepts.
    #[inline]
    pub fn find(&self, hash: u64, mut same: impl FnMut(&'static T) -> bool) -> Option<&'static T> {
        // SAFETY: null, or slots that were published by `grow` and are never freed.
        let slots = unsafe { self.slots.load(Ordering::Acquire).as_ref() }?;
        let mask = slots.0.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = slots.0.get(at)?;
            // SAFETY: null, or an entry that lives forever; the load sees everything written before its publication.
            let entry: &'static T = unsafe { slot.entry.load(Ordering::Acquire).as_ref() }?;
            if slot.hash.load(Ordering::Relaxed) == hash && same(entry) {
                return Some(entry);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds an entry. One caller at a time, after a search under the same lock.
    pub fn insert(&self, entry: &'static T) {
        let length = self.length.load(Ordering::Relaxed);
        let mut current = self.slots.load(Ordering::Acquire);
        // SAFETY: as in `find`.
        let capacity = unsafe { current.as_ref() }.map_or(0, |slots| slots.0.len());
        // At most half full, so that a search always reaches an empty slot.
        if (length + 1) * 2 > capacity {
            current = self.grow(current, capacity);
        }
        // SAFETY: not null after growing.
        let slots = unsafe { &*current };
        place(slots.0, entry, entry.hash(), Ordering::Release);
        self.length.store(length + 1, Ordering::Relaxed);
    }

    #[cold]
    fn grow(&self, current: *mut Slots<T>, capacity: usize) -> *mut Slots<T> {
        let larger = Slot::several((capacity * 2).max(FIRST));
        // SAFETY: as in `find`.
        for slot in unsafe { current.as_ref() }.map_or(&[][..], |slots| slots.0) {
            // SAFETY: as in `find`.
            if let Some(entry) = unsafe { slot.entry.load(Ordering::Relaxed).as_ref() } {
                place(
                    larger,
                    entry,
                    slot.hash.load(Ordering::Relaxed),
                    Ordering::Relaxed,
                );
            }
        }
        let larger = Box::into_raw(Box::new(Slots(larger)));
        self.slots.store(larger, Ordering::Release);
        larger
    }

    /// Removes all entries; one caller at a time.
    pub fn clear(&self) {
        self.slots.store(core::ptr::null_mut(), Ordering::Release);
        self.length.store(0, Ordering::Relaxed);
    }
}

impl<T: Keyed + Sync + 'static> Default for Table<T> {
    fn default() -> Self {
        Self::new()
    }
}

fn place<T>(slots: &[Slot<T>], entry: &'static T, hash: u64, ordering: Ordering) {
    let mask = slots.len() - 1;
    let mut at = hash as usize & mask;
    while !slots[at].entry.load(Ordering::Relaxed).is_null() {
        at = (at + 1) & mask;
    }
    slots[at].hash.store(hash, Ordering::Relaxed);
    slots[at]
        .entry
        .store(core::ptr::from_ref(entry).cast_mut(), ordering);
}
