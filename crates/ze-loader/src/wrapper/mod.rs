//! Wrappers: applications hold them in place of the handles of drivers without DDI tables.
//!
//! A wrapper begins with the header of any object with DDI tables, so that calls can be dispatched through it; its
//! tables unwrap (`legacy_tables`). It lies in one reserved range ([`arena`]). It has the
//! identity of the driver's object: one object has the same wrapper as long as it lives ([`map`]).
//!
//! Using a wrapper reads only the wrapper. The map is looked up, without a lock, when a driver returns a handle. It is
//! changed, under the lock of one of many shards, when a handle is seen for the first time and when it is destroyed. A
//! wrapper leaves the map before its object is destroyed, so that the driver may reuse the address at once.
//!
//! Not here: which argument of which function is a handle (generated), and how drivers are found.

pub(crate) mod arena;
pub(crate) mod arguments;
pub(crate) mod chain;
pub(crate) mod kinds;
mod map;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};

use level_zero_sys::ze_handle_t;

use crate::legacy_driver::LegacyDriver;
pub(crate) use kinds::Kind;
use map::{Entry, Locked, Shard};

/// The wrapper is not in use.
const FREE: Kind = 0;

/// The object behind an application's handle.
#[repr(C, align(64))]
pub(crate) struct Wrapper {
    /// Written once, before the wrapper is first returned.
    header: ze_handle_t,
    /// The driver's handle.
    native: AtomicUsize,
    driver: AtomicPtr<LegacyDriver>,
    /// How often the driver has returned it as a new object. Changed under the shard's lock.
    count: AtomicU32,
    /// [`FREE`], or the type of the handle; set last and cleared first.
    kind: AtomicU8,
    /// 1 while the driver is destroying it. Changed under the shard's lock.
    leaving: AtomicU8,
}

const _: () = assert!(size_of::<Wrapper>() == 64);

/// Wrappers in one page.
const PER_PAGE: usize = arena::PAGE / size_of::<Wrapper>();

// SAFETY: the header is written before the wrapper is shared and points to static tables; all else is atomic.
unsafe impl Sync for Wrapper {}

/// The identity of a handle.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    driver: &'static LegacyDriver,
    kind: Kind,
    native: usize,
}

impl Key {
    fn hash(self) -> usize {
        // Objects are aligned to 16 or more; the multiplier spreads the rest over the upper bits.
        let word =
            self.native.rotate_right(4) ^ usize::from(self.kind) << 48 ^ self.driver.number << 56;
        word.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Entry for Wrapper {
    type Key = Key;

    fn hash(key: Key) -> usize {
        // The topmost bits choose the shard.
        key.hash() >> 16 & 0xffff_ffff
    }

    fn key(&self) -> Key {
        // SAFETY: set when the wrapper was taken into use; drivers are never freed.
        let driver = unsafe { &*self.driver.load(Ordering::Relaxed) };
        Key {
            driver,
            kind: self.kind.load(Ordering::Relaxed),
            native: self.native.load(Ordering::Relaxed),
        }
    }

    fn has(&self, key: Key) -> bool {
        self.kind.load(Ordering::Acquire) == key.kind
            && self.native.load(Ordering::Relaxed) == key.native
            && std::ptr::eq(self.driver.load(Ordering::Relaxed), key.driver)
    }
}

/// Unused wrappers of this shard, the longest unused first, so that a stale handle is detected for a long time.
pub(crate) struct Free(VecDeque<&'static Wrapper>);

type Map = Shard<Wrapper, Free>;

const SHARD_BITS: u32 = 6;

static MAP: [Map; 1 << SHARD_BITS] = [const { Shard::new(Free(VecDeque::new())) }; 1 << SHARD_BITS];

fn shard(key: Key) -> &'static Map {
    &MAP[key.hash() >> (usize::BITS - SHARD_BITS)]
}

/// Whether a returned handle is a new object, which will be destroyed once, or may be known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Created,
    Known,
}

/// The wrapper of an application's handle; `None` for handles of other drivers and invalid ones.
#[inline(always)]
pub(crate) fn of<T>(handle: *mut T) -> Option<&'static Wrapper> {
    let address = handle.addr();
    // SAFETY: the range is readable there, aligned, zeroed where no wrapper was made yet, and never given back.
    (arena::holds(address) && address.is_multiple_of(size_of::<Wrapper>()))
        .then(|| unsafe { &*handle.cast::<Wrapper>() })
}

impl Wrapper {
    #[inline(always)]
    pub(crate) fn is(&self, kind: Kind) -> bool {
        self.kind.load(Ordering::Relaxed) == kind
    }

    pub(crate) fn is_live(&self) -> bool {
        !self.is(FREE)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind.load(Ordering::Relaxed)
    }

