//! `doc`: the reference documentation.

use anyhow::Result;

use crate::packages;
use crate::program::Program;
use crate::session::Session;

/// Builds it; a broken link is an error.
pub(super) fn run(session: &Session) -> Result<()> {
    packages::install_toolchain(session)?;
    let doc = Program::cargo("doc --no-deps --workspace --quiet");
    session.run(&doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    let page = session.target.join("doc/level_zero/index.html");
    session.say(&page.display().to_string());
    Ok(())
}
