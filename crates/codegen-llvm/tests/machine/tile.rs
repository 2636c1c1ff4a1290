//! Products of tiles: loops in which sub-groups exchange values and that carry more along than there are registers.

use std::fmt::Write;

use super::native::{Native, settings, v4};
use codegen_llvm::Settings;
use kernel_ir::abi::Launch;
use kernel_ir::passes::{Registers, vector_forms};

const LANES: u64 = 16;
const TURNS: u64 = 5;
/// Lanes of a row, whose columns each of them multiplies with its own two rows.
const COLUMNS: u64 = 8;

/// `turns` says how often a lane goes round.
fn text(turns: &str) -> String {
    let (mut phis, mut work, mut result) = (String::new(), String::new(), String::new());
    let mut before = "%turns.own".to_owned();
    for column in 0..COLUMNS {
        // Writing to a string does not fail.
        let _ = writeln!(
            work,
            "  %lane{column}: i32 = iadd %begin, i32 {column}
  %b{column}: <4 x i32> = group.shuffle Subgroup %b, %lane{column}"
        );
        for row in 0..2 {
            let sum = format!("{column}.{row}");
            let _ = writeln!(
                phis,
                "  %s{sum}: <4 x i32> = phi b0: <4 x i32> null, work: %n{sum}"
            );
            let _ = writeln!(
                work,
                "  %p{sum}: <4 x i32> = imul %a{row}, %b{column}
  %n{sum}: <4 x i32> = iadd %s{sum}, %p{sum}"
            );
            for part in 0..4 {
                let _ = writeln!(
                    result,
                    "  %x{sum}.{part}: i32 = extract %s{sum} [{part}]
  %y{sum}.{part}: i32 = imul {before}, i32 3
  %z{sum}.{part}: i32 = iadd %y{sum}.{part}, %x{sum}.{part}"
                );
                before = format!("%z{sum}.{part}");
            }
        }
    }
    format!(
        "kernel @k(%in: ptr<global>, %out: ptr<global>) {{
b0:
  %l0: i64 = wi.LocalInvocationId 0
  %l1: i64 = wi.LocalInvocationId 1
  %w0: i64 = wi.WorkgroupSize 0
  %row: i64 = imul %l1, %w0
  %linear: i64 = iadd %row, %l0
  %narrow: i32 = to.trunc %linear
  %own: i32 = wi.SubgroupLocalInvocationId 0
  %begin: i32 = and %own, i32 8
  %turns.own: i32 = {turns}
  br again
again:
  %turn: i32 = phi b0: i32 0, work: %next
  %at: i32 = phi b0: %narrow, work: %following
{phis}  %more: bool = cmp.ult %turn, %turns.own
  br_if %more, work, last
work:
  %w: i64 = to.zext %at
  %from.b: ptr<global> = offset %in [%w * 16 + 0]
  %b: <4 x i32> = load %from.b align 4
  %from.a: ptr<global> = offset %in [%w * 8 + 0]
  %a: <2 x i32> = load %from.a align 4
  %a0.one: i32 = extract %a [0]
  %a0: <4 x i32> = construct %a0.one, %a0.one, %a0.one, %a0.one
  %a1.one: i32 = extract %a [1]
  %a1: <4 x i32> = construct %a1.one, %a1.one, %a1.one, %a1.one
{work}  %following: i32 = iadd %at, i32 11
  %next: i32 = iadd %turn, i32 1
  br again
last:
{result}  %to: ptr<global> = offset %out [%linear * 4 + 0]
  store %to, {before} align 4
  ret
}}"
    )
}

/// What that kernel leaves for work-item `at` of `items`.
fn wanted(input: &[u32], items: u64, at: u64, turns: impl Fn(u64) -> u64) -> u32 {
    let start = at - at % LANES;
    let begin = start + at % LANES / COLUMNS * COLUMNS;
    let mut all = turns(at % LANES) as u32;
    for column in 0..COLUMNS {
        for row in 0..2 {
            for part in 0..4 {
                let sum = (0..turns(at % LANES)).fold(0u32, |sum, turn| {
                    let from = begin + column;
                    let there = from < items && turn < turns(from % LANES);
                    let b = input[((from + turn * 11) * 4 + part) as usize];
                    let b = if there { b } else { 0 };
                    let a = input[((at + turn * 11) * 2 + row) as usize];
                    sum.wrapping_add(a.wrapping_mul(b))
                });
                all = all.wrapping_mul(3).wrapping_add(sum);
            }
        }
    }
    all
}

#[test]
fn sums_beyond_the_registers_are_whole() {
    let cpus: &[&str] = match v4() {
        true => &["x86-64-v3", "x86-64-v4"],
        false => &["x86-64-v3"],
    };
    let same = |_: u64| TURNS;
    let other = |lane: u64| lane & 3;
    type Turns<'a> = (&'a str, &'a dyn Fn(u64) -> u64);
    let kinds: [Turns<'_>; 2] = [("copy i32 5", &same), ("and %own, i32 3", &other)];
    for (how, turns) in kinds {
        let mut module = kernel_ir::parse(&text(how)).unwrap_or_else(|e| panic!("{how}: {e}"));
        kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{how}: {e}"));
        // A sum takes four registers of 64 bytes: sixteen are too much for 32, not for 80.
        let forms = [32, 80].map(|count| {
            let registers = Registers {
                count,
                bytes: 64,
                lanes: LANES,
                reserved: 8,
                spill_cost: 3,
                load_cost: 3,
            };
            let mut module = module.clone();
            let body = module.kernels[0].function;
            let forms = vector_forms(&mut module, body, registers);
            for form in &forms {
                module.functions[body.index()] = form.function.clone();
                kernel_ir::validate(&module).unwrap_or_else(|e| panic!("{how}: {e}"));
            }
            forms.len()
        });
        assert_eq!(forms[0], forms[1] + 1, "{how}");
        for cpu in cpus {
            let of = Settings {
                cpu: (*cpu).into(),
                ..settings(LANES as u32)
            };
            let native = Native::new(module.clone(), of);
            assert_eq!(u64::from(native.info.kernels[0].width), LANES, "{how}");
            for size in [[8, 4], [16, 1], [8, 3], [5, 5], [40, 1], [1, 16]] {
                let items = size[0] * size[1];
                let input: Vec<u32> = (0..(items + LANES + TURNS * 11) * 4)
                    .map(|i| (i * 0x9e37 + 5) as u32)
                    .collect();
                let mut output = vec![0u32; items as usize];
                let args = [input.as_ptr() as u64, output.as_mut_ptr() as u64];
                let block: Vec<u8> = args.iter().flat_map(|v| v.to_le_bytes()).collect();
                let launch = Launch {
                    group_size: [size[0], size[1], 1].map(|n| n as u32),
                    work_dim: 2,
                    group_count: [1, 1, 1],
                    items_per_group: items as u32,
                    state_offset: native.info.kernels[0].local_size,
                    ..Launch::default()
                };
                // SAFETY: the block is of this kernel, which stays within both arrays.
                unsafe { native.run_all(&block, &launch) };
                for (at, &got) in output.iter().enumerate() {
                    let want = wanted(&input, items, at as u64, turns);
                    assert_eq!(got, want, "{cpu}, {how}, {size:?}: work-item {at}");
                }
            }
        }
    }
}
