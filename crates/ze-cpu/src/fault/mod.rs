//! Faults of kernels and copies: the process survives them.
//!
//! [`Guard::call`] enters foreign code through an assembly trampoline that Rust sees as an ordinary call. When a fault
//! interrupts such a call, the signal handler sends the thread back to the trampoline, which returns the signal. Frames
//! between the trampoline and the fault are skipped, so none of them may have a destructor.
//!
//! Modules, from the floor up:
//! - `processor`: trampolines, registers and rounding modes; `record`: the state of a guarded thread;
//! - `signal_stack`, `inline_stack`: stacks, each with its record; `access`: memory that may not be there;
//! - `trap`: kernels that end their launch; `watchdog`: kernels that are ended from outside;
//! - `write_hold`: writes that wait until pages have moved; `page_watch`: accesses that are noted; `handler`: the signal
//!   handlers;
//! - `error`: [`Fault`] and its text; `depth`, `modes`: stack ends, rounding modes; `guard`: [`Guard`], on top of all.
//!
//! Invariants
//! - A fault that is not ours goes to the handler that was there before, unchanged.
//! - The handler finds its thread's record by its own stack address, or by the one that the fault interrupts, never by
//!   thread-local storage: it is safe in threads that never called the driver.
//! - Code called by [`Guard::call`] drops nothing and holds no lock where it can fault. A callback into Rust disarms the
//!   guard first ([`disarmed`]).

mod access;
mod depth;
mod error;
mod guard;
mod handler;
mod inline_stack;
mod modes;
pub(crate) mod page_watch;
mod processor;
mod record;
mod signal_stack;
mod trap;
pub(crate) mod watchdog;
mod write_hold;

pub(crate) use access::{copy_here, disarmed, string_at};
pub(crate) use error::{Fault, Known};
pub(crate) use guard::{Guard, solum_callee};
pub(crate) use handler::{
    handles_segments, hold_writes, install, reinstall, reinstall_if_replaced,
};
pub(crate) use modes::with_default_modes;
pub(crate) use processor::{MODES, MODES_FLUSH, solum_on_stack, stop};
pub(crate) use signal_stack::can_guard;
pub(crate) use trap::{solum_trap, tell, with_silence};
#[cfg(test)]
pub(crate) use write_hold::enter_and_leave_a_hold;
pub(crate) use write_hold::wait_in_forks;

#[cfg(test)]
mod tests;
