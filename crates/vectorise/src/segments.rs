//! Where a kernel's work-items wait for each other, and the values that must be saved across the wait.
//!
//! A kernel is cut into *segments* at its *stops*: work-group barriers and, where lanes run one after another, sub-group
//! barriers, sub-group operations, and the latches of loops in which a lane may skip a sub-group operation (without a
//! stop there it would meet the other lanes one iteration ahead). A kernel without stops is one segment for each block.
//!
//! ```text
//! b0:                           segment 0: b0 up to the barrier, ends at stop 0
//!   %i = wi.LocalInvocationId 0
//!   %v = load %p
//!   barrier Workgroup
//!   store %q, %v                segment 1: the rest of b0, where stop 0 resumes
//!   ret                         %v is saved across stop 0; %i would be rematerialised
//! ```

use std::ops::Range;

use kernel_ir::passes::cfg::{Cfg, Dominators, Loops};
use kernel_ir::{
    BinaryOp, BlockId, Constant, Function, GroupOp, GroupScope, InstId, Op, Scope, ValueDef,
    ValueId,
};

/// A piece of a block, entered at its start only.
pub struct Segment {
    /// Index of the block.
    pub block: usize,
    /// Indices into the block's instructions.
    pub insts: Range<usize>,
    /// The stop that ends it; `None`: the block's terminator does.
    pub stop: Option<usize>,
}

/// The work-items that wait for each other at a stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopKind {
    /// Those of the work-group.
    Workgroup,
    /// Those of the sub-group.
    Subgroup,
}

/// How the lanes of a sub-group run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneOrder {
    /// One after another: they wait for each other at sub-group operations.
    Sequential,
    /// In lock step, as lanes of vectors: no lane runs ahead.
    Lockstep,
}

/// A point at which work-items wait.
pub struct Stop {
    /// The work-items that meet.
    pub kind: StopKind,
    /// The sub-group operation that is executed for all lanes that meet; `None` for barriers and latches.
    pub group: Option<InstId>,
    /// Number in a work-item's record: sub-group stops first, in the order in which lanes meet again.
    pub number: u32,
    /// The segment at which a work-item resumes.
    pub resume: usize,
    /// Values that it needs there, in order.
    pub live: Vec<ValueId>,
}

/// A kernel, cut at its stops.
pub struct Segments {
    /// In emission order: each value's definition before its uses, phis aside.
    pub list: Vec<Segment>,
    /// Where work-items wait.
    pub stops: Vec<Stop>,
    /// Sub-group stops are 1..=this.
    pub sub_group_stops: u32,
    /// First segment of a block; `usize::MAX` for blocks that cannot be reached.
    pub first_segment: Vec<usize>,
    /// Last segment of a block.
    pub last_segment: Vec<usize>,
    /// Values cheap enough to compute again wherever they are used.
    pub rematerialised: Vec<bool>,
    /// Values that must be saved across a stop.
    pub saved: Vec<ValueId>,
}

/// The kind of stop that an instruction is.
pub fn stop_of(op: &Op) -> Option<StopKind> {
    match op {
        Op::Barrier(Scope::Subgroup | Scope::Invocation) => Some(StopKind::Subgroup),
        Op::Barrier(_) => Some(StopKind::Workgroup),
        // Block accesses are addresses computed from the lane's number: they wait for no other lane.
        Op::Group(GroupOp::BlockRead | GroupOp::BlockWrite, ..) => None,
        Op::Group(_, GroupScope::Subgroup, _) => Some(StopKind::Subgroup),
        _ => None,
    }
}

impl Segments {
    /// Cuts `function`. Values up to `rematerialise` cheap operations away from ids, arguments and constants are computed
    /// again behind a stop instead of saved; none when `None`.
    #[must_use]
    pub fn new(
        function: &Function,
        constants: &kernel_ir::Constants,
        rematerialise: Option<u8>,
        lanes: LaneOrder,
    ) -> Self {
        let cfg = Cfg::new(function);
        let loops = Loops::new(&cfg);
        let meet_again = match lanes {
            LaneOrder::Sequential => skipping_latches(function, &cfg, &loops),
            LaneOrder::Lockstep => vec![false; function.blocks.len()],
        };
        let mut segments = Self {
            list: Vec::new(),
            stops: Vec::new(),
            sub_group_stops: 0,
            first_segment: vec![usize::MAX; function.blocks.len()],
            last_segment: vec![usize::MAX; function.blocks.len()],
            rematerialised: Vec::new(),
            saved: Vec::new(),
        };
        for &block in loops.order() {
            let block = block.index();
            segments.cut(function, block, meet_again[block], lanes);
        }
        let mut number = 0;
        for kind in [StopKind::Subgroup, StopKind::Workgroup] {
            for stop in segments.stops.iter_mut().filter(|s| s.kind == kind) {
                number += 1;
                stop.number = number;
            }
            if kind == StopKind::Subgroup {
                segments.sub_group_stops = number;
            }
        }
        segments.rematerialised = vec![false; function.values.len()];
        if !segments.stops.is_empty() {
            if let Some(depth) = rematerialise {
                segments.find_rematerialised(function, constants, depth);
            }
            segments.find_live(function);
        }
        segments
    }

