//! Accesses of the host to memory that commands may still use, or that only devices may use.
//!
//! When a command has run, the pages of its arguments are closed until the host has waited for it
//! ([`crate::fault::page_watch`]): those that it has written, and for writes those that it has read. The checker decides
//! whether the byte that the host accesses is one that the command has accessed.
//!
//! Commands run at once when they are submitted, and the submitting call returns when nothing runs any more
//! ([`Quiet::wait`]), so that findings do not depend on timing.

use crate::fault::page_watch::{self, Noted, Range};
use kernel_checker::{Checker, HostAccess, Position};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use ze_driver::device::{AllocInfo, MemoryKind};

const PAGE: u64 = 4096;

/// A command that uses an allocation, and that the host may not have waited for.
struct Use {
    command: Position,
    writes: bool,
}

struct Watched {
    size: u64,
    /// The host may not access it at all.
    is_for_devices: bool,
    uses: Vec<Use>,
    range: Range,
}

#[derive(Default)]
struct State {
    /// By the first byte.
    live: BTreeMap<u64, Watched>,
    /// Allocations with uses.
    in_use: BTreeSet<u64>,
    /// Allocations for devices.
    for_devices: BTreeSet<u64>,
}

/// The memory that the host may access, and when.
#[derive(Default)]
pub(super) struct Host {
    /// Whether accesses of the host are looked for. If not, no memory is watched, and no call waits for commands.
    is_watching: bool,
    state: Mutex<State>,
    pub(super) quiet: Quiet,
}

impl Host {
    pub(super) fn new(is_watching: bool) -> Self {
        Self {
            is_watching,
            ..Self::default()
        }
    }

    /// A call has submitted commands: waits until nothing runs.
    pub(super) fn submitted(&self) {
        if self.is_watching {
            self.quiet.wait();
        }
    }

    /// Watches new memory.
    pub(super) fn allocated(&self, info: &AllocInfo, is_for_devices: bool) {
        // Device memory that the host may access is that of CPU-typed devices: libraries for them use it like their own.
        if !self.is_watching
            || info.imported
            || (info.kind == MemoryKind::Device && !is_for_devices)
        {
            return;
        }
        let start = info.base as u64;
        let Some(end) = start
            .checked_add(info.size.max(1))
            .and_then(|end| end.checked_next_multiple_of(PAGE))
        else {
            return;
        };
        // The pages are the allocation's own: see `memory::keep_apart`.
        let Some(range) = Range::new((start & !(PAGE - 1)) as usize, end as usize) else {
            return;
        };
        let watched = Watched {
            size: info.size,
            is_for_devices,
            uses: Vec::new(),
            range,
        };
        let mut state = crate::sync::lock(&self.state);
        if is_for_devices {
            watched.range.set(Noted::All);
            state.for_devices.insert(start);
        }
        state.live.insert(start, watched);
    }

    /// Memory is freed: it is not watched any more.
    pub(super) fn forget(&self, start: u64) {
        let mut state = crate::sync::lock(&self.state);
        state.live.remove(&start);
        state.in_use.remove(&start);
        state.for_devices.remove(&start);
    }

    /// A command uses allocations: an address in each, and whether it writes there.
    pub(super) fn uses(&self, command: Position, addresses: impl Iterator<Item = (u64, bool)>) {
        if !self.is_watching || command.number == 0 {
            return;
        }
        let mut state = crate::sync::lock(&self.state);
        let State { live, in_use, .. } = &mut *state;
        for (address, writes) in addresses {
            let Some((&start, watched)) = live.range_mut(..=address).next_back() else {
                continue;
            };
            if address - start >= watched.size || watched.is_for_devices {
                continue;
            }
            in_use.insert(start);
            match watched.uses.iter_mut().find(|one| one.command == command) {
                Some(one) => one.writes |= writes,
                None => watched.uses.push(Use { command, writes }),
            }
        }
    }

    /// Whether accesses of the host to the allocation that begins there are compared with those of commands.
    pub(super) fn compares(&self, start: u64) -> bool {
        if !self.is_watching {
            return false;
        }
        let state = crate::sync::lock(&self.state);
        let watched = state.live.get(&start);
        watched.is_some_and(|watched| !watched.is_for_devices)
    }

