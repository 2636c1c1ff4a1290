//! The completion waiter: threads that wait for work which no command list can wait for directly, because it is on a
//! lane of another context, every suitable lane is taken, or a host task follows it. Commands that follow such work are
//! pending until it has ended.
//!
//! One thread at a time watches the list and takes a command that has ended. Ending a command runs continuations, which
//! may wait for other work of the list, so another thread takes over the list first. The threads are separate from the
//! host tasks' pool, whose threads never wait here.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use super::command_lane::lane_of;
use super::completion::{Resolved, fate, resolve};
use super::native_context::NativeContext;
use super::pending::PendingCommand;
use super::pins::Kept;
use crate::error::{Errc, Error, Result};

/// Work that the waiter watches.
struct Awaited {
    dep: Dep,
    pending: Arc<PendingCommand>,
    /// The number of commands that follow the pending one.
    users: usize,
    /// Keeps the event alive until the last poll.
    kept: Kept,
}

struct Waiter {
    list: Vec<Awaited>,
    /// A thread serves the list, or is about to.
    is_served: bool,
    /// Idle threads, and how many of them have been woken.
    spare: usize,
    called: usize,
    /// The work that a thread waits for without holding the lock.
    waited_for: Option<Dep>,
}

static WAITER: Mutex<Waiter> = Mutex::new(Waiter {
    list: Vec::new(),
    is_served: false,
    spare: 0,
    called: 0,
    waited_for: None,
});
/// Wakes an idle thread.
static CALLED: Condvar = Condvar::new();
/// Notified when a wait without the lock is over.
static WAITED: Condvar = Condvar::new();

/// Nanoseconds that the oldest work is waited for between two polls of the rest: the shortest at first, doubled each
/// time nothing has ended.
const SHORTEST: u64 = 50_000;
const LONGEST: u64 = 1_000_000;

fn waiter() -> MutexGuard<'static, Waiter> {
    WAITER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pending command that ends with the given work on a lane; `None` if that has ended already.
///
/// # Errors
/// If no thread can be started.
pub(crate) fn pending_for(dep: Dep) -> Result<Option<Arc<PendingCommand>>> {
    let Some(lane) = lane_of(dep).filter(|lane| !lane.probe(dep.sequence())) else {
        return Ok(None);
    };
    let mut waiter = waiter();
    if let Some(known) = waiter.list.iter_mut().find(|known| known.dep == dep) {
        known.users += 1;
        return Ok(Some(Arc::clone(&known.pending)));
    }
    let Some(kept) = lane.keep(dep.sequence()) else {
        return Ok(None);
    };
    let pending = PendingCommand::open(None, Vec::new());
    // Dropping the last handle of a program's context waits for this command.
    if let Some(native) = lane.native_context().filter(|native| !native.is_owned()) {
        native.pending.add(&pending);
    }
    waiter.list.push(Awaited {
        dep,
        pending: Arc::clone(&pending),
        users: 1,
        kept,
    });
    if !waiter.is_served && !call(&mut waiter) {
        let awaited = waiter.list.pop();
        drop(waiter);
        let error = Error::new(Errc::Runtime, "no thread could be started to wait for work");
        pending.fail(&error);
        drop(awaited);
        return Err(error);
    }
    Ok(Some(pending))
}

/// Makes a thread serve the list. Returns whether there is one.
fn call(waiter: &mut Waiter) -> bool {
    waiter.is_served = if waiter.spare > waiter.called {
        waiter.called += 1;
        CALLED.notify_one();
        true
    } else {
        // The thread keeps the program's signal mask, because threads for host tasks, which run the program's code,
        // inherit it.
        let thread = std::thread::Builder::new().name("sycl waiter".to_owned());
        thread.spawn(serve).is_ok()
    };
    waiter.is_served
}

/// Serves the list until another thread is idle.
fn serve() {
    loop {
        while let Some((awaited, result, goes_on)) = look() {
            let Awaited { pending, kept, .. } = awaited;
            drop(kept);
            match result {
                Ok(()) => pending.done(),
                Err(error) => pending.fail(&error),
            }
            if !goes_on {
                break;
            }
        }
        let mut waiter = waiter();
        if waiter.spare > waiter.called {
            return;
        }
        waiter.spare += 1;
        let called = CALLED.wait_while(waiter, |waiter| waiter.called == 0);
        let mut waiter = called.unwrap_or_else(PoisonError::into_inner);
        waiter.spare -= 1;
        waiter.called -= 1;
    }
}

