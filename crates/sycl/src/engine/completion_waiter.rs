//! Work that something follows which no list can be put behind it for: a command of another context, one for which there
//! is no lane left, a host task. A thread waits for the work, and what follows it is held back until then.
//!
//! One thread at a time looks at all of it and takes one that has ended. Before it ends that one's ticket, which runs what
//! is held back, another thread takes the rest over: what is run may wait for that. So no thread of the host tasks' is
//! ever needed here, and none of theirs waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use super::completion::{Resolved, fate, resolve};
use super::lane::lane_of;
use super::native_context::NativeContext;
use super::pending::Ticket;
use super::pins::Kept;
use crate::error::{Errc, Error, Result};

/// Something that is waited for.
struct Watched {
    dep: Dep,
    ticket: Arc<Ticket>,
    /// How many follow the ticket.
    users: usize,
    /// Its event lives until the last look.
    kept: Kept,
}

struct Watch {
    list: Vec<Watched>,
    /// A thread looks at the list, or is about to.
    is_served: bool,
    /// Threads that have nothing to do, and how many of them are called.
    spare: usize,
    called: usize,
    /// What a thread waits for now, without the lock.
    waited_for: Option<Dep>,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch {
    list: Vec::new(),
    is_served: false,
    spare: 0,
    called: 0,
    waited_for: None,
});
/// A spare thread is called.
static CALLED: Condvar = Condvar::new();
/// A wait without the lock is over.
static WAITED: Condvar = Condvar::new();

/// How long, in nanoseconds, the oldest is waited for between two looks at the others: this at first, and twice as long
/// each time nothing has ended.
const SHORTEST: u64 = 50_000;
const LONGEST: u64 = 1_000_000;

fn watch() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A ticket that ends when work on a lane has; none if it has.
///
/// # Errors
/// When there is no thread to wait for it.
pub(crate) fn ticket_of(dep: Dep) -> Result<Option<Arc<Ticket>>> {
    let Some(lane) = lane_of(dep).filter(|lane| !lane.probe(dep.sequence())) else {
        return Ok(None);
    };
    let mut watch = watch();
    if let Some(known) = watch.list.iter_mut().find(|known| known.dep == dep) {
        known.users += 1;
        return Ok(Some(Arc::clone(&known.ticket)));
    }
    let Some(kept) = lane.keep(dep.sequence()) else {
        return Ok(None);
    };
    let ticket = Ticket::open(None, Vec::new());
    // A context that stays the program's is left alone once its last handle is dropped: that drop waits for this.
    if let Some(native) = lane.native_context().filter(|native| !native.is_owned()) {
        native.pending.add(&ticket);
    }
    watch.list.push(Watched {
        dep,
        ticket: Arc::clone(&ticket),
        users: 1,
        kept,
    });
    if !watch.is_served && !call(&mut watch) {
        let watched = watch.list.pop();
        drop(watch);
        let error = Error::new(Errc::Runtime, "no thread could be started to wait for work");
        ticket.fail(&error);
        drop(watched);
        return Err(error);
    }
    Ok(Some(ticket))
}

/// Has a thread look at the list; whether there is one.
fn call(watch: &mut Watch) -> bool {
    watch.is_served = if watch.spare > watch.called {
        watch.called += 1;
        CALLED.notify_one();
        true
    } else {
        // With the program's signals: threads for host tasks, which are the program's code, are started from it.
        let thread = std::thread::Builder::new().name("sycl watch".to_owned());
        thread.spawn(serve).is_ok()
    };
    watch.is_served
}

/// Looks at the list, until there is a spare thread besides this one.
fn serve() {
    loop {
        while let Some((watched, result, goes_on)) = look() {
            let Watched { ticket, kept, .. } = watched;
            drop(kept);
            match result {
                Ok(()) => ticket.done(),
                Err(error) => ticket.fail(&error),
            }
            if !goes_on {
                break;
            }
        }
        let mut watch = watch();
        if watch.spare > watch.called {
            return;
        }
        watch.spare += 1;
        let called = CALLED.wait_while(watch, |watch| watch.called == 0);
        let mut watch = called.unwrap_or_else(PoisonError::into_inner);
        watch.spare -= 1;
        watch.called -= 1;
    }
}

