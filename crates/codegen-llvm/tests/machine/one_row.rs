//! Barriers behind a condition on the row: vectors for groups of one row, single work-items for groups of several.

use super::native::{Native, settings};
use kernel_ir::abi::Launch;

const SUB_GROUP: u32 = 8;

/// Each row below the limit swaps its values through local memory and adds a value that was kept in private memory.
const TEXT: &str = "
var @tile: [64 x i32] in local
kernel @k(%in: ptr<global>, %out: ptr<global>, %limit: i64) {
b0:
  %kept: ptr<private> = alloca 16 align 4
  %y: i64 = wi.GlobalInvocationId 1
  %group: i64 = wi.WorkgroupId 1
  %l: i64 = wi.LocalInvocationIndex 0
  %w0: i64 = wi.WorkgroupSize 0
  %w1: i64 = wi.WorkgroupSize 1
  %w2: i64 = wi.WorkgroupSize 2
  %plane: i64 = imul %w0, %w1
  %items: i64 = imul %plane, %w2
  %first: i64 = imul %group, %items
  %i: i64 = iadd %first, %l
  %some: bool = cmp.ult %y, %limit
  br_if %some, b1, b2
b1:
  %from: ptr<global> = offset %in [%i * 4 + 0]
  %v: i32 = load %from align 4
  %k: i64 = and %l, i64 3
  %mine: ptr<private> = offset %kept [%k * 4 + 0]
  store %mine, %v align 4
  %to: ptr<local> = offset @tile [%l * 4 + 0]
  store %to, %v align 4
  barrier Workgroup
  %last: i64 = isub %items, i64 1
  %other: i64 = isub %last, %l
  %swapped: ptr<local> = offset @tile [%other * 4 + 0]
  %s: i32 = load %swapped align 4
  %again: i32 = load %mine align 4
  %three: i32 = imul %again, i32 3
  %sum: i32 = iadd %s, %three
  %result: ptr<global> = offset %out [%i * 4 + 0]
  store %result, %sum align 4
  br b2
b2:
  ret
}";

#[test]
fn groups_of_one_row_and_of_several_give_the_same() {
    check(TEXT, false);
}

/// A chunk is then a sub-group, and the last one of a row runs under a mask.
#[test]
fn sub_groups_of_one_row_and_of_several_give_the_same() {
    let text = TEXT.replace(
        "  barrier Workgroup",
        "  %all: i32 = group.reduce.iadd Subgroup %v\n  barrier Workgroup",
    );
    let text = text.replace(
        "  %three: i32 = imul %again, i32 3",
        "  %times: i32 = imul %again, i32 3\n  %three: i32 = iadd %times, %all",
    );
    check(&text, true);
}

/// `adds`: each value has the sum of its sub-group added.
fn check(text: &str, adds: bool) {
    let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}"));
    let native = Native::new(module, settings(SUB_GROUP));
    let info = &native.info.kernels[0];
    for (size, groups, limit) in [
        ([1, 1, 1], 3, 2),
        ([5, 1, 1], 4, 3),
        ([16, 1, 1], 3, 3),
        ([37, 1, 1], 3, 2),
        ([64, 1, 1], 2, 1),
        ([4, 2, 1], 4, 4),
        ([16, 4, 1], 3, 8),
        ([1, 32, 1], 2, 32),
        ([3, 1, 2], 4, 3),
    ] {
        let items: u32 = size.iter().product();
        let count = (items * groups) as usize;
        let input: Vec<i32> = (0..count as i32).map(|i| i * 7 + 1).collect();
        let mut output = vec![-1_i32; count];
        let args = [input.as_ptr() as u64, output.as_mut_ptr() as u64, limit];
        let bytes: Vec<u8> = args.iter().flat_map(|v| v.to_le_bytes()).collect();
        let launch = Launch {
            group_size: size,
            work_dim: 3,
            group_count: [1, groups, 1],
            items_per_group: items,
            state_offset: info.local_size.next_multiple_of(64),
            ..Launch::default()
        };
        let blocks = u64::from(items.div_ceil(info.width.max(1)));
        let room = launch.state_offset + info.state_per_block * blocks;
        let mut memory = vec![0xaa_u8; room as usize + 64];
        let at = memory.as_mut_ptr().align_offset(64);
        let all = 0..u64::from(groups);
        // SAFETY: arguments, launch and memory are as the kernel's information says.
        unsafe { native.run(0, &bytes, &launch, all, memory.as_mut_ptr().add(at)) };
        for (i, found) in output.into_iter().enumerate() {
            let (group, l) = (i as u32 / items, i as u32 % items);
            let row = group * size[1] + l / size[0] % size[1];
            let other = (group * items + items - 1 - l) as usize;
            let first = i - (l % SUB_GROUP) as usize;
            let end = ((group + 1) * items) as usize;
            let sub_group = &input[first..end.min(first + SUB_GROUP as usize)];
            let sum: i32 = if adds { sub_group.iter().sum() } else { 0 };
            let expected = match u64::from(row) < limit {
                true => input[other] + 3 * input[i] + sum,
                false => -1,
            };
            assert_eq!(found, expected, "{size:?}, item {i}");
        }
    }
}
