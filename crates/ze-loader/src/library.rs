//! One open driver library: its handle and the slots that are called without an object's handle.

use std::ffi::{CStr, CString, OsString, c_void};
use std::os::unix::ffi::OsStrExt;

use level_zero_sys as sys;
use level_zero_sys::{
    ZE_API_VERSION_1_0, ZE_API_VERSION_1_17, ZE_RESULT_SUCCESS, ze_api_version_t, ze_result_t,
};

use crate::candidate::{Candidate, Class, file_of};
use crate::legacy_driver::LegacyDriver;

/// How the handles of a library's drivers are dispatched.
#[derive(Clone, Copy)]
pub(crate) enum Handles {
    /// They begin with DDI tables that have passed the checks.
    Ddi,
    /// They are wrapped.
    Wrapped(&'static LegacyDriver),
}

/// A driver library that is open, and stays open.
pub(crate) struct Library {
    pub(crate) name: OsString,
    pub(crate) class: Class,
    pub(crate) own: bool,
    /// Its index among the candidates.
    pub(crate) place: usize,
    handle: *mut c_void,
    /// How its handles are dispatched; known once the first was checked.
    pub(crate) handles: Option<Handles>,
    pub(crate) global: sys::ze_global_dditable_t,
    pub(crate) driver: sys::ze_driver_dditable_t,
    pub(crate) sysman_global: sys::zes_global_dditable_t,
    pub(crate) sysman_driver: sys::zes_driver_dditable_t,
    pub(crate) runtime: sys::zer_global_dditable_t,
}

// SAFETY: the handle is only compared, and the slots are functions that Level Zero lets any thread call.
unsafe impl Send for Library {}

/// The address that `dlsym` finds.
fn symbol(handle: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: an open library and a C string; the result is only an address.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// The dynamic linker's text of its last error.
fn linker_error() -> String {
    // SAFETY: `dlerror` returns null or a C string that is valid until this thread's next call into the linker.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic linker gave no reason".into();
    }
    // SAFETY: non-null, see above.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// Calls one getter for its table. A missing getter gives a table of nulls; a failing one is an error if `required`.
///
/// # Safety
/// The library's getter of this name has the type for table `T`, which consists of function pointers only.
unsafe fn table<T: Default>(handle: *mut c_void, name: &CStr, required: bool) -> Result<T, String> {
    let Some(address) = symbol(handle, name) else {
        return Ok(T::default());
    };
    // SAFETY: by the caller's contract this is the getter's type.
    let getter = unsafe {
        std::mem::transmute::<
            *mut c_void,
            unsafe extern "C" fn(ze_api_version_t, *mut T) -> ze_result_t,
        >(address)
    };
    let mut filled = T::default();
    let result = newest(|version| {
        filled = T::default();
        // SAFETY: the table is our own, with the size of version 1.17; older requests fill a prefix of it.
        unsafe { getter(version, &raw mut filled) }
    });
    match result {
        ZE_RESULT_SUCCESS => Ok(filled),
        _ if required => Err(format!("{} returned {result:?}", name.to_string_lossy())),
        _ => Ok(T::default()),
    }
}

/// Calls a getter with the newest version that it accepts. Drivers must serve a newer minor version with the slots that
/// they have; a driver that rejects it gets older versions. Returns the first error if none is accepted.
pub(crate) fn newest(mut ask: impl FnMut(ze_api_version_t) -> ze_result_t) -> ze_result_t {
    let (newest, oldest) = (ZE_API_VERSION_1_17.0, ZE_API_VERSION_1_0.0);
    let first = ask(ze_api_version_t(newest));
    let older = || (oldest..newest).rev().map(ze_api_version_t);
    if first == ZE_RESULT_SUCCESS || older().any(|version| ask(version) == ZE_RESULT_SUCCESS) {
        return ZE_RESULT_SUCCESS;
    }
    first
}

impl Library {
    /// The address of an exported symbol.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        symbol(self.handle, name)
    }

    /// Opens a candidate and calls the getters of its entry tables; calls nothing else in it.
    ///
    /// # Errors
    /// One line with the reason why the candidate is not used.
    pub(crate) fn open(
        candidate: &Candidate,
        place: usize,
        opened: &[Library],
    ) -> Result<Library, String> {
        if candidate.name.is_empty() {
            return Err(
                "an empty name; ZE_ENABLE_ALT_DRIVERS takes names or paths, separated by commas"
                    .into(),
            );
        }
        let name = CString::new(candidate.name.as_bytes())
            .map_err(|_| "its name contains a zero byte".to_string())?;
        // SAFETY: loading a library runs its initialisers; the user named or installed it.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(linker_error());
        }
        Self::from_handle(candidate, place, handle, opened).inspect_err(|_| {
            // SAFETY: the handle is open, and no function of the library was called or kept.
            unsafe { libc::dlclose(handle) };
        })
    }

