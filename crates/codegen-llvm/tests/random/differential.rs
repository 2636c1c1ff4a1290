//! Random kernels leave the same memory as machine code and interpreted, at each sub-group size.
//!
//! A seed gives a kernel; every run tries the same ones. `SOLUM_RANDOM_KERNELS=1000` tries so many of each kind instead,
//! `SOLUM_RANDOM_KERNELS=unlimited` goes on until one differs, and `SOLUM_RANDOM_FIRST=5000` begins with another seed:
//! `SOLUM_RANDOM_KERNELS=unlimited SOLUM_RANDOM_FIRST=5000 cargo test -p solum-codegen-llvm --test random`.

use super::generator;
use super::ingredients::{self, COUNTERS, VARIABLES};
use super::native::{Native, settings, v4};
use super::raw;
use super::reached;
use kernel_ir::abi::KernelInfo;
use kernel_ir::interpret::Program;

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
    compare_text(seed, &text, [generator::group_size(seed), 1], sub_group);
}

/// The same kernel with work-items in rows, which sub-groups need not respect.
fn compare_rows(seed: u64, sub_group: u32) {
    let text = generator::kernel(seed, generator::features(seed))
        .replace("wi.GlobalInvocationId 0", "wi.GlobalLinearId 0")
        .replace("wi.LocalInvocationId 0", "wi.LocalInvocationIndex 0")
        .replace(
            "%size: i64 = wi.WorkgroupSize 0",
            "%size_x: i64 = wi.WorkgroupSize 0\n  %size_y: i64 = wi.WorkgroupSize 1\n  %size: i64 = imul %size_x, %size_y",
        );
    let rows = if generator::features(seed).full {
        [[8, 8], [16, 2], [32, 2], [4, 16]]
    } else {
        [[3, 5], [5, 4], [16, 3], [7, 3]]
    };
    compare_text(seed, &text, rows[(seed / 2) as usize % 4], sub_group);
}

fn compare_text(seed: u64, text: &str, [width, height]: [u32; 2], sub_group: u32) {
    const GROUPS: u32 = 2;
    let size = width * height;
    let items = (GROUPS * size) as usize;
    let module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    let mut prepared = module.clone();
    kernel_ir::passes::prepare(&mut prepared)
        .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));

    let program = Program::new(module, sub_group).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let info = &program.info().kernels[0];
    let launch = |info: &KernelInfo| raw::launch(info, [width, height, 1], GROUPS);
    let mut expected = Buffers::new(seed, items);
    let block = bytes_of(&expected.block(seed, info));
    raw::interpret(&program, &block, &launch(info))
        .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));

    let mut settings = settings(sub_group);
    // Kernels with sub-group operations have two forms.
    settings.wide = !seed.is_multiple_of(3);
    settings.lanes = [None, Some(4), Some(8), Some(16), Some(32)][seed as usize % 5];
    if seed % 4 == 1 && v4() {
        settings.cpu = "x86-64-v4".into();
        if seed % 8 == 1 {
            settings.features = cpu_target::FAST_GATHERS.into();
        }
    }
    if seed % 7 == 3 {
        settings.options.opt_level = 0;
    }
    settings.baseline = seed / 2 % 2 == 1;
    let native = Native::new(prepared.clone(), settings);
    let info = &native.info.kernels[0];
    let mut found = Buffers::new(seed, items);
    let block = bytes_of(&found.block(seed, info));
    // SAFETY: every index that the kernel makes is masked to its buffers.
    unsafe { native.run_all(&block, &launch(info)) };
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

/// Kernels of each kind when nothing else is asked for.
const KERNELS: u64 = 64;

/// The seeds to try: `usual` many, or as the environment says.
pub(super) fn seeds(kind: u64, usual: u64) -> std::ops::Range<u64> {
    let variable = |name: &str| std::env::var(name).ok();
    let count = match variable("SOLUM_RANDOM_KERNELS") {
        None => usual,
        Some(text) if text == "unlimited" => u64::MAX,
        Some(text) => text
            .parse()
            .expect("SOLUM_RANDOM_KERNELS: a number, or unlimited"),
    };
    // Kinds begin at seeds of their own, so that their kernels differ too.
    let from = variable("SOLUM_RANDOM_FIRST").map_or(24 * kind, |text| {
        text.parse().expect("SOLUM_RANDOM_FIRST: a number")
    });
    from..from.saturating_add(count)
}

#[test]
fn random_kernels_at_sub_group_size_8() {
    seeds(0, KERNELS).for_each(|seed| compare(seed, 8));
    reached::finished();
}

#[test]
fn random_kernels_at_sub_group_size_16() {
    seeds(1, KERNELS).for_each(|seed| compare(seed, 16));
    reached::finished();
}

#[test]
fn random_kernels_at_sub_group_size_32() {
    seeds(2, KERNELS).for_each(|seed| compare(seed, 32));
    reached::finished();
}

#[test]
fn random_kernels_in_rows() {
    seeds(3, KERNELS).for_each(|seed| compare_rows(seed, [4, 8, 16, 32][seed as usize % 4]));
    reached::finished();
}

/// Blocks that jump anywhere; barriers where all go the same way.
#[test]
fn random_graphs() {
    for seed in seeds(0, KERNELS) {
        let text = super::graph::graph(seed, seed % 2 == 0);
        compare_text(seed, &text, [[20, 8, 13][seed as usize % 3], 1], 8);
    }
    reached::finished();
}
