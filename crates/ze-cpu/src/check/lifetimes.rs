//! Memory and objects of the program: what it never frees or destroys, and what it uses, frees or destroys in a wrong way.

use super::host_stack;
use super::objects::Created;
use super::process::Check;
use crate::memory::Memory;
use check_report::host_stack::{has_left_main, is_asked_for, of_program};
use check_report::merge::CALLERS;
use check_report::{Access, Address, Allocation, Finding, Kind};
use std::any::Any;
use std::collections::{HashMap, HashSet};
use ze_abi::ObjectWatcher;
use ze_driver::command_order::Position;
use ze_driver::device::WrongFree;

/// Leaks by the place in the program that allocates or creates.
#[derive(Default)]
struct Leaks {
    all: Vec<Finding>,
    /// Places in `all`.
    places: HashMap<(Vec<Address>, Option<String>), usize>,
}

impl Leaks {
    /// Adds what was made on `stack`; what the program has not asked for only if `is_any`.
    fn add(&mut self, stack: Vec<Address>, made: Allocation, is_any: bool) {
        if !is_any && !is_asked_for(&stack) {
            return;
        }
        let place = of_program(&stack).iter().take(CALLERS).cloned().collect();
        let place = (place, made.name.clone());
        let known = self.places.get(&place).and_then(|&at| self.all.get_mut(at));
        if let Some(leak) = known {
            leak.count += 1;
            let all = leak.allocation.as_mut().and_then(|one| one.size.as_mut());
            if let (Some(all), Some(more)) = (all, made.size) {
                *all = all.saturating_add(more);
            }
            return;
        }
        let (text, advice) = match &made.name {
            None => ("the program never frees memory".to_owned(), None),
            Some(what) => (
                format!("the program never destroys an object of the type {what}"),
                Some("destroy it before the program ends".to_owned()),
            ),
        };
        self.places.insert(place, self.all.len());
        self.all.push(Finding {
            allocation: Some(Allocation {
                allocated_at: stack,
                ..made
            }),
            advice,
            ..Finding::new(Kind::Leak, text)
        });
    }
}

impl Check {
    /// Tells the memory that the program has never freed, once for each place that allocates. Called when the process ends:
    /// a program that calls `exit` in its middle leaves its memory to the system, which is no mistake. So does one with objects
    /// that it has not destroyed, which take little memory: they are told if `strict` is asked for.
    pub(super) fn tell_leaks(&self) {
        if !self.wanted.has(Kind::Leak) || std::process::id() != self.process {
            return;
        }
        let is_strict = self.wanted.is_strict();
        // Of a program that contains a runtime, only its symbols tell who allocates.
        let is_judged = self.output.has_reader() && has_left_main(&host_stack::here());
        if !is_strict && !is_judged {
            return;
        }
        let mut leaks = Leaks::default();
        let live = self.programs.live();
        // Memory that a variable points to is not lost.
        let held = match is_strict {
            true => HashSet::new(),
            false => {
                let ranges = live.iter().map(|known| (known.start, known.size));
                host_stack::held_by_variables(&ranges.collect())
            }
        };
        for known in live.iter().filter(|known| !held.contains(&known.start)) {
            let stack = self.programs.stacks.addresses(known.allocated);
            let memory = Allocation {
                kind: known.kind,
                size: Some(known.size),
                ..Allocation::default()
            };
            leaks.add(stack, memory, is_strict);
        }
        let objects = match is_strict {
            true => crate::sync::lock(&self.objects).live(),
            false => Vec::new(),
        };
        for created in objects {
            let stack = self.programs.stacks.addresses(created.at);
            let object = Allocation {
                name: Some(created.what.to_owned()),
                ..Allocation::default()
            };
            // Runtimes keep what they need to the end.
            leaks.add(stack, object, false);
        }
        for leak in leaks.all {
            self.output.tell_host(leak);
        }
    }

    /// The driver has refused to free memory, or freed it although it should not.
    pub(crate) fn wrong_free(&self, memory: &Memory, address: *const u8, how: WrongFree) {
        let Some(info) = memory
            .find(address)
            .filter(|info| info.base.cast_const() == address)
        else {
            return;
        };
        let text = match how {
            // What is kept was freed.
            WrongFree::NoAllocation if self.is_freed(info.base) => {
                "the program frees memory a second time"
            }
            WrongFree::NoAllocation => return,
            WrongFree::OtherContext => "the program frees memory in another context than its own",
        };
        if !self.wanted.has(Kind::InvalidLifetime) {
            return;
        }
        self.output.tell_host(Finding {
            access: Some(Access {
                called_at: host_stack::here(),
                ..Access::new("free")
            }),
            // Imported memory is not known.
            allocation: Some(self.programs.allocation(info.id)).filter(|one| one.size.is_some()),
            ..Finding::new(Kind::InvalidLifetime, text)
        });
    }

    /// The driver frees this memory by itself.
    pub(crate) fn frees_itself(&self, memory: &Memory, base: *const u8) {
        if let Some(info) = memory.find(base) {
            self.programs.frees_itself(info.id);
        }
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
        let found = crate::sync::lock(&self.objects).get(handle);
        let Some(created) = found else { return };
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
        let found = crate::sync::lock(&self.objects).get_destroyed(handle);
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
