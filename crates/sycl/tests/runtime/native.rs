//! Native handles in and out: the B table, following DPC++'s tests of the same.

use std::hash::BuildHasher;

use level_zero::sys::*;
use sycl::interop::*;
use sycl::{
    Buffer, Context, Device, DeviceType, Errc, Event, EventStatus, Kernel, KernelBundle, Platform,
    Queue, QueueProps, Read, ReadWrite, info, usm,
};

use crate::groups::{single, single_queue, submit_add_one};
use crate::world::{
    Gate, Log, bundle, call, context, devices, is_discrete, is_running, kernel, queue, words,
};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "interop_platform_roundtrip",
        Where::Everywhere,
        platform_roundtrip,
    ),
    ("interop_device_tree", Where::Everywhere, device_tree),
    ("native_queue_modes", Where::Everywhere, native_queue_modes),
    ("make_queue_both", Where::Everywhere, make_queue_both),
    (
        "make_queue_keep_no_destroy",
        Where::Everywhere,
        make_queue_keep,
    ),
    (
        "make_queue_properties",
        Where::Everywhere,
        make_queue_properties,
    ),
    ("make_queue_v1", Where::Everywhere, make_queue_v1),
    (
        "make_queue_v3_transfer",
        Where::Everywhere,
        make_queue_v3_transfer,
    ),
    ("make_event_keep", Where::Everywhere, make_event_keep),
    ("make_kernel", Where::Everywhere, make_kernel_of_module),
    (
        "native_kernel_props",
        Where::Everywhere,
        native_kernel_props,
    ),
    (
        "make_context_device",
        Where::Everywhere,
        make_context_device,
    ),
    (
        "foreign_context_own_domain",
        Where::Everywhere,
        foreign_context_own_domain,
    ),
    ("make_buffer_kinds", Where::Everywhere, make_buffer_kinds),
    (
        "make_buffer_two_contexts",
        Where::Everywhere,
        make_buffer_two_contexts,
    ),
    (
        "make_buffer_ownership",
        Where::Everywhere,
        make_buffer_ownership,
    ),
    (
        "native_mem_equals_input",
        Where::Everywhere,
        native_mem_equals_input,
    ),
    (
        "available_event_gates",
        Where::Everywhere,
        available_event_gates,
    ),
    ("keep_drop_blocks", Where::Everywhere, keep_drop_blocks),
    (
        "transfer_drop_async",
        Where::Everywhere,
        transfer_drop_async,
    ),
    ("depends_on_native", Where::Everywhere, depends_on_native),
    (
        "backend_version_empty",
        Where::Everywhere,
        backend_version_empty,
    ),
    ("transferred_once", Where::Everywhere, transferred_once),
    (
        "native_event_of_any_state",
        Where::Everywhere,
        native_event_of_any_state,
    ),
    ("usm_ops", Where::Everywhere, usm_ops),
    (
        "bundles_of_wrong_words_and_of_binaries",
        Where::Everywhere,
        bundles,
    ),
    ("default_selector", Where::Host, default_selector),
    ("leaks", Where::Everywhere, leaks),
];

pub(crate) fn new_list(context: &Context, device: &Device, flags: u32) -> ze_command_list_handle_t {
    let desc = ze_command_queue_desc_t {
        flags,
        mode: ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ..Default::default()
    };
    let mut list = std::ptr::null_mut();
    let (context, device) = (get_native(context), get_native(device));
    call!(command_list.pfnCreateImmediate(context, device, &raw const desc, &raw mut list));
    list
}

pub(crate) fn new_queue(context: &Context, device: &Device) -> ze_command_queue_handle_t {
    let desc = ze_command_queue_desc_t::default();
    let mut queue = std::ptr::null_mut();
    let (context, device) = (get_native(context), get_native(device));
    call!(command_queue.pfnCreate(context, device, &raw const desc, &raw mut queue));
    queue
}

