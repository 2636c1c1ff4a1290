//! Kernel bundles and kernels.
//!
//! The state of a bundle is a type: [`Input`] (SPIR-V with specialization constants), [`Object`] (compiled, not linked)
//! or [`Executable`], the only one with kernels.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use level_zero::sys::*;
use sycl_graph::Deps;

use crate::arguments::ArgumentKind;
use crate::context::Context;
use crate::device::{Aspect, Device};
use crate::engine::command_lane::all_tails;
use crate::engine::deferred_release::release_after;
use crate::error::{Errc, Error, Result};
use crate::module::{Module, create_module, is_of_too_large_groups};
use crate::range::DeviceData;
use crate::reflect::Reflection;
use crate::registry::{disown, own};
use crate::ze::{Api, ze};

/// A bundle's state.
pub trait BundleState: sealed::Sealed {}
mod sealed {
    pub trait Sealed {}
}
/// SPIR-V that can be specialised and built.
#[derive(Clone, Copy, Debug)]
pub struct Input;
/// Compiled code that can be linked.
#[derive(Clone, Copy, Debug)]
pub struct Object;
/// Linked code with kernels.
#[derive(Clone, Copy, Debug)]
pub struct Executable;
impl sealed::Sealed for Input {}
impl sealed::Sealed for Object {}
impl sealed::Sealed for Executable {}
impl BundleState for Input {}
impl BundleState for Object {}
impl BundleState for Executable {}

/// A specialization constant by its number in the SPIR-V.
#[derive(Debug)]
pub struct SpecId<T>(u32, PhantomData<T>);
impl<T> Clone for SpecId<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SpecId<T> {}
impl<T: SpecValue> SpecId<T> {
    /// Creates the identifier of constant number `id`.
    #[must_use]
    pub const fn new(id: u32) -> Self {
        Self(id, PhantomData)
    }
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// Types of specialization constants.
pub trait SpecValue: DeviceData {}
macro_rules! spec_values {
    ($($ty:ty)*) => { $( impl SpecValue for $ty {} )* };
}
spec_values!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

/// Values of specialization constants, by number.
pub(crate) type SpecValues = BTreeMap<u32, Vec<u8>>;

pub(crate) fn bytes_of<T: SpecValue>(value: T) -> Vec<u8> {
    // SAFETY: every byte of a number is initialised.
    unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) }.to_vec()
}

/// Device code for the devices of a context. Cheap to clone.
pub struct KernelBundle<S: BundleState> {
    pub(crate) inner: Arc<BundleInner>,
    state: PhantomData<S>,
}

impl<S: BundleState> Clone for KernelBundle<S> {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.inner))
    }
}

impl<S: BundleState> std::fmt::Debug for KernelBundle<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelBundle")
            .field("context", &self.inner.context)
            .finish_non_exhaustive()
    }
}

impl<S: BundleState> PartialEq for KernelBundle<S> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}
impl<S: BundleState> Eq for KernelBundle<S> {}

pub(crate) struct BundleInner {
    // Declared first, so that these bundles end before the context.
    /// Bundles of the same source with other constants, by their values.
    variants: Mutex<HashMap<SpecValues, KernelBundle<Executable>>>,
    pub(crate) modules: Vec<Module>,
    /// The source; `None` for handles and native binaries.
    source: Option<Source>,
    pub(crate) devices: Vec<Device>,
    pub(crate) context: Context,
}

#[derive(Clone)]
struct Source {
    words: Vec<Arc<[u32]>>,
    reflections: Vec<Arc<Reflection>>,
    constants: SpecValues,
    options: CString,
}

impl<S: BundleState> KernelBundle<S> {
    fn of(inner: Arc<BundleInner>) -> Self {
        Self {
            inner,
            state: PhantomData,
        }
    }

