//! Writes kernels in Rust as SPIR-V files: for programs that load them with Level Zero or OpenCL, in any language.
//!
//! A build script includes the file with the kernels, and writes each; nothing but Rust takes part:
//!
//! ```no_run
//! // build.rs
//! # mod kernels {
//! #     #[sycl::kernel]
//! #     pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
//! #         let i = sycl::item::<1>().id();
//! #         y[i] += a * x[i];
//! #     }
//! # }
//! # const _: &str = r#"
//! #[path = "src/kernels.rs"]
//! mod kernels;
//! # "#;
//!
//! fn main() -> Result<(), sycl_build::Error> {
//!     let folder = sycl_build::Folder::of_build_script()?;
//!     folder.write(&kernels::saxpy)?;
//!     Ok(())
//! }
//! ```
//!
//! `Cargo.toml` has both crates among the build dependencies:
//!
//! ```toml
//! [build-dependencies]
//! sycl = { version = "0.1", default-features = false }
//! sycl-build = "0.1"
//! ```
//!
//! The program embeds the file with `include_bytes!(concat!(env!("OUT_DIR"), "/saxpy.spv"))`. The module's kernel has the
//! function's name. A slice is two of its arguments: a pointer, and the length in elements as 64 bits.
//!
//! Invariants
//! - A file is complete or not there: it is renamed when it is written.
//! - A file that would not change is left alone, so that nothing is built again.
//!
//! Not here: devices, launches; the words themselves are those of `sycl::kernel::spirv`.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use kernel_builder::{Kernel, Refusal};

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A construct that kernels do not have.
    #[error("{file}:{}:{}: kernel {kernel}: {}", refusal.line.0, refusal.line.1, refusal.text)]
    Refused {
        /// The kernel's name.
        kernel: &'static str,
        /// Its source file.
        file: &'static str,
        /// Line and reason.
        refusal: Refusal,
    },
    /// A file or folder.
    #[error("{}: {source}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A name with a separator, or an empty one.
    #[error("{0:?} cannot be the name of a file in the folder: give a name without `/`")]
    Name(String),
    /// No build script runs.
    #[error("OUT_DIR is not set: call this from a build script, or name a folder with Folder::new")]
    NoBuildScript,
}

/// Where files are written.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Returns the folder of the build script that runs, and tells cargo that it depends on its own sources alone.
    ///
    /// # Errors
    /// [`Error::NoBuildScript`].
    pub fn of_build_script() -> Result<Self, Error> {
        let folder = env::var_os("OUT_DIR").ok_or(Error::NoBuildScript)?;
        // A script is built, and so runs, again when a file changes that it includes.
        println("cargo::rerun-if-changed=build.rs");
        Ok(Self(folder.into()))
    }

    /// Returns a folder, which need not exist.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Writes a kernel's module to `NAME.spv`, and returns the path.
    ///
    /// # Errors
    /// [`Error::Refused`], [`Error::File`].
    pub fn write<K: Kernel>(&self, kernel: &K) -> Result<PathBuf, Error> {
        self.write_as(kernel, K::NAME)
    }

    /// Writes a kernel's module under another name: a generic kernel has one name for all types.
    ///
    /// # Errors
    /// [`Error::Name`], and those of [`Folder::write`].
    pub fn write_as<K: Kernel>(&self, _kernel: &K, name: &str) -> Result<PathBuf, Error> {
        let is_name = Path::new(name).file_name() == Some(OsStr::new(name));
        if !is_name {
            return Err(Error::Name(name.to_owned()));
        }
        let words = kernel_builder::spirv::<K>().map_err(|refusal| Error::Refused {
            kernel: K::NAME,
            file: K::FILE,
            refusal,
        })?;
        let path = self.0.join(format!("{name}.spv"));
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        if fs::read(&path).is_ok_and(|present| present == bytes) {
            return Ok(path);
        }
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::File { path, source }
        };
        fs::create_dir_all(&self.0).map_err(at(&self.0))?;
        let part = self.0.join(format!("{name}.spv.{}", process::id()));
        fs::write(&part, bytes).map_err(at(&part))?;
        fs::rename(&part, &path).map_err(at(&path))?;
        Ok(path)
    }
}

#[expect(clippy::print_stdout, reason = "how a build script talks to cargo")]
fn println(line: &str) {
    println!("{line}");
}
