//! Each random kernel of the build script leaves the same output as plain Rust, interpreted and as machine code, bit for
//! bit.
//!
//! Other kernels: `SOLUM_RANDOM_RUST_FIRST=1000 SOLUM_RANDOM_RUST_KERNELS=200 cargo test -p random-kernels`.

#![cfg(llvm)]

#[expect(warnings, clippy::all, reason = "this code is generated")]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}
#[path = "../../codegen-llvm/tests/machine/native.rs"]
mod native;
#[path = "../../codegen-llvm/tests/machine/raw.rs"]
mod raw;

use generated::{KERNELS, WORDS};
use kernel_ir::Request;
use kernel_ir::abi::KernelInfo;
use kernel_ir::build::SpirvInput;
use kernel_ir::interpret::Program;
use native::{Native, settings, v4};

const GROUPS: u32 = 2;
const INPUTS: usize = 23;

/// The input: edges, and pseudo-random words.
fn input(seed: u64) -> Vec<u32> {
    let mut state = seed as u32 ^ 0x9e37_79b9;
    let next = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    });
    let edges = [0, 1, 7, 0x7fff_ffff, 0x8000_0000, u32::MAX];
    edges.into_iter().chain(next).take(INPUTS).collect()
}

fn numbers() -> Vec<f32> {
    let edges = [
        0.0,
        -0.0,
        1.0,
        -2.5,
        0.1,
        1e-40,
        3.0e38,
        f32::INFINITY,
        f32::NAN,
    ];
    edges
        .into_iter()
        .chain((0..8).map(|i| i as f32 * 1.7 - 6.0))
        .collect()
}

/// The output of plain Rust.
fn on_the_host(host: fn(&[u32], &[f32], &mut [u64]), seed: u64) -> Vec<u64> {
    let (input, numbers, mut output) = (input(seed), numbers(), vec![0; items(seed) * WORDS]);
    kernel_builder::for_each([items(seed)], || host(&input, &numbers, &mut output));
    output
}

/// The arguments of a launch: pointers and lengths.
fn block(info: &KernelInfo, input: &[u32], numbers: &[f32], output: &mut [u64]) -> Vec<u8> {
    let slices = [
        (input.as_ptr() as u64, input.len() as u64),
        (numbers.as_ptr() as u64, numbers.len() as u64),
        (output.as_mut_ptr() as u64, output.len() as u64),
    ];
    raw::block(
        info,
        &slices.map(|(address, length)| [address, length]).concat(),
    )
}

#[test]
fn random_kernels_agree() {
    for (seed, host, spirv) in KERNELS {
        let words = spirv().unwrap_or_else(|refusal| panic!("seed {seed}: {refusal}"));
        compare(*seed, &words, &on_the_host(*host, *seed));
    }
}

fn group_size(seed: u64) -> u32 {
    [32, 37, 8, 64][seed as usize % 4]
}

fn items(seed: u64) -> usize {
    (GROUPS * group_size(seed)) as usize
}

fn compare(seed: u64, words: &[u32], expected: &[u64]) {
    let front = kernel_ir::front::build(&Request {
        modules: vec![SpirvInput {
            words: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            constants: Vec::new(),
        }],
        sub_group_size: 16,
        ..Request::default()
    });
    let module = front
        .unwrap_or_else(|error| panic!("seed {seed}: {error:?}"))
        .module;
    let (input, numbers) = (input(seed), numbers());
    let launch = |info: &KernelInfo| raw::launch(info, [group_size(seed), 1, 1], GROUPS);

    let program = Program::new(module.clone(), 16).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let info = &program.info().kernels[0];
    let mut output = vec![0; expected.len()];
    let args = block(info, &input, &numbers, &mut output);
    raw::interpret(&program, &args, &launch(info)).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    check(seed, "the interpreter", &output, expected, &String::new);

    let mut prepared = module;
    kernel_ir::passes::prepare(&mut prepared).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let mut settings = settings(16);
    settings.lanes = [None, Some(4), Some(8), Some(16), Some(32)][seed as usize % 5];
    if seed % 4 == 1 && v4() {
        settings.cpu = "x86-64-v4".into();
    }
    settings.baseline = seed % 6 == 5;
    let native = Native::new(prepared, settings);
    let info = &native.info.kernels[0];
    let mut output = vec![0; expected.len()];
    let args = block(info, &input, &numbers, &mut output);
    // SAFETY: the kernel compares each index with the length of its slice.
    unsafe { native.run_all(&args, &launch(info)) };
    check(seed, "machine code", &output, expected, &|| native.text());
}

fn check(seed: u64, what: &str, found: &[u64], expected: &[u64], code: &dyn Fn() -> String) {
    let pairs = found.iter().zip(expected);
    if let Some(at) = pairs.into_iter().position(|(a, b)| a != b) {
        panic!(
            "seed {seed}: {what} has {:#x} at word {} of work-item {}, plain Rust {:#x}; it is kernel{seed} in {}\n{}",
            found[at],
            at % WORDS,
            at / WORDS,
            expected[at],
            concat!(env!("OUT_DIR"), "/kernels.rs"),
            code()
        );
    }
}
