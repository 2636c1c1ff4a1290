//! Virtual environments of Python with the clients that are tested, each made from a file of exact versions.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::packages;
use crate::program::Program;
use crate::session::{Capture, Session};

/// Intel's CPU OpenCL runtime, by exact version.
pub(crate) const INTEL_OPENCL: [&str; 5] = [
    "intel-opencl-rt==2026.2.0",
    "intel-cmplr-lib-rt==2026.2.0",
    "intel-cmplr-lic-rt==2026.2.0",
    "tcmlib==1.6.0",
    "tbb==2023.2.0",
];

/// The virtual environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Environment {
    /// dpctl, dpnp and the SYCL runtime.
    Wheels,
    /// scikit-learn-intelex and intel-pti, with all of [`Self::Wheels`]: packages that run together are installed
    /// together.
    Sklearnex,
    /// Intel MPI and oneCCL.
    IntelMpi,
    /// mpi4py and MPICH. Both this one and Intel MPI have a `libmpi.so.12`.
    Mpich,
    /// Linters of workflows, the Dockerfile and the bill of materials.
    Lint,
    /// The tools that pack Solum's own wheel.
    WheelTools,
}

impl Environment {
    /// Its folder, relative to the repository.
    fn folder(self) -> &'static str {
        match self {
            Self::Wheels => "target/wheels/venv",
            Self::Sklearnex => "target/wheels/sklearnex",
            Self::IntelMpi => "target/mpi/intel",
            Self::Mpich => "target/mpi/mpich",
            Self::Lint => "target/lint",
            Self::WheelTools => "target/wheel/tools",
        }
    }

    /// The file of its packages' versions.
    pub(crate) fn requirements(self) -> &'static str {
        match self {
            Self::Wheels => "tests/wheels/requirements.txt",
            Self::Sklearnex => "tests/wheels/requirements-sklearnex.txt",
            Self::IntelMpi => "tests/mpi/requirements-intel.txt",
            Self::Mpich => "tests/mpi/requirements-mpich.txt",
            Self::Lint => "tests/lint/requirements.txt",
            Self::WheelTools => "python/tools.txt",
        }
    }

    fn contents(self) -> &'static str {
        match self {
            Self::Wheels => {
                "dpctl, dpnp and the SYCL runtime (a download of about 800 MB, 2.3 GB on disk)"
            }
            Self::Sklearnex => {
                "scikit-learn-intelex, intel-pti and what they need (2.9 GB on disk)"
            }
            Self::IntelMpi => "Intel MPI and oneCCL",
            Self::Mpich => "mpi4py and MPICH",
            Self::Lint => "check-jsonschema, hadolint, shellcheck",
            Self::WheelTools => "wheel and auditwheel",
        }
    }

    fn is_mpi(self) -> bool {
        matches!(self, Self::IntelMpi | Self::Mpich)
    }

    /// Its folder.
    pub(crate) fn root(self, session: &Session) -> PathBuf {
        session.path(self.folder())
    }

    /// A path inside it.
    pub(crate) fn path(self, session: &Session, name: &str) -> PathBuf {
        self.root(session).join(name)
    }

    /// Its interpreter.
    pub(crate) fn python(self, session: &Session) -> PathBuf {
        self.path(session, "bin/python")
    }

    /// As [`Self::install`], for a caller that can do without: says what is missing and what for, and returns whether it
    /// is there.
    pub(crate) fn install_optional(self, session: &Session, without: &str) -> bool {
        let installed = self.install(session);
        if let Err(error) = &installed {
            session.say(&format!("{without}: {error:#}"));
        }
        installed.is_ok()
    }

    /// Makes it, unless it is there with the same versions.
    ///
    /// # Errors
    /// pip fails, as without a network; the error names the package.
    pub(crate) fn install(self, session: &Session) -> Result<()> {
        let requirements = session.path(self.requirements());
        let versions = if session.is_dry {
            String::new()
        } else {
            pinned(&requirements)?
        };
        let stamp = self.path(session, ".requirements");
        let installed = std::fs::read_to_string(&stamp).unwrap_or_default();
        if !session.is_dry && installed == versions {
            return Ok(());
        }
        if !self.is_mpi() {
            packages::install(session, &["python3", "python3-venv", "python3-dev", "g++"])?;
        }
        session.say(&format!(
            "pip: installing {} into {}",
            self.contents(),
            self.folder()
        ));
        let file = Program::new(self.path(session, "bin/pip"))
            .words("install --quiet --disable-pip-version-check --no-deps -r")
            .arg(&requirements);
        let folder = self.root(session);
        make(session, &folder, &file)?;
        if self.is_mpi() {
            self.see_clients(session)?;
        }
        session.write(&stamp, &versions)
    }

    /// Makes dpnp and the SYCL runtime of [`Self::Wheels`] visible in this environment.
    fn see_clients(self, session: &Session) -> Result<()> {
        let packages = |environment: Self| {
            let program = Program::new(environment.python(session))
                .args(["-c", "import site; print(site.getsitepackages()[0])"]);
            let found = session.capture(&program, Capture::Output)?;
            Ok::<_, anyhow::Error>(found.map_or_else(String::new, |found| found.text))
        };
        let clients = packages(Self::Wheels)?;
        let own = PathBuf::from(packages(self)?);
        session.write(&own.join("clients.pth"), &format!("{clients}\n"))
    }
}

