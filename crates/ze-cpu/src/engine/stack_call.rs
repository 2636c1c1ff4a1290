//! Runs work on a thread of the program: a thread that waits without a limit runs the work that it waits for.
//!
//! This saves the wake of a worker and the switch to it. Only tasks that the wait depends on are taken: any other kernel may
//! itself wait for something that this thread does later. The work runs on a stack, a signal stack and a signal mask of ours;
//! afterwards the thread has its own back.

use super::executor::Block;
use super::inline_slot;
use super::scheduler::{Job, Scheduler};
use super::worker::Worker;
use crate::clock::now_ns;
use crate::fault::{self, solum_on_stack};
use signal_mask::HeldSignals;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Bytes of a stack.
const STACK: usize = 8 << 20;
/// Bytes of the guard below it.
const BELOW: usize = 64 << 10;
/// How many stacks are kept.
const KEEP: usize = 16;
/// How often the signal handlers are checked.
const RECHECK_NS: u64 = 1_000_000;

/// The arguments and results of a call on another stack.
struct StackCall {
    worker: Worker,
    job: Option<Job>,
}

unsafe extern "C" fn enter(call: *mut c_void) {
    // SAFETY: `run` passes its own `StackCall`, which outlives this function.
    let call = unsafe { &mut *call.cast::<StackCall>() };
    let job = call.job.take();
    let work = std::panic::AssertUnwindSafe(|| {
        if let Some(job) = job {
            call.worker.job(job);
        }
    });
    // Nothing may unwind into the assembly. A task whose run panics is lost, as on a worker.
    let _ = std::panic::catch_unwind(work);
}

/// A stack with a guard below it, and a worker's memory.
struct Stack {
    base: usize,
    memory: Block,
}

/// Stacks kept for the next wait; one atomic exchange takes or fills a slot.
static STACKS: [AtomicPtr<Stack>; KEEP] = [const { AtomicPtr::new(std::ptr::null_mut()) }; KEEP];

impl Stack {
    fn take() -> Option<Box<Self>> {
        for place in &STACKS {
            if place.load(Ordering::Relaxed).is_null() {
                continue;
            }
            // Acquire: sees its last user's writes.
            let kept = place.swap(std::ptr::null_mut(), Ordering::Acquire);
            if !kept.is_null() {
                // SAFETY: `give_back` put it there, and the exchange took it out: no other thread has it.
                return Some(unsafe { Box::from_raw(kept) });
            }
        }
        // SAFETY: fresh memory; its lower end is closed.
        unsafe {
            let base = libc::mmap(
                std::ptr::null_mut(),
                BELOW + STACK,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
                -1,
                0,
            );
            if base == libc::MAP_FAILED {
                return None;
            }
            libc::mprotect(base, BELOW, libc::PROT_NONE);
            Some(Box::new(Self {
                base: base as usize,
                memory: Block::default(),
            }))
        }
    }

    fn top(&self) -> usize {
        self.base + BELOW + STACK
    }

    fn give_back(self: Box<Self>) {
        let this = Box::into_raw(self);
        for place in &STACKS {
            // Release: its next user sees this one's writes.
            let kept = place.compare_exchange(
                std::ptr::null_mut(),
                this,
                Ordering::Release,
                Ordering::Relaxed,
            );
            if kept.is_ok() {
                return;
            }
        }
        // SAFETY: no place has it. `take` mapped the stack, and no thread runs on it any more.
        unsafe {
            let this = Box::from_raw(this);
            libc::munmap(this.base as *mut libc::c_void, BELOW + STACK);
        }
    }
}

/// Runs `job` on the calling thread, on a stack of ours. Returns it if the thread already runs guarded code, or if
/// memory is short.
pub(super) fn run(scheduler: &'static Scheduler, job: Job) -> Result<(), Job> {
    let held = hold_signals();
    let mut stack = Stack::take();
    let worker = stack
        .as_mut()
        .and_then(|stack| Worker::visit(scheduler, &mut stack.memory));
    let done = match (stack, worker) {
        (Some(mut stack), Some(worker)) => {
            let mut call = StackCall {
                worker,
                job: Some(job),
            };
            // SAFETY: the stack is this call's alone and its top a multiple of a page; `enter` catches panics.
            unsafe { solum_on_stack(stack.top(), enter, (&raw mut call).cast()) };
            stack.memory = call.worker.executor.into_memory();
            stack.give_back();
            Ok(())
        }
        (stack, _) => {
            if let Some(stack) = stack {
                stack.give_back();
            }
            Err(job)
        }
    };
    drop(held);
    done
}

/// Signals by which users end programs. Those without a handler stay unblocked; otherwise a kernel that never ends
/// could not be interrupted.
const ENDINGS: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Holds back all signals that code does not raise, except [`ENDINGS`] without a handler, and puts our fault handlers back if
/// need be.
fn hold_signals() -> Option<HeldSignals> {
    static CHECKED: AtomicU64 = AtomicU64::new(0);
    /// Signals of `ENDINGS` without a handler, a bit each.
    static OPEN: AtomicU32 = AtomicU32::new(0);
    let now = now_ns();
    inline_slot::trust(false, now);
    if now.saturating_sub(CHECKED.load(Ordering::Relaxed)) > RECHECK_NS {
        fault::reinstall();
        let mut open = 0;
        for (bit, signal) in ENDINGS.into_iter().enumerate() {
            // SAFETY: only asks; zero bytes are a valid `sigaction`.
            let plain = unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &mut action) == 0
                    && action.sa_sigaction == libc::SIG_DFL
            };
            open |= u32::from(plain) << bit;
        }
        OPEN.store(open, Ordering::Relaxed);
        CHECKED.store(now, Ordering::Relaxed);
    } else {
        fault::reinstall_if_replaced();
    }
    let open = OPEN.load(Ordering::Relaxed);
    let is_open = |(bit, _): &(usize, i32)| open >> bit & 1 == 1;
    let left_open = ENDINGS.into_iter().enumerate().filter(is_open);
    let held = HeldSignals::all_but(left_open.map(|(_, signal)| signal))?;
    inline_slot::trust(!held.raised_were_blocked(), now);
    Some(held)
}
