//! Asynchronous errors of a queue, which its events may outlive.

use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use sycl_graph::Dep;

use crate::engine::native_context::NativeContext;
use crate::engine::pending;
use crate::error::{AsyncHandler, Error, Result};
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
}

impl Reports {
    pub(crate) fn new(context: Weak<NativeContext>, handler: Option<Box<AsyncHandler>>) -> Self {
        Self {
            context,
            errors: Mutex::default(),
            behind: Mutex::default(),
            handler,
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

    /// Passes all errors to the handler and returns the oldest.
    pub(crate) fn throw(&self) -> Result<()> {
        self.told(pending::end());
        let errors = std::mem::take(&mut *lock(&self.errors));
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
        let errors = std::mem::take(&mut *lock(&self.errors));
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
