//! LLVM IR as it is made, before LLVM's passes, for kernels that each show one property; and every stage from SPIR-V
//! to there, for kernels that each need something of all stages. After a change that is meant, run with
//! `SOLUM_BLESS=1` and read the difference. Of some properties only whether the IR has them is asked: those need no
//! processor of theirs.

#![cfg(llvm)]

use std::path::Path;

use codegen_llvm::Settings;
use kernel_ir::abi::MOST_ITEMS;
use kernel_ir::build::SpirvInput;
use kernel_ir::report::Emit;
use kernel_ir::{Module, Options, Request, passes};

/// LLVM's IR of the only kernel.
fn lowered(name: &str, module: &Module, options: Options, wide: bool) -> String {
    let settings = Settings {
        cpu: "x86-64-v3".into(),
        features: String::new(),
        sub_group_size: 8,
        options,
        wide,
        lanes: None,
        baseline: false,
    };
    let made = codegen_llvm::llvm_text(module, &settings).unwrap_or_else(|e| panic!("{name}: {e}"));
    // The body only: attributes and declarations say nothing of the lowering.
    made.lines()
        .skip_while(|line| !line.starts_with("define"))
        .take_while(|line| !line.starts_with('}'))
        .map(|line| {
            format!(
                "{}\n",
                line.split("  ; preds")
                    .next()
                    .unwrap_or_default()
                    .trim_end()
            )
        })
        .collect()
}

/// All of LLVM's IR of a kernel in text form, in so many lanes.
fn in_lanes(text: &str, lanes: u32, cpu: &str, features: &str) -> String {
    in_lanes_or_usual(text, Some(lanes), cpu, features)
}

