//! Unusual inputs of `make_*`: modules that the program linked, buffers of several dimensions, memory without a device,
//! handles that the program keeps.

use std::any::Any;
use std::hash::BuildHasher;

use level_zero::sys::*;
use sycl::interop::*;
use sycl::{Buffer, Context, Device, Errc, Id, Partition, Queue, Read, ReadWrite, usm};

use crate::groups::{single, single_queue, submit_add_one};
use crate::letting_go::{Raw, kept_context};
use crate::native::{host_memory, input, new_list, new_queue};
use crate::world::{self, Gate, Log, argument, call, devices, is_discrete, queue};
use crate::wrong_handles::{
    bundle_in, bundle_input, context_input, event_input, kernel_input, memory_input, new_kernel,
    new_module, refused,
};
use crate::{Test, Where, bundles};

pub(crate) const TESTS: &[Test] = &[
    (
        "parts_are_devices_like_others",
        Where::Tiles,
        parts_are_devices_like_others,
    ),
    (
        "a_queue_s_handle_stays_the_same",
        Where::Everywhere,
        a_queues_handle_stays_the_same,
    ),
    (
        "native_memory_is_up_to_date",
        Where::Everywhere,
        native_memory_is_up_to_date,
    ),
    (
        "a_context_is_not_created_again",
        Where::Everywhere,
        a_context_is_not_created_again,
    ),
    (
        "commands_go_to_the_handle",
        Where::Everywhere,
        commands_go_to_the_handle,
    ),
    (
        "order_of_in_order_queues_and_lists",
        Where::Everywhere,
        order_is_kept,
    ),
    (
        "native_timestamps_are_profiling",
        Where::Everywhere,
        native_timestamps_are_profiling,
    ),
    (
        "modules_that_the_program_linked",
        Where::Everywhere,
        modules_that_the_program_linked,
    ),
    (
        "memory_of_another_device_is_rejected",
        Where::Everywhere,
        memory_of_another_device,
    ),
    (
        "buffers_of_any_shape_over_memory",
        Where::Everywhere,
        buffers_of_any_shape,
    ),
    (
        "kept_handles_may_be_the_runtime_s",
        Where::Everywhere,
        kept_handles_may_be_the_runtimes,
    ),
    (
        "memory_of_no_device_is_the_host_s",
        Where::Everywhere,
        memory_of_no_device,
    ),
    (
        "the_program_keeps_handles_that_fail",
        Where::Everywhere,
        the_program_keeps_handles_that_fail,
    ),
];

fn parts_are_devices_like_others() {
    let hashes = std::hash::RandomState::new();
    let mut open = devices();
    let (mut seen, context) = (0, world::context());
    while let Some(device) = open.pop() {
        // SAFETY: a device's handle.
        let same = unsafe { make_device(get_native(&device)) }.unwrap();
        assert_eq!(same, device);
        assert_eq!(hashes.hash_one(&same), hashes.hash_one(&device));
        assert_eq!(same.parent(), device.parent());
        assert!(device.parent().is_none_or(|parent| parent != same));
        seen += 1;
        let parts = device.create_sub_devices(&Partition::AffinityNextPartitionable);
        open.extend(parts.unwrap_or_default());
        // A sub-device of a member is a device of the context.
        let list = new_list(&context, &device, 0);
        let native = NativeQueue::ImmediateList(list);
        // SAFETY: a live list of the device.
        let made = unsafe { make_queue(input(native, &device, Ownership::Transfer), &context) };
        let made = made.unwrap();
        assert_eq!(made.device(), device);
        let buffer = Buffer::from_slice(&[1i32; 8], 8).unwrap();
        let filled = made.submit(|cg| {
            let a = cg.access_ranged(&buffer, ReadWrite, 4, 4)?;
            cg.fill(&a, 2)
        });
        filled.unwrap();
        assert_eq!(buffer.into_vec().unwrap(), [1, 1, 1, 1, 2, 2, 2, 2]);
    }
    assert_eq!(seen, crate::shim::PATHS.len());
}

