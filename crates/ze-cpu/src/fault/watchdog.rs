//! Kernels that are ended from outside: by the time limit, which is off by default, or by a reset of their device. Both send
//! the thread a signal, which the handler treats like a fault.
//!
//! A deadline is 0 outside of calls, a time (or [`NEVER`]) inside, and [`SENT`] or [`SENT_BY_RESET`] while a signal is
//! under way. A thread that leaves a call waits for a signal that was sent: it must not arrive where it means something else.
//! A reset counts up its device's number before it looks for threads, and a thread looks at the number after it has
//! set its deadline: one of the two sees the other.

use super::{inline_stack, signal_stack};
use crate::clock::now_ns;
use signal_mask::HeldSignals;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A signal is under way to the thread.
const SENT: u64 = u64::MAX;
/// As [`SENT`], for a reset.
const SENT_BY_RESET: u64 = u64::MAX - 1;
/// The deadline of a call without a time limit.
const NEVER: u64 = u64::MAX - 2;
/// A time that has passed: the signal came while the call could not be left, and is to be sent again.
const AGAIN: u64 = 1;
/// Instead of a signal number: the time limit has passed.
pub(super) const LATE: i32 = -1;
/// As [`LATE`], for a reset.
pub(super) const RESET: i32 = -2;

/// How often each device was reset; devices beyond the last share it.
static RESETS: [AtomicU32; 128] = [const { AtomicU32::new(0) }; 128];

fn resets(device: usize) -> &'static AtomicU32 {
    &RESETS[device.min(RESETS.len() - 1)]
}

/// The time by which a kernel must end, and its device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Device clock in ns.
    pub(super) deadline: u64,
    device: usize,
    /// [`RESETS`] when the launch began.
    resets: u32,
}

impl Limit {
    /// The deadline of a launch that begins now.
    pub(crate) fn new(device: usize) -> Self {
        let deadline = match LIMIT.load(Ordering::Relaxed) {
            0 => NEVER,
            limit => now_ns().saturating_add(limit).min(NEVER),
        };
        Self {
            deadline,
            device,
            resets: resets(device).load(Ordering::SeqCst),
        }
    }

    /// The device that the launch runs on.
    pub(super) fn device(&self) -> usize {
        self.device
    }

    /// Whether the device was reset since.
    pub(super) fn was_reset(&self) -> bool {
        resets(self.device).load(Ordering::SeqCst) != self.resets
    }

    /// The reason why the launch must not continue, if there is one.
    pub(crate) fn over(&self, now: u64) -> Option<String> {
        if self.was_reset() {
            return Some(RESET_TEXT.to_owned());
        }
        (now > self.deadline).then(text)
    }
}

/// The error text after a reset.
pub(super) const RESET_TEXT: &str = "it was ended by a reset of the device (zesDeviceReset)";

/// Ends all kernels that run on one of `devices`.
pub(crate) fn end(devices: &[usize]) {
    for device in devices {
        resets(*device).fetch_add(1, Ordering::SeqCst);
    }
    let end = now_ns().saturating_add(1_000_000_000);
    loop {
        let mut left = false;
        for (deadline, thread, device) in deadlines() {
            let due = deadline.load(Ordering::SeqCst);
            if due == 0 || !devices.contains(&device) {
                continue;
            }
            left = true;
            if due != SENT && due != SENT_BY_RESET {
                send(deadline, due, SENT_BY_RESET, thread);
            }
        }
        // A signal that came where the call could not be left is sent again.
        if !left || now_ns() > end {
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// The deadlines of all threads that ever were guarded, with the threads and the devices that their calls run on.
fn deadlines() -> impl Iterator<Item = (&'static AtomicU64, i32, usize)> {
    let records = signal_stack::records().chain(inline_stack::records());
    records.map(|record| {
        // SAFETY: records are never unmapped; the deadline is atomic, and a thread's number is read again
        // and again until it is the one that the deadline belongs to.
        unsafe {
            (
                &(*record).deadline,
                (&raw const (*record).thread).read_volatile(),
                (*record).device.load(Ordering::Acquire) as usize,
            )
        }
    })
}

/// Sends the signal, unless the thread has left its call meanwhile.
fn send(deadline: &AtomicU64, due: u64, as_what: u64, thread: i32) {
    let claimed = deadline.compare_exchange(due, as_what, Ordering::SeqCst, Ordering::Relaxed);
    if claimed.is_ok() {
        // SAFETY: a system call without memory; the thread waits for the signal before it leaves.
        let sent =
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGSEGV) };
        if sent != 0 {
            deadline.store(0, Ordering::Release);
        }
    }
}

/// Nanoseconds; 0: no limit.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Limits kernels that start from now on.
pub(crate) fn limit(milliseconds: u64) {
    static ONCE: Once = Once::new();
    LIMIT.store(milliseconds.saturating_mul(1_000_000), Ordering::Relaxed);
    ONCE.call_once(|| {
        // A system without another thread has no limit; the kernels run all the same.
        let _held = HeldSignals::all();
        let _ = std::thread::Builder::new()
            .name("solum-watchdog".to_owned())
            .spawn(watch);
    });
}

/// The error text after the time limit.
pub(super) fn text() -> String {
    let limit = LIMIT.load(Ordering::Relaxed) / 1_000_000;
    format!("it did not end within {limit} ms, the limit set by SOLUM_KERNEL_TIMEOUT_MS")
}

fn watch() {
    loop {
        let limit = LIMIT.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_nanos(
            (limit / 8).clamp(1_000_000, 50_000_000),
        ));
        let now = now_ns();
        for (deadline, thread, _) in deadlines() {
            let due = deadline.load(Ordering::Acquire);
            if due != 0 && due <= now {
                send(deadline, due, SENT, thread);
            }
        }
    }
}

/// The meaning of a signal that no code raised, if the watchdog sent it. Safe in signal handlers.
pub(super) fn meaning(deadline: &AtomicU64) -> Option<i32> {
    match deadline.load(Ordering::Acquire) {
        SENT => Some(LATE),
        SENT_BY_RESET => Some(RESET),
        _ => None,
    }
}

/// Takes the signal. Returns whether the call is to be left now. Safe in signal handlers.
pub(super) fn take(deadline: &AtomicU64, in_call: bool) -> bool {
    deadline.store(if in_call { 0 } else { AGAIN }, Ordering::Release);
    in_call
}

/// Ends the time limit of a call.
pub(super) fn leave(deadline: &AtomicU64) {
    loop {
        let now = deadline.load(Ordering::Acquire);
        if now != SENT
            && now != SENT_BY_RESET
            && deadline
                .compare_exchange(now, 0, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        {
            return;
        }
        std::hint::spin_loop();
    }
}
