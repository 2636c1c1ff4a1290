//! The published crates as their packages have them, and crates that depend on these.
//!
//! Packages are unpacked below `target`, away from the sources: a file that a package lacks is missing there.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::program::Program;
use crate::published;
use crate::session::Session;
use crate::stamp::{self, VERSION};

/// Variables and folders by which a program could find another loader or driver.
pub(super) const LOADER_VARIABLES: [&str; 3] = [
    "SOLUM_ZE_LOADER",
    "ZE_ENABLE_ALT_DRIVERS",
    "LD_LIBRARY_PATH",
];

/// A crate that depends on the packaged `sycl`.
pub(super) struct Dependent {
    name: &'static str,
    folder: PathBuf,
}

impl Dependent {
    /// Writes the crate `name` without its sources. `options` end the dependency in the manifest, as
    /// `, default-features = false`.
    ///
    /// # Errors
    /// The crates cannot be packaged, or a file cannot be written.
    pub(super) fn write(session: &Session, name: &'static str, options: &str) -> Result<Self> {
        unpack(session)?;
        let folder = session.path("target").join(name);
        session.make_folder(&folder.join("src"))?;
        session.write(&folder.join("Cargo.toml"), &manifest(name, options))?;
        session.copy(&session.path("Cargo.lock"), &folder.join("Cargo.lock"))?;
        Ok(Self { name, folder })
    }

    /// The file `name` of the crate.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Builds it. Dependents share a target folder.
    pub(super) fn build(&self, session: &Session) -> Program {
        Program::cargo("build --quiet --manifest-path")
            .arg(self.path("Cargo.toml"))
            .without(&LOADER_VARIABLES)
            .env("CARGO_TARGET_DIR", target(session))
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
    }

    /// The program that [`Self::build`] makes.
    pub(super) fn program(&self, session: &Session) -> PathBuf {
        target(session).join("debug").join(self.name)
    }

    /// Fails if the build read a source of this checkout.
    pub(super) fn is_built_from_packages(&self, session: &Session) -> Result<()> {
        if session.is_dry {
            return Ok(());
        }
        let list = self.program(session).with_extension("d");
        let list = std::fs::read_to_string(&list).with_context(|| list.display().to_string())?;
        let crates = format!("{}/", session.path("crates").display());
        let is_ours = |file: &&str| file.starts_with(&crates);
        match list.split_whitespace().find(is_ours) {
            Some(file) => bail!("the packages need {file}, which is in none of them"),
            None if list.contains(&format!("/solum-ze-driver-{VERSION}/")) => Ok(()),
            None => bail!("the program is built from other packages: {list}"),
        }
    }
}

fn target(session: &Session) -> PathBuf {
    session.path("target/packaged")
}

/// The folder of unpacked packages.
fn packages(session: &Session) -> PathBuf {
    session.path("target/packages")
}

/// The folder of an unpacked package.
pub(super) fn package(session: &Session, name: &str) -> PathBuf {
    packages(session).join(format!("{name}-{}", stamp::version(session)))
}

/// Packages the crates, and unpacks them where the packages have changed.
fn unpack(session: &Session) -> Result<()> {
    let names = published::all().flat_map(|name| ["-p", name]);
    let cargo = Program::cargo("package --quiet --no-verify --allow-dirty").args(names);
    session.run(&cargo)?;
    let packages = packages(session);
    let archive = packages.join("all.tar.gz");
    let packed = if session.is_dry {
        Vec::new()
    } else {
        packed(&session.target.join("package"))?
    };
    if session.exists(&archive) && std::fs::read(&archive)? == packed {
        return Ok(());
    }
    session.remove_folder(&packages)?;
    session.make_folder(&packages)?;
    // Files in packages are of 2006, which cargo would take as unchanged; so they get the time of now.
    let tar = Program::new("tar").words("--extract --gzip --ignore-zeros --touch --file");
    let part = packages.join("part");
    if !session.is_dry {
        std::fs::write(&part, &packed).context("writing packages")?;
    }
    session.run(&tar.arg(&part).arg("--directory").arg(&packages))?;
    session.run(&Program::new("mv").arg(part).arg(archive))
}

/// All packages, one after the other.
fn packed(folder: &Path) -> Result<Vec<u8>> {
    let mut packed = Vec::new();
    for name in published::all() {
        let file = folder.join(format!("{name}-{VERSION}.crate"));
        packed.extend(std::fs::read(&file).with_context(|| format!("reading {}", file.display()))?);
    }
    Ok(packed)
}

/// The manifest of a crate that depends on `sycl`. A registry that has the packages is not needed: their folders stand in.
fn manifest(name: &str, options: &str) -> String {
    let folder = |name: &str| format!("{name} = {{ path = \"../packages/{name}-{VERSION}\" }}\n");
    let folders: String = published::all().map(folder).collect();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [dependencies]\nsycl = {{ version = \"{VERSION}\"{options} }}\n\
         [patch.crates-io]\n{folders}[workspace]\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependent_takes_every_package_from_its_folder() {
        let text = manifest("bare", ", default-features = false");
        let sycl = format!("sycl = {{ version = \"{VERSION}\", default-features = false }}\n");
        assert!(text.contains(&sycl), "{text}");
        let (_, patches) = text.split_once("[patch.crates-io]\n").unwrap();
        assert_eq!(patches.matches("path = ").count(), published::all().count());
        let line = format!("solum-ze-cpu = {{ path = \"../packages/solum-ze-cpu-{VERSION}\" }}\n");
        assert!(patches.contains(&line), "{text}");
    }
}
