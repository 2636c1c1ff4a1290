//! A queue's state: its properties, its lanes, and the choice of a lane for each command.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

use sycl_graph::{Dep, Deps};

use crate::context::Context;
use crate::device::Device;
use crate::engine::command_lane::{CommandLane, NativeLane};
use crate::engine::deferred_release::sweep;
use crate::engine::failures::lost;
use crate::engine::list_backend::LaneOptions;
use crate::engine::native_context::Intact;
use crate::engine::pending::{PendingCommand, PendingSet};
use crate::engine::user_event_lanes::{Chosen, Placement, UserEventLanes};
use crate::environment::{self, MOST_LANES};
use crate::error::{AsyncHandler, Result};
use crate::event::Followers;
use crate::reports::Reports;
use crate::trace::NewQueue;

/// The priority of a queue's work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// Runs after other work.
    Low,
    /// The default.
    Normal,
    /// Runs before other work.
    High,
}

/// How commands are submitted to the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Submission {
    /// As `UR_L0_USE_IMMEDIATE_COMMANDLISTS` or its older name selects; immediate if neither is set.
    FromEnvironment,
    /// On immediate command lists.
    Immediate,
    /// In lists that a command queue executes.
    Batched,
}

/// Properties of a queue.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct QueueProps {
    /// Commands run in submission order.
    pub in_order: bool,
    /// Events record when their commands ran.
    pub enable_profiling: bool,
    /// The program does not use events of commands.
    pub discard_events: bool,
    /// The priority.
    pub priority: Option<Priority>,
    /// The index of the device's compute engine.
    pub compute_index: Option<u32>,
    /// How commands are submitted to the device.
    pub submission: Option<Submission>,
}

/// Lanes of an out-of-order queue, unless `SOLUM_SYCL_LANES` says otherwise.
const LANES: usize = 4;

pub(crate) struct QueueInner {
    pub(crate) context: Context,
    pub(crate) device: Device,
    pub(crate) props: QueueProps,
    pub(crate) options: LaneOptions,
    /// Whether the device was lost since the queue was created.
    pub(crate) intact: Intact,
    pub(crate) lanes: [OnceLock<&'static CommandLane>; MOST_LANES],
    pub(crate) making: Mutex<()>,
    pub(crate) width: usize,
    /// Lanes for work that waits for user events; `None` if the queue has a single list or is in-order.
    pub(crate) user_event_lanes: Option<UserEventLanes>,
    /// The threads that have submitted, in the order of their lanes, if each has its own.
    pub(crate) threads: Option<Mutex<Vec<ThreadId>>>,
    /// The last command of an in-order queue.
    pub(crate) order: Mutex<Option<Dep>>,
    /// Commands that were pending when they were submitted.
    pub(crate) pending_commands: PendingSet,
    /// Events of this queue that keep other events alive.
    pub(crate) followers: Followers,
    pub(crate) reports: Arc<Reports>,
    pub(crate) trace: crate::trace::QueueTrace,
}

impl QueueInner {
    /// Creates a queue without lanes.
    pub(crate) fn new(
        context: Context,
        device: Device,
        props: QueueProps,
        options: LaneOptions,
        handler: Option<Box<AsyncHandler>>,
    ) -> Self {
        let width = if props.in_order {
            1
        } else {
            environment::lanes().unwrap_or(LANES)
        };
        let native = Arc::downgrade(&context.0.native);
        let user_event_lanes = (!props.in_order).then(UserEventLanes::default);
        Self {
            intact: Intact::new(&context.0.native, &device),
            context,
            device,
            props,
            options,
            lanes: [const { OnceLock::new() }; MOST_LANES],
            making: Mutex::new(()),
            width,
            user_event_lanes,
            threads: None,
            order: Mutex::new(None),
            pending_commands: PendingSet::default(),
            followers: Followers::default(),
            reports: Arc::new(Reports::new(native, handler)),
            trace: crate::trace::QueueTrace::default(),
        }
    }

    /// Reports the queue to tools.
    pub(crate) fn tell_created(&self) {
        let handle = || {
            let first = self.lanes().next().and_then(|lane| lane.native());
            first.map_or(0, |native| match native {
                NativeLane::Queue(queue) => queue.addr(),
                NativeLane::List(list) => list.addr(),
            })
        };
        self.trace.created(&NewQueue {
            device: &self.device,
            in_order: self.props.in_order,
            context: self.context.handle().addr(),
            handle: &handle,
        });
    }

    pub(crate) fn lane(&self, number: usize) -> Result<&'static CommandLane> {
        if let Some(lane) = self.lanes[number].get() {
            return Ok(lane);
        }
        let _one = lock(&self.making);
        if let Some(lane) = self.lanes[number].get() {
            return Ok(lane);
        }
        let lane = self.create_lane()?;
        Ok(self.lanes[number].get_or_init(|| lane))
    }

