//! Per-thread data: universal id, scope, stashed tuple. Plain words without a destructor.

use core::ffi::c_char;

use xpti_sys::{result, xpti_tracepoint_t};

#[repr(C)]
struct Words {
    universal_id: u64,
    scope: *const xpti_tracepoint_t,
    stash_key: *const c_char,
    stash_value: u64,
}

// Initial-exec storage: two instructions instead of a call of the dynamic linker. The library needs 32 bytes of the
// space that glibc reserves for such libraries.
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
core::arch::global_asm!(
    ".pushsection .tbss.solum_xpti_thread,\"awT\",@nobits",
    ".balign 16",
    ".globl solum_xpti_thread",
    ".hidden solum_xpti_thread",
    ".type solum_xpti_thread, @object",
    ".size solum_xpti_thread, 32",
    "solum_xpti_thread:",
    ".zero 32",
    ".popsection",
);

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
#[inline(always)]
fn words() -> *mut Words {
    let words: *mut Words;
    // SAFETY: reads the thread pointer and the offset that the dynamic linker filled in.
    unsafe {
        core::arch::asm!(
            "mov {words}, qword ptr fs:[0]",
            "add {words}, qword ptr [rip + solum_xpti_thread@GOTTPOFF]",
            words = out(reg) words,
            options(pure, readonly, nostack),
        );
    }
    words
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
fn words() -> *mut Words {
    use core::cell::UnsafeCell;
    thread_local! {
        static WORDS: UnsafeCell<Words> = const {
            UnsafeCell::new(Words {
                universal_id: 0,
                scope: core::ptr::null(),
                stash_key: core::ptr::null(),
                stash_value: 0,
            })
        };
    }
    WORDS.with(UnsafeCell::get)
}

/// The thread's words; no reference to them is kept across a call.
#[inline(always)]
fn with<R>(read: impl FnOnce(&mut Words) -> R) -> R {
    // SAFETY: this thread's own memory, initially zero, which is valid; `read` makes no call.
    read(unsafe { &mut *words() })
}

/// The thread's address, which identifies it.
pub(crate) fn address() -> usize {
    words().addr()
}

/// The location that the thread works for, initially 0.
#[inline]
pub fn universal_id() -> u64 {
    with(|words| words.universal_id)
}

/// Sets [`universal_id`].
#[inline]
pub fn set_universal_id(id: u64) {
    with(|words| words.universal_id = id);
}

/// The tracepoint that the thread has published, initially null.
#[inline]
pub fn scope() -> *const xpti_tracepoint_t {
    with(|words| words.scope)
}

/// Publishes a tracepoint of location `uid`, or null and 0.
#[inline]
pub fn set_scope(tracepoint: *const xpti_tracepoint_t, uid: u64) {
    with(|words| {
        words.scope = tracepoint;
        words.universal_id = uid;
    });
}

/// Stashes a tuple in the thread's only slot. FAIL for a null key; the key is not copied.
#[inline]
pub fn stash(key: *const c_char, value: u64) -> i32 {
    if key.is_null() {
        return result::FAIL;
    }
    with(|words| {
        words.stash_key = key;
        words.stash_value = value;
    });
    result::SUCCESS
}

/// The stashed tuple.
#[inline]
pub fn stashed() -> Option<(*const c_char, u64)> {
    with(|words| (!words.stash_key.is_null()).then_some((words.stash_key, words.stash_value)))
}

/// Clears the slot.
#[inline]
pub fn unstash() {
    with(|words| words.stash_key = core::ptr::null());
}
