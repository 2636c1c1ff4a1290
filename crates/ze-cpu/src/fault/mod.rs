//! Faults of kernels and copies: the process survives them.
//!
//! [`Guard::call`] enters foreign code through an assembly trampoline that Rust sees as an ordinary
//! call. The signal handler, when the thread is inside such a call, sends it back to the trampoline,
//! which returns the signal: no Rust frame is skipped as long as none with a destructor lies between
//! the trampoline and the fault.
//!
//! Invariants
//! - A fault that is not ours goes to the handler that was there before, with the meaning it had.
//! - The handler finds its thread's record by its own stack address, or by the one that the fault interrupts, never by
//!   thread-local storage: it is safe in threads that never met us.
//! - Code called by [`Guard::call`], and what that calls, drops nothing and holds no lock when it can
//!   fault; whoever calls back into Rust disarms the guard first ([`disarmed`]).

mod access;
mod depth;
mod error;
mod guard;
mod handler;
mod inline_stack;
mod modes;
mod processor;
mod record;
mod signal_stack;
mod trap;
pub(crate) mod watchdog;
mod write_hold;

pub(crate) use access::{copy_here, disarmed, string_at};
pub(crate) use error::Fault;
pub(crate) use guard::{Guard, solum_callee};
pub(crate) use handler::{hold_writes, install, reinstall, reinstall_if_replaced};
pub(crate) use modes::with_default_modes;
pub(crate) use processor::{MODES, MODES_FLUSH, solum_on_stack};
pub(crate) use signal_stack::can_guard;
pub(crate) use trap::{solum_trap, tell};
#[cfg(test)]
pub(crate) use write_hold::enter_and_leave_a_hold;
pub(crate) use write_hold::wait_in_forks;

#[cfg(test)]
mod tests;
