//! A layer that reports mistakes: wrong arguments, dead handles, events that no command signals, leaks.
//!
//! For the loader: put [`over`]`(next)` below tracing and above everything else if `ZE_ENABLE_VALIDATION_LAYER` is set,
//! and call [`from_environment`] once before; at the end of the process (teardown or exit) call [`finish`].
//!
//! | variable | what it turns on |
//! |---|---|
//! | `ZE_ENABLE_PARAMETER_VALIDATION` | null handles and pointers, enumerators, bits, sizes, structure types, chains |
//! | `ZE_ENABLE_HANDLE_LIFETIME` | use after destroy, wrong type, wrong queue or context, objects destroyed before those made from them, lists open or closed |
//! | `ZEL_ENABLE_EVENTS_CHECKER` | events that wait for themselves, or that no command signals, before submission |
//! | `ZEL_ENABLE_BASIC_LEAK_CHECKER` | counts of objects made and destroyed, at the end |
//! | `ZEL_ENABLE_CERTIFICATION_CHECKER`, `ZEL_CERTIFICATION_CHECKER_VERSION` | functions newer than the version |
//! | `ZEL_ENABLE_PERFORMANCE_CHECKER` | settings that are slow |
//! | `ZEL_ENABLE_SYSTEM_RESOURCE_TRACKER_CHECKER`, `ZEL_SYSTEM_RESOURCE_TRACKER_CSV` | memory, threads and descriptors of the process, per call |
//! | `SOLUM_VALIDATION_FORMAT` | `text` (default) or `json`: one line or one object per finding |
//!
//! Results of calls and the resource tracker's numbers also go to the loader's log ([`set_log`]).
//!
//! A variable is on when it is set and not `0`. `ZE_ENABLE_THREADING_VALIDATION` has no effect, as in the reference.
//! With nothing turned on, the layer forwards calls. A finding that is an error returns its code and the driver is not
//! called; a warning changes nothing. Checks run in this order: parameters, checkers, lifetime.
//!
//! Objects whose creation the layer has not seen (before it was in place, or by an extension's function) are unknown,
//! and the lifetime check rejects them, as the reference does.

pub(crate) mod found;
pub(crate) mod lifetime;
pub(crate) mod rules;

mod calls;
mod checkers;
mod finding;
mod live;
mod log;
mod modes;
mod origin;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use ze_spec::Version;

pub use calls::over;
pub use finding::{Finding, Severity, Sink, reported, set_sink};
pub use log::{Log, Weight, set_log};
pub use modes::Settings;
use modes::{
    CERTIFICATION, EVENTS, LEAKS, LIFETIME, MODES, OUTCOMES, PARAMETERS, PERFORMANCE, RESOURCES,
    modes,
};

/// The process that turned checks on.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Whether nothing is checked or logged.
#[must_use]
pub fn is_idle() -> bool {
    modes() == 0
}

/// Selects the checks from now on. Known handles are kept.
pub fn configure(settings: &Settings) {
    let modes = [
        (settings.parameters, PARAMETERS),
        (settings.lifetime, LIFETIME),
        (settings.events, EVENTS),
        (settings.leaks, LEAKS),
        (settings.certification, CERTIFICATION),
        (settings.performance, PERFORMANCE),
        (settings.resources, RESOURCES),
    ];
    finding::set_json(settings.json);
    checkers::configure(settings);
    OWNER.store(std::process::id(), Ordering::Relaxed);
    let modes = modes
        .iter()
        .filter(|(on, _)| *on)
        .fold(0, |modes, (_, mode)| modes | mode);
    // A closure that never returns `None` cannot fail.
    let _ = MODES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| {
        Some(old & OUTCOMES | modes)
    });
}

impl Settings {
    /// Reads the variables; `variable` returns the value of one.
    ///
    /// # Errors
    /// A text that names the variable, its value and what is allowed.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let on = |name: &str| variable(name).is_some_and(|value| value != "0");
        let json = match variable("SOLUM_VALIDATION_FORMAT").as_deref() {
            None | Some("" | "text") => false,
            Some("json") => true,
            Some(other) => {
                return Err(format!(
                    "SOLUM_VALIDATION_FORMAT is '{other}'; allowed are text and json"
                ));
            }
        };
        // An invalid version is ignored, as in the reference.
        let certified = variable("ZEL_CERTIFICATION_CHECKER_VERSION").and_then(|text| {
            let (major, minor) = text.trim().split_once('.')?;
            Some(Version {
                major: major.parse().ok()?,
                minor: minor.parse().ok()?,
            })
        });
        Ok(Self {
            parameters: on("ZE_ENABLE_PARAMETER_VALIDATION"),
            lifetime: on("ZE_ENABLE_HANDLE_LIFETIME"),
            events: on("ZEL_ENABLE_EVENTS_CHECKER"),
            leaks: on("ZEL_ENABLE_BASIC_LEAK_CHECKER"),
            certification: on("ZEL_ENABLE_CERTIFICATION_CHECKER"),
            certified,
            performance: on("ZEL_ENABLE_PERFORMANCE_CHECKER"),
            resources: on("ZEL_ENABLE_SYSTEM_RESOURCE_TRACKER_CHECKER"),
            resources_csv: variable("ZEL_SYSTEM_RESOURCE_TRACKER_CSV")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            json,
        })
    }
}

/// Reads the environment and selects the checks.
///
/// # Errors
/// As [`Settings::read`]; nothing is changed then.
pub fn from_environment() -> Result<(), String> {
    let mut settings = Settings::read(|name| {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    })?;
    // SAFETY: asks the kernel's auxiliary vector.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        // The environment must not make a privileged process write files.
        settings.resources_csv = None;
    }
    configure(&settings);
    Ok(())
}

/// At exit: reports the leak checker's counts, and live objects. Later calls are not checked.
pub fn finish() {
    let modes = MODES.swap(0, Ordering::Relaxed);
    // In a fork the objects belong to the parent, and so do the threads that may hold locks.
    if OWNER.load(Ordering::Relaxed) == std::process::id() {
        checkers::finish(modes);
    }
}

#[cfg(test)]
mod tests;