fn in_lanes_or_usual(text: &str, lanes: Option<u32>, cpu: &str, features: &str) -> String {
    let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel_ir::validate(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let settings = Settings {
        cpu: cpu.into(),
        features: features.into(),
        sub_group_size: 8,
        options: Options::default(),
        wide: true,
        lanes,
        baseline: false,
    };
    codegen_llvm::llvm_text(&module, &settings).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// `made` against the file, which is written anew when blessed.
fn compare(path: &Path, made: &str) {
    if std::env::var_os("SOLUM_BLESS").is_some() {
        std::fs::write(path, made).expect("bless");
    }
    let wanted = std::fs::read_to_string(path).unwrap_or_default();
    let differs = made.lines().zip(wanted.lines()).position(|(a, b)| a != b);
    let name = path.file_name().unwrap_or_default().display();
    assert!(
        made == wanted,
        "{name}: first difference in line {differs:?}; now:\n{made}"
    );
}

fn check(name: &str, wide: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let text = std::fs::read_to_string(folder.join(format!("{name}.ir"))).expect("kernel");
    let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    kernel_ir::validate(&module).unwrap_or_else(|e| panic!("{name}: {e}"));
    let options = Options::default();
    passes::prepare(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
    let made = lowered(name, &module, options, wide);
    compare(&folder.join(format!("{name}.ll")), &made);
}

/// From a `.spvasm` (its `.spv` beside it is made by `spirv-as --target-env spv1.4`): what the front end makes of it,
/// what is left when it stands alone, what back ends take, and that in eight lanes.
#[test]
fn stages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stages");
    let mut kernels = 0;
    for file in std::fs::read_dir(&folder).expect("tests/stages") {
        let file = file.expect("an entry").path();
        if file.extension().is_none_or(|end| end != "spv") {
            continue;
        }
        kernels += 1;
        let name = file.file_stem().unwrap_or_default().display().to_string();
        let request = Request {
            modules: vec![SpirvInput {
                words: std::fs::read(&file).expect("a module"),
                constants: Vec::new(),
            }],
            options: String::new(),
            cpu: "x86-64-v3".into(),
            features: String::new(),
            sub_group_size: 8,
            lanes: 0,
            nulls: None,
            transforms: kernel_ir::Transforms::default(),
            checks: kernel_ir::Checks::default(),
        };
        let built = kernel_ir::front::build(&request).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut module = built.module;
        let stage = |stage: &str, module: &Module| {
            let text = kernel_ir::print(module);
            compare(&file.with_extension(format!("{stage}.ir")), &text);
        };
        stage("1-front", &module);
        passes::stand_alone(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
        stage("2-alone", &module);
        passes::expand(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
        stage("3-expanded", &module);
        let made = lowered(&name, &module, Options::default(), true);
        compare(&file.with_extension("4-lanes.ll"), &made);
    }
    assert!(kernels > 0, "no kernels in {}", folder.display());
}

/// `docs/compiler.md` shows one kernel at each stage; its code blocks are made here.
#[test]
fn page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("tests/stages/count_hits.spv");
    let request = Request {
        modules: vec![SpirvInput {
            words: std::fs::read(&file).expect("a module"),
            constants: Vec::new(),
        }],
        cpu: "x86-64-v3".into(),
        sub_group_size: 16,
        ..Request::default()
    };
    let shown = |emit: Emit| {
        let explained = codegen_llvm::explain(&request, emit).expect("a kernel that compiles");
        String::from_utf8(explained.output).expect("text")
    };
    let front = kernel_ir::front::build(&request).expect("a valid module");
    let mut module = front.module;
    let front = kernel_ir::print(&module);
    passes::prepare(&mut module).expect("a kernel");
    let llvm = lowered("count_hits", &module, Options::default(), true);
    let blocks = |text: &str, wanted: &dyn Fn(&str) -> bool| -> String {
        let some = text.split("\n\n").filter(|block| wanted(block));
        some.collect::<Vec<_>>().join("\n\n")
    };
    let assembly = shown(Emit::Assembly);
    let code: Vec<&str> = assembly
        .lines()
        .filter(|line| line.starts_with(".LBB") || line.starts_with('\t'))
        .filter(|line| !line.starts_with("\t."))
        .collect();
    let first = code
        .iter()
        .position(|line| line.contains("vcmp"))
        .unwrap_or(0);
    let listed = std::fs::read_to_string(file.with_extension("spvasm")).expect("a listing");
    let body = listed
        .lines()
        .skip_while(|line| !line.contains("%count_hits = OpFunction"));
    let made = [
        ("spirv", body.collect::<Vec<_>>().join("\n")),
        ("front", front),
        ("scalar", shown(Emit::Scalar)),
        ("facts", shown(Emit::Facts)),
        ("plan", shown(Emit::Plan)),
        (
            "llvm",
            blocks(&llvm, &|block| {
                block.contains("<16 x") && !block.contains("alloca")
            }),
        ),
        (
            "assembly, not compared",
            code[first.saturating_sub(2)..]
                .iter()
                .take(14)
                .copied()
                .collect::<Vec<_>>()
                .join("\n"),
        ),
    ];
    let path = root.join("../../docs/compiler.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let is_blessed = std::env::var_os("SOLUM_BLESS").is_some();
    let mut text = String::new();
    let mut rest = page.as_str();
    for (name, made) in &made {
        let marker = format!("<!-- made: {name} -->\n");
        let at = rest
            .find(&marker)
            .unwrap_or_else(|| panic!("no {marker:?}"))
            + marker.len();
        let begin = at + rest[at..].find('\n').expect("a fence") + 1;
        let end = begin + rest[begin..].find("```").expect("the end of the block");
        text += &rest[..begin];
        match name.ends_with("not compared") && !is_blessed {
            true => text += &rest[begin..end],
            false => text += &format!("{}\n", made.trim_end()),
        }
        rest = &rest[end..];
    }
    compare(&path, &(text + rest));
}

/// Three loops around the body; a 4-byte store at a computed address; arguments loaded once.
#[test]
fn fill() {
    check("fill", false);
}

/// One copy of the code, a record per work-item, a switch to where it waits.
#[test]
fn barrier() {
    check("barrier", false);
}

/// Ends of rows in short rows: a mask instead of a test for the whole chunk, and one test that holds for a row.
#[test]
fn row_ends() {
    check("row_ends", true);
}

/// A divisor that would trap is replaced, a shift amount is cut, nothing carries undefined flags.
#[test]
fn no_traps() {
    check("no_traps", false);
}

/// A sub-group in step: whole ones that are part of a row without masks and with row accesses; others under a
/// mask of the lanes there are, with a vector of ids.
#[test]
fn sub_group() {
    check("sub_group", true);
}

/// Behind the barrier only the chunks that have work-items below the limit, and the first one.
#[test]
fn narrow() {
    check("narrow", true);
}

/// Members of structures that a block stores with nothing read in between are written as whole rows, or as rows under one
/// mask each.
#[test]
fn members_are_stored_together() {
    const V3: &str = "x86-64-v3";
    const V4: &str = "x86-64-v4";
    /// Processor, elements of the structure, what is done with which: stored, or `r`ead in between; then whole vectors
    /// that are stored, with their number of elements, and vectors under masks.
    type Case = (
        &'static str,
        u32,
        &'static [&'static str],
        (usize, u32),
        usize,
    );
    let cases: [Case; 10] = [
        (V4, 7, &["0", "1", "2", "3", "4", "5", "6"], (7, 16), 0),
        (V4, 7, &["6", "0", "5", "1", "4", "2", "3"], (7, 16), 0),
        (V4, 8, &["0", "1", "2", "3", "4", "5", "6", "7"], (8, 16), 0),
        (V4, 2, &["1", "0"], (1, 32), 0),
        (V4, 7, &["0", "1", "2", "3", "4", "5"], (0, 0), 7),
        (V4, 4, &["1", "2"], (0, 0), 4),
        // Each of the two reads may see what was stored before.
        (V4, 2, &["0", "r0", "1"], (0, 0), 4),
        (V4, 3, &["0", "1", "2", "r1", "0", "1", "2"], (2, 48), 0),
        (V3, 3, &["0", "1", "2"], (1, 48), 0),
        (V3, 7, &["0", "1", "2", "3", "4", "5", "6"], (0, 0), 0),
    ];
    for (cpu, elements, steps, whole, masked) in cases {
        let bytes = elements * 4;
        let mut text = format!(
            "kernel @k(%in: ptr<global>, %out: ptr<global>) {{
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %p: ptr<global> = offset %in [%g * 4 + 0]
  %v: i32 = load %p align 4
  %s: ptr<global> = offset %out [%g * {bytes} + 0]
"
        );
        let mut value = "%v".to_owned();
        for (i, step) in steps.iter().enumerate() {
            let at = step
                .trim_start_matches('r')
                .parse::<u32>()
                .expect("a place")
                * 4;
            text += &format!("  %a{i}: ptr<global> = offset %s [{at}]\n");
            if step.starts_with('r') {
                text += &format!("  %v{i}: i32 = load %a{i} align 4\n");
                value = format!("%v{i}");
            } else {
                text += &format!("  %v{i}: i32 = iadd {value}, i32 {i}\n");
                text += &format!("  store %a{i}, %v{i} align 4\n");
            }
        }
        text += "  ret\n}";
        let made = in_lanes(&text, 16, cpu, "");
        let lines =
            |what: &str| -> Vec<&str> { made.lines().filter(|line| line.contains(what)).collect() };
        let name = format!("{cpu}, {elements} elements, {steps:?}");
        // Masks of lanes that wait are stored as well.
        let mut rows = lines("store <");
        rows.retain(|line| line.contains("x i32>"));
        let row = format!("store <{} x i32>", whole.1);
        assert!(
            rows.iter().all(|line| line.contains(&row)),
            "{name}: {made}"
        );
        assert_eq!(rows.len(), whole.0, "{name}: {made}");
        let under_masks = lines("call void @llvm.masked.store").len();
        assert_eq!(under_masks, masked, "{name}: {made}");
    }
}

/// Elements that lie anywhere come and go at once where the processor is told to be fast at it, and one by one else.
#[test]
fn gathers_where_they_are_fast() {
    const V4: &str = "x86-64-v4";
    const FAST: &str = cpu_target::FAST_GATHERS;
    for (cpu, features, lanes, element, at_once) in [
        (V4, "", 16, "i32", false),
        (V4, FAST, 16, "i32", true),
        (V4, FAST, 8, "i64", true),
        (V4, FAST, 32, "f32", true),
        // Too few to be worth it, and none of the processor's sizes.
        (V4, FAST, 4, "i32", false),
        (V4, FAST, 16, "i16", false),
        (V4, "+fast-gather,-fast-gather", 16, "i32", false),
        (V4, "-fast-gather,+fast-gather", 16, "i32", true),
        ("x86-64-v3", FAST, 16, "i32", false),
        ("sapphirerapids", "", 16, "i32", true),
        ("sapphirerapids", "-fast-gather", 16, "i32", false),
        ("sapphirerapids", "-avx512f", 16, "i32", false),
        ("icelake-server", "", 16, "i32", false),
    ] {
        let bytes = element[1..].parse::<u32>().expect("bits") / 8;
        let text = format!(
            "kernel @k(%at: ptr<global>, %in: ptr<global>, %out: ptr<global>) {{
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %a: ptr<global> = offset %at [%g * 4 + 0]
  %i: i32 = load %a align 4
  %w: i64 = to.sext %i
  %p: ptr<global> = offset %in [%w * {bytes} + 0]
  %v: {element} = load %p align {bytes}
  %q: ptr<global> = offset %out [%w * {bytes} + 0]
  store %q, %v align {bytes}
  ret
}}"
        );
        let made = in_lanes(&text, lanes, cpu, features);
        let has = |name: &str| {
            let mut calls = made.lines().filter(|line| line.contains("call "));
            calls.any(|line| line.contains(name))
        };
        let found = ["llvm.masked.gather", "llvm.masked.scatter"].map(has);
        let what = format!("{lanes} of {element} on {cpu} with {features:?}");
        assert_eq!(found, [at_once; 2], "{what}\n{made}");
    }
}

/// Where what is loaded decides what is loaded next, more work-items run side by side than where it does not.
#[test]
fn searches_have_more_lanes() {
    const V3: &str = "x86-64-v3";
    const V4: &str = "x86-64-v4";
    const BINARY: &str = "  %h: i64 = lshr %n, i64 1
  %m: i64 = iadd %f, %h
  %p: ptr<global> = offset %in [%m * 8 + 0]
  %v: i64 = load %p align 8
  %c: bool = cmp.ult %v, %g
  %m1: i64 = iadd %m, i64 1
  %h1: i64 = isub %h, i64 1
  %f1: i64 = select %c, %m1, %f
  %n1: i64 = select %c, %h1, %h";
    const LIST: &str = "  %p: ptr<global> = offset %in [%f * 8 + 0]
  %f1: i64 = load %p align 8
  %n1: i64 = isub %n, i64 1";
    const SUM: &str = "  %p: ptr<global> = offset %in [%n * 8 + 0]
  %v: i64 = load %p align 8
  %w1: i64 = imul %v, %f
  %w2: i64 = xor %w1, %n
  %w3: i64 = imul %w2, %w1
  %w4: i64 = xor %w3, %w2
  %w5: i64 = imul %w4, %w3
  %w6: i64 = xor %w5, %w4
  %f1: i64 = iadd %f, %w6
  %n1: i64 = isub %n, i64 1";
    const GATHERED: &str = "  %p: ptr<global> = offset %in [%n * 8 + 0]
  %i: i64 = load %p align 8
  %q: ptr<global> = offset %in [%i * 8 + 0]
  %v: i64 = load %q align 8
  %w1: i64 = imul %v, %f
  %w2: i64 = xor %w1, %n
  %w3: i64 = imul %w2, %w1
  %w4: i64 = xor %w3, %w2
  %w5: i64 = imul %w4, %w3
  %w6: i64 = xor %w5, %w4
  %f1: i64 = iadd %f, %w6
  %n1: i64 = isub %n, i64 1";
    // What a turn does, the processor, the row where it is known, the dimension of the id; then lanes.
    for (turn, cpu, row, dimension, lanes) in [
        (BINARY, V4, None, 0, 32),
        (BINARY, V3, None, 0, 16),
        (BINARY, V4, Some(64), 0, 32),
        (BINARY, V4, Some(48), 0, 16),
        (BINARY, V4, Some(8), 0, 8),
        (BINARY, V4, None, 1, 8),
        (LIST, V4, None, 0, 32),
        (LIST, V3, None, 0, 16),
        (SUM, V4, None, 0, 8),
        (GATHERED, V4, None, 0, 8),
    ] {
        let size = row.map_or(String::new(), |row| format!(" group_size {row} 1 1"));
        let text = format!(
            "kernel @k(%in: ptr<global>, %out: ptr<global>, %s: i64){size} {{
b0:
  %g: i64 = wi.GlobalInvocationId {dimension}
  %x: i64 = wi.GlobalInvocationId 0
  %j: i64 = iadd %g, %x
  %b: i64 = and %j, %s
  br b1
b1:
  %n: i64 = phi b0: %b, b2: %n1
  %f: i64 = phi b0: %g, b2: %f1
  %e: bool = cmp.ieq %n, i64 0
  br_if %e, b3, b2
b2:
{turn}
  br b1
b3:
  %o: ptr<global> = offset %out [%j * 8 + 0]
  store %o, %f align 8
  ret
}}"
        );
        let made = in_lanes_or_usual(&text, None, cpu, "");
        let found = [32, 16, 8, 4]
            .into_iter()
            .find(|lanes| made.contains(&format!("<{lanes} x i64>")));
        assert_eq!(
            found,
            Some(lanes),
            "{cpu}, row {row:?}, dimension {dimension}\n{text}\n{made}"
        );
    }
}

