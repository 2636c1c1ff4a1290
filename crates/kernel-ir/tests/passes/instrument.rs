//! `instrument`: the operations of `solum check`, in text. Each case shows a kernel before and after.

use kernel_ir::passes::{can_be_repeated, instrument, prepare_for, stand_alone};
use kernel_ir::{Checks, parse, print, validate};

/// The kernel with `checks`, and its text without the closing lines.
fn instrumented(text: &str, checks: Checks) -> String {
    let mut module = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    stand_alone(&mut module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    instrument(&mut module, checks);
    validate(&module).unwrap_or_else(|e| panic!("{e}\n{}", print(&module)));
    // What is printed can be read again.
    let printed = print(&module);
    let again = parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(print(&again), printed);
    printed
}

const NONE: Checks = Checks {
    memory: false,
    races: false,
    barriers: false,
    values: false,
    uninitialised: false,
};

/// The record of an image is no memory of the program's, and outside an image nothing is accessed.
#[test]
fn images_are_not_checked() {
    let text = "kernel @k(%d: ptr<constant> image, %x: ptr<global>) {
e:
  %w: ptr<constant> = offset %d [8]
  %n: i32 = load %w align 4
  %b: ptr<global> = load %d align 8
  %o: i64 = to.zext %n
  %p: ptr<global> = offset %b [%o * 4 + 0]
  %v: i32 = load %p align 4
  store %p, %v align 4
  %q: i32 = load %x align 4
  store %p, %q align 4
  ret
}
";
    let checks = Checks {
        memory: true,
        races: true,
        ..NONE
    };
    let found = instrumented(text, checks);
    let told: Vec<&str> = found
        .lines()
        .filter(|line| line.contains("check."))
        .map(str::trim_start)
        .collect();
    let of_x =
        |line: &&str| line.contains("%1") || line.contains("argument") || line.contains("bounds");
    assert!(told.len() >= 4 && told.iter().all(of_x), "{found}");
    assert_eq!(
        told.iter()
            .filter(|line| line.contains("argument_read"))
            .count(),
        1,
        "{found}"
    );
    assert_eq!(
        told.iter()
            .filter(|line| line.contains("check.bounds"))
            .count(),
        1,
        "{found}"
    );
}

#[test]
fn bounds_belong_to_the_pointer_that_an_address_comes_from() {
    let text = "kernel @k(%x: ptr<global>, %n: i64) {
e:
  %i: i64 = wi.GlobalInvocationId 0
  br loop
loop:
  %p: ptr<global> = phi e: %x, loop: %next
  %v: i32 = load %p align 4
  %next: ptr<global> = offset %p [%n * 4 + 0]
  %q: ptr<global> = offset %x [%i * 4 + 0]
  store %q, %v align 4
  %more: bool = cmp.ine %v, i32 0
  br_if %more, loop, end
end:
  ret
}
";
    let checks = Checks {
        memory: true,
        ..NONE
    };
    assert_eq!(
        instrumented(text, checks),
        "kernel @k(%0: ptr<global>, %1: i64) {
b0:
  %2: i64 = check.argument_start 0
  %3: i64 = check.argument_size 0
  %4: i64 = uaddsat %3, i64 1
  %5: i64 = usubsat %4, i64 4
  %6: i64 = wi.GlobalInvocationId 0
  br b1
b1:
  %7: ptr<global> = phi b0: %0, b1: %15
  %8: i64 = to.ptrtoint %7
  %9: i64 = and %8, i64 3
  %10: bool = cmp.ine %9, i64 0
  check.alignment read 4 %10, %7, i64 4
  %11: i64 = to.ptrtoint %7
  %12: i64 = isub %11, %2
  %13: bool = cmp.uge %12, %5
  check.bounds read 4 %13, %7, %2
  %14: i32 = load %7 align 4
  %15: ptr<global> = offset %7 [%1 * 4 + 0]
  %16: ptr<global> = offset %0 [%6 * 4 + 0]
  %17: i64 = to.ptrtoint %16
  %18: i64 = and %17, i64 3
  %19: bool = cmp.ine %18, i64 0
  check.alignment write 4 %19, %16, i64 4
  %20: i64 = to.ptrtoint %16
  %21: i64 = isub %20, %2
  %22: bool = cmp.uge %21, %5
  check.bounds write 4 %22, %16, %2
  store %16, %14 align 4
  %23: bool = cmp.ine %14, i32 0
  br_if %23, b1, b2
b2:
  ret
}
"
    );
}

