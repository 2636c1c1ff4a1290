//! Loops test their condition at the end, as compilers write them: before the first round once, and then after each.
//!
//! The header of a `for` or `while` loop is repeated where the loop jumps back to it. Passes that peel loops, or
//! compare the rounds of neighbouring work-items, know loops of that form.

use std::collections::HashMap;
use std::ops::Range;

use spirv::Op;

use crate::module::{Block, Id, Instruction};

/// The longest header that is repeated.
const LONGEST: usize = 16;

/// A loop: its header, the first block of a round, and the block that jumps back, by their indices.
struct Rotated {
    header: usize,
    first: usize,
    latch: usize,
}

/// The operands that are ids of values; `None` for instructions whose operands this does not know.
fn values(instruction: &Instruction) -> Option<Range<usize>> {
    let all = instruction.operands.len();
    Some(match instruction.op {
        Op::Store => 0..2,
        Op::Branch | Op::Return => 0..0,
        Op::BranchConditional => 0..1,
        Op::ControlBarrier => 0..all,
        Op::Load | Op::CompositeExtract => 2..3,
        Op::ExtInst => 4..all,
        Op::Phi | Op::Select | Op::CompositeConstruct | Op::Bitcast | Op::CopyObject => 2..all,
        Op::InBoundsAccessChain | Op::InBoundsPtrAccessChain => 2..all,
        Op::IAdd | Op::ISub | Op::IMul | Op::UDiv | Op::SDiv | Op::UMod | Op::SRem => 2..all,
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem => 2..all,
        Op::SNegate | Op::FNegate | Op::Not => 2..all,
        Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor => 2..all,
        Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => 2..all,
        Op::UConvert | Op::SConvert | Op::FConvert | Op::ConvertUToF | Op::ConvertSToF => 2..all,
        Op::ConvertFToU | Op::ConvertFToS => 2..all,
        Op::IEqual | Op::INotEqual | Op::ULessThan | Op::ULessThanEqual => 2..all,
        Op::UGreaterThan | Op::UGreaterThanEqual | Op::SLessThan | Op::SLessThanEqual => 2..all,
        Op::SGreaterThan | Op::SGreaterThanEqual | Op::FOrdEqual | Op::FUnordNotEqual => 2..all,
        Op::FOrdLessThan | Op::FOrdLessThanEqual | Op::FOrdGreaterThan => 2..all,
        Op::FOrdGreaterThanEqual | Op::IsFinite | Op::IsInf | Op::SignBitSet => 2..all,
        Op::LogicalAnd | Op::LogicalOr | Op::LogicalNot | Op::LogicalEqual => 2..all,
        Op::LogicalNotEqual => 2..all,
        _ => return None,
    })
}

/// Whether an instruction can run once more without an effect.
fn is_repeatable(instruction: &Instruction) -> bool {
    let no = [
        Op::Store,
        Op::Branch,
        Op::Return,
        Op::BranchConditional,
        Op::ControlBarrier,
        Op::Phi,
    ];
    values(instruction).is_some() && !no.contains(&instruction.op)
}

/// Whether a block jumps to a label.
fn leads_to(block: &Block, label: Id) -> bool {
    let Some(jump) = block.body.last() else {
        return false;
    };
    match jump.op {
        Op::Branch => jump.operands.contains(&label),
        Op::BranchConditional => jump.operands.get(1..).unwrap_or_default().contains(&label),
        _ => false,
    }
}

/// Rotates all loops that have the form; `fresh` makes ids.
pub(crate) fn rotate(blocks: &mut [Block], mut fresh: impl FnMut() -> Id) {
    for header in 0..blocks.len() {
        if let Some(of) = rotated(blocks, header) {
            repeat_header(blocks, &of, &mut fresh);
        }
    }
}

