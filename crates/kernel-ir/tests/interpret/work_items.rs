//! One work-item at a time: arithmetic, memory, control flow, calls, faults.

use super::sandbox::{Arg, Grid, as_floats, as_ints, bytes, done, floats, ints, line, run};
use kernel_ir::interpret::Fault;

#[test]
fn grid_builtins_know_their_place() {
    let text = "
kernel @k(%out: ptr<global>) {
b0:
  %x: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.GlobalInvocationId 1
  %l: i64 = wi.GlobalLinearId 0
  %p: ptr<global> = offset %out [%l * 16 + 0]
  %a: i64 = wi.LocalInvocationId 1
  %b: i64 = wi.WorkgroupId 0
  %c: i64 = wi.GlobalSize 1
  %s: i64 = imul %a, i64 100
  %t: i64 = iadd %s, %b
  %u: i64 = imul %c, i64 10000
  %v: i64 = iadd %t, %u
  %w: i32 = to.trunc %v
  %x32: i32 = to.trunc %x
  %y32: i32 = to.trunc %y
  %local: i64 = wi.LocalInvocationIndex 0
  %local32: i32 = to.trunc %local
  %all: <4 x i32> = construct %x32, %y32, %w, %local32
  store %p, %all align 4
  ret
}";
    let grid = Grid {
        groups: [2, 2, 1],
        size: [3, 2, 1],
        offset: [100, 200, 0],
        ..line(1, 1)
    };
    let memory = done(text, grid, vec![ints(&[0; 96])]);
    let got = as_ints(&memory.buffers[0]);
    for (i, item) in got.chunks(4).enumerate() {
        let (x, y) = ((i % 6) as i32, (i / 6) as i32);
        let expected = [
            100 + x,
            200 + y,
            40000 + y % 2 * 100 + x / 3,
            x % 3 + y % 2 * 3,
        ];
        assert_eq!(item, expected, "item {i}");
    }
}

/// Loops of different lengths per work-item, with break and continue.
#[test]
fn divergent_loops_count_right() {
    let text = "
kernel @collatz(%in: ptr<global>, %out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %pi: ptr<global> = offset %in [%g * 4 + 0]
  %n0: i32 = load %pi align 4
  br head
head:
  %n: i32 = phi b0: %n0, odd: %n3, even: %n2
  %c: i32 = phi b0: i32 0, odd: %c1, even: %c1
  %big: bool = cmp.ugt %n, i32 1
  br_if %big, body, end
body:
  %c1: i32 = iadd %c, i32 1
  %limit: bool = cmp.ieq %c1, i32 100
  br_if %limit, end, go
go:
  %bit: i32 = and %n, i32 1
  %is_odd: bool = cmp.ine %bit, i32 0
  br_if %is_odd, odd, even
odd:
  %n1: i32 = imul %n, i32 3
  %n3: i32 = iadd %n1, i32 1
  br head
even:
  %n2: i32 = lshr %n, i32 1
  br head
end:
  %result: i32 = phi head: %c, body: i32 -1
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %result align 4
  ret
}";
    let input: Vec<i32> = (1..=29).collect();
    let memory = done(text, line(1, 29), vec![ints(&input), ints(&[0; 29])]);
    let expected: Vec<i32> = input
        .iter()
        .map(|&n| {
            let (mut n, mut c) = (n, 0);
            while n > 1 {
                c += 1;
                if c == 100 {
                    return -1;
                }
                n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            }
            c
        })
        .collect();
    assert_eq!(as_ints(&memory.buffers[1]), expected);
}

#[test]
fn phis_read_before_they_write_and_switches_choose() {
    let text = "
kernel @k(%out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %g32: i32 = to.trunc %g
  br head
head:
  %a: i32 = phi b0: i32 1, next: %b
  %b: i32 = phi b0: i32 2, next: %a
  %i: i32 = phi b0: i32 0, next: %i1
  %more: bool = cmp.ult %i, %g32
  br_if %more, next, pick
next:
  %i1: i32 = iadd %i, i32 1
  br head
pick:
  switch %g32, other [1: one, 2: same, 5: same]
one:
  br end
same:
  br end
other:
  br end
end:
  %kind: i32 = phi one: i32 10, same: i32 20, other: i32 30
  %a8: i32 = shl %a, i32 8
  %ab: i32 = or %a8, %b
  %kind16: i32 = shl %kind, i32 16
  %r: i32 = or %kind16, %ab
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %r align 4
  ret
}";
    let memory = done(text, line(1, 7), vec![ints(&[0; 7])]);
    let expected: Vec<i32> = (0..7)
        .map(|g| {
            let kind = match g {
                1 => 10,
                2 | 5 => 20,
                _ => 30,
            };
            kind << 16 | if g % 2 == 0 { 0x102 } else { 0x201 }
        })
        .collect();
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}

