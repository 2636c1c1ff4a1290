//! Selects the layers: by the environment at the first initialisation, and by clients at run time.
//!
//! From the application down: tracing, validation, recorder, then the loader's own dispatch. Calls bypass a layer that
//! has nothing to do (tracing without an enabled tracer).

use std::ffi::{CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_INVALID_NULL_POINTER,
    ZE_RESULT_ERROR_UNINITIALIZED, ZE_RESULT_SUCCESS, ze_bool_t, ze_result_t, zel_core_callbacks_t,
    zel_tracer_desc_t, zel_tracer_handle_t, zel_tracer_reg_t,
};
pub use ze_layers::tracing::{Callback, number_of};
use ze_layers::{recorder, tracing, validation};

use crate::candidate::{file_of, is_on, is_privileged, own_directories};
use crate::guard::guarded;
use crate::log::{self, Level};
use crate::{dispatch, dispatch_table, init, phase, text};

/// The layers that are on.
struct Chosen {
    /// The environment has been read.
    read: bool,
    recorder: bool,
    validation: bool,
    /// Enabled by the environment; stays on.
    tracing: bool,
    /// Enabled by clients: the enables minus the disables.
    tracing_count: u32,
    /// Why initialisation fails.
    error: Option<String>,
}

static CHOSEN: Mutex<Chosen> = Mutex::new(Chosen {
    read: false,
    recorder: false,
    validation: false,
    tracing: false,
    tracing_count: 0,
    error: None,
});

