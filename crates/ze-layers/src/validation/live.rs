//! A set of live keys with a word each, that readers look into without a lock.
//!
//! Open addressing; a writer (one at a time, by the owner's lock) fills empty or given-up places, and moves everything to
//! another array when too few are left. Arrays are never freed: readers may still look into an old one, and see by the
//! version that they must look again. An array that was left for one of the same size is used again for the next move,
//! so churn does not grow memory; growth leaves as much behind as it takes.

#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(not(loom))]
const SMALLEST: usize = 64;
#[cfg(loom)]
const SMALLEST: usize = 4;

/// No key has been here.
const EMPTY: u64 = 0;
/// A key was here; probing goes on.
const GIVEN_UP: u64 = u64::MAX;

struct Place {
    key: AtomicU64,
    word: AtomicU64,
}

struct Places {
    all: Box<[Place]>,
}

impl Places {
    fn new(count: usize) -> *mut Self {
        let all = (0..count)
            .map(|_| Place {
                key: AtomicU64::new(EMPTY),
                word: AtomicU64::new(0),
            })
            .collect();
        Box::into_raw(Box::new(Self { all }))
    }

    fn at(&self, hash: u64, step: usize) -> &Place {
        // Sizes are powers of two.
        &self.all[(hash as usize).wrapping_add(step) & (self.all.len() - 1)]
    }

    fn find(&self, key: u64) -> Option<&Place> {
        let hash = spread(key);
        for step in 0..self.all.len() {
            let place = self.at(hash, step);
            match place.key.load(Ordering::Acquire) {
                EMPTY => return None,
                found if found == key => return Some(place),
                _ => {}
            }
        }
        None
    }

    /// Puts a key that is not there yet; false when there is no place. True second: the place was empty.
    fn put(&self, key: u64, word: u64) -> Option<bool> {
        let hash = spread(key);
        for step in 0..self.all.len() {
            let place = self.at(hash, step);
            let found = place.key.load(Ordering::Relaxed);
            if found == EMPTY || found == GIVEN_UP {
                place.word.store(word, Ordering::Release);
                place.key.store(key, Ordering::Release);
                return Some(found == EMPTY);
            }
        }
        None
    }
}

/// Spreads the bits of an address, whose lowest and highest say little.
pub(crate) fn spread(key: u64) -> u64 {
    let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key ^ (key >> 32)
}

/// The set. Keys are neither 0 nor the greatest number.
pub(crate) struct Live {
    places: AtomicPtr<Places>,
    /// Moves so far.
    version: AtomicU64,
    /// Places that are not empty, keys that are there: the writer's.
    used: AtomicUsize,
    count: AtomicUsize,
    spare: AtomicPtr<Places>,
}

impl Live {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self {
            places: AtomicPtr::new(std::ptr::null_mut()),
            version: AtomicU64::new(0),
            used: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            spare: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self {
            places: AtomicPtr::new(std::ptr::null_mut()),
            version: AtomicU64::new(0),
            used: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            spare: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    fn places(&self) -> Option<&Places> {
        // SAFETY: null or an array that is never freed.
        unsafe { self.places.load(Ordering::Acquire).as_ref() }
    }

    /// The key's word; none when it is not there. From any thread, at any time.
    #[inline(always)]
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let found = self.look(key);
            // What was read comes before the second look at the version.
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) == version {
                return found;
            }
        }
    }

    #[inline(always)]
    fn look(&self, key: u64) -> Option<u64> {
        let place = self.places()?.find(key)?;
        let word = place.word.load(Ordering::Acquire);
        // The place may have been given up and taken by another key in between; then the word is another's.
        (place.key.load(Ordering::Relaxed) == key).then_some(word)
    }

    /// Adds a key or changes its word. One writer at a time.
    pub(crate) fn set(&self, key: u64, word: u64) {
        if let Some(place) = self.places().and_then(|places| places.find(key)) {
            place.word.store(word, Ordering::Release);
            return;
        }
        let room = self.places().map_or(0, |places| places.all.len());
        let used = self.used.load(Ordering::Relaxed);
        if (used + 1) * 4 > room * 3 {
            self.make_room(room);
        }
        let put = self.places().and_then(|places| places.put(key, word));
        if put == Some(true) {
            self.used.fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a key out. One writer at a time.
    pub(crate) fn remove(&self, key: u64) {
        if let Some(place) = self.places().and_then(|places| places.find(key)) {
            place.key.store(GIVEN_UP, Ordering::Release);
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Moves to an array with enough empty places.
    fn make_room(&self, room: usize) {
        let count = self.count.load(Ordering::Relaxed);
        let needed = ((count + 1) * 2).next_power_of_two().max(SMALLEST);
        let spare = self.spare.swap(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: null or an array that is never freed.
        let reused = unsafe { spare.as_ref() }.filter(|places| places.all.len() == needed);
        let new = match reused {
            Some(places) => {
                for place in &places.all {
                    place.key.store(EMPTY, Ordering::Release);
                }
                spare
            }
            None => Places::new(needed),
        };
        // SAFETY: made here or before, and never freed.
        let target = unsafe { &*new };
        if let Some(old) = self.places() {
            for place in &old.all {
                let key = place.key.load(Ordering::Relaxed);
                if key != EMPTY && key != GIVEN_UP {
                    target.put(key, place.word.load(Ordering::Relaxed));
                }
            }
        }
        let old = self.places.swap(new, Ordering::AcqRel);
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

    /// Keys that look for their place where `key` does.
    fn beside(key: u64) -> impl Iterator<Item = u64> {
        let mask = SMALLEST as u64 - 1;
        (key + 1..).filter(move |other| (spread(*other) ^ spread(key)) & mask == 0)
    }

    /// A set whose next moves use arrays again. The word of key k is k + 100.
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
    fn a_reader_never_misses_a_key_that_stays_while_arrays_are_used_again() {
        loom::model(|| {
            let live = churned();
            let reader = {
                let live = Arc::clone(&live);
                loom::thread::spawn(move || assert_eq!(live.get(1), Some(101)))
            };
            // Two moves: the second writes to the array that a reader may still look into.
            let mut moves = 0;
            for key in 20..40 {
                let room = live.used.load(Ordering::Relaxed);
                live.set(key, key + 100);
                moves += usize::from(live.used.load(Ordering::Relaxed) < room);
                live.remove(key);
                if moves == 2 {
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
    fn it_holds_what_a_map_holds() {
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
        assert_eq!(live.places().map(|places| places.all.len()), Some(SMALLEST));
    }
}
