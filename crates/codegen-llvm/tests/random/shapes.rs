//! Small kernels with random parameters, each of a shape that some transform of the compiler looks for: members of
//! structures, trees of sums, histograms, products of matrices.
//!
//! A shape is a function from random numbers to a [`Case`]. Every case runs interpreted and as machine code, and leaves
//! the same bytes. `SOLUM_RANDOM_KERNELS` and `SOLUM_RANDOM_FIRST` say how many, as for the other random kernels.

mod access;
mod checked;
mod flow;
mod groups;
mod text;

use super::differential::seeds;
use super::ingredients::Random;
use super::native::{Native, settings, v4};
use super::{raw, reached};
use codegen_llvm::Settings;
use kernel_ir::build::NullArguments;
use kernel_ir::interpret::Program;
use kernel_ir::{Module, Transform, Transforms, passes};

/// Groups of a launch, all in the first dimension.
pub(crate) const GROUPS: u32 = 3;
/// Bytes of the input and of the output.
pub(crate) const BYTES: usize = 64 << 10;

/// A kernel `@k(in, out, n)` and its launch.
pub(crate) struct Case {
    pub(crate) text: String,
    /// Work-items of a group.
    pub(crate) size: [u32; 3],
    /// Whether the kernel says so.
    pub(crate) required: bool,
    pub(crate) sub_group: u32,
    pub(crate) n: u32,
    /// Whether the interpreter runs the prepared kernel: what it does is defined only once lanes meet.
    pub(crate) prepared: bool,
    /// Whether the input is a null pointer.
    pub(crate) null: bool,
}

impl Case {
    /// A kernel of groups of `x` work-items.
    pub(crate) fn new(text: String, x: u32, random: &mut Random) -> Self {
        Self {
            text,
            size: [x, 1, 1],
            required: random.below(3) == 0,
            sub_group: random.pick(&[8, 16, 32]),
            n: 3 + random.below(12) as u32,
            prepared: false,
            null: false,
        }
    }
}

type Shape = fn(&mut Random) -> Case;

/// Kernels of each shape when nothing else is asked for.
const KERNELS: u64 = 8;

fn words(seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed ^ 0x51a9);
    let mut half = || match random.below(8) {
        0 => random.next() as u32,
        1 => random.below(5) as u32,
        _ => random.below(60_000) as u32,
    };
    (0..BYTES / 8)
        .map(|_| u64::from(half()) | u64::from(half()) << 32)
        .collect()
}

fn case_of(name: &str, shape: Shape, seed: u64) -> Case {
    shape(&mut Random::new(
        seed.wrapping_mul(0x0100_0193) ^ name.len() as u64,
    ))
}

/// What the interpreter runs, and what is compiled with those transforms.
fn modules_of(case: &Case, name: &str, seed: u64, transforms: Transforms) -> (Module, Module) {
    let what = || format!("{name}, seed {seed}\n{}", case.text);
    let mut module = kernel_ir::parse(&case.text).unwrap_or_else(|e| panic!("{e}: {}", what()));
    module.kernels[0].required_group_size = case.required.then_some(case.size);
    if let Err(error) = kernel_ir::validate(&module) {
        panic!("{error}: {}", what());
    }
    module.transforms = transforms;
    let mut prepared = module.clone();
    let nulls = case.null.then(|| NullArguments {
        kernel: 0,
        offsets: vec![0],
    });
    passes::prepare_for(&mut prepared, nulls.as_ref(), kernel_ir::Checks::default())
        .unwrap_or_else(|e| panic!("{e}: {}", what()));
    if case.prepared || case.null {
        module = prepared.clone();
    }
    (module, prepared)
}

/// The processors and options that a seed's kernels are compiled for.
fn ways(case: &Case, seed: u64) -> Vec<Settings> {
    // By speed mostly: then more than one form is looked at.
    let mut of = settings(case.sub_group);
    of.lanes = [None, None, None, Some(8), None, Some(16), Some(4), Some(32)][seed as usize % 8];
    of.wide = seed % 11 != 7;
    of.options.mad_enable = true;
    of.baseline = seed % 4 == 2;
    let mut ways = vec![of.clone()];
    if seed % 2 == 1 {
        of.cpu = "x86-64-v4".into();
        if seed % 4 == 3 {
            of.features = cpu_target::FAST_GATHERS.into();
        }
        ways.push(of);
    }
    ways
}

