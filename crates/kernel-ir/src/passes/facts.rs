//! Facts about a whole kernel for a back end, and the layout of its local memory.
//!
//! The layout of local memory (`memory` in [`crate::abi`]) is decided here alone, so that the
//! interpreter and generated code agree.

use crate::ir::{
    Builtin, ConvertOp, Function, FunctionId, GlobalId, GroupOp, GroupScope, Kernel, Module, Op,
    Scope, ValueDef, ValueId,
};
use crate::types::{AddressSpace, ConstId, Constant, Type, TypeId};

/// Facts of one kernel and of all functions that it may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelFacts {
    /// Work-group barriers.
    pub uses_barrier: bool,
    /// Operations among the lanes of a sub-group, sub-group barriers included.
    pub uses_sub_group_ops: bool,
    /// Uses builtins whose value depends on the sub-group size.
    pub uses_sub_group_builtins: bool,
    /// Work-group operations that are not expanded yet.
    pub uses_work_group_ops: bool,
    /// Fixed work-group variables and their byte offsets from `memory`, by id.
    pub local_fixed: Vec<(GlobalId, u64)>,
    /// Bytes of all fixed work-group variables, a multiple of 64 ([`crate::abi::KernelInfo::local_size`]).
    pub local_size: u64,
    /// Work-group variables with one copy for each work-item, and the bytes of one copy, by id.
    /// [`Self::scratch_offset`] says where they lie.
    pub local_per_item: Vec<(GlobalId, u64)>,
    /// Bytes per work-item that suffice for these copies at any group size
    /// ([`crate::abi::KernelInfo::local_per_item`]).
    pub local_per_item_size: u64,
    /// Bytes of all allocas of the kernel's own body, with alignment, without by-value arguments.
    pub private_size: u64,
    /// Any value or access of 64-bit float type.
    pub has_f64: bool,
    /// Any value of 16-bit float type.
    pub has_f16: bool,
    /// Atomics.
    pub uses_atomics: bool,
    /// Printf.
    pub uses_printf: bool,
    /// Calls through pointers.
    pub uses_indirect_calls: bool,
    /// Calls that are not inlined.
    pub uses_calls: bool,
    /// Uses program-scope variables that others may read or write: all but unexported constants.
    pub shares_variables: bool,
    /// A work-group may wait for another one or observe their order: it has atomic or volatile reads of shared memory,
    /// fences, printf, reads of a clock, or calls of unknown functions.
    pub observes_groups: bool,
    /// A work-item may observe its work-group: group id, local id or group size.
    pub observes_own_group: bool,
}

impl KernelFacts {
    /// Whether several work-groups could run as one without a difference: work-items use global ids only, and share
    /// neither local memory nor barriers.
    #[must_use]
    pub fn groups_may_join(&self) -> bool {
        let shares = self.uses_barrier
            || self.uses_sub_group_ops
            || self.uses_sub_group_builtins
            || self.uses_work_group_ops
            || self.local_size > 0
            || self.local_per_item_size > 0;
        !(shares || self.observes_groups || self.observes_own_group)
    }
    /// Byte offset from `memory` of a fixed work-group variable.
    #[must_use]
    pub fn fixed_offset(&self, global: GlobalId) -> Option<u64> {
        let at = self.local_fixed.binary_search_by_key(&global, |e| e.0);
        at.ok().map(|i| self.local_fixed[i].1)
    }
    /// Byte offset, from [`crate::abi::Launch::scratch_offset`], of a per-work-item variable's block
    /// in a group of `items` work-items: blocks lie one after another, each padded to 16 bytes.
    #[must_use]
    pub fn scratch_offset(&self, global: GlobalId, items: u64) -> Option<u64> {
        let mut at = 0u64;
        for &(other, size) in &self.local_per_item {
            if other == global {
                return Some(at);
            }
            let block = size.saturating_mul(items).checked_next_multiple_of(16);
            at = at.saturating_add(block.unwrap_or(u64::MAX));
        }
        None
    }
}

/// The facts of `kernel`. Works before and after [`super::prepare`].
#[must_use]
pub fn facts(module: &Module, kernel: &Kernel) -> KernelFacts {
    let mut scan = Scan {
        module,
        facts: KernelFacts::default(),
        seen_functions: vec![false; module.functions.len()],
        seen_globals: vec![false; module.globals.len()],
        seen_constants: vec![false; module.constants.len()],
        seen_types: vec![false; module.types.len()],
        pending: Vec::new(),
        addressed: Vec::new(),
    };
    scan.reach(kernel.function);
    while let Some(id) = scan.pending.pop() {
        let function = &module.functions[id.index()];
        scan.function(function, id == kernel.function);
        if scan.pending.is_empty() && scan.facts.uses_indirect_calls {
            // Every function whose address is taken may be the target.
            if scan.addressed.is_empty() {
                scan.addressed = addressed_functions(module);
            }
            for id in scan.addressed.clone() {
                scan.reach(id);
            }
        }
    }
    scan.lay_out();
    scan.facts
}

