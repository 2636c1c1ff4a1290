//! The error of guarded code, and its text.

use super::record::NO_ADDRESS;
use super::trap::Trapped;
use super::watchdog;
use std::fmt;

/// Instead of a signal number: a call through a pointer that points to no function.
pub(super) const NO_FUNCTION: i32 = -3;

/// The stop of guarded code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Signal number.
    pub(crate) signal: i32,
    /// The faulting address, if the signal has one.
    pub(crate) address: usize,
    /// Address of the instruction.
    pub(crate) instruction: usize,
    /// Further details.
    pub(crate) known: Known,
}

/// Details of a fault besides its signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Nothing,
    /// The address is the end of the stack.
    StackEnd,
    /// The code ended its launch itself.
    Trapped(Box<Trapped>),
}

impl Fault {
    /// Whether a time limit or a reset of the device has ended the code.
    pub(crate) fn is_from_outside(&self) -> bool {
        matches!(self.signal, watchdog::LATE | watchdog::RESET)
    }

    /// The work-item in the launch, if the code reported it.
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
                    "a call through pointer {:#x}, which is not a function of the called type",
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