/// Lanes as far apart as integers go, or members that lie so far apart in one structure, are no rows to read.
#[test]
fn far_elements_are_read_one_by_one() {
    let far = i64::MAX;
    for cpu in ["x86-64-v2", "x86-64-v3", "x86-64-v4"] {
        for (index, first, second) in [
            ("shl %l, i64 63", 0, 1),
            ("shl %l, i64 62", 0, 1),
            ("imul %l, i64 -9223372036854775808", 0, 1),
            ("imul %l, i64 -9223372036854775807", 0, 1),
            ("imul %l, i64 3", 0, far),
            ("imul %l, i64 3", far, -1),
            ("imul %l, i64 3", -far - 1, far),
            ("imul %l, i64 -1", far, -far),
        ] {
            let text = format!(
                "kernel @k(%in: ptr<global>, %out: ptr<global>) {{
b0:
  %l: i64 = wi.GlobalInvocationId 0
  %i: i64 = {index}
  %p: ptr<global> = offset %in [%i * 1 + {first}]
  %r: ptr<global> = offset %in [%i * 1 + {second}]
  %v: i8 = load %p align 1
  %w: i8 = load %r align 1
  %s: i8 = iadd %v, %w
  %q: ptr<global> = offset %out [%l * 1 + 0]
  store %q, %s align 1
  ret
}}"
            );
            for lanes in [8, 16] {
                let made = in_lanes(&text, lanes, cpu, "");
                let loads = made
                    .lines()
                    .filter(|line| line.contains(" load i8,") || line.contains(" load <"));
                let loads = loads.count();
                assert!(loads <= 4 * lanes as usize, "{loads} loads, {cpu}\n{text}");
            }
        }
    }
}

