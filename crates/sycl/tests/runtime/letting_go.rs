//! After the last copy of a handle that the program keeps is dropped, the runtime no longer uses the handle.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use level_zero::sys::*;
use sycl::interop::*;
use sycl::{Buffer, Context, Device, Event, EventStatus, KernelBundle, Platform, Queue, ReadWrite};

use crate::groups::{single, single_queue, submit_add_one};
use crate::native::{host_memory, input, new_list, new_queue};
use crate::world::{Gate, Log, call, context, devices, is_running, queue, words};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_kept_event_is_not_used_after_the_last_drop",
        Where::Everywhere,
        a_kept_event_is_not_used_after_the_last_drop,
    ),
    (
        "deferred_groups_follow_a_dropped_event",
        Where::Everywhere,
        held_back_behind_an_event,
    ),
    (
        "an_unused_buffer_is_freed_after_its_event",
        Where::Everywhere,
        an_unused_buffer_is_freed_after_its_event,
    ),
    (
        "a_kept_context_is_not_used_after_the_last_drop",
        Where::Everywhere,
        a_kept_context_is_not_used_after_the_last_drop,
    ),
    (
        "queue_drop_waits_for_kept_only",
        Where::Everywhere,
        queue_drop_waits_for_kept_only,
    ),
    (
        "a_kept_queue_waits_for_deferred_groups",
        Where::Everywhere,
        a_kept_queue_waits_for_deferred_groups,
    ),
    (
        "a_host_task_may_own_the_last_kept_queue",
        Where::Everywhere,
        a_host_task_may_own_the_last_kept_queue,
    ),
    (
        "a_host_task_cannot_wait_for_itself",
        Where::Everywhere,
        a_host_task_cannot_wait_for_itself,
    ),
    (
        "a_buffer_in_a_kept_context_waits_for_other_contexts",
        Where::Everywhere,
        a_buffer_in_a_kept_context_waits_for_other_contexts,
    ),
];

/// An event that the program owns, with its pool.
pub(crate) struct Raw {
    pub(crate) event: ze_event_handle_t,
    pub(crate) pool: ze_event_pool_handle_t,
}

impl Raw {
    pub(crate) fn new(context: &Context) -> Self {
        Self::with_flags(context, ZE_EVENT_POOL_FLAG_HOST_VISIBLE)
    }

    /// Creates an event in a pool with these flags.
    pub(crate) fn with_flags(context: &Context, flags: u32) -> Self {
        let desc = ze_event_pool_desc_t {
            flags,
            count: 1,
            ..Default::default()
        };
        let (mut pool, mut event) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (handle, none) = (get_native(context), std::ptr::null_mut());
        call!(event_pool.pfnCreate(handle, &raw const desc, 0, none, &raw mut pool));
        let desc = ze_event_desc_t::default();
        call!(event.pfnCreate(pool, &raw const desc, &raw mut event));
        Self { event, pool }
    }

    pub(crate) fn as_sycl(&self, context: &Context, ownership: Ownership) -> Event {
        let input = EventInput {
            native_handle: self.event,
            ownership,
        };
        // SAFETY: a live event of the context.
        unsafe { make_event(input, context) }.unwrap()
    }

    pub(crate) fn signal(&self) {
        call!(event.pfnHostSignal(self.event));
    }

    pub(crate) fn destroy(self) {
        call!(event.pfnDestroy(self.event));
        call!(event_pool.pfnDestroy(self.pool));
    }
}

/// Runs `last` on another thread and releases it with `go`; it must not return before.
fn comes_back_after(last: impl FnOnce() + Send, go: impl FnOnce()) {
    let (begun, begins) = channel();
    let may = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let _ = begun.send(());
            last();
            may.load(Ordering::Acquire)
        });
        begins.recv().unwrap();
        // A call that does not wait gets time to return; the length of this time decides nothing else.
        (0..100).for_each(|_| std::thread::yield_now());
        may.store(true, Ordering::Release);
        go();
        assert!(waits.join().unwrap(), "it did not wait");
    });
}

/// The calls that take a handle, without the program's own.
fn naming(log: &Log, handle: usize) -> Vec<String> {
    let calls = log.0.calls().into_iter();
    calls
        .filter(|call| call.function != "zeEventHostSignal")
        .filter(|call| {
            let mut values = call.arguments.iter();
            values.any(|(_, value, _)| *value == handle as u64)
        })
        .map(|call| call.to_string())
        .collect()
}

