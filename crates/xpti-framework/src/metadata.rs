//! The map inside an event: libstdc++'s `std::unordered_map<uint32_t, int32_t>`, written by hand.
//!
//! Clients read it, and change it, with their own compiled code, so buckets, order and growth are libstdc++'s: a new key
//! goes behind its bucket's first link, or to the front of the list; the map grows when one more element would exceed
//! `next_resize`, to the next of libstdc++'s primes. Nodes and buckets come from the process's `operator new`, since the
//! client's code frees them with its `operator delete`.
//!
//! Adding to one event from several threads is safe; against the client's own changes it is not, as in C++.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use xpti_sys::{metadata_link, metadata_node, metadata_t};

use crate::primes;
use crate::sync::Lock;

/// By the map's address.
pub(crate) static LOCKS: [Lock; 64] = [const { Lock::new() }; 64];

pub(crate) fn lock(map: *const metadata_t) -> &'static Lock {
    // Events are in a slab: their addresses differ in these bits.
    let at = (map.addr() >> 3).wrapping_mul(0x9E37_79B9) >> 16;
    &LOCKS[at % LOCKS.len()]
}

/// Bucket count of a map after its first growth.
pub(crate) const SMALL: usize = 13;

/// Memory that a freed visit keeps for its next use.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Spares {
    pub(crate) nodes: *mut metadata_node,
    /// An array of [`SMALL`] buckets.
    pub(crate) buckets: *mut *mut metadata_node,
    pub(crate) count: u32,
}

impl Spares {
    pub(crate) const MOST: u32 = 16;
}

/// The result of setting a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is new.
    New,
    /// It had another value.
    Overwritten,
}

/// Makes `map` an empty map that has not grown.
///
/// # Safety
/// Memory of a map whose nodes and buckets are owned elsewhere, or that has none.
#[inline]
pub unsafe fn init(map: *mut metadata_t) {
    // SAFETY: the caller's.
    unsafe {
        (*map).buckets = &raw mut (*map).single_bucket;
        (*map).bucket_count = 1;
        (*map).before_begin.next = core::ptr::null_mut();
        (*map).element_count = 0;
        (*map).max_load_factor = 1.0;
        (*map).next_resize = 0;
        (*map).single_bucket = core::ptr::null_mut();
    }
}

#[inline]
fn bucket(key: u32, count: usize) -> usize {
    // The 32-bit division is several times faster.
    match u32::try_from(count) {
        Ok(count @ 1..) => (key % count) as usize,
        _ => key as usize,
    }
}

/// # Safety
/// A valid map.
#[inline]
unsafe fn find(map: *const metadata_t, key: u32) -> *mut metadata_node {
    // SAFETY: the caller's: each bucket is null or the link before its first node.
    unsafe {
        let count = (*map).bucket_count;
        let at = bucket(key, count);
        let before = *(*map).buckets.add(at);
        if before.is_null() {
            return before;
        }
        let mut node = (*before.cast::<metadata_link>()).next;
        while !node.is_null() {
            if (*node).key == key {
                return node;
            }
            node = (*node).link.next;
            if !node.is_null() && bucket((*node).key, count) != at {
                return core::ptr::null_mut();
            }
        }
        node
    }
}

/// Sets `key` to `value`.
///
/// # Safety
/// A valid map under its lock; `spares` belongs to it or is null.
#[inline]
pub(crate) unsafe fn set(map: *mut metadata_t, key: u32, value: i32, spares: *mut Spares) -> Added {
    // SAFETY: the caller's.
    unsafe {
        let found = find(map, key);
        if !found.is_null() {
            (*found).value = value;
            return Added::Overwritten;
        }
        grow_for_one_more(map, spares);
        let node = match spares.as_mut() {
            Some(spares) if !spares.nodes.is_null() => {
                let node = spares.nodes;
                spares.nodes = (*node).link.next;
                spares.count -= 1;
                node
            }
            _ => allocate(size_of::<metadata_node>()).cast(),
        };
        (*node).key = key;
        (*node).value = value;
        let slot = (*map).buckets.add(bucket(key, (*map).bucket_count));
        if (*slot).is_null() {
            let head = (*map).before_begin.next;
            (*node).link.next = head;
            (*map).before_begin.next = node;
            if !head.is_null() {
                *(*map).buckets.add(bucket((*head).key, (*map).bucket_count)) = node;
            }
            *slot = (&raw mut (*map).before_begin).cast();
        } else {
            let before = (*slot).cast::<metadata_link>();
            (*node).link.next = (*before).next;
            (*before).next = node;
        }
        (*map).element_count += 1;
        Added::New
    }
}

