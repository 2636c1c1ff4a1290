//! What can crash or hang is done by a child of ours: opening libraries, initialising drivers, running a kernel.
//!
//! The child prints one JSON object a line for each step that it has come through, so that its parent knows how far it
//! came whatever ends it. Lines of another form are what drivers print; they are kept.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};

use super::setting::Setting;
use super::{probe_driver, probe_library, probe_loader};

/// The verb under which the program starts itself anew.
pub(crate) const VERB: &str = "doctor-probe";
/// Text that a child may print before the rest is dropped.
const TALK_BOUND: u64 = 64 << 10;

/// A probe, for the child.
#[derive(Args)]
pub(crate) struct Options {
    /// `loader`, `driver` or `library`.
    kind: String,
    /// The file, or the name that `dlopen` gets.
    name: OsString,
    /// For `library`: symbols that it must have.
    symbols: Vec<String>,
}

/// A device, as the standard calls show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Device {
    pub(crate) name: String,
    /// `gpu`, `cpu` or another of the specification's words.
    pub(crate) kind: String,
    /// So many sub-devices.
    pub(crate) sub_devices: u32,
}

/// One step of a probe that is behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(crate) enum Step {
    /// The library is open.
    Opened {
        /// The file behind the name.
        path: String,
    },
    /// It cannot be opened.
    Refused {
        /// The dynamic linker's words, or ours.
        reason: String,
    },
    /// Functions that clients look for and that are not there.
    Missing {
        /// Their names.
        symbols: Vec<String>,
    },
    /// Of a loader: its versions.
    Version {
        /// `major.minor.patch`.
        library: String,
        /// Of the specification.
        api: String,
    },
    /// An initialisation.
    Initialised {
        /// The function that was called.
        function: String,
        /// The result's name.
        code: String,
        /// What the library says about it.
        text: String,
    },
    /// One driver.
    Driver {
        /// Of the specification.
        api: String,
        /// `driverVersion`.
        version: u32,
        /// Its handles carry DDI tables, or the specification's version takes them for granted.
        ddi_handles: bool,
        /// Programs of several SPIR-V modules.
        module_program: bool,
        /// In its order.
        devices: Vec<Device>,
    },
    /// A call that should not fail failed.
    Failed {
        /// The call and its result.
        what: String,
    },
    /// A kernel ran, or did not.
    Launched {
        /// The device's name.
        device: String,
        /// Nothing when the results are right.
        error: Option<String>,
        /// Compiling it.
        build_ms: f64,
        /// Launch and wait of the second run.
        launch_us: f64,
    },
    /// Of the code generator: which build it is.
    Build {
        /// Its words.
        id: String,
    },
}

/// How a probe ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// As it should.
    Done,
    /// Killed by a signal.
    Signal(i32),
    /// It called exit, or the probe itself failed.
    Code(i32),
    /// Ended by us.
    TimedOut(u64),
    /// It could not be started.
    NotStarted(String),
}

impl End {
    /// For people.
    pub(crate) fn text(&self) -> String {
        match self {
            End::Done => "ended well".into(),
            End::Signal(signal) => format!("crashed by signal {signal}{}", signal_name(*signal)),
            End::Code(code) => format!("ended the process with exit code {code}"),
            End::TimedOut(seconds) => format!("did not come back within {seconds} s"),
            End::NotStarted(reason) => format!("could not be tried: {reason}"),
        }
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGILL => " (SIGILL: an instruction that this processor lacks)",
        libc::SIGKILL => " (SIGKILL: perhaps out of memory)",
        _ => "",
    }
}

/// What a child found.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) steps: Vec<Step>,
    /// What was printed besides, stdout and stderr.
    pub(crate) talk: String,
    pub(crate) end: End,
}

