//! Lost devices: the objects that end with them, those that continue, and how a program uses the device again.

use std::process::Command;

use level_zero::sys::*;
use sycl::interop::get_native;
use sycl::{
    Buffer, Context, Device, Event, EventStatus, Graph, Kernel, KernelBundle, Queue, Read,
    ReadWrite, Submission, UnsampledImage, UsmView, Write, usm,
};

use crate::copies::{Made, while_made};
use crate::groups::{RGBA8, paged, submit_add_one};
use crate::losses::{losing, refused_as_poisoned, try_add_one};
use crate::native::{foreign, kernel_in};
use crate::order::access;
use crate::world::{
    Gate, Log, call, context, devices, immediate, is_discrete, is_running, queue, words,
};
use crate::{Test, WORLD, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_lost_device_is_lost_to_all_its_queues",
        Where::Everywhere,
        lost_to_all_its_queues,
    ),
    (
        "contents_only_on_a_lost_device_are_poisoned",
        Where::Discrete,
        contents_only_on_a_lost_device,
    ),
    (
        "any_call_reports_a_lost_device",
        Where::Everywhere,
        any_call_reports_a_loss,
    ),
    (
        "any_creation_reports_a_lost_device",
        Where::Everywhere,
        any_creation_reports_a_loss,
    ),
    (
        "a_host_allocation_reports_a_lost_context",
        Where::Everywhere,
        a_host_allocation_reports_a_loss,
    ),
    (
        "a_queue_gets_no_lane_of_a_device_lost_meanwhile",
        Where::Everywhere,
        lost_meanwhile,
    ),
    (
        "lost_lanes_are_not_kept",
        Where::Everywhere,
        lost_lanes_are_not_kept,
    ),
    (
        "after_a_fault_a_new_context_works",
        Where::Everywhere,
        after_a_fault,
    ),
];

fn queue_in(context: &Context, device: &Device) -> Queue {
    let queue = Queue::builder().context(context).device(device);
    queue.build().unwrap()
}

pub(crate) fn code_of(failed: sycl::Result<impl std::fmt::Debug>) -> Option<ze_result_t> {
    failed.unwrap_err().backend_code()
}

pub(crate) const LOST: Option<ze_result_t> = Some(ZE_RESULT_ERROR_DEVICE_LOST);

/// Objects created before in the same context end; those created later, and those of other devices and contexts,
/// continue.
fn lost_to_all_its_queues() {
    let device = devices()[0].clone();
    let (elsewhere, _) = foreign();
    let other_context = queue_in(&elsewhere, &device);
    let other_kernel = kernel_in(&elsewhere, &device);
    let other_device = queue(devices().len() - 1);
    let [first, second] = [queue(0), queue(0)];
    let gate = Gate::new();
    let after = std::slice::from_ref(&gate.event);
    let [one, two] = [&first, &second].map(|queue| queue.submit_barrier(after).unwrap());
    assert!(is_running(&one) && is_running(&two));
    {
        let _log = losing();
        assert_eq!(code_of(one.wait()), LOST);
    }
    for (queue, event) in [(&first, &one), (&second, &two)] {
        assert_eq!(event.status(), EventStatus::Failed);
        assert_eq!(code_of(event.wait()), LOST);
        assert_eq!(code_of(queue.wait()), LOST);
        let refused = try_add_one(queue, &paged()).unwrap_err();
        assert!(
            refused.to_string().contains("accepts no more work"),
            "{refused}"
        );
        assert_eq!(refused.backend_code(), LOST);
    }
    gate.open();
    let own = [paged(), paged()];
    submit_add_one(&queue(0), &own[0], &[]).wait().unwrap();
    submit_add_one(&other_device, &own[1], &[]).wait().unwrap();
    let buffer = paged();
    let submitted = other_context.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite)?;
        cg.parallel_for(&other_kernel, 16, (&a,))
    });
    submitted.unwrap().wait().unwrap();
    for buffer in own.into_iter().chain([buffer]) {
        assert_eq!(buffer.into_vec().unwrap(), [1; 16]);
    }
}

