//! Rounding of kernels: independent of the program's own thread, and as the build options say.

use level_zero::{Context, Device, Loader, ModuleSource};

/// From the compiler's corpus: `ops_float` does all arithmetic on three numbers, `denormals` on one.
const ARITHMETIC: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/arith_float.spv");
const OPERATIONS: usize = 28;
/// The bits of MXCSR that are modes rather than flags.
const MODES: u32 = 0xffc0;

fn mxcsr() -> u32 {
    let mut word = 0u32;
    // SAFETY: stores the thread's word to a live place.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word) };
    word
}

/// # Safety
/// Between this and the call that puts the modes back no float arithmetic of the program's own counts.
unsafe fn set_mxcsr(word: u32) {
    // SAFETY: a valid word: all exceptions stay masked.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const word) };
}

/// Numbers whose quotients and products are not exact, and some that are not normal.
fn operands() -> [[f32; 4]; 3] {
    [
        [1.0, -7.3, 1e-40, 3.0e38],
        [3.0, 0.1, 0.3, -1.7e-5],
        [0.7, 1e-39, -2.0, 1e30],
    ]
}

/// All arithmetic, several times, because the waiting thread runs some of the launches itself. Returns the bits of the
/// results.
fn arithmetic(context: &Context, device: &Device, modes: u32) -> Vec<u32> {
    let source = ModuleSource::Spirv(ARITHMETIC);
    let module = context.build_module(device, source, "").unwrap();
    let inputs = operands().map(|values| {
        let mut memory = context
            .allocate_shared::<f32>(device, values.len())
            .unwrap();
        memory.as_mut_slice().copy_from_slice(&values);
        memory
    });
    let results = inputs[0].as_slice().len() * OPERATIONS;
    let out = context.allocate_shared::<u32>(device, results).unwrap();
    let mut kernel = module.create_kernel("ops_float").unwrap();
    kernel.set_group_size([2, 1, 1]).unwrap();
    for (index, input) in (0..).zip(&inputs) {
        kernel.set_memory(index, input).unwrap();
    }
    kernel.set_memory(3, &out).unwrap();
    let mut list = context
        .create_immediate_list(device, Default::default())
        .unwrap();
    let before = mxcsr();
    for _ in 0..50 {
        // SAFETY: nothing below computes with floats on this thread but the kernels, whose modes are their own.
        unsafe { set_mxcsr(modes) };
        // SAFETY: the kernel touches its memory only, which lives until after the wait.
        let launched = unsafe { list.append_launch(&kernel, [2, 1, 1], None, &[]) };
        let waited = launched.and_then(|()| list.synchronize(u64::MAX));
        let after = mxcsr();
        // SAFETY: restores the previous modes.
        unsafe { set_mxcsr(before) };
        waited.unwrap();
        assert_eq!(after & MODES, modes & MODES, "the program's modes");
    }
    out.as_slice().to_vec()
}

/// The smallest normal number halved, with these build options.
fn halved(context: &Context, device: &Device, options: &str) -> f32 {
    let source = ModuleSource::Spirv(ARITHMETIC);
    let module = context.build_module(device, source, options).unwrap();
    let mut from = context.allocate_shared::<f32>(device, 1).unwrap();
    from.as_mut_slice()[0] = f32::MIN_POSITIVE;
    let to = context.allocate_shared::<f32>(device, 3).unwrap();
    let mut kernel = module.create_kernel("denormals").unwrap();
    kernel.set_group_size([1, 1, 1]).unwrap();
    kernel.set_memory(0, &from).unwrap();
    kernel.set_memory(1, &to).unwrap();
    let mut list = context
        .create_immediate_list(device, Default::default())
        .unwrap();
    // SAFETY: the kernel touches its memory only, which lives until after the wait.
    unsafe { list.append_launch(&kernel, [1, 1, 1], None, &[]) }.unwrap();
    list.synchronize(u64::MAX).unwrap();
    to.as_slice()[0]
}

pub(crate) fn run() {
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let device = driver.devices().unwrap().remove(0);
    let context = driver.create_context().unwrap();
    let expected = arithmetic(&context, &device, 0x1f80);
    let third = 1.0f32 / 3.0;
    assert_eq!(expected[3], third.to_bits(), "one by three");
    assert_eq!(
        expected[2 * OPERATIONS + 2],
        (1e-40f32 * 0.3).to_bits(),
        "a number that is not normal"
    );
    // Down, up, towards zero; denormals flushed, and read as zero.
    for modes in [0x3f80, 0x5f80, 0x7f80, 0x9f80, 0x9fc0, 0xffc0] {
        let found = arithmetic(&context, &device, modes);
        assert_eq!(found, expected, "{modes:#x}");
    }
    let half = f32::MIN_POSITIVE * 0.5;
    for (options, expected) in [
        ("", half),
        ("-cl-denorms-are-zero", 0.0),
        ("-cl-fp32-correctly-rounded-divide-sqrt", half),
        ("-cl-finite-math-only -cl-no-signed-zeros", half),
        ("-ze-opt-disable -cl-denorms-are-zero", 0.0),
        ("-ze-opt-level=1", half),
    ] {
        let found = halved(&context, &device, options);
        assert_eq!(found.to_bits(), expected.to_bits(), "{options:?}");
    }
}
