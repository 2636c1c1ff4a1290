//! SPIR-V modules to one [`Module`].
//!
//! The rooms: `source` cuts a module into sections, `declare` reads types, constants and variables
//! (`specialise` computes constants), `lower` and `body` build functions with the help of `memory`,
//! `arith`, `groups`, `images`, `opencl` and `imports`; `link` joins the modules.
//!
//! Hostile input: every id is looked up with a check, nothing recurses by what the module says, and
//! [`crate::validate()`] goes over the result before anyone sees it.

mod arith;
mod body;
mod constants;
mod declare;
mod fault;
mod float_bits;
mod function_modes;
mod groups;
mod images;
mod imports;
mod integers;
mod intel;
mod kernels;
mod limits;
mod lines;
mod link;
mod lower;
mod memory;
mod modes;
mod opencl;
mod opencl_c;
mod own;
mod source;
mod specialise;
mod table;
mod vectors;
mod work_item;

use crate::{BuildError, Request};

pub use lines::{SourceLine, source_lines};
pub use link::Built;

/// Reads, links, specialises and validates the modules of `request`.
///
/// # Errors
/// The first rule that a module breaks, or the first thing that it needs and this compiler lacks.
pub fn build(request: &Request) -> Result<Built, BuildError> {
    link::build(request)
}

/// Functions that need no definition: where they come from, and their names, with what stands in braces for one of several.
#[must_use]
pub fn functions_by_name() -> [(&'static str, &'static [&'static str]); 2] {
    [
        (
            "OpenCL C's, under the names that clang mangles",
            opencl_c::NAMES,
        ),
        (
            "Intel's graphics compiler's, with `__builtin_IB_` before them",
            intel::NAMES,
        ),
    ]
}

/// The specialisation constants of a module: `SpecId` and size in bytes (1 for booleans), in the order
/// of the module.
///
/// # Errors
/// `words` is no SPIR-V module.
pub fn specialisation_constants(words: &[u8]) -> Result<Vec<(u32, u32)>, BuildError> {
    link::specialisation_constants(words)
}
