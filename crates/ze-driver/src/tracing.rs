//! Callbacks around core functions: the hook through which a product brings them along.
//!
//! Another crate runs the callbacks (`ze-layers`): it makes a second set of core tables, whose functions run the callbacks
//! of enabled tracers around this driver's own. [`crate::traced_tables`] chooses between the two sets.
//!
//! Tracers do not see tools and system management functions; tools/tracing.yml.

use crate::check::lock;
use level_zero_sys::*;
use std::sync::{Mutex, OnceLock};

/// The functions that run callbacks. Their parameters and results are those of the functions with these names in
/// `zel_tracing_api.h`. Any thread may call them.
#[derive(Clone, Copy, Debug)]
pub struct Tracing {
    /// Creates tables whose functions run callbacks around the given ones. Called once.
    pub over: fn(ze_dditable_t) -> &'static ze_dditable_t,
    /// A tracer, disabled and without callbacks.
    pub create: unsafe fn(*const zel_tracer_desc_t, *mut zel_tracer_handle_t) -> ze_result_t,
    /// Destroys a tracer after its running callbacks.
    pub destroy: fn(zel_tracer_handle_t) -> ze_result_t,
    /// Sets the callbacks before calls.
    pub set_prologues: unsafe fn(zel_tracer_handle_t, *const zel_core_callbacks_t) -> ze_result_t,
    /// Sets the callbacks after calls.
    pub set_epilogues: unsafe fn(zel_tracer_handle_t, *const zel_core_callbacks_t) -> ze_result_t,
    /// Enables or disables.
    pub set_enabled: fn(zel_tracer_handle_t, ze_bool_t) -> ze_result_t,
    /// Whether no tracer is enabled.
    pub is_idle: fn() -> bool,
}

/// Tracing, and its tables.
pub(crate) struct Installed {
    pub(crate) tracing: Tracing,
    /// The core tables with callbacks.
    pub(crate) traced: &'static ze_dditable_t,
    /// Points handles to those tables, or to the driver's own without any.
    pub(crate) redirect: fn(Option<&'static ze_dditable_t>),
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// Installs what `make` returns. The first call counts.
pub(crate) fn install_with(make: impl FnOnce() -> Installed) {
    INSTALLED.get_or_init(make);
}

/// Tracing and its tables, if a product has installed them.
pub(crate) fn installed() -> Option<&'static Installed> {
    INSTALLED.get()
}

/// Points handles to the tables that calls need now: call it after any tracer was enabled or disabled.
pub(crate) fn follow() {
    // The last caller sees all changes, so the tables that it chooses stay.
    static TURN: Mutex<()> = Mutex::new(());
    let Some(installed) = installed() else {
        return;
    };
    let _turn = lock(&TURN);
    (installed.redirect)((!(installed.tracing.is_idle)()).then_some(installed.traced));
}
