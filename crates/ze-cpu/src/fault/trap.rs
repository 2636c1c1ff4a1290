//! Kernels that end their own launch: traps, code that counts as unreachable, failed assertions.

use super::access::{disarmed, string_at};
use super::processor::{stop, touch_below};
use kernel_ir::abi::{ASSERTION_WORDS, Assertion, TRAP_TEXT};
use std::cell::Cell;
use std::fmt;

/// Bytes of a page, at least.
const PAGE: usize = 4096;

/// The stack that reading and printing a trap's words takes at most, in bytes.
const ROOM: usize = 32 << 10;

/// The words of a kernel that ended its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trapped {
    /// The work-item in the launch.
    pub(crate) item: [u64; 3],
    assertion: Option<Assertion>,
    /// The position of the instruction in the SPIR-V module.
    word: u32,
}

impl Trapped {
    /// The position of the instruction in the SPIR-V module.
    pub(crate) fn word(&self) -> u32 {
        self.word
    }

    pub(crate) fn is_assertion(&self) -> bool {
        self.assertion.is_some()
    }
}

impl fmt::Display for Trapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.assertion {
            Some(assertion) => write!(f, "{assertion}"),
            None => write!(f, "{TRAP_TEXT} (word {} of the SPIR-V module)", self.word),
        }
    }
}

thread_local! {
    /// This thread's trap, from the trap to the end of the guarded call; otherwise null. Without a destructor.
    static TRAPPED: Cell<*mut Trapped> = const { Cell::new(std::ptr::null_mut()) };
    /// Whether failed assertions of this thread's code are not printed: it will run again.
    static IS_SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, which calls guarded code; `is_silent`: its failed assertions are not printed.
pub(crate) fn with_silence<R>(is_silent: bool, body: impl FnOnce() -> R) -> R {
    let before = IS_SILENT.replace(is_silent);
    let result = body();
    IS_SILENT.set(before);
    result
}

/// The words of the calling thread's code before it trapped.
pub(super) fn take() -> Option<Box<Trapped>> {
    let trapped = TRAPPED.replace(std::ptr::null_mut());
    // SAFETY: created by `Box::into_raw` below, and taken once.
    (!trapped.is_null()).then(|| unsafe { Box::from_raw(trapped) })
}

/// Prints a failed assertion to stderr, as DPC++'s own runtimes do.
pub(crate) fn tell(assertion: &Assertion) {
    let line = format!("{assertion}\n");
    // In one write, and without the standard library's lock: a thread that holds it may wait for this launch.
    signal_mask::write_stderr(line.as_bytes());
}

/// Called by generated code; see [`kernel_ir::abi::TRAP_SYMBOL`].
///
/// # Safety
/// `record` is the address of `words` words. Called from guarded code only: anywhere else it ends the process.
pub(crate) unsafe extern "C" fn solum_trap(record: *const u64, words: u32, word: u32) {
    // Locks and allocations follow, out of which no fault may jump: a stack that is too short for them ends here.
    // Page by page, because memory beyond a guard page may belong to another stack.
    for below in (PAGE..=ROOM).step_by(PAGE) {
        // SAFETY: a fault is the guard's, with nothing to drop here.
        unsafe { touch_below(below) };
    }
    disarmed(|| {
        // SAFETY: the caller's promise.
        let read = || unsafe { trapped(record, words as usize, word) };
        // A panic (memory is short) leaves the trap without words.
        if let Ok(trapped) = std::panic::catch_unwind(read) {
            drop(take());
            TRAPPED.set(Box::into_raw(Box::new(trapped)));
        }
    });
    // SAFETY: the guard turns it into a fault; nothing is left to drop here.
    unsafe { stop() }
}

/// # Safety
/// As [`solum_trap`].
unsafe fn trapped(record: *const u64, words: usize, word: u32) -> Trapped {
    // SAFETY: the caller's promise; generated code keeps the record on its stack, aligned.
    let record = unsafe { std::slice::from_raw_parts(record, words) };
    let at = |i: usize| record.get(i).copied().unwrap_or(0);
    let item = [at(0), at(1), at(2)];
    let assertion = (words >= ASSERTION_WORDS).then(|| {
        let text = |i| String::from_utf8_lossy(&string_at(at(i))).into_owned();
        Assertion {
            global_id: item,
            local_id: [at(3), at(4), at(5)],
            expression: text(6),
            file: text(7),
            line: at(8) as u32,
            function: text(9),
        }
    });
    if let Some(assertion) = assertion.as_ref().filter(|_| !IS_SILENT.get()) {
        tell(assertion);
    }
    Trapped {
        item,
        assertion,
        word,
    }
}
