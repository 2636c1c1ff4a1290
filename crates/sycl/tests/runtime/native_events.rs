//! Level Zero handles of the runtime's events: their context, when they are signalled, and that they cannot be
//! transferred.

use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::time::Duration;

use level_zero::sys::*;
use sycl::interop::*;
use sycl::{
    Buffer, ChannelOrder, ChannelType, Context, Errc, Event, ImageFormat, KernelBundle, Queue,
    Range, Read, ReadWrite, UnsampledImage,
};

use crate::groups::{paged, single_queue, submit_add_one};
use crate::letting_go::kept_context;
use crate::native::new_list;
use crate::world::{Gate, call, devices, queue, words, ze};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "native_event_of_a_command_that_is_appended_meanwhile",
        Where::Everywhere,
        goes_to_a_device_meanwhile,
    ),
    (
        "native_events_of_its_queues_context",
        Where::Everywhere,
        of_its_queues_context,
    ),
    (
        "native_events_use_no_host_task_threads",
        Where::Everywhere,
        no_threads_are_taken,
    ),
    (
        "own_handles_cannot_be_transferred",
        Where::Everywhere,
        not_taken_over,
    ),
    (
        "native_times_of_one_resolution_only",
        Where::Tiles,
        one_resolution,
    ),
];

fn is_signalled(event: ze_event_handle_t) -> bool {
    // SAFETY: a live event of a SYCL event's.
    unsafe { ze().event.pfnQueryStatus.unwrap()(event) == ZE_RESULT_SUCCESS }
}

fn host_task_on(queue: &Queue, buffer: &Buffer<'_, i32>) -> Event {
    let submitted = queue.submit(|cg| {
        let view = cg.host_task_access(buffer, ReadWrite)?;
        cg.host_task((view,), |_, _| Ok(()))
    });
    submitted.unwrap()
}

/// One thread may append a deferred command while another requests its handle.
fn goes_to_a_device_meanwhile() {
    let (queue, buffer) = (queue(0), paged());
    for round in 0..300 {
        let gate = Gate::new();
        let held = buffer.host_access(ReadWrite).unwrap();
        let pending = submit_add_one(&queue, &buffer, std::slice::from_ref(&gate.event));
        let together = Barrier::new(2);
        let native = std::thread::scope(|scope| {
            let asked = scope.spawn(|| {
                together.wait();
                // Each round requests a little later.
                (0..round * 8).for_each(|_| std::hint::spin_loop());
                get_native(&pending).expose_provenance()
            });
            together.wait();
            drop(held);
            std::ptr::with_exposed_provenance_mut(asked.join().unwrap())
        });
        assert!(!is_signalled(native), "round {round}: the gate is shut");
        gate.open();
        call!(event.pfnHostSynchronize(native, u64::MAX));
        pending.wait().unwrap();
    }
}

fn context_of(event: &Event) -> ze_context_handle_t {
    let (mut pool, mut context) = (std::ptr::null_mut(), std::ptr::null_mut());
    call!(event.pfnGetEventPool(get_native(event), &raw mut pool));
    call!(event_pool.pfnGetContextHandle(pool, &raw mut context));
    context
}

fn of_its_queues_context() {
    let device = devices()[0].clone();
    let (context, raw) = kept_context(&device);
    let queue = Queue::builder().context(&context).device(&device);
    let (queue, buffer) = (queue.build().unwrap(), paged());
    let held = buffer.host_access(ReadWrite).unwrap();
    let task = host_task_on(&queue, &buffer);
    let barrier = queue.submit_barrier(std::slice::from_ref(&task)).unwrap();
    let past = queue.submit_barrier(std::slice::from_ref(&task)).unwrap();
    for (event, what) in [(&task, "a host task"), (&barrier, "a held-back command")] {
        assert_eq!(context_of(event), raw, "{what}");
    }
    drop(held);
    queue.wait().unwrap();
    for event in [&task, &barrier] {
        call!(event.pfnHostSynchronize(get_native(event), u64::MAX));
    }
    assert_eq!(context_of(&past), raw, "what has ended");
    drop((task, barrier, past, buffer));
    drop((queue, context));
    call!(context.pfnDestroy(raw));
}

/// The number of host task threads is limited: work that waits for one of them must not occupy all.
fn no_threads_are_taken() {
    let (queue, buffer) = (queue(0), paged());
    let held = buffer.host_access(ReadWrite).unwrap();
    let task = host_task_on(&queue, &buffer);
    let after: Vec<Event> = (0..80)
        .map(|_| queue.submit_barrier(std::slice::from_ref(&task)).unwrap())
        .collect();
    let natives: Vec<_> = after.iter().map(get_native).collect();
    assert!(!natives.iter().any(|native| is_signalled(*native)));
    drop(held);
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(queue.wait()));
    let waited = receiver.recv_timeout(Duration::from_secs(60));
    waited.expect("the host task never ran").unwrap();
    for native in natives {
        call!(event.pfnHostSynchronize(native, u64::MAX));
    }
}

