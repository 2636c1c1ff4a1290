//! Interoperability with Level Zero: native handles of SYCL objects, and SYCL objects around native handles.
//!
//! Implements version [`SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO`] of the extension. Level Zero's rules decide how the
//! program may use a handle: the runtime never holds a lock while a host task uses handles, and a program that uses a
//! handle while the runtime may use it synchronises the two.

pub(crate) mod native_queue;
mod ownership;

use std::ffi::{CStr, c_char, c_void};

use crate::buffer::Buffer;
use crate::bundle::{Executable, Kernel, KernelBundle, KernelInner, argument_count};
use crate::context::Context;
use crate::device::Device;
use crate::engine::command_lane::CommandLane;
use crate::error::{Errc, Error, Result};
use crate::event::Event;
use crate::image::{ChannelOrder, ChannelType, ImageFormat, UnsampledImage};
use crate::leaks;
use crate::memory::{End, is_buffers};
use crate::module::Module;
use crate::platform::Platform;
use crate::queue::{Queue, QueueProps};
use crate::range::{DeviceData, Dim, Range, SupportedDim};
use crate::registry::{disown, own};
use crate::usm::pointer::{PointerType, properties_of, range_of};
use crate::ze::{Api, ze};
use level_zero::sys::*;

pub use native_queue::NativeQueue;
pub use ownership::Ownership;

/// Level Zero's types, as its C headers define them, and the types of its functions.
pub use level_zero::sys as ze;

/// The value of C++'s feature-test macro that this module implements. The build script of a dependent crate finds it in
/// `DEP_SOLUM_SYCL_LEVEL_ZERO_VERSION`.
pub const SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO: u32 = include!("../level_zero.version");

/// SYCL objects with a native handle. For buffers and images, a host task's interop handle provides it instead.
pub trait GetNative {
    /// The type of the handle.
    type Native;
    /// Returns the handle; its ownership does not change.
    fn get_native(&self) -> Self::Native;
}

/// Returns an object's native handle; its ownership does not change.
pub fn get_native<O: GetNative + ?Sized>(object: &O) -> O::Native {
    object.get_native()
}

impl GetNative for Platform {
    type Native = ze_driver_handle_t;
    fn get_native(&self) -> ze_driver_handle_t {
        self.api().driver
    }
}
impl GetNative for Device {
    type Native = ze_device_handle_t;
    fn get_native(&self) -> ze_device_handle_t {
        self.handle()
    }
}
impl GetNative for Context {
    type Native = ze_context_handle_t;
    fn get_native(&self) -> ze_context_handle_t {
        self.handle()
    }
}
impl GetNative for Queue {
    type Native = NativeQueue;
    /// Returns the queue's first lane, always the same.
    fn get_native(&self) -> NativeQueue {
        let first = self.0.lanes().next().and_then(|lane| lane.native());
        first.map_or(NativeQueue::ImmediateList(std::ptr::null_mut()), Into::into)
    }
}
impl GetNative for Event {
    type Native = ze_event_handle_t;
    /// Valid as long as the SYCL event; null if the driver could not create one.
    fn get_native(&self) -> ze_event_handle_t {
        self.native()
    }
}
impl GetNative for KernelBundle<Executable> {
    type Native = Vec<ze_module_handle_t>;
    fn get_native(&self) -> Vec<ze_module_handle_t> {
        self.inner
            .modules
            .iter()
            .map(|module| module.handle)
            .collect()
    }
}
impl GetNative for Kernel {
    type Native = ze_kernel_handle_t;
    /// Returns the handle for the bundle's first device.
    fn get_native(&self) -> ze_kernel_handle_t {
        let first = self.0.handles.first();
        first.map_or(std::ptr::null_mut(), |(_, handle)| *handle)
    }
}

/// Input of [`make_context`].
#[derive(Debug)]
pub struct ContextInput {
    /// The context.
    pub native_handle: ze_context_handle_t,
    /// The devices that it was created for; at least one.
    pub device_list: Vec<Device>,
    /// The owner, which destroys the context.
    pub ownership: Ownership,
}

