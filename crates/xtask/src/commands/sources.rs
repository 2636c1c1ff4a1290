//! `regen`, `tidy`, `same-code`: verbs about the repository's sources.
//!
//! `./x` builds this program without the feature `sources` and so without its parsers; these verbs then run cargo, which
//! builds it with them.

#[cfg(feature = "sources")]
mod built_in {
    use std::io::Write as _;
    use std::path::{Path, PathBuf};

    use anyhow::Result;

    use crate::session::Session;
    use crate::{regen, same_code, tidy};

    pub(crate) fn regen(session: &Session, check: bool) -> Result<()> {
        let mut out = std::io::stdout().lock();
        for path in regen::run(&session.root, check)? {
            writeln!(out, "wrote {}", path.display())?;
        }
        Ok(())
    }

    pub(crate) fn tidy(session: &Session) -> Result<()> {
        tidy::run(&session.root)
    }

    pub(crate) fn same_code(session: &Session, before: &Path, folders: &[PathBuf]) -> Result<()> {
        let folders: Vec<PathBuf> = folders.iter().map(|f| session.given(f)).collect();
        same_code::run(&session.root, &session.given(before), &folders)
    }
}

#[cfg(not(feature = "sources"))]
mod built_in {
    use std::path::{Path, PathBuf};

    use anyhow::Result;

    use crate::program::Program;
    use crate::session::Session;

    /// This program with the feature.
    fn with_sources(session: &Session, verb: &str) -> Program {
        Program::cargo("run --quiet -p xtask --manifest-path")
            .arg(session.path("Cargo.toml"))
            .args(["--", verb])
    }

    pub(crate) fn regen(session: &Session, check: bool) -> Result<()> {
        session.replace(&with_sources(session, "regen").flag("--check", check))
    }

    pub(crate) fn tidy(session: &Session) -> Result<()> {
        session.replace(&with_sources(session, "tidy"))
    }

    pub(crate) fn same_code(session: &Session, before: &Path, folders: &[PathBuf]) -> Result<()> {
        let same_code = with_sources(session, "same-code").arg(session.given(before));
        session.replace(&same_code.args(folders.iter().map(|f| session.given(f))))
    }
}

pub(super) use built_in::{regen, same_code, tidy};
