//! The checks that are on, and their settings.

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
/// Not a check: the log records the ends of calls. `configure` leaves it as it is.
pub(super) const OUTCOMES: u32 = 128;
pub(super) const CHECKERS: u32 = EVENTS | LEAKS | CERTIFICATION | PERFORMANCE | RESOURCES;

/// The modes in force, a bit each.
pub(super) static MODES: AtomicU32 = AtomicU32::new(0);

/// The modes in force.
#[inline(always)]
pub(super) fn modes() -> u32 {
    MODES.load(Ordering::Relaxed)
}

/// The checks that are on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each an environment variable"
)]
pub struct Settings {
    /// Arguments by themselves.
    pub parameters: bool,
    /// Handles from their making to their end.
    pub lifetime: bool,
    /// Events that cannot be signalled.
    pub events: bool,
    /// Counts at the end.
    pub leaks: bool,
    /// Functions newer than a version.
    pub certification: bool,
    /// That version; none: the loader's until the driver has said its own.
    pub certified: Option<Version>,
    /// Slow settings.
    pub performance: bool,
    /// The process's resources per call.
    pub resources: bool,
    /// Where they are written, as CSV; the process's number is added to the name.
    pub resources_csv: Option<PathBuf>,
    /// Findings as JSON.
    pub json: bool,
}
