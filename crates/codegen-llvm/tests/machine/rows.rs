//! Metadata by which the host divides launches: whether groups may run as one, whether parts should be long.

use super::native::{Native, settings};

#[test]
fn groups_may_run_as_one_where_no_work_item_can_tell() {
    for (parameters, body, required, joins) in [
        (
            "%p: ptr<global>",
            "%i: i64 = wi.GlobalInvocationId 0",
            false,
            true,
        ),
        // The host has been promised groups of that size, and the code relies on it.
        (
            "%p: ptr<global>",
            "%i: i64 = wi.GlobalInvocationId 0",
            true,
            false,
        ),
        (
            "%p: ptr<global>",
            "%i: i64 = wi.LocalInvocationId 0",
            false,
            false,
        ),
        (
            "%p: ptr<global>",
            "%i: i64 = wi.WorkgroupId 0",
            false,
            false,
        ),
        // Each group has memory of its own there.
        (
            "%p: ptr<global>, %l: ptr<local>",
            "%i: i64 = wi.GlobalInvocationId 0",
            false,
            false,
        ),
    ] {
        let text = format!(
            "kernel @k({parameters}) {{
             b:
               {body}
               %at: ptr<global> = offset %p [%i * 4 + 0]
               store %at, i32 1 align 4
               ret
             }}"
        );
        let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        module.kernels[0].required_group_size = required.then_some([8, 1, 1]);
        kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}"));
        let native = Native::new(module, settings(8));
        assert_eq!(native.info.kernels[0].row > 1, joins, "{text} {required}");
    }
}

#[test]
fn kernels_that_collect_atomic_updates_ask_for_long_parts() {
    for (index, collects) in [
        ("%x: i32 = load %in align 4", true),
        // All lanes add at one place: one addition for each chunk, and nothing to collect.
        ("%x: i32 = copy i32 7", false),
        // Another work-item could notice the delay.
        (
            "%x: i32 = atomic.iadd Device Relaxed %in, i32 1
               store %out, %x align 4",
            false,
        ),
    ] {
        let text = format!(
            "kernel @k(%p: ptr<global>, %bins: ptr<global>) {{
             b:
               %i: i64 = wi.GlobalInvocationId 0
               %in: ptr<global> = offset %p [%i * 4 + 0]
               {index}
               %at: i64 = to.zext %x
               %out: ptr<global> = offset %bins [%at * 4 + 0]
               %old: i32 = atomic.iadd Device Relaxed %out, i32 1
               ret
             }}"
        );
        let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}"));
        let native = Native::new(module, settings(8));
        let info = &native.info.kernels[0];
        assert_eq!(info.collects_updates, collects, "{text}");
    }
}
