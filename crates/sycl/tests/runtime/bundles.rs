//! Kernel bundles in their three states: SPIR-V of either byte order, linking of compiled halves, and the errors of
//! each step.

use level_zero::sys::{
    ZE_MODULE_FORMAT_IL_SPIRV, ZE_RESULT_ERROR_MODULE_LINK_FAILURE, ze_module_desc_t,
};
use sycl::interop::{KernelBundleInput, Ownership, get_native, make_kernel_bundle};
use sycl::{
    Aspect, Backend, Buffer, Context, Device, Errc, Input, Kernel, KernelBundle, Platform, Queue,
    ReadWrite, Result, SpecId,
};

use crate::world::{Log, call, context, devices, queue, words};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    ("halves_are_linked", Where::Everywhere, linked),
    ("a_half_alone_is_not_executable", Where::Everywhere, half),
    ("spirv_of_either_byte_order", Where::Everywhere, byte_orders),
    ("host_tasks_get_their_queue", Where::Everywhere, handle),
    (
        "code_with_a_missing_aspect_is_rejected",
        Where::Tiles,
        lacking,
    ),
    (
        "kernels_with_too_large_groups_are_rejected_on_that_device",
        Where::Everywhere,
        too_large_groups,
    ),
];

pub(crate) static KERNEL: &[u8] = include_bytes!("../../kernels/linked_kernel.spv");
pub(crate) static FUNCTION: &[u8] = include_bytes!("../../kernels/linked_function.spv");
static CONSTANTS: SpecId<i32> = SpecId::new(0);

fn read(context: &Context, devices: &[Device], bytes: &[u8]) -> Result<KernelBundle<Input>> {
    // SAFETY: the kernels stay inside what the tests pass.
    unsafe { KernelBundle::from_spirv_bytes(context, devices, bytes) }
}

pub(crate) fn doubles(queue: &Queue, kernel: &sycl::Kernel) {
    let values = Buffer::from_vec(vec![3i32, 4, 5], 3).unwrap();
    let submitted = queue.submit(|cg| {
        let values = cg.access(&values, ReadWrite)?;
        cg.parallel_for(kernel, 3, (&values,))
    });
    submitted.unwrap();
    assert_eq!(values.into_vec().unwrap(), [6, 8, 10]);
}

fn linked() {
    let (queue, context) = (queue(0), context());
    let compiled = |bytes| read(&context, &devices(), bytes)?.compile(c"");
    let halves = [compiled(KERNEL).unwrap(), compiled(FUNCTION).unwrap()];
    let program = KernelBundle::link(&halves).unwrap();
    assert_eq!(program.kernel_names().unwrap(), ["doubled"]);
    doubles(&queue, &program.kernel(c"doubled").unwrap());
    // The order does not matter.
    let [kernel, function] = halves;
    let program = KernelBundle::link(&[function, kernel]).unwrap();
    doubles(&queue, &program.kernel(c"doubled").unwrap());
    // Bundles of different sets of devices cannot be linked.
    let one = [devices()[0].clone()];
    let other = read(&context, &one, FUNCTION).unwrap();
    let other = other.compile(c"").unwrap();
    let mixed = KernelBundle::link(&[compiled(KERNEL).unwrap(), other]);
    assert_eq!(mixed.unwrap_err().errc(), Errc::Invalid);
    assert_eq!(KernelBundle::link(&[]).unwrap_err().errc(), Errc::Invalid);
}

