//! Pending commands: work that is not on a device yet because it waits for a host accessor or a host task, and those
//! two themselves. They end in any order. The thread that ends one runs the continuations that waited for it, in
//! submission order.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ThreadId;

use sycl_graph::{Countdown, Dep, Deps};

use super::failures::count_failure;
use crate::error::Error;

/// Work that is not on a lane yet.
pub(crate) struct PendingCommand {
    number: u64,
    /// The thread that holds it, for a host accessor.
    holder: Option<ThreadId>,
    /// After a failure the command stays in the table until it is forgotten.
    pub(super) kept: bool,
    /// The pending commands that this one waits for.
    blockers: Mutex<Vec<Arc<PendingCommand>>>,
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
}

pub(super) enum State {
    Open(Vec<Arc<Continuation>>),
    /// The work is on a device now.
    Submitted(Dep),
    Done,
    Failed(Error),
}

/// The state of a pending command.
#[derive(Clone)]
pub(crate) enum Status {
    Open,
    Submitted(Dep),
    Done,
    Failed(Error),
}

/// Work that runs once all pending commands it waits for are closed.
pub(crate) struct Continuation {
    own: Arc<PendingCommand>,
    remaining: Countdown,
    failed: Mutex<Option<Error>>,
    work: Mutex<Option<Work>>,
}

/// Gets the failure of a predecessor, if there was one, and ends its own pending command.
pub(crate) type Work = Box<dyn FnOnce(Option<Error>) + Send>;

const SHARDS: usize = 16;
type Shard = Option<HashMap<u64, Arc<PendingCommand>>>;
static TABLE: [Mutex<Shard>; SHARDS] = [const { Mutex::new(None) }; SHARDS];
static NEXT: AtomicU64 = AtomicU64::new(1);

/// One more than the highest number so far.
pub(crate) fn end() -> u64 {
    NEXT.load(Ordering::Relaxed)
}
/// One registration in this many sweeps a shard.
const SWEEP: u64 = 256;

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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

/// The pending command of a dependency, which must be one.
pub(super) fn find(dep: Dep) -> Option<Arc<PendingCommand>> {
    let shard = shard(dep.sequence());
    shard.as_ref()?.get(&dep.sequence()).cloned()
}

/// Whether some work is not on a device yet or a host task has not ended. Also true where another thread's lock hides
/// the answer. Host accessors that are held do not count.
pub(crate) fn may_work() -> bool {
    let works = |pending: &Arc<PendingCommand>| {
        !pending.is_held()
            && try_lock(&pending.state).is_none_or(|state| matches!(*state, State::Open(_)))
    };
    let mut shards = TABLE.iter().map(try_lock);
    shards.any(|shard| shard.is_none_or(|known| known.iter().flat_map(HashMap::values).any(works)))
}

impl PendingCommand {
    /// Whether this is a host accessor.
    pub(crate) fn is_held(&self) -> bool {
        self.holder.is_some()
    }

    /// Removes a failed command that was kept from the table.
    pub(crate) fn forget(&self) {
        if let Some(shard) = shard(self.number).as_mut() {
            shard.remove(&self.number);
        }
    }

    /// Creates a command and enters it into the table.
    pub(super) fn register(
        holder: Option<ThreadId>,
        blockers: Vec<Arc<Self>>,
        kept: bool,
    ) -> Arc<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let pending = Arc::new(Self {
            number,
            holder,
            kept,
            blockers: Mutex::new(blockers),
            state: Mutex::new(State::Open(Vec::new())),
            changed: Condvar::new(),
        });
        let mut shard = shard(number);
        shard
            .get_or_insert_default()
            .insert(number, Arc::clone(&pending));
        drop(shard);
        pending
    }

    /// When it is due, removes entries of the same shard that are no longer looked up.
    pub(super) fn sweep_if_due(&self, is_found: impl Fn(&Arc<Self>) -> bool) {
        if self.number % SWEEP < SHARDS as u64
            && let Some(shard) = shard(self.number).as_mut()
        {
            shard.retain(|_, known| is_found(known));
        }
    }

    /// The command as a dependency.
    pub(crate) fn dep(&self) -> Dep {
        Dep::new(Dep::PENDING, self.number)
    }

    pub(crate) fn status(&self) -> Status {
        match &*lock(&self.state) {
            State::Open(_) => Status::Open,
            State::Submitted(dep) => Status::Submitted(*dep),
            State::Done => Status::Done,
            State::Failed(error) => Status::Failed(error.clone()),
        }
    }

    /// The command's work is on a device now.
    pub(crate) fn submitted(&self, dep: Dep) {
        self.end(State::Submitted(dep), None);
    }

    /// The command's work has ended.
    pub(crate) fn done(&self) {
        self.end(State::Done, None);
    }

    /// The command's work failed; work that waits for it does not run.
    pub(crate) fn fail(&self, error: &Error) {
        self.end(State::Failed(error.clone()), Some(error));
    }

    fn end(&self, state: State, failed: Option<&Error>) {
        let stays = match state {
            State::Submitted(_) => true,
            State::Failed(_) => self.kept,
            State::Open(_) | State::Done => false,
        };
        // Before waiters wake, so that a look-up after the wait does not find it. Its effects are in the buffers by
        // now.
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

    /// Runs the command's work, a host task, on the calling thread.
    pub(crate) fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let before = RUNNING.replace(self.number);
        let result = work();
        RUNNING.set(before);
        result
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(*lock(&self.state), State::Open(_))
    }

    /// Whether the command waits, directly or not, for a host accessor of the calling thread or for the host task that
    /// this thread runs.
    pub(super) fn waits_for_this_thread(&self) -> bool {
        let (me, running) = (Some(std::thread::current().id()), RUNNING.get());
        let mine = |pending: &Self| pending.holder == me || pending.number == running;
        if mine(self) {
            return true;
        }
        let mut seen = std::collections::HashSet::from([self.number]);
        let mut open = lock(&self.blockers).clone();
        while let Some(pending) = open.pop() {
            if !seen.insert(pending.number) || !pending.is_open() {
                continue;
            }
            if mine(&pending) {
                return true;
            }
            open.extend(lock(&pending.blockers).iter().cloned());
        }
        false
    }
}

