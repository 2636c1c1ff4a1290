//! The entry for a Rust program that links the driver instead of loading it.

use level_zero::Entry;
use level_zero_sys::ze_dditable_t;
use std::sync::OnceLock;
use ze_driver::Tracing;
use ze_layers::{Tables, tracing};

/// This driver for [`level_zero::Loader::from_entry`]: neither a loader nor a shared library of Solum is needed.
///
/// The process has one driver, which the first `Loader` initialises; its threads never end. Kernels are compiled by the
/// code generator beside the program, or by the one inside it (feature `embedded`), or interpreted
/// (`SOLUM_COMPILER=interpreter`). May be called from any thread, any number of times.
#[must_use]
pub fn entry() -> Entry {
    install();
    // SAFETY: the driver's functions carry the specification's signatures and are static.
    unsafe { Entry::new(ze_driver::getters::lookup) }
}

/// Registers this platform, and the layer that traces calls, with the driver of this process. Callable any number of times
/// before the first getter is called.
pub fn install() {
    ze_driver::install(crate::platform);
    ze_driver::install_tracing(Tracing {
        over,
        create: tracing::create,
        destroy: tracing::destroy,
        set_prologues: tracing::set_prologues,
        set_epilogues: tracing::set_epilogues,
        set_enabled: tracing::set_enabled,
        is_idle: tracing::is_idle,
    });
}

fn over(core: ze_dditable_t) -> &'static ze_dditable_t {
    static BELOW: OnceLock<Tables> = OnceLock::new();
    let below = BELOW.get_or_init(|| Tables {
        ze: core,
        ..Default::default()
    });
    &tracing::over(below).ze
}