/// Input of [`make_queue`], version 4.
#[derive(Debug)]
pub struct QueueInput {
    /// A command queue or an immediate list.
    pub native_handle: NativeQueue,
    /// The device that it was created for.
    pub device: Device,
    /// The owner, which destroys the handle.
    pub ownership: Ownership,
    /// Any properties except the compute index.
    pub properties: QueueProps,
}

/// Input of [`make_event`].
#[derive(Debug)]
pub struct EventInput {
    /// An event from a pool of the context.
    pub native_handle: ze_event_handle_t,
    /// The owner, which destroys the event.
    pub ownership: Ownership,
}

/// Input of [`make_kernel_bundle`].
#[derive(Debug)]
pub struct KernelBundleInput {
    /// A linked module of the context.
    pub native_handle: ze_module_handle_t,
    /// The owner, which destroys the module.
    pub ownership: Ownership,
}

/// Input of [`make_kernel`].
#[derive(Debug)]
pub struct KernelInput {
    /// A bundle of exactly the module that has the kernel.
    pub kernel_bundle: KernelBundle<Executable>,
    /// The kernel.
    pub native_handle: ze_kernel_handle_t,
    /// The owner, which destroys the kernel.
    pub ownership: Ownership,
}

/// Input of [`make_buffer`].
#[derive(Debug)]
pub struct BufferInput {
    /// The first byte of an allocation of the context.
    pub native_handle: *mut c_void,
    /// The owner, which frees the memory.
    pub ownership: Ownership,
}

/// Input of [`make_image`].
#[derive(Debug)]
pub struct ImageInput<const D: usize> {
    /// An image of the context's one device.
    pub ze_image_handle: ze_image_handle_t,
    /// The channels.
    pub chan_order: ChannelOrder,
    /// The representation of each channel.
    pub chan_type: ChannelType,
    /// Width, height and depth, as in SYCL 1.2.1 and the extension: the reverse order of [`UnsampledImage::range`].
    pub range: Range<D>,
    /// The owner, which destroys the image.
    pub ownership: Ownership,
}

/// Versions 1 and 2 of the extension.
pub mod v1 {
    /// A queue without its device; the context's first is used.
    #[deprecated(note = "versions 1 and 2 lack the device: use `interop::QueueInput`")]
    #[derive(Debug)]
    pub struct QueueInput {
        /// A command queue.
        pub native_handle: level_zero::sys::ze_command_queue_handle_t,
        /// The owner, which destroys the queue.
        pub ownership: super::ownership::Ownership,
    }
}

/// Version 3 of the extension.
pub mod v3 {
    /// A command queue with its device.
    #[deprecated(note = "version 3 lacks immediate lists: use `interop::QueueInput`")]
    #[derive(Debug)]
    pub struct QueueInput {
        /// A command queue.
        pub native_handle: level_zero::sys::ze_command_queue_handle_t,
        /// The device that it was created for.
        pub device: crate::Device,
        /// The owner, which destroys the queue.
        pub ownership: super::ownership::Ownership,
    }
}

/// Input of [`make_queue`] in any version.
#[derive(Debug)]
pub struct QueueArg {
    native: NativeQueue,
    device: Option<Device>,
    ownership: Ownership,
    properties: QueueProps,
}

impl From<QueueInput> for QueueArg {
    fn from(input: QueueInput) -> Self {
        Self {
            native: input.native_handle,
            device: Some(input.device),
            ownership: input.ownership,
            properties: input.properties,
        }
    }
}
#[expect(deprecated, reason = "old input types are accepted")]
impl From<v1::QueueInput> for QueueArg {
    fn from(input: v1::QueueInput) -> Self {
        Self {
            native: NativeQueue::CommandQueue(input.native_handle),
            device: None,
            ownership: input.ownership,
            properties: QueueProps::default(),
        }
    }
}
#[expect(deprecated, reason = "old input types are accepted")]
impl From<v3::QueueInput> for QueueArg {
    fn from(input: v3::QueueInput) -> Self {
        Self {
            native: NativeQueue::CommandQueue(input.native_handle),
            device: Some(input.device),
            ownership: input.ownership,
            properties: QueueProps::default(),
        }
    }
}

