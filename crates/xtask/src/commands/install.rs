//! `install PREFIX`: libraries, `solum`, headers and the file of pkg-config.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::artefacts::{self, LIBRARIES};
use crate::program::Program;
use crate::session::Session;

/// The version of the Level Zero loader that this one replaces.
const LOADER_VERSION: &str = "1.32.0";

/// Builds, then installs below `prefix`.
pub(super) fn run(session: &Session, prefix: &Path) -> Result<()> {
    artefacts::build(session)?;
    let lib = prefix.join("lib");
    let folders = [
        prefix.join("bin"),
        lib.join("pkgconfig"),
        prefix.join("include"),
    ];
    for folder in folders {
        session
            .make_folder(&folder)
            .with_context(|| no_access(prefix))?;
    }
    if !session.is_dry && rustix::fs::access(&lib, rustix::fs::Access::WRITE_OK).is_err() {
        bail!(no_access(prefix));
    }
    for name in LIBRARIES {
        library(session, name, &lib)?;
    }
    let program = stripped()
        .arg(session.release("solum"))
        .arg(prefix.join("bin/solum"));
    session.run(&program)?;
    let headers = Program::new("cp")
        .arg("-r")
        .arg(session.path("include/level_zero"))
        .arg(prefix.join("include"));
    session.run(&headers)?;
    pkg_config(session, prefix)?;
    let shown = prefix.display();
    session.say(&format!(
        "installed below {shown}: run {shown}/bin/solum ls; {shown}/bin/solum doctor checks everything"
    ));
    Ok(())
}

fn no_access(prefix: &Path) -> String {
    format!(
        "cannot write to {}: choose another PREFIX, or run as its owner",
        prefix.display()
    )
}

/// Copies a file without its debug information.
fn stripped() -> Program {
    Program::new("install").words("-m 755 -s")
}

/// Installs a library, with the name that linkers search for.
fn library(session: &Session, name: &str, lib: &Path) -> Result<()> {
    let file = format!("lib{name}.so.1");
    let install = stripped()
        .arg(artefacts::library(session, name))
        .arg(lib.join(&file));
    session.run(&install)?;
    let link = lib.join(format!("lib{name}.so"));
    session.run(&Program::new("ln").args(["-sf", &file]).arg(link))
}

fn pkg_config(session: &Session, prefix: &Path) -> Result<()> {
    let mut text = String::new();
    if !session.is_dry {
        let template = session.path("include/level-zero.pc.in");
        let template = std::fs::read_to_string(template).context("reading level-zero.pc.in")?;
        text = filled_in(&template, &prefix.canonicalize()?);
    }
    session.write(&prefix.join("lib/pkgconfig/level-zero.pc"), &text)
}

fn filled_in(template: &str, prefix: &Path) -> String {
    template
        .replace("@PREFIX@", &prefix.to_string_lossy())
        .replace("@LIBDIR@", &prefix.join("lib").to_string_lossy())
        .replace("@VERSION@", LOADER_VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_pkg_config_names_the_prefix() {
        let template = include_str!("../../../../include/level-zero.pc.in");
        let text = filled_in(template, Path::new("/opt/solum"));
        assert!(!text.contains('@'), "{text}");
        assert!(text.contains("/opt/solum/lib"), "{text}");
    }
}
