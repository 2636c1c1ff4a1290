//! The loader's log, enabled by the environment: lines on stderr or in a file, never on stdout.
//!
//! `ZE_ENABLE_LOADER_DEBUG_TRACE` logs everything to stderr. `ZEL_ENABLE_LOADER_LOGGING` logs from a level on
//! (`ZEL_LOADER_LOGGING_LEVEL`), in a format (`ZEL_LOADER_LOG_PATTERN`), to stderr (`ZEL_LOADER_LOG_CONSOLE`) or to a
//! file (`ZEL_LOADER_LOG_DIR`, `ZEL_LOADER_LOG_FILE`). Each line is one `write`, so that lines of several processes do
//! not mix.
//!
//! Nothing here has a destructor; the file stays open as long as the process lives.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write as _};
use std::os::fd::IntoRawFd;
use std::path::PathBuf;
use std::sync::OnceLock;

use owned_file::Content;

use crate::candidate::is_privileged;

/// The level of a line, in the order of the reference's names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Critical,
}

impl Level {
    /// From `ZEL_LOADER_LOGGING_LEVEL`: `None` is `off`; unknown levels are the default.
    fn parse(value: Option<&OsStr>) -> Option<Level> {
        Some(match value.and_then(OsStr::to_str) {
            Some("trace") => Level::Trace,
            Some("debug") => Level::Debug,
            Some("info") => Level::Info,
            Some("err" | "error") => Level::Error,
            Some("critical") => Level::Critical,
            Some("off") => return None,
            _ => Level::Warn,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Level::Trace => "trace",
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warning",
            Level::Error => "error",
            Level::Critical => "critical",
        }
    }
}

/// The reference's line format.
const PATTERN: &str = "[%Y-%m-%d %H:%M:%S.%e] [thread-id: %t] [%l] %v";

/// The destination of lines, read once.
struct Log {
    /// Everything to stderr, with a prefix on each line.
    debug: bool,
    logging: Option<Logging>,
}

/// The log that `ZEL_ENABLE_LOADER_LOGGING` enables.
struct Logging {
    /// The lowest level that is logged.
    least: Level,
    descriptor: i32,
    pattern: String,
}

impl Logging {
    fn line(&self, level: Level, text: fmt::Arguments<'_>) {
        if level >= self.least {
            let mut line = shaped(&self.pattern, level, &text.to_string());
            line.push('\n');
            write(self.descriptor, &line);
        }
    }
}

/// The reference's mode variables accept 0, 1 and 2; any other value means 0.
fn mode_is_on(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| value == "1" || value == "2")
}

fn log() -> &'static Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    LOG.get_or_init(|| {
        let variable = |name: &str| std::env::var_os(name);
        let logging = mode_is_on(variable("ZEL_ENABLE_LOADER_LOGGING").as_deref())
            .then(|| Level::parse(variable("ZEL_LOADER_LOGGING_LEVEL").as_deref()))
            .flatten();
        Log {
            debug: mode_is_on(variable("ZE_ENABLE_LOADER_DEBUG_TRACE").as_deref()),
            logging: logging.and_then(|level| {
                let console = variable("ZEL_LOADER_LOG_CONSOLE").is_some_and(|value| value != "0");
                let descriptor = if console {
                    libc::STDERR_FILENO
                } else {
                    open_file()?
                };
                let pattern =
                    variable("ZEL_LOADER_LOG_PATTERN").and_then(|text| text.into_string().ok());
                Some(Logging {
                    least: level,
                    descriptor,
                    pattern: pattern.unwrap_or_else(|| PATTERN.into()),
                })
            }),
        }
    })
}

/// Opens the log file; a line on stderr reports a failure.
fn open_file() -> Option<i32> {
    // A process with more rights than its caller does not write to a path that the caller chooses.
    let variable = |name: &str| {
        if is_privileged() {
            None
        } else {
            std::env::var_os(name)
        }
    };
    let folder = variable("ZEL_LOADER_LOG_DIR")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".oneapi_logs")))?;
    let file = variable("ZEL_LOADER_LOG_FILE").unwrap_or_else(|| OsString::from("ze_loader.log"));
    let path = folder.join(file);
    let created = owned_file::make_folders(&folder);
    match owned_file::open(&path, Content::Kept, 0o644) {
        // The file stays open.
        Ok(file) => Some(file.into_raw_fd()),
        Err(error) => {
            always(format_args!(
                "the loader's log {} cannot be written: {}",
                path.display(),
                created.err().unwrap_or(error)
            ));
            None
        }
    }
}