/// Makes an environment in `folder` and runs `pip` in it; leaves nothing behind when one of them fails.
fn make(session: &Session, folder: &Path, pip: &Program) -> Result<()> {
    session.remove_folder(folder)?;
    if let Some(parent) = folder.parent() {
        session.make_folder(parent)?;
    }
    let made = session
        .run(&Program::new("python3").args(["-m", "venv"]).arg(folder))
        .and_then(|()| run_pip(session, pip));
    if made.is_err() {
        session.remove_folder(folder)?;
    }
    made
}

/// Runs pip; an error names the package that it does not find.
fn run_pip(session: &Session, pip: &Program) -> Result<()> {
    /// Lines of its output that are shown when it fails otherwise.
    const SHOWN: usize = 5;
    let done = session.capture(pip, Capture::OutputAndErrors)?;
    let Some(failed) = done.filter(|done| !done.success) else {
        return Ok(());
    };
    if let Some(package) = not_found(&failed.text) {
        bail!("pip finds no package {package}");
    }
    let lines: Vec<&str> = failed.text.lines().collect();
    for line in &lines[lines.len().saturating_sub(SHOWN)..] {
        session.error_line(line);
    }
    bail!("failed: {}", pip.line())
}

/// The package that pip did not find, with its version.
fn not_found(output: &str) -> Option<&str> {
    let mut lines = output.lines();
    lines.find_map(|line| line.strip_prefix("ERROR: No matching distribution found for "))
}

/// The lines of a file of versions, with those of the files that it includes (`-r FILE`).
fn pinned(file: &Path) -> Result<String> {
    fn read(file: &Path, depth: usize) -> Result<String> {
        const DEEPEST: usize = 8;
        if depth > DEEPEST {
            bail!(
                "{}: more than {DEEPEST} files include each other",
                file.display()
            );
        }
        let text =
            std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let mut lines = String::new();
        for line in text.lines() {
            match line.strip_prefix("-r ") {
                Some(name) => lines += &read(&file.with_file_name(name.trim()), depth + 1)?,
                None => {
                    lines += line;
                    lines.push('\n');
                }
            }
        }
        Ok(lines)
    }
    read(file, 0)
}

/// Installs Intel's CPU OpenCL runtime below `target/kernels`, and returns the folder of its libraries.
///
/// # Errors
/// pip fails, as without a network.
pub(crate) fn install_intel_opencl(session: &Session) -> Result<PathBuf> {
    packages::install(session, &["python3", "python3-venv"])?;
    let folder = session.path("target/kernels/venv");
    let libraries = folder.join("lib");
    let stamp = folder.join(".complete");
    if !session.exists(&stamp) {
        session.say("pip: Intel's CPU OpenCL runtime into target/kernels/venv");
        let pip = Program::new(folder.join("bin/pip"))
            .words("install --quiet --disable-pip-version-check --no-deps")
            .args(INTEL_OPENCL);
        make(session, &folder, &pip)?;
        session.write(&stamp, "")?;
    }
    // The package's own file names a path of the machine that built it.
    let vendors = session.path("target/kernels/intel");
    session.make_folder(&vendors)?;
    session.write(&vendors.join("intel.icd"), &icd(&libraries))?;
    Ok(libraries)
}

/// The file by which OpenCL's loader finds Intel's runtime.
pub(crate) fn icd(libraries: &Path) -> String {
    format!("{}\n", libraries.join("libintelocl.so").display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            std::fs::write(folder.join(file), text).unwrap();
        }
        folder
    }

    #[test]
    fn an_included_file_replaces_its_line() {
        let folder = scratch(
            "include",
            &[
                ("all.txt", "# more\n-r few.txt\nc==3"),
                ("few.txt", "a==1\nb==2\n"),
                ("missing.txt", "-r nothing.txt\n"),
                ("circle.txt", "-r circle.txt\n"),
            ],
        );
        let read = |name: &str| pinned(&folder.join(name)).map_err(|error| format!("{error:#}"));
        assert_eq!(read("few.txt").unwrap(), "a==1\nb==2\n");
        assert_eq!(read("all.txt").unwrap(), "# more\na==1\nb==2\nc==3\n");
        assert!(read("missing.txt").unwrap_err().contains("nothing.txt"));
        assert!(
            read("circle.txt")
                .unwrap_err()
                .contains("include each other")
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_pip_does_not_find_is_named() {
        let output = "WARNING: Retrying\nERROR: Could not find a version that satisfies the requirement a==1 (from versions: none)\nERROR: No matching distribution found for a==1";
        assert_eq!(not_found(output), Some("a==1"));
        assert_eq!(not_found("ERROR: the disk is full"), None);
        let folder = scratch("pip", &[]);
        let session = Session::new(folder.clone(), false).unwrap();
        let pip = |script: &str| Program::new("sh").args(["-c", script]);
        assert!(run_pip(&session, &pip("true")).is_ok());
        let line = "echo 'ERROR: No matching distribution found for b==2' >&2; false";
        let error = run_pip(&session, &pip(line)).unwrap_err();
        assert_eq!(error.to_string(), "pip finds no package b==2");
        let error = run_pip(&session, &pip("false")).unwrap_err().to_string();
        assert!(error.starts_with("failed: sh"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_files_of_versions_are_exact() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for environment in [
            Environment::Wheels,
            Environment::Sklearnex,
            Environment::IntelMpi,
            Environment::Mpich,
            Environment::Lint,
            Environment::WheelTools,
        ] {
            let text = pinned(&root.join(environment.requirements())).unwrap();
            let packages = text.lines().filter(|line| !line.starts_with('#'));
            for line in packages.filter(|line| !line.is_empty()) {
                assert!(line.contains("=="), "{environment:?}: {line}");
            }
        }
    }
}
