//! Trees over a block of memory, whose steps go through it in ever larger strides: interpreted, and compiled in lanes
//! of every number (where turns are taken out of their loops) and one work-item after another (where none are), they leave
//! the same.

use super::native::{Native, settings, v4};
use super::raw;
use kernel_ir::abi::KernelInfo;
use kernel_ir::interpret::Program;
use kernel_ir::passes::Registers;

/// What work-item `%i` (`%l` in 64 bits) does in a turn of stride `%off`, which is `1 << %k`, if it is one of the first
/// `%d`. ELEMENT and BYTES are those of the block `%t`; ends in block `work.end`.
const WORK: [(&str, &str); 5] = [
    (
        "sums on the way up",
        "%a0: i32 = shl %i, i32 1
  %a1: i32 = iadd %a0, i32 1
  %a2: i32 = imul %off, %a1
  %a3: i32 = iadd %a2, i32 4294967295
  %a4: i64 = to.zext %a3
  %a: SPACE = offset %t [%a4 * BYTES + 0]
  %b1: i32 = iadd %a0, i32 2
  %b2: i32 = imul %b1, %off
  %b3: i32 = iadd %b2, i32 4294967295
  %b4: i64 = to.zext %b3
  %b: SPACE = offset %t [%b4 * BYTES + 0]
  %x: ELEMENT = load %a align BYTES
  %y: ELEMENT = load %b align BYTES
  %z: ELEMENT = iadd %x, %y
  store %b, %z align BYTES
  br work.end",
    ),
    (
        "sums on the way down",
        "%a0: i32 = shl %i, i32 1
  %a1: i32 = iadd %a0, i32 1
  %a2: i32 = imul %off, %a1
  %a3: i32 = isub %a2, i32 1
  %a4: i64 = to.sext %a3
  %a: SPACE = offset %t [%a4 * BYTES + 0]
  %b1: i32 = iadd %a0, i32 2
  %b2: i32 = imul %b1, %off
  %b4: i64 = to.sext %b2
  %b5: i64 = isub %b4, i64 1
  %b: SPACE = offset %t [%b5 * BYTES + 0]
  %x: ELEMENT = load %a align BYTES
  %y: ELEMENT = load %b align BYTES
  store %a, %y align BYTES
  %z: ELEMENT = iadd %x, %y
  store %b, %z align BYTES
  br work.end",
    ),
    (
        "halves that are the sums of neighbours",
        "%o: i64 = to.zext %off
  %m: i64 = shl %o, i64 1
  %a0: i64 = imul %l, %m
  %b0: i64 = iadd %a0, %o
  %a: SPACE = offset %t [%a0 * BYTES + 0]
  %b: SPACE = offset %t [%b0 * BYTES + 0]
  %x: ELEMENT = load %a align BYTES
  %y: ELEMENT = load %b align BYTES
  %z: ELEMENT = imul %x, ELEMENT 3
  %w: ELEMENT = iadd %z, %y
  store %a, %w align BYTES
  br work.end",
    ),
    (
        "strides by shifts, in 16 bits",
        "%s: i16 = to.trunc %i
  %far: i16 = to.trunc %k
  %a0: i16 = shl %s, %far
  %a1: i16 = shl %a0, i16 1
  %a2: i64 = to.zext %a1
  %a: SPACE = offset %t [%a2 * BYTES + 0]
  %b0: i32 = to.zext %a0
  %b1: i32 = imul %off, %i
  %b2: i32 = iadd %b1, %b0
  %b3: i64 = to.sext %b2
  %b: SPACE = offset %t [%b3 * BYTES + BYTES]
  %x: ELEMENT = load %a align BYTES
  %y: ELEMENT = load %b align BYTES
  %z: ELEMENT = isub %x, %y
  %same: bool = cmp.ieq %a2, %b3
  %v: ELEMENT = select %same, %z, %y
  store %b, %v align BYTES
  br work.end",
    ),
    (
        "butterflies, with a loop in each turn",
        "%m: i32 = shl %off, i32 1
  %a0: i32 = imul %i, %m
  br each
each:
  %j: i32 = phi work: i32 0, each: %j1
  %a1: i32 = iadd %a0, %j
  %a2: i64 = to.zext %a1
  %a: SPACE = offset %t [%a2 * BYTES + 0]
  %b1: i32 = iadd %a1, %off
  %b2: i64 = to.zext %b1
  %b: SPACE = offset %t [%b2 * BYTES + 0]
  %x: ELEMENT = load %a align BYTES
  %y: ELEMENT = load %b align BYTES
  %z: ELEMENT = iadd %x, %y
  %w: ELEMENT = isub %x, %y
  store %a, %z align BYTES
  store %b, %w align BYTES
  %j1: i32 = iadd %j, i32 1
  %more: bool = cmp.ult %j1, %off
  br_if %more, each, work.end",
    ),
];

