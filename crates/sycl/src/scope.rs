//! Copies between USM and borrowed memory: all have ended when [`Queue::scope`] returns.

use std::cell::RefCell;
use std::marker::PhantomData;

use smallvec::SmallVec;
use sycl_graph::Deps;

use crate::engine::pending::would_wait_for_itself;
use crate::error::{Error, Result};
use crate::event::{Event, EventStatus};
use crate::log::complain;
use crate::queue::Queue;
use crate::range::DeviceData;
use crate::usm::{Block, Kind};

type Events = RefCell<SmallVec<[Event; 8]>>;

/// Submits copies from and to borrowed slices; see [`Queue::scope`].
#[derive(Debug)]
pub struct QueueScope<'s, 'env: 's> {
    queue: &'env Queue,
    events: &'s Events,
    scope: PhantomData<&'s mut &'s ()>,
    environment: PhantomData<&'env mut &'env ()>,
}

/// Waits for the copies, even if the closure panics.
struct Ending<'a>(&'a Events);

impl Ending<'_> {
    fn wait(&self) -> Result<()> {
        let mut result = Ok(());
        for event in std::mem::take(&mut *self.0.borrow_mut()) {
            let waited = event.wait();
            if let Err(error) = &waited
                && !matches!(event.status(), EventStatus::Complete | EventStatus::Failed)
            {
                // The copy would go on with memory that its owner must get back now.
                complain(&format!(
                    "a copy of borrowed memory cannot be waited for: {error}"
                ));
                std::process::abort();
            }
            result = result.and(waited);
        }
        result
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        drop(self.wait());
    }
}

impl Queue {
    /// Runs a closure that submits copies from and to slices borrowed from outside. All copies have ended when this
    /// returns, as with [`std::thread::scope`]. The process is aborted if a copy cannot be waited for, because the
    /// memory cannot be returned safely.
    ///
    /// # Errors
    /// Those of the closure; else the first failure of a copy.
    pub fn scope<'env, R>(
        &'env self,
        f: impl for<'s> FnOnce(&'s QueueScope<'s, 'env>) -> Result<R>,
    ) -> Result<R> {
        let events = Events::default();
        let ending = Ending(&events);
        let result = f(&QueueScope {
            queue: self,
            events: &events,
            scope: PhantomData,
            environment: PhantomData,
        });
        let waited = ending.wait();
        result.and_then(|value| waited.map(|()| value))
    }
}

impl<'env> QueueScope<'_, 'env> {
    /// Copies a slice to the beginning of a block.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] if the block has too few elements, or if an in-order queue's last command waits for a
    /// host accessor of the calling thread; as [`Queue::submit`].
    #[track_caller]
    pub fn copy_in<T: DeviceData, K: Kind>(
        &self,
        target: &'env Block<T, K>,
        source: &'env [T],
    ) -> Result<Event> {
        self.check(source.len(), target.len())?;
        // SAFETY: both live for the scope, which waits for the copy. The slice is borrowed for as long, and the program
        // orders accesses to the block.
        let copied = unsafe {
            self.queue
                .copy(source.as_ptr(), target.as_ptr(), source.len(), &[])
        };
        self.keep(copied?)
    }

    /// Copies the beginning of a block to a slice.
    ///
    /// # Errors
    /// As [`Self::copy_in`].
    #[track_caller]
    pub fn copy_out<T: DeviceData, K: Kind>(
        &self,
        target: &'env mut [T],
        source: &'env Block<T, K>,
    ) -> Result<Event> {
        self.check(target.len(), source.len())?;
        // SAFETY: as in `copy_in`, and the slice is borrowed exclusively.
        let copied = unsafe {
            self.queue.copy(
                source.as_ptr().cast_const(),
                target.as_mut_ptr(),
                target.len(),
                &[],
            )
        };
        self.keep(copied?)
    }

    fn check(&self, slice: usize, block: usize) -> Result<()> {
        if slice > block {
            return Err(Error::invalid(format!(
                "the slice has {slice} elements, but the block only {block}"
            )));
        }
        let last = *self
            .queue
            .0
            .order
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.is_some_and(|last| would_wait_for_itself(&Deps::from(last))) {
            return Err(Error::invalid(
                "the queue's last command waits for a host accessor that the calling thread holds; drop it first",
            ));
        }
        Ok(())
    }

    fn keep(&self, event: Event) -> Result<Event> {
        self.events.borrow_mut().push(event.clone());
        Ok(event)
    }
}
