//! Tables are consistent in a forked child: all locks are taken before the fork and released on both sides after it.

use crate::sync::Lock;
use crate::{callback_table, locations, metadata, streams, strings, values, visits};

/// In the order in which threads nest them: a visit's lock before the pool's, the others alone.
fn for_each(mut each: impl FnMut(&'static Lock)) {
    for lock in [
        &strings::LOCK.0,
        &values::LOCK.0,
        &locations::LOCK.0,
        &streams::LOCK,
        &callback_table::LOCK,
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

/// Releases all locks after a fork.
pub(crate) extern "C" fn leave() {
    for_each(Lock::leave);
}

/// Called once, when the framework starts. `in_child` calls [`leave`] in a forked child.
pub(crate) fn prepare(in_child: unsafe extern "C" fn()) {
    // SAFETY: functions of a library that is never unloaded.
    unsafe { libc::pthread_atfork(Some(before), Some(leave), Some(in_child)) };
}