fn not_null<T>(what: &str, handle: *mut T) -> Result<()> {
    if handle.is_null() {
        return Err(Error::invalid(format!("{what} is null")));
    }
    Ok(())
}

/// Creates an object around a handle. A handle is transferred at most once; `make` is passed whether it is transferred
/// now. If `make` fails, the program still owns the handle.
fn adopt<T, R>(
    what: &str,
    handle: *mut T,
    ownership: Ownership,
    make: impl FnOnce(bool) -> Result<R>,
) -> Result<R> {
    if ownership == Ownership::Keep {
        return make(false);
    }
    if !own(handle) {
        return Err(Error::invalid(format!(
            "{what} {handle:p} already belongs to the runtime and cannot be transferred again"
        )));
    }
    make(true)
        .inspect(|_| leaks::adopted(what))
        .inspect_err(|_| disown(handle))
}

/// Returns the platform of an enumerated driver.
///
/// # Safety
/// The handle is null or a driver's.
///
/// # Errors
/// [`Errc::Invalid`] for a handle that was not enumerated; [`Errc::Platform`] if the environment hides all of its
/// devices.
pub unsafe fn make_platform(handle: ze_driver_handle_t) -> Result<Platform> {
    not_null("the driver", handle)?;
    Platform::of_driver(handle)
}

/// Returns the device of an enumerated device or sub-device.
///
/// # Safety
/// The handle is null or a device's.
///
/// # Errors
/// [`Errc::Invalid`] for a handle that was not enumerated, or that the environment hides.
pub unsafe fn make_device(handle: ze_device_handle_t) -> Result<Device> {
    not_null("the device", handle)?;
    let mut open = Device::all(None)?;
    while let Some(device) = open.pop() {
        if device.handle() == handle {
            return Ok(device);
        }
        open.extend(device.parts().iter().cloned());
    }
    Err(Error::invalid(format!(
        "{handle:p} is not the handle of an enumerated device, or ONEAPI_DEVICE_SELECTOR hides it"
    )))
}

/// Creates a context around a handle. Buffers have separate memories in it.
///
/// # Safety
/// The handle is null or a live context of the devices' driver.
///
/// # Errors
/// [`Errc::Invalid`] for null, no devices, devices of several platforms, or a handle that was transferred before; the
/// program then still owns the handle.
pub unsafe fn make_context(input: ContextInput) -> Result<Context> {
    not_null("the context", input.native_handle)?;
    Context::check(&input.device_list)?;
    adopt("context", input.native_handle, input.ownership, |owned| {
        Context::adopt(&input.device_list, input.native_handle, owned)
    })
}

/// Creates a queue around a command queue or an immediate list.
///
/// # Safety
/// The handle is null or a live one of the context and device, which the program does not use at the same time.
///
/// # Errors
/// [`Errc::Invalid`] for null, a device outside the context, a compute index, or a handle that was transferred before.
pub unsafe fn make_queue(input: impl Into<QueueArg>, context: &Context) -> Result<Queue> {
    let input = input.into();
    if input.native.is_null() {
        return Err(Error::invalid("the queue is null"));
    }
    let device = match input.device {
        Some(device) => device,
        None => context.0.devices[0].clone(),
    };
    if !context.contains(&device) {
        return Err(Error::invalid(
            "the context does not contain the queue's device",
        ));
    }
    if input.properties.compute_index.is_some() {
        return Err(Error::invalid(
            "compute_index is not allowed for a queue made from a handle: its engine is fixed",
        ));
    }
    let (properties, lane) = (input.properties, input.native.lane());
    let make = |owned, in_order, ordinal| {
        Queue::adopt(context, &device, properties, lane, owned, in_order, ordinal)
    };
    match input.native {
        NativeQueue::CommandQueue(queue) => {
            adopt("command queue", queue, input.ownership, |owned| {
                // A list for a queue must be created with the queue's ordinal.
                make(owned, false, ordinal_of(context.api(), &device, queue))
            })
        }
        NativeQueue::ImmediateList(list) => adopt("command list", list, input.ownership, |owned| {
            make(owned, is_in_order(context.api(), list), 0)
        }),
    }
}