/// By pages, and also for a device without work.
fn contents_only_on_a_lost_device() {
    let [first, second] = [queue(0), queue(1)];
    let [alone, both, host, other, read] = [(); 5].map(|()| paged());
    submit_add_one(&first, &alone, &[]).wait().unwrap();
    alone.host_access_ranged(ReadWrite, 4, 0).unwrap().fill(7);
    submit_add_one(&first, &both, &[]).wait().unwrap();
    drop(both.host_access(Read).unwrap());
    access(&first, &host, 0, (0, 16), &[]).wait().unwrap();
    submit_add_one(&second, &other, &[]).wait().unwrap();
    submit_add_one(&first, &read, &[]).wait().unwrap();
    access(&second, &read, 0, (0, 16), &[]).wait().unwrap();
    let gate = Gate::new();
    let lost = first.submit_barrier(std::slice::from_ref(&gate.event));
    {
        let _log = losing();
        assert_eq!(code_of(lost.unwrap().wait()), LOST);
    }
    gate.open();
    let log = Log::start();
    assert_eq!(*alone.host_access_ranged(Read, 4, 0).unwrap(), [7; 4]);
    refused_as_poisoned(&alone, 12, 4);
    let refused = try_add_one(&second, &alone).unwrap_err();
    assert_eq!(refused.backend_code(), LOST, "the first cause: {refused}");
    assert_eq!(*both.host_access(Read).unwrap(), [1; 16]);
    assert_eq!(*host.host_access(Read).unwrap(), [0; 16]);
    assert!(log.copies().is_empty());
    drop(log);
    assert_eq!(*other.host_access(Read).unwrap(), [1; 16]);
    // The copy had ended, but no thread had waited for it.
    assert_eq!(*read.host_access(Read).unwrap(), [1; 16]);
    // A new queue does not find the lost contents.
    let queue = queue(0);
    let log = Log::start();
    submit_add_one(&queue, &both, &[]).wait().unwrap();
    assert_eq!(log.copies(), [64]);
    drop(log);
    access(&queue, &alone, 3, (4, 12), &[]).wait().unwrap();
    submit_add_one(&queue, &alone, &[]).wait().unwrap();
    assert_eq!(alone.into_vec().unwrap()[..4], [8; 4]);
    assert_eq!(both.into_vec().unwrap(), [2; 16]);
}

/// A wait, a status query, an append, executing a list, an allocation: each ends all lanes.
fn any_call_reports_a_loss() {
    type Ask = fn(&Queue, &Event, &Kernel) -> Option<ze_result_t>;
    fn submit(queue: &Queue, kernel: &Kernel) -> sycl::Result<Event> {
        let buffer = paged();
        queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(kernel, 16, (&a,))
        })
    }
    let tells: Ask = |queue, _, kernel| code_of(submit(queue, kernel));
    let cases: [(&str, Submission, Ask); 5] = [
        (
            "zeEventHostSynchronize",
            Submission::Immediate,
            |_, event, _| code_of(event.wait()),
        ),
        (
            "zeEventQueryStatus",
            Submission::Immediate,
            |_, event, _| {
                assert_eq!(event.status(), EventStatus::Failed);
                code_of(event.wait())
            },
        ),
        (
            "zeCommandListAppendLaunchKernelWithArguments",
            Submission::Immediate,
            tells,
        ),
        (
            "zeCommandQueueExecuteCommandLists",
            Submission::Batched,
            |queue, _, kernel| {
                let submitted = submit(queue, kernel);
                code_of(submitted.and_then(|event| event.wait()))
            },
        ),
        ("zeMemAllocDevice", Submission::Immediate, tells),
    ];
    for (function, submission, ask) in cases {
        if function.starts_with("zeMem") && !is_discrete() {
            continue;
        }
        let queue = Queue::builder().device(&devices()[0]);
        let queue = queue.submission(submission).build().unwrap();
        let bystander = self::queue(0);
        let gate = Gate::new();
        let event = bystander.submit_barrier(std::slice::from_ref(&gate.event));
        let event = event.unwrap();
        // Code that was built before an earlier loss does not affect objects created since.
        let kernel = kernel_in(&queue.context(), &queue.device());
        {
            let _log = Log::with(&format!("fail {function} DEVICE_LOST"));
            assert_eq!(ask(&queue, &event, &kernel), LOST, "{function}");
        }
        gate.open();
        assert_eq!(event.status(), EventStatus::Failed, "{function}");
        for queue in [&queue, &bystander] {
            assert_eq!(code_of(try_add_one(queue, &paged())), LOST, "{function}");
        }
    }
}

