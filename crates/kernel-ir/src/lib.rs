//! The kernel compiler's middle: typed SSA for OpenCL-flavoured kernels, and everything that is
//! decided about a kernel before a back end sees it.
//!
//! Input: SPIR-V modules (through `spirv-reader`), specialisation constants, options. Output: a
//! [`Module`] in which every kernel stands alone (calls inlined, work-group operations expanded),
//! with a [`abi::ModuleInfo`] that says how the driver launches it. [`interpret`] runs the same
//! module without any back end: it is the oracle of meaning.
//!
//! Invariants
//! - Pure: no files, no environment, no clock, no FFI types, no threads, no panic on any input.
//! - Whatever [`front::build`] accepts has passed [`validate()`]: later stages index without checks.
//! - An error names the module, the word offset, the instruction and the rule.
//!
//! Non-goals: no machine knowledge. Widths and registers belong to `codegen-llvm`.
#![forbid(unsafe_code)]

pub mod abi;
pub mod build;
pub mod cfg;
pub mod front;
mod ids;
pub mod image;
pub mod interpret;
pub mod ir;
pub mod marks;
mod op;
pub mod parse;
pub mod passes;
pub mod print;
pub mod printf;
pub mod report;
pub mod types;
pub mod validate;
pub mod wire;

pub use build::{BuildError, BuildErrorKind, Options, Request};
pub use ir::*;
pub use parse::parse;
pub use print::print;
pub use types::*;
pub use validate::validate;
