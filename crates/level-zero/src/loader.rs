//! The source of the functions: a loader library opened at run time, or a driver linked in.

use std::ffi::CStr;
use std::path::Path;
use std::sync::Arc;

use level_zero_sys::*;

use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::tables::Tables;

/// Finds the functions of a driver that is linked into the program (`ze_cpu::entry()` for Solum's own).
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    lookup: fn(name: &CStr) -> *const (),
}

impl Entry {
    /// Creates an entry from a function that finds the driver's functions by name.
    ///
    /// # Safety
    /// `lookup` returns null, or the address of a C function with the signature that the name has in the specification,
    /// valid for the process's life. The names are those of the getters (`zeGet…ProcAddrTable`), of `zeInit`,
    /// `zeInitDrivers` and `zerGetLastErrorDescription`.
    #[must_use]
    pub const unsafe fn new(lookup: fn(name: &CStr) -> *const ()) -> Self {
        Self { lookup }
    }

    /// The address of a function or getter; null if the driver does not have it.
    #[must_use]
    pub fn address(self, name: &CStr) -> *const () {
        (self.lookup)(name)
    }
}

/// The functions of one Level Zero implementation. Cheap to clone; keeps the library open.
#[derive(Clone)]
pub struct Loader {
    pub(crate) api: Arc<Tables>,
}

impl std::fmt::Debug for Loader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loader").finish_non_exhaustive()
    }
}

impl Loader {
    /// Opens `libze_loader.so.1` by the dynamic linker's rules and initialises every driver it finds.
    ///
    /// # Errors
    /// [`Error::Library`] when it cannot be opened; [`Error::Call`] when no driver could be initialised.
    pub fn open() -> Result<Self> {
        Self::open_at(Path::new("libze_loader.so.1"))
    }

    /// Opens the loader at `path`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_at(path: &Path) -> Result<Self> {
        let complain = |reason: libloading::Error| Error::Library {
            library: path.display().to_string(),
            reason: reason.to_string(),
        };
        // SAFETY: a Level Zero loader's initialisers have no requirements on the caller.
        let library = unsafe { libloading::Library::new(path) }.map_err(complain)?;
        let lookup = |name: &CStr| -> *const () {
            // SAFETY: only the address is taken; every use below gives it the type that its name has in the
            // specification.
            let symbol = unsafe { library.get::<*const ()>(name.to_bytes_with_nul()) };
            symbol.map_or(std::ptr::null(), |symbol| *symbol)
        };
        let api = Tables::read(lookup)?;
        Ok(Self {
            api: Arc::new(Tables {
                _library: Some(library),
                ..api
            }),
        })
    }

    /// Uses a driver that is linked into the program: no library is opened, and no loader is needed.
    ///
    /// # Errors
    /// [`Error::Call`] if it could not be initialised.
    pub fn from_entry(entry: Entry) -> Result<Self> {
        Ok(Self {
            api: Arc::new(Tables::read(entry.lookup)?),
        })
    }

    /// The functions themselves.
    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.api
    }

    /// All drivers, in the loader's order.
    ///
    /// # Errors
    /// The call's.
    pub fn drivers(&self) -> Result<Vec<Driver>> {
        let handles = if let Some(init_drivers) = self.api.init_drivers {
            let mut desc = ze_init_driver_type_desc_t {
                flags: u32::MAX,
                ..Default::default()
            };
            self.api.enumerate("zeInitDrivers", None, |count, array| {
                // SAFETY: `count` and `array` follow the two-call idiom; `desc` is valid for the call.
                Some(unsafe { init_drivers(count, array, &raw mut desc) })
            })?
        } else {
            self.api.enumerate("zeDriverGet", None, |count, array| {
                // SAFETY: `count` and `array` follow the two-call idiom.
                self.api
                    .driver
                    .pfnGet
                    .map(|get| unsafe { get(count, array) })
            })?
        };
        Ok(handles
            .into_iter()
            .map(|handle| Driver::new(self.api.clone(), handle))
            .collect())
    }
}