    fn cut(&mut self, function: &Function, block: usize, meet_again: bool, lanes: LaneOrder) {
        let insts = &function.blocks[block].insts;
        self.first_segment[block] = self.list.len();
        let mut start = 0;
        for (at, &inst) in insts.iter().enumerate() {
            let op = &function.insts[inst.index()].op;
            if let Some(kind) = stop_of(op)
                && !(kind == StopKind::Subgroup && lanes == LaneOrder::Lockstep)
            {
                let group = matches!(op, Op::Group(..)).then_some(inst);
                self.end_at_stop(block, start..at, kind, group);
                start = at + 1;
            }
        }
        if meet_again {
            self.end_at_stop(block, start..insts.len(), StopKind::Subgroup, None);
            start = insts.len();
        }
        self.last_segment[block] = self.list.len();
        self.list.push(Segment {
            block,
            insts: start..insts.len(),
            stop: None,
        });
    }

    fn end_at_stop(
        &mut self,
        block: usize,
        insts: Range<usize>,
        kind: StopKind,
        group: Option<InstId>,
    ) {
        self.list.push(Segment {
            block,
            insts,
            stop: Some(self.stops.len()),
        });
        self.stops.push(Stop {
            kind,
            group,
            number: 0,
            resume: self.list.len(),
            live: Vec::new(),
        });
    }

    fn find_rematerialised(
        &mut self,
        function: &Function,
        constants: &kernel_ir::Constants,
        most: u8,
    ) {
        let mut depth = vec![u8::MAX; function.values.len()];
        for (at, value) in function.values.iter().enumerate() {
            let cheap = match value.def {
                ValueDef::Const(id) => !matches!(constants.get(id), Constant::FunctionAddress(_)),
                ValueDef::Param(_) | ValueDef::Global(_) => true,
                ValueDef::Inst(_) => false,
            };
            if cheap {
                depth[at] = 0;
            }
        }
        for segment in &self.list {
            let block = &function.blocks[segment.block];
            for inst in &block.insts[segment.insts.clone()] {
                let inst = &function.insts[inst.index()];
                let Some(result) = inst.result else { continue };
                let cheap = match &inst.op {
                    Op::WorkItem(..) | Op::Alloca { .. } => true,
                    Op::Convert(convert, ..) => {
                        use kernel_ir::ConvertOp::{AddressSpace, Bitcast, SExt, Trunc, ZExt};
                        matches!(convert, AddressSpace | Bitcast | SExt | Trunc | ZExt)
                    }
                    Op::Binary(op, ..) => {
                        use BinaryOp::{AShr, And, IAdd, IMul, ISub, LShr, Or, Shl, Xor};
                        matches!(op, And | AShr | IAdd | IMul | ISub | LShr | Or | Shl | Xor)
                    }
                    Op::Compare(..) | Op::PtrOffset { .. } | Op::Copy(_) => true,
                    _ => false,
                };
                if !cheap {
                    continue;
                }
                let mut deepest = 0;
                inst.op
                    .operands(|v| deepest = deepest.max(depth[v.index()]));
                let own = match inst.op {
                    Op::WorkItem(..) | Op::Alloca { .. } => 0,
                    _ => deepest.saturating_add(1),
                };
                if own <= most {
                    depth[result.index()] = own;
                    self.rematerialised[result.index()] = true;
                }
            }
        }
    }

    /// Whether `v` must be saved if a segment behind a stop uses it.
    fn is_saved(&self, function: &Function, v: ValueId) -> bool {
        matches!(function.values[v.index()].def, ValueDef::Inst(_))
            && !self.rematerialised[v.index()]
    }