/// Regardless of busy lists and of the calling thread.
fn a_queues_handle_stays_the_same() {
    let (queue, gate) = (queue(0), Gate::new());
    let native = get_native(&queue);
    let buffers = [0; 6].map(|_| Buffer::from_slice(&[1i32; 8], 8).unwrap());
    for buffer in &buffers {
        submit_add_one(&queue, buffer, std::slice::from_ref(&gate.event));
        assert_eq!(get_native(&queue), native);
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(|| match (get_native(&queue), get_native(&self::queue(0))) {
            (NativeQueue::ImmediateList(one), NativeQueue::ImmediateList(other)) => {
                [one.addr(), other.addr()]
            }
            (NativeQueue::CommandQueue(one), NativeQueue::CommandQueue(other)) => {
                [one.addr(), other.addr()]
            }
            _ => unreachable!("both are as the environment says"),
        });
        let address = match native {
            NativeQueue::ImmediateList(list) => list.addr(),
            NativeQueue::CommandQueue(queue) => queue.addr(),
        };
        let [one, other] = other.join().unwrap();
        assert_eq!(one, address);
        assert_ne!(other, address, "each queue has its own");
    });
    gate.open();
    queue.wait().unwrap();
    for buffer in buffers {
        assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
    }
}

/// Appends a copy to a separate list, and waits for it.
pub(crate) fn copy_natively(
    context: &Context,
    device: &Device,
    to: *mut i32,
    from: *const i32,
    bytes: usize,
) {
    let list = new_list(context, device, 0);
    let (none, waits) = (std::ptr::null_mut(), std::ptr::null_mut());
    call!(command_list.pfnAppendMemoryCopy(list, to.cast(), from.cast(), bytes, none, 0, waits));
    call!(command_list.pfnHostSynchronize(list, u64::MAX));
    call!(command_list.pfnDestroy(list));
}