/// Whether or not a command on a device still waits for it.
fn a_kept_event_is_not_used_after_the_last_drop() {
    let (queue, context) = (queue(0), context());
    let buffer = Buffer::from_vec(vec![0i32; 8], 8).unwrap();
    for waited_for in [false, true] {
        let raw = Raw::new(&context);
        let event = raw.as_sycl(&context, Ownership::Keep);
        assert_eq!(event.status(), EventStatus::Submitted);
        if waited_for {
            drop(submit_add_one(
                &queue,
                &buffer,
                std::slice::from_ref(&event),
            ));
        }
        let log = Log::start();
        drop(event);
        // Calls that sweep deferred releases.
        for _ in 0..3 {
            queue.submit_barrier(&[]).unwrap();
            crate::world::queue(0).wait().unwrap();
        }
        assert_eq!(naming(&log, raw.event.addr()), [""; 0], "{waited_for}");
        raw.signal();
        queue.wait().unwrap();
        assert_eq!(naming(&log, raw.event.addr()), [""; 0], "{waited_for}");
        drop(log);
        raw.destroy();
    }
    assert_eq!(buffer.into_vec().unwrap(), [1; 8]);
}

/// A group that is on no list yet holds copies of the events that it follows.
fn held_back_behind_an_event() {
    let (queue, context) = (queue(0), context());
    let raw = Raw::new(&context);
    let event = raw.as_sycl(&context, Ownership::Keep);
    let buffer = Buffer::from_vec(vec![0i32; 8], 8).unwrap();
    let held = buffer.host_access(ReadWrite).unwrap();
    drop(submit_add_one(
        &queue,
        &buffer,
        std::slice::from_ref(&event),
    ));
    drop(event);
    drop(held);
    let last = submit_add_one(&queue, &buffer, &[]);
    assert!(is_running(&last));
    let log = Log::start();
    raw.signal();
    last.wait().unwrap();
    queue.wait().unwrap();
    assert_eq!(naming(&log, raw.event.addr()), [""; 0]);
    drop(log);
    raw.destroy();
    assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
}

/// Unused memory is freed after its `available` event. No thread waits for an event that the runtime destroys; if the
/// program keeps the event, dropping the last copy waits.
fn an_unused_buffer_is_freed_after_its_event() {
    let ((context, _), usual) = (single(), queue(0));
    for (ownership, event_first) in [
        (Ownership::Transfer, true),
        (Ownership::Transfer, false),
        (Ownership::Keep, true),
        (Ownership::Keep, false),
    ] {
        let raw = Raw::new(&context);
        let event = raw.as_sycl(&context, ownership);
        let pointer = host_memory(&context, 256);
        let input = BufferInput {
            native_handle: pointer,
            ownership: Ownership::Transfer,
        };
        // SAFETY: the buffer's alone from here on.
        let buffer = unsafe { make_buffer_1d::<i32>(input, &context, Some(&event)) }.unwrap();
        let log = Log::start();
        let last: Box<dyn FnOnce() + Send> = match event_first {
            true => {
                drop(event);
                Box::new(move || drop(buffer))
            }
            false => {
                drop(buffer);
                Box::new(move || drop(event))
            }
        };
        if ownership == Ownership::Transfer {
            last();
            usual.wait().unwrap();
            assert_eq!(log.frees_of(pointer.addr()), 0);
            raw.signal();
            // The first sweep frees the memory and then releases the event.
            usual.wait().unwrap();
            usual.wait().unwrap();
            assert_eq!(log.frees_of(pointer.addr()), 1);
            let destroyed = log.calls("zeEventDestroy").into_iter();
            let of_it =
                |call: &_| crate::world::argument(call, "hEvent") == raw.event.addr() as u64;
            assert_eq!(destroyed.filter(of_it).count(), 1);
            call!(event_pool.pfnDestroy(raw.pool));
            continue;
        }
        comes_back_after(last, || {
            assert_eq!(log.frees_of(pointer.addr()), 0);
            raw.signal();
        });
        assert_eq!(log.frees_of(pointer.addr()), 1);
        drop(log);
        let log = Log::start();
        usual.wait().unwrap();
        assert_eq!(naming(&log, raw.event.addr()), [""; 0]);
        drop(log);
        raw.destroy();
    }
}

