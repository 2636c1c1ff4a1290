//! Resolves a program name as `execvp` does: through PATH and the interpreters of scripts.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::{elf, regular_file};

/// The kernel's limit on scripts whose interpreter is a script.
const DEPTH: usize = 4;
/// The bytes of a script's first line that the kernel reads.
const FIRST_LINE: u64 = 256;

/// A resolved program.
#[derive(Debug)]
pub(crate) struct Program {
    /// The file with the program's name: a script or a binary.
    pub(crate) file: PathBuf,
    /// The binary that the kernel loads. Links are not resolved.
    pub(crate) binary: PathBuf,
    /// It runs with elevated privileges, so the dynamic linker ignores paths in the environment.
    pub(crate) privileged: bool,
}

/// Resolves `name` with this `PATH`.
///
/// # Errors
/// Cause and fix.
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
                // Windows line endings leave a carriage return in the name.
                let name = interpreter.to_string_lossy();
                let fix = match name.strip_suffix('\r') {
                    Some(_) => format!(
                        "convert its Windows line endings: sed -i 's/\\r$//' {}",
                        script.display()
                    ),
                    None => "correct its first line, or run it with its interpreter".to_owned(),
                };
                let cause = format!(
                    "{} names the interpreter {}, which does not exist",
                    script.display(),
                    name.escape_debug()
                );
                (cause, fix)
            })?
        };
    }
    Err((
        format!("{}: too many nested script interpreters", file.display()),
        "correct the scripts' first lines".into(),
    ))
}

/// Cause and fix if the system cannot execute an existing program; `None` if the system's error says enough.
pub(crate) fn unstartable(program: &Program, error: &std::io::Error) -> Option<(String, String)> {
    let shown = program.binary.display();
    match error.raw_os_error()? {
        libc::ENOEXEC => Some(match elf::read(&program.binary) {
            Ok(elf) => (
                format!(
                    "{shown} is built for {}, which this machine does not run",
                    elf.abi.name()
                ),
                "use a build of it for this machine".into(),
            ),
            Err(_) => (
                format!(
                    "{shown} is neither a binary nor a script whose first line names its interpreter"
                ),
                format!(
                    "add a first line such as #!/bin/sh, or run it with its interpreter: sh {shown}"
                ),
            ),
        }),
        libc::ENOENT => {
            let interpreter = elf::read(&program.binary).ok()?.interpreter?;
            Some((
                format!(
                    "its dynamic linker {} does not exist",
                    interpreter.display()
                ),
                "install the system libraries that it was built for".into(),
            ))
        }
        _ => None,
    }
}

/// Whether executing the file changes the user or the group.
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

/// Whether an entry of that name exists, executable or not.
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
                "name a program in that directory".into(),
            ),
            Ok(_) => (
                format!("{shown} is not executable"),
                "chmod +x it, or run it with its interpreter".into(),
            ),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                (format!("{shown} does not exist"), "check the name".into())
            }
            Err(error) => (
                format!("{shown} cannot be reached: {error}"),
                "check the path and the permissions of its folders".into(),
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
            let fix = if is_program(here) {
                format!("it is in the current folder: use ./{shown}")
            } else if here.is_file() {
                format!("a file of this name is in the current folder: run it with its interpreter, or chmod +x it and \
                         use ./{shown}")
            } else {
                "check the name, or use a path".into()
            };
            (format!("no program {shown} on PATH"), fix)
        })
}

/// The interpreter in a script's first line, with its arguments.
fn first_line(path: &Path) -> Option<(PathBuf, Vec<OsString>)> {
    let start = regular_file::start(path, FIRST_LINE).ok()?;
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