    fn find_live(&mut self, function: &Function) {
        let words = function.values.len().div_ceil(64);
        let count = self.list.len();
        let mut used = vec![vec![0u64; words]; count];
        let mut made = vec![vec![0u64; words]; count];
        // Inputs of phis are read at the end of the block they come from.
        let mut read_at_end = vec![Vec::new(); function.blocks.len()];
        for (at, segment) in self.list.iter().enumerate() {
            let block = &function.blocks[segment.block];
            if let Some(before) = at.checked_sub(1)
                && let Some(stop) = self.list[before].stop
                && let Some(group) = self.stops[stop].group
                && let Some(result) = function.insts[group.index()].result
            {
                set(&mut made[at], result);
            }
            for &inst in &block.insts[segment.insts.clone()] {
                let inst = &function.insts[inst.index()];
                if let Op::Phi(incoming) = &inst.op {
                    for &(from, v) in incoming {
                        read_at_end[from.index()].push(v);
                    }
                } else {
                    inst.op.operands(|v| {
                        if self.is_saved(function, v) && !get(&made[at], v) {
                            set(&mut used[at], v);
                        }
                    });
                }
                if let Some(result) = inst.result {
                    set(&mut made[at], result);
                }
            }
            let mut use_at_end = |v: ValueId| {
                if self.is_saved(function, v) && !get(&made[at], v) {
                    set(&mut used[at], v);
                }
            };
            match segment.stop {
                Some(stop) => {
                    if let Some(group) = self.stops[stop].group {
                        function.insts[group.index()].op.operands(use_at_end);
                    }
                }
                None => {
                    if let Some(v) = block.term.operand() {
                        use_at_end(v);
                    }
                }
            }
        }
        for (at, segment) in self.list.iter().enumerate() {
            if segment.stop.is_none() {
                for &v in &read_at_end[segment.block] {
                    if self.is_saved(function, v) && !get(&made[at], v) {
                        set(&mut used[at], v);
                    }
                }
            }
        }
        let next: Vec<Vec<usize>> = self
            .list
            .iter()
            .map(|segment| match segment.stop {
                Some(stop) => vec![self.stops[stop].resume],
                None => {
                    let mut list = Vec::new();
                    function.blocks[segment.block]
                        .term
                        .successors(|to| list.push(self.first_segment[to.index()]));
                    list
                }
            })
            .collect();
        let mut live_in = used;
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..count).rev() {
                for word in 0..words {
                    let out = next[at].iter().fold(0, |all, &to| all | live_in[to][word]);
                    let new = live_in[at][word] | (out & !made[at][word]);
                    if new != live_in[at][word] {
                        live_in[at][word] = new;
                        changed = true;
                    }
                }
            }
        }
        let mut saved = vec![false; function.values.len()];
        for stop in &mut self.stops {
            for v in 0..function.values.len() as u32 {
                if get(&live_in[stop.resume], ValueId(v)) {
                    saved[v as usize] = true;
                    stop.live.push(ValueId(v));
                }
            }
            // The operation's own result is computed at the stop.
        }
        self.saved = (0..function.values.len() as u32)
            .map(ValueId)
            .filter(|v| saved[v.index()])
            .collect();
    }
}

fn set(bits: &mut [u64], v: ValueId) {
    bits[v.index() / 64] |= 1 << (v.index() % 64);
}
fn get(bits: &[u64], v: ValueId) -> bool {
    bits[v.index() / 64] >> (v.index() % 64) & 1 != 0
}

/// Latches of loops in which a lane may skip a sub-group stop, by block.
fn skipping_latches(function: &Function, cfg: &Cfg, loops: &Loops) -> Vec<bool> {
    let mut skipping = vec![false; function.blocks.len()];
    let waits = |block: &BlockId| {
        function.blocks[block.index()]
            .insts
            .iter()
            .any(|inst| stop_of(&function.insts[inst.index()].op) == Some(StopKind::Subgroup))
    };
    let dominators = Dominators::new(cfg);
    for (l, this) in (0u32..).zip(&loops.loops) {
        // Only the last stop counts: a lane that waits at an earlier one would go on before lanes that still wait at a
        // later one, one iteration behind.
        let Some(&last) = this.blocks.iter().rfind(|block| waits(block)) else {
            continue;
        };
        let once = loops.innermost(last) == Some(l);
        for &end in cfg.predecessors(this.header) {
            if dominators.dominates(this.header, end) {
                // Every path to the latch passes a stop that each iteration meets once: lanes cannot drift apart.
                skipping[end.index()] |= !(once && dominators.dominates(last, end));
            }
        }
    }
    skipping
}
