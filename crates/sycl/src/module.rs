//! Level Zero modules: device code built for one device, with the compiler's messages.

use std::ffi::{CStr, CString, c_char};
use std::sync::Arc;

use level_zero::sys::*;

use crate::context::Context;
use crate::device::{Device, name_of};
use crate::engine::command_lane::lose_if_lost;
use crate::engine::losses::Moment;
use crate::engine::native_context::NativeContext;
use crate::error::{Errc, Error, Result};
use crate::log::{CHOICES, say};
use crate::registry::{disown, own};
use crate::ze::{Api, enumerate, ze};

/// A built module for one device.
pub(crate) struct Module {
    pub(crate) device: Device,
    pub(crate) handle: ze_module_handle_t,
    pub(crate) api: Api,
    pub(crate) owned: bool,
    /// The compiler's messages.
    pub(crate) log: String,
    native: Arc<NativeContext>,
    made: Moment,
    /// The module belongs to the context's first device, because the device that the program created it for is not
    /// known.
    is_of_any: bool,
}

// SAFETY: the specification allows module functions to be called from simultaneous threads (core, "Module").
unsafe impl Send for Module {}
// SAFETY: as for `Send`.
unsafe impl Sync for Module {}

impl Drop for Module {
    fn drop(&mut self) {
        if self.owned {
            disown(self.handle);
            // SAFETY: our module, destroyed once, after its kernels, which keep the bundle.
            let _ = unsafe { ze!(self.api, zeModuleDestroy = module.pfnDestroy(self.handle)) };
        }
    }
}

impl Module {
    /// Wraps a module that the program created for some device of the context.
    pub(crate) fn of_handle(context: &Context, handle: ze_module_handle_t) -> Self {
        Self {
            device: context.0.devices[0].clone(),
            handle,
            api: context.api(),
            owned: false,
            log: String::new(),
            made: context.0.native.losses.moment(),
            native: Arc::clone(&context.0.native),
            is_of_any: context.0.devices.len() > 1,
        }
    }

    /// Passes on the result of a call for the module or its kernels. If it is DEVICE_LOST, the loss is recorded first.
    pub(crate) fn told<T>(&self, result: Result<T>) -> Result<T> {
        lose_if_lost(&self.native, self.known_device(), self.made, result)
    }

    /// Why the device was lost since the module was created. If the module's device is not known, the device it is used
    /// on counts.
    pub(crate) fn loss(&self, on: Option<&Device>) -> Option<Error> {
        let hardware = self.known_device().or(on).map(Device::hardware);
        self.native.losses.since(hardware.as_ref(), self.made)
    }

    fn known_device(&self) -> Option<&Device> {
        Some(&self.device).filter(|_| !self.is_of_any)
    }

    /// Creates a kernel.
    pub(crate) fn create_kernel(&self, name: &CStr) -> Result<ze_kernel_handle_t> {
        let desc = ze_kernel_desc_t {
            pKernelName: name.as_ptr(),
            ..Default::default()
        };
        let mut kernel = std::ptr::null_mut();
        // SAFETY: a live module, valid input and output.
        let made = unsafe {
            ze!(
                self.api,
                zeKernelCreate = kernel.pfnCreate(self.handle, &raw const desc, &raw mut kernel)
            )
        };
        crate::engine::exit::compiler_is_loaded();
        self.told(made).map(|()| kernel)
    }

    /// Creates a kernel and destroys it, as a test.
    ///
    /// # Errors
    /// [`Errc::Build`] if functions that kernels need are missing; errors of the driver.
    pub(crate) fn try_a_kernel(&self) -> Result<()> {
        let names = self.kernel_names()?;
        let Some(name) = names.first() else {
            // Some drivers list kernels only after all imports are resolved.
            return match self.has_imports() {
                true => Err(Error::new(Errc::Build, "the module is not linked")),
                false => Ok(()),
            };
        };
        let name = CString::new(name.as_str())
            .map_err(|_| Error::invalid("the kernel's name contains a zero byte"))?;
        let kernel = match self.create_kernel(&name) {
            // The module is linked. Only users of this kernel need work-groups of its size.
            Err(error) if is_of_too_large_groups(&error) => return Ok(()),
            made => made?,
        };
        // SAFETY: just created.
        unsafe { ze!(self.api, zeKernelDestroy = kernel.pfnDestroy(kernel)) }
    }

