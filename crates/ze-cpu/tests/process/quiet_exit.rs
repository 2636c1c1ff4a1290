//! The driver's exit handlers allocate no memory: `exit` in a signal handler that has interrupted `malloc` would hang
//! in it.

use super::{program, run};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use ze_driver::device::Work;

/// The system's allocator, which a thread can be forbidden to ask.
struct Forbidding;

thread_local! {
    static IS_FORBIDDEN: Cell<bool> = const { Cell::new(false) };
}

#[global_allocator]
static ALLOCATOR: Forbidding = Forbidding;

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Forbidding {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_FORBIDDEN.get() {
            // SAFETY: ends the process.
            unsafe { libc::_exit(9) };
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, base: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(base, layout) };
    }
}

/// The role: exits; allocations of this thread meanwhile end the process.
pub(crate) fn exit() {
    let platform = ze_cpu::platform().unwrap();
    assert_eq!(run(&platform, Work::Nothing), None);
    IS_FORBIDDEN.set(true);
    // SAFETY: ends the process.
    unsafe { libc::exit(0) };
}

#[test]
fn exit_handlers_allocate_no_memory() {
    let output = program("quiet-exit", &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
