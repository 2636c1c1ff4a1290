//! Which file a program's name starts, and through which interpreter.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

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
                (
                    format!(
                        "{} names the interpreter {}, which is not there",
                        script.display(),
                        interpreter.display()
                    ),
                    "correct its first line, or start it by its interpreter".to_owned(),
                )
            })?
        };
    }
    Err((
        format!("{}: scripts name scripts in a circle", file.display()),
        "name the program itself".into(),
    ))
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

fn find(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, (String, String)> {
    if name.as_bytes().contains(&b'/') {
        let file = PathBuf::from(name);
        if is_program(&file) {
            return Ok(file);
        }
        return Err(if file.exists() {
            (
                format!("{} cannot be executed", file.display()),
                "chmod +x it, or start it by its interpreter".into(),
            )
        } else {
            (
                format!("{} does not exist", file.display()),
                "check its name".into(),
            )
        });
    }
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    std::env::split_paths(path)
        .map(|directory| directory.join(name))
        .find(|file| is_program(file))
        .ok_or_else(|| {
            (
                format!("no program {} on PATH", name.display()),
                "check its name, or give its path".into(),
            )
        })
}

/// The interpreter that a script's first line names, with the words behind it.
fn first_line(path: &Path) -> Option<(PathBuf, Vec<OsString>)> {
    let mut start = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(FIRST_LINE).read_to_end(&mut start).ok()?;
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
