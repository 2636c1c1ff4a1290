//! The code generator: a checked kernel-ir module to x86-64 object code, through LLVM.
//!
//! Input: a [`Request`] (SPIR-V, options, processor) or a finished [`Module`]. Output: a relocatable ELF
//! object, or an archive of several, with one function per kernel, called as `kernel_ir::abi` says, and the module's
//! metadata.
//!
//! A kernel has one of three forms: work-items of a row, or all of a sub-group, side by side, as vectors where
//! they differ and as scalars where they do not, barriers between loops over all of them (`lanes`); where that
//! does not pay or cannot be, nested loops over its work-items, or with stops passes in which each resumes where
//! it stopped (`plan`, `kernel`).
//!
//! Invariants
//! - LLVM runs on threads of this crate only; its fatal errors fail the one request (see `service`).
//! - Generated code never traps on arithmetic, and branches on no undefined value.
//! - Nothing here reads files or the environment.
//!
//! Empty where it was built without LLVM 22 (`build.rs`): programs then open an installed `libsolum_codegen.so.1`.
//!
//! Non-goals: loading objects, caching them, knowing the host's processor. Those belong to `ze-cpu`.

#![cfg(llvm)]

mod archive;
mod arguments;
mod arith;
mod atomic;
mod compile;
mod convert;
mod counters;
mod explain;
mod fast_math;
mod forms;
mod frames;
mod group;
mod instruct;
mod kernel;
mod lanes;
mod launch;
mod limits;
mod llvm;
mod lower;
mod machine;
mod masks;
mod math;
mod mathematics;
mod memory;
mod parts;
mod place;
mod printf;
mod record;
mod report;
mod service;
mod session;
mod settings;
mod stages;
mod trap;
mod values;

pub use compile::{compile, compile_module, llvm_text};
pub use explain::explain;
pub use session::{Opened, Session, open};
pub use settings::Settings;

#[cfg(doc)]
use kernel_ir::{Module, Request};
