//! Starts child processes for everything that may crash or hang: opening libraries, initialising drivers, running kernels.
//!
//! The child prints a JSON object for each step that it completed, so the parent knows how far it came even if it
//! crashes. Other lines are output of drivers and are kept for the report.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::environment::Environment;
use super::step::Step;

/// The subcommand with which `solum` starts itself as a child.
pub(crate) const VERB: &str = "doctor-probe";
/// Bytes of a child's output that are kept.
const TALK_BOUND: u64 = 64 << 10;

/// How a child ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It completed.
    Done,
    /// Killed by a signal.
    Signal(i32),
    /// It exited with another code than 0.
    Code(i32),
    /// It was killed after this many seconds.
    TimedOut(u64),
    /// It could not be started.
    NotStarted(String),
}

impl End {
    /// A description.
    pub(crate) fn text(&self) -> String {
        match self {
            End::Done => "completed".into(),
            End::Signal(signal) => format!("crashed by signal {signal}{}", signal_name(*signal)),
            End::Code(code) => format!("exited the process with code {code}"),
            End::TimedOut(seconds) => format!("did not return within {seconds} s"),
            End::NotStarted(reason) => format!("could not be tested: {reason}"),
        }
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGILL => " (SIGILL: instruction not supported by this processor)",
        libc::SIGKILL => " (SIGKILL: possibly out of memory)",
        _ => "",
    }
}

/// The findings of a child.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) steps: Vec<Step>,
    /// Its other output, stdout and stderr.
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

    /// Why the library was not opened.
    pub(crate) fn refused(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| match step {
            Step::Refused { reason } => Some(reason.as_str()),
            _ => None,
        })
    }

    /// How it ended, with the first lines that it printed.
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

/// Starts a child with this environment and waits for its end.
pub(crate) fn run(
    environment: &Environment,
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
        .envs(environment.all())
        // The check must not leave a log or the sign that a kernel ran.
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
            // Keeps what was read if the pipe breaks.
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
                // Fails if the child has already ended.
                let _ = child.kill();
                break;
            }
        }
    }
    let status = child.wait();
    if timed_out {
        // Grandchildren may hold the pipes open, so the reader threads are not joined.
        return Outcome {
            steps,
            talk,
            end: End::TimedOut(limit.as_secs()),
        };
    }
    if let Some(reader) = stdout {
        // The reader has finished: the loop ended because it closed the channel.
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
