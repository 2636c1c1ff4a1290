//! The function tables of one implementation, and conversion of its results.

use std::ffi::{CStr, c_char};

use level_zero_sys::*;

use crate::error::{Error, Result};

/// The function tables that this crate calls through, as the implementation filled them: a missing slot is `None`. For
/// runtimes that keep their own handles.
#[expect(
    missing_docs,
    reason = "each is the specification's table of that name"
)]
pub struct Tables {
    pub(crate) init_drivers: ze_pfnInitDrivers_t,
    pub driver: ze_driver_dditable_t,
    pub device: ze_device_dditable_t,
    pub context: ze_context_dditable_t,
    pub command_queue: ze_command_queue_dditable_t,
    pub command_list: ze_command_list_dditable_t,
    pub mem: ze_mem_dditable_t,
    pub event_pool: ze_event_pool_dditable_t,
    pub event: ze_event_dditable_t,
    pub fence: ze_fence_dditable_t,
    pub module: ze_module_dditable_t,
    pub build_log: ze_module_build_log_dditable_t,
    pub kernel: ze_kernel_dditable_t,
    pub kernel_exp: ze_kernel_exp_dditable_t,
    pub command_list_exp: ze_command_list_exp_dditable_t,
    pub image: ze_image_dditable_t,
    pub sampler: ze_sampler_dditable_t,
    // Last: the tables point into it.
    pub(crate) _library: Option<libloading::Library>,
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").finish_non_exhaustive()
    }
}

// SAFETY: the tables are function pointers of a thread-safe C API; nothing is written after construction.
unsafe impl Send for Tables {}
// SAFETY: as for `Send`.
unsafe impl Sync for Tables {}

/// Versions to request tables for: a loader rejects versions newer than itself.
const VERSIONS: [ze_api_version_t; 18] = {
    let mut versions = [ZE_API_VERSION_CURRENT; 18];
    let mut older = 1;
    while older < versions.len() {
        versions[older] = ze_api_version_t(ZE_API_VERSION_CURRENT.0 - older as u32);
        older += 1;
    }
    versions
};

/// Requests one table; a getter that is missing or fails leaves all slots null.
macro_rules! table {
    ($lookup:expr, $getter:literal, $table:ty, $pfn:ty) => {{
        let mut table = <$table>::default();
        let address = $lookup($getter);
        if !address.is_null() {
            // SAFETY: the export of this name has this C signature by the specification; `Option<fn>` is a pointer.
            let getter: $pfn = unsafe { std::mem::transmute::<*const (), $pfn>(address) };
            if let Some(getter) = getter {
                for version in VERSIONS {
                    // SAFETY: `table` is a writable table of the type that this getter fills; for an older version it
                    // fills a part.
                    if unsafe { getter(version, &raw mut table) } == ZE_RESULT_SUCCESS {
                        break;
                    }
                }
            }
        }
        table
    }};
}

/// The reason that a loader without a usable driver keeps.
fn runtime_text(lookup: &impl Fn(&CStr) -> *const ()) -> String {
    let address = lookup(c"zerGetLastErrorDescription");
    if address.is_null() {
        return String::new();
    }
    // SAFETY: the export of this name has this C signature by the specification.
    let get =
        unsafe { std::mem::transmute::<*const (), zer_pfnGetLastErrorDescription_t>(address) };
    let mut text: *const c_char = std::ptr::null();
    if let Some(get) = get {
        // SAFETY: `text` is valid for the write.
        let _ = unsafe { get(&raw mut text) };
    }
    text_of(text)
}

/// A C string of the implementation's, copied; null is empty.
fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and a NUL-terminated string of the implementation's until this thread's next call.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

