//! Objects created after a device was lost, and earlier objects that report the loss only then.

use std::cell::RefCell;
use std::rc::Rc;

use level_zero::sys::*;
use sycl::interop::{KernelBundleInput, Ownership, get_native, make_kernel_bundle};
use sycl::usm::PointerType;
use sycl::{
    Addressing, Buffer, ChannelOrder, ChannelType, Context, Event, EventStatus, Executable,
    ExecutableGraph, Filtering, Graph, ImageFormat, Kernel, KernelBundle, Queue, Read, ReadWrite,
    SampledImage, Sampler, Submission, UnsampledImage, UsmView, Write, usm,
};

use crate::copies::{Made, while_made};
use crate::groups::{RGBA8, kernels as images, paged};
use crate::losses::losing;
use crate::lost::{LOST, bundle_in, code_of};
use crate::native::{foreign, kernel_in};
use crate::waits::{Sticks, stick};
use crate::world::{Gate, Log, call, devices, is_discrete, is_running, words};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "calls_begun_before_a_loss_do_not_end_new_objects",
        Where::Everywhere,
        begun_before,
    ),
    (
        "objects_from_before_a_loss_do_not_end_new_ones",
        Where::Everywhere,
        made_before,
    ),
    (
        "embedded_kernels_are_rebuilt_after_a_loss",
        Where::Everywhere,
        embedded_before,
    ),
    (
        "memory_is_reallocated_after_a_loss",
        Where::Everywhere,
        memory_before,
    ),
    (
        "the_programs_memory_reports_an_old_loss_only_to_its_users",
        Where::Everywhere,
        the_programs_memory,
    ),
    (
        "a_module_of_any_device_reports_the_loss_of_its_device",
        Where::Everywhere,
        of_any_device,
    ),
    (
        "waits_from_before_a_loss_do_not_end_new_objects",
        Where::Everywhere,
        waited_before,
    ),
    (
        "a_transfer_lane_created_during_a_loss_is_replaced",
        Where::Discrete,
        a_lane_for_copies,
    ),
];

/// A queue on the first device.
fn queue_in(context: &Context) -> Queue {
    let queue = Queue::builder().context(context).device(&devices()[0]);
    queue.submission(Submission::Immediate).build().unwrap()
}

/// Loses the first device.
fn lose(context: &Context) {
    let (queue, gate) = (queue_in(context), Gate::of(context));
    let event = queue.submit_barrier(std::slice::from_ref(&gate.event));
    {
        let _log = losing();
        assert_eq!(code_of(event.unwrap().wait()), LOST);
    }
    gate.open();
}

/// A queue created after a loss, with work on it.
struct Anew {
    queue: Queue,
    gate: Gate,
    event: Event,
}

impl Anew {
    fn of(context: &Context) -> Self {
        let (queue, gate) = (queue_in(context), Gate::of(context));
        let event = queue.submit_barrier(std::slice::from_ref(&gate.event));
        let event = event.unwrap();
        Self { queue, gate, event }
    }

    fn goes_on(self, what: &str) {
        assert!(is_running(&self.event), "{what}");
        self.gate.open();
        self.event.wait().unwrap();
        self.queue.submit_barrier(&[]).unwrap().wait().unwrap();
    }
}

/// A list and memory of the device, whose loss another thread detects meanwhile.
fn begun_before() {
    type Make = fn(&Queue) -> Option<ze_result_t>;
    let cases: [(Made, Make); 2] = [
        (Made::List, |queue| {
            let (context, device) = (queue.context(), queue.device());
            let queue = Queue::builder().context(&context).device(&device);
            code_of(queue.submission(Submission::Immediate).build())
        }),
        (Made::Memory, |queue| {
            code_of(usm::Block::<i32, usm::DeviceKind>::device(queue, 4))
        }),
    ];
    for (made, make) in cases {
        let (context, _) = foreign();
        let queue = queue_in(&context);
        let anew = Rc::new(RefCell::new(None));
        let made_anew = Rc::clone(&anew);
        while_made(made, move || {
            lose(&context);
            *made_anew.borrow_mut() = Some(Anew::of(&context));
            ZE_RESULT_ERROR_DEVICE_LOST
        });
        assert_eq!(make(&queue), LOST, "{made:?}");
        let anew = anew.take().unwrap();
        anew.goes_on(&format!("{made:?}"));
    }
}

struct Old {
    bundle: KernelBundle<Executable>,
    kernel: Kernel,
    graph: ExecutableGraph,
}