/// Integers made of a work-item's place in its group are tested only where those of the largest group would wrap around.
#[test]
fn places_in_a_group_have_limits() {
    let last = i64::from(MOST_ITEMS) - 1;
    let (signed, unsigned) = (i64::from(i32::MAX), i64::from(u32::MAX));
    let (half, whole) = (signed / last, unsigned / last);
    let left = signed - half * last;
    for (bits, extension, factor, plus, tested) in [
        (32, "sext", half, left, false),
        (32, "sext", half, left + 1, true),
        (32, "sext", half + 1, 0, true),
        (32, "sext", -half, -left - 1, false),
        (32, "sext", -half, -left - 2, true),
        (32, "zext", whole, unsigned - whole * last, false),
        (32, "zext", whole + 1, 0, true),
        (32, "zext", 1, -1, true),
        (16, "zext", 1, 0, last > i64::from(u16::MAX)),
        (16, "sext", 1, 0, last > i64::from(i16::MAX)),
        (8, "zext", 1, 0, true),
    ] {
        let constant = |n: i64| n & ((1 << bits) - 1);
        let (times, more) = (constant(factor), constant(plus));
        for id in [
            "LocalInvocationId",
            "LocalInvocationIndex",
            "GlobalInvocationId",
        ] {
            let text = format!(
                "kernel @k(%in: ptr<global>, %out: ptr<global>) {{
b0:
  %l: i64 = wi.{id} 0
  %n: i{bits} = to.trunc %l
  %m: i{bits} = imul %n, i{bits} {times}
  %a: i{bits} = iadd %m, i{bits} {more}
  %w: i64 = to.{extension} %a
  %p: ptr<global> = offset %in [%w * 4 + 0]
  %v: i32 = load %p align 4
  %q: ptr<global> = offset %out [%l * 4 + 0]
  store %q, %v align 4
  ret
}}"
            );
            let made = in_lanes(&text, 16, "x86-64-v3", "");
            // Of the narrow integers, or of what they would be without an end; or the test cannot hold.
            let narrow = format!(" i{bits} ");
            let is_test = |line: &str| {
                let compares = line.contains(" icmp ");
                compares && (line.contains(&narrow) || line.contains(" eq i64 "))
                    || line.contains("br i1 false")
            };
            let is_tested = made.lines().any(is_test);
            let wanted = tested || id == "GlobalInvocationId";
            assert_eq!(is_tested, wanted, "{text}\n{made}");
        }
    }
}

