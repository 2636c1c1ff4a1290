//! The call graph of a module, its strongly connected components, and its functions in bottom-up order.

use super::facts::addressed_functions;
use crate::ir::{Function, FunctionId, Module, Op};

/// The strongly connected components of a graph.
pub(super) struct Components {
    /// Component of each node; components are numbered callees first.
    pub(super) of: Vec<u32>,
    /// Nodes, callees first but for cycles.
    pub(super) order: Vec<usize>,
    /// Nodes that reach themselves.
    pub(super) cyclic: Vec<bool>,
}

impl Components {
    /// Of the graph in which node `i` has an edge to each of `edges[i]`. Tarjan's algorithm with an explicit stack:
    /// hostile modules nest deeper than a thread's stack.
    pub(super) fn new(edges: &[Vec<usize>]) -> Self {
        const NONE: u32 = u32::MAX;
        let count = edges.len();
        let mut components = Self {
            of: vec![NONE; count],
            order: Vec::with_capacity(count),
            cyclic: vec![false; count],
        };
        let (mut seen, mut lowest) = (vec![NONE; count], vec![NONE; count]);
        let (mut open, mut number, mut made) = (Vec::new(), 0, 0);
        for root in 0..count {
            if seen[root] != NONE {
                continue;
            }
            let mut walk = vec![(root, 0)];
            while let Some(&mut (at, ref mut next)) = walk.last_mut() {
                if *next == 0 && seen[at] == NONE {
                    (seen[at], lowest[at]) = (number, number);
                    number += 1;
                    open.push(at);
                }
                if let Some(&to) = edges[at].get(*next) {
                    *next += 1;
                    if to == at {
                        components.cyclic[at] = true;
                    }
                    if seen[to] == NONE {
                        walk.push((to, 0));
                    } else if components.of[to] == NONE {
                        lowest[at] = lowest[at].min(seen[to]);
                    }
                    continue;
                }
                walk.pop();
                if let Some(&(above, _)) = walk.last() {
                    lowest[above] = lowest[above].min(lowest[at]);
                }
                if lowest[at] == seen[at] {
                    let start = open.iter().rposition(|&n| n == at).unwrap_or(0);
                    let several = open.len() - start > 1;
                    for node in open.drain(start..) {
                        components.of[node] = made;
                        components.cyclic[node] |= several;
                        components.order.push(node);
                    }
                    made += 1;
                }
            }
        }
        components
    }
}

/// The functions that a kernel or a function pointer may reach, callees first; and for each function of the module
/// whether it is recursive.
pub(super) fn bottom_up(module: &Module) -> (Vec<FunctionId>, Vec<bool>) {
    let edges: Vec<Vec<usize>> = module
        .functions
        .iter()
        .map(|f| calls(f).iter().map(|c| c.0.index()).collect())
        .collect();
    let components = Components::new(&edges);
    let mut reached = vec![false; edges.len()];
    let mut pending: Vec<usize> = module.kernels.iter().map(|k| k.function.index()).collect();
    pending.extend(addressed_functions(module).iter().map(|f| f.index()));
    while let Some(at) = pending.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            pending.extend(&edges[at]);
        }
    }
    // Imports have no blocks: the module is linked before it runs.
    let order = components
        .order
        .into_iter()
        .filter(|&at| reached[at] && !module.functions[at].blocks.is_empty())
        .map(|at| FunctionId(at as u32))
        .collect();
    (order, components.cyclic)
}

/// The direct calls of `f`: callee, and the word of the call.
pub(super) fn calls(f: &Function) -> Vec<(FunctionId, u32)> {
    let insts = f.blocks.iter().flat_map(|b| &b.insts);
    insts
        .filter_map(|i| {
            let inst = &f.insts[i.index()];
            match inst.op {
                Op::Call(callee, _) => Some((callee, inst.word)),
                _ => None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Components;

    #[test]
    fn components_are_numbered_callees_first_and_know_cycles() {
        // 0 -> 1 -> 2 -> 1, 0 -> 3, 3 -> 3, 4 alone.
        let components = Components::new(&[vec![1, 3], vec![2], vec![1], vec![3], vec![]]);
        assert_eq!(components.cyclic, [false, true, true, true, false]);
        assert_eq!(components.of[1], components.of[2]);
        assert!(components.of[0] > components.of[1] && components.of[0] > components.of[3]);
        let place = |n: usize| components.order.iter().position(|&m| m == n);
        assert!(
            place(0) > place(2) && place(0) > place(3),
            "{:?}",
            components.order
        );
        assert_eq!(components.order.len(), 5);
    }
}
