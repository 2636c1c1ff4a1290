//! Handles that `make_*` rejects: null, of another context or device, or already the runtime's. The program keeps them.

use level_zero::sys::*;
use sycl::interop::*;
use sycl::{
    Buffer, ChannelOrder, ChannelType, Context, Device, Errc, Executable, KernelBundle, Range,
    Result,
};

use crate::groups::single;
use crate::letting_go::{Raw, kept_context};
use crate::native::{foreign, host_memory, input, new_list, new_queue};
use crate::world::{Log, call, context, devices, words};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "null_handles_are_rejected",
        Where::Everywhere,
        null_handles_are_rejected,
    ),
    (
        "handles_of_another_context_are_rejected",
        Where::Everywhere,
        handles_of_another_context_are_rejected,
    ),
    (
        "handles_of_several_devices_are_rejected",
        Where::Everywhere,
        handles_of_several_devices_are_rejected,
    ),
    (
        "no_handle_is_transferred_twice",
        Where::Everywhere,
        no_handle_is_transferred_twice,
    ),
];

pub(crate) fn refused<T>(what: &str, made: Result<T>) {
    match made {
        Ok(_) => panic!("{what} is made"),
        Err(error) => assert_eq!(error.errc(), Errc::Invalid, "{what}: {error}"),
    }
}

pub(crate) fn context_input(
    native_handle: ze_context_handle_t,
    ownership: Ownership,
) -> ContextInput {
    ContextInput {
        native_handle,
        device_list: vec![devices()[0].clone()],
        ownership,
    }
}

pub(crate) fn event_input(native_handle: ze_event_handle_t, ownership: Ownership) -> EventInput {
    EventInput {
        native_handle,
        ownership,
    }
}

pub(crate) fn bundle_input(
    native_handle: ze_module_handle_t,
    ownership: Ownership,
) -> KernelBundleInput {
    KernelBundleInput {
        native_handle,
        ownership,
    }
}

pub(crate) fn kernel_input(
    kernel_bundle: &KernelBundle<Executable>,
    native_handle: ze_kernel_handle_t,
    ownership: Ownership,
) -> KernelInput {
    KernelInput {
        kernel_bundle: kernel_bundle.clone(),
        native_handle,
        ownership,
    }
}

pub(crate) fn memory_input(
    native_handle: *mut std::ffi::c_void,
    ownership: Ownership,
) -> BufferInput {
    BufferInput {
        native_handle,
        ownership,
    }
}

fn image_input(ze_image_handle: ze_image_handle_t, ownership: Ownership) -> ImageInput<2> {
    ImageInput {
        ze_image_handle,
        chan_order: ChannelOrder::Rgba,
        chan_type: ChannelType::UnormInt8,
        range: Range([4, 3]),
        ownership,
    }
}

/// The tests' kernels for a context's devices.
pub(crate) fn bundle_in(context: &Context) -> KernelBundle<Executable> {
    // SAFETY: the kernels stay inside what the tests pass.
    let made = unsafe { KernelBundle::from_spirv(context, &context.devices(), &words()) };
    made.unwrap().build(c"").unwrap()
}

pub(crate) fn new_module(context: &Context, device: &Device) -> ze_module_handle_t {
    let spirv = words();
    let desc = ze_module_desc_t {
        format: ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize: 4 * spirv.len(),
        pInputModule: spirv.as_ptr().cast(),
        ..Default::default()
    };
    let (mut module, no_log) = (std::ptr::null_mut(), std::ptr::null_mut());
    let (context, device) = (get_native(context), get_native(device));
    call!(module.pfnCreate(context, device, &raw const desc, &raw mut module, no_log));
    module
}

pub(crate) fn new_kernel(module: ze_module_handle_t) -> ze_kernel_handle_t {
    let desc = ze_kernel_desc_t {
        pKernelName: c"add_one".as_ptr(),
        ..Default::default()
    };
    let mut kernel = std::ptr::null_mut();
    call!(kernel.pfnCreate(module, &raw const desc, &raw mut kernel));
    kernel
}

fn null_handles_are_rejected() {
    let (context, device) = single();
    let bundle = bundle_in(&context);
    let none = std::ptr::null_mut();
    let log = Log::start();
    for ownership in [Ownership::Transfer, Ownership::Keep] {
        // SAFETY: null is allowed, and refused.
        unsafe {
            refused("driver", make_platform(std::ptr::null_mut()));
            refused("device", make_device(std::ptr::null_mut()));
            let no_context = context_input(std::ptr::null_mut(), ownership);
            refused("context", make_context(no_context));
            for native in [
                NativeQueue::CommandQueue(std::ptr::null_mut()),
                NativeQueue::ImmediateList(std::ptr::null_mut()),
            ] {
                refused(
                    "queue",
                    make_queue(input(native, &device, ownership), &context),
                );
            }
            let no_event = event_input(std::ptr::null_mut(), ownership);
            refused("event", make_event(no_event, &context));
            let no_module = bundle_input(std::ptr::null_mut(), ownership);
            refused("module", make_kernel_bundle(no_module, &context));
            let no_kernel = kernel_input(&bundle, std::ptr::null_mut(), ownership);
            refused("kernel", make_kernel(no_kernel, &context));
            let no_memory = || memory_input(none, ownership);
            refused("memory", make_buffer_1d::<i32>(no_memory(), &context, None));
            refused(
                "memory",
                make_buffer::<i32, 1>(no_memory(), 0, &context, None),
            );
            let no_image = image_input(std::ptr::null_mut(), ownership);
            refused("image", make_image(no_image, &context, None));
        }
    }
    assert_eq!(log.0.calls().len(), 0, "no call is made");
}

