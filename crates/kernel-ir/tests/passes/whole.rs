//! `prepare`: modules before and after.

use kernel_ir::passes::prepare;
use kernel_ir::{Builtin, Module, parse, print, validate};

/// Prepares `text`; the result is valid.
pub(super) fn prepared(text: &str) -> Module {
    let mut module = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    validate(&module).unwrap_or_else(|e| panic!("before: {e}\n{text}"));
    prepare(&mut module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    validate(&module).unwrap_or_else(|e| panic!("after: {e}\n{}", print(&module)));
    module
}

#[test]
fn calls_are_inlined_bottom_up_and_their_functions_dropped() {
    let module = prepared(
        "func @max(%a: i32, %b: i32) -> i32 {
         e:
           %c: bool = cmp.sgt %a, %b
           br_if %c, x, y
         x:
           ret %a
         y:
           ret %b
         }
         func @max3(%a: i32, %b: i32, %c: i32) -> i32 {
         e:
           %m: i32 = call @max(%a, %b)
           %r: i32 = call @max(%m, %c)
           ret %r
         }
         func @unused() -> void {
         e:
           barrier Workgroup
           ret
         }
         kernel @k(%p: ptr<global>, %n: i32) {
         e:
           br loop
         loop:
           %i: i32 = phi e: i32 0, loop: %j
           %j: i32 = call @max3(%i, %n, i32 7)
           store %p, %j align 4
           %c: bool = cmp.slt %j, %n
           br_if %c, loop, out
         out:
           ret
         }",
    );
    assert_eq!(module.functions.len(), 1);
    let text = print(&module);
    assert!(!text.contains("call"), "{text}");
    assert_eq!(text.matches("cmp.sgt").count(), 2, "{text}");
}

#[test]
fn sub_group_operations_at_work_group_scope_are_refused() {
    let text = "kernel @k(%c: i32) {\ne:\n %x: i32 = group.rotate.0 Workgroup %c, %c\n store ptr<private> null, %x align 4\n ret\n}";
    let mut module = parse(text).unwrap();
    let error = prepare(&mut module).unwrap_err();
    assert!(error.message.contains("sub-groups only"), "{error}");
}

#[test]
fn calls_of_imports_stay() {
    let module = prepared(
        "func @f(%a: i32) -> i32;
         func @g(%a: i32) -> i32 {
         e:
           %r: i32 = call @f(%a)
           ret %r
         }
         kernel @k(%p: ptr<global>) {
         e:
           %r: i32 = call @g(i32 3)
           store %p, %r align 4
           ret
         }",
    );
    let text = print(&module);
    assert!(
        text.contains("func @f(%0: i32) -> i32;") && !text.contains("@g"),
        "{text}"
    );
    assert!(text.contains("call @f(i32 3)"), "{text}");
}

#[test]
fn programs_that_explode_when_inlined_are_refused() {
    let mut text = String::from("func @f0(%p: ptr<global>) -> void {\ne:\n");
    text += &" store %p, i32 1 align 4\n".repeat(10);
    text += " ret\n}\n";
    for i in 1..30 {
        text += &format!("func @f{i}(%p: ptr<global>) -> void {{\ne:\n");
        text += &format!(" call @f{}(%p)\n", i - 1).repeat(10);
        text += " ret\n}\n";
    }
    text += "kernel @k(%p: ptr<global>) {\ne:\n call @f29(%p)\n ret\n}";
    let error = prepare(&mut parse(&text).unwrap()).unwrap_err();
    assert!(error.message.contains("more than"), "{error}");
}

