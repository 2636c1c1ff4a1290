//! The loader's log, as far as the layer writes to it: how each call ended, and what the process uses.
//!
//! The layer knows no file and no level of it: who stacks the layers says where lines go and which are wanted.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicPtr, Ordering};

use level_zero_sys::{ZE_RESULT_SUCCESS, ze_result_t};

use super::modes::{MODES, OUTCOMES};
use crate::value::{Shown, code_name, function};

/// Where lines go, and which are wanted. `write` may be called from any thread, inside a call.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    /// Takes a line of a weight.
    pub write: fn(Weight, fmt::Arguments<'_>),
    /// A line for each call that failed: `ERROR (code) in function(arguments)`.
    pub failures: bool,
    /// The same for calls that succeeded: `SUCCESS (…) in …`.
    pub successes: bool,
    /// What the process uses after each call that the resource tracker counts.
    pub resources: bool,
}

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weight {
    /// How a call ended.
    Trace,
    /// What the process uses.
    Debug,
}

static LOG: AtomicPtr<Log> = AtomicPtr::new(std::ptr::null_mut());

/// Writes to this log from now on. Kept for ever: calls may be at the earlier one.
pub fn set_log(log: Log) {
    let told = log.failures || log.successes;
    LOG.store(Box::into_raw(Box::new(log)), Ordering::Release);
    if told {
        MODES.fetch_or(OUTCOMES, Ordering::Relaxed);
    } else {
        MODES.fetch_and(!OUTCOMES, Ordering::Relaxed);
    }
}

pub(super) fn log() -> Option<&'static Log> {
    // SAFETY: null, or what `set_log` keeps for ever.
    unsafe { LOG.load(Ordering::Acquire).as_ref() }
}

/// A call has ended.
#[cold]
pub(super) fn outcome(index: usize, arguments: &[u64], result: Option<ze_result_t>) {
    let Some(log) = log() else { return };
    let code = result.unwrap_or(ZE_RESULT_SUCCESS);
    let (wanted, word) = match code {
        ZE_RESULT_SUCCESS => (log.successes, "SUCCESS"),
        _ => (log.failures, "ERROR"),
    };
    if !wanted {
        return;
    }
    let function = function(index);
    let mut list = String::new();
    for (param, bits) in function.params.iter().zip(arguments) {
        let between = if list.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(
            list,
            "{between}{}={}",
            param.name,
            Shown { param, bits: *bits }
        );
    }
    let (code, name) = (code_name(code.0), function.name);
    (log.write)(
        Weight::Trace,
        format_args!("{word} ({code}) in {name}({list})"),
    );
}