/// A host task gets the memory on its queue's device, with everything written before on any device. The program sees
/// everything that the task writes natively.
fn native_memory_is_up_to_date() {
    let (context, device) = (world::context(), devices()[0].clone());
    let queue = queue(0);
    let writer = self::queue(devices().len().min(2) - 1);
    let buffer = Buffer::from_slice(&[1i32; 8], 8).unwrap();
    submit_add_one(&writer, &buffer, &[]);
    let (sender, receiver) = std::sync::mpsc::channel();
    let (inner, on) = (context.clone(), device.clone());
    let task = queue.submit(|cg| {
        let a = cg.access(&buffer, Read)?;
        cg.host_task((a,), move |handle, (view,)| {
            let memory = handle.native_mem(&view)?.cast::<i32>();
            let mut seen = [0i32; 8];
            copy_natively(&inner, &on, seen.as_mut_ptr(), memory, 32);
            let _ = sender.send(seen);
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
    assert_eq!(receiver.recv().unwrap(), [2; 8]);
    let task = queue.submit(|cg| {
        let a = cg.access_ranged(&buffer, ReadWrite, 4, 2)?;
        cg.host_task((a,), move |handle, (view,)| {
            let memory = handle.native_mem(&view)?.cast::<i32>();
            copy_natively(
                &context,
                &device,
                memory.wrapping_add(2),
                [9i32; 4].as_ptr(),
                16,
            );
            Ok(())
        })
    });
    task.unwrap();
    submit_add_one(&writer, &buffer, &[]);
    assert_eq!(
        *buffer.host_access(Read).unwrap(),
        [3, 3, 10, 10, 10, 10, 3, 3]
    );
}

/// The program keeps a rejected handle, and may transfer it later.
fn a_context_is_not_created_again() {
    let device = devices()[0].clone();
    let driver = get_native(&device.platform());
    let desc = ze_context_desc_t::default();
    let mut raw = std::ptr::null_mut();
    call!(context.pfnCreate(driver, &raw const desc, &raw mut raw));
    let log = Log::start();
    // SAFETY: a live context; the first call is refused.
    unsafe {
        let none = ContextInput {
            device_list: Vec::new(),
            ..context_input(raw, Ownership::Transfer)
        };
        refused("a context of no devices", make_context(none));
        let made = make_context(context_input(raw, Ownership::Transfer)).unwrap();
        let queue = Queue::builder().context(&made).device(&device);
        queue
            .build()
            .unwrap()
            .submit_barrier(&[])
            .unwrap()
            .wait()
            .unwrap();
    }
    queue(0).wait().unwrap();
    assert_eq!(log.count("zeContextCreate"), 0);
    assert_eq!(
        log.places("zeContextDestroy", "hContext", raw.addr()).len(),
        1
    );
}

/// A list gets every command, and is the only one; a command queue executes each submission once.
fn commands_go_to_the_handle() {
    let (context, device) = single();
    let memory = host_memory(&context, 64);
    let submit = |queue: &Queue| {
        // SAFETY: the memory lives to the test's end.
        let set = unsafe { queue.memset(memory, 1, 64, &[]) };
        set.unwrap()
    };
    let list = new_list(&context, &device, 0);
    let log = Log::start();
    {
        let native = NativeQueue::ImmediateList(list);
        // SAFETY: a live handle that only the queue uses.
        let queue =
            unsafe { make_queue(input(native, &device, Ownership::Transfer), &context) }.unwrap();
        let gate = Gate::of(&context);
        for _ in 0..6 {
            queue
                .submit_barrier(std::slice::from_ref(&gate.event))
                .unwrap();
            submit(&queue);
        }
        gate.open();
        queue.wait().unwrap();
    }
    let all = log.calls("zeCommandListAppendMemoryFill");
    assert_eq!(all.len(), 6);
    assert!(
        all.iter()
            .all(|call| argument(call, "hCommandList") == list.addr() as u64)
    );
    assert_eq!(
        log.count("zeCommandListCreateImmediate") + log.count("zeCommandListCreate"),
        0
    );
    drop(log);
    let raw = new_queue(&context, &device);
    let log = Log::start();
    let native = NativeQueue::CommandQueue(raw);
    // SAFETY: as above.
    let made = unsafe { make_queue(input(native, &device, Ownership::Transfer), &context) };
    let made = made.unwrap();
    for number in 1..=5 {
        submit(&made).wait().unwrap();
        let executed = log.calls("zeCommandQueueExecuteCommandLists");
        assert_eq!(
            executed.len(),
            number,
            "one for a submission that is waited for"
        );
        let of_it = |call: &_| argument(call, "hCommandQueue") == raw.addr() as u64;
        assert!(executed.iter().all(of_it));
    }
    assert_eq!(log.count("zeCommandListCreateImmediate"), 0);
    assert!(log.count("zeCommandListCreate") > 0 && log.count("zeCommandListClose") >= 5);
    drop((made, log));
    call!(mem.pfnFree(get_native(&context), memory));
}

/// Independent commands are ordered if the queue or its list is in-order; on an out-of-order list each command waits
/// for the previous one.
fn order_is_kept() {
    let (context, device) = single();
    for (in_order, flags) in [
        (true, 0),
        (true, ZE_COMMAND_QUEUE_FLAG_IN_ORDER),
        (false, ZE_COMMAND_QUEUE_FLAG_IN_ORDER),
    ] {
        let list = new_list(&context, &device, flags);
        let mut input = input(
            NativeQueue::ImmediateList(list),
            &device,
            Ownership::Transfer,
        );
        input.properties.in_order = in_order;
        // SAFETY: a live list that only the queue uses.
        let queue = unsafe { make_queue(input, &context) }.unwrap();
        let gate = Gate::of(&context);
        let log = Log::start();
        let first = queue
            .submit_barrier(std::slice::from_ref(&gate.event))
            .unwrap();
        let memory = usm::Block::<i32, usm::HostKind>::host(&queue, 8).unwrap();
        // SAFETY: the block lives until the wait.
        let second = unsafe { queue.memset(memory.as_ptr().cast(), 1, 32, &[]) }.unwrap();
        let waits = argument(
            &log.calls("zeCommandListAppendMemoryFill")[0],
            "numWaitEvents",
        );
        if flags == 0 {
            assert_eq!(waits, 1, "the list is out-of-order");
        }
        gate.holds_up(|| {
            second.wait().unwrap();
            assert!(!world::is_running(&first), "{in_order} {flags}");
        });
    }
}

/// A command of the program that signals an event with timestamps: when it ran, by its device's clock.
fn native_timestamps_are_profiling() {
    let (context, device) = single();
    let queue = Queue::builder().context(&context).device(&device);
    let queue = queue.enable_profiling().build().unwrap();
    let before = queue.submit_barrier(&[]).unwrap().profiling().unwrap();
    let list = new_list(&context, &device, 0);
    let module = new_module(&context, &device);
    let raw_kernel = new_kernel(module);
    let memory = host_memory(&context, 64);
    call!(kernel.pfnSetGroupSize(raw_kernel, 1, 1, 1));
    let argument = (&raw const memory).cast();
    call!(kernel.pfnSetArgumentValue(raw_kernel, 0, size_of::<usize>(), argument));
    for flag in [
        ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
        ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP,
    ] {
        let raw = Raw::with_flags(&context, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flag);
        let event = raw.as_sycl(&context, Ownership::Keep);
        let groups = ze_group_count_t {
            groupCountX: 16,
            groupCountY: 1,
            groupCountZ: 1,
        };
        let none = std::ptr::null_mut();
        let groups = &raw const groups;
        call!(command_list.pfnAppendLaunchKernel(list, raw_kernel, groups, raw.event, 0, none));
        let times = event.profiling().unwrap();
        assert_eq!(
            times.submit_ns, times.start_ns,
            "the time of submission is not known"
        );
        assert!(
            times.start_ns <= times.end_ns && times.end_ns > 0,
            "{times:?}"
        );
        assert!(
            before.end_ns <= times.start_ns,
            "{before:?}, then {times:?}"
        );
        let after = queue.submit_barrier(&[]).unwrap().profiling().unwrap();
        assert!(times.end_ns <= after.start_ns, "{times:?}, then {after:?}");
        drop(event);
        raw.destroy();
    }
    call!(command_list.pfnHostSynchronize(list, u64::MAX));
    call!(command_list.pfnDestroy(list));
    call!(kernel.pfnDestroy(raw_kernel));
    call!(module.pfnDestroy(module));
    call!(mem.pfnFree(get_native(&context), memory));
}

/// Halves that the program linked itself are a bundle; its kernels belong to it alone.
fn modules_that_the_program_linked() {
    let (context, device, queue) = single_queue();
    let half = |bytes: &[u8]| {
        let desc = ze_module_desc_t {
            format: ZE_MODULE_FORMAT_IL_SPIRV,
            inputSize: bytes.len(),
            pInputModule: bytes.as_ptr(),
            ..Default::default()
        };
        let (mut module, no_log) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (context, device) = (get_native(&context), get_native(&device));
        call!(module.pfnCreate(context, device, &raw const desc, &raw mut module, no_log));
        module
    };
    let mut halves = [half(bundles::KERNEL), half(bundles::FUNCTION)];
    call!(module.pfnDynamicLink(2, halves.as_mut_ptr(), std::ptr::null_mut()));
    let desc = ze_kernel_desc_t {
        pKernelName: c"doubled".as_ptr(),
        ..Default::default()
    };
    let mut doubled = std::ptr::null_mut();
    call!(kernel.pfnCreate(halves[0], &raw const desc, &raw mut doubled));
    let other = bundle_in(&context);
    let log = Log::start();
    // SAFETY: live handles of the context; the first kernel is refused.
    unsafe {
        let linked = make_kernel_bundle(bundle_input(halves[0], Ownership::Transfer), &context);
        let linked = linked.unwrap();
        let of = |bundle| make_kernel(kernel_input(bundle, doubled, Ownership::Transfer), &context);
        refused("a kernel of another module", of(&other));
        let made = of(&linked).unwrap();
        assert_eq!((made.name(), get_native(&made)), ("doubled", doubled));
        bundles::doubles(&queue, &made);
    }
    queue.wait().unwrap();
    for (function, parameter, handle) in [
        ("zeKernelDestroy", "hKernel", doubled.addr()),
        ("zeModuleDestroy", "hModule", halves[0].addr()),
    ] {
        assert_eq!(
            log.places(function, parameter, handle).len(),
            1,
            "{function}"
        );
    }
    drop(log);
    call!(module.pfnDestroy(halves[1]));
}

/// Even if the context could use it otherwise: the contract requires the context's one device.
fn memory_of_another_device() {
    let Some(other) = devices().get(1).cloned() else {
        return;
    };
    let (context, raw) = kept_context(&devices()[0]);
    let desc = ze_device_mem_alloc_desc_t::default();
    let (mut memory, handle) = (std::ptr::null_mut(), get_native(&other));
    call!(mem.pfnAllocDevice(raw, &raw const desc, 256, 64, handle, &raw mut memory));
    for ownership in [Ownership::Transfer, Ownership::Keep] {
        // SAFETY: live memory of the context, which is refused.
        let made =
            unsafe { make_buffer_1d::<i32>(memory_input(memory, ownership), &context, None) };
        let error = made.unwrap_err();
        assert_eq!(error.errc(), Errc::Invalid);
        assert!(error.to_string().contains("another device"), "{error}");
    }
    call!(mem.pfnFree(raw, memory));
    drop(context);
    call!(context.pfnDestroy(raw));
}

/// A range of the program's choice, if the memory is large enough.
fn buffers_of_any_shape() {
    let (context, _, queue) = single_queue();
    let memory = host_memory(&context, 256);
    let keep = || memory_input(memory, Ownership::Keep);
    // SAFETY: the memory is one buffer's at a time.
    unsafe {
        queue
            .fill(memory.cast::<i32>(), 0, 64, &[])
            .unwrap()
            .wait()
            .unwrap();
        let line = make_buffer::<i32, 1>(keep(), 5, &context, None).unwrap();
        submit_add_one(&queue, &line, &[]);
        assert_eq!(line.into_vec().unwrap(), [1; 5]);
        let plane = make_buffer::<i32, 2>(keep(), [3, 4], &context, None).unwrap();
        let set = kernel_of(&context);
        let submitted = queue.submit(|cg| {
            let a = cg.access(&plane, ReadWrite)?;
            cg.parallel_for(&set, 12, (&a,))
        });
        submitted.unwrap();
        let seen = plane.host_access(Read).unwrap();
        assert_eq!(
            (seen[Id([1, 0])], seen[Id([1, 1])], seen[Id([2, 3])]),
            (2, 1, 1)
        );
        drop(seen);
        drop(plane);
        let cube = make_buffer::<i32, 3>(keep(), [2, 2, 3], &context, None).unwrap();
        let seen = cube.host_access(Read).unwrap();
        assert_eq!(
            (
                seen[Id([0, 1, 1])],
                seen[Id([0, 1, 2])],
                seen[Id([1, 1, 2])]
            ),
            (2, 1, 1)
        );
        drop(seen);
        drop(cube);
        for refused_range in [[4, 17], [65, 1], [usize::MAX, 2]] {
            let made = make_buffer::<i32, 2>(keep(), refused_range, &context, None);
            refused("more than there is", made);
        }
    }
    let mut seen = [0i32; 16];
    copy_natively(
        &context,
        &devices()[0],
        seen.as_mut_ptr(),
        memory.cast(),
        64,
    );
    assert_eq!(
        seen[..13],
        [2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 0],
        "the rest is unchanged"
    );
    call!(mem.pfnFree(get_native(&context), memory));
}

/// Adds one, in that context.
fn kernel_of(context: &Context) -> sycl::Kernel {
    bundle_in(context).kernel(c"add_one").unwrap()
}

/// A kept handle of the runtime may become another object; it is destroyed with the first.
fn kept_handles_may_be_the_runtimes() {
    let (context, device, queue) = single_queue();
    let bundle = bundle_in(&context);
    let add_one = bundle.kernel(c"add_one").unwrap();
    let buffer = Buffer::from_slice(&[1i32; 8], 8).unwrap();
    let event = submit_add_one(&queue, &buffer, &[]);
    let natives = [queue.clone(), {
        let batched = Queue::builder().context(&context).device(&device);
        batched
            .submission(sycl::Submission::Batched)
            .build()
            .unwrap()
    }];
    let log = Log::start();
    let keep = Ownership::Keep;
    // SAFETY: handles of objects that outlive what is made of them, which are not used meanwhile.
    unsafe {
        let same = make_context(context_input(get_native(&context), keep)).unwrap();
        assert_eq!(get_native(&same), get_native(&context));
        let again = make_event(event_input(get_native(&event), keep), &context).unwrap();
        again.wait().unwrap();
        for queue in &natives {
            let made = make_queue(input(get_native(queue), &device, keep), &context).unwrap();
            let submitted = made.submit(|cg| {
                let a = cg.access(&buffer, ReadWrite)?;
                cg.parallel_for(&add_one, 8, (&a,))
            });
            submitted.unwrap().wait().unwrap();
            assert_eq!(get_native(&made), get_native(queue));
        }
        let module = make_kernel_bundle(bundle_input(get_native(&bundle)[0], keep), &context);
        let input = kernel_input(&module.unwrap(), get_native(&add_one), keep);
        let made = make_kernel(input, &context).unwrap();
        let submitted = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&made, 8, (&a,))
        });
        submitted.unwrap().wait().unwrap();
    }
    self::queue(0).wait().unwrap();
    for (function, parameter, handle) in [
        ("zeContextDestroy", "hContext", get_native(&context).addr()),
        ("zeKernelDestroy", "hKernel", get_native(&add_one).addr()),
        ("zeModuleDestroy", "hModule", get_native(&bundle)[0].addr()),
        ("zeEventDestroy", "hEvent", get_native(&event).addr()),
    ] {
        assert!(
            log.places(function, parameter, handle).is_empty(),
            "{function}"
        );
    }
    // All of them still work.
    for queue in &natives {
        let submitted = queue.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&event));
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&add_one, 8, (&a,))
        });
        submitted.unwrap().wait().unwrap();
    }
    assert_eq!(buffer.into_vec().unwrap(), [7; 8]);
}

