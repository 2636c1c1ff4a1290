//! Splits SPIR-V modules into instructions.
//!
//! Input: a module's bytes in either byte order. Output: [`Instruction`]s that borrow the words. The only copy is that
//! of the words into the machine's byte order.
//!
//! ```
//! use spirv_reader::Words;
//!
//! // A header with the version 1.0 and the id bound 1, and `OpCapability Kernel` (opcode 17, two words).
//! let module: Vec<u8> = [0x0723_0203, 0x0001_0000, 0, 1, 0, 2 << 16 | 17, 6u32]
//!     .iter()
//!     .flat_map(|word| word.to_le_bytes())
//!     .collect();
//! let words = Words::new(&module)?;
//! for instruction in words.instructions() {
//!     let instruction = instruction?;
//!     assert_eq!((instruction.name(), instruction.operands), ("OpCapability".to_owned(), &[6][..]));
//! }
//! # Ok::<(), spirv_reader::Error>(())
//! ```
//!
//! Invariants
//! - Every word count is inside the module, so later stages slice operands without checks.
//! - Only the words are allocated. The id bound of the header is checked against the module's length, so that callers
//!   may allocate tables of that size.
//! - Errors have an offset in words; disassemblers print bytes, four times as many.
//!
//! Not here: semantics. `kernel-ir` checks types, ids and capabilities.
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
