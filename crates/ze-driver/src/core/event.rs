//! The event object, of pools and counter-based.
//!
//! A regular event has one signal for its life; for counter-based events see [`crate::core::counter`].

use crate::check::{error, not_ready};
use crate::command_order;
use crate::core::context::Context;
use crate::core::counter::Counter;
use crate::core::device::Device;
use crate::core::event_pool::EventPool;
use crate::core::object;
use crate::dispatch;
use crate::schedule::Signal;
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Head, ZeResult};

/// Bits of `ze_event_scope_flags_t`.
pub(crate) const SCOPES: u32 = 0x7;

/// An event.
#[repr(C)]
pub(crate) struct Event {
    pub(super) head: Head,
    pub(super) owner: Owner,
    pub(super) kind: Kind,
    pub(super) signal_scope: u32,
    pub(super) wait_scope: u32,
    pub(super) has_timestamps: bool,
}
object!(Event, _ze_event_handle_t, b"ZeEv", "event");

/// The owner of an event.
pub(super) enum Owner {
    Pool(Arc<EventPool>),
    Context(Arc<Context>),
}

pub(super) enum Kind {
    Regular(Arc<Signal>),
    Counter(Counter),
}

impl Event {
    /// The signal that a wait appended now is for.
    pub(crate) fn waited(&self) -> Arc<Signal> {
        match &self.kind {
            Kind::Regular(signal) => Arc::clone(signal),
            Kind::Counter(counter) => counter.waited(),
        }
    }

    /// Calls `f` with the signal that [`Self::waited`] returns. Counting a reference would take a third of a query's time.
    pub(crate) fn with_waited<R>(&self, f: impl FnOnce(&Signal) -> R) -> R {
        match &self.kind {
            Kind::Regular(signal) => f(signal),
            Kind::Counter(counter) => f(&counter.waited()),
        }
    }

    /// The signal that a command appended now will set, and whether each execution of it is a new one.
    pub(crate) fn signalled(&self) -> (Arc<Signal>, bool) {
        match &self.kind {
            Kind::Regular(signal) => (Arc::clone(signal), false),
            Kind::Counter(counter) => (counter.signalled(), true),
        }
    }

    /// A counter-based event that belongs to no pool.
    pub(crate) fn of_counter(context: Arc<Context>, counter: Counter, scopes: [u32; 2]) -> Self {
        Self {
            head: Head::new::<Self>(dispatch::tables()),
            owner: Owner::Context(context),
            has_timestamps: counter.has_timestamps(),
            kind: Kind::Counter(counter),
            signal_scope: scopes[0],
            wait_scope: scopes[1],
        }
    }

    /// Another reference, for users that outlive the handle.
    pub(crate) fn shared(&self) -> Arc<Self> {
        // SAFETY: events live in `Arc`s from their creation on (`Object::give`), and `self` is one of them.
        unsafe {
            Arc::increment_strong_count(std::ptr::from_ref(self));
            Arc::from_raw(std::ptr::from_ref(self))
        }
    }

    /// The counter of a counter-based event.
    pub(crate) fn counter(&self) -> Option<&Counter> {
        match &self.kind {
            Kind::Regular(_) => None,
            Kind::Counter(counter) => Some(counter),
        }
    }

    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        match &self.owner {
            Owner::Pool(pool) => pool.context(),
            Owner::Context(context) => context,
        }
    }

    /// The signal of an event that host and lists may reset.
    pub(crate) fn resettable(&self, name: &str) -> ZeResult<&Arc<Signal>> {
        match &self.kind {
            Kind::Regular(signal) => Ok(signal),
            Kind::Counter(_) => error(
                ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                format!(
                    "{name} is a counter-based event, which only commands signal and nothing resets"
                ),
            ),
        }
    }

    /// Kernel timestamps; NOT_READY before the signal.
    pub(crate) fn kernel_times(
        &self,
        device: Option<&Device>,
    ) -> ZeResult<ze_kernel_timestamp_result_t> {
        let signal = self.waited();
        let Some((start, end)) = signal.times() else {
            return not_ready();
        };
        command_order::tell(|watcher| watcher.host_waited_for(signal.number()));
        let device = match device {
            Some(device) => device,
            None => &*self.context().driver().devices()[0],
        };
        let data = ze_kernel_timestamp_data_t {
            kernelStart: device.kernel_time(start),
            kernelEnd: device.kernel_time(end),
        };
        Ok(ze_kernel_timestamp_result_t {
            global: data,
            context: data,
        })
    }

    /// INVALID_SYNCHRONIZATION_OBJECT for an event without timestamps.
    pub(crate) fn check_timestamps(&self, name: &str) -> ZeResult {
        if self.has_timestamps {
            return Ok(());
        }
        error(
            ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
            format!(
                "{name} has no timestamps: create its pool with KERNEL_TIMESTAMP or KERNEL_MAPPED_TIMESTAMP"
            ),
        )
    }
}
