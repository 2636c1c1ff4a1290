//! The parts that all verbs share: folders, running programs, output.
//!
//! A dry run starts no program and writes no file: it collects the lines that would run. It takes every package as
//! missing and every file as out of date, so its output is the same on every machine.

use std::cell::{Cell, RefCell};
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::Pid;

use crate::failure_lines::Copy;
use crate::process_tree::{self, End};
use crate::program::{Program, quote};

/// The folder that a script of ours was called from, where it is not the current one.
const CALLED_FROM: &str = "X_CALLED_FROM";

/// How variables begin that `cargo run` sets for this program. Programs that are tested do not get them.
const SET_BY_CARGO: [&str; 3] = ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_BIN_NAME"];

/// One call of `./x`.
pub(crate) struct Session {
    /// The repository's root.
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
    /// The folder that relative paths of the command line begin in.
    pub(crate) called_from: PathBuf,
    /// In CI a step that is skipped counts as failed.
    pub(crate) is_ci: bool,
    /// Whether commands are collected instead of run.
    pub(crate) is_dry: bool,
    has_colours: bool,
    /// Whether the user set a variable.
    is_set: fn(&str) -> bool,
    /// Variables for all programs; `None` removes one.
    environment: Vec<(OsString, Option<OsString>)>,
    deadline: Cell<Option<Instant>>,
    is_late: Cell<bool>,
    /// The lines of a dry run.
    shown: RefCell<Vec<String>>,
    /// In CI, lines of this step's programs that say what failed.
    failures: RefCell<Vec<String>>,
}

/// The output of a program.
pub(crate) struct Captured {
    /// Whether it ended with status 0.
    pub(crate) success: bool,
    /// Its output.
    pub(crate) text: String,
}

/// Which output of a program is captured; the rest goes where this program's goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capture {
    /// Its standard output.
    Output,
    /// Its standard output and its standard error, in the order of writing.
    OutputAndErrors,
}

