//! Functions that are still called: those that call themselves, and those that pointers refer to.

use crate::ir::{Module, ValueDef, ValueId};

/// Gives each function that is no kernel a last parameter for the epoch: by function, that parameter. Calls get the operand
/// when their function gets its checks, so that types agree again when all have them.
pub(super) fn pass_epochs(module: &mut Module) -> Vec<Option<ValueId>> {
    let ty = module.types.int(32);
    let kernels = &module.kernels;
    let functions = module.functions.iter_mut().enumerate();
    functions
        .map(|(number, f)| {
            let is_kernel = kernels.iter().any(|k| k.function.index() == number);
            if is_kernel || f.blocks.is_empty() {
                return None;
            }
            let epoch = f.add_value(ty, ValueDef::Param(f.params.len() as u32));
            f.params.push(epoch);
            f.by_value.push(None);
            Some(epoch)
        })
        .collect()
}
