//! Regions of which only some work-items do anything: every comparison, with limits around the chunks' ends and beyond,
//! in groups whose rows chunks do not fill, leaves what the interpreter leaves.

use std::fmt::Write as _;

use super::native::{Native, settings};
use super::raw;
use kernel_ir::abi::KernelInfo;
use kernel_ir::interpret::Program;

const COMPARISONS: [&str; 10] = [
    "ieq", "ine", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge",
];

/// Instructions that make `%id` of a work-item's place and the limit, and `%to`, what it is compared with; their type.
const FORMS: [(&str, &str); 8] = [
    // As most kernels have it, and in 64 bits.
    ("%id: i32 = to.trunc %x\n %to: i32 = copy %limit", "i32"),
    ("%id: i64 = copy %x\n %to: i64 = to.sext %limit", "i64"),
    // Two for each work-item, from somewhere on.
    (
        "%s: i32 = to.trunc %x\n %d: i32 = shl %s, i32 1\n %id: i32 = iadd %d, i32 3\n %to: i32 = copy %limit",
        "i32",
    ),
    // Below zero at first, for those who ask so; wraps around, for others.
    (
        "%s: i32 = to.trunc %x\n %id: i32 = isub %s, i32 9\n %to: i32 = copy %limit",
        "i32",
    ),
    // A narrow integer that wraps around in long rows, and extended.
    (
        "%s: i8 = to.trunc %x\n %t: i8 = imul %s, i8 5\n %id: i32 = to.zext %t\n %to: i32 = copy %limit",
        "i32",
    ),
    (
        "%s: i8 = to.trunc %x\n %t: i8 = imul %s, i8 3\n %id: i32 = to.sext %t\n %to: i32 = copy %limit",
        "i32",
    ),
    // More by what the group shares.
    (
        "%s: i32 = to.trunc %x\n %id: i32 = iadd %s, %limit\n %to: i32 = shl %limit, i32 1",
        "i32",
    ),
    // By the place in the whole group, whose rows then begin elsewhere.
    ("%id: i32 = to.trunc %l\n %to: i32 = copy %limit", "i32"),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Work-items lie side by side in local memory.
    Rows,
    /// They lie anywhere.
    Scattered,
    /// With a sub-group operation.
    SubGroups,
}

/// One step after another, with a barrier between: where the comparison holds, or does not, the work-item's number
/// in local memory changes. `two`: with another comparison beside it.
fn kernel(form: (&str, &str), kind: Kind, two: bool) -> String {
    let (make, ty) = form;
    let place = if kind == Kind::Scattered {
        "%far: i64 = imul %l, i64 37\n  %place: i64 = and %far, i64 511"
    } else {
        "%place: i64 = copy %l"
    };
    let more = if kind == Kind::SubGroups {
        "%sum: i32 = group.reduce.iadd Subgroup %start\n  %first: i32 = iadd %start, %sum"
    } else {
        "%first: i32 = copy %start"
    };
    let mut text = format!(
        "var @t: [512 x i32] in local
kernel @k(%out: ptr<global>, %limit: i32) {{
b0:
  %x: i64 = wi.LocalInvocationId 0
  %l: i64 = wi.LocalInvocationIndex 0
  %g: i64 = wi.WorkgroupId 0
  %size_x: i64 = wi.WorkgroupSize 0
  %size_y: i64 = wi.WorkgroupSize 1
  %size: i64 = imul %size_x, %size_y
  %start: i32 = to.trunc %l
  {more}
  {make}
  {place}
  %p: ptr<local> = offset @t [%place * 4 + 0]
  store %p, %first align 4
  br s0
"
    );
    for (i, name) in COMPARISONS.iter().enumerate() {
        let (then, otherwise) = match i % 3 {
            0 => (format!("e{i}"), format!("w{i}")),
            _ => (format!("w{i}"), format!("e{i}")),
        };
        let sides = if i % 2 == 0 { "%id, %to" } else { "%to, %id" };
        let cond = if two {
            let op = if i % 3 == 0 { "or" } else { "and" };
            format!("%d{i}: bool = cmp.ule %id, {ty} 20\n  %c{i}: bool = {op} %a{i}, %d{i}")
        } else {
            format!("%c{i}: bool = copy %a{i}")
        };
        // Two of them do more in the same region, by themselves.
        let _ = write!(
            text,
            "s{i}:
  barrier Workgroup
  %a{i}: bool = cmp.{name} {sides}
  {cond}
  br_if %c{i}, {then}, {otherwise}
w{i}:
  %v{i}: i32 = load %p align 4
  %m{i}: i32 = imul %v{i}, i32 5
  %n{i}: i32 = iadd %m{i}, i32 {i}
  store %p, %n{i} align 4
  br e{i}
e{i}:
  br s{}
",
            i + 1
        );
    }
    let _ = write!(
        text,
        "s{}:
  barrier Workgroup
  %r: i32 = load %p align 4
  %base: i64 = imul %g, %size
  %item: i64 = iadd %base, %l
  %at: ptr<global> = offset %out [%item * 4 + 0]
  store %at, %r align 4
  ret
}}",
        COMPARISONS.len()
    );
    text
}

