//! Modules and kernels.

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use level_zero_sys::*;

use crate::context::Context;
use crate::driver::Device;
use crate::error::{Error, Result};
use crate::memory::{Allocation, Plain};
use crate::tables::Zeroed;

/// The source of a module.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ModuleSource<'a> {
    /// SPIR-V, as bytes.
    Spirv(&'a [u8]),
    /// The result of [`Module::native_binary`] on the same machine.
    Native(&'a [u8]),
}

struct ModuleOwner {
    context: Context,
    handle: ze_module_handle_t,
}

// SAFETY: module functions may be called from simultaneous threads (spec, core "Module").
unsafe impl Send for ModuleOwner {}
// SAFETY: as for `Send`.
unsafe impl Sync for ModuleOwner {}

impl Drop for ModuleOwner {
    fn drop(&mut self) {
        if let Some(destroy) = self.context.driver().api.module.pfnDestroy {
            // SAFETY: our module, destroyed once, after its kernels.
            let _ = unsafe { destroy(self.handle) };
        }
    }
}

/// A built program.
#[derive(Clone)]
pub struct Module {
    owner: Arc<ModuleOwner>,
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Module({:p})", self.owner.handle)
    }
}

impl Zeroed for *const c_char {
    fn zeroed() -> Self {
        std::ptr::null()
    }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Argument(format!("{text:?} contains a zero byte")))
}

impl Context {
    /// Builds a program for `device`; `flags` as in `zeModuleCreate`.
    ///
    /// # Errors
    /// [`crate::Error::Build`] with the log; the call's.
    pub fn build_module(
        &self,
        device: &Device,
        source: ModuleSource<'_>,
        flags: &str,
    ) -> Result<Module> {
        Module::new(self, device, source, flags)
    }
}

impl Module {
    pub(crate) fn new(
        context: &Context,
        device: &Device,
        source: ModuleSource<'_>,
        flags: &str,
    ) -> Result<Self> {
        let flags = c_text(flags)?;
        let (format, bytes) = match source {
            ModuleSource::Spirv(bytes) => (ZE_MODULE_FORMAT_IL_SPIRV, bytes),
            ModuleSource::Native(bytes) => (ZE_MODULE_FORMAT_NATIVE, bytes),
        };
        let desc = ze_module_desc_t {
            format,
            inputSize: bytes.len(),
            pInputModule: bytes.as_ptr(),
            pBuildFlags: flags.as_ptr(),
            ..Default::default()
        };
        let api = &context.driver().api;
        let mut handle = std::ptr::null_mut();
        let mut log = std::ptr::null_mut();
        // SAFETY: live handles; `desc` and the memory it points to live for the call; valid outputs.
        let code = api.module.pfnCreate.map(|f| unsafe {
            f(
                context.as_raw(),
                device.handle,
                &raw const desc,
                &raw mut handle,
                &raw mut log,
            )
        });
        let text = take_log(context, log);
        match code {
            Some(
                code @ (ZE_RESULT_ERROR_MODULE_BUILD_FAILURE | ZE_RESULT_ERROR_MODULE_LINK_FAILURE),
            ) => Err(Error::Build { code, log: text }),
            code => {
                context.check("zeModuleCreate", code)?;
                Ok(Self {
                    owner: Arc::new(ModuleOwner {
                        context: context.clone(),
                        handle,
                    }),
                })
            }
        }
    }

    /// The C handle.
    #[must_use]
    pub fn as_raw(&self) -> ze_module_handle_t {
        self.owner.handle
    }

    /// The kernels' names.
    ///
    /// # Errors
    /// The call's.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let context = &self.owner.context;
        let api = &context.driver().api;
        let names: Vec<*const c_char> = api.enumerate(
            "zeModuleGetKernelNames",
            Some(context.driver().handle),
            |count, array| {
                // SAFETY: a live handle; `count` and `array` follow the two-call idiom.
                api.module
                    .pfnGetKernelNames
                    .map(|f| unsafe { f(self.owner.handle, count, array) })
            },
        )?;
        let text = |name: &*const c_char| {
            // SAFETY: not null, and a NUL-terminated string that lives as long as the module.
            unsafe { std::ffi::CStr::from_ptr(*name) }
                .to_string_lossy()
                .into_owned()
        };
        Ok(names
            .iter()
            .filter(|name| !name.is_null())
            .map(text)
            .collect())
    }

    /// Bytes for [`ModuleSource::Native`].
    ///
    /// # Errors
    /// The call's.
    pub fn native_binary(&self) -> Result<Vec<u8>> {
        let context = &self.owner.context;
        let get = context.driver().api.module.pfnGetNativeBinary;
        let mut size = 0;
        // SAFETY: a live handle; a null output asks for the size.
        let code =
            get.map(|f| unsafe { f(self.owner.handle, &raw mut size, std::ptr::null_mut()) });
        context.check("zeModuleGetNativeBinary", code)?;
        let mut bytes = vec![0; size];
        // SAFETY: a live handle and an output of `size` bytes.
        let code = get.map(|f| unsafe { f(self.owner.handle, &raw mut size, bytes.as_mut_ptr()) });
        context.check("zeModuleGetNativeBinary", code)?;
        Ok(bytes)
    }

    /// Creates a kernel by name.
    ///
    /// # Errors
    /// Errors of the driver; `INVALID_KERNEL_NAME` if the module does not have it.
    pub fn create_kernel(&self, name: &str) -> Result<Kernel> {
        let name = c_text(name)?;
        let desc = ze_kernel_desc_t {
            pKernelName: name.as_ptr(),
            ..Default::default()
        };
        let mut handle = std::ptr::null_mut();
        let context = &self.owner.context;
        // SAFETY: a live handle, valid input and output.
        let code = context
            .driver()
            .api
            .kernel
            .pfnCreate
            .map(|f| unsafe { f(self.owner.handle, &raw const desc, &raw mut handle) });
        context.check("zeKernelCreate", code)?;
        Ok(Kernel {
            module: self.owner.clone(),
            handle,
        })
    }
}

