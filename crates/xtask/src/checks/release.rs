//! Checks of a release: it can be built again, and works where it is unpacked.

use std::path::Path;

use anyhow::{Result, bail};

use crate::packages;
use crate::program::Program;
use crate::python::Environment;
use crate::session::Session;

/// Builds the release of the last commit in two clones, in folders and time zones that differ, and compares the files.
pub(super) fn reproducible(session: &Session) -> Result<()> {
    let place = session.path("target/reproducible");
    session.remove_folder(&place)?;
    let clones = [("one", "UTC"), ("another/longer/path", "Asia/Tokyo")];
    let folders = clones.map(|(name, _)| place.join(name));
    for (folder, (_, zone)) in folders.iter().zip(clones) {
        let clone = Program::new("git").words("clone --quiet");
        session.run(&clone.arg(&session.root).arg(folder))?;
        let build = Program::new(folder.join("x"))
            .arg("release")
            .env("TZ", zone);
        session.run(&build.without(&["CARGO_TARGET_DIR"]))?;
    }
    let sums = folders
        .each_ref()
        .map(|folder| folder.join("dist/SHA256SUMS"));
    session.run(&Program::new("diff").args(sums))?;
    unpacked(session, &folders[1])
}

/// The tarball in `clone/dist` works in another folder.
fn unpacked(session: &Session, clone: &Path) -> Result<()> {
    packages::install(session, &["pkg-config", "g++"])?;
    let place = session.path("target/reproducible/unpacked");
    session.make_folder(&place)?;
    let tarball = Program::new("find")
        .arg(clone.join("dist"))
        .words("-name *-linux.tar.xz");
    let tarball = session.answer(&tarball, "TARBALL")?;
    let unpack = Program::new("tar")
        .words("--strip-components=1 -C")
        .arg(&place);
    session.run(&unpack.arg("-xf").arg(tarball))?;
    session.run(&Program::new(place.join("bin/solum")).arg("doctor"))?;
    let headers = Program::new("pkg-config")
        .words("--variable=includedir level-zero")
        .env("PKG_CONFIG_PATH", place.join("lib/pkgconfig"));
    let headers = session.answer(&headers, "HEADERS")?;
    let header = Path::new(&headers).join("level_zero/ze_api.h");
    if !session.is_dry && !header.is_file() {
        bail!("pkg-config names {headers}, which has no level_zero/ze_api.h");
    }
    Environment::Lint.install(session)?;
    let schemas =
        "import pathlib, cyclonedx.schema as s; print(pathlib.Path(s.__file__).parent / '_res')";
    let schemas = Program::new(Environment::Lint.python(session)).args(["-c", schemas]);
    let schemas = session.answer(&schemas, "SCHEMAS")?;
    let valid = Program::new(Environment::Lint.path(session, "bin/check-jsonschema"))
        .arg("--schemafile")
        .arg(Path::new(&schemas).join("bom-1.6.SNAPSHOT.schema.json"))
        .arg(place.join("share/doc/solum/solum.cdx.json"));
    session.run(&valid)
}
