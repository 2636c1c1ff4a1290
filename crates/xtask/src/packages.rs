//! Packages of the distribution: those that are missing are installed through apt.

use std::ffi::OsStr;

use anyhow::{Result, bail};

use crate::program::Program;
use crate::session::{Capture, Session};

/// What every build needs. The static archives of LLVM need zlib and zstd.
const TOOLCHAIN: [&str; 5] = [
    "llvm-22-dev",
    "zlib1g-dev",
    "libzstd-dev",
    "g++",
    "pkg-config",
];

/// Lines of apt's output that are shown when it fails.
const SHOWN: usize = 5;

/// Installs what every build needs.
///
/// # Errors
/// As [`install`].
pub(crate) fn install_toolchain(session: &Session) -> Result<()> {
    install(session, &TOOLCHAIN)
}

/// Installs those of `names` that are missing.
///
/// # Errors
/// There is no apt, no right to use it, or no network.
pub(crate) fn install(session: &Session, names: &[&str]) -> Result<()> {
    if session.is_dry {
        session.show(format!("# packages: {}", names.join(" ")));
        return Ok(());
    }
    let query = Program::new("dpkg-query")
        .arg("-W")
        .arg("-f=${Package} ${db:Status-Status}\n")
        .args(names);
    let has_dpkg = is_program("dpkg-query");
    let installed = if has_dpkg {
        // It fails where one name is unknown, and still prints the others.
        session.capture(&query, Capture::OutputAndErrors)?
    } else {
        None
    };
    let missing = missing(names, &installed.map_or(String::new(), |query| query.text));
    if missing.is_empty() {
        return Ok(());
    }
    install_missing(session, &missing)
}

/// Those of `names` that `status`, lines of a name and a status, does not show as installed.
fn missing<'n>(names: &[&'n str], status: &str) -> Vec<&'n str> {
    let is_installed = |name: &str| {
        let mut lines = status.lines().filter_map(|line| line.split_once(' '));
        lines.any(|(package, status)| package == name && status == "installed")
    };
    let missing = names.iter().filter(|name| !is_installed(name));
    missing.copied().collect()
}

fn install_missing(session: &Session, missing: &[&str]) -> Result<()> {
    let names = missing.join(" ");
    if !is_program("apt-get") {
        bail!(
            "missing: {names}, and this system has no apt: install the equivalent packages by hand"
        );
    }
    let is_root = rustix::process::geteuid().is_root();
    if !is_root && !may_use_sudo(session) {
        bail!("missing packages: run as root: apt-get install {names}");
    }
    session.say(&format!("apt: installing {names}"));
    for command in apt_commands(missing, is_root) {
        let Some(done) = session.capture(&command, Capture::OutputAndErrors)? else {
            continue;
        };
        if !done.success {
            let lines: Vec<&str> = done.text.lines().collect();
            for line in &lines[lines.len().saturating_sub(SHOWN)..] {
                session.error_line(line);
            }
            bail!(
                "apt could not install {names}: without network? Debian 12's main and security suites have them all"
            );
        }
    }
    Ok(())
}

/// Another installation, such as the system's own of updates, is waited for.
const LOCK: &str = "-oDPkg::Lock::Timeout=600";

/// The commands that install `names`.
fn apt_commands(names: &[&str], is_root: bool) -> [Program; 2] {
    let start = || {
        let program = if is_root { "env" } else { "sudo" };
        let program = Program::new(program);
        if is_root { program } else { program.arg("env") }
    };
    [
        start().args(["apt-get", "update"]),
        start()
            .arg("DEBIAN_FRONTEND=noninteractive")
            .words("apt-get install -y --no-install-recommends")
            .arg(LOCK)
            .args(names),
    ]
}

fn may_use_sudo(session: &Session) -> bool {
    let test = Program::new("sudo").args(["-n", "true"]);
    let tested = is_program("sudo").then(|| session.capture(&test, Capture::OutputAndErrors));
    matches!(tested, Some(Ok(Some(tested))) if tested.success)
}

/// Whether `PATH` has a program of this name.
pub(crate) fn is_program(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(OsStr::new(name)).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_missing_unless_they_are_installed() {
        let status = "g++ installed\nlibze1 config-files\nzlib1g-dev installed\n\
                      dpkg-query: no packages found matching valgrind";
        let cases: [(&[&str], &[&str]); 4] = [
            (&["g++", "zlib1g-dev"], &[]),
            (&["g++", "libze1", "valgrind"], &["libze1", "valgrind"]),
            // A part of a name is another package.
            (&["g"], &["g"]),
            (&[], &[]),
        ];
        for (names, expected) in cases {
            assert_eq!(missing(names, status), expected, "{names:?}");
        }
        assert_eq!(missing(&["g++"], ""), ["g++"]);
    }

    #[test]
    fn apt_runs_through_sudo_for_other_users_than_root() {
        for (is_root, lines) in [
            (
                true,
                [
                    "env apt-get update",
                    "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -oDPkg::Lock::Timeout=600 a b",
                ],
            ),
            (
                false,
                [
                    "sudo env apt-get update",
                    "sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -oDPkg::Lock::Timeout=600 a b",
                ],
            ),
        ] {
            let commands = apt_commands(&["a", "b"], is_root);
            assert_eq!(commands.map(|command| command.line()), lines);
        }
    }
}
