//! The handles that this runtime destroys, so that none is transferred twice.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static OWNED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Records a handle. Returns `false` if it is known already.
pub(crate) fn own<T>(handle: *mut T) -> bool {
    let mut owned = OWNED.lock().unwrap_or_else(PoisonError::into_inner);
    owned.insert(handle.addr())
}

/// Removes a handle, just before it is destroyed.
pub(crate) fn disown<T>(handle: *mut T) {
    let mut owned = OWNED.lock().unwrap_or_else(PoisonError::into_inner);
    owned.remove(&handle.addr());
}