    fn from_handle(
        candidate: &Candidate,
        place: usize,
        handle: *mut c_void,
        opened: &[Library],
    ) -> Result<Library, String> {
        if let Some(first) = opened.iter().find(|library| library.handle == handle) {
            return Err(format!(
                "the same library as {}, which is already open",
                first.name.to_string_lossy()
            ));
        }
        let core = symbol(handle, c"zeGetGlobalProcAddrTable");
        let Some(any_getter) = core.or_else(|| symbol(handle, c"zesGetGlobalProcAddrTable")) else {
            return Err("not a Level Zero driver: it exports neither zeGetGlobalProcAddrTable nor zesGetGlobalProcAddrTable"
                .into());
        };
        // A loader exports the same getters and would call this one recursively.
        if symbol(handle, c"zeLoaderInit")
            .is_some_and(|loader| file_of(loader) == file_of(any_getter))
        {
            return Err("a Level Zero loader, not a driver".into());
        }
        // SAFETY: the names are those of the getters for these tables, each made of function pointers only.
        unsafe {
            Ok(Library {
                name: candidate.name.clone(),
                class: candidate.class,
                own: candidate.own,
                place,
                handle,
                handles: None,
                global: table(handle, c"zeGetGlobalProcAddrTable", true)?,
                driver: table(handle, c"zeGetDriverProcAddrTable", true)?,
                sysman_global: table(handle, c"zesGetGlobalProcAddrTable", false)?,
                sysman_driver: table(handle, c"zesGetDriverProcAddrTable", false)?,
                runtime: table(handle, c"zerGetGlobalProcAddrTable", false)?,
            })
        }
    }

    /// `: text` with the driver's own last-error text of this thread, or empty.
    pub(crate) fn last_error(&self) -> String {
        let Some(get) = self.runtime.pfnGetLastErrorDescription else {
            return String::new();
        };
        let mut text = std::ptr::null();
        // SAFETY: the driver writes a pointer to one of its C strings.
        if unsafe { get(&raw mut text) } != ZE_RESULT_SUCCESS || text.is_null() {
            return String::new();
        }
        // SAFETY: a non-null C string, valid until the driver's next call on this thread.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        if text.is_empty() {
            String::new()
        } else {
            format!(": {text}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(name: &str) -> Result<Library, String> {
        Library::open(
            &Candidate {
                name: name.into(),
                class: Class::Any,
                own: false,
            },
            0,
            &[],
        )
    }

    #[test]
    fn libraries_that_are_not_drivers_are_rejected_with_a_reason() {
        let table = [
            ("", "empty name"),
            ("/nonexistent/libze_nothing.so", "cannot open shared object"),
            ("/proc/self/status", ""),
            ("libc.so.6", "not a Level Zero driver"),
        ];
        for (name, part) in table {
            let reason = open(name)
                .err()
                .unwrap_or_else(|| panic!("{name} was opened"));
            assert!(
                !reason.is_empty() && reason.contains(part),
                "{name}: {reason}"
            );
        }
    }
}
