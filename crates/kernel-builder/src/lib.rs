//! Stages kernels written in Rust into SPIR-V for Level Zero and OpenCL.
//!
//! `#[kernel]` of crate `sycl` expands a function to itself and to calls of a [`Stage`], one for each operation of its
//! body. Staged once, the calls make a SPIR-V module with that one kernel:
//!
//! ```
//! use kernel_builder::{Binary, Kernel, Stage, item, spirv};
//!
//! // fn twice(y: &mut [u32]) { let i = item::<1>().id(); y[i] = y[i] + y[i]; }
//! #[derive(Clone, Copy)]
//! struct Twice;
//! impl Kernel for Twice {
//!     const NAME: &'static str = "twice";
//!     const FILE: &'static str = file!();
//!     fn stage(s: &Stage) {
//!         let y = s.parameter::<&mut [u32]>("y");
//!         let this = item::__stage::<1>(s);
//!         let i = s.resolve(this, |item| item.__stage_id())(s, this.operand());
//!         let old = s.read(s.index(y, i, |y, i| y[i]));
//!         let sum = s.binary(Binary::Add, old, old, |a, b| a + b);
//!         s.assign(s.index(y, i, |y, i| y[i]), sum);
//!     }
//! }
//! let words = spirv::<Twice>()?;
//! assert_eq!(words[0], 0x0723_0203);
//! # Ok::<(), kernel_builder::Refusal>(())
//! ```
//!
//! # Modules, each above the ones that it uses
//! | module | content |
//! |---|---|
//! | `types` | types, with address spaces |
//! | `module` | ids, types, constants and sections of a SPIR-V module |
//! | `facts`, `relations` | what is known of the order of integers |
//! | `rotation` | loops that test their condition at the end |
//! | `threading` | jumps of conditions with `&&` and `\|\|` |
//! | `builder` | values, memory, bounds and blocks of a kernel |
//! | `format`, `fault_sites` | formats of values; the places of faults and their texts |
//! | `faults`, `checks` | reports in a kernel's reporting form; the operators that may fault there |
//! | `guards` | what may be outside of its slice: reads give zero, writes are left out |
//! | `members` | structures and arrays in memory, in parts |
//! | `control`, `arithmetic`, `methods`, `integers`, `ordering`, `half_precision`, `work_item`, `collective`, `group_values`, `lanes`, `images` | operations, in terms of the builder |
//! | `kernel_type` | the Rust types that kernels use |
//! | `variants`, `parts` | enums and patterns; parts of slices |
//! | `stage` | the typed face, which the macros call |
//! | `iteration` | loops over elements and parts of slices |
//! | `operators`, `options` | operators of structures; methods of `Option` and slices |
//! | `vector`, `vector_storage`, `vector_functions`, `swizzles` | vectors such as `f32x4`, on the host and staged |
//! | `operation` | the operations by which a group combines values |
//! | `host`, `host_groups` | the work-item that a thread of the host runs, and how it meets others |
//! | `print` | `print!`, staged |
//! | `functions`, `groups`, `atomic`, `math` | functions that only kernels have |
//!
//! Invariants
//! - A module that [`spirv`] returns is valid for any device with capability Kernel and 64-bit addresses.
//! - Memory is touched only after its index was checked, except in [`spirv_unchecked`].
//! - What cannot be staged is refused with the line, the reason and the way out.
//! - Code that is never reached leaves no instruction.
//!
//! Not here: devices, launches, the parsing of Rust.
#![forbid(unsafe_code)]

mod arithmetic;
pub mod atomic;
mod builder;
mod checks;
mod collective;
mod control;
mod facts;
mod fault_sites;
mod faults;
mod format;
mod functions;
mod group_values;
mod groups;
mod guards;
mod half_precision;
mod host;
mod host_groups;
mod images;
mod integers;
mod iteration;
mod kernel_type;
mod lanes;
pub mod math;
mod members;
mod methods;
mod module;
mod operation;
mod operators;
mod options;
mod ordering;
mod parts;
mod print;
mod relations;
mod rotation;
mod stage;
mod swizzles;
mod threading;
mod types;
mod variants;
mod vector;
mod vector_functions;
mod vector_storage;
mod work_item;

pub use arithmetic::{Binary, Unary};
pub use builder::{Builder, Operand, Refusal};
pub use fault_sites::{FaultRecord, FaultSite, Faults};
pub use format::Format;
pub use functions::{Item, Local, Rank, barrier, item, local};
pub use groups::{Group, GroupNumber, GroupValue, SubGroup, group, sub_group};
pub use half::f16;
pub use host::for_each;
pub use host_groups::{GroupKernel, HostGroups, SharedSlice, given};
pub use iteration::{Cut, Sequence};
pub use kernel_type::{Constant, KernelType};
pub use methods::METHODS;
pub use operation::{BitAnd, BitOr, BitXor, Combine, Maximum, Minimum, Multiplies, Plus};
pub use operators::{Call as OperatorCall, is_staging, operator};
pub use options::{OptionMethods, ReferenceOptionMethods, SliceMethods, SliceMutMethods};
pub use parts::{Coerce, Part};
pub use stage::{Call, Else, For, If, Loop, Parts, Stage, Staged};
pub use types::{Described, Space, Struct, Type, Variant};
pub use vector::{Vector, is_vector_name, vectors};
pub use vector_functions::CastFrom;
pub use vector_storage::{Element, Lanes, Storage};
pub use work_item::Query;

/// A kernel that `#[kernel]` has expanded.
pub trait Kernel: Copy + 'static {
    /// The name in the module.
    const NAME: &'static str;
    /// The source file.
    const FILE: &'static str;
    /// What launches do where Rust panics; files for other programs never report.
    const FAULTS: Faults = Faults::Mask;
    /// Stages parameters and body.
    fn stage(stage: &Stage);
}

/// Stages a kernel and returns its SPIR-V.
///
/// # Errors
/// The construct that kernels do not have, with its line.
pub fn spirv<K: Kernel>() -> Result<Vec<u32>, Refusal> {
    let stage = Stage::default();
    K::stage(&stage);
    stage.finish(K::NAME, K::FILE).map(|staged| staged.0)
}

/// Stages a kernel in the form that reports faults, which has a pointer to a [`FaultRecord`] as its last argument.
/// Returns its SPIR-V and the places of its faults.
///
/// # Errors
/// As [`spirv`].
pub fn spirv_reporting<K: Kernel>() -> Result<(Vec<u32>, Vec<FaultSite>), Refusal> {
    let stage = Stage::reporting(K::FILE);
    K::stage(&stage);
    stage.finish(K::NAME, K::FILE)
}

/// Stages a kernel without bounds checks of slices and arrays, and returns its SPIR-V: for measuring what they cost.
///
/// A launch of it is not memory-safe: an index outside its slice touches other memory.
///
/// # Errors
/// As [`spirv`].
pub fn spirv_unchecked<K: Kernel>() -> Result<Vec<u32>, Refusal> {
    let stage = Stage::unchecked();
    K::stage(&stage);
    stage.finish(K::NAME, K::FILE).map(|staged| staged.0)
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line.0, self.text)
    }
}

impl std::error::Error for Refusal {}
