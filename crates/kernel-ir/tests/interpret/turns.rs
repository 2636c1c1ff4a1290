//! What the interpreter alone promises: sub-groups of a group make progress beside each other.

use super::sandbox::{Grid, as_ints, done, ints, line};

/// A work-item may wait for one of another sub-group.
#[test]
fn sub_groups_take_turns() {
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
