//! A mistake of a kernel, as the checker sees it.

use std::sync::Arc;

use kernel_ir::{AddressSpace, Reliance, Touch, ValueMistake};

use crate::launch::Launch;

/// What counts as a mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Reliance on lock step in sub-groups, and on acquire where an atomic is relaxed, is a mistake.
    pub strict: bool,
    /// Two writes of the same value are none.
    pub allow_same_value: bool,
}

/// The kind of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MistakeKind {
    /// An access outside the allocation of the pointer that its address was computed from.
    OutOfBounds,
    /// The same of an allocation that was freed.
    UseAfterFree,
    /// Memory that is freed before the host has waited for a launch that uses it.
    FreedInUse,
    /// An access to memory of another context than the kernel's.
    ForeignContext,
    /// The same of a null pointer.
    NullPointer,
    /// An access outside a private array, a work-group variable or a program-scope variable.
    VariableBounds(AddressSpace),
    /// Two accesses by work-items of a group, without a barrier between them.
    RaceOfWorkItems,
    /// The same by work-items of one sub-group, at different instructions of a kernel that knows its sub-groups.
    LockStep,
    /// Two accesses by groups of a launch.
    RaceOfGroups,
    /// Two accesses by launches that nothing orders.
    RaceOfLaunches,
    /// An access by the host, and one by a command that the host has not waited for.
    RaceOfHost,
    /// An access by the host to memory that only devices may access.
    HostDereference,
    /// Two such writes of one value.
    SameValueWrite,
    /// Atomics of work-group scope, by different groups.
    AtomicScope,
    /// An atomic and a plain access that nothing orders.
    MixedAtomic,
    /// Work-items of a group at different barriers, or ended before one.
    BarrierDivergence,
    /// Work-items of a sub-group at different operations of sub-groups, or at none.
    SubGroupDivergence,
    /// An address that is no multiple of what the instruction promises.
    Misaligned,
    /// An address that is no memory.
    InvalidPointer,
    /// Memory of the program, which no allocation of the driver holds.
    ProgramMemory,
    /// A write to memory that may only be read.
    ReadOnlyWrite,
    /// A place that the program promises not to reach.
    Unreachable,
    /// A failed assertion.
    Assertion,
    /// An operand on which the work-items of a group do not agree.
    NonUniformArgument,
    /// A value for which the instruction has no meaning.
    Value(ValueMistake),
    /// The program relies on a value that nobody has written.
    Uninitialised(Reliance),
}

/// One side of a mistake.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its launch.
    pub launch: Arc<Launch>,
    /// The instruction's place in the SPIR-V module; 0 when it is not known.
    pub word: u32,
    /// Linear work-group; the lowest 16 bits where only these are known.
    pub group: u64,
    /// Linear work-item in it.
    pub item: u32,
    /// How it touches memory; `None` for mistakes of other kinds.
    pub touch: Option<Touch>,
}

/// A place in an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationOffset {
    /// First byte of the allocation.
    pub start: u64,
    /// Its bytes.
    pub size: u64,
    /// The bytes from there to the access.
    pub offset: i64,
    /// The kind of memory.
    pub space: AddressSpace,
    /// The allocation's id; `None` for variables and local memory.
    pub id: Option<u64>,
}

/// A mistake.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// Its kind.
    pub kind: MistakeKind,
    /// The access that was found to be wrong.
    pub side: Side,
    /// The other access of a race, or the other work-item of a barrier.
    pub other: Option<Side>,
    /// Bytes of the access.
    pub size: u32,
    /// What is stored, or the operands of an instruction.
    pub values: [Option<u64>; 2],
    /// The memory.
    pub place: Option<AllocationOffset>,
}

/// An access by the program's own code, outside of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAccess {
    /// First byte.
    pub address: u64,
    /// Whether it writes.
    pub writes: bool,
    /// Addresses of code, innermost first: the instruction, then the calls that led there.
    pub stack: Vec<u64>,
}

/// A mistake of the host.
#[derive(Clone, Debug)]
pub struct HostMistake {
    /// The host's access.
    pub access: HostAccess,
    /// The access of a command, which the host has not waited for; `None` if the host must not access the memory at all.
    pub command: Option<Side>,
    /// The memory.
    pub place: AllocationOffset,
}

/// A history that was too long to keep: races may be missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// A launch has so many work-groups that some look like others.
    Groups,
    /// A launch has so many barriers that the last of them are not told apart.
    Barriers,
    /// Of launches in several lists or queues, the accesses of the earlier ones are forgotten.
    Launches,
}

/// The memory of the program, for launches that are attempted, and undone if that fails.
pub trait ProgramMemory: Sync {
    /// Copies bytes that lie in a live allocation, or in its shadow.
    fn save(&self, address: u64, to: &mut [u8]);
    /// Writes them back.
    fn restore(&self, address: u64, from: &[u8]);
}

/// Receives mistakes: each once.
pub trait Reporter: Send + Sync {
    /// A history was not kept.
    fn dropped(&mut self, what: Dropped);
    /// A new mistake of the host, and its number.
    fn found_host(&mut self, number: usize, mistake: &HostMistake);
    /// A new mistake, and its number.
    fn found(&mut self, number: usize, mistake: &Mistake);
    /// Reads memory of the program; `false` if it cannot.
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool;
    /// Whether the address lies in a constant of a module.
    fn is_constant(&self, _address: u64) -> bool {
        false
    }
    /// Whether the address lies in memory of the driver; asked with strict rules only, where no allocation is known.
    fn is_driver_memory(&self, _address: u64) -> bool {
        true
    }
}
