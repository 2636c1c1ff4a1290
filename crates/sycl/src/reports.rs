//! Asynchronous errors of a queue, which its events may outlive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sycl_graph::{Dep, Deps};

use crate::engine::deferred_release::release_after;
use crate::engine::native_context::NativeContext;
use crate::engine::pending;
use crate::error::{AsyncHandler, Error, Result};
use crate::faults::{LaunchRecords, Watched};
use crate::log::complain;

/// The part of a queue that events need after the queue is dropped: asynchronous errors, their handler, the context.
pub(crate) struct Reports {
    /// Weak: the program may destroy a context of its own before the events are dropped.
    pub(crate) context: Weak<NativeContext>,
    errors: Mutex<Vec<Error>>,
    /// The last pending command of an in-order queue that failed, and why, until the error is reported to the program.
    /// A lane keeps its own failures.
    behind: Mutex<Option<(Dep, Error)>>,
    handler: Option<Box<AsyncHandler>>,
    /// A command of the queue has reported faults, or may.
    may_fault: AtomicBool,
    /// Commands whose kernels report faults, until their ends are known.
    watched: Mutex<Vec<Arc<Watched>>>,
    /// Commands that have ended with a fault, until the handler gets it.
    faults: Mutex<Vec<Arc<Watched>>>,
}

impl Reports {
    pub(crate) fn new(context: Weak<NativeContext>, handler: Option<Box<AsyncHandler>>) -> Self {
        Self {
            context,
            errors: Mutex::default(),
            behind: Mutex::default(),
            handler,
            may_fault: AtomicBool::new(false),
            watched: Mutex::default(),
            faults: Mutex::default(),
        }
    }

    pub(crate) fn push(&self, error: Error) {
        lock(&self.errors).push(error);
    }

    /// Records the failure of a pending command of an in-order queue. Called before the command's status shows it.
    pub(crate) fn fails_behind(&self, command: Dep, error: &Error) {
        *lock(&self.behind) = Some((command, error.clone()));
    }

    /// Returns an error if the last command of an in-order queue is the failed one.
    #[cold]
    pub(crate) fn refuse_behind(&self, last: Dep) -> Result<()> {
        match &*lock(&self.behind) {
            Some((failed, error)) if *failed == last => Err(Error::because(
                "an earlier command of the in-order queue failed",
                error,
            )),
            _ => Ok(()),
        }
    }

    /// The program knows the failures of pending commands before number `end`: later commands may run.
    pub(crate) fn told(&self, end: u64) {
        let mut behind = lock(&self.behind);
        if behind
            .as_ref()
            .is_some_and(|(failed, _)| failed.sequence() < end)
        {
            *behind = None;
        }
    }

    /// Looks for faults of a command when it has ended. This value lives until then.
    pub(crate) fn watch(
        self: &Arc<Self>,
        native: &NativeContext,
        dep: Dep,
        records: LaunchRecords,
    ) -> Arc<Watched> {
        self.may_fault.store(true, Ordering::Release);
        let watched = Arc::new(Watched::new(dep, records));
        lock(&self.watched).push(Arc::clone(&watched));
        let (this, own) = (Arc::clone(self), Arc::clone(&watched));
        release_after(Deps::from(dep), native.kept(), move || this.look_at(&own));
        watched
    }

    /// Whether the end of a command whose kernels report faults is not known.
    pub(crate) fn watches(&self) -> bool {
        self.may_fault() && !lock(&self.watched).is_empty()
    }

    fn look_at(&self, watched: &Arc<Watched>) {
        if !watched.has_ended() {
            return;
        }
        let mut open = lock(&self.watched);
        let found = open.iter().position(|known| Arc::ptr_eq(known, watched));
        if let Some(found) = found {
            open.remove(found);
            if watched.fault().is_some() {
                lock(&self.faults).push(Arc::clone(watched));
            }
        }
    }

    fn may_fault(&self) -> bool {
        self.may_fault.load(Ordering::Acquire)
    }

    fn look_for_faults(&self) {
        let watched = lock(&self.watched).clone();
        watched.iter().for_each(|watched| self.look_at(watched));
    }

    /// Returns the fault of a command if it has ended with one.
    pub(crate) fn fault_of(&self, watched: &Arc<Watched>) -> Result<()> {
        self.look_at(watched);
        let Some(fault) = watched.fault() else {
            return Ok(());
        };
        watched.tell();
        Err(fault)
    }

    /// Returns the first fault that the program does not know, of the commands that have ended.
    pub(crate) fn first_fault(&self) -> Result<()> {
        if !self.may_fault() {
            return Ok(());
        }
        self.look_for_faults();
        let faults = lock(&self.faults);
        let mut first = Ok(());
        for watched in faults.iter().filter(|watched| !watched.tell()) {
            first = first.and(watched.fault().map_or(Ok(()), Err));
        }
        first
    }

    /// Takes the faults for the handler; without one, those that the program does not know.
    fn take_faults(&self) -> impl Iterator<Item = Error> + use<> {
        let faults = std::mem::take(&mut *lock(&self.faults));
        let all = self.handler.is_some();
        let wanted = move |watched: &Arc<Watched>| !watched.tell() || all;
        let faults = faults.into_iter().filter(wanted);
        faults.filter_map(|watched| watched.fault())
    }

    /// Passes all errors to the handler and returns the oldest.
    pub(crate) fn throw(&self) -> Result<()> {
        self.told(pending::end());
        self.look_for_faults();
        let mut errors = std::mem::take(&mut *lock(&self.errors));
        errors.extend(self.take_faults());
        let Some(first) = errors.first() else {
            return Ok(());
        };
        errors.iter().for_each(crate::trace::diagnostic);
        if let Some(handler) = &self.handler {
            handler(&errors);
        }
        Err(first.clone())
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        let mut errors = std::mem::take(&mut *lock(&self.errors));
        errors.extend(self.take_faults());
        if errors.is_empty() {
            return;
        }
        match &self.handler {
            Some(handler) => handler(&errors),
            None => {
                for error in &errors {
                    complain(&format!("unhandled asynchronous error: {error}"));
                }
                // SYCL's default handler ends the process.
                std::process::abort();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
