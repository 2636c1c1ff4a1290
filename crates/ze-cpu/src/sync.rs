//! Locks without poison. Tests count the threads that take them: see [`crate::lock_audit`].

#[cfg(not(test))]
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. A panic elsewhere does not end the service, because every update under a lock is complete in itself.
#[cfg(not(test))]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(crate) use crate::lock_audit::lock;
