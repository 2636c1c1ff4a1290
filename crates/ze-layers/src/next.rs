//! The table that a layer calls.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::Tables;

/// Stands where no table was given: every slot is empty.
// SAFETY: a table holds function pointers only, for which zero is `None`.
static EMPTY: Tables = unsafe { MaybeUninit::zeroed().assume_init() };

/// A layer's next table; an empty one before [`Next::set`].
pub(crate) struct Next(AtomicPtr<Tables>);

impl Next {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new((&raw const EMPTY).cast_mut()))
    }

    pub(crate) fn set(&self, next: &'static Tables) {
        self.0
            .store(std::ptr::from_ref(next).cast_mut(), Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> &'static Tables {
        // SAFETY: only references that live as long as the process are ever stored.
        unsafe { &*self.0.load(Ordering::Acquire) }
    }
}

/// Calls the next table's slot: `call_next!(NEXT, ze.Fence.pfnCreate => arguments)`.
macro_rules! call_next {
    ($next:expr, $aggregate:ident.$table:ident.$slot:ident => $($argument:expr),*) => {
        match $next.get().$aggregate.$table.$slot {
            // SAFETY: the arguments are the caller's own, under the same contract as this function.
            Some(function) => unsafe { function($($argument),*) },
            None => $crate::answer::Answer::UNSUPPORTED,
        }
    };
}
pub(crate) use call_next;