    /// Creates a lane, unless the device was lost since the queue was created: a new lane would not know that the
    /// program's data is lost.
    fn create_lane(&self) -> Result<&'static CommandLane> {
        let lane = CommandLane::create(&self.context.0.native, &self.device, self.options)?;
        // After its creation, because from then on losses are recorded on the lane.
        match self.intact.loss() {
            None => Ok(lane),
            Some(error) => {
                lane.close();
                Err(lost(&error))
            }
        }
    }

    /// The last commands on the queue's lanes.
    pub(crate) fn tails(&self) -> Deps {
        let mut tails = Deps::default();
        self.usual_lanes().for_each(|lane| tails.add(lane.tail()));
        let user_event_lanes = self.user_event_lanes.as_ref().map(UserEventLanes::tails);
        user_event_lanes
            .iter()
            .for_each(|user_event_lanes| tails.merge(user_event_lanes));
        tails
    }

    /// The queue's lanes so far.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = &'static CommandLane> + '_ {
        let user_event_lanes = self.user_event_lanes.iter().flat_map(UserEventLanes::each);
        self.usual_lanes().chain(user_event_lanes)
    }

    fn usual_lanes(&self) -> impl Iterator<Item = &'static CommandLane> + '_ {
        self.lanes.iter().map_while(|lane| lane.get().copied())
    }

    /// Returns an error if the device was lost since the queue was created.
    pub(crate) fn refuse_lost(&self) -> Result<()> {
        let first = self.lanes[0].get();
        first.map_or(Ok(()), |lane| lane.refuse_lost_device())
    }

    /// Chooses where work that follows `deps` is placed.
    pub(crate) fn choose(&self, deps: &Deps) -> Result<Placement<'_>> {
        self.refuse_lost()?;
        if let Some(user_event_lanes) = &self.user_event_lanes {
            let user_events = CommandLane::unsignaled_user_events(deps);
            if !user_events.is_empty() {
                return user_event_lanes.choose(
                    &self.device,
                    deps,
                    &user_events,
                    self.width,
                    || self.create_lane(),
                );
            }
        }
        let lane = self.usual(deps)?;
        Ok(Placement::On(Chosen::usual(lane)))
    }

    /// Chooses a lane for work that follows `deps`: the one that ends with them, else an idle one, a new one, the least
    /// busy.
    fn usual(&self, deps: &Deps) -> Result<&'static CommandLane> {
        if let Some(threads) = &self.threads {
            return self.lane_of_thread(threads);
        }
        if self.width == 1 {
            return self.lane(0);
        }
        let mut best: Option<&'static CommandLane> = None;
        let mut count = 0;
        for lane in self.usual_lanes() {
            count += 1;
            if deps.iter().any(|dep| dep == lane.tail()) {
                return Ok(lane);
            }
            if best.is_none_or(|best| lane.outstanding() < best.outstanding()) {
                best = Some(lane);
            }
        }
        if let Some(best) = best.filter(|best| best.outstanding() == 0) {
            return Ok(best);
        }
        if count < self.width {
            // Work may have ended without having been polled.
            for lane in self.usual_lanes() {
                lane.probe_tail();
                if lane.outstanding() == 0 {
                    return Ok(lane);
                }
            }
            return self.lane(count);
        }
        best.map_or_else(|| self.lane(0), Ok)
    }

    /// The calling thread's own lane; further threads share lanes when all are taken.
    fn lane_of_thread(&self, threads: &Mutex<Vec<ThreadId>>) -> Result<&'static CommandLane> {
        let mine = std::thread::current().id();
        // Locked while a lane is created, so that the lanes before it exist.
        let mut threads = lock(threads);
        let (place, is_new) = place_of(&threads, mine);
        let lane = self.lane(place)?;
        if is_new {
            threads.push(mine);
        }
        Ok(lane)
    }

    /// Keeps a pending command until the queue is waited for, and for deferred releases.
    pub(crate) fn add_pending(&self, pending: &Arc<PendingCommand>) {
        self.pending_commands.add(pending);
        self.context.0.native.pending.add(pending);
    }

    /// All work submitted so far.
    pub(crate) fn everything(&self, deps: &mut Deps) {
        deps.merge(&self.tails());
        let pending_commands = self.pending_commands.get();
        pending_commands
            .iter()
            .for_each(|pending| deps.add(pending.dep()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The index of a thread's lane, and whether this call assigned the thread its own lane.
fn place_of(threads: &[ThreadId], thread: ThreadId) -> (usize, bool) {
    match threads.iter().position(|known| *known == thread) {
        Some(place) => (place, false),
        None if threads.len() < MOST_LANES => (threads.len(), true),
        // Not recorded, because a program may start any number of threads one after another.
        None => {
            let mut hasher = std::hash::DefaultHasher::new();
            thread.hash(&mut hasher);
            (hasher.finish() as usize % MOST_LANES, false)
        }
    }
}

impl Drop for QueueInner {
    fn drop(&mut self) {
        self.trace.destroyed();
        for lane in self.lanes() {
            lane.flush_all();
            lane.close_later();
        }
        // Faults that the program does not know are reported with the queue's end.
        if self.reports.watches() {
            sweep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_without_an_own_lane_are_not_recorded() {
        let mut threads = Vec::new();
        for number in 0..100 {
            let thread = std::thread::spawn(|| std::thread::current().id());
            let Ok(thread) = thread.join() else { return };
            let (place, is_new) = place_of(&threads, thread);
            assert_eq!(is_new, number < MOST_LANES);
            assert!(place < MOST_LANES && (!is_new || place == number));
            if is_new {
                threads.push(thread);
            }
            let again = place_of(&threads, thread);
            assert_eq!(again, (place, false), "a thread keeps its lane");
        }
    }
}
