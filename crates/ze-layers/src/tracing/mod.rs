//! API tracing: prologues and epilogues around calls, for any number of tracers.
//!
//! For the loader: put [`over`]`(base)` above everything else while tracing is on, and forward the `zelTracer*` exports:
//!
//! | export | here |
//! |---|---|
//! | `zelTracerCreate(desc, phTracer)` | [`create`] |
//! | `zelTracerDestroy(hTracer)` | [`destroy`] |
//! | `zelTracerSetPrologues(hTracer, pCoreCbs)` | [`set_prologues`] |
//! | `zelTracerSetEpilogues(hTracer, pCoreCbs)` | [`set_epilogues`] |
//! | `zelTracerSetEnabled(hTracer, enable)` | [`set_enabled`] |
//! | `zelTracer<Function>RegisterCallback(hTracer, kind, pfn)` | [`register`] with [`number_of`]`("zelTracer…")`, a constant |
//! | `zelTracerResetAllCallbacks(hTracer)` | [`reset_all`] |
//!
//! These functions work whether or not the table is in use. The loader returns UNINITIALIZED before its own
//! initialisation, and counts `zelEnableTracingLayer`. While no tracer is enabled ([`is_idle`]) the table of [`over`]
//! costs two loads and a jump per call.
//!
//! A call uses the tracers that were enabled when it began, in the order of enabling: it runs all prologues, the
//! function with the arguments that the prologues left, and all epilogues in the same order. A tracer that is disabled
//! meanwhile still gets its epilogue; one that is enabled meanwhile gets none. Each tracer has its own cell per call,
//! null before its prologue. Calls that a thread makes during its own traced call (from a callback, or from below) are
//! not traced.
//!
//! Result codes: an unknown tracer → INVALID_ARGUMENT, null → INVALID_NULL_HANDLE, null pointers →
//! INVALID_NULL_POINTER; changing callbacks of an enabled tracer → INVALID_ARGUMENT; destroying an enabled one →
//! HANDLE_OBJECT_IN_USE; enabling or disabling a disabled one whose callbacks still run → HANDLE_OBJECT_IN_USE.
//! [`destroy`] waits until no call uses the tracer; on a thread that would wait for itself it returns
//! HANDLE_OBJECT_IN_USE.
//!
//! `zetTracerExp*` belongs to the driver and is forwarded like any function. Our driver implements it with this module
//! over its own core functions, in its own library, where nothing else calls [`over`].

mod callback;
mod calls;
mod held;
mod tracers;

use level_zero_sys::*;

use crate::generated::{CALLBACKS, TRACED};

pub use callback::Callback;
pub use calls::over;

/// The callback number of a registration function, by its name (`zelTracerInitRegisterCallback`). For constants.
#[must_use]
pub const fn number_of(registration: &str) -> Option<usize> {
    let name = registration.as_bytes();
    let (before, after) = (b"zelTracer", b"RegisterCallback");
    if name.len() <= before.len() + after.len() {
        return None;
    }
    let mut number = 0;
    while number < CALLBACKS {
        // `zeInit` and `zerGetDefaultContext` are registered without their prefix of two or three letters.
        let traced = TRACED[number].as_bytes();
        let prefix = if traced[2].is_ascii_uppercase() { 2 } else { 3 };
        if matches(name, 0, before, 0, before.len())
            && name.len() == before.len() + (traced.len() - prefix) + after.len()
            && matches(name, before.len(), traced, prefix, traced.len() - prefix)
            && matches(name, name.len() - after.len(), after, 0, after.len())
        {
            return Some(number);
        }
        number += 1;
    }
    None
}

/// Compares `length` bytes from the given positions; both have as many.
const fn matches(a: &[u8], from_a: usize, b: &[u8], from_b: usize, length: usize) -> bool {
    let mut i = 0;
    while i < length {
        if a[from_a + i] != b[from_b + i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Whether no tracer is enabled.
#[must_use]
pub fn is_idle() -> bool {
    tracers::is_idle()
}

/// Creates a tracer, disabled and without callbacks.
///
/// # Safety
/// `desc` is null or points to a descriptor, `tracer` is null or writable.
pub unsafe fn create(
    desc: *const zel_tracer_desc_t,
    tracer: *mut zel_tracer_handle_t,
) -> ze_result_t {
    // SAFETY: guaranteed by the caller.
    let (Some(desc), false) = (unsafe { desc.as_ref() }, tracer.is_null()) else {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    };
    let handle = tracers::create(desc.pUserData);
    // SAFETY: guaranteed by the caller.
    unsafe { tracer.write(handle) };
    ZE_RESULT_SUCCESS
}

/// Destroys a disabled tracer, after the last call that uses it.
#[must_use]
pub fn destroy(tracer: zel_tracer_handle_t) -> ze_result_t {
    tracers::destroy(tracer)
}

/// Replaces the prologues of the specification's first version; those registered for later functions stay.
///
/// # Safety
/// `callbacks` is null or points to the callbacks, each null or callable with its signature until the tracer is
/// destroyed.
pub unsafe fn set_prologues(
    tracer: zel_tracer_handle_t,
    callbacks: *const zel_core_callbacks_t,
) -> ze_result_t {
    // SAFETY: guaranteed by the caller.
    unsafe { set(tracer, tracers::Side::Prologue, callbacks) }
}

/// Replaces the epilogues, as [`set_prologues`].
///
/// # Safety
/// As [`set_prologues`].
pub unsafe fn set_epilogues(
    tracer: zel_tracer_handle_t,
    callbacks: *const zel_core_callbacks_t,
) -> ze_result_t {
    // SAFETY: guaranteed by the caller.
    unsafe { set(tracer, tracers::Side::Epilogue, callbacks) }
}

unsafe fn set(
    tracer: zel_tracer_handle_t,
    side: tracers::Side,
    callbacks: *const zel_core_callbacks_t,
) -> ze_result_t {
    if tracer.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    // SAFETY: guaranteed by the caller.
    let Some(callbacks) = (unsafe { callbacks.as_ref() }) else {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    };
    tracers::change(tracer, |of| {
        calls::each_core(callbacks, |number, callback| of.set(side, number, callback));
    })
}

/// Enables (any value except zero) or disables a tracer; repeating it is not an error.
#[must_use]
pub fn set_enabled(tracer: zel_tracer_handle_t, enable: ze_bool_t) -> ze_result_t {
    tracers::set_enabled(tracer, enable != 0)
}

/// Sets a callback, or clears it with null: `number` is that of [`number_of`]; any `kind` except the prologue's is the
/// epilogue's.
///
/// # Safety
/// `callback` is null or callable with the signature of that function's callback until the tracer is destroyed.
pub unsafe fn register(
    tracer: zel_tracer_handle_t,
    number: usize,
    kind: zel_tracer_reg_t,
    callback: Callback,
) -> ze_result_t {
    if number >= CALLBACKS {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    let side = if kind == ZEL_REGISTER_PROLOGUE {
        tracers::Side::Prologue
    } else {
        tracers::Side::Epilogue
    };
    tracers::change(tracer, |of| of.set(side, number, callback))
}

/// Clears all callbacks.
#[must_use]
pub fn reset_all(tracer: zel_tracer_handle_t) -> ze_result_t {
    tracers::change(tracer, tracers::Callbacks::clear)
}

#[cfg(test)]
mod tests;
