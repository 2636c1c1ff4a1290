//! The edge of hand-written entries: no panic crosses it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cancellation::HeldCancellation;
use level_zero_sys::{ZE_RESULT_ERROR_UNKNOWN, ze_result_t};

use crate::text;

/// Runs `body`, in which drivers and clients' callbacks may reach a cancellation point; a panic becomes ZE_RESULT_ERROR_UNKNOWN with a text naming the entry.
pub(crate) fn guarded(name: &str, body: impl FnOnce() -> ze_result_t) -> ze_result_t {
    let _held = HeldCancellation::new();
    // The data behind the loader's lock only grows by whole values, so a panic leaves it usable.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        text::set(format_args!(
            "{name}: internal error of the loader (a panic was caught)"
        ));
        ZE_RESULT_ERROR_UNKNOWN
    })
}
