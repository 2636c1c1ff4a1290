//! One shard of the map from drivers' handles to wrappers: looked up without a lock, changed under one.
//!
//! An open-addressing table of pointers. A look-up that hits is right. One that misses may have raced with a change,
//! and is repeated under the lock before anything follows from it. Tables only grow, and a replaced one is kept for
//! readers that may still use it: all of them together are smaller than the table in use.

#[cfg(loom)]
use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicPtr, Ordering},
};
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicPtr, Ordering},
};

/// An entry of a shard; its key must not change while it is in the map.
pub(crate) trait Entry: 'static {
    type Key: Copy;

    /// The key's hash; other bits of it choose the shard.
    fn hash(key: Self::Key) -> usize;
    /// This entry's key, while it is in the map.
    fn key(&self) -> Self::Key;
    /// Whether this entry has that key; may be called for an entry that was just removed.
    fn has(&self, key: Self::Key) -> bool;
}

/// The smallest table.
#[cfg(not(loom))]
const SMALLEST: usize = 64;
#[cfg(loom)]
const SMALLEST: usize = 4;

struct Table<E> {
    /// A power of two of slots, each null or an entry.
    places: Box<[AtomicPtr<E>]>,
}

impl<E: Entry> Table<E> {
    /// `None` if memory is short.
    fn new(size: usize) -> Option<Table<E>> {
        let mut places = Vec::new();
        places.try_reserve_exact(size).ok()?;
        places.extend((0..size).map(|_| AtomicPtr::new(std::ptr::null_mut())));
        Some(Table {
            places: places.into_boxed_slice(),
        })
    }

    fn mask(&self) -> usize {
        self.places.len() - 1
    }

    fn at(&self, index: usize) -> &AtomicPtr<E> {
        &self.places[index & self.mask()]
    }

    fn find(&self, key: E::Key) -> Option<&'static E> {
        let start = E::hash(key);
        for step in 0..self.places.len() {
            // SAFETY: entries live as long as the program.
            let entry = unsafe {
                self.at(start.wrapping_add(step))
                    .load(Ordering::Acquire)
                    .as_ref()
            }?;
            if entry.has(key) {
                return Some(entry);
            }
        }
        None
    }

    /// Puts an entry into the first free slot; there is one.
    fn put(&self, entry: &'static E) {
        let mut index = E::hash(entry.key());
        while !self.at(index).load(Ordering::Relaxed).is_null() {
            index = index.wrapping_add(1);
        }
        self.at(index)
            .store(std::ptr::from_ref(entry).cast_mut(), Ordering::Release);
    }
}

/// The data under the lock besides the slots: the number in use, and the owner's extra data.
struct Inside<E: 'static, X> {
    live: usize,
    kept: Vec<*mut Table<E>>,
    extra: X,
}

/// A shard of a map of entries that live as long as the program.
pub(crate) struct Shard<E: 'static, X> {
    table: AtomicPtr<Table<E>>,
    inside: Mutex<Inside<E, X>>,
}

// SAFETY: tables and entries are only reached through atomics and the lock.
unsafe impl<E: Sync, X: Send> Sync for Shard<E, X> {}
// SAFETY: as above.
unsafe impl<E: Sync, X: Send> Send for Shard<E, X> {}

/// A locked shard.
pub(crate) struct Locked<'s, E: 'static, X> {
    shard: &'s Shard<E, X>,
    inside: MutexGuard<'s, Inside<E, X>>,
}