/// A cycle with two entries.
#[test]
fn irreducible_flow_is_run() {
    let text = "
kernel @k(%out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %g32: i32 = to.trunc %g
  %bit: i32 = and %g32, i32 1
  %odd: bool = cmp.ine %bit, i32 0
  br_if %odd, x, y
x:
  %vx: i32 = phi b0: i32 0, y: %vy1
  %vx1: i32 = iadd %vx, i32 1
  br y
y:
  %vy: i32 = phi b0: i32 100, x: %vx1
  %vy1: i32 = iadd %vy, i32 10
  %low: i32 = and %vy1, i32 63
  %more: bool = cmp.ult %low, i32 40
  br_if %more, x, end
end:
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %vy1 align 4
  ret
}";
    let memory = done(text, line(2, 5), vec![ints(&[0; 10])]);
    let expected: Vec<i32> = (0..10)
        .map(|g| {
            let mut v = if g % 2 == 1 { 1 } else { 100 };
            loop {
                v += 10;
                if v & 63 >= 40 {
                    return v;
                }
                v += 1;
            }
        })
        .collect();
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}

#[test]
fn vectors_halves_and_aggregates() {
    let text = "
kernel @k(%in: ptr<global>, %out: ptr<global>) {
b0:
  %v: <4 x f32> = load %in align 4
  %h: <4 x f16> = to.ftof %v
  %sum: <4 x f16> = fadd %h, %h
  %prod: <4 x f16> = fmul %sum, %h
  %back: <4 x f32> = to.ftof %prod
  store %out, %back align 4
  %sh: <4 x f32> = shuffle %v, %back [3, 0, 4, _]
  %one: f32 = extract %v [1]
  %sh2: <4 x f32> = insert %sh, %one [3]
  %p1: ptr<global> = offset %out [16]
  store %p1, %sh2 align 4
  %bits: <2 x i64> = to.bitcast %v
  %hi: i64 = extract_at %bits, i32 1
  %p2: ptr<global> = offset %out [32]
  store %p2, %hi align 8
  %s: {i8, [2 x <2 x i16>]} = construct i8 7, [2 x <2 x i16>] [[1, 2], [3, 4]]
  %x: i16 = extract %s [1, 1, 0]
  %s2: {i8, [2 x <2 x i16>]} = insert %s, i16 9 [1, 0, 1]
  %p3: ptr<global> = offset %out [40]
  store %p3, %s2 align 4
  %p4: ptr<global> = offset %out [52]
  store %p4, %x align 2
  %three: <3 x i8> = construct i8 1, i8 2, i8 3
  %p5: ptr<global> = offset %out [54]
  store %p5, %three align 1
  %cmp: <4 x bool> = cmp.fordlt %v, %back
  %any: bool = anylane %cmp
  %sel: <4 x f32> = select %cmp, %v, %back
  %p6: ptr<global> = offset %out [60]
  store %p6, %sel align 4
  ret
}";
    let input = [1.0f32, 0.1, -3.0, 1000.0];
    let memory = done(
        text,
        line(1, 1),
        vec![floats(&input), Arg::Buffer(vec![0; 76])],
    );
    let out = &memory.buffers[1];
    let f = as_floats(out);
    // 0.1 as a half is 0x2e66 = 1638/16384; twice and times itself, each rounded to eleven bits.
    let tenth = 1638.0f32 / 16384.0;
    let product = {
        let exact = 2.0 * tenth * tenth;
        let ulp = 2f32.powi(-16);
        (exact / ulp).round_ties_even() * ulp
    };
    assert_eq!(f[..4], [2.0, product, 18.0, f32::INFINITY]);
    assert_eq!(f[4..8], [1000.0, 1.0, 2.0, 0.1]);
    assert_eq!(out[32..40], bytes(&input[2..], f32::to_le_bytes));
    assert_eq!(out[40], 7);
    assert_eq!(out[44..54], [1, 0, 9, 0, 3, 0, 4, 0, 3, 0]);
    assert_eq!(out[54..57], [1, 2, 3]);
    assert_eq!(f[15..19], [1.0, product, -3.0, 1000.0]);
}

