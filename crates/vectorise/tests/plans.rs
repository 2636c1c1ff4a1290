//! Plans in their text form, of small kernels that each show a class of accesses or branches, or a transform.
//!
//! After a change that is meant, run with `SOLUM_BLESS=1` and read the difference.

use std::fmt::Write as _;
use std::path::Path;

use kernel_ir::marks::Mark;
use kernel_ir::{Module, passes};
use vectorise::{Input, LaneOrder, Segments, TargetInfo, first_plan, forms};

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
            one_row: false,
            sub_group_size: SUB_GROUP,
            target,
        };
        match first_plan(&input, forms(&suited, function), kernel, false, None) {
            Ok(planned) => {
                let form = Input {
                    function: planned.function,
                    segments: &planned.segments,
                    one_row: planned.plan.one_row,
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

/// A kernel of `times` products of a float of type `ty`, which it loads and stores at `index`. It also writes and reads
/// a private array of `private` bytes.
fn products(ty: &str, times: usize, index: &str, private: u32) -> kernel_ir::Module {
    let row = u32::from(index == "%row");
    let size = if ty == "f64" { 8 } else { 4 };
    let mut text = format!(
        "kernel @k(%p: ptr<global>, %from: i64, %to: i64) {{
b0:
  %a: ptr<private> = alloca {private} align 8
  %i: i64 = wi.GlobalInvocationId 0
  %row: i64 = wi.GlobalInvocationId {row}
  %far: i64 = imul %i, %i
  %at: ptr<global> = offset %p [{index} * {size} + 0]
  %x: {ty} = load %at align {size}
  %in: ptr<private> = offset %a [%to * {size} + 0]
  store %in, %x align {size}
  %out: ptr<private> = offset %a [%from * {size} + 0]
  %v0: {ty} = load %out align {size}
"
    );
    for i in 0..times {
        writeln!(text, "  %v{}: {ty} = fmul %v{i}, %x", i + 1).expect("a string");
    }
    write!(text, "  store %at, %v{times} align {size}\n  ret\n}}").expect("a string");
    let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    passes::prepare(&mut module).expect("prepared");
    module
}

#[test]
fn arithmetic_doubles_the_width_of_contiguous_kernels_with_mask_registers() {
    let doubled = "32 lanes, tails 16;";
    for (ty, times, index, private, without, with) in [
        ("f32", 16, "%i", 64, "16 lanes;", "16 lanes;"),
        ("f32", 40, "%i", 64, "16 lanes;", doubled),
        ("f64", 40, "%i", 64, "8 lanes;", "16 lanes, tails 8;"),
        // Long kernels have no tails.
        ("f32", 300, "%i", 64, "16 lanes;", "16 lanes;"),
        ("f64", 300, "%i", 64, "8 lanes;", "16 lanes;"),
        // Rows may be short; elements lie far apart.
        (
            "f32",
            40,
            "%row",
            64,
            "16 lanes, tails 8;",
            "16 lanes, tails 8;",
        ),
        ("f32", 40, "%far", 64, "16 lanes;", "16 lanes;"),
        // The arrays of all lanes have at most 64 KiB.
        ("f32", 40, "%i", 2048, "16 lanes;", doubled),
        ("f32", 40, "%i", 2056, "16 lanes;", "16 lanes;"),
        ("f32", 40, "%i", 4104, "8 lanes;", "8 lanes;"),
    ] {
        for (cpu, wanted) in [("x86-64-v3", without), ("sapphirerapids", with)] {
            let plan = plans(products(ty, times, index, private), cpu);
            let head = plan.lines().next().unwrap_or_default();
            let case = format!("{times} products of {ty} at {index}, {private} bytes, {cpu}");
            let wanted = format!("kernel k: {wanted}");
            assert!(head.starts_with(&wanted), "{case}: {head}");
        }
    }
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

/// How plans show a transform or a class: by a line that begins and ends so, or not at all.
enum Shown {
    Line(&'static str, &'static str),
    /// It is done before plans are made, or it is a part of a class that plans show as a whole.
    Elsewhere,
}

/// A new mark needs an arm, and so a plan that shows it.
fn shown(mark: Mark) -> Shown {
    use Mark as M;
    use Shown::{Elsewhere, Line};
    match mark {
        // Passes on kernel-ir, each with tests of its own.
        M::Inlining
        | M::Devirtualisation
        | M::AddressSpaces
        | M::Promotion
        | M::PrivateLoops
        | M::ArrayValues
        | M::FinalValues
        | M::ShuffleLoops
        | M::CompareChains
        | M::CheckedAccesses
        | M::WorkGroupExpansion
        | M::TrapArms
        | M::ImplicitBarriers
        | M::NullAccesses
        | M::Contraction => Elsewhere,
        M::Fission => Line("form after fission", ""),
        M::PeelFirst | M::PeelLast => Line("form after peeling", ""),
        M::IfConversion => Line("form after if-conversion", ""),
        M::FormRows => Line("kernel saxpy: 16 lanes; cost ", ""),
        M::FormItems | M::FormPasses => Line("kernel part_at_a_barrier: no lanes: ", ""),
        M::FormOneRow => Line("for groups of one row only", ""),
        M::Regions => Line("region 1, from stop 0", ""),
        M::RowsWhole => Line("kernel ", " of a sub-group, rows of whole sub-groups"),
        M::RowsAny => Line("kernel ", "rows of whole sub-groups or any length"),
        M::RowsBroken => Line("kernel ", "rows of any length under a mask"),
        M::WiderChains => Line("kernel chain: 32 lanes; cost ", ""),
        M::WiderArithmetic => Line("kernel arithmetic: 32 lanes, tails 16; cost ", ""),
        M::WiderSearch => Line("kernel search: 32 lanes; cost ", ""),
        M::NarrowerTails => Line("kernel rows: 16 lanes, tails 8; cost ", ""),
        M::LoadUniform => Line("load ", ": uniform"),
        M::LoadContiguous | M::LoadContiguousMasked => Line("load ", ": contiguous"),
        M::LoadContiguousTested => Line("load ", ": contiguous, tested"),
        M::LoadReversed => Line("load ", ": reversed"),
        M::LoadStrided | M::LoadStridedShared | M::LoadStridedAligned => {
            Line("load ", ": interleaved 2")
        }
        M::LoadPiecewise => Line("load ", ": piecewise, 8 lanes"),
        M::LoadPiecewiseInduction | M::LoopInduction => Line("phi ", ": uniform step"),
        M::LoadGather => Line("load ", ": gather"),
        M::LoadEach => Line("load ", ": scalarised"),
        M::LoadEachLoop => Line("load ", ": scalarised, in a loop"),
        M::StoreUniform => Line("store ", ": uniform"),
        M::StoreContiguous | M::StoreContiguousMasked => Line("store ", ": contiguous"),
        M::StoreContiguousTested => Line("store ", ": contiguous, tested"),
        M::StoreReversed => Line("store ", ": reversed"),
        M::StoreInterleaved => Line("store ", ": interleaved 2, group of 2"),
        M::StoreInterleavedBlends => Line("store ", ": interleaved 8, group of 8"),
        M::StoreInterleavedPartial => Line("store ", ": interleaved 4, group of 2"),
        M::StoreScatter => Line("store ", ": gather"),
        M::StoreEach => Line("store ", ": scalarised"),
        M::StoreEachLoop => Line("store ", ": scalarised, in a loop"),
        M::TupleWords => Line("load global i8 x 4 ", ": contiguous"),
        M::TupleTransposed => Line("load global f32 x 4 ", ": contiguous"),
        M::TupleRecast => Line("bit cast ", ": 8 to 32 bits"),
        M::AtomicUniform | M::AtomicOwn => Line("atomic ", ": uniform"),
        M::AtomicPrivatised | M::AtomicPrivatisedGuard => Line("atomic ", ", privatised"),
        M::AtomicEach => Line("atomic ", ": one for each lane"),
        M::BranchUniform => Line("br_if ", ": uniform"),
        M::BranchVersioned => Line("br_if ", ": versioned"),
        M::FastChunk => Line("without checks where %", " holds"),
        M::BranchLinearised => Line("br_if ", ": linearised"),
        M::SwitchUniform => Line("switch ", ": uniform"),
        M::SwitchLinearised => Line("switch ", ": linearised"),
        M::LoopDivergent => Line("loop ", ": divergent"),
        M::LoopResultsInMemory => Line("result ", ": in memory behind its loop"),
        M::JamRows => Line("unroll-and-jam: 2 rows, ", ""),
        M::JamRow => Line("unroll-and-jam: 1 rows, 4 chunks of a row", ""),
        M::JamVersioned => Line("unroll-and-jam: ", "; 1 branch versioned"),
        M::Tightening => Line("tightened: %", ""),
        M::TighteningScattered => Line("tightened: %", ", scalar"),
        M::TighteningOnce => Line("tightened: one chunk", ""),
        M::NoWrapChunk | M::NoWrapRow | M::NoWrapAccess => Line("no wrap ", ", tested"),
        // Of the kernel `clamped`: the bound is the load's, the low bits are the store's.
        M::ClampBounds => Line("load global f32 ", ": contiguous, tested"),
        M::ClampLowBits => Line("store global f32", ": contiguous, tested"),
        M::DivideWords => Line("division ", ": by doubles, 32 bits"),
        M::DivideLong => Line("division ", ": by doubles, 64 bits"),
        M::ArraysByLane => Line("array ", ": by lane, elements of 4 bytes"),
        M::Scalarised => Line("operation ", ": scalarised"),
        // Plans do not show how lanes exchange values: it depends on the operation alone.
        M::CollectiveShared
        | M::CollectiveClustered
        | M::CollectiveScan
        | M::CollectiveElect
        | M::CollectiveExchange
        | M::CollectiveBlock => Elsewhere,
    }
}

#[test]
fn each_class_and_transform_has_a_plan() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let mut all = String::new();
    for file in std::fs::read_dir(&folder).expect("tests/plans") {
        let file = file.expect("an entry").path();
        if file.extension().is_some_and(|end| end == "plan") {
            all += &std::fs::read_to_string(&file).expect("a plan");
        }
    }
    let missing = Mark::ALL.iter().filter_map(|&mark| match shown(mark) {
        Shown::Line(start, end) => {
            let is_it = |line: &str| line.starts_with(start) && line.ends_with(end);
            let found = all.lines().any(|line| is_it(line.trim_start()));
            (!found).then(|| (mark.name(), start, end))
        }
        Shown::Elsewhere => None,
    });
    let missing: Vec<_> = missing.collect();
    assert!(
        missing.is_empty(),
        "no plan of `tests/plans` shows {missing:?}"
    );
}
