//! What is dropped while a device still uses it: freed when the work on it has ended, without anybody waiting.
//!
//! A context that stays the program's may be destroyed as soon as nothing of the program's is left in it: what is freed
//! with such a context is marked with it, so that [`drain_context`] can wait until nothing more will be.
//!
//! Locks: the list of deferred releases is locked under whatever a submission has locked (a queue's order, buffers, lists of lanes),
//! never with a lane's or a pending command's lock, which come under it, one at a time, when work is asked for. What is freed is
//! freed without it, by whoever comes by, who may have buffers locked: it locks no buffer, and of lists of lanes only that
//! of a queue or context that ends with it.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use super::command_lane::{CommandLane, all_tails};
use super::completion::{probe, wait_for};
use super::native_context::{NativeContext, ProgramContexts};
use super::pending::would_wait_for_itself;

struct DeferredRelease {
    after: Deps,
    kept: ProgramContexts,
    release: ReleaseFn,
}

type ReleaseFn = Box<dyn FnOnce() + Send>;

/// While it lives, something that needs these contexts is being freed by this thread.
struct Releasing(ProgramContexts);

impl Releasing {
    /// To be called under the lock under which the deferred release was taken from the list.
    fn begin(kept: ProgramContexts, releases: &mut DeferredReleases) -> Self {
        releases.busy.extend_from_slice(&kept);
        Self(kept)
    }
}

impl Drop for Releasing {
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        let mut releases = releases();
        for context in &self.0 {
            if let Some(at) = releases.busy.iter().position(|busy| busy == context) {
                releases.busy.swap_remove(at);
            }
        }
        drop(releases);
        RELEASED.notify_all();
    }
}

struct DeferredReleases {
    /// About in the order of their making.
    list: VecDeque<DeferredRelease>,
    /// All of them are looked at when there are so many.
    sweep_at: usize,
    /// The contexts of what is being freed now, one for each deferred release that has them.
    busy: Vec<usize>,
}

