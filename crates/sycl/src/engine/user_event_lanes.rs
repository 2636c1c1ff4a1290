//! User-event lanes: lanes for work that waits for events of the program. See [`super::user_events`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::Deps;

use super::command_lane::CommandLane;
use crate::device::Device;
use crate::environment::MOST_LANES;
use crate::error::Result;

/// Where a command is placed.
pub(crate) enum Placement<'a> {
    /// On a lane.
    On(Chosen<'a>),
    /// On none until this work, which waits for user events, has ended.
    Deferred(Deps),
}

/// A chosen lane. While this lives, no other thread chooses the lane for work with other user events.
pub(crate) struct Chosen<'a> {
    pub(crate) lane: &'static CommandLane,
    _alone: Option<MutexGuard<'a, Vec<UserEventLane>>>,
    _user: Option<Arc<()>>,
}

impl Chosen<'_> {
    /// A lane for work without user events.
    pub(crate) fn usual(lane: &'static CommandLane) -> Self {
        Self {
            lane,
            _alone: None,
            _user: None,
        }
    }

    /// As [`Self::usual`], for a lane that is closed when no choice of it is left.
    pub(crate) fn used(lane: &'static CommandLane, user: &Arc<()>) -> Self {
        Self {
            _user: Some(Arc::clone(user)),
            ..Self::usual(lane)
        }
    }
}

struct UserEventLane {
    device: Device,
    lane: &'static CommandLane,
}

/// The number of lost lanes that are kept, for threads that wait for all lanes.
const LOST: usize = 4;

/// The user-event lanes of a queue or a context.
#[derive(Default)]
pub(crate) struct UserEventLanes(Mutex<Vec<UserEventLane>>);

impl UserEventLanes {
    fn lock(&self) -> MutexGuard<'_, Vec<UserEventLane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last commands on its lanes.
    pub(crate) fn tails(&self) -> Deps {
        let mut tails = Deps::default();
        let user_event_lanes = self.lock();
        user_event_lanes
            .iter()
            .for_each(|user_lane| tails.add(user_lane.lane.tail()));
        tails
    }

    /// Its lanes.
    pub(crate) fn each(&self) -> SmallVec<[&'static CommandLane; 4]> {
        self.lock().iter().map(|user_lane| user_lane.lane).collect()
    }

    /// Chooses a lane of a device for work that follows `after`, and so waits for `user_events`: the lane that ends
    /// with that work, else an idle one, else a new one if there are fewer than `width`, else the least busy.
    ///
    /// # Errors
    /// The errors of `make`.
    pub(crate) fn choose(
        &self,
        device: &Device,
        after: &Deps,
        user_events: &Deps,
        width: usize,
        make: impl FnOnce() -> Result<&'static CommandLane>,
    ) -> Result<Placement<'_>> {
        let mut user_event_lanes = self.lock();
        let of_device = user_event_lanes
            .iter()
            .filter(|user_lane| user_lane.device == *device);
        let lanes = of_device.map(|user_lane| user_lane.lane);
        // A lost lane would refuse the work.
        let lanes = lanes.filter(|lane| !lane.is_lost());
        let own: SmallVec<[&'static CommandLane; 8]> = lanes.collect();
        let is_last = |lane: &&&CommandLane| after.iter().any(|dep| dep == lane.tail());
        let found = own.iter().find(is_last).copied().or_else(|| {
            let fitting = own.iter().filter(|lane| lane.fits(user_events));
            let fitting: SmallVec<[&'static CommandLane; 8]> = fitting.copied().collect();
            let least = fitting.iter().min_by_key(|lane| lane.outstanding());
            let is_full = fitting.len() >= width || own.len() >= MOST_LANES;
            let chosen = least.filter(|lane| is_full || lane.outstanding() == 0);
            chosen.copied()
        });
        let lane = match found {
            Some(lane) => lane,
            None if own.len() >= MOST_LANES => {
                let mut awaits_user_events = after.clone();
                awaits_user_events.retain(|dep| {
                    !CommandLane::unsignaled_user_events(&Deps::from(dep)).is_empty()
                });
                return Ok(Placement::Deferred(awaits_user_events));
            }
            None => {
                let (device, lane) = (device.clone(), make()?);
                // A thread that has chosen a lane holds this lock until it has used the lane. The latest lost lanes
                // stay, for threads that wait for all lanes.
                let mut lost = user_event_lanes
                    .iter()
                    .filter(|user_lane| user_lane.lane.is_lost())
                    .count();
                user_event_lanes.retain(|user_lane| {
                    let stays = lost <= LOST || !user_lane.lane.is_lost();
                    if !stays {
                        lost -= 1;
                        user_lane.lane.close_later();
                    }
                    stays
                });
                user_event_lanes.push(UserEventLane { device, lane });
                lane
            }
        };
        Ok(Placement::On(Chosen {
            lane,
            _alone: Some(user_event_lanes),
            _user: None,
        }))
    }
}
