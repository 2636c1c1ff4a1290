//! Interned strings: numbers from 1, copies that never move.

use core::cell::UnsafeCell;
use core::ffi::c_char;
use core::sync::atomic::{AtomicU32, Ordering};

use xpti_sys::INVALID_STRING;

use crate::arena::Arena;
use crate::directory::Directory;
use crate::hash;
use crate::sync::Lock;
use crate::table::{Keyed, Table};

/// An entry; lives forever.
#[derive(Debug)]
pub struct Interned {
    hash: u64,
    text: *const u8,
    length: usize,
    id: u32,
}
// SAFETY: never written after it was published; the text lives forever.
unsafe impl Sync for Interned {}

impl Keyed for Interned {
    #[inline]
    fn hash(&self) -> u64 {
        self.hash
    }
}

impl Interned {
    /// Its number.
    #[inline]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The NUL-terminated copy.
    #[inline]
    pub fn text(&self) -> *const c_char {
        self.text.cast()
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        // SAFETY: `add` wrote that many bytes.
        unsafe { core::slice::from_raw_parts(self.text, self.length) }
    }
}

/// The lock of writers, with the data that only they use.
pub(crate) struct Writers(pub(crate) Lock, UnsafeCell<Arena>);
// SAFETY: the arena is touched under the lock only.
unsafe impl Sync for Writers {}

pub(crate) static LOCK: Writers = Writers(Lock::new(), UnsafeCell::new(Arena::new()));
static TABLE: Table<Interned> = Table::new();
static BY_ID: Directory<Interned> = Directory::new();
static NEXT: AtomicU32 = AtomicU32::new(1);

/// The entry of `text`, created if there is none; `None` for the empty string, or if numbers or memory are exhausted.
#[inline]
pub fn intern(text: &[u8]) -> Option<&'static Interned> {
    if text.is_empty() {
        return None;
    }
    let hash = hash::bytes(text, 0);
    match TABLE.find(hash, |entry| entry.bytes() == text) {
        Some(entry) => Some(entry),
        None => add(text, hash),
    }
}

#[cold]
fn add(text: &[u8], hash: u64) -> Option<&'static Interned> {
    let _held = LOCK.0.hold();
    if let Some(entry) = TABLE.find(hash, |entry| entry.bytes() == text) {
        return Some(entry);
    }
    let id = NEXT.load(Ordering::Relaxed);
    if id == INVALID_STRING {
        return None;
    }
    // SAFETY: under the lock.
    let arena = unsafe { &mut *LOCK.1.get() };
    let copy = arena.text(text)?;
    let entry = arena.allocate(size_of::<Interned>())?.cast::<Interned>();
    // SAFETY: fresh memory of that size, aligned to 8.
    let entry: &'static Interned = unsafe {
        entry.write(Interned {
            hash,
            text: copy.cast(),
            length: text.len(),
            id,
        });
        &*entry
    };
    BY_ID.set(id, entry);
    TABLE.insert(entry);
    NEXT.store(id + 1, Ordering::Relaxed);
    Some(entry)
}

/// The string with this number, or null.
#[inline]
pub fn lookup(id: u32) -> *const c_char {
    BY_ID.get(id).map_or(core::ptr::null(), Interned::text)
}

pub(crate) fn reset() {
    let _held = LOCK.0.hold();
    TABLE.clear();
    BY_ID.clear();
    NEXT.store(1, Ordering::Relaxed);
}