/// The loop of a header, if it can be rotated. The blocks of a loop stand one after another.
fn rotated(blocks: &[Block], header: usize) -> Option<Rotated> {
    let head = &blocks[header];
    let (jump, rest) = head.body.split_last()?;
    if jump.op != Op::BranchConditional || rest.len() > LONGEST || !rest.iter().all(is_repeatable) {
        return None;
    }
    let mut back = (header..blocks.len()).filter(|at| leads_to(&blocks[*at], head.label));
    let latch = back
        .next()
        .filter(|latch| *latch > header && back.next().is_none())?;
    if blocks[latch].body.last()?.op != Op::Branch {
        return None;
    }
    let place = |label: Id| blocks.iter().position(|block| block.label == label);
    let (yes, no) = (place(jump.operands[1])?, place(jump.operands[2])?);
    let is_inside = |at: usize| at > header && at <= latch;
    let first = match (is_inside(yes), is_inside(no)) {
        (true, false) => yes,
        (false, true) => no,
        _ => return None,
    };
    let entries = blocks
        .iter()
        .filter(|block| leads_to(block, blocks[first].label));
    let starts_with_phi = blocks[first]
        .body
        .first()
        .is_some_and(|it| it.op == Op::Phi);
    if entries.count() != 1 || starts_with_phi {
        return None;
    }
    // Values of the header are used in the loop alone, by instructions that are known.
    let made: Vec<Id> = rest
        .iter()
        .filter_map(|it| it.operands.get(1))
        .copied()
        .collect();
    let is_known = blocks.iter().enumerate().all(|(at, block)| {
        block
            .body
            .iter()
            .all(|instruction| match values(instruction) {
                _ if at == header => true,
                Some(_) if is_inside(at) => true,
                Some(range) => !instruction.operands[range]
                    .iter()
                    .any(|id| made.contains(id)),
                None => !is_inside(at) && !instruction.operands.iter().any(|id| made.contains(id)),
            })
    });
    is_known.then_some(Rotated {
        header,
        first,
        latch,
    })
}

fn replace(instruction: &mut Instruction, by: &HashMap<Id, Id>) {
    let Some(range) = values(instruction) else {
        return;
    };
    for operand in &mut instruction.operands[range] {
        if let Some(new) = by.get(operand) {
            *operand = *new;
        }
    }
}

fn repeat_header(blocks: &mut [Block], of: &Rotated, fresh: &mut impl FnMut() -> Id) {
    let (from, back) = (blocks[of.header].label, blocks[of.latch].label);
    let header = blocks[of.header].body.clone();
    let (mut again, mut joined) = (HashMap::new(), HashMap::new());
    let mut copies = Vec::new();
    let mut phis = Vec::new();
    for instruction in &header {
        let mut copy = instruction.clone();
        replace(&mut copy, &again);
        if is_repeatable(instruction)
            && let [ty, made, ..] = instruction.operands[..]
        {
            let (repeated, phi) = (fresh(), fresh());
            copy.operands[1] = repeated;
            again.insert(made, repeated);
            joined.insert(made, phi);
            phis.push((
                made,
                Instruction::new(Op::Phi, vec![ty, phi, made, from, repeated, back]),
            ));
        }
        copies.push(copy);
    }
    let inside = of.header + 1..=of.latch;
    let mut used = Vec::new();
    for block in &mut blocks[inside] {
        for instruction in &mut block.body {
            if let Some(range) = values(instruction) {
                let operands = instruction.operands[range].iter();
                used.extend(operands.filter(|id| joined.contains_key(id)).copied());
            }
            replace(instruction, &joined);
        }
    }
    // Blocks after the loop that know which value comes from the header know one from its copy, too.
    for block in blocks
        .iter_mut()
        .enumerate()
        .filter(|(at, _)| *at != of.first)
        .map(|it| it.1)
    {
        for phi in block.body.iter_mut().take_while(|it| it.op == Op::Phi) {
            let at = phi
                .operands
                .iter()
                .skip(3)
                .step_by(2)
                .position(|it| *it == from);
            if let Some(value) = at.and_then(|at| phi.operands.get(2 + 2 * at)).copied() {
                let value = again.get(&value).copied().unwrap_or(value);
                phi.operands.extend([value, back]);
            }
        }
    }
    let latch = &mut blocks[of.latch].body;
    latch.pop();
    latch.extend(copies);
    let phis = phis.into_iter().filter(|(made, _)| used.contains(made));
    blocks[of.first].body.splice(0..0, phis.map(|(_, phi)| phi));
}