/// Memory, code, kernels, graphs and images: each ends all lanes.
fn any_creation_reports_a_loss() {
    type Ask = fn(&Queue, &KernelBundle<sycl::Executable>) -> Option<ze_result_t>;
    let build: Ask = |queue, _| {
        // SAFETY: the tests' kernels.
        let made =
            unsafe { KernelBundle::from_spirv(&queue.context(), &[queue.device()], &words()) };
        code_of(made.unwrap().build(c""))
    };
    let kernel: Ask = |_, built| code_of(built.kernel(c"add_one"));
    let graph: Ask = |queue, _| code_of(Graph::new(queue).finalize());
    let cases: [(&str, Ask); 9] = [
        ("zeMemAllocDevice", |queue, _| {
            code_of(usm::Block::<i32, usm::DeviceKind>::device(queue, 4))
        }),
        ("zeMemAllocShared", |queue, _| {
            code_of(usm::Block::<i32, usm::SharedKind>::shared(queue, 4))
        }),
        ("zeModuleCreate", build),
        ("zeModuleGetNativeBinary", |queue, built| {
            code_of(built.native_binary(&queue.device()))
        }),
        ("zeKernelCreate", kernel),
        ("zeKernelGetProperties", kernel),
        ("zeCommandListCreate", graph),
        ("zeCommandListClose", graph),
        ("zeImageCreate", |queue, _| {
            let image = UnsampledImage::<2>::new(RGBA8, [2, 2]).unwrap();
            code_of(queue.submit(|cg| {
                let _image = cg.image(&image, Write.no_init())?;
                cg.barrier()
            }))
        }),
    ];
    for (function, ask) in cases {
        let [queue, bystander] = [immediate(), self::queue(0)];
        let built = bundle_in(&queue.context());
        let gate = Gate::new();
        let event = bystander.submit_barrier(std::slice::from_ref(&gate.event));
        let event = event.unwrap();
        {
            let log = Log::with(&format!("fail {function} DEVICE_LOST"));
            assert_eq!(ask(&queue, &built), LOST, "{function}");
            assert_eq!(log.count(function), 1);
        }
        gate.open();
        assert_eq!(event.status(), EventStatus::Failed, "{function}");
        for queue in [&queue, &bystander] {
            assert_eq!(code_of(try_add_one(queue, &paged())), LOST, "{function}");
        }
    }
}

/// The call concerns no device: nothing is lost unless the driver reports the context as lost.
fn a_host_allocation_reports_a_loss() {
    for is_lost in [false, true] {
        let (context, _) = foreign();
        let queues: Vec<Queue> = devices()
            .iter()
            .map(|device| queue_in(&context, device))
            .collect();
        let script = match is_lost {
            true => "fail zeMemAllocHost DEVICE_LOST\nfail zeContextGetStatus DEVICE_LOST",
            false => "fail zeMemAllocHost DEVICE_LOST",
        };
        {
            let _log = Log::with(script);
            let made = usm::Block::<i32, usm::HostKind>::host(&queues[0], 4);
            assert_eq!(code_of(made), LOST);
        }
        for queue in &queues {
            let submitted = queue.submit_barrier(&[]);
            assert_eq!(submitted.is_err(), is_lost);
        }
    }
}

/// Such a lane would take work whose memory has lost the program's data. While a lane is created, with or without user
/// events, another lane reports that the device is lost.
fn lost_meanwhile() {
    for has_gate in [true, false] {
        let [queue, bystander] = [immediate(), immediate()];
        let gate = Gate::new();
        let event = bystander.submit_barrier(std::slice::from_ref(&gate.event));
        let event = event.unwrap();
        queue.submit_barrier(&[]).unwrap();
        // Ended work is not known to have ended, so that the next command chooses another lane.
        let log =
            Log::with("fail zeEventHostSynchronize DEVICE_LOST\nfail zeEventQueryStatus NOT_READY");
        let lost = event.clone();
        while_made(Made::List, move || {
            assert_eq!(code_of(lost.wait()), LOST);
            ZE_RESULT_SUCCESS
        });
        let after = match has_gate {
            true => std::slice::from_ref(&gate.event),
            false => &[],
        };
        let refused = queue.submit(|cg| {
            cg.depends_on(after);
            cg.barrier()
        });
        assert_eq!(event.status(), EventStatus::Failed, "{has_gate}");
        let refused = refused.unwrap_err();
        assert_eq!(refused.backend_code(), LOST, "{has_gate}: {refused}");
        let text = refused.to_string();
        assert!(text.contains("accepts no more work"), "{has_gate}: {text}");
        assert_eq!(log.count("zeCommandListDestroy"), 1, "{has_gate}");
        drop(log);
        gate.open();
    }
}

/// Objects that are created again after each of many losses are destroyed as often.
fn lost_lanes_are_not_kept() {
    const LOSSES: usize = 40;
    let (context, _) = foreign();
    let device = devices()[0].clone();
    let kernel = kernel_in(&context, &device);
    let (mut made, mut left) = (Vec::new(), Vec::new());
    for _ in 0..LOSSES {
        let log = losing();
        let queue = Queue::builder().context(&context).device(&device);
        let queue = queue.submission(Submission::Immediate).build().unwrap();
        let gate = Gate::of(&context);
        let buffer = on_its_device(&queue);
        let submitted = queue.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&gate.event));
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&kernel, 16, (&a,))
        });
        // A copy that waits for the gate, and one that does not.
        assert!(buffer.host_access(Read).is_err());
        let anew = queue_in(&context, &device);
        let other = on_its_device(&anew);
        drop(other.host_access(Read));
        {
            let last = queue_in(&context, &device);
            let lost = last.submit_barrier(std::slice::from_ref(&gate.event));
            assert_eq!(code_of(lost.unwrap().wait()), LOST);
        }
        gate.open();
        // The device is not really lost: its work ends before the memory it uses is freed.
        call!(device.pfnSynchronize(get_native(&device)));
        drop((submitted, queue, anew, buffer, other, gate));
        let count = |function| i64::try_from(log.count(function)).unwrap();
        let all = [
            "zeCommandListCreateImmediate",
            "zeCommandListCreate",
            "zeCommandQueueCreate",
        ];
        let all: i64 = all.map(count).iter().sum();
        let ended = count("zeCommandListDestroy") + count("zeCommandQueueDestroy");
        made.push(all);
        left.push(all - ended);
    }
    let kept: i64 = left.iter().sum();
    assert!(kept <= 12, "{left:?}");
    // The lists of queues, of work that waits for the gate, and of copies.
    assert!(made.iter().all(|made| *made >= 5), "{made:?}");
}

