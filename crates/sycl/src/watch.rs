//! Work that a command follows and that no list of the command's context can wait for: a thread waits for it, and the
//! command is held back until then, as behind a host task.
//!
//! One thread at a time looks at all of it. Before it ends tickets, which runs what they hold back, another takes the rest
//! over: what is run may wait for that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sycl_graph::{Dep, Deps};

use crate::context::NativeContext;
use crate::error::Result;
use crate::host_task::run_beyond_the_limit;
use crate::lane::{Kept, lane_of};
use crate::ticket::{Resolved, Ticket, fate, resolve};

/// Something that is waited for.
struct Watched {
    dep: Dep,
    ticket: Arc<Ticket>,
    /// Its event lives until the last look.
    kept: Kept,
}

struct Watch {
    list: Vec<Watched>,
    /// A thread looks at the list, or is about to.
    is_served: bool,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch {
    list: Vec::new(),
    is_served: false,
});

/// How long, in nanoseconds, the oldest is waited for between two looks at the others: this at first, and twice as long
/// each time nothing has ended.
const SHORTEST: u64 = 50_000;
const LONGEST: u64 = 1_000_000;

fn watch() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A ticket that ends when work on a lane has; none if it has.
fn ticket_of(dep: Dep) -> Option<Arc<Ticket>> {
    let lane = lane_of(dep).filter(|lane| !lane.probe(dep.sequence()))?;
    let mut watch = watch();
    if let Some(known) = watch.list.iter().find(|known| known.dep == dep) {
        return Some(Arc::clone(&known.ticket));
    }
    let kept = lane.keep(dep.sequence())?;
    let ticket = Ticket::open(None, Vec::new());
    // A context that stays the program's is left alone once its last handle is dropped: that drop waits for this.
    if let Some(native) = lane.native_context().filter(|native| !native.is_owned()) {
        native.pending.add(&ticket);
    }
    watch.list.push(Watched {
        dep,
        ticket: Arc::clone(&ticket),
        kept,
    });
    let starts = !std::mem::replace(&mut watch.is_served, true);
    drop(watch);
    if starts {
        run_beyond_the_limit(Box::new(serve));
    }
    Some(ticket)
}

/// Looks until something has ended.
fn serve() {
    let ended = look();
    let goes_on = {
        let mut watch = watch();
        watch.is_served = !watch.list.is_empty();
        watch.is_served
    };
    if goes_on {
        run_beyond_the_limit(Box::new(serve));
    }
    for (Watched { ticket, kept, .. }, result) in ended {
        drop(kept);
        match result {
            Ok(()) => ticket.done(),
            Err(error) => ticket.fail(&error),
        }
    }
}

/// Waits until some of the list has ended, and takes that.
fn look() -> Vec<(Watched, Result<()>)> {
    let mut slice = SHORTEST;
    loop {
        let deps: Vec<Dep> = watch().list.iter().map(|watched| watched.dep).collect();
        let patience = std::iter::once(slice).chain(std::iter::repeat(0));
        let ended = deps
            .into_iter()
            .zip(patience)
            .filter_map(|(dep, patience)| {
                let waited = match lane_of(dep) {
                    Some(lane) => lane.wait_up_to(dep.sequence(), patience)?,
                    None => Ok(()),
                };
                Some((dep, waited))
            });
        let ended: Vec<(Dep, Result<()>)> = ended.collect();
        slice = LONGEST.min(2 * slice);
        let mut watch = watch();
        let taken = ended.into_iter().filter_map(|(dep, result)| {
            let place = watch.list.iter().position(|watched| watched.dep == dep)?;
            Some((watch.list.remove(place), result))
        });
        let taken: Vec<_> = taken.collect();
        if !taken.is_empty() || watch.list.is_empty() {
            return taken;
        }
    }
}

impl Resolved {
    /// It is open until these have ended. One that has failed meanwhile is its failure.
    pub(crate) fn watch(&mut self, work: &Deps) {
        for dep in work.iter() {
            if let Some(ticket) = ticket_of(dep) {
                self.watched += 1;
                self.open.push(ticket);
            } else if let (_, Some(error)) = fate(dep) {
                self.failed = Some(error);
            }
        }
    }
}

/// As [`resolve`], for lists of a context: what is unfinished in another one is open until it has ended, unless
/// something has failed.
pub(crate) fn resolve_in(native: &Arc<NativeContext>, deps: &Deps) -> Resolved {
    let mut resolved = resolve(deps);
    let elsewhere = |dep: Dep| lane_of(dep).is_some_and(|lane| !lane.is_in(native));
    if resolved.failed.is_none() && resolved.device.iter().any(elsewhere) {
        let mut watched = Deps::default();
        resolved.device.retain(|dep| {
            let elsewhere = elsewhere(dep);
            if elsewhere {
                watched.add(dep);
            }
            !elsewhere
        });
        resolved.watch(&watched);
    }
    resolved
}