pub(crate) fn host_memory(context: &Context, bytes: usize) -> *mut std::ffi::c_void {
    let desc = ze_host_mem_alloc_desc_t::default();
    let mut pointer = std::ptr::null_mut();
    call!(mem.pfnAllocHost(
        get_native(context),
        &raw const desc,
        bytes,
        64,
        &raw mut pointer
    ));
    pointer
}

pub(crate) fn input(
    native_handle: NativeQueue,
    device: &Device,
    ownership: Ownership,
) -> QueueInput {
    QueueInput {
        native_handle,
        device: device.clone(),
        ownership,
        properties: QueueProps::default(),
    }
}

fn platform_roundtrip() {
    for platform in Platform::all().unwrap() {
        // SAFETY: a driver's handle, and none.
        let (same, none) = unsafe {
            (
                make_platform(get_native(&platform)),
                make_platform(std::ptr::null_mut()),
            )
        };
        let (same, hashes) = (same.unwrap(), std::hash::RandomState::new());
        assert_eq!(same, platform);
        assert_eq!(hashes.hash_one(same), hashes.hash_one(platform));
        assert_eq!(none.unwrap_err().errc(), Errc::Invalid);
    }
    // SAFETY: it is only compared.
    let unknown = unsafe { make_platform(std::ptr::without_provenance_mut(0x1000)) };
    assert_eq!(unknown.unwrap_err().errc(), Errc::Invalid);
}

fn device_tree() {
    for device in devices() {
        // SAFETY: a device's handle.
        let same = unsafe { make_device(get_native(&device)) }.unwrap();
        assert_eq!(same, device);
    }
    // SAFETY: it is only compared.
    let unknown = unsafe { make_device(std::ptr::without_provenance_mut(0x1000)) };
    assert_eq!(unknown.unwrap_err().errc(), Errc::Invalid);
}

fn native_queue_modes() {
    let queue = queue(0);
    assert_eq!(get_native(&queue), get_native(&queue));
    let immediate = crate::world::immediate();
    let native = get_native(&immediate);
    assert!(matches!(native, NativeQueue::ImmediateList(_)));
    assert_eq!(native.command_queue(), None, "versions 1 to 3 had no lists");
    let builder = Queue::builder().device(&devices()[0]);
    let batched = builder
        .submission(sycl::Submission::Batched)
        .build()
        .unwrap();
    assert!(get_native(&batched).command_queue().is_some());
}

fn make_queue_both() {
    let (context, device) = (context(), devices()[0].clone());
    let (list, queue) = (new_list(&context, &device, 0), new_queue(&context, &device));
    for native in [
        NativeQueue::ImmediateList(list),
        NativeQueue::CommandQueue(queue),
    ] {
        let input = input(native, &device, Ownership::Keep);
        // SAFETY: a live handle that only the queue uses.
        let queue = unsafe { make_queue(input, &context) }.unwrap();
        assert_eq!(get_native(&queue), native);
        let buffer = Buffer::from_vec(vec![13i32, 14, 72], 3).unwrap();
        for _ in 0..5 {
            submit_add_one(&queue, &buffer, &[]);
        }
        assert_eq!(buffer.into_vec().unwrap(), [18, 19, 77]);
    }
    call!(command_list.pfnDestroy(list));
    call!(command_queue.pfnDestroy(queue));
}