/// Functions whose address a constant of the module takes, and exported functions.
#[must_use]
pub fn addressed_functions(module: &Module) -> Vec<FunctionId> {
    let constants = (0..module.constants.len()).map(|i| ConstId(i as u32));
    let mut all: Vec<FunctionId> = constants
        .filter_map(|c| match module.constants.get(c) {
            Constant::FunctionAddress(id) => Some(*id),
            _ => None,
        })
        .collect();
    let functions = module.functions.iter().enumerate();
    all.extend(
        functions
            .filter(|(_, f)| f.exported)
            .map(|(i, _)| FunctionId(i as u32)),
    );
    all.sort_unstable();
    all.dedup();
    all
}

/// Values that are operands of a branch or of an operation for which `counts` is true.
fn used(function: &Function, counts: impl Fn(&Op) -> bool) -> Vec<bool> {
    let mut used = vec![false; function.values.len()];
    let mut note = |v: ValueId| used[v.index()] = true;
    for id in function.blocks.iter().flat_map(|b| &b.insts) {
        let op = &function.insts[id.index()].op;
        if counts(op) {
            op.operands(&mut note);
        }
    }
    for block in &function.blocks {
        block.term.operand().into_iter().for_each(&mut note);
    }
    used
}

/// The builtins that `function` uses, by dimension. Uses as operands of a trap do not count.
pub fn ids(function: &Function) -> Vec<(Builtin, u8)> {
    let used = used(function, |op| !matches!(op, Op::Trap(_)));
    let insts = function.blocks.iter().flat_map(|b| &b.insts);
    let insts = insts.map(|id| &function.insts[id.index()]);
    let asked = insts.filter_map(|inst| match (&inst.op, inst.result) {
        (Op::WorkItem(builtin, dimension), Some(id)) if used[id.index()] => {
            Some((*builtin, *dimension))
        }
        _ => None,
    });
    asked.collect()
}

/// Whether `function` itself observes other work-groups. An atomic without a used result does not.
fn observes_groups(module: &Module, function: &Function) -> bool {
    let used = used(function, |_| true);
    let is_shared = |ptr: ValueId| {
        let Type::Ptr(space) = module.types.get(function.ty(ptr)) else {
            return true;
        };
        !matches!(
            space,
            AddressSpace::Private | AddressSpace::Local | AddressSpace::Constant
        )
    };
    let mut insts = function.blocks.iter().flat_map(|b| &b.insts);
    insts.any(|id| {
        let inst = &function.insts[id.index()];
        let is_used = || inst.result.is_some_and(|result| used[result.index()]);
        match inst.op {
            Op::Atomic { ptr, .. } => is_shared(ptr) && is_used(),
            Op::Clock => is_used(),
            Op::Load { ptr, volatile, .. } => volatile && is_shared(ptr),
            Op::Fence(scope, _) => matches!(scope, Scope::CrossDevice | Scope::Device),
            Op::Printf(..) | Op::CallIndirect(..) => true,
            _ => false,
        }
    })
}

/// Whether the body may write through by-value parameter `param`. It does not if every use, at any offset, is a load or
/// the source of a copy.
#[must_use]
pub fn may_be_written(function: &Function, param: usize) -> bool {
    let mut derived = vec![false; function.values.len()];
    for (value, def) in derived.iter_mut().zip(&function.values) {
        *value = def.def == ValueDef::Param(param as u32);
    }
    // In this order definitions come before uses, except uses by phis; phis count as writes.
    for block in function.reverse_post_order() {
        for inst in &function.blocks[block.index()].insts {
            let inst = &function.insts[inst.index()];
            let mut uses = false;
            inst.op.operands(|v| uses |= derived[v.index()]);
            if !uses {
                continue;
            }
            match &inst.op {
                Op::Load { .. } => {}
                Op::CopyMemory { dst, src, size, .. }
                    if derived[src.index()] && !derived[dst.index()] && !derived[size.index()] => {}
                Op::PtrOffset { ptr, index, .. }
                    if derived[ptr.index()] && index.is_none_or(|(i, _)| !derived[i.index()]) =>
                {
                    if let Some(result) = inst.result {
                        derived[result.index()] = true;
                    }
                }
                Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, ..) => {
                    if let Some(result) = inst.result {
                        derived[result.index()] = true;
                    }
                }
                _ => return true,
            }
        }
    }
    false
}

struct Scan<'m> {
    module: &'m Module,
    facts: KernelFacts,
    seen_functions: Vec<bool>,
    seen_globals: Vec<bool>,
    seen_constants: Vec<bool>,
    seen_types: Vec<bool>,
    pending: Vec<FunctionId>,
    addressed: Vec<FunctionId>,
}

