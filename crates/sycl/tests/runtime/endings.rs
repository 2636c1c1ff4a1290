//! When handles that were transferred to the runtime are destroyed: each once, after the work that uses it, and objects
//! of a context before the context, whatever the program drops first.

use level_zero::sys::*;
use sycl::interop::*;
use sycl::{
    Buffer, Context, Device, Event, EventStatus, ExecutableGraph, Graph, ImageFormat, Platform,
    Queue, ReadWrite, Submission, UnsampledImage, Write, usm,
};

use crate::groups::{Random, single, submit_add_one};
use crate::letting_go::Raw;
use crate::native::{host_memory, input, new_list, new_queue};
use crate::world::{Gate, Log, call, devices, queue};
use crate::wrong_handles::{
    bundle_input, context_input, event_input, kernel_input, memory_input, new_kernel, new_module,
};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_transferred_queue_is_destroyed_after_its_work",
        Where::Everywhere,
        a_transferred_queue_is_destroyed_after_its_work,
    ),
    (
        "lists_of_a_kept_queue_are_destroyed_with_it",
        Where::Everywhere,
        a_kept_queues_lists_end_with_it,
    ),
    (
        "a_transferred_event_is_destroyed_after_its_followers",
        Where::Everywhere,
        a_transferred_event_is_destroyed_after_its_followers,
    ),
    (
        "a_transferred_kernel_is_destroyed_after_its_launch",
        Where::Everywhere,
        a_transferred_kernel_is_destroyed_after_its_launch,
    ),
    (
        "a_transferred_context_is_destroyed_last",
        Where::Everywhere,
        a_transferred_context_is_destroyed_last,
    ),
    (
        "objects_can_be_dropped_in_any_order",
        Where::Everywhere,
        objects_can_be_dropped_in_any_order,
    ),
    (
        "a_skipped_task_drops_its_captures",
        Where::Everywhere,
        a_skipped_task_drops_its_captures,
    ),
];

/// All core functions of Level Zero that destroy or free something.
const ENDS: [&str; 9] = [
    "zeMemFree",
    "zeImageDestroy",
    "zeCommandListDestroy",
    "zeCommandQueueDestroy",
    "zeEventDestroy",
    "zeEventPoolDestroy",
    "zeKernelDestroy",
    "zeModuleDestroy",
    "zeContextDestroy",
];

/// The positions of a call that is not in the log.
const NEVER: [usize; 0] = [];

/// Frees everything whose work has ended, and then everything that this had kept.
fn sweep(usual: &Queue) {
    for _ in 0..4 {
        usual.wait().unwrap();
    }
}

/// The function that destroys the handle, the parameter that takes it, and the handle.
fn end_of(native: NativeQueue) -> (&'static str, &'static str, usize) {
    match native {
        NativeQueue::ImmediateList(list) => ("zeCommandListDestroy", "hCommandList", list.addr()),
        NativeQueue::CommandQueue(queue) => {
            ("zeCommandQueueDestroy", "hCommandQueue", queue.addr())
        }
    }
}

/// Not while its command waits for an event; the command's own event outlives it.
fn a_transferred_queue_is_destroyed_after_its_work() {
    let ((context, device), usual) = (single(), queue(0));
    for native in [
        NativeQueue::ImmediateList(new_list(&context, &device, 0)),
        NativeQueue::CommandQueue(new_queue(&context, &device)),
    ] {
        let gate = Gate::of(&context);
        let (function, parameter, handle) = end_of(native);
        let buffer = Buffer::from_slice(&[1i32; 8], 8).unwrap();
        let log = Log::start();
        // SAFETY: a live handle that only the queue uses.
        let made =
            unsafe { make_queue(input(native, &device, Ownership::Transfer), &context) }.unwrap();
        let event = submit_add_one(&made, &buffer, std::slice::from_ref(&gate.event));
        drop(made);
        sweep(&usual);
        assert_eq!(log.places(function, parameter, handle), NEVER, "{native:?}");
        gate.open();
        event.wait().unwrap();
        sweep(&usual);
        let opened = log.places("zeEventHostSignal", "hEvent", gate.native.addr());
        let ended = log.places(function, parameter, handle);
        assert_eq!((opened.len(), ended.len()), (1, 1), "{native:?}");
        assert!(opened[0] < ended[0], "{native:?}");
        // Its events do not belong to the queue.
        assert_eq!(event.status(), EventStatus::Complete);
        event.wait().unwrap();
        call!(event.pfnQueryStatus(get_native(&event)));
        assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
    }
}

