//! Sub-groups that exchange values, in groups whose rows are whole ones, parts of one, or neither.

use super::native::{Native, settings};
use kernel_ir::abi::Launch;

const LANES: u64 = 16;
/// Lanes that values come from: so many are in every sub-group here.
const SOURCES: u64 = 8;

/// Steps of a chain that nothing shortens.
fn mixed(value: u32, steps: u32) -> u32 {
    (0..steps).fold(value, |v, i| v.wrapping_mul(3) ^ i)
}

/// A chain of `steps` before values are exchanged, in a loop where `repeats`, with barriers of the group where `waits`.
fn text(steps: u32, repeats: bool, waits: bool) -> String {
    let mut chain = String::new();
    for i in 0..steps {
        let from = if i == 0 {
            "%in.v".into()
        } else {
            format!("%x{}", i - 1)
        };
        chain += &format!("  %m{i}: i32 = imul {from}, i32 3\n  %x{i}: i32 = xor %m{i}, i32 {i}\n");
    }
    let v = if steps == 0 {
        "%in.v".into()
    } else {
        format!("%x{}", steps - 1)
    };
    let times = if repeats { SOURCES } else { 1 };
    let wait = if waits { "  barrier Workgroup\n" } else { "" };
    let exchange = format!(
        "  %other: i32 = group.shuffle Subgroup {v}, %lane
  %weight: i32 = iadd %lane, i32 1
  %weighted: i32 = imul %other, %weight
  %s2: i32 = iadd %s, %weighted"
    );
    let (head, tail) = match repeats {
        true => (
            "  br again
again:
  %lane: i32 = phi b0: i32 0, again: %next
  %s: i32 = phi b0: i32 0, again: %s2"
                .to_owned(),
            format!(
                "{wait}  %next: i32 = iadd %lane, i32 1\n  %more: bool = cmp.ult %next, i32 {times}\n  br_if %more, again, last\nlast:"
            ),
        ),
        false => (
            "  %lane: i32 = copy i32 0\n  %s: i32 = copy i32 0".to_owned(),
            String::new(),
        ),
    };
    format!(
        "kernel @k(%in: ptr<global>, %out: ptr<global>) {{
b0:
  %l0: i64 = wi.LocalInvocationId 0
  %l1: i64 = wi.LocalInvocationId 1
  %w0: i64 = wi.WorkgroupSize 0
  %w1: i64 = wi.WorkgroupSize 1
  %g: i64 = wi.WorkgroupId 0
  %row: i64 = imul %l1, %w0
  %linear: i64 = iadd %row, %l0
  %items: i64 = imul %w0, %w1
  %first: i64 = imul %g, %items
  %i: i64 = iadd %first, %linear
  %from: ptr<global> = offset %in [%i * 4 + 0]
  %in.v: i32 = load %from align 4
{chain}{head}
{exchange}
{tail}
  %to: ptr<global> = offset %out [%i * 4 + 0]
  store %to, %s2 align 4
  ret
}}"
    )
}

#[test]
fn rows_of_any_length() {
    const GROUPS: u64 = 2;
    // Beyond 200 instructions only loops have vectors.
    for (steps, repeats, waits, side_by_side) in [
        (2, true, false, true),
        (150, true, false, true),
        (150, true, true, true),
        (150, false, false, false),
    ] {
        for size in [
            [16, 1],
            [32, 3],
            [8, 8],
            [4, 4],
            [8, 3],
            [5, 5],
            [40, 1],
            [1, 16],
        ] {
            for required in [false, true] {
                let what = format!("{steps} steps, {repeats}, {waits}, {size:?}, {required}");
                let mut module = kernel_ir::parse(&text(steps, repeats, waits))
                    .unwrap_or_else(|e| panic!("{e}"));
                module.kernels[0].required_group_size =
                    required.then_some([size[0] as u32, size[1] as u32, 1]);
                kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}"));
                let native = Native::new(module, settings(LANES as u32));
                if !required {
                    let width = native.info.kernels[0].width;
                    assert_eq!(u64::from(width) == LANES, side_by_side, "{what}: {width}");
                }
                let items = size[0] * size[1];
                let input: Vec<u32> = (0..items * GROUPS)
                    .map(|i| (i * 0x9e37 + 1) as u32)
                    .collect();
                let mut output = vec![0u32; input.len()];
                let args = [input.as_ptr() as u64, output.as_mut_ptr() as u64];
                let block: Vec<u8> = args.iter().flat_map(|v| v.to_le_bytes()).collect();
                let launch = Launch {
                    group_size: [size[0], size[1], 1].map(|n| n as u32),
                    work_dim: 2,
                    group_count: [GROUPS as u32, 1, 1],
                    items_per_group: items as u32,
                    state_offset: native.info.kernels[0].local_size,
                    ..Launch::default()
                };
                // SAFETY: the block is of this kernel, which stays within both arrays.
                unsafe { native.run_all(&block, &launch) };
                for (at, &got) in output.iter().enumerate() {
                    let at = at as u64;
                    let start = at - at % items % LANES;
                    let sources = if repeats { SOURCES } else { 1 };
                    let want = (0..sources).fold(0u32, |sum, lane| {
                        let value = mixed(input[(start + lane) as usize], steps);
                        sum.wrapping_add(value.wrapping_mul(lane as u32 + 1))
                    });
                    assert_eq!(got, want, "{what}: work-item {at}");
                }
            }
        }
    }
}