#[test]
fn accesses_are_told_with_the_barriers_before_them() {
    let text = "kernel @k(%t: ptr<local>) {
e:
  %v: i32 = load %t align 4
  barrier Workgroup
  store %t, %v align 4
  ret
}
";
    let checks = Checks {
        races: true,
        barriers: true,
        ..NONE
    };
    let mut module = parse(text).unwrap();
    prepare_for(&mut module, None, checks).unwrap();
    // The epoch has become a value: 0 | 4095 + 1. Nothing writes between the start and the barrier: the read is not told. All
    // work-items reach the barrier.
    assert_eq!(
        print(&module),
        "kernel @k(%0: ptr<local>) {
b0:
  %1: i32 = load %0 align 4
  barrier Workgroup
  %2: i64 = to.zext %1
  check.access write 4 %0, i32 4096, %2
  store %0, %1 align 4
  ret
}
"
    );
}

/// Arrivals are told only where work-items may miss each other.
#[test]
fn arrivals_are_told_where_work_items_may_miss_each_other() {
    // A condition, and whether all work-items agree on it.
    for (condition, agree) in [
        ("cmp.ult %n, i32 4", true),
        ("cmp.ult %l, i32 4", false),
        // A race may change memory between two work-items' reads.
        ("cmp.ult %v, i32 4", false),
    ] {
        let text = format!(
            "kernel @k(%t: ptr<global>, %n: i32) {{
e:
  %id: i64 = wi.LocalInvocationId 0
  %l: i32 = to.trunc %id
  %v: i32 = load %t align 4
  %c: bool = {condition}
  br_if %c, a, b
a:
  barrier Workgroup
  br b
b:
  ret
}}
"
        );
        let checks = Checks {
            barriers: true,
            ..NONE
        };
        let printed = instrumented(&text, checks);
        assert_eq!(printed.contains("check.arrive"), !agree, "{printed}");
        assert_eq!(printed.contains("check.leave"), !agree, "{printed}");
    }
}

#[test]
fn private_arrays_are_checked_by_index() {
    let text = "kernel @k(%x: ptr<global>, %i: i64) {
e:
  %a: ptr<private> = alloca 40 align 4
  %p: ptr<private> = offset %a [%i * 4 + 8]
  store %p, i32 1 align 4
  %v: i32 = load %p align 4
  store %x, %v align 4
  ret
}
";
    let checks = Checks {
        memory: true,
        ..NONE
    };
    let printed = instrumented(text, checks);
    let wanted = "  %8: i64 = imul %1, i64 4
  %9: i64 = iadd i64 8, %8
  %10: bool = cmp.uge %9, i64 37
  check.variable_bounds write 4 private %10, %9, i64 40
";
    assert!(printed.contains(wanted), "{printed}");
}

#[test]
fn pointers_from_memory_are_looked_up() {
    let text = "kernel @k(%x: ptr<global>) {
e:
  %p: ptr<global> = load %x align 8
  %v: i32 = load %p align 4
  store %x, %v align 4
  ret
}
";
    let checks = Checks {
        memory: true,
        ..NONE
    };
    let printed = instrumented(text, checks);
    let wanted = "  %13: ptr<global> = load %0 align 8
  %14: i64 = check.allocation_start %13
  %15: i64 = check.allocation_size %13
";
    assert!(printed.contains(wanted), "{printed}");
}

#[test]
fn values_without_a_meaning_are_tested() {
    let text = "kernel @k(%x: ptr<global>, %a: i32, %b: i32, %f: f32) {
e:
  %q: i32 = sdiv %a, %b
  %seven: i32 = udiv %q, i32 7
  %masked: i32 = and %b, i32 31
  %s: i32 = shl %seven, %masked
  %t: i32 = shl %s, %b
  %c: i32 = to.ftos %f
  %sum: i32 = iadd %t, %c
  store %x, %sum align 4
  ret
}
";
    let checks = Checks {
        values: true,
        ..NONE
    };
    let printed = instrumented(text, checks);
    for (check, count) in [
        ("check.value division", 1),
        ("check.value shift", 1),
        ("check.value conversion", 1),
    ] {
        assert_eq!(printed.matches(check).count(), count, "{check}\n{printed}");
    }
}