impl<E: Entry, X> Shard<E, X> {
    #[cfg(not(loom))]
    pub(crate) const fn new(extra: X) -> Shard<E, X> {
        Shard {
            table: AtomicPtr::new(std::ptr::null_mut()),
            inside: Mutex::new(Inside {
                live: 0,
                kept: Vec::new(),
                extra,
            }),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new(extra: X) -> Shard<E, X> {
        Shard {
            table: AtomicPtr::new(std::ptr::null_mut()),
            inside: Mutex::new(Inside {
                live: 0,
                kept: Vec::new(),
                extra,
            }),
        }
    }

    fn table(&self) -> Option<&Table<E>> {
        // SAFETY: null or a table that is kept.
        unsafe { self.table.load(Ordering::Acquire).as_ref() }
    }

    /// Looks a key up without a lock; a miss is only certain under the lock.
    pub(crate) fn find(&self, key: E::Key) -> Option<&'static E> {
        self.table()?.find(key)
    }

    /// Takes the lock.
    pub(crate) fn lock(&self) -> Locked<'_, E, X> {
        Locked {
            shard: self,
            // A panicking holder leaves a consistent map, because each change is one store.
            inside: self.inside.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

impl<E: Entry, X> Locked<'_, E, X> {
    /// The owner's extra data.
    pub(crate) fn extra(&mut self) -> &mut X {
        &mut self.inside.extra
    }

    /// Looks a key up; a miss is certain.
    pub(crate) fn find(&self, key: E::Key) -> Option<&'static E> {
        self.shard.find(key)
    }

    /// Reserves room for one more entry. Returns false if memory is short.
    #[must_use]
    pub(crate) fn reserve(&mut self) -> bool {
        let shard = self.shard;
        let old = shard.table();
        let size = old.map_or(0, |table| table.places.len());
        // A quarter stays free, so that probes are short and every search ends.
        if (self.inside.live + 1) * 4 <= size * 3 {
            return true;
        }
        let Some(new) = Table::new((size * 2).max(SMALLEST)) else {
            return false;
        };
        if self.inside.kept.try_reserve(1).is_err() {
            return false;
        }
        for place in old.iter().flat_map(|table| table.places.iter()) {
            // SAFETY: null or an entry, and entries live as long as the program.
            if let Some(entry) = unsafe { place.load(Ordering::Relaxed).as_ref() } {
                new.put(entry);
            }
        }
        let new = Box::into_raw(Box::new(new));
        self.inside.kept.push(new);
        shard.table.store(new, Ordering::Release);
        true
    }

    /// Inserts an entry with a new key, after [`Locked::reserve`].
    pub(crate) fn insert(&mut self, entry: &'static E) {
        if let Some(table) = self.shard.table() {
            table.put(entry);
            self.inside.live += 1;
        }
    }

    /// Removes this entry. Returns false if it is not in the map.
    pub(crate) fn remove(&mut self, entry: &'static E) -> bool {
        let Some(table) = self.shard.table() else {
            return false;
        };
        let mut hole = E::hash(entry.key());
        loop {
            let found = table.at(hole).load(Ordering::Relaxed);
            if found.is_null() {
                return false;
            }
            if std::ptr::eq(found, entry) {
                break;
            }
            hole = hole.wrapping_add(1);
        }
        // Entries after the hole move up, so that every search reaches them. Each is stored in its new slot before it
        // leaves the old one: a reader may see it twice, or miss it and then look under the lock.
        let mask = table.mask();
        let mut next = hole.wrapping_add(1);
        loop {
            let moved = table.at(next).load(Ordering::Relaxed);
            // SAFETY: null or an entry, and entries live as long as the program.
            let Some(found) = (unsafe { moved.as_ref() }) else {
                break;
            };
            let home = E::hash(found.key());
            let from_home = next.wrapping_sub(home) & mask;
            let from_hole = next.wrapping_sub(hole) & mask;
            if from_home >= from_hole {
                table.at(hole).store(moved, Ordering::Release);
                hole = next;
            }
            next = next.wrapping_add(1);
        }
        table
            .at(hole)
            .store(std::ptr::null_mut(), Ordering::Release);
        self.inside.live -= 1;
        true
    }
}

impl<E: 'static, X> Drop for Shard<E, X> {
    fn drop(&mut self) {
        let inside = self
            .inside
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for table in inside.kept.drain(..) {
            // SAFETY: made by `Box::into_raw` in `reserve`, and no reader is left.
            drop(unsafe { Box::from_raw(table) });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashMap;

    struct Number(usize);

    impl Entry for Number {
        type Key = usize;
        fn hash(key: usize) -> usize {
            // Few home slots, so that probe sequences are long and wrap around the table's end.
            (key % 7).wrapping_sub(3)
        }
        fn key(&self) -> usize {
            self.0
        }
        fn has(&self, key: usize) -> bool {
            self.0 == key
        }
    }

    #[test]
    fn random_changes_agree_with_a_hash_map() {
        let shard: Shard<Number, ()> = Shard::new(());
        let entries: Vec<&'static Number> =
            (0..200).map(|n| &*Box::leak(Box::new(Number(n)))).collect();
        let mut model: HashMap<usize, &'static Number> = HashMap::new();
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let key = (state >> 33) as usize % entries.len();
            let mut locked = shard.lock();
            if model.remove(&key).is_some() {
                assert!(locked.remove(entries[key]));
            } else {
                assert!(!locked.remove(entries[key]));
                assert!(locked.reserve());
                locked.insert(entries[key]);
                model.insert(key, entries[key]);
            }
            drop(locked);
            for other in [key, (key + 7) % 200, (key + 14) % 200] {
                assert_eq!(
                    shard.find(other).map(|found| found.0),
                    model.get(&other).map(|found| found.0)
                );
            }
        }
    }
}

#[cfg(all(test, loom))]
mod model {
    //! `RUSTFLAGS="--cfg loom" cargo test -p solum-ze-loader --release --lib`
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    struct Number(usize);