/// # Safety
/// As [`set`].
#[inline]
unsafe fn grow_for_one_more(map: *mut metadata_t, spares: *mut Spares) {
    // SAFETY: the caller's.
    unsafe {
        if (*map).element_count < (*map).next_resize {
            return;
        }
        // The first growth of a map that the client left alone.
        if (*map).next_resize == 0 && (*map).bucket_count == 1 && (*map).max_load_factor == 1.0 {
            (*map).next_resize = SMALL;
            rehash(map, SMALL, spares);
            return;
        }
        let load = f64::from((*map).max_load_factor);
        let load = if load > 0.0 { load } else { 1.0 };
        let elements = ((*map).element_count + 1).max(if (*map).next_resize == 0 { 11 } else { 0 });
        let least = elements as f64 / load;
        if least < (*map).bucket_count as f64 {
            (*map).next_resize = ((*map).bucket_count as f64 * load) as usize;
            return;
        }
        let count = primes::from((least as usize + 1).max((*map).bucket_count.saturating_mul(2)));
        (*map).next_resize = (count as f64 * load) as usize;
        rehash(map, count, spares);
    }
}

/// # Safety
/// As [`set`].
unsafe fn rehash(map: *mut metadata_t, count: usize, spares: *mut Spares) {
    // SAFETY: the caller's; the new array has `count` places.
    unsafe {
        let buckets = match spares.as_mut() {
            Some(spares) if count == SMALL && !spares.buckets.is_null() => {
                core::mem::replace(&mut spares.buckets, core::ptr::null_mut())
            }
            _ => allocate(count.saturating_mul(size_of::<*mut metadata_node>())).cast(),
        };
        buckets.write_bytes(0, count);
        let mut node = (*map).before_begin.next;
        (*map).before_begin.next = core::ptr::null_mut();
        let mut first = 0;
        while !node.is_null() {
            let next = (*node).link.next;
            let at = bucket((*node).key, count);
            let slot = buckets.add(at);
            if (*slot).is_null() {
                (*node).link.next = (*map).before_begin.next;
                (*map).before_begin.next = node;
                *slot = (&raw mut (*map).before_begin).cast();
                if !(*node).link.next.is_null() {
                    *buckets.add(first) = node;
                }
                first = at;
            } else {
                let before = (*slot).cast::<metadata_link>();
                (*node).link.next = (*before).next;
                (*before).next = node;
            }
            node = next;
        }
        free_buckets(map);
        (*map).buckets = buckets;
        (*map).bucket_count = count;
    }
}

/// # Safety
/// A valid map; its buckets are replaced next.
unsafe fn free_buckets(map: *mut metadata_t) {
    // SAFETY: the caller's.
    unsafe {
        if (*map).buckets != &raw mut (*map).single_bucket {
            free((*map).buckets.cast());
        }
    }
}

/// Empties the map and resets its growth; reusable memory goes to `spares`, the rest is freed.
///
/// # Safety
/// A valid map that no other thread uses.
#[inline]
pub(crate) unsafe fn recycle(map: *mut metadata_t, spares: *mut Spares) {
    // SAFETY: the caller's.
    unsafe {
        let single = &raw mut (*map).single_bucket;
        if (*map).buckets != single {
            let mut node = (*map).before_begin.next;
            while !node.is_null() {
                let next = (*node).link.next;
                if (*spares).count < Spares::MOST {
                    (*node).link.next = (*spares).nodes;
                    (*spares).nodes = node;
                    (*spares).count += 1;
                } else {
                    free(node.cast());
                }
                node = next;
            }
            if (*map).bucket_count == SMALL && (*spares).buckets.is_null() {
                (*spares).buckets = (*map).buckets;
            } else {
                free((*map).buckets.cast());
            }
        }
        init(map);
    }
}

