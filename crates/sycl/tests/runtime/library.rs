//! Properties of objects, device selectors, and the crate's own kernels.

use sycl::{
    Aspect, AspectSelector, BitAnd, BitOr, BitXor, Buffer, CpuSelector, Device, Errc,
    FilterSelector, Maximum, Minimum, Multiplies, Operation, Partition, Plus, Queue, Read,
    Reduction, Result, Write, info,
};

use crate::{Test, Where, world};

pub(crate) const TESTS: &[Test] = &[
    ("info_descriptors", Where::Everywhere, info_descriptors),
    ("filter_selector", Where::Everywhere, filter_selector),
    (
        "selectors_choose_by_aspect_and_by_closure",
        Where::Everywhere,
        selectors,
    ),
    (
        "sub_devices_follow_the_hardware",
        Where::Everywhere,
        sub_devices,
    ),
    ("spec_constants", Where::Everywhere, spec_constants),
    ("reduction_ops", Where::Everywhere, reduction_ops),
    (
        "reductions_by_the_programs_kernel",
        Where::Everywhere,
        reduction_by_kernel,
    ),
    ("kernels_are_known_by_name", Where::Everywhere, kernel_ids),
    ("ids_begin_at_an_offset", Where::Everywhere, offset),
    ("queues_have_priorities", Where::Everywhere, priorities),
    (
        "embedded_kernels_are_built_once_for_a_device",
        Where::Everywhere,
        embedded_once,
    ),
];

/// A value, or FEATURE_NOT_SUPPORTED.
fn answered<T>(name: &str, answer: Result<T>) {
    if let Err(error) = answer {
        assert_eq!(error.errc(), Errc::FeatureNotSupported, "{name}: {error}");
    }
}

macro_rules! all_answered {
    ($object:expr, $module:ident: $($name:ident)*) => { $(
        answered(stringify!($name), $object.info::<info::$module::$name>());
    )* };
}

