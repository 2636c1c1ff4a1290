//! A running script: counts, latches and the logged calls.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use level_zero_sys::ze_result_t;
use owned_file::Content;

use super::script::{Instruction, Script, matches};
use crate::generated::FUNCTIONS;
use crate::value::{Shown, code_name, created, function, text};

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// Counted from 1, in the order in which calls end.
    pub number: u64,
    /// A number for the thread, from 1.
    pub thread: u64,
    /// From the session's start to the call's start.
    pub begin: Duration,
    /// From the call's start to its end, including waits of the script.
    pub duration: Duration,
    /// The function's name.
    pub function: &'static str,
    /// Each argument's name, its first eight bytes, and its text.
    pub arguments: Vec<(&'static str, u64, String)>,
    /// The code that the caller got; `None` for functions without one.
    pub result: Option<ze_result_t>,
    /// The script made the result.
    pub injected: bool,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "#{} t{} +{}ns {}(",
            self.number,
            self.thread,
            self.begin.as_nanos(),
            self.function
        )?;
        for (place, (name, _, shown)) in self.arguments.iter().enumerate() {
            let between = if place == 0 { "" } else { ", " };
            write!(f, "{between}{name}={shown}")?;
        }
        f.write_str(")")?;
        if let Some(result) = self.result {
            write!(f, " = {}", code_name(result.0))?;
        }
        write!(f, " {}ns", self.duration.as_nanos())?;
        if self.injected {
            f.write_str(" injected")?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Latch {
    open: bool,
    waiting: usize,
}

#[derive(Default)]
struct Written {
    calls: Vec<Call>,
    number: u64,
    file: Option<File>,
}

/// A running script.
pub(super) struct Running {
    script: Script,
    /// For each function the rules whose pattern matches, and whether its calls are kept.
    plan: Vec<(Vec<usize>, bool)>,
    /// The number of matching calls, by rule.
    counts: Vec<AtomicU64>,
    latches: Mutex<BTreeMap<String, Latch>>,
    latched: Condvar,
    written: Mutex<Written>,
    /// Calls are kept for `Session::calls`, and not only logged.
    keeps: bool,
    begin: Instant,
}

/// True while a session is active: the first check of each call.
static ACTIVE: AtomicBool = AtomicBool::new(false);
static RUNNING: RwLock<Option<Arc<Running>>> = RwLock::new(None);

static THREADS: AtomicU64 = AtomicU64::new(1);
thread_local! {
    // Without a destructor: a library with one could not be unloaded.
    static THREAD: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

fn thread() -> u64 {
    THREAD.with(|own| {
        if own.get() == 0 {
            own.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
        own.get()
    })
}

#[inline(always)]
pub(super) fn is_active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

pub(super) fn running() -> Option<Arc<Running>> {
    RUNNING
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// The active session. Dropping it opens all latches, and calls are forwarded directly again.
#[must_use = "the script works as long as its session lives"]
pub struct Session(Arc<Running>);

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

/// Activates a script for all later calls through the recorder's table and ends an earlier session. A log file that
/// cannot be opened is ignored.
pub fn start(script: Script) -> Session {
    let file = script.log.as_deref().and_then(|path| log(path).ok());
    Session(begin(script, file, true))
}

/// Creates the log with access for this user only, because it shows the arguments of the program's calls.
fn log(path: &Path) -> std::io::Result<File> {
    owned_file::open(path, Content::Replaced, 0o600)
}

fn begin(script: Script, file: Option<File>, keeps: bool) -> Arc<Running> {
    let plan = (0..FUNCTIONS)
        .map(|index| {
            let name = function(index).name;
            let rules = (0..script.rules.len())
                .filter(|rule| matches(&script.rules[*rule].pattern, name))
                .collect();
            let kept = script.only.is_empty() || script.only.iter().any(|p| matches(p, name));
            (rules, kept)
        })
        .collect();
    let running = Arc::new(Running {
        plan,
        counts: script.rules.iter().map(|_| AtomicU64::new(0)).collect(),
        latches: Mutex::default(),
        latched: Condvar::new(),
        written: Mutex::new(Written {
            file,
            ..Written::default()
        }),
        keeps,
        begin: Instant::now(),
        script,
    });
    replace(Some(Arc::clone(&running)));
    running
}

fn replace(new: Option<Arc<Running>>) {
    let mut running = RUNNING.write().unwrap_or_else(PoisonError::into_inner);
    ACTIVE.store(new.is_some(), Ordering::Relaxed);
    if let Some(old) = std::mem::replace(&mut *running, new) {
        old.open_all();
    }
}

/// Reads the script that `SOLUM_RECORDER` names and activates it for the process's life. Returns whether there is one.
///
/// The variable is ignored in a process with elevated privileges.
///
/// # Errors
/// A text that names the variable, the file and the error.
pub fn from_environment() -> Result<bool, String> {
    let Some(path) = std::env::var_os("SOLUM_RECORDER").filter(|path| !path.is_empty()) else {
        return Ok(false);
    };
    // SAFETY: asks the kernel's auxiliary vector.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return Ok(false);
    }
    let path = PathBuf::from(path);
    let complain = |what: &dyn fmt::Display| format!("SOLUM_RECORDER: {}: {what}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| complain(&error))?;
    let mut script = Script::parse(&text).map_err(|error| complain(&error))?;
    if script.log.is_none() && !script.log_off {
        script.log = Some(beside(&path));
    }
    let file = match script.log.as_deref() {
        Some(path) => Some(
            log(path).map_err(|error| complain(&format_args!("{}: {error}", path.display())))?,
        ),
        None => None,
    };
    begin(script, file, false);
    Ok(true)
}

/// `FILE.log`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".log");
    PathBuf::from(name)
}

impl Session {
    /// Returns the calls so far, in the order in which they ended.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.0.written().calls.clone()
    }

    /// Clears the logged calls; the rules' counts continue.
    pub fn clear(&self) {
        self.0.written().calls.clear();
    }

    /// Opens a latch: waiting calls continue, and later ones do not wait.
    pub fn open(&self, latch: &str) {
        self.0.open(latch);
    }

    /// Closes a latch again.
    pub fn close(&self, latch: &str) {
        self.0.latches().entry(latch.to_string()).or_default().open = false;
    }

    /// Waits until this many calls wait at a latch. Returns false after `limit`.
    #[must_use]
    pub fn wait_for(&self, latch: &str, calls: usize, limit: Duration) -> bool {
        let waited = self
            .0
            .latched
            .wait_timeout_while(self.0.latches(), limit, |latches| {
                latches.get(latch).map_or(0, |latch| latch.waiting) < calls
            })
            .unwrap_or_else(PoisonError::into_inner);
        !waited.1.timed_out()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let mine = running().is_some_and(|running| Arc::ptr_eq(&running, &self.0));
        if mine {
            replace(None);
        }
        self.0.open_all();
    }
}

/// The script's decision about a call.
#[derive(Default)]
pub(super) struct Verdict {
    /// Return this without calling.
    pub(super) fail: Option<ze_result_t>,
    /// Call, then return this.
    pub(super) replace: Option<ze_result_t>,
    opens: Vec<usize>,
}

impl Running {
    fn latches(&self) -> MutexGuard<'_, BTreeMap<String, Latch>> {
        self.latches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, name: &str) {
        self.latches().entry(name.to_string()).or_default().open = true;
        self.latched.notify_all();
    }

    fn open_all(&self) {
        let names = self
            .script
            .rules
            .iter()
            .filter_map(|rule| match &rule.instruction {
                Instruction::Latch(name) => Some(name),
                _ => None,
            });
        for name in names {
            self.open(name);
        }
    }

    fn wait_at(&self, name: &str) {
        let mut latches = self.latches();
        latches.entry(name.to_string()).or_default().waiting += 1;
        self.latched.notify_all();
        let mut latches = self
            .latched
            .wait_while(latches, |latches| {
                !latches.get(name).is_some_and(|latch| latch.open)
            })
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(latch) = latches.get_mut(name) {
            latch.waiting -= 1;
        }
    }

    /// Counts the call, waits as long as the script demands, and returns its decision.
    pub(super) fn judge(&self, index: usize) -> Verdict {
        let mut verdict = Verdict::default();
        for &place in &self.plan[index].0 {
            let rule = &self.script.rules[place];
            let number = self.counts[place].fetch_add(1, Ordering::Relaxed) + 1;
            if !rule.when.applies(number) {
                continue;
            }
            let decided = verdict.fail.is_some() || verdict.replace.is_some();
            match &rule.instruction {
                Instruction::Fail(code) if !decided => verdict.fail = Some(*code),
                Instruction::Replace(code) if !decided => verdict.replace = Some(*code),
                Instruction::Fail(_) | Instruction::Replace(_) => {}
                Instruction::Delay(time) => std::thread::sleep(*time),
                Instruction::Latch(name) => self.wait_at(name),
                Instruction::Open(_) => verdict.opens.push(place),
            }
        }
        verdict
    }

    /// Logs the call and opens the latches that the script opens after it.
    ///
    /// # Safety
    /// `arguments` are those of a call of this function that has just ended with `result`.
    pub(super) unsafe fn end(
        &self,
        index: usize,
        verdict: &Verdict,
        begin: Instant,
        arguments: &[u64],
        result: Option<ze_result_t>,
    ) {
        if self.plan[index].1 {
            let duration = begin.elapsed();
            // SAFETY: guaranteed by the caller.
            let arguments = unsafe { shown(index, arguments, verdict.fail.is_none(), result) };
            let mut written = self.written();
            written.number += 1;
            let call = Call {
                number: written.number,
                thread: thread(),
                begin: begin.saturating_duration_since(self.begin),
                duration,
                function: function(index).name,
                arguments,
                result,
                injected: verdict.fail.is_some() || verdict.replace.is_some(),
            };
            if let Some(file) = &mut written.file {
                // A log that cannot be written does not disturb the program.
                let line = format!("{call}\n");
                drop(signal_mask::without_write_signals(|| {
                    file.write_all(line.as_bytes())
                }));
            }
            if self.keeps {
                written.calls.push(call);
            }
        }
        for place in &verdict.opens {
            if let Instruction::Open(name) = &self.script.rules[*place].instruction {
                self.open(name);
            }
        }
    }
}

/// The arguments for the log.
///
/// # Safety
/// As [`Running::end`]; `called` is whether the driver was called.
unsafe fn shown(
    index: usize,
    arguments: &[u64],
    called: bool,
    result: Option<ze_result_t>,
) -> Vec<(&'static str, u64, String)> {
    let succeeded = called && result.is_none_or(|code| code.0 == 0);
    let params = function(index).params.iter().zip(arguments);
    params
        .map(|(param, bits)| {
            let mut shown = Shown { param, bits: *bits }.to_string();
            // SAFETY: by the caller's contract the arguments are those of a call.
            if let Some(text) = unsafe { text(param, *bits) } {
                shown = format!("{text:?}");
            }
            if succeeded {
                // SAFETY: as above, and the call succeeded.
                if let Some(handle) = unsafe { created(param, *bits) } {
                    shown = format!("{shown} -> {handle:#x}");
                }
            }
            (param.name, *bits, shown)
        })
        .collect()
}
