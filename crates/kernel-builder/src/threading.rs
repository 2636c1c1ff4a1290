//! `if a && b` jumps for `a` and for `b`, as compilers write it, rather than computing `a && b` first.
//!
//! When the body is complete, a block that only chooses by a truth value, which is known on some of the ways to it,
//! is left out: each way jumps on by itself. Loops that end by two conditions so become loops with two exits.

use std::collections::HashMap;

use spirv::Op;

use crate::module::{Block, Id, Instruction};

/// A block that only chooses: the values and their blocks, and where true and false lead.
struct Choice {
    values: Vec<(Id, Id)>,
    yes: Id,
    no: Id,
}

/// Leaves out blocks that only choose; `known` has the truth values that are constants.
pub(crate) fn thread(blocks: &mut Vec<Block>, known: &HashMap<Id, bool>) {
    let uses = uses(blocks);
    let mut at = 0;
    while at < blocks.len() {
        let label = blocks[at].label;
        match choice(&blocks[at], &uses).filter(|choice| can_thread(blocks, label, choice)) {
            Some(choice) => {
                blocks.remove(at);
                redirect(blocks, label, &choice, known);
            }
            None => at += 1,
        }
    }
}

/// How often each id is an operand. Operands that are no ids only make the count too high.
fn uses(blocks: &[Block]) -> HashMap<Id, usize> {
    let mut uses = HashMap::new();
    for operand in blocks
        .iter()
        .flat_map(|block| &block.body)
        .flat_map(|instruction| &instruction.operands)
    {
        *uses.entry(*operand).or_default() += 1;
    }
    uses
}

/// The choice of a block that has no other instruction, and whose values nothing else uses.
fn choice(block: &Block, uses: &HashMap<Id, usize>) -> Option<Choice> {
    // Once where it is made, once where it is used.
    let is_private = |id: Id| uses.get(&id) == Some(&2);
    let (phi, not, jump) = match &block.body[..] {
        [phi, jump] => (phi, None, jump),
        [phi, not, jump] if not.op == Op::LogicalNot => (phi, Some(not), jump),
        _ => return None,
    };
    if phi.op != Op::Phi || jump.op != Op::BranchConditional {
        return None;
    }
    let phi_id = *phi.operands.get(1)?;
    let [condition, yes, no] = jump.operands[..] else {
        return None;
    };
    let (yes, no) = match not {
        None if condition == phi_id => (yes, no),
        Some(not) if condition == *not.operands.get(1)? && not.operands.get(2) == Some(&phi_id) => {
            is_private(condition).then_some((no, yes))?
        }
        _ => return None,
    };
    if !is_private(phi_id) || yes == no || yes == block.label || no == block.label {
        return None;
    }
    let pairs = phi.operands.get(2..)?.chunks_exact(2);
    let values = pairs.map(|pair| (pair[0], pair[1])).collect();
    Some(Choice { values, yes, no })
}

/// Whether all ways to the block are jumps to it alone, which can lead elsewhere.
fn can_thread(blocks: &[Block], label: Id, choice: &Choice) -> bool {
    let jumps = |block: &Block| {
        let last = block.body.last();
        last.is_some_and(|jump| jump.op == Op::Branch && jump.operands[..] == [label])
    };
    let leads = |block: &Block| {
        let last = block.body.last();
        last.is_some_and(|jump| jump.op != Op::Return && jump.operands.contains(&label))
    };
    let from: Vec<Id> = blocks
        .iter()
        .filter(|it| leads(it))
        .map(|it| it.label)
        .collect();
    from.len() == choice.values.len()
        && blocks
            .iter()
            .filter(|block| from.contains(&block.label))
            .all(|block| jumps(block) && choice.values.iter().any(|(_, it)| *it == block.label))
}

/// Lets the ways to the block jump on, and tells the phis there where they come from.
fn redirect(blocks: &mut [Block], label: Id, choice: &Choice, known: &HashMap<Id, bool>) {
    let (mut to_yes, mut to_no) = (Vec::new(), Vec::new());
    for (value, from) in &choice.values {
        let Some(jump) = blocks
            .iter_mut()
            .find(|block| block.label == *from)
            .and_then(|block| block.body.last_mut())
        else {
            continue;
        };
        let line = jump.line;
        let (op, operands) = match known.get(value) {
            Some(true) => (Op::Branch, vec![choice.yes]),
            Some(false) => (Op::Branch, vec![choice.no]),
            None => (Op::BranchConditional, vec![*value, choice.yes, choice.no]),
        };
        *jump = Instruction { op, operands, line };
        if known.get(value) != Some(&false) {
            to_yes.push(*from);
        }
        if known.get(value) != Some(&true) {
            to_no.push(*from);
        }
    }
    for (target, from) in [(choice.yes, &to_yes), (choice.no, &to_no)] {
        let target = blocks.iter_mut().find(|block| block.label == target);
        let phis = target.into_iter().flat_map(|block| &mut block.body);
        for phi in phis.take_while(|instruction| instruction.op == Op::Phi) {
            let pairs: Vec<(Id, Id)> = phi.operands[2..]
                .chunks_exact(2)
                .map(|pair| (pair[0], pair[1]))
                .collect();
            phi.operands.truncate(2);
            for (value, block) in pairs {
                match block == label {
                    true => from
                        .iter()
                        .for_each(|from| phi.operands.extend([value, *from])),
                    false => phi.operands.extend([value, block]),
                }
            }
        }
    }
}