/// The queue's ordinal; the first compute group if the driver does not report it.
fn ordinal_of(api: Api, device: &Device, queue: ze_command_queue_handle_t) -> u32 {
    let mut ordinal = 0;
    // SAFETY: a live queue by the caller's contract and a valid output.
    let asked = unsafe {
        ze!(
            api,
            zeCommandQueueGetOrdinal = command_queue.pfnGetOrdinal(queue, &raw mut ordinal)
        )
    };
    match asked {
        Ok(()) => ordinal,
        Err(_) => device.compute_group().map_or(0, |group| group.ordinal),
    }
}

/// Whether an immediate list is in-order; `false` if the driver does not report it.
fn is_in_order(api: Api, list: ze_command_list_handle_t) -> bool {
    let mut flags = 0;
    // SAFETY: a live list by the caller's contract and a valid output.
    let asked = unsafe {
        ze!(
            api,
            zeCommandListImmediateGetFlags =
                command_list.pfnImmediateGetFlags(list, &raw mut flags)
        )
    };
    asked.is_ok() && flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER != 0
}

/// Creates an event around a handle. It has no wait list. It has profiling information if its pool's events carry
/// timestamps and the clocks of the context's devices have one resolution, because Level Zero does not report which
/// device signalled it. The time of submission is not known; the start time is returned instead.
///
/// With [`Ownership::Keep`] the program may destroy the event when the last copy is dropped. A deferred command group
/// that follows the event holds a copy, and so does a buffer or image that is available after it. Dropping the last
/// copy waits for the event if an unused buffer or image is still to be freed after it.
///
/// # Safety
/// The handle is null or a live event of a pool of the context.
///
/// # Errors
/// [`Errc::Invalid`] for null or a handle that was transferred before.
pub unsafe fn make_event(input: EventInput, context: &Context) -> Result<Event> {
    not_null("the event", input.native_handle)?;
    let lane = adopt("event", input.native_handle, input.ownership, |owned| {
        CommandLane::of_event(&context.0.native, input.native_handle, owned)
    })?;
    let clock = clock_of(context).filter(|_| has_timestamps(context.api(), input.native_handle));
    Ok(Event::native_of(lane, clock))
}

/// A device of the context, if all devices' clocks have the same properties.
fn clock_of(context: &Context) -> Option<Device> {
    let resolution = |device: &Device| device.0.properties.timerResolution;
    let (first, others) = context.0.devices.split_first()?;
    let alike = |other: &Device| resolution(other) == resolution(first);
    others.iter().all(alike).then(|| first.clone())
}

/// Whether the events of an event's pool carry timestamps; `false` if the driver does not report it.
fn has_timestamps(api: Api, event: ze_event_handle_t) -> bool {
    let mut pool = std::ptr::null_mut();
    let mut flags = 0;
    // SAFETY: the caller guarantees a live event; its pool, and valid outputs.
    let asked = unsafe {
        ze!(
            api,
            zeEventGetEventPool = event.pfnGetEventPool(event, &raw mut pool)
        )
        .and_then(|()| {
            ze!(
                api,
                zeEventPoolGetFlags = event_pool.pfnGetFlags(pool, &raw mut flags)
            )
        })
    };
    let kernel = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;
    asked.is_ok() && flags & kernel != 0
}

