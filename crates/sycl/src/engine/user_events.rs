//! User events: events of the program that commands wait for, directly or through earlier work.
//!
//! A thread may wait for a command before it signals a user event, so no command is placed behind a wait for a user
//! event that it does not follow itself. Each lane knows the user events that its commands wait for. A command that
//! follows user events goes to a user-event lane ([`super::user_event_lanes`]) that waits for no others.
//!
//! Locks: a list of user-event lanes is locked from the choice until the command is on its lane ([`Chosen`]). A queue's order
//! and a group's buffers are locked before it, never under it, and no thread locks two such lists. Under it come the locks
//! of lanes, one at a time; where a lane is made, those of [`super::losses`] and of the lanes' numbers; where one is closed,
//! that of deferred releases. A context's list of transfer lanes follows the same rules, but is locked for the choice only.
//!
//! [`Chosen`]: super::user_event_lanes::Chosen

use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use super::command_lane::{AwaitedUserEvent, CommandLane, lane_of};

/// Whether the program ever passed an event: without one, no lane is checked.
pub(super) static ANY_USER_EVENT: AtomicBool = AtomicBool::new(false);

pub(super) type AwaitedUserEvents = SmallVec<[AwaitedUserEvent; 4]>;

impl AwaitedUserEvent {
    /// Whether nothing is known to wait for it any more. Polls no device.
    fn is_over(&self) -> bool {
        let is_done = |dep: Dep| lane_of(dep).is_none_or(|lane| lane.is_done(dep.sequence()));
        is_done(self.first) || is_done(self.event)
    }

    /// Polls whether the event is not signaled yet.
    fn is_unsignaled(&self) -> bool {
        let Some(lane) = lane_of(self.event) else {
            return false;
        };
        let sequence = self.event.sequence();
        if lane.is_done(sequence) {
            return false;
        }
        {
            let inner = lane.inner();
            if !inner.let_go {
                return !lane.probe_locked(&inner, sequence);
            }
        }
        // The program may have destroyed the event, so a command that waits for it is polled instead.
        let waits = lane_of(self.first).filter(|_| self.first != self.event);
        waits.is_none_or(|lane| !lane.probe(self.first.sequence()))
    }
}

impl CommandLane {
    /// The unsignaled user events that work waits for.
    #[inline]
    pub(crate) fn unsignaled_user_events(work: &Deps) -> Deps {
        let mut unsignaled = Deps::default();
        let known = Self::known_user_events(work);
        let user_events = known.iter().filter(|known| known.is_unsignaled());
        user_events.for_each(|known| unsignaled.add(known.event));
        unsignaled
    }

    /// The user events that work waits for and that are not known to be signaled. Polls no device.
    #[inline]
    pub(super) fn known_user_events(work: &Deps) -> AwaitedUserEvents {
        let mut user_events = AwaitedUserEvents::new();
        if !ANY_USER_EVENT.load(Ordering::Acquire) {
            return user_events;
        }
        for dep in work.iter() {
            if let Some(lane) = lane_of(dep).filter(|lane| lane.may_await_user_events()) {
                lane.add_user_events(dep, &mut user_events);
            }
        }
        user_events
    }

    fn may_await_user_events(&self) -> bool {
        self.awaits_user_events.load(Ordering::Acquire) || self.is_event.load(Ordering::Acquire)
    }

    fn add_user_events(&self, dep: Dep, user_events: &mut AwaitedUserEvents) {
        let mut add = |awaits_user_events: AwaitedUserEvent| {
            if !user_events
                .iter()
                .any(|known| known.event == awaits_user_events.event)
            {
                user_events.push(awaits_user_events);
            }
        };
        if self.is_event.load(Ordering::Acquire) {
            if !self.is_done(dep.sequence()) {
                let (first, event) = (dep, dep);
                add(AwaitedUserEvent { first, event });
            }
            return;
        }
        let mut inner = self.inner();
        let known = &mut inner.user_events;
        known.retain(|known| !known.is_over());
        self.awaits_user_events
            .store(!known.is_empty(), Ordering::Release);
        let before = known.iter().filter(|known| known.first <= dep);
        before.for_each(|known| add(*known));
    }

    /// Whether work that waits for these user events may be placed behind the last command.
    pub(super) fn fits(&self, user_events: &Deps) -> bool {
        let behind = Self::known_user_events(&Deps::from(self.tail()));
        if behind.is_empty() {
            self.probe_tail();
        }
        let is_own = |event: Dep| user_events.iter().any(|own| own == event);
        let mut behind = behind.iter();
        behind.all(|behind| is_own(behind.event) || !behind.is_unsignaled())
    }
}

/// Records that commands from `first` on wait for user events.
pub(super) fn register(
    known: &mut SmallVec<[AwaitedUserEvent; 1]>,
    first: Dep,
    user_events: &AwaitedUserEvents,
) {
    known.retain(|known| !known.is_over());
    for AwaitedUserEvent { event, .. } in user_events {
        if !known.iter().any(|known| known.event == *event) {
            let event = *event;
            known.push(AwaitedUserEvent { first, event });
        }
    }
}
