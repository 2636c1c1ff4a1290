//! The loader as programs use it: opened at run time, functions by name.

use std::ffi::{CStr, CString, c_void};
use std::path::Path;

use level_zero_sys::*;

/// An open `libze_loader.so.1`.
pub(crate) struct Loader {
    handle: *mut c_void,
}

// SAFETY: the handle is only passed to the dynamic linker, and Level Zero's functions may be called from any thread.
unsafe impl Sync for Loader {}

/// A function of any signature, called with more null arguments than any function has.
type Nulls = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> u32;

impl Loader {
    pub(crate) fn open(path: &Path) -> Loader {
        let name = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the library under test.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{} cannot be opened", path.display());
        Loader { handle }
    }

    /// Closes the library. Returns whether it was unloaded.
    pub(crate) fn close(self, path: &Path) -> bool {
        // SAFETY: the handle is open and no function of it is used afterwards.
        assert_eq!(unsafe { libc::dlclose(self.handle) }, 0);
        let name = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: only asks whether the library is mapped.
        let still = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
        if still.is_null() {
            return true;
        }
        // SAFETY: gives back the count that the question took.
        unsafe { libc::dlclose(still) };
        false
    }

    pub(crate) fn address(&self, name: &str) -> *mut c_void {
        let symbol = CString::new(name).unwrap();
        // SAFETY: an open library and a C string.
        let address = unsafe { libc::dlsym(self.handle, symbol.as_ptr()) };
        assert!(!address.is_null(), "{name} is not exported");
        address
    }

    /// The function `name` as `T`, which is its function pointer type of `level-zero-sys`.
    pub(crate) fn get<T>(&self, name: &str) -> T {
        let address = self.address(name);
        assert_eq!(size_of::<T>(), size_of_val(&address));
        // SAFETY: `T` is an optional function pointer of the function's type, by this method's contract.
        unsafe { std::mem::transmute_copy(&address) }
    }

    /// Calls a function with these words as its arguments, followed by zeroes.
    pub(crate) fn call(&self, name: &str, words: &[usize]) -> ze_result_t {
        type Words = unsafe extern "C" fn(
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
        ) -> u32;
        let mut w = [0; 14];
        w[..words.len()].copy_from_slice(words);
        // SAFETY: no function takes more words; surplus arguments are the caller's affair in this calling convention.
        let function = unsafe { std::mem::transmute::<*mut c_void, Words>(self.address(name)) };
        // SAFETY: the words satisfy the function's contract, or are invalid values that must be rejected.
        ze_result_t(unsafe {
            function(
                w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
                w[13],
            )
        })
    }

    /// Calls a function with null arguments only.
    pub(crate) fn call_with_nulls(&self, name: &str) -> ze_result_t {
        // SAFETY: the functions under test read no more than twelve words; surplus arguments are the caller's affair
        // in this calling convention.
        let function = unsafe { std::mem::transmute::<*mut c_void, Nulls>(self.address(name)) };
        // SAFETY: null must be rejected.
        ze_result_t(unsafe { function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) })
    }

    pub(crate) fn init(&self, flags: u32) -> ze_result_t {
        // SAFETY: any flags may be passed.
        unsafe { self.get::<ze_pfnInit_t>("zeInit").unwrap()(flags) }
    }

    /// `zeDriverGet` in two calls.
    pub(crate) fn drivers(&self) -> Result<Vec<ze_driver_handle_t>, ze_result_t> {
        let get = self.get::<ze_pfnDriverGet_t>("zeDriverGet").unwrap();
        let mut count = 0;
        // SAFETY: places of this frame.
        let result = unsafe { get(&raw mut count, std::ptr::null_mut()) };
        if result != ZE_RESULT_SUCCESS {
            return Err(result);
        }
        let mut drivers = vec![std::ptr::null_mut(); count as usize];
        // SAFETY: as above.
        let result = unsafe { get(&raw mut count, drivers.as_mut_ptr()) };
        assert_eq!((result, count as usize), (ZE_RESULT_SUCCESS, drivers.len()));
        Ok(drivers)
    }

    /// `zeInitDrivers` in two calls; the count is garbage with a null array.
    pub(crate) fn init_drivers(&self, flags: u32) -> Result<Vec<ze_driver_handle_t>, ze_result_t> {
        let init = self.get::<ze_pfnInitDrivers_t>("zeInitDrivers").unwrap();
        let mut desc = ze_init_driver_type_desc_t {
            flags,
            ..Default::default()
        };
        let mut count = 0xdead_beef;
        // SAFETY: places of this frame.
        let result = unsafe { init(&raw mut count, std::ptr::null_mut(), &raw mut desc) };
        if result != ZE_RESULT_SUCCESS {
            assert_eq!(count, 0xdead_beef, "the count is unchanged on failure");
            return Err(result);
        }
        let mut drivers = vec![std::ptr::null_mut(); count as usize];
        // SAFETY: as above.
        let result = unsafe { init(&raw mut count, drivers.as_mut_ptr(), &raw mut desc) };
        assert_eq!((result, count as usize), (ZE_RESULT_SUCCESS, drivers.len()));
        Ok(drivers)
    }

    /// This thread's last-error text, with the result code of the call that returns it.
    pub(crate) fn text(&self) -> (ze_result_t, String) {
        let get = self
            .get::<zer_pfnGetLastErrorDescription_t>("zerGetLastErrorDescription")
            .unwrap();
        let mut text = std::ptr::null();
        // SAFETY: a place of this frame.
        let result = unsafe { get(&raw mut text) };
        assert!(!text.is_null());
        // SAFETY: the loader returns a C string.
        (
            result,
            unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned(),
        )
    }

    pub(crate) fn create_context(
        &self,
        driver: ze_driver_handle_t,
    ) -> Result<ze_context_handle_t, ze_result_t> {
        let create = self
            .get::<ze_pfnContextCreate_t>("zeContextCreate")
            .unwrap();
        let desc = ze_context_desc_t::default();
        let mut context = std::ptr::null_mut();
        // SAFETY: places of this frame.
        let result = unsafe { create(driver, &raw const desc, &raw mut context) };
        if result == ZE_RESULT_SUCCESS {
            Ok(context)
        } else {
            Err(result)
        }
    }

    pub(crate) fn devices(&self, driver: ze_driver_handle_t) -> Vec<ze_device_handle_t> {
        let get = self.get::<ze_pfnDeviceGet_t>("zeDeviceGet").unwrap();
        let mut count = 0;
        // SAFETY: places of this frame.
        let result = unsafe { get(driver, &raw mut count, std::ptr::null_mut()) };
        assert_eq!(result, ZE_RESULT_SUCCESS);
        let mut devices = vec![std::ptr::null_mut(); count as usize];
        // SAFETY: as above.
        let result = unsafe { get(driver, &raw mut count, devices.as_mut_ptr()) };
        assert_eq!(result, ZE_RESULT_SUCCESS);
        devices
    }
}
