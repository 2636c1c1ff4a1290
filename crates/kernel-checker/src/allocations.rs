//! The allocations of the process with their histories, and those that were freed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::history::{Contents, History};
use crate::launch::Launch;
use crate::mistake::ProgramMemory;

/// Freed allocations that are remembered. Each takes some 100 bytes; not measured.
const MOST_FREED: usize = 10_000;

#[derive(Default)]
pub(crate) struct Allocation {
    pub(crate) start: u64,
    pub(crate) size: u64,
    pub(crate) id: u64,
    /// The context that it was allocated in.
    pub(crate) context: usize,
    /// Address of its shadow; 0: it has none.
    pub(crate) shadow: u64,
    /// Launches that use it and that the host may not have waited for.
    users: Vec<Arc<Launch>>,
    pub(crate) history: History,
}

impl Allocation {
    pub(crate) fn contents<'a>(&self, program: &'a dyn ProgramMemory) -> Contents<'a> {
        Contents {
            program,
            memory: self.start,
            size: self.size,
            shadow: self.shadow,
        }
    }
}

#[derive(Default)]
pub(crate) struct Allocations {
    /// By start: places in `all`.
    live: BTreeMap<u64, usize>,
    all: Vec<Allocation>,
    /// Places in `all` that are free.
    unused: Vec<usize>,
    /// By start: size and id.
    freed: BTreeMap<u64, (u64, u64)>,
    /// Their starts, oldest first.
    order: VecDeque<u64>,
}

/// The allocation around an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Live { start: u64, size: u64, id: u64 },
    Freed { start: u64, size: u64, id: u64 },
    Unknown,
}

impl Allocations {
    pub(crate) fn allocated(&mut self, start: u64, size: u64, id: u64, context: usize) {
        // Memory that was freed may be handed out again.
        let end = start.saturating_add(size);
        let over: Vec<u64> = self
            .freed
            .range(..end)
            .rev()
            .take(64)
            .map(|(&at, _)| at)
            .collect();
        for at in over {
            if self
                .freed
                .get(&at)
                .is_some_and(|(size, _)| at + size > start)
            {
                self.freed.remove(&at);
            }
        }
        let allocation = Allocation {
            start,
            size,
            id,
            context,
            history: History::of(size),
            ..Allocation::default()
        };
        let place = match self.unused.pop() {
            Some(place) => {
                self.all[place] = allocation;
                place
            }
            None => {
                self.all.push(allocation);
                self.all.len() - 1
            }
        };
        if let Some(old) = self.live.insert(start, place) {
            self.forget(old);
        }
    }

    pub(crate) fn freed(&mut self, start: u64) {
        if let Some(place) = self.live.remove(&start) {
            if self.order.len() >= MOST_FREED
                && let Some(oldest) = self.order.pop_front()
            {
                self.freed.remove(&oldest);
            }
            self.order.push_back(start);
            let allocation = &self.all[place];
            self.freed.insert(start, (allocation.size, allocation.id));
            self.forget(place);
        }
    }

    fn forget(&mut self, place: usize) {
        self.all[place] = Allocation::default();
        self.unused.push(place);
    }

    /// The allocation around `address`. The byte behind an allocation belongs to it, unless another begins there: pointers
    /// may point there.
    pub(crate) fn find(&self, address: u64) -> Found {
        if let Some((&start, &place)) = self.live.range(..=address).next_back()
            && let Some(one) = self.all.get(place)
            && address - start <= one.size
        {
            let (size, id) = (one.size, one.id);
            return Found::Live { start, size, id };
        }
        match self.freed.range(..=address).next_back() {
            Some((&start, &(size, id))) if address - start <= size => {
                Found::Freed { start, size, id }
            }
            _ => Found::Unknown,
        }
    }

    /// The live allocation that holds the byte at `address`; `hint` is where the caller found the last one.
    #[inline(always)]
    pub(crate) fn holding(&self, address: u64, hint: &mut usize) -> Option<&Allocation> {
        let holds = |one: &Allocation| address.wrapping_sub(one.start) < one.size;
        if !self.all.get(*hint).is_some_and(holds) {
            let (_, &place) = self.live.range(..=address).next_back()?;
            *hint = place;
        }
        self.all.get(*hint).filter(|one| holds(one))
    }

    /// As [`Self::holding`].
    #[inline(always)]
    pub(crate) fn holding_mut(
        &mut self,
        address: u64,
        hint: &mut usize,
    ) -> Option<&mut Allocation> {
        self.holding(address, hint)?;
        self.all.get_mut(*hint)
    }

    /// The allocation at a place, which is a hint of [`Self::holding`].
    pub(crate) fn at(&self, place: usize) -> Option<&Allocation> {
        self.all.get(place)
    }

    /// The shadow of the live allocation that begins at `start`.
    pub(crate) fn has_shadow(&mut self, start: u64, shadow: u64) {
        if let Some(&place) = self.live.get(&start) {
            self.all[place].shadow = shadow;
        }
    }

    /// All that live.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Allocation> {
        self.live.values().filter_map(|&place| self.all.get(place))
    }

    pub(crate) fn users(&mut self, start: u64) -> Option<&mut Vec<Arc<Launch>>> {
        let place = *self.live.get(&start)?;
        self.all.get_mut(place).map(|one| &mut one.users)
    }

    /// The context of the live allocation that begins at `start`.
    pub(crate) fn context(&self, start: u64) -> Option<usize> {
        let place = *self.live.get(&start)?;
        self.all.get(place).map(|one| one.context)
    }

    pub(crate) fn clear_histories(&mut self) {
        for allocation in &mut self.all {
            allocation.history.clear();
        }
    }
}
