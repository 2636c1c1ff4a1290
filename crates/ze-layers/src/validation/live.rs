//! A map from live keys to a word each, which readers use without a lock.
//!
//! Open addressing: a writer (one at a time, by the owner's lock) fills empty slots or tombstones, and rehashes into
//! another array when too few are left. Arrays are never freed: readers may still use an old one, and the version makes
//! them look again. An array that was replaced by one of the same size is reused by the next rehash, so churn does not
//! grow memory; after growth the old arrays take as much memory as the new one.

#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(not(loom))]
const SMALLEST: usize = 64;
#[cfg(loom)]
const SMALLEST: usize = 4;

/// The slot was never used.
const EMPTY: u64 = 0;
/// A key was removed; probing continues.
const TOMBSTONE: u64 = u64::MAX;

struct Slot {
    key: AtomicU64,
    word: AtomicU64,
}

struct SlotArray {
    all: Box<[Slot]>,
}

impl SlotArray {
    fn new(count: usize) -> *mut Self {
        let all = (0..count)
            .map(|_| Slot {
                key: AtomicU64::new(EMPTY),
                word: AtomicU64::new(0),
            })
            .collect();
        Box::into_raw(Box::new(Self { all }))
    }

    fn at(&self, hash: u64, step: usize) -> &Slot {
        // Sizes are powers of two.
        &self.all[(hash as usize).wrapping_add(step) & (self.all.len() - 1)]
    }

    fn find(&self, key: u64) -> Option<&Slot> {
        let hash = spread(key);
        for step in 0..self.all.len() {
            let slot = self.at(hash, step);
            match slot.key.load(Ordering::Acquire) {
                EMPTY => return None,
                found if found == key => return Some(slot),
                _ => {}
            }
        }
        None
    }

    /// Inserts a new key. `None` if there is no free slot, else whether the slot was never used before.
    fn put(&self, key: u64, word: u64) -> Option<bool> {
        let hash = spread(key);
        for step in 0..self.all.len() {
            let slot = self.at(hash, step);
            let found = slot.key.load(Ordering::Relaxed);
            if found == EMPTY || found == TOMBSTONE {
                slot.word.store(word, Ordering::Release);
                slot.key.store(key, Ordering::Release);
                return Some(found == EMPTY);
            }
        }
        None
    }
}

/// Spreads the bits of an address, whose lowest and highest bits vary little.
pub(crate) fn spread(key: u64) -> u64 {
    let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key ^ (key >> 32)
}

/// The map. Keys are neither 0 nor `u64::MAX`.
pub(crate) struct Live {
    slots: AtomicPtr<SlotArray>,
    /// The number of rehashes so far.
    version: AtomicU64,
    /// Slots that are not empty, and keys in the map; only the writer uses them.
    used: AtomicUsize,
    count: AtomicUsize,
    spare: AtomicPtr<SlotArray>,
}

