//! A fork finds every table whole: all locks are taken before it and left on both sides after it.

use crate::sync::Lock;
use crate::{callbacks, locations, metadata, streams, strings, values, visits};

/// In the order in which threads nest them: a visit's lock before the pool's, the rest alone.
fn for_each(mut each: impl FnMut(&'static Lock)) {
    for lock in [
        &strings::LOCK.0,
        &values::LOCK.0,
        &locations::LOCK.0,
        &streams::LOCK,
        &callbacks::LOCK,
    ] {
        each(lock);
    }
    metadata::LOCKS.iter().for_each(&mut each);
    visits::LOCKS.iter().for_each(&mut each);
    each(&visits::POOL.0);
}

extern "C" fn before() {
    for_each(Lock::enter);
}

extern "C" fn after() {
    for_each(Lock::leave);
}

extern "C" fn after_in_child() {
    for_each(Lock::leave);
    crate::subscribers::after_fork();
}

/// Once, when the framework starts.
pub(crate) fn prepare() {
    // SAFETY: functions of a library that is never unloaded.
    unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after_in_child)) };
}