impl Tables {
    /// The tables of the implementation whose functions `lookup` finds, once it is initialised.
    pub(crate) fn read(lookup: impl Fn(&CStr) -> *const ()) -> Result<Self> {
        let init_drivers = lookup(c"zeInitDrivers");
        // SAFETY: the function of this name has this C signature by the specification; `Option<fn>` is a pointer.
        let init_drivers =
            unsafe { std::mem::transmute::<*const (), ze_pfnInitDrivers_t>(init_drivers) };
        // SAFETY: as above.
        let init = unsafe { std::mem::transmute::<*const (), ze_pfnInit_t>(lookup(c"zeInit")) };
        // Drivers are initialised by zeInitDrivers if it exists; older loaders only have zeInit.
        let mut count = 0;
        let mut desc = ze_init_driver_type_desc_t {
            flags: u32::MAX,
            ..Default::default()
        };
        let code = match (init_drivers, init) {
            (Some(init_drivers), _) => {
                // SAFETY: a null array asks for the count; `count` and `desc` are valid for the call.
                unsafe { init_drivers(&raw mut count, std::ptr::null_mut(), &raw mut desc) }
            }
            // SAFETY: no pointers are passed.
            (None, Some(init)) => unsafe { init(0) },
            (None, None) => ZE_RESULT_ERROR_UNINITIALIZED,
        };
        if code != ZE_RESULT_SUCCESS {
            let text = runtime_text(&lookup);
            return Err(Error::Call {
                function: "zeInitDrivers",
                code,
                text,
            });
        }
        Ok(Self {
            init_drivers,
            driver: table!(
                lookup,
                c"zeGetDriverProcAddrTable",
                ze_driver_dditable_t,
                ze_pfnGetDriverProcAddrTable_t
            ),
            device: table!(
                lookup,
                c"zeGetDeviceProcAddrTable",
                ze_device_dditable_t,
                ze_pfnGetDeviceProcAddrTable_t
            ),
            context: table!(
                lookup,
                c"zeGetContextProcAddrTable",
                ze_context_dditable_t,
                ze_pfnGetContextProcAddrTable_t
            ),
            command_queue: table!(
                lookup,
                c"zeGetCommandQueueProcAddrTable",
                ze_command_queue_dditable_t,
                ze_pfnGetCommandQueueProcAddrTable_t
            ),
            command_list: table!(
                lookup,
                c"zeGetCommandListProcAddrTable",
                ze_command_list_dditable_t,
                ze_pfnGetCommandListProcAddrTable_t
            ),
            mem: table!(
                lookup,
                c"zeGetMemProcAddrTable",
                ze_mem_dditable_t,
                ze_pfnGetMemProcAddrTable_t
            ),
            event_pool: table!(
                lookup,
                c"zeGetEventPoolProcAddrTable",
                ze_event_pool_dditable_t,
                ze_pfnGetEventPoolProcAddrTable_t
            ),
            event: table!(
                lookup,
                c"zeGetEventProcAddrTable",
                ze_event_dditable_t,
                ze_pfnGetEventProcAddrTable_t
            ),
            fence: table!(
                lookup,
                c"zeGetFenceProcAddrTable",
                ze_fence_dditable_t,
                ze_pfnGetFenceProcAddrTable_t
            ),
            module: table!(
                lookup,
                c"zeGetModuleProcAddrTable",
                ze_module_dditable_t,
                ze_pfnGetModuleProcAddrTable_t
            ),
            build_log: table!(
                lookup,
                c"zeGetModuleBuildLogProcAddrTable",
                ze_module_build_log_dditable_t,
                ze_pfnGetModuleBuildLogProcAddrTable_t
            ),
            kernel: table!(
                lookup,
                c"zeGetKernelProcAddrTable",
                ze_kernel_dditable_t,
                ze_pfnGetKernelProcAddrTable_t
            ),
            kernel_exp: table!(
                lookup,
                c"zeGetKernelExpProcAddrTable",
                ze_kernel_exp_dditable_t,
                ze_pfnGetKernelExpProcAddrTable_t
            ),
            command_list_exp: table!(
                lookup,
                c"zeGetCommandListExpProcAddrTable",
                ze_command_list_exp_dditable_t,
                ze_pfnGetCommandListExpProcAddrTable_t
            ),
            image: table!(
                lookup,
                c"zeGetImageProcAddrTable",
                ze_image_dditable_t,
                ze_pfnGetImageProcAddrTable_t
            ),
            sampler: table!(
                lookup,
                c"zeGetSamplerProcAddrTable",
                ze_sampler_dditable_t,
                ze_pfnGetSamplerProcAddrTable_t
            ),
            _library: None,
        })
    }

    /// Converts a call's result to this crate's; `None` is a missing function.
    pub(crate) fn check(
        &self,
        function: &'static str,
        driver: Option<ze_driver_handle_t>,
        code: Option<ze_result_t>,
    ) -> Result<()> {
        match code {
            Some(ZE_RESULT_SUCCESS) => Ok(()),
            Some(code) => Err(Error::Call {
                function,
                code,
                text: self.last_error(driver),
            }),
            None => Err(Error::Call {
                function,
                code: ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                text: "the loader does not have this function".to_owned(),
            }),
        }
    }

    /// The driver's text for this thread's last error; empty if there is none.
    pub fn last_error(&self, driver: Option<ze_driver_handle_t>) -> String {
        let (Some(driver), Some(get)) = (driver, self.driver.pfnGetLastErrorDescription) else {
            return String::new();
        };
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: `driver` is a handle that this implementation gave out; `text` is valid for the write.
        let _ = unsafe { get(driver, &raw mut text) };
        text_of(text)
    }

    /// The two-call idiom: count, then array.
    pub(crate) fn enumerate<T>(
        &self,
        function: &'static str,
        driver: Option<ze_driver_handle_t>,
        mut call: impl FnMut(*mut u32, *mut T) -> Option<ze_result_t>,
    ) -> Result<Vec<T>>
    where
        T: Zeroed,
    {
        let mut count = 0;
        self.check(function, driver, call(&raw mut count, std::ptr::null_mut()))?;
        let mut all = vec![T::zeroed(); count as usize];
        if count > 0 {
            self.check(function, driver, call(&raw mut count, all.as_mut_ptr()))?;
            all.truncate(count as usize);
        }
        Ok(all)
    }
}

/// A value to fill an array with before the second call of the two-call idiom.
pub(crate) trait Zeroed: Clone {
    /// Null, or zero with its `stype`.
    fn zeroed() -> Self;
}
impl<T> Zeroed for *mut T {
    fn zeroed() -> Self {
        std::ptr::null_mut()
    }
}
