//! Failed tasks, copies and appends: their group, later groups and the memory.

use std::sync::Arc;
use std::sync::mpsc::channel;

use level_zero::sys::*;
use sycl::{Buffer, Errc, Error, Event, EventStatus, Queue, Read, ReadWrite, Write, interop};

use crate::groups::{paged, submit_add_one};
use crate::order::access;
use crate::world::{Gate, Log, argument, devices, kernel, queue, settle};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    ("device_lost", Where::Everywhere, device_lost),
    (
        "drops_do_not_wait_for_a_lost_device",
        Where::Everywhere,
        drops_do_not_wait_for_a_lost_device,
    ),
    (
        "fails_at_every_call",
        Where::Everywhere,
        fails_at_every_call,
    ),
    ("host_task_error", Where::Everywhere, host_task_error),
    (
        "in_order_commands_after_a_failure_fail",
        Where::Everywhere,
        in_order_after_a_failure,
    ),
    ("wait_and_throw", Where::Everywhere, wait_and_throw),
    ("append_fails", Where::Discrete, append_fails),
    (
        "level_zero_codes_map_to_sycls",
        Where::Everywhere,
        codes_become_sycls,
    ),
    ("flush_append_fails", Where::Everywhere, flush_append_fails),
    (
        "a_failed_deferred_copy_is_invalid",
        Where::Discrete,
        a_failed_deferred_copy_is_invalid,
    ),
    (
        "results_after_a_failed_copy_are_poisoned",
        Where::Discrete,
        results_after_a_failed_copy_are_poisoned,
    ),
    (
        "a_fill_that_fails_half_way_keeps_its_pattern",
        Where::Everywhere,
        a_fill_that_fails_half_way_keeps_its_pattern,
    ),
    (
        "a_failed_half_of_a_copy_through_the_host_is_invalid",
        Where::Discrete,
        a_failed_half_of_a_copy_through_the_host_is_invalid,
    ),
];

/// A queue that collects its asynchronous errors.
fn collecting() -> (Queue, Arc<std::sync::Mutex<Vec<String>>>) {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = Arc::clone(&seen);
    let queue = Queue::builder()
        .device(&devices()[0])
        .async_handler(move |errors| {
            into.lock()
                .unwrap()
                .extend(errors.iter().map(Error::to_string));
        })
        .build()
        .unwrap();
    (queue, seen)
}

fn host_task_error() {
    let (queue, seen) = collecting();
    let buffer = paged();
    let gate = Gate::new();
    let task = queue
        .submit(|cg| {
            cg.depends_on(std::slice::from_ref(&gate.event));
            let view = cg.host_task_access(&buffer, ReadWrite)?;
            cg.host_task((view,), |_, (_view,)| {
                Err(Error::new(Errc::Runtime, "no paper"))
            })
        })
        .unwrap();
    let dependent = submit_add_one(&queue, &buffer, &[]);
    gate.open();
    assert!(task.wait().unwrap_err().to_string().contains("no paper"));
    let error = dependent.wait().unwrap_err();
    assert_eq!(error.cause().unwrap().to_string(), "no paper");
    assert_eq!(dependent.status(), EventStatus::Failed);
    let refused = queue.submit(|cg| {
        cg.access(&buffer, Read)?;
        cg.barrier()
    });
    assert!(refused.unwrap_err().to_string().contains("poisoned"));
    access(&queue, &buffer, 3, (0, 16), &[]).wait().unwrap();
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    drop(queue.wait_and_throw());
    assert_eq!(*seen.lock().unwrap(), ["no paper"]);
    let panics = queue
        .submit(|cg| cg.host_task((), |_, ()| panic!("out of tea")))
        .unwrap();
    assert!(
        panics
            .wait()
            .unwrap_err()
            .to_string()
            .contains("out of tea")
    );
    drop(queue.throw_asynchronous());
}

/// All groups fail, submitted before or after the failure, until the error is reported to the program.
fn in_order_after_a_failure() {
    let tells: [fn(&Queue, &Event) -> bool; 3] = [
        |queue, _| queue.wait().is_err(),
        |_, task| task.wait().is_err(),
        |queue, _| queue.throw_asynchronous().is_err(),
    ];
    tells.into_iter().for_each(in_order_until_reported);
}

