//! The signal handlers: ours first, then the earlier ones.
//!
//! All code reached from [`on_signal`] is async-signal-safe: atomics, plain memory, system calls.

use super::inline_stack;
use super::page_watch;
use super::processor::{self, Registers};
use super::record::NO_ADDRESS;
use super::signal_stack::record_of;
use super::watchdog;
use super::write_hold::{self, WriteHold};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// `si_code` of signals that the system raises without details.
const SI_KERNEL: i32 = 0x80;

/// Signals that bad code raises.
const SIGNALS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// Handlers that were installed before ours. Boxes are leaked, because a handler may be reading one.
struct Previous {
    /// Found when ours was first installed.
    first: AtomicPtr<libc::sigaction>,
    /// Found in place of ours later.
    latest: AtomicPtr<libc::sigaction>,
}

static PREVIOUS: [Previous; 4] = [const {
    Previous {
        first: AtomicPtr::new(std::ptr::null_mut()),
        latest: AtomicPtr::new(std::ptr::null_mut()),
    }
}; 4];

/// Threads that are inside a chained handler, and the address of our frame there: a handler that
/// saved ours as its own predecessor calls us again, deeper on the same stack.
struct Chained {
    thread: AtomicI32,
    frame: AtomicUsize,
}

static CHAINED: [Chained; 64] = [const {
    Chained {
        thread: AtomicI32::new(0),
        frame: AtomicUsize::new(0),
    }
}; 64];

/// Installs the handlers, once in the process's life.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        processor::learn();
        for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
            if let Some(found) = replace(signal) {
                previous.first.store(keep(found), Ordering::Release);
            }
        }
    });
}

/// As [`reinstall`], if the program has replaced the handler of SIGSEGV, the one most often replaced: one system call.
pub(crate) fn reinstall_if_replaced() {
    if !handles_segments() {
        reinstall();
    }
}

/// Whether the handler of SIGSEGV is ours: one system call.
pub(crate) fn handles_segments() -> bool {
    // SAFETY: only asks; zero bytes are a valid `sigaction`.
    let now = unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGSEGV, std::ptr::null(), &mut now);
        now
    };
    now.sa_sigaction == on_signal as *const () as usize
}

/// Installs our handlers again if the program has replaced them; its own are called after ours.
pub(crate) fn reinstall() {
    for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
        // SAFETY: only asks; zero bytes are a valid `sigaction`.
        let now = unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut now);
            now
        };
        if now.sa_sigaction != on_signal as *const () as usize
            && let Some(found) = replace(signal)
            && found.sa_sigaction != on_signal as *const () as usize
        {
            previous.latest.store(keep(found), Ordering::Release);
        }
    }
}

/// Holds writes to `base..base + len`, with our handlers installed: see [`WriteHold::begin`].
pub(crate) fn hold_writes(base: usize, len: u64) -> Option<WriteHold> {
    WriteHold::begin(base, len, || {
        install();
        reinstall_if_replaced();
    })
}

fn keep(action: libc::sigaction) -> *mut libc::sigaction {
    Box::into_raw(Box::new(action))
}

/// Installs our handler for `signal`; returns the earlier one.
fn replace(signal: i32) -> Option<libc::sigaction> {
    // SAFETY: `on_signal` has the signature that SA_SIGINFO asks for; zero bytes are a valid, empty
    // `sigaction`.
    unsafe {
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = on_signal as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        ours.sa_mask = held_in_handler();
        let mut found: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, &ours, &mut found) == 0).then_some(found)
    }
}

/// Signals that wait while our handler runs: all that no code raises. It may sleep until memory has moved
/// ([`write_hold`]), and a handler of the program's that writes to the same memory meanwhile would end the process, because
/// SIGSEGV is blocked.
fn held_in_handler() -> libc::sigset_t {
    // SAFETY: zero bytes are a valid set; the calls change this set alone.
    unsafe {
        let mut held: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut held);
        for raised in signal_mask::RAISED {
            libc::sigdelset(&mut held, raised);
        }
        held
    }
}

unsafe extern "C" fn on_signal(
    signal: i32,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    let here = 0u8;
    let frame = std::ptr::from_ref(&here) as usize;
    // SAFETY: the system hands valid pointers to a handler with SA_SIGINFO; a program that calls us as
    // its predecessor passes them on.
    unsafe {
        let raised_by_code = (*info).si_code > 0;
        let mut registers = Registers::of(context);
        if signal == libc::SIGSEGV
            && write_hold::retry(
                (*info).si_code,
                (*info).si_addr() as usize,
                registers.instruction(),
            )
        {
            return;
        }
        let record = record_of(frame).or_else(|| inline_stack::record_of(registers.stack()));
        if signal == libc::SIGSEGV
            && page_watch::retry(
                (*info).si_code,
                (*info).si_addr() as usize,
                &registers,
                record.is_some(),
            )
        {
            return;
        }
        let mut ended = None;
        if record.is_none()
            && !raised_by_code
            && let Some(deadline) = sent_to_inline_call()
        {
            // A handler of the program's interrupts the call: the watchdog sends the signal again.
            watchdog::take(deadline, false);
            return;
        }
        if let Some(record) = record
            && !raised_by_code
            && let Some(meaning) = watchdog::meaning(&(*record).deadline)
        {
            let in_call = (*record).stack != 0 && !(*record).in_callback;
            if !watchdog::take(&(*record).deadline, in_call) {
                return;
            }
            ended = Some(meaning);
        }
        if (raised_by_code || ended.is_some())
            && let Some(record) = record
            && (*record).stack != 0
        {
            (*record).signal = ended.unwrap_or(signal);
            (*record).address = match (*info).si_code {
                // A general protection fault carries no address.
                SI_KERNEL if signal == libc::SIGSEGV => NO_ADDRESS,
                _ => (*info).si_addr() as usize,
            };
            (*record).instruction = registers.instruction();
            registers.recover((*record).stack);
            return;
        }
        chain(signal, info, context, frame);
    }
}

