//! Barriers, local memory, sub-group and work-group operations.

use super::sandbox::{Arg, as_ints, done, ints, line, run};
use kernel_ir::interpret::Fault;

/// A tree of sums in local memory, a barrier after each level of a uniform loop.
#[test]
fn barriers_order_local_memory() {
    let text = "
var @fixed: [16 x i32] in local
kernel @sum(%in: ptr<global>, %out: ptr<global>, %tile: ptr<local>) {
b0:
  %l: i64 = wi.LocalInvocationId 0
  %g: i64 = wi.GlobalInvocationId 0
  %w: i64 = wi.WorkgroupId 0
  %pi: ptr<global> = offset %in [%g * 4 + 0]
  %v: i32 = load %pi align 4
  %pt: ptr<local> = offset %tile [%l * 4 + 0]
  store %pt, %v align 4
  %pf: ptr<local> = offset @fixed [%l * 4 + 0]
  store %pf, i32 1 align 4
  br head
head:
  %s: i64 = phi b0: i64 8, next: %s2
  barrier Workgroup
  %more: bool = cmp.ugt %s, i64 0
  br_if %more, level, end
level:
  %low: bool = cmp.ult %l, %s
  br_if %low, add, next
add:
  %o: i64 = iadd %l, %s
  %po: ptr<local> = offset %tile [%o * 4 + 0]
  %a: i32 = load %pt align 4
  %b: i32 = load %po align 4
  %c: i32 = iadd %a, %b
  store %pt, %c align 4
  br next
next:
  %s2: i64 = lshr %s, i64 1
  br head
end:
  %r: i32 = load %tile align 4
  %f: i32 = load @fixed align 4
  %rf: i32 = imul %r, %f
  %pr: ptr<global> = offset %out [%w * 4 + 0]
  store %pr, %rf align 4
  ret
}";
    let input: Vec<i32> = (0..48).map(|i| i * i).collect();
    let memory = done(
        text,
        line(3, 16),
        vec![ints(&input), ints(&[0; 3]), Arg::Local(64)],
    );
    let expected: Vec<i32> = input.chunks(16).map(|c| c.iter().sum()).collect();
    assert_eq!(as_ints(&memory.buffers[1]), expected);
}

/// Some work-items return before the barrier.
#[test]
fn a_barrier_waits_for_the_remaining_work_items() {
    let text = "
var @last: i32 in local
kernel @k(%out: ptr<global>) {
b0:
  %l: i64 = wi.LocalInvocationId 0
  %early: bool = cmp.ult %l, i64 3
  br_if %early, leave, stay
leave:
  ret
stay:
  %l32: i32 = to.trunc %l
  %x: i32 = atomic.smax Workgroup Relaxed @last, %l32
  barrier Workgroup
  %v: i32 = load @last align 4
  %p: ptr<global> = offset %out [%l * 4 + 0]
  store %p, %v align 4
  ret
}";
    let memory = done(text, line(1, 12), vec![ints(&[-1; 12])]);
    let expected: Vec<i32> = (0..12).map(|l| if l < 3 { -1 } else { 11 }).collect();
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}

