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

use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use super::lane::{Gated, Lane, lane_of};

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
    pub(super) fn fits(&self, gates: &Deps) -> bool {
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
