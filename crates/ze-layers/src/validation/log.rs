//! The loader's log, as the layer uses it: results of calls, and resources of the process.
//!
//! The layer knows no file and no level: the code that stacks the layers chooses where lines go and which are wanted.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicPtr, Ordering};

use level_zero_sys::{ZE_RESULT_SUCCESS, ze_result_t};

use super::modes::{MODES, OUTCOMES};
use crate::value::{Shown, code_name, function};

/// The destination of lines, and which are wanted. `write` may be called from any thread, inside a call.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    /// Writes a line with a weight.
    pub write: fn(Weight, fmt::Arguments<'_>),
    /// Log each failed call: `ERROR (code) in function(arguments)`.
    pub failures: bool,
    /// Log each successful call: `SUCCESS (…) in …`.
    pub successes: bool,
    /// Log the process's resources after each call that the resource tracker counts.
    pub resources: bool,
}

/// The importance of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weight {
    /// The result of a call.
    Trace,
    /// The resources of the process.
    Debug,
}

static LOG: AtomicPtr<Log> = AtomicPtr::new(std::ptr::null_mut());

/// Logs to this from now on. Kept forever, because calls may use the previous one.
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
    // SAFETY: null, or kept by `set_log` forever.
    unsafe { LOG.load(Ordering::Acquire).as_ref() }
}

/// Logs the end of a call.
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
