//! Accesses by the host, which are seen one by one: the pages of memory that a command may still use are protected.

use std::sync::Arc;

use crate::allocations::Found;
use crate::cell::Reach;
use crate::checker::{Checker, State};
use crate::commands::Position;
use crate::history::Earlier;
use crate::mistake::{AllocationOffset, HostAccess, HostMistake, MistakeKind, Side};

impl Checker {
    /// The host has accessed memory. `is_for_devices`: it may not do that at all.
    pub fn host_accesses(&self, access: &HostAccess, is_for_devices: bool) {
        self.state().host_accesses(access, is_for_devices);
    }

    /// Whether the host has waited for the command.
    #[must_use]
    pub fn is_known_to_host(&self, position: Position) -> bool {
        self.state().commands.host_knows(position)
    }
}

impl State {
    fn host_accesses(&mut self, access: &HostAccess, is_for_devices: bool) {
        let Found::Live { start, size, id } = self.allocations.find(access.address) else {
            return;
        };
        let offset = access.address - start;
        let place = AllocationOffset {
            start,
            size,
            offset: offset.cast_signed(),
            space: kernel_ir::AddressSpace::Global,
            id: Some(id),
        };
        if is_for_devices {
            self.tell_host(HostMistake {
                access: access.clone(),
                command: None,
                place,
            });
            return;
        }
        let Some(allocation) = self.allocations.holding(access.address, &mut 0) else {
            return;
        };
        let earlier = allocation.history.at(offset).into_iter();
        let mut unknown: Vec<(Earlier, Side)> = earlier
            .filter_map(|earlier| {
                let side = self.side(earlier.access, 0)?;
                (!self.commands.host_knows(side.launch.position)).then_some((earlier, side))
            })
            .collect();
        // Writes first: they are what the host has to wait for in any case.
        unknown.sort_by_key(|(earlier, _)| !earlier.is_write);
        for (earlier, side) in unknown {
            let is_atomic = earlier.access.cell.reach() != Reach::NotAtomic;
            if is_atomic && earlier.is_write {
                // The host may have seen the value, and thereby knows all that came before.
                let launch = Arc::clone(&side.launch);
                self.commands
                    .host_acquires(launch.position, launch.clock.as_deref());
                return;
            }
            if !is_atomic && (earlier.is_write || access.writes) {
                self.tell_host(HostMistake {
                    access: access.clone(),
                    command: Some(side),
                    place,
                });
                return;
            }
        }
    }

    fn tell_host(&mut self, mistake: HostMistake) {
        let kind = match mistake.command {
            Some(_) => MistakeKind::RaceOfHost,
            None => MistakeKind::HostDereference,
        };
        let command = mistake.command.as_ref();
        let key = (
            kind,
            command.map_or(0, |side| side.launch.kernel.program),
            command.map_or(0, |side| side.word),
            mistake.access.stack.first().copied().unwrap_or(0),
            0,
        );
        if let Some(number) = self.number(key) {
            self.reporter.found_host(number, &mistake);
        }
    }
}
