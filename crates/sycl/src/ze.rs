//! Calls of Level Zero: all calls of this crate are made through this module.

use std::hash::{Hash, Hasher};

use level_zero::Tables;
use level_zero::sys::*;

use crate::error::{Error, Result};
use crate::log::{COMMANDS, say};

/// The functions of one implementation, and the driver that provides error texts.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    pub(crate) tables: &'static Tables,
    pub(crate) driver: ze_driver_handle_t,
}

// SAFETY: functions of a thread-safe C API and an opaque handle.
unsafe impl Send for Api {}
// SAFETY: as for `Send`.
unsafe impl Sync for Api {}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Api({:p})", self.driver)
    }
}

impl PartialEq for Api {
    fn eq(&self, other: &Self) -> bool {
        self.driver == other.driver
    }
}
impl Eq for Api {}
impl Hash for Api {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.driver.hash(state);
    }
}

impl Api {
    /// Converts a call's result to this crate's.
    #[inline]
    pub(crate) fn check(self, function: &'static str, code: ze_result_t) -> Result<()> {
        if code == ZE_RESULT_SUCCESS {
            return Ok(());
        }
        Err(self.error(function, code))
    }

    #[cold]
    pub(crate) fn error(self, function: &'static str, code: ze_result_t) -> Error {
        let text = match code {
            ZE_RESULT_ERROR_UNINITIALIZED => String::new(),
            _ => self.tables.last_error(Some(self.driver)),
        };
        let error = level_zero::Error::Call {
            function,
            code,
            text,
        };
        say(COMMANDS, || error.to_string());
        Error::backend(code, error.to_string())
    }
}

/// Calls Level Zero: `ze!(api, zeEventHostReset = event.pfnHostReset(handle))`. A function that the implementation
/// lacks returns UNSUPPORTED_FEATURE. The caller writes the `unsafe`.
macro_rules! ze {
    ($api:expr, $name:ident = $table:ident.$slot:ident($($argument:expr),* $(,)?)) => {{
        let api: $crate::ze::Api = $api;
        match api.tables.$table.$slot {
            Some(function) => {
                #[cfg(feature = "xpti")]
                let code = if $crate::trace::calls::traced() {
                    use $crate::trace::calls::{Pointers as _, Signature as _};
                    let arguments = function.typed(($($argument,)*));
                    static NAME: $crate::trace::calls::Name =
                        $crate::trace::calls::Name::new(concat!(stringify!($name), "\0"));
                    $crate::trace::calls::call(&NAME, &arguments.pointers(), || function($($argument),*))
                } else {
                    function($($argument),*)
                };
                #[cfg(not(feature = "xpti"))]
                let code = function($($argument),*);
                const EFFECT: Option<$crate::leaks::Effect> = $crate::leaks::effect(stringify!($name));
                if let Some(effect) = EFFECT.filter(|_| code == level_zero::sys::ZE_RESULT_SUCCESS) {
                    $crate::leaks::count(effect);
                }
                api.check(stringify!($name), code)
            }
            None => Err(api.error(
                stringify!($name),
                level_zero::sys::ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            )),
        }
    }};
}
pub(crate) use ze;

/// The two-call idiom: count, then array.
pub(crate) fn enumerate<T: Clone>(
    empty: T,
    mut call: impl FnMut(*mut u32, *mut T) -> Result<()>,
) -> Result<Vec<T>> {
    let mut count = 0;
    call(&raw mut count, std::ptr::null_mut())?;
    let mut all = vec![empty; count as usize];
    if count > 0 {
        call(&raw mut count, all.as_mut_ptr())?;
        all.truncate(count as usize);
    }
    Ok(all)
}

/// Converts a C array of characters to text.
pub(crate) fn text(characters: &[std::ffi::c_char]) -> std::borrow::Cow<'_, str> {
    // SAFETY: the slice's memory; a character is a byte of either sign.
    let bytes = unsafe { std::slice::from_raw_parts(characters.as_ptr().cast(), characters.len()) };
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())])
}