/// Runs `work` once none of `pending_commands` is open; immediately if none is.
pub(crate) fn when_closed(
    pending_commands: &[Arc<PendingCommand>],
    own: &Arc<PendingCommand>,
    work: Work,
) {
    let continuation = Arc::new(Continuation {
        own: Arc::clone(own),
        // Starts at one for this function, so that nothing runs before all commands are checked.
        remaining: Countdown::new(),
        failed: Mutex::new(None),
        work: Mutex::new(Some(work)),
    });
    for pending in pending_commands {
        match &mut *lock(&pending.state) {
            State::Open(waiting) => {
                continuation.remaining.hold();
                waiting.push(Arc::clone(&continuation));
            }
            State::Failed(error) => *lock(&continuation.failed) = Some(error.clone()),
            State::Submitted(_) | State::Done => {}
        }
    }
    flush(&[continuation], None);
}

/// Whether waiting for a set would deadlock: the calling thread holds a host accessor or runs the host task that it
/// waits for.
pub(crate) fn would_wait_for_itself(deps: &Deps) -> bool {
    let pending_commands = deps.iter().filter(|dep| dep.is_pending());
    pending_commands
        .filter_map(find)
        .any(|pending| pending.is_open() && pending.waits_for_this_thread())
}

/// Panics in place of a drop that would deadlock. Does nothing while the thread is panicking.
pub(crate) fn drop_never_ends(why: &str) {
    assert!(std::thread::panicking(), "deadlock in a drop: {why}");
}

/// A set of pending commands that can be waited for together.
pub(crate) struct PendingSet(pub(super) Mutex<(Vec<Arc<PendingCommand>>, usize)>);

/// The set is first searched for closed commands at this length.
pub(super) const FEW: usize = 64;

impl Default for PendingSet {
    fn default() -> Self {
        Self(Mutex::new((Vec::new(), FEW)))
    }
}

impl PendingSet {
    /// Adds a command. When the set has doubled, commands that are no longer open are removed.
    pub(crate) fn add(&self, pending: &Arc<PendingCommand>) {
        let mut known = lock(&self.0);
        let (pending_commands, look_at) = &mut *known;
        if pending_commands.len() >= *look_at {
            pending_commands.retain(|pending| pending.is_open());
            *look_at = FEW.max(2 * pending_commands.len());
        }
        pending_commands.push(Arc::clone(pending));
    }

    /// The members; some may no longer be open.
    pub(crate) fn get(&self) -> Vec<Arc<PendingCommand>> {
        lock(&self.0).0.clone()
    }

    /// The members that are open now, as dependencies.
    pub(crate) fn deps(&self) -> Deps {
        let mut deps = Deps::default();
        let known = lock(&self.0);
        let open = known.0.iter().filter(|pending| pending.is_open());
        open.for_each(|pending| deps.add(pending.dep()));
        deps
    }
}

/// Whether the calling thread runs a host task.
pub(crate) fn is_in_a_host_task() -> bool {
    RUNNING.get() != 0
}

thread_local! {
    /// The number of the host task that this thread runs; 0 if it runs none.
    static RUNNING: Cell<u64> = const { Cell::new(0) };
    static RUNNABLE: RefCell<Option<BinaryHeap<Ready>>> = const { RefCell::new(None) };
}

struct Ready(Reverse<u64>, Arc<Continuation>);

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

/// Decrements each continuation's count and runs those at zero, in submission order.
fn flush(waiting: &[Arc<Continuation>], failed: Option<&Error>) {
    let mut ready = Vec::new();
    for continuation in waiting {
        if let Some(error) = failed {
            lock(&continuation.failed).get_or_insert_with(|| error.clone());
        }
        if continuation.remaining.let_go() {
            ready.push(Ready(
                Reverse(continuation.own.number),
                Arc::clone(continuation),
            ));
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