fn info_descriptors() {
    for platform in sycl::Platform::all().unwrap() {
        all_answered!(platform, platform: Name Vendor Version Profile Extensions);
        assert_eq!(
            platform.info::<info::platform::Profile>().unwrap(),
            "FULL_PROFILE"
        );
    }
    for device in world::devices() {
        all_answered!(device, device: OfPlatform OfBackend Kind Name Vendor VendorId DriverVersion Version Uuid PciAddress
            Aspects MaxComputeUnits MaxWorkItemDimensions MaxWorkItemSizes1 MaxWorkItemSizes2 MaxWorkItemSizes3
            MaxWorkGroupSize SubGroupSizes MaxNumSubGroups SubGroupIndependentForwardProgress MaxClockFrequency AddressBits
            MaxParameterSize PrintfBufferSize ProfilingTimerResolution IsAvailable ErrorCorrectionSupport MaxMemAllocSize
            GlobalMemSize FreeMemory LocalMemSize LocalMemType GlobalMemCacheSize GlobalMemCacheType HalfFpConfig
            SingleFpConfig DoubleFpConfig PreferredVectorWidths NativeVectorWidths Image1dMaxWidth Image2dMaxWidth
            Image2dMaxHeight Image3dMaxWidth Image3dMaxHeight Image3dMaxDepth ImageMaxBufferSize ImageMaxArraySize
            MaxSamplers MaxReadImageArgs MaxWriteImageArgs PartitionMaxSubDevices PartitionProperties
            PartitionAffinityDomains PartitionTypeProperty PartitionTypeAffinityDomain ParentDevice GlobalMemCacheLineSize
            MemBaseAddrAlign ExecutionCapabilities AtomicMemoryOrderCapabilities AtomicFenceOrderCapabilities
            AtomicMemoryScopeCapabilities AtomicFenceScopeCapabilities UsmDeviceAllocations UsmHostAllocations
            UsmSharedAllocations UsmSystemAllocations);
        let line = device
            .info::<info::device::GlobalMemCacheLineSize>()
            .unwrap();
        assert!(line.is_power_of_two(), "{line} bytes of a line");
        let sizes = device.info::<info::device::MaxWorkItemSizes3>().unwrap();
        let row = device.info::<info::device::MaxWorkItemSizes1>().unwrap();
        assert_eq!(sizes.0[2], row.0[0], "the last dimension is the fastest");
        assert!(device.info::<info::device::MaxWorkGroupSize>().unwrap() >= 1);
        let memory = device.info::<info::device::GlobalMemSize>().unwrap();
        assert!(memory > 1 << 20);
        let free = device.info::<info::device::FreeMemory>().unwrap();
        assert!((1..=memory).contains(&free), "{free} of {memory} bytes");
        assert!(device.has(Aspect::UsmDeviceAllocations) && device.has(Aspect::OnlineCompiler));
        assert!(
            device
                .info::<info::device::Aspects>()
                .unwrap()
                .contains(&Aspect::QueueProfiling)
        );
    }
    let queue = Queue::builder()
        .device(&world::devices()[0])
        .enable_profiling()
        .build()
        .unwrap();
    all_answered!(queue, queue: OfContext OfDevice InOrder ComputeIndex Priority);
    let kernel = world::kernel("add_one");
    all_answered!(kernel, kernel: FunctionName NumArgs OfContext Attributes);
    assert_eq!(kernel.info::<info::kernel::NumArgs>().unwrap(), 1);
    let device = queue.device();
    macro_rules! on_device {
        ($($name:ident)*) => { $(
            answered(stringify!($name), kernel.device_info::<info::kernel_device::$name>(&device));
        )* };
    }
    on_device!(WorkGroupSize PreferredWorkGroupSizeMultiple PrivateMemSize LocalMemSize CompileSubGroupSize
        MaxSubGroupSize MaxNumSubGroups CompileWorkGroupSize);
    let range = kernel.device_info::<info::kernel_device::GlobalWorkSize>(&device);
    assert_eq!(range.unwrap_err().errc(), Errc::Invalid);
    let of = |name| world::kernel(name);
    let local = of("reverse").device_info::<info::kernel_device::LocalMemSize>(&device);
    assert_eq!(
        local.unwrap(),
        0,
        "passed local memory is not declared by the kernel"
    );
    let multiple = kernel
        .device_info::<info::kernel_device::PreferredWorkGroupSizeMultiple>(&device)
        .unwrap();
    let greatest = kernel.device_info::<info::kernel_device::MaxSubGroupSize>(&device);
    assert_eq!(multiple, greatest.unwrap() as usize);
    let event = queue.submit(|cg| cg.barrier()).unwrap();
    let start = event
        .info::<info::event::profiling::CommandStart>()
        .unwrap();
    let submitted = event.info::<info::event::profiling::CommandSubmit>();
    assert!((1..=start).contains(&submitted.unwrap()));
    let status = event.info::<info::event::CommandExecutionStatus>();
    assert_eq!(status.unwrap(), sycl::EventStatus::Complete);
    assert!(start <= event.info::<info::event::profiling::CommandEnd>().unwrap());
    let context = queue.context();
    all_answered!(context, context: OfPlatform AtomicMemoryOrderCapabilities AtomicFenceOrderCapabilities
        AtomicMemoryScopeCapabilities AtomicFenceScopeCapabilities);
    assert!(
        context
            .info::<info::context::Devices>()
            .unwrap()
            .contains(&device)
    );
}

fn filter_selector() {
    let first = world::devices().remove(0);
    let selector: FilterSelector = "level_zero:*:0,0".replace(":*", "").parse().unwrap();
    for _ in 0..2 {
        assert_eq!(
            Device::select(&selector).unwrap(),
            first,
            "a selector can be used repeatedly"
        );
    }
    for wrong in ["", "gpu,,cpu", "a:b:c:d", "gpu:gpu", "nonsense"] {
        let error = wrong.parse::<FilterSelector>().unwrap_err();
        assert_eq!(error.errc(), Errc::Runtime, "{wrong:?}: {error}");
    }
    let none: FilterSelector = "cuda".parse().unwrap();
    assert_eq!(Device::select(&none).unwrap_err().errc(), Errc::Runtime);
}

