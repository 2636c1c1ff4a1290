//! Tickets: work whose place on a device is not known yet, because it waits for a host accessor or a host task, and
//! those two themselves. A ticket ends by itself, in any order; whoever ends it runs what waited for it, in the order
//! of submission, on its own thread.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ThreadId;

use sycl_graph::{Dep, Deps, Fate};
use work_progress::Countdown;

use crate::error::{Error, Result};
use crate::lane::{count_failure, lane_of};

/// A promise of work's end.
pub(crate) struct Ticket {
    number: u64,
    /// The thread that holds a host accessor.
    holder: Option<ThreadId>,
    /// Its failure is found until it is forgotten.
    kept: bool,
    /// What it waits for itself.
    blockers: Mutex<Vec<Arc<Ticket>>>,
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    Open(Vec<Arc<Pending>>),
    /// On a device now.
    Submitted(Dep),
    Done,
    Failed(Error),
}

/// How a ticket stands.
#[derive(Clone)]
pub(crate) enum Standing {
    Open,
    Submitted(Dep),
    Done,
    Failed(Error),
}

/// Work that runs when the tickets it waits for are no longer open.
pub(crate) struct Pending {
    own: Arc<Ticket>,
    remaining: Countdown,
    failed: Mutex<Option<Error>>,
    work: Mutex<Option<Work>>,
}

/// Gets the failure of what it waited for, if there was one, and ends its own ticket.
pub(crate) type Work = Box<dyn FnOnce(Option<Error>) + Send>;

const SHARDS: usize = 16;
type Shard = Option<HashMap<u64, Arc<Ticket>>>;
static TABLE: [Mutex<Shard>; SHARDS] = [const { Mutex::new(None) }; SHARDS];
static NEXT: AtomicU64 = AtomicU64::new(1);

/// All tickets so far have lower numbers.
pub(crate) fn end() -> u64 {
    NEXT.load(Ordering::Relaxed)
}
/// Tickets are swept once in so many.
const SWEEP: u64 = 256;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn shard(number: u64) -> MutexGuard<'static, Shard> {
    lock(&TABLE[(number % SHARDS as u64) as usize])
}

/// Of a ticket's number; a place on a lane has another meaning.
fn find(dep: Dep) -> Option<Arc<Ticket>> {
    let shard = shard(dep.sequence());
    shard.as_ref()?.get(&dep.sequence()).cloned()
}

/// Whether work has ended; asks the device.
pub(crate) fn probe(dep: Dep) -> bool {
    let on_lane = |dep: Dep| lane_of(dep).is_none_or(|lane| lane.probe(dep.sequence()));
    if !dep.is_ticket() {
        return on_lane(dep);
    }
    match find(dep).map(|ticket| ticket.standing()) {
        None | Some(Standing::Done | Standing::Failed(_)) => true,
        Some(Standing::Submitted(dep)) => on_lane(dep),
        Some(Standing::Open) => false,
    }
}

/// Whether some work is not on a device yet, or is a host task that has not ended; also where that cannot be seen because
/// somebody has a lock. What a host accessor is held for is not such.
pub(crate) fn may_work() -> bool {
    let works = |ticket: &Arc<Ticket>| {
        !ticket.is_held()
            && try_lock(&ticket.state).is_none_or(|state| matches!(*state, State::Open(_)))
    };
    let mut shards = TABLE.iter().map(try_lock);
    shards.any(|shard| shard.is_none_or(|known| known.iter().flat_map(HashMap::values).any(works)))
}

/// How work stands, and why it failed; nobody is asked.
pub(crate) fn fate(dep: Dep) -> (Fate, Option<Error>) {
    let Some(lane) = lane_of(dep) else {
        return match find(dep).map(|ticket| ticket.standing()) {
            Some(Standing::Open) => (Fate::Open, None),
            Some(Standing::Submitted(dep)) => fate(dep),
            Some(Standing::Failed(error)) => (Fate::Failed, Some(error)),
            None | Some(Standing::Done) => (Fate::Ended, None),
        };
    };
    // In this order: what fails counts as done only afterwards.
    let done = lane.is_done(dep.sequence());
    match (lane.failure(dep.sequence()), done) {
        (Some(error), _) => (Fate::Failed, Some(error)),
        (None, true) => (Fate::Ended, None),
        (None, false) => (Fate::Open, None),
    }
}

/// Whether work is not known to have ended well; nobody is asked.
pub(crate) fn is_open_or_failed(dep: Dep) -> bool {
    fate(dep).0 != Fate::Ended
}

/// What of a set is unfinished: work on lanes, open tickets, and the failure of work that has failed meanwhile.
pub(crate) struct Resolved {
    pub(crate) device: Deps,
    pub(crate) open: Vec<Arc<Ticket>>,
    /// How many of the open ones stand for work that a thread waits for ([`crate::watch`]).
    pub(crate) watched: usize,
    pub(crate) failed: Option<Error>,
}

