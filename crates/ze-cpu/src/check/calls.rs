//! The calls of instrumented kernels: see [`kernel_ir::abi::check`].

use crate::fault::{disarmed, stop};
use kernel_checker::{Addresses, Lanes, Run};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body` with the run that `check` is the address of; the default without one, or after a panic. Leaves the kernel if its
/// launch was attempted and that has failed.
///
/// # Safety
/// `check` is 0 or the address of a live [`Run`] of this thread, whose kernel makes this call in a guarded call.
unsafe fn with<R: Default + Copy>(check: u64, body: impl FnOnce(&Run<'_>) -> R) -> R {
    if check == 0 {
        return R::default();
    }
    // SAFETY: the caller's promise.
    let run = unsafe { &*(check as *const Run<'_>) };
    // Locks and allocations follow: no fault may leave from here.
    let result = disarmed(|| catch_unwind(AssertUnwindSafe(|| body(run))).unwrap_or_default());
    if run.has_failed() {
        // SAFETY: the caller's promise; nothing is left to drop here.
        unsafe { stop() }
    }
    result
}

/// The values of lanes at `at`, which may be null.
///
/// # Safety
/// `at` is 0 or the address of 64 bits for each lane up to the highest in `active`; they outlive the result.
unsafe fn of_lanes<'a>(at: u64, active: u64) -> Option<&'a [u64]> {
    let count = (u64::BITS - active.leading_zeros()) as usize;
    // SAFETY: the caller's promise; vectors on the stack are aligned.
    (at != 0).then(|| unsafe { std::slice::from_raw_parts(at as *const u64, count) })
}

/// One work-item.
///
/// # Safety
/// `check` is from the launch record.
pub(crate) unsafe extern "C" fn solum_check(
    check: u64,
    who: u64,
    site: u64,
    what: u64,
    a: u64,
    b: u64,
) -> u64 {
    // SAFETY: the record's field is the run's address.
    unsafe {
        with(check, |run| {
            super::uninitialised::one(run, [who, site, what, a, b])
                .unwrap_or_else(|| run.one(who, site, what, a, b))
        })
    }
}

/// Lanes at regular distances.
///
/// # Safety
/// `check` is from the launch record; `values` as in [`of_lanes`].
pub(crate) unsafe extern "C" fn solum_check_row(
    check: u64,
    who: u64,
    site: u64,
    what: u64,
    first: u64,
    step: u64,
    active: u64,
    values: u64,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let lanes = Lanes {
            active,
            addresses: Addresses::Row {
                first,
                step: step.cast_signed(),
            },
            values: of_lanes(values, active),
        };
        with(check, |run| run.lanes(who, site, what, &lanes));
    }
}

/// Lanes at any addresses.
///
/// # Safety
/// `check` is from the launch record; `addresses` and `values` as in [`of_lanes`].
pub(crate) unsafe extern "C" fn solum_check_lanes(
    check: u64,
    who: u64,
    site: u64,
    what: u64,
    addresses: u64,
    active: u64,
    values: u64,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let lanes = Lanes {
            active,
            addresses: Addresses::Each(of_lanes(addresses, active).unwrap_or_default()),
            values: of_lanes(values, active),
        };
        with(check, |run| run.lanes(who, site, what, &lanes));
    }
}
