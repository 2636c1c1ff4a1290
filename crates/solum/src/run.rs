//! `solum run`: the environment in which an unmodified program finds Solum, and nothing else.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use clap::{Args, ValueEnum};

use crate::doctor::program;
use crate::pass_through::{self, Watched};
use crate::say::{Failure, complain};
use crate::{environment, exit, install};

/// Run a program on Solum.
#[derive(Args)]
pub(crate) struct Options {
    /// Device that the program's default selection meets; both stay visible to it. Without it cpu, unless
    /// ONEAPI_DEVICE_SELECTOR is set.
    #[arg(long = "as", value_enum)]
    device: Option<Device>,
    /// Fail when the program ended well but ran no kernel on Solum.
    #[arg(long)]
    require_kernels: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// The typed device that the selector names.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// The CPU-typed device: oneMKL runs whole on it.
    Cpu,
    /// The GPU-typed device, for programs that insist on a GPU.
    Gpu,
    /// Either.
    Both,
}

impl Device {
    pub(crate) fn selector(self) -> &'static str {
        match self {
            Device::Cpu => "level_zero:cpu",
            Device::Gpu => "level_zero:gpu",
            Device::Both => "level_zero:*",
        }
    }
}

const SELECTOR: &str = "ONEAPI_DEVICE_SELECTOR";
/// Named by `solum run`; the driver appends to it at the first kernel launch.
const WITNESS: &str = "SOLUM_WITNESS";
/// What DPC++'s runtime says when the selector leaves nothing.
pub(crate) const NO_DEVICE: &[u8] = b"No device of requested type";

/// The variables that a program needs to find Solum, from `folder` and what is set already.
pub(crate) fn variables(folder: &Path, selector: Option<&str>) -> Vec<(&'static str, OsString)> {
    let mut path = OsString::from(folder);
    if let Some(old) = std::env::var_os("LD_LIBRARY_PATH").filter(|old| !old.is_empty()) {
        path.push(":");
        path.push(old);
    }
    let mut all = vec![("LD_LIBRARY_PATH", path)];
    match selector {
        Some(selector) => all.push((SELECTOR, selector.into())),
        None if std::env::var_os(SELECTOR).is_none() => {
            all.push((SELECTOR, Device::Cpu.selector().into()))
        }
        None => {}
    }
    all
}

/// Runs the program; the exit code is its own, 128 + n when signal n killed it.
pub(crate) fn run(options: &Options) -> u8 {
    let folder = match install::for_programs() {
        Ok(folder) => folder,
        Err(mut failure) => {
            failure.code = exit::WRAPPER;
            return failure.tell(None);
        }
    };
    let Some((program, arguments)) = options.program.split_first() else {
        return exit::CANNOT;
    };
    environment::warn_of_slips();
    let selector = options.device.map(Device::selector);
    let witness = options.require_kernels.then(Witness::new);
    let mut command = Command::new(program);
    command.args(arguments).envs(variables(&folder, selector));
    if let Some(witness) = &witness {
        match witness {
            Ok(witness) => command.env(WITNESS, &witness.file),
            Err(error) => {
                complain(&format!("cannot make a temporary file: {error}"), None);
                return exit::WRAPPER;
            }
        };
    }
    let running = match pass_through::start(command, NO_DEVICE) {
        Ok(running) => running,
        Err(error) => return not_started(program, &error).tell(None),
    };
    let Watched { status, seen: met } = match running.wait() {
        Ok(watched) => watched,
        Err(error) => {
            complain(&format!("cannot wait for the program: {error}"), None);
            return exit::WRAPPER;
        }
    };
    let code = code_of(status);
    if met {
        let chosen = selector
            .map(str::to_owned)
            .or_else(|| std::env::var(SELECTOR).ok());
        let chosen = chosen.unwrap_or_else(|| Device::Cpu.selector().to_owned());
        let other = if chosen.contains("gpu") {
            "--as cpu"
        } else {
            "--as gpu"
        };
        complain(
            &format!("the program found no device with {SELECTOR}={chosen}"),
            Some(&format!(
                "solum run {other} -- …, or --as both when it chooses for itself; solum ls shows the devices"
            )),
        );
    }
    if let Some(Ok(witness)) = witness
        && !witness.saw_a_kernel()
    {
        complain(
            "no kernel ran on Solum",
            Some(
                "another runtime may have served the program: solum ls -v shows the devices, SYCL_UR_TRACE=1 what it chose",
            ),
        );
        if code == 0 {
            return exit::NO;
        }
    }
    code
}

/// The exit code that tells how a program ended, as shells have it.
pub(crate) fn code_of(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        // The system keeps eight bits of it.
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128u8.saturating_add(signal as u8),
        (None, None) => exit::WRAPPER,
    }
}

/// Why a program was not started, with the exit code that shells give it.
pub(crate) fn not_started(program: &OsStr, error: &io::Error) -> Failure {
    let path = std::env::var_os("PATH");
    let (cause, cure) = match program::resolve(program, path.as_deref()) {
        Err((cause, cure)) => (cause, Some(cure)),
        Ok(found) => program::unstartable(&found, error).map_or_else(
            || (error.to_string(), None),
            |(cause, cure)| (cause, Some(cure)),
        ),
    };
    // A shell finds what cannot be run: an interpreter that is missing, a directory.
    let is_there = program::is_there(program, path.as_deref());
    let code = match error.kind() {
        ErrorKind::NotFound if !is_there => exit::NO_PROGRAM,
        _ => exit::UNSTARTABLE,
    };
    Failure {
        code,
        error: format!("cannot run {}: {cause}", program.display()),
        hint: cure,
    }
}

/// A file that the driver writes to when the first kernel runs.
struct Witness {
    file: PathBuf,
}

impl Witness {
    fn new() -> std::io::Result<Self> {
        // Created exclusively: nobody else's file is ever written to.
        for attempt in 0..64 {
            let file =
                std::env::temp_dir().join(format!("solum-run-{}-{attempt}", std::process::id()));
            match fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&file)
            {
                Ok(_) => return Ok(Self { file }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::Error::other("64 names are taken"))
    }
    fn saw_a_kernel(&self) -> bool {
        fs::symlink_metadata(&self.file).is_ok_and(|file| file.len() > 0)
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // Nothing to do about a file that cannot be removed: it is empty or holds one line.
        let _ = fs::remove_file(&self.file);
    }
}
