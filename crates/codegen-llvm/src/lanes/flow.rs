//! Control flow of a region: uniform branches stay branches, divergent branches are linearised under masks.
//!
//! At a divergent branch each target gets a mask of the lanes that go there. From there on the blocks run in a fixed
//! order (`Loops::order`: topological, each loop contiguous). A block runs if any lane waits for it, until all lanes
//! are in one block again:
//!
//! ```text
//! if (x[i] < 0) f(); else g(); h();
//!
//! test     mask of `then` = x[i] < 0, mask of `else` = the other lanes
//! then     f() under its mask, if any lane is in it
//! else     g() under its mask, if any lane is in it
//! join     h() for all lanes
//! ```
//!
//! A divergent loop iterates until every lane has exited: behind its last block comes its header again if any lane
//! waits for another iteration.
//!
//! For each node the compiler knows which other nodes lanes may wait for (`pending`), so the path from block to block
//! is a chain of few tests. Values that cross blocks live in entry allocas here; LLVM promotes them to registers.

use std::collections::{BTreeSet, HashMap};

use kernel_ir::{BlockId, BuildError, Op, Terminator, ValueDef, ValueId};
use vectorise::{Representation, Representations};

use super::region::Lanes;
use super::rep::{Rep, Stored};
use crate::llvm::{Bb, IntPred, Opcode, Val};

/// A node in the order of the region's blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Block(BlockId),
    /// Behind the last block of a loop: its next iteration.
    NextIteration(u32),
}

/// The state of emitting a region's control flow.
pub(super) struct Chain {
    nodes: Vec<Node>,
    node_of: HashMap<BlockId, usize>,
    next_iteration_of: HashMap<u32, usize>,
    /// Nodes that lanes may wait for while a node's block runs.
    pending: Vec<BTreeSet<usize>>,
    bodies: HashMap<BlockId, Bb>,
    /// The block that tests whether any lane waits for the node, where a test is needed.
    heads: Vec<Option<Bb>>,
    /// Entry alloca of the mask of lanes that wait for the node.
    waiting: Vec<Option<Val>>,
    phis: HashMap<ValueId, Stored>,
    /// Values used behind the divergent loop that makes them: the loop, and variables with each lane's last iteration.
    left: HashMap<ValueId, (u32, Stored)>,
}