fn make_queue_keep() {
    let (context, device) = (context(), devices()[0].clone());
    let list = new_list(&context, &device, ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    let log = Log::start();
    let buffer = Buffer::from_vec(vec![0i32; 8], 8).unwrap();
    {
        let input = input(NativeQueue::ImmediateList(list), &device, Ownership::Keep);
        // SAFETY: as above.
        let queue = unsafe { make_queue(input, &context) }.unwrap();
        for _ in 0..10 {
            submit_add_one(&queue, &buffer, &[]);
        }
    }
    assert_eq!(log.count("zeCommandListDestroy"), 0);
    drop(log);
    call!(command_list.pfnDestroy(list));
    assert_eq!(buffer.into_vec().unwrap(), [10; 8]);
}

fn make_queue_properties() {
    let (context, device) = (context(), devices()[0].clone());
    let list = new_list(&context, &device, 0);
    let wanted = || input(NativeQueue::ImmediateList(list), &device, Ownership::Keep);
    let mut refused = wanted();
    refused.properties.compute_index = Some(0);
    // SAFETY: it is refused.
    let refused = unsafe { make_queue(refused, &context) };
    assert_eq!(refused.unwrap_err().errc(), Errc::Invalid);
    let mut wanted = wanted();
    wanted.properties.in_order = true;
    wanted.properties.enable_profiling = true;
    // SAFETY: a live handle that only the queue uses.
    let queue = unsafe { make_queue(wanted, &context) }.unwrap();
    assert!(queue.is_in_order());
    let buffer = Buffer::from_vec(vec![0i32; 8], 8).unwrap();
    submit_add_one(&queue, &buffer, &[]).profiling().unwrap();
    drop(queue);
    call!(command_list.pfnDestroy(list));
}

#[expect(deprecated, reason = "old input types are accepted")]
fn make_queue_v1() {
    let mut members = devices();
    members.reverse();
    let context = Context::new(&members).unwrap();
    let input = v1::QueueInput {
        native_handle: new_queue(&context, &members[0]),
        ownership: Ownership::Transfer,
    };
    // SAFETY: a live handle that only the queue uses.
    let queue = unsafe { make_queue(input, &context) }.unwrap();
    assert_eq!(queue.device(), members[0]);
    let buffer = Buffer::from_vec(vec![0i32; 8], 8).unwrap();
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    assert!(buffer.allocated_on(&members[0]));
}

#[expect(deprecated, reason = "old input types are accepted")]
fn make_queue_v3_transfer() {
    let (context, device) = (context(), devices()[0].clone());
    let log = Log::start();
    let buffer = Buffer::from_vec(vec![0i32; 8], 8).unwrap();
    let input = v3::QueueInput {
        native_handle: new_queue(&context, &device),
        device,
        ownership: Ownership::Transfer,
    };
    // SAFETY: a live handle that only the queue uses.
    let queue = unsafe { make_queue(input, &context) }.unwrap();
    let event = submit_add_one(&queue, &buffer, &[]);
    let clone = queue.clone();
    drop(queue);
    assert_eq!(log.count("zeCommandQueueDestroy"), 0);
    event.wait().unwrap();
    drop(clone);
    buffer.host_access(Read).unwrap();
    assert_eq!(log.count("zeCommandQueueDestroy"), 1);
}

fn make_event_keep() {
    let log = Log::start();
    let gate = Gate::new();
    assert_eq!(gate.event.status(), EventStatus::Submitted);
    assert_eq!(get_native(&gate.event), gate.native);
    gate.open();
    assert_eq!(gate.event.status(), EventStatus::Complete);
    gate.event.wait().unwrap();
    assert_eq!(gate.event.profiling().unwrap_err().errc(), Errc::Invalid);
    assert!(gate.event.wait_list().is_empty());
    assert_eq!(log.count("zeEventDestroy"), 0);
}

fn make_kernel_of_module() {
    let (context, device) = single();
    // SAFETY: the tests' kernels.
    let made =
        unsafe { KernelBundle::from_spirv(&context, std::slice::from_ref(&device), &words()) };
    let made = made.unwrap().build(c"").unwrap();
    let module = get_native(&made)[0];
    let desc = ze_kernel_desc_t {
        pKernelName: c"store".as_ptr(),
        ..Default::default()
    };
    let mut handle = std::ptr::null_mut();
    call!(kernel.pfnCreate(module, &raw const desc, &raw mut handle));
    let input = KernelBundleInput {
        native_handle: module,
        ownership: Ownership::Keep,
    };
    // SAFETY: a live module of the context.
    let bundle = unsafe { make_kernel_bundle(input, &context) }.unwrap();
    let kernel_input = |bundle: &KernelBundle<_>, ownership| KernelInput {
        kernel_bundle: bundle.clone(),
        native_handle: handle,
        ownership,
    };
    // SAFETY: a live kernel of the module.
    let kernel: Kernel =
        unsafe { make_kernel(kernel_input(&bundle, Ownership::Transfer), &context) }.unwrap();
    assert_eq!((kernel.name(), get_native(&kernel)), ("store", handle));
    let queue = Queue::builder()
        .context(&context)
        .device(&device)
        .build()
        .unwrap();
    let buffer: Buffer<'_, i32> = Buffer::new(4).unwrap();
    let submitted = queue.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite)?;
        cg.single_task(&kernel, (&a,))
    });
    submitted.unwrap();
    assert_eq!(buffer.into_vec().unwrap()[0], 34);
    if devices().len() > 1 {
        let several = crate::world::bundle();
        // SAFETY: it is refused.
        let refused =
            unsafe { make_kernel(kernel_input(several, Ownership::Keep), &self::context()) };
        assert_eq!(refused.unwrap_err().errc(), Errc::Runtime);
    }
}