/// The lists that the runtime created on the program's queue are destroyed; the queue itself is not.
fn a_kept_queues_lists_end_with_it() {
    let (context, device) = single();
    let raw = new_queue(&context, &device);
    let buffer = Buffer::from_slice(&[1i32; 8], 8).unwrap();
    submit_add_one(&queue(0), &buffer, &[]).wait().unwrap();
    let log = Log::start();
    let input = input(NativeQueue::CommandQueue(raw), &device, Ownership::Keep);
    // SAFETY: a live queue that only this one uses.
    let queue = unsafe { make_queue(input, &context) }.unwrap();
    for _ in 0..5 {
        submit_add_one(&queue, &buffer, &[]);
    }
    drop(queue);
    let executed = log.places(
        "zeCommandQueueExecuteCommandLists",
        "hCommandQueue",
        raw.addr(),
    );
    assert!(!executed.is_empty());
    let made = log.calls("zeCommandListCreate").len();
    assert!(made > 0);
    assert_eq!(
        log.count("zeCommandListDestroy"),
        made,
        "when the drop returns"
    );
    assert_eq!(
        log.places("zeCommandQueueDestroy", "hCommandQueue", raw.addr()),
        NEVER
    );
    drop(log);
    call!(command_queue.pfnDestroy(raw));
    assert_eq!(buffer.into_vec().unwrap(), [7; 8]);
}

fn a_transferred_event_is_destroyed_after_its_followers() {
    let (context, _) = single();
    let (usual, other) = (queue(0), queue(0));
    let raw = Raw::new(&context);
    let event = raw.as_sycl(&context, Ownership::Transfer);
    let buffer = Buffer::from_slice(&[1i32; 8], 8).unwrap();
    drop(submit_add_one(
        &usual,
        &buffer,
        std::slice::from_ref(&event),
    ));
    let log = Log::start();
    drop(event);
    for _ in 0..3 {
        usual.submit_barrier(&[]).unwrap();
        sweep(&other);
    }
    assert_eq!(
        log.places("zeEventDestroy", "hEvent", raw.event.addr()),
        NEVER
    );
    raw.signal();
    usual.wait().unwrap();
    sweep(&usual);
    let opened = log.places("zeEventHostSignal", "hEvent", raw.event.addr());
    let ended = log.places("zeEventDestroy", "hEvent", raw.event.addr());
    assert_eq!(ended.len(), 1);
    assert!(opened[0] < ended[0]);
    drop(log);
    call!(event_pool.pfnDestroy(raw.pool));
    assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
}

fn a_transferred_kernel_is_destroyed_after_its_launch() {
    let ((context, device), usual) = (single(), queue(0));
    let gate = Gate::of(&context);
    let module = new_module(&context, &device);
    let raw = new_kernel(module);
    // SAFETY: live handles of the context that only the runtime uses from here on.
    let (bundle, made) = unsafe {
        let input = bundle_input(module, Ownership::Transfer);
        let bundle = make_kernel_bundle(input, &context).unwrap();
        let input = kernel_input(&bundle, raw, Ownership::Transfer);
        let made = make_kernel(input, &context).unwrap();
        (bundle, made)
    };
    let queue = Queue::builder().context(&context).device(&device);
    let queue = queue.build().unwrap();
    let buffer = Buffer::from_slice(&[1i32; 8], 8).unwrap();
    let submitted = queue.submit(|cg| {
        cg.depends_on(std::slice::from_ref(&gate.event));
        let a = cg.access(&buffer, ReadWrite)?;
        cg.parallel_for(&made, 8, (&a,))
    });
    let event = submitted.unwrap();
    let log = Log::start();
    drop((bundle, made));
    sweep(&usual);
    let kernel_ends = || log.places("zeKernelDestroy", "hKernel", raw.addr());
    let module_ends = || log.places("zeModuleDestroy", "hModule", module.addr());
    assert_eq!((kernel_ends(), module_ends()), (vec![], vec![]));
    gate.open();
    event.wait().unwrap();
    queue.wait().unwrap();
    sweep(&usual);
    let (kernel, module) = (kernel_ends(), module_ends());
    assert_eq!((kernel.len(), module.len()), (1, 1));
    assert!(kernel[0] < module[0]);
    drop(log);
    assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
}