const GROUPS: u32 = 2;

/// Runs the kernel both ways in groups of those sizes, with each limit.
fn check(text: &str, sub_group: u32, lanes: Option<u32>, sizes: &[[u32; 2]]) {
    let module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check_module(module, text, sub_group, lanes, sizes);
}

/// The same of a kernel that says its size: where groups begin is known beforehand.
fn check_required(text: &str, sub_group: u32, lanes: Option<u32>, size: [u32; 2]) {
    let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module.kernels[0].required_group_size = Some([size[0], size[1], 1]);
    check_module(module, text, sub_group, lanes, &[size]);
}

fn check_module(
    module: kernel_ir::Module,
    text: &str,
    sub_group: u32,
    lanes: Option<u32>,
    sizes: &[[u32; 2]],
) {
    let mut prepared = module.clone();
    kernel_ir::passes::prepare(&mut prepared).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::new(module, sub_group).unwrap_or_else(|e| panic!("{e}"));
    let mut settings = settings(sub_group);
    settings.lanes = lanes;
    let native = Native::new(prepared, settings);
    for &size in sizes {
        let items = size[0] * size[1];
        let w = lanes.unwrap_or(sub_group).cast_signed();
        let row = size[0].cast_signed();
        let limits = [0, 1, w - 1, w, w + 1, 2 * w, row - 1, row, row + 1, 3 * row];
        for limit in limits.into_iter().chain([-1, -9, i32::MIN, i32::MAX]) {
            let out = || vec![0u32; (GROUPS * items) as usize];
            let arguments = |info: &KernelInfo, out: &mut [u32]| {
                let limit = u64::from(limit.cast_unsigned());
                raw::block(info, &[out.as_mut_ptr() as u64, limit])
            };
            let (mut expected, mut found) = (out(), out());
            let group_size = [size[0], size[1], 1];
            let info = &program.info().kernels[0];
            let block = arguments(info, &mut expected);
            let launch = raw::launch(info, group_size, GROUPS);
            raw::interpret(&program, &block, &launch).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let info = &native.info.kernels[0];
            let block = arguments(info, &mut found);
            let launch = raw::launch(info, group_size, GROUPS);
            // SAFETY: the kernels stay within their group's part of `found`.
            unsafe { native.run_all(&block, &launch) };
            assert_eq!(
                found, expected,
                "limit {limit}, groups of {size:?}, {lanes:?} lanes, sub-groups of {sub_group}\n{text}"
            );
        }
    }
}

const SIZES: [[u32; 2]; 9] = [
    [1, 1],
    [7, 1],
    [8, 1],
    [16, 1],
    [33, 1],
    [64, 1],
    [250, 1],
    [5, 4],
    [16, 3],
];

#[test]
fn a_region_narrowed_to_its_chunks_does_all_that_it_did() {
    for (i, form) in FORMS.into_iter().enumerate() {
        for lanes in [None, Some(8)] {
            check(&kernel(form, Kind::Rows, i % 3 == 2), 8, lanes, &SIZES);
        }
        check(&kernel(form, Kind::Rows, i % 3 == 1), 32, Some(4), &SIZES);
    }
}

#[test]
fn work_items_that_have_no_work_are_passed_over() {
    for (i, form) in FORMS.into_iter().enumerate() {
        check(&kernel(form, Kind::Scattered, i % 3 == 0), 8, None, &SIZES);
        check(
            &kernel(form, Kind::Scattered, i % 3 == 1),
            8,
            Some(8),
            &SIZES,
        );
    }
}

