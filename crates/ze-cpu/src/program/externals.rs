//! The functions that compiled kernels may call: C's mathematics, memory moves, printf, traps and the check of a function
//! pointer. No other symbol resolves.

/// The address of an external function.
pub(super) fn resolve(name: &str) -> Option<usize> {
    if name == kernel_ir::abi::PRINTF_SYMBOL {
        return Some(crate::printf::solum_printf as *const () as usize);
    }
    if name == kernel_ir::abi::CALLEE_SYMBOL {
        return Some(crate::fault::solum_callee as *const () as usize);
    }
    if name == kernel_ir::abi::TRAP_SYMBOL {
        return Some(crate::fault::solum_trap as *const () as usize);
    }
    if name == kernel_ir::abi::check::CHECK_SYMBOL {
        return Some(crate::check::calls::solum_check as *const () as usize);
    }
    if name == kernel_ir::abi::check::CHECK_ROW_SYMBOL {
        return Some(crate::check::calls::solum_check_row as *const () as usize);
    }
    if name == kernel_ir::abi::check::CHECK_LANES_SYMBOL {
        return Some(crate::check::calls::solum_check_lanes as *const () as usize);
    }
    object_loader::mathematics(name)
}