/// Replaces tickets by what they stand for now.
pub(crate) fn resolve(deps: &Deps) -> Resolved {
    let mut resolved = Resolved {
        device: Deps::default(),
        open: Vec::new(),
        watched: 0,
        failed: None,
    };
    for dep in deps.iter() {
        if let Some(ticket) = dep.is_ticket().then(|| find(dep)).flatten() {
            match ticket.standing() {
                Standing::Open => resolved.open.push(ticket),
                Standing::Submitted(dep) => resolved.add(dep),
                Standing::Failed(error) => resolved.failed = Some(error),
                Standing::Done => {}
            }
        } else {
            resolved.add(dep);
        }
    }
    resolved
}

impl Resolved {
    /// What may be on a lane.
    fn add(&mut self, dep: Dep) {
        match fate(dep) {
            (Fate::Open, _) => self.device.add(dep),
            (Fate::Failed, error) => {
                self.failed = error;
                // What was before it on its lane may still run.
                let begun = lane_of(dep).map(|lane| lane.begun(dep.sequence()));
                let runs = |begun: &Dep| matches!(fate(*begun), (Fate::Open, _));
                if let Some(begun) = begun.filter(runs) {
                    self.device.add(begun);
                }
            }
            (Fate::Ended, _) => {}
        }
    }
}

impl Ticket {
    /// Whether it is a host accessor.
    pub(crate) fn is_held(&self) -> bool {
        self.holder.is_some()
    }

    /// An open ticket; `holder` when the calling thread decides about its end.
    pub(crate) fn open(holder: Option<ThreadId>, blockers: Vec<Arc<Self>>) -> Arc<Self> {
        Self::new(holder, blockers, false)
    }

    /// An open ticket that is found after its failure too, until it is forgotten: for what others go by before they know
    /// of its end. Whoever opens it forgets it.
    pub(crate) fn open_kept(blockers: Vec<Arc<Self>>) -> Arc<Self> {
        Self::new(None, blockers, true)
    }

    /// A failed one that was kept is found no more.
    pub(crate) fn forget(&self) {
        if let Some(shard) = shard(self.number).as_mut() {
            shard.remove(&self.number);
        }
    }

    fn new(holder: Option<ThreadId>, blockers: Vec<Arc<Self>>, kept: bool) -> Arc<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let ticket = Arc::new(Self {
            number,
            holder,
            kept,
            blockers: Mutex::new(blockers),
            state: Mutex::new(State::Open(Vec::new())),
            changed: Condvar::new(),
        });
        let mut shard = shard(number);
        let shard = shard.get_or_insert_default();
        if number % SWEEP < SHARDS as u64 {
            shard.retain(|_, known| Self::is_found(known));
        }
        shard.insert(number, Arc::clone(&ticket));
        ticket
    }

    /// As something to follow.
    pub(crate) fn dep(&self) -> Dep {
        Dep::new(Dep::TICKETS, self.number)
    }

    pub(crate) fn standing(&self) -> Standing {
        match &*lock(&self.state) {
            State::Open(_) => Standing::Open,
            State::Submitted(dep) => Standing::Submitted(*dep),
            State::Done => Standing::Done,
            State::Failed(error) => Standing::Failed(error.clone()),
        }
    }

    /// Whether its work is not known to have ended; nobody is asked.
    pub(crate) fn is_unfinished(&self) -> bool {
        match self.standing() {
            Standing::Open => true,
            Standing::Submitted(dep) => is_unfinished(dep),
            Standing::Done | Standing::Failed(_) => false,
        }
    }

    /// Whether somebody may still ask for it by its number. A buffer has its tickets until it has taken back what of
    /// them failed on a device.
    fn is_found(this: &Arc<Self>) -> bool {
        match this.standing() {
            Standing::Open => true,
            Standing::Submitted(dep) => match fate(dep).0 {
                Fate::Open => true,
                Fate::Failed => Arc::strong_count(this) > 1,
                Fate::Ended => false,
            },
            Standing::Failed(_) => this.kept,
            Standing::Done => false,
        }
    }

    /// Its work is on a device now.
    pub(crate) fn submitted(&self, dep: Dep) {
        self.end(State::Submitted(dep), None);
    }

    /// Its work has ended.
    pub(crate) fn done(&self) {
        self.end(State::Done, None);
    }

    /// Its work failed: what waits for it is not run.
    pub(crate) fn fail(&self, error: &Error) {
        self.end(State::Failed(error.clone()), Some(error));
    }

    fn end(&self, state: State, failed: Option<&Error>) {
        let stays = match state {
            State::Submitted(_) => true,
            State::Failed(_) => self.kept,
            State::Open(_) | State::Done => false,
        };
        // Who has waited for it, and so knows its end, finds it no more: what it left behind is in the buffers by now.
        if !stays && let Some(shard) = shard(self.number).as_mut() {
            shard.remove(&self.number);
        }
        let mut now = lock(&self.state);
        let before = std::mem::replace(&mut *now, state);
        if self.kept && failed.is_some() {
            count_failure();
        }
        drop(now);
        lock(&self.blockers).clear();
        self.changed.notify_all();
        if let State::Open(waiting) = before {
            flush(&waiting, failed);
        }
    }

    /// Does its work, a host task, on the calling thread.
    pub(crate) fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let before = RUNNING.replace(self.number);
        let result = work();
        RUNNING.set(before);
        result
    }

    /// Waits on the calling thread for its end.
    ///
    /// # Errors
    /// `Invalid` when the calling thread itself holds, or runs, what it waits for; the failure of its work.
    pub(crate) fn wait(&self) -> Result<()> {
        if self.is_open() && self.waits_for_this_thread() {
            return Err(Error::invalid(
                "deadlock: this thread waits for a host accessor that it holds (drop it first), or for the host task that it runs",
            ));
        }
        let mut state = lock(&self.state);
        while matches!(*state, State::Open(_)) {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        match &*state {
            State::Submitted(dep) => {
                let dep = *dep;
                drop(state);
                lane_of(dep).map_or(Ok(()), |lane| lane.wait(dep.sequence()))
            }
            State::Failed(error) => Err(error.clone()),
            State::Done | State::Open(_) => Ok(()),
        }
    }

    fn is_open(&self) -> bool {
        matches!(*lock(&self.state), State::Open(_))
    }

    /// Whether what it waits for is, in the end, a host accessor of the calling thread, or the host task that it runs.
    fn waits_for_this_thread(&self) -> bool {
        let (me, running) = (Some(std::thread::current().id()), RUNNING.get());
        let mine = |ticket: &Self| ticket.holder == me || ticket.number == running;
        if mine(self) {
            return true;
        }
        let mut seen = std::collections::HashSet::from([self.number]);
        let mut open = lock(&self.blockers).clone();
        while let Some(ticket) = open.pop() {
            if !seen.insert(ticket.number) || !ticket.is_open() {
                continue;
            }
            if mine(&ticket) {
                return true;
            }
            open.extend(lock(&ticket.blockers).iter().cloned());
        }
        false
    }
}

