//! The record of a guarded thread, which trampoline, handler and watchdog share.

use super::processor::MODES;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The reported address if the processor does not say which one was accessed: a non-canonical one.
pub(super) const NO_ADDRESS: usize = usize::MAX;

/// State of a guarded thread. The assembly knows the first three offsets.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Record {
    /// Stack pointer of the innermost guarded call; 0 outside.
    pub(super) stack: usize,
    /// Offset 8: signal of the last fault.
    pub(super) signal: i32,
    /// Offset 12: the word of modes for the code.
    pub(super) modes: u32,
    pub(super) address: usize,
    pub(super) instruction: usize,
    /// The time by which the call must end: see [`super::watchdog`].
    pub(super) deadline: AtomicU64,
    /// The thread's id for `tgkill`.
    pub(super) thread: i32,
    /// The device that a call with a deadline runs on.
    pub(super) device: AtomicU32,
    /// Whether the innermost call is one of a callback, which faults end and the watchdog does not.
    pub(super) in_callback: bool,
    /// Whether code is reading at `pointer`, which it wants to call.
    pub(super) calling: bool,
    pub(super) pointer: usize,
}
const _: () = assert!(size_of::<Record>() <= 64);

impl Record {
    /// The record of a thread outside of any call.
    pub(super) fn new(thread: i32) -> Self {
        Self {
            stack: 0,
            signal: 0,
            modes: MODES,
            address: 0,
            instruction: 0,
            deadline: AtomicU64::new(0),
            thread,
            device: AtomicU32::new(0),
            in_callback: false,
            calling: false,
            pointer: 0,
        }
    }
}
const _: () = assert!(
    std::mem::offset_of!(Record, stack) == 0
        && std::mem::offset_of!(Record, signal) == 8
        && std::mem::offset_of!(Record, modes) == 12
);

thread_local! {
    /// The record of this thread, or null. Without a destructor, because workers never end.
    pub(super) static OWN: Cell<*mut Record> = const { Cell::new(std::ptr::null_mut()) };
}

/// The calling thread's id for `tgkill`; queried once.
pub(super) fn thread_number() -> i32 {
    thread_local! {
        static NUMBER: Cell<i32> = const { Cell::new(0) };
    }
    if NUMBER.get() == 0 {
        // SAFETY: a system call without memory.
        NUMBER.set(unsafe { libc::syscall(libc::SYS_gettid) } as i32);
    }
    NUMBER.get()
}
