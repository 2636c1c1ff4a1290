//! Transforms and analyses between the front end and a back end.
//!
//! [`prepare`] is the pipeline that every kernel goes through; each pass accepts any valid module, irreducible control
//! flow included, and is near-linear in its size. [`vector_forms`] makes candidates for a vectoriser from the result.
//!
//! | step of [`prepare`] | module |
//! |---|---|
//! | calls through pointers get direct calls | `devirtualise` |
//! | functions in bottom-up order, callees first | `call_graph` |
//! | calls are replaced by bodies | `inline` |
//! | scalar optimisations, repeated (`optimise`) | `simplify` (`value_numbering` with `algebra` and `fold`, `simplify_cfg`), `address_spaces`, `private_loops`, `promote` with `slots`, `shuffle_loops`, `compare_chains`, `array_values` |
//! | unreachable functions are removed | `dead_functions` |
//! | accesses through null arguments are removed, in variants for them | `null_arguments` |
//! | `solum check` gets its operations | `instrument` |
//! | work-group operations become local memory and barriers | `work_group` |
//! | index arithmetic becomes canonical | `canonical_indices` |
//! | values behind counted loops are constants | `final_values` |
//! | checked accesses get a copy of the kernel without checks | `checked_accesses` with `index_ends`, `counter_ends`, `exact_numbers` |
//! | trapping arms are redirected | `trap_arms` |
//! | sub-groups that rely on lock step get barriers | `implicit_barriers` |
//!
//! | for a back end | module |
//! |---|---|
//! | facts of a whole kernel, layout of local memory | `facts` |
//! | divergence analysis | [`shape`] |
//! | floating-point contraction | [`contract()`] |
//! | vector forms: loop fission, loop peeling, if-conversion | `fission`, `peel` with `counted_loops`, `if_convert` |

mod address_spaces;
mod algebra;
mod array_values;
mod call_graph;
mod canonical_indices;
mod checked_accesses;
mod compare_chains;
mod contract;
mod counted_loops;
mod counter_ends;
mod dead_functions;
mod devirtualise;
mod edit;
mod exact_numbers;
mod facts;
mod final_values;
mod fission;
pub mod fold;
mod if_convert;
mod implicit_barriers;
mod index_ends;
mod initialised;
mod inline;
mod instrument;
mod null_arguments;
mod optimise;
mod peel;
mod private_loops;
mod promote;
mod roots;
pub mod shape;
mod shuffle_loops;
mod simplify;
mod simplify_cfg;
mod slots;
mod trap_arms;
mod value_numbering;
mod work_group;

use crate::build::{BuildError, NullArguments};
use crate::checks::Checks;
use crate::ir::{Function, FunctionId, Module};
use crate::transforms::Transform;

pub use crate::cfg::{self, loop_contiguous_order};
pub use contract::contract;
pub use facts::{KernelFacts, addressed_functions, facts, ids, may_be_written};
pub use fission::Registers;
pub use initialised::initialised;
pub use instrument::{
    KNOWS_SUB_GROUPS, SUB_GROUP_BITS, before_inlining, can_be_repeated, instrument,
    written_arguments,
};
pub use null_arguments::{remove_null_accesses, unchecked_pointers};
pub use work_group::identity;

/// Prepares a valid module for a back end:
/// - Direct calls are inlined, and calls through pointers too where the target is likely. Recursive functions stay and are
///   called. Functions that no kernel and no pointer reaches are removed.
/// - Allocas stand in entry blocks; they are values where their address does not escape.
/// - Work-group operations are barriers and local memory. Sub-groups that rely on lock step have barriers.
///
/// Calls of functions without a body stay: such a module must be linked before it runs.
///
/// # Errors
/// The program is too large, or has group operations that have no meaning for a work-group.
/// The module is then unusable.
pub fn prepare(module: &mut Module) -> Result<(), BuildError> {
    prepare_for(module, None, Checks::default())
}

/// As [`prepare`]; with `nulls` the module becomes a variant of one kernel, for launches with these null pointers. The
/// kernels get `checks`.
///
/// # Errors
/// As [`prepare`] and [`remove_null_accesses`].
pub fn prepare_for(
    module: &mut Module,
    nulls: Option<&NullArguments>,
    checks: Checks,
) -> Result<(), BuildError> {
    before_inlining(module, checks);
    stand_alone(module)?;
    if let Some(nulls) = nulls {
        remove_null_accesses(module, nulls)?;
    }
    instrument(module, checks);
    initialised(module, checks);
    expand(module)
}

/// The first half of [`prepare`]: calls are inlined, private memory is promoted, unreachable functions are removed.
///
/// # Errors
/// The program is too large. The module is then unusable.
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

/// The second half of [`prepare`]: work-group operations are barriers and local memory, and sub-groups that rely on lock
/// step have barriers.
///
/// # Errors
/// A group operation that has no meaning for a work-group. The module is then unusable.
pub fn expand(module: &mut Module) -> Result<(), BuildError> {
    let mut slots = work_group::Slots::default();
    for i in 0..module.functions.len() {
        let id = FunctionId(i as u32);
        work_group::expand(module, id, &mut slots)?;
        let function = &mut module.functions[id.index()];
        canonical_indices::canonicalise(&mut module.types, &module.constants, function);
        optimise::optimise(module, id);
        final_values::fix(module, id);
        checked_accesses::version(module, id);
        trap_arms::redirect_trap_arms(&mut module.functions[id.index()]);
        if module.uses(Transform::LockStep) {
            implicit_barriers::insert_implicit_barriers(
                &module.types,
                &mut module.functions[id.index()],
            );
        }
    }
    Ok(())
}

/// A form of a function that suits vectors.
#[derive(Clone, Debug)]
pub struct Form {
    /// The function after the transform and if-conversion.
    pub function: Function,
    /// Loop fission, loop peeling, or if-conversion alone.
    pub transform: Transform,
}

/// Candidate forms of a function for vectorisation by rows, best first: after loop fission, after loop peeling, after
/// if-conversion alone. All of them are if-converted. Empty when no transform applies; the function itself is always
/// the last candidate. The first two are larger than the function, and may be too large for the caller. The module gets
/// the constants that they need.
#[must_use]
pub fn vector_forms(module: &mut Module, id: FunctionId, registers: Registers) -> Vec<Form> {
    let original = module.functions[id.index()].clone();
    let candidates = [
        Transform::Fission,
        Transform::Peeling,
        Transform::IfConversion,
    ];
    let form = |transform| {
        let mut function = original.clone();
        let applies = match transform {
            Transform::Fission => fission::fission_loops(module, &mut function, registers),
            Transform::Peeling => peel::peel_loops(module, &mut function),
            _ => false,
        };
        let converted = (applies || transform == Transform::IfConversion)
            && if_convert::if_convert(module, &mut function);
        (applies || converted).then_some(Form {
            function,
            transform,
        })
    };
    candidates.into_iter().filter_map(form).collect()
}
