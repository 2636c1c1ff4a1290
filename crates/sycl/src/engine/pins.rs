//! Events of a lane that somebody has: for long, or while a thread looks at one.
//!
//! The lane's list and events are not destroyed meanwhile; who lets go of the last one sees to that.

use level_zero::sys::{ZE_RESULT_NOT_READY, ze_event_handle_t};
use sycl_graph::Dep;

use super::command_lane::CommandLane;
use crate::error::Result;
use crate::registry::{disown, own};
use crate::ze::{Api, ze};

/// An event of a lane that somebody has who may keep it for long: while this lives it is not used again, and the lane's
/// events are not destroyed.
pub(crate) struct Kept {
    lane: &'static CommandLane,
    sequence: u64,
    pub(crate) event: ze_event_handle_t,
}

// SAFETY: event functions may be called from simultaneous threads (spec, core "Event").
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

/// An event of a lane that may not be used again while this lives, which is short: its neighbours may not be either.
pub(crate) struct Pinned {
    lane: &'static CommandLane,
    sequence: u64,
    pub(crate) event: ze_event_handle_t,
    pub(super) api: Api,
}

// SAFETY: event functions may be called from simultaneous threads (spec, core "Event").
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
    /// The event of a command that has not ended, kept from being used again.
    pub(crate) fn pin(&'static self, sequence: u64) -> Option<Pinned> {
        self.pin_if(sequence, false)
    }

    /// As [`Self::pin`]; with `ask` the device is asked first whether it has ended.
    pub(super) fn pin_if(&'static self, sequence: u64, ask: bool) -> Option<Pinned> {
        // Whoever pins an event waits for it.
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
        // What never begins ends with what did before it, which may be over: its event is then no longer kept.
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

    /// The event of a command that has not ended, for as long as the caller likes; nobody can transfer it to the runtime
    /// meanwhile.
    pub(crate) fn keep(&'static self, sequence: u64) -> Option<Kept> {
        // Until it is marked.
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

    /// Waits on the calling thread until a command has ended.
    ///
    /// # Errors
    /// The device's, when it was lost; why the command did not happen.
    pub(crate) fn wait(&'static self, sequence: u64) -> Result<()> {
        loop {
            if let Some(waited) = self.wait_up_to(sequence, u64::MAX) {
                return waited;
            }
        }
    }

    /// As [`Self::wait`], for so many nanoseconds; none when it has not ended by then.
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
