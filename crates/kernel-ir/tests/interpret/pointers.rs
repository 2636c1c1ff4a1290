//! Calls through pointers, and of functions that call themselves.

use super::sandbox::{Grid, as_ints, done, ints, line, run};

use kernel_ir::interpret::Fault;

/// Lanes of a row call different functions; some are too long to be inlined, one has private memory, one uses ids of
/// the work-item, one calls another.
#[test]
fn each_lane_calls_its_own_target() {
    // More targets than are compared with: called through the pointer at run time.
    let long: String = (0..500)
        .map(|i| {
            format!(
                "  %v{}: i32 = {} %v{i}, i32 {}\n",
                i + 1,
                ["iadd", "xor"][i % 2],
                i * 7 + 1
            )
        })
        .collect();
    let text = format!(
        "
var @table: [5 x ptr<generic>] in constant = [@next, @long, @where, @array, @twice]
var @shared: [64 x i32] in local
func @next(%x: i32) -> i32 {{
b0:
  %r: i32 = iadd %x, i32 1
  ret %r
}}
func @long(%v0: i32) -> i32 {{
b0:
{long}  ret %v500
}}
func @where(%x: i32) -> i32 {{
b0:
  %l: i64 = wi.LocalInvocationId 0
  %g: i64 = wi.GlobalInvocationId 0
  %n: i64 = wi.GlobalSize 0
  %s: i32 = wi.SubgroupLocalInvocationId 0
  %k: i32 = wi.SubgroupId 0
  %p: ptr<local> = offset @shared [%l * 4 + 0]
  %o: i32 = load %p align 4
  %a: i64 = imul %l, i64 1000
  %b: i64 = iadd %a, %g
  %c: i64 = imul %b, %n
  %d: i32 = to.trunc %c
  %e: i32 = iadd %d, %o
  %f: i32 = imul %s, i32 31
  %h: i32 = iadd %e, %f
  %i: i32 = iadd %h, %k
  ret %i
}}
func @array(%x: i32) -> i32 {{
b0:
  %a: ptr<private> = alloca 64 align 4
  br fill
fill:
  %i: i64 = phi b0: i64 0, fill: %j
  %p: ptr<private> = offset %a [%i * 4 + 0]
  %w: i32 = to.trunc %i
  %y: i32 = imul %w, %x
  store %p, %y align 4
  %j: i64 = iadd %i, i64 1
  %more: bool = cmp.ult %j, i64 16
  br_if %more, fill, out
out:
  %m: i32 = and %x, i32 15
  %n: i64 = to.zext %m
  %q: ptr<private> = offset %a [%n * 4 + 0]
  %r: i32 = load %q align 4
  ret %r
}}
func @twice(%x: i32) -> i32 {{
b0:
  %pf: ptr<constant> = offset @table [8]
  %f: ptr<generic> = load %pf align 8
  %a: i32 = call_indirect %f(%x)
  %b: i32 = call_indirect %f(%a)
  ret %b
}}
kernel @k(%out: ptr<global>) {{
b0:
  %l: i64 = wi.LocalInvocationId 0
  %pl: ptr<local> = offset @shared [%l * 4 + 0]
  %seven: i64 = imul %l, i64 7
  %own: i32 = to.trunc %seven
  store %pl, %own align 4
  barrier Workgroup
  %g: i64 = wi.GlobalInvocationId 0
  %g32: i32 = to.trunc %g
  %which: i32 = urem %g32, i32 5
  %w64: i64 = to.zext %which
  %pf: ptr<constant> = offset @table [%w64 * 8 + 0]
  %f: ptr<generic> = load %pf align 8
  %odd: i32 = urem %g32, i32 3
  %skip: bool = cmp.ieq %odd, i32 1
  br_if %skip, out, go
go:
  %r: i32 = call_indirect %f(%g32)
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %r align 4
  br out
out:
  ret
}}"
    );
    let long = |v: u32| {
        (0..500u32).fold(v, |v, i| match i % 2 {
            0 => v.wrapping_add(i * 7 + 1),
            _ => v ^ (i * 7 + 1),
        })
    };
    for size in [8u32, 12, 33] {
        let all = 2 * size;
        let memory = done(&text, line(2, size), vec![ints(&vec![-1; all as usize])]);
        let expected: Vec<i32> = (0..all)
            .map(|g| {
                let l = g % size;
                let value = match g % 5 {
                    _ if g % 3 == 1 => u32::MAX,
                    0 => g + 1,
                    1 => long(g),
                    2 => (l * 1000 + g) * all + l * 7 + l % 8 * 31 + l / 8,
                    3 => (g & 15) * g,
                    _ => long(long(g)),
                };
                value as i32
            })
            .collect();
        assert_eq!(as_ints(&memory.buffers[0]), expected, "groups of {size}");
    }
}

