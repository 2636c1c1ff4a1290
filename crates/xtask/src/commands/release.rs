//! `release`: what a release consists of, in `dist`; and the edits that come before it.
//!
//! Two builds of one commit on equal packages give equal files, also in different folders: no path of this machine and no
//! time enters them (`reproducible`, `tarball`). `./x check reproducible` builds twice and compares.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::{install, wheel};
use crate::program::Program;
use crate::session::Session;
use crate::stamp::{self, VERSION, version};
use crate::third_party::Notices;
use crate::{artefacts, third_party};

/// The files of the repository that are in the tarball.
const TEXTS: [&str; 7] = [
    "README.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "STATUS.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs",
];

/// Compression of archives by one thread, since the blocks of several depend on their number.
const XZ: &str = "xz -9 --threads=1";

/// The mistake in a version, if there is one: three numbers, perhaps followed by `-rc.` and a fourth.
pub(super) fn mistake(version: &str) -> Option<String> {
    let (release, candidate) = version.split_once("-rc.").unwrap_or((version, "0"));
    let is_number = |part: &str| {
        part.parse::<u32>()
            .is_ok_and(|number| number.to_string() == part)
    };
    let is_right = release.split('.').count() == 3
        && release.split('.').all(is_number)
        && is_number(candidate);
    (!is_right).then(|| format!("release: {version} is no version such as 1.2.3 or 1.2.3-rc.1"))
}

/// Makes builds of this session independent of folders and of the user's settings of rustc.
pub(super) fn reproducible(session: &mut Session) -> Result<()> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        bail!("releases are built on x86-64 Linux");
    }
    session.run(&Program::cargo("fetch --quiet --locked"))?;
    let mut places = vec![(session.root.clone(), "/solum")];
    if !session.target.starts_with(&session.root) {
        places.push((session.target.clone(), "/solum/target"));
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let registry = home.context("no home folder")?.join("registry/src");
    if session.is_dry {
        places.push(("/cargo/registry/src/REGISTRY".into(), "/registry"));
    } else if let Ok(folders) = std::fs::read_dir(registry) {
        // Their names depend on where packages are downloaded from.
        places.extend(folders.flatten().map(|folder| (folder.path(), "/registry")));
    }
    let mut flags = Vec::new();
    for (from, to) in places {
        let from = from
            .to_str()
            .filter(|from| !from.contains(char::is_whitespace));
        let from = from.context("release needs folders whose paths have no spaces")?;
        flags.push(format!("--remap-path-prefix={from}={to}"));
    }
    session.set_variable("CARGO_ENCODED_RUSTFLAGS", None);
    session.set_variable("RUSTFLAGS", Some(&flags.join(" ")));
    session.set_variable("CARGO_INCREMENTAL", Some("0"));
    // It would contain the paths of the standard library's source where that is installed.
    session.set_variable("CARGO_PROFILE_RELEASE_DEBUG", Some("false"));
    session.set_variable("SOLUM_LLVM", Some("static"));
    session.set_variable("SOURCE_DATE_EPOCH", Some(&stamp::seconds(session)?));
    Ok(())
}

/// Builds what belongs to a release.
pub(super) fn run(session: &Session) -> Result<()> {
    let status = session.answer(&Program::new("git").words("status --porcelain"), "")?;
    if !status.is_empty() {
        session.say(
            "a trial: libraries have changes that are not committed, the source archive has not",
        );
    }
    artefacts::build(session)?;
    let dist = session.path("dist");
    session.remove_folder(&dist)?;
    session.make_folder(&dist)?;
    let bill = dist.join(format!("solum-{}.cdx.json", version(session)));
    let notices = third_party::collect(session)?;
    let files = [
        tarball(session, &dist, &notices, &bill)?,
        sources(session, &dist)?,
        wheel::build(session, &notices)?,
        bill,
    ];
    let sums = Program::new("env")
        .arg(format!("--chdir={}", dist.display()))
        .arg("sha256sum")
        .args(files.iter().filter_map(|file| file.file_name()));
    let sums = session.answer(&sums, "")? + "\n";
    session.write(&dist.join("SHA256SUMS"), &sums)?;
    session.say(&format!("the release is in {}", dist.display()));
    Ok(())
}

/// Checks that this commit is the release `version`.
pub(super) fn check(session: &Session, version: &str) -> Result<()> {
    if version != VERSION && !session.is_dry {
        bail!(
            "the workspace has version {VERSION}, not {version}: run ./x release {version} --prepare, then commit"
        );
    }
    let status = session.answer(&Program::new("git").words("status --porcelain"), "")?;
    if session.is_dry {
        return Ok(());
    }
    if !status.is_empty() {
        bail!("a release is built from a commit; not committed:\n{status}");
    }
    let changelog = std::fs::read_to_string(session.path("CHANGELOG.md"))?;
    if !has_dated_section(&changelog, version) {
        bail!(
            "CHANGELOG.md has no section \"## {version} (YEAR-MONTH-DAY)\": run ./x release {version} --prepare, then commit"
        );
    }
    Ok(())
}

fn has_dated_section(changelog: &str, version: &str) -> bool {
    let start = format!("## {version} (");
    changelog.lines().any(|line| {
        let date = line
            .strip_prefix(&start)
            .and_then(|rest| rest.strip_suffix(')'));
        date.is_some_and(|date| {
            let shape = |b: u8| if b.is_ascii_digit() { b'0' } else { b };
            date.bytes().map(shape).eq(*b"0000-00-00")
        })
    })
}

