//! Gates: events of the program's that commands wait for, by themselves or through what they follow.
//!
//! A thread may wait for work before it opens a gate. So nothing that does not follow a gate is put behind what does:
//! a lane knows its gates, and work that has some goes to side lanes, of which each has only such gates as the work has.
//!
//! Locks: a list of side lanes is locked from a choice until the command is on its lane ([`Chosen`]), after a queue's order
//! and the buffers of a group, of which none is locked under it; no two lists are. Under it come lanes' locks, one at a
//! time, where a lane is made also [`super::losses`]' and the numbers of lanes, and where one is closed the graveyard's.
//! So it is with a context's list of lanes for copies, which is locked for the choice only.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use super::{Lane, lane_of};
use crate::device::Device;
use crate::environment::MOST_LANES;
use crate::error::Result;

/// A gate that commands of a lane wait for.
#[derive(Clone, Copy)]
pub(super) struct Gated {
    /// The first that does; the event's own place where that is followed itself.
    first: Dep,
    gate: Dep,
}

/// Whether there ever was an event of the program's: most programs have none, and need no look at any lane.
pub(super) static SOME: AtomicBool = AtomicBool::new(false);

pub(super) type Gates = SmallVec<[Gated; 4]>;

impl Gated {
    /// Whether nobody waits for it any more, as far as is known; nobody is asked.
    fn is_over(&self) -> bool {
        let is_done = |dep: Dep| lane_of(dep).is_none_or(|lane| lane.is_done(dep.sequence()));
        is_done(self.first) || is_done(self.gate)
    }

    /// Whether it is not known to be signalled, for who may wait for it.
    fn is_shut(&self) -> bool {
        let Some(lane) = lane_of(self.gate) else {
            return false;
        };
        let sequence = self.gate.sequence();
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
        let waits = lane_of(self.first).filter(|_| self.first != self.gate);
        waits.is_none_or(|lane| !lane.probe(self.first.sequence()))
    }
}

impl Lane {
    /// The gates that work waits for, but for those that are open.
    #[inline]
    pub(crate) fn gates_of(work: &Deps) -> Deps {
        let mut shut = Deps::default();
        let known = Self::known_gates(work);
        let gates = known.iter().filter(|known| known.is_shut());
        gates.for_each(|known| shut.add(known.gate));
        shut
    }

    /// The gates that work waits for and that are not known to be open; nobody is asked.
    #[inline]
    pub(super) fn known_gates(work: &Deps) -> Gates {
        let mut gates = Gates::new();
        if !SOME.load(Ordering::Acquire) {
            return gates;
        }
        for dep in work.iter() {
            if let Some(lane) = lane_of(dep).filter(|lane| lane.may_be_gated()) {
                lane.add_gates(dep, &mut gates);
            }
        }
        gates
    }

    fn may_be_gated(&self) -> bool {
        self.gated.load(Ordering::Acquire) || self.is_event.load(Ordering::Acquire)
    }

    fn add_gates(&self, dep: Dep, gates: &mut Gates) {
        let mut add = |gated: Gated| {
            if !gates.iter().any(|known| known.gate == gated.gate) {
                gates.push(gated);
            }
        };
        if self.is_event.load(Ordering::Acquire) {
            if !self.is_done(dep.sequence()) {
                let (first, gate) = (dep, dep);
                add(Gated { first, gate });
            }
            return;
        }
        let mut inner = self.inner();
        let known = &mut inner.gates;
        known.retain(|known| !known.is_over());
        self.gated.store(!known.is_empty(), Ordering::Release);
        let before = known.iter().filter(|known| known.first <= dep);
        before.for_each(|known| add(*known));
    }

    /// Whether work that has these gates may be put behind its last command.
    fn fits(&self, gates: &Deps) -> bool {
        let behind = Self::known_gates(&Deps::from(self.tail()));
        if behind.is_empty() {
            self.probe_tail();
        }
        let is_own = |gate: Dep| gates.iter().any(|own| own == gate);
        let mut behind = behind.iter();
        behind.all(|behind| is_own(behind.gate) || !behind.is_shut())
    }
}

/// Commands of a lane from one on wait for gates.
pub(super) fn register(known: &mut SmallVec<[Gated; 1]>, first: Dep, gates: &Gates) {
    known.retain(|known| !known.is_over());
    for Gated { gate, .. } in gates {
        if !known.iter().any(|known| known.gate == *gate) {
            let gate = *gate;
            known.push(Gated { first, gate });
        }
    }
}

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