#[test]
fn private_memory_by_value_arguments_and_generic_pointers() {
    let text = "
var @tile: [4 x i32] in local
kernel @k(%s: ptr<private> byval 12 align 4, %n: i32, %out: ptr<global>) {
b0:
  %array: ptr<private> = alloca 16 align 4
  %g: i64 = wi.GlobalInvocationId 0
  %g32: i32 = to.trunc %g
  %p1: ptr<private> = offset %array [%g * 4 + 0]
  store %p1, %g32 align 4
  %gen: ptr<generic> = to.addressspace %p1
  %is_p: bool = is_space %gen private
  %is_g: bool = is_space %gen global
  %bad: ptr<global> = to_space %gen global
  %bad_bits: i64 = to.ptrtoint %bad
  %null: bool = cmp.ieq %bad_bits, i64 0
  %back: ptr<private> = to_space %gen private
  %v: i32 = load %back align 4
  %p2: ptr<private> = offset %s [8]
  %f: i32 = load %p2 align 4
  store %p2, %g32 align 4
  %t: ptr<local> = offset @tile [%g * 4 + 0]
  store %t, %f align 4
  %tg: ptr<generic> = to.addressspace %t
  %is_l: bool = is_space %tg local
  %tv: i32 = load %tg align 4
  %sum: i32 = iadd %v, %tv
  %sum2: i32 = iadd %sum, %n
  %a: i32 = select %is_p, i32 1, i32 0
  %b: i32 = select %is_g, i32 1, i32 0
  %c: i32 = select %null, i32 1, i32 0
  %d: i32 = select %is_l, i32 1, i32 0
  %all: <4 x i32> = construct %a, %b, %c, %d
  %q: ptr<global> = offset %out [%g * 20 + 0]
  store %q, %sum2 align 4
  %q2: ptr<global> = offset %q [4]
  store %q2, %all align 4
  ret
}";
    let aggregate = bytes(&[5, 6, 1000], i32::to_le_bytes);
    let memory = done(
        text,
        line(1, 4),
        vec![
            Arg::Value(aggregate),
            Arg::Value(7i32.to_le_bytes().to_vec()),
            ints(&[0; 20]),
        ],
    );
    for (i, item) in as_ints(&memory.buffers[0]).chunks(5).enumerate() {
        assert_eq!(item, [1007 + i as i32, 1, 0, 1, 1], "item {i}");
    }
}

#[test]
fn calls_direct_recursive_and_through_pointers() {
    let text = "
var @table: [2 x ptr<generic>] in constant = [@double, @square]
func @double(%x: i32) -> i32 {
b0:
  %r: i32 = iadd %x, %x
  ret %r
}
func @square(%x: i32) -> i32 {
b0:
  %r: i32 = imul %x, %x
  ret %r
}
func @factorial(%n: i32) -> i32 {
b0:
  %slot: ptr<private> = alloca 4 align 4
  store %slot, %n align 4
  %base: bool = cmp.ule %n, i32 1
  br_if %base, one, more
one:
  ret i32 1
more:
  %m: i32 = isub %n, i32 1
  %f: i32 = call @factorial(%m)
  %own: i32 = load %slot align 4
  %r: i32 = imul %own, %f
  ret %r
}
kernel @k(%out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %g32: i32 = to.trunc %g
  %f: i32 = call @factorial(%g32)
  %bit: i64 = and %g, i64 1
  %pf: ptr<constant> = offset @table [%bit * 8 + 0]
  %fun: ptr<generic> = load %pf align 8
  %h: i32 = call_indirect %fun(%g32)
  %s: i32 = iadd %f, %h
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %s align 4
  ret
}";
    let memory = done(text, line(1, 8), vec![ints(&[0; 8])]);
    let expected: Vec<i32> = (0..8)
        .map(|g: i32| (1..=g).product::<i32>() + if g % 2 == 0 { 2 * g } else { g * g })
        .collect();
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}

#[test]
fn program_variables_start_with_their_content() {
    let text = "
var @counter: i32 in global exported = 5
var @where: {i8, ptr<global>} in global = [1, @counter + 0]
kernel @k(%out: ptr<global>) {
b0:
  %pp: ptr<global> = offset @where [8]
  %p: ptr<global> = load %pp align 8
  %old: i32 = atomic.iadd Device Relaxed %p, i32 3
  %po: ptr<global> = offset %out [0]
  store %po, %old align 4
  ret
}";
    let memory = done(text, line(1, 1), vec![ints(&[0])]);
    assert_eq!(as_ints(&memory.buffers[0]), [5]);
    assert_eq!(as_ints(&memory.buffers[1]), [8]);
}

