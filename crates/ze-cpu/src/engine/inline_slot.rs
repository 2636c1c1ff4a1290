//! Inline slots: a waiting thread runs brief work on a stack of an engine's, without a system call.
//!
//! The general way (`stack_call.rs`) gives the thread a signal stack and a signal mask of ours, and checks that our signal
//! handlers are in place: five system calls, more than everything else that an empty kernel costs. Here the thread keeps its
//! own. Work qualifies if it is brief, its need of stack is bounded and it calls no function of the driver. A thread comes
//! here only within [`TRUST_NS`] after a look that found nothing unusual: by the general way or, within [`RENEW_NS`] after
//! that, by two system calls.
//!
//! Without inline slots a submission that is waited for takes 1101 ns instead of 541, an empty kernel 987 ns instead of 605
//! (`./x bench driver`, medians and minima of 7 interleaved rounds, AMD EPYC, two processors, 2026-11).
//!
//! A slot is taken and given back by one atomic exchange. A thread that vanishes while it has one (a signal handler that jumps
//! out of it) costs the engine that slot.

use super::launch;
use super::scheduler::Scheduler;
use super::worker::Worker;
use crate::fault::{self, solum_on_stack};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use ze_driver::device::{Task, Work};

/// How long the findings of the general way count: our handlers are in place, no signal that code raises is blocked.
const TRUST_NS: u64 = 20_000;
/// How long after the general way a thread only asks for the handler and the mask, as often as the general way checks all
/// handlers. Copies of 64 KiB took 610 ns longer than `memcpy` instead of 651 (medians of 15 runs), those of 256 KiB 827
/// instead of 956 (medians of 3 runs; Intel Xeon, two processors, busy, 2026-11).
const RENEW_NS: u64 = 1_000_000;
/// Most bytes of a copy or fill.
const BRIEF_BYTES: u64 = 1 << 20;
/// Slots of an engine; where more threads wait at once, the others go the general way.
const SLOTS: usize = 8;
/// The worker of a slot; null while it is taken, or not created yet.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Slot(AtomicPtr<Worker>);

/// The slots of an engine.
#[derive(Debug, Default)]
pub(super) struct InlineSlots {
    slots: [Slot; SLOTS],
    made: AtomicUsize,
}

thread_local! {
    /// When this thread last found nothing unusual; 0 if something was.
    static TRUSTED: Cell<u64> = const { Cell::new(0) };
    /// When this thread last went the general way.
    static VISITED: Cell<u64> = const { Cell::new(0) };
    /// The slot that this thread tries first.
    static FIRST: Cell<usize> = const { Cell::new(0) };
}

/// The calling thread has gone the general way; `plain`: it found nothing unusual.
pub(super) fn trust(plain: bool, now: u64) {
    TRUSTED.set(if plain { now } else { 0 });
    VISITED.set(now);
}

/// Whether this thread may go without a signal stack and mask of ours.
fn is_trusted(now: u64) -> bool {
    let trusted = TRUSTED.get();
    if now.saturating_sub(trusted) <= TRUST_NS {
        return true;
    }
    let is_plain = trusted > 0
        && now.saturating_sub(VISITED.get()) <= RENEW_NS
        && fault::handles_segments()
        && !signal_mask::raised_are_blocked();
    if is_plain {
        TRUSTED.set(now);
    }
    is_plain
}

/// Whether `task` may run in a slot.
fn is_light(task: &dyn Task) -> bool {
    match task.work() {
        // The launches that follow are brief by contract, but their programs may need more stack.
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

/// The arguments and results of a call on another stack.
struct StackCall {
    worker: Box<Worker>,
    task: Option<Arc<dyn Task>>,
    now: u64,
}

unsafe extern "C" fn enter(call: *mut c_void) {
    // SAFETY: `InlineSlots::run` passes its own `StackCall`, which outlives this function.
    let call = unsafe { &mut *call.cast::<StackCall>() };
    let Some(task) = call.task.take() else {
        return;
    };
    let work = std::panic::AssertUnwindSafe(|| call.worker.light_task(task, call.now));
    // Nothing may unwind into the assembly. A task whose run panics is lost, as on a worker.
    let _ = std::panic::catch_unwind(work);
}

impl InlineSlots {
    /// Runs `task` on the calling thread from `now` on, or returns it.
    pub(super) fn run(
        &self,
        scheduler: &'static Scheduler,
        task: Arc<dyn Task>,
        now: u64,
    ) -> Result<(), Arc<dyn Task>> {
        if !is_light(&*task) || !is_trusted(now) {
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
            // The thread is in a callback from guarded code.
            self.give_back(slot, worker);
            return Err(task);
        };
        let mut call = StackCall {
            worker,
            task: Some(task),
            now,
        };
        // SAFETY: the stack is this thread's until the slot is given back, and its top a multiple of a page; `enter` catches
        // panics.
        unsafe { solum_on_stack(top, enter, (&raw mut call).cast()) };
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
            // Acquire: sees its last user's writes.
            let worker = slot.swap(std::ptr::null_mut(), Ordering::Acquire);
            if !worker.is_null() {
                FIRST.set(at);
                // SAFETY: `give_back` put it there, and the exchange took it out: no other thread has it.
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
        // Release: its next user sees this one's writes.
        let worker = Box::into_raw(worker);
        self.slots[slot].0.store(worker, Ordering::Release);
    }
}
