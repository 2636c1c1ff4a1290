//! The steps that a child process reports to `solum doctor`, one JSON object a line on stdout.

use std::io::Write;

use serde::{Deserialize, Serialize};

/// A device as described by the standard calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Device {
    pub(crate) name: String,
    /// The specification's device type in lower case: `gpu`, `cpu` or another.
    pub(crate) kind: String,
    /// PCI vendor ID.
    pub(crate) vendor_id: u32,
    /// The number of sub-devices.
    pub(crate) sub_devices: u32,
}

/// A completed step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(crate) enum Step {
    /// The library was opened.
    Opened {
        /// Its file.
        path: String,
    },
    /// The library cannot be opened.
    Refused {
        /// The dynamic linker's message, or ours.
        reason: String,
    },
    /// Functions that clients need and that are missing.
    Missing {
        /// Their names.
        symbols: Vec<String>,
    },
    /// The versions of a loader.
    Version {
        /// `major.minor.patch`.
        library: String,
        /// Version of the specification.
        api: String,
    },
    /// An initialisation was tried.
    Initialised {
        /// The function that was called.
        function: String,
        /// The result's name.
        code: String,
        /// The library's error message.
        text: String,
    },
    /// One driver.
    Driver {
        /// Version of the specification.
        api: String,
        /// `driverVersion`.
        version: u32,
        /// Its handles contain DDI tables, by an extension or by the version of the specification.
        ddi_handles: bool,
        /// It supports programs of several SPIR-V modules.
        module_program: bool,
        /// Its devices, in its order.
        devices: Vec<Device>,
    },
    /// A call that should not fail failed.
    Failed {
        /// The call and its result.
        what: String,
    },
    /// A kernel was launched.
    Launched {
        /// The device's name.
        device: String,
        /// Why it failed; absent if the results are correct.
        error: Option<String>,
        /// Time to compile it.
        build_ms: f64,
        /// Time of the second launch and wait.
        launch_us: f64,
    },
    /// The build of a code generator.
    Build {
        /// Its identifier.
        id: String,
    },
}

/// Reports a step to the parent.
pub(crate) fn report(step: &Step) {
    if let Ok(line) = serde_json::to_string(step) {
        // Starts on a new line, because the library may have printed half a line. A missing parent is no error.
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "\n{line}").and_then(|()| out.flush());
    }
}
