//! The guard around every entry point, and the state of the driver.

use crate::{ZeError, ZeResult};
use level_zero_sys::{
    ZE_RESULT_ERROR_UNINITIALIZED, ZE_RESULT_ERROR_UNKNOWN, ZE_RESULT_SUCCESS, ze_result_t,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

const _: () = assert!(cfg!(panic = "unwind"), "`guard` needs unwinding panics");

/// The result of calls in this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Gate {
    /// Before `zeInit`.
    Closed = 0,
    /// In service.
    Open = 1,
    /// A forked child: threads and locks of the parent are not here.
    Forked = 2,
}

static GATE: AtomicU32 = AtomicU32::new(Gate::Closed as u32);

/// The present state.
pub fn gate() -> Gate {
    match GATE.load(Ordering::Acquire) {
        1 => Gate::Open,
        2 => Gate::Forked,
        _ => Gate::Closed,
    }
}

/// Changes the state; one atomic store, so a fork handler may do it.
pub fn set_gate(to: Gate) {
    GATE.store(to as u32, Ordering::Release);
}

#[cold]
fn refused() -> ZeError {
    let text = match gate() {
        Gate::Forked => {
            "the process is a fork of one that had initialised the driver; call exec to use Level Zero in the child"
        }
        _ => "the driver is not initialised; call zeInit or zeInitDrivers first",
    };
    ZeError::new(ZE_RESULT_ERROR_UNINITIALIZED, text)
}

/// Runs the body of an entry point if the driver is in service; turns errors and panics into codes.
#[inline]
pub fn guard(symbol: &str, body: impl FnOnce() -> ZeResult) -> ze_result_t {
    if GATE.load(Ordering::Relaxed) != Gate::Open as u32 {
        return publish(refused(), symbol);
    }
    guard_any_state(symbol, body)
}

/// As [`guard`], in any state.
#[inline]
pub fn guard_any_state(symbol: &str, body: impl FnOnce() -> ZeResult) -> ze_result_t {
    // AssertUnwindSafe: a body that panics has published nothing; its shared state is behind locks that the panic
    // poisons and that tolerate poison.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => ZE_RESULT_SUCCESS,
        Ok(Err(error)) => publish(error, symbol),
        Err(payload) => panicked(symbol, payload),
    }
}

// Out of line: every entry point has the guard.
#[inline(never)]
fn publish(error: ZeError, symbol: &str) -> ze_result_t {
    error.publish(symbol)
}

#[cold]
fn panicked(symbol: &str, payload: Box<dyn std::any::Any + Send>) -> ze_result_t {
    let text = panic_text(&*payload);
    // Leaked on purpose: its destructor could panic a second time, outside the guard.
    std::mem::forget(payload);
    ZeError::new(ZE_RESULT_ERROR_UNKNOWN, text).publish(symbol)
}

/// For functions that do not return a code: `fallback` on errors, which set the text.
pub fn guard_value<T>(symbol: &str, fallback: T, body: impl FnOnce() -> ZeResult<T>) -> T {
    let mut value = None;
    let _ = guard(symbol, || {
        value = Some(body()?);
        Ok(())
    });
    value.unwrap_or(fallback)
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("internal panic: {what}; please report it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use level_zero_sys::{ZE_RESULT_ERROR_INVALID_SIZE, ZE_RESULT_NOT_READY};
    use std::ffi::CStr;

    #[test]
    fn guard_returns_by_outcome_and_state() {
        type Body = fn() -> ZeResult;
        let cases: [(Gate, Body, ze_result_t, &str); 6] = [
            (
                Gate::Closed,
                || Ok(()),
                ZE_RESULT_ERROR_UNINITIALIZED,
                "f: the driver is not initialised",
            ),
            (
                Gate::Forked,
                || Ok(()),
                ZE_RESULT_ERROR_UNINITIALIZED,
                "f: the process is a fork",
            ),
            (
                Gate::Open,
                || Err(ZeError::new(ZE_RESULT_ERROR_INVALID_SIZE, "size is 0")),
                ZE_RESULT_ERROR_INVALID_SIZE,
                "f: size is 0",
            ),
            (
                Gate::Open,
                || Err(ZeError::status(ZE_RESULT_NOT_READY)),
                ZE_RESULT_NOT_READY,
                "f: size is 0",
            ),
            (Gate::Open, || Ok(()), ZE_RESULT_SUCCESS, "f: size is 0"),
            (
                Gate::Open,
                || panic!("boom"),
                ZE_RESULT_ERROR_UNKNOWN,
                "f: internal panic: boom",
            ),
        ];
        for (i, (state, body, want, text)) in cases.into_iter().enumerate() {
            set_gate(state);
            assert_eq!(guard("f", body), want, "case {i}");
            // SAFETY: this thread's zero-ended buffer.
            let got = unsafe { CStr::from_ptr(crate::last_error()) }.to_string_lossy();
            assert!(got.starts_with(text), "case {i}: {got}");
        }
        set_gate(Gate::Closed);
    }
}
