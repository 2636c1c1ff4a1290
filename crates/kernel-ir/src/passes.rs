//! Transformations and analyses between the front end and a back end.
//!
//! [`prepare`] makes every kernel stand alone. Each pass takes any valid module, irreducible control
//! flow included, and is near-linear in its size.

mod address_spaces;
mod algebra;
mod call_graph;
mod canonical_indices;
mod contract;
mod counted_loops;
mod dead_functions;
mod devirtualise;
mod edit;
mod facts;
mod fission;
pub mod fold;
mod if_convert;
mod implicit_barriers;
mod inline;
mod null_arguments;
mod optimise;
mod peel;
mod private_loops;
mod promote;
pub mod shape;
mod simplify;
mod simplify_cfg;
mod slots;
mod trap_arms;
mod value_numbering;
mod work_group;

use crate::build::{BuildError, NullArguments};
use crate::ir::{Function, FunctionId, Module};

pub use crate::cfg::{self, loop_contiguous_order};
pub use contract::contract;
pub use facts::{KernelFacts, addressed_functions, facts, ids, may_be_written};
pub use fission::Registers;
pub use null_arguments::{remove_null_accesses, unchecked_pointers};
pub use work_group::identity;

/// Brings a valid module into the form that back ends take: direct calls are inlined, calls through
/// pointers compared with the functions that they may mean first; functions that no kernel and no
/// pointer reaches are gone, those that reach themselves stay and are called, allocas stand in entry blocks and are values where their
/// address stays known, work-group operations are barriers and local memory, lanes meet where one
/// reads what another may just have written. Calls of functions without a body stay: such a module
/// must be linked before it runs.
///
/// # Errors
/// A program that is too large, group operations that have no meaning for a work-group.
/// The module is then unusable.
pub fn prepare(module: &mut Module) -> Result<(), BuildError> {
    prepare_for(module, None)
}

/// As [`prepare`]; with `nulls`, of one kernel, for launches in which those pointers are null.
///
/// # Errors
/// As [`prepare`] and [`remove_null_accesses`].
pub fn prepare_for(module: &mut Module, nulls: Option<&NullArguments>) -> Result<(), BuildError> {
    stand_alone(module)?;
    if let Some(nulls) = nulls {
        remove_null_accesses(module, nulls)?;
    }
    expand(module)
}

/// The first half of [`prepare`]: calls are inlined, memory whose address stays known is values, what no kernel
/// reaches is gone.
///
/// # Errors
/// A program that is too large. The module is then unusable.
pub fn stand_alone(module: &mut Module) -> Result<(), BuildError> {
    inline::kernels_return_nothing(module)?;
    devirtualise::compare_and_call_directly(module);
    let (order, recursive) = call_graph::bottom_up(module);
    let mut budget = inline::Budget::default();
    for &id in &order {
        edit::allocas_to_entry(&mut module.functions[id.index()]);
        inline::inline_calls(module, id, &recursive, &mut budget)?;
        optimise::optimise(module, id);
    }
    dead_functions::drop_functions(module);
    Ok(())
}

/// The second half of [`prepare`]: work-group operations are barriers and local memory, lanes meet before they read
/// what another may have written.
///
/// # Errors
/// Group operations that have no meaning for a work-group. The module is then unusable.
pub fn expand(module: &mut Module) -> Result<(), BuildError> {
    let mut slots = work_group::Slots::default();
    for i in 0..module.functions.len() {
        let id = FunctionId(i as u32);
        work_group::expand(module, id, &mut slots)?;
        let function = &mut module.functions[id.index()];
        canonical_indices::canonicalise(&mut module.types, &module.constants, function);
        optimise::optimise(module, id);
        trap_arms::redirect_trap_arms(&mut module.functions[id.index()]);
        implicit_barriers::insert_implicit_barriers(
            &module.types,
            &mut module.functions[id.index()],
        );
    }
    Ok(())
}

/// A function in the forms that suit work-items that run side by side, those of a row; the best first. Branches on
/// little work are gone; in the first of two, which is larger and may be too large for who asks, loops over barriers in
/// which the distance between work-items' elements changes are unrolled as well, and loops in which sub-groups carry
/// more along than those registers hold are several. None when it has neither. The module gets the constants that they
/// need.
#[must_use]
pub fn vector_forms(module: &mut Module, id: FunctionId, registers: Registers) -> Vec<Function> {
    let mut forms = Vec::new();
    let mut f = module.functions[id.index()].clone();
    if fission::fission_loops(module, &mut f, registers) {
        if_convert::if_convert(module, &mut f);
        forms.push(f);
        f = module.functions[id.index()].clone();
    }
    if peel::peel_loops(module, &mut f) {
        if_convert::if_convert(module, &mut f);
        forms.push(f);
        f = module.functions[id.index()].clone();
    }
    if if_convert::if_convert(module, &mut f) {
        forms.push(f);
    }
    forms
}