fn half() {
    let context = context();
    let built = read(&context, &devices(), KERNEL).unwrap().build(c"");
    let error = built.unwrap_err();
    assert_eq!(error.errc(), Errc::Build, "{error}");
    let unlinked = Some(ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    assert_eq!(error.backend_code(), unlinked, "{error}");
    assert!(error.to_string().contains("twice"), "{error}");
    // The runtime does not link a module that the program created.
    let (bytes, mut module) = (KERNEL, std::ptr::null_mut());
    let desc = ze_module_desc_t {
        format: ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize: bytes.len(),
        pInputModule: bytes.as_ptr(),
        ..Default::default()
    };
    let (own, device) = (get_native(&context), get_native(&devices()[0]));
    let no_log = std::ptr::null_mut();
    call!(module.pfnCreate(own, device, &raw const desc, &raw mut module, no_log));
    let input = KernelBundleInput {
        native_handle: module,
        ownership: Ownership::Keep,
    };
    // SAFETY: a live module of the context.
    let made = unsafe { make_kernel_bundle(input, &context) };
    assert_eq!(made.unwrap_err().errc(), Errc::Build);
    call!(module.pfnDestroy(module));
}

fn byte_orders() {
    let (context, devices) = (context(), devices());
    let little: Vec<u8> = words().iter().flat_map(|word| word.to_le_bytes()).collect();
    let big: Vec<u8> = words().iter().flat_map(|word| word.to_be_bytes()).collect();
    for bytes in [&little, &big] {
        let input = read(&context, &devices, bytes).unwrap();
        assert!(!input.has_specialization_constant(CONSTANTS));
        let built = input.build(c"").unwrap();
        assert_eq!(built.kernel(c"add").unwrap().argument_count(), 3);
        assert!(built.build_log().is_empty(), "{}", built.build_log());
        let unknown = built.kernel(c"subtract").unwrap_err();
        assert_eq!(unknown.errc(), Errc::Invalid, "{unknown}");
    }
    for wrong in [&little[..little.len() - 1], &[][..], &[0; 64][..]] {
        let error = read(&context, &devices, wrong).unwrap_err();
        assert_eq!(error.errc(), Errc::Build, "{error}");
    }
    let none = read(&context, &[], &little).unwrap_err();
    assert_eq!(none.errc(), Errc::Invalid);
    for platform in Platform::all().unwrap() {
        assert_eq!(platform.backend(), Backend::LevelZero);
    }
}

fn handle() {
    let queue = queue(0);
    let same = queue.clone();
    let task = queue.submit(|cg| {
        cg.host_task((), move |handle, ()| {
            assert_eq!(handle.backend(), Backend::LevelZero);
            assert_eq!(handle.native_queue(), get_native(&same));
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
}

/// The last device of this world has no double precision.
fn lacking() {
    let with = |capability: Option<u32>| {
        let mut words = words();
        // OpCapability, after the header.
        let instruction = capability.map(|capability| [2 << 16 | 17, capability]);
        words.splice(5..5, instruction.into_iter().flatten());
        words
    };
    let double = 10;
    for device in devices() {
        let context = Context::new(std::slice::from_ref(&device)).unwrap();
        for capability in [None, Some(double)] {
            let fits = capability.is_none() || device.has(Aspect::Fp64);
            let devices = std::slice::from_ref(&device);
            // SAFETY: the tests' kernels.
            let input = unsafe { KernelBundle::from_spirv(&context, devices, &with(capability)) };
            let log = Log::start();
            let built = input.unwrap().build(c"");
            assert_eq!(log.count("zeModuleCreate"), usize::from(fits), "{device:?}");
            let errc = built.err().map(|error| error.errc());
            let refused = (!fits).then_some(Errc::KernelNotSupported);
            assert_eq!(errc, refused, "{device:?}: {capability:?}");
        }
    }
    // Built for the others, it is refused where it is launched.
    // SAFETY: the tests' kernels.
    let input = unsafe { KernelBundle::from_spirv(&context(), &devices(), &with(Some(double))) };
    let kernel = input.unwrap().build(c"").unwrap();
    let kernel = kernel.kernel(c"add_one").unwrap();
    let refused = Some(Errc::KernelNotSupported);
    assert_eq!(launched(&kernel), [None, refused]);
}

/// The result of launching `add_one` on each device.
fn launched(kernel: &Kernel) -> Vec<Option<Errc>> {
    let launched = devices().into_iter().map(|device| {
        let queue = Queue::builder().device(&device).build().unwrap();
        let values = Buffer::from_vec(vec![3i32], 1).unwrap();
        let submitted = queue.submit(|cg| {
            let values = cg.access(&values, ReadWrite)?;
            cg.parallel_for(kernel, 1, (&values,))
        });
        let failed = submitted.err().map(|error| error.errc());
        let value = 3 + i32::from(failed.is_none());
        assert_eq!(values.into_vec().unwrap(), [value], "{device:?}");
        failed
    });
    launched.collect()
}

/// SYCL rejects them at the submission, or at once if no device supports them.
fn too_large_groups() {
    let bundle = crate::world::bundle();
    let of_which = |when: &str| {
        let script = format!("fail zeKernelCreate INVALID_GROUP_SIZE_DIMENSION {when}");
        let _log = Log::with(&script);
        bundle.kernel(c"add_one")
    };
    let refused = Some(Errc::KernelNotSupported);
    let count = devices().len();
    for device in 0..count {
        let kernel = of_which(&format!("at {}", device + 1)).unwrap();
        let mut answers = vec![None; count];
        answers[device] = refused;
        assert_eq!(launched(&kernel), answers);
    }
    assert_eq!(of_which("").err().map(|error| error.errc()), refused);
}