impl Live {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self {
            slots: AtomicPtr::new(std::ptr::null_mut()),
            version: AtomicU64::new(0),
            used: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            spare: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self {
            slots: AtomicPtr::new(std::ptr::null_mut()),
            version: AtomicU64::new(0),
            used: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            spare: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    fn slots(&self) -> Option<&SlotArray> {
        // SAFETY: null or an array that is never freed.
        unsafe { self.slots.load(Ordering::Acquire).as_ref() }
    }

    /// The key's word, or `None`. May be called from any thread at any time.
    #[inline(always)]
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let found = self.look(key);
            // The reads above happen before the version is checked again.
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) == version {
                return found;
            }
        }
    }

    #[inline(always)]
    fn look(&self, key: u64) -> Option<u64> {
        let slot = self.slots()?.find(key)?;
        let word = slot.word.load(Ordering::Acquire);
        // Another key may have taken the slot in between; the word is then that key's.
        (slot.key.load(Ordering::Relaxed) == key).then_some(word)
    }

    /// Adds a key or changes its word. One writer at a time.
    pub(crate) fn set(&self, key: u64, word: u64) {
        if let Some(slot) = self.slots().and_then(|slots| slots.find(key)) {
            slot.word.store(word, Ordering::Release);
            return;
        }
        let room = self.slots().map_or(0, |slots| slots.all.len());
        let used = self.used.load(Ordering::Relaxed);
        if (used + 1) * 4 > room * 3 {
            self.rehash(room);
        }
        let put = self.slots().and_then(|slots| slots.put(key, word));
        if put == Some(true) {
            self.used.fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes a key. One writer at a time.
    pub(crate) fn remove(&self, key: u64) {
        if let Some(slot) = self.slots().and_then(|slots| slots.find(key)) {
            slot.key.store(TOMBSTONE, Ordering::Release);
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Moves to an array with enough empty slots.
    fn rehash(&self, room: usize) {
        let count = self.count.load(Ordering::Relaxed);
        let needed = ((count + 1) * 2).next_power_of_two().max(SMALLEST);
        let spare = self.spare.swap(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: null or an array that is never freed.
        let reused = unsafe { spare.as_ref() }.filter(|slots| slots.all.len() == needed);
        let new = match reused {
            Some(slots) => {
                for slot in &slots.all {
                    slot.key.store(EMPTY, Ordering::Release);
                }
                spare
            }
            None => SlotArray::new(needed),
        };
        // SAFETY: created here or before, and never freed.
        let target = unsafe { &*new };
        if let Some(old) = self.slots() {
            for slot in &old.all {
                let key = slot.key.load(Ordering::Relaxed);
                if key != EMPTY && key != TOMBSTONE {
                    target.put(key, slot.word.load(Ordering::Relaxed));
                }
            }
        }
        let old = self.slots.swap(new, Ordering::AcqRel);
        self.version.fetch_add(1, Ordering::Release);
        self.used.store(count, Ordering::Relaxed);
        if room == needed {
            self.spare.store(old, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::sync::Arc;

    /// Keys whose probing begins at the same slot as `key`.
    fn beside(key: u64) -> impl Iterator<Item = u64> {
        let mask = SMALLEST as u64 - 1;
        (key + 1..).filter(move |other| (spread(*other) ^ spread(key)) & mask == 0)
    }

    /// A map whose next rehash reuses an array. The word of key k is k + 100.
    fn churned() -> Arc<Live> {
        let live = Arc::new(Live::new());
        live.set(1, 101);
        let mut keys = 1000..;
        while live.spare.load(Ordering::Relaxed).is_null() {
            let key = keys.next().unwrap_or(0);
            live.set(key, key + 100);
            live.remove(key);
        }
        live
    }

    #[test]
    fn a_reader_always_finds_a_live_key_while_arrays_are_reused() {
        loom::model(|| {
            let live = churned();
            let reader = {
                let live = Arc::clone(&live);
                loom::thread::spawn(move || assert_eq!(live.get(1), Some(101)))
            };
            // Two rehashes: the second writes to the array that a reader may still use.
            let mut rehashes = 0;
            for key in 20..40 {
                let room = live.used.load(Ordering::Relaxed);
                live.set(key, key + 100);
                rehashes += usize::from(live.used.load(Ordering::Relaxed) < room);
                live.remove(key);
                if rehashes == 2 {
                    break;
                }
            }
            reader.join().unwrap();
            assert_eq!(live.get(1), Some(101));
        });
    }

    #[test]
    fn a_reader_never_sees_another_keys_word() {
        loom::model(|| {
            let live = Arc::new(Live::new());
            let other = beside(3).next().unwrap_or(0);
            live.set(3, 103);
            let writer = {
                let live = Arc::clone(&live);
                loom::thread::spawn(move || {
                    live.remove(3);
                    live.set(other, other + 100);
                })
            };
            let three = live.get(3);
            assert!(three.is_none() || three == Some(103), "{three:?}");
            writer.join().unwrap();
            assert_eq!((live.get(3), live.get(other)), (None, Some(other + 100)));
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_agrees_with_a_btree_map() {
        let live = Live::new();
        let mut map = BTreeMap::new();
        let mut state = 7u64;
        for _ in 0..200_000 {
            state = spread(state.wrapping_add(0x1234_5678_9abc_def1));
            let key = 1 + state % 3000;
            if state >> 40 & 1 == 0 {
                live.set(key, state);
                map.insert(key, state);
            } else {
                live.remove(key);
                map.remove(&key);
            }
            let other = 1 + (state >> 20) % 3000;
            assert_eq!(live.get(other), map.get(&other).copied());
        }
        assert!((1..=3000).all(|key| live.get(key) == map.get(&key).copied()));
    }

    #[test]
    fn churn_does_not_grow_it() {
        let live = Live::new();
        for key in 1..1_000_000 {
            live.set(key, key);
            live.remove(key);
        }
        assert_eq!(live.slots().map(|slots| slots.all.len()), Some(SMALLEST));
    }
}
