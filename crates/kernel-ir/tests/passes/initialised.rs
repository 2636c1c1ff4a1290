//! `initialised`: the checks of values that nobody has written, in text. Each case shows a kernel before and after.

use kernel_ir::passes::{initialised, stand_alone};
use kernel_ir::{Checks, parse, print, validate};

/// The kernel with checks of uninitialised values.
fn with_shadows(text: &str) -> String {
    let mut module = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    stand_alone(&mut module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let checks = Checks {
        uninitialised: true,
        ..Checks::default()
    };
    initialised(&mut module, checks);
    validate(&module).unwrap_or_else(|e| panic!("{e}\n{}", print(&module)));
    // What is printed can be read again.
    let printed = print(&module);
    let again = parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(print(&again), printed);
    printed
}

#[test]
fn a_branch_relies_on_what_was_loaded() {
    let text = "kernel @k(%x: ptr<global>, %n: i32) {
e:
  %a: i32 = load %x align 4
  %b: i32 = and %a, i32 15
  %c: bool = cmp.ult %b, %n
  br_if %c, one, end
one:
  store %x, %n align 4
  br end
end:
  ret
}
";
    assert_eq!(
        with_shadows(text),
        "kernel @k(%0: ptr<global>, %1: i32) {
b0:
  %2: ptr<global> = check.argument_shadow 0
  %3: i32 = load %0 align 4
  %4: i32 = load %2 align 4
  %5: i32 = and %3, i32 15
  %6: i32 = and %4, i32 15
  %7: bool = cmp.ult %5, %1
  %8: i32 = not %6
  %9: i32 = and %5, %8
  %10: i32 = or %5, %6
  %11: bool = cmp.ult %9, %1
  %12: bool = cmp.ult %10, %1
  %13: bool = xor %11, %12
  check.uninitialised branch 0 %13, %0, %2, i32 0
  br_if %7, b1, b2
b1:
  store %2, i32 0 align 4
  store %0, %1 align 4
  br b2
b2:
  ret
}
"
    );
}

#[test]
fn local_memory_has_variables_beside_it() {
    let text = "var @tile: [64 x i32] in local

kernel @k(%x: ptr<global>, %l: i64) {
e:
  %p: ptr<local> = offset @tile [%l * 4 + 0]
  store %p, i32 7 align 4
  %q: ptr<local> = offset @tile [%l * 4 + 4]
  %v: i32 = load %q align 4
  store %x, %v align 4
  ret
}
";
    assert_eq!(
        with_shadows(text),
        "var @tile: [64 x i32] in local
var @g1: [64 x i32] in local
kernel @k(%0: ptr<global>, %1: i64) {
b0:
  %2: ptr<global> = check.argument_shadow 0
  %3: ptr<local> = offset @tile [%1 * 4 + 0]
  %4: ptr<local> = offset @g1 [%1 * 4 + 0]
  store %4, i32 4294967295 align 4
  store %3, i32 7 align 4
  %5: ptr<local> = offset @tile [%1 * 4 + 4]
  %6: ptr<local> = offset @g1 [%1 * 4 + 4]
  %7: i32 = load %5 align 4
  %8: i32 = load %6 align 4
  %9: i32 = not %8
  store %2, %9 align 4
  %10: bool = cmp.ine %9, i32 0
  check.uninitialised copy 4 %10, %0, %2, i32 0
  store %0, %7 align 4
  ret
}
"
    );
}

#[test]
fn what_is_certainly_initialised_gets_nothing() {
    let text = "kernel @k(%x: ptr<global>, %n: i32) {
e:
  %i: i64 = wi.GlobalInvocationId 0
  %p: ptr<global> = offset %x [%i * 4 + 0]
  %c: bool = cmp.ult %n, i32 5
  br_if %c, one, end
one:
  store %p, %n align 4
  br end
end:
  ret
}
";
    let printed = with_shadows(text);
    assert!(!printed.contains("check.uninitialised"), "{printed}");
    // The memory is written all the same.
    assert_eq!(printed.matches("store").count(), 2, "{printed}");
}

#[test]
fn private_arrays_begin_without_content() {
    let text = "kernel @k(%x: ptr<global>, %i: i64) {
e:
  %a: ptr<private> = alloca 8 align 4
  %p: ptr<private> = offset %a [%i * 4 + 0]
  store %p, i32 5 align 4
  %q: ptr<private> = offset %a [%i * 4 + 4]
  %v: i32 = load %q align 4
  %c: bool = cmp.ieq %v, i32 5
  br_if %c, one, end
one:
  store %x, i32 1 align 4
  br end
end:
  ret
}
";
    let printed = with_shadows(text);
    let begin = "alloca 8 align 4
  store %2, i32 4294967295 align 4
  %3: ptr<private> = offset %2 [4]
  store %3, i32 4294967295 align 4
";
    assert!(printed.contains(begin), "{printed}");
    assert!(printed.contains("check.uninitialised branch"), "{printed}");
}

#[test]
fn arrays_whose_address_escapes_have_no_shadow() {
    let text = "kernel @k(%x: ptr<global>, %i: i64) {
e:
  %a: ptr<private> = alloca 40 align 4
  store %x, %a align 8
  %p: ptr<private> = offset %a [%i * 4 + 0]
  %v: i32 = load %p align 4
  %c: bool = cmp.ult %v, i32 5
  br_if %c, one, end
one:
  store %x, i32 1 align 4
  br end
end:
  ret
}
";
    let printed = with_shadows(text);
    assert_eq!(printed.matches("alloca").count(), 1, "{printed}");
    assert!(!printed.contains("check.uninitialised"), "{printed}");
}

#[test]
fn an_atomic_operation_relies_on_its_memory() {
    let text = "kernel @k(%x: ptr<global>) {
e:
  %old: i32 = atomic.iadd Device Relaxed %x, i32 1
  %p: ptr<global> = offset %x [4]
  atomic.store Device Relaxed %p, %old
  ret
}
";
    let printed = with_shadows(text);
    assert!(
        printed.contains("check.uninitialised atomic 4"),
        "{printed}"
    );
    // What it leaves is told, and told once.
    assert!(!printed.contains("check.uninitialised store"), "{printed}");
}

#[test]
fn functions_that_are_called_are_not_followed() {
    let text = "func @f(%x: ptr<global>, %n: i32) -> void {
e:
  %c: bool = cmp.ult %n, i32 5
  br_if %c, again, end
again:
  %m: i32 = iadd %n, i32 1
  call @f(%x, %m)
  store %x, %n align 4
  br end
end:
  ret
}

kernel @k(%x: ptr<global>, %n: i32) {
e:
  call @f(%x, %n)
  ret
}
";
    let printed = with_shadows(text);
    assert!(printed.contains("check.unseen"), "{printed}");
}

#[test]
fn without_the_check_nothing_changes() {
    let text = "kernel @k(%x: ptr<global>) {
e:
  %a: i32 = load %x align 4
  store %x, %a align 4
  ret
}
";
    let mut module = parse(text).unwrap();
    let before = print(&module);
    let checks = Checks {
        uninitialised: false,
        ..Checks::ALL
    };
    initialised(&mut module, checks);
    assert_eq!(print(&module), before);
}
