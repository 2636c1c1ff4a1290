//! Asynchronous errors of a queue, which its events may outlive.

use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use sycl_graph::Dep;

use crate::engine::native_context::NativeContext;
use crate::engine::pending;
use crate::error::{AsyncHandler, Error, Result};
use crate::log::complain;

/// The part of a queue that its events need when they outlive it: asynchronous errors, their handler, the context.
pub(crate) struct Reports {
    /// Weak: the program may destroy a context of its own before the events are dropped.
    pub(crate) context: Weak<NativeContext>,
    errors: Mutex<Vec<Error>>,
    /// The last pending command of an in-order queue that failed, and why, until the program is told. Failures on a lane are
    /// known by the lane.
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

    /// A pending command of an in-order queue fails. Called before its status says so.
    pub(crate) fn fails_behind(&self, command: Dep, error: &Error) {
        *lock(&self.behind) = Some((command, error.clone()));
    }

    /// Refuses to follow the last command of an in-order queue if that is the one that failed.
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

    /// The program has been told of failures of pending commands before number `end`: the next command goes on.
    pub(crate) fn told(&self, end: u64) {
        let mut behind = lock(&self.behind);
        if behind
            .as_ref()
            .is_some_and(|(failed, _)| failed.sequence() < end)
        {
            *behind = None;
        }
    }

    /// Hands all errors to the handler; answers the oldest.
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
                // SYCL's default handler ends the program.
                std::process::abort();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
