//! Commands: their order, and what copies and fills access.

use super::process::Check;
use kernel_checker::{Kernel, Position};
use std::cell::Cell;
use std::sync::Arc;
use ze_driver::command_order::{CommandOrder, Position as CommandPosition, Start};
use ze_driver::device::{RegionCopy, Task, Work};

thread_local! {
    /// The command that this thread runs.
    static POSITION: Cell<Position> = const { Cell::new(Position { lane: 0, number: 0 }) };
    /// Its context; 0 if it belongs to none.
    static CONTEXT: Cell<usize> = const { Cell::new(0) };
    /// Whether this thread runs commands.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// The command that this thread runs.
pub(super) fn position() -> Position {
    POSITION.get()
}

/// The context of that command; 0 if it belongs to none.
pub(super) fn context() -> usize {
    CONTEXT.get()
}

fn of(position: CommandPosition) -> Position {
    Position {
        lane: position.lane,
        number: position.number,
    }
}

impl Check {
    /// This thread begins a task: a copy or fill is checked now, a launch when it is prepared.
    #[cold]
    pub(crate) fn begin_task(&self, task: &dyn Task) {
        let position = of(task.position());
        IS_WORKER.set(true);
        POSITION.set(position);
        CONTEXT.set(task.context());
        self.host.tell_accesses(&self.checker);
        match task.work() {
            &Work::Copy { dst, src, len } => {
                let ranges = [(src as u64, len, false), (dst as u64, len, true)];
                self.transfer(&self.copy, position, &ranges);
            }
            Work::Fill { dst, len, .. } => {
                let ranges = [(*dst as u64, *len, true)];
                self.transfer(&self.fill, position, &ranges);
            }
            Work::CopyRegion(region) => {
                self.transfer(&self.copy, position, &rows(region));
            }
            Work::Host { .. } => self.checker.host_runs(position),
            _ => {}
        }
    }
}

impl Check {
    /// A copy or fill accesses memory: first byte, bytes, and whether it writes.
    fn transfer(&self, command: &Arc<Kernel>, position: Position, ranges: &[(u64, u64, bool)]) {
        self.checker.transfer(command, position, ranges);
        let addresses = ranges.iter().map(|&(start, _, writes)| (start, writes));
        self.host.uses(position, addresses);
    }
}

/// The rows of a copy between regions.
fn rows(region: &RegionCopy) -> Vec<(u64, u64, bool)> {
    let mut ranges = Vec::new();
    for slice in 0..region.slices {
        for row in 0..region.rows {
            let at = |base: u64, pitch: u64, slice_pitch: u64| {
                let row = row.wrapping_mul(pitch);
                base.wrapping_add(slice.wrapping_mul(slice_pitch))
                    .wrapping_add(row)
            };
            let src = at(region.src as u64, region.src_pitch, region.src_slice_pitch);
            let dst = at(region.dst as u64, region.dst_pitch, region.dst_slice_pitch);
            ranges.push((src, region.width, false));
            ranges.push((dst, region.width, true));
        }
    }
    ranges
}

impl CommandOrder for Check {
    fn pushed(&self, last: CommandPosition) {
        self.host.tell_accesses(&self.checker);
        self.checker.pushed(of(last));
    }

    fn started(&self, first: CommandPosition, count: u64, how: Start<'_>) {
        let how = kernel_checker::Start {
            drained: how.drained,
            delays_later: how.delays_later,
            waits: how.waits,
        };
        self.checker.started(of(first), count, how);
    }

    fn finished(&self, first: CommandPosition, count: u64, signal: Option<usize>) {
        self.checker.finished(of(first), count, signal);
        self.host.update(&self.checker);
    }

    fn submitted(&self) {
        if !IS_WORKER.get() {
            self.host.submitted();
        }
    }

    fn host_waited(&self, last: CommandPosition) {
        self.host.tell_accesses(&self.checker);
        self.checker.host_waited(of(last));
        self.host.update(&self.checker);
    }

    fn host_waited_for(&self, signal: usize) {
        self.host.tell_accesses(&self.checker);
        self.checker.host_waited_for(signal);
        self.host.update(&self.checker);
    }

    fn host_signals(&self, signal: usize) {
        self.host.tell_accesses(&self.checker);
        self.checker.host_signals(signal);
    }
}