/// Logs one line, if the environment enables this level.
pub(crate) fn line(level: Level, text: fmt::Arguments<'_>) {
    let log = log();
    if log.debug {
        write(
            libc::STDERR_FILENO,
            &format!("ZE_LOADER_DEBUG_TRACE: {text}\n"),
        );
    }
    if let Some(logging) = &log.logging {
        logging.line(level, text);
    }
}

/// Whether this level is logged.
pub(crate) fn wants(level: Level) -> bool {
    let log = log();
    log.debug
        || log
            .logging
            .as_ref()
            .is_some_and(|logging| level >= logging.least)
}

/// Logs one line to the file only, because the text is on stderr already.
pub(crate) fn to_file(level: Level, text: fmt::Arguments<'_>) {
    if let Some(logging) = &log().logging
        && logging.descriptor != libc::STDERR_FILENO
    {
        logging.line(level, text);
    }
}

/// Logs one line at any level: one of Solum's variables has an invalid value.
pub(crate) fn always(text: fmt::Arguments<'_>) {
    write(libc::STDERR_FILENO, &format!("solum: {text}\n"));
}

fn write(descriptor: i32, line: &str) {
    // The standard library's stderr would leave a destructor behind.
    signal_mask::write_descriptor(descriptor, line.as_bytes());
}

/// Formats a line in the reference's pattern language: dates as in C, `%e` milliseconds, `%t` thread, `%P` process,
/// `%l` and `%L` level, `%n` logger, `%v` text; `%^` and `%$` (colours) are removed, unknown ones are kept.
fn shaped(pattern: &str, level: Level, text: &str) -> String {
    // SAFETY: all-zero is a valid value of both structs, which are our own.
    let (now, date) = unsafe {
        let mut now: libc::timespec = std::mem::zeroed();
        let mut date: libc::tm = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now);
        libc::localtime_r(&raw const now.tv_sec, &raw mut date);
        (now, date)
    };
    let mut line = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            line.push(letter);
            continue;
        }
        // Writing to a string does not fail.
        let _ = match letters.next() {
            Some('Y') => write!(line, "{}", date.tm_year + 1900),
            Some('m') => write!(line, "{:02}", date.tm_mon + 1),
            Some('d') => write!(line, "{:02}", date.tm_mday),
            Some('H') => write!(line, "{:02}", date.tm_hour),
            Some('M') => write!(line, "{:02}", date.tm_min),
            Some('S') => write!(line, "{:02}", date.tm_sec),
            Some('e') => write!(line, "{:03}", now.tv_nsec / 1_000_000),
            Some('f') => write!(line, "{:06}", now.tv_nsec / 1_000),
            // SAFETY: no arguments, no failure.
            Some('t') => write!(line, "{}", unsafe { libc::gettid() }),
            // SAFETY: as above.
            Some('P') => write!(line, "{}", unsafe { libc::getpid() }),
            Some('l') => write!(line, "{}", level.name()),
            Some('L') => write!(line, "{}", &level.name()[..1].to_uppercase()),
            Some('n') => write!(line, "ze_loader"),
            Some('v') => write!(line, "{text}"),
            Some('^' | '$') => Ok(()),
            Some('%') => write!(line, "%"),
            Some(other) => write!(line, "%{other}"),
            None => write!(line, "%"),
        };
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_and_two_enable() {
        for (value, on) in [
            ("1", true),
            ("2", true),
            ("0", false),
            ("", false),
            ("yes", false),
            ("3", false),
        ] {
            assert_eq!(mode_is_on(Some(OsStr::new(value))), on, "{value:?}");
        }
        assert!(!mode_is_on(None));
    }

    #[test]
    fn levels_have_the_references_names() {
        for (value, level) in [
            ("trace", Some(Level::Trace)),
            ("debug", Some(Level::Debug)),
            ("info", Some(Level::Info)),
            ("warn", Some(Level::Warn)),
            ("err", Some(Level::Error)),
            ("critical", Some(Level::Critical)),
            ("off", None),
            ("loud", Some(Level::Warn)),
        ] {
            assert_eq!(Level::parse(Some(OsStr::new(value))), level, "{value}");
        }
        assert_eq!(Level::parse(None), Some(Level::Warn));
        assert!(Level::Trace < Level::Debug && Level::Warn < Level::Error);
    }

    #[test]
    fn patterns_are_filled_in() {
        for (pattern, expected) in [
            ("%v", "text"),
            ("[%l] %v", "[warning] text"),
            ("%L%%%n%^%$", "W%ze_loader"),
            ("%q%", "%q%"),
        ] {
            assert_eq!(shaped(pattern, Level::Warn, "text"), expected, "{pattern}");
        }
        let stamped = shaped("%Y-%m-%d %H:%M:%S.%e", Level::Warn, "");
        assert_eq!(stamped.len(), "2026-01-01 00:00:00.000".len(), "{stamped}");
    }
}
