//! Direct calls replaced by the callee's body, and functions that nobody needs dropped.

use std::collections::HashMap;

use super::edit::{Edit, Replacements};
use super::targets::Parts;
use super::{error, unsupported};
use crate::build::{BuildError, BuildErrorKind};
use crate::ir::{
    BlockId, Function, FunctionId, Inst, InstId, Module, Op, Terminator, ValueDef, ValueId,
};
use crate::types::{ConstId, Constant, Constants, Type};

/// Instructions of all functions together after inlining.
const LIMIT: u64 = 2_000_000;

/// Functions that a kernel, or a function pointer, may reach: callees first. And which of all functions reach
/// themselves by direct calls.
pub(super) fn bottom_up(module: &Module) -> (Vec<FunctionId>, Vec<bool>) {
    let edges: Vec<Vec<usize>> = module
        .functions
        .iter()
        .map(|f| calls(f).iter().map(|c| c.0.index()).collect())
        .collect();
    let parts = Parts::new(&edges);
    let mut reached = vec![false; edges.len()];
    let mut pending: Vec<usize> = module.kernels.iter().map(|k| k.function.index()).collect();
    pending.extend(super::addressed_functions(module).iter().map(|f| f.index()));
    while let Some(at) = pending.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            pending.extend(&edges[at]);
        }
    }
    // Imports have no blocks: the module is linked before it runs.
    let order = parts
        .order
        .into_iter()
        .filter(|&at| reached[at] && !module.functions[at].blocks.is_empty())
        .map(|at| FunctionId(at as u32))
        .collect();
    (order, parts.cyclic)
}

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

/// Counts instructions against [`LIMIT`].
#[derive(Default)]
pub(super) struct Budget {
    used: u64,
}

impl Budget {
    fn take(&mut self, count: usize, word: u32) -> Result<(), BuildError> {
        self.used = self.used.saturating_add(count as u64);
        if self.used > LIMIT {
            return Err(unsupported(
                word,
                format!("more than {LIMIT} instructions after all calls are inlined"),
            ));
        }
        Ok(())
    }
}

/// Inlines every direct call in function `id`, whose callees have no calls left, but those of `recursive`
/// functions.
///
/// # Errors
/// The program becomes too large.
pub(super) fn inline_calls(
    module: &mut Module,
    id: FunctionId,
    recursive: &[bool],
    budget: &mut Budget,
) -> Result<(), BuildError> {
    let own = module.functions[id.index()]
        .blocks
        .iter()
        .map(|b| b.insts.len() + 1)
        .sum();
    budget.take(own, 0)?;
    let inlined = |call: &(FunctionId, u32)| !recursive[call.0.index()];
    if !calls(&module.functions[id.index()]).iter().any(inlined) {
        return Ok(());
    }
    crate::mark!(Inlining);
    let mut caller = std::mem::take(&mut module.functions[id.index()]);
    let result = Inliner {
        functions: &module.functions,
        recursive,
        edit: Edit::new(&mut module.types, &mut module.constants, &mut caller),
        globals: HashMap::new(),
        allocas: Vec::new(),
        budget,
    }
    .run();
    module.functions[id.index()] = caller;
    result
}

/// A copied body.
struct Copy {
    entry: BlockId,
    /// Where all its returns go; without a terminator yet.
    after: BlockId,
    /// What it returns; `None` when it returns nothing or never.
    value: Option<ValueId>,
}

struct Inliner<'m, 'b> {
    functions: &'m [Function],
    recursive: &'m [bool],
    edit: Edit<'m>,
    globals: HashMap<u32, ValueId>,
    allocas: Vec<InstId>,
    budget: &'b mut Budget,
}

