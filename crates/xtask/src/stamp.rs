//! The version and the time that built files carry: those of the commit, so that two builds of it are the same bytes.

use anyhow::Result;

use crate::program::Program;
use crate::session::{Capture, Session};

/// The version of all packages.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version in names of files; golden files have none.
pub(crate) fn version(session: &Session) -> &'static str {
    if session.is_dry { "VERSION" } else { VERSION }
}

/// Seconds from 1970 to the last commit; in a dry run a word.
pub(crate) fn seconds(session: &Session) -> Result<String> {
    /// The first date that a zip file can carry.
    const FIRST: &str = "315532800";
    if session.is_dry {
        return Ok("SECONDS".to_owned());
    }
    let commit = Program::new("git").words("log -1 --format=%ct");
    let date = session.capture(&commit, Capture::Output)?;
    let date = date.filter(|date| date.success && !date.text.is_empty());
    // The sources may come from an archive, without git.
    let given = || std::env::var("SOURCE_DATE_EPOCH").unwrap_or_else(|_| FIRST.to_owned());
    Ok(date.map_or_else(given, |date| date.text))
}
