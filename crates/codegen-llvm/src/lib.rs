//! The code generator: a validated kernel-ir module to x86-64 object code, through LLVM.
//!
//! Input: a `Request` (SPIR-V, options, processor) or a finished `Module`. Output: a relocatable ELF object, or an
//! archive of several, with one function per kernel, called as `kernel_ir::abi` says, and the module's metadata.
//!
//! A kernel has one of three forms. With a plan of the crate `vectorise` its work-items run as lanes of vectors, region by
//! region between barriers (`lanes`). Without a plan they run one after another: in nested loops, or, if the kernel has
//! stops, in passes in which each work-item resumes at the stop where it waited (`kernel`).
//!
//! | layer, from below | modules |
//! |---|---|
//! | LLVM's C interface, made safe | `llvm`, `frames`, `fast_math` |
//! | types, constants and variables in LLVM's terms | `values`, `record`, `launch` |
//! | a body being lowered: values at hand, entry allocas | `lower` |
//! | scalar operations, memory and mathematics | `arith`, `convert`, `memory`, `atomic`, `place`, `math`, `mathematics`, `printf`, `trap`, `arguments`, `instruct`, `group` |
//! | loops over work-items | `lanes` (vectors), `kernel` (scalars), `kernel/callable` (functions that are called) |
//! | the form of a kernel | `forms`, `report` |
//! | optimisation and object code | `machine`, `masks`, `splats`, `counters` |
//! | requests and replies | `settings`, `compile`, `parts`, `session`, `explain`, `service`, `limits`, `stages`, `archive` |
//!
//! A back end for another target needs the layers up to mathematics, which know no loops over work-items.
//!
//! Words: those of [`vectorise`]. In reports a *form* is one of the three above; in `vectorise` and `forms` it is a
//! variant of the kernel's body. A *record* is a work-item's part of the state area where work-items run one after
//! another; a *pass* resumes the work-items that wait at one stop. A *part* is a piece of a program that is compiled on
//! its own.
//!
//! Invariants
//! - LLVM runs on threads of this crate only; its fatal errors fail the one request (`service`).
//! - Generated code never traps on arithmetic, and branches on no undefined value.
//! - Nothing here reads files or the environment.
//! - Emission follows the plan: `vectorise` decides the class of each access and the stores that are written together.
//!   It predicts the representation of each value, and a debug assertion compares that with the value that is made.
//!
//! Empty where it was built without LLVM 22 (`build.rs`): programs then open an installed `libsolum_codegen.so.1`.
//!
//! Non-goals: loading objects, caching them, knowing the host's processor. Those belong to `ze-cpu`.

#![cfg(llvm)]

mod archive;
mod arguments;
mod arith;
mod atomic;
mod check;
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
mod splats;
mod stages;
mod trap;
mod values;

pub use compile::{compile, compile_module, llvm_text};
pub use explain::explain;
pub use session::{Opened, Session, open};
pub use settings::Settings;

#[cfg(doc)]
use kernel_ir::{Module, Request};