/// Of a kernel that asks for more work-items than a group can have code is made, which nobody will run.
#[test]
fn groups_beyond_the_limit_are_compiled() {
    let text = "kernel @k(%out: ptr<global>) {
b0:
  %l: i64 = wi.LocalInvocationId 0
  %n: i32 = to.trunc %l
  %m: i32 = imul %n, i32 32768
  %w: i64 = to.sext %m
  barrier Workgroup
  %q: ptr<global> = offset %out [%w * 4 + 0]
  store %q, %n align 4
  ret
}";
    for size in [
        [MOST_ITEMS, 1, 1],
        [MOST_ITEMS + 1, 1, 1],
        [1 << 16, 1 << 16, 1],
        [u32::MAX; 3],
    ] {
        let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
        passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}"));
        module.kernels[0].required_group_size = Some(size);
        for wide in [true, false] {
            let made = lowered("beyond", &module, Options::default(), wide);
            assert!(!made.is_empty(), "{size:?}, side by side: {wide}");
        }
    }
}

/// Sets of values have another order each time.
#[test]
fn one_kernel_gives_one_text() {
    let kept = |i: usize| {
        format!(
            "  %a{i}: ptr<global> = offset %in [%g * 8 + {}]\n  %k{i}: i64 = load %a{i} align 8\n",
            8 * i
        )
    };
    let used = |i: usize| {
        format!("  %p{i}: ptr<global> = offset %out [%k{i} * 8 + 0]\n  store %p{i}, %l align 8\n")
    };
    let text = format!(
        "kernel @k(%in: ptr<global>, %out: ptr<global>) {{\nb0:\n  %l: i64 = wi.LocalInvocationId 0
  %g: i64 = wi.WorkgroupId 0\n{}  barrier Workgroup\n{}  ret\n}}",
        (0..12).map(kept).collect::<String>(),
        (0..12).map(used).collect::<String>()
    );
    let left = |i: usize| {
        let ty = ["i64", "i32", "i16"][i % 3];
        (
            format!(
                "  %a{i}: ptr<global> = offset %in [%i * 8 + {}]\n  %k{i}: {ty} = load %a{i} align 8\n",
                8 * i
            ),
            format!(
                "  %p{i}: ptr<global> = offset %out [%l * 128 + {}]\n  store %p{i}, %k{i} align 8\n",
                8 * i
            ),
        )
    };
    let (made, stored): (Vec<_>, Vec<_>) = (0..12).map(left).unzip();
    let behind_a_loop = format!(
        "kernel @k(%in: ptr<global>, %out: ptr<global>) {{\nb0:\n  %l: i64 = wi.LocalInvocationId 0
  %t: ptr<global> = offset %in [%l * 8 + 0]\n  %turns: i64 = load %t align 8\n  br b1\nb1:
  %i: i64 = phi b0: i64 0, b1: %i2\n{}  %i2: i64 = iadd %i, i64 1\n  %on: bool = cmp.ult %i2, %turns
  br_if %on, b1, b2\nb2:\n{}  ret\n}}",
        made.concat(),
        stored.concat()
    );
    for text in [text, behind_a_loop] {
        let first = in_lanes(&text, 8, "x86-64-v3", "");
        for _ in 0..4 {
            assert!(first == in_lanes(&text, 8, "x86-64-v3", ""), "{first}");
        }
    }
}

