//! A shared library opened at run time, and its functions by name.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An open library. It is never closed, because loaders and drivers start threads.
pub(crate) struct Library(*mut c_void);

impl Library {
    /// Opens a library with `dlopen`, and returns the path of its file.
    ///
    /// # Errors
    /// The dynamic linker's message.
    pub(crate) fn open(name: &OsStr) -> Result<(Self, OsString), String> {
        let text = CString::new(name.as_bytes()).map_err(|_| "its name contains a zero byte")?;
        // SAFETY: loading a library runs its initialisers, which is what the caller wants.
        let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        if handle.is_null() {
            let error = last_error();
            return Err(match is_noexec(name) {
                true => format!(
                    "{error} (its file system is mounted noexec: install into another folder, or remount it with exec)"
                ),
                false => error,
            });
        }
        Ok((Self(handle), file_of(handle).unwrap_or_else(|| name.into())))
    }

    /// The address of a symbol.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<*const c_void> {
        // SAFETY: an open library and a C string; only the address is taken.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address.cast_const())
    }

    /// The function of that name.
    ///
    /// # Safety
    /// `F` is the type of a C function that has this name in every library that has the name.
    pub(crate) unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        const {
            assert!(size_of::<F>() == size_of::<*const c_void>(), "one address");
        }
        let address = self.symbol(name)?;
        // SAFETY: by the caller's contract; the sizes are equal.
        Some(unsafe { std::mem::transmute_copy::<*const c_void, F>(&address) })
    }
}

fn last_error() -> String {
    // SAFETY: null, or a C string until this thread's next call into the linker.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic linker gave no reason".into();
    }
    // SAFETY: not null.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// The file behind an open library.
fn file_of(handle: *mut c_void) -> Option<OsString> {
    let mut map: *mut LinkMap = std::ptr::null_mut();
    // SAFETY: `RTLD_DI_LINKMAP` writes one pointer.
    if unsafe { libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) } != 0 {
        return None;
    }
    if map.is_null() {
        return None;
    }
    // SAFETY: the linker's record lives as long as the library is open.
    let name = unsafe { (*map).name };
    if name.is_null() {
        return None;
    }
    // SAFETY: a C string of the linker.
    let name = unsafe { CStr::from_ptr(name) };
    Some(OsStr::from_bytes(name.to_bytes()).to_owned())
}

/// The public beginning of glibc's `struct link_map`.
#[repr(C)]
struct LinkMap {
    address: usize,
    name: *const c_char,
}

/// Whether the library is on a file system from which no code can be mapped.
fn is_noexec(name: &OsStr) -> bool {
    let flags = rustix::fs::statvfs(Path::new(name)).map(|found| found.f_flag);
    flags.is_ok_and(|flags| flags.contains(rustix::fs::StatVfsMountFlags::NOEXEC))
}