/// Sums by halves and by what is left of them: the limit is a value of the loop around the barrier, made anew behind
/// the comparison.
#[test]
fn limits_of_a_loop_narrow_each_of_its_turns() {
    for (place, compare) in [
        ("%i: i64 = copy %l", "cmp.ult %start, %d"),
        ("%i: i64 = copy %l", "cmp.sge %start, %d"),
        (
            "%f: i64 = imul %l, i64 37\n  %i: i64 = and %f, i64 511",
            "cmp.ugt %d, %start",
        ),
        (
            "%f: i64 = imul %l, i64 37\n  %i: i64 = and %f, i64 511",
            "cmp.ieq %start, %d",
        ),
    ] {
        let text = format!(
            "var @t: [512 x i32] in local
kernel @k(%out: ptr<global>, %limit: i32) {{
b0:
  %l: i64 = wi.LocalInvocationIndex 0
  %g: i64 = wi.WorkgroupId 0
  %size_x: i64 = wi.WorkgroupSize 0
  %size_y: i64 = wi.WorkgroupSize 1
  %size: i64 = imul %size_x, %size_y
  %start: i32 = to.trunc %l
  {place}
  %p: ptr<local> = offset @t [%i * 4 + 0]
  store %p, %start align 4
  br head
head:
  %d: i32 = phi b0: %limit, next: %d1
  %n: i32 = phi b0: i32 1, next: %n1
  barrier Workgroup
  %c: bool = {compare}
  br_if %c, body, next
body:
  %v: i32 = load %p align 4
  %w: i32 = imul %v, %n
  %x: i32 = iadd %w, %d
  store %p, %x align 4
  br next
next:
  %d1: i32 = lshr %d, i32 1
  %n1: i32 = iadd %n, i32 2
  %end: bool = cmp.ieq %d1, i32 0
  br_if %end, done, head
done:
  barrier Workgroup
  %r: i32 = load %p align 4
  %base: i64 = imul %g, %size
  %item: i64 = iadd %base, %l
  %at: ptr<global> = offset %out [%item * 4 + 0]
  store %at, %r align 4
  ret
}}"
        );
        check(&text, 8, None, &SIZES);
        check(&text, 16, Some(8), &SIZES);
    }
}

#[test]
fn sub_groups_that_have_no_work_are_passed_over() {
    for (i, form) in FORMS.into_iter().enumerate() {
        let sub_group = [8, 16, 32, 4][i % 4];
        check(
            &kernel(form, Kind::SubGroups, i % 3 == 2),
            sub_group,
            None,
            &SIZES,
        );
    }
    // By its number.
    let of = "%id: i32 = wi.SubgroupId 0\n %to: i32 = copy %limit";
    check(
        &kernel((of, "i32"), Kind::SubGroups, false),
        8,
        None,
        &SIZES,
    );
    let of = "%s: i32 = wi.SubgroupId 0\n %t: i32 = wi.SubgroupLocalInvocationId 0\n %id: i32 = iadd %s, %t\n %to: i32 = copy %limit";
    check(
        &kernel((of, "i32"), Kind::SubGroups, false),
        16,
        None,
        &SIZES,
    );
}

/// What is the same in a sub-group, made before a barrier and used behind it: by whole sub-groups, ends of rows and
/// sub-groups over several rows.
#[test]
fn what_a_sub_group_shares_lives_on() {
    let text = "var @t: [512 x i32] in local
kernel @k(%out: ptr<global>, %limit: i32) {
b0:
  %l: i64 = wi.LocalInvocationIndex 0
  %g: i64 = wi.WorkgroupId 0
  %size_x: i64 = wi.WorkgroupSize 0
  %size_y: i64 = wi.WorkgroupSize 1
  %size: i64 = imul %size_x, %size_y
  %start: i32 = to.trunc %l
  %a: i32 = iadd %start, %limit
  %sum: i32 = group.reduce.iadd Subgroup %a
  %big: i64 = to.sext %sum
  %far: i64 = imul %big, %big
  %odd: bool = cmp.slt %sum, i32 100
  %p: ptr<local> = offset @t [%l * 4 + 0]
  store %p, %start align 4
  br head
head:
  %i: i32 = phi b0: i32 0, next: %i1
  %s: i32 = phi b0: %sum, next: %s2
  barrier Workgroup
  %v: i32 = load %p align 4
  %w: i32 = select %odd, %v, %s
  %n: i32 = iadd %w, %s
  %s1: i32 = group.reduce.smax Subgroup %n
  br_if %odd, more, next
more:
  store %p, %n align 4
  br next
next:
  %s2: i32 = iadd %s1, %i
  %i1: i32 = iadd %i, i32 1
  %go: bool = cmp.ult %i1, i32 3
  br_if %go, head, end
end:
  barrier Workgroup
  %r: i32 = load %p align 4
  %f: i32 = to.trunc %far
  %q: i32 = iadd %r, %f
  %u: i32 = iadd %q, %s2
  %base: i64 = imul %g, %size
  %item: i64 = iadd %base, %l
  %at: ptr<global> = offset %out [%item * 4 + 0]
  store %at, %u align 4
  ret
}";
    for sub_group in [4, 8, 16, 32] {
        check(text, sub_group, None, &SIZES);
    }
}

