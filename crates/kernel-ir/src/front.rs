//! The front end: reads, links and specialises SPIR-V modules and lowers them to one [`Module`](crate::Module).
//!
//! | step | modules |
//! |---|---|
//! | sections of a module: names, decorations, declarations, functions | `source`, `lines`; for findings `frames` |
//! | symbols of all modules are resolved | `link` |
//! | ids become types, constants and variables | `declare` with `table`, `constants`, `specialise` and `float_bits` |
//! | entry points become kernels | `kernels`, `modes`, `function_modes` |
//! | function bodies | `body` with `lower`, the builder |
//! | instructions | `arith`, `vectors`, `memory`, `groups`, `images`, `work_item` |
//! | extended instructions and imported functions | `opencl`, `opencl_c`, `integers`, `imports`, `intel`, `copy_loops` |
//! | the result is validated | [`crate::validate()`] |
//!
//! Modules may be hostile: every id is looked up with a check, recursion does not depend on the module, and sizes are
//! bounded (`limits`).

mod arith;
mod body;
mod constants;
mod copy_loops;
mod declare;
mod fault;
mod float_bits;
mod frames;
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
mod source;
mod specialise;
mod table;
mod vectors;
mod work_item;

use crate::{BuildError, Request};

pub use frames::{SourceFrame, source_frames};
pub use lines::{SourceLine, source_lines};
pub use link::Built;

/// Reads, links, specialises and validates the modules of `request`.
///
/// # Errors
/// The first rule that a module breaks, or the first feature that this compiler does not support.
pub fn build(request: &Request) -> Result<Built, BuildError> {
    link::build(request)
}

/// Built-in functions that need no definition: their origin and their names. Braces list alternatives.
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