fn native_kernel_props() {
    let mut properties = ze_kernel_properties_t::default();
    call!(kernel.pfnGetProperties(get_native(&kernel("add")), &raw mut properties));
    assert_eq!(properties.numKernelArgs, 3);
    let names = bundle().kernel_names().unwrap();
    assert!(names.iter().any(|name| name == "meet"));
    assert_eq!(
        bundle().kernel(c"nothing").unwrap_err().errc(),
        Errc::Invalid
    );
}

pub(crate) fn foreign() -> (Context, ze_context_handle_t) {
    let desc = ze_context_desc_t::default();
    let mut handle = std::ptr::null_mut();
    let driver = get_native(&Platform::all().unwrap()[0]);
    call!(context.pfnCreate(driver, &raw const desc, &raw mut handle));
    let input = ContextInput {
        native_handle: handle,
        device_list: devices(),
        ownership: Ownership::Keep,
    };
    // SAFETY: a live context of the driver.
    (unsafe { make_context(input) }.unwrap(), handle)
}

/// The tests' kernel in another context.
pub(crate) fn kernel_in(context: &Context, device: &Device) -> Kernel {
    // SAFETY: the tests' kernels.
    let made = unsafe { KernelBundle::from_spirv(context, std::slice::from_ref(device), &words()) };
    made.unwrap()
        .build(c"")
        .unwrap()
        .kernel(c"add_one")
        .unwrap()
}

fn make_context_device() {
    let log = Log::start();
    let (made, handle) = foreign();
    assert_eq!((made.devices(), get_native(&made)), (devices(), handle));
    let device = devices()[0].clone();
    let queue = Queue::builder()
        .context(&made)
        .device(&device)
        .build()
        .unwrap();
    let kernel = kernel_in(&made, &device);
    let buffer = Buffer::from_vec(vec![4i32; 8], 8).unwrap();
    let submitted = queue.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite)?;
        cg.parallel_for(&kernel, 8, (&a,))
    });
    submitted.unwrap();
    assert_eq!(buffer.into_vec().unwrap(), [5; 8]);
    drop((queue, made, kernel));
    assert_eq!(log.count("zeContextDestroy"), 0);
    let none = ContextInput {
        native_handle: handle,
        device_list: Vec::new(),
        ownership: Ownership::Keep,
    };
    // SAFETY: it is refused.
    let refused = unsafe { make_context(none) };
    assert_eq!(refused.unwrap_err().errc(), Errc::Invalid);
}

fn foreign_context_own_domain() {
    let device = devices()[0].clone();
    let (made, _) = foreign();
    let own = Queue::builder()
        .context(&made)
        .device(&device)
        .build()
        .unwrap();
    let kernel = kernel_in(&made, &device);
    let usual = queue(0);
    let log = Log::start();
    let buffer: Buffer<'_, i32> = Buffer::new(64).unwrap();
    submit_add_one(&usual, &buffer, &[]).wait().unwrap();
    let submitted = own.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite)?;
        cg.parallel_for(&kernel, 64, (&a,))
    });
    submitted.unwrap().wait().unwrap();
    let allocations = log.device_allocations().len() + log.host_allocations().len();
    assert_eq!(allocations, if is_discrete() { 3 } else { 2 });
    assert!(!log.copies().is_empty());
}