/// A context that the program created for one device, passed to the runtime.
fn transferred(device: &Device, ownership: Ownership) -> (Context, ze_context_handle_t) {
    let driver = get_native(&Platform::all().unwrap()[0]);
    let desc = ze_context_desc_t::default();
    let mut raw = std::ptr::null_mut();
    call!(context.pfnCreate(driver, &raw const desc, &raw mut raw));
    let input = ContextInput {
        device_list: vec![device.clone()],
        ..context_input(raw, ownership)
    };
    // SAFETY: a live context of the driver.
    (unsafe { make_context(input) }.unwrap(), raw)
}

/// Objects in a context.
enum Child {
    Memory(Buffer<'static, i32>),
    Block(usm::Block<i32, usm::DeviceKind>),
    Image(UnsampledImage<'static, 2>),
    Graph(ExecutableGraph),
    Event(Event),
    Queue(Queue),
}

/// Each object alone outlives every handle of the context and of its queue.
fn a_transferred_context_is_destroyed_last() {
    let (device, usual) = (devices()[0].clone(), queue(0));
    let fill = |queue: &Queue, buffer: &Buffer<'_, i32>| {
        let filled = queue.submit(|cg| {
            let a = cg.access(buffer, Write.no_init())?;
            cg.fill(&a, 7)
        });
        filled.unwrap().wait().unwrap();
    };
    type Make<'a> = &'a dyn Fn(&Queue) -> Child;
    let kinds: [(&str, &str, Make<'_>); 6] = [
        ("a buffer", "zeMemFree", &|queue| {
            let buffer = Buffer::<i32>::new(64).unwrap();
            fill(queue, &buffer);
            Child::Memory(buffer)
        }),
        ("a block", "zeMemFree", &|queue| {
            Child::Block(usm::Block::device(queue, 64).unwrap())
        }),
        ("an image", "zeImageDestroy", &|queue| {
            let image = UnsampledImage::<2>::new(ImageFormat::R8G8B8A8_UNORM, [4, 4]).unwrap();
            let used = queue.submit(|cg| {
                let _image = cg.image(&image, Write.no_init())?;
                cg.barrier()
            });
            used.unwrap().wait().unwrap();
            Child::Image(image)
        }),
        ("a graph", "zeContextDestroy", &|queue| {
            let buffer = Buffer::<i32>::new(64).unwrap();
            let mut graph = Graph::new(queue);
            let added = graph.add(|cg| {
                let a = cg.access(&buffer, Write.no_init())?;
                cg.fill(&a, 7)
            });
            added.unwrap();
            let graph = graph.finalize().unwrap();
            queue.submit_graph(&graph, &[]).unwrap().wait().unwrap();
            Child::Graph(graph)
        }),
        ("an event", "zeEventDestroy", &|queue| {
            let event = queue.submit_barrier(&[]).unwrap();
            event.wait().unwrap();
            assert!(!get_native(&event).is_null());
            Child::Event(event)
        }),
        ("a queue", "zeContextDestroy", &|queue| {
            fill(queue, &Buffer::new(64).unwrap());
            Child::Queue(queue.clone())
        }),
    ];
    for (what, end, make) in kinds {
        let (context, raw) = transferred(&device, Ownership::Transfer);
        let queue = Queue::builder().context(&context).device(&device);
        // Graphs run only on immediate lists.
        let queue = queue.submission(Submission::Immediate).build().unwrap();
        let child = make(&queue);
        queue.wait().unwrap();
        drop((queue, context));
        sweep(&usual);
        let log = Log::start();
        sweep(&usual);
        let ended = || log.places("zeContextDestroy", "hContext", raw.addr());
        assert_eq!(ended(), NEVER, "{what} lives");
        match child {
            Child::Memory(buffer) => drop(buffer),
            Child::Block(block) => drop(block),
            Child::Image(image) => drop(image),
            Child::Graph(graph) => drop(graph),
            Child::Event(event) => drop(event),
            Child::Queue(queue) => drop(queue),
        }
        sweep(&usual);
        let [at] = ended()[..] else {
            panic!("{what}: the context ended {} times", ended().len());
        };
        let calls = log.0.calls();
        assert!(calls.iter().any(|call| call.function == end), "{what}");
        let after = calls[at + 1..].iter().filter(|call| {
            let mut values = call.arguments.iter();
            values.any(|(_, value, _)| *value == raw.addr() as u64)
        });
        assert_eq!(after.count(), 0, "{what}: it is no longer polled");
        let children = ENDS[..ENDS.len() - 1].iter().copied();
        for function in children {
            let late = calls[at + 1..]
                .iter()
                .filter(|call| call.function == function);
            // The queues that sweep deferred releases have their own objects.
            let late: Vec<String> = late.map(ToString::to_string).collect();
            assert!(late.is_empty(), "{what}: {late:?}");
        }
    }
}

/// Any object that can be dropped.
type Owned = Box<dyn Send>;

/// A context, a list, a module, a kernel, an event, memory of the program, and a block and an image in that context,
/// with an unfinished command that uses them. In any order, dropping a transferred object does not wait for a deferred
/// command; dropping a kept one waits for the work and nothing else.
fn objects_can_be_dropped_in_any_order() {
    let (device, usual) = (devices()[0].clone(), queue(0));
    let mut random = Random::of(8);
    for (round, ownership) in [Ownership::Transfer, Ownership::Keep]
        .into_iter()
        .cycle()
        .enumerate()
        .take(60)
    {
        let (context, raw) = transferred(&device, ownership);
        let gate = Gate::of(&context);
        let list = new_list(&context, &device, 0);
        let module = new_module(&context, &device);
        let kernel = new_kernel(module);
        let event = Raw::new(&context);
        // The gate's event is in the last context.
        let last = context.clone();
        let pointer = host_memory(&context, 256);
        let log = Log::start();
        // SAFETY: live handles of one context that only the runtime uses until all of it is gone.
        let (queue, bundle, made, signalled, buffer) = unsafe {
            let native = NativeQueue::ImmediateList(list);
            let queue = make_queue(input(native, &device, ownership), &context).unwrap();
            let bundle = make_kernel_bundle(bundle_input(module, ownership), &context).unwrap();
            let made = make_kernel(kernel_input(&bundle, kernel, ownership), &context).unwrap();
            let signalled = make_event(event_input(event.event, ownership), &context).unwrap();
            let memory = memory_input(pointer, ownership);
            let buffer = make_buffer_1d::<i32>(memory, &context, None).unwrap();
            (queue, bundle, made, signalled, buffer)
        };
        let block = usm::Block::<i32, usm::DeviceKind>::device(&queue, 8).unwrap();
        let image = UnsampledImage::<2>::new(ImageFormat::R8G8B8A8_UNORM, [4, 4]).unwrap();
        let submitted = queue.submit(|cg| {
            cg.depends_on(&[gate.event.clone(), signalled.clone()]);
            let a = cg.access(&buffer, ReadWrite)?;
            let _image = cg.image(&image, Write.no_init())?;
            cg.parallel_for(&made, 8, (&a,))
        });
        let submitted = submitted.unwrap();
        let mut all: Vec<Owned> = vec![
            Box::new(context),
            Box::new(queue),
            Box::new(bundle),
            Box::new(made),
            Box::new(signalled),
            Box::new(buffer),
            Box::new(block),
            Box::new(image),
            Box::new(submitted),
        ];
        for last in (1..all.len()).rev() {
            all.swap(last, random.below(last + 1));
        }
        match ownership {
            Ownership::Transfer => {
                drop(all);
                assert_eq!(
                    log.places("zeContextDestroy", "hContext", raw.addr()),
                    NEVER
                );
                event.signal();
                gate.open();
            }
            Ownership::Keep => std::thread::scope(|scope| {
                scope.spawn(|| drop(all));
                event.signal();
                gate.open();
            }),
        }
        call!(device.pfnSynchronize(get_native(&device)));
        sweep(&usual);
        drop(gate);
        if ownership == Ownership::Keep {
            call!(event.pfnDestroy(event.event));
        }
        call!(event_pool.pfnDestroy(event.pool));
        let early = log.places("zeContextDestroy", "hContext", raw.addr());
        assert_eq!(early, NEVER, "round {round}");
        drop(last);
        sweep(&usual);
        let wanted = usize::from(ownership == Ownership::Transfer);
        for (function, parameter, handle) in [
            ("zeCommandListDestroy", "hCommandList", list.addr()),
            ("zeModuleDestroy", "hModule", module.addr()),
            ("zeKernelDestroy", "hKernel", kernel.addr()),
            ("zeEventDestroy", "hEvent", event.event.addr()),
            ("zeMemFree", "ptr", pointer.addr()),
            ("zeContextDestroy", "hContext", raw.addr()),
        ] {
            let ended = log.places(function, parameter, handle);
            // The log also has the program's own destruction of a kept event.
            let wanted = wanted.max(usize::from(function == "zeEventDestroy"));
            assert_eq!(
                ended.len(),
                wanted,
                "round {round}, {ownership:?}: {function}"
            );
        }
        drop(log);
        if ownership == Ownership::Keep {
            call!(mem.pfnFree(raw, pointer));
            call!(kernel.pfnDestroy(kernel));
            call!(module.pfnDestroy(module));
            call!(command_list.pfnDestroy(list));
            call!(context.pfnDestroy(raw));
        }
    }
}

/// Panics when dropped.
struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// If a task is skipped after a failed one, its captured values are dropped on the failed one's thread: a last queue or
/// buffer does not wait for the task itself, and a panic is caught.
fn a_skipped_task_drops_its_captures() {
    let (context, device) = single();
    let list = new_list(&context, &device, 0);
    let target: &'static mut [i32] = Box::leak(vec![1i32; 8].into_boxed_slice());
    let written = target.as_ptr().expose_provenance();
    type Capture = Box<dyn FnOnce() -> Box<dyn Send>>;
    let captures: [(&str, Capture); 3] = [
        (
            "a queue",
            Box::new({
                let (context, device) = (context.clone(), device.clone());
                move || {
                    let native = NativeQueue::ImmediateList(list);
                    let input = input(native, &device, Ownership::Keep);
                    // SAFETY: a live list that only the queue uses.
                    let queue = unsafe { make_queue(input, &context) }.unwrap();
                    queue.submit_barrier(&[]).unwrap();
                    Box::new(queue)
                }
            }),
        ),
        (
            "a buffer that writes back",
            Box::new(move || {
                let buffer = Buffer::from_slice_mut(target, 8).unwrap();
                submit_add_one(&queue(0), &buffer, &[]);
                Box::new(buffer)
            }),
        ),
        ("what panics", Box::new(|| Box::new(Loud))),
    ];
    for (what, capture) in captures {
        let usual = Queue::builder()
            .device(&devices()[0])
            .async_handler(|_| ())
            .build()
            .unwrap();
        let (go, gone) = std::sync::mpsc::channel::<()>();
        let failing = usual.submit(|cg| {
            cg.host_task((), move |_, ()| {
                let _ = gone.recv();
                Err(sycl::Error::new(sycl::Errc::Runtime, "no paper"))
            })
        });
        let failing = failing.unwrap();
        let captured = capture();
        let after = usual.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&failing));
            cg.host_task((), move |_, ()| {
                std::mem::forget(captured);
                Ok(())
            })
        });
        let after = after.unwrap();
        go.send(()).unwrap();
        let error = after.wait().unwrap_err();
        assert_eq!(error.cause().unwrap().to_string(), "no paper", "{what}");
        assert_eq!(after.status(), EventStatus::Failed, "{what}");
        drop(usual.wait_and_throw());
        usual.submit_barrier(&[]).unwrap().wait().unwrap();
    }
    // SAFETY: eight elements that live forever, and that no buffer writes to any more.
    let written = unsafe { std::ptr::with_exposed_provenance::<[i32; 8]>(written).read() };
    assert_eq!(written, [2; 8]);
    call!(command_list.pfnDestroy(list));
}