impl Session {
    /// The session of this process in the repository at `root`.
    pub(crate) fn new(root: PathBuf, is_dry: bool) -> Result<Self> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let here = std::env::current_dir().context("the current folder is gone")?;
        let called_from = variable(CALLED_FROM).map_or_else(|| here.clone(), PathBuf::from);
        let is_ours = |name: &OsString| {
            let name = name.to_string_lossy();
            name == CALLED_FROM || SET_BY_CARGO.iter().any(|start| name.starts_with(start))
        };
        let names = std::env::vars_os().map(|(name, _)| name).filter(is_ours);
        let mut environment: Vec<_> = names.map(|name| (name, None)).collect();
        if let Some(folder) = std::env::current_exe()?.parent()
            && let Some(paths) = std::env::var_os(LIBRARY_PATH)
        {
            environment.push((LIBRARY_PATH.into(), without_cargos(&paths, folder)));
        }
        let mut target = root.join("target");
        if let Some(folder) = variable("CARGO_TARGET_DIR") {
            target = here.join(folder);
            environment.push(("CARGO_TARGET_DIR".into(), Some(target.clone().into())));
        }
        Ok(Self {
            root,
            target,
            called_from,
            is_ci: variable("CI").is_some_and(|value| value == "true"),
            is_dry,
            has_colours: std::io::stderr().is_terminal(),
            is_set: |name| std::env::var_os(name).is_some_and(|value| !value.is_empty()),
            environment,
            deadline: Cell::new(None),
            is_late: Cell::new(false),
            shown: RefCell::new(Vec::new()),
            failures: RefCell::new(Vec::new()),
        })
    }

    /// A dry run in a repository that is not there.
    #[cfg(test)]
    pub(crate) fn for_test() -> Self {
        Self {
            root: "/solum".into(),
            target: "/solum/target".into(),
            called_from: "/solum".into(),
            is_ci: false,
            is_dry: true,
            has_colours: false,
            is_set: |_| false,
            environment: Vec::new(),
            deadline: Cell::new(None),
            is_late: Cell::new(false),
            shown: RefCell::new(Vec::new()),
            failures: RefCell::new(Vec::new()),
        }
    }

    /// Sets a variable for all programs, unless the user set it.
    pub(crate) fn default_variable(&mut self, name: &str, value: &str) {
        if (self.is_set)(name) {
            return;
        }
        self.environment.push((name.into(), Some(value.into())));
        if self.is_dry {
            self.show(format!("export {name}={value}"));
        }
    }

    /// Sets a variable for all programs whatever the user set, or removes it.
    pub(crate) fn set_variable(&mut self, name: &str, value: Option<&str>) {
        self.environment.push((name.into(), value.map(Into::into)));
        if self.is_dry {
            self.show(match value {
                Some(value) => format!("export {name}={}", quote(value.as_ref())),
                None => format!("unset {name}"),
            });
        }
    }

    /// The folder of optimised libraries and programs.
    pub(crate) fn release_folder(&self) -> PathBuf {
        self.target.join("release")
    }

    /// An optimised library or program.
    pub(crate) fn release(&self, name: &str) -> PathBuf {
        self.release_folder().join(name)
    }

    /// The program `solum` of this checkout, without arguments.
    pub(crate) fn solum(&self) -> Program {
        Program::new(self.release("solum"))
    }

    /// A path of the repository.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A path of the command line.
    pub(crate) fn given(&self, path: &Path) -> PathBuf {
        self.called_from.join(path)
    }

    /// Prints a line of progress.
    pub(crate) fn say(&self, text: &str) {
        if self.is_dry {
            self.shown.borrow_mut().push(format!("# {text}"));
        } else {
            self.error_line(&format!("{} {text}", self.bold("==>")));
        }
    }

    /// Writes a line to the standard error.
    pub(crate) fn error_line(&self, line: &str) {
        // Without a place for messages the work goes on.
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// `text` in bold.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.in_colour("1", text)
    }

    /// `text` in red.
    pub(crate) fn red(&self, text: &str) -> String {
        self.in_colour("31", text)
    }

    /// `text` in green.
    pub(crate) fn green(&self, text: &str) -> String {
        self.in_colour("32", text)
    }

    fn in_colour(&self, code: &str, text: &str) -> String {
        if self.has_colours {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Collects a line of a dry run.
    pub(crate) fn show(&self, line: impl Into<String>) {
        self.shown.borrow_mut().push(line.into());
    }

    /// The lines of a dry run.
    pub(crate) fn shown(&self) -> String {
        let lines = self.shown.borrow();
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The line that repeats `line` in the shell of the user.
    pub(crate) fn repeatable(&self, line: &str) -> String {
        let mut words = String::new();
        if self.called_from != self.root {
            words = format!("cd {} && ", quote(self.root.as_os_str()));
        }
        let set = self.environment.iter().filter_map(|(name, value)| {
            let is_ours = name != LIBRARY_PATH && name != "CARGO_TARGET_DIR";
            value
                .as_ref()
                .filter(|_| is_ours)
                .map(|value| (name, value))
        });
        for (name, value) in set {
            words += &format!("{}={} ", name.to_string_lossy(), quote(value));
        }
        words + line
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// It cannot be started, fails, or is late.
    pub(crate) fn run(&self, program: &Program) -> Result<()> {
        if !self.succeeds(program)? {
            bail!("failed: {}", program.line());
        }
        Ok(())
    }

    /// Runs a program to its end, and returns whether it succeeded.
    ///
    /// # Errors
    /// It cannot be started, or is late.
    pub(crate) fn succeeds(&self, program: &Program) -> Result<bool> {
        if self.is_dry {
            self.show(program.line());
            return Ok(true);
        }
        let mut command = program.command(&self.root, &self.environment);
        let copy = match self.is_ci && self.deadline.get().is_some() {
            true => {
                let (reader, writer) = std::io::pipe()?;
                command.stderr(writer.try_clone()?).stdout(writer);
                Some(Copy::begin(reader))
            }
            false => None,
        };
        let child = command.spawn().with_context(|| not_started(program))?;
        // Its ends of the pipe would keep the copy waiting.
        drop(command);
        let result = self.wait(child);
        let lines = copy.map(Copy::end).unwrap_or_default();
        if !matches!(result, Ok(true)) {
            self.failures.borrow_mut().extend(lines);
        }
        result
    }

    /// Lines that say what failed in the programs that ran since the last call; only in CI.
    pub(crate) fn take_failures(&self) -> Vec<String> {
        self.failures.take()
    }

    /// Runs a program and returns what it printed; in a dry run nothing.
    ///
    /// # Errors
    /// It cannot be started, or is late.
    pub(crate) fn capture(&self, program: &Program, what: Capture) -> Result<Option<Captured>> {
        if self.is_dry {
            self.show(program.line());
            return Ok(None);
        }
        let (mut reader, writer) = std::io::pipe()?;
        let mut command = program.command(&self.root, &self.environment);
        if what == Capture::OutputAndErrors {
            command.stderr(writer.try_clone()?);
        }
        command.stdin(Stdio::null()).stdout(writer);
        let child = command.spawn().with_context(|| not_started(program))?;
        // Its ends of the pipe would keep the reader waiting.
        drop(command);
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            send.send(reader.read_to_end(&mut bytes).map(|_| bytes))
        });
        let success = self.wait(child)?;
        // An orphan of the program may keep its output open.
        let bytes = match self.deadline.get() {
            None => receive.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(deadline) => {
                receive.recv_timeout(deadline.saturating_duration_since(Instant::now()))
            }
        };
        let bytes = match bytes {
            Ok(bytes) => bytes.with_context(|| format!("reading from {}", program.line()))?,
            Err(RecvTimeoutError::Disconnected) => bail!("reading from {}", program.line()),
            Err(RecvTimeoutError::Timeout) => {
                process_tree::end_all(&mut |line| self.error_line(line));
                self.is_late.set(true);
                bail!("its time is over")
            }
        };
        let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        Ok(Some(Captured { success, text }))
    }

    /// The output of a program; in a dry run `instead`.
    ///
    /// # Errors
    /// It cannot be started, fails, or is late.
    pub(crate) fn answer(&self, program: &Program, instead: &str) -> Result<String> {
        let answer = self.capture(program, Capture::Output)?;
        answer.map_or(Ok(instead.to_owned()), |answer| match answer.success {
            true => Ok(answer.text),
            false => bail!("failed: {}", program.line()),
        })
    }

    /// Replaces this process by a program, in the folder that the user is in; returns only in a dry run.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn replace(&self, program: &Program) -> Result<()> {
        if self.is_dry {
            self.show(program.line());
            return Ok(());
        }
        let error = program.command(&self.called_from, &self.environment).exec();
        Err(error).with_context(|| not_started(program))
    }

    fn wait(&self, mut child: std::process::Child) -> Result<bool> {
        let Some(deadline) = self.deadline.get() else {
            return Ok(child.wait()?.success());
        };
        let pid = Pid::from_child(&child);
        let end = process_tree::wait(pid, Some(deadline), &mut |line| self.error_line(line))?;
        match end {
            End::Itself { success } => Ok(success),
            End::Late => {
                self.is_late.set(true);
                bail!("its time is over")
            }
        }
    }

    /// Runs `work`, whose programs are ended after `limit`; returns its result, and whether it was late.
    pub(crate) fn limited<T>(&self, limit: Duration, work: impl FnOnce() -> T) -> (T, bool) {
        if !self.is_dry {
            self.is_late.set(false);
            self.deadline.set(Some(Instant::now() + limit));
            if let Err(error) = process_tree::adopt_orphans() {
                self.say(&format!(
                    "orphans of a step that hangs will be left: {error}"
                ));
            }
        }
        let result = work();
        self.deadline.set(None);
        (result, self.is_late.get())
    }

    /// Whether `output` is there and not older than any of `inputs`.
    pub(crate) fn is_newer(&self, output: &Path, inputs: &[PathBuf]) -> bool {
        let modified = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified()).ok();
        let Some(made) = modified(output).filter(|_| !self.is_dry) else {
            return false;
        };
        inputs
            .iter()
            .all(|input| modified(input).is_some_and(|time| time <= made))
    }

    /// Whether a file or folder is there; in a dry run none is.
    pub(crate) fn exists(&self, path: &Path) -> bool {
        !self.is_dry && path.exists()
    }

    /// Makes a folder and those above it.
    pub(crate) fn make_folder(&self, folder: &Path) -> Result<()> {
        if self.is_dry {
            self.show(format!("mkdir -p {}", quote(folder.as_os_str())));
            return Ok(());
        }
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))
    }

    /// Writes a file, in a folder that is there.
    pub(crate) fn write(&self, file: &Path, text: &str) -> Result<()> {
        if self.is_dry {
            self.show(format!("# writes {}", file.display()));
            return Ok(());
        }
        std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))
    }

    /// Copies a file.
    pub(crate) fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let files = [from, to].map(Path::as_os_str);
        self.run(&Program::new("cp").args(files))
    }

    /// Removes a folder with all that is in it, if it is there.
    pub(crate) fn remove_folder(&self, folder: &Path) -> Result<()> {
        if self.is_dry {
            self.show(format!("rm -rf {}", quote(folder.as_os_str())));
            return Ok(());
        }
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("removing {}", folder.display()))
            }
            _ => Ok(()),
        }
    }

    /// Warns when fewer than `gibibytes` of disk are free for `what`: a full disk breaks builds in unclear ways.
    pub(crate) fn warn_about_space(&self, gibibytes: u64, what: &str) {
        const GIB: u64 = 1 << 30;
        let Ok(disk) = rustix::fs::statvfs(&self.root) else {
            return;
        };
        let free = disk.f_bavail * disk.f_frsize / GIB;
        if free < gibibytes && !self.is_dry {
            let text = format!(
                "only {free} GiB of disk are free here; {what} needs about {gibibytes}: free some first"
            );
            self.say(&self.red(&text));
        }
    }
}

