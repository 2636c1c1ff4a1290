//! The short way for a waiting thread: brief work on a berth, without a system call.
//!
//! The long way of `help.rs` gives the thread a signal stack and a mask of ours, and looks whether the program has put
//! a handler in place of ours: five system calls, more than everything else that an empty kernel costs. Here the thread
//! keeps its own. Only work that is brief, needs a bounded part of the stack and calls nobody comes here, and only
//! within [`TRUST_NS`] after the same thread went the long way and found nothing unusual.
//!
//! InlineSlots are an engine's, taken and given back by one atomic exchange; a thread that vanishes while it has one (a
//! signal handler that jumps out of it) costs that berth.

use super::launch;
use super::scheduler::Scheduler;
use super::worker::Worker;
use crate::clock::now_ns;
use crate::fault::solum_on_stack;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use ze_driver::device::{Task, Work};

/// How long what the long way has found is believed: handlers of ours in place, no signal that code raises blocked.
const TRUST_NS: u64 = 20_000;
/// Bytes that a copy or fill may have.
const BRIEF_BYTES: u64 = 1 << 20;
/// InlineSlots of an engine: more threads than that wait at once the long way.
const SLOTS: usize = 8;
/// A berth's place, free or taken.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Slot(AtomicPtr<Worker>);

/// The berths of an engine.
#[derive(Debug, Default)]
pub(super) struct InlineSlots {
    slots: [Slot; SLOTS],
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
struct StackCall {
    worker: Box<Worker>,
    task: Option<Arc<dyn Task>>,
    now: u64,
}

unsafe extern "C" fn run(call: *mut c_void) {
    // SAFETY: called by `run_light` with its own call, which outlives the call.
    let call = unsafe { &mut *call.cast::<StackCall>() };
    let Some(task) = call.task.take() else {
        return;
    };
    let work = std::panic::AssertUnwindSafe(|| call.worker.light_task(task, call.now));
    // Nothing may unwind into the assembly; what panicked has lost its task, as on a worker.
    let _ = std::panic::catch_unwind(work);
}

impl InlineSlots {
    /// Runs `task` on the calling thread, or gives it back.
    pub(super) fn run(
        &self,
        scheduler: &'static Scheduler,
        task: Arc<dyn Task>,
    ) -> Result<(), Arc<dyn Task>> {
        let now = now_ns();
        if now.saturating_sub(TRUSTED.get()) > TRUST_NS || !is_light(&*task) {
            return Err(task);
        }
        let Some((slot, worker)) = self.take(scheduler) else {
            return Err(task);
        };
        let top = worker
            .executor
            .guard
            .top()
            .filter(|_| worker.executor.guard.attach());
        let Some(top) = top else {
            // In a callback from guarded code.
            self.give_back(slot, worker);
            return Err(task);
        };
        let mut call = StackCall {
            worker,
            task: Some(task),
            now,
        };
        // SAFETY: the stack is ours until the berth is given back, and its top a multiple of a page; `run` catches
        // panics.
        unsafe { solum_on_stack(top, run, (&raw mut call).cast()) };
        let worker = call.worker;
        worker.executor.guard.detach();
        self.give_back(slot, worker);
        scheduler.ran_inline(now);
        Ok(())
    }

    fn take(&self, scheduler: &'static Scheduler) -> Option<(usize, Box<Worker>)> {
        let first = FIRST.get();
        for step in 0..SLOTS {
            let at = (first + step) % SLOTS;
            let slot = &self.slots[at].0;
            // Acquire: what its last user did to it.
            let worker = slot.swap(std::ptr::null_mut(), Ordering::Acquire);
            if !worker.is_null() {
                FIRST.set(at);
                // SAFETY: put there by `give_back`, and taken out of its place: nobody else has it.
                return Some((at, unsafe { Box::from_raw(worker) }));
            }
        }
        self.make(scheduler)
    }

    #[cold]
    fn make(&self, scheduler: &'static Scheduler) -> Option<(usize, Box<Worker>)> {
        let at = self
            .made
            .try_update(Ordering::AcqRel, Ordering::Relaxed, |made| {
                (made < SLOTS).then_some(made + 1)
            })
            .ok()?;
        FIRST.set(at);
        Some((at, Box::new(Worker::inline(scheduler)?)))
    }

    fn give_back(&self, slot: usize, worker: Box<Worker>) {
        // Release: its next user sees what this one did.
        let worker = Box::into_raw(worker);
        self.slots[slot].0.store(worker, Ordering::Release);
    }
}
