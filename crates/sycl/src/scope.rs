//! Copies between USM and memory that the program only lends: all have ended when [`Queue::scope`] returns.

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

/// Waits for the copies, also when the closure panics.
struct Ending<'a>(&'a Events);

impl Ending<'_> {
    fn wait(&self) -> Result<()> {
        let mut result = Ok(());
        for event in std::mem::take(&mut *self.0.borrow_mut()) {
            let waited = event.wait();
            if let Err(error) = &waited
                && !matches!(event.status(), EventStatus::Complete | EventStatus::Failed)
            {
                // The copy goes on with memory whose owner must get it back now.
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
    /// Runs a closure that submits copies from and to slices that live outside it; when this returns all of them have
    /// ended, as with [`std::thread::scope`]. The process ends if a copy cannot be waited for, which leaves no other way
    /// to give the memory back.
    ///
    /// # Errors
    /// The closure's; else the first failure of a copy.
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
    /// [`crate::Errc::Invalid`] for more elements than the block has, and on a queue in order whose last command waits
    /// for a host accessor of the calling thread; as [`Queue::submit`].
    #[track_caller]
    pub fn copy_in<T: DeviceData, K: Kind>(
        &self,
        target: &'env Block<T, K>,
        source: &'env [T],
    ) -> Result<Event> {
        self.check(source.len(), target.len())?;
        // SAFETY: both live for the scope, which waits for the copy; the slice is borrowed for as long, and what the
        // block holds is the program's to order.
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
        // SAFETY: as in `copy_in`, and the slice is borrowed by nobody else.
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
                "a slice of {slice} elements and a block of {block}"
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