    impl Entry for Number {
        type Key = usize;
        fn hash(_: usize) -> usize {
            // One home slot: every removal moves the entries after it.
            0
        }
        fn key(&self) -> usize {
            self.0
        }
        fn has(&self, key: usize) -> bool {
            self.0 == key
        }
    }

    fn entry(number: usize) -> &'static Number {
        Box::leak(Box::new(Number(number)))
    }

    fn insert(shard: &Shard<Number, ()>, entry: &'static Number) {
        let mut locked = shard.lock();
        assert!(locked.reserve());
        locked.insert(entry);
    }

    /// A reader during a removal that moves its entry: a hit is right, and a miss is found under the lock.
    #[test]
    fn an_entry_is_found_while_others_are_removed() {
        loom::model(|| {
            let shard: Arc<Shard<Number, ()>> = Arc::new(Shard::new(()));
            let (first, second) = (entry(1), entry(2));
            insert(&shard, first);
            insert(&shard, second);
            let writer = {
                let shard = Arc::clone(&shard);
                thread::spawn(move || assert!(shard.lock().remove(first)))
            };
            let found = shard.find(2).or_else(|| shard.lock().find(2));
            assert!(std::ptr::eq(found.expect("it never left"), second));
            writer.join().expect("no panic");
            assert!(shard.find(1).is_none() && shard.find(2).is_some());
        });
    }

    /// A reader during an insertion that makes the table grow.
    #[test]
    fn an_entry_is_found_while_the_table_grows() {
        loom::model(|| {
            let shard: Arc<Shard<Number, ()>> = Arc::new(Shard::new(()));
            for number in 1..=3 {
                insert(&shard, entry(number));
            }
            let writer = {
                let shard = Arc::clone(&shard);
                thread::spawn(move || insert(&shard, entry(4)))
            };
            for number in 1..=3 {
                assert_eq!(shard.find(number).map(|found| found.0), Some(number));
            }
            writer.join().expect("no panic");
            assert_eq!(shard.find(4).map(|found| found.0), Some(4));
        });
    }

    /// Two threads that wrap the same handle get the same wrapper.
    #[test]
    fn one_key_is_inserted_once() {
        loom::model(|| {
            let shard: Arc<Shard<Number, ()>> = Arc::new(Shard::new(()));
            let wrap = |shard: &Shard<Number, ()>| {
                if let Some(found) = shard.find(5) {
                    return std::ptr::from_ref(found).addr();
                }
                let mut locked = shard.lock();
                if let Some(found) = locked.find(5) {
                    return std::ptr::from_ref(found).addr();
                }
                assert!(locked.reserve());
                let new = entry(5);
                locked.insert(new);
                std::ptr::from_ref(new).addr()
            };
            let other = {
                let shard = Arc::clone(&shard);
                thread::spawn(move || wrap(&shard))
            };
            let own = wrap(&shard);
            assert_eq!(own, other.join().expect("no panic"));
        });
    }
}