/// A function that a pointer means calls through that pointer again: it is called out of line, with vectors and
/// pointers to private memory as arguments.
#[test]
fn recursion_through_pointers() {
    let text = "
var @self: ptr<generic> in constant = @sum
func @sum(%n: i32, %to: ptr<generic>, %v: <4 x i32>) -> <4 x i32> {
b0:
  %mine: bool = is_space %to private
  %add: i32 = select %mine, i32 100, i32 1
  %old: i32 = load %to align 4
  %new: i32 = iadd %old, %add
  store %to, %new align 4
  %end: bool = cmp.ule %n, i32 0
  br_if %end, out, more
more:
  %f: ptr<generic> = load @self align 8
  %m: i32 = isub %n, i32 1
  %w: <4 x i32> = shuffle %v, %v [1, 2, 3, 0]
  %r: <4 x i32> = call_indirect %f(%m, %to, %w)
  %s: <4 x i32> = iadd %r, %v
  ret %s
out:
  ret %v
}
kernel @k(%out: ptr<global>) {
b0:
  %room: ptr<private> = alloca 4 align 4
  store %room, i32 0 align 4
  %g: i64 = wi.GlobalInvocationId 0
  %n: i32 = to.trunc %g
  %f: ptr<generic> = load @self align 8
  %v: <4 x i32> = construct i32 1, i32 20, i32 300, i32 4000
  %to: ptr<generic> = to.addressspace %room
  %r: <4 x i32> = call_indirect %f(%n, %to, %v)
  %a: i32 = extract %r [0]
  %b: i32 = load %room align 4
  %c: i32 = imul %b, i32 100000
  %d: i32 = iadd %a, %c
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %d align 4
  ret
}";
    let memory = done(text, line(1, 10), vec![ints(&[0; 10])]);
    let expected: Vec<i32> = (0..10)
        .map(|n| {
            let parts = [1, 20, 300, 4000];
            let sum: i32 = (0..=n).map(|i| parts[i % 4]).sum();
            sum.wrapping_add((n as i32 + 1).wrapping_mul(100).wrapping_mul(100_000))
        })
        .collect();
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}

/// Functions with barriers are always compared with, so that they can be inlined.
#[test]
fn a_function_with_a_barrier_is_called_through_a_pointer() {
    let text = "
var @room: [64 x i32] in local
func @turn(%x: i32) -> i32 {
b0:
  %l: i64 = wi.LocalInvocationId 0
  %n: i64 = wi.WorkgroupSize 0
  %p: ptr<local> = offset @room [%l * 4 + 0]
  store %p, %x align 4
  barrier Workgroup
  %last: i64 = isub %n, i64 1
  %other: i64 = isub %last, %l
  %q: ptr<local> = offset @room [%other * 4 + 0]
  %r: i32 = load %q align 4
  barrier Workgroup
  ret %r
}
var @which: ptr<generic> in constant = @turn
kernel @k(%out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %x: i32 = to.trunc %g
  %f: ptr<generic> = load @which align 8
  %r: i32 = call_indirect %f(%x)
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %r align 4
  ret
}";
    let memory = done(text, line(2, 6), vec![ints(&[0; 12])]);
    let expected = [5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6];
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}

#[test]
fn a_pointer_to_no_function_or_another_kind_of_function_is_a_fault() {
    for (pointer, what) in [
        ("i64 0", "no function's address"),
        ("i64 4096", "no function's address"),
        ("i64 -8", "no function's address"),
        ("%other", "another type"),
    ] {
        let text = format!(
            "
func @float(%x: f32) -> f32 {{
b0:
  ret %x
}}
var @table: ptr<generic> in constant = @float
kernel @k(%out: ptr<global>) {{
b0:
  %of: ptr<generic> = load @table align 8
  %other: i64 = to.ptrtoint %of
  %f: ptr<generic> = to.inttoptr {pointer}
  %r: i32 = call_indirect %f(i32 1)
  store %out, %r align 4
  ret
}}"
        );
        let grid = Grid {
            budget: Some(1000),
            ..line(1, 1)
        };
        let stopped = run(&text, grid, vec![ints(&[0])]).err();
        assert!(
            matches!(&stopped, Some(s) if matches!(s.fault, Fault::Call(_)) && s.to_string().contains(what)),
            "{pointer}: {stopped:?}"
        );
    }
}