/// Shared USM that was allocated without a device: the host uses it without a copy, devices as any host memory.
fn memory_of_no_device() {
    let (context, _, queue) = single_queue();
    // SAFETY: given to the buffer, which frees it.
    let memory = unsafe { usm::malloc(256, 64, usm::PointerType::Shared, None, &context) }.unwrap();
    // SAFETY: shared memory of 64 elements, which nothing else uses.
    unsafe { memory.cast::<[i32; 64]>().write([4; 64]) };
    let log = Log::start();
    let input = memory_input(memory, Ownership::Transfer);
    // SAFETY: the buffer's alone from here on.
    let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
    {
        let seen = buffer.host_access(Read).unwrap();
        assert_eq!((seen[63], seen.as_ptr().addr()), (4, memory.addr()));
    }
    assert!(log.copies().is_empty() && log.host_allocations().is_empty());
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    let to_the_device: &[u64] = if is_discrete() { &[256] } else { &[] };
    assert_eq!(log.copies(), to_the_device, "once");
    assert_eq!(buffer.host_access(Read).unwrap()[63], 6);
    drop(buffer);
    queue.wait().unwrap();
    assert_eq!(log.frees_of(memory.addr()), 1);
}

/// Each call of each `make_*` fails once: the program then still owns the handle and can transfer it later. It is
/// destroyed once in any case.
fn the_program_keeps_handles_that_fail() {
    let ((context, device), usual) = (single(), queue(0));
    let bundle = std::cell::RefCell::new(None);
    type Made = sycl::Result<Box<dyn Any>>;
    struct Handle<'a> {
        end: (&'static str, &'static str, usize),
        make: Box<dyn Fn() -> Made + 'a>,
        /// The handles that the program has to destroy after the transferred one.
        rest: Box<dyn FnOnce() + 'a>,
    }
    fn boxed<T: 'static>(made: sycl::Result<T>) -> Made {
        made.map(|made| Box::new(made) as Box<dyn Any>)
    }
    let transfer = Ownership::Transfer;
    let none = || Box::new(|| ());
    let fresh = |kind: &str| -> Handle<'_> {
        match kind {
            "context" => {
                let desc = ze_context_desc_t::default();
                let mut raw = std::ptr::null_mut();
                let driver = get_native(&device.platform());
                call!(context.pfnCreate(driver, &raw const desc, &raw mut raw));
                Handle {
                    end: ("zeContextDestroy", "hContext", raw.addr()),
                    make: Box::new(move || {
                        // SAFETY: alive, and not used otherwise.
                        boxed(unsafe { make_context(context_input(raw, transfer)) })
                    }),
                    rest: none(),
                }
            }
            "list" | "queue" => {
                let (native, end) = match kind {
                    "list" => {
                        let list = new_list(&context, &device, 0);
                        let end = ("zeCommandListDestroy", "hCommandList", list.addr());
                        (NativeQueue::ImmediateList(list), end)
                    }
                    _ => {
                        let queue = new_queue(&context, &device);
                        let end = ("zeCommandQueueDestroy", "hCommandQueue", queue.addr());
                        (NativeQueue::CommandQueue(queue), end)
                    }
                };
                let (context, device) = (&context, &device);
                Handle {
                    end,
                    make: Box::new(move || {
                        // SAFETY: alive, and not used otherwise.
                        boxed(unsafe { make_queue(input(native, device, transfer), context) })
                    }),
                    rest: none(),
                }
            }
            "event" => {
                let raw = Raw::new(&context);
                raw.signal();
                let (event, pool, context) = (raw.event, raw.pool, &context);
                Handle {
                    end: ("zeEventDestroy", "hEvent", event.addr()),
                    make: Box::new(move || {
                        // SAFETY: alive, and not used otherwise.
                        boxed(unsafe { make_event(event_input(event, transfer), context) })
                    }),
                    rest: Box::new(move || call!(event_pool.pfnDestroy(pool))),
                }
            }
            "module" => {
                let (module, context) = (new_module(&context, &device), &context);
                Handle {
                    end: ("zeModuleDestroy", "hModule", module.addr()),
                    make: Box::new(move || {
                        // SAFETY: alive, and not used otherwise.
                        boxed(unsafe {
                            make_kernel_bundle(bundle_input(module, transfer), context)
                        })
                    }),
                    rest: none(),
                }
            }
            "kernel" => {
                let of = bundle
                    .borrow_mut()
                    .get_or_insert_with(|| bundle_in(&context))
                    .clone();
                let (raw, context) = (new_kernel(get_native(&of)[0]), &context);
                Handle {
                    end: ("zeKernelDestroy", "hKernel", raw.addr()),
                    make: Box::new(move || {
                        // SAFETY: alive, and not used otherwise.
                        boxed(unsafe { make_kernel(kernel_input(&of, raw, transfer), context) })
                    }),
                    rest: none(),
                }
            }
            _ => {
                let (memory, context) = (host_memory(&context, 64), &context);
                Handle {
                    end: ("zeMemFree", "ptr", memory.addr()),
                    make: Box::new(move || {
                        let input = memory_input(memory, transfer);
                        // SAFETY: alive, and not used otherwise.
                        boxed(unsafe { make_buffer_1d::<i32>(input, context, None) })
                    }),
                    rest: none(),
                }
            }
        }
    };
    for kind in [
        "context", "list", "queue", "event", "module", "kernel", "memory",
    ] {
        for call in 1.. {
            let handle = fresh(kind);
            let (function, parameter, raw) = handle.end;
            let log = Log::with(&format!("fail ze* OUT_OF_HOST_MEMORY at {call}"));
            let made = (handle.make)();
            let reached = log.0.calls().iter().any(|call| call.injected);
            // Later calls succeed.
            let ended = log.places(function, parameter, raw).len();
            drop(log);
            let log = Log::start();
            match made {
                Ok(made) => drop(made),
                Err(error) => {
                    assert!(reached, "{kind}: {error}");
                    assert_eq!(ended, 0, "{kind}, call {call}");
                    drop((handle.make)().unwrap());
                }
            }
            usual.wait().unwrap();
            usual.wait().unwrap();
            assert_eq!(
                log.places(function, parameter, raw).len(),
                1,
                "{kind}, call {call}"
            );
            drop(log);
            drop(handle.make);
            (handle.rest)();
            if !reached {
                break;
            }
        }
    }
}