/// Waits until one command of the list has ended and takes it. Also returns whether this thread has to come back
/// because no other serves the list. `None` when the list is empty.
fn look() -> Option<(Awaited, Result<()>, bool)> {
    let waited = |dep: Dep, patience: u64| match lane_of(dep) {
        Some(lane) => lane.wait_up_to(dep.sequence(), patience),
        None => Some(Ok(())),
    };
    let mut slice = SHORTEST;
    let mut waiter = waiter();
    loop {
        let mut list = waiter.list.iter().enumerate();
        let ended = list.find_map(|(place, known)| Some((place, waited(known.dep, 0)?)));
        if let Some((place, result)) = ended {
            let awaited = waiter.list.remove(place);
            waiter.is_served = false;
            // If no other thread is available, this one comes back for the rest.
            let goes_on = !waiter.list.is_empty() && !call(&mut waiter);
            waiter.is_served |= goes_on;
            return Some((awaited, result, goes_on));
        }
        let Some(oldest) = waiter.list.first().map(|awaited| awaited.dep) else {
            waiter.is_served = false;
            return None;
        };
        waiter.waited_for = Some(oldest);
        drop(waiter);
        drop(waited(oldest, slice));
        slice = LONGEST.min(2 * slice);
        waiter = self::waiter();
        waiter.waited_for = None;
        WAITED.notify_all();
    }
}

/// These pending commands have lost a follower. Work without followers is no longer polled: the program may destroy its
/// events.
fn stop_waiting(pending_commands: &[Arc<PendingCommand>]) {
    let mut waiter = waiter();
    let mut given_up: SmallVec<[Awaited; 2]> = SmallVec::new();
    for pending in pending_commands {
        let mut list = waiter.list.iter_mut();
        let known = list.position(|known| {
            let is_this = Arc::ptr_eq(&known.pending, pending);
            known.users -= usize::from(is_this);
            is_this && known.users == 0
        });
        given_up.extend(known.map(|place| waiter.list.remove(place)));
    }
    let is_asked = |waiter: &mut Waiter| {
        let mut given_up = given_up.iter();
        given_up.any(|known| waiter.waited_for == Some(known.dep))
    };
    let waited = WAITED.wait_while(waiter, is_asked);
    drop(waited);
    for Awaited { pending, kept, .. } in given_up {
        drop(kept);
        pending.done();
    }
}

impl Resolved {
    /// Also lets the waiter watch `work`. Failures of work that has ended meanwhile are recorded.
    pub(crate) fn await_completion(&mut self, work: &Deps) {
        for dep in work.iter() {
            match pending_for(dep) {
                Ok(Some(pending)) => {
                    self.awaited += 1;
                    self.open.push(pending);
                }
                Ok(None) => self.failed = self.failed.take().or(fate(dep).1),
                Err(error) => self.failed = Some(error),
            }
        }
        if self.failed.is_some() {
            self.give_up();
        }
    }

    /// Drops the open work: no command follows it after all.
    pub(crate) fn give_up(&self) {
        stop_waiting(&self.open);
    }
}

/// As [`resolve`], for lists of a context: unfinished work of other contexts is pending, unless something has failed.
pub(crate) fn resolve_in(native: &Arc<NativeContext>, deps: &Deps) -> Resolved {
    resolve_but(deps, |dep| {
        lane_of(dep).is_some_and(|lane| !lane.is_in(native))
    })
}

/// As [`resolve`], for the host: all unfinished work is pending, unless something has failed.
pub(crate) fn resolve_on_host(deps: &Deps) -> Resolved {
    resolve_but(deps, |_| true)
}

/// As [`resolve`]; the waiter watches some of the work on lanes.
fn resolve_but(deps: &Deps, is_awaited: impl Fn(Dep) -> bool) -> Resolved {
    let mut resolved = resolve(deps);
    if resolved.failed.is_none() && resolved.device.iter().any(&is_awaited) {
        let mut awaited = Deps::default();
        resolved.device.retain(|dep| {
            let is_awaited = is_awaited(dep);
            if is_awaited {
                awaited.add(dep);
            }
            !is_awaited
        });
        resolved.await_completion(&awaited);
    }
    resolved
}