thread_local! {
    /// This thread frees something now.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// So many unfinished ones are looked at now and then.
const FEW: usize = 4;
/// So many may be finished without that anybody knows.
const MANY: usize = 32;

static RELEASES: Mutex<DeferredReleases> = Mutex::new(DeferredReleases {
    list: VecDeque::new(),
    sweep_at: MANY,
    busy: Vec::new(),
});
/// Something that has to do with a kept context was freed.
static RELEASED: Condvar = Condvar::new();

fn releases() -> MutexGuard<'static, DeferredReleases> {
    RELEASES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `bury` when `after` has ended: now, or in a later call of [`sweep`]. `kept` are the contexts of the program's
/// that it needs: see [`NativeContext::kept`].
pub(crate) fn release_after(
    mut after: Deps,
    kept: ProgramContexts,
    release: impl FnOnce() + Send + 'static,
) {
    after.retain(|dep| !probe(dep));
    if after.is_empty() {
        return release();
    }
    let release = Box::new(release);
    releases().list.push_back(DeferredRelease {
        after,
        kept,
        release,
    });
}

/// Waits until nothing runs in a context of the program's and nothing more will be freed with it. Does nothing where what
/// is left waits for the calling thread itself, and inside of what is being freed.
pub(crate) fn drain_context(native: &Arc<NativeContext>) {
    let context = Arc::as_ptr(native).addr();
    if native.is_owned() || INSIDE.get() {
        return;
    }
    let mut after = native.pending.deps();
    after.merge(&all_tails(native));
    loop {
        if would_wait_for_itself(&after) {
            return;
        }
        // Failures have gone to who submitted the work; what cannot even be waited for will never be freed.
        let waited = wait_for(&after);
        sweep();
        if waited.is_err() && !after.iter().all(probe) {
            return;
        }
        let mut releases = releases();
        // What is being freed may bury something itself.
        after = loop {
            let mut left = releases.list.iter();
            if let Some(entry) = left.find(|entry| entry.kept.contains(&context)) {
                break entry.after.clone();
            }
            if !releases.busy.contains(&context) {
                return;
            }
            releases = RELEASED
                .wait(releases)
                .unwrap_or_else(PoisonError::into_inner);
        };
    }
}

/// What was found to be unfinished in one look at the deferred releases: later work on its lanes is so too.
#[derive(Default)]
struct Unfinished(SmallVec<[Dep; 8]>);

impl Unfinished {
    fn contains(&mut self, dep: Dep) -> bool {
        let mut known = self.0.iter();
        let lane = |known: &&Dep| known.lane() == dep.lane() && !dep.is_pending();
        if known.any(|known| lane(&known) && *known <= dep) {
            return true;
        }
        let unfinished = !probe(dep);
        if unfinished && !dep.is_pending() {
            self.0.push(dep);
        }
        unfinished
    }
}

/// Looks at deferred releases, the oldest first, until so many are found to be unfinished; frees the others.
fn sweep_until(unfinished: impl FnOnce(&DeferredReleases) -> usize) {
    let mut ready: SmallVec<[(ReleaseFn, Releasing); 8]> = SmallVec::new();
    {
        let Ok(mut releases) = RELEASES.try_lock() else {
            return;
        };
        let mut left = unfinished(&releases);
        let mut known = Unfinished::default();
        for _ in 0..releases.list.len() {
            let Some(mut entry) = releases.list.pop_front() else {
                break;
            };
            entry.after.retain(|dep| known.contains(dep));
            if entry.after.is_empty() {
                let releasing = Releasing::begin(entry.kept, &mut releases);
                ready.push((entry.release, releasing));
                continue;
            }
            releases.list.push_back(entry);
            left -= 1;
            if left == 0 {
                break;
            }
        }
        if left > 0 {
            // All were looked at.
            releases.sweep_at = MANY.max(2 * releases.list.len());
        }
    }
    // Outside the lock: burying may drop what buries something itself.
    let outermost = !INSIDE.replace(true);
    for (release, releasing) in ready {
        release();
        drop(releasing);
    }
    if outermost {
        INSIDE.set(false);
    }
}

/// Frees what is no longer used.
pub(crate) fn sweep() {
    sweep_until(|_| usize::MAX);
}

/// As [`sweep`], in passing: costs little however much is still used.
pub(crate) fn sweep_some() {
    sweep_until(|releases| match releases.list.len() >= releases.sweep_at {
        true => usize::MAX,
        false => FEW,
    });
}

/// As [`sweep`], until nothing more can be freed now; whether nothing is left.
pub(crate) fn sweep_all() -> bool {
    let left = || releases().list.len();
    loop {
        let before = left();
        sweep();
        match left() {
            0 => return true,
            // What is released later by what is freed takes its place: only less is more to come.
            after if after >= before => return false,
            _ => {}
        }
    }
}

/// Whether something is freed after work on a lane.
pub(crate) fn is_awaited(lane: u16) -> bool {
    let releases = releases();
    let mut after = releases.list.iter().flat_map(|entry| entry.after.iter());
    after.any(|dep| dep.lane() == lane)
}

/// Waits for the oldest deferred release, to make room for an allocation; whether there was one.
pub(crate) fn wait_for_one() -> bool {
    let oldest = {
        let releases = releases();
        let closed = releases.list.iter().map(|entry| &entry.after);
        let mut closed = closed.filter(|after| after.iter().all(|dep| !dep.is_pending()));
        // What the program has to end is only waited for when there is nothing else.
        let ends = |after: &&Deps| CommandLane::unsignaled_user_events(after).is_empty();
        let first = closed.clone().find(ends);
        first.or_else(|| closed.next()).cloned()
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
    use crate::engine::pending::PendingCommand;

    /// What is used for long keeps nothing else, though only a few deferred releases are looked at in passing.
    #[test]
    fn what_has_ended_is_freed_in_passing() {
        let freed = Arc::new(AtomicUsize::new(0));
        let make = || {
            let (pending, freed) = (PendingCommand::open(None, Vec::new()), Arc::clone(&freed));
            release_after(
                Deps::from(pending.dep()),
                ProgramContexts::new(),
                move || {
                    freed.fetch_add(1, Ordering::Relaxed);
                },
            );
            pending
        };
        let long: Vec<_> = (0..100).map(|_| make()).collect();
        for brief in 1..=10_000 {
            make().done();
            sweep_some();
            let left = brief - freed.load(Ordering::Relaxed);
            assert!(left <= 2 * long.len() + MANY, "{left} of {brief} are left");
        }
        long.iter().for_each(|pending| pending.done());
        assert!(sweep_all());
        assert_eq!(freed.load(Ordering::Relaxed), 10_100);
    }
}
