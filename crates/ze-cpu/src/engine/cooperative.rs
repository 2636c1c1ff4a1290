//! Cooperative launches, whose groups wait for each other: each group has its own thread, so that all run at once.

use super::executor::Executor;
use super::launch::Prepared;
use super::share::{Body, End, Share};
use crate::sync::lock;
use signal_mask::HeldSignals;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use work_group_pool::Plan;
use ze_driver::device::Task;

/// Bytes of a thread's stack, as of a worker's.
const STACK: usize = 8 << 20;
/// Most groups of a cooperative launch.
pub(crate) const MOST_GROUPS: u64 = 1024;

/// Holds the threads back until all of them exist: none may wait for a group that never starts.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: u64,
    /// Whether the threads run, once that is decided.
    go: Option<bool>,
}

/// Starts a thread for each group; the last of them finishes the task.
pub(super) fn run(task: &Arc<dyn Task>, prepared: Prepared, start_ns: u64) -> End {
    let groups = prepared.groups;
    if groups > MOST_GROUPS {
        return End::Here(Some(format!(
            "a cooperative launch of {groups} groups; allowed: {MOST_GROUPS}"
        )));
    }
    let body = Body::Kernel(Box::new(prepared));
    let share = Share::new(Arc::clone(task), 0, groups, Plan::SINGLY, start_ns, body);
    let gate = Arc::new(Gate::default());
    let held = HeldSignals::all();
    let mut started = 0;
    for _ in 0..groups {
        let (share, gate) = (Arc::clone(&share), Arc::clone(&gate));
        let thread = std::thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn(move || {
            let executor = Executor::enter();
            if gate.pass(executor.is_some())
                && let Some(mut executor) = executor
            {
                share.part(&mut executor, share.kernel());
            }
        });
        if thread.is_err() {
            break;
        }
        started += 1;
    }
    drop(held);
    if gate.decide(started, groups) {
        End::Shared
    } else {
        End::Here(Some(format!(
            "the system cannot start {groups} threads for a cooperative launch"
        )))
    }
}

impl Gate {
    /// Called by each thread, `able` to run or not; whether it runs.
    fn pass(&self, able: bool) -> bool {
        let mut state = lock(&self.state);
        if able {
            state.ready += 1;
        } else {
            state.go = Some(false);
        }
        self.changed.notify_all();
        loop {
            if let Some(go) = state.go {
                return go;
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for all of `started` and lets them run if they are `wanted` many.
    fn decide(&self, started: u64, wanted: u64) -> bool {
        let mut state = lock(&self.state);
        if started < wanted {
            state.go = Some(false);
        }
        while state.go.is_none() && state.ready < wanted {
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        let go = *state.go.get_or_insert(true);
        drop(state);
        self.changed.notify_all();
        go
    }
}
