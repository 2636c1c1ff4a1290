//! Dominators, post-dominators, loops, block order and kernel facts.

use kernel_ir::passes::cfg::{Cfg, Dominators, Loops, PostDominators};
use kernel_ir::{BlockId, Function, GlobalId, Terminator, ValueId, parse, passes};

/// A function whose block `i` jumps to the blocks of `edges[i]`.
fn graph(edges: &[&[u32]]) -> Function {
    let mut f = Function::default();
    for targets in edges {
        let block = f.add_block();
        let targets: Vec<BlockId> = targets.iter().map(|&t| BlockId(t)).collect();
        f.blocks[block.index()].term = match targets[..] {
            [] => Terminator::Ret(None),
            [to] => Terminator::Br(to),
            [then, otherwise] => Terminator::CondBr {
                cond: ValueId(0),
                then,
                otherwise,
            },
            _ => Terminator::Switch {
                value: ValueId(0),
                default: targets[0],
                cases: targets[1..].iter().map(|&t| (u64::from(t.0), t)).collect(),
            },
        };
    }
    f
}

/// Whether every path from `from` to a block in `to` goes through `via`, by search.
fn all_paths_cross(edges: &[Vec<u32>], from: u32, to: &dyn Fn(u32) -> bool, via: u32) -> bool {
    if from == via {
        return true;
    }
    let mut seen = vec![false; edges.len()];
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        if to(at) {
            return false;
        }
        for &next in &edges[at as usize] {
            if next != via && !std::mem::replace(&mut seen[next as usize], true) {
                stack.push(next);
            }
        }
    }
    true
}

/// Graphs of every shape, from a small generator with a fixed seed.
fn graphs() -> Vec<Vec<Vec<u32>>> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % n
    };
    (0..400)
        .map(|_| {
            let n = 2 + random(14);
            (0..n)
                .map(|_| {
                    let mut to: Vec<u32> =
                        (0..random(4)).map(|_| 1 + random(n - 1) as u32).collect();
                    to.sort_unstable();
                    to.dedup();
                    to
                })
                .collect()
        })
        .collect()
}

