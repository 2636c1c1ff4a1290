//! Group operations among the active lanes of a sub-group or of the whole work-group.

use super::code::{GroupCode, NONE};
use super::memory::Fault;
use super::number::{self, Kind};
use super::step::{Lane, Shared};
use crate::ir::{BinaryOp, GroupOp, GroupScope, Reduction};

/// `a op b`.
fn combine(op: Reduction, kind: Kind, a: u64, b: u64) -> u64 {
    let arithmetic = |op| number::binary(op, kind, a, b, false);
    match op {
        Reduction::IAdd => arithmetic(BinaryOp::IAdd),
        Reduction::IMul => arithmetic(BinaryOp::IMul),
        Reduction::SMin => arithmetic(BinaryOp::SMin),
        Reduction::SMax => arithmetic(BinaryOp::SMax),
        Reduction::UMin => arithmetic(BinaryOp::UMin),
        Reduction::UMax => arithmetic(BinaryOp::UMax),
        Reduction::And | Reduction::LogicalAnd => arithmetic(BinaryOp::And),
        Reduction::Or | Reduction::LogicalOr => arithmetic(BinaryOp::Or),
        Reduction::Xor | Reduction::LogicalXor => arithmetic(BinaryOp::Xor),
        Reduction::FAdd => arithmetic(BinaryOp::FAdd),
        Reduction::FMul => arithmetic(BinaryOp::FMul),
        Reduction::FMin => number::float_min(kind, a, b),
        Reduction::FMax => number::float_max(kind, a, b),
    }
}

/// The identity element.
fn identity(op: Reduction, kind: Kind) -> u64 {
    let float = |v| number::from_f64(kind, v, crate::ir::Rounding::Rte);
    match op {
        Reduction::IAdd
        | Reduction::UMax
        | Reduction::Or
        | Reduction::Xor
        | Reduction::LogicalOr
        | Reduction::LogicalXor
        | Reduction::FAdd => 0,
        Reduction::IMul => 1,
        Reduction::SMin => kind.mask() >> 1,
        Reduction::SMax => (kind.mask() >> 1) + 1,
        Reduction::UMin | Reduction::And | Reduction::LogicalAnd => kind.mask(),
        Reduction::FMul => float(1.0),
        Reduction::FMin => float(f64::INFINITY),
        Reduction::FMax => float(f64::NEG_INFINITY),
    }
}