fn in_order_until_reported(tell: fn(&Queue, &Event) -> bool) {
    let queue = Queue::builder().device(&devices()[0]).in_order();
    let queue = queue.async_handler(|_| ()).build().unwrap();
    let buffer = paged();
    let held = buffer.host_access(ReadWrite).unwrap();
    let task = queue.submit(|cg| {
        let view = cg.host_task_access(&buffer, Read)?;
        cg.host_task((view,), |_, _| Err(Error::new(Errc::Runtime, "no paper")))
    });
    let before = submit_add_one(&queue, &paged(), &[]);
    drop(held);
    while before.status() != EventStatus::Failed {
        std::thread::yield_now();
    }
    let first = |error: &Error| error.cause().map(ToString::to_string);
    for _ in 0..2 {
        let refused = queue.submit_barrier(&[]).unwrap_err();
        assert_eq!(first(&refused).as_deref(), Some("no paper"), "{refused}");
        let refused = queue.submit(|cg| cg.host_task((), |_, ()| Ok(())));
        let refused = refused.unwrap_err();
        assert_eq!(first(&refused).as_deref(), Some("no paper"), "{refused}");
    }
    assert!(tell(&queue, &before));
    submit_add_one(&queue, &paged(), &[]).wait().unwrap();
    let error = before.wait().unwrap_err();
    assert_eq!(first(&error).as_deref(), Some("no paper"));
    drop((task, queue.wait(), queue.throw_asynchronous()));
}

/// A deferred copy whose append fails has copied nothing: commands that need it fail, and the next one copies again.
fn a_failed_deferred_copy_is_invalid() {
    let (queue, seen) = collecting();
    let buffer = paged();
    let mut held = buffer.host_access(ReadWrite).unwrap();
    held.fill(7);
    let readers = [0, 1].map(|_| access(&queue, &buffer, 0, (0, 16), &[]));
    {
        let log = Log::with("fail zeCommandListAppendMemoryCopy INVALID_ARGUMENT");
        drop(held);
        for reader in &readers {
            assert!(reader.wait().is_err());
            assert_eq!(reader.status(), EventStatus::Failed);
        }
        assert_eq!(log.copies().len(), 1, "both need the same copy");
    }
    drop(queue.wait_and_throw());
    assert_eq!(seen.lock().unwrap().len(), 1, "reported once");
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    assert_eq!(buffer.into_vec().unwrap(), [8; 16]);
}

/// As above, for a writing command: the contents that it should have written are lost, the others are not.
fn results_after_a_failed_copy_are_poisoned() {
    let (queue, _seen) = collecting();
    let buffer = paged();
    let mut held = buffer.host_access(ReadWrite).unwrap();
    held.fill(7);
    let writer = access(&queue, &buffer, 2, (0, 8), &[]);
    {
        let _log = Log::with("fail zeCommandListAppendMemoryCopy INVALID_ARGUMENT");
        drop(held);
        assert!(writer.wait().is_err());
    }
    drop(queue.wait_and_throw());
    let lost = buffer.host_access(Read).unwrap_err();
    assert!(lost.to_string().contains("poisoned"), "{lost}");
    assert_eq!(*buffer.host_access_ranged(Read, 8, 8).unwrap(), [7; 8]);
    access(&queue, &buffer, 3, (0, 8), &[]).wait().unwrap();
    buffer.host_access(Read).unwrap();
}

/// The lane takes the first copy of a staged fill and refuses the second. The first still reads the pattern.
fn a_fill_that_fails_half_way_keeps_its_pattern() {
    for held_back in [false, true] {
        let (queue, _seen) = collecting();
        let buffer = Buffer::<[u8; 3], 2>::new([4, 8]).unwrap();
        let gate = Gate::new();
        let held = held_back.then(|| buffer.host_access(ReadWrite).unwrap());
        let log = Log::with("fail zeCommandListAppendMemoryCopy INVALID_ARGUMENT at 2");
        let filled = queue.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&gate.event));
            let part = cg.access_ranged(&buffer, Write.no_init(), [4, 3], [0, 0])?;
            cg.fill(&part, [1, 2, 3])
        });
        drop(held);
        let failed = filled.and_then(|event| event.wait());
        assert!(failed.is_err(), "held back: {held_back}");
        let copies = log.calls("zeCommandListAppendMemoryCopy");
        assert_eq!(copies.len(), 2, "held back: {held_back}");
        let pattern = argument(&copies[0], "srcptr") as usize;
        assert_eq!(log.frees_of(pattern), 0, "held back: {held_back}");
        gate.open();
        drop(queue.wait_and_throw());
        let lost = buffer.host_access(Read).map(drop).unwrap_err();
        assert!(lost.to_string().contains("poisoned"), "{lost}");
        settle();
        assert_eq!(log.frees_of(pattern), 1, "held back: {held_back}");
    }
}