/// Over device USM, which is copied to and from the host in every world.
fn on_its_device(queue: &Queue) -> Buffer<'static, i32> {
    let (context, device) = (queue.context(), queue.device());
    let kind = usm::PointerType::Device;
    // SAFETY: the buffer frees it.
    let memory = unsafe { usm::malloc(64, 64, kind, Some(&device), &context) }.unwrap();
    let view = UsmView {
        device,
        context,
        pointer: memory.cast::<i32>(),
        initialised: true,
        free_with_buffer: true,
    };
    // SAFETY: the buffer's alone.
    unsafe { Buffer::from_usm(&[view], 16) }.unwrap()
}

/// A kernel writes to unmapped memory, in a separate process.
fn after_a_fault() {
    let output = Command::new(std::env::current_exe().unwrap())
        .env(WORLD, "faults")
        .env("UR_L0_LEAKS_DEBUG", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("the context is lost"), "{text}");
    assert!(!text.lines().any(|line| line.ends_with("LEAK")), "{text}");
}

pub(crate) fn bundle_in(context: &Context) -> KernelBundle<sycl::Executable> {
    // SAFETY: the kernels stay inside what they are given, but for one.
    let input = unsafe { KernelBundle::from_spirv(context, &devices(), &words()) };
    input.unwrap().build(c"").unwrap()
}

/// The program whose kernel faults.
pub(crate) fn faults() {
    crate::world::enter();
    let lost = context();
    let kernels = bundle_in(&lost);
    let (set_from, add_one) = (
        kernels.kernel(c"set_from").unwrap(),
        kernels.kernel(c"add_one").unwrap(),
    );
    let queues: Vec<Queue> = devices()
        .iter()
        .map(|device| queue_in(&lost, device))
        .collect();
    let add = |queue: &Queue, kernel: &sycl::Kernel, buffer: &Buffer<'_, i32>| {
        queue.submit(|cg| {
            let a = cg.access(buffer, ReadWrite)?;
            cg.parallel_for(kernel, 16, (&a,))
        })
    };
    let [alone, both] = [paged(), paged()];
    for buffer in [&alone, &both] {
        add(&queues[0], &add_one, buffer).unwrap().wait().unwrap();
    }
    drop(both.host_access(Read).unwrap());
    let target = paged();
    let faulty = queues[0].submit(|cg| {
        let a = cg.access(&target, ReadWrite)?;
        cg.parallel_for(&set_from, 1, (&a, 1u64 << 40, 5i32))
    });
    assert_eq!(code_of(faulty.unwrap().wait()), LOST);
    refused_as_poisoned(&target, 16, 0);
    for queue in &queues {
        assert_eq!(code_of(add(queue, &add_one, &paged())), LOST, "one context");
        assert!(queue.wait().is_ok() || std::ptr::eq(queue, &queues[0]));
    }
    // The platform's context, and one of the program.
    let fresh = context();
    assert_ne!(get_native(&fresh), get_native(&lost));
    assert_eq!(
        get_native(&Context::new(&devices()).unwrap()),
        get_native(&fresh)
    );
    let add_one = bundle_in(&fresh).kernel(c"add_one").unwrap();
    for (number, device) in devices().iter().enumerate() {
        let queue = Queue::builder().device(device).build().unwrap();
        add(&queue, &add_one, &both).unwrap().wait().unwrap();
        assert_eq!(*both.host_access(Read).unwrap(), [2 + number as i32; 16]);
        let filled = queue.submit(|cg| {
            let a = cg.access(&target, Write.no_init())?;
            cg.fill(&a, 3)
        });
        filled.unwrap().wait().unwrap();
        assert_eq!(*target.host_access(Read).unwrap(), [3; 16]);
        match is_discrete() {
            true => assert_eq!(code_of(add(&queue, &add_one, &alone)), LOST),
            false => add(&queue, &add_one, &alone).unwrap().wait().unwrap(),
        }
    }
}
