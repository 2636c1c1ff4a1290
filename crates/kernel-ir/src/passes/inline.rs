//! Inlining: direct calls are replaced by the callee's body.

use std::collections::HashMap;

use super::call_graph::calls;
use super::edit::{Edit, Replacements};
use crate::build::{BuildError, BuildErrorKind};
use crate::ir::{
    BlockId, Function, FunctionId, Inst, InstId, Module, Op, Terminator, ValueDef, ValueId,
};
use crate::types::Type;

/// Instructions of all functions together after inlining. Larger programs are refused, because inlining can grow a program
/// exponentially. Largest in 17,722 modules of dpctl and dpnp: 9044; in our corpora: 21,846 (2026-11).
const MAX_INSTRUCTIONS: u64 = 2_000_000;

/// Counts instructions against [`MAX_INSTRUCTIONS`].
#[derive(Default)]
pub(super) struct Budget {
    used: u64,
}

impl Budget {
    fn take(&mut self, count: usize, word: u32) -> Result<(), BuildError> {
        self.used = self.used.saturating_add(count as u64);
        crate::reach!(MAX_INSTRUCTIONS, self.used);
        if self.used > MAX_INSTRUCTIONS {
            return Err(BuildError::unsupported(
                word,
                format!("more than {MAX_INSTRUCTIONS} instructions after all calls are inlined"),
            ));
        }
        Ok(())
    }
}

/// Inlines every direct call in function `id`, except calls of `recursive` functions. Its callees have been processed
/// before.
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
    /// The block that all its returns branch to; without a terminator yet.
    after: BlockId,
    /// The returned value; `None` when it returns nothing or never returns.
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
        // The last of the blocks into which each original block is split at its calls.
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
    fn body(&mut self, callee: FunctionId, args: &[ValueId], at: u32) -> Result<Copy, BuildError> {
        let callee = &self.functions[callee.index()];
        let count: usize = callee.blocks.iter().map(|b| b.insts.len() + 1).sum();
        self.budget.take(count, at)?;
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
        // Results are created first, because phis use them before their definitions are copied.
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
                    // Helper functions of the compiler have no places of their own.
                    word: if *word == 0 { at } else { *word },
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

/// Refuses kernels that return a value.
pub(super) fn kernels_return_nothing(module: &Module) -> Result<(), BuildError> {
    for kernel in &module.kernels {
        let f = &module.functions[kernel.function.index()];
        if f.result.is_some_and(|r| *module.types.get(r) != Type::Void) {
            return Err(BuildError::new(
                BuildErrorKind::Invalid,
                0,
                format!("kernel {:?} returns a value", kernel.name),
            ));
        }
    }
    Ok(())
}