#[test]
fn without_checks_nothing_changes() {
    let text = "kernel @k(%x: ptr<global>) {
e:
  barrier Workgroup
  store %x, i32 1 align 4
  ret
}
";
    let mut module = parse(text).unwrap();
    let before = print(&module);
    instrument(&mut module, Checks::default());
    assert_eq!(print(&module), before);
}

#[test]
fn functions_that_are_called_get_the_epoch_and_their_own_checks() {
    let text = "func @f(%p: ptr<global>, %n: i32) -> i32 {
e:
  %v: i32 = load %p align 4
  %done: bool = cmp.ieq %n, i32 0
  br_if %done, last, more
more:
  %less: i32 = isub %n, i32 1
  %w: i32 = call @f(%p, %less)
  %sum: i32 = iadd %v, %w
  ret %sum
last:
  ret %v
}
kernel @k(%x: ptr<global>, %g: ptr<private>) {
e:
  barrier Workgroup
  %r: i32 = call @f(%x, i32 3)
  %s: i32 = call_indirect %g(%r)
  store %x, %s align 4
  ret
}
";
    let checks = Checks {
        memory: true,
        races: true,
        ..NONE
    };
    let printed = instrumented(text, checks);
    for part in [
        // The bounds are asked for: only a kernel's arguments have them in the launch.
        "func @f(%0: ptr<global>, %1: i32, %2: i32) -> i32 {\nb0:\n  %3: i64 = check.allocation_start %0",
        "check.access read 4 %0, %2",
        "= call @f(%0, %15, %2)",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
    let kernel = printed.split("kernel @k").nth(1).unwrap();
    let call = kernel
        .lines()
        .find(|line| line.contains("call @f("))
        .unwrap();
    assert_eq!(call.matches(',').count(), 2, "{call}");
    let call = kernel
        .lines()
        .find(|line| line.contains("call_indirect"))
        .unwrap();
    assert_eq!(call.matches(',').count(), 1, "{call}");
}

#[test]
fn sub_groups_name_one_source() {
    let text = "kernel @k(%x: ptr<global>, %i: i32) {
e:
  %v: i32 = load %x align 4
  %w: i32 = group.broadcast Subgroup %v, %i
  store %x, %w align 4
  ret
}
";
    let checks = Checks {
        barriers: true,
        ..NONE
    };
    let printed = instrumented(text, checks);
    let line = printed
        .lines()
        .find(|line| line.contains("check.arrive_sub_group"));
    assert_eq!(line.unwrap().matches(',').count(), 1, "{printed}");
}

/// As the front end makes it.
const COPY: &str =
    "func @solum.async_copy.4(%to: ptr<generic>, %from: ptr<generic>, %n: i64, %a: i64, %b: i64) {
e:
  %first: i64 = wi.LocalInvocationIndex 0
  %x: i64 = wi.WorkgroupSize 0
  %y: i64 = wi.WorkgroupSize 1
  %xy: i64 = imul %x, %y
  br head
head:
  %i: i64 = phi e: %first, body: %next
  %more: bool = cmp.ult %i, %n
  br_if %more, body, end
body:
  %p: i64 = imul %i, %a
  %dst: ptr<generic> = offset %to [%p * 1 + 0]
  %q: i64 = imul %i, %b
  %src: ptr<generic> = offset %from [%q * 1 + 0]
  copy_memory %dst, %src, i64 4 align 1
  %next: i64 = iadd %i, %xy
  br head
end:
  ret
}
kernel @k(%x: ptr<global>, %t: ptr<local>, %n: i64) {
e:
  %g: ptr<generic> = to.addressspace %x
  %l: ptr<generic> = to.addressspace %t
  call @solum.async_copy.4(%l, %g, %n, i64 4, i64 4)
  barrier Workgroup
  ret
}
";

#[test]
fn copies_by_a_group_are_accesses_of_others() {
    let prepared = |checks| {
        let mut module = parse(COPY).unwrap_or_else(|e| panic!("{e}"));
        prepare_for(&mut module, None, checks).unwrap();
        validate(&module).unwrap_or_else(|e| panic!("{e}\n{}", print(&module)));
        print(&module)
    };
    let checks = Checks {
        races: true,
        barriers: true,
        ..NONE
    };
    let printed = prepared(checks);
    assert_eq!(printed.matches("check.agree").count(), 5, "{printed}");
    assert_eq!(
        printed.matches("check.argument_read 0 4").count(),
        1,
        "{printed}"
    );
    assert_eq!(
        printed.matches("check.access write 4").count(),
        1,
        "{printed}"
    );
    assert!(printed.contains("lshr"), "half a group\n{printed}");
    let plain = prepared(NONE);
    assert!(
        !plain.contains("lshr") && !plain.contains("check."),
        "{plain}"
    );
}

