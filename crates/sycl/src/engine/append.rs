//! Appending: a command gets its number on a lane, an event to signal and the events to wait for.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use level_zero::sys::ze_event_handle_t;
use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use super::command_lane::{CommandLane, Inner, Profile, Slot, lane_of, of};
use super::list_backend::Kind;
use super::pins::Pinned;
use super::target::Target;
use super::user_events::{self, AwaitedUserEvents};
use crate::error::{Errc, Error, Result};
use crate::ze::ze;

impl CommandLane {
    /// Appends a command that follows `after`; all of `after` is in this lane's context. `append` is called once, with
    /// the list, the event to signal and the events to wait for.
    ///
    /// # Errors
    /// The error of `append`; the lane is then unchanged.
    pub(crate) fn append(
        &'static self,
        after: &Deps,
        profile: Option<Arc<Profile>>,
        append: &mut dyn FnMut(&mut Target<'_>) -> Result<()>,
    ) -> Result<Dep> {
        let user_events = Self::known_user_events(after);
        let mut pinned: SmallVec<[Pinned; 4]> = SmallVec::new();
        for dep in after.iter().filter(|dep| dep.lane() != self.id) {
            let Some(lane) = lane_of(dep) else { continue };
            // A query costs less than a wait for an event that is signaled.
            if let Some(event) = lane.pin_if(dep.sequence(), true) {
                pinned.push(event);
            }
            if let Some(error) = lane.failure(dep.sequence()) {
                return Err(Error::because("a dependency of the command failed", &error));
            }
        }
        let mut inner = self.inner();
        let appended = self.append_locked(&mut inner, &pinned, &user_events, profile, append);
        let dep = appended.inspect_err(|error| {
            self.lose_if_lost(&inner, error);
        })?;
        drop(inner);
        pinned.iter().for_each(|pinned| pinned.waited_by(dep));
        Ok(dep)
    }

    fn append_locked(
        &self,
        inner: &mut Inner,
        pinned: &[Pinned],
        user_events: &AwaitedUserEvents,
        profile: Option<Arc<Profile>>,
        append: &mut dyn FnMut(&mut Target<'_>) -> Result<()>,
    ) -> Result<Dep> {
        self.failures.refuse()?;
        let sequence = self.progress.next();
        let event = self.take_event(inner)?;
        let mut waits: SmallVec<[ze_event_handle_t; 4]> =
            pinned.iter().map(|pinned| pinned.event).collect();
        let before = inner.ring.get(inner.begun(sequence - 1));
        let before = before.map(|slot| slot.event);
        let Some(backend) = inner.backend.as_mut() else {
            return Err(Error::new(Errc::Runtime, "the queue has been destroyed"));
        };
        if !backend.options.in_order || matches!(backend.kind, Kind::Queue(_)) {
            // The previous command's event is reused only after this command has ended: see `take_event`.
            waits.extend(before.filter(|_| !self.is_done(sequence - 1)));
        }
        let appended = backend.append(&self.progress, sequence, event, &mut waits, append);
        if let Err(error) = appended {
            inner.spare.push(event);
            return Err(error);
        }
        inner.ring.push(Slot {
            event,
            waiters: SmallVec::new(),
            profile,
            kept: 0,
            borrowed: false,
        });
        let dep = Dep::new(self.id, sequence);
        if !user_events.is_empty() {
            // Before another thread can know the command.
            user_events::register(&mut inner.user_events, dep, user_events);
            self.awaits_user_events.store(true, Ordering::Release);
        }
        self.progress.submitted(sequence);
        if backend.is_full(&self.progress, self.executed.load(Ordering::Relaxed)) {
            let executed = backend.execute();
            self.executed(inner, &executed);
            executed?;
        }
        Ok(dep)
    }

    /// Takes an event that is neither signaled nor in use.
    fn take_event(&self, inner: &mut Inner) -> Result<ze_event_handle_t> {
        if let Some([middle, first]) = inner.ring.ask(&self.progress)
            && !self.probe_locked(inner, middle)
        {
            self.probe_locked(inner, first);
        }
        let is_unused = |slot: &Slot, is_done: fn(&Self, u64) -> bool| {
            let mut waiters = slot.waiters.iter();
            slot.kept == 0
                && waiters
                    .all(|dep| of(dep.lane()).is_none_or(|lane| is_done(lane, dep.sequence())))
        };
        // Up to two events per command, so that a ring that had to grow becomes short again.
        for _ in 0..2 {
            let next = inner
                .ring
                .recycle(&self.progress, |slot| is_unused(slot, Self::is_done));
            // Otherwise work that waits for events that were set aside might never be polled.
            let next = next.or_else(|| {
                let ring = &mut inner.ring;
                ring.reclaim(&self.progress, |slot| is_unused(slot, Self::try_probe))
            });
            let Some(slot) = next else {
                break;
            };
            if let Some(backend) = &inner.backend {
                let api = backend.context.api;
                slot.keep_times(api);
                // SAFETY: a live event that no command and no thread uses.
                unsafe { ze!(api, zeEventHostReset = event.pfnHostReset(slot.event))? };
            }
            inner.spare.push(slot.event);
        }
        if let Some(event) = inner.spare.pop() {
            return Ok(event);
        }
        inner.new_event()
    }
}
