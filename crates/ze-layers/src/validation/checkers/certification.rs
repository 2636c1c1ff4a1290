//! Functions newer than the version that a program is certified for.

use std::sync::atomic::{AtomicU32, Ordering};

use level_zero_sys::{
    ZE_API_VERSION_CURRENT, ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ZE_RESULT_SUCCESS,
    ze_api_version_t, ze_result_t,
};
use ze_spec::Version;

use crate::validation::finding::{Finding, Severity};
use crate::validation::modes::Settings;
use crate::value::function;

/// 0 if the settings have none.
static CERTIFIED: AtomicU32 = AtomicU32::new(0);
/// The driver's version; 0 while it is not known.
static DRIVERS: AtomicU32 = AtomicU32::new(0);

pub(super) fn configure(settings: &Settings) {
    CERTIFIED.store(
        settings.certified.map_or(0, Version::to_bits),
        Ordering::Relaxed,
    );
    DRIVERS.store(0, Ordering::Relaxed);
}

fn allowed() -> u32 {
    let choices = [
        CERTIFIED.load(Ordering::Relaxed),
        DRIVERS.load(Ordering::Relaxed),
    ];
    choices
        .into_iter()
        .find(|version| *version != 0)
        .unwrap_or(ZE_API_VERSION_CURRENT.0)
}

pub(super) fn before(index: usize) -> ze_result_t {
    let since = function(index).since;
    let allowed = allowed();
    if since.to_bits() <= allowed {
        return ZE_RESULT_SUCCESS;
    }
    let rule = format!(
        "the function was introduced in version {since}, but the program is certified for {}.{}",
        allowed >> 16,
        allowed & 0xffff
    );
    Finding::new(Severity::Error, "certification", rule)
        .of(index)
        .code(ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
        .report()
}

/// Records the driver's version.
///
/// # Safety
/// `arguments` are those of a call of this function that succeeded.
pub(super) unsafe fn after(index: usize, arguments: &[u64]) {
    if function(index).name != "zeDriverGetApiVersion" {
        return;
    }
    let Some(address) = arguments
        .get(1)
        .and_then(|bits| usize::try_from(*bits).ok())
    else {
        return;
    };
    // SAFETY: by the caller's contract the call wrote there, unless it is null.
    let version =
        unsafe { std::ptr::with_exposed_provenance::<ze_api_version_t>(address).as_ref() };
    if let Some(version) = version {
        DRIVERS.store(version.0, Ordering::Relaxed);
    }
}
