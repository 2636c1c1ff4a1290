//! Interned objects: bytes with a type, ids from 0, copies that never move. Most integers are objects of [`numbers`].

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use xpti_sys::{INVALID_OBJECT, object_data_t, object_id_t};

use crate::arena::Arena;
use crate::directory::Directory;
use crate::hash;
use crate::numbers;
use crate::sync::Lock;
use crate::table::{Keyed, Table};

struct Interned {
    hash: u64,
    bytes: *const u8,
    length: usize,
    id: u32,
    kind: u8,
}
// SAFETY: never written after it was published; the bytes live forever.
unsafe impl Sync for Interned {}

impl Keyed for Interned {
    #[inline]
    fn hash(&self) -> u64 {
        self.hash
    }
}

impl Interned {
    #[inline]
    fn same(&self, kind: u8, bytes: &[u8]) -> bool {
        // SAFETY: `intern` wrote that many bytes.
        self.kind == kind
            && unsafe { core::slice::from_raw_parts(self.bytes, self.length) } == bytes
    }
}

/// The lock of writers, with the data that only they use.
pub(crate) struct Writers(pub(crate) Lock, UnsafeCell<Arena>);
// SAFETY: the arena is touched under the lock only.
unsafe impl Sync for Writers {}

pub(crate) static LOCK: Writers = Writers(Lock::new(), UnsafeCell::new(Arena::new()));
static TABLE: Table<Interned> = Table::new();
static BY_ID: Directory<Interned> = Directory::new();
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The number of these bytes with this type, a new one if there is none; [`INVALID_OBJECT`] if numbers or memory are
/// exhausted. The same bytes with another type are another object.
#[inline]
pub fn intern(bytes: &[u8], kind: u8) -> object_id_t {
    if let Some(id) = numbers::intern(bytes, kind) {
        return id;
    }
    let hash = match bytes.first_chunk::<8>() {
        Some(word) if bytes.len() == 8 => {
            hash::mix(hash::mix(8, u64::from(kind)), u64::from_le_bytes(*word))
        }
        _ => hash::bytes(bytes, u64::from(kind)),
    };
    match TABLE.find(hash, |entry| entry.same(kind, bytes)) {
        Some(entry) => entry.id.cast_signed(),
        None => add(bytes, kind, hash).unwrap_or(INVALID_OBJECT),
    }
}

#[cold]
fn add(bytes: &[u8], kind: u8, hash: u64) -> Option<object_id_t> {
    let _held = LOCK.0.hold();
    if let Some(entry) = TABLE.find(hash, |entry| entry.same(kind, bytes)) {
        return Some(entry.id.cast_signed());
    }
    let id = NEXT.load(Ordering::Relaxed);
    if id == numbers::FIRST_ID {
        return None;
    }
    // SAFETY: under the lock.
    let arena = unsafe { &mut *LOCK.1.get() };
    let memory = arena.allocate(size_of::<Interned>().checked_add(bytes.len())?)?;
    let entry = memory.cast::<Interned>();
    // SAFETY: fresh memory for the header and the bytes behind it, aligned to 8.
    let entry: &'static Interned = unsafe {
        let copy = memory.add(size_of::<Interned>());
        copy.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        entry.write(Interned {
            hash,
            bytes: copy,
            length: bytes.len(),
            id,
            kind,
        });
        &*entry
    };
    BY_ID.set(id, entry);
    TABLE.insert(entry);
    NEXT.store(id + 1, Ordering::Relaxed);
    Some(id.cast_signed())
}

/// The object with this number, or all zeros.
#[inline]
pub fn lookup(id: object_id_t) -> object_data_t {
    let id = u32::try_from(id).ok();
    let entry = id.and_then(|id| BY_ID.get(id)).map(|entry| object_data_t {
        size: entry.length,
        data: entry.bytes.cast(),
        kind: entry.kind,
    });
    entry
        .or_else(|| numbers::lookup(id?))
        .unwrap_or(object_data_t {
            size: 0,
            data: core::ptr::null(),
            kind: 0,
        })
}

pub(crate) fn reset() {
    let _held = LOCK.0.hold();
    TABLE.clear();
    BY_ID.clear();
    NEXT.store(0, Ordering::Relaxed);
}
