//! CFG analysis: dominators, natural loops, and an order of blocks in which each loop is contiguous.
//!
//! ```text
//! b0: br b1    b1: br_if b4, b2    b2: br_if b4, b3    b3: br b1    b4: ret
//!
//! order: b0 b1 b2 b3 b4; one loop: header b1, latch b3, members b1 b2 b3
//! ```

use kernel_ir::Function;

/// The analysis of the blocks that can be reached.
pub(crate) struct Shape {
    /// Blocks in reverse post-order with every natural loop contiguous; the entry first.
    pub order: Vec<usize>,
    /// Position in `order`; `u32::MAX` for blocks that cannot be reached.
    position: Vec<u32>,
    /// Immediate dominator; the entry's is itself.
    idom: Vec<u32>,
    /// Natural loops: header, latches, whether a block belongs.
    pub loops: Vec<Loop>,
}

/// A natural loop; several back edges to one header make one loop.
pub(crate) struct Loop {
    pub header: usize,
    pub latches: Vec<usize>,
    pub members: Vec<usize>,
}

impl Shape {
    pub(crate) fn new(function: &Function) -> Self {
        let count = function.blocks.len();
        let successors: Vec<Vec<usize>> = function
            .blocks
            .iter()
            .map(|block| {
                let mut list = Vec::new();
                block.term.successors(|to| list.push(to.index()));
                list
            })
            .collect();
        let plain: Vec<usize> = function
            .reverse_post_order()
            .into_iter()
            .map(|b| b.index())
            .collect();
        let mut shape = Self {
            order: Vec::new(),
            position: vec![u32::MAX; count],
            idom: vec![u32::MAX; count],
            loops: Vec::new(),
        };
        shape.set_order(plain);
        let mut predecessors = vec![Vec::new(); count];
        for &block in &shape.order {
            for &to in &successors[block] {
                predecessors[to].push(block);
            }
        }
        shape.find_dominators(&predecessors);
        shape.find_loops(&successors, &predecessors);
        let order = shape.contiguous(&successors);
        shape.set_order(order);
        shape
    }

    fn set_order(&mut self, order: Vec<usize>) {
        for (at, &block) in order.iter().enumerate() {
            self.position[block] = at as u32;
        }
        self.order = order;
    }

    /// Whether `a` dominates `b`; both can be reached.
    pub(crate) fn dominates(&self, a: usize, b: usize) -> bool {
        let mut at = b;
        loop {
            if at == a {
                return true;
            }
            let up = self.idom[at] as usize;
            if up == at {
                return false;
            }
            at = up;
        }
    }

    // Cooper, Harvey and Kennedy's algorithm; fast enough for graphs of thousands of blocks.
    fn find_dominators(&mut self, predecessors: &[Vec<usize>]) {
        let Some(&entry) = self.order.first() else {
            return;
        };
        self.idom[entry] = entry as u32;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.order[1..] {
                let mut new = u32::MAX;
                for &from in &predecessors[block] {
                    if self.idom[from] == u32::MAX {
                        continue;
                    }
                    new = if new == u32::MAX {
                        from as u32
                    } else {
                        self.meet(new, from as u32)
                    };
                }
                if self.idom[block] != new {
                    self.idom[block] = new;
                    changed = true;
                }
            }
        }
    }

    fn meet(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            while self.position[a as usize] > self.position[b as usize] {
                a = self.idom[a as usize];
            }
            while self.position[b as usize] > self.position[a as usize] {
                b = self.idom[b as usize];
            }
        }
        a
    }

    fn find_loops(&mut self, successors: &[Vec<usize>], predecessors: &[Vec<usize>]) {
        for &header in &self.order {
            let latches: Vec<usize> = predecessors[header]
                .iter()
                .copied()
                .filter(|&from| self.dominates(header, from))
                .collect();
            if latches.is_empty() {
                continue;
            }
            let mut inside = vec![false; successors.len()];
            inside[header] = true;
            let mut members = vec![header];
            let mut work = latches.clone();
            while let Some(block) = work.pop() {
                if !std::mem::replace(&mut inside[block], true) {
                    members.push(block);
                    work.extend(&predecessors[block]);
                }
            }
            self.loops.push(Loop {
                header,
                latches,
                members,
            });
        }
    }

    // A loop's exits are visited first, when its header is entered: in reverse post-order they come behind the loop.
    fn contiguous(&self, successors: &[Vec<usize>]) -> Vec<usize> {
        let count = successors.len();
        let mut first = vec![Vec::new(); count];
        for l in &self.loops {
            let mut inside = vec![false; count];
            for &member in &l.members {
                inside[member] = true;
            }
            for &member in &l.members {
                first[l.header].extend(successors[member].iter().filter(|&&to| !inside[to]));
            }
        }
        let mut order = Vec::with_capacity(self.order.len());
        let mut seen = vec![false; count];
        let Some(&entry) = self.order.first() else {
            return order;
        };
        let mut stack = vec![(entry, 0usize)];
        seen[entry] = true;
        while let Some((block, next)) = stack.pop() {
            let early = first[block].len();
            let target = first[block]
                .get(next)
                .or_else(|| successors[block].get(next.wrapping_sub(early)));
            match target {
                Some(&to) => {
                    stack.push((block, next + 1));
                    if !std::mem::replace(&mut seen[to], true) {
                        stack.push((to, 0));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel_ir::{BlockId, Terminator, ValueId};

    fn graph(edges: &[&[u32]]) -> Function {
        let mut function = Function::default();
        for targets in edges {
            let block = function.add_block();
            function.blocks[block.index()].term = match **targets {
                [] => Terminator::Ret(None),
                [to] => Terminator::Br(BlockId(to)),
                [then, otherwise] => Terminator::CondBr {
                    cond: ValueId(0),
                    then: BlockId(then),
                    otherwise: BlockId(otherwise),
                },
                _ => unreachable!("graphs here branch at most twice"),
            };
        }
        function
    }

    #[test]
    fn loops_stay_together_whatever_the_order_of_targets() {
        // 0 -> 1 (header) -> exit 4 or body 2; 2 -> exit 4 or latch 3.
        for edges in [
            [&[1][..], &[4, 2], &[4, 3], &[1], &[]],
            [&[1][..], &[2, 4], &[3, 4], &[1], &[]],
        ] {
            let shape = Shape::new(&graph(&edges));
            assert_eq!(shape.order, [0, 1, 2, 3, 4]);
            assert_eq!(shape.loops.len(), 1);
            assert!(shape.dominates(1, 3) && !shape.dominates(2, 4));
        }
    }
}
