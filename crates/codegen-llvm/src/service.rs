//! The guard around LLVM. LLVM runs on threads of this crate, with large stacks. On a fatal error of LLVM the request
//! fails and the thread is parked for ever; a fresh thread takes its place.
//!
//! If the process ends while these threads compile, LLVM's static variables are not destroyed (`build.rs`).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, Once, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use kernel_ir::build::Reply;
use kernel_ir::{BuildError, BuildErrorKind};
use signal_mask::HeldSignals;

/// Bytes of a thread's stack, virtual memory: instruction selection recurses over the operands of a block.
const STACK: usize = 256 << 20;

type Job = (Box<dyn FnOnce() -> Reply + Send>, Sender<Reply>);

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Parts of programs, which the program's own thread compiles if no other thread begins them first.
    parts: VecDeque<Job>,
    threads: usize,
    idle: usize,
    /// Jobs that run on callers' threads while these wait for a reply.
    helping: usize,
    /// Set by [`stop`]: no further job begins.
    ends: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    jobs: VecDeque::new(),
    parts: VecDeque::new(),
    threads: 0,
    idle: 0,
    helping: 0,
    ends: false,
});
static WORK: Condvar = Condvar::new();
static PREPARED: Once = Once::new();

impl State {
    /// The next job. Programs come before parts: a part does not depend on this thread.
    fn next(&mut self) -> Option<Job> {
        self.jobs.pop_front().or_else(|| self.parts.pop_front())
    }

    fn waiting(&self) -> usize {
        self.jobs.len() + self.parts.len()
    }
}