fn invalid<T>(made: sycl::Result<T>, what: &str) {
    let errc = made.err().map(|error| error.errc());
    assert_eq!(errc, Some(Errc::Invalid), "{what}");
}

fn not_taken_over() {
    let (context, device, queue) = single_queue();
    let (buffer, other) = (paged(), paged());
    let gate = Gate::of(&context);
    let done = submit_add_one(&queue, &buffer, &[]);
    done.wait().unwrap();
    let running = submit_add_one(&queue, &buffer, std::slice::from_ref(&gate.event));
    let held = other.host_access(ReadWrite).unwrap();
    let pending = submit_add_one(&queue, &other, &[]);
    for (event, what) in [
        (&running, "running"),
        (&pending, "pending"),
        (&done, "done"),
        (&Event::default(), "of nothing"),
    ] {
        let make = |ownership| {
            let input = EventInput {
                native_handle: get_native(event),
                ownership,
            };
            // SAFETY: a live event; what is made of it is dropped before it.
            unsafe { make_event(input, &context) }
        };
        invalid(make(Ownership::Transfer), what);
        make(Ownership::Keep).unwrap();
        invalid(make(Ownership::Transfer), what);
    }
    gate.open();
    drop(held);
    queue.wait().unwrap();

    // SAFETY: the tests' kernels.
    let input = unsafe { KernelBundle::from_spirv(&context, &[device], &words()) };
    let bundle = input.unwrap().build(c"").unwrap();
    let kernel = bundle.kernel(c"add_one").unwrap();
    let input = KernelBundleInput {
        native_handle: get_native(&bundle)[0],
        ownership: Ownership::Transfer,
    };
    // SAFETY: a live module; it is refused.
    invalid(unsafe { make_kernel_bundle(input, &context) }, "a module");
    let input = KernelInput {
        kernel_bundle: bundle,
        native_handle: get_native(&kernel),
        ownership: Ownership::Transfer,
    };
    // SAFETY: a live kernel; it is refused.
    invalid(unsafe { make_kernel(input, &context) }, "a kernel");

    let image = UnsampledImage::<2>::new(ImageFormat::R8G8B8A8_UNORM, [3, 4]).unwrap();
    let inner = context.clone();
    let task = queue.submit(|cg| {
        let view = cg.image(&image, Read)?;
        cg.host_task((view,), move |handle, (view,)| {
            let input = ImageInput::<2> {
                ze_image_handle: handle.native_image(&view)?,
                chan_order: ChannelOrder::Rgba,
                chan_type: ChannelType::UnormInt8,
                range: Range([4, 3]),
                ownership: Ownership::Transfer,
            };
            // SAFETY: a live image; it is refused.
            invalid(unsafe { make_image(input, &inner, None) }, "an image");
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
}

/// If the signalling device of a context is not known, ticks of different lengths cannot be converted.
fn one_resolution() {
    let all = devices();
    let both = Context::new(&all).unwrap();
    let one = Context::new(&all[..1]).unwrap();
    let desc = ze_event_pool_desc_t {
        flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
        count: 1,
        ..Default::default()
    };
    let (mut pool, mut native) = (std::ptr::null_mut(), std::ptr::null_mut());
    let none = std::ptr::null_mut();
    call!(event_pool.pfnCreate(get_native(&one), &raw const desc, 0, none, &raw mut pool));
    let desc = ze_event_desc_t::default();
    call!(event.pfnCreate(pool, &raw const desc, &raw mut native));
    let list = new_list(&one, &all[0], 0);
    call!(command_list.pfnAppendBarrier(list, native, 0, std::ptr::null_mut()));
    for (context, known) in [(&one, true), (&both, false)] {
        let input = EventInput {
            native_handle: native,
            ownership: Ownership::Keep,
        };
        // SAFETY: a live event of the Level Zero context that both have.
        let event = unsafe { make_event(input, context) }.unwrap();
        match known {
            true => assert!(event.profiling().is_ok()),
            false => invalid(event.profiling(), "two clocks"),
        }
    }
    call!(event.pfnHostSynchronize(native, u64::MAX));
    call!(command_list.pfnDestroy(list));
    call!(event.pfnDestroy(native));
    call!(event_pool.pfnDestroy(pool));
}
