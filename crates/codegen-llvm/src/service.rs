//! The guard around LLVM: it runs on threads of our own, with large stacks, and when it wants to end the
//! process, the request fails and the thread is parked for good; a fresh one takes its place.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, Once, OnceLock, PoisonError};
use std::time::Duration;

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
    /// Jobs that nobody waits for yet, while they run.
    early: usize,
    /// The process ends: none of them begins any more.
    ends: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    jobs: VecDeque::new(),
    parts: VecDeque::new(),
    threads: 0,
    idle: 0,
    early: 0,
    ends: false,
});
static WORK: Condvar = Condvar::new();
/// An early job has ended.
static EARLY: Condvar = Condvar::new();
static HANDLER: Once = Once::new();

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
    /// What is to be done should LLVM want to end the process on this thread.
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
    let waiting = CURRENT.with(RefCell::take);
    let Some(waiting) = waiting else {
        // Not one of our threads: there is nobody to tell, LLVM's own end is the honest one.
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

/// The reply of a job.
pub(crate) fn wait(reply: &Receiver<Reply>) -> Reply {
    reply
        .recv()
        .unwrap_or_else(|_| Err(codegen_error("no compiler thread could be started")))
}

/// Has a part of a program run on a compiler thread that has nothing else to do, some time. A job must not wait for one
/// that it does not know to have begun.
pub(crate) fn submit_part(job: impl FnOnce() -> Reply + Send + 'static) -> Receiver<Reply> {
    submit(job, |state| &mut state.parts)
}

/// As [`submit_part`], for what nobody waits for yet: the process may end meanwhile, and waits then until the job has
/// left LLVM, whose own variables go next.
pub(crate) fn submit_early(job: impl FnOnce() -> Reply + Send + 'static) -> Receiver<Reply> {
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        OWNER.store(std::process::id(), Relaxed);
        // SAFETY: a plain function, which lives as long as the library; registered after LLVM's own ends were, when
        // the library was loaded, so it runs before them.
        unsafe { libc::atexit(leave_llvm) };
    });
    submit_part(move || {
        let Some(running) = Running::new() else {
            return Err(codegen_error("the process ends"));
        };
        // LLVM's death does not unwind.
        at_death(Running::ended);
        let reply = job();
        drop(running);
        reply
    })
}

/// The process whose threads these are: a fork has none of them.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// As long as the end of a process is held up at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// An early job that runs.
struct Running(());

impl Running {
    fn new() -> Option<Self> {
        let mut state = state();
        if state.ends {
            return None;
        }
        state.early += 1;
        Some(Self(()))
    }

    fn ended() {
        state().early -= 1;
        EARLY.notify_all();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Also where the job unwinds: the next one on this thread must not pay for this one.
        forget_duty();
        Self::ended();
    }
}

extern "C" fn leave_llvm() {
    if OWNER.load(Relaxed) != std::process::id() {
        return;
    }
    let mut state = state();
    state.ends = true;
    drop(EARLY.wait_timeout_while(state, PATIENCE, |state| state.early > 0));
}

fn submit(
    job: impl FnOnce() -> Reply + Send + 'static,
    queue: fn(&mut State) -> &mut VecDeque<Job>,
) -> Receiver<Reply> {
    HANDLER.call_once(|| {
        // SAFETY: the handler is a plain function that lives as long as the code does.
        unsafe { llvm_sys::error_handling::LLVMInstallFatalErrorHandler(Some(fatal)) };
    });
    let (sender, reply): (_, Receiver<Reply>) = channel();
    queue(&mut state()).push_back((Box::new(job), sender));
    start_threads();
    WORK.notify_one();
    reply
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
    loop {
        let (job, sender) = {
            let mut state = state();
            loop {
                if let Some(job) = state.next() {
                    state.idle -= 1;
                    break job;
                }
                state = WORK.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
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
        state().idle += 1;
        let _ = sender.send(reply);
    }
}