/// Every sub-group operation, by all lanes and under divergence, on a partial last sub-group too.
#[test]
fn sub_group_operations() {
    const W: usize = 8;
    type Expected = fn(&[Option<i32>; W], usize) -> i32;
    // Lanes' values by place; `None` for lanes that are not there.
    fn fold(v: &[Option<i32>], f: fn(i32, i32) -> i32) -> Option<i32> {
        v.iter().flatten().copied().reduce(f)
    }
    fn lane(v: &[Option<i32>; W], l: usize) -> i32 {
        v[l % W].unwrap_or(0)
    }
    let cases: &[(&str, Expected)] = &[
        ("%r: i32 = group.reduce.iadd Subgroup %v", |v, _| {
            fold(v, |a, b| a + b).expect("a lane")
        }),
        ("%r: i32 = group.reduce.smin Subgroup %v", |v, _| {
            fold(v, i32::min).expect("a lane")
        }),
        ("%r: i32 = group.reduce.umax Subgroup %v", |v, _| {
            fold(v, |a, b| (a as u32).max(b as u32) as i32).expect("a lane")
        }),
        ("%r: i32 = group.reduce.imul Subgroup %v", |v, _| {
            fold(v, i32::wrapping_mul).expect("a lane")
        }),
        ("%r: i32 = group.reduce.xor Subgroup %v", |v, _| {
            fold(v, |a, b| a ^ b).expect("a lane")
        }),
        (
            "%r: i32 = group.clustered_reduce.iadd.4 Subgroup %v",
            |v, l| fold(&v[l / 4 * 4..l / 4 * 4 + 4], |a, b| a + b).expect("a lane"),
        ),
        ("%r: i32 = group.inclusive_scan.iadd Subgroup %v", |v, l| {
            fold(&v[..=l], |a, b| a + b).expect("a lane")
        }),
        ("%r: i32 = group.exclusive_scan.iadd Subgroup %v", |v, l| {
            fold(&v[..l], |a, b| a + b).unwrap_or(0)
        }),
        ("%r: i32 = group.exclusive_scan.smax Subgroup %v", |v, l| {
            fold(&v[..l], i32::max).unwrap_or(i32::MIN)
        }),
        ("%r: i32 = group.exclusive_scan.and Subgroup %v", |v, l| {
            fold(&v[..l], |a, b| a & b).unwrap_or(-1)
        }),
        ("%r: i32 = group.broadcast Subgroup %v, i32 1", |v, _| {
            lane(v, 1)
        }),
        ("%r: i32 = group.broadcast_first Subgroup %v", |v, _| {
            v.iter().flatten().copied().next().expect("a lane")
        }),
        (
            "%b: bool = group.elect Subgroup\n  %r: i32 = select %b, i32 1, i32 0",
            |v, l| i32::from(v.iter().position(Option::is_some) == Some(l)),
        ),
        (
            "%c: bool = cmp.sgt %v, i32 0\n  %b: bool = group.all Subgroup %c\n  %r: i32 = select %b, i32 1, i32 0",
            |v, _| i32::from(v.iter().flatten().all(|&x| x > 0)),
        ),
        (
            "%c: bool = cmp.sgt %v, i32 300\n  %b: bool = group.any Subgroup %c\n  %r: i32 = select %b, i32 1, i32 0",
            |v, _| i32::from(v.iter().flatten().any(|&x| x > 300)),
        ),
        (
            "%d: i32 = sdiv %v, i32 200\n  %b: bool = group.all_equal Subgroup %d\n  %r: i32 = select %b, i32 1, i32 0",
            |v, _| {
                let mut d = v.iter().flatten().map(|x| x / 200);
                let first = d.next();
                i32::from(d.all(|x| Some(x) == first))
            },
        ),
        (
            "%c: bool = cmp.sgt %v, i32 200\n  %b: <4 x i32> = group.ballot Subgroup %c\n  %r: i32 = extract %b [0]",
            |v, _| {
                (0..W)
                    .filter(|&l| v[l].is_some_and(|x| x > 200))
                    .map(|l| 1 << l)
                    .sum()
            },
        ),
        ("%r: i32 = group.shuffle Subgroup %v, %partner", |v, l| {
            lane(v, (l * 3 + 1) % W)
        }),
        ("%r: i32 = group.shuffle_xor Subgroup %v, i32 3", |v, l| {
            lane(v, l ^ 3)
        }),
        ("%r: i32 = group.shuffle_up Subgroup %v, i32 2", |v, l| {
            lane(v, l + W - 2)
        }),
        ("%r: i32 = group.shuffle_down Subgroup %v, i32 2", |v, l| {
            lane(v, l + 2)
        }),
        (
            "%o: i32 = ineg %v\n  %r: i32 = group.shuffle_up_pair Subgroup %o, %v, i32 3",
            |v, l| {
                if l >= 3 {
                    lane(v, l - 3)
                } else {
                    -lane(v, l + W - 3)
                }
            },
        ),
        (
            "%o: i32 = ineg %v\n  %r: i32 = group.shuffle_down_pair Subgroup %v, %o, i32 3",
            |v, l| {
                if l + 3 < W {
                    lane(v, l + 3)
                } else {
                    -lane(v, l + 3 - W)
                }
            },
        ),
        ("%r: i32 = group.rotate.4 Subgroup %v, i32 1", |v, l| {
            lane(v, l / 4 * 4 + (l + 1) % 4)
        }),
        ("%r: i32 = group.rotate.0 Subgroup %v, i32 3", |v, l| {
            lane(v, l + 3)
        }),
        ("%r: i32 = wi.SubgroupSize 0", |_, _| -1),
        ("%r: i32 = wi.SubgroupMaxSize 0", |_, _| W as i32),
    ];
    for divergent in [false, true] {
        for (op, expected) in cases {
            let cond = if divergent { "%third" } else { "bool true" };
            let text = format!(
                "
kernel @k(%in: ptr<global>, %out: ptr<global>) {{
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %lane: i32 = wi.SubgroupLocalInvocationId 0
  %three: i32 = imul %lane, i32 3
  %partner1: i32 = iadd %three, i32 1
  %partner: i32 = and %partner1, i32 7
  %pi: ptr<global> = offset %in [%g * 4 + 0]
  %po: ptr<global> = offset %out [%g * 4 + 0]
  %v: i32 = load %pi align 4
  %m: i64 = urem %g, i64 3
  %third: bool = cmp.ine %m, i64 1
  br_if {cond}, yes, no
yes:
  {op}
  store %po, %r align 4
  br end
no:
  store %po, i32 -99 align 4
  br end
end:
  ret
}}"
            );
            // 20 work-items: sub-groups of 8, 8 and 4.
            let input: Vec<i32> = (0..20).map(|i| (i * 7919) % 401 + 1).collect();
            let memory = done(&text, line(1, 20), vec![ints(&input), ints(&[0; 20])]);
            let got = as_ints(&memory.buffers[1]);
            for (i, &got) in got.iter().enumerate() {
                let here = |i: usize| i < 20 && (!divergent || i % 3 != 1);
                let start = i / W * W;
                let values = std::array::from_fn(|l| here(start + l).then(|| input[start + l]));
                let wanted = match (here(i), op.contains("SubgroupSize")) {
                    (false, _) => -99,
                    (_, true) if start == 16 => 4,
                    (_, true) => 8,
                    _ => expected(&values, i % W),
                };
                assert_eq!(got, wanted, "item {i}, divergent {divergent}: {op}");
            }
        }
    }
}

