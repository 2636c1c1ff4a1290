//! The callbacks of one type on one stream: a list that only grows, in which some are active.
//!
//! A notification reads one word, the set of active callbacks, and calls those: registrations and unregistrations in
//! callbacks count from the next notification on. A callback that was unregistered keeps its slot. Beyond 64 callbacks
//! the list continues in another one of the same kind, whose word is read later.

use crate::sync::{AtomicPtr, AtomicU64, Ordering};

#[cfg(not(loom))]
const INLINE: usize = 6;
#[cfg(not(loom))]
const BLOCK: usize = 64;
// Small under the model checker, so that a few callbacks use every part.
#[cfg(loom)]
const INLINE: usize = 1;
#[cfg(loom)]
const BLOCK: usize = 3;

/// Opaque: the address of a callback.
pub type Callback = *mut ();

/// A list; changed by one thread at a time, read by any. One cache line while it has six callbacks or fewer.
#[cfg_attr(not(loom), repr(C, align(64)))]
#[derive(Debug)]
pub struct CallbackList {
    active: AtomicU64,
    rest: AtomicPtr<Rest>,
    first: [AtomicPtr<()>; INLINE],
}

#[derive(Debug)]
struct Rest {
    callbacks: [AtomicPtr<()>; BLOCK - INLINE],
    next: AtomicPtr<CallbackList>,
}

/// The result of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// The callback was never on the list.
    Unknown,
    /// It was on the list, but unregistered.
    Inactive,
    /// It was active.
    Active,
}

/// The active callbacks, if there are few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// None.
    Nobody,
    /// One, in the first cache line of the list.
    One(Callback),
    /// More, or elsewhere.
    More,
}