/// A copy between devices through the host: if the first half fails, so does the second.
fn a_failed_half_of_a_copy_through_the_host_is_invalid() {
    let (first, _seen) = collecting();
    let second = queue(1);
    let buffer = paged();
    submit_add_one(&first, &buffer, &[]).wait().unwrap();
    // A host task that ends on request: following work is deferred.
    let (sender, receiver) = channel::<()>();
    let task = first.submit(|cg| {
        cg.host_task((), move |_, ()| {
            let _ = receiver.recv();
            Ok(())
        })
    });
    let writer = submit_add_one(&first, &buffer, &[task.unwrap()]);
    let reader = access(&second, &buffer, 0, (0, 16), &[]);
    {
        let _log = Log::with("fail zeCommandListAppendMemoryCopy INVALID_ARGUMENT");
        sender.send(()).unwrap();
        writer.wait().unwrap();
        assert!(reader.wait().is_err());
    }
    drop(second.throw_asynchronous());
    assert_eq!(*buffer.host_access(Read).unwrap(), [2; 16]);
    submit_add_one(&second, &buffer, &[]).wait().unwrap();
    assert_eq!(buffer.into_vec().unwrap(), [3; 16]);
}

fn wait_and_throw() {
    let (queue, seen) = collecting();
    let mut last = Event::default();
    for text in ["first", "second"] {
        let task =
            queue.submit(|cg| cg.host_task((), move |_, ()| Err(Error::new(Errc::Runtime, text))));
        last = task.unwrap();
        drop(last.wait());
    }
    assert!(last.wait().is_err());
    assert_eq!(queue.wait_and_throw().unwrap_err().to_string(), "first");
    assert_eq!(*seen.lock().unwrap(), ["first", "second"]);
    queue.wait_and_throw().unwrap();
}

fn append_fails() {
    let (queue, buffer) = (queue(0), paged());
    let kernel = kernel("add_one");
    let run = || {
        queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&kernel, 16, (&a,))
        })
    };
    {
        let log = Log::with("fail zeCommandListAppendLaunchKernelWithArguments INVALID_ARGUMENT");
        assert_eq!(run().unwrap_err().errc(), Errc::Runtime);
        assert_eq!(log.copies().len(), 1);
    }
    let log = Log::start();
    assert_eq!(buffer.host_access(Read).unwrap()[0], 0);
    run().unwrap().wait().unwrap();
    assert!(log.copies().is_empty(), "the earlier copy is still valid");
    drop(log);
    assert_eq!(buffer.into_vec().unwrap(), [1; 16]);
}

/// An error keeps the result of the call beside SYCL's code.
fn codes_become_sycls() {
    let (queue, kernel, buffer) = (queue(0), kernel("add_one"), paged());
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    for (name, code, errc) in [
        (
            "OUT_OF_HOST_MEMORY",
            ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
            Errc::MemoryAllocation,
        ),
        (
            "OUT_OF_DEVICE_MEMORY",
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            Errc::MemoryAllocation,
        ),
        (
            "MODULE_BUILD_FAILURE",
            ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
            Errc::Build,
        ),
        (
            "MODULE_LINK_FAILURE",
            ZE_RESULT_ERROR_MODULE_LINK_FAILURE,
            Errc::Build,
        ),
        (
            "INVALID_MODULE_UNLINKED",
            ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
            Errc::Build,
        ),
        (
            "INVALID_KERNEL_NAME",
            ZE_RESULT_ERROR_INVALID_KERNEL_NAME,
            Errc::Invalid,
        ),
        (
            "INVALID_GROUP_SIZE_DIMENSION",
            ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
            Errc::NdRange,
        ),
        (
            "INVALID_GLOBAL_WIDTH_DIMENSION",
            ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
            Errc::NdRange,
        ),
        (
            "INVALID_KERNEL_ARGUMENT_INDEX",
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
            Errc::KernelArgument,
        ),
        (
            "INVALID_KERNEL_ARGUMENT_SIZE",
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
            Errc::KernelArgument,
        ),
        (
            "UNSUPPORTED_FEATURE",
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            Errc::FeatureNotSupported,
        ),
        (
            "UNSUPPORTED_SIZE",
            ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
            Errc::FeatureNotSupported,
        ),
        (
            "INVALID_ARGUMENT",
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            Errc::Runtime,
        ),
        ("UNKNOWN", ZE_RESULT_ERROR_UNKNOWN, Errc::Runtime),
    ] {
        let script = format!("fail zeCommandListAppendLaunchKernelWithArguments {name}");
        let _log = Log::with(&script);
        let submitted = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&kernel, 16, (&a,))
        });
        let error = submitted.unwrap_err();
        assert_eq!(
            (error.errc(), error.backend_code()),
            (errc, Some(code)),
            "{name}: {error}"
        );
    }
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    assert_eq!(buffer.into_vec().unwrap(), [2; 16]);
}