/// What `clang-22 --target=spirv64 -cl-std=CL3.0 -O2 -c` makes of `golden/inner_cells.cl`: conditions that all lanes of a
/// chunk share, in two blocks.
#[test]
fn conditions_that_lanes_share_are_joined_before_they_are_spread() {
    let request = Request {
        modules: vec![SpirvInput {
            words: include_bytes!("golden/inner_cells.spv").to_vec(),
            constants: Vec::new(),
        }],
        cpu: "x86-64-v4".into(),
        sub_group_size: 16,
        ..Request::default()
    };
    let explained = codegen_llvm::explain(&request, Emit::Lanes).expect("a kernel that compiles");
    let text = String::from_utf8(explained.output).expect("text");
    let words = |line: &str| -> Vec<String> {
        let words = line.split([' ', ',']).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let mut spread = Vec::new();
    let mut joined = 0;
    for line in text.lines() {
        let words = words(line);
        match &words[..] {
            [name, _, op, ..] if op == "insertelement" && line.contains(" x i1> poison") => {
                spread.push(name.clone());
            }
            [_, _, op, .., a, b] if op == "and" && line.contains(" x i1>") => {
                assert!(!spread.contains(a) || !spread.contains(b), "{line}");
            }
            [_, _, op, ty, ..] if op == "and" && ty == "i1" => joined += 1,
            _ => {}
        }
    }
    assert!(spread.len() > 2 && joined > 0, "{text}");
}