/// `None` in a child forked by a process with drivers: another thread of the parent may have held the lock.
fn chosen() -> Option<MutexGuard<'static, Chosen>> {
    // A panicking holder leaves complete values.
    (!init::is_forked()).then(|| CHOSEN.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Chosen {
    fn is_tracing(&self) -> bool {
        self.tracing || self.tracing_count > 0
    }

    /// Stacks the layers that have something to do.
    fn stack(&self) {
        let mut top = None;
        if self.recorder {
            top = Some(recorder::over(dispatch::bottom()));
        }
        if self.validation && !validation::is_idle() {
            top = Some(validation::over(top.unwrap_or(dispatch::bottom())));
        }
        if self.is_tracing() && !tracing::is_idle() {
            top = Some(tracing::over(top.unwrap_or(dispatch::bottom())));
        }
        dispatch_table::set_top(top);
    }
}

/// Reads the environment once; every init function calls this first.
///
/// # Errors
/// INVALID_ARGUMENT and a text if one of Solum's variables has an invalid value.
pub fn prepare(name: &'static str) -> Result<(), ze_result_t> {
    let mut error = ZE_RESULT_SUCCESS;
    init::claim_process();
    guarded(name, || {
        let Some(mut chosen) = chosen() else {
            // The init function returns the reason.
            return ZE_RESULT_SUCCESS;
        };
        if !chosen.read {
            chosen.read = true;
            chosen.tracing = is_on("ZE_ENABLE_TRACING_LAYER");
            if is_on("ZET_ENABLE_API_TRACING_EXP") {
                log::line(
                    Level::Warn,
                    format_args!(
                        "ZET_ENABLE_API_TRACING_EXP no longer has an effect; set ZE_ENABLE_TRACING_LAYER=1 to enable tracing"
                    ),
                );
            }
            chosen.validation = is_on("ZE_ENABLE_VALIDATION_LAYER");
            let validation = if chosen.validation {
                validation::set_sink(Some(told));
                validation::set_log(validation::Log {
                    write: |weight, line| log::line(level_of(weight), line),
                    failures: log::wants(Level::Trace),
                    successes: log::wants(Level::Trace)
                        && is_on("ZEL_LOADER_LOGGING_ENABLE_SUCCESS_PRINT"),
                    resources: log::wants(Level::Debug),
                });
                validation::from_environment()
            } else {
                Ok(())
            };
            match validation.and_then(|()| recorder::from_environment()) {
                Ok(on) => chosen.recorder = on,
                Err(reason) => {
                    log::always(format_args!("{reason}"));
                    chosen.error = Some(reason);
                }
            }
            chosen.stack();
        }
        if let Some(reason) = &chosen.error {
            text::set_cause(format_args!("{name}: {reason}"));
            error = ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
        error
    });
    if error == ZE_RESULT_SUCCESS {
        Ok(())
    } else {
        Err(error)
    }
}

fn level_of(weight: validation::Weight) -> Level {
    match weight {
        validation::Weight::Trace => Level::Trace,
        _ => Level::Debug,
    }
}

/// Reports a validation finding: on stderr, in the loader's log, and errors also in the thread's last-error text.
fn told(finding: &validation::Finding) {
    finding.print();
    let level = if finding.severity == validation::Severity::Error {
        text::set(format_args!("{finding}"));
        Level::Error
    } else {
        Level::Warn
    };
    log::to_file(level, format_args!("{finding}"));
}

/// At exit: the validation layer reports objects that were never destroyed.
pub(crate) fn finish() {
    // Without the lock: an initialising thread may hold it, in a fork one of the parent, and in a signal handler this
    // one. A disabled validation layer has nothing to report.
    validation::finish();
}

/// Whether the validation layer is on.
pub(crate) fn is_validating() -> bool {
    chosen().is_some_and(|chosen| chosen.validation)
}

/// `zelEnableTracingLayer`: counts; calls go through the layer once a tracer is enabled too.
#[must_use]
pub fn enable_tracing() -> ze_result_t {
    guarded("zelEnableTracingLayer", || {
        let Some(mut chosen) = chosen() else {
            return crate::refusals::not_ready(&"zelEnableTracingLayer");
        };
        chosen.tracing_count = chosen.tracing_count.saturating_add(1);
        chosen.stack();
        ZE_RESULT_SUCCESS
    })
}

/// `zelDisableTracingLayer`: undoes one enable; without one it does nothing. The environment's stays.
#[must_use]
pub fn disable_tracing() -> ze_result_t {
    guarded("zelDisableTracingLayer", || {
        let Some(mut chosen) = chosen() else {
            return crate::refusals::not_ready(&"zelDisableTracingLayer");
        };
        chosen.tracing_count = chosen.tracing_count.saturating_sub(1);
        chosen.stack();
        ZE_RESULT_SUCCESS
    })
}

/// `zelGetTracingLayerState`: whether it is enabled, by the environment or by clients.
///
/// # Safety
/// `enabled` is null or writable.
pub unsafe fn tracing_state(enabled: *mut bool) -> ze_result_t {
    if enabled.is_null() {
        text::set(format_args!(
            "zelGetTracingLayerState: enabled must not be null"
        ));
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    // SAFETY: non-null, and writable by the caller's contract.
    unsafe { enabled.write(chosen().is_some_and(|chosen| chosen.is_tracing())) };
    ZE_RESULT_SUCCESS
}

/// The common part of all tracer functions: an error before initialisation; later the layer's result, with a text for
/// errors.
fn tracer(name: &'static str, body: impl FnOnce() -> ze_result_t) -> ze_result_t {
    guarded(name, || {
        if !phase::is_ready() {
            text::set_consequence(format_args!(
                "{name}: called before zeInit or zeInitDrivers has succeeded, or after teardown"
            ));
            return ZE_RESULT_ERROR_UNINITIALIZED;
        }
        let result = body();
        if result != ZE_RESULT_SUCCESS {
            text::set(format_args!(
                "{name}: the tracing layer returned {result:?}"
            ));
        }
        result
    })
}

/// `zelTracerCreate`.
///
/// # Safety
/// As the tracing layer's `create`.
pub unsafe fn tracer_create(
    desc: *const zel_tracer_desc_t,
    tracer_out: *mut zel_tracer_handle_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    tracer("zelTracerCreate", || unsafe {
        tracing::create(desc, tracer_out)
    })
}

/// `zelTracerDestroy`.
#[must_use]
pub fn tracer_destroy(handle: zel_tracer_handle_t) -> ze_result_t {
    tracer("zelTracerDestroy", || tracing::destroy(handle))
}

/// `zelTracerSetPrologues`.
///
/// # Safety
/// As the tracing layer's `set_prologues`.
pub unsafe fn tracer_set_prologues(
    handle: zel_tracer_handle_t,
    callbacks: *mut zel_core_callbacks_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    tracer("zelTracerSetPrologues", || unsafe {
        tracing::set_prologues(handle, callbacks)
    })
}

/// `zelTracerSetEpilogues`.
///
/// # Safety
/// As the tracing layer's `set_epilogues`.
pub unsafe fn tracer_set_epilogues(
    handle: zel_tracer_handle_t,
    callbacks: *mut zel_core_callbacks_t,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    tracer("zelTracerSetEpilogues", || unsafe {
        tracing::set_epilogues(handle, callbacks)
    })
}

/// `zelTracerSetEnabled`: calls go through the layer from the first enabled tracer on.
#[must_use]
pub fn tracer_set_enabled(handle: zel_tracer_handle_t, enable: ze_bool_t) -> ze_result_t {
    tracer("zelTracerSetEnabled", || {
        let result = tracing::set_enabled(handle, enable);
        if let Some(chosen) = chosen() {
            chosen.stack();
        }
        result
    })
}

/// `zelTracer…RegisterCallback`.
///
/// # Safety
/// As the tracing layer's `register`.
pub unsafe fn tracer_register(
    name: &'static str,
    number: usize,
    handle: zel_tracer_handle_t,
    kind: zel_tracer_reg_t,
    callback: Callback,
) -> ze_result_t {
    // SAFETY: the caller has the same contract.
    tracer(name, || unsafe {
        tracing::register(handle, number, kind, callback)
    })
}

/// `zelTracerResetAllCallbacks`.
#[must_use]
pub fn tracer_reset_all(handle: zel_tracer_handle_t) -> ze_result_t {
    tracer("zelTracerResetAllCallbacks", || tracing::reset_all(handle))
}

/// `zeLoaderGetTracingHandle`: the dynamic linker's handle of this library, in which static loaders find `zelTracer…`.
/// Null if the linker does not know the library.
#[must_use]
pub fn library_handle() -> *mut c_void {
    let Some(file) = file_of(library_handle as *const c_void)
        .and_then(|file| CString::new(file.as_os_str().as_bytes()).ok())
    else {
        return std::ptr::null_mut();
    };
    // SAFETY: finds a library that is mapped; the count is given back, as the handle only names it.
    unsafe {
        let handle = libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if !handle.is_null() {
            libc::dlclose(handle);
        }
        handle
    }
}

/// After a successful initialisation: attaches `libsolum_trace.so.1` beside the loader, once, if `SOLUM_TRACE` is set.
pub fn attach_trace() {
    // Not a `Once`, because the library calls back into the loader.
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.load(Ordering::Relaxed) || DONE.swap(true, Ordering::AcqRel) {
        return;
    }
    guarded("SOLUM_TRACE", || {
        if std::env::var_os("SOLUM_TRACE").is_none_or(|value| value.is_empty()) || is_privileged() {
            return ZE_RESULT_SUCCESS;
        }
        let file = own_directories()
            .into_iter()
            .map(|directory| directory.join("libsolum_trace.so.1"))
            .find(|file| file.exists());
        match file {
            None => log::always(format_args!(
                "SOLUM_TRACE is set, but libsolum_trace.so.1 is not beside the loader: nothing is recorded"
            )),
            Some(file) => {
                if let Err(reason) = attach(&file) {
                    log::always(format_args!("SOLUM_TRACE: {}: {reason}", file.display()));
                }
            }
        }
        ZE_RESULT_SUCCESS
    });
}

fn attach(file: &std::path::Path) -> Result<(), String> {
    let own = file_of(attach as *const c_void).ok_or("the loader cannot find its own file")?;
    let own = CString::new(own.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    let name = CString::new(file.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: our library, installed beside this one; it stays loaded.
    let attach = unsafe {
        let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if handle.is_null() {
            return Err("the library cannot be opened".into());
        }
        libc::dlsym(handle, c"solum_trace_attach".as_ptr())
    };
    if attach.is_null() {
        return Err("solum_trace_attach is missing".into());
    }
    type Attach = unsafe extern "C" fn(*const c_char) -> i32;
    // SAFETY: the export has this signature.
    let attach = unsafe { std::mem::transmute::<*mut c_void, Attach>(attach) };
    // SAFETY: a C string.
    match unsafe { attach(own.as_ptr()) } {
        0 => Ok(()),
        _ => Err("the loader's tracing layer cannot be used".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_ends_while_a_thread_initialises() {
        // Simulates that thread holding the lock: a thread that waited for it would deadlock.
        let _initialises = chosen();
        finish();
    }
}
