//! Lanes for work that waits for user events: events that the program signals.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::Deps;

use super::lane::Lane;
use crate::device::Device;
use crate::environment::MOST_LANES;
use crate::error::Result;

/// Where work goes.
pub(crate) enum Way<'a> {
    /// To a lane.
    On(Chosen<'a>),
    /// To none until this, which has gates, has ended.
    Behind(Deps),
}

/// A lane, and while this lives nobody else chooses it for what has other gates.
pub(crate) struct Chosen<'a> {
    pub(crate) lane: &'static Lane,
    _alone: Option<MutexGuard<'a, Vec<Side>>>,
    _user: Option<Arc<()>>,
}

impl Chosen<'_> {
    /// A lane of work without gates.
    pub(crate) fn usual(lane: &'static Lane) -> Self {
        Self {
            lane,
            _alone: None,
            _user: None,
        }
    }

    /// As [`Self::usual`], of a lane that is closed when it is nobody's choice.
    pub(crate) fn used(lane: &'static Lane, user: &Arc<()>) -> Self {
        Self {
            _user: Some(Arc::clone(user)),
            ..Self::usual(lane)
        }
    }
}

struct Side {
    device: Device,
    lane: &'static Lane,
}

/// So many lanes that take no more work are kept.
const LOST: usize = 4;

/// Lanes for work that has gates.
#[derive(Default)]
pub(crate) struct SideLanes(Mutex<Vec<Side>>);

impl SideLanes {
    fn lock(&self) -> MutexGuard<'_, Vec<Side>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last commands on its lanes so far.
    pub(crate) fn tails(&self) -> Deps {
        let mut tails = Deps::default();
        let sides = self.lock();
        sides.iter().for_each(|side| tails.add(side.lane.tail()));
        tails
    }

    /// Its lanes so far.
    pub(crate) fn each(&self) -> SmallVec<[&'static Lane; 4]> {
        self.lock().iter().map(|side| side.lane).collect()
    }

    /// A lane of a device for work that follows `after` and by that `gates`: the one that ends with them, an idle one, a
    /// new one unless there are `width` for such work, the least busy.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn choose(
        &self,
        device: &Device,
        after: &Deps,
        gates: &Deps,
        width: usize,
        make: impl FnOnce() -> Result<&'static Lane>,
    ) -> Result<Way<'_>> {
        let mut sides = self.lock();
        let of_device = sides.iter().filter(|side| side.device == *device);
        let lanes = of_device.map(|side| side.lane);
        // What is lost would refuse it.
        let lanes = lanes.filter(|lane| !lane.is_lost());
        let own: SmallVec<[&'static Lane; 8]> = lanes.collect();
        let is_last = |lane: &&&Lane| after.iter().any(|dep| dep == lane.tail());
        let found = own.iter().find(is_last).copied().or_else(|| {
            let fitting = own.iter().filter(|lane| lane.fits(gates));
            let fitting: SmallVec<[&'static Lane; 8]> = fitting.copied().collect();
            let least = fitting.iter().min_by_key(|lane| lane.outstanding());
            let is_full = fitting.len() >= width || own.len() >= MOST_LANES;
            let chosen = least.filter(|lane| is_full || lane.outstanding() == 0);
            chosen.copied()
        });
        let lane = match found {
            Some(lane) => lane,
            None if own.len() >= MOST_LANES => {
                let mut gated = after.clone();
                gated.retain(|dep| !Lane::gates_of(&Deps::from(dep)).is_empty());
                return Ok(Way::Behind(gated));
            }
            None => {
                let (device, lane) = (device.clone(), make()?);
                // Whoever chooses one has the list's lock until it has used it. The latest tell whoever waits for all.
                let mut lost = sides.iter().filter(|side| side.lane.is_lost()).count();
                sides.retain(|side| {
                    let stays = lost <= LOST || !side.lane.is_lost();
                    if !stays {
                        lost -= 1;
                        side.lane.close_later();
                    }
                    stays
                });
                sides.push(Side { device, lane });
                lane
            }
        };
        Ok(Way::On(Chosen {
            lane,
            _alone: Some(sides),
            _user: None,
        }))
    }
}
