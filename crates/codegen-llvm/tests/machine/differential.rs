//! Random kernels leave the same memory as machine code and interpreted, at each sub-group size.

use super::generator;
use super::ingredients::{self, COUNTERS, VARIABLES};
use super::native::{Native, settings};
use super::raw::Raw;
use kernel_ir::abi::{KernelInfo, Launch};
use kernel_ir::interpret::{Program, Run};

/// The buffers of one run, 8-byte aligned.
struct Buffers {
    input: Vec<u64>,
    out: Vec<u64>,
    counters: Vec<u64>,
}

impl Buffers {
    fn new(seed: u64, items: usize) -> Self {
        let words = |values: &[i32]| {
            let pairs = values.chunks_exact(2);
            pairs
                .map(|p| u64::from(p[0] as u32) | u64::from(p[1] as u32) << 32)
                .collect()
        };
        Self {
            input: words(&ingredients::inputs(seed)),
            out: vec![0; items * VARIABLES.len()],
            counters: words(&[7; COUNTERS]),
        }
    }
    fn block(&mut self, seed: u64, info: &KernelInfo) -> Vec<u64> {
        let mut block = vec![0u64; info.args_size as usize / 8];
        let values = [
            self.input.as_mut_ptr() as u64,
            self.out.as_mut_ptr() as u64,
            self.counters.as_mut_ptr() as u64,
            seed & 15,
        ];
        for (arg, value) in info.args.iter().zip(values) {
            block[arg.offset as usize / 8] = value;
        }
        block
    }
    fn out_bytes(&self) -> Vec<u8> {
        self.out.iter().flat_map(|v| v.to_le_bytes()).collect()
    }
}

fn bytes_of(block: &[u64]) -> Vec<u8> {
    block.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn compare(seed: u64, sub_group: u32) {
    let text = generator::kernel(seed, generator::features(seed));
    compare_text(seed, &text, generator::group_size(seed), sub_group);
}

fn compare_text(seed: u64, text: &str, size: u32, sub_group: u32) {
    const GROUPS: u32 = 2;
    let items = (GROUPS * size) as usize;
    let module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    let mut prepared = module.clone();
    kernel_ir::passes::prepare(&mut prepared, &kernel_ir::Options::default())
        .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));

    let program = Program::new(module, sub_group).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let info = &program.info().kernels[0];
    let launch = |info: &KernelInfo| Launch {
        group_size: [size, 1, 1],
        work_dim: 1,
        group_count: [GROUPS, 1, 1],
        items_per_group: size,
        scratch_offset: info.local_size,
        state_offset: (info.local_size + info.local_per_item * u64::from(size))
            .next_multiple_of(64),
        ..Launch::default()
    };
    let mut expected = Buffers::new(seed, items);
    let block = expected.block(seed, info);
    let run = Run {
        kernel: 0,
        args: &bytes_of(&block),
        launch: &launch(info),
        first_group: 0,
        group_count: u64::from(GROUPS),
        variables: &[],
        budget: Some(100_000_000),
    };
    if let Err(stopped) = program.run(&run, &mut Raw) {
        panic!("seed {seed}: {stopped}\n{text}");
    }

    let mut settings = settings(sub_group);
    // Kernels with sub-group operations have two forms.
    settings.wide = !seed.is_multiple_of(3);
    settings.lanes = [None, Some(4), Some(8)][seed as usize % 5 % 3];
    if seed % 7 == 3 {
        settings.options.opt_level = 0;
    }
    let native = Native::new(prepared.clone(), settings);
    let info = &native.info.kernels[0];
    let mut found = Buffers::new(seed, items);
    let block = bytes_of(&found.block(seed, info));
    let mut args = vec![0u128; block.len() / 16];
    let blocks = u64::from(size.div_ceil(info.width.max(1)));
    let room = launch(info).state_offset + info.state_per_block * blocks;
    let mut memory = vec![0xaau8; room as usize + 128];
    let at = memory.as_mut_ptr().align_offset(64);
    // SAFETY: `args` has the block's size; the kernel gets what its information asks for, and every
    // index it makes is masked to its buffers.
    unsafe {
        std::ptr::copy_nonoverlapping(block.as_ptr(), args.as_mut_ptr().cast::<u8>(), block.len());
        let args = std::slice::from_raw_parts(args.as_ptr().cast::<u8>(), block.len());
        let launch = launch(info);
        let groups = 0..u64::from(GROUPS);
        native.run(0, args, &launch, groups, memory.as_mut_ptr().add(at));
    }
    let differs = ingredients::difference(&found.out_bytes(), &expected.out_bytes());
    assert_eq!(
        differs, None,
        "seed {seed}, sub-group size {sub_group}: machine code and interpreter\n{text}"
    );
    assert_eq!(
        found.counters, expected.counters,
        "seed {seed}, sub-group size {sub_group}: counters\n{text}"
    );
}

#[test]
fn random_kernels_at_sub_group_size_8() {
    (0..24).for_each(|seed| compare(seed, 8));
}

#[test]
fn random_kernels_at_sub_group_size_16() {
    (24..48).for_each(|seed| compare(seed, 16));
}

#[test]
fn random_kernels_at_sub_group_size_32() {
    (48..72).for_each(|seed| compare(seed, 32));
}

/// Blocks that jump anywhere; barriers where all go the same way.
#[test]
fn random_graphs() {
    for seed in 0..24 {
        let text = super::graph::graph(seed, seed % 2 == 0);
        compare_text(seed, &text, [20, 8, 13][seed as usize % 3], 8);
    }
}
