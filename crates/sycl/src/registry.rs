//! The handles that this runtime destroys, so that none is transferred to it twice.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static OWNED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Remembers a handle; `false` when it was known.
pub(crate) fn own<T>(handle: *mut T) -> bool {
    let mut owned = OWNED.lock().unwrap_or_else(PoisonError::into_inner);
    owned.insert(handle.addr())
}

/// Forgets a handle, just before it is destroyed.
pub(crate) fn disown<T>(handle: *mut T) {
    let mut owned = OWNED.lock().unwrap_or_else(PoisonError::into_inner);
    owned.remove(&handle.addr());
}
