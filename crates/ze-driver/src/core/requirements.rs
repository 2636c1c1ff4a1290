//! Device requirements of modules and graphs, as text that programs store with cached binaries.

use crate::check::{error, not_null, text};
use crate::core::device::Device;
use crate::core::graph::Graph;
use crate::core::module::Module;
use crate::device::{Program, Requirements, Work};
use crate::schedule::Op;
use level_zero_sys::*;
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use ze_abi::{Chain, Handle, Object, Out, Prop, ZeResult};
use ze_abi_macros::ze_entry;

/// The programs of a descriptor's object.
///
/// # Safety
/// `desc` is null or a descriptor, valid for the call.
unsafe fn programs(desc: *const c_void) -> ZeResult<Vec<Arc<dyn Program>>> {
    not_null("pObjDesc", desc)?;
    // SAFETY: not null, so a chain of descriptors by this function's contract.
    for link in unsafe { Chain::new(desc) } {
        match link.stype {
            ZE_STRUCTURE_TYPE_RUNTIME_REQUIREMENTS_MODULE_DESC => {
                // SAFETY: the type says which struct it is.
                let desc = unsafe { link.get::<ze_runtime_requirements_module_desc_t>() };
                not_null("pObjDesc->requirementsSrc", desc.requirementsSrc)?;
                // SAFETY: not null, so a live handle by the specification.
                let module = unsafe {
                    Module::from_handle(desc.requirementsSrc, "pObjDesc->requirementsSrc")
                }?;
                return Ok(vec![Arc::clone(module.program())]);
            }
            ZE_STRUCTURE_TYPE_RUNTIME_REQUIREMENTS_GRAPH_DESC => {
                // SAFETY: the type says which struct it is.
                let desc = unsafe { link.get::<ze_runtime_requirements_graph_desc_t>() };
                not_null("pObjDesc->requirementsSrc", desc.requirementsSrc)?;
                // SAFETY: not null, so a live handle by the specification.
                let graph = unsafe {
                    Graph::from_handle(desc.requirementsSrc, "pObjDesc->requirementsSrc")
                }?;
                return Ok(graph.content(|content| {
                    let steps = content.branches.iter().flat_map(|branch| &branch.steps);
                    let mut programs: Vec<Arc<dyn Program>> = Vec::new();
                    for step in steps {
                        if let Op::Work(Work::Launch(launch)) = &step.command.op
                            && !programs
                                .iter()
                                .any(|known| Arc::ptr_eq(known, &launch.program))
                        {
                            programs.push(Arc::clone(&launch.program));
                        }
                    }
                    programs
                }));
            }
            _ => {}
        }
    }
    error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "pObjDesc describes no object with requirements: a module or graph descriptor is required",
    )
}

/// The text, with its final zero; core/device.yml (1.16).
#[ze_entry(ze_pfnDeviceGetRuntimeRequirements_t)]
pub(crate) fn zeDeviceGetRuntimeRequirements(
    hDevice: Handle<'_, Device>,
    pObjDesc: *const c_void,
    pSize: *mut usize,
    pRequirements: *mut c_char,
) -> ZeResult {
    not_null("pSize", pSize)?;
    // SAFETY: the caller's descriptor.
    let programs = unsafe { programs(pObjDesc) }?;
    let mut found = hDevice.platform().requirements(&programs);
    found.retain(|c| c != '\0');
    found.push('\0');
    // SAFETY: not null, so the caller's size.
    let room = unsafe { pSize.replace(found.len()) };
    if pRequirements.is_null() {
        return Ok(());
    }
    if room < found.len() {
        return error(
            ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            format!("*pSize is {room}, {} bytes are needed", found.len()),
        );
    }
    // SAFETY: `room` bytes by the specification, enough by the check.
    unsafe { pRequirements.copy_from_nonoverlapping(found.as_ptr().cast(), found.len()) };
    Ok(())
}

/// The author's key of the texts; core/device.yml (1.16).
#[ze_entry(ze_pfnDeviceGetRuntimeRequirementsKey_t)]
pub(crate) fn zeDeviceGetRuntimeRequirementsKey(
    hDevice: Handle<'_, Device>,
    pKey: Out<'_, *const c_char>,
) -> ZeResult {
    pKey.write(hDevice.platform().requirements_key().as_ptr());
    Ok(())
}

/// Whether a device meets a text's requirements; core/device.yml (1.16).
#[ze_entry(ze_pfnDeviceValidateRuntimeRequirements_t)]
pub(crate) fn zeDeviceValidateRuntimeRequirements(
    hDevice: Handle<'_, Device>,
    pRequirements: *const c_char,
    mut pOut: Prop<'_, ze_validate_runtime_requirements_output_t>,
) -> ZeResult {
    // SAFETY: null is answered; else a C string of the caller's.
    let wanted = unsafe { text("pRequirements", pRequirements) }?;
    pOut.result = match hDevice.platform().judge_requirements(&wanted) {
        Requirements::Foreign => ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_NOT_APPLICABLE,
        Requirements::Met => ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_MET,
        Requirements::MetButOld => {
            ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_MET_RECOMPILATION_ADVISABLE
        }
        Requirements::NotMet => ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_NOT_MET,
    };
    Ok(())
}