/// The loop around it: phis of the header `turn`, what makes the next values and says whether there is another turn.
/// `turn` is where the barrier stands.
const LOOPS: [(&str, &str); 3] = [
    (
        "from neighbours on, tested at the end",
        "br turn
turn:
  %off: i32 = phi begin: i32 1, work.end: %off1
  %d: i32 = phi begin: i32 256, work.end: %d1
  %k: i32 = phi begin: i32 0, work.end: %k1
  barrier Workgroup
  %some: bool = cmp.ult %i, %d
  br_if %some, work, work.end
work:
  WORK
work.end:
  %off1: i32 = shl %off, i32 1
  %d1: i32 = lshr %d, i32 1
  %k1: i32 = iadd %k, i32 1
  %over: bool = cmp.ieq %d1, i32 0
  br_if %over, done, turn",
    ),
    (
        "from the whole on, tested at the start",
        "br head
head:
  %twice: i32 = phi begin: i32 512, work.end: %off
  %d: i32 = phi begin: i32 1, work.end: %d1
  %kk: i32 = phi begin: i32 9, work.end: %k
  %go: bool = cmp.slt %d, i32 512
  br_if %go, turn, done
turn:
  %off: i32 = lshr %twice, i32 1
  %k: i32 = isub %kk, i32 1
  barrier Workgroup
  %none: bool = cmp.uge %i, %d
  br_if %none, work.end, work
work:
  WORK
work.end:
  %d1: i32 = shl %d, i32 1
  br head",
    ),
    (
        "by the number of the turn",
        "br turn
turn:
  %k: i32 = phi begin: i32 0, work.end: %k1
  %off: i32 = shl i32 1, %k
  %d: i32 = lshr i32 256, %k
  barrier Workgroup
  %some: bool = cmp.ult %i, %d
  br_if %some, work, work.end
work:
  WORK
work.end:
  %k1: i32 = iadd %k, i32 1
  %again: bool = cmp.ult %k1, i32 9
  br_if %again, turn, done",
    ),
];

/// Elements of a group's block.
const BLOCK: usize = 512;
const GROUPS: u32 = 2;

/// A kernel over a block in local memory that is copied from and to `%out`, or over `%out` itself.
fn kernel(work: &str, turns: &str, element: (&str, usize), local: bool) -> String {
    let (name, bytes) = element;
    let copy = |label: &str, from: &str, to: &str, next: &str| {
        format!(
            "{label}:
  %{label}.i: i64 = phi {label}.begin: %l, {label}.copy: %{label}.i1
  %{label}.go: bool = cmp.ult %{label}.i, i64 {BLOCK}
  br_if %{label}.go, {label}.copy, {next}
{label}.copy:
  %{label}.p: ptr<{from}> = offset {} [%{label}.i * {bytes} + 0]
  %{label}.q: ptr<{to}> = offset {} [%{label}.i * {bytes} + 0]
  %{label}.v: {name} = load %{label}.p align {bytes}
  store %{label}.q, %{label}.v align {bytes}
  %{label}.i1: i64 = iadd %{label}.i, %size
  br {label}",
            if from == "local" { "%t" } else { "%own" },
            if to == "local" { "%t" } else { "%own" },
        )
    };
    let (variable, block, space, before, after) = if local {
        let before = format!(
            "br in.begin\nin.begin:\n  br in\n{}",
            copy("in", "global", "local", "begin")
        );
        let after = format!(
            "barrier Workgroup\n  br out.begin\nout.begin:\n  br out\n{}\nend:\n  ret",
            copy("out", "local", "global", "end")
        );
        let variable = format!("var @t: [{BLOCK} x {name}] in local\n");
        (variable, "copy @t", "ptr<local>", before, after)
    } else {
        (
            String::new(),
            "copy %own",
            "ptr<global>",
            "br begin".to_string(),
            "ret".to_string(),
        )
    };
    // A copy hides what it is of: an offset of nothing does not.
    let block = block.replace("copy ", "offset ") + " [0]";
    let turns = turns.replace("WORK", work);
    format!(
        "{variable}kernel @k(%out: ptr<global>) {{
first:
  %l: i64 = wi.LocalInvocationIndex 0
  %i: i32 = to.trunc %l
  %g: i64 = wi.WorkgroupId 0
  %size_x: i64 = wi.WorkgroupSize 0
  %size_y: i64 = wi.WorkgroupSize 1
  %size: i64 = imul %size_x, %size_y
  %own: ptr<global> = offset %out [%g * {} + 0]
  %t: {space} = {block}
  {before}
begin:
  {turns}
done:
  {after}
}}
",
        BLOCK * bytes
    )
    .replace("ELEMENT", name)
    .replace("BYTES", &bytes.to_string())
    .replace("SPACE", space)
}