fn selectors() {
    let require = |require: Vec<Aspect>| {
        Device::select(&AspectSelector {
            require,
            deny: Vec::new(),
        })
    };
    assert_eq!(
        require(vec![Aspect::Cpu]).unwrap(),
        Device::select(&CpuSelector).unwrap()
    );
    assert_eq!(
        require(vec![Aspect::Cpu, Aspect::Gpu]).unwrap_err().errc(),
        Errc::Runtime
    );
    let devices = world::devices();
    let last = devices.last().unwrap();
    assert_eq!(
        Device::select(&|device: &Device| if device == last { 1 } else { 0 }).unwrap(),
        *last
    );
    assert_eq!(
        Device::select(&|_: &Device| -1).unwrap_err().errc(),
        Errc::Runtime
    );
}

fn sub_devices() {
    for device in world::devices() {
        let parts = device
            .info::<info::device::PartitionMaxSubDevices>()
            .unwrap();
        match device.create_sub_devices(&Partition::AffinityNextPartitionable) {
            Ok(made) => {
                assert_eq!(made.len(), parts as usize);
                assert!(
                    made.iter()
                        .all(|part| part.parent() == Some(device.clone()))
                );
            }
            Err(error) => assert_eq!(error.errc(), Errc::FeatureNotSupported, "{error}"),
        }
        let units = device.info::<info::device::MaxComputeUnits>().unwrap();
        let error = device
            .create_sub_devices(&Partition::Equally(units + 1))
            .unwrap_err();
        assert_eq!(error.errc(), Errc::Invalid, "{error}");
        // Level Zero divides devices only as the hardware does, not by numbers.
        for by_number in [Partition::Equally(1), Partition::Counts(vec![1, 1])] {
            let error = device.create_sub_devices(&by_number).unwrap_err();
            assert_eq!(error.errc(), Errc::FeatureNotSupported, "{error}");
        }
    }
}

fn reduced<T, O>(queue: &Queue, values: &[T], operation: O, before: Option<T>) -> T
where
    T: sycl::Number,
    O: Operation<T>,
{
    let values = Buffer::from_slice(values, [values.len()]).unwrap();
    let into = Buffer::from_slice(&[before.unwrap_or(operation.identity())], [1]).unwrap();
    let mut reduction = Reduction::new(&into, operation);
    if before.is_none() {
        reduction = reduction.initialize_to_identity();
    }
    queue.reduce(&values, reduction).unwrap();
    into.into_vec().unwrap()[0]
}