impl Lanes<'_, '_, '_> {
    /// Emits a switch that all lanes take one way. Returns each target once, with the block that leads to it.
    pub(super) fn switch_ways(
        &self,
        selector: Val,
        default: BlockId,
        cases: &[(u64, BlockId)],
    ) -> Vec<(BlockId, Bb)> {
        let ir = self.low.ir;
        let ty = ir.type_of(selector);
        let mut targets: Vec<BlockId> = vec![default];
        targets.extend(cases.iter().map(|c| c.1));
        targets.sort_unstable();
        targets.dedup();
        let ways: Vec<(BlockId, Bb)> = targets
            .into_iter()
            .map(|to| (to, self.low.new_block(c"way")))
            .collect();
        let way: HashMap<BlockId, Bb> = ways.iter().copied().collect();
        let list: Vec<(Val, Bb)> = cases
            .iter()
            .map(|&(case, to)| (ir.int_const(ty, case), way[&to]))
            .collect();
        ir.switch(selector, way[&default], &list);
        ways
    }

    fn is_masked(&self, block: BlockId) -> bool {
        self.shapes.is_some_and(|s| s.is_masked(block))
    }
    fn is_divergent(&self, block: BlockId) -> bool {
        self.shapes.is_some_and(|s| s.is_divergent(block))
    }
    fn is_divergent_loop(&self, l: u32) -> bool {
        self.shapes.is_some_and(|s| s.is_divergent_loop(l))
    }

    /// The mask of the lanes that exist; `None` if all do.
    fn existing_mask(&self) -> Option<Val> {
        self.existing.map(|existing| existing.mask)
    }

    fn mask_type(&self) -> crate::llvm::Ty {
        self.low.ir.vector(self.low.ir.i1, self.width)
    }

    /// Bool: whether any lane of `mask` is on.
    pub(super) fn any(&self, mask: Val) -> Val {
        let ir = self.low.ir;
        let bits = ir.cast(Opcode::LLVMBitCast, mask, ir.int(self.width));
        ir.icmp(
            IntPred::LLVMIntNE,
            bits,
            ir.int_const(ir.int(self.width), 0),
        )
    }

    /// Bool: whether every lane of `mask` is on.
    pub(super) fn all(&self, mask: Val) -> Val {
        let ir = self.low.ir;
        let bits = ir.cast(Opcode::LLVMBitCast, mask, ir.int(self.width));
        let ones = ir.int_const(ir.int(self.width), u64::MAX);
        ir.icmp(IntPred::LLVMIntEQ, bits, ones)
    }

    /// The lowest lane of `mask`, 64 bits. At least one lane must be on.
    pub(super) fn first_lane(&self, mask: Val) -> Val {
        let ir = self.low.ir;
        let bits = ir.cast(Opcode::LLVMBitCast, mask, ir.int(self.width));
        let bits = ir.zext_or_trunc(bits, ir.i64);
        ir.intrinsic("llvm.cttz", &[ir.i64], &[bits, ir.int_const(ir.i1, 1)])
    }

    /// Whether `v`, the result of a loop, waits in memory behind it.
    fn is_in_memory(&self, v: ValueId) -> bool {
        self.held.as_ref().is_some_and(|held| held.is_in_memory(v))
    }

    /// Whether other blocks use `v`.
    pub(super) fn crosses(&self, v: ValueId) -> bool {
        self.held.as_ref().is_some_and(|held| held.crosses(v))
    }

    /// Emits the region where the builder stands.
    pub(super) fn flow(&mut self) -> Result<(), BuildError> {
        self.find_made_again();
        let mut chain = self.chain();
        let ir = self.low.ir;
        for waiting in chain.waiting.iter().flatten() {
            ir.store(ir.null(self.mask_type()), *waiting, 0);
        }
        // No chunk reads a value that the chunk before it left: poison keeps LLVM from carrying such values along the
        // row.
        let mut slots: Vec<(&ValueId, &Stored)> = chain.phis.iter().collect();
        slots.sort_unstable_by_key(|slot| *slot.0);
        for (_, slot) in slots {
            self.forget_scalar(slot);
        }
        ir.br(chain.bodies[&BlockId(0)]);
        for at in 0..chain.nodes.len() {
            if let Some(head) = chain.heads[at] {
                self.test(&mut chain, at, head);
            }
            match chain.nodes[at] {
                Node::Block(block) => self.block(&mut chain, at, block)?,
                Node::NextIteration(_) => {}
            }
        }
        Ok(())
    }

    fn chain(&mut self) -> Chain {
        let region = self.region;
        let order = region.loops.order();
        let mut last: HashMap<u32, usize> = HashMap::new();
        for (at, &block) in order.iter().enumerate() {
            let mut l = region.loops.innermost(block);
            while let Some(i) = l {
                last.insert(i, at);
                l = region.loops.loops[i as usize].parent;
            }
        }
        let mut nodes = Vec::new();
        for (at, &block) in order.iter().enumerate() {
            nodes.push(Node::Block(block));
            let mut l = region.loops.innermost(block);
            while let Some(i) = l {
                if last[&i] == at {
                    nodes.push(Node::NextIteration(i));
                }
                l = region.loops.loops[i as usize].parent;
            }
        }
        let (mut node_of, mut next_iteration_of) = (HashMap::new(), HashMap::new());
        for (at, node) in nodes.iter().enumerate() {
            match *node {
                Node::Block(block) => node_of.insert(block, at),
                Node::NextIteration(l) => next_iteration_of.insert(l, at),
            };
        }
        let bodies = order
            .iter()
            .map(|&block| (block, self.low.new_block(c"block")))
            .collect();
        let count = nodes.len();
        let mut chain = Chain {
            nodes,
            node_of,
            next_iteration_of,
            pending: vec![BTreeSet::new(); count],
            bodies,
            heads: vec![None; count],
            waiting: vec![None; count],
            phis: HashMap::new(),
            left: HashMap::new(),
        };
        self.find_pending(&mut chain);
        if self.shapes.is_some() {
            let masks = self.mask_type();
            for at in 0..count {
                chain.waiting[at] = Some(self.low.entry_alloca(masks, 0));
            }
        }
        for &block in order {
            for &inst in &self.f.blocks[block.index()].insts {
                let inst = &self.f.insts[inst.index()];
                let (Op::Phi(_), Some(result)) = (&inst.op, inst.result) else {
                    break;
                };
                self.find_uniform_step(result);
                let slot = self.phi_variable(result, self.planned(result));
                chain.phis.insert(result, slot);
            }
        }
        let behind = self.held.as_ref().map(Representations::behind_loops);
        for (v, l) in behind.unwrap_or_default() {
            kernel_ir::mark!(LoopResultsInMemory, self.is_in_memory(v));
            let slot = self.phi_variable(v, Representation::Vector);
            chain.left.insert(v, (l, slot));
        }
        chain
    }

    /// The node that an edge leads to.
    fn target(&self, chain: &Chain, from: BlockId, to: BlockId) -> usize {
        let mut l = self.region.loops.innermost(from);
        while let Some(i) = l {
            let this = &self.region.loops.loops[i as usize];
            if this.header == to {
                return chain.next_iteration_of[&i];
            }
            l = this.parent;
        }
        chain.node_of[&to]
    }

    pub(super) fn is_direct(&self, block: BlockId) -> bool {
        !self.is_masked(block) && !self.is_divergent(block)
    }

    fn find_pending(&self, chain: &mut Chain) {
        if self.shapes.is_none() {
            return;
        }
        let region = self.region;
        loop {
            let mut changed = false;
            for at in 0..chain.nodes.len() {
                let arrive = |chain: &mut Chain, set: BTreeSet<usize>| {
                    let mut set = set;
                    let Some(first) = set.pop_first() else {
                        return false;
                    };
                    let before = chain.pending[first].len();
                    chain.pending[first].extend(set);
                    chain.pending[first].len() != before
                };
                match chain.nodes[at] {
                    Node::Block(block) => {
                        let base = chain.pending[at].clone();
                        // If no lane waits for the node, the next pending one follows.
                        changed |= arrive(chain, base.clone());
                        if self.is_direct(block) {
                            continue;
                        }
                        let base = if self.is_masked(block) {
                            base
                        } else {
                            BTreeSet::new()
                        };
                        let targets: Vec<usize> = region
                            .cfg
                            .successors(block)
                            .iter()
                            .map(|&to| self.target(chain, block, to))
                            .collect();
                        if self.is_divergent(block) {
                            let mut all = base;
                            all.extend(targets);
                            changed |= arrive(chain, all);
                        } else if targets.is_empty() {
                            changed |= arrive(chain, base);
                        } else {
                            for target in targets {
                                let mut all = base.clone();
                                all.insert(target);
                                changed |= arrive(chain, all);
                            }
                        }
                    }
                    Node::NextIteration(l) => {
                        let base = chain.pending[at].clone();
                        let header = chain.node_of[&region.loops.loops[l as usize].header];
                        let before = chain.pending[header].len();
                        chain.pending[header].extend(base.iter().copied());
                        changed |= chain.pending[header].len() != before;
                        changed |= arrive(chain, base);
                    }
                }
            }
            if !changed {
                break;
            }
        }
    }

    /// Jumps to the first node of `set`, with a test unless lanes are known to wait there.
    fn go(&mut self, chain: &mut Chain, set: &BTreeSet<usize>, known: bool, from: BlockId) {
        let ir = self.low.ir;
        let Some(&first) = set.first() else {
            // No lane is left.
            ir.store(ir.i32c(u32::MAX), self.next, 4);
            ir.br(self.done);
            return;
        };
        let certain = match chain.nodes[first] {
            Node::Block(block) => {
                known
                    || (set.len() == 1
                        && !self.is_masked(block)
                        && self.region.post.dominates(block, from))
            }
            Node::NextIteration(_) => known,
        };
        if certain {
            self.enter(chain, first);
            return;
        }
        let head = *chain.heads[first].get_or_insert_with(|| self.low.new_block(c"test"));
        ir.br(head);
    }

    /// Jumps to a node that lanes wait for.
    fn enter(&mut self, chain: &Chain, at: usize) {
        let ir = self.low.ir;
        match chain.nodes[at] {
            Node::Block(block) => ir.br(chain.bodies[&block]),
            Node::NextIteration(l) => {
                let header = self.region.loops.loops[l as usize].header;
                self.forget_iteration(l);
                kernel_ir::mark!(LoopDivergent, self.is_divergent_loop(l));
                if let (Some(from), Some(to)) =
                    (chain.waiting[at], chain.waiting[chain.node_of[&header]])
                {
                    let ty = self.mask_type();
                    ir.store(ir.load(ty, from, 0), to, 0);
                    ir.store(ir.null(ty), from, 0);
                }
                ir.br(chain.bodies[&header]);
            }
        }
    }

    /// Emits the test at a node: enters it if any lane waits for it, else goes on to the next pending node.
    fn test(&mut self, chain: &mut Chain, at: usize, head: Bb) {
        let ir = self.low.ir;
        let Some(waiting) = chain.waiting[at] else {
            return;
        };
        ir.at_end(head);
        let ty = self.mask_type();
        let some = self.any(ir.load(ty, waiting, 0));
        let [yes, no] = [c"some", c"none"].map(|name| self.low.new_block(name));
        ir.cond_br(some, yes, no);
        ir.at_end(yes);
        self.enter(chain, at);
        ir.at_end(no);
        ir.store(ir.null(ty), waiting, 0);
        let rest = chain.pending[at].clone();
        let from = match chain.nodes[at] {
            Node::Block(block) => block,
            Node::NextIteration(l) => self.region.loops.loops[l as usize].header,
        };
        self.go(chain, &rest, false, from);
    }

    fn block(&mut self, chain: &mut Chain, at: usize, block: BlockId) -> Result<(), BuildError> {
        let ir = self.low.ir;
        ir.at_end(chain.bodies[&block]);
        self.block_values.clear();
        self.mask = self.existing_mask();
        self.block_at_hand = block;
        if let Some(waiting) = chain.waiting[at] {
            let ty = self.mask_type();
            if self.is_masked(block) {
                self.mask = Some(ir.load(ty, waiting, 0));
            }
            ir.store(ir.null(ty), waiting, 0);
        }
        self.plan_stores();
        let insts = &self.f.blocks[block.index()].insts;
        let mut made = Vec::new();
        let mut phis = 0;
        for &inst in insts {
            let inst = &self.f.insts[inst.index()];
            let (Op::Phi(_), Some(result)) = (&inst.op, inst.result) else {
                break;
            };
            phis += 1;
            let uniform_step = self.uniform_step(result);
            made.push((
                result,
                uniform_step.unwrap_or_else(|| self.take(&chain.phis[&result])),
            ));
        }
        for (result, rep) in made {
            self.define(result, rep);
        }
        for (at, &inst) in insts.iter().enumerate().skip(phis) {
            // The result of a divergent loop is read from another variable behind the loop than inside of it.
            self.see_left(chain, inst);
            self.instruction(at)?;
        }
        self.end(chain, at, block)
    }

    /// At the start of a loop's next iteration: poisons the values of the last one, so that LLVM does not carry them
    /// along.
    fn forget_iteration(&mut self, l: u32) {
        let region = self.region;
        for &member in &region.loops.loops[l as usize].blocks {
            for &inst in &self.f.blocks[member.index()].insts {
                if let Some(result) = self.f.insts[inst.index()].result {
                    self.forget(result);
                }
            }
        }
    }

    /// Makes the operands of `inst` that come out of a divergent loop the values behind that loop.
    fn see_left(&mut self, chain: &Chain, inst: kernel_ir::InstId) {
        if chain.left.is_empty() {
            return;
        }
        let mut operands = Vec::new();
        let inst = &self.f.insts[inst.index()];
        inst.op.operands(|v| operands.push(v));
        for v in operands {
            self.see(chain, v);
        }
    }

    fn see(&mut self, chain: &Chain, v: ValueId) {
        if let Some((l, slot)) = chain.left.get(&v)
            && !self.region.loops.contains(*l, self.block_at_hand)
        {
            let rep = match self.is_in_memory(v) {
                true => self.fetch_spilled(slot),
                false => self.take(slot),
            };
            self.block_values.insert(v, rep);
        }
    }

    fn end(&mut self, chain: &mut Chain, at: usize, block: BlockId) -> Result<(), BuildError> {
        let ir = self.low.ir;
        let function = self.f;
        let term = &function.blocks[block.index()].term;
        if let Some(v) = term.operand() {
            self.see(chain, v);
        }
        let direct = self.is_direct(block);
        let base = if self.is_masked(block) {
            chain.pending[at].clone()
        } else {
            BTreeSet::new()
        };
        if let Some(exit) = self.region.exits.get(&block) {
            match exit {
                Some(stop) => {
                    let live = self.low.cut.segments.stops[*stop].live.clone();
                    for v in live {
                        self.see(chain, v);
                        self.keep(v);
                    }
                    let next = self.form.region_of_stop[*stop] as u32;
                    ir.store(ir.i32c(next), self.next, 4);
                    ir.br(self.done);
                }
                None => self.go(chain, &base, false, block),
            }
            return Ok(());
        }
        let is_versioned = self.existing.is_none() && self.region.assumed_uniform.contains(&block);
        let one_way = |lanes: &mut Self, chain: &mut Chain, to: BlockId| {
            lanes.edge(chain, block, to, lanes.mask, true);
            if direct {
                lanes.jump(chain, block, to);
            } else {
                let target = lanes.target(chain, block, to);
                let mut set = base.clone();
                let first = set.first().is_none_or(|&f| target <= f);
                set.insert(target);
                lanes.go(chain, &set, first, block);
            }
        };
        match term {
            Terminator::Br(to) => one_way(self, chain, *to),
            Terminator::CondBr {
                then, otherwise, ..
            } if then == otherwise => one_way(self, chain, *then),
            Terminator::CondBr {
                cond,
                then,
                otherwise,
            } if !self.is_divergent(block) => {
                kernel_ir::mark!(BranchVersioned, is_versioned && self.width > 1);
                kernel_ir::mark!(BranchUniform, !is_versioned && self.width > 1);
                let cond = if is_versioned && self.width > 1 {
                    self.rematerialise_first(*cond, &mut HashMap::new())
                } else {
                    self.scalar(*cond)
                };
                let ways = [then, otherwise].map(|_| self.low.new_block(c"way"));
                ir.cond_br(cond, ways[0], ways[1]);
                for (way, to) in ways.into_iter().zip([then, otherwise]) {
                    ir.at_end(way);
                    let near = self.block_values.clone();
                    one_way(self, chain, *to);
                    self.block_values = near;
                }
            }
            Terminator::CondBr {
                cond,
                then,
                otherwise,
            } => self.linearised_branch(chain, block, base, *cond, [*then, *otherwise]),
            Terminator::Switch {
                value,
                default,
                cases,
            } if !self.is_divergent(block) => {
                kernel_ir::mark!(SwitchUniform, self.width > 1);
                let value = self.scalar(*value);
                for (to, way) in self.switch_ways(value, *default, cases) {
                    ir.at_end(way);
                    let near = self.block_values.clone();
                    one_way(self, chain, to);
                    self.block_values = near;
                }
            }
            Terminator::Switch {
                value,
                default,
                cases,
            } => self.linearised_switch(chain, block, base, *value, *default, cases),
            // Blocks that end work-items are exits, handled above.
            Terminator::Ret(_) | Terminator::Unreachable => {
                ir.br(self.done);
            }
        }
        Ok(())
    }

    /// A branch on which lanes part: both sides run, under masks. `base`: targets that lanes already wait for.
    fn linearised_branch(
        &mut self,
        chain: &mut Chain,
        block: BlockId,
        base: BTreeSet<usize>,
        cond: ValueId,
        [then, otherwise]: [BlockId; 2],
    ) {
        let ir = self.low.ir;
        kernel_ir::mark!(BranchLinearised);
        let cond = self.vectors(cond)[0];
        let not = ir.not(cond);
        // A select, as the condition of inactive lanes may be poison.
        let off = ir.null(ir.type_of(cond));
        let (goes, stays) = match self.mask {
            Some(mask) => (ir.select(mask, cond, off), ir.select(mask, not, off)),
            None => (cond, not),
        };
        self.edge(chain, block, then, Some(goes), false);
        self.edge(chain, block, otherwise, Some(stays), false);
        let mut set = base;
        set.insert(self.target(chain, block, then));
        set.insert(self.target(chain, block, otherwise));
        self.go(chain, &set, false, block);
    }

    /// The same of a switch.
    fn linearised_switch(
        &mut self,
        chain: &mut Chain,
        block: BlockId,
        base: BTreeSet<usize>,
        value: ValueId,
        default: BlockId,
        cases: &[(u64, BlockId)],
    ) {
        let ir = self.low.ir;
        kernel_ir::mark!(SwitchLinearised);
        let value = self.vectors(value)[0];
        let ty = ir.type_of(value);
        let masks = ir.vector(ir.i1, self.width);
        let mut left = self.mask.unwrap_or_else(|| ir.int_const(masks, 1));
        let whole = left;
        let mut found: Vec<(BlockId, Val)> = Vec::new();
        for &(case, to) in cases {
            let here = ir.icmp(IntPred::LLVMIntEQ, value, ir.int_const(ty, case));
            let here = ir.select(whole, here, ir.null(masks));
            left = ir.and(left, ir.not(here));
            match found.iter_mut().find(|f| f.0 == to) {
                Some(known) => known.1 = ir.or(known.1, here),
                None => found.push((to, here)),
            }
        }
        match found.iter_mut().find(|f| f.0 == default) {
            Some(known) => known.1 = ir.or(known.1, left),
            None => found.push((default, left)),
        }
        let mut set = base;
        for (to, mask) in found {
            self.edge(chain, block, to, Some(mask), false);
            set.insert(self.target(chain, block, to));
        }
        self.go(chain, &set, false, block);
    }

    /// Jumps from a block that all lanes run, along a branch that all lanes take.
    fn jump(&mut self, chain: &Chain, from: BlockId, to: BlockId) {
        let ir = self.low.ir;
        let _ = from;
        let at = chain.node_of[&to];
        if let Some(waiting) = chain.waiting[at]
            && self.is_masked(to)
        {
            let all = self.existing_mask();
            let all = all.unwrap_or_else(|| ir.int_const(self.mask_type(), 1));
            ir.store(all, waiting, 0);
        }
        ir.br(chain.bodies[&to]);
    }

    /// Emits the edge between two blocks for the lanes of `mask` (all if `None`): phis, results of the loops that they
    /// leave, and the mask in which they wait. `whole`: all active lanes take the edge.
    fn edge(
        &mut self,
        chain: &mut Chain,
        from: BlockId,
        to: BlockId,
        mask: Option<Val>,
        whole: bool,
    ) {
        let ir = self.low.ir;
        let region = self.region;
        let function = self.f;
        // The loops that the edge leaves.
        let mut leaves_divergent = false;
        let mut l = region.loops.innermost(from);
        let mut left_loops = Vec::new();
        while let Some(i) = l {
            if region.loops.contains(i, to) {
                break;
            }
            left_loops.push(i);
            leaves_divergent |= self.is_divergent_loop(i);
            l = region.loops.loops[i as usize].parent;
        }
        let mut changes: Vec<(Stored, Rep, bool)> = Vec::new();
        for inst in &function.blocks[to.index()].insts {
            let inst = &function.insts[inst.index()];
            let (Op::Phi(incoming), Some(result)) = (&inst.op, inst.result) else {
                break;
            };
            let Some(&(_, v)) = incoming.iter().find(|i| i.0 == from) else {
                continue;
            };
            self.see(chain, v);
            if self.advance_uniform_step(from, result, v) {
                continue;
            }
            let stored = chain.phis[&result].clone();
            let rep = self.as_stored(v, &stored);
            let back = self.is_back(from, to);
            // The first edge taken in an iteration writes all lanes; later edges blend over it.
            let first = !leaves_divergent && self.is_first(chain, from, to, back);
            let only = incoming.len() == 1 && !leaves_divergent;
            changes.push((stored, rep, !(first || only)));
        }
        for (stored, rep, over) in changes {
            let scalar = rep.first.is_some();
            let mask = match (scalar, whole) {
                // Uniform: no blend needed.
                (true, true) => None,
                (true, false) => mask,
                (false, _) if over => mask,
                (false, _) => None,
            };
            self.blend(&stored, &rep, mask);
        }
        if !left_loops.is_empty() && !chain.left.is_empty() {
            let mut leaving: Vec<(ValueId, Stored)> = chain
                .left
                .iter()
                .filter(|(_, (l, _))| left_loops.contains(l))
                .map(|(&v, (_, slot))| (v, slot.clone()))
                .collect();
            leaving.sort_unstable_by_key(|l| l.0);
            for (v, slot) in leaving {
                if !self.is_made(v) {
                    continue;
                }
                let rep = Rep::vector(self.vectors(v));
                match self.is_in_memory(v) {
                    true => self.store_spilled(&slot, &rep),
                    false => self.blend(&slot, &rep, mask),
                }
            }
        }
        let at = self.target(chain, from, to);
        if !self.is_direct(from)
            && let Some(waiting) = chain.waiting[at]
        {
            let ty = self.mask_type();
            let more = mask.unwrap_or_else(|| ir.int_const(ty, 1));
            let old = ir.load(ty, waiting, 0);
            ir.store(ir.or(old, more), waiting, 0);
        }
    }

    /// Whether the value's instruction was emitted already.
    fn is_made(&self, v: ValueId) -> bool {
        match self.f.values[v.index()].def {
            ValueDef::Inst(_) => self.stored.contains_key(&v) || self.block_values.contains_key(&v),
            _ => true,
        }
    }

    fn is_back(&self, from: BlockId, to: BlockId) -> bool {
        let mut l = self.region.loops.innermost(from);
        while let Some(i) = l {
            let this = &self.region.loops.loops[i as usize];
            if this.header == to {
                return true;
            }
            l = this.parent;
        }
        false
    }

    /// Whether `from` is the first in order of the blocks that lead to `to` (by back edges if `back`, else by forward
    /// edges).
    fn is_first(&self, chain: &Chain, from: BlockId, to: BlockId, back: bool) -> bool {
        let own = chain.node_of[&from];
        self.region
            .cfg
            .predecessors(to)
            .iter()
            .all(|&other| self.is_back(other, to) != back || chain.node_of[&other] >= own)
    }
}
