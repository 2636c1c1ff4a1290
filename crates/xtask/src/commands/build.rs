//! `build`: everything in release mode.

use anyhow::Result;

use crate::artefacts;
use crate::session::Session;

/// Builds libraries, programs and examples' libraries.
pub(super) fn run(session: &Session) -> Result<()> {
    artefacts::build(session)
}