impl CallbackList {
    /// A list that is always empty.
    pub fn leaked() -> &'static Self {
        Box::leak(Box::new(Self {
            active: AtomicU64::new(0),
            rest: AtomicPtr::new(core::ptr::null_mut()),
            first: std::array::from_fn(|_| AtomicPtr::new(core::ptr::null_mut())),
        }))
    }

    /// Whether any callback is active.
    #[inline]
    pub fn any(&self) -> bool {
        let mut list = self;
        loop {
            if list.active.load(Ordering::Relaxed) != 0 {
                return true;
            }
            match list.next() {
                Some(next) => list = next,
                None => return false,
            }
        }
    }

    /// None or the only one, for lists of one cache line; the caller then needs no loop.
    #[inline]
    pub fn only(&self) -> Only {
        let active = self.active.load(Ordering::Acquire);
        let at = active.trailing_zeros() as usize;
        match self.first.get(at) {
            Some(slot)
                if active & (active - 1) == 0 && self.rest.load(Ordering::Relaxed).is_null() =>
            {
                Only::One(slot.load(Ordering::Relaxed))
            }
            None if self.rest.load(Ordering::Relaxed).is_null() => Only::Nobody,
            _ => Only::More,
        }
    }

    /// The two active ones, if there are exactly two and the list is one cache line.
    #[inline]
    pub fn pair(&self) -> Option<[Callback; 2]> {
        let active = self.active.load(Ordering::Acquire);
        let others = active & active.wrapping_sub(1);
        if others == 0 || others & (others - 1) != 0 || !self.rest.load(Ordering::Relaxed).is_null()
        {
            return None;
        }
        let callback = |set: u64| {
            Some(
                self.first
                    .get(set.trailing_zeros() as usize)?
                    .load(Ordering::Relaxed),
            )
        };
        Some([callback(active)?, callback(others)?])
    }

    /// Calls `each` with the active callbacks, in the order in which they were registered.
    #[inline]
    pub fn for_each_active(&self, mut each: impl FnMut(Callback)) {
        let mut list = self;
        loop {
            let mut active = list.active.load(Ordering::Acquire);
            while active != 0 {
                let at = active.trailing_zeros() as usize;
                active &= active - 1;
                if let Some(slot) = list.slot(at) {
                    each(slot.load(Ordering::Relaxed));
                }
            }
            match list.next() {
                Some(next) => list = next,
                None => return,
            }
        }
    }

    #[inline]
    fn rest(&self) -> Option<&'static Rest> {
        // SAFETY: null, or leaked when it was published.
        unsafe { self.rest.load(Ordering::Acquire).as_ref() }
    }

    #[inline]
    fn next(&self) -> Option<&'static Self> {
        // SAFETY: null, or leaked when it was published.
        unsafe { self.rest()?.next.load(Ordering::Acquire).as_ref() }
    }

    #[inline]
    fn slot(&self, at: usize) -> Option<&AtomicPtr<()>> {
        match self.first.get(at) {
            Some(slot) => Some(slot),
            None => self.rest()?.callbacks.get(at - INLINE),
        }
    }

    /// Activates the callback: a new one at the end, a known one in its slot. One caller at a time.
    pub fn register(&self, callback: Callback) -> Before {
        let mut list = self;
        loop {
            for at in 0..BLOCK {
                let slot = match list.slot(at) {
                    Some(slot) => slot,
                    None => &list.extend().callbacks[at - INLINE],
                };
                let found = slot.load(Ordering::Relaxed);
                if found.is_null() {
                    slot.store(callback, Ordering::Relaxed);
                    list.active.fetch_or(1 << at, Ordering::Release);
                    return Before::Unknown;
                }
                if found == callback {
                    let active = list.active.fetch_or(1 << at, Ordering::Release);
                    return if active >> at & 1 == 1 {
                        Before::Active
                    } else {
                        Before::Inactive
                    };
                }
            }
            let rest = list.extend();
            // SAFETY: null, or leaked when it was published.
            list = match unsafe { rest.next.load(Ordering::Acquire).as_ref() } {
                Some(next) => next,
                None => {
                    let next = Self::leaked();
                    rest.next
                        .store(core::ptr::from_ref(next).cast_mut(), Ordering::Release);
                    next
                }
            };
        }
    }

    fn extend(&self) -> &'static Rest {
        self.rest().unwrap_or_else(|| {
            let rest: &'static Rest = Box::leak(Box::new(Rest {
                callbacks: std::array::from_fn(|_| AtomicPtr::new(core::ptr::null_mut())),
                next: AtomicPtr::new(core::ptr::null_mut()),
            }));
            self.rest
                .store(core::ptr::from_ref(rest).cast_mut(), Ordering::Release);
            rest
        })
    }

    /// Unregisters the callback. One caller at a time.
    pub fn unregister(&self, callback: Callback) -> Before {
        let mut list = self;
        loop {
            for at in 0..BLOCK {
                let Some(slot) = list.slot(at) else {
                    return Before::Unknown;
                };
                let found = slot.load(Ordering::Relaxed);
                if found.is_null() {
                    return Before::Unknown;
                }
                if found == callback {
                    let active = list.active.fetch_and(!(1 << at), Ordering::Release);
                    return if active >> at & 1 == 1 {
                        Before::Active
                    } else {
                        Before::Inactive
                    };
                }
            }
            match list.next() {
                Some(next) => list = next,
                None => return Before::Unknown,
            }
        }
    }

    /// Unregisters all callbacks. One caller at a time.
    pub fn unregister_all(&self) {
        let mut list = self;
        loop {
            list.active.store(0, Ordering::Release);
            match list.next() {
                Some(next) => list = next,
                None => return,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn callback(number: usize) -> Callback {
        core::ptr::without_provenance_mut(number)
    }

    fn active(list: &CallbackList) -> Vec<usize> {
        let mut found = Vec::new();
        list.for_each_active(|callback| found.push(callback.addr()));
        found
    }

    #[test]
    fn callbacks_run_in_registration_order_over_several_blocks() {
        let list = CallbackList::leaked();
        assert!(!list.any());
        for number in 1..=200 {
            assert_eq!(list.register(callback(number)), Before::Unknown);
            assert_eq!(list.register(callback(number)), Before::Active);
        }
        assert_eq!(active(list), (1..=200).collect::<Vec<_>>());
        for number in [1, 7, 64, 65, 129, 200] {
            assert_eq!(list.unregister(callback(number)), Before::Active);
            assert_eq!(list.unregister(callback(number)), Before::Inactive);
        }
        assert_eq!(active(list).len(), 194);
        assert_eq!(list.register(callback(65)), Before::Inactive);
        assert_eq!(active(list)[60..63], [63, 65, 66]);
        assert_eq!(list.unregister(callback(999)), Before::Unknown);
        list.unregister_all();
        assert!(!list.any());
        assert_eq!(active(list), []);
    }
}
