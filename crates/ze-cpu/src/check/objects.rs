//! Objects of the program: those that live, and the last that it has destroyed.

use super::host_stack::Stack;
use std::any::Any;
use std::collections::{HashMap, VecDeque};

/// Destroyed objects that are remembered with their memory, so that their addresses are not used again. Not measured: a bound on
/// memory, a few MB.
const MOST_DESTROYED: usize = 4096;

/// The program's objects by handle.
#[derive(Default)]
pub(super) struct Objects {
    /// With their numbers.
    live: HashMap<usize, (u64, Created)>,
    destroyed: HashMap<usize, Destroyed>,
    /// Handles of these, oldest first.
    order: VecDeque<usize>,
    /// Objects so far.
    count: u64,
}

/// An object as the program created it.
#[derive(Clone, Copy)]
pub(super) struct Created {
    /// Its type's name.
    pub(super) what: &'static str,
    pub(super) at: Stack,
}

pub(super) struct Destroyed {
    created: Created,
    at: Stack,
    /// Keeps the address.
    _memory: Box<dyn Any + Send + Sync>,
}

impl Objects {
    pub(super) fn created(&mut self, handle: usize, created: Created) {
        self.count += 1;
        self.destroyed.remove(&handle);
        self.live.insert(handle, (self.count, created));
    }

    /// Returns what is remembered no longer.
    pub(super) fn destroyed(
        &mut self,
        handle: usize,
        at: Stack,
        memory: Box<dyn Any + Send + Sync>,
    ) -> Option<Destroyed> {
        let (_, created) = self.live.remove(&handle)?;
        let destroyed = Destroyed {
            created,
            at,
            _memory: memory,
        };
        self.destroyed.insert(handle, destroyed);
        self.order.push_back(handle);
        let is_full = self.order.len() > MOST_DESTROYED;
        let oldest = is_full.then(|| self.order.pop_front()).flatten()?;
        self.destroyed.remove(&oldest)
    }

    /// A live object.
    pub(super) fn get(&self, handle: usize) -> Option<Created> {
        self.live.get(&handle).map(|(_, created)| *created)
    }

    /// A destroyed object, and where it was destroyed.
    pub(super) fn get_destroyed(&self, handle: usize) -> Option<(Created, Stack)> {
        let found = self.destroyed.get(&handle);
        found.map(|object| (object.created, object.at))
    }

    /// Live objects, in the order of their creation.
    pub(super) fn live(&self) -> Vec<Created> {
        let mut live: Vec<(u64, Created)> = self.live.values().copied().collect();
        live.sort_unstable_by_key(|(number, _)| *number);
        live.into_iter().map(|(_, created)| created).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_first() {
        let mut objects = Objects::default();
        let created = Created {
            what: "event",
            at: Stack::default(),
        };
        for handle in 1..=MOST_DESTROYED + 1 {
            objects.created(handle, created);
            let old = objects.destroyed(handle, Stack::default(), Box::new(()));
            assert_eq!(old.is_some(), handle > MOST_DESTROYED);
        }
        assert!(!objects.destroyed.contains_key(&1));
        assert!(objects.destroyed.contains_key(&2));
        // An address that is used again is a live object.
        objects.created(2, created);
        assert!(!objects.destroyed.contains_key(&2));
        assert_eq!(objects.live().len(), 1);
        assert!(
            objects
                .destroyed(77, Stack::default(), Box::new(()))
                .is_none()
        );
    }
}