/// A context that the program created for one device, and a SYCL context that does not destroy it.
pub(crate) fn kept_context(device: &Device) -> (Context, ze_context_handle_t) {
    let driver = get_native(&Platform::all().unwrap()[0]);
    let desc = ze_context_desc_t::default();
    let mut raw = std::ptr::null_mut();
    call!(context.pfnCreate(driver, &raw const desc, &raw mut raw));
    let input = ContextInput {
        native_handle: raw,
        device_list: vec![device.clone()],
        ownership: Ownership::Keep,
    };
    // SAFETY: a live context of the driver.
    (unsafe { make_context(input) }.unwrap(), raw)
}

fn queue_in(context: &Context, device: &Device) -> Queue {
    let queue = Queue::builder().context(context).device(device);
    queue.build().unwrap()
}

/// Objects that the runtime created in a context are destroyed before the last queue's drop returns, even if their work
/// has to end first.
fn a_kept_context_is_not_used_after_the_last_drop() {
    let device = devices()[0].clone();
    let usual = queue(0);
    for held_back in [false, true] {
        let (made, raw) = kept_context(&device);
        let gate = Gate::of(&made);
        let queue = queue_in(&made, &device);
        // SAFETY: the tests' kernels.
        let input =
            unsafe { KernelBundle::from_spirv(&made, &queue.context().devices(), &words()) };
        let bundle = input.unwrap().build(c"").unwrap();
        let add_one = bundle.kernel(c"add_one").unwrap();
        let buffer = Buffer::from_vec(vec![1i32; 8], 8).unwrap();
        let other = Buffer::from_vec(vec![1i32; 8], 8).unwrap();
        let held = held_back.then(|| other.host_access(ReadWrite).unwrap());
        for buffer in [&buffer, &other] {
            let submitted = queue.submit(|cg| {
                cg.depends_on(std::slice::from_ref(&gate.event));
                let a = cg.access(buffer, ReadWrite)?;
                cg.parallel_for(&add_one, 8, (&a,))
            });
            // The native event of a command on a list is one more object of the context.
            let event = submitted.unwrap();
            if !held_back {
                assert!(!get_native(&event).is_null());
            }
        }
        drop((made, bundle, add_one, buffer));
        let signal = || call!(event.pfnHostSignal(gate.native));
        if held_back {
            signal();
        }
        comes_back_after(
            move || drop(queue),
            || match held {
                Some(held) => drop(held),
                None => signal(),
            },
        );
        drop((other, gate));
        let log = Log::start();
        usual.submit_barrier(&[]).unwrap();
        usual.wait().unwrap();
        assert_eq!(naming(&log, raw.addr()), [""; 0]);
        for end in [
            "zeCommandListDestroy",
            "zeCommandQueueDestroy",
            "zeEventDestroy",
            "zeEventPoolDestroy",
            "zeKernelDestroy",
            "zeModuleDestroy",
            "zeMemFree",
        ] {
            assert_eq!(log.count(end), 0, "{end}");
        }
        drop(log);
        call!(context.pfnDestroy(raw));
    }
}

/// Work on a device delays only the drop of a queue whose list or command queue the program destroys.
fn queue_drop_waits_for_kept_only() {
    let (context, device) = single();
    let native = |number| match number {
        0 => NativeQueue::ImmediateList(new_list(&context, &device, 0)),
        _ => NativeQueue::CommandQueue(new_queue(&context, &device)),
    };
    for number in [0, 1] {
        for ownership in [Ownership::Transfer, Ownership::Keep] {
            let (gate, native) = (Gate::of(&context), native(number));
            // SAFETY: a live handle that only the queue uses.
            let made = unsafe { make_queue(input(native, &device, ownership), &context) }.unwrap();
            let usual = queue_in(&context, &device);
            let buffer = Buffer::from_vec(vec![1i32; 8], 8).unwrap();
            let other = Buffer::from_vec(vec![1i32; 8], 8).unwrap();
            let events = [(&made, &buffer), (&usual, &other)].map(|(queue, buffer)| {
                submit_add_one(queue, buffer, std::slice::from_ref(&gate.event))
            });
            drop(usual);
            if ownership == Ownership::Transfer {
                drop(made);
                assert!(events.iter().all(is_running));
                gate.open();
            } else {
                comes_back_after(
                    move || drop(made),
                    || {
                        assert!(events.iter().all(is_running));
                        gate.open();
                    },
                );
                assert_eq!(events[0].status(), EventStatus::Complete);
                match native {
                    NativeQueue::ImmediateList(list) => call!(command_list.pfnDestroy(list)),
                    NativeQueue::CommandQueue(queue) => call!(command_queue.pfnDestroy(queue)),
                }
            }
            assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
            assert_eq!(other.into_vec().unwrap(), [2; 8]);
        }
    }
}