/// Groups of every size about whole vectors of values: each of their values counts once.
#[test]
fn work_group_reductions_take_every_value_once() {
    /// The result for the values of a group.
    type Expected = fn(&[i32]) -> i32;
    let cases: [(&str, Expected); 6] = [
        ("%r: i32 = group.reduce.iadd Workgroup %v", |v| {
            v.iter().sum()
        }),
        ("%r: i32 = group.reduce.smin Workgroup %v", |v| {
            v.iter().copied().min().unwrap_or(0)
        }),
        ("%r: i32 = group.reduce.umax Workgroup %v", |v| {
            v.iter().map(|&v| v as u32).max().unwrap_or(0) as i32
        }),
        ("%r: i32 = group.reduce.xor Workgroup %v", |v| {
            v.iter().fold(0, |a, b| a ^ b)
        }),
        (
            "%f: f32 = to.stof %v\n  %t: f32 = group.reduce.fadd Workgroup %f\n  %r: i32 = to.ftos %t",
            |v| v.iter().sum(),
        ),
        (
            "%f: f32 = to.stof %v\n  %t: f32 = group.reduce.fmax Workgroup %f\n  %r: i32 = to.ftos %t",
            |v| v.iter().copied().max().unwrap_or(0),
        ),
    ];
    for (op, expected) in cases {
        let text = format!(
            "
kernel @k(%in: ptr<global>, %out: ptr<global>) {{
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %pi: ptr<global> = offset %in [%g * 4 + 0]
  %po: ptr<global> = offset %out [%g * 4 + 0]
  %v: i32 = load %pi align 4
  {op}
  store %po, %r align 4
  ret
}}"
        );
        for size in [1, 2, 15, 16, 17, 31, 32, 33, 48, 100] {
            // Sums stay exact in single precision.
            let input: Vec<i32> = (0..size * 2).map(|i| (i * 7919) % 4001 - 2000).collect();
            let out = vec![0; input.len()];
            let memory = done(&text, line(2, size as u32), vec![ints(&input), ints(&out)]);
            let wanted: Vec<i32> = input
                .chunks(size as usize)
                .flat_map(|group| vec![expected(group); group.len()])
                .collect();
            assert_eq!(as_ints(&memory.buffers[1]), wanted, "{size}: {op}");
        }
    }
}

