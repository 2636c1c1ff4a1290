//! Copies by a group (`async_work_group_copy`): all work-items have to name one copy, and it is not known which of them copies
//! what.
//!
//! The front end makes them calls of a function in which each work-item copies its share. Before these calls are inlined, the
//! operands are told to the runtime, and shares move by half a group: a work-item that stores to what is copied then meets the
//! copy of another work-item, as it may anywhere.

use crate::checks::Checks;
use crate::ir::{
    BinaryOp, BlockId, Builtin, CheckOp, ConvertOp, FunctionId, InstId, Module, Op, Predicate,
    Rounding, ValueId,
};
use crate::passes::edit::Edit;
use crate::types::Type;

/// How the front end's functions begin. No function of a program has a name with a dot in OpenCL C or C++.
const NAME: &str = "solum.async_copy.";

/// Prepares the copies of groups for their checks.
pub(super) fn prepare_copies(module: &mut Module, checks: Checks) {
    let is_copy: Vec<bool> = module
        .functions
        .iter()
        .map(|f| f.name.starts_with(NAME) && !f.blocks.is_empty() && f.params.len() == 5)
        .collect();
    if !is_copy.contains(&true) {
        return;
    }
    for (f, &is_copy_itself) in module.functions.iter_mut().zip(&is_copy) {
        let mut e = Edit::new(&mut module.types, &mut module.constants, f);
        match is_copy_itself {
            true if checks.races => move_shares(&mut e),
            false if checks.barriers => tell_operands(&mut e, &is_copy),
            _ => {}
        }
    }
}

/// The work-item's share becomes that of the one half a group away.
fn move_shares(e: &mut Edit<'_>) {
    let entry = BlockId(0);
    let own = e.f.blocks[0].insts.iter().find_map(|id| {
        let inst = &e.f.insts[id.index()];
        match inst.op {
            Op::WorkItem(Builtin::LocalInvocationIndex, _) => inst.result,
            _ => None,
        }
    });
    let phi = e.f.insts.iter().position(|inst| match &inst.op {
        Op::Phi(incoming) => incoming.iter().any(|&(_, v)| Some(v) == own),
        _ => false,
    });
    // The step of the loop: the number of work-items.
    let items = e.f.insts.iter().find_map(|inst| match inst.op {
        Op::Binary(BinaryOp::IAdd, a, step, _) if is_result(e, a, phi) => Some(step),
        _ => None,
    });
    let (Some(own), Some(phi), Some(items)) = (own, phi, items) else {
        return;
    };
    let one = e.int(64, 1);
    let half = e.binary(entry, BinaryOp::LShr, items, one);
    let moved = e.binary(entry, BinaryOp::IAdd, own, half);
    let beyond = e.compare(entry, Predicate::UGe, moved, items);
    let wrapped = e.binary(entry, BinaryOp::ISub, moved, items);
    let ty = e.f.ty(own);
    let select = Op::Select {
        cond: beyond,
        then: wrapped,
        otherwise: moved,
    };
    let share = e.append(entry, select, ty);
    if let Op::Phi(incoming) = &mut e.f.insts[phi].op {
        for (_, v) in incoming.iter_mut().filter(|(_, v)| *v == own) {
            *v = share;
        }
    }
}

fn is_result(e: &Edit<'_>, v: ValueId, inst: Option<usize>) -> bool {
    inst.is_some_and(|inst| e.f.insts[inst].result == Some(v))
}

/// Each call of a copy tells its operands before. The epoch of these checks is not known yet.
fn tell_operands(e: &mut Edit<'_>, is_copy: &[bool]) {
    let called = |id: InstId, e: &Edit<'_>| match &e.f.insts[id.index()].op {
        Op::Call(FunctionId(callee), args) if is_copy.get(*callee as usize) == Some(&true) => {
            Some(args.clone())
        }
        _ => None,
    };
    for block in 0..e.f.blocks.len() {
        let old = std::mem::take(&mut e.f.blocks[block].insts);
        let mut new = Vec::with_capacity(old.len());
        for id in old {
            let word = e.f.insts[id.index()].word;
            for operand in called(id, e).unwrap_or_default() {
                let value = match *e.ty(operand) {
                    Type::Int(64) => operand,
                    Type::Ptr(_) => {
                        let ty = e.types.int(64);
                        let op = Op::Convert(ConvertOp::PtrToInt, operand, Rounding::Default);
                        let (convert, value) = e.make(op, ty, word);
                        new.push(convert);
                        value
                    }
                    _ => continue,
                };
                let epoch = e.int(32, 0);
                let op = Op::Check(CheckOp::Agree, vec![epoch, value]);
                let (tell, _) = e.f.add_inst(op, None, word);
                new.push(tell);
            }
            new.push(id);
        }
        e.f.blocks[block].insts = new;
    }
}