static NEW: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static DELETE: AtomicUsize = AtomicUsize::new(0);

/// Allocates with the process's `operator new`, which may throw.
fn allocate(size: usize) -> *mut c_void {
    let mut new = NEW.load(Ordering::Acquire);
    if new.is_null() {
        resolve();
        new = NEW.load(Ordering::Acquire);
    }
    // SAFETY: `operator new(size_t)` or `malloc`.
    let new: unsafe extern "C-unwind" fn(usize) -> *mut c_void =
        unsafe { core::mem::transmute(new) };
    // SAFETY: any size.
    let memory = unsafe { new(size) };
    if memory.is_null() {
        // malloc failed; there is no result code for it, and the map would be damaged.
        std::process::abort();
    }
    memory
}

/// # Safety
/// Memory from [`allocate`], or from the client's `operator new`.
unsafe fn free(memory: *mut c_void) {
    if DELETE.load(Ordering::Acquire) == 0 {
        resolve();
    }
    let delete = core::ptr::with_exposed_provenance::<c_void>(DELETE.load(Ordering::Acquire));
    // SAFETY: `operator delete(void*)` or `free`, the counterpart of the function that `allocate` calls.
    let delete: unsafe extern "C-unwind" fn(*mut c_void) = unsafe { core::mem::transmute(delete) };
    // SAFETY: the caller's.
    unsafe { delete(memory) }
}

/// Finds the pair that the client's code uses: the program's own, else libstdc++'s, else malloc and free, which
/// libstdc++'s call.
#[cold]
fn resolve() {
    let pair = |library: *mut c_void| {
        // SAFETY: C strings; any handle of the dynamic linker.
        let symbol = |name: &CStr| unsafe { libc::dlsym(library, name.as_ptr()) };
        let (new, delete) = (symbol(c"_Znwm"), symbol(c"_ZdlPv"));
        (!new.is_null() && !delete.is_null()).then_some((new, delete))
    };
    let libstdcxx = || {
        // Loaded locally, as in Python, it is not in the global scope.
        // SAFETY: a C string; nothing is loaded that is not there already.
        let library = unsafe {
            libc::dlopen(
                c"libstdc++.so.6".as_ptr(),
                libc::RTLD_LAZY | libc::RTLD_NOLOAD,
            )
        };
        if library.is_null() {
            None
        } else {
            pair(library)
        }
    };
    let (new, delete) = pair(libc::RTLD_DEFAULT)
        .or_else(libstdcxx)
        .unwrap_or((libc::malloc as *mut c_void, libc::free as *mut c_void));
    // Two threads find the same pair: the scope does not change between them for these names.
    DELETE.store(delete.expose_provenance(), Ordering::Release);
    NEW.store(new, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_and_counted_in_reverse_bucket_order() {
        // SAFETY: a separate map, at one address.
        unsafe {
            let mut map = core::mem::MaybeUninit::<metadata_t>::uninit();
            let map = map.as_mut_ptr();
            init(map);
            let mut spares = Spares {
                nodes: core::ptr::null_mut(),
                buckets: core::ptr::null_mut(),
                count: 0,
            };
            for round in 0..3 {
                for key in 0..1000 {
                    assert_eq!(
                        set(map, key * 7, key.cast_signed(), &raw mut spares),
                        Added::New
                    );
                }
                assert_eq!(set(map, 7, 5, &raw mut spares), Added::Overwritten);
                assert_eq!((*find(map, 7)).value, 5);
                assert!(find(map, 8).is_null());
                assert_eq!((*map).element_count, 1000);
                assert_eq!((*map).bucket_count, 1109);
                let mut count = 0;
                let mut node = (*map).before_begin.next;
                while !node.is_null() {
                    assert_eq!(find(map, (*node).key), node);
                    node = (*node).link.next;
                    count += 1;
                }
                assert_eq!(count, 1000, "round {round}");
                recycle(map, &raw mut spares);
                assert_eq!((*map).bucket_count, 1);
                assert!(spares.count <= Spares::MOST);
            }
        }
    }
}