fn compare(name: &str, shape: Shape, seed: u64, transforms: Transforms) {
    let case = case_of(name, shape, seed);
    let (module, prepared) = modules_of(&case, name, seed, transforms);
    let program = Program::new(module, case.sub_group)
        .unwrap_or_else(|e| panic!("{name}, seed {seed}: {e}\n{}", case.text));
    let input = words(seed);
    let source = if case.null { 0 } else { input.as_ptr() as u64 };
    let fresh = || vec![0x0707_0707_0707_0707_u64; BYTES / 8];
    let mut expected = fresh();
    let info = &program.info().kernels[0];
    let values = [source, expected.as_mut_ptr() as u64, u64::from(case.n)];
    let launch = raw::launch(info, case.size, GROUPS);
    raw::interpret(&program, &raw::block(info, &values), &launch)
        .unwrap_or_else(|e| panic!("{name}, seed {seed}: {e}\n{}", case.text));

    for of in ways(&case, seed) {
        let runs = of.cpu != "x86-64-v4" || v4();
        let native = Native::new(prepared.clone(), of.clone());
        // Code for another processor is compiled all the same.
        if !runs {
            continue;
        }
        let info = &native.info.kernels[0];
        let mut found = fresh();
        let values = [source, found.as_mut_ptr() as u64, u64::from(case.n)];
        let launch = raw::launch(info, case.size, GROUPS);
        // SAFETY: every shape stays within both arrays.
        unsafe { native.run_all(&raw::block(info, &values), &launch) };
        if let Some(at) = (0..found.len()).find(|&i| found[i] != expected[i]) {
            panic!(
                "{name}, seed {seed}, {of:?}, {transforms:?}, groups of {:?}, n = {}: bytes {} and on are {:#x}, and interpreted {:#x}\n{}\n{}",
                case.size,
                case.n,
                at * 8,
                found[at],
                expected[at],
                case.text,
                native.text()
            );
        }
    }
}

fn compare_all(shapes: &[(&str, Shape)], kind: u64) {
    for (name, shape) in shapes {
        let all = Transforms::default();
        seeds(kind, KERNELS).for_each(|seed| compare(name, *shape, seed, all));
    }
    reached::finished();
}

#[test]
fn random_shapes_of_accesses() {
    compare_all(access::SHAPES, 0);
}

#[test]
fn random_shapes_of_flow_and_groups() {
    compare_all(&[flow::SHAPES, groups::SHAPES, checked::SHAPES].concat(), 0);
}

/// Each transform can be left out: of some kernel other code is made then, which computes the same.
#[test]
fn random_shapes_without_each_transform() {
    const INSIDE: &str = "SOLUM_TEST_WITHOUT_TRANSFORMS";
    const NAME: &str = "random::shapes::random_shapes_without_each_transform";
    if std::env::var_os(INSIDE).is_some() {
        return without_each_transform();
    }
    // In a process of its own: what is compiled here and does not run would count as reached.
    let program = std::env::current_exe().expect("a running program has a path");
    let mut child = std::process::Command::new(program);
    let status = child
        .args([NAME, "--exact", "--nocapture"])
        .env(INSIDE, "1");
    let status = status.status().expect("the test starts");
    assert!(status.success(), "{status}");
}

fn without_each_transform() {
    let all = Transforms::default();
    let mut open = Transform::ALL.to_vec();
    for (name, shape) in [
        groups::SHAPES,
        flow::SHAPES,
        access::SHAPES,
        checked::SHAPES,
    ]
    .concat()
    {
        for seed in 0..KERNELS / 2 {
            let case = case_of(name, shape, seed);
            let text = |transforms: Transforms| {
                let (_, prepared) = modules_of(&case, name, seed, transforms);
                let texts = ways(&case, seed).into_iter();
                let texts = texts.map(|of| codegen_llvm::llvm_text(&prepared, &of));
                texts
                    .map(Result::unwrap_or_default)
                    .collect::<Vec<String>>()
            };
            let usual = text(all);
            open.retain(|&transform| {
                let others = all.with(transform, false);
                let is_same = text(others) == usual;
                // Without this one it is not defined what kernels compute.
                if !is_same && transform != Transform::LockStep {
                    compare(name, shape, seed, others);
                }
                is_same
            });
        }
    }
    assert!(open.is_empty(), "no kernel changes without {open:?}");
}
