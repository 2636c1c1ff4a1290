//! Completion: polls whether work on a lane or a pending command has ended and how, and waits for it.

use std::sync::{Arc, PoisonError};
use std::thread::ThreadId;

use sycl_graph::{Dep, Deps, Fate};

use super::command_lane::lane_of;
use super::pending::{PendingCommand, PendingSet, State, Status, find, lock};
use crate::error::{Error, Result};

/// Polls whether work has ended.
pub(crate) fn probe(dep: Dep) -> bool {
    let on_lane = |dep: Dep| lane_of(dep).is_none_or(|lane| lane.probe(dep.sequence()));
    if !dep.is_pending() {
        return on_lane(dep);
    }
    match find(dep).map(|pending| pending.status()) {
        None | Some(Status::Done | Status::Failed(_)) => true,
        Some(Status::Submitted(dep)) => on_lane(dep),
        Some(Status::Open) => false,
    }
}

/// The known result of work, and why it failed. Polls no device.
pub(crate) fn fate(dep: Dep) -> (Fate, Option<Error>) {
    let Some(lane) = lane_of(dep) else {
        return match find(dep).map(|pending| pending.status()) {
            Some(Status::Open) => (Fate::Open, None),
            Some(Status::Submitted(dep)) => fate(dep),
            Some(Status::Failed(error)) => (Fate::Failed, Some(error)),
            None | Some(Status::Done) => (Fate::Ended, None),
        };
    };
    // In this order, because failed work counts as done only after its failure is recorded.
    let done = lane.is_done(dep.sequence());
    match (lane.failure(dep.sequence()), done) {
        (Some(error), _) => (Fate::Failed, Some(error)),
        (None, true) => (Fate::Ended, None),
        (None, false) => (Fate::Open, None),
    }
}

/// Whether work is not known to have ended successfully. Polls no device.
pub(crate) fn is_open_or_failed(dep: Dep) -> bool {
    fate(dep).0 != Fate::Ended
}

/// The unfinished part of a set: work on lanes, open pending commands, and the error of work that failed meanwhile.
pub(crate) struct Resolved {
    pub(crate) device: Deps,
    pub(crate) open: Vec<Arc<PendingCommand>>,
    /// How many of the open ones are handled by the completion waiter: see [`crate::engine::completion_waiter`].
    pub(crate) awaited: usize,
    pub(crate) failed: Option<Error>,
}

/// Replaces pending commands by the work they have become.
pub(crate) fn resolve(deps: &Deps) -> Resolved {
    let mut resolved = Resolved {
        device: Deps::default(),
        open: Vec::new(),
        awaited: 0,
        failed: None,
    };
    for dep in deps.iter() {
        if let Some(pending) = dep.is_pending().then(|| find(dep)).flatten() {
            match pending.status() {
                Status::Open => resolved.open.push(pending),
                Status::Submitted(dep) => resolved.add(dep),
                Status::Failed(error) => resolved.failed = Some(error),
                Status::Done => {}
            }
        } else {
            resolved.add(dep);
        }
    }
    resolved
}

