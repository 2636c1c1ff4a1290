//! A watcher that is told what orders commands: `solum check` derives from it which commands may run at the same time.
//!
//! ```text
//! list a:  launch 1 (signals e)          started(a, 1)   finished(a, 1, e)
//! list b:  launch 1 (waits for e)        started(b, 1, waits: e)             is ordered after a's launch
//! host:    zeEventHostSynchronize(e)     host_waited_for(e)                  later commands are ordered after it, too
//! ```
//!
//! Without a watcher each of these places costs a load and a branch.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A command: the number of its lane, which is never used again, and its number in the lane, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// The lane; 0 for work that belongs to none.
    pub lane: u64,
    /// The command.
    pub number: u64,
}

impl Position {
    /// The command of that number of a lane.
    #[must_use]
    pub const fn new(lane: u64, number: u64) -> Self {
        Self { lane, number }
    }
}

/// The number of a new lane.
pub(crate) fn next_lane() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// How a command starts.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// All earlier commands of its lane have finished.
    pub drained: bool,
    /// Later commands of its lane do not start before what it waits for: barriers and waits without work.
    pub delays_later: bool,
    /// The signals that it has waited for.
    pub waits: &'a [usize],
}

impl<'a> Start<'a> {
    pub(crate) const fn new(drained: bool, delays_later: bool, waits: &'a [usize]) -> Self {
        Self {
            drained,
            delays_later,
            waits,
        }
    }
}

/// Told what orders commands, by any thread. Signals are numbers that may be used again once they are out of use.
pub trait CommandOrder: Send + Sync {
    /// The host has submitted commands up to this one.
    fn pushed(&self, last: Position);
    /// The host's call that submits commands, or lets them start, ends. It holds no lock of a lane.
    fn submitted(&self);
    /// Commands start: `count` from this one on.
    fn started(&self, first: Position, count: u64, how: Start<'_>);
    /// They have finished, and set the signal next.
    fn finished(&self, first: Position, count: u64, signal: Option<usize>);
    /// The host has waited for all commands up to this one.
    fn host_waited(&self, last: Position);
    /// The host has seen that the signal is set.
    fn host_waited_for(&self, signal: usize);
    /// The host sets the signal next.
    fn host_signals(&self, signal: usize);
}

static WATCHER: OnceLock<&'static dyn CommandOrder> = OnceLock::new();

/// Registers a watcher for the life of the process; only the first counts.
pub fn watch_command_order(watcher: &'static dyn CommandOrder) {
    // A second one is ignored.
    let _ = WATCHER.set(watcher);
}

/// Tells the watcher, if there is one.
pub(crate) fn tell(what: impl FnOnce(&dyn CommandOrder)) {
    // Out of line: most programs have no watcher.
    #[cold]
    fn told(watcher: &dyn CommandOrder, what: impl FnOnce(&dyn CommandOrder)) {
        what(watcher);
    }
    if let Some(watcher) = WATCHER.get() {
        told(*watcher, what);
    }
}