/// Work-items look at the one a few places before them, where there is one and it is below the limit: what the
/// module says of overflow holds for those only, while rows are made of all. `reach`: how far before.
fn look_back(reach: &str, flags: &str, wide: bool, apart: bool) -> String {
    let place = |of: &str, to: &str| match apart {
        false => format!("%{to}: i64 = copy %{of}"),
        true => format!("%{to}s: i64 = imul %{of}, i64 37\n  %{to}: i64 = and %{to}s, i64 511"),
    };
    let (own_place, other_place) = (place("l", "place"), place("back", "other"));
    let difference = if wide {
        format!("%back: i64 = isub %l, %far{flags}\n  %less: i32 = to.trunc %back")
    } else {
        format!("%less: i32 = isub %start, %reach{flags}\n  %back: i64 = to.zext %less")
    };
    format!(
        "var @t: [512 x i32] in local
var @u: [512 x i32] in local
kernel @k(%out: ptr<global>, %limit: i32) {{
b0:
  %l: i64 = wi.LocalInvocationIndex 0
  %g: i64 = wi.WorkgroupId 0
  %size_x: i64 = wi.WorkgroupSize 0
  %size_y: i64 = wi.WorkgroupSize 1
  %size: i64 = imul %size_x, %size_y
  %start: i32 = to.trunc %l
  %first: i32 = imul %start, i32 7
  {own_place}
  %p: ptr<local> = offset @t [%place * 4 + 0]
  %o: ptr<local> = offset @u [%place * 4 + 0]
  store %p, %first align 4
  store %o, %start align 4
  br head
head:
  %n: i32 = phi b0: i32 0, next: %n1
  %reach: i32 = {reach}
  %far: i64 = to.zext %reach
  barrier Workgroup
  %there: bool = cmp.uge %start, %reach
  br_if %there, look, next
look:
  {difference}
  %near: bool = cmp.ult %less, %limit
  br_if %near, take, next
take:
  {other_place}
  %q: ptr<local> = offset @t [%other * 4 + 0]
  %before: i32 = load %q align 4
  %own: i32 = load %o align 4
  %more: i32 = imul %own, i32 5
  %sum: i32 = iadd %more, %before
  store %o, %sum align 4
  br next
next:
  %n1: i32 = iadd %n, i32 1
  %go: bool = cmp.ult %n1, i32 4
  br_if %go, head, done
done:
  barrier Workgroup
  %r: i32 = load %o align 4
  %base: i64 = imul %g, %size
  %item: i64 = iadd %base, %l
  %at: ptr<global> = offset %out [%item * 4 + 0]
  store %at, %r align 4
  ret
}}"
    )
}

#[test]
fn what_the_module_says_of_overflow_is_not_said_of_work_items_that_are_off() {
    for reach in [
        "copy %limit",
        "copy i32 1",
        "copy i32 8",
        "copy i32 9",
        "shl i32 1, %n",
    ] {
        for flags in ["", " nuw", " nsw nuw"] {
            for (wide, apart) in [(false, false), (true, false), (false, true), (true, true)] {
                let text = look_back(reach, flags, wide, apart);
                check(&text, 8, None, &SIZES);
                check(&text, 16, Some(8), &SIZES);
                for size in [[8, 1], [16, 1], [64, 1]] {
                    check_required(&text, 8, None, size);
                }
            }
        }
    }
}