/// Executes `code` for the `active` lanes of `lanes`, which all wait at it. Their positions are their linear ids within
/// the group of `width` lanes.
pub(super) fn apply(
    lanes: &mut [Lane],
    active: &[usize],
    code: &GroupCode,
    shared: &mut Shared<'_, '_>,
) -> Result<(), Fault> {
    let width = match code.scope {
        GroupScope::Subgroup => shared.sub_group_size.max(1),
        GroupScope::Workgroup => shared.launch.items_per_group,
    };
    let position = |lane: &Lane| lane.item % width;
    let Some(&first) = active.first() else {
        return Ok(());
    };
    if matches!(code.op, GroupOp::BlockRead | GroupOp::BlockWrite) {
        return block(lanes, active, code, width, shared);
    }
    // Operand `arg`, scalar `i`, by position; inactive lanes give 0.
    let gather = |lanes: &[Lane], arg: usize, i: u32| {
        let mut values = vec![0u64; width as usize];
        if code.args[arg] != NONE {
            for &l in active {
                values[position(&lanes[l]) as usize] = lanes[l].get(code.args[arg] + i);
            }
        }
        values
    };
    let here: Vec<u32> = active.iter().map(|&l| position(&lanes[l])).collect();
    let first_place = here[0];
    let size = width;
    // Wraps: unspecified when there is no such lane.
    let at = |values: &[u64], place: u32| values[(place % size) as usize];
    match code.op {
        GroupOp::Ballot => {
            let values = gather(lanes, 0, 0);
            let mut words = [0u64; 4];
            for &p in here.iter().filter(|&&p| p < 128) {
                words[p as usize / 32] |= (values[p as usize] & 1) << (p % 32);
            }
            for &l in active {
                for (i, &word) in words.iter().enumerate() {
                    lanes[l].set(code.dst + i as u32, word);
                }
            }
            return Ok(());
        }
        GroupOp::Elect => {
            for &l in active {
                lanes[l].set(code.dst, u64::from(l == first));
            }
            return Ok(());
        }
        GroupOp::AllEqual => {
            let mut equal = true;
            for i in 0..code.lanes {
                let expected = lanes[first].get(code.args[0] + i);
                equal &= active.iter().all(|&l| {
                    let value = lanes[l].get(code.args[0] + i);
                    if code.kind.is_float() {
                        number::to_f64(code.kind, value) == number::to_f64(code.kind, expected)
                    } else {
                        value == expected
                    }
                });
            }
            for &l in active {
                lanes[l].set(code.dst, u64::from(equal));
            }
            return Ok(());
        }
        _ => {}
    }
    for i in 0..code.lanes.max(1) {
        let values = gather(lanes, 0, i);
        let second = match code.op {
            GroupOp::Reduce(_)
            | GroupOp::ClusteredReduce(..)
            | GroupOp::InclusiveScan(_)
            | GroupOp::ExclusiveScan(_)
            | GroupOp::All
            | GroupOp::Any
            | GroupOp::BroadcastFirst => Vec::new(),
            GroupOp::ShuffleUpPair | GroupOp::ShuffleDownPair => gather(lanes, 1, i),
            _ => gather(lanes, 1, 0),
        };
        let kind = code.kind;
        let fold = |places: &mut dyn Iterator<Item = u32>, op: Reduction| {
            places
                .map(|p| values[p as usize])
                .reduce(|a, b| combine(op, kind, a, b))
                .unwrap_or_else(|| identity(op, kind))
        };
        // Computed once, if all lanes get the same result.
        let common = match code.op {
            GroupOp::Reduce(op) => fold(&mut here.iter().copied(), op),
            GroupOp::All => fold(&mut here.iter().copied(), Reduction::LogicalAnd),
            GroupOp::Any => fold(&mut here.iter().copied(), Reduction::LogicalOr),
            GroupOp::BroadcastFirst => values[first_place as usize],
            GroupOp::Broadcast => at(
                &values,
                (second[first_place as usize] % u64::from(size)) as u32,
            ),
            _ => 0,
        };
        let mut running: Option<u64> = None;
        for (&l, &p) in active.iter().zip(&here) {
            let own = values[p as usize];
            let other = second.get(p as usize).copied().unwrap_or(0) as u32;
            let result = match code.op {
                GroupOp::ClusteredReduce(op, cluster) => {
                    let cluster = cluster.max(1);
                    let run = p / cluster;
                    fold(&mut here.iter().copied().filter(|q| q / cluster == run), op)
                }
                GroupOp::InclusiveScan(op) => {
                    let sum = running.map_or(own, |r| combine(op, kind, r, own));
                    running = Some(sum);
                    sum
                }
                GroupOp::ExclusiveScan(op) => {
                    let before = running.unwrap_or_else(|| identity(op, kind));
                    running = Some(running.map_or(own, |r| combine(op, kind, r, own)));
                    before
                }
                GroupOp::Shuffle => at(&values, other),
                GroupOp::ShuffleXor => at(&values, p ^ other),
                GroupOp::ShuffleUp => at(&values, p.wrapping_sub(other)),
                GroupOp::ShuffleDown => at(&values, p.wrapping_add(other)),
                GroupOp::ShuffleUpPair => {
                    // (previous, current): the lanes before the first are the previous ones' last.
                    let delta = lanes[l].get(code.args[2]) as u32;
                    if p >= delta {
                        at(&second, p - delta)
                    } else {
                        at(&values, p.wrapping_add(size).wrapping_sub(delta))
                    }
                }
                GroupOp::ShuffleDownPair => {
                    let delta = lanes[l].get(code.args[2]) as u32;
                    let from = p.wrapping_add(delta);
                    if from < size {
                        at(&values, from)
                    } else {
                        at(&second, from.wrapping_sub(size))
                    }
                }
                GroupOp::Rotate(cluster) => {
                    let cluster = if cluster == 0 {
                        size
                    } else {
                        cluster.min(size)
                    };
                    let start = p - p % cluster;
                    at(&values, start + (p - start).wrapping_add(other) % cluster)
                }
                _ => common,
            };
            lanes[l].set(code.dst + i, result);
        }
    }
    Ok(())
}

/// Rows of `width` elements at the first lane's address: each lane has its column.
fn block(
    lanes: &mut [Lane],
    active: &[usize],
    code: &GroupCode,
    width: u32,
    shared: &mut Shared<'_, '_>,
) -> Result<(), Fault> {
    let Some(&first) = active.first() else {
        return Ok(());
    };
    let base = lanes[first].get(code.args[0]);
    let size = code.kind.bytes() as u64;
    for &l in active {
        let column = u64::from(lanes[l].item % width);
        for row in 0..code.lanes {
            let element = u64::from(row) * u64::from(width) + column;
            let address = base.wrapping_add(element.wrapping_mul(size));
            if code.op == GroupOp::BlockRead {
                let value = shared.space.load_scalar(address, code.kind)?;
                lanes[l].set(code.dst + row, value);
            } else {
                let value = lanes[l].get(code.args[1] + row);
                shared.space.store_scalar(address, code.kind, value)?;
            }
        }
    }
    Ok(())
}