impl Inliner<'_, '_> {
    fn run(mut self) -> Result<(), BuildError> {
        let original = self.edit.f.blocks.len();
        let mut replace = Replacements::new(self.edit.f);
        // The block in which each original block ends once it is split at its calls.
        let mut exit: Vec<BlockId> = (0..original as u32).map(BlockId).collect();
        for (b, end) in exit.iter_mut().enumerate() {
            let insts = std::mem::take(&mut self.edit.f.blocks[b].insts);
            let term = std::mem::replace(&mut self.edit.f.blocks[b].term, Terminator::Unreachable);
            let mut at = BlockId(b as u32);
            for inst in insts {
                let Inst { op, result, word } = &mut self.edit.f.insts[inst.index()];
                let (callee, args) = match op {
                    Op::Call(callee, args)
                        if !self.recursive[callee.index()]
                            && !self.functions[callee.index()].blocks.is_empty() =>
                    {
                        (*callee, std::mem::take(args))
                    }
                    _ => {
                        self.edit.f.blocks[at.index()].insts.push(inst);
                        continue;
                    }
                };
                let (result, word) = (*result, *word);
                let copy = self.body(callee, &args, word)?;
                if let Some(result) = result {
                    let ty = self.edit.f.ty(result);
                    let value = copy.value.unwrap_or_else(|| self.edit.undef(ty));
                    replace.set(result, value);
                }
                self.edit.f.blocks[at.index()].term = Terminator::Br(copy.entry);
                at = copy.after;
            }
            self.edit.f.blocks[at.index()].term = term;
            *end = at;
        }
        for block in self.edit.f.blocks.iter().take(original) {
            for &inst in &block.insts {
                if let Op::Phi(incoming) = &mut self.edit.f.insts[inst.index()].op {
                    for (from, _) in incoming {
                        *from = exit[from.index()];
                    }
                }
            }
        }
        let allocas = std::mem::take(&mut self.allocas);
        self.edit.f.blocks[0].insts.splice(0..0, allocas);
        replace.apply(self.edit.f);
        Ok(())
    }

    /// Copies the body of `callee`.
    fn body(
        &mut self,
        callee: FunctionId,
        args: &[ValueId],
        word: u32,
    ) -> Result<Copy, BuildError> {
        let callee = &self.functions[callee.index()];
        let count: usize = callee.blocks.iter().map(|b| b.insts.len() + 1).sum();
        self.budget.take(count, word)?;
        let first = self.edit.f.blocks.len() as u32;
        for _ in &callee.blocks {
            self.edit.f.add_block();
        }
        let after = self.edit.f.add_block();
        let mut map = vec![ValueId(u32::MAX); callee.values.len()];
        for (i, value) in callee.values.iter().enumerate() {
            map[i] = match value.def {
                ValueDef::Const(c) => self.edit.constant(c),
                ValueDef::Global(g) => {
                    let f = &mut *self.edit.f;
                    let ty = value.ty;
                    *self
                        .globals
                        .entry(g.0)
                        .or_insert_with(|| f.add_value(ty, ValueDef::Global(g)))
                }
                ValueDef::Param(n) => args.get(n as usize).copied().unwrap_or(ValueId(0)),
                ValueDef::Inst(_) => continue,
            };
        }
        // Results first: phis and back edges use them before they are copied.
        let base = self.edit.f.insts.len();
        for (i, &inst) in callee.blocks.iter().flat_map(|b| &b.insts).enumerate() {
            if let Some(result) = callee.insts[inst.index()].result {
                let ty = callee.ty(result);
                let id = InstId((base + i) as u32);
                map[result.index()] = self.edit.f.add_value(ty, ValueDef::Inst(id));
            }
        }
        let moved = |b: BlockId| BlockId(first + b.0);
        let mut returns: Vec<(BlockId, ValueId)> = Vec::new();
        for (b, block) in callee.blocks.iter().enumerate() {
            let here = moved(BlockId(b as u32));
            for &inst in &block.insts {
                let Inst { op, result, word } = &callee.insts[inst.index()];
                let mut op = op.clone();
                op.operands_mut(|v| *v = map[v.index()]);
                if let Op::Phi(incoming) = &mut op {
                    for (from, _) in incoming {
                        *from = moved(*from);
                    }
                }
                let id = InstId(self.edit.f.insts.len() as u32);
                if matches!(op, Op::Alloca { .. }) {
                    self.allocas.push(id);
                } else {
                    self.edit.f.blocks[here.index()].insts.push(id);
                }
                self.edit.f.insts.push(Inst {
                    op,
                    result: result.map(|r| map[r.index()]),
                    word: *word,
                });
            }
            let mut term = block.term.clone();
            if let Terminator::Ret(value) = term {
                if let Some(value) = value {
                    returns.push((here, map[value.index()]));
                }
                term = Terminator::Br(after);
            } else {
                term.successors_mut(|to| *to = moved(*to));
                if let Some(v) = term.operand_mut() {
                    *v = map[v.index()];
                }
            }
            self.edit.f.blocks[here.index()].term = term;
        }
        let value = match returns[..] {
            [] => None,
            [(_, value)] => Some(value),
            [(_, value), ..] => {
                let ty = self.edit.f.ty(value);
                Some(self.edit.append(after, Op::Phi(returns), ty))
            }
        };
        Ok(Copy {
            entry: moved(BlockId(0)),
            after,
            value,
        })
    }
}