/// Runs `work` when none of `tickets` is open any more, at once if so.
pub(crate) fn when_closed(tickets: &[Arc<Ticket>], own: &Arc<Ticket>, work: Work) {
    let pending = Arc::new(Pending {
        own: Arc::clone(own),
        // It counts this function as well, so that nothing runs before all are asked.
        remaining: Countdown::new(),
        failed: Mutex::new(None),
        work: Mutex::new(Some(work)),
    });
    for ticket in tickets {
        match &mut *lock(&ticket.state) {
            State::Open(waiting) => {
                pending.remaining.hold();
                waiting.push(Arc::clone(&pending));
            }
            State::Failed(error) => *lock(&pending.failed) = Some(error.clone()),
            State::Submitted(_) | State::Done => {}
        }
    }
    flush(&[pending], None);
}

/// Waits for all of a set.
///
/// # Errors
/// The first failure; `Invalid` as [`Ticket::wait`].
pub(crate) fn wait_for(deps: &Deps) -> Result<()> {
    let mut result = Ok(());
    for dep in deps.iter() {
        let waited = match lane_of(dep) {
            Some(lane) => lane.wait(dep.sequence()),
            None => find(dep).map_or(Ok(()), |ticket| ticket.wait()),
        };
        result = result.and(waited);
    }
    result
}

/// Whether waiting for a set would wait for a host accessor of the calling thread, or for the host task that it runs.
pub(crate) fn would_wait_for_itself(deps: &Deps) -> bool {
    let tickets = deps.iter().filter(|dep| dep.is_ticket());
    tickets
        .filter_map(find)
        .any(|ticket| ticket.is_open() && ticket.waits_for_this_thread())
}

/// Panics instead of a drop that would wait for the calling thread itself; does nothing while the thread is panicking.
pub(crate) fn drop_never_ends(why: &str) {
    assert!(std::thread::panicking(), "deadlock in a drop: {why}");
}

/// Whether work is not known to have ended; nobody is asked.
pub(crate) fn is_unfinished(dep: Dep) -> bool {
    match dep.is_ticket() {
        true => find(dep).is_some_and(|ticket| ticket.is_unfinished()),
        false => lane_of(dep).is_some_and(|lane| !lane.is_done(dep.sequence())),
    }
}

/// Tickets that somebody may wait for all of.
pub(crate) struct Promises(Mutex<(Vec<Arc<Ticket>>, usize)>);

/// So many are kept before the first look whether some are no longer open.
const FEW: usize = 64;

