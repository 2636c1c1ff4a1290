//! Counter-based events.
//!
//! Each time a command is appended that will signal the event, the event gets a fresh signal; a wait takes the signal
//! that the event has when the wait is appended. So it needs no reset, and re-use crate::check::lock;
use crate::check::lock;
use crate::schedule::{Ready, Signal};
use crate::signal::Slots;
use level_zero_sys::*;
use std::sync::{Arc, Mutex};

/// Bits that ask for timestamps.
pub(super) const STAMPS: u32 =
    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
/// Slots of a shared event: the first counts uses, the others are uses in turn. So many uses may be under way at once.
pub(super) const RING: usize = 1024;

/// What is behind a counter-based event.
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

/// A signal as if a command had just given it: an event that no command has signalled yet counts as completed.
pub(super) fn completed(signal: Arc<Signal>) -> Arc<Signal> {
    signal.set(0, 0, &mut Ready::new());
    signal
}

pub(super) fn ring_index(number: u64) -> usize {
    1 + (number % (RING as u64 - 1)) as usize
}

impl Counter {
    /// One of this process alone.
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

    /// Whether timestamps were asked for.
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

    /// The signal that a command appended now will give.
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
