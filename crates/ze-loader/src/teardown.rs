//! Teardown: callbacks, and the state in which every call returns UNINITIALIZED.
//!
//! Teardown begins when the library is unloaded or the process exits (the shell's `.fini_array` entry), or when a
//! driver announces its own end by `zelSetDriverTeardown`. A client that is unloaded only removes its callback; the
//! others continue to work. Driver libraries stay mapped.

use std::sync::{Mutex, TryLockError};

use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_SUCCESS,
    ze_result_t, zel_application_teardown_callback_t, zel_loader_teardown_callback_t,
};

use crate::guard::guarded;
use crate::refusals::not_ready;
use crate::{dispatch_table, layers, phase, text};

struct Callbacks {
    /// The last used index; indices start at 1 and are never reused.
    last: u32,
    waiting: Vec<(u32, unsafe extern "C" fn())>,
}

static CALLBACKS: Mutex<Callbacks> = Mutex::new(Callbacks {
    last: 0,
    waiting: Vec::new(),
});

/// Runs `body` with the callbacks. Returns `None` if the lock's holder cannot exist any more, as in a forked child.
fn with_callbacks<T>(body: impl FnOnce(&mut Callbacks) -> T) -> Option<T> {
    // The lock is held for a few instructions; after this many checks its holder must be gone.
    for _ in 0..100_000 {
        match CALLBACKS.try_lock() {
            Ok(mut callbacks) => return Some(body(&mut callbacks)),
            Err(TryLockError::Poisoned(poisoned)) => return Some(body(&mut poisoned.into_inner())),
            // SAFETY: no arguments, no failure that matters.
            Err(TryLockError::WouldBlock) => unsafe {
                libc::sched_yield();
            },
        }
    }
    None
}

/// `zelRegisterTeardownCallback`: stores the client's callback, and returns the function and index for removing it.
///
/// # Safety
/// `loader_callback` and `index` are null or writable; the callback stays callable until it is removed or called.
pub unsafe fn register(
    callback: zel_loader_teardown_callback_t,
    loader_callback: *mut zel_application_teardown_callback_t,
    index: *mut u32,
) -> ze_result_t {
    const NAME: &str = "zelRegisterTeardownCallback";
    guarded(NAME, || {
        if phase::is_torn_down() {
            return not_ready(&NAME);
        }
        let Some(callback) = callback else {
            text::set(format_args!(
                "{NAME}: application_callback must not be null"
            ));
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        };
        if loader_callback.is_null() || index.is_null() {
            text::set(format_args!(
                "{NAME}: loader_callback and index must not be null"
            ));
            return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
        }
        let Some(number) = with_callbacks(|callbacks| {
            callbacks.last += 1;
            callbacks.waiting.push((callbacks.last, callback));
            callbacks.last
        }) else {
            return not_ready(&NAME);
        };
        // SAFETY: non-null, and writable by the caller's contract.
        unsafe {
            *loader_callback = Some(deregister);
            *index = number;
        }
        ZE_RESULT_SUCCESS
    })
}

/// Clients call this if they are unloaded before the loader. An unknown index is ignored, also after teardown.
unsafe extern "C" fn deregister(index: u32) {
    guarded("loader_callback", || {
        with_callbacks(|callbacks| callbacks.waiting.retain(|(known, _)| *known != index));
        ZE_RESULT_SUCCESS
    });
}

/// Runs and removes all callbacks in the order of their indices, then ends dispatch. Does nothing the second time.
pub fn run() {
    guarded("teardown", || {
        if phase::is_torn_down() {
            return ZE_RESULT_SUCCESS;
        }
        // One at a time and without the lock, because a callback may remove others, or itself.
        while let Some((_, callback)) = with_callbacks(|callbacks| {
            (!callbacks.waiting.is_empty()).then(|| callbacks.waiting.remove(0))
        })
        .flatten()
        {
            // SAFETY: the client promised that it stays callable until it is taken back.
            unsafe { callback() };
        }
        layers::finish();
        dispatch_table::mark_torn_down();
        ZE_RESULT_SUCCESS
    });
}

/// `zelSetDriverTeardown`: a driver announces the end of the process; idempotent.
#[must_use]
pub fn announce() -> ze_result_t {
    run();
    ZE_RESULT_SUCCESS
}