/// The deadline of the calling thread's call on an inline stack, if a signal to end it is under way.
fn sent_to_inline_call() -> Option<&'static AtomicU64> {
    // SAFETY: a system call without memory.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
    inline_stack::records().find_map(|record| {
        // SAFETY: records are never freed; the thread's own number does not change while it is here.
        let (number, deadline) = unsafe {
            (
                (&raw const (*record).thread).read_volatile(),
                &(*record).deadline,
            )
        };
        (number == thread && watchdog::meaning(deadline).is_some()).then_some(deadline)
    })
}

/// Passes a signal to the handler that was installed before ours.
///
/// # Safety
/// The arguments are those of a signal handler.
unsafe fn chain(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void, frame: usize) {
    let Some(at) = SIGNALS.iter().position(|s| *s == signal) else {
        return;
    };
    // SAFETY: a system call without memory.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
    // The handler that we called calls us: go to the one before it. A frame at the same height or above is a new delivery;
    // the old one was left by a jump.
    let again = CHAINED.iter().any(|chained| {
        chained.thread.load(Ordering::Relaxed) == thread
            && frame < chained.frame.load(Ordering::Relaxed)
    });
    let previous = &PREVIOUS[at];
    let latest = previous.latest.load(Ordering::Acquire);
    let action = if again || latest.is_null() {
        previous.first.load(Ordering::Acquire)
    } else {
        latest
    };
    // SAFETY: kept actions are never freed.
    let action = unsafe { action.as_ref() };
    let (handler, flags) = match action {
        Some(action) => (action.sa_sigaction, action.sa_flags),
        None => (libc::SIG_DFL, 0),
    };
    // SAFETY: `info` as above.
    let sent = unsafe { (*info).si_code <= 0 };
    if handler == libc::SIG_IGN && sent {
        return;
    }
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // The system's own end, with its core dump: the instruction faults again on return, a signal
        // that was sent is sent again.
        // SAFETY: zero bytes are a valid `sigaction`; the rest are system calls.
        unsafe {
            let mut default: libc::sigaction = std::mem::zeroed();
            default.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &default, std::ptr::null_mut());
            if sent {
                libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal);
            }
        }
        return;
    }
    if let Some(action) = action {
        // SAFETY: the context is the one that the system gave the handler.
        unsafe { mask_for(signal, action, context) };
    }
    let entered = if again { None } else { mark(thread, frame) };
    // SAFETY: a handler that the program installed with these flags.
    unsafe {
        if flags & libc::SA_SIGINFO != 0 {
            let call: unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(handler);
            call(signal, info, context);
        } else {
            let call: unsafe extern "C" fn(i32) = std::mem::transmute(handler);
            call(signal);
        }
    }
    if let Some(chained) = entered {
        chained.thread.store(0, Ordering::Relaxed);
    }
}

/// Gives the thread the mask that the system would have given the program's handler. A handler of the program's that calls
/// ours keeps the mask that it has.
///
/// # Safety
/// `context` is that of a signal handler.
unsafe fn mask_for(signal: i32, action: &libc::sigaction, context: *mut libc::c_void) {
    // SAFETY: the caller's promise; the rest reads and writes local sets and the thread's own mask.
    unsafe {
        let mut now: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut now);
        let held = held_in_handler();
        let has = |set: &libc::sigset_t, signal| libc::sigismember(set, signal) == 1;
        if (1..=64).any(|signal| has(&held, signal) && !has(&now, signal) && is_maskable(signal)) {
            return;
        }
        let mut mask = (*context.cast::<libc::ucontext_t>()).uc_sigmask;
        for signal in (1..=64).filter(|signal| has(&action.sa_mask, *signal)) {
            libc::sigaddset(&mut mask, signal);
        }
        if action.sa_flags & libc::SA_NODEFER == 0 {
            libc::sigaddset(&mut mask, signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &mask, std::ptr::null_mut());
    }
}

/// Whether a thread can block the signal.
fn is_maskable(signal: i32) -> bool {
    !matches!(signal, libc::SIGKILL | libc::SIGSTOP)
}

/// Notes that `thread` enters a chained handler.
fn mark(thread: i32, frame: usize) -> Option<&'static Chained> {
    // A thread reuses the slot that its own handler left by a jump.
    let mine = CHAINED
        .iter()
        .find(|chained| chained.thread.load(Ordering::Relaxed) == thread);
    let chained = mine.or_else(|| {
        CHAINED.iter().find(|chained| {
            chained
                .thread
                .compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        })
    })?;
    chained.frame.store(frame, Ordering::Relaxed);
    Some(chained)
}
