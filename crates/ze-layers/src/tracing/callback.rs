//! Callbacks of tracers, and their user data.

use std::ffi::c_void;

/// A callback of any signature, as it is stored.
pub type Callback = Option<unsafe extern "C" fn()>;

/// The user data that tracers carry from thread to thread; the client synchronises accesses to it.
#[derive(Clone, Copy)]
pub(crate) struct UserData(pub(crate) *mut c_void);

// SAFETY: never looked behind here.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}