/// Creates an executable bundle around a module.
///
/// # Safety
/// The handle is null or a live module of the context; its kernels satisfy the contract of
/// [`KernelBundle::from_spirv`].
///
/// # Errors
/// [`Errc::Build`] if the module is not linked; [`Errc::Invalid`] for null or a handle that was transferred before.
pub unsafe fn make_kernel_bundle(
    input: KernelBundleInput,
    context: &Context,
) -> Result<KernelBundle<Executable>> {
    not_null("the module", input.native_handle)?;
    let mut module = Module::of_handle(context, input.native_handle);
    module.try_a_kernel()?;
    adopt("module", input.native_handle, input.ownership, |owned| {
        module.owned = owned;
        Ok(KernelBundle::adopt(context, module))
    })
}

/// Creates a kernel around a handle.
///
/// # Safety
/// The handle is null or a live kernel of the bundle's module.
///
/// # Errors
/// [`Errc::Runtime`] if the bundle does not have exactly one module; [`Errc::Invalid`] for null, another context's
/// bundle, a name that the module lacks, or a handle that was transferred before.
pub unsafe fn make_kernel(input: KernelInput, context: &Context) -> Result<Kernel> {
    not_null("the kernel", input.native_handle)?;
    let bundle = &input.kernel_bundle;
    let [module] = bundle.inner.modules.as_slice() else {
        return Err(Error::new(
            Errc::Runtime,
            format!(
                "the bundle has {} modules; make_kernel needs exactly one",
                bundle.inner.modules.len()
            ),
        ));
    };
    if bundle.inner.context.handle() != context.handle() {
        return Err(Error::invalid("the bundle belongs to another context"));
    }
    let name = module.told(kernel_name(module.api, input.native_handle))?;
    if !module.kernel_names()?.contains(&name) {
        return Err(Error::invalid(format!(
            "the bundle's module has no kernel {name}"
        )));
    }
    let count = module.told(argument_count(module.api, input.native_handle))?;
    adopt("kernel", input.native_handle, input.ownership, |owned| {
        Ok(Kernel(std::sync::Arc::new(KernelInner {
            bundle: bundle.clone(),
            known: bundle.known_arguments(&name, count),
            name,
            handles: vec![(module.device.clone(), input.native_handle)],
            count,
            state: std::sync::Mutex::default(),
            owned,
        })))
    })
}

fn kernel_name(api: Api, kernel: ze_kernel_handle_t) -> Result<String> {
    let mut size = 0;
    // SAFETY: a live kernel; a null output asks for the size.
    unsafe {
        ze!(
            api,
            zeKernelGetName = kernel.pfnGetName(kernel, &raw mut size, std::ptr::null_mut())
        )?;
    }
    let mut bytes = vec![0u8; size.max(1)];
    // SAFETY: a live kernel and an output of that size.
    unsafe {
        let out = bytes.as_mut_ptr().cast::<c_char>();
        ze!(
            api,
            zeKernelGetName = kernel.pfnGetName(kernel, &raw mut size, out)
        )?;
    }
    let text = CStr::from_bytes_until_nul(&bytes).map(CStr::to_string_lossy);
    Ok(text.map(|text| text.into_owned()).unwrap_or_default())
}

