//! Objects of the program: those that it never destroys, and those that it uses afterwards.

use super::host_stack::{self, Stack};
use super::process::Check;
use check_report::host_stack::is_asked_for;
use check_report::{Access, Allocation, Finding, Kind};
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use ze_abi::ObjectWatcher;
use ze_driver::command_order::Position;

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

struct Destroyed {
    created: Created,
    at: Stack,
    /// Keeps the address.
    _memory: Box<dyn Any + Send + Sync>,
}

impl Objects {
    fn created(&mut self, handle: usize, created: Created) {
        self.count += 1;
        self.destroyed.remove(&handle);
        self.live.insert(handle, (self.count, created));
    }

    /// Returns what is remembered no longer.
    fn destroyed(
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

    /// Live objects, in the order of their creation.
    pub(super) fn live(&self) -> Vec<Created> {
        let mut live: Vec<(u64, Created)> = self.live.values().copied().collect();
        live.sort_unstable_by_key(|(number, _)| *number);
        live.into_iter().map(|(_, created)| created).collect()
    }
}

impl Check {
    /// The program destroys a list or queue. It has to wait for its commands before.
    pub(crate) fn gives_up(&self, handle: usize, lane: Position) {
        let is_wanted = self.wanted.has(Kind::InvalidLifetime)
            && lane.number != 0
            && std::process::id() == self.process;
        if !is_wanted || !self.checker.is_unwaited(lane.lane) {
            return;
        }
        let stack = host_stack::here();
        // Runtimes may know by other means that nothing runs.
        if !is_asked_for(&stack) {
            return;
        }
        let found = crate::sync::lock(&self.objects).live.get(&handle).copied();
        let Some((_, created)) = found else { return };
        let what = created.what;
        self.output.tell_host(Finding {
            access: Some(Access {
                called_at: stack,
                ..Access::new("destroy")
            }),
            allocation: Some(Allocation {
                name: Some(what.to_owned()),
                allocated_at: self.programs.stacks.addresses(created.at),
                ..Allocation::default()
            }),
            advice: Some("wait for its commands first: zeCommandListHostSynchronize, an event or a fence".to_owned()),
            ..Finding::new(
                Kind::InvalidLifetime,
                format!("the program destroys an object of the type {what} and has waited for none of its commands"),
            )
        });
    }
}

impl ObjectWatcher for Check {
    fn created(&self, handle: usize, what: &'static str) {
        let at = self.programs.stacks.here();
        let created = Created { what, at };
        crate::sync::lock(&self.objects).created(handle, created);
    }

    fn destroyed(&self, handle: usize, memory: Box<dyn Any + Send + Sync>) {
        let at = self.programs.stacks.here();
        let old = crate::sync::lock(&self.objects).destroyed(handle, at, memory);
        drop(old);
    }

    fn refused(&self, handle: usize, name: &str, what: &'static str) {
        if !self.wanted.has(Kind::InvalidLifetime) {
            return;
        }
        let found = {
            let objects = crate::sync::lock(&self.objects);
            let found = objects.destroyed.get(&handle);
            found.map(|object| (object.created, object.at))
        };
        let Some((created, destroyed)) = found.filter(|(created, _)| created.what == what) else {
            return;
        };
        let addresses = |stack| self.programs.stacks.addresses(stack);
        self.output.tell_host(Finding {
            access: Some(Access {
                called_at: host_stack::here(),
                ..Access::new("use")
            }),
            allocation: Some(Allocation {
                name: Some(what.to_owned()),
                allocated_at: addresses(created.at),
                freed_at: addresses(destroyed),
                ..Allocation::default()
            }),
            ..Finding::new(
                Kind::InvalidLifetime,
                format!("{name} is a handle of the type {what} that the program has destroyed"),
            )
        });
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
