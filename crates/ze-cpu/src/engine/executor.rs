//! The means of a thread to run work: its guard, its meter and memory for kernels.

use super::transfer;
use crate::clock::now_ns;
use crate::fault::Guard;
use crate::telemetry::{Kind, Meter, Usage};
use ze_driver::device::Task;

/// Memory for kernels above this size is freed after the launch.
const KEEP_MEMORY: usize = 64 << 20;

/// One of this many brief launches is measured.
pub(super) const SAMPLE: u32 = 16;

/// Runs kernels and transfers on the thread that has its guard.
pub(super) struct Executor {
    pub(super) guard: Guard,
    pub(super) meter: Meter,
    memory: Block,
    /// When the last measured part of a kernel or transfer ended.
    pub(super) ended_ns: u64,
    /// Brief launches so far.
    brief: u32,
}

impl Executor {
    pub(super) fn new(guard: Guard, memory: Block) -> Self {
        Self {
            guard,
            meter: Usage::own().meter(),
            memory,
            ended_ns: 0,
            brief: 0,
        }
    }

    /// Prepares the calling thread for work. `None` if no signal stack is left.
    pub(super) fn enter() -> Option<Self> {
        Some(Self::new(Guard::enter()?, Block::default()))
    }

    /// The memory for kernels, for the executor of another thread.
    pub(super) fn into_memory(self) -> Block {
        self.memory
    }

    /// Whether the next brief launch is to be measured.
    pub(super) fn samples(&mut self) -> bool {
        self.brief = self.brief.wrapping_add(1);
        self.brief.is_multiple_of(SAMPLE)
    }

    /// `bytes` of memory for a kernel, 64-byte aligned, not zeroed.
    pub(super) fn memory(&mut self, bytes: usize) -> Option<*mut u8> {
        self.memory.at_least(bytes)
    }

    /// Frees memory that was unusually large.
    pub(super) fn shrink(&mut self) {
        self.memory.shrink();
    }

    /// Does `count` blocks of a copy or fill from block `first` on; begun at `start_ns`.
    pub(super) fn transfer(
        &mut self,
        task: &dyn Task,
        start_ns: u64,
        first: u64,
        count: u64,
    ) -> Result<(), String> {
        self.meter.begin(Kind::Copy, task.device(), start_ns);
        let result = transfer::run(&self.guard, task.work(), first, count);
        self.ended_ns = now_ns();
        self.meter.end(self.ended_ns);
        if result.is_ok() {
            self.meter.bytes(transfer::bytes(task.work(), first, count));
        }
        result
    }
}

/// Memory with a page on either side that no code may touch.
#[derive(Debug, Default)]
pub(super) struct Block {
    base: usize,
    len: usize,
}

/// Bytes of a page.
const PAGE: usize = 4096;

impl Block {
    fn at_least(&mut self, bytes: usize) -> Option<*mut u8> {
        if bytes > self.len {
            self.release();
            let len = bytes
                .checked_next_multiple_of(PAGE)?
                .checked_next_power_of_two()?
                .max(1 << 20);
            let room = len.checked_add(2 * PAGE)?;
            // SAFETY: fresh memory; the pages between the two outer ones are opened.
            unsafe {
                let base = libc::mmap(
                    std::ptr::null_mut(),
                    room,
                    libc::PROT_NONE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                );
                if base == libc::MAP_FAILED {
                    return None;
                }
                let inner = base as usize + PAGE;
                let rights = libc::PROT_READ | libc::PROT_WRITE;
                if libc::mprotect(inner as *mut libc::c_void, len, rights) != 0 {
                    libc::munmap(base, room);
                    return None;
                }
                (self.base, self.len) = (inner, len);
            }
        }
        Some(self.base as *mut u8)
    }

    fn shrink(&mut self) {
        if self.len > KEEP_MEMORY {
            self.release();
        }
    }

    fn release(&mut self) {
        if self.len > 0 {
            // SAFETY: mapped by `at_least`; no kernel runs on this thread.
            unsafe {
                libc::munmap((self.base - PAGE) as *mut libc::c_void, self.len + 2 * PAGE);
            }
            // Field by field: an assignment as a whole would drop, and so release, the old value.
            (self.base, self.len) = (0, 0);
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.release();
    }
}
