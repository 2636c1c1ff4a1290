//! Which file a program's name starts, and through which interpreter.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{elf, ordinary};

/// Scripts that name scripts: the kernel's own bound.
const DEPTH: usize = 4;
/// What the kernel reads of a script's first line.
const FIRST_LINE: u64 = 256;

/// A program that can be started.
#[derive(Debug)]
pub(crate) struct Program {
    /// What was found by name: a script or the binary.
    pub(crate) file: PathBuf,
    /// The binary that the kernel loads, by the name that leads to it (links unresolved).
    pub(crate) binary: PathBuf,
    /// It runs with more rights than its caller: the dynamic linker ignores paths from the environment.
    pub(crate) privileged: bool,
}

/// Finds what `name` starts in an environment with this `PATH`.
///
/// # Errors
/// What is wrong with it, and what to do.
pub(crate) fn resolve(name: &OsStr, path: Option<&OsStr>) -> Result<Program, (String, String)> {
    let file = find(name, path)?;
    let mut binary = file.clone();
    for _ in 0..DEPTH {
        let Some((interpreter, argument)) = first_line(&binary) else {
            let data = binary.metadata();
            let privileged =
                data.is_ok_and(|data| is_privileged(data.mode(), data.uid(), data.gid()));
            return Ok(Program {
                file,
                binary,
                privileged,
            });
        };
        let script = binary.clone();
        binary = if interpreter.file_name() == Some(OsStr::new("env")) {
            let name = argument.iter().find(|word| {
                !word.as_bytes().starts_with(b"-") && !word.as_bytes().contains(&b'=')
            });
            match name {
                Some(name) => find(name, path)?,
                None => interpreter,
            }
        } else {
            find(interpreter.as_os_str(), path).map_err(|_| {
                // Lines that end as on Windows leave a carriage return in the name.
                let name = interpreter.to_string_lossy();
                let cure = match name.strip_suffix('\r') {
                    Some(_) => format!(
                        "its lines end as on Windows: sed -i 's/\\r$//' {}",
                        script.display()
                    ),
                    None => "correct its first line, or start it by its interpreter".to_owned(),
                };
                let cause = format!(
                    "{} names the interpreter {}, which is not there",
                    script.display(),
                    name.escape_debug()
                );
                (cause, cure)
            })?
        };
    }
    Err((
        format!("{}: scripts name scripts in a circle", file.display()),
        "name the program itself".into(),
    ))
}

/// Why the system refuses a program that is there, and what to do; `None` when its own words say all.
pub(crate) fn unstartable(program: &Program, error: &std::io::Error) -> Option<(String, String)> {
    let shown = program.binary.display();
    match error.raw_os_error()? {
        libc::ENOEXEC => Some(match elf::read(&program.binary) {
            Ok(elf) => (
                format!(
                    "{shown} is made for {}, which this machine does not run",
                    elf.abi.name()
                ),
                "use a build of it for this machine".into(),
            ),
            Err(_) => (
                format!(
                    "{shown} is neither a binary nor a script whose first line names its interpreter"
                ),
                format!(
                    "begin it with a line such as #!/bin/sh, or start it by its interpreter: sh {shown}"
                ),
            ),
        }),
        libc::ENOENT => {
            let interpreter = elf::read(&program.binary).ok()?.interpreter?;
            Some((
                format!("its dynamic linker {} is not there", interpreter.display()),
                "install the system libraries that it is made for".into(),
            ))
        }
        _ => None,
    }
}

/// True when starting the file changes the user or the group.
fn is_privileged(mode: u32, user: u32, group: u32) -> bool {
    // SAFETY: system calls without memory.
    let (own_user, own_group) = unsafe { (libc::geteuid(), libc::getegid()) };
    (mode & libc::S_ISUID != 0 && user != own_user)
        || (mode & libc::S_ISGID != 0 && group != own_group)
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Whether there is something under that name, though it may be nothing that can be started.
pub(crate) fn is_there(name: &OsStr, path: Option<&OsStr>) -> bool {
    find(name, path).is_ok() || (name.as_bytes().contains(&b'/') && Path::new(name).exists())
}

fn find(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, (String, String)> {
    if name.as_bytes().contains(&b'/') {
        let file = PathBuf::from(name);
        if is_program(&file) {
            return Ok(file);
        }
        let shown = file.display();
        return Err(match file.metadata() {
            Ok(data) if data.is_dir() => (
                format!("{shown} is a directory"),
                "name a program in it".into(),
            ),
            Ok(_) => (
                format!("{shown} cannot be executed"),
                "chmod +x it, or start it by its interpreter".into(),
            ),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                (format!("{shown} does not exist"), "check its name".into())
            }
            Err(error) => (
                format!("{shown} cannot be reached: {error}"),
                "check its path and the rights on its folders".into(),
            ),
        });
    }
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    std::env::split_paths(path)
        .map(|directory| directory.join(name))
        .find(|file| is_program(file))
        .ok_or_else(|| {
            let here = Path::new(name);
            let shown = name.display();
            let cure = if is_program(here) {
                format!("it lies in this folder: ./{shown}")
            } else if here.is_file() {
                format!("a file of this name lies in this folder: start it by its interpreter, or chmod +x it and name \
                         ./{shown}")
            } else {
                "check its name, or give its path".into()
            };
            (format!("no program {shown} on PATH"), cure)
        })
}

/// The interpreter that a script's first line names, with the words behind it.
fn first_line(path: &Path) -> Option<(PathBuf, Vec<OsString>)> {
    let start = ordinary::start(path, FIRST_LINE).ok()?;
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let mut words = line
        .split(|byte| matches!(byte, b' ' | b'\t'))
        .filter(|word| !word.is_empty());
    let interpreter = PathBuf::from(OsStr::from_bytes(words.next()?));
    Some((
        interpreter,
        words
            .map(|word| OsStr::from_bytes(word).to_owned())
            .collect(),
    ))
}
