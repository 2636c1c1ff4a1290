//! The short way for a waiting thread: brief work on a berth, without a system call.
//!
//! The long way of `help.rs` gives the thread a signal stack and a mask of ours, and looks whether the program has put
//! a handler in place of ours: five system calls, more than everything else that an empty kernel costs. Here the thread
//! keeps its own. Only work that is brief, needs a bounded part of the stack and calls nobody comes here, and only
//! within [`TRUST_NS`] after the same thread went the long way and found nothing unusual.
//!
//! Berths are an engine's, taken and given back by one atomic exchange; a thread that vanishes while it has one (a
//! signal handler that jumps out of it) costs that berth.

use super::worker::Worker;
use super::{Engine, launch, now_ns, on_stack};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use ze_driver::device::{Task, Work};

/// How long what the long way has found is believed: handlers of ours in place, no signal that code raises blocked.
const TRUST_NS: u64 = 20_000;
/// Bytes that a copy or fill may have.
const BRIEF_BYTES: u64 = 1 << 20;
/// Berths of an engine: more threads than that wait at once the long way.
const BERTHS: usize = 8;
/// While a waiting thread has come this way not longer ago, workers leave it a single task ...
const GIVE_WAY_NS: u64 = 20_000;
/// ... for this long.
const HOLD_NS: u64 = 1_000;

/// A berth's place, free or taken.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Place(AtomicPtr<Worker>);

/// The berths of an engine.
#[derive(Debug, Default)]
pub(super) struct Berths {
    places: [Place; BERTHS],
    made: AtomicUsize,
}

thread_local! {
    /// When this thread last went the long way and found nothing unusual.
    static TRUSTED: Cell<u64> = const { Cell::new(0) };
    /// Where this thread looks for a berth first.
    static FIRST: Cell<usize> = const { Cell::new(0) };
}

/// The calling thread has gone the long way; `plain`: all was as usual.
pub(super) fn trust(plain: bool, now: u64) {
    TRUSTED.set(if plain { now } else { 0 });
}

/// Whether `task` may come this way.
fn is_light(task: &dyn Task) -> bool {
    match task.work() {
        // Those that follow are brief by their contract, but of programs of their own.
        Work::Launch(launch) => {
            launch::is_light(launch)
                && (0..task.more()).all(
                    |index| matches!(task.next_work(index), Work::Launch(next) if launch::is_light(next)),
                )
        }
        Work::Copy { len, .. } | Work::Fill { len, .. } => *len <= BRIEF_BYTES,
        _ => false,
    }
}

/// What is to be done on the other stack.
struct Errand {
    worker: Box<Worker>,
    task: Option<Arc<dyn Task>>,
    now: u64,
}

unsafe extern "C" fn run(errand: *mut c_void) {
    // SAFETY: called by `run_light` with its own errand, which outlives the call.
    let errand = unsafe { &mut *errand.cast::<Errand>() };
    let Some(task) = errand.task.take() else {
        return;
    };
    let work = std::panic::AssertUnwindSafe(|| errand.worker.light_task(task, errand.now));
    // Nothing may unwind into the assembly; what panicked has lost its task, as on a worker.
    let _ = std::panic::catch_unwind(work);
}

impl Engine {
    /// Runs `task` on the calling thread, or gives it back.
    pub(super) fn run_light(&'static self, task: Arc<dyn Task>) -> Result<(), Arc<dyn Task>> {
        let now = now_ns();
        if now.saturating_sub(TRUSTED.get()) > TRUST_NS || !is_light(&*task) {
            return Err(task);
        }
        let Some((place, worker)) = self.take_berth() else {
            return Err(task);
        };
        let top = worker.guard.top().filter(|_| worker.guard.board());
        let Some(top) = top else {
            // In a callback from guarded code.
            self.give_berth_back(place, worker);
            return Err(task);
        };
        let mut errand = Errand {
            worker,
            task: Some(task),
            now,
        };
        // SAFETY: the stack is ours until the berth is given back, and its top a multiple of a page; `run` catches
        // panics.
        unsafe { on_stack(top, run, (&raw mut errand).cast()) };
        let worker = errand.worker;
        worker.guard.leave();
        self.give_berth_back(place, worker);
        self.helped.store(now, Ordering::Relaxed);
        self.unnoticed.store(0, Ordering::Relaxed);
        Ok(())
    }

    fn take_berth(&'static self) -> Option<(usize, Box<Worker>)> {
        let first = FIRST.get();
        for step in 0..BERTHS {
            let at = (first + step) % BERTHS;
            let place = &self.berths.places[at].0;
            // Acquire: what its last user did to it.
            let worker = place.swap(std::ptr::null_mut(), Ordering::Acquire);
            if !worker.is_null() {
                FIRST.set(at);
                // SAFETY: put there by `give_berth_back`, and taken out of its place: nobody else has it.
                return Some((at, unsafe { Box::from_raw(worker) }));
            }
        }
        self.make_berth()
    }

    #[cold]
    fn make_berth(&'static self) -> Option<(usize, Box<Worker>)> {
        let at = self
            .berths
            .made
            .try_update(Ordering::AcqRel, Ordering::Relaxed, |made| {
                (made < BERTHS).then_some(made + 1)
            })
            .ok()?;
        FIRST.set(at);
        Some((at, Box::new(Worker::berth(self)?)))
    }

    fn give_berth_back(&self, place: usize, worker: Box<Worker>) {
        // Release: its next user sees what this one did.
        let worker = Box::into_raw(worker);
        self.berths.places[place].0.store(worker, Ordering::Release);
    }

    /// Whether a thread that waits has run what it waits for this way not long ago.
    pub(super) fn is_helped(&self, now: u64) -> bool {
        now.saturating_sub(self.helped.load(Ordering::Relaxed)) < GIVE_WAY_NS
    }

    /// Whether a worker that has noticed a task leaves it to the thread that submitted it and has waited for all before
    /// it this way: that is sooner done than the two can tell each other.
    pub(super) fn gives_way(&self, noticed: u64) -> bool {
        let now = now_ns();
        now.saturating_sub(noticed) < HOLD_NS && self.is_helped(now) && self.roster.waits().is_one()
    }
}