fn reduction_ops() {
    let queue = world::queue(0);
    for count in [0usize, 1, 2, 251, 1021, 70_001] {
        let values: Vec<i64> = (0..count as i64).map(|i| (i * 7919) % 1009 - 500).collect();
        let fold = |first: i64, f: fn(i64, i64) -> i64| values.iter().copied().fold(first, f);
        assert_eq!(
            reduced(&queue, &values, Plus, None),
            fold(0, i64::wrapping_add),
            "{count}"
        );
        assert_eq!(
            reduced(&queue, &values, Plus, Some(1000)),
            fold(1000, i64::wrapping_add),
            "{count}"
        );
        assert_eq!(
            reduced(&queue, &values, Minimum, None),
            fold(i64::MAX, i64::min),
            "{count}"
        );
        assert_eq!(
            reduced(&queue, &values, Maximum, Some(3)),
            fold(3, i64::max),
            "{count}"
        );
        assert_eq!(
            reduced(&queue, &values, BitXor, None),
            fold(0, |a, b| a ^ b),
            "{count}"
        );
    }
    let million = vec![3i32; 1_000_000];
    assert_eq!(reduced(&queue, &million, Plus, None), 3_000_000);
    let few: Vec<u32> = (1..=12).collect();
    assert_eq!(
        reduced(&queue, &few, Multiplies, None),
        few.iter().product::<u32>()
    );
    assert_eq!(reduced(&queue, &few, BitOr, None), 15);
    assert_eq!(reduced(&queue, &few, BitAnd, Some(6)), 0);
    let halves = vec![0.5f32; 1000];
    assert_eq!(reduced(&queue, &halves, Plus, None), 500.0);
    assert_eq!(reduced(&queue, &[1.5f64, -2.5, 0.0], Minimum, None), -2.5);
    assert_eq!(reduced(&queue, &[7i32, -9], Maximum, None), 7);
    assert_eq!(reduced(&queue, &[7u64, 9], Plus, None), 16);
    let nowhere = Buffer::<i32>::new([0]).unwrap();
    let values = Buffer::from_slice(&[1], [1]).unwrap();
    let error = queue
        .reduce(&values, Reduction::new(&nowhere, Plus))
        .unwrap_err();
    assert_eq!(error.errc(), Errc::Invalid);
}

mod embedded {
    sycl::kernels! {
        pub(crate) unsafe mod kernels = "../../kernels/tests.spv" { add_one }
    }
}

mod partners {
    sycl::kernels! {
        pub(crate) unsafe mod kernels = "../../kernels/tests.spv" { larger }
    }
}

fn reduction_by_kernel() {
    use partners::kernels;
    let queue = world::queue(0);
    for count in [1usize, 2, 3, 64, 1000] {
        let values: Vec<i32> = (0..count as i32).map(|i| (i * 7919) % 1009).collect();
        let largest = values.iter().copied().max().unwrap();
        let values = Buffer::from_slice(&values, [count]).unwrap();
        let into = Buffer::from_slice(&[-1], [1]).unwrap();
        let reduced = queue.reduce_with(&values, &into, kernels::larger);
        reduced.unwrap().wait().unwrap();
        assert_eq!(into.into_vec().unwrap(), [largest], "{count}");
    }
    let none = Buffer::<i32>::new([0]).unwrap();
    let into = Buffer::<i32>::new([1]).unwrap();
    let refused = queue.reduce_with(&none, &into, kernels::larger);
    assert_eq!(refused.unwrap_err().errc(), Errc::Invalid);
}

fn kernel_ids() {
    let bundle = world::bundle();
    let names: Vec<String> = bundle.kernel_names().unwrap();
    let ids = bundle.kernel_ids().unwrap();
    assert!(ids.iter().any(|id| id.name() == "add_one"));
    assert!(
        ids.iter()
            .all(|id| names.iter().any(|name| name == id.name()))
    );
    assert_eq!(ids.len(), names.len());
    assert!(bundle.has_kernel(&"stamp".into()) && !bundle.has_kernel(&"stamps".into()));
    let wrong = bundle.kernel(c"stamps").unwrap_err();
    assert_eq!(wrong.errc(), Errc::Invalid, "{wrong}");
}

fn offset() {
    let (queue, set) = (world::queue(0), world::kernel("set"));
    let values = Buffer::from_slice(&[0i32; 8], [8]).unwrap();
    let submitted = queue.submit(|cg| {
        let a = cg.access(&values, sycl::ReadWrite)?;
        cg.parallel_for_offset(&set, [3], sycl::Id([4]), (&a, 9))
    });
    submitted.unwrap();
    // The next launch begins at 0 again.
    let submitted = queue.submit(|cg| {
        let a = cg.access(&values, sycl::ReadWrite)?;
        cg.parallel_for(&set, [1], (&a, 5))
    });
    submitted.unwrap();
    assert_eq!(values.into_vec().unwrap(), [5, 0, 0, 0, 9, 9, 9, 0]);
}

