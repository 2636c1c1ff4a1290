//! Lanes that stand for one event of the program, which the program signals.
//!
//! An event that the program keeps is polled only while a SYCL event around it lives.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use level_zero::sys::*;
use smallvec::SmallVec;

use super::command_lane::{CommandLane, Inner, Slot, address_of};
use super::deferred_release::{is_awaited, release_after, sweep};
use super::list_backend::{Kind, LaneOptions, ListBackend};
use super::native_context::NativeContext;
use super::user_events::ANY_USER_EVENT;
use crate::error::{Errc, Error, Result};

impl CommandLane {
    /// Creates a lane whose only command is an event that the program signals.
    pub(crate) fn of_event(
        context: &Arc<NativeContext>,
        event: ze_event_handle_t,
        owned: bool,
    ) -> Result<&'static Self> {
        let lane = Self::place()?;
        let mut inner = lane.inner();
        inner.let_go = false;
        inner.backend = Some(ListBackend {
            context: Arc::clone(context),
            device: None,
            kind: Kind::Event,
            options: LaneOptions {
                owned,
                ..LaneOptions::default()
            },
        });
        lane.failures.start(address_of(context), None);
        lane.context
            .store(Arc::as_ptr(context).addr(), Ordering::Release);
        ANY_USER_EVENT.store(true, Ordering::Release);
        lane.is_event.store(true, Ordering::Release);
        let sequence = lane.progress.next();
        drop(inner.ring.restart(sequence));
        inner.ring.push(Slot {
            event,
            waiters: SmallVec::new(),
            profile: None,
            kept: 0,
            borrowed: false,
        });
        lane.executed.store(u64::MAX, Ordering::Release);
        lane.progress.submitted(sequence);
        drop(inner);
        lane.probe(sequence);
        Ok(lane)
    }

    /// The event of the ring's first command, or null.
    pub(crate) fn first_event(&self) -> ze_event_handle_t {
        let inner = self.inner();
        let first = inner.ring.front();
        first.map_or(std::ptr::null_mut(), |slot| slot.event)
    }

    /// When the ring's first command ran, in ticks.
    ///
    /// # Errors
    /// The error of the call.
    pub(crate) fn first_times(&self) -> Result<(u64, u64)> {
        let inner = self.inner();
        let first = inner.ring.front().zip(inner.backend.as_ref());
        let Some((slot, backend)) = first else {
            return Err(Error::new(Errc::Runtime, "the event has been destroyed"));
        };
        slot.times(backend.context.api)
    }

    /// The last SYCL event around the handle was dropped: closes the lane. If the program keeps the handle, it may
    /// destroy it from now on, so the event is no longer polled; commands that wait for it are polled instead. If an
    /// object is to be freed after the event, this waits for it.
    pub(crate) fn let_go(&'static self) {
        let (owned, kept) = {
            let inner = self.inner();
            let backend = inner.backend.as_ref();
            let kept = backend.map(|backend| backend.context.kept());
            (
                backend.is_some_and(|backend| backend.options.owned),
                kept.unwrap_or_default(),
            )
        };
        if owned {
            return release_after(self.users(), kept, || self.close());
        }
        if self.outstanding() > 0 && is_awaited(self.id) {
            drop(self.wait(self.tail().sequence()));
            sweep();
        }
        self.inner().let_go = true;
        release_after(self.waiters(), kept, || self.close());
    }

    /// Whether the program keeps the event, which is not known to be signaled.
    pub(crate) fn awaits_the_program(&self) -> bool {
        let owned = |inner: &Inner| {
            inner
                .backend
                .as_ref()
                .is_some_and(|backend| backend.options.owned)
        };
        self.outstanding() > 0 && !owned(&self.inner())
    }

    /// Closes the lane when its commands and those that wait for them have ended. No new work is placed on it.
    pub(crate) fn close_later(&'static self) {
        let context = self.native_context();
        let kept = context.map(|context| context.kept());
        release_after(self.users(), kept.unwrap_or_default(), || self.close());
    }
}
