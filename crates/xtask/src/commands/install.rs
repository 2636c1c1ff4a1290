//! `install PREFIX`: libraries, `solum` with its completions and manual pages, headers and the file of pkg-config.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::artefacts::{self, LIBRARIES};
use crate::program::Program;
use crate::session::Session;

/// The version of the Level Zero loader that this one replaces.
const LOADER_VERSION: &str = "1.32.0";

/// Where each shell looks for the completions of `solum` below a prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/solum"),
    ("zsh", "share/zsh/site-functions/_solum"),
    ("fish", "share/fish/vendor_completions.d/solum.fish"),
];

/// Builds, then installs below `prefix`.
pub(super) fn run(session: &Session, prefix: &Path) -> Result<()> {
    artefacts::build(session)?;
    copy(session, prefix)?;
    let shown = prefix.display();
    session.say(&format!(
        "installed below {shown}: run {shown}/bin/solum ls; {shown}/bin/solum doctor checks everything"
    ));
    Ok(())
}

/// Copies what is built below `prefix`. An installation can be moved: no file contains the prefix.
pub(super) fn copy(session: &Session, prefix: &Path) -> Result<()> {
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
    for_shells(session, prefix)
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
    let template = include_str!("../../../../include/level-zero.pc.in");
    session.write(
        &prefix.join("lib/pkgconfig/level-zero.pc"),
        &template.replace("@VERSION@", LOADER_VERSION),
    )
}

/// Lets the built program write its completions and manual pages.
fn for_shells(session: &Session, prefix: &Path) -> Result<()> {
    for (shell, file) in COMPLETIONS {
        let file = prefix.join(file);
        session.make_folder(file.parent().context("a file in a folder")?)?;
        let script = session.solum().args(["completions", shell]);
        session.write(&file, &(session.answer(&script, "")? + "\n"))?;
    }
    let pages = prefix.join("share/man/man1");
    session.make_folder(&pages)?;
    session.run(&session.solum().arg("man").arg(pages))
}