    fn with(
        context: &Context,
        devices: &[Device],
        source: Option<Source>,
        modules: Vec<Module>,
    ) -> Self {
        Self::of(Arc::new(BundleInner {
            context: context.clone(),
            devices: devices.to_vec(),
            source,
            modules,
            variants: Mutex::default(),
        }))
    }

    /// Returns the context.
    #[must_use]
    pub fn context(&self) -> Context {
        self.inner.context.clone()
    }

    /// Returns the devices.
    #[must_use]
    pub fn devices(&self) -> Vec<Device> {
        self.inner.devices.clone()
    }

    /// Returns the bundle's kernels. Without SPIR-V the driver lists them.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn kernel_ids(&self) -> Result<Vec<KernelId>> {
        let names = match (&self.inner.source, self.inner.modules.first()) {
            (Some(source), _) => {
                let names = source.reflections.iter().flat_map(|module| &module.names);
                names.cloned().collect()
            }
            (None, Some(module)) => module.kernel_names()?,
            (None, None) => Vec::new(),
        };
        Ok(names.into_iter().map(KernelId).collect())
    }

    /// Returns whether the bundle contains a kernel.
    #[must_use]
    pub fn has_kernel(&self, kernel: &KernelId) -> bool {
        self.kernel_ids().is_ok_and(|known| known.contains(kernel))
    }

    /// Returns whether the SPIR-V has a specialization constant of this number.
    #[must_use]
    pub fn has_specialization_constant<T: SpecValue>(&self, id: SpecId<T>) -> bool {
        let source = self.inner.source.as_ref();
        source.is_some_and(|source| {
            let mut modules = source.reflections.iter();
            modules.any(|module| module.constants.contains(&id.number()))
        })
    }

    /// Returns the compiler's messages about each device's module after a successful build; empty before. The messages
    /// of a failed build are in the error.
    #[must_use]
    pub fn build_log(&self) -> String {
        let logs = self.inner.modules.iter().map(|module| module.log.as_str());
        logs.filter(|log| !log.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// The name of a kernel in a bundle.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KernelId(String);

impl KernelId {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl From<&str> for KernelId {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl KernelBundle<Input> {
    /// Creates a bundle of a SPIR-V module for some devices of a context.
    ///
    /// # Safety
    /// Each of the module's kernels, in every launch, accesses memory only through its arguments and within their
    /// bounds. Launching is then safe.
    ///
    /// # Errors
    /// [`Errc::Build`] if the code is not SPIR-V; [`Errc::Invalid`] for a device outside the context, or no device.
    pub unsafe fn from_spirv(context: &Context, devices: &[Device], words: &[u32]) -> Result<Self> {
        if devices.is_empty() || devices.iter().any(|device| !context.contains(device)) {
            return Err(Error::invalid(
                "a bundle's devices must be of its context, and at least one",
            ));
        }
        let reflection = Arc::new(Reflection::read(words)?);
        let source = Source {
            words: vec![words.into()],
            reflections: vec![reflection],
            constants: SpecValues::new(),
            options: CString::default(),
        };
        Ok(Self::with(context, devices, Some(source), Vec::new()))
    }

    /// As [`Self::from_spirv`], from the bytes of a file in either byte order.
    ///
    /// # Safety
    /// As [`Self::from_spirv`].
    ///
    /// # Errors
    /// As [`Self::from_spirv`].
    pub unsafe fn from_spirv_bytes(
        context: &Context,
        devices: &[Device],
        bytes: &[u8],
    ) -> Result<Self> {
        let (words, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(Error::new(
                Errc::Build,
                format!(
                    "this is not SPIR-V: {} bytes are not whole words",
                    bytes.len()
                ),
            ));
        }
        let swapped = words.first() == Some(&0x0723_0203u32.to_be_bytes());
        let word = |bytes: &[u8; 4]| match swapped {
            true => u32::from_be_bytes(*bytes),
            false => u32::from_le_bytes(*bytes),
        };
        let words: Vec<u32> = words.iter().map(word).collect();
        // SAFETY: guaranteed by the caller.
        unsafe { Self::from_spirv(context, devices, &words) }
    }

    /// Sets a specialization constant.
    ///
    /// # Errors
    /// None today: the build reports a constant that the module lacks.
    pub fn set_spec_const<T: SpecValue>(&mut self, id: SpecId<T>, value: T) -> Result<()> {
        let mut source = self.inner.source.clone();
        if let Some(source) = &mut source {
            source.constants.insert(id.number(), bytes_of(value));
        }
        let (context, devices) = (self.inner.context.clone(), self.inner.devices.clone());
        *self = Self::with(&context, &devices, source, Vec::new());
        Ok(())
    }

    /// Compiles the bundle; options as in `zeModuleCreate`.
    ///
    /// # Errors
    /// None: the code is compiled at the link.
    pub fn compile(self, options: &CStr) -> Result<KernelBundle<Object>> {
        let mut source = self.inner.source.clone();
        if let Some(source) = &mut source {
            options.clone_into(&mut source.options);
        }
        let (context, devices) = (&self.inner.context, &self.inner.devices);
        Ok(KernelBundle::with(context, devices, source, Vec::new()))
    }

    /// Builds the bundle; options as in `zeModuleCreate`.
    ///
    /// # Errors
    /// [`Errc::Build`] with the log; [`Errc::KernelNotSupported`] if every device lacks an aspect that the kernels
    /// need. If some device has all, only launches on the others are refused.
    pub fn build(self, options: &CStr) -> Result<KernelBundle<Executable>> {
        KernelBundle::link(&[self.compile(options)?])
    }
}

impl KernelBundle<Object> {
    /// Links bundles of one context and its devices.
    ///
    /// # Errors
    /// As [`KernelBundle::build`]; [`Errc::Invalid`] without bundles, or for bundles of several contexts.
    pub fn link(bundles: &[Self]) -> Result<KernelBundle<Executable>> {
        let Some(first) = bundles.first() else {
            return Err(Error::invalid("link needs at least one bundle"));
        };
        let (context, devices) = (&first.inner.context, &first.inner.devices);
        let fits =
            |other: &Self| other.inner.context == *context && other.inner.devices == *devices;
        if !bundles.iter().all(fits) {
            return Err(Error::invalid(
                "linked bundles must have the same context and devices",
            ));
        }
        let mut all: Option<Source> = None;
        for source in bundles
            .iter()
            .filter_map(|bundle| bundle.inner.source.as_ref())
        {
            match &mut all {
                Some(all) => {
                    all.words.extend(source.words.iter().cloned());
                    all.reflections.extend(source.reflections.iter().cloned());
                    all.constants.extend(source.constants.clone());
                }
                None => all = Some(source.clone()),
            }
        }
        let source =
            all.ok_or_else(|| Error::invalid("link needs at least one bundle with a source"))?;
        build(context, devices, source)
    }
}

/// One module for each kind of hardware.
fn build(
    context: &Context,
    devices: &[Device],
    source: Source,
) -> Result<KernelBundle<Executable>> {
    let mut modules = Vec::new();
    let mut refused = None;
    for device in devices {
        // Launches on such a device are refused, if there is another device.
        if let Some(aspect) = missing(device, &source)? {
            refused = refused.or(Some((device, aspect)));
            continue;
        }
        let module = build_for(context, device, &source)?;
        // An executable bundle has no unresolved imports.
        if module.has_imports() {
            module.link_alone()?;
        }
        modules.push(module);
    }
    match refused.filter(|_| modules.is_empty()) {
        Some((device, aspect)) => Err(Error::new(
            Errc::KernelNotSupported,
            format!("the kernels need {aspect:?}, which {device:?} lacks"),
        )),
        None => Ok(KernelBundle::with(context, devices, Some(source), modules)),
    }
}

/// The first aspect that the code needs and the device lacks.
fn missing(device: &Device, source: &Source) -> Result<Option<Aspect>> {
    let needed = source.reflections.iter().flat_map(|module| &module.aspects);
    for aspect in needed {
        if !crate::info::device::asked(device, *aspect)? {
            return Ok(Some(*aspect));
        }
    }
    Ok(None)
}

fn build_for(context: &Context, device: &Device, source: &Source) -> Result<Module> {
    let numbers: Vec<u32> = source.constants.keys().copied().collect();
    let mut values: Vec<*const std::ffi::c_void> = source
        .constants
        .values()
        .map(|bytes| bytes.as_ptr().cast())
        .collect();
    let constants = ze_module_constants_t {
        numConstants: u32::try_from(numbers.len()).unwrap_or(u32::MAX),
        pConstantIds: numbers.as_ptr(),
        pConstantValues: values.as_mut_ptr(),
    };
    let mut constants_of_each = vec![&raw const constants; source.words.len()];
    let constants_given = if numbers.is_empty() {
        std::ptr::null()
    } else {
        &raw const constants
    };
    let sizes: Vec<usize> = source.words.iter().map(|words| words.len() * 4).collect();
    let mut inputs: Vec<*const u8> = source
        .words
        .iter()
        .map(|words| words.as_ptr().cast())
        .collect();
    let mut flags = vec![source.options.as_ptr(); source.words.len()];
    let program = ze_module_program_exp_desc_t {
        count: u32::try_from(sizes.len()).unwrap_or(u32::MAX),
        inputSizes: sizes.as_ptr(),
        pInputModules: inputs.as_mut_ptr(),
        pBuildFlags: flags.as_mut_ptr(),
        pConstants: constants_of_each.as_mut_ptr(),
        ..Default::default()
    };
    let mut desc = ze_module_desc_t {
        format: ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize: sizes.first().copied().unwrap_or(0),
        pInputModule: inputs.first().copied().unwrap_or(std::ptr::null()),
        pBuildFlags: source.options.as_ptr(),
        pConstants: constants_given,
        ..Default::default()
    };
    if sizes.len() > 1 {
        desc.pNext = (&raw const program).cast();
        desc.inputSize = 0;
        desc.pInputModule = std::ptr::null();
    }
    create_module(context, device, &desc)
}

impl KernelBundle<Executable> {
    /// Creates a bundle of code that the driver compiled for a device earlier.
    ///
    /// # Safety
    /// As [`KernelBundle::from_spirv`].
    ///
    /// # Errors
    /// Errors of the driver.
    pub unsafe fn from_native_binary(
        context: &Context,
        device: &Device,
        bytes: &[u8],
    ) -> Result<Self> {
        let desc = ze_module_desc_t {
            format: ZE_MODULE_FORMAT_NATIVE,
            inputSize: bytes.len(),
            pInputModule: bytes.as_ptr(),
            ..Default::default()
        };
        let module = create_module(context, device, &desc)?;
        Ok(Self::with(
            context,
            std::slice::from_ref(device),
            None,
            vec![module],
        ))
    }

    pub(crate) fn adopt(context: &Context, module: Module) -> Self {
        let device = module.device.clone();
        Self::with(context, &[device], None, vec![module])
    }

    /// Returns a kernel by name.
    ///
    /// # Errors
    /// [`Errc::Invalid`] if the bundle has no kernel of this name; [`Errc::KernelNotSupported`] if no device supports
    /// the work-group size that the kernel requires. If one does, only launches on the others are refused.
    pub fn kernel(&self, name: &CStr) -> Result<Kernel> {
        let text = name.to_string_lossy().into_owned();
        // Made before the handles, so that dropping it destroys them even if a later one cannot be created.
        let mut kernel = KernelInner {
            bundle: self.clone(),
            name: text,
            handles: Vec::new(),
            count: 0,
            known: None,
            state: Mutex::default(),
            owned: true,
        };
        let mut refused = None;
        for module in &self.inner.modules {
            let (api, handle) = match module.create_kernel(name) {
                Err(error) if is_of_too_large_groups(&error) => {
                    refused = Some(error);
                    continue;
                }
                made => (module.api, made?),
            };
            own(handle);
            kernel.handles.push((module.device.clone(), handle));
            kernel.count = module.told(argument_count(api, handle))?;
            let all = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST
                | ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE
                | ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
            // SAFETY: a live kernel. A driver without the function has nothing to be told.
            let _ = unsafe {
                ze!(
                    api,
                    zeKernelSetIndirectAccess = kernel.pfnSetIndirectAccess(handle, all)
                )
            };
        }
        if let Some(error) = refused.filter(|_| kernel.handles.is_empty()) {
            return Err(error.with_code(Errc::KernelNotSupported));
        }
        kernel.known = self.known_arguments(&kernel.name, kernel.count);
        Ok(Kernel(Arc::new(kernel)))
    }

    /// Whether a device of the bundle was lost since the build.
    pub(crate) fn is_lost(&self) -> bool {
        let mut modules = self.inner.modules.iter();
        modules.any(|module| module.loss(None).is_some())
    }

    /// Returns the names of all kernels.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let module = self.inner.modules.first();
        module.map_or(Ok(Vec::new()), Module::kernel_names)
    }

    /// Returns the driver's native code for a device, for [`KernelBundle::from_native_binary`].
    ///
    /// # Errors
    /// [`Errc::Invalid`] for a device that the bundle was not built for; errors of the driver.
    pub fn native_binary(&self, device: &Device) -> Result<Vec<u8>> {
        let module = self
            .inner
            .modules
            .iter()
            .find(|module| module.device == *device);
        let module =
            module.ok_or_else(|| Error::invalid("the bundle was not built for this device"))?;
        let api = module.api;
        let mut size = 0;
        // SAFETY: a live module; a null output asks for the size.
        module.told(unsafe {
            ze!(
                api,
                zeModuleGetNativeBinary =
                    module.pfnGetNativeBinary(module.handle, &raw mut size, std::ptr::null_mut())
            )
        })?;
        let mut bytes = vec![0; size];
        // SAFETY: a live module and an output of that size.
        module.told(unsafe {
            ze!(
                api,
                zeModuleGetNativeBinary =
                    module.pfnGetNativeBinary(module.handle, &raw mut size, bytes.as_mut_ptr())
            )
        })?;
        Ok(bytes)
    }

    /// The kinds of a kernel's parameters, if its source is known.
    pub(crate) fn known_arguments(
        &self,
        name: &str,
        count: usize,
    ) -> Option<Vec<(ArgumentKind, usize)>> {
        let source = self.inner.source.as_ref()?;
        let mut reflections = source.reflections.iter();
        let known = reflections.find_map(|reflection| reflection.arguments(name))?;
        Some(known.to_vec()).filter(|known| known.len() == count)
    }

    /// The same source with other constants, built once for each set of values.
    fn variant(&self, values: &SpecValues) -> Result<Self> {
        let Some(source) = &self.inner.source else {
            return Err(Error::invalid(
                "specialization constants need a bundle made from SPIR-V",
            ));
        };
        let variants = &self.inner.variants;
        let mut variants = variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = variants.get(values) {
            return Ok(known.clone());
        }
        let mut source = source.clone();
        source.constants.extend(values.clone());
        let built = build(&self.inner.context, &self.inner.devices, source)?;
        variants.insert(values.clone(), built.clone());
        Ok(built)
    }
}

pub(crate) fn argument_count(api: Api, handle: ze_kernel_handle_t) -> Result<usize> {
    Ok(properties_of(api, handle)?.numKernelArgs as usize)
}

fn properties_of(api: Api, handle: ze_kernel_handle_t) -> Result<ze_kernel_properties_t> {
    let mut properties = ze_kernel_properties_t::default();
    // SAFETY: a live kernel and a valid output.
    unsafe {
        ze!(
            api,
            zeKernelGetProperties = kernel.pfnGetProperties(handle, &raw mut properties)
        )?;
    }
    Ok(properties)
}

/// A function that runs on a device. Cheap to clone; may be launched from any thread.
#[derive(Clone)]
pub struct Kernel(pub(crate) Arc<KernelInner>);

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernel({})", self.0.name)
    }
}

pub(crate) struct KernelInner {
    pub(crate) bundle: KernelBundle<Executable>,
    pub(crate) name: String,
    pub(crate) handles: Vec<(Device, ze_kernel_handle_t)>,
    pub(crate) count: usize,
    pub(crate) known: Option<Vec<(ArgumentKind, usize)>>,
    pub(crate) state: Mutex<LaunchState>,
    pub(crate) owned: bool,
}

/// The current settings of a kernel handle.
#[derive(Default)]
pub(crate) struct LaunchState {
    pub(crate) offset: [u32; 3],
    /// Group sizes that the driver suggested, by global size.
    suggested: Vec<([u32; 3], [u32; 3])>,
}

// SAFETY: arguments are set under the state's lock.
unsafe impl Send for KernelInner {}
// SAFETY: as for `Send`.
unsafe impl Sync for KernelInner {}

impl Drop for KernelInner {
    fn drop(&mut self) {
        let api = self.bundle.inner.context.api();
        let handles: Vec<usize> = self
            .handles
            .drain(..)
            .map(|(_, handle)| handle.expose_provenance())
            .collect();
        let bundle = self.bundle.clone();
        let owned = self.owned;
        // Launches are not counted: any unfinished work on a lane may be one.
        let users: Deps = all_tails(&self.bundle.inner.context.0.native);
        let kept = self.bundle.inner.context.0.native.kept();
        release_after(users, kept, move || {
            for handle in handles.into_iter().filter(|_| owned) {
                let handle: ze_kernel_handle_t = std::ptr::with_exposed_provenance_mut(handle);
                disown(handle);
                // SAFETY: our kernel, and no launch of it is left.
                let _ = unsafe { ze!(api, zeKernelDestroy = kernel.pfnDestroy(handle)) };
            }
            drop(bundle);
        });
    }
}

impl KernelInner {
    /// Excludes other threads from setting arguments.
    pub(crate) fn launching(&self) -> MutexGuard<'_, LaunchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a handle's device was lost since the code was built; the kernel is launched on this device.
    pub(crate) fn loss(&self, handle: ze_kernel_handle_t, on: Option<&Device>) -> Option<Error> {
        let (device, _) = self.handles.iter().find(|(_, of)| *of == handle)?;
        let mut modules = self.bundle.inner.modules.iter();
        modules.find(|module| module.device == *device)?.loss(on)
    }

    pub(crate) fn knows_arguments(&self) -> bool {
        self.known.is_some()
    }

    /// The handle for a device.
    pub(crate) fn handle_for(&self, device: &Device) -> Result<ze_kernel_handle_t> {
        let found = self
            .handles
            .iter()
            .find(|(of, _)| of == device)
            .or_else(|| self.handles.iter().find(|(of, _)| device.is_part_of(of)))
            .or_else(|| {
                // The device of a module that the program created is not known; it may be any of the context.
                let bundle = &self.bundle.inner;
                let known = bundle.source.is_none() && bundle.context.contains(device);
                self.handles.first().filter(|_| known)
            });
        found.map(|(_, handle)| *handle).ok_or_else(|| {
            Error::new(
                Errc::KernelNotSupported,
                format!(
                    "kernel {} was not built for {device:?}: its bundle does not include the device, or the device lacks a required aspect or supports only smaller work-groups",
                    self.name
                ),
            )
        })
    }

    /// The work-group size that the driver suggests for this many work-items.
    pub(crate) fn group_size(&self, handle: ze_kernel_handle_t, items: [u32; 3]) -> [u32; 3] {
        let mut state = self.launching();
        if let Some((_, size)) = state.suggested.iter().find(|(of, _)| *of == items) {
            return *size;
        }
        let api = self.bundle.inner.context.api();
        let [mut x, mut y, mut z] = [1; 3];
        // SAFETY: a live kernel and three valid outputs.
        let suggested = unsafe {
            ze!(
                api,
                zeKernelSuggestGroupSize = kernel.pfnSuggestGroupSize(
                    handle, items[0], items[1], items[2], &raw mut x, &raw mut y, &raw mut z
                )
            )
        };
        let divides = |size: u32, items: u32| size > 0 && items.is_multiple_of(size);
        let size = match suggested {
            Ok(()) if divides(x, items[0]) && divides(y, items[1]) && divides(z, items[2]) => {
                [x, y, z]
            }
            _ => [greatest_divisor(items[0], 64), 1, 1],
        };
        if state.suggested.len() == 16 {
            state.suggested.clear();
        }
        state.suggested.push((items, size));
        size
    }
}

fn greatest_divisor(items: u32, limit: u32) -> u32 {
    (1..=limit)
        .rev()
        .find(|size| items.is_multiple_of(*size))
        .unwrap_or(1)
}

impl Kernel {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the bundle.
    #[must_use]
    pub fn bundle(&self) -> KernelBundle<Executable> {
        self.0.bundle.clone()
    }

    /// Returns the number of arguments.
    #[must_use]
    pub fn argument_count(&self) -> usize {
        self.0.count
    }

    /// Returns the most work-items of a work-group on a device.
    ///
    /// # Errors
    /// [`Errc::KernelNotSupported`] for a device that the kernel was not built for; errors of the driver.
    pub fn max_work_group_size(&self, device: &Device) -> Result<usize> {
        self.0.handle_for(device)?;
        let mut properties = ze_device_compute_properties_t::default();
        // SAFETY: a live device and a valid output.
        unsafe {
            ze!(
                device.api(),
                zeDeviceGetComputeProperties =
                    device.pfnGetComputeProperties(device.handle(), &raw mut properties)
            )?;
        }
        Ok(properties.maxTotalGroupSize as usize)
    }

    /// The kernel's properties on a device, from the driver.
    ///
    /// # Errors
    /// As [`Self::max_work_group_size`].
    pub fn properties(&self, device: &Device) -> Result<ze_kernel_properties_t> {
        properties_of(device.api(), self.0.handle_for(device)?)
    }

    /// The attributes in the kernel's source.
    pub(crate) fn attributes(&self) -> Result<String> {
        let Some((device, handle)) = self.0.handles.first() else {
            return Ok(String::new());
        };
        let (api, mut size) = (device.api(), 0);
        let mut bytes = Vec::new();
        // SAFETY: a live kernel; no output asks for the size, and the second has room for that.
        unsafe {
            ze!(
                api,
                zeKernelGetSourceAttributes =
                    kernel.pfnGetSourceAttributes(*handle, &raw mut size, std::ptr::null_mut())
            )?;
            bytes.resize(size as usize + 1, 0);
            let mut to = bytes.as_mut_ptr().cast();
            ze!(
                api,
                zeKernelGetSourceAttributes =
                    kernel.pfnGetSourceAttributes(*handle, &raw mut size, &raw mut to)
            )?;
        }
        Ok(crate::ze::text(&bytes).into_owned())
    }

    /// The same kernel with other specialization constants.
    pub(crate) fn specialised(&self, values: &SpecValues) -> Result<Self> {
        let name = CString::new(self.0.name.as_str())
            .map_err(|_| Error::invalid("the kernel's name contains a zero byte"))?;
        self.0.bundle.variant(values)?.kernel(&name)
    }
}
