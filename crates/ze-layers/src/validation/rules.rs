//! Rules that the API table cannot express.

use level_zero_sys::*;

use super::finding::{Finding, Severity};

#[repr(C)]
struct Head {
    stype: ze_structure_type_t,
    next: *const Head,
}

/// A module's source: one program with a size, or several in the chain, which must be SPIR-V.
///
/// # Safety
/// The descriptor's `pNext` is a valid chain.
pub(crate) unsafe fn module(index: usize, param: usize, desc: &ze_module_desc_t) -> ze_result_t {
    let mut next: *const Head = desc.pNext.cast();
    let mut several = false;
    // The chain's length was checked before.
    // SAFETY: the caller's chain.
    while let Some(head) = unsafe { next.as_ref() } {
        several |= head.stype == ze_module_program_exp_desc_t::STYPE;
        next = head.next;
    }
    let wrong = |field, value: String, rule: &str, code| {
        Finding::new(Severity::Error, "parameters", rule.into())
            .of(index)
            .argument(index, param, Some(field))
            .value(value)
            .code(code)
            .report()
    };
    if several {
        if desc.format != ZE_MODULE_FORMAT_IL_SPIRV {
            let rule = "a chained ze_module_program_exp_desc_t requires ZE_MODULE_FORMAT_IL_SPIRV";
            return wrong(
                "format",
                format!("{:#x}", desc.format.0),
                rule,
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
            );
        }
        return ZE_RESULT_SUCCESS;
    }
    if desc.pInputModule.is_null() {
        return wrong(
            "pInputModule",
            "null".into(),
            "the program's bytes are required",
            ZE_RESULT_ERROR_INVALID_NULL_POINTER,
        );
    }
    if desc.inputSize == 0 {
        return wrong(
            "inputSize",
            "0".into(),
            "the size must not be 0",
            ZE_RESULT_ERROR_INVALID_SIZE,
        );
    }
    ZE_RESULT_SUCCESS
}

/// The driver types to initialise: at least one, or all bits for all.
///
/// # Safety
/// None; all rules have this signature.
pub(crate) unsafe fn driver_types(
    index: usize,
    param: usize,
    desc: &ze_init_driver_type_desc_t,
) -> ze_result_t {
    if desc.flags != 0 {
        return ZE_RESULT_SUCCESS;
    }
    let rule = "at least one driver type is required; all bits set select all types";
    Finding::new(Severity::Error, "parameters", rule.into())
        .of(index)
        .argument(index, param, Some("flags"))
        .value("0".into())
        .code(ZE_RESULT_ERROR_INVALID_ENUMERATION)
        .report()
}