impl Default for Promises {
    fn default() -> Self {
        Self(Mutex::new((Vec::new(), FEW)))
    }
}

impl Promises {
    /// One more. The others are looked at when they have become twice as many.
    pub(crate) fn add(&self, ticket: &Arc<Ticket>) {
        let mut known = lock(&self.0);
        let (tickets, look_at) = &mut *known;
        if tickets.len() >= *look_at {
            tickets.retain(|ticket| ticket.is_open());
            *look_at = FEW.max(2 * tickets.len());
        }
        tickets.push(Arc::clone(ticket));
    }

    /// Those that may be open.
    pub(crate) fn get(&self) -> Vec<Arc<Ticket>> {
        lock(&self.0).0.clone()
    }

    /// What has to end before all work of those that are open now has.
    pub(crate) fn deps(&self) -> Deps {
        let mut deps = Deps::default();
        let known = lock(&self.0);
        let open = known.0.iter().filter(|ticket| ticket.is_open());
        open.for_each(|ticket| deps.add(ticket.dep()));
        deps
    }

    /// Waits for all that there are now. They stay until then: others may wait too.
    ///
    /// # Errors
    /// The first failure; as [`Ticket::wait`].
    pub(crate) fn wait(&self) -> Result<()> {
        let mut result = Ok(());
        let tickets = self.get();
        for ticket in &tickets {
            result = result.and(ticket.wait());
        }
        if !tickets.is_empty() {
            lock(&self.0).0.retain(|ticket| ticket.is_open());
        }
        result
    }
}

/// Whether the calling thread runs a host task.
pub(crate) fn is_in_a_host_task() -> bool {
    RUNNING.get() != 0
}

thread_local! {
    /// The ticket of the host task that this thread runs; 0 is nobody's.
    static RUNNING: Cell<u64> = const { Cell::new(0) };
    static RUNNABLE: RefCell<Option<BinaryHeap<Ready>>> = const { RefCell::new(None) };
}

struct Ready(Reverse<u64>, Arc<Pending>);

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl Eq for Ready {}
impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ready {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// One reason less to wait for each of these; runs those without any, in the order of their submission.
fn flush(waiting: &[Arc<Pending>], failed: Option<&Error>) {
    let mut ready = Vec::new();
    for pending in waiting {
        if let Some(error) = failed {
            lock(&pending.failed).get_or_insert_with(|| error.clone());
        }
        if pending.remaining.let_go() {
            ready.push(Ready(Reverse(pending.own.number), Arc::clone(pending)));
        }
    }
    let outermost = RUNNABLE.with_borrow_mut(|heap| {
        let outermost = heap.is_none();
        heap.get_or_insert_default().extend(ready);
        outermost
    });
    if !outermost {
        return;
    }
    while let Some(Ready(_, next)) =
        RUNNABLE.with_borrow_mut(|heap| heap.as_mut().and_then(BinaryHeap::pop))
    {
        let work = lock(&next.work).take();
        let failed = lock(&next.failed).take();
        if let Some(work) = work {
            work(failed);
        }
    }
    RUNNABLE.with_borrow_mut(|heap| *heap = None);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// What comes after a wait does not depend on how far the thread is that ended the work.
    #[test]
    fn who_has_waited_for_a_failed_ticket_finds_it_no_more() {
        for _ in 0..2000 {
            let ticket = Ticket::open(None, Vec::new());
            std::thread::scope(|scope| {
                scope.spawn(|| ticket.fail(&Error::invalid("lost")));
                assert!(ticket.wait().is_err());
                assert!(find(ticket.dep()).is_none());
            });
        }
    }

    /// Two threads that wait for the same promises both wait until they are kept.
    #[test]
    fn a_wait_hides_nothing_from_another() {
        let (promises, ticket) = (Promises::default(), Ticket::open(None, Vec::new()));
        promises.add(&ticket);
        let alone = Arc::strong_count(&ticket);
        let came_back = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| promises.wait().is_ok());
            while Arc::strong_count(&ticket) == alone {
                std::thread::yield_now();
            }
            scope.spawn(|| {
                while Arc::strong_count(&ticket) < alone + 2 && !came_back.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                ticket.done();
            });
            let waited = promises.wait();
            let done = matches!(ticket.standing(), Standing::Done);
            came_back.store(true, Ordering::Release);
            assert!(done && waited.is_ok(), "the second wait was too short");
            assert!(first.join().is_ok_and(|waited| waited));
        });
        assert!(promises.get().is_empty());
    }

    #[test]
    fn promises_that_are_kept_are_forgotten() {
        let promises = Promises::default();
        for _ in 0..10_000 {
            let ticket = Ticket::open(None, Vec::new());
            promises.add(&ticket);
            ticket.done();
            assert!(promises.get().len() <= FEW);
        }
    }
}
