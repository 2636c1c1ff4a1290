//! The scalar optimisation loop of one function: simplification, address-space inference, unrolling of loops over private
//! arrays, promotion of private memory to values, unrolling of loops over shuffles, switches for chains of comparisons,
//! and splitting of accesses to whole arrays that stay.

use super::edit::{Edit, compact};
use super::simplify::simplify;
use super::{address_spaces, array_values, compare_chains, private_loops, promote, shuffle_loops};
use crate::ir::{FunctionId, Module};
use crate::transforms::Transform;

/// Repeats all of them while one finds something, at most four times.
pub(super) fn optimise(module: &mut Module, id: FunctionId) {
    let unrolls = module.uses(Transform::PrivateLoops);
    let promotes = module.uses(Transform::Promotion);
    let shuffles = module.uses(Transform::ShuffleLoops);
    let chains = module.uses(Transform::CompareChains);
    let by_lane = module.uses(Transform::ArraysByLane);
    let f = &mut module.functions[id.index()];
    let mut e = Edit::new(&mut module.types, &mut module.constants, f);
    let mut budget = private_loops::Budget::new();
    for _ in 0..4 {
        simplify(&mut e);
        // Pointers in private memory and pointers to it make work for each other.
        let changed = address_spaces::infer_spaces(&mut e)
            | (unrolls && private_loops::unroll(&mut e, &mut budget));
        if !((promotes && promote::promote(&mut e)) | changed) {
            break;
        }
    }
    if shuffles {
        shuffle_loops::unroll(&mut e);
    }
    if chains && compare_chains::make_switches(&mut e) {
        // The blocks of the chain go before others look at the graph.
        simplify(&mut e);
    }
    if by_lane {
        array_values::split(&mut e);
    }
    simplify(&mut e);
    compact(f);
}
