//! Whole private arrays that stay in memory.

use super::whole::prepared;
use kernel_ir::print;

/// An array of 16 bytes with an access at `%z`, after `lines`.
fn body(lines: &str, ty: &str) -> String {
    print(&prepared(&format!(
        "kernel @k(%p: ptr<global>, %z: i64, %x: i32, %w: i64) {{
         e:
           %a: ptr<private> = alloca 16 align 8
           {lines}
           %q: ptr<private> = offset %a [%z * 4 + 0]
           %r: {ty} = load %q align 4
           store %p, %r align 4
           ret
         }}"
    )))
}

#[test]
fn whole_arrays_become_elements_where_elements_are_accessed() {
    let zeros = "store %a, [4 x i32] null align 8";
    let copied = "%v: [4 x i32] = load %p align 4\nstore %a, %v align 8";
    let after = body(zeros, "i32");
    assert_eq!(after.matches(", i32 0 align").count(), 4, "{after}");
    let after = body(copied, "i32");
    assert_eq!(after.matches("extract").count(), 4, "{after}");
    // Elements of another size are accessed.
    for (lines, ty) in [(zeros, "i64"), ("store %a, [2 x i64] null align 8", "i32")] {
        let after = body(lines, ty);
        assert!(after.contains("null align 8"), "{after}");
    }
}