fn not_started(program: &Program) -> String {
    format!("cannot start: {}", program.line())
}

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// `paths` without the folders that cargo and rustup add for a program in `folder`: those of the build, Rust's libraries
/// for programs (`TOOLCHAIN/lib/rustlib/TARGET/lib`) and for the compiler (`TOOLCHAIN/lib`).
fn without_cargos(paths: &OsStr, folder: &Path) -> Option<OsString> {
    let paths: Vec<PathBuf> = std::env::split_paths(paths).collect();
    let is_rusts = |path: &Path| path.iter().any(|name| name == "rustlib");
    let is_compilers = |path: &Path| {
        let has_rust = |other: &PathBuf| other.starts_with(path.join("rustlib"));
        paths.iter().any(has_rust)
    };
    let is_own =
        |path: &&PathBuf| !path.starts_with(folder) && !is_rusts(path) && !is_compilers(path);
    let own = std::env::join_paths(paths.iter().filter(is_own)).ok();
    own.filter(|paths| !paths.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_cargo_are_taken_from_the_library_path() {
        let folder = Path::new("/t/debug");
        let rust = "/r/lib/rustlib/x86_64-unknown-linux-gnu/lib";
        let cases = [
            (format!("{rust}:/r/lib"), None),
            (format!("{rust}:/r/lib:/own"), Some("/own")),
            (
                format!("/t/debug/build/x/out:/t/debug/deps:/t/debug:{rust}:/own:/own2"),
                Some("/own:/own2"),
            ),
            (format!("{rust}:/own/lib"), Some("/own/lib")),
            ("/own".to_owned(), Some("/own")),
        ];
        for (paths, expected) in cases {
            let found = without_cargos(OsStr::new(&paths), folder);
            assert_eq!(found.as_deref(), expected.map(OsStr::new), "{paths}");
        }
    }

    #[test]
    fn a_line_to_repeat_names_the_folder_and_the_variables() {
        let mut session = Session::for_test();
        assert_eq!(session.repeatable("./x check loom"), "./x check loom");
        session.environment = vec![
            ("SOLUM_LLVM".into(), Some("static".into())),
            ("CARGO_PKG_NAME".into(), None),
        ];
        session.called_from = "/elsewhere".into();
        assert_eq!(
            session.repeatable("./x check loom"),
            "cd /solum && SOLUM_LLVM=static ./x check loom"
        );
    }

    #[test]
    fn programs_run_in_the_root_and_say_how_they_end() {
        let root = std::env::temp_dir();
        let mut session = Session::new(root.clone(), false).unwrap();
        session.called_from = root.clone();
        assert!(session.run(&Program::new("true")).is_ok());
        let error = session.run(&Program::new("false").arg("a b")).unwrap_err();
        assert_eq!(error.to_string(), "failed: false 'a b'");
        let error = session.run(&Program::new("no-such-program")).unwrap_err();
        assert!(error.to_string().contains("cannot start"), "{error}");
        let program = Program::new("sh").args(["-c", "pwd; echo err >&2; exit 3"]);
        let captured = session.capture(&program, Capture::OutputAndErrors);
        let captured = captured.unwrap().unwrap();
        let expected = format!("{}\nerr", root.canonicalize().unwrap().display());
        assert_eq!((captured.success, captured.text), (false, expected));
    }
}
