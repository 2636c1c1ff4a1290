//! Memory as the interpreter's caller provides it, and the faults that a run can end in.

/// Memory outside the interpreter. Addresses come from the kernel: an implementation over raw memory must check them.
pub trait Memory {
    /// Fills `into` from `address`.
    ///
    /// # Errors
    /// [`Fault::Access`] where nothing may be read.
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault>;
    /// Writes `from` at `address`.
    ///
    /// # Errors
    /// [`Fault::Access`] where nothing may be written.
    fn store(&mut self, address: u64, from: &[u8]) -> Result<(), Fault>;
    /// One atomic read-modify-write of `size` (1, 2, 4 or 8) bytes at `address`, a multiple of `size`: calls `f` with
    /// the zero-extended bytes and writes its result, if any. `f` may be called again when another thread was faster.
    /// Returns the last argument of `f`.
    ///
    /// # Errors
    /// [`Fault::Access`] where nothing may be read or written.
    fn update(
        &mut self,
        address: u64,
        size: usize,
        f: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Result<u64, Fault>;
    /// Orders all accesses before against all after.
    fn fence(&mut self) {}
    /// A printf of the kernel: index of the format, arguments as in [`crate::abi::PRINTF_SYMBOL`].
    fn printf(&mut self, format: u32, arguments: &[u8]) -> i32;
    /// A counter that increases with time. The interpreter itself has no clock.
    fn clock(&mut self) -> u64 {
        0
    }
    /// Whether the run shall stop; called at regular intervals.
    fn cancelled(&mut self) -> bool {
        false
    }
}

/// The reason why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An address outside of all memory.
    #[error("{} of {size} bytes at {address:#x}, where there is no memory", if *write { "write" } else { "read" })]
    Access {
        /// First byte.
        address: u64,
        /// Bytes.
        size: u64,
        /// Write or read.
        write: bool,
    },
    /// An atomic at an address that is no multiple of its size.
    #[error("atomic of {size} bytes at {address:#x}, which is not aligned")]
    Misaligned {
        /// First byte.
        address: u64,
        /// Bytes.
        size: u64,
    },
    /// The budget of instructions is used up.
    #[error("the budget of instructions is used up")]
    Budget,
    /// [`Memory::cancelled`] returned true.
    #[error("cancelled")]
    Cancelled,
    /// A call of a value that is no function.
    #[error("call of {0}")]
    Call(&'static str),
    /// Work-items of a group wait at different group operations.
    #[error("a work-group operation that not all work-items of the group reach")]
    Diverged,
    /// The kernel ended the launch: a trap, or code that no valid program reaches.
    #[error("{}", crate::abi::TRAP_TEXT)]
    Trap,
    /// An assertion of the kernel failed.
    #[error("{0}")]
    Assertion(Box<crate::abi::Assertion>),
    /// More of a resource than the interpreter has.
    #[error("{what}: {wanted} wanted, {allowed} allowed")]
    Resources {
        /// The resource.
        what: &'static str,
        /// Found.
        wanted: u64,
        /// Allowed.
        allowed: u64,
    },
    /// The launch record or argument block does not fit the kernel.
    #[error("launch: {0}")]
    Launch(String),
}