/// Creates a buffer over an allocation that holds its contents on the context's one device. With `available` every use
/// waits for that event; this call does not.
///
/// # Safety
/// The pointer is null or the first byte of USM of the context, which only the buffer uses until it ends.
///
/// # Errors
/// [`Errc::Invalid`] for a pointer that is not the beginning of such an allocation, one that is too small or belongs to
/// another device, a context of several devices, or memory that was transferred before; the program then still owns the
/// memory.
#[track_caller]
pub unsafe fn make_buffer<T: DeviceData, const D: usize>(
    input: BufferInput,
    range: impl Into<Range<D>>,
    context: &Context,
    available: Option<&Event>,
) -> Result<Buffer<'static, T, D>>
where
    Dim<D>: SupportedDim,
{
    let pointer = input.native_handle;
    not_null("the memory", pointer)?;
    let [device] = context.0.devices.as_slice() else {
        return Err(Error::invalid(
            "make_buffer needs a context with exactly the device that the memory was allocated for",
        ));
    };
    let native = &context.0.native;
    let (base, size) = range_of(native, pointer)?;
    let (kind, owner) = properties_of(native, pointer)?;
    if base != pointer || kind == PointerType::Unknown {
        return Err(Error::invalid(format!(
            "{pointer:p} is not the first byte of USM of the context"
        )));
    }
    if !owner.is_null() && owner != device.handle() && owner != device.hardware().handle() {
        return Err(Error::invalid("the memory belongs to another device"));
    }
    let range = range.into();
    let needed = range.size().checked_mul(size_of::<T>());
    if needed.is_none_or(|needed| needed > size) {
        return Err(Error::invalid(format!(
            "the allocation has {size} bytes, too few for {:?} elements of {}",
            range.0,
            size_of::<T>()
        )));
    }
    if is_buffers(pointer) {
        return Err(Error::invalid("the memory already belongs to a buffer"));
    }
    let end = match input.ownership {
        Ownership::Transfer => End::Free,
        Ownership::Keep => End::Keep,
    };
    let buffer = Buffer::new(range)?;
    {
        let mut state = buffer.core().lock();
        let domain = match kind {
            PointerType::Host => sycl_graph::Domain::HOST,
            // Shared USM without a device is treated as host memory.
            PointerType::Shared if owner.is_null() => sycl_graph::Domain::HOST,
            _ => state.domain_for(kind, context, device)?,
        };
        state.adopt(domain, (kind, pointer.cast()), context, end)?;
        state.graph.adopt(domain);
        state.available_after(domain, available);
    }
    if end == End::Free {
        leaks::adopted("memory");
    }
    Ok(buffer)
}

/// As [`make_buffer`], with as many elements as the allocation has room for, as in C++.
///
/// # Safety
/// As [`make_buffer`].
///
/// # Errors
/// As [`make_buffer`].
#[track_caller]
pub unsafe fn make_buffer_1d<T: DeviceData>(
    input: BufferInput,
    context: &Context,
    available: Option<&Event>,
) -> Result<Buffer<'static, T, 1>> {
    not_null("the memory", input.native_handle)?;
    let (_, size) = range_of(&context.0.native, input.native_handle)?;
    let count = size / size_of::<T>().max(1);
    // SAFETY: guaranteed by the caller.
    unsafe { make_buffer(input, count, context, available) }
}

/// Creates an image around a handle, for commands on the context's one device. It is never copied; the host can access
/// it only through commands. With `available` every use waits for that event; this call does not.
///
/// # Safety
/// The handle is null or a live image of the context and its one device, of the given format and size, which only the
/// SYCL image uses until it ends.
///
/// # Errors
/// [`Errc::Invalid`] for null, a context of several devices, an empty range, or a handle that was transferred before;
/// [`Errc::FeatureNotSupported`] for a packed channel type. The program then still owns the handle.
#[track_caller]
pub unsafe fn make_image<const D: usize>(
    input: ImageInput<D>,
    context: &Context,
    available: Option<&Event>,
) -> Result<UnsampledImage<'static, D>>
where
    Dim<D>: SupportedDim,
{
    let handle = input.ze_image_handle;
    not_null("the image", handle)?;
    let [device] = context.0.devices.as_slice() else {
        return Err(Error::invalid(
            "make_image needs a context with exactly the device that the image was created for",
        ));
    };
    let mut range = input.range;
    range.0.reverse();
    let format = ImageFormat::new(input.chan_order, input.chan_type);
    let image = UnsampledImage::bound(format, range)?;
    adopt("image", handle, input.ownership, |owned| {
        let end = if owned { End::Free } else { End::Keep };
        let mut state = image.core().lock();
        let domain = state.adopt_image(handle, context, device, end)?;
        state.graph.adopt(domain);
        state.available_after(domain, available);
        Ok(())
    })?;
    Ok(image)
}
