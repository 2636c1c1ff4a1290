//! Pins: an event of a lane is held for long ([`Kept`]), or while a thread waits for it ([`Pinned`]).
//!
//! Meanwhile the lane's list and events are not destroyed. A lane that should close does so when the last pin is
//! dropped.

use level_zero::sys::{ZE_RESULT_NOT_READY, ze_event_handle_t};
use sycl_graph::Dep;

use super::command_lane::CommandLane;
use crate::error::Result;
use crate::registry::{disown, own};
use crate::ze::{Api, ze};

/// An event of a lane that is held for long: it is not reused, and the lane's events are not destroyed.
pub(crate) struct Kept {
    lane: &'static CommandLane,
    sequence: u64,
    pub(crate) event: ze_event_handle_t,
}

// SAFETY: the specification allows event functions to be called from simultaneous threads (core, "Event").
unsafe impl Send for Kept {}
// SAFETY: as for `Send`.
unsafe impl Sync for Kept {}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut inner = self.lane.inner();
        if let Some(slot) = inner.ring.get_mut(self.sequence) {
            slot.kept -= 1;
            if slot.kept == 0 && std::mem::take(&mut slot.borrowed) {
                disown(self.event);
            }
        }
        inner.kept -= 1;
        drop(inner);
        self.lane.close_if_due();
    }
}

/// An event of a lane that is held briefly: neither it nor its neighbours in the ring are reused.
pub(crate) struct Pinned {
    lane: &'static CommandLane,
    sequence: u64,
    pub(crate) event: ze_event_handle_t,
    pub(super) api: Api,
}

// SAFETY: the specification allows event functions to be called from simultaneous threads (core, "Event").
unsafe impl Send for Pinned {}
// SAFETY: as for `Send`.
unsafe impl Sync for Pinned {}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.lane.progress.unpin(self.sequence);
        self.lane.close_if_due();
    }
}

impl Pinned {
    pub(super) fn waited_by(&self, waiter: Dep) {
        let mut inner = self.lane.inner();
        if let Some(slot) = inner.ring.get_mut(self.sequence) {
            match slot.waiters.iter_mut().find(|w| w.lane() == waiter.lane()) {
                Some(known) => *known = (*known).max(waiter),
                None => slot.waiters.push(waiter),
            }
        }
    }
}

impl CommandLane {
    /// Pins the event of a command that has not ended.
    pub(crate) fn pin(&'static self, sequence: u64) -> Option<Pinned> {
        self.pin_if(sequence, false)
    }

    /// As [`Self::pin`]; with `ask` the device is first polled whether the command has ended.
    pub(super) fn pin_if(&'static self, sequence: u64, ask: bool) -> Option<Pinned> {
        // The caller waits for the event, so the command must begin.
        self.flush(sequence);
        if self.is_done(sequence) {
            return None;
        }
        let inner = self.inner();
        if self.failures.is_device_lost() {
            self.progress.end_all();
            return None;
        }
        let begun = inner.begun(sequence);
        // A command that never begins ends with the one before it, whose event may have been reused.
        let found = match (ask || begun != sequence) && self.probe_locked(&inner, sequence) {
            true => None,
            false => inner.ring.get(begun).zip(inner.backend.as_ref()),
        };
        let (slot, backend) = found?;
        self.progress.pin(begun);
        Some(Pinned {
            lane: self,
            sequence: begun,
            event: slot.event,
            api: backend.context.api,
        })
    }

    /// Keeps the event of a command that has not ended, for any time. Meanwhile the program cannot transfer the event
    /// to the runtime.
    pub(crate) fn keep(&'static self, sequence: u64) -> Option<Kept> {
        // Pinned until it is marked.
        let pinned = self.pin(sequence)?;
        let mut inner = self.inner();
        let slot = inner.ring.get_mut(pinned.sequence)?;
        if slot.kept == 0 {
            slot.borrowed = own(slot.event);
        }
        slot.kept += 1;
        inner.kept += 1;
        Some(Kept {
            lane: self,
            sequence: pinned.sequence,
            event: pinned.event,
        })
    }

    /// Blocks the calling thread until a command has ended.
    ///
    /// # Errors
    /// The device's error if it was lost; why the command did not run.
    pub(crate) fn wait(&'static self, sequence: u64) -> Result<()> {
        loop {
            if let Some(waited) = self.wait_up_to(sequence, u64::MAX) {
                return waited;
            }
        }
    }

    /// As [`Self::wait`], with a timeout in nanoseconds; `None` if the command has not ended by then.
    pub(crate) fn wait_up_to(&'static self, sequence: u64, nanoseconds: u64) -> Option<Result<()>> {
        if let Some(pinned) = self.pin(sequence) {
            let api = pinned.api;
            // SAFETY: a live event, pinned.
            let waited = unsafe {
                ze!(
                    api,
                    zeEventHostSynchronize = event.pfnHostSynchronize(pinned.event, nanoseconds)
                )
            };
            match waited {
                Ok(()) => self.progress.end(sequence),
                Err(error) if error.backend_code() == Some(ZE_RESULT_NOT_READY) => return None,
                Err(error) if !self.lose_if_lost(&self.inner(), &error) => return Some(Err(error)),
                Err(_) => {}
            }
        }
        Some(self.failure(sequence).map_or(Ok(()), Err))
    }
}
