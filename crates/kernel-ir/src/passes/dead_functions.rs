//! Removes functions that no kernel and no pointer reaches.

use super::call_graph::calls;
use super::facts::addressed_functions;
use crate::ir::{FunctionId, Module, Op, ValueDef};
use crate::types::{ConstId, Constant, Constants};

/// Keeps kernels, exported functions, and functions whose address a kept function or a variable holds.
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
    if !addressed_functions(module).is_empty() {
        renumber_constants(module, &map);
    }
}

/// Functions whose address the host may query.
fn exported(module: &Module) -> impl Iterator<Item = FunctionId> {
    let all = module.functions.iter().enumerate();
    all.filter(|(_, f)| f.exported)
        .map(|(i, _)| FunctionId(i as u32))
}

/// Rebuilds the table of constants after functions were renumbered.
fn renumber_constants(module: &mut Module, map: &[Option<FunctionId>]) {
    let old = std::mem::take(&mut module.constants);
    let mut new = Constants::default();
    let mut ids = Vec::with_capacity(old.len());
    for i in 0..old.len() {
        let id = ConstId(i as u32);
        let value = match old.get(id) {
            Constant::FunctionAddress(f) => match map[f.index()] {
                Some(f) => Constant::FunctionAddress(f),
                // No kept function uses it.
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