/// Groups that wait for the host are on the program's list or queue before the drop returns.
fn a_kept_queue_waits_for_deferred_groups() {
    let (context, device, _) = single_queue();
    let list = new_list(&context, &device, 0);
    let input = input(NativeQueue::ImmediateList(list), &device, Ownership::Keep);
    // SAFETY: a live list that only the queue uses.
    let queue = unsafe { make_queue(input, &context) }.unwrap();
    let buffer = Buffer::from_vec(vec![1i32; 8], 8).unwrap();
    let held = buffer.host_access(ReadWrite).unwrap();
    let event = submit_add_one(&queue, &buffer, &[]);
    let clone = queue.clone();
    drop(queue);
    comes_back_after(move || drop(clone), || drop(held));
    let log = Log::start();
    assert_eq!(event.status(), EventStatus::Complete);
    crate::world::queue(0).wait().unwrap();
    assert_eq!(naming(&log, list.addr()), [""; 0]);
    drop(log);
    call!(command_list.pfnDestroy(list));
    assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
}

/// Dropping it there does not wait for work that waits for the task.
fn a_host_task_may_own_the_last_kept_queue() {
    let (context, device) = single();
    let list = new_list(&context, &device, 0);
    let input = input(NativeQueue::ImmediateList(list), &device, Ownership::Keep);
    // SAFETY: a live list that only the queue uses.
    let queue = unsafe { make_queue(input, &context) }.unwrap();
    let buffer = Buffer::from_vec(vec![1i32; 8], 8).unwrap();
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let captured = queue.clone();
    let task = queue.submit(|cg| {
        let view = cg.host_task_access(&buffer, ReadWrite)?;
        cg.host_task((view,), move |_, (mut view,)| {
            let _ = gone.recv();
            view.as_mut_slice().fill(5);
            drop(captured);
            Ok(())
        })
    });
    let last = submit_add_one(&queue, &buffer, &[]);
    drop(queue);
    go.send(()).unwrap();
    task.unwrap().wait().unwrap();
    last.wait().unwrap();
    assert_eq!(buffer.into_vec().unwrap(), [6; 8]);
    crate::world::queue(0).wait().unwrap();
    call!(command_list.pfnDestroy(list));
}

/// It waits neither for its own event nor for its queue.
fn a_host_task_cannot_wait_for_itself() {
    let (queue, (own, its)) = (queue(0), std::sync::mpsc::channel::<Event>());
    let captured = queue.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    let task = queue.submit(|cg| {
        cg.host_task((), move |_, ()| {
            let errors = [its.recv().unwrap().wait(), captured.wait()];
            let _ = sender.send(errors.map(|waited| waited.map_err(|error| error.errc())));
            Ok(())
        })
    });
    let task = task.unwrap();
    own.send(task.clone()).unwrap();
    task.wait().unwrap();
    let invalid = Err(sycl::Errc::Invalid);
    assert_eq!(receiver.recv().unwrap(), [invalid, invalid]);
}

/// No queue is left in the context, but work of another context uses a buffer with memory in it.
fn a_buffer_in_a_kept_context_waits_for_other_contexts() {
    let (device, usual) = (devices()[0].clone(), queue(0));
    let (made, raw) = kept_context(&device);
    let gate = Gate::new();
    let own = queue_in(&made, &device);
    let buffer = Buffer::<i32>::new(8).unwrap();
    let filled = own.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite.no_init())?;
        cg.fill(&a, 7)
    });
    filled.unwrap();
    let pointer = buffer.device_ptr(&device).unwrap().addr();
    drop((own, made));
    let event = submit_add_one(&usual, &buffer, std::slice::from_ref(&gate.event));
    let log = Log::start();
    comes_back_after(
        move || drop(buffer),
        || {
            assert!(is_running(&event));
            gate.open();
        },
    );
    assert!(!is_running(&event));
    assert_eq!(log.frees_of(pointer), 1);
    drop(log);
    let log = Log::start();
    usual.wait().unwrap();
    assert_eq!(naming(&log, raw.addr()), [""; 0]);
    drop(log);
    call!(context.pfnDestroy(raw));
}
