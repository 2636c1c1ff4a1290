//! What is dropped while a device still uses it: freed when the work on it has ended, without anybody waiting.

use std::sync::{Mutex, PoisonError};

use sycl_graph::Deps;

use crate::ticket::{probe, wait_for, would_wait_for_itself};

struct Grave {
    after: Deps,
    bury: Box<dyn FnOnce() + Send>,
}

static GRAVES: Mutex<Vec<Grave>> = Mutex::new(Vec::new());

/// Calls `bury` when `after` has ended: now, or in a later call of [`sweep`].
pub(crate) fn bury(mut after: Deps, bury: impl FnOnce() + Send + 'static) {
    after.retain(|dep| !probe(dep));
    if after.is_empty() {
        return bury();
    }
    let bury = Box::new(bury);
    let mut graves = GRAVES.lock().unwrap_or_else(PoisonError::into_inner);
    graves.push(Grave { after, bury });
}

/// Frees what is no longer used.
pub(crate) fn sweep() {
    let mut ready = Vec::new();
    {
        let Ok(mut graves) = GRAVES.try_lock() else {
            return;
        };
        let mut at = 0;
        while at < graves.len() {
            graves[at].after.retain(|dep| !probe(dep));
            if graves[at].after.is_empty() {
                ready.push(graves.swap_remove(at));
            } else {
                at += 1;
            }
        }
    }
    // Outside the lock: burying may drop what buries something itself.
    for grave in ready {
        (grave.bury)();
    }
}

/// As [`sweep`], until nothing more can be freed now; whether nothing is left.
pub(crate) fn sweep_all() -> bool {
    let left = || GRAVES.lock().unwrap_or_else(PoisonError::into_inner).len();
    loop {
        let before = left();
        sweep();
        match left() {
            0 => return true,
            // What is buried by what is freed takes its place: only less is more to come.
            after if after >= before => return false,
            _ => {}
        }
    }
}

/// Waits for the oldest grave, to make room for an allocation; whether there was one.
pub(crate) fn wait_for_one() -> bool {
    let oldest = {
        let graves = GRAVES.lock().unwrap_or_else(PoisonError::into_inner);
        let mut closed = graves.iter().map(|grave| &grave.after);
        closed
            .find(|after| after.iter().all(|dep| !dep.is_ticket()))
            .cloned()
    };
    let Some(after) = oldest.filter(|after| !would_wait_for_itself(after)) else {
        return false;
    };
    drop(wait_for(&after));
    sweep();
    true
}