    /// The driver's handle, while the wrapper is live.
    #[inline(always)]
    pub(crate) fn native<T>(&self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.native.load(Ordering::Relaxed))
    }

    /// The driver of a wrapper that is or was live.
    #[inline(always)]
    pub(crate) fn driver(&self) -> &'static LegacyDriver {
        // SAFETY: set when the wrapper was taken into use for the first time; drivers are never freed.
        unsafe { &*self.driver.load(Ordering::Relaxed) }
    }

    fn handle<T>(&'static self) -> *mut T {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

/// The application's handle for a driver's; `None` if memory is short. A null handle stays null.
pub(crate) fn wrap<T>(
    driver: &'static LegacyDriver,
    kind: Kind,
    native: *mut T,
    origin: Origin,
) -> Option<*mut T> {
    if native.is_null() {
        return Some(native);
    }
    let key = Key {
        driver,
        kind,
        native: native.expose_provenance(),
    };
    let shard = shard(key);
    if origin == Origin::Known
        && let Some(known) = shard.find(key)
    {
        return Some(known.handle());
    }
    let mut locked = shard.lock();
    if let Some(known) = locked.find(key) {
        if origin == Origin::Created {
            // A driver may open one object twice, and each of its handles is closed once.
            known.count.store(
                known.count.load(Ordering::Relaxed).saturating_add(1),
                Ordering::Relaxed,
            );
        }
        return Some(known.handle());
    }
    if !locked.reserve() {
        return None;
    }
    let new = take(&mut locked, &driver.header.0)?;
    new.native.store(key.native, Ordering::Relaxed);
    new.driver
        .store(std::ptr::from_ref(driver).cast_mut(), Ordering::Relaxed);
    new.count
        .store(u32::from(origin == Origin::Created), Ordering::Relaxed);
    new.leaving.store(0, Ordering::Relaxed);
    new.kind.store(kind, Ordering::Release);
    locked.insert(new);
    Some(new.handle())
}

/// An unused wrapper, from the shard's own or from a new page.
fn take(locked: &mut Locked<'_, Wrapper, Free>, header: &ze_handle_t) -> Option<&'static Wrapper> {
    let free = &mut locked.extra().0;
    if let Some(unused) = free.pop_front() {
        return Some(unused);
    }
    free.try_reserve(PER_PAGE).ok()?;
    let page = arena::page()?.cast::<Wrapper>();
    for index in 0..PER_PAGE {
        // SAFETY: this thread alone has the page, which is zeroed, and zero is a valid value of each field.
        unsafe {
            let place = page.add(index);
            (&raw mut (*place).header).write(*header);
            free.push_back(&*place);
        }
    }
    free.pop_front()
}

/// The result of [`begin_release`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    /// The last handle of this object: it was removed from the map.
    Last,
    /// The driver has returned this object several times.
    Shared,
    /// Another thread is destroying it.
    Busy,
}

/// Called before a driver destroys an object.
pub(crate) fn begin_release(wrapper: &'static Wrapper) -> Release {
    let mut locked = shard(wrapper.key()).lock();
    if !wrapper.is_live() || wrapper.leaving.load(Ordering::Relaxed) != 0 {
        return Release::Busy;
    }
    let count = wrapper.count.load(Ordering::Relaxed);
    if count > 1 {
        wrapper.count.store(count - 1, Ordering::Relaxed);
        return Release::Shared;
    }
    wrapper.leaving.store(1, Ordering::Relaxed);
    locked.remove(wrapper);
    Release::Last
}

/// Called after a driver's destroy function has returned: frees the wrapper, or restores it.
pub(crate) fn end_release(wrapper: &'static Wrapper, release: Release, destroyed: bool) {
    let key = wrapper.key();
    let mut locked = shard(key).lock();
    match (release, destroyed) {
        (Release::Last, true) => {
            wrapper.kind.store(FREE, Ordering::Release);
            wrapper.native.store(0, Ordering::Relaxed);
            let free = &mut locked.extra().0;
            // If memory for the list is short, the wrapper is lost, which costs its 64 bytes.
            if free.try_reserve(1).is_ok() {
                free.push_back(wrapper);
            }
        }
        (Release::Last, false) => {
            wrapper.leaving.store(0, Ordering::Relaxed);
            // Another wrapper of the object may have been created meanwhile; this one then stays outside the map.
            if locked.find(key).is_none() && locked.reserve() {
                locked.insert(wrapper);
            }
        }
        (Release::Shared, false) => {
            let count = wrapper.count.load(Ordering::Relaxed);
            wrapper
                .count
                .store(count.saturating_add(1), Ordering::Relaxed);
        }
        _ => {}
    }
}
