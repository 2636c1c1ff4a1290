//! SPIR-V binary words to instructions.
//!
//! Input: a module's bytes in either byte order. Output: [`Instruction`]s that borrow the words;
//! nothing is copied but the words themselves, once, into the machine's byte order.
//!
//! Invariants
//! - Every word count lies inside the module, so later stages slice operands without checks.
//! - Nothing is allocated but the words; the id bound that a header claims is held against the
//!   module's length before anyone makes a table of that size.
//! - Errors carry the offset in words; disassemblers print bytes, four times as much.
//!
//! Non-goals: no meaning. Types, ids and capabilities are checked by `kernel-ir`.
#![forbid(unsafe_code)]

mod error;
mod names;
mod opencl;
mod operands;
mod words;

pub use error::{Error, ErrorKind};
pub use names::{capability_name, decoration_name, instruction_name};
pub use opencl::OpenClStd;
pub use operands::Operands;
pub use words::{Header, Instruction, Instructions, Words};