fn build(edges: &[Vec<u32>]) -> Function {
    graph(&edges.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn dominance_agrees_with_a_search_over_paths() {
    for edges in graphs() {
        let cfg = Cfg::new(&build(&edges));
        let dominators = Dominators::new(&cfg);
        let post = PostDominators::new(&cfg);
        let n = edges.len() as u32;
        for a in 0..n {
            for b in 0..n {
                let (x, y) = (BlockId(a), BlockId(b));
                if !cfg.is_reachable(x) || !cfg.is_reachable(y) {
                    assert!(!dominators.dominates(x, y));
                    continue;
                }
                let expected = a == b || all_paths_cross(&edges, 0, &|v| v == b, a);
                assert_eq!(
                    dominators.dominates(x, y),
                    expected,
                    "{a} dom {b}: {edges:?}"
                );
                let leaves = |v: u32| edges[v as usize].is_empty() && cfg.is_reachable(BlockId(v));
                // Only where an exit is reached from everywhere the answer is unique.
                let endless = (0..n).any(|v| {
                    cfg.is_reachable(BlockId(v)) && all_paths_cross(&edges, v, &leaves, u32::MAX)
                });
                if !endless {
                    let expected = a == b || all_paths_cross(&edges, b, &leaves, a);
                    assert_eq!(post.dominates(x, y), expected, "{a} pdom {b}: {edges:?}");
                }
            }
        }
    }
}

#[test]
fn loops_are_contiguous_and_the_order_is_topological_between_headers() {
    for edges in graphs() {
        let cfg = Cfg::new(&build(&edges));
        let loops = Loops::new(&cfg);
        let order = loops.order();
        assert_eq!(order.len(), cfg.reverse_post_order().len());
        let place = |b: BlockId| order.iter().position(|&o| o == b).unwrap();
        for l in &loops.loops {
            let first = place(l.header);
            assert_eq!(&order[first..first + l.blocks.len()], l.blocks, "{edges:?}");
        }
        for &block in order {
            for &to in cfg.successors(block) {
                // A step back goes to the header of a loop that holds both ends.
                if place(to) <= place(block) {
                    let fine = loops
                        .loops
                        .iter()
                        .any(|l| l.header == to && l.blocks.contains(&block));
                    assert!(fine, "{block:?} -> {to:?}: {edges:?}");
                }
            }
        }
    }
}

#[test]
fn nested_and_irreducible_loops() {
    // 1..5 outer, 2..3 inner; 6 and 7 enter each other from 5.
    let f = graph(&[&[1], &[2, 6], &[3], &[2, 4], &[1], &[], &[7], &[6, 5]]);
    let loops = Loops::new(&Cfg::new(&f));
    assert_eq!(loops.depth(BlockId(3)), 2);
    assert_eq!(loops.depth(BlockId(7)), 1);
    assert_eq!(loops.depth(BlockId(5)), 0);
    assert!(loops.loops.iter().all(|l| !l.irreducible));
    let f = graph(&[&[1, 2], &[2, 3], &[1], &[]]);
    let loops = Loops::new(&Cfg::new(&f));
    assert_eq!(loops.loops.len(), 1);
    assert!(loops.loops[0].irreducible);
}

#[test]
fn deep_graphs_do_not_exhaust_the_stack() {
    let n = 200_000u32;
    let edges: Vec<Vec<u32>> = (0..n)
        .map(|i| match i {
            _ if i + 1 == n => vec![],
            // Nested loops: back to the mirror block.
            _ if i > n / 2 => vec![n - i, i + 1],
            _ => vec![i + 1],
        })
        .collect();
    let cfg = Cfg::new(&build(&edges));
    assert!(Dominators::new(&cfg).dominates(BlockId(1), BlockId(n - 1)));
    assert!(PostDominators::new(&cfg).dominates(BlockId(n - 1), BlockId(0)));
    assert!(!Loops::new(&cfg).loops.is_empty());
}

#[test]
fn facts_lay_out_local_memory_in_order_of_the_variables() {
    let module = parse(
        "var @unused: [100 x i32] in local
         var @a: i8 in local
         var @s: i32 in local per_item
         var @b: f64 in local
         var @t: <3 x i64> in local per_item
         func @inner(%p: ptr<local>) -> void {
         b:
           barrier Workgroup
           store %p, i8 1 align 1
           ret
         }
         kernel @k() {
         b:
           %x: ptr<private> = alloca 12 align 8
           store @s, i32 1 align 4
           store @t, <3 x i64> null align 32
           store @b, f64 1.0 align 8
           call @inner(@a)
           %l: i32 = wi.SubgroupSize 0
           ret
         }",
    )
    .unwrap();
    let facts = passes::facts(&module, &module.kernels[0]);
    assert_eq!(facts.local_fixed, [(GlobalId(1), 0), (GlobalId(3), 8)]);
    assert_eq!(facts.local_size, 64);
    assert_eq!(facts.fixed_offset(GlobalId(3)), Some(8));
    assert_eq!(facts.fixed_offset(GlobalId(0)), None);
    assert_eq!(facts.scratch_offset(GlobalId(2), 5), Some(0));
    assert_eq!(facts.scratch_offset(GlobalId(4), 5), Some(32));
    assert_eq!(facts.local_per_item_size, 16 + 32);
    assert_eq!(facts.private_size, 16);
    assert!(facts.uses_barrier && facts.has_f64 && facts.uses_sub_group_builtins);
    assert!(!facts.uses_sub_group_ops && !facts.uses_atomics && facts.uses_calls);
}

#[test]
fn groups_may_start_in_any_order_unless_one_observes_another() {
    for (body, meets) in [
        ("store %p, i32 1 align 4", false),
        ("%v: i32 = load %p align 4\n store %p, %v align 4", false),
        ("%v: i32 = load %p align 4 volatile", true),
        // The result is unused.
        ("%v: i32 = atomic.iadd Device Relaxed %p, i32 1", false),
        ("atomic.store Device Release %p, i32 1", false),
        (
            "%v: i32 = atomic.iadd Device Relaxed %p, i32 1\n store %p, %v align 4",
            true,
        ),
        // Local memory is private to the group.
        (
            "%v: i32 = atomic.iadd Device Relaxed @s, i32 1\n store %p, %v align 4",
            false,
        ),
        ("%v: i32 = load @s align 4 volatile", false),
        ("fence Workgroup AcquireRelease\n barrier Workgroup", false),
        ("fence Device AcquireRelease", true),
        ("call @inner(%p)", true),
        ("%r: i32 = printf 0 ()", true),
    ] {
        let text = format!(
            "var @s: i32 in local
             func @inner(%p: ptr<global>) -> void {{
             b:
               %v: i32 = load %p align 4 volatile
               ret
             }}
             kernel @k(%p: ptr<global>) {{
             b:
               {body}
               ret
             }}"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{body}: {error}"));
        let facts = passes::facts(&module, &module.kernels[0]);
        assert_eq!(facts.observes_groups, meets, "{body}");
    }
}

#[test]
fn groups_may_join_unless_a_work_item_observes_its_group() {
    for (body, may) in [
        ("%i: i64 = wi.GlobalInvocationId 0", true),
        ("%i: i64 = wi.GlobalSize 0", true),
        ("%v: i32 = atomic.iadd Device Relaxed %p, i32 1", true),
        ("%i: i64 = wi.WorkgroupId 0", false),
        ("%i: i64 = wi.NumWorkgroups 0", false),
        ("%i: i64 = wi.LocalInvocationId 0", false),
        ("%i: i64 = wi.WorkgroupSize 0", false),
        ("%i: i64 = wi.EnqueuedWorkgroupSize 0", false),
        ("%i: i64 = wi.LocalInvocationIndex 0", false),
        ("%i: i32 = wi.SubgroupLocalInvocationId 0", false),
        ("store @s, i32 1 align 4", false),
        ("barrier Workgroup", false),
        ("%v: i32 = load %p align 4 volatile", false),
        ("call @inner()", false),
    ] {
        let text = format!(
            "var @s: i32 in local
             func @inner() -> void {{
             b:
               %i: i64 = wi.LocalInvocationId 0
               ret
             }}
             kernel @k(%p: ptr<global>) {{
             b:
               {body}
               ret
             }}"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{body}: {error}"));
        let facts = passes::facts(&module, &module.kernels[0]);
        assert_eq!(facts.groups_may_join(), may, "{body}");
    }
}
