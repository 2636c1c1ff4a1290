//! Deferred release: objects that the program drops while a device still uses them. The next thread that submits or
//! waits frees each object whose work has ended; no thread waits only to free.
//!
//! The program may destroy a context that it kept as soon as no object of ours is left in it. Entries list the contexts
//! that they need, so that [`drain_context`] can wait for the last of them.
//!
//! Locks: the list's lock may be taken while a queue's order, buffers or lists of lanes are locked, never while a lane
//! or a pending command is. Their locks are taken under it, one at a time, to poll whether work has ended. Entries are
//! freed outside the lock. The freeing thread may have buffers locked, so an entry locks no buffer and only the lane
//! list of a queue or context that ends with it.

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

/// While this value lives, the thread frees an entry that needs these contexts.
struct Releasing(ProgramContexts);

impl Releasing {
    /// Called under the same lock hold that took the entry from the list.
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
    /// Roughly from the oldest to the newest.
    list: VecDeque<DeferredRelease>,
    /// All entries are checked once the list has this length.
    sweep_at: usize,
    /// The contexts of entries that are being freed, one item for each entry that needs the context.
    busy: Vec<usize>,
}

thread_local! {
    /// This thread is freeing an entry.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A brief sweep stops after this many entries that are still used.
const FEW: usize = 4;
/// This many entries may be ready without being noticed.
const MANY: usize = 32;

static RELEASES: Mutex<DeferredReleases> = Mutex::new(DeferredReleases {
    list: VecDeque::new(),
    sweep_at: MANY,
    busy: Vec::new(),
});
/// Notified when an entry that needs a context of the program was freed.
static RELEASED: Condvar = Condvar::new();

fn releases() -> MutexGuard<'static, DeferredReleases> {
    RELEASES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `release` when `after` has ended: now, or in a later call of [`sweep`]. `kept` lists the contexts of the
/// program that it needs: see [`NativeContext::kept`].
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

/// Waits until no work runs in a context of the program and no entry needs the context. Returns at once if the rest
/// waits for the calling thread itself, or if this thread is freeing an entry.
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
        // The submitter got the failures; an entry whose work cannot be waited for is never freed.
        let waited = wait_for(&after);
        sweep();
        if waited.is_err() && !after.iter().all(probe) {
            return;
        }
        let mut releases = releases();
        // Freeing an entry may defer others.
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

/// Work found unfinished during one sweep; later work on the same lanes is then unfinished too.
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

/// Checks entries from the oldest until enough are found in use, and frees those that are not.
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
            // All entries were checked.
            releases.sweep_at = MANY.max(2 * releases.list.len());
        }
    }
    // Outside the lock, because freeing may defer other releases.
    let outermost = !INSIDE.replace(true);
    for (release, releasing) in ready {
        release();
        drop(releasing);
    }
    if outermost {
        INSIDE.set(false);
    }
}

/// Frees every entry that is no longer used.
pub(crate) fn sweep() {
    sweep_until(|_| usize::MAX);
}

/// A brief [`sweep`]: its cost does not grow with the number of entries.
pub(crate) fn sweep_some() {
    sweep_until(|releases| match releases.list.len() >= releases.sweep_at {
        true => usize::MAX,
        false => FEW,
    });
}

/// Repeats [`sweep`] until no more can be freed now. Returns whether the list is empty.
pub(crate) fn sweep_all() -> bool {
    let left = || releases().list.len();
    loop {
        let before = left();
        sweep();
        match left() {
            0 => return true,
            // Entries deferred meanwhile count too, so only a shorter list shows progress.
            after if after >= before => return false,
            _ => {}
        }
    }
}

/// Whether an entry waits for work on a lane.
pub(crate) fn is_awaited(lane: u16) -> bool {
    let releases = releases();
    let mut after = releases.list.iter().flat_map(|entry| entry.after.iter());
    after.any(|dep| dep.lane() == lane)
}

/// Waits for the oldest entry, to make room for an allocation. Returns whether there was one.
pub(crate) fn wait_for_one() -> bool {
    let oldest = {
        let releases = releases();
        let closed = releases.list.iter().map(|entry| &entry.after);
        let mut closed = closed.filter(|after| after.iter().all(|dep| !dep.is_pending()));
        // Work that the program itself has to end is waited for only if there is no other.
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

    /// Entries that live long do not delay others, though brief sweeps check only a few.
    #[test]
    fn brief_sweeps_free_ended_entries() {
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