/// Removes functions that are neither a kernel's nor exported nor a target of a function pointer that a kept
/// function or a variable may hold.
pub(super) fn drop_functions(module: &mut Module) {
    let mut keep = vec![false; module.functions.len()];
    let mut seen = vec![false; module.constants.len()];
    let mut constants: Vec<ConstId> = module.globals.iter().filter_map(|g| g.init).collect();
    let mut functions: Vec<FunctionId> = module.kernels.iter().map(|k| k.function).collect();
    functions.extend(exported(module));
    loop {
        while let Some(id) = functions.pop() {
            if std::mem::replace(&mut keep[id.index()], true) {
                continue;
            }
            let f = &module.functions[id.index()];
            constants.extend(f.values.iter().filter_map(|v| match v.def {
                ValueDef::Const(c) => Some(c),
                _ => None,
            }));
            functions.extend(calls(f).iter().map(|c| c.0));
        }
        let Some(id) = constants.pop() else { break };
        if std::mem::replace(&mut seen[id.0 as usize], true) {
            continue;
        }
        match module.constants.get(id) {
            Constant::Composite(parts) => constants.extend(parts),
            Constant::FunctionAddress(f) => functions.push(*f),
            _ => {}
        }
    }
    if keep.iter().all(|k| *k) {
        return;
    }
    let mut next = 0u32;
    let map: Vec<Option<FunctionId>> = keep
        .iter()
        .map(|&k| {
            k.then(|| {
                next += 1;
                FunctionId(next - 1)
            })
        })
        .collect();
    let renamed = |id: FunctionId| map[id.index()].unwrap_or(FunctionId(0));
    let mut kept = keep.iter();
    module.functions.retain(|_| kept.next() == Some(&true));
    for kernel in &mut module.kernels {
        kernel.function = renamed(kernel.function);
    }
    for function in &mut module.functions {
        for inst in &mut function.insts {
            if let Op::Call(callee, _) = &mut inst.op {
                *callee = renamed(*callee);
            }
        }
    }
    if !super::addressed_functions(module).is_empty() {
        renumber_constants(module, &map);
    }
}

/// Functions whose address the host may ask for.
fn exported(module: &Module) -> impl Iterator<Item = FunctionId> {
    let all = module.functions.iter().enumerate();
    all.filter(|(_, f)| f.exported)
        .map(|(i, _)| FunctionId(i as u32))
}

/// Builds the table of constants anew after functions got new numbers.
fn renumber_constants(module: &mut Module, map: &[Option<FunctionId>]) {
    let old = std::mem::take(&mut module.constants);
    let mut new = Constants::default();
    let mut ids = Vec::with_capacity(old.len());
    for i in 0..old.len() {
        let id = ConstId(i as u32);
        let value = match old.get(id) {
            Constant::FunctionAddress(f) => match map[f.index()] {
                Some(f) => Constant::FunctionAddress(f),
                // Nothing that is kept uses it.
                None => Constant::Undef,
            },
            Constant::Composite(parts) => {
                Constant::Composite(parts.iter().map(|p| ids[p.0 as usize]).collect())
            }
            other => other.clone(),
        };
        ids.push(new.intern(old.ty(id), value));
    }
    module.constants = new;
    for global in &mut module.globals {
        if let Some(init) = &mut global.init {
            *init = ids[init.0 as usize];
        }
    }
    for value in module.functions.iter_mut().flat_map(|f| &mut f.values) {
        if let ValueDef::Const(c) = &mut value.def {
            *c = ids[c.0 as usize];
        }
    }
}

/// Whether kernels return nothing, as the launch expects.
pub(super) fn kernels_return_nothing(module: &Module) -> Result<(), BuildError> {
    for kernel in &module.kernels {
        let f = &module.functions[kernel.function.index()];
        if f.result.is_some_and(|r| *module.types.get(r) != Type::Void) {
            return Err(error(
                BuildErrorKind::Invalid,
                0,
                format!("kernel {:?} returns a value", kernel.name),
            ));
        }
    }
    Ok(())
}
