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
//!   fault; whoever calls back into Rust disarms the guard first ([`Guard::disarmed`]).

mod berth;
mod depth;
mod handler;
mod modes;
mod processor;
mod slot;
mod trap;
pub(crate) mod watchdog;
mod write_hold;

pub(crate) use handler::{install, reinstall, reinstall_if_replaced};
pub(crate) use modes::with_default_modes;
pub(crate) use processor::{MODES, MODES_FLUSH, solum_on_stack};
pub(crate) use slot::{Guard, can_guard, solum_callee};
pub(crate) use trap::{solum_trap, tell};
#[cfg(test)]
pub(crate) use write_hold::enter_and_leave_a_hold;
pub(crate) use write_hold::{WriteHold, wait_in_forks};

use std::fmt;

/// Where the processor does not say which address was touched: one that is not canonical.
const NO_ADDRESS: usize = usize::MAX;

/// In place of a signal: a call through a pointer to no function.
const NO_FUNCTION: i32 = -3;

/// What stopped guarded code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Signal number.
    pub(crate) signal: i32,
    /// Address that was touched, when the signal tells one.
    pub(crate) address: usize,
    /// Address of the instruction.
    pub(crate) instruction: usize,
    /// What else is known of it.
    pub(crate) known: Known,
}

/// What is known of a fault beside its signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Nothing,
    /// The address is the end of the stack.
    StackEnd,
    /// The code stopped by itself, and said so.
    Trapped(Box<trap::Trapped>),
}

impl Fault {
    /// The work-item in the launch, if the code told it.
    pub(crate) fn item(&self) -> Option<[u64; 3]> {
        match &self.known {
            Known::Trapped(trapped) => Some(trapped.item),
            Known::Nothing | Known::StackEnd => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Known::Trapped(trapped) = &self.known {
            return write!(f, "{trapped}");
        }
        match self.signal {
            watchdog::LATE => return f.write_str(&watchdog::text()),
            watchdog::RESET => return f.write_str(watchdog::RESET_TEXT),
            NO_FUNCTION => {
                return write!(
                    f,
                    "a call through pointer {:#x}, where no function of the type called can be called",
                    self.address
                );
            }
            _ => {}
        }
        let (name, what) = match self.signal {
            libc::SIGSEGV => ("SIGSEGV", "memory that is not there or not allowed"),
            libc::SIGBUS => ("SIGBUS", "memory without anything behind it"),
            libc::SIGFPE => ("SIGFPE", "an arithmetic trap"),
            libc::SIGILL => ("SIGILL", "an instruction that stops the program"),
            _ => ("signal", "an unexpected stop"),
        };
        if matches!(self.signal, libc::SIGSEGV | libc::SIGBUS) {
            let Self { address, .. } = *self;
            if address == NO_ADDRESS {
                return write!(f, "{name} at an address that no memory can have");
            }
            if self.known == Known::StackEnd {
                return write!(
                    f,
                    "{name} at address {address:#x}: the stack ends here; calls or private arrays of the kernel take more"
                );
            }
            let near = crate::memory::near(address);
            write!(f, "{name} at address {address:#x}: {what}, {near}")
        } else {
            write!(f, "{name}: {what}")
        }
    }
}

#[cfg(test)]
mod tests;
