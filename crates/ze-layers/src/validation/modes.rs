//! The enabled checks, and their settings.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use ze_spec::Version;

pub(super) const PARAMETERS: u32 = 1;
pub(super) const LIFETIME: u32 = 2;
pub(super) const EVENTS: u32 = 4;
pub(super) const LEAKS: u32 = 8;
pub(super) const CERTIFICATION: u32 = 16;
pub(super) const PERFORMANCE: u32 = 32;
pub(super) const RESOURCES: u32 = 64;
/// Not a check: the log records results of calls. `configure` leaves it unchanged.
pub(super) const OUTCOMES: u32 = 128;
pub(super) const CHECKERS: u32 = EVENTS | LEAKS | CERTIFICATION | PERFORMANCE | RESOURCES;

/// The enabled modes, one bit each.
pub(super) static MODES: AtomicU32 = AtomicU32::new(0);

/// The enabled modes.
#[inline(always)]
pub(super) fn modes() -> u32 {
    MODES.load(Ordering::Relaxed)
}

/// The enabled checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each an environment variable"
)]
pub struct Settings {
    /// Arguments.
    pub parameters: bool,
    /// Handles from creation to destruction.
    pub lifetime: bool,
    /// Events that no command signals.
    pub events: bool,
    /// Leak counts at exit.
    pub leaks: bool,
    /// Functions newer than a version.
    pub certification: bool,
    /// The version; `None` uses the loader's until the driver's is known.
    pub certified: Option<Version>,
    /// Slow settings.
    pub performance: bool,
    /// The process's resources per call.
    pub resources: bool,
    /// The CSV file; the process's id is added to the name.
    pub resources_csv: Option<PathBuf>,
    /// Print findings as JSON.
    pub json: bool,
}