impl Scan<'_> {
    fn reach(&mut self, id: FunctionId) {
        if let Some(seen) = self.seen_functions.get_mut(id.index())
            && !std::mem::replace(seen, true)
        {
            self.pending.push(id);
        }
    }

    fn function(&mut self, function: &Function, is_kernel: bool) {
        self.facts.observes_groups |= observes_groups(self.module, function);
        for &id in function.blocks.iter().flat_map(|b| &b.insts) {
            let inst = &function.insts[id.index()];
            self.op(&inst.op);
            if let (Op::Alloca { size, align }, true) = (&inst.op, is_kernel) {
                let size = size.checked_next_multiple_of((*align).max(1));
                let size = size.unwrap_or(u64::MAX);
                self.facts.private_size = self.facts.private_size.saturating_add(size);
            }
            if let Some(result) = inst.result {
                self.ty(function.ty(result));
            }
            inst.op.operands(|v| self.value(function, v));
        }
        for block in &function.blocks {
            if let Some(v) = block.term.operand() {
                self.value(function, v);
            }
        }
    }

    fn op(&mut self, op: &Op) {
        let facts = &mut self.facts;
        match op {
            Op::Barrier(Scope::Subgroup) | Op::Group(_, GroupScope::Subgroup, _) => {
                // A block read or write is one plain access for each lane.
                facts.uses_sub_group_ops = true;
            }
            Op::Barrier(_) => facts.uses_barrier = true,
            Op::Group(op, GroupScope::Workgroup, _) => {
                facts.uses_work_group_ops = true;
                facts.uses_barrier |= !matches!(op, GroupOp::Elect);
            }
            Op::WorkItem(
                Builtin::SubgroupSize
                | Builtin::SubgroupMaxSize
                | Builtin::SubgroupId
                | Builtin::NumSubgroups
                | Builtin::NumEnqueuedSubgroups
                | Builtin::SubgroupLocalInvocationId,
                _,
            ) => facts.uses_sub_group_builtins = true,
            Op::WorkItem(
                Builtin::WorkgroupId
                | Builtin::NumWorkgroups
                | Builtin::LocalInvocationId
                | Builtin::WorkgroupSize
                | Builtin::EnqueuedWorkgroupSize
                | Builtin::LocalInvocationIndex,
                _,
            ) => facts.observes_own_group = true,
            Op::Atomic { .. } => facts.uses_atomics = true,
            Op::Printf(..) => facts.uses_printf = true,
            Op::CallIndirect(..) => facts.uses_indirect_calls = true,
            Op::Call(callee, _) => {
                facts.uses_calls = true;
                self.reach(*callee);
            }
            _ => {}
        }
    }

    fn value(&mut self, function: &Function, id: crate::ir::ValueId) {
        let value = &function.values[id.index()];
        self.ty(value.ty);
        match value.def {
            ValueDef::Global(id) => self.global(id),
            ValueDef::Const(id) => self.constant(id),
            ValueDef::Param(_) | ValueDef::Inst(_) => {}
        }
    }

    fn global(&mut self, id: GlobalId) {
        if let Some(seen) = self.seen_globals.get_mut(id.index())
            && !std::mem::replace(seen, true)
            && let Some(init) = self.module.globals[id.index()].init
        {
            self.constant(init);
        }
    }

    fn constant(&mut self, id: ConstId) {
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut self.seen_constants[id.0 as usize], true) {
                continue;
            }
            match self.module.constants.get(id) {
                Constant::Composite(parts) => stack.extend(parts),
                Constant::GlobalAddress(global, _) => {
                    if let Some(seen) = self.seen_globals.get_mut(global.index())
                        && !std::mem::replace(seen, true)
                    {
                        stack.extend(self.module.globals[global.index()].init);
                    }
                }
                _ => {}
            }
        }
    }

    fn ty(&mut self, id: TypeId) {
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut self.seen_types[id.0 as usize], true) {
                continue;
            }
            match self.module.types.get(id) {
                Type::Float(64) => self.facts.has_f64 = true,
                Type::Float(16) => self.facts.has_f16 = true,
                Type::Vector(element, _) | Type::Array(element, _) => stack.push(*element),
                Type::Struct { fields, .. } => stack.extend(fields),
                _ => {}
            }
        }
    }

    fn lay_out(&mut self) {
        let mut at = 0u64;
        for (i, global) in self.module.globals.iter().enumerate() {
            if !self.seen_globals[i] {
                continue;
            }
            if global.space != AddressSpace::Local {
                let own = global.space == AddressSpace::Constant && !global.exported;
                self.facts.shares_variables |= !own;
                continue;
            }
            let id = GlobalId(i as u32);
            if global.per_work_item {
                self.facts.local_per_item.push((id, global.size));
                // size * items, padded to 16, is never more than this times items.
                let room = global.size.checked_next_multiple_of(16).unwrap_or(u64::MAX);
                let sum = &mut self.facts.local_per_item_size;
                *sum = sum.saturating_add(room);
            } else {
                // `memory` is 64-byte aligned; a variable cannot ask for more.
                let align = global.align.clamp(1, 64).next_power_of_two();
                at = at.checked_next_multiple_of(align).unwrap_or(u64::MAX);
                self.facts.local_fixed.push((id, at));
                at = at.saturating_add(global.size);
            }
        }
        self.facts.local_size = at.checked_next_multiple_of(64).unwrap_or(u64::MAX);
    }
}