#[test]
fn launches_can_be_repeated_if_all_writes_are_told() {
    for (body, expected) in [
        ("store %x, i32 1 align 4", true),
        ("%v: i32 = load %x align 4\n  store %t, %v align 4", true),
        ("copy_memory %x, %t, i64 64 align 4", true),
        // As many bytes as an argument says are checked against bounds only.
        ("copy_memory %x, %t, %n align 4", false),
        ("copy_memory %t, %x, %n align 4", true),
        // Accesses to images are not told.
        (
            "%b: ptr<global> = load %d align 8\n  store %b, i32 1 align 4",
            false,
        ),
        ("group.block_write Subgroup %x, i32 1", true),
    ] {
        let head = "kernel @k(%x: ptr<global>, %t: ptr<local>, %n: i64, %d: ptr<constant> image) {";
        let text = format!("{head}\ne:\n  store %x, i32 0 align 4\n  {body}\n  ret\n}}\n");
        let mut module = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let is_repeatable =
            |module: &kernel_ir::Module| can_be_repeated(module, &module.kernels[0]);
        assert!(!is_repeatable(&module), "no checks\n{text}");
        let checks = Checks {
            races: true,
            ..NONE
        };
        instrument(&mut module, checks);
        assert_eq!(is_repeatable(&module), expected, "{}", print(&module));
    }
}

/// Each case: the accesses of one line as (kind, offset, bits), and those that are told.
#[test]
fn neighbouring_accesses_of_one_line_are_told_together() {
    for (accesses, told) in [
        (
            &["store 0 32", "store 4 32", "store 8 64"][..],
            &["write 16"][..],
        ),
        // A gap, and an access that begins before the first.
        (
            &["store 4 32", "store 12 32", "store 0 32"],
            &["write 4", "write 4", "write 4"],
        ),
        // In any order behind the first.
        (&["store 0 16", "store 4 32", "store 2 16"], &["write 8"]),
        (
            &["load 0 32", "store 0 32", "load 4 32", "store 4 32"],
            &["read 8", "write 8"],
        ),
        (
            &["store 0 32", "barrier", "store 4 32"],
            &["write 4", "write 4"],
        ),
    ] {
        let mut text =
            String::from("kernel @k(%x: ptr<global>) {\ne:\n  %i: i64 = wi.GlobalInvocationId 0\n");
        for (n, access) in accesses.iter().enumerate() {
            let words: Vec<&str> = access.split(' ').collect();
            let [kind, offset, bits] = words[..] else {
                text += "  barrier Workgroup\n";
                continue;
            };
            text += &format!("  %p{n}: ptr<global> = offset %x [%i * 32 + {offset}]\n");
            text += &match kind {
                "load" => format!("  %v{n}: i{bits} = load %p{n} align 2\n"),
                _ => format!("  store %p{n}, i{bits} 7 align 2\n"),
            };
        }
        text += "  ret\n}\n";
        let mut module = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let checks = Checks {
            races: true,
            ..NONE
        };
        instrument(&mut module, checks);
        let printed = print(&module);
        let lines = printed
            .lines()
            .filter_map(|line| line.trim().strip_prefix("check.access "));
        let found: Vec<String> = lines
            .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(found, told, "{printed}");
    }
}

#[test]
fn block_accesses_are_those_of_each_row() {
    let text = "kernel @k(%x: ptr<global>, %y: ptr<global>) {
e:
  %v: <2 x i32> = group.block_read Subgroup %x
  group.block_write Subgroup %y, %v
  ret
}
";
    let checks = Checks {
        memory: true,
        races: true,
        ..NONE
    };
    let printed = instrumented(text, checks);
    for (told, count) in [
        ("check.bounds read 4", 2),
        ("check.bounds write 4", 2),
        ("check.argument_read 0 4", 2),
        ("check.access write 4", 2),
    ] {
        assert_eq!(printed.matches(told).count(), count, "{told}\n{printed}");
    }
}