impl Resolved {
    /// Adds work on a lane.
    fn add(&mut self, dep: Dep) {
        match fate(dep) {
            (Fate::Open, _) => self.device.add(dep),
            (Fate::Failed, error) => {
                self.failed = error;
                // Earlier work on its lane may still run.
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

/// Whether work is not known to have ended. Polls no device.
pub(crate) fn is_unfinished(dep: Dep) -> bool {
    match dep.is_pending() {
        true => find(dep).is_some_and(|pending| pending.is_unfinished()),
        false => lane_of(dep).is_some_and(|lane| !lane.is_done(dep.sequence())),
    }
}

/// Waits for every member of a set.
///
/// # Errors
/// The first failure; `Invalid` as in [`PendingCommand::wait`].
pub(crate) fn wait_for(deps: &Deps) -> Result<()> {
    let mut result = Ok(());
    for dep in deps.iter() {
        let waited = match lane_of(dep) {
            Some(lane) => lane.wait(dep.sequence()),
            None => find(dep).map_or(Ok(()), |pending| pending.wait()),
        };
        result = result.and(waited);
    }
    result
}

impl PendingCommand {
    /// Creates an open pending command. `holder` is the calling thread if that thread decides when it ends.
    pub(crate) fn open(holder: Option<ThreadId>, blockers: Vec<Arc<Self>>) -> Arc<Self> {
        Self::create(holder, blockers, false)
    }

    /// Creates an open pending command that stays in the table after a failure, for buffers that look for its end
    /// later. Its creator calls [`PendingCommand::forget`].
    pub(crate) fn open_kept(blockers: Vec<Arc<Self>>) -> Arc<Self> {
        Self::create(None, blockers, true)
    }

    fn create(holder: Option<ThreadId>, blockers: Vec<Arc<Self>>, kept: bool) -> Arc<Self> {
        let pending = Self::register(holder, blockers, kept);
        pending.sweep_if_due(Self::is_found);
        pending
    }

    /// Whether the command's work is not known to have ended. Polls no device.
    pub(crate) fn is_unfinished(&self) -> bool {
        match self.status() {
            Status::Open => true,
            Status::Submitted(dep) => is_unfinished(dep),
            Status::Done | Status::Failed(_) => false,
        }
    }

    /// Whether the command may still be looked up by its number. A buffer keeps its pending commands until it has
    /// rolled back those that failed on a device.
    fn is_found(this: &Arc<Self>) -> bool {
        match this.status() {
            Status::Open => true,
            Status::Submitted(dep) => match fate(dep).0 {
                Fate::Open => true,
                Fate::Failed => Arc::strong_count(this) > 1,
                Fate::Ended => false,
            },
            Status::Failed(_) => this.kept,
            Status::Done => false,
        }
    }

    /// Blocks the calling thread until the command's work has ended.
    ///
    /// # Errors
    /// `Invalid` for a deadlock: the calling thread holds the accessor or runs the task that this waits for. The error
    /// of failed work.
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
}

impl PendingSet {
    /// Waits for all members. They stay in the set meanwhile, because other threads may wait for them too.
    ///
    /// # Errors
    /// The first failure, as in [`PendingCommand::wait`].
    pub(crate) fn wait(&self) -> Result<()> {
        let mut result = Ok(());
        let pending_commands = self.get();
        for pending in &pending_commands {
            result = result.and(pending.wait());
        }
        if !pending_commands.is_empty() {
            lock(&self.0).0.retain(|pending| pending.is_open());
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::pending::FEW;
    use super::*;

    /// The outcome of a wait does not depend on the progress of the thread that ended the work.
    #[test]
    fn a_failed_command_is_forgotten_by_its_waiter() {
        for _ in 0..2000 {
            let pending = PendingCommand::open(None, Vec::new());
            std::thread::scope(|scope| {
                scope.spawn(|| pending.fail(&Error::invalid("lost")));
                assert!(pending.wait().is_err());
                assert!(find(pending.dep()).is_none());
            });
        }
    }

    /// Two threads that wait for the same set both wait until its members have ended.
    #[test]
    fn concurrent_waits_see_the_same_members() {
        let (promises, pending) = (
            PendingSet::default(),
            PendingCommand::open(None, Vec::new()),
        );
        promises.add(&pending);
        let alone = Arc::strong_count(&pending);
        let came_back = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| promises.wait().is_ok());
            while Arc::strong_count(&pending) == alone {
                std::thread::yield_now();
            }
            scope.spawn(|| {
                while Arc::strong_count(&pending) < alone + 2 && !came_back.load(Ordering::Acquire)
                {
                    std::thread::yield_now();
                }
                pending.done();
            });
            let waited = promises.wait();
            let done = matches!(pending.status(), Status::Done);
            came_back.store(true, Ordering::Release);
            assert!(done && waited.is_ok(), "the second wait was too short");
            assert!(first.join().is_ok_and(|waited| waited));
        });
        assert!(promises.get().is_empty());
    }

    #[test]
    fn commands_that_ended_are_forgotten() {
        let promises = PendingSet::default();
        for _ in 0..10_000 {
            let pending = PendingCommand::open(None, Vec::new());
            promises.add(&pending);
            pending.done();
            assert!(promises.get().len() <= FEW);
        }
    }
}