/// Copies a build log and destroys it.
fn take_log(context: &Context, log: ze_module_build_log_handle_t) -> String {
    let table = &context.driver().api.build_log;
    let (Some(get), Some(destroy), false) = (table.pfnGetString, table.pfnDestroy, log.is_null())
    else {
        return String::new();
    };
    let mut size = 0;
    // SAFETY: a live handle; a null output asks for the size.
    let _ = unsafe { get(log, &raw mut size, std::ptr::null_mut()) };
    let mut bytes = vec![0u8; size];
    // SAFETY: a live handle and an output of `size` bytes.
    let _ = unsafe { get(log, &raw mut size, bytes.as_mut_ptr().cast()) };
    // SAFETY: our log, destroyed once.
    let _ = unsafe { destroy(log) };
    bytes.truncate(bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A kernel with its arguments. Only one thread at a time can use it: setters take `&mut self`.
pub struct Kernel {
    module: Arc<ModuleOwner>,
    pub(crate) handle: ze_kernel_handle_t,
}

// SAFETY: a kernel belongs to no thread; `&mut self` keeps its functions apart.
unsafe impl Send for Kernel {}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernel({:p})", self.handle)
    }
}

impl Kernel {
    /// The C handle, valid while this kernel lives.
    #[must_use]
    pub fn as_raw(&self) -> ze_kernel_handle_t {
        self.handle
    }

    fn table(&self) -> &ze_kernel_dditable_t {
        &self.module.context.driver().api.kernel
    }

    /// Work-items per group in each dimension.
    ///
    /// # Errors
    /// The call's.
    pub fn set_group_size(&mut self, size: [u32; 3]) -> Result<()> {
        let set = self.table().pfnSetGroupSize;
        // SAFETY: a live handle.
        let code = set.map(|f| unsafe { f(self.handle, size[0], size[1], size[2]) });
        self.module.context.check("zeKernelSetGroupSize", code)
    }

    /// A group size that suits `items` work-items and divides them.
    ///
    /// # Errors
    /// The call's.
    pub fn suggest_group_size(&self, items: [u32; 3]) -> Result<[u32; 3]> {
        let [mut x, mut y, mut z] = [1; 3];
        let suggest = self.table().pfnSuggestGroupSize;
        // SAFETY: a live handle and three valid outputs.
        let code = suggest.map(|f| unsafe {
            f(
                self.handle,
                items[0],
                items[1],
                items[2],
                &raw mut x,
                &raw mut y,
                &raw mut z,
            )
        });
        self.module
            .context
            .check("zeKernelSuggestGroupSize", code)?;
        Ok([x, y, z])
    }

    /// Argument `index` by value.
    ///
    /// # Errors
    /// The call's; the size must be the kernel's.
    pub fn set_argument<T: Plain>(&mut self, index: u32, value: T) -> Result<()> {
        self.set_raw(index, size_of::<T>(), (&raw const value).cast())
    }

    /// Sets argument `index` to a pointer to `memory`, of any kind.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn set_memory<T: Plain>(&mut self, index: u32, memory: &impl Allocation<T>) -> Result<()> {
        let pointer = memory.as_ptr();
        self.set_raw(index, size_of::<*const T>(), (&raw const pointer).cast())
    }

    /// Argument `index` is a block of `bytes` bytes of work-group local memory.
    ///
    /// # Errors
    /// The call's.
    pub fn set_local(&mut self, index: u32, bytes: usize) -> Result<()> {
        self.set_raw(index, bytes, std::ptr::null())
    }

    fn set_raw(&mut self, index: u32, size: usize, value: *const c_void) -> Result<()> {
        let set = self.table().pfnSetArgumentValue;
        // SAFETY: a live handle; `value` is null or `size` readable bytes.
        let code = set.map(|f| unsafe { f(self.handle, index, size, value) });
        self.module.context.check("zeKernelSetArgumentValue", code)
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        if let Some(destroy) = self.table().pfnDestroy {
            // SAFETY: our kernel, destroyed once, before its module.
            let _ = unsafe { destroy(self.handle) };
        }
    }
}