fn device_lost() {
    let (queue, buffer, gate) = (queue(0), paged(), Gate::new());
    let event = submit_add_one(&queue, &buffer, std::slice::from_ref(&gate.event));
    let native = interop::get_native(&event);
    {
        let _log = Log::with("fail zeEventHostSynchronize DEVICE_LOST");
        assert_eq!(event.wait().unwrap_err().errc(), Errc::Runtime);
        assert!(queue.wait().is_err());
    }
    // The device is not really lost: its work ends before the memory it uses is freed.
    gate.open();
    crate::world::call!(event.pfnHostSynchronize(native, u64::MAX));
    assert!(event.wait().is_err());
    drop((buffer, queue));
    submit_add_one(&self::queue(0), &paged(), &[])
        .wait()
        .unwrap();
}

/// Work on a lost device never ends and holds nothing up: neither a drop that would write back, nor the drop of a queue
/// that the program keeps. Other devices continue.
fn drops_do_not_wait_for_a_lost_device() {
    let (context, device) = crate::groups::single();
    let list = crate::native::new_list(&context, &device, 0);
    let gate = Gate::of(&context);
    let native = interop::NativeQueue::ImmediateList(list);
    let input = crate::native::input(native, &device, interop::Ownership::Keep);
    // SAFETY: a live list that only the queue uses.
    let kept = unsafe { interop::make_queue(input, &context) }.unwrap();
    let own = Queue::builder().context(&context).device(&device);
    let own = own.build().unwrap();
    let mut data = vec![1i32; 16];
    let buffer = Buffer::from_slice_mut(&mut data, 16).unwrap();
    let filled = own.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite)?;
        cg.fill(&a, 2)
    });
    filled.unwrap();
    drop(buffer.host_access(Read).unwrap());
    let fresh = Buffer::<i32>::new(16).unwrap();
    // Barriers without copies, so that no freed memory is accessed, because the device is not really lost.
    let shut = |queue: &Queue| {
        let submitted = queue.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&gate.event));
            cg.access(&buffer, Read)?;
            cg.access(&fresh, Write.no_init())?;
            cg.barrier()
        });
        submitted.unwrap()
    };
    let events = [shut(&own), shut(&kept)];
    {
        let _log = Log::with("fail zeEventHostSynchronize DEVICE_LOST");
        for event in &events {
            assert_eq!(event.wait().unwrap_err().errc(), Errc::Runtime);
        }
        assert!(own.wait().is_err() && kept.wait().is_err());
        drop(own);
        drop(kept);
        drop((buffer, fresh));
    }
    assert_eq!(data, [2; 16], "the host's contents are written back");
    if devices().len() > 1 {
        let other = paged();
        submit_add_one(&queue(1), &other, &[]).wait().unwrap();
        assert_eq!(other.into_vec().unwrap(), [1; 16]);
    }
    drop(gate);
    crate::world::call!(device.pfnSynchronize(interop::get_native(&device)));
    drop(events);
    crate::world::call!(command_list.pfnDestroy(list));
}

/// Each call of a program fails once: the caller gets the error, or the program's result is correct.
fn fails_at_every_call() {
    let add_one = kernel("add_one");
    let program = || -> sycl::Result<Vec<i32>> {
        let queue = Queue::builder()
            .device(&devices()[0])
            .async_handler(|_| ())
            .build()?;
        let buffer = Buffer::from_slice(&[1i32; 64], 64)?;
        for _ in 0..2 {
            queue.submit(|cg| {
                let a = cg.access(&buffer, ReadWrite)?;
                cg.parallel_for(&add_one, 64, (&a,))
            })?;
        }
        queue.wait()?;
        buffer.into_vec()
    };
    program().unwrap();
    let mut failed = 0;
    for call in 1.. {
        let log = Log::with(&format!("fail ze* OUT_OF_HOST_MEMORY at {call}"));
        let result = program();
        let reached = log.0.calls().iter().any(|call| call.injected);
        drop(log);
        match result {
            Ok(data) => assert_eq!(data, [3; 64], "call {call}"),
            Err(error) => {
                failed += 1;
                assert_eq!(error.errc(), Errc::MemoryAllocation, "call {call}: {error}");
            }
        }
        if !reached {
            break;
        }
    }
    assert!(failed > 5, "{failed}");
    assert_eq!(program().unwrap(), [3; 64]);
}

fn flush_append_fails() {
    let (queue, seen) = collecting();
    let buffer = paged();
    let access = buffer.host_access(ReadWrite).unwrap();
    let pending = submit_add_one(&queue, &buffer, &[]);
    {
        let _log = Log::with("fail zeCommandListAppendLaunchKernelWithArguments INVALID_ARGUMENT");
        drop(access);
    }
    assert!(pending.wait().is_err());
    assert_eq!(pending.status(), EventStatus::Failed);
    assert!(buffer.host_access(Read).is_err(), "poisoned");
    assert!(queue.wait_and_throw().is_err());
    assert_eq!(seen.lock().unwrap().len(), 1);
    buffer.clear_poison();
    buffer.host_access(Read).unwrap();
}