/// Work-group sizes: whole chunks and not, less work-items than there is work, rows that are shorter than a chunk.
const SIZES: [[u32; 2]; 6] = [[256, 1], [300, 1], [100, 1], [16, 16], [33, 3], [1, 1]];

fn check(what: &str, text: &str, required: Option<[u32; 2]>, unrolled: bool) {
    let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    kernel_ir::validate(&module).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    module.kernels[0].required_group_size = required.map(|[x, y]| [x, y, 1]);
    let mut prepared = module.clone();
    kernel_ir::passes::prepare(&mut prepared).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    let barriers = |module: &kernel_ir::Module| {
        let text = kernel_ir::print(module);
        text.matches("barrier Workgroup").count()
    };
    let mut wide = prepared.clone();
    let registers = Registers {
        count: 16,
        bytes: 32,
        lanes: 16,
        reserved: 8,
        spill_cost: 3,
        load_cost: 3,
    };
    let body = wide.kernels[0].function;
    let mut forms = kernel_ir::passes::vector_forms(&mut wide, body, registers).into_iter();
    if let Some(form) = forms.next() {
        wide.functions[body.index()] = form.function;
    }
    kernel_ir::validate(&wide).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    // Neighbours are two, four and eight elements apart in the turns that are taken out; one, in some.
    let more = barriers(&wide) - barriers(&prepared);
    let wanted = if unrolled { 3..=4 } else { 0..=0 };
    assert!(wanted.contains(&more), "{what}: {more}\n{text}");

    let program = Program::new(module, 16).unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut forms = vec![
        (true, None),
        (true, Some(8)),
        (true, Some(32)),
        (false, None),
    ];
    forms.push((true, Some(4)));
    let sizes: Vec<[u32; 2]> = required.map_or(SIZES.to_vec(), |size| vec![size]);
    let start = || -> Vec<u64> {
        (1..=(GROUPS as usize * BLOCK) as u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect()
    };
    let mut expected = Vec::new();
    for size in &sizes {
        let mut out = start();
        let info: &KernelInfo = &program.info().kernels[0];
        let block = raw::block(info, &[out.as_mut_ptr() as u64]);
        let launch = raw::launch(info, [size[0], size[1], 1], GROUPS);
        raw::interpret(&program, &block, &launch).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
        expected.push(out);
    }
    for (i, (side_by_side, lanes)) in forms.into_iter().enumerate() {
        let mut settings = settings(16);
        settings.wide = side_by_side;
        settings.lanes = lanes;
        if i % 2 == 0 && v4() {
            settings.cpu = "x86-64-v4".into();
        }
        let native = Native::new(prepared.clone(), settings);
        for (size, expected) in sizes.iter().zip(&expected) {
            let mut out = start();
            let info = &native.info.kernels[0];
            let block = raw::block(info, &[out.as_mut_ptr() as u64]);
            let launch = raw::launch(info, [size[0], size[1], 1], GROUPS);
            // SAFETY: the kernel stays within its groups' blocks.
            unsafe { native.run_all(&block, &launch) };
            let differs = out.iter().zip(expected).position(|(a, b)| a != b);
            assert_eq!(
                differs, None,
                "{what}: groups of {size:?}, lanes {lanes:?}, side by side: {side_by_side}\n{text}"
            );
        }
    }
}

const ELEMENTS: [(&str, usize); 4] = [("i32", 4), ("i64", 8), ("i16", 2), ("i8", 1)];

#[test]
fn trees_leave_what_the_interpreter_leaves() {
    let mut count = 0;
    for (work, body) in WORK {
        for (turns, around) in LOOPS {
            let element = ELEMENTS[[0, 1, 0, 2, 0, 3][count % 6]];
            let what = format!("{work}, {turns}, {element:?}");
            let text = kernel(body, around, element, count % 3 != 2);
            let required = [None, Some([256, 1]), None, Some([48, 2])][count % 4];
            check(&what, &text, required, true);
            count += 1;
        }
    }
}

/// Turns in which work-items lie as far apart in each: nothing would be won.
#[test]
fn loops_with_one_stride_stay() {
    let halves = "%o: i64 = to.zext %off
  %b0: i64 = iadd %l, %o
  %a: SPACE = offset %t [%l * BYTES + 0]
  %b1: i64 = and %b0, i64 511
  %b: SPACE = offset %t [%b1 * BYTES + 0]
  %x: ELEMENT = load %a align BYTES
  %z: ELEMENT = imul %x, ELEMENT 3
  store %a, %z align BYTES
  br work.end";
    for (turns, around) in LOOPS {
        check(
            turns,
            &kernel(halves, around, ELEMENTS[0], true),
            None,
            false,
        );
    }
}
