//! A clamped index that a loop makes beside more accumulators than there are registers, used in the loop and behind it:
//! lanes that the clamp brings together must not become neighbours in memory.

use std::fmt::Write as _;

use super::native::{Native, settings};
use super::raw;
use kernel_ir::interpret::Program;

const ITEMS: u32 = 12;
const SUB_GROUP: u32 = 8;
/// More values of 8 lanes than 16 registers of 32 bytes hold.
const SUMS: u32 = 20;

fn text() -> String {
    let (mut phis, mut sums, mut all) = (String::new(), String::new(), String::new());
    for i in 0..SUMS {
        // Writing to a string does not fail.
        let _ = writeln!(phis, "  %s{i}: i32 = phi b0: i32 {i}, b1: %t{i}");
        let _ = writeln!(
            sums,
            "  %m{i}: i32 = imul %s{i}, i32 {}\n  %t{i}: i32 = iadd %m{i}, %v",
            2 * i + 3
        );
        let before = match i {
            0 => "%r".to_owned(),
            i => format!("%a{}", i - 1),
        };
        let _ = writeln!(all, "  %a{i}: i32 = iadd {before}, %t{i}");
    }
    format!(
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i64, %last: i64) group_size {ITEMS} 1 1 {{
b0:
  %l: i64 = wi.LocalInvocationIndex 0
  br b1
b1:
  %k: i64 = phi b0: i64 0, b1: %k2
{phis}  %c: i64 = smin %l, %last
  %p: ptr<global> = offset %out [%c * 4 + 0]
  %q: ptr<global> = offset %in [%c * 4 + 0]
  %v: i32 = load %q align 4
  %r: i32 = group.reduce.iadd Subgroup %v
{sums}  %k2: i64 = iadd %k, i64 1
  %e: bool = cmp.ult %k2, %n
  br_if %e, b1, b2
b2:
{all}  %again: ptr<global> = offset %in [%c * 4 + 4]
  %w: i32 = load %again align 4
  %sum: i32 = iadd %a{}, %w
  store %p, %sum align 4
  ret
}}",
        SUMS - 1
    )
}

#[test]
fn clamped_results_of_loops_stay_where_the_clamp_puts_them() {
    let text = text();
    let module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::new(module.clone(), SUB_GROUP).unwrap_or_else(|e| panic!("{e}"));
    let mut prepared = module;
    kernel_ir::passes::prepare(&mut prepared).unwrap_or_else(|e| panic!("{e}"));
    let native = Native::new(prepared, settings(SUB_GROUP));
    assert_eq!(native.info.kernels[0].width, SUB_GROUP, "{text}");
    let input: Vec<i32> = (0..64).map(|i| i * 77 + 5).collect();
    for last in [0u64, 5, 9, 30] {
        let run = |is_native: bool| {
            let info = match is_native {
                true => &native.info.kernels[0],
                false => &program.info().kernels[0],
            };
            let mut out = vec![-1i32; 64];
            let values = [input.as_ptr() as u64, out.as_mut_ptr() as u64, 3, last];
            let block = raw::block(info, &values);
            let launch = raw::launch(info, [ITEMS, 1, 1], 1);
            if is_native {
                // SAFETY: the block is of this kernel, whose indices are below 64.
                unsafe { native.run_all(&block, &launch) };
            } else {
                raw::interpret(&program, &block, &launch).unwrap_or_else(|e| panic!("{e}"));
            }
            out
        };
        assert_eq!(run(true), run(false), "last {last}\n{text}");
    }
}
