//! Counter-based events: their signals.
//!
//! Each append of a command that will signal the event gives the event a fresh signal. A wait takes the signal that the
//! event has when the wait is appended. So the event needs no reset, and re-use never confuses waits for an earlier use.
//! Events that other processes see keep their uses in a ring of slots in shared memory. Events with a counter in memory
//! of the application have one signal for their life.

use crate::check::lock;
use crate::schedule::{Ready, Signal};
use crate::signal::Slots;
use level_zero_sys::*;
use std::sync::{Arc, Mutex};

/// Flags that request timestamps.
pub(super) const STAMPS: u32 =
    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
/// Slots of a shared event: the first counts uses, the others hold them in turn. One less than this may be in flight.
pub(super) const RING: usize = 1024;

/// The signals of a counter-based event.
pub(crate) struct Counter {
    pub(super) flags: u32,
    pub(super) opened: bool,
    pub(super) state: State,
}

pub(super) enum State {
    /// The signal of the latest use.
    Own(Mutex<Arc<Signal>>),
    /// In memory that other processes see.
    Shared(Arc<Slots>),
    /// In memory of the application.
    UserCounter(Arc<Signal>),
}

/// Sets a signal: an event that no command has signalled yet counts as completed.
pub(super) fn completed(signal: Arc<Signal>) -> Arc<Signal> {
    signal.set(0, 0, &mut Ready::new());
    signal
}

pub(super) fn ring_index(number: u64) -> usize {
    1 + (number % (RING as u64 - 1)) as usize
}

impl Counter {
    /// A signal of this process alone.
    pub(crate) fn new(flags: u32) -> Self {
        Self {
            flags,
            opened: false,
            state: State::Own(Mutex::new(completed(Signal::counter()))),
        }
    }

    /// `ze_event_counter_based_flags_t` of creation.
    pub(crate) fn flags(&self) -> u32 {
        self.flags
    }

    /// Whether timestamps were requested.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.flags & STAMPS != 0
    }

    /// The signal that a wait appended now is for.
    pub(crate) fn waited(&self) -> Arc<Signal> {
        match &self.state {
            State::Own(now) => Arc::clone(&lock(now)),
            State::Shared(slots) => {
                let number = slots.get()[0].uses();
                Signal::shared_counter(Arc::clone(slots), ring_index(number))
            }
            State::UserCounter(signal) => Arc::clone(signal),
        }
    }

    /// The signal that a command appended now will set.
    pub(crate) fn signalled(&self) -> Arc<Signal> {
        match &self.state {
            State::Own(now) => {
                let fresh = Signal::counter();
                *lock(now) = Arc::clone(&fresh);
                fresh
            }
            State::Shared(slots) => {
                let number = slots.get()[0].next_use();
                let fresh = Signal::shared_counter(Arc::clone(slots), ring_index(number));
                fresh.begin_use();
                slots.get()[0].publish_use(number);
                fresh
            }
            State::UserCounter(signal) => Arc::clone(signal),
        }
    }
}