    /// Closes and opens pages: commands have finished, or the host has waited for some.
    pub(super) fn update(&self, checker: &Checker) {
        if !self.is_watching {
            return;
        }
        let mut state = crate::sync::lock(&self.state);
        let State {
            live,
            in_use,
            for_devices,
        } = &mut *state;
        let mut closes = !for_devices.is_empty();
        in_use.retain(|start| {
            let Some(watched) = live.get_mut(start) else {
                return false;
            };
            let uses = &mut watched.uses;
            uses.retain(|one| !checker.is_known_to_host(one.command));
            let noted = match uses.iter().map(|one| one.writes).max() {
                None => Noted::None,
                Some(false) => Noted::Writes,
                Some(true) => Noted::All,
            };
            closes |= noted != Noted::None;
            watched.range.set(noted);
            !uses.is_empty()
        });
        for start in for_devices.iter() {
            if let Some(watched) = live.get(start) {
                watched.range.set(Noted::All);
            }
        }
        if closes {
            // The program may have replaced our handler meanwhile.
            crate::fault::reinstall_if_replaced();
        }
    }

    /// Tells the checker what the host has accessed. To be called before the host learns of further commands.
    pub(super) fn tell_accesses(&self, checker: &Checker) {
        if !self.is_watching {
            return;
        }
        for access in page_watch::take_accesses() {
            let address = access.address as u64;
            let is_for_devices = {
                let state = crate::sync::lock(&self.state);
                let found = state.live.range(..=address).next_back();
                found.is_some_and(|(_, watched)| watched.is_for_devices)
            };
            let access = HostAccess {
                address,
                writes: access.writes,
                stack: access.stack.iter().map(|&address| address as u64).collect(),
            };
            checker.host_accesses(&access, is_for_devices);
        }
    }
}

/// Tasks that run, and waits until none does.
#[derive(Default)]
pub(super) struct Quiet {
    tasks: AtomicU64,
    running: Mutex<Running>,
    changed: Condvar,
}

#[derive(Default)]
struct Running {
    /// Counts parts of tasks that have ended.
    progress: u64,
    /// Waits that were given up.
    given_up: u32,
}

/// A wait without progress is given up after this time: the kernel may wait for the host. Not measured: parts of tasks are
/// one work-group or few.
const PATIENCE: Duration = Duration::from_secs(1);
/// No wait is tried after so many were given up.
const MOST_GIVEN_UP: u32 = 3;
/// A wait looks for so long before it sleeps: a thread that sleeps is woken 30 to 50 µs late (AMD EPYC, 2026-11).
const SPIN: Duration = Duration::from_micros(100);

impl Quiet {
    fn lock(&self) -> std::sync::MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A task was handed to the device.
    pub(super) fn submitted(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether no other task than the caller's runs.
    pub(super) fn is_only_task(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) <= 1
    }

    /// A task has ended, and those that waited for it were handed to the device.
    pub(super) fn finished(&self) {
        let mut running = self.lock();
        running.progress += 1;
        let one_less = |tasks: u64| tasks.checked_sub(1);
        let before = self
            .tasks
            .fetch_update(Ordering::Release, Ordering::Relaxed, one_less);
        if before == Ok(1) {
            self.changed.notify_all();
        }
    }

    /// A part of a task has ended.
    pub(super) fn progress(&self) {
        self.lock().progress += 1;
    }

    /// Waits until no task runs.
    pub(super) fn wait(&self) {
        let start = Instant::now();
        while self.tasks.load(Ordering::Acquire) > 0 && start.elapsed() < SPIN {
            std::hint::spin_loop();
        }
        if self.tasks.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut running = self.lock();
        if running.given_up >= MOST_GIVEN_UP {
            return;
        }
        let mut seen = (running.progress, Instant::now());
        while self.tasks.load(Ordering::Acquire) > 0 {
            if seen.0 != running.progress {
                seen = (running.progress, Instant::now());
            }
            let Some(left) = PATIENCE.checked_sub(seen.1.elapsed()) else {
                running.given_up += 1;
                return;
            };
            let waited = self.changed.wait_timeout(running, left);
            running = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_tasks_end_or_make_no_progress() {
        let quiet = Quiet::default();
        quiet.wait();
        quiet.submitted();
        std::thread::scope(|scope| {
            scope.spawn(|| quiet.finished());
            quiet.wait();
        });
        assert_eq!(quiet.tasks.load(Ordering::Relaxed), 0);
        quiet.submitted();
        for _ in 0..MOST_GIVEN_UP {
            quiet.wait();
        }
        let start = Instant::now();
        quiet.wait();
        assert!(start.elapsed() < PATIENCE, "no further wait is tried");
    }
}
