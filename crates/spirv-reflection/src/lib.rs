//! What the kernels of a SPIR-V module take: names, parameters with their types in memory, what a kernel does to the memory
//! behind a pointer, specialization constants.
//!
//! Used where a host program meets a module before any device does: to make typed kernels at build time (`sycl-macros`)
//! and to check a launch's arguments at run time (`sycl`).
//!
//! Invariants
//! - Any words give an answer or an [`Error`] with its place; ids, nesting and sizes of a hostile module are bounded.
//! - [`Access::Read`] is said only when no instruction that can write sees the pointer; what is not understood writes.
//! - Sizes and offsets are those of OpenCL C: natural alignment, three-component vectors take the room of four.
//!
//! Non-goals: no validation (that is the compiler's), no bodies beyond where pointers go.
#![forbid(unsafe_code)]

mod access;
mod module;
mod types;

pub use access::Access;
pub use module::{
    Addressing, Error, ImageAccess, ImageDimension, Kernel, Module, Parameter, ParameterKind,
    SpecializationConstant,
};
pub use types::{AddressSpace, Member, Struct, Type};