fn priorities() {
    let add_one = world::kernel("add_one");
    let values = Buffer::from_slice(&[0i32; 8], [8]).unwrap();
    for priority in [
        sycl::Priority::Low,
        sycl::Priority::Normal,
        sycl::Priority::High,
    ] {
        let queue = Queue::builder()
            .device(&world::devices()[0])
            .priority(priority);
        let queue = queue.build().unwrap();
        let submitted = queue.submit(|cg| {
            let a = cg.access(&values, sycl::ReadWrite)?;
            cg.parallel_for(&add_one, [8], (&a,))
        });
        submitted.unwrap();
    }
    assert_eq!(values.into_vec().unwrap(), [3; 8]);
}

mod constants {
    sycl::kernels! {
        pub(crate) unsafe mod kernels = "../../kernels/constants.spvasm";
    }
}

/// With default values, set for a group, and set for a bundle; two sets of values in alternation are two modules.
fn spec_constants() {
    use constants::kernels;
    let queue = world::queue(0);
    let run = |factor: Option<i32>, term: Option<i32>| {
        let values = Buffer::from_slice(&[5i32, 6, 7], [3]).unwrap();
        let submitted = queue.submit(|cg| {
            for (id, value) in [(kernels::FACTOR, factor), (kernels::TERM, term)] {
                if let Some(value) = value {
                    cg.spec_const(id, value)?;
                }
            }
            let values = cg.access(&values, sycl::ReadWrite)?;
            cg.parallel_for(kernels::scale, [3], (&values,))
        });
        submitted.unwrap();
        values.into_vec().unwrap()
    };
    assert_eq!(run(None, None), [11, 13, 15]);
    assert_eq!(run(Some(10), None), [51, 61, 71]);
    assert_eq!(run(None, Some(-1)), [9, 11, 13]);
    let log = world::Log::start();
    for _ in 0..5 {
        assert_eq!(run(Some(3), Some(0)), [15, 18, 21]);
        assert_eq!(run(Some(4), Some(4)), [24, 28, 32]);
    }
    assert_eq!(log.count("zeModuleCreate"), 2, "one for each set of values");
    drop(log);
    let devices = [queue.device()];
    let mut bundle = kernels::module()
        .bundle(&queue.context(), &devices)
        .unwrap();
    bundle.set_spec_const(kernels::FACTOR, 7).unwrap();
    let scale = bundle.build(c"").unwrap().kernel(c"scale").unwrap();
    for (term, want) in [(None, 36), (Some(100), 135)] {
        let values = Buffer::from_slice(&[5i32], [1]).unwrap();
        let submitted = queue.submit(|cg| {
            if let Some(term) = term {
                cg.spec_const(kernels::TERM, term)?;
            }
            let values = cg.access(&values, sycl::ReadWrite)?;
            cg.parallel_for(&scale, [1], (&values,))
        });
        submitted.unwrap();
        assert_eq!(values.into_vec().unwrap(), [want]);
    }
}

fn embedded_once() {
    let queue = world::queue(0);
    let log = world::Log::start();
    let values = Buffer::from_slice(&[1i32, 2, 3], [3]).unwrap();
    for _ in 0..3 {
        queue
            .submit(|cg| {
                let values = cg.access(&values, sycl::ReadWrite)?;
                cg.parallel_for(embedded::kernels::add_one, [3], (&values,))
            })
            .unwrap();
    }
    assert_eq!(values.into_vec().unwrap(), [4, 5, 6]);
    assert!(log.count("zeModuleCreate") <= 1);
    assert!(log.count("zeKernelCreate") <= 1);
    let copy = Buffer::<i32>::new([1]).unwrap();
    queue
        .submit(|cg| {
            let copy = cg.access(&copy, Write.no_init())?;
            cg.fill(&copy, 3)
        })
        .unwrap();
    assert_eq!(copy.host_access(Read).unwrap()[0], 3);
}