#[test]
fn atomics_return_the_old_value() {
    // (operation, start, operand, expected old, expected new)
    for (op, start, operand, new) in [
        ("iadd", 7, "i32 5", 12),
        ("isub", 7, "i32 5", 2),
        ("smin", -3, "i32 5", -3),
        ("smax", -3, "i32 5", 5),
        ("umin", -3, "i32 5", 5),
        ("umax", -3, "i32 5", -3),
        ("and", 12, "i32 10", 8),
        ("or", 12, "i32 10", 14),
        ("xor", 12, "i32 10", 6),
        ("exchange", 1, "i32 2", 2),
        ("compareexchange", 4, "i32 9, i32 4", 9),
        ("compareexchange", 4, "i32 9, i32 5", 4),
    ] {
        let text = format!(
            "
kernel @k(%io: ptr<global>) {{
b0:
  %old: i32 = atomic.{op} Device Relaxed %io, {operand}
  %p: ptr<global> = offset %io [4]
  store %p, %old align 4
  ret
}}"
        );
        let memory = done(&text, line(1, 1), vec![ints(&[start, 0])]);
        assert_eq!(as_ints(&memory.buffers[0]), [new, start], "{op}");
    }
    let text = "
kernel @k(%io: ptr<global>) {
b0:
  %was: bool = atomic.flagtestandset Device Relaxed %io
  %f: ptr<global> = offset %io [4]
  %old: f32 = atomic.fadd Device Relaxed %f, f32 0.5
  %v: i32 = atomic.load Device Acquire %io
  %p: ptr<global> = offset %io [8]
  atomic.store Device Release %p, %v
  ret
}";
    let memory = done(text, line(1, 10), vec![ints(&[0, 0, 0])]);
    let all = as_ints(&memory.buffers[0]);
    assert_eq!((all[0], f32::from_bits(all[1] as u32), all[2]), (1, 5.0, 1));
}

#[test]
fn printf_hands_over_its_arguments() {
    let text = "
format \"%d %s %v2f\\0a\"
var @hello: [6 x i8] in constant = [104, 101, 108, 108, 111, 0]
kernel @k(%n: i32) {
b0:
  %v: <2 x f32> = construct f32 1.5, f32 2.5
  %p: ptr<constant> = offset @hello [0]
  %r: i32 = printf 0 (%n, %p, %v)
  ret
}";
    let memory = done(text, line(1, 1), vec![Arg::Value(vec![42, 0, 0, 0])]);
    let (format, blob) = &memory.printed[0];
    assert_eq!(*format, 0);
    let text = kernel_ir::printf::format(b"%d %s %v2hlf\n", blob, &mut |_| Vec::new());
    assert_eq!(
        String::from_utf8_lossy(&text),
        "42 hello 1.500000,2.500000\n"
    );
}

#[test]
fn faults_are_named() {
    let endless = "
kernel @spin(%out: ptr<global>) {
b0:
  br b1
b1:
  br b1
}";
    let stopped = run(endless, line(1, 2), vec![ints(&[0])]);
    assert_eq!(stopped.err().map(|s| s.fault), Some(Fault::Budget));

    let wild = "
kernel @wild(%out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %p: ptr<global> = offset %out [%g * 4 + 0]
  store %p, i32 1 align 4
  ret
}";
    let stopped = run(wild, line(2, 8), vec![ints(&[0; 11])]).err();
    let stopped = stopped.map(|s| (s.group, s.item, s.kernel, s.fault));
    let Some((
        1,
        3,
        kernel,
        Fault::Access {
            size: 4,
            write: true,
            ..
        },
    )) = stopped
    else {
        panic!("{stopped:?}");
    };
    assert_eq!(kernel, "wild");

    let deep = "
func @down(%n: i32) -> i32 {
b0:
  %r: i32 = call @down(%n)
  ret %r
}
kernel @k(%out: ptr<global>) {
b0:
  %r: i32 = call @down(i32 0)
  ret
}";
    let stopped = run(deep, line(1, 1), vec![ints(&[0])]).err();
    assert!(
        matches!(&stopped, Some(s) if matches!(s.fault, Fault::Resources { .. })),
        "{stopped:?}"
    );

    let null = "
kernel @k(%p: ptr<private> byval 4) {
b0:
  %q: ptr<private> = offset %p [4]
  %v: i32 = load %q align 4
  ret
}";
    let stopped = run(null, line(1, 2), vec![Arg::Value(vec![0; 4])]).err();
    assert!(
        matches!(&stopped, Some(s) if matches!(s.fault, Fault::Access { write: false, .. })),
        "{stopped:?}"
    );

    let odd = "
kernel @k(%io: ptr<global>) {
b0:
  %p: ptr<global> = offset %io [2]
  %v: i32 = atomic.iadd Device Relaxed %p, i32 1
  ret
}";
    let stopped = run(odd, line(1, 1), vec![ints(&[0; 2])]).err();
    assert!(
        matches!(&stopped, Some(s) if matches!(s.fault, Fault::Misaligned { .. })),
        "{stopped:?}"
    );
}