impl Outcome {
    /// The file that was opened.
    pub(crate) fn opened(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| match step {
            Step::Opened { path } => Some(path.as_str()),
            _ => None,
        })
    }

    /// Why it was not opened.
    pub(crate) fn refused(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| match step {
            Step::Refused { reason } => Some(reason.as_str()),
            _ => None,
        })
    }

    /// The end, with the first words of the child: the later ones are traces.
    pub(crate) fn end_text(&self) -> String {
        let words: Vec<&str> = self
            .talk
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with("ZE_LOADER_DEBUG_TRACE"))
            .take(3)
            .collect();
        if words.is_empty() {
            self.end.text()
        } else {
            format!("{}; it printed:\n{}", self.end.text(), words.join("\n"))
        }
    }
}

/// Runs a probe in a child with this environment.
pub(crate) fn run(
    setting: &Setting,
    kind: &str,
    name: &std::ffi::OsStr,
    symbols: &[&str],
    limit: Duration,
) -> Outcome {
    let failed = |reason: String| Outcome {
        steps: Vec::new(),
        talk: String::new(),
        end: End::NotStarted(reason),
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return failed(error.to_string()),
    };
    let spawned = Command::new(program)
        .args([VERB, kind])
        .arg("--")
        .arg(name)
        .args(symbols)
        .env_clear()
        .envs(setting.all())
        // What is looked at leaves no trace: no log, no sign that a kernel ran.
        .env_remove("SOLUM_RECORDER")
        .env_remove("SOLUM_WITNESS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return failed(error.to_string()),
    };
    let (lines, received) = mpsc::channel::<String>();
    let stdout = child.stdout.take().map(|stdout| {
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                if lines.send(line).is_err() {
                    break;
                }
            }
        })
    });
    let stderr = child.stderr.take().map(|stderr| {
        std::thread::spawn(move || {
            let mut talk = Vec::new();
            // A pipe that breaks ends the talk.
            let _ = stderr.take(TALK_BOUND).read_to_end(&mut talk);
            String::from_utf8_lossy(&talk).into_owned()
        })
    });
    let began = Instant::now();
    let mut steps = Vec::new();
    let mut talk = String::new();
    let mut timed_out = false;
    loop {
        let left = limit.saturating_sub(began.elapsed());
        match received.recv_timeout(left) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(step) => steps.push(step),
                Err(_) if (talk.len() as u64) < TALK_BOUND => {
                    talk += &line;
                    talk.push('\n');
                }
                Err(_) => {}
            },
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                timed_out = true;
                // One that is gone already needs no killing.
                let _ = child.kill();
                break;
            }
        }
    }
    let status = child.wait();
    if timed_out {
        // Grandchildren may hold the pipes: the readers are left to themselves.
        return Outcome {
            steps,
            talk,
            end: End::TimedOut(limit.as_secs()),
        };
    }
    if let Some(reader) = stdout {
        // It has seen the end, or the loop above would not have ended.
        let _ = reader.join();
    }
    if let Some(reader) = stderr {
        talk += &reader.join().unwrap_or_default();
    }
    let end = match status {
        Ok(status) => {
            use std::os::unix::process::ExitStatusExt;
            match (status.code(), status.signal()) {
                (Some(0), _) => End::Done,
                (Some(code), _) => End::Code(code),
                (None, signal) => End::Signal(signal.unwrap_or(0)),
            }
        }
        Err(error) => End::NotStarted(error.to_string()),
    };
    Outcome { steps, talk, end }
}

/// The child's part.
pub(crate) fn child(options: &Options) -> u8 {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid limit. A crash here is a finding; nobody wants its core file.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    match options.kind.as_str() {
        "loader" => probe_loader::probe(&options.name),
        "driver" => probe_driver::probe(&options.name),
        "library" => probe_library::probe(&options.name, &options.symbols),
        _ => return crate::exit::CANNOT,
    }
    0
}

/// Tells the parent.
pub(crate) fn tell(step: &Step) {
    if let Ok(line) = serde_json::to_string(step) {
        // On a line of its own, whatever the library has printed before. A parent that is gone hears nothing.
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "\n{line}").and_then(|()| out.flush());
    }
}
