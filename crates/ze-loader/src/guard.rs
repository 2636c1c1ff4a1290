//! Panic and cancellation guard of hand-written exports.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cancellation::HeldCancellation;
use level_zero_sys::{ZE_RESULT_ERROR_UNKNOWN, ze_result_t};

use crate::text;

/// Runs `body` with cancellation held off, because drivers and clients' callbacks may reach a cancellation point. A
/// panic becomes ZE_RESULT_ERROR_UNKNOWN with a text naming the function.
pub(crate) fn guarded(name: &str, body: impl FnOnce() -> ze_result_t) -> ze_result_t {
    let _held = HeldCancellation::new();
    // Data behind the loader's lock grows only by complete values, so it is usable after a panic.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        text::set(format_args!(
            "{name}: internal error of the loader (a panic was caught)"
        ));
        ZE_RESULT_ERROR_UNKNOWN
    })
}
