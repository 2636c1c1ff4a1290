//! A pointer that readers hold for the length of a call, without a lock, and that writers replace at any time.
//!
//! A reader claims a slot, writes the pointer there and checks whether it is still the current one; a writer replaces
//! the pointer and then checks the slots. Either the writer sees the reader's slot, or the reader sees the new pointer.
//! This costs one locked instruction per call; a slot is released by a plain store. Slots come in blocks, which are
//! added when there are more concurrent calls than slots, and are never freed.

#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, Ordering};

#[cfg(not(loom))]
const SLOTS: usize = 64;
#[cfg(loom)]
const SLOTS: usize = 1;

/// One call's slot, alone on its cache line.
#[repr(align(128))]
struct Slot<T>(AtomicPtr<T>);

struct Block<T> {
    slots: [Slot<T>; SLOTS],
    next: AtomicPtr<Block<T>>,
}

impl<T> Block<T> {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Self {
            slots: [const { Slot(AtomicPtr::new(std::ptr::null_mut())) }; SLOTS],
            next: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    #[cfg(loom)]
    fn new() -> Self {
        Self {
            slots: std::array::from_fn(|_| Slot(AtomicPtr::new(std::ptr::null_mut()))),
            next: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The next block, created when there is none.
    fn following(&self) -> &Self {
        let mut next = self.next.load(Ordering::Acquire);
        if next.is_null() {
            let new = Box::into_raw(Box::new(Self::new()));
            match self.next.compare_exchange(
                std::ptr::null_mut(),
                new,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => next = new,
                Err(other) => {
                    // SAFETY: created above, and no other thread has seen it.
                    drop(unsafe { Box::from_raw(new) });
                    next = other;
                }
            }
        }
        // SAFETY: blocks are leaked once they hang here.
        unsafe { &*next }
    }
}

/// The current pointer and the readers that hold it or an earlier one. Null cannot be held.
pub(crate) struct Current<T> {
    pointer: AtomicPtr<T>,
    first: Block<T>,
}

impl<T> Current<T> {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self {
            pointer: AtomicPtr::new(std::ptr::null_mut()),
            first: Block::new(),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self {
            pointer: AtomicPtr::new(std::ptr::null_mut()),
            first: Block::new(),
        }
    }

    /// Holds the current pointer; `None` if it is null. The slot `preferred` is tried first: threads with different
    /// numbers use different slots.
    pub(crate) fn hold(&self, preferred: usize) -> Option<Held<'_, T>> {
        let mut pointer = self.pointer.load(Ordering::Acquire);
        if pointer.is_null() {
            return None;
        }
        let mut block = &self.first;
        let mut number = preferred;
        let slot = 'claimed: loop {
            for _ in 0..SLOTS {
                let slot = &block.slots[number % SLOTS];
                // Release on success: a later claim of a slot orders the claims before it; SeqCst against `replace`.
                let claim = slot.0.compare_exchange(
                    std::ptr::null_mut(),
                    pointer,
                    Ordering::SeqCst,
                    Ordering::Relaxed,
                );
                if claim.is_ok() {
                    break 'claimed slot;
                }
                number = number.wrapping_add(1);
            }
            block = block.following();
        };
        loop {
            order();
            let now = self.pointer.load(Ordering::SeqCst);
            if now == pointer {
                return Some(Held { slot, pointer });
            }
            slot.0.store(now, Ordering::SeqCst);
            if now.is_null() {
                return None;
            }
            pointer = now;
        }
    }

    /// Replaces the pointer and returns the previous one, which calls may still hold.
    pub(crate) fn replace(&self, new: *mut T) -> *mut T {
        let old = self.pointer.swap(new, Ordering::SeqCst);
        order();
        old
    }

    /// Whether a call holds `pointer`, which is no longer the current one.
    pub(crate) fn is_held(&self, pointer: *const T) -> bool {
        order();
        let mut block = Some(&self.first);
        while let Some(here) = block {
            if here
                .slots
                .iter()
                .any(|slot| std::ptr::eq(slot.0.load(Ordering::SeqCst), pointer))
            {
                return true;
            }
            // SAFETY: null or a leaked block.
            block = unsafe { here.next.load(Ordering::Acquire).as_ref() };
        }
        false
    }
}

/// Loom models a total order only for SeqCst fences, not for SeqCst accesses; the fence replaces the access here.
#[inline(always)]
fn order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Keeps the pointer alive; dropping it releases the pointer.
pub(crate) struct Held<'c, T> {
    slot: &'c Slot<T>,
    pointer: *mut T,
}

impl<T> Held<'_, T> {
    pub(crate) fn pointer(&self) -> *mut T {
        self.pointer
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.slot.0.store(std::ptr::null_mut(), Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::sync::Arc;

    /// Models a snapshot: a cell that loom checks. A reader reads it, and the writer writes it when it finds no holder.
    type Watched = loom::cell::UnsafeCell<u32>;

    fn model(readers: usize) {
        loom::model(move || {
            let current: Arc<Current<Watched>> = Arc::new(Current::new());
            let first = Box::into_raw(Box::new(Watched::new(1)));
            let second = Box::into_raw(Box::new(Watched::new(2)));
            current.replace(first);
            let threads: Vec<_> = (0..readers)
                .map(|number| {
                    let current = Arc::clone(&current);
                    loom::thread::spawn(move || {
                        if let Some(held) = current.hold(number) {
                            // SAFETY: held.
                            unsafe {
                                (*held.pointer()).with(|value| assert!(*value == 1 || *value == 2))
                            };
                        }
                    })
                })
                .collect();
            let old = current.replace(second);
            assert_eq!(old, first);
            if !current.is_held(old) {
                // SAFETY: replaced and not held; loom fails when a reader reads at the same time or later.
                unsafe { (*old).with_mut(|value| *value = 99) };
            }
            for thread in threads {
                thread.join().unwrap();
            }
            assert!(!current.is_held(first) && !current.is_held(second));
            // SAFETY: all readers have ended.
            unsafe {
                drop(Box::from_raw(first));
                drop(Box::from_raw(second));
            }
        });
    }

    #[test]
    fn a_replaced_pointer_without_holders_is_not_read() {
        model(1);
    }

    #[test]
    fn more_calls_than_slots_use_another_block() {
        model(2);
    }
}
