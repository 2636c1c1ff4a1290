//! Signatures of the kernels in a SPIR-V module: names, parameters with their types in memory, whether memory behind a
//! pointer is written, specialization constants.
//!
//! A host program uses them before any device sees the module: to make typed kernels at build time (`sycl-macros`) and
//! to check the arguments of a launch at run time (`sycl`).
//!
//! Invariants
//! - Any bytes give a [`Module`] or an [`Error`] with its place; ids, nesting and sizes of a hostile module are bounded.
//! - A pointer is [`Access::Read`] only if no instruction that can write uses it; unknown instructions count as writes.
//! - Sizes and offsets are those of OpenCL C: natural alignment, vectors of three have the size of four.
//!
//! Not here: validation (the compiler's work), and function bodies except for the uses of pointers.
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
