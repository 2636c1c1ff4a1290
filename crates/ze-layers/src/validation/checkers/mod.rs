//! Checkers that need more than one call's arguments.

mod certification;
mod events;
mod leaks;
mod performance;
mod resources;

use level_zero_sys::{ZE_RESULT_SUCCESS, ze_result_t};

use super::modes::{CERTIFICATION, EVENTS, LEAKS, PERFORMANCE, RESOURCES, Settings};

pub(super) fn configure(settings: &Settings) {
    certification::configure(settings);
    resources::configure(settings);
}

/// Runs before the call; a code other than success keeps it from the driver.
///
/// # Safety
/// `arguments` are those of a call of this function that is about to be made.
pub(super) unsafe fn before(modes: u32, index: usize, arguments: &[u64]) -> ze_result_t {
    if modes & CERTIFICATION != 0 {
        let code = certification::before(index);
        if code != ZE_RESULT_SUCCESS {
            return code;
        }
    }
    if modes & PERFORMANCE != 0 {
        // SAFETY: guaranteed by the caller.
        unsafe { performance::before(index, arguments) };
    }
    if modes & EVENTS != 0 {
        // SAFETY: guaranteed by the caller.
        unsafe { events::before(index, arguments) };
    }
    ZE_RESULT_SUCCESS
}

/// Runs after the call.
///
/// # Safety
/// `arguments` are those of a call of this function that has ended with `result`.
pub(super) unsafe fn after(
    modes: u32,
    index: usize,
    arguments: &[u64],
    result: Option<ze_result_t>,
) {
    let succeeded = result.is_none_or(|code| code == ZE_RESULT_SUCCESS);
    if modes & LEAKS != 0 && succeeded {
        leaks::after(index);
    }
    if modes & CERTIFICATION != 0 && succeeded {
        // SAFETY: guaranteed by the caller.
        unsafe { certification::after(index, arguments) };
    }
    if modes & EVENTS != 0 && succeeded {
        // SAFETY: guaranteed by the caller.
        unsafe { events::after(index, arguments) };
    }
    if modes & RESOURCES != 0 {
        // SAFETY: as above.
        unsafe { resources::after(index, arguments, succeeded) };
    }
}

pub(super) fn finish(modes: u32) {
    if modes & LEAKS != 0 {
        leaks::finish(modes);
    }
    if modes & RESOURCES != 0 {
        resources::finish();
    }
}
