//! The guard around LLVM: it runs on threads of our own, with large stacks, and when it wants to end the
//! process, the request fails and the thread is parked for good; a fresh one takes its place.
//!
//! The process may end while these threads compile: LLVM's static variables are not destroyed then (`build.rs`).

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

/// Virtual; instruction selection recurses over the operands of a block.
const STACK: usize = 256 << 20;

type Job = (Box<dyn FnOnce() -> Reply + Send>, Sender<Reply>);

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Parts of programs whose thread would come to them later.
    parts: VecDeque<Job>,
    threads: usize,
    idle: usize,
    /// Jobs on threads that wait for a reply.
    helping: usize,
    /// Set by [`stop`]: no job begins any more.
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
    /// A program before parts of others: those are compiled without this thread as well.
    fn next(&mut self) -> Option<Job> {
        self.jobs.pop_front().or_else(|| self.parts.pop_front())
    }

    fn waiting(&self) -> usize {
        self.jobs.len() + self.parts.len()
    }
}

thread_local! {
    /// Who waits for what this thread compiles.
    static CURRENT: RefCell<Option<Sender<Reply>>> = const { RefCell::new(None) };
    /// Whether this is a compiler thread; a waiting thread may do a job, too.
    static SERVES: Cell<bool> = const { Cell::new(false) };
    /// The duty of [`at_death`], should LLVM want to end the process on this thread.
    static DUTY: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// `duty` is done if LLVM wants to end the process on this thread, before whoever waits is told; until
/// [`forget_duty`]. It does not call LLVM.
pub(crate) fn at_death(duty: impl FnOnce() + 'static) {
    DUTY.set(Some(Box::new(duty)));
}

/// Ends [`at_death`].
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
        // Not one of our threads, which alone can be parked: LLVM ends the process, with its text.
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

/// Has `job` run on a compiler thread as soon as there is one.
pub(crate) fn submit_program(job: impl FnOnce() -> Reply + Send + 'static) -> Receiver<Reply> {
    submit(job, |state| &mut state.jobs)
}

/// Whether a compiler thread has begun to work.
static BEGUN: AtomicBool = AtomicBool::new(false);
/// Whether the first one did not within [`START`].
static LATE: AtomicBool = AtomicBool::new(false);
/// How long the first job waits for a thread that begins. A thread begins within 0.1 ms on an idle machine.
const START: Duration = Duration::from_secs(1);

/// The reply of a job.
pub(crate) fn wait(reply: &Receiver<Reply>) -> Reply {
    // A constructor of a library waits here with the dynamic linker's lock, without which no thread of Rust's begins: then
    // this thread compiles.
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
        // On this thread's own stack, whose size is the program's choice.
        let (reply, sender) = perform(job);
        state().helping -= 1;
        let _ = sender.send(reply);
    }
    reply
        .recv()
        .unwrap_or_else(|_| Err(codegen_error("no compiler thread could be started")))
}

/// Has a part of a program, or a kernel that nobody waits for yet, run on a compiler thread that has nothing else to do. A
/// job must not wait for one that it does not know to have begun.
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
    // Nobody may wait any more.
    let _ = waiting.send(Err(codegen_error(
        "nothing is compiled any more, because the process ends",
    )));
}

/// The process whose threads these are: a fork has none of them.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// How long the end of a process is held up at most. The modules known to take longest take four seconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks at the jobs that run.
const PAUSE: Duration = Duration::from_millis(1);

/// An exit handler for a shared libLLVM, whose static variables are destroyed after it: refuses the jobs that wait and all
/// that follow, and waits for those that run. It cannot help where a job makes a static variable while the process ends.
/// LLVM's static archives need none of this: see `build.rs`.
extern "C" fn stop() {
    let compiles = CURRENT.try_with(|current| {
        // Borrowed only by a compiler thread.
        current.try_borrow().is_ok_and(|current| current.is_none())
    });
    // A compiler thread would wait for itself.
    if OWNER.load(Ordering::Relaxed) != std::process::id() || compiles == Ok(false) {
        return;
    }
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        // Whoever has the lock may be this very thread, when a signal handler calls `exit`.
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

/// Processors that the process may use, as at the first question: each further one would read files of the system's.
pub(crate) fn processors() -> usize {
    static FOUND: OnceLock<usize> = OnceLock::new();
    *FOUND.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// One thread per processor, started as jobs need them.
fn start_threads() {
    let limit = processors();
    let mut state = state();
    if state.threads >= limit || state.waiting() <= state.idle {
        return;
    }
    // The program's handlers run on the program's threads.
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

/// Does a job on this thread; its reply, and where that goes.
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