/// Code and graphs: only their users get the loss.
fn made_before() {
    type Ask = fn(&Old, &Queue) -> Option<ze_result_t>;
    let cases: [(&str, Ask); 3] = [
        ("zeKernelCreate", |old, _| {
            code_of(old.bundle.kernel(c"add_one"))
        }),
        (
            "zeCommandListAppendLaunchKernelWithArguments",
            |old, queue| {
                let buffer = paged();
                code_of(queue.submit(|cg| {
                    let a = cg.access(&buffer, ReadWrite)?;
                    cg.parallel_for(&old.kernel, 16, (&a,))
                }))
            },
        ),
        (
            "zeCommandListImmediateAppendCommandListsExp",
            |old, queue| code_of(queue.submit_graph(&old.graph, &[])),
        ),
    ];
    for (function, ask) in cases {
        let (context, _) = foreign();
        let bundle = bundle_in(&context);
        let kernel = bundle.kernel(c"add_one").unwrap();
        let graph = Graph::new(&queue_in(&context)).finalize().unwrap();
        let old = Old {
            bundle,
            kernel,
            graph,
        };
        lose(&context);
        let anew = Anew::of(&context);
        {
            let log = Log::with(&format!("fail {function} DEVICE_LOST"));
            assert_eq!(ask(&old, &anew.queue), LOST, "{function}");
            assert_eq!(log.count(function), 1, "{function}");
        }
        anew.goes_on(function);
    }
}

mod embedded {
    sycl::kernels! {
        pub(crate) unsafe mod kernels = "../../kernels/tests.spv" { add_one }
    }
}

/// The driver may reject code that was built before, and the program has no bundle to rebuild.
fn embedded_before() {
    use embedded::kernels;
    let (context, _) = foreign();
    let built = |queue: &Queue| {
        let buffer = paged();
        let log = Log::start();
        for _ in 0..2 {
            let submitted = queue.submit(|cg| {
                let a = cg.access(&buffer, ReadWrite)?;
                cg.parallel_for(kernels::add_one, 16, (&a,))
            });
            submitted.unwrap().wait().unwrap();
        }
        let counts = ["zeModuleCreate", "zeKernelCreate"].map(|made| log.count(made));
        drop(log);
        assert_eq!(buffer.into_vec().unwrap(), [2; 16]);
        counts
    };
    assert_eq!(built(&queue_in(&context)), [1, 1]);
    assert_eq!(built(&queue_in(&context)), [0, 0]);
    lose(&context);
    let queue = queue_in(&context);
    assert_eq!(built(&queue), [1, 1]);
    assert_eq!(built(&queue), [0, 0]);
}

/// Memory of buffers, images and their views over host memory, samplers: the driver may reject all of them.
fn memory_before() {
    let (context, _) = foreign();
    let sampler = Sampler {
        normalized: false,
        addressing: Addressing::ClampToEdge,
        filtering: Filtering::Nearest,
    };
    let texels = vec![0.5f32; 4];
    let format = ImageFormat::new(ChannelOrder::R, ChannelType::Fp32);
    let image = SampledImage::from_slice(&texels, format, sampler, [2, 2]).unwrap();
    let at = Buffer::from_slice(&[[0.0f32, 0.0]], 1).unwrap();
    let seen = Buffer::<[f32; 4]>::new(1).unwrap();
    // Its rows are not copied yet, so a view over them is possible.
    let empty = UnsampledImage::<2>::new(RGBA8, [2, 2]).unwrap();
    let look_up = |queue: &Queue| {
        let log = Log::start();
        let submitted = queue.submit(|cg| {
            let _image = cg.image(&empty, Write.no_init())?;
            cg.barrier()
        });
        submitted.unwrap().wait().unwrap();
        let submitted = queue.submit(|cg| {
            let from = cg.sampled(&image)?;
            let (at, seen) = (cg.access(&at, Read)?, cg.access(&seen, Write)?);
            let arguments = (&from, image.sampler(), &at, &seen);
            cg.parallel_for(images::look_up, 1, arguments)
        });
        submitted.unwrap().wait().unwrap();
        let made = ["zeSamplerCreate", "zeImageCreate", "zeMemAllocDevice"];
        let made = made.map(|made| log.count(made));
        let ended = ["zeImageDestroy", "zeMemFree"].map(|ended| log.count(ended));
        drop(log);
        assert_eq!(seen.host_access(Read).unwrap()[0][0], 0.5);
        (made, ended)
    };
    // The host memory of a buffer with contents belongs to another context.
    let all = [1, 2, if is_discrete() { 2 } else { 1 }];
    assert_eq!(look_up(&queue_in(&context)), (all, [0, 0]));
    assert_eq!(look_up(&queue_in(&context)), ([0; 3], [0, 0]));
    lose(&context);
    let queue = queue_in(&context);
    assert_eq!(look_up(&queue), (all, [2, all[2]]));
    assert_eq!(look_up(&queue), ([0; 3], [0, 0]));
}

