//! Plans in their text form, of small kernels that each show a class of accesses or branches, or a transform.
//!
//! After a change that is meant, run with `SOLUM_BLESS=1` and read the difference.

use std::fmt::Write as _;
use std::path::Path;

use kernel_ir::{Module, passes};
use vectorise::{Input, LaneOrder, Segments, TargetInfo, first_plan};

/// Processors without AVX-512, with it and fast gathers, and with NEON.
const PROCESSORS: [&str; 3] = ["x86-64-v3", "sapphirerapids", "aarch64"];
const SUB_GROUP: u32 = 16;

/// The plans of all kernels for a processor.
fn plans(mut module: Module, cpu: &str) -> String {
    let target = match cpu {
        "aarch64" => TargetInfo::aarch64(),
        cpu => TargetInfo::x86_64(cpu, ""),
    };
    let mut text = String::new();
    for at in 0..module.kernels.len() {
        let body = module.kernels[at].function;
        let suited = passes::vector_forms(&mut module, body, target.registers(SUB_GROUP));
        let kernel = &module.kernels[at];
        let function = &module.functions[kernel.function.index()];
        let segments = Segments::new(function, &module.constants, None, LaneOrder::Lockstep);
        let input = Input {
            module: &module,
            function,
            segments: &segments,
            group_size: kernel.required_group_size,
            sub_group_size: SUB_GROUP,
            target,
        };
        let forms = suited.iter().chain([function]).enumerate();
        match first_plan(&input, forms, kernel, false, None) {
            Ok(planned) => {
                let form = Input {
                    function: planned.function,
                    segments: &planned.segments,
                    ..input
                };
                text += &vectorise::print(&planned.plan, &form, kernel);
                text += &report(&planned.plan, &form);
            }
            Err(why) => {
                let why = why.unwrap_or("it has no form");
                writeln!(text, "kernel {}: no lanes: {why}", kernel.name).expect("a string");
            }
        }
    }
    text
}

/// The parts of the report to the kernel's author that tell of a cost.
fn report(plan: &vectorise::Plan, input: &Input<'_>) -> String {
    let (accesses, branches) = vectorise::describe(plan, input);
    let mut text = String::new();
    for access in accesses {
        if let Some(why) = access.why {
            let (what, space) = (access.what, access.space);
            let pattern = access.pattern;
            writeln!(text, "report: {what:?} {space}: {pattern:?}, {why}").expect("a string");
        }
    }
    for branch in branches {
        let what = if branch.is_loop { "loop" } else { "branch" };
        let why = branch.why.unwrap_or_default();
        writeln!(text, "report: divergent {what}, {why}").expect("a string");
    }
    text
}

#[test]
fn plans_are_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let mut differ = Vec::new();
    let mut kernels = 0;
    for file in std::fs::read_dir(&folder).expect("tests/plans") {
        let file = file.expect("an entry").path();
        if file.extension().is_none_or(|end| end != "ir") {
            continue;
        }
        kernels += 1;
        let name = file.display();
        let text = std::fs::read_to_string(&file).expect("a kernel");
        let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        kernel_ir::validate(&module).unwrap_or_else(|e| panic!("{name}: {e}"));
        passes::prepare(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut made = kernel_ir::print(&module);
        let first = plans(module.clone(), PROCESSORS[0]);
        for cpu in PROCESSORS {
            let plans = plans(module.clone(), cpu);
            let is_same = cpu != PROCESSORS[0] && plans == first;
            let plans = if is_same { "the same\n" } else { &plans };
            write!(made, "\n{cpu}:\n{plans}").expect("a string");
        }
        let golden = file.with_extension("plan");
        if std::env::var_os("SOLUM_BLESS").is_some() {
            std::fs::write(&golden, &made).expect("bless");
        }
        if std::fs::read_to_string(&golden).unwrap_or_default() != made {
            differ.push(format!("{}:\n{made}", golden.display()));
        }
    }
    assert!(kernels > 10, "{kernels} kernels");
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn neighbours_texels_are_one_access() {
    const IMAGES: &[u8] = include_bytes!("../../kernel-ir/tests/corpus/images.spv");
    let module = kernel_ir::build::SpirvInput {
        words: IMAGES.to_vec(),
        constants: Vec::new(),
    };
    let request = kernel_ir::Request {
        modules: vec![module],
        sub_group_size: SUB_GROUP,
        ..Default::default()
    };
    let mut module = kernel_ir::front::build(&request).expect("built").module;
    passes::prepare(&mut module).expect("prepared");
    let plans = plans(module, PROCESSORS[0]);
    let plan_of = |kernel: &str| {
        let start = plans.find(&format!("kernel {kernel}:")).expect(kernel);
        plans[start..].split("\nkernel ").next().unwrap_or_default()
    };
    // Read, sampled at integer coordinates by a sampler that the module has, and written.
    for (kernel, what) in [
        ("read_2d_f", "load global i32 %"),
        ("sample_shifted", "load global i32 %"),
        ("write_2d_f", "store global i32:"),
    ] {
        let plan = plan_of(kernel);
        let is_found = plan
            .lines()
            .any(|line| line.trim_start().starts_with(what) && line.contains(": contiguous"));
        assert!(is_found, "{what} of {plan}");
    }
}