thread_local! {
    /// Sends the reply of the job on this thread.
    static CURRENT: RefCell<Option<Sender<Reply>>> = const { RefCell::new(None) };
    /// Whether this is a compiler thread. A thread that waits for a reply may run a job, too.
    static SERVES: Cell<bool> = const { Cell::new(false) };
    /// The duty of [`at_death`], in case of a fatal error on this thread.
    static DUTY: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// Registers `duty`: it runs on a fatal error of LLVM on this thread, before the caller that waits is told. It must not
/// call LLVM. [`forget_duty`] revokes it.
pub(crate) fn at_death(duty: impl FnOnce() + 'static) {
    DUTY.set(Some(Box::new(duty)));
}

/// Revokes [`at_death`].
pub(crate) fn forget_duty() {
    drop(DUTY.take());
}

fn codegen_error(message: impl Into<String>) -> BuildError {
    BuildError {
        kind: BuildErrorKind::Codegen,
        module: 0,
        word: None,
        instruction: None,
        message: message.into(),
    }
}

extern "C" fn fatal(reason: *const libc::c_char) {
    // SAFETY: LLVM passes a zero-terminated text.
    let text = unsafe { CStr::from_ptr(reason) }
        .to_string_lossy()
        .into_owned();
    if !SERVES.get() {
        // Only a compiler thread can be parked. On any other thread LLVM ends the process, with its message.
        return;
    }
    let Some(waiting) = CURRENT.with(RefCell::take) else {
        return;
    };
    if let Some(duty) = DUTY.take() {
        duty();
    }
    let _ = waiting.send(Err(codegen_error(format!("LLVM gave up: {text}"))));
    state().threads -= 1;
    // A queued job may have been waiting for this thread.
    start_threads();
    // LLVM ends the process when this returns, and its frames cannot be unwound.
    loop {
        std::thread::park();
    }
}

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `job` on a compiler thread and waits for its reply.
pub(crate) fn run(job: impl FnOnce() -> Reply + Send + 'static) -> Reply {
    wait(&submit_program(job))
}

/// Runs `job` on a compiler thread as soon as one is free.
pub(crate) fn submit_program(job: impl FnOnce() -> Reply + Send + 'static) -> Receiver<Reply> {
    submit(job, |state| &mut state.jobs)
}

/// Whether a compiler thread has started.
static BEGUN: AtomicBool = AtomicBool::new(false);
/// Whether the first one had not started within [`START`].
static LATE: AtomicBool = AtomicBool::new(false);
/// How long the first job waits for a thread to start. On an idle machine a thread starts within 0.1 ms.
const START: Duration = Duration::from_secs(1);

/// Waits for the reply of a job.
pub(crate) fn wait(reply: &Receiver<Reply>) -> Reply {
    // The constructor of a library waits here with the dynamic linker's lock. No new thread starts without that lock:
    // this thread then compiles.
    while !BEGUN.load(Ordering::Acquire) {
        let is_late = LATE.load(Ordering::Relaxed);
        match reply.recv_timeout(if is_late { Duration::ZERO } else { START }) {
            Ok(reply) => return reply,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if BEGUN.load(Ordering::Acquire) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        LATE.store(true, Ordering::Relaxed);
        let job = {
            let mut state = state();
            let job = state.next();
            state.helping += usize::from(job.is_some());
            job
        };
        let Some(job) = job else { break };
        // On this thread's own stack, whose size the program has chosen.
        let (reply, sender) = perform(job);
        state().helping -= 1;
        let _ = sender.send(reply);
    }
    reply
        .recv()
        .unwrap_or_else(|_| Err(codegen_error("no compiler thread could be started")))
}

/// Runs a part of a program, or a kernel that no caller waits for yet, on a compiler thread that is otherwise idle. A
/// job must not wait for another one, unless that one has certainly begun.
pub(crate) fn submit_part(job: impl FnOnce() -> Reply + Send + 'static) -> Receiver<Reply> {
    submit(job, |state| &mut state.parts)
}

fn submit(
    job: impl FnOnce() -> Reply + Send + 'static,
    queue: fn(&mut State) -> &mut VecDeque<Job>,
) -> Receiver<Reply> {
    PREPARED.call_once(|| {
        // SAFETY: the handler is a plain function that lives as long as the code does.
        unsafe { llvm_sys::error_handling::LLVMInstallFatalErrorHandler(Some(fatal)) };
        if cfg!(shared_llvm) {
            OWNER.store(std::process::id(), Ordering::Relaxed);
            // SAFETY: a function without arguments that does not unwind.
            unsafe { libc::atexit(stop) };
        }
    });
    let (sender, reply): (_, Receiver<Reply>) = channel();
    {
        let mut state = state();
        if state.ends {
            refuse(&sender);
            return reply;
        }
        queue(&mut state).push_back((Box::new(job), sender));
    }
    start_threads();
    WORK.notify_one();
    reply
}

fn refuse(waiting: &Sender<Reply>) {
    // No caller may wait any longer.
    let _ = waiting.send(Err(codegen_error(
        "nothing is compiled any more, because the process ends",
    )));
}

/// The process that these threads belong to: a forked child has none of them.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// How long the end of a process is delayed at most. The slowest modules known take four seconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two checks of the running jobs.
const PAUSE: Duration = Duration::from_millis(1);

/// An exit handler for a shared libLLVM, whose static variables are destroyed after it. It refuses waiting and later
/// jobs, and waits for running ones. It cannot help where a job creates a static variable while the process ends.
/// LLVM's static archives need none of this: see `build.rs`.
extern "C" fn stop() {
    let compiles = CURRENT.try_with(|current| {
        // Only a compiler thread borrows it.
        current.try_borrow().is_ok_and(|current| current.is_none())
    });
    // A compiler thread would wait for itself.
    if OWNER.load(Ordering::Relaxed) != std::process::id() || compiles == Ok(false) {
        return;
    }
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        // This very thread may hold the lock, if a signal handler calls `exit`.
        let state = match STATE.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(mut state) = state {
            state.ends = true;
            let all_idle = state.threads == state.idle && state.helping == 0;
            let jobs = std::mem::take(&mut state.jobs);
            let parts = std::mem::take(&mut state.parts);
            drop(state);
            for (_, waiting) in jobs.iter().chain(&parts) {
                refuse(waiting);
            }
            if all_idle {
                return;
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Processors that the process may use. Asked once: each question reads files of the system.
pub(crate) fn processors() -> usize {
    static FOUND: OnceLock<usize> = OnceLock::new();
    *FOUND.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Starts threads as jobs need them, one per processor at most.
fn start_threads() {
    let limit = processors();
    let mut state = state();
    if state.threads >= limit || state.waiting() <= state.idle {
        return;
    }
    // Compiler threads run no signal handlers of the program.
    let _held = HeldSignals::all();
    while state.threads < limit && state.waiting() > state.idle {
        let started = std::thread::Builder::new()
            .name("solum-codegen".into())
            .stack_size(STACK)
            .spawn(serve);
        if started.is_err() {
            if state.threads == 0 {
                // Dropping the senders tells the callers.
                state.jobs.clear();
                state.parts.clear();
            }
            return;
        }
        state.threads += 1;
        // Counted idle from the start, so that one job starts one thread.
        state.idle += 1;
    }
}

fn serve() {
    SERVES.set(true);
    BEGUN.store(true, Ordering::Release);
    loop {
        let job = {
            let mut state = state();
            loop {
                if let Some(job) = state.next() {
                    state.idle -= 1;
                    break job;
                }
                state = WORK.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let (reply, sender) = perform(job);
        state().idle += 1;
        let _ = sender.send(reply);
    }
}

/// Runs a job on this thread. Returns its reply and the sender for it.
fn perform((job, sender): Job) -> (Reply, Sender<Reply>) {
    CURRENT.with(|current| *current.borrow_mut() = Some(sender.clone()));
    let reply = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        Err(codegen_error(format!("defect in the compiler: {text}")))
    });
    CURRENT.with(|current| *current.borrow_mut() = None);
    (reply, sender)
}