/// The program's memory stays: only its users get the loss.
fn the_programs_memory() {
    let (context, _) = foreign();
    let device = devices()[0].clone();
    // SAFETY: freed below, once the buffer is no more.
    let memory = unsafe { usm::malloc(64, 64, PointerType::Device, Some(&device), &context) };
    let memory = memory.unwrap();
    let view = UsmView {
        device: device.clone(),
        context: context.clone(),
        pointer: memory.cast::<i32>(),
        initialised: false,
        free_with_buffer: false,
    };
    // SAFETY: the buffer's alone until its end.
    let buffer = unsafe { Buffer::from_usm(&[view], 16) }.unwrap();
    lose(&context);
    let anew = Anew::of(&context);
    let kernel = kernel_in(&context, &device);
    type Ask = fn(&Queue, &Buffer<'_, i32>, &Kernel) -> Option<ze_result_t>;
    let cases: [(&str, Ask); 3] = [
        (
            "zeCommandListAppendLaunchKernelWithArguments",
            |queue, buffer, kernel| {
                code_of(queue.submit(|cg| {
                    let a = cg.access(buffer, Write.no_init())?;
                    cg.parallel_for(kernel, 16, (&a,))
                }))
            },
        ),
        ("zeCommandListAppendMemoryFill", |queue, buffer, _| {
            code_of(queue.submit(|cg| {
                let a = cg.access(buffer, Write.no_init())?;
                cg.fill(&a, 7)
            }))
        }),
        (
            // From the host, which has the contents.
            "zeCommandListAppendMemoryCopy",
            |queue, buffer, kernel| {
                buffer.host_access(Write.no_init()).unwrap().fill(1);
                code_of(queue.submit(|cg| {
                    let a = cg.access(buffer, ReadWrite)?;
                    cg.parallel_for(kernel, 16, (&a,))
                }))
            },
        ),
    ];
    for (function, ask) in cases {
        let log = Log::with(&format!("fail {function} DEVICE_LOST"));
        assert_eq!(ask(&anew.queue, &buffer, &kernel), LOST, "{function}");
        assert_eq!(log.count(function), 1, "{function}");
    }
    anew.goes_on("the program's memory");
    drop(buffer);
    // SAFETY: it is no longer used.
    unsafe { usm::free(memory, &context) }.unwrap();
}

/// The device of a module that the program created is not known: an earlier loss of one device does not affect the
/// other.
fn of_any_device() {
    let (context, handle) = foreign();
    let devices = devices();
    let words = words();
    let desc = ze_module_desc_t {
        format: ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize: 4 * words.len(),
        pInputModule: words.as_ptr().cast(),
        ..Default::default()
    };
    let mut module = std::ptr::null_mut();
    let (first, no_log) = (get_native(&devices[0]), std::ptr::null_mut());
    call!(module.pfnCreate(handle, first, &raw const desc, &raw mut module, no_log));
    let input = KernelBundleInput {
        native_handle: module,
        ownership: Ownership::Keep,
    };
    // SAFETY: a live module of the context.
    let bundle = unsafe { make_kernel_bundle(input, &context) }.unwrap();
    let kernel = bundle.kernel(c"add_one").unwrap();
    lose(&context);
    let queue = Queue::builder().context(&context).device(&devices[1]);
    let queue = queue.submission(Submission::Immediate).build().unwrap();
    let gate = Gate::of(&context);
    let other = queue.submit_barrier(std::slice::from_ref(&gate.event));
    let other = other.unwrap();
    let buffer = paged();
    {
        // The kernel's parameters are not known.
        let _log = Log::with("fail zeCommandListAppendLaunchKernel DEVICE_LOST");
        let launched = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&kernel, 16, (&a,))
        });
        assert_eq!(code_of(launched), LOST);
    }
    gate.open();
    assert_eq!(other.status(), EventStatus::Failed);
    drop((kernel, bundle));
    call!(module.pfnDestroy(module));
}

/// A thread that returns from its wait only after everything was created again.
fn waited_before() {
    let (context, _) = foreign();
    let (queue, gate) = (queue_in(&context), Gate::of(&context));
    let event = queue.submit_barrier(std::slice::from_ref(&gate.event));
    let event = event.unwrap();
    std::thread::scope(|scope| {
        let sticks = Sticks::new();
        let waiter = scope.spawn(|| {
            stick(ZE_RESULT_ERROR_DEVICE_LOST);
            assert_eq!(code_of(event.wait()), LOST);
        });
        gate.open();
        sticks.event();
        lose(&context);
        let anew = Anew::of(&context);
        drop(sticks);
        waiter.join().unwrap();
        anew.goes_on("a wait");
    });
}

/// Its list may be one of the lost ones, and gets no more commands.
fn a_lane_for_copies() {
    let (context, _) = foreign();
    let kernel = kernel_in(&context, &devices()[0]);
    let add_one = |queue: &Queue| {
        let buffer = paged();
        let submitted = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&kernel, 16, (&a,))
        });
        submitted?.wait()?;
        buffer.into_vec()
    };
    let queue = queue_in(&context);
    let lost = context.clone();
    while_made(Made::List, move || {
        lose(&lost);
        ZE_RESULT_SUCCESS
    });
    assert_eq!(code_of(add_one(&queue)), LOST);
    let queue = queue_in(&context);
    let log = Log::start();
    assert_eq!(add_one(&queue).unwrap(), [1; 16]);
    assert_eq!(log.count("zeCommandListCreateImmediate"), 1);
}