fn make_buffer_kinds() {
    let (context, device, queue) = single_queue();
    for kind in [
        usm::PointerType::Host,
        usm::PointerType::Shared,
        usm::PointerType::Device,
    ] {
        // SAFETY: given to the buffer, which frees it.
        let pointer = unsafe { usm::malloc(256, 64, kind, Some(&device), &context) }.unwrap();
        // SAFETY: the block lives until the wait.
        unsafe { queue.memset(pointer, 0, 256, &[]) }
            .unwrap()
            .wait()
            .unwrap();
        let log = Log::start();
        let input = BufferInput {
            native_handle: pointer,
            ownership: Ownership::Transfer,
        };
        // SAFETY: the buffer's alone from here on.
        let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
        assert_eq!(buffer.range().0, [64]);
        submit_add_one(&queue, &buffer, &[]).wait().unwrap();
        let on_owner = !(kind == usm::PointerType::Host && is_discrete());
        if on_owner {
            assert_eq!(
                log.device_allocations().len() + log.host_allocations().len(),
                0,
                "{kind:?}"
            );
            assert!(log.copies().is_empty(), "{kind:?}");
            assert_eq!(buffer.device_ptr(&device).unwrap().cast(), pointer);
        }
        assert_eq!(buffer.host_access(Read).unwrap()[63], 1);
    }
    // SAFETY: refused.
    unsafe {
        let inner = host_memory(&context, 256);
        let wrong = |native_handle| BufferInput {
            native_handle,
            ownership: Ownership::Keep,
        };
        for refused in [
            make_buffer_1d::<i32>(wrong(inner.wrapping_byte_add(8)), &context, None),
            make_buffer::<i32, 1>(wrong(inner), 65, &context, None),
            make_buffer_1d::<i32>(wrong(std::ptr::null_mut()), &context, None),
            make_buffer_1d::<i32>(
                wrong((&raw const refused_memory).cast_mut().cast()),
                &context,
                None,
            ),
        ] {
            assert_eq!(refused.unwrap_err().errc(), Errc::Invalid);
        }
        usm::free(inner, &context).unwrap();
    }
}

/// Memory that is not USM.
#[expect(non_upper_case_globals, reason = "it is only pointed to")]
static refused_memory: [u64; 8] = [0; 8];

fn make_buffer_two_contexts() {
    let (context, device) = single();
    let (made, _) = foreign();
    let queue = Queue::builder()
        .context(&context)
        .device(&device)
        .build()
        .unwrap();
    let other = Queue::builder()
        .context(&made)
        .device(&device)
        .build()
        .unwrap();
    let input = BufferInput {
        native_handle: host_memory(&context, 256),
        ownership: Ownership::Transfer,
    };
    // SAFETY: the buffer's alone from here on.
    let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
    let filled = queue.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite)?;
        cg.fill(&a, 97)
    });
    filled.unwrap();
    let kernel = kernel_in(&made, &device);
    let submitted = other.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite)?;
        cg.parallel_for(&kernel, 64, (&a,))
    });
    submitted.unwrap();
    assert_eq!(buffer.into_vec().unwrap(), [98; 64]);
}

fn make_buffer_ownership() {
    let (context, _) = single();
    for (ownership, frees) in [(Ownership::Keep, 0), (Ownership::Transfer, 1)] {
        let pointer = host_memory(&context, 256);
        let log = Log::start();
        let input = BufferInput {
            native_handle: pointer,
            ownership,
        };
        // SAFETY: the buffer's alone until its end.
        let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
        drop(buffer.clone());
        drop(buffer);
        assert_eq!(
            (log.frees_of(pointer.addr()), log.copies().len()),
            (frees, 0)
        );
        drop(log);
        if ownership == Ownership::Keep {
            call!(mem.pfnFree(get_native(&context), pointer));
        }
    }
}

