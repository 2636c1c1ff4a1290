//! Handles of the program: how they are used, and when they are destroyed.

use level_zero::sys::*;
use sycl::interop::*;
use sycl::{
    Buffer, Context, Device, Event, Kernel, KernelBundle, Platform, Queue, Read, ReadWrite, Write,
    usm,
};

use crate::native::input;
use crate::world::{Log, call, context, devices, words};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "make_queue_of_a_copy_engine",
        Where::Everywhere,
        make_queue_of_a_copy_engine,
    ),
    (
        "handles_end_once_children_first",
        Where::Everywhere,
        handles_end_once_children_first,
    ),
    (
        "types_are_shared_by_threads",
        Where::Host,
        types_are_shared_by_threads,
    ),
];

/// The lists of a queue are created with its ordinal, whatever it is.
fn make_queue_of_a_copy_engine() {
    let (context, device) = (context(), devices()[0].clone());
    let desc = ze_command_queue_desc_t {
        ordinal: 1,
        ..Default::default()
    };
    let mut raw = std::ptr::null_mut();
    let (context_handle, handle) = (get_native(&context), get_native(&device));
    call!(command_queue.pfnCreate(context_handle, handle, &raw const desc, &raw mut raw));
    let input = input(NativeQueue::CommandQueue(raw), &device, Ownership::Transfer);
    // SAFETY: a live handle that only the queue uses.
    let queue = unsafe { make_queue(input, &context) }.unwrap();
    let from = Buffer::from_vec(vec![7i32; 8], 8).unwrap();
    let to = Buffer::<i32>::new(8).unwrap();
    let copied = queue.submit(|cg| {
        let a = cg.access(&from, Read)?;
        let b = cg.access(&to, Write.no_init())?;
        cg.copy(&a, &b)
    });
    copied.unwrap().wait().unwrap();
    assert_eq!(to.into_vec().unwrap(), [7; 8]);
}

/// A transferred context, module, kernel and event are destroyed once each, the objects of the context before it, in
/// any order of drops; kept ones are not.
fn handles_end_once_children_first() {
    for ownership in [Ownership::Transfer, Ownership::Keep] {
        let device = devices()[0].clone();
        let driver = get_native(&Platform::all().unwrap()[0]);
        let desc = ze_context_desc_t::default();
        let mut raw = std::ptr::null_mut();
        call!(context.pfnCreate(driver, &raw const desc, &raw mut raw));
        let spirv = words();
        let desc = ze_module_desc_t {
            format: ZE_MODULE_FORMAT_IL_SPIRV,
            inputSize: 4 * spirv.len(),
            pInputModule: spirv.as_ptr().cast(),
            ..Default::default()
        };
        let (mut module, no_log) = (std::ptr::null_mut(), std::ptr::null_mut());
        let handle = get_native(&device);
        call!(module.pfnCreate(raw, handle, &raw const desc, &raw mut module, no_log));
        let desc = ze_kernel_desc_t {
            pKernelName: c"add_one".as_ptr(),
            ..Default::default()
        };
        let mut kernel = std::ptr::null_mut();
        call!(kernel.pfnCreate(module, &raw const desc, &raw mut kernel));
        let desc = ze_event_pool_desc_t {
            flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
            count: 1,
            ..Default::default()
        };
        let (mut pool, mut event) = (std::ptr::null_mut(), std::ptr::null_mut());
        let none = std::ptr::null_mut();
        call!(event_pool.pfnCreate(raw, &raw const desc, 0, none, &raw mut pool));
        let desc = ze_event_desc_t::default();
        call!(event.pfnCreate(pool, &raw const desc, &raw mut event));
        call!(event.pfnHostSignal(event));
        let input = ContextInput {
            native_handle: raw,
            device_list: vec![device.clone()],
            ownership,
        };
        // SAFETY: live handles of one context that only the runtime uses from here on.
        let (context, bundle, made, signalled) = unsafe {
            let context = make_context(input).unwrap();
            let input = KernelBundleInput {
                native_handle: module,
                ownership,
            };
            let bundle = make_kernel_bundle(input, &context).unwrap();
            let input = KernelInput {
                kernel_bundle: bundle.clone(),
                native_handle: kernel,
                ownership,
            };
            let made = make_kernel(input, &context).unwrap();
            let input = EventInput {
                native_handle: event,
                ownership,
            };
            let signalled = make_event(input, &context).unwrap();
            (context, bundle, made, signalled)
        };
        assert_eq!(get_native(&bundle), [module]);
        // Only now, because creating the bundle tries a kernel.
        let log = Log::start();
        let queue = Queue::builder().context(&context).device(&device);
        let queue = queue.build().unwrap();
        let buffer = Buffer::from_vec(vec![1i32; 8], 8).unwrap();
        let submitted = queue.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&signalled));
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&made, 8, (&a,))
        });
        submitted.unwrap();
        assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
        queue.wait().unwrap();
        drop(signalled);
        crate::world::queue(0).wait().unwrap();
        let event_ends = log.places("zeEventDestroy", "hEvent", event.addr());
        if ownership == Ownership::Keep {
            call!(event.pfnDestroy(event));
        }
        call!(event_pool.pfnDestroy(pool));
        // The kernel keeps everything it needs, which the program drops first.
        drop((context, bundle, queue));
        crate::world::queue(0).wait().unwrap();
        assert!(
            log.places("zeModuleDestroy", "hModule", module.addr())
                .is_empty()
        );
        drop(made);
        crate::world::queue(0).wait().unwrap();
        let all = [
            log.places("zeKernelDestroy", "hKernel", kernel.addr()),
            log.places("zeModuleDestroy", "hModule", module.addr()),
            log.places("zeContextDestroy", "hContext", raw.addr()),
            event_ends,
        ];
        if ownership == Ownership::Transfer {
            let at = all.clone().map(|ends| {
                assert_eq!(ends.len(), 1, "{all:?}");
                ends[0]
            });
            assert!(at[0] < at[1] && at[1] < at[2] && at[3] < at[2], "{all:?}");
        } else {
            assert!(all.iter().all(Vec::is_empty), "{all:?}");
            drop(log);
            call!(kernel.pfnDestroy(kernel));
            call!(module.pfnDestroy(module));
            call!(context.pfnDestroy(raw));
        }
    }
}

fn types_are_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Platform>();
    shared::<Device>();
    shared::<Context>();
    shared::<Queue>();
    shared::<Event>();
    shared::<KernelBundle<sycl::Executable>>();
    shared::<Kernel>();
    shared::<sycl::Error>();
    shared::<Buffer<'static, f32, 2>>();
    shared::<sycl::UnsampledImage<'static, 2>>();
    shared::<sycl::SampledImage<2>>();
    shared::<sycl::Sampler>();
    shared::<KernelBundle<sycl::Input>>();
    shared::<KernelBundle<sycl::Object>>();
    shared::<sycl::KernelId>();
    shared::<sycl::FilterSelector>();
    shared::<sycl::AspectSelector>();
    shared::<sycl::DefaultSelector>();
    shared::<sycl::Profiling>();
    shared::<sycl::ExecutableGraph>();
    shared::<sycl::Graph>();
    shared::<sycl::QueueBuilder>();
    shared::<sycl::BufferOptions<2>>();
    shared::<usm::Block<f32, usm::SharedKind>>();
}