    /// Resolves the module's imports within itself.
    ///
    /// # Errors
    /// [`Errc::Build`] with the missing names.
    pub(crate) fn link_alone(&self) -> Result<()> {
        let (api, mut handle) = (self.api, self.handle);
        let mut log = std::ptr::null_mut();
        // SAFETY: one live module and a valid output.
        let linked = unsafe {
            ze!(
                api,
                zeModuleDynamicLink = module.pfnDynamicLink(1, &raw mut handle, &raw mut log)
            )
        };
        let text = take_log(api, log);
        self.told(linked).map_err(|error| with_log(error, &text))
    }

    /// Whether the module has imports, resolved or not.
    pub(crate) fn has_imports(&self) -> bool {
        let mut properties = ze_module_properties_t::default();
        // SAFETY: a live module and a valid output.
        let asked = unsafe {
            ze!(
                self.api,
                zeModuleGetProperties = module.pfnGetProperties(self.handle, &raw mut properties)
            )
        };
        asked.is_ok() && properties.flags & ZE_MODULE_PROPERTY_FLAG_IMPORTS != 0
    }

    pub(crate) fn kernel_names(&self) -> Result<Vec<String>> {
        let api = self.api;
        let names = self.told(enumerate(
            std::ptr::null(),
            |count, array: *mut *const c_char| {
                // SAFETY: a live module; `count` and `array` follow the two-call idiom.
                unsafe {
                    ze!(
                        api,
                        zeModuleGetKernelNames =
                            module.pfnGetKernelNames(self.handle, count, array)
                    )
                }
            },
        ))?;
        let text = |name: &*const c_char| {
            // SAFETY: not null, and NUL-terminated text that lives as long as the module.
            unsafe { CStr::from_ptr(*name) }
                .to_string_lossy()
                .into_owned()
        };
        Ok(names
            .iter()
            .filter(|name| !name.is_null())
            .map(text)
            .collect())
    }
}

/// Whether creating a kernel failed because its required work-groups are too large for the device.
pub(crate) fn is_of_too_large_groups(error: &Error) -> bool {
    error.backend_code() == Some(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION)
}

/// Builds a module.
///
/// # Errors
/// [`Errc::Build`] with the compiler's messages; errors of the driver.
pub(crate) fn create_module(
    context: &Context,
    device: &Device,
    desc: &ze_module_desc_t,
) -> Result<Module> {
    let api = context.api();
    let mut handle = std::ptr::null_mut();
    let mut log = std::ptr::null_mut();
    let before = context.0.native.losses.moment();
    // SAFETY: live handles; the description and what it points to live for the call; valid outputs.
    let built = unsafe {
        ze!(
            api,
            zeModuleCreate = module.pfnCreate(
                context.handle(),
                device.handle(),
                desc,
                &raw mut handle,
                &raw mut log
            )
        )
    };
    crate::engine::exit::compiler_is_loaded();
    let built = lose_if_lost(&context.0.native, Some(device), before, built);
    let text = take_log(api, log);
    match built {
        Ok(()) => {
            own(handle);
            let module = Module {
                device: device.clone(),
                handle,
                api,
                owned: true,
                log: text,
                native: Arc::clone(&context.0.native),
                made: before,
                is_of_any: false,
            };
            say(CHOICES, || {
                let names = module.kernel_names().unwrap_or_default().join(", ");
                format!("built for {}: {names}", name_of(Some(device)))
            });
            Ok(module)
        }
        Err(error) => Err(with_log(error, &text)),
    }
}

/// Adds the build log to the error.
fn with_log(error: Error, log: &str) -> Error {
    match error.backend_code() {
        Some(code) if !log.is_empty() => Error::backend(code, format!("{error}\n{log}")),
        _ => error,
    }
}

/// Copies a build log's text and destroys the log.
fn take_log(api: Api, log: ze_module_build_log_handle_t) -> String {
    if log.is_null() {
        return String::new();
    }
    let mut size = 0;
    let table = api.tables.build_log;
    let mut bytes = Vec::new();
    if let (Some(get), Some(destroy)) = (table.pfnGetString, table.pfnDestroy) {
        // SAFETY: a live log; a null output asks for the size, and the second has that size.
        unsafe {
            let _ = get(log, &raw mut size, std::ptr::null_mut());
            bytes.resize(size, 0u8);
            let _ = get(log, &raw mut size, bytes.as_mut_ptr().cast());
            let _ = destroy(log);
        }
    }
    bytes.truncate(
        bytes
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(bytes.len()),
    );
    String::from_utf8_lossy(&bytes).into_owned()
}
