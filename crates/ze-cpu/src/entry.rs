//! The way in for a Rust program that links the driver instead of loading it.

use level_zero::Entry;

/// This driver for [`level_zero::Loader::from_entry`]: neither a loader nor a shared library of ours is needed.
///
/// The driver is one for the process, initialised by the first `Loader` made of it; its threads never end. Kernels are
/// compiled by the code generator beside the program, or by the one inside it (feature `embedded`), or interpreted
/// (`SOLUM_COMPILER=interpreter`). Callable from any thread, any number of times.
#[must_use]
pub fn entry() -> Entry {
    ze_driver::install(crate::platform);
    // SAFETY: the driver's functions carry the specification's signatures and are static.
    unsafe { Entry::new(ze_driver::getters::lookup) }
}
