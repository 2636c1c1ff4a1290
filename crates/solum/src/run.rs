//! `solum run`: starts an unmodified program in an environment in which it finds Solum.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use clap::{Args, ValueEnum, ValueHint};

use crate::output::{self, Failure};
use crate::pass_through::{self, Finished};
use crate::{exit, install, program, variables};

/// Run a program on Solum.
#[derive(Args)]
pub(crate) struct Options {
    /// Default device type [default: cpu, unless ONEAPI_DEVICE_SELECTOR is set].
    #[arg(long = "as", value_enum)]
    device: Option<Device>,
    /// Exit with 1 if the program succeeded but ran no kernel on Solum.
    #[arg(long)]
    require_kernels: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    program: Vec<OsString>,
}

/// The typed device that the selector names.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// The CPU-typed device; all of oneMKL works.
    Cpu,
    /// The GPU-typed device, for programs that require a GPU.
    Gpu,
    /// Both devices; the program selects.
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
/// Path of the file to which the driver appends a line at the first kernel launch.
const WITNESS: &str = "SOLUM_WITNESS";
/// The error of DPC++'s runtime if the selector matches no device.
pub(crate) const NO_DEVICE: &[u8] = b"No device of requested type";

/// The variables that a program needs to find Solum in `folder`, on top of the current environment.
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

/// Runs the program. Returns its exit code, or 128 + n if signal n killed it.
pub(crate) fn run(options: &Options) -> u8 {
    let folder = match install::for_programs() {
        Ok(folder) => folder,
        Err(mut failure) => {
            failure.code = exit::WRAPPER;
            return failure.print(None);
        }
    };
    let Some((program, arguments)) = options.program.split_first() else {
        return exit::ERROR;
    };
    variables::warn_of_misspellings();
    let selector = options.device.map(Device::selector);
    let witness = options.require_kernels.then(Witness::new);
    let mut command = Command::new(program);
    command.args(arguments).envs(variables(&folder, selector));
    if let Some(witness) = &witness {
        match witness {
            Ok(witness) => command.env(WITNESS, &witness.file),
            Err(error) => {
                output::print_error(&format!("cannot make a temporary file: {error}"), None);
                return exit::WRAPPER;
            }
        };
    }
    let running = match pass_through::start(command, NO_DEVICE) {
        Ok(running) => running,
        Err(error) => return not_started(program, &error).print(None),
    };
    let Finished { status, seen } = match running.wait() {
        Ok(watched) => watched,
        Err(error) => {
            output::print_error(&format!("cannot wait for the program: {error}"), None);
            return exit::WRAPPER;
        }
    };
    let code = code_of(status);
    if seen {
        let chosen = selector
            .map(str::to_owned)
            .or_else(|| std::env::var(SELECTOR).ok());
        let chosen = chosen.unwrap_or_else(|| Device::Cpu.selector().to_owned());
        let other = if chosen.contains("gpu") {
            "--as cpu"
        } else {
            "--as gpu"
        };
        output::print_error(
            &format!("the program found no device with {SELECTOR}={chosen}"),
            Some(&format!(
                "try solum run {other} -- PROGRAM, or --as both; solum ls lists the devices"
            )),
        );
    }
    if let Some(Ok(witness)) = witness
        && !witness.saw_a_kernel()
    {
        output::print_error(
            "no kernel ran on Solum",
            Some(
                "the program may have used another runtime: SYCL_UR_TRACE=1 shows its choice, solum ls -v the devices",
            ),
        );
        if code == 0 {
            return exit::PROBLEM;
        }
    }
    code
}

/// The exit code of a finished program, by the shells' convention.
pub(crate) fn code_of(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        // The system keeps eight bits of the code.
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128u8.saturating_add(signal as u8),
        (None, None) => exit::WRAPPER,
    }
}

/// Why a program was not started, with the exit code that shells use for it.
pub(crate) fn not_started(program: &OsStr, error: &io::Error) -> Failure {
    let path = std::env::var_os("PATH");
    let (cause, fix) = match program::resolve(program, path.as_deref()) {
        Err((cause, fix)) => (cause, Some(fix)),
        Ok(found) => program::unstartable(&found, error).map_or_else(
            || (error.to_string(), None),
            |(cause, fix)| (cause, Some(fix)),
        ),
    };
    // Shells answer 126 for a file that exists but cannot be executed, such as a directory.
    let is_there = program::is_there(program, path.as_deref());
    let code = match error.kind() {
        ErrorKind::NotFound if !is_there => exit::NOT_FOUND,
        _ => exit::CANNOT_EXECUTE,
    };
    Failure {
        code,
        error: format!("cannot run {}: {cause}", program.display()),
        hint: fix,
    }
}

/// A temporary file to which the driver writes when the first kernel runs.
struct Witness {
    file: PathBuf,
}

impl Witness {
    fn new() -> std::io::Result<Self> {
        // Created exclusively, so that no file of another user is written to.
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
        Err(std::io::Error::other("64 file names were taken"))
    }
    fn saw_a_kernel(&self) -> bool {
        fs::symlink_metadata(&self.file).is_ok_and(|file| file.len() > 0)
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // A leftover file is harmless: it is empty or holds one line.
        let _ = fs::remove_file(&self.file);
    }
}
