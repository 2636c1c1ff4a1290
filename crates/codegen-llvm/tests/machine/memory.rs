//! Ways to and from memory: each kernel leaves the same bytes with lanes side by side, at several widths and
//! shapes of groups, as interpreted.

mod kernels;

use self::kernels::KERNELS;
use super::native::{Native, settings, v4};
use super::raw;
use kernel_ir::abi::KernelInfo;
use kernel_ir::interpret::Program;

/// 32-bit words that a kernel may read, and write.
const WORDS: usize = 1 << 14;
const GROUPS: u32 = 3;

/// (local size, lanes).
pub(super) const SHAPES: [([u32; 3], Option<u32>); 10] = [
    ([8, 8, 1], None),
    ([4, 4, 4], None),
    ([30, 3, 1], None),
    ([16, 1, 1], Some(4)),
    ([20, 1, 1], Some(8)),
    ([40, 2, 1], Some(16)),
    ([8, 8, 1], Some(8)),
    ([4, 4, 4], Some(16)),
    ([16, 16, 1], Some(16)),
    ([64, 1, 2], None),
];

pub(super) fn same(
    name: &str,
    text: &str,
    size: [u32; 3],
    lanes: Option<u32>,
    required: bool,
    features: &str,
) {
    let input: Vec<u32> = (0..WORDS as u32 * 4)
        .map(|i| i.wrapping_mul(2_654_435_761).rotate_left(11) & 0x3fff_ffff)
        .collect();
    let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    module.kernels[0].required_group_size = required.then_some(size);
    let mut prepared = module.clone();
    kernel_ir::passes::prepare(&mut prepared).unwrap_or_else(|e| panic!("{name}: {e}"));

    let program = Program::new(module, 8).unwrap_or_else(|e| panic!("{name}: {e}"));
    let arguments = |info: &KernelInfo, out: &mut [u32]| {
        let addresses = [input.as_ptr() as u64, out.as_mut_ptr() as u64];
        raw::block(info, &[addresses[0], addresses[1], 37])
    };
    let info = &program.info().kernels[0];
    let mut expected = vec![0u32; WORDS];
    let block = arguments(info, &mut expected);
    let launch = raw::launch(info, size, GROUPS);
    raw::interpret(&program, &block, &launch).unwrap_or_else(|e| panic!("{name}: {e}"));

    let mut settings = settings(8);
    settings.lanes = lanes;
    // Masks have registers of their own there.
    if required && v4() {
        settings.cpu = "x86-64-v4".into();
        settings.features = features.into();
    }
    let native = Native::new(prepared, settings);
    let info = &native.info.kernels[0];
    let mut found = vec![0u32; WORDS];
    let block = arguments(info, &mut found);
    let launch = raw::launch(info, size, GROUPS);
    // SAFETY: the kernels' indices lie within their buffers.
    unsafe { native.run_all(&block, &launch) };
    let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(
        differs.map(|at| (at, found[at], expected[at])),
        None,
        "{name}, groups of {size:?}, {lanes:?} lanes: (word, machine code, interpreter)"
    );
}

#[test]
fn every_way_to_memory_in_every_shape_of_group() {
    for (name, text) in KERNELS {
        for (size, lanes) in SHAPES {
            // Without masks in registers, with them, and with gathers.
            for (required, features) in [(false, ""), (true, ""), (true, cpu_target::FAST_GATHERS)]
            {
                same(name, text, size, lanes, required, features);
            }
        }
    }
}