/// Lanes leave a loop in different iterations and reconverge after it.
#[test]
fn lanes_reconverge_after_a_divergent_loop() {
    let text = "
kernel @k(%out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %lane: i32 = wi.SubgroupLocalInvocationId 0
  br head
head:
  %i: i32 = phi b0: i32 0, body: %i1
  %seen: i32 = phi b0: i32 0, body: %seen1
  %more: bool = cmp.ule %i, %lane
  br_if %more, body, end
body:
  %here: i32 = group.reduce.iadd Subgroup i32 1
  %seen1: i32 = iadd %seen, %here
  %i1: i32 = iadd %i, i32 1
  br head
end:
  %all: i32 = group.reduce.iadd Subgroup i32 1
  %hundreds: i32 = imul %all, i32 1000
  %r: i32 = iadd %hundreds, %seen
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %r align 4
  ret
}";
    let memory = done(text, line(1, 8), vec![ints(&[0; 8])]);
    let expected: Vec<i32> = (0..8)
        .map(|lane| 8000 + (0..=lane).map(|i| 8 - i).sum::<i32>())
        .collect();
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}

/// A lane that left the inner loop waits for the others of the same outer iteration, although the next iteration starts
/// with an operation at a smaller position.
#[test]
fn lanes_stay_in_the_same_iteration() {
    let text = "
kernel @k(%out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %lane: i32 = wi.SubgroupLocalInvocationId 0
  br head
head:
  %i: i32 = phi b0: i32 0, latch: %i1
  %seen: i32 = phi b0: i32 0, latch: %seen2
  %more: bool = cmp.ult %i, i32 3
  br_if %more, body, end
body:
  %all: i32 = group.reduce.iadd Subgroup i32 1
  %seen1: i32 = iadd %seen, %all
  br inner
inner:
  %j: i32 = phi body: i32 0, step: %j1
  %seen2: i32 = phi body: %seen1, step: %seen3
  %on: bool = cmp.ult %j, %lane
  br_if %on, step, latch
step:
  %here: i32 = group.reduce.iadd Subgroup i32 100
  %seen3: i32 = iadd %seen2, %here
  %j1: i32 = iadd %j, i32 1
  br inner
latch:
  %i1: i32 = iadd %i, i32 1
  br head
end:
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %seen align 4
  ret
}";
    let memory = done(text, line(1, 8), vec![ints(&[0; 8])]);
    let expected: Vec<i32> = (0..8)
        .map(|lane| 3 * (8 + (0..lane).map(|j| 100 * (7 - j)).sum::<i32>()))
        .collect();
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}

