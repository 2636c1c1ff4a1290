//! User events: events of the program's that commands wait for, by themselves or through what they follow.
//!
//! A thread may wait for work before it opens a user event. So nothing that does not follow a user event is put behind what does:
//! a lane knows its user events, and work that has some goes to user-event lanes, of which each has only such user events as the work has.
//!
//! Locks: a list of user-event lanes is locked from a choice until the command is on its lane ([`Chosen`]), after a queue's order
//! and the buffers of a group, of which none is locked under it; no two lists are. Under it come lanes' locks, one at a
//! time, where a lane is made also [`super::losses`]' and the numbers of lanes, and where one is closed the deferred release's.
//! So it is with a context's list of lanes for copies, which is locked for the choice only.

use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use super::command_lane::{AwaitedUserEvent, CommandLane, lane_of};

/// Whether there ever was an event of the program's: most programs have none, and need no look at any lane.
pub(super) static ANY_USER_EVENT: AtomicBool = AtomicBool::new(false);

pub(super) type AwaitedUserEvents = SmallVec<[AwaitedUserEvent; 4]>;

impl AwaitedUserEvent {
    /// Whether nobody waits for it any more, as far as is known; nobody is asked.
    fn is_over(&self) -> bool {
        let is_done = |dep: Dep| lane_of(dep).is_none_or(|lane| lane.is_done(dep.sequence()));
        is_done(self.first) || is_done(self.event)
    }

    /// Whether it is not known to be signalled, for who may wait for it.
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
        // The handle may be destroyed by now. What waited for it is asked.
        let waits = lane_of(self.first).filter(|_| self.first != self.event);
        waits.is_none_or(|lane| !lane.probe(self.first.sequence()))
    }
}

impl CommandLane {
    /// The user events that work waits for, but for those that are open.
    #[inline]
    pub(crate) fn unsignaled_user_events(work: &Deps) -> Deps {
        let mut unsignaled = Deps::default();
        let known = Self::known_user_events(work);
        let user_events = known.iter().filter(|known| known.is_unsignaled());
        user_events.for_each(|known| unsignaled.add(known.event));
        unsignaled
    }

    /// The user events that work waits for and that are not known to be open; nobody is asked.
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

    /// Whether work that has these user events may be put behind its last command.
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

/// Commands of a lane from one on wait for user events.
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
