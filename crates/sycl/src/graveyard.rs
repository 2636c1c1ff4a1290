//! What is dropped while a device still uses it: freed when the work on it has ended, without anybody waiting.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use crate::ticket::{probe, wait_for, would_wait_for_itself};

struct Grave {
    after: Deps,
    bury: Box<dyn FnOnce() + Send>,
}

struct Graves {
    /// About in the order of their making.
    list: VecDeque<Grave>,
    /// All of them are looked at when there are so many.
    sweep_at: usize,
}

/// So many unfinished ones are looked at now and then.
const FEW: usize = 4;
/// So many may be finished without that anybody knows.
const MANY: usize = 32;

static GRAVES: Mutex<Graves> = Mutex::new(Graves {
    list: VecDeque::new(),
    sweep_at: MANY,
});

fn graves() -> MutexGuard<'static, Graves> {
    GRAVES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `bury` when `after` has ended: now, or in a later call of [`sweep`].
pub(crate) fn bury(mut after: Deps, bury: impl FnOnce() + Send + 'static) {
    after.retain(|dep| !probe(dep));
    if after.is_empty() {
        return bury();
    }
    let bury = Box::new(bury);
    graves().list.push_back(Grave { after, bury });
}

/// What was found to be unfinished in one look at the graves: later work on its lanes is so too.
#[derive(Default)]
struct Unfinished(SmallVec<[Dep; 8]>);

impl Unfinished {
    fn contains(&mut self, dep: Dep) -> bool {
        let mut known = self.0.iter();
        let lane = |known: &&Dep| known.lane() == dep.lane() && !dep.is_ticket();
        if known.any(|known| lane(&known) && *known <= dep) {
            return true;
        }
        let unfinished = !probe(dep);
        if unfinished && !dep.is_ticket() {
            self.0.push(dep);
        }
        unfinished
    }
}

/// Looks at graves, the oldest first, until so many are found to be unfinished; frees the others.
fn sweep_until(unfinished: impl FnOnce(&Graves) -> usize) {
    let mut ready: SmallVec<[Grave; 8]> = SmallVec::new();
    {
        let Ok(mut graves) = GRAVES.try_lock() else {
            return;
        };
        let mut left = unfinished(&graves);
        let mut known = Unfinished::default();
        for _ in 0..graves.list.len() {
            let Some(mut grave) = graves.list.pop_front() else {
                break;
            };
            grave.after.retain(|dep| known.contains(dep));
            if grave.after.is_empty() {
                ready.push(grave);
                continue;
            }
            graves.list.push_back(grave);
            left -= 1;
            if left == 0 {
                break;
            }
        }
        if left > 0 {
            // All were looked at.
            graves.sweep_at = MANY.max(2 * graves.list.len());
        }
    }
    // Outside the lock: burying may drop what buries something itself.
    for grave in ready {
        (grave.bury)();
    }
}

/// Frees what is no longer used.
pub(crate) fn sweep() {
    sweep_until(|_| usize::MAX);
}

/// As [`sweep`], in passing: costs little however much is still used.
pub(crate) fn sweep_some() {
    sweep_until(|graves| match graves.list.len() >= graves.sweep_at {
        true => usize::MAX,
        false => FEW,
    });
}

/// As [`sweep`], until nothing more can be freed now; whether nothing is left.
pub(crate) fn sweep_all() -> bool {
    let left = || graves().list.len();
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
        let graves = graves();
        let mut closed = graves.list.iter().map(|grave| &grave.after);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::ticket::Ticket;

    /// What is used for long keeps nothing else, though only a few graves are looked at in passing.
    #[test]
    fn what_has_ended_is_freed_in_passing() {
        let freed = Arc::new(AtomicUsize::new(0));
        let make = || {
            let (ticket, freed) = (Ticket::open(None, Vec::new()), Arc::clone(&freed));
            bury(Deps::from(ticket.dep()), move || {
                freed.fetch_add(1, Ordering::Relaxed);
            });
            ticket
        };
        let long: Vec<_> = (0..100).map(|_| make()).collect();
        for brief in 1..=10_000 {
            make().done();
            sweep_some();
            let left = brief - freed.load(Ordering::Relaxed);
            assert!(left <= 2 * long.len() + MANY, "{left} of {brief} are left");
        }
        long.iter().for_each(|ticket| ticket.done());
        assert!(sweep_all());
        assert_eq!(freed.load(Ordering::Relaxed), 10_100);
    }
}