#[test]
fn block_reads_are_by_column() {
    let text = "
kernel @k(%in: ptr<global>, %out: ptr<global>) {
b0:
  %s: i32 = wi.SubgroupId 0
  %s64: i64 = to.zext %s
  %pi: ptr<global> = offset %in [%s64 * 64 + 0]
  %po: ptr<global> = offset %out [%s64 * 64 + 0]
  %v: <2 x i32> = group.block_read Subgroup %pi
  %w: <2 x i32> = shuffle %v, %v [1, 0]
  group.block_write Subgroup %po, %w
  ret
}";
    let input: Vec<i32> = (0..32).collect();
    let memory = done(text, line(1, 16), vec![ints(&input), ints(&[0; 32])]);
    let expected: Vec<i32> = (0..32).map(|i| i ^ 8).collect();
    assert_eq!(as_ints(&memory.buffers[1]), expected);
}

/// Work-group operations before they are expanded.
#[test]
fn work_group_operations() {
    type Expected = fn(i32) -> i32;
    let cases: &[(&str, Expected)] = &[
        ("group.reduce.iadd Workgroup %g32", |_| 66),
        ("group.inclusive_scan.iadd Workgroup %g32", |g| {
            g * (g + 1) / 2
        }),
        ("group.exclusive_scan.smax Workgroup %g32", |g| {
            if g == 0 { i32::MIN } else { g - 1 }
        }),
        ("group.broadcast Workgroup %g32, i64 9", |_| 9),
    ];
    for (op, expected) in cases {
        let text = format!(
            "
kernel @k(%out: ptr<global>) {{
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %g32: i32 = to.trunc %g
  %r: i32 = {op}
  %po: ptr<global> = offset %out [%g * 4 + 0]
  store %po, %r align 4
  ret
}}"
        );
        let memory = done(&text, line(1, 12), vec![ints(&[0; 12])]);
        let wanted: Vec<i32> = (0..12).map(expected).collect();
        assert_eq!(as_ints(&memory.buffers[0]), wanted, "{op}");
    }
    let apart = "
kernel @k(%out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %low: bool = cmp.ult %g, i64 3
  br_if %low, a, b
a:
  %x: i32 = group.reduce.iadd Workgroup i32 1
  ret
b:
  barrier Workgroup
  ret
}";
    let stopped = run(apart, line(1, 4), vec![ints(&[0])]);
    assert_eq!(stopped.err().map(|s| s.fault), Some(Fault::Diverged));
}

/// The back edges of the inner and of the outer loop both lead to the barrier: the phis after it have the values of the
/// edge taken.
#[test]
fn values_of_nested_loops_survive_their_barrier() {
    let text = "
kernel @k(%out: ptr<global>) {
b0:
  %l: i64 = wi.LocalInvocationId 0
  br outer
outer:
  %k: i32 = phi b0: i32 2, next: %k2
  %s0: i32 = phi b0: i32 0, next: %s2
  %j0: i32 = lshr %k, i32 1
  br inner
inner:
  %j: i32 = phi outer: %j0, body: %j2
  %s: i32 = phi outer: %s0, body: %s2
  barrier Workgroup
  br body
body:
  %a: i32 = imul %k, i32 100
  %b: i32 = iadd %a, %j
  %s2: i32 = iadd %s, %b
  %j2: i32 = lshr %j, i32 1
  %stop: bool = cmp.ieq %j2, i32 0
  br_if %stop, next, inner
next:
  %k2: i32 = shl %k, i32 1
  %more: bool = cmp.ult %k, i32 8
  br_if %more, outer, end
end:
  %l32: i32 = to.trunc %l
  %r: i32 = iadd %s2, %l32
  %p: ptr<global> = offset %out [%l * 4 + 0]
  store %p, %r align 4
  ret
}";
    let memory = done(text, line(1, 37), vec![ints(&[0; 37])]);
    let expected: Vec<i32> = (0..37).map(|l| 201 + 803 + 2407 + l).collect();
    assert_eq!(as_ints(&memory.buffers[0]), expected);
}