fn handles_of_another_context_are_rejected() {
    let (own, device) = single();
    let (other, handle) = kept_context(&device);
    let bundle = bundle_in(&other);
    let kernel = new_kernel(get_native(&bundle)[0]);
    for ownership in [Ownership::Transfer, Ownership::Keep] {
        // SAFETY: live handles, but of another context.
        unsafe {
            refused(
                "kernel",
                make_kernel(kernel_input(&bundle, kernel, ownership), &own),
            );
            // Belongs to the context, but already to the runtime.
            let usual = bundle_in(&own);
            let made = usual.kernel(c"add").unwrap();
            let input = kernel_input(&usual, get_native(&made), Ownership::Transfer);
            refused("kernel", make_kernel(input, &own));
        }
    }
    if let Some(outside) = devices().get(1) {
        let list = new_list(&context(), outside, 0);
        let native = NativeQueue::ImmediateList(list);
        // SAFETY: a live list, but of a device that the context has not.
        let made = unsafe { make_queue(input(native, outside, Ownership::Transfer), &own) };
        refused("queue", made);
        call!(command_list.pfnDestroy(list));
    }
    call!(kernel.pfnDestroy(kernel));
    drop((bundle, other));
    call!(context.pfnDestroy(handle));
}

/// The context of `make_buffer` and `make_image` has exactly one device.
fn handles_of_several_devices_are_rejected() {
    let several = context();
    if several.devices().len() == 1 {
        return;
    }
    let memory = host_memory(&several, 256);
    let none_of_its = std::ptr::without_provenance_mut(0x1000);
    for ownership in [Ownership::Transfer, Ownership::Keep] {
        // SAFETY: memory that is alive; the image is not looked at.
        unsafe {
            let input = memory_input(memory, ownership);
            refused("memory", make_buffer_1d::<i32>(input, &several, None));
            let input = image_input(none_of_its, ownership);
            refused("image", make_image(input, &several, None));
        }
    }
    call!(mem.pfnFree(get_native(&several), memory));
}

/// Also not as another object; several objects may share a kept handle.
fn no_handle_is_transferred_twice() {
    let (context, device) = single();
    let transfer = Ownership::Transfer;
    let usual = crate::world::queue(0);
    let log = Log::start();
    let (_, raw) = foreign();
    let queue = NativeQueue::CommandQueue(new_queue(&context, &device));
    let list = NativeQueue::ImmediateList(new_list(&context, &device, 0));
    let event = Raw::new(&context);
    call!(event.pfnHostSignal(event.event));
    let module = new_module(&context, &device);
    let kernel = new_kernel(module);
    let memory = host_memory(&context, 256);
    // SAFETY: live handles of the context; the second time each is refused.
    unsafe {
        let made = make_context(context_input(raw, transfer)).unwrap();
        refused("context", make_context(context_input(raw, transfer)));
        let queues = [queue, list].map(|native| {
            let made = make_queue(input(native, &device, transfer), &context).unwrap();
            let again = make_queue(input(native, &device, transfer), &context);
            refused("queue", again);
            made
        });
        let of_event = || make_event(event_input(event.event, transfer), &context);
        let made_event = of_event().unwrap();
        refused("event", of_event());
        let of_module = || make_kernel_bundle(bundle_input(module, transfer), &context);
        let bundle = of_module().unwrap();
        refused("module", of_module());
        let of_kernel = || make_kernel(kernel_input(&bundle, kernel, transfer), &context);
        let made_kernel = of_kernel().unwrap();
        refused("kernel", of_kernel());
        let of_memory =
            |ownership| make_buffer_1d::<i32>(memory_input(memory, ownership), &context, None);
        let buffer: Buffer<'_, i32> = of_memory(transfer).unwrap();
        refused("memory", of_memory(transfer));
        refused("memory", of_memory(Ownership::Keep));
        drop((made, queues, made_event, made_kernel, bundle, buffer));
    }
    usual.wait().unwrap();
    let (queue, list) = match (queue, list) {
        (NativeQueue::CommandQueue(queue), NativeQueue::ImmediateList(list)) => {
            (queue.addr(), list.addr())
        }
        _ => unreachable!("made so above"),
    };
    for (function, argument, handle) in [
        ("zeContextDestroy", "hContext", raw.addr()),
        ("zeCommandQueueDestroy", "hCommandQueue", queue),
        ("zeCommandListDestroy", "hCommandList", list),
        ("zeEventDestroy", "hEvent", event.event.addr()),
        ("zeModuleDestroy", "hModule", module.addr()),
        ("zeKernelDestroy", "hKernel", kernel.addr()),
        ("zeMemFree", "ptr", memory.addr()),
    ] {
        let calls = log.calls(function).into_iter();
        let of_it = |call: &_| crate::world::argument(call, argument) == handle as u64;
        assert_eq!(calls.filter(of_it).count(), 1, "{function}");
    }
    drop(log);
    call!(event_pool.pfnDestroy(event.pool));
}
