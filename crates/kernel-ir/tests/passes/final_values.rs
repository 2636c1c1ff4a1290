//! Values behind loops whose iterations are counted.

use super::whole::prepared;
use kernel_ir::print;

/// A loop that doubles `%by` while `%d` is halved; what it leaves is stored.
fn doubled(first: &str) -> String {
    print(&prepared(&format!(
        "kernel @k(%p: ptr<global>, %n: i32) {{
         e:
           br h
         h:
           %d: i32 = phi e: {first}, h: %half
           %by: i32 = phi e: i32 1, h: %double
           %at: ptr<global> = offset %p [8]
           store %at, %by align 4 volatile
           %double: i32 = shl %by, i32 1
           %half: i32 = lshr %d, i32 1
           %more: bool = cmp.ine %half, i32 0
           br_if %more, h, end
         end:
           store %p, %double align 4
           ret
         }}"
    )))
}

#[test]
fn values_behind_counted_loops_are_constants() {
    let after = doubled("i32 256");
    assert!(after.contains("store %0, i32 512 align 4"), "{after}");
    let after = doubled("%n");
    assert!(!after.contains("i32 512"), "{after}");
}