/// Waits until one of the list has ended and takes it, for this thread to end its ticket; whether the thread has to look
/// again afterwards, because no other does. None when nothing is left.
fn look() -> Option<(Watched, Result<()>, bool)> {
    let waited = |dep: Dep, patience: u64| match lane_of(dep) {
        Some(lane) => lane.wait_up_to(dep.sequence(), patience),
        None => Some(Ok(())),
    };
    let mut slice = SHORTEST;
    let mut watch = watch();
    loop {
        let mut list = watch.list.iter().enumerate();
        let ended = list.find_map(|(place, known)| Some((place, waited(known.dep, 0)?)));
        if let Some((place, result)) = ended {
            let watched = watch.list.remove(place);
            watch.is_served = false;
            // Without a thread to go on with the rest, this one comes back to it.
            let goes_on = !watch.list.is_empty() && !call(&mut watch);
            watch.is_served |= goes_on;
            return Some((watched, result, goes_on));
        }
        let Some(oldest) = watch.list.first().map(|watched| watched.dep) else {
            watch.is_served = false;
            return None;
        };
        watch.waited_for = Some(oldest);
        drop(watch);
        drop(waited(oldest, slice));
        slice = LONGEST.min(2 * slice);
        watch = self::watch();
        watch.waited_for = None;
        WAITED.notify_all();
    }
}

/// Nobody follows these tickets after all. What only they were for is not asked any more: the program may end its events.
fn unwatch(tickets: &[Arc<Ticket>]) {
    let mut watch = watch();
    let mut given_up: SmallVec<[Watched; 2]> = SmallVec::new();
    for ticket in tickets {
        let mut list = watch.list.iter_mut();
        let known = list.position(|known| {
            let is_this = Arc::ptr_eq(&known.ticket, ticket);
            known.users -= usize::from(is_this);
            is_this && known.users == 0
        });
        given_up.extend(known.map(|place| watch.list.remove(place)));
    }
    let is_asked = |watch: &mut Watch| {
        let mut given_up = given_up.iter();
        given_up.any(|known| watch.waited_for == Some(known.dep))
    };
    let waited = WAITED.wait_while(watch, is_asked);
    drop(waited);
    for Watched { ticket, kept, .. } in given_up {
        drop(kept);
        ticket.done();
    }
}

impl Resolved {
    /// It is open until these have ended. One that has failed meanwhile is its failure.
    pub(crate) fn watch(&mut self, work: &Deps) {
        for dep in work.iter() {
            match ticket_of(dep) {
                Ok(Some(ticket)) => {
                    self.watched += 1;
                    self.open.push(ticket);
                }
                Ok(None) => self.failed = self.failed.take().or(fate(dep).1),
                Err(error) => self.failed = Some(error),
            }
        }
        if self.failed.is_some() {
            self.give_up();
        }
    }

    /// Nobody follows what is open after all.
    pub(crate) fn give_up(&self) {
        unwatch(&self.open);
    }
}

/// As [`resolve`], for lists of a context: what is unfinished in another one is open until it has ended, unless
/// something has failed.
pub(crate) fn resolve_in(native: &Arc<NativeContext>, deps: &Deps) -> Resolved {
    resolve_but(deps, |dep| {
        lane_of(dep).is_some_and(|lane| !lane.is_in(native))
    })
}

/// As [`resolve`], for the host: what is unfinished is open until it has ended, unless something has failed.
pub(crate) fn resolve_on_host(deps: &Deps) -> Resolved {
    resolve_but(deps, |_| true)
}

/// As [`resolve`]; of work on lanes some is watched.
fn resolve_but(deps: &Deps, is_watched: impl Fn(Dep) -> bool) -> Resolved {
    let mut resolved = resolve(deps);
    if resolved.failed.is_none() && resolved.device.iter().any(&is_watched) {
        let mut watched = Deps::default();
        resolved.device.retain(|dep| {
            let is_watched = is_watched(dep);
            if is_watched {
                watched.add(dep);
            }
            !is_watched
        });
        resolved.watch(&watched);
    }
    resolved
}
