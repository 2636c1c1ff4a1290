//! Guarantees of the interpreter beyond the specification: the sub-groups of a group make independent progress, and the
//! lanes of a sub-group run in lock step.

use super::sandbox::{Grid, as_ints, done, ints, line};

/// A work-item may wait for one of another sub-group.
#[test]
fn sub_groups_make_progress_beside_each_other() {
    let text = "
var @flag: i32 in local
kernel @k(%out: ptr<global>) {
b0:
  %l: i64 = wi.LocalInvocationId 0
  %first: bool = cmp.ieq %l, i64 0
  %last: bool = cmp.ieq %l, i64 15
  br_if %first, wait, other
wait:
  %f: i32 = atomic.load Workgroup Acquire @flag
  %set: bool = cmp.ine %f, i32 0
  br_if %set, tell, wait
tell:
  store %out, %f align 4
  ret
other:
  br_if %last, give, end
give:
  atomic.store Workgroup Release @flag, i32 77
  br end
end:
  ret
}";
    let grid = Grid {
        budget: None,
        ..line(1, 16)
    };
    let memory = done(text, grid, vec![ints(&[0])]);
    assert_eq!(as_ints(&memory.buffers[0]), [77]);
}

/// The lanes of a sub-group have written before one of them reads, with and without a branch between.
#[test]
fn a_forgotten_barrier_is_forgiven_within_a_sub_group() {
    let text = "
var @tile: [8 x i32] in local
kernel @k(%out: ptr<global>) {
b0:
  %l: i64 = wi.LocalInvocationId 0
  %l32: i32 = to.trunc %l
  barrier Workgroup
  %own: ptr<local> = offset @tile [%l * 4 + 0]
  store %own, %l32 align 4
  %n: i64 = xor %l, i64 5
  %other: ptr<local> = offset @tile [%n * 4 + 0]
  %a: i32 = load %other align 4
  %first: bool = cmp.ieq %l, i64 0
  br_if %first, head, end
head:
  %j: i64 = phi b0: i64 0, head: %j1
  %s: i32 = phi b0: i32 0, head: %s1
  %p: ptr<local> = offset @tile [%j * 4 + 0]
  %v: i32 = load %p align 4
  %s1: i32 = iadd %s, %v
  %j1: i64 = iadd %j, i64 1
  %more: bool = cmp.ult %j1, i64 8
  br_if %more, head, end
end:
  %sum: i32 = phi b0: i32 0, head: %s1
  %r: i32 = iadd %a, %sum
  %po: ptr<global> = offset %out [%l * 4 + 0]
  store %po, %r align 4
  ret
}";
    let memory = done(text, line(1, 8), vec![ints(&[0; 8])]);
    let expected: Vec<i32> = (0..8)
        .map(|l| (l ^ 5) + if l == 0 { 28 } else { 0 })
        .collect();
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}
