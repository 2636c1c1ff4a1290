//! All functions of Level Zero in one value.

use std::ffi::CStr;

use level_zero_sys::*;

/// All functions of the four namespaces, by object: `tables.ze.Fence.pfnCreate`. An empty slot is a missing function.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Tables {
    /// Core.
    pub ze: ze_dditable_t,
    /// Tools.
    pub zet: zet_dditable_t,
    /// System management.
    pub zes: zes_dditable_t,
    /// Runtime.
    pub zer: zer_dditable_t,
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").finish_non_exhaustive()
    }
}

/// Copies the slots that exist at `version` and leaves later ones unchanged.
///
/// # Safety
/// Both have room for the slots that exist at `version`; `T` is a table of function pointers.
unsafe fn copy_table<T>(version: u32, from: *const T, to: *mut T, reach: &[(u32, usize)]) {
    let slots = reach
        .iter()
        .take_while(|(since, _)| *since <= version)
        .last()
        .map_or(0, |(_, slots)| *slots);
    // SAFETY: `reach` never goes beyond the table, and the caller has room for as much.
    unsafe {
        std::ptr::copy_nonoverlapping(
            from.cast::<usize>(),
            to.cast::<usize>(),
            slots.min(size_of::<T>() / size_of::<usize>()),
        );
    }
}

/// Calls the getter at `address`, if there is one, for its table.
///
/// # Safety
/// `address` is null or a getter of `T`, a table of function pointers.
unsafe fn read_table<T: Default>(address: *const ()) -> Option<T> {
    type Getter<T> = unsafe extern "C" fn(ze_api_version_t, *mut T) -> ze_result_t;
    // SAFETY: `Option<fn>` is a pointer; the caller promises the signature.
    let getter = unsafe { std::mem::transmute::<*const (), Option<Getter<T>>>(address) }?;
    let mut table = T::default();
    // SAFETY: the table is writable and as large as the current version asks.
    let result = unsafe { getter(ZE_API_VERSION_CURRENT, &raw mut table) };
    (result == ZE_RESULT_SUCCESS).then_some(table)
}

/// The argument checks of every getter.
fn check(version: ze_api_version_t, table: *const std::ffi::c_void) -> Result<(), ze_result_t> {
    if table.is_null() {
        Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER)
    } else if version.0 >> 16 == ZE_API_VERSION_CURRENT.0 >> 16 {
        Ok(())
    } else {
        Err(ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
    }
}

macro_rules! access {
    ($($getter:ident $aggregate:ident.$table:ident: $ty:ident [$($reach:expr),*];)*) => {
        impl Tables {
            /// Fills a value from getters: `lookup` returns the address of an exported `zeGet…ProcAddrTable` function,
            /// or null. A getter that is missing or fails leaves its slots empty.
            ///
            /// # Safety
            /// Each address that `lookup` returns is that of a function with the getter's signature, and the functions
            /// that it fills in stay callable as long as the value is used.
            pub unsafe fn read(lookup: impl Fn(&CStr) -> *const ()) -> Self {
                let mut tables = Self::default();
                $(
                    let name = concat!(stringify!($getter), "\0");
                    let address = CStr::from_bytes_with_nul(name.as_bytes())
                        .map_or(std::ptr::null(), |name| lookup(name));
                    // SAFETY: the caller promises the getter's signature.
                    if let Some(table) = unsafe { read_table::<$ty>(address) } {
                        tables.$aggregate.$table = table;
                    }
                )*
                tables
            }

            /// Serves the getter `name` from this value: copies the slots that exist at `version` to `table`.
            ///
            /// # Errors
            /// Unknown getter → UNSUPPORTED_FEATURE; null table → INVALID_NULL_POINTER; another major version →
            /// UNSUPPORTED_VERSION.
            ///
            /// # Safety
            /// `table` is null or points to a table of the getter's type with room for the slots of `version`.
            pub unsafe fn serve(&self, name: &str, version: ze_api_version_t, table: *mut std::ffi::c_void) -> ze_result_t {
                if let Err(code) = check(version, table) {
                    return code;
                }
                match name {
                    $(
                        // SAFETY: guaranteed by the caller.
                        stringify!($getter) => unsafe {
                            copy_table(version.0, &raw const self.$aggregate.$table, table.cast::<$ty>(), &[$($reach),*]);
                        },
                    )*
                    _ => return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                }
                ZE_RESULT_SUCCESS
            }

            /// The reverse: copies the slots of `table` that exist at `version` to this value.
            ///
            /// # Errors
            /// As [`Tables::serve`].
            ///
            /// # Safety
            /// As [`Tables::serve`]; each slot is null or callable as long as this value is used.
            pub unsafe fn take(&mut self, name: &str, version: ze_api_version_t, table: *const std::ffi::c_void) -> ze_result_t {
                if let Err(code) = check(version, table) {
                    return code;
                }
                match name {
                    $(
                        // SAFETY: guaranteed by the caller.
                        stringify!($getter) => unsafe {
                            copy_table(version.0, table.cast::<$ty>(), &raw mut self.$aggregate.$table, &[$($reach),*]);
                        },
                    )*
                    _ => return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                }
                ZE_RESULT_SUCCESS
            }
        }
    };
}
each_table!(access);