#[test]
fn functions_behind_pointers_stay() {
    let module = prepared(
        "func @dead() -> void {
         e:
           ret
         }
         func @inner() -> i32 {
         e:
           ret i32 5
         }
         func @target() -> i32 {
         e:
           %x: i32 = call @inner()
           ret %x
         }
         var @table: [1 x ptr<private>] in constant = [@target]
         kernel @k(%p: ptr<global>) {
         e:
           %f: ptr<private> = load @table align 8
           %x: i32 = call_indirect %f()
           store %p, %x align 4
           ret
         }",
    );
    let names: Vec<&str> = module.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["target", "k"]);
    assert!(print(&module).contains("= [@target]"));
    assert_eq!(module.kernels[0].function.index(), 1);
}

#[test]
fn work_group_operations_become_scratch_and_barriers() {
    let module = prepared(
        "kernel @k(%p: ptr<global>, %x: f32, %v: <2 x i32>, %b: bool) {
         e:
           br loop
         loop:
           %r: f32 = group.reduce.fadd Workgroup %x
           %s: f32 = group.exclusive_scan.fmax Workgroup %r
           %t: f32 = group.broadcast Workgroup %s, i64 3
           %u: <2 x i32> = group.inclusive_scan.smin Workgroup %v
           %w: bool = group.any Workgroup %b
           %y: bool = group.all_equal Workgroup %u
           store %p, %t align 4
           store %p, %u align 8
           %z: bool = and %w, %y
           br_if %z, loop, out
         out:
           ret
         }",
    );
    let text = print(&module);
    assert!(!text.contains("group."), "{text}");
    let facts = kernel_ir::passes::facts(&module, &module.kernels[0]);
    assert!(facts.uses_barrier && !facts.uses_work_group_ops);
    // Scratch for f32, <2 x i32> and bool; results of f32 and bool.
    assert_eq!(facts.local_per_item.len(), 3, "{text}");
    assert_eq!(facts.local_fixed.len(), 2, "{text}");
    assert_eq!(text.matches("barrier Workgroup").count(), 12, "{text}");
}

/// A trapping arm beside one that leads to a join with phis, and one before a back edge.
#[test]
fn trapping_arms_are_redirected_to_the_join_but_not_along_back_edges() {
    let kernel = |then: &str, otherwise: &str| {
        format!(
            "kernel @k(%p: ptr<global>, %n: i64) {{
             e:
               %x: i64 = wi.GlobalInvocationId 0
               %y: i64 = wi.GlobalInvocationId 1
               %z: i64 = wi.GlobalInvocationId 2
               %q: ptr<global> = offset %p [%x * 8 + 0]
               br loop
             loop:
               %i: i64 = phi e: i64 0, on: %j
               %j: i64 = iadd %i, i64 1
               %c: bool = cmp.ult %i, %n
               br_if %c, more, on
             more:
               %v: i64 = load %q align 8
               %d: bool = cmp.ult %v, %n
               br_if %d, {then}, {otherwise}
             bad:
               trap(%x, %y, %z)
               unreachable
             on:
               %s: i64 = phi loop: i64 0, more: %v
               store %q, %s align 8
               %f: bool = cmp.ult %s, %j
               br_if %f, loop, out
             out:
               ret
             }}"
        )
    };
    for text in [kernel("on", "bad"), kernel("bad", "on")] {
        let module = prepared(&text);
        let text = print(&module);
        assert!(text.contains("trap "), "{text}");
        assert!(!text.contains("unreachable"), "{text}");
        let asked = kernel_ir::passes::ids(&module.functions[0]);
        assert_eq!(asked, [(Builtin::GlobalInvocationId, 0)], "{text}");
    }
    let module = prepared(
        "kernel @k(%p: ptr<global>, %n: i64) {
         e:
           %x: i64 = wi.GlobalInvocationId 0
           br loop
         loop:
           %i: i64 = phi e: i64 0, loop: %j
           %j: i64 = iadd %i, i64 1
           %v: i64 = load %p align 8 volatile
           %c: bool = cmp.ult %v, %j
           br_if %c, loop, bad
         bad:
           trap(%x, %x, %x)
           unreachable
         }",
    );
    let text = print(&module);
    assert!(text.contains("unreachable"), "{text}");
}