fn native_mem_equals_input() {
    let (context, device, queue) = single_queue();
    // SAFETY: given to the buffer, which frees it.
    let pointer =
        unsafe { usm::malloc(256, 64, usm::PointerType::Device, Some(&device), &context) }.unwrap();
    let input = BufferInput {
        native_handle: pointer,
        ownership: Ownership::Transfer,
    };
    // SAFETY: the buffer's alone from here on.
    let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let expected = (get_native(&device).addr(), get_native(&context).addr());
    let task = queue.submit(|cg| {
        let a = cg.access_ranged(&buffer, ReadWrite, 8, 4)?;
        cg.host_task((a,), move |handle, (view,)| {
            assert_eq!(handle.native_device().addr(), expected.0);
            assert_eq!(handle.native_context().addr(), expected.1);
            let _ = sender.send(handle.native_mem(&view)?.addr());
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
    assert_eq!(receiver.recv().unwrap(), pointer.addr());
    // The memory of a buffer without a handle is allocated on its device.
    let (sender, receiver) = std::sync::mpsc::channel();
    let own = Buffer::from_slice(&[1i32; 16], 16).unwrap();
    let task = queue.submit(|cg| {
        let a = cg.access(&own, ReadWrite)?;
        cg.host_task((a,), move |handle, (view,)| {
            let memory = handle.native_mem(&view)?;
            let context = handle.context();
            let _ = sender.send((memory.addr(), usm::pointer_type(memory, &context)));
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
    let (address, kind) = receiver.recv().unwrap();
    let expected = match is_discrete() {
        true => usm::PointerType::Device,
        false => usm::PointerType::Host,
    };
    assert_eq!(kind, expected);
    assert_eq!(own.device_ptr(&device).unwrap().addr(), address);
}

fn available_event_gates() {
    let (context, _, queue) = single_queue();
    let gate = Gate::of(&context);
    let input = BufferInput {
        native_handle: host_memory(&context, 256),
        ownership: Ownership::Transfer,
    };
    // SAFETY: the buffer's alone from here on.
    let buffer = unsafe { make_buffer_1d::<i32>(input, &context, Some(&gate.event)) }.unwrap();
    let event = submit_add_one(&queue, &buffer, &[]);
    gate.holds_up(|| event.wait().unwrap());
}

fn keep_drop_blocks() {
    let (context, _, queue) = single_queue();
    let gate = Gate::of(&context);
    let pointer = host_memory(&context, 256);
    let input = BufferInput {
        native_handle: pointer,
        ownership: Ownership::Keep,
    };
    // SAFETY: the buffer's alone until its end.
    let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
    let event = submit_add_one(&queue, &buffer, std::slice::from_ref(&gate.event));
    let log = Log::start();
    gate.holds_up(move || drop(buffer));
    assert!(!is_running(&event));
    assert_eq!((log.frees_of(pointer.addr()), log.copies().len()), (0, 0));
    drop(log);
    call!(mem.pfnFree(get_native(&context), pointer));
}

fn transfer_drop_async() {
    let (context, _, queue) = single_queue();
    let gate = Gate::of(&context);
    let pointer = host_memory(&context, 256);
    let input = BufferInput {
        native_handle: pointer,
        ownership: Ownership::Transfer,
    };
    // SAFETY: the buffer's alone from here on.
    let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
    let event = submit_add_one(&queue, &buffer, std::slice::from_ref(&gate.event));
    let log = Log::start();
    drop(buffer);
    assert_eq!(log.frees_of(pointer.addr()), 0);
    gate.open();
    event.wait().unwrap();
    queue.wait().unwrap();
    assert_eq!(log.frees_of(pointer.addr()), 1);
}

fn depends_on_native() {
    let (context, device) = (context(), devices()[0].clone());
    let gate = Gate::new();
    let input = input(
        NativeQueue::CommandQueue(new_queue(&context, &device)),
        &device,
        Ownership::Transfer,
    );
    // SAFETY: a live handle that only the queue uses.
    let queue = unsafe { make_queue(input, &context) }.unwrap();
    let buffer = Buffer::from_vec(vec![1i32; 8], 8).unwrap();
    let event = submit_add_one(&queue, &buffer, std::slice::from_ref(&gate.event));
    assert!(is_running(&event));
    gate.open();
    event.wait().unwrap();
    assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
}

fn backend_version_empty() {
    for device in devices() {
        assert_eq!(device.info::<info::device::BackendVersion>().unwrap(), "");
    }
    assert_eq!(SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO, 5);
}

fn transferred_once() {
    let (context, device) = (context(), devices()[0].clone());
    let native = NativeQueue::ImmediateList(new_list(&context, &device, 0));
    // SAFETY: the second and third are refused.
    unsafe {
        let queue = make_queue(input(native, &device, Ownership::Transfer), &context).unwrap();
        let again = make_queue(input(native, &device, Ownership::Transfer), &context);
        assert_eq!(again.unwrap_err().errc(), Errc::Invalid);
        let own = get_native(&crate::world::queue(0));
        drop(queue);
        let _ = own;
        let usual = crate::world::queue(0);
        let refused = make_queue(
            input(get_native(&usual), &device, Ownership::Transfer),
            &context,
        );
        assert_eq!(refused.unwrap_err().errc(), Errc::Invalid);
        let context_input = ContextInput {
            native_handle: get_native(&context),
            device_list: devices(),
            ownership: Ownership::Transfer,
        };
        assert_eq!(
            make_context(context_input).unwrap_err().errc(),
            Errc::Invalid
        );
    }
}

fn native_event_of_any_state() {
    let (queue, gate) = (queue(0), Gate::new());
    let buffer = Buffer::from_vec(vec![1i32; 8], 8).unwrap();
    let running = submit_add_one(&queue, &buffer, std::slice::from_ref(&gate.event));
    let native = get_native(&running);
    assert!(!native.is_null());
    gate.open();
    running.wait().unwrap();
    for event in [
        running,
        Event::default(),
        submit_add_one(&queue, &buffer, &[]),
    ] {
        event.wait().unwrap();
        call!(event.pfnHostSynchronize(get_native(&event), u64::MAX));
    }
    let access = buffer.host_access(ReadWrite).unwrap();
    let pending = submit_add_one(&queue, &buffer, &[]);
    let native = get_native(&pending);
    drop(access);
    call!(event.pfnHostSynchronize(native, u64::MAX));
    assert_eq!(buffer.into_vec().unwrap(), [4; 8]);
}

fn usm_ops() {
    let queue = Queue::builder()
        .device(&devices()[0])
        .in_order()
        .build()
        .unwrap();
    let device = usm::Block::<[u32; 3], usm::DeviceKind>::device(&queue, 1000).unwrap();
    let mut host = usm::Block::<[u32; 3], usm::HostKind>::host(&queue, 1000).unwrap();
    let bytes = 12_000;
    // SAFETY: the blocks live until the wait.
    unsafe {
        host.as_mut_slice().fill([9; 3]);
        queue.fill(device.as_ptr(), [1, 2, 3], 1000, &[]).unwrap();
        queue.memset(device.as_ptr().cast(), 0xff, 12, &[]).unwrap();
        queue.prefetch(device.as_ptr().cast(), bytes, &[]).unwrap();
        queue
            .mem_advise(
                device.as_ptr().cast(),
                bytes,
                ZE_MEMORY_ADVICE_SET_READ_MOSTLY,
                &[],
            )
            .unwrap();
        queue
            .memcpy(host.as_ptr().cast(), device.as_ptr().cast(), bytes, &[])
            .unwrap();
        queue.wait().unwrap();
        assert_eq!(host.as_slice()[..2], [[u32::MAX; 3], [1, 2, 3]]);
        assert!(
            host.as_slice()[1..]
                .iter()
                .all(|element| *element == [1, 2, 3])
        );
        // Two rows of eight bytes out of rows of twelve.
        let target = usm::Pitched {
            pointer: host.as_ptr().cast(),
            pitch: 8,
        };
        let source = usm::Pitched {
            pointer: device.as_ptr().cast_const().cast(),
            pitch: 12,
        };
        queue
            .memcpy_2d(target, source, 8, 2, &[])
            .unwrap()
            .wait()
            .unwrap();
        assert_eq!(host.as_slice()[..2], [[u32::MAX, u32::MAX, 1], [2, 2, 3]]);
    }
    assert_eq!(
        usm::pointer_type(host.as_ptr().cast(), &queue.context()),
        usm::PointerType::Host
    );
    assert_eq!(
        usm::pointer_type((&raw const bytes).cast(), &queue.context()),
        usm::PointerType::Unknown
    );
    // SAFETY: refused.
    let inner = unsafe { usm::free(host.as_ptr().wrapping_add(1).cast(), &queue.context()) };
    assert_eq!(inner.unwrap_err().errc(), Errc::Invalid);
}

fn bundles() {
    let (context, device) = single();
    // SAFETY: refused.
    let wrong = unsafe {
        KernelBundle::from_spirv(&context, std::slice::from_ref(&device), &[1, 2, 3, 4, 5])
    };
    assert_eq!(wrong.unwrap_err().errc(), Errc::Build);
    // SAFETY: the tests' kernels.
    let made =
        unsafe { KernelBundle::from_spirv(&context, std::slice::from_ref(&device), &words()) }
            .unwrap();
    let built = made.build(c"").unwrap();
    let binary = built.native_binary(&device).unwrap();
    // SAFETY: as above.
    let again = unsafe { KernelBundle::from_native_binary(&context, &device, &binary) }.unwrap();
    assert_eq!(again.kernel(c"add").unwrap().argument_count(), 3);
}

fn default_selector() {
    assert_eq!(Queue::new().unwrap().device().kind(), DeviceType::Gpu);
    let chosen = Device::select(&sycl::DefaultSelector).unwrap();
    assert_eq!(chosen, Device::select(&sycl::GpuSelector).unwrap());
    let cpu = Device::select(&sycl::CpuSelector).unwrap();
    assert_eq!(cpu.kind(), DeviceType::Cpu);
    let filter: sycl::FilterSelector = "level_zero:cpu:0".parse().unwrap();
    assert_eq!(Device::select(&filter).unwrap(), cpu);
    assert_eq!(
        "gpu,,cpu"
            .parse::<sycl::FilterSelector>()
            .unwrap_err()
            .errc(),
        Errc::Runtime
    );
}

fn leaks() {
    let log = Log::start();
    {
        let (context, device, queue) = single_queue();
        let kernel = kernel_in(&context, &device);
        let buffer = Buffer::from_vec(vec![1i32; 64], 64).unwrap();
        for _ in 0..200 {
            let submitted = queue.submit(|cg| {
                let a = cg.access(&buffer, ReadWrite)?;
                cg.parallel_for(&kernel, 64, (&a,))
            });
            submitted.unwrap();
        }
        buffer.host_access(Read).unwrap();
        queue.wait().unwrap();
    }
    // Objects that were still in use are freed by the next wait.
    queue(0).wait().unwrap();
    for (create, destroy) in [
        ("zeModuleCreate", "zeModuleDestroy"),
        ("zeKernelCreate", "zeKernelDestroy"),
        ("zeMemAllocDevice", ""),
        ("zeEventPoolCreate", "zeEventPoolDestroy"),
        ("zeEventCreate", "zeEventDestroy"),
    ] {
        let made = log.count(create);
        let gone = match destroy {
            "" => log.frees() - log.count("zeMemAllocHost"),
            destroy => log.count(destroy),
        };
        // The other queue of this test has its own lane.
        assert!(gone >= made, "{create}: {made}, gone {gone}");
    }
}