/// The tarball: an installation with its texts.
fn tarball(session: &Session, dist: &Path, notices: &Notices, bill: &Path) -> Result<PathBuf> {
    let name = format!("solum-{}-x86_64-linux", version(session));
    let stage = session.path("target/release-files");
    session.remove_folder(&stage)?;
    let prefix = stage.join(&name);
    install::copy(session, &prefix)?;
    let texts = prefix.join("share/doc/solum");
    session.make_folder(&texts)?;
    let copy = Program::new("cp")
        .arg("-r")
        .args(TEXTS.map(|name| session.path(name)));
    session.run(&copy.arg(&texts))?;
    notices.write(session, &texts, bill)?;
    session.copy(bill, &texts.join("solum.cdx.json"))?;
    let file = dist.join(format!("{name}.tar.xz"));
    let tar = Program::new("tar")
        .words("--create --format=gnu --sort=name --owner=0 --group=0 --numeric-owner")
        .arg(format!("--mtime=@{}", stamp::seconds(session)?))
        .words("--mode=u=rwX,go=rX")
        .arg(format!("--use-compress-program={XZ}"))
        .arg("--file")
        .arg(&file)
        .arg("--directory")
        .args([&stage, Path::new(&name)]);
    session.run(&tar)?;
    Ok(file)
}

/// The archive of the sources: the commit's files.
fn sources(session: &Session, dist: &Path) -> Result<PathBuf> {
    let name = format!("solum-{}", version(session));
    let file = dist.join(format!("{name}.tar.xz"));
    let archive = Program::new("git")
        .words("-c tar.umask=0022 -c")
        .arg(format!("tar.tar.xz.command={XZ}"))
        .words("archive --format=tar.xz")
        .arg(format!("--prefix={name}/"))
        .arg("--output")
        .arg(&file)
        .arg("HEAD");
    session.run(&archive)?;
    Ok(file)
}

/// Sets the workspace's version and dates the changelog's section.
pub(super) fn prepare(session: &Session, version: &str) -> Result<()> {
    let today = session.answer(&Program::new("date").args(["-u", "+%F"]), "TODAY")?;
    let edit = |name: &str, change: &dyn Fn(&str) -> Result<String>| {
        let file = session.path(name);
        let text = match session.is_dry {
            true => String::new(),
            false => change(&std::fs::read_to_string(&file)?)?,
        };
        session.write(&file, &text)
    };
    edit("CHANGELOG.md", &|text| dated(text, version, &today))?;
    edit("Cargo.toml", &|text| Ok(with_version(text, version)))?;
    // They write the lock files.
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
        let lock = Program::cargo("update --quiet --offline --workspace --manifest-path");
        session.run(&lock.arg(session.path(manifest)))?;
    }
    session.say(&format!(
        "read the changes and commit them, then: ./x release {version}"
    ));
    Ok(())
}

/// The changelog, where the section of what is not released yet is that of `version`.
fn dated(changelog: &str, version: &str, today: &str) -> Result<String> {
    if has_dated_section(changelog, version) {
        return Ok(changelog.to_owned());
    }
    let mut lines = changelog.lines();
    let heading = lines.find(|line| line.starts_with("## Unreleased"));
    let heading = heading.context(
        "CHANGELOG.md has no section \"## Unreleased\": write one about the changes since the last release",
    )?;
    Ok(changelog.replacen(heading, &format!("## {version} ({today})"), 1))
}

/// The workspace's manifest with another version of the workspace and of its crates.
fn with_version(manifest: &str, version: &str) -> String {
    // A crate requires another in exactly its version: `version = "=0.1.0"`.
    let (old, new) = (format!("{VERSION}\""), format!("{version}\""));
    let is_ours = |line: &str| {
        line.starts_with(&format!("version = \"{old}")) || line.contains("path = \"crates/")
    };
    let line = |line: &str| match is_ours(line) {
        true => line.replace(&old, &new) + "\n",
        false => line.to_owned() + "\n",
    };
    manifest.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_three_numbers() {
        for version in ["0.1.0", "10.20.30", "1.2.3-rc.1"] {
            assert_eq!(mistake(version), None);
        }
        for version in [
            "",
            "1",
            "1.2",
            "v1.2.3",
            "1.2.3.4",
            "1.2.x",
            "1.2.3-",
            "1.2.3-a/b",
            "01.2.3",
            "1.2.3-..",
            "1.2.3-beta",
            "1.2.3-rc.01",
            "1..3",
        ] {
            assert!(mistake(version).is_some(), "{version}");
        }
    }

    #[test]
    fn the_changelog_is_dated_once() {
        let text = "# Changelog\n\n## Unreleased (0.1.0)\n\nall\n\n## 0.0.9 (2026-01-02)\n";
        assert!(!has_dated_section(text, "0.1.0"));
        let dated_text = dated(text, "0.1.0", "2026-11-29").unwrap();
        assert_eq!(
            dated_text,
            text.replace("Unreleased (0.1.0)", "0.1.0 (2026-11-29)")
        );
        assert_eq!(
            dated(&dated_text, "0.1.0", "2027-01-01").unwrap(),
            dated_text
        );
        assert!(dated(&dated_text, "0.2.0", "2027-01-01").is_err());
        assert!(!has_dated_section("## 0.1.0 (soon)\n", "0.1.0"));
    }

    #[test]
    fn the_manifest_gets_one_version() {
        let text = include_str!("../../../../Cargo.toml");
        let changed = with_version(text, "7.8.9");
        assert!(changed.contains("\nversion = \"7.8.9\"\n"));
        assert!(changed.contains("path = \"crates/sycl\", version = \"=7.8.9\""));
        assert!(!changed.contains(&format!("\"={VERSION}\"")));
        let others = |text: &str| {
            let lines = text.lines().filter(|line| !line.contains("crates/"));
            lines
                .filter(|line| !line.starts_with("version"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(others(&changed), others(text));
        assert_eq!(
            with_version(&changed, VERSION),
            changed,
            "only this version is replaced"
        );
    }
}
